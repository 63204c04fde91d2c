// SPDX-License-Identifier: Apache-2.0
// Source: what Workload::initialize_workload of aliyun/SimAI (astra-sim-alibabacloud) reads, and what aliyun/aicb
// writes. Times are nanoseconds.
#include "import/simai/simai_read.h"

#include <inttypes.h>
#include <string.h>

#include "base/digest.h"

enum { LAYERS_MAX = 65536, NUMBER_MAX = 1 << 24 };
static const uint64_t bytes_max = UINT64_C(1000000000000);

#define BAD(lines, ...) WEFT_REFUSE(ret_error, (lines)->place, __VA_ARGS__)

static const char *const kinds[] = {[WEFT__SIMAI_HYBRID] = "HYBRID_TRANSFORMER",
                                    [WEFT__SIMAI_RECOMPUTE] = "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                    [WEFT__SIMAI_MICRO] = "MICRO"};
static const char *const types[WEFT__SIMAI_TYPES] = {"NONE",      "ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL",
                                                     "BROADCAST", "REDUCE",    "GATHER",    "SCATTER"};
static const char *const groups[WEFT__SIMAI_GROUPS] = {"_TP", "_DP", "_EP", "_DP_EP"};

/// A list of layers in the header: how many, and their numbers.
struct list {
    uint64_t n;
    uint32_t *layer;
    struct weft_place place;
};

static enum weft_status read_list(struct weft__lines *lines, const char *key, struct weft_arena *arena,
                                  struct list *list, struct weft_error *ret_error) {
    enum weft_status status = weft__lines_number(lines, key, LAYERS_MAX, &list->n, ret_error);
    list->place = lines->place;
    if (status) return status;
    list->layer = weft_arena_alloc(arena, list->n, sizeof *list->layer);
    for (uint64_t i = 0; i < list->n && !status; i++) {
        uint64_t layer = 0;
        status = weft__lines_number(lines, key, LAYERS_MAX, &layer, ret_error);
        list->layer[i] = (uint32_t)layer;
    }
    return status;
}

static void skip_word(struct weft__simai_skipped *skipped, const char *word, int line, struct weft_arena *arena) {
    if (skipped->n++) return;
    skipped->first = weft_arena_text(arena, word);
    skipped->line = line;
}

static bool is_number(const char *word) {
    double value;
    return word && weft__real_parse(word, &value);
}

/// Passes over an entry "key: value" that is not known.
static enum weft_status skip_key(struct weft__lines *lines, const char *word, struct weft_arena *arena,
                                 struct weft__simai *w, struct weft_error *ret_error) {
    size_t n = strlen(word);
    struct weft_place place = lines->place;
    const char *key = weft_arena_text(arena, word);
    WEFT_TRY(weft__lines_name(lines, word, ret_error));
    if (n < 2 || word[n - 1] != ':' || !is_number(weft__lines_word(lines))) {
        lines->place = place;
        return BAD(lines,
                   "'%.40s' is not known; expected model_parallel_NPU_group, ep, pp, vpp, ga, all_gpus, checkpoints, "
                   "checkpoint_initiates or pp_comm, or 'key: number'",
                   key);
    }
    skip_word(&w->keys, key, place.line, arena);
    return WEFT_OK;
}

static enum weft_status read_header(struct weft__lines *lines, struct weft_arena *arena, struct weft__simai *w,
                                    struct list list[2], struct weft_error *ret_error) {
    const struct {
        const char *name;
        uint64_t *value, min, max;
    } keys[] = {{"model_parallel_NPU_group", &w->tp, 1, NUMBER_MAX},
                {"ep", &w->ep, 1, NUMBER_MAX},
                {"expert_parallel_npu_group", &w->ep, 1, NUMBER_MAX},
                {"pp", &w->pp, 1, NUMBER_MAX},
                {"vpp", &w->vpp, 0, NUMBER_MAX},
                {"ga", &w->ga, 0, NUMBER_MAX}, // AICB writes 0 where the global batch is too small for a microbatch
                {"all_gpus", &w->gpus, 1, NUMBER_MAX},
                {"pp_comm", &w->pp_bytes, 0, bytes_max}};
    bool more;
    WEFT_TRY(weft__lines_next_full(lines, &more, ret_error));
    const char *word = weft__lines_word(lines);
    uint32_t kind = 0;
    while (kind < 3 && (!word || strcmp(word, kinds[kind])))
        kind++;
    if (kind == 3)
        return BAD(lines, "'%.40s'; expected HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_TRANSFORMER or MICRO",
                   word ? word : "");
    w->kind = (enum weft__simai_kind)kind;
    while ((word = weft__lines_word(lines))) {
        size_t n = strlen(word), k = 0;
        n -= n && word[n - 1] == ':';
        while (k < sizeof keys / sizeof *keys && (strlen(keys[k].name) != n || strncmp(keys[k].name, word, n)))
            k++;
        if (k < sizeof keys / sizeof *keys)
            WEFT_TRY(weft__lines_number(lines, keys[k].name, keys[k].max, keys[k].value, ret_error));
        else if (n == 11 && !strncmp(word, "checkpoints", n))
            WEFT_TRY(read_list(lines, "checkpoints", arena, &list[0], ret_error));
        else if (n == 20 && !strncmp(word, "checkpoint_initiates", n))
            WEFT_TRY(read_list(lines, "checkpoint_initiates", arena, &list[1], ret_error));
        else
            WEFT_TRY(skip_key(lines, word, arena, w, ret_error));
        if (k < sizeof keys / sizeof *keys && *keys[k].value < keys[k].min)
            return BAD(lines, "%s is 0; expected 1 at least", keys[k].name);
    }
    return WEFT_OK;
}

/// "ALLREDUCE_DP_EP"; `plain`: the group that no suffix means. Other words of capital letters are passed over, as SimAI
/// does.
static enum weft_status read_type(struct weft__lines *lines, const char *what, enum weft__simai_group plain,
                                  struct weft_arena *arena, struct weft__simai *w, struct weft__simai_part *part,
                                  struct weft_error *ret_error) {
    const char *word = weft__lines_word(lines);
    if (!word) return BAD(lines, "the line ends here; expected %s", what);
    for (uint32_t t = 0; t < WEFT__SIMAI_TYPES; t++) {
        size_t n = strlen(types[t]);
        if (strncmp(word, types[t], n)) continue;
        part->type = (uint8_t)t;
        part->group = (uint8_t)plain;
        if (!word[n]) return WEFT_OK;
        for (uint8_t g = 0; g < WEFT__SIMAI_GROUPS; g++) {
            part->group = g;
            if (!strcmp(word + n, groups[g])) return WEFT_OK;
        }
    }
    part->type = WEFT__SIMAI_NONE;
    part->group = (uint8_t)plain;
    if (strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == strlen(word) && *word >= 'A' && *word <= 'Z') {
        skip_word(&w->types, word, lines->place.line, arena);
        return WEFT_OK;
    }
    return BAD(lines,
               "%s '%.40s'; expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or another word of capital "
               "letters, and perhaps _TP, _DP, _EP or _DP_EP",
               what, word);
}

static enum weft_status read_layer(struct weft__lines *lines, struct weft_arena *arena, struct weft__simai *w,
                                   struct weft__simai_layer *layer, struct weft_error *ret_error) {
    static const char *const names[WEFT__SIMAI_PASSES][3] = {
        {"the forward compute time", "the forward communication", "its bytes"},
        {"the input gradient's compute time", "the input gradient's communication", "its bytes"},
        {"the weight gradient's compute time", "the weight gradient's communication", "its bytes"}};
    bool more;
    WEFT_TRY(weft__lines_next_full(lines, &more, ret_error));
    if (!more) return BAD(lines, "the file ends here; expected a layer");
    const char *name = weft__lines_word(lines);
    layer->name = name ? weft__hash_text(WEFT__HASH_START, name) : 0;
    if (!weft__lines_word(lines)) return BAD(lines, "the line ends here; expected twelve columns");
    for (uint32_t p = 0; p < WEFT__SIMAI_PASSES; p++) {
        struct weft__simai_part *part = &layer->part[p];
        WEFT_TRY(weft__lines_quantity(lines, names[p][0], WEFT__TIME, "ns", &part->compute_ps, ret_error));
        if (part->compute_ps > 1000 * WEFT_PS_PER_S) return BAD(lines, "%s: expected at most 1000s", names[p][0]);
        WEFT_TRY(read_type(lines, names[p][1], p == WEFT__SIMAI_WEIGHT ? WEFT__SIMAI_DP : WEFT__SIMAI_TP, arena, w,
                           part, ret_error));
        WEFT_TRY(weft__lines_number(lines, names[p][2], bytes_max, &part->bytes, ret_error));
    }
    WEFT_TRY(weft__lines_quantity(lines, "the update's time", WEFT__TIME, "ns", &layer->update_ps, ret_error));
    if (layer->update_ps > 1000 * WEFT_PS_PER_S) return BAD(lines, "the update's time: expected at most 1000s");
    return weft__lines_end(lines, "the update's time", ret_error);
}

static enum weft_status mark_layers(const struct weft__simai *w, const struct list list[2],
                                    struct weft_error *ret_error) {
    for (uint32_t k = 0; k < 2; k++)
        for (uint64_t i = 0; i < list[k].n; i++) {
            if (list[k].layer[i] >= w->layers)
                return WEFT_REFUSE(ret_error, list[k].place,
                                   "there is no layer %" PRIu32 "; expected less than %" PRIu32, list[k].layer[i],
                                   w->layers);
            *(k ? &w->layer[list[k].layer[i]].initiates : &w->layer[list[k].layer[i]].checkpoint) = true;
        }
    return WEFT_OK;
}

const char *weft__simai_find_groups(const struct weft__simai *w, uint32_t ranks, struct weft__simai_groups *ret,
                                    char *text, size_t size) {
    uint64_t tp = weft__simai_or_one(w->tp), ep = weft__simai_or_one(w->ep), pp = weft__simai_or_one(w->pp),
             dp = ranks / tp / pp;
    if (!dp || tp * pp * dp != ranks || dp % ep)
        return WEFT_SAY(text, size,
                        "%" PRIu32 " ranks in groups of %" PRIu64 " (model_parallel_NPU_group), %" PRIu64
                        " stages (pp) and %" PRIu64 " experts (ep); expected a multiple of their product",
                        ranks, tp, pp, ep);
    *ret = (struct weft__simai_groups){.of = {[WEFT__SIMAI_TP] = {(uint32_t)tp, 1},
                                              [WEFT__SIMAI_DP] = {(uint32_t)dp, (uint32_t)tp},
                                              [WEFT__SIMAI_EP] = {(uint32_t)ep, (uint32_t)tp},
                                              [WEFT__SIMAI_DP_EP] = {(uint32_t)(dp / ep), (uint32_t)(tp * ep)}},
                                       .stages = (uint32_t)pp,
                                       .stage_stride = (uint32_t)(tp * dp)};
    return NULL;
}

bool weft__simai_is_pipeline(const struct weft__simai *w) {
    return w->kind != WEFT__SIMAI_MICRO && w->pp > 1 && w->pp_bytes && w->block;
}

static uint64_t name_of(const char *name) {
    return weft__hash_text(WEFT__HASH_START, name);
}

/// Finds the longest block of lines that occurs as often as there are microbatches, by their names.
static void find_blocks(struct weft__simai *w) {
    for (uint64_t block = w->layers / w->ga; block > 0; block--)
        for (uint64_t i = 0, run = 0; i + block < w->layers; i++) {
            run = w->layer[i].name == w->layer[i + block].name ? run + 1 : 0;
            if (run < (w->ga - 1) * block) continue;
            w->block = (uint32_t)block;
            w->first = (uint32_t)(i + 1 - run);
            return;
        }
}

/// One microbatch begins with the embedding and ends before the loss, in AICB's names; without these it is all lines.
static void find_block(struct weft__simai *w) {
    uint64_t begin = name_of("embedding_layer"), end = name_of("cross_entropy1");
    uint32_t last = 0;
    while (w->first < w->layers && w->layer[w->first].name != begin)
        w->first++;
    if (w->first == w->layers) w->first = 0;
    for (last = w->first; last < w->layers && w->layer[last].name != end;)
        last++;
    w->block = last - w->first;
}

static enum weft_status read_all(struct weft__lines *lines, struct weft_arena *arena, struct weft__simai *w,
                                 struct weft_error *ret_error) {
    struct list list[2] = {{0}};
    uint64_t layers = 0;
    bool more = true;
    WEFT_TRY(read_header(lines, arena, w, list, ret_error));
    WEFT_TRY(weft__lines_next_full(lines, &more, ret_error));
    WEFT_TRY(weft__lines_number(lines, "the number of layers", LAYERS_MAX, &layers, ret_error));
    WEFT_TRY(weft__lines_end(lines, "the number of layers", ret_error));
    if (!layers) return BAD(lines, "no layers; expected one at least");
    w->layers = (uint32_t)layers;
    w->layer = weft_arena_alloc(arena, layers, sizeof *w->layer);
    for (uint32_t i = 0; i < w->layers; i++)
        WEFT_TRY(read_layer(lines, arena, w, &w->layer[i], ret_error));
    WEFT_TRY(weft__lines_next_full(lines, &more, ret_error));
    if (more) return BAD(lines, "a line after the last of %" PRIu32 " layers; expected the end of the file", w->layers);
    WEFT_TRY(mark_layers(w, list, ret_error));
    if (w->ga > 1) find_blocks(w);
    if (w->ga <= 1) find_block(w);
    return WEFT_OK;
}

enum weft_status weft__simai_read(const char *path, struct weft_place place, struct weft_arena *arena,
                                  struct weft__simai *ret_workload, struct weft_error *ret_error) {
    WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
    *ret_workload = (struct weft__simai){0};
    WEFT_TRY(weft__lines_open(&lines, path, place, ret_error));
    return read_all(&lines, arena, ret_workload, ret_error);
}
