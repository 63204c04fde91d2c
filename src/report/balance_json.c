// SPDX-License-Identifier: Apache-2.0
// How links between layers were used, as JSON: under a key an object, in it an object for each pair of layers.
#include "balance.h"

static void begin(struct weft__json *j, const char *key) {
    weft__json_key(j, key);
    weft__json_begin_object(j);
}

static void begin_pair(struct weft__json *j, const char *key, enum weft_balance_direction direction) {
    begin(j, key);
    weft__json_key_string(j, "direction", weft_balance_directions[direction]);
}

static void write_pfc(struct weft__json *j, const struct weft_run *run, struct weft_arena *arena) {
    uint32_t n;
    const struct weft_pfc_layers *l = weft_report_pfc_layers(run, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        begin(j, l[i].key);
        weft__json_key_u64(j, "frames", l[i].frames);
        weft__json_key_u64(j, "ports", l[i].ports);
        weft__json_key_u64(j, "paused_ports", l[i].paused_ports);
        weft__json_key_u64(j, "paused_ps", l[i].paused_ps);
        weft__json_key_u64(j, "paused_max_ps", l[i].paused_max_ps);
        weft__json_end_object(j);
    }
}

static void write_balance(struct weft__json *j, const struct weft_run *run, struct weft_arena *arena) {
    uint32_t n;
    const struct weft_balance *b = weft_report_balance(run, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        begin_pair(j, b[i].key, b[i].direction);
        weft__json_key_u64(j, "links", b[i].links);
        weft__json_key_u64(j, "idle", b[i].idle);
        weft__json_key_u64(j, "bytes", b[i].bytes);
        weft__json_key_real(j, "max_mean", b[i].max_mean);
        weft__json_key_real(j, "min_mean", b[i].min_mean);
        weft__json_key_real(j, "switch_max_mean", b[i].switch_max_mean);
        weft__json_key_real(j, "jain", b[i].jain);
        weft__json_end_object(j);
    }
}

static void write_collisions(struct weft__json *j, const struct weft_run *run, struct weft_arena *arena) {
    uint32_t n;
    const struct weft_collisions *c = weft_report_collisions(run, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        begin_pair(j, c[i].key, c[i].direction);
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
}

static void write_load(struct weft__json *j, const struct weft_run *run, struct weft_arena *arena) {
    uint32_t n;
    const struct weft_load *l = weft_report_load(run, arena, &n);
    for (uint32_t i = 0; i < n; i++) {
        begin_pair(j, l[i].key, l[i].direction);
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
}

static void write_pairs(struct weft__json *j, const char *key, const struct weft_run *run,
                        void (*pairs)(struct weft__json *, const struct weft_run *, struct weft_arena *)) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    begin(j, key);
    pairs(j, run, arena);
    weft__json_end_object(j);
    weft_arena_free(arena);
}

void weft__report_balance_json(struct weft__json *j, const struct weft_run *run) {
    write_pairs(j, "pfc_layers", run, write_pfc);
    write_pairs(j, "balance", run, write_balance);
    if (run->scenario->run.count_flows) write_pairs(j, "collisions", run, write_collisions);
    if (run->scenario->run.sample_interval_ps) write_pairs(j, "load", run, write_load);
}
