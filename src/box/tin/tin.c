// SPDX-License-Identifier: Apache-2.0
// The ToR-in-NIC chip (TiN) of an Aquila Clique. Life of a packet: the header of a frame arrives from a host or from
// the data centre's spine; the buffer admits the packet, which waits in the ingress buffer while an RTS cell asks for
// it at the TiN by which it leaves (tin_ip.c). There, the RTSs of a port and class of service are queued; the port's
// scheduler answers with CTS cells, as the room in its egress buffer and its window allow, or with a CTD if there are
// too many (tin_egress.c). After its CTS the packet becomes cells, which may take any path; complete again, and behind
// packets of its flow that were cleared before, it leaves by the port's queue (ether.c). All cells go through the cell
// switch (gnet_switch.c).
//
// Source: Gibson et al., "Aquila: A unified, low-latency fabric for datacenter networks", NSDI 2022, sections 3.1 to
// 3.4. Differences: the part of a host's NIC that handles queue pairs is a separate node, behind a link (PCIe), and
// only what hosts share of it is here (tin_nic.c); classes of service are the eight priorities; there is an RTS queue
// for each port and priority of the node, and punted packets go to the control processor of the TiN where they arrive,
// apart from these queues; flows are distinguished by a hash; Ethernet headers are removed, but cells carry a packet's
// other fields without its bytes.
#include "box/tin/tin.h"

#include <string.h>

#include "link/lldp.h"
#include "weft/memory.h"

// --- lists of slots ----------------------------------------------------------------------------------------------

void weft__tin_append(struct weft__tin_list *list, struct weft__tin_link *links, size_t stride, uint32_t slot) {
    *weft__tin_link(links, stride, slot) = (struct weft__tin_link){list->last, WEFT_NONE};
    if (list->last == WEFT_NONE)
        list->first = slot;
    else
        weft__tin_link(links, stride, list->last)->after = slot;
    list->last = slot;
}

void weft__tin_remove(struct weft__tin_list *list, struct weft__tin_link *links, size_t stride, uint32_t slot) {
    struct weft__tin_link link = *weft__tin_link(links, stride, slot);
    if (link.before == WEFT_NONE)
        list->first = link.after;
    else
        weft__tin_link(links, stride, link.before)->after = link.after;
    if (link.after == WEFT_NONE)
        list->last = link.before;
    else
        weft__tin_link(links, stride, link.after)->before = link.before;
}

// --- events -------------------------------------------------------------------------------------------------------

/// A cell for an endpoint has arrived.
static void on_cell(struct weft__node *node, struct weft__worker *w, struct weft_packet *cell, uint32_t port) {
    struct weft__tin *tin = node->state;
    enum weft__cell_type type = weft__gnet_type(cell);
    if (type == WEFT__GNET_DATA) {
        weft__tin_on_data(node, tin, w, cell);
        return;
    }
    if (type == WEFT__GNET_REQ || type == WEFT__GNET_RESP) {
        weft__tin_rma_on_cell(node, tin->rma, w, cell);
        return;
    }
    w->tally.delivered_bytes += cell->bytes;
    if (type == WEFT__GNET_RTS)
        weft__tin_on_rts(node, tin, w, cell);
    else
        weft__tin_on_clear(node, tin, w, cell);
}

/// Only the cell that completes an IP packet must be waited for.
static uint32_t on_crossing(struct weft__node *node, const struct weft_packet *cell, uint32_t in, weft_time_ps end) {
    return weft__gnet_type(cell) == WEFT__GNET_DATA ? weft__tin_on_crossing(node->state, cell, in, end) : in;
}

static inline bool is_gnet(const struct weft__gnet *g, const struct weft_packet *p) {
    return p->port < WEFT__GNET_PORTS && g->links >> p->port & 1;
}

/// In an arrival's word as well: it is a cell; it is one for this TiN.
#define IS_CELL (UINT64_C(1) << 32)
#define IS_HOME (UINT64_C(1) << 33)

/// What an arrival's word says about a cell.
static inline struct weft__gnet_known known_of(uint64_t word) {
    return (struct weft__gnet_known){(uint16_t)word, {(uint8_t)(word >> 16), (uint8_t)(word >> 24)}};
}
static inline uint64_t word_of(struct weft__gnet_known known) {
    return known.set | (uint64_t)known.drawn[0] << 16 | (uint64_t)known.drawn[1] << 24;
}

static inline void on_packet(struct weft__node *node, struct weft__worker *w, struct weft_packet *p, uint64_t word) {
    struct weft__tin *tin = node->state;
    if (word & IS_CELL) {
        weft__gnet_on_cell(node, &tin->gnet, w, p, p->port, known_of(word));
        return;
    }
    if (is_gnet(&tin->gnet, p)) {
        weft__gnet_on_credits(node, &tin->gnet, w, p, p->port);
        return;
    }
    p->port = tin->slot[p->port] & (uint16_t)~WEFT__TIN_ETHERNET;
    if (weft_packet_is_local(p)) {
        if (p->kind != WEFT_PACKET_LLDP || weft__tin_punt(tin, w->now_ps))
            weft__ether_on_local(&tin->ether, node, w, p);
        else
            weft__lldp_ignore(w, p);
    } else {
        weft_packet_enter(p, weft_switch_priority(tin->ether.conf, p));
        if (tin->nics)
            weft__tin_nic_on_frame(node, tin, w, p);
        else
            weft__tin_on_frame(node, tin, w, p);
    }
}

static void count_depths(struct weft__tin *tin, uint32_t k) {
    const struct weft__gnet *g = &tin->gnet;
    for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++) {
        weft_histogram_add(&tin->depths->output[vc], g->depth[vc][k]);
        weft_histogram_add(&tin->depths->fifo[vc], weft__gnet_vc_bytes(g, k, vc));
    }
}

/// A GNet link has no priorities: everything counts as priority 0.
static void sample_link(struct weft__tin *tin, struct weft__worker *w, uint32_t k) {
    uint64_t sent = weft__gnet_port_counts(&tin->gnet, k).bytes;
    struct weft_sample sample = {
        .time_ps = w->now_ps,
        .port = tin->port0 + k,
        .queue_bytes = weft__gnet_output_bytes(&tin->gnet, k),
        .ingress_bytes = weft__gnet_fifo_bytes(&tin->gnet, k),
        .tx_bytes = sent,
        .credit_permille = (uint16_t)weft__gnet_credit_permille(&tin->gnet, k),
    };
    if (sent || sample.queue_bytes || sample.ingress_bytes || sample.credit_permille) weft__sample_add(w, &sample);
}

static void on_sample(struct weft__node *node, struct weft__tin *tin, struct weft__worker *w) {
    for (uint32_t k = 0; k < tin->node_ports; k++) {
        if (!tin->sampled[k]) continue;
        if (tin->slot[k] & WEFT__TIN_ETHERNET) {
            weft__ether_sample(&tin->ether, w, tin->slot[k] & ~(uint32_t)WEFT__TIN_ETHERNET);
        } else {
            sample_link(tin, w, k);
            if (tin->depths) count_depths(tin, k);
        }
    }
    weft__timer_set(&node->timers, weft__tin_key(tin, WEFT__TIN_KEY_SAMPLE),
                    weft__sampling_next(&tin->sampling, w->now_ps));
    weft__node_looked(w);
}

static void on_timer(struct weft__node *node, struct weft__worker *w, uint32_t key) {
    struct weft__tin *tin = node->state;
    if (tin->rma && key >= tin->rma->key0) {
        weft__tin_rma_on_timer(node, tin->rma, w, key);
        return;
    }
    if (key == tin->gnet.key0) {
        weft__gnet_on_fault(node, &tin->gnet, w);
        return;
    }
    if (key == tin->gnet.key0 + 1) {
        weft__gnet_on_step(node, &tin->gnet, w);
        return;
    }
    uint32_t k = key / WEFT__ETHER_KEYS_A_PORT, what = key % WEFT__ETHER_KEYS_A_PORT;
    if (k < tin->ether.ports) {
        if (what == WEFT__TIN_KEY_COMPLETE)
            weft__tin_on_complete(node, tin, w, k);
        else if (what == WEFT__TIN_KEY_NIC)
            weft__tin_nic_on_free(node, tin, w, k);
        else
            weft__ether_on_timer(&tin->ether, node, w, what, k);
    } else if (key == weft__tin_key(tin, WEFT__TIN_KEY_ANNOUNCED)) {
        weft__tin_forget(node, tin, w);
    } else if (key == weft__tin_key(tin, WEFT__TIN_KEY_FETCHING)) {
        weft__tin_give_up(node, tin, w);
    } else {
        on_sample(node, tin, w);
    }
}

static inline void fetch_out(const struct weft__gnet *g, uint32_t o) {
    __builtin_prefetch(&g->out[o]);
    __builtin_prefetch(g->out[o].credits);
}

// Prefetches are chosen without branches, which would be unpredictable: an extra line is fetched instead.

/// Prefetches what the due timers will touch, as far as is known.
static inline void fetch_due(const struct weft__gnet *g, weft_time_ps end) {
    const struct weft__gnet_due *d = &g->due;
    for (uint32_t k = d->first; d->word[k] >> WEFT__GNET_DUE_BITS < end; k++) {
        uint32_t key = (uint32_t)d->word[k] & (WEFT__GNET_DUES - 1);
        __builtin_prefetch(&g->in[key % WEFT__GNET_PORTS]);
        fetch_out(g, g->crossing_to[key]);
    }
}

/// Then what that leads to: FIFOs of waiting cells, and other inputs that want an output.
static inline void prepare_due(const struct weft__gnet *g, weft_time_ps end) {
    const struct weft__gnet_due *d = &g->due;
    for (uint32_t k = d->first; d->word[k] >> WEFT__GNET_DUE_BITS < end; k++) {
        uint32_t key = (uint32_t)d->word[k] & (WEFT__GNET_DUES - 1);
        const struct weft__gnet_out *out = &g->out[g->crossing_to[key]];
        __builtin_prefetch(&g->queues.queue[g->in[key % WEFT__GNET_PORTS].queue]);
        __builtin_prefetch(&g->queues.queue[out->queue]);
        __builtin_prefetch(&g->in[63 - __builtin_clzll(out->requests | 1)]);
    }
}

/// And, because the node runs next, the cells themselves and where they are likely to go.
static inline void follow_due(const struct weft__gnet *g, weft_time_ps end) {
    const struct weft__gnet_due *d = &g->due;
    for (uint32_t k = d->first; d->word[k] >> WEFT__GNET_DUE_BITS < end; k++) {
        uint32_t key = (uint32_t)d->word[k] & (WEFT__GNET_DUES - 1);
        const struct weft__gnet_queue *waits = &g->queues.queue[g->in[key % WEFT__GNET_PORTS].queue];
        const struct weft__gnet_queue *sends = &g->queues.queue[g->out[g->crossing_to[key]].queue];
        __builtin_prefetch(&g->cells.slot[waits->head]);
        __builtin_prefetch(&g->cells.slot[waits->last]);
        __builtin_prefetch(&g->out[waits->out % WEFT__GNET_PORTS]);
        __builtin_prefetch(&g->cells.slot[sends->head]);
    }
}

/// What an endpoint needs for a cell.
static inline void fetch_home(const struct weft__tin *tin, const struct weft_packet *cell) {
    const struct weft__tin_fetch *f = &tin->fetch[weft__tin_fetch_slot(cell)];
    enum weft__cell_type type = weft__gnet_type(cell);
    if (__builtin_expect(type == WEFT__GNET_DATA, 1)) {
        __builtin_prefetch(f);
        __builtin_prefetch(&f->last_ps);
    } else if (type == WEFT__GNET_RTS) {
        __builtin_prefetch(&tin->hosts->qp[cell->qp]);
    } else if (type == WEFT__GNET_CTS) {
        __builtin_prefetch(&tin->packet[cell->qp]);
        __builtin_prefetch(&tin->packet[cell->qp].since_ps);
    }
}

/// Draws and prefetches the paths of cells, if the cells' mode draws them; also prefetches the endpoints of cells that
/// have arrived, as far as these take turns.
static inline void follow_cells(struct weft__tin *tin, struct weft__arrival *arrival, uint32_t n) {
    struct weft__gnet *g = &tin->gnet;
    uint16_t turn[WEFT__GNET_ENDPOINTS];
    memcpy(turn, g->arrival_turn, sizeof turn);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        if (!(arrival[i].word & IS_CELL)) continue;
        const struct weft__gnet_in *in = &g->in[p->port];
        bool is_owed = in->owed[weft__gnet_vc(p)] + WEFT_GNET_CELL_MAX / WEFT_GNET_CREDIT_UNIT >= in->batch_units;
        __builtin_prefetch(is_owed ? (const void *)&g->credit_delay_ps[p->port] : in);
        if (arrival[i].word & IS_HOME) {
            enum weft__gnet_endpoint kind = weft__gnet_endpoint_of(g, p);
            fetch_home(tin, p);
            fetch_out(g, g->endpoint[g->first[kind] + turn[kind]++ % g->n[kind]]);
        } else if (g->draws) {
            struct weft__gnet_known known = known_of(arrival[i].word);
            weft__gnet_draw(g, p->port, &known);
            arrival[i].word = word_of(known) | IS_CELL;
            fetch_out(g, known.drawn[0] % WEFT__GNET_PORTS);
            fetch_out(g, known.drawn[1] % WEFT__GNET_PORTS);
        }
    }
}

/// Prefetches the first of the cells that endpoints have sent, step by step: itself, its entry in the tables, its
/// paths.
static inline const struct weft_packet *first_coming(const struct weft__gnet *g, weft_time_ps end) {
    const struct weft_packet *cell = &g->coming.cell[g->coming.first];
    return g->coming.n && cell->time_ps < end && weft__gnet_to(cell) != g->self ? cell : NULL;
}

static void tin_fetch(const struct weft__node *node, const struct weft__arrival *arrival, uint32_t n,
                      weft_time_ps end) {
    const struct weft__tin *tin = node->state;
    const struct weft__gnet *g = &tin->gnet;
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        if (!is_gnet(g, p)) continue;
        const struct weft__gnet_out *out = &g->out[p->port];
        bool is_credit = p->kind == WEFT_PACKET_ROOM;
        uint32_t to = is_credit ? g->self : weft__gnet_to(p);
        __builtin_prefetch(is_credit ? (const void *)out : &g->in[p->port]);
        __builtin_prefetch(is_credit ? (const void *)out->credits : weft__gnet_entry_to(g, p, p->port, to));
    }
    fetch_due(g, end);
    if (g->coming.n) __builtin_prefetch(&g->coming.cell[g->coming.first]);
}

/// Looks up the paths of cells in the tables; one is chosen in its turn.
static void tin_prepare(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    const struct weft__tin *tin = node->state;
    const struct weft__gnet *g = &tin->gnet;
    uint16_t none = g->change_ps < end ? UINT16_MAX : 0; // tables change: paths are looked up in the cells' turn
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_packet *p = arrival[i].packet;
        arrival[i].word = 0;
        if (!is_gnet(g, p)) continue;
        if (p->kind == WEFT_PACKET_ROOM) continue;
        bool is_home = weft__gnet_to(p) == g->self;
        uint16_t set = *weft__gnet_entry(g, p, p->port);
        __builtin_prefetch(&g->set[set]);
        __builtin_prefetch(g->depth[weft__gnet_next_vc(g, p->port, weft__gnet_vc(p))]);
        set |= (uint16_t)(none | -is_home);
        arrival[i].word = word_of(weft__gnet_known_set(set)) | IS_CELL | (is_home ? IS_HOME : 0);
    }
    prepare_due(g, end);
    const struct weft_packet *coming = first_coming(g, end);
    if (coming) __builtin_prefetch(weft__gnet_entry(g, coming, coming->port));
}

static void tin_follow(struct weft__node *node, struct weft__arrival *arrival, uint32_t n, weft_time_ps end) {
    struct weft__tin *tin = node->state;
    const struct weft__gnet *g = &tin->gnet;
    const struct weft_packet *coming = first_coming(g, end);
    follow_due(g, end);
    follow_cells(tin, arrival, n);
    if (coming) __builtin_prefetch(&g->set[*weft__gnet_entry(g, coming, coming->port)]);
    if (coming) __builtin_prefetch(g->depth[weft__gnet_vc(coming)]);
}

static void tin_run(struct weft__node *node, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                    weft_time_ps end) {
    struct weft__tin *tin = node->state;
    struct weft__gnet *g = &tin->gnet;
    const struct weft__arrival *last = arrival + n;
    uint64_t timers = 0;
    for (;;) {
        weft_time_ps due = weft__gnet_due_next(&g->due), timer = weft__timers_next(&node->timers);
        weft_time_ps packet = arrival < last ? arrival->packet->time_ps : end;
        if (packet <= (due < timer ? due : timer)) {
            if (arrival == last) break;
            w->now_ps = packet;
            on_packet(node, w, arrival->packet, arrival->word);
            arrival++;
            continue;
        }
        if (timer < due || (timer == due && weft__timers_next_key(&node->timers) < g->key0)) {
            w->before_ps = w->now_ps;
            w->now_ps = timer;
            on_timer(node, w, weft__timers_pop(&node->timers));
        } else {
            w->now_ps = due;
            weft__gnet_on_due(node, g, w, weft__gnet_due_pop(&g->due));
        }
        timers++;
    }
    w->tally.events += n + timers;
    if (n + timers && w->now_ps > w->tally.last_ps) w->tally.last_ps = w->now_ps;
    if (g->due.first > WEFT__GNET_DUE_FIRST) weft__gnet_due_settle(&g->due);
    node->due_ps = g->due.first < g->due.end ? weft__gnet_due_next(&g->due) : WEFT_TIME_NEVER;
}

static const struct weft__node_ops tin_ops = {.fetch = tin_fetch,
                                              .prepare = tin_prepare,
                                              .follow = tin_follow,
                                              .run = tin_run,
                                              .head_lines = WEFT__GNET_HEAD_LINES};

// --- making -------------------------------------------------------------------------------------------------------

static void on_left(struct weft__node *node, struct weft__worker *w, uint32_t k, uint32_t priority, uint32_t bytes) {
    struct weft__tin *tin = node->state;
    tin->port[k].egress_bytes -= bytes;
    weft__tin_grant(node, tin, w, k);
}

static void on_pauses(struct weft__node *node, struct weft__worker *w, uint32_t k) {
    weft__tin_grant(node, node->state, w, k);
}

static const struct weft__ether_ops ether_ops = {
    .on_left = on_left, .on_leaving = weft__tin_on_leaving, .on_pauses = on_pauses};

/// Hosts' packets use the NIC's endpoints.
static void find_endpoints(struct weft__tin *tin, const struct weft__tin_setup *setup) {
    for (uint32_t k = 0; k < setup->node_ports; k++)
        if (tin->slot[k] & WEFT__TIN_ETHERNET)
            tin->port[tin->slot[k] & ~(uint32_t)WEFT__TIN_ETHERNET].endpoint =
                !setup->hosts_port || setup->hosts_port[k] ? WEFT__GNET_NIC : WEFT__GNET_ETHERNET;
}

static uint32_t number_ports(struct weft__tin *tin, const struct weft__tin_setup *setup) {
    uint16_t *slot = weft_arena_alloc(setup->arena, setup->node_ports, sizeof *slot);
    uint32_t ports = 0;
    for (uint32_t k = 0; k < setup->node_ports; k++) {
        bool is_gnet = k < WEFT__GNET_PORTS && (setup->topology->local | setup->topology->global) >> k & 1;
        slot[k] = (uint16_t)(is_gnet ? k : WEFT__TIN_ETHERNET + ports++);
    }
    tin->slot = slot;
    tin->node_ports = setup->node_ports;
    return ports;
}

/// Thresholds are those of the AQM, applied to RTS queues. The code points of frames are known where they enter.
static void record_trace(struct weft__tin *tin, const struct weft__tin_setup *setup) {
    const struct weft__ether *e = &tin->ether;
    weft_bytes thresholds[WEFT_EVENT_THRESHOLDS];
    if (e->aqm->thresholds) e->aqm->thresholds(e->conf->aqm.conf, thresholds);
    tin->trace = weft__trace_new(setup->node, setup->port0, tin->node_ports, setup->events_max,
                                 e->aqm->thresholds ? thresholds : NULL, e->conf->aqm_priorities, setup->arena);
    for (uint32_t q = 0; q < tin->node_ports * WEFT_PRIORITIES; q++)
        tin->trace->queue[q].dscps = UINT64_MAX;
    tin->gnet.trace = tin->trace;
}

struct weft__tin *weft__tin_new(const struct weft__tin_setup *setup, struct weft__node *node) {
    struct weft__tin *tin = weft__arena_lines(setup->arena, 1, sizeof *tin);
    uint32_t ports = number_ports(tin, setup);
    tin->conf = setup->conf;
    tin->hosts = setup->hosts;
    tin->places = setup->places;
    tin->egress = setup->egress;
    tin->egresses = setup->egresses;
    tin->absence = setup->absence;
    tin->absences = setup->absences;
    tin->pool = setup->pool;
    tin->announced = tin->packet_free = tin->fetching = tin->fetch_free = (struct weft__tin_list){WEFT_NONE, WEFT_NONE};
    tin->port0 = setup->port0;
    tin->sampled = setup->sampled;
    tin->depths = setup->depths;
    tin->sampling = setup->sampling;
    struct weft__ether_setup ether = {
        .rows = setup->rows,
        .place = setup->port0,
        .conf = setup->ethernet,
        .ops = &ether_ops,
        .ports = ports,
        .seed = setup->seed,
        .who = setup->who,
        .pool = setup->pool,
        .queues_bytes = WEFT_TIME_NEVER, // limited by the window of CTSs
        .aqm_queues = ports * WEFT_PRIORITIES,
        .arena = setup->arena,
    };
    weft__ether_init(&tin->ether, &ether);
    tin->nics = setup->nics;
    if (tin->nics) weft__tin_nics_join(tin->nics, &tin->ether);
    tin->port = weft_arena_alloc(setup->arena, ports, sizeof *tin->port);
    for (uint32_t k = 0; k < ports; k++) {
        tin->port[k].incoming = WEFT_NONE;
        for (uint32_t f = 0; f < WEFT__TIN_FLOWS; f++)
            tin->port[k].head[f] = tin->port[k].tail[f] = WEFT_NONE;
    }
    find_endpoints(tin, setup);
    struct weft__gnet_setup gnet = {
        .conf = setup->conf,
        .tin = setup->topology,
        .tables = setup->tables,
        .times = setup->times,
        .endpoint_rate = setup->endpoint_rate,
        .self = setup->self,
        .who = setup->who,
        .key0 = weft__tin_key(tin, WEFT__TIN_KEYS),
        .seed = setup->seed,
        .arena = setup->arena,
    };
    bool fits = weft__gnet_init(&tin->gnet, &gnet);
    assert(fits); // weft_simulation_check guarantees it
    tin->gnet.on_cell = on_cell;
    tin->gnet.on_crossing = on_crossing;
    if (setup->traces) {
        tin->gnet.tracer = weft_arena_alloc(setup->arena, 1, sizeof *tin->gnet.tracer);
        weft__gnet_tracer_init(tin->gnet.tracer, setup->conf->trace, setup->conf->trace_kept, setup->node, setup->seed,
                               setup->who);
    }
    if (setup->events_max) record_trace(tin, setup);
    tin->gnet.counts.seen = setup->seen;
    node->ops = &tin_ops;
    node->state = tin;
    uint32_t keys = tin->gnet.key0 + WEFT__GNET_NODE_KEYS;
    if (setup->rma) {
        struct weft__tin_rma_setup rma = *setup->rma;
        rma.conf = &setup->conf->rma;
        rma.gnet = &tin->gnet;
        rma.pool = setup->pool;
        rma.self = setup->self;
        rma.key0 = keys;
        rma.arena = setup->arena;
        tin->rma = weft__tin_rma_new(&rma);
        keys += weft__tin_rma_keys(tin->rma);
    }
    weft__timers_init(&node->timers, keys);
    if (tin->rma) weft__tin_rma_start(node, tin->rma);
    weft__ether_start(&tin->ether, node, setup->lldp);
    weft__timer_set(&node->timers, tin->gnet.key0, 0); // fires at once to find the first failure of a link
    if (tin->sampled) weft__timer_set(&node->timers, weft__tin_key(tin, WEFT__TIN_KEY_SAMPLE), 0);
    return tin;
}

// --- at the end ---------------------------------------------------------------------------------------------------

static void add_bytes(void *context, const struct weft_packet *packet, uint32_t out) {
    *(weft_bytes *)context += packet->bytes;
}

weft_bytes weft__tin_held(const void *state) {
    const struct weft__tin *tin = state;
    weft_bytes bytes = weft__gnet_held(&tin->gnet) + tin->ingress_bytes;
    for (uint32_t f = 0; f < tin->fetches; f++)
        if (tin->fetch[f].used) bytes += tin->fetch[f].packet.bytes;
    weft__ether_each(&tin->ether, add_bytes, &bytes);
    return bytes + (tin->nics ? weft__tin_nics_held(tin->nics) : 0);
}

/// Adds the counts of one TiN.
static void sum_up(struct weft_tin_outcome *sum, const struct weft_tin_outcome *one, uint32_t transition0) {
#define X(field, type, help) sum->field += one->field;
    WEFT_TIN_COUNTERS(X)
#undef X
#define X(field, type, help)                                                                                           \
    if (one->field > sum->field) sum->field = one->field;
    WEFT_TIN_WATERMARKS(X)
#undef X
    for (uint32_t i = 0; i < one->transitions; i++) {
        struct weft_tin_transition *to = &sum->transition[transition0 + i];
#define X(field, type, help) to->field += one->transition[i].field;
        WEFT_TIN_TRANSITION_COUNTERS(X)
#undef X
        if (one->transition[i].fetch_max_ps > to->fetch_max_ps) to->fetch_max_ps = one->transition[i].fetch_max_ps;
    }
    for (uint32_t h = 0; h < WEFT_TIN_HOPS; h++)
        sum->hops[h] += one->hops[h];
    for (uint32_t c = 0; c < WEFT_TIN_CELL_TYPES; c++)
        sum->cells[c] += one->cells[c];
}

void weft__tin_finish(struct weft__tin *tin, weft_time_ps now, struct weft_tin_outcome *sum, uint32_t transition0) {
    weft__gnet_finish(&tin->gnet);
    if (tin->gnet.tracer) weft__gnet_trace_finish(tin->gnet.tracer);
    weft__ether_finish(&tin->ether, now);
    if (tin->rma) {
        tin->gnet.counts.cells_late += tin->rma->late;
        tin->gnet.counts.rma_window_bytes_max = tin->rma->solicited_bytes_max;
    }
    sum_up(sum, &tin->gnet.counts, transition0);
    tin->gnet.counts.transitions = 0; // told
    tin->gnet.counts.transition = NULL;
}

void weft__tin_deinit(void *state) {
    struct weft__tin *tin = state;
    if (tin->gnet.tracer) weft__gnet_tracer_deinit(tin->gnet.tracer);
    weft__gnet_deinit(&tin->gnet);
    if (tin->rma) weft__tin_rma_deinit(tin->rma);
    weft_memory_free(WEFT_MEMORY_QUEUE, tin->packet, tin->packet_capacity * sizeof *tin->packet);
    weft_memory_free(WEFT_MEMORY_QUEUE, tin->fetch, tin->fetch_capacity * sizeof *tin->fetch);
}
