# make check: the rules of the house (scripts/check-house) and the format of every source.
FORMATTED = $(shell find allocator interpose tools include tests bench examples -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp')
.PHONY: check format test
check: all ## the rules of the house and the format of every source
	scripts/check-house $(B)
	@! command -v clang-format >/dev/null || clang-format --dry-run -Werror $(FORMATTED)

format: ## formats every source in place
	clang-format -i $(FORMATTED)

test: ## every step of scripts/test-steps; scripts/test-steps STEP ... runs some
	scripts/test-steps
