# SPDX-License-Identifier: MIT
# What shell tests share, to be sourced: a folder for what was got, and a way to fail and go on.
#   $got        removed at the end
#   complain    says what failed; `exit $failed` at the end of the test
got=$(mktemp -d) || exit 1
trap 'rm -rf "$got"' EXIT
failed=0
complain() {
    echo "FAILED $1"
    failed=1
}
