// SPDX-License-Identifier: Apache-2.0
// Whether a run depends on its seed.
#include "box/box.h"
#include "weft/routes.h"
#include "weft/sim.h"
#include "weft/workload.h"

static bool workload_draws(const struct weft_model_conf *entry) {
    const struct weft_workload_ops *ops = entry->model->ops;
    if (entry->model->draws || (ops->draws && ops->draws(entry->conf))) return true;
    return ops->expand && ((const struct weft_workload_common *)entry->conf)->jitter_ps;
}

/// The phase of a host's slow phases, and first timeouts.
static bool host_draws(const struct weft_host_conf *host) {
    const struct weft_transport_ops *transport = host->transport.model->ops;
    bool slow = host->drain_rate_bps && host->drain_slow_every_ps != WEFT_TIME_NEVER;
    return slow || (transport->draws && transport->draws(host->transport.conf));
}

static bool models_draw(const struct weft_scenario *s) {
    for (uint32_t i = 0; i < s->workloads; i++)
        if (workload_draws(&s->workload[i])) return true;
    for (uint32_t i = 0; i < s->devices; i++) {
        const struct weft_device_conf *d = &s->device[i];
        if (d->sw.aqm.model->draws || d->sw.clock_ppm > 0 || weft_host_jitters(&d->host) || host_draws(&d->host))
            return true;
    }
    return false;
}

/// A node with more than one port to choose from hashes or draws; a failure may leave several where there was one.
static bool has_choice(const struct weft_scenario *s, const struct weft_topology *t) {
    if (s->events_tree && t->switches > 1) return true;
    struct weft_routes *routes = weft_routes_new(t, NULL);
    bool choice = false;
    for (uint32_t sw = 0; sw < t->switches && !choice; sw++)
        for (uint32_t host = 0; host < t->hosts && !choice; host++) {
            uint32_t n;
            weft_routes_at(routes, sw, host, &n);
            choice = n > 1;
        }
    weft_routes_free(routes);
    return choice;
}

bool weft_simulation_draws(const struct weft_scenario *scenario, const struct weft_topology *topology) {
    if (models_draw(scenario)) return true;
    for (uint32_t l = 0; l < topology->links; l++)
        if (topology->link[l].bit_error_rate > 0) return true;
    for (uint32_t n = 0; n < topology->nodes; n++)
        if (weft__box_of(&topology->node[n])->draws) return true;
    return has_choice(scenario, topology);
}
