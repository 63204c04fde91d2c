// SPDX-License-Identifier: Apache-2.0
// A whole run from the user's own text, and what must hold for every run: bytes are conserved, and the digest does not
// depend on the number of threads.
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/sim.h"

struct run {
    struct weft_scenario_file *file;
    struct weft_simulation *whole; ///< what the next three are of
    struct weft_scenario *scenario;
    struct weft_topology *topology;
    struct weft_workload *workload;
    struct weft_outcome *outcome;
    enum weft_status status; ///< WEFT_OK or WEFT_ERROR_STALL
    struct weft_error error;
};

static inline void run_free(struct run *r) {
    if (r->outcome) weft_outcome_free(r->outcome);
    weft_simulation_free(r->whole);
    weft_scenario_file_free(r->file);
    *r = (struct run){0};
}

static inline struct weft_outcome *run_with(struct run *r, const struct weft_sim_options *options, const char *text) {
    struct weft_outcome *o = NULL;
    r->status = weft_simulate(r->scenario, r->topology, r->workload, options, &o, &r->error);
    if (r->status != WEFT_OK && r->status != WEFT_ERROR_STALL) {
        fputs(text, stderr); // cmocka cuts long messages
        fail_msg("%u threads: %s", options->threads, r->error.text);
    }
    assert_true(weft_outcome_conserves(o));
    return o;
}

static inline struct weft_outcome *run_again(struct run *r, uint32_t threads, const char *text) {
    return run_with(r, &(struct weft_sim_options){.threads = threads}, text);
}

/// Everything short of running, for one variant of r->file.
static inline enum weft_status run_bind(struct run *r, uint32_t variant) {
    enum weft_status status = weft_simulation_new(r->file, variant, &r->whole, &r->error);
    if (status) return status;
    r->scenario = r->whole->scenario;
    r->topology = r->whole->topology;
    r->workload = r->whole->workload;
    return WEFT_OK;
}

/// One run with one thread.
static inline struct run run_once(const char *text) {
    struct run r = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!status) status = weft_scenario_file_allow_write(r.file, "/tmp", &r.error); // where tests have their folders
    if (!status) status = run_bind(&r, 0);
    if (status) fail_msg("%s\n%s", r.error.text, text);
    r.outcome = run_again(&r, 1, text);
    return r;
}

/// A file below scenarios/, recorded, with one thread. `variant` may be NULL; `setting`: one "path=value", or NULL.
static inline struct run run_scenario(const char *file, const char *variant, const char *setting) {
    struct run r = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/scenarios/%s", getenv("WEFT_ROOT"), file);
    enum weft_status status = weft_scenario_file_read(path, &setting, setting != NULL, &r.file, &r.error);
    uint32_t v = 0;
    if (!status && variant) v = weft_scenario_variant_find(r.file, variant);
    if (v == WEFT_NONE) fail_msg("%s has no variant %s", file, variant);
    if (!status) status = run_bind(&r, v);
    if (status) fail_msg("%s", r.error.text);
    r.outcome = run_with(&r, &(struct weft_sim_options){.threads = 1, .record = true}, file);
    assert_int_equal(r.outcome->unrecorded, 0);
    return r;
}

/// The same run recorded: its outcome, which the caller frees, has events.
static inline struct weft_outcome *run_recorded(struct run *r, uint32_t threads, const char *text) {
    struct weft_outcome *o = run_with(r, &(struct weft_sim_options){.threads = threads, .record = true}, text);
    assert_int_equal(o->digest, r->outcome->digest); // recording changes nothing
    return o;
}

/// Runs once more and compares digests.
static inline void run_assert_same(struct run *r, uint32_t threads, const char *text) {
    struct weft_outcome *o = run_again(r, threads, text);
    if (o->digest != r->outcome->digest) {
        fputs(text, stderr);
        fail_msg("digest %016" PRIx64 " with 1 thread, %016" PRIx64 " with %u", r->outcome->digest, o->digest, threads);
    }
    weft_outcome_free(o);
}

/// The same with 1, 2, 3 and 8 threads; the outcome is that of 1.
static inline struct run run_text(const char *text) {
    struct run r = run_once(text);
    run_assert_same(&r, 2, text);
    run_assert_same(&r, 3, text);
    run_assert_same(&r, 8, text);
    return r;
}

/// Text by format, freed by the caller.
__attribute__((format(printf, 1, 2))) static inline char *text_of(const char *format, ...) {
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fclose(file);
    return text;
}

/// run_text or run_once of a format.
#define RUN(how, ...)                                                                                                  \
    ({                                                                                                                 \
        char *run_text_ = text_of(__VA_ARGS__);                                                                        \
        struct run run_result_ = how(run_text_);                                                                       \
        free(run_text_);                                                                                               \
        run_result_;                                                                                                   \
    })

/// Completion time of flow i, which must have finished with every byte delivered once.
static inline weft_time_ps run_fct(const struct run *r, uint32_t i) {
    assert_true(i < r->outcome->flows);
    const struct weft_flow_outcome *f = &r->outcome->flow[i];
    if (f->end_ps == WEFT_TIME_NEVER) fail_msg("flow %u has not finished", i);
    assert_int_equal(f->delivered_bytes, r->workload->flow[i].bytes);
    return f->end_ps - r->workload->flow[i].start_ps;
}

/// Counters of "switch-0/3" or "leaf-0->spine-1".
static inline const struct weft_counters *run_counters(const struct run *r, const char *port, uint32_t priority) {
    uint32_t p = weft_topology_find_port(r->topology, port);
    if (p == WEFT_NONE) fail_msg("no port %s", port);
    return weft_outcome_at(r->outcome, p, priority);
}

static inline uint64_t run_drops(const struct run *r) {
    uint64_t sum = 0;
    for (unsigned d = 0; d < WEFT_DROPS; d++)
        sum += r->outcome->drops[d];
    return sum;
}

/// What samples say of priority 3 at a port: means over those from `from_ps` on.
struct run_port {
    double samples, queue_bytes, queue_bytes_max;
    double tx_bytes; ///< a sample
};
static inline struct run_port run_port(const struct run *r, const char *name, weft_time_ps from_ps) {
    struct run_port p = {0};
    uint32_t port = weft_topology_find_port(r->topology, name);
    for (uint64_t i = 0; i < r->outcome->samples; i++) {
        const struct weft_sample *sample = &r->outcome->sample[i];
        double queue = (double)sample->queue_bytes;
        if (sample->time_ps < from_ps || sample->priority != 3 || sample->port != port) continue;
        p.queue_bytes += queue;
        if (queue > p.queue_bytes_max) p.queue_bytes_max = queue;
        p.tx_bytes += (double)sample->tx_bytes;
        p.samples++;
    }
    p.queue_bytes /= p.samples;
    p.tx_bytes /= p.samples;
    return p;
}

/// Every flow has finished, with every byte delivered once.
static inline void run_assert_complete(const struct run *r) {
    assert_int_equal(r->status, WEFT_OK);
    assert_int_equal(r->outcome->end, WEFT_END_DONE);
    for (uint32_t i = 0; i < r->outcome->flows; i++)
        run_fct(r, i);
}
