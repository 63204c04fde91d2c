// SPDX-License-Identifier: Apache-2.0
// A binary heap.
#include "control/agenda.h"

#include "base/grow.h"
#include "weft/memory.h"

static bool is_before(const struct weft__due *a, const struct weft__due *b) {
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->sequence < b->sequence;
}

void weft__agenda_note(struct weft__agenda *agenda, struct weft__due due) {
    agenda->heap =
        weft__memory_double(WEFT_MEMORY_TIMER, agenda->heap, agenda->n, &agenda->capacity, 256, sizeof *agenda->heap);
    due.sequence = agenda->noted++;
    uint32_t i = agenda->n++;
    for (; i && is_before(&due, &agenda->heap[(i - 1) / 2]); i = (i - 1) / 2)
        agenda->heap[i] = agenda->heap[(i - 1) / 2];
    agenda->heap[i] = due;
}

bool weft__agenda_take(struct weft__agenda *agenda, weft_time_ps until, struct weft__due *ret) {
    if (!agenda->n || agenda->heap[0].time_ps > until) return false;
    *ret = agenda->heap[0];
    struct weft__due last = agenda->heap[--agenda->n];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= agenda->n) break;
        if (child + 1 < agenda->n && is_before(&agenda->heap[child + 1], &agenda->heap[child])) child++;
        if (!is_before(&agenda->heap[child], &last)) break;
        agenda->heap[i] = agenda->heap[child];
        i = child;
    }
    if (agenda->n) agenda->heap[i] = last;
    return true;
}

void weft__agenda_deinit(struct weft__agenda *agenda) {
    weft_memory_free(WEFT_MEMORY_TIMER, agenda->heap, agenda->capacity * sizeof *agenda->heap);
    *agenda = (struct weft__agenda){0};
}
