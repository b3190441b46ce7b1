/* SPDX-License-Identifier: MIT */
/* fuzz_script.c - `poolmem model`: any bytes as a script, on the real allocators. */
#include "../../tools/model.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    FILE *in = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (in) {
        model_run(in, "script", nowhere, nowhere);
        fclose(in);
    }
    return 0;
}
