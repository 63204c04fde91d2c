// SPDX-License-Identifier: Apache-2.0
// The presets that make weft count as other simulators do (docs/peers.md), against times worked out by hand.
//
// ns3_hpcc: a data packet is payload + 48 B, an ACK 60 B; neither preamble nor gap; a frame takes bytes x 8 / rate,
// rounded down to whole ns; switches store and forward without a delay of their own; a flow is complete when its last
// ACK is at the sender (alibaba-edu/High-Precision-Congestion-Control, qbb-net-device.cc and rdma-hw.cc).
//
// htsim: a data packet is payload + 64 B, an ACK 64 B; whole ps per byte; a switch adds its latency between the last
// bit in and its queue; pauses by packets; complete with the last ACK (Broadcom/csg-htsim, roce.cpp,
// fat_tree_switch.cpp).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "run.h"
#include "weft/buffer.h"
#include "weft/param_load.h"
#include "weft/random.h"
#include "weft/transport.h"

#define HTSIM "host: {preset: htsim}\nswitch: {preset: htsim, processing: 500ns}\n"
#define PRESETS "host: {preset: ns3_hpcc}\nswitch: {preset: ns3_hpcc}\n"

// 200G: 4144 B take 165.76, so 165 ns; 60 B take 2.4, so 2 ns. 165 + 150 + 165 + 150 + 2 + 150 + 2 + 150 = 934 ns.
static void one_packet(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n" PRESETS
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 4096B, start: 5us}]\n");
    form_assert("Flows as in ns-3 with HPCC, to the nanosecond", (double)(r.outcome->flow[0].acked_ps - 5000000),
                934000, 0);
    assert_int_equal(run_fct(&r, 0), 630000);
    assert_int_equal(r.outcome->flow[0].ideal_ps, 630000);
    run_free(&r);
}

// 10000 B are packets of 4144, 4144 and 1856 B: 165, 165 and 74 ns (74.24). The first hop is left at 165, 330, 404;
// at the switch 150 ns later, and on the second hop the first leaves at 480, so the others at 645 and 719, and the last
// is there at 869; its ACK after 2 x 152 ns more.
static void several_packets(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n" PRESETS
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 10000B}]\n");
    assert_int_equal(run_fct(&r, 0), 869000);
    assert_int_equal(r.outcome->flow[0].ideal_ps, 869000);
    form_assert("Flows as in ns-3 with HPCC, to the nanosecond", (double)r.outcome->flow[0].acked_ps, 1173000, 0);
    run_free(&r);
}

// The user's own value overrides the preset's, in a section and in a model beside others.
static void own_values_hold(void **state) {
    struct run r = run_once("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n"
                            "host: {preset: ns3_hpcc, ack_frame: 100B, nak_interval: 1us, wire: {pause_frame: 64B}}\n"
                            "switch: {preset: ns3_hpcc, processing: 10ns, aqm: {min: 7KB}}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 4096B}]\n");
    // 100 B take 4 ns.
    assert_int_equal(r.outcome->flow[0].acked_ps, (165 + 150 + 10 + 165 + 150 + 4 + 150 + 10 + 4 + 150) * 1000);
    run_free(&r);
}

// Without a preset a wire of one's own is exact: 4096 + 48 B at 200G take 165.76 ns, and 8 B more 166.08.
static void exact_without_gap(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n"
                            "host: {data_header: 48B, wire: {overhead: 8B}}\n"
                            "switch: {processing: 0ns, wire: {overhead: 8B}}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 4096B}]\n");
    assert_int_equal(run_fct(&r, 0), 2 * (166080 + 150000));
    assert_int_equal(r.outcome->flow[0].ideal_ps, 2 * (166080 + 150000));
    run_free(&r);
}

// Four hosts send to a fifth, with marks from the first byte left behind: no CNP goes out, and each mark comes back to
// its sender on the ACK. A pause lasts until it is ended: its frame says 100 quanta (256 ns), and none is sent again.
static void echo_and_pause(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 5, rate: 200Gbps, delay: 150ns}\n"
                            "host: {preset: ns3_hpcc}\n"
                            "switch: {preset: ns3_hpcc, aqm: {min: 0B, max: 1B}, pfc: {quanta: 100},\n"
                            "         buffer: {kind: static, xoff: 20KB, xon: 10KB}}\n"
                            "workload: [{kind: incast, sources: '*', dst: host-4, size: 400KB}]\n");
    uint64_t echoes = 0;
    for (uint32_t i = 0; i < r.outcome->flows; i++) {
        run_fct(&r, i);
        echoes += r.outcome->flow[i].cnps;
    }
    assert_int_equal(r.outcome->cnps, 0);
    assert_true(echoes > 0);
    assert_int_equal(echoes, run_counters(&r, "switch-0->host-4", 3)->ecn_marked);
    const struct weft_counters *port = run_counters(&r, "switch-0->host-0", 3);
    assert_true(port->pfc_tx_xoff > 0);
    assert_int_equal(port->pfc_tx_xoff, port->pfc_tx_xon);
    // It waits longer than the quanta would have it.
    assert_true(run_counters(&r, "host-0->switch-0", 3)->paused_ps > port->pfc_tx_xoff * 256000);
    run_free(&r);
}

// ECN marks what leaves bytes behind. host-1 has 100G, so packet 2 (331 ns each there) leaves packet 3 behind at 646
// ns, is there at 1127, and its ACK (4 and 2 ns) back at 1433: the rate falls to a tenth. Packet 9 went at 1320, packet
// 10 goes at 1485, and at the new rate packets are 1657 ns apart: 11 at 3142, and 12 is due at 4799. More marks come
// back, so that at 4433 the rate is cut by half. In the simulator packet 12 keeps its time; else what is left, 366 ns,
// takes twice as long, and it goes at 5165. It is there 165 + 150 + 331 + 150 ns later.
static void pace_after_a_cut(void **state) {
    static const struct {
        const char *pace;
        weft_time_ps end_ps;
    } cases[] = {{"", 4799000 + 796000}, {"pace_change: at_once, ", 5165000 + 796000}};
    for (unsigned i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "topology:\n  kind: list\n"
                 "  nodes: [{name: host-0, role: host}, {name: host-1, role: host}, {name: s, role: switch}]\n"
                 "  links: [{from: host-0, to: s, rate: 200Gbps, delay: 150ns},\n"
                 "          {from: host-1, to: s, rate: 100Gbps, delay: 150ns}]\n"
                 "host: {preset: ns3_hpcc, %scc: {rate_on_first_cnp: 1/10, cut_interval: 3us, alpha_interval: 1s}}\n"
                 "switch: {preset: ns3_hpcc, aqm: {min: 0B, max: 1B}}\n"
                 "workload: [{kind: flow, src: host-0, dst: host-1, size: 49152B}]\n",
                 cases[i].pace);
        struct run r = run_once(text);
        assert_int_equal(run_fct(&r, 0), cases[i].end_ps);
        run_free(&r);
    }
}

/// A receiver of a host with these keys.
struct receiver {
    const struct weft_transport_ops *ops;
    struct weft_transport_fact fact;
    struct weft_qp_conf qp;
    struct weft_qp_receiver end;
};

static void receiver_init(struct receiver *r, const char *host, struct weft_arena *arena) {
    struct weft_tree *tree = NULL;
    struct weft_error error = {0};
    struct weft_host_conf *conf = weft_arena_alloc(arena, 1, sizeof *conf);
    assert_int_equal(weft_tree_parse("h.yaml", host, strlen(host), arena, &tree, &error), WEFT_OK);
    if (weft_params_load(&weft_host_table, tree, conf, arena, &error)) fail_msg("%s", error.text);
    *r = (struct receiver){.ops = conf->transport.model->ops,
                           .qp = {.packets = 100, .mtu = 4096, .priority = 3},
                           .fact = {.conf = conf->transport.conf}};
    r->fact.qp = &r->qp;
    r->fact.state = weft_arena_alloc(arena, 1, r->ops->receiver_size(conf->transport.conf, &r->qp) + 1);
}

/// What it answers to a packet, marked or not.
static struct weft_transport_reply receive(struct receiver *r, weft_time_ps now, uint32_t psn, bool marked) {
    struct weft_transport_receipt receipt = {0};
    struct weft_packet p = {
        .psn = psn, .kind = WEFT_PACKET_DATA, .priority = 3, .ecn = marked ? WEFT_ECN_CE : WEFT_ECN_ECT0};
    r->fact.now_ps = now;
    r->ops->on_data(&r->end, &r->fact, &p, &receipt);
    return receipt.reply;
}

// ReceiverCheckSeq of rdma-hw.cc: a gap is answered by a NAK, and again when 500 us have passed, or at once if the
// missing packet is another one.
static void naks_again_after_500us(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct receiver r;
    receiver_init(&r, "{preset: ns3_hpcc}", arena);
    assert_int_equal(receive(&r, 1000000, 0, false).kind, WEFT_PACKET_ACK);
    assert_int_equal(receive(&r, 2000000, 2, false).kind, WEFT_PACKET_NAK);
    assert_int_equal(receive(&r, 2000000 + 499999999, 3, false).kind, 0);
    struct weft_transport_reply again = receive(&r, 2000000 + 500000000, 4, false);
    assert_int_equal(again.kind, WEFT_PACKET_NAK);
    assert_int_equal(again.psn, 1);
    assert_int_equal(receive(&r, 2000000 + 999999999, 5, false).kind, 0);
    assert_int_equal(receive(&r, 1003000000, 1, false).kind, WEFT_PACKET_ACK);
    assert_int_equal(receive(&r, 1003001000, 3, false).kind, WEFT_PACKET_NAK);
    receiver_init(&r, "{preset: ns3_hpcc, nak_interval: never}", arena);
    assert_int_equal(receive(&r, 2000000, 2, false).kind, WEFT_PACKET_NAK);
    assert_int_equal(receive(&r, 2000000 + 500000000, 4, false).kind, 0);
    weft_arena_free(arena);
}

// There, a duplicate generates nothing, and what generates nothing takes its mark with it.
static void duplicates_are_not_acknowledged(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct receiver r;
    receiver_init(&r, "{preset: ns3_hpcc}", arena);
    assert_true(receive(&r, 1000, 0, true).echo);
    assert_int_equal(receive(&r, 2000, 0, true).kind, 0);
    struct weft_transport_reply next = receive(&r, 3000, 1, false);
    assert_int_equal(next.kind, WEFT_PACKET_ACK);
    assert_false(next.echo);
    assert_true(receive(&r, 4000, 3, true).echo); // of the NAK
    assert_int_equal(receive(&r, 5000, 4, true).kind, 0);
    assert_false(receive(&r, 6000, 2, false).echo);
    static const char *const others[] = {"{preset: ns3_hpcc, duplicates: acknowledge}",
                                         "{preset: ns3_hpcc, timeout: 1ms}", "{}"};
    for (unsigned i = 0; i < 3; i++) {
        receiver_init(&r, others[i], arena);
        receive(&r, 1000, 0, false);
        struct weft_transport_reply again = receive(&r, 2000, 0, false);
        assert_int_equal(again.kind, WEFT_PACKET_ACK);
        assert_int_equal(again.psn, 1);
    }
    weft_arena_free(arena);
}

static struct weft_switch_conf switch_of(const char *text, struct weft_arena *arena) {
    struct weft_tree *tree = NULL;
    struct weft_error error = {0};
    struct weft_switch_conf conf = {0};
    assert_int_equal(weft_tree_parse("s.yaml", text, strlen(text), arena, &tree, &error), WEFT_OK);
    if (weft_params_load(&weft_switch_table, tree, &conf, arena, &error)) fail_msg("%s", error.text);
    return conf;
}

// 20 packets of 1000 B fit the shared pool, alpha 1: after the tenth, one port has 10000 B, and as many are free. There
// it is told to pause, as it has reached its threshold; else by the packet after that.
static void pauses_at_the_threshold(void **state) {
    static const struct {
        const char *text;
        uint32_t packets;
    } cases[] = {{"xoff_at: reached", 10}, {"xoff_at: above", 11}};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    for (unsigned i = 0; i < 2; i++) {
        char text[256];
        snprintf(
            text, sizeof text,
            "{preset: ns3_hpcc, buffer: {total: 30KB, reserve: 0B, headroom: 10KB, link_headroom: 0, alpha: 1, %s}}",
            cases[i].text);
        struct weft_tree *tree = NULL;
        struct weft_error error = {0};
        struct weft_switch_conf conf = {0};
        assert_int_equal(weft_tree_parse("s.yaml", text, strlen(text), arena, &tree, &error), WEFT_OK);
        if (weft_params_load(&weft_switch_table, tree, &conf, arena, &error)) fail_msg("%s", error.text);
        const struct weft_buffer_ops *ops = conf.buffer.model->ops;
        void *s = weft_arena_alloc(arena, 1, ops->state_size(conf.buffer.conf, 1));
        ops->init(s, conf.buffer.conf, 1, 1 << 3);
        uint32_t packets = 1;
        while (ops->admit(s, conf.buffer.conf, 0, WEFT_NONE, 3, 1000) != WEFT_BUFFER_XOFF)
            packets++;
        assert_int_equal(packets, cases[i].packets);
    }
    weft_arena_free(arena);
}

// Accounting of switch-mmu.cc, for one priority: what is free of total - ports x 4096 - headroom, shifted right by 3,
// or by less at faster ports, is what a port may hold beyond 4096 B; what comes above it goes to the headroom.
enum { PORTS = 5, RESERVE = 4096, XON_OFFSET = 3072 };
struct mmu {
    int64_t ingress[PORTS], headroom_used[PORTS], headroom[PORTS], shared_used, total;
    unsigned shift[PORTS];
};
static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static int64_t mmu_threshold(const struct mmu *m, uint32_t port) {
    int64_t free_bytes = m->total - PORTS * RESERVE - m->shared_used;
    for (uint32_t k = 0; k < PORTS; k++)
        free_bytes -= m->headroom[k];
    return free_bytes >> m->shift[port];
}
static int64_t mmu_shared(const struct mmu *m, uint32_t port) {
    return m->ingress[port] > RESERVE ? m->ingress[port] - RESERVE : 0;
}
static enum weft_buffer_answer mmu_admit(struct mmu *m, uint32_t port, int64_t bytes) {
    int64_t beyond = m->ingress[port] + bytes - RESERVE;
    if (beyond > 0 && beyond > mmu_threshold(m, port)) {
        if (m->headroom_used[port] + bytes > m->headroom[port]) return WEFT_BUFFER_DROP;
        m->headroom_used[port] += bytes;
    } else {
        m->ingress[port] += bytes;
        if (beyond > 0) m->shared_used += least(bytes, beyond);
    }
    bool xoff = m->headroom_used[port] || mmu_shared(m, port) >= mmu_threshold(m, port);
    return xoff ? WEFT_BUFFER_XOFF : WEFT_BUFFER_OK;
}
static bool mmu_release(struct mmu *m, uint32_t port, int64_t bytes) {
    int64_t from_headroom = least(m->headroom_used[port], bytes);
    m->shared_used -= least(bytes - from_headroom, mmu_shared(m, port));
    m->headroom_used[port] -= from_headroom;
    m->ingress[port] -= bytes - from_headroom;
    int64_t shared = mmu_shared(m, port);
    return !m->headroom_used[port] && (!shared || shared + XON_OFFSET <= mmu_threshold(m, port));
}

// Hosts at 200G and 150 ns: a headroom of 3 x 3750 B, and 16 KiB of one's own. A port of 400G has twice the first part
// and alpha, one of 1.6T eight times, and alpha 1.
static void buffer_as_in_the_simulator(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    static const char text[] = "{preset: ns3_hpcc, buffer: {total: 400KB, headroom: 16KiB}}";
    struct weft_switch_conf conf = switch_of(text, arena);
    const struct weft_buffer_ops *ops = conf.buffer.model->ops;
    void *s = weft_arena_alloc(arena, 1, ops->state_size(conf.buffer.conf, PORTS));
    ops->init(s, conf.buffer.conf, PORTS, 1 << 3);
    struct mmu m = {.total = 400000};
    static const unsigned faster[PORTS] = {1, 1, 1, 2, 8}, shift[PORTS] = {3, 3, 3, 2, 0};
    for (uint32_t k = 0; k < PORTS; k++) {
        struct weft_buffer_port link = {faster[k] * UINT64_C(200000000000), UINT64_C(200000000000), 150000};
        ops->set_port(s, conf.buffer.conf, k, &link);
        m.headroom[k] = 16384 + 11250 * (int64_t)faster[k];
        m.shift[k] = shift[k];
    }
    static uint32_t held[PORTS][1000], n[PORTS];
    unsigned answers[4] = {0};
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_ECN);
    for (uint32_t step = 0; step < 100000; step++) {
        uint32_t port = (uint32_t)(weft_random_u64(&random) % PORTS);
        if (step / 100 % 2 && n[port]) {
            uint32_t bytes = held[port][--n[port]];
            bool xon = ops->release(s, conf.buffer.conf, port, WEFT_NONE, 3, bytes) == WEFT_BUFFER_XON;
            assert_int_equal(xon, mmu_release(&m, port, bytes));
            answers[WEFT_BUFFER_XON] += xon;
        } else if (n[port] < 1000) {
            uint32_t bytes = weft_random_u64(&random) % 2 ? 4144 : 60;
            enum weft_buffer_answer answer = ops->admit(s, conf.buffer.conf, port, WEFT_NONE, 3, bytes);
            assert_int_equal(answer, mmu_admit(&m, port, bytes));
            if (answer != WEFT_BUFFER_DROP) held[port][n[port]++] = bytes;
            answers[answer]++;
        }
        assert_null(ops->check(s, conf.buffer.conf));
    }
    for (unsigned i = 0; i < 4; i++)
        assert_true(answers[i] > 100);
    weft_arena_free(arena);
}

// Which of four spines (switch-6 to switch-9) the packets of host-0 take from switch-4 to host-3 behind switch-5, and
// their ACKs back, k = 0 to 7. Worked out by another implementation of MurmurHash3 (x86, 32 bits), which gives 149bbb7f
// for "hello, world" and seed 0: of 0b000001, 0b000301 and 10000 + k | 100 << 16 with seed 4, modulo 4, next hops 9, 8,
// 7, 6; and of 0b000301, 0b000001 and 100 | 10000 + k << 16 with seed 5.
static void paths_as_in_the_simulator(void **state) {
    static const unsigned data[8] = {9, 9, 9, 7, 8, 7, 9, 9}, acks[8] = {7, 9, 9, 7, 6, 8, 9, 6};
    struct run r =
        run_text("topology:\n  kind: list\n"
                 "  nodes: [{name: host-0, role: host}, {name: host-3, role: host}, {name: switch-4, role: switch},\n"
                 "    {name: switch-5, role: switch}, {name: switch-6, role: switch}, {name: switch-7, role: switch},\n"
                 "    {name: switch-8, role: switch}, {name: switch-9, role: switch}]\n"
                 "  links: [{from: host-0, to: switch-4, rate: 200Gbps, delay: 150ns},\n"
                 "    {from: host-3, to: switch-5, rate: 200Gbps, delay: 150ns},\n"
                 "    {from: switch-4, to: switch-6, rate: 200Gbps, delay: 150ns},\n"
                 "    {from: switch-4, to: switch-7, rate: 200Gbps, delay: 150ns},\n"
                 "    {from: switch-4, to: switch-8, rate: 200Gbps, delay: 150ns},\n"
                 "    {from: switch-4, to: switch-9, rate: 200Gbps, delay: 150ns},\n"
                 "    {from: switch-5, to: switch-6, rate: 200Gbps, delay: 150ns},\n"
                 "    {from: switch-5, to: switch-7, rate: 200Gbps, delay: 150ns},\n"
                 "    {from: switch-5, to: switch-8, rate: 200Gbps, delay: 150ns},\n"
                 "    {from: switch-5, to: switch-9, rate: 200Gbps, delay: 150ns}]\n" PRESETS
                 "workload: [{kind: flow, src: host-0, dst: host-3, size: 8B, qps: 8}]\n");
    for (unsigned spine = 6; spine < 10; spine++) {
        unsigned there = 0, back = 0;
        for (unsigned k = 0; k < 8; k++) {
            there += data[k] == spine;
            back += acks[k] == spine;
        }
        char port[40];
        snprintf(port, sizeof port, "switch-4->switch-%u", spine);
        assert_int_equal(run_counters(&r, port, 3)->tx_packets, there);
        snprintf(port, sizeof port, "switch-5->switch-%u", spine);
        assert_int_equal(run_counters(&r, port, 3)->tx_packets, back);
    }
    // `weft topo` and the ideal time know the same paths.
    uint64_t paths;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_path *path = weft_paths_trace(r.scenario, r.topology, r.workload, arena, &paths);
    assert_int_equal(paths, 8);
    for (unsigned k = 0; k < 8; k++) {
        char port[128];
        weft_topology_port_name(r.topology, path[k].port[2], port, sizeof port);
        assert_int_equal(port[strlen("switch-")], '0' + data[k]);
    }
    weft_arena_free(arena);
    run_free(&r);
}

// --- htsim --------------------------------------------------------------------------------------------------------

#define OF_HTSIM "Flows as in htsim's RoCE, to the picosecond"

/// Data of 9064 B and ACKs of 64 B at 200G; a link; a switch.
enum { DATA_PS = 362560, ACK_PS = 2560, LINK_PS = 150000, LATENCY_PS = 500000 };
static const double ack_back_ps = 2. * (ACK_PS + LINK_PS) + LATENCY_PS;

// A packet is sent over two links, whole by whole, and waits for the switch's latency between them; its ACK comes back
// the same way, and the flow is finished.
static void one_packet_of_htsim(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n" HTSIM
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 9000B}]\n");
    form_assert(OF_HTSIM, (double)r.outcome->flow[0].acked_ps, 2. * (DATA_PS + LINK_PS) + LATENCY_PS + ack_back_ps, 0);
    run_free(&r);
}

// Packets of one flow follow one another at the rate of the link, here over three switches.
static void packets_of_htsim_over_tiers(void **state) {
    struct run r = run_text("topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1, rate: 200Gbps,\n"
                            "           delay: 150ns}\n" HTSIM
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 900000B}]\n");
    weft_time_ps there = 4 * (DATA_PS + LINK_PS) + 3 * LATENCY_PS, back = 4 * (ACK_PS + LINK_PS) + 3 * LATENCY_PS;
    form_assert(OF_HTSIM, (double)r.outcome->flow[0].acked_ps, (double)(there + 99 * DATA_PS + back), 0);
    run_free(&r);
}

// The link to the receiver is never idle from the first packet's arrival on, whatever is paused: that is when the last
// of 7 x 100 packets is through.
static void incast_of_htsim(void **state) {
    struct run r = run_text("topology: {kind: single, hosts: 8, rate: 200Gbps, delay: 150ns}\n" HTSIM
                            "workload: [{kind: incast, sources: '*', dst: host-7, size: 900000B}]\n");
    weft_time_ps last = 0;
    for (uint32_t i = 0; i < r.outcome->flows; i++)
        if (r.outcome->flow[i].acked_ps > last) last = r.outcome->flow[i].acked_ps;
    form_assert(OF_HTSIM, (double)last, 2. * LINK_PS + DATA_PS + LATENCY_PS + 700. * DATA_PS + ack_back_ps, 0);
    assert_int_equal(r.outcome->drops[WEFT_DROP_BUFFER_FULL] + r.outcome->drops[WEFT_DROP_HEADROOM], 0);
    assert_true(run_counters(&r, "switch-0->host-0", 3)->pfc_tx_xoff > 0);
    run_free(&r);
}

// RoceSink::receivePacket: a packet that comes too early is answered by a NAK, each time; one that came before by an
// ACK.
static void answers_of_htsim(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct receiver r;
    receiver_init(&r, "{preset: htsim}", arena);
    assert_int_equal(receive(&r, 1000, 0, false).kind, WEFT_PACKET_ACK);
    for (unsigned k = 2; k < 5; k++) {
        struct weft_transport_reply nak = receive(&r, 1000 * k, k, false);
        assert_int_equal(nak.kind, WEFT_PACKET_NAK);
        assert_int_equal(nak.psn, 1);
    }
    struct weft_transport_reply again = receive(&r, 6000, 0, false);
    assert_int_equal(again.kind, WEFT_PACKET_ACK);
    assert_int_equal(again.psn, 1);
    weft_arena_free(arena);
}

// LosslessInputQueue: paused above 15 x 9000 B, which the 15th frame of 9064 B passes, and on again below 12 x 9000 B:
// with 11 frames.
static void pauses_of_htsim(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_switch_conf conf = switch_of("{preset: htsim}", arena);
    const struct weft_buffer_ops *ops = conf.buffer.model->ops;
    void *s = weft_arena_alloc(arena, 1, ops->state_size(conf.buffer.conf, 1));
    ops->init(s, conf.buffer.conf, 1, 0xff);
    uint32_t packets = 1;
    while (ops->admit(s, conf.buffer.conf, 0, WEFT_NONE, 3, 9064) != WEFT_BUFFER_XOFF)
        packets++;
    assert_int_equal(packets, 15);
    while (packets--)
        if (ops->release(s, conf.buffer.conf, 0, WEFT_NONE, 3, 9064) == WEFT_BUFFER_XON) break;
    assert_int_equal(packets, 11);
    weft_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_packet),
        cmocka_unit_test(several_packets),
        cmocka_unit_test(own_values_hold),
        cmocka_unit_test(exact_without_gap),
        cmocka_unit_test(echo_and_pause),
        cmocka_unit_test(pace_after_a_cut),
        cmocka_unit_test(naks_again_after_500us),
        cmocka_unit_test(duplicates_are_not_acknowledged),
        cmocka_unit_test(pauses_at_the_threshold),
        cmocka_unit_test(buffer_as_in_the_simulator),
        cmocka_unit_test(paths_as_in_the_simulator),
        cmocka_unit_test(one_packet_of_htsim),
        cmocka_unit_test(packets_of_htsim_over_tiers),
        cmocka_unit_test(incast_of_htsim),
        cmocka_unit_test(answers_of_htsim),
        cmocka_unit_test(pauses_of_htsim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
