// SPDX-License-Identifier: Apache-2.0
// Which experts tokens go to. Source: deepseek-ai/DeepEP, tests/legacy/test_internode.py: each token has a random score
// for each expert, |N(0,1)| + 1; the score of a group is its best expert's; a token goes to the top_k best experts of
// the top_groups best groups. Only the order of scores matters, and it is a random order of the experts. So experts are
// drawn one after another without repetition: the first top_groups groups that come are the best ones.
// Skew is ours: experts are drawn with weights of a Zipf law, 1 / k^skew for the k-th most popular one (assumed).
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/order.h"
#include "generator.h"
#include "moe.h"
#include "weft/memory.h"

struct drawing {
    const struct weft__routing_conf *conf;
    struct weft_random random;
    double *until;  ///< [experts] sum of the weights up to this one
    uint8_t *state; ///< [experts] of the current token: taken
    uint8_t *group; ///< [groups] likewise: it is one of the best
    uint32_t groups;
};

/// Popularity is the same for all tokens of a run, and does not follow the numbers of experts.
static void weigh_experts(struct drawing *d, uint64_t seed, uint32_t entry, struct weft_arena *arena) {
    uint32_t n = (uint32_t)d->conf->experts, *order = weft_arena_alloc(arena, n, sizeof *order);
    struct weft_random random = weft__workload_stream(seed, entry, UINT32_MAX, WEFT_RANDOM_EXPERT);
    for (uint32_t e = 0; e < n; e++)
        order[e] = e;
    for (uint32_t e = n; e > 1; e--) {
        uint32_t k = (uint32_t)weft_random_below(&random, e), other = order[k];
        order[k] = order[e - 1];
        order[e - 1] = other;
    }
    for (uint32_t e = 0; e < n; e++)
        d->until[e] = (e ? d->until[e - 1] : 0) + pow(order[e] + 1, -d->conf->skew);
}

static uint32_t group_of(const struct drawing *d, uint32_t expert) {
    return (uint32_t)(expert / (d->conf->experts / d->conf->groups));
}

static bool may_take(const struct drawing *d, uint32_t expert) {
    if (d->state[expert]) return false;
    return d->groups < d->conf->top_groups || d->group[group_of(d, expert)];
}

static double weight_of(const struct drawing *d, uint32_t expert) {
    return d->until[expert] - (expert ? d->until[expert - 1] : 0);
}

/// Of all experts, those that may not be taken included.
static uint32_t draw_any(struct drawing *d) {
    uint32_t n = (uint32_t)d->conf->experts;
    if (d->conf->skew <= 0) return (uint32_t)weft_random_below(&d->random, n);
    double at = weft_random_unit(&d->random) * d->until[n - 1];
    return WEFT__FIRST_WITHOUT(0, n - 1, d->until[middle] <= at);
}

/// Of those that may be taken, if they are so unpopular that they hardly come.
static uint32_t draw_rare(struct drawing *d) {
    uint32_t n = (uint32_t)d->conf->experts, last = WEFT_NONE;
    double all = 0;
    for (uint32_t e = 0; e < n; e++)
        all += may_take(d, e) ? weight_of(d, e) : 0;
    double at = weft_random_unit(&d->random) * all;
    for (uint32_t e = 0; e < n; e++) {
        if (!may_take(d, e)) continue;
        last = e;
        at -= weight_of(d, e);
        if (at < 0) break;
    }
    return last;
}

static void draw_token(struct drawing *d, uint16_t *ret_expert) {
    enum { TRIES = 32 };
    memset(d->state, 0, d->conf->experts);
    memset(d->group, 0, d->conf->groups);
    d->groups = 0;
    for (uint32_t k = 0; k < d->conf->top_k; k++) {
        uint32_t e = draw_any(d), tries = 0;
        while (!may_take(d, e) && tries++ < TRIES)
            e = draw_any(d);
        if (!may_take(d, e)) e = draw_rare(d);
        d->groups += !d->group[group_of(d, e)];
        d->state[e] = d->group[group_of(d, e)] = 1;
        ret_expert[k] = (uint16_t)e;
    }
}

void weft__routing_draw(const struct weft__routing_conf *conf, uint64_t seed, uint32_t entry, struct weft_arena *arena,
                        struct weft__routing *r) {
    struct drawing d = {.conf = conf};
    d.until = weft_arena_alloc(arena, conf->experts, sizeof *d.until);
    d.state = weft_arena_alloc(arena, conf->experts, 1);
    d.group = weft_arena_alloc(arena, conf->groups, 1);
    weigh_experts(&d, seed, entry, arena);
    r->first = weft_arena_alloc(arena, r->ranks + 1, sizeof *r->first);
    r->expert = weft_arena_alloc(arena, r->ranks * conf->tokens * conf->top_k, sizeof *r->expert);
    for (uint32_t rank = 0; rank < r->ranks; rank++) {
        d.random = weft__workload_stream(seed, entry, rank, WEFT_RANDOM_EXPERT);
        r->first[rank + 1] = r->first[rank] + conf->tokens;
        for (uint64_t t = r->first[rank]; t < r->first[rank + 1]; t++)
            draw_token(&d, &r->expert[t * conf->top_k]);
    }
}

// --- from a file --------------------------------------------------------------------------------------------------

struct line {
    uint32_t rank;
    uint16_t expert[WEFT__MOE_TOP_K_MAX];
};

/// "-1" among the experts, as DeepEP's topk_idx has it: no expert.
static bool skip_none(struct weft__lines *in) {
    size_t n = !strncmp(in->at, "-1", 2) ? 2 : 0;
    if (!n || (in->at[n] && !isspace((unsigned char)in->at[n]))) return false;
    in->at += n;
    return true;
}

static enum weft_status read_line(struct weft__lines *in, const struct weft__routing *r, struct line *ret,
                                  struct weft_error *ret_error) {
    uint64_t number;
    uint32_t n = 0;
    bool none = false;
    enum weft_status status = weft__lines_number(in, "the rank of a token", r->ranks - 1, &number, ret_error);
    memset(ret, 0xff, sizeof *ret); // WEFT__NO_EXPERT
    ret->rank = (uint32_t)number;
    while (!status && *in->at) {
        in->at += strspn(in->at, " \t\r");
        if (skip_none(in)) {
            none = true;
            continue;
        }
        if (!*in->at) break;
        if (n == r->top_k)
            return WEFT_REFUSE(ret_error, in->place, "a token with more than %" PRIu32 " experts; expected top_k", n);
        status = weft__lines_number(in, "an expert", r->experts - 1, &number, ret_error);
        for (uint32_t k = 0; k < n && !status; k++)
            if (ret->expert[k] == number)
                return WEFT_REFUSE(ret_error, in->place, "expert %" PRIu64 " twice; expected different ones", number);
        if (!status) ret->expert[n++] = (uint16_t)number;
    }
    if (!status && !n && !none)
        return WEFT_REFUSE(ret_error, in->place, "a token without experts; expected a line such as \"0 17 3\"");
    return status;
}

static void sort_lines(const struct line *line, uint64_t lines, struct weft_arena *arena, struct weft__routing *r) {
    r->first = weft_arena_alloc(arena, r->ranks + 1, sizeof *r->first);
    r->expert = weft_arena_alloc(arena, lines * r->top_k, sizeof *r->expert);
    uint64_t *at = weft_arena_alloc(arena, r->ranks, sizeof *at);
    for (uint64_t i = 0; i < lines; i++)
        r->first[line[i].rank + 1]++;
    for (uint32_t k = 0; k < r->ranks; k++) {
        r->first[k + 1] += r->first[k];
        at[k] = r->first[k];
    }
    for (uint64_t i = 0; i < lines; i++)
        memcpy(&r->expert[at[line[i].rank]++ * r->top_k], line[i].expert, r->top_k * sizeof *r->expert);
}

enum weft_status weft__routing_read(const char *path, const struct weft_model_conf *entry, struct weft_arena *arena,
                                    struct weft__routing *r, struct weft_error *ret_error) {
    WEFT_ENDS(weft__lines_close) struct weft__lines in = {0};
    struct line *line = NULL;
    uint64_t lines = 0;
    struct weft_place place = weft__job_key_place(entry, "routing");
    path = weft__path_beside(path, entry->place, arena);
    WEFT_TRY(weft__lines_open(&in, path, place, ret_error));
    for (bool more = true;;) {
        WEFT_TRY(weft__lines_next_full(&in, &more, ret_error));
        if (!more) break;
        struct line next;
        WEFT_TRY(read_line(&in, r, &next, ret_error));
        if (*next.expert == WEFT__NO_EXPERT) continue; // all of them -1: the token goes nowhere
        if (lines == WEFT__MOE_TOKENS_MAX)
            return WEFT_REFUSE(ret_error, in.place, "more than %d tokens; expected fewer", WEFT__MOE_TOKENS_MAX);
        WEFT__ADD(arena, line, lines) = next;
    }
    if (!lines) return WEFT_REFUSE(ret_error, place, "routing: '%s' has no token; expected a line a token", path);
    sort_lines(line, lines, arena, r);
    return WEFT_OK;
}

// --- counted ------------------------------------------------------------------------------------------------------

uint32_t weft__routing_ranks(const struct weft__routing *r, uint64_t token, uint32_t *ret_rank) {
    const uint16_t *expert = weft__routing_of(r, token);
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->top_k && expert[k] != WEFT__NO_EXPERT; k++) {
        uint32_t rank = expert[k] / r->per_rank, i = 0;
        while (i < n && ret_rank[i] != rank)
            i++;
        if (i == n) ret_rank[n++] = rank;
    }
    return n;
}

struct weft_moe weft__routing_count(const struct weft__routing *r, uint32_t per_node, struct weft_arena *arena) {
    struct weft_moe moe = {.ranks = r->ranks,
                           .nodes = r->ranks / per_node,
                           .experts = r->experts,
                           .top_k = r->top_k,
                           .tokens = r->first[r->ranks]};
    uint64_t nodes = 0, ranks = 0, experts = 0, most = 0, *load = weft_arena_alloc(arena, r->ranks, sizeof *load);
    for (uint64_t t = 0; t < moe.tokens; t++) {
        uint32_t rank[WEFT__MOE_TOP_K_MAX], n = weft__routing_ranks(r, t, rank);
        ranks += n;
        for (uint32_t k = 0; k < r->top_k; k++)
            experts += weft__routing_of(r, t)[k] != WEFT__NO_EXPERT;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t k = 0;
            while (k < i && rank[k] / per_node != rank[i] / per_node)
                k++;
            nodes += k == i;
            load[rank[i]]++;
        }
    }
    for (uint32_t k = 0; k < r->ranks; k++)
        if (load[k] > most) most = load[k];
    double tokens = (double)moe.tokens;
    moe.token_nodes = (double)nodes / tokens;
    moe.token_ranks = (double)ranks / tokens;
    moe.token_experts = (double)experts / tokens;
    moe.load_most = (double)most * r->ranks / (double)ranks;
    return moe;
}
