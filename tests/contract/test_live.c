// SPDX-License-Identifier: Apache-2.0
// Frames of attached hosts through every fabric: each arrives as it was sent but for its mark, once, in order unless
// packets are sprayed; what is lost is counted; and the record of a run, run again on any number of threads, gives the
// same digest.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft/drive.h"
#include "weft/packet.h"
#include "weft/pcapng.h"
#include "weft/random.h"
#include "weft/report.h"

enum { FRAMES = 10000, FRAME_MAX = 4140, HOSTS = 4, NUMBER_AT = 60 };
#define STEP_PS (UINT64_C(1000) * 1000)

#define ATTACHED "live: {hosts: {%s: , %s: , %s: , %s: }}\n"

#define CLOS "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
#define ONE_SENDS "  - {kind: incast, sources: host-7, size: 300KB, dst: host-3}\n"
#define UPLINKS_ARE_FULL                                                                                               \
    "  - {kind: flow, src: host-2, dst: host-6, size: 20MB}\n"                                                         \
    "  - {kind: flow, src: host-3, dst: host-7, size: 20MB}\n"

/// Four hosts are attached, and others send by the same switches.
static const struct fabric {
    const char *name, *text, *work, *host[HOSTS];
    weft_time_ps step_ps; ///< from frame to frame
    bool sprayed;         ///< packets of a conversation may overtake one another
    bool marks, loses;    ///< some must be marked, or lost
    bool pauses;          ///< a pause must hold an attached host
} fabrics[] = {
    {"clos",
     CLOS "switch: {pfc: {priorities: [3]}, aqm: {kind: wred, min: 5KB, max: 10KB, max_probability: 100%}}\n",
     ONE_SENDS,
     {"host-0", "host-1", "host-4", "host-5"},
     .step_ps = 50000,
     .marks = true},
    {"lossy clos",
     CLOS "switch: {buffer: {kind: static, size: 20KB, xoff: 20KB, xon: 20KB}}\n",
     ONE_SENDS,
     {"host-0", "host-1", "host-4", "host-5"},
     .step_ps = 50000,
     .loses = true},
    {"sprayed clos",
     CLOS "switch: {route: spray}\n",
     ONE_SENDS,
     {"host-0", "host-1", "host-4", "host-5"},
     .step_ps = 100000,
     .sprayed = true},
    {"dsf",
     "topology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 10, virtual_devices: 4, hosts_per_rdsw: 2}\n"
     "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n",
     ONE_SENDS,
     {"host-0", "host-2", "host-4", "host-6"},
     .step_ps = 50000},
    {"clique",
     "topology: {kind: dragonfly, pods: 2, tins: 2, hosts_per_tin: 2, global_delay: 100ns}\n",
     ONE_SENDS,
     {"host-0", "host-2", "host-4", "host-6"},
     .step_ps = 500000},
    {"pfc clos",
     CLOS "switch: {pfc: {priorities: [0, 3]}, buffer: {kind: static, size: 200KB, xoff: 20KB, xon: 10KB}}\n"
          "host: {pfc: {priorities: [0, 3]}}\n",
     UPLINKS_ARE_FULL,
     {"host-0", "host-1", "host-4", "host-5"},
     .step_ps = 50000,
     .pauses = true},
};
enum { FABRICS = sizeof fabrics / sizeof *fabrics };

struct sent {
    uint8_t bytes[FRAME_MAX];
    uint32_t length, host, to;
    weft_time_ps time_ps;
    bool arrived, marked;
};

struct run {
    struct weft_scenario_file *file;
    struct weft_simulation *simulation;
    struct weft_drive *drive;
    struct weft_error error;
    struct sent *sent; ///< [FRAMES]
    uint32_t arrived, marked, overtaken, host[HOSTS];
    uint32_t next[HOSTS][HOSTS][3]; ///< number after the last frame from one to another of each protocol
    weft_time_ps until_ps;
    uint64_t digest, pauses, drops; ///< pauses: to attached hosts
};

static void put_word(uint8_t *b, uint32_t value) {
    b[0] = (uint8_t)(value >> 8);
    b[1] = (uint8_t)value;
}

/// RFC 1071, by the book.
static uint32_t sum_of(const uint8_t *b, size_t n) {
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i += 2)
        sum += (uint32_t)b[i] << 8 | b[i + 1];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

static void make_ipv4(struct sent *s, uint32_t number) {
    uint8_t *b = s->bytes;
    put_word(b + 12, 0x0800);
    memset(b + 14, 0, 28);
    b[14] = 0x45;
    b[15] = (uint8_t)((number % 3 ? 26 : 0) << 2 | WEFT_ECN_ECT0);
    put_word(b + 16, s->length - 14);
    b[22] = 64;
    b[23] = 17;
    b[29] = (uint8_t)(1 + s->host);
    b[33] = (uint8_t)(1 + s->to);
    put_word(b + 24, ~sum_of(b + 14, 20) & 0xffff);
    put_word(b + 34, 0xc000 + s->host * 7);
    put_word(b + 36, 4791);
}

static void make_ipv6(struct sent *s) {
    uint8_t *b = s->bytes;
    put_word(b + 12, 0x86dd);
    b[14] = 0x60 | 26 >> 2; // DSCP 26, ECT(1)
    b[15] = (uint8_t)((26 & 3) << 6 | WEFT_ECN_ECT1 << 4);
    b[20] = 17;
    memset(b + 22, 0, 36); // addresses and ports are always the same
}

static void make_frames(struct run *r) {
    struct weft_random random = weft_random_stream(7, 0, WEFT_RANDOM_PHASE);
    r->sent = calloc(FRAMES, sizeof *r->sent);
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct sent *s = &r->sent[i];
        s->host = i % HOSTS;
        s->to = (s->host + 1 + (uint32_t)weft_random_below(&random, HOSTS - 1)) % HOSTS;
        s->length = NUMBER_AT + 4 + (uint32_t)weft_random_below(&random, FRAME_MAX - NUMBER_AT - 3);
        for (uint32_t k = 12; k < s->length; k++)
            s->bytes[k] = (uint8_t)weft_random_below(&random, 256);
        if (weft_drive_mac(r->drive, r->host[s->to], s->bytes, &r->error) ||
            weft_drive_mac(r->drive, r->host[s->host], s->bytes + 6, &r->error))
            fail_msg("%s", r->error.text);
        if (i % 8 == 7)
            put_word(s->bytes + 12, 0x88b5); // for experiments
        else if (i % 8 == 6)
            make_ipv6(s);
        else
            make_ipv4(s, s->host + s->to);
        memcpy(s->bytes + NUMBER_AT, &i, sizeof i);
    }
}

/// Compares all but the mark and, of IPv4, the header's sum, which must be right.
static void check_bytes(struct run *r, struct sent *s, const uint8_t *b) {
    uint8_t expected[FRAME_MAX];
    memcpy(expected, s->bytes, s->length);
    uint32_t type = (uint32_t)b[12] << 8 | b[13];
    if (type == 0x0800 && (b[15] & 3) == WEFT_ECN_CE) {
        assert_int_equal(sum_of(b + 14, 20), 0xffff);
        expected[15] |= WEFT_ECN_CE;
        memcpy(expected + 24, b + 24, 2);
        s->marked = true;
    } else if (type == 0x86dd && (b[15] >> 4 & 3) == WEFT_ECN_CE) {
        expected[15] |= WEFT_ECN_CE << 4;
        s->marked = true;
    }
    r->marked += s->marked;
    assert_memory_equal(expected, b, s->length);
}

static void on_frame(void *context, struct weft_drive *drive, const struct weft_drive_notice *notice) {
    struct run *r = context;
    uint32_t number;
    assert_non_null(notice->frame);
    memcpy(&number, notice->frame + NUMBER_AT, sizeof number);
    assert_in_range(number, 0, FRAMES - 1);
    struct sent *s = &r->sent[number];
    assert_int_equal(notice->event, WEFT_DRIVE_FRAME);
    assert_int_equal(notice->host, r->host[s->to]);
    assert_int_equal(notice->bytes, s->length);
    assert_false(s->arrived);
    assert_true(notice->time_ps > s->time_ps);
    uint32_t *next = &r->next[s->host][s->to][number % 8 < 6 ? 0 : number % 8 - 5];
    r->overtaken += number < *next;
    *next = number + 1;
    s->arrived = true;
    r->arrived++;
    check_bytes(r, s, notice->frame);
    (void)drive;
}

static char *scenario_of(const struct fabric *f, const char *record, weft_time_ps until) {
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    fprintf(file, "hardware: ideal\n%s" ATTACHED, f->text, f->host[0], f->host[1], f->host[2], f->host[3]);
    fprintf(file, "workload:\n%s", f->work);
    if (record)
        fprintf(file, "  - {kind: frames, file: %s}\nrun: {until: %llups}\n", record, (unsigned long long)until);
    fclose(file);
    return text;
}

static void open_run(struct run *r, const char *text) {
    if (weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r->file, &r->error) ||
        weft_simulation_new(r->file, 0, &r->simulation, &r->error))
        fail_msg("%s", r->error.text);
}

static void close_run(struct run *r) {
    weft_drive_free(r->drive);
    weft_simulation_free(r->simulation);
    weft_scenario_file_free(r->file);
    free(r->sent);
}

static void write_record(const struct run *r, const struct fabric *f, const char *path) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    weft_pcapng_write_section(file, "test", NULL);
    for (uint32_t h = 0; h < HOSTS; h++)
        weft_pcapng_write_interface(file, &(struct weft_pcapng_interface){.name = f->host[h]});
    for (uint32_t i = 0; i < FRAMES; i++)
        weft_pcapng_write_packet(file, &(struct weft_pcapng_packet){.interface = r->sent[i].host,
                                                                    .time_ns = r->sent[i].time_ps / 1000,
                                                                    .bytes = r->sent[i].length,
                                                                    .captured = r->sent[i].length,
                                                                    .frame = r->sent[i].bytes});
    assert_int_equal(fclose(file), 0);
}

/// The frames come while the network runs, some ten at a time.
static void run_live(struct run *r, const struct fabric *f, uint32_t threads) {
    char *text = scenario_of(f, NULL, 0);
    open_run(r, text);
    free(text);
    struct weft_sim_options options = {.threads = threads};
    if (weft_drive_new(r->simulation, &options, &r->drive, &r->error)) fail_msg("%s", r->error.text);
    for (uint32_t h = 0; h < HOSTS; h++) {
        r->host[h] = weft_simulation_host_find(r->simulation, f->host[h]);
        assert_int_equal(weft_drive_attach(r->drive, r->host[h], on_frame, r, &r->error), WEFT_OK);
    }
    make_frames(r);
    for (uint32_t i = 0; i < FRAMES; i++) {
        enum weft_frame_fate fate;
        struct sent *s = &r->sent[i];
        s->time_ps = STEP_PS + i * f->step_ps;
        if (i % 10 == 0 && weft_drive_run(r->drive, i * f->step_ps, NULL, &r->error)) fail_msg("%s", r->error.text);
        if (weft_drive_put(r->drive, r->host[s->host], s->time_ps, s->bytes, s->length, &fate, &r->error))
            fail_msg("%s", r->error.text);
        assert_int_equal(fate, WEFT_FRAME_SENT);
    }
    if (weft_drive_run(r->drive, FRAMES * f->step_ps + 3000 * STEP_PS, NULL, &r->error)) fail_msg("%s", r->error.text);
}

static uint64_t finish_live(struct run *r) {
    struct weft_result *result;
    if (weft_drive_finish(r->drive, &result, &r->error)) fail_msg("%s", r->error.text);
    uint64_t digest = weft_result_digest(result);
    r->until_ps = weft_result_sim_time(result);
    const struct weft_run *run = weft__result_run(result);
    for (uint32_t h = 0; h < HOSTS; h++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            r->pauses += weft_outcome_at(run->outcome, run->topology->node[run->topology->host[r->host[h]]].port0, p)
                             ->pfc_rx_xoff;
    for (uint32_t d = 0; d < WEFT_DROPS; d++)
        r->drops += run->outcome->drops[d];
    weft_result_free(result);
    return digest;
}

static uint64_t replay(const struct fabric *f, const char *record, weft_time_ps until, uint32_t threads) {
    struct run r = {0};
    struct weft_result *result;
    char *text = scenario_of(f, record, until);
    open_run(&r, text);
    free(text);
    struct weft_sim_options options = {.threads = threads};
    if (weft_simulation_run(r.simulation, &options, &result, &r.error)) fail_msg("%s", r.error.text);
    uint64_t digest = weft_result_digest(result);
    weft_result_free(result);
    close_run(&r);
    return digest;
}

static void test_fabric(const struct fabric *f) {
    struct run r = {0};
    char record[] = "/tmp/weft-live-XXXXXX";
    close(mkstemp(record));
    run_live(&r, f, 2);
    if (!f->loses) assert_int_equal(r.arrived, FRAMES);
    if (f->loses) assert_in_range(r.arrived, FRAMES / 4, FRAMES - 1);
    assert_true(f->marks ? r.marked > 0 : r.marked == 0);
    assert_true(f->sprayed ? r.overtaken > 0 : r.overtaken == 0);
    r.digest = finish_live(&r);
    assert_true(f->pauses ? r.pauses > 0 : r.pauses == 0);
    if (f->pauses) assert_int_equal(r.drops, 0);
    write_record(&r, f, record);
    for (uint32_t threads = 1; threads <= 2; threads++)
        if (replay(f, record, r.until_ps, threads) != r.digest)
            fail_msg("%s: another digest on %u threads", f->name, threads);
    unlink(record);
    close_run(&r);
}

// --- in lockstep, against a flow of the scenario

#define SINGLE "hardware: ideal\ntopology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1}\n"
enum { TRAIN = 1280, MTU = 4096 };

static void on_train(void *context, struct weft_drive *drive, const struct weft_drive_notice *notice) {
    *(weft_time_ps *)context = notice->time_ps;
    (void)drive;
}

/// When the last of frames with MTU bytes of payload each has arrived that all are there at time 0.
static weft_time_ps time_train(void) {
    static const char text[] = SINGLE "live: {slow: 0, hosts: {host-0: , host-1: }}\n";
    struct run r = {0};
    weft_time_ps end_ps = 0;
    uint8_t frame[MTU + 58] = {0}; // the headers of RoCE, without FCS
    open_run(&r, text);
    if (weft_drive_new(r.simulation, NULL, &r.drive, &r.error) ||
        weft_drive_attach(r.drive, 1, on_train, &end_ps, &r.error) || weft_drive_mac(r.drive, 1, frame, &r.error) ||
        weft_drive_mac(r.drive, 0, frame + 6, &r.error))
        fail_msg("%s", r.error.text);
    for (uint32_t i = 0; i < TRAIN; i++)
        assert_int_equal(weft_drive_put(r.drive, 0, 0, frame, sizeof frame, NULL, &r.error), WEFT_OK);
    assert_int_equal(weft_drive_waiting(r.drive, 0), TRAIN);
    if (weft_drive_run(r.drive, STEP_PS * 1000, NULL, &r.error)) fail_msg("%s", r.error.text);
    assert_int_equal(weft_drive_waiting(r.drive, 0), 0);
    close_run(&r);
    return end_ps;
}

static weft_time_ps time_flow(void) {
    static const char text[] =
        SINGLE "workload: [{kind: flow, src: host-0, dst: host-1, size: 5242880B}]\nhost: {mtu: 4096B}\n";
    struct run r = {0};
    struct weft_result *result;
    open_run(&r, text);
    if (weft_simulation_run(r.simulation, NULL, &result, &r.error)) fail_msg("%s", r.error.text);
    weft_time_ps end_ps = weft__result_run(result)->outcome->flow[0].end_ps;
    weft_result_free(result);
    close_run(&r);
    return end_ps;
}

/// All packets but the first, which says where to write, are as long; RoCE's window is not the limit here.
static void test_train(void **state) {
    (void)state;
    double train = (double)time_train(), flow = (double)time_flow();
    assert_true(fabs(train / flow - 1) < 0.01);
}

#define TEST(n)                                                                                                        \
    static void test_##n(void **state) {                                                                               \
        (void)state;                                                                                                   \
        test_fabric(&fabrics[n]);                                                                                      \
    }
TEST(0)
TEST(1)
TEST(2)
TEST(3)
TEST(4)
TEST(5)
_Static_assert(FABRICS == 6, "each has a test");

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_0), cmocka_unit_test(test_1), cmocka_unit_test(test_2),     cmocka_unit_test(test_3),
        cmocka_unit_test(test_4), cmocka_unit_test(test_5), cmocka_unit_test(test_train),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
