// SPDX-License-Identifier: Apache-2.0
// The section `claims` of a scenario file.
#include "claim/claim.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "weft/param.h"
#include "weft/sweep.h"

enum { CLAIMS_MAX = 1024 };

const char *const weft_claim_in_band_names[] = {"unknown", "holds", "turns", "hidden", "ideal", NULL};
const char *const weft_claim_in_band_texts[] = {"not judged", "holds in the band", "turns in the band",
                                                "within what hosts hide", "only at its own values"};
const char *const weft_claim_in_band_plurals[] = {"not judged", "hold in the band", "turn in the band",
                                                  "within what hosts hide", "only at their own values"};

static const char *const claim_lists[] = {"without", "seeds", "bands", NULL};

static const char *claim_check(const void *conf, char *text, size_t size) {
    const struct weft_claim *c = conf;
    if (c->control && !c->expected)
        snprintf(text, size, "control is yes, and expected is no; expected one of them");
    else if (*c->definition && (*c->toothless || !weft_claim_is_to_hold(c)))
        snprintf(text, size, "a definition holds and has no teeth; expected neither toothless nor expected: no");
    else if (!c->expected && !*c->reason)
        snprintf(text, size, "expected is no; a reason is missing");
    else
        return NULL;
    return text;
}
static const struct weft_param_table claim_table = WEFT_PARAM_TABLE_OF(
    "claim", struct weft_claim, WEFT_PARAM_AND(.check = claim_check, .lists = claim_lists),
    WEFT_PROSE(struct weft_claim, text, "text", NULL,
               "what is claimed, in words; quoted from the source if it has one"),
    WEFT_PROSE(struct weft_claim, source, "source", "", "who says so, and where"),
    WEFT_PROSE(struct weft_claim, checks, "checks", "",
               "statements of sources that the claim checks: names with commas"),
    WEFT_PROSE(struct weft_claim, that, "that", NULL,
               "the same in figures: pfc+sfc.victims.fct.mean < pfc.victims.fct.mean * 90%"),
    WEFT_BOOL(struct weft_claim, expected, "expected", "yes", "no: known not to hold; needs a reason"),
    WEFT_BOOL(struct weft_claim, control, "control", "no",
              "yes: must not hold, as its network lacks the mechanism that it is about"),
    WEFT_PROSE(struct weft_claim, reason, "reason", "", "why it is not expected to hold"),
    WEFT_PROSE(struct weft_claim, toothless, "toothless", "",
               "why no setting can break it: arithmetic, an identity; instead of `without`"),
    WEFT_PROSE(struct weft_claim, definition, "definition", "",
               "which setting or rule of the model it repeats, so that it shows nothing else; instead of `without`"),
    WEFT_CHOICE(struct weft_claim, in_band, "in_band", "unknown", weft_claim_in_band_names,
                "what `bands` must make of it: holds, turns, hidden (by what hosts take), ideal (holds at none)"),
    WEFT_TEXT(struct weft_claim, cases, "cases", "*", "shell pattern over cases, for a claim that is made of each"));

struct at_least {
    uint64_t at_least, of;
    const char *reason;
};
static const char *at_least_check(const void *conf, char *text, size_t size) {
    const struct at_least *c = conf;
    if (c->at_least <= c->of && *c->reason) return NULL;
    if (!*c->reason)
        snprintf(text, size, "a reason is missing");
    else
        snprintf(text, size, "at least %llu of %llu seeds", (unsigned long long)c->at_least, (unsigned long long)c->of);
    return text;
}
static const struct weft_param_table at_least_table = WEFT_PARAM_TABLE_OF(
    "seeds", struct at_least, .check = at_least_check,
    WEFT_UINT(struct at_least, at_least, "at_least", NULL, "1", "1000", "with so many of the seeds it must hold"),
    WEFT_UINT(struct at_least, of, "of", "8", "1", "1000", "of so many; of other numbers the same part, rounded down"),
    WEFT_PROSE(struct at_least, reason, "reason", NULL, "why it need not hold with each"));

uint32_t weft_claim_seeds_needed(const struct weft_claim *claim, uint32_t seeds) {
    switch (claim->seeds) {
    case WEFT_CLAIM_SEEDS_EACH:
        return seeds;
    case WEFT_CLAIM_SEEDS_AT_LEAST:
        return seeds * claim->at_least / claim->of;
    case WEFT_CLAIM_SEEDS_MEAN:
        return 1;
    }
    assert(0);
    return 0;
}

bool weft_claim_is_judged(const struct weft_claim *claim, uint32_t seeds) {
    if (claim->seeds == WEFT_CLAIM_SEEDS_MEAN) return seeds > 1;
    return weft_claim_seeds_needed(claim, seeds) > 0;
}

/// Arguments that the functions below share.
struct load {
    const struct weft_scenario_file *file;
    struct weft_arena *arena;
    struct weft_error *error;
    struct weft_claim *claim;
    uint32_t n, room;
};

static struct weft_claim *add_claim(struct load *l, const struct weft_claim *claim) {
    assert(l->n < l->room);
    l->claim[l->n] = *claim;
    return &l->claim[l->n++];
}

/// Loads a claim of one case; *ret_per_case says whether the next case also needs it.
static enum weft_status load_case(struct load *l, const struct weft_claim *claim, const char *case_name,
                                  const char *path, bool *ret_per_case) {
    struct weft_claim *c = add_claim(l, claim);
    c->case_name = case_name;
    enum weft_status status = weft__claim_parse(c, l->file, path, l->arena, ret_per_case, l->error);
    if (!status && !*ret_per_case) c->case_name = "";
    return status;
}

struct mean {
    const char *mean;
};
static const struct weft_param_table mean_table =
    WEFT_PARAM_TABLE_OF("seeds", struct mean, WEFT_PARAM_UNCHECKED,
                        WEFT_TEXT(struct mean, mean, "mean", NULL, "the seeds whose mean is claimed: 1..8, or 1,2,7"));

/// seeds: {mean: 1..8}
static enum weft_status load_mean(struct load *l, const struct weft_tree *seeds, const char *path,
                                  struct weft_claim *claim) {
    struct mean mean;
    WEFT_TRY(weft__params_load_at(&mean_table, seeds, path, &mean, l->arena, l->error));
    uint64_t *seed = NULL;
    if (!weft_seeds_parse(mean.mean, l->arena, &seed, &claim->own_seeds) || claim->own_seeds < 2)
        return WEFT_REFUSE(l->error, weft_tree_find(seeds, "mean")->place,
                           "%s.mean: \"%.200s\"; expected two seeds or more, such as 1..8 or 1,2,7", path, mean.mean);
    claim->own_seed = seed;
    claim->seeds = WEFT_CLAIM_SEEDS_MEAN;
    return WEFT_OK;
}

/// seeds: each | mean | {mean: 1..8} | {at_least: 6, of: 8, reason: ...}
static enum weft_status load_seeds(struct load *l, const struct weft_tree *seeds, const char *path,
                                   struct weft_claim *claim) {
    if (seeds->type == WEFT_TREE_TEXT && !strcmp(seeds->text, "mean")) {
        claim->seeds = WEFT_CLAIM_SEEDS_MEAN;
        return WEFT_OK;
    }
    if (seeds->type == WEFT_TREE_TEXT && !strcmp(seeds->text, "each")) return WEFT_OK;
    if (seeds->type != WEFT_TREE_MAP)
        return WEFT_REFUSE(l->error, seeds->place,
                           "%s: expected each, mean, {mean: 1..8} or {at_least: 6, reason: ...}", path);
    if (weft_tree_find(seeds, "mean")) return load_mean(l, seeds, path, claim);
    struct at_least few;
    WEFT_TRY(weft__params_load_at(&at_least_table, seeds, path, &few, l->arena, l->error));
    claim->seeds = WEFT_CLAIM_SEEDS_AT_LEAST;
    claim->at_least = (uint32_t)few.at_least;
    claim->of = (uint32_t)few.of;
    claim->seeds_reason = few.reason;
    return WEFT_OK;
}

/// {path: value, ...} as settings, "path=value".
static void set_settings(const struct weft_tree *map, struct weft_arena *arena, const char ***ret_setting,
                         uint32_t *ret_n) {
    const char **setting = weft_arena_alloc(arena, map->n, sizeof *setting);
    for (uint32_t i = 0; i < map->n; i++)
        setting[i] = weft_arena_format(arena, "%s=%s", map->child[i]->key, weft_tree_text(map->child[i], arena));
    *ret_setting = setting;
    *ret_n = map->n;
}

/// without: {path: value, ...}
static enum weft_status load_without(struct load *l, const struct weft_tree *without, const char *path,
                                     struct weft_claim *claim) {
    if (without->type != WEFT_TREE_MAP || !without->n)
        return WEFT_REFUSE(l->error, without->place,
                           "%s: expected a map of paths and values that break the claim, such as {host.cc: none}",
                           path);
    if (*claim->toothless || *claim->definition || !weft_claim_is_to_hold(claim))
        return WEFT_REFUSE(l->error, without->place, "%s: the claim %s; expected one of the two", path,
                           *claim->definition  ? "is a definition"
                           : *claim->toothless ? "is toothless"
                                               : "is not to hold anyway");
    claim->without_place = without->place;
    set_settings(without, l->arena, &claim->without, &claim->withouts);
    return WEFT_OK;
}

/// An entry of bands: PATH, {PATH: CLASS} or {PATH: [LOW, TYPICAL, HIGH]}, with `with: {path: value}` beside it.
static bool parse_band(const struct weft_tree *entry, struct weft_arena *arena, struct weft_claim_band *ret) {
    *ret = (struct weft_claim_band){.hardware = "", .place = entry->place};
    if (entry->type == WEFT_TREE_TEXT) {
        ret->path = entry->text;
        return *entry->text;
    }
    const struct weft_tree *with = entry->type == WEFT_TREE_MAP ? weft_tree_find(entry, "with") : NULL;
    if (entry->type != WEFT_TREE_MAP || entry->n != (with ? 2 : 1)) return false;
    const struct weft_tree *of = entry->child[entry->child[0] == with];
    if (with && (with->type != WEFT_TREE_MAP || !with->n)) return false;
    if (with) set_settings(with, arena, &ret->with, &ret->withs);
    ret->path = of->key;
    if (of->type == WEFT_TREE_TEXT) ret->hardware = of->text;
    if (of->type != WEFT_TREE_LIST) return *ret->hardware;
    for (uint32_t i = 0; i < of->n; i++) {
        if (i == 3 || of->child[i]->type != WEFT_TREE_TEXT) return false;
        ret->value[ret->values++] = of->child[i]->text;
    }
    return ret->values;
}

static enum weft_status load_bands(struct load *l, const struct weft_tree *bands, const char *path,
                                   struct weft_claim *claim) {
    bool none = !bands || bands->type == WEFT_TREE_NULL;
    if (none && claim->in_band)
        return WEFT_REFUSE(l->error, claim->place, "%s: in_band is %s; expected bands that it is judged in", path,
                           weft_claim_in_band_names[claim->in_band]);
    if (none) return WEFT_OK;
    if (bands->type != WEFT_TREE_LIST || !bands->n)
        return WEFT_REFUSE(l->error, bands->place,
                           "%s: expected a list of paths, such as [switch.processing, host.nic]", path);
    struct weft_claim_band *band = weft_arena_alloc(l->arena, bands->n, sizeof *band);
    for (uint32_t i = 0; i < bands->n; i++)
        if (!parse_band(bands->child[i], l->arena, &band[i]))
            return WEFT_REFUSE(
                l->error, bands->child[i]->place,
                "%s.%u: expected a path, {path: class} or {path: [low, typical, high]}, and beside it `with` "
                "and a map of settings",
                path, i);
    claim->band = band;
    claim->bands = bands->n;
    return WEFT_OK;
}

/// Loads what the table does not describe.
static enum weft_status load_lists(struct load *l, const struct weft_tree *entry, uint32_t i,
                                   struct weft_claim *claim) {
    char path[64];
    claim->seeds_reason = "";
    const struct weft_tree *seeds = weft_tree_find(entry, "seeds"), *without = weft_tree_find(entry, "without");
    snprintf(path, sizeof path, "claims.%u.seeds", i);
    enum weft_status status = seeds && seeds->type != WEFT_TREE_NULL ? load_seeds(l, seeds, path, claim) : WEFT_OK;
    snprintf(path, sizeof path, "claims.%u.without", i);
    if (!status && without && without->type != WEFT_TREE_NULL) status = load_without(l, without, path, claim);
    snprintf(path, sizeof path, "claims.%u.bands", i);
    return status ? status : load_bands(l, weft_tree_find(entry, "bands"), path, claim);
}

static enum weft_status load_claim(struct load *l, const struct weft_tree *entry, uint32_t i) {
    char path[64];
    snprintf(path, sizeof path, "claims.%u", i);
    struct weft_claim claim = {0};
    enum weft_status status = weft__params_load_at(&claim_table, entry, path, &claim, l->arena, l->error);
    if (!status) claim.place = weft_tree_find(entry, "that")->place;
    if (!status) status = load_lists(l, entry, i, &claim);
    if (status) return status;
    snprintf(path, sizeof path, "claims.%u.that", i);
    uint32_t variants = weft_scenario_variants(l->file), before = l->n;
    bool per_case = true;
    const char *last = NULL;
    for (uint32_t v = 0; v < variants && per_case && !status; v++) {
        const char *name = weft_scenario_variant_case(l->file, v);
        bool again = last && !strcmp(name, last);
        last = name;
        if (!again && (!*name || weft_glob_match(claim.cases, name)))
            status = load_case(l, &claim, name, path, &per_case);
    }
    if (!status && l->n == before)
        status = WEFT_REFUSE(l->error, entry->place, "claims.%u.cases: no case is called \"%.200s\"", i, claim.cases);
    return status;
}

enum weft_status weft_claims_new(const struct weft_scenario_file *file, struct weft_arena *arena,
                                 struct weft_claim **ret_claim, uint32_t *ret_n, struct weft_error *ret_error) {
    const struct weft_tree *list = weft_scenario_claims(file);
    *ret_n = 0;
    *ret_claim = NULL;
    if (!list) return WEFT_OK;
    if (list->type != WEFT_TREE_LIST) return WEFT_REFUSE(ret_error, list->place, "claims: expected a list of claims");
    if (list->n > CLAIMS_MAX) return WEFT_REFUSE(ret_error, list->place, "claims: more than %d entries", CLAIMS_MAX);
    struct load l = {.file = file, .arena = arena, .error = ret_error, .room = list->n * weft_scenario_variants(file)};
    l.claim = weft_arena_alloc(arena, l.room, sizeof *l.claim);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < list->n && !status; i++)
        status = load_claim(&l, list->child[i], i);
    *ret_claim = l.claim;
    *ret_n = status ? 0 : l.n;
    return status;
}
