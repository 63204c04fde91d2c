// SPDX-License-Identifier: Apache-2.0
// The assumed numbers of a versus: found by their rows, whose help says so, and by the class of hardware that a fabric
// names, which may give a band. A number moves to each end of its band, without one to half and twice its value, in all
// fabrics that have it, one at a time, as far as its bounds and the fabric's other values allow.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "versus.h"
#include "weft/hardware.h"
#include "weft/param.h"
#include "weft/param_load.h"

enum { ASSUMPTIONS_MAX = 256 };

struct finder {
    const struct weft_cli_options *o;
    struct weft_versus *v;
    const struct weft_scenario *scenario;
    const char **value;                                        ///< [ASSUMPTIONS_MAX]: its value in this fabric
    const struct weft_hardware *hardware[WEFT_HARDWARE_KINDS]; ///< the fabric's classes; NULL: ideal
    uint32_t fabric;
    bool bands; ///< only numbers whose class has a band
};

/// Prices and power change no time (src/versus/energy.c handles watts), and neither do settings of a run.
static bool counts_row(const struct weft_param *row, const char *path) {
    const char *dot = strrchr(path, '.');
    return row && weft_param_is_number(row) && strncmp(path, "run.", 4) != 0 && !(dot && !strcmp(dot, ".watts"));
}

static void on_class(void *context, const char *path, const char *value, const char *dflt) {
    struct finder *f = context;
    for (uint32_t k = 0; k < WEFT_HARDWARE_KINDS; k++) {
        const char *own =
            weft_arena_format(f->o->arena, "%s.%s", weft_hardware_kind_section(k), weft_hardware_kind_row(k));
        if (!strcmp(own, path) && strcmp(value, WEFT_HARDWARE_IDEAL) != 0)
            weft_hardware_find(k, value, weft_device_place(f->scenario->device, path), path, f->o->arena,
                               &f->hardware[k], NULL);
    }
}

/// The band of a value that the fabric has from its class; NULL: its class gives none, or the value is another.
static const struct weft_hardware_value *band_of(const struct finder *f, const char *path, const char *value,
                                                 const struct weft_hardware **ret_hardware) {
    const struct weft_hardware_value *v = NULL;
    for (uint32_t k = 0; k < WEFT_HARDWARE_KINDS && !v; k++) {
        *ret_hardware = f->hardware[k];
        v = f->hardware[k] ? weft_hardware_band(f->hardware[k], path) : NULL;
    }
    return v && weft_hardware_is_typical(v, value, f->o->arena) ? v : NULL;
}

/// The number of that path, within the band (NULL: it has none).
static struct weft_versus_assumption *find_assumption(struct finder *f, const char *path, const char *help,
                                                      const struct weft_hardware_value *band,
                                                      const struct weft_hardware *h, uint32_t *ret_i) {
    struct weft_versus *v = f->v;
    struct weft_versus_assumption own = {.path = path, .help = help, .factor = {0.5, 2}, .band = ""};
    if (band) {
        own.factor[0] = band->low ? band->low_number / band->number : 1;
        own.factor[1] = band->high ? band->high_number / band->number : 1;
        own.band =
            weft_arena_format(f->o->arena, "%s to %s of %s (%s)", band->low ? band->low : band->typical,
                              band->high ? band->high : band->typical, h->name, weft_hardware_bases[band->basis]);
    }
    for (uint32_t i = 0; i < v->assumptions; i++)
        if (!strcmp(v->assumption[ *ret_i = i].path, path) && !strcmp(v->assumption[i].band, own.band))
            return &v->assumption[i];
    if (v->assumptions == ASSUMPTIONS_MAX) return NULL;
    struct weft_versus_assumption *a = &v->assumption[ *ret_i = v->assumptions++];
    *a = own;
    a->path = weft_arena_text(f->o->arena, path);
    for (unsigned k = 0; k < 2; k++)
        a->value[k] = weft_arena_alloc(f->o->arena, v->fabrics, sizeof *a->value[k]);
    return a;
}

static void on_value(void *context, const char *path, const char *value, const char *dflt) {
    struct finder *f = context;
    const struct weft_param *row = weft_scenario_row(f->scenario, path);
    uint32_t i;
    if (!counts_row(row, path)) return;
    const struct weft_hardware *h;
    const struct weft_hardware_value *band = band_of(f, path, value, &h);
    bool assumed = !f->bands && strstr(row->help, "assumed");
    if ((!band && !assumed) || !find_assumption(f, path, row->help, band, h, &i)) return;
    f->value[i] = weft_arena_text(f->o->arena, value);
}

/// The text of half or twice a value; NULL: it is 0, or not a number.
static const char *scaled_text(const struct weft_param *row, const char *value, bool twice, struct weft_arena *arena) {
    double number;
    if (!weft_param_number(row, value, arena, &number)) return NULL;
    bool whole = row->type != WEFT_PARAM_REAL;
    if (!(number > 0) || (whole && number < 2)) return NULL;
    double scaled = twice ? 2 * number : number / 2;
    return weft_param_number_text(row, whole ? floor(scaled) : scaled, arena);
}

/// The end of the value's band, without one half or twice the value; NULL: there is no such value, or it is no other.
static const char *swung_text(const struct finder *f, const struct weft_versus_assumption *a, const char *value,
                              bool up) {
    const struct weft_hardware *h;
    const struct weft_hardware_value *v = band_of(f, a->path, value, &h);
    if (!v) return scaled_text(weft_scenario_row(f->scenario, a->path), value, up, f->o->arena);
    if (up) return v->high_number > v->number ? v->high : NULL;
    return v->low_number < v->number ? v->low : NULL;
}

static enum weft_status open_fabric(const struct finder *f, struct weft_scenario_file **ret_file,
                                    struct weft_error *ret_error) {
    static const char work[] = "workload=[{kind: flow, src: host-0, dst: host-1, size: 1B}]";
    const struct weft_cli_options *o = f->o;
    const char *const size[] = {
        work, weft_arena_format(o->arena, "fabric.hosts=%llu", (unsigned long long)f->v->fabric[f->fabric].hosts),
        weft_arena_format(o->arena, "fabric.rate=%llubps", (unsigned long long)f->v->rate_bps)};
    enum weft_status status = weft_scenario_file_read(f->v->fabric[f->fabric].base, NULL, 0, ret_file, ret_error);
    for (uint32_t i = 0; i < o->settings + 3 && !status; i++)
        status = weft_scenario_file_set(*ret_file, i < 3 ? size[i] : o->setting[i - 3], ret_error);
    return status;
}

/// Whether the fabric can be built with it: laid over its file, as in the case.
static bool can_have(const struct finder *f, const char *path, const char *value) {
    WEFT_ENDS(weft_scenario_file_end) struct weft_scenario_file *file = NULL;
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    struct weft_error ignored = {0};
    struct weft_tree *over = NULL;
    const char *text = weft_arena_format(f->o->arena, "{\"%s\": %s}", path, value);
    bool can =
        !open_fabric(f, &file, &ignored) && !weft_tree_parse(path, text, strlen(text), f->o->arena, &over, &ignored);
    if (can) {
        const struct weft_tree *list[] = {over};
        const struct weft_scenario_file *view = weft_scenario_file_over(file, list, 1, f->o->arena);
        can = !weft_cli_simulation_init(&sim, view, 0, &ignored);
    }
    return can;
}

static enum weft_status add_fabric(struct finder *f, struct weft_error *ret_error) {
    WEFT_ENDS(weft_scenario_file_end) struct weft_scenario_file *file = NULL;
    struct weft_scenario *scenario = NULL;
    enum weft_status status = open_fabric(f, &file, ret_error);
    if (!status) status = weft_scenario_new(file, 0, &scenario, ret_error);
    if (!status) {
        f->scenario = scenario;
        memset(f->value, 0, ASSUMPTIONS_MAX * sizeof *f->value);
        memset(f->hardware, 0, sizeof f->hardware);
        weft_scenario_each(scenario, on_class, f);
        weft_scenario_each(scenario, on_value, f);
    }
    for (uint32_t i = 0; i < f->v->assumptions && !status; i++)
        for (unsigned k = 0; k < 2; k++) {
            struct weft_versus_assumption *a = &f->v->assumption[i];
            const char *value = f->value[i];
            if (value) value = swung_text(f, a, value, k);
            if (value && can_have(f, a->path, value)) a->value[k][f->fabric] = value;
        }
    weft_scenario_free(scenario);
    return status;
}

/// Whether any fabric can have this value.
static bool has_anywhere(const struct weft_versus *v, const struct weft_versus_assumption *a, bool twice) {
    for (uint32_t i = 0; i < v->fabrics; i++)
        if (a->value[twice][i]) return true;
    return false;
}

static const char *const band_ends[] = {"low", "high"}, *const factors[] = {"half", "twice"};

static void add_cases(const struct weft_cli_options *o, struct weft_versus *v) {
    uint32_t room = v->n_cases * (1 + 2 * v->assumptions);
    struct weft_versus_case *all = weft_arena_alloc(o->arena, room, sizeof *all);
    memcpy(all, v->cases, v->n_cases * sizeof *all);
    v->cases = all;
    for (uint32_t c = 0; c < v->n_cases; c++)
        for (uint32_t i = 0; i < 2 * v->assumptions && !v->cases[c].failure; i++) {
            const struct weft_versus_assumption *a = &v->assumption[i / 2];
            if (!has_anywhere(v, a, i % 2)) continue;
            struct weft_versus_case *more = &v->cases[v->n_all++];
            *more = v->cases[c];
            more->healthy = c;
            more->assumption = a;
            more->twice = i % 2;
            const char *const *end = *a->band ? band_ends : factors;
            more->name = weft_arena_format(o->arena, "%s-assumption-%u-%s", v->cases[c].name, i / 2 + 1, end[i % 2]);
        }
}

enum weft_status versus_assumptions_add(const struct weft_cli_options *o, struct weft_versus *v, bool bands,
                                        struct weft_error *ret_error) {
    struct finder f = {.o = o, .v = v, .bands = bands};
    enum weft_status status = WEFT_OK;
    v->assumption = weft_arena_alloc(o->arena, ASSUMPTIONS_MAX, sizeof *v->assumption);
    f.value = weft_arena_alloc(o->arena, ASSUMPTIONS_MAX, sizeof *f.value);
    for (uint32_t i = 0; i < v->fabrics && !status; i++) {
        f.fabric = i;
        if (v->fabric[i].variant != WEFT_NONE && !v->fabric[i].is_ruler) status = add_fabric(&f, ret_error);
    }
    if (!status) add_cases(o, v);
    return status;
}
