// SPDX-License-Identifier: Apache-2.0
// Links selected by text, and links of a generated network that differ from the rest:
//   override: [{link: "core-0/3", rate: 100Gbps}, {link: "access-7/*", bit_error_rate: 1e-9}]
#include <stdio.h>
#include <string.h>

#include "topology/builder.h"
#include "weft/param.h"
#include "weft/param_load.h"

/// Reports what the name should have been: the node, the port range, or its neighbours.
static enum weft_status unknown_link(const struct weft_topology *t, const char *name, struct weft_place place,
                                     struct weft_error *ret_error) {
    const char *mark = strstr(name, "--");
    bool pair = mark != NULL;
    if (!mark) mark = strchr(name, '/');
    if (!mark && weft_topology_find_node(t, name) != WEFT_NONE)
        return WEFT_REFUSE(ret_error, place, "no link '%s': that is a node; \"%s/*\" is all of its links, \"%s/0\" one",
                           name, name, name);
    if (!mark)
        return WEFT_REFUSE(ret_error, place, "no link '%s'; expected a port (%s/0) or two nodes (%s--%s)", name,
                           t->node[0].name, t->node[0].name,
                           t->node[t->port[weft_topology_port(t, 0, 0)->peer].node].name);
    const char *part[2] = {name, pair ? mark + 2 : ""};
    size_t length[2] = {(size_t)(mark - name), strlen(part[1])};
    for (unsigned i = 0; i < (pair ? 2 : 1); i++) {
        char node[128];
        snprintf(node, sizeof node, "%.*s", (int)length[i], part[i]);
        if (weft_topology_find_node(t, node) != WEFT_NONE) continue;
        const char *nearest = weft__topology_nearest_node(t, part[i], length[i]);
        return WEFT_REFUSE(ret_error, place, "no link '%s': no node '%s'%s%s%s", name, node,
                           nearest ? "; nearest: '" : "", nearest ? nearest : "", nearest ? "'" : "");
    }
    if (pair) return WEFT_REFUSE(ret_error, place, "no link '%s': the two nodes are not neighbours", name);
    char node[128];
    snprintf(node, sizeof node, "%.*s", (int)length[0], name);
    const struct weft_node_info *info = &t->node[weft_topology_find_node(t, node)];
    return WEFT_REFUSE(ret_error, place, "no link '%s': %s has ports 0 to %u", name, node, info->ports - 1);
}

/// By the name of a port, or of the link as "a--b" from either end.
static bool link_matches(const struct weft_topology *t, uint32_t link, const char *glob) {
    for (unsigned end = 0; end < 2; end++) {
        uint32_t port = t->link[link].port[end];
        char name[264];
        weft_topology_port_name(t, port, name, sizeof name);
        if (weft_glob_match(glob, name)) return true;
        snprintf(name, sizeof name, "%s--%s", t->node[t->port[port].node].name,
                 t->node[t->port[t->port[port].peer].node].name);
        if (weft_glob_match(glob, name)) return true;
    }
    return false;
}

static enum weft_status select_matching(const struct weft_topology *t, const char *glob, struct weft_place place,
                                        uint32_t **ret_link, uint32_t *ret_n, struct weft_error *ret_error) {
    uint32_t *found = weft_memory_new(WEFT_MEMORY_TOPOLOGY, t->links, sizeof *found), n = 0;
    for (uint32_t l = 0; l < t->links; l++)
        if (link_matches(t, l, glob)) found[n++] = l;
    *ret_link = weft_arena_alloc(t->arena, n, sizeof **ret_link);
    memcpy(*ret_link, found, n * sizeof *found);
    *ret_n = n;
    weft_memory_free(WEFT_MEMORY_TOPOLOGY, found, t->links * sizeof *found);
    if (n) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place,
                       "no link matches '%s'; expected such as \"%s/*\" or "
                       "\"%s--*\"",
                       glob, t->node[0].name, t->node[0].name);
}

enum weft_status weft_topology_select_links(const struct weft_topology *t, const char *text, struct weft_place place,
                                            uint32_t **ret_link, uint32_t *ret_n, struct weft_error *ret_error) {
    if (strpbrk(text, "*?[,")) return select_matching(t, text, place, ret_link, ret_n, ret_error);
    uint32_t link = weft_topology_find_link(t, text);
    if (link == WEFT_NONE) return unknown_link(t, text, place, ret_error);
    *ret_link = weft_arena_alloc(t->arena, 1, sizeof **ret_link);
    **ret_link = link;
    *ret_n = 1;
    return WEFT_OK;
}

struct override_conf {
    const char *link;
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    double bit_error_rate;
};
static const struct weft_param_table override_table = WEFT_PARAM_TABLE_OF(
    "override", struct override_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TEXT(struct override_conf, link, "link", NULL, "as in events: \"access-0/8\", \"a--b\" or \"core-0/*\""),
    WEFT_RATE(struct override_conf, rate_bps, "rate", "1Gbps", "10Mbps", "100Tbps", "unless given: as it was"),
    WEFT_TIME(struct override_conf, delay_ps, "delay", "1ps", "1ps", "1s", "unless given: as it was"),
    WEFT_REAL(struct override_conf, bit_error_rate, "bit_error_rate", "0", "0", "0.1", "unless given: as it was"));
const char *const weft__topology_lists[] = {"override", "routes", NULL};

static enum weft_status set_link(struct weft_topology *t, const struct weft_tree *entry, struct weft_error *ret_error) {
    struct override_conf conf;
    uint32_t *link, n;
    WEFT_TRY(weft_params_load(&override_table, entry, &conf, t->arena, ret_error));
    WEFT_TRY(weft_topology_select_links(t, conf.link, weft_tree_find(entry, "link")->place, &link, &n, ret_error));
    for (uint32_t i = 0; i < n; i++) {
        struct weft_link_info *l = &t->link[link[i]];
        if (weft_tree_find(entry, "rate")) l->rate_bps = conf.rate_bps;
        if (weft_tree_find(entry, "delay")) l->delay_ps = conf.delay_ps;
        if (weft_tree_find(entry, "bit_error_rate")) l->bit_error_rate = conf.bit_error_rate;
    }
    return WEFT_OK;
}

enum weft_status weft__topology_override(struct weft_topology *t, const struct weft_tree *tree,
                                         struct weft_error *ret_error) {
    const struct weft_tree *list = weft_tree_find(tree, weft__topology_lists[0]);
    if (!list || list->type == WEFT_TREE_NULL) return WEFT_OK;
    if (list->type != WEFT_TREE_LIST)
        return WEFT_REFUSE(ret_error, list->place, "override: expected a list, as in [{link: \"%s/0\", rate: 100Gbps}]",
                           t->node[0].name);
    for (uint32_t i = 0; i < list->n; i++)
        WEFT_TRY(set_link(t, list->child[i], ret_error));
    return WEFT_OK;
}
