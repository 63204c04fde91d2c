// SPDX-License-Identifier: Apache-2.0
// weft workload --nccl: what NCCL chooses, by size from 8 B to 8 GiB, for each operation of kind nccl, and the times of
// its model from which it chooses, like the table that NCCL_DEBUG_SUBSYS=TUNING writes.
#include <string.h>

#include "weft/nccl.h"
#include "weft/result.h"
#include "workload.h"

enum { SIZES = 31, SIZE_MIN = 8 };

struct choice_row {
    const char *group, *function, *algorithm, *protocol;
    uint32_t nodes, gpus, channels, peer_channels, threads;
    weft_bytes bytes, chunk_bytes;
    weft_time_ps time_ps, model_ps[WEFT_NCCL_ALGORITHMS][WEFT_NCCL_PROTOCOLS];
};
struct choices_view {
    const char *scenario, *variant;
    struct choice_row *row;
    uint32_t rows;
};

static const struct goal_name {
    const char *name;
    enum weft_nccl_function function; ///< WEFT_NCCL_FUNCTIONS: sends and receives
} goal_name[WEFT_GOALS] = {
    [WEFT_GOAL_ALL_REDUCE] = {"all_reduce", WEFT_NCCL_ALL_REDUCE},
    [WEFT_GOAL_REDUCE_SCATTER] = {"reduce_scatter", WEFT_NCCL_REDUCE_SCATTER},
    [WEFT_GOAL_ALL_GATHER] = {"all_gather", WEFT_NCCL_ALL_GATHER},
    [WEFT_GOAL_BROADCAST] = {"broadcast", WEFT_NCCL_BROADCAST},
    [WEFT_GOAL_REDUCE] = {"reduce", WEFT_NCCL_REDUCE},
    [WEFT_GOAL_EXCHANGE] = {"all_to_all", WEFT_NCCL_FUNCTIONS},
    [WEFT_GOAL_NEXT] = {"send_recv", WEFT_NCCL_FUNCTIONS},
};

static weft_time_ps as_time(double us) {
    return us < 0 ? WEFT_TIME_NEVER : weft_time_of_real(us * 1e6);
}

static void fill_exchange(const struct weft_nccl_machine *m, bool all, struct choice_row *row) {
    uint32_t ranks = m->nodes * m->gpus;
    struct weft_nccl_exchange x = weft_nccl_exchange(m, all ? ranks - 1 : 1, all ? row->bytes / ranks : row->bytes);
    row->algorithm = "send and receive";
    row->protocol = weft_nccl_protocol_names[x.protocol];
    row->channels = x.channels;
    row->peer_channels = x.peer_channels;
    row->chunk_bytes = x.chunk_bytes;
}

static void fill_row(const struct weft_nccl_machine *m, enum weft_collective_goal goal, struct choice_row *row) {
    enum weft_nccl_function f = goal_name[goal].function;
    struct weft_nccl_choice choice;
    row->function = goal_name[goal].name;
    row->nodes = m->nodes;
    row->gpus = m->gpus;
    row->threads = row->peer_channels = WEFT_NONE;
    row->time_ps = WEFT_TIME_NEVER;
    memset(row->model_ps, 0xff, sizeof row->model_ps); // WEFT_TIME_NEVER
    if (f == WEFT_NCCL_FUNCTIONS) {
        fill_exchange(m, goal == WEFT_GOAL_EXCHANGE, row);
        return;
    }
    for (uint32_t a = 0; a < WEFT_NCCL_ALGORITHMS; a++)
        for (uint32_t p = 0; p < WEFT_NCCL_PROTOCOLS; p++)
            row->model_ps[a][p] = as_time(weft_nccl_time(m, f, a, p, row->bytes));
    if (!weft_nccl_choose(m, f, row->bytes, &choice)) return;
    row->algorithm = weft_nccl_algorithm_names[choice.algorithm];
    row->protocol = weft_nccl_protocol_names[choice.protocol];
    row->channels = choice.channels;
    row->threads = choice.threads;
    row->chunk_bytes = choice.chunk_bytes;
    row->time_ps = as_time(choice.time_us);
}

/// Whether an earlier operation of the job has the same rows.
static bool is_shown(const struct weft_job *job, uint32_t i) {
    const struct weft_job_op *op = &job->op[i];
    for (uint32_t k = 0; k < i; k++) {
        const struct weft_job_op *other = &job->op[k];
        if (other->name && other->shape.machine && other->goal == op->goal &&
            !memcmp(other->shape.machine, op->shape.machine, sizeof *op->shape.machine))
            return true;
    }
    return false;
}

static void add_rows(const struct weft_workload *w, const struct weft_job *job, const struct weft_job_op *op,
                     struct choices_view *v, struct weft_arena *arena) {
    struct choice_row *rows = weft_arena_alloc(arena, v->rows + SIZES, sizeof *rows);
    if (v->rows) memcpy(rows, v->row, v->rows * sizeof *rows);
    v->row = rows;
    for (uint32_t k = 0; k < SIZES; k++) {
        struct choice_row *row = &v->row[v->rows++];
        *row = (struct choice_row){.group = w->group[job->group], .bytes = (weft_bytes)SIZE_MIN << k};
        fill_row(op->shape.machine, op->goal, row);
    }
}

#define CHOICE(field, key, kind, ...) WEFT_RESULT_NAMED(struct choice_row, field, key, kind, __VA_ARGS__)
#define MODEL(a, p, key)                                                                                               \
    CHOICE(model_ps[WEFT_NCCL_##a][WEFT_NCCL_##p], key "_ps", TIME, "time by NCCL's model of " key, .title = key)
static const struct weft_result_table view_table =
    WEFT_RESULT_TABLE_OF("nccl", OBJECT, "what NCCL chooses", WEFT_RESULT_SUBJECT,
                         WEFT_RESULT(struct choices_view, scenario, TEXT, "name of the scenario"),
                         WEFT_RESULT(struct choices_view, variant, TEXT, "name of the variant"));
static const struct weft_result_table choices_table = WEFT_RESULT_TABLE_OF(
    "choices", LIST, "a size of an operation of kind nccl", WEFT_RESULT_EACH(struct choices_view, row, rows),
    CHOICE(group, "group", TEXT, "name of the job", .flags = WEFT_RESULT_KEY, .title = "group"),
    CHOICE(function, "function", TEXT, "function that is called", .flags = WEFT_RESULT_KEY, .title = "function"),
    CHOICE(nodes, "nodes", COUNT, "servers of the group", .flags = WEFT_RESULT_KEY, .title = "nodes"),
    CHOICE(gpus, "gpus", COUNT, "GPUs of a server", .flags = WEFT_RESULT_KEY, .title = "gpus"),
    CHOICE(bytes, "bytes", BYTES, "size as nccl-tests counts it", .flags = WEFT_RESULT_KEY, .title = "size"),
    CHOICE(algorithm, "algorithm", TEXT, "algorithm that NCCL chooses; null: nothing is possible",
           .title = "algorithm"),
    CHOICE(protocol, "protocol", TEXT, "protocol: ll, ll128 or simple", .title = "protocol"),
    CHOICE(channels, "channels", COUNT, "channels in use", .title = "channels"),
    CHOICE(peer_channels, "peer_channels", COUNT, "channels for the data of a peer; null: an algorithm has none",
           .title = "a peer"),
    CHOICE(threads, "threads", COUNT, "threads of a channel", .title = "threads"),
    CHOICE(chunk_bytes, "chunk_bytes", BYTES, "data that a channel works on at once", .title = "chunk"),
    CHOICE(time_ps, "time_ps", TIME, "time of the choice by NCCL's model; a run of weft has another", .title = "time"),
    MODEL(TREE, LL, "tree_ll"), MODEL(TREE, LL128, "tree_ll128"), MODEL(TREE, SIMPLE, "tree_simple"),
    MODEL(RING, LL, "ring_ll"), MODEL(RING, LL128, "ring_ll128"), MODEL(RING, SIMPLE, "ring_simple"),
    MODEL(NVLS, SIMPLE, "nvls_simple"), MODEL(NVLS_TREE, SIMPLE, "nvlstree_simple"), MODEL(PAT, SIMPLE, "pat_simple"));
const struct weft_answer weft__answer_nccl =
    WEFT_ANSWER_OF("nccl", "weft workload --nccl: what NCCL chooses for a scenario's collectives, by size", &view_table,
                   &choices_table);

static void print_choices(FILE *file, const void *subject) {
    weft_answer_text_table(file, &weft__answer_nccl, &choices_table, subject);
}

enum weft_status weft_cli_workload_nccl(const struct weft_workload *w, const struct weft_scenario *s,
                                        const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct choices_view v = {.scenario = s->name, .variant = s->variant};
    for (uint32_t j = 0; j < w->jobs; j++)
        for (uint32_t i = 0; i < w->job[j].ops; i++) {
            const struct weft_job_op *op = &w->job[j].op[i];
            bool chosen = op->name && op->shape.machine && op->shape.machine->nodes;
            if (chosen && goal_name[op->goal].name && !is_shown(&w->job[j], i))
                add_rows(w, &w->job[j], op, &v, o->arena);
        }
    if (!v.rows)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = s->path},
                           "no operation asks NCCL; expected collective: {kind: nccl} without a file");
    return weft_cli_answer(o, &weft__answer_nccl, &v, print_choices, ret_error);
}
