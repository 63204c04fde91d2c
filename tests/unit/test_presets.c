// SPDX-License-Identifier: Apache-2.0
// Every preset is what docs/dcqcn-presets.md says its source has, and the one that claims to be the defaults is.
#include "models.h"

#include <stdio.h>

#include "weft/device.h"

static char document[65536];

static void read_document(void) {
    char path[4096];
    const char *root = getenv("WEFT_ROOT");
    snprintf(path, sizeof path, "%s/docs/dcqcn-presets.md", root ? root : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(document, 1, sizeof document - 1, file);
    assert_true(n > 0 && n < sizeof document - 1);
    fclose(file);
}

/// The next YAML block after *at, which moves past it; NULL at the end.
static const struct weft_tree *next_block(const char **at, struct weft_arena *arena) {
    static const char begin[] = "```yaml\n", end[] = "```\n";
    const char *from = strstr(*at, begin);
    if (!from) return NULL;
    from += sizeof begin - 1;
    const char *to = strstr(from, end);
    assert_non_null(to);
    *at = to + sizeof end - 1;
    struct weft_tree *tree = NULL;
    struct weft_error error = {0};
    if (weft_tree_parse("docs/dcqcn-presets.md", from, (size_t)(to - from), arena, &tree, &error))
        fail_msg("%s", error.text);
    return tree;
}

static void load(const struct weft_param_table *table, const struct weft_tree *tree, void *conf,
                 struct weft_arena *arena) {
    struct weft_error error = {0};
    if (weft_params_load(table, tree, conf, arena, &error)) fail_msg("%s", error.text);
}

struct loaded {
    struct weft_host_conf host;
    struct weft_switch_conf sw;
};

static void load_block(const struct weft_tree *block, struct loaded *ret, struct weft_arena *arena) {
    assert_int_equal(block->n, 2);
    load(&weft_host_table, weft_tree_find(block, "host"), &ret->host, arena);
    load(&weft_switch_table, weft_tree_find(block, "switch"), &ret->sw, arena);
    assert_true(!strncmp(ret->host.cc.model->name, "dcqcn", 5));
    assert_string_equal(ret->sw.aqm.model->name, "wred");
}

/// Every value but the preset's name. Returns whether both name the same preset.
static bool same_values(const struct weft_model_conf *a, const struct weft_model_conf *b) {
    char x[128], y[128];
    bool same = true;
    assert_ptr_equal(a->model, b->model);
    for (uint32_t i = 0; i < a->model->params->n; i++) {
        const struct weft_param *row = &a->model->params->rows[i];
        weft_param_format(row, a->conf, x, sizeof x);
        weft_param_format(row, b->conf, y, sizeof y);
        if (strcmp(row->name, "preset"))
            assert_string_equal(x, y);
        else
            same = !strcmp(x, y);
    }
    return same;
}

/// Blocks come in pairs: by name, and by the source's values. The first preset is the defaults.
static void presets_are_their_sources_values(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const char *at = document;
    unsigned n = 0;
    for (const struct weft_tree *block; (block = next_block(&at, arena)); n++) {
        struct loaded named = {0}, values = {0};
        load_block(block, &named, arena);
        block = next_block(&at, arena);
        assert_non_null(block);
        load_block(block, &values, arena);
        assert_false(same_values(&named.host.cc, &values.host.cc));
        assert_false(same_values(&named.sw.aqm, &values.sw.aqm));
        same_values(&named.host.transport, &values.host.transport);
        if (n) continue;
        struct weft_model_conf cc = named.host.cc, aqm = named.sw.aqm;
        cc.conf = conf_of(cc.model, NULL), aqm.conf = conf_of(aqm.model, NULL);
        same_values(&named.host.cc, &cc);
        same_values(&named.sw.aqm, &aqm);
        free(cc.conf);
        free(aqm.conf);
    }
    assert_int_equal(n, 6);
    weft_arena_free(arena);
}

static void text_of(const struct weft_model *model, const void *conf, const char *key, char text[static 64]) {
    weft_param_format(weft_param_find(model->params, key), conf, text, 64);
}

/// A key overrides the preset, wherever it is written; parameters set by neither have their default.
static void keys_hold_before_presets(void **state) {
    static const char *const texts[] = {"{preset: hpcc, min_rate: 7Gbps}", "{min_rate: 7Gbps, preset: hpcc}"};
    const struct weft_model *model = model_of(WEFT_KIND_CC, "dcqcn_connectx");
    for (unsigned i = 0; i < 2; i++) {
        char text[64];
        void *conf = conf_of(model, texts[i]);
        text_of(model, conf, "min_rate", text);
        assert_string_equal(text, "7Gbps");
        text_of(model, conf, "hyper_increase", text);
        assert_string_equal(text, "200Mbps");
        text_of(model, conf, "preset", text);
        assert_string_equal(text, "hpcc");
        free(conf);
    }
}

static void names_that_are_none(void **state) {
    static const char text[] = "cc: {kind: dcqcn, preset: papper}";
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_tree *tree = NULL;
    struct weft_error error = {0};
    struct weft_host_conf host = {0};
    assert_int_equal(weft_tree_parse("s.yaml", text, strlen(text), arena, &tree, &error), WEFT_OK);
    assert_int_not_equal(weft_params_load(&weft_host_table, tree, &host, arena, &error), WEFT_OK);
    assert_non_null(strstr(error.text, "s.yaml:1:27"));
    assert_non_null(strstr(error.text, "did you mean \"paper\"?"));
    weft_arena_free(arena);
}

/// Of a dotted key: the section or model that it reaches into. Until the next call.
static const char *first_of(const char *key) {
    static char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(key, "."), key);
    return name;
}

/// Dotted keys reach into sections and models; what the user says holds, in the model or beside it, and another kind of
/// model is not told what was meant for the preset's.
static void presets_reach_deep(void **state) {
    static const char text[] =
        "host: {preset: ns3_hpcc, timeout: 1ms, transport: {ack_every: 2}, wire: {overhead: 20B}}\n"
        "switch: {preset: ns3_hpcc, aqm: {min: 7KB}}\nhost2: {preset: ns3_hpcc, cc: dcqcn}\n";
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_tree *tree = NULL;
    struct weft_error error = {0};
    struct weft_host_conf host = {0}, other = {0};
    struct weft_switch_conf sw = {0};
    char value[64];
    assert_int_equal(weft_tree_parse("s.yaml", text, strlen(text), arena, &tree, &error), WEFT_OK);
    load(&weft_host_table, weft_tree_find(tree, "host"), &host, arena);
    load(&weft_switch_table, weft_tree_find(tree, "switch"), &sw, arena);
    load(&weft_host_table, weft_tree_find(tree, "host2"), &other, arena);
    text_of(host.transport.model, host.transport.conf, "timeout", value);
    assert_string_equal(value, "1ms");
    text_of(host.transport.model, host.transport.conf, "ack_every", value);
    assert_string_equal(value, "2");
    text_of(host.transport.model, host.transport.conf, "nak_interval", value);
    assert_string_equal(value, "500us");
    assert_int_equal(host.wire.overhead_bytes, 20);
    assert_int_equal(host.wire.serialisation, WEFT_SERIALISATION_WHOLE_NS);
    text_of(sw.aqm.model, sw.aqm.conf, "min", value);
    assert_string_equal(value, "7KB");
    text_of(sw.aqm.model, sw.aqm.conf, "mark_at", value);
    assert_string_equal(value, "departure");
    assert_string_equal(other.cc.model->name, "dcqcn");
    text_of(other.cc.model, other.cc.conf, "preset", value);
    assert_string_equal(value, "none");
    weft_arena_free(arena);
}

/// Of every model: the row's names are those of the table, after one for none; keys are rows, and values are read.
static void tables_agree_with_their_rows(void **state) {
    unsigned found = 0;
    for (unsigned kind = 0; kind < WEFT_KINDS; kind++)
        for (uint32_t i = 0; i < weft_model_count(kind); i++) {
            const struct weft_param_table *table = weft_model_at(kind, i)->params;
            uint32_t n = 0;
            for (; table->presets && table->presets[n].name; n++) {
                const struct weft_param_preset *p = &table->presets[n];
                assert_string_equal(weft_param_find(table, "preset")->choices[n + 1], p->name);
                char yaml[64];
                snprintf(yaml, sizeof yaml, "{preset: %s}", p->name);
                void *conf = conf_of(weft_model_at(kind, i), yaml);
                for (const struct weft_param_value *v = p->value; v->key; v++)
                    assert_non_null(weft_param_find(table, first_of(v->key)));
                free(conf);
            }
            if (n) assert_null(weft_param_find(table, "preset")->choices[n + 1]);
            found += n;
        }
    assert_int_equal(found, 15);
}

int main(void) {
    read_document();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_are_their_sources_values),
        cmocka_unit_test(keys_hold_before_presets),
        cmocka_unit_test(names_that_are_none),
        cmocka_unit_test(presets_reach_deep),
        cmocka_unit_test(tables_agree_with_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
