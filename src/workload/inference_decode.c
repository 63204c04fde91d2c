// SPDX-License-Identifier: Apache-2.0
// The decode pool: when tokens are written. An instance takes requests in the order in which their keys and values are
// complete, as long as its batch and its memory have room, and writes a token of each a step (continuous batching: Yu
// et al., Orca, OSDI 2022). A step takes the longest of reading weights, keys and values from memory, computing, and
// sending tokens to experts and back: the roofline of Pope et al., arXiv 2211.05102, and for experts the bound of
// DeepSeek-V3, arXiv 2505.09343, section 2.3.2. Different: a request keeps room for its whole answer from its first
// step on, where vLLM would evict one; steps of instances that share experts do not wait for each other.
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "weft/inference.h"
#include "weft/outcome.h"

/// x^n, to the same bit on every machine.
static double power_of(double x, uint64_t n) {
    double all = 1;
    for (; n; n >>= 1, x *= x)
        if (n & 1) all *= x;
    return all;
}

weft_time_ps weft_inference_step(const struct weft_inference_decode *d, uint64_t batch, uint64_t tokens) {
    double drawn = d->experts_s > 0 ? 1 - power_of(d->unused, (uint64_t)((double)batch * d->group)) : 0;
    double memory = d->weights_s + drawn * d->experts_s + (double)tokens * d->token_s;
    double longest = fmax(memory, (double)batch * fmax(d->compute_s, d->ep_s));
    return weft_time_of_real(longest * (double)WEFT_PS_PER_S);
}

/// A request that waits, by instance and time.
struct waiting {
    uint32_t decode, request;
    weft_time_ps ready_ps;
};
WEFT__ORDER(by_instance, struct waiting, WEFT__UP(decode) ?: WEFT__UP(ready_ps) ?: WEFT__UP(request))

/// A batch: requests by the step that writes their last token, a heap.
struct batch {
    struct running {
        uint64_t last;
        uint32_t request;
    } * run;
    uint32_t n;
    uint64_t tokens, promised; ///< held now; and when all are at their ends
};

static bool is_sooner(struct running a, struct running b) {
    return a.last != b.last ? a.last < b.last : a.request < b.request;
}

static void push_running(struct batch *b, struct running r) {
    uint32_t i = b->n++;
    for (; i && is_sooner(r, b->run[(i - 1) / 2]); i = (i - 1) / 2)
        b->run[i] = b->run[(i - 1) / 2];
    b->run[i] = r;
}

static struct running pop_running(struct batch *b) {
    struct running first = b->run[0], last = b->run[--b->n];
    uint32_t i = 0;
    for (uint32_t down; (down = 2 * i + 1) < b->n; i = down) {
        if (down + 1 < b->n && is_sooner(b->run[down + 1], b->run[down])) down++;
        if (is_sooner(last, b->run[down])) break;
        b->run[i] = b->run[down];
    }
    b->run[i] = last;
    return first;
}

/// The `n` requests of an instance, which all fit its memory one by one.
static void run_instance(const struct weft_inference *x, const struct waiting *wait, uint32_t n, struct batch *b,
                         struct weft_inference_served *served) {
    weft_time_ps now = 0;
    uint64_t step = 0;
    for (uint32_t next = 0; next < n || b->n;) {
        if (!b->n && wait[next].ready_ps > now) now = wait[next].ready_ps;
        uint32_t from = next;
        for (; next < n && wait[next].ready_ps <= now && b->n < x->decode.batch_max; next++) {
            const struct weft_inference_request *r = &x->request[wait[next].request];
            uint64_t whole = (uint64_t)r->input + r->output;
            if (b->n && b->promised + whole > x->decode.tokens_max) break;
            b->promised += whole;
            b->tokens += r->input;
            served[wait[next].request].start_ps = now;
            push_running(b, (struct running){step + r->output, wait[next].request});
        }
        now = weft_time_plus(now, weft_inference_step(&x->decode, b->n, b->tokens));
        for (; from < next; from++)
            served[wait[from].request].first_ps = now;
        b->tokens += b->n;
        for (step++; b->n && b->run[0].last == step;) {
            uint32_t request = pop_running(b).request;
            uint64_t whole = (uint64_t)x->request[request].input + x->request[request].output;
            b->tokens -= whole;
            b->promised -= whole;
            served[request].last_ps = now;
        }
    }
}

/// WEFT_TIME_NEVER: not all of its flows have ended.
static weft_time_ps ready_at(const struct weft_inference_request *r, const struct weft_flow_outcome *flow) {
    weft_time_ps ready = r->prefilled_ps > r->inside_ps ? r->prefilled_ps : r->inside_ps;
    for (uint32_t f = r->flow; f < r->flow + r->flows; f++)
        if (flow[f].end_ps > ready) ready = flow[f].end_ps;
    return ready;
}

struct weft_inference_served *weft_inference_calc(const struct weft_inference *x, const struct weft_flow_outcome *flow,
                                                  struct weft_arena *arena) {
    struct weft_inference_served *served = weft_arena_alloc(arena, x->requests, sizeof *served);
    WEFT_SCRATCH(scratch, WEFT_MEMORY_RESULT);
    struct waiting *wait = weft_arena_alloc(scratch, x->requests, sizeof *wait);
    struct batch batch = {.run = weft_arena_alloc(scratch, x->requests, sizeof *batch.run)};
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->requests; i++) {
        weft_time_ps ready = ready_at(&x->request[i], flow);
        served[i] = (struct weft_inference_served){ready, WEFT_TIME_NEVER, WEFT_TIME_NEVER, WEFT_TIME_NEVER};
        if (ready != WEFT_TIME_NEVER) wait[n++] = (struct waiting){x->request[i].decode, i, ready};
    }
    if (n) qsort(wait, n, sizeof *wait, by_instance);
    for (uint32_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && wait[to].decode == wait[from].decode;)
            to++;
        run_instance(x, wait + from, to - from, &batch, served);
    }
    return served;
}
