// SPDX-License-Identifier: Apache-2.0
// Errors that show only once configuration and topology are combined.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "base/param.h"
#include "base/units.h"
#include "box/box.h"
#include "sim/attached.h"
#include "sim/run.h"
#include "skip/sample.h"
#include "transport/frames.h"
#include "weft/aqm.h"
#include "weft/hardware.h"
#include "weft/param_load.h"
#include "weft/transport.h"

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
    char able[600];
    const char *path[] = {weft_hardware_kind_section(h->kind), weft_hardware_kind_row(h->kind)};
    list_able(h->kind, d, able, sizeof able);
    if (!strcmp(missing, "radix"))
        return WEFT_REFUSE(ret_error, place, "%s.%s: %s has at most %.0f ports, and %s has %.0f; %s", path[0], path[1],
                           h->name, weft_hardware_number(h, missing, 0), node->name, d->ports, able);
    bool port = !strcmp(missing, "port_rate");
    return WEFT_REFUSE(
        ret_error, place, "%s.%s: %s cannot do the rate: it has %s %s, and %s needs %s; %s", path[0], path[1], h->name,
        weft__short_rate((weft_rate_bps)weft_hardware_number(h, missing, weft_hardware_number(h, "rate", 0))).text,
        port ? "a port" : "for all ports together", node->name,
        weft__short_rate((weft_rate_bps)(port ? d->port_rate : d->rate)).text, able);
}

/// Refuses a chip or NIC with fewer ports, or of less rate, than its node has.
static enum weft_status check_hardware(const struct weft_scenario *scenario, const struct weft_topology *t,
                                       struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    const struct weft_hardware *h = NULL;
    const char *last = NULL; // the class that h is
    for (uint32_t n = 0; n < t->nodes; n++) {
        uint32_t kind;
        const struct weft_device_conf *device = weft_scenario_device(scenario, t->node[n].name);
        const char *name = weft_device_hardware(device, &t->node[n], &kind);
        if (!name || !strcmp(name, WEFT_HARDWARE_IDEAL)) continue;
        if (!weft_device_says(device, weft_hardware_kind_section(kind), weft_hardware_kind_row(kind))) continue;
        const char *path =
            weft_arena_format(arena, "%s.%s", weft_hardware_kind_section(kind), weft_hardware_kind_row(kind));
        struct weft_place place = weft_device_place(device, path);
        if (name != last) WEFT_TRY(weft_hardware_find(kind, name, place, path, arena, &h, ret_error));
        last = name;
        struct demand d = demand_of(t, &t->node[n]);
        const char *missing = missing_of(h, &d);
        if (missing) WEFT_TRY(fail_demand(h, missing, &d, &t->node[n], place, ret_error));
    }
    return WEFT_OK;
}

uint32_t weft__frame_bytes_max(const struct weft_scenario *scenario, const struct weft_topology *t) {
    uint32_t bytes = WEFT_FRAME_MIN;
    for (uint32_t h = 0; h < t->hosts; h++) {
        const struct weft_host_conf *conf = &weft_scenario_device(scenario, t->node[t->host[h]].name)->host;
        uint32_t header =
            conf->data_header_bytes ? (uint32_t)conf->data_header_bytes : WEFT_FRAME_DATA + WEFT_FRAME_RETH;
        uint32_t own = header + (((uint32_t)conf->mtu_bytes + 3) & ~3u) + weft_host_framing_bytes(conf);
        if (own > bytes) bytes = own;
        if (conf->ack_bytes > bytes) bytes = (uint32_t)conf->ack_bytes;
        if (conf->cnp_bytes > bytes) bytes = (uint32_t)conf->cnp_bytes;
    }
    return bytes;
}

static bool is_same(const struct weft_route_schedule *a, const struct weft_route_schedule *b) {
    return a->interval_ps == b->interval_ps && a->collector_ps == b->collector_ps &&
           a->programming_ps == b->programming_ps && a->known == b->known;
}

/// A path controller has all switches or none, and one schedule.
static enum weft_status check_controller(const struct weft_scenario *scenario, const struct weft_topology *t,
                                         struct weft_error *ret_error) {
    const struct weft_model_conf *first = NULL;
    for (uint32_t i = 0; i < t->switches; i++) {
        const struct weft_node_info *node = &t->node[t->switch_node[i]];
        const struct weft_model_conf *route = &weft_scenario_device(scenario, node->name)->sw.route;
        const struct weft_route_program *program = ((const struct weft_route_ops *)route->model->ops)->program;
        if (!i) first = route;
        const struct weft_route_program *common = ((const struct weft_route_ops *)first->model->ops)->program;
        if (!program && !common) continue;
        const struct weft_model_conf *te = program ? route : first;
        if (t->static_routes)
            return WEFT_REFUSE(ret_error, te->place,
                               "switch.route: %s places its paths itself; expected no topology.routes beside it",
                               te->model->name);
        if (!weft__box_of(node)->takes_routes)
            return WEFT_REFUSE(ret_error, te->place, "switch.route: %s needs Ethernet switches; %s is none",
                               te->model->name, node->name);
        if (!program || !common)
            return WEFT_REFUSE(ret_error, te->place,
                               "switch.route of %s: %s, and of %s: %s; a controller needs all switches",
                               t->node[t->switch_node[0]].name, first->model->name, node->name, route->model->name);
        struct weft_route_schedule own = program->schedule(route->conf), other = common->schedule(first->conf);
        if (!is_same(&own, &other))
            return WEFT_REFUSE(ret_error, te->place,
                               "switch.route of %s and %s: interval, delays and demands differ; there is one "
                               "controller for all",
                               t->node[t->switch_node[0]].name, node->name);
    }
    return WEFT_OK;
}

/// Whether a node uses switch.route to choose packets' next hops: a switch, or a node of a fabric with exits.
static bool chooses_ways(const struct weft_topology *t, uint32_t n) {
    const struct weft_node_info *node = &t->node[n];
    if (weft__box_of(node)->takes_routes) return true;
    for (uint32_t p = node->port0; p < node->port0 + node->ports; p++)
        if (node->role != WEFT_NODE_HOST && !weft_topology_link_is_fabric(t, t->port[p].link) &&
            t->node[t->port[t->port[p].peer].node].role != WEFT_NODE_HOST)
            return true;
    return false;
}

/// Whether a value is that of a setting (--set, or a point of a sweep) which several variants or points share: there it
/// may be without effect in some of them.
static bool is_for_all(const struct weft_scenario *scenario, struct weft_place place) {
    const struct weft_scenario_file *file = scenario->file;
    return !place.line && file && (weft_scenario_variants(file) > 1 || weft_scenario_sweep(file));
}

/// Refuses switch.route where no node uses it: cells of a fabric follow its own rules.
static enum weft_status check_route(const struct weft_scenario *scenario, const struct weft_topology *t,
                                    struct weft_error *ret_error) {
    for (uint32_t n = 0; n < t->nodes; n++)
        if (chooses_ways(t, n)) return WEFT_OK;
    for (uint32_t d = 0; d < scenario->devices; d++) {
        const struct weft_model_conf *route = &scenario->device[d].sw.route;
        if (route->tree && !is_for_all(scenario, route->place))
            return WEFT_REFUSE(ret_error, route->place,
                               "switch.route: %s has no effect: no node of topology %s chooses routes by it; expected "
                               "it left out, or empty where a variant has this topology",
                               route->model->name, t->kind);
    }
    return WEFT_OK;
}

/// Whether one of the nodes that the entry matches reads the section for boxes of that kind.
static bool is_read(const struct weft_topology *t, const char *match, uint32_t kind) {
    for (uint32_t n = 0; n < t->nodes; n++)
        if (weft__box_reads(&t->node[n], kind) && (!match || weft_glob_match(match, t->node[n].name))) return true;
    return false;
}

/// A section that no node reads is a mistake: it would have no effect.
static enum weft_status check_sections(const struct weft_scenario *scenario, const struct weft_topology *t,
                                       struct weft_error *ret_error) {
    for (uint32_t d = 0; d < scenario->devices; d++) {
        const struct weft_device_conf *device = &scenario->device[d];
        for (uint32_t kind = 0; kind < WEFT_BOXES; kind++)
            if (device->said[kind] && !is_read(t, d ? device->match : NULL, kind))
                return WEFT_REFUSE(ret_error, *device->said[kind],
                                   "%s: has no effect on any node of %s; expected it left out, or empty where a "
                                   "variant has this topology",
                                   weft__box_name(kind), d ? device->match : t->kind);
    }
    return WEFT_OK;
}

/// A key of the section `switch`, and whether its value, or one below it, is other than the default.
struct key_search {
    char path[64];
    bool differs;
};

static void look_at_value(void *context, const char *path, const char *value, const char *dflt) {
    struct key_search *s = context;
    size_t n = strlen(s->path);
    if (!strncmp(path, s->path, n) && (!path[n] || path[n] == '.') && dflt && strcmp(value, dflt) != 0)
        s->differs = true;
}

static bool has_name(const char *const *name, const char *wanted) {
    while (name && *name && strcmp(*name, wanted) != 0)
        name++;
    return name && *name;
}

/// A node that reads the entry's section `switch`; WEFT_NONE: one of them asks for the key, or there is none.
static uint32_t find_deaf(const struct weft_scenario *scenario, const struct weft_topology *t, uint32_t d,
                          const char *key) {
    uint32_t deaf = WEFT_NONE;
    for (uint32_t n = 0; n < t->nodes; n++) {
        const struct weft__box *box = weft__box_of(&t->node[n]);
        if (box->pfc != weft__ethernet_pfc) continue; // a host, or cells only
        if (d && weft_scenario_device(scenario, t->node[n].name) != &scenario->device[d]) continue;
        if (!has_name(box->unasked, key)) return WEFT_NONE;
        deaf = n;
    }
    return deaf;
}

/// A key of `switch` for which no node asks would have no effect.
static enum weft_status check_asked(const struct weft_scenario *scenario, const struct weft_topology *t,
                                    struct weft_error *ret_error) {
    for (uint32_t d = 0; d < scenario->devices; d++) {
        const struct weft_device_conf *device = &scenario->device[d];
        const struct weft_tree *section = weft_tree_find(device->tree, "switch");
        for (uint32_t i = 0; section && section->type == WEFT_TREE_MAP && i < section->n; i++) {
            const struct weft_tree *child = section->child[i];
            struct key_search s = {.differs = false};
            uint32_t deaf = find_deaf(scenario, t, d, child->key);
            if (deaf == WEFT_NONE || is_for_all(scenario, child->place)) continue;
            snprintf(s.path, sizeof s.path, "switch.%s", child->key);
            weft_params_each(weft_model_find(WEFT_KIND_BOX, "switch")->params, &device->sw, "switch", look_at_value,
                             &s);
            if (s.differs)
                return WEFT_REFUSE(ret_error, child->key_place,
                                   "%s: has no effect, for %s does not go by it (weft models box %s); expected it left "
                                   "out, or empty where a variant has this topology",
                                   s.path, t->node[deaf].name, weft__box_name(t->node[deaf].box));
        }
    }
    return WEFT_OK;
}

/// A section of `control` by which no node goes would have no effect.
static enum weft_status check_control(const struct weft_scenario *scenario, const struct weft_topology *t,
                                      struct weft_error *ret_error) {
    const struct weft_tree *control = scenario->control_tree;
    for (uint32_t i = 0; control && control->type == WEFT_TREE_MAP && i < control->n; i++) {
        const struct weft_tree *child = control->child[i];
        bool is_read = !strcmp(child->key, "events") || child->type == WEFT_TREE_NULL || !child->n;
        for (uint32_t n = 0; n < t->nodes && !is_read; n++) {
            const struct weft__box_control *own = weft__box_of(&t->node[n])->control;
            is_read = own && has_name(own->sections, child->key);
        }
        if (!is_read && !is_for_all(scenario, child->place))
            return WEFT_REFUSE(ret_error, child->key_place,
                               "control.%s: has no effect on any node of %s; expected it left out, or empty where a "
                               "variant has this topology",
                               child->key, t->kind);
    }
    return WEFT_OK;
}

static const struct weft_model_conf *retry_of(const struct weft_scenario *scenario, const struct weft_node_info *node) {
    const struct weft_device_conf *conf = weft_scenario_device(scenario, node->name);
    return node->role == WEFT_NODE_HOST ? &conf->host.retry : &conf->sw.retry;
}

static bool any_retries(const struct weft_scenario *scenario) {
    for (uint32_t d = 0; d < scenario->devices; d++) {
        const struct weft_device_conf *device = &scenario->device[d];
        if (((const struct weft_retry_ops *)device->host.retry.model->ops)->replays) return true;
        if (((const struct weft_retry_ops *)device->sw.retry.model->ops)->replays) return true;
    }
    return false;
}

/// The two ends of a link must handle bit errors in the same way, and do so for frames of one port.
static enum weft_status check_retry(const struct weft_scenario *scenario, const struct weft_topology *t,
                                    struct weft_error *ret_error) {
    if (!any_retries(scenario)) return WEFT_OK;
    for (uint32_t p = 0; p < t->ports; p++) {
        const struct weft_node_info *node = &t->node[t->port[p].node], *far = &t->node[t->port[t->port[p].peer].node];
        const struct weft_model_conf *retry = retry_of(scenario, node), *other = retry_of(scenario, far);
        const struct weft_retry_ops *ops = retry->model->ops;
        if (!ops->replays || weft_topology_link_is_fabric(t, t->port[p].link)) continue;
        if (other->model != retry->model)
            return WEFT_REFUSE(ret_error, retry->place,
                               "retry of %s: %s, and of %s, which it has a link to: %s; expected the same at both "
                               "ends of a link",
                               node->name, retry->model->name, far->name, other->model->name);
        if (t->link[t->port[p].link].members > 1)
            return WEFT_REFUSE(ret_error, retry->place,
                               "retry of %s: %s, and its link to %s is a Hyperport, whose members number frames "
                               "themselves; expected retry: none",
                               node->name, retry->model->name, far->name);
    }
    return WEFT_OK;
}

/// An entry of `devices` that matches no node is a mistake: it would have no effect.
static enum weft_status check_matches(const struct weft_scenario *scenario, const struct weft_topology *t,
                                      struct weft_error *ret_error) {
    for (uint32_t d = 1; d < scenario->devices; d++) {
        const struct weft_device_conf *device = &scenario->device[d];
        uint32_t i = 0;
        while (i < t->nodes && !weft_glob_match(device->match, t->node[i].name))
            i++;
        if (i == t->nodes)
            return WEFT_REFUSE(ret_error, weft_device_place(device, "match"),
                               "devices.%u.match: no node is called \"%s\"; there are %s to %s, for instance", d - 1,
                               device->match, t->node[0].name, t->node[t->nodes - 1].name);
    }
    return WEFT_OK;
}

/// A pattern of ports to sample that matches none is a mistake, too.
static enum weft_status check_sampling(const struct weft_scenario *scenario, const struct weft_topology *t,
                                       struct weft_error *ret_error) {
    const char *ports = scenario->run.sample_ports;
    if (!scenario->run.sample_interval_ps) return WEFT_OK;
    for (uint32_t p = 0; p < t->ports; p++) {
        char name[160];
        weft_topology_port_name(t, p, name, sizeof name);
        if (weft_glob_match(ports, name)) return WEFT_OK;
    }
    const struct weft_tree *run = weft_tree_find(scenario->tree, "run");
    const struct weft_tree *said = run ? weft_tree_find(run, "sample_ports") : NULL;
    struct weft_place place = said ? said->place : WEFT_NOWHERE;
    if (is_for_all(scenario, place)) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place, "run.sample_ports: no port matches \"%s\"; ports are called like %s/0", ports,
                       t->node[0].name);
}

static enum weft_status check_capture(const struct weft_scenario *scenario, const struct weft_topology *t,
                                      struct weft_error *ret_error) {
    uint32_t *port, n;
    enum weft_status status =
        weft_topology_select_ports(t, scenario->capture.ports, scenario->capture_place, &port, &n, ret_error);
    if (!status && n > WEFT_PACKET_NODES)
        status = WEFT_REFUSE(ret_error, scenario->capture_place,
                             "the capture would be of %u ports; at most %u are supported", n, WEFT_PACKET_NODES);
    if (status || !n || !weft_topology_link_is_fabric(t, t->port[port[0]].link)) return status;
    const struct weft__cell_capture *cells = weft__box_at(t, port[0])->cells;
    const char *sender = t->node[t->port[port[0]].node].name;
    status = cells->check(t, scenario->capture_place, ret_error);
    if (!status) status = cells->check_conf(weft_scenario_device(scenario, sender), scenario->capture_place, ret_error);
    return status;
}

/// All hosts use the same version of RoCE with the same tags, so that each can read what others send.
static enum weft_status check_hosts_alike(const struct weft_scenario *scenario, const struct weft_topology *t,
                                          struct weft_error *ret_error) {
    const struct weft_host_conf *first = &weft_scenario_device(scenario, t->node[t->host[0]].name)->host;
    for (uint32_t h = 1; h < t->hosts; h++) {
        const struct weft_device_conf *device = weft_scenario_device(scenario, t->node[t->host[h]].name);
        if (device->host.data_header_bytes != first->data_header_bytes)
            return WEFT_REFUSE(ret_error, weft_device_place(device, "host.data_header"),
                               "host.data_header of %s is not that of %s; expected the same at all hosts",
                               t->node[t->host[h]].name, t->node[t->host[0]].name);
        if (weft_host_collects(&device->host) != weft_host_collects(first) ||
            weft_host_telemetry_bytes(&device->host) != weft_host_telemetry_bytes(first))
            return WEFT_REFUSE(ret_error, device->host.cc.place,
                               "host.cc of %s collects telemetry unlike that of %s; expected the same at all hosts",
                               t->node[t->host[h]].name, t->node[t->host[0]].name);
        if (device->host.roce == first->roce && device->host.vlan == first->vlan) continue;
        return WEFT_REFUSE(ret_error, weft_device_place(device, "host.roce"),
                           "host.roce and host.vlan of %s are not those of %s; expected the same at all hosts",
                           t->node[t->host[h]].name, t->node[t->host[0]].name);
    }
    return WEFT_OK;
}

/// RoCEv1 is Ethernet: frames have no code point, and no switch routes them.
static enum weft_status check_roce_v1(const struct weft_scenario *scenario, const struct weft_topology *t, uint32_t n,
                                      struct weft_error *ret_error) {
    const struct weft_node_info *node = &t->node[n];
    const struct weft_device_conf *device = weft_scenario_device(scenario, node->name);
    struct weft_place place = weft_device_place(weft_scenario_device(scenario, t->node[t->host[0]].name), "host.roce");
    for (uint32_t k = 0; k < node->ports; k++) {
        const struct weft_node_info *peer = &t->node[t->port[t->port[node->port0 + k].peer].node];
        if (peer->role == WEFT_NODE_SWITCH)
            return WEFT_REFUSE(ret_error, place,
                               "host.roce: v1 is not routable, and %s routes to %s; expected one switch between "
                               "hosts, or v2",
                               node->name, peer->name);
    }
    if (device->sw.trust != WEFT_TRUST_PCP)
        return WEFT_REFUSE(ret_error, place,
                           "host.roce: v1 has no DSCP, by which %s tells priorities; expected switch.trust: pcp and "
                           "a host.vlan",
                           node->name);
    if (strcmp(device->sw.sfc.model->name, "none") != 0)
        return WEFT_REFUSE(ret_error, device->sw.sfc.place,
                           "switch.sfc of %s: its messages are UDP, and host.roce is v1; expected none, or v2",
                           node->name);
    return WEFT_OK;
}

/// Cells have no form for a trimmed frame.
static enum weft_status check_trimming(const struct weft_scenario *scenario, const struct weft_topology *t,
                                       struct weft_error *ret_error) {
    const struct weft_model_conf *trims = NULL;
    uint32_t other = WEFT_NONE;
    for (uint32_t i = 0; i < t->switches; i++) {
        const struct weft_node_info *node = &t->node[t->switch_node[i]];
        const struct weft_model_conf *aqm = &weft_scenario_device(scenario, node->name)->sw.aqm;
        if (!weft__box_of(node)->takes_routes) other = t->switch_node[i];
        if (((const struct weft_aqm_ops *)aqm->model->ops)->trim) trims = aqm;
    }
    if (!trims) return WEFT_OK;
    const struct weft_model *transport = weft_scenario_device(scenario, t->node[t->host[0]].name)->host.transport.model;
    if (*scenario->capture.ports && !weft__transport_frames(transport->ops)->trims)
        return WEFT_REFUSE(ret_error, scenario->capture_place,
                           "capture: switch.aqm %s leaves headers of packets, for which frames of %s have no form; "
                           "expected another aqm, or no capture",
                           trims->model->name, transport->name);
    if (other == WEFT_NONE) return WEFT_OK;
    return WEFT_REFUSE(ret_error, trims->place,
                       "switch.aqm: %s needs Ethernet switches; %s is none, and carries no trimmed frames",
                       trims->model->name, t->node[other].name);
}

/// Records beside packets do not cross a fabric as cells.
static enum weft_status check_records(const struct weft_scenario *scenario, const struct weft_topology *t,
                                      const struct weft_host_conf *host, struct weft_error *ret_error) {
    const struct weft_transport_ops *transport = host->transport.model->ops;
    bool collects = weft_host_collects(host), sacks = transport->sacks && transport->sacks(host->transport.conf);
    if (collects && *scenario->capture.ports)
        return WEFT_REFUSE(ret_error, scenario->capture_place,
                           "capture: host.cc %s collects telemetry, for which captures have no form; expected "
                           "another cc, or no capture",
                           host->cc.model->name);
    if (sacks && !weft__transport_frames(transport)->sacks && *scenario->capture.ports)
        return WEFT_REFUSE(ret_error, scenario->capture_place,
                           "capture: host.transport %s acknowledges selectively, for which captures have no form; "
                           "expected another transport, or no capture",
                           host->transport.model->name);
    if (collects && transport->acknowledges_reads)
        return WEFT_REFUSE(ret_error, host->cc.place,
                           "host.cc: %s collects telemetry, which acknowledgements of %s have no room for",
                           host->cc.model->name, host->transport.model->name);
    for (uint32_t n = 0; (collects || sacks) && n < t->nodes; n++) {
        if (t->node[n].role == WEFT_NODE_HOST || weft__box_of(&t->node[n])->takes_routes) continue;
        if (collects)
            return WEFT_REFUSE(ret_error, host->cc.place,
                               "host.cc: %s needs Ethernet switches, which note telemetry; %s is none",
                               host->cc.model->name, t->node[n].name);
        return WEFT_REFUSE(ret_error, host->transport.place,
                           "host.transport: %s with selective acknowledgement needs Ethernet switches; %s is none, "
                           "and its cells do not carry what ACKs name",
                           host->transport.model->name, t->node[n].name);
    }
    return WEFT_OK;
}

/// What frames say about themselves, and who reads it.
static enum weft_status check_framing(const struct weft_scenario *scenario, const struct weft_topology *t,
                                      struct weft_error *ret_error) {
    if (!t->hosts) return WEFT_OK;
    const struct weft_host_conf *host = &weft_scenario_device(scenario, t->node[t->host[0]].name)->host;
    enum weft_status status = check_hosts_alike(scenario, t, ret_error);
    if (!status) status = check_trimming(scenario, t, ret_error);
    const struct weft_host_conf *before = NULL;
    for (uint32_t h = 0; h < t->hosts && !status; h++) {
        const struct weft_host_conf *own = &weft_scenario_device(scenario, t->node[t->host[h]].name)->host;
        if (own != before) status = check_records(scenario, t, own, ret_error); // which looks at all nodes
        before = own;
    }
    for (uint32_t i = 0; i < t->switches && !status; i++) {
        uint32_t n = t->switch_node[i];
        const struct weft_device_conf *device = weft_scenario_device(scenario, t->node[n].name);
        if (host->roce == WEFT_ROCE_V1) status = check_roce_v1(scenario, t, n, ret_error);
        if (status || device->sw.trust != WEFT_TRUST_PCP) continue;
        if (!weft__box_of(&t->node[n])->takes_routes)
            status = WEFT_REFUSE(ret_error, weft_device_place(device, "switch.trust"),
                                 "switch.trust: pcp, and %s is not an Ethernet switch; expected dscp", t->node[n].name);
        else if (!host->vlan)
            status = WEFT_REFUSE(ret_error, weft_device_place(device, "switch.trust"),
                                 "switch.trust: pcp, and hosts send frames without a tag; expected a host.vlan");
    }
    return status;
}

struct weft__plan *weft__plan_new(const struct weft_scenario *scenario, const struct weft_topology *t,
                                  struct weft_arena *arena) {
    struct weft__plan *plan = weft_arena_alloc(arena, 1, sizeof *plan);
    *plan = (struct weft__plan){.scenario = scenario,
                                .topology = t,
                                .device = weft_device_confs(scenario, t, arena),
                                .frame_bytes = weft__frame_bytes_max(scenario, t),
                                .host_rate_bps = weft__host_rate_least(t)};
    memset(plan->first, 0xff, sizeof plan->first); // WEFT_NONE
    for (uint32_t n = t->nodes; n-- > 0;)
        plan->first[t->node[n].box] = n;
    return plan;
}

static enum weft_status check_boxes(const struct weft_scenario *scenario, const struct weft_topology *t,
                                    struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    const struct weft__plan *plan = weft__plan_new(scenario, t, arena);
    for (uint32_t n = 0; n < t->nodes; n++) {
        const struct weft__box *box = weft__box_of(&t->node[n]);
        if (box->check) WEFT_TRY(box->check(plan, n, ret_error));
    }
    return weft__sharing_check(plan, false, ret_error);
}

enum weft_status weft_simulation_check(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                       struct weft_error *ret_error) {
    WEFT_TRY(check_matches(scenario, topology, ret_error));
    WEFT_TRY(check_sampling(scenario, topology, ret_error));
    WEFT_TRY(check_controller(scenario, topology, ret_error));
    WEFT_TRY(check_sections(scenario, topology, ret_error));
    WEFT_TRY(check_asked(scenario, topology, ret_error));
    WEFT_TRY(check_control(scenario, topology, ret_error));
    WEFT_TRY(check_route(scenario, topology, ret_error));
    WEFT_TRY(check_retry(scenario, topology, ret_error));
    WEFT_TRY(weft__check_credit(scenario, topology, ret_error));
    WEFT_TRY(check_framing(scenario, topology, ret_error));
    WEFT_TRY(weft__check_wire(scenario, topology, ret_error));
    WEFT_TRY(check_hardware(scenario, topology, ret_error));
    uint32_t n;
    struct weft_control_event *event;
    WEFT_TRY(weft_control_events_read(topology, scenario->control_tree, &event, &n, ret_error));
    if (*scenario->capture.ports) WEFT_TRY(check_capture(scenario, topology, ret_error));
    return check_boxes(scenario, topology, ret_error);
}

static enum weft_status check_flows(const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *workload, struct weft_error *ret_error) {
    for (uint32_t e = 0; e < workload->entries; e++)
        for (uint32_t i = workload->entry_flow[e]; i < workload->entry_flow[e + 1]; i++) {
            const struct weft_flow *f = &workload->flow[i];
            if (f->messages) continue; // their sender limits their size
            weft_bytes bytes = f->bytes / f->qps + (f->bytes % f->qps != 0);
            if (bytes < UINT32_MAX) continue; // a 32-bit count suffices at any MTU
            const char *src = topology->node[topology->host[f->src]].name;
            weft_bytes mtu = weft_scenario_device(scenario, src)->host.mtu_bytes;
            uint64_t size = f->depth ? f->message_bytes : bytes;
            if (weft__times(bytes / size, size / mtu + (size % mtu != 0)) < UINT32_MAX) continue;
            return WEFT_REFUSE(ret_error, scenario->workload[e].place,
                               "%s sends %s over a queue pair in packets of %s: more than 2^32 - 2 of them, for which "
                               "there are no numbers; expected a smaller size, more qps or a larger host.mtu",
                               src, weft__short_bytes(bytes).text, weft__short_bytes(mtu).text);
        }
    return WEFT_OK;
}

/// Where one NIC has ports in several networks, queue pairs belong to the hosts of the first network.
static enum weft_status check_planes(const struct weft_scenario *scenario, const struct weft_topology *t,
                                     const struct weft_workload *workload, struct weft_error *ret_error) {
    const struct weft_network_info *first = &t->network[0];
    if (!t->hosts || weft_scenario_device(scenario, t->node[t->host[0]].name)->host.planes == WEFT_PLANES_SEPARATE)
        return WEFT_OK;
    for (uint32_t e = 0; e < workload->entries; e++)
        for (uint32_t i = workload->entry_flow[e]; i < workload->entry_flow[e + 1]; i++) {
            const struct weft_flow *f = &workload->flow[i];
            uint32_t far = f->src >= first->hosts ? f->src : f->dst;
            if (f->rma)
                return WEFT_REFUSE(ret_error, scenario->workload[e].place,
                                   "remote memory access, and host.planes: queue_pair; expected separate");
            if (far >= first->hosts)
                return WEFT_REFUSE(ret_error, scenario->workload[e].place,
                                   "%s is a port of the NIC of %s (host.planes); expected hosts of %s",
                                   t->node[t->host[far]].name, t->node[t->host[far % first->hosts]].name, first->name);
        }
    return WEFT_OK;
}

static const struct weft_model *transport_of(const struct weft_scenario *scenario, const struct weft_topology *t,
                                             uint32_t host) {
    return weft_scenario_device(scenario, t->node[t->host[host]].name)->host.transport.model;
}

/// Both ends of a queue pair have the same transport.
static enum weft_status check_transports(const struct weft_scenario *scenario, const struct weft_topology *t,
                                         const struct weft_workload *workload, struct weft_error *ret_error) {
    uint32_t other = 1;
    while (other < scenario->devices &&
           scenario->device[other].host.transport.model == scenario->device[0].host.transport.model)
        other++;
    for (uint32_t i = 0; other < scenario->devices && i < workload->flows; i++) {
        const struct weft_flow *f = &workload->flow[i];
        const struct weft_model *src = transport_of(scenario, t, f->src), *dst = transport_of(scenario, t, f->dst);
        if (src != dst)
            return WEFT_REFUSE(ret_error, weft_device_place(&scenario->device[other], "host.transport"),
                               "host.transport: %s has transport %s and %s %s; expected the same, for data goes from "
                               "one to the other",
                               t->node[t->host[f->src]].name, src->name, t->node[t->host[f->dst]].name, dst->name);
    }
    return WEFT_OK;
}

/// The minimum computing time of a rank of a stage in an iteration.
static double compute_least(const struct weft_job *job, uint32_t stage) {
    double sum = 0;
    for (uint32_t i = 0; i < job->stage[stage].turns; i++)
        sum += (double)job->op[job->stage[stage].turn[i].op].compute_ps;
    bool slow = job->slow_rank < job->ranks && weft_job_stage_of(job, job->slow_rank) == stage;
    return slow && job->slow_factor > 1 ? sum * job->slow_factor : sum;
}

/// A run without run.until ends when all is done, which must be before the end of simulated time.
static enum weft_status check_jobs(const struct weft_scenario *scenario, const struct weft_workload *workload,
                                   struct weft_error *ret_error) {
    if (scenario->run.until_ps != WEFT_TIME_NEVER) return WEFT_OK;
    for (uint32_t j = 0; j < workload->jobs; j++) {
        const struct weft_job *job = &workload->job[j];
        double most = 0;
        for (uint32_t s = 0; s < job->stages; s++)
            most = fmax(most, compute_least(job, s));
        if ((double)job->start_ps + most * job->iterations <= (double)WEFT_TIME_MAX) continue;
        return WEFT_REFUSE(ret_error, job->place,
                           "job %s computes for %.0fs in its %u iterations; simulated time ends after %.0fs: expected "
                           "less to compute, fewer iterations, or run.until",
                           workload->group[job->group], most / (double)WEFT_PS_PER_S * job->iterations, job->iterations,
                           (double)(WEFT_TIME_MAX / WEFT_PS_PER_S));
    }
    return WEFT_OK;
}

enum weft_status weft_simulation_check_workload(const struct weft_scenario *scenario,
                                                const struct weft_topology *topology,
                                                const struct weft_workload *workload, struct weft_error *ret_error) {
    WEFT_TRY(check_flows(scenario, topology, workload, ret_error));
    WEFT_TRY(check_planes(scenario, topology, workload, ret_error));
    WEFT_TRY(check_transports(scenario, topology, workload, ret_error));
    WEFT_TRY(weft__attached_check(scenario, topology, workload, ret_error));
    WEFT_TRY(check_jobs(scenario, workload, ret_error));
    return weft__sample_check(scenario, topology, workload, ret_error);
}
