// SPDX-License-Identifier: Apache-2.0
// How an answer differs from an earlier one kept by --out: who leads, how long each fabric takes, what it costs, and
// whether it runs at all.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/tree.h"
#include "base/units.h"
#include "versus.h"

enum weft_status versus_old_read(const char *path, struct weft_arena *arena, const struct weft_tree **ret_old,
                                 struct weft_error *ret_error) {
    struct stat about;
    struct weft_tree *old;
    if (!stat(path, &about) && S_ISDIR(about.st_mode)) path = weft_arena_format(arena, "%s/versus.json", path);
    WEFT_TRY(weft_cli_saved_read("--diff", path, arena, &old, ret_error));
    const struct weft_tree *fabrics = weft_tree_find(old, "fabrics"), *cases = weft_tree_find(old, "cases");
    if (!fabrics || fabrics->type != WEFT_TREE_LIST || !cases || cases->type != WEFT_TREE_LIST)
        return weft_error_set(
            ret_error, WEFT_ERROR_INPUT, old->place,
            "--diff: found no fabrics and cases; expected versus.json of a folder that weft versus --out "
            "has written");
    *ret_old = old;
    return WEFT_OK;
}

/// The entry of a list with that name and, unless `hosts` is 0, that number of hosts; NULL: none.
static const struct weft_tree *find_named(const struct weft_tree *root, const char *list, const char *name,
                                          uint64_t hosts) {
    const struct weft_tree *all = weft_tree_find(root, list);
    for (uint32_t i = 0; all && i < all->n; i++) {
        const struct weft_tree *one = all->child[i];
        const char *of = weft__tree_text(one, "name");
        double at = weft__tree_number(weft_tree_find(one, "hosts") ? one : root, "hosts");
        if (of && !strcmp(of, name) && (!hosts || at == (double)hosts)) return one;
    }
    return NULL;
}

/// The numbers of hosts that an answer has, if it has several; NULL: one.
static const struct weft_tree *list_scales(const struct weft_tree *root) {
    const struct weft_tree *scales = weft_tree_find(weft_tree_find(root, "map"), "hosts");
    return scales && scales->type == WEFT_TREE_LIST ? scales : NULL;
}

struct changes {
    const struct weft_versus *v; ///< at one number of hosts
    const struct weft_tree *root;
    uint64_t hosts; ///< the number of hosts to look for in the earlier answer; 0: any
    struct weft_arena *arena;
    struct weft_versus_change *change;
    uint32_t n;
};

static void add_change(struct changes *x, struct weft_versus_change change) {
    change.hosts = x->hosts ? x->hosts : WEFT_TIME_NEVER;
    if (!change.fabric || !change.case_name) change.overlap = UINT8_MAX;
    WEFT__ADD(x->arena, x->change, x->n) = change;
}

static const char *text_of(const struct changes *x, double value) {
    return weft_arena_format(x->arena, "%.17g", value);
}

static void add_time(struct changes *x, uint32_t f, uint32_t c, const struct weft_tree *old) {
    const struct weft_versus *v = x->v;
    const char *measure = weft_versus_measure_names[v->cases[c].by];
    const struct weft_tree *cases = weft_tree_find(weft_tree_find(old, "cases"), v->cases[c].name);
    const struct weft_tree *before = weft_tree_find(cases, measure);
    double was = weft__tree_number(before, "mean"), low = weft__tree_number(before, "low"),
           high = weft__tree_number(before, "high");
    uint32_t seeds = v->results ? v->results->sweep->seeds : 0;
    struct weft_spread now = weft_spread_of(weft_versus_values(v, f, c, measure, x->arena), seeds, x->arena);
    if (isnan(was) || !now.n || now.mean == was) return;
    add_change(x, (struct weft_versus_change){.fabric = v->fabric[f].name,
                                              .label = v->fabric[f].label,
                                              .case_name = v->cases[c].name,
                                              .what = measure,
                                              .was = text_of(x, was),
                                              .now = text_of(x, now.mean),
                                              .overlap = now.mean - now.half <= high && low <= now.mean + now.half});
}

static void add_bill(struct changes *x, const struct weft_versus_fabric *f, const struct weft_tree *old) {
    const struct {
        const char *name;
        double now;
    } item[] = {{"chips", (double)f->bill.chips}, {"optics", f->bill.optics}, {"watts", f->bill.watts}};
    const struct weft_tree *bill = weft_tree_find(old, "bill");
    for (unsigned i = 0; i < sizeof item / sizeof *item; i++) {
        double was = weft__tree_number(bill, item[i].name);
        if (isnan(was) || was == item[i].now) continue;
        add_change(x, (struct weft_versus_change){.fabric = f->name,
                                                  .label = f->label,
                                                  .what = item[i].name,
                                                  .was = text_of(x, was),
                                                  .now = text_of(x, item[i].now)});
    }
}

static void add_fabric(struct changes *x, uint32_t f) {
    const struct weft_versus_fabric *fabric = &x->v->fabric[f];
    const struct weft_tree *old = find_named(x->root, "fabrics", fabric->name, x->hosts);
    const char *now = weft_versus_status_names[fabric->status];
    const char *was = weft__tree_text(old, "status");
    if (!old || (was && strcmp(was, now)))
        add_change(x, (struct weft_versus_change){
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
        const struct weft_tree *old = find_named(x->root, "cases", v->cases[c].name, x->hosts);
        const char *was = weft__tree_text(old, "first");
        if (!old || !was || !places || !strcmp(was, v->fabric[place[0].fabric].name)) continue;
        add_change(
            x, (struct weft_versus_change){
                   .case_name = v->cases[c].name, .what = "first", .was = was, .now = v->fabric[place[0].fabric].name});
    }
}

static void add_number(struct changes *x, const char *key, double now) {
    double was = weft__tree_number(x->root, key);
    if (was != now)
        add_change(x, (struct weft_versus_change){.what = key, .was = text_of(x, was), .now = text_of(x, now)});
}

/// Numbers of hosts that only one of the answers has.
static void add_scales(struct changes *x) {
    const struct weft_tree *all = list_scales(x->root);
    for (uint32_t i = 0; all && i < all->n; i++) {
        double was = all->child[i]->type == WEFT_TREE_TEXT ? strtod(all->child[i]->text, NULL) : 0;
        uint32_t s = 0;
        while (s < x->v->scales && (double)x->v->scale[s].hosts != was)
            s++;
        if (s == x->v->scales) add_change(x, (struct weft_versus_change){.what = "hosts", .was = text_of(x, was)});
    }
    for (uint32_t s = 0; s < x->v->scales; s++)
        if (!find_named(x->root, "fabrics", "ideal", x->v->scale[s].hosts))
            add_change(x,
                       (struct weft_versus_change){.what = "hosts", .now = text_of(x, (double)x->v->scale[s].hosts)});
}

const struct weft_versus_change *versus_changes(const struct weft_versus *v, const struct weft_tree *old,
                                                struct weft_arena *arena, uint32_t *ret_n) {
    struct changes x = {.v = v, .root = old, .arena = arena};
    const struct weft_tree *scales = list_scales(x.root);
    bool one = v->scales == 1 && (!scales || scales->n < 2); // then any two numbers of hosts are compared
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
    *ret_n = x.n;
    return x.change;
}

static void print_of_all(FILE *file, const struct weft_versus_change *c) {
    if (!c->now) {
        fprintf(file, "  %s hosts: no longer there\n", c->was);
    } else if (!c->was) {
        fprintf(file, "  %s hosts: were not there\n", c->now);
    } else {
        bool is_rate = !strcmp(c->what, "rate_bps");
        fprintf(file, "  %s: %s -> %s%s\n", is_rate ? "rate" : c->what, c->was, c->now, is_rate ? " bit/s" : "");
    }
}

void versus_change_print(FILE *file, const struct weft_versus_change *c) {
    if (c->fabric && c->case_name) {
        double was = strtod(c->was, NULL), now = strtod(c->now, NULL);
        fprintf(file, "  %s, %s: %s %.6g -> %.6g, %+.2f%%%s\n", c->label, c->case_name, c->what, was, now,
                100 * (now / was - 1), c->overlap ? " (the intervals overlap)" : "");
    } else if (c->case_name) {
        bool all = c->hosts == WEFT_TIME_NEVER;
        if (!all) fprintf(file, "  %s,", weft__counted(c->hosts, "host").text);
        fprintf(file, "%s %s: %s led, now %s\n", all ? " " : "", c->case_name, c->was, c->now);
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
