/* SPDX-License-Identifier: MIT */
/*
 * elf.c - see elf.h. Of an image the dynamic section leads to symbols, strings and the hash table, whose
 * chains tell how many symbols there are. Of a file the section headers lead to them; sections are mapped one
 * by one, so that a large file costs little address space. A file that was replaced since the object was
 * loaded is known by its build-id, or without one by its program headers.
 * Locking: the caller's. Cost: an image a few us; a file about ten system calls.
 */
#include "elf.h"
#include "fmt.h"
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECTIONS_MOST = 16384, NOTES_MOST = 1024 };

/* --- notes and identity --------------------------------------------------------------------------- */

/* Looks for the build-id among notes. */
static bool find_build_id(const uint8_t *p, size_t size, elf_id *out)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) n;
        memcpy(&n, p, sizeof n);
        size_t name = round_up((size_t)n.n_namesz, 4), desc = round_up((size_t)n.n_descsz, 4);
        size_t left = size - sizeof n;
        if (name > left || n.n_descsz > left - name)
            return false;
        const uint8_t *text = p + sizeof n;
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(text, "GNU", 4) == 0 && n.n_descsz &&
            n.n_descsz <= sizeof out->build_id) {
            memcpy(out->build_id, text + name, n.n_descsz);
            out->build_id_bytes = n.n_descsz;
            return true;
        }
        if (desc > left - name)
            return false;
        p += sizeof n + name + desc;
        size = left - name - desc;
    }
    return false;
}

/* An ELF object of this machine's word size and byte order. */
static bool header_ok(const ElfW(Ehdr) * e)
{
    return memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 &&
           e->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
           e->e_ident[EI_DATA] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
}

/* Whether [at, at+size) lies in the image. */
static bool inside(const elf_image *image, uintptr_t at, size_t size)
{
    return at >= image->low && at <= image->high && size <= image->high - at;
}

void elf_image_id(const elf_image *image, elf_id *out)
{
    *out = (elf_id){0};
    const ElfW(Ehdr) *e = (const ElfW(Ehdr) *)image->low;
    if (!inside(image, image->low, sizeof *e) || !header_ok(e) || e->e_phentsize != sizeof(ElfW(Phdr)) ||
        !inside(image, image->low + e->e_phoff, e->e_phnum * sizeof(ElfW(Phdr))) || e->e_phoff % 8)
        return;
    out->headers = (const ElfW(Phdr) *)(image->low + e->e_phoff);
    out->header_count = e->e_phnum;
    for (uint32_t i = 0; i < out->header_count; i++) {
        const ElfW(Phdr) *p = &out->headers[i];
        if (p->p_type == PT_NOTE && inside(image, image->base + p->p_vaddr, p->p_memsz) &&
            find_build_id((const uint8_t *)(image->base + p->p_vaddr), p->p_memsz, out))
            return;
    }
}

bool elf_debug_path(const elf_id *id, char *out, size_t cap)
{
    size_t n = fmt_text(out, cap, "/usr/lib/debug/.build-id/");
    for (uint32_t i = 0; i < id->build_id_bytes && n < cap; i++)
        n += fmt_text(out + n, cap - n, i == 0 ? "%02x/" : "%02x", id->build_id[i]);
    if (n < cap)
        n += fmt_text(out + n, cap - n, ".debug");
    return id->build_id_bytes && n < cap;
}

/* --- images --------------------------------------------------------------------------------------- */

/* A pointer of the dynamic section; the loader has relocated it, except in the kernel's own object. */
static uintptr_t dynamic_pointer(const elf_image *image, ElfW(Addr) value)
{
    return value < image->low ? image->base + value : value;
}

/* Symbols that a GNU hash table knows of: the highest bucket's chain ends with the last one. */
static uint32_t count_gnu(const elf_image *image, uintptr_t at)
{
    const uint32_t *h = (const uint32_t *)at;
    if (!inside(image, at, 16))
        return 0;
    uint32_t buckets = h[0], first = h[1], last = 0;
    uintptr_t table = at + 16 + (uintptr_t)h[2] * sizeof(ElfW(Addr));
    uintptr_t chains = table + (uintptr_t)buckets * 4;
    if (!inside(image, table, (size_t)buckets * 4))
        return 0;
    for (uint32_t i = 0; i < buckets; i++)
        if (((const uint32_t *)table)[i] > last)
            last = ((const uint32_t *)table)[i];
    if (last < first)
        return first; /* nothing but undefined ones */
    for (;; last++) {
        uintptr_t link = chains + (uintptr_t)(last - first) * 4;
        if (!inside(image, link, 4))
            return 0;
        if (*(const uint32_t *)link & 1)
            return last + 1;
    }
}

/* The old hash table tells the number outright; most objects have only the new one. */
static uint32_t count_symbols(const elf_image *image, uintptr_t hash, uintptr_t gnu_hash)
{
    if (hash && inside(image, hash, 8))
        return ((const uint32_t *)hash)[1];
    return gnu_hash ? count_gnu(image, gnu_hash) : 0;
}

bool elf_read_image(const elf_image *image, elf_symbols *out)
{
    uintptr_t symbols = 0, strings = 0, hash = 0, gnu_hash = 0;
    size_t string_bytes = 0;
    *out = (elf_symbols){0};
    for (const ElfW(Dyn) *d = image->dynamic; inside(image, (uintptr_t)d, sizeof *d) && d->d_tag; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbols = dynamic_pointer(image, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            strings = dynamic_pointer(image, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRSZ)
            string_bytes = d->d_un.d_val;
        else if (d->d_tag == DT_HASH)
            hash = dynamic_pointer(image, d->d_un.d_ptr);
        else if (d->d_tag == DT_GNU_HASH)
            gnu_hash = dynamic_pointer(image, d->d_un.d_ptr);
    }
    if ((symbols | hash | gnu_hash) % 4 || symbols % sizeof(ElfW(Addr)))
        return false;
    uint32_t count = count_symbols(image, hash, gnu_hash);
    if (!count || !inside(image, symbols, (size_t)count * sizeof(ElfW(Sym))) || !string_bytes ||
        !inside(image, strings, string_bytes))
        return false;
    out->symbols = (const ElfW(Sym) *)symbols;
    out->count = count;
    out->strings = (const char *)strings;
    out->string_bytes = string_bytes;
    return true;
}

const char *elf_string(const elf_symbols *s, uint32_t offset)
{
    if (offset >= s->string_bytes || !memchr(s->strings + offset, 0, s->string_bytes - offset))
        return "";
    return s->strings + offset;
}

/* --- files ---------------------------------------------------------------------------------------- */

struct file {
    int fd;
    uint64_t size; /* bytes */
    ElfW(Ehdr) header;
};

/* Whole pieces only: a file that ends early is not read. */
static bool read_at(const struct file *f, void *out, size_t size, uint64_t offset)
{
    return offset <= f->size && size <= f->size - offset &&
           pread(f->fd, out, size, (off_t)offset) == (ssize_t)size;
}

/* Maps a piece of the file and returns where the piece starts. */
static const void *map_at(const struct file *f, uint64_t offset, uint64_t size, elf_symbols *s, int slot)
{
    if (!size || offset > f->size || size > f->size - offset)
        return NULL;
    uint64_t page = os_page_size(), start = offset - offset % page;
    size_t length = (size_t)(offset + size - start);
    void *p = mmap(NULL, length, PROT_READ, MAP_PRIVATE, f->fd, (off_t)start);
    if (p == MAP_FAILED)
        return NULL;
    s->mapped[slot].at = p;
    s->mapped[slot].size = length;
    return (const char *)p + (offset - start);
}

static bool map_sections(const struct file *f, elf_symbols *s)
{
    const ElfW(Ehdr) *e = &f->header;
    if (e->e_shentsize != sizeof(ElfW(Shdr)) || !e->e_shnum || e->e_shnum > SECTIONS_MOST || e->e_shoff % 8)
        return false;
    s->sections = map_at(f, e->e_shoff, (uint64_t)e->e_shnum * sizeof(ElfW(Shdr)), s, 0);
    s->section_count = e->e_shnum;
    return s->sections != NULL;
}

static bool file_build_id(const struct file *f, const elf_symbols *s, elf_id *out)
{
    uint64_t notes[NOTES_MOST / 8];
    for (uint32_t i = 0; i < s->section_count; i++) {
        const ElfW(Shdr) *h = &s->sections[i];
        size_t size = h->sh_size < sizeof notes ? (size_t)h->sh_size : sizeof notes;
        if (h->sh_type == SHT_NOTE && read_at(f, notes, size, h->sh_offset) &&
            find_build_id((const uint8_t *)notes, size, out))
            return true;
    }
    return false;
}

/* Whether the file is what was loaded. */
static bool same_build(const struct file *f, const elf_symbols *s, const elf_id *want)
{
    elf_id id = {0};
    if (want->build_id_bytes)
        return file_build_id(f, s, &id) && id.build_id_bytes == want->build_id_bytes &&
               memcmp(id.build_id, want->build_id, id.build_id_bytes) == 0;
    if (!want->header_count || f->header.e_phnum != want->header_count)
        return false;
    for (uint32_t i = 0; i < want->header_count; i++) {
        ElfW(Phdr) p;
        if (!read_at(f, &p, sizeof p, f->header.e_phoff + i * sizeof p) ||
            memcmp(&p, &want->headers[i], sizeof p) != 0)
            return false;
    }
    return true;
}

/* The one full symbol table and the strings it names. */
static bool map_symbols(const struct file *f, elf_symbols *s)
{
    for (uint32_t i = 0; i < s->section_count; i++) {
        const ElfW(Shdr) *h = &s->sections[i];
        if (h->sh_type != SHT_SYMTAB)
            continue;
        if (h->sh_entsize != sizeof(ElfW(Sym)) || h->sh_link >= s->section_count || h->sh_offset % 8 ||
            h->sh_size / sizeof(ElfW(Sym)) > UINT32_MAX || (h->sh_flags & SHF_COMPRESSED))
            return false;
        const ElfW(Shdr) *strings = &s->sections[h->sh_link];
        s->count = (uint32_t)(h->sh_size / sizeof(ElfW(Sym)));
        s->symbols = map_at(f, h->sh_offset, h->sh_size, s, 1);
        s->strings = map_at(f, strings->sh_offset, strings->sh_size, s, 2);
        s->string_bytes = strings->sh_size;
        return s->symbols && s->strings && strings->sh_type == SHT_STRTAB;
    }
    return false;
}

static bool read_open(int fd, const elf_id *same, elf_symbols *out)
{
    struct stat st;
    struct file f = {.fd = fd};
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    f.size = (uint64_t)st.st_size;
    return read_at(&f, &f.header, sizeof f.header, 0) && header_ok(&f.header) && map_sections(&f, out) &&
           same_build(&f, out, same) && map_symbols(&f, out);
}

bool elf_read_file(const char *path, const elf_id *same, elf_symbols *out)
{
    int saved = errno;
    *out = (elf_symbols){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool ok = fd >= 0 && read_open(fd, same, out);
    if (fd >= 0)
        close(fd);
    if (!ok)
        elf_release(out);
    errno = saved;
    return ok;
}

void elf_release(elf_symbols *s)
{
    for (int i = 0; i < 3; i++)
        if (s->mapped[i].at)
            os_unmap(s->mapped[i].at, s->mapped[i].size);
    *s = (elf_symbols){0};
}
