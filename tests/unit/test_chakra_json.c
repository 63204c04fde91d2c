// SPDX-License-Identifier: Apache-2.0
// Chakra traces in JSON: the same schedule as from the binary form, and what is refused; circles of control
// dependencies.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <unistd.h>

#include "chakra_trace.h"
#include "import/chakra/chakra.h"
#include "import_files.h"

static struct weft_arena *arena;
static struct weft_error error;
static struct weft__chakra_facts facts;

/// The traces x.N.et or x.N.json of the folder; NULL: an error.
static const struct weft_schedule *load_with(bool ctrl_deps) {
    const struct weft__chakra_conf conf = {.groups = "", .ctrl_deps = ctrl_deps, .cpu_ops = true, .tflops = 100};
    struct weft_schedule *s = NULL;
    char path[64];
    error = (struct weft_error){0};
    arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    snprintf(path, sizeof path, "%s/x", folder);
    return weft__chakra_load(weft_arena_text(arena, path), &conf, WEFT_NOWHERE, arena, &s, &facts, &error) ? NULL : s;
}

static const struct weft_schedule *load(void) {
    return load_with(true);
}

/// The same trace as messages, and in JSON as objects one after another, as a list and as a workload_graph.
static void json(void **state) {
    static const char
        one[] =
            "{\n  \"version\": \"0.0.4\"\n}{\n  \"id\": \"4\",\n  \"name\": \"a node\",\n  \"type\": \"COMP_NODE\",\n"
            "  \"durationMicros\": \"7\"\n}{\"id\": \"5\", \"type\": \"COMM_COLL_NODE\", \"dataDeps\": [\"4\"], "
            "\"attr\": "
            "[{\"name\": \"comm_type\", \"int64Val\": \"2\"}, {\"name\": \"comm_size\", \"int64Val\": \"1000\"}, "
            "{\"name\": \"pg_name\", \"stringVal\": \"7\"}, {\"name\": \"is_cpu_op\", \"boolVal\": false}]}"
            "{\"id\": \"6\", \"type\": \"COMP_NODE\", \"ctrlDeps\": [\"5\"], \"durationMicros\": \"3\"}",
        list[] =
            "[{\"attr\": [{\"name\": \"schema\", \"stringVal\": \"1.0.2-chakra.0.0.4\"}]}, {\"id\": 4, \"type\": 4, "
            "\"duration_micros\": 7}, {\"id\": 5, \"type\": \"COMM_COLL_NODE\", \"data_deps\": [4], \"attr\": "
            "[{\"name\": \"comm_type\", \"uint64_val\": 2}, {\"name\": \"comm_size\", \"int64_val\": 1000}, "
            "{\"name\": \"pg_name\", \"string_val\": \"7\"}]}, {\"id\": 6, \"type\": 4, \"ctrl_deps\": [5], "
            "\"duration_micros\": 3}]\n",
        graph[] =
            "{\"workload_graph\": [{\"Id\": 4, \"Name\": \"x\", \"NodeType\": 4, \"is_cpu_op\": false, \"runtime\": 7, "
            "\"data_deps\": []}, {\"Id\": 5, \"NodeType\": 7, \"data_deps\": [4], \"comm_type\": 2, \"comm_size\": "
            "1000, \"pg_name\": \"7\"}, {\"Id\": 6, \"NodeType\": 4, \"ctrl_deps\": [5], \"runtime\": 3}]}";
    static const char *const forms[] = {one, list, graph};
    for (unsigned f = 0; f < 4; f++) {
        struct bytes t = {.n = 0}, n = node_of(6, COMP, "");
        if (f) {
            put("x.0.json", forms[f - 1]);
        } else {
            put_metadata(&t);
            put_compute(&t, 4, "", 7);
            put_collective(&t, 5, "\4", ALL_GATHER, 1000, "7");
            put_text(&n, 4, "\5");
            put_number(&n, 7, 3);
            put_message(&t, &n);
            FILE *file = fopen(put("x.0.et", ""), "w");
            fwrite(t.at, 1, t.n, file);
            fclose(file);
        }
        const struct weft_schedule *s = load();
        if (!s) fail_msg("%s", error.text);
        const struct weft_schedule_rank *r = &s->rank[0];
        assert_int_equal(r->steps, 3);
        assert_int_equal(r->step[0].size, 7000000);
        assert_int_equal(r->step[1].kind, WEFT_SCHEDULE_COLLECTIVE);
        assert_int_equal(r->step[1].collective, WEFT_SCHEDULE_ALL_GATHER);
        assert_int_equal(r->step[1].size, 1000);
        assert_string_equal(s->group[0].name, "7");
        assert_int_equal(r->step[2].size, 3000000);
        assert_true(r->edges == 2 && r->edge[0] == 1 && r->edge[1] == 2);
        assert_string_equal(facts.version, f == 2 ? "1.0.2-chakra.0.0.4" : f == 3 ? "" : "0.0.4");
        weft_arena_free(arena);
        unlink(put(f ? "x.0.json" : "x.0.et", ""));
    }
}

static void bad_json(void **state) {
    static const char *const bad[][2] = {
        {"{\"version\": \"0.0.4\"}\n{\"id\": \"1x\"}", "x.0.json:2:1: id: expected a whole number"},
        {"{\"version\": \"0.0.4\"}\n{\"id\": 1}\n {\"id\": 1}",
         "x.0.json:3:1: a second node with the id 1; the first one is "
         "at line 2"},
        {"[{\"version\": \"0.0.4\"}, {\"id\": 1}", "x.0.json:1:33: the file ends; expected ]"},
        {"{\"version\": \"0.0.4\"}\n{\"type\": \"BEER\"}", "x.0.json:2:1: type: expected a number, or a name"},
        {"{\"version\": \"2.0\"}", "x.0.json:1:1: version 2.0 of the schema"},
        {"{\"version\": \"0.0.4\"} [1]", "x.0.json:1:22: no object; expected an object"},
        {"{\"schema\": \"1.0.2-chakra.0.0.4\", \"nodes\": []}", "convert them with chakra_converter"},
        {"{\"id\": 1, \"type\": 4}", "expected the global metadata"},
        {"", "x.0.json:1:1: the file is empty"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        put("x.0.json", bad[i][0]);
        if (load() || error.status != WEFT_ERROR_INPUT || !strstr(error.text, bad[i][1]))
            fail_msg("%s\nexpected %s", error.text, bad[i][1]);
        weft_arena_free(arena);
    }
}

/// 7 waits for data of 6, 6 for that of 5, and 5 only for 7; 8 waits for the circle.
static void circle_of_control(void **state) {
    put("x.0.json", "[{}, {\"id\": 5, \"type\": 4, \"ctrl_deps\": [7]}, {\"id\": 6, \"type\": 4, \"data_deps\": [5]}, "
                    "{\"id\": 7, \"type\": 4, \"data_deps\": [6]}, {\"id\": 8, \"type\": 4, \"data_deps\": [7]}]");
    assert_null(load());
    assert_non_null(strstr(error.text,
                           "in a circle: node 5 waits for node 7, that for node 6, that for node 5; control "
                           "dependencies are why: expected ctrl_deps: off"));
    weft_arena_free(arena);
    assert_non_null(load_with(false));
    weft_arena_free(arena);
    put("x.0.json", "[{}, {\"id\": 5, \"type\": 4, \"data_deps\": [5]}]");
    assert_null(load());
    assert_non_null(strstr(error.text, "in a circle: node 5 waits for node 5"));
    assert_null(strstr(error.text, "ctrl_deps")); // it would not help
    weft_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json),
        cmocka_unit_test(bad_json),
        cmocka_unit_test(circle_of_control),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
