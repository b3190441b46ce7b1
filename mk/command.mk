# Tests of the command (tests/command/run.sh).
.PHONY: test-command
test-command: all
	tests/command/run.sh $(B)/poolmem
