#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh - installs the library into a folder of its own and builds every example, and tests/api, against that: linked through pkg-config and
# CMake, header-only without the library, header-only under the preload; C with gcc and clang, C++11 and C++17. Compares what
# they print. Run by `make test-examples`, which sets BUILD. What a machine lacks is skipped with a line.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
WAD=${WAD:-/usr/share/games/doom/freedoom1.wad}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/usr
passed=0 failed=0

check() { # NAME EXPECTED COMMAND...: compares standard output
    local name=$1 want=$2 got
    shift 2
    got=$("$@" 2>"$work/stderr")
    if [ "$got" = "$want" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n--- wanted\n%s\n--- got\n%s\n' "$name" "$want" "$got"
        cat "$work/stderr"
    fi
}
core_passes() { "$@" "$work/core" | sed 's/^[0-9]* checks, 0 failed$/all passed/'; }
build() { # COMPILER SOURCE OUTPUT FLAGS...
    local compiler=$1 source=$2 output=$3
    shift 3
    $compiler -Wall -Wextra -Werror -O2 "$source" "$@" -o "$work/$output" && return 0
    failed=$((failed + 1))
    echo "FAIL $compiler $source does not build"
}
without_addresses() { "$@" | sed 's/0x[0-9a-f]*/ADDRESS/g; s/	/ /g'; }
have() { command -v "$1" >/dev/null || { echo "skipped: no $1"; false; }; }

make -s B="$BUILD" PREFIX="$prefix" LIBDIR="$prefix/lib" install || exit 1
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
linked=$(pkg-config --cflags --libs poolmem) header=-I$prefix/include
preload="env LD_PRELOAD=$prefix/lib/libpoolmem.so"
version=$(pkg-config --modversion poolmem)
compilers=gcc
have clang && compilers="gcc clang"

with="with poolmem $version: Audio holds 2 blocks, the voice is of Audio, the malloc of Audio"
scope17() { printf 'path in %s, node in %s\ntext in %s, resources differ: %s\nscratch 0\ntoo much is an exception' "$@"; }
for cc in $compilers; do
    build $cc examples/api/optional.c optional $header
    check "$cc optional, without" "without poolmem" "$work/optional"
    check "$cc optional, preloaded" "$with" $preload "$work/optional"
    build $cc examples/api/optional.c optional -no-pie -fno-pic $header
    check "$cc optional, fixed address, without" "without poolmem" "$work/optional"
    [ $cc = clang ] || check "$cc optional, fixed address, preloaded" "$with" $preload "$work/optional"
    # shellcheck disable=SC2086
    build $cc examples/api/optional.c optional $linked -Wl,--as-needed
    check "$cc optional, linked" "$with" "$work/optional"
    # shellcheck disable=SC2086
    build $cc examples/quake_port.c quake_port $linked
    check "$cc quake_port" "$(cat tests/examples/quake_port.expected)" "$work/quake_port"
    build $cc examples/quake_port.c quake_port $header
    check "$cc quake_port, preloaded" "$(cat tests/examples/quake_port.expected)" $preload "$work/quake_port"
    check "$cc quake_port, without" "Memory_Init: poolmem is not here, or has no memory" "$work/quake_port"
    build $cc examples/tracked_heap.c tracked_heap -Iallocator "$BUILD/libpool.a" -pthread
    check "$cc tracked_heap" "$(cat tests/examples/tracked_heap.expected)" without_addresses "$work/tracked_heap"
    # shellcheck disable=SC2086
    build $cc examples/api/level.c level $linked
    if [ -r "$WAD" ]; then
        check "$cc level" "$(cat tests/examples/level.expected)" sh -c "'$work/level' '$WAD' | head -n 10"
    else
        echo "skipped: level needs $WAD"
    fi
    check "$cc level, no such file" "" "$work/level" /nowhere
    # shellcheck disable=SC2086
    build $cc tests/api/core.c core $linked -lpthread
    check "$cc core, linked" "all passed" core_passes
    build $cc tests/api/core.c core $header -lpthread
    check "$cc core, preloaded" "all passed" core_passes $preload
done
for cxx in g++ ${compilers#gcc}; do
    [ "$cxx" = clang ] && cxx=clang++
    build $cxx examples/api/scope.cpp scope -std=c++17 $header
    check "$cxx scope, without" "$(scope17 malloc malloc malloc 0)" "$work/scope"
    check "$cxx scope, preloaded" "$(scope17 AI Scene Scene 1)" $preload "$work/scope"
    # shellcheck disable=SC2086
    build $cxx examples/api/scope.cpp scope -std=c++17 $linked
    check "$cxx scope, linked" "$(scope17 AI Scene Scene 1)" "$work/scope"
    build $cxx examples/api/scope.cpp scope -std=c++11 -pedantic $header
    check "$cxx scope, C++11" "$(printf 'path in AI, node in Scene\nscratch 0\ntoo much is an exception')" $preload "$work/scope"
done
build gcc tests/api/absent.c absent $header -fsanitize=address,undefined
check "absent" "all passed" env ASAN_OPTIONS=allocator_may_return_null=1 "$work/absent"
build "g++ -x c++ -std=c++17 -fpermissive -w" tests/api/absent.c absent $header
check "absent, C++" "all passed" "$work/absent"
# libpool.a alone: zlib is only for who names the zip reader
build gcc tests/api/static.c static -std=gnu11 -Iallocator "$prefix/lib/libpool.a"
check "static, LIB" "lib with 3 entries" "$work/static" tests/fuzz/corpus-archive/lib
check "static, zip without its reader" "refused: not supported by this kind of pool" "$work/static" tests/fuzz/corpus-archive/zip-deflated
build gcc tests/api/static.c static -std=gnu11 -DWITH_ZIP -Iallocator "$prefix/lib/libpool.a" -lz
check "static, zip" "zip with 3 entries" "$work/static" tests/fuzz/corpus-archive/zip-deflated
check "nothing drags zlib into a host" "" sh -c "readelf -d '$prefix/lib/libpoolmem.so' | grep libz"
if pkg-config --exists sdl2; then
    build gcc examples/sdl_hooks.c sdl_hooks $header $(pkg-config --cflags --libs sdl2)
    check "sdl_hooks, without" "picture made, SDL holds malloc's memory" "$work/sdl_hooks"
    check "sdl_hooks, preloaded" "picture made, SDL holds its pool's memory" $preload "$work/sdl_hooks"
else
    echo "skipped: no SDL2"
fi
if pkg-config --exists lua5.4; then
    build gcc examples/lua_budget.c lua_budget $header $(pkg-config --cflags --libs lua5.4)
    check "lua_budget, without" "$(printf 'small: ok, large: ok\nafterwards: ok\nleft: 0')" "$work/lua_budget"
    check "lua_budget, preloaded" "$(printf 'small: ok, large: not enough memory\nafterwards: ok\nleft: 0')" \
        $preload "$work/lua_budget"
else
    echo "skipped: no Lua 5.4"
fi
if have cmake; then
    if cmake -S examples/cmake -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/cmake.log" 2>&1 &&
        cmake --build "$work/cmake" >>"$work/cmake.log" 2>&1; then
        check "cmake scope" "$(scope17 AI Scene Scene 1)" "$work/cmake/scope"
        check "cmake optional" "without poolmem" "$work/cmake/optional"
    else
        failed=$((failed + 1))
        cat "$work/cmake.log"
    fi
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
