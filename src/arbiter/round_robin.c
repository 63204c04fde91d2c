// SPDX-License-Identifier: Apache-2.0
// A greedy maximal matching with rotating priorities, an arbiter that is cheap to build: outputs take turns at being
// first (as in a wavefront that starts one position further each time, Y. Tamir and H. Chi, "Symmetric crossbar
// arbiters for VLSI communication switches", IEEE TPDS 1993), and each takes the next free requesting input after the
// one it had last. Differs from a wavefront arbiter: outputs are served one after the other, not by diagonals.
#include <string.h>

#include "base/bits.h"
#include "weft/arbiter.h"

struct round_robin_state {
    uint32_t first; ///< the output that chooses first next time
    uint32_t words;
    uint64_t set[]; ///< taken inputs [words], none [words] = the empty set, then uint16_t next input of each output
};

static uint16_t *next_of(struct round_robin_state *s) {
    return (uint16_t *)(s->set + 2 * s->words);
}

static size_t round_robin_state_size(const void *conf, uint32_t ports) {
    return sizeof(struct round_robin_state) + 2 * sizeof(uint64_t) * weft__bits_words(ports) + sizeof(uint16_t) * ports;
}

static void round_robin_init(void *state, const void *conf, uint32_t ports) {
    memset(state, 0, round_robin_state_size(conf, ports));
    ((struct round_robin_state *)state)->words = weft__bits_words(ports);
}

static void round_robin_match(void *state, const void *conf, uint32_t ports, const uint64_t *outputs,
                              const uint64_t *requests, uint16_t *ret_input) {
    struct round_robin_state *s = state;
    uint32_t words = s->words;
    uint64_t *taken = s->set, *none = s->set + words;
    uint16_t *next = next_of(s);
    memset(taken, 0, words * sizeof *taken);
    uint32_t start = weft__bits_next_without(outputs, none, words, s->first);
    if (start == WEFT__BITS_NONE) return;
    uint32_t out = start;
    bool others = false;
    do {
        const uint64_t *row = requests + (size_t)out * words;
        uint32_t in = weft__bits_next_without(row, taken, words, next[out]);
        ret_input[out] = in == WEFT__BITS_NONE ? WEFT_ARBITER_NONE : (uint16_t)in;
        if (in != WEFT__BITS_NONE) {
            weft__bits_set(taken, in);
            next[out] = (uint16_t)(in + 1 == ports ? 0 : in + 1);
        }
        out = weft__bits_next_without(outputs, none, words, out + 1 == ports ? 0 : out + 1);
        others |= out != start;
    } while (out != start);
    if (others) s->first = start + 1 == ports ? 0 : start + 1; // a single requester takes no turn
}

const struct weft_model weft__arbiter_round_robin = WEFT_MODEL_OF(
    ARBITER, "round_robin", "greedy maximal matching, outputs and inputs in rotating order",
    "after Tamir and Chi, IEEE TPDS 1993, with outputs in sequence instead of by diagonals", &weft_no_params,
    &(const struct weft_arbiter_ops){
        .state_size = round_robin_state_size, .init = round_robin_init, .match = round_robin_match});
