// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces as a workload and as an import. Messages are a send and a receive with the same tag, and
// weft's own algorithms perform collectives, as in any schedule (weft/schedule.h).
#include <inttypes.h>
#include <string.h>

#include "base/lines.h"
#include "base/param.h"
#include "import/chakra/chakra.h"
#include "import/chakra/chakra_json.h"
#include "import/chakra/chakra_read.h"
#include "weft/import.h"
#include "weft/param.h"
#include "workload/job.h"

static const char source[] = "mlcommons/chakra (schema 0.0.4); astra-sim/astra-sim, astra-sim/workload/Workload.cc";

/// Rows that the workload and the import share; T has the members.
#define CHAKRA_ROWS(T)                                                                                                 \
    WEFT_BOOL(T, reuse, "reuse", "off",                                                                                \
              "ranks without a trace repeat others: with n traces, rank R uses trace R modulo n"),                     \
        WEFT_BOOL(T, ctrl_deps, "ctrl_deps", "on", "nodes wait for control dependencies too"),                         \
        WEFT_BOOL(T, cpu_ops, "cpu_ops", "on", "nodes of the CPU take their duration; off: no time"),                  \
        WEFT_REAL(T, tflops, "tflops", "100", "0.001", "1000000",                                                      \
                  "10^12 operations per second of a GPU, for nodes with num_ops but no duration (assumed)")

struct chakra_conf {
    struct weft__job_common common;
    struct weft__schedule_models models;
    const char *file, *groups;
    bool reuse, ctrl_deps, cpu_ops;
    double tflops;
};
static const struct weft_param_table chakra_params = WEFT_PARAM_TABLE_OF(
    "chakra", struct chakra_conf, WEFT_PARAM_UNCHECKED, WEFT__JOB_ROWS(struct chakra_conf, "chakra"),
    WEFT_TEXT(struct chakra_conf, file, "file", NULL,
              "the traces: a folder, a file, or PREFIX of PREFIX.0.et (or .json), PREFIX.1.et, ...; relative to the "
              "scenario"),
    WEFT_TEXT(struct chakra_conf, groups, "groups", "",
              "a file with process groups, as ASTRA-sim reads it: lists of ranks by name; relative to the scenario"),
    CHAKRA_ROWS(struct chakra_conf), WEFT__SCHEDULE_MODEL_ROWS(struct chakra_conf, models));

static enum weft_status chakra_schedule(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                        struct weft_workload *w, struct weft_error *ret_error) {
    const struct chakra_conf *c = entry->conf;
    struct weft_place place = weft__job_key_place(entry, "file");
    struct weft__chakra_conf conf = {
        .groups = *c->groups ? weft__path_beside(c->groups, weft__job_key_place(entry, "groups"), w->arena) : "",
        .ranks = c->common.ranks,
        .reuse = c->reuse,
        .ctrl_deps = c->ctrl_deps,
        .cpu_ops = c->cpu_ops,
        .tflops = c->tflops,
    };
    struct weft__chakra_facts facts;
    struct weft_schedule *s = NULL;
    enum weft_status status =
        weft__chakra_load(weft__path_beside(c->file, place, w->arena), &conf, place, w->arena, &s, &facts, ret_error);
    return status ? status : weft__job_add_schedule(&c->common, entry, topology, s, &c->models, w, ret_error);
}

const struct weft_model weft__workload_chakra = WEFT_MODEL_OF(
    WORKLOAD, "chakra", "Chakra execution traces: nodes that compute, send, receive and take part in collectives",
    source, &chakra_params, &(const struct weft_workload_ops){.schedule = chakra_schedule});

// --- import -------------------------------------------------------------------------------------------------------

struct import_conf {
    struct weft_import_common common; ///< must be first
    uint64_t ranks;
    bool reuse, ctrl_deps, cpu_ops;
    double tflops;
};
static const struct weft_param_table import_params = WEFT_PARAM_TABLE_OF(
    "chakra", struct import_conf, WEFT_PARAM_UNCHECKED, WEFT_IMPORT_ROWS(struct import_conf),
    WEFT_UINT(struct import_conf, ranks, "ranks", "0", "0", "16777216", "number of ranks; 0: one per trace"),
    CHAKRA_ROWS(struct import_conf));

static bool has_traces(const char *path) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct weft__chakra_files files;
    return !weft__chakra_find(path, WEFT_NOWHERE, arena, &files, NULL);
}

/// {"0": [0, 1], ...}
static bool is_groups(const char *text) {
    static const char blanks[] = " \t\r\n";
    static const char order[] = "{\"\":[";
    for (const char *c = order; *c; c++) {
        text += strspn(text, blanks);
        if (*text++ != *c) return false;
        if (c == order + 1) text += strcspn(text, "\"");
    }
    text += strspn(text, blanks);
    return *text >= '0' && *text <= '9';
}

static const char *chakra_recognise(const struct weft_import_file *file) {
    uint32_t rank;
    if (file->folder || file->absent) return has_traces(file->path) ? "traces" : NULL;
    bool json = weft__chakra_json_named(file->path), named = !json && weft__chakra_suffix(file->path, &rank);
    if (json && weft__chakra_json_recognise(file->head)) return "trace";
    if (weft__chakra_recognise(file->head, file->size, named)) return "trace";
    return is_groups(file->head) ? "groups" : NULL;
}

/// The folder, file or prefix of the files, as the user wrote it and as the scenario refers to it.
static enum weft_status find_traces(const struct weft_import_file *file, uint32_t n, struct weft_import *import,
                                    const char **ret_path, const char **ret_written, struct weft_error *ret_error) {
    const struct weft_import_file *first = NULL;
    size_t prefix = 0;
    uint32_t rank, traces = 0;
    for (uint32_t f = 0; f < n; f++) {
        if (!strcmp(file[f].what, "groups")) continue;
        const char *suffix = weft__chakra_suffix(file[f].path, &rank);
        if (!first) {
            first = &file[f];
            prefix = suffix ? (size_t)(suffix - first->path) : 0;
        }
        bool like = suffix && (size_t)(suffix - file[f].path) == prefix && !strncmp(file[f].path, first->path, prefix);
        if (traces++ && (!like || !prefix || strcmp(first->what, "trace")))
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = file[f].path},
                               "and %s are not traces of one prefix; expected PREFIX.0.et, PREFIX.1.et, ...",
                               first->path);
    }
    if (!first)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file[0].path},
                           "is not enough: expected the traces beside the process groups");
    *ret_path = first->path;
    *ret_written = first->written;
    if (traces < 2) return WEFT_OK;
    const char *suffix = weft__chakra_suffix(first->written, &rank);
    struct weft_arena *arena = weft_import_arena(import);
    *ret_path = weft_arena_format(arena, "%.*s", (int)prefix, first->path);
    *ret_written = weft_arena_format(arena, "%.*s", (int)(suffix - first->written), first->written);
    struct weft__chakra_files all;
    enum weft_status status =
        weft__chakra_find(*ret_path, (struct weft_place){.file = first->path}, arena, &all, ret_error);
    if (!status && all.files != traces)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = first->path},
                           "%" PRIu32 " of the %" PRIu32 " traces %s.N.et; expected all of them, or the prefix", traces,
                           all.files, *ret_path);
    return status;
}

#define NOTE(n, kind, format, ...)                                                                                     \
    do {                                                                                                               \
        if (n) weft_import_note(import, kind, "%" PRIu64 " " format, n, __VA_ARGS__);                                  \
    } while (0)

static void note_facts(const struct import_conf *c, struct weft_import *import, const char *written,
                       const struct weft_schedule *s, const struct weft__chakra_facts *f) {
    enum weft_import_note assumed = WEFT_IMPORT_ASSUMED, lost = WEFT_IMPORT_LOST, left_out = WEFT_IMPORT_LEFT_OUT;
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "%s: traces: %" PRIu32 " (%s%s); ranks: %" PRIu32 "; nodes: %" PRIu64 ", of which %" PRIu64
                     " communicate; process groups: %" PRIu32,
                     written, f->traces, *f->version ? "version " : "they say no version", f->version, s->ranks,
                     f->nodes, f->comms, f->groups);
    weft_import_note(import, assumed, "a host of its own for each rank, rank R on host-R (hosts, server, rank_file)");
    if (s->collectives)
        weft_import_note(import, assumed,
                         "rings for all-reduce, all-gather and reduce-scatter (all_reduce, ...); the first rank of a "
                         "group is the root of a broadcast or gather");
    if (f->traces < s->ranks) weft_import_note(import, assumed, "ranks without a trace do what others do (reuse)");
    NOTE(f->by_ops, assumed, "nodes that say num_ops but no duration: %s", "the speed of a GPU (tflops)");
    NOTE(f->groups_found, assumed, "names of process groups that nothing defines: %s",
         "all ranks whose traces have the name are its members, or all ranks, if some reuse traces (groups)");
    NOTE(f->peers, assumed, "messages say no peer: %s", "it is the other rank of their process group of two");
    if (c->cpu_ops)
        NOTE(f->cpu_ops, assumed, "nodes of the CPU: %s", "they take their duration, one after another (cpu_ops)");
    else
        NOTE(f->cpu_ops, left_out, "nodes of the CPU: %s", "they take no time (cpu_ops: off)");
    if (!c->ctrl_deps) weft_import_note(import, left_out, "control dependencies (ctrl_deps: off)");
    NOTE(f->others, assumed, "nodes of a kind that weft does not know: %s", "they take their duration");
    weft_import_note(import, left_out, "start times of nodes: each begins when what it waits for is done");
    NOTE(f->wrappers, left_out, "wrappers of communication on the CPU: %s", "they take no time");
    NOTE(f->empty, left_out, "collectives of 0 bytes: %s", "they take no time, as NCCL discards them");
    NOTE(f->memory, lost, "nodes of memory or storage, or of a kind that weft does not know, %s",
         "that say no duration: they take no time");
    NOTE(f->deps_absent, lost, "control dependencies on nodes that are not %s", "in the trace");
    NOTE(f->groups_bad, lost, "metadata nodes whose process groups are no %s", "list in JSON");
    NOTE(f->unknown_fields, left_out, "fields that the schema of Chakra 0.0.4 %s", "does not have");
}

static enum weft_status chakra_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                    struct weft_import *import, struct weft_error *ret_error) {
    const struct import_conf *c = conf;
    const struct weft_import_file *groups = weft_import_find(file, files, "groups");
    const char *path = NULL, *written = NULL;
    enum weft_status status = weft_import_once(file, files, "groups", ret_error);
    if (!status) status = find_traces(file, files, import, &path, &written, ret_error);
    if (status) return status;
    struct weft__chakra_conf load = {.groups = groups ? groups->path : "",
                                     .ranks = c->ranks,
                                     .reuse = c->reuse,
                                     .ctrl_deps = c->ctrl_deps,
                                     .cpu_ops = c->cpu_ops,
                                     .tflops = c->tflops};
    struct weft__chakra_facts facts;
    struct weft_schedule *s = NULL;
    WEFT_TRY(weft__chakra_load(path, &load, (struct weft_place){.file = path}, weft_import_arena(import), &s, &facts,
                               ret_error));
    weft_import_need_hosts(import, s->ranks);
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: chakra\n  file: %s\n", weft_import_quote(import, written));
    if (groups)
        weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  groups: %s\n", weft_import_quote(import, groups->written));
    if (c->ranks) weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  ranks: %" PRIu64 "\n", c->ranks);
    if (c->reuse) weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  reuse: on\n");
    if (!c->ctrl_deps) weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  ctrl_deps: off\n");
    if (!c->cpu_ops) weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  cpu_ops: off\n");
    if (facts.by_ops) weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  tflops: %g\n", c->tflops);
    note_facts(c, import, written, s, &facts);
    return WEFT_OK;
}

const struct weft_model weft__import_chakra = WEFT_MODEL_OF(
    IMPORT, "chakra",
    "Chakra execution traces: a folder, a prefix or files PREFIX.N.et or PREFIX.N.json, and process groups "
    "of ASTRA-sim",
    source, &import_params,
    &(const struct weft_import_ops){
        .recognise = chakra_recognise,
        .make = chakra_make,
        .syntax = WEFT_IMPORT_BINARY | WEFT_IMPORT_JSON,
        .begins = "a message GlobalMetadata or a node behind its length, JSON of such messages (a file .json), or JSON "
                  "with lists of ranks by name",
    });
