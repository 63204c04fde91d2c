// SPDX-License-Identifier: Apache-2.0
// What NCCL's inspector wrote of a job's collectives, done again on a network that weft knows, with the measured time
// beside the predicted one. Source: plugins/profiler/inspector of NVIDIA/nccl: a line of JSON a rank and collective,
// with coll, coll_sn, coll_msg_size_bytes, coll_exec_time_us, coll_busbw_gbs, n_ranks, nnodes and the communicator's
// id.
//
// Collectives of a communicator come in the order of their sequence numbers, one when the one before is done: what was
// computed in between is not in the file. The time of a collective is the mean over the ranks that wrote one. The size
// of an AllGather or ReduceScatter is that of a rank's part if the bus bandwidth beside it says so, or none is there,
// and else that of all.
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "base/param.h"
#include "weft/import.h"
#include "workload/job.h"

static const char source[] = "NVIDIA/nccl, plugins/profiler/inspector; sizes and bandwidths as in nccl-tests";

enum coll { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, BROADCAST, REDUCE, COLLS };
static const char *const colls[COLLS] = {"AllReduce", "AllGather", "ReduceScatter", "AllToAll", "Broadcast", "Reduce"};
enum { RECORDS_MAX = 1 << 24, OPS_MAX = 1 << 16, ID_BYTES = 32, RANKS_MAX = 1 << 20 };

/// A line.
struct record {
    char id[ID_BYTES]; ///< of its communicator
    uint64_t number;
    weft_bytes bytes;
    double time_us, busbw;
    uint32_t ranks, nodes;
    uint8_t coll;
    struct weft_place place;
};

struct log {
    uint32_t n, room;
    struct record *record;
    struct weft_arena *arena;
};

// --- reading ------------------------------------------------------------------------------------------------------

/// A key of the object, or of an object in it: versions differ in what is nested where.
static const json_t *find(const json_t *object, const char *key) {
    const json_t *found = json_object_get(object, key), *value;
    const char *name;
    json_t *whole = (json_t *)(uintptr_t)object;
    json_object_foreach(whole, name, value) {
        if (found) break;
        if (json_is_object(value)) found = json_object_get(value, key);
    }
    return found;
}

static enum weft_status read_number(const struct weft__lines *lines, const json_t *object, const char *key, double min,
                                    double max, double *ret_value, struct weft_error *ret_error) {
    const json_t *value = find(object, key);
    *ret_value = json_is_number(value) ? json_number_value(value) : NAN;
    if (*ret_value >= min && *ret_value <= max) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, lines->place, "%s: expected a number from %g to %g", key, min,
                          max);
}

static enum weft_status read_record(const struct weft__lines *lines, const json_t *object, struct record *r,
                                    struct weft_error *ret_error) {
    const char *coll = json_string_value(find(object, "coll")), *id = json_string_value(find(object, "id"));
    double number, bytes, ranks, nodes = 1;
    *r = (struct record){.place = lines->place, .busbw = NAN};
    while (r->coll < COLLS && (!coll || strcmp(coll, colls[r->coll])))
        r->coll++;
    if (r->coll == COLLS)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, lines->place,
                              "coll is '%.40s'; expected AllReduce, AllGather, ReduceScatter, AllToAll or Broadcast",
                              coll ? coll : "missing");
    snprintf(r->id, sizeof r->id, "%s", id ? id : "");
    enum weft_status status = read_number(lines, object, "coll_sn", 0, 1e15, &number, ret_error);
    if (!status) status = read_number(lines, object, "coll_msg_size_bytes", 1, 1e12, &bytes, ret_error);
    if (!status) status = read_number(lines, object, "coll_exec_time_us", 1e-3, 1e9, &r->time_us, ret_error);
    if (!status) status = read_number(lines, object, "n_ranks", 1, RANKS_MAX, &ranks, ret_error);
    if (!status && find(object, "nnodes"))
        status = read_number(lines, object, "nnodes", 1, RANKS_MAX, &nodes, ret_error);
    if (!status && find(object, "coll_busbw_gbs"))
        status = read_number(lines, object, "coll_busbw_gbs", 0, 1e9, &r->busbw, ret_error);
    if (status) return status;
    r->number = (uint64_t)number;
    r->bytes = (weft_bytes)bytes;
    r->ranks = (uint32_t)ranks;
    r->nodes = (uint32_t)nodes;
    return WEFT_OK;
}

static enum weft_status add_line(struct weft__lines *lines, struct log *log, struct weft_error *ret_error) {
    json_error_t why;
    if (!lines->at[strspn(lines->at, " \t")]) return WEFT_OK;
    if (log->n == RECORDS_MAX)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, lines->place, "expected at most %d lines", RECORDS_MAX);
    json_t *object = json_loads(lines->at, 0, &why);
    if (!json_is_object(object)) {
        json_decref(object);
        lines->place.column = object || why.column < 1 ? 1 : why.column;
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, lines->place, "%s; expected an object of JSON",
                              object ? "no object" : why.text);
    }
    if (log->n == log->room) {
        uint32_t room = log->room ? 2 * log->room : 256;
        struct record *record = weft_arena_alloc(log->arena, room, sizeof *record);
        if (log->n) memcpy(record, log->record, log->n * sizeof *record);
        log->record = record;
        log->room = room;
    }
    enum weft_status status = read_record(lines, object, &log->record[log->n], ret_error);
    json_decref(object);
    log->n += !status;
    return status;
}

static int by_number(const void *a, const void *b) {
    const struct record *x = a, *y = b;
    int order = strcmp(x->id, y->id);
    return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

/// All records, sorted by communicator and number.
static enum weft_status read_log(const char *path, struct weft_place place, struct log *log,
                                 struct weft_error *ret_error) {
    struct weft__lines lines;
    enum weft_status status = weft__lines_open(&lines, path, place, ret_error);
    if (status) return status;
    for (bool more = true; more && !status;) {
        status = weft__lines_next(&lines, &more, ret_error);
        if (!status && more) status = add_line(&lines, log, ret_error);
    }
    weft__lines_close(&lines);
    if (!status && !log->n)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){path, 1, 1},
                              "no collective is in it; expected a line of JSON for each");
    if (!status) qsort(log->record, log->n, sizeof *log->record, by_number);
    return status;
}

// --- collectives --------------------------------------------------------------------------------------------------

/// Those of a communicator with one number, by several ranks.
struct measured {
    weft_bytes bytes; ///< as nccl-tests has it
    double time_us;   ///< mean
    uint8_t coll;
};

static weft_bytes whole_bytes(const struct record *r) {
    bool of_parts = r->coll == ALL_GATHER || r->coll == REDUCE_SCATTER;
    if (!of_parts) return r->bytes;
    double factor = r->ranks > 1 ? (r->ranks - 1.0) / r->ranks : 1;
    double said = r->busbw * 1e9 * r->time_us * 1e-6 / factor, part = (double)r->bytes, all = part * r->ranks;
    bool is_all = r->busbw > 0 && fabs(said - part) < fabs(said - all);
    return is_all ? r->bytes : r->bytes * r->ranks;
}

/// From record *at on; *at moves behind the last of the number. An error if its ranks disagree.
static enum weft_status next_measured(const struct log *log, uint32_t *at, struct measured *ret,
                                      struct weft_error *ret_error) {
    const struct record *first = &log->record[*at], *r = first;
    double sum = 0;
    for (; r < log->record + log->n && !by_number(r, first); r++) {
        if (r->coll != first->coll || r->bytes != first->bytes || r->ranks != first->ranks)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, r->place,
                                  "collective %" PRIu64 " is %s of %" PRIu64 " bytes, on line %d %s of %" PRIu64
                                  "; expected the same at all ranks",
                                  r->number, colls[r->coll], r->bytes, first->place.line, colls[first->coll],
                                  first->bytes);
        sum += r->time_us;
    }
    *ret = (struct measured){whole_bytes(first), sum / (double)(r - first), first->coll};
    *at = (uint32_t)(r - log->record);
    return WEFT_OK;
}

/// Records [*ret_from, *ret_to) of a communicator; "" is the only one there is.
static enum weft_status find_communicator(const struct log *log, const char *id, struct weft_place place,
                                          uint32_t *ret_from, uint32_t *ret_to, struct weft_error *ret_error) {
    uint32_t from = 0;
    while (from < log->n && *id && strcmp(log->record[from].id, id))
        from++;
    if (from == log->n)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                              "communicator '%s' is not in the file; expected '%s', ...", id, log->record[0].id);
    uint32_t to = from;
    while (to < log->n && !strcmp(log->record[to].id, log->record[from].id))
        to++;
    if (!*id && to < log->n)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                              "the file has several communicators, '%s' and '%s'; expected 'communicator' to say which",
                              log->record[0].id, log->record[to].id);
    *ret_from = from;
    *ret_to = to;
    return WEFT_OK;
}

struct inspector_conf {
    struct weft__job_common common;
    const char *file, *communicator;
    struct weft_model_conf collective[COLLS];
};
static const struct weft_param inspector_rows[] = {
    WEFT__JOB_ROWS(struct inspector_conf, "job"),
    WEFT_TEXT(struct inspector_conf, file, "file", NULL, "the inspector's lines; relative to the scenario"),
    WEFT_TEXT(struct inspector_conf, communicator, "communicator", "", "its id; empty: the only one of the file"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[ALL_REDUCE], "all_reduce", WEFT_KIND_COLLECTIVE,
                     "all_reduce_ring", "the algorithm of AllReduce"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[ALL_GATHER], "all_gather", WEFT_KIND_COLLECTIVE, "all_gather",
                     "of AllGather"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[REDUCE_SCATTER], "reduce_scatter", WEFT_KIND_COLLECTIVE,
                     "reduce_scatter", "of ReduceScatter"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[ALL_TO_ALL], "all_to_all", WEFT_KIND_COLLECTIVE, "all_to_all",
                     "of AllToAll"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[BROADCAST], "broadcast", WEFT_KIND_COLLECTIVE, "broadcast",
                     "of Broadcast"),
    WEFT_MODEL_PARAM(struct inspector_conf, collective[REDUCE], "reduce", WEFT_KIND_COLLECTIVE, "reduce", "of Reduce"),
};
static const struct weft_param_table inspector_params =
    WEFT_PARAM_TABLE("inspector", struct inspector_conf, inspector_rows);

/// Equal ones after one another are reported as one, with the mean of what was measured.
static void add_op(const struct inspector_conf *c, const struct weft_topology *topology, const struct measured *m,
                   struct weft_job *job, uint32_t *first, double *sum_us) {
    struct weft_job_op *op = &job->op[job->ops++];
    weft__job_collective(job, topology, &c->collective[m->coll], job->ranks, 1, m->bytes, op);
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

static enum weft_status inspector_schedule(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                           struct weft_workload *w, struct weft_error *ret_error) {
    struct inspector_conf c = *(const struct inspector_conf *)entry->conf;
    struct log log = {.arena = w->arena};
    struct weft_job *job;
    uint32_t at = 0, to = 0, first = WEFT_NONE;
    double sum_us = 0;
    enum weft_status status =
        read_log(weft__path_beside(c.file, entry->place, w->arena), entry->place, &log, ret_error);
    if (!status) status = find_communicator(&log, c.communicator, entry->place, &at, &to, ret_error);
    if (status) return status;
    if (!c.common.ranks) c.common.ranks = log.record[at].ranks;
    uint32_t most = to - at < OPS_MAX ? to - at : OPS_MAX;
    status = weft__job_new(&c.common, entry, topology, most, w, &job, ret_error);
    while (!status && at < to) {
        struct measured m;
        struct weft_place place = log.record[at].place;
        status = next_measured(&log, &at, &m, ret_error);
        if (!status && job->ops == most)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, place, "expected at most %d collectives", OPS_MAX);
        if (!status) add_op(&c, topology, &m, job, &first, &sum_us);
    }
    if (status) return status;
    job->iterations = 1;
    return weft__job_connect(&c.common, entry->place, topology, job, w, ret_error);
}

static const struct weft_workload_ops inspector_ops = {.schedule = inspector_schedule};

const struct weft_model weft__workload_inspector = {
    .kind = WEFT_KIND_WORKLOAD,
    .name = "inspector",
    .summary = "collectives that NCCL's inspector measured, done again: predicted beside measured",
    .source = source,
    .params = &inspector_params,
    .ops = &inspector_ops,
};

// --- import -------------------------------------------------------------------------------------------------------

static const char *inspector_recognise(const struct weft_import_file *file) {
    size_t line = strcspn(file->head, "\n");
    const char *key = strstr(file->head, "\"coll_exec_time_us\"");
    return file->head[strspn(file->head, " \t\r\n")] == '{' && key && (size_t)(key - file->head) < line + 1 ? "log"
                                                                                                            : NULL;
}

static void say_communicator(const struct weft_import_file *file, const struct record *r, bool several, uint32_t start,
                             struct weft_import *import) {
    uint32_t gpus = r->nodes && r->ranks % r->nodes == 0 ? r->ranks / r->nodes : 1;
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: inspector\n  file: %s\n",
                    weft_import_quote(import, file->written));
    if (several)
        weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  communicator: %s\n  group: job-%" PRIu32 "\n",
                        weft_import_quote(import, r->id), start);
    if (gpus > 1) weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  server: {gpus: %" PRIu32 "}\n", gpus);
    weft_import_note(import, WEFT_IMPORT_FOUND, "communicator %s of %s: %" PRIu32 " ranks in %" PRIu32 " servers",
                     *r->id ? r->id : "(without id)", file->written, r->ranks, r->nodes);
}

static enum weft_status inspector_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                       struct weft_import *import, struct weft_error *ret_error) {
    struct log log = {.arena = weft_import_arena(import)};
    uint32_t hosts = 0, communicators = 0;
    enum weft_status status = weft_import_once(file, files, "log", ret_error);
    if (!status) status = read_log(file->path, WEFT_NOWHERE, &log, ret_error);
    if (status) return status;
    bool several = strcmp(log.record[0].id, log.record[log.n - 1].id) != 0;
    for (uint32_t i = 0; i < log.n && !status; i++) {
        struct measured m;
        uint32_t at = i;
        status = next_measured(&log, &at, &m, ret_error);
        bool begins = !i || strcmp(log.record[i].id, log.record[i - 1].id) != 0;
        if (!status &&
            weft__lines_name(&(struct weft__lines){.place = log.record[i].place}, log.record[i].id, ret_error))
            return WEFT_ERROR_INPUT;
        if (status || !begins) {
            i = at - 1;
            continue;
        }
        say_communicator(file, &log.record[i], several, communicators++, import);
        hosts += log.record[i].ranks;
        i = at - 1;
    }
    weft_import_need_hosts(import, hosts);
    weft_import_note(import, WEFT_IMPORT_ASSUMED,
                     "no time between collectives: what was computed there is not in the file");
    if (several)
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "communicators have hosts of their own, and run side by side");
    return status;
}

static const struct weft_import_ops import_ops = {inspector_recognise, inspector_make};

const struct weft_model weft__import_inspector = {
    .kind = WEFT_KIND_IMPORT,
    .name = "inspector",
    .summary = "lines of JSON that NCCL's inspector writes: collectives with their measured times",
    .source = source,
    .params = &weft_import_table,
    .ops = &import_ops,
};
