# poolmem: see README.md. `make help` lists the targets: what stands behind ## at each.
VERSION := 0.1.0
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man
B ?= build
CC ?= gcc
CXX ?= g++

WARN := -Wall -Wextra -Werror -Wno-unused-parameter
OPT ?= -O2
CFLAGS_ALL = -std=gnu11 $(OPT) -g $(WARN) -fvisibility=hidden -fno-math-errno -D_GNU_SOURCE -DPOOLMEM_VERSION='"$(VERSION)"' \
             -DPOOLMEM_LIBDIR='"$(LIBDIR)"' -Iallocator -Iinclude $(CFLAGS)

ALLOC_SRC := $(wildcard allocator/*.c)
# in libpool.a, but never in the preload: who names archive_zip links zlib
ZIP_SRC   := $(wildcard allocator/zip/*.c)
INTER_SRC := $(wildcard interpose/*.c)
TOOL_SRC  := $(wildcard tools/*.c)
UNIT_SRC  := $(wildcard tests/unit/*.c)
HDR       := $(wildcard allocator/*.h interpose/*.h tools/*.h include/*.h)

# one object tree a flavour: pic for the libraries, asan/tsan for the unit tests
obj = $(patsubst %.c,$(B)/$(1)/%.o,$(2))

.PHONY: all clean
TARGETS := $(B)/libpool.a
ifneq ($(wildcard interpose/libpoolmem.map),)
TARGETS += $(B)/libpoolmem.so
endif
ifneq ($(TOOL_SRC),)
TARGETS += $(B)/poolmem
endif
all: $(TARGETS) ## the libraries and the command, into build/

PIC := -fPIC -ftls-model=initial-exec -fomit-frame-pointer -fno-plt
# Hosts call with stacks that are not aligned as vector moves need them; and no host's vector registers are touched.
ifeq ($(shell uname -m),x86_64)
$(B)/pic/allocator/%.o $(B)/pic/interpose/%.o: PIC += -mgeneral-regs-only
endif
# The entries and where they branch to stand where the processor fetches whole lines; elsewhere a pair costs up to 9 %
# more, by chance of what stands before it. clang has no such option.
JUMPS := $(shell $(CC) -Werror -falign-jumps=32 -xc -S -o /dev/null /dev/null 2>/dev/null && echo -falign-jumps=32)
$(B)/pic/interpose/malloc.o $(B)/pic/interpose/cxx.o: PIC += -falign-functions=64 $(JUMPS)
# What few processes ever run stands together behind the rest, for the system brings in text by 64 KB: a process's pages
# of it are the smaller.
SELDOM := $(filter-out %/classes.c %/fatal.c %/fmt.c %/heap.c %/heap_pool.c %/heap_run.c %/heap_stash.c %/heap_stats.c \
            %/heap_thread.c %/lock.c %/meta.c %/os_linux.c %/page_map.c %/pool.c %/world.c %/zone.c,$(ALLOC_SRC)) \
          $(wildcard interpose/report_*.c interpose/rule_parse.c interpose/api*.c interpose/track.c) \
          $(addprefix interpose/,config_file.c textfile.c malloc_info.c output.c sink.c children.c complain.c exit.c)
SELDOM_OBJ := $(call obj,pic,$(SELDOM))
APART := $(shell $(CC) -Werror -fno-reorder-functions -xc -S -o /dev/null /dev/null 2>/dev/null && \
           echo -fno-reorder-functions -fno-reorder-blocks-and-partition)
$(SELDOM_OBJ): PIC += $(APART)
$(B)/pic/%.o: %.c $(HDR)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(PIC) -c $< -o $@

$(B)/libpool.a: $(call obj,pic,$(ALLOC_SRC) $(ZIP_SRC))
	rm -f $@
	$(AR) rcs $@ $^

# inih and the demangler are linked in: nothing but libunwind is dragged into the host
CONF_LIBS := -l:libinih.a -l:libiberty.a
INTER_LIBS := $(CONF_LIBS) -Wl,--exclude-libs,ALL -ldl
$(B)/libpoolmem.so: $(call obj,pic,$(ALLOC_SRC) $(INTER_SRC)) interpose/libpoolmem.map
	$(CC) -shared -o $@ -Wl,-soname,libpoolmem.so.1 -Wl,--version-script=interpose/libpoolmem.map \
	  -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,--sort-section=name -Wl,--no-undefined $(filter-out $(SELDOM_OBJ),$(filter %.o,$^)) $(SELDOM_OBJ) $(INTER_LIBS) $(LDFLAGS)
	ln -sf libpoolmem.so $(B)/libpoolmem.so.1

# what the command shares with the library: formatters, the configuration reader
CONF_SRC := $(wildcard interpose/config_file.c interpose/rule*.c interpose/builtin_rules.c interpose/symbol_map.c \
            interpose/demangle.c interpose/glob.c interpose/keep.c interpose/textfile.c interpose/entry.c \
            interpose/complain.c)
TOOL_EXTRA := $(wildcard interpose/report*.c interpose/sink.c interpose/raw.c interpose/onstack.c) $(CONF_SRC)
$(B)/poolmem: $(call obj,pic,$(TOOL_SRC) $(ALLOC_SRC) $(TOOL_EXTRA)) $(HDR)
	$(CC) -o $@ $(filter %.o,$^) $(TOOL_LIBS) $(CONF_LIBS) $(LDFLAGS)

# --- unit tests (Criterion), three flavours -------------------------------------------------------
UNIT_FLAGS_asan := -fsanitize=address,undefined -fno-sanitize-recover=undefined
UNIT_FLAGS_tsan := -fsanitize=thread -Itests/tsan
# objects of interpose/ that unit tests link
UNIT_EXTRA := $(wildcard interpose/onstack.c interpose/sink.c interpose/report*.c interpose/raw.c interpose/output.c interpose/children.c) \
              $(if $(wildcard interpose/symbols.c),interpose/publish.c interpose/publish_rows.c interpose/row_index.c interpose/track.c) \
              $(wildcard interpose/symbols.c interpose/symbol_table.c interpose/elf.c interpose/config.c) $(CONF_SRC)
define flavour
$(B)/$(1)/%.o: %.c $(HDR)
	@mkdir -p $$(@D)
	$(CC) $(CFLAGS_ALL) -O1 -fno-omit-frame-pointer -DPOOL_DEBUG=1 $(UNIT_FLAGS_$(1)) -c $$< -o $$@
endef
$(foreach f,plain asan tsan,$(eval $(call flavour,$(f))))
define unit_program
$(B)/tests/unit-$(1): $(call obj,$(1),$(ALLOC_SRC) $(ZIP_SRC) $(UNIT_EXTRA) $(UNIT_SRC))
	@mkdir -p $$(@D)
	$(CC) $(UNIT_FLAGS_$(1)) -o $$@ $$^ -lcriterion -lpthread -lz $(if $(wildcard /usr/include/lua5.4/lua.h),-llua5.4) $(CONF_LIBS) $(LDFLAGS)
endef
$(foreach f,plain asan,$(eval $(call unit_program,$(f))))

# The tests that use threads of the allocator's, under ThreadSanitizer (tests/tsan says why without Criterion).
TSAN_TESTS := $(shell grep -l pthread_create $$(grep -L interpose/ $(UNIT_SRC)))
$(B)/tests/unit-tsan: $(call obj,tsan,$(ALLOC_SRC) $(TSAN_TESTS) tests/tsan/main.c)
	@mkdir -p $(@D)
	$(CC) $(UNIT_FLAGS_tsan) -o $@ $^ -lpthread -lz

-include mk/*.mk

clean: ## removes build/
	rm -rf $(B)

.PHONY: help
help: ## this list
	@awk '/\\$$/ { sub(/\\$$/, ""); rest = rest $$0; next } { $$0 = rest $$0; rest = "" } \
	  /^[a-z][a-z-]*:.*## / { name = text = $$0; sub(/:.*/, "", name); sub(/.*## /, "", text); \
	  printf "%-19s %s\n", name, text }' $(MAKEFILE_LIST)
