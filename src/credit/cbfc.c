// SPDX-License-Identifier: Apache-2.0
// Credit-based flow control of a link, as in Ultra Ethernet: for each of its priorities the receiver of a link reserves
// room, and the sender sends a frame only with credit for one of the largest size. With n frames of credit
//
//   rate <= n frames / loop         loop: a frame, the link, the receiver's processing, a message, the link, a reaction
//   full rate: n = floor(loop / frame time) + 1, for the shortest frames that use as many units as the largest one
//
// and the receiver's buffer never holds more than the credit: a buffer as large as the credit loses nothing, whatever
// happens downstream. Credit for more than the buffer accepts from one link is refused; whether it can hold that of all
// links together is not checked. PFC needs headroom for a loop above its pause threshold; credit is only that headroom.
//
// Assumed: messages take no time of the reverse direction (in Ultra Ethernet they are control ordered sets), take as
// long as a pause frame on an idle line and are never lost; one is sent per frame; frames lost on the link return their
// credit at once (in Ultra Ethernet the sender's count of sent data is compared periodically).
#include "weft/credit.h"
#include "weft/packet.h"
#include "weft/param.h"

struct cbfc_conf {
    uint8_t priorities;
    weft_bytes grant_bytes;
    uint64_t unit;
};

static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "cbfc", struct cbfc_conf, WEFT_PARAM_UNCHECKED,
    WEFT_PRIORITY_SET(struct cbfc_conf, priorities, "priorities", "3", "priorities that need credit (assumed)"),
    WEFT_BYTES(struct cbfc_conf, grant_bytes, "grant", "0B", "0B", "1GB",
               "credit per priority, at least a frame; 0B: enough for full rate over the link's cable"),
    WEFT_UINT(struct cbfc_conf, unit, "unit", "256", "1", "9216",
              "bytes per credit; a frame takes whole credits (assumed)"));

static uint8_t cbfc_priorities(const void *conf) {
    return ((const struct cbfc_conf *)conf)->priorities;
}

static uint32_t cbfc_unit(const void *conf) {
    return (uint32_t)((const struct cbfc_conf *)conf)->unit;
}

static weft_bytes cbfc_grant(const void *conf, const struct weft_credit_fact *fact) {
    const struct cbfc_conf *c = conf;
    weft_bytes frame = weft_credit_take((uint32_t)c->unit, fact->frame_bytes);
    if (c->grant_bytes) return c->grant_bytes > frame ? c->grant_bytes : frame;
    weft_bytes shortest = frame - c->unit + 1; // of those that use as many units as the largest
    return (fact->loop_ps / weft_time_of_bytes(shortest + WEFT_WIRE_OVERHEAD, fact->rate_bps) + 1) * frame;
}

const struct weft_model weft__credit_cbfc = WEFT_MODEL_OF(
    CREDIT, "cbfc", "the receiver of a link grants credit for the room it has",
    "Ultra Ethernet Specification 1.0 (2025), link layer: credit-based flow control; H. T. Kung, R. Morris, "
    "\"Credit-based flow control for ATM networks\", IEEE Network 9(2), 1995, for rate and credit",
    &params, &(const struct weft_credit_ops){.priorities = cbfc_priorities, .unit = cbfc_unit, .grant = cbfc_grant});
