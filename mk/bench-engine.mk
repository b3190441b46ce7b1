# An arena's allocation beside a bare pointer bump: make bench-arena
$(B)/bench/arena_bump: bench/engine/arena_bump.c $(B)/libpool.a $(HDR)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -o $@ $< $(B)/libpool.a

.PHONY: bench-arena
bench-arena: $(B)/bench/arena_bump ## an arena beside a bare pointer bump
	$<
