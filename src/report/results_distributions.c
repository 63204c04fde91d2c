// SPDX-License-Identifier: Apache-2.0
// Distributions: the buckets of every histogram in any table.
#include <string.h>

#include "results/rows.h"

/// The position of the walk, and the current row.
struct distribution {
    struct weft_result_walk walk;
    struct weft_result_cursor *row; ///< NULL: continue with the next table
    uint32_t table, column, bucket; ///< the next ones
    const struct weft_histogram *h; ///< NULL: continue with the next column
    uint64_t row_number, before;
    char name[160];
    const char *name_text;
    uint64_t value, below, count;
    double share;
};

static bool is_counted(const struct weft_result_column *c) {
    return c->source == WEFT_RESULT_FROM_COUNTED;
}

static bool has_any(const struct weft_result_table *t) {
    for (uint32_t i = 0; i < t->columns; i++)
        if (is_counted(&t->column[i])) return true;
    return false;
}

/// As in the JSON: dsf.voq_ns, or aquila.vc_depths.0.fifo_bytes for the first of a list.
static void name_it(struct distribution *d, const char *column) {
    const struct weft_result_table *t = d->row->table;
    int length = (int)(strlen(column) - strlen(".count"));
    if (t->shape == WEFT_RESULT_LIST)
        snprintf(d->name, sizeof d->name, "%s.%llu.%.*s", t->name, (unsigned long long)d->row_number, length, column);
    else
        snprintf(d->name, sizeof d->name, "%s.%.*s", t->name, length, column);
    d->name_text = d->name;
}

/// The next histogram of any table.
static bool next_histogram(struct distribution *d, const struct weft_run *run, struct weft_arena *arena) {
    for (;;) {
        const struct weft_result_column *c;
        for (; d->row && d->column < d->row->table->columns; d->column++) {
            c = &d->row->table->column[d->column];
            if (!is_counted(c)) continue;
            d->h = (const void *)((const char *)d->row->part[c->part] + c->offset);
            d->bucket = 0;
            d->before = 0;
            name_it(d, c->name);
            d->column++;
            return true;
        }
        d->column = 0;
        if (d->row) d->row_number++;
        if (d->row && (d->row = weft_result_next(&d->walk))) continue;
        const struct weft_result_table *t;
        do {
            if (d->table == weft_result_table_count()) return false;
            t = weft_result_table_at(d->table++);
        } while (!has_any(t) || !weft_result_table_present(t, run));
        d->walk = weft_result_walk(run, t, arena);
        d->row = weft_result_next(&d->walk);
        d->row_number = 0;
    }
}

static bool next_bucket(struct weft_result_cursor *c) {
    struct distribution *d = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *d);
    for (;;) {
        for (; d->h && d->bucket < WEFT_HISTOGRAM_BUCKETS; d->bucket++) {
            if (!d->h->bucket[d->bucket]) continue;
            d->value = weft_histogram_value(d->bucket);
            d->below = weft_histogram_value(d->bucket + 1);
            d->count = d->h->bucket[d->bucket++];
            d->before += d->count;
            d->share = (double)d->before / (double)d->h->n;
            c->part[0] = d;
            return true;
        }
        if (!next_histogram(d, c->run, c->arena)) return false;
    }
}

#define BUCKET(field, key, kind, ...) WEFT_RESULT_NAMED(struct distribution, field, key, kind, __VA_ARGS__)
const struct weft_result_table weft__results_distributions = WEFT_RESULT_TABLE_OF(
    "distributions", APART, "a bucket, 128 to a doubling, that is not empty, of a distribution", .next = next_bucket,
    BUCKET(name_text, "name", TEXT, "what is distributed, as the JSON has it: dsf.voq_ns", .flags = WEFT_RESULT_KEY),
    BUCKET(value, "value", COUNT, "least value in the bucket", .flags = WEFT_RESULT_KEY),
    BUCKET(below, "below", COUNT, "least value in the next bucket"),
    BUCKET(count, "count", COUNT, "values in the bucket"),
    BUCKET(share, "share", REAL, "part of all values that are in this bucket or below it: the distribution function"));
