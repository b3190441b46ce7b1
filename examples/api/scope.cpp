/* SPDX-License-Identifier: MIT */
/*
 * scope.cpp - poolmem.hpp: guards, containers and polymorphic memory in pools. Built linked or header-only,
 * run with or without the library: the output differs in the pools' names alone. c++ -std=c++17 scope.cpp
 * $(pkg-config --cflags --libs poolmem) -o scope
 */
#include <poolmem.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

static const char *pool_name(const void *p)
{
    return poolmem_present() ? poolmem_pool_name(poolmem_pool_of(p)) : "malloc";
}

int main()
{
    poolmem_pool *scene = poolmem::pool("Scene"), *ai = poolmem::pool("AI");
    std::vector<int, poolmem::allocator<int>> path(100, 7, poolmem::allocator<int>(ai));
    std::unique_ptr<char[]> node;
    {
        poolmem::scope in(scene);
        node.reset(new char[3000]);
    }
    std::printf("path in %s, node in %s\n", pool_name(path.data()), pool_name(node.get()));
#ifdef __cpp_lib_memory_resource
    poolmem::memory_resource resource(scene), other(ai);
    std::pmr::string text("a string that is too long for the small buffer", &resource);
    std::printf("text in %s, resources differ: %d\n", pool_name(text.data()), !resource.is_equal(other));
#endif
    poolmem_options size = {};
    size.size = 4096;
    poolmem_pool *arena = poolmem_pool_create("Scratch", nullptr, POOLMEM_ARENA, &size);
    {
        poolmem::arena_scope until_here(arena);
        poolmem_arena_strdup(arena, "gone at the end of the block");
    }
    std::printf("scratch %zu\n", poolmem_arena_used(arena));
    try {
        path.reserve(static_cast<std::size_t>(-1) / 4);
    } catch (const std::exception &) {
        std::printf("too much is an exception\n");
    }
    return 0;
}
