# SPDX-License-Identifier: MIT
# A whole compile: driver, cc1plus (with an operator new of its own), as, ld. The object files must be equal byte by byte.
packages=g++ programs=g++ reports='report.*cc1plus*.json'
that=('counted.allocs > 10000' 'process.foreign_frees == 0')
prepare() {
    cat >unit.cpp <<'C'
#include <bits/stdc++.h>
template <int N> struct Chain {
    static constexpr long value = Chain<N - 1>::value + N;
    std::map<int, std::vector<std::string>> table;
};
template <> struct Chain<0> {
    static constexpr long value = 0;
};
int main()
{
    std::map<std::string, std::vector<std::unordered_map<int, std::string>>> tree;
    std::variant<int, std::string, std::vector<int>> either = std::string("text");
    std::visit([](auto &&value) { (void)sizeof value; }, either);
    std::ranges::sort(tree["x"], {}, [](auto &entry) { return entry.size(); });
    std::cout << Chain<500>::value << ' ' << std::regex_match("abcbd", std::regex("a(b|c)*d")) << ' ' << tree.size() << '\n';
}
C
}
host_run() {
    under g++ -std=c++20 -O1 -c -o unit.o unit.cpp && under g++ -o program unit.o && ./program && cksum unit.o program
}
