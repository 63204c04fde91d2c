// SPDX-License-Identifier: Apache-2.0
// A buffer at each output, as in the simple output-queued switch of IEEE 802.1Q: a priority's queue counts what all
// inputs have sent to it. Inputs that send to a queue above XOFF are paused, so one queue pauses many inputs. "SFC
// simulation" (Chen, Congdon, Lv, Sivakolundu; IEEE P802.1Qdw), backup slides, has it besides buffers counted at the
// input (`static`).
//
// An input resumes when every queue that paused it is at or below XON, or holds none of its packets any more. The
// source does not say who has the headroom: here each input has its own, as in `pool` (assumed).
#include "buffer/cells.h"
#include "buffer/shared.h"
#include "weft/param.h"

static const struct weft_param_table egress_params = WEFT_PARAM_TABLE_OF(
    "egress", struct weft__shared_conf, .check = weft__shared_conf_check,
    WEFT_BYTES(struct weft__shared_conf, size_bytes, "size", "900KB", "64B", "1TB",
               "buffer per output and priority (assumed)"),
    WEFT_BYTES(struct weft__shared_conf, xoff_bytes, "xoff", "760KB", "0B", "1TB",
               "pause the inputs that send to a queue above this many bytes (assumed)"),
    WEFT_BYTES(struct weft__shared_conf, xon_bytes, "xon", "740KB", "0B", "1TB",
               "resume an input when the queue is at or below this many bytes, or holds none of the input's (assumed)"),
    WEFT_BYTES(struct weft__shared_conf, headroom_bytes, "headroom", "0B", "0B", "1TB",
               "for data that an input sends after the pause; 0B: size - xoff"),
    WEFT__BUFFER_CELL(struct weft__shared_conf));

static void egress_plan(const void *conf, uint32_t ports, uint8_t lossless_mask, struct weft_buffer_plan *ret_plan) {
    weft__shared_plan(conf, lossless_mask, "an output's queue", ret_plan);
}

static size_t egress_state_size(const void *conf, uint32_t ports) {
    return weft__shared_state_size(ports, ports);
}

static void egress_init(void *state, const void *conf, uint32_t ports, uint8_t lossless_mask) {
    weft__shared_init(state, ports, ports, lossless_mask);
}

static enum weft_buffer_answer egress_admit(void *state, const void *conf, uint32_t port, uint32_t out,
                                            uint32_t priority, uint32_t bytes) {
    return weft__shared_admit(state, conf, port, out, priority, bytes);
}

static enum weft_buffer_answer egress_release(void *state, const void *conf, uint32_t port, uint32_t out,
                                              uint32_t priority, uint32_t bytes) {
    return weft__shared_release(state, conf, port, out, priority, bytes);
}

static weft_bytes egress_room(const void *state, const void *conf, uint32_t port, uint32_t out, uint32_t priority) {
    return weft__shared_room(state, conf, port, out, priority);
}

const struct weft_model weft__buffer_egress = WEFT_MODEL_OF(
    BUFFER, "egress",
    "a buffer for every output and priority that all inputs fill together, with headroom for each input",
    "IEEE P802.1Qdw, \"SFC simulation\" (Chen, Congdon, Lv, Sivakolundu), backup slides: output queues", &egress_params,
    &(const struct weft_buffer_ops){
        .by_output = true,
        .fit = weft__shared_fit,
        .plan = egress_plan,
        .lossy_most = weft__shared_lossy_most,
        .state_size = egress_state_size,
        .init = egress_init,
        .admit = egress_admit,
        .release = egress_release,
        .prefetch = weft__shared_prefetch,
        .review = weft__shared_review,
        .set_lossless = weft__shared_set_lossless,
        .level = weft__shared_level,
        .room = egress_room,
        .level_max = weft__shared_level_max,
        .check = weft__shared_check,
        .fingerprint = weft__shared_fingerprint,
    });
