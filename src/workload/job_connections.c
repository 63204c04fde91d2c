// SPDX-License-Identifier: Apache-2.0
// From operations to connections: who sends how much to whom. A collective reports this without going through its
// steps, once for all repetitions.
#include "job_connections.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

#include "weft/memory.h"

void weft__finder_init(struct weft__finder *f, struct weft_job *job, struct weft_arena *arena) {
    *f = (struct weft__finder){
        .job = job, .arena = arena, .head = weft_memory_new(WEFT_MEMORY_SCENARIO, job->ranks, sizeof *f->head)};
    memset(f->head, 0xff, job->ranks * sizeof *f->head); // WEFT_NONE
    job->first = weft_arena_alloc(arena, job->ranks + (size_t)1, sizeof *job->first);
}

static void make_room(struct weft__connection_list *l, uint32_t n) {
    if (l->n + n <= l->capacity) return;
    uint32_t capacity = 2 * (l->n + n);
    l->list =
        weft_memory_resize(WEFT_MEMORY_SCENARIO, l->list, l->capacity * sizeof *l->list, capacity * sizeof *l->list);
    l->capacity = capacity;
}

static struct weft_connection *add_connection(struct weft__finder *f, uint32_t dst) {
    make_room(&f->own, 1);
    if (f->next_capacity < f->own.capacity) {
        f->next = weft_memory_resize(WEFT_MEMORY_SCENARIO, f->next, f->next_capacity * sizeof *f->next,
                                     f->own.capacity * sizeof *f->next);
        f->next_capacity = f->own.capacity;
    }
    f->next[f->own.n] = f->head[dst];
    f->head[dst] = f->own.n;
    return &f->own.list[f->own.n++];
}

/// From blocks that many connections share, because most have one number.
static uint32_t *take_messages(struct weft__finder *f, uint32_t volumes) {
    enum { BLOCK = 1024 };
    if (f->counts_left < volumes) {
        f->counts_left = volumes < BLOCK ? BLOCK : volumes;
        f->counts = weft_arena_alloc(f->arena, f->counts_left, sizeof *f->counts);
    }
    f->counts_left -= volumes;
    return f->counts + f->counts_left;
}

struct weft_connection *weft__finder_at(struct weft__finder *f, uint32_t rank, uint32_t dst, uint32_t communicator,
                                        uint32_t channel) {
    for (uint32_t at = f->head[dst]; at != WEFT_NONE; at = f->next[at]) {
        struct weft_connection *c = &f->own.list[at];
        if (c->channel == channel && c->communicator == communicator) return c;
    }
    uint32_t volumes = communicator < f->job->communicators ? f->job->communicator[communicator].volumes : 0;
    struct weft_connection *c = add_connection(f, dst);
    *c = (struct weft_connection){
        .src = rank,
        .dst = dst,
        .communicator = (uint16_t)communicator,
        .channel = (uint16_t)channel,
        .flow = WEFT_NONE,
        .messages = volumes ? take_messages(f, volumes) : NULL,
    };
    return c;
}

// --- what operations send -----------------------------------------------------------------------------------------

/// Arguments from the caller.
struct walked {
    struct weft__finder *f;
    const struct weft_job_op *op;
    uint32_t rank;
    uint64_t times;
};

static uint64_t at_most(uint64_t n, uint64_t most) {
    return n < most ? n : most;
}

static void note_sent(const struct walked *w, const struct weft_sent *sent) {
    const struct weft_collective_common *common = w->op->conf;
    uint32_t dst = weft_job_member(w->op, w->rank, sent->peer);
    struct weft_connection *c = weft__finder_at(w->f, w->rank, dst, w->op->communicator, sent->channel);
    weft_bytes all;
    if (__builtin_mul_overflow(sent->bytes, w->times, &all) || __builtin_add_overflow(c->bytes, all, &c->bytes))
        c->bytes = UINT64_MAX; // more than a flow can have
    if (sent->message_bytes_max > c->message_bytes_max) c->message_bytes_max = sent->message_bytes_max;
    c->messages[w->op->volume] += (uint32_t)sent->messages; // messages are 1 KB at least, bytes are bounded
    c->slots = sent->slots ? sent->slots : (uint16_t)common->slots;
    uint64_t messages = c->rings + at_most(sent->messages, c->slots) * at_most(w->times, c->slots);
    c->rings = (uint16_t)at_most(messages, c->slots);
}

static void note_channel(const struct walked *w, uint32_t channel) {
    struct weft_communicator *communicator = &w->f->job->communicator[w->op->communicator];
    if (channel >= communicator->channels) communicator->channels = channel + 1;
}

static void note_sent_bytes(void *context, const struct weft_sent *sent) {
    const struct walked *w = context;
    if (!w->op->ops->channels) note_channel(w, sent->channel);
    note_sent(w, sent);
}

void weft__job_each_sent(const struct weft_job_op *op, uint32_t rank, weft__on_sent *on_sent, void *context) {
    const struct weft_collective_ops *ops = op->ops;
    uint32_t number = weft_job_number(op, rank);
    uint32_t sends = ops->sends ? ops->sends(op->conf, &op->shape, number) : 0;
    uint32_t lanes = ops->sends ? 0 : ops->lanes(op->conf, &op->shape);
    struct weft_sent sent[WEFT_STEP_PEERS];
    for (uint32_t k = 0; k < sends; k++) {
        ops->send(op->conf, &op->shape, number, k, sent);
        if (sent->bytes) on_sent(context, sent);
    }
    for (uint32_t lane = 0; lane < lanes; lane++) {
        uint32_t peers = ops->sent(op->conf, &op->shape, number, lane, sent);
        for (uint32_t k = 0; k < peers; k++)
            if (sent[k].bytes) on_sent(context, &sent[k]);
    }
}

void weft__finder_add_op(struct weft__finder *f, uint32_t rank, const struct weft_job_op *op, uint64_t times) {
    struct walked w = {f, op, rank, times};
    uint32_t channels = op->ops->channels ? op->ops->channels(op->conf, &op->shape) : 0;
    if (channels && op->shape.bytes) note_channel(&w, channels - 1);
    weft__job_each_sent(op, rank, note_sent_bytes, &w);
}

// --- all of them --------------------------------------------------------------------------------------------------

WEFT__ORDER(by_key, struct weft_connection, WEFT__UP(communicator) ?: WEFT__UP(channel) ?: WEFT__UP(dst))

void weft__finder_end_rank(struct weft__finder *f, uint32_t rank) {
    if (f->own.n) qsort(f->own.list, f->own.n, sizeof *f->own.list, by_key);
    make_room(&f->all, f->own.n);
    if (f->own.n) memcpy(f->all.list + f->all.n, f->own.list, f->own.n * sizeof *f->own.list);
    f->all.n += f->own.n;
    f->job->first[rank + 1] = f->all.n;
    while (f->own.n > 0)
        f->head[f->own.list[--f->own.n].dst] = WEFT_NONE;
}

void weft__finder_deinit(struct weft__finder *f) {
    f->job->connections = f->all.n;
    f->job->connection = weft_arena_alloc(f->arena, f->all.n, sizeof *f->all.list);
    if (f->all.n) memcpy(f->job->connection, f->all.list, f->all.n * sizeof *f->all.list);
    weft_memory_free(WEFT_MEMORY_SCENARIO, f->all.list, f->all.capacity * sizeof *f->all.list);
    weft_memory_free(WEFT_MEMORY_SCENARIO, f->own.list, f->own.capacity * sizeof *f->own.list);
    weft_memory_free(WEFT_MEMORY_SCENARIO, f->next, f->next_capacity * sizeof *f->next);
    weft_memory_free(WEFT_MEMORY_SCENARIO, f->head, f->job->ranks * sizeof *f->head);
}
