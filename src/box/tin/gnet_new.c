// SPDX-License-Identifier: Apache-2.0
// Prepares a cell switch for a run, and collects its state at the end.
#include "box/tin/gnet_switch.h"
#include "weft/memory.h"

static inline uint64_t bit_of(uint32_t i) {
    return UINT64_C(1) << i;
}

void weft__gnet_times_init(struct weft__gnet_times *times, weft_rate_bps rate, double overhead) {
    double byte_ps = 8.0 * (double)WEFT_PS_PER_S / (double)rate * (1 + overhead);
    times->rate = rate;
    times->overhead = overhead;
    for (uint32_t wire = 0; wire <= WEFT_GNET_TRAIN_MAX * WEFT_GNET_CELL_MAX; wire++) {
        double ps = wire * byte_ps;
        uint32_t whole = (uint32_t)ps;
        times->ps[wire] = whole + (ps - whole > 1e-6);
    }
}

/// Ports are numbered from 0: links keep their numbers, and endpoints fill the gaps and the rest.
static uint32_t count_ports(const struct weft__gnet *g) {
    uint64_t endpoints = g->conf->ip_endpoints + g->conf->rma_endpoints + g->conf->control_endpoints, port = 0;
    for (; endpoints; port++)
        endpoints -= port >= WEFT__GNET_PORTS || !(g->links >> port & 1);
    uint32_t links = g->links ? 64 - (uint32_t)__builtin_clzll(g->links) : 0;
    return port > links ? (uint32_t)port : links;
}

static void init_endpoints(struct weft__gnet *g, uint8_t rate) {
    const uint64_t wanted[] = {g->conf->ip_endpoints, g->conf->rma_endpoints, g->conf->control_endpoints};
    enum { CONTROL = 2 }; // no cell uses those
    uint32_t port = 0, n = 0;
    for (uint32_t kind = 0; kind <= CONTROL; kind++) {
        if (kind < CONTROL) g->first[kind] = (uint8_t)n;
        if (kind < CONTROL) g->n[kind] = (uint8_t)wanted[kind];
        for (uint32_t k = 0; k < wanted[kind]; k++, port++) {
            while (g->links >> port & 1)
                port++;
            g->endpoint[n++] = (uint8_t)port;
            g->endpoints |= bit_of(port);
            g->in[port].cross = rate & 15u;
            g->out[port].cross = rate & 15u;
            g->out[port].room = UINT32_MAX;
        }
    }
    uint8_t nic = (uint8_t)g->conf->nic_endpoints, ip = g->n[WEFT__GNET_IP];
    g->first[WEFT__GNET_ETHERNET] = nic;
    g->n[WEFT__GNET_NIC] = nic ? nic : ip;
    g->n[WEFT__GNET_ETHERNET] = (uint8_t)(ip - nic);
}

static const uint16_t *find_columns(const struct weft_dragonfly *f, const uint16_t *column_of,
                                    struct weft_arena *arena) {
    uint16_t *column = weft_arena_alloc(arena, (size_t)f->pods * f->tins, sizeof *column);
    for (uint32_t pod = 0; pod < f->pods; pod++)
        for (uint32_t d = 0; d < f->tins; d++)
            column[pod * f->tins + d] = f->tin[d].pod == pod ? f->tin[d].place : column_of[d];
    return column;
}

void weft__gnet_find_columns(struct weft__gnet_tables *t, struct weft_arena *arena) {
    t->column = find_columns(t->routes[0]->f, t->routes[0]->column_of, arena);
    if (t->timeline) t->column_changing = find_columns(t->routes[0]->f, t->timeline->column_of, arena);
}

/// The initial table of all TiNs, by classes of ports; a changing table, by ports.
static void init_tables(struct weft__gnet *g, const struct weft__gnet_setup *setup) {
    const struct weft__gnet_tables *t = setup->tables;
    const struct weft_clique_timeline *timeline = t->timeline;
    const struct weft_gnet_tin_routes *first = &t->routes[0]->tin[setup->self];
    g->own = timeline && timeline->tin[setup->self].set_of ? &timeline->tin[setup->self] : NULL;
    g->set_of = g->own ? g->own->set_of : first->set_of;
    g->set = g->own ? g->own->set : first->set;
    g->columns = (uint16_t)(g->own ? timeline->columns : t->routes[0]->columns);
    g->column = &(g->own ? t->column_changing : t->column)[g->tin->pod * t->routes[0]->f->tins];
    for (uint32_t port = 0; port < WEFT__GNET_PORTS; port++) {
        bool is_link = g->links >> port & 1;
        uint32_t slot = is_link ? port + 1 : 0; // all terminals share one
        enum weft_gnet_input input = is_link ? (enum weft_gnet_input)g->tin->input[port] : WEFT_GNET_TERMINAL;
        g->row0[port] = (uint8_t)((g->own ? slot : input) * WEFT_GNET_ROUTING_VCS);
        if (input == WEFT_GNET_INTER_POD) g->inter_pod |= bit_of(port);
    }
    if (timeline && timeline->transitions) {
        g->transition = timeline->transition;
        g->transitions = timeline->transitions;
        g->seen = weft_arena_alloc(setup->arena, g->transitions, sizeof *g->seen);
        g->counts.transition = g->seen;
        g->counts.transitions = g->transitions;
    }
    weft__gnet_use_tables(g, 0);
}

bool weft__gnet_init(struct weft__gnet *g, const struct weft__gnet_setup *setup) {
    *g = (struct weft__gnet){
        .conf = setup->conf,
        .tin = setup->tin,
        .tables = setup->tables,
        .times = setup->times,
        .self = (uint16_t)setup->self,
        .key0 = setup->key0,
        .links = setup->tin->local | setup->tin->global,
        .lump = (uint16_t)(setup->conf->train * WEFT_GNET_CELL_MAX),
        .lag_ps = setup->conf->fall_through_ps + setup->conf->processing_ps,
    };
    g->draws = g->conf->routing == WEFT_GNET_FULLY_ADAPTIVE || g->conf->routing == WEFT_GNET_MINIMAL_ADAPTIVE;
    struct weft_random random = weft_random_stream(setup->seed, setup->who, WEFT_RANDOM_SPRAY);
    g->random = weft_random_u64(&random);
    uint32_t ports = count_ports(g);
    if (ports > WEFT__GNET_PORTS) return false;
    g->in = weft__arena_lines(setup->arena, ports, sizeof *g->in);
    g->out = weft__arena_lines(setup->arena, ports, sizeof *g->out);
    g->due.word[1] = UINT64_MAX;
    g->due.first = g->due.end = 1;
    g->port = weft_arena_alloc(setup->arena, ports, sizeof *g->port);
    g->credit_delay_ps = weft__arena_lines(setup->arena, ports, sizeof *g->credit_delay_ps);
    g->depth = weft__arena_lines(setup->arena, WEFT__GNET_DEPTHS, sizeof *g->depth);
    weft__gnet_cells_grow(&g->cells);
    weft__gnet_queues_grow(&g->queues);
    for (uint32_t port = 0; port < WEFT__GNET_PORTS; port++)
        g->crossing_to[WEFT__GNET_SENT + port] = (uint8_t)port;
    for (uint32_t port = 0; port < ports; port++) {
        bool is_link = g->links >> port & 1;
        g->in[port].back = is_link ? setup->tin->back[port] : 0;
        g->in[port].rate = g->out[port].rate = WEFT__GNET_NO_LINK;
    }
    if (g->conf->vc_turns) g->turns = weft_arena_alloc(setup->arena, ports, sizeof *g->turns);
    if (g->conf->step_ps) g->channels = weft__gnet_channels_new(g->conf->step_ps, setup->arena);
    init_tables(g, setup);
    if (g->conf->routing == WEFT_GNET_UGAL) g->ugal = weft__gnet_ugal_new(g, setup->arena);
    init_endpoints(g, setup->endpoint_rate);
    return true;
}

void weft__gnet_deinit(struct weft__gnet *g) {
    weft__gnet_cells_deinit(&g->cells);
    weft__gnet_queues_deinit(&g->queues);
    weft_memory_free(WEFT_MEMORY_QUEUE, g->coming.cell, g->coming.capacity * sizeof *g->coming.cell);
}

void weft__gnet_connect(struct weft__gnet *g, uint32_t port, const struct weft__gnet_link *link) {
    struct weft__gnet_in *in = &g->in[port];
    struct weft__gnet_out *out = &g->out[port];
    struct weft__gnet_port *more = &g->port[port];
    weft_bytes fifo = link->global ? g->conf->global_fifo_bytes : g->conf->local_fifo_bytes;
    in->rate = out->rate = link->rate & 15u;
    in->cross = out->cross = link->cross & 15u;
    in->peer_node = out->peer_node = link->peer_node;
    in->peer_port = out->peer_port = (uint8_t)link->peer_port;
    in->peer_inbox = out->peer_inbox = (uint8_t)link->peer_inbox;
    g->credit_delay_ps[port] = link->credit_delay_ps;
    g->depth[WEFT__GNET_FIFO_UNITS][port] = (uint16_t)(fifo / WEFT_GNET_CREDIT_UNIT);
    double batch = (double)(fifo / WEFT_GNET_CREDIT_UNIT) * g->conf->credit_batch;
    uint32_t most = UINT8_MAX - (uint32_t)weft__gnet_lump_units(g); // the most that a byte can count, less one cell
    in->batch_units = (uint8_t)(batch < 1 ? 1 : batch < most ? (uint32_t)batch : most);
    out->delay_ps = link->delay_ps;
    more->faults = link->faults;
    more->tap = link->tap;
    if (link->faults || link->tap) g->special |= bit_of(port);
    out->room = out->creditable = UINT32_MAX;
    more->credits = (int32_t)(WEFT_GNET_VCS * (link->far_fifo_bytes / WEFT_GNET_CREDIT_UNIT));
    for (uint32_t vc = 0; vc < WEFT_GNET_VCS; vc++)
        out->credits[vc] = (int16_t)(link->far_fifo_bytes / WEFT_GNET_CREDIT_UNIT);
}

static void each_of(const struct weft__gnet *g, uint32_t first,
                    void (*on_cell)(void *context, const struct weft_packet *), void *context) {
    for (uint32_t q = first; q; q = g->queues.queue[q].next)
        for (uint32_t slot = g->queues.queue[q].head; slot; slot = g->cells.slot[slot].node)
            on_cell(context, &g->cells.slot[slot]);
}

void weft__gnet_each(const struct weft__gnet *g, void (*on_cell)(void *context, const struct weft_packet *),
                     void *context) {
    for (uint32_t k = 0; k < g->coming.n; k++)
        on_cell(context, &g->coming.cell[(g->coming.first + k) & (g->coming.capacity - 1)]);
    for (uint64_t left = g->links | g->endpoints; left; left &= left - 1) {
        uint32_t port = (uint32_t)__builtin_ctzll(left);
        each_of(g, g->in[port].queue, on_cell, context);
        each_of(g, g->out[port].queue, on_cell, context);
        uint32_t from = g->crossing_from[port];
        if (g->endpoints & bit_of(port) && g->crossing_to[from] == port && g->crossing_armed & ~g->taken & bit_of(from))
            on_cell(context, &g->out[port].cell);
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
    g->counts.ways_minimal = g->ways_minimal;
    g->counts.ways_nonminimal = g->ways_nonminimal;
    for (uint64_t left = g->links; left; left &= left - 1) {
        uint32_t port = (uint32_t)__builtin_ctzll(left);
        struct weft_gnet_port own = weft__gnet_port_counts(g, port);
        if (own.fifo_bytes_max > g->counts.fifo_bytes_max) g->counts.fifo_bytes_max = own.fifo_bytes_max;
        if (own.output_bytes_max > g->counts.output_bytes_max) g->counts.output_bytes_max = own.output_bytes_max;
        g->counts.credit_stalls += own.credit_stalls;
        g->counts.credit_stall_ps += own.credit_stall_ps;
        g->counts.cell_hops += own.cells;
    }
}
