// SPDX-License-Identifier: Apache-2.0
// Prepares an interface node for a run, and collects its state at the end.
#include "box/dsf/dsf_in.h"
#include "weft/memory.h"

// --- numbers for keys ---------------------------------------------------------------------------------------------

static struct weft__numbered *find_slot(const struct weft__number_table *t, uint64_t key) {
    uint32_t i = (uint32_t)(weft__number_slot(t, key) - t->slot);
    while (t->slot[i].key && t->slot[i].key != key + 1)
        i = (i + 1) & t->mask;
    return &t->slot[i];
}

static void numbers_grow(struct weft__number_table *t) {
    struct weft__number_table before = *t;
    uint32_t slots = before.slot ? before.mask + 1 : 0;
    t->mask = slots ? 2 * slots - 1 : 31;
    t->slot = weft_memory_new(WEFT_MEMORY_QUEUE, t->mask + 1, sizeof *t->slot);
    for (uint32_t i = 0; i < slots; i++)
        if (before.slot[i].key) *find_slot(t, before.slot[i].key - 1) = before.slot[i];
    weft__numbers_deinit(&before);
}

uint32_t weft__number_of(struct weft__number_table *t, uint64_t key, bool *ret_new) {
    if (!t->slot || 2 * t->n > t->mask) numbers_grow(t);
    struct weft__numbered *slot = find_slot(t, key);
    *ret_new = !slot->key;
    if (*ret_new) *slot = (struct weft__numbered){key + 1, t->n++};
    return slot->number;
}

void weft__numbers_deinit(struct weft__number_table *t) {
    if (t->slot) weft_memory_free(WEFT_MEMORY_QUEUE, t->slot, (t->mask + 1) * sizeof *t->slot);
}

// --- making -------------------------------------------------------------------------------------------------------

/// Determines which of the node's ports are lanes, and the number of each among its kind.
static void number_ports(struct weft__in *in, const struct weft__in_setup *setup) {
    uint16_t *slot = weft_arena_alloc(setup->arena, setup->node_ports, sizeof *slot);
    for (uint32_t k = 0; k < setup->node_ports; k++)
        slot[k] = (uint16_t)(setup->is_fabric[k] ? in->lanes.n++ : WEFT__IN_ETHERNET + in->ether.ports++);
    in->slot = slot;
    in->node_ports = setup->node_ports;
    in->port_rci = weft_arena_alloc(setup->arena, setup->node_ports, sizeof *in->port_rci);
    in->lanes.lane = weft__arena_lines(setup->arena, in->lanes.n, sizeof *in->lanes.lane);
    in->port = weft__arena_lines(setup->arena, in->ether.ports, sizeof *in->port);
    for (uint32_t k = 0; k < setup->node_ports; k++) {
        if (setup->is_fabric[k]) continue;
        struct weft__in_port *port = &in->port[slot[k] & ~(uint32_t)WEFT__IN_ETHERNET];
        port->node_port = (uint16_t)k;
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            port->ring[p] = WEFT_NONE;
    }
}

struct weft__in *weft__in_new(const struct weft__in_setup *setup, struct weft__node *node) {
    struct weft_arena *arena = setup->arena;
    struct weft__in *in = weft__arena_lines(arena, 1, sizeof *in);
    in->conf = setup->conf;
    in->hosts = setup->hosts;
    in->in_of_host = setup->in_of_host;
    in->port_of_host = setup->port_of_host;
    in->outside = setup->outside;
    in->known = setup->known;
    in->self = setup->self;
    in->waiting = WEFT_NONE;
    number_ports(in, setup);
    in->stream_of = weft_arena_alloc(arena, (size_t)setup->ins * WEFT_PRIORITIES, sizeof *in->stream_of);
    in->sequence = weft_arena_alloc(arena, (size_t)setup->ins * WEFT_PRIORITIES, sizeof *in->sequence);
    struct weft__ether_setup ether = {
        .rows = setup->rows,
        .place = setup->port0,
        .conf = setup->ethernet,
        .ops = &weft__in_ether_ops,
        .ports = in->ether.ports,
        .seed = setup->seed,
        .who = setup->who,
        .pool = setup->pool,
        .queues_bytes = setup->conf->egress_bytes,
        .arena = arena,
    };
    weft__ether_init(&in->ether, &ether);
    in->ether.aqm_at = NULL; // grows with the VOQs
    weft__spray_init(&in->spray, setup->eligible, setup->ins, in->slot, setup->conf->spray == WEFT_SPRAY_PERMUTATION,
                     setup->seed, setup->who, arena);
    in->sampled = setup->sampled;
    in->sampling = setup->sampling;
    in->port0 = setup->port0;
    if (setup->events_max)
        in->trace = weft__trace_new(setup->node, setup->port0, setup->node_ports, setup->events_max, NULL, 0, arena);
    if (in->trace) weft__lanes_record(&in->lanes, in->trace, in->slot, setup->node_ports, arena);
    node->ops = &weft__in_ops;
    node->state = in;
    uint32_t lane0 = weft__in_box_key(in, WEFT__IN_KEY_LANES);
    in->counts.seen = setup->seen;
    weft__timers_init(&node->timers, lane0 + (setup->llfc ? in->lanes.n : 0));
    if (setup->llfc) {
        in->queues = weft_arena_alloc(arena, 1, sizeof *in->queues);
        weft__lane_queues_init(in->queues, &in->lanes, lane0, setup->pool, arena);
    }
    if (in->sampled) weft__timer_set(&node->timers, weft__in_box_key(in, WEFT__IN_KEY_SAMPLE), 0);
    weft__ether_start(&in->ether, node, setup->lldp);
    return in;
}

void weft__in_start(void *state) {
    struct weft__in *in = state;
    const struct weft_interface_conf *conf = in->conf;
    static const double CHIP_BPS = 7.2e12; // Jericho 2+
    uint64_t inflight = 2;
    double ports_bps = 0;
    for (uint32_t k = 0; k < in->ether.ports; k++) {
        struct weft__in_port *port = &in->port[k];
        double byte_ps = (double)in->ether.port[k].speed.byte_num / (double)in->ether.port[k].speed.byte_den;
        port->credit_ps = (weft_time_ps)(byte_ps * (double)conf->credit_bytes / conf->speedup);
        port->slow_credit_ps = (weft_time_ps)(byte_ps * (double)conf->credit_bytes * conf->speedup);
        weft_rate_bps rate = (weft_rate_bps)(8.0 * (double)WEFT_PS_PER_S / byte_ps);
        ports_bps += (double)rate;
        uint64_t own = weft_dsf_inflight(rate, weft_interface_fabric_delay(conf), conf->credit_bytes);
        if (own > inflight) inflight = own;
    }
    in->rci_ports = ports_bps > CHIP_BPS ? ports_bps / CHIP_BPS : 1;
    if (conf->inflight) inflight = conf->inflight;
    in->preset = weft_dsf_preset(conf->voq_preset, inflight, conf->credit_bytes);
    weft__in_hbm_start(in);
}

// --- at the end ---------------------------------------------------------------------------------------------------

static void raise_to(uint64_t *sum, uint64_t value) {
    if (value > *sum) *sum = value;
}

void weft__dsf_sum(struct weft_dsf_outcome *sum, const struct weft_dsf_outcome *one) {
#define X(field, type, help) sum->field += one->field;
    WEFT_DSF_COUNTERS(X)
#undef X
#define X(field, type, help) raise_to(&sum->field, one->field);
    WEFT_DSF_WATERMARKS(X)
#undef X
}

void weft__in_finish(struct weft__in *in, weft_time_ps now, struct weft_dsf_outcome *sum) {
    struct weft_dsf_outcome *c = &in->counts;
    weft__ether_finish(&in->ether, now);
    for (uint32_t k = 0; k < in->ether.ports; k++)
        raise_to(&c->egress_bytes_max, in->ether.queues[k].bytes_max);
    for (uint32_t v = 0; v < in->voqs.n; v++)
        raise_to(&c->voq_bytes_max, in->voq[v].bytes_max);
    c->voqs = in->voqs.n;
    c->cells_lost = in->lanes.lost;
    c->buffer_bytes_max = in->voq_bytes_max;
    c->reassembly_bytes_max = in->reassembly_bytes_max;
    if (in->queues) {
        weft__lane_queues_finish(in->queues, now);
        c->llfc_stopped_ps = in->queues->stopped_ps;
    }
    weft__dsf_sum(sum, c);
}

static void add_bytes(void *context, const struct weft_packet *packet, uint32_t out) {
    *(weft_bytes *)context += packet->bytes;
}

weft_bytes weft__in_held(const void *state) {
    const struct weft__in *in = state;
    weft_bytes bytes = 0;
    const struct weft_packet *p;
    for (uint32_t v = 0; v < in->voqs.n; v++)
        for (struct weft__fifo_cursor c = weft__fifo_begin(&in->voq[v].fifo); (p = weft__fifo_next(&c));)
            bytes += p->bytes;
    weft__ether_each(&in->ether, add_bytes, &bytes);
    if (in->queues) bytes += weft__lane_queues_held(in->queues);
    for (uint32_t i = 0; i < in->streams; i++)
        for (uint32_t k = 0; k <= in->stream[i].mask; k++)
            bytes += in->stream[i].slot[k].packet.bytes;
    return bytes;
}

void weft__in_deinit(void *state) {
    struct weft__in *in = state;
    for (uint32_t i = 0; i < in->streams; i++)
        weft_memory_free(WEFT_MEMORY_QUEUE, in->stream[i].slot,
                         (in->stream[i].mask + 1) * sizeof(struct weft__assembly));
    weft_memory_free(WEFT_MEMORY_QUEUE, in->stream, in->stream_capacity * sizeof *in->stream);
    weft_memory_free(WEFT_MEMORY_QUEUE, in->voq, in->voq_capacity * sizeof *in->voq);
    weft_memory_free(WEFT_MEMORY_QUEUE, in->voq_marked, in->voq_capacity * sizeof *in->voq_marked);
    weft_memory_free(WEFT_MEMORY_QUEUE, in->ether.aqm_at, (size_t)in->voq_capacity * in->ether.aqm_bytes);
    weft_memory_free(WEFT_MEMORY_QUEUE, in->flow, in->flow_capacity * sizeof *in->flow);
    weft__numbers_deinit(&in->voqs);
    weft__numbers_deinit(&in->flows);
}

void weft__in_each_waiting(const void *state,
                           void (*on_packet)(void *context, const struct weft_packet *, uint32_t out), void *context) {
    const struct weft__in *in = state;
    const struct weft_packet *p;
    for (uint32_t v = 0; v < in->voqs.n; v++)
        for (struct weft__fifo_cursor c = weft__fifo_begin(&in->voq[v].fifo); (p = weft__fifo_next(&c));) {
            struct weft_packet at = *p;
            at.port = in->port[p->port].node_port;
            if (in->voq[v].to == in->self) on_packet(context, &at, in->port[in->voq[v].port].node_port);
        }
}
