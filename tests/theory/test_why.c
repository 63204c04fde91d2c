// SPDX-License-Identifier: Apache-2.0
// Where completion times go, against closed forms: what a flow does alone, behind another, paused, paced, with a
// window, after a loss; and sums over a Clique and a DSF.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "why.h"

#define PLAIN "host: {pfc: {reaction: 0ns}}\nswitch: {processing: 300ns, pfc: {reaction: 0ns}}\n"
#define STAR "topology: {kind: single, hosts: 4, rate: 200Gbps, delay: 150ns}\n"

/// Two hops of 200G: the message and its last frame once more, two links, one switch.
static void alone(void **state) {
    const char *text =
        STAR PLAIN "workload: [{kind: flow, src: host-0, dst: host-1, size: 1024000B}]\n" /* 250 packets */;
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    struct weft_why why = why_of(e, 0);
    assert_int_equal(why_sum(&why, WEFT_WHY_PROPAGATION), 2 * 150000);
    assert_int_equal(why_sum(&why, WEFT_WHY_QUEUEING), 16 * 40); // the first frame has a RETH, which the rest follow
    weft_time_ps known = 300000 + 640 + why_sum(&why, WEFT_WHY_SERIALISATION);
    assert_int_equal(why_sum(&why, WEFT_WHY_PROCESSING), why.fct_ps - known);
    assert_true(why_sum(&why, WEFT_WHY_PROCESSING) >= 300000);
    assert_int_equal(why_sum(&why, WEFT_WHY_SERIALISATION) / 40, 249 * (4096 + 62 + 20) + 16 + 2 * (4096 + 62 + 8));
    explained_free(e);
    run_free(&r);
}

/// Two to one: half of the time is the other's, at the port that both share, and is put on the other flow.
static void behind_another(void **state) {
    const char *text = STAR "workload: [{kind: flow, src: host-0, dst: host-2, size: 1MB}, {kind: flow, src: host-1, "
                            "dst: host-2, size: 1MB}]\nswitch: {buffer: {kind: static, size: 4MB, xoff: 3MB, xon: "
                            "2MB}}\n";
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    for (uint32_t f = 0; f < 2; f++) {
        struct weft_why why = why_of(e, f);
        weft_time_ps other = 0;
        char name[32];
        snprintf(name, sizeof name, "flow %u ", 1 - f);
        for (uint32_t i = 0; i < why.parts; i++)
            if (why.part[i].kind == WEFT_WHY_QUEUEING && !strncmp(why.part[i].because_of, name, strlen(name))) {
                assert_string_equal(why.part[i].where, "switch-0/2");
                other += why.part[i].time_ps;
            }
        // of the wait at the port, which lasts as long as the message itself, every second frame is the other's
        assert_true(other * 100 > why.fct_ps * 24 && other * 100 < why.fct_ps * 26);
        assert_int_equal(why_sum(&why, WEFT_WHY_PAUSE), 0);
    }
    explained_free(e);
    run_free(&r);
}

/// A buffer that holds little: the same time is spent paused at the sender, and the switch is named.
static void paused(void **state) {
    const char *text = STAR "switch: {buffer: {kind: static, size: 400KB, xoff: 60KB, xon: 40KB}}\n"
                            "workload: [{kind: incast, sources: host-0..1, dst: host-2, size: 1MB}]\n";
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    for (uint32_t f = 0; f < 2; f++) {
        struct weft_why why = why_of(e, f);
        weft_time_ps by_switch = 0;
        for (uint32_t i = 0; i < why.parts; i++)
            if (why.part[i].kind == WEFT_WHY_PAUSE) {
                char expected[64];
                snprintf(expected, sizeof expected, "switch-0/%u, for the queue of switch-0/2", f);
                assert_string_equal(why.part[i].because_of, expected);
                by_switch += why.part[i].time_ps;
            }
        uint32_t host = r.topology->node[r.topology->host[f]].port0;
        assert_true(by_switch > 0 && by_switch <= weft_outcome_at(e->outcome, host, 3)->paused_ps);
        assert_true(by_switch * 100 > why.fct_ps * 35); // half of it, less what the buffer holds
    }
    explained_free(e);
    run_free(&r);
}

/// A window of one packet: between two packets a round trip less the packet itself.
static void window(void **state) {
    const char *text = STAR "host: {window: 4096B, mtu: 4096B, ack_every: 1}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 40960B}]\n";
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    struct weft_why why = why_of(e, 0);
    // Nine times: what a frame and its ACK take to the other end of four links and twice through the switch, less the
    // frame's own time at the sender. The first frame has a RETH.
    weft_time_ps frames = (2 * (4096 + 62 + 8) - (4096 + 62 + 20) + 2 * (66 + 8)) * UINT64_C(40);
    assert_int_equal(why_sum(&why, WEFT_WHY_WINDOW), 9 * (frames + 4 * 150000 + 2 * 300000) + 16 * 40);
    explained_free(e);
    run_free(&r);
}

/// Congestion control: time lost to it is attributed to the queue that marked.
static void paced(void **state) {
    const char *text = STAR "host: {cc: dcqcn}\nswitch: {aqm: {kind: wred, min: 50KB, max: 100KB, max_probability: "
                            "100%}, buffer: {kind: static, size: 4MB, xoff: 3MB, xon: 2MB}}\n"
                            "workload: [{kind: incast, sources: host-0..1, dst: host-2, size: 4MB}]\n";
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    bool any = false;
    for (uint32_t f = 0; f < 2; f++) {
        struct weft_why why = why_of(e, f);
        for (uint32_t i = 0; i < why.parts; i++)
            if (why.part[i].kind == WEFT_WHY_PACE) {
                any = true;
                assert_string_equal(why.part[i].because_of, "marks at switch-0/2");
            }
    }
    assert_true(any);
    explained_free(e);
    run_free(&r);
}

/// A link that loses frames: what passes from the first sending of the critical packet, or of others sent again.
static void lost(void **state) {
    const char *text = "topology: {kind: single, hosts: 2, rate: 100Gbps, delay: 1us, bit_error_rate: 2e-6}\n"
                       "host: {timeout: 50us}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: 1MB}]\n";
    struct run r = run_once(text);
    assert_true(r.outcome->flow[0].packets_again > 0);
    struct explained *e = explain(&r, text);
    struct weft_why why = why_of(e, 0);
    assert_true(why_sum(&why, WEFT_WHY_RETRANSMISSION) > 0);
    explained_free(e);
    run_free(&r);
}

static void sums(void **state) {
    static const char *const texts[] = {
        "topology: {kind: dsf_l1_zone, rdsws: 8, hosts_per_rdsw: 2}\n"
        "workload: [{kind: incast, sources: host-0..7, dst: host-11, size: 200KB}, {kind: permutation, size: 100KB}]\n",
        "topology: {kind: dragonfly, pods: 4, tins: 3}\nhost: {out_of_order: accept}\n"
        "workload: [{kind: incast, sources: host-0..7, dst: host-11, size: 200KB}, {kind: permutation, size: 100KB}]\n",
        "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
        "workload: [{kind: collective, collective: all_reduce_ring, size: 1MB}, {kind: permutation, size: 100KB, verb: "
        "read, qps: 4}]\n",
        "topology: {kind: single, hosts: 3}\nhost: {drain_rate: 50Gbps}\n"
        "workload: [{kind: flow, src: host-0, dst: host-1, size: 300KB}]\n",
        // frames that last longer than a short record can say, and a long time without any
        "topology: {kind: single, hosts: 3, rate: 1Gbps}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: "
        "30KB}, "
        "{kind: flow, src: host-2, dst: host-1, size: 30KB, start: 5ms}]\n",
        "topology: {kind: single, hosts: 3, rate: 40Gbps}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: "
        "30KB}, {kind: flow, src: host-2, dst: host-1, size: 30KB, start: 5ms}]\n",
    };
    static const uint32_t least[] = {16, 16, 8, 1, 2, 2};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct run r = run_once(texts[i]);
        assert_true(why_assert_sums(&r, texts[i]) >= least[i]);
        run_free(&r);
    }
}

/// A packet alone in a DSF: four links, three boxes; credits for a round of control cells between the edges; no other
/// part.
static void credits(void **state) {
    const char *text = "topology: {kind: dsf_l1_zone, rdsws: 8, hosts_per_rdsw: 2}\n"
                       "workload: [{kind: flow, src: host-0, dst: host-15, size: 200B}]\n";
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    struct weft_why why = why_of(e, 0);
    weft_time_ps propagation = 0, round = 0;
    for (uint32_t i = 0; i < r.topology->links; i++) // edge links of hosts are 0 and 7; those of the fabric are alike
        if (r.topology->link[i].delay_ps > round) round = r.topology->link[i].delay_ps;
    propagation =
        2 * round + 2 * r.topology->link[r.topology->port[r.topology->node[r.topology->host[0]].port0].link].delay_ps;
    assert_int_equal(why_sum(&why, WEFT_WHY_PROPAGATION), propagation);
    assert_int_equal(why_sum(&why, WEFT_WHY_FABRIC), 0);
    assert_int_equal(why_sum(&why, WEFT_WHY_QUEUEING), 0);
    assert_int_equal(why_sum(&why, WEFT_WHY_REASSEMBLY), 0);
    // a request and a credit cross two links and three boxes each, as the cell does
    assert_true(why_sum(&why, WEFT_WHY_CREDITS) > 4 * round && why_sum(&why, WEFT_WHY_CREDITS) < 8 * round);
    explained_free(e);
    run_free(&r);
}

/// A packet alone in a Clique: it is cleared by a round of RTS and CTS.
static void cleared(void **state) {
    const char *text = "topology: {kind: dragonfly, pods: 4, tins: 3}\n"
                       "workload: [{kind: flow, src: host-0, dst: host-11, size: 20B}]\n";
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    struct weft_why why = why_of(e, 0);
    assert_int_equal(why_sum(&why, WEFT_WHY_FABRIC), 0);
    assert_int_equal(why_sum(&why, WEFT_WHY_QUEUEING) + why_sum(&why, WEFT_WHY_CREDITS), 0);
    weft_time_ps hops = 0; // links between the TiNs, and what is behind each before a switch
    for (uint32_t i = 0; i < why.parts; i++)
        if ((why.part[i].kind == WEFT_WHY_PROPAGATION || why.part[i].kind == WEFT_WHY_PROCESSING) &&
            strncmp(why.part[i].where, "host", 4) != 0)
            hops += why.part[i].time_ps;
    assert_true(why_sum(&why, WEFT_WHY_CLEAR) > 0 && hops > 0);
    explained_free(e);
    run_free(&r);
}

static uint64_t draw(uint64_t *state, uint64_t n) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % n;
}

/// Random scenarios over all boxes: parts add up, and of what crosses a fabric without loss no time is unexplained.
static void random_sums(void **state) {
    static const char *const topologies[] = {
        "topology: {kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 3}\n",
        "topology: {kind: fat_tree, k: 4, rate: 200Gbps}\n",
        "topology: {kind: dsf_l1_zone, rdsws: 8, hosts_per_rdsw: 2}\n",
        "topology: {kind: dragonfly, pods: 4, tins: 3}\n",
    };
    static const char *const hosts[] = {
        "host: {cc: dcqcn}\nswitch: {aqm: {kind: wred, min: 20KB, max: 80KB, max_probability: 50%}}\n",
        "host: {out_of_order: accept}\n",
        "host: {window: 32KB}\n",
        "",
    };
    uint64_t seed = 20;
    for (unsigned i = 0; i < 24; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "%s%srun: {seed: %u}\nworkload: [{kind: incast, sources: host-0..%u, dst: host-7, size: %uB}, {kind: "
                 "permutation, size: %uB, qps: %u%s}]\n",
                 topologies[i % 4], hosts[draw(&seed, 4)], (unsigned)draw(&seed, 1000), 1 + (unsigned)draw(&seed, 5),
                 1 + (unsigned)draw(&seed, 100000), 1 + (unsigned)draw(&seed, 60000), 1 + (unsigned)draw(&seed, 3),
                 draw(&seed, 3) ? "" : ", verb: read");
        struct run r = run_once(text);
        assert_true(why_assert_sums(&r, text) >= 9);
        run_free(&r);
    }
}

static void what_cannot_be_told(void **state) {
    const char *text = STAR "run: {until: 10us}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: 1MB}]\n";
    struct run r = run_once(text);
    struct explained *e = explain(&r, text);
    struct weft_why why;
    struct weft_error error = {0};
    assert_int_equal(weft_why(e->whys, 0, &why, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.text, "flow 0 did not finish");
    explained_free(e);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),       cmocka_unit_test(behind_another),
        cmocka_unit_test(paused),      cmocka_unit_test(window),
        cmocka_unit_test(paced),       cmocka_unit_test(lost),
        cmocka_unit_test(sums),        cmocka_unit_test(what_cannot_be_told),
        cmocka_unit_test(credits),     cmocka_unit_test(cleared),
        cmocka_unit_test(random_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
