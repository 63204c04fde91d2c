// SPDX-License-Identifier: Apache-2.0
// weft models as a user and as an editor calls it: every model and parameter is there, and the schema fits the tables.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "scenario/scenario.h"
#include "weft/param.h"

/// What the program prints; NULL if it exits with another status. To be freed.
static char *output_of(const char *arguments, int expected_status) {
    char command[4096];
    snprintf(command, sizeof command, "'%s' %s 2>&1", getenv("WEFT"), arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    enum { ROOM = 1 << 20 };
    char *text = calloc(1, ROOM);
    fread(text, 1, ROOM - 1, pipe);
    int status = pclose(pipe);
    if (status >> 8 != expected_status) fail_msg("weft %s: exit status %d: %s", arguments, status >> 8, text);
    return text;
}

static void assert_holds(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in: %s", part, text);
}

static void every_model_is_listed(void **state) {
    (void)state;
    char *all = output_of("models", 0);
    for (unsigned kind = 0; kind < WEFT_KINDS; kind++) {
        for (uint32_t i = 0; i < weft_model_count((enum weft_model_kind)kind); i++) {
            const struct weft_model *model = weft_model_at((enum weft_model_kind)kind, i);
            assert_holds(all, model->summary);
            char arguments[128];
            snprintf(arguments, sizeof arguments, "models %s %s", weft_kind_name(model->kind), model->name);
            char *one = output_of(arguments, 0);
            assert_holds(one, model->source);
            for (uint32_t k = 0; k < model->params->n; k++) {
                assert_holds(one, model->params->rows[k].name);
                assert_holds(one, model->params->rows[k].help);
            }
            free(one);
        }
    }
    free(all);
}

static void sections_are_shown(void **state) {
    (void)state;
    static const struct {
        const char *arguments, *part;
        int status;
    } cases[] = {
        {"models fabric nope",
         "expected one of star, clos, ai_zone, dsf, clique, planes, rails, group_dragonfly, torus, ideal, ", 2},
        {"models switch", "processing: 300ns   (time, 0ns to 1ms)\n", 0},
        {"models switch", "pfc:   (section: weft models pfc)\n", 0},
        {"models host", "cc: none   (model: weft models cc)\n", 0},
        {"models pfc", "watchdog_action: alert   (alert | drop | forward)\n", 0},
        {"models run", "seed: 1   (whole number, 0 to 9223372036854775807)\n", 0},
        {"models topology networks", "networks: {NAME: ...}   (map of names, each a model of this kind)\n", 0},
        {"models topology list", "nodes: [...]   (list)\n", 0},
        {"models workload incast", "dst: ...   (text; must be given)\n", 0},
        {"models cc", "  cc         none             no congestion control", 0},
        {"models cc none", "no parameters", 0},
        {"models dcqcn", "cc: dcqcn\n", 0},
        {"models fabric", "  blueprint  dsf-l1 ", 0},
        {"models fabric dsf-l1", "blueprint: dsf-l1\n", 0},
        {"models dsf-l2", "weft plan fabric dsf-l2 shows", 0},
        {"models fabric dsf-l9", "no fabric \"dsf-l9\"; did you mean \"dsf-l1\"?", 2},
        {"models none", "weft models cc         none ", 0},
        {"models cx", "no kind or section \"cx\"; did you mean \"cc\"?", 2},
        {"models swifft", "no kind or model \"swifft\"; did you mean \"swift\"?", 2},
        {"models cc dcqn", "no cc \"dcqn\"; did you mean \"dcqcn\"?", 2},
        {"models cc none more", "unexpected argument \"more\"", 2},
        {"models --threads 3", "unrecognized option '--threads'", 2},
        {"models --help", "usage: weft models [OPTIONS] [KIND [NAME]]", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = output_of(cases[i].arguments, cases[i].status);
        assert_holds(text, cases[i].part);
        free(text);
    }
}

static void assert_resolves(const json_t *root, const json_t *value) {
    const char *key;
    const json_t *child;
    size_t i;
    if (json_is_array(value)) json_array_foreach(value, i, child) assert_resolves(root, child);
    if (!json_is_object(value)) return;
    const char *target = json_string_value(json_object_get(value, "$ref"));
    if (target) {
        static const char prefix[] = "#/$defs/";
        assert_int_equal(strncmp(target, prefix, strlen(prefix)), 0);
        if (!json_object_get(json_object_get(root, "$defs"), target + strlen(prefix))) fail_msg("dangling %s", target);
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, child) assert_resolves(root, child);
}

/// An editor accepts the spellings of units that weft accepts, and no others.
static void assert_same_units(const struct weft_param *row, const regex_t *regex, const char *pattern) {
    static const char *const units[] = {"",     "G",    "g",         "T",   "k",    "K",  "m",   "M",    "bps",
                                        "Gbps", "gbps", "Gb/s",      "GbE", "Gbit", "b",  "b/s", "GB/s", "GBps",
                                        "B",    "kB",   "KB",        "KiB", "kiB",  "Gb", "ps",  "us",   "s",
                                        "usec", "sec",  "\xc2\xb5s", "min", " us",  " G"};
    static const enum weft__quantity quantities[] = {
        [WEFT_PARAM_TIME] = WEFT__TIME, [WEFT_PARAM_RATE] = WEFT__RATE, [WEFT_PARAM_BYTES] = WEFT__BYTES};
    if (row->type != WEFT_PARAM_TIME && row->type != WEFT_PARAM_RATE && row->type != WEFT_PARAM_BYTES) return;
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        char text[32], why[256];
        uint64_t value;
        snprintf(text, sizeof text, "5%s", units[u]);
        bool read = weft__quantity_parse(quantities[row->type], text, &value, why, sizeof why);
        if (read != !regexec(regex, text, 0, NULL, 0)) fail_msg("%s: %s and %s", row->name, text, pattern);
    }
}

/// A default written as the user would write it matches the pattern that editors hold it against.
static void assert_default_matches(const struct weft_param *row, const json_t *property) {
    const char *pattern = json_string_value(json_object_get(property, "pattern"));
    if (!pattern || !row->dflt) return;
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    if (regexec(&regex, row->dflt, 0, NULL, 0)) fail_msg("%s: %s does not match %s", row->name, row->dflt, pattern);
    assert_int_not_equal(regexec(&regex, "soon", 0, NULL, 0), 0);
    assert_same_units(row, &regex, pattern);
    regfree(&regex);
}

/// Every parameter of every model of the row's kind is a key beside it; how many there are.
static size_t assert_beside(const struct weft_param *row, const json_t *properties) {
    const char *names[64];
    size_t n = 0;
    for (uint32_t m = 0; m < weft_model_count((enum weft_model_kind)row->model_kind); m++) {
        const struct weft_param_table *table = weft_model_at((enum weft_model_kind)row->model_kind, m)->params;
        for (uint32_t i = 0, k = 0; i < table->n; i++) {
            if (!json_object_get(properties, table->rows[i].name)) fail_msg("%s is missing", table->rows[i].name);
            for (k = 0; k < n && strcmp(names[k], table->rows[i].name); k++)
                ;
            if (k == n) names[n++] = table->rows[i].name;
        }
    }
    assert_true(n > 0);
    return n;
}

static void assert_table(const struct weft_param_table *table, const json_t *definition, bool model) {
    const json_t *properties = json_object_get(definition, "properties"),
                 *required = json_object_get(definition, "required");
    assert_non_null(properties);
    assert_true(json_is_false(json_object_get(definition, "additionalProperties")));
    size_t keys = table->n + model, must = 0;
    for (uint32_t i = 0; i < table->n; i++) {
        const json_t *property = json_object_get(properties, table->rows[i].name);
        if (!property) fail_msg("%s.%s is not in the schema", table->name, table->rows[i].name);
        assert_holds(json_string_value(json_object_get(property, "description")), table->rows[i].help);
        assert_default_matches(&table->rows[i], property);
        must += !table->rows[i].dflt;
    }
    for (uint32_t i = 0; i < table->n; i++)
        if (table->rows[i].beside) keys += assert_beside(&table->rows[i], properties);
    for (const char *const *list = table->lists; list && *list; list++, keys++)
        assert_non_null(json_object_get(properties, *list));
    for (const char *const *key = table->models; key && *key; key++, keys++)
        assert_string_equal(json_string_value(json_object_get(json_object_get(properties, *key), "type")), "object");
    assert_int_equal(json_object_size(properties), keys);
    assert_int_equal(json_array_size(required), must);
}

static void schema_fits_the_tables(void **state) {
    (void)state;
    char *text = output_of("models --json", 0);
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s", error.text);
    assert_string_equal(json_string_value(json_object_get(root, "$schema")),
                        "https://json-schema.org/draft/2020-12/schema");
    assert_resolves(root, root);
    const json_t *definitions = json_object_get(root, "$defs");
    assert_table(&weft_pfc_table, json_object_get(definitions, "pfc"), false);
    assert_table(&weft_dcbx_table, json_object_get(definitions, "dcbx"), false);
    assert_table(&weft_run_table, json_object_get(definitions, "run"), false);
    assert_table(&weft_capture_table, json_object_get(definitions, "capture"), false);
    assert_table(&weft_control_table, json_object_get(definitions, "control"), false);
    assert_table(&weft_reach_table, json_object_get(definitions, "reachability"), false);
    assert_table(&weft_fsdb_table, json_object_get(definitions, "fsdb"), false);
    assert_table(&weft_bgp_table, json_object_get(definitions, "bgp"), false);
    assert_table(&weft_bootstrap_table, json_object_get(definitions, "bootstrap"), false);
    assert_table(&weft_sdn_table, json_object_get(definitions, "sdn"), false);
    assert_table(&weft_timesync_table, json_object_get(definitions, "timesync"), false);
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_BOX); i++) {
        const struct weft_model *box = weft_model_at(WEFT_KIND_BOX, i);
        assert_table(box->params, json_object_get(definitions, box->name), false);
    }
    for (unsigned kind = 0; kind < WEFT_KIND_BOX; kind++)
        for (uint32_t i = 0; i < weft_model_count((enum weft_model_kind)kind); i++) {
            const struct weft_model *model = weft_model_at((enum weft_model_kind)kind, i);
            char name[128];
            snprintf(name, sizeof name, "%s.%s", weft_kind_name(model->kind), model->name);
            assert_table(model->params, json_object_get(definitions, name), true);
        }
    // the top level and the entries of devices, whose keys the scenario reader lists
    const json_t *top = json_object_get(root, "properties");
    size_t keys = 0;
    for (uint32_t i = 0; i < weft__scenario_table.n; i++, keys++)
        assert_non_null(json_object_get(top, weft__scenario_table.rows[i].name));
    for (const char *const *list = weft__scenario_table.lists; *list; list++, keys++)
        assert_non_null(json_object_get(top, *list));
    assert_int_equal(json_object_size(top), keys);
    const json_t *entry = json_object_get(json_object_get(json_object_get(top, "devices"), "items"), "properties");
    assert_non_null(json_object_get(entry, weft__device_table.rows[0].name));
    size_t sections = 0;
    for (; weft__device_table.lists[sections]; sections++)
        assert_non_null(json_object_get(entry, weft__device_table.lists[sections]));
    assert_int_equal(json_object_size(entry), weft__device_table.n + sections);
    json_decref(root);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_is_listed),
        cmocka_unit_test(sections_are_shown),
        cmocka_unit_test(schema_fits_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
