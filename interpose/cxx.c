/* SPDX-License-Identifier: MIT */
/*
 * cxx.c - floor F4: every operator new and delete of C++, under their linkage names, so that the C++ caller
 * is the immediate caller. Written in C: the library must not drag a C++ runtime into C programs. What only
 * the runtime can do (ask for the new_handler, throw bad_alloc) is looked up in whatever runtime the program
 * has, on failure only.
 *
 * The nothrow forms return NULL when the handler throws: the runtime's own nothrow form does that, by calling
 * our throwing form inside its try block; so on failure we go through it.
 */
#include "alloc_entry.h"
#include "fatal.h"
#include "os.h"

#include <dlfcn.h>

#define EXPORT __attribute__((visibility("default")))

typedef void new_handler(void);
typedef new_handler *get_handler(void);
typedef void throw_bad_alloc(void);
typedef void *plain_new(size_t, const void *);
typedef void *aligned_new(size_t, size_t, const void *);

/* In the global scope first; a runtime that came in with a plug-in is found by name. */
static void *runtime_symbol(const char *name)
{
    static const char *const runtimes[] = {"libstdc++.so.6", "libc++.so.1", "libc++abi.so.1"};
    self->busy++;
    void *found = dlsym(RTLD_NEXT, name);
    for (unsigned i = 0; !found && i < sizeof runtimes / sizeof *runtimes; i++) {
        void *runtime = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);
        found = runtime ? dlsym(runtime, name) : NULL;
    }
    self->busy--;
    return found;
}

static new_handler *current_handler(void)
{
    get_handler *get = (get_handler *)runtime_symbol("_ZSt15get_new_handlerv");
    return get ? get() : NULL;
}

static void *try_again(entry_id entry, size_t size, size_t align, caller_frame f)
{
    const tag *g = caller_tag(self, entry, size, f);
    return malloc_aligned_cold(g, size, align, false);
}

/* The standard's loop: call the handler until memory comes or there is no handler; then throw. */
COLD static void *new_failed(entry_id entry, size_t size, size_t align, caller_frame f)
{
    for (;;) {
        new_handler *handler = current_handler();
        if (!handler)
            break;
        handler();
        void *p = try_again(entry, size, align, f);
        if (p)
            return p;
    }
    throw_bad_alloc *give_up = (throw_bad_alloc *)runtime_symbol("_ZSt17__throw_bad_allocv");
    if (give_up)
        give_up();
    fatal("operator new of %zu bytes failed, and there is no C++ runtime to throw bad_alloc", size);
}

NOINLINE static void *new_walked(size_t size, uintptr_t cfa, uintptr_t rbp, entry_id entry)
{
    void *p = alloc_walked(size, cfa, rbp, entry);
    caller_frame f = {((const uintptr_t *)cfa)[-1], cfa, rbp};
    return likely(p != NULL) ? p : new_failed(entry, size, GRANULE, f);
}

INLINE void *new_aligned(entry_id entry, size_t size, size_t align, caller_frame f)
{
    void *p = try_again(entry, size, align, f);
    return likely(p != NULL) ? p : new_failed(entry, size, align, f);
}

COLD static void *nothrow_failed(const char *name, size_t size, const void *tag)
{
    plain_new *theirs = current_handler() ? (plain_new *)runtime_symbol(name) : NULL;
    return theirs ? theirs(size, tag) : NULL;
}

COLD static void *nothrow_aligned_failed(const char *name, size_t size, size_t align, const void *tag)
{
    aligned_new *theirs = current_handler() ? (aligned_new *)runtime_symbol(name) : NULL;
    return theirs ? theirs(size, align, tag) : NULL;
}

/* --- new ---------------------------------------------------------------------------------------- */

EXPORT void *_Znwm(size_t size)
{
    RETURN_ALLOC(ENTRY_NEW, size, new_walked);
}

EXPORT void *_Znam(size_t size)
{
    RETURN_ALLOC(ENTRY_NEW_ARRAY, size, new_walked);
}

EXPORT void *_ZnwmSt11align_val_t(size_t size, size_t align)
{
    return new_aligned(ENTRY_NEW, size, align, CALLER_HERE());
}

EXPORT void *_ZnamSt11align_val_t(size_t size, size_t align)
{
    return new_aligned(ENTRY_NEW_ARRAY, size, align, CALLER_HERE());
}

EXPORT void *_ZnwmRKSt9nothrow_t(size_t size, const void *tag)
{
    void *p = alloc_hit(ENTRY_NEW, size, CALLER_RET(), CALLER_CFA(), CALLER_RBP());
    p = likely(p != NULL) ? p : alloc_walked(size, CALLER_CFA(), CALLER_RBP(), ENTRY_NEW);
    return likely(p != NULL) ? p : nothrow_failed("_ZnwmRKSt9nothrow_t", size, tag);
}

EXPORT void *_ZnamRKSt9nothrow_t(size_t size, const void *tag)
{
    void *p = alloc_hit(ENTRY_NEW_ARRAY, size, CALLER_RET(), CALLER_CFA(), CALLER_RBP());
    p = likely(p != NULL) ? p : alloc_walked(size, CALLER_CFA(), CALLER_RBP(), ENTRY_NEW_ARRAY);
    return likely(p != NULL) ? p : nothrow_failed("_ZnamRKSt9nothrow_t", size, tag);
}

EXPORT void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const void *tag)
{
    void *p = try_again(ENTRY_NEW, size, align, CALLER_HERE());
    return p ? p : nothrow_aligned_failed("_ZnwmSt11align_val_tRKSt9nothrow_t", size, align, tag);
}

EXPORT void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const void *tag)
{
    void *p = try_again(ENTRY_NEW_ARRAY, size, align, CALLER_HERE());
    return p ? p : nothrow_aligned_failed("_ZnamSt11align_val_tRKSt9nothrow_t", size, align, tag);
}

/* --- delete ------------------------------------------------------------------------------------- */

#define DELETE(symbol, arguments, call)                                                                      \
    EXPORT void symbol arguments                                                                             \
    {                                                                                                        \
        FREE_TAGGED(p, call);                                                                                \
    }

DELETE(_ZdlPv, (void *p), "operator delete")
DELETE(_ZdaPv, (void *p), "operator delete[]")
DELETE(_ZdlPvm, (void *p, size_t size), "operator delete")
DELETE(_ZdaPvm, (void *p, size_t size), "operator delete[]")
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const void *tag), "operator delete")
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const void *tag), "operator delete[]")
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t align), "operator delete")
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t align), "operator delete[]")
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t size, size_t align), "operator delete")
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t size, size_t align), "operator delete[]")
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align, const void *tag), "operator delete")
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align, const void *tag), "operator delete[]")
