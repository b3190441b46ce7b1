# Tests of the command (tests/command/run.sh).
.PHONY: test-command
test-command: all ## the poolmem command: statuses, refusals, a running process
	tests/command/run.sh $(B)/poolmem
