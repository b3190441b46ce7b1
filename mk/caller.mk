# Tests of the caller (tests/caller): the real unwinder and memo over stand-ins for the rest of the library,
# compared with libunwind. make test-caller
CALLER_OUT := $(B)/tests/caller
CALLER_OBJ := $(patsubst interpose/%.c,$(B)/pic/interpose/%.o,$(addprefix interpose/,cfi.c pcrule.c unwind.c chain.c memo.c memo_learn.c \
              caller.c callsites.c dl.c verify.c onstack.c raw.c))
CALLER_HDR := $(wildcard tests/caller/*.h) $(HDR)
CALLER_CC   = $(CC) $(CFLAGS_ALL) -iquote interpose -iquote tests/caller -ftls-model=initial-exec
CALLER_HELP := stubs entry_lean entry_framed entry_unoptimised lean framed
CALLER_BIN := $(patsubst tests/caller/%.c,$(CALLER_OUT)/%,$(filter-out %/stubs.c %/entries.c %/frames.c %/plugin.c, \
              $(wildcard tests/caller/*.c)))

$(CALLER_OUT)/%.o: tests/caller/%.c $(CALLER_HDR)
	@mkdir -p $(@D)
	$(CALLER_CC) -fPIC -c $< -o $@
$(CALLER_OUT)/entry_lean.o: tests/caller/entries.c $(CALLER_HDR)
	@mkdir -p $(@D)
	$(CALLER_CC) -fPIC -fomit-frame-pointer -DCALLER_ENTRIES -DNAME=entry_lean -c $< -o $@
$(CALLER_OUT)/entry_framed.o: tests/caller/entries.c $(CALLER_HDR)
	@mkdir -p $(@D)
	$(CALLER_CC) -fPIC -DNAME=entry_framed -c $< -o $@
$(CALLER_OUT)/entry_unoptimised.o: tests/caller/entries.c $(CALLER_HDR)
	@mkdir -p $(@D)
	$(CALLER_CC) -fPIC -O0 -DNAME=entry_unoptimised -c $< -o $@
$(CALLER_OUT)/lean.o: tests/caller/frames.c $(CALLER_HDR)
	@mkdir -p $(@D)
	$(CALLER_CC) -fomit-frame-pointer -DFLAVOUR=lean -c $< -o $@
$(CALLER_OUT)/framed.o: tests/caller/frames.c $(CALLER_HDR)
	@mkdir -p $(@D)
	$(CALLER_CC) -fno-omit-frame-pointer -DFLAVOUR=framed -c $< -o $@

CALLER_PLUGINS := $(CALLER_OUT)/plugin_a.so $(CALLER_OUT)/plugin_b.so
$(CALLER_OUT)/plugin_a.so: CALLER_PLUGIN := -DNAME=plugin_pool3 -DFRAME=40
$(CALLER_OUT)/plugin_b.so: CALLER_PLUGIN := -DNAME=plugin_pool5 -DFRAME=72
$(CALLER_PLUGINS): tests/caller/plugin.c
	@mkdir -p $(@D)
	$(CALLER_CC) -fPIC -shared $(CALLER_PLUGIN) -o $@ $<

$(CALLER_OUT)/%: $(CALLER_OUT)/%.o $(addprefix $(CALLER_OUT)/,$(addsuffix .o,$(CALLER_HELP))) $(CALLER_OBJ) $(B)/libpool.a
	$(CC) -rdynamic -o $@ $^ -lunwind -lpthread -ldl

.PRECIOUS: $(CALLER_OUT)/%.o
.PHONY: test-caller
test-caller: $(CALLER_BIN) $(CALLER_PLUGINS) ## random stacks compared with libunwind
	@set -e; for t in $(CALLER_BIN); do echo "== $${t##*/}"; timeout 300 $$t; done
