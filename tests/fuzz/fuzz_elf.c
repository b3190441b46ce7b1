/* SPDX-License-Identifier: MIT */
/* fuzz_elf.c - any bytes as an ELF file and as a loaded image, whose dynamic section stands where its headers
   say: no read outside, and what is found starts at or below the address. */
#include "../../interpose/elf.h"
#include "../../interpose/symbol_table.h"
#include "fuzz.h"

static void use(elf_symbols *s)
{
    symbol_table t = {.from = *s};
    if (symbol_table_make(&t))
        for (uint64_t address = 1; address; address <<= 2) {
            const ElfW(Sym) *found = symbol_table_find(&t, address);
            if (found && found->st_value > address)
                abort();
            if (found && strlen(elf_string(&t.from, found->st_name)) > t.from.string_bytes)
                abort();
        }
    symbol_table_drop(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    elf_symbols s;
    elf_id id = {0}, none = {0};
    char *copy = aligned_alloc(64, (size + 64) & ~(size_t)63);
    memcpy(copy, data, size);
    elf_image image = {(uintptr_t)copy, (uintptr_t)copy + size, (uintptr_t)copy, NULL};
    elf_image_id(&image, &id);
    for (uint32_t i = 0; i < id.header_count; i++)
        if (id.headers[i].p_type == PT_DYNAMIC)
            image.dynamic = (const ElfW(Dyn) *)((uintptr_t)copy + (id.headers[i].p_vaddr & ~(uintptr_t)7));
    if (elf_read_image(&image, &s))
        use(&s);
    for (int i = 0; i < 2; i++)
        if (elf_read_file(fuzz_file(data, size), i ? &id : &none, &s))
            use(&s);
    free(copy);
    return 0;
}
