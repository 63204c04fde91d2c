// SPDX-License-Identifier: Apache-2.0
// Different simulations at the same time in threads of one process: each gives the same digest and memory as alone, and
// writes the same results.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "weft/weft.h"

static const char *const scenarios[] = {
    "topology: {kind: leaf_spine, leaves: 3, spines: 2, hosts_per_leaf: 4, bit_error_rate: 1e-8}\n"
    "host: {cc: dcqcn, timeout: 300us}\n"
    "events: [{at: 15us, link: leaf-0--spine-1, state: down}]\n"
    "workload: [{kind: all_to_all, size: 20KB}, {kind: incast, sources: \"*\", dst: host-0, size: 100KB}]\n"
    "run: {detection: 20us}\n",
    // its ranks are placed by METIS
    "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4}\n"
    "workload: [{kind: collective, group: c, collective: all_reduce_ring, size: 1MB, placement: min_cut}]\n",
    "topology: {kind: dsf_l1_zone, rdsws: 8, hosts_per_rdsw: 2}\n"
    "switch: {buffer: {kind: dynamic, total: 64MiB}}\n"
    "workload: [{kind: all_to_all, size: 16KB}]\n",
    "topology: {kind: dragonfly, pods: 4, tins: 3}\n"
    "switch: {buffer: {kind: dynamic, total: 64MiB}}\n"
    "workload: [{kind: poisson, load: 40%, size: 4096B, duration: 30us}]\n",
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios, AGAIN = 3 };

struct found {
    uint64_t digest;
    char memory[512]; ///< by kind, as in the JSON
};

/// All of a run in this thread. It asserts nothing: cmocka knows one thread.
static enum weft_status run(const char *text, uint32_t threads, struct found *ret, struct weft_error *ret_error) {
    struct weft_scenario_file *file = NULL;
    struct weft_simulation *simulation = NULL;
    struct weft_result *result = NULL;
    struct weft_sim_options options = {.threads = threads};
    char dir[] = "/tmp/weft-test-two-runs-XXXXXX", path[64], *json = NULL;
    size_t size;
    FILE *stream = open_memstream(&json, &size);
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &file, ret_error);
    if (!status) status = weft_simulation_new(file, 0, &simulation, ret_error);
    if (!status) status = weft_simulation_run(simulation, &options, &result, ret_error);
    if (!status) status = weft_result_write_json(result, stream, ret_error);
    if (!status && mkdtemp(dir)) status = weft_result_write_sqlite(result, dir, ret_error);
    fclose(stream);
    const char *memory = status ? NULL : strstr(json, "\"memory\":");
    if (memory) snprintf(ret->memory, sizeof ret->memory, "%.*s", (int)strcspn(memory, "}"), memory);
    if (result) ret->digest = weft_result_digest(result);
    snprintf(path, sizeof path, "%s/results.sqlite", dir);
    if (!status && (unlink(path) || rmdir(dir))) status = WEFT_ERROR_SYSTEM;
    free(json);
    weft_result_free(result);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
    return status;
}

struct job {
    unsigned scenario;
    uint32_t threads;
    struct found found[AGAIN];
    enum weft_status status;
    struct weft_error error;
};

static void *work(void *context) {
    struct job *job = context;
    for (unsigned i = 0; i < AGAIN && !job->status; i++)
        job->status = run(scenarios[job->scenario], job->threads, &job->found[i], &job->error);
    return NULL;
}

static void assert_same(const struct job *job, const struct found *alone) {
    if (job->status) fail_msg("scenario %u: %s", job->scenario, job->error.text);
    for (unsigned i = 0; i < AGAIN; i++) {
        assert_int_equal(job->found[i].digest, alone[job->scenario].digest);
        // with several threads, the peak depends on which of them is ahead
        if (job->threads == 1) assert_string_equal(job->found[i].memory, alone[job->scenario].memory);
    }
}

static void as_alone(void **state) {
    (void)state;
    struct found alone[SCENARIOS];
    struct weft_error error = {0};
    for (unsigned s = 0; s < SCENARIOS; s++) {
        if (run(scenarios[s], 1, &alone[s], &error)) fail_msg("scenario %u: %s", s, error.text);
        assert_non_null(strstr(alone[s].memory, "\"topology\":"));
    }
    for (unsigned a = 0; a < SCENARIOS; a++)
        for (unsigned b = a; b < SCENARIOS; b++) {
            struct job one = {.scenario = a, .threads = 1}, other = {.scenario = b, .threads = 1 + (a + b) % 2};
            pthread_t thread;
            assert_int_equal(pthread_create(&thread, NULL, work, &one), 0);
            work(&other);
            pthread_join(thread, NULL);
            assert_same(&one, alone);
            assert_same(&other, alone);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
