# What the retail system costs (bench/retail_bench.c says what is measured).
$(B)/bench/retail_bench: bench/retail_bench.c $(B)/libpool.a $(HDR)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g $(WARN) -D_GNU_SOURCE -Iallocator -o $@ $< $(B)/libpool.a

.PHONY: bench-retail
bench-retail: $(B)/bench/retail_bench ## what the retail system costs
	$(B)/bench/retail_bench
