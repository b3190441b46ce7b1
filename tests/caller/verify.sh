#!/bin/sh
# SPDX-License-Identifier: MIT
# verify.sh BUILD [K] - programs run with every K-th tag compared with a full walk by libunwind. One line a
# program; exit 1 when a single tag differs or a program checks none. What is not installed is left out.
build=$1 k=${2:-50} here=$(dirname "$0") failed=0
out=$(mktemp -d) && trap 'rm -rf "$out"' EXIT
check() {
    name=$1
    shift
    for word in "$@"; do # the program itself: the first word that is no assignment
        case $word in env | *=*) ;; *) break ;; esac
    done
    if ! command -v "$word" >/dev/null; then
        echo "$name: not installed"
        return
    fi
    LD_PRELOAD=$build/libpoolmem.so POOLMEM_VERIFY=$k "$@" >"$out/out" 2>"$out/err" </dev/null
    grep -h 'poolmem: verify' "$out/err" | sort | uniq -c | head -n 8 | sed "s/^/$name: /"
    grep -q 'verify: [1-9][0-9]* tags compared' "$out/err" || { echo "$name: nothing compared" && failed=1; }
    ! grep 'tags compared' "$out/err" | grep -qv ', 0 differ' || failed=1
}
check lua lua5.4 "$here/verify.lua"
check python env PYTHONMALLOC=malloc /usr/bin/python3 "$here/verify.py"
check sqlite sqlite3 :memory: ".read $here/verify.sql"
check cc1plus "$(g++ -print-prog-name=cc1plus)" -quiet -O1 "$here/verify.cc" -o "$out/a.s"
check vim vim.nox -u NONE -es -c "source $here/verify.vim" -c "qa!"
check game "$build/examples/game/game" --frames 120
exit $failed
