// SPDX-License-Identifier: Apache-2.0
// A program of general form under the LogGOPS model, without a network: a message takes L; a send occupies a CPU stream
// for o + (s - 1) O, and an arriving message for o + (s - 1) max(O, G); each occupies a NIC, in its direction, for g +
// (s - 1) G. A message of more than S bytes makes its sender wait until it is matched. Source: Hoefler, Schneider,
// Lumsdaine, "LogGOPSim - Simulating Large-Scale Applications in the LogGOPS Model", HPDC 2010 and, where the paper
// leaves it open, the simulator LogGOPSim (SPCL): a message of exactly S bytes is eager; an arrived message occupies
// the CPU at once, posted or not; the sender of a rendezvous is free, CPU and NIC, at the time of the match, without a
// latency.
//
// The order of equal times decides much, and it is LogGOPSim's: of events at one time the one queued first runs first,
// and an event that has to wait keeps its place. Steps that one event releases are queued by rank, then sends before
// receives before computes, then in the order in which their last requirement was given. A step releases those that
// require its end when it begins (a receive: when it is matched), so they are queued by its begin and run at its end.
//
// Differences: a step starts when its requirements are complete, even if they ran on another CPU stream (in LogGOPSim
// it starts when its own stream is free, which can be earlier); the match of a rendezvous frees the streams of its send
// (there, if the receive came later than the message: streams of the sender with the numbers of the receive); a message
// of 0 bytes takes o and g (there: one byte's O and G less, modulo 2^64). More than 16 steps of a rank that one event
// releases are queued in order, too (there by std::sort, which leaves equal ones in any order). No noise.
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/match.h"
#include "base/order.h"
#include "weft/schedule.h"

enum event_kind { EVENT_READY, EVENT_ARRIVED };
struct event {
    weft_time_ps time_ps;
    uint64_t order;      ///< among equal times
    uint32_t rank, step; ///< of EVENT_ARRIVED: the sender's
    uint32_t kind;
};

/// Of a step.
struct state {
    uint32_t waits;       ///< requirements not met so far; WEFT_NONE: the step is done
    weft_time_ps time_ps; ///< until it is ready, the end of its last requirement; of a send whose message waits for a
                          ///< receive, when the receiver's CPU has finished with the message
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
    uint64_t *message0;     ///< [ranks]: steps before, to number messages
    struct event *released; ///< ready by the event under way, and not queued yet
    size_t releases, releases_room;
    bool too_late;
};

// --- events -------------------------------------------------------------------------------------------------------

static bool is_before(const struct event *a, const struct event *b) {
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->order < b->order;
}

/// Room for one more.
static struct event *grow_events(struct event *list, size_t n, size_t *room) {
    if (n < *room) return list;
    size_t before = *room;
    *room = before ? 2 * before : 1024;
    return weft_memory_resize(WEFT_MEMORY_SCENARIO, list, before * sizeof *list, *room * sizeof *list);
}

static void push_event(struct run *x, struct event e) {
    x->heap = grow_events(x->heap, x->events, &x->room);
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
    push_event(x, (struct event){time, x->order++, rank, step, kind});
}

/// Queues the event again, for `time`, if that is later. It keeps its place among equal times.
static bool waits_until(struct run *x, struct event e, weft_time_ps time) {
    if (time <= e.time_ps) return false;
    e.time_ps = time;
    push_event(x, e);
    return true;
}

static struct event pop_event(struct run *x) {
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
    assert(rank < x->s->ranks && step < x->s->rank[rank].steps);
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

/// A step of the rank whose requirements are met.
static void add_released(struct run *x, uint32_t rank, uint32_t step) {
    x->released = grow_events(x->released, x->releases, &x->releases_room);
    x->released[x->releases++] = (struct event){.rank = rank, .step = step};
}

/// A step has started, or ends at `time`: releases the steps for which this is the last requirement.
static void release_waiting(struct run *x, uint32_t rank, uint32_t step, bool started, weft_time_ps time) {
    const struct weft_schedule_rank *r = &x->s->rank[rank];
    for (uint32_t e = r->step[step].edge0; e < r->step[step + 1].edge0; e++) {
        uint32_t to = r->edge[e] & ~WEFT_SCHEDULE_AFTER_START;
        if (!(r->edge[e] & WEFT_SCHEDULE_AFTER_START) == started) continue;
        struct state *own = &x->state[rank][to];
        own->time_ps = weft__greater(own->time_ps, time);
        if (!--own->waits) add_released(x, rank, to);
    }
}

static void finish_step(struct run *x, uint32_t rank, uint32_t step, weft_time_ps end) {
    x->done++;
    release_waiting(x, rank, step, false, end);
    x->state[rank][step].waits = WEFT_NONE; // done
}

/// Queues the released steps of a rank: sends, receives, computes.
static void queue_released(struct run *x, uint32_t rank) {
    for (unsigned kind = WEFT_SCHEDULE_SEND; kind <= WEFT_SCHEDULE_COMPUTE; kind++)
        for (size_t i = 0; i < x->releases; i++) {
            uint32_t step = x->released[i].step;
            if (x->released[i].rank != rank || step_at(x, rank, step)->kind != kind) continue;
            weft_time_ps ready = x->state[rank][step].time_ps, cpu = *cpu_of(x, rank, step_at(x, rank, step)->cpu);
            push_new(x, EVENT_READY, weft__greater(ready, cpu), rank, step);
        }
}

/// A rendezvous: its receive has been matched.
static void finish_send(struct run *x, uint32_t rank, uint32_t step, weft_time_ps now) {
    const struct weft_schedule_step *s = step_at(x, rank, step);
    if (s->size <= x->m->eager_bytes) return;
    weft_time_ps *cpu = cpu_of(x, rank, s->cpu), *nic = &x->sends[(size_t)rank * x->s->nics + s->nic];
    *cpu = weft__greater(*cpu, now);
    *nic = weft__greater(*nic, now);
    finish_step(x, rank, step, now);
}

static void on_compute(struct run *x, struct event e, const struct weft_schedule_step *s) {
    weft_time_ps *cpu = cpu_of(x, e.rank, s->cpu);
    if (waits_until(x, e, *cpu)) return;
    *cpu = e.time_ps + s->size;
    release_waiting(x, e.rank, e.step, true, e.time_ps);
    finish_step(x, e.rank, e.step, *cpu);
}

static void on_send(struct run *x, struct event e, const struct weft_schedule_step *s) {
    const struct weft_loggops *m = x->m;
    weft_time_ps *cpu = cpu_of(x, e.rank, s->cpu), *nic = &x->sends[(size_t)e.rank * x->s->nics + s->nic];
    if (waits_until(x, e, weft__greater(*cpu, *nic))) return;
    *cpu = e.time_ps + m->overhead_ps + of_bytes(s->size, m->overhead_byte_ps);
    *nic = e.time_ps + m->gap_ps + of_bytes(s->size, m->gap_byte_ps);
    push_new(x, EVENT_ARRIVED, e.time_ps + m->overhead_ps + m->latency_ps, e.rank, e.step);
    release_waiting(x, e.rank, e.step, true, e.time_ps);
    if (s->size <= m->eager_bytes) finish_step(x, e.rank, e.step, *cpu);
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

/// The other rank that the event may have released steps of.
static uint32_t on_receive(struct run *x, struct event e, const struct weft_schedule_step *s) {
    uint32_t message = weft__match_receive(&x->match[e.rank], s->peer, s->tag, e.step);
    release_waiting(x, e.rank, e.step, true, e.time_ps);
    if (message == WEFT_NONE) return e.rank;
    uint32_t src = sender_of(x, message), send = message - (uint32_t)x->message0[src];
    finish_send(x, src, send, e.time_ps);
    finish_step(x, e.rank, e.step, weft__greater(e.time_ps, x->state[src][send].time_ps));
    return src;
}

/// A message waits until CPU and NIC are free, those with the numbers of its send; then it is matched. The other rank
/// as above.
static uint32_t on_arrived(struct run *x, struct event e, const struct weft_schedule_step *s) {
    uint32_t dst = s->peer;
    weft_time_ps *cpu = cpu_of(x, dst, s->cpu), *nic = &x->receives[(size_t)dst * x->s->nics + s->nic];
    if (waits_until(x, e, weft__greater(*cpu, *nic))) return dst;
    weft_time_ps gap = of_bytes(s->size, x->m->gap_byte_ps), copy = of_bytes(s->size, x->m->overhead_byte_ps);
    *cpu = e.time_ps + x->m->overhead_ps + weft__greater(gap, copy);
    *nic = e.time_ps + x->m->gap_ps + gap;
    weft_time_ps received = x->state[e.rank][e.step].time_ps = *cpu;
    uint32_t receive = weft__match_message(&x->match[dst], e.rank, s->tag, message_of(x, e.rank, e.step));
    if (receive == WEFT_NONE) return dst;
    finish_send(x, e.rank, e.step, e.time_ps);
    finish_step(x, dst, receive, received);
    return dst;
}

static void on_event(struct run *x, struct event e) {
    const struct weft_schedule_step *s = step_at(x, e.rank, e.step);
    uint32_t other = e.rank;
    x->releases = 0;
    if (e.kind == EVENT_ARRIVED)
        other = on_arrived(x, e, s);
    else if (s->kind == WEFT_SCHEDULE_COMPUTE)
        on_compute(x, e, s);
    else if (s->kind == WEFT_SCHEDULE_SEND)
        on_send(x, e, s);
    else
        other = on_receive(x, e, s);
    queue_released(x, e.rank < other ? e.rank : other);
    if (other != e.rank) queue_released(x, e.rank < other ? other : e.rank);
}

// --- a run --------------------------------------------------------------------------------------------------------

static void begin_run(struct run *x, struct weft_arena *scratch) {
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
        x->releases = 0;
        for (uint32_t i = 0; i < s->rank[r].steps; i++)
            if (!(x->state[r][i].waits = s->rank[r].step[i].waits)) add_released(x, r, i);
        queue_released(x, r);
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

static void collect_result(const struct run *x, struct weft_arena *arena, struct weft_loggops_result *ret) {
    *ret = (struct weft_loggops_result){.steps = x->done};
    ret->end_ps = weft_arena_alloc(arena, x->s->ranks, sizeof *ret->end_ps);
    for (uint32_t r = 0; r < x->s->ranks; r++) {
        for (uint32_t c = 0; c < x->s->cpus; c++)
            ret->end_ps[r] = weft__greater(ret->end_ps[r], *cpu_of(x, r, c));
        if (ret->end_ps[r] <= ret->most_ps) continue;
        ret->most_ps = ret->end_ps[r];
        ret->last = r;
    }
}

enum weft_status weft_loggops_run(const struct weft_schedule *s, const struct weft_loggops *model,
                                  struct weft_arena *arena, struct weft_loggops_result *ret,
                                  struct weft_error *ret_error) {
    if (s->steps >= WEFT_NONE)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = s->file},
                           "%" PRIu64 " steps; expected fewer than 2^32", s->steps);
    if (s->collectives)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = s->file},
                           "%" PRIu64 " steps are collectives, of which LogGOPS has none; expected sends, receives "
                           "and computes only",
                           s->collectives);
    struct weft_arena *scratch = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct run x = {.s = s, .m = model};
    enum weft_status status = WEFT_OK;
    begin_run(&x, scratch);
    while (x.events && !x.too_late)
        on_event(&x, pop_event(&x));
    collect_result(&x, arena, ret);
    if (x.too_late || ret->most_ps > WEFT_TIME_MAX)
        status = WEFT_REFUSE(ret_error, (struct weft_place){.file = s->file},
                             "it takes longer than the 100 days that there are; expected less");
    else if (x.done < s->steps)
        status = say_stuck(&x, ret_error);
    for (uint32_t r = 0; r < s->ranks; r++)
        weft__match_deinit(&x.match[r]);
    weft_memory_free(WEFT_MEMORY_SCENARIO, x.heap, x.room * sizeof *x.heap);
    weft_memory_free(WEFT_MEMORY_SCENARIO, x.released, x.releases_room * sizeof *x.released);
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
    return WEFT_REFUSE(ret_error, place,
                       "\"%s\" is not understood; expected L,o,g,G,O,S: five times in ns with at most three "
                       "decimals and at most 1000 s, and bytes, such as 2500,1500,1000,6,0,65535",
                       text);
}
