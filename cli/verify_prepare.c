// SPDX-License-Identifier: Apache-2.0
// What must be run. A task is identified by everything that it depends on, so that claims, seeds and scenarios of one
// folder share equal tasks: the effective configuration, the seed if the run draws, and the folder, because it may
// contain named files.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/tree.h"
#include "verify.h"
#include "weft/sim.h"

enum { DEPTH_MAX = 16 };

// --- files --------------------------------------------------------------------------------------------------------

static enum weft_status add_file(struct verify *v, const char *path, struct weft_error *ret_error) {
    struct verified *s = weft_arena_alloc(v->o->arena, 1, sizeof *s);
    s->path = weft_arena_text(v->o->arena, path);
    v->preparing = s;
    s->shown = weft__text_shown(s->path, v->o->arena);
    WEFT_TRY(weft_scenario_file_read(path, v->o->setting, v->o->settings, &s->file, ret_error));
    if (!weft_scenario_claims(s->file)) {
        weft_scenario_file_free(s->file);
        v->preparing = NULL;
        v->claimless++;
        return WEFT_OK;
    }
    *v->last = s;
    v->last = &s->next;
    return weft_cli_claims_init(&s->claims, s->file, v->o->arena, ret_error);
}

static int is_scenario_or_folder(const struct dirent *entry) {
    return *entry->d_name != '.';
}

static bool is_yaml(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

static enum weft_status add_path(struct verify *v, const char *path, uint32_t depth, struct weft_error *ret_error);

static enum weft_status add_folder(struct verify *v, const char *path, uint32_t depth, struct weft_error *ret_error) {
    struct dirent **entry;
    int n = scandir(path, &entry, is_scenario_or_folder, alphasort);
    if (n < 0 && errno == ENOMEM) weft_memory_fail();
    if (n < 0) return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "cannot read '%s': %s", path, strerror(errno));
    enum weft_status status = WEFT_OK;
    for (int i = 0; i < n; i++) {
        size_t length = strlen(path);
        while (length > 1 && path[length - 1] == '/')
            length--;
        const char *below = weft_arena_format(v->o->arena, "%.*s/%s", (int)length, path, entry[i]->d_name);
        if (!status && depth < DEPTH_MAX) status = add_path(v, below, depth + 1, ret_error);
        free(entry[i]);
    }
    free(entry);
    return status;
}

/// A file that the user names is read whatever its name is.
static enum weft_status add_path(struct verify *v, const char *path, uint32_t depth, struct weft_error *ret_error) {
    struct stat info;
    if (!stat(path, &info) && S_ISDIR(info.st_mode)) return add_folder(v, path, depth, ret_error);
    return !depth || is_yaml(path) ? add_file(v, path, ret_error) : WEFT_OK;
}

enum weft_status verify_read(struct verify *v, const char *path, struct weft_error *ret_error) {
    struct verified **before = v->last;
    if (!strcmp(path, "-"))
        return WEFT_REFUSE(
            ret_error, WEFT_NOWHERE,
            "its runs are programs of their own, which cannot read standard input again; expected a file");
    WEFT_TRY(add_path(v, path, 0, ret_error));
    if (v->last == before && v->o->operands == 1)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "no scenario with claims in '%s'", path);
    if (v->last == before)
        fprintf(stderr, "weft: no scenario with claims in '%s'\n", weft__text_shown(path, v->o->arena));
    return WEFT_OK;
}

// --- tasks --------------------------------------------------------------------------------------------------------

/// The key of a task, except its seed and the command.
struct task_key {
    uint64_t hash;
    bool draws;
    char seed[24]; ///< from the configuration
};

static void add_value(void *context, const char *path, const char *value, const char *dflt) {
    struct task_key *key = context;
    if (!strcmp(path, "name") || !strcmp(path, "about")) return;
    if (!strcmp(path, "run.seed")) {
        snprintf(key->seed, sizeof key->seed, "%s", value);
        return;
    }
    key->hash = weft__hash_text(key->hash, path);
    key->hash = weft__hash_text(key->hash, value);
}

static struct task_key key_of(const struct verified *s, const struct weft_cli_simulation *sim) {
    const char *slash = strrchr(s->path, '/');
    struct task_key key = {.draws = weft_simulation_draws(sim->scenario, sim->topology)};
    key.hash = weft__hash(WEFT__HASH_START, s->path, slash ? (size_t)(slash - s->path) : 0);
    weft_scenario_each(sim->scenario, add_value, &key);
    return key;
}

struct verify_task *verify_task_find(const struct verify *v, uint64_t key) {
    struct verify_task *t = v->bucket[key % VERIFY_BUCKETS];
    while (t && t->key != key)
        t = t->next_in_bucket;
    return t;
}

/// Control planes, placements and the orders of messages draw random numbers even if the packets of a run do not.
/// Goodput, advice and the ledger of jobs run other variants and jobs than the one whose configuration is hashed, so
/// they go by the file and its settings, among which the seed is.
static uint64_t whole_key(const struct verify_reading *r, const struct task_key *k, enum weft_claim_from from,
                          const char *seed) {
    uint64_t key = weft__hash_text(k->hash, weft_claim_from_names[from]);
    if (from >= WEFT_CLAIM_FROM_GOODPUT && from <= WEFT_CLAIM_FROM_WHY_JOBS) {
        key = weft__hash_text(key, r->of->path);
        for (uint32_t i = 0; i < r->settings; i++)
            key = weft__hash_text(key, r->setting[i]);
        return key;
    }
    bool draws = from == WEFT_CLAIM_FROM_RUN ? k->draws : from >= WEFT_CLAIM_FROM_PLACE;
    return draws ? weft__hash_text(key, seed) : key;
}

static void add_use(struct verify *v, struct verify_reading *r, uint32_t variant, enum weft_claim_from from,
                    const struct task_key *k, const char *seed) {
    uint64_t key = whole_key(r, k, from, seed);
    struct verify_task *t = verify_task_find(v, key);
    if (!t) {
        t = weft_arena_alloc(v->o->arena, 1, sizeof *t);
        *t = (struct verify_task){.key = key,
                                  .path = r->of->path,
                                  .variant = weft_scenario_variant_name(r->of->file, variant),
                                  .from = from,
                                  .setting = r->setting,
                                  .settings = r->settings,
                                  .next_in_bucket = v->bucket[key % VERIFY_BUCKETS]};
        v->bucket[key % VERIFY_BUCKETS] = t;
        *v->last_task = t;
        v->last_task = &t->next;
        v->tasks++;
    }
    struct verify_use *use = weft_arena_alloc(v->o->arena, 1, sizeof *use);
    *use = (struct verify_use){r, variant, t->use};
    t->use = use;
    v->uses++;
}

/// How many values a reading needs for a variant from a command.
static uint32_t count_values(const struct verify_reading *r, uint32_t variant, enum weft_claim_from from) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->claims.n; i++)
        for (uint32_t m = 0; r->judged[i] && m < r->claims.claim[i].metrics; m++)
            n += r->claims.claim[i].metric[m].variant == variant && r->claims.claim[i].metric[m].from == from;
    return n;
}

static bool is_judged(const struct verify_reading *r, uint32_t claim) {
    for (uint32_t k = 0; k < r->of->readings; k++)
        if (r[k].judged[claim]) return true;
    return false;
}

/// A metric that vanishes without the mechanism would break any claim, so every metric of a judged claim must be
/// measured.
static enum weft_status check_metrics(const struct verify_reading *r, uint32_t variant,
                                      const struct weft_cli_simulation *sim, struct weft_error *ret_error) {
    for (uint32_t i = 0; i < r->claims.n; i++) {
        struct weft_cli_claims one = {.claim = &r->claims.claim[i], .n = 1, .result = &r->claims.result[i]};
        if (is_judged(r, i)) WEFT_TRY(weft_cli_claims_check(&one, variant, sim, ret_error));
    }
    return WEFT_OK;
}

static void add_uses(struct verify *v, struct verify_reading *r, uint32_t variant, const struct task_key *key) {
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", r->seed ? (unsigned long long)*r->seed : 0);
    for (enum weft_claim_from from = 0; from < WEFT_CLAIM_FROMS; from++)
        if (count_values(r, variant, from)) add_use(v, r, variant, from, key, r->seed ? seed : key->seed);
}

/// Everything that the readings (one per seed) of a file need for a variant.
static enum weft_status prepare_variant(struct verify *v, struct verify_reading *r,
                                        const struct weft_scenario_file *file, uint32_t variant,
                                        struct weft_error *ret_error) {
    struct verified *s = r->of;
    uint32_t values = 0;
    for (uint32_t k = 0; k < s->readings; k++)
        for (enum weft_claim_from from = 0; from < WEFT_CLAIM_FROMS; from++)
            values += count_values(&r[k], variant, from);
    if (!values) return WEFT_OK;
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    WEFT_TRY(weft_cli_simulation_init(&sim, file, variant, ret_error));
    WEFT_TRY(check_metrics(r, variant, &sim, ret_error));
    if (!s->name) s->name = weft_arena_text(v->o->arena, sim.scenario->name);
    s->variants += !r->changed;
    struct task_key key = key_of(s, &sim);
    for (uint32_t k = 0; k < s->readings; k++)
        add_uses(v, &r[k], variant, &key);
    return WEFT_OK;
}

// --- readings -----------------------------------------------------------------------------------------------------

static bool is_among(uint64_t seed, const uint64_t *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == seed) return true;
    return false;
}

/// The seeds that claims name, each once.
static uint64_t *own_seeds(const struct verified *s, struct weft_arena *arena, uint32_t *ret_n) {
    uint32_t room = 0, n = 0;
    for (uint32_t i = 0; i < s->claims.n; i++)
        room += s->claims.claim[i].own_seeds;
    uint64_t *seed = weft_arena_alloc(arena, room, sizeof *seed);
    for (uint32_t i = 0; i < s->claims.n; i++)
        for (uint32_t k = 0; k < s->claims.claim[i].own_seeds; k++)
            if (!is_among(s->claims.claim[i].own_seed[k], seed, n)) seed[n++] = s->claims.claim[i].own_seed[k];
    *ret_n = n;
    return seed;
}

/// One reading per seed of --seeds; or one with the configuration's seed, and one per seed that a claim names.
static struct verify_reading *new_seeds(const struct verify *v, struct verified *s) {
    struct weft_arena *arena = v->o->arena;
    uint32_t n = v->seeds;
    const uint64_t *seed = v->seeds ? v->seed : own_seeds(s, arena, &n);
    uint32_t first = v->seeds ? 0 : 1;
    s->readings = first + n;
    struct verify_reading *r = weft_arena_alloc(arena, s->readings, sizeof *r);
    for (uint32_t k = 0; k < s->readings; k++) {
        r[k] = (struct verify_reading){.of = s, .seed = k < first ? NULL : &seed[k - first]};
        r[k].judged = weft_arena_alloc(arena, s->claims.n, sizeof *r[k].judged);
    }
    return r;
}

/// Whether claim `c` is judged with the seed of reading `r`.
static bool is_for_seed(const struct verify *v, const struct verify_reading *r, const struct weft_claim *c) {
    if (v->seeds) return true;
    return r->seed ? is_among(*r->seed, c->own_seed, c->own_seeds) : !c->own_seeds;
}

static void add_judged(const struct verify *v, struct verify_reading *r, uint32_t claim) {
    for (uint32_t k = 0; k < r->of->readings; k++)
        r[k].judged[claim] = is_for_seed(v, &r[k], &r->of->claims.claim[claim]);
}

/// With the settings of that layer; NULL: unchanged.
static struct verify_reading *new_readings(const struct verify *v, struct verified *s,
                                           const struct verify_layer *layer) {
    struct weft_arena *arena = v->o->arena;
    struct verify_reading *r = new_seeds(v, s);
    uint32_t more = layer ? layer->settings : 0;
    for (uint32_t k = 0; k < s->readings; k++) {
        r[k].changed = layer;
        r[k].band = layer && layer->band;
        weft_cli_claims_copy(&r[k].claims, &s->claims, arena);
        r[k].setting = weft_arena_alloc(arena, v->o->settings + more + 1, sizeof *r[k].setting);
        for (uint32_t i = 0; i < v->o->settings; i++)
            r[k].setting[r[k].settings++] = v->o->setting[i];
        if (r[k].seed)
            r[k].setting[r[k].settings++] = weft_arena_format(arena, "run.seed=%llu", (unsigned long long)*r[k].seed);
        for (uint32_t i = 0; i < more; i++)
            r[k].setting[r[k].settings++] = layer->setting[i];
    }
    return r;
}

// --- layers of settings -------------------------------------------------------------------------------------------

static bool has_settings(const struct verify_layer *layer, const char *const *setting, uint32_t settings) {
    bool same = layer->settings == settings;
    for (uint32_t i = 0; i < settings && same; i++)
        same = !strcmp(layer->setting[i], setting[i]);
    return same;
}

struct verify_layer *verify_layer_at(const struct verify *v, struct verified *s, uint32_t i, const char **setting,
                                     uint32_t settings, bool band) {
    const struct weft_claim *c = &s->claims.claim[i];
    struct verify_layer *layer = s->layer;
    while (layer && (layer->band != band || !has_settings(layer, setting, settings)))
        layer = layer->next;
    if (!layer) {
        layer = weft_arena_alloc(v->o->arena, 1, sizeof *layer);
        *layer = (struct verify_layer){.setting = setting,
                                       .settings = settings,
                                       .band = band,
                                       .key = band ? "bands" : "without",
                                       .place = band ? c->band[0].place : c->without_place,
                                       .next = s->layer};
        layer->reading = new_readings(v, s, layer);
        s->layer = layer;
    }
    add_judged(v, layer->reading, i);
    return layer;
}

/// An error in the settings is reported at the claim's place of them.
static enum weft_status prepare_layer(struct verify *v, struct verified *s, const struct verify_layer *layer,
                                      struct weft_error *ret_error) {
    WEFT_ENDS(weft_scenario_file_end) struct weft_scenario_file *file = NULL;
    struct weft_error own = {0};
    struct verify_reading *r = layer->reading;
    enum weft_status status = weft_scenario_file_read(s->path, r->setting, r->settings, &file, &own);
    for (uint32_t i = 0; !status && i < weft_scenario_variants(s->file); i++)
        status = prepare_variant(v, r, file, i, &own);
    if (status) weft_error_set(ret_error, own.status, layer->place, "%s: %s", layer->key, own.text + own.message_at);
    return status;
}

enum weft_status verify_prepare_layers(struct verify *v, struct verified *s, const struct verify_layer *end,
                                       struct weft_error *ret_error) {
    for (const struct verify_layer *l = s->layer; l != end; l = l->next)
        WEFT_TRY(prepare_layer(v, s, l, ret_error));
    return WEFT_OK;
}

enum weft_status verify_prepare(struct verify *v, struct verified *s, struct weft_error *ret_error) {
    s->plain = new_readings(v, s, NULL);
    for (uint32_t i = 0; i < s->claims.n; i++)
        add_judged(v, s->plain, i);
    s->bite = weft_arena_alloc(v->o->arena, s->claims.n, sizeof(struct verify_reading *));
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < weft_scenario_variants(s->file) && !status; i++)
        status = prepare_variant(v, s->plain, s->file, i, ret_error);
    for (uint32_t i = s->claims.n; v->teeth && i-- > 0;) { // the last layer is the first in the list
        const struct weft_claim *c = &s->claims.claim[i];
        if (c->withouts) s->bite[i] = verify_layer_at(v, s, i, c->without, c->withouts, false)->reading;
    }
    return status ? status : verify_prepare_layers(v, s, NULL, ret_error);
}
