// SPDX-License-Identifier: Apache-2.0
// What NCCL chooses: for 8 H100 of one server NVIDIA's maintainers say ring with LL up to 1 MiB and NVLS from 2 MiB
// (nccl-tests, number 309); channels of machines as logs of NCCL_DEBUG=INFO show them; values of NCCL_ALGO.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "weft/nccl.h"

static const struct weft_nccl_machine h100 = {.generation = WEFT_NCCL_HOPPER,
                                              .nodes = 1,
                                              .gpus = 8,
                                              .nics = 8,
                                              .nvlink_GBps = 370.8,
                                              .nic_GBps = 50,
                                              .nvls = true,
                                              .ll128 = true};
static const struct weft_nccl_machine a100 = {.generation = WEFT_NCCL_AMPERE,
                                              .nodes = 1,
                                              .gpus = 8,
                                              .nics = 8,
                                              .nvlink_GBps = 240,
                                              .nic_GBps = 25,
                                              .ll128 = true};
static const struct weft_nccl_machine b200 = {.generation = WEFT_NCCL_BLACKWELL,
                                              .nodes = 1,
                                              .gpus = 8,
                                              .nics = 8,
                                              .nvlink_GBps = 721.8,
                                              .nic_GBps = 50,
                                              .nvls = true,
                                              .ll128 = true};

static struct weft_nccl_machine of_nodes(struct weft_nccl_machine machine, uint32_t nodes) {
    char text[200];
    machine.nodes = nodes;
    assert_null(weft_nccl_mask("", weft_nccl_algorithm_names, machine.algorithms, text, sizeof text));
    assert_null(weft_nccl_mask("", weft_nccl_protocol_names, machine.protocols, text, sizeof text));
    return machine;
}

/// Where the choice changes, from 64 B to 8 GiB: "ring ll, 2048 nvls simple", sizes in KiB.
static void assert_choices(const struct weft_nccl_machine *machine, enum weft_nccl_function function,
                           const char *expected) {
    char all[300] = "", last[40] = "", now[40];
    struct weft_nccl_choice choice;
    for (weft_bytes bytes = 64; bytes <= (weft_bytes)8 << 30; bytes *= 2) {
        assert_true(weft_nccl_choose(machine, function, bytes, &choice));
        snprintf(now, sizeof now, "%s %s", weft_nccl_algorithm_names[choice.algorithm],
                 weft_nccl_protocol_names[choice.protocol]);
        size_t n = strlen(all);
        if (strcmp(now, last) && !n) snprintf(all, sizeof all, "%s", now);
        if (strcmp(now, last) && n)
            snprintf(all + n, sizeof all - n, ", %llu %s", (unsigned long long)bytes >> 10, now);
        memcpy(last, now, sizeof last);
        assert_true(choice.channels > 0 && choice.chunk_bytes >= choice.slice_bytes && choice.slice_bytes > 0);
    }
    assert_string_equal(all, expected);
}

static void choices(void **state) {
    (void)state;
    static const struct {
        const struct weft_nccl_machine *machine;
        uint32_t nodes;
        enum weft_nccl_function function;
        const char *choices;
    } table[] = {
        {&h100, 1, WEFT_NCCL_ALL_REDUCE, "ring ll, 2048 nvls simple"},
        {&h100, 1, WEFT_NCCL_ALL_GATHER, "ring ll, 8192 ring ll128, 32768 ring simple"},
        {&h100, 2, WEFT_NCCL_ALL_REDUCE, "tree ll, 256 tree ll128, 4096 nvlstree simple"},
        {&h100, 4, WEFT_NCCL_ALL_REDUCE, "tree ll, 256 tree ll128, 16384 nvlstree simple"},
        {&h100, 8, WEFT_NCCL_ALL_REDUCE, "tree ll, 256 tree ll128, 16384 nvlstree simple"},
        {&a100, 1, WEFT_NCCL_ALL_REDUCE, "ring ll, 4096 ring ll128, 32768 ring simple"},
    };
    for (uint32_t k = 0; k < sizeof table / sizeof *table; k++) {
        struct weft_nccl_machine machine = of_nodes(*table[k].machine, table[k].nodes);
        assert_choices(&machine, table[k].function, table[k].choices);
    }
}

static void assert_graph(const struct weft_nccl_machine *machine, enum weft_nccl_algorithm algorithm, uint32_t nodes,
                         uint32_t channels, double rate, uint32_t connected) {
    struct weft_nccl_machine m = of_nodes(*machine, nodes);
    struct weft_nccl_graph graph = weft_nccl_graph(&m, algorithm);
    assert_int_equal(graph.channels, channels);
    assert_true(graph.intra_GBps == rate);
    assert_int_equal(graph.connected, connected);
}

static void channels(void **state) {
    (void)state;
    assert_graph(&a100, WEFT_NCCL_RING, 1, 12, 20, 24);
    assert_graph(&a100, WEFT_NCCL_NVLS, 1, 0, 0, 0);
    assert_graph(&h100, WEFT_NCCL_RING, 1, 12, 30, 24);
    assert_graph(&h100, WEFT_NCCL_NVLS, 1, 8, 40, 16);
    assert_graph(&h100, WEFT_NCCL_RING, 2, 8, 45, 16);
    assert_graph(&h100, WEFT_NCCL_NVLS_TREE, 2, 8, 45, 16);
    assert_graph(&b200, WEFT_NCCL_RING, 1, 16, 45, 32);
    assert_graph(&b200, WEFT_NCCL_NVLS, 1, 8, 90, 24);
    assert_graph(&b200, WEFT_NCCL_RING, 2, 8, 48, 16);
}

/// Chunks halve by the channels and heads that they are for: 24 times 32 for 72 GPUs (enqueue.cc, NCCL_MAX_NVLS_ARITY).
static void chunks_of_a_large_domain(void **state) {
    static const struct {
        weft_bytes bytes, chunk;
    } table[] = {{384 << 20, 65536}, {(384 << 20) - 1, 32768}, {UINT64_C(6144) << 20, 131072}, {5000000000, 65536}};
    struct weft_nccl_machine m = of_nodes(b200, 1);
    struct weft_nccl_choice choice;
    m.gpus = m.nics = 72;
    assert_graph(&m, WEFT_NCCL_NVLS, 1, 32, 20, 24);
    for (uint32_t k = 0; k < sizeof table / sizeof *table; k++) {
        assert_true(weft_nccl_choose(&m, WEFT_NCCL_ALL_REDUCE, table[k].bytes, &choice));
        assert_int_equal(choice.algorithm, WEFT_NCCL_NVLS);
        assert_int_equal(choice.chunk_bytes, table[k].chunk);
    }
}

static void masks(void **state) {
    (void)state;
    char text[200];
    uint32_t mask[WEFT_NCCL_FUNCTIONS];
    assert_null(weft_nccl_mask("Ring,TREE", weft_nccl_algorithm_names, mask, text, sizeof text));
    assert_int_equal(mask[WEFT_NCCL_ALL_GATHER], 1 << WEFT_NCCL_RING | 1 << WEFT_NCCL_TREE);
    assert_null(weft_nccl_mask("^ll128", weft_nccl_protocol_names, mask, text, sizeof text));
    assert_int_equal(mask[WEFT_NCCL_ALL_REDUCE], 1 << WEFT_NCCL_LL | 1 << WEFT_NCCL_SIMPLE);
    assert_null(weft_nccl_mask("allreduce:tree;allgather:ring", weft_nccl_algorithm_names, mask, text, sizeof text));
    assert_int_equal(mask[WEFT_NCCL_ALL_REDUCE], 1 << WEFT_NCCL_TREE);
    assert_int_equal(mask[WEFT_NCCL_ALL_GATHER], 1 << WEFT_NCCL_RING);
    assert_int_equal(mask[WEFT_NCCL_REDUCE], 31);
    assert_string_equal(
        weft_nccl_mask("ring,rnig", weft_nccl_algorithm_names, mask, text, sizeof text),
        "'rnig' is not expected here; expected a list of tree, ring, nvls, nvlstree, pat, after ^ those "
        "to leave out");
    assert_non_null(weft_nccl_mask("allredcue:ring", weft_nccl_algorithm_names, mask, text, sizeof text));
    assert_non_null(weft_nccl_mask("^", weft_nccl_algorithm_names, mask, text, sizeof text));
    assert_non_null(weft_nccl_mask("ring,", weft_nccl_algorithm_names, mask, text, sizeof text));
    assert_non_null(weft_nccl_mask("collnets", weft_nccl_algorithm_names, mask, text, sizeof text));
    assert_null(strstr(text, "SHARP"));
    static const char *const collnet[] = {"CollNet", "collnetdirect", "ring,CollnetChain", "allreduce:collnetdirect"};
    for (uint32_t k = 0; k < sizeof collnet / sizeof *collnet; k++) {
        assert_non_null(weft_nccl_mask(collnet[k], weft_nccl_algorithm_names, mask, text, sizeof text));
        assert_non_null(strstr(text, "SHARP"));
    }
    assert_null(weft_nccl_mask("^collnetdirect,collnetchain,tree", weft_nccl_algorithm_names, mask, text, sizeof text));
    assert_int_equal(mask[WEFT_NCCL_ALL_REDUCE], 31 & ~(1 << WEFT_NCCL_TREE));
}

/// What the masks leave decides; nothing is chosen where they leave nothing that is possible.
static void restricted(void **state) {
    (void)state;
    char text[200];
    struct weft_nccl_machine machine = of_nodes(h100, 2);
    struct weft_nccl_choice choice;
    assert_null(weft_nccl_mask("ring", weft_nccl_algorithm_names, machine.algorithms, text, sizeof text));
    assert_true(weft_nccl_choose(&machine, WEFT_NCCL_ALL_REDUCE, 1 << 30, &choice));
    assert_int_equal(choice.algorithm, WEFT_NCCL_RING);
    assert_int_equal(choice.chunk_bytes, 2 << 20);
    assert_int_equal(choice.slice_bytes, 1 << 20);
    assert_null(weft_nccl_mask("tree", weft_nccl_algorithm_names, machine.algorithms, text, sizeof text));
    assert_false(weft_nccl_choose(&machine, WEFT_NCCL_ALL_GATHER, 1 << 20, &choice));
}

/// One GPU a server: a ring of 64 takes 63 steps of 5 us with LL, PAT 8 us, 6 hops of 14 / 3.5 us and 2.8 us a rank.
static void pat(void **state) {
    (void)state;
    struct weft_nccl_machine machine = of_nodes(h100, 64);
    struct weft_nccl_choice choice;
    machine.gpus = machine.nics = 1;
    assert_float_equal((float)weft_nccl_time(&machine, WEFT_NCCL_ALL_GATHER, WEFT_NCCL_PAT, WEFT_NCCL_SIMPLE, 64),
                       211.2F, 0.01F);
    for (uint32_t f = WEFT_NCCL_ALL_GATHER; f <= WEFT_NCCL_REDUCE_SCATTER; f++) {
        assert_true(weft_nccl_choose(&machine, f, 4096, &choice));
        assert_int_equal(choice.algorithm, WEFT_NCCL_PAT);
        assert_int_equal(choice.chunk_bytes, 65536);
        assert_true(weft_nccl_choose(&machine, f, (weft_bytes)8 << 30, &choice));
        assert_int_equal(choice.algorithm, WEFT_NCCL_RING);
    }
    machine.gpus = machine.nics = 2;
    assert_true(weft_nccl_time(&machine, WEFT_NCCL_ALL_GATHER, WEFT_NCCL_PAT, WEFT_NCCL_SIMPLE, 64) < 0);
}

/// Sends and receives. Channels of a peer: 36 links of 20.6 GB/s make 32 of one server's channels, of which each of
/// eight ranks has 4 until its parts exceed 16 MiB; a NIC of 400G has 4, halved where 64 ranks would need more than
/// there are.
static void exchanges(void **state) {
    (void)state;
    static const struct {
        const struct weft_nccl_machine *machine;
        uint32_t nodes;
        weft_bytes bytes; ///< to a peer
        struct weft_nccl_exchange expected;
    } table[] = {
        {&h100, 1, 64, {32, 1, 1, WEFT_NCCL_LL, 32768}},
        {&h100, 1, 131072, {32, 2, 1, WEFT_NCCL_SIMPLE, 524288}},
        {&h100, 1, 64 << 20, {32, 4, 1, WEFT_NCCL_SIMPLE, 524288}},
        {&h100, 1, 512 << 20, {32, 32, 7, WEFT_NCCL_SIMPLE, 524288}},
        {&h100, 2, 65536, {16, 1, 1, WEFT_NCCL_SIMPLE, 32768}},
        {&h100, 2, 1 << 20, {16, 4, 4, WEFT_NCCL_SIMPLE, 131072}},
        {&h100, 8, 8 << 20, {16, 2, 8, WEFT_NCCL_SIMPLE, 131072}},
        {&a100, 1, 64 << 20, {32, 4, 1, WEFT_NCCL_SIMPLE, 524288}},
    };
    for (uint32_t k = 0; k < sizeof table / sizeof *table; k++) {
        struct weft_nccl_machine m = of_nodes(*table[k].machine, table[k].nodes);
        struct weft_nccl_exchange x = weft_nccl_exchange(&m, m.nodes * m.gpus - 1, table[k].bytes);
        const struct weft_nccl_exchange *e = &table[k].expected;
        assert_int_equal(x.channels, e->channels);
        assert_int_equal(x.peer_channels, e->peer_channels);
        assert_int_equal(x.at_once, e->at_once);
        assert_int_equal(x.protocol, e->protocol);
        assert_int_equal(x.chunk_bytes, e->chunk_bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(choices),
                                       cmocka_unit_test(channels),
                                       cmocka_unit_test(masks),
                                       cmocka_unit_test(restricted),
                                       cmocka_unit_test(exchanges),
                                       cmocka_unit_test(pat),
                                       cmocka_unit_test(chunks_of_a_large_domain)};
    return cmocka_run_group_tests_name("nccl_choice", tests, NULL, NULL);
}
