// SPDX-License-Identifier: Apache-2.0
// IP over GNet, one feature of the protocol at a time (Gibson et al., NSDI 2022, section 3.3): RTSs before a packet is
// complete, 32 RTS queues, ECN by their depth.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "box/tin/tin_outcome.h"
#include "run.h"

enum { HOST_BYTE = 160 }; ///< ps at 50G

// --- early RTSs ---------------------------------------------------------------------------------------------------

/// A packet alone, of so many bytes of payload, with a limit for early RTSs.
static weft_time_ps fct(uint32_t payload, const char *early) {
    struct run r = RUN(run_once,
                       "topology: {kind: dragonfly, pods: 1, tins: 2, hosts_per_tin: 1, local_ports: 2}\n"
                       "host: {processing: 0ns}\ntin: {rts_early: %s}\n"
                       "workload: [{kind: flow, src: host-0, dst: host-1, size: %uB}]\n",
                       early, payload);
    weft_time_ps time = run_fct(&r, 0);
    run_free(&r);
    return time;
}

/// An RTS that goes when the header has come, not the whole frame: RTS and CTS take their time while the rest comes, so
/// the lesser of the two is saved; and nothing, if the frame is not longer than the limit.
static void long_packets_are_announced_early(void **state) {
    enum { LIMIT = 510, BEFORE = 62 + 16, HEADER = 64 };
    const weft_time_ps cell = 50000 + 20000 + 2000 + 20000 + 20000 + 4715; // processing, switch, a hop, 16 B at 27.15G
    static const uint32_t payloads[] = {176, LIMIT - BEFORE, LIMIT - BEFORE + 4, 1400, 1500, 4096};
    for (uint32_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        uint32_t frame = BEFORE + payloads[i];
        weft_time_ps rest = (frame - HEADER) * HOST_BYTE, saved = rest < 2 * cell ? rest : 2 * cell;
        weft_time_ps late = fct(payloads[i], "1MB"), early = fct(payloads[i], "510B");
        assert_int_equal(late - early, frame > LIMIT ? saved : 0);
    }
}

// --- RTS queues ---------------------------------------------------------------------------------------------------

/// tin-7 is the gateway: two hosts, the way to hosts of a rack, a processor.
enum { PORTS = 4 };
static const char *const ends[PORTS] = {"host-14", "host-15", "host-16", "processor-7"};

/// Three hosts ask one port and class for far more than may be announced; a message to each of the others.
static struct run run_flood(uint32_t port, uint32_t class) {
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    fprintf(file,
            "topology: {kind: dragonfly, pods: 1, tins: 8, gateways: 1, spines: 1, tors: 1, hosts_per_tor: 2, "
            "processors: true, processor_rate: 10Gbps}\ntin: {ctd: 50KB, fetch_window: 8KB}\n"
            "host: {cc: none, pfc: {priorities: none}, timeout: 1s}\nrun: {until: 200us}\n"
            "switch: {scheduler: dwrr, pfc: {priorities: none}, buffer: {kind: static, size: 400MB, xoff: 300MB, xon: "
            "200MB}}\nworkload:\n  - {kind: incast, sources: \"host-0,host-2,host-4\", dst: %s, size: 400KB, priority: "
            "%u}\n",
            ends[port], class);
    for (uint32_t other = 0; other < PORTS * WEFT_PRIORITIES; other++)
        if (other != port * WEFT_PRIORITIES + class)
            fprintf(file, "  - {kind: flow, src: host-6, dst: %s, size: 1000B, priority: %u, start: 40us}\n",
                    ends[other / WEFT_PRIORITIES], other % WEFT_PRIORITIES);
    fclose(file);
    struct run r = run_once(text);
    free(text);
    return r;
}

/// One of the 32 is flooded, each in its turn: its RTSs are answered by CTDs, those of the other 31 never.
static void ports_and_classes_have_queues_of_their_own(void **state) {
    for (uint32_t q = 0; q < PORTS * WEFT_PRIORITIES; q++) {
        struct run r = run_flood(q / WEFT_PRIORITIES, q % WEFT_PRIORITIES);
        assert_true(weft_outcome_tin(r.outcome)->ctd > 0);
        assert_int_equal(r.outcome->flows, 3 + PORTS * WEFT_PRIORITIES - 1);
        for (uint32_t i = 3; i < r.outcome->flows; i++)
            if (r.outcome->flow[i].end_ps == WEFT_TIME_NEVER || r.outcome->flow[i].packets_again)
                fail_msg("queue %" PRIu32 " is flooded, and message %" PRIu32 " does not come", q, i - 3);
        run_free(&r);
    }
}

// --- ECN ----------------------------------------------------------------------------------------------------------

enum { PACKETS = 100, SOURCES = 3, FRAME = 62 + 16 + 4096, THRESHOLD = 100000, WINDOW = 64000 };

static uint64_t marked_until(uint32_t us) {
    struct run r =
        RUN(run_text,
            "topology: {kind: dragonfly, pods: 1, tins: 4, hosts_per_tin: 1, local_ports: 6}\n"
            "host: {cc: none, pfc: {priorities: none}}\ntin: {ctd: 1GB, egress_buffer: 64KB}\nrun: {until: %uus}\n"
            "switch: {pfc: {priorities: none}, buffer: {kind: static, size: 400MB, xoff: 300MB, xon: 200MB}, "
            "aqm: {kind: wred, min: 100KB, max: 100KB}}\n"
            "workload: [{kind: incast, sources: \"host-1..3\", dst: host-0, size: 409600B}]\n",
            us);
    assert_int_equal(run_drops(&r), 0);
    uint64_t marked = weft_outcome_tin(r.outcome)->marked;
    run_free(&r);
    return marked;
}

/// Three hosts at line rate announce 300 packets to one port, which asks for a window of 15 ahead of what it sends: its
/// queue grows by two while it sends one, and from 67 us on only shrinks. Marked is what becomes whole while more than
/// 100 KB stand in the queue, 24 packets. Not marked are at the end these and the window before them at most; at the
/// beginning what is asked for until so many stand there, but for a window that may come later. Behind the port there
/// is never as much as the threshold.
static void marks_are_made_by_what_is_announced(void **state) {
    const uint64_t all = PACKETS * SOURCES, queued = (THRESHOLD + FRAME - 1) / FRAME, window = WINDOW / FRAME;
    const uint64_t first = (queued + window) / 2 + window; // 3 n - (n + window) = queued
    uint64_t marked = marked_until(1000), most = all - queued - (first - window), least = all - queued - window - first;
    if (marked > most || marked < least)
        fail_msg("%" PRIu64 " marked, expected %" PRIu64 " to %" PRIu64, marked, least, most);
    // By the depth when a packet is whole, not when it is announced: the last ones, announced in time, are not marked.
    uint64_t late = marked - marked_until(110), rest = all - 110000000 / ((FRAME + 20) * HOST_BYTE);
    if (late > rest - queued + 4 || late < rest - queued - 2 * window)
        fail_msg("%" PRIu64 " of the last %" PRIu64 " marked", late, rest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_packets_are_announced_early),
        cmocka_unit_test(ports_and_classes_have_queues_of_their_own),
        cmocka_unit_test(marks_are_made_by_what_is_announced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
