// SPDX-License-Identifier: Apache-2.0
// The answer of weft timeline as rows: its story, every event, and why a port was paused or was not.
#include "base/stream.h"
#include "timeline.h"

static const struct timeline_view *view_of(const struct weft_result_cursor *c) {
    return c->subject;
}

static struct weft_result_value port_name(const struct weft_result_cursor *c, uint32_t port) {
    const char *name = port == WEFT_NONE ? NULL : view_of(c)->t.port[port].name;
    return (struct weft_result_value){.known = name, .text = name};
}

// --- the story ----------------------------------------------------------------------------------------------------

/// Parents first.
static bool next_story(struct weft_result_cursor *c) {
    const struct weft_story *s = c->state ? c->state : view_of(c)->root, *next = s ? s->child : NULL;
    for (; s && !next; s = s->parent)
        next = s->next;
    c->state = (void *)(uintptr_t)next;
    c->part[0] = next;
    return next;
}

WEFT_RESULT_VALUE_OF(story_parent, struct weft_story, s, weft_result_whole(s->parent->first, s->parent->first))
WEFT_RESULT_VALUE(story_port, port_name(c, ((const struct weft_story *)c->part[0])->port))
WEFT_RESULT_VALUE(story_paused, port_name(c, ((const struct weft_story *)c->part[0])->paused))
/// A figure that only some kinds of story have.
#define OF(kind) (1u << WEFT_STORY_##kind)
#define FIGURE(name, kinds, field)                                                                                     \
    static struct weft_result_value name(struct weft_result_cursor *c) {                                               \
        const struct weft_story *s = c->part[0];                                                                       \
        return weft_result_whole((kinds) >> s->kind & 1, s->field);                                                    \
    }
enum { SUMS = OF(FLOW) | OF(DROP) | OF(CELLS) | OF(PURGE) };
FIGURE(story_flow, OF(FLOW) | OF(RATE) | OF(SFC), flow)
FIGURE(story_paused_ps, OF(PAUSE), total_ps)
FIGURE(story_longest_ps, OF(PAUSE) | OF(RMA), longest_ps)
FIGURE(story_frames, OF(PAUSE), count)
FIGURE(story_by_time, OF(PAUSE), by_time)
FIGURE(story_marked, OF(QUEUE), count)
FIGURE(story_congested, OF(QUEUE), congestions)
FIGURE(story_cnps, OF(RATE), count)
FIGURE(story_rate_min, OF(RATE), rate_bps_min)
FIGURE(story_rate, OF(RATE), rate_bps)
FIGURE(story_packets, OF(DROP), count)
FIGURE(story_cells, OF(CELLS), count)
FIGURE(story_requests, OF(RMA), times)
FIGURE(story_level, OF(THROTTLE), count)
FIGURE(story_stopped_ps, OF(STOP), total_ps)
FIGURE(story_bytes, SUMS, bytes_max)
FIGURE(story_bytes_max, ~SUMS, bytes_max)

static struct weft_result_value story_reason(struct weft_result_cursor *c) {
    const struct weft_story *s = c->part[0];
    bool drops = s->kind == WEFT_STORY_DROP || s->kind == WEFT_STORY_CELLS;
    return (struct weft_result_value){.known = drops, .text = drops ? weft_drop_names[s->detail] : NULL};
}

static struct weft_result_value story_without(struct weft_result_cursor *c) {
    const struct weft_story *s = c->part[0];
    return (struct weft_result_value){.known = s->kind == WEFT_STORY_RMA,
                                      .text = s->detail == WEFT_EVENT_RMA_WINDOW ? "window" : "answer"};
}

WEFT_RESULT_PRESENT(has_story, ((const struct timeline_view *)(const void *)run)->story)

#define STORY(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_story, field, key, kind, __VA_ARGS__)
#define SOME(function, key, kind, ...) WEFT_RESULT_CALL(function, key, kind, __VA_ARGS__, .flags = WEFT_RESULT_SPARSE)
static const struct weft_result_table story_table = WEFT_RESULT_TABLE_OF(
    "story", LIST, "events of one sort with one place and cause",
    WEFT_RESULT_AND(.next = next_story, .present = has_story),
    STORY(first, "id", COUNT, "number of the first event", .flags = WEFT_RESULT_KEY),
    SOME(story_parent, "parent", COUNT, "id of what it is a consequence of"),
    WEFT_RESULT_OF_NAMES(0, struct weft_story, kind, "kind", weft_story_names, "what happened"),
    STORY(from_ps, "from_ps", TIME, "time of the first event"),
    STORY(until_ps, "until_ps", TIME, "time of the last event"), STORY(events, "events", COUNT, "events in this row"),
    WEFT_RESULT_CALL(story_port, "port", TEXT, "port of the events; of a pause, the one above XOFF"),
    SOME(story_paused, "paused_port", TEXT, "port that was paused"),
    STORY(priority, "priority", COUNT, "priority concerned", .flags = WEFT_RESULT_SPARSE),
    SOME(story_flow, "flow", COUNT, "flow concerned"),
    STORY(times, "times", COUNT, "how often it began: pauses, drops, rate cuts, storms, links down"),
    STORY(over, "over", COUNT, "how often what happened ended"),
    SOME(story_paused_ps, "paused_ps", TIME, "time paused"),
    SOME(story_longest_ps, "longest_ps", TIME, "longest pause, or longest wait of a 1RMA request"),
    SOME(story_frames, "frames", COUNT, "pause frames received"),
    SOME(story_by_time, "ended_by_time", COUNT, "pauses whose time ran out"),
    SOME(story_marked, "marked", COUNT, "packets marked"),
    SOME(story_congested, "congested", COUNT, "times that the queue was congested"),
    SOME(story_cnps, "cnps", COUNT, "CNPs received"), SOME(story_rate_min, "rate_min_bps", RATE, "lowest rate"),
    SOME(story_rate, "rate_bps", RATE, "last known rate"),
    SOME(story_reason, "reason", TEXT, "why packets or cells were lost"),
    SOME(story_packets, "packets", COUNT, "packets dropped"), SOME(story_cells, "cells", COUNT, "cells lost"),
    SOME(story_without, "without", TEXT, "what a 1RMA request did not get: an answer, or room in the window"),
    SOME(story_requests, "requests", COUNT, "1RMA requests handed back"),
    SOME(story_level, "level_max", COUNT, "highest level to which credits were slowed down"),
    SOME(story_stopped_ps, "stopped_ps", TIME, "time that the fabric link was stopped"),
    WEFT_RESULT_CALL(story_bytes, "bytes", BYTES, "payload of a flow, or what was lost", .flags = WEFT_RESULT_OPTIONAL),
    WEFT_RESULT_CALL(story_bytes_max, "bytes_max", BYTES, "most bytes in the queue or buffer at an event",
                     .flags = WEFT_RESULT_OPTIONAL));

// --- events -------------------------------------------------------------------------------------------------------

static bool next_event(struct weft_result_cursor *c) {
    const struct timeline_view *v = view_of(c);
    while (v->keep && c->at < v->t.events && !v->keep[c->at])
        c->at++;
    if (c->at == v->t.events) return false;
    c->part[0] = &v->t.event[c->at++];
    return true;
}

static uint32_t id_of(const struct weft_result_cursor *c) {
    return (uint32_t)((const struct weft_event *)c->part[0] - view_of(c)->t.event) + 1;
}

WEFT_RESULT_VALUE(event_id, weft_result_whole(true, id_of(c)))
WEFT_RESULT_VALUE_OF(event_kind, struct weft_event, e, weft_result_words(weft_event_infos[e->kind].name))
WEFT_RESULT_VALUE(event_port, port_name(c, ((const struct weft_event *)c->part[0])->port))
WEFT_RESULT_VALUE_OF(event_value, struct weft_event, e, weft_result_whole(*weft_event_infos[e->kind].value, e->value))
WEFT_RESULT_VALUE_OF(event_more, struct weft_event, e, weft_result_whole(*weft_event_infos[e->kind].more, e->more))
static struct weft_result_value event_text(struct weft_result_cursor *c) {
    WEFT__TEXT_STREAM(stream, file);
    timeline_event_text(view_of(c), id_of(c), file);
    const char *text = weft_arena_text(c->arena, weft__text_stream_text(&stream));
    return (struct weft_result_value){.known = true, .text = text};
}

WEFT_RESULT_PRESENT(has_events, ((const struct timeline_view *)(const void *)run)->events)

#define EVENT(field, kind, ...) WEFT_RESULT(struct weft_event, field, kind, __VA_ARGS__)
static const struct weft_result_column event_columns[] = {
    WEFT_RESULT_CALL(event_id, "event", COUNT, "number of the event, from 1", .flags = WEFT_RESULT_KEY),
    EVENT(time_ps, TIME, "time of the event"),
    WEFT_RESULT_CALL(event_kind, "kind", TEXT, "what happened"),
    WEFT_RESULT_CALL(event_port, "port", TEXT, "port of the event"),
    EVENT(priority, COUNT, "priority concerned", .flags = WEFT_RESULT_SPARSE),
    EVENT(flow, COUNT, "flow concerned", .flags = WEFT_RESULT_SPARSE),
    EVENT(qp, COUNT, "queue pair concerned", .flags = WEFT_RESULT_SPARSE),
    SOME(event_value, "value", COUNT, "first figure of the kind of event"),
    SOME(event_more, "more", COUNT, "second figure of the kind of event"),
    EVENT(detail, COUNT, "threshold, kind of packet, classes, reason, by the kind of event"),
    EVENT(cause, COUNT, "event that led to this event", .flags = WEFT_RESULT_OPTIONAL),
    EVENT(begins, COUNT, "earlier event that this event ends or repeats", .flags = WEFT_RESULT_OPTIONAL),
    WEFT_RESULT_CALL(event_text, "text", TEXT, "the event in words"),
};
static const struct weft_result_table event_table =
    WEFT_RESULT_TABLE("events", LIST, "an event", event_columns, .next = next_event, .present = has_events);

// --- why, and why not ---------------------------------------------------------------------------------------------

/// From the pause back to its first cause.
static bool next_cause(struct weft_result_cursor *c) {
    const struct timeline_view *v = view_of(c);
    uint32_t id = c->at++ ? ((const struct weft_event *)c->part[0])->cause : v->why->chosen->event;
    if (id) c->part[0] = &v->t.event[id - 1];
    return id;
}

#define WHY(field, kind, ...) WEFT_RESULT(struct timeline_why, field, kind, __VA_ARGS__)
static const struct weft_result_table why_table = WEFT_RESULT_TABLE_OF(
    "why", OBJECT, "why a port could not send a priority (--why)",
    WEFT_RESULT_AND(.merged = weft_result_always, WEFT_RESULT_IF(struct timeline_view, why)),
    WHY(port, TEXT, "port that was paused"), WHY(priority, COUNT, "priority that was paused"),
    WHY(pauses, COUNT, "how often the port was paused"), WHY(paused_ps, TIME, "time of all its pauses"),
    WHY(duration_ps, TIME, "time of the pause that is explained"));
static const struct weft_result_table because_table = WEFT_RESULT_TABLE(
    "why.because", LIST, "an event that led to the pause, the last one first", event_columns, .next = next_cause);
#define REASON(field, key, kind, ...) WEFT_RESULT_NAMED(struct timeline_reason, field, key, kind, __VA_ARGS__)
static const struct weft_result_table reason_table = WEFT_RESULT_TABLE_OF(
    "why.reasons", LIST, "the pauses of the port that have one cause",
    WEFT_RESULT_EACH(struct timeline_why, reason, reasons), REASON(by, "by", TEXT, "port that sent the pause frames"),
    REASON(because_of, "because_of", TEXT, "port at which the chain of causes ends"),
    REASON(root_kind, "kind", TEXT, "event with which the chain of causes ends: congestion, XOFF of a host, a message"),
    REASON(times, "times", COUNT, "pauses with this cause"),
    REASON(total_ps, "paused_ps", TIME, "time of the pauses with this cause"));
#define WHY_NOT(field, kind, ...) WEFT_RESULT(struct timeline_why_not, field, kind, __VA_ARGS__)
static const struct weft_result_table why_not_table = WEFT_RESULT_TABLE_OF(
    "why_not", OBJECT, "why a port was never paused (--why-not)",
    WEFT_RESULT_AND(.merged = weft_result_always, WEFT_RESULT_IF(struct timeline_view, why_not)),
    WHY_NOT(port, TEXT, "port that was not paused"), WHY_NOT(priority, COUNT, "priority that was not paused"),
    WHY_NOT(peer_port, TEXT, "port at the other end, which would ask for a pause"),
    WHY_NOT(reason, TEXT, "why it was not paused, in a word"),
    WHY_NOT(ingress_bytes_max, BYTES, "most bytes of the priority in the ingress buffer of the other end"),
    WHY_NOT(text, TEXT, "why it was not paused, in words"));

#define RUN(field, kind, ...) WEFT_RESULT_NAMED(struct timeline_view, t.field, #field, kind, __VA_ARGS__)
static const struct weft_result_table timeline_table = WEFT_RESULT_TABLE_OF(
    "timeline", OBJECT, "a recorded run", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
    RUN(scenario, TEXT, "name of the scenario"), RUN(variant, TEXT, "variant; empty: the scenario has none"),
    RUN(sim_time_ps, TIME, "simulated time"),
    RUN(unrecorded, COUNT, "events not recorded, because their nodes reached the limit run.events"),
    RUN(stall, TEXT, "who waits for whom at the end, if the network made no progress any more",
        .flags = WEFT_RESULT_OPTIONAL));
const struct weft_answer weft__answer_timeline =
    WEFT_ANSWER_OF("timeline", "weft timeline: the events of a recorded run, and their causes", &timeline_table,
                   &story_table, &event_table, &why_table, &because_table, &reason_table, &why_not_table);
