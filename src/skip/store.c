// SPDX-License-Identifier: Apache-2.0
// The file: a header with weft's version and the checksum of the rest; then words of 64 bits, where a run of zeros is
// one zero and its length.
#include "skip/store.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/stream.h"
#include "weft/error.h"

static const char magic[16] = "weft memos";
enum {
    FORM = 1,             ///< version of the file's form
    COUNTS_MAX = 1 << 24, ///< counts of a box, at most
};

struct header {
    char magic[16], version[24];
    uint64_t form, words, sum; ///< sum: of all fields above and the words
};

// --- which scenario ------------------------------------------------------------------------------------------------

/// Parameters that do not affect how the network behaves.
static bool is_apart(const char *path) {
    static const char *const apart[] = {
        "name", "about", "run.until", "run.events", "run.fast_forward_store", "run.fast_forward_audit"};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (!strcmp(path, apart[i])) return true;
    return false;
}

static void mix_setting(void *context, const char *path, const char *value, const char *dflt) {
    uint64_t *hash = context;
    if (!is_apart(path)) *hash = weft__hash_text(weft__hash_text(*hash, path), value ? value : "");
}

static uint64_t mix_topology(uint64_t hash, const struct weft_topology *t) {
    for (uint32_t i = 0; i < t->nodes; i++) {
        hash = weft__hash_text(hash, t->node[i].name);
        hash = weft__digest_mix(hash, (uint64_t)t->node[i].box << 32 | t->node[i].ports);
    }
    for (uint32_t i = 0; i < t->ports; i++) {
        const struct weft_link_info *link = &t->link[t->port[i].link];
        hash = weft__digest_mix(hash, t->port[i].peer);
        hash = weft__digest_mix(hash, link->rate_bps);
        hash = weft__digest_mix(hash, link->delay_ps);
    }
    for (uint32_t i = 0; i < t->static_routes; i++) {
        const struct weft_static_route *route = &t->static_route[i];
        hash = weft__digest_mix(hash, (uint64_t)route->sw << 32 | route->host);
        for (uint32_t p = 0; p < route->ports; p++)
            hash = weft__digest_mix(hash, route->port[p]);
    }
    return hash;
}

/// Files that a scenario names are represented by what was built from them.
static uint64_t key_of(const struct weft__network *net) {
    const struct weft_workload *w = net->workload;
    uint64_t hash = WEFT__HASH_START;
    weft_scenario_each(net->scenario, mix_setting, &hash);
    hash = mix_topology(hash, net->topology);
    for (uint32_t i = 0; i < w->flows; i++) {
        const struct weft_flow *flow = &w->flow[i];
        hash = weft__digest_mix(hash, (uint64_t)flow->src << 32 | flow->dst);
        hash = weft__digest_mix(hash, flow->bytes);
        hash = weft__digest_mix(hash, flow->start_ps);
        hash = weft__digest_mix(hash, (uint64_t)flow->qps << 16 | (uint64_t)flow->priority << 8 | flow->verb);
        hash = weft__digest_mix(hash, (uint64_t)flow->source_port << 16 | flow->destination_port);
    }
    return hash;
}

// --- words ---------------------------------------------------------------------------------------------------------

static void append_word(struct weft__store *store, uint64_t word) {
    if (store->words == store->room) {
        size_t room = store->room ? 2 * store->room : 1024;
        uint64_t *more = weft_arena_alloc(store->arena, room, sizeof *more);
        if (store->words) memcpy(more, store->word, store->words * sizeof *more);
        store->word = more;
        store->room = room;
    }
    store->word[store->words++] = word;
}

static void append_zeros(struct weft__store *store) {
    if (!store->zeros) return;
    append_word(store, 0);
    append_word(store, store->zeros);
    store->zeros = 0;
}

void weft__store_put(struct weft__store *store, uint64_t word) {
    if (!word) {
        store->zeros++;
        return;
    }
    append_zeros(store);
    append_word(store, word);
}

uint64_t weft__store_get(struct weft__store *store) {
    if (store->zeros) {
        store->zeros--;
        return 0;
    }
    if (store->at == store->words) {
        store->wrong = true;
        return 0;
    }
    uint64_t word = store->word[store->at++];
    if (word) return word;
    if (store->at < store->words) store->zeros = store->word[store->at++];
    store->wrong |= !store->zeros;
    if (store->zeros) store->zeros--;
    return 0;
}

bool weft__store_is_whole(const struct weft__store *store) {
    return !store->wrong && !store->zeros && store->at == store->words;
}

// --- the file ------------------------------------------------------------------------------------------------------

static struct header header_of(const struct weft__store *store) {
    struct header h = {.form = FORM, .words = store->words};
    memcpy(h.magic, magic, sizeof magic);
    strncpy(h.version, WEFT_VERSION, sizeof h.version - 1);
    h.sum = weft__hash(weft__hash(WEFT__HASH_START, &h, offsetof(struct header, sum)), store->word,
                       store->words * sizeof *store->word);
    return h;
}

#define REFUSE(...) WEFT_REFUSE(error, (struct weft_place){.file = store->path}, __VA_ARGS__)

enum weft_status weft__store_refuse(const struct weft__store *store, struct weft_error *error) {
    return REFUSE("it is damaged; expected what a run of this scenario has written, or another "
                  "run.fast_forward_store");
}

static enum weft_status read_file(struct weft__store *store, FILE *file, struct weft_error *error) {
    struct header h = {0};
    bool whole = fread(&h, sizeof h, 1, file) == 1;
    if (!whole || memcmp(h.magic, magic, sizeof magic))
        return REFUSE("byte 0: it is no store of fast-forward; expected one that weft " WEFT_VERSION " has written, or "
                      "another run.fast_forward_store");
    h.version[sizeof h.version - 1] = 0;
    if (!strcmp(h.version, WEFT_VERSION) && h.form != FORM) // between two releases
        return REFUSE("byte %zu: its form is %llu; expected %d, which this build of weft writes, or another "
                      "run.fast_forward_store",
                      offsetof(struct header, form), (unsigned long long)h.form, FORM);
    if (strcmp(h.version, WEFT_VERSION) != 0)
        return REFUSE("byte %zu: it is of another version of weft (%s); expected one of " WEFT_VERSION
                      ", or another run.fast_forward_store",
                      offsetof(struct header, version), h.version);
    for (uint64_t word; fread(&word, sizeof word, 1, file) == 1;)
        append_word(store, word);
    struct header own = header_of(store);
    if (fgetc(file) != EOF || memcmp(&own, &h, sizeof h) != 0) return weft__store_refuse(store, error);
    store->is_there = true;
    return WEFT_OK;
}

enum weft_status weft__store_open(const struct weft__network *net, struct weft__store *ret, struct weft_error *error) {
    const char *folder = net->scenario->run.fast_forward_store;
    struct weft__store *store = ret;
    *store = (struct weft__store){0};
    if (!*folder) return WEFT_OK;
    store->arena = weft_arena_new(WEFT_MEMORY_RESULT);
    WEFT_TRY(weft_scenario_write_path(net->scenario, "run", "fast_forward_store", folder, NULL, store->arena, &folder,
                                      error));
    store->path = weft_arena_format(store->arena, "%s/%016" PRIx64 ".weft-memos", folder, key_of(net));
    if (mkdir(folder, 0777) && errno != EEXIST)
        return WEFT_REFUSE(error, (struct weft_place){.file = folder},
                           "%s; expected a folder, or a place for one (run.fast_forward_store)", strerror(errno));
    if (access(folder, W_OK | X_OK))
        return WEFT_REFUSE(error, (struct weft_place){.file = folder},
                           "%s; expected a folder in which files can be made (run.fast_forward_store)",
                           strerror(errno));
    FILE *file = weft__file_open(store->path, "r");
    if (!file && errno == ENOENT) return WEFT_OK;
    if (!file) return REFUSE("%s; expected a file to be read (run.fast_forward_store)", strerror(errno));
    enum weft_status status = read_file(store, file, error);
    fclose(file);
    return status;
}

void weft__store_write(struct weft__store *store) {
    append_zeros(store);
    struct header h = header_of(store);
    const char *draft = weft__draft_name(store->path, store->arena);
    FILE *file = weft__file_open(draft, "w");
    bool written = file && fwrite(&h, sizeof h, 1, file) == 1 &&
                   fwrite(store->word, sizeof *store->word, store->words, file) == store->words;
    if (file && fclose(file)) written = false;
    if (written) written = !rename(draft, store->path);
    if (!written && file) unlink(draft);
}

void weft__store_free(struct weft__store *store) {
    weft_arena_free(store->arena);
    *store = (struct weft__store){0};
}

// --- what was counted ----------------------------------------------------------------------------------------------

/// Sums over all workers.
static void put_histograms(struct weft__store *store, const struct weft__skips *s, const struct weft__mark *from,
                           const struct weft__mark *to) {
    for (uint32_t g = 0; g < s->groups; g++) {
        struct weft_histogram sum = {0};
        for (uint32_t i = 0; i < s->histograms; i++)
            if (s->group[i] == g) weft__histogram_add_between(&sum, &from->waits[i], &to->waits[i]);
        weft__store_put(store, sum.n);
        weft__store_put(store, sum.sum);
        weft__store_put(store, sum.sum_high);
        for (uint32_t b = 0; b < WEFT_HISTOGRAM_BUCKETS; b++)
            weft__store_put(store, sum.bucket[b]);
    }
}

/// The first of each group gets the sum.
static void get_histograms(struct weft__store *store, const struct weft__skips *s, struct weft__mark *to) {
    for (uint32_t g = 0; g < s->groups; g++) {
        struct weft_histogram sum = {.n = weft__store_get(store)};
        sum.sum = weft__store_get(store);
        sum.sum_high = weft__store_get(store);
        for (uint32_t b = 0; b < WEFT_HISTOGRAM_BUCKETS; b++)
            sum.bucket[b] = weft__store_get(store);
        for (uint32_t i = 0; i < s->histograms; i++)
            if (s->group[i] == g) {
                to->waits[i] = sum;
                break;
            }
    }
}

void weft__store_put_counted(struct weft__store *store, const struct weft__skips *s, const struct weft__mark *from,
                             const struct weft__mark *to) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct weft__numbers a = weft__mark_numbers(s, from, arena), b = weft__mark_numbers(s, to, arena);
    weft__store_put(store, to->time_ps - from->time_ps);
    for (size_t i = 0; i < b.n; i++)
        weft__store_put(store, b.number[i] - a.number[i]);
    put_histograms(store, s, from, to);
    for (uint32_t i = 0; i < s->net->topology->nodes; i++) {
        weft__store_put(store, to->box[i].n);
        for (uint32_t k = 0; k < to->box[i].n; k++)
            weft__store_put(store, to->box[i].count[k] - weft__mark_count_in(&from->box[i], k));
    }
}

static void clear_number(void *context, uint64_t *number) {
    *number = 0;
}

static void get_number(void *context, uint64_t *number) {
    *number = weft__store_get(context);
}

/// Takes a mark with all counts zero.
static void take_empty(const struct weft__skips *s, struct weft__mark *ret) {
    weft__mark_take(s, 0, ret);
    ret->time_ps = 0;
    weft__mark_each(s, ret, clear_number, NULL);
    for (uint32_t i = 0; i < s->histograms; i++)
        ret->waits[i] = (struct weft_histogram){0};
    for (uint32_t i = 0; i < s->net->topology->nodes; i++)
        ret->box[i].n = 0;
}

void weft__store_get_counted(struct weft__store *store, const struct weft__skips *s, struct weft__mark *ret_from,
                             struct weft__mark *ret_to) {
    take_empty(s, ret_from);
    take_empty(s, ret_to);
    ret_to->time_ps = weft__store_get(store);
    weft__mark_each(s, ret_to, get_number, store);
    get_histograms(store, s, ret_to);
    for (uint32_t i = 0; i < s->net->topology->nodes; i++) {
        uint64_t n = weft__store_get(store);
        if (n > COUNTS_MAX || store->wrong) {
            store->wrong = true;
            return;
        }
        ret_to->box[i].n = (uint32_t)n;
        ret_to->box[i].count = weft_arena_alloc(ret_to->arena, n, sizeof *ret_to->box[i].count);
        for (uint32_t k = 0; k < n; k++)
            ret_to->box[i].count[k] = weft__store_get(store);
    }
}
