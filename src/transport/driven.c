// SPDX-License-Identifier: Apache-2.0
#include "transport/driven.h"

#include <string.h>

#include "weft/memory.h"

static void push_notice(struct weft__driven *d, weft_time_ps now, enum weft_drive_event event, uint32_t what) {
    if (d->told == d->notices) d->told = d->notices = 0;
    WEFT__DRIVEN_ROOM(d->notice, d->notices, d->notices_capacity);
    d->notice[d->notices++] = (struct weft__notice){now, event, what};
}

void weft__driven_note(struct weft__driven *d, struct weft__worker *w, enum weft_drive_event event, uint32_t what) {
    const struct weft__driver *all = d->driver;
    if (event < WEFT_DRIVE_TIME && (what < all->flow0 || !(all->want[what - all->flow0] & event))) return;
    push_notice(d, w->now_ps, event, what);
}

void weft__driven_pause(struct weft__driven *d, struct weft__worker *w, const struct weft__arrival *arrival, uint32_t n,
                        weft_time_ps end) {
    struct weft__driven_list *list = &d->driver->paused[w->id];
    if (!d->paused) {
        d->paused = true;
        WEFT__DRIVEN_ROOM(list->host, list->n, list->capacity);
        list->host[list->n++] = d->host;
    }
    while (d->arrivals_capacity < n)
        d->arrival = weft__memory_double_now(WEFT_MEMORY_QP, d->arrival, &d->arrivals_capacity, 4, sizeof *d->arrival);
    if (n) memmove(d->arrival, arrival, n * sizeof *arrival);
    d->arrivals = n;
    d->end_ps = end;
}

static bool is_before(const struct weft__due *a, const struct weft__due *b) {
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->serial < b->serial;
}

void weft__driven_add_due(struct weft__driven *d, struct weft__timers *timers, const struct weft__due *due) {
    WEFT__DRIVEN_ROOM(d->due, d->dues, d->dues_capacity);
    uint32_t i = d->dues++;
    for (; i && is_before(due, &d->due[(i - 1) / 2]); i = (i - 1) / 2)
        d->due[i] = d->due[(i - 1) / 2];
    d->due[i] = *due;
    weft__timer_set(timers, d->key0, d->due[0].time_ps);
}

bool weft__driven_take_due(struct weft__driven *d, struct weft__timers *timers, weft_time_ps now,
                           struct weft__due *ret_due) {
    if (!d->dues || d->due[0].time_ps > now) {
        if (d->dues) weft__timer_set(timers, d->key0, d->due[0].time_ps);
        return false;
    }
    *ret_due = d->due[0];
    struct weft__due last = d->due[--d->dues];
    uint32_t i = 0;
    for (uint32_t down; (down = 2 * i + 1) < d->dues; i = down) {
        if (down + 1 < d->dues && is_before(&d->due[down + 1], &d->due[down])) down++;
        if (is_before(&last, &d->due[down])) break;
        d->due[i] = d->due[down];
    }
    d->due[i] = last;
    return true;
}

void weft__driven_deinit(struct weft__driven *d) {
    weft_memory_free(WEFT_MEMORY_QP, d->notice, d->notices_capacity * sizeof *d->notice);
    weft_memory_free(WEFT_MEMORY_QP, d->arrival, d->arrivals_capacity * sizeof *d->arrival);
    weft_memory_free(WEFT_MEMORY_QP, d->due, d->dues_capacity * sizeof *d->due);
    weft_memory_free(WEFT_MEMORY_QP, d->send_qp, d->sends_capacity * sizeof *d->send_qp);
}
