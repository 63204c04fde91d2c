// SPDX-License-Identifier: Apache-2.0
// weft compare --csv: a line a run and group, with the numbers of the run; names are quoted where they must be.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../run.h"
#include "weft/report.h"

static void lines_are_runs_and_groups(void **state) {
    struct run r = run_once("name: n\ntopology: {kind: single, hosts: 4}\n"
                            "workload:\n  - {kind: flow, src: host-0, dst: host-1, size: 1MB, group: 'a, \"b\"'}\n"
                            "  - {kind: rma, group: gets, rate: 100000, duration: 1ms}\n");
    struct weft_run run = {
        .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    weft_report_csv(file, &run, 1);
    fclose(file);
    char *line[4] = {strtok(text, "\n"), strtok(NULL, "\n"), strtok(NULL, "\n"), strtok(NULL, "\n")};
    assert_string_equal(
        line[0], "scenario,variant,group,count,finished,bytes,mean_us,p50_us,p95_us,p99_us,max_us,throughput_bps,"
                 "execution_p50_us,execution_p99_us,round_trip_p50_us,round_trip_p99_us");
    double mean, rate;
    assert_int_equal(sscanf(line[1], "n,,\"a, \"\"b\"\"\",1,1,1000000,%lf,%*f,%*f,%*f,%*f,%lf", &mean, &rate), 2);
    assert_true(fabs(mean * 1e6 / (double)r.outcome->flow[0].end_ps - 1) < 1e-5);
    uint64_t n, finished, bytes;
    assert_int_equal(sscanf(line[2], "n,,gets,%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%lf,%*f,%*f,%*f,%*f,%lf", &n,
                            &finished, &bytes, &mean, &rate),
                     5);
    assert_int_equal(n, r.outcome->rma[0].issued);
    assert_int_equal(finished, r.outcome->rma[0].completed);
    assert_int_equal(bytes, finished * 4096);
    assert_true(fabs(rate / ((double)bytes * 8 / 1e-3) - 1) < 1e-5);
    assert_null(line[3]);
    free(text);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_runs_and_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
