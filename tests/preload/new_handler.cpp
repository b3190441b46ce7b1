// SPDX-License-Identifier: MIT
// Promise: operator new asks the new_handler again and again while one is set, throws bad_alloc without one,
// nothrow forms give NULL, and whatever the handler throws comes through the library's frames to the caller.
#include <new>
#include <stdexcept>
#include "check.h"

static int calls;
static const size_t huge = SIZE_MAX - 4096;

static void give_up_after_three()
{
    if (++calls == 3)
        std::set_new_handler(nullptr);
}

struct Own {
    int code;
};

static void throw_own()
{
    calls++;
    throw Own{42};
}

static void throw_bad_alloc()
{
    calls++;
    throw std::bad_alloc();
}

using Form = void *(*)(size_t);
static const struct {
    const char *name;
    Form take;
    bool nothrow;
} forms[] = {
    {"new", [](size_t n) { return ::operator new(n); }, false},
    {"new[]", [](size_t n) { return ::operator new[](n); }, false},
    {"new aligned", [](size_t n) { return ::operator new(n, std::align_val_t(64)); }, false},
    {"new[] aligned", [](size_t n) { return ::operator new[](n, std::align_val_t(64)); }, false},
    {"new nothrow", [](size_t n) { return ::operator new(n, std::nothrow); }, true},
    {"new[] nothrow", [](size_t n) { return ::operator new[](n, std::nothrow); }, true},
    {"new aligned nothrow", [](size_t n) { return ::operator new(n, std::align_val_t(64), std::nothrow); },
     true},
    {"new[] aligned nothrow",
     [](size_t n) { return ::operator new[](n, std::align_val_t(64), std::nothrow); }, true},
};

enum Outcome { GAVE_NULL, THREW_BAD_ALLOC, THREW_OWN, GAVE_MEMORY };

static Outcome ask(Form take)
{
    try {
        return opaque(take(opaque_size(huge))) ? GAVE_MEMORY : GAVE_NULL;
    } catch (const std::bad_alloc &) {
        return THREW_BAD_ALLOC;
    } catch (const Own &own) {
        expect_equal("what the handler threw", 42, own.code);
        return THREW_OWN;
    }
}

static void check(const char *form, Form take, std::new_handler handler, Outcome outcome, int times)
{
    calls = 0;
    std::set_new_handler(handler);
    Outcome got = ask(take);
    std::set_new_handler(nullptr);
    expect(got == outcome, "%s of too much, expected outcome %d, got %d", form, outcome, got);
    expect(calls == times, "handler calls of %s, expected %d, got %d", form, times, calls);
}

int main()
{
    for (auto &form : forms) {
        Outcome refused = form.nothrow ? GAVE_NULL : THREW_BAD_ALLOC;
        check(form.name, form.take, nullptr, refused, 0);
        check(form.name, form.take, give_up_after_three, refused, 3);
        check(form.name, form.take, throw_bad_alloc, refused, 1);
        if (!form.nothrow)
            check(form.name, form.take, throw_own, THREW_OWN, 1);
        void *p = opaque(form.take(100));
        expect(p != NULL, "%s of 100 bytes after refusals, expected memory, got NULL", form.name);
        free(p);
    }
    return passed();
}
