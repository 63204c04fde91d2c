// SPDX-License-Identifier: Apache-2.0
// Why an iteration of a job took so long (weft/why.h): from its end at the last rank back to its beginning, through the
// notes of each rank (weft/follow.h). A rank acts at once when the last thing that it waited for happens, so each act
// leads to the fact before it, and each fact to the act that caused it, at this or another rank.
#include <stdlib.h>

#include "base/order.h"
#include "story/why.h"
#include "weft/job.h"

const char *const weft_why_step_names[WEFT_WHY_STEP_WHATS] = {
#define X(e, name) name,
    WEFT_WHY_STEPS(X)
#undef X
};

/// A note of a rank, in a form that can be looked up.
struct note {
    const struct weft_rank_note *note;
    uint32_t rank;
};

struct walk {
    const struct weft_whys *y;
    const struct weft_job *job;
    uint32_t job_number, iteration, rank0, connection0;
    struct note *note; ///< [notes], by connection, what and message
    uint64_t notes;
    const struct weft_rank_note *at; ///< an act, of `rank`
    uint32_t rank;
    weft_time_ps from_ps;
    struct weft_why_step *step; ///< last one first
    uint32_t steps, room;
};

static bool is_fact(const struct weft_rank_note *n) {
    return n->what < WEFT_RANK_FACTS;
}

static const struct weft_rank_note *notes_of(const struct walk *x, uint32_t rank, uint32_t *ret_n) {
    return weft_follow_rank(x->y->follow, x->rank0 + rank, ret_n);
}

WEFT__ORDER(by_message, struct note, WEFT__UP(note->connection) ?: WEFT__UP(note->what) ?: WEFT__UP(note->message))

static bool is_of_message(const struct weft_rank_note *n) {
    return n->what == WEFT_RANK_ARRIVED || n->what == WEFT_RANK_FILLS || n->what == WEFT_RANK_POSTS ||
           n->what == WEFT_RANK_CLEARS || n->what == WEFT_RANK_FREES;
}

static void find_notes(struct walk *x) {
    uint64_t all = 0;
    uint32_t n;
    for (uint32_t r = 0; r < x->job->ranks; r++) {
        notes_of(x, r, &n);
        all += n;
    }
    x->note = weft_arena_alloc(x->y->arena, all, sizeof *x->note);
    for (uint32_t r = 0; r < x->job->ranks; r++) {
        const struct weft_rank_note *note = notes_of(x, r, &n);
        for (uint32_t i = 0; i < n; i++)
            if (is_of_message(&note[i])) x->note[x->notes++] = (struct note){&note[i], r};
    }
    if (x->notes) qsort(x->note, x->notes, sizeof *x->note, by_message);
}

static const struct note *find_note(const struct walk *x, uint32_t connection, enum weft_rank_what what,
                                    uint32_t message) {
    const struct note key = {&(struct weft_rank_note){.connection = connection, .what = what, .message = message}, 0};
    return x->notes ? bsearch(&key, x->note, x->notes, sizeof key, by_message) : NULL;
}

// --- steps --------------------------------------------------------------------------------------------------------

static const char *host_name(const struct walk *x, uint32_t rank) {
    const struct weft_topology *t = x->y->run->topology;
    return t->node[t->host[x->job->host[rank]]].name;
}

/// What operation a note belongs to.
static const char *op_name(const struct walk *x, uint32_t rank, const struct weft_rank_note *n) {
    static const char *const kinds[] = {"", "send", "receive", "compute", "collective"};
    if (!x->job->schedule) {
        const char *name = x->job->op[n->op % x->job->ops].name;
        return name ? name : "compute";
    }
    const struct weft_schedule_step *s = &x->job->schedule->rank[rank].step[n->op];
    const char *name = s->kind == WEFT_SCHEDULE_COLLECTIVE ? weft_schedule_collectives[s->collective] : kinds[s->kind];
    if (!s->line) return weft_arena_format(x->y->arena, "%s, step %u", name, n->op);
    const char *entry = x->job->schedule->entry;
    return weft_arena_format(x->y->arena, "%s, %s %u", name, entry ? entry : "line", s->line);
}

/// Adds a step back from `to` that began with the act `from`; time before the iteration does not count.
static struct weft_why_step *add_step(struct walk *x, enum weft_why_step_what what, weft_time_ps from, weft_time_ps to,
                                      uint32_t rank) {
    if (from < x->from_ps) from = x->from_ps;
    if (from >= to) return NULL;
    if (x->steps == x->room) {
        uint32_t room = x->room ? 2 * x->room : 64;
        struct weft_why_step *more = weft_arena_alloc(x->y->arena, room, sizeof *more);
        if (x->steps) memcpy(more, x->step, x->steps * sizeof *more);
        x->step = more;
        x->room = room;
    }
    struct weft_why_step *s = &x->step[x->steps++];
    *s = (struct weft_why_step){.what = what,
                                .rank = rank,
                                .peer = WEFT_NONE,
                                .host = host_name(x, rank),
                                .op = "",
                                .flow = WEFT_NONE,
                                .from_ps = from,
                                .to_ps = to};
    return s;
}

static const struct weft_connection *connection_of(const struct walk *x, const struct weft_rank_note *n) {
    return &x->job->connection[n->connection - x->connection0];
}

static void go_to(struct walk *x, const struct note *to) {
    x->at = to->note;
    x->rank = to->rank;
}

static bool back_to_timer(struct walk *x, const struct weft_rank_note *fact, const struct weft_rank_note *first) {
    const struct weft_rank_note *n = fact;
    while (n > first &&
           !((n->what == WEFT_RANK_COMPUTES || n->what == WEFT_RANK_STEPS) && n->connection == fact->connection))
        n--;
    if (n->what != WEFT_RANK_COMPUTES && n->what != WEFT_RANK_STEPS) return false;
    struct weft_why_step *s = add_step(x, n->what == WEFT_RANK_COMPUTES ? WEFT_WHY_STEP_COMPUTE : WEFT_WHY_STEP_COPY,
                                       n->time_ps, fact->time_ps, x->rank);
    if (s) s->op = op_name(x, x->rank, n);
    x->at = n;
    return true;
}

/// Whether a message went because its clear-to-send had come, and not because the proxy had been told of it.
static bool was_cleared(const struct walk *x, const struct note *go) {
    uint32_t n;
    const struct weft_rank_note *first = notes_of(x, go->rank, &n), *fact = go->note;
    while (fact > first && !is_fact(fact))
        fact--;
    return fact->what == WEFT_RANK_CLEARED && fact->connection == go->note->connection &&
           fact->time_ps == go->note->time_ps;
}

/// The message was in flight until `to`, and its sender was telling the proxy of it.
static bool back_to_message(struct walk *x, const struct weft_rank_note *fact, weft_time_ps to) {
    const struct weft_connection *c = connection_of(x, fact);
    bool local = c->flow == WEFT_NONE;
    const struct note *fill = find_note(x, fact->connection, WEFT_RANK_FILLS, fact->message);
    const struct note *go = local ? fill : find_note(x, fact->connection, WEFT_RANK_POSTS, fact->message);
    if (!fill || !go) return false;
    if (go != fill && !was_cleared(x, go)) go = fill;
    struct weft_why_step *s =
        add_step(x, local ? WEFT_WHY_STEP_SERVER : WEFT_WHY_STEP_MESSAGE, go->note->time_ps, to, c->src);
    if (s) {
        s->op = op_name(x, c->src, fill->note);
        s->peer = c->dst;
        s->flow = c->flow;
        s->message = fact->message;
    }
    go_to(x, go);
    return true;
}

/// Something that one of its receivers did for the sender: cleared a message, or returned a buffer.
static bool back_to_receiver(struct walk *x, const struct weft_rank_note *fact, enum weft_rank_what act) {
    const struct weft_connection *c = connection_of(x, fact);
    const struct note *n = find_note(x, fact->connection, act, fact->message);
    if (!n) return false;
    struct weft_why_step *s = add_step(x, act == WEFT_RANK_CLEARS ? WEFT_WHY_STEP_CLEAR : WEFT_WHY_STEP_FULL,
                                       n->note->time_ps, fact->time_ps, c->dst);
    if (s) {
        s->peer = c->src;
        s->message = fact->message;
    }
    go_to(x, n);
    return true;
}

/// A buffer became free when its message was acknowledged.
static bool back_to_acked(struct walk *x, const struct weft_rank_note *fact) {
    const struct weft_connection *c = connection_of(x, fact);
    const struct note *came = find_note(x, fact->connection, WEFT_RANK_ARRIVED, fact->message);
    weft_time_ps at = came && came->note->time_ps < fact->time_ps ? came->note->time_ps : fact->time_ps;
    struct weft_why_step *s = add_step(x, WEFT_WHY_STEP_FULL, at, fact->time_ps, c->dst);
    if (s) {
        s->peer = c->src;
        s->flow = c->flow;
        s->message = fact->message;
    }
    return back_to_message(x, fact, at);
}

/// Of messages that arrived together, the first one delayed the others.
static const struct weft_rank_note *first_of(const struct weft_rank_note *fact, const struct weft_rank_note *first) {
    for (const struct weft_rank_note *n = fact; n-- > first && n->time_ps == fact->time_ps;)
        if (n->what == WEFT_RANK_ARRIVED && n->connection == fact->connection) fact = n;
    return fact;
}

/// Goes one step back. False: the notes do not tell.
static bool go_back(struct walk *x) {
    uint32_t n;
    const struct weft_rank_note *first = notes_of(x, x->rank, &n), *fact = x->at;
    while (fact > first && !is_fact(fact))
        fact--;
    switch (fact->what) {
    case WEFT_RANK_TIMED:
        return back_to_timer(x, fact, first);
    case WEFT_RANK_ARRIVED:
        fact = first_of(fact, first);
        return back_to_message(x, fact, fact->time_ps);
    case WEFT_RANK_ACKED:
        return back_to_acked(x, fact);
    case WEFT_RANK_CLEARED:
        return back_to_receiver(x, fact, WEFT_RANK_CLEARS);
    case WEFT_RANK_FREED:
        return back_to_receiver(x, fact, WEFT_RANK_FREES);
    default: // started, or no fact at all
        return false;
    }
}

/// The last rank to end the iteration.
static bool find_end(struct walk *x) {
    weft_time_ps last = 0;
    for (uint32_t r = 0; r < x->job->ranks; r++) {
        uint32_t n;
        const struct weft_rank_note *note = notes_of(x, r, &n);
        for (uint32_t i = 0; i < n; i++) {
            if (note[i].what != WEFT_RANK_ENDS || note[i].message != x->iteration) continue;
            if (x->at && note[i].time_ps <= last) continue;
            x->at = &note[i];
            x->rank = r;
            last = note[i].time_ps;
        }
    }
    return x->at != NULL;
}

static enum weft_status refuse_iteration(const struct walk *x, const char *why, struct weft_error *ret_error) {
    const struct weft_workload *w = x->y->run->workload;
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "job %s, iteration %u: %s", w->group[x->job->group], x->iteration, why);
}

/// With the first cause that the explanation of a stall has.
static const char *why_not_ended(const struct walk *x) {
    const struct weft_outcome *o = x->y->run->outcome;
    const char *cause = o->stall ? strstr(o->stall, "cause: ") : NULL;
    if (!o->stall) return "did not end";
    if (strstr(o->stall, "PFC cycle of")) return "did not end: the run stalled in a PFC cycle (a deadlock)";
    if (!cause) return "did not end: the run stalled, and its summary says who waits for whom";
    cause += strlen("cause: ");
    return weft_arena_format(x->y->arena, "did not end: the run stalled; %.*s", (int)strcspn(cause, "\n"), cause);
}

static enum weft_status begin_walk(struct walk *x, const struct weft_whys *y, uint32_t job, uint32_t iteration,
                                   struct weft_error *ret_error) {
    const struct weft_workload *w = y->run->workload;
    const struct weft_job_outcome *o = &y->run->outcome->job[job];
    *x = (struct walk){.y = y, .job = &w->job[job], .job_number = job, .iteration = iteration};
    for (uint32_t j = 0; j < job; j++) {
        x->rank0 += w->job[j].ranks;
        x->connection0 += w->job[j].connections;
    }
    uint32_t iterations = x->job->schedule ? 1 : x->job->iterations;
    if (iteration >= iterations)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "job %s: no iteration %u, expected a number below %u",
                           w->group[x->job->group], iteration, iterations);
    if ((x->job->schedule ? o->end_ps : o->iteration_end_ps[iteration]) == WEFT_TIME_NEVER)
        return refuse_iteration(x, why_not_ended(x), ret_error);
    x->from_ps = iteration ? o->iteration_end_ps[iteration - 1] : x->job->start_ps;
    if (!find_end(x)) return refuse_iteration(x, "was not followed", ret_error);
    find_notes(x);
    return WEFT_OK;
}

static enum weft_status walk_back(struct walk *x, struct weft_error *ret_error) {
    while (x->at->time_ps > x->from_ps)
        if (!go_back(x)) return refuse_iteration(x, "cannot be followed back to its beginning", ret_error);
    return WEFT_OK;
}

// --- parts --------------------------------------------------------------------------------------------------------

static void set_part(const struct walk *x, struct weft_why_step *s, enum weft_why_kind kind) {
    s->part = weft_arena_alloc(x->y->arena, 1, sizeof *s->part);
    s->parts = 1;
    *s->part = (struct weft_why_part){kind, s->host, "", s->to_ps - s->from_ps, WEFT_NONE, WEFT_NONE, WEFT_NONE};
    if (s->peer != WEFT_NONE) s->part->because_of = weft_arena_format(x->y->arena, "to %s", host_name(x, s->peer));
}

static enum weft_status explain_step(const struct walk *x, struct weft_why_step *s, struct weft_error *ret_error) {
    if (s->peer != WEFT_NONE) s->to_host = host_name(x, s->peer);
    if (s->flow == WEFT_NONE) s->message = WEFT_NONE;
    static const enum weft_why_kind kinds[] = {
        [WEFT_WHY_STEP_COMPUTE] = WEFT_WHY_COMPUTE, [WEFT_WHY_STEP_COPY] = WEFT_WHY_COPY,
        [WEFT_WHY_STEP_SERVER] = WEFT_WHY_SERVER,   [WEFT_WHY_STEP_CLEAR] = WEFT_WHY_CLEAR,
        [WEFT_WHY_STEP_FULL] = WEFT_WHY_ACK,
    };
    if (s->what != WEFT_WHY_STEP_MESSAGE) {
        bool in_server = s->what == WEFT_WHY_STEP_FULL && s->flow == WEFT_NONE;
        set_part(x, s, in_server ? WEFT_WHY_SERVER : kinds[s->what]);
        return WEFT_OK;
    }
    struct weft__why_path path;
    enum weft_status status = weft__why_find_path(x->y, s->flow, s->from_ps, s->to_ps, &path, ret_error);
    if (!status) weft__why_path_parts(x->y, &path, &s->part, &s->parts);
    return status;
}

enum weft_status weft_why_iteration(const struct weft_whys *y, uint32_t job, uint32_t iteration,
                                    struct weft_why_iteration *ret_why, struct weft_error *ret_error) {
    struct walk x;
    enum weft_status status = begin_walk(&x, y, job, iteration, ret_error);
    weft_time_ps end = status ? 0 : x.at->time_ps;
    if (!status) status = walk_back(&x, ret_error);
    if (status) return status;
    *ret_why = (struct weft_why_iteration){.job = job,
                                           .iteration = iteration,
                                           .name = y->run->workload->group[x.job->group],
                                           .ranks = x.job->ranks,
                                           .schedule = x.job->schedule,
                                           .from_ps = x.from_ps,
                                           .time_ps = end - x.from_ps,
                                           .step = weft_arena_alloc(y->arena, x.steps, sizeof *ret_why->step),
                                           .steps = x.steps,
                                           .steps_in_all = x.steps,
                                           .kind_ps = weft__why_sums(y, NULL, NULL, 0)};
    for (uint32_t i = 0; i < x.steps && !status; i++) {
        ret_why->step[i] = x.step[x.steps - 1 - i];
        struct weft_why_step *s = &ret_why->step[i];
        status = explain_step(&x, s, ret_error);
        if (!status) weft__why_sums(y, ret_why->kind_ps, s->part, s->parts);
    }
    return status;
}

enum weft_status weft_why_iteration_flows(const struct weft_whys *y, uint32_t job, uint32_t iteration, bool *ret_flow,
                                          struct weft_error *ret_error) {
    struct walk x;
    enum weft_status status = begin_walk(&x, y, job, iteration, ret_error);
    if (!status) status = walk_back(&x, ret_error);
    for (uint32_t i = 0; i < x.steps && !status; i++)
        if (x.step[i].flow != WEFT_NONE) ret_flow[x.step[i].flow] = true;
    return status;
}

enum weft_status weft_why_iteration_ports(const struct weft_whys *y, uint32_t job, uint32_t iteration, bool *ret_port,
                                          struct weft_error *ret_error) {
    struct walk x;
    enum weft_status status = begin_walk(&x, y, job, iteration, ret_error);
    if (!status) status = walk_back(&x, ret_error);
    for (uint32_t i = 0; i < x.steps && !status; i++) {
        const struct weft_why_step *s = &x.step[i];
        struct weft__why_path path;
        if (s->what != WEFT_WHY_STEP_MESSAGE) continue;
        status = weft__why_find_path(y, s->flow, s->from_ps, s->to_ps, &path, ret_error);
        if (!status) weft__why_path_ports(y, &path, ret_port);
    }
    return status;
}
