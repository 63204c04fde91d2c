// SPDX-License-Identifier: Apache-2.0
#include "mechanisms.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"

enum { ROWS = 32, TEXT = 64 };

static struct weft__mechanism_row *row_of(struct weft__mechanism_row *row, uint32_t *n,
                                          const struct weft__mechanism *is) {
    for (uint32_t i = 0; i < *n; i++)
        if (!strcmp(row[i].is->name, is->name)) return &row[i];
    assert(*n < ROWS);
    row[*n].is = is;
    return &row[(*n)++];
}

struct weft__mechanism_row *weft__report_mechanisms(const struct weft_run *run, struct weft_arena *arena,
                                                    uint32_t *ret_n) {
    const struct weft_topology *t = run->topology;
    struct weft__mechanism_row *row = weft_arena_alloc(arena, ROWS, sizeof *row);
    uint32_t n = 0;
    for (uint32_t node = 0; node < t->nodes; node++) {
        const struct weft_device_conf *conf = weft_scenario_device(run->scenario, t->node[node].name);
        const struct weft__mechanism *const *is = weft__box_mechanisms(t->node[node].box)->mechanism;
        for (; *is; is++)
            weft__mechanism_add(*is, run, node, conf, arena, &row_of(row, &n, *is)->use);
    }
    weft__report_admission_use(run, &row_of(row, &n, &weft__mechanism_cts)->use);
    *ret_n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (row[i].use.devices) row[(*ret_n)++] = row[i];
    return row;
}

static const char *format_amount(const struct weft__mechanism_row *row, uint64_t amount, char *text, size_t size) {
    if (row->is->cells)
        snprintf(text, size, "%" PRIu64, amount);
    else
        weft_format_bytes(amount, text, size);
    return text;
}

const char *weft__report_nearest(const struct weft__mechanism_row *row, char *text, size_t size) {
    char most[TEXT], limit[TEXT];
    const struct weft__mechanism_use *use = &row->use;
    format_amount(row, use->nearest, most, sizeof most);
    *text = 0;
    if (row->is->watched && use->limit)
        snprintf(text, size, "%s of %s%s", most, format_amount(row, use->limit, limit, sizeof limit),
                 row->is->cells ? " cells" : "");
    else if (row->is->watched && use->nearest)
        snprintf(text, size, "%s%s", most, row->is->cells ? " cells" : "");
    return text;
}

const char *weft__report_nothing(const struct weft__mechanism_row *row, uint32_t n, uint32_t i,
                                 struct weft_arena *arena) {
    const struct weft__mechanism *is = row[i].is;
    const char *why = is->without;
    for (uint32_t k = 0; k < n && is->after; k++)
        if (!strcmp(row[k].is->name, is->after->name)) why = row[k].use.acts ? NULL : is->after->nothing;
    return why ? weft_arena_format(arena, "%s: %s", is->nothing, why) : is->nothing;
}

void weft__report_mechanisms_table(FILE *file, const struct weft_run *run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    uint32_t n;
    const struct weft__mechanism_row *row = weft__report_mechanisms(run, arena, &n);
    const char *label = "idle";
    for (uint32_t i = 0; i < n; i++) {
        char nearest[2 * TEXT];
        if (row[i].use.acts) continue;
        weft__report_nearest(&row[i], nearest, sizeof nearest);
        fprintf(file, "%-6s %s: %s", label, row[i].is->name, weft__report_nothing(row, n, i, arena));
        if (*nearest) fprintf(file, "; %s %s", row[i].use.watched ? row[i].use.watched : row[i].is->watched, nearest);
        putc('\n', file);
        label = "";
    }
}
