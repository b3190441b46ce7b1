#!/bin/sh
# SPDX-License-Identifier: MIT
# pools.sh - the bundled game under the library: the same checksum, and pools that hold exactly what the game counted.
# usage: pools.sh [DIRECTORY OF THE BUILT GAME [LIBRARY]]; one line a check, exit status 0 when all hold.
cd "$(dirname "$0")/../.." || exit 2
GAME=${1:-build/examples/game}
LIBRARY=${2:-build/libpoolmem.so}
for needed in "$GAME/game" "$LIBRARY"; do
    [ -r "$needed" ] || { echo "pools.sh: $needed is missing, expected: make game all" >&2; exit 2; }
done
GAME=$(cd "$GAME" && pwd)
LIBRARY=$(realpath "$LIBRARY")
WORK=$(mktemp -d) || exit 2
trap 'rm -rf "$WORK"' EXIT
failed=0 checks=0

check() { # check NAME EXPECTED FOUND
    checks=$((checks + 1))
    if [ "$2" = "$3" ]; then
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1: expected '$2', found '$3'"
    fi
}

under() { # under REPORT COMMAND...: runs it under the library, which reports at its end
    report=$1
    shift
    env LD_PRELOAD="$LIBRARY" POOLMEM_EXIT=1 POOLMEM_STATS="$report" "$@"
}

# Someone has analysed the stripped program and exported its names; so has everyone who ships a symbol map.
printf 'include builtin\nsymbols *game-count-stripped = %s\n' "$GAME/game-count.symbols" >"$WORK/stripped.conf"
printf 'include builtin\n[pool Audio]\n[rules]\nAudio = symbol:audio_*\n' >"$WORK/audio.conf"

wads="$GAME/tiny.wad"
real=/usr/share/games/doom/freedoom1.wad
[ -r "$real" ] && wads="$wads $real" || echo "skip $real is not installed"

exact() { # exact NAME CONFIGURATION PROGRAM ARGUMENTS...: counts and report of one run agree in every total
    name=$1 conf=$2 program=$3
    shift 3
    [ -n "$conf" ] && export POOLMEM_CONF="$conf" || unset POOLMEM_CONF
    under "$WORK/base-report.json" "$GAME/$program" "$@" --frames 0 --counts "$WORK/base.json" >/dev/null 2>&1
    under "$WORK/report.json" "$GAME/$program" "$@" --frames 300 --map-frames 100 --counts "$WORK/counts.json" >"$WORK/out" 2>&1
    check "$name: exit status" 0 $?
    python3 tests/game/compare_counts.py --baseline "$WORK/base.json" "$WORK/base-report.json" \
        "$WORK/counts.json" "$WORK/report.json" >"$WORK/table" 2>&1
    check "$name: totals equal" 0 $?
    cat "$WORK/table"
    unset POOLMEM_CONF
}

for wad in $wads; do
    w=$(basename "$wad")
    for program in game game-stripped game-static-lua; do
        expected=$("$GAME/$program" --wad "$wad" --frames 240 --map-frames 60)
        found=$(under "$WORK/ignored.json" "$GAME/$program" --wad "$wad" --frames 240 --map-frames 60 2>&1)
        check "$w: $program prints the same with the library" "$expected" "$found"
    done
    exact "$w: built-in rules" "" game-count --wad "$wad"
    exact "$w: 4 streaming threads" "" game-count --wad "$wad" --threads 4
    exact "$w: Lua inside the program" "" game-count-static-lua --wad "$wad"
    exact "$w: stripped, with a symbol map" "$WORK/stripped.conf" game-count-stripped --wad "$wad"
    exact "$w: a pool for the sound, by a rule of the user" "$WORK/audio.conf" game-count --wad "$wad"
done

echo "$checks checks, $failed failed"
[ "$failed" = 0 ]
