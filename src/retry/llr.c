// SPDX-License-Identifier: Apache-2.0
// Link-level retry of Ultra Ethernet: the two ends of a link number its frames. The receiver answers a frame with a bad
// FCS with a NACK, discards what follows, and the sender goes back to that frame: it sends it and all later ones again,
// in order, from its replay buffer.
//
//   from the last bit of the destroyed frame to the first bit of its retransmission: 2 delay + reaction
//   expected time that a frame takes: T + (T - gap + 2 delay + reaction) p / (1 - p), p = 1 - (1 - BER)^bits
//   replay buffer: what the link sends in T + 2 delay + reaction
//
// What is sent until the NACK arrives is useless and is retransmitted after the destroyed frame. The model does not
// send it in the first place: it waits in the egress queue rather than in the replay buffer, and arrives at the same
// time. A frame of a higher priority that arrives in this time overtakes it here, but would not on a real link.
//
// Assumed: numbers travel in the preamble and take no bytes; ACKs and NACKs take none of the reverse direction's time
// and are never destroyed themselves; the replay buffer has room for a round trip; a corrupt frame is detected at once,
// so no timeout is needed; after `tries` failures with one frame the link gives that frame up.
#include "weft/param.h"
#include "weft/retry.h"

struct llr_conf {
    weft_time_ps reaction_ps;
    uint64_t tries;
};

static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "llr", struct llr_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TIME(struct llr_conf, reaction_ps, "reaction", "100ns", "0ns", "1ms",
              "time from the last bit of a destroyed frame to its NACK, plus from the NACK to the next try (assumed)"),
    WEFT_UINT(struct llr_conf, tries, "tries", "8", "1", "1000",
              "a frame destroyed this many times in a row is lost (assumed)"));

static weft_time_ps llr_wait(const void *conf, const struct weft_retry_fact *fact) {
    const struct llr_conf *c = conf;
    return fact->tries < c->tries ? 2 * fact->link_delay_ps + c->reaction_ps : WEFT_TIME_NEVER;
}

const struct weft_model weft__retry_llr =
    WEFT_MODEL_OF(RETRY, "llr", "the link sends frames with bit errors again, in order",
                  "Ultra Ethernet Specification 1.0 (2025), link layer: Link Level Retry; its timers are not modelled",
                  &params, &(const struct weft_retry_ops){.wait = llr_wait, .replays = true});
