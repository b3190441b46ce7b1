#!/bin/sh
# SPDX-License-Identifier: MIT
# The bundled game in the console's pools (examples/retail.conf): it plays to its end with the same checksum,
# every pool has its kind, parent and size, nothing is lost, and a Sector Pool that is too small does what its
# policy says. usage: tests/game/retail.sh [BUILD]
build=$(realpath "${1:-build}") || exit 1
cd "$(dirname "$0")/../.." || exit 1
. tests/shell.sh
game="$build/examples/game/game"
play() { # configuration, then variables
    conf=$1
    shift
    env LD_PRELOAD="$build/libpoolmem.so" POOLMEM_CONF="$conf" "$@" "$game" \
        --wad "$build/examples/game/tiny.wad" --frames 300 >"$got/out" 2>"$got/err"
}

"$game" --wad "$build/examples/game/tiny.wad" --frames 300 >"$got/plain" || complain "the game by itself"
play examples/retail.conf POOLMEM_EXIT=1 POOLMEM_STATS="$got/report.json" || complain "the game does not end: $(cat "$got/err")"
cmp -s "$got/plain" "$got/out" || complain "the game plays differently in these pools"

python3 - "$got/report.json" <<'PYTHON' || failed=1
import json, sys
pools = {p["name"]: p for p in json.load(open(sys.argv[1]))["pools"]}
bad = False
def expect(true, what):
    global bad
    if not true:
        print("FAILED", what)
        bad = True
for name, parent, kind, size in [("Filter Pool", "Global", "retail", 167936),
                                 ("Level Dynamic & LUA Pool", "Global", "retail", 2027520),
                                 ("Sector Pool", "Global", "retail", 17217536),
                                 ("Sector Pool 2", "Global", "retail", 4096),
                                 ("Global Data Pool", "Sector Pool", "clump", 641842),
                                 ("World Level Pool", "Sector Pool", "clump", 262144)]:
    p = pools[name]
    expect((p["parent"], p["kind"], p["limit_bytes"]) == (parent, kind, size), f"{name}: {p['parent']} {p['kind']} {p['limit_bytes']}")
    expect(p["peak_bytes"] <= size, f"{name}: more than it has")
    if name != "Sector Pool 2":
        expect(p["allocs"] > 0 and p["peak_bytes"] > 0, f"{name}: unused")
        expect(p["live_bytes"] == 0 or name == "Sector Pool", f"{name}: {p['live_bytes']} bytes left")
sector = pools["Sector Pool"]
clumps = 627 * 1024 + 256 * 1024  # the runs that the two clumps live in, which tell their contents themselves
expect(sector["free_bytes"] + sector["live_bytes"] + clumps == 17216512, "free bytes are usable less in use")
expect(sector["largest_free_bytes"] % 1024 == 0 and sector["largest_free_bytes"] <= 17013760, "the largest run is whole blocks")
expect(sector["free_bytes"] - sector["true_free_bytes"] == 202752, "true free leaves out the table")
expect("true_free_bytes" not in pools["Global Data Pool"], "only such heaps have a true free")
expect(pools["Level Dynamic & LUA Pool"]["over_limit"] > 0, "the scripts want more than the console had")
sys.exit(bad)
PYTHON

# a clump that is too small spills to the heap that it lies in, not past it
sed 's/^size   = 262144/size   = 4096/' examples/retail.conf >"$got/clump.conf"
play "$got/clump.conf" POOLMEM_EXIT=1 POOLMEM_STATS="$got/clump.json" || complain "a small clump"
python3 - "$got/report.json" "$got/clump.json" <<'PYTHON' || complain "a clump spills to its parent"
import json, sys
before, after = ({p["name"]: p for p in json.load(open(f))["pools"]} for f in sys.argv[1:])
level, sector = ([pools[n]["allocs"] for pools in (before, after)] for n in ("World Level Pool", "Sector Pool"))
sys.exit(not (0 < level[1] < level[0] and level[0] + sector[0] == level[1] + sector[1]))
PYTHON

# a Sector Pool of 1 MB: each policy's way
small() { # policy
    sed "s/^size = 17217536/size = 1M/; /^\[pool Sector Pool\]/,/over/ s/over = spill/over = $1/" \
        examples/retail.conf >"$got/$1.conf"
    play "$got/$1.conf" POOLMEM_VERBOSE=1
    status=$?
    told=$(grep -c '^poolmem: pool Sector Pool of 1048576 bytes cannot hold [0-9]* more, .* by\|from' "$got/err")
}
small spill
[ $status -eq 0 ] && cmp -s "$got/plain" "$got/out" || complain "spill: served by the parent"
small warn
[ $status -eq 0 ] && [ "$told" -eq 1 ] || complain "warn: served, and said once, not $told times"
small fail
[ $status -eq 1 ] && [ "$told" -eq 1 ] && grep -q 'out of memory' "$got/err" || complain "fail: the game gets NULL"
small abort
[ $status -gt 128 ] && [ "$told" -eq 1 ] || complain "abort: ends the game"
grep -q 'asked for by R[a-zA-Z]*+0x' "$got/err" || complain "abort: names the caller"
[ $failed -eq 0 ] && echo "the game in the console's pools as expected"
exit $failed
