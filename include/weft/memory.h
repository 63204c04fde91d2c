// SPDX-License-Identifier: Apache-2.0
// Memory counted by kind of object, and an arena for what lives as long as a scenario or a run.
// Allocation never fails for the caller: out of memory prints one line and ends the process with status 1, because no
// caller could do better half-way through a simulation.
#ifndef WEFT_MEMORY_H
#define WEFT_MEMORY_H

#include "weft/types.h"

enum weft_memory_kind {
    WEFT_MEMORY_SCENARIO,
    WEFT_MEMORY_TOPOLOGY,
    WEFT_MEMORY_ROUTES,
    WEFT_MEMORY_SWITCH,
    WEFT_MEMORY_HOST,
    WEFT_MEMORY_QP,
    WEFT_MEMORY_QUEUE,  ///< packets waiting in queues
    WEFT_MEMORY_FLIGHT, ///< packets on links
    WEFT_MEMORY_TIMER,
    WEFT_MEMORY_SERIES, ///< sampled time series
    WEFT_MEMORY_RESULT,
    WEFT_MEMORY_KINDS
};

/// Zeroed memory, counted. Thread-safe.
void *weft_memory_new(enum weft_memory_kind kind, size_t count, size_t size);
/// Grows or shrinks; new bytes are not zeroed. `bytes_old` must be what it was.
void *weft_memory_resize(enum weft_memory_kind kind, void *memory, size_t bytes_old, size_t bytes_new);
void weft_memory_free(enum weft_memory_kind kind, void *memory, size_t bytes);
/// Bytes held now, and the most ever held since the last reset, by kind.
weft_bytes weft_memory_bytes(enum weft_memory_kind kind);
weft_bytes weft_memory_bytes_max(enum weft_memory_kind kind);
const char *weft_memory_name(enum weft_memory_kind kind);
void weft_memory_reset_max(void);

/// Bump allocator. Everything in it is freed at once. Not thread-safe.
struct weft_arena;
struct weft_arena *weft_arena_new(enum weft_memory_kind kind);
void weft_arena_free(struct weft_arena *arena);
void *weft_arena_alloc(struct weft_arena *arena, size_t count, size_t size); ///< zeroed, 16-byte aligned
char *weft_arena_text(struct weft_arena *arena, const char *text);           ///< a copy
char *weft_arena_format(struct weft_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
