// SPDX-License-Identifier: Apache-2.0
// A cycle of virtual channels without credits is named. Tables as they are meant make none (test_gnet_deadlock.c), so
// the cell switches are set up by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/tin/tin_net.h"
#include "run.h"

enum { TINS = 4, VC = 6, PORTS = 8 };

/// A pod of four TiNs, a link between any two, one host each; nothing waits.
struct fixture {
    struct run run;
    struct weft__network net;
    struct weft__cliques cliques;
    struct weft__node *node;
    struct weft__tin tin[TINS];
    struct weft__gnet_in in[TINS][PORTS];
    struct weft__gnet_out out[TINS][PORTS];
    struct weft__gnet_port more[TINS][PORTS];
    uint16_t depth[TINS][WEFT__GNET_DEPTHS][WEFT__GNET_PORTS], slot[TINS][PORTS];
    struct weft__tin_port port[TINS];
    struct weft_arena *arena;
};

static int setup(void **state) {
    struct fixture *f = aligned_alloc(_Alignof(struct fixture), sizeof *f);
    memset(f, 0, sizeof *f);
    f->run = run_once("topology: {kind: dragonfly, pods: 1, tins: 4, hosts_per_tin: 1, local_parallel: 1, local_ports: "
                      "3}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: 1KB}]\n");
    const struct weft_topology *t = f->run.topology;
    f->arena = weft_arena_new(WEFT_MEMORY_TOPOLOGY);
    f->cliques.shape = weft_dragonflies_new(t, f->arena);
    f->node = calloc(t->nodes, sizeof *f->node);
    f->net = (struct weft__network){.topology = t, .outcome = f->run.outcome, .shared[WEFT_BOX_TIN] = &f->cliques};
    f->net.engine.node = f->node;
    f->net.outcome->sim_time_ps = 100 * WEFT_PS_PER_US;
    for (uint32_t i = 0; i < TINS; i++) {
        const struct weft_tin *info = &f->cliques.shape->fabric[0].tin[i];
        struct weft__tin *tin = &f->tin[i];
        assert_true(t->node[info->node].ports <= PORTS);
        tin->gnet.in = f->in[i];
        tin->gnet.out = f->out[i];
        tin->gnet.port = f->more[i];
        weft__gnet_queues_grow(&tin->gnet.queues);
        tin->gnet.depth = f->depth[i];
        tin->gnet.links = info->local | info->global;
        tin->slot = f->slot[i];
        tin->port = &f->port[i];
        tin->announced.first = WEFT_NONE;
        f->node[info->node].state = tin;
        for (uint32_t k = 0; k < PORTS; k++) {
            f->slot[i][k] = (uint16_t)(tin->gnet.links >> k & 1 ? k : WEFT__TIN_ETHERNET);
            f->out[i][k].room = f->out[i][k].creditable = UINT32_MAX;
        }
    }
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    for (uint32_t i = 0; i < TINS; i++)
        weft__gnet_queues_deinit(&f->tin[i].gnet.queues);
    weft_arena_free(f->arena);
    run_free(&f->run);
    free(f->node);
    free(f);
    return 0;
}

/// The port of TiN i that leads to TiN j, of its node.
static uint32_t port_to(const struct fixture *f, uint32_t i, uint32_t j) {
    uint32_t k = 0;
    while (f->cliques.shape->fabric[0].tin[i].peer[k] != j)
        k++;
    return k;
}

/// At TiN i cells to TiN j wait for credits, 320 bytes for 60 us.
static void starve(struct fixture *f, uint32_t i, uint32_t j) {
    struct weft__gnet_out *out = &f->out[i][port_to(f, i, j)];
    out->queued |= 1u << VC;
    out->creditable &= ~(1u << VC);
    out->room &= ~(1u << VC);
    f->more[i][port_to(f, i, j)].starved_ps[VC] = 40 * WEFT_PS_PER_US;
    f->depth[i][VC][port_to(f, i, j)] = 320;
}

/// At TiN j the first cell that arrived from TiN i requests the link to k.
static void block(struct fixture *f, uint32_t i, uint32_t j, uint32_t k) {
    struct weft__gnet_in *in = &f->in[j][port_to(f, j, i)];
    struct weft__gnet_queues *queues = &f->tin[j].gnet.queues;
    struct weft__gnet_queue *queue = &queues->queue[weft__gnet_queue_open(queues, &in->queue, VC)];
    in->waiting |= 1u << VC;
    queue->out = (uint8_t)port_to(f, j, k);
    queue->out_vc = VC;
}

static char *say(const struct fixture *f) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    weft__cliques_explain(file, &f->net);
    fclose(file);
    return text;
}

/// tin-0 waits for tin-1, that for tin-2, that for tin-0: a cycle, whichever began it. tin-3 waits for it and is no
/// part.
static void a_cycle_is_named(void **state) {
    struct fixture *f = *state;
    for (uint32_t i = 0; i < 3; i++) {
        starve(f, i, (i + 1) % 3);
        block(f, i, (i + 1) % 3, (i + 2) % 3);
    }
    starve(f, 3, 1);
    block(f, 3, 1, 2);
    char *text = say(f);
    char expected[400];
    snprintf(expected, sizeof expected,
             "credit cycle of 3 virtual channels (a deadlock):\n"
             "  tin-0/%u VC 6 waits for room at tin-1/%u\n  tin-1/%u VC 6 waits for room at tin-2/%u\n"
             "  tin-2/%u VC 6 waits for room at tin-0/%u\n  and so back to tin-0/%u\n"
             "virtual channels that wait for credits:\n"
             "  tin-0/%u VC 6: 320B waiting, no room at tin-1/%u for 60us\n",
             port_to(f, 0, 1), port_to(f, 1, 0), port_to(f, 1, 2), port_to(f, 2, 1), port_to(f, 2, 0), port_to(f, 0, 2),
             port_to(f, 0, 1), port_to(f, 0, 1), port_to(f, 1, 0));
    if (strncmp(text, expected, strlen(expected))) fail_msg("%s\nexpected\n%s", text, expected);
    free(text);
}

/// A chain whose end waits for nothing is no cycle: its first cell can leave, or its credits are in flight.
static void a_chain_is_no_cycle(void **state) {
    struct fixture *f = *state;
    starve(f, 0, 1);
    block(f, 0, 1, 2);
    starve(f, 1, 2);
    char *text = say(f);
    assert_null(strstr(text, "credit cycle"));
    assert_non_null(strstr(text, "virtual channels that wait for credits:\n  tin-0/"));
    assert_non_null(strstr(text, "\n  tin-1/"));
    free(text);
}

static void nothing_is_said_of_nothing(void **state) {
    char *text = say(*state);
    assert_string_equal(text, "");
    free(text);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {T(a_cycle_is_named), T(a_chain_is_no_cycle), T(nothing_is_said_of_nothing)};
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
