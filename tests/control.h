// SPDX-License-Identifier: Apache-2.0
// A congestion control driven by hand, one fact after the other.
#pragma once

#include "models.h"
#include "weft/cc.h"

struct control {
    const struct weft_cc_ops *ops;
    void *conf, *state;
    struct weft_cc_fact fact; ///< of the last call
    struct weft_cc_act act;   ///< in force
};

static inline struct control control_new(const char *name, const char *yaml, weft_rate_bps line, uint32_t packet) {
    const struct weft_model *model = model_of(WEFT_KIND_CC, name);
    struct control c = {.ops = model->ops, .conf = conf_of(model, yaml)};
    c.fact = (struct weft_cc_fact){.line_rate_bps = line, .packet_bytes = packet};
    c.state = calloc(1, c.ops->state_size(c.conf));
    c.ops->on_start(c.state, c.conf, &c.fact, &c.act);
    return c;
}

static inline void control_free(struct control *c) {
    free(c->conf);
    free(c->state);
}

/// rtt 0: none was measured.
static inline void control_ack(struct control *c, weft_time_ps now, uint32_t bytes, weft_time_ps rtt) {
    c->fact.now_ps = now;
    c->fact.bytes = bytes;
    c->fact.rtt_ps = rtt;
    c->act.new_path = false;
    c->ops->on_ack(c->state, c->conf, &c->fact, &c->act);
    assert_null(c->ops->check(c->state, c->conf, &c->act));
}

static inline void control_lose(struct control *c, weft_time_ps now, uint32_t timeouts) {
    c->fact.now_ps = now;
    c->fact.timeouts = timeouts;
    c->act.new_path = false;
    c->ops->on_loss(c->state, c->conf, &c->fact, &c->act);
}
