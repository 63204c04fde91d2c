// SPDX-License-Identifier: Apache-2.0
// Labels of a rank of a GOAL text.
#include <string.h>

#include "base/digest.h"
#include "base/grow.h"
#include "goal.h"

struct weft__goal_label {
    uint64_t text; ///< where its name is
    uint32_t hash, size, step;
    uint32_t rank; ///< as of the table; else the place is free
};

static size_t find_label(const struct weft__goal_labels *l, const char *name, size_t n, uint32_t hash) {
    size_t at = hash & (l->room - 1);
    for (; l->label[at].rank == l->rank; at = (at + 1) & (l->room - 1)) {
        const struct weft__goal_label *x = &l->label[at];
        if (x->hash == hash && x->size == n && !memcmp(l->text + x->text, name, n)) break;
    }
    return at;
}

static uint32_t hash_of(const char *name, size_t n) {
    uint64_t hash = weft__hash(WEFT__HASH_START, name, n);
    return (uint32_t)(hash ^ hash >> 32);
}

uint32_t weft__goal_label_find(const struct weft__goal_labels *l, const char *name, size_t n) {
    if (!l->n) return WEFT_NONE;
    const struct weft__goal_label *x = &l->label[find_label(l, name, n, hash_of(name, n))];
    return x->rank == l->rank ? x->step : WEFT_NONE;
}

static void grow_labels(struct weft__goal_labels *l) {
    struct weft__goal_labels more = *l;
    more.room = l->room ? 2 * l->room : 64;
    more.label = weft_memory_new(WEFT_MEMORY_SCENARIO, more.room, sizeof *more.label);
    for (size_t i = 0; i < l->room; i++) {
        const struct weft__goal_label *x = &l->label[i];
        if (x->rank == l->rank) more.label[find_label(&more, l->text + x->text, x->size, x->hash)] = *x;
    }
    weft_memory_free(WEFT_MEMORY_SCENARIO, l->label, l->room * sizeof *l->label);
    *l = more;
}

void weft__goal_label_add(struct weft__goal_labels *l, const char *name, size_t n, uint32_t step) {
    if (!l->rank) l->rank = 1;
    if (2 * l->n >= l->room) grow_labels(l);
    l->text = weft__memory_grow_to(l->text, l->text_size + n, &l->text_room, 1);
    uint32_t hash = hash_of(name, n);
    memcpy(l->text + l->text_size, name, n);
    l->label[find_label(l, name, n, hash)] = (struct weft__goal_label){l->text_size, hash, (uint32_t)n, step, l->rank};
    l->text_size += n;
    l->n++;
}

void weft__goal_labels_clear(struct weft__goal_labels *l) {
    l->rank++;
    l->n = l->text_size = 0;
}

void weft__goal_labels_free(struct weft__goal_labels *l) {
    weft_memory_free(WEFT_MEMORY_SCENARIO, l->label, l->room * sizeof *l->label);
    weft_memory_free(WEFT_MEMORY_SCENARIO, l->text, l->text_room);
    *l = (struct weft__goal_labels){0};
}
