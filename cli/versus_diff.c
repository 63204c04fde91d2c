// SPDX-License-Identifier: Apache-2.0
// How an answer differs from an earlier one kept by --out: who leads, how long each fabric takes, what it costs, and
// whether it runs at all.
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/csv.h"
#include "base/json_read.h"
#include "base/units.h"
#include "versus.h"

struct versus_old {
    struct weft__json_file file;
};

void versus_old_free(struct versus_old *old) {
    if (old) weft__json_close(&old->file);
}

enum weft_status versus_old_read(const char *path, struct weft_arena *arena, struct versus_old **ret_old,
                                 struct weft_error *ret_error) {
    struct stat about;
    if (!stat(path, &about) && S_ISDIR(about.st_mode)) path = weft_arena_format(arena, "%s/versus.json", path);
    struct versus_old *old = weft_arena_alloc(arena, 1, sizeof *old);
    enum weft_status status = weft__json_open(&old->file, path, (struct weft_place){.file = "--diff"}, ret_error);
    if (status) return status;
    if (!json_is_array(json_object_get(old->file.root, "fabrics")) ||
        !json_is_array(json_object_get(old->file.root, "cases"))) {
        weft__json_close(&old->file);
        return weft_error_set(
            ret_error, WEFT_ERROR_INPUT, (struct weft_place){.file = path, .line = 1, .column = 1},
            "--diff: found no fabrics and cases; expected versus.json of a folder that weft versus --out "
            "has written");
    }
    *ret_old = old;
    return WEFT_OK;
}

static double number_at(const json_t *map, const char *key) {
    const json_t *value = json_object_get(map, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/// The entry of a list with that name and, unless `hosts` is 0, that number of hosts; NULL: none.
static const json_t *find_named(const json_t *root, const char *list, const char *name, uint64_t hosts) {
    size_t i;
    const json_t *one, *all = json_object_get(root, list);
    json_array_foreach(all, i, one) {
        const char *of = json_string_value(json_object_get(one, "name"));
        double at = number_at(json_object_get(one, "hosts") ? one : root, "hosts");
        if (of && !strcmp(of, name) && (!hosts || at == (double)hosts)) return one;
    }
    return NULL;
}

/// How many numbers of hosts an answer has.
static size_t scales_of(const json_t *root) {
    size_t n = json_array_size(json_object_get(json_object_get(root, "map"), "hosts"));
    return n ? n : 1;
}

/// A difference. A number is also stored as text.
struct change {
    const char *fabric, *label; ///< NULL: for all; label: with the number of hosts, if there are several
    const char *the_case;       ///< NULL: for all
    const char *what, *was, *now;
    uint64_t hosts; ///< 0: for all
    bool overlap;   ///< the intervals of the two times overlap
};

struct changes {
    const struct weft_versus *v; ///< at one number of hosts
    const json_t *root;
    uint64_t hosts; ///< the number of hosts to look for in the earlier answer; 0: any
    struct weft_arena *arena;
    void (*print)(FILE *file, const struct change *change);
    FILE *file;
    uint32_t n;
};

static void add_change(struct changes *x, struct change change) {
    change.hosts = x->hosts;
    x->print(x->file, &change);
    x->n++;
}

static const char *text_of(const struct changes *x, double value) {
    return weft_arena_format(x->arena, "%.17g", value);
}

static void add_time(struct changes *x, uint32_t f, uint32_t c, const json_t *old) {
    const struct weft_versus *v = x->v;
    const char *measure = weft_versus_measure_names[v->cases[c].by];
    const json_t *cases = json_object_get(json_object_get(old, "cases"), v->cases[c].name);
    const json_t *before = json_object_get(cases, measure);
    double was = number_at(before, "mean"), low = number_at(before, "low"), high = number_at(before, "high");
    uint32_t seeds = v->results ? v->results->sweep->seeds : 0;
    struct weft_spread now = weft_spread_of(weft_versus_values(v, f, c, measure, x->arena), seeds, x->arena);
    if (isnan(was) || !now.n || now.mean == was) return;
    add_change(x, (struct change){.fabric = v->fabric[f].name,
                                  .label = v->fabric[f].label,
                                  .the_case = v->cases[c].name,
                                  .what = measure,
                                  .was = text_of(x, was),
                                  .now = text_of(x, now.mean),
                                  .overlap = now.mean - now.half <= high && low <= now.mean + now.half});
}

static void add_bill(struct changes *x, const struct weft_versus_fabric *f, const json_t *old) {
    const struct {
        const char *name;
        double now;
    } item[] = {{"chips", (double)f->bill.chips}, {"optics", f->bill.optics}, {"watts", f->bill.watts}};
    const json_t *bill = json_object_get(old, "bill");
    for (unsigned i = 0; i < sizeof item / sizeof *item; i++) {
        double was = number_at(bill, item[i].name);
        if (isnan(was) || was == item[i].now) continue;
        add_change(x, (struct change){.fabric = f->name,
                                      .label = f->label,
                                      .what = item[i].name,
                                      .was = text_of(x, was),
                                      .now = text_of(x, item[i].now)});
    }
}

static void add_fabric(struct changes *x, uint32_t f) {
    const struct weft_versus_fabric *fabric = &x->v->fabric[f];
    const json_t *old = find_named(x->root, "fabrics", fabric->name, x->hosts);
    const char *now = weft_versus_status_names[fabric->status];
    const char *was = old ? json_string_value(json_object_get(old, "status")) : NULL;
    if (!old || (was && strcmp(was, now)))
        add_change(x, (struct change){
                          .fabric = fabric->name, .label = fabric->label, .what = "status", .was = was, .now = now});
    if (!old) return;
    add_bill(x, fabric, old);
    for (uint32_t c = 0; c < x->v->n_cases; c++)
        add_time(x, f, c, old);
}

static void add_leads(struct changes *x) {
    const struct weft_versus *v = x->v;
    for (uint32_t c = 0; c < v->n_cases; c++) {
        uint32_t places;
        const struct weft_versus_place *place = weft_versus_rank(v, c, x->arena, &places);
        const json_t *old = find_named(x->root, "cases", v->cases[c].name, x->hosts);
        const char *was = json_string_value(json_object_get(old, "first"));
        if (!old || !was || !places || !strcmp(was, v->fabric[place[0].fabric].name)) continue;
        add_change(
            x, (struct change){
                   .the_case = v->cases[c].name, .what = "first", .was = was, .now = v->fabric[place[0].fabric].name});
    }
}

static void add_number(struct changes *x, const char *key, double now) {
    double was = number_at(x->root, key);
    if (was != now) add_change(x, (struct change){.what = key, .was = text_of(x, was), .now = text_of(x, now)});
}

/// Numbers of hosts that only one of the answers has.
static void add_scales(struct changes *x) {
    size_t i;
    const json_t *was, *all = json_object_get(json_object_get(x->root, "map"), "hosts");
    json_array_foreach(all, i, was) {
        uint32_t s = 0;
        while (s < x->v->scales && (double)x->v->scale[s].hosts != json_number_value(was))
            s++;
        if (s == x->v->scales)
            add_change(x, (struct change){.what = "hosts", .was = text_of(x, json_number_value(was))});
    }
    for (uint32_t s = 0; s < x->v->scales; s++)
        if (!find_named(x->root, "fabrics", "ideal", x->v->scale[s].hosts))
            add_change(x, (struct change){.what = "hosts", .now = text_of(x, (double)x->v->scale[s].hosts)});
}

static uint32_t add_all(struct changes x) {
    const struct weft_versus *v = x.v;
    bool one = v->scales == 1 && scales_of(x.root) == 1; // then any two numbers of hosts are compared
    x.arena = weft_arena_new(WEFT_MEMORY_RESULT);
    if (one)
        add_number(&x, "hosts", (double)v->hosts);
    else
        add_scales(&x);
    add_number(&x, "rate_bps", (double)v->rate_bps);
    for (uint32_t s = 0; s < v->scales; s++) {
        const struct weft_versus at = weft_versus_at(v, s);
        x.v = &at;
        x.hosts = one ? 0 : at.hosts;
        if (x.hosts && !find_named(x.root, "fabrics", "ideal", x.hosts)) continue;
        add_leads(&x);
        for (uint32_t f = 0; f < at.fabrics; f++)
            add_fabric(&x, f);
    }
    weft_arena_free(x.arena);
    return x.n;
}

static void print_of_all(FILE *file, const struct change *c) {
    if (!c->now) {
        fprintf(file, "  %s hosts: no longer there\n", c->was);
    } else if (!c->was) {
        fprintf(file, "  %s hosts: were not there\n", c->now);
    } else {
        bool is_rate = !strcmp(c->what, "rate_bps");
        fprintf(file, "  %s: %s -> %s%s\n", is_rate ? "rate" : c->what, c->was, c->now, is_rate ? " bit/s" : "");
    }
}

static void print_text(FILE *file, const struct change *c) {
    if (c->fabric && c->the_case) {
        double was = strtod(c->was, NULL), now = strtod(c->now, NULL);
        fprintf(file, "  %s, %s: %s %.6g -> %.6g, %+.2f%%%s\n", c->label, c->the_case, c->what, was, now,
                100 * (now / was - 1), c->overlap ? " (the intervals overlap)" : "");
    } else if (c->the_case) {
        if (c->hosts) fprintf(file, "  %s,", weft__counted(c->hosts, "host").text);
        fprintf(file, "%s %s: %s led, now %s\n", c->hosts ? "" : " ", c->the_case, c->was, c->now);
    } else if (!c->fabric) {
        print_of_all(file, c);
    } else if (!c->was) {
        fprintf(file, "  %s: was not there\n", c->label);
    } else if (!strcmp(c->what, "status")) {
        fprintf(file, "  %s: %s -> %s\n", c->label, c->was, c->now);
    } else {
        fprintf(file, "  %s: %s %g -> %g\n", c->label, c->what, strtod(c->was, NULL), strtod(c->now, NULL));
    }
}

static void print_csv(FILE *file, const struct change *c) {
    const char *const field[] = {c->fabric, c->the_case, c->what, c->was, c->now};
    if (c->hosts) fprintf(file, "%llu", (unsigned long long)c->hosts);
    for (unsigned i = 0; i < sizeof field / sizeof *field; i++) {
        putc(',', file);
        weft__csv_text(file, field[i] ? field[i] : "");
    }
    bool is_time = c->fabric && c->the_case;
    fprintf(file, ",%s\n", !is_time ? "" : c->overlap ? "true" : "false");
}

void versus_diff(FILE *file, const struct weft_versus *v, const struct versus_old *old, const char *path) {
    const char *version = json_string_value(json_object_get(old->file.root, "weft"));
    fprintf(file, "\nsince %s (weft %s)\n", path, version ? version : "?");
    if (!add_all((struct changes){.v = v, .root = old->file.root, .print = print_text, .file = file}))
        fputs(VERSUS_UNCHANGED "\n", file);
}

void versus_diff_csv(FILE *file, const struct weft_versus *v, const struct versus_old *old) {
    fputs("hosts,fabric,case,what,was,now,intervals_overlap\n", file);
    add_all((struct changes){.v = v, .root = old->file.root, .print = print_csv, .file = file});
}
