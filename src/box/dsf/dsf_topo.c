// SPDX-License-Identifier: Apache-2.0
// What weft topo reports about disaggregated scheduled fabrics: boxes, lanes and ratios in operators' terms.
#include <inttypes.h>
#include <string.h>

#include "box/dsf/dsf_net.h"
#include "weft/param_load.h"
#include "weft/plan_dsf.h"

#include "base/units.h"

enum { TEXT = 32 };

static void print_fabric(FILE *file, const struct weft_dsf_layer *l, const char *head) {
    char down[TEXT], up[TEXT];
    fprintf(file, "%-10s %-12s %s", head, l->name, weft__counted(l->boxes, "box").text);
    if (l->nodes > l->boxes) fprintf(file, " of %.3g virtual devices", (double)l->nodes / l->boxes);
    fprintf(file, ", each %s lanes down", weft__view_range(l->down_min, l->down_max, down, sizeof down));
    if (l->up_max) fprintf(file, " and %s up", weft__view_range(l->up_min, l->up_max, up, sizeof up));
    if (l->up_min && l->up_max == l->up_min && l->down_min == l->down_max)
        fprintf(file, ": %.4g:1", (double)l->down_min / l->up_min);
    putc('\n', file);
}

/// Interface nodes of a layer, grouped by sort.
static void print_interfaces(FILE *file, const struct weft_dsf_layer *l, const char *head,
                             const struct weft_plan_dsf_sort *sort, uint32_t sorts) {
    for (uint32_t i = 0; i < sorts; i++) {
        if (strcmp(sort[i].layer, l->name) != 0) continue;
        struct weft_plan_dsf p = weft_plan_calc_dsf(&sort[i].conf);
        fprintf(file, "%-10s %-12s %s, each %s of %s and %s of %s: %.3g times the ports, %.3g after cell headers\n",
                head, l->name, weft__counted(sort[i].nodes, "box").text, weft__counted(sort[i].conf.ports, "port").text,
                weft__short_rate(sort[i].conf.rate_bps).text, weft__counted(sort[i].conf.lanes, "lane").text,
                weft__short_rate(p.coded_bps / sort[i].conf.lanes).text, p.coded_speedup, p.net_speedup);
        head = "";
    }
}

static void print_fabrics(FILE *file, const struct weft_dsf_summary *s) {
    const char *number = "one fabric";
    struct weft__counted fabrics = weft__counted(s->fabrics, "fabric");
    if (s->alike < s->fabrics) {
        fprintf(file, "           %s that are not alike\n", fabrics.text);
        return;
    }
    bool several = s->fabrics > 1;
    if (several) number = fabrics.text;
    fprintf(file, "           %s%s of %s, %s", number, several ? ", each" : "",
            weft__counted(s->hosts, "NIC port").text, weft__short_rate(s->host_bps).text);
    if (s->links && s->link_bps < s->host_bps)
        fprintf(file, "; %s out of it, %s: %.4g:1, %.3g%% of what a port can send",
                weft__counted(s->links, "link").text, weft__short_rate(s->link_bps).text,
                (double)s->host_bps / (double)s->link_bps, 100 * (double)s->link_bps / (double)s->host_bps);
    else if (s->links)
        fprintf(file, "; %s out of it, %s", weft__counted(s->links, "link").text, weft__short_rate(s->link_bps).text);
    putc('\n', file);
}

static void describe_dsf(FILE *file, const struct weft_topology *t, const struct weft_topology_summary *network) {
    const struct weft_dsf_summary *s = network->dsf;
    if (!s) return;
    struct weft_plan_dsf_conf base;
    uint32_t sorts;
    weft_params_load(&weft_plan_dsf_table, NULL, &base, t->arena, NULL); // defaults
    struct weft_plan_dsf_sort *sort = weft_plan_topology_dsf(t, &base, t->arena, &sorts);
    for (uint32_t i = 0; i < s->layers; i++) {
        const char *head = i ? "" : "DSF";
        if (s->layer[i].box == WEFT_BOX_DSF_FABRIC)
            print_fabric(file, &s->layer[i], head);
        else
            print_interfaces(file, &s->layer[i], head, sort, sorts);
    }
    print_fabrics(file, s);
}

const struct weft__box_view weft__dsf_view = {.describe = describe_dsf};
