// SPDX-License-Identifier: Apache-2.0
// Which hardware a run had, and what of it was ideal.
#include <stdio.h>
#include <string.h>

#include "results/rows.h"
#include "weft/hardware.h"

struct use {
    const char *what, *name;
    uint32_t kind, nodes;
    bool ideal;
};
struct uses {
    struct use *use;
    uint32_t n;
};

static void count_use(struct uses *s, uint32_t kind, const char *name, uint32_t nodes) {
    uint32_t i = 0, at = 0; // by kind
    while (i < s->n && (s->use[i].kind != kind || strcmp(s->use[i].name, name) != 0))
        at += s->use[i++].kind <= kind;
    if (i == s->n) {
        memmove(&s->use[at + 1], &s->use[at], (s->n++ - at) * sizeof *s->use);
        s->use[i = at] = (struct use){weft_hardware_kind_what(kind), name, kind, 0, !strcmp(name, WEFT_HARDWARE_IDEAL)};
    }
    s->use[i].nodes += nodes;
}

static struct uses *uses_of(const struct weft_run *run, struct weft_arena *arena) {
    const struct weft_scenario *scenario = run->scenario;
    const struct weft_topology *t = run->topology;
    struct uses *s = weft_arena_alloc(arena, 1, sizeof *s);
    uint32_t cables = 1; // runs of links with one cable
    for (uint32_t i = 1; i < t->links; i++)
        cables += t->link[i].cable != t->link[i - 1].cable;
    s->use = weft_arena_alloc(arena, (scenario->devices + 1) * WEFT_HARDWARE_KINDS + scenario->workloads + cables,
                              sizeof *s->use);
    for (uint32_t n = 0; n < t->nodes; n++) {
        uint32_t kind;
        const char *name = weft_device_hardware(weft_scenario_device(scenario, t->node[n].name), &t->node[n], &kind);
        if (name) count_use(s, kind, name, 1);
    }
    for (uint32_t w = 0; w < scenario->workloads; w++) {
        const char *name = weft_scenario_server(scenario, w, arena);
        if (name) count_use(s, WEFT_HARDWARE_SERVER, name, 1);
    }
    for (uint32_t i = 0, first = 0; i < t->links; i++) {
        if (i + 1 < t->links && t->link[i + 1].cable == t->link[i].cable) continue;
        count_use(s, WEFT_HARDWARE_CABLE, t->link[i].cable ? t->link[i].cable : WEFT_HARDWARE_IDEAL, i + 1 - first);
        first = i + 1;
    }
    return s;
}

/// A program may have built its network without a scenario's text.
WEFT_RESULT_PRESENT(has_settings, run->scenario->topology.model != NULL)

static bool next_use(struct weft_result_cursor *c) {
    struct uses *s = c->state = c->state ? c->state : uses_of(c->run, c->arena);
    if (c->at == s->n) return false;
    c->part[0] = &s->use[c->at++];
    return true;
}

/// Whether hardware of that kind is of several classes.
static bool is_mixed(const struct uses *s, uint32_t kind) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        n += s->use[i].kind == kind;
    return n > 1;
}

/// "switches tomahawk5, hosts connectx7"; of ideal ones only what they are. Returns how many there are.
static uint32_t print_some(FILE *file, const struct uses *s, bool ideal, const char *before) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct use *u = &s->use[i];
        if (u->ideal != ideal) continue;
        fprintf(file, "%s%s%s%s", n++ ? ", " : before, u->what, ideal ? "" : " ", ideal ? "" : u->name);
        if (is_mixed(s, u->kind)) fprintf(file, " (%u)", u->nodes);
    }
    return n;
}

static void print_uses(FILE *file, const struct weft_run *run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const struct uses *s = uses_of(run, arena);
    uint32_t named = print_some(file, s, false, "hardware: ");
    print_some(file, s, true, named ? "; ideal: " : "hardware: ideal: ");
    putc('\n', file);
}

static const struct weft_result_column hardware_columns[] = {
    WEFT_RESULT(struct use, what, TEXT, "what is of the class: switches, hosts, links, servers of a workload, ...",
                .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_NAMED(struct use, name, "class", TEXT,
                      "class of hardware, as the scenario names it (weft models hardware)", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct use, ideal, BOOL, "whether the class is ideal, which is no product"),
    WEFT_RESULT(struct use, nodes, COUNT, "nodes, links, or workloads with such servers"),
};
const struct weft_result_table weft__results_hardware =
    WEFT_RESULT_TABLE("hardware", LIST, "hardware that the run had: a class of chips, NICs, cables or servers",
                      hardware_columns, .next = next_use, .present = has_settings, .print = print_uses);
