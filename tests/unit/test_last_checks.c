// SPDX-License-Identifier: Apache-2.0
// What the last checks of a run find is an error beside its results, and never instead of them. The fault is injected
// here: while the run goes on, the test changes what it will be checked against.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"
#include "weft/report.h"

static const char flows[] = "topology: {kind: single, hosts: 4}\n"
                            "workload: [{kind: permutation, size: 4MB, group: all}]\n";
static const char job[] = "topology: {kind: single, hosts: 4}\n"
                          "workload: [{kind: collective, collective: all_reduce_ring, size: 4MB, group: all}]\n";

/// A flow is now shorter than what its queue pairs carry.
static bool shorten(void *context, const struct weft_progress *now) {
    (void)now;
    struct weft_workload *w = context;
    w->flow[1].bytes = 1000;
    return true;
}

static bool go_on(void *context, const struct weft_progress *now) {
    (void)context, (void)now;
    return true;
}

static struct run run_bad(const char *text, bool (*on_progress)(void *, const struct weft_progress *)) {
    struct run r = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    if (status) fail_msg("%s", r.error.text);
    struct weft_sim_options options = {.threads = 1, .record = true, .on_progress = on_progress, .context = r.workload};
    r.status = weft_simulate(r.scenario, r.topology, r.workload, &options, &r.outcome, &r.error);
    return r;
}

static void results_are_there_beside_the_error(void **state) {
    (void)state;
    static const char *const texts[] = {flows, job};
    for (unsigned i = 0; i < 2; i++) {
        struct run good = run_bad(texts[i], go_on), bad = run_bad(texts[i], shorten);
        assert_int_equal(good.status, WEFT_OK);
        assert_int_equal(bad.status, WEFT_ERROR_CONSERVATION);
        assert_non_null(strstr(bad.error.text, "a bug of weft: "));
        assert_non_null(strstr(bad.error.text, "of flow 1 were delivered, which has 1000"));
        assert_non_null(bad.outcome);
        assert_int_equal(bad.outcome->digest, good.outcome->digest); // all of it
        assert_int_equal(bad.outcome->recorded, good.outcome->recorded);
        char *json;
        size_t size;
        FILE *file = open_memstream(&json, &size);
        struct weft_run run = {
            .scenario = bad.scenario, .topology = bad.topology, .workload = bad.workload, .outcome = bad.outcome};
        weft_report_json(file, &run);
        fclose(file);
        assert_non_null(strstr(json, "\"groups\""));
        free(json);
        run_free(&good);
        run_free(&bad);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_there_beside_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
