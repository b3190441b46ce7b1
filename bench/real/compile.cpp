/* SPDX-License-Identifier: MIT */
// A file that makes the compiler work: most of the library's headers, and templates that nest.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

template <int N> struct Chain {
    static constexpr long value = Chain<N - 1>::value + N;
    std::map<int, std::vector<std::string>> parts;
};
template <> struct Chain<0> {
    static constexpr long value = 0;
};

struct Circle {
    double radius;
};
struct Box {
    double width, height;
};
using Shape = std::variant<Circle, Box, std::string, std::vector<int>>;

static double area(const Shape &shape)
{
    return std::visit(
        [](const auto &s) -> double {
            using T = std::decay_t<decltype(s)>;
            if constexpr (std::is_same_v<T, Circle>)
                return 3.14 * s.radius * s.radius;
            else if constexpr (std::is_same_v<T, Box>)
                return s.width * s.height;
            else
                return static_cast<double>(s.size());
        },
        shape);
}

int main()
{
    std::map<std::string, std::vector<std::unordered_map<int, std::string>>> deep;
    std::vector<Shape> shapes{Circle{1}, Box{2, 3}, std::string("text"), std::vector<int>{1, 2, 3}};
    std::sort(shapes.begin(), shapes.end(), [](const Shape &a, const Shape &b) { return area(a) < area(b); });
    std::function<int(int)> twice = [](int n) { return n * 2; };
    std::set<std::shared_ptr<std::optional<std::pair<int, std::string>>>> odd;
    std::ostringstream out;
    deep["a"].push_back({{1, "one"}, {2, "two"}});
    out << Chain<700>::value << twice(21) << deep.size() << odd.size();
    for (const auto &s : shapes)
        out << area(s);
    std::cout << out.str() << '\n';
}
