// SPDX-License-Identifier: Apache-2.0
// A sequence of JSON objects: collectives, messages, and information about later ones.
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json_read.h"
#include "base/lines.h"
#include "base/stream.h"
#include "import/inspector/inspector.h"

enum { RECORDS_MAX = 1 << 24, RANKS_MAX = 1 << 20, OBJECT_MAX = 1 << 20 };

const char *const weft__inspector_colls[WEFT__INSPECTOR_COLLS] = {"AllReduce", "AllGather", "ReduceScatter",
                                                                  "AllToAll",  "Broadcast", "Reduce"};

/// A file being read. `lines` opens and closes it and has the place of the current object.
struct reader {
    struct weft__lines lines;
    struct weft__inspector_record header; ///< id, ranks and nodes of the last object that gave them; ranks 0: none did
};

/// A key of the object, or of an object in it: versions differ in the nesting.
static const json_t *find_key(const json_t *object, const char *key) {
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
    const json_t *value = find_key(object, key);
    *ret_value = json_is_number(value) ? json_number_value(value) : NAN;
    if (*ret_value >= min && *ret_value <= max) return WEFT_OK;
    return WEFT_REFUSE(ret_error, lines->place, "%s: expected a number from %g to %g", key, min, max);
}

/// The object's information about its communicator, for itself and later ones.
static enum weft_status read_header(struct reader *r, const json_t *object, struct weft_error *ret_error) {
    const char *id = json_string_value(find_key(object, "id"));
    double ranks, nodes = 1, rank;
    WEFT_TRY(read_number(&r->lines, object, "n_ranks", 1, RANKS_MAX, &ranks, ret_error));
    if (find_key(object, "nnodes")) WEFT_TRY(read_number(&r->lines, object, "nnodes", 1, RANKS_MAX, &nodes, ret_error));
    if (find_key(object, "rank")) WEFT_TRY(read_number(&r->lines, object, "rank", 0, ranks - 1, &rank, ret_error));
    r->header = (struct weft__inspector_record){.ranks = (uint32_t)ranks, .nodes = (uint32_t)nodes};
    snprintf(r->header.id, sizeof r->header.id, "%s", id ? id : "");
    return WEFT_OK;
}

static enum weft_status read_collective(struct reader *r, const json_t *object, struct weft__inspector_record *ret,
                                        struct weft_error *ret_error) {
    const struct weft__lines *lines = &r->lines;
    const char *coll = json_string_value(find_key(object, "coll"));
    double number, bytes;
    *ret = r->header;
    ret->place = lines->place;
    ret->busbw = NAN;
    while (ret->coll < WEFT__INSPECTOR_COLLS && (!coll || strcmp(coll, weft__inspector_colls[ret->coll])))
        ret->coll++;
    if (ret->coll == WEFT__INSPECTOR_COLLS)
        return WEFT_REFUSE(ret_error, lines->place,
                           "coll is '%.40s'; expected AllReduce, AllGather, ReduceScatter, AllToAll, Broadcast or "
                           "Reduce",
                           coll ? coll : "missing");
    WEFT_TRY(read_number(lines, object, "coll_sn", 0, 1e15, &number, ret_error));
    WEFT_TRY(read_number(lines, object, "coll_msg_size_bytes", 1, 1e12, &bytes, ret_error));
    WEFT_TRY(read_number(lines, object, "coll_exec_time_us", 1e-3, 1e9, &ret->time_us, ret_error));
    if (find_key(object, "coll_busbw_gbs"))
        WEFT_TRY(read_number(lines, object, "coll_busbw_gbs", 0, 1e9, &ret->busbw, ret_error));
    if (!ret->ranks) return WEFT_REFUSE(ret_error, lines->place, "n_ranks: expected it in the collective or before it");
    ret->number = (uint64_t)number;
    ret->bytes = (weft_bytes)bytes;
    return WEFT_OK;
}

static enum weft_status read_object(struct reader *r, const json_t *object, struct weft__inspector_log *log,
                                    struct weft_error *ret_error) {
    enum weft_status status =
        find_key(object, "n_ranks") || find_key(object, "id") ? read_header(r, object, ret_error) : WEFT_OK;
    if (status) return status;
    if (find_key(object, "p2p")) {
        log->messages++;
        return WEFT_OK;
    }
    if (json_object_get(object, "dump_stats") && !find_key(object, "coll")) return WEFT_OK;
    if (log->n == RECORDS_MAX)
        return WEFT_REFUSE(ret_error, r->lines.place, "expected at most %d collectives", RECORDS_MAX);
    log->record = weft__arena_grow(log->arena, log->record, log->n, sizeof *log->record);
    struct weft__inspector_record *record = &log->record[log->n];
    status = read_collective(r, object, record, ret_error);
    record->file = log->files;
    log->n += !status;
    return status;
}

enum weft_status weft__inspector_read(const char *path, struct weft_place place, struct weft__inspector_log *log,
                                      struct weft_error *ret_error) {
    struct reader r = {0};
    struct weft_error why = {0};
    enum weft_status status = weft__lines_open(&r.lines, path, place, ret_error);
    if (status) return status;
    struct weft__json_objects objects = {.file = r.lines.file, .bytes_max = OBJECT_MAX, .at = {path, 1, 1}};
    for (json_t *object; !status && (object = weft__json_objects_next(&objects, &why));) {
        r.lines.place = objects.place;
        status = read_object(&r, object, log, ret_error);
        json_decref(object);
    }
    if (!status && ferror(r.lines.file))
        status = WEFT_REFUSE(ret_error, objects.at, "cannot be read: %s", weft__file_why(errno));
    if (!status && *why.text) {
        *ret_error = why;
        status = WEFT_ERROR_INPUT;
    }
    weft__lines_close(&r.lines);
    log->files++;
    return status;
}

int weft__inspector_order(const void *a, const void *b) {
    const struct weft__inspector_record *x = a, *y = b;
    int order = strcmp(x->id, y->id);
    return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

enum weft_status weft__inspector_sort(struct weft__inspector_log *log, struct weft_place place,
                                      struct weft_error *ret_error) {
    if (!log->n) return WEFT_REFUSE(ret_error, place, "no collective is in it; expected some");
    qsort(log->record, log->n, sizeof *log->record, weft__inspector_order);
    return WEFT_OK;
}

static weft_bytes whole_bytes(const struct weft__inspector_record *r) {
    bool of_parts = r->coll == WEFT__INSPECTOR_ALL_GATHER || r->coll == WEFT__INSPECTOR_REDUCE_SCATTER;
    if (!of_parts) return r->bytes;
    double factor = r->ranks > 1 ? (r->ranks - 1.0) / r->ranks : 1;
    double said = r->busbw * 1e9 * r->time_us * 1e-6 / factor, part = (double)r->bytes, all = part * r->ranks;
    bool is_all = r->busbw > 0 && fabs(said - part) < fabs(said - all);
    return is_all ? r->bytes : r->bytes * r->ranks;
}

enum weft_status weft__inspector_next(const struct weft__inspector_log *log, uint32_t *at,
                                      struct weft__inspector_measured *ret, struct weft_error *ret_error) {
    const struct weft__inspector_record *first = &log->record[*at], *r = first;
    double sum = 0;
    for (; r < log->record + log->n && !weft__inspector_order(r, first); r++) {
        if (r->coll != first->coll || r->bytes != first->bytes || r->ranks != first->ranks)
            return WEFT_REFUSE(ret_error, r->place,
                               "collective %" PRIu64 " is %s of %" PRIu64 " bytes, at %s:%d %s of %" PRIu64
                               "; expected the same at all ranks",
                               r->number, weft__inspector_colls[r->coll], r->bytes, first->place.file,
                               first->place.line, weft__inspector_colls[first->coll], first->bytes);
        sum += r->time_us;
    }
    *ret = (struct weft__inspector_measured){whole_bytes(first), sum / (double)(r - first), first->coll};
    *at = (uint32_t)(r - log->record);
    return WEFT_OK;
}
