// SPDX-License-Identifier: Apache-2.0
// The links of a scenario, one direction each, sorted by what PFC headroom depends on.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/units.h"
#include "plan/plan.h"
#include "weft/buffer.h"
#include "weft/sim.h"

struct direction {
    const struct weft_node_info *from, *to;
    const struct weft_device_conf *from_conf, *to_conf;
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    uint32_t to_ports; ///< for Ethernet
    uint16_t members;  ///< for a Hyperport; else 1
    bool fabric;       ///< not Ethernet, without PFC
};

/// Highest receivers first, as in weft topo; then faster, longer, then by entry of `devices`, which are of one array.
WEFT__ORDER(compare_directions, struct direction,
            WEFT__DOWN(to->tier) ?: WEFT__DOWN(from->tier) ?: WEFT__TEXT(to->layer) ?: WEFT__TEXT(from->layer)
                ?: WEFT__DOWN(rate_bps) ?: WEFT__DOWN(delay_ps) ?: WEFT__UP(members) ?: WEFT__UP(to_conf)
                ?: WEFT__UP(from_conf) ?: WEFT__UP(fabric) ?: WEFT__DOWN(to_ports))

static struct direction direction_at(const struct weft_topology *t, const struct weft_device_conf *const *device,
                                     uint32_t port, uint32_t to_ports) {
    uint32_t to = t->port[port].node, from = t->port[t->port[port].peer].node;
    const struct weft_link_info *link = &t->link[t->port[port].link];
    return (struct direction){&t->node[from], &t->node[to],   device[from],
                              device[to],     link->rate_bps, link->delay_ps,
                              to_ports,       link->members,  weft_topology_link_is_fabric(t, t->port[port].link)};
}

static struct direction *list_directions(const struct weft_scenario *s, const struct weft_topology *t,
                                         struct weft_arena *arena) {
    const struct weft_device_conf **device = weft_device_confs(s, t, arena);
    uint32_t *ports = weft_arena_alloc(arena, t->nodes, sizeof *ports);
    for (uint32_t n = 0; n < t->nodes; n++)
        ports[n] = weft__plan_ports(t, n);
    struct direction *d = weft_arena_alloc(arena, t->ports, sizeof *d);
    for (uint32_t p = 0; p < t->ports; p++)
        d[p] = direction_at(t, device, p, ports[t->port[p].node]);
    qsort(d, t->ports, sizeof *d, compare_directions);
    return d;
}

static weft_bytes mtu_of(const struct weft_scenario *s, const struct weft_topology *t) {
    weft_bytes mtu = 0;
    for (uint32_t h = 0; h < t->hosts; h++) {
        const struct weft_device_conf *device = weft_scenario_device(s, t->node[t->host[h]].name);
        if (device->host.mtu_bytes > mtu) mtu = device->host.mtu_bytes;
    }
    return mtu;
}

/// A NIC pauses only if its host may be slower than the link.
static void fill_host(const struct direction *d, struct weft_plan_line *line, struct weft_arena *arena) {
    const struct weft_host_conf *host = &d->to_conf->host;
    line->lossless = host->pfc.priorities && host->drain_rate_bps;
    line->pfc.processing_ps = host->processing_ps;
    line->pfc.buffer_bytes = host->rx_buffer_bytes;
    line->pfc.xoff_bytes = host->rx_xoff_bytes;
    line->headroom_bytes = host->rx_buffer_bytes - host->rx_xoff_bytes;
    line->headroom_text = weft_arena_text(arena, "rx_buffer - rx_xoff");
}

static void fill_switch(const struct direction *d, struct weft_plan_line *line, struct weft_arena *arena) {
    struct weft__plan_switch sw = weft__plan_switch(&d->to_conf->sw, d->to_ports, arena);
    line->lossless = d->to_conf->sw.pfc.priorities && !d->fabric;
    line->pfc.processing_ps = d->to_conf->sw.processing_ps;
    line->pfc.chip = weft_arena_text(arena, d->to_conf->sw.chip);
    line->pfc.buffer_bytes = sw.buffer_bytes;
    line->pfc.xoff_bytes = sw.pfc_threshold_bytes;
    line->headroom_bytes = sw.headroom_bytes;
    line->pfc.held_cell_bytes = sw.cell_bytes;
    line->headroom_text = sw.headroom_text;
    const struct weft_model_conf *buffer = &d->to_conf->sw.buffer;
    const struct weft_buffer_ops *ops = buffer->model->ops;
    if (!ops->headroom_at || !line->lossless) return;
    const struct weft_buffer_port own = {d->rate_bps, d->rate_bps, d->delay_ps};
    weft_bytes headroom = ops->headroom_at(buffer->conf, &own);
    if (headroom == line->headroom_bytes) return;
    line->pfc.buffer_bytes += headroom - line->headroom_bytes;
    line->headroom_bytes = headroom;
    line->headroom_text = weft_arena_text(arena, "headroom and link_headroom");
}

/// "spine" or, if an entry of `devices` applies, "spine (spine-*)".
static const char *end_name(const char *layer, const char *match, struct weft_arena *arena) {
    return match ? weft_arena_format(arena, "%s (%s)", layer, match) : layer;
}

static void fill_line(const struct direction *d, const struct weft_plan_pfc_conf *base, weft_bytes mtu,
                      struct weft_plan_line *line, struct weft_arena *arena) {
    bool to_switch = d->to->role == WEFT_NODE_SWITCH, from_switch = d->from->role == WEFT_NODE_SWITCH;
    const char *from = d->from_conf->match, *to = d->to_conf->match;
    *line = (struct weft_plan_line){.from = weft_arena_text(arena, d->from->layer),
                                    .to = weft_arena_text(arena, d->to->layer),
                                    .from_match = from ? weft_arena_text(arena, from) : NULL,
                                    .to_match = to ? weft_arena_text(arena, to) : NULL,
                                    .pfc = *base};
    line->between =
        weft_arena_format(arena, "%s -> %s", end_name(line->from, from, arena), end_name(line->to, to, arena));
    line->pfc.rate_bps = d->rate_bps;
    line->pfc.delay_ps = d->delay_ps;
    line->pfc.mtu_bytes = mtu;
    line->pfc.reaction_ps = weft_pfc_calc_reaction(
        from_switch ? d->from_conf->sw.pfc.reaction_ps : d->from_conf->host.pfc.reaction_ps, d->rate_bps / d->members);
    (to_switch ? fill_switch : fill_host)(d, line, arena);
}

struct weft_plan_line *weft_plan_scenario_lines(const struct weft_scenario *scenario,
                                                const struct weft_topology *topology,
                                                const struct weft_plan_pfc_conf *base, struct weft_arena *arena,
                                                uint32_t *ret_lines) {
    struct direction *d = list_directions(scenario, topology, scenario->arena);
    uint32_t n = 0;
    for (uint32_t p = 0; p < topology->ports; p++)
        n += !p || compare_directions(&d[p - 1], &d[p]);
    struct weft_plan_line *line = weft_arena_alloc(arena, n, sizeof *line);
    weft_bytes mtu = mtu_of(scenario, topology), framing = 0;
    if (topology->hosts) // all hosts are alike
        framing =
            weft_host_framing_bytes(&weft_scenario_device(scenario, topology->node[topology->host[0]].name)->host);
    *ret_lines = 0;
    for (uint32_t p = 0; p < topology->ports; p++) {
        if (!p || compare_directions(&d[p - 1], &d[p])) {
            fill_line(&d[p], base, mtu, &line[*ret_lines], arena);
            line[*ret_lines].number = *ret_lines;
            (*ret_lines)++;
        }
        line[*ret_lines - 1].pfc.framing_bytes = framing;
        line[*ret_lines - 1].links++;
    }
    return line;
}

struct weft_plan_line weft_plan_line_at(const struct weft_topology *topology,
                                        const struct weft_device_conf *const *device, uint32_t port,
                                        const struct weft_plan_pfc_conf *base, struct weft_arena *arena) {
    struct weft_plan_line line;
    const struct direction d =
        direction_at(topology, device, port, weft__plan_ports(topology, topology->port[port].node));
    fill_line(&d, base, base->mtu_bytes, &line, arena);
    line.links = 1;
    return line;
}

const struct weft_plan_line *weft_plan_worst_line(const struct weft_plan_line *line, uint32_t lines) {
    const struct weft_plan_line *worst = NULL;
    weft_bytes most = 0;
    for (uint32_t l = 0; l < lines; l++) {
        weft_bytes need = weft_plan_calc_pfc(&line[l].pfc).headroom_bytes;
        if (!line[l].lossless || !strcmp(line[l].to, "host") || need <= most) continue;
        most = need;
        worst = &line[l];
    }
    return worst;
}

static const char *configured_text(const struct weft_plan_line *line, struct weft_arena *arena) {
    if (!line->lossless) return "no PFC here";
    const char *text =
        weft_arena_format(arena, "%s, %s", weft__bytes_text(line->headroom_bytes).text, line->headroom_text);
    return line->enough ? text
                        : weft_arena_format(arena, "%s: %s TOO LITTLE", text,
                                            weft__bytes_text(line->need.headroom_bytes - line->headroom_bytes).text);
}

void weft_plan_line_judge(struct weft_plan_line *line, struct weft_arena *arena) {
    const struct weft_plan_pfc_conf *c = &line->pfc;
    struct weft_plan_pfc_conf other = *c;
    struct weft_plan_pfc *p = &line->need;
    *p = weft_plan_calc_pfc(c);
    if (c->formula == WEFT_PLAN_SONIC) {
        p->pause_bytes = UINT64_MAX;
    } else {
        p->mac_phy_bytes = p->xon_bytes = p->size_bytes = UINT64_MAX;
        if (p->occupancy <= 1) p->occupancy = NAN;
    }
    for (other.formula = 0; other.formula < WEFT_PLAN_FORMULAS; other.formula++)
        line->need_by_formula[other.formula] = weft_plan_calc_pfc(&other).headroom_bytes;
    line->formula = weft_plan_formula_names[c->formula];
    line->enough = p->headroom_bytes <= line->headroom_bytes;
    line->configured = line->between ? configured_text(line, arena) : NULL;
    line->warning = weft_plan_warning_names; // "lossy" is the first
    line->warnings = c->buffer_bytes && (p->lossy || !p->fits);
}
