# Fuzzing of everything that reads input of others. Needs clang.
#   make fuzz                  all harnesses, a short while each
#   make fuzz-model            scenario scripts, FUZZ_SECONDS seconds
FUZZ_SECONDS ?= 20
FUZZ_MODEL   := $(wildcard tools/model*.c) tools/script.c $(ALLOC_SRC)

$(B)/fuzz/script: tests/fuzz/fuzz_script.c tests/fuzz/fuzz.h $(FUZZ_MODEL) $(HDR)
	@mkdir -p $(@D)
	clang -std=gnu11 -O1 -g $(WARN) -D_GNU_SOURCE -DPOOL_DEBUG=1 -Iallocator -Iinclude \
	  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -o $@ $< $(FUZZ_MODEL)

.PHONY: fuzz fuzz-model
fuzz: fuzz-model fuzz-rules fuzz-archive
fuzz-model: $(B)/fuzz/script
	@mkdir -p $(B)/fuzz/script.new
	$(B)/fuzz/script -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=20 -verbosity=0 -artifact_prefix=$(B)/fuzz/ \
	  -dict=tests/fuzz/script.dict $(B)/fuzz/script.new tests/model
