# Fuzzing of what reads input of others: configuration, rules, symbol maps, ELF objects, mangled names. Needs clang.
#   make fuzz-rules               all five, FUZZ_RUNS inputs each
#   make fuzz-rules FUZZ_RUNS=-1  until stopped
FUZZ_RUNS   ?= 20000
FUZZ_RULES  := config rule map elf demangle
FUZZ_FLAGS  := -std=gnu11 -O1 -g $(WARN) -D_GNU_SOURCE -DPOOL_DEBUG=1 -Iallocator -Iinclude \
               -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_SRC    := $(addprefix allocator/,fatal.c fmt.c os_linux.c lock.c pool.c) \
               $(addprefix interpose/,complain.c config_file.c rule_parse.c rules.c builtin_rules.c symbol_map.c glob.c \
               keep.c textfile.c entry.c raw.c elf.c symbol_table.c demangle.c onstack.c)

FUZZ_OBJ    := $(patsubst %.c,$(B)/fuzz/obj/%.o,$(FUZZ_SRC))
$(B)/fuzz/obj/%.o: %.c $(HDR)
	@mkdir -p $(@D)
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c $< -o $@

# Listed, since other harnesses link other objects.
$(addprefix $(B)/fuzz/,$(FUZZ_RULES)): $(B)/fuzz/%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz.h $(FUZZ_OBJ)
	@mkdir -p $(@D)
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $< $(FUZZ_OBJ) $(CONF_LIBS)

# The seed of the ELF harness: a small library with a dynamic and a full symbol table.
$(B)/fuzz/elf.new/seed.so:
	@mkdir -p $(@D)
	@echo 'void g(void){} static void f(void){g();} void h(void){f();}' | $(CC) -shared -nostdlib -x c \
	  -Wl,-z,noseparate-code,-z,max-page-size=64,-z,norelro -o $@ - && strip -K f -K g -K h -R .comment $@

.PHONY: fuzz-rules
fuzz-rules: $(addprefix $(B)/fuzz/,$(FUZZ_RULES)) $(B)/fuzz/elf.new/seed.so ## configuration, rules, maps, ELF, names; FUZZ_RUNS
	@for f in $(FUZZ_RULES); do \
	  mkdir -p $(B)/fuzz/$$f.new; echo "fuzz $$f"; \
	  $(B)/fuzz/$$f -runs=$(FUZZ_RUNS) -max_len=4096 -timeout=10 -verbosity=0 -artifact_prefix=$(B)/fuzz/ -print_final_stats=0 \
	    $(B)/fuzz/$$f.new $$(ls -d tests/fuzz/seeds/$$f 2>/dev/null) || exit 1; done
