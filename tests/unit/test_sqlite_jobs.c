// SPDX-License-Identifier: Apache-2.0
// The tables of jobs in results.sqlite, for a run with known figures: one switch, compute and a chain of messages.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <unistd.h>

#include "query.h"
#include "run.h"
#include "weft/report.h"

/// Two jobs: one of two iterations in which one collective is waited for and one goes on beside a compute of 1 ms, and
/// one whose time is cut off. Nobody waits for the receiver to come, so that a collective may take no time once it has.
static const char text[] = "topology: {kind: single, hosts: 4, rate: 400Gbps, delay: 200ns}\n"
                           "run: {until: 5ms}\n"
                           "workload:\n"
                           "  - {kind: job, group: a, hosts: host-0..1, iterations: 2, admission: none, operations: [\n"
                           "      {compute: 100us, collective: send_recv, size: 1MB},\n"
                           "      {collective: all_to_all, size: 2MB, overlap: on}, {compute: 1ms}]}\n"
                           "  - {kind: job, group: b, hosts: host-2..3, start: 1ms, operations: [{compute: 5ms}]}\n";

static struct run result;
static char dir[64] = "/tmp/weft-jobs-XXXXXX";

static int setup(void **state) {
    struct weft_error error = {0};
    assert_non_null(mkdtemp(dir));
    result = run_once(text);
    const struct weft_run run = {.scenario = result.scenario,
                                 .topology = result.topology,
                                 .workload = result.workload,
                                 .outcome = result.outcome};
    if (weft_report_sqlite(dir, &run, 1, &error)) fail_msg("%s", error.text);
    return 0;
}

static int teardown(void **state) {
    char command[128];
    run_free(&result);
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command);
}

static void jobs(void **state) {
    expect_rows(dir, "SELECT job, name, ranks, iterations, finished, start_ps, iteration_ps > 1.1e9 FROM jobs",
                "0|a|2|2|2|0|1\n1|b|2|1|0|1000000000|NULL");
    expect_rows(dir, "SELECT iteration_max_ps, exposed_ps FROM jobs WHERE job = 1", "NULL|NULL");
}

/// An iteration begins where the one before ended; a job's mean is that of its iterations.
static void iterations(void **state) {
    expect_rows(dir, "SELECT job, iteration, end_ps - start_ps = time_ps, exposed_ps < 0.1 * time_ps FROM iterations",
                "0|0|1|1\n0|1|1|1\n1|0|NULL|NULL");
    expect_rows(dir,
                "SELECT b.start_ps = a.end_ps FROM iterations a JOIN iterations b USING (run, job)"
                " WHERE a.iteration = 0 AND b.iteration = 1",
                "1");
    expect_rows(dir,
                "SELECT abs(avg(i.time_ps) - j.iteration_ps) < 1, abs(avg(i.exposed_ps) - j.exposed_ps) < 2"
                " FROM iterations i JOIN jobs j USING (run, job) WHERE job = 0",
                "1|1");
}

/// Bandwidths are size over time; a collective beside compute exposes nothing; the chain only its receiver waits for.
/// The sender goes ahead by the time of the chain, so that the second time all has come when its receiver asks: no
/// time, and no bandwidth.
static void collectives(void **state) {
    expect_rows(dir, "SELECT iteration, operation, collective, ranks, size FROM collectives",
                "0|0|send_recv|2|1000000\n0|1|all_to_all|2|2000000\n1|0|send_recv|2|1000000\n1|1|all_to_all|2|2000000");
    expect_rows(dir,
                "SELECT count(*) FROM collectives WHERE abs(algbw_GBps * time_ps / 1e3 / size - 1) < 1e-9"
                " AND busbw_GBps = algbw_GBps * iif(collective = 'all_to_all', 0.5, 1)"
                " AND time_ps = end_ps - start_ps",
                "3");
    expect_rows(dir, "SELECT time_ps, algbw_GBps, busbw_GBps, exposed_ps FROM collectives WHERE algbw_GBps IS NULL",
                "0|NULL|NULL|0");
    expect_rows(dir, "SELECT count(*), sum(exposed_ps) FROM collectives WHERE collective = 'all_to_all'", "2|0");
    expect_rows(dir, "SELECT abs(exposed_ps - time_ps / 2) < 2 FROM collectives WHERE operation = 0", "1\n1");
    expect_rows(dir,
                "SELECT count(*) FROM iterations i WHERE job = 0 AND exposed_ps = (SELECT sum(exposed_ps)"
                " FROM collectives c WHERE c.job = i.job AND c.iteration = i.iteration)",
                "2");
    expect_rows(dir, "PRAGMA foreign_key_check", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs),
        cmocka_unit_test(iterations),
        cmocka_unit_test(collectives),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
