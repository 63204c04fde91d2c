// SPDX-License-Identifier: Apache-2.0
// Where flows go, and where they meet.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "topo.h"
#include "weft/sim.h"

#include "base/units.h"

struct paths {
    FILE *file;
    const struct weft_topology *t;
    const struct weft_workload *w;
    const struct weft_path *path;
    uint64_t n;
    int width, ends_width;
};

static const char *host_name(const struct paths *p, uint32_t host) {
    return p->t->node[p->t->host[host]].name;
}

static void print_ends(const struct paths *p, const struct weft_path *path, int width) {
    const struct weft_flow *f = &p->w->flow[path->flow];
    char ends[160];
    int n = snprintf(ends, sizeof ends, "%s -> %s", host_name(p, f->src), host_name(p, f->dst));
    if (f->qps > 1) n += snprintf(ends + n, sizeof ends - (size_t)n, " queue pair %" PRIu32, path->qp);
    fprintf(p->file, "%-*s  %-*s", p->width, p->w->group[f->group], width, ends);
}

static void print_way(const struct paths *p, const struct weft_path *path) {
    const char *before = "  ";
    print_ends(p, path, p->ends_width);
    for (uint32_t i = 1; i < path->hops; i++) {
        uint32_t in = p->t->port[p->t->port[path->port[i - 1]].peer].node, out = p->t->port[path->port[i]].node;
        fprintf(p->file, "%s%s", before, p->t->node[in].name);
        if (in != out) fprintf(p->file, " ~ %s", p->t->node[out].name); // cells use all lanes
        before = " > ";
    }
    putc('\n', p->file);
}

/// A step of a path.
struct step {
    uint32_t port;
    uint64_t path;
};

WEFT__ORDER(by_port, struct step, WEFT__UP(port) ?: WEFT__UP(path))

static void print_meeting(const struct paths *p, const struct step *step, uint64_t n) {
    char name[128];
    weft_topology_port_name(p->t, step->port, name, sizeof name);
    fprintf(p->file, "%s to %s\n", name, p->t->node[p->t->port[p->t->port[step->port].peer].node].name);
    for (uint64_t i = 0; i < n; i++) {
        fputs("  ", p->file);
        print_ends(p, &p->path[step[i].path], 0);
        putc('\n', p->file);
    }
}

/// Links that the paths of more than one flow use.
static void print_meetings(const struct paths *p, struct weft_arena *arena) {
    uint64_t steps = 0, k = 0;
    for (uint64_t i = 0; i < p->n; i++)
        steps += p->path[i].hops;
    struct step *step = weft_arena_alloc(arena, steps, sizeof *step);
    for (uint64_t i = 0; i < p->n; i++)
        for (uint32_t h = 0; h < p->path[i].hops; h++)
            step[k++] = (struct step){p->path[i].port[h], i};
    if (steps) qsort(step, steps, sizeof *step, by_port);
    fputs("\nlinks that flows share\n", p->file);
    for (uint64_t i = 0, end; i < steps; i = end) {
        bool shared = false;
        for (end = i + 1; end < steps && step[end].port == step[i].port; end++)
            shared |= p->path[step[end].path].flow != p->path[step[i].path].flow;
        if (shared) print_meeting(p, &step[i], end - i);
    }
}

/// Whether it enters a fabric at one node and leaves it at another, which print_way marks.
static bool crosses_fabric(const struct paths *p, const struct weft_path *path) {
    for (uint32_t i = 1; i < path->hops; i++)
        if (p->t->port[p->t->port[path->port[i - 1]].peer].node != p->t->port[path->port[i]].node) return true;
    return false;
}

void topo_print_paths(FILE *file, const struct weft_scenario *scenario, const struct weft_topology *topology,
                      const struct weft_workload *workload) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct paths p = {.file = file, .t = topology, .w = workload, .ends_width = 24};
    p.path = weft_paths_trace(scenario, topology, workload, arena, &p.n);
    for (uint32_t g = 0; g < workload->groups; g++)
        if ((int)strlen(workload->group[g]) > p.width) p.width = (int)strlen(workload->group[g]);
    for (uint32_t i = 0; i < workload->flows; i++)
        if (workload->flow[i].qps > 1) p.ends_width = 40;
    bool crosses = false;
    for (uint64_t i = 0; i < p.n && !crosses; i++)
        crosses = crosses_fabric(&p, &p.path[i]);
    fprintf(file, "paths of %s, seed %" PRIu64 ", all links up: the switches in order%s\n",
            weft__counted(workload->flows, "flow").text, scenario->run.seed,
            crosses ? " (~: through a fabric, as cells)" : "");
    for (uint64_t i = 0; i < p.n; i++)
        print_way(&p, &p.path[i]);
    print_meetings(&p, arena);
}
