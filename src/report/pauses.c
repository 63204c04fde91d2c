// SPDX-License-Identifier: Apache-2.0
// The pause-propagation tree, derived from the causes of events.
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
