/* SPDX-License-Identifier: MIT */
/*
 * cfi.c - see cfi.h: finds the frame description of an address through the object's sorted table
 * (.eh_frame_hdr, handed out lock-free by _dl_find_object) and runs its call frame instructions up to the
 * address. Of the registers only rbp, the return address and the CFA are followed.
 *
 * Invariants: (1) reads only the object's own unwind sections; (2) no call can block, allocate or lock;
 * (3) whatever is not understood comes out as CFI_NONE, never as a guess.
 */
#include "cfi.h"

#include <dlfcn.h>
#include <string.h>

enum { REG_RBP = 6, REG_RSP = 7, REG_RA = 16 };
enum { REMEMBER_MAX = 8 };

typedef const uint8_t *bytes;

static uint64_t uleb(bytes *p)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t b;
    do {
        b = *(*p)++;
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
    } while (b & 0x80);
    return v;
}

static int64_t sleb(bytes *p)
{
    bytes first = *p;
    int64_t v = (int64_t)uleb(p);
    unsigned bits = 7 * (unsigned)(*p - first);
    if (bits < 64 && ((*p)[-1] & 0x40))
        v |= -((int64_t)1 << bits);
    return v;
}

#define FIXED(name, type)                                                                                    \
    static int64_t name(bytes *p)                                                                            \
    {                                                                                                        \
        type v;                                                                                              \
        memcpy(&v, *p, sizeof v);                                                                            \
        *p += sizeof v;                                                                                      \
        return (int64_t)v;                                                                                   \
    }
FIXED(take_u8, uint8_t)
FIXED(take_u16, uint16_t)
FIXED(take_u32, uint32_t)
FIXED(take_u64, uint64_t)
FIXED(take_s16, int16_t)
FIXED(take_s32, int32_t)

/* A pointer in one of the encodings of exception tables; `data` is the base of data-relative ones. */
static bool encoded(bytes *p, uint8_t encoding, uintptr_t data, uintptr_t *out)
{
    uintptr_t base = 0;
    switch (encoding & 0x70) {
    case 0x00:
        break;
    case 0x10:
        base = (uintptr_t)*p;
        break;
    case 0x30:
        base = data;
        break;
    default:
        return false;
    }
    int64_t v;
    switch (encoding & 0x0f) {
    case 0x01:
        v = (int64_t)uleb(p);
        break;
    case 0x02:
        v = take_u16(p);
        break;
    case 0x03:
        v = take_u32(p);
        break;
    case 0x00:
    case 0x04:
    case 0x0c:
        v = take_u64(p);
        break;
    case 0x09:
        v = sleb(p);
        break;
    case 0x0a:
        v = take_s16(p);
        break;
    case 0x0b:
        v = take_s32(p);
        break;
    default:
        return false;
    }
    *out = base + (uintptr_t)v;
    if (encoding & 0x80)
        *out = *(const uintptr_t *)*out;
    return true;
}

/* --- tables ----------------------------------------------------------------------------------------- */

typedef struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint8_t encoding; /* of addresses in its FDEs */
    bool augmented, signal;
    bytes code, end; /* initial instructions */
} cie;

/* Start and end of the record at p; false when it is the terminator. */
static bool record_open(bytes *p, bytes *end)
{
    uint64_t length = (uint64_t)take_u32(p);
    if (length == 0xffffffffu)
        length = (uint64_t)take_u64(p);
    *end = *p + length;
    return length != 0;
}

static bool cie_augment(cie *c, const char *letters, bytes p)
{
    uintptr_t personality;
    for (; *letters; letters++) {
        if (*letters == 'R')
            c->encoding = (uint8_t)take_u8(&p);
        else if (*letters == 'L')
            p++;
        else if (*letters == 'S')
            c->signal = true;
        else if (*letters == 'P') {
            uint8_t encoding = (uint8_t)take_u8(&p);
            if (!encoded(&p, encoding & 0x7f, 0, &personality))
                return false;
        } else if (*letters != 'B')
            return false;
    }
    return true;
}

static bool cie_read(bytes p, cie *c)
{
    memset(c, 0, sizeof *c);
    if (!record_open(&p, &c->end))
        return false;
    p += 4; /* the id of a CIE, 0 */
    uint8_t version = (uint8_t)take_u8(&p);
    const char *letters = (const char *)p;
    p += strlen(letters) + 1;
    c->code_align = uleb(&p);
    c->data_align = sleb(&p);
    uint64_t ra = version == 1 ? (uint64_t)take_u8(&p) : uleb(&p);
    if (ra != REG_RA || (version != 1 && version != 3))
        return false;
    if (*letters == 'z') {
        c->augmented = true;
        uint64_t length = uleb(&p);
        if (!cie_augment(c, letters + 1, p))
            return false;
        p += length;
    } else if (*letters)
        return false;
    c->code = p;
    return true;
}

/* The FDE whose start is the last one <= pc, from the sorted table; NULL: the object has no such table. */
static bytes fde_find(bytes header, uintptr_t pc)
{
    struct {
        int32_t start, fde;
    } const *row;
    bytes p = header + 4;
    uintptr_t frames, count;
    if (header[0] != 1 || header[3] != 0x3b || !encoded(&p, header[1], (uintptr_t)header, &frames) ||
        !encoded(&p, header[2], (uintptr_t)header, &count) || count == 0)
        return NULL;
    row = (const void *)p;
    int64_t wanted = (int64_t)(pc - (uintptr_t)header);
    size_t lo = 0, hi = count;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (row[mid].start <= wanted)
            lo = mid;
        else
            hi = mid;
    }
    return row[lo].start <= wanted ? header + row[lo].fde : NULL;
}

/* --- call frame instructions ------------------------------------------------------------------------ */

typedef struct place {
    enum { PLACE_SAME, PLACE_UNDEFINED, PLACE_OFFSET, PLACE_EXPRESSION, PLACE_OTHER } how;
    int64_t offset;
    bytes expression; /* its length, then the code */
} place;

typedef struct row {
    uint64_t cfa_reg;
    int64_t cfa_offset;
    bytes cfa_expression; /* NULL: register + offset */
    place rbp, ra;
} row;

typedef struct machine {
    const cie *cie;
    row now, initial, kept[REMEMBER_MAX];
    unsigned kept_count;
    uintptr_t at, target;
    bool bad;
} machine;

static void place_set(machine *m, uint64_t reg, place p)
{
    if (reg == REG_RBP)
        m->now.rbp = p;
    else if (reg == REG_RA)
        m->now.ra = p;
}

static void place_restore(machine *m, uint64_t reg)
{
    place_set(m, reg, reg == REG_RBP ? m->initial.rbp : m->initial.ra);
}

static void skip_block(bytes *p)
{
    uint64_t n = uleb(p);
    *p += n;
}

static void remember(machine *m)
{
    if (m->kept_count == REMEMBER_MAX)
        m->bad = true;
    else
        m->kept[m->kept_count++] = m->now;
}

static void recall(machine *m)
{
    if (m->kept_count == 0)
        m->bad = true;
    else
        m->now = m->kept[--m->kept_count];
}

static void op_offset(machine *m, uint64_t reg, int64_t factored)
{
    place_set(m, reg, (place){.how = PLACE_OFFSET, .offset = factored * m->cie->data_align});
}

static void op_cfa(machine *m, bytes *p, uint8_t op)
{
    if (op == 0x0c || op == 0x12 || op == 0x0d)
        m->now.cfa_reg = uleb(p);
    if (op == 0x0c || op == 0x0e)
        m->now.cfa_offset = (int64_t)uleb(p);
    if (op == 0x12 || op == 0x13)
        m->now.cfa_offset = sleb(p) * m->cie->data_align;
    m->now.cfa_expression = NULL;
    if (op == 0x0f) {
        m->now.cfa_expression = *p;
        skip_block(p);
    }
}

static void op_place(machine *m, bytes *p, uint8_t op)
{
    uint64_t reg = uleb(p);
    place other = {.how = PLACE_OTHER};
    switch (op) {
    case 0x05: /* offset_extended */
        op_offset(m, reg, (int64_t)uleb(p));
        break;
    case 0x11: /* offset_extended_sf */
        op_offset(m, reg, sleb(p));
        break;
    case 0x2f: /* GNU_negative_offset_extended */
        op_offset(m, reg, -(int64_t)uleb(p));
        break;
    case 0x06:
        place_restore(m, reg);
        break;
    case 0x07:
        place_set(m, reg, (place){.how = PLACE_UNDEFINED});
        break;
    case 0x08:
        place_set(m, reg, (place){.how = PLACE_SAME});
        break;
    case 0x10: /* expression */
        place_set(m, reg, (place){.how = PLACE_EXPRESSION, .expression = *p});
        skip_block(p);
        break;
    case 0x16: /* val_expression */
        place_set(m, reg, other);
        skip_block(p);
        break;
    default: /* register, val_offset, val_offset_sf */
        place_set(m, reg, other);
        uleb(p);
    }
}

static void op_advance(machine *m, bytes *p, uint8_t op)
{
    uint64_t delta = op == 0x02 ? (uint64_t)take_u8(p) : (uint64_t)(op == 0x03 ? take_u16(p) : take_u32(p));
    m->at += delta * m->cie->code_align;
}

static void op_rare(machine *m, bytes *p, uint8_t op)
{
    switch (op) {
    case 0x00:
        break;
    case 0x01: /* set_loc */
        m->bad = !encoded(p, m->cie->encoding, 0, &m->at);
        break;
    case 0x02:
    case 0x03:
    case 0x04:
        op_advance(m, p, op);
        break;
    case 0x0a:
        remember(m);
        break;
    case 0x0b:
        recall(m);
        break;
    case 0x0c:
    case 0x0d:
    case 0x0e:
    case 0x0f:
    case 0x12:
    case 0x13:
        op_cfa(m, p, op);
        break;
    case 0x2e: /* GNU_args_size */
        uleb(p);
        break;
    case 0x05:
    case 0x06:
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x10:
    case 0x11:
    case 0x14:
    case 0x15:
    case 0x16:
    case 0x2f:
        op_place(m, p, op);
        break;
    default:
        m->bad = true;
    }
}

static void run(machine *m, bytes p, bytes end)
{
    while (p < end && !m->bad) {
        uint8_t op = *p++;
        if (op >> 6 == 1)
            m->at += (op & 0x3f) * m->cie->code_align;
        else if (op >> 6 == 2)
            op_offset(m, op & 0x3f, (int64_t)uleb(&p));
        else if (op >> 6 == 3)
            place_restore(m, op & 0x3f);
        else
            op_rare(m, &p, op);
        if (m->at > m->target)
            return;
    }
}

/* --- from a row to a rule --------------------------------------------------------------------------- */

/* `rsp or rbp + offset`, with or without a final dereference: the forms compilers and libc use. */
static bool simple_expression(bytes p, bool *deref, uint8_t *base, int32_t *offset)
{
    bytes end = p;
    uint64_t length = uleb(&end);
    p = end;
    end += length;
    uint8_t op = *p++;
    if (op != 0x70 + REG_RBP && op != 0x70 + REG_RSP)
        return false;
    *base = op == 0x70 + REG_RBP ? CFI_RBP : CFI_RSP;
    *offset = (int32_t)sleb(&p);
    *deref = p < end && *p == 0x06;
    return p + *deref == end;
}

static bool cfa_rule(const row *w, cfi_rule *r)
{
    bool deref = false;
    if (w->cfa_expression) {
        uint8_t base;
        if (!simple_expression(w->cfa_expression, &deref, &base, &r->cfa))
            return false;
        r->base = base;
        r->deref = deref;
        return true;
    }
    r->base = w->cfa_reg == REG_RBP ? CFI_RBP : CFI_RSP;
    r->cfa = (int32_t)w->cfa_offset;
    return (w->cfa_reg == REG_RSP || w->cfa_reg == REG_RBP) && r->cfa == w->cfa_offset;
}

static enum cfi_where where(const place *p, int32_t *offset)
{
    bool deref;
    uint8_t base;
    *offset = (int32_t)p->offset;
    if (p->how == PLACE_SAME)
        return CFI_SAME;
    if (p->how == PLACE_OFFSET)
        return CFI_AT_CFA;
    if (p->how == PLACE_EXPRESSION && simple_expression(p->expression, &deref, &base, offset) && !deref)
        return base == CFI_RBP ? CFI_AT_RBP : CFI_AT_RSP;
    return CFI_LOST;
}

static cfi_rule rule_of(const row *w, bool signal)
{
    cfi_rule r = {.kind = CFI_NONE};
    if (w->ra.how == PLACE_UNDEFINED) {
        r.kind = CFI_END;
        return r;
    }
    r.rbp_at = where(&w->rbp, &r.rbp);
    r.ra_at = where(&w->ra, &r.ra);
    if (cfa_rule(w, &r) && r.ra_at != CFI_LOST && r.ra_at != CFI_SAME)
        r.kind = signal ? CFI_SIGNAL : CFI_FRAME;
    return r;
}

static cfi_rule fde_rule(bytes fde, uintptr_t pc)
{
    cfi_rule none = {.kind = CFI_NONE};
    bytes end, p = fde;
    cie c;
    uintptr_t start, length;
    if (!record_open(&p, &end))
        return none;
    bytes id_at = p;
    uint32_t back = (uint32_t)take_u32(&p);
    if (!back || !cie_read(id_at - back, &c) || !encoded(&p, c.encoding, 0, &start) ||
        !encoded(&p, c.encoding & 0x0f, 0, &length) || pc - start >= length)
        return none;
    if (c.augmented)
        skip_block(&p);
    machine m = {.cie = &c, .at = start, .target = pc};
    run(&m, c.code, c.end);
    m.initial = m.now;
    run(&m, p, end);
    return m.bad ? none : rule_of(&m.now, c.signal);
}

cfi_rule cfi_find(uintptr_t pc)
{
    struct dl_find_object object;
    bytes fde = NULL;
    if (_dl_find_object((void *)pc, &object) == 0 && object.dlfo_eh_frame)
        fde = fde_find(object.dlfo_eh_frame, pc);
    return fde ? fde_rule(fde, pc) : (cfi_rule){.kind = CFI_NONE};
}
