// SPDX-License-Identifier: Apache-2.0
// Summarises events: one node of the tree for each sort of event, place and cause. An event belongs to the node of the
// event that caused it or that it ends; only some kinds start a node of their own below that.
#include "weft/timeline.h"

const char *const weft_story_names[WEFT_STORY_KINDS] = {
#define X(e, name, help) name,
    WEFT_STORIES(X)
#undef X
};

struct build {
    struct weft_arena *arena;
    struct weft_story **of;   ///< [id]
    struct weft_story **head; ///< [WEFT_STORY_KINDS][places]: newest first, linked by `alike`
    size_t places;
    struct weft_story root;
};

static struct weft_story *story_of(const struct build *b, uint32_t id) {
    return id ? b->of[id] : NULL;
}

static bool is_of_flow(enum weft_story_kind kind) {
    return kind == WEFT_STORY_FLOW || kind == WEFT_STORY_RATE || kind == WEFT_STORY_SFC;
}

static bool is_at(const struct weft_story *s, enum weft_story_kind kind, const struct weft_event *e) {
    if (s->kind != kind) return false;
    if (is_of_flow(kind)) return s->flow == e->flow;
    return s->port == e->port && s->priority == e->priority &&
           ((kind != WEFT_STORY_DROP && kind != WEFT_STORY_CELLS && kind != WEFT_STORY_RMA) || s->detail == e->detail);
}

/// The node for an event of this place below `parent`: an existing one, an ancestor (a cycle), or a new one.
static struct weft_story *find_story(struct build *b, enum weft_story_kind kind, const struct weft_event *e,
                                     struct weft_story *parent) {
    if (!parent) parent = &b->root;
    for (struct weft_story *s = parent; s != &b->root; s = s->parent)
        if (is_at(s, kind, e)) return s;
    size_t place = is_of_flow(kind) ? e->flow
                                    : (size_t)e->port * (WEFT_PRIORITIES + 1) +
                                          (e->priority == WEFT_EVENT_NO_PRIORITY ? WEFT_PRIORITIES : e->priority);
    struct weft_story **head = &b->head[(size_t)kind * b->places + place];
    for (struct weft_story *s = *head; s; s = s->alike)
        if (s->parent == parent && is_at(s, kind, e)) return s;
    struct weft_story *s = weft_arena_alloc(b->arena, 1, sizeof *s);
    *s = (struct weft_story){.kind = kind,
                             .port = e->port,
                             .paused = WEFT_NONE,
                             .priority = e->priority,
                             .detail = e->detail,
                             .flow = e->flow,
                             .from_ps = e->time_ps,
                             .marked_from_ps = WEFT_TIME_NEVER,
                             .parent = parent,
                             .alike = *head};
    for (uint32_t k = 0; k < WEFT_EVENT_THRESHOLDS; k++)
        s->above_ps[k] = s->below_ps[k] = WEFT_TIME_NEVER;
    *head = s;
    if (parent->last)
        parent->last->next = s;
    else
        parent->child = s;
    parent->last = s;
    return s;
}

/// The queue that an event with such a cause belongs to, if the cause is the queue's own; else a node below the cause.
static struct weft_story *find_queue(struct build *b, const struct weft_event *e) {
    return find_story(b, WEFT_STORY_QUEUE, e, story_of(b, e->cause));
}

/// The node where the flow's rate was last mentioned.
static struct weft_story *find_rate(struct build *b, const struct weft_event *e) {
    struct weft_story *last = b->head[(size_t)WEFT_STORY_RATE * b->places + e->flow];
    return last ? last : find_story(b, WEFT_STORY_RATE, e, NULL);
}

static struct weft_story *find_home(struct build *b, const struct weft_event *e) {
    struct weft_story *cause = story_of(b, e->cause), *begun = story_of(b, e->begins);
    switch ((enum weft_event_kind)e->kind) {
    case WEFT_EVENT_FLOW_STARTED:
    case WEFT_EVENT_FLOW_FINISHED:
        return find_story(b, WEFT_STORY_FLOW, e, NULL);
    case WEFT_EVENT_CLASSIFIED:
        return find_story(b, WEFT_STORY_CLASSIFIED, e, cause);
    case WEFT_EVENT_QUEUE_ABOVE:
    case WEFT_EVENT_CONGESTED:
    case WEFT_EVENT_MARKING_BEGAN:
    case WEFT_EVENT_FLOW_MARKED:
    case WEFT_EVENT_CONGESTED_BY:
        return find_queue(b, e);
    case WEFT_EVENT_QUEUE_BELOW:
    case WEFT_EVENT_MARKING_ENDED:
    case WEFT_EVENT_DRAINED:
        return begun ? begun : find_queue(b, e);
    case WEFT_EVENT_SFC_SENT:
        return find_story(b, WEFT_STORY_SFC, e, cause ? cause : find_queue(b, e));
    case WEFT_EVENT_SFC_RECEIVED:
        return cause ? cause : find_story(b, WEFT_STORY_SFC, e, NULL);
    case WEFT_EVENT_XOFF:
        return find_story(b, WEFT_STORY_PAUSE, e, cause);
    case WEFT_EVENT_XON:
    case WEFT_EVENT_RESUMED:
        return begun;
    case WEFT_EVENT_PAUSE_SENT: // by proxy: a separate pause
        if (cause && cause->kind == WEFT_STORY_SFC) return find_story(b, WEFT_STORY_PAUSE, e, cause);
        return begun ? begun : cause;
    case WEFT_EVENT_PAUSE_RECEIVED: // from a peer whose record was full: the place is then the paused port
    case WEFT_EVENT_PAUSED:
        return cause ? cause : find_story(b, WEFT_STORY_PAUSE, e, NULL);
    case WEFT_EVENT_CNP_SENT:
        return find_story(b, WEFT_STORY_RATE, e, cause);
    case WEFT_EVENT_CNP_RECEIVED:
    case WEFT_EVENT_RATE_CUT:
    case WEFT_EVENT_RATE_RAISED:
        return cause ? cause : find_rate(b, e);
    case WEFT_EVENT_STORM_BEGAN:
        return find_story(b, WEFT_STORY_STORM, e, cause);
    case WEFT_EVENT_STORM_ENDED:
        return begun;
    case WEFT_EVENT_DROPPED:
        return find_story(b, WEFT_STORY_DROP, e, cause);
    case WEFT_EVENT_CELLS_LOST:
        return find_story(b, WEFT_STORY_CELLS, e, cause);
    case WEFT_EVENT_RMA_TIMEOUT:
        return find_story(b, WEFT_STORY_RMA, e, cause);
    case WEFT_EVENT_VOQ_PURGED:
        return find_story(b, WEFT_STORY_PURGE, e, cause);
    case WEFT_EVENT_THROTTLE_BEGAN:
        return find_story(b, WEFT_STORY_THROTTLE, e, NULL);
    case WEFT_EVENT_LANE_STOP_SENT:
        return find_story(b, WEFT_STORY_STOP, e, NULL);
    case WEFT_EVENT_LANE_STOPPED: // by a peer whose record was full: the place is then the stopped port
        return cause ? cause : find_story(b, WEFT_STORY_STOP, e, NULL);
    case WEFT_EVENT_THROTTLE_ENDED:
    case WEFT_EVENT_LANE_RESUMED:
        return begun;
    case WEFT_EVENT_LOSSLESS:
        return find_story(b, WEFT_STORY_AGREEMENT, e, NULL);
    case WEFT_EVENT_LINK_DOWN:
    case WEFT_EVENT_LINK_UP:
        return find_story(b, WEFT_STORY_LINK, e, NULL);
    case WEFT_EVENT_KINDS:
        break;
    }
    return NULL;
}

static void raise_to(weft_bytes *most, weft_bytes bytes) {
    if (bytes > *most) *most = bytes;
}

static void end_time(struct weft_story *s, weft_time_ps time) {
    s->over++;
    s->total_ps += time;
    if (time > s->longest_ps) s->longest_ps = time;
}

static void sum_queue(struct weft_story *s, const struct weft_event *e, uint32_t id) {
    switch (e->kind) {
    case WEFT_EVENT_QUEUE_ABOVE:
        s->times += e->detail == WEFT_EVENT_MIN;
        s->threshold[e->detail] = e->more;
        if (s->above_ps[e->detail] == WEFT_TIME_NEVER) s->above_ps[e->detail] = e->time_ps;
        raise_to(&s->bytes_max, e->value);
        break;
    case WEFT_EVENT_QUEUE_BELOW:
        s->over += e->detail == WEFT_EVENT_MIN;
        s->below_ps[e->detail] = e->time_ps;
        break;
    case WEFT_EVENT_MARKING_BEGAN:
        if (s->marked_from_ps == WEFT_TIME_NEVER) s->marked_from_ps = e->time_ps;
        break;
    case WEFT_EVENT_MARKING_ENDED:
        s->count += e->value;
        s->marked_until_ps = e->time_ps;
        break;
    case WEFT_EVENT_FLOW_MARKED:
        s->flows_marked++;
        break;
    case WEFT_EVENT_CONGESTED:
        if (!s->congestions++) s->congested = id;
        raise_to(&s->bytes_max, e->value);
        break;
    }
}

static void sum_pause(struct weft_story *s, const struct weft_event *e) {
    switch (e->kind) {
    case WEFT_EVENT_XOFF:
        s->xoffs++;
        raise_to(&s->bytes_max, e->value);
        break;
    case WEFT_EVENT_PAUSE_RECEIVED:
        s->paused = e->port;
        s->count += e->value != 0;
        s->ignored += e->value && !e->more;
        break;
    case WEFT_EVENT_PAUSED:
        s->times++;
        break;
    case WEFT_EVENT_RESUMED:
        end_time(s, e->value);
        s->by_time += e->detail == WEFT_EVENT_BY_TIME;
        break;
    }
}

static void sum_rate(struct weft_story *s, const struct weft_event *e) {
    switch (e->kind) {
    case WEFT_EVENT_CNP_RECEIVED:
        s->count++;
        break;
    case WEFT_EVENT_RATE_CUT:
        if (!s->times++) {
            s->rate_bps_before = e->more;
            s->rate_bps_min = e->value;
        }
        if (e->value < s->rate_bps_min) s->rate_bps_min = e->value;
        s->rate_bps = e->value;
        break;
    case WEFT_EVENT_RATE_RAISED:
        s->raises++;
        s->rate_bps = e->value;
        break;
    }
}

static void sum_event(struct weft_story *s, const struct weft_event *e, uint32_t id) {
    if (!s->events++) s->first = id;
    if (e->time_ps > s->until_ps) s->until_ps = e->time_ps;
    switch (s->kind) {
    case WEFT_STORY_QUEUE:
        sum_queue(s, e, id);
        break;
    case WEFT_STORY_PAUSE:
        sum_pause(s, e);
        break;
    case WEFT_STORY_RATE:
        sum_rate(s, e);
        break;
    case WEFT_STORY_FLOW:
        s->times += e->kind == WEFT_EVENT_FLOW_STARTED;
        if (e->kind == WEFT_EVENT_FLOW_STARTED) s->bytes_max = e->value;
        if (e->kind == WEFT_EVENT_FLOW_FINISHED) end_time(s, e->value);
        break;
    case WEFT_STORY_RMA:
        s->times++;
        end_time(s, e->value);
        break;
    case WEFT_STORY_PURGE:
        s->times++;
        s->bytes_max += e->value;
        s->count = e->more;
        break;
    case WEFT_STORY_THROTTLE:
        if (e->kind == WEFT_EVENT_THROTTLE_BEGAN)
            s->times++;
        else
            s->over++;
        if (e->value > s->count) s->count = e->value;
        break;
    case WEFT_STORY_STOP:
        s->times += e->kind == WEFT_EVENT_LANE_STOPPED;
        if (e->kind == WEFT_EVENT_LANE_RESUMED) end_time(s, e->value);
        break;
    case WEFT_STORY_DROP:
    case WEFT_STORY_CELLS:
        s->times++;
        s->bytes_max += e->value;
        s->count += e->more;
        break;
    case WEFT_STORY_STORM:
    case WEFT_STORY_LINK:
        if (e->kind == WEFT_EVENT_STORM_BEGAN || e->kind == WEFT_EVENT_LINK_DOWN)
            s->times++;
        else
            s->over++;
        break;
    case WEFT_STORY_SFC:
        s->count += e->kind == WEFT_EVENT_SFC_SENT;
        if (e->kind == WEFT_EVENT_SFC_RECEIVED) {
            s->times++;
            end_time(s, e->value * WEFT_PS_PER_NS);
        }
        break;
    case WEFT_STORY_AGREEMENT:
        s->times++;
        s->count = e->value;
        break;
    case WEFT_STORY_CLASSIFIED:
    case WEFT_STORY_KINDS:
        break;
    }
}

struct weft_story *weft_story_new(const struct weft_event *event, uint32_t n, uint32_t ports, uint32_t flows,
                                  const bool *keep, struct weft_arena *arena) {
    struct build *b = weft_arena_alloc(arena, 1, sizeof *b);
    size_t places = (size_t)ports * (WEFT_PRIORITIES + 1);
    *b = (struct build){.arena = arena, .places = places > flows ? places : flows};
    b->of = weft_arena_alloc(arena, (size_t)n + 1, sizeof(struct weft_story *));
    b->head = weft_arena_alloc(arena, WEFT_STORY_KINDS * b->places, sizeof(struct weft_story *));
    for (uint32_t id = 1; id <= n; id++) {
        const struct weft_event *e = &event[id - 1];
        if (keep && !keep[id - 1]) continue;
        struct weft_story *home = find_home(b, e);
        b->of[id] = home;
        if (home) sum_event(home, e, id);
    }
    return &b->root;
}
