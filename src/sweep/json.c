// SPDX-License-Identifier: Apache-2.0
// A sweep as JSON: points with their runs, and statistics of metrics over seeds.

#include "base/json.h"
#include "sweep/cells.h"

static void put_spread(struct weft__json *j, const char *key, const struct weft_spread *s) {
    weft__json_key(j, key);
    weft__json_begin_object(j);
    weft__json_key_u64(j, "seeds", s->n);
    weft__json_key_real(j, "mean", s->mean);
    weft__json_key_real(j, "median", s->median);
    weft__json_key_real(j, "low", s->mean - s->half);
    weft__json_key_real(j, "high", s->mean + s->half);
    weft__json_end_object(j);
}

static void put_runs(struct weft__json *j, const struct weft_sweep_results *r, uint32_t point) {
    weft__json_key(j, "runs");
    weft__json_begin_array(j);
    for (uint32_t k = 0; k < r->sweep->seeds; k++) {
        const struct weft_sweep_run *run = weft__sweep_run_at(r, point, k);
        weft__json_begin_object(j);
        weft__json_key_u64(j, "seed", run->seed);
        weft__json_key_string(j, "state", weft_sweep_state_names[run->state]);
        if (run->rows) weft__json_key_string(j, "digest", run->digest);
        if (*run->message) weft__json_key_string(j, "message", run->message);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

/// For a group, the columns that have a value with some seed.
static void put_group(struct weft__json *j, const struct weft_sweep_results *r, uint32_t point, const char *name,
                      struct weft_arena *arena) {
    weft__json_key(j, name);
    weft__json_begin_object(j);
    for (uint32_t c = 0; c < r->columns; c++) {
        struct weft_spread s = weft_spread_of(weft_sweep_values(r, point, name, c, arena), r->sweep->seeds, arena);
        if (s.n) put_spread(j, r->column[c].name, &s);
    }
    weft__json_end_object(j);
}

static void put_point(struct weft__json *j, const struct weft_sweep_results *r, uint32_t p, const char *const *name,
                      uint32_t groups) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    weft__json_begin_object(j);
    weft__json_key_u64(j, "point", p);
    weft__json_key_string(j, "variant", weft__sweep_variant(r, p));
    weft__json_key(j, "parameters");
    weft__json_begin_object(j);
    for (uint32_t a = 0; a < r->sweep->axes; a++)
        weft__json_key_string(j, r->sweep->axis[a].path, r->sweep->point[p].value[a].text);
    weft__json_end_object(j);
    put_runs(j, r, p);
    weft__json_key(j, "groups");
    weft__json_begin_object(j);
    for (uint32_t g = 0; g < groups; g++)
        put_group(j, r, p, name[g], arena);
    weft__json_end_object(j);
    weft__json_key(j, "metrics");
    weft__json_begin_object(j);
    for (uint32_t m = 0; m < r->metrics; m++) {
        const double *value = weft_sweep_metric_values(r, p, &r->metric[m], arena);
        struct weft_spread s = weft_spread_of(value, r->sweep->seeds, arena);
        put_spread(j, r->metric[m].name, &s);
    }
    weft__json_end_object(j);
    weft__json_end_object(j);
    weft_arena_free(arena);
}

static void json_best(struct weft__json *j, const struct weft_sweep_best *best) {
    weft__json_key(j, "best");
    weft__json_begin_object(j);
    weft__json_key_string(j, "metric", best->metric->name);
    weft__json_key_string(j, "direction", best->metric->max ? "max" : "min");
    if (best->point != WEFT_NONE) {
        weft__json_key_u64(j, "point", best->point);
        put_spread(j, "value", &best->spread);
    }
    if (best->judged) {
        weft__json_key(j, "like");
        weft__json_begin_array(j);
        for (uint32_t i = 0; i < best->likes; i++)
            weft__json_u64(j, best->like[i]);
        weft__json_end_array(j);
    }
    weft__json_key_u64(j, "left_out", best->left_out);
    weft__json_end_object(j);
}

void weft_sweep_json(FILE *file, const struct weft_sweep_results *r, const struct weft_sweep_best *best,
                     bool interrupted) {
    struct weft__json j = {.file = file};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    uint32_t groups;
    const char **name = weft_sweep_groups(r, arena, &groups);
    weft__json_begin_object(&j);
    weft__json_head(&j, r->name, "");
    weft__json_key_bool(&j, "interrupted", interrupted);
    for (enum weft_sweep_state s = WEFT_SWEEP_MISSING; s <= WEFT_SWEEP_FAILED; s++)
        weft__json_key_u64(&j, weft_sweep_state_names[s], weft_sweep_count(r, s));
    weft__json_key(&j, "points");
    weft__json_begin_array(&j);
    for (uint32_t p = 0; p < r->sweep->points; p++)
        put_point(&j, r, p, name, groups);
    weft__json_end_array(&j);
    if (best) json_best(&j, best);
    weft__json_end_object(&j);
    putc('\n', file);
    weft_arena_free(arena);
}
