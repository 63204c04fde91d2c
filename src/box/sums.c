// SPDX-License-Identifier: Apache-2.0
#include "box/sums.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#define WEFT_SUMS(name) extern const struct weft__sums weft__sums_##name;
#include "sums.def"
#undef WEFT_SUMS

static const struct weft__sums *const all[] = {
#define WEFT_SUMS(name) &weft__sums_##name,
#include "sums.def"
#undef WEFT_SUMS
};

const char *const weft_drop_names[WEFT_DROPS] = {
#define X(e, name, help) [WEFT_DROP_##e] = name,
    WEFT_DROP_REASONS(X)
#undef X
};

const struct weft__sums *weft__sums_at(uint32_t index) {
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}

struct weft_counters weft_outcome_sum(const struct weft_outcome *outcome, uint32_t port0, uint32_t ports) {
    struct weft_counters sum = {0};
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++)
        for (uint32_t port = port0; port < port0 + ports; port++) {
            const struct weft_counters *own = weft_outcome_at(outcome, port, priority);
#define X(field, type, sai, help) sum.field += own->field;
            WEFT_PRIORITY_COUNTERS(X)
#undef X
        }
    return sum;
}

struct weft_counters weft_outcome_counters(const struct weft_outcome *outcome) {
    return weft_outcome_sum(outcome, 0, outcome->ports);
}

static bool next_sums(struct weft_result_cursor *c) {
    struct weft_counters *sum = c->state;
    if (!sum) {
        sum = c->state = weft_arena_alloc(c->arena, 1, sizeof *sum);
        *sum = weft_outcome_counters(c->run->outcome);
    }
    c->part[0] = c->run->outcome;
    c->part[1] = sum;
    return !c->at++;
}

static struct weft_result_column column[32];
static struct weft_result_table table = {
    .name = "counters",
    .shape = WEFT_RESULT_OBJECT,
    .row = "sums over the network, of a run",
    .column = column,
    .next = next_sums,
};

static void put_together(void) {
    for (uint32_t i = 0; weft__sums_at(i); i++) {
        const struct weft__sums *sums = weft__sums_at(i);
        assert(table.columns + sums->columns <= sizeof column / sizeof *column);
        memcpy(&column[table.columns], sums->column, sums->columns * sizeof *column);
        table.columns += sums->columns;
    }
}

const struct weft_result_table *weft__sums_table(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT; // any thread may be the first
    pthread_once(&once, put_together);
    return &table;
}
