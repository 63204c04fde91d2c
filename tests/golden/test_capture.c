// SPDX-License-Identifier: Apache-2.0
// weft run --capture and the scenario's capture: which file, the same whatever the number of threads, and its limits.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <dirent.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/// Pauses, CNPs, READ requests and frames lost on a bad link.
static const char scenario[] =
    "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
    "switch: {pfc: {priorities: [3]}, buffer: {size: 100KB, xoff: 60KB, xon: 50KB}, aqm: {kind: wred, min: 5KB, max: "
    "20KB}}\n"
    "host: {cc: dcqcn, timeout: 100us}\n"
    "workload:\n"
    "  - {kind: incast, sources: host-0..2, dst: host-4, size: 100KB}\n"
    "  - {kind: flow, src: host-3, dst: host-5, size: 100KB, verb: read}\n"
    "variants:\n"
    "  pfc: {}\n"
    "  a/b: {topology.rate: 50Gbps}\n";

static char dir[64];
static char err[1 << 14];

static int weft(const char *arguments) {
    char command[1024], path[128];
    snprintf(command, sizeof command, "cd %s && \"$WEFT\" %s >out.txt 2>err.txt </dev/null", dir, arguments);
    int status = system(command);
    snprintf(path, sizeof path, "%s/err.txt", dir);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    err[fread(err, 1, sizeof err - 1, file)] = 0;
    fclose(file);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void succeed(const char *arguments) {
    int status = weft(arguments);
    if (status) fail_msg("weft %s: %d, %s", arguments, status, err);
}

struct bytes {
    size_t size;
    uint8_t *at;
};

static struct bytes slurp(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("there is no %s: %s", name, err);
    struct bytes b = {.at = malloc((1 << 26) + 1)};
    b.size = fread(b.at, 1, 1 << 26, file);
    fclose(file);
    return b;
}

static void assert_same(const char *a, const char *b) {
    struct bytes x = slurp(a), y = slurp(b);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.at, y.at, x.size);
    free(x.at);
    free(y.at);
}

static uint32_t word(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/// Frames of a capture, which must be blocks from end to end, in order of time.
struct content {
    uint32_t interfaces, frames, inbound, comments;
    uint64_t first_ns, last_ns;
    size_t frame_bytes; ///< of their blocks
};

static struct content read_capture(const char *name) {
    struct bytes b = slurp(name);
    struct content c = {0};
    size_t at = 0;
    for (uint32_t length; at < b.size; at += length) {
        assert_true(b.size - at >= 12);
        length = word(b.at + at + 4);
        assert_true(length >= 12 && length % 4 == 0 && length <= b.size - at);
        assert_int_equal(word(b.at + at + length - 4), length);
        c.interfaces += word(b.at + at) == 1;
        if (word(b.at + at) != 6) continue;
        uint64_t time = (uint64_t)word(b.at + at + 12) << 32 | word(b.at + at + 16);
        assert_true(word(b.at + at + 8) < c.interfaces);
        assert_true(time >= c.last_ns);
        if (!c.frames++) c.first_ns = time;
        c.last_ns = time;
        c.frame_bytes += length;
        const uint8_t *options = b.at + at + 28 + ((word(b.at + at + 20) + 3) & ~3u);
        if (*options == 1) {
            c.comments++;
            options += 4 + ((options[2] + 3) & ~3);
        }
        c.inbound += options[0] == 2 && options[4] == 1;
    }
    free(b.at);
    return c;
}

static unsigned files(void) {
    DIR *d = opendir(dir);
    assert_non_null(d);
    unsigned n = 0;
    for (struct dirent *entry; (entry = readdir(d)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(d);
    return n;
}

static const char *text_of_limit(const char *more, unsigned threads, const char *limit) {
    static char text[512];
    snprintf(text, sizeof text, "run %s --threads %u --set capture.file=l%u.pcapng --set capture.limit=%s", more,
             threads, threads, limit);
    return text;
}

static void any_number_of_threads(void **state) {
    (void)state;
    const char *more = "s.yaml --capture '*' --quiet --set topology.bit_error_rate=1e-7";
    char arguments[256];
    for (unsigned threads = 1; threads <= 3; threads++) {
        snprintf(arguments, sizeof arguments, "run %s --threads %u --set capture.file=%u.pcapng", more, threads,
                 threads);
        succeed(arguments);
    }
    assert_same("1.pcapng", "2.pcapng");
    assert_same("1.pcapng", "3.pcapng");
    struct content all = read_capture("1.pcapng");
    assert_int_equal(all.interfaces, 24);
    assert_true(all.comments > 0); // lost on the link
    // every port is captured: what was sent and not lost was received
    assert_int_equal(all.inbound * 2 + all.comments, all.frames);
    // a limit cuts the same frames off, also of the smallest, so that a worker alone knows early that it has enough
    more =
        "s.yaml --capture '*' --quiet --set capture.content=headers --set host.ack_every=64 --set workload.0.size=1MB";
    succeed(text_of_limit(more, 1, "1GB"));
    all = read_capture("l1.pcapng");
    for (unsigned threads = 1; threads <= 3; threads++) {
        succeed(text_of_limit(more, threads, "400KB"));
    }
    assert_same("l1.pcapng", "l2.pcapng");
    assert_same("l1.pcapng", "l3.pcapng");
    struct content cut = read_capture("l1.pcapng");
    assert_true(cut.frame_bytes <= 400000 && cut.frame_bytes > 400000 - 120);
    char wanted[128];
    snprintf(wanted, sizeof wanted, "weft: %u frames in l3.pcapng; capture.limit left out the %u after them",
             cut.frames, all.frames - cut.frames);
    assert_non_null(strstr(err, wanted));
}

/// The run is the same whether frames are captured or not.
static void nothing_else_changes(void **state) {
    (void)state;
    char digest[2][32] = {"", ""};
    const char *const arguments[2] = {"run s.yaml --json --set topology.bit_error_rate=1e-7",
                                      "run s.yaml --json --set topology.bit_error_rate=1e-7 --capture '*'"};
    for (unsigned i = 0; i < 2; i++) {
        succeed(arguments[i]);
        struct bytes out = slurp("out.txt");
        out.at[out.size] = 0;
        const char *at = strstr((const char *)out.at, "\"digest\":");
        assert_non_null(at);
        assert_int_equal(sscanf(at, "\"digest\":%31[^,]", digest[i]), 1);
        free(out.at);
    }
    assert_string_equal(digest[0], digest[1]);
}

/// libpcap reads it too: tcpdump and whatever else is built on it.
static void libpcap(void **state) {
    (void)state;
    succeed("run s.yaml --capture host-4,leaf-0 --quiet");
    struct content c = read_capture("capture.pcapng");
    char path[128], why[PCAP_ERRBUF_SIZE];
    snprintf(path, sizeof path, "%s/capture.pcapng", dir);
    pcap_t *pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);
    if (!pcap) fail_msg("%s", why);
    assert_int_equal(pcap_datalink(pcap), DLT_EN10MB);
    struct pcap_pkthdr *header;
    const u_char *bytes;
    uint32_t frames = 0;
    int status;
    for (; (status = pcap_next_ex(pcap, &header, &bytes)) == 1; frames++) {
        if (!frames) assert_int_equal(header->ts.tv_usec, c.first_ns); // nanoseconds, under the old name
        assert_int_equal(header->caplen, header->len);
    }
    assert_int_equal(status, PCAP_ERROR_BREAK); // the end of the file
    assert_int_equal(frames, c.frames);
    pcap_close(pcap);
}

/// Its expected size is printed before the run; the file also has ACKs and retransmissions.
static void size_before(void **state) {
    static const char *const content[] = {"full", "headers"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        char line[160], unit[8];
        double number;
        struct stat file;
        snprintf(line, sizeof line, "run s.yaml --capture host-4,leaf-0/1 --set capture.content=%s --out z --force",
                 content[k]);
        succeed(line);
        const char *said = strstr(err, "weft: the capture will hold about ");
        assert_non_null(said);
        assert_int_equal(
            sscanf(said, "weft: the capture will hold about %lf%7[A-Z] of data frames, at most 1GB of ", &number, unit),
            2);
        number *= !strcmp(unit, "MB") ? 1e6 : !strcmp(unit, "KB") ? 1e3 : 1;
        snprintf(line, sizeof line, "%s/z/capture.pcapng", dir);
        assert_int_equal(stat(line, &file), 0);
        double actual = (double)file.st_size;
        if (number > actual || number < (k ? .4 : .9) * actual)
            fail_msg("%s: %.0f said, %.0f there", content[k], number, actual);
    }
}

static void what_and_when(void **state) {
    (void)state;
    succeed("run s.yaml --capture host-4,leaf-0/1 --set capture.content=headers --out r");
    struct content all = read_capture("r/capture.pcapng");
    assert_int_equal(all.interfaces, 2);
    assert_true(all.frame_bytes < all.frames * 130); // 70 of headers, 74 of the longest control frame
    assert_non_null(strstr(err, " frames in r/capture.pcapng\n"));
    assert_int_equal(
        weft("run s.yaml --capture host-4,leaf-0/1 --quiet --no-hints --set capture.from=5us --set capture.until=7us"),
        0);
    struct content some = read_capture("capture.pcapng");
    assert_true(some.frames > 0 && some.frames < all.frames);
    assert_true(some.first_ns >= 5000 && some.last_ns < 7000);
    assert_string_equal(err, "");
    succeed("run s.yaml --capture host-4 --quiet --set run.until=6us");
    some = read_capture("capture.pcapng");
    assert_true(some.last_ns > 5000 && some.last_ns < 6000);
}

/// Values of an octet of the frames of a capture, as a set.
static uint64_t octets_at(const char *name, size_t offset) {
    struct bytes b = slurp(name);
    uint64_t seen = 0;
    for (size_t at = 0; at < b.size; at += word(b.at + at + 4))
        if (word(b.at + at) == 6 && b.at[at + 28 + 12] == 8 && !b.at[at + 28 + 13]) // IPv4
            seen |= UINT64_C(1) << (b.at[at + 28 + offset] & 63u);
    free(b.at);
    return seen;
}

/// RFC 1812 section 5.3.1: each of the three routers takes 1 off the TTL of 64. A bridge does not.
static void routers_count_down(void **state) {
    (void)state;
    const size_t ttl = 14 + 8;
    succeed("run s.yaml --capture host-4 --quiet");
    assert_int_equal(octets_at("capture.pcapng", ttl), UINT64_C(1) << (64 & 63) | UINT64_C(1) << 61);
    succeed("run s.yaml --capture 'spine-*' --quiet");
    assert_int_equal(octets_at("capture.pcapng", ttl), UINT64_C(1) << 63 | UINT64_C(1) << 62);
    succeed("run s.yaml --capture host-4 --quiet --set capture.switches=bridges");
    assert_int_equal(octets_at("capture.pcapng", ttl), UINT64_C(1) << (64 & 63));
}

static void variants(void **state) {
    (void)state;
    succeed("compare s.yaml --set capture.ports=host-4 --set capture.file=c.pcapng --out r");
    assert_int_equal(read_capture("r/c-pfc.pcapng").interfaces, 1);
    assert_int_equal(read_capture("r/c-a_b.pcapng").interfaces, 1);
    succeed("run s.yaml --variant a/b --capture host-4 --quiet");
    assert_same("r/c-a_b.pcapng", "capture.pcapng");
}

static void errors_leave_nothing(void **state) {
    (void)state;
    const unsigned before = files();
    assert_int_equal(weft("run s.yaml --capture hots-4"), 2);
    assert_non_null(strstr(err, "nearest: 'host-4'"));
    assert_int_equal(weft("check s.yaml --set capture.ports=host-99/0"), 2);
    assert_int_equal(weft("run s.yaml --capture 'core-*'"), 2);
    assert_non_null(strstr(err, "no port matches 'core-*'"));
    assert_int_equal(weft("run s.yaml --capture host-4 --set capture.file=no/such/folder/c.pcapng"), 2);
    assert_non_null(strstr(err, "capture.file: there is no folder 'no/such/folder'"));
    assert_int_equal(weft("run s.yaml --capture host-4 --set capture.file=.."), 2);
    assert_non_null(strstr(err, "capture.file: '..' is not a regular file"));
    assert_int_equal(weft("run s.yaml --capture ''"), 2);
    assert_non_null(strstr(err, "--capture: expected ports"));
    assert_int_equal(files(), before + 2); // out.txt, err.txt
}

static int set_up(void **state) {
    (void)state;
    strcpy(dir, "/tmp/weft-capture-XXXXXX");
    assert_non_null(mkdtemp(dir));
    char path[128];
    snprintf(path, sizeof path, "%s/s.yaml", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(scenario, file);
    return fclose(file);
}

static int tear_down(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

/// To the end of the scenario.
static void add_variant(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/s.yaml", dir);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fprintf(file, "  %s: {}\n", name);
    assert_int_equal(fclose(file), 0);
}

static void no_file_is_written_twice(void **state) {
    (void)state;
    const unsigned before = files();
    assert_int_equal(weft("check s.yaml --set capture.file=results.sqlite"), 2);
    assert_non_null(strstr(err, "file is results.sqlite, which --out writes itself"));
    assert_int_equal(weft("run s.yaml --set capture.file=x/result.json --out r --capture host-4"), 2);
    assert_non_null(strstr(err, "file is result.json, which --out writes itself"));
    succeed("check s.yaml --set capture.ports=host-4");
    add_variant("a_b");
    const char *const wrong[] = {"check s.yaml --set capture.ports=host-4",
                                 "compare s.yaml --set capture.ports=host-4 --out r"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(weft(wrong[i]), 2);
        assert_non_null(strstr(err, "variant 'a_b' would overwrite the capture of an earlier variant, capture-a_b"));
    }
    assert_int_equal(files(), before + 2); // out.txt, err.txt
    succeed("check s.yaml --variant a_b --set capture.ports=host-4");
    succeed("check s.yaml");
}

// --- Ultra Ethernet -----------------------------------------------------------------------------------------------

/// Eight to one, with trimmed packets; everything sent passes the receiver's port, less the trimmed payload.
#define UET(sizes, cc)                                                                                                 \
    "topology: {kind: single, hosts: 9, rate: 100Gbps, delay: 500ns}\n"                                                \
    "switch: {pfc: {priorities: none}, buffer: {kind: static, size: 64MB}, aqm: {kind: trim, min: 20KB, max: 60KB, "   \
    "depth: 80KB}}\n"                                                                                                  \
    "host: {preset: uet, " sizes "cc: {kind: " cc ", base_rtt: 12us}}\n"                                               \
    "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 200KB}]\n"
#define SIZES "data_header: 102B, ack_frame: 90B, "

static void write_scenario(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/// The number behind `key` in out.txt, from where `after` stands there.
static unsigned long number_after(const char *after, const char *key) {
    struct bytes b = slurp("out.txt");
    b.at[b.size] = 0;
    const char *at = strstr((const char *)b.at, after);
    if (!at || !(at = strstr(at, key))) fail_msg("no %s and %s", after, key);
    unsigned long value = strtoul(at + strlen(key), NULL, 10);
    free(b.at);
    return value;
}

/// What `weft decode` counts is what the run counted: packets sent again for each that was trimmed, a NACK for each, an
/// answer with a mark for each packet that was marked.
static void uet_round_trip(void **state) {
    write_scenario("u.yaml", UET(SIZES, "nscc"));
    write_scenario("r.yaml", UET(SIZES, "rccc"));
    const char *const content[] = {"full", "headers"}, *const file[] = {"u.yaml", "r.yaml"};
    for (unsigned i = 0; i < 4; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments,
                 "run %s --json --capture switch-0/0 --set capture.content=%s --set capture.file=u%u.pcapng",
                 file[i / 2], content[i % 2], i);
        succeed(arguments);
        unsigned long trimmed = number_after("\"drops\":", "\"trimmed\":");
        unsigned long marked = number_after("\"counters\":", "\"ecn_marked\":");
        assert_true(trimmed > 0 && marked > 0);
        snprintf(arguments, sizeof arguments, "decode --json u%u.pcapng", i);
        succeed(arguments);
        assert_int_equal(number_after("\"RUD request\"", "\"packets\":"), 8 * 49 + trimmed);
        assert_int_equal(number_after("\"NACK\"", "\"trimmed\":"), trimmed);
        assert_int_equal(number_after("\"ACK with SACK\"", "\"marked\":"), marked);
        assert_int_equal(number_after("\"capture\"", "\"others\":"), 0);
        if (i >= 2) assert_true(number_after("\"control\"", "\"packets\":") > 8); // grants
    }
    succeed("run u.yaml --quiet --capture '*' --threads 2 --set capture.file=2.pcapng");
    succeed("run u.yaml --quiet --capture '*' --set capture.file=1.pcapng");
    assert_same("1.pcapng", "2.pcapng");
}

/// The headers of uet-htsim have no room for it.
static void uet_without_room(void **state) {
    write_scenario("u.yaml", UET("", "nscc"));
    assert_int_equal(weft("run u.yaml --capture switch-0/0 --set capture.file=none.pcapng"), 2);
    assert_non_null(strstr(err, "host.data_header of host-0 is 64B and ack_frame 64B"));
    assert_non_null(strstr(err, "expected data_header: 102B, ack_frame: 90B"));
    write_scenario("u.yaml", UET(SIZES, "nscc") "devices: [{match: host-3, host: {transport: roce_rc, cc: none}}]\n");
    assert_int_equal(weft("run u.yaml --capture switch-0/0 --set capture.file=none.pcapng"), 2);
    assert_non_null(strstr(err, "8 of 9 hosts send Ultra Ethernet; expected all, or none"));
    char path[128];
    snprintf(path, sizeof path, "%s/none.pcapng", dir);
    assert_int_not_equal(access(path, F_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(errors_leave_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_number_of_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_else_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(libpcap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(size_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_and_when, set_up, tear_down),
        cmocka_unit_test_setup_teardown(routers_count_down, set_up, tear_down),
        cmocka_unit_test_setup_teardown(variants, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_file_is_written_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(uet_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(uet_without_room, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
