// SPDX-License-Identifier: Apache-2.0
// Where the time of a run went that a versus has measured: along the critical path of an iteration, or of the flow that
// finished last.
#include "versus.h"

/// What each message and each pair of ranks may note, and how much of that a run may keep.
enum { NOTES_EACH = 5, SLICE_BYTES = 128 * 1024 };
static const double notes_bytes_max = 1e9;
/// What is kept of a followed packet or cell on a link until it is explained, and how much of that there may be.
enum { PACKET_BYTES = 160, CELL_BYTES = 450 };
static const double hops_bytes_max = 4e9;

bool versus_why_has_room(const struct weft_workload *w) {
    double messages = 0;
    for (uint32_t f = 0; f < w->flows; f++)
        messages += (double)w->flow[f].bytes / SLICE_BYTES;
    for (uint32_t k = 0; k < w->jobs; k++)
        messages += 2.0 * w->job[k].ranks * w->job[k].ranks; // a ring's steps, an all-to-all's pairs
    return w->jobs && messages * NOTES_EACH * sizeof(struct weft_rank_note) < notes_bytes_max;
}

/// What is to be explained.
struct subject {
    uint32_t job, iteration; ///< job: WEFT_NONE: the flow
    uint32_t last;
    bool *flow; ///< [flows] that are followed
};

static enum weft_status explain(const struct weft_run *run, const struct weft_follow *follow, const struct subject *s,
                                struct weft_arena *arena, struct weft_sweep_kept **ret_kept, uint32_t *ret_n,
                                struct weft_error *ret_error) {
    struct weft_whys *whys = weft_whys_new(run, follow, NULL, arena);
    struct weft_why_iteration iteration;
    struct weft_why why;
    enum weft_status status = s->job == WEFT_NONE
                                  ? weft_why(whys, s->last, &why, ret_error)
                                  : weft_why_iteration(whys, s->job, s->iteration, &iteration, ret_error);
    if (status) return status;
    *ret_kept =
        s->job == WEFT_NONE ? weft_versus_why(&why, arena, ret_n) : weft_versus_why_iteration(&iteration, arena, ret_n);
    return WEFT_OK;
}

/// The run once more, with those flows followed. What cannot be explained is left out.
static struct weft_sweep_kept *follow(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                      uint32_t variant, const struct subject *s, uint32_t *ret_n) {
    struct weft_cli_options options = *o;
    struct weft_cli_simulation sim = {0};
    struct weft_run run;
    struct weft_error ignored = {0};
    struct weft_sweep_kept *kept = NULL;
    options.out = NULL;
    options.quiet = options.json = true;
    if (!weft_cli_simulation_init(&sim, file, variant, &ignored)) {
        struct weft_follow kept_of = {.flow = s->flow, .ranks = s->job != WEFT_NONE};
        sim.follow = &kept_of;
        sim.scenario->capture.ports = "";
        if (!weft_cli_simulation_run(&sim, &options, "", &run, &ignored))
            explain(&run, &kept_of, s, o->arena, &kept, ret_n, &ignored);
        weft_follow_free(&kept_of);
    }
    weft_cli_simulation_deinit(&sim);
    return kept;
}

/// The followed flows' part of the run's bytes is taken for their part of its packets and cells.
static bool follow_has_room(const struct weft_run *measured, const bool *flow) {
    const struct weft_workload *w = measured->workload;
    double followed = 0, all = 0;
    for (uint32_t f = 0; f < w->flows; f++) {
        all += (double)w->flow[f].bytes;
        if (flow[f]) followed += (double)w->flow[f].bytes;
    }
    double bytes = PACKET_BYTES * (double)measured->outcome->packet_hops;
    bytes += CELL_BYTES * (double)measured->outcome->cell_hops;
    return bytes * followed / all < hops_bytes_max;
}

struct weft_sweep_kept *versus_why(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                   uint32_t variant, const struct weft_run *measured, const struct weft_follow *ranks,
                                   uint32_t *ret_n) {
    struct weft_error ignored = {0};
    struct subject s = {.job = weft_versus_slowest_job(measured), .last = weft_versus_last_flow(measured)};
    s.flow = weft_arena_alloc(o->arena, measured->workload->flows + 1, sizeof *s.flow);
    if (s.job != WEFT_NONE) s.iteration = weft_versus_longest_iteration(measured, s.job);
    struct weft_whys *whys = ranks && s.job != WEFT_NONE ? weft_whys_new(measured, ranks, NULL, o->arena) : NULL;
    if (!whys || weft_why_iteration_flows(whys, s.job, s.iteration, s.flow, &ignored)) {
        s.job = WEFT_NONE;
        if (s.last == WEFT_NONE) return NULL;
        s.flow[s.last] = true;
    }
    return follow_has_room(measured, s.flow) ? follow(o, file, variant, &s, ret_n) : NULL;
}
