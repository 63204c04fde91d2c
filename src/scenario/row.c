// SPDX-License-Identifier: Apache-2.0
// The row of the parameter that a value of a scenario belongs to, found by its path.
#include <stdlib.h>
#include <string.h>

#include "base/param.h"
#include "box/box.h"
#include "scenario/scenario.h"
#include "weft/control.h"
#include "weft/hardware.h"
#include "weft/param.h"
#include "weft/scenario.h"

/// What follows "name." in the path; NULL: the path does not begin with it.
static const char *path_after(const char *path, const char *name) {
    size_t n = strlen(name);
    return !strncmp(path, name, n) && path[n] == '.' ? path + n + 1 : NULL;
}

static const struct weft_param *row_at(const struct weft_param_table *table, const void *conf, const char *path) {
    for (uint32_t i = 0; i < table->n; i++) {
        const struct weft_param *row = &table->rows[i], *found = NULL;
        const void *field = (const char *)conf + row->offset;
        const char *rest = path_after(path, row->name);
        if (row->type == WEFT_PARAM_SECTION) {
            found = rest ? row_at(row->table, field, rest) : NULL;
        } else if (row->type == WEFT_PARAM_MODEL) {
            const struct weft_model_conf *model = field;
            const char *inner = row->beside ? path : rest;
            found = model->model && inner ? row_at(model->model->params, model->conf, inner) : NULL;
        } else if (!strcmp(row->name, path)) {
            return row;
        }
        if (found) return found;
    }
    return NULL;
}

const struct weft_param *weft_scenario_row(const struct weft_scenario *scenario, const char *path) {
    const char *rest = path_after(path, "devices");
    const struct weft_device_conf *device = &scenario->device[0];
    if (rest) {
        char *end;
        unsigned long i = strtoul(rest, &end, 10);
        if (end == rest || *end != '.' || i + 1 >= scenario->devices) return NULL;
        device = &scenario->device[i + 1]; // the first is the default, not an entry
        path = end + 1;
    }
    rest = path_after(path, "fabric");
    if (rest && scenario->fabric.model) return row_at(scenario->fabric.model->params, scenario->fabric.conf, rest);
    for (uint32_t k = 0; k < WEFT__DEVICE_SECTIONS; k++)
        if ((rest = path_after(path, weft__device_sections[k])))
            return row_at(weft__device_section_table(k), weft__device_section_conf(device, k), rest);
    return NULL;
}

static const char *const lists[] = {"events", NULL};
const struct weft_param_table weft_control_table = WEFT_PARAM_TABLE_OF(
    "control", struct weft_control_conf, .lists = lists,
    WEFT_SECTION(struct weft_control_conf, reach, "reachability", &weft_reach_table,
                 "cells between devices of a fabric, and input balanced mode"),
    WEFT_SECTION(struct weft_control_conf, fsdb, "fsdb", &weft_fsdb_table,
                 "subscriptions of interface nodes to each other's state"),
    WEFT_SECTION(struct weft_control_conf, bgp, "bgp", &weft_bgp_table, "routes to other buildings by EDSWs"),
    WEFT_SECTION(struct weft_control_conf, bootstrap, "bootstrap", &weft_bootstrap_table,
                 "in-band bootstrap of a Clique of TiNs"),
    WEFT_SECTION(struct weft_control_conf, sdn, "sdn", &weft_sdn_table, "the controller of a Clique and its TiNs"),
    WEFT_SECTION(struct weft_control_conf, timesync, "timesync", &weft_timesync_table, "clocks of a Clique"));

// The classes of hardware that a scenario names.

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
