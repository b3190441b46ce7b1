TOOL_LIBS += -lm # poolmem sim: sizes are log-normal
