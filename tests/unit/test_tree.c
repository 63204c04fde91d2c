// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "weft/tree.h"

static struct weft_tree *parse(const char *text) {
    struct weft_tree *tree = NULL;
    struct weft_error error = {0};
    if (weft_tree_parse("t.yaml", text, strlen(text), arena, &tree, &error)) fail_msg("%s", error.text);
    return tree;
}

/// A tree in one line, to compare with: {a: "x", b: [~, "y"]}.
static void print(FILE *file, const struct weft_tree *tree) {
    switch (tree->type) {
    case WEFT_TREE_NULL:
        fputs("~", file);
        return;
    case WEFT_TREE_TEXT:
        fprintf(file, "\"%s\"", tree->text);
        return;
    case WEFT_TREE_MAP:
    case WEFT_TREE_LIST:
        break;
    }
    bool map = tree->type == WEFT_TREE_MAP;
    fputs(map ? "{" : "[", file);
    for (uint32_t i = 0; i < tree->n; i++) {
        fputs(i ? ", " : "", file);
        assert_true(!!tree->child[i]->key == map);
        if (map) fprintf(file, "%s: ", tree->child[i]->key);
        print(file, tree->child[i]);
    }
    fputs(map ? "}" : "]", file);
}

static const char *in_one_line(const struct weft_tree *tree) {
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    print(file, tree);
    fclose(file);
    const char *copy = weft_arena_text(arena, text);
    free(text);
    return copy;
}

static void assert_tree(const struct weft_tree *tree, const char *expected) {
    assert_string_equal(in_one_line(tree), expected);
}

static void shapes(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"a: 1\nb: [x, 'y z', \"q\\n\"]\n", "{a: \"1\", b: [\"x\", \"y z\", \"q\n\"]}"},
        {"a:\nb: ~\nc: null\nd: ''\ne: 'null'\n", "{a: ~, b: ~, c: ~, d: \"\", e: \"null\"}"},
        {"- {a: {}, b: []}\n- c: d\n  e: f\n", "[{a: {}, b: []}, {c: \"d\", e: \"f\"}]"},
        {"a: &x {p: 1}\nb: *x\nc: [*x, &y 2, *y]\n", "{a: {p: \"1\"}, b: {p: \"1\"}, c: [{p: \"1\"}, \"2\", \"2\"]}"},
        {"a: &x 1\nb: &x 2\nc: *x\n", "{a: \"1\", b: \"2\", c: \"2\"}"},
        {"a: 1\r\nb: |\r\n  one\r\n  two\r\n", "{a: \"1\", b: \"one\ntwo\n\"}"},
        {"\xef\xbb\xbf%YAML 1.2\n---\na: \xc3\xa9\n...\n", "{a: \"\xc3\xa9\"}"},
        {"# only a text\nword", "\"word\""},
        {"{a: 200Gbps, \"b c\": on}", "{a: \"200Gbps\", b c: \"on\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_tree(parse(cases[i].in), cases[i].out);
}

static void places(void **state) {
    (void)state;
    const struct weft_tree *tree = parse("name: x\nswitch:\n  pfc:\n    xof: 200KB # why\nlist: [a, b]\n");
    const struct weft_tree *xof = weft_tree_find(weft_tree_find(weft_tree_find(tree, "switch"), "pfc"), "xof");
    assert_non_null(xof);
    assert_string_equal(xof->place.file, "t.yaml");
    assert_int_equal(xof->key_place.line, 4);
    assert_int_equal(xof->key_place.column, 5);
    assert_int_equal(xof->place.line, 4);
    assert_int_equal(xof->place.column, 10);
    const struct weft_tree *list = weft_tree_find(tree, "list");
    assert_int_equal(list->child[1]->place.column, 11);
    assert_null(weft_tree_find(tree, "swich"));

    // For a node with an anchor its own place, for a block that of its indicator, for an omitted value that of its key.
    tree = parse("\xc3\xa9: &x 200KB\nb: &y [*x]\nc: >-\n  one\n  two\nd:\n");
    static const struct { int line, column; } expected[] = {{1, 7}, {2, 7}, {3, 4}, {6, 1}};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(tree->child[i]->place.line, expected[i].line);
        assert_int_equal(tree->child[i]->place.column, expected[i].column);
    }
    assert_int_equal(tree->child[1]->child[0]->place.line, 1); // an alias has the place of its anchor
    assert_null(weft_tree_find(list, "a"));
    assert_null(weft_tree_find(NULL, "a"));
}

static void expect_error(const char *text, size_t size, const char *expected) {
    struct weft_tree *tree = NULL;
    struct weft_error error = {0};
    enum weft_status status = weft_tree_parse("t.yaml", text, size, arena, &tree, &error);
    if (status != WEFT_ERROR_INPUT) fail_msg("accepted: %.60s", text);
    if (!strstr(error.text, expected)) fail_msg("\"%s\" lacks \"%s\"", error.text, expected);
}

static void errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "t.yaml: is empty"},
        {"# nothing\n", "t.yaml: is empty"},
        {"---\n", "t.yaml: is empty"},
        {"a: 1\nb: 2\na: 3\n", "t.yaml:3:1: a: this key is in line 1 already"},
        {"x: {b: 1, c: 2, b: 3}\n", "t.yaml:1:17: b: this key is in line 1 already"},
        {"a: 1\n---\nb: 2\n", "t.yaml:2:1: a second document"},
        {"a: &x [1, *x]\n", "t.yaml:1:11: *x is inside &x: a cycle"},
        {"a: &x {b: &x 1}\n", "inside an anchor of the same name"},
        {"a: *nope\n", "t.yaml:1:4: *nope: no anchor &nope before this"},
        {"a: !!int 3\n", "t.yaml:1:4: tags"},
        {"[a, b]: 3\n", "t.yaml:1:1: a key must be plain text; found a list"},
        {"? {a: b}\n: 3\n", "a key must be plain text; found a map"},
        {"a: &x 1\n*x : 3\n", "a key must be plain text; found the alias *x"},
        {": 3\n", "t.yaml:1:1: not YAML"},
        {"?\n: 3\n", "a key is missing"},
        {"a: \"x\\0y\"\n", "t.yaml:1:4: a text must not hold the character 0"},
        {"a: [1, 2\nb: 3\n", "t.yaml:"},
        {"a: b: c\n", "t.yaml:1:"},
        {"a: 'x\n", "t.yaml:"},
        {"\ta: 1\n", "t.yaml:1:"},
        {"a: 1\n b: 2\n", "t.yaml:2:3: not YAML"},
        {"a: %x\n", "t.yaml:1:"},
        {"a: \x01\n", "t.yaml:1:4: byte 0x01 is not text"},
        {"a: 1\nb: \xff\xfe\n", "t.yaml:2:4: byte 0xff is not text"},
        {"a: x\xc2\x85y\n", "t.yaml:1:5: U+0085 is not text in YAML; expected it as \"\\u0085\""},
        {"a: 'x\xe2\x80\xa8y'\n", "t.yaml:1:6: U+2028 is not text in YAML"},
        {"a: 1\rb: 2\n", "t.yaml:1:5: byte 0x0d is not text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_error(cases[i].text, strlen(cases[i].text), cases[i].expected);
    expect_error("a: 1\n\0b: 2\n", 12, "t.yaml:2:1: byte 0x00 is not text");
    expect_error("\x7f"
                 "ELF\x02\x01\x01\0\0\0",
                 10, "t.yaml:1:1: byte 0x7f is not text");
}

/// `n` times `open`, then `middle`, then `n` times `close`.
static char *nested(unsigned n, const char *open, const char *middle, const char *close) {
    char *text = calloc(n * (strlen(open) + strlen(close)) + strlen(middle) + 1, 1), *s = text;
    for (unsigned i = 0; i < n; i++)
        s = stpcpy(s, open);
    s = stpcpy(s, middle);
    for (unsigned i = 0; i < n; i++)
        s = stpcpy(s, close);
    return text;
}

static void limits(void **state) {
    (void)state;
    char *text = nested(63, "[", "a", "]");
    parse(text);
    free(text);
    text = nested(65, "[", "a", "]");
    expect_error(text, strlen(text), "t.yaml:1:");
    free(text);
    text = nested(100000, "[", "a", "]");
    expect_error(text, strlen(text), "t.yaml:1:");
    free(text);
    text = nested(100000, "- ", "a", "");
    expect_error(text, strlen(text), "t.yaml:1:");
    free(text);
    text = nested(100000, "{a: ", "a", "}");
    expect_error(text, strlen(text), "t.yaml:1:");
    free(text);

    // An alias may not lead deeper than text could.
    text = nested(40, "[", "1", "]");
    char *deep = calloc(1000, 1);
    snprintf(deep, 1000, "a: &x %s\nb: [[[[[[[[[[[[[[[[[[[[[[[[[[*x]]]]]]]]]]]]]]]]]]]]]]]]]]\n", text);
    expect_error(deep, strlen(deep), "t.yaml:2:30: *x: more than 64 levels");
    free(deep);
    free(text);

    size_t big = 17u << 20;
    text = malloc(big);
    memset(text, ' ', big);
    expect_error(text, big, "t.yaml: larger than 16 MiB");
    free(text);
}

/// A billion laughs: 9 levels of 10 aliases would be 10^9 nodes.
static void laughs(void **state) {
    (void)state;
    char text[2048] = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 10; i++) {
        char line[128];
        snprintf(line, sizeof line, "l%d: &l%d [*l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d]\n", i, i,
                 i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
        strcat(text, line);
    }
    expect_error(text, strlen(text), "t.yaml:7:");
    expect_error(text, strlen(text), "more than 4194304 nodes, aliases expanded");
    assert_true(weft_memory_bytes(WEFT_MEMORY_SCENARIO) < 1000000);
}

static void too_many_keys(void **state) {
    (void)state;
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    for (int i = 0; i < 5000; i++)
        fprintf(file, "k%d: 1\n", i);
    fclose(file);
    expect_error(text, size, "t.yaml:4097:1: more than 4096 keys");
    free(text);
    file = open_memstream(&text, &size);
    for (int i = 0; i < 300; i++)
        fprintf(file, "- &a%d x\n", i);
    fclose(file);
    expect_error(text, size, "t.yaml:257:9: more than 256 anchors");
    free(text);
}

static void overrides(void **state) {
    (void)state;
    static const struct {
        const char *base, *over, *out;
    } cases[] = {
        {"a: 1", "{}", "{a: \"1\"}"},
        {"a: 1", "b: 2", "{a: \"1\", b: \"2\"}"},
        {"a: 1", "a: 2", "{a: \"2\"}"},
        {"a: {b: {c: 1, d: 2}}", "a.b.c: 3", "{a: {b: {c: \"3\", d: \"2\"}}}"},
        {"a: {b: {c: 1}}", "a: {b: {d: 2}, e: 3}", "{a: {b: {c: \"1\", d: \"2\"}, e: \"3\"}}"},
        {"a: 1", "x.y.z: 1\nx.y.w: 2", "{a: \"1\", x: {y: {z: \"1\", w: \"2\"}}}"},
        {"a: 1", "x: {y.z: 1}", "{a: \"1\", x: {y: {z: \"1\"}}}"},
        {"w: [{s: 1}, {s: 2, t: 3}]", "w.1.s: 4", "{w: [{s: \"1\"}, {s: \"4\", t: \"3\"}]}"},
        {"w: [1, 2]", "w: [3]", "{w: [\"3\"]}"},
        {"w: {a: 1}", "w: [3]", "{w: [\"3\"]}"},
        {"a: {b: 1}", "a: ~", "{a: ~}"},
        {"a: {b: 1}", "a.b:", "{a: {b: ~}}"},
        {"a: ~", "a.b: 1", "{a: {b: \"1\"}}"},
        // models: a text is {kind: text}, and another kind takes the old kind's parameters away
        {"h: {cc: none}", "h.cc: dcqcn", "{h: {cc: \"dcqcn\"}}"},
        {"h: {cc: dcqcn}", "h.cc.g: 1%", "{h: {cc: {kind: \"dcqcn\", g: \"1%\"}}}"},
        {"h: {cc: {kind: dcqcn, g: 1}}", "h.cc: dcqcn", "{h: {cc: {kind: \"dcqcn\", g: \"1\"}}}"},
        {"h: {cc: {kind: dcqcn, g: 1}}", "h.cc: swift", "{h: {cc: {kind: \"swift\"}}}"},
        {"h: {cc: {kind: dcqcn, g: 1}}", "h: {cc: {kind: swift, b: 2}}", "{h: {cc: {kind: \"swift\", b: \"2\"}}}"},
        {"h: {cc: {kind: dcqcn, g: 1}}", "h: {cc: {kind: dcqcn, b: 2}}",
         "{h: {cc: {kind: \"dcqcn\", g: \"1\", b: \"2\"}}}"},
        {"b: {xoff: 1}", "b.xon: 2", "{b: {xoff: \"1\", xon: \"2\"}}"},
        {"b: {xoff: 800KB, t: 1us}", "b: {xoff: +40KB}\nb.t: +300ns", "{b: {xoff: \"840KB\", t: \"1.3us\"}}"},
        {"a: text", "a: +40KB is said", "{a: \"+40KB is said\"}"},
        {"h: {cc: dcqcn}", "h.cc: swift\nh.cc.b: 2", "{h: {cc: {kind: \"swift\", b: \"2\"}}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_tree *base = parse(cases[i].base), *merged = NULL;
        const char *before = in_one_line(base);
        struct weft_error error = {0};
        if (weft_tree_override(base, parse(cases[i].over), arena, &merged, &error)) fail_msg("%s", error.text);
        assert_tree(merged, cases[i].out);
        assert_string_equal(in_one_line(base), before);
    }
}

static void override_places(void **state) {
    (void)state;
    struct weft_tree *merged = NULL;
    struct weft_tree *base = parse("a: {b: 1}\n");
    assert_int_equal(weft_tree_override(base, parse("\n\n  a.c: 2\n"), arena, &merged, NULL), WEFT_OK);
    const struct weft_tree *c = weft_tree_find(weft_tree_find(merged, "a"), "c");
    assert_int_equal(c->key_place.line, 3);
    assert_int_equal(c->key_place.column, 3);

    static const struct {
        const char *base, *over, *expected;
    } cases[] = {
        {"w: [1, 2]", "w.2: x", "t.yaml:1:1: \"2\" is not an entry of the list here; expected a number, 0 to 1"},
        {"w: [1, 2]", "w.-1: x", "\"-1\" is not an entry"},
        {"w: [1, 2]", "w.a: x", "\"a\" is not an entry"},
        {"w: []", "w.0: x", "\"0\": the list here is empty"},
        {"w: 1us", "w: +40KB", "t.yaml:1:4: \"+40KB\" cannot be added to \"1us\""},
        {"w: 1us", "v: +40KB", "\"+40KB\" cannot be added to \"\""},
        {"w: 1", "a..b: x", "t.yaml:1:1: a..b: a part of this path is empty"},
        {"w: 1", ".a: x", "a part of this path is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_error error = {0};
        assert_int_equal(weft_tree_override(parse(cases[i].base), parse(cases[i].over), arena, &merged, &error),
                         WEFT_ERROR_INPUT);
        if (!strstr(error.text, cases[i].expected)) fail_msg("\"%s\" lacks \"%s\"", error.text, cases[i].expected);
    }
    char path[1000] = "";
    for (int i = 0; i < 100; i++)
        strcat(path, "a.");
    strcat(path, "a: 1\n");
    struct weft_error error = {0};
    assert_int_equal(weft_tree_override(base, parse(path), arena, &merged, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "more than 64 parts"));
}

static void files(void **state) {
    (void)state;
    char path[] = "/tmp/weft-test-tree-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a: 1\n", 5), 5);
    struct weft_tree *tree = NULL;
    struct weft_error error = {0};
    assert_int_equal(weft_tree_read(path, arena, &tree, &error), WEFT_OK);
    assert_tree(tree, "{a: \"1\"}");
    assert_string_equal(tree->place.file, path);
    assert_int_equal(ftruncate(fd, 100 << 20), 0); // sparse: read it would take its time
    assert_int_equal(weft_tree_read(path, arena, &tree, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "larger than 16 MiB"));
    assert_true(weft_memory_bytes_max(WEFT_MEMORY_SCENARIO) < 40u << 20);
    close(fd);
    unlink(path);
    error = (struct weft_error){0};
    assert_int_equal(weft_tree_read(path, arena, &tree, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "cannot be read: No such file"));
    error = (struct weft_error){0};
    assert_int_equal(weft_tree_read("/tmp", arena, &tree, &error), WEFT_ERROR_INPUT);
    assert_string_equal(error.text, "/tmp: is a directory; expected a file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(laughs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(overrides, set_up, tear_down),
        cmocka_unit_test_setup_teardown(override_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
