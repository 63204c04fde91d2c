// SPDX-License-Identifier: Apache-2.0
// Tables of parameters from the user's tree, and back as a flat list.
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "weft/hardware.h"
#include "weft/param.h"

enum { NAMES_MAX = 128 };

/// Arguments that the functions below share.
struct load {
    struct weft_arena *arena;
    struct weft_error *error;        ///< the first mistake
    struct weft__mistakes *mistakes; ///< gets every mistake; NULL: only the first is wanted
    struct weft_place around;        ///< the innermost section that the user wrote: the place of defaults within it
    const struct weft_model *model;  ///< the innermost one whose parameters are loaded; NULL: none
};

/// Notes a mistake; loading goes on, to find more.
static enum weft_status take_mistake(struct load *l, const struct weft_error *own) {
    if (own->status && l->mistakes) weft__mistakes_add(l->mistakes, own);
    if (own->status && l->error && !l->error->status) *l->error = *own;
    return own->status;
}

#define FAIL(l, place, ...)                                                                                            \
    ({                                                                                                                 \
        struct weft_error own_ = {0};                                                                                  \
        WEFT_REFUSE(&own_, place, __VA_ARGS__);                                                                        \
        take_mistake(l, &own_);                                                                                        \
    })

const char *weft__path_join(char *text, size_t size, const char *path, const char *name) {
    if (snprintf(text, size, "%s%s%s", path, *path ? "." : "", name) < 0) *text = 0;
    return text;
}

static const char *type_name(enum weft_tree_type type) {
    static const char *const names[] = {[WEFT_TREE_NULL] = "nothing",
                                        [WEFT_TREE_TEXT] = "a text",
                                        [WEFT_TREE_MAP] = "a map",
                                        [WEFT_TREE_LIST] = "a list"};
    return names[type];
}

static bool takes_list(const struct weft_param *row) {
    return row->type == WEFT_PARAM_TEXT || row->type == WEFT_PARAM_PROSE || row->type == WEFT_PARAM_PRIORITIES ||
           row->type == WEFT_PARAM_WEIGHTS;
}

/// [a, b] as "a,b" and {a: x} as "a:x". False if a member is not a text.
static bool join_members(const struct weft_tree *tree, struct weft_arena *arena, const char **ret_text) {
    size_t size = 1;
    for (uint32_t i = 0; i < tree->n; i++) {
        if (tree->child[i]->type != WEFT_TREE_TEXT) return false;
        size += strlen(tree->child[i]->text) + (tree->child[i]->key ? strlen(tree->child[i]->key) : 0) + 2;
    }
    char *text = weft_arena_alloc(arena, size, 1), *s = text;
    for (uint32_t i = 0; i < tree->n; i++) {
        if (i) *s++ = ',';
        if (tree->type == WEFT_TREE_MAP) s = stpcpy(stpcpy(s, tree->child[i]->key), ":");
        s = stpcpy(s, tree->child[i]->text);
    }
    *ret_text = text;
    return true;
}

static enum weft_status load_value(struct load *l, const struct weft_param *row, const struct weft_tree *tree,
                                   const char *path, void *conf) {
    const char *text = tree->text;
    bool ok = tree->type == WEFT_TREE_TEXT;
    if (tree->type == WEFT_TREE_LIST && takes_list(row)) {
        ok = join_members(tree, l->arena, &text);
        if (ok && !tree->n && row->type == WEFT_PARAM_PRIORITIES) text = "none";
    }
    if (tree->type == WEFT_TREE_MAP && row->type == WEFT_PARAM_DSCP_MAP) ok = join_members(tree, l->arena, &text);
    if (!ok)
        return FAIL(l, tree->place, "%s: found %s; expected %s", path, type_name(tree->type),
                    weft__param_expected(row));
    struct weft_error own = {0};
    weft__param_parse_at(row, text, tree->place, path, conf, l->arena, &own);
    return take_mistake(l, &own);
}

static bool names_list(const struct weft_param_table *table, const char *key) {
    for (const char *const *name = table->lists; name && *name; name++)
        if (!strcmp(*name, key)) return true;
    for (const char *const *name = table->models; name && *name; name++)
        if (!strcmp(*name, key)) return true;
    return false;
}

const struct weft_param *weft_param_find(const struct weft_param_table *table, const char *name) {
    for (uint32_t i = 0; i < table->n; i++)
        if (!strcmp(table->rows[i].name, name)) return &table->rows[i];
    return NULL;
}

/// What the user sets for `key`: NULL if nothing, or if the value is empty.
static const struct weft_tree *said_child(const struct weft_tree *tree, const char *key) {
    const struct weft_tree *child = weft_tree_find(tree, key);
    return child && child->type != WEFT_TREE_NULL ? child : NULL;
}

/// Whether the text for the row does not look like a number, and so is a value of another row.
static bool is_other(const struct weft_param *row, const struct weft_tree *child) {
    return row->otherwise && child && child->type == WEFT_TREE_TEXT && !isdigit((unsigned char)*child->text);
}

/// What the user sets for a row, under its own name or that of a row whose texts are its values; *ret_twice: both.
static const struct weft_tree *said_of(const struct weft_param_table *table, const struct weft_param *row,
                                       const struct weft_tree *tree, bool *ret_twice) {
    const struct weft_tree *child = said_child(tree, row->name);
    *ret_twice = false;
    if (is_other(row, child)) return NULL;
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param *from = &table->rows[i];
        if (!from->otherwise || strcmp(from->otherwise, row->name)) continue;
        const struct weft_tree *other = said_child(tree, from->name);
        if (!is_other(from, other) || !strcmp(other->text, from->choices[0])) continue;
        *ret_twice = child != NULL;
        return other;
    }
    return child;
}

/// The table of the model that the user chose for the row, or of its default; NULL: there is no such model.
static const struct weft_param_table *chosen_table(const struct weft_param *row, const struct weft_tree *tree) {
    const struct weft_tree *model = said_child(tree, row->name);
    const struct weft_tree *named = model && model->type == WEFT_TREE_MAP ? said_child(model, "kind") : model;
    if (named && named->type != WEFT_TREE_TEXT) return NULL;
    const char *name = named ? named->text : row->dflt;
    const struct weft_model *found = name ? weft_model_find((enum weft_model_kind)row->model_kind, name) : NULL;
    return found ? found->params : NULL;
}

/// Whether a key of `tree` is a parameter of a model whose parameters may be beside it.
static bool is_beside(const struct weft_param_table *table, const struct weft_tree *tree, const char *key) {
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param_table *model = table->rows[i].beside ? chosen_table(&table->rows[i], tree) : NULL;
        if (model && weft_param_find(model, key)) return true;
    }
    return false;
}

static uint32_t names_add(const struct weft_param_table *table, const char **names, uint32_t n) {
    for (uint32_t i = 0; i < table->n && n < NAMES_MAX; i++)
        names[n++] = table->rows[i].name;
    return n;
}

static enum weft_status fail_unknown(struct load *l, const struct weft_param_table *table, const struct weft_tree *tree,
                                     const struct weft_tree *child, const char *path) {
    const char *names[NAMES_MAX];
    uint32_t n = names_add(table, names, 0);
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param_table *model = table->rows[i].beside ? chosen_table(&table->rows[i], tree) : NULL;
        if (model) n = names_add(model, names, n);
    }
    for (const char *const *name = table->lists; name && *name && n < NAMES_MAX; name++)
        names[n++] = *name;
    for (const char *const *name = table->models; name && *name && n < NAMES_MAX; name++)
        names[n++] = *name;
    bool of_model = l->model && !strcmp(l->model->name, table->name) && l->model->params->rows == table->rows;
    uint32_t own = of_model ? l->model->kind : WEFT_KINDS;
    char key[64], section[WEFT__PATH_MAX], elsewhere[WEFT__PATH_MAX];
    const char *nearest = weft__synonym_find(child->key, names, n, key, sizeof key), *end = strrchr(path, '.');
    snprintf(section, sizeof section, "%.*s", end ? (int)(end - path) : 0, path);
    if (!nearest && end && weft__param_elsewhere(own, section, child->key, elsewhere, sizeof elsewhere))
        return n ? FAIL(l, child->key_place, "%s: unknown key; %s", path, elsewhere)
                 : FAIL(l, child->key_place, "%s: unknown key; \"%s\" has no parameters; %s", path, table->name,
                        elsewhere);
    if (!n) return FAIL(l, child->key_place, "%s: unknown key; \"%s\" has no parameters", path, table->name);
    if (!nearest) nearest = weft_error_nearest(child->key, names, n);
    if (nearest) return FAIL(l, child->key_place, "%s: unknown key; did you mean \"%s\"?", path, nearest);
    char expected[512];
    weft__names_expected(child->key, names, n, expected, sizeof expected);
    return FAIL(l, child->key_place, "%s: unknown key; %s", path, expected);
}

static enum weft_status load_table(struct load *l, const struct weft_param_table *table, const struct weft_tree *tree,
                                   bool is_model, const char *path, void *conf);
static enum weft_status load_model(struct load *l, enum weft_model_kind kind, const char *name,
                                   const struct weft_tree *tree, const char *path, struct weft_model_conf *ret_model);

/// The model's map, including those of its parameters that are beside it. A parameter in both is an error.
static enum weft_status gather_beside(struct load *l, const struct weft_param *row, const struct weft_tree *tree,
                                      const char *path, const struct weft_tree **ret_tree) {
    const struct weft_tree *own = said_child(tree, row->name);
    const struct weft_param_table *model = chosen_table(row, tree);
    *ret_tree = own;
    if (!model || !tree) return WEFT_OK;
    uint32_t own_keys = own && own->type == WEFT_TREE_MAP ? own->n : 0;
    struct weft_tree *all = weft_arena_alloc(l->arena, 1, sizeof *all), *kind;
    all->child = weft_arena_alloc(l->arena, tree->n + own_keys + 1, sizeof *all->child);
    all->type = WEFT_TREE_MAP;
    all->place = own ? own->place : tree->place;
    for (uint32_t i = 0; i < own_keys; i++)
        all->child[all->n++] = own->child[i];
    if (own && own->type == WEFT_TREE_TEXT) {
        kind = weft_arena_alloc(l->arena, 1, sizeof *kind);
        *kind = *own;
        kind->key = "kind";
        all->child[all->n++] = kind;
    }
    for (uint32_t i = 0; i < tree->n; i++) {
        if (!weft_param_find(model, tree->child[i]->key)) continue;
        char key_path[WEFT__PATH_MAX];
        weft__path_join(key_path, sizeof key_path, path, tree->child[i]->key);
        if (own_keys && said_child(own, tree->child[i]->key))
            return FAIL(l, tree->child[i]->key_place, "%s: it is in %s as well; expected it once", key_path, row->name);
        all->child[all->n++] = tree->child[i];
    }
    *ret_tree = all->n ? all : own;
    return WEFT_OK;
}

// --- presets and classes ------------------------------------------------------------------------------------------

/// Values below what the user says, the strongest first: of his preset, then of each class that is named.
struct layers {
    const struct weft_param_value *value[4];
    uint32_t n;
};

static const char *text_in(const struct weft_param_value *value, const char *key) {
    for (const struct weft_param_value *v = value; v && v->key; v++)
        if (!strcmp(v->key, key)) return v->text;
    return NULL;
}

static const char *default_of(const struct weft_param *row, const struct layers *layers) {
    const char *text = NULL;
    for (uint32_t i = 0; i < layers->n && !text; i++)
        text = text_in(layers->value[i], row->name);
    return text ? text : row->dflt;
}

/// The values of the preset that the user chose; NULL: none. Its row checks whether that preset exists.
static const struct weft_param_value *preset_of(const struct weft_param_table *table, const struct weft_tree *tree) {
    const struct weft_tree *named = table->presets ? said_child(tree, "preset") : NULL;
    if (!named || named->type != WEFT_TREE_TEXT) return NULL;
    for (const struct weft_param_preset *p = table->presets; p->name; p++)
        if (!strcmp(p->name, named->text)) return p->value;
    return NULL;
}

/// The values of the class that a row names.
static enum weft_status class_of(struct load *l, const struct weft_param_table *table, const char *name,
                                 const struct weft_tree *tree, const char *path, const struct layers *layers,
                                 const struct weft_param_value **ret_value) {
    const struct weft_tree *said = said_child(tree, name);
    const struct weft_tree dflt = {
        .type = WEFT_TREE_TEXT, .place = l->around, .text = default_of(weft_param_find(table, name), layers)};
    char row_path[WEFT__PATH_MAX];
    struct weft_error own = {0};
    *ret_value = NULL;
    if (said && said->type != WEFT_TREE_TEXT) return WEFT_OK; // its row is refused
    table->classes->find(table, name, said ? said : &dflt, weft__path_join(row_path, sizeof row_path, path, name),
                         l->arena, ret_value, &own);
    return take_mistake(l, &own);
}

static enum weft_status find_layers(struct load *l, const struct weft_param_table *table, const struct weft_tree *tree,
                                    const char *path, struct layers *layers) {
    const struct weft_param_value *value = preset_of(table, tree);
    if (value) layers->value[layers->n++] = value;
    for (const char *const *name = table->classes ? table->classes->rows : NULL; name && *name; name++) {
        WEFT_TRY(class_of(l, table, *name, tree, path, layers, &value));
        if (value) layers->value[layers->n++] = value;
    }
    return WEFT_OK;
}

/// The parameters of what a row holds: its section, or its model as the user, else `value`, else the default has it.
static const struct weft_param_table *table_below(const struct weft_param *row, const struct weft_tree *tree,
                                                  const struct weft_param_value *value) {
    if (row->type == WEFT_PARAM_SECTION) return row->table;
    if (row->type != WEFT_PARAM_MODEL) return NULL;
    const struct weft_tree *said = said_child(tree, row->name);
    char key[64];
    snprintf(key, sizeof key, "%s.kind", row->name);
    const char *kind = text_in(value, key);
    if (!kind) kind = text_in(value, row->name);
    bool named = said && (said->type != WEFT_TREE_MAP || said_child(said, "kind"));
    if (named || !kind) return chosen_table(row, tree);
    const struct weft_model *model = weft_model_find((enum weft_model_kind)row->model_kind, kind);
    return model ? model->params : NULL;
}

/// Whether a dotted key applies: the model in use has such a parameter and takes the value, and neither a preset of
/// that model nor a key beside it says another.
static bool key_applies(struct load *l, const struct weft_param_table *table, const struct weft_tree *tree,
                        const struct weft_param_value *value, const struct weft_param_value *v) {
    enum { FIELD = 128 }; // no value is longer
    _Alignas(16) char field[FIELD];
    char name[64];
    size_t n = strcspn(v->key, ".");
    const char *rest = v->key + n + 1;
    snprintf(name, sizeof name, "%.*s", (int)n, v->key);
    const struct weft_param *row = weft_param_find(table, name);
    assert(row); // a preset or class has keys of the table
    if (row->beside && said_child(tree, rest)) return false;
    if (!strcmp(rest, "kind") || strchr(rest, '.')) return true;
    const struct weft_param_table *below = table_below(row, tree, value);
    const struct weft_param *found = below ? weft_param_find(below, rest) : NULL;
    if (!found || text_in(preset_of(below, said_child(tree, name)), rest)) return false;
    struct weft_param own = *found;
    own.offset = 0;
    return !weft__param_parse_at(&own, v->text, WEFT_NOWHERE, v->key, field, l->arena, NULL);
}

/// Lays the tree over the values with dotted keys that apply.
static enum weft_status lay_over(struct load *l, const struct weft_param_table *table,
                                 const struct weft_param_value *value, const struct weft_tree **tree) {
    uint32_t n = 0;
    for (const struct weft_param_value *v = value; v->key; v++)
        n += strchr(v->key, '.') != NULL;
    if (!n) return WEFT_OK;
    struct weft_place place = *tree ? (*tree)->place : l->around;
    struct weft_tree *deep = weft_arena_alloc(l->arena, 1, sizeof *deep), *base, *all;
    *deep = (struct weft_tree){.type = WEFT_TREE_MAP, .place = place};
    deep->child = weft_arena_alloc(l->arena, n, sizeof *deep->child);
    for (const struct weft_param_value *v = value; v->key; v++) {
        if (!strchr(v->key, '.') || !key_applies(l, table, *tree, value, v)) continue;
        struct weft_tree *leaf = deep->child[deep->n++] = weft_arena_alloc(l->arena, 1, sizeof *leaf);
        *leaf = (struct weft_tree){.type = WEFT_TREE_TEXT, .below = true, .place = place, .key_place = place};
        leaf->key = v->key;
        leaf->text = v->text;
    }
    struct weft_error own = {0};
    enum weft_status status = weft_tree_override(NULL, deep, l->arena, &base, &own);
    if (!status && *tree) status = weft_tree_override(base, *tree, l->arena, &all, &own);
    if (!status) *tree = *tree ? all : base;
    return take_mistake(l, &own);
}

static enum weft_status load_row(struct load *l, const struct weft_param *row, const char *dflt,
                                 const struct weft_tree *tree, const char *path, void *conf) {
    void *field = (char *)conf + row->offset;
    if (row->type == WEFT_PARAM_SECTION) return load_table(l, row->table, tree, false, path, field);
    if (row->type == WEFT_PARAM_MODEL)
        return load_model(l, (enum weft_model_kind)row->model_kind, dflt, tree, path, field);
    if (tree) return load_value(l, row, tree, path, conf);
    enum weft_status status = weft__param_parse_at(row, dflt, WEFT_NOWHERE, path, conf, l->arena, NULL);
    assert(status == WEFT_OK); // the table's own default or preset is valid
    return status;
}

/// Whether a word is one of the row's; a row without a list takes any.
static bool is_choice(const struct weft_param *row, const char *word) {
    const char *const *choice = row && row->type == WEFT_PARAM_CHOICE ? row->choices : NULL;
    while (choice && *choice && strcmp(*choice, word))
        choice++;
    return !choice || *choice;
}

/// Whether the user or a layer below says one of "a or b"; of "a: x", whether a is x, or something that its row
/// refuses.
static bool said_any(const struct weft_param_table *table, const struct weft_tree *tree, const struct layers *layers,
                     const char *names) {
    static const char between[] = " or ";
    char name[64];
    for (const char *at = names, *end; at; at = end ? end + strlen(between) : NULL) {
        end = strstr(at, between);
        snprintf(name, sizeof name, "%.*s", (int)(end ? end - at : (ptrdiff_t)strlen(at)), at);
        char *value = strstr(name, ": ");
        if (value) {
            *value = 0;
            const struct weft_tree *said = said_child(tree, name);
            const struct weft_param *row = weft_param_find(table, name);
            const char *is = said ? said->text : default_of(row, layers);
            bool by_name = said && strcmp(name, "kind") != 0; // another kind takes the keys of the old one with it
            if (by_name || !is || !strcmp(is, value + 2) || !is_choice(row, is)) return true;
            continue;
        }
        if (said_child(tree, name)) return true;
        for (uint32_t i = 0; i < layers->n; i++)
            if (text_in(layers->value[i], name)) return true;
    }
    return false;
}

/// Whether the hardware is ideal by name, and that which it would be otherwise has one of "a or b".
static bool ideal_lacks(struct load *l, const struct weft_param_table *table, const struct weft_tree *tree,
                        const char *names) {
    bool lacks = false;
    for (const char *const *name = table->classes ? table->classes->rows : NULL; name && *name; name++) {
        const struct weft_tree *said = said_child(tree, *name);
        if (!said || said->type != WEFT_TREE_TEXT || strcmp(said->text, WEFT_HARDWARE_IDEAL) != 0) continue;
        const struct weft_tree usual = {.type = WEFT_TREE_TEXT, .text = weft_param_find(table, *name)->dflt};
        struct layers layers = {.n = 1};
        if (!table->classes->find(table, *name, &usual, "", l->arena, &layers.value[0], NULL))
            lacks |= said_any(table, NULL, &layers, names);
    }
    return lacks;
}

/// A parameter that another one switches on is of no effect where nothing is said of that: a slip, unlike one that is
/// there for variants, in which the other is off by name, as by ideal hardware.
static enum weft_status check_needs(struct load *l, const struct weft_param_table *table, const struct weft_tree *tree,
                                    const struct layers *layers, const char *path) {
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < tree->n; i++) {
        const struct weft_tree *child = tree->child[i];
        const struct weft_param *row = weft_param_find(table, child->key);
        if (!row || !row->needs || child->type == WEFT_TREE_NULL || said_any(table, tree, layers, row->needs)) continue;
        if (ideal_lacks(l, table, tree, row->needs)) continue;
        char child_path[WEFT__PATH_MAX];
        status = FAIL(l, child->key_place, "%s: has no effect without %s; expected %s to be set too",
                      weft__path_join(child_path, sizeof child_path, path, child->key), row->needs, row->needs);
    }
    return status;
}

/// True if a model with parameters beside it is unknown: its parameters are unknown too.
static bool lacks_model(const struct weft_param_table *table, const struct weft_tree *tree) {
    for (uint32_t i = 0; i < table->n; i++)
        if (table->rows[i].beside && !chosen_table(&table->rows[i], tree)) return true;
    return false;
}

static enum weft_status check_keys(struct load *l, const struct weft_param_table *table, const struct weft_tree *tree,
                                   bool is_model, const char *path) {
    enum weft_status all = WEFT_OK;
    bool lacks = lacks_model(table, tree);
    for (uint32_t i = 0; i < tree->n; i++) {
        const struct weft_tree *child = tree->child[i];
        char child_path[WEFT__PATH_MAX];
        weft__path_join(child_path, sizeof child_path, path, child->key);
        const struct weft_param *row = weft_param_find(table, child->key);
        if (row || names_list(table, child->key)) continue;
        if (is_model && !strcmp(child->key, "kind")) continue;
        if (lacks || is_beside(table, tree, child->key)) continue;
        all = fail_unknown(l, table, tree, child, child_path);
    }
    return all;
}

/// Whether the value of a row is that of a preset or class.
static bool is_below(const struct weft_param *row, const struct weft_tree *tree, const struct layers *layers) {
    const struct weft_tree *child = said_child(tree, row->name);
    bool one = row->type != WEFT_PARAM_SECTION && row->type != WEFT_PARAM_MODEL;
    return one && (child ? child->below : default_of(row, layers) != row->dflt);
}

/// Gives the row's default to a value of a preset or class which contradicts the rest, which the user says. False if
/// that is not what is wrong.
static bool give_way(struct load *l, const struct weft_param_table *table, const struct weft_tree *tree,
                     const struct layers *layers, void *conf) {
    char text[512];
    void *other = weft_arena_alloc(l->arena, 1, table->conf_size);
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param *row = &table->rows[i];
        if (!row->dflt || !is_below(row, tree, layers)) continue;
        memcpy(other, conf, table->conf_size);
        if (load_row(l, row, row->dflt, NULL, "", other) || table->check(other, text, sizeof text)) continue;
        memcpy(conf, other, table->conf_size);
        return true;
    }
    return false;
}

static enum weft_status check_table(struct load *l, const struct weft_param_table *table, const struct weft_tree *tree,
                                    const struct layers *layers, const char *path, void *conf) {
    char text[512];
    const char *wrong = table->check ? table->check(conf, text, sizeof text) : NULL;
    if (!wrong || give_way(l, table, tree, layers, conf)) return WEFT_OK;
    return FAIL(l, l->around, "%s: %s", path, wrong);
}

/// A text in place of a section whose row `kind` names a class is that row: {kind: text}.
static const struct weft_tree *as_kind(struct load *l, const struct weft_param_table *table,
                                       const struct weft_tree *tree) {
    if (tree->type != WEFT_TREE_TEXT || !table->classes || strcmp(table->classes->rows[0], "kind") != 0) return tree;
    struct weft_tree *map = weft_arena_alloc(l->arena, 1, sizeof *map),
                     *leaf = weft_arena_alloc(l->arena, 1, sizeof *leaf);
    *leaf = *tree;
    leaf->key = "kind";
    *map = (struct weft_tree){.type = WEFT_TREE_MAP, .place = tree->place, .key_place = tree->key_place, .n = 1};
    map->child = weft_arena_alloc(l->arena, 1, sizeof *map->child);
    map->child[0] = leaf;
    return map;
}

static enum weft_status load_rows(struct load *l, const struct weft_param_table *table, const struct weft_tree *tree,
                                  bool is_model, const char *path, void *conf) {
    if (tree && tree->type == WEFT_TREE_NULL) tree = NULL;
    if (tree && !is_model) tree = as_kind(l, table, tree);
    if (tree && tree->type != WEFT_TREE_MAP && !is_model)
        return FAIL(l, tree->place, "%s: found %s; expected a map of parameters", path, type_name(tree->type));
    enum weft_status status =
        tree && tree->type == WEFT_TREE_MAP ? check_keys(l, table, tree, is_model, path) : WEFT_OK;
    bool all_known = !status; // after a mistake a missing key may be there under another name
    struct layers layers = {.n = 0};
    if (!status) status = find_layers(l, table, tree, path, &layers);
    if (!status && tree && tree->type == WEFT_TREE_MAP) status = check_needs(l, table, tree, &layers, path);
    for (uint32_t i = 0; i < layers.n && !status; i++)
        status = lay_over(l, table, layers.value[i], &tree);
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param *row = &table->rows[i];
        bool twice;
        const struct weft_tree *child = said_of(table, row, tree, &twice);
        char child_path[WEFT__PATH_MAX];
        weft__path_join(child_path, sizeof child_path, path, row->name);
        if (twice) {
            status =
                FAIL(l, child->key_place, "%s: said twice, as %s too; expected one of them", child_path, child->key);
            continue;
        }
        if (!child && !row->dflt && row->type != WEFT_PARAM_MODEL) {
            status = !all_known ? WEFT_ERROR_INPUT
                                : FAIL(l, l->around, "%s is missing (%s); expected %s", child_path, row->help,
                                       weft__param_expected(row));
            continue;
        }
        const char *row_path = row->beside && chosen_table(row, tree) ? path : child_path;
        enum weft_status of_row = row->beside ? gather_beside(l, row, tree, path, &child) : WEFT_OK;
        if (!of_row) of_row = load_row(l, row, default_of(row, &layers), child, row_path, conf);
        if (of_row) status = of_row;
    }
    return status ? status : check_table(l, table, tree, &layers, path, conf);
}

static enum weft_status load_table(struct load *l, const struct weft_param_table *table, const struct weft_tree *tree,
                                   bool is_model, const char *path, void *conf) {
    struct weft_place outer = l->around;
    if (tree && tree->place.file) l->around = tree->place;
    enum weft_status status = load_rows(l, table, tree, is_model, path, conf);
    l->around = outer;
    return status;
}

enum weft_status weft__params_load_all(const struct weft_param_table *table, const struct weft_tree *tree,
                                       const char *path, void *conf, struct weft_arena *arena,
                                       struct weft__mistakes *mistakes, struct weft_error *ret_error) {
    struct load l = {.arena = arena, .error = ret_error, .mistakes = mistakes};
    return load_table(&l, table, tree, false, path, conf);
}

enum weft_status weft__params_load_at(const struct weft_param_table *table, const struct weft_tree *tree,
                                      const char *path, void *conf, struct weft_arena *arena,
                                      struct weft_error *ret_error) {
    return weft__params_load_all(table, tree, path, conf, arena, NULL, ret_error);
}

enum weft_status weft_params_load(const struct weft_param_table *table, const struct weft_tree *tree, void *conf,
                                  struct weft_arena *arena, struct weft_error *ret_error) {
    return weft__params_load_at(table, tree, table->name, conf, arena, ret_error);
}

static enum weft_status fail_model(struct load *l, enum weft_model_kind kind, const char *name,
                                   const struct weft_tree *tree, struct weft_place place, const char *path) {
    static const char *const other_kinds[] = {"type", "model", "name", "algorithm"};
    const char *names[NAMES_MAX];
    uint32_t n = 0;
    for (; n < weft_model_count(kind) && n < NAMES_MAX; n++)
        names[n] = weft_model_at(kind, n)->name;
    char expected[512];
    weft__names_expected(name ? name : "", names, n, expected, sizeof expected);
    const struct weft_tree *other = NULL;
    for (size_t i = 0; i < sizeof other_kinds / sizeof *other_kinds && !name && !other; i++)
        other = said_child(tree, other_kinds[i]);
    if (other) return FAIL(l, other->key_place, "%s.%s: unknown key; did you mean \"kind\"?", path, other->key);
    if (!name) return FAIL(l, place, "%s: which kind? %s", path, expected);
    return FAIL(l, place, "%s: no %s \"%.80s\"; %s", path, weft_kind_name(kind), name, expected);
}

static enum weft_status load_model(struct load *l, enum weft_model_kind kind, const char *name,
                                   const struct weft_tree *tree, const char *path, struct weft_model_conf *ret_model) {
    struct weft_place around = tree && tree->place.file ? tree->place : l->around;
    if (tree && tree->type == WEFT_TREE_NULL) tree = NULL;
    const struct weft_tree *named = tree && tree->type == WEFT_TREE_MAP ? said_child(tree, "kind") : tree;
    struct weft_place place = named ? named->place : around;
    if (named && named->type != WEFT_TREE_TEXT)
        return FAIL(l, place, "%s: found %s; expected the name of a %s, or a map with its kind and parameters", path,
                    type_name(named->type), weft_kind_name(kind));
    if (named) name = named->text;
    const struct weft_model *model = name ? weft_model_find(kind, name) : NULL;
    assert(model || named || !name); // the table's own default exists
    if (!model) return fail_model(l, kind, name, tree, place, path);
    ret_model->model = model;
    ret_model->place = around;
    ret_model->tree = tree;
    ret_model->conf = weft_arena_alloc(l->arena, 1, model->params->conf_size);
    struct weft_param_table table = *model->params;
    table.name = model->name;
    const struct weft_model *outer = l->model;
    l->model = model;
    enum weft_status status = load_table(l, &table, tree, true, path, ret_model->conf);
    l->model = outer;
    return status;
}

enum weft_status weft__model_load_all(enum weft_model_kind kind, const char *name, const struct weft_tree *tree,
                                      const char *path, struct weft_model_conf *ret_model, struct weft_arena *arena,
                                      struct weft__mistakes *mistakes, struct weft_error *ret_error) {
    struct load l = {.arena = arena, .error = ret_error, .mistakes = mistakes};
    return load_model(&l, kind, name, tree, path, ret_model);
}

enum weft_status weft__model_load_at(enum weft_model_kind kind, const char *name, const struct weft_tree *tree,
                                     const char *path, struct weft_model_conf *ret_model, struct weft_arena *arena,
                                     struct weft_error *ret_error) {
    return weft__model_load_all(kind, name, tree, path, ret_model, arena, NULL, ret_error);
}

/// `beside`: the path of its parameters.
static void model_each(const struct weft_model_conf *model, const char *path, const char *beside, const char *dflt,
                       void (*on_value)(void *context, const char *path, const char *value, const char *dflt),
                       void *context) {
    char kind_path[WEFT__PATH_MAX];
    on_value(context, weft__path_join(kind_path, sizeof kind_path, path, "kind"), model->model->name, dflt);
    weft_params_each(model->model->params, model->conf, beside, on_value, context);
}

void weft__model_each(const struct weft_model_conf *model, const char *path,
                      void (*on_value)(void *context, const char *path, const char *value, const char *dflt),
                      void *context) {
    model_each(model, path, path, NULL, on_value, context);
}

const char *weft__param_written(const struct weft_param *row, const char *text, struct weft_arena *arena) {
    enum { FIELD = 128 }; // no value is longer
    if (!text) return NULL;
    void *conf = weft_arena_alloc(arena, row->offset + FIELD, 1);
    if (weft__param_parse_at(row, text, WEFT_NOWHERE, row->name, conf, arena, NULL)) return NULL;
    size_t size = (size_t)weft_param_format(row, conf, NULL, 0) + 1;
    char *written = weft_arena_alloc(arena, size, 1);
    weft_param_format(row, conf, written, size);
    return written;
}

static void row_each(const struct weft_param *row, const void *conf, const char *path,
                     void (*on_value)(void *context, const char *path, const char *value, const char *dflt),
                     void *context) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    size_t size = (size_t)weft_param_format(row, conf, NULL, 0) + 1;
    char *text = weft_arena_alloc(arena, size, 1);
    weft_param_format(row, conf, text, size);
    on_value(context, path, text, weft__param_written(row, row->dflt, arena));
}

void weft_params_each(const struct weft_param_table *table, const void *conf, const char *prefix,
                      void (*on_value)(void *context, const char *path, const char *value, const char *dflt),
                      void *context) {
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param *row = &table->rows[i];
        const void *field = (const char *)conf + row->offset;
        char path[WEFT__PATH_MAX];
        weft__path_join(path, sizeof path, prefix, row->name);
        if (row->type == WEFT_PARAM_SECTION)
            weft_params_each(row->table, field, path, on_value, context);
        else if (row->type == WEFT_PARAM_MODEL)
            model_each(field, path, row->beside ? prefix : path, row->dflt, on_value, context);
        else
            row_each(row, conf, path, on_value, context);
    }
}
