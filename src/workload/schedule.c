// SPDX-License-Identifier: Apache-2.0
// Programs of general form: how they are stored, and what is said of a step.
#include "weft/schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void weft_schedule_begin(struct weft_schedule_builder *b, const char *file, uint32_t ranks, struct weft_arena *arena) {
    struct weft_schedule *s = weft_arena_alloc(arena, 1, sizeof *s);
    *s = (struct weft_schedule){.file = weft_arena_text(arena, file),
                                .ranks = ranks,
                                .cpus = 1,
                                .nics = 1,
                                .rank = weft_arena_alloc(arena, ranks, sizeof *s->rank)};
    *b = (struct weft_schedule_builder){.schedule = s, .arena = arena};
}

/// Room for one more of those that are `n`; false: there are as many as there may be.
static bool grow(void **list, uint32_t n, uint32_t *room, size_t size) {
    if (n < *room) return true;
    if (n == WEFT_SCHEDULE_STEPS_MAX) return false;
    uint32_t more = *room ? 2 * *room : 64;
    *list = weft_memory_resize(WEFT_MEMORY_SCENARIO, *list, *room * size, more * size);
    *room = more;
    return true;
}

bool weft_schedule_add(struct weft_schedule_builder *b, const struct weft_schedule_step *step) {
    if (!grow((void **)&b->step, b->steps, &b->steps_room, sizeof *b->step)) return false;
    struct weft_schedule *s = b->schedule;
    b->step[b->steps] = *step;
    b->step[b->steps++].waits = 0;
    if (step->cpu >= s->cpus) s->cpus = step->cpu + 1u;
    if (step->nic >= s->nics) s->nics = step->nic + 1u;
    if (step->kind != WEFT_SCHEDULE_SEND) return true;
    s->messages++;
    if (__builtin_add_overflow(s->bytes, step->size, &s->bytes)) s->bytes = UINT64_MAX;
    return true;
}

bool weft_schedule_add_edge(struct weft_schedule_builder *b, uint32_t from, uint32_t to, bool after_start) {
    if (!grow((void **)&b->pair, b->pairs, &b->pairs_room, sizeof *b->pair)) return false;
    b->pair[b->pairs++] = (struct weft_schedule_pair){from, to | (after_start ? WEFT_SCHEDULE_AFTER_START : 0)};
    return true;
}

void weft_schedule_end_rank(struct weft_schedule_builder *b, uint64_t offset) {
    struct weft_schedule *s = b->schedule;
    assert(b->rank < s->ranks);
    struct weft_schedule_rank *r = &s->rank[b->rank++];
    *r = (struct weft_schedule_rank){.steps = b->steps, .edges = b->pairs, .offset = offset};
    r->step = weft_arena_alloc(b->arena, b->steps + (size_t)1, sizeof *r->step);
    r->edge = weft_arena_alloc(b->arena, b->pairs, sizeof *r->edge);
    if (b->steps) memcpy(r->step, b->step, b->steps * sizeof *r->step);
    for (uint32_t i = 0; i <= b->steps; i++)
        r->step[i].edge0 = 0;
    for (uint32_t i = 0; i < b->pairs; i++) {
        r->step[b->pair[i].from].edge0++;
        r->step[b->pair[i].to & ~WEFT_SCHEDULE_AFTER_START].waits++;
    }
    for (uint32_t i = 0, sum = 0; i <= b->steps; i++) // the end of each, which filling from behind makes its begin
        r->step[i].edge0 = sum += r->step[i].edge0;
    for (uint32_t i = b->pairs; i-- > 0;)
        r->edge[--r->step[b->pair[i].from].edge0] = b->pair[i].to;
    s->steps += b->steps;
    s->edges += b->pairs;
    b->steps = b->pairs = 0;
}

struct weft_schedule *weft_schedule_end(struct weft_schedule_builder *b) {
    weft_memory_free(WEFT_MEMORY_SCENARIO, b->step, b->steps_room * sizeof *b->step);
    weft_memory_free(WEFT_MEMORY_SCENARIO, b->pair, b->pairs_room * sizeof *b->pair);
    return b->schedule;
}

const char *weft_schedule_where(const struct weft_schedule *s, uint32_t rank, uint32_t step, char *text, size_t size) {
    enum { NODE_BYTES = 39 }; // of a step in a binary GOAL file
    const struct weft_schedule_rank *r = &s->rank[rank];
    if (r->step[step].line)
        snprintf(text, size, "%s:%" PRIu32, s->file, r->step[step].line);
    else if (r->offset)
        snprintf(text, size, "%s: byte %" PRIu64, s->file, r->offset + (uint64_t)step * NODE_BYTES);
    else
        snprintf(text, size, "%s: step %" PRIu32, s->file, step);
    return text;
}

const char *weft_schedule_what(const struct weft_schedule_step *step, char *text, size_t size) {
    char peer[32] = "any rank", tag[32] = "any tag";
    if (step->kind == WEFT_SCHEDULE_COMPUTE) {
        snprintf(text, size, "compute of %" PRIu64 " ps", step->size);
        return text;
    }
    if (step->peer != WEFT_SCHEDULE_ANY) snprintf(peer, sizeof peer, "rank %" PRIu32, step->peer);
    if (step->tag != WEFT_SCHEDULE_ANY) snprintf(tag, sizeof tag, "tag %" PRIu32, step->tag);
    bool sends = step->kind == WEFT_SCHEDULE_SEND;
    snprintf(text, size, "%s of %" PRIu64 " bytes %s %s, %s", sends ? "send" : "receive", step->size,
             sends ? "to" : "from", peer, tag);
    return text;
}
