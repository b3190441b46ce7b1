# make coverage: lines of allocator/ and interpose/ that the unit tests and the promise programs run. The figures of
# gcov are written when a process ends by itself; what only a killed or exec'ed process runs does not count.
COV := $(B)/coverage
.PHONY: coverage
coverage: promise-programs ## lines that unit tests and promise programs run
	@command -v lcov >/dev/null || scripts/deps lcov
	$(MAKE) -s B=$(COV) OPT=-O1 CFLAGS="--coverage -fprofile-update=atomic -Wno-error" LDFLAGS=--coverage $(COV)/libpoolmem.so \
	  $(COV)/tests/unit-plain $(COV)/poolmem
	find $(COV) -name '*.gcda' -delete
	-$(COV)/tests/unit-plain >/dev/null 2>&1
	-for p in $(notdir $(PROMISE_BIN)); do \
	  POOLMEM_EXIT=1 POOLMEM_STATS=/dev/null LD_PRELOAD=$(abspath $(COV))/libpoolmem.so timeout 20 $(PROMISE_OUT)/$$p >/dev/null 2>&1; done
	lcov -q --capture --directory $(COV) --output-file $(COV)/all.info --ignore-errors gcov,source 2>/dev/null
	lcov -q --extract $(COV)/all.info '*/allocator/*.c' '*/interpose/*.c' --output-file $(COV)/ours.info
	lcov --list $(COV)/ours.info | sed 's/|\([^|]*\)|[^|]*|[^|]*$$/|\1|/'
