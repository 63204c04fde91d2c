// SPDX-License-Identifier: Apache-2.0
// A program of general form under the LogGOPS model, without a network: a message takes L; a send occupies a CPU stream
// for o + (s - 1) O, and an arriving message for o + (s - 1) max(O, G); each occupies a NIC, in its direction, for g +
// (s - 1) G. A message of more than S bytes makes its sender wait until it is matched. Source: Hoefler, Schneider,
// Lumsdaine, "LogGOPSim - Simulating Large-Scale Applications in the LogGOPS Model", HPDC 2010 and, where the paper
// leaves it open, the simulator LogGOPSim (SPCL): a message of exactly S bytes is eager; an arrived message occupies
// the CPU at once, posted or not; the sender of a rendezvous is free, CPU and NIC, at the time of the match, without a
// latency.
//
// Differences: a step starts when its requirements are complete, even if they ran on another CPU stream (in LogGOPSim
// it starts when its own stream is free); a message for which a receive is posted occupies the CPU and NIC of that
// receive, any other those of its send (there: always those of its send); steps ready at the same time run in the order
// in which they became ready. No noise.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/match.h"
#include "weft/schedule.h"

enum event_kind { EVENT_READY, EVENT_DONE, EVENT_ARRIVED };
struct event {
    weft_time_ps time_ps;
    uint64_t order;      ///< among equal times
    uint32_t rank, step; ///< of EVENT_ARRIVED: the sender's
    uint32_t kind;
};

/// For a message in flight or unexpected, stored at its send. For any other step, how many edges it waits for.
struct state {
    uint32_t waits;
    uint32_t receive;     ///< + 1, at the other end; 0: none matched so far
    bool came;            ///< it has arrived at its receiver, and its receive may proceed
    weft_time_ps done_ps; ///< when the receiver's CPU has finished with it
};

struct run {
    const struct weft_schedule *s;
    const struct weft_loggops *m;
    struct state **state;                 ///< [ranks][steps]
    weft_time_ps *cpu, *sends, *receives; ///< [rank * streams + stream]: when it becomes free
    struct weft__match *match;            ///< [ranks]
    struct event *heap;
    size_t events, room;
    uint64_t order, done;
    uint64_t *message0; ///< [ranks]: steps before, to number messages
    bool too_late;
};

// --- events -------------------------------------------------------------------------------------------------------

/// A rank's actions at a time precede messages of that time: a receive posted then counts as posted for them.
static bool is_before(const struct event *a, const struct event *b) {
    if (a->time_ps != b->time_ps) return a->time_ps < b->time_ps;
    bool a_came = a->kind == EVENT_ARRIVED, b_came = b->kind == EVENT_ARRIVED;
    return a_came != b_came ? b_came : a->order < b->order;
}

static void push(struct run *x, struct event e) {
    if (x->events == x->room) {
        size_t room = x->room ? 2 * x->room : 1024;
        x->heap = weft_memory_resize(WEFT_MEMORY_SCENARIO, x->heap, x->room * sizeof *x->heap, room * sizeof *x->heap);
        x->room = room;
    }
    if (e.time_ps > WEFT_TIME_MAX) {
        e.time_ps = WEFT_TIME_MAX;
        x->too_late = true;
    }
    size_t at = x->events++;
    for (; at && is_before(&e, &x->heap[(at - 1) / 2]); at = (at - 1) / 2)
        x->heap[at] = x->heap[(at - 1) / 2];
    x->heap[at] = e;
}

static void push_new(struct run *x, enum event_kind kind, weft_time_ps time, uint32_t rank, uint32_t step) {
    push(x, (struct event){time, x->order++, rank, step, kind});
}

static struct event pop(struct run *x) {
    struct event first = x->heap[0], last = x->heap[--x->events];
    size_t at = 0;
    for (size_t down; (down = 2 * at + 1) < x->events; at = down) {
        if (down + 1 < x->events && is_before(&x->heap[down + 1], &x->heap[down])) down++;
        if (!is_before(&x->heap[down], &last)) break;
        x->heap[at] = x->heap[down];
    }
    if (x->events) x->heap[at] = last;
    return first;
}

// --- steps --------------------------------------------------------------------------------------------------------

static const struct weft_schedule_step *step_at(const struct run *x, uint32_t rank, uint32_t step) {
    return &x->s->rank[rank].step[step];
}
static weft_time_ps *cpu_of(const struct run *x, uint32_t rank, uint32_t cpu) {
    return &x->cpu[(size_t)rank * x->s->cpus + cpu];
}

/// The variable time of a message: all but its first byte. Never, if it exceeds simulated time.
static weft_time_ps of_bytes(uint64_t bytes, weft_time_ps byte_ps) {
    weft_time_ps time;
    if (!bytes || __builtin_mul_overflow(bytes - 1, byte_ps, &time)) return bytes ? WEFT_TIME_MAX : 0;
    return time < WEFT_TIME_MAX ? time : WEFT_TIME_MAX;
}

static weft_time_ps later(weft_time_ps a, weft_time_ps b) {
    return a > b ? a : b;
}

/// A step has started, or is done: releases the steps that wait for that.
static void release(struct run *x, uint32_t rank, uint32_t step, bool started, weft_time_ps now) {
    const struct weft_schedule_rank *r = &x->s->rank[rank];
    for (uint32_t e = r->step[step].edge0; e < r->step[step + 1].edge0; e++) {
        uint32_t to = r->edge[e] & ~WEFT_SCHEDULE_AFTER_START;
        if (!(r->edge[e] & WEFT_SCHEDULE_AFTER_START) == started) continue;
        if (!--x->state[rank][to].waits)
            push_new(x, EVENT_READY, later(now, *cpu_of(x, rank, r->step[to].cpu)), rank, to);
    }
}

static void finish_rendezvous(struct run *x, uint32_t rank, uint32_t step, weft_time_ps now) {
    const struct weft_schedule_step *s = step_at(x, rank, step);
    weft_time_ps *cpu = cpu_of(x, rank, s->cpu), *nic = &x->sends[(size_t)rank * x->s->nics + s->nic];
    *cpu = later(*cpu, now);
    *nic = later(*nic, now);
    push_new(x, EVENT_DONE, now, rank, step);
}

static void on_compute(struct run *x, struct event e, const struct weft_schedule_step *s) {
    weft_time_ps *cpu = cpu_of(x, e.rank, s->cpu);
    if (*cpu > e.time_ps) {
        e.time_ps = *cpu;
        push(x, e);
        return;
    }
    *cpu = e.time_ps + s->size;
    push_new(x, EVENT_DONE, *cpu, e.rank, e.step);
    release(x, e.rank, e.step, true, e.time_ps);
}

static void on_send(struct run *x, struct event e, const struct weft_schedule_step *s) {
    const struct weft_loggops *m = x->m;
    weft_time_ps *cpu = cpu_of(x, e.rank, s->cpu), *nic = &x->sends[(size_t)e.rank * x->s->nics + s->nic];
    weft_time_ps free = later(*cpu, *nic);
    if (free > e.time_ps) {
        e.time_ps = free;
        push(x, e);
        return;
    }
    *cpu = e.time_ps + m->overhead_ps + of_bytes(s->size, m->overhead_byte_ps);
    *nic = e.time_ps + m->gap_ps + of_bytes(s->size, m->gap_byte_ps);
    push_new(x, EVENT_ARRIVED, e.time_ps + m->overhead_ps + m->latency_ps, e.rank, e.step);
    if (s->size <= m->eager_bytes) push_new(x, EVENT_DONE, *cpu, e.rank, e.step);
    release(x, e.rank, e.step, true, e.time_ps);
}

/// A message's number is that of its send among all steps; it must fit: weft_loggops_run.
static uint32_t message_of(const struct run *x, uint32_t rank, uint32_t step) {
    return (uint32_t)(x->message0[rank] + step);
}
static uint32_t sender_of(const struct run *x, uint32_t message) {
    uint32_t low = 0, high = x->s->ranks;
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        *(x->message0[mid] <= message ? &low : &high) = mid;
    }
    return low;
}

static void on_receive(struct run *x, struct event e, const struct weft_schedule_step *s) {
    uint32_t message = weft__match_receive(&x->match[e.rank], s->peer, s->tag, e.step);
    release(x, e.rank, e.step, true, e.time_ps);
    if (message == WEFT_NONE) return;
    uint32_t src = sender_of(x, message), send = message - (uint32_t)x->message0[src];
    struct state *own = &x->state[src][send];
    own->receive = e.step + 1;
    if (!own->came) return; // it waits for the CPU
    push_new(x, EVENT_DONE, later(e.time_ps, own->done_ps), e.rank, e.step);
    if (step_at(x, src, send)->size > x->m->eager_bytes) finish_rendezvous(x, src, send, e.time_ps);
}

/// A message is matched when it arrives; then it waits until CPU and NIC are free, in the order of arrival.
static void on_arrived(struct run *x, struct event e) {
    const struct weft_schedule_step *s = step_at(x, e.rank, e.step);
    struct state *own = &x->state[e.rank][e.step];
    uint32_t dst = s->peer;
    if (!own->done_ps) {
        own->done_ps = WEFT_TIME_NEVER; // matched, or among those that wait
        uint32_t receive = weft__match_message(&x->match[dst], e.rank, s->tag, message_of(x, e.rank, e.step));
        if (receive != WEFT_NONE) own->receive = receive + 1;
    }
    const struct weft_schedule_step *streams = own->receive ? step_at(x, dst, own->receive - 1) : s;
    weft_time_ps *cpu = cpu_of(x, dst, streams->cpu), *nic = &x->receives[(size_t)dst * x->s->nics + streams->nic];
    weft_time_ps free = later(*cpu, *nic);
    if (free > e.time_ps) {
        e.time_ps = free;
        push(x, e);
        return;
    }
    weft_time_ps gap = of_bytes(s->size, x->m->gap_byte_ps), copy = of_bytes(s->size, x->m->overhead_byte_ps);
    *cpu = e.time_ps + x->m->overhead_ps + later(gap, copy);
    *nic = e.time_ps + x->m->gap_ps + gap;
    own->done_ps = *cpu;
    own->came = true;
    if (!own->receive) return;
    push_new(x, EVENT_DONE, *cpu, dst, own->receive - 1);
    if (s->size > x->m->eager_bytes) finish_rendezvous(x, e.rank, e.step, e.time_ps);
}

static void on_event(struct run *x, struct event e) {
    const struct weft_schedule_step *s = step_at(x, e.rank, e.step);
    if (e.kind == EVENT_ARRIVED) {
        on_arrived(x, e);
    } else if (e.kind == EVENT_DONE) {
        x->done++;
        release(x, e.rank, e.step, false, e.time_ps);
        x->state[e.rank][e.step].waits = WEFT_NONE; // done
    } else if (s->kind == WEFT_SCHEDULE_COMPUTE) {
        on_compute(x, e, s);
    } else if (s->kind == WEFT_SCHEDULE_SEND) {
        on_send(x, e, s);
    } else {
        on_receive(x, e, s);
    }
}

// --- a run --------------------------------------------------------------------------------------------------------

static void begin(struct run *x, struct weft_arena *scratch) {
    const struct weft_schedule *s = x->s;
    x->state = weft_arena_alloc(scratch, s->ranks, sizeof *x->state);
    x->cpu = weft_arena_alloc(scratch, (size_t)s->ranks * s->cpus, sizeof *x->cpu);
    x->sends = weft_arena_alloc(scratch, (size_t)s->ranks * s->nics, sizeof *x->sends);
    x->receives = weft_arena_alloc(scratch, (size_t)s->ranks * s->nics, sizeof *x->receives);
    x->match = weft_arena_alloc(scratch, s->ranks, sizeof *x->match);
    x->message0 = weft_arena_alloc(scratch, s->ranks, sizeof *x->message0);
    uint64_t steps = 0;
    for (uint32_t r = 0; r < s->ranks; r++) {
        x->message0[r] = steps;
        steps += s->rank[r].steps;
        x->state[r] = weft_arena_alloc(scratch, s->rank[r].steps, sizeof *x->state[r]);
        for (uint32_t i = 0; i < s->rank[r].steps; i++)
            if (!(x->state[r][i].waits = s->rank[r].step[i].waits)) push_new(x, EVENT_READY, 0, r, i);
    }
}

/// Reports the first unfinished step.
static enum weft_status say_stuck(const struct run *x, struct weft_error *ret_error) {
    for (uint32_t r = 0; r < x->s->ranks; r++)
        for (uint32_t i = 0; i < x->s->rank[r].steps; i++) {
            const struct state *own = &x->state[r][i];
            if (own->waits == WEFT_NONE || own->waits) continue; // it waits for another step of the rank
            char where[256], what[160];
            return weft_error_set(ret_error, WEFT_ERROR_STALL, WEFT_NOWHERE,
                                  "%s: rank %" PRIu32 ", %s: it waits for ever, as do %" PRIu64 " steps in all",
                                  weft_schedule_where(x->s, r, i, where, sizeof where), r,
                                  weft_schedule_what(x->s, r, i, what, sizeof what), x->s->steps - x->done);
        }
    return WEFT_OK;
}

static void collect(const struct run *x, struct weft_arena *arena, struct weft_loggops_result *ret) {
    *ret = (struct weft_loggops_result){.steps = x->done};
    ret->end_ps = weft_arena_alloc(arena, x->s->ranks, sizeof *ret->end_ps);
    for (uint32_t r = 0; r < x->s->ranks; r++) {
        for (uint32_t c = 0; c < x->s->cpus; c++)
            ret->end_ps[r] = later(ret->end_ps[r], *cpu_of(x, r, c));
        if (ret->end_ps[r] <= ret->most_ps) continue;
        ret->most_ps = ret->end_ps[r];
        ret->last = r;
    }
}

enum weft_status weft_loggops_run(const struct weft_schedule *s, const struct weft_loggops *model,
                                  struct weft_arena *arena, struct weft_loggops_result *ret,
                                  struct weft_error *ret_error) {
    if (s->steps >= WEFT_NONE)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = s->file},
                              "%" PRIu64 " steps; expected fewer than 2^32", s->steps);
    if (s->collectives)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = s->file},
                              "%" PRIu64 " steps are collectives, of which LogGOPS has none; expected sends, receives "
                              "and computes only",
                              s->collectives);
    struct weft_arena *scratch = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct run x = {.s = s, .m = model};
    enum weft_status status = WEFT_OK;
    begin(&x, scratch);
    while (x.events && !x.too_late)
        on_event(&x, pop(&x));
    if (x.too_late)
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = s->file},
                                "it takes longer than the 100 days that there are; expected less");
    else if (x.done < s->steps)
        status = say_stuck(&x, ret_error);
    else
        collect(&x, arena, ret);
    for (uint32_t r = 0; r < s->ranks; r++)
        weft__match_deinit(&x.match[r]);
    weft_memory_free(WEFT_MEMORY_SCENARIO, x.heap, x.room * sizeof *x.heap);
    weft_arena_free(scratch);
    return status;
}

// --- parameters ---------------------------------------------------------------------------------------------------

#define TIME_MAX_PS (1000 * WEFT_PS_PER_S)

/// Nanoseconds with up to three decimals, at most 1000 s; NULL: not understood.
static const char *take_time(const char *text, weft_time_ps *ret) {
    uint64_t value = 0, unit = 1000;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value <= TIME_MAX_PS; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    if (at == text || (*at >= '0' && *at <= '9')) return NULL;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9' && unit > 1; at++, unit /= 10)
            value = value * 10 + (uint64_t)(*at - '0');
    *ret = value * unit;
    return value <= TIME_MAX_PS / unit ? at : NULL;
}

enum weft_status weft_loggops_parse(const char *text, struct weft_place place, struct weft_loggops *ret,
                                    struct weft_error *ret_error) {
    weft_time_ps *const time[] = {&ret->latency_ps, &ret->overhead_ps, &ret->gap_ps, &ret->gap_byte_ps,
                                  &ret->overhead_byte_ps};
    const char *at = text;
    for (uint32_t k = 0; k < 5 && at; k++) {
        at = take_time(at, time[k]);
        if (at) at = *at == ',' ? at + 1 : NULL;
    }
    size_t digits = at ? strspn(at, "0123456789") : 0;
    if (digits && digits < 19 && !at[digits]) {
        ret->eager_bytes = strtoull(at, NULL, 10);
        return WEFT_OK;
    }
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                          "\"%s\" is not understood; expected L,o,g,G,O,S: five times in ns with at most three "
                          "decimals and at most 1000 s, and bytes, such as 2500,1500,1000,6,0,65535",
                          text);
}
