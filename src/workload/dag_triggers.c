// SPDX-License-Identifier: Apache-2.0
#include "dag_triggers.h"

static uint32_t host_of_event(const struct weft_workload *w, const struct weft_activation *a) {
    return a->delivered ? w->flow[a->flow].dst : w->flow[a->flow].src;
}

/// Whether its activations are counted one by one, in the order of arrival.
static bool is_in_order(const struct weft_trigger *t) {
    return t->kind == WEFT_TRIGGER_NEXT && t->flows > 1;
}

/// A host where no activation of the trigger happens: a schedule receives messages in the order of arrival, and an
/// activation at the host itself is no message. WEFT_NONE: there is no such host.
static uint32_t find_apart(const struct weft_workload *w, uint32_t trigger, struct weft_arena *arena) {
    bool *happens = weft_arena_alloc(arena, w->topology->hosts, sizeof *happens);
    uint32_t first = w->flow[w->trigger[trigger].flow[0]].src, host = 0;
    for (uint32_t a = 0; a < w->activations; a++)
        if (w->activation[a].trigger == trigger) happens[host_of_event(w, &w->activation[a])] = true;
    if (!happens[first]) return first;
    while (host < w->topology->hosts && happens[host])
        host++;
    return host < w->topology->hosts ? host : WEFT_NONE;
}

static enum weft_status choose_counters(struct weft__notes *n, const char *name, struct weft_arena *arena,
                                        struct weft_error *ret_error) {
    const struct weft_workload *w = n->w;
    n->counter = weft_arena_alloc(arena, w->triggers, sizeof *n->counter);
    for (uint32_t t = 0; t < w->triggers; t++) {
        bool in_order = is_in_order(&w->trigger[t]);
        n->counter[t] = in_order ? find_apart(w, t, arena) : w->flow[w->trigger[t].flow[0]].src;
        if (n->counter[t] == WEFT_NONE)
            return weft_error_set(
                ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = name},
                "a multishot trigger is activated at every host, so none is left to count by the order "
                "of messages, as a schedule has to; expected a host without");
    }
    return WEFT_OK;
}

/// Numbers 0 .. n by key[i], which is below `keys`.
static struct weft__lists list_by(const uint32_t *key, uint32_t n, uint32_t keys, struct weft_arena *arena) {
    struct weft__lists l = {.first = weft_arena_alloc(arena, keys + (size_t)2, sizeof *l.first),
                            .of = weft_arena_alloc(arena, n, sizeof *l.of)};
    for (uint32_t i = 0; i < n; i++)
        l.first[key[i] + 2]++;
    for (uint32_t k = 0; k < keys; k++)
        l.first[k + 2] += l.first[k + 1];
    for (uint32_t i = 0; i < n; i++)
        l.of[l.first[key[i] + 1]++] = i;
    return l;
}

/// Flows of a trigger are by host.
static void list_starters(struct weft__notes *n, struct weft_arena *arena) {
    const struct weft_workload *w = n->w;
    uint32_t flows = 0, starter = 0;
    for (uint32_t t = 0; t < w->triggers; t++)
        flows += w->trigger[t].flows;
    n->starter = weft_arena_alloc(arena, flows, sizeof *n->starter);
    n->starter0 = weft_arena_alloc(arena, w->triggers + (size_t)1, sizeof *n->starter0);
    for (uint32_t t = 0; t < w->triggers; t++) {
        const struct weft_trigger *trigger = &w->trigger[t];
        for (uint32_t i = 0; i < trigger->flows;) {
            uint32_t first = i, host = w->flow[trigger->flow[i]].src;
            do
                i++;
            while (i < trigger->flows && w->flow[trigger->flow[i]].src == host && !is_in_order(trigger));
            n->starter[starter++] = (struct weft__trigger_starter){t, first, i};
        }
        n->starter0[t + 1] = starter;
    }
}

enum weft_status weft__notes_make(const struct weft_workload *w, const char *name, struct weft_arena *arena,
                                  struct weft__notes *ret, struct weft_error *ret_error) {
    *ret = (struct weft__notes){.w = w};
    WEFT_TRY(choose_counters(ret, name, arena, ret_error));
    list_starters(ret, arena);
    uint32_t hosts = w->topology->hosts, starter = ret->starter0[w->triggers],
             most = w->activations > starter ? w->activations : starter;
    most = most > w->triggers ? most : w->triggers;
    uint32_t *key = weft_arena_alloc(arena, most, sizeof *key);
    for (uint32_t a = 0; a < w->activations; a++)
        key[a] = w->activation[a].trigger;
    ret->activated = list_by(key, w->activations, w->triggers, arena);
    for (uint32_t a = 0; a < w->activations; a++)
        key[a] = host_of_event(w, &w->activation[a]);
    ret->happens = list_by(key, w->activations, hosts, arena);
    for (uint32_t t = 0; t < w->triggers; t++)
        key[t] = ret->counter[t];
    ret->counts = list_by(key, w->triggers, hosts, arena);
    for (uint32_t i = 0; i < starter; i++)
        key[i] = w->flow[w->trigger[ret->starter[i].trigger].flow[ret->starter[i].first]].src;
    ret->waits = list_by(key, starter, hosts, arena);
    ret->sent = weft_arena_alloc(arena, w->flows, sizeof *ret->sent);
    ret->received = weft_arena_alloc(arena, w->flows, sizeof *ret->received);
    ret->tags = w->activations + starter;
    return WEFT_OK;
}

/// Finds the steps of the host that belong to flows.
static void find_flows(struct weft__notes *n, const struct weft__emitter *e) {
    const struct weft_dag *dag = e->dag;
    uint32_t connection0 = dag->connection0[n->w->jobs];
    for (uint32_t i = 0; i < e->builder.steps; i++) {
        const struct weft_schedule_step *s = &e->builder.step[i];
        bool sends = s->kind == WEFT_SCHEDULE_SEND;
        if ((!sends && s->kind != WEFT_SCHEDULE_RECV) || s->tag < e->tag0 + connection0) continue;
        uint32_t flow = dag->flow[s->tag - e->tag0 - connection0];
        *(sends ? &n->sent[flow] : &n->received[flow]) = i;
    }
}

static void add_edge(struct weft__emitter *e, uint32_t from, uint32_t to) {
    e->full |= !weft_schedule_add_edge(&e->builder, from, to, false);
}

static uint32_t add_note(struct weft__emitter *e, bool sends, uint32_t peer, uint32_t tag, uint8_t cpu) {
    struct weft__front front = {0};
    return weft__emit(
        e, &front,
        &(struct weft_schedule_step){
            .kind = sends ? WEFT_SCHEDULE_SEND : WEFT_SCHEDULE_RECV, .size = 1, .peer = peer, .tag = tag, .cpu = cpu});
}

static uint32_t event_step(const struct weft__notes *n, const struct weft_activation *a) {
    return a->delivered ? n->received[a->flow] : n->sent[a->flow];
}

/// What `step` starts at the host.
static void start_told(struct weft__notes *n, struct weft__emitter *e, const struct weft__trigger_starter *starter,
                       uint32_t step) {
    for (uint32_t i = starter->first; i < starter->end; i++)
        add_edge(e, step, n->sent[n->w->trigger[starter->trigger].flow[i]]);
}

/// For activations that count in order, all messages have the tag of the first.
static uint32_t tag_of(const struct weft__notes *n, uint32_t activation) {
    uint32_t trigger = n->w->activation[activation].trigger;
    return n->tag0 + (is_in_order(&n->w->trigger[trigger]) ? n->activated.of[n->activated.first[trigger]] : activation);
}

/// A counted activation starts what waits: at the host itself, or by a message.
static void tell_waiter(struct weft__notes *n, struct weft__emitter *e, uint32_t starter, uint32_t host, uint32_t step,
                        uint8_t cpu) {
    const struct weft_workload *w = n->w;
    uint32_t to = w->flow[w->trigger[n->starter[starter].trigger].flow[n->starter[starter].first]].src;
    if (to == host)
        start_told(n, e, &n->starter[starter], step);
    else
        add_edge(e, step, add_note(e, true, to, n->tag0 + w->activations + starter, cpu));
}

/// The host takes activations as they arrive, one after another, and each starts the next flow.
static void emit_in_order(struct weft__notes *n, struct weft__emitter *e, uint32_t trigger, uint32_t host,
                          uint8_t cpu) {
    uint32_t first = n->activated.first[trigger], activations = n->activated.first[trigger + 1] - first;
    uint32_t starter0 = n->starter0[trigger], before = 0;
    for (uint32_t k = 0; k < activations && !e->full; k++) {
        uint32_t taken = add_note(e, false, WEFT_SCHEDULE_ANY, tag_of(n, n->activated.of[first]), cpu);
        if (k) add_edge(e, before, taken);
        before = taken;
        if (starter0 + k < n->starter0[trigger + 1]) tell_waiter(n, e, starter0 + k, host, taken, cpu);
    }
}

/// The host counts activations, and tells the hosts that wait.
static void emit_count(struct weft__notes *n, struct weft__emitter *e, uint32_t trigger, uint32_t host, uint8_t cpu) {
    const struct weft_workload *w = n->w;
    struct weft__front none = {0};
    uint32_t all = weft__emit(e, &none, &(struct weft_schedule_step){.kind = WEFT_SCHEDULE_COMPUTE, .cpu = cpu});
    for (uint32_t i = n->activated.first[trigger]; i < n->activated.first[trigger + 1]; i++) {
        uint32_t a = n->activated.of[i], from = host_of_event(w, &w->activation[a]);
        add_edge(e, from == host ? event_step(n, &w->activation[a]) : add_note(e, false, from, n->tag0 + a, cpu), all);
    }
    for (uint32_t i = n->starter0[trigger]; i < n->starter0[trigger + 1]; i++)
        tell_waiter(n, e, i, host, all, cpu);
}

void weft__notes_emit(struct weft__notes *n, struct weft__emitter *e, uint32_t host, uint8_t cpu) {
    const struct weft_workload *w = n->w;
    find_flows(n, e);
    for (uint32_t i = n->happens.first[host]; i < n->happens.first[host + 1] && !e->full; i++) {
        uint32_t a = n->happens.of[i], to = n->counter[w->activation[a].trigger];
        if (to != host) add_edge(e, event_step(n, &w->activation[a]), add_note(e, true, to, tag_of(n, a), cpu));
    }
    for (uint32_t i = n->counts.first[host]; i < n->counts.first[host + 1] && !e->full; i++) {
        uint32_t trigger = n->counts.of[i];
        if (is_in_order(&w->trigger[trigger]))
            emit_in_order(n, e, trigger, host, cpu);
        else
            emit_count(n, e, trigger, host, cpu);
    }
    for (uint32_t i = n->waits.first[host]; i < n->waits.first[host + 1] && !e->full; i++) {
        uint32_t starter = n->waits.of[i], from = n->counter[n->starter[starter].trigger];
        if (from != host)
            start_told(n, e, &n->starter[starter], add_note(e, false, from, n->tag0 + w->activations + starter, cpu));
    }
}
