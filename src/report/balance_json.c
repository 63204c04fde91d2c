// SPDX-License-Identifier: Apache-2.0
// How links between layers were used, as JSON.
#include "balance.h"

static void write_balance(struct weft__json *j, const struct weft_run *run) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_balance *b = weft_report_balance(run, arena, &n);
    weft__json_key(j, "balance");
    weft__json_begin_object(j);
    for (uint32_t i = 0; i < n; i++) {
        weft__json_key(j, b[i].key);
        weft__json_begin_object(j);
        weft__json_key_string(j, "direction", weft_balance_directions[b[i].direction]);
        weft__json_key_u64(j, "links", b[i].links);
        weft__json_key_u64(j, "idle", b[i].idle);
        weft__json_key_u64(j, "bytes", b[i].bytes);
        weft__json_key_real(j, "max_mean", b[i].max_mean);
        weft__json_key_real(j, "min_mean", b[i].min_mean);
        weft__json_key_real(j, "switch_max_mean", b[i].switch_max_mean);
        weft__json_key_real(j, "jain", b[i].jain);
        weft__json_end_object(j);
    }
    weft__json_end_object(j);
    weft_arena_free(arena);
}

static void write_collisions(struct weft__json *j, const struct weft_run *run) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_collisions *c = weft_report_collisions(run, arena, &n);
    weft__json_key(j, "collisions");
    weft__json_begin_object(j);
    for (uint32_t i = 0; i < n; i++) {
        weft__json_key(j, c[i].key);
        weft__json_begin_object(j);
        weft__json_key_string(j, "direction", weft_balance_directions[c[i].direction]);
        weft__json_key_u64(j, "switches", c[i].switches);
        weft__json_key_u64(j, "clear", c[i].clear);
        weft__json_key_u64(j, "links", c[i].links);
        weft__json_key_u64(j, "flows", c[i].flows);
        weft__json_key_u64(j, "most", c[i].most);
        weft__json_key_real(j, "switch_most", c[i].switch_most);
        weft__json_key_u64(j, "shared", c[i].shared);
        weft__json_key_u64(j, "empty", c[i].empty);
        weft__json_key(j, "with");
        weft__json_begin_array(j);
        for (uint32_t k = 0; k <= c[i].most; k++)
            weft__json_u64(j, c[i].with[k]);
        weft__json_end_array(j);
        weft__json_end_object(j);
    }
    weft__json_end_object(j);
    weft_arena_free(arena);
}

static void write_load(struct weft__json *j, const struct weft_run *run) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft_load *l = weft_report_load(run, arena, &n);
    weft__json_key(j, "load");
    weft__json_begin_object(j);
    for (uint32_t i = 0; i < n; i++) {
        weft__json_key(j, l[i].key);
        weft__json_begin_object(j);
        weft__json_key_string(j, "direction", weft_balance_directions[l[i].direction]);
        weft__json_key_u64(j, "links", l[i].links);
        weft__json_key_u64(j, "intervals", l[i].intervals);
        weft__json_key_u64(j, "active", l[i].active);
        weft__json_key_real(j, "min", l[i].min);
        weft__json_key_real(j, "p10", l[i].p10);
        weft__json_key_real(j, "p50", l[i].p50);
        weft__json_key_real(j, "p90", l[i].p90);
        weft__json_key_real(j, "max", l[i].max);
        weft__json_key_real(j, "mean", l[i].mean);
        weft__json_key_real(j, "max_mean_p50", l[i].max_mean_p50);
        weft__json_key_real(j, "max_mean_worst", l[i].max_mean_worst);
        weft__json_end_object(j);
    }
    weft__json_end_object(j);
    weft_arena_free(arena);
}

void weft__report_balance_json(struct weft__json *j, const struct weft_run *run) {
    write_balance(j, run);
    if (run->scenario->run.count_flows) write_collisions(j, run);
    if (run->scenario->run.sample_interval_ps) write_load(j, run);
}
