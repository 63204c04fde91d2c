// SPDX-License-Identifier: Apache-2.0
// What every box owes, over the table of boxes: the functions that a run calls, a configuration that fits its own
// place, and a smallest network of it that conserves bytes and gives the same answer for any number of threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/box.h"
#include "report/mechanisms.h"
#include "run.h"

#define FLOWS "workload: [{kind: permutation, size: 64KB}]\n"
#define SWITCH "topology: {kind: single, hosts: 4}\n" FLOWS
#define DSF "topology: {kind: dsf_l1_zone, rdsws: 2, hosts_per_rdsw: 2, rails: 1, fdsws: 1, virtual_devices: 2}\n" FLOWS
#define CLIQUE(more)                                                                                                   \
    "topology: {kind: dragonfly, pods: 1, tins: 2, hosts_per_tin: 1, local_parallel: 1, local_ports: 1" more "}\n"

/// A small network with boxes of a kind, and traffic through them.
static const char *const smallest[WEFT_BOXES] = {
    [WEFT_BOX_HOST] = SWITCH,
    [WEFT_BOX_PROCESSOR] =
        CLIQUE(", processors: true") "workload: [{kind: flow, src: processor-0, dst: host-1, size: 64KB}]\n",
    [WEFT_BOX_ETHERNET_SWITCH] = SWITCH,
    [WEFT_BOX_DSF_INTERFACE] = DSF,
    [WEFT_BOX_DSF_FABRIC] = DSF,
    [WEFT_BOX_TIN] = CLIQUE("") FLOWS,
};

static const struct weft__box *box_of(uint32_t kind) {
    return weft__box_of(&(struct weft_node_info){.box = (uint8_t)kind});
}

static void required_functions_are_there(void **state) {
    (void)state;
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        const struct weft__box *box = box_of(kind);
        assert_true(box->make && box->port && box->reaction && box->trace && box->held && box->finish);
        assert_non_null(box->check_state);
        assert_true(box->weight || box->port_weight);
        assert_non_null(smallest[kind]); // a new box has one too
        assert_true(!box->shared || box->shared->make);
        assert_true(!box->cells ||
                    (box->cells->bytes_min && box->cells->check && box->cells->check_conf && box->cells->build));
        assert_true((kind < WEFT_BOX_ETHERNET_SWITCH) == (box->endpoint != NULL)); // hosts
    }
}

/// All its ports are Ethernet ports, or it connects the others; and what it says about frames refers to a link.
static void every_port_has_its_box(void **state) {
    (void)state;
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        struct run r = run_once(smallest[kind]);
        const struct weft_topology *t = r.topology;
        const struct weft_device_conf **device = weft_device_confs(r.scenario, t, r.scenario->arena);
        uint32_t found = 0;
        for (uint32_t port = 0; port < t->ports; port++) {
            const struct weft__box *box = weft__box_at(t, port);
            uint32_t node = t->port[port].node;
            bool fabric = weft_topology_link_is_fabric(t, t->port[port].link);
            found += t->node[node].box == kind;
            assert_true(fabric ? box->connect != NULL : box->pfc != NULL);
            struct weft__box_reaction reaction = box->reaction(device[node], t, port);
            assert_true(reaction.processing_ps < WEFT_PS_PER_S && reaction.pause_ps < WEFT_PS_PER_S);
        }
        assert_true(found > 0); // the network is one of such boxes
        run_free(&r);
    }
}

/// A model of the registry, whose section every device of a scenario has, with defaults that fit where the box stands.
static void defaults_fit_their_place(void **state) {
    (void)state;
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        struct run r = run_once(smallest[kind]);
        uint32_t models = 0;
        for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_BOX); i++)
            models += weft_model_at(WEFT_KIND_BOX, i)->ops == box_of(kind);
        assert_int_equal(models, 1);
        assert_non_null(r.scenario->device[0].section[kind]);
        if (weft_simulation_check(r.scenario, r.topology, &r.error)) fail_msg("%s", r.error.text);
        run_free(&r);
    }
}

/// Bytes are conserved (run_once), all flows end, and no thread makes a difference.
static void smallest_networks_run(void **state) {
    (void)state;
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        struct run r = run_once(smallest[kind]);
        assert_int_equal(r.status, WEFT_OK);
        assert_true(r.outcome->delivered_bytes > 0);
        for (uint32_t f = 0; f < r.outcome->flows; f++) {
            assert_true(r.outcome->flow[f].end_ps != WEFT_TIME_NEVER);
            assert_true(r.outcome->flow[f].end_ps >= r.outcome->flow[f].ideal_ps); // all begin at 0
        }
        struct weft_outcome *again = run_again(&r, 2, smallest[kind]);
        assert_true(again->digest == r.outcome->digest);
        weft_outcome_free(again);
        run_free(&r);
    }
}

/// Whatever ports count, a mechanism that stands for a counter has acted as often as the ports of its boxes say, also
/// where only some devices are configured to use it.
static uint32_t expect_acts_of_ports(uint32_t kind, const char *settings) {
    char *text = text_of("%s%s", smallest[kind], settings);
    struct run r = run_once(text);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_run run = {
        .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
    struct weft_random random = weft_random_stream(kind, 0, WEFT_RANDOM_ECN);
    for (uint32_t port = 0; port < r.topology->ports; port++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
            uint64_t *word = (uint64_t *)weft_outcome_at(r.outcome, port, p);
            for (size_t k = 0; k < WEFT_COUNTERS; k++)
                word[k] = weft_random_u64(&random) >> 40;
        }
    memset(r.outcome->drops, 0, sizeof r.outcome->drops);
    uint32_t n, looked = 0;
    const struct weft__mechanism_row *row = weft__report_mechanisms(&run, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (!row[i].is->counter) continue;
        uint64_t sum = 0;
        for (uint32_t port = 0; port < r.topology->ports; port++) {
            const struct weft__mechanism *const *is =
                weft__box_mechanisms(r.topology->node[r.topology->port[port].node].box)->mechanism;
            while (*is && strcmp((*is)->name, row[i].is->name) != 0)
                is++;
            for (uint32_t p = 0; *is && p < WEFT_PRIORITIES; p++)
                sum += *(uint64_t *)((char *)weft_outcome_at(r.outcome, port, p) + (*is)->counter);
        }
        assert_int_equal(row[i].use.acts, sum);
        looked++;
    }
    weft_arena_free(arena);
    run_free(&r);
    free(text);
    return looked;
}

static void mechanisms_act_as_ports_count(void **state) {
    (void)state;
#define SETTINGS "switch: {aqm: {kind: wred}, pfc: {watchdog: 10ms}}, host: {drain_rate: 10Gbps, pfc: {watchdog: 10ms}}"
    uint32_t all = 0, some = 0;
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        bool sfc = kind == WEFT_BOX_ETHERNET_SWITCH;
        char *text =
            text_of("devices: [{match: '*', " SETTINGS "}%s]\n", sfc ? ", {match: '*', switch: {sfc: fixed}}" : "");
        all += expect_acts_of_ports(kind, text);
        some += expect_acts_of_ports(kind, "devices: [{match: '*-0', " SETTINGS "}]\n");
        free(text);
    }
    assert_true(all >= WEFT_BOXES * 3 && some >= WEFT_BOXES * 3);
#undef SETTINGS
}

/// Boxes of a DSF never let a packet overtake another; switches that spray do.
static void order_is_promised_by_those_that_keep_it(void **state) {
    (void)state;
    assert_true(box_of(WEFT_BOX_HOST)->orders && box_of(WEFT_BOX_DSF_INTERFACE)->orders &&
                box_of(WEFT_BOX_DSF_FABRIC)->orders);
    assert_false(box_of(WEFT_BOX_ETHERNET_SWITCH)->orders);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(required_functions_are_there),  cmocka_unit_test(every_port_has_its_box),
        cmocka_unit_test(defaults_fit_their_place),      cmocka_unit_test(smallest_networks_run),
        cmocka_unit_test(mechanisms_act_as_ports_count), cmocka_unit_test(order_is_promised_by_those_that_keep_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
