/* SPDX-License-Identifier: MIT */
/* fuzz_demangle.c - any text as a symbol: an answer in its buffer, in bounded time and stack. */
#include "../../interpose/demangle.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), name[1024];
    memset(name, 1, sizeof name);
    demangle_name(text, name, sizeof name);
    if (!memchr(name, 0, sizeof name))
        abort();
    free(text);
    return 0;
}
