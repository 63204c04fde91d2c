// SPDX-License-Identifier: Apache-2.0
// The pause-propagation tree, derived from the causes of events.
#include "results/rows.h"
#include "weft/timeline.h"

struct walk {
    const struct weft_event *event;
    uint32_t *of; ///< [id]: the pause that began there, plus 1
    struct weft_pause *pause;
};

static const struct weft_event *event_at(const struct walk *w, uint32_t id, enum weft_event_kind kind) {
    return id && w->event[id - 1].kind == kind ? &w->event[id - 1] : NULL;
}

static void begin_pause(struct walk *w, uint32_t id, struct weft_pause *p) {
    *p = (struct weft_pause){.event = id, .by = WEFT_NONE, .parent = WEFT_NONE};
    const struct weft_event *received = event_at(w, w->event[id - 1].cause, WEFT_EVENT_PAUSE_RECEIVED);
    const struct weft_event *sent = received ? event_at(w, received->cause, WEFT_EVENT_PAUSE_SENT) : NULL;
    if (received) p->frames = 1;
    if (!sent) return;
    p->by = sent->port;
    const struct weft_event *message = event_at(w, sent->cause, WEFT_EVENT_SFC_RECEIVED);
    if (message) p->root = message->cause ? message->cause : sent->cause;
    const struct weft_event *xoff = event_at(w, sent->cause, WEFT_EVENT_XOFF);
    if (!xoff) return;
    p->root = p->xoff = sent->cause;
    if (!xoff->cause) return;
    p->root = xoff->cause;
    if (!event_at(w, xoff->cause, WEFT_EVENT_PAUSED)) return;
    p->parent = w->of[xoff->cause] - 1;
    p->depth = w->pause[p->parent].depth + 1;
    if (w->pause[p->parent].root) p->root = w->pause[p->parent].root;
}

struct weft_pause *weft_pauses_list(const struct weft_event *event, uint32_t n, uint32_t ports,
                                    struct weft_arena *arena, uint32_t *ret_pauses) {
    uint32_t pauses = 0;
    for (uint32_t i = 0; i < n; i++)
        pauses += event[i].kind == WEFT_EVENT_PAUSED;
    struct walk w = {.event = event,
                     .of = weft_arena_alloc(arena, (size_t)n + 1, sizeof *w.of),
                     .pause = weft_arena_alloc(arena, pauses, sizeof *w.pause)};
    uint32_t *now = weft_arena_alloc(arena, (size_t)ports * WEFT_PRIORITIES, sizeof *now); // the pause there, plus 1
    *ret_pauses = pauses;
    pauses = 0;
    for (uint32_t id = 1; id <= n; id++) {
        const struct weft_event *e = &event[id - 1];
        if (e->kind == WEFT_EVENT_PAUSED) {
            begin_pause(&w, id, &w.pause[pauses++]);
            now[e->port * WEFT_PRIORITIES + e->priority] = w.of[id] = pauses;
        } else if (e->kind == WEFT_EVENT_PAUSE_RECEIVED && e->value) {
            uint32_t pause = now[e->port * WEFT_PRIORITIES + e->priority];
            if (pause) w.pause[pause - 1].frames++;
        } else if (e->kind == WEFT_EVENT_RESUMED && e->begins) {
            w.pause[w.of[e->begins] - 1].resumed = id;
            now[e->port * WEFT_PRIORITIES + e->priority] = 0;
        }
    }
    return w.pause;
}

// --- the table ----------------------------------------------------------------------------------------------------

/// An event; 0: none.
static struct weft_result_value event_of(uint32_t id) {
    return (struct weft_result_value){.known = id != 0, .whole = id};
}

struct pauses {
    uint32_t n;
    const struct weft_pause *pause;
};

/// Part 0 is the pause, part 1 the event where it began.
static bool next_pause(struct weft_result_cursor *c) {
    const struct weft_outcome *o = c->run->outcome;
    struct pauses *p = c->state;
    if (!p) {
        p = c->state = weft_arena_alloc(c->arena, 1, sizeof *p);
        p->pause = weft_pauses_list(o->record, o->recorded, o->ports, c->arena, &p->n);
    }
    if (c->at == p->n) return false;
    c->part[0] = &p->pause[c->at++];
    c->part[1] = &o->record[((const struct weft_pause *)c->part[0])->event - 1];
    return true;
}

static const struct weft_pause *pause_of(const struct weft_result_cursor *c) {
    return c->part[0];
}
static struct weft_result_value pause_until(struct weft_result_cursor *c) {
    uint32_t resumed = pause_of(c)->resumed;
    return resumed ? WEFT__RESULT_WHOLE(c->run->outcome->record[resumed - 1].time_ps) : event_of(0);
}
WEFT_RESULT_VALUE(pause_xoff, event_of(pause_of(c)->xoff))
static struct weft_result_value pause_bytes(struct weft_result_cursor *c) {
    uint32_t xoff = pause_of(c)->xoff;
    return xoff ? WEFT__RESULT_WHOLE(c->run->outcome->record[xoff - 1].value) : event_of(0);
}
static struct weft_result_value pause_parent(struct weft_result_cursor *c) {
    uint32_t parent = pause_of(c)->parent;
    return parent == WEFT_NONE ? event_of(0) : WEFT__RESULT_WHOLE(((struct pauses *)c->state)->pause[parent].event);
}
WEFT_RESULT_VALUE(pause_root, event_of(pause_of(c)->root))

#define PAUSE(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_pause, field, key, kind, __VA_ARGS__)
#define BEGAN(field, key, kind, ...) WEFT_RESULT_AT(1, struct weft_event, field, key, kind, __VA_ARGS__)
const struct weft_result_table weft__results_pauses = WEFT_RESULT_TABLE_OF(
    "pauses", APART, "a pause: a port's priority from paused to resumed, with --out", .next = next_pause,
    PAUSE(event, "pause", COUNT, "event where the pause began", .references = "events", .flags = WEFT_RESULT_KEY),
    BEGAN(port, "port", COUNT, "port that was paused", .references = "ports"),
    BEGAN(priority, "priority", COUNT, "priority that was paused"),
    BEGAN(time_ps, "from_ps", TIME, "when the pause began"),
    WEFT_RESULT_CALL(pause_until, "until_ps", TIME, "when the pause ended"),
    PAUSE(by, "by_port", COUNT, "port that sent the pause frame", .references = "ports"),
    WEFT_RESULT_CALL(pause_xoff, "xoff", COUNT, "event that the pause frame was sent for", .references = "events"),
    WEFT_RESULT_CALL(pause_bytes, "xoff_bytes", BYTES, "bytes in the ingress buffer that the pause frame was sent for"),
    PAUSE(frames, "frames", COUNT, "pause frames received with a time above 0"),
    WEFT_RESULT_CALL(pause_parent, "parent", COUNT, "pause that filled the ingress buffer", .references = "pauses"),
    PAUSE(depth, "depth", COUNT, "pauses above this one in the chain of causes"),
    WEFT_RESULT_CALL(pause_root, "root", COUNT, "event where the chain of causes ends", .references = "events"));
