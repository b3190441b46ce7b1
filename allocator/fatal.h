/* SPDX-License-Identifier: MIT */
/*
 * fatal.h - floor F0: messages of the core. One hook receives every line the core has to say; without a
 * hook lines go nowhere, except fatal ones, which go to file descriptor 2. Async-signal-safe, no malloc.
 */
#ifndef POOLMEM_FATAL_H
#define POOLMEM_FATAL_H

#include "base.h"

typedef enum message_level { MESSAGE_NOTE, MESSAGE_WARNING, MESSAGE_MISUSE, MESSAGE_FATAL } message_level;

/* Receives one line without a newline. Must not allocate from a pool whose lock may be held. */
typedef void message_hook(message_level level, const char *line, void *arg);

/* Installs the hook (NULL removes it). Not thread-safe: call while one thread runs. */
void message_set_hook(message_hook *hook, void *arg);
/* The hook there is, or NULL; *arg may not be NULL. */
message_hook *message_get_hook(void **arg);

/* Says one line, formatted as fmt.h describes; truncated at 511 bytes. */
void message(message_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says one line and ends the process with abort(). */
COLD _Noreturn void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
