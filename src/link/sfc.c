// SPDX-License-Identifier: Apache-2.0
// See sfc.h. Notes are kept in a table by (what, queue, number), open addressing with linear probing. When the table is
// half full, notes too old to matter are removed; it grows only if that is not enough.
#include "link/sfc.h"

#include <assert.h>

#include "base/order.h"
#include "weft/memory.h"

enum note_of { OF_FLOW, OF_SOURCE, OF_FEEDING_FLOW, OF_FEEDING_INPUT };
enum { CAPACITY_MIN = 64 };

void weft__sfc_init(struct weft__sfc *sfc, const struct weft_model_conf *model, uint32_t queues) {
    *sfc =
        (struct weft__sfc){.ops = model->model->ops, .conf = model->conf, .watch_bytes = UINT64_MAX, .queues = queues};
    if (!sfc->conf->priorities) return;
    sfc->watch_bytes = sfc->ops->watch(model->conf);
    sfc->memory_ps = sfc->ops->memory ? sfc->ops->memory(model->conf) : 0;
    sfc->keep_ps = weft__greater(sfc->memory_ps, weft__greater(sfc->conf->interval_ps, sfc->conf->source_interval_ps));
}

void weft__sfc_deinit(struct weft__sfc *sfc) {
    weft_memory_free(WEFT_MEMORY_SWITCH, sfc->note, sfc->capacity * sizeof *sfc->note);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (sfc->degree[p]) weft_memory_free(WEFT_MEMORY_SWITCH, sfc->degree[p], sfc->queues * sizeof *sfc->degree[p]);
}

static uint64_t key_of(enum note_of what, const struct weft__sfc_packet *packet, uint32_t number) {
    uint32_t place = (packet->queue * WEFT_PRIORITIES + packet->priority) << 2 | what;
    return ((uint64_t)place << 32 | number) + 1;
}

/// The place of the key, or the empty place for it.
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

/// When the key was last noted; never if it was not, or was too long ago.
static weft_time_ps noted_ps(const struct weft__sfc *sfc, uint64_t key) {
    const struct weft__sfc_note *note = sfc->notes ? place_of(sfc, key) : NULL;
    return note && note->key ? note->time_ps : WEFT_TIME_NEVER;
}

static void remember_note(struct weft__sfc *sfc, uint64_t key, weft_time_ps now) {
    if (sfc->notes >= sfc->capacity / 2) make_room(sfc, now);
    struct weft__sfc_note *note = place_of(sfc, key);
    sfc->notes += !note->key;
    *note = (struct weft__sfc_note){key, now};
}

// --- what feeds a queue -------------------------------------------------------------------------------------------

static struct weft__sfc_degree *degree_of(struct weft__sfc *sfc, const struct weft__sfc_packet *packet) {
    struct weft__sfc_degree **all = &sfc->degree[packet->priority];
    if (!*all) *all = weft_memory_new(WEFT_MEMORY_SWITCH, sfc->queues, sizeof **all);
    assert(packet->queue < sfc->queues);
    return &(*all)[packet->queue];
}

/// Notes the key. True if it is the first time in this round.
static bool is_new(struct weft__sfc *sfc, uint64_t key, weft_time_ps round, weft_time_ps now) {
    weft_time_ps noted = noted_ps(sfc, key);
    remember_note(sfc, key, now);
    return noted == WEFT_TIME_NEVER || noted < round;
}

void weft__sfc_count(struct weft__sfc *sfc, const struct weft__sfc_packet *packet, struct weft_sfc_fact *fact) {
    struct weft__sfc_degree *d = degree_of(sfc, packet);
    weft_time_ps now = fact->now_ps;
    if (!d->now.flows || now - d->round_ps >= sfc->memory_ps) {
        bool gap = now - d->round_ps >= 2 * sfc->memory_ps;
        d->before = gap ? (struct weft__sfc_round){0} : d->now;
        d->now = (struct weft__sfc_round){0};
        d->round_ps = now;
    }
    if (is_new(sfc, key_of(OF_FEEDING_FLOW, packet, packet->qp), d->round_ps, now)) d->now.flows++;
    if (is_new(sfc, key_of(OF_FEEDING_INPUT, packet, packet->in), d->round_ps, now)) {
        d->now.inputs++;
        d->now.feed_rate_bps += packet->in_rate_bps;
    }
    bool more = d->now.feed_rate_bps > d->before.feed_rate_bps;
    fact->flows = d->now.flows > d->before.flows ? d->now.flows : d->before.flows;
    fact->inputs = more ? d->now.inputs : d->before.inputs;
    fact->feed_rate_bps = more ? d->now.feed_rate_bps : d->before.feed_rate_bps;
}

// --- messages -----------------------------------------------------------------------------------------------------

struct weft_sfc_act weft__sfc_judge(const struct weft__sfc *sfc, const struct weft_sfc_fact *fact) {
    struct weft_sfc_act act = {0};
    sfc->ops->on_packet(sfc->conf, fact, &act);
    assert(!act.signal || (act.pause_ps > 0 && act.pause_ps <= sfc->conf->pause_ps));
    return act;
}

static bool is_due(const struct weft__sfc *sfc, uint64_t key, weft_time_ps now, weft_time_ps interval) {
    weft_time_ps last = interval ? noted_ps(sfc, key) : WEFT_TIME_NEVER;
    return last == WEFT_TIME_NEVER || now - last >= interval;
}

bool weft__sfc_allow(struct weft__sfc *sfc, const struct weft__sfc_packet *packet, weft_time_ps now) {
    const struct weft_sfc_conf *c = sfc->conf;
    uint64_t of_flow = key_of(OF_FLOW, packet, packet->qp), of_source = key_of(OF_SOURCE, packet, packet->src);
    if (!is_due(sfc, of_flow, now, c->interval_ps) || !is_due(sfc, of_source, now, c->source_interval_ps)) return false;
    if (c->interval_ps) remember_note(sfc, of_flow, now);
    if (c->source_interval_ps) remember_note(sfc, of_source, now);
    return true;
}
