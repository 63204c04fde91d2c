// SPDX-License-Identifier: Apache-2.0
// Figures that weft bench --save has written, read back for --compare.
#include <string.h>

#include "base/tree.h"
#include "bench.h"

enum weft_status weft_bench_saved_read(const char *path, const char *name, const char *hop, struct weft_arena *arena,
                                       struct weft_bench_saved *ret, struct weft_error *ret_error) {
    struct weft_tree *root;
    *ret = (struct weft_bench_saved){0};
    WEFT_TRY(weft_cli_saved_read("--compare", path, arena, &root, ret_error));
    const char *of = weft__tree_text(root, "bench");
    const struct weft_tree *list = weft_tree_find(root, "runs");
    if (!of || !list || list->type != WEFT_TREE_LIST)
        return WEFT_REFUSE(ret_error, root->place,
                           "--compare: found no figures; expected a file that weft bench %s --save has written", name);
    if (strcmp(of, name) != 0)
        return WEFT_REFUSE(ret_error, root->place, "--compare: found figures of bench %.40s; expected %s", of, name);
    ret->run = weft_arena_alloc(arena, list->n, sizeof *ret->run);
    const char *hops = weft_arena_format(arena, "%s_hops", hop);
    for (uint32_t i = 0; i < list->n; i++) {
        const char *const key[] = {"hosts", "threads", hops, weft_arena_format(arena, "%s_per_cpu_s", hops), "wall_s"};
        struct weft_bench_saved_run *run = &ret->run[ret->runs++];
        double *const value[] = {&run->hosts, &run->threads, &run->hops, &run->hops_per_cpu_s, &run->wall_s};
        for (unsigned k = 0; k < sizeof key / sizeof *key; k++)
            if (!((*value[k] = weft__tree_number(list->child[i], key[k])) > 0))
                return WEFT_REFUSE(ret_error, list->child[i]->place, "--compare: runs.%u.%s: expected a number above 0",
                                   i, key[k]);
    }
    return WEFT_OK;
}

const struct weft_bench_saved_run *weft_bench_saved_find(const struct weft_bench_saved *saved, uint32_t hosts,
                                                         uint32_t threads) {
    for (uint32_t i = 0; i < saved->runs; i++)
        if (saved->run[i].hosts == hosts && saved->run[i].threads == threads) return &saved->run[i];
    return NULL;
}
