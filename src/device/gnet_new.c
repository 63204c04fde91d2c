// SPDX-License-Identifier: Apache-2.0
// A cell switch made ready for a run, and what it holds at its end.
#include "device/gnet_switch.h"
#include <string.h>

#include "weft/memory.h"

static inline uint64_t bit(uint32_t i) {
    return UINT64_C(1) << i;
}

void weft__gnet_times_init(struct weft__gnet_times *times, weft_rate_bps rate, double overhead) {
    double byte_ps = 8.0 * (double)WEFT_PS_PER_S / (double)rate * (1 + overhead);
    for (uint32_t wire = 0; wire <= WEFT_GNET_CELL_MAX; wire++) {
        double ps = wire * byte_ps;
        uint32_t whole = (uint32_t)ps;
        times->ps[wire] = whole + (ps - whole > 1e-6);
    }
}

/// Ranks and weights of VCs at outputs. Escape VCs come last.
static void init_ranks(struct weft__gnet *g) {
    const struct weft_tin_conf *conf = g->conf;
    for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++) {
        uint32_t class = vc / WEFT_GNET_ROUTING_VCS, kind = class % WEFT_GNET_KINDS;
        bool is_escape = vc >= WEFT_GNET_ESCAPE_VC,
             is_low = !is_escape && class / WEFT_GNET_KINDS == WEFT_GNET_LOW_LATENCY;
        bool solicits = !is_escape && kind != WEFT_GNET_KIND_DATA && kind != WEFT_GNET_KIND_RESP;
        uint32_t rank = (conf->low_strict && !is_low ? 2u : 0u) + (conf->solicit_strict && !solicits ? 1u : 0u);
        g->strict[rank] |= 1u << vc;
        g->weight[vc] = is_low ? (uint8_t)conf->low_weight : 1;
    }
}

static bool init_endpoints(struct weft__gnet *g, uint8_t rate) {
    const uint64_t wanted[] = {g->conf->ip_endpoints, g->conf->rma_endpoints, g->conf->control_endpoints};
    uint32_t port = 0, n = 0;
    for (uint32_t kind = 0; kind < 3; kind++) {
        g->first[kind] = (uint8_t)n;
        g->n[kind] = (uint8_t)wanted[kind];
        for (uint32_t k = 0; k < wanted[kind]; k++, port++) {
            while (port < WEFT__GNET_PORTS && g->links >> port & 1)
                port++;
            if (port == WEFT__GNET_PORTS) return false;
            g->endpoint[n++] = (uint8_t)port;
            g->endpoints |= bit(port);
            g->in[port].cross = g->out[port].cross = rate;
            g->out[port].room = UINT32_MAX;
        }
    }
    return true;
}

bool weft__gnet_init(struct weft__gnet *g, const struct weft__gnet_setup *setup) {
    *g = (struct weft__gnet){
        .conf = setup->conf,
        .tin = setup->tin,
        .tables = setup->tables,
        .pod_of = setup->tables->pod_of,
        .place_of = setup->tables->place_of,
        .self = (uint16_t)setup->self,
        .pod = setup->tin->pod,
        .key0 = setup->key0,
        .pool = setup->pool,
        .links = setup->tin->local | setup->tin->global,
        .lag_ps = setup->conf->fall_through_ps + setup->conf->processing_ps,
        .random = weft_random_stream(setup->seed, setup->who, WEFT_RANDOM_SPRAY),
    };
    g->in = weft__arena_lines(setup->arena, WEFT__GNET_PORTS, sizeof *g->in);
    g->out = weft__arena_lines(setup->arena, WEFT__GNET_PORTS, sizeof *g->out);
    g->depth = weft__arena_lines(setup->arena, WEFT_GNET_VCS, sizeof *g->depth);
    memcpy(g->times, setup->times, sizeof g->times);
    for (uint32_t port = 0; port < WEFT__GNET_PORTS; port++) {
        bool is_link = g->links >> port & 1;
        g->input[port] = is_link ? setup->tin->input[port] : WEFT_GNET_TERMINAL;
        g->in[port].back = is_link ? setup->tin->back[port] : 0;
        g->in[port].rate = g->out[port].rate = WEFT__GNET_NO_LINK;
    }
    weft__gnet_use_tables(g, 0);
    init_ranks(g);
    return init_endpoints(g, setup->endpoint_rate);
}

void weft__gnet_connect(struct weft__gnet *g, uint32_t port, const struct weft__gnet_link *link) {
    struct weft__gnet_in *in = &g->in[port];
    struct weft__gnet_out *out = &g->out[port];
    weft_bytes fifo = link->global ? g->conf->global_fifo_bytes : g->conf->local_fifo_bytes;
    in->rate = out->rate = link->rate;
    in->cross = out->cross = link->cross;
    in->peer_node = out->peer_node = link->peer_node;
    in->peer_port = out->peer_port = link->peer_port;
    in->peer_worker = out->peer_worker = (uint8_t)link->peer_worker;
    in->credit_delay_ps = link->credit_delay_ps;
    in->fifo_units = (uint32_t)(fifo / WEFT_GNET_CREDIT_UNIT);
    in->batch_units = (uint16_t)(in->fifo_units * g->conf->credit_batch);
    if (!in->batch_units) in->batch_units = 1;
    out->delay_ps = link->delay_ps;
    out->faults = link->faults;
    if (link->faults) g->faulty |= bit(port);
    out->room = out->creditable = UINT32_MAX;
    for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++)
        out->credits[vc] = (int16_t)(link->far_fifo_bytes / WEFT_GNET_CREDIT_UNIT);
}

void weft__gnet_each(const struct weft__gnet *g, void (*on_cell)(void *context, const struct weft_packet *),
                     void *context) {
    const struct weft_packet *p;
    for (uint64_t left = g->links | g->endpoints; left; left &= left - 1) {
        uint32_t port = (uint32_t)__builtin_ctzll(left);
        const struct weft__gnet_in *in = &g->in[port];
        const struct weft__gnet_out *out = &g->out[port];
        for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++) {
            for (struct weft__fifo_cursor c = weft__fifo_begin(&in->vc[vc].fifo); (p = weft__fifo_next(&c));)
                on_cell(context, p);
            for (struct weft__fifo_cursor c = weft__fifo_begin(&out->fifo[vc]); (p = weft__fifo_next(&c));)
                on_cell(context, p);
        }
        if (g->endpoints & g->busy_out & bit(port)) on_cell(context, &out->cell);
    }
}

static void add_bytes(void *context, const struct weft_packet *cell) {
    *(weft_bytes *)context += cell->bytes;
}

weft_bytes weft__gnet_held(const struct weft__gnet *g) {
    weft_bytes bytes = 0;
    weft__gnet_each(g, add_bytes, &bytes);
    return bytes;
}

void weft__gnet_finish(struct weft__gnet *g) {
    for (uint64_t left = g->links; left; left &= left - 1) {
        uint32_t port = (uint32_t)__builtin_ctzll(left);
        uint64_t fifo = (uint64_t)g->in[port].units_max * WEFT_GNET_CREDIT_UNIT;
        if (fifo > g->counts.fifo_bytes_max) g->counts.fifo_bytes_max = fifo;
        if (g->out[port].bytes_max > g->counts.output_bytes_max) g->counts.output_bytes_max = g->out[port].bytes_max;
    }
}
