// SPDX-License-Identifier: Apache-2.0
// Prepares a switch for a run, and collects its state at the end.
#include "base/bits.h"
#include "box/switch/switch.h"
#include "weft/memory.h"

enum { BROUGHT_PORTS_MAX = 1024 }; ///< above, 4 MB a priority that pauses, what a group holds is searched

static void init_arbitration(struct weft__switch *sw, struct weft_arena *arena) {
    const struct weft_model_conf *model = &sw->conf->arbiter;
    sw->arbitrated = true;
    sw->words = weft__bits_words(sw->ports);
    sw->arbiter = model->model->ops;
    sw->arbiter_state = weft_arena_alloc(arena, 1, sw->arbiter->state_size(model->conf, sw->ports));
    sw->arbiter->init(sw->arbiter_state, model->conf, sw->ports);
    sw->queued = weft_arena_alloc(arena, sw->ports, sizeof *sw->queued);
    sw->waiting = weft_arena_alloc(arena, sw->words, sizeof *sw->waiting);
    sw->asleep = weft_arena_alloc(arena, sw->words, sizeof *sw->asleep);
    sw->requesting = weft_arena_alloc(arena, sw->words, sizeof *sw->requesting);
    sw->requests = weft_arena_alloc(arena, (size_t)sw->ports * sw->words, sizeof *sw->requests);
    sw->busy_inputs = weft_arena_alloc(arena, sw->words, sizeof *sw->busy_inputs);
    sw->input_until_ps = weft_arena_alloc(arena, sw->ports, sizeof *sw->input_until_ps);
    sw->match = weft_arena_alloc(arena, sw->ports, sizeof *sw->match);
    sw->chosen = weft_arena_alloc(arena, sw->ports, sizeof *sw->chosen);
    if (!sw->conf->fabric_patience) return;
    sw->inputs = weft_arena_alloc(arena, sw->words, sizeof *sw->inputs);
    sw->passed = weft_arena_alloc(arena, (size_t)sw->ports * sw->ports, sizeof *sw->passed);
    sw->insisting = weft_arena_alloc(arena, sw->words, sizeof *sw->insisting);
    sw->insisted = weft_arena_alloc(arena, sw->words, sizeof *sw->insisted);
}

struct weft__switch *weft__switch_new(const struct weft__switch_setup *setup, struct weft__node *node) {
    const struct weft_switch_conf *conf = setup->conf;
    struct weft__switch *sw = weft__arena_lines(setup->arena, 1, sizeof *sw);
    sw->conf = conf;
    sw->ports = setup->ports;
    sw->index = setup->index;
    struct weft__ether_setup ether = {
        .rows = setup->rows,
        .place = setup->port0,
        .conf = conf,
        .ops = &weft__switch_ether_ops,
        .ports = setup->ports,
        .seed = setup->seed,
        .who = setup->index,
        .aqm_queues = setup->ports * WEFT_PRIORITIES,
        .arena = setup->arena,
    };
    weft__ether_init(&sw->ether, &ether);
    sw->port = sw->ether.port;
    sw->buffer = sw->ether.buffer;
    sw->buffer_state = sw->ether.buffer_state;
    bool by_port = sw->buffer->by_port && sw->buffer->by_port(conf->buffer.conf);
    for (uint32_t k = 0; by_port && k < sw->ports; k++)
        sw->buffer->set_port(sw->buffer_state, conf->buffer.conf, k, &setup->link[k]);
    sw->scheduler = sw->ether.scheduler;
    sw->aqm = sw->ether.aqm;
    sw->aqm_conf = weft_arena_alloc(setup->arena, sw->ports, sizeof *sw->aqm_conf);
    sw->aqm_ask_bytes = UINT64_MAX;
    for (uint32_t k = 0; k < sw->ports; k++) {
        sw->aqm_conf[k] = setup->link && sw->aqm->for_port
                              ? sw->aqm->for_port(conf->aqm.conf, setup->link[k].rate_bps, setup->arena)
                              : conf->aqm.conf;
        weft_bytes pass = sw->aqm->pass(sw->aqm_conf[k]);
        if (pass < sw->aqm_ask_bytes) sw->aqm_ask_bytes = pass + 1;
    }
    if (sw->ether.aqm_bytes) sw->aqm_ask_bytes = 0; // it is asked about every packet
    sw->queueing = conf->queueing.model->ops;
    sw->route = conf->route.model->ops;
    sw->aqm_leaving = sw->ether.asks_leaving;
    sw->leave_ask_bytes = !sw->ether.aqm_bytes;
    if (sw->aqm_leaving && !sw->ether.aqm_bytes && sw->aqm->thresholds &&
        !(sw->aqm->by_port && sw->aqm->by_port(conf->aqm.conf))) {
        weft_bytes thresholds[WEFT_EVENT_THRESHOLDS];
        sw->aqm->thresholds(conf->aqm.conf, thresholds);
        sw->leave_ask_bytes = thresholds[WEFT_EVENT_MIN] + 1;
    }
    sw->fetched_priority = conf->pfc.priorities ? (uint8_t)__builtin_ctz(conf->pfc.priorities) : 3;
    sw->route_state = setup->route_state;
    sw->hash_seed = sw->route->hash_seed(conf->route.conf, setup->seed, setup->index);
    sw->by_tuple = sw->route->by_tuple;
    sw->pool = setup->pool;
    if (sw->queueing->inputs) {
        size_t size = sw->queueing->state_size(conf->queueing.conf, setup->ports);
        sw->queueing_state = weft_arena_alloc(setup->arena, 1, size);
        sw->queueing->init(sw->queueing_state, conf->queueing.conf, setup->ports, setup->pool);
        init_arbitration(sw, setup->arena);
    }
    sw->has_cut_through = conf->forwarding == WEFT_CUT_THROUGH;
    if (sw->has_cut_through) sw->deferred = weft_arena_alloc(setup->arena, sw->ports, sizeof *sw->deferred);
    if (conf->packet_rate) sw->pipe = weft_arena_alloc(setup->arena, conf->pipes, sizeof *sw->pipe);
    sw->turn = weft__turn_of(conf->packet_rate, conf->pipes);
    weft__sfc_init(&sw->sfc, &conf->sfc, sw->queueing->depth ? sw->ports * sw->ports : sw->ports);
    // Where queues are not at the outputs, the depth of an output means nothing.
    sw->sfc_watch_bytes = sw->queueing->depth && sw->sfc.conf->priorities ? 0 : sw->sfc.watch_bytes;
    sw->hosts = setup->hosts;
    sw->qp_numbers = setup->hosts->qp_numbers;
    sw->path = setup->hosts->path;
    sw->epoch = setup->epoch;
    sw->epochs_left = setup->epochs;
    weft__switch_next_epoch(sw);
    sw->sampled = setup->sampled;
    sw->sampling = setup->sampling;

    if (setup->events_max) {
        weft_bytes thresholds[WEFT_EVENT_THRESHOLDS];
        if (sw->aqm->thresholds) sw->aqm->thresholds(conf->aqm.conf, thresholds);
        sw->trace = weft__trace_new(setup->node, setup->port0, sw->ports, setup->events_max,
                                    sw->aqm->thresholds ? thresholds : NULL, conf->aqm_priorities, setup->arena);
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            if (conf->pfc.priorities >> p & 1 && !sw->arbitrated && sw->ports <= BROUGHT_PORTS_MAX)
                sw->brought[p] = weft_arena_alloc(setup->arena, (size_t)sw->ports * sw->ports, sizeof *sw->brought[p]);
    }

    bool plain = weft__switch_is_plain(sw, setup->lldp);
    if (plain && sw->buffer->fixed) sw->buffer->fixed(conf->buffer.conf, &sw->fixed);
    sw->lossless = (uint8_t)conf->pfc.priorities;
    sw->counts_hops = setup->captured;
    node->ops = plain ? weft__switch_plain_ops(sw) : &weft__switch_ops;
    node->state = sw;
    weft__timers_init(&node->timers, WEFT__ETHER_KEYS_A_PORT * sw->ports + 2);
    if (sw->sampled) weft__timer_set(&node->timers, weft__switch_key_sample(sw), 0);
    sw->te = setup->te;
    if (sw->te && sw->te->report) weft__timer_set(&node->timers, weft__switch_key_te(sw), sw->te->schedule.interval_ps);
    weft__ether_start(&sw->ether, node, setup->lldp);
    return sw;
}

void weft__switch_finish(struct weft__switch *sw, weft_time_ps now) {
    weft__ether_finish(&sw->ether, now);
}

void weft__switch_deinit(void *state) {
    struct weft__switch *sw = state;
    weft__sfc_deinit(&sw->sfc);
}

static void add_bytes(void *context, const struct weft_packet *packet, uint32_t out) {
    *(weft_bytes *)context += packet->bytes;
}

void weft__switch_each(const struct weft__switch *sw,
                       void (*on_packet)(void *context, const struct weft_packet *, uint32_t out), void *context) {
    if (sw->arbitrated) {
        sw->queueing->each(sw->queueing_state, on_packet, context);
        return;
    }
    for (uint32_t k = 0; k < sw->ports; k++)
        weft__port_each(&sw->port[k], k, on_packet, context);
}

weft_bytes weft__switch_held(const void *state) {
    const struct weft__switch *sw = state;
    weft_bytes bytes = 0;
    weft__switch_each(sw, add_bytes, &bytes);
    for (uint32_t port = 0; sw->deferred && port < sw->ports; port++)
        bytes += sw->deferred[port].bytes;
    return bytes;
}
