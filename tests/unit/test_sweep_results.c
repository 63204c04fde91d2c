// SPDX-License-Identifier: Apache-2.0
// The table of a sweep as CSV, text and JSON, and its best point, of runs that are filled in by hand.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "own_memory.h"
#include "weft/sweep_results.h"

enum { POINTS = 3, SEEDS = 4, COLUMNS = 2 };

static const char scenario[] = "topology: {kind: single, hosts: 2}\n"
                               "workload: [{kind: flow, src: host-0, dst: host-1, size: 1MB}]\n"
                               "sweep: {vary: {\"host.cc\": [none, dcqcn, \"a, b\"], run.seed: 1..4}}\n";

/// Mean completion times in us: the second point is 1 us slower with every seed, the third sometimes faster.
static const double fct_us[POINTS][SEEDS] = {{100, 110, 120, 130}, {101, 111, 121, 131}, {90, 125, 110, 139}};

static struct weft_arena *arena;
static struct weft_scenario_file *file;
static struct weft_sweep_results results;
static struct weft_sweep_metric metric[2];

static struct weft_result_value value_of(const struct weft_sweep_column *column, double value) {
    struct weft_result_value v = {.type = column->column->type, .known = true};
    if (v.type == WEFT_RESULT_REAL)
        v.real = value;
    else
        v.whole = (uint64_t)value;
    return v;
}

static int set_up(void **state) {
    open_memory(state);
    arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_error error = {0};
    struct weft_sweep *sweep;
    static const struct weft_sweep_options all = {.variant = WEFT_NONE};
    assert_int_equal(weft_scenario_file_parse("s.yaml", scenario, strlen(scenario), NULL, 0, &file, &error), WEFT_OK);
    if (weft_sweep_new(file, &all, arena, &sweep, &error)) fail_msg("%s", error.text);
    uint32_t columns;
    struct weft_sweep_column *column = weft_sweep_columns(arena, &columns), *own;
    own = weft_arena_alloc(arena, COLUMNS, sizeof *own);
    for (uint32_t i = 0; i < columns; i++) {
        if (!strcmp(column[i].name, "fct_ps_mean")) own[0] = column[i];
        if (!strcmp(column[i].name, "counters_cnp")) own[1] = column[i];
    }
    results = (struct weft_sweep_results){.sweep = sweep, .name = "hand", .about = "made", .path = "my s.yaml"};
    results.column = own;
    results.columns = COLUMNS;
    results.run = weft_arena_alloc(arena, POINTS * SEEDS, sizeof *results.run);
    for (uint32_t i = 0; i < POINTS * SEEDS; i++) {
        struct weft_sweep_run *run = &results.run[i];
        *run = (struct weft_sweep_run){.state = WEFT_SWEEP_DONE, .message = "", .digest = "0123456789abcdef"};
        run->seed = i % SEEDS + 1;
        run->sim_time_ps = 1000000;
        run->rows = 1;
        run->row = weft_arena_alloc(arena, 1, sizeof *run->row);
        run->row->group = "g, h";
        run->row->value = weft_arena_alloc(arena, COLUMNS, sizeof *run->row->value);
        run->row->value[0] = value_of(&own[0], fct_us[i / SEEDS][i % SEEDS] * 1e6);
        run->row->value[1] = value_of(&own[1], i % SEEDS);
    }
    assert_true(weft_sweep_metric_parse("\"g, h\".fct.mean", WEFT_NOWHERE, true, own, COLUMNS, arena, &metric[0]));
    assert_true(weft_sweep_metric_parse("counters.cnp:max", WEFT_NOWHERE, true, own, COLUMNS, arena, &metric[1]));
    return 0;
}

static int tear_down(void **state) {
    weft_arena_free(arena);
    weft_scenario_file_free(file);
    return close_memory(state);
}

static char *printed(void (*print)(FILE *file, const struct weft_sweep_best *best),
                     const struct weft_sweep_best *best) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    print(stream, best);
    fclose(stream);
    return text;
}

static const struct weft_answer *answer_of(const struct weft_sweep_best *best, const void **subject) {
    const struct weft_sweep_shown shown = {&results, best, false};
    return weft_sweep_answer(&shown, arena, subject);
}
static void print_csv(FILE *stream, const struct weft_sweep_best *best) {
    const void *subject;
    const struct weft_answer *answer = answer_of(best, &subject);
    weft_answer_csv(stream, answer, weft_answer_table(answer, "sweep"), subject);
}
static void print_text(FILE *stream, const struct weft_sweep_best *best) {
    const void *subject;
    answer_of(best, &subject);
    weft_sweep_text(stream, subject);
}
static void print_json(FILE *stream, const struct weft_sweep_best *best) {
    const void *subject;
    const struct weft_answer *answer = answer_of(best, &subject);
    struct weft__json j = {.file = stream};
    weft_answer_json(&j, answer, subject);
}

/// A figure of a group, a parameter whose path has dots, and a point that is named by its number.
static void figures(void **state) {
    (void)state;
    struct weft_sweep_best b = weft_sweep_best(&results, &metric[0], arena);
    const void *subject;
    const struct weft_answer *answer = answer_of(&b, &subject);
    struct weft_result_finder finder = weft_answer_finder(answer, subject, arena);
    static const char *const path[] = {"points", "2", "groups", "g, h", "fct_ps_mean", "median"};
    struct weft_result_found found = weft_result_find(&finder, path, 6);
    assert_non_null(found.column);
    assert_true(found.value.real == 117.5e6);
    static const char *const value[] = {"points", "2", "parameters", "host.cc"};
    assert_string_equal(weft_result_find(&finder, value, 4).value.text, "a, b");
    static const char *const wrong[] = {"points", "2", "groups", "g, h", "nothing"};
    found = weft_result_find(&finder, wrong, 5);
    assert_null(found.column);
    assert_string_equal(found.name[0], "fct_ps_mean");
}

static void csv(void **state) {
    (void)state;
    static const char head[] = "point,variant,host.cc,seed,group,end,digest,sim_time_ps,fct_ps_mean,counters_cnp\n"
                               "0,,none,1,\"g, h\",done,0123456789abcdef,1000000,100000000,0\n"
                               "0,,none,2,\"g, h\",done,0123456789abcdef,1000000,110000000,1\n";
    static const char last[] = "\n2,,\"a, b\",4,\"g, h\",done,0123456789abcdef,1000000,139000000,3\n";
    char *text = printed(print_csv, NULL);
    assert_memory_equal(text, head, sizeof head - 1);
    assert_string_equal(text + strlen(text) - sizeof last + 1, last);
    free(text);
}

/// The second point is worse by 1 us each time, which is sure; the third by 1 us in the mean, which is noise.
static void best(void **state) {
    (void)state;
    assert_string_equal(metric[0].group, "g, h");
    struct weft_sweep_best b = weft_sweep_best(&results, &metric[0], arena);
    assert_int_equal(b.point, 0);
    assert_true(b.judged);
    assert_int_equal(b.likes, 1);
    assert_int_equal(b.like[0], 2);
    assert_int_equal(b.left_out, 0);
    b = weft_sweep_best(&results, &metric[1], arena); // the same everywhere: the first, and all others like it
    assert_int_equal(b.point, 0);
    assert_int_equal(b.likes, 2);
    results.run[1].row->value[0].known = false; // a flow that has not finished
    b = weft_sweep_best(&results, &metric[0], arena);
    assert_int_equal(b.point, 1);
    assert_int_equal(b.left_out, 1);
    results.run[1].row->value[0].known = true;
}

static void text(void **state) {
    (void)state;
    static const char expected[] = "hand: made\n"
                                   "3 points, 4 seeds; +/-: half of the 95% interval of the mean over seeds\n"
                                   "\n"
                                   "group g, h      fct.mean, us\n"
                                   "point  host.cc    mean    +/-  median\n"
                                   "    0  none     115.00  20.54  115.00\n"
                                   "    1  dcqcn    116.00  20.54  116.00\n"
                                   "    2  a, b     116.00  33.40  117.50\n"
                                   "\n"
                                   "best by \"g, h\".fct.mean (the least): point 0, 115.00us +/- 20.54us\n"
                                   "  weft run 'my s.yaml' --set host.cc=none\n"
                                   "  as good, as far as 4 seeds can tell: point 2\n";
    struct weft_sweep_best b = weft_sweep_best(&results, &metric[0], arena);
    char *all = printed(print_text, &b);
    assert_string_equal(all, expected);
    free(all);
}

/// What failed or is missing is said; means are of the seeds that there are.
static void text_of_failures(void **state) {
    (void)state;
    struct weft_sweep_run run = results.run[5], other = results.run[8];
    results.run[5] = (struct weft_sweep_run){.state = WEFT_SWEEP_FAILED, .message = "no disk", .digest = "", .seed = 2};
    results.run[8] = (struct weft_sweep_run){.message = "", .digest = "", .seed = 1};
    struct weft_sweep_best b = weft_sweep_best(&results, &metric[0], arena);
    char *all = printed(print_text, &b);
    assert_non_null(strstr(all, "point  host.cc    mean    +/-  median  seeds\n"));
    assert_non_null(strstr(all, "    1  dcqcn    117.67  37.95  121.00      3\n"));
    assert_non_null(strstr(all, "\npoint 1, seed 2 failed: no disk\n1 of 12 runs are missing\n"));
    assert_non_null(strstr(all, "\n  left out, without a value with some seed: 2 points\n"));
    free(all);
    results.run[5] = run;
    results.run[8] = other;
}

static void json(void **state) {
    (void)state;
    struct weft_sweep_best b = weft_sweep_best(&results, &metric[0], arena);
    char *all = printed(print_json, &b);
    json_t *root = json_loads(all, 0, NULL);
    assert_non_null(root);
    const json_t *point = json_array_get(json_object_get(root, "points"), 2);
    assert_string_equal(json_string_value(json_object_get(json_object_get(point, "parameters"), "host.cc")), "a, b");
    const json_t *fct = json_object_get(json_object_get(json_object_get(point, "groups"), "g, h"), "fct_ps_mean");
    assert_true(json_number_value(json_object_get(fct, "median")) == 117.5e6);
    const json_t *like = json_object_get(json_object_get(root, "best"), "like");
    assert_int_equal(json_integer_value(json_array_get(like, 0)), 2);
    json_decref(root);
    free(all);
}

/// In a shell's quotes where it needs them.
static void commands(void **state) {
    (void)state;
    static const char *const settings[] = {"name=it's"};
    results.setting = settings;
    results.settings = 1;
    assert_string_equal(weft_sweep_command(&results, 2, arena),
                        "weft run 'my s.yaml' --set 'name=it'\\''s' --set 'host.cc=a, b'");
    results.settings = 0;
}

/// A file that is no database, or has another form, is not a run.
static void records(void **state) {
    (void)state;
    char path[] = "/tmp/weft-sweep-record-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "not a database", 14), 14);
    close(fd);
    assert_int_equal(weft_sweep_load(path, results.column, COLUMNS, arena).state, WEFT_SWEEP_MISSING);
    struct weft_error error = {0};
    if (weft_sweep_record_failure(path, "it was hit", true, &error)) fail_msg("%s", error.text);
    uint32_t columns;
    struct weft_sweep_column *column = weft_sweep_columns(arena, &columns);
    struct weft_sweep_run run = weft_sweep_load(path, column, columns, arena);
    assert_int_equal(run.state, WEFT_SWEEP_FAILED);
    assert_true(run.bug);
    assert_string_equal(run.message, "it was hit");
    assert_int_equal(weft_sweep_load(path, column, columns - 1, arena).state, WEFT_SWEEP_MISSING); // other columns
    unlink(path);
    assert_int_equal(weft_sweep_load(path, column, columns, arena).state, WEFT_SWEEP_MISSING);
}

static void metrics(void **state) {
    (void)state;
    struct weft_sweep_metric m;
    assert_true(
        weft_sweep_metric_parse("load.leaf-spine.mean", WEFT_NOWHERE, false, results.column, COLUMNS, arena, &m));
    assert_int_equal(m.column, WEFT_NONE);
    assert_int_equal(m.path.parts, 3);
    assert_true(weft_sweep_metric_parse("seed:min", WEFT_NOWHERE, true, results.column, COLUMNS, arena, &m));
    assert_string_equal(m.heading, "run.seed");
    assert_false(m.max);
    static const char *const wrong[] = {"", "a..b", "\"a", "topo.hosts", "plan.pfc.x"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(weft_sweep_metric_parse(wrong[i], WEFT_NOWHERE, true, results.column, COLUMNS, arena, &m));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv),     cmocka_unit_test(best),
        cmocka_unit_test(text),    cmocka_unit_test(text_of_failures),
        cmocka_unit_test(json),    cmocka_unit_test(commands),
        cmocka_unit_test(records), cmocka_unit_test(metrics),
        cmocka_unit_test(figures),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
