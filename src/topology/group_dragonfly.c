// SPDX-License-Identifier: Apache-2.0
// A dragonfly of Ethernet switches: groups of switches that are fully meshed, and groups fully meshed. Source: J. Kim,
// W. J. Dally, S. Scott, D. Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008 (a, h, p, g).
// Global port j of a group (of its switch j / h) leads to another group in turns over all distances, so that every
// pair of groups has a link; ports that remain go round once more. Differs: a packet takes any shortest path, also
// one over two links between groups where that is as short as over one, and no virtual channel keeps paths apart, so
// under PFC it can deadlock (docs/torus.md).

#include "base/order.h"
#include "topology/builder.h"
#include "weft/param.h"

struct group_conf {
    uint64_t groups, switches, hosts, global;
    weft_rate_bps rate_bps, host_rate_bps, global_rate_bps;
    weft_time_ps delay_ps, host_delay_ps, global_delay_ps;
    double bit_error_rate;
};

#define T struct group_conf

static const char *group_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    uint64_t ports = weft__times(c->switches, c->global);
    if (ports % 2 || ports / 2 < c->groups / 2)
        return WEFT_SAY(
            text, size,
            "%llu groups with %llu ports to others each; expected an even number of ports, at least one to each "
            "other group",
            (unsigned long long)c->groups, (unsigned long long)ports);
    const char *bad = weft__check_own_rate("host_rate", c->host_rate_bps, text, size);
    return bad ? bad : weft__check_own_rate("global_rate", c->global_rate_bps, text, size);
}

static const struct weft_param_table group_params =
    WEFT_PARAM_TABLE_OF("group_dragonfly", T, WEFT_PARAM_AND(.check = group_check, .lists = weft__topology_lists),
                        WEFT_UINT(T, groups, "groups", "9", "2", "65535", "groups (g)"),
                        WEFT_UINT(T, switches, "switches", "4", "1", "65535", "switches per group (a)"),
                        WEFT_UINT(T, hosts, "hosts", "2", "1", "65535", "hosts per switch (p)"),
                        WEFT_UINT(T, global, "global", "2", "1", "4096", "ports of a switch to other groups (h)"),
                        WEFT__COMMON_LINE_ROWS(T), WEFT__LINE_ROWS(T, host, "host links"),
                        WEFT__LINE_ROWS(T, global, "links between groups"));

static enum weft_status group_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                    struct weft_error *ret_error) {
    const T *c = conf;
    uint64_t switches = weft__times(c->groups, c->switches), hosts = weft__times(switches, c->hosts);
    uint64_t global = weft__times(c->groups, c->switches * c->global / 2);
    uint64_t local = weft__times(c->groups, c->switches * (c->switches - 1) / 2);
    enum weft_status status = weft__topology_check_size(b, weft__plus(switches, hosts),
                                                        weft__plus(hosts, weft__plus(local, global)), ret_error);
    if (!status && switches > WEFT__EDGES_MAX)
        status = WEFT_REFUSE(ret_error, b->place, "the dragonfly would have %llu switches; at most %u are supported",
                             (unsigned long long)switches, WEFT__EDGES_MAX);
    if (status) return status;
    struct weft__line common = {c->rate_bps, c->delay_ps, c->bit_error_rate};
    struct weft__line host_line = weft__line_or(c->host_rate_bps, c->host_delay_ps, common);
    struct weft__line global_line = weft__line_or(c->global_rate_bps, c->global_delay_ps, common);
    uint32_t *sw = weft_arena_alloc(b->arena, switches, sizeof *sw);
    for (uint64_t i = 0; i < switches; i++) {
        uint32_t group = (uint32_t)(i / c->switches);
        sw[i] = weft__topology_add_numbered(b, WEFT_NODE_SWITCH, "switch", 1, group, i);
        for (uint64_t h = 0; h < c->hosts; h++)
            weft__topology_connect(b, sw[i],
                                   weft__topology_add_numbered(b, WEFT_NODE_HOST, "host", 0, group, i * c->hosts + h),
                                   host_line);
    }
    for (uint64_t i = 0; i < switches; i++)
        for (uint64_t k = i + 1; k < (i / c->switches + 1) * c->switches; k++)
            weft__topology_connect(b, sw[i], sw[k], common);
    for (uint64_t g = 0; g < c->groups; g++)
        for (uint64_t k = 0; k < c->switches * c->global / 2; k++) {
            uint64_t far = (g + 1 + k % (c->groups / 2)) % c->groups;
            weft__topology_connect(b, sw[g * c->switches + 2 * k / c->global],
                                   sw[far * c->switches + (2 * k + 1) / c->global], global_line);
        }
    return WEFT_OK;
}

const struct weft_model weft__topology_group_dragonfly = WEFT_MODEL_OF(
    TOPOLOGY, "group_dragonfly", "groups of meshed Ethernet switches, and groups meshed; by default 72 hosts",
    "Kim, Dally, Scott, Abts, ISCA 2008; shortest paths only", &group_params,
    &(const struct weft_topology_ops){.build = group_build});
