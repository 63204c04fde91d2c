// SPDX-License-Identifier: Apache-2.0
// weft check: everything except running, for every variant.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_memory.h"
#include "claims.h"
#include "terminal.h"
#include "weft/hints.h"
#include "weft/result.h"
#include "weft/sweep.h"

#include "base/json.h"
#include "base/units.h"

static bool links, memory;

static const struct weft_cli_option options[] = {
    {"links", NULL, "also negotiate every link by DCBX as configured, and show the consequences of differences", NULL,
     &links},
    {"memory", NULL,
     "also start the run for a second of CPU time, and estimate the memory and CPU time of the whole run", NULL,
     &memory},
    {0},
};

static const struct weft_cli_command command = {
    .name = "check",
    .option = options,
    .operands = "SCENARIO",
    .about =
        "Validates a scenario: every variant with its topology and its workload, its claims with their metrics, and\n"
        "the points of its sweep. It writes nothing, and without --memory it runs nothing.\n"
        "Exit status: 0 all good, 2 an error, reported with file, line and column.",
    .accept = WEFT_CLI_SET | WEFT_CLI_WRITES | WEFT_CLI_HINTS | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_JSON,
    .operands_min = 1,
    .operands_max = 1,
};

static weft_bytes total_bytes(const struct weft_workload *w) {
    weft_bytes bytes = w->counted_bytes;
    for (uint32_t i = 0; i < w->flows; i++)
        bytes += w->flow[i].rma ? 0 : w->flow[i].bytes;
    return bytes;
}

static void print_text(const struct weft_cli_simulation *s) {
    const struct weft_topology *t = s->topology;
    const struct weft_workload *w = s->workload;
    char bytes[32];
    weft_format_bytes(total_bytes(w), bytes, sizeof bytes);
    printf("ok: scenario %s%s%s: %s, %s, %s, %s; %s in %s, %s\n", s->scenario->name,
           *s->scenario->variant ? ", variant " : "", s->scenario->variant, t->kind,
           weft__counted(t->hosts, "host").text, weft__counted(t->switches, "switch").text,
           weft__counted(t->links, "link").text, weft__counted(w->flows + w->counted_flows - w->rma_flows, "flow").text,
           weft__counted(w->groups, "group").text, bytes);
    if (links) weft_report_links(stdout, t, weft_links_negotiate(s->scenario, t, s->arena), true);
}

static void print_estimate(const struct weft_cli_estimate *e) {
    char bytes[32];
    if (!e->known) {
        puts("    a run takes more memory than there is");
        return;
    }
    weft_format_bytes((weft_bytes)e->peak_rss_bytes, bytes, sizeof bytes);
    printf("    a run takes %s of memory", bytes);
    if (!isnan(e->cpu_s))
        printf(", %.3g s of CPU time for %.3g M %s-hops", e->cpu_s, e->hops * 1e-6, e->cells ? "cell" : "packet");
    if (!isnan(e->cpu_s) && !isnan(e->hops_per_cpu_s)) printf(" at %.3g M a second", e->hops_per_cpu_s * 1e-6);
    puts(!e->tried         ? " (by the number of its connections)"
         : e->ended        ? " (all of it was run)"
         : isnan(e->cpu_s) ? " (a second of it was run, and delivered nothing: its CPU time is not known)"
                           : " (a second of it was run)");
}

static void json_estimate(struct weft__json *j, const struct weft_cli_estimate *e) {
    weft__json_key(j, "estimate");
    if (!e->known) {
        weft__json_null(j);
        return;
    }
    weft__json_begin_object(j);
    weft__json_key_string(j, "by", !e->tried ? "connections" : e->ended ? "run" : "trial");
    weft__json_key_u64(j, "peak_rss_bytes", (uint64_t)e->peak_rss_bytes);
    if (!isnan(e->hops)) weft__json_key_real(j, e->cells ? "cell_hops" : "packet_hops", e->hops);
    if (!isnan(e->cpu_s)) weft__json_key_real(j, "cpu_s", e->cpu_s);
    if (!isnan(e->hops_per_cpu_s)) weft__json_key_real(j, "hops_per_cpu_s", e->hops_per_cpu_s);
    weft__json_end_object(j);
}

static void print_json(struct weft__json *j, const struct weft_cli_simulation *s, const struct weft_cli_estimate *e) {
    weft__json_begin_object(j);
    weft__json_key_string(j, "scenario", s->scenario->name);
    weft__json_key_string(j, "variant", s->scenario->variant);
    weft__json_key_string(j, "topology", s->topology->kind);
    weft__json_key_u64(j, "hosts", s->topology->hosts);
    weft__json_key_u64(j, "switches", s->topology->switches);
    weft__json_key_u64(j, "links", s->topology->links);
    weft__json_key_u64(j, "flows", s->workload->flows + s->workload->counted_flows - s->workload->rma_flows);
    weft__json_key_u64(j, "groups", s->workload->groups);
    weft__json_key_u64(j, "bytes", total_bytes(s->workload));
    if (links) {
        struct weft_outcome outcome = {.links = weft_links_negotiate(s->scenario, s->topology, s->arena)};
        struct weft_run run = {
            .scenario = s->scenario, .topology = s->topology, .workload = s->workload, .outcome = &outcome};
        weft__json_key(j, "links_by_dcbx");
        weft_result_json(weft__json_value(j), weft_result_table_find("links"), &run);
    }
    if (e) json_estimate(j, e);
    weft__json_end_object(j);
}

struct check {
    const struct weft_cli_options *o;
    const struct weft_scenario_file *file;
    struct weft_cli_claims claims;
    const char **captures; ///< [variants]
    struct weft_hints hints;
};

static enum weft_status check_variant(struct check *c, uint32_t variant, struct weft__json *j,
                                      struct weft_error *ret_error) {
    struct weft_cli_simulation s = {0};
    struct weft_cli_estimate estimate = {0};
    enum weft_status status = memory ? weft_cli_estimate(c->o, c->file, variant, &estimate, ret_error) : WEFT_OK;
    if (!status) status = weft_cli_simulation_count(&s, c->file, variant, ret_error);
    if (!status) status = weft_cli_claims_check(&c->claims, variant, &s, ret_error);
    if (status && s.workload && s.workload->counted_flows) { // a claim may be about one of these flows
        weft_cli_simulation_deinit(&s);
        *ret_error = (struct weft_error){0};
        status = weft_cli_simulation_init(&s, c->file, variant, ret_error);
        if (!status) status = weft_cli_claims_check(&c->claims, variant, &s, ret_error);
    }
    // Without a section `workload` a scenario is about its network alone.
    if (!status && s.scenario->workloads) status = weft_cli_simulation_sends(&s, ret_error);
    s.one_of_several = !c->o->variant && weft_scenario_variants(c->file) > 1;
    if (!status) status = weft_cli_simulation_claim_files(&s, variant, c->o->out, c->captures, c->o->arena, ret_error);
    if (!status && j) print_json(j, &s, memory ? &estimate : NULL);
    if (!status && !j) print_text(&s);
    if (!status && !j && memory) print_estimate(&estimate);
    if (!status) weft_cli_mention_empty(&s);
    struct weft_run run = {.scenario = s.scenario, .topology = s.topology, .workload = s.workload};
    if (!status) weft_hints_add(&c->hints, &run);
    weft_cli_simulation_deinit(&s);
    return status;
}

/// A point of the section `sweep`: whether its values are good, and, `built`, whether they go together.
static enum weft_status check_point(const struct weft_sweep *sweep, uint32_t p, bool built,
                                    struct weft_error *ret_error) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const struct weft_scenario_file *point = weft_sweep_file(sweep, p, sweep->seed ? 0 : WEFT_NONE, arena);
    uint32_t variant = sweep->point[p].variant;
    struct weft_scenario *scenario = NULL;
    struct weft_cli_simulation s = {0};
    enum weft_status status = weft_scenario_new(point, variant, &scenario, ret_error);
    if (!status && built) status = weft_cli_simulation_count(&s, point, variant, ret_error);
    if (status && built) {
        size_t used = strlen(ret_error->text);
        snprintf(ret_error->text + used, sizeof ret_error->text - used, ", in %s",
                 weft_sweep_run_name(sweep, p, scenario->run.seed, arena));
    }
    weft_cli_simulation_deinit(&s);
    weft_scenario_free(scenario);
    weft_arena_free(arena);
    return status;
}

/// The values of all points, then the first run of each, short of running it: the order of weft sweep.
static enum weft_status check_sweep(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                    struct weft_error *ret_error) {
    struct weft_sweep_options all = {.variant = WEFT_NONE};
    struct weft_sweep *sweep;
    if (!weft_scenario_sweep(file) || o->set) return WEFT_OK;
    enum weft_status status = weft_sweep_new(file, &all, o->arena, &sweep, ret_error);
    for (uint32_t p = 0; !status && p < sweep->points; p++)
        status = check_point(sweep, p, false, ret_error);
    for (uint32_t p = 0; !status && p < sweep->points; p++)
        status = check_point(sweep, p, true, ret_error);
    return status;
}

static enum weft_status check_all(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                  struct weft__json *j, struct weft_error *ret_error) {
    uint32_t first, n = o->variant ? 1 : weft_scenario_variants(file);
    enum weft_status status = weft_cli_variant(o, file, &first, ret_error);
    struct check c = {.o = o, .file = file, .hints = {.arena = o->arena, .seeds = 1}};
    c.captures = weft_arena_alloc(o->arena, weft_scenario_variants(file), sizeof *c.captures);
    if (!status) status = weft_cli_claims_init(&c.claims, file, o->arena, ret_error);
    if (!status) status = check_sweep(o, file, ret_error);
    for (uint32_t i = 0; i < n && !status; i++)
        status = check_variant(&c, first + i, j, ret_error);
    weft_cli_terminal_flush();
    if (!status && !j && !o->no_hints) weft_hints_print(stderr, &c.hints);
    return status;
}

static enum weft_status check_as_json(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                      struct weft_error *ret_error) {
    struct weft_cli_variants v;
    weft_cli_variants_begin(&v, NULL);
    return weft_cli_variants_end(&v, check_all(o, file, &v.json, ret_error));
}

static enum weft_status check_file(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                   struct weft_error *ret_error) {
    return o->json ? check_as_json(o, file, ret_error) : check_all(o, file, NULL, ret_error);
}

int weft_cli_check(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, check_file);
}
