// SPDX-License-Identifier: Apache-2.0
// Where SFC must work in a scenario: at the switch of the host that most others send to, for the source whose shortest
// path to it takes longest. In SFC's study all links and switches of a path are alike; here each has its own delay.
#include "plan/plan.h"
#include "weft/sim.h"

struct search {
    const struct weft_topology *t;
    const struct weft_device_conf **device;
    uint32_t *hops; ///< node -> links to the congested switch; WEFT_NONE: not reached
    /// The longest of the shortest paths from the node to the congested switch; the sum of switches includes both.
    weft_time_ps *delay, *processing;
    uint32_t *queue;
};

/// The host with the most senders (the first one in a tie), and which hosts those are.
static uint32_t find_receiver(const struct weft_topology *t, const struct weft_workload *w, struct weft_arena *arena,
                              uint64_t *ret_senders, bool *ret_sends) {
    uint32_t *senders = weft_arena_alloc(arena, t->hosts, sizeof *senders), most = 0;
    uint32_t *first = weft_arena_alloc(arena, t->hosts, sizeof *first), *next = weft_arena_alloc(arena, w->flows, 4);
    uint32_t *seen = weft_arena_alloc(arena, t->hosts, sizeof *seen);
    for (uint32_t f = 0; f < w->flows; f++) { // flows of each receiver, linked; 0 ends
        next[f] = first[w->flow[f].dst];
        first[w->flow[f].dst] = f + 1;
    }
    for (uint32_t h = 0; h < t->hosts; h++) {
        for (uint32_t f = first[h]; f; f = next[f - 1]) {
            senders[h] += seen[w->flow[f - 1].src] != h + 1;
            seen[w->flow[f - 1].src] = h + 1;
        }
        if (senders[h] > senders[most]) most = h;
    }
    for (uint32_t f = first[most]; f; f = next[f - 1])
        ret_sends[w->flow[f - 1].src] = true;
    *ret_senders = senders[most];
    return most;
}

static weft_time_ps processing_of(const struct search *s, uint32_t node) {
    return s->t->node[node].role == WEFT_NODE_SWITCH ? s->device[node]->sw.processing_ps : 0;
}

/// From `node` to the neighbour behind its port k: keep it if it is found first, or is as near and slower.
static void relax_port(struct search *s, uint32_t node, uint32_t k, uint32_t *tail) {
    const struct weft_port_info *port = weft_topology_port(s->t, node, k);
    uint32_t far = s->t->port[port->peer].node;
    if (s->hops[far] == WEFT_NONE) {
        s->hops[far] = s->hops[node] + 1;
        s->queue[(*tail)++] = far;
    }
    if (s->hops[far] != s->hops[node] + 1) return;
    weft_time_ps delay = s->delay[node] + s->t->link[port->link].delay_ps;
    weft_time_ps processing = s->processing[node] + processing_of(s, far);
    if (delay + processing <= s->delay[far] + s->processing[far]) return;
    s->delay[far] = delay;
    s->processing[far] = processing;
}

/// Breadth first; a node is visited after all nearer ones, so its sums are final.
static void run_search(struct search *s, uint32_t congested, struct weft_arena *arena) {
    const struct weft_topology *t = s->t;
    s->hops = weft_arena_alloc(arena, t->nodes, sizeof *s->hops);
    s->delay = weft_arena_alloc(arena, t->nodes, sizeof *s->delay);
    s->processing = weft_arena_alloc(arena, t->nodes, sizeof *s->processing);
    s->queue = weft_arena_alloc(arena, t->nodes, sizeof *s->queue);
    for (uint32_t n = 0; n < t->nodes; n++)
        s->hops[n] = WEFT_NONE;
    s->hops[congested] = 0;
    s->processing[congested] = processing_of(s, congested);
    s->queue[0] = congested;
    for (uint32_t head = 0, tail = 1; head < tail; head++)
        for (uint32_t k = 0; k < t->node[s->queue[head]].ports; k++)
            relax_port(s, s->queue[head], k, &tail);
}

/// Data passes every switch of the path, a message all but the congested one; the source's NIC also takes some time.
static weft_time_ps round_trip(const struct search *s, uint32_t source, uint32_t congested) {
    return 2 * s->delay[source] + 2 * s->processing[source] - processing_of(s, congested) +
           s->device[source]->host.processing_ps;
}

static uint32_t find_source(const struct search *s, const bool *sends, uint32_t congested) {
    uint32_t found = WEFT_NONE;
    for (uint32_t h = 0; h < s->t->hosts; h++) {
        uint32_t node = s->t->host[h];
        if (sends[h] && (found == WEFT_NONE || round_trip(s, node, congested) > round_trip(s, found, congested)))
            found = node;
    }
    return found;
}

/// The most queue pairs of a source to the receiver that host.sfc_scope pauses one by one; 1 if it pauses them
/// together.
static uint32_t find_queue_pairs(const struct search *s, const struct weft_workload *w, uint32_t receiver,
                                 struct weft_arena *arena) {
    uint32_t *of_source = weft_arena_alloc(arena, s->t->hosts, sizeof *of_source), most = 1;
    for (uint32_t f = 0; f < w->flows; f++) {
        const struct weft_flow *flow = &w->flow[f];
        const struct weft_host_conf *host = &s->device[s->t->host[flow->src]]->host;
        if (flow->dst != receiver || !host->sfc || host->sfc_scope != WEFT_SFC_FLOW) continue;
        of_source[flow->src] += flow->qps;
        if (of_source[flow->src] > most) most = of_source[flow->src];
    }
    return most;
}

static void fill_conf(const struct weft__plan_switch *sw, struct weft_plan_incast *place) {
    place->conf.buffer_bytes = sw->buffer_bytes;
    place->conf.pfc_threshold_bytes = sw->pfc_threshold_bytes;
    place->conf.threshold_bytes = sw->sfc_threshold_bytes;
    place->conf.pause_ps = sw->sfc_pause_ps;
    place->conf.interval_ps = sw->sfc_interval_ps;
    place->sfc = sw->sfc;
    place->buffer_text = sw->buffer_text;
}

struct weft_plan_incast weft_plan_scenario_incast(const struct weft_scenario *scenario, const struct weft_topology *t,
                                                  const struct weft_workload *workload, struct weft_arena *arena) {
    struct weft_plan_incast place = {.receiver = WEFT_NONE};
    struct weft_arena *scratch = scenario->arena;
    bool *sends = weft_arena_alloc(scratch, t->hosts, sizeof *sends);
    uint32_t host = find_receiver(t, workload, scratch, &place.conf.incast, sends);
    if (place.conf.incast < 2) return place;
    struct search s = {.t = t, .device = weft_device_confs(scenario, t, scratch)};
    const struct weft_port_info *port = weft_topology_port(t, t->host[host], 0);
    const struct weft_link_info *link = &t->link[port->link];
    uint32_t congested = t->port[port->peer].node;
    run_search(&s, congested, scratch);
    uint32_t source = find_source(&s, sends, congested), links = s.hops[source];
    place.receiver = host;
    place.queue_pairs = find_queue_pairs(&s, workload, host, scratch);
    place.receiver_name = weft_arena_text(arena, t->node[t->host[host]].name);
    place.switch_name = weft_arena_text(arena, t->node[congested].name);
    place.source_name = weft_arena_text(arena, t->node[source].name);
    place.conf.rate_bps = link->rate_bps;
    place.conf.delay_ps = link->delay_ps;
    place.conf.processing_ps = processing_of(&s, congested);
    place.path = (struct weft_plan_path){links, 2 * links - 1, round_trip(&s, source, congested)};
    place.alike =
        place.path.round_trip_ps == 2 * links * place.conf.delay_ps + place.path.passes * place.conf.processing_ps;
    place.conf.layers = (links + 1) / 2;
    struct weft__plan_switch sw = weft__plan_switch(&s.device[congested]->sw, weft__plan_ports(t, congested), arena);
    fill_conf(&sw, &place);
    place.conf.best_effort = !s.device[congested]->sw.pfc.priorities;
    uint32_t lines;
    struct weft_plan_pfc_conf base = {.formula = WEFT_PLAN_BOUND};
    const struct weft_plan_line *line = weft_plan_scenario_lines(scenario, t, &base, scratch, &lines);
    line = weft_plan_worst_line(line, lines);
    if (!line || place.conf.best_effort) return place;
    place.pfc = line->pfc;
    place.conf.pfc_headroom_bytes = weft_plan_calc_pfc(&place.pfc).headroom_bytes;
    return place;
}
