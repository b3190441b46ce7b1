# Fuzzing of the archive readers with libFuzzer: make fuzz-archive [FUZZ_SECONDS=20]
FUZZ_SECONDS ?= 20
FUZZ_CC ?= clang
FUZZ_ARCHIVE_SRC := tests/fuzz/fuzz_archive.c $(ALLOC_SRC) $(ZIP_SRC)
FUZZ_CORPUS := $(B)/fuzz/archive-corpus

$(B)/fuzz/archive: $(FUZZ_ARCHIVE_SRC) $(HDR)
	@mkdir -p $(@D)
	$(FUZZ_CC) -std=gnu11 -O1 -g $(WARN) -D_GNU_SOURCE -DPOOL_DEBUG=1 -Iallocator -Iinclude \
	  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -o $@ $(FUZZ_ARCHIVE_SRC) -lz

.PHONY: fuzz-archive
fuzz-archive: $(B)/fuzz/archive ## readers of archives; FUZZ_SECONDS
	@mkdir -p $(FUZZ_CORPUS)
	$< -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -dict=tests/fuzz/archive.dict -artifact_prefix=$(B)/fuzz/ \
	  -print_final_stats=1 $(FUZZ_CORPUS) tests/fuzz/corpus-archive
