/* SPDX-License-Identifier: MIT */
/* fuzz_sim.c - `poolmem sim`: any bytes as the file that describes the levels. */
#include "../../tools/command.h"
#include "../../tools/sim.h"
#include "fuzz.h"

/* In place of the command's: nobody reads the complaints. */
int tell(int status, const char *format, ...)
{
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sim_config config;
    sim_config_read(fuzz_file(data, size), &config);
    return 0;
}
