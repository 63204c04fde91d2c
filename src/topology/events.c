// SPDX-License-Identifier: Apache-2.0
// Links that go down and up: [{at: 1ms, link: "access-0/8", state: down}, ...]. A link that flaps is one entry:
// {at: 1ms, link: "access-0/8", state: down, for: 10ms, every: 100ms, times: 5}.
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/param.h"
#include "topology/builder.h"
#include "weft/param.h"

struct event_conf {
    weft_time_ps at_ps, for_ps, every_ps;
    const char *link;
    uint64_t times;
    uint32_t state;
};
enum { EVENTS_MAX = 1 << 22 }; ///< of a scenario: 128 MiB
static const char *const states[] = {"down", "up", NULL}, *const ever[] = {"ever", NULL},
                         *const never[] = {"never", NULL};
static const struct weft_param event_rows[] = {
    WEFT_TIME(struct event_conf, at_ps, "at", NULL, "0s", "1000s", "when"),
    WEFT_TEXT(
        struct event_conf, link, "link", NULL,
        "\"access-0/8\" (a port's link), \"a--b\" (the first between two nodes) or \"core-0/*\" (all of a switch)"),
    WEFT_CHOICE(struct event_conf, state, "state", NULL, states, "what it becomes"),
    WEFT_TIME_OR(struct event_conf, for_ps, "for", ever, "ever", "1ps", "1000s",
                 "how long, and then the other state again; ever: it stays"),
    WEFT_TIME_OR(struct event_conf, every_ps, "every", never, "never", "1ps", "1000s",
                 "with for and times: time from one begin to the next; never: once"),
    WEFT_UINT(struct event_conf, times, "times", "1", "1", "1000000", "how often, with every"),
};

static const char *check_event(const void *conf, char *text, size_t size) {
    (void)text;
    (void)size;
    const struct event_conf *c = conf;
    if (c->every_ps == WEFT_TIME_NEVER)
        return c->times == 1 ? NULL : "times has no every; expected every: 100ms, the time between two begins";
    if (c->times == 1) return "every is beside times: 1, its default; expected times: 2 or more";
    if (c->for_ps == WEFT_TIME_NEVER) return "every has no for; expected for: 10ms, how long the state holds";
    return c->for_ps < c->every_ps ? NULL : "for is not below every, so nothing would change back";
}

const struct weft_param_table weft_event_table =
    WEFT_PARAM_TABLE("event", struct event_conf, event_rows, .check = check_event);

struct events {
    struct weft_event {
        struct weft_link_event event;
        struct weft_place place;
    } * item;
    uint32_t n, capacity;
};

static void add_event(struct events *events, weft_time_ps at, uint32_t link, bool up, struct weft_place place) {
    WEFT__ADD_DOUBLE(WEFT_MEMORY_TOPOLOGY, events->item, events->n, events->capacity, 16) =
        (struct weft_event){{at, link, up}, place};
}

/// All changes of one link that an entry asks for.
static void add_events(struct events *events, const struct event_conf *conf, uint32_t link, struct weft_place place) {
    weft_time_ps at = conf->at_ps;
    for (uint32_t i = 0; i < conf->times; i++, at += conf->every_ps) {
        add_event(events, at, link, conf->state == 1, place);
        if (conf->for_ps != WEFT_TIME_NEVER) add_event(events, at + conf->for_ps, link, conf->state != 1, place);
    }
}

static enum weft_status read_event(struct events *events, const struct weft_topology *t, const struct weft_tree *tree,
                                   uint32_t number, struct weft_error *ret_error) {
    struct event_conf conf;
    uint32_t *link, n;
    char path[32];
    snprintf(path, sizeof path, "events.%u", number);
    enum weft_status status = weft__params_load_all(&weft_event_table, tree, path, &conf, t->arena, NULL, ret_error);
    if (!status)
        status = weft_topology_select_links(t, conf.link, weft_tree_find(tree, "link")->place, &link, &n, ret_error);
    if (!status && events->n + 2 * (uint64_t)n * conf.times > EVENTS_MAX)
        return WEFT_REFUSE(ret_error, tree->place, "more than %u events of links; expected fewer links, or fewer times",
                           EVENTS_MAX);
    for (uint32_t i = 0; !status && i < n; i++)
        add_events(events, &conf, link[i], tree->place);
    return status;
}

WEFT__ORDER(by_time_then_link, struct weft_event, WEFT__UP(event.time_ps) ?: WEFT__UP(event.link))

/// Sorts them into the topology; a link cannot go down and up at the same time, or twice in the same direction.
static enum weft_status keep_events(struct weft_topology *t, struct events *events, struct weft_error *ret_error) {
    if (!events->n) return WEFT_OK;
    qsort(events->item, events->n, sizeof *events->item, by_time_then_link);
    t->events = events->n;
    t->event = weft_arena_alloc(t->arena, events->n, sizeof *t->event);
    for (uint32_t i = 0; i < events->n; i++) {
        t->event[i] = events->item[i].event;
        if (!i || by_time_then_link(&events->item[i - 1], &events->item[i])) continue;
        char name[128];
        weft_topology_port_name(t, t->link[t->event[i].link].port[0], name, sizeof name);
        return WEFT_REFUSE(ret_error, events->item[i].place, "two events for the link of port %s at the same time",
                           name);
    }
    return WEFT_OK;
}

enum weft_status weft__topology_read_events(struct weft_topology *t, const struct weft_tree *tree,
                                            struct weft_error *ret_error) {
    if (!tree || tree->type == WEFT_TREE_NULL) return WEFT_OK;
    if (tree->type != WEFT_TREE_LIST)
        return WEFT_REFUSE(ret_error, tree->place,
                           "expected a list of events, as in [{at: 1ms, link: \"%s/0\", state: down}]",
                           t->node[0].name);
    struct events events = {0};
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < tree->n && !status; i++)
        status = read_event(&events, t, tree->child[i], i, ret_error);
    if (!status) status = keep_events(t, &events, ret_error);
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, events.item, events.capacity * sizeof *events.item);
    return status;
}
