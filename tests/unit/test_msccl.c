// SPDX-License-Identifier: Apache-2.0
// Algorithms of MSCCL: what files must have, that the algorithms give the right result, and how long they take.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include <time.h>

#include "import/msccl/msccl.h"
#include "import_files.h"
#include "weft/import.h"
#include "weft/report.h"

/// A ring all-reduce in `channels`, as weft's own goes round: the first thing that a rank sends is the block of its
/// own.
static const char *put_ring(uint32_t ranks, uint32_t channels) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out,
            "<algo name=\"ring\" proto=\"Simple\" nchannels=\"%" PRIu32 "\" nchunksperloop=\"%" PRIu32
            "\" ngpus=\"%" PRIu32 "\" coll=\"allreduce\" inplace=\"1\">\n",
            channels, ranks * channels, ranks);
    for (uint32_t r = 0; r < ranks; r++) {
        fprintf(out, "<gpu id=\"%" PRIu32 "\" i_chunks=\"%" PRIu32 "\" o_chunks=\"%" PRIu32 "\" s_chunks=\"0\">\n", r,
                ranks * channels, ranks * channels);
        for (uint32_t c = 0; c < channels; c++) {
            fprintf(out, "<tb id=\"%" PRIu32 "\" send=\"%" PRIu32 "\" recv=\"%" PRIu32 "\" chan=\"%" PRIu32 "\">\n", c,
                    (r + 1) % ranks, (r + ranks - 1) % ranks, c);
            for (uint32_t s = 0; s < 2 * ranks - 1; s++) {
                uint32_t chunk = (r + 2 * ranks - 1 - s) % ranks + c * ranks;
                const char *type = s == 0              ? "s"
                                   : s < ranks - 1     ? "rrs"
                                   : s == ranks - 1    ? "rrcs"
                                   : s < 2 * ranks - 2 ? "rcs"
                                                       : "r";
                fprintf(out,
                        "<step s=\"%" PRIu32 "\" type=\"%s\" srcbuf=\"i\" srcoff=\"%" PRIu32
                        "\" dstbuf=\"i\" dstoff=\"%" PRIu32 "\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n",
                        s, type, chunk, chunk);
            }
            fprintf(out, "</tb>\n");
        }
        fprintf(out, "</gpu>\n");
    }
    fprintf(out, "</algo>\n");
    fclose(out);
    const char *path = put("ring.xml", text);
    free(text);
    return path;
}

static struct run run_of(const char *collective, uint32_t hosts, const char *size, const char *more) {
    char text[1024];
    snprintf(text, sizeof text,
             "topology: {kind: single, hosts: %" PRIu32 ", rate: 200Gbps, delay: 150ns}\n"
             "workload: [{kind: collective, collective: {%s}, size: %s%s}]\n",
             hosts, collective, size, more);
    return run_once(text);
}

static double time_of(const struct run *r) {
    const struct weft_run run = {
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
    return weft_report_collective(&run, 0, 0).time_ps;
}

/// The same ring from a file and out of weft gives the same packets at the same times, in one loop and in several; and
/// where the size is no multiple of the chunks, which are then all as large as the largest, nearly so.
static void a_ring_is_as_fast_as_our_own(void **state) {
    static const struct {
        uint32_t ranks, channels;
        const char *size;
        double within;
    } form[] = {{2, 1, "1MiB", 0}, {3, 1, "3MiB", 0},   {4, 1, "64MiB", 0},       {4, 2, "16MiB", 0},
                {8, 1, "4MiB", 0}, {8, 4, "128MiB", 0}, {5, 1, "1000003B", 1e-4}, {4, 3, "100001B", 1e-3}};
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        char own[128], file[512];
        snprintf(own, sizeof own, "kind: all_reduce_ring, channels: %" PRIu32, form[i].channels);
        snprintf(file, sizeof file, "kind: msccl, file: %s", put_ring(form[i].ranks, form[i].channels));
        struct run a = run_of(own, form[i].ranks, form[i].size, ""), b = run_of(file, form[i].ranks, form[i].size, "");
        if (form[i].within <= 0) assert_int_equal(a.outcome->digest, b.outcome->digest);
        double ratio = time_of(&b) / time_of(&a);
        if (fabs(ratio - 1) > form[i].within) fail_msg("%zu: %g times as long", i, ratio);
        run_free(&a);
        run_free(&b);
    }
}

static const char *sample(void) {
    static char path[512];
    snprintf(path, sizeof path, "%s/examples/import/msccl.xml", getenv("WEFT_ROOT"));
    return path;
}

/// All pairs with thread blocks that wait for one another: each sends 2 (n - 1) / n of the size, as fast as its NIC can
/// (2 x 3 chunks of 2 MiB at 200 Gbit/s, 62 bytes of headers for each 4096), and the digest does not depend on threads.
static void all_pairs(void **state) {
    char file[600];
    snprintf(file, sizeof file, "kind: msccl, file: %s", sample());
    struct run r = run_of(file, 4, "8MiB", "");
    weft_bytes bytes = 0;
    for (uint32_t f = 0; f < r.outcome->flows; f++)
        bytes += r.outcome->flow[f].delivered_bytes;
    assert_int_equal(bytes, 4 * 2 * 3 * (2 << 20));
    double least = 6. * (2 << 20) * 8 / 200e9 * 1e12;
    assert_true(time_of(&r) > least && time_of(&r) < least * 1.05);
    for (uint32_t threads = 2; threads < 4; threads++) {
        struct weft_outcome *again = run_again(&r, threads, file);
        assert_int_equal(again->digest, r.outcome->digest);
        weft_outcome_free(again);
    }
    run_free(&r);
    const char *path = sample();
    r = run_import("msccl", &path, 1);
    assert_int_equal(r.outcome->job[0].ranks_done, 4);
    run_free(&r);
}

/// The setting that would accept a file is named, and weft import has it.
static void import_without_verifying(void **state) {
    static char text[1 << 16];
    FILE *file = fopen(sample(), "r");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    memcpy(strstr(text, "coll=\"allreduce\""), "coll=\"alltoall\" ", 16);
    const char *path = put("other.xml", text);
    struct weft_error error;
    free(import("msccl", &path, 1, &error));
    assert_non_null(strstr(error.text, "expected what coll says (verify: off"));
    char *made = import_set("msccl", "{verify: off}", &path, 1);
    assert_non_null(strstr(made, "collective: {kind: msccl, file: other.xml, verify: off}"));
    free(made);
}

/// In groups of a job, some of them within a server; over sizes, repeated, with local work that takes its time.
static void in_a_job(void **state) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "topology: {kind: single, hosts: 8, rate: 200Gbps, delay: 150ns}\n"
        "workload: [{kind: job, dimensions: [tp:4, dp:2], server: {gpus: 4}, iterations: 2, operations: [\n"
        " {size: 1MiB, over: tp, collective: {kind: msccl, file: %s, copy_rate: 400Gbps, step_delay: 1us}, times: 3},\n"
        " {size: 3MB, over: dp, overlap: on},\n"
        " {size: 100KB, over: tp, collective: {kind: msccl, file: %s, chunk: 10KB, slice: 3KB, slots: 5}}]}]\n",
        sample(), sample());
    struct run r = run_once(text);
    assert_int_equal(r.outcome->job[0].ranks_done, 8);
    struct weft_outcome *again = run_again(&r, 3, text);
    assert_int_equal(again->digest, r.outcome->digest);
    weft_outcome_free(again);
    run_free(&r);
}

/// Two GPUs that send `count` chunks to one another before they receive them.
static const char *put_exchange(uint32_t count, const char *limits) {
    char text[2048];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "<algo name='x' proto='LL' nchannels='1' nchunksperloop='%" PRIu32
                                "' ngpus='2' coll='custom' inplace='0' %s>\n",
                                2 * count, limits);
    for (int g = 0; g < 2; g++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "<gpu id='%d' i_chunks='%" PRIu32 "' o_chunks='%" PRIu32 "' s_chunks='0'><tb id='0' "
                              "send='%d' recv='%d' chan='0'>\n"
                              "<step s='0' type='s' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='%" PRIu32
                              "' depid='-1' deps='-1' hasdep='0'/>\n"
                              "<step s='1' type='r' srcbuf='i' srcoff='0' dstbuf='o' dstoff='0' cnt='%" PRIu32
                              "' depid='-1' deps='-1' hasdep='0'/></tb></gpu>\n",
                              g, 2 * count, 2 * count, !g, !g, count, count);
    snprintf(text + n, sizeof text - n, "</algo>\n");
    return put("exchange.xml", text);
}

/// weft import asks for sizes that the file is for, and for none with which ranks would wait for ever: those that send
/// 2 MiB of each of 4 chunks have 8 slices of 1 MiB on their way, and 4 slots.
static void sizes_that_end(void **state) {
    static const struct {
        uint32_t count;
        const char *limits, *expected[3];
    } file[] = {
        {1, "", {"size: 1MiB\n  size_max: 64MiB\n", "sizes from 1MiB to 64MiB", NULL}},
        {4, "", {"size: 1MiB\n  size_max: 4MiB\n", "sizes above 4MiB", NULL}},
        {4, "minBytes='2048' maxBytes='13312'", {"size: 2048B\n  size_max: 8192B\n", "minBytes", NULL}},
        {1, "minBytes='1048576' maxBytes='1048576'", {"size: 1MiB\n  size_max: 1MiB\n", "minBytes", NULL}},
    };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        const char *path = put_exchange(file[i].count, file[i].limits);
        struct weft_error error;
        char *text = import("msccl", &path, 1, &error);
        if (*error.text) fail_msg("%s", error.text);
        for (uint32_t k = 0; file[i].expected[k]; k++)
            if (!strstr(text, file[i].expected[k])) fail_msg("%zu: no %s in\n%s", i, file[i].expected[k], text);
        free(text);
        struct run r = run_import("msccl", &path, 1);
        assert_int_equal(r.outcome->job[0].ranks_done, 2);
        run_free(&r);
    }
}

#define ALGO(n, chunks, coll, body)                                                                                    \
    "<algo name='x' proto='Simple' nchannels='2' nchunksperloop='" chunks "' ngpus='" n "' coll='" coll                \
    "' inplace='0'>\n" body "</algo>\n"
#define GPU(id, body) "<gpu id='" id "' i_chunks='2' o_chunks='2' s_chunks='1'>\n" body "</gpu>\n"
#define TB(id, peers, chan, body) "<tb id='" id "' " peers " chan='" chan "'>\n" body "</tb>\n"
#define STEP(s, type, src, dst, dep) "<step s='" s "' type='" type "' " src " " dst " cnt='1' " dep " hasdep='0'/>\n"
#define SRC(buffer, at) "srcbuf='" buffer "' srcoff='" at "'"
#define DST(buffer, at) "dstbuf='" buffer "' dstoff='" at "'"
#define NO "depid='-1' deps='-1'"
#define COPY_OWN(to) TB("7", "send='-1' recv='-1'", "0", STEP("0", "cpy", SRC("i", "0"), DST("o", to), NO))

/// GPU 0's chunk goes to GPU 1, and back; `dep` says whether the way back waits for the way there.
#define PING_PONG(dep)                                                                                                 \
    ALGO("2", "2", "custom",                                                                                           \
         GPU("0", TB("0", "send='1' recv='-1'", "0", STEP("0", "s", SRC("i", "0"), DST("o", "0"), NO))                 \
                      TB("1", "send='-1' recv='1'", "1", STEP("0", "r", SRC("i", "0"), DST("o", "1"), NO)))            \
             GPU("1", TB("5", "send='-1' recv='0'", "0", STEP("0", "r", SRC("i", "0"), DST("i", "1"), NO))             \
                          TB("9", "send='0' recv='-1'", "1", STEP("0", "s", SRC("i", "1"), DST("o", "0"), dep))))

/// A thread block that waits for another begins when that has all of its step.
static void blocks_wait_for_one_another(void **state) {
    double time[2];
    for (uint32_t k = 0; k < 2; k++) {
        char file[512];
        snprintf(file, sizeof file, "kind: msccl, file: %s",
                 put("pingpong.xml", k ? PING_PONG("depid='5' deps='0'") : PING_PONG(NO)));
        struct run r = run_of(file, 2, "4MiB", "");
        time[k] = time_of(&r);
        run_free(&r);
    }
    assert_true(time[1] > 1.95 * time[0] && time[1] < 2.05 * time[0]);
}

/// All-gather of two GPUs: each copies its chunk and sends it, out of place.
#define GATHER(first, second)                                                                                          \
    ALGO("2", "2", "allgather",                                                                                        \
         GPU("0", COPY_OWN("0") TB("0", "send='1' recv='1'", "0",                                                      \
                                   STEP("0", "s", SRC("i", "0"), DST("o", "0"), NO)                                    \
                                       STEP("1", "r", SRC("i", "0"), DST("o", first), NO)))                            \
             GPU("1", COPY_OWN("1") TB("0", "send='0' recv='0'", "0",                                                  \
                                       STEP("0", "s", SRC("i", "0"), DST("o", "0"), NO)                                \
                                           STEP("1", "r", SRC("i", "0"), DST("o", second), NO))))

/// What the end of a file is compared with, in and out of place: rings are all-reduces, and GATHER is an all-gather.
static void what_it_is_for_is_checked(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_error error = {0};
    struct weft__msccl *m;
    for (uint32_t n = 2; n < 40; n += n / 2) {
        assert_int_equal(weft__msccl_read(put_ring(n, 1 + n % 3), WEFT_NOWHERE, arena, &m, &error), WEFT_OK);
        if (weft__msccl_play(m, true, &error)) fail_msg("%s", error.text);
    }
    assert_int_equal(weft__msccl_read(put("g.xml", GATHER("1", "0")), WEFT_NOWHERE, arena, &m, &error), WEFT_OK);
    assert_int_equal(weft__msccl_play(m, true, &error), WEFT_OK);
    assert_int_equal(weft__msccl_read(put("g.xml", GATHER("1", "1")), WEFT_NOWHERE, arena, &m, &error), WEFT_OK);
    assert_int_equal(weft__msccl_play(m, false, &error), WEFT_OK);
    assert_int_equal(weft__msccl_play(m, true, &error), WEFT_ERROR_INPUT);
    weft_arena_free(arena);
}

#define RING2(type0, at0, type1, at1, step2)                                                                           \
    ALGO("2", "1", "allreduce",                                                                                        \
         GPU("0", TB("0", "send='1' recv='1'", "0",                                                                    \
                     STEP("0", type0, SRC("i", at0), DST("o", at0), NO)                                                \
                         STEP("1", type1, SRC("i", at1), DST("o", at1), NO) step2))                                    \
             GPU("1", TB("0", "send='0' recv='0'", "0",                                                                \
                         STEP("0", "s", SRC("i", "0"), DST("o", "0"), NO)                                              \
                             STEP("1", "rrc", SRC("i", "0"), DST("o", "0"), NO))))

static void bad_files(void **state) {
    static const struct bad_file bad[] = {
        {"msccl", "<algo ", "1:1: unclosed token; expected XML"},
        {"msccl", "<algo>", "<algo> has no attribute 'coll'"},
        {"msccl", "<algo coll='allreduce' ngpus='two' nchannels='1' nchunksperloop='1'/>",
         "1:1: <algo> has ngpus=\"...\""},
        {"msccl", "<algo coll='allreduce' ngpus='1' nchannels='1' nchunksperloop='1'/>", "from 2 to 4096"},
        {"msccl", "<algo coll='allgather' ngpus='2' nchannels='1' nchunksperloop='3'/>", "a multiple of ngpus=\"2\""},
        {"msccl", "<algo coll='allreduce' ngpus='2' nchannels='1' nchunksperloop='2'/>", "GPU 0 is missing"},
        {"msccl", ALGO("2", "2", "allreduce", "<tb/>"), "2:1: expected <gpu> here"},
        {"msccl", ALGO("2", "2", "allreduce", GPU("0", "") GPU("0", "")), "4:1: GPU 0 is on line 2 already"},
        {"msccl", ALGO("2", "2", "allreduce", GPU("0", "") GPU("1", "")), "no step is in it"},
        {"msccl", ALGO("2", "2", "allreduce", GPU("2", "")),
         "2:1: <gpu> has id=\"2\"; expected a whole number from 0 to 1"},
        {"msccl", ALGO("2", "2", "allreduce", GPU("0", TB("0", "send='2' recv='-1'", "0", ""))),
         "3:1: <tb> has send=\"2\""},
        {"msccl", ALGO("2", "2", "allreduce", GPU("0", TB("0", "send='0' recv='-1'", "0", ""))),
         "3:1: expected another GPU"},
        {"msccl", ALGO("2", "2", "allreduce", GPU("0", TB("0", "send='1' recv='-1'", "2", ""))),
         "3:1: <tb> has chan=\"2\""},
        {"msccl",
         ALGO("2", "2", "allreduce",
              GPU("0", TB("0", "send='1' recv='-1'", "0", "") TB("0", "send='-1' recv='1'", "0", ""))),
         "5:1: the thread block of line 3 has the same id"},
        {"msccl",
         ALGO("2", "2", "allreduce",
              GPU("0", TB("0", "send='1' recv='-1'", "0", "") TB("1", "send='1' recv='-1'", "0", ""))),
         "5:1: the thread block of line 3 has the same send and chan"},
        {"msccl", RING2("x", "0", "rrc", "0", ""), "4:1: type is none of"},
        {"msccl", RING2("s", "2", "rrc", "0", ""),
         "4:1: srcoff=\"2\" and cnt=\"1\": expected chunks of the buffer's 2"},
        {"msccl", RING2("s", "0", "rrc", "-1", ""), "5:1: <step> has srcoff=\"-1\""},
        {"msccl", RING2("s", "0", "rrc", "0", STEP("3", "nop", "", "", NO)), "6:1: <step> has s=\"3\""},
        {"msccl", RING2("s", "0", "rrc", "0", STEP("2", "nop", "", "", "depid='1' deps='0'")),
         "6:1: depid=\"1\" and deps=\"0\""},
        {"msccl", RING2("s", "0", "rrc", "0", STEP("2", "nop", "", "", "depid='0' deps='-1'")),
         "6:1: expected -1 in both"},
        {"msccl", RING2("s", "0", "rrc", "0", STEP("2", "s", SRC("o", "0"), "", NO)),
         "6:1: no step of GPU 1 receives it in channel 0"},
        {"msccl", RING2("s", "0", "rrc", "0", STEP("2", "r", "", DST("o", "0"), NO)), "6:1: no step of GPU 1 sends it"},
        {"msccl", RING2("s", "0", "rrc", "0", STEP("2", "nop", "", "", "depid='0' deps='2'")),
         "6:1: GPU 0, thread block 0, step 2: it waits for ever"},
        {"msccl", RING2("s", "0", "r", "0", ""), "2:1: GPU 0 ends with something else in chunk 0 of its output"},
        {"msccl", RING2("s", "0", "rrc", "1", ""), "5:1: GPU 0, thread block 0, step 1: it reads a chunk that nothing"},
        {"msccl", "<!DOCTYPE algo [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><algo name='&b;'/>", "a document type"},
        {"msccl", "<algo coll='x' name='&amp;&b;'/>", "undefined entity; expected XML"},
        {"msccl", "<algo coll='x' coll='y'/>", "duplicate attribute"},
        {"msccl", "<algo coll='allreduce' ngpus='2' nchannels='1' nchunksperloop='2'><gpu></algo>",
         "has no attribute 'id'"},
    };
    refuse_all(bad, sizeof bad / sizeof *bad);
}

/// A token without end is refused before memory is.
static void an_attribute_without_end(void **state) {
    size_t size = 8 << 20;
    char *text = malloc(size);
    memset(text, 'a', size - 1);
    memcpy(text, "<algo name='", 12);
    text[size - 1] = 0;
    const struct bad_file bad = {"msccl", text, "expected an element of at most 1048576 bytes"};
    refuse_all(&bad, 1);
    free(text);
}

#define FIVE(type, ...)                                                                                                \
    STEP("0", type, SRC("i", "0"), DST("o", "0"), NO)                                                                  \
    STEP("1", type, SRC("i", "0"), DST("o", "0"), NO)                                                                  \
    STEP("2", type, SRC("i", "0"), DST("o", "0"), NO)                                                                  \
    STEP("3", type, SRC("i", "0"), DST("o", "0"), NO) STEP("4", type, SRC("i", "0"), DST("o", "0"), NO)

/// Both send five times before they receive: a connection of four slots has no room for that, one of six has.
static void too_little_room_is_found_before_the_run(void **state) {
#define LATE(type)                                                                                                     \
    STEP("5", type, SRC("i", "0"), DST("o", "0"), NO)                                                                  \
    STEP("6", type, SRC("i", "0"), DST("o", "0"), NO)                                                                  \
    STEP("7", type, SRC("i", "0"), DST("o", "0"), NO)                                                                  \
    STEP("8", type, SRC("i", "0"), DST("o", "0"), NO) STEP("9", type, SRC("i", "0"), DST("o", "0"), NO)
    const char *path = put("five.xml", ALGO("2", "1", "custom",
                                            GPU("0", TB("0", "send='1' recv='1'", "0", FIVE("s") LATE("r")))
                                                GPU("1", TB("0", "send='0' recv='0'", "0", FIVE("s") LATE("r")))));
    for (uint32_t slots = 4; slots < 7; slots += 2) {
        char text[1024];
        struct run r = {0};
        snprintf(
            text, sizeof text,
            "topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n"
            "workload: [{kind: collective, collective: {kind: msccl, file: %s, chunk: 1KB, slice: 1KB, slots: %" PRIu32
            "}, size: 1KB}]\n",
            path, slots);
        enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
        if (!status) status = run_bind(&r, 0);
        assert_int_equal(status, slots == 4 ? WEFT_ERROR_INPUT : WEFT_OK);
        if (slots == 4) assert_non_null(strstr(r.error.text, "t.yaml:2:12: msccl: rank 0 waits for ever for room"));
        run_free(&r);
    }
}

/// What connections are said to carry is what the steps send, in one loop and in several, and for sizes that are no
/// multiple of chunks.
static void connections_carry_what_steps_send(void **state) {
    static const char *const size[] = {"1B", "8MiB", "100003B", "64MiB", "33000001B"};
    static const char *const more[] = {"", ", chunk: 10KB, slice: 3KB, slots: 5",
                                       ", chunk: 30KB, slice: 1KB, slots: 64"};
    for (size_t i = 0; i < 15; i++) {
        char file[600];
        snprintf(file, sizeof file, "kind: msccl, file: %s%s", i % 2 ? sample() : put_ring(4, 3), more[i / 5]);
        char *text = text_of("topology: {kind: single, hosts: 4}\n"
                             "workload: [{kind: collective, collective: {%s}, size: %s}]\n",
                             file, size[i % 5]);
        struct run r = {0};
        assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error), WEFT_OK);
        if (run_bind(&r, 0)) fail_msg("%s\n%s", r.error.text, text);
        const struct weft_job *job = &r.workload->job[0];
        const struct weft_job_op *op = &job->op[0];
        weft_bytes *bytes = calloc(job->connections, sizeof *bytes);
        uint32_t *messages = calloc(job->connections, sizeof *messages);
        for (uint32_t rank = 0; rank < 4; rank++)
            for (uint32_t lane = 0; lane < op->ops->lanes(op->conf, &op->shape); lane++)
                for (uint64_t k = 0; k < op->ops->steps(op->conf, &op->shape, rank, lane); k++) {
                    struct weft_step step;
                    op->ops->step(op->conf, &op->shape, rank, lane, k, &step);
                    if (!step.bytes || step.send[0] == WEFT_NONE) continue;
                    uint32_t c = weft_job_find_connection(job, rank, 0, step.channel, step.send[0]);
                    assert_true(step.bytes <= job->connection[c].message_bytes_max);
                    bytes[c] += step.bytes;
                    messages[c]++;
                }
        assert_true(job->connections > 0);
        for (uint32_t c = 0; c < job->connections; c++) {
            assert_int_equal(bytes[c], job->connection[c].bytes);
            assert_int_equal(messages[c], job->connection[c].messages[0]);
        }
        free(bytes);
        free(messages);
        free(text);
        run_free(&r);
    }
}

/// However large: only the first loop and the last are executed before a run.
static void a_long_one_is_checked_at_once(void **state) {
    struct run r = {0};
    char *text = text_of("topology: {kind: single, hosts: 4}\n"
                         "workload: [{kind: collective, collective: {kind: msccl, file: %s, chunk: 1KB, slice: 1KB}, "
                         "size: 100GB}]\n",
                         sample());
    assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error), WEFT_OK);
    clock_t start = clock();
    if (run_bind(&r, 0)) fail_msg("%s\n%s", r.error.text, text);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1);
    free(text);
    run_free(&r);
}

static void a_group_of_another_size(void **state) {
    char text[700];
    struct run r = {0};
    snprintf(
        text, sizeof text,
        "topology: {kind: single, hosts: 5}\nworkload: [{kind: collective, collective: {kind: msccl, file: %s}}]\n",
        sample());
    assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error), WEFT_OK);
    assert_int_equal(run_bind(&r, 0), WEFT_ERROR_INPUT);
    assert_non_null(strstr(r.error.text, "is for 4 ranks (ngpus); expected a group of as many, and it has 5"));
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_is_as_fast_as_our_own),
        cmocka_unit_test(all_pairs),
        cmocka_unit_test(in_a_job),
        cmocka_unit_test(sizes_that_end),
        cmocka_unit_test(blocks_wait_for_one_another),
        cmocka_unit_test(what_it_is_for_is_checked),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(an_attribute_without_end),
        cmocka_unit_test(too_little_room_is_found_before_the_run),
        cmocka_unit_test(connections_carry_what_steps_send),
        cmocka_unit_test(a_long_one_is_checked_at_once),
        cmocka_unit_test(a_group_of_another_size),
        cmocka_unit_test(import_without_verifying),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
