// SPDX-License-Identifier: Apache-2.0
#include "sweep/axes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "base/units.h"
#include "scenario/seeds.h"

enum { AXES_MAX = 64 };

static const char seed_path[] = "run.seed";

#define FAIL(error, place, ...) WEFT_REFUSE(error, place, __VA_ARGS__)

// --- values -------------------------------------------------------------------------------------------------------

/// In a scenario it is laid over, `tree` is at the axis's path, with its own place.
static struct weft_sweep_value value_of(const struct weft_sweep_axis *axis, const struct weft_tree *tree,
                                        struct weft_arena *arena) {
    struct weft_tree *leaf = weft_arena_alloc(arena, 1, sizeof *leaf), *map = weft_arena_alloc(arena, 1, sizeof *map);
    *leaf = *tree;
    leaf->key = axis->path;
    leaf->key_place = axis->place;
    *map = (struct weft_tree){.type = WEFT_TREE_MAP, .place = tree->place, .n = 1};
    map->child = weft_arena_alloc(arena, 1, sizeof *map->child);
    map->child[0] = leaf;
    bool plain = tree->type == WEFT_TREE_TEXT && weft__text_is_plain(tree->text);
    return (struct weft_sweep_value){plain ? tree->text : weft_tree_text(tree, arena), map};
}

struct weft_sweep_value weft__sweep_text_value(const struct weft_sweep_axis *axis, const char *text,
                                               struct weft_arena *arena) {
    return value_of(axis, &(struct weft_tree){.type = WEFT_TREE_TEXT, .place = axis->place, .text = text}, arena);
}

static enum weft_status add_range(struct weft_sweep_axis *axis, const struct weft_sweep_range *range, uint32_t n,
                                  struct weft_arena *arena, struct weft_error *ret_error) {
    axis->value = weft_arena_alloc(arena, n, sizeof *axis->value);
    axis->values = n;
    for (uint32_t i = 0; i < n; i++) {
        double at = n > 1 ? (double)i / (n - 1) : 0;
        axis->value[i] = weft__sweep_text_value(axis, weft__range_at(range, at, arena), arena);
        if (i && !strcmp(axis->value[i].text, axis->value[i - 1].text))
            return FAIL(ret_error, axis->place,
                        "%s: of %s two would be %s; expected fewer, or fractions, as in 0.0..1.0:5", axis->path,
                        weft__counted(n, "value").text, axis->value[i].text);
    }
    return WEFT_OK;
}

static enum weft_status add_list(struct weft_sweep_axis *axis, const struct weft_tree *list, struct weft_arena *arena,
                                 struct weft_error *ret_error) {
    if (!list->n || list->n > WEFT_SWEEP_VALUES_MAX)
        return FAIL(ret_error, list->place, "%s: expected 1 to %d values", axis->path, WEFT_SWEEP_VALUES_MAX);
    axis->values = list->n;
    axis->value = weft_arena_alloc(arena, list->n, sizeof *axis->value);
    for (uint32_t i = 0; i < list->n; i++) {
        axis->value[i] = value_of(axis, list->child[i], arena);
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(axis->value[k].text, axis->value[i].text))
                return FAIL(ret_error, list->child[i]->place, "%s: %s is there twice", axis->path, axis->value[i].text);
    }
    return WEFT_OK;
}

/// "2,4": meant as two values, and read as one.
static bool is_bare_list(const char *text) {
    bool digit = *text >= '0' && *text <= '9';
    for (const char *at = text; digit && (at = strchr(at, ',')); at++)
        digit = at[1] >= '0' && at[1] <= '9';
    return digit && strchr(text, ',');
}

static enum weft_status add_text(struct weft_sweep_axis *axis, const struct weft_tree *tree, struct weft_arena *arena,
                                 struct weft_error *ret_error) {
    enum weft__range_kind kind;
    struct weft_sweep_range *range;
    uint32_t n;
    char why[512];
    if (is_bare_list(tree->text))
        return FAIL(ret_error, tree->place, "%s: expected a list in brackets, [%.200s]; or --set for one value",
                    axis->path, tree->text);
    if (!weft__range_parse(tree->text, arena, &kind, &range, &n, why, sizeof why))
        return FAIL(ret_error, tree->place, "%s: %s", axis->path, why);
    if (kind == WEFT__RANGE_VALUES) return add_range(axis, range, n, arena, ret_error);
    if (kind == WEFT__RANGE_ANY) {
        axis->range = range;
        return WEFT_OK;
    }
    axis->values = 1;
    axis->value = weft_arena_alloc(arena, 1, sizeof *axis->value);
    *axis->value = value_of(axis, tree, arena);
    return WEFT_OK;
}

// --- axes ---------------------------------------------------------------------------------------------------------

/// The axis of that path, or the next free one.
static struct weft_sweep_axis *axis_of(struct weft_sweep *s, const char *path) {
    uint32_t i = 0;
    while (i < s->axes && strcmp(s->axis[i].path, path))
        i++;
    return &s->axis[i];
}

static enum weft_status add_axis(struct weft_sweep *s, const char *path, struct weft_place path_place,
                                 const struct weft_tree *values, struct weft_error *ret_error) {
    struct weft_sweep_axis *axis = axis_of(s, path);
    if (axis == &s->axis[AXES_MAX]) return FAIL(ret_error, path_place, "more than %d parameters are varied", AXES_MAX);
    if (axis == &s->axis[s->axes]) s->axes++;
    *axis = (struct weft_sweep_axis){.path = path, .place = values->place};
    if (values->type == WEFT_TREE_LIST) return add_list(axis, values, s->arena, ret_error);
    if (values->type == WEFT_TREE_TEXT) return add_text(axis, values, s->arena, ret_error);
    return FAIL(ret_error, values->type == WEFT_TREE_NULL ? path_place : values->place,
                "%s: expected a list such as [none, dcqcn], or a range such as 100KB..400KB:4", path);
}

static enum weft_status add_section(struct weft_sweep *s, const struct weft_tree *vary, struct weft_error *ret_error) {
    if (!vary || vary->type == WEFT_TREE_NULL) return WEFT_OK;
    if (vary->type != WEFT_TREE_MAP)
        return FAIL(ret_error, vary->place,
                    "sweep.vary: expected a map of paths and values, such as {host.cc: [none, "
                    "dcqcn]}");
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < vary->n && !status; i++)
        status = add_axis(s, vary->child[i]->key, vary->child[i]->key_place, vary->child[i], ret_error);
    return status;
}

/// "PATH=VALUES"; `before`: those of the command line that came before.
static enum weft_status add_option(struct weft_sweep *s, const char *option, const char *const *vary, uint32_t before,
                                   struct weft_error *ret_error) {
    const char *text = vary[before], *equals = strchr(text, '=');
    struct weft_place place = {.file = weft_arena_format(s->arena, "%s %s", option ? option : "--vary", text)};
    if (!equals || equals == text) return FAIL(ret_error, place, "expected path=values, such as host.cc=[none,dcqcn]");
    size_t length = (size_t)(equals - text) + 1;
    for (uint32_t i = 0; i < before; i++)
        if (!strncmp(vary[i], text, length))
            return FAIL(ret_error, place, "%.*s is varied twice", (int)length - 1, text);
    struct weft_tree *values;
    WEFT_TRY(weft__tree_parse_value(place.file, equals + 1, s->arena, &values, ret_error));
    return add_axis(s, weft_arena_format(s->arena, "%.*s", (int)length - 1, text), place, values, ret_error);
}

// --- seeds --------------------------------------------------------------------------------------------------------

/// The axis run.seed becomes the seeds.
static enum weft_status take_seeds(struct weft_sweep *s, struct weft_error *ret_error) {
    struct weft_sweep_axis *axis = axis_of(s, seed_path);
    if (axis == &s->axis[s->axes]) return WEFT_OK;
    bool sound = axis->values && axis->values <= WEFT_SWEEP_SEEDS_MAX;
    s->seed = weft_arena_alloc(s->arena, WEFT_SWEEP_SEEDS_MAX, sizeof *s->seed);
    s->seeds = 0;
    for (uint32_t i = 0; i < axis->values && sound; i++) {
        const char *at = axis->value[i].text;
        uint64_t seed;
        sound = weft__seed_read(&at, &seed) && !*at && weft__seed_add(s->seed, &s->seeds, seed);
    }
    if (!sound)
        return FAIL(ret_error, axis->place, "%s: expected at most %d whole numbers, each once, as in 1..5", seed_path,
                    WEFT_SWEEP_SEEDS_MAX);
    memmove(axis, axis + 1, (size_t)(&s->axis[s->axes] - axis - 1) * sizeof *axis);
    s->axes--;
    return WEFT_OK;
}

// --- all ----------------------------------------------------------------------------------------------------------

/// A varied value cannot be set as well.
static enum weft_status check_settings(const struct weft_sweep *s, struct weft_error *ret_error) {
    for (uint32_t a = 0; a < s->axes + (s->seed != NULL); a++) {
        const char *path = a < s->axes ? s->axis[a].path : seed_path;
        const struct weft_tree *setting = weft_scenario_setting(s->file, path);
        if (setting)
            return FAIL(ret_error, setting->key_place,
                        "the sweep varies %s; expected one or the other: --vary %s=%s has it at this value", path, path,
                        setting->type == WEFT_TREE_TEXT ? setting->text : "[...]");
    }
    return WEFT_OK;
}

enum weft_status weft__sweep_axes(struct weft_sweep *s, const struct weft_sweep_options *o,
                                  const struct weft_tree *vary, struct weft_error *ret_error) {
    s->axis = weft_arena_alloc(s->arena, AXES_MAX + 1, sizeof *s->axis);
    enum weft_status status = add_section(s, vary, ret_error);
    for (uint32_t i = 0; i < o->varied && !status; i++)
        status = add_option(s, o->option, o->vary, i, ret_error);
    s->seeds = 1;
    if (!status) status = take_seeds(s, ret_error);
    if (!status && o->seed) {
        s->seeds = o->seeds;
        s->seed = weft_arena_alloc(s->arena, o->seeds, sizeof *s->seed);
        memcpy(s->seed, o->seed, o->seeds * sizeof *s->seed);
    }
    return status ? status : check_settings(s, ret_error);
}
