// SPDX-License-Identifier: Apache-2.0
#include "engine/side.h"

#include <string.h>

#include "weft/memory.h"

static uint32_t records_before(uint32_t block) {
    return WEFT__SIDE_BLOCK * ((UINT32_C(1) << block) - 1);
}

static uint32_t block_records(uint32_t block) {
    return (uint32_t)WEFT__SIDE_BLOCK << block;
}

void weft__sides_init(struct weft__worker *w) {
    w->sides = weft_memory_new(WEFT_MEMORY_FLIGHT, 1, sizeof *w->sides);
}

void weft__sides_deinit(struct weft__worker *w) {
    struct weft__sides *s = w->sides;
    for (uint32_t b = 0; b < s->blocks; b++)
        weft_memory_free(WEFT_MEMORY_FLIGHT, s->block[b], block_records(b) * sizeof *s->block[b]);
    weft_memory_free(WEFT_MEMORY_FLIGHT, s, sizeof *s);
}

static void grow_sides(struct weft__worker *w) {
    struct weft__sides *s = w->sides;
    assert(!s->free && s->blocks < WEFT__SIDE_BLOCKS);
    uint32_t b = s->blocks, n = block_records(b);
    s->block[b] = weft_memory_new(WEFT_MEMORY_FLIGHT, n, sizeof *s->block[b]);
    s->blocks = b + 1;
    for (uint32_t i = n; i-- > 0;) {
        struct weft__side *record = &s->block[b][i];
        record->number = w->id << WEFT__SIDE_NUMBER_BITS | (records_before(b) + i);
        record->next = s->free;
        s->free = record;
    }
}

static struct weft__side *take_record(struct weft__worker *w) {
    struct weft__sides *s = w->sides;
    if (!s->free) grow_sides(w);
    struct weft__side *record = s->free;
    s->free = record->next;
    record->next = record;
    s->taken++;
    return record;
}

static void give_record(struct weft__worker *w, struct weft__side *record) {
    struct weft__sides *s = w->sides;
    uint32_t owner = record->number >> WEFT__SIDE_NUMBER_BITS;
    s->given++;
    if (owner == w->id) {
        record->next = s->free;
        s->free = record;
        return;
    }
    struct weft__side_list *home = &s->home[w->parity][owner];
    if (!home->first) home->last = record;
    record->next = home->first;
    home->first = record;
    s->sent[w->parity]++;
}

bool weft__sides_were_sent(const struct weft__worker *w) {
    return w->sides->sent[w->parity] > 0;
}

void weft__sides_exchange(struct weft__worker *w, bool any) {
    struct weft__sides *s = w->sides;
    uint32_t now = w->parity, last = now ^ 1;
    if (s->sent[now]) { // two windows ago: their owners have taken them back
        memset(s->home[now], 0, sizeof s->home[now]);
        s->sent[now] = 0;
    }
    if (!any) return;
    for (uint32_t k = 0; k < w->engine->conf.workers; k++) {
        const struct weft__side_list *home = &w->engine->worker[k].sides->home[last][w->id];
        if (!home->first) continue;
        assert(k != w->id);
        home->last->next = s->free;
        s->free = home->first;
    }
}

struct weft__side *weft__side_attach(struct weft__worker *w, struct weft_packet *p) {
    assert(!p->side);
    struct weft__side *record = take_record(w);
    memset(record->user, 0, sizeof record->user);
    record->psn = p->psn;
    p->psn = record->number;
    p->side = true;
    return record;
}

struct weft__side *weft__side_of(const struct weft__worker *w, const struct weft_packet *p) {
    assert(p->side);
    uint32_t number = p->psn & ((UINT32_C(1) << WEFT__SIDE_NUMBER_BITS) - 1);
    uint32_t block = 31 - (uint32_t)__builtin_clz(number / WEFT__SIDE_BLOCK + 1);
    const struct weft__sides *s = w->engine->worker[p->psn >> WEFT__SIDE_NUMBER_BITS].sides;
    struct weft__side *record = &s->block[block][number - records_before(block)];
    assert(record->next == record); // a packet holds it
    return record;
}

const struct weft__side *weft__side_detach(struct weft__worker *w, struct weft_packet *p) {
    struct weft__side *record = weft__side_of(w, p);
    p->psn = record->psn;
    p->side = false;
    give_record(w, record);
    return record;
}

void weft__side_clone(struct weft__worker *w, struct weft_packet *copy) {
    const struct weft__side *from = weft__side_of(w, copy);
    struct weft__side *record = take_record(w);
    memcpy(record->user, from->user, sizeof record->user);
    record->psn = from->psn;
    copy->psn = record->number;
}

void weft__side_release(struct weft__worker *w, const struct weft_packet *p) {
    give_record(w, weft__side_of(w, p));
}
