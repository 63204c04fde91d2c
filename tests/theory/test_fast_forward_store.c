// SPDX-License-Identifier: Apache-2.0
// What a run of fast-forward stores: a second run of the same scenario skips sooner and ends when the first did, a
// third equals the second, and threads change nothing. Stores of another version of weft, or damaged ones, are refused,
// and simultaneous runs leave a complete file.
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "run.h"

#define BUFFER "switch: {buffer: {kind: static, size: 8MB, xoff: 7MB, xon: 6500KB}}\n"
#define RAILS "topology: {kind: leaf_spine, leaves: 8, spines: 8, hosts_per_leaf: 4, rate: 400Gbps, delay: 500ns}\n"
#define JOB                                                                                                            \
    RAILS BUFFER "workload: [{kind: job, iterations: 8, operations: [{compute: 100us, collective: {kind: "             \
                 "all_reduce_ring, channels: 1}, size: 16MiB}]}]\n"
#define DSF                                                                                                            \
    "topology: {kind: dsf_l1_zone, rdsws: 4, fdsws: 4, hosts_per_rdsw: 2, rails: 1}\nworkload: [{kind: job, "          \
    "iterations: 12, operations: [{compute: 100us, collective: all_reduce_ring, size: 4MB}]}]\n"

struct folder {
    char name[64], file[400]; ///< file: of what is stored, once it was looked for
};

static int make_folder(void **state) {
    static struct folder f;
    strcpy(f.name, "/tmp/weft-store-XXXXXX");
    *state = &f;
    return mkdtemp(f.name) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", ((struct folder *)*state)->name);
    return system(command);
}

static struct run run_stored(const char *text, const struct folder *f, const char *mode) {
    return RUN(run_once, "%srun: {fast_forward: steady, fast_forward_store: %s%s}\n", text, f->name, mode);
}

/// The only file there is.
static void find_file(struct folder *f) {
    DIR *folder = opendir(f->name);
    uint32_t files = 0;
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(f->file, sizeof f->file, "%s/%s", f->name, entry->d_name);
        files++;
    }
    closedir(folder);
    assert_int_equal(files, 1);
}

static void assert_as_first(const struct run *first, const struct run *second, const char *text) {
    const struct weft_outcome *a = first->outcome, *b = second->outcome;
    double error = fabs((double)b->job[0].end_ps / (double)a->job[0].end_ps - 1);
    if (error > 0.005) fail_msg("%sthe second run ends %g later", text, error);
    if (fabs((double)b->packet_hops / (double)a->packet_hops - 1) > 0.01)
        fail_msg("%s%" PRIu64 " packet-hops; in the first run %" PRIu64, text, b->packet_hops, a->packet_hops);
    assert_int_equal(b->injected_bytes, b->delivered_bytes + b->dropped_bytes + b->held_bytes);
    for (uint32_t f = 0; f < a->flows; f++)
        assert_int_equal(b->flow[f].delivered_bytes, a->flow[f].delivered_bytes);
}

static void skips_sooner(void **state) {
    struct folder *f = *state;
    static const char *const cases[] = {JOB, DSF};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run first = run_stored(cases[i], f, ""), second = run_stored(cases[i], f, "");
        struct run third = run_stored(cases[i], f, "");
        assert_int_equal(first.outcome->fast_forward->remembered, 0);
        assert_true(second.outcome->fast_forward->remembered > 0);
        if (second.outcome->events > 0.9 * (double)first.outcome->events)
            fail_msg("%s%" PRIu64 " events; in the first run %" PRIu64, cases[i], second.outcome->events,
                     first.outcome->events);
        assert_as_first(&first, &second, cases[i]);
        assert_int_equal(third.outcome->digest, second.outcome->digest);
        run_assert_same(&second, 3, cases[i]);
        run_free(&first);
        run_free(&second);
        run_free(&third);
    }
}

/// What decides nothing of the network's behaviour is no other scenario; a seed is.
static void is_of_a_scenario(void **state) {
    struct folder *f = *state;
    struct run first = run_stored(JOB, f, ""), until = run_stored("name: other\n" JOB, f, ", until: 90ms");
    assert_true(until.outcome->fast_forward->remembered > 0);
    struct run seed = run_stored(JOB, f, ", seed: 2");
    assert_int_equal(seed.outcome->fast_forward->remembered, 0);
    run_free(&first);
    run_free(&until);
    run_free(&seed);
}

static void change_byte(const struct folder *f, long at, int whence) {
    FILE *file = fopen(f->file, "r+");
    assert_non_null(file);
    fseek(file, at, whence);
    int byte = fgetc(file);
    fseek(file, at, whence);
    fputc(byte ^ 1, file);
    fclose(file);
}

/// Nothing is run, and the error names the file.
static void assert_refused(const struct folder *f, const char *expected) {
    char *text = text_of("%srun: {fast_forward: steady, fast_forward_store: %s}\n", JOB, f->name);
    struct run r = {0};
    assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error), WEFT_OK);
    assert_int_equal(weft_scenario_file_allow_write(r.file, f->name, &r.error), WEFT_OK);
    assert_int_equal(run_bind(&r, 0), WEFT_OK);
    struct weft_outcome *o = NULL;
    r.status =
        weft_simulate(r.scenario, r.topology, r.workload, &(struct weft_sim_options){.threads = 1}, &o, &r.error);
    assert_int_equal(r.status, WEFT_ERROR_INPUT);
    assert_null(o);
    if (!strstr(r.error.text, expected) || !strstr(r.error.text, f->file))
        fail_msg("\"%s\"; expected %s, and the file", r.error.text, expected);
    run_free(&r);
    free(text);
}

static void refuses(void **state) {
    struct folder *f = *state;
    struct run first = run_stored(JOB, f, "");
    run_free(&first);
    find_file(f);
    change_byte(f, 16, SEEK_SET); // of the version
    assert_refused(f, "another version of weft (1.1.0)");
    change_byte(f, 16, SEEK_SET);
    change_byte(f, -1, SEEK_END);
    assert_refused(f, "damaged");
    change_byte(f, -1, SEEK_END);
    assert_int_equal(truncate(f->file, 200), 0);
    assert_refused(f, "damaged");
    assert_int_equal(truncate(f->file, 10), 0);
    assert_refused(f, "no store of fast-forward");
}

static void survives_runs_at_once(void **state) {
    struct folder *f = *state;
    enum { RUNS = 3 };
    for (uint32_t i = 0; i < RUNS; i++) {
        if (fork()) continue;
        struct run r = run_stored(JOB, f, "");
        _exit(r.outcome->fast_forward->iterations ? 0 : 1);
    }
    for (uint32_t i = 0; i < RUNS; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    find_file(f);
    struct run r = run_stored(JOB, f, "");
    assert_true(r.outcome->fast_forward->remembered > 0);
    run_free(&r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
int main(void) {
    const struct CMUnitTest tests[] = {TEST(skips_sooner), TEST(is_of_a_scenario), TEST(refuses),
                                       TEST(survives_runs_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
