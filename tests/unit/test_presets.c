// SPDX-License-Identifier: Apache-2.0
// Every preset of docs/dcqcn.md loads as it stands there, and the one that claims to be the defaults is.
#include "models.h"

#include <stdio.h>

#include "weft/device.h"

static char document[65536];

static void read_document(void) {
    char path[4096];
    const char *root = getenv("WEFT_ROOT");
    snprintf(path, sizeof path, "%s/docs/dcqcn.md", root ? root : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(document, 1, sizeof document - 1, file);
    assert_true(n > 0 && n < sizeof document - 1);
    fclose(file);
}

/// The next YAML block after *at, which moves behind it; NULL at the end.
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
    if (weft_tree_parse("docs/dcqcn.md", from, (size_t)(to - from), arena, &tree, &error)) fail_msg("%s", error.text);
    return tree;
}

static void load(const struct weft_param_table *table, const struct weft_tree *tree, void *conf,
                 struct weft_arena *arena) {
    struct weft_error error = {0};
    if (weft_params_load(table, tree, conf, arena, &error)) fail_msg("%s", error.text);
}

static void presets_load(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const char *at = document;
    unsigned n = 0;
    for (const struct weft_tree *block; (block = next_block(&at, arena)); n++) {
        struct weft_host_conf host = {0};
        struct weft_switch_conf sw = {0};
        assert_int_equal(block->n, 2);
        load(&weft_host_table, weft_tree_find(block, "host"), &host, arena);
        load(&weft_switch_table, weft_tree_find(block, "switch"), &sw, arena);
        assert_true(!strncmp(host.cc.model->name, "dcqcn", 5));
        assert_string_equal(sw.aqm.model->name, "wred");
        if (n) continue;
        void *cc = conf_of(host.cc.model, NULL), *aqm = conf_of(sw.aqm.model, NULL);
        assert_memory_equal(host.cc.conf, cc, host.cc.model->params->conf_size);
        assert_memory_equal(sw.aqm.conf, aqm, sw.aqm.model->params->conf_size);
        free(cc);
        free(aqm);
    }
    assert_int_equal(n, 4);
    weft_arena_free(arena);
}

int main(void) {
    read_document();
    const struct CMUnitTest tests[] = {cmocka_unit_test(presets_load)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
