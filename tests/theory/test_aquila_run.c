// SPDX-License-Identifier: Apache-2.0
// IP over GNet in whole runs: latency by hand, loads that adaptive routing carries, incast, isolation, failures,
// overload. Each run says that bytes are conserved; most also that threads change nothing. Source: Gibson et
// al., "Aquila: A unified, low-latency fabric for datacenter networks", NSDI 2022.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/tin/tin_outcome.h"
#include "run.h"

#define X(name, meaning) CELL_##name,
enum { WEFT_TIN_CELLS(X) };
#undef X

/// And nothing was faster than alone in the empty network.
static void assert_nothing_lost(const struct run *r) {
    run_assert_complete(r);
    for (uint32_t i = 0; i < r->outcome->flows; i++)
        assert_true(run_fct(r, i) >= r->outcome->flow[i].ideal_ps);
    assert_int_equal(run_drops(r), 0);
    assert_int_equal(weft_outcome_tin(r->outcome)->cells_lost + weft_outcome_tin(r->outcome)->cells_late +
                         weft_outcome_tin(r->outcome)->escapes,
                     0);
    for (uint32_t i = 0; i < r->outcome->flows; i++)
        assert_int_equal(r->outcome->flow[i].out_of_order, 0);
}

/// Long runs: with one other number of threads.
static struct run run_with_two(const char *text) {
    struct run r = run_once(text);
    run_assert_same(&r, 2, text);
    return r;
}

// --- latency ------------------------------------------------------------------------------------------------------

enum {
    LAG = 50000 + 20000,                     ///< processing at an endpoint, fall-through of the first cell switch
    LOCAL = 2000 + 20000 + 20000,            ///< cable, link, fall-through of the next: 40 ns a hop and the cable
    GLOBAL = 100000 + 20000 + 20000 + 30000, ///< and FEC
    HOST_BYTE = 160,                         ///< ps at 50G
};
static const double BYTE = 8e12 / 27.15e9; ///< ps of a lane: 28G, of whose 66 bits 64 are cells

/// A cell from endpoint to endpoint over so many links in the pods and between them. Between pods its bytes take 1.06
/// times as long, for which the next link waits.
static weft_time_ps cell_ps(uint32_t wire, uint32_t locals, uint32_t globals) {
    weft_time_ps time = (weft_time_ps)ceil(wire * BYTE - 1e-6);
    weft_time_ps slow = (weft_time_ps)ceil(wire * BYTE * 1.06 - 1e-6) - time;
    return LAG + locals * LOCAL + globals * (GLOBAL + slow) + time;
}

/// A frame of one cell from the first bit that a host sends to its last bit at the other: header and processing, the
/// rest of the frame, RTS, CTS, data, the frame again.
static weft_time_ps packet_ps(uint32_t frame, uint32_t locals, uint32_t globals) {
    weft_time_ps head = (8 + 64) * HOST_BYTE + 5000 + 50000, rest = (frame - 64) * HOST_BYTE;
    weft_time_ps fabric = 2 * cell_ps(16, locals, globals) + cell_ps(frame - 18 + 8, locals, globals);
    return head + rest + fabric + (frame + 8) * HOST_BYTE + 5000;
}

#define SMALL                                                                                                          \
    "topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 1, global_delay: 100ns, global_parallel: 4, "        \
    "local_ports: 6, global_ports: 2}\n"

/// A WRITE of 64 B: a frame of 62 + 16 + 64 B, one cell of 142 - 18 + 8 B. A cell takes 40 ns a hop and what cables,
/// FEC and its bytes take, whichever way it goes; here ways of one link and of three.
static void one_packet_takes_what_its_parts_take(void **state) {
    uint32_t seen = 0;
    for (uint32_t dst = 1; dst < 12; dst++) {
        struct run r = RUN(run_text,
                           SMALL "host: {processing: 0ns}\ntin: {routing: minimal_deterministic}\n"
                                 "workload: [{kind: flow, src: host-0, dst: host-%u, size: 64B}]\n",
                           dst);
        uint32_t hops = 0, globals = dst >= 4;
        while (!weft_outcome_tin(r.outcome)->hops[hops])
            hops++;
        assert_nothing_lost(&r);
        if (weft_outcome_tin(r.outcome)->hops[hops] == 6) { // there and back, RTS, CTS and data, by as many links each
            seen |= 1u << hops;
            assert_int_equal(run_fct(&r, 0), packet_ps(142, hops - globals, globals));
            // Slowdown is against the shortest way; a minimal one may have two local links where that has one or none.
            weft_time_ps longer = run_fct(&r, 0) - r.outcome->flow[0].ideal_ps;
            assert_true(longer == 0 || (hops > 1 && (longer == 3 * LOCAL || longer == 6 * LOCAL)));
        }
        run_free(&r);
    }
    assert_int_equal(seen & 10, 10); // one link, and three; ways of two lead back by three
}

/// Trains carry the same cells in fewer events. A packet alone waits, at its two endpoints and once for each of three
/// links, for no more than the cells before the last one of a train.
static void trains_carry_the_same(void **state) {
    static const uint32_t trains[] = {1, 2, 4, 6};
    enum { CELL_PS = 47144 + 2829, TIMES = 5 }; // 160 B between pods
    weft_time_ps exact = 0;
    uint64_t cells = 0, events = UINT64_MAX;
    for (size_t i = 0; i < sizeof trains / sizeof *trains; i++) {
        struct run r = RUN(run_text,
                           SMALL "tin: {train: %u}\n"
                                 "workload: [{kind: flow, src: host-0, dst: host-11, size: 4096B}]\n",
                           trains[i]);
        assert_nothing_lost(&r);
        if (i == 0) exact = run_fct(&r, 0);
        weft_time_ps most = exact + (trains[i] - 1) * CELL_PS * TIMES;
        if (run_fct(&r, 0) < exact || run_fct(&r, 0) > most)
            fail_msg("trains of %u: %" PRIu64 ", exact %" PRIu64, trains[i], run_fct(&r, 0), exact);
        run_free(&r);
        struct run all = RUN(
            run_text, SMALL "tin: {train: %u}\nworkload: [{kind: poisson, load: 20%%, size: 4096B, duration: 20us}]\n",
            trains[i]);
        assert_nothing_lost(&all);
        if (i == 0) cells = weft_outcome_tin(all.outcome)->cells[CELL_data];
        assert_true(cells > 1000);
        assert_int_equal(weft_outcome_tin(all.outcome)->cells[CELL_data], cells);
        assert_true(all.outcome->events < events);
        events = all.outcome->events;
        run_free(&all);
    }
}

/// Cells that links in pods and links between them have carried.
static void count_hops(const struct run *r, uint64_t *ret_locals, uint64_t *ret_globals) {
    const struct weft_topology *t = r->topology;
    *ret_locals = *ret_globals = 0;
    for (uint32_t p = 0; p < t->ports; p++) {
        if (!weft_topology_link_is_fabric(t, t->port[p].link)) continue;
        bool local = t->node[t->port[p].node].cluster == t->node[t->port[t->port[p].peer].node].cluster;
        *(local ? ret_locals : ret_globals) += weft_outcome_at(r->outcome, p, 0)->tx_packets;
    }
}

/// "Deterministic" takes a way of one to six links here, for each flow. Over any of them, RTS, CTS and data together
/// take 40 ns and the cable a local hop, 70 ns and the fibre a global one, and nothing else that depends on the way.
/// (FEC's rate is left out: it depends on which cell takes which way. The run is ended before the acknowledgement has
/// cells.)
static void a_way_takes_what_its_hops_take(void **state) {
    const char *text = SMALL "host: {processing: 0ns}\nrun: {until: %" PRIu64 "ps}\n"
                             "tin: {routing: deterministic, ordered_routing: deterministic, fec_overhead: 0%%}\n"
                             "workload: [{kind: flow, src: host-%u, dst: host-%u, size: 64B}]\n";
    uint32_t seen = 0;
    for (uint32_t k = 0; k < 144; k++) {
        uint32_t src = k / 12, dst = k % 12;
        if (src == dst) continue;
        struct run whole = RUN(run_once, text, (weft_time_ps)WEFT_PS_PER_US * 100, src, dst);
        weft_time_ps time = run_fct(&whole, 0);
        struct run r = RUN(run_once, text, time + 1, src, dst);
        uint64_t locals, globals, cells = 0, hops = 0;
        count_hops(&r, &locals, &globals);
        for (uint32_t h = 0; h < WEFT_TIN_HOPS; h++) {
            cells += weft_outcome_tin(r.outcome)->hops[h];
            hops += h * weft_outcome_tin(r.outcome)->hops[h];
            if (weft_outcome_tin(r.outcome)->hops[h]) seen |= 1u << h;
        }
        assert_int_equal(cells, 3);
        assert_int_equal(hops, locals + globals);
        weft_time_ps ways = locals * LOCAL + globals * GLOBAL;
        assert_int_equal(time, packet_ps(142, 0, 0) + ways);
        run_free(&r);
        run_free(&whole);
    }
    if ((seen & 0x7e) != 0x7e) fail_msg("ways seen: %#" PRIx32, seen);
}

/// A READ is a request and an answer: RTS, CTS and data in each direction, six half round trips. The request is a frame
/// of 78 B; the answer, of 64 B of data, one of 62 + 4 + 64.
static void a_request_and_its_answer_take_six_half_round_trips(void **state) {
    struct run r = RUN(run_once,
                       SMALL "host: {processing: 0ns}\ntin: {routing: minimal_deterministic}\n"
                             "workload: [{kind: flow, src: host-0, dst: host-1, size: 64B, verb: read}]\n"
                             "%s",
                       "");
    assert_int_equal(run_fct(&r, 0), packet_ps(78, 1, 0) + packet_ps(130, 1, 0));
    assert_int_equal(weft_outcome_tin(r.outcome)->hops[1], 6);
    run_free(&r);
}

// --- loads --------------------------------------------------------------------------------------------------------

/// 9 pods of 8 TiNs, a host of 50G each; two links between pods: 16 a pod carry 16 x 27.15 / 1.06 = 410G, of 400G that
/// its hosts send.
#define BALANCED                                                                                                       \
    "topology: {kind: dragonfly, pods: 9, tins: 8, hosts_per_tin: 1, global_delay: 100ns, local_ports: 14, "           \
    "global_ports: 2}\n"                                                                                               \
    "switch: {buffer: {kind: dynamic, total: 64MiB}}\n"

/// Uniform random traffic is carried: every flow that arrives in 30 us is complete soon after.
static void uniform_random_traffic_is_carried(void **state) {
    struct run r = RUN(run_text,
                       BALANCED "workload: [{kind: poisson, load: 60%%, size: 4096B, duration: 30us}]\n"
                                "run: {until: 70us}\n%s",
                       "");
    assert_nothing_lost(&r);
    // Few ways are not minimal, and none is longer than by way of a third pod.
    assert_true(weft_outcome_tin(r.outcome)->ways_nonminimal * 4 < weft_outcome_tin(r.outcome)->ways_minimal);
    assert_int_equal(weft_outcome_tin(r.outcome)->hops[10], 0);
    run_free(&r);
}

/// Payload that has come by a time, while every host sends to its counterpart in the next pod.
static double next_pod_bytes(const char *mode, uint32_t until_us) {
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    fprintf(file, BALANCED "tin: {routing: %s, ctd: 1GB, reassembly_timeout: 1ms}\nrun: {until: %uus}\nworkload:\n",
            mode, until_us);
    for (uint32_t h = 0; h < 72; h++)
        fprintf(file, "  - {kind: flow, src: host-%u, dst: host-%u, size: 10MB}\n", h, (h + 8) % 72);
    fclose(file);
    struct run r = run_once(text);
    free(text);
    assert_int_equal(run_drops(&r), 0);
    double bytes = 0;
    for (uint32_t i = 0; i < r.outcome->flows; i++)
        bytes += (double)r.outcome->flow[i].delivered_bytes;
    run_free(&r);
    return bytes;
}

/// By minimal ways two links carry what the 8 hosts of a pod send: of what they could, 2 x 27.15 / 1.06 of 400G, of
/// which 152 of 160 B are packets. By all ways each pod's 16 links carry everything twice: at most half.
static void the_next_pod(void **state) {
    static const char *const modes[] = {"minimal_adaptive", "fully_adaptive"};
    static const uint32_t from_us[] = {160, 80}; // until then the windows of hosts fill the two links
    double share[2];
    for (uint32_t m = 0; m < 2; m++)
        share[m] = (next_pod_bytes(modes[m], from_us[m] + 80) - next_pod_bytes(modes[m], from_us[m])) * 8 / 80e-6 /
                   (50e9 * 72);
    double minimal = 2 * 27.15 / 1.06 / 400 * 152 / 160;
    if (share[0] > 1.05 * minimal || share[0] < 0.85 * minimal)
        fail_msg("minimal: %.3f, bound %.3f", share[0], minimal);
    if (share[1] > 0.5 || share[1] < 0.4) fail_msg("all ways: %.3f, bound 0.5", share[1]);
}

/// Two hosts of a TiN send to each other as fast as their links are: what a cell takes from an endpoint to the switch
/// is nobody else's time.
static void hosts_of_a_tin_have_their_lines(void **state) {
    const char *text = "topology: {kind: dragonfly, pods: 1, tins: 2, local_ports: 2}\n"
                       "host: {processing: 0ns, cc: none, mtu: %uB}\nswitch: {buffer: {kind: dynamic, total: 64MiB}}\n"
                       "workload:\n  - {kind: flow, src: host-0, dst: host-1, size: 1MB}\n"
                       "  - {kind: flow, src: host-1, dst: host-0, size: 1MB}\n";
    static const uint32_t mtus[] = {1024, 4096};
    for (uint32_t m = 0; m < 2; m++) {
        struct run r = RUN(run_once, text, mtus[m]);
        for (uint32_t i = 0; i < 2; i++) {
            // Frames, and of the other flow acknowledgements of 64 B at most.
            weft_time_ps packets = (1000000 + mtus[m] - 1) / mtus[m], least = 1000000 * HOST_BYTE;
            weft_time_ps most = least + packets * (62 + 20 + 64 + 20) * HOST_BYTE + 3 * WEFT_PS_PER_US;
            if (run_fct(&r, i) < least || run_fct(&r, i) > most)
                fail_msg("%" PRIu32 " B: %" PRIu64 " ps, expected %" PRIu64 " to %" PRIu64, mtus[m], run_fct(&r, i),
                         least, most);
        }
        run_free(&r);
    }
}

/// What cells and solicitation cost: of cells of 160 B a header of 8, 5 %, and RTS and CTS, less than 1 % of packets of
/// 4 KB; of time a round trip, once, however many packets there are: later ones ask while earlier ones are sent.
static void overhead_is_five_percent_and_a_round_trip(void **state) {
    const char *text =
        "topology: {kind: dragonfly, pods: 1, tins: 4, hosts_per_tin: 1, local_parallel: 4, local_ports: 12}\n"
        "host: {processing: 0ns, cc: none}\nswitch: {buffer: {kind: dynamic, total: 64MiB}}\n"
        "workload: [{kind: flow, src: host-0, dst: host-1, size: %uB}]\n";
    struct run one = RUN(run_once, text, 4096), all = RUN(run_once, text, 256 * 4096);
    const struct weft_tin_outcome *o = weft_outcome_tin(all.outcome);
    uint64_t ip = 256 * (4096 + 62 - 18) + 16; // the first is a WRITE's, with 16 B more
    uint64_t acknowledgements = o->rts - 256, cells = o->cells[CELL_data] - acknowledgements; // which are a cell each
    double headers = (double)(cells * WEFT_GNET_DATA_HEAD_BYTES), header = headers / ((double)ip + headers);
    double solicited = (double)((o->cells[0] + o->cells[1] - 2 * acknowledgements) * WEFT_GNET_CELL_MIN) / (double)ip;
    if (fabs(header - 0.05) > 0.003) fail_msg("headers are %.4f of cells", header);
    assert_true(solicited > 0 && solicited < 0.01);
    weft_time_ps frame = (4096 + 62 + 20) * HOST_BYTE, rest = run_fct(&all, 0) - run_fct(&one, 0);
    if (rest < 255 * frame || rest > 255 * frame + WEFT_PS_PER_US)
        fail_msg("255 packets more take %" PRIu64 " ps, their frames %" PRIu64, rest, 255 * frame);
    run_free(&one);
    run_free(&all);
}

/// 11:1 into one host. Once it has begun the host's port sends without a gap; nothing is dropped; what is announced
/// without being asked for is 64 times less than the data, with packets of 1 KB.
static void incast_costs_requests_only(void **state) {
    struct run r = RUN(run_text,
                       SMALL "switch: {buffer: {kind: dynamic, total: 64MiB}}\nhost: {mtu: 1024B}\n"
                             "workload: [{kind: incast, sources: 'host-1..11', dst: host-0, size: 102400B}]\n%s",
                       "");
    assert_nothing_lost(&r);
    weft_time_ps last = 0, frame = (62 + 1024 + 20) * HOST_BYTE;
    for (uint32_t i = 0; i < 11; i++)
        if (run_fct(&r, i) > last) last = run_fct(&r, i);
    weft_time_ps least = 11 * 100 * frame;
    if (last < least || last > least + 3 * WEFT_PS_PER_US)
        fail_msg("last at %" PRIu64 ", expected from %" PRIu64, last, least);
    const struct weft_tin_outcome *o = weft_outcome_tin(r.outcome);
    assert_true(o->rts_bytes_max > 400000);     // what waits, waits at its sources
    assert_true(o->egress_bytes_max <= 128000); // and not behind the port
    assert_true(o->rts_packets_max * (uint64_t)WEFT_GNET_CELL_MIN * 64 <= o->rts_bytes_max);
    assert_true(o->cells[0] >= 11 * 100 && o->cells[0] == o->cells[1]);
    run_free(&r);
}

/// Too much is announced to one port: packets are discarded where they wait, and none crosses the fabric in vain.
static void clear_to_drop_saves_the_fabric(void **state) {
    struct run r = RUN(run_text,
                       SMALL "switch: {buffer: {kind: dynamic, total: 64MiB}}\ntin: {ctd: 100KB}\n"
                             "workload: [{kind: incast, sources: 'host-1..11', dst: host-0, size: 400KB}]\n"
                             "run: {until: 50us}\n%s",
                       "");
    const struct weft_outcome *o = r.outcome;
    assert_true(weft_outcome_tin(o)->ctd > 0);
    assert_int_equal(o->drops[WEFT_DROP_CTD], weft_outcome_tin(o)->ctd);
    assert_true(weft_outcome_tin(o)->rts_bytes_max <= 100000 + 4174);
    assert_int_equal(weft_outcome_tin(o)->cells_lost + weft_outcome_tin(o)->cells_late, 0);
    run_free(&r);
}

/// Small packets of the low-latency level meet bulk that minimal ways cannot carry in other VCs, or in
/// the same. Hosts and ports serve their priority first in both.
static void virtual_channels_isolate(void **state) {
    static const char *const levels[] = {"[5]", "none"};
    weft_time_ps slowest[2] = {0};
    for (uint32_t k = 0; k < 2; k++) {
        struct run r = RUN(run_once,
                           SMALL "switch: {scheduler: strict, buffer: {kind: dynamic, total: 64MiB}}\n"
                                 "host: {scheduler: strict}\nrun: {until: 110us}\n"
                                 "tin: {low_latency: %s, routing: minimal_adaptive}\nworkload:\n"
                                 "  - {kind: flow, src: host-0, dst: host-4, size: 128B, priority: 5, start: 40us, "
                                 "repeat: 10, interval: 5us}\n"
                                 "  - {kind: flow, src: host-0, dst: host-4, size: 10MB}\n"
                                 "  - {kind: flow, src: host-1, dst: host-5, size: 10MB}\n"
                                 "  - {kind: flow, src: host-2, dst: host-6, size: 10MB}\n"
                                 "  - {kind: flow, src: host-3, dst: host-7, size: 10MB}\n",
                           levels[k]);
        assert_int_equal(run_drops(&r), 0);
        for (uint32_t i = 0; i < 10; i++)
            if (run_fct(&r, i) > slowest[k]) slowest[k] = run_fct(&r, i);
        run_free(&r);
    }
    if (!(slowest[0] * 2 < slowest[1]))
        fail_msg("at most %" PRIu64 " ps apart, %" PRIu64 " ps together", slowest[0], slowest[1]);
}

// --- what can go wrong --------------------------------------------------------------------------------------------

/// Everybody sends to everybody with FIFOs and queues of a cell or two: no deadlock, whatever the seed.
static void overload_ends(void **state) {
    for (uint32_t seed = 1; seed <= 4; seed++) {
        static const char *const modes[] = {"fully_adaptive", "minimal_adaptive", "deterministic"};
        struct run r =
            RUN(run_once,
                "topology: {kind: dragonfly, pods: %u, tins: %u, local_ports: 16, global_ports: 8, "
                "global_delay: 50ns, local_parallel: %u}\n"
                "switch: {buffer: {kind: dynamic, total: 64MiB}}\n"
                "tin: {routing: %s, local_fifo: 320B, global_fifo: 640B, output_queue: 160B, reassembly_timeout: 1ms}\n"
                "workload: [{kind: all_to_all, size: 8KB}]\nrun: {seed: %u, stall: 100us}\n",
                2 + seed % 3, 3 + seed % 4, 1 + seed % 2, modes[seed % 3], seed);
        assert_int_equal(r.outcome->end, WEFT_END_DONE);
        assert_nothing_lost(&r);
        run_free(&r);
    }
}

/// A link between pods fails: cells on it are lost, those behind it go other ways at once, all flows complete.
static void a_failed_link_is_gone_around(void **state) {
    struct run r = RUN(run_with_two,
                       SMALL "events: [{at: 10us, link: tin-0->tin-11, state: down}, "
                             "{at: 120us, link: tin-0->tin-11, state: up}]\n"
                             "switch: {buffer: {kind: dynamic, total: 64MiB}}\nhost: {timeout: 200us}\n"
                             "workload: [{kind: permutation, size: 200KB}]\n%s",
                       "");
    run_assert_complete(&r);
    const struct weft_outcome *o = r.outcome;
    assert_int_equal(o->drops[WEFT_DROP_NO_ROUTE], 0);
    assert_true(weft_outcome_tin(o)->packets_lost < 40); // what was on the link or queued for it
    run_free(&r);
}

/// Bit errors: cells are lost, packets given up, sent again, and all is accounted for.
static void bit_errors_are_survived(void **state) {
    struct run r = RUN(run_with_two,
                       "topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 1, global_parallel: 4, "
                       "local_ports: 6, global_ports: 2, bit_error_rate: 2e-7}\n"
                       "switch: {buffer: {kind: dynamic, total: 64MiB}}\nhost: {timeout: 2ms}\n"
                       "tin: {rts_timeout: 1ms}\nworkload: [{kind: permutation, size: 200KB}]\n%s",
                       "");
    run_assert_complete(&r);
    assert_true(weft_outcome_tin(r.outcome)->cells_lost > 0);
    assert_true(weft_outcome_tin(r.outcome)->packets_lost > 0);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_packet_takes_what_its_parts_take),
        cmocka_unit_test(trains_carry_the_same),
        cmocka_unit_test(a_way_takes_what_its_hops_take),
        cmocka_unit_test(a_request_and_its_answer_take_six_half_round_trips),
        cmocka_unit_test(uniform_random_traffic_is_carried),
        cmocka_unit_test(the_next_pod),
        cmocka_unit_test(hosts_of_a_tin_have_their_lines),
        cmocka_unit_test(overhead_is_five_percent_and_a_round_trip),
        cmocka_unit_test(incast_costs_requests_only),
        cmocka_unit_test(clear_to_drop_saves_the_fabric),
        cmocka_unit_test(virtual_channels_isolate),
        cmocka_unit_test(overload_ends),
        cmocka_unit_test(a_failed_link_is_gone_around),
        cmocka_unit_test(bit_errors_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
