// SPDX-License-Identifier: Apache-2.0
// What the Ethernet ports of all boxes but NICs share.
#include "box/box.h"
#include "weft/aqm.h"
#include "weft/buffer.h"
#include "weft/sfc.h"

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

static bool buffer_by_port(const struct weft_switch_conf *conf) {
    const struct weft_buffer_ops *buffer = conf->buffer.model->ops;
    return buffer->by_port && buffer->by_port(conf->buffer.conf);
}

static bool aqm_by_port(const struct weft_switch_conf *conf) {
    const struct weft_aqm_ops *aqm = conf->aqm.model->ops;
    return aqm->by_port && aqm->by_port(conf->aqm.conf);
}

weft_rate_bps weft__host_rate_least(const struct weft_topology *t) {
    weft_rate_bps least = UINT64_MAX;
    for (uint32_t h = 0; h < t->hosts; h++) {
        weft_rate_bps rate = t->link[weft_topology_port(t, t->host[h], 0)->link].rate_bps;
        if (rate < least) least = rate;
    }
    return least;
}

const struct weft_buffer_port *weft__ethernet_links(const struct weft_switch_conf *conf, const struct weft_topology *t,
                                                    uint32_t node, weft_rate_bps host_rate, struct weft_arena *arena) {
    if (!buffer_by_port(conf) && !aqm_by_port(conf)) return NULL;
    struct weft_buffer_port *port = weft_arena_alloc(arena, t->node[node].ports, sizeof *port);
    for (uint32_t k = 0; k < t->node[node].ports; k++) {
        const struct weft_link_info *link = &t->link[weft_topology_port(t, node, k)->link];
        port[k] = (struct weft_buffer_port){link->rate_bps, host_rate, link->delay_ps};
    }
    return port;
}

/// A buffer that depends on its ports' links must belong to an Ethernet switch, and the links must fit.
static const char *check_links(const struct weft__plan *plan, uint32_t node, const struct weft_switch_conf *conf,
                               char *text, size_t size) {
    const struct weft_buffer_ops *buffer = conf->buffer.model->ops;
    if (!buffer_by_port(conf)) return NULL;
    const struct weft_node_info *info = &plan->topology->node[node];
    if (!weft__box_of(info)->takes_routes) return "it goes by the links of ports, which Ethernet switches alone do";
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    const struct weft_buffer_port *port = weft__ethernet_links(conf, plan->topology, node, plan->host_rate_bps, arena);
    return buffer->fit_ports(conf->buffer.conf, port, info->ports, conf->pfc.priorities, text, size);
}

/// Whether source flow control takes each queue to hold packets of one input.
static bool divides_threshold(const struct weft_model_conf *sfc) {
    const struct weft_sfc_ops *ops = sfc->model->ops;
    return ops->fixed && ops->watch(sfc->conf) < ((const struct weft_sfc_conf *)sfc->conf)->threshold_bytes;
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
        return WEFT_REFUSE(ret_error, conf->buffer.place,
                           "switch.buffer of %s: %s counts at the queues of outputs, and these ports have only inputs",
                           t->node[node].name, conf->buffer.model->name);
    if (aqm_by_port(conf) && !weft__box_of(&t->node[node])->takes_routes)
        return WEFT_REFUSE(ret_error, conf->aqm.place,
                           "switch.aqm of %s: by_rate is of ports of Ethernet switches, and this is none",
                           t->node[node].name);
    if (divides_threshold(&conf->sfc) && strcmp(conf->queueing.model->name, "voq") != 0)
        return WEFT_REFUSE(ret_error, conf->sfc.place,
                           "switch.sfc of %s: inputs: queues of %s hold packets of all inputs or outputs; expected "
                           "inputs: 1, or queueing: voq",
                           t->node[node].name, conf->queueing.model->name);
    const char *wrong =
        buffer->fit(conf->buffer.conf, ports, conf->pfc.priorities, plan->frame_bytes, text, sizeof text);
    if (!wrong) wrong = check_links(plan, node, conf, text, sizeof text);
    if (!wrong) return WEFT_OK;
    return WEFT_REFUSE(ret_error, conf->buffer.place, "switch.buffer of %s: %s", t->node[node].name, wrong);
}
