// SPDX-License-Identifier: Apache-2.0
// What benchmarks measure, as rows: one table for all, because most have the same figures.
#include <string.h>

#include "base/grow.h"
#include "bench.h"

struct weft_bench_run weft_bench_run(void) {
    struct weft_bench_run run;
    memset(&run, 0xff, sizeof run); // of whole numbers the largest, and NAN: no value
    run.job = run.mode = run.refused = run.to = run.digest = NULL;
    run.phase = NULL;
    run.phases = 0;
    return run;
}

void weft_bench_add(struct weft_bench_answer *a, struct weft_bench_run run) {
    WEFT__ADD(a->arena, a->run, a->runs) = run;
}

enum weft_status weft_bench_tell(const struct weft_cli_options *o, const struct weft_bench_answer *answer,
                                 struct weft_error *ret_error) {
    return weft_cli_answer(o, &weft__answer_bench, answer, NULL, ret_error);
}

static const struct weft_result_table bench_table = WEFT_RESULT_TABLE_OF(
    "bench", OBJECT, "a benchmark", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
    WEFT_RESULT(struct weft_bench_answer, bench, TEXT, "name of the benchmark"),
    WEFT_RESULT(struct weft_bench_answer, runs_each, COUNT, "runs of each measurement; the answer has their median",
                .flags = WEFT_RESULT_SPARSE));

#define RUN(field, key, kind, ...)                                                                                     \
    WEFT_RESULT_NAMED(struct weft_bench_run, field, key, kind, __VA_ARGS__, .flags = WEFT_RESULT_SPARSE)
#define SECONDS(field, what) RUN(field, #field, REAL, what, .unit = "s")
static const struct weft_result_table runs_table = WEFT_RESULT_TABLE_OF(
    "runs", LIST, "a measurement", WEFT_RESULT_EACH(struct weft_bench_answer, run, runs),
    WEFT_RESULT_CALL(weft_result_index, "number", COUNT, "number of the measurement, from 0",
                     .flags = WEFT_RESULT_KEY | WEFT_RESULT_TABLES),
    RUN(job, "job", TEXT, "fast-forward: what ran"), RUN(mode, "mode", TEXT, "fast-forward: run.fast_forward"),
    RUN(refused, "refused", TEXT, "fast-forward: why nothing was skipped"), RUN(hosts, "hosts", COUNT, "hosts"),
    RUN(threads, "threads", COUNT, "worker threads"), RUN(to, "to", TEXT, "te: to whom each host sends"),
    RUN(demands, "demands", COUNT, "te: demands placed"),
    RUN(entries, "entries", COUNT, "te: entries of forwarding tables that were computed"),
    RUN(digest, "digest", TEXT, "digest of the run"),
    RUN(packet_hops, "packet_hops", COUNT, "packets times links that they crossed"),
    RUN(cell_hops, "cell_hops", COUNT, "cells times links that they crossed"), SECONDS(wall_s, "wall time of the run"),
    SECONDS(cpu_s, "processor time, of all threads"),
    RUN(packet_rate, "packet_hops_per_cpu_s", REAL, "packet-hops in a second of processor time", .unit = "1/s"),
    RUN(cell_rate, "cell_hops_per_cpu_s", REAL, "cell-hops in a second of processor time", .unit = "1/s"),
    RUN(peak_rss_bytes, "peak_rss_bytes", REAL, "peak memory of the process", .unit = "bytes"),
    RUN(peak_rss_bytes_per_host, "peak_rss_bytes_per_host", REAL, "peak memory of the process by the number of hosts",
        .unit = "bytes"),
    RUN(pauses, "pfc_xoff_frames", COUNT, "pause frames sent"), RUN(ecn_marked, "ecn_marked", COUNT, "packets marked"),
    RUN(cnps, "cnp", COUNT, "congestion notification packets"),
    RUN(iterations, "iterations", COUNT, "fast-forward: iterations skipped"),
    RUN(operations, "operations", COUNT, "fast-forward: operations skipped"),
    RUN(steps, "steps", COUNT, "fast-forward: steps skipped"),
    RUN(packets, "packets", COUNT, "fast-forward: packets skipped"),
    RUN(estimate, "estimate", REAL, "fast-forward: the run's own estimate of its error"),
    RUN(events_ratio, "events_ratio", REAL, "fast-forward: events of the full run by those of this one"),
    RUN(cpu_ratio, "cpu_ratio", REAL, "fast-forward: processor time of the full run by that of this one"),
    RUN(mean_error, "mean_error", REAL, "fast-forward: error of the mean time, as a part of that time"),
    RUN(p99_error, "p99_error", REAL, "fast-forward: error of the 99th percentile of times, as a part of it"),
    RUN(same_digest, "same_digest", BOOL, "fast-forward: whether the digest is that of the full run"));

WEFT_RESULT_VALUE(number_of_run, weft_result_whole(true, c->above->at - 1))

static const struct weft_result_table phases_table = WEFT_RESULT_TABLE_OF(
    "runs.phase_s", NUMBERS, "a phase of the windows of a run",
    WEFT_RESULT_AND(WEFT_RESULT_EACH(struct weft_bench_run, phase, phases), .sparse = true),
    WEFT_RESULT_CALL(number_of_run, "run", COUNT, "number of the measurement, from 0",
                     .flags = WEFT_RESULT_KEY | WEFT_RESULT_ABOVE),
    WEFT_RESULT(struct weft_bench_phase, name, TEXT, "phase of a window", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct weft_bench_phase, seconds, REAL, "time of all threads in the phase", .unit = "s"));

const struct weft_answer weft__answer_bench =
    WEFT_ANSWER_OF("bench", "weft bench: what the benchmarks measure", &bench_table, &runs_table, &phases_table);
