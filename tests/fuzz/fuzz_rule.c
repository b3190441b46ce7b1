/* SPDX-License-Identifier: MIT */
/* fuzz_rule.c - any text as a rule line: what is taken is written and read again to the same, if no quote or
   bare bracket stands in a pattern; the pattern is then matched with the rest of the input. */
#include "../../interpose/glob.h"
#include "../../interpose/rule.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), why[128], first[4096], second[4096];
    rule r, again;
    if (rule_parse("Pool", text, &r, why, sizeof why)) {
        rule_format(&r, first, sizeof first);
        if (r.symbol)
            glob_match(r.symbol, text);
        if (rule_parse("Pool", first + 6, &again, why, sizeof why)) {
            rule_format(&again, second, sizeof second);
            if (strcmp(first, second) != 0)
                abort();
        } else {
            abort();
        }
    }
    free(text);
    return 0;
}
