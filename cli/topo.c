// SPDX-License-Identifier: Apache-2.0
// weft topo: the network of a scenario, before anything runs on it.
#include <string.h>

#include "base/stream.h"
#include "base/units.h"
#include "cli.h"
#include "simulation.h"
#include "topo.h"
#include "weft/result.h"
#include "weft/sim.h"

enum { TEXT = 32 };

static struct {
    bool dot, paths;
    const char *links, *svg, *report;
} form;
static const struct weft_cli_option own[] = {
    {"dot", NULL, "Graphviz on standard output: weft topo --dot FILE | dot -Tsvg", NULL, &form.dot},
    {"paths", NULL, "the path of every flow with all links up, and the links where flows meet", NULL, &form.paths},
    {"links", "PATTERN",
     "the links by name, rate and delay: \"*\" lists all, \"core-0/*\" those of a switch, \"leaf-*--spine-1\" those "
     "between "
     "nodes; a name goes into events: and override:",
     &form.links, NULL},
    {"svg", "FILE", "write a drawing for a slide: one row per layer; in large networks similar nodes are merged",
     &form.svg, NULL},
    {"report", "FILE", "write a page of HTML: the drawing and the figures", &form.report, NULL},
    {0},
};
static const struct weft_cli_command command = {
    .name = "topo",
    .operands = "SCENARIO",
    .about = "Shows the network of a scenario: layers, links, oversubscription, bisection, paths, round trips.\n"
             "With variants: the first, or the one that --variant names.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_REPLACE,
    .answer = &weft__answer_topo,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
};

/// The answer, and what only the page shows.
struct topo_page {
    const struct weft_topology_answer *answer;
    const char *about; ///< of the scenario; NULL: nothing
};

static void print_layers(FILE *file, const struct weft_topology_summary *s) {
    fprintf(file, "\n%-14s %6s %9s %10s %10s  %s\n", "layer", "nodes", "ports", "down", "up",
            "oversubscription (down / up)");
    for (uint32_t i = 0; i < s->layers; i++) {
        const struct weft_layer_summary *l = &s->layer[i];
        char ports[TEXT], down[TEXT] = "-", up[TEXT] = "-", ratio[TEXT] = "-";
        if (l->ports_min == l->ports_max)
            snprintf(ports, sizeof ports, "%u", l->ports_min);
        else
            snprintf(ports, sizeof ports, "%u-%u", l->ports_min, l->ports_max);
        if (l->down_bps) weft_format_rate(l->down_bps, down, sizeof down);
        if (l->up_bps) weft_format_rate(l->up_bps, up, sizeof up);
        if (l->oversubscription_max > l->oversubscription_min)
            snprintf(ratio, sizeof ratio, "%.4g:1 to %.4g:1", l->oversubscription_min, l->oversubscription_max);
        else if (l->oversubscription_max > 0)
            snprintf(ratio, sizeof ratio, "%.4g:1", l->oversubscription_max);
        fprintf(file, "%-14s %6u %9s %10s %10s  %s\n", l->name, l->nodes, ports, down, up, ratio);
    }
}

static void print_figures(FILE *file, const struct weft_topology *t, const struct weft_topology_summary *s) {
    const char *host[4]; // first and last of each half
    for (unsigned i = 0; i < 4; i++)
        host[i] = t->node[s->half_ends[i]].name;
    fprintf(file, "\nbisection  %s, %.3g%% of the %s that half of the hosts can send\n",
            weft__short_rate(s->bisection_bps).text, 100.0 * (double)s->bisection_bps / (double)s->half_bps,
            weft__short_rate(s->half_bps).text);
    fprintf(file, "           computed: maximum flow from %s..%s to %s..%s\n", host[0], host[1], host[2], host[3]);
    fprintf(file, "diameter   %s, %u switch%s between two hosts\n", weft__counted(s->diameter_links, "link").text,
            s->diameter_links - 1, s->diameter_links > 2 ? "es" : "");
    if (s->paths_max > s->paths_min)
        fprintf(file, "paths      %.12g to %.12g shortest paths between hosts of different switches\n", s->paths_min,
                s->paths_max);
    else if (s->paths_max > 0)
        fprintf(file, "paths      %.12g shortest between hosts of different switches\n", s->paths_max);
    fprintf(file, "round trip %s to %s for a 64-byte frame there and back in the empty network\n",
            weft__short_time(s->rtt_min_ps).text, weft__short_time(s->rtt_max_ps).text);
    fprintf(file, "           computed: delay and 72 byte times a link, processing a switch; hosts take no time\n");
    for (const char *line = s->cells_computed, *end; line; line = *end ? end + 1 : NULL) {
        end = line + strcspn(line, "\n");
        fprintf(file, "           %.*s\n", (int)(end - line), line);
    }
}

/// The length of a machine's name without its number: "server" of "server-3".
static int stem_of(const char *name) {
    size_t n = strlen(name), length = n;
    while (length && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    while (length && strchr("-_.", name[length - 1]))
        length--;
    return (int)(length ? length : n);
}

static bool machines_are_alike(const struct weft_topology *t, const struct weft_machine_info *a,
                               const struct weft_machine_info *b) {
    int stem = stem_of(a->name);
    if (a->nics != b->nics || stem != stem_of(b->name) || strncmp(a->name, b->name, (size_t)stem)) return false;
    for (uint32_t i = 0; i < a->nics; i++)
        if (strcmp(t->nic[a->nic0 + i].network, t->nic[b->nic0 + i].network)) return false;
    return true;
}

/// Equal machines together: "32 server, each with 8 NICs in backend, 1 NIC in frontend". Without names of networks,
/// machines with one NIC are hosts.
static void print_machines(FILE *file, const struct weft_topology *t) {
    uint32_t kinds = 0, *kind = weft_arena_alloc(t->arena, t->machines, sizeof *kind),
             *n = weft_arena_alloc(t->arena, t->machines, sizeof *n);
    for (uint32_t m = 0, k; m < t->machines; m++) {
        for (k = 0; k < kinds && !machines_are_alike(t, &t->machine[kind[k]], &t->machine[m]);)
            k++;
        if (k == kinds) kind[kinds++] = m;
        n[k]++;
    }
    bool first = true;
    for (uint32_t k = 0; k < kinds; k++) {
        const struct weft_machine_info *machine = &t->machine[kind[k]];
        if (machine->nics == 1 && !*t->nic[machine->nic0].network) continue;
        fprintf(file, "%-10s %u %.*s, each with", first ? "machines" : "", n[k], stem_of(machine->name), machine->name);
        first = false;
        for (uint32_t i = 0, same; i < machine->nics; i += same) {
            const struct weft_nic_info *nic = &t->nic[machine->nic0 + i];
            for (same = 1; i + same < machine->nics && !strcmp(nic[same].network, nic->network); same++)
                ;
            fprintf(file, "%s %s%s%s", i ? "," : "", weft__counted(same, "NIC").text, *nic->network ? " in " : "",
                    nic->network);
        }
        putc('\n', file);
    }
}

static void print_text(FILE *file, const void *answer) {
    const struct weft_topology_answer *a = answer;
    const struct weft_topology *t = a->topology;
    fprintf(file, "%s: %s, ", t->kind, weft__counted(a->hosts, "host").text);
    if (a->processors) fprintf(file, "%s, ", weft__counted(a->processors, "control processor").text);
    fprintf(file, "%s, %s\n", weft__counted(t->switches, "switch").text, weft__counted(t->links, "link").text);
    if (*a->variant) fprintf(file, "variant %s\n", a->variant);
    if (t->wiring) fprintf(file, "wiring %s\n", t->wiring);
    print_machines(file, t);
    for (uint32_t i = 0; i < a->networks; i++) {
        const struct weft_topology_summary *n = &a->network[i];
        const struct weft_topology_answer one = {.topology = t, .network = n, .networks = 1};
        if (a->networks > 1)
            fprintf(file, "\n=== %s: %s, %s\n", n->info->name, weft__counted(n->hosts, "host").text,
                    weft__counted(n->info->switches, "switch").text);
        if (n->info->wiring) fprintf(file, "wiring %s\n", n->info->wiring);
        print_layers(file, n);
        putc('\n', file);
        weft_answer_text_table(file, &weft__answer_topo, &weft_topology_lines_table, &one);
        print_figures(file, t, n);
        weft_boxes_describe(file, t, n);
    }
    if (t->events)
        fprintf(file, "events     links go down or up %u times; the figures are for all links up\n", t->events);
}

static enum weft_status show_paths(const struct weft_scenario *s, const struct weft_topology *t,
                                   struct weft_error *ret_error) {
    struct weft_workload *w;
    enum weft_status status =
        weft_workload_new(s->workload, s->workloads, t, s->run.seed, s->run.until_ps, s->arena, &w, ret_error);
    if (!status) topo_print_paths(stdout, s, t, w);
    return status;
}

static enum weft_status show_links(const struct weft_topology *t, struct weft_error *ret_error) {
    uint32_t *link, n;
    enum weft_status status = weft_topology_select_links(t, form.links, WEFT_NOWHERE, &link, &n, ret_error);
    for (uint32_t i = 0; !status && i < n; i++) {
        const struct weft_link_info *l = &t->link[link[i]];
        char end[2][128];
        for (unsigned e = 0; e < 2; e++)
            weft_topology_port_name(t, l->port[e], end[e], sizeof end[e]);
        printf("%-20s %-20s %8s %10s", end[0], end[1], weft__short_rate(l->rate_bps).text,
               weft__short_time(l->delay_ps).text);
        if (l->bit_error_rate > 0) printf("  bit error rate %.3g", l->bit_error_rate);
        putchar('\n');
    }
    return status;
}

static void write_report(FILE *file, const void *topo_page) {
    static const char style[] = "body{font:15px sans-serif;max-width:1200px;margin:2em auto;padding:0 1em;color:#222}"
                                "svg{width:100%;height:auto}pre{overflow-x:auto;font-size:13px}";
    const struct topo_page *page = topo_page;
    WEFT__TEXT_STREAM(text, out);
    print_text(out, page->answer);
    fputs("<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
          "content='width=device-width'><title>",
          file);
    topo_print_escaped(file, page->answer->scenario);
    fprintf(file, "</title><style>%s</style></head>\n<body><h1>", style);
    topo_print_escaped(file, page->answer->scenario);
    fputs("</h1>\n<p>", file);
    topo_print_escaped(file, page->about ? page->about : "");
    fputs("</p>\n", file);
    topo_print_svg(file, page->answer);
    fputs("<pre>", file);
    topo_print_escaped(file, weft__text_stream_text(&text));
    fputs("</pre>\n</body></html>\n", file);
}

static enum weft_status write_files(const struct topo_page *page, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    if (form.svg) status = weft_cli_replace_file(form.svg, topo_print_svg, page->answer, ret_error);
    if (form.report && !status) status = weft_cli_replace_file(form.report, write_report, page, ret_error);
    if (form.svg && !status) fprintf(stderr, "weft: wrote %s\n", form.svg);
    if (form.report && !status) fprintf(stderr, "weft: wrote %s\n", form.report);
    return status;
}

static enum weft_status show_variant(const struct weft_scenario *s, const struct weft_cli_options *o,
                                     struct weft_error *ret_error) {
    struct weft_topology *t;
    enum weft_status status = WEFT_OK;
    if ((form.dot || form.paths || form.links) && (weft_cli_is_raw(o) || o->database))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--%s: it is text; expected no --json, --csv, --pick or --out with it",
                           form.dot     ? "dot"
                           : form.paths ? "paths"
                                        : "links");
    if ((form.dot || form.paths || form.links) && (form.svg || form.report || form.dot + form.paths + !!form.links > 1))
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE,
                           "--dot, --paths, --links, --svg, --report: one of the first three is the whole answer; "
                           "expected it alone");
    if (form.svg) status = weft_cli_can_write_file("--svg", form.svg, o, ret_error);
    if (form.report && !status) status = weft_cli_can_write_file("--report", form.report, o, ret_error);
    struct weft_scenario named = *s;
    if (form.links) named.events_tree = NULL; // the user may look for the name that an event has wrong
    if (!status) status = weft_scenario_topology(&named, s->arena, &t, ret_error);
    if (form.links && !status) return show_links(t, ret_error);
    if (!status) status = weft_simulation_check(s, t, ret_error);
    if (status) return status;
    if (form.paths) return show_paths(s, t, ret_error);
    if (form.dot) {
        weft_cli_terminal_raw();
        topo_print_dot(stdout, t);
        return WEFT_OK;
    }
    const struct weft_topology_answer answer =
        weft_topology_answer(s->name, s->variant, t, weft_boxes_summarise(s, t, s->arena));
    const struct topo_page page = {&answer, s->about};
    bool files = form.svg || form.report;
    if (files && (status = write_files(&page, ret_error))) return status;
    return weft_cli_answer(o, &weft__answer_topo, &answer, files ? NULL : print_text, ret_error);
}

static enum weft_status show_topology(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                      struct weft_error *ret_error) {
    return weft_cli_with_variant(o, file, show_variant, ret_error);
}

int weft_cli_topo(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, show_topology);
}
