// SPDX-License-Identifier: Apache-2.0
// What can be wrong only once configuration and topology meet.
#include "sim/network.h"

static enum weft_status check_switch(const struct weft_topology *t, uint32_t node, const struct weft_switch_conf *conf,
                                     struct weft_error *ret_error) {
    const struct weft_buffer_ops *buffer = conf->buffer.model->ops;
    char text[512];
    if (!buffer->fit) return WEFT_OK;
    const char *wrong = buffer->fit(conf->buffer.conf, t->node[node].ports, conf->pfc.priorities, text, sizeof text);
    if (!wrong) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, conf->buffer.place, "switch.buffer of %s: %s",
                          t->node[node].name, wrong);
}

enum weft_status weft_simulation_check(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                       struct weft_error *ret_error) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const struct weft_device_conf **device = weft_device_confs(scenario, topology, arena);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < topology->switches && !status; i++) {
        uint32_t node = topology->switch_node[i];
        status = check_switch(topology, node, &device[node]->sw, ret_error);
    }
    weft_arena_free(arena);
    return status;
}
