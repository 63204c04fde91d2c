// SPDX-License-Identifier: Apache-2.0
#include "sim/check_credit.h"

#include <inttypes.h>

#include "box/network.h"
#include "weft/aqm.h"
#include "weft/buffer.h"
#include "weft/credit.h"
#include "weft/sfc.h"

/// The priorities for which a node's ports grant credit.
static uint8_t granted_priorities(const struct weft_device_conf *device, const struct weft_node_info *node) {
    return weft_credit_grants(weft__credit_of(device, node));
}

/// A frame must have the same priority at both ends of a link: otherwise credit would be taken from one priority and
/// returned to another.
static bool keeps_priorities(const struct weft_switch_conf *sw, const struct weft_host_conf *host, uint8_t priorities) {
    if (sw->trust != WEFT_TRUST_DSCP) return false;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        uint32_t at = sw->dscp_map[host->dscp[p]] & 7u;
        if (at != p && (priorities >> p | priorities >> at) & 1) return false;
    }
    return true;
}

/// Checks that a switch maps the code points of all hosts like the hosts do.
static enum weft_status check_maps(const struct weft_device_conf **device, const struct weft_topology *t, uint32_t n,
                                   uint8_t priorities, struct weft_error *ret_error) {
    const struct weft_device_conf *seen = NULL;
    for (uint32_t h = 0; h < t->hosts; h++) {
        const struct weft_device_conf *host = device[t->host[h]];
        if (host != seen && !keeps_priorities(&device[n]->sw, &host->host, priorities))
            return WEFT_REFUSE(ret_error, weft_device_place(device[n], "switch.dscp_map"),
                               "%s puts frames of %s at another priority than that host, and links go by credit; "
                               "expected switch.trust: dscp, and a dscp_map that leads back to it",
                               t->node[n].name, t->node[t->host[h]].name);
        seen = host;
    }
    return WEFT_OK;
}

/// The most that a node can hold of a priority that arrived at one of its ports.
static weft_bytes holds_most(const struct weft_device_conf *device, const struct weft_topology *t, uint32_t port,
                             weft_rate_bps host_rate, uint32_t priority) {
    const struct weft_node_info *node = &t->node[t->port[port].node];
    if (node->role == WEFT_NODE_HOST) return device->host.drain_rate_bps ? device->host.rx_buffer_bytes : UINT64_MAX;
    const struct weft_link_info *link = &t->link[t->port[port].link];
    const struct weft_buffer_port own = {link->rate_bps, host_rate, link->delay_ps};
    const struct weft_model_conf *buffer = &device->sw.buffer;
    return ((const struct weft_buffer_ops *)buffer->model->ops)
        ->lossy_most(buffer->conf, &own, node->ports, device->sw.pfc.priorities, priority);
}

/// A port must not grant more credit than it has room.
static enum weft_status check_room(const struct weft_device_conf **devices, const struct weft_topology *t, uint32_t n,
                                   uint32_t frame_bytes, weft_rate_bps host_rate, struct weft_error *ret_error) {
    const struct weft_node_info *node = &t->node[n];
    uint8_t grants = granted_priorities(devices[n], node);
    for (uint32_t k = 0; grants && k < node->ports; k++) {
        uint32_t port = node->port0 + k;
        weft_bytes grant = weft__credit_granted(t, devices, frame_bytes, t->port[port].peer);
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
            weft_bytes most = grants >> p & 1 ? holds_most(devices[n], t, port, host_rate, p) : UINT64_MAX;
            if (grant <= most) continue;
            return WEFT_REFUSE(ret_error, weft__credit_of(devices[n], node)->place,
                               "%s grants a link credit of %" PRIu64 "B of priority %u, and its buffer holds %" PRIu64
                               "B of it at most; expected credit.grant up to that, or a larger %s",
                               node->name, grant, p, most,
                               node->role == WEFT_NODE_HOST ? "host.rx_buffer" : "switch.buffer");
        }
    }
    return WEFT_OK;
}

/// `chosen`: a credit model that grants.
static enum weft_status check_node(const struct weft_device_conf **devices, const struct weft_topology *t, uint32_t n,
                                   uint8_t priorities, const struct weft_model_conf *chosen,
                                   struct weft_error *ret_error) {
    const struct weft_node_info *node = &t->node[n];
    const struct weft_device_conf *device = devices[n];
    bool is_host = node->role == WEFT_NODE_HOST;
    if (!is_host && !weft__box_of(node)->takes_routes)
        return WEFT_REFUSE(ret_error, chosen->place,
                           "links go by credit, and %s is not an Ethernet switch; expected credit: none", node->name);
    if ((is_host ? &device->host.pfc : &device->sw.pfc)->priorities & priorities)
        return WEFT_REFUSE(ret_error,
                           weft_device_place(device, is_host ? "host.pfc.priorities" : "switch.pfc.priorities"),
                           "%s has PFC at a priority that goes by credit; expected pfc.priorities without it, or "
                           "none",
                           node->name);
    if (device->dcbx.enabled)
        return WEFT_REFUSE(ret_error, weft_device_place(device, "dcbx.enabled"),
                           "%s speaks DCBX, and links go by credit; expected dcbx.enabled: false", node->name);
    if (is_host) return WEFT_OK;
    if (((const struct weft_aqm_ops *)device->sw.aqm.model->ops)->trim)
        return WEFT_REFUSE(ret_error, device->sw.aqm.place,
                           "%s trims packets, which changes what they take, and links go by credit; expected another "
                           "switch.aqm",
                           node->name);
    if (((const struct weft_sfc_ops *)device->sw.sfc.model->ops)->watch(device->sw.sfc.conf) != UINT64_MAX)
        return WEFT_REFUSE(ret_error, device->sw.sfc.place,
                           "%s makes source flow control messages, and links go by credit; expected sfc: none",
                           node->name);
    return check_maps(devices, t, n, priorities, ret_error);
}

enum weft_status weft__check_credit(const struct weft_scenario *scenario, const struct weft_topology *t,
                                    struct weft_error *ret_error) {
    uint8_t priorities = 0;
    const struct weft_model_conf *chosen = NULL;
    for (uint32_t d = 0; d < scenario->devices; d++) {
        static const struct weft_node_info role[] = {{.role = WEFT_NODE_HOST}, {.role = WEFT_NODE_SWITCH}};
        for (uint32_t k = 0; k < 2; k++) {
            uint8_t grants = granted_priorities(&scenario->device[d], &role[k]);
            if (grants && !chosen) chosen = weft__credit_of(&scenario->device[d], &role[k]);
            priorities |= grants;
        }
    }
    if (!priorities) return WEFT_OK;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    const struct weft_device_conf **device = weft_device_confs(scenario, t, arena);
    enum weft_status status = WEFT_OK;
    weft_rate_bps host_rate = weft__host_rate_least(t);
    uint32_t frame_bytes = weft__frame_bytes_max(scenario, t);
    for (uint32_t n = 0; n < t->nodes && !status; n++) {
        status = check_node(device, t, n, priorities, chosen, ret_error);
        if (!status) status = check_room(device, t, n, frame_bytes, host_rate, ret_error);
    }
    return status;
}
