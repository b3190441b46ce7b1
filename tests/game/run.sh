#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh - the bundled game by itself: one checksum however it is run, exit status, one clear line for bad input.
# usage: run.sh [DIRECTORY OF THE BUILT GAME]; every check prints a line, the exit status is 0 when all hold.
cd "$(dirname "$0")/../.." || exit 2
GAME=${1:-build/examples/game}
[ -x "$GAME/game" ] || { echo "run.sh: $GAME/game is missing, expected: make game" >&2; exit 2; }
GAME=$(cd "$GAME" && pwd)
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

checksum() { # checksum COMMAND...: its checksum, or its exit status
    "$@" >"$WORK/out" 2>"$WORK/err" || { echo "exit status $?: $(head -1 "$WORK/err")"; return; }
    sed -n 's/^checksum *//p' "$WORK/out"
}

same() { # same NAME COMMAND...: the checksum is $expected
    name=$1
    shift
    check "$name" "$expected" "$(checksum "$@")"
}

refused() { # refused NAME STATUS PATTERN COMMAND...: exit status, one line on stderr that fits, nothing on stdout
    name=$1 status=$2 pattern=$3
    shift 3
    "$@" >"$WORK/out" 2>"$WORK/err"
    check "$name: exit status" "$status" "$?"
    check "$name: lines" "1 0" "$(wc -l <"$WORK/err" | tr -d ' ') $(wc -l <"$WORK/out" | tr -d ' ')"
    grep -q -- "$pattern" "$WORK/err" && found=$pattern || found=$(cat "$WORK/err")
    check "$name: text" "$pattern" "$found"
}

wads="$GAME/tiny.wad"
real=/usr/share/games/doom/freedoom1.wad
[ -r "$real" ] && wads="$wads $real" || echo "skip $real is not installed"

for wad in $wads; do
    w=$(basename "$wad")
    expected=$(checksum "$GAME/game" --wad "$wad" $FRAMES)
    check "$w: a checksum of 16 digits" 16 "$(printf %s "$expected" | tr -cd '0-9a-f' | wc -c | tr -d ' ')"
    same "$w: a second run" "$GAME/game" --wad "$wad" $FRAMES
    for n in 0 2 8; do
        same "$w: $n streaming threads" "$GAME/game" --wad "$wad" $FRAMES --threads $n
    done
    for variant in game-stripped game-static-lua game-count; do
        same "$w: $variant" "$GAME/$variant" --wad "$wad" $FRAMES
    done
    command -v taskset >/dev/null && same "$w: one core" taskset -c 0 "$GAME/game" --wad "$wad" $FRAMES --threads 4
    for other in libjemalloc.so.2 libmimalloc.so.2 libtcmalloc_minimal.so.4; do
        ldconfig -p | grep -q "$other" &&
            same "$w: under $other" env LD_PRELOAD=$other "$GAME/game" --wad "$wad" $FRAMES
    done
    other=$(checksum "$GAME/game" --wad "$wad" $FRAMES --seed 2)
    check "$w: another seed gives another checksum" yes "$([ "$other" != "$expected" ] && echo yes)"
done

tiny="$GAME/tiny.wad"
"$GAME/mkwad" "$WORK/again.wad"
check "tiny.wad is the same each time" "" "$(cmp "$tiny" "$WORK/again.wad" 2>&1)"
other=$(checksum "$GAME/game" --wad "$tiny" $FRAMES --map E1M2)
check "a map's name is obeyed" yes "$([ "$other" != "$(checksum "$GAME/game" --wad "$tiny" $FRAMES)" ] && echo yes)"
check "no frames at all" "exit 0" "$("$GAME/game" --wad "$tiny" --frames 0 >/dev/null 2>&1 && echo exit 0)"
check "--help" "usage" "$("$GAME/game" --help | sed -n '1s/:.*//p')"
check "a full disk" 1 "$("$GAME/game" --wad "$tiny" --frames 1 >/dev/full 2>/dev/null; echo $?)"

refused "unknown option" 2 "--nonsense: no such option" "$GAME/game" --nonsense 1
refused "value missing" 2 "--frames: .*missing" "$GAME/game" --frames
refused "no number" 2 "12x: expected a number" "$GAME/game" --frames 12x
refused "out of range" 2 "9: expected a number from 0 to 8" "$GAME/game" --threads 9
refused "plain word" 2 "word: no such option" "$GAME/game" word 1
refused "no such file" 1 "/nowhere.wad: No such file" "$GAME/game" --wad /nowhere.wad
refused "a directory" 1 "not a WAD file" "$GAME/game" --wad /
refused "no such map" 1 "no map E9M9" "$GAME/game" --wad "$tiny" --map E9M9
refused "no scripts" 1 "main.lua: cannot be read" "$GAME/game" --wad "$tiny" --scripts /nowhere

: >"$WORK/empty.wad"
refused "empty file" 1 "not a WAD file" "$GAME/game" --wad "$WORK/empty.wad"
head -c 5000 "$tiny" >"$WORK/cut.wad"
refused "cut file" 1 "does not fit into the file" "$GAME/game" --wad "$WORK/cut.wad"
printf 'IWAD\377\377\377\377\014\000\000\000' >"$WORK/many.wad"
refused "too many lumps" 1 "directory of 4294967295 lumps" "$GAME/game" --wad "$WORK/many.wad"

# Bytes overwritten in place: OFFSET counts from the start of the named lump of E1M1.
broken() { # broken NAME LUMP OFFSET OCTAL-BYTES PATTERN
    python3 - "$tiny" "$WORK/broken.wad" "$2" "$3" "$4" <<'PY'
import struct, sys
source, to, lump, offset, octal = sys.argv[1:]
data = bytearray(open(source, "rb").read())
number, directory = struct.unpack_from("<II", data, 4)
for i in range(number):
    at, size, name = struct.unpack_from("<II8s", data, directory + 16 * i)
    if name.rstrip(b"\0").decode() == lump:
        break
new = bytes(int(b, 8) for b in octal.split())
data[at + int(offset):at + int(offset) + len(new)] = new
open(to, "wb").write(data)
PY
    refused "$1" 1 "$5" "$GAME/game" --wad "$WORK/broken.wad" --frames 1
}
broken "line with a wrong vertex" LINEDEFS 0 "377 0" "E1M1: LINEDEFS 0: vertex 255, expected 0..80"
broken "side with a wrong sector" SIDEDEFS 28 "0 1" "SIDEDEFS 0: sector 256, expected 0..63"
broken "seg with a wrong line" SEGS 6 "377 177" "SEGS 0: line 32767"
broken "subsector with no segs" SSECTORS 0 "0 0" "SSECTORS 0: number of segs -1"
broken "node that names itself" NODES 24 "0 0" "NODES 0: child 0"
broken "texture with no size" TEXTURE1 48 "0 0" "TEXTURE1: texture 0 is broken"
broken "too many patch names" PNAMES 0 "377 377" "PNAMES: 65535 names do not fit"

# A script that raises an error ends the game with one line that names it.
cp -r "$GAME/scripts" "$WORK/scripts"
echo 'function on_frame() local nothing; nothing.x = 1 end' >>"$WORK/scripts/main.lua"
refused "error in a script" 1 "main.lua:[0-9]*: attempt to index" "$GAME/game" --wad "$tiny" --scripts "$WORK/scripts"
echo 'this is not Lua' >"$WORK/scripts/main.lua"
refused "script that does not compile" 1 "main.lua:1: syntax error" "$GAME/game" --wad "$tiny" --scripts "$WORK/scripts"
(
    ulimit -v 40000
    "$GAME/game" --wad "$tiny" --threads 0 >/dev/null 2>"$WORK/err"
    echo $? >"$WORK/status"
)
check "little address space: status 0 or a line" yes \
    "$(s=$(cat "$WORK/status"); { [ "$s" = 0 ] || { [ "$s" = 1 ] && grep -q '^game: out of memory' "$WORK/err"; }; } && echo yes)"

# The counts: complete (all is freed), and the comparing script can tell equal from different.
"$GAME/game-count" --wad "$tiny" $FRAMES --counts "$WORK/counts.json" >/dev/null
"$GAME/game-count" --wad "$tiny" $FRAMES --counts "$WORK/counts2.json" --threads 3 >/dev/null
check "counts do not depend on threads" "" "$(cmp "$WORK/counts.json" "$WORK/counts2.json" 2>&1)"
compare() { # compare: prints the comparing script's exit status
    python3 tests/game/compare_counts.py "$WORK/counts.json" "$WORK/report.json" >"$WORK/out" 2>&1
    echo $?
}
report() { # report EXTRA: a report that fits the counts, with EXTRA allocs too many in Lua
    python3 - "$WORK/counts.json" "$WORK/report.json" "$1" <<'PY'
import json, sys
counts = json.load(open(sys.argv[1]))
unfreed = [n for n, c in counts.items() if c["allocs"] != c["frees"] or not c["allocs"]]
assert not unfreed, f"not freed, or not counted: {unfreed}"
pools = [{"name": n, "allocs": c["allocs"] + (n == "Lua") * int(sys.argv[3]), "reallocs": c["reallocs"],
          "frees": c["frees"], "alloc_bytes": c["bytes"] + c["realloc_bytes"]} for n, c in counts.items()]
json.dump({"schema": 1, "pools": [{"name": "Global", "allocs": 1, "reallocs": 0, "frees": 0, "alloc_bytes": 8}] + pools},
          open(sys.argv[2], "w"))
PY
}
report 0
check "counts: equal totals" 0 "$(compare)"
report 1
check "counts: one call too many" 1 "$(compare)"
report -1
check "counts: one call too few" 1 "$(compare)"
echo '{}' >"$WORK/report.json"
check "counts: no report" 2 "$(compare)"

# Every allocation of the containers is made by a function of std:: or __gnu_cxx::, whatever its arguments are.
if command -v objdump >/dev/null; then
    stray=$(objdump -d --demangle --no-show-raw-insn "$GAME/game" |
        awk '/^[0-9a-f]+ <.*>:$/ { name = $0 } /(call|jmp).*<operator new[^>]*@plt>/ { print name }' |
        sed -E 's/^[0-9a-f]+ <(.*)>:$/\1/; s/ \[clone [^]]*\]//g; :t; s/<[^<>]*>//; tt; :p; s/\([^()]*\)//; tp
            s/ const$//; s/.* //' | sort -u | grep -vE '^(std|__gnu_cxx)::')
    check "operator new is called by the containers only" "" "$stray"
fi

echo "$checks checks, $failed failed"
[ "$failed" = 0 ]
