// SPDX-License-Identifier: Apache-2.0
// From a scenario file to a variant that is ready to run: parameters bound, network and flows built, everything
// checked.
#include "weft/sim.h"

#include "weft/report.h"

/// Whether the flows of all-to-alls must be checked one by one because hosts differ in what a flow needs at both ends.
static bool hosts_differ(const struct weft_scenario *c) {
    bool differ = false;
    for (uint32_t d = 0; d < c->devices; d++)
        differ |= c->device[d].host.planes != WEFT_PLANES_SEPARATE ||
                  c->device[d].host.transport.model != c->device[0].host.transport.model;
    return differ;
}

static enum weft_status fill_simulation(struct weft_simulation *s, const struct weft_scenario_file *file,
                                        uint32_t variant, bool counts, struct weft_error *ret_error) {
    WEFT_TRY(weft_scenario_new(file, variant, &s->scenario, ret_error));
    struct weft_scenario *c = s->scenario;
    WEFT_TRY(weft_scenario_topology(c, s->arena, &s->topology, ret_error));
    WEFT_TRY(weft_simulation_check(c, s->topology, ret_error));
    const struct weft_workload empty = {.arena = c->arena,
                                        .topology = s->topology,
                                        .entries = c->workloads,
                                        .counts = counts && !hosts_differ(c),
                                        .connection_bytes = weft_simulation_connection_bytes()};
    WEFT_TRY(weft_workload_make(empty, c->workload, c->run.seed, c->run.until_ps, &s->workload, ret_error));
    return weft_simulation_check_workload(c, s->topology, s->workload, ret_error);
}

struct order {
    const struct weft_scenario_file *file;
    uint32_t variant;
    bool counts;
    struct weft_simulation *made;
};

static enum weft_status make_simulation(void *context, struct weft_error *ret_error) {
    struct order *order = context;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_TOPOLOGY);
    struct weft_simulation *s = weft_arena_alloc(arena, 1, sizeof *s);
    s->arena = arena;
    enum weft_status status = fill_simulation(s, order->file, order->variant, order->counts, ret_error);
    if (status)
        weft_simulation_free(s);
    else
        order->made = s;
    return status;
}

static enum weft_status simulation_new(const struct weft_scenario_file *file, uint32_t variant, bool counts,
                                       struct weft_simulation **ret_simulation, struct weft_error *ret_error) {
    *ret_simulation = NULL;
    if (variant >= weft_scenario_variants(file))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "no variant %u; expected 0 to %u", variant,
                           weft_scenario_variants(file) - 1);
    struct order order = {file, variant, counts, NULL};
    struct weft_memory *memory = NULL;
    enum weft_status status = weft_memory_enter(&memory, make_simulation, &order, ret_error);
    if (status) {
        weft_memory_close(memory);
        return status;
    }
    order.made->own = memory;
    *ret_simulation = order.made;
    return WEFT_OK;
}

enum weft_status weft_simulation_new(const struct weft_scenario_file *file, uint32_t variant,
                                     struct weft_simulation **ret_simulation, struct weft_error *ret_error) {
    return simulation_new(file, variant, false, ret_simulation, ret_error);
}

enum weft_status weft_simulation_count(const struct weft_scenario_file *file, uint32_t variant,
                                       struct weft_simulation **ret_simulation, struct weft_error *ret_error) {
    return simulation_new(file, variant, true, ret_simulation, ret_error);
}

void weft_simulation_free(struct weft_simulation *s) {
    if (!s) return;
    struct weft_memory *own = s->own;
    if (s->scenario) weft_scenario_free(s->scenario);
    weft_arena_free(s->arena); // it holds the simulation itself
    weft_memory_close(own);
}

uint32_t weft_simulation_hosts(const struct weft_simulation *s) {
    return s->topology->hosts;
}

const char *weft_simulation_host_name(const struct weft_simulation *s, uint32_t host) {
    return host < s->topology->hosts ? s->topology->node[s->topology->host[host]].name : NULL;
}

uint32_t weft_simulation_host_find(const struct weft_simulation *s, const char *name) {
    uint32_t node = weft_topology_find_node(s->topology, name);
    if (node == WEFT_NONE || s->topology->node[node].role != WEFT_NODE_HOST) return WEFT_NONE;
    return s->topology->node[node].index;
}

uint32_t weft_scenario_check(const struct weft_scenario_file *file,
                             void (*on_error)(void *context, uint32_t variant, const struct weft_error *error),
                             void *context) {
    uint32_t wrong = 0;
    for (uint32_t v = 0; v < weft_scenario_variants(file); v++) {
        WEFT_ENDS(weft_simulation_end) struct weft_simulation *s = NULL;
        struct weft_error error = {0};
        if (weft_simulation_count(file, v, &s, &error)) {
            wrong++;
            if (on_error) on_error(context, v, &error);
        }
    }
    return wrong;
}

const char *weft_version(void) {
    return WEFT_VERSION;
}

// --- running it ---------------------------------------------------------------------------------------------------

struct run_order {
    const struct weft_simulation *simulation;
    const struct weft_sim_options *options;
    struct weft_result *result;
};

static enum weft_status run_order(void *context, struct weft_error *ret_error) {
    static const struct weft_sim_options none;
    struct run_order *order = context;
    const struct weft_simulation *s = order->simulation;
    struct weft_outcome *outcome = NULL;
    enum weft_status status = weft_simulate(s->scenario, s->topology, s->workload,
                                            order->options ? order->options : &none, &outcome, ret_error);
    if (outcome) order->result = weft__result_new(s, s->workload, outcome);
    return status;
}

enum weft_status weft_simulation_run(const struct weft_simulation *s, const struct weft_sim_options *options,
                                     struct weft_result **ret_result, struct weft_error *ret_error) {
    struct run_order order = {s, options, NULL};
    struct weft_memory *memory = NULL;
    enum weft_status status = weft_memory_enter(&memory, run_order, &order, ret_error);
    *ret_result = order.result;
    if (order.result)
        weft__result_own(order.result, memory);
    else
        weft_memory_close(memory);
    return status;
}
