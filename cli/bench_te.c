// SPDX-License-Identifier: Apache-2.0
// weft bench te: the time that the controller of traffic engineering computes per round, by the size of the network.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/order.h"
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
    WEFT_SCRATCH(arena, WEFT_MEMORY_SWITCH);
    struct weft_routes *routes = weft_routes_new(t, NULL);
    size_t demands = (size_t)t->hosts * (every ? routes->edges - 1 : 1);
    struct weft_cspf_demand *demand = weft_arena_alloc(arena, demands, sizeof *demand);
    struct te_row row = {.hosts = t->hosts, .demands = list_demands(t, routes, every, demand), .every = every};
    double before = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID);
    row.entries = weft_cspf_place(t, routes, demand, row.demands, NULL, arena)->entries;
    row.cpu_s = weft__clock_s(CLOCK_PROCESS_CPUTIME_ID) - before;
    weft_routes_free(routes);
    return row;
}

WEFT__ORDER(by_time, struct te_row, WEFT__UP(cpu_s))

enum { RUNS_MAX = 100 };

static struct te_row median_row(const struct weft_topology *t, bool every, uint64_t runs) {
    struct te_row row[RUNS_MAX];
    for (uint64_t i = 0; i < runs; i++)
        row[i] = place_demands(t, every);
    qsort(row, runs, sizeof *row, by_time);
    return row[runs / 2];
}

static void add_row(struct weft_bench_answer *answer, const struct te_row *row, bool print) {
    struct weft_bench_run run = weft_bench_run();
    run.hosts = row->hosts;
    run.to = row->every ? "every rack" : "the next rack";
    run.demands = row->demands;
    run.entries = row->entries;
    run.cpu_s = row->cpu_s;
    weft_bench_add(answer, run);
    if (print)
        printf("%6" PRIu32 " hosts, each to %-13s  %9" PRIu32 " demands  %9" PRIu32
               " entries  %9.4f s of CPU, %5.2f us a demand\n",
               row->hosts, run.to, row->demands, row->entries, row->cpu_s, 1e6 * row->cpu_s / row->demands);
}

/// Measures a zone with this many racks.
static enum weft_status measure_zone(const struct weft_cli_options *options, const char *racks, uint64_t runs,
                                     struct weft_bench_answer *answer, struct weft_error *error) {
    char topology[64];
    snprintf(topology, sizeof topology, "topology.racks=%s", racks);
    const char *setting[] = {topology};
    WEFT_ENDS(weft_scenario_file_end) struct weft_scenario_file *file = NULL;
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation s = {0};
    enum weft_status status = weft_scenario_file_parse("bench", te_text, strlen(te_text), setting, 1, &file, error);
    if (!status) status = weft_cli_simulation_init(&s, file, 0, error);
    for (unsigned every = 0; !status && every < 2; every++) {
        struct te_row row = median_row(s.topology, every, runs);
        add_row(answer, &row, !weft_cli_is_raw(options));
        fflush(stdout);
    }
    return status;
}

int weft_cli_bench_te(const struct weft_cli_options *options, const char *k, uint64_t runs) {
    struct weft_error error = {0};
    struct weft_bench_answer answer = {.bench = "te", .runs_each = WEFT_TIME_NEVER, .arena = options->arena};
    char racks[128], *rest = racks;
    snprintf(racks, sizeof racks, "%s", k ? k : "8,16,32,64,128,256");
    enum weft_status status = WEFT_OK;
    for (char *one; !status && (one = strsep(&rest, ","));)
        status = measure_zone(options, one, runs < RUNS_MAX ? runs : RUNS_MAX, &answer, &error);
    if (!status) status = weft_bench_tell(options, &answer, &error);
    return status ? weft_cli_fail(&error) : 0;
}
