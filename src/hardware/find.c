// SPDX-License-Identifier: Apache-2.0
// Finds classes of hardware: those of hardware/, and files that a scenario names. Gives the loader of parameters their
// values.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/lines.h"
#include "base/param.h"
#include "base/tree.h"
#include "hardware/hardware.h"
#include "weft/param.h"
#include "weft/scenario.h"

uint32_t weft_hardware_count(void) {
    return weft__hardware_files_n;
}

const char *weft_hardware_name(uint32_t i) {
    return weft__hardware_files[i].name;
}

bool weft_hardware_is_file(const char *name) {
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 5 && !strcmp(name + n - 5, ".yaml"));
}

static enum weft_status parse_own(uint32_t i, struct weft_arena *arena, const struct weft_hardware **ret_hardware,
                                  struct weft_error *ret_error) {
    const struct weft__hardware_file *file = &weft__hardware_files[i];
    const char *name = weft_arena_format(arena, "hardware/%s.yaml", file->name);
    return weft_hardware_parse(name, file->text, file->size, arena, ret_hardware, ret_error);
}

const struct weft_hardware *weft_hardware_at(uint32_t i, struct weft_arena *arena) {
    const struct weft_hardware *hardware;
    enum weft_status status = parse_own(i, arena, &hardware, NULL);
    assert(status == WEFT_OK);
    return status ? NULL : hardware;
}

static enum weft_status read_file(const char *name, struct weft_place place, struct weft_arena *arena,
                                  const struct weft_hardware **ret_hardware, struct weft_error *ret_error) {
    struct weft__text text;
    const char *path = weft__path_beside(name, place, arena);
    struct weft_error own = {0};
    for (uint32_t i = 0; place.texts && i < place.texts->n; i++) {
        const struct weft_scenario_source *kept = &place.texts->source[i];
        if (kept->name && !strcmp(kept->name, path))
            return weft_hardware_parse(path, kept->text, strlen(kept->text), arena, ret_hardware, ret_error);
    }
    if (weft__text_read(path, &text, &own)) return WEFT_REFUSE(ret_error, place, "%s", own.text);
    enum weft_status status;
    status = weft_hardware_parse(path, text.text, text.size, arena, ret_hardware, ret_error);
    weft__text_free(&text);
    return status;
}

/// "no class ...; expected one of ideal, tomahawk5 or a file".
static enum weft_status fail_class(uint32_t kind, const char *name, const struct weft_hardware *other,
                                   struct weft_place place, const char *path, struct weft_error *ret_error) {
    enum { MAX = 256 };
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const char *names[MAX] = {WEFT_HARDWARE_IDEAL},
               *what = kind < WEFT_HARDWARE_KINDS ? weft_hardware_kind_name(kind) : "class";
    uint32_t n = 1;
    for (uint32_t i = 0; i < weft_hardware_count() && n < MAX; i++)
        if (kind == WEFT_HARDWARE_KINDS || weft_hardware_at(i, arena)->kind == kind) names[n++] = weft_hardware_name(i);
    char expected[800];
    weft__names_expected(other ? "" : name, names, n, expected, sizeof expected);
    enum weft_status status =
        other ? WEFT_REFUSE(ret_error, place, "%s: %.80s is of kind %s, not %s; %s, or the path of a file", path, name,
                            weft_hardware_kind_name(other->kind), what, expected)
              : WEFT_REFUSE(ret_error, place, "%s: no %s \"%.80s\"; %s, or the path of a file", path, what, name,
                            expected);
    weft_arena_free(arena);
    return status;
}

enum weft_status weft_hardware_find(uint32_t kind, const char *name, struct weft_place place, const char *path,
                                    struct weft_arena *arena, const struct weft_hardware **ret_hardware,
                                    struct weft_error *ret_error) {
    const struct weft_hardware *found = NULL;
    enum weft_status status = WEFT_OK;
    if (weft_hardware_is_file(name)) {
        status = read_file(name, place, arena, &found, ret_error);
    } else {
        for (uint32_t i = 0; i < weft_hardware_count() && !found && !status; i++)
            if (!strcmp(weft_hardware_name(i), name)) status = parse_own(i, arena, &found, ret_error);
    }
    if (status) return status;
    if (!found || (kind < WEFT_HARDWARE_KINDS && found->kind != kind))
        return fail_class(kind, name, found, place, path, ret_error);
    *ret_hardware = found;
    return WEFT_OK;
}

enum weft_status weft_hardware_classes(const char *name, struct weft_arena *arena,
                                       struct weft_hardware_classes *ret_classes, struct weft_error *ret_error) {
    struct weft_hardware *all = weft_arena_alloc(arena, weft_hardware_count() + 1, sizeof *all);
    *ret_classes = (struct weft_hardware_classes){all, name ? 1 : weft_hardware_count()};
    for (uint32_t i = 0; !name && i < weft_hardware_count(); i++)
        all[i] = *weft_hardware_at(i, arena);
    const struct weft_hardware *one = all;
    if (name && !strcmp(name, WEFT_HARDWARE_IDEAL))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "%s is no product and has no file: it means the defaults of a section (weft models switch)",
                           name);
    enum weft_status status =
        name ? weft_hardware_find(WEFT_HARDWARE_KINDS, name, WEFT_NOWHERE, "hardware", arena, &one, ret_error)
             : WEFT_OK;
    ret_classes->hardware = one;
    return status;
}

const struct weft_hardware_value *weft_hardware_value(const struct weft_hardware *hardware, const char *key) {
    for (uint32_t i = 0; hardware && i < hardware->n; i++)
        if (!strcmp(hardware->value[i].key, key)) return &hardware->value[i];
    return NULL;
}

double weft_hardware_number(const struct weft_hardware *hardware, const char *key, double otherwise) {
    const struct weft_hardware_value *v = weft_hardware_value(hardware, key);
    return v && !isnan(v->number) ? v->number : otherwise;
}

const struct weft_hardware_value *weft_hardware_band(const struct weft_hardware *hardware, const char *path) {
    const char *section = weft_hardware_kind_section(hardware->kind);
    size_t n = strlen(section);
    if (strncmp(path, section, n) || path[n] != '.') return NULL;
    for (const struct weft_hardware_value *v = hardware->value; v < hardware->value + hardware->n; v++)
        if (!v->fact && (v->low || v->high) && weft_hardware_has_path(hardware, v, path + n + 1)) return v;
    return NULL;
}

bool weft_hardware_has_path(const struct weft_hardware *h, const struct weft_hardware_value *v, const char *path) {
    size_t n = strcspn(v->key, ".");
    const struct weft_param_table *table = weft_hardware_kind_table(h->kind);
    for (uint32_t i = 0; i < table->n; i++)
        if (table->rows[i].beside && !strncmp(table->rows[i].name, v->key, n) && !table->rows[i].name[n] && v->key[n] &&
            !strcmp(v->key + n + 1, path))
            return true;
    return !strcmp(v->key, path);
}

// --- for the loader of parameters ---------------------------------------------------------------------------------

/// The kind whose classes are named by that row of that table.
static uint32_t kind_of_row(const struct weft_param_table *table, const char *row) {
    for (uint32_t k = 0; k < WEFT_HARDWARE_KINDS; k++)
        if (weft_hardware_kind_table(k)->rows == table->rows && !strcmp(weft_hardware_kind_row(k), row)) return k;
    assert(false && "a table with a row for classes is in weft/hardware.def");
    return 0;
}

static enum weft_status find_values(const struct weft_param_table *table, const char *row,
                                    const struct weft_tree *named, const char *path, struct weft_arena *arena,
                                    const struct weft_param_value **ret_value, struct weft_error *ret_error) {
    *ret_value = NULL;
    if (!strcmp(named->text, WEFT_HARDWARE_IDEAL)) return WEFT_OK;
    const struct weft_hardware *h;
    enum weft_status status =
        weft_hardware_find(kind_of_row(table, row), named->text, named->place, path, arena, &h, ret_error);
    if (status) return status;
    struct weft_param_value *value = weft_arena_alloc(arena, h->n + 1, sizeof *value);
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n; i++)
        if (!h->value[i].fact) value[n++] = (struct weft_param_value){h->value[i].key, h->value[i].typical};
    *ret_value = value;
    return WEFT_OK;
}

static const char *const chip_rows[] = {"chip", NULL}, *const nic_rows[] = {"nic", NULL},
                         *const kind_rows[] = {"kind", NULL};
const struct weft_param_classes weft_hardware_by_chip = {chip_rows, find_values},
                                weft_hardware_by_nic = {nic_rows, find_values},
                                weft_hardware_by_kind = {kind_rows, find_values};
