# Promise programs (tests/preload/*.c, *.cpp), the small libraries they load (tests/preload/lib) and their runner.
#   make test-preload          every case under build/libpoolmem.so
#   make test-preload-glibc    the cases that state the C library's own semantics, without the library
#   PROMISE_ONLY=WORD          only the cases whose name contains WORD
#   PROMISE_ENV='NAME=VALUE'   added to the environment of every case
PROMISE_OUT  := $(B)/tests/preload
PROMISE_BIN  := $(patsubst tests/preload/%.c,$(PROMISE_OUT)/%,$(wildcard tests/preload/*.c)) \
                $(patsubst tests/preload/%.cpp,$(PROMISE_OUT)/%,$(wildcard tests/preload/*.cpp))
PROMISE_LIB  := $(patsubst tests/preload/lib/%.c,$(PROMISE_OUT)/%.so,$(wildcard tests/preload/lib/*.c tests/preload/lib/deep/*.c))
PROMISE_HDR  := $(wildcard tests/preload/*.h)
# -fno-builtin: the compiler must not drop or fold the very calls under test
PROMISE_FLAGS = -O1 -g $(WARN) -Wno-unknown-warning-option -Wno-use-after-free -fno-builtin -D_GNU_SOURCE -Iinclude -pthread
PROMISE_LINK_count_preload = -fexceptions
PROMISE_LINK_deep_caller   = -Wl,-rpath,'$$ORIGIN/deep' -Wl,--enable-new-dtags
RUNNER_SRC   := $(wildcard tests/preload/runner/*.c)

$(PROMISE_OUT)/%: tests/preload/%.c $(PROMISE_HDR)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(PROMISE_FLAGS) -o $@ $< -rdynamic $(PROMISE_LINK_$*) -ldl -lm

$(PROMISE_OUT)/%: tests/preload/%.cpp $(PROMISE_HDR)
	@mkdir -p $(@D)
	$(CXX) -std=gnu++17 -fsized-deallocation -Wno-missing-field-initializers $(PROMISE_FLAGS) -o $@ $< -rdynamic $(PROMISE_LINK_$*) -ldl

$(PROMISE_OUT)/%.so: tests/preload/lib/%.c $(PROMISE_HDR)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(PROMISE_FLAGS) -fPIC -shared -o $@ $< $(PROMISE_LINK_$*) -ldl

$(B)/tests/preload-runner: $(RUNNER_SRC) $(wildcard tests/preload/runner/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -g $(WARN) -D_GNU_SOURCE -o $@ $(RUNNER_SRC) -lcriterion

.PHONY: promise-programs test-preload test-preload-glibc
promise-programs: $(PROMISE_BIN) $(PROMISE_LIB) $(B)/tests/preload-runner ## builds what test-preload runs

test-preload: promise-programs all ## one small program a promise; PROMISE_ONLY=WORD runs some
	PROMISE_SOURCES=$(abspath tests/preload) PROMISE_LIBRARY=$(abspath $(B)/libpoolmem.so) \
	  $(B)/tests/preload-runner -j1

test-preload-glibc: promise-programs ## those of C library semantics, without the library
	PROMISE_SOURCES=$(abspath tests/preload) PROMISE_LIBRARY= $(B)/tests/preload-runner -j1

# real programs without and with the library; installs their packages
.PHONY: test-hosts
test-hosts: all ## real programs without and with the library; installs them
	scripts/test-hosts --install
