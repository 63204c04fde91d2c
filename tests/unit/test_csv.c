// SPDX-License-Identifier: Apache-2.0
// weft compare --csv: a line per run and row of a table, with the numbers of the run; names are quoted where necessary.
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
    weft_report_csv(file, weft_result_table_find("groups"), &run, 1);
    fclose(file);
    char *line[4] = {strtok(text, "\n"), strtok(NULL, "\n"), strtok(NULL, "\n"), strtok(NULL, "\n")};
    assert_string_equal(
        line[0],
        "scenario,variant,seed,name,count,finished,bytes,delivered_bytes,delivered_bytes_min,delivered_bytes_max,"
        "fct_ps_mean,fct_ps_p50,fct_ps_p95,fct_ps_p99,fct_ps_max,slowdown_mean,slowdown_p50,slowdown_p95,"
        "slowdown_p99,slowdown_max,out_of_order,out_of_order_placed,throughput_bps,execution_ps_p50,"
        "execution_ps_p99,round_trip_ps_p50,round_trip_ps_p99");
    double rate;
    uint64_t n, finished, bytes, mean;
    assert_int_equal(sscanf(line[1],
                            "n,,1,\"a, \"\"b\"\"\",1,1,1000000,1000000,1000000,1000000,%" SCNu64
                            ",%*u,%*u,%*u,%*u,%*f,%*f,%*f,%*f,%*f,0,0,%lf,,,,",
                            &mean, &rate),
                     2);
    assert_int_equal(mean, r.outcome->flow[0].end_ps);
    assert_int_equal(
        sscanf(line[2], "n,,1,gets,%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",0,0,0,%" SCNu64 ",%*u,%*u,%*u,%*u,,,,,,0,0,%lf",
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

/// A size on a border belongs to the bin that it begins.
static void sizes_are_told_apart(void **state) {
    struct run r = run_once("name: n\ntopology: {kind: single, hosts: 4}\n"
                            "workload:\n  - {kind: flow, src: host-0, dst: host-1, size: 999B, group: g}\n"
                            "  - {kind: flow, src: host-0, dst: host-1, size: 1KB, group: g}\n"
                            "  - {kind: flow, src: host-0, dst: host-1, size: 9999B, group: g}\n"
                            "  - {kind: flow, src: host-0, dst: host-1, size: 10KB, group: g}\n");
    struct weft_run run = {
        .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
    static const struct {
        uint64_t from, below, flows;
    } expected[] = {{0, 1000, 1}, {1000, 10000, 2}, {10000, 100000, 1}};
    char *text, *rest;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    weft_report_csv(file, weft_result_table_find("sizes"), &run, 1);
    fclose(file);
    assert_non_null(strtok_r(text, "\n", &rest));
    for (unsigned i = 0; i < 3; i++) {
        uint64_t from, below, flows, finished, mean, p50, p95, p99, most;
        const char *line = strtok_r(NULL, "\n", &rest);
        assert_non_null(line);
        assert_int_equal(sscanf(line,
                                "n,,1,g,%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64
                                ",%" SCNu64 ",%" SCNu64 ",%" SCNu64,
                                &from, &below, &flows, &finished, &mean, &p50, &p95, &p99, &most),
                         9);
        assert_int_equal(from, expected[i].from);
        assert_int_equal(below, expected[i].below);
        assert_int_equal(flows, expected[i].flows);
        assert_int_equal(finished, flows);
        uint32_t longer = i == 1 && r.outcome->flow[2].end_ps > r.outcome->flow[1].end_ps;
        assert_int_equal(most, r.outcome->flow[i + longer + (i == 2)].end_ps);
    }
    assert_null(strtok_r(NULL, "\n", &rest));
    free(text);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_runs_and_groups),
                                       cmocka_unit_test(sizes_are_told_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
