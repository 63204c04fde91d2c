// SPDX-License-Identifier: Apache-2.0
// Random small networks, settings and workloads: whatever a run is, no byte is lost or invented, every flow is
// delivered exactly once, no assertion fails, and the digest does not depend on the number of threads.
// Arguments: how many runs, from which seed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models.h"
#include "why.h"

#ifndef RUNS
#define RUNS 40
#endif
static uint64_t runs = RUNS, first_seed = 1;

struct text {
    char *at;
    size_t size;
    FILE *file;
    struct weft_random random;
    struct weft_random sfc, dcbx, route, job,
        layer2; ///< of their own, so that the rest of a run is the same with and without
    bool until, tagged;
    bool hasty; ///< a timeout that may be below the round trip: when packets are dropped too, nothing may ever arrive
};

static uint64_t draw(struct text *t, uint64_t n) {
    return weft_random_u64(&t->random) % n;
}

static bool chance(struct text *t, unsigned percent) {
    return draw(t, 100) < percent;
}

static const char *one_of(struct text *t, const char *const *choice) {
    uint64_t n = 0;
    while (choice[n])
        n++;
    return choice[draw(t, n)];
}
#define ONE_OF(t, ...) one_of(t, (const char *const[]){__VA_ARGS__, NULL})

/// A link between switches that fails, comes back and fails for good, or a host's that comes back.
static void say_events(struct text *t, const char *link, bool spare) {
    uint64_t at = 1 + draw(t, 60);
    fprintf(t->file, "events: [{at: %" PRIu64 "us, link: \"%s\", state: down}, ", at, link);
    at += 1 + draw(t, 100);
    fprintf(t->file, "{at: %" PRIu64 "us, link: \"%s\", state: up}, ", at, link);
    if (spare) fprintf(t->file, "{at: %" PRIu64 "us, link: \"%s\", state: down}", at + 1 + draw(t, 100), link);
    fprintf(t->file, "]\n");
}

/// Returns the number of hosts; `hosts` are named host-0 and so on.
static uint64_t say_topology(struct text *t) {
    const char *rate = ONE_OF(t, "10Gbps", "100Gbps", "200Gbps", "400Gbps", "106.25Gbps", "3.2Tbps");
    const char *delay = ONE_OF(t, "1ns", "50ns", "150ns", "1us", "3us", "20us");
    const char *errors = chance(t, 25) ? "1e-6" : "0";
    uint64_t a = 2 + draw(t, 3), b = 1 + draw(t, 3), h = 2 + draw(t, 3);
    switch (draw(t, 4)) {
    case 0:
        fprintf(t->file, "topology: {kind: single, hosts: %" PRIu64 ", rate: %s, delay: %s, bit_error_rate: %s}\n",
                h + 1, rate, delay, errors);
        if (chance(t, 20)) say_events(t, "switch-0/1", false);
        return h + 1;
    case 1:
        fprintf(t->file,
                "topology: {kind: leaf_spine, leaves: %" PRIu64 ", spines: %" PRIu64 ", hosts_per_leaf: %" PRIu64
                ", rate: %s, delay: %s, spine_delay: %s, bit_error_rate: %s}\n",
                a, b, h, rate, delay, ONE_OF(t, "10ns", "2us", "50us", "300us"), errors);
        if (chance(t, 30)) say_events(t, "leaf-1--spine-0", b > 1);
        return a * h;
    case 2:
        fprintf(t->file,
                "topology: {kind: clos3, pods: 2, access_per_pod: %" PRIu64 ", aggregation_per_pod: 2, core: %" PRIu64
                ", hosts_per_access: %" PRIu64 ", rate: %s, delay: %s, core_delay: %s, bit_error_rate: %s}\n",
                a, b * 2, h, rate, delay, ONE_OF(t, "150ns", "5us", "100us"), errors);
        if (chance(t, 30)) say_events(t, "access-0--aggregation-1", true);
        return 2 * a * h;
    default: // a ring of five, one or two hosts each; pauses may make a cycle in it
        fprintf(t->file, "topology: {kind: list, nodes: [");
        for (unsigned s = 0; s < 5; s++)
            fprintf(t->file, "{name: s%u, role: switch}, {name: host-%u, role: host}, ", s, s);
        fprintf(t->file, "], links: [");
        for (unsigned s = 0; s < 5; s++)
            fprintf(t->file,
                    "{from: s%u, to: host-%u, rate: %s, delay: %s}, {from: s%u, to: s%u, rate: %s, delay: %s, "
                    "bit_error_rate: %s}, ",
                    s, s, rate, delay, s, (s + 1) % 5, ONE_OF(t, "100Gbps", "200Gbps"), ONE_OF(t, "150ns", "4us"),
                    errors);
        fprintf(t->file, "]}\n");
        if (chance(t, 30)) say_events(t, "s2--s3", true);
        return 5;
    }
}

/// Puts another stream in the place of the main one, or back.
static void swap_random(struct text *t, struct weft_random *other) {
    struct weft_random random = t->random;
    t->random = *other;
    *other = random;
}

static void say_switch_sfc(struct text *t) {
    swap_random(t, &t->sfc);
    if (chance(t, 50))
        fprintf(t->file,
                ", sfc_proxy: %s, sfc: {kind: %s, threshold: %s, pause: %s, interval: %s, source_interval: %s, "
                "priorities: %s%s}",
                ONE_OF(t, "true", "false"), ONE_OF(t, "fixed", "adaptive, floor: 0B"), ONE_OF(t, "0B", "10KB", "100KB"),
                ONE_OF(t, "1ns", "777ns", "6us", "40us"), ONE_OF(t, "0ns", "1us", "6us"), ONE_OF(t, "0ns", "2us"),
                ONE_OF(t, "3", "0-6"), ONE_OF(t, "", ", dscp: 0", ", dscp: 24"));
    swap_random(t, &t->sfc);
}

static void say_host_sfc(struct text *t) {
    swap_random(t, &t->sfc);
    if (chance(t, 50))
        fprintf(t->file, ", sfc: %s, sfc_scope: %s", ONE_OF(t, "true", "false"),
                ONE_OF(t, "flow", "destination", "priority"));
    swap_random(t, &t->sfc);
}

static void say_switch_route(struct text *t) {
    swap_random(t, &t->route);
    if (chance(t, 60))
        fprintf(t->file, ", route: %s",
                ONE_OF(t, "e_ecmp", "path_pinning", "spray", "{kind: spray, order: random}",
                       "{kind: flowlet, gap: 1us, entries: 64}", "load_aware", "{kind: load_aware, samples: 0}",
                       "{kind: load_aware, per: flowlet, gap: 500ns}"));
    swap_random(t, &t->route);
}

static void say_host_order(struct text *t) {
    swap_random(t, &t->route);
    if (chance(t, 60))
        fprintf(t->file, ", source_port: %s, out_of_order: %s, reorder_window: %s, reorder_timeout: %s",
                ONE_OF(t, "queue_pair", "host_pair"), ONE_OF(t, "accept", "accept", "discard"),
                ONE_OF(t, "1", "7", "64", "1024"), ONE_OF(t, "0ns", "5us", "100us", "never"));
    swap_random(t, &t->route);
}

/// Neighbours that talk of PFC, often, and perhaps differ in it. Returns the hosts' priorities.
static const char *say_dcbx(struct text *t, const char *pfc) {
    swap_random(t, &t->dcbx);
    if (chance(t, 50)) {
        fprintf(t->file, "dcbx: {enabled: true, willing: %s, interval: %s, ttl: 1s, capability: %s}\n",
                ONE_OF(t, "true", "false"), ONE_OF(t, "1us", "7us", "50us"), ONE_OF(t, "8", "8", "1"));
        pfc = ONE_OF(t, "3", "4", "none", "0-6");
    }
    swap_random(t, &t->dcbx);
    return pfc;
}

/// Buffers that inputs share, and tags that tell priorities. True: it has said which buffer.
static bool say_switch_shared(struct text *t) {
    swap_random(t, &t->layer2);
    t->tagged = chance(t, 30);
    bool shared = chance(t, 30);
    if (t->tagged)
        fprintf(t->file, "trust: pcp, pcp_map: %s, ",
                ONE_OF(t, "[0, 1, 2, 3, 4, 5, 6, 7]", "[3, 3, 3, 3, 4, 4, 4, 7]"));
    if (shared)
        fprintf(t->file, "buffer: {kind: %s, size: %s, xoff: %s, xon: %s, headroom: %s}, ",
                ONE_OF(t, "egress", "egress", "pool"), ONE_OF(t, "80KB", "800KB"), ONE_OF(t, "12KB", "60KB"),
                ONE_OF(t, "0B", "9KB"), ONE_OF(t, "0B", "10KB", "100KB"));
    swap_random(t, &t->layer2);
    return shared;
}

static void say_devices(struct text *t) {
    const char *pfc = ONE_OF(t, "3", "3", "none", "0-6", "3-4"), *host_pfc = say_dcbx(t, pfc);
    fprintf(t->file,
            "switch: {processing: %s, forwarding: %s, queueing: %s, arbiter: %s, scheduler: %s, fabric_speedup: %s, ",
            ONE_OF(t, "0ns", "300ns", "1us"), ONE_OF(t, "store_and_forward", "cut_through"),
            ONE_OF(t, "oq", "iq", "voq"), ONE_OF(t, "islip", "round_robin"), ONE_OF(t, "strict", "dwrr"),
            ONE_OF(t, "1", "1.3", "2"));
    bool shared = say_switch_shared(t);
    if (!shared && chance(t, 50))
        fprintf(t->file, "buffer: {kind: static, size: %s, xoff: %s, xon: %s}, ", ONE_OF(t, "40KB", "200KB", "800KB"),
                ONE_OF(t, "12KB", "30KB"), ONE_OF(t, "0B", "9KB"));
    else if (!shared)
        fprintf(t->file, "buffer: {kind: dynamic, total: 4MB, reserve: %s, alpha: %s, headroom: %s, xon_offset: 3KB}, ",
                ONE_OF(t, "0B", "2KB"), ONE_OF(t, "1/64", "1/8", "2"), ONE_OF(t, "20KB", "30KB"));
    fprintf(t->file, "aqm: %s, ", ONE_OF(t, "none", "wred", "{kind: wred, min: 10KB, max: 20KB, max_probability: 1}"));
    fprintf(t->file,
            "pfc: {priorities: %s, quanta: %s, refresh: %s, reaction: %s, watchdog: %s, restore: 20us, "
            "watchdog_action: %s}",
            pfc, ONE_OF(t, "65535", "500", "8"), ONE_OF(t, "0.5", "0.9"), ONE_OF(t, "0ns", "500ns"),
            ONE_OF(t, "never", "never", "30us"), ONE_OF(t, "alert", "drop", "forward"));
    say_switch_sfc(t);
    say_switch_route(t);
    fprintf(t->file, "}\n");
    const char *timeout = ONE_OF(t, "20us", "200us", "2ms");
    t->hasty = strcmp(timeout, "2ms");
    fprintf(
        t->file,
        "host: {mtu: %s, processing: %s, cc: %s, ack_every: %s, window: %s, timeout: %s, drain_rate: %s, rx_buffer: "
        "100KB, rx_xoff: 40KB, rx_xon: 20KB, ack_own_priority: %s, cnp_interval: %s, pfc: {priorities: %s}",
        ONE_OF(t, "256B", "1000B", "4096B", "9000B"), ONE_OF(t, "0ns", "100ns"),
        ONE_OF(t, "none", "dcqcn", "dcqcn_connectx"), ONE_OF(t, "1", "4", "16"), ONE_OF(t, "0B", "16KB", "64KB"),
        timeout, ONE_OF(t, "0bps", "0bps", "30Gbps"), ONE_OF(t, "true", "false"), ONE_OF(t, "0ns", "4us", "50us"),
        host_pfc);
    if (t->tagged) fprintf(t->file, ", vlan: 100");
    say_host_sfc(t);
    say_host_order(t);
    fprintf(t->file, "}\n");
}

static void say_workload(struct text *t, uint64_t hosts) {
    if (chance(t, 25))
        fprintf(t->file,
                "devices: [{match: \"%s\", switch: {forwarding: cut_through, processing: 50ns}, host: {mtu: 512B, "
                "processing: 1us}}]\n",
                ONE_OF(t, "*0", "*[02]", "*"));
    fprintf(t->file, "workload:\n");
    for (uint64_t n = 1 + draw(t, 3); n; n--) {
        const char *verb = ONE_OF(t, "write", "send", "read"), *priority = ONE_OF(t, "3", "3", "4", "0");
        const char *size = ONE_OF(t, "1B", "4KB", "9KB", "30KB");
        uint64_t start = draw(t, 20000), qps = 1 + draw(t, 3), dst = draw(t, hosts);
        fprintf(t->file, "  - {verb: %s, priority: %s, size: %s, start: %" PRIu64 "ns, qps: %" PRIu64 ", ", verb,
                priority, size, start, qps);
        switch (draw(t, 4)) {
        case 0:
            fprintf(t->file, "kind: incast, sources: \"*\", dst: host-%" PRIu64 "}\n", dst);
            break;
        case 1:
            fprintf(t->file, "kind: permutation, mode: %s}\n", ONE_OF(t, "random", "shift, shift: 2"));
            break;
        case 2:
            fprintf(t->file, "kind: all_to_all}\n");
            break;
        default:
            fprintf(t->file, "kind: flow, src: host-%" PRIu64 ", dst: host-%" PRIu64 ", repeat: 3, interval: 7us}\n",
                    dst, (dst + 1) % hosts);
        }
    }
}

/// A collective among all hosts, in a part of the runs.
static void say_collective(struct text *t, uint64_t hosts) {
    swap_random(t, &t->job);
    if (chance(t, 25)) {
        const char *kind = general_collective((uint32_t)draw(t, general_collectives()))->name;
        const char *size = ONE_OF(t, "1B", "3KB", "40KB", "100001B"), *slots = ONE_OF(t, "2", "3", "8");
        uint64_t gpus = hosts % 2 ? 1 : 1 + draw(t, 2), qps = 1 + draw(t, 5), channels = 1 + draw(t, 3);
        fprintf(t->file,
                "  - {kind: collective, size: %s, repeat: 2, server: {gpus: %" PRIu64 "}, qps: %" PRIu64
                ", qp_scaling: %s, admission: %s, cts_priority: %s, priority: %s, collective: {kind: %s, channels: "
                "%" PRIu64 ", chunk: 4KB, slice: 4KB, slots: %s}}\n",
                size, gpus, qps, ONE_OF(t, "round_robin", "split"), ONE_OF(t, "cts", "cts", "none"),
                ONE_OF(t, "3", "6"), ONE_OF(t, "3", "3", "0"), kind, channels, slots);
    }
    swap_random(t, &t->job);
}

/// What messages that have come and are not taken may be counted too much: 3 B a slot and queue pair.
enum { PADDING = 3 * 8 * 5 };

static void one_run(uint64_t seed) {
    struct text t = {.random = weft_random_stream(seed, 0, WEFT_RANDOM_WORKLOAD)};
    t.sfc = weft_random_stream(seed, 1, WEFT_RANDOM_WORKLOAD);
    t.dcbx = weft_random_stream(seed, 2, WEFT_RANDOM_WORKLOAD);
    t.route = weft_random_stream(seed, 3, WEFT_RANDOM_WORKLOAD);
    t.job = weft_random_stream(seed, 4, WEFT_RANDOM_WORKLOAD);
    t.layer2 = weft_random_stream(seed, 5, WEFT_RANDOM_WORKLOAD);
    t.file = open_memstream(&t.at, &t.size);
    assert_non_null(t.file);
    uint64_t hosts = say_topology(&t);
    say_devices(&t);
    say_workload(&t, hosts);
    say_collective(&t, hosts);
    fprintf(t.file, "run: {seed: %" PRIu64 ", stall: 20ms", seed);
    if (chance(&t, 50)) fprintf(t.file, ", detection: %s", ONE_OF(&t, "0ns", "3us", "30us"));
    t.until = chance(&t, 15);
    if (t.until) fprintf(t.file, ", until: %" PRIu64 "ns", 1 + draw(&t, 60000));
    if (chance(&t, 30)) fprintf(t.file, ", sample_interval: 1us");
    fprintf(t.file, "}\n");
    fclose(t.file);

    struct run r = run_once(t.at);
    run_assert_same(&r, (const uint32_t[]){2, 3, 8}[seed % 3], t.at);
    uint64_t never = 0;
    for (uint32_t i = 0; i < r.outcome->flows; i++) {
        const struct weft_flow_outcome *f = &r.outcome->flow[i];
        const struct weft_flow *flow = &r.workload->flow[i];
        bool ended = f->end_ps != WEFT_TIME_NEVER;
        assert_true(f->delivered_bytes <= flow->bytes + (flow->messages && !ended ? PADDING : 0));
        if (ended || !flow->messages) assert_int_equal(ended, f->delivered_bytes == flow->bytes);
        never += f->end_ps == WEFT_TIME_NEVER;
    }
    if (r.status == WEFT_ERROR_STALL) {
        bool collapsed = t.hasty && run_drops(&r);
        if (!collapsed && !strstr(r.outcome->stall, "PFC cycle of")) {
            fputs(t.at, stderr);
            fail_msg("%s", r.outcome->stall);
        }
    } else if (!t.until) {
        if (never) {
            fputs(t.at, stderr);
            fail_msg("%" PRIu64 " flows have not finished", never);
        }
        assert_int_equal(r.outcome->end, WEFT_END_DONE);
        if (!r.outcome->links) assert_int_equal(r.outcome->held_bytes, 0); // the end does not wait for LLDP
    }
    why_assert_sums(&r, t.at);
    run_free(&r);
    free(t.at);
}

static void any_run(void **state) {
    for (uint64_t i = 0; i < runs; i++)
        one_run(first_seed + i);
}

int main(int argc, char **argv) {
    if (argc > 1) runs = strtoull(argv[1], NULL, 10);
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
