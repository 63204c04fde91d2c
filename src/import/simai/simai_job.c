// SPDX-License-Identifier: Apache-2.0
// The workload text of AICB and SimAI as a training job (import/simai/simai_read.h): in each iteration, a forward pass
// over all layers, then a backward one.
//
// Order, as ASTRA-sim's Workload has it: forward, each layer computes and waits for its communication; backward, from
// the last layer, it computes the gradient of its input and waits for that communication, then computes that of its
// weights and goes on at once, so that their communication overlaps with the layers before; all of it has ended at the
// end of the iteration. With FWD_IN_BCKWD, before a layer of checkpoint_initiates the forward pass is repeated from the
// preceding checkpoint. MICRO: the third communication of each line, one after another.
//
// With several stages (pp) the lines are those of one stage, for all microbatches (ga): AICB divides the layers by pp.
// SimAI adds closed forms for the bubble and for the transfers between stages; here the stages do transfer (pp_comm),
// one forward, one backward in turn (workload/pipeline.h). Lines before the first microbatch run their forward pass
// before that; those after the last one, and the backward pass of the former, which reduces gradients, run after it.
//
// Differences: updates of weights are computed at the end of the backward pass, beside overlapping communication. vpp
// is not used: AICB's generator writes the number of the model's layers there, and no file says which lines belong to
// which virtual stage.
#include <inttypes.h>

#include "base/param.h"
#include "import/simai/simai_read.h"
#include "weft/param.h"
#include "workload/job.h"
#include "workload/pipeline.h"

struct simai_conf {
    struct weft__job_common common;
    const char *file;
    uint64_t iterations;
    struct weft__schedule_models models;
    bool pipeline;
    struct weft_model_conf pp_comm;
};
static const struct weft_param_table simai_params = WEFT_PARAM_TABLE_OF(
    "simai", struct simai_conf, WEFT_PARAM_UNCHECKED, WEFT__JOB_ROWS(struct simai_conf, "job"),
    WEFT_TEXT(struct simai_conf, file, "file", NULL, "the workload; relative to the scenario"),
    WEFT_UINT(struct simai_conf, iterations, "iterations", "1", "1", "1000000",
              "iterations of all layers, forward and backward"),
    WEFT__TRAINING_MODEL_ROWS(struct simai_conf, models), WEFT__ROOTED_MODEL_ROWS(struct simai_conf, models),
    WEFT_BOOL(struct simai_conf, pipeline, "pipeline", "on",
              "stages (pp) pass on pp_comm bytes for each microbatch (ga), and wait for it; off: ranks of all stages "
              "execute all lines in parallel"),
    WEFT_MODEL_PARAM(struct simai_conf, pp_comm, "pp_comm", WEFT_KIND_COLLECTIVE, "send_recv",
                     "collective by which stages pass on: send_recv"));

/// Consecutive operations.
struct range {
    uint32_t first, end;
};

/// Arguments that the functions below share.
struct maker {
    const struct simai_conf *conf;
    const struct weft_topology *topology;
    const struct weft__simai *file;
    struct weft_job *job;
    struct weft__simai_groups groups;
    struct range *pass[2]; ///< [microbatches], forward and backward
};

static void add_op(struct maker *m, const struct weft__simai_part *part, bool overlap) {
    static const uint8_t collective[WEFT__SIMAI_TYPES] = {[WEFT__SIMAI_ALL_REDUCE] = WEFT_SCHEDULE_ALL_REDUCE,
                                                          [WEFT__SIMAI_ALL_GATHER] = WEFT_SCHEDULE_ALL_GATHER,
                                                          [WEFT__SIMAI_REDUCE_SCATTER] = WEFT_SCHEDULE_REDUCE_SCATTER,
                                                          [WEFT__SIMAI_ALL_TO_ALL] = WEFT_SCHEDULE_ALL_TO_ALL,
                                                          [WEFT__SIMAI_BROADCAST] = WEFT_SCHEDULE_BROADCAST,
                                                          [WEFT__SIMAI_REDUCE] = WEFT_SCHEDULE_REDUCE,
                                                          [WEFT__SIMAI_GATHER] = WEFT_SCHEDULE_GATHER,
                                                          [WEFT__SIMAI_SCATTER] = WEFT_SCHEDULE_SCATTER};
    static const char *const groups[WEFT__SIMAI_GROUPS] = {"tp", "dp", "ep", "dp_ep"};
    uint32_t ranks = m->groups.of[part->group].ranks;
    bool talks = part->type != WEFT__SIMAI_NONE && part->bytes && ranks > 1;
    if (!talks && !part->compute_ps) return;
    struct weft_job_op *op = &m->job->op[m->job->ops++];
    op->compute_ps = part->compute_ps;
    op->times = 1;
    if (!talks) return;
    weft__job_collective(m->job, m->topology, &m->conf->models.of[collective[part->type]], ranks,
                         m->groups.of[part->group].stride, part->bytes, op);
    op->shape.wanted = weft__schedule_goal(collective[part->type]);
    op->over = groups[part->group];
    op->overlap = overlap;
}

/// One part of the lines [first, end), in their order.
static struct range add_part(struct maker *m, enum weft__simai_pass part, uint32_t first, uint32_t end) {
    struct range range = {.first = m->job->ops};
    for (uint32_t i = first; i < end; i++)
        add_op(m, &m->file->layer[i].part[part], false);
    range.end = m->job->ops;
    return range;
}

/// Repeats the forward pass of layers from the checkpoint before `layer` up to it.
static void recompute_layers(struct maker *m, uint32_t layer) {
    uint32_t from = layer;
    while (from > 0 && !m->file->layer[from].checkpoint)
        from--;
    add_part(m, WEFT__SIMAI_FORWARD, from, layer);
}

static struct range add_backward(struct maker *m, uint32_t first, uint32_t end) {
    const struct weft__simai *f = m->file;
    struct range range = {.first = m->job->ops};
    for (uint32_t i = end; i-- > first;) {
        const struct weft__simai_layer *l = &f->layer[i];
        if (l->initiates && f->kind == WEFT__SIMAI_RECOMPUTE) recompute_layers(m, i);
        add_op(m, &l->part[WEFT__SIMAI_INPUT], false);
        add_op(m, &l->part[WEFT__SIMAI_WEIGHT], true);
    }
    range.end = m->job->ops;
    return range;
}

static struct range add_update(struct maker *m) {
    struct weft__simai_part update = {.type = WEFT__SIMAI_NONE};
    struct range range = {.first = m->job->ops};
    for (uint32_t i = 0; i < m->file->layers && m->file->kind != WEFT__SIMAI_MICRO; i++)
        update.compute_ps = weft_time_plus(update.compute_ps, m->file->layer[i].update_ps);
    add_op(m, &update, false);
    range.end = m->job->ops;
    return range;
}

static void add_ops(struct maker *m) {
    const struct weft__simai *f = m->file;
    if (f->kind == WEFT__SIMAI_MICRO) {
        add_part(m, WEFT__SIMAI_WEIGHT, 0, f->layers);
    } else {
        add_part(m, WEFT__SIMAI_FORWARD, 0, f->layers);
        add_backward(m, 0, f->layers);
    }
    add_update(m);
}

// --- pipelines ----------------------------------------------------------------------------------------------------

static uint32_t microbatches_of(const struct weft__simai *f) {
    return f->ga ? (uint32_t)f->ga : 1;
}

static void take_range(struct weft_job_stage *stage, struct range range) {
    for (uint32_t op = range.first; op < range.end; op++)
        weft__pipeline_take_turn(stage, op, WEFT_TURN_WHOLE);
}

static void take_work(void *context, struct weft_job_stage *stage, struct weft__pass pass) {
    const struct maker *m = context;
    take_range(stage, m->pass[pass.backward][pass.microbatch]);
}

/// The transfers between stages, for all microbatches; returns the first operation.
static uint32_t add_hops(struct maker *m, bool backward) {
    uint32_t first = m->job->ops;
    for (uint32_t i = 0; i < microbatches_of(m->file); i++) {
        struct weft_job_op *op = &m->job->op[m->job->ops++];
        weft__job_collective(m->job, m->topology, &m->conf->pp_comm, m->groups.stages, m->groups.stage_stride,
                             m->file->pp_bytes, op);
        op->shape.wanted = WEFT_GOAL_NEXT;
        op->over = "pp";
        op->times = 1;
        op->reversed = backward;
    }
    return first;
}

static void add_pipeline(struct maker *m, struct weft_arena *arena) {
    const struct weft__simai *f = m->file;
    uint32_t microbatches = microbatches_of(f), behind = f->first + microbatches * f->block;
    struct weft__pipeline pipeline = {
        .stages = m->groups.stages, .microbatches = microbatches, .chunks = 1, .context = m, .take_work = take_work};
    struct range before = add_part(m, WEFT__SIMAI_FORWARD, 0, f->first);
    for (unsigned k = 0; k < 2; k++) {
        m->pass[k] = weft_arena_alloc(arena, microbatches, sizeof *m->pass[k]);
        for (uint32_t i = 0; i < microbatches; i++) {
            uint32_t first = f->first + i * f->block, end = first + f->block;
            m->pass[k][i] = k ? add_backward(m, first, end) : add_part(m, WEFT__SIMAI_FORWARD, first, end);
        }
        pipeline.hop[k] = add_hops(m, k);
    }
    struct range after = add_part(m, WEFT__SIMAI_FORWARD, behind, f->layers);
    add_backward(m, behind, f->layers);
    add_backward(m, 0, f->first);
    after.end = add_update(m).end;
    struct weft_job *job = m->job;
    job->stages = m->groups.stages;
    job->stage_stride = m->groups.stage_stride;
    job->stage = weft_arena_alloc(arena, job->stages, sizeof *job->stage);
    for (uint32_t s = 0; s < job->stages; s++) {
        job->stage[s].turn = weft_arena_alloc(arena, job->ops + 2 * (size_t)microbatches, sizeof *job->stage[s].turn);
        take_range(&job->stage[s], before);
    }
    weft__pipeline_take(&pipeline, job, arena);
    for (uint32_t s = 0; s < job->stages; s++)
        take_range(&job->stage[s], after);
}

// --- the workload -------------------------------------------------------------------------------------------------

static uint64_t count_ops(const struct weft__simai *f) {
    uint64_t ops = 3 * (uint64_t)f->layers + 1, since = 0;
    for (uint32_t i = 0; i < f->layers; i++) {
        since = f->layer[i].checkpoint ? 0 : since + 1;
        if (f->layer[i].initiates) ops += since;
    }
    return ops + (weft__simai_is_pipeline(f) ? 2 * (uint64_t)microbatches_of(f) : 0);
}

enum { OPS_MAX = 1 << 20, TURNS_MAX = 1 << 26 };

static enum weft_status check_size(const struct weft__simai *f, struct weft_place place, struct weft_error *ret_error) {
    uint64_t ops = count_ops(f), turns = weft__simai_is_pipeline(f) ? ops * f->pp : 0;
    if (ops > OPS_MAX)
        return WEFT_REFUSE(ret_error, place, "%" PRIu64 " operations an iteration; expected at most %d", ops, OPS_MAX);
    if (turns > TURNS_MAX)
        return WEFT_REFUSE(ret_error, place,
                           "%" PRIu64 " operations an iteration at %" PRIu64
                           " stages; expected a product of at most %d, or pipeline: off",
                           ops, f->pp, TURNS_MAX);
    return WEFT_OK;
}

static enum weft_status simai_schedule(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                       struct weft_workload *w, struct weft_error *ret_error) {
    struct simai_conf c = *(const struct simai_conf *)entry->conf;
    struct weft__simai file;
    char text[256];
    struct maker m = {.conf = entry->conf, .topology = topology, .file = &file};
    enum weft_status status =
        weft__simai_read(weft__path_beside(c.file, entry->place, w->arena), entry->place, w->arena, &file, ret_error);
    if (!c.pipeline) file.block = 0;
    if (!status) status = check_size(&file, entry->place, ret_error);
    if (!c.common.ranks) c.common.ranks = file.gpus;
    if (!status) status = weft__job_new(&c.common, entry, topology, (uint32_t)count_ops(&file), w, &m.job, ret_error);
    if (status) return status;
    const char *wrong = weft__simai_find_groups(&file, m.job->ranks, &m.groups, text, sizeof text);
    if (!wrong && weft__simai_is_pipeline(&file)) wrong = weft__pipeline_refuse(&c.pp_comm);
    if (wrong) return WEFT_REFUSE(ret_error, entry->place, "%s", wrong);
    if (weft__simai_is_pipeline(&file))
        add_pipeline(&m, w->arena);
    else
        add_ops(&m);
    if (!m.job->ops)
        return WEFT_REFUSE(ret_error, entry->place,
                           "nothing to do: no layer computes or talks in a group of more than one rank");
    m.job->iterations = (uint32_t)c.iterations;
    return weft__job_connect(&c.common, entry->place, topology, m.job, w, ret_error);
}

const struct weft_model weft__workload_simai =
    WEFT_MODEL_OF(WORKLOAD, "simai",
                  "a training job from the workload text of AICB and SimAI: layers with their compute and collectives",
                  "aliyun/aicb (SimAI_training_workload_generator.py) and aliyun/SimAI (astra-sim-alibabacloud, "
                  "Workload.cc, Layer.cc)",
                  &simai_params, &(const struct weft_workload_ops){.schedule = simai_schedule});
