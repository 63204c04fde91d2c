// SPDX-License-Identifier: Apache-2.0
// weft trace-control: the reaction of a DSF fabric's or Clique's control plane to the failures of a scenario, as a
// story.
#include "trace_control.h"

#include <inttypes.h>

#include "cli.h"
#include "weft/result.h"
#include "weft/scenario.h"

#include "base/units.h"

enum { NAMES = 4, TEXT = 32, NAME = 128, STEPS_DEFAULT = 60, CAPACITIES_MAX = 40 };

static struct { const char *steps; } form;
static uint64_t steps_max = STEPS_DEFAULT;
static const struct weft_cli_option own[] = {
    {"steps", "N", "show at most N steps of a burst of failures (default 60)", &form.steps, NULL},
    {0},
};
static const struct weft_cli_command command = {
    .name = "trace-control",
    .operands = "SCENARIO",
    .about =
        "Runs the control plane of a DSF fabric or a Clique over the failures and repairs under events: and the\n"
        "node events under control: events:, and lists the consequences of each: which device detected what, which\n"
        "links it withdrew or opened towards which destination and why, how long it took, and the capacity left to\n"
        "interface nodes at the end. Nothing else of the scenario runs.\n"
        "For a Clique of TiNs: sizes of its state, the bootstrap, the controller's reaction to failures, sessions\n"
        "and reboots, and the errors of clocks.\n"
        "With variants: the first, or the one that --variant names.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT,
    .answer = &weft__answer_trace_control,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
};

static uint32_t find_link(const struct weft_topology *t, weft_time_ps time, bool up, uint32_t i) {
    for (uint32_t e = 0; e < t->events; e++)
        if (t->event[e].time_ps == time && t->event[e].up == up && weft_topology_link_is_fabric(t, t->event[e].link) &&
            !i--)
            return t->event[e].link;
    return WEFT_NONE;
}

static const char *and_so_on(uint32_t i, uint32_t n) {
    return !i ? "" : i + 1 == n ? " and " : ", ";
}

static void print_dests(const struct weft_control_answer *v, const struct weft_control_step *s) {
    const struct weft_fabric *f = v->dsf->fabric[s->fabric];
    uint32_t named = s->dests > NAMES ? NAMES - 1 : s->dests;
    for (uint32_t i = 0; i < named; i++)
        printf("%s%s", and_so_on(i, s->dests), f->device[f->dest_device[v->dsf->dest[s->dest0 + i]]].name);
    if (named < s->dests) printf(" and %u more", s->dests - named);
}

/// The neighbours at a step's links, with the number of links to each.
static void print_links(const struct weft_control_answer *v, const struct weft_control_step *s) {
    const struct weft_fabric *f = v->dsf->fabric[s->fabric];
    uint32_t peers = 0, peer[WEFT_REACH_LINKS_MAX], links[WEFT_REACH_LINKS_MAX];
    for (uint32_t k = 0; k < f->device[s->device].links; k++) {
        if (!(s->links[k / 64] >> (k % 64) & 1)) continue;
        uint32_t i = 0, to = weft_fabric_peer(f, s->device, k);
        while (i < peers && peer[i] != to)
            i++;
        if (i == peers) {
            peer[peers] = to;
            links[peers++] = 0;
        }
        links[i]++;
    }
    uint32_t named = peers > NAMES ? NAMES - 1 : peers;
    for (uint32_t i = 0; i < named; i++) {
        printf("%s%s", and_so_on(i, peers), f->device[peer[i]].name);
        if (links[i] > 1) printf(" (%s)", weft__counted(links[i], "link").text);
    }
    if (named < peers) printf(" and %u more", peers - named);
}

static void print_step(const struct weft_control_answer *v, const struct weft_control_burst *b,
                       const struct weft_control_step *s) {
    const struct weft_fabric *f = v->dsf->fabric[s->fabric];
    char port[NAME];
    printf("  +%-9s %-12s ", weft__short_time(s->time_ps - b->time_ps).text, f->device[s->device].name);
    if (s->slot != WEFT_NONE) weft_control_port_name(v->topology, f, s->device, s->slot, port, sizeof port);
    if (s->deed == WEFT_REACH_NOTICED_DOWN || s->deed == WEFT_REACH_NOTICED_UP) {
        printf("sees its link to %s %s (%s)\n", f->device[weft_fabric_peer(f, s->device, s->slot)].name,
               s->deed == WEFT_REACH_NOTICED_UP ? "up again" : "down", port);
        return;
    }
    if (s->round && s->slot != WEFT_NONE) printf("hears %s: ", f->device[weft_fabric_peer(f, s->device, s->slot)].name);
    printf("towards ");
    print_dests(v, s);
    if (!s->out)
        printf(" no output is left: withdraws ");
    else
        printf(" input %u, output %u: %s ", s->in, s->out, s->deed == WEFT_REACH_OPENED ? "opens" : "withdraws");
    print_links(v, s);
    if (s->out) printf(", input %u", s->in_after);
    printf("\n");
}

static void print_links_of(const struct weft_control_answer *v, weft_time_ps time, bool up, uint32_t n) {
    const struct weft_topology *t = v->topology;
    for (uint32_t i = 0; i < n && i < NAMES; i++) {
        char end[2][NAME];
        const uint32_t *port = t->link[find_link(t, time, up, i)].port;
        for (uint32_t k = 0; k < 2; k++)
            weft_topology_port_name(t, port[k], end[k], sizeof end[k]);
        printf("%s%s to %s", i ? ", " : "", end[0], end[1]);
    }
    if (n > NAMES) printf(" and %u more", n - NAMES);
    printf(up ? " up again" : " down");
}

static void print_burst(const struct weft_control_answer *v, const struct weft_control_burst *b) {
    printf("\nat %s  ", weft__short_time(b->time_ps).text);
    if (b->down) print_links_of(v, b->time_ps, false, b->down);
    if (b->down && b->up) printf("; ");
    if (b->up) print_links_of(v, b->time_ps, true, b->up);
    for (uint32_t i = 0; i < v->dsf->events && b->drains; i++) {
        const struct weft_control_event *e = &v->dsf->event[i];
        if (e->time_ps != b->time_ps || !weft_control_is_drain(e)) continue;
        printf("%s%s %s", b->up || b->down ? "; " : "", v->topology->node[e->node].name,
               e->what == WEFT_CONTROL_DRAIN     ? "is drained"
               : e->what == WEFT_CONTROL_UNDRAIN ? "is no longer to be drained"
                                                 : "has an error of its ASIC");
    }
    printf("\n");
    for (uint32_t i = 0; i < b->steps && i < steps_max; i++)
        print_step(v, b, &b->step[i]);
    if (b->steps > steps_max) printf("  ... and %u more steps (--steps)\n", b->steps - (uint32_t)steps_max);
    if (!b->stats.changes)
        printf("  nothing comes of it%s\n", b->settled ? "" : " before the next");
    else
        printf("  %s %s: %s with news, %s; %" PRIu64 " times a link withdrawn towards a destination, %" PRIu64
               " opened\n",
               b->settled ? "settled after" : "still going on when the next came; last change after",
               weft__short_time(b->stats.last_ps - b->time_ps).text, weft__counted(b->stats.cells, "cell").text,
               weft__counted(b->stats.rounds, "round").text, b->stats.withdrawn, b->stats.opened);
}

static void print_capacities(const struct weft_control_answer *v) {
    const struct weft_control_trace *t = v->dsf;
    if (!t->capacities) {
        printf("\nat the end  every interface node can use every link towards every other\n");
        return;
    }
    printf("\n%-16s %10s %12s %7s %22s %9s  links left at the end\n", "towards", "of cluster", "links", "",
           "node with least", "cut off");
    for (uint32_t i = 0; i < t->capacities && i < CAPACITIES_MAX; i++) {
        const struct weft_control_capacity *c = &t->capacity[i];
        char links[TEXT], least[TEXT];
        snprintf(links, sizeof links, "%u of %u", c->links, c->wired);
        snprintf(least, sizeof least, "%u of %u", c->least, c->least_wired);
        printf("%-16s %10u %12s %6.1f%% %22s %9u", c->towards, c->cluster, links, 100.0 * c->links / c->wired, least,
               c->cut_off);
        if (c->resorting) printf("  %u by a link that is held back", c->resorting);
        printf("\n");
    }
    if (t->capacities > CAPACITIES_MAX) printf("... and %u more\n", t->capacities - CAPACITIES_MAX);
}

static void print_drained(const struct weft_control_answer *v) {
    for (uint32_t i = 0; i < v->dsf->drained_n; i++) {
        const struct weft_control_drained *d = &v->dsf->drained[i];
        printf("%s%s is %s at the end: it forwards between its own ports only\n", i ? "" : "\n", d->node,
               weft_drain_names[d->state]);
    }
}

static void print_over(const struct weft_control_answer *v) {
    const struct weft_control_oversubscription *o = &v->dsf->over;
    if (!o->groups) {
        printf("\nno device takes cells for any destination on more links than it has for them\n");
        return;
    }
    const struct weft_fabric *f = v->dsf->fabric[o->fabric];
    printf("\n%u times a device takes cells for a destination on more links than it has for them; the worst: %s "
           "towards %s, "
           "%u in and %u out\n",
           o->groups, f->device[o->device].name, f->device[f->dest_device[o->worst.dest]].name, o->worst.in,
           o->worst.out);
}

static void print_text(FILE *file, const void *answer) {
    const struct weft_control_answer *v = answer;
    if (v->clique) {
        trace_clique_print(v);
        return;
    }
    for (uint32_t i = 0; i < v->dsf->fabrics; i++) {
        const struct weft_fabric *f = v->dsf->fabric[i];
        uint32_t level[3] = {0};
        for (uint32_t d = 0; d < f->devices; d++)
            level[f->device[d].level]++;
        printf("fabric: %s, %s of level 1 and %u of level 2, %s\n", weft__counted(level[0], "interface node").text,
               weft__counted(level[1], "fabric node").text, level[2], weft__counted(f->links, "link").text);
    }
    printf("input balanced mode %s\n", v->conf->reach.balance ? "on" : "off");
    for (uint32_t i = 0; i < v->dsf->bursts; i++)
        print_burst(v, &v->dsf->burst[i]);
    print_capacities(v);
    print_over(v);
    print_drained(v);
    trace_control_print_nodes(v);
}

static enum weft_status trace_fabrics(const struct weft_scenario *s, const struct weft_topology *t,
                                      struct weft_control_answer *a, struct weft_error *ret_error) {
    struct weft_control_trace *trace;
    struct weft_control_event *event;
    uint32_t events;
    WEFT_TRY(weft_control_events_read(t, s->control_tree, &event, &events, ret_error));
    const struct weft_dragonflies *cliques = weft_dragonflies_new(t, s->arena);
    if (cliques->n > 1)
        return WEFT_REFUSE(ret_error, s->topology.place, "topology %s has %s; expected one", t->kind,
                           weft__counted(cliques->n, "Clique").text);
    if (cliques->n) {
        a->clique = weft_clique_trace_new(t, &cliques->fabric[0], s->device[0].section[WEFT_BOX_TIN], &s->control,
                                          event, events, s->run.seed, s->arena);
        return WEFT_OK;
    }
    WEFT_TRY(weft_control_trace_new(t, &s->control, event, events, s->run.seed, s->arena, &trace, ret_error));
    if (!trace->fabrics)
        return WEFT_REFUSE(ret_error, s->topology.place,
                           "topology %s has no DSF fabric: expected interface and fabric nodes, as in dsf_l1_zone, or "
                           "TiNs, as in dragonfly",
                           t->kind);
    a->dsf = trace;
    return WEFT_OK;
}

static enum weft_status trace_variant(const struct weft_scenario *s, const struct weft_cli_options *o,
                                      struct weft_error *ret_error) {
    struct weft_topology *t;
    if (form.steps && !weft_cli_number("--steps", form.steps, 0, UINT32_MAX, &steps_max)) return WEFT_ERROR_INPUT;
    WEFT_TRY(weft_scenario_topology(s, s->arena, &t, ret_error));
    struct weft_control_answer a = {
        .scenario = s->name, .variant = s->variant, .seed = s->run.seed, .topology = t, .conf = &s->control};
    enum weft_status status = trace_fabrics(s, t, &a, ret_error);
    return status ? status : weft_cli_answer(o, &weft__answer_trace_control, &a, print_text, ret_error);
}

static enum weft_status trace_scenario(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                       struct weft_error *ret_error) {
    return weft_cli_with_variant(o, file, trace_variant, ret_error);
}

int weft_cli_trace_control(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, trace_scenario);
}
