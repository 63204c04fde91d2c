// SPDX-License-Identifier: Apache-2.0
#include "estimate/refuse.h"

#include <string.h>

#include "box/box.h"
#include "weft/aqm.h"
#include "weft/cc.h"
#include "weft/transport.h"

#define REFUSE(error, place, ...) WEFT_REFUSE(error, place, __VA_ARGS__)

static enum weft_status refuse_model(const struct weft_device_conf *device, const char *path,
                                     const struct weft_model *model, struct weft_error *ret_error) {
    return REFUSE(ret_error, weft_device_place(device, path),
                  "%s: there is no estimate of %s; expected another model, or a run", path, model->name);
}

static enum weft_status refuse_switch(const struct weft_device_conf *device, struct weft_error *ret_error) {
    const struct weft_switch_conf *sw = &device->sw;
    const struct weft_route_ops *route = sw->route.model->ops;
    if (route->choose && (!route->paths || route->paths(sw->route.conf) == WEFT_ROUTE_PATHS_UNKNOWN))
        return refuse_model(device, "switch.route", sw->route.model, ret_error);
    if (strcmp(sw->sfc.model->name, "none") != 0) return refuse_model(device, "switch.sfc", sw->sfc.model, ret_error);
    return WEFT_OK;
}

static enum weft_status refuse_host(const struct weft_device_conf *device, struct weft_error *ret_error) {
    const struct weft_host_conf *host = &device->host;
    if (!((const struct weft_cc_ops *)host->cc.model->ops)->estimate)
        return refuse_model(device, "host.cc", host->cc.model, ret_error);
    if (host->drain_slow_every_ps != WEFT_TIME_NEVER)
        return REFUSE(
            ret_error, weft_device_place(device, "host.drain_slow_every"),
            "host.drain_slow_every: there is no estimate of hosts with slow phases; expected never, or a run");
    return WEFT_OK;
}

static enum weft_status refuse_events(const struct weft__network *net, struct weft_error *ret_error) {
    const struct weft_topology *t = net->topology;
    for (uint32_t i = 0; i < t->events; i++)
        if (t->event[i].time_ps)
            return REFUSE(ret_error, t->place,
                          "events: there is no estimate of a link that goes down or comes up in mid-run; expected "
                          "events at 0s, or a run");
    return WEFT_OK;
}

enum weft_status weft__estimate_refuse(const struct weft__network *net, struct weft_error *ret_error) {
    const struct weft_topology *t = net->topology;
    const struct weft_device_conf *before = NULL;
    enum weft_status status = refuse_events(net, ret_error);
    if (net->workload->rmas)
        return REFUSE(ret_error, net->scenario->workload[0].place,
                      "workload: there is no estimate of remote memory access; expected flows or jobs, or a run");
    for (uint32_t i = 0; i < t->nodes && !status; i++) {
        const struct weft__box *box = weft__box_of(&t->node[i]);
        if (!box->fluid)
            return REFUSE(ret_error, t->place,
                          "topology: there is no estimate of %s; expected another network, or a run",
                          weft__box_name(t->node[i].box));
        if (net->device[i] == before) continue;
        before = net->device[i];
        status = t->node[i].role == WEFT_NODE_HOST ? refuse_host(before, ret_error) : refuse_switch(before, ret_error);
    }
    return status;
}

enum weft_status weft__estimate_refuse_ways(const struct weft__fluid *x, struct weft_error *ret_error) {
    return WEFT_OK;
}
