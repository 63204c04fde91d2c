// SPDX-License-Identifier: Apache-2.0
// Triggers of a workload: resolves numbers of a file to flows, and checks that every flow starts at some time.
#include "trigger.h"
#include "base/order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "weft/memory.h"

void weft__triggers_add(struct weft__trigger_builder *b, const struct weft__trigger_named *trigger) {
    b->trigger = weft__memory_grow(b->trigger, b->triggers, &b->triggers_room, sizeof *trigger);
    b->trigger[b->triggers++] = *trigger;
}

void weft__triggers_use(struct weft__trigger_builder *b, const struct weft__trigger_use *use) {
    b->use = weft__memory_grow(b->use, b->uses, &b->uses_room, sizeof *use);
    b->use[b->uses++] = *use;
}

void weft__triggers_free(struct weft__trigger_builder *b) {
    weft_memory_free(WEFT_MEMORY_SCENARIO, b->trigger, b->triggers_room * sizeof *b->trigger);
    weft_memory_free(WEFT_MEMORY_SCENARIO, b->use, b->uses_room * sizeof *b->use);
    *b = (struct weft__trigger_builder){0};
}

// --- from numbers to flows ----------------------------------------------------------------------------------------

WEFT__ORDER(by_id, struct weft__trigger_named, WEFT__UP(id) ?: WEFT__UP(place.line))

/// Uses of one trigger together, waiting ones first, by flow.
WEFT__ORDER(by_trigger, struct weft__trigger_use,
            WEFT__UP(id) ?: (y->role == WEFT__TRIGGER_WAITS) - (x->role == WEFT__TRIGGER_WAITS) ?: WEFT__UP(flow) ?: WEFT__UP(role))

#define FAIL(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

/// The number of activations that it may have.
static enum weft_status check_activations(const struct weft__trigger_named *t, uint32_t activations,
                                          struct weft_error *ret_error) {
    if (t->kind == WEFT_TRIGGER_ONCE && activations != 1)
        return FAIL(t->place, "trigger %" PRIu32 ", oneshot: %" PRIu32 " flows activate it; expected one", t->id,
                    activations);
    if (t->kind == WEFT_TRIGGER_ALL && activations != t->count)
        return FAIL(t->place,
                    "trigger %" PRIu32 ", barrier: %" PRIu32 " activations of %" PRIu32
                    " that it counts; expected as many",
                    t->id, activations, t->count);
    return WEFT_OK;
}

/// The host that starts a flow: its sender or, for READ, its receiver.
static uint32_t starting_host(const struct weft_workload *w, uint32_t flow) {
    return w->flow[flow].verb == WEFT_VERB_READ ? w->flow[flow].dst : w->flow[flow].src;
}

struct started {
    uint32_t host, flow;
};
WEFT__ORDER(by_host, struct started, WEFT__UP(host) ?: WEFT__UP(flow))

/// The flows that wait for a trigger: in the order of the file, or by host.
static void list_flows(struct weft_trigger *t, const struct weft__trigger_use *use, struct weft_workload *w) {
    struct started *list = weft_memory_new(WEFT_MEMORY_SCENARIO, t->flows, sizeof *list);
    for (uint32_t k = 0; k < t->flows; k++) {
        w->flow[use[k].flow].waits = true;
        list[k] = (struct started){starting_host(w, use[k].flow), use[k].flow};
    }
    if (t->flows && t->kind != WEFT_TRIGGER_NEXT) qsort(list, t->flows, sizeof *list, by_host);
    t->flow = weft_arena_alloc(w->arena, t->flows, sizeof *t->flow);
    for (uint32_t k = 0; k < t->flows; k++)
        t->flow[k] = list[k].flow;
    weft_memory_free(WEFT_MEMORY_SCENARIO, list, t->flows * sizeof *list);
}

static enum weft_status make_trigger(const struct weft__trigger_named *named, const struct weft__trigger_use *use,
                                     size_t uses, weft_time_ps delay, struct weft_workload *w,
                                     struct weft_error *ret_error) {
    uint32_t number = w->triggers++, waits = 0;
    struct weft_trigger *t = &w->trigger[number];
    while (waits < uses && use[waits].role == WEFT__TRIGGER_WAITS)
        waits++;
    *t = (struct weft_trigger){.kind = named->kind,
                               .count = named->kind == WEFT_TRIGGER_ALL ? named->count : 1,
                               .flows = waits,
                               .delay_ps = delay};
    list_flows(t, use, w);
    for (size_t k = waits; k < uses; k++)
        w->activation[w->activations++] =
            (struct weft_activation){use[k].flow, number, use[k].role == WEFT__TRIGGER_DELIVERED};
    return check_activations(named, (uint32_t)(uses - waits), ret_error);
}

/// Makes room for the builder's data, after what the workload has.
static void make_lists(const struct weft__trigger_builder *b, struct weft_workload *w) {
    struct weft_trigger *trigger = weft_arena_alloc(w->arena, w->triggers + b->triggers, sizeof *trigger);
    struct weft_activation *activation = weft_arena_alloc(w->arena, w->activations + b->uses, sizeof *activation);
    if (w->triggers) memcpy(trigger, w->trigger, w->triggers * sizeof *trigger);
    if (w->activations) memcpy(activation, w->activation, w->activations * sizeof *activation);
    w->trigger = trigger;
    w->activation = activation;
}

static enum weft_status resolve_triggers(struct weft__trigger_builder *b, weft_time_ps delay, struct weft_workload *w,
                                         struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    size_t from = 0;
    for (size_t i = 0; i < b->triggers && !status; i++) {
        const struct weft__trigger_named *t = &b->trigger[i];
        if (i && t->id == t[-1].id)
            return FAIL(t->place, "a second trigger %" PRIu32 "; expected each number once", t->id);
        if (from < b->uses && b->use[from].id < t->id) break;
        size_t to = from;
        while (to < b->uses && b->use[to].id == t->id)
            to++;
        status = make_trigger(t, b->use + from, to - from, delay, w, ret_error);
        from = to;
    }
    if (!status && from < b->uses)
        return FAIL(b->use[from].place, "there is no trigger %" PRIu32 "; expected a line 'trigger id %" PRIu32 "'",
                    b->use[from].id, b->use[from].id);
    return status;
}

// --- whether all flows start --------------------------------------------------------------------------------------

/// Whether flows end, and so on: in whatever order flows end, the same ones start.
struct ended {
    const struct weft_workload *w;
    uint32_t *first; ///< [flows + 1], in `by_flow`
    uint32_t *by_flow, *activations, *stack, stacked;
    bool *started;
};

static void start_flow(struct ended *e, uint32_t flow) {
    if (e->started[flow]) return;
    e->started[flow] = true;
    e->stack[e->stacked++] = flow;
}

static void activate_trigger(struct ended *e, uint32_t number) {
    const struct weft_trigger *t = &e->w->trigger[number];
    uint32_t n = ++e->activations[number];
    if (t->kind == WEFT_TRIGGER_NEXT && n <= t->flows) start_flow(e, t->flow[n - 1]);
    for (uint32_t k = 0; t->kind != WEFT_TRIGGER_NEXT && n == t->count && k < t->flows; k++)
        start_flow(e, t->flow[k]);
}

static void run_all(struct ended *e, struct weft_arena *scratch) {
    const struct weft_workload *w = e->w;
    e->first = weft_arena_alloc(scratch, w->flows + (size_t)2, sizeof *e->first);
    e->by_flow = weft_arena_alloc(scratch, w->activations, sizeof *e->by_flow);
    e->activations = weft_arena_alloc(scratch, w->triggers, sizeof *e->activations);
    e->stack = weft_arena_alloc(scratch, w->flows, sizeof *e->stack);
    e->started = weft_arena_alloc(scratch, w->flows, sizeof *e->started);
    for (uint32_t i = 0; i < w->activations; i++)
        e->first[w->activation[i].flow + 2]++;
    for (uint32_t f = 0; f < w->flows; f++)
        e->first[f + 2] += e->first[f + 1];
    for (uint32_t i = 0; i < w->activations; i++)
        e->by_flow[e->first[w->activation[i].flow + 1]++] = w->activation[i].trigger;
    for (uint32_t f = 0; f < w->flows; f++)
        if (!w->flow[f].waits) start_flow(e, f);
    while (e->stacked) {
        uint32_t f = e->stack[--e->stacked];
        for (uint32_t i = e->first[f]; i < e->first[f + 1]; i++)
            activate_trigger(e, e->by_flow[i]);
    }
}

static enum weft_status check_starts(const struct weft__trigger_builder *b, const struct weft_workload *w,
                                     struct weft_error *ret_error) {
    struct weft_arena *scratch = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct ended e = {.w = w};
    enum weft_status status = WEFT_OK;
    run_all(&e, scratch);
    for (size_t i = 0; i < b->uses && !status; i++) {
        const struct weft__trigger_use *use = &b->use[i];
        if (use->role != WEFT__TRIGGER_WAITS || e.started[use->flow]) continue;
        status = FAIL(use->place,
                      "the flow waits for ever: too few flows activate trigger %" PRIu32
                      ", or they wait for this one themselves",
                      use->id);
    }
    weft_arena_free(scratch);
    return status;
}

static enum weft_status check_hosts(const struct weft__trigger_builder *b, const struct weft_workload *w,
                                    struct weft_error *ret_error) {
    if (!w->topology || w->topology->hosts <= WEFT_TRIGGER_HOSTS_MAX) return WEFT_OK;
    return FAIL(b->trigger[0].place, "triggers, and %" PRIu32 " hosts; expected at most %u", w->topology->hosts,
                WEFT_TRIGGER_HOSTS_MAX);
}

enum weft_status weft__triggers_finish(struct weft__trigger_builder *b, weft_time_ps delay, struct weft_workload *w,
                                       struct weft_error *ret_error) {
    if (b->triggers) qsort(b->trigger, b->triggers, sizeof *b->trigger, by_id);
    if (b->uses) qsort(b->use, b->uses, sizeof *b->use, by_trigger);
    make_lists(b, w);
    enum weft_status status = resolve_triggers(b, delay, w, ret_error);
    if (!status && b->triggers) status = check_hosts(b, w, ret_error);
    return status || !b->uses ? status : check_starts(b, w, ret_error);
}
