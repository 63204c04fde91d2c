// SPDX-License-Identifier: Apache-2.0
#include "box/switch/te_controller.h"

#include <assert.h>
#include <string.h>

#include "base/grow.h"
#include "base/image.h"
#include "box/switch/switch.h"
#include "weft/memory.h"

struct weft__te {
    struct weft__network *net;
    struct weft_route_schedule schedule;
    uint32_t node;                ///< of the engine
    uint32_t kept;                ///< rounds for which reports and plans are kept
    struct weft__te_agent *agent; ///< [switches]
    struct weft_arena **arena;    ///< [round % kept], of the plan
    const struct weft_cspf_plan *last;
    struct weft_cspf_demand *demand; ///< gathered in this round, or known in advance
    uint32_t demands, demands_capacity;
    uint32_t phases, averaged;      ///< for known demands, struct weft_te_outcome
    struct weft_arena *arena_known; ///< holds the known demands of each phase
    struct weft_te_round *round;
    uint32_t rounds, rounds_capacity;
};

static const struct weft_route_ops *ops_of(const struct weft__network *net, uint32_t sw) {
    return net->device[net->topology->switch_node[sw]]->sw.route.model->ops;
}

static struct weft__switch *switch_of(const struct weft__te *te, uint32_t sw) {
    return weft__network_state(te->net, te->net->topology->switch_node[sw]);
}

static uint64_t intervals_of(const struct weft_route_schedule *s, weft_time_ps time) {
    return (time + s->interval_ps - 1) / s->interval_ps;
}

static void *make_te(struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    if (!ops_of(net, 0)->program) return NULL; // all or none have it: weft_simulation_check
    struct weft__te *te = weft_arena_alloc(net->arena_switch, 1, sizeof *te);
    te->net = net;
    te->schedule = ops_of(net, 0)->program->schedule(net->device[t->switch_node[0]]->sw.route.conf);
    uint64_t collector = intervals_of(&te->schedule, te->schedule.collector_ps),
             programming = intervals_of(&te->schedule, te->schedule.programming_ps);
    te->kept = (uint32_t)(collector > programming ? collector : programming) + 2;
    te->arena = weft_arena_alloc(net->arena_switch, te->kept, sizeof *te->arena);
    te->agent = weft_arena_alloc(net->arena_switch, t->switches, sizeof *te->agent);
    for (uint32_t sw = 0; sw < t->switches; sw++) {
        te->agent[sw] = (struct weft__te_agent){.schedule = te->schedule, .kept = te->kept};
        te->agent[sw].orders = weft_arena_alloc(net->arena_switch, te->kept, sizeof *te->agent[sw].orders);
        if (te->schedule.known || net->epoch[0].routes->edge_of_switch[sw] == WEFT_NONE) continue;
        te->agent[sw].report = weft_arena_alloc(net->arena_switch, te->kept, sizeof *te->agent[sw].report);
    }
    return te;
}

static weft_time_ps te_lookahead(const void *state) {
    const struct weft_route_schedule *s = &((const struct weft__te *)state)->schedule;
    return s->collector_ps < s->programming_ps ? s->collector_ps : s->programming_ps;
}

const struct weft__te_agent *weft__te_agent(const struct weft__te *te, uint32_t sw) {
    return te ? &te->agent[sw] : NULL;
}

// --- demands ------------------------------------------------------------------------------------------------------

static void add_demand(struct weft__te *te, const struct weft_cspf_demand *demand) {
    WEFT__ADD_DOUBLE(WEFT_MEMORY_SWITCH, te->demand, te->demands, te->demands_capacity, 256) = *demand;
}

/// What a switch measured.
static void on_report(struct weft__te *te, uint32_t sw, uint64_t round) {
    struct weft__te_report *report = &te->agent[sw].report[round % te->kept];
    double seconds = (double)te->schedule.interval_ps / (double)WEFT_PS_PER_S;
    for (uint32_t i = 0; i < report->n; i++) {
        const struct weft__te_key *key = &report->key[i];
        struct weft_cspf_demand demand = {.sw = sw,
                                          .edge = key->edge,
                                          .port = key->port,
                                          .rate_bps = (weft_rate_bps)((double)key->bytes * 8 / seconds)};
        add_demand(te, &demand);
    }
    report->n = 0;
}

/// The traffic in the opposite direction, per byte of data: an ACK of 66 B for a packet of 4096 B, an occasional
/// clear-to-send.
static const double answer_part = 0.02;

/// What hosts send to racks, for one sort of traffic.
struct matrix {
    double *all, *to; ///< [hosts]; [hosts * edges]
};

static struct matrix matrix_new(const struct weft_topology *t, const struct weft_routes *r, struct weft_arena *arena) {
    return (struct matrix){weft_arena_alloc(arena, t->hosts, sizeof(double)),
                           weft_arena_alloc(arena, (size_t)t->hosts * r->edges, sizeof(double))};
}

static void matrix_add(struct matrix *m, const struct weft_routes *r, uint32_t from, uint32_t to, weft_bytes bytes) {
    m->all[from] += (double)bytes;
    m->to[(size_t)from * r->edges + r->edge_of_host[to]] += (double)bytes;
}

/// The share of a host's traffic that goes to a rack.
static double matrix_part(const struct matrix *m, const struct weft_routes *r, uint32_t host, uint32_t edge) {
    return m->all[host] > 0 ? m->to[(size_t)host * r->edges + edge] / m->all[host] : 0;
}

/// Traffic that is active at the same time: of one job, the messages of its operations of one sort; of everything else,
/// all.
struct phase {
    const struct weft_job *job; ///< NULL: everything of every job
    uint32_t communicator, volume;
};
enum { PHASES_MAX = 64 };

/// Whether its operations come one after another, at all ranks.
static bool in_turn(const struct weft_job *job) {
    bool overlap = job->stages > 1;
    for (uint32_t i = 0; i < job->ops; i++)
        overlap |= job->op[i].overlap;
    return !overlap;
}

static bool over_network(const struct weft_job *job, uint32_t communicator, uint32_t volume) {
    for (uint32_t i = 0; i < job->connections; i++) {
        const struct weft_connection *c = &job->connection[i];
        if (c->communicator == communicator && c->flow != WEFT_NONE && c->messages[volume]) return true;
    }
    return false;
}

/// Adds the phases of a job after the n existing ones.
static uint32_t find_phases_of(const struct weft_job *job, struct phase *phase, uint32_t n) {
    for (uint32_t c = 0; c < job->communicators; c++)
        for (uint32_t v = 0; v < job->communicator[c].volumes && n < PHASES_MAX; v++)
            if (over_network(job, c, v)) phase[n++] = (struct phase){job, c, v};
    return n;
}

/// At least one.
static void find_phases(struct weft__te *te, struct phase *phase) {
    const struct weft_workload *w = te->net->workload;
    for (uint32_t i = 0; i < w->jobs; i++) {
        uint32_t n = find_phases_of(&w->job[i], phase, te->phases), own = n - te->phases;
        if (own < 2) continue;
        if (in_turn(&w->job[i]) && n < PHASES_MAX)
            te->phases = n;
        else
            te->averaged += own;
    }
    if (te->phases) return;
    phase[0] = (struct phase){NULL, 0, 0};
    te->phases = 1;
}

struct traffic {
    struct matrix data, answers;
};

static void traffic_add(struct traffic *t, const struct weft_routes *r, const struct weft_flow *f, weft_bytes bytes) {
    if (r->edge_of_host[f->src] == WEFT_NONE || r->edge_of_host[f->dst] == WEFT_NONE) return;
    matrix_add(&t->data, r, f->src, f->dst, bytes);
    matrix_add(&t->answers, r, f->dst, f->src, bytes);
}

static struct traffic traffic_of(const struct weft__te *te, const struct phase *phase, struct weft_arena *arena) {
    const struct weft_workload *w = te->net->workload;
    const struct weft_routes *r = te->net->epoch[0].routes;
    const struct weft_topology *t = te->net->topology;
    struct traffic ret = {matrix_new(t, r, arena), matrix_new(t, r, arena)};
    bool *of_job = weft_arena_alloc(arena, w->flows, sizeof *of_job);
    for (uint32_t i = 0; phase->job && i < phase->job->connections; i++) {
        const struct weft_connection *c = &phase->job->connection[i];
        if (c->flow == WEFT_NONE) continue;
        of_job[c->flow] = true;
        if (c->communicator == phase->communicator)
            traffic_add(&ret, r, &w->flow[c->flow], c->messages[phase->volume] * c->message_bytes_max);
    }
    for (uint32_t i = 0; i < w->flows; i++)
        if (!of_job[i]) traffic_add(&ret, r, &w->flow[i], w->flow[i].bytes);
    return ret;
}

/// A host sends at its line rate, to each rack in proportion to its data for that rack; and answers in proportion to
/// what arrives from there.
static weft_rate_bps known_rate(const struct weft__te *te, const struct traffic *traffic, uint32_t host,
                                uint32_t edge) {
    const struct weft_topology *t = te->net->topology;
    const struct weft_routes *r = te->net->epoch[0].routes;
    double part = (1 - answer_part) * matrix_part(&traffic->data, r, host, edge) +
                  answer_part * matrix_part(&traffic->answers, r, host, edge);
    return (weft_rate_bps)((double)t->link[weft_topology_port(t, t->host[host], 0)->link].rate_bps * part);
}

/// The demands of each phase, known from the workload.
static void find_known(struct weft__te *te) {
    const struct weft_topology *t = te->net->topology;
    const struct weft_routes *r = te->net->epoch[0].routes;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SWITCH);
    struct phase phase[PHASES_MAX];
    find_phases(te, phase);
    te->arena_known = weft_arena_new(WEFT_MEMORY_SWITCH);
    weft_rate_bps *rate = weft_arena_alloc(te->arena_known, (size_t)t->hosts * r->edges * te->phases, sizeof *rate);
    for (uint32_t k = 0; k < te->phases; k++) {
        struct traffic traffic = traffic_of(te, &phase[k], arena);
        for (uint32_t h = 0; h < t->hosts; h++)
            for (uint32_t edge = 0; edge < r->edges; edge++)
                rate[((size_t)h * r->edges + edge) * te->phases + k] = known_rate(te, &traffic, h, edge);
    }
    for (uint32_t h = 0; h < t->hosts; h++) {
        const struct weft_port_info *port = weft_topology_port(t, t->host[h], 0), *peer = &t->port[port->peer];
        struct weft_cspf_demand demand = {.sw = t->node[peer->node].index,
                                          .port = (uint16_t)(port->peer - t->node[peer->node].port0)};
        for (demand.edge = 0; demand.edge < r->edges; demand.edge++) {
            demand.phase_bps = &rate[((size_t)h * r->edges + demand.edge) * te->phases];
            demand.rate_bps = 0;
            for (uint32_t k = 0; k < te->phases; k++)
                if (demand.phase_bps[k] > demand.rate_bps) demand.rate_bps = demand.phase_bps[k];
            if (demand.rate_bps) add_demand(te, &demand);
        }
    }
}

// --- rounds -------------------------------------------------------------------------------------------------------

static const struct weft_routes *routes_at(const struct weft__network *net, weft_time_ps now) {
    uint32_t e = 0;
    while (e + 1 < net->epochs && net->epoch[e + 1].from_ps <= now)
        e++;
    return net->epoch[e].routes;
}

static void note_round(struct weft__te *te, weft_time_ps until, weft_time_ps now, weft_time_ps in_force) {
    te->round =
        weft__memory_double(WEFT_MEMORY_RESULT, te->round, te->rounds, &te->rounds_capacity, 16, sizeof *te->round);
    const struct weft_cspf_plan *p = te->last;
    assert(until <= now && now <= in_force);
    te->round[te->rounds++] = (struct weft_te_round){.measured_ps = until,
                                                     .computed_ps = now,
                                                     .in_force_ps = in_force,
                                                     .demands = p->demands,
                                                     .beyond = p->beyond,
                                                     .unreachable = p->unreachable,
                                                     .entries = p->entries,
                                                     .utilisation_max = p->utilisation_max};
}

/// Computes a plan for the current demands.
static void compute_plan(struct weft__te *te, uint64_t round, weft_time_ps now) {
    assert(te->kept);
    struct weft_arena **arena = &te->arena[round % te->kept];
    if (*arena) weft_arena_free(*arena);
    *arena = weft_arena_new(WEFT_MEMORY_SWITCH);
    te->last = weft_cspf_place_phases(te->net->topology, routes_at(te->net, now), te->schedule.known ? te->phases : 1,
                                      te->demand, te->demands, te->last, *arena);
    if (!te->schedule.known) te->demands = 0;
    for (uint32_t sw = 0; sw < te->net->topology->switches; sw++)
        te->agent[sw].orders[round % te->kept] = (struct weft__te_orders){
            .entry = te->last->entry + te->last->first[sw], .n = te->last->first[sw + 1] - te->last->first[sw]};
}

static void program_switches(struct weft__te *te, struct weft__worker *w, uint64_t round, weft_time_ps at) {
    const struct weft_topology *t = te->net->topology;
    for (uint32_t sw = 0; sw < t->switches; sw++) {
        uint32_t node = t->switch_node[sw];
        weft__send(w, (struct weft__to){weft__engine_inbox_of(&te->net->engine, node), node, WEFT__TE_PORT}, at,
                   &(struct weft_packet){.psn = (uint32_t)round, .kind = WEFT_PACKET_CONTROL});
    }
}

static void on_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *packet, uint64_t word) {
    struct weft__te *te = node->state;
    on_report(te, packet->psn, weft__te_round(&te->schedule, w->now_ps - te->schedule.collector_ps));
}

static void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    struct weft__te *te = node->state;
    weft_time_ps until = w->now_ps - te->schedule.collector_ps, in_force = w->now_ps + te->schedule.programming_ps;
    uint64_t round = weft__te_round(&te->schedule, until);
    compute_plan(te, round, w->now_ps);
    program_switches(te, w, round, in_force);
    note_round(te, until, w->now_ps, in_force);
    weft__timer_set(&node->timers, key, w->now_ps + te->schedule.interval_ps);
}

static void controller_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n,
                             weft_time_ps end) {}
static void controller_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {}
static void controller_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival,
                           uint32_t n, weft_time_ps end) {
    weft__node_run(node, w, arrival, n, end, on_packet, on_timer);
}
static const struct weft__node_ops controller_ops = {
    .fetch = controller_fetch, .prepare = controller_prepare, .run = controller_run};

// --- life ---------------------------------------------------------------------------------------------------------

static void start_node(struct weft__te *te) {
    struct weft__node *node = &te->net->engine.node[te->node];
    node->ops = &controller_ops;
    node->state = te;
    weft__timers_init(&node->timers, 1);
    weft__timer_set(&node->timers, 0, te->schedule.interval_ps + te->schedule.collector_ps);
}

/// Over ranks, each computes the first plan itself if demands are known.
static void start_te(struct weft__network *net, uint32_t node) {
    struct weft__te *te = net->shared[WEFT_BOX_ETHERNET_SWITCH];
    const struct weft_topology *t = net->topology;
    te->node = node;
    for (uint32_t sw = 0; sw < t->switches; sw++) {
        te->agent[sw].controller = node;
        te->agent[sw].inbox = weft__engine_inbox_of(&net->engine, node);
    }
    if (weft__network_is_own(net, node)) start_node(te);
    if (!te->schedule.known) return;
    find_known(te);
    compute_plan(te, 0, 0);
    for (uint32_t sw = 0; sw < t->switches; sw++)
        if (weft__network_is_own(net, t->switch_node[sw]))
            weft__switch_te_install(switch_of(te, sw), &te->agent[sw].orders[0]);
    note_round(te, 0, 0, 0);
}

static void collect_te(struct weft__network *net) {
    const struct weft__te *te = net->shared[WEFT_BOX_ETHERNET_SWITCH];
    struct weft_outcome *o = net->outcome;
    struct weft_te_outcome *out = weft_arena_alloc(o->arena, 1, sizeof *out);
    out->rounds = te->rounds;
    out->phases = te->phases;
    out->averaged = te->averaged;
    out->round = weft_arena_alloc(o->arena, te->rounds, sizeof *out->round);
    if (te->rounds) memcpy(out->round, te->round, te->rounds * sizeof *out->round);
    for (uint32_t sw = 0; sw < te->net->topology->switches; sw++) {
        uint64_t by_entry, by_fallback;
        ops_of(te->net, sw)->program->counts(switch_of(te, sw)->route_state, &by_entry, &by_fallback);
        out->by_entry += by_entry;
        out->by_fallback += by_fallback;
    }
    o->te = out;
}

static void release_te(void *state) {
    struct weft__te *te = state;
    for (uint32_t k = 0; k < te->kept; k++)
        if (te->arena[k]) weft_arena_free(te->arena[k]);
    for (uint32_t sw = 0; sw < te->net->topology->switches; sw++)
        for (uint32_t k = 0; te->agent[sw].report && k < te->kept; k++) {
            struct weft__te_report *report = &te->agent[sw].report[k];
            weft_memory_free(WEFT_MEMORY_SWITCH, report->key, report->capacity * sizeof *report->key);
        }
    if (te->arena_known) weft_arena_free(te->arena_known);
    weft_memory_free(WEFT_MEMORY_SWITCH, te->demand, te->demands_capacity * sizeof *te->demand);
    weft_memory_free(WEFT_MEMORY_RESULT, te->round, te->rounds_capacity * sizeof *te->round);
}

// --- over ranks ---------------------------------------------------------------------------------------------------

static struct weft__te_report *report_of(const struct weft__te *te, const struct weft_packet *p) {
    uint64_t round = weft__te_round(&te->schedule, p->time_ps - te->schedule.collector_ps);
    return &te->agent[p->psn].report[round % te->kept];
}

static struct weft__te_orders *orders_of(const struct weft__te *te, const struct weft_packet *p) {
    return &te->agent[te->net->topology->node[p->node].index].orders[p->psn % te->kept];
}

static uint32_t give_te(struct weft__network *net, const struct weft_packet *p, const unsigned char **ret) {
    const struct weft__te *te = net->shared[WEFT_BOX_ETHERNET_SWITCH];
    if (p->node == te->node) {
        const struct weft__te_report *report = report_of(te, p);
        *ret = (const unsigned char *)report->key;
        return report->n * (uint32_t)sizeof *report->key;
    }
    const struct weft__te_orders *orders = orders_of(te, p);
    *ret = (const unsigned char *)orders->entry;
    return orders->n * (uint32_t)sizeof *orders->entry;
}

static void take_report(struct weft__te_report *report, const unsigned char *bytes, uint32_t n) {
    report->n = n / (uint32_t)sizeof *report->key;
    if (report->n > report->capacity) {
        report->key = weft_memory_resize(WEFT_MEMORY_SWITCH, report->key, report->capacity * sizeof *report->key, n);
        report->capacity = report->n;
    }
    memcpy(report->key, bytes, n);
}

static void take_orders(struct weft__te_orders *orders, const unsigned char *bytes, uint32_t n) {
    struct weft_cspf_entry *own = orders->room ? (struct weft_cspf_entry *)(uintptr_t)orders->entry : NULL;
    orders->n = n / (uint32_t)sizeof *own;
    if (orders->n > orders->room) {
        own = weft_memory_resize(WEFT_MEMORY_SWITCH, own, orders->room * sizeof *own, n);
        orders->room = orders->n;
    }
    memcpy(own, bytes, n);
    orders->entry = own;
}

static void take_te(struct weft__network *net, const struct weft_packet *p, const unsigned char *bytes, uint32_t n) {
    const struct weft__te *te = net->shared[WEFT_BOX_ETHERNET_SWITCH];
    if (p->node == te->node)
        take_report(report_of(te, p), bytes, n);
    else
        take_orders(orders_of(te, p), bytes, n);
}

/// Reports belong to their switch, and everything else to the controller.
static void forget_te(struct weft__network *net) {
    struct weft__te *te = net->shared[WEFT_BOX_ETHERNET_SWITCH];
    const struct weft_topology *t = net->topology;
    bool own = weft__network_is_own(net, te->node);
    for (uint32_t sw = 0; sw < t->switches; sw++) {
        const struct weft__te_agent *agent = &te->agent[sw];
        if (agent->report && !weft__network_is_own(net, t->switch_node[sw]))
            weft__image_forget(agent->report, te->kept * sizeof *agent->report);
        if (!own) weft__image_forget(agent->orders, te->kept * sizeof *agent->orders);
    }
    if (own) return;
    weft__image_forget(te->agent, t->switches * sizeof *te->agent);
    weft__image_forget(te->arena, te->kept * sizeof *te->arena);
    weft__image_forget(te, sizeof *te);
}

static const char *te_unskippable(const struct weft__network *net) {
    return "a controller of traffic engineering measures what passes (switch.route)";
}

const struct weft__shared weft__te_shared = {
    .make = make_te,
    .free = release_te,
    .lookahead = te_lookahead,
    .start = start_te,
    .collect = collect_te,
    .give = give_te,
    .take = take_te,
    .forget = forget_te,
    .unskippable = te_unskippable,
};
