# The examples of poolmem.h, built against an installed copy in each of the three ways and compared: make test-examples
.PHONY: test-examples
test-examples: all ## poolmem.h linked, optional and preloaded, against an installed copy
	BUILD=$(B) tests/examples/run.sh
