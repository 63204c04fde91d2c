// SPDX-License-Identifier: Apache-2.0
// Overrides: only the maps and lists on the path to a change are copied, the rest is shared. A value such as "+40KB"
// is added to the one that it overrides.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "base/units.h"
#include "weft/tree.h"

struct override {
    struct weft_arena *arena;
    struct weft_error *error;
};

static enum weft_status merge_tree(struct override *o, const struct weft_tree *base, const struct weft_tree *over,
                                   const struct weft_tree **ret);

/// A node of one's own, with room for `more` children.
static struct weft_tree *copy_with_room(struct override *o, const struct weft_tree *tree, uint32_t more) {
    struct weft_tree *copy = weft_arena_alloc(o->arena, 1, sizeof *copy);
    *copy = *tree;
    copy->child = weft_arena_alloc(o->arena, tree->n + more, sizeof *copy->child);
    if (tree->n) memcpy(copy->child, tree->child, tree->n * sizeof *copy->child);
    return copy;
}

static struct weft_tree *map_of_one(struct override *o, const struct weft_tree *at, const char *key,
                                    const struct weft_tree *value) {
    struct weft_tree *map = weft_arena_alloc(o->arena, 1, sizeof *map);
    *map = *at;
    map->type = WEFT_TREE_MAP;
    map->text = NULL;
    map->n = 1;
    map->child = weft_arena_alloc(o->arena, 1, sizeof *map->child);
    struct weft_tree *child = map->child[0] = copy_with_room(o, value, 0);
    child->key = key;
    return map;
}

static const struct weft_tree *as_kind(struct override *o, const struct weft_tree *text) {
    struct weft_tree *map = map_of_one(o, text, "kind", text);
    if (!text->key) map->child[0]->key_place = text->place;
    return map;
}

static uint32_t map_index(const struct weft_tree *map, const char *key) {
    for (uint32_t i = 0; i < map->n; i++)
        if (!strcmp(map->child[i]->key, key)) return i;
    return map->n;
}

static enum weft_status list_index(struct override *o, const struct weft_tree *list, const char *key,
                                   struct weft_place place, uint32_t *ret_i) {
    char *end;
    unsigned long i = strtoul(key, &end, 10);
    if (!strcmp(key, "+")) { // one more
        *ret_i = list->n;
        return WEFT_OK;
    }
    if (*key >= '0' && *key <= '9' && !*end && i < list->n) {
        *ret_i = (uint32_t)i;
        return WEFT_OK;
    }
    if (!list->n) return WEFT_REFUSE(o->error, place, "\"%.80s\": the list here is empty", key);
    return WEFT_REFUSE(o->error, place, "\"%.80s\" is not an entry of the list here; expected a number, 0 to %u", key,
                       list->n - 1);
}

/// Of a map that settings of the command line make up, or change: all of them. Places in files have lines, and the one
/// where the map begins stays.
static struct weft_place place_of_both(struct override *o, struct weft_place base, struct weft_place over) {
    const char **names = base.line ? &base.with : &base.file;
    if (!base.file || over.line || !over.file || (*names && !strcmp(*names, over.file))) return base;
    *names = *names ? weft_arena_format(o->arena, "%s %s", *names, over.file) : over.file;
    return base;
}

/// Merges `over` into the child `key` of `into`, a copy with room for one more.
static enum weft_status put_child(struct override *o, struct weft_tree *into, const char *key,
                                  struct weft_place key_place, const struct weft_tree *over) {
    uint32_t i = 0;
    if (into->type == WEFT_TREE_LIST) {
        WEFT_TRY(list_index(o, into, key, key_place, &i));
    } else {
        i = map_index(into, key);
    }
    const struct weft_tree *value;
    WEFT_TRY(merge_tree(o, i < into->n ? into->child[i] : NULL, over, &value));
    struct weft_tree *child = copy_with_room(o, value, 0);
    child->key = into->type == WEFT_TREE_MAP ? key : NULL;
    bool map = i < into->n && child->type == WEFT_TREE_MAP;
    child->key_place = map ? place_of_both(o, into->child[i]->key_place, key_place) : key_place;
    if (map) child->place = place_of_both(o, child->place, key_place);
    into->child[i] = child;
    if (i == into->n) into->n++;
    return WEFT_OK;
}

/// Splits off the first part of a dotted path; *ret_over becomes the rest: nested maps around the value.
static enum weft_status split_path(struct override *o, const struct weft_tree *over, const char **ret_first,
                                   const struct weft_tree **ret_over) {
    char *path = weft_arena_text(o->arena, over->key);
    const char *part[WEFT__TREE_DEPTH_MAX] = {0};
    uint32_t parts = 0;
    int control = weft__text_control(path, false);
    if (control)
        return WEFT_REFUSE(o->error, over->key_place, "a path with the control character 0x%02x; expected one without",
                           control);
    for (char *s = path, *dot; s; s = dot ? dot + 1 : NULL) {
        dot = strchr(s, '.');
        if (dot) *dot = 0;
        if (!*s) return WEFT_REFUSE(o->error, over->key_place, "%.80s: a part of this path is empty", over->key);
        if (parts == WEFT__TREE_DEPTH_MAX)
            return WEFT_REFUSE(o->error, over->key_place, "a path of more than %u parts", WEFT__TREE_DEPTH_MAX);
        part[parts++] = s;
    }
    *ret_first = part[0];
    const struct weft_tree *value = over;
    while (--parts)
        value = map_of_one(o, over, part[parts], value);
    *ret_over = value;
    return WEFT_OK;
}

static enum weft_status merge_children(struct override *o, const struct weft_tree *base, const struct weft_tree *over,
                                       const struct weft_tree **ret) {
    struct weft_tree *result = copy_with_room(o, base, over->n);
    for (uint32_t i = 0; i < over->n; i++) {
        const char *first;
        const struct weft_tree *value;
        enum weft_status status = split_path(o, over->child[i], &first, &value);
        if (!status) status = put_child(o, result, first, over->child[i]->key_place, value);
        if (status) return status;
    }
    *ret = result;
    return WEFT_OK;
}

static const char *kind_of(const struct weft_tree *map) {
    const struct weft_tree *kind = weft_tree_find(map, "kind");
    return kind && kind->type == WEFT_TREE_TEXT ? kind->text : NULL;
}

/// What a map is merged into: `base`, unless it is of another kind, or not a map.
static const struct weft_tree *base_for_map(struct override *o, const struct weft_tree *base,
                                            const struct weft_tree *over) {
    if (base && base->type == WEFT_TREE_TEXT) base = as_kind(o, base);
    const char *new_kind = kind_of(over), *old_kind = base ? kind_of(base) : NULL;
    bool other_kind = new_kind && old_kind && strcmp(new_kind, old_kind);
    if (base && base->type == WEFT_TREE_MAP && !other_kind) return base;
    struct weft_tree *empty = copy_with_room(o, over, 0);
    empty->n = 0;
    return empty;
}

/// Adds "+40KB" to "800KB": "840KB". Any other text behind a "+" replaces the value, as every text does.
static enum weft_status add_quantity(struct override *o, const struct weft_tree *base, const struct weft_tree *over,
                                     const struct weft_tree **ret) {
    static const enum weft__quantity kinds[] = {WEFT__BYTES, WEFT__TIME, WEFT__RATE, WEFT__LENGTH, WEFT__COUNT};
    const char *was = base && base->type == WEFT_TREE_TEXT ? base->text : "";
    char text[64];
    uint64_t a, b;
    bool quantity = false;
    *ret = over;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (!weft__quantity_parse(kinds[k], over->text + 1, &b, text, sizeof text)) continue;
        quantity = true;
        if (!weft__quantity_parse(kinds[k], was, &a, text, sizeof text) || b > UINT64_MAX - a) continue;
        struct weft_tree *sum = copy_with_room(o, over, 0);
        weft__quantity_format(kinds[k], a + b, text, sizeof text);
        sum->text = weft_arena_text(o->arena, text);
        *ret = sum;
        return WEFT_OK;
    }
    if (!quantity) return WEFT_OK;
    return WEFT_REFUSE(o->error, over->place,
                       "\"%.40s\" cannot be added to \"%.40s\"; expected a quantity of the same kind there", over->text,
                       was);
}

static enum weft_status merge_tree(struct override *o, const struct weft_tree *base, const struct weft_tree *over,
                                   const struct weft_tree **ret) {
    static const struct weft_tree no_list = {.type = WEFT_TREE_LIST};
    if (over->type == WEFT_TREE_MAP) {
        if (!base && over->n && !strcmp(over->child[0]->key, "+")) base = &no_list;
        bool list = base && base->type == WEFT_TREE_LIST;
        return merge_children(o, list ? base : base_for_map(o, base, over), over, ret);
    }
    if (over->type == WEFT_TREE_TEXT && base && base->type == WEFT_TREE_MAP)
        return merge_tree(o, base, as_kind(o, over), ret);
    if (over->type == WEFT_TREE_TEXT && over->text[0] == '+' && isdigit((unsigned char)over->text[1]))
        return add_quantity(o, base, over, ret);
    *ret = over;
    return WEFT_OK;
}

enum weft_status weft_tree_override(const struct weft_tree *base, const struct weft_tree *over,
                                    struct weft_arena *arena, struct weft_tree **ret_tree,
                                    struct weft_error *ret_error) {
    struct override o = {arena, ret_error};
    const struct weft_tree *merged;
    enum weft_status status = merge_tree(&o, base, over, &merged);
    if (!status) *ret_tree = copy_with_room(&o, merged, 0);
    return status;
}
