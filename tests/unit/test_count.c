// SPDX-License-Identifier: Apache-2.0
// A mere check counts the flows of all-to-alls and makes none of them.
#include "models.h"
#include "own_memory.h"
#include "run.h"

#include "weft/memory.h"

static struct weft_simulation *make(const char *text, bool counts, struct weft_scenario_file **ret_file,
                                    struct weft_error *error) {
    struct weft_simulation *s = NULL;
    assert_int_equal(weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, ret_file, error), WEFT_OK);
    (counts ? weft_simulation_count : weft_simulation_new)(*ret_file, 0, &s, error);
    return s;
}

/// Flows, bytes, queue pairs and channels are those that a run has.
static void assert_counted(const char *text, bool none_made) {
    struct weft_scenario_file *a_file, *b_file;
    struct weft_error error = {0};
    struct weft_simulation *a = make(text, false, &a_file, &error), *b = make(text, true, &b_file, &error);
    if (!a || !b) fail_msg("%s\n%s", error.text, text);
    const struct weft_workload *made = a->workload, *counted = b->workload;
    assert_int_equal(made->flows, counted->flows + counted->counted_flows);
    assert_int_equal(made->bytes, counted->bytes);
    assert_int_equal(made->qps, counted->qps);
    assert_int_equal(made->job_flows, counted->job_flows);
    assert_int_equal(made->counted_flows, 0);
    assert_true(counted->counted_flows > 0);
    if (none_made) assert_int_equal(counted->flows, 0);
    for (uint32_t j = 0; j < made->jobs; j++)
        for (uint32_t c = 0; c < made->job[j].communicators; c++)
            assert_int_equal(made->job[j].communicator[c].channels, counted->job[j].communicator[c].channels);
    weft_simulation_free(a);
    weft_simulation_free(b);
    weft_scenario_file_free(a_file);
    weft_scenario_file_free(b_file);
}

static void as_many_as_a_run_has(void **state) {
    const char *const topology = "topology: {kind: leaf_spine, leaves: 6, spines: 2, hosts_per_leaf: 4}\n";
    static const char *const all[] = {
        "{kind: collective, collective: all_to_all, size: 1MB}",
        "{kind: collective, collective: all_to_all, size: 7B}",
        "{kind: collective, collective: {kind: all_to_all_v, skew: 9}, size: 31B}",
        "{kind: collective, collective: {kind: all_to_all_v, skew: 3}, size: 1MB, qps: 3}",
        "{kind: collective, collective: all_to_all, size: 1MB, server: {gpus: 4}}",
        "{kind: collective, collective: all_to_all, size: 1MB, order: listed, server: {gpus: 2, cabling: rail}}",
        "{kind: job, server: {gpus: 4}, dimensions: [tp:4, ep:3, dp:2], operations: "
        "[{collective: all_to_all, size: 100KB, over: ep}, {collective: {kind: all_to_all, channels: 2}, size: 20KB}]}",
    };
    static const char *const some[] = {
        "{kind: collective, collective: all_to_all, size: 1KB, size_max: 64KB, repeat: 3}", // with barriers
        "{kind: job, server: {gpus: 4}, dimensions: [tp:4, dp:6], iterations: 5, operations: "
        "[{size: 1MB, over: dp}, {collective: all_to_all, size: 1MB, over: dp, times: 2}]}",
        // stages that have one and two layers with experts
        "{kind: job, iterations: 2, model: {layers: 4, dense_layers: 1, experts: 6, top_k: 2, hidden: 64}, "
        "plan: {pp: 2, dp: 12, ep: 6, sequence: 32, sequences: 3}}",
        "{kind: collective, collective: all_to_all, hosts: 'host-0..7', size: 1MB}\n"
        "  - {kind: permutation}\n  - {kind: collective, group: b, hosts: 'host-8..15', size: 1MB}",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all + sizeof some / sizeof *some; i++) {
        bool none_made = i < sizeof all / sizeof *all;
        const char *entry = none_made ? all[i] : some[i - sizeof all / sizeof *all];
        char *text = text_of("%sworkload:\n  - %s\n", topology, entry);
        assert_counted(text, none_made);
        free(text);
    }
}

/// 67 million pairs take no more memory than their ranks do, however large the messages are.
static void pairs_take_no_memory(void **state) {
    struct weft_scenario_file *file;
    struct weft_error error = {0};
    weft_memory_reset_max();
    struct weft_simulation *s = make("topology: {kind: clos3, pods: 16, access_per_pod: 32, hosts_per_access: 16}\n"
                                     "workload: [{kind: collective, collective: all_to_all, size: 1TB}]\n",
                                     true, &file, &error);
    if (!s) fail_msg("%s", error.text);
    assert_int_equal(s->workload->counted_flows, 8192 * 8191);
    assert_true(weft_memory_bytes_max(WEFT_MEMORY_SCENARIO) < 4 << 20);
    weft_simulation_free(s);
    weft_scenario_file_free(file);
}

/// What a run refuses is refused, with the same words.
static void refuses_what_a_run_refuses(void **state) {
    static const char *const text[] = {
        "{kind: collective, collective: all_to_all, size: 1TB, repeat: 100}",
        "{kind: collective, collective: all_to_all, size: 1TB, hosts: 'host-0,host-1', repeat: 3}",
        "{kind: collective, collective: all_to_all, size: 1TB, qps: 32, repeat: 1000000}",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct weft_scenario_file *a_file, *b_file;
        struct weft_error a_error = {0}, b_error = {0};
        char *all = text_of("topology: {kind: single, hosts: 40}\nworkload: [%s]\n", text[i]);
        struct weft_simulation *a = make(all, false, &a_file, &a_error), *b = make(all, true, &b_file, &b_error);
        assert_null(a);
        assert_null(b);
        assert_memory_equal(a_error.text, b_error.text, strlen("t.yaml:2:12: group"));
        assert_non_null(strstr(a_error.text, "expected"));
        assert_non_null(strstr(b_error.text, "expected"));
        weft_scenario_file_free(a_file);
        weft_scenario_file_free(b_file);
        free(all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_a_run_has),
        cmocka_unit_test(pairs_take_no_memory),
        cmocka_unit_test(refuses_what_a_run_refuses),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
