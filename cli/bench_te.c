// SPDX-License-Identifier: Apache-2.0
// weft bench te: the time that the controller of traffic engineering computes per round, by the size of the network.
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "weft/cspf.h"
#include "weft/memory.h"

/// Meta's AI zone: racks of 16 GPUs, 18 uplinks (SIGCOMM 2024).
static const char te_text[] = "name: bench-te\n"
                              "topology: {kind: ai_zone, gpus_per_rack: 16, uplinks: 18}\n"
                              "workload: [{kind: flow, src: host-0, dst: host-1}]\n";

struct te_row {
    uint32_t hosts, demands, entries;
    bool every; ///< every host to every rack; or to the next one
    double cpu_s;
};

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// What every host sends at its line rate: to the next rack, or in equal parts to all others.
static uint32_t list_demands(const struct weft_topology *t, const struct weft_routes *r, bool every,
                             struct weft_cspf_demand *ret) {
    uint32_t n = 0;
    for (uint32_t h = 0; h < t->hosts; h++) {
        const struct weft_port_info *port = weft_topology_port(t, t->host[h], 0), *peer = &t->port[port->peer];
        uint32_t own = r->edge_of_host[h], others = every ? r->edges - 1 : 1;
        for (uint32_t k = 1; k <= others; k++)
            ret[n++] = (struct weft_cspf_demand){.sw = t->node[peer->node].index,
                                                 .edge = (own + k) % r->edges,
                                                 .rate_bps = t->link[port->link].rate_bps / others,
                                                 .port = (uint16_t)(port->peer - t->node[peer->node].port0)};
    }
    return n;
}

static struct te_row place_demands(const struct weft_topology *t, bool every) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SWITCH);
    struct weft_routes *routes = weft_routes_new(t, NULL);
    size_t demands = (size_t)t->hosts * (every ? routes->edges - 1 : 1);
    struct weft_cspf_demand *demand = weft_arena_alloc(arena, demands, sizeof *demand);
    struct te_row row = {.hosts = t->hosts, .demands = list_demands(t, routes, every, demand), .every = every};
    double before = cpu_now();
    row.entries = weft_cspf_place(t, routes, demand, row.demands, NULL, arena)->entries;
    row.cpu_s = cpu_now() - before;
    weft_routes_free(routes);
    weft_arena_free(arena);
    return row;
}

static int by_time(const void *a, const void *b) {
    double x = ((const struct te_row *)a)->cpu_s, y = ((const struct te_row *)b)->cpu_s;
    return (x > y) - (x < y);
}

enum { RUNS_MAX = 100 };

static struct te_row median_row(const struct weft_topology *t, bool every, uint64_t runs) {
    struct te_row row[RUNS_MAX];
    for (uint64_t i = 0; i < runs; i++)
        row[i] = place_demands(t, every);
    qsort(row, runs, sizeof *row, by_time);
    return row[runs / 2];
}

static void show_row(const struct te_row *row, json_t *list) {
    if (list)
        json_array_append_new(list, json_pack("{s:i, s:s, s:i, s:i, s:f}", "hosts", row->hosts, "to",
                                              row->every ? "every rack" : "the next rack", "demands", row->demands,
                                              "entries", row->entries, "cpu_s", row->cpu_s));
    else
        printf("%6" PRIu32 " hosts, each to %-13s  %9" PRIu32 " demands  %9" PRIu32
               " entries  %9.4f s of CPU, %5.2f us a demand\n",
               row->hosts, row->every ? "every rack" : "the next rack", row->demands, row->entries, row->cpu_s,
               1e6 * row->cpu_s / row->demands);
}

/// Measures a zone with this many racks.
static enum weft_status measure_zone(const struct weft_cli_options *options, const char *racks, uint64_t runs,
                                     json_t *list, struct weft_error *error) {
    char topology[64];
    snprintf(topology, sizeof topology, "topology.racks=%s", racks);
    const char *setting[] = {topology};
    struct weft_scenario_file *file = NULL;
    struct weft_cli_simulation s = {0};
    enum weft_status status = weft_scenario_file_parse("bench", te_text, strlen(te_text), setting, 1, &file, error);
    if (!status) status = weft_cli_simulation_init(&s, file, 0, error);
    for (unsigned every = 0; !status && every < 2; every++) {
        struct te_row row = median_row(s.topology, every, runs);
        show_row(&row, list);
        fflush(stdout);
    }
    weft_cli_simulation_deinit(&s);
    if (file) weft_scenario_file_free(file);
    return status;
}

int weft_cli_bench_te(const struct weft_cli_options *options, const char *k, uint64_t runs) {
    struct weft_error error = {0};
    json_t *list = options->json ? json_array() : NULL;
    char racks[128], *rest = racks;
    snprintf(racks, sizeof racks, "%s", k ? k : "8,16,32,64,128,256");
    enum weft_status status = WEFT_OK;
    for (char *one; !status && (one = strsep(&rest, ","));)
        status = measure_zone(options, one, runs < RUNS_MAX ? runs : RUNS_MAX, list, &error);
    if (list && !status) {
        json_t *all = json_pack("{s:s, s:s, s:O}", "weft", WEFT_VERSION, "bench", "te", "runs", list);
        json_dumpf(all, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(all);
    }
    json_decref(list);
    return status ? weft_cli_fail(&error) : 0;
}
