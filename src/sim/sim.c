// SPDX-License-Identifier: Apache-2.0
// From scenario, topology and workload to an outcome: assemble, run, collect.
#include "weft/sim.h"
#include "base/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/numa.h"
#include "base/units.h"
#include "box/box.h"
#include "box/clock.h"
#include "sim/attached.h"
#include "sim/paths.h"
#include "sim/run.h"
#include "skip/fast_forward.h"
#include "skip/sample.h"
#include "weft/aqm.h"
#include "weft/cc.h"
#include "weft/checkpoint.h"
#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/ranks.h"
#include "weft/transport.h"

// --- assembling ---------------------------------------------------------------------------------------------------

/// Routes for each state of the links; a change takes effect the detection time after it happens.
/// Which paths of flows have a link out of service; NULL: no flow names a path.
static const bool *find_severed(const struct weft_workload *w, const struct weft_topology *t, const bool *down,
                                struct weft_arena *arena) {
    bool *severed = w->paths ? weft_arena_alloc(arena, w->paths, sizeof *severed) : NULL;
    for (uint32_t p = 0; p < w->paths; p++)
        for (uint32_t i = 0; i < w->path[p].switches; i++) {
            const struct weft_flow_hop *hop = &w->path[p].hop[i];
            severed[p] |= down[weft_topology_port(t, t->switch_node[hop->sw], hop->port)->link];
        }
    return severed;
}

static void make_epochs(struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct weft_arena *arena = net->arena_switch;
    net->epoch = weft_arena_alloc(arena, t->events + 1, sizeof *net->epoch);
    bool *down = weft_arena_alloc(arena, t->links, sizeof *down);
    net->epoch[0] = (struct weft__epoch){.routes = weft_routes_new(t, NULL)};
    net->epochs = 1;
    for (uint32_t i = 0; i < t->events; i++) {
        down[t->event[i].link] = !t->event[i].up;
        if (i + 1 < t->events && t->event[i + 1].time_ps == t->event[i].time_ps) continue;
        net->epoch[net->epochs++] = (struct weft__epoch){
            t->event[i].time_ps + net->scenario->run.detection_ps,
            weft_routes_new(t, down),
            find_severed(net->workload, t, down, arena),
        };
    }
}

/// Whether the node, a switch, acts as a proxy for a host unless the host understands source flow control. With DCBX
/// the host announces it during the run; otherwise its configuration tells.
static bool is_sfc_proxy(const struct weft__network *net, uint32_t node, uint32_t host_node) {
    const struct weft_topology *t = net->topology;
    if (!net->sfc_pause_ps || t->node[node].role != WEFT_NODE_SWITCH) return false;
    if (t->node[host_node].role != WEFT_NODE_HOST) return false;
    if (!net->device[node]->sw.sfc_proxy) return false;
    return net->device[node]->dcbx.enabled || !net->device[host_node]->host.sfc;
}

static void set_retry(struct weft__network *net, uint32_t port, struct weft__port_faults *faults) {
    const struct weft_topology *t = net->topology;
    const struct weft_port_info *info = &t->port[port];
    const struct weft_device_conf *device = net->device[info->node];
    const struct weft_model_conf *retry =
        t->node[info->node].role == WEFT_NODE_HOST ? &device->host.retry : &device->sw.retry;
    if (!faults) return;
    faults->retry = (struct weft__port_retry){retry->model->ops, retry->conf, t->link[info->link].rate_bps};
}

static void connect_port(struct weft__network *net, uint32_t port) {
    const struct weft_topology *t = net->topology;
    const struct weft_port_info *info = &t->port[port], *far = &t->port[info->peer];
    const struct weft__box *box = weft__box_at(t, port);
    struct weft__port *own = weft__network_port(net, port);
    struct weft_arena *arena = t->node[info->node].role == WEFT_NODE_HOST ? net->arena_host : net->arena_switch;
    struct weft__port_setup setup = {weft__network_faults(net, port, arena), weft__capture_tap(net, port, arena)};
    if (!own) {
        box->connect(net, port, &setup);
        return;
    }
    struct weft__port_peer peer = weft__network_peer(net, port);
    weft__port_init(own, port, &t->link[info->link], &peer, net->outcome, setup.faults, setup.tap);
    weft__port_set_speed(own, weft__clock_speed(t, net->device, net->scenario->run.seed, port));
    set_retry(net, port, setup.faults);
    if (t->link[info->link].members > 1) weft__port_set_members(own, t->link[info->link].members, arena);
    const struct weft_device_conf *device = net->device[info->node];
    const struct weft_wire_conf *wire =
        t->node[info->node].role == WEFT_NODE_HOST ? &device->host.wire : &device->sw.wire;
    if (!weft_wire_is_standard(wire)) weft__port_set_wire(own, wire, arena);
    own->until_resume = box->pfc(device)->lasts == WEFT_PFC_LASTS_UNTIL_RESUME;
    weft__port_set_lossless(own, 0, box->pfc(net->device[info->node])->priorities);
    if (is_sfc_proxy(net, info->node, far->node))
        own->proxy_until_ps = weft_arena_alloc(arena, WEFT_PRIORITIES, sizeof(weft_time_ps));
    if (net->scenario->run.count_flows && t->node[info->node].role == WEFT_NODE_SWITCH &&
        t->node[far->node].role == WEFT_NODE_SWITCH)
        weft__port_count_flows(own, net->scenario->run.flow_bytes_min);
    own->trace = weft__network_trace(net, info->node);
    own->follow = weft__network_follow(net, info->node);
    own->telemetry = net->telemetry && t->node[info->node].role == WEFT_NODE_SWITCH;
    own->credit = weft__network_credit(net, port, arena);
    bool every = own->follow && own->follow->all && own->follow->all[port - own->follow->port0];
    if (own->telemetry || own->credit || every)
        own->special = WEFT__PORT_SPECIAL;
    else if (own->follow && own->special != WEFT__PORT_SPECIAL)
        own->special = WEFT__PORT_FOLLOWED;
    own->lldp = weft__lldp_new(net, port, arena);
}

/// Hosts with a single link, to a box before them or before other hosts of that box. A program that drives hosts relies
/// on the lookahead from host to host, which leaves would increase, so there only boxes that require leaves get them.
/// NULL: there are none.
static const bool *find_leaves(const struct weft__network *net, uint32_t nodes) {
    const struct weft_topology *t = net->topology;
    if (weft__planes(t, net->device) > 1) return NULL; // a host in several networks has several neighbours
    bool *leaf = weft_arena_alloc(net->arena_host, nodes, sizeof *leaf), any = false;
    uint32_t trunk = WEFT_NONE; // the trunk of the hosts that follow
    for (uint32_t i = 0; i < t->nodes; i++) {
        if (net->driver || net->raw ? weft__box_of(&t->node[i])->has_leaves : t->node[i].role == WEFT_NODE_SWITCH)
            trunk = i;
        bool is_host = t->node[i].role == WEFT_NODE_HOST && t->node[i].ports == 1;
        leaf[i] = is_host && t->port[t->port[t->node[i].port0].peer].node == trunk;
        if (!leaf[i] && trunk != i) trunk = WEFT_NONE;
        any |= leaf[i];
    }
    return any ? leaf : NULL;
}

/// The least time from a node's action to its effect on another node other than a leaf: over all links, the delay, the
/// shortest frame and the minimum processing time of the far end.
static weft_time_ps calc_lookahead(const struct weft__network *net, const bool *leaf) {
    const struct weft_topology *t = net->topology;
    weft_time_ps least = weft__jobs_lookahead(net->workload), triggers = weft__triggers_lookahead(net->workload);
    if (triggers < least) least = triggers;
    bool short_frames = false; // or frames take less time than on IEEE 802.3
    for (uint32_t i = 0; i < t->nodes; i++)
        short_frames |= weft__has_own_frames(net->device[i], &t->node[i]);
    const struct weft__shared *shared;
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++) {
        weft_time_ps own = shared->lookahead ? shared->lookahead(net->shared[kind]) : WEFT_TIME_NEVER;
        if (own < least) least = own;
    }
    for (uint32_t i = 0; i < t->ports; i++) {
        if (leaf && leaf[t->port[i].node]) continue;
        uint32_t far = t->port[i].peer;
        const struct weft__box *sender = weft__box_at(t, far);
        bool quiet = sender->is_quiet && sender->is_quiet(net->device[t->port[far].node]);
        struct weft__box_reaction r = weft__box_at(t, i)->reaction(net->device[t->port[i].node], t, i);
        weft_time_ps reaction = quiet || r.processing_ps < r.pause_ps ? r.processing_ps : r.pause_ps;
        uint32_t from = t->port[far].node;
        weft_time_ps frame = r.frame_least_ps - weft__clock_slack(net->device[from], &t->node[from], r.frame_least_ps);
        weft_time_ps ahead = t->link[t->port[i].link].delay_ps + (short_frames ? 0 : frame) + reaction;
        if (ahead < least) least = ahead;
    }
    return least;
}

/// Hosts are leaves if that makes windows longer: a switch takes some time to act, a NIC may take none.
static const bool *choose_leaves(const struct weft__network *net, uint32_t nodes) {
    const bool *leaf = find_leaves(net, nodes);
    if (!leaf || calc_lookahead(net, leaf) == calc_lookahead(net, NULL)) return NULL;
    return leaf;
}

/// Windows are as long as the lookahead. Where random numbers depend on windows, their length is the largest power of
/// two within it, so that a scenario's results do not change with every link or delay that limits its lookahead.
static weft_time_ps calc_window(const struct weft__network *net, weft_time_ps lookahead) {
    bool draws_ahead = false;
    for (uint32_t i = 0; i < net->topology->nodes; i++)
        draws_ahead |= weft__box_of(&net->topology->node[i])->draws_ahead;
    return draws_ahead ? UINT64_C(1) << (63 - __builtin_clzll(lookahead)) : lookahead;
}

/// No progress for this long is a stall: run.stall, plus the delays that a loss (a box's patience), a pause of source
/// flow control, a long path (request and response over HOPS links) or the turns of packet_rate explain. Samples would
/// be taken for ever if nothing else ended the run: the default then stands for `never`.
static weft_time_ps calc_patience(const struct weft__network *net) {
    enum { HOPS = 16 };
    const struct weft_topology *t = net->topology;
    weft_time_ps stall = net->scenario->run.stall_ps;
    if (stall == WEFT_TIME_NEVER) {
        if (!net->sampling.interval_ps || net->scenario->run.until_ps != WEFT_TIME_NEVER) return WEFT_TIME_NEVER;
        char why[128];
        weft__quantity_parse(WEFT__TIME, weft_param_find(&weft_run_table, "stall")->dflt, &stall, why, sizeof why);
    }
    weft_time_ps delay = 0, timeout = 0, turn = 0;
    for (uint32_t i = 0; i < t->links; i++)
        if (t->link[i].delay_ps > delay) delay = t->link[i].delay_ps;
    for (uint32_t i = 0; i < t->nodes; i++) {
        weft_time_ps of_node = weft__packet_turn(net, i);
        if (of_node > turn) turn = of_node;
        const struct weft__box *box = weft__box_of(&t->node[i]);
        weft_time_ps own = box->patience ? box->patience(net->device[i]) : 0;
        if (own != WEFT_TIME_NEVER && own > timeout) timeout = own;
    }
    weft_time_ps known = weft_time_plus(weft__jobs_patience(net->workload), HOPS * (delay + turn) + net->sfc_pause_ps);
    return weft_time_plus(weft_time_plus(stall, timeout), known);
}

/// The numbers of the queue pairs of each host, in order.
static void list_queue_pairs(const struct weft__network *net, bool sending, uint32_t **ret_first, uint32_t **ret_list) {
    uint32_t hosts = net->topology->hosts;
    uint32_t *first = weft_arena_alloc(net->arena_qp, hosts + 1, sizeof *first);
    uint32_t *list = weft_arena_alloc(net->arena_qp, net->qps, sizeof *list);
    for (uint32_t q = 0; q < net->qps; q++)
        first[(sending ? net->qp[q].src : net->qp[q].dst) + 1]++;
    for (uint32_t h = 0; h < hosts; h++)
        first[h + 1] += first[h];
    for (uint32_t q = 0; q < net->qps; q++) {
        const struct weft_qp_conf *qp = &net->qp[q];
        list[sending ? first[qp->src] + qp->at_src : first[qp->dst] + qp->at_dst] = q;
    }
    *ret_first = first;
    *ret_list = list;
}

/// A box is made on the NUMA node of the thread that will run it, and so has its memory there.
static void make_boxes(struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    const struct weft__engine *e = &net->engine;
    WEFT_ENDS(weft__numa_release) struct weft__numa numa = {0};
    uint32_t own = e->own_end - e->own_first, last = UINT32_MAX;
    weft__numa_read(&numa, own > 1 ? e->conf.numa : NULL);
    for (uint32_t i = 0; i < t->nodes; i++) {
        if (!weft__network_is_own(net, i)) continue;
        uint32_t worker = weft__engine_worker_of(e, weft__network_actor(net, i));
        if (worker != last) weft__numa_bind(&numa, worker - e->own_first, own);
        last = worker;
        weft__box_of(&t->node[i])->make(net, i);
        assert(net->engine.node[i].ops && net->engine.node[i].state); // what `make` promises
    }
}

static void make_devices(struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    make_boxes(net);
    net->frame_bytes = weft__frame_bytes_max(net->scenario, t);
    for (uint32_t i = 0; i < t->ports; i++)
        if (weft__network_is_own(net, t->port[i].node)) connect_port(net, i);
    const struct weft__shared *shared;
    for (uint32_t kind = 0, node = t->nodes; (shared = weft__shared_next(net, &kind)); kind++)
        if (shared->start) shared->start(net, node++);
    for (uint32_t i = 0; i < t->nodes; i++)
        if (weft__box_of(&t->node[i])->start && weft__network_is_own(net, i))
            weft__box_of(&t->node[i])->start(weft__network_state(net, i));
    net->made = true;
}

// --- running and collecting ---------------------------------------------------------------------------------------

static bool on_progress(void *context, const uint64_t *count, weft_time_ps now) {
    struct weft__run *run = context;
    double wall = weft__clock_s(CLOCK_MONOTONIC);
    if (wall - run->told_s < 0.05) return true;
    run->told_s = wall;
    run->progress.now_ps = now + weft__fast_forward_skipped(run->fast_forward);
    run->progress.wall_s = wall - run->begun_s;
    run->progress.packet_hops = count[WEFT__COUNT_PACKET_HOPS];
    run->progress.delivered_bytes = count[WEFT__COUNT_PAYLOAD_BYTES];
    run->progress.flows_done = (uint32_t)count[WEFT__COUNT_FLOWS_DONE];
    const struct weft_checkpoint *checkpoint = run->options.checkpoint;
    if (checkpoint && wall - run->saved_s >= checkpoint->every_s) run->net.engine.pausing = true;
    struct weft_memory *memory = weft_memory_use(NULL); // memory that a callback allocates is not the run's
    bool on = !run->options.on_progress || run->options.on_progress(run->options.context, &run->progress);
    weft_memory_use(memory);
    return on;
}

/// When all nodes know of the last failure or repair.
static weft_time_ps calc_settled(const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    weft_time_ps last = t->events ? t->event[t->events - 1].time_ps + net->scenario->run.detection_ps : 0;
    const struct weft__shared *shared;
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++) {
        weft_time_ps own = shared->settled ? shared->settled(net->shared[kind]) : 0;
        if (own > last) last = own;
    }
    return last;
}

/// The nodes of the topology, and those that boxes share.
static uint32_t count_nodes(const struct weft__network *net) {
    uint32_t nodes = net->topology->nodes;
    const struct weft__shared *shared;
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++)
        nodes += shared->start != NULL;
    return nodes;
}

static void start_engine(struct weft__run *run) {
    struct weft__network *net = &run->net;
    const struct weft_sim_options *options = &run->options;
    const struct weft_topology *t = net->topology;
    uint32_t nodes = count_nodes(net);
    const bool *leaf = choose_leaves(net, nodes);
    weft_time_ps lookahead = calc_lookahead(net, leaf);
    struct weft__engine_conf conf = {
        .meeting_events = WEFT__MEETING_EVENTS,
        .oversubscribe = options->oversubscribe,
        .numa = options->pin ? WEFT__NUMA_FOLDER : NULL,
        .nodes = nodes,
        .leaf = leaf,
        .workers = options->threads * (options->ranks ? options->ranks->n : 1),
        .ranks = options->ranks,
        .lookahead_ps = lookahead,
        .window_ps = calc_window(net, lookahead),
        .until_ps = net->scenario->run.until_ps < WEFT_TIME_MAX ? net->scenario->run.until_ps : WEFT_TIME_MAX,
        .stall_ps = calc_patience(net),
        .settled_ps = calc_settled(net),
        .work = net->raw ? UINT64_MAX / 2
                         : net->qps + (net->hosts.programs ? net->hosts.programs->n : 0) + weft__rma_work_count(net),
        .waiting = weft__triggers_waiting(net->workload),
        .profile = options->profile,
        .interrupt = options->interrupt,
        .on_progress = options->on_progress || options->checkpoint ? on_progress : NULL,
        .context = run,
        .check = weft__state_is_checked() ? weft__check_node : NULL,
        .on_window = net->driver ? weft__driver_on_window : NULL,
        .driver = run,
    };
    uint32_t *weight = weft_arena_alloc(net->arena_host, conf.nodes, sizeof *weight);
    for (uint32_t i = 0; i < t->nodes; i++) {
        const struct weft__box *box = weft__box_of(&t->node[i]);
        weight[i] = box->weight + box->port_weight * t->node[i].ports;
    }
    weft__engine_init(&net->engine, &conf, weight);
    weft__samples_init(&net->engine, &net->film);
}

static void stop_engine(struct weft__network *net) {
    weft__samples_deinit(&net->engine);
    weft__engine_deinit(&net->engine);
}

WEFT__ORDER(by_time, struct weft_sample, WEFT__UP(time_ps) ?: WEFT__UP(port) ?: WEFT__UP(priority))

/// When a recorded run without run.sample_interval looks at its ports, for its moving picture: at first once in the
/// time in which a host sends PACKETS packets. Never if the run skips time, if looking would keep it from its end, or
/// if there are so many ports that the steps would take more than 32 MiB.
static struct weft__sampling sampling_of(const struct weft_scenario *s, const struct weft_topology *t,
                                         const struct weft_sim_options *options, bool driven) {
    enum { PACKETS = 160, BYTES = 4096, MOST = 64, LEAST = 32, SAMPLES_MAX = 1 << 21 };
    const struct weft_run_conf *run = &s->run;
    if (run->sample_interval_ps) return (struct weft__sampling){run->sample_interval_ps, 0};
    uint32_t most = SAMPLES_MAX / (t->ports + 1) & ~1u;
    bool endless = run->until_ps == WEFT_TIME_NEVER && run->stall_ps == WEFT_TIME_NEVER;
    if (!options->record || options->ranks || driven || run->fast_forward || run->sample.operations || endless ||
        most < LEAST)
        return (struct weft__sampling){0, 0};
    return (struct weft__sampling){weft_time_of_bytes(PACKETS * BYTES, weft__host_rate_least(t)),
                                   most < MOST ? most : MOST};
}

static void new_film(struct weft__network *net) {
    uint32_t most = net->sampling.most, ports = net->topology->ports;
    if (!most) return;
    net->film =
        (struct weft__film){.sampling = net->sampling,
                            .step = weft_arena_alloc(net->outcome->arena, (size_t)ports * most, sizeof *net->film.step),
                            .doublings = weft_arena_alloc(net->arena_switch, ports, 1)};
}

static void collect_film(struct weft__network *net) {
    struct weft__film *film = &net->film;
    struct weft_film *of = &net->outcome->film;
    uint32_t most = film->sampling.most, ports = net->topology->ports;
    uint8_t doublings = 0;
    for (uint32_t p = 0; p < ports; p++)
        if (film->doublings[p] > doublings) doublings = film->doublings[p];
    *of = (struct weft_film){.most = most, .every_ps = film->sampling.interval_ps << doublings, .step = film->step};
    for (uint32_t p = 0; p < ports; p++) {
        weft__film_thin(film, p, doublings);
        for (uint32_t k = of->steps; k < most; k++)
            if (film->step[(size_t)p * most + k].tx_bytes) of->steps = k + 1;
    }
    uint64_t within = net->outcome->sim_time_ps / of->every_ps + 1; // not those while a stall was waited for
    if (of->steps > within) of->steps = doublings && within < most / 2 ? 0 : (uint32_t)within;
}

static void collect_samples(struct weft__network *net) {
    struct weft_outcome *o = net->outcome;
    uint32_t ports = net->topology->ports;
    if (net->film.sampling.most) collect_film(net);
    for (uint32_t k = 0; k < net->engine.conf.workers; k++)
        o->samples += weft__samples_of(&net->engine.worker[k])->n;
    o->sample = weft_arena_alloc(o->arena, o->samples, sizeof *o->sample);
    uint64_t at = 0;
    for (uint32_t k = 0; k < net->engine.conf.workers; k++) {
        const struct weft__samples *s = weft__samples_of(&net->engine.worker[k]);
        if (s->n) memcpy(o->sample + at, s->sample, s->n * sizeof *o->sample);
        at += s->n;
    }
    if (!o->samples) return;
    qsort(o->sample, o->samples, sizeof *o->sample, by_time);
    uint64_t *sent = weft_memory_new(WEFT_MEMORY_SERIES, (uint64_t)ports * WEFT_PRIORITIES, sizeof *sent);
    for (uint64_t i = 0; i < o->samples; i++) { // from all that was sent to what was since the sample before
        struct weft_sample *s = &o->sample[i];
        uint64_t *before = &sent[(uint64_t)s->port * WEFT_PRIORITIES + s->priority];
        uint64_t until = s->tx_bytes > *before ? s->tx_bytes : *before; // a lane's is rounded
        s->tx_bytes = until - *before;
        *before = until;
    }
    weft_memory_free(WEFT_MEMORY_SERIES, sent, (uint64_t)ports * WEFT_PRIORITIES * sizeof *sent);
}

static void collect_flows(struct weft__network *net) {
    struct weft_outcome *o = net->outcome;
    if (!net->scenario->run.count_flows) return;
    uint32_t *flows = weft_arena_alloc(o->arena, o->ports, sizeof *flows);
    for (uint32_t i = 0; i < o->ports; i++) {
        struct weft__port *port = weft__network_port(net, i);
        if (port && port->flows) flows[i] = weft__port_flows_free(port->flows);
    }
    o->port_flows = flows;
}

static void start_round_trips(struct weft__network *net) {
    if (!net->scenario->run.round_trips && !net->outcome->round_trip) return;
    uint32_t workers = net->engine.conf.workers;
    net->round_trips = weft_arena_alloc(net->arena_qp, workers, sizeof *net->round_trips);
    for (uint32_t k = 0; k < workers; k++)
        net->round_trips[k] = weft_arena_alloc(net->arena_qp, WEFT_PRIORITIES, sizeof **net->round_trips);
}

static void collect_round_trips(struct weft__network *net) {
    struct weft_outcome *o = net->outcome;
    if (!net->round_trips) return;
    if (!o->round_trip) o->round_trip = weft_arena_alloc(o->arena, WEFT_PRIORITIES, sizeof *o->round_trip);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        for (uint32_t k = 1; k < net->engine.conf.workers; k++)
            weft_histogram_merge(&net->round_trips[0][p], &net->round_trips[k][p]);
        o->round_trip[p] = weft__wait_quantiles(&net->round_trips[0][p]);
    }
}

/// Why a run without run.until ends at the end of simulated time: because of a timer beyond it, or, with none, a stall.
enum weft_end weft__network_end(const struct weft__network *net) {
    if (net->engine.end != WEFT_END_UNTIL || net->scenario->run.until_ps <= WEFT_TIME_MAX) return net->engine.end;
    if (net->raw) return WEFT_END_UNTIL; // where its driver ends it; hosts from outside may send at any time
    bool due = weft__engine_in_flight(&net->engine) > 0;
    for (uint32_t i = 0; i < net->engine.conf.nodes; i++) {
        const struct weft__node *node = &net->engine.node[i];
        due |= weft__timers_next(&node->timers) != WEFT_TIME_NEVER || node->due_ps != WEFT_TIME_NEVER;
    }
    return due ? WEFT_END_TIME : WEFT_END_STALL;
}

static void collect_run(struct weft__run *run) {
    struct weft__network *net = &run->net;
    struct weft_outcome *o = net->outcome;
    weft__fast_forward_settle(run->fast_forward);
    struct weft__tally sum = weft__engine_tally(&net->engine);
    o->end = weft__network_end(net);
    // by the engine's clock until everything is collected
    o->sim_time_ps = o->end == WEFT_END_UNTIL ? net->engine.conf.until_ps : sum.last_ps;
    o->packet_hops = sum.count[WEFT__COUNT_PACKET_HOPS];
    o->cell_hops = sum.count[WEFT__COUNT_CELL_HOPS];
    const struct weft__shared *shared;
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++)
        if (shared->tell) shared->tell(net, &sum);
    o->events = sum.events;
    o->windows = net->engine.windows;
    o->window_ps = net->engine.worker[0].length_ps;
    o->cnps = sum.count[WEFT__COUNT_CNPS];
    o->injected_bytes = sum.injected_bytes;
    o->delivered_bytes = sum.delivered_bytes;
    o->dropped_bytes = sum.dropped_bytes;
    memcpy(o->drops, &sum.count[WEFT__COUNT_DROPS], sizeof o->drops);
    memcpy(o->drop_bytes, &sum.count[WEFT__COUNT_DROP_BYTES], sizeof o->drop_bytes);
    if (net->engine.conf.check && !run->options.ranks) weft__check_end(net, o->sim_time_ps);
    o->held_bytes = weft__engine_in_flight(&net->engine);
    const struct weft_node_info *node = net->topology->node;
    for (uint32_t i = 0; i < net->topology->nodes; i++)
        o->held_bytes += weft__box_of(&node[i])->held(weft__network_state(net, i));
    if (o->end == WEFT_END_STALL) o->stall = weft__network_explain_stall(net);
    for (uint32_t i = 0; i < net->topology->nodes; i++)
        weft__box_of(&node[i])->finish(net, i, o->sim_time_ps);
    if (net->driver) weft__driver_collect(net);
    weft__jobs_collect(net);
    if (run->sample) weft__sample_collect(run->sample);
    weft__rma_collect(net);
    collect_round_trips(net);
    collect_samples(net);
    collect_flows(net);
    weft__follow_collect(net);
    if (net->lldp) o->links = weft__lldp_collect(net, o->arena);
    if (net->events_max) weft__network_collect_events(net);
    for (uint32_t kind = 0; (shared = weft__shared_next(net, &kind)); kind++)
        if (shared->collect) shared->collect(net);
    o->sim_time_ps += weft__fast_forward_skipped(run->fast_forward);
    o->digest = weft_outcome_digest(o);
}

static void network_free(struct weft__network *net) {
    for (uint32_t i = 0; net->made && i < net->topology->nodes; i++) {
        const struct weft__box *box = weft__box_of(&net->topology->node[i]);
        if (box->deinit) box->deinit(weft__network_state(net, i));
    }
    weft__capture_free(net->capture);
    weft__follow_free(net);
    weft__rma_free(net);
    for (uint32_t i = 0; i < net->epochs; i++)
        weft_routes_free((struct weft_routes *)net->epoch[i].routes);
    weft__shared_free(net);
    weft_arena_free(net->arena_switch);
    weft_arena_free(net->arena_host);
    weft_arena_free(net->arena_qp);
}

/// Where chance or failures choose paths, a run may give a flow better ones than it draws alone; a message may be
/// issued sooner than the median; and small messages of a job, or parts of one, may follow each other more closely than
/// full packets do. Then a flow's ideal is what it had.
static void calc_ideal(const struct weft__network *net, const struct weft__forwarding *forwarding,
                       struct weft__lone **lone, const struct weft__lone_flow *flow, struct weft_flow_outcome *o) {
    o->ideal_ps = weft__calc_ideal_fct(forwarding, lone, flow);
    if (o->end_ps == WEFT_TIME_NEVER || o->ideal_ps <= o->end_ps - o->start_ps) return;
    bool jitters = forwarding->device[forwarding->t->host[flow->flow->src]]->host.jitter > 0;
    if (jitters || flow->flow->messages || weft__lone_draws(forwarding, flow)) o->ideal_ps = o->end_ps - o->start_ps;
}

/// The entries in force at the end, of switches that run here.
static const void **find_programmed(const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    const void **state = weft_arena_alloc(net->arena_switch, t->switches, sizeof *state);
    for (uint32_t i = 0; i < t->switches; i++) {
        const struct weft__box *box = weft__box_of(&t->node[t->switch_node[i]]);
        if (box->route_state && weft__network_is_own(net, t->switch_node[i]))
            state[i] = box->route_state(weft__network_state(net, t->switch_node[i]));
    }
    return state;
}

static void calc_ideals(const struct weft__network *net) {
    struct weft__forwarding forwarding = weft__forwarding_new(net->topology, net->device, net->epoch[0].routes,
                                                              net->scenario->run.seed, net->arena_switch);
    forwarding.qp_numbers = net->hosts.qp_numbers;
    forwarding.path = net->workload->path;
    forwarding.programmed = find_programmed(net);
    struct weft__lone *lone = NULL;
    struct weft__lone_flow flow = {.planes = weft__planes(net->topology, net->device)};
    for (uint32_t q = 0; q < net->qps; q += flow.qps) {
        uint32_t f = net->qp[q].flow;
        flow.flow = &net->workload->flow[f];
        flow.qp = &net->qp[q];
        flow.number = q;
        for (flow.qps = 1; q + flow.qps < net->qps && net->qp[q + flow.qps].flow == f;)
            flow.qps++;
        struct weft_flow_outcome *o = &net->outcome->flow[f];
        if (o->end_ps != WEFT_TIME_NEVER) o->ideal_ps = o->end_ps - o->start_ps; // of frames of attached hosts
        if (!flow.flow->rma && flow.flow->verb != WEFT_VERB_RAW) calc_ideal(net, &forwarding, &lone, &flow, o);
    }
    weft__lone_free(lone);
}

/// Whether all boxes keep packets in order.
static bool is_ordered(const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    if (weft__planes(t, net->device) > 1) return false; // a queue pair may return to its plane
    for (uint32_t n = 0; n < t->nodes; n++)
        if (!weft__box_of(&t->node[n])->orders) return false;
    return true;
}

static enum weft_status assemble_run(struct weft__run *run, struct weft_error *ret_error) {
    struct weft__network *net = &run->net;
    net->device = weft_device_confs(net->scenario, net->topology, net->arena_switch);
    for (uint32_t h = 0; h < net->topology->hosts; h++)
        net->telemetry |= weft_host_collects(&net->device[net->topology->host[h]]->host);
    net->host_rate_bps = weft__host_rate_least(net->topology);
    net->sfc_pause_ps = weft__sfc_pause_max(net->topology, net->device);
    net->lldp = weft__lldp_frames(net->topology, net->device, net->arena_switch);
    weft__port_rows_init(&net->port_rows, net->topology->ports, net->arena_switch);
    net->raw = weft__attached_new(net);
    weft__queue_pairs_new(net, true);
    run->progress.flows = net->workload->flows;
    for (uint32_t i = 0; i < net->workload->flows; i++)
        run->progress.total_bytes += net->workload->flow[i].bytes;
    make_epochs(net);
    weft__shared_new(net, false);
    enum weft_status status = run->options.ranks ? weft__ranks_begin(run, ret_error) : WEFT_OK;
    start_engine(run);
    weft__follow_start(net, run->options.follow);
    if (!status && run->options.capture_file && *net->scenario->capture.ports)
        status = weft__capture_new(net, run->options.capture_file, &net->capture, ret_error);
    if (status) return status;
    if (net->driver) weft__driver_start(net);
    weft__jobs_start(net);
    weft__rma_start(net);
    start_round_trips(net);
    list_queue_pairs(net, true, &net->qp_lists.send_first, &net->qp_lists.send);
    list_queue_pairs(net, false, &net->qp_lists.receive_first, &net->qp_lists.receive);
    if (run->options.ranks) status = weft__ranks_part(run, ret_error);
    if (!status) make_devices(net);
    return status;
}

enum weft_status weft__run_begin(struct weft__run *run, const struct weft_scenario *scenario,
                                 const struct weft_topology *topology, const struct weft_workload *workload,
                                 const struct weft_sim_options *options, struct weft__driver *driver,
                                 struct weft_error *ret_error) {
    *run = (struct weft__run){.options = *options, .begun_s = weft__clock_s(CLOCK_MONOTONIC)};
    run->begun_cpu_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID);
    enum weft_status status = weft_simulation_check(scenario, topology, ret_error);
    if (!status) status = weft_simulation_check_workload(scenario, topology, workload, ret_error);
    if (!status) status = weft__attached_check_run(scenario, workload, options, driver != NULL, ret_error);
    if (!status && driver && topology->hosts &&
        weft_scenario_device(scenario, topology->node[topology->host[0]].name)->host.planes != WEFT_PLANES_SEPARATE)
        status = weft_error_set(
            ret_error, WEFT_ERROR_INPUT,
            weft_device_place(weft_scenario_device(scenario, topology->node[topology->host[0]].name), "host.planes"),
            "host.planes: queue_pair, and a program drives the hosts; expected separate");
    if (status) return status;
    run->net = (struct weft__network){
        .scenario = scenario,
        .topology = topology,
        .workload = workload,
        .driver = driver,
        .outcome = weft_outcome_new(topology, workload),
        .arena_switch = weft_arena_new(WEFT_MEMORY_SWITCH),
        .arena_host = weft_arena_new(WEFT_MEMORY_HOST),
        .arena_qp = weft_arena_new(WEFT_MEMORY_QP),
        // times of events do not count what a sample leaves out
        .events_max = options->record && !scenario->run.sample.operations ? (uint32_t)scenario->run.events_max : 0,
        .sampling = sampling_of(scenario, topology, options, driver != NULL),
    };
    new_film(&run->net);
    status = assemble_run(run, ret_error);
    if (!status) status = weft__sample_start(&run->net, options->ranks, options->checkpoint, &run->sample, ret_error);
    if (status) weft__run_end(run, NULL, NULL);
    run->assembled_s = run->saved_s = weft__clock_s(CLOCK_MONOTONIC);
    return status;
}

static void measure_run(struct weft__run *run) {
    struct weft__network *net = &run->net;
    struct weft_outcome *o = net->outcome;
    o->threads = net->engine.conf.workers;
    o->wall_s = weft__clock_s(CLOCK_MONOTONIC) - run->begun_s;
    o->cpu_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID) - run->begun_cpu_s;
    for (uint32_t r = 1; r < o->ranks; r++)
        o->cpu_s += o->rank[r].cpu_s;
    double ran_s = weft__clock_s(CLOCK_MONOTONIC);
    collect_run(run);
    if (run->options.profile) {
        o->phase_s[WEFT_PHASE_SETUP] = run->assembled_s - run->begun_s;
        o->phase_s[WEFT_PHASE_COLLECT] = weft__clock_s(CLOCK_MONOTONIC) - ran_s;
        for (uint32_t k = 0; k < net->engine.conf.workers; k++)
            for (uint32_t p = WEFT_PHASE_GATHER; p <= WEFT_PHASE_WAIT; p++)
                o->phase_s[p] += (double)net->engine.worker[k].phase_ns[p] * 1e-9;
    }
    calc_ideals(net);
}

#define BUG(error, ...) weft_error_set(error, WEFT_ERROR_CONSERVATION, WEFT_NOWHERE, "a bug of weft: " __VA_ARGS__)

static enum weft_status check_flows(const struct weft__network *net, struct weft_error *ret_error) {
    const struct weft_outcome *o = net->outcome;
    for (uint32_t f = 0; f < o->flows; f++) {
        const struct weft_flow *flow = &net->workload->flow[f];
        if (o->flow[f].delivered_bytes > flow->bytes && !flow->rma)
            return BUG(ret_error, "%llu bytes of flow %u were delivered, which has %llu",
                       (unsigned long long)o->flow[f].delivered_bytes, f, (unsigned long long)flow->bytes);
    }
    for (uint32_t j = 0; j < o->jobs; j++)
        if (o->job[j].in_flight_bytes_max > o->job[j].in_flight_bytes_bound)
            return BUG(ret_error, "a rank of job %u had %llu bytes in flight, and its slots hold %llu", j,
                       (unsigned long long)o->job[j].in_flight_bytes_max,
                       (unsigned long long)o->job[j].in_flight_bytes_bound);
    return WEFT_OK;
}

/// Checks that weft itself worked correctly. It returns errors, not asserts, so that the results are there all the
/// same.
static enum weft_status check_outcome(const struct weft__network *net, struct weft_error *ret_error) {
    const struct weft_outcome *o = net->outcome;
    uint64_t forgotten = net->engine.end == WEFT_END_DONE ? weft__engine_sides_kept(&net->engine) : 0;
    if (forgotten)
        return BUG(ret_error, "%llu packets ended without releasing their side records", (unsigned long long)forgotten);
    if (!weft_outcome_conserves(o))
        return BUG(ret_error, "%llu bytes injected, but %llu delivered + %llu dropped + %llu held",
                   (unsigned long long)o->injected_bytes, (unsigned long long)o->delivered_bytes,
                   (unsigned long long)o->dropped_bytes, (unsigned long long)o->held_bytes);
    if (is_ordered(net) && !weft_outcome_in_order(o))
        return BUG(ret_error, "packets arrived out of order through boxes that keep order, and none was lost");
    uint32_t link = o->links ? weft__lldp_find_odd(net, o->links) : WEFT_NONE;
    if (link != WEFT_NONE)
        return BUG(ret_error, "an end of link %u has other lossless priorities than DCBX agreed on", link);
    return check_flows(net, ret_error);
}

enum weft_status weft__run_end(struct weft__run *run, struct weft_outcome **ret_outcome, struct weft_error *ret_error) {
    struct weft__network *net = &run->net;
    struct weft_outcome *o = net->outcome;
    enum weft_status status = WEFT_OK, wrong = WEFT_OK;
    if (ret_outcome) {
        measure_run(run);
        if (net->capture) status = weft__capture_finish(net->capture, o, ret_error);
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        o->peak_rss_bytes = (weft_bytes)usage.ru_maxrss * 1024;
        wrong = check_outcome(net, ret_error);
    }
    network_free(net);
    stop_engine(net);
    if (!ret_outcome) {
        weft_outcome_free(o);
        return WEFT_OK;
    }
    *ret_outcome = o;
    if (wrong || status) return wrong ? wrong : status;
    return o->end == WEFT_END_STALL || o->end == WEFT_END_TIME ? WEFT_ERROR_STALL : WEFT_OK;
}

enum weft_status weft__run_finish(struct weft__run *run, struct weft_outcome **ret_outcome,
                                  struct weft_error *ret_error) {
    do
        weft__engine_run(&run->net.engine);
    while (weft__fast_forward_on(run->fast_forward) || weft__checkpoint_on(run));
    weft__fast_forward_end(run->fast_forward);
    enum weft_status status = run->options.ranks ? weft__ranks_join(run, ret_error) : WEFT_OK;
    enum weft_status ended = weft__run_end(run, status ? NULL : ret_outcome, ret_error);
    return status ? status : ended;
}

/// One run; with run.sample.until_interval, the last one of several.
static enum weft_status simulate_once(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                      const struct weft_workload *workload, const struct weft_sim_options *options,
                                      struct weft_outcome **ret_outcome, struct weft_error *ret_error) {
    // Ranks and checkpoints have pointers to it.
    struct weft_arena *arena = options->ranks || options->checkpoint ? weft_arena_new(WEFT_MEMORY_SWITCH) : NULL;
    struct weft__run own, *run = arena ? weft__arena_lines(arena, 1, sizeof *run) : &own;
    enum weft_status status = weft__run_begin(run, scenario, topology, workload, options, NULL, ret_error);
    if (!status) {
        run->fast_forward = weft__fast_forward_start(&run->net, options->ranks, weft__paths_trace);
        status = weft__run_finish(run, ret_outcome, ret_error);
    }
    weft_arena_free(arena);
    return status;
}

enum weft_status weft_simulate(const struct weft_scenario *scenario, const struct weft_topology *topology,
                               const struct weft_workload *workload, const struct weft_sim_options *options,
                               struct weft_outcome **ret_outcome, struct weft_error *ret_error) {
    if (scenario->run.sample.until_interval <= 0 || options->checkpoint)
        return simulate_once(scenario, topology, workload, options, ret_outcome, ret_error);
    enum { OPERATIONS = 16 };
    struct weft_scenario own = *scenario;
    if (!own.run.sample.operations) own.run.sample.operations = OPERATIONS;
    for (;; own.run.sample.operations *= 2) {
        enum weft_status status = simulate_once(&own, topology, workload, options, ret_outcome, ret_error);
        if (status || weft__sample_suffices(*ret_outcome, &own)) return status;
        weft_outcome_free(*ret_outcome);
        *ret_outcome = NULL;
    }
}
