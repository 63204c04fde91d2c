// SPDX-License-Identifier: Apache-2.0
#include "weft/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char *const names[WEFT_MEMORY_KINDS] = {
    [WEFT_MEMORY_SCENARIO] = "scenario", [WEFT_MEMORY_TOPOLOGY] = "topology", [WEFT_MEMORY_ROUTES] = "routes",
    [WEFT_MEMORY_SWITCH] = "switches",   [WEFT_MEMORY_HOST] = "hosts",        [WEFT_MEMORY_QP] = "queue_pairs",
    [WEFT_MEMORY_QUEUE] = "queues",      [WEFT_MEMORY_FLIGHT] = "in_flight",  [WEFT_MEMORY_TIMER] = "timers",
    [WEFT_MEMORY_SERIES] = "series",     [WEFT_MEMORY_RESULT] = "results",
};

/// The one global of the library: what the process holds. Relaxed: figures for people, nothing depends on them.
static struct { _Atomic uint64_t now, max; } held[WEFT_MEMORY_KINDS];

static void count(enum weft_memory_kind kind, size_t bytes_old, size_t bytes_new) {
    uint64_t now =
        atomic_fetch_add_explicit(&held[kind].now, bytes_new - bytes_old, memory_order_relaxed) + bytes_new - bytes_old;
    uint64_t max = atomic_load_explicit(&held[kind].max, memory_order_relaxed);
    while (now > max && !atomic_compare_exchange_weak_explicit(&held[kind].max, &max, now, memory_order_relaxed,
                                                               memory_order_relaxed))
        ;
}

static void *or_die(void *memory, size_t bytes) {
    if (memory || !bytes) return memory;
    fprintf(stderr, "weft: out of memory (%zu bytes wanted)\n", bytes);
    _Exit(1);
}

/// Large objects are mapped on their own, on large pages where the system has them: a simulation touches its state at
/// random, and would otherwise spend its time on TLB misses.
enum { LARGE_PAGE = 2 << 20, LARGE_FROM = 1 << 20 };

static void *map_large(size_t bytes) {
    size_t span = bytes + LARGE_PAGE; // room to begin on a large page
    char *memory = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    size_t before = -(uintptr_t)memory & (LARGE_PAGE - 1);
    size_t kept = (bytes + 4095) & ~(size_t)4095;
    if (before) munmap(memory, before);
    if (before + kept < span) munmap(memory + before + kept, span - before - kept);
    madvise(memory + before, kept, MADV_HUGEPAGE); // advice: it may fail
    return memory + before;
}

void *weft_memory_new(enum weft_memory_kind kind, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) or_die(NULL, SIZE_MAX);
    count(kind, 0, bytes);
    return or_die(bytes >= LARGE_FROM ? map_large(bytes) : calloc(n ? n : 1, size ? size : 1), bytes);
}

static void release(void *memory, size_t bytes) {
    if (bytes >= LARGE_FROM)
        munmap(memory, bytes);
    else
        free(memory);
}

void *weft_memory_resize(enum weft_memory_kind kind, void *memory, size_t bytes_old, size_t bytes_new) {
    count(kind, bytes_old, bytes_new);
    if (bytes_old < LARGE_FROM && bytes_new < LARGE_FROM)
        return or_die(realloc(memory, bytes_new ? bytes_new : 1), bytes_new);
    void *moved = or_die(bytes_new >= LARGE_FROM ? map_large(bytes_new) : malloc(bytes_new ? bytes_new : 1), bytes_new);
    if (memory) {
        memcpy(moved, memory, bytes_old < bytes_new ? bytes_old : bytes_new);
        release(memory, bytes_old);
    }
    return moved;
}

void weft_memory_free(enum weft_memory_kind kind, void *memory, size_t bytes) {
    if (!memory) return;
    count(kind, bytes, 0);
    release(memory, bytes);
}

weft_bytes weft_memory_bytes(enum weft_memory_kind kind) {
    return held[kind].now;
}
weft_bytes weft_memory_bytes_max(enum weft_memory_kind kind) {
    return held[kind].max;
}
const char *weft_memory_name(enum weft_memory_kind kind) {
    return names[kind];
}

void weft_memory_reset_max(void) {
    for (unsigned k = 0; k < WEFT_MEMORY_KINDS; k++)
        held[k].max = held[k].now;
}

struct block {
    struct block *next;
    size_t bytes, used; // of `data`
    _Alignas(16) unsigned char data[];
};

struct weft_arena {
    enum weft_memory_kind kind;
    size_t bytes; ///< in all blocks
    struct block *block;
};

enum { BLOCK_BYTES_MIN = 64 << 10, BLOCK_BYTES_MAX = 16 << 20 };

struct weft_arena *weft_arena_new(enum weft_memory_kind kind) {
    struct weft_arena *arena = weft_memory_new(kind, 1, sizeof *arena);
    arena->kind = kind;
    return arena;
}

void weft_arena_free(struct weft_arena *arena) {
    if (!arena) return;
    for (struct block *b = arena->block, *next; b; b = next) {
        next = b->next;
        weft_memory_free(arena->kind, b, sizeof *b + b->bytes);
    }
    weft_memory_free(arena->kind, arena, sizeof *arena);
}

void *weft_arena_alloc(struct weft_arena *arena, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2) or_die(NULL, SIZE_MAX);
    bytes = (bytes + 15) & ~(size_t)15;
    struct block *b = arena->block;
    if (!b || b->bytes - b->used < bytes) {
        size_t block = arena->bytes < BLOCK_BYTES_MIN   ? BLOCK_BYTES_MIN
                       : arena->bytes > BLOCK_BYTES_MAX ? BLOCK_BYTES_MAX
                                                        : arena->bytes;
        size_t room = bytes > block / 4 ? bytes : block; // large objects get a block of their own
        arena->bytes += room;
        b = weft_memory_new(arena->kind, 1, sizeof *b + room);
        b->bytes = room;
        if (room == bytes && arena->block) { // keep filling the current block
            b->next = arena->block->next;
            arena->block->next = b;
        } else {
            b->next = arena->block;
            arena->block = b;
        }
    }
    void *memory = b->data + b->used;
    b->used += bytes;
    return memory;
}

char *weft_arena_text(struct weft_arena *arena, const char *text) {
    size_t n = strlen(text) + 1;
    return memcpy(weft_arena_alloc(arena, n, 1), text, n);
}

char *weft_arena_format(struct weft_arena *arena, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(n >= 0);
    char *text = weft_arena_alloc(arena, (size_t)n + 1, 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}
