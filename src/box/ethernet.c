// SPDX-License-Identifier: Apache-2.0
// What the Ethernet ports of all boxes but NICs have in common.
#include "box/box.h"
#include "weft/buffer.h"

weft_time_ps weft__frame_least_ps(const struct weft_topology *t, uint32_t port) {
    return (WEFT__PREAMBLE + WEFT_FRAME_MIN) * 8 * WEFT_PS_PER_S / t->link[t->port[port].link].rate_bps;
}

weft_time_ps weft__pause_reaction(const struct weft_pfc_conf *pfc, const struct weft_topology *t, uint32_t port) {
    const struct weft_link_info *link = &t->link[t->port[port].link];
    return weft_pfc_calc_reaction(pfc->reaction_ps, link->rate_bps / link->members);
}

struct weft__box_reaction weft__ethernet_reaction(const struct weft_device_conf *conf, const struct weft_topology *t,
                                                  uint32_t port) {
    return (struct weft__box_reaction){
        .processing_ps = conf->sw.processing_ps,
        .pause_ps = weft__pause_reaction(&conf->sw.pfc, t, port),
        .cut_through = conf->sw.forwarding == WEFT_CUT_THROUGH,
        .frame_least_ps = weft__frame_least_ps(t, port),
    };
}

const struct weft_pfc_conf *weft__ethernet_pfc(const struct weft_device_conf *conf) {
    return &conf->sw.pfc;
}

enum weft_status weft__ethernet_check(const struct weft__plan *plan, uint32_t node, struct weft_error *ret_error) {
    const struct weft_topology *t = plan->topology;
    const struct weft_switch_conf *conf = &plan->device[node]->sw;
    const struct weft_buffer_ops *buffer = conf->buffer.model->ops;
    uint32_t ports = 0;
    char text[512];
    for (uint32_t k = 0; k < t->node[node].ports; k++)
        ports += !weft_topology_link_is_fabric(t, weft_topology_port(t, node, k)->link);
    if (!ports) return WEFT_OK; // cells only
    if (buffer->by_output && t->node[node].box != WEFT_BOX_ETHERNET_SWITCH)
        return weft_error_set(
            ret_error, WEFT_ERROR_INPUT, conf->buffer.place,
            "switch.buffer of %s: %s counts at the queues of outputs, and these ports have only inputs",
            t->node[node].name, conf->buffer.model->name);
    const char *wrong =
        buffer->fit(conf->buffer.conf, ports, conf->pfc.priorities, plan->frame_bytes, text, sizeof text);
    if (!wrong) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, conf->buffer.place, "switch.buffer of %s: %s",
                          t->node[node].name, wrong);
}
