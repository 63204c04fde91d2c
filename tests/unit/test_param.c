// SPDX-License-Identifier: Apache-2.0
// The loader against a table of the test's own, with every type of parameter.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "weft/model.h"
#include "weft/param.h"
#include "weft/param_load.h"

struct inner {
    uint64_t xoff, xon;
};
struct conf {
    uint64_t delay, never, rate, size, count, weight[8];
    double real;
    bool flag;
    uint32_t choice;
    const char *text;
    uint8_t priorities, dscp[64];
    struct inner inner;
    struct weft_model_conf cc;
};

static const char *const colours[] = {"red", "green", "blue", NULL};
static const char *const lists[] = {"nodes", "links", NULL};

static const char *inner_check(const void *conf, char *text, size_t size) {
    const struct inner *c = conf;
    if (c->xon <= c->xoff) return NULL;
    snprintf(text, size, "xon %lu is above xoff %lu", (unsigned long)c->xon, (unsigned long)c->xoff);
    return text;
}

static const struct weft_param inner_rows[] = {
    WEFT_BYTES(struct inner, xoff, "xoff", "200KB", "0B", "1GB", "pause above"),
    WEFT_BYTES(struct inner, xon, "xon", "100KB", "0B", "1GB", "resume below"),
};
static const struct weft_param_table inner_table =
    WEFT_PARAM_TABLE("inner", struct inner, inner_rows, .check = inner_check);

static const struct weft_param rows[] = {
    WEFT_TIME(struct conf, delay, "delay", "150ns", "1ns", "10ms", "a delay"),
    WEFT_TIME(struct conf, never, "watchdog", "never", "1us", "never", "a time that may be never"),
    WEFT_RATE(struct conf, rate, "rate", "200Gbps", "1Gbps", "3.2Tbps", "a rate"),
    WEFT_BYTES(struct conf, size, "size", "4096B", "64B", NULL, "a size"),
    WEFT_UINT(struct conf, count, "count", "5", "1", "65535", "a count"),
    WEFT_REAL(struct conf, real, "gain", "1/256", "0", "1", "a number"),
    WEFT_BOOL(struct conf, flag, "flag", "yes", "a flag"),
    WEFT_CHOICE(struct conf, choice, "colour", "green", colours, "a choice"),
    WEFT_TEXT(struct conf, text, "hosts", "host-*", "a text"),
    WEFT_PRIORITY_SET(struct conf, priorities, "priorities", "3", "a set"),
    WEFT_WEIGHTS(struct conf, weight, "weights", "1", "1", "100", "weights"),
    WEFT_DSCP_MAP(struct conf, dscp, "dscp_map", "48:7", "a map"),
    WEFT_SECTION(struct conf, inner, "inner", &inner_table, "a section"),
    WEFT_MODEL_PARAM(struct conf, cc, "cc", WEFT_KIND_CC, "none", "a model"),
};
static const struct weft_param_table table = WEFT_PARAM_TABLE("box", struct conf, rows, .lists = lists);

static enum weft_status load(const char *text, struct conf *conf, struct weft_error *ret_error) {
    struct weft_tree *tree = NULL;
    *ret_error = (struct weft_error){0};
    memset(conf, 0xee, sizeof *conf); // the loader must set every field itself
    enum weft_status status = weft_tree_parse("s.yaml", text, strlen(text), arena, &tree, ret_error);
    return status ? status : weft_params_load(&table, tree, conf, arena, ret_error);
}

struct beside {
    uint64_t count;
    struct weft_model_conf aqm;
};
static const struct weft_param beside_rows[] = {
    WEFT_UINT(struct beside, count, "count", "5", "1", "65535", "a count"),
    WEFT_MODEL_BESIDE(struct beside, aqm, "aqm", WEFT_KIND_AQM, "wred", "a model"),
};
static const struct weft_param_table beside_table = WEFT_PARAM_TABLE("box", struct beside, beside_rows);

static void note_value(void *context, const char *path, const char *value, const char *dflt) {
    fprintf(context, "%s=%s ", path, value);
}

/// What the effective configuration says of `text`, or the error.
static char *effective(const char *text) {
    struct weft_tree *tree = NULL;
    struct weft_error error = {0};
    struct beside conf;
    char *written = NULL;
    size_t size;
    FILE *file = open_memstream(&written, &size);
    if (weft_tree_parse("s.yaml", text, strlen(text), arena, &tree, &error) ||
        weft_params_load(&beside_table, tree, &conf, arena, &error))
        fputs(error.text, file);
    else
        weft_params_each(&beside_table, &conf, "box", note_value, file);
    fclose(file);
    char *kept = weft_arena_text(arena, written);
    free(written);
    return kept;
}

/// Parameters of a model beside it, in its map, or some here and some there; never in both.
static void parameters_beside_a_model(void **state) {
    (void)state;
    const char *changed = effective("min: 10KB\nmax_probability: 0.5\ncount: 7\n");
    assert_non_null(strstr(changed, "box.count=7 box.aqm.kind=wred "));
    assert_non_null(strstr(changed, " box.min=10KB "));
    assert_non_null(strstr(changed, " box.max_probability=0.5 "));
    assert_string_equal(effective("count: 7\naqm: {kind: wred, min: 10KB, max_probability: 0.5}\n"), changed);
    assert_string_equal(effective("count: 7\naqm: {min: 10KB}\nmax_probability: 0.5\n"), changed);
    assert_string_equal(effective("count: 7\naqm: wred\nmin: 10KB\nmax_probability: 0.5\n"), changed);
    assert_string_equal(effective("aqm: none\n"), "box.count=5 box.aqm.kind=none ");
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"min: 10\n", "s.yaml:1:6: box.min: \"10\" has no unit"},
        {"mim: 10KB\n", "s.yaml:1:1: box.mim: unknown key; did you mean \"min\"?"},
        {"aqm: none\nmin: 10KB\n", "s.yaml:2:1: box.min: unknown key"},
        {"aqm: {min: 10KB}\nmin: 10KB\n", "s.yaml:2:1: box.min: it is in aqm as well; expected it once"},
        {"aqm: gone\nmin: 10KB\n", "s.yaml:1:6: box.aqm: no aqm \"gone\""}, // whose parameters are not known
        {"aqm: gone\n", "s.yaml:1:6: box.aqm: no aqm \"gone\""},
        {"aqm: [wred]\n", "s.yaml:1:6: box.aqm: found a list"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *got = effective(bad[i].text);
        if (strncmp(got, bad[i].error, strlen(bad[i].error))) fail_msg("%s%s", bad[i].text, got);
    }
}

static void defaults(void **state) {
    (void)state;
    struct conf c;
    memset(&c, 0xee, sizeof c);
    struct weft_error error = {0};
    assert_int_equal(weft_params_load(&table, NULL, &c, arena, &error), WEFT_OK);
    assert_int_equal(c.delay, 150000);
    assert_true(c.never == WEFT_TIME_NEVER);
    assert_int_equal(c.rate, 200000000000);
    assert_int_equal(c.size, 4096);
    assert_int_equal(c.count, 5);
    assert_true(c.real * 256 > 1 - 1e-15 && c.real * 256 < 1 + 1e-15);
    assert_true(c.flag);
    assert_int_equal(c.choice, 1);
    assert_string_equal(c.text, "host-*");
    assert_int_equal(c.priorities, 1 << 3);
    assert_int_equal(c.weight[0], 1);
    assert_int_equal(c.weight[7], 1);
    assert_int_equal(c.dscp[48], 7);
    assert_int_equal(c.dscp[26], 3);
    assert_int_equal(c.inner.xon, 100000);
    assert_string_equal(c.cc.model->name, "none");
}

static void values(void **state) {
    (void)state;
    struct conf c;
    struct weft_error error;
    const char *text = "delay: 2.5us\nwatchdog: 100ms\nrate: 1.6Tbps\nsize: 2MiB\ncount: 7\ngain: 1%\nflag: off\n"
                       "colour: blue\nhosts: [host-1, host-3]\npriorities: [3, 4]\nweights: [1, 2, 3, 4, 5, 6, 7, 8]\n"
                       "dscp_map: {10: 5}\ninner: {xoff: 50KB, xon: 50KB}\ncc: {kind: none}\nnodes: [1]\n";
    if (load(text, &c, &error)) fail_msg("%s", error.text);
    assert_int_equal(c.delay, 2500000);
    assert_int_equal(c.never, 100 * WEFT_PS_PER_MS);
    assert_int_equal(c.rate, 1600000000000);
    assert_int_equal(c.size, 2097152);
    assert_int_equal(c.count, 7);
    assert_true(c.real > 0.00999 && c.real < 0.01001);
    assert_false(c.flag);
    assert_int_equal(c.choice, 2);
    assert_string_equal(c.text, "host-1,host-3");
    assert_int_equal(c.priorities, 0x18);
    assert_int_equal(c.weight[7], 8);
    assert_int_equal(c.dscp[10], 5);
    assert_int_equal(c.dscp[48], 6); // the default map is replaced, not extended
    assert_int_equal(c.inner.xoff, 50000);
    assert_int_equal(c.cc.place.line, 14);
    if (load("priorities: 0-6\nweights: 9\ndelay:\n", &c, &error)) fail_msg("%s", error.text);
    assert_int_equal(c.priorities, 0x7f);
    assert_int_equal(c.weight[3], 9);
    assert_int_equal(c.delay, 150000); // left empty: the default
    static const struct {
        const char *text;
        uint8_t mask;
    } sets[] = {{"[]", 0}, {"none", 0}, {"all", 0xff}, {"\"0, 2-3\"", 0x0d}, {"5", 0x20}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char line[64];
        snprintf(line, sizeof line, "priorities: %s\n", sets[i].text);
        if (load(line, &c, &error)) fail_msg("%s", error.text);
        assert_int_equal(c.priorities, sets[i].mask);
    }
}

static void errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"inner:\n  xof: 3KB\n", "s.yaml:2:3: box.inner.xof: unknown key; did you mean \"xoff\"?"},
        {"zzzzzzzz: 1\n", "s.yaml:1:1: box.zzzzzzzz: unknown key; expected one of delay, watchdog,"},
        {"node: 1\n", "did you mean \"nodes\"?"},
        {"kind: box\n", "s.yaml:1:1: box.kind: unknown key"},
        {"delay: 150\n", "s.yaml:1:8: box.delay: \"150\" has no unit; expected a time such as \"150ns\""},
        {"delay: 11ms\n", "s.yaml:1:8: box.delay: \"11ms\" is out of range 1ns to 10ms"},
        {"delay: 0ns\n", "box.delay: \"0ns\" is out of range 1ns to 10ms"},
        {"delay: never\n", "box.delay: \"never\": expected a time"},
        {"watchdog: 8640001s\n",
         "\"8640001s\" is out of range 1us to 8640000s (simulated time has 100 days), or never"},
        {"watchdog: 999ns\n", "\"999ns\" is out of range 1us to 8640000s"},
        {"size: 3B\n", "box.size: \"3B\" is out of range: at least 64B"},
        {"count: 0\n", "out of range 1 to 65535"},
        {"count: -3\n", "is negative; expected a whole number"},
        {"gain: 2\n", "\"2\" is out of range 0 to 1"},
        {"gain: much\n", "box.gain: \"much\": expected a number such as"},
        {"flag: maybe\n", "box.flag: \"maybe\": expected true or false"},
        {"colour: gren\n", "box.colour: no choice \"gren\"; did you mean \"green\"? expected one of red, green, blue"},
        {"priorities: [3, 8]\n", "s.yaml:1:13: box.priorities: \"3,8\": expected priorities 0 to 7"},
        {"priorities: 5-3\n", "expected priorities"},
        {"priorities: \"3,\"\n", "expected priorities"},
        {"weights: [1, 2]\n", "box.weights: \"1,2\": expected one weight, or eight"},
        {"weights: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n", "expected one weight, or eight"},
        {"weights: 0\n", "\"0\" is out of range 1 to 100"},
        {"dscp_map: {64: 1}\n", "box.dscp_map: \"64:1\": expected code points 0 to 63"},
        {"dscp_map: {10: 8}\n", "expected code points"},
        {"dscp_map: {x: 1}\n", "expected code points"},
        {"dscp_map: {10: [1]}\n", "box.dscp_map: found a map; expected code points"},
        {"inner: 3\n", "s.yaml:1:8: box.inner: found a text; expected a map of parameters"},
        {"inner: {xon: 201KB}\n", "s.yaml:1:8: box.inner: xon 201000 is above xoff 200000"},
        {"delay: [1ns]\n", "box.delay: found a list; expected a time such as"},
        {"delay: {a: 1ns}\n", "box.delay: found a map; expected a time such as"},
        {"hosts: [[a]]\n", "box.hosts: found a list; expected a text or a list of texts"},
        {"cc: nome\n", "s.yaml:1:5: box.cc: no cc \"nome\"; did you mean \"none\"?"},
        {"cc: {kind: none, gain: 1}\n", "s.yaml:1:18: box.cc.gain: unknown key; \"none\" has no parameters"},
        {"cc: [none]\n", "box.cc: found a list; expected the name of a cc, or a map with its kind and parameters"},
        {"cc: {kind: [none]}\n", "s.yaml:1:12: box.cc: found a list; expected the name of a cc"},
        {"[1, 2]\n", "s.yaml:1:1: box: found a list; expected a map of parameters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct conf c;
        struct weft_error error;
        if (load(cases[i].text, &c, &error) != WEFT_ERROR_INPUT) fail_msg("accepted: %s", cases[i].text);
        if (!strstr(error.text, cases[i].expected)) fail_msg("\"%s\" lacks \"%s\"", error.text, cases[i].expected);
    }
}

struct flat {
    FILE *file;
};

static void on_value(void *context, const char *path, const char *value, const char *dflt) {
    fprintf(((struct flat *)context)->file, "%s=%s\n", path, value);
}

static void flat_list(void **state) {
    (void)state;
    struct conf c;
    struct weft_error error;
    if (load("weights: [1, 2, 3, 4, 5, 6, 7, 8]\npriorities: [0, 7]\n", &c, &error)) fail_msg("%s", error.text);
    char text[2048] = "";
    struct flat flat = {fmemopen(text, sizeof text, "w")};
    weft_params_each(&table, &c, "x", on_value, &flat);
    fclose(flat.file);
    assert_string_equal(text, "x.delay=150ns\nx.watchdog=never\nx.rate=200Gbps\nx.size=4KiB\nx.count=5\n"
                              "x.gain=0.00390625\nx.flag=true\nx.colour=green\nx.hosts=host-*\nx.priorities=0,7\n"
                              "x.weights=1,2,3,4,5,6,7,8\nx.dscp_map=48:7\nx.inner.xoff=200KB\nx.inner.xon=100KB\n"
                              "x.cc.kind=none\n");
    // and every value is read back as it was
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].type == WEFT_PARAM_SECTION) continue;
        char value[128], again[128];
        struct conf back;
        memset(&back, 0, sizeof back);
        weft_param_format(&rows[i], &c, value, sizeof value);
        if (weft_param_parse(&rows[i], value, WEFT_NOWHERE, &back, arena, &error)) fail_msg("%s", error.text);
        weft_param_format(&rows[i], &back, again, sizeof again);
        assert_string_equal(value, again);
    }
}

struct needy {
    uint64_t rate;
};

static void missing(void **state) {
    (void)state;
    static const struct weft_param needy_rows[] = {
        WEFT_RATE(struct needy, rate, "rate", NULL, "1Gbps", NULL, "of every link"),
    };
    static const struct weft_param_table needy = WEFT_PARAM_TABLE("ring", struct needy, needy_rows);
    struct weft_tree *tree = NULL;
    struct weft_error error = {0};
    struct needy conf;
    assert_int_equal(weft_tree_parse("s.yaml", "\n  {}\n", 6, arena, &tree, &error), WEFT_OK);
    assert_int_equal(weft_params_load(&needy, tree, &conf, arena, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.text,
                        "s.yaml:2:3: ring.rate is missing (of every link); expected a rate such as \"200Gbps\"");
}

static void unknown_model_as_text(void **state) {
    (void)state;
    struct conf c;
    struct weft_error error = {0};
    assert_int_equal(weft_param_parse(&rows[13], "nome", WEFT_NOWHERE, &c, arena, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "cc: no cc \"nome\"; did you mean \"none\"?"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_beside_a_model),
        cmocka_unit_test(defaults),
        cmocka_unit_test(values),
        cmocka_unit_test(errors),
        cmocka_unit_test(flat_list),
        cmocka_unit_test(missing),
        cmocka_unit_test(unknown_model_as_text),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
