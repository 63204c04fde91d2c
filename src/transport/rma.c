// SPDX-License-Identifier: Apache-2.0
#include "transport/rma.h"

#include <math.h>

#include "weft/memory.h"

enum { OPS_FIRST = 16 };

static struct weft_random random_of(const struct weft_rma *rma, uint64_t seed, uint32_t host,
                                    enum weft_random_purpose purpose) {
    struct weft_random random = weft_random_stream(seed, host, purpose);
    random.purpose |= rma->entry << 8; // entries do not share random numbers
    return random;
}

/// Slots from one with an operation to the next: each slot has one with a probability of `rate` times its length.
static double whole_slots(const struct weft_rma_conf *conf, double gap) {
    double slot = (double)conf->slot_ps, mean = slot * conf->rate / (double)WEFT_PS_PER_S;
    return slot * (1 + (mean < 1 ? floor(gap / slot * mean / -log1p(-mean)) : 0));
}

static void draw_next(struct weft__rma_client *c, weft_time_ps from) {
    const struct weft_rma_conf *conf = c->rma->conf;
    double gap = weft_random_exponential(&c->arrival, (double)WEFT_PS_PER_S / conf->rate);
    if (conf->slot_ps) gap = whole_slots(conf, gap);
    weft_time_ps end = conf->start_ps + conf->duration_ps;
    c->over = gap >= (double)(end - from);
    c->next_ps = c->over ? WEFT_TIME_NEVER : from + (weft_time_ps)llround(gap);
}

void weft__rma_client_init(struct weft__rma_client *c, const struct weft_rma *rma, uint32_t index, uint64_t seed) {
    *c = (struct weft__rma_client){
        .rma = rma,
        .index = index,
        .arrival = random_of(rma, seed, rma->client[index], WEFT_RANDOM_RMA_ARRIVAL),
        .choice = random_of(rma, seed, rma->client[index], WEFT_RANDOM_RMA_SERVER),
        .free = WEFT_NONE,
    };
    draw_next(c, rma->conf->start_ps);
}

void weft__rma_client_deinit(struct weft__rma_client *c) {
    weft_memory_free(WEFT_MEMORY_HOST, c->op, c->ops * sizeof *c->op);
}

/// Makes room for one more operation.
static uint32_t take_op(struct weft__rma_client *c) {
    if (c->free == WEFT_NONE) {
        uint32_t ops = c->ops ? 2 * c->ops : OPS_FIRST;
        c->op = weft_memory_resize(WEFT_MEMORY_HOST, c->op, c->ops * sizeof *c->op, ops * sizeof *c->op);
        for (uint32_t i = ops; i-- > c->ops; c->free = i)
            c->op[i].next = c->free;
        c->ops = ops;
    }
    uint32_t op = c->free;
    c->free = c->op[op].next;
    return op;
}

/// Frees an operation.
static void free_op(struct weft__rma_client *c, struct weft__worker *w, uint32_t op) {
    c->op[op].next = c->free;
    c->free = op;
    if (--c->under_way == 0 && c->over) w->tally.finished++;
}

uint32_t weft__rma_begin(struct weft__rma_client *c, struct weft__worker *w) {
    uint32_t op = take_op(c), self = c->rma->self[c->index];
    uint32_t server = (uint32_t)weft_random_below(&c->choice, c->rma->servers - (self != WEFT_NONE));
    c->op[op] = (struct weft__rma_op){
        .begun_ps = w->now_ps,
        .server = server + (server >= self),
        .left = (uint32_t)c->rma->conf->reads,
        .next = WEFT_NONE,
    };
    c->under_way++;
    c->stats->issued++;
    w->tally.progress_ps = w->now_ps;
    draw_next(c, w->now_ps);
    if (c->over) w->tally.started++; // until then, the run must wait for this client
    return op;
}

uint32_t weft__rma_bytes(const struct weft__rma_client *c, const struct weft__rma_op *op) {
    if (c->rma->conf->verb == WEFT_RMA_ATOMIC) return 8;
    if (c->rma->conf->verb == WEFT_RMA_SEND) return 0;
    return (uint32_t)(op->left > 1 ? c->rma->conf->index_bytes : c->rma->conf->size_bytes);
}

bool weft__rma_answered(struct weft__rma_client *c, struct weft__worker *w, uint32_t op) {
    struct weft__rma_op *o = &c->op[op];
    w->tally.progress_ps = w->now_ps;
    c->stats->bytes += weft__rma_bytes(c, o);
    if (--o->left) return false;
    if (weft__rma_counts(c->rma, o->begun_ps)) weft_histogram_add(&c->stats->latency, w->now_ps - o->begun_ps);
    c->stats->completed++;
    free_op(c, w, op);
    return true;
}

void weft__rma_sent(struct weft__rma_client *c, struct weft__worker *w, uint32_t op) {
    c->stats->requests++;
    free_op(c, w, op);
}

void weft__rma_came(const struct weft__rma_run *run, struct weft__worker *w, uint32_t entry, weft_time_ps begun) {
    struct weft__rma_stats *stats = run->stats[entry * run->workers + w->id];
    w->tally.progress_ps = w->now_ps;
    if (weft__rma_counts(&run->all.rma[entry], begun)) weft_histogram_add(&stats->latency, w->now_ps - begun);
    stats->completed++;
}

weft_time_ps weft__rma_work(struct weft__rma_processor *p, const struct weft_rma_processor *conf, weft_time_ps now,
                            weft_time_ps cost) {
    weft_time_ps from = p->busy_until_ps > now ? p->busy_until_ps : now;
    bool asleep = conf->sleep_after_ps != WEFT_TIME_NEVER && now >= p->busy_until_ps &&
                  now - p->busy_until_ps >= conf->sleep_after_ps;
    return p->busy_until_ps = from + (asleep ? conf->wake_up_ps : 0) + cost;
}
