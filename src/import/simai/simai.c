// SPDX-License-Identifier: Apache-2.0
// The import of a workload of AICB and SimAI, alone or with the topology and the configuration of SimAI's network
// simulator: the number of GPUs, and what a scenario needs besides the files.
#include <inttypes.h>
#include <string.h>

#include "import/hpcc/hpcc_read.h"
#include "import/simai/simai_read.h"
#include "weft/import.h"
#include "weft/param.h"

enum { GPUS_PER_SERVER = 8 };

struct simai_import_conf {
    struct weft_import_common common;
    uint64_t gpus;
};
static const struct weft_param_table import_table = WEFT_PARAM_TABLE_OF(
    "simai", struct simai_import_conf, WEFT_PARAM_UNCHECKED, WEFT_IMPORT_ROWS(struct simai_import_conf),
    WEFT_UINT(
        struct simai_import_conf, gpus, "gpus", "0", "0", "1048576",
        "number of GPUs; 0: all_gpus of the file, else those of the topology, else (assumed) 16 for MICRO, and one "
        "group of each kind for HYBRID_TRANSFORMER, two if it communicates in DP"));

static const char *simai_recognise(const struct weft_import_file *file) {
    static const char *const words[] = {"HYBRID_TRANSFORMER", "MICRO"};
    for (uint32_t k = 0; k < sizeof words / sizeof *words; k++)
        if (!strncmp(file->head, words[k], strlen(words[k]))) return "workload";
    const char *what = weft__hpcc_recognise(file);
    return what && strcmp(what, "flows") != 0 ? what : NULL;
}

/// Counts communicating layers in one of these groups, given as bits; MICRO executes only the third part.
static uint64_t count_talks(const struct weft__simai *w, unsigned groups) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < w->layers; i++)
        for (uint32_t k = w->kind == WEFT__SIMAI_MICRO ? WEFT__SIMAI_WEIGHT : 0; k < WEFT__SIMAI_PASSES; k++) {
            const struct weft__simai_part *part = &w->layer[i].part[k];
            n += part->type != WEFT__SIMAI_NONE && part->bytes && groups >> part->group & 1;
        }
    return n;
}

/// The number of GPUs; if neither user nor files give it, enough for every communicating layer to have a partner.
static uint64_t gpus_of(const struct weft__simai *w, uint64_t said, uint32_t hosts, struct weft_import *import) {
    if (said || w->gpus || hosts) return said ? said : w->gpus ? w->gpus : hosts;
    uint64_t gpus = weft__simai_or_one(w->tp) * weft__simai_or_one(w->pp) * weft__simai_or_one(w->ep);
    if (w->kind == WEFT__SIMAI_MICRO && gpus == 1)
        gpus = 2 * GPUS_PER_SERVER;
    else if (w->kind != WEFT__SIMAI_MICRO && (count_talks(w, 1u << WEFT__SIMAI_DP_EP) ||
                                              (weft__simai_or_one(w->ep) == 1 && count_talks(w, 1u << WEFT__SIMAI_DP))))
        gpus *= 2;
    weft_import_note(import, WEFT_IMPORT_ASSUMED, "%" PRIu64 " GPUs: the header does not say all_gpus (gpus)", gpus);
    return gpus;
}

/// Communication that ASTRA-sim also skips: the group is a single GPU.
static void note_alone(const struct weft__simai *w, const struct weft__simai_groups *groups,
                       struct weft_import *import) {
    unsigned alone = 0;
    for (unsigned g = 0; g < WEFT__SIMAI_GROUPS; g++)
        alone |= (unsigned)(groups->of[g].ranks == 1) << g;
    uint64_t n = count_talks(w, alone);
    if (n) weft_import_note(import, WEFT_IMPORT_LEFT_OUT, "%" PRIu64 " collectives in groups of one GPU", n);
}

static void note_pipeline(const struct weft__simai *w, struct weft_import *import) {
    if (w->pp < 2) return;
    if (!weft__simai_is_pipeline(w)) {
        const char *why =
            !w->pp_bytes ? "the header does not say pp_comm" : "its lines do not repeat as often as ga says";
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "what the %" PRIu64 " stages of the pipeline pass on, and its bubble: %s", w->pp, why);
        return;
    }
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "%" PRIu64 " stages with %" PRIu64 " microbatches of %" PRIu32
                     " lines each, which pass on %" PRIu64 " bytes",
                     w->pp, weft__simai_or_one(w->ga), w->block, w->pp_bytes);
    weft_import_note(
        import, WEFT_IMPORT_ASSUMED,
        "the lines are those of one stage, and stages do one forward, one backward pass in turn (pipeline)");
    if (w->ga < 2)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "the microbatch is the lines from embedding_layer to the one before cross_entropy1, if there "
                         "are any of these names, else all");
}

/// What the file says and weft does otherwise than SimAI, or not at all.
static void note_words(const struct weft__simai *w, struct weft_import *import) {
    uint32_t beyond = 0;
    for (uint32_t i = 0; i < w->layers; i++)
        for (uint32_t k = 0; k < WEFT__SIMAI_PASSES; k++)
            beyond += w->layer[i].part[k].type >= WEFT__SIMAI_BROADCAST;
    if (beyond)
        weft_import_note(import, WEFT_IMPORT_FOUND,
                         "%" PRIu32
                         " broadcasts, reduces to one rank, gathers or scatters, which SimAI passes over and "
                         "weft does",
                         beyond);
    if (w->types.n)
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "the communication of %" PRIu32
                         " entries of kinds that are not known, which SimAI passes over "
                         "too; the first, %.40s, is on line %d",
                         w->types.n, w->types.first, w->types.line);
    if (w->keys.n)
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "%" PRIu32 " entries of the header that are not known; the first is %.40s", w->keys.n,
                         w->keys.first);
}

static const char *find_server(const struct weft__hpcc_network *network, uint64_t gpus, struct weft_import *import) {
    if (network->server || network->hosts) return network->server;
    if (gpus % GPUS_PER_SERVER) return NULL;
    weft_import_note(import, WEFT_IMPORT_ASSUMED,
                     "servers of %d GPUs with a network of their own (server.gpus, rate and latency)", GPUS_PER_SERVER);
    return weft_arena_format(weft_import_arena(import), "{gpus: %d}", GPUS_PER_SERVER);
}

static void say_workload(const struct weft_import_file *file, const struct weft__simai *w, uint64_t gpus,
                         const struct weft__hpcc_network *network, struct weft_import *import) {
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: simai\n  file: %s\n  ranks: %" PRIu64 "\n",
                    weft_import_quote(import, file->written), gpus);
    if (network->chosen) weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  hosts: \"%s\"\n", network->chosen);
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "%s: %" PRIu32 " layers; %" PRIu64 " GPUs, TP %" PRIu64 ", EP %" PRIu64 ", PP %" PRIu64,
                     file->written, w->layers, gpus, weft__simai_or_one(w->tp), weft__simai_or_one(w->ep),
                     weft__simai_or_one(w->pp));
    const char *server = find_server(network, gpus, import);
    if (server) weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  server: %s\n", server);
    weft_import_note(import, WEFT_IMPORT_ASSUMED,
                     "rings for all-reduce, all-gather and reduce-scatter (all_reduce, ...)");
}

/// The workload, and the network if there is a file of it.
static enum weft_status read_files(const void *conf, const struct weft_import_file *file, uint32_t files,
                                   struct weft_import *import, struct weft__simai *w,
                                   struct weft__hpcc_network *network, struct weft_error *ret_error) {
    const struct weft_import_file *workload = weft_import_find(file, files, "workload");
    *network = (struct weft__hpcc_network){0};
    if (!workload)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file[0].path},
                           "is a %s, and no file is a workload of SimAI; expected one, or weft import hpcc",
                           file[0].what);
    enum weft_status status = weft_import_once(file, files, "workload", ret_error);
    if (!status) status = weft__simai_read(workload->path, WEFT_NOWHERE, weft_import_arena(import), w, ret_error);
    if (!status && files > 1) status = weft__hpcc_make(conf, file, files, false, import, network, ret_error);
    return status;
}

static enum weft_status simai_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                   struct weft_import *import, struct weft_error *ret_error) {
    const struct simai_import_conf *c = conf;
    struct weft__simai w;
    struct weft__hpcc_network network;
    WEFT_TRY(read_files(conf, file, files, import, &w, &network, ret_error));
    const struct weft_import_file *workload = weft_import_find(file, files, "workload"),
                                  *topology = weft_import_find(file, files, "topology");
    uint64_t gpus = gpus_of(&w, c->gpus, network.hosts, import);
    struct weft__simai_groups groups;
    char text[256];
    const char *wrong = weft__simai_find_groups(&w, (uint32_t)gpus, &groups, text, sizeof text);
    if (wrong) return WEFT_REFUSE(ret_error, (struct weft_place){.file = workload->path}, "%s", wrong);
    if (network.hosts && network.hosts < gpus)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = topology ? topology->path : workload->path},
                           "%" PRIu32 " hosts for the %" PRIu64
                           " GPUs of %s; expected as many at least, or --set gpus=%" PRIu32,
                           network.hosts, gpus, workload->path, network.hosts);
    weft_import_need_hosts(import, (uint32_t)gpus);
    say_workload(workload, &w, gpus, &network, import);
    note_words(&w, import);
    note_alone(&w, &groups, import);
    note_pipeline(&w, import);
    return WEFT_OK;
}

const struct weft_model weft__import_simai = WEFT_MODEL_OF(
    IMPORT, "simai",
    "a workload of AICB or SimAI: a header of groups, and layers of twelve columns; perhaps with its topology "
    "and configuration",
    "aliyun/aicb and aliyun/SimAI (astra-sim-alibabacloud, Workload.cc)", &import_table,
    &(const struct weft_import_ops){
        .recognise = simai_recognise,
        .make = simai_make,
        .syntax = WEFT_IMPORT_TEXT,
        .begins =
            "HYBRID_TRANSFORMER, HYBRID_TRANSFORMER_FWD_IN_BCKWD or MICRO; with it a topology or configuration of hpcc",
        .whole = "hpcc",
    });
