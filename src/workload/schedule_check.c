// SPDX-License-Identifier: Apache-2.0
// Whether a program of general form can be executed.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "weft/schedule.h"

/// An error of a step: where it is, what it is, and what is wrong.
static enum weft_status step_fault(const struct weft_schedule *s, uint32_t rank, uint32_t step, const char *why,
                                   struct weft_error *ret_error) {
    char where[256], what[160];
    const struct weft_schedule_step *own = &s->rank[rank].step[step];
    weft_schedule_where(s, rank, step, where, sizeof where);
    weft_schedule_what(s, rank, step, what, sizeof what);
    struct weft_place place = {.file = s->rank[rank].file, .line = (int)own->line, .column = 1};
    if (own->line && !s->entry) return WEFT_REFUSE(ret_error, place, "rank %" PRIu32 ", %s: %s", rank, what, why);
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "%s: rank %" PRIu32 ", %s: %s", where, rank, what, why);
}

static const char *wrong_collective(const struct weft_schedule *s, uint32_t rank,
                                    const struct weft_schedule_step *step) {
    const struct weft_schedule_group *group = &s->group[step->peer];
    bool rooted = step->collective == WEFT_SCHEDULE_BROADCAST || step->collective == WEFT_SCHEDULE_GATHER ||
                  step->collective == WEFT_SCHEDULE_REDUCE || step->collective == WEFT_SCHEDULE_SCATTER;
    if (weft_schedule_number(group, rank) == WEFT_NONE) return "expected a group of which the rank is a member";
    if (step->tag >= (rooted ? group->ranks : 1)) return "expected a root that is a member of the group";
    if (step->size > WEFT_SCHEDULE_COLLECTIVE_MAX) return "expected at most 10^12 bytes";
    return NULL;
}

static enum weft_status check_steps(const struct weft_schedule *s, uint32_t rank, struct weft_error *ret_error) {
    const struct weft_schedule_rank *r = &s->rank[rank];
    for (uint32_t i = 0; i < r->steps; i++) {
        const struct weft_schedule_step *step = &r->step[i];
        if (step->kind == WEFT_SCHEDULE_COMPUTE) {
            if (step->size <= WEFT_TIME_MAX) continue;
            return step_fault(s, rank, i, "expected a shorter time: simulated time ends before", ret_error);
        }
        if (step->kind == WEFT_SCHEDULE_COLLECTIVE) {
            const char *wrong = wrong_collective(s, rank, step);
            if (wrong) return step_fault(s, rank, i, wrong, ret_error);
            continue;
        }
        bool any = step->kind == WEFT_SCHEDULE_RECV;
        if (step->peer >= s->ranks && !(any && step->peer == WEFT_SCHEDULE_ANY))
            return step_fault(s, rank, i, "expected a rank that exists", ret_error);
        if (step->tag == WEFT_SCHEDULE_ANY && !any)
            return step_fault(s, rank, i, "expected a tag to send with", ret_error);
        if (step->size >= WEFT_SCHEDULE_BYTES_MAX)
            return step_fault(s, rank, i, "expected less than 2^63 bytes", ret_error);
    }
    return WEFT_OK;
}

// --- circles ------------------------------------------------------------------------------------------------------

/// Names a circle among the steps that are left, each of which waits for another one of them. `before`: for each of
/// them a step that it waits for.
static enum weft_status fault_circle(const struct weft_schedule *s, uint32_t rank, uint32_t *left,
                                     const uint32_t *before, struct weft_error *ret_error) {
    enum { NAMED = 6 };
    uint32_t at = 0, steps = 0, first;
    char why[400], name[64];
    while (!left[at])
        at++;
    for (; left[at]; at = before[at]) // until a step comes twice, which is in the circle
        left[at] = 0;
    first = at;
    for (uint32_t i = before[at]; i != at; i = before[i])
        if (i < first) first = i;
    size_t n = (size_t)snprintf(why, sizeof why, "it waits for itself in a circle: %s",
                                weft_schedule_number_of(s, rank, first, name, sizeof name));
    at = first;
    do {
        at = before[at];
        if (steps++ == NAMED) n += (size_t)snprintf(why + n, sizeof why - n, ", ...");
        if (steps > NAMED) continue;
        n += (size_t)snprintf(why + n, sizeof why - n, "%s %s", steps == 1 ? " waits for" : ", that for",
                              weft_schedule_number_of(s, rank, at, name, sizeof name));
    } while (at != first);
    if (steps > NAMED) snprintf(why + n, sizeof why - n, ", %" PRIu32 " steps in all", steps);
    return step_fault(s, rank, first, why, ret_error);
}

/// Removes steps that wait for none; the remaining ones wait in a circle, or for such. `left`, `ready`: room for each
/// step.
static enum weft_status check_circles(const struct weft_schedule *s, uint32_t rank, uint32_t *left, uint32_t *ready,
                                      struct weft_error *ret_error) {
    const struct weft_schedule_rank *r = &s->rank[rank];
    uint32_t n = 0, taken = 0;
    for (uint32_t i = 0; i < r->steps; i++)
        if (!(left[i] = r->step[i].waits)) ready[n++] = i;
    while (taken < n) {
        uint32_t i = ready[taken++];
        for (uint32_t e = r->step[i].edge0; e < r->step[i + 1].edge0; e++) {
            uint32_t to = r->edge[e] & ~WEFT_SCHEDULE_AFTER_START;
            if (!--left[to]) ready[n++] = to;
        }
    }
    if (n == r->steps) return WEFT_OK;
    for (uint32_t i = 0; i < r->steps; i++)
        for (uint32_t e = r->step[i].edge0; left[i] && e < r->step[i + 1].edge0; e++)
            ready[r->edge[e] & ~WEFT_SCHEDULE_AFTER_START] = i;
    return fault_circle(s, rank, left, ready, ret_error);
}

// --- messages and receives ----------------------------------------------------------------------------------------

/// For messages from a rank to a rank with a tag: those sent, minus those received by exactly that source and tag.
struct balance {
    uint32_t src, dst, tag;
    int32_t n;
    bool used;
};
struct balances {
    struct balance *list;
    size_t room, used; ///< room: a power of two
};

static struct balance *balance_of(const struct balances *b, uint32_t src, uint32_t dst, uint32_t tag) {
    uint64_t hash = ((uint64_t)src << 32 | dst) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ tag) * UINT64_C(0xbf58476d1ce4e5b9);
    size_t at = (size_t)(hash ^ hash >> 32) & (b->room - 1);
    while (b->list[at].used && (b->list[at].src != src || b->list[at].dst != dst || b->list[at].tag != tag))
        at = (at + 1) & (b->room - 1);
    return &b->list[at];
}

static void add_balance(struct balances *b, uint32_t src, uint32_t dst, uint32_t tag, int32_t n) {
    if (2 * b->used >= b->room) {
        struct balances more = {.room = b->room ? 2 * b->room : 1024};
        more.list = weft_memory_new(WEFT_MEMORY_SCENARIO, more.room, sizeof *more.list);
        for (size_t i = 0; i < b->room; i++)
            if (b->list[i].n)
                *balance_of(&more, b->list[i].src, b->list[i].dst, b->list[i].tag) = b->list[i], more.used++;
        weft_memory_free(WEFT_MEMORY_SCENARIO, b->list, b->room * sizeof *b->list);
        *b = more;
    }
    struct balance *own = balance_of(b, src, dst, tag);
    if (!own->used) {
        *own = (struct balance){src, dst, tag, 0, true};
        b->used++;
    }
    own->n += n;
}

static bool is_wild(const struct weft_schedule_step *step) {
    return step->peer == WEFT_SCHEDULE_ANY || step->tag == WEFT_SCHEDULE_ANY;
}

/// The last step of that kind of a rank: there are too many of them.
static uint32_t last_such(const struct weft_schedule_rank *r, enum weft_schedule_kind kind, uint32_t peer,
                          uint32_t tag) {
    uint32_t i = r->steps - 1;
    while (r->step[i].kind != kind || r->step[i].peer != peer || r->step[i].tag != tag)
        i--;
    return i;
}

static enum weft_status judge_balances(const struct weft_schedule *s, const struct balances *b, int64_t *wild,
                                       struct weft_error *ret_error) {
    for (size_t i = 0; i < b->room; i++) {
        const struct balance *x = &b->list[i];
        if (x->n < 0)
            return step_fault(s, x->dst, last_such(&s->rank[x->dst], WEFT_SCHEDULE_RECV, x->src, x->tag),
                              "no message is left for it; expected as many sends as receives", ret_error);
        if (x->n > 0 && (wild[x->dst] -= x->n) < 0)
            return step_fault(s, x->src, last_such(&s->rank[x->src], WEFT_SCHEDULE_SEND, x->dst, x->tag),
                              "no receive is left for it; expected as many receives as sends", ret_error);
    }
    for (uint32_t r = 0; r < s->ranks; r++) {
        if (wild[r] <= 0) continue;
        uint32_t i = s->rank[r].steps - 1;
        while (s->rank[r].step[i].kind != WEFT_SCHEDULE_RECV || !is_wild(&s->rank[r].step[i]))
            i--;
        return step_fault(s, r, i, "no message is left for it; expected as many sends as receives", ret_error);
    }
    return WEFT_OK;
}

static enum weft_status check_messages(const struct weft_schedule *s, struct weft_error *ret_error) {
    struct balances b = {0};
    int64_t *wild = weft_memory_new(WEFT_MEMORY_SCENARIO, s->ranks, sizeof *wild);
    for (uint32_t r = 0; r < s->ranks; r++)
        for (uint32_t i = 0; i < s->rank[r].steps; i++) {
            const struct weft_schedule_step *step = &s->rank[r].step[i];
            if (step->kind == WEFT_SCHEDULE_SEND)
                add_balance(&b, r, step->peer, step->tag, 1);
            else if (step->kind == WEFT_SCHEDULE_RECV && is_wild(step))
                wild[r]++;
            else if (step->kind == WEFT_SCHEDULE_RECV)
                add_balance(&b, step->peer, r, step->tag, -1);
        }
    enum weft_status status = judge_balances(s, &b, wild, ret_error);
    weft_memory_free(WEFT_MEMORY_SCENARIO, b.list, b.room * sizeof *b.list);
    weft_memory_free(WEFT_MEMORY_SCENARIO, wild, s->ranks * sizeof *wild);
    return status;
}

// --- collectives --------------------------------------------------------------------------------------------------

static enum weft_status check_group(const struct weft_schedule *s, const struct weft_schedule_group *g,
                                    struct weft_error *ret_error) {
    struct weft_place place = {.file = s->file};
    if (!g->ranks) return WEFT_REFUSE(ret_error, place, "group %s has no members; expected at least one", g->name);
    for (uint32_t k = 0; k < g->ranks; k++) {
        uint32_t rank = g->rank[g->number[k]];
        if (rank >= s->ranks)
            return WEFT_REFUSE(ret_error, place, "group %s has rank %" PRIu32 "; expected ranks below %" PRIu32,
                               g->name, rank, s->ranks);
        if (k && rank == g->rank[g->number[k - 1]])
            return WEFT_REFUSE(ret_error, place, "group %s has rank %" PRIu32 " twice; expected every member once",
                               g->name, rank);
    }
    return WEFT_OK;
}

/// What the first member with steps of a group does in it; the others must do the same.
struct sequence {
    uint32_t rank, members; ///< members: those with steps
    uint32_t *step, steps, room;
    uint32_t next; ///< how many of them the current rank has
};

static bool same_collective(const struct weft_schedule_step *a, const struct weft_schedule_step *b) {
    return a->collective == b->collective && a->size == b->size && a->tag == b->tag;
}

static void note_step(struct sequence *q, uint32_t step) {
    q->step = weft__memory_grow(q->step, q->steps, &q->room, sizeof *q->step);
    q->step[q->steps++] = step;
}

/// Step i of a rank is the next one of its group there.
static enum weft_status follow_sequence(const struct weft_schedule *s, struct sequence *q, uint32_t rank, uint32_t i,
                                        struct weft_error *ret_error) {
    char why[512], where[256], what[160];
    uint32_t k = q->next++;
    if (!k && !q->members++) q->rank = rank;
    if (q->rank == rank) {
        note_step(q, i);
        return WEFT_OK;
    }
    if (k == q->steps)
        snprintf(why, sizeof why,
                 "it is number %" PRIu32 " of that group, and rank %" PRIu32 " has only %" PRIu32
                 "; expected the same collectives at every member",
                 k + 1, q->rank, q->steps);
    else if (!same_collective(&s->rank[rank].step[i], &s->rank[q->rank].step[q->step[k]]))
        snprintf(why, sizeof why,
                 "it is number %" PRIu32 " of that group, and for rank %" PRIu32
                 " that is %s (%s); expected the same collectives at every member",
                 k + 1, q->rank, weft_schedule_what(s, q->rank, q->step[k], what, sizeof what),
                 weft_schedule_where(s, q->rank, q->step[k], where, sizeof where));
    else
        return WEFT_OK;
    return step_fault(s, rank, i, why, ret_error);
}

/// The first member of a group has a step that rank `rank` lacks.
static enum weft_status missing_step(const struct weft_schedule *s, const struct sequence *q, uint32_t rank, uint32_t k,
                                     struct weft_error *ret_error) {
    char why[160];
    snprintf(why, sizeof why,
             "it is number %" PRIu32 " of that group, and rank %" PRIu32 " has only %" PRIu32
             "; expected the same collectives at every member",
             k + 1, rank, k);
    return step_fault(s, q->rank, q->step[k], why, ret_error);
}

static enum weft_status check_rank_collectives(const struct weft_schedule *s, uint32_t rank, struct sequence *list,
                                               struct weft_error *ret_error) {
    const struct weft_schedule_rank *r = &s->rank[rank];
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < r->steps && !status; i++)
        if (r->step[i].kind == WEFT_SCHEDULE_COLLECTIVE)
            status = follow_sequence(s, &list[r->step[i].peer], rank, i, ret_error);
    for (uint32_t i = 0; i < r->steps; i++) {
        if (r->step[i].kind != WEFT_SCHEDULE_COLLECTIVE) continue;
        struct sequence *q = &list[r->step[i].peer];
        if (!status && q->next && q->next < q->steps) status = missing_step(s, q, rank, q->next, ret_error);
        q->next = 0;
    }
    return status;
}

/// The first member of a group without any of its steps, although others have some.
static enum weft_status check_members(const struct weft_schedule *s, uint32_t group, const struct sequence *q,
                                      struct weft_error *ret_error) {
    const struct weft_schedule_group *g = &s->group[group];
    if (!q->members || q->members == g->ranks) return WEFT_OK;
    for (uint32_t k = 0; k < g->ranks; k++) {
        const struct weft_schedule_rank *r = &s->rank[g->rank[k]];
        uint32_t i = 0;
        while (i < r->steps && (r->step[i].kind != WEFT_SCHEDULE_COLLECTIVE || r->step[i].peer != group))
            i++;
        if (i == r->steps) return missing_step(s, q, g->rank[k], 0, ret_error);
    }
    return WEFT_OK;
}

static enum weft_status check_collectives(const struct weft_schedule *s, struct weft_error *ret_error) {
    struct sequence *list = weft_memory_new(WEFT_MEMORY_SCENARIO, s->groups, sizeof *list);
    enum weft_status status = WEFT_OK;
    for (uint32_t r = 0; r < s->ranks && s->collectives && !status; r++)
        status = check_rank_collectives(s, r, list, ret_error);
    for (uint32_t g = 0; g < s->groups; g++) {
        if (!status) status = check_members(s, g, &list[g], ret_error);
        weft_memory_free(WEFT_MEMORY_SCENARIO, list[g].step, list[g].room * sizeof *list[g].step);
    }
    weft_memory_free(WEFT_MEMORY_SCENARIO, list, s->groups * sizeof *list);
    return status;
}

enum weft_status weft_schedule_check(const struct weft_schedule *s, struct weft_error *ret_error) {
    uint32_t most = 0;
    enum weft_status status = WEFT_OK;
    for (uint32_t g = 0; g < s->groups && !status; g++)
        status = check_group(s, &s->group[g], ret_error);
    for (uint32_t r = 0; r < s->ranks; r++)
        if (s->rank[r].steps > most) most = s->rank[r].steps;
    uint32_t *left = weft_memory_new(WEFT_MEMORY_SCENARIO, most, sizeof *left),
             *ready = weft_memory_new(WEFT_MEMORY_SCENARIO, most, sizeof *ready);
    for (uint32_t r = 0; r < s->ranks && !status; r++) {
        status = check_steps(s, r, ret_error);
        if (!status) status = check_circles(s, r, left, ready, ret_error);
    }
    weft_memory_free(WEFT_MEMORY_SCENARIO, left, most * sizeof *left);
    weft_memory_free(WEFT_MEMORY_SCENARIO, ready, most * sizeof *ready);
    if (!status) status = check_collectives(s, ret_error);
    return status ? status : check_messages(s, ret_error);
}
