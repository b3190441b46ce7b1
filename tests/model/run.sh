#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every scenario through `poolmem model` and compares with the expected output and status.
# NAME.pm the script; NAME.out what it prints; NAME.err (optional) what it says when it must fail: status 2.
# usage: tests/model/run.sh [POOLMEM]
poolmem=$(realpath "${1:-build/poolmem}") || exit 1
cd "$(dirname "$0")" || exit 1
. ../shell.sh
count=0
for script in *.pm; do
    name=${script%.pm}
    "$poolmem" model "$script" >"$got/out" 2>"$got/err"
    status=$?
    want_status=0
    [ -f "$name.err" ] && want_status=2
    [ -f "$name.err" ] && want_err=$name.err || want_err=/dev/null
    count=$((count + 1))
    if [ $status -ne $want_status ] || ! diff -u "$name.out" "$got/out" || ! diff -u "$want_err" "$got/err"; then
        complain "$script (status $status, expected $want_status)"
    fi
done
# the same through standard input
"$poolmem" model - <s1-fresh-block.pm | diff -u s1-fresh-block.out - || failed=1
[ $failed -eq 0 ] && echo "$count scenarios as expected"
exit $failed
