/* SPDX-License-Identifier: MIT */
/*
 * poolmem.hpp - poolmem.h for C++: a guard for the pool stack (C++11), an allocator for containers (C++11),
 * and a std::pmr::memory_resource (C++17). Header only, over the calls of poolmem.h, in whichever of its
 * three ways; without the library everything works on malloc. Nothing here throws but std::bad_alloc and
 * std::bad_array_new_length.
 */
#ifndef POOLMEM_HPP
#define POOLMEM_HPP

#include "poolmem.h"

#include <cstddef>
#include <new>
#include <type_traits>
#if __cplusplus >= 201703L && __has_include(<memory_resource>)
#include <memory_resource>
#endif

namespace poolmem
{

/* The pool of that name, made as a heap under Global when there is none; NULL without the library. */
inline poolmem_pool *pool(const char *name)
{
    poolmem_pool *p = poolmem_pool_find(name);
    return p ? p : poolmem_pool_create(name, nullptr, POOLMEM_HEAP, nullptr);
}

/*
 * While it lives, what no rule claims is served by its pool. One thread; scopes end in the reverse order of
 * their beginning, as blocks do. A push that fails (NULL pool, nested too deep) leaves the stack as it was;
 * ok() tells.
 */
class scope
{
  public:
    explicit scope(poolmem_pool *p) noexcept : pool_(p), pushed_(poolmem_pool_push(p) == POOLMEM_OK)
    {
    }
    explicit scope(const char *name) noexcept : scope(poolmem::pool(name))
    {
    }
    ~scope()
    {
        if (pushed_)
            poolmem_pool_pop(pool_);
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    bool ok() const noexcept
    {
        return pushed_;
    }

  private:
    poolmem_pool *pool_;
    bool pushed_;
};

/*
 * While it lives, an arena's memory may be used freely; at its end everything taken since is given back. One
 * thread. Nothing taken in it may live longer, destructors included.
 */
class arena_scope
{
  public:
    explicit arena_scope(poolmem_pool *arena) noexcept
        : arena_(arena), marked_(poolmem_arena_mark(arena, &point_) == POOLMEM_OK)
    {
    }
    ~arena_scope()
    {
        if (marked_)
            poolmem_arena_restore(arena_, &point_);
    }
    arena_scope(const arena_scope &) = delete;
    arena_scope &operator=(const arena_scope &) = delete;

  private:
    poolmem_pool *arena_;
    poolmem_arena_point point_;
    bool marked_;
};

inline void *allocate(poolmem_pool *p, std::size_t size, std::size_t align)
{
    void *block = align <= 16 && (!p || poolmem_pool_kind(p) == POOLMEM_HEAP)
                      ? poolmem_alloc(p, size)
                      : poolmem_alloc_aligned(p, size, align);
    if (!block && size)
        throw std::bad_alloc();
    return block;
}

/* An allocator for containers: std::vector<int, poolmem::allocator<int>> v(poolmem::allocator<int>(pool)).
   NULL pool: whatever is on top of the pool stack when it allocates. As thread-safe as the pool. */
template <class T> class allocator
{
  public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    allocator(poolmem_pool *p = nullptr) noexcept : pool_(p)
    {
    }
    template <class U> allocator(const allocator<U> &other) noexcept : pool_(other.pool())
    {
    }
    T *allocate(std::size_t count)
    {
        if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T))
            throw std::bad_array_new_length();
        return static_cast<T *>(poolmem::allocate(pool_, count * sizeof(T), alignof(T)));
    }
    void deallocate(T *block, std::size_t) noexcept
    {
        poolmem_free(block);
    }
    poolmem_pool *pool() const noexcept
    {
        return pool_;
    }
    /* Any pool's block can be freed through any other's allocator, but containers of two pools stay apart. */
    template <class U> bool operator==(const allocator<U> &other) const noexcept
    {
        return pool_ == other.pool();
    }
    template <class U> bool operator!=(const allocator<U> &other) const noexcept
    {
        return !(*this == other);
    }

  private:
    poolmem_pool *pool_;
};

#ifdef __cpp_lib_memory_resource
/* A pool as a polymorphic memory resource. As thread-safe as the pool. */
class memory_resource : public std::pmr::memory_resource
{
  public:
    explicit memory_resource(poolmem_pool *p) noexcept : pool_(p)
    {
    }
    poolmem_pool *pool() const noexcept
    {
        return pool_;
    }

  private:
    void *do_allocate(std::size_t size, std::size_t align) override
    {
        return poolmem::allocate(pool_, size ? size : 1, align);
    }
    void do_deallocate(void *block, std::size_t, std::size_t) override
    {
        poolmem_free(block);
    }
    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
    {
        const memory_resource *r = dynamic_cast<const memory_resource *>(&other);
        return r && r->pool_ == pool_;
    }
    poolmem_pool *pool_;
};
#endif

} // namespace poolmem

#endif
