#!/bin/sh
# SPDX-License-Identifier: MIT
# The streaming simulation: the same seed gives the same answer, the directions are those of the original
# (counters say yes where the largest block says no, so they evict less and keep other things), and bad
# files get one line. usage: tests/sim/run.sh [POOLMEM]
poolmem=$(realpath "${1:-build/poolmem}") || exit 1
cd "$(dirname "$0")" || exit 1
. ../shell.sh

"$poolmem" sim small.ini --csv "$got/1.csv" --svg "$got/1.svg" >"$got/1.txt" || complain "run"
"$poolmem" sim small.ini --csv "$got/2.csv" >"$got/2.txt" || complain "second run"
cmp -s "$got/1.csv" "$got/2.csv" && cmp -s "$got/1.txt" "$got/2.txt" || complain "the same seed, another result"
"$poolmem" sim small.ini --seed 8 --csv "$got/3.csv" >/dev/null || complain "another seed"
cmp -s "$got/1.csv" "$got/3.csv" && complain "another seed, the same result"
grep -q '</svg>' "$got/1.svg" && [ "$(grep -c '<rect' "$got/1.svg")" -ge 20 ] || complain "the plot"

# row,policy,calls,tests,differ,evictions,failures,largest_share,shared
awk -F, -v csv="$got/1.csv" '
function expect(true, what) { if (!true) { print "FAILED", what; bad = 1 } }
NR > 1 { gsub(/"/, ""); key = $1 "/" $2; evictions[key] = $6; differ[key] = $5 / ($4 ? $4 : 1); share[key] = $8; shared[key] = $NF }
function row(r) {
    expect(evictions[r "/original"] > evictions[r "/no side effect"], r ": the side effect costs evictions")
    expect(evictions[r "/no side effect"] > evictions[r "/less table"], r ": a counter evicts less")
    expect(evictions[r "/less table"] > evictions[r "/free bytes"], r ": the table counts")
    expect(differ[r "/free bytes"] > .05 && differ[r "/free bytes"] < .3, r ": first tests differ")
    expect(shared[r "/free bytes"] < shared[r "/less table"] && shared[r "/less table"] < 1, r ": other things stay")
}
END {
    row("8 MB"); row("17 MB")
    ratio8 = evictions["8 MB/original"] / evictions["8 MB/free bytes"]
    ratio17 = evictions["17 MB/original"] / evictions["17 MB/free bytes"]
    expect(ratio8 > ratio17 && ratio17 > 1.3 && ratio8 < 3, "the original evicts 1.3 to 3 times as often")
    expect(share["8 MB/original"] > share["17 MB/original"], "the fuller, the more scattered")
    expect(shared["8 MB/free bytes"] > shared["17 MB/free bytes"], "the fuller, the less is shared")
    expect(evictions["parts fit/original"] == 0 && share["parts fit/original"] > .99, "what fits is never evicted")
    expect(shared["parts fit/free bytes"] == 1, "what fits is the same for all")
    expect(differ["parts do not fit/free bytes"] > differ["parts do not fit/less table"] && evictions["parts do not fit/original"] > 0, "parts alone differ too")
    exit bad
}' "$got/1.csv" || failed=1

# every bad file: one line with its place, status 2
bad() { # text, expected message
    printf '%s\n' "$1" >"$got/bad.ini"
    (cd "$got" && "$poolmem" sim bad.ini >/dev/null 2>err)
    [ $? -eq 2 ] || complain "status of: $2"
    [ "$(cat "$got/err")" = "poolmem: bad.ini:$2" ] || complain "expected '$2', got '$(cat "$got/err")'"
}
bad '[sim]
levels = many' "2: bad number 'many', expected a number below 4 G that is not too small, with K, M or G"
bad '[sim]
color = 3' "2: unknown key 'color', expected pool, levels, steps or seed"
bad '[policy x]
kind = best' "2: unknown policy 'best', expected largest, largest_run, free_bytes or true_free"
bad '[thing]
x = 1' "2: unknown section 'thing', expected sim, policy NAME or row NAME"
bad '[policy x]
kind = largest' "3: nothing to run, expected [row NAME]"
bad '[policy x]
kind = largest
[row y]
parts = 5-2' "4: bad range '5-2', expected LOW-HIGH or a number, within what a level can hold"
bad '[sim]
just words' "2: neither a section nor \`name = value\`"
"$poolmem" sim "$got/none.ini" 2>/dev/null
[ $? -eq 1 ] || complain "a file that is not there"
"$poolmem" sim 2>/dev/null
[ $? -eq 2 ] || complain "no arguments"
[ $failed -eq 0 ] && echo "simulation as expected"
exit $failed
