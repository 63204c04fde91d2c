// SPDX-License-Identifier: Apache-2.0
// What the boxes of a disaggregated scheduled fabric share in a run: builds it, and collects its counts at the end.
#include "box/dsf/dsf_net.h"

/// Finds where each host is.
static void find_hosts(struct weft__dsf *dsf, const struct weft_topology *t, struct weft_arena *arena) {
    dsf->in_of_host = weft_arena_alloc(arena, t->hosts, sizeof *dsf->in_of_host);
    dsf->port_of_host = weft_arena_alloc(arena, t->hosts, sizeof *dsf->port_of_host);
    for (uint32_t h = 0; h < t->hosts; h++) {
        uint32_t peer = t->port[weft_topology_port(t, t->host[h], 0)->peer].node, port = 0;
        dsf->in_of_host[h] = dsf->eligible->in_of_node[peer];
        for (uint32_t k = t->node[peer].port0; t->port[k].peer != t->node[t->host[h]].port0; k++)
            port += !weft_topology_port_is_fabric(t, k);
        dsf->port_of_host[h] = (uint16_t)port;
    }
}

/// How the control plane reacts to failures, repairs and events of nodes.
struct story {
    struct weft__dsf_story of;
    struct weft_reach_timeline *reach; ///< NULL: nothing fails, and no node is drained
    struct weft_known_timeline *known;
};

static void tell_story(struct weft__network *net, struct story *story) {
    const struct weft_topology *t = net->topology;
    const struct weft_scenario *s = net->scenario;
    uint64_t seed = s->run.seed;
    struct weft__dsf_story *of = &story->of;
    *story = (struct story){0};
    enum weft_status status = weft_control_events_read(t, s->control_tree, &of->event, &of->events, NULL);
    uint32_t happens = t->events;
    for (uint32_t i = 0; i < of->events; i++)
        happens += weft_control_is_drain(&of->event[i]);
    if (!status && happens)
        status = weft_reach_timeline_new(t, &s->control.reach, of->event, of->events, seed, net->arena_switch,
                                         &story->reach, NULL);
    if (!status)
        status = weft_known_timeline_new(t, &s->control, of->event, of->events, seed, net->arena_switch, &story->known,
                                         NULL);
    assert(!status); // weft__dsf_check_shared
    (void)status;
}

static void *make_dsf(struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct story story;
    tell_story(net, &story);
    struct weft__dsf *dsf = weft_arena_alloc(net->arena_switch, 1, sizeof *dsf);
    dsf->seen = weft_arena_alloc(net->arena_switch, WEFT__WORKERS_MAX, sizeof *dsf->seen);
    dsf->changes = story.of.events > 0;
    dsf->eligible = weft__eligible_by_paths(t);
    if (story.reach) weft__eligible_change(dsf->eligible, story.reach);
    dsf->known = weft__known_new(story.known, dsf->eligible, net->arena_switch);
    find_hosts(dsf, t, net->arena_switch);
    for (uint32_t i = 0; i < t->nodes; i++) {
        dsf->llfc |= t->node[i].box == WEFT_BOX_DSF_FABRIC && weft__fabric_conf(net->device[i])->llfc;
        dsf->packing |= t->node[i].box == WEFT_BOX_DSF_INTERFACE && weft__interface_conf(net->device[i])->packing;
    }
    weft__outside_new(net, dsf, &story.of);
    return dsf;
}

static void release_dsf(void *state) {
    weft_eligible_free(((struct weft__dsf *)state)->eligible);
}

struct weft_dsf_histograms *weft__dsf_seen(struct weft__network *net, uint32_t node) {
    struct weft__dsf *dsf = weft__dsf_of(net);
    struct weft_dsf_histograms **seen = &dsf->seen[weft__engine_worker_of(&net->engine, node)];
    if (!*seen) *seen = weft_arena_alloc(net->arena_switch, 1, sizeof **seen);
    return *seen;
}

static void tell_dsf(struct weft__network *net, const struct weft__tally *sum) {
    weft_outcome_dsf(net->outcome)->cell_hops = sum->count[WEFT__COUNT_CELL_HOPS];
}

static void collect_dsf(struct weft__network *net) {
    struct weft_dsf_histograms *sum = weft_outcome_dsf(net->outcome)->seen;
    for (uint32_t w = 0; w < net->engine.conf.workers; w++) {
        const struct weft_dsf_histograms *one = weft__dsf_of(net)->seen[w];
        if (!one) continue;
#define X(field, type, unit, help) weft_histogram_merge(&sum->field, &one->field);
        WEFT_DSF_HISTOGRAMS(X)
#undef X
    }
}

static const char *dsf_unskippable(const struct weft__network *net) {
    return weft__dsf_of(net)->changes ? "something happens to nodes (control.events)" : NULL;
}

static void each_histogram(struct weft__network *net, weft__on_histogram *on_histogram, void *context) {
    for (uint32_t w = 0; w < net->engine.conf.workers; w++) {
        struct weft_dsf_histograms *one = weft__dsf_of(net)->seen[w];
        if (one) weft__histograms_each((struct weft_histogram *)one, sizeof *one, on_histogram, context);
    }
}

const struct weft__shared weft__dsf_shared = {
    .check = weft__dsf_check_shared,
    .make = make_dsf,
    .free = release_dsf,
    .tell = tell_dsf,
    .collect = collect_dsf,
    .explain = weft__dsf_explain,
    .unskippable = dsf_unskippable,
    .each_histogram = each_histogram,
};

uint32_t weft__dsf_ethernet_port(const struct weft_topology *t, uint32_t node, uint32_t k) {
    uint32_t port = t->node[node].port0;
    while (weft_topology_port_is_fabric(t, port) || k--)
        port++;
    return port;
}
