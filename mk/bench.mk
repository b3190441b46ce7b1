# The benchmark suite: bench/work/*.c and *.cpp become one program each; bench/compare runs them.
BENCH_C    := $(filter-out bench/work/work.c,$(wildcard bench/work/*.c))
BENCH_CPP  := $(wildcard bench/work/*.cpp)
BENCH_BIN  := $(patsubst bench/work/%.c,$(B)/bench/%,$(BENCH_C)) $(patsubst bench/work/%.cpp,$(B)/bench/%,$(BENCH_CPP))
# Frame pointers are left out and malloc is no builtin: callers look as they do in games, no pair is optimised away.
BENCH_OPT  := -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -fomit-frame-pointer -fno-builtin-malloc -fno-builtin-free \
              -fno-builtin-calloc -fno-builtin-realloc -Ibench/work -pthread
BENCH_LIBS_script := -llua5.4 -lm
BENCH_INC_script  := -I/usr/include/lua5.4
BENCH_PKGS := libjemalloc2 libmimalloc2.0 libtcmalloc-minimal4 libtbbmalloc2 liblua5.4-dev python3 gnuplot-nox
BENCH_ARGS ?=

$(B)/bench/launch: bench/launch.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -static -o $@ $<

$(B)/bench/work.o: bench/work/work.c bench/work/work.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(BENCH_OPT) -c -o $@ $<

$(B)/bench/%: bench/work/%.c $(B)/bench/work.o bench/work/work.h
	$(CC) -std=gnu11 $(BENCH_OPT) $(BENCH_INC_$*) -rdynamic -o $@ $< $(B)/bench/work.o $(BENCH_LIBS_$*) -ldl

$(B)/bench/%: bench/work/%.cpp $(B)/bench/work.o bench/work/work.h
	$(CXX) -std=c++17 $(BENCH_OPT) -rdynamic -o $@ $< $(B)/bench/work.o -ldl

.PHONY: bench bench-programs
bench-programs: $(B)/bench/launch $(BENCH_BIN)

# A library that bench programs load must exist; the tool itself leaves out what is missing.
BENCH_DEPS := bench-programs $(if $(INTER_SRC),$(B)/libpoolmem.so)
BENCH_OUT  := $(B)/bench/out

.PHONY: bench-peers bench-quick bench-test
bench-peers:
	@missing=$$(dpkg-query -W -f '$${db:Status-Abbrev} $${Package}\n' $(BENCH_PKGS) 2>/dev/null | awk '/^ii/ {print $$2}' \
	  | sort | comm -13 - <(printf '%s\n' $(BENCH_PKGS) | sort)); \
	if [ -n "$$missing" ]; then apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $$missing; fi
bench-peers: SHELL := /bin/bash

# Every workload under every allocator; BENCH_ARGS adds options, e.g. BENCH_ARGS="--rounds 9 -a jemalloc poolmem".
bench: bench-peers $(BENCH_DEPS)
	@mkdir -p $(BENCH_OUT)
	bench/compare --build $(B) --json $(BENCH_OUT)/suite.json --markdown $(BENCH_OUT)/BENCHMARKS.md --plots $(BENCH_OUT)/plots $(BENCH_ARGS)

bench-quick: $(BENCH_DEPS)
	bench/compare --build $(B) --quick $(BENCH_ARGS)

# The tool's own tests: seconds, no timing.
bench-test: bench-programs
	BUILD=$(abspath $(B)) /usr/bin/python3 -B tests/bench/test_suite.py
