// SPDX-License-Identifier: Apache-2.0
// weft compare --csv: a line a run and row of a table, with the numbers of the run; names are quoted where they must
// be.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../run.h"
#include "weft/result.h"

static void lines_are_runs_and_groups(void **state) {
    struct run r = run_once("name: n\ntopology: {kind: single, hosts: 4}\n"
                            "workload:\n  - {kind: flow, src: host-0, dst: host-1, size: 1MB, group: 'a, \"b\"'}\n"
                            "  - {kind: rma, group: gets, rate: 100000, duration: 1ms}\n");
    struct weft_run run = {
        .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    weft_report_csv(file, weft_result_table_find("groups"), &run, 1, false);
    fclose(file);
    char *line[4] = {strtok(text, "\n"), strtok(NULL, "\n"), strtok(NULL, "\n"), strtok(NULL, "\n")};
    assert_string_equal(
        line[0], "scenario,variant,name,count,finished,bytes,delivered_bytes,delivered_bytes_min,delivered_bytes_max,"
                 "fct_ps_mean,fct_ps_p50,fct_ps_p95,fct_ps_p99,fct_ps_max,slowdown_mean,slowdown_p50,slowdown_p95,"
                 "slowdown_p99,slowdown_max,out_of_order,out_of_order_placed,throughput_bps,execution_ps_p50,"
                 "execution_ps_p99,round_trip_ps_p50,round_trip_ps_p99");
    double rate;
    uint64_t n, finished, bytes, mean;
    assert_int_equal(sscanf(line[1],
                            "n,,\"a, \"\"b\"\"\",1,1,1000000,1000000,1000000,1000000,%" SCNu64
                            ",%*u,%*u,%*u,%*u,%*f,%*f,%*f,%*f,%*f,0,0,%lf,,,,",
                            &mean, &rate),
                     2);
    assert_int_equal(mean, r.outcome->flow[0].end_ps);
    assert_int_equal(
        sscanf(line[2], "n,,gets,%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",0,0,0,%" SCNu64 ",%*u,%*u,%*u,%*u,,,,,,0,0,%lf",
               &n, &finished, &bytes, &mean, &rate),
        5);
    assert_int_equal(n, r.outcome->rma[0].issued);
    assert_int_equal(finished, r.outcome->rma[0].completed);
    assert_int_equal(bytes, finished * 4096);
    assert_int_equal(mean, r.outcome->rma[0].latency.mean_ps);
    assert_true(fabs(rate / ((double)bytes * 8 / 1e-3) - 1) < 1e-5);
    assert_null(line[3]);
    free(text);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_runs_and_groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
