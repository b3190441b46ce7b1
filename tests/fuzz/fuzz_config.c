/* SPDX-License-Identifier: MIT */
/* fuzz_config.c - any bytes as a configuration file: read without a fault; a good file's rules can be asked.
 */
#include "../../interpose/complain.h"
#include "../../interpose/config_file.h"
#include "../../interpose/rule.h"
#include "fuzz.h"

static int some_pool(const char *name)
{
    return (int)(strlen(name) % 200);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static config_file file;
    FUZZ_QUIET();
    if (config_file_read(fuzz_file(data, size), &file)) {
        symbol_info s = {.module = "/opt/game", .name = "Level::load", .raw = "x", .offset = 0x1234};
        rules_bind(some_pool);
        verdict v = rules_verdict(&s);
        int pool = rules_decide(v, ENTRY_MALLOC, 100, 1);
        if (pool < RULE_NO_POOL || pool > 200)
            abort();
    } else if (rules_count()) {
        abort();
    }
    return 0;
}
