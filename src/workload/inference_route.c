// SPDX-License-Identifier: Apache-2.0
// Who serves a request. A router decides as one does that sees requests, its own decisions and the wiring, and not the
// network's queues: it keeps a book of the transfers and answers that it expects to be under way, as Mooncake's
// Conductor predicts times to first tokens (Qin et al., FAST 2025, algorithm 1). So all is decided before the run.
//
// Prefill: the instance at which the prompt is done first, one after another at each; blocks of a prefix that it has
// are not computed again. Decode, when there is something to send:
//   round_robin  in turn
//   load         fewest tokens of requests that are assigned and not done
//   cache        fewest tokens of these, and to send, weighted (the cost of NVIDIA Dynamo's KV router)
//   network      first token soonest: the transfer at an equal share of every link group on its path (NICs, the uplinks
//                of a switch, those of a pod) with the transfers under way, the wait for room in the batch, a step.
//                Idea: NetKV, "network-aware decode instance selection"; its formula is not public, this one is ours.
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "inference.h"

// --- prefixes that instances have ---------------------------------------------------------------------------------

/// Which blocks instances have; at each the oldest gives way.
struct cache {
    uint32_t instances, words, capacity; ///< capacity: blocks of an instance; 0: it keeps none
    uint64_t *holds;                     ///< [blocks x words] a bit an instance
    uint32_t *ring, *head, *n;           ///< [instances x capacity], [instances], [instances]
    uint32_t *prefix;                    ///< [instances] blocks of the prompt at hand that each has
    uint64_t *still;                     ///< [words] instances that have all blocks so far
};

static void init_cache(struct cache *c, const struct weft__inference_plan *p, uint32_t instances, uint64_t tokens,
                       struct weft_arena *arena) {
    *c = (struct cache){.instances = instances, .words = (instances + 63) / 64};
    c->prefix = weft_arena_alloc(arena, instances, sizeof *c->prefix);
    c->capacity = (uint32_t)weft__lesser(tokens / WEFT__PREFIX_TOKENS, p->numbers);
    if (!c->capacity) return;
    c->holds = weft_arena_alloc(arena, (size_t)p->numbers * c->words, sizeof *c->holds);
    c->ring = weft_arena_alloc(arena, (size_t)instances * c->capacity, sizeof *c->ring);
    c->head = weft_arena_alloc(arena, instances, sizeof *c->head);
    c->n = weft_arena_alloc(arena, instances, sizeof *c->n);
    c->still = weft_arena_alloc(arena, c->words, sizeof *c->still);
}

/// Sets `prefix` for a prompt.
static void look_up(struct cache *c, const uint32_t *block, uint32_t blocks) {
    memset(c->prefix, 0, c->instances * sizeof *c->prefix);
    if (!c->capacity || !blocks) return;
    memset(c->still, 0xff, c->words * sizeof *c->still);
    uint64_t any = 1;
    for (uint32_t i = 0; i < blocks && any; i++) {
        any = 0;
        for (uint32_t w = 0; w < c->words; w++) {
            any |= c->still[w] &= c->holds[(size_t)block[i] * c->words + w];
            for (uint64_t bits = c->still[w]; bits; bits &= bits - 1)
                c->prefix[64 * w + (uint32_t)__builtin_ctzll(bits)]++;
        }
    }
}

static void keep_blocks(struct cache *c, uint32_t instance, const uint32_t *block, uint32_t blocks) {
    uint64_t bit = UINT64_C(1) << instance % 64;
    uint32_t *ring = c->capacity ? &c->ring[(size_t)instance * c->capacity] : NULL;
    for (uint32_t i = 0; i < blocks && ring; i++) {
        uint64_t *held = &c->holds[(size_t)block[i] * c->words + instance / 64];
        if (*held & bit) continue;
        *held |= bit;
        if (c->n[instance] == c->capacity) {
            c->holds[(size_t)ring[c->head[instance]] * c->words + instance / 64] &= ~bit;
            ring[c->head[instance]] = block[i];
            c->head[instance] = (c->head[instance] + 1) % c->capacity;
        } else {
            ring[(c->head[instance] + c->n[instance]++) % c->capacity] = block[i];
        }
    }
}

/// Tokens of a prompt that an instance has; one at least remains to be computed, and sent.
static uint32_t prefix_tokens(const struct cache *c, uint32_t instance, uint32_t input) {
    return (uint32_t)weft__lesser((uint64_t)c->prefix[instance] * WEFT__PREFIX_TOKENS, input - 1);
}

// --- prefill ------------------------------------------------------------------------------------------------------

static weft_time_ps prefill_time(const struct weft__inference_plan *p, uint32_t tokens) {
    return weft_time_of_real(tokens * p->prefill_s * (double)WEFT_PS_PER_S);
}

static void route_prefill(struct weft__inference_plan *p, struct weft_arena *arena) {
    struct weft_inference *x = p->inference;
    struct cache cache;
    weft_time_ps *free_ps = weft_arena_alloc(arena, x->prefills, sizeof *free_ps);
    init_cache(&cache, p, x->prefills, p->conf->prefill.cache, arena);
    for (uint32_t i = 0; i < x->requests; i++) {
        struct weft_inference_request *r = &x->request[i];
        look_up(&cache, p->hash[i], p->hashes[i]);
        r->prefilled_ps = WEFT_TIME_NEVER;
        for (uint32_t k = 0; k < x->prefills; k++) {
            uint32_t reused = prefix_tokens(&cache, k, r->input);
            weft_time_ps start = free_ps[k] > r->arrival_ps ? free_ps[k] : r->arrival_ps;
            weft_time_ps end = weft_time_plus(start, prefill_time(p, r->input - reused));
            if (end >= r->prefilled_ps) continue;
            r->prefill = k;
            r->reused = reused;
            r->prefill_ps = start;
            r->prefilled_ps = end;
        }
        free_ps[r->prefill] = r->prefilled_ps;
        keep_blocks(&cache, r->prefill, p->hash[i], p->hashes[i]);
    }
}

// --- the book -----------------------------------------------------------------------------------------------------

/// Links that flows share: the NIC of a host, the links of a switch away from its hosts, those of a pod to others.
struct shared {
    double bps;
    uint32_t flows;
};
enum { SHARED_MAX = 6 };

struct event {
    weft_time_ps at_ps;
    uint32_t request;
    bool sent; ///< the end of its transfer; else of its answer
};

struct book {
    struct weft__inference_plan *plan;
    struct shared *up, *down; ///< [hosts + nodes + pods]
    uint32_t pods;
    uint64_t *tokens; ///< [decodes] of requests assigned and not done
    uint32_t *batch;  ///< [decodes] how many these are
    struct event *event;
    uint32_t events; ///< a heap
    double output;   ///< tokens of all answers so far
};

static bool is_earlier(struct event a, struct event b) {
    if (a.at_ps != b.at_ps) return a.at_ps < b.at_ps;
    return a.request != b.request ? a.request < b.request : a.sent > b.sent;
}

static void push_event(struct book *b, struct event e) {
    uint32_t i = b->events++;
    for (; i && is_earlier(e, b->event[(i - 1) / 2]); i = (i - 1) / 2)
        b->event[i] = b->event[(i - 1) / 2];
    b->event[i] = e;
}

static struct event pop_event(struct book *b) {
    struct event first = b->event[0], last = b->event[--b->events];
    uint32_t i = 0;
    for (uint32_t down; (down = 2 * i + 1) < b->events; i = down) {
        if (down + 1 < b->events && is_earlier(b->event[down + 1], b->event[down])) down++;
        if (is_earlier(last, b->event[down])) break;
        b->event[i] = b->event[down];
    }
    b->event[i] = last;
    return first;
}

static uint32_t pod_of(const struct weft_topology *t, uint32_t host) {
    return t->node[t->host[host]].pod;
}

static void measure_links(struct book *b, const struct weft_topology *t, struct weft_arena *arena) {
    for (uint32_t n = 0; n < t->nodes; n++)
        if (t->node[n].pod != WEFT_NONE && t->node[n].pod >= b->pods) b->pods = t->node[n].pod + 1;
    size_t all = (size_t)t->hosts + t->nodes + b->pods;
    b->up = weft_arena_alloc(arena, all, sizeof *b->up);
    b->down = weft_arena_alloc(arena, all, sizeof *b->down);
    for (uint32_t port = 0; port < t->ports; port++) {
        const struct weft_node_info *own = &t->node[t->port[port].node];
        const struct weft_node_info *other = &t->node[t->port[t->port[port].peer].node];
        double bps = (double)t->link[t->port[port].link].rate_bps;
        bool host = own->role == WEFT_NODE_HOST, inner = !host && other->role != WEFT_NODE_HOST;
        if (host) b->up[own->index].bps += bps;
        if (inner) b->up[t->hosts + t->port[port].node].bps += bps;
        if (inner && own->pod != WEFT_NONE && own->pod != other->pod) b->up[t->hosts + t->nodes + own->pod].bps += bps;
    }
    for (size_t i = 0; i < all; i++)
        b->down[i].bps = b->up[i].bps;
}

/// What a flow from one host to another shares with others; returns how many.
static uint32_t path_of(struct book *b, uint32_t src, uint32_t dst, struct shared *ret[SHARED_MAX]) {
    const struct weft_topology *t = b->plan->topology;
    uint32_t from = t->hosts + weft__placement_switch(t, src), to = t->hosts + weft__placement_switch(t, dst), n = 0;
    uint32_t from_pod = pod_of(t, src), to_pod = pod_of(t, dst);
    ret[n++] = &b->up[src];
    ret[n++] = &b->down[dst];
    if (from == to) return n;
    ret[n++] = &b->up[from];
    ret[n++] = &b->down[to];
    if (from_pod == to_pod || from_pod == WEFT_NONE || to_pod == WEFT_NONE) return n;
    ret[n++] = &b->up[t->hosts + t->nodes + from_pod];
    ret[n++] = &b->down[t->hosts + t->nodes + to_pod];
    return n;
}

static uint32_t lane_path(struct book *b, const struct weft_inference_request *r,
                          const struct weft__inference_lane *lane, struct shared *ret[SHARED_MAX]) {
    const struct weft__inference_plan *p = b->plan;
    if (weft__inference_inside(p, r, lane)) return 0;
    return path_of(b, p->prefill.host[weft__inference_from(p, r, lane)], p->decode.host[weft__inference_to(p, r, lane)],
                   ret);
}

/// Enters a request's transfer, or strikes it out.
static void enter_transfer(struct book *b, const struct weft_inference_request *r, uint32_t flows) {
    struct shared *on[SHARED_MAX];
    for (uint32_t k = 0; k < b->plan->lanes; k++)
        for (uint32_t n = lane_path(b, r, &b->plan->lane[k], on); n-- > 0;)
            on[n]->flows += flows; // modulo 2^32
}

static void pass_until(struct book *b, weft_time_ps now) {
    while (b->events && b->event[0].at_ps <= now) {
        struct event e = pop_event(b);
        const struct weft_inference_request *r = &b->plan->inference->request[e.request];
        if (e.sent) {
            enter_transfer(b, r, UINT32_MAX);
            continue;
        }
        b->tokens[r->decode] -= (uint64_t)r->input + r->output;
        b->batch[r->decode]--;
    }
}

/// Seconds of a transfer that was entered, at the share of its slowest lane; a group without links bounds nothing.
static double transfer_seconds(struct book *b, const struct weft_inference_request *r) {
    const struct weft__inference_plan *p = b->plan;
    double longest = 0, layers = (double)p->conf->model.layers;
    for (uint32_t k = 0; k < p->lanes; k++) {
        struct shared *on[SHARED_MAX];
        uint32_t n = lane_path(b, r, &p->lane[k], on);
        double bps = n ? 1e18 : (double)p->conf->server.rate_bps;
        while (n-- > 0)
            if (on[n]->bps > 0 && on[n]->bps / on[n]->flows < bps) bps = on[n]->bps / on[n]->flows;
        double seconds = 8 * layers * (double)weft__inference_layer(p, &p->lane[k], r) / bps;
        if (seconds > longest) longest = seconds;
    }
    return longest;
}

/// When its keys and values are expected at the instance at which it was entered.
static weft_time_ps expect_ready(struct book *b, const struct weft_inference_request *r) {
    weft_time_ps sending = weft_time_of_real(transfer_seconds(b, r) * (double)WEFT_PS_PER_S);
    weft_time_ps from = b->plan->conf->transfer.pieces > 1 ? r->prefill_ps : r->prefilled_ps;
    weft_time_ps ready = weft_time_plus(from, sending);
    return ready > r->prefilled_ps ? ready : r->prefilled_ps;
}

/// How long it then waits for room in batch and memory: a full one is free again after an answer of mean length.
static weft_time_ps expect_wait(const struct book *b, const struct weft_inference_request *r, uint32_t answers) {
    const struct weft_inference_decode *d = &b->plan->inference->decode;
    double batch = ((double)b->batch[r->decode] + 1) / (double)d->batch_max;
    double tokens = (double)(b->tokens[r->decode] + r->input + r->output) / (double)d->tokens_max;
    double more = (batch > tokens ? batch : tokens) - 1;
    if (more <= 0) return 0;
    double step = (double)weft_inference_step(d, b->batch[r->decode], b->tokens[r->decode]);
    return weft_time_of_real(more * step * b->output / (answers ? answers : 1));
}

static weft_time_ps expect_step(const struct book *b, const struct weft_inference_request *r) {
    const struct weft_inference_decode *d = &b->plan->inference->decode;
    uint64_t batch = weft__lesser(b->batch[r->decode] + 1, d->batch_max);
    return weft_inference_step(d, batch, b->tokens[r->decode] + r->input);
}

// --- decode -------------------------------------------------------------------------------------------------------

/// What it costs to serve the request there; the least is taken.
static double cost_of(struct book *b, struct weft_inference_request *r, uint32_t answers) {
    const struct weft__inference_plan *p = b->plan;
    uint32_t n = p->inference->decodes;
    if (p->conf->router == WEFT__ROUTER_ROUND_ROBIN) return (r->decode + n - answers % n) % n;
    if (p->conf->router == WEFT__ROUTER_LOAD) return (double)b->tokens[r->decode];
    if (p->conf->router == WEFT__ROUTER_CACHE)
        return (double)b->tokens[r->decode] + p->conf->cache_weight * (r->input - r->kept);
    enter_transfer(b, r, 1);
    weft_time_ps ready = expect_ready(b, r);
    enter_transfer(b, r, UINT32_MAX);
    return (double)weft_time_plus(weft_time_plus(ready, expect_wait(b, r, answers)), expect_step(b, r));
}

/// The `answers`-th request to be routed.
static void route_request(struct book *b, struct cache *cache, uint32_t request, uint32_t answers) {
    struct weft__inference_plan *p = b->plan;
    struct weft_inference_request *r = &p->inference->request[request];
    double least = 0;
    uint32_t best = WEFT_NONE;
    look_up(cache, p->hash[request], p->hashes[request]);
    for (r->decode = 0; r->decode < p->inference->decodes; r->decode++) {
        r->kept = prefix_tokens(cache, r->decode, r->input);
        double cost = cost_of(b, r, answers);
        if (best != WEFT_NONE && cost >= least) continue;
        best = r->decode;
        least = cost;
    }
    r->decode = best;
    r->kept = prefix_tokens(cache, best, r->input);
    enter_transfer(b, r, 1);
    weft_time_ps ready = expect_ready(b, r), begin = weft_time_plus(ready, expect_wait(b, r, answers));
    weft_time_ps answer = weft_time_of_real((double)expect_step(b, r) * r->output);
    push_event(b, (struct event){ready, request, true});
    push_event(b, (struct event){weft_time_plus(begin, answer), request, false});
    b->tokens[best] += (uint64_t)r->input + r->output;
    b->batch[best]++;
    b->output += r->output;
    keep_blocks(cache, best, p->hash[request], p->hashes[request]);
}

struct due {
    weft_time_ps at_ps;
    uint32_t request;
};
WEFT__ORDER(by_time, struct due, WEFT__UP(at_ps) ?: WEFT__UP(request))

void weft__inference_route(struct weft__inference_plan *p) {
    struct weft_inference *x = p->inference;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct cache cache;
    struct book book = {.plan = p};
    route_prefill(p, arena);
    measure_links(&book, p->topology, arena);
    book.tokens = weft_arena_alloc(arena, x->decodes, sizeof *book.tokens);
    book.batch = weft_arena_alloc(arena, x->decodes, sizeof *book.batch);
    book.event = weft_arena_alloc(arena, 2 * (size_t)x->requests, sizeof *book.event);
    init_cache(&cache, p, x->decodes, p->conf->decode.pool.cache, arena);
    struct due *due = weft_arena_alloc(arena, x->requests, sizeof *due);
    for (uint32_t i = 0; i < x->requests; i++) {
        const struct weft_inference_request *r = &x->request[i];
        due[i] = (struct due){p->conf->transfer.pieces > 1 ? r->prefill_ps : r->prefilled_ps, i};
    }
    qsort(due, x->requests, sizeof *due, by_time);
    for (uint32_t i = 0; i < x->requests; i++) {
        pass_until(&book, due[i].at_ps);
        route_request(&book, &cache, due[i].request, i);
    }
}
