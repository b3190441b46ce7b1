/* SPDX-License-Identifier: MIT */
/*
 * report_object.c - see report.h: a tiny ELF object with one function symbol a pool, so that tools which look
 * addresses up in object files (pprof) show a pool's name for its pseudo-frame.
 *
 *   ELF header | section headers | .symtab | names of symbols | names of sections
 *
 * .text has no bytes in the file; it only gives the symbols a section. Locking: none.
 */
#include "report.h"

#include <elf.h>
#include <string.h>

enum { SECTION_NULL, SECTION_TEXT, SECTION_SYMBOLS, SECTION_STRINGS, SECTION_NAMES, SECTIONS };

#define PREFIX "pool:"

static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

static size_t string_bytes(const report *r)
{
    size_t n = 1;
    for (uint32_t i = 0; i < r->pool_count; i++)
        n += sizeof PREFIX + strlen(r->pools[i].name);
    return n;
}

static void put_file_header(sink *out)
{
    Elf64_Ehdr h = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_shoff = sizeof h,
        .e_ehsize = sizeof h,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = SECTION_NAMES,
    };
    sink_bytes(out, (const char *)&h, sizeof h);
}

static void put_sections(const report *r, sink *out)
{
    size_t symbols_at = sizeof(Elf64_Ehdr) + SECTIONS * sizeof(Elf64_Shdr);
    size_t symbol_bytes = (r->pool_count + 1) * sizeof(Elf64_Sym);
    size_t strings_at = symbols_at + symbol_bytes, names_at = strings_at + string_bytes(r);
    Elf64_Shdr s[SECTIONS] = {
        [SECTION_TEXT] = {.sh_name = 1,
                          .sh_type = SHT_NOBITS,
                          .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                          .sh_size = REPORT_POOL_CODE_BYTES,
                          .sh_addralign = 16},
        [SECTION_SYMBOLS] = {.sh_name = 7,
                             .sh_type = SHT_SYMTAB,
                             .sh_offset = symbols_at,
                             .sh_size = symbol_bytes,
                             .sh_link = SECTION_STRINGS,
                             .sh_info = 1,
                             .sh_addralign = 8,
                             .sh_entsize = sizeof(Elf64_Sym)},
        [SECTION_STRINGS] = {.sh_name = 15,
                             .sh_type = SHT_STRTAB,
                             .sh_offset = strings_at,
                             .sh_size = string_bytes(r),
                             .sh_addralign = 1},
        [SECTION_NAMES] = {.sh_name = 23,
                           .sh_type = SHT_STRTAB,
                           .sh_offset = names_at,
                           .sh_size = sizeof section_names,
                           .sh_addralign = 1},
    };
    sink_bytes(out, (const char *)s, sizeof s);
}

static void put_symbols(const report *r, sink *out)
{
    Elf64_Sym s = {0};
    uint32_t name = 1;
    sink_bytes(out, (const char *)&s, sizeof s);
    for (uint32_t i = 0; i < r->pool_count; i++) {
        s = (Elf64_Sym){.st_name = name,
                        .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                        .st_shndx = SECTION_TEXT,
                        .st_value = i * 16u,
                        .st_size = 16};
        sink_bytes(out, (const char *)&s, sizeof s);
        name += (uint32_t)(sizeof PREFIX + strlen(r->pools[i].name));
    }
}

void report_object(const report *r, sink *out)
{
    put_file_header(out);
    put_sections(r, out);
    put_symbols(r, out);
    sink_char(out, 0, 1);
    for (uint32_t i = 0; i < r->pool_count; i++) {
        sink_string(out, PREFIX);
        sink_bytes(out, r->pools[i].name, strlen(r->pools[i].name) + 1);
    }
    sink_bytes(out, section_names, sizeof section_names);
}
