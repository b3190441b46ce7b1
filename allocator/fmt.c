/* SPDX-License-Identifier: MIT */
/*
 * fmt.c - see fmt.h. One pass over the format; each conversion is parsed into a `spec` and written through
 * `put`, which counts past the end of the buffer but never writes there.
 * Cost: a few ns a byte. Locking: none, no state.
 */
#include "fmt.h"

#include <string.h>

struct sink {
    char *out;
    size_t cap; /* bytes of out, with the NUL */
    size_t len; /* bytes the whole text has so far */
};

struct spec {
    int width;     /* least columns */
    int precision; /* most bytes of %s, -1 for all */
    bool zero, left;
    int longs; /* 0 int, 1 long or size_t, 2 long long: the last two are the same here */
};

static void put(struct sink *s, char c)
{
    if (s->len + 1 < s->cap)
        s->out[s->len] = c;
    s->len++;
}

static void put_padded(struct sink *s, const struct spec *sp, const char *text, size_t n, char pad)
{
    int fill = sp->width - (int)n;
    for (; !sp->left && fill > 0; fill--)
        put(s, pad);
    for (size_t i = 0; i < n; i++)
        put(s, text[i]);
    for (; fill > 0; fill--)
        put(s, ' ');
}

static void put_number(struct sink *s, const struct spec *sp, unsigned long long v, unsigned base,
                       bool negative)
{
    char digits[32];
    size_t n = sizeof digits;
    do {
        digits[--n] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    if (negative && sp->zero) { /* the sign stands before the zeros */
        struct spec rest = *sp;
        put(s, '-');
        rest.width--;
        put_padded(s, &rest, digits + n, sizeof digits - n, '0');
        return;
    }
    if (negative)
        digits[--n] = '-';
    put_padded(s, sp, digits + n, sizeof digits - n, sp->zero && !sp->left ? '0' : ' ');
}

static const char *parse_spec(const char *f, struct spec *sp, va_list *args)
{
    *sp = (struct spec){.precision = -1};
    for (;; f++) {
        if (*f == '0')
            sp->zero = true;
        else if (*f == '-')
            sp->left = true;
        else
            break;
    }
    if (*f == '*') {
        sp->width = va_arg(*args, int);
        f++;
    }
    for (; *f >= '0' && *f <= '9'; f++)
        sp->width = sp->width * 10 + (*f - '0');
    if (*f == '.') {
        sp->precision = 0;
        if (*++f == '*') {
            sp->precision = va_arg(*args, int);
            f++;
        }
        for (; *f >= '0' && *f <= '9'; f++)
            sp->precision = sp->precision * 10 + (*f - '0');
    }
    for (; *f == 'l' || *f == 'z'; f++)
        sp->longs++;
    return f;
}

static void put_string(struct sink *s, const struct spec *sp, const char *text)
{
    text = text ? text : "(null)";
    put_padded(s, sp, text, sp->precision >= 0 ? strnlen(text, (size_t)sp->precision) : strlen(text), ' ');
}

static void put_signed(struct sink *s, const struct spec *sp, va_list *args)
{
    long long v = sp->longs ? va_arg(*args, long) : va_arg(*args, int);
    put_number(s, sp, v < 0 ? 0ull - (unsigned long long)v : (unsigned long long)v, 10, v < 0);
}

static void put_conversion(struct sink *s, char kind, struct spec *sp, va_list *args)
{
    switch (kind) {
    case 's':
        put_string(s, sp, va_arg(*args, const char *));
        return;
    case 'c':
        put(s, (char)va_arg(*args, int));
        return;
    case 'd':
    case 'i':
        put_signed(s, sp, args);
        return;
    case 'u':
    case 'x':
        put_number(s, sp, sp->longs ? va_arg(*args, unsigned long) : va_arg(*args, unsigned),
                   kind == 'x' ? 16 : 10, false);
        return;
    case 'p':
        put(s, '0');
        put(s, 'x');
        put_number(s, sp, (uintptr_t)va_arg(*args, void *), 16, false);
        return;
    default:
        put(s, kind);
    }
}

size_t fmt_vtext(char *out, size_t cap, const char *format, va_list given)
{
    struct sink s = {out, cap, 0};
    va_list args;
    va_copy(args, given);
    for (const char *f = format; *f; f++) {
        struct spec sp;
        if (*f != '%') {
            put(&s, *f);
            continue;
        }
        f = parse_spec(f + 1, &sp, &args);
        if (!*f)
            break;
        put_conversion(&s, *f, &sp, &args);
    }
    va_end(args);
    if (cap)
        out[s.len < cap ? s.len : cap - 1] = 0;
    return s.len;
}

size_t fmt_text(char *out, size_t cap, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t n = fmt_vtext(out, cap, format, args);
    va_end(args);
    return n;
}
