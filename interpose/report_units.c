/* SPDX-License-Identifier: MIT */
/*
 * report_units.c - see report_units.h. Locking: none, no state.
 */
#include "report_units.h"
#include "fmt.h"

const char *bytes_text(char out[16], uint64_t n)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned u = 0;
    uint64_t whole = n, rest = 0;
    for (; whole >= 1024 && u < 6; u++) {
        rest = (whole % 1024) * 100 / 1024;
        whole /= 1024;
    }
    if (!u || whole >= 100)
        fmt_text(out, 16, "%lu %s", (unsigned long)whole, unit[u]);
    else if (whole >= 10)
        fmt_text(out, 16, "%lu.%lu %s", (unsigned long)whole, (unsigned long)rest / 10, unit[u]);
    else
        fmt_text(out, 16, "%lu.%02lu %s", (unsigned long)whole, (unsigned long)rest, unit[u]);
    return out;
}

const char *count_text(char out[16], uint64_t n)
{
    static const char unit[] = " kMGTPE";
    unsigned u = 0;
    uint64_t whole = n, rest = 0;
    if (n < 100000) {
        fmt_text(out, 16, "%lu", (unsigned long)n);
        return out;
    }
    for (; whole >= 1000; u++) {
        rest = whole % 1000;
        whole /= 1000;
    }
    if (whole >= 100)
        fmt_text(out, 16, "%lu%c", (unsigned long)whole, unit[u]);
    else if (whole >= 10)
        fmt_text(out, 16, "%lu.%lu%c", (unsigned long)whole, (unsigned long)rest / 100, unit[u]);
    else
        fmt_text(out, 16, "%lu.%02lu%c", (unsigned long)whole, (unsigned long)rest / 10, unit[u]);
    return out;
}

const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}
