# Fuzzing of everything that reads input of others. Needs clang.
#   make fuzz                  all harnesses, a short while each
#   make fuzz-model            scripts of `poolmem model` and files of `poolmem sim`, FUZZ_SECONDS seconds each
FUZZ_SECONDS ?= 20
FUZZ_MODEL   := $(wildcard tools/model*.c) tools/script.c $(ALLOC_SRC)
FUZZ_SIM     := tools/sim_config.c $(FUZZ_SRC)
FUZZ_BUILD    = clang -std=gnu11 -O1 -g $(WARN) -D_GNU_SOURCE -DPOOL_DEBUG=1 -Iallocator -Iinclude \
                -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
FUZZ_RUN      = -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=20 -verbosity=0 -artifact_prefix=$(B)/fuzz/

$(B)/fuzz/script: tests/fuzz/fuzz_script.c tests/fuzz/fuzz.h $(FUZZ_MODEL) $(HDR)
	@mkdir -p $(@D)
	$(FUZZ_BUILD) -o $@ $< $(FUZZ_MODEL)

$(B)/fuzz/sim: tests/fuzz/fuzz_sim.c tests/fuzz/fuzz.h $(FUZZ_SIM) $(HDR)
	@mkdir -p $(@D)
	$(FUZZ_BUILD) -o $@ $< $(FUZZ_SIM) $(CONF_LIBS)

.PHONY: fuzz fuzz-model
fuzz: fuzz-model fuzz-rules fuzz-archive ## all fuzz harnesses, a short while each; needs clang
fuzz-model: $(B)/fuzz/script $(B)/fuzz/sim ## scripts of poolmem model, files of poolmem sim; FUZZ_SECONDS
	@mkdir -p $(B)/fuzz/script.new $(B)/fuzz/sim.new
	$(B)/fuzz/script $(FUZZ_RUN) -dict=tests/fuzz/script.dict $(B)/fuzz/script.new tests/model
	$(B)/fuzz/sim $(FUZZ_RUN) $(B)/fuzz/sim.new tests/sim
