// SPDX-License-Identifier: Apache-2.0
#include "weft/param.h"
#include "weft/scenario.h"

static const char *const fast_forwards[] = {"off", "exact", "steady", NULL};

static const char *sample_check(const void *conf, char *text, size_t size) {
    const struct weft_sample_conf *c = conf;
    if (c->operations == 1)
        return "operations is 1: one has no spread, so there would be no interval; expected at least 2";
    return c->groups == 1 ? "groups is 1: one has no spread, so there would be no interval; expected at least 2" : NULL;
}

const struct weft_param_table weft_sample_table = WEFT_PARAM_TABLE_OF(
    "sample", struct weft_sample_conf, .check = sample_check,
    WEFT_UINT(struct weft_sample_conf, operations, "operations", "0", "0", "1000000",
              "operations of each class that run in packets, drawn at random, at least 2; the rest takes as long as "
              "these say, with a 95% interval; 0: all run in packets"),
    WEFT_UINT(struct weft_sample_conf, warm_up, "warm_up", "4", "0", "1000",
              "operations of each class that run in packets at the begin of an iteration, before others are drawn: "
              "ranks have drifted apart by then (assumed)",
              .needs = "operations"),
    WEFT_UINT(struct weft_sample_conf, seed, "seed", "1", "0", "9223372036854775807",
              "seed of the draw: which operations run in packets", .needs = "operations"),
    WEFT_UINT(struct weft_sample_conf, groups, "groups", "0", "0", "1000000",
              "groups of ranks that run in packets, of each class of groups that share no link and no operation of a "
              "layer, at least 2; the slowest of all is estimated from these; 0: all run",
              .needs = "operations"),
    WEFT_REAL(struct weft_sample_conf, until_interval, "until_interval", "0", "0", "1",
              "sample twice as many operations, and again, until half of the 95% interval of the job's time is at most "
              "this part of it; 0: sample once. Without operations it begins with 16 (assumed)"));

#define SAMPLE_INTERVAL_MIN_PS (100 * WEFT_PS_PER_NS)

static const char *run_check(const void *conf, char *text, size_t size) {
    const struct weft_run_conf *c = conf;
    if (!c->sample_interval_ps || c->sample_interval_ps >= SAMPLE_INTERVAL_MIN_PS) return NULL;
    return "sample_interval is below 100ns: more samples than packets; expected 0s (none) or at least 100ns";
}

const struct weft_param_table weft_run_table = WEFT_PARAM_TABLE_OF(
    "run", struct weft_run_conf, .check = run_check,
    WEFT_UINT(struct weft_run_conf, seed, "seed", "1", "0", "9223372036854775807", "seed of all random numbers"),
    WEFT_BOOL(
        struct weft_run_conf, jitter, "jitter", "on",
        "off: clocks are exact and hosts take their median times, whatever boxes say (clock_ppm of hosts and switches; "
        "host.jitter, stall, launch_skew)"),
    WEFT_TIME(struct weft_run_conf, until_ps, "until", "never", "1ns", "never",
              "end of the run; never: when all flows are done and the network is empty, at the latest after 100 days"),
    WEFT_TIME(struct weft_run_conf, stall_ps, "stall", "100ms", "1us", "never",
              "the run ends after this long without progress (assumed); the longest timeout, long links and the "
              "remaining events: are added; never stands for the default where sample_interval alone would go on"),
    WEFT_TIME(struct weft_run_conf, detection_ps, "detection", "10ms", "0ns", "1000s",
              "time from the failure or return of a link to new routes (assumed)"),
    WEFT_CHOICE(
        struct weft_run_conf, fast_forward, "fast_forward", "off", fast_forwards,
        "skip what repeats in jobs: exact, iterations and layers and microbatches within them, if the network's state "
        "is provably the same; steady, those and steps of rings whose times hardly differ (docs/fast-forward.md)"),
    WEFT_REAL(struct weft_run_conf, steady_error, "steady_error", "0.005", "0", "0.1",
              "steady: iterations, operations or steps of a ring whose times differ by at most this fraction count as "
              "the same (assumed)",
              .needs = "fast_forward"),
    WEFT_TIME(struct weft_run_conf, coast_watch_ps, "coast_watch", "15us", "5us", "1s",
              "steady: time for which a flow without a job is watched before its packets are skipped (assumed)",
              .needs = "fast_forward"),
    WEFT_REAL(
        struct weft_run_conf, coast_load, "coast_load", "1.0005", "0.01", "1.01",
        "steady: packets of flows are skipped on links that carry at most this fraction of their rate; the excess "
        "over 1 would fill 25 KB in 1 ms at 400 Gbit/s (assumed)",
        .needs = "fast_forward"),
    WEFT_UINT(
        struct weft_run_conf, fast_forward_audit, "fast_forward_audit", "0", "0", "1000000",
        "run this many of the stretches that would be skipped in full instead, and compare them with the prediction",
        .needs = "fast_forward"),
    WEFT_SECTION(struct weft_run_conf, sample, "sample", &weft_sample_table,
                 "a job's operations that run in packets, in place of all (docs/sampling.md)"),
    WEFT_TIME(struct weft_run_conf, sample_interval_ps, "sample_interval", "0ns", "0ns", "1000s",
              "interval of the time series of queues and rates; 0ns: none"),
    WEFT_TEXT(struct weft_run_conf, sample_ports, "sample_ports", "*",
              "ports in the time series: a shell pattern over their names", .needs = "sample_interval"),
    WEFT_BOOL(struct weft_run_conf, count_flows, "count_flows", "off",
              "count the queue pairs with data on each link between switches, to find collisions; costs some speed"),
    WEFT_BOOL(struct weft_run_conf, round_trips, "round_trips", "off",
              "measure round trips of data between NICs, one at a time per queue pair; always on with TiNs"),
    WEFT_BYTES(
        struct weft_run_conf, flow_bytes_min, "count_flows_from", "1B", "1B", "100TB",
        "with count_flows: a queue pair counts on a link once it has sent this many bytes of data frames over it",
        .needs = "count_flows"),
    WEFT_UINT(struct weft_run_conf, events_max, "events", "20000", "0", "100000000",
              "events kept per node for the timeline, the first ones (assumed); 0: none"));
