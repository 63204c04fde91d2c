// SPDX-License-Identifier: Apache-2.0
// One buffer per priority for all ports of a switch: frames that many inputs send to one output fill it together, and
// any input that sends when it is full is paused. This is how "SFC simulation" (Chen, Congdon, Lv, Sivakolundu; IEEE
// P802.1Qdw) computes: the room between the threshold of source flow control and that of PFC takes the excess of all
// inputs.
//
// Each port has its own headroom, as the source computes it for one link; with one headroom for all, packets would be
// lost.
#include "buffer/cells.h"
#include "buffer/shared.h"
#include "weft/param.h"

static const struct weft_param_table pool_params = WEFT_PARAM_TABLE_OF(
    "pool", struct weft__shared_conf, .check = weft__shared_conf_check,
    WEFT_BYTES(struct weft__shared_conf, size_bytes, "size", "900KB", "64B", "1TB", "buffer per priority (assumed)"),
    WEFT_BYTES(struct weft__shared_conf, xoff_bytes, "xoff", "760KB", "0B", "1TB",
               "pause every sender while all ports together hold more than this (assumed)"),
    WEFT_BYTES(struct weft__shared_conf, xon_bytes, "xon", "740KB", "0B", "1TB",
               "resume at or below this many bytes, or when a sender has none left here (assumed)"),
    WEFT_BYTES(struct weft__shared_conf, headroom_bytes, "headroom", "0B", "0B", "1TB",
               "for data that a port sends after the pause; 0B: size - xoff"),
    WEFT__BUFFER_CELL(struct weft__shared_conf));

static void pool_plan(const void *conf, uint32_t ports, uint8_t lossless_mask, struct weft_buffer_plan *ret_plan) {
    weft__shared_plan(conf, lossless_mask, "the pool of all ports", ret_plan);
}

static size_t pool_state_size(const void *conf, uint32_t ports) {
    return weft__shared_state_size(ports, 1);
}

static void pool_init(void *state, const void *conf, uint32_t ports, uint8_t lossless_mask) {
    weft__shared_init(state, ports, 1, lossless_mask);
}

static enum weft_buffer_answer pool_admit(void *state, const void *conf, uint32_t port, uint32_t out, uint32_t priority,
                                          uint32_t bytes) {
    return weft__shared_admit(state, conf, port, 0, priority, bytes);
}

static enum weft_buffer_answer pool_release(void *state, const void *conf, uint32_t port, uint32_t out,
                                            uint32_t priority, uint32_t bytes) {
    return weft__shared_release(state, conf, port, 0, priority, bytes);
}

static weft_bytes pool_room(const void *state, const void *conf, uint32_t port, uint32_t out, uint32_t priority) {
    return weft__shared_room(state, conf, port, 0, priority);
}

const struct weft_model weft__buffer_pool =
    WEFT_MODEL_OF(BUFFER, "pool", "one buffer for all ports of a switch, with headroom for each",
                  "the arithmetic of IEEE P802.1Qdw, \"SFC simulation\" (Chen, Congdon, Lv, Sivakolundu)", &pool_params,
                  &(const struct weft_buffer_ops){
                      .fit = weft__shared_fit,
                      .plan = pool_plan,
                      .lossy_most = weft__shared_lossy_most,
                      .state_size = pool_state_size,
                      .init = pool_init,
                      .admit = pool_admit,
                      .release = pool_release,
                      .prefetch = weft__shared_prefetch,
                      .review = weft__shared_review,
                      .set_lossless = weft__shared_set_lossless,
                      .level = weft__shared_level,
                      .room = pool_room,
                      .level_max = weft__shared_level_max,
                      .check = weft__shared_check,
                      .fingerprint = weft__shared_fingerprint,
                  });
