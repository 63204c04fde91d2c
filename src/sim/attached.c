// SPDX-License-Identifier: Apache-2.0
#include "sim/attached.h"

#include "weft/aqm.h"

static uint32_t find_host(const struct weft_topology *t, const char *name) {
    uint32_t node = weft_topology_find_node(t, name);
    return node == WEFT_NONE || t->node[node].role != WEFT_NODE_HOST ? WEFT_NONE : t->node[node].index;
}

struct weft__raw *weft__attached_new(const struct weft__network *net) {
    const struct weft_live_conf *live = &net->scenario->live;
    if (net->workload->raw) return weft__raw_copy(net->workload->raw, net->arena_qp);
    if (!live->hosts) return NULL;
    struct weft__raw *raw = weft__raw_new(net->topology, net->arena_qp);
    for (uint32_t i = 0; i < live->hosts; i++)
        weft__raw_attach(raw, find_host(net->topology, live->host[i].name));
    return raw;
}

/// At the neighbour, which decides by DSCP: the host's port holds its frames in the same queues.
static uint8_t find_priority(const struct weft__network *net, const struct weft__raw_conversation *c) {
    const struct weft_topology *t = net->topology;
    uint32_t peer = t->port[t->node[t->host[c->src]].port0].peer;
    return net->device[t->port[peer].node]->sw.dscp_map[c->dscp] & 7u;
}

void weft__attached_set_qp(struct weft__network *net, uint32_t conversation, uint32_t qp) {
    struct weft__raw_conversation *c = &net->raw->conversation[conversation];
    c->qp = qp;
    net->qp[qp].entropy = c->entropy;
    net->qp[qp].priority = find_priority(net, c);
    net->qp[qp].plain = false;
    net->hosts.sender[qp].posted = 0;
    net->hosts.receiver[qp].progress_ps = WEFT_TIME_NEVER;
}

void weft__attached_place(struct weft__network *net) {
    uint32_t q = 0;
    for (uint32_t c = 0; c < net->raw->conversations; c++) {
        while (net->qp[q].flow != net->raw->conversation[c].flow)
            q++;
        weft__attached_set_qp(net, c, q);
    }
}

// --- what is refused ----------------------------------------------------------------------------------------------

#define REFUSE(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

/// Keys that say how a NIC of weft sends, in an entry of `devices` for the host or for all hosts there are.
static enum weft_status check_keys(const struct weft_scenario *s, const struct weft_live_host *h, bool all,
                                   struct weft_error *ret_error) {
    static const char *const keys[] = {"transport", "cc", "planes", "drain_rate"};
    const struct weft_device_conf *device = weft_scenario_device(s, h->name);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        char path[32];
        snprintf(path, sizeof path, "host.%s", keys[k]);
        if ((!device->match && !all) || !weft_device_says(device, "host", keys[k])) continue;
        return REFUSE(
            weft_device_place(device, path),
            "%s: %s is attached from outside (live.hosts), and what its own protocols do is up to it; no model "
            "of weft, such as DCQCN, runs for it: expected no such key",
            path, h->name);
    }
    return WEFT_OK;
}

static enum weft_status check_host(const struct weft_scenario *s, const struct weft_topology *t,
                                   const struct weft_live_host *h, struct weft_error *ret_error) {
    if (find_host(t, h->name) == WEFT_NONE)
        return REFUSE(h->place, "live.hosts: no host '%s' in topology %s; expected one such as %s", h->name, t->kind,
                      t->hosts ? t->node[t->host[0]].name : "none");
    const struct weft_host_conf *host = &weft_scenario_device(s, h->name)->host;
    if (host->planes != WEFT_PLANES_SEPARATE || host->drain_rate_bps)
        return REFUSE(h->place, "live.hosts: %s has host.%s, which no host from outside has; expected none", h->name,
                      host->drain_rate_bps ? "drain_rate" : "planes");
    if (weft_host_collects(host))
        return REFUSE(h->place,
                      "live.hosts: %s, and its congestion control collects telemetry, for which real frames have no "
                      "room; expected another host.cc",
                      h->name);
    return check_keys(s, h, s->live.hosts == t->hosts, ret_error);
}

static enum weft_status check_traffic(const struct weft_scenario *s, const struct weft_topology *t,
                                      const struct weft_workload *w, struct weft_error *ret_error) {
    for (uint32_t i = 0; i < s->live.hosts; i++) {
        uint32_t host = find_host(t, s->live.host[i].name);
        for (uint32_t f = 0; f < w->flows; f++)
            if (w->flow[f].verb != WEFT_VERB_RAW && (w->flow[f].src == host || w->flow[f].dst == host))
                return REFUSE(s->live.host[i].place,
                              "live.hosts: %s is attached from outside, and the group '%s' of the workload sends from "
                              "or to it; expected other hosts for one of them",
                              s->live.host[i].name, w->group[w->flow[f].group]);
    }
    return WEFT_OK;
}

enum weft_status weft__attached_check(const struct weft_scenario *s, const struct weft_topology *t,
                                      const struct weft_workload *w, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < s->live.hosts && !status; i++)
        status = check_host(s, t, &s->live.host[i], ret_error);
    if (status || !(s->live.hosts || w->raw)) return status;
    if (s->run.fast_forward != WEFT_FAST_FORWARD_OFF)
        return REFUSE(s->live.place,
                      "live: frames of real hosts do not repeat, and run.fast_forward is on; expected off");
    for (uint32_t i = 0; i < t->switches; i++) {
        const struct weft_model *aqm = weft_scenario_device(s, t->node[t->switch_node[i]].name)->sw.aqm.model;
        if (((const struct weft_aqm_ops *)aqm->ops)->trim)
            return REFUSE(
                s->live.place,
                "live: switch.aqm: %s of %s trims packets, which real frames do not survive; expected another",
                aqm->name, t->node[t->switch_node[i]].name);
    }
    return check_traffic(s, t, w, ret_error);
}

enum weft_status weft__attached_check_run(const struct weft_scenario *s, const struct weft_workload *w,
                                          const struct weft_sim_options *options, bool driven,
                                          struct weft_error *ret_error) {
    if (!s->live.hosts && !w->raw) return WEFT_OK;
    if (options->ranks || options->checkpoint)
        return REFUSE(s->live.place, "live: %s, and hosts are attached from outside; expected a run without",
                      options->ranks ? "MPI ranks" : "a checkpoint");
    if (!driven && !w->raw)
        return REFUSE(s->live.place,
                      "live: hosts are attached from outside: expected weft live, a program (weft/drive.h), or the "
                      "record of a live run as workload (kind: frames)");
    if (w->raw && s->run.until_ps == WEFT_TIME_NEVER)
        return REFUSE(
            s->live.place,
            "workload frames: hosts from outside may send at any time, and run.until is not set; expected a time, "
            "such as the end of the live run");
    if (driven && w->raw)
        return REFUSE(s->live.place,
                      "live: the workload has frames of a record, and hosts are attached; expected one of the two");
    return WEFT_OK;
}
