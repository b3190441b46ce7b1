# Rules, symbols and configuration: objects that the unit tests and the command link beside those the Makefile lists.
$(foreach f,plain asan tsan,$(eval $(B)/tests/unit-$(f): $(call obj,$(f),$(addprefix interpose/,complain.c symbol_table.c config.c))))
$(B)/poolmem: $(call obj,pic,$(addprefix interpose/,complain.c onstack.c))
