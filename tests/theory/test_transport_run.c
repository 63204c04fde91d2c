// SPDX-License-Identifier: Apache-2.0
// Transports in a run: where their parameters are set, that both ends of a queue pair need the same one, and one that
// chooses a path for each packet at the sender, as a spraying NIC does.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "run.h"
#include "weft/transport.h"

#define NETWORK "topology: {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 2, rate: 100Gbps}\n"
#define FLOW "workload: [{kind: flow, src: host-0, dst: host-2, size: 400KB}]\n"

static uint64_t digest_with(const char *host) {
    struct run r = RUN(run_once, NETWORK FLOW "host: {%s}\n", host);
    assert_true(run_fct(&r, 0) > 0);
    uint64_t digest = r.outcome->digest;
    run_free(&r);
    return digest;
}

static void parameters_here_or_there(void **state) {
    uint64_t here = digest_with("ack_every: 9, out_of_order: accept");
    assert_int_equal(digest_with("transport: {kind: roce_rc, ack_every: 9, out_of_order: accept}"), here);
    assert_int_equal(digest_with("transport: roce_rc, out_of_order: accept, ack_every: 9"), here);
    assert_int_equal(digest_with("transport: {out_of_order: accept}, ack_every: 9"), here);
    assert_int_not_equal(digest_with("transport: {ack_every: 4}"), here);
}

// --- a transport of our own: RoCE RC with another entropy for each packet, from a count of its turns --------------

static struct weft_transport_ops spraying_ops;
static const struct weft_transport_ops *plain;

static size_t spraying_size(const void *conf) {
    return sizeof(uint32_t);
}

static void spraying_turn(struct weft_qp_sender *s, const struct weft_transport_fact *fact,
                          struct weft_transport_send *ret) {
    uint32_t *turns = fact->state;
    plain->on_turn(s, fact, ret);
    ret->entropy = (uint16_t)((fact->qp->entropy + ++*turns * 4099) & 0x3fff);
}

static struct weft_model spraying_of(const struct weft_model *model) {
    struct weft_model spraying = *model;
    plain = model->ops;
    spraying_ops = *plain;
    spraying_ops.on_turn = spraying_turn;
    spraying_ops.sender_size = spraying_size;
    spraying.name = "spraying";
    spraying.ops = &spraying_ops;
    return spraying;
}

/// Spines that carry data of the one flow: more bytes than its acknowledgements have.
static uint32_t spines_with_data(const struct run *r) {
    const struct weft_topology *t = r->topology;
    uint32_t spines = 0;
    for (uint32_t p = 0; p < t->ports; p++) {
        weft_bytes bytes = 0;
        for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++)
            bytes += weft_outcome_at(r->outcome, p, priority)->tx_bytes;
        bool up = !strcmp(t->node[t->port[p].node].name, "leaf-0") &&
                  !strncmp(t->node[t->port[t->port[p].peer].node].name, "spine", 5);
        spines += up && bytes > 40000;
    }
    return spines;
}

static void a_sender_sprays(void **state) {
    static const char text[] = NETWORK FLOW "host: {out_of_order: accept}\n";
    struct run r = run_text(text);
    assert_int_equal(spines_with_data(&r), 1);
    weft_outcome_free(r.outcome);
    struct weft_model spraying = spraying_of(r.scenario->device[0].host.transport.model);
    r.scenario->device[0].host.transport.model = &spraying;
    r.outcome = run_again(&r, 1, text);
    assert_true(run_fct(&r, 0) > 0);
    assert_int_equal(spines_with_data(&r), 4);
    run_assert_same(&r, 3, text);
    run_free(&r);
}

static void both_ends_need_the_same(void **state) {
    struct run r = RUN(run_once, NETWORK FLOW "devices: [{match: host-2, host: {ack_every: 4}}]\n");
    struct weft_model spraying = spraying_of(r.scenario->device[0].host.transport.model);
    struct weft_error error = {0};
    assert_int_equal(weft_simulation_check_workload(r.scenario, r.topology, r.workload, &error), WEFT_OK);
    r.scenario->device[1].host.transport.model = &spraying;
    assert_int_equal(weft_simulation_check_workload(r.scenario, r.topology, r.workload, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "host-0 has transport roce_rc and host-2 spraying; expected the same"));
    r.scenario->device[0].host.transport.model = &spraying;
    assert_int_equal(weft_simulation_check_workload(r.scenario, r.topology, r.workload, &error), WEFT_OK);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_here_or_there),
        cmocka_unit_test(a_sender_sprays),
        cmocka_unit_test(both_ends_need_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
