// SPDX-License-Identifier: Apache-2.0
// Links by DCBX: equal ones share one line, because a network has thousands of links but few configurations.
#include <inttypes.h>
#include <string.h>

#include "weft/dcbx.h"
#include "weft/report.h"

#include "base/units.h"

enum { TEXT = 160 };

/// Links that are equal except for the names of their ends.
struct kind {
    uint32_t first, links;
};

static const struct weft_node_info *node_of(const struct weft_topology *t, uint32_t link, unsigned end) {
    return &t->node[t->port[t->link[link].port[end]].node];
}

static unsigned end_of(const struct weft_topology *t, uint32_t link, uint32_t port) {
    return t->link[link].port[1] == port;
}

static bool are_alike(const struct weft_topology *t, const struct weft_link_dcbx *links, uint32_t x, uint32_t y) {
    const struct weft_link_dcbx *a = &links[x], *b = &links[y];
    for (unsigned k = 0; k < 2; k++)
        if (a->speaks[k] != b->speaks[k] || a->hears[k] != b->hears[k] || a->in_force[k] != b->in_force[k] ||
            a->configured[k] != b->configured[k] || strcmp(node_of(t, x, k)->layer, node_of(t, y, k)->layer))
            return false;
    if (a->lossless != b->lossless || a->notes != b->notes) return false;
    for (uint32_t i = 0; i < a->notes; i++)
        if (end_of(t, x, a->note[i].port) != end_of(t, y, b->note[i].port) ||
            strcmp(a->note[i].found, b->note[i].found) || strcmp(a->note[i].consequence, b->note[i].consequence))
            return false;
    return true;
}

static uint32_t sort_links(const struct weft_topology *t, const struct weft_link_dcbx *links, struct kind *kind) {
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < t->links; i++) {
        uint32_t k = 0;
        while (k < kinds && !are_alike(t, links, kind[k].first, i))
            k++;
        if (k == kinds) kind[kinds++] = (struct kind){.first = i};
        kind[k].links++;
    }
    return kinds;
}

/// "3", or "3 here, 4 there" as "3 | 4".
static const char *both_text(uint8_t a, uint8_t b, char text[TEXT]) {
    char first[TEXT / 4], second[TEXT / 4];
    weft_dcbx_priorities_text(a, first, sizeof first);
    weft_dcbx_priorities_text(b, second, sizeof second);
    return WEFT_SAY(text, TEXT, a == b ? "%s" : "%s | %s", first, second);
}

static const char *heard_text(const struct weft_link_dcbx *l) {
    if (l->hears[0] && l->hears[1]) return "both";
    if (!l->speaks[0] && !l->speaks[1]) return "off";
    return l->hears[0] || l->hears[1] ? "one end" : "not seen";
}

static void print_kind(FILE *file, const struct weft_topology *t, const struct weft_link_dcbx *links,
                       const struct kind *kind) {
    const struct weft_link_dcbx *l = &links[kind->first];
    char configured[TEXT], in_force[TEXT], lossless[TEXT], ends[TEXT], name[TEXT];
    snprintf(ends, sizeof ends, "%s - %s", node_of(t, kind->first, 0)->layer, node_of(t, kind->first, 1)->layer);
    weft_dcbx_priorities_text(l->lossless, lossless, sizeof lossless);
    fprintf(file, "%6" PRIu32 "  %-18s %-9s %-15s %-15s %s\n", kind->links, ends, heard_text(l),
            both_text(l->configured[0], l->configured[1], configured),
            both_text(l->in_force[0], l->in_force[1], in_force), lossless);
    for (uint32_t i = 0; i < l->notes; i++) {
        weft_topology_port_name(t, l->note[i].port, name, sizeof name);
        fprintf(file, "        %s%s: %s\n          so %s\n", kind->links > 1 ? "as at " : "", name, l->note[i].found,
                l->note[i].consequence);
    }
}

void weft_report_links(FILE *file, const struct weft_topology *t, const struct weft_link_dcbx *links, bool all) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct kind *kind = weft_arena_alloc(arena, t->links, sizeof *kind);
    uint32_t kinds = sort_links(t, links, kind), differ = 0;
    for (uint32_t k = 0; k < kinds; k++)
        if (links[kind[k].first].notes) differ += kind[k].links;
    fprintf(file, "DCBX   %s, %" PRIu32 " with differences between their ends\n", weft__counted(t->links, "link").text,
            differ);
    if (all || differ)
        fprintf(file, "%6s  %-18s %-9s %-15s %-15s %s\n", "links", "between", "LLDP", "PFC configured", "in force",
                "lossless");
    for (uint32_t k = 0; k < kinds; k++)
        if (all || links[kind[k].first].notes) print_kind(file, t, links, &kind[k]);
}
