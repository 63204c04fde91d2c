// SPDX-License-Identifier: Apache-2.0
// The story as an indented tree: each line has the time of its first event, and below it what it caused.
#include <stdlib.h>

#include "base/order.h"
#include "timeline.h"

#include "base/units.h"

enum { COLUMN = 13, DEPTH_MAX = 24 };

static void begin_line(const struct timeline_view *v, weft_time_ps time, uint32_t depth) {
    fprintf(v->out, "%*s  %*s", COLUMN, time != WEFT_TIME_NEVER ? weft__at_us(time).text : "",
            2 * (int)(depth < DEPTH_MAX ? depth : DEPTH_MAX), "");
}

// --- one sort after the other -------------------------------------------------------------------------------------

static void say_flow(const struct timeline_view *v, const struct weft_story *s) {
    fprintf(v->out, "%s: ", timeline_flow(v, s->flow).text);
    if (s->times)
        fprintf(v->out, "%s, priority %u", weft__about_bytes(s->bytes_max).text, v->t.event[s->first - 1].priority);
    if (s->over)
        fprintf(v->out, "%sfinished after %s", s->times ? "; " : "", weft__about_time(s->longest_ps).text);
    else
        fprintf(v->out, "; not finished");
}

static void say_thresholds(const struct timeline_view *v, const struct weft_story *s, uint32_t depth) {
    static const char *const names[] = {"min", "max", "drop"};
    begin_line(v, WEFT_TIME_NEVER, depth);
    const char *sep = "  above WRED's ";
    for (uint32_t k = 0; k < WEFT_EVENT_THRESHOLDS; k++) {
        if (s->above_ps[k] == WEFT_TIME_NEVER) continue;
        fprintf(v->out, "%s%s (%s) at %s", sep, names[k], weft__about_bytes(s->threshold[k]).text,
                weft__at_us(s->above_ps[k]).text);
        sep = ", ";
    }
    if (s->times > 1) fprintf(v->out, "; %u times", s->times);
    if (s->over && s->over == s->times)
        fprintf(v->out, "; below min again at %s", weft__at_us(s->below_ps[WEFT_EVENT_MIN]).text);
    else if (s->times > s->over)
        fprintf(v->out, "; above min to the end");
    fprintf(v->out, "\n");
}

static void say_queue(const struct timeline_view *v, const struct weft_story *s, uint32_t depth) {
    fprintf(v->out, "%s, priority %u: its queue fills\n", timeline_port(v, s->port, "to").text, s->priority);
    if (s->above_ps[WEFT_EVENT_MIN] != WEFT_TIME_NEVER) say_thresholds(v, s, depth);
    if (s->marked_from_ps != WEFT_TIME_NEVER) {
        begin_line(v, WEFT_TIME_NEVER, depth);
        fprintf(v->out, "  marks");
        if (s->count) fprintf(v->out, " %s", weft__counted(s->count, "packet").text);
        fprintf(v->out, " from %s", weft__at_us(s->marked_from_ps).text);
        if (s->count) fprintf(v->out, " to %s", weft__at_us(s->marked_until_ps).text);
        fprintf(v->out, "\n");
    }
    if (!s->congested) return;
    begin_line(v, WEFT_TIME_NEVER, depth);
    fprintf(v->out, "  congested with %s", weft__about_bytes(v->t.event[s->congested - 1].value).text);
    timeline_filled_by(v, s->congested, v->out);
    if (s->congestions > 1) fprintf(v->out, "; %u times", s->congestions);
    fprintf(v->out, "\n");
}

static void say_pause(const struct timeline_view *v, const struct weft_story *s, uint32_t depth) {
    bool known = s->paused != s->port && s->paused != WEFT_NONE;
    if (!s->times) {
        fprintf(v->out, "%s, priority %u: above XOFF with %s", timeline_port(v, s->port, "from").text, s->priority,
                weft__about_bytes(s->bytes_max).text);
        if (s->ignored)
            fprintf(v->out, "; %s pays no attention to %s: the priority is not lossless there",
                    v->t.port[s->paused].name, weft__counted(s->ignored, "pause frame").text);
        else if (s->count)
            fprintf(v->out, "; %s was paused already", v->t.port[s->paused].name);
        fprintf(v->out, "\n");
        return;
    }
    fprintf(v->out, "%s: priority %u paused", timeline_port(v, s->paused, "to").text, s->priority);
    if (s->times == 1 && s->over)
        fprintf(v->out, " for %s\n", weft__about_time(s->total_ps).text);
    else if (s->times == 1)
        fprintf(v->out, " to the end\n");
    else {
        fprintf(v->out, " %u times, %s in all", s->times, weft__about_time(s->total_ps).text);
        fprintf(v->out, " (%s at most), until %s%s\n", weft__about_time(s->longest_ps).text,
                weft__at_us(s->until_ps).text, s->over < s->times ? " and on" : "");
    }
    begin_line(v, WEFT_TIME_NEVER, depth);
    if (known && !s->xoffs)
        fprintf(v->out, "  paused by %s, on behalf of these messages", v->t.port[s->port].name);
    else if (known)
        fprintf(v->out, "  paused by %s, above XOFF with %s%s%s", v->t.port[s->port].name, s->times > 1 ? "up to " : "",
                weft__about_bytes(s->bytes_max).text,
                timeline_is_host(v, s->first) ? ", for its host takes data too slowly" : "");
    else
        fprintf(v->out, "  what its peer knows is not recorded");
    fprintf(v->out, "; %s", weft__counted(s->count, "pause frame").text);
    if (s->by_time) fprintf(v->out, "; %s ran out", weft__counted(s->by_time, "pause").text);
    fprintf(v->out, "\n");
}

static void say_rate(const struct timeline_view *v, const struct weft_story *s) {
    fprintf(v->out, "%s: %s", timeline_flow(v, s->flow).text, weft__counted(s->count, "CNP").text);
    if (s->times)
        fprintf(v->out, ", %s from %s down to %s", weft__counted(s->times, "cut").text,
                weft__short_rate(s->rate_bps_before).text, weft__short_rate(s->rate_bps_min).text);
    if (s->raises)
        fprintf(v->out, "%s to %s at last", s->times ? "; raised again," : ": raised,",
                weft__short_rate(s->rate_bps).text);
    fprintf(v->out, "\n");
}

static void say_sfc(const struct timeline_view *v, const struct weft_story *s) {
    fprintf(v->out, "%s: asked %s to pause", timeline_flow(v, s->flow).text, weft__counted(s->count, "time").text);
    if (s->times) fprintf(v->out, ", for %s at most", weft__about_time(s->longest_ps).text);
    if (s->count > 1) fprintf(v->out, ", until %s", weft__at_us(s->until_ps).text);
    fprintf(v->out, "\n");
}

static void say_story(const struct timeline_view *v, const struct weft_story *s, uint32_t depth) {
    begin_line(v, s->from_ps, depth);
    switch (s->kind) {
    case WEFT_STORY_FLOW:
        say_flow(v, s);
        fprintf(v->out, "\n");
        break;
    case WEFT_STORY_CLASSIFIED:
        timeline_event_text(v, s->first, v->out);
        fprintf(v->out, "\n");
        break;
    case WEFT_STORY_QUEUE:
        say_queue(v, s, depth);
        break;
    case WEFT_STORY_PAUSE:
        say_pause(v, s, depth);
        break;
    case WEFT_STORY_RATE:
        say_rate(v, s);
        break;
    case WEFT_STORY_SFC:
        say_sfc(v, s);
        break;
    case WEFT_STORY_DROP:
        fprintf(v->out, "%s, priority %u: %s dropped (%s): %s\n", timeline_port(v, s->port, NULL).text, s->priority,
                weft__counted(s->count, "packet").text, weft__about_bytes(s->bytes_max).text,
                weft_drop_names[s->detail]);
        break;
    case WEFT_STORY_STORM:
        fprintf(v->out, "%s, priority %u: a PFC storm for the watchdog", timeline_port(v, s->port, "to").text,
                s->priority);
        if (s->times > 1) fprintf(v->out, ", %u times", s->times);
        if (s->over == s->times) fprintf(v->out, "; over at %s", weft__at_us(s->until_ps).text);
        fprintf(v->out, "\n");
        break;
    case WEFT_STORY_LINK:
        fprintf(v->out, "%s: link down", timeline_port(v, s->port, "to").text);
        if (s->times > 1) fprintf(v->out, " %u times", s->times);
        if (s->over == s->times) fprintf(v->out, "; up again at %s", weft__at_us(s->until_ps).text);
        fprintf(v->out, "\n");
        break;
    case WEFT_STORY_AGREEMENT:
        fprintf(v->out, "%s: lossless priorities are %s", timeline_port(v, s->port, "to").text,
                timeline_priorities(s->count).text);
        if (s->times > 1) fprintf(v->out, " at last, after %s", weft__counted(s->times, "change").text);
        fprintf(v->out, "\n");
        break;
    case WEFT_STORY_CELLS:
        fprintf(v->out, "%s: %s lost (%s): %s\n", timeline_port(v, s->port, "to").text,
                weft__counted(s->count, "cell").text, weft__about_bytes(s->bytes_max).text, weft_drop_names[s->detail]);
        break;
    case WEFT_STORY_RMA:
        fprintf(v->out, "%s, priority %u: %s handed back without %s, after %s at most\n",
                timeline_port(v, s->port, "to").text, s->priority, weft__counted(s->times, "1RMA request").text,
                s->detail == WEFT_EVENT_RMA_WINDOW ? "room in the solicitation window" : "an answer",
                weft__about_time(s->longest_ps).text);
        break;
    case WEFT_STORY_PURGE:
        fprintf(v->out, "%s, priority %u: the credit watchdog discards what waits",
                timeline_port(v, s->port, "from").text, s->priority);
        fprintf(v->out, " for credits of %s: %s\n", s->count < v->t.ports ? v->t.port[s->count].name : "?",
                weft__about_bytes(s->bytes_max).text);
        break;
    case WEFT_STORY_THROTTLE:
        fprintf(v->out, "%s: credits of its box slowed down, level %llu at most", timeline_port(v, s->port, NULL).text,
                (unsigned long long)s->count);
        if (s->times > 1) fprintf(v->out, ", %u times", s->times);
        if (s->over == s->times) fprintf(v->out, "; over at %s", weft__at_us(s->until_ps).text);
        fprintf(v->out, "\n");
        break;
    case WEFT_STORY_STOP:
        fprintf(v->out, "%s: the fabric link stopped %s", timeline_port(v, s->port, "from").text,
                weft__counted(s->times, "time").text);
        fprintf(v->out, ", %s in all\n", weft__about_time(s->total_ps).text);
        break;
    case WEFT_STORY_KINDS:
        break;
    }
}

// --- the tree -----------------------------------------------------------------------------------------------------

struct weight {
    weft_time_ps paused_ps;
    uint64_t events;
    const struct weft_story *story;
};

static struct weight weigh_story(const struct weft_story *s) {
    struct weight w = {s->kind == WEFT_STORY_PAUSE ? s->total_ps : 0, s->events, s};
    for (const struct weft_story *c = s->child; c; c = c->next) {
        struct weight below = weigh_story(c);
        w.paused_ps += below.paused_ps;
        w.events += below.events;
    }
    return w;
}

WEFT__ORDER(by_weight, struct weight, WEFT__DOWN(paused_ps) ?: WEFT__DOWN(events) ?: WEFT__UP(story->first))

WEFT__ORDER(by_first, struct weight, WEFT__UP(story->first))

/// Flows are separate from events that happened to them; queues that first packets joined are shown on request. 0:
/// nowhere.
enum part { NOWHERE, FLOWS, HAPPENINGS };
static enum part part_of(const struct timeline_view *v, const struct weft_story *s) {
    if (s->kind == WEFT_STORY_CLASSIFIED && (!v->classified || !s->parent->first)) return NOWHERE;
    return s->kind == WEFT_STORY_FLOW ? FLOWS : HAPPENINGS;
}

static void print_children(const struct timeline_view *v, const struct weft_story *parent, uint32_t depth,
                           enum part part) {
    uint32_t n = 0, shown;
    for (const struct weft_story *c = parent->child; c; c = c->next)
        n += part_of(v, c) == part;
    if (!n) return;
    struct weight *child = weft_arena_alloc(v->arena, n, sizeof *child);
    n = 0;
    for (const struct weft_story *c = parent->child; c; c = c->next)
        if (part_of(v, c) == part) child[n++] = weigh_story(c);
    shown = v->limit && v->limit < n ? v->limit : n;
    if (shown < n && part == HAPPENINGS) qsort(child, n, sizeof *child, by_weight);
    qsort(child, shown, sizeof *child, by_first);
    for (uint32_t i = 0; i < shown; i++) {
        say_story(v, child[i].story, depth);
        print_children(v, child[i].story, depth + 1, HAPPENINGS);
    }
    if (shown == n) return;
    weft_time_ps paused = 0;
    uint64_t over = 0;
    for (uint32_t i = shown; i < n; i++) {
        paused += child[i].paused_ps;
        over += child[i].story->over != 0;
    }
    begin_line(v, WEFT_TIME_NEVER, depth);
    fprintf(v->out, "... and %u more", n - shown);
    if (part == FLOWS) fprintf(v->out, " flows, of which %llu finished", (unsigned long long)over);
    if (paused) fprintf(v->out, ", %s of pauses in all", weft__about_time(paused).text);
    fprintf(v->out, "\n");
}

void timeline_print_story(const struct timeline_view *v, const struct weft_story *root) {
    if (!root->child) {
        fprintf(v->out, "no events match\n");
        return;
    }
    print_children(v, root, 0, FLOWS);
    print_children(v, root, 0, HAPPENINGS);
}

// --- every event --------------------------------------------------------------------------------------------------

void timeline_print_events(const struct timeline_view *v) {
    uint32_t n = v->t.events, lines = 0;
    uint32_t *child = weft_arena_alloc(v->arena, (size_t)n + 1, sizeof *child); // first child; 0: of the roots
    uint32_t *next = weft_arena_alloc(v->arena, (size_t)n + 1, sizeof *next);
    uint32_t *above = weft_arena_alloc(v->arena, (size_t)n + 1, sizeof *above);
    for (uint32_t id = n; id; id--) {
        const struct weft_event *e = &v->t.event[id - 1];
        if (v->keep && !v->keep[id - 1]) continue;
        above[id] = e->cause ? e->cause : e->begins;
        next[id] = child[above[id]];
        child[above[id]] = id;
    }
    uint32_t depth = 0;
    for (uint32_t id = child[0]; id;) {
        begin_line(v, v->t.event[id - 1].time_ps, depth);
        timeline_event_text(v, id, v->out);
        fprintf(v->out, "\n");
        lines++;
        if (child[id]) {
            id = child[id];
            depth++;
            continue;
        }
        while (id && !next[id]) {
            id = above[id];
            depth--;
        }
        if (id) id = next[id];
    }
    if (!lines) fprintf(v->out, "no events match\n");
}
