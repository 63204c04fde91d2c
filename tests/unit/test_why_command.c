// SPDX-License-Identifier: Apache-2.0
// weft why as a user calls it, on a folder of --out: every form adds up to the times that the results have.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <sqlite3.h>
#include <string.h>

#include "command.h"

static struct fixture fixture = {.dir = "/tmp/weft-why-command-XXXXXX"};

static const char scenario[] = "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
                               "switch: {buffer: {kind: static, size: 400KB, xoff: 60KB, xon: 40KB}}\n"
                               "workload:\n"
                               "- {kind: incast, group: crowd, sources: host-0..4, dst: host-7, size: 300KB}\n"
                               "- {kind: job, group: train, iterations: 3, operations: [{compute: 20us, collective: "
                               "all_reduce_ring, size: 200KB}]}\n";

static int set_up(void **state) {
    *state = &fixture;
    if (!mkdtemp(fixture.dir)) return -1;
    write_text(&fixture, "s.yaml", scenario);
    return weft(&fixture, "run s.yaml --quiet --out r");
}

static json_t *json_of(struct fixture *f, const char *arguments) {
    json_error_t error;
    if (weft(f, arguments)) fail_msg("weft %s: %s", arguments, f->err);
    json_t *json = json_loads(f->out, 0, &error);
    if (!json) fail_msg("weft %s: %s", arguments, error.text);
    return json;
}

static json_int_t of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) fail_msg("no number %s", key);
    return json_integer_value(value);
}

static json_int_t sum_of(const json_t *array, const char *key) {
    json_int_t sum = 0;
    assert_true(json_array_size(array) > 0);
    for (size_t i = 0; i < json_array_size(array); i++)
        sum += of(json_array_get(array, i), key);
    return sum;
}

static json_t *result(struct fixture *f, const char *key) {
    static char text[1 << 18];
    json_error_t error;
    slurp(f, "r/result.json", text, sizeof text);
    json_t *all = json_loads(text, 0, &error);
    if (!all) fail_msg("result.json: %s", error.text);
    json_t *value = json_incref(json_object_get(all, key));
    json_decref(all);
    if (!value) fail_msg("result.json has no %s", key);
    return value;
}

static void slowest(void **state) {
    struct fixture *f = *state;
    json_t *why = json_of(f, "why r --slowest 4 --quiet --json"), *flow = json_object_get(why, "flows");
    json_t *stored = result(f, "flows");
    json_int_t before = INT64_MAX;
    assert_int_equal(json_array_size(flow), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *one = json_array_get(flow, i);
        json_int_t fct = of(one, "fct_ps");
        assert_int_equal(sum_of(json_object_get(one, "parts"), "time_ps"), fct);
        assert_int_equal(of(json_array_get(stored, (size_t)of(one, "flow")), "fct_ps"), fct);
        assert_true(fct <= before);
        before = fct;
    }
    json_decref(stored);
    json_decref(why);
}

static void group(void **state) {
    static const char *const is[] = {"99th percentile", "median"}, *const key[] = {"p99", "p50"};
    struct fixture *f = *state;
    json_t *why = json_of(f, "why r --group crowd --quiet --json"), *flow = json_object_get(why, "flows");
    json_t *groups = result(f, "groups"), *fct = json_object_get(json_object_get(groups, "crowd"), "fct_ps");
    assert_int_equal(json_array_size(flow), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *one = json_array_get(flow, i);
        assert_string_equal(json_string_value(json_object_get(one, "is")), is[i]);
        assert_int_equal(sum_of(json_object_get(one, "parts"), "time_ps"), of(one, "fct_ps"));
        assert_true(json_number_value(json_object_get(fct, key[i])) == (double)of(one, "fct_ps"));
    }
    json_decref(groups);
    json_decref(why);
}

/// Iterations follow one another; without a number it is the longest.
static void iterations(void **state) {
    struct fixture *f = *state;
    json_int_t end = 0, most = 0;
    for (int i = 0; i < 3; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "why r --job train --iteration %d --quiet --json", i);
        json_t *why = json_of(f, arguments), *step = json_object_get(why, "steps");
        json_int_t time = of(why, "iteration_ps");
        assert_int_equal(of(why, "from_ps"), end);
        assert_int_equal(sum_of(step, "time_ps"), time);
        for (size_t k = 0; k < json_array_size(step); k++) {
            const json_t *one = json_array_get(step, k);
            assert_int_equal(of(one, "from_ps"), end);
            assert_int_equal(sum_of(json_object_get(one, "parts"), "time_ps"), of(one, "time_ps"));
            end += of(one, "time_ps");
        }
        if (time > most) most = time;
        json_decref(why);
    }
    json_t *longest = json_of(f, "why r --job train --quiet --json");
    assert_int_equal(of(longest, "iteration_ps"), most);
    json_decref(longest);
    assert_int_equal(weft(f, "why r --job train --iteration 0 --quiet"), 0);
    assert_non_null(strstr(f->out, "job train, 8 ranks: iteration 0 took "));
    assert_non_null(strstr(f->out, "): compute of all_reduce_ring\n"));
    assert_non_null(strstr(f->out, "): message of all_reduce_ring, to rank "));
}

static void refused(void **state) {
    static const struct {
        const char *arguments, *error;
    } cases[] = {
        {"why r --job trian", "--job trian: no such job; did you mean \"train\"?"},
        {"why r --job train --iteration 3", "job train: no iteration 3, expected a number below 3"},
        {"why r --iteration 1 --slowest 1", "--iteration: expected --job NAME with it"},
        {"why r --job train --slowest 1", "or --job NAME"},
        {"why r --group crowds", "did you mean \"crowd\"?"},
        {"why r", "expected the number of a flow"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(weft(f, cases[i].arguments), 2);
        if (!strstr(f->err, cases[i].error)) fail_msg("weft %s: %s", cases[i].arguments, f->err);
        assert_string_equal(f->out, "");
    }
}

/// The operation at the 99th percentile beside the median, for every transport; a name that is no such group is
/// refused.
static void operations(void **state) {
    static const char *const is[] = {"99th percentile", "median"};
    struct fixture *f = *state;
    write_text(f, "rma.yaml",
               "topology: {kind: dragonfly, pods: 2, tins: 2}\nworkload:\n"
               "- {kind: rma, group: reads, transport: 1rma, rate: 200000, duration: 100us}\n"
               "- {kind: rma, group: soft, transport: software, rate: 10000, duration: 100us}\n"
               "- {kind: rma, group: sends, transport: 1rma, verb: send, rate: 10000, duration: 100us}\n");
    assert_int_equal(weft(f, "run rma.yaml --quiet --out rma"), 0);
    static const char *const groups[] = {"reads", "soft", "sends"};
    for (size_t g = 0; g < 3; g++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "why rma --rma %s --quiet --json", groups[g]);
        json_t *why = json_of(f, arguments), *list = json_object_get(why, "operations");
        assert_int_equal(json_array_size(list), 2);
        for (size_t i = 0; i < 2; i++) {
            const json_t *one = json_array_get(list, i);
            assert_string_equal(json_string_value(json_object_get(one, "is")), is[i]);
            assert_int_equal(sum_of(json_object_get(one, "parts"), "time_ps"), of(one, "latency_ps"));
        }
        assert_true(of(json_array_get(list, 0), "latency_ps") > of(json_array_get(list, 1), "latency_ps"));
        json_decref(why);
    }
    assert_int_equal(weft(f, "why rma --rma reads --slowest 3 --quiet"), 0);
    assert_non_null(strstr(f->out, "operation of reads, host-"));
    assert_int_equal(weft(f, "why rma --rma read"), 2);
    assert_non_null(strstr(f->err, "--rma read: no such group of remote memory access; did you mean \"reads\"?"));
    assert_int_equal(weft(f, "why r --rma reads"), 2);
    assert_non_null(strstr(f->err, "the run has none"));
}

static void sql(const struct fixture *f, const char *command) {
    char path[256];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/r/results.sqlite", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, command, NULL, NULL, NULL)) fail_msg("%s: %s", command, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/// Results without any recording are explained; with a digest that is not that of the run they are not.
static void run_again(void **state) {
    struct fixture *f = *state;
    json_t *before = json_of(f, "why r --slowest 1 --quiet --json");
    sql(f, "DELETE FROM events; DELETE FROM pauses; DELETE FROM rank_times");
    json_t *after = json_of(f, "why r --slowest 1 --quiet --json");
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
    assert_int_equal(weft(f, "run s.yaml --set run.events=0 --quiet --out bare"), 0);
    assert_int_equal(weft(f, "why bare 0 --quiet"), 0);
    sql(f, "UPDATE run SET digest = '0123456789abcdef'");
    assert_int_equal(weft(f, "why r --slowest 1 --quiet"), 5);
    assert_non_null(strstr(f->err, "the run does not repeat: its digest is "));
    assert_non_null(strstr(f->err, "that of the results 0123456789abcdef"));
    assert_string_equal(f->out, "");
    sql(f, "UPDATE run SET interrupted = 1");
    assert_int_equal(weft(f, "why r --slowest 1 --quiet"), 0);
    assert_non_null(strstr(f->err, "digests are not compared"));
    sql(f, "DELETE FROM sources");
    assert_int_equal(weft(f, "why r --slowest 1 --quiet"), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slowest), cmocka_unit_test(group),      cmocka_unit_test(iterations),
        cmocka_unit_test(refused), cmocka_unit_test(operations), cmocka_unit_test(run_again),
    };
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
