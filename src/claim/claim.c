// SPDX-License-Identifier: Apache-2.0
// The section `claims` of a scenario file.
#include "claim/claim.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"

enum { CLAIMS_MAX = 1024 };

static const char *const seeds_names[] = {"all", "some", NULL};
static const struct weft_param claim_rows[] = {
    WEFT_PROSE(struct weft_claim, text, "text", NULL,
               "what is claimed, in words; quoted from the source if it has one"),
    WEFT_PROSE(struct weft_claim, source, "source", "", "who says so, and where"),
    WEFT_PROSE(struct weft_claim, that, "that", NULL,
               "the same in figures: pfc+sfc.victims.fct.mean < pfc.victims.fct.mean * 90%"),
    WEFT_BOOL(struct weft_claim, expected, "expected", "yes", "no: known not to hold; needs a reason"),
    WEFT_CHOICE(struct weft_claim, seeds, "seeds", "all", seeds_names,
                "with which seeds it is expected to hold, or not to; some: known to depend on that; needs a reason"),
    WEFT_PROSE(struct weft_claim, reason, "reason", "", "why it is not expected to hold, or holds with some seeds"),
    WEFT_TEXT(struct weft_claim, cases, "cases", "*", "shell pattern over cases, for a claim that is made of each"),
};

static const char *claim_check(const void *conf, char *text, size_t size) {
    const struct weft_claim *c = conf;
    bool some = c->seeds == WEFT_CLAIM_SEEDS_SOME;
    if (some && !c->expected)
        snprintf(text, size, "seeds is some, and expected is no; expected one of them");
    else if ((some || !c->expected) && !*c->reason)
        snprintf(text, size, "%s; a reason is missing", some ? "seeds is some" : "expected is no");
    else
        return NULL;
    return text;
}
const struct weft_param_table weft__claim_table =
    WEFT_PARAM_TABLE_CHECKED("claim", struct weft_claim, claim_rows, claim_check);

/// What the functions below pass along.
struct load {
    const struct weft_scenario_file *file;
    struct weft_arena *arena;
    struct weft_error *error;
    struct weft_claim *claim;
    uint32_t n, room;
};

static struct weft_claim *add(struct load *l, const struct weft_claim *claim) {
    assert(l->n < l->room);
    l->claim[l->n] = *claim;
    return &l->claim[l->n++];
}

/// Of one case; *ret_per_case says whether the next case is to have it too.
static enum weft_status load_case(struct load *l, const struct weft_claim *claim, const char *case_name,
                                  const char *path, bool *ret_per_case) {
    struct weft_claim *c = add(l, claim);
    c->case_name = case_name;
    enum weft_status status = weft__claim_parse(c, l->file, path, l->arena, ret_per_case, l->error);
    if (!status && !*ret_per_case) c->case_name = "";
    return status;
}

static enum weft_status load_claim(struct load *l, const struct weft_tree *entry, uint32_t i) {
    char path[64];
    snprintf(path, sizeof path, "claims.%u", i);
    struct weft_claim claim = {0};
    enum weft_status status = weft__params_load_at(&weft__claim_table, entry, path, &claim, l->arena, l->error);
    if (status) return status;
    claim.place = weft_tree_find(entry, "that")->place;
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
        status = weft_error_set(l->error, WEFT_ERROR_INPUT, entry->place,
                                "claims.%u.cases: no case is called \"%.200s\"", i, claim.cases);
    return status;
}

enum weft_status weft_claims_new(const struct weft_scenario_file *file, struct weft_arena *arena,
                                 struct weft_claim **ret_claim, uint32_t *ret_n, struct weft_error *ret_error) {
    const struct weft_tree *list = weft_scenario_claims(file);
    *ret_n = 0;
    *ret_claim = NULL;
    if (!list) return WEFT_OK;
    if (list->type != WEFT_TREE_LIST)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, list->place, "claims: expected a list of claims");
    if (list->n > CLAIMS_MAX)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, list->place, "claims: more than %d entries", CLAIMS_MAX);
    struct load l = {.file = file, .arena = arena, .error = ret_error, .room = list->n * weft_scenario_variants(file)};
    l.claim = weft_arena_alloc(arena, l.room, sizeof *l.claim);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < list->n && !status; i++)
        status = load_claim(&l, list->child[i], i);
    *ret_claim = l.claim;
    *ret_n = status ? 0 : l.n;
    return status;
}
