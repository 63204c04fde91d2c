// SPDX-License-Identifier: Apache-2.0
// Figures that weft bench --save has written, read back for --compare.
#include <string.h>

#include "base/json_read.h"
#include "bench.h"

static bool is_positive(const json_t *run, const char *key) {
    const json_t *value = json_object_get(run, key);
    return json_is_number(value) && json_number_value(value) > 0;
}

static enum weft_status read_runs(const struct weft__json_file *file, const char *name, const char *hop,
                                  struct weft_arena *arena, struct weft_bench_saved *ret,
                                  struct weft_error *ret_error) {
    const struct weft_place first = {.file = file->path, .line = 1, .column = 1};
    const char *of = json_string_value(json_object_get(file->root, "bench"));
    const json_t *list = json_object_get(file->root, "runs"), *run;
    if (!of || !json_is_array(list))
        return WEFT_REFUSE(ret_error, first,
                           "--compare: found no figures; expected a file that weft bench %s --save has written", name);
    if (strcmp(of, name) != 0)
        return WEFT_REFUSE(ret_error, first, "--compare: found figures of bench %.40s; expected %s", of, name);
    size_t n = json_array_size(list), i;
    const struct weft_place *place = weft__json_places(file, "runs", n, arena);
    ret->run = weft_arena_alloc(arena, n, sizeof *ret->run);
    const char *hops = weft_arena_format(arena, "%s_hops", hop);
    const char *rate = weft_arena_format(arena, "%s_per_cpu_s", hops);
    json_array_foreach(list, i, run) {
        const char *const key[] = {"hosts", "threads", hops, rate, "wall_s"};
        for (unsigned k = 0; k < sizeof key / sizeof *key; k++)
            if (!is_positive(run, key[k]))
                return WEFT_REFUSE(ret_error, place[i], "--compare: runs.%zu.%s: expected a number above 0", i, key[k]);
        ret->run[ret->runs++] = (struct weft_bench_saved_run){
            .hosts = json_number_value(json_object_get(run, "hosts")),
            .threads = json_number_value(json_object_get(run, "threads")),
            .hops = json_number_value(json_object_get(run, hops)),
            .hops_per_cpu_s = json_number_value(json_object_get(run, rate)),
            .wall_s = json_number_value(json_object_get(run, "wall_s")),
        };
    }
    return WEFT_OK;
}

enum weft_status weft_bench_saved_read(const char *path, const char *name, const char *hop, struct weft_arena *arena,
                                       struct weft_bench_saved *ret, struct weft_error *ret_error) {
    struct weft__json_file file;
    *ret = (struct weft_bench_saved){0};
    enum weft_status status = weft__json_open(&file, path, (struct weft_place){.file = "--compare"}, ret_error);
    if (status) return status;
    status = read_runs(&file, name, hop, arena, ret, ret_error);
    weft__json_close(&file);
    return status;
}

const struct weft_bench_saved_run *weft_bench_saved_find(const struct weft_bench_saved *saved, uint32_t hosts,
                                                         uint32_t threads) {
    for (uint32_t i = 0; i < saved->runs; i++)
        if (saved->run[i].hosts == hosts && saved->run[i].threads == threads) return &saved->run[i];
    return NULL;
}
