// SPDX-License-Identifier: Apache-2.0
// What can be checked only once the network is known.
#include "weft/buffer.h"
#include "weft/scenario.h"

static enum weft_status check_matches(const struct weft_scenario *scenario, const struct weft_topology *t,
                                      struct weft_error *ret_error) {
    for (uint32_t d = 1; d < scenario->devices; d++) {
        const struct weft_device_conf *device = &scenario->device[d];
        uint32_t i = 0;
        while (i < t->nodes && !weft_glob_match(device->match, t->node[i].name))
            i++;
        if (i == t->nodes)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, device->place,
                                  "devices.%u.match: no node is called \"%s\"; there are %s to %s, for instance", d - 1,
                                  device->match, t->node[0].name, t->node[t->nodes - 1].name);
    }
    return WEFT_OK;
}

const struct weft_device_conf *weft_scenario_device(const struct weft_scenario *scenario, const char *node) {
    for (uint32_t d = scenario->devices - 1; d > 0; d--)
        if (weft_glob_match(scenario->device[d].match, node)) return &scenario->device[d];
    return &scenario->device[0];
}

static enum weft_status check_buffer(const struct weft_device_conf *device, const struct weft_node_info *node,
                                     struct weft_error *ret_error) {
    const struct weft_model_conf *buffer = &device->sw.buffer;
    const struct weft_buffer_ops *ops = buffer->model->ops;
    char text[512];
    const char *wrong =
        ops->fit ? ops->fit(buffer->conf, node->ports, device->sw.pfc.priorities, text, sizeof text) : NULL;
    if (!wrong) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, buffer->place, "switch.buffer of %s: %s", node->name, wrong);
}

enum weft_status weft_scenario_fit(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                   struct weft_error *ret_error) {
    enum weft_status status = check_matches(scenario, topology, ret_error);
    for (uint32_t i = 0; i < topology->switches && !status; i++) {
        const struct weft_node_info *node = &topology->node[topology->switch_node[i]];
        status = check_buffer(weft_scenario_device(scenario, node->name), node, ret_error);
    }
    return status;
}
