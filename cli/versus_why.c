// SPDX-License-Identifier: Apache-2.0
// Where the time of a run measured by a versus went: along the critical path of an iteration, or of the flow that
// finished last.
#include "versus.h"

/// The most that each message and each pair of ranks note, and how much of it a run may keep.
enum { NOTES_EACH = 5, SLICE_BYTES = 128 * 1024 };
static const double notes_bytes_max = 1e9;
/// What is kept of a followed packet or cell on a link until it is explained, and how much of it there may be.
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

/// What must be explained.
struct subject {
    uint32_t job, iteration; ///< job WEFT_NONE: the flow
    uint32_t last;
    bool *flow; ///< [flows] that are followed
    enum weft_versus_why_note note;
};

static struct weft_sweep_kept *only_note(enum weft_versus_why_note note, struct weft_arena *arena, uint32_t *ret_n) {
    return weft_versus_why(NULL, NULL, note, arena, ret_n);
}

/// The two runs that follow: packets of the subject; then, at the ports that those used, who went before them.
struct followed {
    struct weft_cli_simulation sim[2];
    struct weft_follow own, others;
    struct weft_run run;
};

static enum weft_status run_again(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                  uint32_t variant, struct weft_cli_simulation *sim, struct weft_follow *follow,
                                  struct weft_run *ret_run) {
    struct weft_cli_options options = *o;
    struct weft_error ignored = {0};
    options.out = NULL;
    options.quiet = options.json = true;
    WEFT_TRY(weft_cli_simulation_init(sim, file, variant, &ignored));
    sim->follow = follow;
    sim->scenario->capture.ports = "";
    return weft_cli_simulation_run(sim, &options, "", ret_run, &ignored);
}

/// Of the critical path; NULL: it cannot be found.
static bool *find_ports(const struct followed *x, const struct subject *s, struct weft_arena *arena) {
    struct weft_whys *whys = weft_whys_new(&x->run, &x->own, NULL, arena);
    bool *port = weft_arena_alloc(arena, x->run.topology->ports, sizeof *port);
    struct weft_error ignored = {0};
    enum weft_status status = s->job == WEFT_NONE
                                  ? weft_why_ports(whys, s->last, port, &ignored)
                                  : weft_why_iteration_ports(whys, s->job, s->iteration, port, &ignored);
    return status ? NULL : port;
}

/// Of all that these ports send. Ports that send no frames are taken to send cells, each as many.
static bool others_have_room(const struct weft_outcome *o, const bool *port) {
    double frames = 0, cells = 0, all_cells = 0;
    for (uint32_t p = 0; p < o->ports; p++) {
        uint64_t sent = 0;
        for (uint32_t k = 0; k < WEFT_PRIORITIES; k++)
            sent += weft_outcome_at(o, p, k)->tx_packets;
        all_cells += !sent;
        if (port[p]) frames += (double)sent, cells += !sent;
    }
    if (cells > 0) cells *= (double)o->cell_hops / all_cells;
    return PACKET_BYTES * frames + CELL_BYTES * cells < hops_bytes_max;
}

static struct weft_sweep_kept *explain_subject(const struct followed *x, const struct subject *s,
                                               struct weft_arena *arena, uint32_t *ret_n) {
    struct weft_whys *whys = weft_whys_new(&x->run, &x->own, &x->others, arena);
    struct weft_why_iteration iteration;
    struct weft_why why;
    struct weft_error ignored = {0};
    if (s->job != WEFT_NONE)
        return weft_why_iteration(whys, s->job, s->iteration, &iteration, &ignored)
                   ? only_note(WEFT_VERSUS_WHY_NO_WALK, arena, ret_n)
                   : weft_versus_why(NULL, &iteration, s->note, arena, ret_n);
    return weft_why(whys, s->last, &why, &ignored) ? only_note(WEFT_VERSUS_WHY_NO_PATH, arena, ret_n)
                                                   : weft_versus_why(&why, NULL, s->note, arena, ret_n);
}

static struct weft_sweep_kept *follow_again(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                            uint32_t variant, const struct subject *s, struct followed *x,
                                            uint32_t *ret_n) {
    struct weft_run second;
    x->own = (struct weft_follow){.flow = s->flow, .ranks = s->job != WEFT_NONE};
    if (run_again(o, file, variant, &x->sim[0], &x->own, &x->run))
        return only_note(WEFT_VERSUS_WHY_NO_RUN, o->arena, ret_n);
    const bool *port = find_ports(x, s, o->arena);
    if (!port)
        return only_note(s->job == WEFT_NONE ? WEFT_VERSUS_WHY_NO_PATH : WEFT_VERSUS_WHY_NO_WALK, o->arena, ret_n);
    if (!others_have_room(x->run.outcome, port)) return only_note(WEFT_VERSUS_WHY_HOPS, o->arena, ret_n);
    x->others = (struct weft_follow){
        .flow = weft_arena_alloc(o->arena, x->run.workload->flows + 1, sizeof *x->others.flow), .port = port};
    if (run_again(o, file, variant, &x->sim[1], &x->others, &second))
        return only_note(WEFT_VERSUS_WHY_NO_RUN, o->arena, ret_n);
    return explain_subject(x, s, o->arena, ret_n);
}

/// The followed flows' share of the run's bytes is taken as their share of its packets and cells.
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
    if (s.job != WEFT_NONE) {
        s.iteration = weft_versus_longest_iteration(measured, s.job);
        if (!ranks)
            s.note = WEFT_VERSUS_WHY_NOTES;
        else if (weft_why_iteration_flows(weft_whys_new(measured, ranks, NULL, o->arena), s.job, s.iteration, s.flow,
                                          &ignored))
            s.note = WEFT_VERSUS_WHY_NO_WALK;
    }
    if (s.job == WEFT_NONE || s.note) {
        s.job = WEFT_NONE;
        if (s.last == WEFT_NONE) return only_note(WEFT_VERSUS_WHY_NO_END, o->arena, ret_n);
        s.flow[s.last] = true;
    }
    if (!follow_has_room(measured, s.flow)) return only_note(WEFT_VERSUS_WHY_HOPS, o->arena, ret_n);
    struct followed x = {0};
    struct weft_sweep_kept *kept = follow_again(o, file, variant, &s, &x, ret_n);
    weft_follow_free(&x.own);
    weft_follow_free(&x.others);
    weft_cli_simulation_deinit(&x.sim[0]);
    weft_cli_simulation_deinit(&x.sim[1]);
    return kept;
}
