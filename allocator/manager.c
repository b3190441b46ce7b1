/* SPDX-License-Identifier: MIT */
/*
 * manager.c - see manager.h. Every call that names a pointer asks first whose it is; everything else goes to
 * the pool on top as it stands.
 *
 * Whose memory a pointer is, is decided by the deepest registered range: the global pool's range holds the
 * blocks of all pools nested in it, so asking the top whether it contains the pointer would make every free
 * look right. A wrapper has the range of what it wraps and is taken to be the owner when it is on top.
 * Locking: none of its own. Cost: a lookup by address a free, else a test and the pool's own work.
 * Read next: boot.c.
 */
#include "manager.h"
#include "fatal.h"

#include <string.h>

void manager_init(manager *m, registry *r, uint32_t limit)
{
    memset(m, 0, sizeof *m);
    m->registry = r;
    m->stack.limit = limit < POOL_STACK_MAX ? limit : POOL_STACK_MAX;
}

pool_status manager_set_global(manager *m, pool *p)
{
    if (m->stack.depth)
        return POOL_EXISTS;
    m->global = p;
    return pool_stack_push(&m->stack, p);
}

pool_status manager_push(manager *m, pool *p)
{
    pool_status s = p ? pool_stack_push(&m->stack, p) : POOL_INVALID;
    if (s != POOL_OK) {
        m->push_errors++;
        message(MESSAGE_MISUSE, "push of pool '%s': %s", p ? p->name : "(null)", pool_status_text(s));
    }
    return s;
}

/* The global pool stays: a pop that would take it is one too many. */
pool_status manager_pop(manager *m, const pool *expected)
{
    bool last = m->global && m->stack.depth == 1;
    pool_status s = last ? POOL_EMPTY : pool_stack_pop(&m->stack, expected);
    if (s != POOL_OK) {
        m->pop_errors++;
        message(MESSAGE_MISUSE, "pop of pool '%s': %s", expected ? expected->name : "(any)",
                pool_status_text(s));
    }
    return s;
}

/* The handler is told before the caller sees NULL; what it frees does not save this request. */
static pool_status served(manager *m, pool *p, const pool_request *r, pool_status s)
{
    if ((s == POOL_NOMEM || s == POOL_LIMIT) && m->on_no_memory)
        m->on_no_memory(p, r, m->on_no_memory_arg);
    return s;
}

pool_status manager_alloc(manager *m, const pool_request *r, void **out)
{
    pool *top = pool_stack_top(&m->stack);
    *out = NULL;
    return top ? served(m, top, r, pool_alloc(top, r, out)) : POOL_EMPTY;
}

static bool same_range(const pool *a, const pool *b)
{
    return a->first == b->first && a->last == b->last;
}

/* The pool that must take a block back; NULL when none may. A wrapper has the range of what it wraps. */
static pool *find_owner(manager *m, const void *block, pool_status *why)
{
    pool *top = pool_stack_top(&m->stack);
    pool *owner = m->registry ? registry_find_address(m->registry, (uintptr_t)block) : NULL;
    *why = top ? POOL_FOREIGN : POOL_EMPTY;
    if (top && (owner ? same_range(top, owner) : pool_contains(top, block)))
        return top;
    if (!owner) {
        m->unknown++;
        message(MESSAGE_MISUSE, "free of %p, which is no pool's memory", block);
        return NULL;
    }
    m->wrong_pool++;
    message(MESSAGE_MISUSE, "free of %p with pool '%s' on top, it belongs to '%s'", block,
            top ? top->name : "(none)", owner->name);
    *why = POOL_MISMATCH;
    return m->strict ? NULL : owner;
}

pool_status manager_free(manager *m, void *block)
{
    pool_status why;
    if (!block)
        return POOL_OK;
    pool *owner = find_owner(m, block, &why);
    return owner ? pool_free(owner, block) : why;
}

pool_status manager_resize(manager *m, void *block, const pool_request *r, void **out)
{
    pool_status why;
    *out = NULL;
    if (!block)
        return manager_alloc(m, r, out);
    pool *owner = find_owner(m, block, &why);
    return owner ? served(m, owner, r, pool_resize(owner, block, r, out)) : why;
}

pool_status manager_set_option(manager *m, int which, uintptr_t value)
{
    pool *top = pool_stack_top(&m->stack);
    return top ? pool_set_option(top, which, value) : POOL_EMPTY;
}

size_t manager_largest_free(manager *m)
{
    pool *top = pool_stack_top(&m->stack);
    return top ? pool_largest_free(top) : 0;
}

size_t manager_free_bytes(manager *m)
{
    pool *top = pool_stack_top(&m->stack);
    return top ? pool_free_bytes(top) : 0;
}

size_t manager_describe(manager *m, const void *block, char *out, size_t cap)
{
    pool *top = pool_stack_top(&m->stack);
    if (cap)
        *out = 0;
    return top ? pool_describe(top, block, out, cap) : 0;
}

/* All are asked, also after the first that is not: a pool tells its leaks when it is asked. */
bool manager_check_empty(manager *m)
{
    bool empty = true;
    for (uint32_t i = 0; i < m->stack.depth; i++)
        empty &= pool_check_empty(m->stack.at[i]);
    return empty;
}

size_t manager_report_leaks(manager *m)
{
    size_t leaks = 0;
    const registry_record *at = m->registry ? registry_next(m->registry, NULL, NULL) : NULL;
    for (; at; at = registry_next(m->registry, at, NULL))
        leaks += pool_report_leaks(at->pool);
    return leaks;
}

pool *manager_track_pool(manager *m, pool *p)
{
    return p;
}
