// SPDX-License-Identifier: Apache-2.0
// weft workload --plan: what jobs by model and plan send along each dimension, and how long a step takes without a
// network, at the full rate of each.
#include "weft/training.h"

#include "weft/result.h"
#include "workload.h"

struct plan_row {
    const char *group;
    const struct weft_training *t;
};
struct plan_view {
    const char *scenario, *variant;
    struct plan_row *row;
    uint32_t rows;
};

/// The rows of all jobs, one after another.
static bool next_traffic(struct weft_result_cursor *c) {
    const struct plan_view *v = c->subject;
    uint64_t at = c->at++;
    for (uint32_t k = 0; k < v->rows; at -= v->row[k++].t->traffics)
        if (at < v->row[k].t->traffics) {
            c->part[0] = &v->row[k].t->traffic[at];
            c->part[1] = &v->row[k];
            return true;
        }
    return false;
}

static bool next_job(struct weft_result_cursor *c) {
    const struct plan_view *v = c->subject;
    if (c->at == v->rows) return false;
    c->part[1] = &v->row[c->at];
    c->part[0] = v->row[c->at++].t;
    return true;
}

#define JOB(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_training, field, key, kind, __VA_ARGS__)
#define TRAFFIC(field, kind, ...) WEFT_RESULT(struct weft_training_traffic, field, kind, __VA_ARGS__)
#define GROUP                                                                                                          \
    WEFT_RESULT_AT(1, struct plan_row, group, "group", TEXT, "name of the job", .flags = WEFT_RESULT_KEY,              \
                   .title = "group")
static const struct weft_result_table view_table =
    WEFT_RESULT_TABLE_OF("plan", OBJECT, "jobs by model and plan", WEFT_RESULT_SUBJECT,
                         WEFT_RESULT(struct plan_view, scenario, TEXT, "name of the scenario"),
                         WEFT_RESULT(struct plan_view, variant, TEXT, "name of the variant"));
static const struct weft_result_table jobs_table = WEFT_RESULT_TABLE_OF(
    "jobs", LIST, "a job by model and plan", WEFT_RESULT_AND(.next = next_job), GROUP,
    JOB(model.kind, "model", TEXT, "model by name, or own", .title = "model"),
    JOB(plan.kind, "plan", TEXT, "published plan by name, or own", .title = "plan"),
    JOB(gpus, "gpus", COUNT, "GPUs of the job", .title = "GPUs"),
    JOB(plan.tp, "tp", COUNT, "ranks of tensor parallelism", .title = "tp"),
    JOB(plan.cp, "cp", COUNT, "ranks of context parallelism", .title = "cp"),
    JOB(plan.pp, "pp", COUNT, "stages of the pipeline", .title = "pp"),
    JOB(plan.dp, "dp", COUNT, "replicas", .title = "dp"),
    JOB(plan.ep, "ep", COUNT, "replicas that share experts", .title = "ep"),
    JOB(plan.chunks, "chunks", COUNT, "chunks of layers of a stage"),
    JOB(microbatches, "microbatches", COUNT, "microbatches of a replica in a step", .title = "microbatches"),
    JOB(plan.batch, "batch", COUNT, "sequences of a step"),
    JOB(plan.sequence, "sequence", COUNT, "tokens of a sequence"),
    JOB(parameters, "parameters", REAL, "parameters of the model"),
    JOB(active_parameters, "active_parameters", REAL, "parameters of the model that a token uses"),
    JOB(gpu_parameters, "gpu_parameters", REAL, "parameters of a GPU, the mean over stages"),
    JOB(flops, "flops", REAL, "floating-point operations of a GPU in a step, with recomputation"),
    JOB(plan.peak, "peak_tflops", REAL, "peak of a GPU in TFLOP/s"),
    JOB(plan.efficiency, "efficiency", REAL, "part of the peak that kernels reach apart from communication"),
    JOB(compute_ps, "compute_ps", TIME, "time that the busiest stage computes in a step", .title = "compute"),
    JOB(layer_ps, "layer_ps", TIME, "time of that stage for communication within its passes, which nothing hides",
        .title = "in layers"),
    JOB(bubble_ps, "bubble_ps", TIME, "time that the schedule of the pipeline adds", .title = "bubble"),
    JOB(exposed_ps, "exposed_ps", TIME,
        "time that gathering parameters, reducing gradients, and filling and draining the pipeline add",
        .title = "exposed"),
    JOB(iteration_ps, "iteration_ps", TIME, "time of a step: the sum of these four", .title = "iteration"),
    JOB(tflops, "tflops", REAL, "TFLOP/s of a GPU in that time, with recomputation", .title = "TFLOP/s"),
    JOB(mfu, "mfu", REAL, "part of the peak in that time, without recomputation (MFU)", .title = "MFU"));
static const struct weft_result_table traffic_table = WEFT_RESULT_TABLE_OF(
    "traffic", LIST, "what a GPU of a job sends in a step for one purpose", WEFT_RESULT_AND(.next = next_traffic),
    GROUP, TRAFFIC(dimension, TEXT, "dimension of the groups", .flags = WEFT_RESULT_KEY, .title = "dimension"),
    TRAFFIC(purpose, TEXT, "data that are sent", .flags = WEFT_RESULT_KEY, .title = "purpose"),
    TRAFFIC(ranks, COUNT, "ranks of a group", .flags = WEFT_RESULT_KEY, .title = "ranks"),
    TRAFFIC(collective, TEXT, "collective among them", .title = "collective"),
    TRAFFIC(in_server, BOOL, "true: every group is within a server"),
    TRAFFIC(size_bytes, BYTES, "size of one collective as nccl-tests counts it", .title = "size"),
    TRAFFIC(times, REAL, "collectives of a GPU in a step, the mean over stages", .title = "times"),
    TRAFFIC(bytes, BYTES, "bytes that a GPU sends in a step, the mean over stages", .title = "sent"),
    TRAFFIC(rate_bps, RATE, "rate of a GPU: within its server, or of its NIC", .title = "rate"),
    TRAFFIC(time_ps, TIME, "time at that rate; of an all-to-all of several servers for what leaves its server",
            .title = "time"),
    TRAFFIC(exposed_ps, TIME, "part of that time that no compute hides", .title = "exposed"));
const struct weft_answer weft__answer_training =
    WEFT_ANSWER_OF("training", "weft workload --plan: what training jobs by model and plan send and compute",
                   &view_table, &jobs_table, &traffic_table);

static void print_text(FILE *file, const void *subject) {
    weft_answer_text_table(file, &weft__answer_training, &jobs_table, subject);
    putc('\n', file);
    weft_answer_text_table(file, &weft__answer_training, &traffic_table, subject);
}

enum weft_status weft_cli_workload_plan(const struct weft_workload *w, const struct weft_scenario *s,
                                        const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct plan_view v = {
        .scenario = s->name, .variant = s->variant, .row = weft_arena_alloc(arena, w->jobs, sizeof *v.row)};
    for (uint32_t j = 0; j < w->jobs; j++)
        if (w->job[j].training) v.row[v.rows++] = (struct plan_row){w->group[w->job[j].group], w->job[j].training};
    enum weft_status status =
        v.rows ? weft_cli_answer(o, &weft__answer_training, &v, print_text, ret_error)
               : WEFT_REFUSE(ret_error, (struct weft_place){.file = s->path},
                             "--plan: no job has a model; expected one such as {kind: job, model: llama3-405b, gpus: "
                             "16384, plan: published}");
    weft_arena_free(arena);
    return status;
}
