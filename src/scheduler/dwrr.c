// SPDX-License-Identifier: Apache-2.0
// Deficit weighted round robin, with strict priorities above it: M. Shreedhar and G. Varghese, "Efficient fair queueing
// using deficit round robin", SIGCOMM 1995; IEEE 802.1Q clause 8.6.8.3 (ETS) asks for such shares.
// Difference from the paper: a turn ends when its credit is used up rather than before a packet that would not fit
// (surplus round robin, S. Floyd and V. Jacobson 1995, appendix), because the length of the next packet is not known
// here. A turn overdraws by less than one packet and pays for it in its next; shares over many rounds are exact.
#include "weft/param.h"
#include "weft/scheduler.h"

struct dwrr_conf {
    uint64_t weight[WEFT_PRIORITIES];
    weft_bytes quantum_bytes;
    uint8_t strict;
};

static const struct weft_param_table dwrr_params = WEFT_PARAM_TABLE_OF(
    "dwrr", struct dwrr_conf, WEFT_PARAM_UNCHECKED,
    WEFT_WEIGHTS(struct dwrr_conf, weight, "weights", "1", "1", "1000", "share of each priority, 0 to 7"),
    WEFT_BYTES(struct dwrr_conf, quantum_bytes, "quantum", "4096B", "64B", "1MB",
               "bytes per turn for weight 1 (assumed)"),
    WEFT_PRIORITY_SET(struct dwrr_conf, strict, "strict", "none",
                      "priorities served before all weighted ones, highest first"));

/// The credit of a turn: at most 10^9, so that credits fit 32 bits.
static int32_t calc_quantum(const struct dwrr_conf *c, uint32_t priority) {
    return (int32_t)(c->weight[priority] * c->quantum_bytes);
}

static uint32_t dwrr_pick(struct weft_scheduler_state *state, const void *conf, uint8_t mask) {
    const struct dwrr_conf *c = conf;
    uint32_t strict = mask & c->strict;
    if (strict) return 31u - (uint32_t)__builtin_clz(strict);
    uint32_t p = state->turn;
    while (!(mask >> p & 1) || state->credit[p] <= 0) {
        // An unused turn is lost, and an overdraft is repaid only as turns pass.
        if (state->credit[p] > 0) state->credit[p] = 0;
        p = (p + 1) % WEFT_PRIORITIES;
        state->credit[p] += calc_quantum(c, p);
    }
    state->turn = (uint8_t)p;
    return p;
}

static void dwrr_on_sent(struct weft_scheduler_state *state, const void *conf, uint32_t priority, uint32_t bytes) {
    const struct dwrr_conf *c = conf;
    if (!(c->strict >> priority & 1)) state->credit[priority] -= (int32_t)bytes;
}

static void dwrr_weights(const void *conf, uint64_t ret_weight[WEFT_PRIORITIES]) {
    const struct dwrr_conf *c = conf;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        ret_weight[p] = c->strict >> p & 1 ? 0 : c->weight[p];
}

const struct weft_model weft__scheduler_dwrr = WEFT_MODEL_OF(
    SCHEDULER, "dwrr", "bytes in proportion to weights, optionally below strict priorities",
    "Shreedhar and Varghese, SIGCOMM 1995, with a surplus instead of a deficit; IEEE 802.1Q clause 8.6.8.3",
    &dwrr_params,
    &(const struct weft_scheduler_ops){.pick = dwrr_pick, .on_sent = dwrr_on_sent, .weights = dwrr_weights});
