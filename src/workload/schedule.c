// SPDX-License-Identifier: Apache-2.0
// Programs of general form: how they are stored, and how a step is described.
#include "weft/schedule.h"
#include "base/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const char *const weft_schedule_collectives[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                                 "broadcast",  "gather",     "reduce",         "scatter",
                                                 "barrier",    NULL};

void weft_schedule_begin(struct weft_schedule_builder *b, const char *file, uint32_t ranks, struct weft_arena *arena) {
    struct weft_schedule *s = weft_arena_alloc(arena, 1, sizeof *s);
    *s = (struct weft_schedule){.file = weft_arena_text(arena, file),
                                .ranks = ranks,
                                .cpus = 1,
                                .nics = 1,
                                .rank = weft_arena_alloc(arena, ranks, sizeof *s->rank)};
    *b = (struct weft_schedule_builder){.schedule = s, .arena = arena};
}

// --- groups -------------------------------------------------------------------------------------------------------

struct member {
    uint32_t rank, number;
};

WEFT__ORDER(by_rank, struct member, WEFT__UP(rank) ?: WEFT__UP(number))

uint32_t weft_schedule_add_group(struct weft_schedule_builder *b, const char *name, const uint32_t *rank,
                                 uint32_t ranks) {
    struct weft_schedule *s = b->schedule;
    s->group = weft__arena_grow(b->arena, s->group, s->groups, sizeof *s->group);
    b->last = weft__memory_grow(b->last, s->groups, &b->groups_room, sizeof *b->last);
    struct weft_schedule_group *g = &s->group[s->groups];
    *g = (struct weft_schedule_group){weft_arena_text(b->arena, name), ranks,
                                      weft_arena_alloc(b->arena, ranks, sizeof *g->rank),
                                      weft_arena_alloc(b->arena, ranks, sizeof *g->number)};
    struct member *member = weft_memory_new(WEFT_MEMORY_SCENARIO, ranks, sizeof *member);
    for (uint32_t k = 0; k < ranks; k++)
        member[k] = (struct member){g->rank[k] = rank[k], k};
    if (ranks) qsort(member, ranks, sizeof *member, by_rank);
    for (uint32_t k = 0; k < ranks; k++)
        g->number[k] = member[k].number;
    weft_memory_free(WEFT_MEMORY_SCENARIO, member, ranks * sizeof *member);
    b->last[s->groups] = 0;
    return s->groups++;
}

// --- ranks --------------------------------------------------------------------------------------------------------

/// Makes room for one more entry of a list with `n`; false: the maximum is reached.
static bool grow_list(void **list, uint32_t n, uint32_t *room, size_t size) {
    if (n == *room && n == WEFT_SCHEDULE_STEPS_MAX) return false;
    *list = weft__memory_grow(*list, n, room, size);
    return true;
}

/// A step of a group comes after the group's previous one.
static bool add_collective(struct weft_schedule_builder *b, const struct weft_schedule_step *step) {
    assert(step->peer < b->schedule->groups);
    uint32_t *last = &b->last[step->peer], before = *last;
    b->schedule->collectives++;
    *last = b->steps; // + 1: the step is there already
    return !before || weft_schedule_add_edge(b, before - 1, b->steps - 1, false);
}

bool weft_schedule_add(struct weft_schedule_builder *b, const struct weft_schedule_step *step) {
    if (!grow_list((void **)&b->step, b->steps, &b->steps_room, sizeof *b->step)) return false;
    struct weft_schedule *s = b->schedule;
    b->step[b->steps] = *step;
    b->step[b->steps++].waits = 0;
    if (step->cpu >= s->cpus) s->cpus = step->cpu + 1u;
    if (step->nic >= s->nics) s->nics = step->nic + 1u;
    if (step->kind == WEFT_SCHEDULE_COLLECTIVE) return add_collective(b, step);
    if (step->kind != WEFT_SCHEDULE_SEND) return true;
    s->messages++;
    if (__builtin_add_overflow(s->bytes, step->size, &s->bytes)) s->bytes = UINT64_MAX;
    return true;
}

bool weft_schedule_add_edge(struct weft_schedule_builder *b, uint32_t from, uint32_t to, bool after_start) {
    if (!grow_list((void **)&b->pair, b->pairs, &b->pairs_room, sizeof *b->pair)) return false;
    b->pair[b->pairs++] = (struct weft_schedule_pair){from, to | (after_start ? WEFT_SCHEDULE_AFTER_START : 0)};
    return true;
}

void weft_schedule_end_rank(struct weft_schedule_builder *b, uint64_t offset) {
    struct weft_schedule *s = b->schedule;
    assert(b->rank < s->ranks);
    struct weft_schedule_rank *r = &s->rank[b->rank++];
    *r = (struct weft_schedule_rank){
        .steps = b->steps, .edges = b->pairs, .offset = offset, .file = b->file ? b->file : s->file};
    r->step = weft_arena_alloc(b->arena, b->steps + (size_t)1, sizeof *r->step);
    r->edge = weft_arena_alloc(b->arena, b->pairs, sizeof *r->edge);
    if (b->steps) memcpy(r->step, b->step, b->steps * sizeof *r->step);
    for (uint32_t i = 0; i <= b->steps; i++)
        r->step[i].edge0 = 0;
    for (uint32_t i = 0; i < b->pairs; i++) {
        r->step[b->pair[i].from].edge0++;
        r->step[b->pair[i].to & ~WEFT_SCHEDULE_AFTER_START].waits++;
    }
    for (uint32_t i = 0, sum = 0; i <= b->steps; i++) // sets the end of each, which filling from the back turns into
                                                      // the beginning
        r->step[i].edge0 = sum += r->step[i].edge0;
    for (uint32_t i = b->pairs; i-- > 0;)
        r->edge[--r->step[b->pair[i].from].edge0] = b->pair[i].to;
    for (uint32_t i = 0; i < b->steps && s->groups; i++)
        if (r->step[i].kind == WEFT_SCHEDULE_COLLECTIVE) b->last[r->step[i].peer] = 0;
    s->steps += b->steps;
    s->edges += b->pairs;
    b->steps = b->pairs = 0;
    b->file = NULL;
}

struct weft_schedule *weft_schedule_end(struct weft_schedule_builder *b) {
    weft_memory_free(WEFT_MEMORY_SCENARIO, b->step, b->steps_room * sizeof *b->step);
    weft_memory_free(WEFT_MEMORY_SCENARIO, b->pair, b->pairs_room * sizeof *b->pair);
    weft_memory_free(WEFT_MEMORY_SCENARIO, b->last, b->groups_room * sizeof *b->last);
    return b->schedule;
}

// --- what is said of steps ----------------------------------------------------------------------------------------

const char *weft_schedule_number_of(const struct weft_schedule *s, uint32_t rank, uint32_t step, char *text,
                                    size_t size) {
    enum { NODE_BYTES = 39 }; // of a step in a binary GOAL file
    const struct weft_schedule_rank *r = &s->rank[rank];
    uint32_t line = r->step[step].line;
    if (line)
        snprintf(text, size, "%s %" PRIu32, s->entry ? s->entry : "line", line);
    else if (r->offset)
        snprintf(text, size, "byte %" PRIu64, r->offset + (uint64_t)step * NODE_BYTES);
    else
        snprintf(text, size, "step %" PRIu32, step);
    return text;
}

const char *weft_schedule_where(const struct weft_schedule *s, uint32_t rank, uint32_t step, char *text, size_t size) {
    char number[64];
    const struct weft_schedule_rank *r = &s->rank[rank];
    uint32_t line = r->step[step].line;
    if (line && !s->entry)
        snprintf(text, size, "%s:%" PRIu32, r->file, line);
    else
        snprintf(text, size, "%s: %s", r->file, weft_schedule_number_of(s, rank, step, number, sizeof number));
    return text;
}

const char *weft_schedule_what(const struct weft_schedule *s, uint32_t rank, uint32_t number, char *text, size_t size) {
    const struct weft_schedule_step *step = &s->rank[rank].step[number];
    char peer[32] = "any rank", tag[32] = "any tag";
    if (step->kind == WEFT_SCHEDULE_COMPUTE) return WEFT_SAY(text, size, "compute of %" PRIu64 " ps", step->size);
    if (step->kind == WEFT_SCHEDULE_COLLECTIVE)
        return WEFT_SAY(text, size, "%s of %" PRIu64 " bytes in group %s", weft_schedule_collectives[step->collective],
                        step->size, s->group[step->peer].name);
    if (step->peer != WEFT_SCHEDULE_ANY) snprintf(peer, sizeof peer, "rank %" PRIu32, step->peer);
    if (step->tag != WEFT_SCHEDULE_ANY) snprintf(tag, sizeof tag, "tag %" PRIu32, step->tag);
    bool sends = step->kind == WEFT_SCHEDULE_SEND;
    return WEFT_SAY(text, size, "%s of %" PRIu64 " bytes %s %s, %s", sends ? "send" : "receive", step->size,
                    sends ? "to" : "from", peer, tag);
}
