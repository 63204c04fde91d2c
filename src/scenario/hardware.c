// SPDX-License-Identifier: Apache-2.0
// The classes of hardware that a scenario names.
#include <string.h>

#include "base/param.h"
#include "box/box.h"
#include "weft/hardware.h"
#include "weft/param.h"
#include "weft/scenario.h"

const char *weft_device_hardware(const struct weft_device_conf *device, const struct weft_node_info *node,
                                 uint32_t *ret_kind) {
    const char *section = weft__box_name(node->box);
    for (uint32_t k = 0; k < WEFT_HARDWARE_KINDS; k++) {
        if (strcmp(weft_hardware_kind_section(k), section) != 0) continue;
        const struct weft_param *row = weft_param_find(weft_hardware_kind_table(k), weft_hardware_kind_row(k));
        *ret_kind = k;
        return *(const char *const *)(const void *)((const char *)device->section[node->box] + row->offset);
    }
    return NULL;
}

struct server_search {
    struct weft_arena *arena;
    const char *found;
};

static void look_at_value(void *context, const char *path, const char *value, const char *dflt) {
    static const char wanted[] = ".server.kind";
    struct server_search *s = context;
    size_t n = strlen(path);
    if (n >= sizeof wanted - 1 && !strcmp(path + n - (sizeof wanted - 1), wanted))
        s->found = weft_arena_text(s->arena, value);
}

const char *weft_scenario_server(const struct weft_scenario *scenario, uint32_t workload, struct weft_arena *arena) {
    struct server_search s = {.arena = arena};
    weft__model_each(&scenario->workload[workload], "workload", look_at_value, &s);
    return s.found;
}
