// SPDX-License-Identifier: Apache-2.0
// A job's collectives as recorded by NCCL's inspector (import/inspector/inspector.h), repeated on a network known to
// weft, with the measured time beside the predicted one.
//
// Collectives of a communicator follow in the order of their sequence numbers, each when the previous one is done:
// computation in between is not in the file. The time of a collective is the mean over the ranks that recorded one. The
// size of an AllGather or ReduceScatter is that of a rank's part if the bus bandwidth beside it says so, or is missing,
// and otherwise that of all.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/lines.h"
#include "base/param.h"
#include "import/inspector/inspector.h"
#include "topology/builder.h"
#include "weft/import.h"
#include "weft/param.h"
#include "workload/job.h"

enum { OPS_MAX = 1 << 16 };

static const char source[] = "NVIDIA/nccl, plugins/profiler/inspector; sizes and bandwidths as in nccl-tests";

// --- collectives --------------------------------------------------------------------------------------------------

/// The end of the communicator of record `from`.
static uint32_t communicator_end(const struct weft__inspector_log *log, uint32_t from) {
    uint32_t to = from;
    while (to < log->n && !strcmp(log->record[to].id, log->record[from].id))
        to++;
    return to;
}

/// Records [*ret_from, *ret_to) of a communicator; "" means the only one.
static enum weft_status find_communicator(const struct weft__inspector_log *log, const char *id,
                                          struct weft_place place, uint32_t *ret_from, uint32_t *ret_to,
                                          struct weft_error *ret_error) {
    uint32_t from = 0;
    while (from < log->n && *id && strcmp(log->record[from].id, id))
        from++;
    if (from == log->n)
        return WEFT_REFUSE(ret_error, place, "communicator '%s' is not in the file; expected '%s', ...", id,
                           log->record[0].id);
    uint32_t to = communicator_end(log, from);
    if (!*id && to < log->n)
        return WEFT_REFUSE(ret_error, place,
                           "the file has several communicators, '%s' and '%s'; expected 'communicator' to say which",
                           log->record[0].id, log->record[to].id);
    *ret_from = from;
    *ret_to = to;
    return WEFT_OK;
}

struct inspector_conf {
    struct weft__job_common common;
    const char *file, *communicator;
    struct weft_model_conf collective[WEFT__INSPECTOR_COLLS];
};
static const struct weft_param_table inspector_params = WEFT_PARAM_TABLE_OF(
    "inspector", struct inspector_conf, WEFT_PARAM_UNCHECKED, WEFT__JOB_ROWS(struct inspector_conf, "job"),
    WEFT_TEXT(
        struct inspector_conf, file, "file", NULL,
        "the inspector's log; relative to the scenario. Several files, joined by commas or as a list, are one log"),
    WEFT_TEXT(struct inspector_conf, communicator, "communicator", "",
              "id of the communicator; empty: the only one of the file"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[WEFT__INSPECTOR_ALL_REDUCE], "all_reduce", WEFT_KIND_COLLECTIVE,
                     "all_reduce_ring", "the algorithm of AllReduce"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[WEFT__INSPECTOR_ALL_GATHER], "all_gather", WEFT_KIND_COLLECTIVE,
                     "all_gather", "the algorithm of AllGather"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[WEFT__INSPECTOR_REDUCE_SCATTER], "reduce_scatter",
                     WEFT_KIND_COLLECTIVE, "reduce_scatter", "the algorithm of ReduceScatter"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[WEFT__INSPECTOR_ALL_TO_ALL], "all_to_all", WEFT_KIND_COLLECTIVE,
                     "all_to_all", "the algorithm of AllToAll"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[WEFT__INSPECTOR_BROADCAST], "broadcast", WEFT_KIND_COLLECTIVE,
                     "broadcast", "the algorithm of Broadcast"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[WEFT__INSPECTOR_REDUCE], "reduce", WEFT_KIND_COLLECTIVE,
                     "reduce", "the algorithm of Reduce"));

/// Equal consecutive operations are reported as one, with the mean of the measurements.
static const enum weft_collective_goal goals[WEFT__INSPECTOR_COLLS] = {
    [WEFT__INSPECTOR_ALL_REDUCE] = WEFT_GOAL_ALL_REDUCE,         [WEFT__INSPECTOR_ALL_GATHER] = WEFT_GOAL_ALL_GATHER,
    [WEFT__INSPECTOR_REDUCE_SCATTER] = WEFT_GOAL_REDUCE_SCATTER, [WEFT__INSPECTOR_ALL_TO_ALL] = WEFT_GOAL_EXCHANGE,
    [WEFT__INSPECTOR_BROADCAST] = WEFT_GOAL_BROADCAST,           [WEFT__INSPECTOR_REDUCE] = WEFT_GOAL_REDUCE};

static void add_op(const struct inspector_conf *c, const struct weft_topology *topology,
                   const struct weft__inspector_measured *m, struct weft_job *job, uint32_t *first, double *sum_us) {
    struct weft_job_op *op = &job->op[job->ops++];
    weft__job_collective(job, topology, &c->collective[m->coll], job->ranks, 1, m->bytes, op);
    op->shape.wanted = goals[m->coll];
    const struct weft_job_op *before = *first == WEFT_NONE ? NULL : &job->op[*first];
    if (!before || before->ops != op->ops || before->shape.bytes != op->shape.bytes) {
        *first = job->ops - 1;
        *sum_us = 0;
    }
    struct weft_job_op *reported = &job->op[*first];
    *sum_us += m->time_us;
    reported->times++;
    reported->measured_ps = (weft_time_ps)llround(*sum_us / reported->times * (double)WEFT_PS_PER_US);
}

static enum weft_status read_files(const char *files, struct weft_place place, struct weft__inspector_log *log,
                                   struct weft_error *ret_error) {
    char *item = weft_arena_alloc(log->arena, strlen(files) + 1, 1);
    while (weft__choice_next(&files, item))
        WEFT_TRY(weft__inspector_read(weft__path_beside(item, place, log->arena), place, log, ret_error));
    return weft__inspector_sort(log, place, ret_error);
}

static enum weft_status inspector_schedule(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                           struct weft_workload *w, struct weft_error *ret_error) {
    struct inspector_conf c = *(const struct inspector_conf *)entry->conf;
    struct weft__inspector_log log = {.arena = w->arena};
    struct weft_job *job;
    uint32_t at = 0, to = 0, first = WEFT_NONE;
    double sum_us = 0;
    WEFT_TRY(read_files(c.file, entry->place, &log, ret_error));
    WEFT_TRY(find_communicator(&log, c.communicator, entry->place, &at, &to, ret_error));
    if (!c.common.ranks) c.common.ranks = log.record[at].ranks;
    uint32_t most = to - at < OPS_MAX ? to - at : OPS_MAX;
    WEFT_TRY(weft__job_new(&c.common, entry, topology, most, w, &job, ret_error));
    while (at < to) {
        struct weft__inspector_measured m;
        struct weft_place place = log.record[at].place;
        WEFT_TRY(weft__inspector_next(&log, &at, &m, ret_error));
        if (job->ops == most) return WEFT_REFUSE(ret_error, place, "expected at most %d collectives", OPS_MAX);
        add_op(&c, topology, &m, job, &first, &sum_us);
    }
    job->iterations = 1;
    return weft__job_connect(&c.common, entry->place, topology, job, w, ret_error);
}

const struct weft_model weft__workload_inspector = WEFT_MODEL_OF(
    WORKLOAD, "inspector", "collectives that NCCL's inspector measured, done again: predicted beside measured", source,
    &inspector_params, &(const struct weft_workload_ops){.schedule = inspector_schedule});

// --- import -------------------------------------------------------------------------------------------------------

static const char *inspector_recognise(const struct weft_import_file *file) {
    static const char *const records[] = {"\"coll_perf\"", "\"coll_exec_time_us\"", "\"p2p_perf\"", "\"dump_stats\""};
    bool known = false;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        known |= strstr(file->head, records[i]) != NULL;
    return known && file->head[strspn(file->head, " \t\r\n")] == '{' ? "log" : NULL;
}

/// The files that contain records [from, to), as named in a scenario.
static void say_files(const struct weft_import_file *file, uint32_t files, const struct weft__inspector_log *log,
                      uint32_t from, uint32_t to, struct weft_import *import) {
    bool *has = weft_arena_alloc(weft_import_arena(import), files, sizeof *has);
    for (uint32_t i = from; i < to; i++)
        has[log->record[i].file] = true;
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  file: ");
    for (uint32_t f = 0, said = 0; f < files; f++)
        if (has[f])
            weft_import_say(import, WEFT_IMPORT_WORKLOAD, "%s%s",
                            said++      ? ", "
                            : files > 1 ? "["
                                        : "",
                            weft_import_quote(import, file[f].written));
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, files > 1 ? "]\n" : "\n");
}

/// For the communicator of records [from, to).
static void say_communicator(const struct weft_import_file *file, uint32_t files, const struct weft__inspector_log *log,
                             uint32_t from, uint32_t to, uint32_t number, struct weft_import *import) {
    const struct weft__inspector_record *r = &log->record[from];
    uint32_t gpus = r->nodes && r->ranks % r->nodes == 0 ? r->ranks / r->nodes : 1;
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: inspector\n");
    say_files(file, files, log, from, to, import);
    if (from || to < log->n)
        weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  communicator: %s\n  group: job-%" PRIu32 "\n",
                        weft_import_quote(import, r->id), number);
    if (gpus > 1) weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  server: {gpus: %" PRIu32 "}\n", gpus);
    weft_import_note(import, WEFT_IMPORT_FOUND, "communicator %s: %" PRIu32 " ranks in %" PRIu32 " servers",
                     *r->id ? r->id : "(without id)", r->ranks, r->nodes);
}

/// An error if the ranks of a communicator disagree.
static enum weft_status check_communicator(const struct weft__inspector_log *log, uint32_t from, uint32_t to,
                                           struct weft_error *ret_error) {
    const struct weft__lines lines = {.place = log->record[from].place};
    WEFT_TRY(weft__lines_name(&lines, log->record[from].id, ret_error));
    struct weft__inspector_measured m;
    while (from < to)
        WEFT_TRY(weft__inspector_next(log, &from, &m, ret_error));
    return WEFT_OK;
}

static enum weft_status inspector_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                       struct weft_import *import, struct weft_error *ret_error) {
    struct weft__inspector_log log = {.arena = weft_import_arena(import)};
    uint32_t hosts = 0, communicators = 0;
    enum weft_status status = WEFT_OK;
    for (uint32_t f = 0; f < files && !status; f++)
        status = weft__inspector_read(file[f].path, WEFT_NOWHERE, &log, ret_error);
    if (!status)
        status =
            weft__inspector_sort(&log, (struct weft_place){.file = file[0].path, .line = 1, .column = 1}, ret_error);
    for (uint32_t from = 0, to; from < log.n && !status; from = to) {
        to = communicator_end(&log, from);
        WEFT_TRY(check_communicator(&log, from, to, ret_error));
        say_communicator(file, files, &log, from, to, communicators++, import);
        hosts += log.record[from].ranks;
    }
    if (status) return status;
    weft_import_need_hosts(import, hosts);
    weft_import_note(import, WEFT_IMPORT_ASSUMED,
                     "no time between collectives: what was computed there is not in the file");
    if (communicators > 1)
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "communicators have hosts of their own, and run side by side");
    if (log.messages)
        weft_import_note(import, WEFT_IMPORT_LOST, "%" PRIu64 " sends and receives (p2p_perf)", log.messages);
    return WEFT_OK;
}

const struct weft_model weft__import_inspector = WEFT_MODEL_OF(
    IMPORT, "inspector", "lines of JSON that NCCL's inspector writes: collectives with their measured times", source,
    &weft_import_table,
    &(const struct weft_import_ops){
        .recognise = inspector_recognise,
        .make = inspector_make,
        .syntax = WEFT_IMPORT_JSON,
        .begins = "objects with coll_perf, p2p_perf or dump_stats",
    });
