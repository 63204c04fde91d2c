// SPDX-License-Identifier: Apache-2.0
#include "sim/run.h"

#include "transport/frames.h"

bool weft__has_own_frames(const struct weft_device_conf *conf, const struct weft_node_info *node) {
    return node->role == WEFT_NODE_HOST ? weft_host_has_own_frames(&conf->host)
                                        : !weft_wire_is_standard(&conf->sw.wire);
}

static const struct weft_transport_frames *frames_of(const struct weft_host_conf *host) {
    return weft__transport_frames(host->transport.model->ops);
}

/// The host's format where its sizes are not RoCE's; NULL otherwise. `ret_n`: how many hosts have one.
static const struct weft_transport_frames *find_format(const struct weft_scenario *scenario,
                                                       const struct weft_topology *t, uint32_t *ret_n) {
    const struct weft_transport_frames *found = NULL;
    *ret_n = 0;
    for (uint32_t h = 0; h < t->hosts; h++) {
        const struct weft_transport_frames *format =
            frames_of(&weft_scenario_device(scenario, t->node[t->host[h]].name)->host);
        if (!format->data_bytes || (found && found != format)) continue;
        found = format;
        ++*ret_n;
    }
    return found;
}

static bool is_standard(const struct weft_scenario *scenario, const struct weft_topology *t) {
    bool all = true;
    for (uint32_t n = 0; n < t->nodes && all; n++) {
        const struct weft_device_conf *conf = weft_scenario_device(scenario, t->node[n].name);
        all = weft_wire_is_standard(t->node[n].role == WEFT_NODE_HOST ? &conf->host.wire : &conf->sw.wire);
    }
    return all;
}

/// `own`: frames have sizes or a wire of their own.
static enum weft_status check_capture(const struct weft_scenario *scenario, const struct weft_topology *t, bool own,
                                      struct weft_error *ret_error) {
    uint32_t n;
    const struct weft_transport_frames *format = find_format(scenario, t, &n);
    if (!format && !own) return WEFT_OK;
    if (!format || !is_standard(scenario, t))
        return WEFT_REFUSE(ret_error, scenario->capture_place,
                           "capture: frames have sizes or a wire of their own, which no capture can show; "
                           "expected those of RoCE and IEEE 802.3");
    if (n < t->hosts)
        return WEFT_REFUSE(ret_error, scenario->capture_place, "capture: %u of %u hosts send %s; expected all, or none",
                           n, t->hosts, format->name);
    for (uint32_t h = 0; h < t->hosts; h++) {
        const struct weft_node_info *node = &t->node[t->host[h]];
        const struct weft_host_conf *host = &weft_scenario_device(scenario, node->name)->host;
        if (host->data_header_bytes == format->data_bytes && host->ack_bytes == format->ack_bytes) continue;
        return WEFT_REFUSE(ret_error, scenario->capture_place,
                           "capture: host.data_header of %s is %lluB and ack_frame %lluB, and headers of %s take %u "
                           "and %u bytes; expected data_header: %uB, ack_frame: %uB",
                           node->name, (unsigned long long)host->data_header_bytes, (unsigned long long)host->ack_bytes,
                           format->name, format->data_bytes, format->ack_bytes, format->data_bytes, format->ack_bytes);
    }
    return WEFT_OK;
}

/// The box at either end of a link. Cells, and a cut-through switch, need the wire of IEEE 802.3.
static enum weft_status check_node(const struct weft_node_info *node, const struct weft_device_conf *conf,
                                   struct weft_error *ret_error) {
    if (node->role == WEFT_NODE_HOST) return WEFT_OK;
    if (!weft__box_of(node)->takes_routes)
        return WEFT_REFUSE(ret_error, weft_device_place(conf, "switch"),
                           "%s is not an Ethernet switch, and frames have sizes or a wire of their own; expected those "
                           "of RoCE and IEEE 802.3",
                           node->name);
    if (conf->sw.forwarding == WEFT_CUT_THROUGH)
        return WEFT_REFUSE(ret_error, weft_device_place(conf, "switch.forwarding"),
                           "switch.forwarding of %s: cut_through, and frames have sizes or a wire of their own; "
                           "expected store_and_forward",
                           node->name);
    return WEFT_OK;
}

static enum weft_status check_links(const struct weft_topology *t, struct weft_place place,
                                    struct weft_error *ret_error) {
    for (uint32_t i = 0; i < t->links; i++) {
        if (t->link[i].members > 1)
            return WEFT_REFUSE(ret_error, place,
                               "a Hyperport, and frames have sizes or a wire of their own; expected links of one "
                               "member");
        if (t->link[i].delay_ps < 1000)
            return WEFT_REFUSE(ret_error, place,
                               "a link has a delay below 1ns, and frames have sizes or a wire of their own; "
                               "expected 1ns at least");
    }
    return WEFT_OK;
}

enum weft_status weft__check_wire(const struct weft_scenario *scenario, const struct weft_topology *t,
                                  struct weft_error *ret_error) {
    const struct weft_device_conf *first = NULL;
    const char *section = NULL; // the section that sets them
    for (uint32_t n = 0; n < t->nodes && !first; n++) {
        const struct weft_device_conf *conf = weft_scenario_device(scenario, t->node[n].name);
        if (!weft__has_own_frames(conf, &t->node[n])) continue;
        first = conf;
        section = t->node[n].role == WEFT_NODE_HOST ? "host.wire" : "switch.wire";
    }
    enum weft_status status = WEFT_OK;
    if (*scenario->capture.ports) status = check_capture(scenario, t, first, ret_error);
    if (!first || status) return status;
    status = check_links(t, weft_device_place(first, section), ret_error);
    for (uint32_t n = 0; n < t->nodes && !status; n++)
        status = check_node(&t->node[n], weft_scenario_device(scenario, t->node[n].name), ret_error);
    return status;
}
