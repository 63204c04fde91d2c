// SPDX-License-Identifier: Apache-2.0
// Reads a scenario file: the text, its variants, and the settings of the command line.
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "base/tree.h"
#include "scenario/scenario.h"
#include "weft/hardware.h"

enum { SETTING_SHOWN = 300 }; // of a longer one the message would have no room

enum { VARIANTS_MAX = 4096 };

static void add_source(struct weft_scenario_file *file, const struct weft_scenario_source *source) {
    struct weft_scenario_source *all = weft_arena_alloc(file->arena, file->read.n + 1, sizeof *all);
    if (file->read.n) memcpy(all, file->read.source, file->read.n * sizeof *all);
    all[file->read.n++] = *source;
    file->read.source = all;
}

static const char *stored_text(const struct weft_scenario_file *file, const char *name) {
    for (uint32_t i = 0; i < file->n_stored; i++)
        if (file->stored[i].name && !strcmp(file->stored[i].name, name)) return file->stored[i].text;
    return NULL;
}

static bool is_known(const struct weft_scenario_file *file, const char *name) {
    for (uint32_t i = 0; i < file->read.n; i++)
        if (file->read.source[i].name && !strcmp(file->read.source[i].name, name)) return true;
    return false;
}

/// Whether the value of the key is a class of hardware: "chip", "cable", "host_cable", "class" of a blueprint's part.
static bool names_class(const char *key) {
    const char *line = strpbrk(key, "_."), *last = key;
    for (; line; line = strpbrk(last, "_."))
        last = line + 1;
    bool names = !strcmp(last, "class");
    for (uint32_t k = 0; k < WEFT_HARDWARE_KINDS && !names; k++)
        names = !strcmp(last, weft_hardware_kind_row(k));
    return names;
}

/// Keeps the text of each file of a class of hardware that the tree names: results contain it, and it is read once.
static void keep_classes(struct weft_scenario_file *file, struct weft_tree *tree) {
    for (uint32_t i = 0; i < tree->n; i++)
        keep_classes(file, tree->child[i]);
    bool named = tree->type == WEFT_TREE_TEXT && tree->key && weft_hardware_is_file(tree->text);
    if (!named || !names_class(tree->key)) return;
    struct weft__text text;
    const char *path = weft__path_beside(tree->text, tree->place, file->arena), *kept = stored_text(file, path);
    if (!kept && !file->stored && !weft__text_read(path, &text, NULL)) {
        kept = weft_arena_format(file->arena, "%.*s", (int)text.size, text.text);
        weft__text_free(&text);
    }
    if (!kept) return;
    if (!is_known(file, path))
        add_source(file, &(struct weft_scenario_source){path, weft_arena_text(file->arena, kept)});
    tree->place.texts = &file->read;
}

/// "path=value" as a map of one dotted key; errors in it say "--set path=value: ...".
static enum weft_status read_setting(struct weft_scenario_file *file, const char *setting,
                                     const struct weft_tree **ret_over, struct weft_error *ret_error) {
    struct weft_arena *arena = file->arena;
    const char *more = strlen(setting) > SETTING_SHOWN ? "..." : "", *equals = strchr(setting, '=');
    const char *name = weft_arena_format(arena, "--set %.*s%s", SETTING_SHOWN, setting, more);
    struct weft_place place = {.file = name};
    if (!equals || equals == setting)
        return WEFT_REFUSE(ret_error, place, "expected path=value, such as host.cc=dcqcn");
    struct weft_tree *value;
    WEFT_TRY(weft__tree_parse_value(name, equals + 1, arena, &value, ret_error));
    value->key = weft_arena_format(arena, "%.*s", (int)(equals - setting), setting);
    value->key_place = place;
    keep_classes(file, value);
    struct weft_tree *map = weft_arena_alloc(arena, 1, sizeof *map);
    *map = (struct weft_tree){.type = WEFT_TREE_MAP, .place = place, .n = 1};
    map->child = weft_arena_alloc(arena, 1, sizeof *map->child);
    map->child[0] = value;
    *ret_over = map;
    return WEFT_OK;
}

static enum weft_status add_file(struct weft_scenario_file *file, const char *name, const char *text, size_t size,
                                 struct weft_tree **ret_root, struct weft_error *ret_error) {
    enum weft_status status = weft_tree_parse(name, text, size, file->arena, ret_root, ret_error);
    if (!status && !is_known(file, name)) // variants may share a base
        add_source(file, &(struct weft_scenario_source){weft_arena_text(file->arena, name),
                                                        weft_arena_format(file->arena, "%.*s", (int)size, text)});
    if (!status) keep_classes(file, *ret_root);
    return status;
}

enum weft_status weft__scenario_read(struct weft_scenario_file *file, const char *path, struct weft_tree **ret_root,
                                     struct weft_error *ret_error) {
    const char *stored = stored_text(file, path);
    if (stored) return add_file(file, path, stored, strlen(stored), ret_root, ret_error);
    if (file->stored)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = path}, "is not stored with the results");
    const struct weft_blueprint *blueprint = weft_blueprint_find(path);
    if (blueprint) return add_file(file, path, blueprint->text, blueprint->size, ret_root, ret_error);
    WEFT_ENDS(weft__text_free) struct weft__text text = {0};
    WEFT_TRY(weft__text_read(path, &text, ret_error));
    return add_file(file, strcmp(path, "-") ? path : "<stdin>", text.text, text.size, ret_root, ret_error);
}

/// A section of names with overrides, which may be missing or empty; *ret_n is then 0.
static enum weft_status read_names(const struct weft_tree *root, const char *key, const struct weft_tree **ret_map,
                                   uint32_t *ret_n, struct weft_error *ret_error) {
    const struct weft_tree *map = weft_tree_find(root, key);
    *ret_map = map;
    *ret_n = 0;
    if (!map || map->type == WEFT_TREE_NULL) return WEFT_OK;
    if (map->type != WEFT_TREE_MAP || !map->n)
        return WEFT_REFUSE(ret_error, map->place, "%s: expected a map of names, each with its overrides", key);
    for (uint32_t i = 0; i < map->n; i++) {
        const struct weft_tree *child = map->child[i];
        if (child->type != WEFT_TREE_MAP && child->type != WEFT_TREE_NULL)
            return WEFT_REFUSE(ret_error, child->place,
                               "%s.%.80s: expected a map of paths and values, such as {host.cc: dcqcn}", key,
                               child->key);
    }
    *ret_n = map->n;
    return WEFT_OK;
}

/// Lays `file` over the base that one of its variants names, as if the file itself named it: a variant per fabric. The
/// base's own cases, variants, claims and sweep do not apply to the variant.
static enum weft_status on_variant_base(struct weft_scenario_file *file, const struct weft_tree *root,
                                        const struct weft_tree **over, const struct weft_tree **ret_root,
                                        struct weft_error *ret_error) {
    static const char *const apart[] = {"cases", "variants", "claims", "sweep"};
    const struct weft_tree *base = *over ? weft_tree_find(*over, "base") : NULL, *ground;
    *ret_root = root;
    if (!base) return WEFT_OK;
    if (file->based)
        return WEFT_REFUSE(ret_error, base->place, "base: the file has a base already; expected one or the other");
    struct weft_tree *only = weft_arena_alloc(file->arena, 1, sizeof *only);
    *only = **over;
    only->child = weft_arena_alloc(file->arena, 1, sizeof *only->child);
    only->child[0] = (struct weft_tree *)base;
    only->n = 1;
    enum weft_status status = weft__scenario_on_base(file, only, &ground, ret_error);
    for (uint32_t i = 0; i < sizeof apart / sizeof *apart && !status; i++)
        ground = weft__tree_without(ground, apart[i], file->arena);
    if (!status) status = weft__scenario_over(ground, root, file->arena, ret_root, ret_error);
    *over = weft__tree_without(*over, "base", file->arena);
    return status;
}

/// The variants of one case (NULL: the file has none); `root` is the file without `cases`.
static enum weft_status add_variants(struct weft_scenario_file *file, const struct weft_tree *root,
                                     const struct weft_tree *case_tree, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    if (case_tree && case_tree->type == WEFT_TREE_MAP)
        status = weft__scenario_over(root, case_tree, file->arena, &root, ret_error);
    const struct weft_tree *map = NULL;
    uint32_t n = 0;
    if (!status) status = read_names(root, "variants", &map, &n, ret_error);
    if (status) return status;
    if (file->variants + n >= VARIANTS_MAX)
        return WEFT_REFUSE(ret_error, map->place, "more than %d variants", VARIANTS_MAX);
    root = weft__tree_without(root, "variants", file->arena);
    const char *case_name = case_tree ? case_tree->key : "";
    for (uint32_t i = 0; i < (n ? n : 1) && !status; i++) {
        const struct weft_tree *over = n ? map->child[i] : NULL, *ground;
        const char *name = over ? over->key : case_name;
        if (over && case_tree) name = weft_arena_format(file->arena, "%s/%s", case_name, over->key);
        if (over && over->type == WEFT_TREE_NULL) over = NULL;
        status = on_variant_base(file, root, &over, &ground, ret_error);
        file->variant[file->variants++] = (struct weft__variant){name, case_name, ground, over};
    }
    return status;
}

static enum weft_status read_variants(struct weft_scenario_file *file, const struct weft_tree *root,
                                      struct weft_error *ret_error) {
    const struct weft_tree *cases;
    uint32_t n;
    enum weft_status status = read_names(root, "cases", &cases, &n, ret_error);
    root = weft__tree_without(root, "cases", file->arena);
    file->variant = weft_arena_alloc(file->arena, VARIANTS_MAX, sizeof *file->variant);
    for (uint32_t i = 0; i < (n ? n : 1) && !status; i++)
        status = add_variants(file, root, n ? cases->child[i] : NULL, ret_error);
    return status;
}

/// A section about the file, not about its scenarios; NULL: missing or empty. *root is then without it.
static const struct weft_tree *take_section(struct weft_scenario_file *file, const struct weft_tree **root,
                                            const char *key) {
    const struct weft_tree *section = weft_tree_find(*root, key);
    *root = weft__tree_without(*root, key, file->arena);
    return section && section->type != WEFT_TREE_NULL ? section : NULL;
}

static enum weft_status take_setting(struct weft_scenario_file *file, const char *setting,
                                     struct weft_error *ret_error) {
    add_source(file, &(struct weft_scenario_source){NULL, weft_arena_text(file->arena, setting)});
    return read_setting(file, setting, &file->setting[file->settings++], ret_error);
}

/// WEFT_HARDWARE says `hardware` where the file does not.
static enum weft_status take_environment(struct weft_scenario_file *file, const struct weft_tree **root,
                                         struct weft_error *ret_error) {
    const char *hardware = file->stored ? NULL : getenv("WEFT_HARDWARE");
    struct weft_tree *over, *merged;
    if (!hardware || !*hardware || weft_tree_find(*root, "hardware")) return WEFT_OK;
    if (strcmp(hardware, WEFT_HARDWARE_IDEAL) != 0 && strcmp(hardware, "typical") != 0)
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "WEFT_HARDWARE in the environment: no choice \"%.80s\"; expected one of typical, ideal",
                           hardware);
    const char *setting = weft_arena_format(file->arena, "hardware=%s", hardware);
    enum weft_status status =
        weft__tree_parse_own(weft_arena_format(file->arena, "{hardware: %s}", hardware), file->arena, &over, ret_error);
    if (!status) status = weft_tree_override(*root, over, file->arena, &merged, ret_error);
    if (status) return status;
    *root = merged;
    add_source(file, &(struct weft_scenario_source){NULL, setting});
    return WEFT_OK;
}

static enum weft_status fill_file(struct weft_scenario_file *file, const struct weft_tree *root,
                                  const char *const *settings, uint32_t n_settings, struct weft_error *ret_error) {
    if (root->type != WEFT_TREE_MAP)
        return WEFT_REFUSE(ret_error, root->place, "expected a scenario: a map with topology, workload, ...");
    file->based = weft_tree_find(root, "base") != NULL;
    enum weft_status status = weft__scenario_on_base(file, root, &root, ret_error);
    if (!status) file->claims = take_section(file, &root, "claims");
    if (!status) file->sweep = take_section(file, &root, "sweep");
    if (!status) status = take_environment(file, &root, ret_error);
    if (!status) status = read_variants(file, root, ret_error);
    file->setting = weft_arena_alloc(file->arena, n_settings, sizeof(struct weft_tree *));
    for (uint32_t i = 0; i < n_settings && !status; i++)
        status = take_setting(file, settings[i], ret_error);
    return status;
}

static struct weft_scenario_file *file_new(const char *path) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_scenario_file *file = weft_arena_alloc(arena, 1, sizeof *file);
    file->arena = arena;
    file->path = weft_arena_text(arena, path);
    return file;
}

struct weft_scenario_file *weft_scenario_file_over(const struct weft_scenario_file *file,
                                                   const struct weft_tree *const *over, uint32_t n,
                                                   struct weft_arena *arena) {
    struct weft_scenario_file *view = weft_arena_alloc(arena, 1, sizeof *view);
    *view = *file;
    view->setting = weft_arena_alloc(arena, file->settings + n, sizeof *view->setting);
    for (uint32_t i = 0; i < file->settings; i++)
        view->setting[i] = file->setting[i];
    for (uint32_t i = 0; i < n; i++)
        view->setting[view->settings++] = over[i];
    return view;
}

/// A setting to be added to a file.
struct addition {
    struct weft_scenario_file *file;
    const char *setting;
};

static enum weft_status add_setting(void *context, struct weft_error *ret_error) {
    const struct addition *a = context;
    struct weft_scenario_file *file = a->file;
    const struct weft_tree *over = NULL;
    WEFT_TRY(read_setting(file, a->setting, &over, ret_error));
    const struct weft_tree **all = weft_arena_alloc(file->arena, file->settings + 1, sizeof *all);
    if (file->settings) memcpy(all, file->setting, file->settings * sizeof *all);
    all[file->settings++] = over;
    file->setting = all;
    add_source(file, &(struct weft_scenario_source){NULL, weft_arena_text(file->arena, a->setting)});
    return WEFT_OK;
}

enum weft_status weft_scenario_file_set(struct weft_scenario_file *file, const char *setting,
                                        struct weft_error *ret_error) {
    struct addition addition = {file, setting};
    struct weft_memory *memory = file->own;
    enum weft_status status = weft_memory_enter(&memory, add_setting, &addition, ret_error);
    if (memory != file->own) weft_memory_close(memory);
    return status;
}

/// A file to be read. `text` NULL: read the file `name`.
struct source {
    const char *name, *text;
    size_t size;
    const struct weft_scenario_source *stored;
    uint32_t n_stored;
    const char *const *settings;
    uint32_t n_settings;
    struct weft_scenario_file *file; ///< the result
};

static enum weft_status read_source(void *context, struct weft_error *ret_error) {
    struct source *s = context;
    struct weft_scenario_file *file = file_new(s->name);
    struct weft_tree *root = NULL;
    file->stored = s->stored;
    file->n_stored = s->n_stored;
    file->is_stored = s->stored;
    enum weft_status status = s->text ? add_file(file, s->name, s->text, s->size, &root, ret_error)
                                      : weft__scenario_read(file, s->name, &root, ret_error);
    if (!status) status = fill_file(file, root, s->settings, s->n_settings, ret_error);
    if (status)
        weft_arena_free(file->arena); // the file itself is in it
    else
        s->file = file;
    return status;
}

static enum weft_status read_file(struct source *s, struct weft_scenario_file **ret_file,
                                  struct weft_error *ret_error) {
    struct weft_memory *memory = NULL;
    enum weft_status status = weft_memory_enter(&memory, read_source, s, ret_error);
    if (status) {
        weft_memory_close(memory);
        return status;
    }
    s->file->own = memory;
    *ret_file = s->file;
    return WEFT_OK;
}

enum weft_status weft_scenario_file_read(const char *path, const char *const *settings, uint32_t n_settings,
                                         struct weft_scenario_file **ret_file, struct weft_error *ret_error) {
    return read_file(&(struct source){.name = path, .settings = settings, .n_settings = n_settings}, ret_file,
                     ret_error);
}

enum weft_status weft_scenario_file_parse(const char *name, const char *text, size_t size, const char *const *settings,
                                          uint32_t n_settings, struct weft_scenario_file **ret_file,
                                          struct weft_error *ret_error) {
    struct source source = {.name = name, .text = text, .size = size, .settings = settings, .n_settings = n_settings};
    return read_file(&source, ret_file, ret_error);
}

enum weft_status weft_scenario_file_stored(const struct weft_scenario_source *stored, uint32_t n,
                                           struct weft_scenario_file **ret_file, struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    const char **settings = weft_arena_alloc(arena, n, sizeof *settings);
    struct source source = {.stored = stored, .n_stored = n, .settings = settings};
    for (uint32_t i = n; i-- > 0;)
        if (stored[i].name) source.name = stored[i].name;
    for (uint32_t i = 0; i < n; i++)
        if (!stored[i].name) settings[source.n_settings++] = stored[i].text;
    return source.name ? read_file(&source, ret_file, ret_error)
                       : WEFT_REFUSE(ret_error, WEFT_NOWHERE, "no scenario is stored with the results");
}

enum weft_status weft_scenario_file_again(const struct weft_scenario_file *read, const char *const *settings,
                                          uint32_t n_settings, struct weft_scenario_file **ret_file,
                                          struct weft_error *ret_error) {
    const struct weft_scenario_source *own = read->read.source; // the file itself is the first one with a name
    while (!own->name)
        own++;
    struct source source = {.name = own->name,
                            .text = own->text,
                            .size = strlen(own->text),
                            .stored = read->is_stored ? read->read.source : NULL,
                            .n_stored = read->is_stored ? read->read.n : 0,
                            .settings = settings,
                            .n_settings = n_settings};
    return read_file(&source, ret_file, ret_error);
}

const struct weft_scenario_source *weft_scenario_sources(const struct weft_scenario_file *file, uint32_t *ret_n) {
    *ret_n = file->read.n;
    return file->read.source;
}

void weft_scenario_file_free(struct weft_scenario_file *file) {
    if (!file) return;
    struct weft_memory *own = file->own;
    weft_arena_free(file->arena); // the file itself is in it
    weft_memory_close(own);
}

uint32_t weft_scenario_variants(const struct weft_scenario_file *file) {
    return file->variants;
}

const char *weft_scenario_variant_name(const struct weft_scenario_file *file, uint32_t i) {
    return file->variant[i].name;
}

uint32_t weft_scenario_variant_find(const struct weft_scenario_file *file, const char *name) {
    for (uint32_t i = 0; i < file->variants; i++)
        if (!strcmp(file->variant[i].name, name)) return i;
    return WEFT_NONE;
}

const char *weft_scenario_variant_case(const struct weft_scenario_file *file, uint32_t i) {
    return file->variant[i].case_name;
}

const struct weft_tree *weft_scenario_claims(const struct weft_scenario_file *file) {
    return file->claims;
}

const struct weft_tree *weft_scenario_sweep(const struct weft_scenario_file *file) {
    return file->sweep;
}

const struct weft_tree *weft_scenario_setting(const struct weft_scenario_file *file, const char *path) {
    for (uint32_t i = file->settings; i-- > 0;)
        if (!strcmp(file->setting[i]->child[0]->key, path)) return file->setting[i]->child[0];
    return NULL;
}
