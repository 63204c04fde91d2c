// SPDX-License-Identifier: Apache-2.0
// Placement of jobs: known graphs, what is free, and what is refused.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <unistd.h>

#include "models.h"
#include "run.h"
#include "weft/place.h"
#include "weft/random.h"

enum { UNITS = 24 };

struct graph {
    weft_bytes bytes[UNITS][UNITS];
    uint32_t first[UNITS + 1];
    struct weft_place_edge edge[UNITS * UNITS];
};

/// Pairs that exchange nothing have no edge.
static void make_edges(struct graph *g, uint32_t units) {
    uint32_t n = 0;
    for (uint32_t a = 0; a < units; a++) {
        for (uint32_t b = 0; b < units; b++)
            if (g->bytes[a][b]) g->edge[n++] = (struct weft_place_edge){b, g->bytes[a][b]};
        g->first[a + 1] = n;
    }
}

static void join(struct graph *g, uint32_t a, uint32_t b, weft_bytes bytes) {
    g->bytes[a][b] = g->bytes[b][a] = bytes;
}

/// The zone of each unit by min_cut; zone z has room[z] servers, two in a rack.
static void min_cut(struct graph *g, uint32_t units, const uint32_t *room, uint32_t zones, uint32_t *ret_zone) {
    struct weft_place_slot slot[2 * UNITS];
    uint32_t choice[UNITS];
    struct weft_place_problem p = {.units = units, .zones = zones, .slot = slot, .first = g->first, .edge = g->edge};
    make_edges(g, units);
    for (uint32_t z = 0; z < zones; z++)
        for (uint32_t k = 0; k < room[z]; k++, p.slots++) {
            if (k % 2 == 0) p.racks++;
            slot[p.slots] = (struct weft_place_slot){.zone = z, .rack = p.racks - 1};
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
    min_cut(&g, 16, (const uint32_t[]){11, 9, 15}, 3, zone); // more room than needed tempts nobody
    assert_cliques_whole(zone, 16, 2);
    min_cut(&g, 16, (const uint32_t[]){12, 12, 16}, 3, zone); // one zone holds them all
    for (uint32_t u = 0; u < 16; u++)
        assert_int_equal(zone[u], 2);
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
    weft_place_graph(job, r.scenario->arena);
    const struct weft_place_problem *p = job->places;
    assert_int_equal(p->units, 4);
    assert_int_equal(p->first[4], 12);
    for (uint32_t e = 0; e < 12; e++)
        assert_int_equal(p->edge[e].bytes, 2 * 4 * 1000000 / 8); // both ways, 2 x 2 pairs, an eighth each
    struct weft_place_cost cost = weft_place_cost(job, r.topology, job->host);
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
    struct weft_place_cost cost = weft_place_cost(job, r.topology, job->host);
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
        {"ranks: 7", "7 are no whole servers of 2 GPUs; expected a multiple of 2"},
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

/// GPUs of a server in different zones: nothing that a strategy could place.
static void divided_servers_are_refused(void **state) {
    struct run r;
    static const char text[] = NETWORK "workload: [{kind: job, server: {gpus: 2, cabling: rail}, placement: min_cut, "
                                       "operations: [{size: 1MB}]}]\n";
    r = (struct run){0};
    assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error), WEFT_OK);
    assert_int_equal(run_bind(&r, 0), WEFT_ERROR_INPUT);
    assert_non_null(strstr(r.error.text, "different zones"));
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_cliques_are_cut_at_their_bridge),
        cmocka_unit_test(another_zone_if_that_cuts_less),
        cmocka_unit_test(room_is_respected),
        cmocka_unit_test(by_default_nothing_moves),
        cmocka_unit_test(occupied_servers_are_not_used),
        cmocka_unit_test(jobs_have_servers_of_their_own),
        cmocka_unit_test(the_graph_is_the_jobs),
        cmocka_unit_test(rings_stay_in_zones),
        cmocka_unit_test(refused),
        cmocka_unit_test(divided_servers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
