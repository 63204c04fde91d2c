// SPDX-License-Identifier: Apache-2.0
// Memory counted by kind of object, what becomes of a call when there is none left, and an arena for what lives as long
// as a scenario or a run.
//
// What is allocated belongs to a struct weft_memory: all that one use of the library holds, be it one run or a command
// with several. A call of the library is made inside weft_memory_guard, which names that memory. An allocation then
// never fails for its caller, as none could do better half-way through a simulation: when memory runs out, the
// innermost guard of the thread returns WEFT_ERROR_SYSTEM, "out of memory". Nothing has been freed by then, but what
// was being made is half made: the caller closes the memory, which frees all that is in it, and touches nothing else in
// it. What is not memory (a file, a database, a draft to be removed) is let go by a clean-up.
//
// Two memories know nothing of each other; one is used by one thread at a time and those that work for it (the
// engine's).
#pragma once

#include "weft/error.h"
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

struct weft_memory;
/// NULL: there is not even memory for that.
struct weft_memory *weft_memory_open(void);
/// Runs the clean-ups that are left, last first, and frees all that is left. NULL is nothing to close.
void weft_memory_close(struct weft_memory *memory);
/// Calls `act` and returns what it returns, or WEFT_ERROR_SYSTEM if memory ran out. Guards nest, and may name the same
/// memory; each thread has its own. `memory` may be NULL, as for weft_memory_use.
enum weft_status weft_memory_guard(struct weft_memory *memory,
                                   enum weft_status (*act)(void *context, struct weft_error *ret_error), void *context,
                                   struct weft_error *ret_error);
/// What a function does that a program calls which knows of no memory. The thread has one: just calls `act`, and the
/// guard is elsewhere. Else a guard with *memory, or, if that is NULL, with a new one, which is put there: the caller
/// closes it, with what was made.
enum weft_status weft_memory_enter(struct weft_memory **memory,
                                   enum weft_status (*act)(void *context, struct weft_error *ret_error), void *context,
                                   struct weft_error *ret_error);
/// The thread's memory from now on, without a guard: a program that would rather end when memory runs out (an assert
/// fails then) needs no more. NULL: what is allocated is neither counted nor freed by anybody else. Returns what it
/// was.
struct weft_memory *weft_memory_use(struct weft_memory *memory);
/// Of this thread; NULL: none.
struct weft_memory *weft_memory_current(void);
/// Memory ran out elsewhere, as in another library: to the innermost guard of this thread.
_Noreturn void weft_memory_fail(void);

/// Called when memory runs out, on the way to the guard that is around weft_memory_cleanup_add, or when its memory is
/// closed; last added, first called. It allocates nothing. It may stand on the stack. Workers of the engine add none.
struct weft_memory_cleanup {
    void (*act)(void *object);
    void *object;
    struct weft_memory *owner; ///< NULL: not added
    struct weft_memory_cleanup *before, *after;
    uint64_t serial;
};
void weft_memory_cleanup_add(struct weft_memory_cleanup *cleanup, void (*act)(void *object), void *object);
/// It is not called any more. One that was not added is nothing to remove.
void weft_memory_cleanup_remove(struct weft_memory_cleanup *cleanup);

/// Zeroed memory, counted. Thread-safe, as are the others. What is changed and freed stays with the memory that it came
/// from, whatever the thread's own is by then.
void *weft_memory_new(enum weft_memory_kind kind, size_t count, size_t size);
/// Grows or shrinks; new bytes are not zeroed. `bytes_old` must be what it was.
void *weft_memory_resize(enum weft_memory_kind kind, void *memory, size_t bytes_old, size_t bytes_new);
void weft_memory_free(enum weft_memory_kind kind, void *memory, size_t bytes);
/// Before a declaration: `end`, which takes a pointer to the variable, is called at the end of the block.
#define WEFT_ENDS(end) __attribute__((cleanup(end)))
/// Before the declaration of a pointer: the memory it then points to is freed at the end of the block.
#define WEFT_FREED WEFT_ENDS(weft_memory_end)
void weft_memory_end(void *pointer);
/// Asks for small pages for a large array of which only scattered parts will be written: a page that is never written
/// takes no memory.
void weft_memory_sparse(void *memory, size_t bytes);
/// Bytes held now by this thread's memory, and the most ever held since the last reset, by kind.
weft_bytes weft_memory_bytes(enum weft_memory_kind kind);
weft_bytes weft_memory_bytes_max(enum weft_memory_kind kind);
/// Likewise held now by that one; NULL holds nothing.
weft_bytes weft_memory_held(const struct weft_memory *memory, enum weft_memory_kind kind);
/// What the process may have at most: the machine's memory, or its limit of addresses (RLIMIT_AS).
double weft_memory_most(void);
const char *weft_memory_name(enum weft_memory_kind kind);
void weft_memory_reset_max(void);
/// Reads all of these figures, or sets them: a process that takes over another's state takes over its figures.
struct weft_memory_figure {
    weft_bytes now, max;
};
void weft_memory_figures(struct weft_memory_figure ret_figure[WEFT_MEMORY_KINDS]);
void weft_memory_figures_set(const struct weft_memory_figure figure[WEFT_MEMORY_KINDS]);
/// Whether this thread's memory has clean-ups: a file, for example, is open.
bool weft_memory_has_cleanups(void);

/// Bump allocator. Everything in it is freed at once. Not thread-safe. It belongs to the memory that it was made in,
/// and all that is in it does.
struct weft_arena;
struct weft_arena *weft_arena_new(enum weft_memory_kind kind);
void weft_arena_free(struct weft_arena *arena);
/// An arena that lives until the end of the block: WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
#define WEFT_SCRATCH(arena, kind) WEFT_ENDS(weft_arena_end) struct weft_arena *arena = weft_arena_new(kind)
static inline void weft_arena_end(struct weft_arena **arena) {
    weft_arena_free(*arena);
}
void *weft_arena_alloc(struct weft_arena *arena, size_t count, size_t size); ///< zeroed, 16-byte aligned
/// Room for `n` elements, the first `n_old` those of `list`, which must not be used afterwards: a large one is freed at
/// once.
void *weft_arena_move(struct weft_arena *arena, void *list, size_t n_old, size_t n, size_t size);
char *weft_arena_text(struct weft_arena *arena, const char *text); ///< a copy
char *weft_arena_format(struct weft_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
