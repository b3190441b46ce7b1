// SPDX-License-Identifier: MIT
// Promise: exceptions pass the library's frames: thrown by a new_handler, through C callbacks (qsort,
// bsearch), from deep recursion, rethrown across threads, while every throw itself allocates.
#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include "check.h"

struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

static int throwing_compare(const void *a, const void *b)
{
    static int calls;
    std::string text(100, 'c');
    if (++calls % 50 == 0)
        throw Refused("compare " + text);
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static int through_c()
{
    int caught = 0;
    std::vector<int> numbers(500);
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < numbers.size(); i++)
            numbers[i] = (int)(i * 7919 % 501);
        try {
            qsort(numbers.data(), numbers.size(), sizeof(int), throwing_compare);
        } catch (const Refused &e) {
            caught += strlen(e.what()) == 108;
        }
        try {
            int key = 3;
            bsearch(&key, numbers.data(), numbers.size(), sizeof(int), throwing_compare);
        } catch (const std::exception &) {
        }
    }
    return caught;
}

static int from_handler()
{
    int caught = 0;
    std::set_new_handler([] { throw Refused("no more " + std::string(200, 'm')); });
    for (int round = 0; round < 300; round++) {
        try {
            std::map<int, std::string> keep;
            for (int i = 0; i < 10; i++)
                keep[i] = std::string(100, 'k');
            ::operator delete(opaque(::operator new(opaque_size(SIZE_MAX / 2 + (size_t)round))));
        } catch (const Refused &) {
            caught++;
        }
    }
    std::set_new_handler(nullptr);
    return caught;
}

static int deep(int depth)
{
    std::vector<char> buffer((size_t)depth * 10 + 1);
    std::function<int()> next = [depth] { return deep(depth - 1); };
    if (depth == 0)
        throw std::length_error("bottom");
    return next() + buffer[0];
}

static int across_threads()
{
    int caught = 0;
    for (int round = 0; round < 50; round++) {
        std::exception_ptr carried;
        std::thread([&] {
            try {
                deep(30);
            } catch (...) {
                carried = std::current_exception();
            }
        }).join();
        try {
            std::rethrow_exception(carried);
        } catch (const std::length_error &) {
            caught++;
        }
    }
    return caught;
}

int main()
{
    expect_equal("exceptions through qsort", 100, through_c());
    expect_equal("exceptions from a new_handler", 300, from_handler());
    expect_equal("exceptions across threads", 50, across_threads());
    return passed();
}
