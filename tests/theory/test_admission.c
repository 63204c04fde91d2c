// SPDX-License-Identifier: Apache-2.0
// Admission by the receiver: how long a clear-to-send takes, what limits the bytes in flight, what it keeps out of the
// network, and what channels cost the GPU.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include "form.h"
#include "run.h"
#include "weft/report.h"

#define KIB 1024.
#define US 1e6

static void assert_complete(const struct run *r) {
    run_assert_complete(r);
    assert_int_equal(r->outcome->job[0].ranks_done, r->workload->job[0].ranks);
    assert_int_equal(run_drops(r), 0);
}

static struct weft_run run_of(const struct run *r) {
    return (struct weft_run){
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
}

static double time_of(const struct run *r) {
    const struct weft_run run = run_of(r);
    return weft_report_collective(&run, 0, 0).time_ps;
}

/// Nothing else on its way: each of 2 links takes 8 B of preamble and 142 B at 400 Gb/s, 3 ns, and 200 ns; the switch
/// 300 ns. Every one takes that, one for each of 64 messages; the first 4 are sent together, one behind the other, 162
/// B or 3.24 ns apart.
static void an_empty_way_takes_its_own_time(void **state) {
    struct run r = RUN(run_once, "topology: {kind: single, hosts: 2, rate: 400Gbps, delay: 200ns}\n"
                                 "switch: {processing: 300ns}\n"
                                 "host: {ack_every: 1024}\n"
                                 "workload: [{kind: collective, size: 4MiB, collective: {kind: send_recv, channels: 1, "
                                 "chunk: 64KiB, slice: 64KiB, slots: 4}}]\n");
    assert_complete(&r);
    const struct weft_wait_outcome *w = &r.outcome->job[0].cts_wait;
    assert_int_equal(w->messages, 64);
    const weft_time_ps own = 2 * (3000 + 200000) + 300000;
    assert_int_equal(w->mean_ps, own + (1 + 2 + 3) * 3240 / 64);
    assert_int_equal(w->max_ps, own + 3 * 3240);
    form_assert("Admission by the receiver: waits, transfers, iterations", (double)w->p50_ps, (double)own,
                0.004); // as exact as a histogram is
    form_assert("Admission by the receiver: waits, transfers, iterations", (double)w->p90_ps, (double)own, 0.004);
    assert_int_equal(r.outcome->job[0].sender_wait.messages, 64);
    run_free(&r);
}

/// The sender is ready 100 us before the receiver comes to the collective, then 200, then 300: buffers that the last
/// iteration left unused are none of the next one's.
static void nothing_is_written_before_the_receiver_comes(void **state) {
    struct run r = RUN(run_once, "topology: {kind: single, hosts: 2, rate: 400Gbps, delay: 200ns}\n"
                                 "switch: {processing: 300ns}\n"
                                 "workload: [{kind: job, iterations: 3, slow_rank: 1, slow_factor: 2, operations: "
                                 "[{compute: 100us, size: 4KiB, collective: {kind: send_recv, channels: 1}}]}]\n");
    assert_complete(&r);
    const struct weft_wait_outcome *w = &r.outcome->job[0].sender_wait, *cts = &r.outcome->job[0].cts_wait;
    assert_int_equal(w->messages, 3);
    assert_int_equal(cts->messages, 3);
    const weft_time_ps us = WEFT_PS_PER_US, go = 2 * (3000 + 200000) + 300000,
                       come = 2 * ((8 + 4096 + 62 + 16) * 20 + 200000) + 300000;
    assert_int_equal(cts->max_ps, go);
    assert_int_equal(w->mean_ps, 200 * us + go + (go + come)); // its next iteration begins with the message
    assert_int_equal(w->max_ps, 300 * us + go + 2 * (go + come));
    run_free(&r);
}

/// A round trip is longer than the slots last: b bytes a round trip, in which all of them are in flight. The round
/// trip: the message, and the clear-to-send that comes back at once. Before the first one, a clear-to-send.
static void slots_bound_what_is_in_flight(void **state) {
    static const struct {
        const char *admission, *scaling;
        uint32_t slots, qps;
    } form[] = {
        {"cts", "round_robin", 4, 1}, {"cts", "round_robin", 4, 3}, {"cts", "split", 16, 4}, {"none", "split", 4, 2}};
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        struct run r =
            RUN(run_once,
                "topology: {kind: single, hosts: 2, rate: 400Gbps, delay: 50us}\n"
                "switch: {processing: 0ns}\n"
                "workload: [{kind: collective, size: 16MiB, admission: %s, qps: %u, qp_scaling: %s, collective: "
                "{kind: send_recv, channels: 1, chunk: 32KiB, slice: 32KiB, slots: %u}}]\n",
                form[i].admission, form[i].qps, form[i].scaling, form[i].slots);
        assert_complete(&r);
        const struct weft_job_outcome *o = &r.outcome->job[0];
        double bytes = 32 * KIB * form[i].slots, frame = 4096 + 82, packets = 8;
        assert_int_equal(o->in_flight_bytes_bound, bytes);
        assert_int_equal(o->incoming_bytes_bound, bytes);
        assert_int_equal(o->in_flight_bytes_max, bytes);
        double message = packets * frame * 8 / 400e9 * 1e12, trip = 4 * 50 * US + message + frame * 8 / 400e9 * 1e12;
        double trips = 512. / form[i].slots - 1, last = 2 * 50 * US + form[i].slots * message;
        double first = *form[i].admission == 'n' ? 0 : 2 * 50 * US;
        form_assert("Admission by the receiver: waits, transfers, iterations", time_of(&r), first + trips * trip + last,
                    0.001);
        if (*form[i].admission == 'n') {
            assert_int_equal(o->cts_wait.messages, 0);
            assert_int_equal(o->sender_wait.max_ps, 0);
        }
        run_free(&r);
    }
}

static const char incast[] =
    "topology: {kind: leaf_spine, leaves: 9, spines: 4, hosts_per_leaf: 1, rate: 400Gbps}\n"
    "switch: {buffer: {kind: static, size: 1MB, xoff: %s, xon: 180KB}, pfc: {reaction: 0ns}}\n"
    "host: {pfc: {reaction: 0ns}}\n"
    "workload: [{kind: collective, size: 72MiB, qps: 8, admission: %s, collective: {kind: gather, "
    "channels: 1, copy_rate: 200Gbps, slots: %u}}]\n";

/// Pauses that the spines sent to leaves.
static struct weft_pfc_layers pauses_by_spines(const struct run *r) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    const struct weft_run run = run_of(r);
    uint32_t n, i = 0;
    const struct weft_pfc_layers *l = weft_report_pfc_layers(&run, arena, &n);
    while (i < n && strcmp(l[i].key, "spine-leaf"))
        i++;
    assert_true(i < n);
    struct weft_pfc_layers found = l[i];
    weft_arena_free(arena);
    return found;
}

/// Eight ranks, each of which could send at 200 Gb/s, to one that takes 200 Gb/s in all and has a link of 400. What 4
/// slots each hold, 8 x 4 x 128 KiB = 4 MiB, is under way at once either way, and is more than the 4 x 200 KB at which
/// the last leaf pauses the spines. With clear-to-send it is gone after 84 us, and then comes what is taken; without,
/// the network stays full to the end. Slots that fit the buffers, 8 x 1 x 128 KiB, cause no pause at all.
static void admission_keeps_an_incast_out_of_the_network(void **state) {
    struct run with = RUN(run_once, incast, "200KB", "cts", 4), without = RUN(run_once, incast, "200KB", "none", 4);
    struct run fits = RUN(run_once, incast, "500KB", "cts", 2);
    assert_complete(&with);
    assert_complete(&without);
    assert_complete(&fits);
    struct weft_pfc_layers w = pauses_by_spines(&with), o = pauses_by_spines(&without);
    assert_true(w.frames > 0 && w.paused_max_ps < 84 * US);
    assert_true(o.paused_ps > 5 * w.paused_ps);
    assert_int_equal(pauses_by_spines(&fits).frames, 0);
    double taken = 64 * KIB * KIB * 8 / 200e9 * 1e12;
    form_assert("Admission by the receiver: waits, transfers, iterations", time_of(&with), taken,
                0.04); // the receiver is always busy, but when it turns to the next rank
    form_assert("Admission by the receiver: waits, transfers, iterations", time_of(&without), taken / 2 + taken * 7 / 8,
                0.01);
    form_assert("Admission by the receiver: waits, transfers, iterations",
                (double)with.outcome->job[0].sender_wait.max_ps, taken * 7 / 8, 0.04); // the last rank, for its turn
    run_free(&with);
    run_free(&without);
    run_free(&fits);
}

/// A host that takes in 100 of 400 Gb/s. What may be under way to it is bounded, and if that fits its buffer, nobody is
/// ever paused, and it gets its 100 Gb/s; writes that nobody admits (a flow has no other bound) stop spines and leaves.
static void a_slow_receiver_works(void **state) {
    static const char network[] =
        "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 1, rate: 400Gbps}\n"
        "switch: {buffer: {kind: static, size: 2MB, xoff: 500KB, xon: 450KB}}\n"
        "devices: [{match: host-0, host: {drain_rate: 100Gbps}}]\n"
        "workload: [{%s}]\n";
    struct run with = RUN(run_once, network,
                          "kind: collective, size: 16MiB, collective: {kind: gather, channels: 3, chunk: 16KiB, slice: "
                          "16KiB, slots: 3}");
    assert_complete(&with);
    assert_int_equal(with.outcome->job[0].incoming_bytes_bound, 3 * 3 * 16 * 1024); // below rx_xoff, 200 KB
    assert_int_equal(weft_outcome_counters(with.outcome).paused_ps, 0);
    double frames = 12 * KIB * KIB * (1 + 62 / 4096. + 16 / (16 * KIB));
    form_assert("Admission by the receiver: waits, transfers, iterations", time_of(&with), frames * 8 / 100e9 * 1e12,
                0.01);

    struct run without = RUN(run_once, network, "kind: incast, sources: host-1..3, dst: host-0, size: 4MiB, qps: 4");
    run_assert_complete(&without);
    assert_int_equal(run_drops(&without), 0);
    assert_true(pauses_by_spines(&without).frames > 0);
    for (uint32_t h = 1; h < 4; h++) {
        char port[16];
        snprintf(port, sizeof port, "host-%u/0", h);
        assert_true(run_counters(&without, port, 3)->paused_ps > 0);
    }
    run_free(&with);
    run_free(&without);
}

/// The way back is that of data too, which stands in a queue before a port. In a queue of its own, served first, a
/// clear-to-send waits for what is being sent at each of 4 hops at most, a frame of 4178 B and the gap: 4 x 84 ns; and
/// for other clear-to-sends, the most at the beginning, when each host sends 15 x 8 at once and as many go to each.
static void a_queue_of_its_own_is_not_waited_in(void **state) {
    static const char network[] =
        "topology: {kind: leaf_spine, leaves: 4, spines: 4, hosts_per_leaf: 4, rate: 400Gbps, "
        "delay: 200ns}\n"
        "switch: {processing: 300ns, buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6MB}}\n"
        "workload: [{kind: collective, size: 128MB, collective: all_to_all, cts_priority: %u}]\n";
    struct run with = RUN(run_once, network, 3), own = RUN(run_once, network, 6);
    assert_complete(&with);
    assert_complete(&own);
    const struct weft_wait_outcome *w = &with.outcome->job[0].cts_wait, *o = &own.outcome->job[0].cts_wait;
    assert_true(o->max_ps < 4 * (200000 + 3000 + 84000) + 3 * 300000 + 2 * 15 * 8 * 3240);
    assert_true(w->p90_ps > 5 * o->p90_ps);
    assert_int_equal(run_counters(&own, "leaf-0->host-0", 6)->tx_packets > 0,
                     true); // marked so: the switch maps its DSCP
    assert_int_equal(run_counters(&with, "leaf-0->host-0", 6)->tx_packets, 0);
    run_free(&with);
    run_free(&own);
}

/// Compute C, beside it a collective of time T in k channels, each of which takes c of the GPU. While it is under way
/// compute goes at 1 - k c: C + k c T in all if C is the longer; and C / (1 - k c) if the collective is.
static void channels_slow_compute(void **state) {
    static const char job[] =
        "topology: {kind: single, hosts: 4, rate: 400Gbps, delay: 200ns}\n"
        "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6MB}}\n"
        "workload: [{kind: job, channel_cost: %s, operations: [{collective: {kind: all_reduce_ring, "
        "channels: 4}, size: 16MB, overlap: on}, {compute: %s}]}]\n";
    struct run alone = RUN(run_once, job, "0", "0us"), cheap = RUN(run_once, job, "0", "2ms");
    struct run longer = RUN(run_once, job, "0.05", "2ms"), shorter = RUN(run_once, job, "0.05", "100us");
    const struct weft_run run[] = {run_of(&alone), run_of(&cheap), run_of(&longer), run_of(&shorter)};
    double t = weft_report_job(&run[0], 0).iteration_ps;
    form_assert("Admission by the receiver: waits, transfers, iterations", t, 1.5 * 16e6 * 8 / 400e9 * 1e12, 0.1);
    form_assert("Admission by the receiver: waits, transfers, iterations", weft_report_job(&run[1], 0).iteration_ps,
                2000 * US, 1e-9);
    form_assert("Admission by the receiver: waits, transfers, iterations", weft_report_job(&run[2], 0).iteration_ps,
                2000 * US + 0.2 * t, 0.001); // ranks end about together
    form_assert("Admission by the receiver: waits, transfers, iterations", weft_report_job(&run[3], 0).iteration_ps, t,
                1e-9);
    form_assert("Admission by the receiver: waits, transfers, iterations", weft_report_job(&run[3], 0).exposed_ps,
                t - 100 * US / 0.8, 0.01);
    run_free(&alone);
    run_free(&cheap);
    run_free(&longer);
    run_free(&shorter);
}

/// Waits add up to the same on any number of workers.
static void waits_do_not_depend_on_threads(void **state) {
    static const char text[] = "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4, rate: 400Gbps}\n"
                               "workload: [{kind: collective, size: 4MB, collective: all_to_all}]\n";
    struct run r = run_once(text);
    struct weft_outcome *o = run_again(&r, 3, text);
    assert_memory_equal(&o->job[0].cts_wait, &r.outcome->job[0].cts_wait, sizeof o->job[0].cts_wait);
    assert_memory_equal(&o->job[0].sender_wait, &r.outcome->job[0].sender_wait, sizeof o->job[0].sender_wait);
    assert_int_equal(o->job[0].in_flight_bytes_max, r.outcome->job[0].in_flight_bytes_max);
    weft_outcome_free(o);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_way_takes_its_own_time),
        cmocka_unit_test(nothing_is_written_before_the_receiver_comes),
        cmocka_unit_test(slots_bound_what_is_in_flight),
        cmocka_unit_test(admission_keeps_an_incast_out_of_the_network),
        cmocka_unit_test(a_slow_receiver_works),
        cmocka_unit_test(a_queue_of_its_own_is_not_waited_in),
        cmocka_unit_test(channels_slow_compute),
        cmocka_unit_test(waits_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
