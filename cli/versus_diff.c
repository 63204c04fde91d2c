// SPDX-License-Identifier: Apache-2.0
// What an answer of today says otherwise than one that --out has kept: who leads, how long each fabric takes, what it
// takes, and whether it runs at all.
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "versus.h"

struct versus_old {
    json_t *root;
};

void versus_old_free(struct versus_old *old) {
    if (old) json_decref(old->root);
}

enum weft_status versus_old_read(const char *path, struct weft_arena *arena, struct versus_old **ret_old,
                                 struct weft_error *ret_error) {
    struct stat about;
    json_error_t wrong;
    if (!stat(path, &about) && S_ISDIR(about.st_mode)) path = weft_arena_format(arena, "%s/versus.json", path);
    json_t *root = json_load_file(path, 0, &wrong);
    struct weft_place place = {.file = path};
    if (!root && wrong.line > 0) place = (struct weft_place){path, wrong.line, wrong.column};
    if (!root) return weft_error_set(ret_error, WEFT_ERROR_INPUT, place, "--diff: %s", wrong.text);
    if (!json_is_array(json_object_get(root, "fabrics")) || !json_is_array(json_object_get(root, "cases"))) {
        json_decref(root);
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place,
                              "--diff: expected versus.json of a folder that weft versus --out has written");
    }
    *ret_old = weft_arena_alloc(arena, 1, sizeof **ret_old);
    (*ret_old)->root = root;
    return WEFT_OK;
}

static double number(const json_t *map, const char *key) {
    const json_t *value = json_object_get(map, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/// The entry of a list that has that name and, unless `hosts` is 0, is of so many hosts; NULL: none.
static const json_t *named(const json_t *root, const char *list, const char *name, uint64_t hosts) {
    size_t i;
    const json_t *one, *all = json_object_get(root, list);
    json_array_foreach(all, i, one) {
        const char *of = json_string_value(json_object_get(one, "name"));
        double at = number(json_object_get(one, "hosts") ? one : root, "hosts");
        if (of && !strcmp(of, name) && (!hosts || at == (double)hosts)) return one;
    }
    return NULL;
}

/// How many numbers of hosts an answer is of.
static size_t scales_of(const json_t *root) {
    size_t n = json_array_size(json_object_get(json_object_get(root, "map"), "hosts"));
    return n ? n : 1;
}

static uint32_t print_time(FILE *file, const struct weft_versus *v, uint32_t f, uint32_t c, const json_t *old,
                           struct weft_arena *arena) {
    const struct weft_versus_case *the_case = &v->cases[c];
    const char *measure = weft_versus_measure_names[the_case->by];
    const json_t *cases = json_object_get(json_object_get(old, "cases"), the_case->name);
    const json_t *before = json_object_get(cases, measure);
    double was = number(before, "mean"), low = number(before, "low"), high = number(before, "high");
    struct weft_spread now =
        weft_spread_of(weft_versus_values(v, f, c, measure, arena), v->results ? v->results->sweep->seeds : 0, arena);
    if (isnan(was) || !now.n || now.mean == was) return 0;
    bool overlap = now.mean - now.half <= high && low <= now.mean + now.half;
    fprintf(file, "  %s, %s: %s %.6g -> %.6g, %+.2f%%%s\n", v->fabric[f].label, the_case->name, measure, was, now.mean,
            100 * (now.mean / was - 1), overlap ? " (the intervals overlap)" : "");
    return 1;
}

static uint32_t print_bill(FILE *file, const struct weft_versus_fabric *f, const json_t *old) {
    const struct {
        const char *name;
        double now;
    } item[] = {{"chips", (double)f->bill.chips}, {"optics", f->bill.optics}, {"watts", f->bill.watts}};
    const json_t *bill = json_object_get(old, "bill");
    uint32_t n = 0;
    for (unsigned i = 0; i < sizeof item / sizeof *item; i++) {
        double was = number(bill, item[i].name);
        if (isnan(was) || was == item[i].now) continue;
        fprintf(file, "  %s: %s %g -> %g\n", f->label, item[i].name, was, item[i].now);
        n++;
    }
    return n;
}

/// `hosts`: 0: what there was of the fabric, whatever its size.
static uint32_t print_fabric(FILE *file, const struct weft_versus *v, uint32_t f, const json_t *root, uint64_t hosts,
                             struct weft_arena *arena) {
    const struct weft_versus_fabric *fabric = &v->fabric[f];
    const json_t *old = named(root, "fabrics", fabric->name, hosts);
    if (!old) {
        fprintf(file, "  %s: was not there\n", fabric->label);
        return 1;
    }
    const char *was = json_string_value(json_object_get(old, "status"));
    const char *now = weft_versus_status_names[fabric->status];
    uint32_t n = 0;
    if (was && strcmp(was, now)) n += fprintf(file, "  %s: %s -> %s\n", fabric->label, was, now) > 0;
    n += print_bill(file, fabric, old);
    for (uint32_t c = 0; c < v->n_cases; c++)
        n += print_time(file, v, f, c, old, arena);
    return n;
}

static uint32_t print_leads(FILE *file, const struct weft_versus *v, const json_t *root, uint64_t hosts,
                            struct weft_arena *arena) {
    uint32_t n = 0;
    for (uint32_t c = 0; c < v->n_cases; c++) {
        uint32_t places;
        const struct weft_versus_place *place = weft_versus_rank(v, c, arena, &places);
        const json_t *old = named(root, "cases", v->cases[c].name, hosts);
        const char *was = json_string_value(json_object_get(old, "first"));
        if (!old || !was || !places || !strcmp(was, v->fabric[place[0].fabric].name)) continue;
        if (hosts) fprintf(file, "  %llu hosts,", (unsigned long long)hosts);
        fprintf(file, "%s %s: %s led, now %s\n", hosts ? "" : " ", v->cases[c].name, was,
                v->fabric[place[0].fabric].name);
        n++;
    }
    return n;
}

/// Numbers of hosts that only one of the two answers has.
static uint32_t print_scales(FILE *file, const struct weft_versus *v, const json_t *root) {
    uint32_t n = 0;
    size_t i;
    const json_t *was, *all = json_object_get(json_object_get(root, "map"), "hosts");
    json_array_foreach(all, i, was) {
        uint32_t s = 0;
        while (s < v->scales && (double)v->scale[s].hosts != json_number_value(was))
            s++;
        if (s == v->scales) n += fprintf(file, "  %.0f hosts: no longer there\n", json_number_value(was)) > 0;
    }
    for (uint32_t s = 0; s < v->scales; s++)
        if (!named(root, "fabrics", "ideal", v->scale[s].hosts))
            n += fprintf(file, "  %llu hosts: were not there\n", (unsigned long long)v->scale[s].hosts) > 0;
    return n;
}

void versus_diff(FILE *file, const struct weft_versus *v, const struct versus_old *old, const char *path) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    const char *version = json_string_value(json_object_get(old->root, "weft"));
    bool one = v->scales == 1 && scales_of(old->root) == 1; // then any two sizes are compared
    fprintf(file, "\nsince %s (weft %s)\n", path, version ? version : "?");
    uint32_t n = 0;
    double hosts = number(old->root, "hosts"), rate = number(old->root, "rate_bps");
    if (one && hosts != (double)v->hosts)
        n += fprintf(file, "  hosts: %.0f -> %llu\n", hosts, (unsigned long long)v->hosts) > 0;
    if (rate != (double)v->rate_bps)
        n += fprintf(file, "  rate: %.0f -> %llu bit/s\n", rate, (unsigned long long)v->rate_bps) > 0;
    if (!one) n += print_scales(file, v, old->root);
    for (uint32_t s = 0; s < v->scales; s++) {
        const struct weft_versus at = weft_versus_at(v, s);
        uint64_t of = one ? 0 : at.hosts;
        if (of && !named(old->root, "fabrics", "ideal", of)) continue;
        n += print_leads(file, &at, old->root, of, arena);
        for (uint32_t f = 0; f < at.fabrics; f++)
            n += print_fabric(file, &at, f, old->root, of, arena);
    }
    if (!n) fputs(VERSUS_UNCHANGED "\n", file);
    weft_arena_free(arena);
}
