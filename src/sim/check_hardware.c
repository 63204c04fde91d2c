// SPDX-License-Identifier: Apache-2.0
#include "sim/check_hardware.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "base/units.h"
#include "weft/hardware.h"

/// What a node asks of its chip or NIC.
struct demand {
    double ports, rate, port_rate; ///< rate: of all ports together; port_rate: of the fastest
};

static struct demand demand_of(const struct weft_topology *t, const struct weft_node_info *node) {
    struct demand d = {.ports = node->ports};
    for (uint32_t p = node->port0; p < node->port0 + node->ports; p++) {
        double rate = (double)t->link[t->port[p].link].rate_bps;
        d.rate += rate;
        d.port_rate = fmax(d.port_rate, rate / t->link[t->port[p].link].members);
    }
    return d;
}

/// The fact that the class falls short of; NULL: it can do all.
static const char *missing_of(const struct weft_hardware *h, const struct demand *d) {
    if (d->ports > weft_hardware_number(h, "radix", INFINITY)) return "radix";
    if (d->port_rate > weft_hardware_number(h, "port_rate", weft_hardware_number(h, "rate", INFINITY)))
        return "port_rate";
    return d->rate > weft_hardware_number(h, "rate", INFINITY) ? "rate" : NULL;
}

/// "expected ideal, or one that can: a, b".
static void list_able(uint32_t kind, const struct demand *d, char *text, size_t size) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    const char **able = weft_arena_alloc(arena, weft_hardware_count(), sizeof *able);
    uint32_t n = 0;
    for (uint32_t i = 0; i < weft_hardware_count(); i++) {
        const struct weft_hardware *h = weft_hardware_at(i, arena);
        if (h->kind == kind && weft_hardware_value(h, "rate") && !missing_of(h, d)) able[n++] = h->name;
    }
    int used = snprintf(text, size, "expected " WEFT_HARDWARE_IDEAL "%s", n ? ", or one that can: " : "");
    weft__names_join(able, n, text + used, size - (size_t)used);
}

static enum weft_status fail_demand(const struct weft_hardware *h, const char *missing, const struct demand *d,
                                    const struct weft_node_info *node, struct weft_place place,
                                    struct weft_error *ret_error) {
    char able[600], has[40], asked[40];
    const char *path[] = {weft_hardware_kind_section(h->kind), weft_hardware_kind_row(h->kind)};
    list_able(h->kind, d, able, sizeof able);
    if (!strcmp(missing, "radix"))
        return WEFT_REFUSE(ret_error, place, "%s.%s: %s has at most %.0f ports, and %s has %.0f; %s", path[0], path[1],
                           h->name, weft_hardware_number(h, missing, 0), node->name, d->ports, able);
    bool port = !strcmp(missing, "port_rate");
    weft_format_rate((weft_rate_bps)weft_hardware_number(h, missing, weft_hardware_number(h, "rate", 0)), has,
                     sizeof has);
    weft_format_rate((weft_rate_bps)(port ? d->port_rate : d->rate), asked, sizeof asked);
    return WEFT_REFUSE(ret_error, place, "%s.%s: %s cannot do the rate: it has %s %s, and %s needs %s; %s", path[0],
                       path[1], h->name, has, port ? "a port" : "for all ports together", node->name, asked, able);
}

enum weft_status weft__check_hardware(const struct weft_scenario *scenario, const struct weft_topology *t,
                                      struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    const struct weft_hardware *h = NULL;
    const char *last = NULL; // the class that h is
    enum weft_status status = WEFT_OK;
    for (uint32_t n = 0; n < t->nodes && !status; n++) {
        uint32_t kind;
        const struct weft_device_conf *device = weft_scenario_device(scenario, t->node[n].name);
        const char *name = weft_device_hardware(device, &t->node[n], &kind);
        if (!name || !strcmp(name, WEFT_HARDWARE_IDEAL)) continue;
        if (!weft_device_says(device, weft_hardware_kind_section(kind), weft_hardware_kind_row(kind))) continue;
        const char *path =
            weft_arena_format(arena, "%s.%s", weft_hardware_kind_section(kind), weft_hardware_kind_row(kind));
        struct weft_place place = weft_device_place(device, path);
        if (name != last) status = weft_hardware_find(kind, name, place, path, arena, &h, ret_error);
        if (status) break;
        last = name;
        struct demand d = demand_of(t, &t->node[n]);
        const char *missing = missing_of(h, &d);
        if (missing) status = fail_demand(h, missing, &d, &t->node[n], place, ret_error);
    }
    return status;
}
