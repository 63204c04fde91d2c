// SPDX-License-Identifier: Apache-2.0
// weft place from a user's view: the exact table, JSON, the rank file and what is refused.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "command_json.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char scenario[] =
    "name: placed\n"
    "topology: {kind: ai_zone, zones: 3, racks: 4, gpus_per_rack: 4, uplinks: 4, ctsw_uplinks: 1}\n"
    "switch: {buffer: {kind: static, size: 4MB, xoff: 2MB, xon: 1900KB}}\n"
    "workload:\n"
    "  - {kind: permutation, size: 4KB, group: beside}\n"
    "  - kind: job\n"
    "    group: train\n"
    "    server: {gpus: 2}\n"
    "    ranks: 16\n"
    "    occupied: {part: 50%, seed: 2}\n"
    "    dimensions: [tp:2, pp:2, dp:4]\n"
    "    operations:\n"
    "      - {collective: send_recv, size: 100KB, over: pp}\n"
    "      - {collective: all_reduce_ring, size: 1MB, over: dp}\n"
    "variants: {plain: {}, drawn: {workload.1.placement: {kind: random, seed: 9}}}\n";

/// The same kind of job on two rail groups.
static const char rails[] = "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 6}\n"
                            "switch: {buffer: {kind: static, size: 4MB, xoff: 2MB, xon: 1900KB}}\n"
                            "workload:\n"
                            "  - kind: job\n"
                            "    server: {gpus: 2, cabling: rail}\n"
                            "    ranks: 16\n"
                            "    dimensions: [tp:2, pp:2, dp:4]\n"
                            "    operations:\n"
                            "      - {collective: send_recv, size: 100KB, over: pp}\n"
                            "      - {collective: all_reduce_ring, size: 1MB, over: dp}\n";

static int setup(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-place-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    write_text(&f, "s.yaml", scenario);
    write_text(&f, "rails.yaml", rails);
    *state = &f;
    return 0;
}

/// The letter of tests/golden/place.txt: without and with a simulation of each strategy, and of servers cabled by rail.
static void the_table(void **state) {
    struct fixture *f = *state;
    char path[512], expected[1 << 14];
    static char got[1 << 19];
    snprintf(path, sizeof path, "%s/tests/golden/place.txt", getenv("WEFT_ROOT"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    expected[fread(expected, 1, sizeof expected - 1, file)] = 0;
    fclose(file);
    assert_int_equal(weft(f, "place s.yaml"), 0);
    assert_string_equal(f->err, "");
    snprintf(got, sizeof got, "%s", f->out);
    assert_int_equal(weft(f, "place s.yaml --simulate --variant drawn --quiet"), 0);
    strcat(got, f->out);
    assert_int_equal(weft(f, "place rails.yaml --simulate --quiet"), 0);
    strcat(got, f->out);
    if (strcmp(got, expected)) fail_msg("printed\n%s\nexpected\n%s", got, expected);
}

static json_t *find(json_t *root, const char *strategy) {
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(root, "strategies"), i,
                       one) if (!strcmp(json_string_value(json_object_get(one, "strategy")), strategy)) return one;
    fail_msg("no %s", strategy);
    return NULL;
}

static json_int_t number(json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

/// The iteration time of --simulate is that of weft run with the strategy, and with the rank file of --out.
static void simulated_as_run(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "place s.yaml --json --simulate --out ranks.txt"), 0);
    assert_string_equal(f->err, "weft: wrote ranks.txt\n");
    json_t *root = printed_json(f), *min_cut = find(root, "min_cut"), *linear = find(root, "linear");
    assert_true(number(min_cut, "zone_bytes") < number(linear, "zone_bytes"));
    static const char *const how[] = {"placement=min_cut", "rank_file=ranks.txt"};
    for (unsigned i = 0; i < 2; i++) {
        char command[128];
        snprintf(command, sizeof command, "run s.yaml --quiet --json --variant plain --set workload.1.%s", how[i]);
        assert_int_equal(weft(f, command), 0);
        json_t *run = printed_json(f);
        assert_int_equal(number(json_array_get(json_object_get(run, "jobs"), 0), "iteration_ps"),
                         number(min_cut, "iteration_ps"));
        json_decref(run);
    }
    json_decref(root);
    char text[4096];
    slurp(f, "ranks.txt", text, sizeof text);
    assert_ptr_equal(strstr(text, "# ranks of job train, scenario placed, variant plain: 16 on servers of 2 GPUs"),
                     text);
    assert_non_null(strstr(text, "# strategy min_cut, tries 8; an iteration sends "));
}

/// Parameters of the strategy that the scenario has are those of its row, and a rank file of another strategy.
static void the_users_parameters(void **state) {
    struct fixture *f = *state;
    char text[4096];
    assert_int_equal(weft(f, "place s.yaml --variant drawn --strategy random --out drawn.txt --job train"), 0);
    slurp(f, "drawn.txt", text, sizeof text);
    assert_non_null(strstr(text, "# strategy random, seed 9; "));
    assert_non_null(strstr(f->out, "random is in drawn.txt"));
}

static void refused(void **state) {
    static const struct {
        const char *arguments, *expected;
    } bad[] = {
        {"place s.yaml --set workload.1.ranks=64",
         "--set workload.1.ranks=64: ranks: 64 take 32 servers of 2 GPUs, but of 24 servers 12 are free"},
        {"place s.yaml --job nobody", "--job: no job 'nobody'; expected train"},
        {"place s.yaml --strategy best --out r.txt", "--strategy: no placement \"best\""},
        {"place s.yaml --set workload.1.order=listed --set workload.1.ranks=0 --set workload.1.occupied.part=0",
         "product"},
        {"place s.yaml --out nowhere/r.txt", "--out: 'nowhere/r.txt' cannot be written: No such file"},
    };
    struct fixture *f = *state;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        int status = weft(f, bad[i].arguments);
        if (status != 2 || !strstr(f->err, bad[i].expected)) fail_msg("%s: %d: %s", bad[i].arguments, status, f->err);
        assert_string_equal(f->out, "");
    }
    char path[128];
    snprintf(path, sizeof path, "%s/r.txt", f->dir);
    assert_int_not_equal(access(path, F_OK), 0);
}

/// --out replaces a file with --force only, also behind a symbolic link, which stays one, and nothing else.
static void only_a_file_is_replaced(void **state) {
    struct fixture *f = *state;
    char path[128], text[4096];
    write_text(f, "ranks.txt", "old");
    static const char *const link[][2] = {{"ranks.txt", "link"}, {"nowhere.txt", "dangling"}, {"pipe", "to-pipe"}};
    for (unsigned i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", f->dir, link[i][1]);
        assert_int_equal(symlink(link[i][0], path), 0);
    }
    snprintf(path, sizeof path, "%s/pipe", f->dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(weft(f, "place s.yaml --out link"), 2);
    assert_string_equal(f->err, "weft: --out: 'link' exists; expected a name that is free, or --force, which replaces "
                                "the file\n");
    slurp(f, "ranks.txt", text, sizeof text);
    assert_string_equal(text, "old");
    assert_int_equal(weft(f, "place s.yaml --out link --force"), 0);
    assert_non_null(strstr(f->err, "weft: wrote link\n"));
    slurp(f, "ranks.txt", text, sizeof text);
    assert_ptr_equal(strstr(text, "# ranks of job train"), text);
    struct stat about;
    snprintf(path, sizeof path, "%s/link", f->dir);
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    static const char *const bad[] = {"pipe' is not a regular file", "to-pipe' is not a regular file",
                                      ".' is not a regular", "dangling' is a symbolic link to nothing"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        char command[128];
        snprintf(command, sizeof command, "place s.yaml --out %.*s", (int)strcspn(bad[i], "'"), bad[i]);
        if (weft(f, command) != 2 || !strstr(f->err, bad[i])) fail_msg("%s: %s", command, f->err);
        assert_string_equal(f->out, "");
    }
    snprintf(path, sizeof path, "%s/pipe", f->dir);
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
}

/// A strategy with which the network stalls is named, with what waits for what.
static void a_stall_is_said(void **state) {
    struct fixture *f = *state;
    write_text(f, "stall.yaml",
               "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 4}\n"
               "events: [{at: 1us, link: leaf-0--spine-0, state: down}]\n"
               "workload: [{kind: job, group: train, operations: [{size: 1MB}]}]\n"
               "run: {stall: 1ms}\n");
    static const char *const option[] = {"", " --json", " --out ranks.txt"};
    for (unsigned i = 0; i < sizeof option / sizeof *option; i++) {
        char command[128];
        snprintf(command, sizeof command, "place stall.yaml --simulate --quiet%s", option[i]);
        assert_int_equal(weft(f, command), 4);
        assert_string_equal(f->out, "");
        const char *said = strstr(f->err, "weft: with strategy linear: STALLED\n");
        if (!said || !strstr(said, "queue pairs that have not finished")) fail_msg("%s: %s", command, f->err);
    }
    char path[128];
    snprintf(path, sizeof path, "%s/ranks.txt", f->dir);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_table, setup, remove_folder),
        cmocka_unit_test_setup_teardown(simulated_as_run, setup, remove_folder),
        cmocka_unit_test_setup_teardown(the_users_parameters, setup, remove_folder),
        cmocka_unit_test_setup_teardown(refused, setup, remove_folder),
        cmocka_unit_test_setup_teardown(only_a_file_is_replaced, setup, remove_folder),
        cmocka_unit_test_setup_teardown(a_stall_is_said, setup, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
