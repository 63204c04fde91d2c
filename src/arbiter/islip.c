// SPDX-License-Identifier: Apache-2.0
// iSLIP: N. McKeown, "The iSLIP scheduling algorithm for input-queued switches", IEEE/ACM ToN 7(2), 1999. Iterations of
//   request  every unmatched input asks every unmatched output for which it has something;
//   grant    an output grants the first request at or after its pointer;
//   accept   an input accepts the first grant at or after its pointer; both pointers move to one past the match, only
//            if accepted and only in the first iteration.
// Checked against the implementation in BookSim (booksim2, allocators/islip.cpp). One priority at a time: the output
// has chosen the priority before it asks (prioritised iSLIP, section VI of the paper, would weigh inputs' priorities
// too).
#include <string.h>

#include "base/bits.h"
#include "weft/arbiter.h"
#include "weft/param.h"

struct islip_conf {
    uint64_t iterations;
};

static const struct weft_param_table islip_params = WEFT_PARAM_TABLE_OF(
    "islip", struct islip_conf, WEFT_PARAM_UNCHECKED,
    WEFT_UINT(struct islip_conf, iterations, "iterations", "1", "1", "16", "request-grant-accept rounds per match"));

struct islip_state {
    uint32_t words;
    uint64_t set[]; ///< [3 * words], then the arrays of struct islip_parts
};

/// Where the arrays are in the state.
struct islip_parts {
    uint64_t *matched_in;  ///< inputs matched
    uint64_t *matched_out; ///< outputs matched, or without a free requester
    uint64_t *granted;     ///< inputs with a grant in this iteration
    uint16_t *grant;       ///< [output] pointer
    uint16_t *accept;      ///< [input] pointer
    uint16_t *best;        ///< [input] the best grant of this iteration
};

static struct islip_parts parts_of(struct islip_state *s, uint32_t ports) {
    uint32_t words = s->words;
    uint16_t *array = (uint16_t *)(s->set + 3 * words);
    return (struct islip_parts){s->set, s->set + words, s->set + 2 * words, array, array + ports, array + 2 * ports};
}

static size_t islip_state_size(const void *conf, uint32_t ports) {
    return sizeof(struct islip_state) + 3 * sizeof(uint64_t) * weft__bits_words(ports) + 3 * sizeof(uint16_t) * ports;
}

static void islip_init(void *state, const void *conf, uint32_t ports) {
    memset(state, 0, islip_state_size(conf, ports));
    ((struct islip_state *)state)->words = weft__bits_words(ports);
}

/// Steps from `from` to `to`, wrapping around.
static uint32_t distance_to(uint32_t from, uint32_t to, uint32_t ports) {
    return to >= from ? to - from : to + ports - from;
}

/// Every unmatched output grants; an input remembers the grant nearest to its pointer. False: no output could grant.
static bool grant_all(const struct islip_parts *p, uint32_t ports, uint32_t words, const uint64_t *outputs,
                      const uint64_t *requests) {
    bool any = false;
    for (uint32_t w = 0; w < words; w++) {
        for (uint64_t rest = outputs[w] & ~p->matched_out[w]; rest; rest &= rest - 1) {
            uint32_t out = w * 64 + (uint32_t)__builtin_ctzll(rest);
            const uint64_t *row = requests + (size_t)out * words;
            uint32_t in = weft__bits_next_without(row, p->matched_in, words, p->grant[out]);
            if (in == WEFT__BITS_NONE) {
                weft__bits_set(p->matched_out, out); // its requesters are all matched
                continue;
            }
            uint32_t a = p->accept[in];
            if (!weft__bits_has(p->granted, in) || distance_to(a, out, ports) < distance_to(a, p->best[in], ports))
                p->best[in] = (uint16_t)out;
            weft__bits_set(p->granted, in);
            any = true;
        }
    }
    return any;
}

/// Every input with grants accepts its best.
static void accept_all(const struct islip_parts *p, uint32_t ports, uint32_t words, bool first, uint16_t *ret_input) {
    for (uint32_t w = 0; w < words; w++) {
        for (; p->granted[w]; p->granted[w] &= p->granted[w] - 1) {
            uint32_t in = w * 64 + (uint32_t)__builtin_ctzll(p->granted[w]);
            uint32_t out = p->best[in];
            ret_input[out] = (uint16_t)in;
            weft__bits_set(p->matched_in, in);
            weft__bits_set(p->matched_out, out);
            if (!first) continue;
            p->grant[out] = (uint16_t)(in + 1 == ports ? 0 : in + 1);
            p->accept[in] = (uint16_t)(out + 1 == ports ? 0 : out + 1);
        }
    }
}

/// A single requesting output gets the first requester at or after its pointer.
static void match_one(const struct islip_parts *p, uint32_t ports, uint32_t words, uint32_t out,
                      const uint64_t *requests, uint16_t *ret_input) {
    uint32_t in = weft__bits_next_without(requests + (size_t)out * words, NULL, words, p->grant[out]);
    ret_input[out] = in == WEFT__BITS_NONE ? WEFT_ARBITER_NONE : (uint16_t)in;
    if (in == WEFT__BITS_NONE) return;
    p->grant[out] = (uint16_t)(in + 1 == ports ? 0 : in + 1);
    p->accept[in] = (uint16_t)(out + 1 == ports ? 0 : out + 1);
}

static void islip_match(void *state, const void *conf, uint32_t ports, const uint64_t *outputs,
                        const uint64_t *requests, uint16_t *ret_input) {
    const struct islip_conf *c = conf;
    struct islip_state *s = state;
    struct islip_parts p = parts_of(s, ports);
    uint32_t words = s->words, only = weft__bits_only(outputs, words);
    if (only != WEFT__BITS_NONE) { // the usual case if inputs are not busy
        match_one(&p, ports, words, only, requests, ret_input);
        return;
    }
    memset(s->set, 0, 3 * words * sizeof *s->set);
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t rest = outputs[w]; rest; rest &= rest - 1)
            ret_input[w * 64 + (uint32_t)__builtin_ctzll(rest)] = WEFT_ARBITER_NONE;
    for (uint64_t i = 0; i < c->iterations && grant_all(&p, ports, words, outputs, requests); i++)
        accept_all(&p, ports, words, i == 0, ret_input);
}

const struct weft_model weft__arbiter_islip = WEFT_MODEL_OF(
    ARBITER, "islip", "iterated request, grant, accept with rotating pointers",
    "McKeown, IEEE/ACM ToN 1999; BookSim allocators/islip.cpp", &islip_params,
    &(const struct weft_arbiter_ops){.state_size = islip_state_size, .init = islip_init, .match = islip_match});
