// SPDX-License-Identifier: Apache-2.0
// Runs that a program drives (weft/drive.h): times by hand, the same as flows of a scenario have, callbacks in one
// order whatever the number of threads, over Ethernet, a DSF and a Clique.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "run.h"
#include "weft/drive.h"
#include "weft/rows.h"

#define SINGLE                                                                                                         \
    "topology: {kind: single, hosts: 8, rate: 200Gbps, delay: 150ns}\n"                                                \
    "switch: {processing: 300ns}\n"
#define LEAF_SPINE                                                                                                     \
    "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4}\n"                                          \
    "host: {cc: dcqcn}\n"                                                                                              \
    "switch: {pfc: {priorities: [3]}, aqm: {kind: wred}}\n"
#define DSF                                                                                                            \
    "topology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 10, virtual_devices: 4, hosts_per_rdsw: 2, "             \
    "host_rate: 400Gbps}\n"                                                                                            \
    "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"
#define CLIQUE "topology: {kind: dragonfly, pods: 3, tins: 4, hosts_per_tin: 2, global_delay: 100ns}\n"

static const char *const fabrics[] = {LEAF_SPINE, DSF, CLIQUE};

struct driven {
    struct weft_scenario_file *file;
    struct weft_simulation *simulation;
    struct weft_drive *drive;
    struct weft_error error;
    uint32_t hosts;
    uint64_t history, callbacks; ///< history: of all that came, in order
    weft_time_ps last_ps;
    uint64_t left;
    uint32_t bytes;
};

static struct driven *open_drive(const char *text, uint32_t threads) {
    struct driven *d = calloc(1, sizeof *d);
    struct weft_sim_options options = {.threads = threads};
    if (weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &d->file, &d->error) ||
        weft_simulation_new(d->file, 0, &d->simulation, &d->error) ||
        weft_drive_new(d->simulation, &options, &d->drive, &d->error))
        fail_msg("%s", d->error.text);
    d->hosts = weft_simulation_hosts(d->simulation);
    return d;
}

static void close_drive(struct driven *d) {
    weft_drive_free(d->drive);
    weft_simulation_free(d->simulation);
    weft_scenario_file_free(d->file);
    free(d);
}

/// Ends it: its digest.
static uint64_t finish(struct driven *d) {
    struct weft_result *result;
    if (weft_drive_finish(d->drive, &result, &d->error)) fail_msg("%s", d->error.text);
    uint64_t digest = weft_result_digest(result);
    weft_result_free(result);
    return digest;
}

static void run_until(struct driven *d, weft_time_ps until, enum weft_drive_end expected) {
    enum weft_drive_end end;
    if (weft_drive_run(d->drive, until, &end, &d->error)) fail_msg("%s", d->error.text);
    assert_int_equal(end, expected);
}

static void run_to_end(struct driven *d) {
    run_until(d, WEFT_TIME_NEVER, WEFT_DRIVE_IDLE);
}

/// Every callback begins with this: where and when it is, and that times never go back.
static void note(struct driven *d, const struct weft_drive_notice *n) {
    assert_int_equal(weft_drive_now(d->drive), n->time_ps);
    assert_int_equal(weft_drive_host(d->drive), n->host);
    assert_true(n->time_ps >= d->last_ps);
    d->last_ps = n->time_ps;
    d->callbacks++;
    uint64_t words[] = {n->event, n->host, n->time_ps, n->flow, n->tag, n->bytes};
    for (unsigned i = 0; i < 6; i++)
        d->history = (d->history ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15) + 1;
}

static uint32_t send(struct driven *d, const struct weft_send *s) {
    uint32_t flow = WEFT_NONE;
    if (weft_drive_send(d->drive, s, &flow, &d->error)) fail_msg("%s", d->error.text);
    return flow;
}

// --- ping-pong ----------------------------------------------------------------------------------------------------

static void on_ball(void *context, struct weft_drive *drive, const struct weft_drive_notice *n) {
    struct driven *d = context;
    note(d, n);
    if (!d->left--) return;
    send(d, &(struct weft_send){.src = n->host,
                                .dst = 1 - n->host,
                                .bytes = d->bytes,
                                .priority = 3,
                                .tag = n->tag + 1,
                                .events = WEFT_DRIVE_DELIVERED,
                                .callback = on_ball,
                                .context = d});
}

// 200G: 40 ps a byte. 64 B by WRITE: a frame of 142 B, the last bit of which is at the switch after 150 x 40 + 150000
// ps and, 300000 ps later, so long again at the host. A return leaves behind the ACK, 86 B of wire: 3440 ps.
static void ping_pong_to_the_picosecond(void **state) {
    (void)state;
    struct driven *d = open_drive(SINGLE, 1);
    uint64_t way = 2 * (150 * 40 + 150000) + 300000, ack = (66 + 20) * 40;
    d->left = 9;
    d->bytes = 64;
    send(d, &(struct weft_send){.src = 0,
                                .dst = 1,
                                .bytes = 64,
                                .priority = 3,
                                .start_ps = 5000000,
                                .events = WEFT_DRIVE_DELIVERED,
                                .callback = on_ball,
                                .context = d});
    run_to_end(d);
    assert_int_equal(d->callbacks, 10);
    assert_int_equal(d->last_ps, 5000000 + 10 * way + 9 * ack);
    assert_true(weft_drive_now(d->drive) >= d->last_ps);
    finish(d);
    close_drive(d);
}

// --- the same as a scenario's flows
// -------------------------------------------------------------------------------------

/// Flow i of the comparison: from i to another host, of other sizes, and several begin at once.
static struct weft_send nth_send(uint32_t i, uint32_t hosts) {
    return (struct weft_send){.src = i % hosts,
                              .dst = (i % hosts + 1 + i / hosts % (hosts - 1)) % hosts,
                              .bytes = 1000 + 7777 * (weft_bytes)(i % 13),
                              .priority = 3,
                              .start_ps = WEFT_PS_PER_US * (1 + i / 5)};
}

static void on_nothing(void *context, struct weft_drive *drive, const struct weft_drive_notice *n) {
    note(context, n);
}

/// Flows sent at times known in advance give the digest of a scenario with these flows, whatever is reported to the
/// program.
static void sends_are_flows(void **state) {
    (void)state;
    enum { FLOWS = 60 };
    for (unsigned f = 0; f < 3; f++) {
        struct driven *d = open_drive(fabrics[f], 2);
        char *text;
        size_t size;
        FILE *file = open_memstream(&text, &size);
        fprintf(file, "%sworkload:\n", fabrics[f]);
        for (uint32_t i = 0; i < FLOWS; i++) {
            struct weft_send s = nth_send(i, d->hosts);
            fprintf(file, "  - {kind: flow, src: %s, dst: %s, size: %" PRIu64 "B, start: %" PRIu64 "ps}\n",
                    weft_simulation_host_name(d->simulation, s.src), weft_simulation_host_name(d->simulation, s.dst),
                    s.bytes, s.start_ps);
            s.events = f % 2 ? 0 : WEFT_DRIVE_DELIVERED | WEFT_DRIVE_ACKED;
            s.callback = on_nothing;
            s.context = d;
            send(d, &s);
        }
        fclose(file);
        run_to_end(d);
        assert_int_equal(d->callbacks, f % 2 ? 0 : 2 * FLOWS);
        struct run r = run_once(text);
        run_assert_complete(&r);
        assert_int_equal(finish(d), r.outcome->digest);
        run_free(&r);
        close_drive(d);
        free(text);
    }
}

// --- a ring
// -------------------------------------------------------------------------------------------------------------

/// Each host passes on what came, 2 (n - 1) times, as an all-reduce does.
static void on_piece(void *context, struct weft_drive *drive, const struct weft_drive_notice *n) {
    struct driven *d = context;
    note(d, n);
    if (n->event != WEFT_DRIVE_DELIVERED || n->tag + 1 == 2 * (d->hosts - 1)) return;
    send(d, &(struct weft_send){.src = n->host,
                                .dst = (n->host + 1) % d->hosts,
                                .bytes = n->bytes,
                                .priority = 3,
                                .tag = n->tag + 1,
                                .events = WEFT_DRIVE_DELIVERED | WEFT_DRIVE_ACKED,
                                .callback = on_piece,
                                .context = d});
}

static struct driven *run_ring(const char *fabric, uint32_t threads, weft_bytes piece) {
    struct driven *d = open_drive(fabric, threads);
    for (uint32_t h = 0; h < d->hosts; h++)
        send(d, &(struct weft_send){.src = h,
                                    .dst = (h + 1) % d->hosts,
                                    .bytes = piece,
                                    .priority = 3,
                                    .events = WEFT_DRIVE_DELIVERED | WEFT_DRIVE_ACKED,
                                    .callback = on_piece,
                                    .context = d});
    run_to_end(d);
    assert_int_equal(d->callbacks, 2 * (uint64_t)d->hosts * 2 * (d->hosts - 1));
    return d;
}

/// The ring of 8 over one switch: 14 steps of a message each, one after the other; an ACK for each packet shares the
/// links. And as long as weft's own collective, whose steps are the same messages, to 1%.
static void ring_takes_the_time_of_its_steps(void **state) {
    (void)state;
    enum { PIECE = 1 << 20 };
    struct driven *d = run_ring(SINGLE, 1, PIECE);
    struct run one = RUN(run_once, SINGLE "workload: [{kind: flow, src: host-0, dst: host-1, size: %dB}]\n", PIECE);
    double steps = 14 * (double)run_fct(&one, 0) * (1 + (66 + 20) / (4096.0 + 62 + 20));
    assert_true(fabs((double)d->last_ps / steps - 1) < 0.001);
    struct run own = RUN(run_once,
                         SINGLE "workload: [{kind: collective, size: %dB, collective: {kind: all_reduce_ring, "
                                "channels: 1, slots: 16, chunk: %dB, slice: %dB}}]\n",
                         8 * PIECE, PIECE, PIECE);
    uint64_t took = own.outcome->job[0].op[0].end_ps - own.outcome->job[0].op[0].start_ps;
    assert_true(took > d->last_ps - d->last_ps / 100 && took < d->last_ps + d->last_ps / 100);
    run_free(&one);
    run_free(&own);
    finish(d);
    close_drive(d);
}

static void same_on_any_number_of_threads(void **state) {
    (void)state;
    for (unsigned f = 0; f < 3; f++) {
        struct driven *one = run_ring(fabrics[f], 1, 50000);
        uint64_t digest = finish(one);
        for (uint32_t threads = 2; threads <= 3; threads++) {
            struct driven *many = run_ring(fabrics[f], threads, 50000);
            assert_int_equal(many->history, one->history);
            assert_int_equal(finish(many), digest);
            close_drive(many);
        }
        close_drive(one);
    }
}

// --- many, with timers, cancels and a workload beside them
// ------------------------------------------------------------

static uint32_t draw(struct driven *d, uint32_t below) {
    uint64_t z = (d->history ^ d->history >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)((z >> 32) % below);
}

/// What it does depends on all callbacks before it, at any host.
static void on_random(void *context, struct weft_drive *drive, const struct weft_drive_notice *n) {
    struct driven *d = context;
    note(d, n);
    if (!d->left) return;
    d->left--;
    weft_time_ps ahead = weft_drive_lookahead(drive);
    uint32_t other = (n->host + 1 + draw(d, d->hosts - 1)) % d->hosts;
    struct weft_send s = {.src = n->host,
                          .dst = other,
                          .bytes = 1 + draw(d, 20000),
                          .priority = 3,
                          .tag = d->left,
                          .events = 7,
                          .callback = on_random,
                          .context = d};
    if (draw(d, 4) == 0) { // on behalf of the other
        s.src = other;
        s.dst = n->host;
        s.start_ps = n->time_ps + ahead + draw(d, 3) * 1000;
    }
    uint32_t flow = send(d, &s);
    if (draw(d, 5) == 0 && weft_drive_cancel(drive, flow, &d->error)) fail_msg("%s", d->error.text);
    if (draw(d, 3) == 0 && weft_drive_at(drive, other, n->time_ps + ahead + draw(d, 2000000), on_random, d, &d->error))
        fail_msg("%s", d->error.text);
    if (draw(d, 6) == 0 && weft_drive_at(drive, n->host, 0, on_random, d, &d->error)) fail_msg("%s", d->error.text);
}

static struct driven *run_randomly(const char *fabric, uint32_t threads, bool in_parts) {
    char *text = text_of("%sworkload: [{kind: permutation, size: 100KB}]\n", fabric);
    struct driven *d = open_drive(text, threads);
    free(text);
    d->left = 3000;
    for (uint32_t h = 0; h < d->hosts; h++)
        assert_int_equal(weft_drive_at(d->drive, h, h * 1000, on_random, d, &d->error), WEFT_OK);
    if (in_parts) {
        enum weft_drive_end end = WEFT_DRIVE_UNTIL;
        for (weft_time_ps t = 0; end == WEFT_DRIVE_UNTIL; t += 700001) {
            if (weft_drive_run(d->drive, t, &end, &d->error)) fail_msg("%s", d->error.text);
            if (end == WEFT_DRIVE_UNTIL) assert_int_equal(weft_drive_now(d->drive), t);
            assert_true(d->last_ps <= t);
        }
        assert_int_equal(end, WEFT_DRIVE_IDLE);
    } else {
        run_to_end(d);
    }
    return d;
}

/// And a run in parts is that run.
static void random_programs_have_one_history(void **state) {
    (void)state;
    for (unsigned f = 0; f < 3; f++) {
        struct driven *one = run_randomly(fabrics[f], 1, false);
        uint64_t digest = finish(one);
        assert_true(one->callbacks > 3000);
        for (uint32_t how = 0; how < 4; how++) {
            struct driven *other = run_randomly(fabrics[f], how % 3 + 1, how < 2);
            assert_int_equal(other->callbacks, one->callbacks);
            assert_int_equal(other->history, one->history);
            assert_int_equal(finish(other), digest);
            close_drive(other);
        }
        close_drive(one);
    }
}

static void on_count(void *context, struct weft_drive *drive, const struct weft_drive_notice *n) {
    struct driven *d = context;
    d->callbacks++;
    d->left += n->bytes;
}

static void many_sends_in_flight(void **state) {
    (void)state;
    enum { SENDS = 100000 };
    struct driven *d = open_drive(LEAF_SPINE, 2);
    for (uint32_t i = 0; i < SENDS; i++)
        send(d, &(struct weft_send){.src = i % d->hosts,
                                    .dst = (i + 1 + i / d->hosts % (d->hosts - 1)) % d->hosts,
                                    .bytes = 1000,
                                    .priority = 3,
                                    .events = WEFT_DRIVE_DELIVERED,
                                    .callback = on_count,
                                    .context = d});
    run_to_end(d);
    assert_int_equal(d->callbacks, SENDS);
    assert_int_equal(d->left, 1000 * (uint64_t)SENDS);
    finish(d);
    close_drive(d);
}

// --- cancel, pause, errors
// ------------------------------------------------------------------------------------------------

static void on_cancel(void *context, struct weft_drive *drive, const struct weft_drive_notice *n) {
    struct driven *d = context;
    note(d, n);
    if (n->event == WEFT_DRIVE_TIME) assert_int_equal(weft_drive_cancel(drive, 0, &d->error), WEFT_OK);
    if (n->event == WEFT_DRIVE_CANCELLED) d->left = n->time_ps;
    assert_int_not_equal(n->event, WEFT_DRIVE_DELIVERED);
    assert_int_not_equal(n->event, WEFT_DRIVE_ACKED);
}

/// 1 MB takes 42 us; cancelled after 10 us, at the source or from elsewhere, which takes the lookahead.
static void cancel_stops_what_was_not_sent(void **state) {
    (void)state;
    for (uint32_t from = 0; from < 2; from++) {
        struct driven *d = open_drive(SINGLE, 1);
        struct weft_send s = {.src = 0,
                              .dst = 1,
                              .bytes = 1000000,
                              .tag = 77,
                              .priority = 3,
                              .events = 7,
                              .callback = on_cancel,
                              .context = d};
        assert_int_equal(send(d, &s), 0);
        assert_int_equal(weft_drive_at(d->drive, from, 10 * WEFT_PS_PER_US, on_cancel, d, &d->error), WEFT_OK);
        run_to_end(d);
        assert_int_equal(d->left, 10 * WEFT_PS_PER_US + (from ? weft_drive_lookahead(d->drive) : 0));
        assert_true(weft_drive_now(d->drive) < 12 * WEFT_PS_PER_US);
        struct weft_result *result;
        assert_int_equal(weft_drive_finish(d->drive, &result, &d->error), WEFT_OK);
        const struct weft_result_table *flows = weft_result_table_find("flows");
        struct weft_rows *rows;
        assert_int_equal(weft_rows_new(result, flows, &rows, &d->error), WEFT_OK);
        assert_true(weft_rows_next(rows));
        assert_string_equal(weft_rows_value(rows, weft_result_column_find(flows, "group")).text, "drive");
        assert_true(weft_rows_number(rows, weft_result_column_find(flows, "tag")) == 77);
        assert_false(weft_rows_value(rows, weft_result_column_find(flows, "end_ps")).known);
        double delivered = weft_rows_number(rows, weft_result_column_find(flows, "delivered_bytes"));
        assert_true(delivered > 200000 && delivered < 300000); // 10 us at 200G
        assert_false(weft_rows_next(rows));
        weft_rows_free(rows);
        weft_result_free(result);
        close_drive(d);
    }
}

/// Before anything ran, and after it was delivered: it never starts; nothing happens.
static void cancel_too_early_and_too_late(void **state) {
    (void)state;
    struct driven *d = open_drive(SINGLE, 1);
    struct weft_send s = {
        .src = 0, .dst = 1, .bytes = 1000, .priority = 3, .events = 7, .callback = on_cancel, .context = d};
    uint32_t flow = send(d, &s);
    assert_int_equal(weft_drive_cancel(d->drive, flow, &d->error), WEFT_OK);
    run_to_end(d);
    assert_int_equal(d->callbacks, 1);
    s.callback = on_count;
    s.start_ps = WEFT_PS_PER_MS;
    flow = send(d, &s);
    run_to_end(d);
    assert_int_equal(d->callbacks, 3);
    assert_int_equal(weft_drive_cancel(d->drive, flow, &d->error), WEFT_OK);
    run_to_end(d);
    assert_int_equal(d->callbacks, 3);
    finish(d);
    close_drive(d);
}

static void on_errors(void *context, struct weft_drive *drive, const struct weft_drive_notice *n) {
    struct driven *d = context;
    weft_time_ps soon = n->time_ps + weft_drive_lookahead(drive);
    struct weft_send s = {.src = 1, .dst = 0, .bytes = 1, .start_ps = soon - 1};
    d->callbacks++;
    assert_int_equal(weft_drive_send(drive, &s, NULL, NULL), WEFT_ERROR_LOOKAHEAD);
    s.start_ps = 0;
    assert_int_equal(weft_drive_send(drive, &s, NULL, NULL), WEFT_ERROR_LOOKAHEAD);
    assert_int_equal(weft_drive_at(drive, 1, soon - 1, on_count, d, NULL), WEFT_ERROR_LOOKAHEAD);
    assert_int_equal(weft_drive_at(drive, 1, soon, on_count, d, NULL), WEFT_OK);
    assert_int_equal(weft_drive_at(drive, n->host, 0, on_count, d, NULL), WEFT_OK); // now
    assert_int_equal(weft_drive_run(drive, soon, NULL, NULL), WEFT_ERROR_INPUT);
    struct weft_result *result;
    assert_int_equal(weft_drive_finish(drive, &result, NULL), WEFT_ERROR_INPUT);
}

static void errors_are_codes(void **state) {
    (void)state;
    struct driven *d = open_drive(SINGLE, 1);
    struct weft_send good = {.src = 0, .dst = 1, .bytes = 1000, .priority = 3}, bad;
#define REFUSED(change) (bad = good, bad.change, assert_int_equal(weft_drive_send(d->drive, &bad, NULL, NULL), 2))
    REFUSED(src = 8);
    REFUSED(dst = 8);
    REFUSED(dst = 0);
    REFUSED(bytes = 0);
    REFUSED(bytes = UINT64_MAX);
    REFUSED(priority = 8);
    REFUSED(start_ps = WEFT_TIME_NEVER);
    assert_int_equal(weft_drive_cancel(d->drive, 0, NULL), WEFT_ERROR_INPUT);
    assert_int_equal(weft_drive_at(d->drive, 8, 0, on_count, d, NULL), WEFT_ERROR_INPUT);
    assert_int_equal(weft_drive_at(d->drive, 0, 77777, on_errors, d, NULL), WEFT_OK);
    assert_int_equal(weft_drive_host(d->drive), WEFT_NONE);
    run_to_end(d);
    assert_int_equal(d->callbacks, 3);
    assert_int_equal(weft_drive_send(d->drive, &good, NULL, NULL), WEFT_ERROR_LOOKAHEAD); // it has run
    finish(d);
    struct weft_result *result;
    assert_int_equal(weft_drive_send(d->drive, &good, NULL, NULL), WEFT_ERROR_INPUT);
    assert_int_equal(weft_drive_run(d->drive, 0, NULL, NULL), WEFT_ERROR_INPUT);
    assert_int_equal(weft_drive_finish(d->drive, &result, NULL), WEFT_ERROR_INPUT);
    close_drive(d);
}

static void on_stop(void *context, struct weft_drive *drive, const struct weft_drive_notice *n) {
    note(context, n);
    weft_drive_stop(drive);
}

/// A drive that is left in the middle of a window conserves bytes, too, and can be gone on with.
static void stop_and_go_on(void **state) {
    (void)state;
    struct driven *d = open_drive(LEAF_SPINE, 2);
    for (uint32_t h = 0; h < d->hosts; h++)
        send(d, &(struct weft_send){.src = h,
                                    .dst = (h + 5) % d->hosts,
                                    .bytes = 100000,
                                    .priority = 3,
                                    .events = WEFT_DRIVE_DELIVERED,
                                    .callback = on_stop,
                                    .context = d});
    for (uint32_t k = 0; k < d->hosts / 2; k++)
        run_until(d, WEFT_TIME_NEVER, WEFT_DRIVE_STOPPED);
    assert_int_equal(d->callbacks, d->hosts / 2);
    finish(d); // asserts that bytes are conserved
    close_drive(d);
    d = open_drive(LEAF_SPINE, 1); // and one that never ran
    weft_drive_free(d->drive);
    d->drive = NULL;
    close_drive(d);
}

/// The scenario's own end is the drive's end.
static void scenario_may_end_it(void **state) {
    (void)state;
    struct driven *d = open_drive(SINGLE "run: {until: 10us}\n", 1);
    struct weft_send s = {
        .src = 0, .dst = 1, .bytes = 10000000, .priority = 3, .events = 7, .callback = on_count, .context = d};
    send(d, &s);
    run_until(d, WEFT_TIME_NEVER, WEFT_DRIVE_OVER);
    assert_int_equal(weft_drive_now(d->drive), 10 * WEFT_PS_PER_US);
    assert_int_equal(d->callbacks, 0);
    s.start_ps = 20 * WEFT_PS_PER_US; // what can never happen is refused
    assert_int_equal(weft_drive_send(d->drive, &s, NULL, NULL), WEFT_ERROR_INPUT);
    assert_int_equal(weft_drive_at(d->drive, 0, 20 * WEFT_PS_PER_US, on_count, d, NULL), WEFT_ERROR_INPUT);
    assert_int_equal(weft_drive_cancel(d->drive, 0, NULL), WEFT_ERROR_INPUT);
    run_until(d, WEFT_TIME_NEVER, WEFT_DRIVE_OVER);
    finish(d);
    close_drive(d);
}

/// Nothing is due before the scenario's end, but a program that goes on to a time before it may send from there.
static void goes_on_before_the_scenarios_end(void **state) {
    (void)state;
    struct driven *d = open_drive(SINGLE "run: {until: 10us}\n", 1);
    struct weft_send s = {
        .src = 0, .dst = 1, .bytes = 1000, .priority = 3, .events = 3, .callback = on_count, .context = d};
    assert_int_equal(weft_drive_at(d->drive, 0, 20 * WEFT_PS_PER_US, on_count, d, &d->error), WEFT_OK);
    run_until(d, 2 * WEFT_PS_PER_US, WEFT_DRIVE_UNTIL);
    assert_int_equal(weft_drive_now(d->drive), 2 * WEFT_PS_PER_US);
    s.start_ps = 2 * WEFT_PS_PER_US + weft_drive_lookahead(d->drive);
    send(d, &s);
    run_until(d, 8 * WEFT_PS_PER_US, WEFT_DRIVE_UNTIL);
    assert_int_equal(d->callbacks, 2);
    run_until(d, 12 * WEFT_PS_PER_US, WEFT_DRIVE_OVER);
    assert_int_equal(d->callbacks, 2);
    finish(d);
    close_drive(d);
}

static unsigned count_text(const char *text, const char *part) {
    unsigned n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

/// The scenario's flows and the program's are one group if the scenario names its own so.
static void scenario_may_have_that_group(void **state) {
    (void)state;
    struct driven *d =
        open_drive(SINGLE "workload: [{kind: flow, src: host-0, dst: host-1, size: 5KB, group: drive}]\n", 1);
    send(d, &(struct weft_send){.src = 2, .dst = 3, .bytes = 1000, .priority = 3});
    run_to_end(d);
    struct weft_result *result;
    assert_int_equal(weft_drive_finish(d->drive, &result, &d->error), WEFT_OK);
    char *json;
    size_t size;
    FILE *file = open_memstream(&json, &size);
    assert_int_equal(weft_result_write_json(result, file, &d->error), WEFT_OK);
    fclose(file);
    assert_int_equal(count_text(json, "\"drive\":{"), 1);
    assert_int_equal(count_text(json, "\"drive\":{\"count\":2,"), 1);
    free(json);
    weft_result_free(result);
    close_drive(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ping_pong_to_the_picosecond),
        cmocka_unit_test(sends_are_flows),
        cmocka_unit_test(ring_takes_the_time_of_its_steps),
        cmocka_unit_test(same_on_any_number_of_threads),
        cmocka_unit_test(random_programs_have_one_history),
        cmocka_unit_test(many_sends_in_flight),
        cmocka_unit_test(cancel_stops_what_was_not_sent),
        cmocka_unit_test(cancel_too_early_and_too_late),
        cmocka_unit_test(errors_are_codes),
        cmocka_unit_test(stop_and_go_on),
        cmocka_unit_test(scenario_may_end_it),
        cmocka_unit_test(goes_on_before_the_scenarios_end),
        cmocka_unit_test(scenario_may_have_that_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
