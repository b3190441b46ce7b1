/* SPDX-License-Identifier: MIT */
/* fuzz_map.c - any bytes as a symbol map: a name found starts at or below the address. */
#include "../../interpose/complain.h"
#include "../../interpose/symbol_map.h"
#include "../../interpose/symbols.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_QUIET();
    symbol_maps_clear();
    if (!symbols_add_map("*", fuzz_file(data, size), "fuzz:1"))
        return 0;
    const symbol_map *m = symbol_map_for("/opt/game");
    for (uint64_t address = 1; address; address <<= 3) {
        uint64_t start = 0;
        const char *name = symbol_map_find(m, address, &start);
        if (name && (start > address || !*name))
            abort();
    }
    return 0;
}
