// SPDX-License-Identifier: Apache-2.0
// Reads a class of hardware from its file, and checks each value by the row that it is of.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "base/tree.h"
#include "hardware/hardware.h"
#include "weft/param.h"

const char *const weft_hardware_bases[] = {"measured", "vendor",  "source_code", "secondary",
                                           "inferred", "assumed", NULL};

#define WEFT_HARDWARE(kind, name, section, row, what, table) extern const struct weft_param_table table;
#include "weft/hardware.def"

static const struct kind {
    const char *name, *section, *row, *what;
    const struct weft_param_table *table;
} kinds[] = {
#define WEFT_HARDWARE(kind, name, section, row, what, table) {name, section, row, what, &table},
#include "weft/hardware.def"
};

const char *weft_hardware_kind_name(uint32_t kind) {
    return kinds[kind].name;
}
const char *weft_hardware_kind_section(uint32_t kind) {
    return kinds[kind].section;
}
const char *weft_hardware_kind_row(uint32_t kind) {
    return kinds[kind].row;
}
const char *weft_hardware_kind_what(uint32_t kind) {
    return kinds[kind].what;
}
const struct weft_param_table *weft_hardware_kind_table(uint32_t kind) {
    return kinds[kind].table;
}

static const char *const kind_names[] = {
#define WEFT_HARDWARE(kind, name, section, row, what, table) name,
#include "weft/hardware.def"
    NULL};

/// What every class says of itself.
static const char *const head_lists[] = {"values", NULL};
static const struct weft_param_table head_table = WEFT_PARAM_TABLE_OF(
    "hardware", struct weft_hardware, .lists = head_lists,
    WEFT_TEXT(struct weft_hardware, name, "name", NULL, "of the class"),
    WEFT_CHOICE(struct weft_hardware, kind, "kind", NULL, kind_names, "kind of hardware"),
    WEFT_PROSE(struct weft_hardware, about, "about", NULL, "product, rate, and what the class stands for"));

static const struct weft_param_table value_table = WEFT_PARAM_TABLE_OF(
    "value", struct weft_hardware_value, WEFT_PARAM_UNCHECKED,
    WEFT_TEXT(struct weft_hardware_value, low, "low", "", "least value of such hardware"),
    WEFT_TEXT(struct weft_hardware_value, typical, "typical", NULL, "the value that a scenario gets"),
    WEFT_TEXT(struct weft_hardware_value, high, "high", "", "largest value of such hardware"),
    WEFT_CHOICE(struct weft_hardware_value, basis, "basis", NULL, weft_hardware_bases, "how the value is known"),
    WEFT_PROSE(struct weft_hardware_value, source, "source", NULL, "where the value is from"));

// --- which row a key is of ----------------------------------------------------------------------------------------

/// The text of "buffer.kind", or of "buffer", among the values; NULL: there is none.
static const char *kind_in(const struct weft_tree *values, const char *key, size_t n) {
    for (uint32_t i = 0; values && i < values->n; i++) {
        const char *own = values->child[i]->key;
        bool names = !strncmp(own, key, n) && (!own[n] || !strcmp(own + n, ".kind"));
        if (names) return weft__tree_text(values->child[i], "typical");
    }
    return NULL;
}

/// The row of a dotted key; a model is the one that `values` name, else the default, else any that has such a row.
static const struct weft_param *row_of(const struct weft_param_table *table, const char *key,
                                       const struct weft_tree *values) {
    size_t n = strcspn(key, ".");
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param *row = &table->rows[i], *found = NULL;
        if (strlen(row->name) != n || strncmp(row->name, key, n)) continue;
        if (!key[n]) return row->type == WEFT_PARAM_SECTION ? NULL : row;
        const char *rest = key + n + 1;
        if (row->type == WEFT_PARAM_SECTION) return row_of(row->table, rest, NULL);
        if (row->type != WEFT_PARAM_MODEL) return NULL;
        enum weft_model_kind kind = (enum weft_model_kind)row->model_kind;
        const char *said = kind_in(values, key, n);
        const struct weft_model *model = weft_model_find(kind, said ? said : row->dflt ? row->dflt : "");
        if (!strcmp(rest, "kind")) return row;
        if (model) found = row_of(model->params, rest, NULL);
        for (uint32_t m = 0; !found && !said && m < weft_model_count(kind); m++)
            found = row_of(weft_model_at(kind, m)->params, rest, NULL);
        return found;
    }
    return NULL;
}

// --- what a key may be, for a suggestion --------------------------------------------------------------------------

struct names {
    struct weft_arena *arena;
    uint32_t n;
    const char *name[1024];
};

static void add_name(struct names *s, const char *before, const char *name) {
    const char *all = weft_arena_format(s->arena, "%s%s%s", before, *before ? "." : "", name);
    if (s->n < sizeof s->name / sizeof *s->name) s->name[s->n++] = all;
}

static void add_rows(struct names *s, const char *before, const struct weft_param_table *table) {
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param *row = &table->rows[i];
        char path[WEFT__PATH_MAX];
        weft__path_join(path, sizeof path, before, row->name);
        if (row->type == WEFT_PARAM_SECTION)
            add_rows(s, path, row->table);
        else
            add_name(s, before, row->name);
        for (uint32_t m = 0;
             row->type == WEFT_PARAM_MODEL && !*before && m < weft_model_count((enum weft_model_kind)row->model_kind);
             m++)
            add_rows(s, path, weft_model_at((enum weft_model_kind)row->model_kind, m)->params);
    }
}

static enum weft_status fail_key(const struct weft_tree *value, uint32_t kind, struct weft_arena *arena,
                                 struct weft_error *ret_error) {
    struct names *s = weft_arena_alloc(arena, 1, sizeof *s);
    s->arena = arena;
    const struct weft_param *fact;
    for (uint32_t i = 0; (fact = weft_hardware_fact(kind, i)); i++)
        add_name(s, "", fact->name);
    add_rows(s, "", kinds[kind].table);
    const char *nearest = weft_error_nearest(value->key, s->name, s->n);
    if (nearest && !strcmp(nearest, value->key)) nearest = NULL; // a name, but none that may be here
    return WEFT_REFUSE(ret_error, value->key_place,
                       "values.%.80s: no parameter of the section %s and no fact of kind %s; %s%s%s", value->key,
                       kinds[kind].section, kinds[kind].name,
                       nearest ? "did you mean \""
                               : "expected one of these "
                                 "(weft models ",
                       nearest ? nearest : kinds[kind].section, nearest ? "\"?" : ")");
}

// --- values -------------------------------------------------------------------------------------------------------

/// Parses one text of a value by its row; *ret_number is NAN if it is no number, or there is none.
static enum weft_status parse_text(const struct weft_hardware_value *v, const char *text, const struct weft_tree *place,
                                   struct weft_arena *arena, double *ret_number, struct weft_error *ret_error) {
    enum { FIELD = 128 }; // no value is longer
    _Alignas(16) char field[FIELD] = {0};
    char path[WEFT__PATH_MAX];
    struct weft_param own = *v->row;
    own.offset = 0;
    *ret_number = (double)NAN;
    if (!text) return WEFT_OK;
    snprintf(path, sizeof path, "values.%s.%s", v->key, place->key);
    enum weft_status status = weft__param_parse_at(&own, text, place->place, path, field, arena, ret_error);
    if (!status && weft_param_is_number(v->row))
        *ret_number = v->row->type == WEFT_PARAM_REAL ? *(const double *)(const void *)field
                                                      : (double)*(const uint64_t *)(const void *)field;
    return status;
}

bool weft_hardware_is_typical(const struct weft_hardware_value *value, const char *text, struct weft_arena *arena) {
    double number;
    return weft_param_number(value->row, text, arena, &number) && !(number < value->number) &&
           !(number > value->number);
}

static enum weft_status check_band(const struct weft_hardware_value *v, const struct weft_tree *tree, const char *path,
                                   struct weft_error *ret_error) {
    if ((v->low || v->high) && !weft_param_is_number(v->row))
        return WEFT_REFUSE(ret_error, tree->place, "%s: low and high are for numbers; expected only typical", path);
    if (v->low && v->low_number > v->number)
        return WEFT_REFUSE(ret_error, weft_tree_find(tree, "low")->place, "%s.low: %s is above typical (%s)", path,
                           v->low, v->typical);
    if (v->high && v->high_number < v->number)
        return WEFT_REFUSE(ret_error, weft_tree_find(tree, "high")->place, "%s.high: %s is below typical (%s)", path,
                           v->high, v->typical);
    if (!*v->source)
        return WEFT_REFUSE(ret_error, tree->place, "%s.source is empty; expected where the value is from", path);
    return WEFT_OK;
}

static const struct weft_param *fact_of(uint32_t kind, const char *key) {
    const struct weft_param *fact;
    for (uint32_t i = 0; (fact = weft_hardware_fact(kind, i)); i++)
        if (!strcmp(fact->name, key)) return fact;
    return NULL;
}

static enum weft_status read_value(const struct weft_tree *tree, const struct weft_tree *values, uint32_t kind,
                                   struct weft_arena *arena, struct weft_hardware_value *v,
                                   struct weft_error *ret_error) {
    char path[WEFT__PATH_MAX];
    weft__path_join(path, sizeof path, "values", tree->key);
    const struct weft_param *row = row_of(kinds[kind].table, tree->key, values);
    bool fact = !row;
    if (fact) row = fact_of(kind, tree->key);
    bool choice = !fact && (!strcmp(tree->key, kinds[kind].row) || !strcmp(tree->key, "preset")); // of the user's alone
    if (!row || choice) return fail_key(tree, kind, arena, ret_error);
    WEFT_TRY(weft__params_load_at(&value_table, tree, path, v, arena, ret_error));
    v->key = tree->key;
    v->row = row;
    v->fact = fact;
    v->place = tree->place;
    if (!*v->low) v->low = NULL;
    if (!*v->high) v->high = NULL;
    enum weft_status status = parse_text(v, v->typical, weft_tree_find(tree, "typical"), arena, &v->number, ret_error);
    if (!status) status = parse_text(v, v->low, weft_tree_find(tree, "low"), arena, &v->low_number, ret_error);
    if (!status) status = parse_text(v, v->high, weft_tree_find(tree, "high"), arena, &v->high_number, ret_error);
    return status ? status : check_band(v, tree, path, ret_error);
}

static enum weft_status read_class(const struct weft_tree *root, struct weft_arena *arena, struct weft_hardware *h,
                                   struct weft_error *ret_error) {
    enum weft_status status = weft__params_load_at(&head_table, root, "", h, arena, ret_error);
    const struct weft_tree *values = weft_tree_find(root, "values");
    if (status) return status;
    if (!values || values->type != WEFT_TREE_MAP || !values->n)
        return WEFT_REFUSE(ret_error, values ? values->place : root->place,
                           "values: expected a map of parameters and facts, each {typical, basis, source}");
    h->value = weft_arena_alloc(arena, values->n, sizeof *h->value);
    for (uint32_t i = 0; i < values->n && !status; i++)
        status = read_value(values->child[i], values, h->kind, arena, &h->value[h->n++], ret_error);
    return status;
}

enum weft_status weft_hardware_parse(const char *file, const char *text, size_t size, struct weft_arena *arena,
                                     const struct weft_hardware **ret_hardware, struct weft_error *ret_error) {
    struct weft_tree *root;
    struct weft_hardware *h = weft_arena_alloc(arena, 1, sizeof *h);
    enum weft_status status = weft_tree_parse(file, text, size, arena, &root, ret_error);
    if (!status && root->type != WEFT_TREE_MAP)
        status =
            WEFT_REFUSE(ret_error, root->place, "expected a class of hardware: a map of name, kind, about, values");
    if (!status) status = read_class(root, arena, h, ret_error);
    *ret_hardware = h;
    return status;
}
