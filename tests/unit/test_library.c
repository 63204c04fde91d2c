// SPDX-License-Identifier: Apache-2.0
// The library as another program sees it: weft/weft.h and nothing more.
#include "weft/rows.h"
#include "weft/weft.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char scenario[] = "name: two\n"
                               "topology: {kind: single, hosts: 4}\n"
                               "workload:\n"
                               "  - {kind: incast, dst: host-0, sources: host-1..3, size: 200KB}\n"
                               "variants:\n"
                               "  plain: {}\n"
                               "  small: {host.mtu: 1024B}\n";

static struct weft_scenario_file *parse(const char *text) {
    struct weft_error error = {0};
    struct weft_scenario_file *file = NULL;
    if (weft_scenario_file_parse("two.yaml", text, strlen(text), NULL, 0, &file, &error)) fail_msg("%s", error.text);
    return file;
}

static uint64_t digest_of(const struct weft_scenario_file *file, uint32_t variant, uint32_t threads) {
    struct weft_error error = {0};
    struct weft_simulation *simulation = NULL;
    struct weft_result *result = NULL;
    struct weft_sim_options options = {.threads = threads};
    if (weft_simulation_new(file, variant, &simulation, &error) ||
        weft_simulation_run(simulation, &options, &result, &error))
        fail_msg("%s", error.text);
    uint64_t digest = weft_result_digest(result);
    assert_true(weft_result_sim_time(result) > 0);
    assert_null(weft_result_stall(result));
    weft_result_free(result);
    weft_simulation_free(simulation);
    return digest;
}

static void test_variants(void **state) {
    (void)state;
    struct weft_scenario_file *file = parse(scenario);
    assert_int_equal(weft_scenario_variants(file), 2);
    assert_string_equal(weft_scenario_variant_name(file, 1), "small");
    assert_int_equal(weft_scenario_variant_find(file, "small"), 1);
    assert_int_equal(weft_scenario_variant_find(file, "none"), WEFT_NONE);
    assert_string_equal(weft_version(), WEFT_VERSION);
    weft_scenario_file_free(file);
}

static void test_hosts(void **state) {
    (void)state;
    struct weft_error error = {0};
    struct weft_scenario_file *file = parse(scenario);
    struct weft_simulation *simulation = NULL;
    assert_int_equal(weft_simulation_new(file, 0, &simulation, &error), WEFT_OK);
    assert_int_equal(weft_simulation_hosts(simulation), 4);
    for (uint32_t h = 0; h < 4; h++)
        assert_int_equal(weft_simulation_host_find(simulation, weft_simulation_host_name(simulation, h)), h);
    assert_null(weft_simulation_host_name(simulation, 4));
    assert_int_equal(weft_simulation_host_find(simulation, "switch-0"), WEFT_NONE);
    weft_simulation_free(simulation);
    assert_int_equal(weft_simulation_new(file, 2, &simulation, &error), WEFT_ERROR_INPUT);
    assert_null(simulation);
    weft_scenario_file_free(file);
}

/// The last setting of a path wins, and a file that was changed gives what a file that says so gives.
static void test_settings(void **state) {
    (void)state;
    struct weft_error error = {0};
    struct weft_scenario_file *file = parse(scenario);
    uint64_t before = digest_of(file, 0, 1);
    assert_int_equal(weft_scenario_file_set(file, "workload.0.size=1MB", &error), WEFT_OK);
    assert_int_equal(weft_scenario_file_set(file, "workload.0.size=300KB", &error), WEFT_OK);
    uint64_t after = digest_of(file, 0, 1);
    assert_int_not_equal(before, after);
    const char *setting = "workload.0.size=300KB";
    struct weft_scenario_file *other = NULL;
    assert_int_equal(weft_scenario_file_parse("two.yaml", scenario, strlen(scenario), &setting, 1, &other, &error), 0);
    assert_int_equal(digest_of(other, 0, 2), after);
    assert_int_equal(weft_scenario_file_set(file, "nonsense", &error), WEFT_ERROR_INPUT);
    weft_scenario_file_free(other);
    weft_scenario_file_free(file);
}

struct errors {
    uint32_t n, variant;
    struct weft_error last;
};

static void on_error(void *context, uint32_t variant, const struct weft_error *error) {
    struct errors *errors = context;
    errors->n++;
    errors->variant = variant;
    errors->last = *error;
}

static void test_errors_have_places(void **state) {
    (void)state;
    struct errors errors = {0};
    struct weft_scenario_file *file = parse("topology: {kind: single, hosts: 4}\n"
                                            "workload:\n"
                                            "  - {kind: incast, dst: host-0, sources: host-1..3, size: 200}\n");
    assert_int_equal(weft_scenario_check(file, on_error, &errors), 1);
    assert_int_equal(errors.n, 1);
    assert_int_equal(errors.last.status, WEFT_ERROR_INPUT);
    assert_int_equal(errors.last.line, 3);
    assert_true(errors.last.column > 1);
    assert_int_equal(errors.last.file_length, strlen("two.yaml"));
    assert_memory_equal(errors.last.text, "two.yaml:3:", 11);
    assert_true(errors.last.message_at > 11);
    assert_null(strstr(errors.last.text + errors.last.message_at, "two.yaml"));
    weft_scenario_file_free(file);

    struct weft_error error = {0};
    assert_int_equal(weft_scenario_file_parse("bad.yaml", "a: [", 4, NULL, 0, &file, &error), WEFT_ERROR_INPUT);
    assert_true(error.line > 0);
    assert_int_equal(weft_scenario_file_read("/no/such/file", NULL, 0, &file, &error), WEFT_ERROR_INPUT);
}

/// The first error of every variant that has one.
static void test_errors_of_variants(void **state) {
    (void)state;
    struct errors errors = {0};
    struct weft_scenario_file *file = parse(scenario);
    assert_int_equal(weft_scenario_check(file, on_error, &errors), 0);
    assert_int_equal(weft_scenario_file_set(file, "host.mtv=4KB", NULL), WEFT_OK);
    assert_int_equal(weft_scenario_check(file, on_error, &errors), 2);
    assert_int_equal(errors.n, 2);
    weft_scenario_file_free(file);
    file = parse("topology: {kind: single, hosts: 4}\nvariants: {a: {}, b: {host.cc: nothing}}\n");
    errors = (struct errors){0};
    assert_int_equal(weft_scenario_check(file, on_error, &errors), 1);
    assert_int_equal(errors.variant, 1);
    weft_scenario_file_free(file);
}

static bool stop(void *context, const struct weft_progress *progress) {
    uint32_t *told = context;
    assert_true(progress->total_bytes > 0);
    ++*told;
    return false;
}

/// A run that is told to stop ends with its measurements so far.
static void test_interrupt(void **state) {
    (void)state;
    struct weft_error error = {0};
    struct weft_scenario_file *file = parse("topology: {kind: single, hosts: 32}\n"
                                            "workload: [{kind: permutation, size: 1GB}]\n");
    struct weft_simulation *simulation = NULL;
    struct weft_result *result = NULL;
    assert_int_equal(weft_simulation_new(file, 0, &simulation, &error), WEFT_OK);
    uint32_t told = 0;
    struct weft_sim_options options = {.on_progress = stop, .context = &told};
    assert_int_equal(weft_simulation_run(simulation, &options, &result, &error), WEFT_OK);
    assert_int_equal(told, 1);
    assert_non_null(result);
    weft_result_free(result);
    volatile sig_atomic_t interrupted = 1;
    options = (struct weft_sim_options){.interrupt = &interrupted};
    assert_int_equal(weft_simulation_run(simulation, &options, &result, &error), WEFT_OK);
    weft_result_free(result);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
}

struct job {
    const struct weft_scenario_file *file;
    uint32_t variant, threads;
    uint64_t digest;
};

static void *run_job(void *context) {
    struct job *job = context;
    for (int i = 0; i < 3; i++)
        job->digest = digest_of(job->file, job->variant, job->threads);
    return NULL;
}

/// Runs side by side in one process, of one file, give the digests that they give alone.
static void test_two_runs_at_once(void **state) {
    (void)state;
    struct weft_scenario_file *file = parse(scenario);
    struct job job[] = {{file, 0, 1, 0}, {file, 1, 2, 0}, {file, 1, 1, 0}};
    pthread_t thread[3];
    uint64_t alone[] = {digest_of(file, 0, 1), digest_of(file, 1, 1), digest_of(file, 1, 1)};
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_job, &job[i]), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(job[i].digest, alone[i]);
    }
    assert_int_not_equal(alone[0], alone[1]);
    weft_scenario_file_free(file);
}

static void test_json(void **state) {
    (void)state;
    struct weft_error error = {0};
    struct weft_scenario_file *file = parse(scenario);
    struct weft_simulation *simulation = NULL;
    struct weft_result *result = NULL;
    assert_int_equal(weft_simulation_new(file, 0, &simulation, &error), WEFT_OK);
    assert_int_equal(weft_simulation_run(simulation, NULL, &result, &error), WEFT_OK);
    char *text, expected[64];
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(weft_result_write_json(result, stream, &error), WEFT_OK);
    fclose(stream);
    snprintf(expected, sizeof expected, "\"digest\":\"%016llx\"", (unsigned long long)weft_result_digest(result));
    assert_non_null(strstr(text, expected));
    free(text);
    weft_result_free(result);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
}

/// Rows by name and type, of every table there is; a table that the run does not have is empty.
static void test_rows(void **state) {
    (void)state;
    struct weft_error error = {0};
    struct weft_scenario_file *file = parse(scenario);
    struct weft_simulation *simulation = NULL;
    struct weft_result *result = NULL;
    struct weft_rows *rows = NULL;
    assert_int_equal(weft_simulation_new(file, 0, &simulation, &error), WEFT_OK);
    assert_int_equal(weft_simulation_run(simulation, NULL, &result, &error), WEFT_OK);
    const struct weft_result_table *flows = weft_result_table_find("flows");
    const struct weft_result_column *bytes = weft_result_column_find(flows, "bytes");
    const struct weft_result_column *src = weft_result_column_find(flows, "src_name");
    const struct weft_result_column *tag = weft_result_column_find(flows, "tag");
    assert_int_equal(weft_result_column_type(bytes), WEFT_RESULT_BYTES);
    assert_string_equal(weft_result_unit(bytes), "bytes");
    assert_int_equal(weft_rows_new(result, flows, &rows, &error), WEFT_OK);
    uint32_t n = 0;
    for (; weft_rows_next(rows); n++) {
        struct weft_result_value from = weft_rows_value(rows, src);
        assert_true(weft_rows_number(rows, bytes) == 200000);
        assert_true(from.known && from.type == WEFT_RESULT_TEXT);
        assert_string_equal(from.text, weft_simulation_host_name(simulation, n + 1));
        assert_false(weft_rows_value(rows, tag).known);
    }
    assert_int_equal(n, 3);
    assert_int_equal(weft_rows_status(rows), WEFT_OK);
    weft_rows_free(rows);
    for (uint32_t t = 0; t < weft_result_table_count(); t++) {
        const struct weft_result_table *table = weft_result_table_at(t);
        assert_ptr_equal(weft_result_table_find(weft_result_table_name(table)), table);
        assert_int_equal(weft_rows_new(result, table, &rows, &error), WEFT_OK);
        while (weft_rows_next(rows))
            for (uint32_t c = 0; c < weft_result_column_count(table); c++)
                weft_rows_value(rows, weft_result_column_at(table, c));
        assert_int_equal(weft_rows_status(rows), WEFT_OK);
        weft_rows_free(rows);
    }
    assert_null(weft_result_table_find("nothing"));
    assert_null(weft_result_column_find(flows, "nothing"));
    weft_result_free(result);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_errors_have_places),
        cmocka_unit_test(test_errors_of_variants),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_two_runs_at_once),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
