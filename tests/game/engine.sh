#!/bin/sh
# SPDX-License-Identifier: MIT
# engine.sh - the game's second build, over poolmem.h: the checksum of the plain one, every kind of pool at work, lumps evicted.
# usage: engine.sh [DIRECTORY OF THE BUILT GAME]; one line a check, exit status 0 when all hold.
cd "$(dirname "$0")/../.." || exit 2
GAME=${1:-build/examples/game}
[ -x "$GAME/game-engine" ] || { echo "engine.sh: $GAME/game-engine is missing, expected: make test-game-engine" >&2; exit 2; }
WORK=$(mktemp -d) || exit 2
trap 'rm -rf "$WORK"' EXIT
failed=0 checks=0
FRAMES="--frames 240 --map-frames 60"

check() { # check NAME EXPECTED FOUND
    checks=$((checks + 1))
    if [ "$2" = "$3" ]; then
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1: expected '$2', found '$3'"
    fi
}

checksum() { # checksum COMMAND...
    "$@" >"$WORK/out" 2>"$WORK/err" || { echo "exit status $?: $(head -1 "$WORK/err")"; return; }
    sed -n 's/^checksum *//p' "$WORK/out"
}

wads="$GAME/tiny.wad"
real=/usr/share/games/doom/freedoom1.wad
[ -r "$real" ] && wads="$wads $real" || echo "skip $real is not installed"
for wad in $wads; do
    w=$(basename "$wad")
    expected=$(checksum "$GAME/game" --wad "$wad" $FRAMES)
    for n in 0 1 4; do
        check "$w: $n streaming threads" "$expected" \
            "$(GAME_REPORT=$WORK/report.json checksum "$GAME/game-engine" --wad "$wad" $FRAMES --threads $n)"
        check "$w: $n streaming threads: nothing said" "" "$(cat "$WORK/err")"
    done
    python3 - "$WORK/report.json" >"$WORK/pools" <<'PYTHON'
import json, sys
pools = {p["name"]: p for p in json.load(open(sys.argv[1]))["pools"]}
want = {"Directory": "hunk", "Level Arena": "arena", "Scratch": "arena", "Sector": "retail", "Voices": "clump",
        "Audio": "heap", "Mix A": "arena", "Mix B": "arena", "Lua": "heap", "Level": "heap", "STL": "heap"}
for name, kind in want.items():
    p = pools.get(name)
    if not p or p["kind"] != kind or not p["allocs"] or p["allocs"] - p["frees"] != p["live_blocks"]:
        print(f"{name}: expected a {kind} at work whose figures agree, found {p and {k: p[k] for k in ('kind', 'allocs', 'frees', 'live_blocks')}}")
for name in ("Level Arena", "Scratch"):
    if name in pools and pools[name]["live_bytes"]:
        print(f"{name}: not given back")
PYTHON
    check "$w: every kind at work" "" "$(cat "$WORK/pools")"
done
[ -r "$real" ] && check "lumps are evicted" yes "$(grep -q '^lumps .* [1-9][0-9]* evicted' "$WORK/out" && echo yes)"
check "no such file" 1 "$("$GAME/game-engine" --wad /nowhere >/dev/null 2>&1; echo $?)"

echo "$checks checks, $failed failed"
[ "$failed" = 0 ]
