// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // mremap
#include "weft/memory.h"

#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/image.h"

static const char *const names[WEFT_MEMORY_KINDS] = {
    [WEFT_MEMORY_SCENARIO] = "scenario", [WEFT_MEMORY_TOPOLOGY] = "topology", [WEFT_MEMORY_ROUTES] = "routes",
    [WEFT_MEMORY_SWITCH] = "switches",   [WEFT_MEMORY_HOST] = "hosts",        [WEFT_MEMORY_QP] = "queue_pairs",
    [WEFT_MEMORY_QUEUE] = "queues",      [WEFT_MEMORY_FLIGHT] = "in_flight",  [WEFT_MEMORY_TIMER] = "timers",
    [WEFT_MEMORY_SERIES] = "series",     [WEFT_MEMORY_RESULT] = "results",
};

enum { BYTES_BITS = 56 };
/// Precedes each allocation and links it to the others.
struct head {
    struct head *before, *after;
    struct weft_memory *owner; ///< NULL: none
    size_t bytes : BYTES_BITS;
    size_t kind : 64 - BYTES_BITS;
};
_Static_assert(sizeof(struct head) % 16 == 0, "what is handed out is aligned like malloc's");

struct weft_memory {
    pthread_mutex_t lock; ///< protects heads and figures, because the engine's workers share a memory
    struct head *first;
    struct weft_memory_figure held[WEFT_MEMORY_KINDS];
    struct weft_memory_cleanup *cleanup; ///< added last
    uint64_t cleanups;                   ///< ever added
};

/// Where to return when memory runs out.
struct guard {
    struct guard *around;
    struct weft_memory *memory;
    uint64_t cleanups; ///< added before the guard
    jmp_buf point;
};

static struct head head_of(struct weft_memory *owner, enum weft_memory_kind kind, size_t bytes) {
    return (struct head){.owner = owner, .bytes = bytes & (SIZE_MAX >> (64 - BYTES_BITS)), .kind = kind & UINT8_MAX};
}

/// The guards that a thread is in.
static _Thread_local struct guard *innermost;
static _Thread_local struct weft_memory *current;

// --- what a memory owns -------------------------------------------------------------------------------------------

static void count_bytes(struct weft_memory *owner, enum weft_memory_kind kind, size_t bytes_old, size_t bytes_new) {
    weft_bytes now = owner->held[kind].now += bytes_new - bytes_old;
    if (owner->held[kind].max < now) owner->held[kind].max = now;
}

static void *link_in(struct head *head, struct weft_memory *owner, enum weft_memory_kind kind, size_t bytes) {
    *head = head_of(owner, kind, bytes);
    if (!owner) return head + 1;
    pthread_mutex_lock(&owner->lock);
    head->after = owner->first;
    if (head->after) head->after->before = head;
    owner->first = head;
    count_bytes(owner, kind, 0, bytes);
    pthread_mutex_unlock(&owner->lock);
    return head + 1;
}

// In a run over several processes heads are not linked, because neighbours may belong to another process; memory left
// over ends with the process.
_Static_assert(sizeof(struct head) == WEFT__IMAGE_HEAD, "room before what an image hands out");

static void count_in_image(enum weft_memory_kind kind, size_t bytes_old, size_t bytes_new) {
    if (!current) return;
    pthread_mutex_lock(&current->lock);
    if (current->held[kind].now >= bytes_old) count_bytes(current, kind, bytes_old, bytes_new); // else it was another's
    pthread_mutex_unlock(&current->lock);
}

static void *new_in_image(enum weft_memory_kind kind, size_t bytes) {
    bool constant = kind == WEFT_MEMORY_SCENARIO || kind == WEFT_MEMORY_TOPOLOGY || kind == WEFT_MEMORY_ROUTES;
    void *memory = weft__image_new(bytes, constant);
    if (!memory) weft_memory_fail();
    ((struct head *)memory)[-1] = head_of(NULL, kind, bytes);
    count_in_image(kind, 0, bytes);
    return memory;
}

static void free_in_image(enum weft_memory_kind kind, void *memory, size_t bytes) {
    assert(((struct head *)memory)[-1].bytes == bytes);
    count_in_image(kind, bytes, 0);
    weft__image_free(memory, bytes);
}

static void *resize_in_image(enum weft_memory_kind kind, void *memory, size_t bytes_old, size_t bytes_new) {
    void *moved = new_in_image(kind, bytes_new);
    if (!memory) return moved;
    memcpy(moved, memory, bytes_old < bytes_new ? bytes_old : bytes_new);
    free_in_image(kind, memory, bytes_old);
    return moved;
}

static struct head *unlink_from(void *memory, enum weft_memory_kind kind, size_t bytes) {
    struct head *head = (struct head *)memory - 1;
    assert(head->bytes == bytes);
    struct weft_memory *owner = head->owner;
    if (!owner) return head;
    pthread_mutex_lock(&owner->lock);
    if (head->after) head->after->before = head->before;
    *(head->before ? &head->before->after : &owner->first) = head->after;
    count_bytes(owner, kind, bytes, 0);
    pthread_mutex_unlock(&owner->lock);
    return head;
}

/// Large objects are mapped separately, on large pages where the system has them: a simulation accesses its state at
/// random, and would otherwise spend its time on TLB misses. The head is at the end of the preceding page.
enum { LARGE_PAGE = 2 << 20, LARGE_FROM = 1 << 20, PAGE = 4096 };

static size_t page_bytes(size_t bytes) {
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/// Of a large object: up to a large page if half of the last one is needed, instead of as many faults as that has
/// pages.
static size_t large_bytes(size_t bytes) {
    size_t rest = bytes % LARGE_PAGE;
    return rest >= LARGE_PAGE / 2 ? bytes - rest + LARGE_PAGE : page_bytes(bytes);
}

static struct head *map_large(size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    size_t span = PAGE + large_bytes(bytes) + LARGE_PAGE; // with room to begin on a large page
    char *memory = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    size_t before = -((uintptr_t)memory + PAGE) & (LARGE_PAGE - 1), after = LARGE_PAGE - before;
    if (before) munmap(memory, before);
    munmap(memory + span - after, after);
    memory += before + PAGE;
    madvise(memory, large_bytes(bytes), MADV_HUGEPAGE); // advice: may fail
    return (struct head *)(void *)memory - 1;
}

static void release_head(struct head *head) {
    if (head->bytes >= LARGE_FROM)
        munmap((char *)(head + 1) - PAGE, PAGE + large_bytes(head->bytes));
    else
        free(head);
}

/// Large to larger: the pages move, nothing is copied.
static bool move_pages(struct head *to, const struct head *from) {
    size_t bytes = PAGE + large_bytes(from->bytes);
    return mremap((char *)(from + 1) - PAGE, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (char *)(to + 1) - PAGE) !=
           MAP_FAILED;
}

/// Not zeroed.
static struct head *allocate_head(size_t bytes) {
    return bytes >= LARGE_FROM ? map_large(bytes) : malloc(sizeof(struct head) + bytes);
}

static void *new_in(struct weft_memory *owner, enum weft_memory_kind kind, size_t bytes) {
    if (weft__image_is_open()) return new_in_image(kind, bytes);
    struct head *head = bytes >= LARGE_FROM ? map_large(bytes) : calloc(1, sizeof *head + bytes);
    if (!head) weft_memory_fail();
    return link_in(head, owner, kind, bytes);
}

void *weft_memory_new(enum weft_memory_kind kind, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) weft_memory_fail();
    return new_in(current, kind, bytes);
}

static struct weft_memory *owner_of(const void *memory) {
    return ((const struct head *)memory - 1)->owner;
}

void *weft_memory_resize(enum weft_memory_kind kind, void *memory, size_t bytes_old, size_t bytes_new) {
    if (memory ? weft__image_holds(memory) : weft__image_is_open())
        return resize_in_image(kind, memory, bytes_old, bytes_new);
    struct weft_memory *owner = memory ? owner_of(memory) : current;
    struct head *old = memory ? unlink_from(memory, kind, bytes_old) : NULL, *moved;
    if (bytes_old < LARGE_FROM && bytes_new < LARGE_FROM) {
        moved = realloc(old, sizeof *moved + bytes_new);
    } else if ((moved = allocate_head(bytes_new)) && bytes_old >= LARGE_FROM && bytes_new > bytes_old &&
               move_pages(moved, old)) {
        old = NULL;
    } else if (moved && old) {
        memcpy(moved + 1, memory, bytes_old < bytes_new ? bytes_old : bytes_new);
        release_head(old);
    }
    if (moved) return link_in(moved, owner, kind, bytes_new);
    if (old) link_in(old, owner, kind, bytes_old);
    weft_memory_fail();
}

void weft_memory_free(enum weft_memory_kind kind, void *memory, size_t bytes) {
    if (weft__image_holds(memory))
        free_in_image(kind, memory, bytes);
    else if (memory)
        release_head(unlink_from(memory, kind, bytes));
}

void weft_memory_end(void *pointer) {
    void *memory;
    memcpy(&memory, pointer, sizeof memory);
    if (!memory) return;
    const struct head *head = (const struct head *)memory - 1;
    weft_memory_free((enum weft_memory_kind)head->kind, memory, head->bytes);
}

void weft_memory_sparse(void *memory, size_t bytes) {
    uintptr_t from = page_bytes((uintptr_t)memory), to = ((uintptr_t)memory + bytes) & ~(uintptr_t)(PAGE - 1);
    if (bytes >= LARGE_FROM) madvise((void *)from, to - from, MADV_NOHUGEPAGE); // advice: it may fail
}

// --- memory and guards --------------------------------------------------------------------------------------------

struct weft_memory *weft_memory_open(void) {
    struct weft_memory *memory = calloc(1, sizeof *memory);
    if (memory) pthread_mutex_init(&memory->lock, NULL);
    return memory;
}

/// Runs the cleanups added since there were `cleanups`.
static void clean_up(struct weft_memory *memory, uint64_t cleanups) {
    while (memory && memory->cleanup && memory->cleanup->serial >= cleanups) {
        struct weft_memory_cleanup *last = memory->cleanup;
        weft_memory_cleanup_remove(last);
        last->act(last->object);
    }
}

void weft_memory_close(struct weft_memory *memory) {
    if (!memory) return;
    assert(current != memory);
    clean_up(memory, 0);
    for (struct head *head = memory->first, *after; head; head = after) {
        after = head->after;
        release_head(head);
    }
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

struct weft_memory *weft_memory_use(struct weft_memory *memory) {
    struct weft_memory *was = current;
    current = memory;
    return was;
}

struct weft_memory *weft_memory_current(void) {
    return current;
}

enum weft_status weft_memory_guard(struct weft_memory *memory,
                                   enum weft_status (*act)(void *context, struct weft_error *ret_error), void *context,
                                   struct weft_error *ret_error) {
    struct guard own = {.around = innermost, .memory = memory, .cleanups = memory ? memory->cleanups : 0};
    struct weft_memory *const was = weft_memory_use(memory);
    innermost = &own;
    enum weft_status status;
    if (!setjmp(own.point)) {
        status = act(context, ret_error);
    } else {
        if (ret_error) *ret_error = (struct weft_error){0}; // discards earlier errors
        status = weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "out of memory");
    }
    innermost = own.around;
    current = was;
    return status;
}

enum weft_status weft_memory_enter(struct weft_memory **memory,
                                   enum weft_status (*act)(void *context, struct weft_error *ret_error), void *context,
                                   struct weft_error *ret_error) {
    if (current) return act(context, ret_error);
    if (!*memory) *memory = weft_memory_open();
    if (!*memory) return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "out of memory");
    return weft_memory_guard(*memory, act, context, ret_error);
}

void weft_memory_fail(void) {
    assert(innermost); // the library was called outside any guard
    clean_up(innermost->memory, innermost->cleanups);
    longjmp(innermost->point, 1);
}

void weft_memory_cleanup_add(struct weft_memory_cleanup *cleanup, void (*act)(void *object), void *object) {
    *cleanup = (struct weft_memory_cleanup){.act = act, .object = object, .owner = current};
    if (!current) return;
    cleanup->serial = current->cleanups++;
    cleanup->before = current->cleanup;
    if (cleanup->before) cleanup->before->after = cleanup;
    current->cleanup = cleanup;
}

void weft_memory_cleanup_remove(struct weft_memory_cleanup *cleanup) {
    if (!cleanup->owner) return;
    if (cleanup->before) cleanup->before->after = cleanup->after;
    *(cleanup->after ? &cleanup->after->before : &cleanup->owner->cleanup) = cleanup->before;
    cleanup->owner = NULL;
}

weft_bytes weft_memory_bytes(enum weft_memory_kind kind) {
    assert(current);
    return current->held[kind].now;
}
weft_bytes weft_memory_bytes_max(enum weft_memory_kind kind) {
    assert(current);
    return current->held[kind].max;
}
weft_bytes weft_memory_held(const struct weft_memory *memory, enum weft_memory_kind kind) {
    return memory ? memory->held[kind].now : 0;
}
double weft_memory_most(void) {
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    bool limited = !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY;
    return limited && (double)limit.rlim_cur < bytes ? (double)limit.rlim_cur : bytes;
}

const char *weft_memory_name(enum weft_memory_kind kind) {
    return names[kind];
}

void weft_memory_reset_max(void) {
    assert(current);
    for (unsigned k = 0; k < WEFT_MEMORY_KINDS; k++)
        current->held[k].max = current->held[k].now;
}

void weft_memory_figures(struct weft_memory_figure ret_figure[WEFT_MEMORY_KINDS]) {
    assert(current);
    memcpy(ret_figure, current->held, sizeof current->held);
}

void weft_memory_figures_set(const struct weft_memory_figure figure[WEFT_MEMORY_KINDS]) {
    assert(current);
    memcpy(current->held, figure, sizeof current->held);
}

bool weft_memory_has_cleanups(void) {
    return current && current->cleanup;
}

// --- arena --------------------------------------------------------------------------------------------------------

struct block {
    struct block *next;
    size_t bytes, used; // of `data`
    bool alone;         // made for a single object
    _Alignas(16) unsigned char data[];
};

struct weft_arena {
    enum weft_memory_kind kind;
    size_t bytes; ///< of all blocks
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
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2) weft_memory_fail();
    bytes = (bytes + 15) & ~(size_t)15;
    if (weft__image_is_shared(arena)) return new_in_image(arena->kind, bytes); // each process adds to it on its own
    struct block *b = arena->block;
    if (!b || b->bytes - b->used < bytes) {
        size_t block = arena->bytes < BLOCK_BYTES_MIN   ? BLOCK_BYTES_MIN
                       : arena->bytes > BLOCK_BYTES_MAX ? BLOCK_BYTES_MAX
                                                        : arena->bytes;
        size_t room = bytes > block / 4 ? bytes : block; // large objects get their own block
        arena->bytes += room;
        b = new_in(owner_of(arena), arena->kind, sizeof *b + room);
        b->bytes = room;
        b->alone = room == bytes;
        if (b->alone && arena->block) { // continue to fill the current block
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

/// Frees a block that was made for `memory` alone.
static void drop_block_of(struct weft_arena *arena, const void *memory) {
    for (struct block **at = &arena->block; *at; at = &(*at)->next) {
        struct block *b = *at;
        if (b->data != memory) continue;
        if (b == arena->block || !b->alone) return;
        *at = b->next;
        arena->bytes -= b->bytes;
        weft_memory_free(arena->kind, b, sizeof *b + b->bytes);
        return;
    }
}

void *weft_arena_move(struct weft_arena *arena, void *list, size_t n_old, size_t n, size_t size) {
    void *moved = weft_arena_alloc(arena, n, size);
    if (!list) return moved;
    memcpy(moved, list, n_old * size);
    if (!weft__image_is_shared(arena)) drop_block_of(arena, list);
    return moved;
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
