// SPDX-License-Identifier: Apache-2.0
// Results of Aquila Cliques: their TiNs, GNet links and traced cells.
#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "box/tin/tin_net.h"
#include "box/tin/tin_outcome.h"
#include "weft/gnet_routes.h"
#include "weft/report.h"

// What the table of a run reports about its Cliques.

enum { TEXT = 64, TRANSITIONS_MAX = 8 };

static void print_tin(FILE *file, const struct weft_tin_outcome *d) {
    char hops[TEXT];
    uint64_t cells = 0, links = 0, ways = d->ways_minimal + d->ways_nonminimal;
    for (uint32_t h = 0; h < WEFT_TIN_HOPS; h++) {
        cells += d->hops[h];
        links += h * d->hops[h];
    }
    fprintf(file,
            "Aquila %s cell-hops, %.2f links a cell, %.1f%% of routes not minimal; %s and %s lost, %" PRIu64
            " discarded by CTD\n       without credits %" PRIu64
            " times, %s in all; at most %s in a FIFO, %s announced in an RTS queue, %s asked for at a port\n",
            weft__count_text(hops, (double)d->cell_hops), cells ? (double)links / (double)cells : 0,
            ways ? 100 * (double)d->ways_nonminimal / (double)ways : 0,
            weft__counted(d->cells_lost + d->cells_unroutable, "cell").text,
            weft__counted(d->packets_lost, "packet").text, d->ctd, d->credit_stalls,
            weft__short_time(d->credit_stall_ps).text, weft__short_bytes(d->fifo_bytes_max).text,
            weft__short_bytes(d->rts_bytes_max).text, weft__short_bytes(d->egress_bytes_max).text);
}

static void print_ns(FILE *file, const char *what, const struct weft_histogram *h) {
    fprintf(file, "       %s p50 %s, p99 %s, p99.9 %s\n", what,
            weft__short_time(weft_histogram_quantile(h, 0.5) * WEFT_PS_PER_NS).text,
            weft__short_time(weft_histogram_quantile(h, 0.99) * WEFT_PS_PER_NS).text,
            weft__short_time(weft_histogram_quantile(h, 0.999) * WEFT_PS_PER_NS).text);
}

static void print_tin_packets(FILE *file, const struct weft_tin_outcome *d) {
    if (!d->rts) return;
    print_ns(file, "from a packet's RTS to its CTS:", &d->seen->clear_ns);
    print_ns(file, "from its CTS until it is whole:", &d->seen->fetch_ns);
    fprintf(file,
            "       packets announced before one in its RTS queue: p50 %" PRIu64 ", p99 %" PRIu64 ", p99.9 %" PRIu64
            "\n",
            weft_histogram_quantile(&d->seen->rts_packets, 0.5), weft_histogram_quantile(&d->seen->rts_packets, 0.99),
            weft_histogram_quantile(&d->seen->rts_packets, 0.999));
}

/// Only where cells were traced.
static void print_traced(FILE *file, const struct weft_run *run) {
    const struct weft_cell_paths *p = weft_outcome_cliques(run->outcome)->cells;
    if (!p->cells) return;
    fprintf(file, "       traced %s: %" PRIu64 " arrived, %" PRIu64 " lost, %" PRIu64 " in flight",
            weft__counted(p->cells, "cell").text, p->arrived, p->lost, p->under_way);
    if (p->unknown) fprintf(file, "; missing: %s", weft__counted(p->unknown, "note").text);
    if (p->astray)
        fprintf(file, "; %" PRIu64 " astray, %s is to blame for %" PRIu64, p->astray,
                run->topology->node[p->suspect].name, p->suspicions);
    putc('\n', file);
    print_ns(file, "of these, at a TiN:", &p->hop_ns);
}

static void print_links(FILE *file, const struct weft_tin_transition *t) {
    if (t->down) fprintf(file, "%" PRIu32 " link%s down", t->down, t->down > 1 ? "s" : "");
    if (t->up) fprintf(file, "%s%" PRIu32 " link%s up again", t->down ? ", " : "", t->up, t->up > 1 ? "s" : "");
}

static void print_transition(FILE *file, const struct weft_tin_transition *t) {
    char after[TEXT];
    fprintf(file, "       at %s ", weft__short_time(t->from_ps).text);
    print_links(file, t);
    if (t->to_ps == WEFT_TIME_NEVER)
        fprintf(file, ": tables never follow");
    else
        fprintf(file, ": tables follow within %s",
                (weft_format_time(t->to_ps - t->from_ps, after, sizeof after), after));
    fprintf(file, "; in that time %s and %s lost, %s on escape VCs", weft__counted(t->cells_lost, "cell").text,
            weft__counted(t->packets_lost, "packet").text, weft__counted(t->escapes, "cell").text);
    if (t->packets) {
        fprintf(file, "; %s whole after %s on average, %s at most", weft__counted(t->packets, "packet").text,
                weft__short_time(t->fetch_ps / t->packets).text, weft__short_time(t->fetch_max_ps).text);
    }
    putc('\n', file);
}

static void print_transitions(FILE *file, const struct weft_tin_outcome *o) {
    for (uint32_t i = 0; i < o->transitions && i < TRANSITIONS_MAX; i++)
        print_transition(file, &o->transition[i]);
    if (o->transitions > TRANSITIONS_MAX)
        fprintf(file, "       and %" PRIu32 " more times\n", o->transitions - TRANSITIONS_MAX);
    if (!o->table_changes) return;
    fprintf(file, "       controller: %s of tables changed", weft__counted(o->table_changes, "entry").text);
    if (o->walked) fprintf(file, "; black holes made by writes: %" PRIu64, o->holes);
    putc('\n', file);
}

/// What the table of a run reports about its Cliques.
static void print_report(FILE *file, const struct weft_run *run) {
    print_tin(file, weft_outcome_tin(run->outcome));
    print_tin_packets(file, weft_outcome_tin(run->outcome));
    if (weft_outcome_cliques(run->outcome)->cells) print_traced(file, run);
    print_transitions(file, weft_outcome_tin(run->outcome));
}

static struct weft_result_value text_value(const char *value) {
    return (struct weft_result_value){.known = value, .text = value};
}

// --- all TiNs -----------------------------------------------------------------------------------------------------

WEFT_RESULT_PRESENT(has_tins, weft_outcome_cliques(run->outcome))

/// Part 0 is the outcome, part 1 its distributions.
static bool next_clique(struct weft_result_cursor *c) {
    c->part[0] = weft_outcome_tin(c->run->outcome);
    c->part[1] = weft_outcome_tin(c->run->outcome)->seen;
    return !c->at++;
}

static struct weft_result_value hops_rate(struct weft_result_cursor *c) {
    const struct weft_outcome *o = c->run->outcome;
    double rate = o->cpu_s > 0 ? (double)weft_outcome_tin(o)->cell_hops / o->cpu_s : (double)NAN;
    return (struct weft_result_value){.known = isfinite(rate), .real = rate};
}

#define COUNTED(field, type, help) WEFT_RESULT(struct weft_tin_outcome, field, type, help)
static const struct weft_result_column aquila_columns[] = {
#define X(field, type, help) COUNTED(field, type, help),
    WEFT_TIN_COUNTERS(X) WEFT_TIN_WATERMARKS(X)
#undef X
        WEFT_RESULT_CALL(hops_rate, "cell_hops_per_cpu_s", REAL, "cell hops a second of processor time", .unit = "1/s"),
#define X(field, type, of, help)                                                                                       \
    WEFT_RESULT_HISTOGRAM(1, struct weft_tin_histograms, field, #field, type, help, .unit = of),
    WEFT_TIN_HISTOGRAMS(X)
#undef X
        COUNTED(table_changes, COUNT, "entries of tables that the controller changed"),
    WEFT_RESULT_NAMED(
        struct weft_tin_outcome, holes, "black_holes", COUNT,
        "times that a write of the controller left two TiNs without a route to each other; counted in Cliques of "
        "up to control.sdn.check_tins TiNs"),
};
static const struct weft_result_table table_aquila = WEFT_RESULT_TABLE(
    "aquila", OBJECT, "the TiNs of a run: sums and the most at any one; percentiles are off by 0.4% at most",
    aquila_columns, .next = next_clique, .present = has_tins, .print = print_report);

static const char *const cell_names[] = {
#define X(name, help) #name,
    WEFT_TIN_CELLS(X)
#undef X
};
enum { CELL_TYPES = sizeof cell_names / sizeof *cell_names };

struct whole {
    uint64_t value;
};

WEFT_RESULT_ROWS(next_cell_type, CELL_TYPES, weft_outcome_tin(c->run->outcome)->cells)
WEFT_RESULT_VALUE(cell_type, text_value(cell_names[c->at - 1]))

static const struct weft_result_table table_cells = WEFT_RESULT_TABLE_OF(
    "aquila.cells", NUMBERS, "a type of cell", .next = next_cell_type,
    WEFT_RESULT_CALL(cell_type, "type", TEXT,
                     "type of cell: rts, cts, ctd, data (of IP packets), req or resp (of 1RMA)",
                     .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_NAMED(struct whole, value, "cells", COUNT, "cells of this type that endpoints sent"));

WEFT_RESULT_ROWS(next_hops, WEFT_TIN_HOPS, weft_outcome_tin(c->run->outcome)->hops)

static const struct weft_result_table table_hops = WEFT_RESULT_TABLE_OF(
    "aquila.hops", ARRAY, "a number of links, from 0", .next = next_hops,
    WEFT_RESULT_CALL(weft_result_index, "links", COUNT, "links that a cell crossed", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_NAMED(struct whole, value, "cells", COUNT, "cells that came to an endpoint after so many links"));

// --- virtual channels ---------------------------------------------------------------------------------------------

struct depth {
    uint32_t vc;
    const char *kind, *level;
};
struct distribution {
    struct weft_histogram of;
};

WEFT_RESULT_PRESENT(has_depths, weft_outcome_cliques(run->outcome)->depths)

/// VCs that ever had cells in a sample. Part 0 is the VC, parts 1 and 2 are its distributions.
static bool next_depth(struct weft_result_cursor *c) {
    const struct weft_gnet_depths *d = weft_outcome_cliques(c->run->outcome)->depths;
    struct depth *row = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *row);
    while (c->at < WEFT_GNET_VCS && !d->output[c->at].max && !d->fifo[c->at].max)
        c->at++;
    if (c->at == WEFT_GNET_VCS) return false;
    uint32_t vc = (uint32_t)c->at++, class = vc / WEFT_GNET_ROUTING_VCS;
    bool escape = vc >= WEFT_GNET_ESCAPE_VC;
    *row = (struct depth){vc, escape ? "escape" : weft_gnet_kind_names[class % WEFT_GNET_KINDS],
                          escape                    ? NULL
                          : class < WEFT_GNET_KINDS ? "low_latency"
                                                    : "bulk"};
    c->part[0] = row;
    c->part[1] = &d->output[vc];
    c->part[2] = &d->fifo[vc];
    return true;
}

static const struct weft_result_table table_vc_depths = WEFT_RESULT_TABLE_OF(
    "aquila.vc_depths", LIST, "a virtual channel in which a sample found something, with run.sample_interval",
    WEFT_RESULT_AND(.next = next_depth, .present = has_depths),
    WEFT_RESULT(struct depth, vc, COUNT, "number of the virtual channel", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct depth, kind, TEXT, "cells of the virtual channel: rts, cts, data, req, resp, or escape for any"),
    WEFT_RESULT(struct depth, level, TEXT, "low_latency or bulk; none of an escape VC", .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT_HISTOGRAM(1, struct distribution, of, "output_bytes", COUNT,
                          "bytes in the queue of the VC at an output, over samples and links", .unit = "bytes"),
    WEFT_RESULT_HISTOGRAM(2, struct distribution, of, "fifo_bytes", COUNT,
                          "bytes in the FIFO of the VC at an input, over samples and links", .unit = "bytes"));

// --- failures and repairs -----------------------------------------------------------------------------------------

WEFT_RESULT_ROWS(next_transition, weft_outcome_tin(c->run->outcome)->transitions,
                 weft_outcome_tin(c->run->outcome)->transition)

#define SEEN(field, type, help) WEFT_RESULT(struct weft_tin_transition, field, type, help)
#define SEEN_NAMED(field, key, type, ...) WEFT_RESULT_NAMED(struct weft_tin_transition, field, key, type, __VA_ARGS__)
#define FETCH_MAX "longest time from a CTS until the packet was whole, of the packets that became whole"
static const struct weft_result_column transitions_columns[] = {
    WEFT_RESULT_CALL(weft_result_index, "number", COUNT, "number of the transition, from 0", .flags = WEFT_RESULT_KEY),
    SEEN_NAMED(from_ps, "at_ps", TIME, "when links failed or came back"),
    SEEN_NAMED(to_ps, "until_ps", TIME, "when the tables followed; none: they never did", .flags = WEFT_RESULT_SPARSE),
    SEEN_NAMED(down, "links_down", COUNT, "links that failed"),
    SEEN_NAMED(up, "links_up", COUNT, "links that came back"),
#define X(field, type, help) SEEN(field, type, help),
    WEFT_TIN_TRANSITION_COUNTERS(X)
#undef X
        SEEN(fetch_max_ps, TIME, FETCH_MAX),
};
static const struct weft_result_table table_transitions = WEFT_RESULT_TABLE(
    "aquila.transitions", LIST, "a time from a failure or repair of links until the controller's tables follow",
    transitions_columns, .next = next_transition);

/// All transitions in which links failed, or all in which they only came back.
struct sum {
    struct weft_tin_transition all;
    uint64_t count;
    weft_time_ps longest_ps;
};

static struct sum sum_of(const struct weft_tin_outcome *o, bool failures) {
    struct sum sum = {0};
    for (uint32_t i = 0; i < o->transitions; i++) {
        const struct weft_tin_transition *t = &o->transition[i];
        if ((t->down > 0) != failures) continue;
        weft_time_ps time = t->to_ps == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : t->to_ps - t->from_ps;
        if (time > sum.longest_ps) sum.longest_ps = time;
        sum.count++;
#define X(field, type, help) sum.all.field += t->field;
        WEFT_TIN_TRANSITION_COUNTERS(X)
#undef X
        if (t->fetch_max_ps > sum.all.fetch_max_ps) sum.all.fetch_max_ps = t->fetch_max_ps;
    }
    return sum;
}

static bool next_sum(struct weft_result_cursor *c, bool failures) {
    struct sum *sum = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *sum);
    *sum = sum_of(weft_outcome_tin(c->run->outcome), failures);
    c->part[0] = sum;
    return !c->at++;
}
static bool next_failures(struct weft_result_cursor *c) {
    return next_sum(c, true);
}
static bool next_repairs(struct weft_result_cursor *c) {
    return next_sum(c, false);
}

static const struct weft_result_column sum_columns[] = {
    WEFT_RESULT(struct sum, count, COUNT, "number of transitions in the sum"),
    WEFT_RESULT(struct sum, longest_ps, TIME, "longest time until the tables followed; none: some never did"),
#define X(field, type, help) WEFT_RESULT_NAMED(struct sum, all.field, #field, type, help),
    WEFT_TIN_TRANSITION_COUNTERS(X)
#undef X
        WEFT_RESULT_NAMED(struct sum, all.fetch_max_ps, "fetch_max_ps", TIME, FETCH_MAX),
};
static const struct weft_result_table table_failures = WEFT_RESULT_TABLE(
    "aquila.failures", OBJECT, "the transitions in which links failed, summed up", sum_columns, .next = next_failures);
static const struct weft_result_table table_repairs =
    WEFT_RESULT_TABLE("aquila.repairs", OBJECT, "the transitions in which links only came back, summed up", sum_columns,
                      .next = next_repairs);

// --- each TiN and port --------------------------------------------------------------------------------------------

/// Part 0 is its counters, part 1 the node.
static bool next_tin(struct weft_result_cursor *c) {
    const struct weft_clique_outcome *o = weft_outcome_cliques(c->run->outcome);
    if (!o || c->at == o->tins) return false;
    const struct weft_tin_part *tin = &o->tin[c->at++];
    c->part[0] = &tin->counts;
    c->part[1] = &c->run->topology->node[tin->node];
    return true;
}

static const struct weft_result_column tins_columns[] = {
    WEFT_RESULT_AT(1, struct weft_node_info, name, "tin", TEXT, "name of the TiN", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_AT(1, struct weft_node_info, cluster, "pod", COUNT, "pod of the TiN"),
#define X(field, type, help) COUNTED(field, type, help),
    WEFT_TIN_COUNTERS(X) WEFT_TIN_WATERMARKS(X)
#undef X
};
static const struct weft_result_table table_tins = WEFT_RESULT_TABLE(
    "tins", APART, "a TiN, with the counters of aquila as they are at that TiN", tins_columns, .next = next_tin);

static bool next_gnet_port(struct weft_result_cursor *c) {
    const struct weft_clique_outcome *o = weft_outcome_cliques(c->run->outcome);
    if (!o || c->at == o->gnet_ports) return false;
    c->part[0] = &o->gnet_port[c->at++];
    return true;
}
WEFT_RESULT_VALUE(port_class, text_value(((const struct weft_gnet_port *)c->part[0])->global ? "global" : "local"))

static const struct weft_result_column gnet_ports_columns[] = {
    WEFT_RESULT(struct weft_gnet_port, port, COUNT, "number of the port", .references = "ports",
                .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(port_class, "class", TEXT, "local: within the pod; global: to another pod"),
#define X(field, type, help) WEFT_RESULT(struct weft_gnet_port, field, type, help),
    WEFT_GNET_PORT_COUNTERS(X)
#undef X
};
static const struct weft_result_table table_gnet_ports = WEFT_RESULT_TABLE(
    "gnet_ports", APART, "a port of a TiN with a GNet link", gnet_ports_columns, .next = next_gnet_port);

// --- traced cells -------------------------------------------------------------------------------------------------

WEFT_RESULT_PRESENT(has_traces, has_tins(run) && weft_outcome_cliques(run->outcome)->cells)
WEFT_RESULT_ONE(next_traced, weft_outcome_cliques(c->run->outcome)->cells)
static struct weft_result_value traced_suspect(struct weft_result_cursor *c) {
    uint32_t node = weft_outcome_cliques(c->run->outcome)->cells->suspect;
    return text_value(node == WEFT_NONE ? NULL : c->run->topology->node[node].name);
}

#define TRACED(field, type, ...) WEFT_RESULT(struct weft_cell_paths, field, type, __VA_ARGS__)
static const struct weft_result_table table_traced = WEFT_RESULT_TABLE_OF(
    "aquila.traced", OBJECT, "the traced cells of a run", WEFT_RESULT_AND(.next = next_traced, .present = has_traces),
    TRACED(cells, COUNT, "cells traced, with tin.trace"), TRACED(arrived, COUNT, "traced cells that arrived"),
    TRACED(lost, COUNT, "traced cells that were lost"),
    TRACED(under_way, COUNT, "traced cells in flight when the run ended"),
    TRACED(unknown, COUNT, "traced cells whose fate is unknown because a TiN had no room for more notes"),
    TRACED(unnoted, COUNT, "notes on traced cells that a TiN had no room for"),
    TRACED(astray, COUNT, "traced cells that left their intended routes"),
    WEFT_RESULT_CALL(traced_suspect, "suspect", TEXT, "name of the TiN that sent most traced cells astray"),
    TRACED(suspicions, COUNT, "traced cells that the suspect sent astray"),
    WEFT_RESULT_HISTOGRAM(0, struct weft_cell_paths, hop_ns, "hop_ns", COUNT,
                          "time of a traced cell from its head's arrival at a TiN to its departure, in ns",
                          .unit = "ns"));

/// Part 0 is the path, part 1 its first hop, part 2 what is computed.
struct trace {
    const char *type, *src, *dst, *ended, *reason, *suspect;
    weft_time_ps end_ps;
    uint32_t links;
};

static bool next_trace(struct weft_result_cursor *c) {
    const struct weft_topology *t = c->run->topology;
    const struct weft_cell_paths *p = weft_outcome_cliques(c->run->outcome)->cells;
    struct trace *row = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *row);
    if (c->at == p->cells) return false;
    const struct weft_cell_path *path = &p->path[c->at++];
    const struct weft_cell_hop *first = &p->hop[path->hop0];
    *row = (struct trace){
        .type = cell_names[first->type],
        .src = t->node[first->node].name,
        .dst = t->node[path->to].name,
        .ended = weft_cell_end_names[path->end],
        .reason = path->end == WEFT_CELL_END_LOST ? weft_drop_names[path->drop] : NULL,
        .suspect = path->suspect == WEFT_NONE ? NULL : t->node[path->suspect].name,
        .end_ps = first[path->hops - 1].out_ps,
        .links = path->hops - 1,
    };
    c->part[0] = path;
    c->part[1] = first;
    c->part[2] = row;
    return true;
}

#define FIRST(field, key, type, ...) WEFT_RESULT_AT(1, struct weft_cell_hop, field, key, type, __VA_ARGS__)
#define OF_TRACE(field, type, ...) WEFT_RESULT_AT(2, struct trace, field, #field, type, __VA_ARGS__)
static const struct weft_result_table table_cell_traces = WEFT_RESULT_TABLE_OF(
    "cell_traces", APART, "a traced cell", WEFT_RESULT_AND(.next = next_trace, .present = has_traces),
    WEFT_RESULT_CALL(weft_result_index, "cell", COUNT, "number of the cell, by time", .flags = WEFT_RESULT_KEY),
    OF_TRACE(type, TEXT, "type of the cell: rts, cts, ctd, data, req or resp"),
    FIRST(wire, "bytes", BYTES, "bytes of the cell"), OF_TRACE(src, TEXT, "name of the TiN that sent the cell"),
    OF_TRACE(dst, TEXT, "name of the TiN that the cell is for"),
    FIRST(qp, "qp", COUNT, "queue pair that an RTS or data cell belongs to"),
    FIRST(in_ps, "sent_ps", TIME, "when the cell was sent"),
    OF_TRACE(end_ps, TIME, "when the cell arrived or was lost"),
    OF_TRACE(ended, TEXT, "what became of the cell: arrived, lost, under_way or unknown"),
    OF_TRACE(links, COUNT, "links that the cell crossed"), OF_TRACE(reason, TEXT, "why the cell was lost"),
    OF_TRACE(suspect, TEXT, "name of the TiN that first sent the cell off its intended route"));

/// Part 0 is the hop, part 1 what is computed.
struct hop {
    uint64_t cell;
    uint32_t hop, next;
    const char *tin, *port_in, *port_out, *way;
    char in[256], out[256];
};

/// The name of a TiN's port; NULL: an endpoint.
static const char *port_name(const struct weft_topology *t, uint32_t node, uint32_t port, char *name, size_t size) {
    if (port == WEFT_CELL_ENDPOINT) return NULL;
    weft_topology_port_name(t, t->node[node].port0 + port, name, size);
    return name;
}

static bool next_hop(struct weft_result_cursor *c) {
    const struct weft_topology *t = c->run->topology;
    const struct weft_cell_paths *p = weft_outcome_cliques(c->run->outcome)->cells;
    struct hop *row = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *row);
    while (c->at < p->cells && row->next == p->path[c->at].hops) {
        c->at++;
        row->next = 0;
    }
    if (c->at == p->cells) return false;
    const struct weft_cell_hop *h = &p->hop[p->path[c->at].hop0 + row->next];
    row->cell = c->at;
    row->hop = row->next++;
    row->tin = t->node[h->node].name;
    row->port_in = port_name(t, h->node, h->port_in, row->in, sizeof row->in);
    row->port_out = port_name(t, h->node, h->port_out, row->out, sizeof row->out);
    row->way = weft_cell_route_names[h->way];
    c->part[0] = h;
    c->part[1] = row;
    return true;
}

#define HOP(field, type, ...) WEFT_RESULT(struct weft_cell_hop, field, type, __VA_ARGS__)
#define OF_HOP(field, type, ...) WEFT_RESULT_AT(1, struct hop, field, #field, type, __VA_ARGS__)
static const struct weft_result_table table_cell_hops = WEFT_RESULT_TABLE_OF(
    "cell_hops", APART, "a TiN that a traced cell came to", WEFT_RESULT_AND(.next = next_hop, .present = has_traces),
    OF_HOP(cell, COUNT, "number of the cell", .references = "cell_traces", .flags = WEFT_RESULT_KEY),
    OF_HOP(hop, COUNT, "number of the TiN on the cell's path, from 0", .flags = WEFT_RESULT_KEY),
    OF_HOP(tin, TEXT, "name of the TiN"),
    OF_HOP(port_in, TEXT, "name of the port where the cell came in; none: an endpoint sent it"),
    HOP(vc_in, COUNT, "virtual channel that the cell came by"), HOP(in_ps, TIME, "when the cell's head came"),
    OF_HOP(port_out, TEXT, "name of the port where the cell left; none: an endpoint took it"),
    HOP(vc_out, COUNT, "virtual channel that the cell left by"),
    HOP(out_ps, TIME, "when the cell's first bit left, or it reached an endpoint, or was lost"),
    OF_HOP(way, TEXT, "how the cell left: minimal, nonminimal, escape, astray, home (to an endpoint) or none"));

static const struct weft_result_table *const tables[] = {
    &table_aquila,   &table_cells,   &table_hops, &table_vc_depths,  &table_traced,      &table_transitions,
    &table_failures, &table_repairs, &table_tins, &table_gnet_ports, &table_cell_traces, &table_cell_hops,
};
const struct weft__box_results weft__clique_results = {
    .make = weft__clique_outcome_new,
    .mix = weft__clique_outcome_mix,
    .family = "aquila",
    .table = tables,
    .tables = sizeof tables / sizeof *tables,
    .lone = "Clique: cells share links with their signals (RTS, CTS), and take longer paths if those are emptier",
};
