// SPDX-License-Identifier: Apache-2.0
// A switch's configuration, as reported by its models.
#include "plan/plan.h"
#include "weft/buffer.h"
#include "weft/sfc.h"

static void fill_sfc(const struct weft_model_conf *sfc, struct weft__plan_switch *s) {
    const struct weft_sfc_conf *conf = sfc->conf;
    s->sfc = ((const struct weft_sfc_ops *)sfc->model->ops)->fixed;
    if (!s->sfc) return;
    s->sfc_threshold_bytes = conf->threshold_bytes;
    s->sfc_pause_ps = conf->pause_ps;
    s->sfc_interval_ps = conf->interval_ps;
}

uint32_t weft__plan_ports(const struct weft_topology *t, uint32_t node) {
    uint32_t ports = 0;
    for (uint32_t k = 0; k < t->node[node].ports; k++)
        ports += !weft_topology_link_is_fabric(t, weft_topology_port(t, node, k)->link);
    return ports;
}

struct weft__plan_switch weft__plan_switch(const struct weft_switch_conf *sw, uint32_t ports,
                                           struct weft_arena *arena) {
    struct weft_buffer_plan plan;
    ((const struct weft_buffer_ops *)sw->buffer.model->ops)->plan(sw->buffer.conf, ports, sw->pfc.priorities, &plan);
    struct weft__plan_switch s = {
        .buffer_bytes = plan.xoff_bytes + plan.headroom_bytes,
        .pfc_threshold_bytes = plan.xoff_bytes,
        .headroom_bytes = plan.headroom_bytes,
        .cell_bytes = plan.cell_bytes,
        .buffer_text = weft_arena_text(arena, plan.text),
        .headroom_text = weft_arena_text(arena, plan.headroom_text),
    };
    fill_sfc(&sw->sfc, &s);
    return s;
}

uint32_t weft_plan_warnings(uint32_t mask, const char *const *name, const char **ret_warning) {
    uint32_t n = 0;
    for (uint32_t bit = 0; mask >> bit; bit++)
        if (mask >> bit & 1) ret_warning[n++] = name[bit];
    return n;
}
