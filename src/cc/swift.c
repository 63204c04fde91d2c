// SPDX-License-Identifier: Apache-2.0
// Swift: G. Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM
// 2020, sections 3.1 to 3.5; where it states nothing, as in Broadcom's csg-htsim (sim/swift.cpp). Its rules are those
// of cc/delay_window.h.
// Differences: the delay is that of the whole round trip between NICs, without a second window for delay at the
// endpoint; a NIC samples one round trip at a time, so ACKs without their own sample use the last delay; the number of
// hops is a parameter, because packets carry none; windows of one packet and above are not paced.
#include "cc/delay_window.h"
#include "weft/param.h"

struct swift_conf {
    struct weft__delay_conf window;
};

static const char *swift_conf_check(const void *conf, char *text, size_t size) {
    return weft__delay_conf_check(&((const struct swift_conf *)conf)->window, text, size);
}
static const struct weft_param_table swift_params = WEFT_PARAM_TABLE_OF(
    "swift", struct swift_conf, .check = swift_conf_check, WEFT_DELAY_ROWS(struct swift_conf, window));

static size_t swift_state_size(const void *conf) {
    return sizeof(struct weft__delay_window);
}

static const struct weft__delay_conf *window_of(const void *conf) {
    return &((const struct swift_conf *)conf)->window;
}

static void swift_start(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    weft__delay_start(state, window_of(conf), fact, act);
}

static void swift_ack(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    weft__delay_ack(state, window_of(conf), fact, act);
}

static void swift_loss(void *state, const void *conf, const struct weft_cc_fact *fact, struct weft_cc_act *act) {
    weft__delay_loss(state, window_of(conf), fact, act);
}

static const char *swift_check(const void *state, const void *conf, const struct weft_cc_act *act) {
    return weft__delay_check(state, window_of(conf), act);
}

/// While nothing queues, the window grows from the first one.
static void swift_estimate(const void *conf, const struct weft_cc_path *path, struct weft_cc_estimate *estimate) {
    const struct weft__delay_conf *c = window_of(conf);
    estimate->first_bytes = (weft_bytes)(c->initial_cwnd * path->packet_bytes);
    estimate->step_bytes = (weft_bytes)(c->ai * path->packet_bytes);
    estimate->window_bytes = (weft_bytes)(c->max_cwnd * path->packet_bytes);
}

const struct weft_model weft__cc_swift =
    WEFT_MODEL_OF(CC, "swift", "a window that holds the round trip at a target delay; below one packet it is paced",
                  "Kumar et al., Swift, SIGCOMM 2020; csg-htsim sim/swift.cpp for what it leaves open", &swift_params,
                  &(const struct weft_cc_ops){
                      .state_size = swift_state_size,
                      .on_start = swift_start,
                      .on_ack = swift_ack,
                      .on_loss = swift_loss,
                      .check = swift_check,
                      .estimate = swift_estimate,
                  });
