// SPDX-License-Identifier: Apache-2.0
// Completion time of a single flow in the empty network, to the picosecond. Frames 1..n cross hops 1..m one after the
// other; with the sizes of IBTA vol. 1 and RoCEv2 annex A17 (62 B of headers, RETH 16 B, AETH 4 B, payload padded to
// words) and IEEE 802.3 (preamble 8 B, gap 12 B):
//   start(k, h)  = max(arrival(k, h), free(h)),  free(h) = start + (bytes + 20) byte times
//   arrival(k, h + 1) = start + (bytes + 8) byte times + link delay + processing              store and forward
//                     = start + 72 byte times + link delay + processing                       cut-through
// A cut-through switch whose output is faster than its input waits for the rest: bytes - 64 byte times of the input.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "ideal.h"
#include "run.h"

// 200G: 40 ps a byte. 10000 B by WRITE: 4096, 4096 and 1808 B, frames of 4174, 4158 and 1870 B.
// The first hop is left at        4194 x 40 = 167760, + 4178 x 40 = 334880, + 1890 x 40 = 410480.
// At the switch 480 ps (the gap) less, 150 ns of link and 300 ns of processing more: 617280, 784400, 860000.
// The second hop is left at       617280 + 167760 = 785040, + 167120 = 952160, + 75600 = 1027760 (it never idles),
// and the last bit is there       1027760 - 480 + 150000 = 1177280 ps after the start.
static void write_through_one_switch(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n"
                            "switch: {processing: 300ns}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 10000B, start: 5us}]\n");
    form_assert("Completion of a flow alone, to the picosecond", (double)run_fct(&r, 0), (double)(1177280), 0);
    assert_int_equal(r.outcome->flow[0].ideal_ps, 1177280);
    // The ACK of the last packet, 66 B, back over two empty hops: 2 x (74 x 40 + 150000) + 300000.
    assert_int_equal(r.outcome->flow[0].acked_ps - 5000000, 1177280 + 2 * (74 * 40 + 150000) + 300000);
    run_free(&r);
}

// SEND has no RETH: frames of 4158, 4158 and 1870 B. First hop 167120, 334240, 409840; at the switch 616640, 783760,
// 859360; second hop 616640 + 167120 = 783760, 950880, 1026480; - 480 + 150000 = 1176000.
static void send_through_one_switch(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n"
                            "switch: {processing: 300ns}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 10000B, verb: send}]\n");
    form_assert("Completion of a flow alone, to the picosecond", (double)run_fct(&r, 0), (double)(1176000), 0);
    run_free(&r);
}

// READ: the request (78 B) needs 2 x ((78 + 8) x 40 + 150000) + 300000 = 606880 ps, and a host 25 ns to react. The
// responses have an AETH on the first and the last: 4162, 4158, 1874.
// First hop 167280, 334400, 410160; at the switch 616800, 783920, 859680; second hop 784080, 951200, 1026960;
// - 480 + 150000 = 1176480, and 25 ns of the host.
static void read_through_one_switch(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n"
                            "switch: {processing: 300ns}\n"
                            "host: {processing: 25ns}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 10000B, verb: read}]\n");
    form_assert("Completion of a flow alone, to the picosecond", (double)run_fct(&r, 0),
                (double)(606880 + 25000 + 1176480 + 25000), 0);
    assert_int_equal(r.outcome->flow[0].ideal_ps, 606880 + 25000 + 1176480 + 25000);
    run_free(&r);
}

// Cut-through at 100G, 80 ps a byte: every hop but the last costs 72 x 80 + 150000 + 300000, the last one
// (4174 + 8) x 80 + 150000 for the first frame; the rest follow at line rate: (4178 + 1890) x 80, less 8 x 80 + 12 x 80
// counted twice, so in one line: hops before + (4194 + 4178 + 1890 - 12) x 80 + 150000.
static void cut_through_in_a_clos(void **state) {
    struct run r = run_text("topology: {kind: clos3, pods: 2, access_per_pod: 2, aggregation_per_pod: 2, core: 2, "
                            "hosts_per_access: 2, rate: 100Gbps, delay: 150ns}\n"
                            "switch: {processing: 300ns, forwarding: cut_through}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-7, size: 10000B}]\n");
    uint64_t before = 5 * (72 * 80 + 150000 + 300000);
    form_assert("Completion of a flow alone, to the picosecond", (double)run_fct(&r, 0),
                (double)(before + (4194 + 4178 + 1890 - 12) * 80 + 150000), 0);
    run_free(&r);
}

// Store and forward over the same six hops: every hop but the last costs (4174 + 8) x 80 + 450000 for the first frame,
// which is the longest, so no later hop idles.
static void store_and_forward_in_a_clos(void **state) {
    struct run r = run_text("topology: {kind: clos3, pods: 2, access_per_pod: 2, aggregation_per_pod: 2, core: 2, "
                            "hosts_per_access: 2, rate: 100Gbps, delay: 150ns}\n"
                            "switch: {processing: 300ns}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-7, size: 10000B}]\n");
    uint64_t before = 5 * ((4174 + 8) * 80 + 150000 + 300000);
    form_assert("Completion of a flow alone, to the picosecond", (double)run_fct(&r, 0),
                (double)(before + (4194 + 4178 + 1890 - 12) * 80 + 150000), 0);
    run_free(&r);
}

// Hops of 400G, 100G and 200G (20, 80, 40 ps a byte), 1 us each, no processing. The second one is the bottleneck and
// never idles; the third one idles between the long frames, but the short one has to wait there.
//   frames 4174, 4158, 1870; the first is at s0 after 4182 x 20 + 1000000 = 1083640
//   the second frame leaves s0 at 1083640 + (4194 + 4178) x 80 = 1753400, is at s1 at - 960 + 1000000 = 2752440 and
//   leaves it at + 4178 x 40 = 2919560; the third is at s1 at 1753400 + 1890 x 80 - 960 + 1000000 = 2903640, waits,
//   and is at h1 1878 x 40 + 1000000 after 2919560: 3994680
static void rates_that_differ(void **state) {
    struct run r = run_text("topology:\n"
                            "  kind: list\n"
                            "  nodes: [{name: h0, role: host}, {name: s0, role: switch}, {name: s1, role: switch}, "
                            "{name: h1, role: host}]\n"
                            "  links: [{from: h0, to: s0, rate: 400Gbps, delay: 1us}, "
                            "{from: s0, to: s1, rate: 100Gbps, delay: 1us}, "
                            "{from: s1, to: h1, rate: 200Gbps, delay: 1us}]\n"
                            "switch: {processing: 0ns}\n"
                            "workload: [{kind: flow, src: h0, dst: h1, size: 10000B}]\n");
    form_assert("Completion of a flow alone, to the picosecond", (double)run_fct(&r, 0), (double)(3994680), 0);
    assert_int_equal(r.outcome->flow[0].ideal_ps, 3994680);
    run_free(&r);
}

// 106.25G: a byte is 8000 / 106.25 = 75.294.. ps = 1280 / 17. Frames of a train carry the remainder, so the train of
// 4194 + 4178 + 1890 = 10262 B leaves the host floor(10262 x 1280 / 17) = 772668 ps (.23 carried) after it began.
//   ends of frames: floor(4194 x 1280 / 17) = 315783 (.53), floor(8372 x 1280 / 17) = 630362 (.35), 772668 (.23)
//   a gap is floor(12 x 1280 / 17) = 903; at the switch 450 ns later: 764880, 1079459, 1221765
//   second hop: 764880 + 315783 (.53) = 1080663; + (4178 x 1280 + 9) / 17 = 1395242 (.35); + 142306 = 1537548
//   - 903 + 150000 = 1686645
static void no_whole_picoseconds_a_byte(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 106.25Gbps, delay: 150ns}\n"
                            "switch: {processing: 300ns}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 10000B}]\n");
    form_assert("Completion of a flow alone, to the picosecond", (double)run_fct(&r, 0), (double)(1686645), 0);
    run_free(&r);
}

// 3.2T is 2.5 ps a byte. 1 MB in 4096 B: 244 full packets and one of 576 B; frames of 638 B are last. The wire bytes
// are 16 + 244 x 4178 + 658 = 1020106, 2550265 ps whole. A first frame through the switch: 4182 x 2.5 + 450000 =
// 460455.
// + 2550265 - 30 + 150000.
static void three_terabit(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 3.2Tbps, delay: 150ns}\n"
                            "switch: {processing: 300ns}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 1000000B}]\n");
    form_assert("Completion of a flow alone, to the picosecond", (double)run_fct(&r, 0),
                (double)(460455 + 2550265 - 30 + 150000), 0);
    run_free(&r);
}

// --- many paths, frame by frame -----------------------------------------------------------------------------------

struct hop {
    uint64_t rate, delay, processing;
    bool cut_through; ///< the node behind it
    uint64_t free, remainder;
};

static uint64_t time_of(uint64_t bytes, uint64_t rate) {
    return (uint64_t)((unsigned __int128)bytes * 8 * WEFT_PS_PER_S / rate);
}

/// Sends one frame over all hops; returns its arrival.
static uint64_t cross(struct hop *hop, uint32_t hops, uint64_t arrival, uint64_t bytes) {
    for (uint32_t i = 0; i < hops; i++) {
        struct hop *h = &hop[i];
        uint64_t start = arrival > h->free ? arrival : h->free;
        if (start != h->free) h->remainder = 0;
        unsigned __int128 num = (unsigned __int128)(bytes + 20) * 8 * WEFT_PS_PER_S + h->remainder;
        h->free = start + (uint64_t)(num / h->rate);
        h->remainder = (uint64_t)(num % h->rate);
        arrival = h->free - time_of(12, h->rate) + h->delay + h->processing;
        if (h->cut_through && bytes > 64) {
            arrival = start + time_of(72, h->rate) + h->delay + h->processing;
            if (hop[i + 1].rate > h->rate || hop[i + 1].free > arrival + time_of(12, hop[i + 1].rate))
                arrival += time_of(bytes - 64, h->rate);
        }
    }
    return arrival;
}

static uint64_t frame_bytes(uint64_t size, uint64_t mtu, const char *verb, uint64_t k, uint64_t n) {
    uint64_t payload = k + 1 < n ? mtu : size - (n - 1) * mtu, bytes = 62 + (payload + 3) / 4 * 4;
    if (!strcmp(verb, "write") && k == 0) bytes += 16;
    if (!strcmp(verb, "read") && (k == 0 || k + 1 == n)) bytes += 4;
    return bytes > 64 ? bytes : 64;
}

static uint64_t draw(struct weft_random *random, uint64_t n) {
    return weft_random_u64(random) % n;
}

enum { SWITCHES_MAX = 5 };

static void any_path(struct weft_random *random, bool whole) {
    static const char *const rate_names[] = {"1Gbps",   "10Gbps",  "25Gbps",  "100Gbps",    "200Gbps",
                                             "400Gbps", "1.6Tbps", "3.2Tbps", "106.25Gbps", "123456789kbps",
                                             "10Mbps",  "8T",      "7.2T",    "33.333T",    "100Tbps"};
    static const uint64_t rates[] = {1000000000,   10000000000,   25000000000,   100000000000,   200000000000,
                                     400000000000, 1600000000000, 3200000000000, 106250000000,   123456789000,
                                     10000000,     8000000000000, 7200000000000, 33333000000000, 100000000000000};
    static const char *const verbs[] = {"write", "send", "read"};
    uint32_t switches = 1 + (uint32_t)draw(random, SWITCHES_MAX), hops = switches + 1;
    uint64_t mtu = 64 + draw(random, 4033), size = 1 + draw(random, draw(random, 2) ? 40 * mtu : 2 * mtu);
    const char *verb = verbs[draw(random, 3)];
    struct hop forth[SWITCHES_MAX + 1] = {0}, back[SWITCHES_MAX + 1] = {0};
    uint64_t host_processing = draw(random, 2) * draw(random, 100000);
    char nodes[1024] = "", links[2048] = "", devices[2048] = "";
    for (uint32_t i = 0; i < hops; i++) {
        uint64_t k = draw(random, whole ? 7 : sizeof rates / sizeof *rates), delay = 1000 + draw(random, 2000000);
        forth[i] = (struct hop){.rate = rates[k], .delay = delay, .processing = host_processing};
        char from[8] = "src", to[8] = "dst";
        if (i) snprintf(from, sizeof from, "s%u", i - 1);
        if (i < switches) snprintf(to, sizeof to, "s%u", i);
        sprintf(links + strlen(links), "{from: %s, to: %s, rate: %s, delay: %" PRIu64 "ps}, ", from, to, rate_names[k],
                delay);
        if (i == switches) break;
        forth[i].processing = draw(random, 500000);
        forth[i].cut_through = draw(random, 2);
        sprintf(nodes + strlen(nodes), "{name: s%u, role: switch}, ", i);
        sprintf(devices + strlen(devices), "{match: s%u, switch: {processing: %" PRIu64 "ps, forwarding: %s}}, ", i,
                forth[i].processing, forth[i].cut_through ? "cut_through" : "store_and_forward");
    }
    for (uint32_t i = 0; i < hops; i++) { // towards the other end, the node behind a hop is another one
        back[i] = forth[switches - i];
        bool last = i == switches;
        back[i].processing = last ? host_processing : forth[switches - i - 1].processing;
        back[i].cut_through = last ? false : forth[switches - i - 1].cut_through;
    }
    uint64_t start = draw(random, 1000000), now = start, end = 0;
    uint64_t qps = strcmp(verb, "read") ? 1 + draw(random, 4) : 1; // served in turn
    if (qps > size) qps = size;
    if (!strcmp(verb, "read")) now = cross(back, hops, now, 78);
    // The first one has sent a frame before the others start, at the same instant.
    uint64_t sent[4] = {0};
    for (uint64_t turn = 0, left = qps; left; turn++) {
        uint64_t q = turn ? (turn - 1) % qps : 0, own = size / qps + (q < size % qps), n = (own + mtu - 1) / mtu;
        if (sent[q] == n) continue;
        uint64_t arrival = cross(forth, hops, now, frame_bytes(own, mtu, verb, sent[q], n));
        if (arrival > end) end = arrival;
        left -= ++sent[q] == n;
    }

    struct run r = RUN(run_once,
                       "topology: {kind: list, nodes: [%s{name: src, role: host}, {name: dst, role: host}], links: "
                       "[%s]}\ndevices: [%s]\nhost: {mtu: %" PRIu64 "B, processing: %" PRIu64 "ps}\n"
                       "workload: [{kind: flow, src: src, dst: dst, size: %" PRIu64 "B, verb: %s, qps: %" PRIu64
                       ", start: %" PRIu64 "ps}]\n",
                       nodes, links, devices, mtu, host_processing, size, verb, qps, start);
    run_assert_complete(&r);
    uint64_t ideal = calc_ideal_fct(r.scenario, r.topology, &r.workload->flow[0]);
    if (run_fct(&r, 0) != end - start || ideal != r.outcome->flow[0].ideal_ps)
        fail_msg("%s %" PRIu64 " B in %" PRIu64 " B: %" PRIu64 " ps, expected %" PRIu64 "\n%s\n%s", verb, size, mtu,
                 run_fct(&r, 0), end - start, links, devices);
    if (ideal != end - start)
        fail_msg("%s %" PRIu64 " B in %" PRIu64 " B, %" PRIu64 " qps: ideal %" PRIu64 " ps, expected %" PRIu64
                 "\n%s\n%s",
                 verb, size, mtu, qps, ideal, end - start, links, devices);
    run_free(&r);
}

static void paths_of_whole_picoseconds(void **state) {
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_WORKLOAD);
    for (int i = 0; i < 400; i++)
        any_path(&random, true);
}

static void paths_of_any_rate(void **state) {
    struct weft_random random = weft_random_stream(2, 0, WEFT_RANDOM_WORKLOAD);
    for (int i = 0; i < 400; i++)
        any_path(&random, false);
}

// Two links of 100G and 400G join two switches; ECMP sends a flow over one of them. Its ideal time is that of the link
// that it has, so a flow alone has slowdown 1 over either.
static void the_path_that_it_has(void **state) {
    bool slow = false, fast = false;
    for (unsigned seed = 1; seed <= 16; seed++) {
        struct run r =
            RUN(run_once,
                "topology: {kind: list, parallel: true, nodes: [{name: a, role: host}, {name: b, role: host}, "
                "{name: s, role: switch}, {name: t, role: switch}], links: [{from: a, to: s, rate: 400Gbps, "
                "delay: 1us}, {from: s, to: t, rate: 100Gbps, delay: 1us}, {from: s, to: t, rate: 400Gbps, "
                "delay: 1us}, {from: t, to: b, rate: 400Gbps, delay: 1us}]}\n"
                "workload: [{kind: flow, src: a, dst: b, size: 40KB}]\nrun: {seed: %u}\n",
                seed);
        assert_int_equal(r.outcome->flow[0].end_ps, r.outcome->flow[0].ideal_ps);
        // 40 KB and headers take 3.3 us at 100G, 0.8 us at 400G; the way takes 3.6 us and a little.
        slow |= r.outcome->flow[0].end_ps > 6 * WEFT_PS_PER_US;
        fast |= r.outcome->flow[0].end_ps < 5 * WEFT_PS_PER_US;
        run_free(&r);
    }
    assert_true(slow && fast);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_through_one_switch),    cmocka_unit_test(send_through_one_switch),
        cmocka_unit_test(read_through_one_switch),     cmocka_unit_test(cut_through_in_a_clos),
        cmocka_unit_test(store_and_forward_in_a_clos), cmocka_unit_test(rates_that_differ),
        cmocka_unit_test(no_whole_picoseconds_a_byte), cmocka_unit_test(three_terabit),
        cmocka_unit_test(paths_of_whole_picoseconds),  cmocka_unit_test(paths_of_any_rate),
        cmocka_unit_test(the_path_that_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
