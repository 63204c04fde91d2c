// SPDX-License-Identifier: Apache-2.0
// Where a parameter is that somebody wrote in another section, or beside another kind of model: with another kind of
// the same model, or where parameters of one kind of model alone are called so.
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "weft/model.h"
#include "weft/param.h"

enum { NAMES = 128, KINDS_SHOWN = 4 };

/// What the model calls a word: so too, or by a word of other tools. NULL: it has no such parameter.
static const char *find_name(const struct weft_model *model, const char *word, bool exact, char *key, size_t size) {
    const struct weft_param_table *table = model->params;
    const char *names[NAMES];
    uint32_t n = 0;
    for (uint32_t i = 0; table && i < table->n && n < NAMES; i++)
        names[n++] = table->rows[i].name;
    for (const char *const *name = table ? table->lists : NULL; name && *name && n < NAMES; name++)
        names[n++] = *name;
    for (uint32_t i = 0; i < n && exact; i++)
        if (!strcmp(names[i], word)) return names[i];
    return exact || model->kind == WEFT_KIND_BOX ? NULL : weft__synonym_find(word, names, n, key, size);
}

/// The models of a kind that have the word, and what the first of them calls it; 0: none.
static uint32_t find_models(uint32_t kind, const char *word, const char **models, char *name, size_t size) {
    char key[64];
    uint32_t n = 0;
    for (unsigned exact = 2; exact-- && !n;)
        for (uint32_t m = 0; m < weft_model_count(kind) && n < NAMES; m++) {
            const struct weft_model *model = weft_model_at(kind, m);
            const char *own = find_name(model, word, exact, key, sizeof key);
            if (!own || (n && strcmp(own, name) != 0)) continue;
            if (!n) snprintf(name, size, "%s", own);
            models[n++] = model->name;
        }
    return n;
}

/// "switch.buffer has "alpha" with kind: dynamic, pool". False: no model of the kind has it.
static bool say_models(uint32_t kind, const char *where, const char *by, const char *word, char *text, size_t size) {
    const char *models[NAMES];
    char name[64], kinds[128];
    uint32_t n = find_models(kind, word, models, name, sizeof name);
    if (!n) return false;
    if (n > KINDS_SHOWN) models[KINDS_SHOWN] = "...";
    weft__names_join(models, n > KINDS_SHOWN ? KINDS_SHOWN + 1 : n, kinds, sizeof kinds);
    if (kind == WEFT_KIND_BOX)
        snprintf(text, size, "%s has \"%s\"", kinds, name);
    else
        snprintf(text, size, "%s has \"%s\" with %s: %s", where, name, by, kinds);
    return true;
}

/// The one kind of model that has a parameter of that name; WEFT_KINDS: none has, or several have.
static uint32_t only_kind(const char *word) {
    uint32_t only = WEFT_KINDS;
    for (uint32_t kind = 0; kind < WEFT_KINDS; kind++) {
        const char *models[NAMES];
        char name[64];
        if (kind == WEFT_KIND_IMPORT || kind == WEFT_KIND_FABRIC) continue; // of commands
        if (!find_models(kind, word, models, name, sizeof name)) continue;
        if (only < WEFT_KINDS) return WEFT_KINDS;
        only = kind;
    }
    return only;
}

/// The parameter of a box that is a model of the kind; NULL: none is.
static const struct weft_param *row_of(uint32_t kind, const struct weft_model **ret_box) {
    for (uint32_t b = 0; b < weft_model_count(WEFT_KIND_BOX); b++) {
        *ret_box = weft_model_at(WEFT_KIND_BOX, b);
        for (uint32_t i = 0; i < (*ret_box)->params->n; i++) {
            const struct weft_param *row = &(*ret_box)->params->rows[i];
            if (row->type == WEFT_PARAM_MODEL && row->model_kind == kind) return row;
        }
    }
    return NULL;
}

bool weft__param_elsewhere(uint32_t own, const char *section, const char *word, char *text, size_t size) {
    uint32_t kind = only_kind(word);
    const struct weft_model *box;
    char where[128];
    if (own == WEFT_KIND_IMPORT || own == WEFT_KIND_FABRIC) return false;
    if (own < WEFT_KINDS && say_models(own, section, "kind", word, text, size)) return true;
    if (kind == WEFT_KINDS) return false;
    const struct weft_param *row = row_of(kind, &box);
    if (!row) return say_models(kind, weft_kind_name(kind), "kind", word, text, size);
    snprintf(where, sizeof where, "%s%s%s", box->name, row->beside ? "" : ".", row->beside ? "" : row->name);
    return say_models(kind, where, row->beside ? row->name : "kind", word, text, size);
}
