// SPDX-License-Identifier: Apache-2.0
// Cells traced in runs (Gibson et al., NSDI 2022, section 6): tracing changes nothing; with every cell traced the paths
// account for all that the TiNs count; a path is what the links are, to the picosecond.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/tin/tin_outcome.h"
#include "run.h"

/// Packets, marks, writes and reads of memory, failures: one link comes back, one loses bits.
static const char busy[] =
    "topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 1, global_delay: 100ns, global_parallel: 4, "
    "local_ports: 6, global_ports: 2, bit_error_rate: 1e-7}\n"
    "run: {detection: 10us}\nhost: {timeout: 200us}\n"
    "events: [{at: 5us, link: tin-0--tin-1, state: down}, {at: 9us, link: tin-4/6, state: down}, "
    "{at: 30us, link: tin-0--tin-1, state: up}]\n"
    "workload: [{kind: poisson, load: 50%, size: 4096B, duration: 20us},\n"
    " {kind: rma, group: reads, transport: 1rma, rate: 200000, duration: 20us},\n"
    " {kind: rma, group: writes, transport: 1rma, verb: write, rate: 100000, duration: 20us}]\n";

static struct run run_traced(uint64_t one_in) {
    return RUN(run_once, "%stin: {trace: %" PRIu64 "}\n", busy, one_in);
}

static void assert_same_paths(const struct weft_outcome *a, const struct weft_outcome *b) {
    assert_int_equal(weft_outcome_cliques(a)->cells->cells, weft_outcome_cliques(b)->cells->cells);
    for (uint64_t i = 0; i < weft_outcome_cliques(a)->cells->cells; i++) {
        const struct weft_cell_path *p = &weft_outcome_cliques(a)->cells->path[i],
                                    *q = &weft_outcome_cliques(b)->cells->path[i];
        assert_int_equal(p->hops, q->hops);
        assert_int_equal(p->end, q->end);
        for (uint32_t k = 0; k < p->hops; k++) {
            const struct weft_cell_hop *x = &weft_outcome_cliques(a)->cells->hop[p->hop0 + k],
                                       *y = &weft_outcome_cliques(b)->cells->hop[q->hop0 + k];
            assert_int_equal(x->node, y->node);
            assert_int_equal(x->in_ps, y->in_ps);
            assert_int_equal(x->out_ps, y->out_ps);
            assert_int_equal(x->port_out, y->port_out);
        }
    }
}

/// Whether cells are traced, how many and by how many threads, the run is the same; and so are the traces.
static void tracing_changes_nothing(void **state) {
    struct run r = run_traced(0);
    assert_int_equal(weft_outcome_cliques(r.outcome)->cells->cells, 0);
    static const uint64_t one_in[] = {1, 7, 1000};
    for (unsigned i = 0; i < sizeof one_in / sizeof *one_in; i++) {
        struct run traced = run_traced(one_in[i]);
        assert_int_equal(traced.outcome->digest, r.outcome->digest);
        for (uint32_t threads = 2; threads <= 3; threads++) {
            struct weft_outcome *again = run_again(&traced, threads, busy);
            assert_int_equal(again->digest, r.outcome->digest);
            assert_same_paths(traced.outcome, again);
            weft_outcome_free(again);
        }
        run_free(&traced);
    }
    run_free(&r);
}

/// Every cell is traced: by type, by links and by loss the paths are as many as the TiNs have counted.
static void paths_account_for_every_cell(void **state) {
    struct run r = run_traced(1);
    const struct weft_cell_paths *p = weft_outcome_cliques(r.outcome)->cells;
    const struct weft_tin_outcome *tin = weft_outcome_tin(r.outcome);
    uint64_t types[WEFT_TIN_CELL_TYPES] = {0}, hops[WEFT_TIN_HOPS] = {0}, ways[WEFT_CELL_ROUTE_COUNT] = {0}, links = 0;
    for (uint64_t i = 0; i < p->cells; i++) {
        const struct weft_cell_path *path = &p->path[i];
        types[p->hop[path->hop0].type]++;
        if (path->end == WEFT_CELL_END_ARRIVED) hops[path->hops - 1]++;
        for (uint32_t k = 0; k < path->hops; k++) {
            ways[p->hop[path->hop0 + k].way]++;
            links += p->hop[path->hop0 + k].end == WEFT_CELL_END_GONE_ON;
        }
    }
    assert_memory_equal(types, tin->cells, sizeof types);
    assert_memory_equal(hops, tin->hops, sizeof hops);
    assert_true(p->lost > 0);
    assert_int_equal(p->lost, tin->cells_lost + tin->cells_unroutable);
    assert_int_equal(p->arrived + p->lost, p->cells);
    assert_int_equal(ways[WEFT_CELL_ROUTE_HOME], p->arrived);
    assert_true(ways[WEFT_CELL_ROUTE_NONMINIMAL] > 0);
    // Links are counted as cells are sent: those that the link itself lost have left as well.
    assert_true(links <= tin->cell_hops && links + p->lost >= tin->cell_hops);
    // While tables change some cells meet old entries: that is no fault.
    assert_int_equal(p->astray, 0);
    assert_int_equal(p->suspect, WEFT_NONE);
    run_free(&r);
}

/// From TiN to TiN over the links that are there, in time: cable, 20 ns of link, 20 ns of fall-through, between pods
/// 30 ns of FEC; from the TiN that sent it to the one it was for.
static void a_path_is_what_the_links_are(void **state) {
    struct run r = run_traced(3);
    const struct weft_cell_paths *p = weft_outcome_cliques(r.outcome)->cells;
    const struct weft_topology *t = r.topology;
    for (uint64_t i = 0; i < p->cells; i++) {
        const struct weft_cell_path *path = &p->path[i];
        const struct weft_cell_hop *hop = &p->hop[path->hop0];
        assert_int_equal(hop[0].port_in, WEFT_CELL_ENDPOINT);
        for (uint32_t k = 0; k < path->hops; k++) {
            assert_true(hop[k].hops == k && hop[k].out_ps >= hop[k].in_ps);
            if (hop[k].end == WEFT_CELL_END_ARRIVED) assert_int_equal(hop[k].node, path->to);
            if (hop[k].end != WEFT_CELL_END_GONE_ON) continue;
            const struct weft_port_info *out = weft_topology_port(t, hop[k].node, hop[k].port_out);
            bool global = t->node[hop[k].node].cluster != t->node[hop[k + 1].node].cluster;
            assert_int_equal(out->peer, t->node[hop[k + 1].node].port0 + hop[k + 1].port_in);
            assert_int_equal(hop[k + 1].in_ps - hop[k].out_ps, t->link[out->link].delay_ps + 40000 + 30000 * global);
            assert_int_equal(hop[k + 1].vc_in, hop[k].vc_out);
        }
    }
    run_free(&r);
}

/// One in this many on average: within five deviations, of gaps spread evenly between 1 and 2 N - 1.
static void one_in_so_many_is_traced(void **state) {
    struct run r = run_traced(0);
    double cells = 0;
    for (uint32_t c = 0; c < WEFT_TIN_CELL_TYPES; c++)
        cells += (double)weft_outcome_tin(r.outcome)->cells[c];
    run_free(&r);
    static const uint64_t one_in[] = {10, 100};
    for (unsigned i = 0; i < 2; i++) {
        r = run_traced(one_in[i]);
        double n = (double)one_in[i], expected = cells / n, deviation = sqrt(expected / 3) + 12;
        // a CTS is traced as well if its RTS is
        double most = (cells + (double)weft_outcome_tin(r.outcome)->cells[0]) / n + 5 * deviation;
        assert_true((double)weft_outcome_cliques(r.outcome)->cells->cells > expected - 5 * deviation);
        assert_true((double)weft_outcome_cliques(r.outcome)->cells->cells < most);
        run_free(&r);
    }
}

/// A TiN keeps its first notes: what became of later cells is not known, and it is said how many notes there would be.
static void notes_are_bounded(void **state) {
    struct run r = RUN(run_once, "%stin: {trace: 1, trace_kept: 50}\n", busy);
    const struct weft_cell_paths *p = weft_outcome_cliques(r.outcome)->cells;
    assert_true(p->unnoted > 0 && p->unknown > 0 && p->cells > 0);
    assert_int_equal(p->arrived + p->lost + p->under_way + p->unknown, p->cells);
    run_free(&r);
}

/// Cells that enter the switch with another virtual channel than they were sent with are found again.
static void entry_channels_are_followed(void **state) {
    struct run r = RUN(run_once, "%stin: {trace: 1, endpoint_vcs: 3}\n", busy);
    const struct weft_cell_paths *p = weft_outcome_cliques(r.outcome)->cells;
    assert_true(p->arrived > 0);
    assert_int_equal(p->arrived + p->lost + p->under_way + p->unknown, p->cells);
    run_free(&r);
}

/// A run that ends early has cells under way, in TiNs and on links.
static void cells_are_under_way_at_the_end(void **state) {
    struct run r =
        RUN(run_once,
            "topology: {kind: dragonfly, pods: 2, tins: 2, hosts_per_tin: 1, local_parallel: 1, local_ports: "
            "1, global_ports: 2}\n"
            "workload: [{kind: flow, src: host-0, dst: host-3, size: 1MB}]\n"
            "tin: {trace: 1}\nrun: {until: 20us}\n%s",
            "");
    const struct weft_cell_paths *p = weft_outcome_cliques(r.outcome)->cells;
    assert_true(p->under_way > 0);
    assert_int_equal(p->arrived + p->under_way, p->cells);
    run_free(&r);
}

/// An entry of a TiN's table becomes another while the Clique runs: if a cell comes by it, the path says which TiN has
/// it, and no other is suspected; and nobody is if nothing is wrong.
static void a_wrong_entry_is_found(void **state) {
    uint32_t found = 0;
    for (uint32_t seed = 1; seed <= 24; seed++)
        for (uint32_t wrong = 0; wrong <= 1; wrong++) {
            struct run r = RUN(run_once,
                               "topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 1, global_delay: 100ns, "
                               "global_parallel: 4, local_ports: 6, global_ports: 2}\n"
                               "workload: [{kind: poisson, load: 60%%, size: 4096B, duration: 60us}]\n"
                               "tin: {trace: 1}\nrun: {until: 400us, seed: %u}\n%s",
                               seed, wrong ? "control: {events: [{at: 10us, do: corrupt, node: tin-5}]}\n" : "");
            const struct weft_cell_paths *p = weft_outcome_cliques(r.outcome)->cells;
            assert_true(p->cells > 10000);
            assert_int_equal(p->astray > 0, p->suspect != WEFT_NONE);
            assert_int_equal(p->suspicions, p->astray);
            if (!wrong) assert_int_equal(p->astray, 0);
            if (p->astray) assert_string_equal(r.topology->node[p->suspect].name, "tin-5");
            found += p->astray > 0;
            run_free(&r);
        }
    assert_true(found >= 6); // other entries are for links and VCs that no cell came by
}

// --- shared virtual channels --------------------------------------------------------------------------------------

/// What answers of 1RMA wait for at the TiN that asked.
struct waits {
    weft_time_ps most_ps;
    uint32_t behind_data; ///< began to cross when a cell of IP in front of them, in their FIFO, had crossed
};

/// A cell of IP that came before the answer by its port and virtual channel, and left that FIFO while it waited.
static bool is_in_front(const struct weft_cell_hop *data, const struct weft_cell_hop *answer) {
    return data->node == answer->node && data->type == 3 && data->port_in == answer->port_in &&
           data->vc_in == answer->vc_in && data->in_ps < answer->in_ps && data->out_ps > answer->in_ps;
}

/// Host 0 reads from seven others, which send it IP at the same time, each a message of 64 KB.
static struct waits find_waits(const char *vcs, uint32_t seed) {
    struct run r = RUN(run_once,
                       "topology: {kind: dragonfly, pods: 1, tins: 8, hosts_per_tin: 1, host_rate: 100Gbps}\n"
                       "workload: [{kind: incast, dst: host-0, sources: 'host-[1-7]', size: 64KB},\n"
                       " {kind: rma, group: reads, transport: 1rma, clients: host-0, servers: 'host-[1-7]', rate: "
                       "500000, duration: 40us, vcs: %s}]\n"
                       "tin: {trace: 1}\nrun: {seed: %" PRIu32 "}\n",
                       vcs, seed);
    const struct weft_cell_paths *p = weft_outcome_cliques(r.outcome)->cells;
    struct waits waits = {.most_ps = 0};
    for (uint64_t i = 0; i < p->cells; i++) {
        const struct weft_cell_hop *last = &p->hop[p->path[i].hop0 + p->path[i].hops - 1];
        if (last->type != 5 || last->end != WEFT_CELL_END_ARRIVED) continue;
        if (last->out_ps - last->in_ps > waits.most_ps) waits.most_ps = last->out_ps - last->in_ps;
        bool is_behind = false;
        for (uint64_t k = 0; k < p->cells && !is_behind; k++)
            is_behind = is_in_front(&p->hop[p->path[k].hop0 + p->path[k].hops - 1], last);
        waits.behind_data += is_behind;
    }
    run_free(&r);
    return waits;
}

/// More IP comes than the endpoints of the NIC take, so cells wait in FIFOs. In a virtual channel that it shares with
/// them an answer of 1RMA waits behind them, although its own endpoints are hardly used; in its own channel it waits
/// for the cells that cross, and no longer.
static void shared_channels_hold_answers_up(void **state) {
    weft_time_ps cell = 1000 * 8 * WEFT_GNET_CELL_MAX / 27;
    for (uint32_t seed = 1; seed <= 4; seed++) {
        struct waits own = find_waits("own", seed), shared = find_waits("bulk", seed);
        assert_int_equal(own.behind_data, 0);
        assert_true(shared.behind_data > 50);
        assert_true(own.most_ps < 6 * cell);
        assert_true(shared.most_ps > 15 * cell);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracing_changes_nothing),
        cmocka_unit_test(paths_account_for_every_cell),
        cmocka_unit_test(a_path_is_what_the_links_are),
        cmocka_unit_test(one_in_so_many_is_traced),
        cmocka_unit_test(notes_are_bounded),
        cmocka_unit_test(entry_channels_are_followed),
        cmocka_unit_test(cells_are_under_way_at_the_end),
        cmocka_unit_test(a_wrong_entry_is_found),
        cmocka_unit_test(shared_channels_hold_answers_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
