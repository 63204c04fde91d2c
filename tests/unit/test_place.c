// SPDX-License-Identifier: Apache-2.0
// Placement of jobs: known graphs, free servers, and what is refused.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <signal.h>
#include <unistd.h>

#include "models.h"
#include "run.h"
#include "weft/placement.h"
#include "weft/random.h"

enum { UNITS = 24 };

struct graph {
    weft_bytes bytes[UNITS][UNITS];
    uint32_t first[UNITS + 1];
    struct weft_placement_edge edge[UNITS * UNITS];
};

/// Pairs that exchange nothing have no edge.
static void make_edges(struct graph *g, uint32_t units) {
    uint32_t n = 0;
    for (uint32_t a = 0; a < units; a++) {
        for (uint32_t b = 0; b < units; b++)
            if (g->bytes[a][b]) g->edge[n++] = (struct weft_placement_edge){b, g->bytes[a][b], g->bytes[a][b]};
        g->first[a + 1] = n;
    }
}

static void join(struct graph *g, uint32_t a, uint32_t b, weft_bytes bytes) {
    g->bytes[a][b] = g->bytes[b][a] = bytes;
}

/// The zone of each unit by min_cut; zone z has room[z] servers, two in a rack.
static void min_cut(struct graph *g, uint32_t units, const uint32_t *room, uint32_t zones, uint32_t *ret_zone) {
    struct weft_placement_slot slot[2 * UNITS];
    uint32_t choice[UNITS];
    struct weft_placement_problem p = {
        .units = units, .zones = zones, .slot = slot, .first = g->first, .edge = g->edge};
    make_edges(g, units);
    for (uint32_t z = 0; z < zones; z++)
        for (uint32_t k = 0; k < room[z]; k++, p.slots++) {
            if (k % 2 == 0) p.racks++;
            slot[p.slots] = (struct weft_placement_slot){.zone = z, .rack = p.racks - 1};
        }
    const struct weft_model *model = model_of(WEFT_KIND_PLACEMENT, "min_cut");
    const struct weft_placement_ops *ops = model->ops;
    void *conf = conf_of(model, NULL);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    ops->place(conf, &p, arena, choice);
    for (uint32_t u = 0; u < units; u++)
        ret_zone[u] = slot[choice[u]].zone;
    weft_arena_free(arena);
    free(conf);
}

/// Units dealt out in turn to `cliques` cliques, and a bridge from each clique to the next.
static void make_cliques(struct graph *g, uint32_t units, uint32_t cliques) {
    memset(g, 0, sizeof *g);
    for (uint32_t a = 0; a < units; a++)
        for (uint32_t b = a + 1; b < units; b++)
            if (a % cliques == b % cliques) join(g, a, b, 1000000);
    for (uint32_t c = 0; c + 1 < cliques; c++)
        join(g, c, c + 1, 900000);
}

static void assert_cliques_whole(const uint32_t *zone, uint32_t units, uint32_t cliques) {
    for (uint32_t u = cliques; u < units; u++)
        assert_int_equal(zone[u], zone[u % cliques]);
}

static void two_cliques_are_cut_at_their_bridge(void **state) {
    struct graph g;
    uint32_t zone[UNITS];
    make_cliques(&g, 16, 2);
    min_cut(&g, 16, (const uint32_t[]){8, 8}, 2, zone);
    assert_cliques_whole(zone, 16, 2);
    assert_int_not_equal(zone[0], zone[1]);
    min_cut(&g, 16, (const uint32_t[]){11, 9, 15}, 3, zone); // more room than needed changes nothing
    assert_cliques_whole(zone, 16, 2);
    min_cut(&g, 16, (const uint32_t[]){12, 12, 16}, 3, zone); // one zone holds them all
    for (uint32_t u = 0; u < 16; u++)
        assert_int_equal(zone[u], 2);
}

static void on_term(int number) {
    (void)number;
}

/// METIS takes SIGTERM and rand() for itself while it is asked; a program finds both as it left them.
static void signals_and_random_numbers_stay_the_programs(void **state) {
    (void)state;
    struct graph g;
    uint32_t zone[16];
    struct sigaction before, after, mine = {.sa_handler = on_term, .sa_flags = SA_RESTART};
    assert_int_equal(sigaction(SIGTERM, &mine, &before), 0);
    srand(7);
    int first = rand(), second = rand();
    srand(7);
    assert_int_equal(rand(), first);
    make_cliques(&g, 16, 2);
    min_cut(&g, 16, (const uint32_t[]){8, 8}, 2, zone);
    assert_int_equal(rand(), second);
    assert_int_equal(sigaction(SIGTERM, &before, &after), 0);
    assert_ptr_equal(after.sa_handler, on_term);
    assert_true(after.sa_flags & SA_RESTART);
}

/// Two zones of 12 would do, but cut a clique; three do not.
static void another_zone_if_that_cuts_less(void **state) {
    struct graph g;
    uint32_t zone[UNITS];
    make_cliques(&g, 24, 3);
    min_cut(&g, 24, (const uint32_t[]){12, 12, 8}, 3, zone);
    assert_cliques_whole(zone, 24, 3);
}

/// Room is room, whatever it costs: of a clique over zones of 5, 4 and 3 each gets as many; the cut is fixed then.
static void room_is_respected(void **state) {
    struct graph g;
    uint32_t zone[UNITS], n[3] = {0};
    make_cliques(&g, 12, 1);
    min_cut(&g, 12, (const uint32_t[]){5, 4, 3}, 3, zone);
    for (uint32_t u = 0; u < 12; u++)
        n[zone[u]]++;
    assert_int_equal(n[0], 5);
    assert_int_equal(n[1], 4);
    assert_int_equal(n[2], 3);
}

// --- in a scenario ------------------------------------------------------------------------------------------------

/// Two zones of four racks of two servers of two GPUs.
#define NETWORK "topology: {kind: ai_zone, zones: 2, racks: 4, gpus_per_rack: 4, uplinks: 2, ctsw_uplinks: 2}\n"
#define JOB "workload: [{kind: job, server: {gpus: 2}, operations: [{collective: all_to_all, size: 1MB}], "

/// Binds without running; the text of the error, or NULL.
static const char *bind(struct run *r, const char *more) {
    char *text = text_of("%s%s%s}]\n", NETWORK, JOB, more);
    *r = (struct run){0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r->file, &r->error);
    free(text);
    if (!status) status = run_bind(r, 0);
    if (status) assert_int_equal(status, WEFT_ERROR_INPUT);
    return status ? r->error.text : NULL;
}

static struct weft_job *job_of(struct run *r, const char *more) {
    const char *error = bind(r, more);
    if (error) fail_msg("%s: %s", more, error);
    return &r->workload->job[0];
}

/// Without a word about placement a job has all its hosts in order, as ever.
static void by_default_nothing_moves(void **state) {
    struct run r;
    const struct weft_job *job = job_of(&r, "iterations: 1");
    assert_int_equal(job->ranks, 32);
    for (uint32_t k = 0; k < 32; k++)
        assert_int_equal(job->host[k], k);
    assert_int_equal(job->places->slots, 16);
    assert_int_equal(job->places->racks, 8);
    assert_int_equal(job->places->zones, 2);
    run_free(&r);
}

static const char *const strategies[] = {"linear", "random", "rack_packed", "min_cut"};

static void occupied_servers_are_not_used(void **state) {
    for (unsigned i = 0; i < 4; i++) {
        struct run r;
        char *more = text_of("ranks: 10, occupied: {hosts: \"host-0,host-5..7\", part: 50%%, seed: 7}, placement: %s",
                             strategies[i]);
        const struct weft_job *job = job_of(&r, more);
        assert_int_equal(job->ranks, 10);
        assert_int_equal(job->places->slots, 16 - 3 - 8); // servers 0, 2 and 3, and half of all besides
        for (uint32_t k = 0; k < 10; k++) {
            uint32_t server = job->host[k] / 2;
            assert_true(server != 0 && server != 2 && server != 3);
            assert_int_equal(job->host[k] % 2, k % 2); // servers stay whole, GPUs in order
            assert_int_equal(job->host[k] / 2, job->host[k ^ 1] / 2);
        }
        run_free(&r);
        free(more);
    }
}

/// Jobs that are placed get servers of their own; one that says so, any.
static void jobs_have_servers_of_their_own(void **state) {
    static const char *const third[] = {"ranks: 2", "share_hosts: on"};
    for (uint32_t k = 0; k < 2; k++) {
        struct run r =
            RUN(run_once,
                "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4}\n"
                "workload:\n"
                "  - {kind: collective, group: a, size: 1KB, server: {gpus: 2}, ranks: 8, placement: random}\n"
                "  - {kind: collective, group: b, size: 1KB, server: {gpus: 2}, ranks: 6, placement: min_cut}\n"
                "  - {kind: collective, group: c, size: 1KB, server: {gpus: 2}, %s}\n",
                third[k]);
        uint32_t jobs_of[16] = {0};
        for (uint32_t j = 0; j < 3; j++)
            for (uint32_t i = 0; i < r.workload->job[j].ranks; i++)
                jobs_of[r.workload->job[j].host[i]]++;
        for (uint32_t h = 0; h < 16; h++)
            assert_true(k ? jobs_of[h] >= 1 : jobs_of[h] == 1);
        run_free(&r);
    }
}

/// The graph's bytes are those of the closed form: an all-to-all of 1 MB a rank among 8 ranks in servers of two.
static void the_graph_is_the_jobs(void **state) {
    struct run r;
    struct weft_job *job = job_of(&r, "ranks: 8, iterations: 3");
    weft_placement_graph(job, r.scenario->arena);
    const struct weft_placement_problem *p = job->places;
    assert_int_equal(p->units, 4);
    assert_int_equal(p->first[4], 12);
    for (uint32_t e = 0; e < 12; e++)
        assert_int_equal(p->edge[e].bytes, 2 * 4 * 1000000 / 8); // both directions, 2 x 2 pairs, an eighth each
    struct weft_placement_cost cost = weft_placement_cost(job, r.topology, job->host);
    assert_int_equal(cost.bytes, 6 * 1000000);
    assert_int_equal(cost.rack_bytes, 4 * 1000000); // of 6 pairs of servers two share a rack
    assert_int_equal(cost.zone_bytes, 0);
    assert_int_equal(cost.zone_bytes_max, 0);
    assert_int_equal(cost.racks, 2);
    assert_int_equal(cost.zones, 1);
    run_free(&r);
}

/// Replicas of a pipeline, numbered pipeline first: the replicas' rings are heavy, so each zone gets stages, not
/// replicas.
static void rings_stay_in_zones(void **state) {
    struct run r;
    char *text =
        text_of("%s"
                "workload: [{kind: job, server: {gpus: 2}, occupied: {hosts: \"host-4..7,host-24..27\"}, "
                "dimensions: [tp:2, pp:2, dp:6], placement: min_cut, operations: ["
                "{collective: send_recv, size: 1KB, over: pp}, {collective: all_reduce_ring, size: 1MB, over: dp}]}]",
                NETWORK);
    r = run_once(text);
    free(text);
    const struct weft_job *job = &r.workload->job[0];
    struct weft_placement_cost cost = weft_placement_cost(job, r.topology, job->host);
    assert_int_equal(cost.zone_bytes, 2 * 6 * 1000);        // what the first stage sends the second
    assert_int_equal(cost.zone_bytes_max, cost.zone_bytes); // all of it from one zone to the other
    run_assert_complete(&r);
    run_free(&r);
}

static void refused(void **state) {
    static const struct {
        const char *more, *expected;
    } bad[] = {
        {"ranks: 7", "t.yaml:2:"},
        {"ranks: 7", "7 are not whole servers of 2 GPUs; expected a multiple of 2"},
        {"ranks: 34", "34 take 17 servers of 2 GPUs, but of 16 servers 16 are free"},
        {"ranks: 18, occupied: {part: 50%}", "of 16 servers 8 are free"},
        {"occupied: {part: 1}", "occupied: none of 16 servers is free"},
        {"occupied: {part: 1.5}", "occupied.part"},
        {"occupied: {hosts: nobody}", "nobody"},
        {"placement: best", "no placement \"best\""},
        {"placement: min_cut, order: listed", "expected order: server"},
        {"placement: min_cut, hosts: host-0..2", "expected hosts that are all those of their servers"},
        {"rank_file: /nowhere/ranks.txt", "cannot be read"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct run r;
        const char *error = bind(&r, bad[i].more);
        if (!error || !strstr(error, bad[i].expected)) fail_msg("%s: %s", bad[i].more, error ? error : "accepted");
        run_free(&r);
    }
}

// --- rails --------------------------------------------------------------------------------------------------------

/// Servers of two GPUs, server k on leaf k / 4 with GPU 0 and on leaf 2 + k / 4 with GPU 1: two rail groups of four.
#define RAILS                                                                                                          \
    "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4}\n"                                          \
    "switch: {buffer: {kind: static, size: 4MB, xoff: 2MB, xon: 1900KB}}\n"
#define RAIL_JOB "workload: [{kind: job, server: {gpus: 2, cabling: rail}, cts_priority: 6, "
/// Pipelines of two stages, numbered stages first, and rings of replicas that carry ten times as much.
#define STAGES                                                                                                         \
    "dimensions: [tp:2, pp:2, dp:4], operations: [{collective: send_recv, size: 100KB, over: pp}, "                    \
    "{collective: all_reduce_ring, size: 1MB, over: dp}], "

static struct weft_job *bound(struct run *r, const char *text) {
    *r = (struct run){0};
    if (weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r->file, &r->error) || run_bind(r, 0))
        fail_msg("%s: %s", text, r->error.text);
    return &r->workload->job[0];
}

/// A rail group is the servers on the same leaves; every strategy gives out whole servers of them.
static void servers_on_the_same_leaves_are_a_group(void **state) {
    static const char *const text[] = {
        RAILS RAIL_JOB STAGES "placement: %s}]\n",
        "topology: {kind: ai_zone, racks: 4, gpus_per_rack: 4, cabling: rail, server_gpus: 2}\n"
        "workload: [{kind: job, server: {gpus: 2}, " STAGES "placement: %s}]\n"};
    for (unsigned i = 0; i < 8; i++) {
        struct run r;
        char *said = text_of(text[i / 4], strategies[i % 4]);
        const struct weft_job *job = bound(&r, said);
        const struct weft_placement_problem *p = job->places;
        assert_true(p->rails);
        assert_int_equal(p->slots, 8);
        assert_int_equal(p->racks, 2);
        assert_int_equal(p->zones, 2); // there are no pods
        for (uint32_t s = 0; s < 8; s++)
            assert_int_equal(p->slot[s].rack, s / 4);
        for (uint32_t k = 0; k < 16; k += 2)
            assert_int_equal(job->host[k + 1], job->host[k] + (i < 4 ? 8 : 1));
        run_free(&r);
        free(said);
    }
}

/// Of an all-to-all of 1 MB a rank among four servers of one group, what goes to the same rail stays at its leaf; what
/// goes to the other one does not, wherever the servers are: there is nothing in it to save.
static void other_rails_are_no_edges(void **state) {
    struct run r;
    struct weft_job *job = bound(&r, RAILS RAIL_JOB "ranks: 8, operations: [{collective: all_to_all, size: 1MB}]}]\n");
    weft_placement_graph(job, r.scenario->arena);
    const struct weft_placement_problem *p = job->places;
    assert_int_equal(p->first[4], 12);
    for (uint32_t e = 0; e < 12; e++) {
        assert_int_equal(p->edge[e].bytes, 2 * 2 * 1000000 / 8); // both directions, 2 pairs on the same rail, an eighth
                                                                 // each
        assert_int_equal(p->edge[e].rack_bytes, p->edge[e].bytes);
    }
    struct weft_placement_cost cost = weft_placement_cost(job, r.topology, job->host);
    assert_int_equal(cost.bytes, 6 * 1000000);
    assert_int_equal(cost.rack_bytes, 3 * 1000000);
    assert_int_equal(cost.zone_bytes, 3 * 1000000);
    assert_int_equal(cost.zone_bytes_max, 3 * 1000000); // up from the leaves of the one group
    assert_int_equal(cost.racks, 1);
    assert_int_equal(cost.zones, 1);
    run_free(&r);
}

/// In a zone of several groups what goes from rail to rail stays in the zone, and says nothing about groups: ranks that
/// follow one another send 1 MB, every other time to the other rail of the next server; rings of the same rail 80 KB.
static void a_zone_keeps_what_a_group_does_not(void **state) {
    struct run r;
    struct weft_job *job =
        bound(&r, "topology: {kind: ai_zone, zones: 2, racks: 4, gpus_per_rack: 2, cabling: rail, server_gpus: 2, "
                  "ctsw_uplinks: 2, uplinks: 2}\n"
                  "workload: [{kind: job, server: {gpus: 2}, ranks: 8, dimensions: [a:4, b:2], placement: min_cut, "
                  "operations: [{collective: send_recv, size: 1MB}, "
                  "{collective: all_reduce_ring, size: 80KB, over: b}]}]\n");
    const struct weft_placement_problem *p = job->places;
    assert_int_equal(p->zones, 2);
    assert_int_equal(p->racks, 4);
    assert_int_equal(p->first[4], 10); // both directions: 0-1, 1-2 and 2-3 in the chain, 0-2 and 1-3 in rings
    for (uint32_t e = 0; e < p->first[1]; e++) {
        assert_int_equal(p->edge[e].bytes, p->edge[e].unit == 1 ? 1000000 : 4 * 80000);
        assert_int_equal(p->edge[e].rack_bytes, p->edge[e].unit == 1 ? 0 : 4 * 80000);
    }
    struct weft_placement_cost cost = weft_placement_cost(job, r.topology, job->host);
    assert_int_equal(cost.zones, 1);
    assert_int_equal(cost.zone_bytes, 0);
    assert_int_equal(cost.rack_bytes, 3 * 1000000); // the rings are within groups
    run_free(&r);
}

static weft_bytes least_of(const struct weft_job *job, const struct weft_topology *t, uint32_t *slot, uint32_t unit,
                           weft_bytes least) {
    const struct weft_placement_problem *p = job->places;
    uint32_t host[16], gpu[16], used = 0;
    if (unit == p->units) {
        weft_placement_hosts(job, slot, host, gpu);
        weft_bytes got = weft_placement_cost(job, t, host).rack_bytes;
        return got < least ? got : least;
    }
    for (uint32_t u = 0; u < unit; u++)
        used |= 1u << slot[u];
    for (uint32_t rack = 0; rack < p->racks; rack++) { // the slots of a rack are alike: its first one that is free
        slot[unit] = 0;
        while (slot[unit] < p->slots && (used >> slot[unit] & 1 || p->slot[slot[unit]].rack != rack))
            slot[unit]++;
        if (slot[unit] < p->slots) least = least_of(job, t, slot, unit + 1, least);
    }
    return least;
}

/// The minimum cut leaves the least there is between leaves, by all ways to give eight servers groups; and what is
/// said to go between leaves is what a run's leaves send up without headers (62 B a packet, and 16 B a message).
static void leaves_send_up_what_is_said(void **state) {
    weft_bytes said[4];
    for (unsigned i = 0; i < 4; i++) {
        struct run r = RUN(run_once, RAILS RAIL_JOB STAGES "placement: %s}]\n", strategies[i]);
        struct weft_job *job = &r.workload->job[0];
        said[i] = weft_placement_cost(job, r.topology, job->host).rack_bytes;
        uint32_t slot[8];
        weft_bytes up = 0, packets = 0, least = least_of(job, r.topology, slot, 0, UINT64_MAX);
        for (uint32_t node = 0; node < r.topology->nodes; node++) {
            if (strcmp(r.topology->node[node].layer, "leaf")) continue;
            for (uint32_t k = 4; k < r.topology->node[node].ports; k++) { // behind four hosts
                uint32_t port = (uint32_t)(weft_topology_port(r.topology, node, k) - r.topology->port);
                const struct weft_counters *data = weft_outcome_at(r.outcome, port, 3);
                up += data->tx_bytes - 62 * data->tx_packets;
                packets += data->tx_packets;
            }
        }
        assert_true(up >= said[i] && up < said[i] + 16 * packets);
        assert_true(said[i] >= least && (i < 3 || said[i] == least));
        run_assert_complete(&r);
        run_free(&r);
    }
    assert_int_equal(said[3], 4 * 2 * 100000); // 4 replicas, 2 GPUs: what the first stage sends the second
    assert_true(said[0] > 10 * said[3]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_and_random_numbers_stay_the_programs),
        cmocka_unit_test(two_cliques_are_cut_at_their_bridge),
        cmocka_unit_test(another_zone_if_that_cuts_less),
        cmocka_unit_test(room_is_respected),
        cmocka_unit_test(by_default_nothing_moves),
        cmocka_unit_test(occupied_servers_are_not_used),
        cmocka_unit_test(jobs_have_servers_of_their_own),
        cmocka_unit_test(the_graph_is_the_jobs),
        cmocka_unit_test(rings_stay_in_zones),
        cmocka_unit_test(refused),
        cmocka_unit_test(servers_on_the_same_leaves_are_a_group),
        cmocka_unit_test(other_rails_are_no_edges),
        cmocka_unit_test(a_zone_keeps_what_a_group_does_not),
        cmocka_unit_test(leaves_send_up_what_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
