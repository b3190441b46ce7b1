// SPDX-License-Identifier: MIT
// Traffic for make verify-tags: preprocessed by nobody, so it stands by itself; deep recursion in the compiler.
template <int N> struct F {
    static constexpr long v = F<N - 1>::v + N;
    F<N - 1> inner;
    long sum() const { return v + inner.sum(); }
};
template <> struct F<0> {
    static constexpr long v = 0;
    long sum() const { return 1; }
};
template <class... T> struct Tuple;
template <> struct Tuple<> {
    int size() const { return 0; }
};
template <class H, class... T> struct Tuple<H, T...> {
    H head;
    Tuple<T...> tail;
    int size() const { return 1 + tail.size(); }
};
template <class A, class B> auto both(A a, B b)
{
    return [=](auto f) { return f(a) + f(b); };
}
int main()
{
    F<200> f{};
    Tuple<int, long, char, Tuple<int, long>, Tuple<char, Tuple<int, double>>> t{};
    auto g = both(1, both(2L, 3)([](auto x) { return x * 2; }));
    return (int)f.sum() + t.size() + (int)g([](auto x) { return x + 1; });
}
