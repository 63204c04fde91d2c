// SPDX-License-Identifier: Apache-2.0
// Results of a recorded run: the events inside the network.
#include "events.h"
#include "results/rows.h"
#include "weft/timeline.h"

static const struct weft_flow *flow_of(const struct weft_run *run, const struct weft_event *e) {
    return e->flow == WEFT_NONE ? NULL : &run->workload->flow[e->flow];
}

/// No value if it equals `none`.
static struct weft_result_value value_unless(uint64_t value, uint64_t none) {
    return (struct weft_result_value){.known = value != none, .whole = value};
}

// --- connections --------------------------------------------------------------------------------------------------

/// Flows of remote memory access are not in the results, but events name them.
struct connections {
    bool *named; ///< [flows]
    const char *group, *src, *dst;
};

static bool *find_named(const struct weft_run *run, struct weft_arena *arena) {
    bool *named = weft_arena_alloc(arena, run->workload->flows, sizeof *named);
    for (uint32_t i = 0; i < run->outcome->recorded; i++) {
        const struct weft_flow *flow = flow_of(run, &run->outcome->record[i]);
        if (flow && flow->rma) named[flow - run->workload->flow] = true;
    }
    return named;
}

static bool next_connection(struct weft_result_cursor *c) {
    const struct weft_workload *w = c->run->workload;
    const struct weft_topology *t = c->run->topology;
    struct connections *row = c->state;
    if (!row) {
        row = c->state = weft_arena_alloc(c->arena, 1, sizeof *row);
        row->named = find_named(c->run, c->arena);
    }
    while (c->at < w->flows && !row->named[c->at])
        c->at++;
    if (c->at == w->flows) return false;
    const struct weft_flow *flow = &w->flow[c->at++];
    row->group = w->group[flow->group];
    row->src = t->node[t->host[flow->src]].name;
    row->dst = t->node[t->host[flow->dst]].name;
    c->part[0] = row;
    return true;
}

WEFT_RESULT_PRESENT(has_connections, run->workload->rma_flows && run->outcome->recorded)

#define CONNECTION(field, key, ...) WEFT_RESULT_NAMED(struct connections, field, key, TEXT, __VA_ARGS__)
const struct weft_result_table weft__results_connections =
    WEFT_RESULT_TABLE_OF("connections", APART, "a connection of remote memory access that an event names",
                         WEFT_RESULT_AND(.next = next_connection, .present = has_connections),
                         WEFT_RESULT_CALL(weft_result_index, "connection", COUNT,
                                          "number of the connection, among flows", .flags = WEFT_RESULT_KEY),
                         CONNECTION(group, "group", "name of the group of remote memory access", .references = "rma"),
                         CONNECTION(src, "src_name", "name of the host that sends"),
                         CONNECTION(dst, "dst_name", "name of the host that receives"));

// --- events -------------------------------------------------------------------------------------------------------

WEFT_RESULT_ROWS(next_event, c->run->outcome->recorded, c->run->outcome->record)
WEFT_RESULT_VALUE(event_id, WEFT__RESULT_WHOLE(c->at))
WEFT_RESULT_VALUE(event_kind, WEFT__RESULT_TEXT(weft_event_infos[((const struct weft_event *)c->part[0])->kind].name))
static struct weft_result_value event_flow(struct weft_result_cursor *c) {
    const struct weft_event *e = c->part[0];
    const struct weft_flow *flow = flow_of(c->run, e);
    return value_unless(flow && !flow->rma ? e->flow : WEFT_NONE, WEFT_NONE);
}
static struct weft_result_value event_connection(struct weft_result_cursor *c) {
    const struct weft_event *e = c->part[0];
    const struct weft_flow *flow = flow_of(c->run, e);
    return value_unless(flow && flow->rma ? e->flow : WEFT_NONE, WEFT_NONE);
}
static struct weft_result_value event_more(struct weft_result_cursor *c) {
    const struct weft_event *e = c->part[0];
    if (!*weft_event_infos[e->kind].more) return (struct weft_result_value){0};
    return value_unless(e->more, e->kind == WEFT_EVENT_XOFF ? WEFT_NONE : UINT64_MAX);
}
/// The eight characters of a class-enable vector are kept until the next row.
static struct weft_result_value event_detail(struct weft_result_cursor *c) {
    enum { DETAIL = 8 };
    if (!c->state) c->state = weft_arena_alloc(c->arena, DETAIL, 1);
    return WEFT__RESULT_TEXT(weft__event_detail_text(c->part[0], c->state, DETAIL));
}
WEFT_RESULT_VALUE(event_cause, value_unless(((const struct weft_event *)c->part[0])->cause, 0))
WEFT_RESULT_VALUE(event_begins, value_unless(((const struct weft_event *)c->part[0])->begins, 0))

#define EVENT(field, kind, ...) WEFT_RESULT(struct weft_event, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_events = WEFT_RESULT_TABLE_OF(
    "events", APART, "something that happened inside the network, with --out", .next = next_event,
    WEFT_RESULT_CALL(event_id, "event", COUNT, "number of the event, from 1, in order of time",
                     .flags = WEFT_RESULT_KEY),
    EVENT(time_ps, TIME, "when the event happened"),
    WEFT_RESULT_CALL(event_kind, "kind", TEXT, "what happened, as in event_meaning", .references = "event_meaning"),
    EVENT(port, COUNT, "port where the event happened", .references = "ports"),
    EVENT(priority, COUNT, "priority that the event is about"),
    WEFT_RESULT_CALL(event_flow, "flow", COUNT, "flow that the event is about", .references = "flows"),
    WEFT_RESULT_CALL(event_connection, "connection", COUNT,
                     "connection of remote memory access that the event is about", .references = "connections"),
    EVENT(qp, COUNT, "queue pair that the event is about"),
    EVENT(value, COUNT, "a number that event_meaning says the meaning of, by kind"),
    WEFT_RESULT_CALL(event_more, "more", COUNT, "another number that event_meaning says the meaning of, by kind"),
    WEFT_RESULT_CALL(event_detail, "detail", TEXT,
                     "threshold, packet kind, class-enable vector, what resumed, or drop reason, by kind"),
    WEFT_RESULT_CALL(event_cause, "cause", COUNT, "event that led to this one", .references = "events"),
    WEFT_RESULT_CALL(event_begins, "begins", COUNT, "event that this one ends or repeats", .references = "events"));

WEFT_RESULT_PRESENT(is_recorded, run->outcome->recorded > 0)
WEFT_RESULT_ROWS(next_meaning, WEFT_EVENT_KINDS, weft_event_infos)

#define MEANING(field, key, ...) WEFT_RESULT_NAMED(struct weft_event_info, field, key, TEXT, __VA_ARGS__)
const struct weft_result_table weft__results_event_meaning = WEFT_RESULT_TABLE_OF(
    "event_meaning", APART, "a kind of event", WEFT_RESULT_AND(.next = next_meaning, .present = is_recorded),
    MEANING(name, "kind", "what happened", .flags = WEFT_RESULT_KEY),
    MEANING(value, "value", "what `value` is of an event of this kind"),
    MEANING(more, "more", "what `more` is of an event of this kind"),
    MEANING(help, "meaning", "what an event of this kind says"));
