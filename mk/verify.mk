# make verify-tags: programs run with every VERIFY-th tag compared with a full walk by libunwind; one difference
# fails.
VERIFY ?= 50
.PHONY: verify-tags
verify-tags: all ## programs with every VERIFY-th caller compared with a full unwind
	tests/caller/verify.sh $(abspath $(B)) $(VERIFY)
