// SPDX-License-Identifier: Apache-2.0
// Values of axes, and points made of them.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "own_memory.h"
#include "weft/sweep.h"

#define SCENARIO "topology: {kind: single, hosts: 2}\nworkload: [{kind: flow, src: host-0, dst: host-1, size: 1MB}]\n"
#define TWO_VARIANTS SCENARIO "variants: {one: {}, other: {host.mtu: 1024B}}\n"

static struct weft_scenario_file *file;
static struct weft_arena *arena;
static struct weft_sweep *sweep;
static struct weft_error error;
static const struct weft_sweep_options all = {.variant = WEFT_NONE};

static int tear_down(void **state) {
    (void)state;
    weft_arena_free(arena);
    weft_scenario_file_free(file);
    arena = NULL;
    file = NULL;
    sweep = NULL;
    return 0;
}

static enum weft_status make_with(const char *text, struct weft_sweep_options options, const char *const *vary,
                                  const char *setting) {
    tear_down(NULL);
    error = (struct weft_error){0};
    if (weft_scenario_file_parse("s.yaml", text, strlen(text), &setting, setting != NULL, &file, &error))
        fail_msg("%s", error.text);
    arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    options.vary = vary;
    for (options.varied = 0; vary && vary[options.varied];)
        options.varied++;
    return weft_sweep_new(file, &options, arena, &sweep, &error);
}

/// Points as "a b|c d", of the first variant; those of --vary VARY.
static const char *points_of(struct weft_sweep_options options, const char *const *vary) {
    if (make_with(SCENARIO, options, vary, NULL)) fail_msg("%s", error.text);
    static char text[4096];
    size_t n = 0;
    text[0] = 0;
    for (uint32_t p = 0; p < sweep->points; p++)
        for (uint32_t a = 0; a < sweep->axes; a++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s",
                                  a   ? " "
                                  : p ? "|"
                                      : "",
                                  sweep->point[p].value[a].text);
    return text;
}

static const char *values_of(const char *vary) {
    return points_of(all, (const char *const[]){vary, NULL});
}

/// Axes are called by paths in a file on a base too, and are laid over those of the base by name.
static void on_a_base(void **state) {
    (void)state;
    if (make_with("base: star\nsweep: {vary: {host.mtu: [1KB, 4KB], run.seed: 1..2}}\n", all, NULL, NULL))
        fail_msg("%s", error.text);
    assert_int_equal(sweep->axes, 1);
    assert_string_equal(sweep->axis[0].path, "host.mtu");
    assert_int_equal(sweep->points, 2);
    assert_int_equal(sweep->seeds, 2);
    char path[] = "/tmp/weft-test-sweep-XXXXXX", text[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *base = fdopen(fd, "w");
    fputs(SCENARIO "sweep: {best: all.fct.mean, vary: {host.mtu: [1KB, 4KB], host.cc: [none, dcqcn]}}\n", base);
    fclose(base);
    snprintf(text, sizeof text, "base: %s\nsweep: {vary: {host.mtu: 2KB, run.detection: [0ns, 1us, 2us]}}\n", path);
    if (make_with(text, all, NULL, NULL)) fail_msg("%s", error.text);
    unlink(path);
    assert_int_equal(sweep->axes, 3);
    assert_int_equal(sweep->points, 1 * 2 * 3);
    assert_string_equal(sweep->best, "all.fct.mean");
}

static void ranges(void **state) {
    (void)state;
    assert_string_equal(values_of("a=1..4"), "1|2|3|4");
    assert_string_equal(values_of("a=4..1"), "4|3|2|1");
    assert_string_equal(values_of("a=1..10:4"), "1|4|7|10");
    assert_string_equal(values_of("a=1..8:4"), "1|3|6|8"); // whole ends, whole values
    assert_string_equal(values_of("a=1.0..2:3"), "1.0|1.5|2");
    assert_string_equal(values_of("a=1..1024:11log"), "1|2|4|8|16|32|64|128|256|512|1024");
    assert_string_equal(values_of("a=0.001..1:4log"), "0.001|0.01|0.1|1");
    assert_string_equal(values_of("a=10%..50%:5"), "10%|20%|30%|40%|50%");
    assert_string_equal(values_of("a=1/4..1/2:2"), "1/4|1/2");
    assert_string_equal(values_of("a=-1..1.0:3"), "-1|0|1.0");
    assert_string_equal(values_of("a=7"), "7");
    assert_string_equal(values_of("a=host-4..6"), "host-4..6"); // no number in front: a text
}

/// Units are kept where both ends have the same, and the values are whole base units.
static void units(void **state) {
    (void)state;
    assert_string_equal(values_of("a=100KB..400KB:4"), "100KB|200KB|300KB|400KB");
    assert_string_equal(values_of("a=100KB..1000KB:4"), "100KB|400KB|700KB|1000KB");
    assert_string_equal(values_of("a=100KB..1MB:4"), "100KB|400KB|700KB|1MB");
    assert_string_equal(values_of("a=1us..2us:4"), "1us|1.333333us|1.666667us|2us");
    assert_string_equal(values_of("a=1us..1ms:4log"), "1us|10us|100us|1ms");
    assert_string_equal(values_of("a=1KiB..2KiB:3"), "1KiB|1.5KiB|2KiB");
    assert_string_equal(values_of("a=1KiB..2KiB:4"),
                        "1KiB|1.3330078125KiB|1.6669921875KiB|2KiB"); // 1365 and 1707 bytes
    assert_string_equal(values_of("a=100Gbps..400Gbps:2"), "100Gbps|400Gbps");
    assert_string_equal(values_of("a=3m..4m:3"), "3m|3.5m|4m");
}

static void lists(void **state) {
    (void)state;
    assert_string_equal(values_of("a=[none, dcqcn]"), "none|dcqcn");
    assert_string_equal(values_of("a=[[3],[3,4]]"), "[\"3\"]|[\"3\",\"4\"]");
    assert_string_equal(values_of("a=[1..4]"), "1..4"); // an entry is taken as it is
    assert_string_equal(values_of("a=[{kind: dcqcn, g: 1/16}]"), "{\"kind\":\"dcqcn\",\"g\":\"1/16\"}");
}

static void combinations(void **state) {
    (void)state;
    static const char *const two[] = {"a=1..2", "b=[x,y,z]", NULL}, *const three[] = {"a=1..3", "b=[x,y,z]", "c=5",
                                                                                      NULL};
    assert_string_equal(points_of(all, two), "1 x|1 y|1 z|2 x|2 y|2 z");
    assert_string_equal(points_of((struct weft_sweep_options){.zip = true, .variant = WEFT_NONE}, three),
                        "1 x 5|2 y 5|3 z 5");
    assert_string_equal(points_of(all, NULL), ""); // one point without a parameter
    assert_int_equal(sweep->points, 1);
}

static void variants_are_an_axis(void **state) {
    (void)state;
    static const char *const vary[] = {"a=1..3", NULL};
    assert_int_equal(make_with(TWO_VARIANTS, all, vary, NULL), WEFT_OK);
    assert_int_equal(sweep->points, 6);
    for (uint32_t p = 0; p < 6; p++) {
        assert_int_equal(sweep->point[p].variant, p / 3);
        assert_ptr_equal(sweep->point[p].value, sweep->point[p % 3].value);
    }
    assert_int_equal(make_with(TWO_VARIANTS, (struct weft_sweep_options){.variant = 1}, vary, NULL), WEFT_OK);
    assert_int_equal(sweep->points, 3);
    assert_int_equal(sweep->point[0].variant, 1);
}

/// Every N-th part of each axis has one point; of a list every value comes up as often as any other.
static void latin_hypercube(void **state) {
    (void)state;
    enum { N = 50 };
    static const char *const vary[] = {"a=0.0..1.0", "b=1B..1000000B:log", "c=[p,q,r,s,t]", "d=1..10", NULL};
    struct weft_sweep_options options = {.sample = N, .sample_seed = 3, .variant = WEFT_NONE};
    assert_int_equal(make_with(SCENARIO, options, vary, NULL), WEFT_OK);
    assert_int_equal(sweep->points, N);
    unsigned a[N] = {0}, b[N] = {0}, c[5] = {0}, d[11] = {0}, moved = 0;
    for (uint32_t p = 0; p < N; p++) {
        const struct weft_sweep_value *v = sweep->point[p].value;
        unsigned at = (unsigned)(atof(v[0].text) * N);
        a[at]++;
        double bytes = atof(v[1].text) * (strstr(v[1].text, "KB") ? 1e3 : strstr(v[1].text, "MB") ? 1e6 : 1);
        for (unsigned k = 0; k < N; k++) // log10 of bytes is 0 to 6
            b[k] += bytes >= __builtin_pow(10, 6. * k / N) && bytes < __builtin_pow(10, 6. * (k + 1) / N);
        c[*v[2].text - 'p']++;
        d[atoi(v[3].text)]++;
        moved += at != p;
    }
    unsigned b_filled = 0;
    for (unsigned k = 0; k < N; k++) {
        assert_int_equal(a[k], 1);
        b_filled += b[k] > 0; // below 10 B parts are narrower than a byte
    }
    assert_true(b_filled >= N - 10);
    for (unsigned k = 0; k < 5; k++)
        assert_int_equal(c[k], N / 5);
    for (unsigned k = 1; k <= 10; k++)
        assert_int_equal(d[k], N / 10);
    assert_true(moved > N / 2); // a permutation, not the diagonal
    char *first = strdup(sweep->point[7].value[0].text);
    make_with(SCENARIO, options, vary, NULL);
    assert_string_equal(sweep->point[7].value[0].text, first); // the same again
    options.sample_seed = 4;
    make_with(SCENARIO, options, vary, NULL);
    assert_string_not_equal(sweep->point[7].value[0].text, first);
    free(first);
}

static void seeds(void **state) {
    (void)state;
    static const char *const vary[] = {"a=1..2", "run.seed=[3,1,4]", "b=5", NULL};
    assert_int_equal(make_with(SCENARIO, all, vary, NULL), WEFT_OK);
    assert_int_equal(sweep->axes, 2);
    assert_string_equal(sweep->axis[1].path, "b");
    assert_int_equal(sweep->points, 2);
    assert_int_equal(sweep->seeds, 3);
    assert_int_equal(sweep->seed[2], 4);
    uint64_t *seed;
    uint32_t n;
    assert_true(weft_seeds_parse("1..3,7", arena, &seed, &n));
    assert_int_equal(n, 4);
    assert_int_equal(seed[3], 7);
    static const char *const wrong[] = {"", "1..", "3..1", "1,1", "1..2000", "x", "1 ,2", "1,"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(weft_seeds_parse(wrong[i], arena, &seed, &n));
}

/// Whole numbers as values of a sweep, sorted, each once.
static void numbers(void **state) {
    (void)state;
    uint64_t *number;
    uint32_t n;
    char why[256];
    assert_true(weft_numbers_parse("256,64..1024:3log,7..9", 8, arena, &number, &n, why, sizeof why) == false);
    assert_string_equal(why, "256 comes twice; expected each number once"); // the middle of 64 and 1024
    assert_true(weft_numbers_parse("64..1024:5log,7..9", 8, arena, &number, &n, why, sizeof why));
    static const uint64_t expected[] = {7, 8, 9, 64, 128, 256, 512, 1024};
    assert_int_equal(n, 8);
    assert_memory_equal(number, expected, sizeof expected);
    assert_true(weft_numbers_parse("12", 1, arena, &number, &n, why, sizeof why));
    assert_true(n == 1 && number[0] == 12);
    assert_true(weft_numbers_parse("2..4:5log", 3, arena, &number, &n, why, sizeof why)); // 2, 2.4, 2.8, 3.4, 4
    assert_true(n == 3 && number[0] == 2 && number[1] == 3 && number[2] == 4);
    static const char *const wrong[] = {"", "1,", "1,,2", "x", "1..4,9..13", "1KB..2KB:2", "0.5..1:2", "1..9:log"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        *why = 0;
        assert_false(weft_numbers_parse(wrong[i], 8, arena, &number, &n, why, sizeof why));
        assert_true(*why);
    }
}

/// The file's axes, overridden by the command line.
static void section(void **state) {
    (void)state;
    static const char text[] =
        SCENARIO "sweep:\n  vary: {host.mtu: 1024B..4096B:2, host.cc: [none, dcqcn], run.seed: 1..5}\n"
                 "  best: victims.fct.mean:max\n  metrics: [counters.cnp, victims.fct.p99]\n";
    static const char *const vary[] = {"host.cc=dcqcn", "host.window=[1MB,2MB,3MB]", NULL};
    assert_int_equal(make_with(text, all, NULL, NULL), WEFT_OK);
    assert_int_equal(sweep->points, 4);
    assert_int_equal(sweep->seeds, 5);
    assert_string_equal(sweep->best, "victims.fct.mean:max");
    assert_string_equal(sweep->metrics, "counters.cnp,victims.fct.p99");
    assert_int_equal(sweep->axis[1].place.line, 4);
    assert_int_equal(make_with(text, all, vary, NULL), WEFT_OK);
    assert_int_equal(sweep->points, 6);
    assert_string_equal(sweep->axis[1].path, "host.cc");
    assert_int_equal(sweep->axis[1].values, 1);
}

/// A point is a scenario with its values, which have places of their own.
static void bound(void **state) {
    (void)state;
    static const char *const vary[] = {"host.mtu=[1024B,9KB,1500]", "run.seed=[5,6]", NULL};
    assert_int_equal(make_with(SCENARIO, all, vary, "host.window=1MB"), WEFT_OK);
    struct weft_scenario *s;
    if (weft_scenario_new(weft_sweep_file(sweep, 0, 1, arena), 0, &s, &error)) fail_msg("%s", error.text);
    assert_int_equal(s->run.seed, 6);
    weft_scenario_free(s);
    if (weft_scenario_new(weft_sweep_file(sweep, 1, WEFT_NONE, arena), 0, &s, &error)) fail_msg("%s", error.text);
    assert_int_equal(s->run.seed, 1);
    weft_scenario_free(s);
    assert_int_equal(weft_scenario_new(weft_sweep_file(sweep, 2, 0, arena), 0, &s, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "--vary host.mtu=[1024B,9KB,1500]: host.mtu: \"1500\" has no unit"));
}

static void wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *vary[3], *setting, *error;
        bool zip;
    } cases[] = {
        {SCENARIO, {"a=1..1000000"}, NULL, "--vary a=1..1000000: a: 1..1000000: more than 100000 values", false},
        {SCENARIO, {"a=1KB..4us:2"}, NULL, "1KB and 4us are not of one kind", false},
        {SCENARIO, {"a=1KB..4:2"}, NULL, "1KB and 4 are not of one kind", false},
        {SCENARIO, {"a=1KB..4KX:2"}, NULL, "\"4KX\" is not a number or quantity", false},
        {SCENARIO, {"a=1..4:1"}, NULL, "expected how many values, 2 to 100000", false},
        {SCENARIO, {"a=1..4:4lin"}, NULL, "expected how many values", false},
        {SCENARIO, {"a=0..4:4log"}, NULL, "an end that is not above 0 has no logarithm", false},
        {SCENARIO, {"a=0..1:5"}, NULL, "two would be 0", false},
        {SCENARIO, {"a=1KB..4KB"}, NULL, "expected how many values, as in A..B:4", false},
        {SCENARIO, {"a=[]"}, NULL, "expected 1 to 100000 values", false},
        {SCENARIO, {"a=[1,1]"}, NULL, "a: 1 is there twice", false},
        {SCENARIO, {"a={b: 1}"}, NULL, "a: expected a list", false},
        {SCENARIO, {"a="}, NULL, "a: expected a list", false},
        {SCENARIO, {"a"}, NULL, "--vary a: expected path=values", false},
        {SCENARIO, {"a=1", "a=2"}, NULL, "a is varied twice", false},
        {SCENARIO, {"a=1..2", "b=1..3"}, NULL, "b has 3 values and a 2", true},
        {SCENARIO, {"a=1..2000", "b=1..2000"}, NULL, "4000000 points", false},
        {SCENARIO, {"run.seed=[x]"}, NULL, "run.seed: expected at most 1000 whole numbers", false},
        {SCENARIO, {"run.seed=1..2000"}, NULL, "run.seed: expected at most 1000", false},
        {SCENARIO, {"host.cc=[none]"}, "host.cc=dcqcn", "--set host.cc=dcqcn: the sweep varies host.cc", false},
        {SCENARIO, {"run.seed=1..2"}, "run.seed=1", "the sweep varies run.seed", false},
        {SCENARIO "sweep: {vary: [1]}\n", {NULL}, NULL, "s.yaml:3:15: sweep.vary: expected a map", false},
        {SCENARIO "sweep: {vary: {a: 1..x}}\n", {NULL}, NULL, "s.yaml:3:19: a: \"x\" is not a number", false},
        {SCENARIO "sweep: {zap: 1}\n", {NULL}, NULL, "s.yaml:3:9: ", false},
        {SCENARIO "sweep: {zip: on, sample: 3}\n", {NULL}, NULL, "zip and sample", false},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_sweep_options options = {.variant = WEFT_NONE, .zip = cases[i].zip};
        assert_int_equal(make_with(cases[i].text, options, cases[i].vary, cases[i].setting), WEFT_ERROR_INPUT);
        if (!strstr(error.text, cases[i].error)) fail_msg("%u: expected \"%s\": %s", i, cases[i].error, error.text);
    }
}

/// The section is about the file; a variant cannot override it.
static void not_of_a_variant(void **state) {
    (void)state;
    struct weft_scenario *s;
    assert_int_equal(make_with(SCENARIO "variants: {a: {sweep.zip: on}}\n", all, NULL, NULL), WEFT_OK);
    assert_int_equal(weft_scenario_new(file, 0, &s, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "sweep: cannot be overridden"));
}

static int finish(void **state) {
    tear_down(state);
    return close_memory(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges),
        cmocka_unit_test(on_a_base),
        cmocka_unit_test(units),
        cmocka_unit_test(lists),
        cmocka_unit_test(combinations),
        cmocka_unit_test(variants_are_an_axis),
        cmocka_unit_test(latin_hypercube),
        cmocka_unit_test(seeds),
        cmocka_unit_test(numbers),
        cmocka_unit_test(section),
        cmocka_unit_test(bound),
        cmocka_unit_test(wrong),
        cmocka_unit_test(not_of_a_variant),
    };
    return cmocka_run_group_tests(tests, open_memory, finish);
}
