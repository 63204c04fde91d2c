// SPDX-License-Identifier: Apache-2.0
// The workload text of AICB and SimAI as a training job (import/simai_read.h): a forward pass over all layers, then a
// backward one, an iteration.
//
// Order, as ASTRA-sim's Workload has it: forward, each layer computes and waits for its communication; backward, from
// the last layer, it computes the gradient of its input and waits for that communication, then computes that of its
// weights and goes on at once, so that their communication overlaps with the layers before; all of it has ended at the
// end of the iteration. With FWD_IN_BCKWD a layer of checkpoint_initiates first has the forward pass done again from
// the checkpoint before it. MICRO: the third communication of each line, one after another.
//
// Groups: T ranks side by side are TP; then DP over those of one stage, of which E side by side are EP and the others
// DP_EP; then the stages. Differences: updates of weights are computed at the end of the backward pass, beside what
// overlaps there; what stages of a pipeline pass on (pp_comm) is left out, as all ranks do all lines.
#include <inttypes.h>
#include <string.h>

#include "base/param.h"
#include "import/simai_read.h"
#include "weft/import.h"
#include "workload/job.h"

static const char source[] = "aliyun/aicb and aliyun/SimAI (astra-sim-alibabacloud, Workload.cc)";

struct simai_conf {
    struct weft__job_common common;
    const char *file;
    uint64_t iterations;
    struct weft_model_conf collective[WEFT__SIMAI_TYPES]; ///< but of NONE
};
static const struct weft_param simai_rows[] = {
    WEFT__JOB_ROWS(struct simai_conf, "job"),
    WEFT_TEXT(struct simai_conf, file, "file", NULL, "the workload; relative to the scenario"),
    WEFT_UINT(struct simai_conf, iterations, "iterations", "1", "1", "1000000", "of all layers, forward and backward"),
    WEFT_MODEL_PARAM(struct simai_conf, collective[WEFT__SIMAI_ALL_REDUCE], "all_reduce", WEFT_KIND_COLLECTIVE,
                     "all_reduce_ring", "the algorithm of ALLREDUCE"),
    WEFT_MODEL_PARAM(struct simai_conf, collective[WEFT__SIMAI_ALL_GATHER], "all_gather", WEFT_KIND_COLLECTIVE,
                     "all_gather", "of ALLGATHER"),
    WEFT_MODEL_PARAM(struct simai_conf, collective[WEFT__SIMAI_REDUCE_SCATTER], "reduce_scatter", WEFT_KIND_COLLECTIVE,
                     "reduce_scatter", "of REDUCESCATTER"),
    WEFT_MODEL_PARAM(struct simai_conf, collective[WEFT__SIMAI_ALL_TO_ALL], "all_to_all", WEFT_KIND_COLLECTIVE,
                     "all_to_all", "of ALLTOALL"),
};
static const struct weft_param_table simai_params = WEFT_PARAM_TABLE("simai", struct simai_conf, simai_rows);

/// What the functions below pass along.
struct maker {
    const struct simai_conf *conf;
    const struct weft_topology *topology;
    const struct weft__simai *file;
    struct weft_job *job;
    struct {
        uint32_t ranks, stride;
    } group[WEFT__SIMAI_GROUPS];
};

static uint64_t or_one(uint64_t n) {
    return n ? n : 1;
}

/// Sizes of groups that fit into `ranks`; NULL, or what is wrong.
static const char *find_groups(struct maker *m, uint32_t ranks, char *text, size_t size) {
    uint64_t tp = or_one(m->file->tp), ep = or_one(m->file->ep), pp = or_one(m->file->pp);
    uint64_t dp = ranks / tp / pp;
    if (!dp || tp * pp * dp != ranks || dp % ep) {
        snprintf(text, size,
                 "%" PRIu32 " ranks in groups of %" PRIu64 " (model_parallel_NPU_group), %" PRIu64
                 " stages (pp) and %" PRIu64 " experts (ep); expected a multiple of their product",
                 ranks, tp, pp, ep);
        return text;
    }
    m->group[WEFT__SIMAI_TP].ranks = (uint32_t)tp;
    m->group[WEFT__SIMAI_TP].stride = 1;
    m->group[WEFT__SIMAI_DP].ranks = (uint32_t)dp;
    m->group[WEFT__SIMAI_DP].stride = (uint32_t)tp;
    m->group[WEFT__SIMAI_EP].ranks = (uint32_t)ep;
    m->group[WEFT__SIMAI_EP].stride = (uint32_t)tp;
    m->group[WEFT__SIMAI_DP_EP].ranks = (uint32_t)(dp / ep);
    m->group[WEFT__SIMAI_DP_EP].stride = (uint32_t)(tp * ep);
    return NULL;
}

static void add_op(struct maker *m, const struct weft__simai_part *part, bool overlap) {
    bool talks = part->type != WEFT__SIMAI_NONE && part->bytes && m->group[part->group].ranks > 1;
    if (!talks && !part->compute_ps) return;
    struct weft_job_op *op = &m->job->op[m->job->ops++];
    op->compute_ps = part->compute_ps;
    op->times = 1;
    if (!talks) return;
    weft__job_collective(m->job, m->topology, &m->conf->collective[part->type], m->group[part->group].ranks,
                         m->group[part->group].stride, part->bytes, op);
    op->overlap = overlap;
}

/// The layers from the checkpoint before `layer` up to it, forward again.
static void recompute(struct maker *m, uint32_t layer) {
    uint32_t from = layer;
    while (from > 0 && !m->file->layer[from].checkpoint)
        from--;
    for (; from < layer; from++)
        add_op(m, &m->file->layer[from].part[WEFT__SIMAI_FORWARD], false);
}

static void add_ops(struct maker *m) {
    const struct weft__simai *f = m->file;
    struct weft__simai_part update = {.type = WEFT__SIMAI_NONE};
    for (uint32_t i = 0; i < f->layers && f->kind != WEFT__SIMAI_MICRO; i++)
        add_op(m, &f->layer[i].part[WEFT__SIMAI_FORWARD], false);
    for (uint32_t i = f->layers; i-- > 0 && f->kind != WEFT__SIMAI_MICRO;) {
        const struct weft__simai_layer *l = &f->layer[i];
        if (l->initiates && f->kind == WEFT__SIMAI_RECOMPUTE) recompute(m, i);
        add_op(m, &l->part[WEFT__SIMAI_INPUT], false);
        add_op(m, &l->part[WEFT__SIMAI_WEIGHT], true);
        update.compute_ps = weft_time_plus(update.compute_ps, l->update_ps);
    }
    for (uint32_t i = 0; i < f->layers && f->kind == WEFT__SIMAI_MICRO; i++)
        add_op(m, &f->layer[i].part[WEFT__SIMAI_WEIGHT], false);
    add_op(m, &update, false);
}

static uint64_t count_ops(const struct weft__simai *f) {
    uint64_t ops = 3 * (uint64_t)f->layers + 1, since = 0;
    for (uint32_t i = 0; i < f->layers; i++) {
        since = f->layer[i].checkpoint ? 0 : since + 1;
        if (f->layer[i].initiates) ops += since;
    }
    return ops;
}

enum { OPS_MAX = 1 << 20 };

static enum weft_status simai_schedule(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                       struct weft_workload *w, struct weft_error *ret_error) {
    struct simai_conf c = *(const struct simai_conf *)entry->conf;
    struct weft__simai file;
    char text[256];
    struct maker m = {.conf = &c, .topology = topology, .file = &file};
    enum weft_status status =
        weft__simai_read(weft__path_beside(c.file, entry->place, w->arena), entry->place, w->arena, &file, ret_error);
    if (!status && count_ops(&file) > OPS_MAX)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, entry->place,
                              "%" PRIu64 " operations an iteration; expected at most %d", count_ops(&file), OPS_MAX);
    if (!c.common.ranks) c.common.ranks = file.gpus;
    if (!status) status = weft__job_new(&c.common, entry, topology, (uint32_t)count_ops(&file), w, &m.job, ret_error);
    if (status) return status;
    const char *wrong = find_groups(&m, m.job->ranks, text, sizeof text);
    if (wrong) return weft_error_set(ret_error, WEFT_ERROR_INPUT, entry->place, "%s", wrong);
    add_ops(&m);
    if (!m.job->ops)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, entry->place,
                              "nothing to do: no layer computes or talks in a group of more than one rank");
    m.job->iterations = (uint32_t)c.iterations;
    return weft__job_connect(&c.common, entry->place, topology, m.job, w, ret_error);
}

static const struct weft_workload_ops simai_ops = {.schedule = simai_schedule};

const struct weft_model weft__workload_simai = {
    .kind = WEFT_KIND_WORKLOAD,
    .name = "simai",
    .summary = "a training job from the workload text of AICB and SimAI: layers with their compute and collectives",
    .source = source,
    .params = &simai_params,
    .ops = &simai_ops,
};

// --- import -------------------------------------------------------------------------------------------------------

enum { GPUS_PER_SERVER = 8 };

struct simai_import_conf {
    struct weft_import_common common;
    uint64_t gpus;
};
static const struct weft_param import_rows[] = {
    WEFT_IMPORT_ROWS(struct simai_import_conf),
    WEFT_UINT(struct simai_import_conf, gpus, "gpus", "0", "0", "1048576",
              "in all; 0: what all_gpus says, or else (assumed) 16 of MICRO, and one group of each kind of "
              "HYBRID_TRANSFORMER, two where it talks in DP"),
};
static const struct weft_param_table import_table = WEFT_PARAM_TABLE("simai", struct simai_import_conf, import_rows);

static const char *simai_recognise(const struct weft_import_file *file) {
    static const char *const words[] = {"HYBRID_TRANSFORMER", "MICRO"};
    for (uint32_t k = 0; k < sizeof words / sizeof *words; k++)
        if (!strncmp(file->head, words[k], strlen(words[k]))) return "workload";
    return NULL;
}

/// Whether a layer talks in one of these groups, which `groups` names as bits; MICRO executes the third part only.
static uint64_t count_talks(const struct weft__simai *w, unsigned groups) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < w->layers; i++)
        for (uint32_t k = w->kind == WEFT__SIMAI_MICRO ? WEFT__SIMAI_WEIGHT : 0; k < WEFT__SIMAI_PASSES; k++) {
            const struct weft__simai_part *part = &w->layer[i].part[k];
            n += part->type != WEFT__SIMAI_NONE && part->bytes && groups >> part->group & 1;
        }
    return n;
}

/// How many GPUs there are; where neither user nor file says it, so many that every layer which talks has a partner.
static uint64_t gpus_of(const struct weft__simai *w, uint64_t said, struct weft_import *import) {
    if (said || w->gpus) return said ? said : w->gpus;
    uint64_t gpus = or_one(w->tp) * or_one(w->pp) * or_one(w->ep);
    if (w->kind == WEFT__SIMAI_MICRO && gpus == 1)
        gpus = 2 * GPUS_PER_SERVER;
    else if (w->kind != WEFT__SIMAI_MICRO &&
             (count_talks(w, 1u << WEFT__SIMAI_DP_EP) || (or_one(w->ep) == 1 && count_talks(w, 1u << WEFT__SIMAI_DP))))
        gpus *= 2;
    weft_import_note(import, WEFT_IMPORT_ASSUMED, "%" PRIu64 " GPUs: the header does not say all_gpus (gpus)", gpus);
    return gpus;
}

/// Communication that ASTRA-sim skips too: the group is one GPU.
static void note_alone(const struct maker *m, struct weft_import *import) {
    unsigned alone = 0;
    for (unsigned g = 0; g < WEFT__SIMAI_GROUPS; g++)
        alone |= (unsigned)(m->group[g].ranks == 1) << g;
    uint64_t n = count_talks(m->file, alone);
    if (n) weft_import_note(import, WEFT_IMPORT_LEFT_OUT, "%" PRIu64 " collectives in groups of one GPU", n);
}

static enum weft_status simai_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                   struct weft_import *import, struct weft_error *ret_error) {
    const struct simai_import_conf *c = conf;
    struct weft__simai w;
    enum weft_status status = weft_import_once(file, files, "workload", ret_error);
    if (!status) status = weft__simai_read(file->path, WEFT_NOWHERE, weft_import_arena(import), &w, ret_error);
    if (status) return status;
    uint64_t gpus = gpus_of(&w, c->gpus, import);
    struct maker m = {.file = &w};
    char text[256];
    const char *wrong = find_groups(&m, (uint32_t)gpus, text, sizeof text);
    if (wrong) return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = file->path}, "%s", wrong);
    bool servers = gpus % GPUS_PER_SERVER == 0;
    weft_import_need_hosts(import, (uint32_t)gpus);
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: simai\n  file: %s\n  ranks: %" PRIu64 "\n",
                    weft_import_quote(import, file->written), gpus);
    if (servers) weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  server: {gpus: %d}\n", GPUS_PER_SERVER);
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "%s: %" PRIu32 " layers; %" PRIu64 " GPUs, TP %" PRIu64 ", EP %" PRIu64 ", PP %" PRIu64,
                     file->written, w.layers, gpus, or_one(w.tp), or_one(w.ep), or_one(w.pp));
    if (servers)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "servers of %d GPUs with a network of their own (server.gpus, rate and latency)",
                         GPUS_PER_SERVER);
    weft_import_note(import, WEFT_IMPORT_ASSUMED,
                     "rings for all-reduce, all-gather and reduce-scatter (all_reduce, ...)");
    note_alone(&m, import);
    if (w.pp > 1)
        weft_import_note(import, WEFT_IMPORT_LEFT_OUT,
                         "what the %" PRIu64 " stages of the pipeline pass on (pp_comm, %" PRIu64
                         " bytes) and its bubble: the file has one list of layers, which all ranks do",
                         w.pp, w.pp_bytes);
    return WEFT_OK;
}

static const struct weft_import_ops import_ops = {simai_recognise, simai_make};

const struct weft_model weft__import_simai = {
    .kind = WEFT_KIND_IMPORT,
    .name = "simai",
    .summary = "a workload of AICB or SimAI: a header of groups, and layers of twelve columns",
    .source = source,
    .params = &import_table,
    .ops = &import_ops,
};
