// SPDX-License-Identifier: Apache-2.0
// See sfc.h. Notes are kept in a table by (what, queue, number), open addressing with linear probing; when it is half
// full those too old to matter are left out, and only if that does not help it grows.
#include "device/sfc.h"

#include <assert.h>

#include "weft/memory.h"

enum note_of { OF_FLOW, OF_SOURCE };
enum { CAPACITY_MIN = 64 };

void weft__sfc_init(struct weft__sfc *sfc, const struct weft_model_conf *model) {
    *sfc = (struct weft__sfc){.ops = model->model->ops, .conf = model->conf, .watch_bytes = UINT64_MAX};
    if (!sfc->conf->priorities) return;
    sfc->watch_bytes = sfc->ops->watch(model->conf);
    sfc->keep_ps = sfc->conf->interval_ps;
    if (sfc->conf->source_interval_ps > sfc->keep_ps) sfc->keep_ps = sfc->conf->source_interval_ps;
}

void weft__sfc_deinit(struct weft__sfc *sfc) {
    weft_memory_free(WEFT_MEMORY_SWITCH, sfc->note, sfc->capacity * sizeof *sfc->note);
}

static uint64_t key_of(enum note_of what, uint32_t queue, uint32_t number) {
    return ((uint64_t)(queue << 2 | what) << 32 | number) + 1;
}

/// Where the key is, or the empty place for it.
static struct weft__sfc_note *place_of(const struct weft__sfc *sfc, uint64_t key) {
    uint32_t mask = sfc->capacity - 1, i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
    while (sfc->note[i].key && sfc->note[i].key != key)
        i = (i + 1) & mask;
    return &sfc->note[i];
}

static void make_room(struct weft__sfc *sfc, weft_time_ps now) {
    struct weft__sfc_note *old = sfc->note;
    uint32_t capacity = sfc->capacity, fresh = 0;
    for (uint32_t i = 0; i < capacity; i++)
        fresh += old[i].key && now - old[i].time_ps < sfc->keep_ps;
    if (!capacity)
        sfc->capacity = CAPACITY_MIN;
    else if (fresh > capacity / 4)
        sfc->capacity *= 2;
    sfc->note = weft_memory_new(WEFT_MEMORY_SWITCH, sfc->capacity, sizeof *sfc->note);
    sfc->notes = fresh;
    for (uint32_t i = 0; i < capacity; i++)
        if (old[i].key && now - old[i].time_ps < sfc->keep_ps) *place_of(sfc, old[i].key) = old[i];
    weft_memory_free(WEFT_MEMORY_SWITCH, old, capacity * sizeof *old);
}

struct weft_sfc_act weft__sfc_judge(struct weft__sfc *sfc, const struct weft_sfc_fact *fact) {
    struct weft_sfc_act act = {0};
    if (fact->queue_bytes > sfc->watch_bytes) sfc->ops->on_packet(sfc->conf, fact, &act);
    assert(!act.signal || (act.pause_ps > 0 && act.pause_ps <= sfc->conf->pause_ps));
    return act;
}

static bool is_due(const struct weft__sfc *sfc, uint64_t key, weft_time_ps now, weft_time_ps interval) {
    if (!interval || !sfc->notes) return true;
    const struct weft__sfc_note *note = place_of(sfc, key);
    return !note->key || now - note->time_ps >= interval;
}

static void remember(struct weft__sfc *sfc, uint64_t key, weft_time_ps now, weft_time_ps interval) {
    if (!interval) return;
    if (sfc->notes >= sfc->capacity / 2) make_room(sfc, now);
    struct weft__sfc_note *note = place_of(sfc, key);
    sfc->notes += !note->key;
    *note = (struct weft__sfc_note){key, now};
}

bool weft__sfc_allow(struct weft__sfc *sfc, const struct weft__sfc_flow *flow, weft_time_ps now) {
    const struct weft_sfc_conf *c = sfc->conf;
    uint64_t of_flow = key_of(OF_FLOW, flow->queue, flow->qp), of_source = key_of(OF_SOURCE, flow->queue, flow->src);
    if (!is_due(sfc, of_flow, now, c->interval_ps) || !is_due(sfc, of_source, now, c->source_interval_ps)) return false;
    remember(sfc, of_flow, now, c->interval_ps);
    remember(sfc, of_source, now, c->source_interval_ps);
    return true;
}
