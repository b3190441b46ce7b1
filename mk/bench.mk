# SPDX-License-Identifier: MIT
# The benchmark suite: bench/work/*.c and *.cpp become one program each; bench/compare runs them.
BENCH_COMMON := bench/work/work.c bench/work/stacks.c
BENCH_C    := $(filter-out $(BENCH_COMMON),$(wildcard bench/work/*.c))
BENCH_CPP  := $(wildcard bench/work/*.cpp)
BENCH_BIN  := $(patsubst bench/work/%.c,$(B)/bench/%,$(BENCH_C)) $(patsubst bench/work/%.cpp,$(B)/bench/%,$(BENCH_CPP))
# Frame pointers are left out and malloc is no builtin: callers look as they do in games, no pair is optimised away.
BENCH_OPT  := -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -fomit-frame-pointer -fno-builtin-malloc -fno-builtin-free \
              -fno-builtin-calloc -fno-builtin-realloc -Ibench/work -pthread
BENCH_LIBS_script := -llua5.4 -lm
BENCH_INC_script  := -I/usr/include/lua5.4
BENCH_ARGS ?=

$(B)/bench/launch: bench/launch.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -static -o $@ $<

BENCH_LIB := $(B)/bench/libwork.a
BENCH_HDR := $(wildcard bench/work/*.h)
$(BENCH_LIB): $(patsubst bench/work/%.c,$(B)/bench/obj/%.o,$(BENCH_COMMON))
	rm -f $@
	$(AR) rcs $@ $^

$(B)/bench/obj/%.o: bench/work/%.c $(BENCH_HDR)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(BENCH_OPT) -fno-optimize-sibling-calls -c -o $@ $<

# Copies of one object: the loader takes each for a module of its own.
$(B)/bench/modules/done: bench/module.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Werror -fPIC -shared -fomit-frame-pointer -o $(@D)/module_00.so $<
	for n in $$(seq -w 1 63); do cp $(@D)/module_00.so $(@D)/module_$$n.so; done
	touch $@

$(B)/bench/%: bench/work/%.c $(BENCH_LIB) $(BENCH_HDR)
	$(CC) -std=gnu11 $(BENCH_OPT) $(BENCH_INC_$*) -rdynamic -o $@ $< $(BENCH_LIB) $(BENCH_LIBS_$*) -ldl

$(B)/bench/%: bench/work/%.cpp $(BENCH_LIB) $(BENCH_HDR)
	$(CXX) -std=c++17 $(BENCH_OPT) -rdynamic -o $@ $< $(BENCH_LIB) -ldl

.PHONY: bench bench-programs
bench-programs: $(B)/bench/launch $(BENCH_BIN) $(B)/bench/modules/done ## builds the workloads

# A library that bench programs load must exist; the tool itself leaves out what is missing.
BENCH_DEPS := bench-programs $(if $(INTER_SRC),$(B)/libpoolmem.so) $(if $(wildcard mk/game.mk),game)
BENCH_OUT  := $(B)/bench/out
# Where tables and plots go; BENCH_MD=BENCHMARKS.md BENCH_PLOTS=docs/bench publishes them.
BENCH_MD    ?= $(BENCH_OUT)/BENCHMARKS.md
BENCH_PLOTS ?= $(BENCH_OUT)/plots
BENCH_TO     = --build $(B) --markdown $(BENCH_MD) --plots $(BENCH_PLOTS)

.PHONY: bench-peers bench-quick bench-tags bench-scale bench-profilers bench-test
bench-peers: ## gets the allocators that are compared with
	bench/peers

# Every workload under every allocator; BENCH_ARGS adds options, e.g. BENCH_ARGS="--rounds 9 -a jemalloc poolmem".
bench: bench-peers $(BENCH_DEPS) ## the whole benchmark suite beside other allocators; BENCH_ARGS
	@mkdir -p $(BENCH_OUT)
	bench/compare $(BENCH_TO) --json $(BENCH_OUT)/suite.json $(BENCH_ARGS)

bench-quick: $(BENCH_DEPS) ## a verdict on time and memory in two minutes
	bench/compare --build $(B) --quick $(BENCH_ARGS)

# What knowing the caller costs: in the small by depth and level, then in real programs against POOLMEM_DEPTH=0.
bench-tags: $(BENCH_DEPS) ## what finding the caller costs, by depth
	@mkdir -p $(BENCH_OUT)
	bench/tags $(BENCH_TO) --json $(BENCH_OUT)/tags.json $(BENCH_ARGS)
	bench/compare --build $(B) -w program single script -a flat=poolmem,POOLMEM_DEPTH=0 poolmem --base flat --hits \
	  --json $(BENCH_OUT)/tags-programs.json --markdown $(BENCH_MD) --section tags-programs $(BENCH_ARGS)

bench-scale: $(BENCH_DEPS) ## threads, pools, live blocks, stacks, modules
	@mkdir -p $(BENCH_OUT)
	bench/scale $(BENCH_TO) --json $(BENCH_OUT)/scale.json $(BENCH_ARGS)

# Beside heaptrack and massif: minutes, massif is slow.
bench-profilers: $(BENCH_DEPS) ## beside heaptrack and massif; slow
	@mkdir -p $(BENCH_OUT)
	bench/profilers --build $(B) --json $(BENCH_OUT)/profilers.json --markdown $(BENCH_MD) $(BENCH_ARGS)

# The tool's own tests: seconds, no timing.
bench-test: bench-programs ## the benchmark tool's own tests
	BUILD=$(abspath $(B)) /usr/bin/python3 -B tests/bench/test_suite.py
