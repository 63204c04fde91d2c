// SPDX-License-Identifier: Apache-2.0
// ranks: linear, a number, or a file with the host of each rank: for every workload that reads a trace.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import_files.h"

/// One entry of a workload on one switch, with a map that turns ranks round; its error in r.error.
static struct run one(unsigned hosts, const char *entry) {
    struct run r = {0};
    char text[1024];
    FILE *map = fopen(put("map.txt", ""), "w");
    for (unsigned k = hosts; k-- > 0;)
        fprintf(map, "host-%u 0\n", k);
    fclose(map);
    snprintf(text, sizeof text, "topology: {kind: single, hosts: %u}\nworkload: [{%s}]\n", hosts, entry);
    if (!weft_scenario_file_read(put("s.yaml", text), NULL, 0, &r.file, &r.error)) run_bind(&r, 0);
    return r;
}

/// The path of an example.
static const char *example(const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/examples/import/%s", getenv("WEFT_ROOT"), name);
    return path;
}

static const struct {
    const char *kind, *file, *more;
    unsigned hosts;
} jobs[] = {
    {"goal", "ring.goal", "", 4},
    {"simai", "simai.txt", ", server: {gpus: 1}", 16},
    {"inspector", "inspector.jsonl", ", server: {gpus: 1}", 16},
    {"chakra", "chakra", ", server: {gpus: 1}", 4},
};

/// ranks: FILE is rank_file: FILE, rank R on the host of line R; linear is what holds without either.
static void maps_of_jobs(void **state) {
    for (unsigned i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        static const char *const said[] = {"", ", ranks: linear", ", rank_file: map.txt", ", ranks: map.txt"};
        uint32_t first[4], last[4];
        for (unsigned k = 0; k < 4; k++) {
            char entry[640];
            snprintf(entry, sizeof entry, "kind: %s, file: %s%s%s", jobs[i].kind, example(jobs[i].file), jobs[i].more,
                     said[k]);
            struct run r = one(jobs[i].hosts, entry);
            if (r.error.status) fail_msg("%s: %s", entry, r.error.text);
            first[k] = r.workload->job[0].host[0];
            last[k] = r.workload->job[0].host[jobs[i].hosts - 1];
            run_free(&r);
        }
        for (unsigned k = 0; k < 4; k++) {
            assert_int_equal(first[k], k < 2 ? 0 : jobs[i].hosts - 1);
            assert_int_equal(last[k], k < 2 ? jobs[i].hosts - 1 : 0);
        }
    }
}

#define CSV "src,dst,bytes\n0,1,5\n"
#define HPCC "1\n0 1 3 100 5 2\n"
#define HTSIM "Nodes 4\nConnections 1\n0->1 start 0 size 5\n"

static void maps_of_flows(void **state) {
    static const struct {
        const char *kind, *name, *text;
    } files[] = {{"csv", "f.csv", CSV}, {"hpcc", "f.txt", HPCC}, {"htsim", "f.cm", HTSIM}, {"capture", NULL, NULL}};
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
        uint32_t src[3], dst[3];
        static const char *const said[] = {"", ", ranks: linear", ", ranks: map.txt"};
        for (unsigned k = 0; k < 3; k++) {
            char entry[640];
            const char *path = files[i].name ? put(files[i].name, files[i].text) : example("capture.pcapng");
            snprintf(entry, sizeof entry, "kind: %s, file: %s%s", files[i].kind, path, said[k]);
            struct run r = one(4, entry);
            if (r.error.status) fail_msg("%s: %s", entry, r.error.text);
            src[k] = r.workload->flow[0].src;
            dst[k] = r.workload->flow[0].dst;
            run_free(&r);
        }
        assert_int_equal(src[1], src[0]);
        assert_int_equal(dst[1], dst[0]);
        assert_int_equal(src[2], 3 - src[0]);
        assert_int_equal(dst[2], 3 - dst[0]);
    }
}

static void assert_bad(unsigned hosts, const char *entry, const char *expected) {
    struct run r = one(hosts, entry);
    if (!strstr(r.error.text, expected)) fail_msg("%s: \"%s\"; expected \"%s\"", entry, r.error.text, expected);
    run_free(&r);
}

static void what_is_refused(void **state) {
    char entry[640];
    put("f.csv", CSV);
    put("short.txt", "host-2 0\n");
    put("other.txt", "host-2 0\nhost-9 0\n");
    assert_bad(4, "kind: csv, file: f.csv, ranks: short.txt", "f.csv:2:3: host number 1; expected 0 to 0");
    assert_bad(4, "kind: csv, file: f.csv, ranks: other.txt", "other.txt:2:1: no host 'host-9'");
    assert_bad(4, "kind: csv, file: f.csv, ranks: nowhere.txt", "nowhere.txt: cannot be read");
    assert_bad(4, "kind: csv, file: f.csv, ranks: map.txt, hosts: host-1", "expected one of them");
    snprintf(entry, sizeof entry, "kind: goal, file: %s, ranks: map.txt, rank_file: map.txt", example("ring.goal"));
    assert_bad(4, entry, "rank_file: said twice, as ranks too; expected one of them");
    snprintf(entry, sizeof entry, "kind: goal, file: %s, ranks: 3", example("ring.goal"));
    assert_bad(4, entry, "ranks: 3; expected the 4 of the schedule");
    snprintf(entry, sizeof entry, "kind: goal, file: %s, ranks: 4x", example("ring.goal"));
    assert_bad(4, entry, "4x");
    snprintf(entry, sizeof entry, "kind: goal, file: %s, ranks: nowhere.txt", example("ring.goal"));
    assert_bad(4, entry, "nowhere.txt: cannot be read");
}

/// A number is how many ranks a job has, as ever.
static void numbers(void **state) {
    char entry[640];
    snprintf(entry, sizeof entry, "kind: simai, file: %s, server: {gpus: 1}, ranks: 8", example("simai.txt"));
    struct run r = one(16, entry);
    if (r.error.status) fail_msg("%s", r.error.text);
    assert_int_equal(r.workload->job[0].ranks, 8);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_of_jobs),
        cmocka_unit_test(maps_of_flows),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
