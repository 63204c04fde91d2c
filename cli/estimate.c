// SPDX-License-Identifier: Apache-2.0
// weft estimate: what a run would give, without running it packet by packet.
#include "weft/estimate.h"

#include <inttypes.h>
#include <string.h>

#include "simulation.h"

static const char *calibration;
static bool messages;
static const struct weft_cli_option own[] = {
    {"calibration", "FILE", "take intervals from this table, not from the program's own", &calibration, NULL},
    {"messages", NULL, "estimate rings message by message, never as one flow", NULL, &messages},
    {0},
};
static const struct weft_cli_command command = {
    .name = "estimate",
    .operands = "SCENARIO.yaml",
    .about =
        "Estimates what a run would give: times of jobs, iterations, collectives and groups of flows, and how much\n"
        "links are used. Data flows as a fluid, with fair rates; ranks take the same steps as in a run. What a fluid\n"
        "cannot show is refused by name. See docs/estimate.md.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_QUIET,
    .answer = &weft__answer_estimate,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
};

static void print_interval(FILE *file, weft_time_ps low, weft_time_ps high) {
    if (high) fprintf(file, "   90%%: %.3f to %.3f", (double)low * 1e-6, (double)high * 1e-6);
}

static void print_text(FILE *file, const void *subject) {
    const struct weft_estimate *e = subject;
    fprintf(file, "estimate of %s, seed %" PRIu64 ": %.3f us", e->scenario, e->seed, (double)e->makespan_ps * 1e-6);
    print_interval(file, e->low_ps, e->high_ps);
    fputs(e->calibrated ? "\n\n" : "   interval: not calibrated\n\n", file);
    fprintf(file, "%-12s %-24s %6s %8s %14s\n", "what", "name", "number", "count", "time (us)");
    for (uint32_t i = 0; i < e->times; i++) {
        const struct weft_estimate_time *t = &e->time[i];
        fprintf(file, "%-12s %-24s %6" PRIu64 " %8" PRIu64 " ", t->what, t->name, t->number, t->count);
        if (t->time_ps == WEFT_TIME_NEVER)
            fprintf(file, "%14s", "-");
        else
            fprintf(file, "%14.3f", (double)t->time_ps * 1e-6);
        print_interval(file, t->low_ps, t->high_ps);
        if (t->derived && t->time_ps != WEFT_TIME_NEVER)
            fprintf(file, "   mean %.3f, 99th percentile %.3f", (double)t->mean_ps * 1e-6, (double)t->p99_ps * 1e-6);
        fputs(t->scattered  ? "   flows begin at several times: not calibrated\n"
              : t->unpaused ? "   without pauses (PFC): not calibrated\n"
                            : "\n",
              file);
    }
    if (!strcmp(e->kind, "shared"))
        fputs(
            "jobs share links: messages of a small one wait in queues that others fill, which is in the intervals and "
            "not in\nthe times; a run says how long\n",
            file);
    fprintf(file, "\n%-24s %-12s %-12s %8s %8s\n", "busiest links", "from", "to", "used", "flows");
    for (uint32_t i = 0; i < e->links; i++) {
        const struct weft_estimate_link *l = &e->link[i];
        fprintf(file, "%-24s %-12s %-12s %7.1f%% %8" PRIu32 "\n", l->name, l->from, l->to, 100 * l->utilisation,
                l->flows);
    }
    fprintf(file, "\n%-12s %-12s %8s %8s %8s %8s\n", "from", "to", "links", "used", "mean", "max");
    for (uint32_t i = 0; i < e->layers; i++) {
        const struct weft_estimate_layer *l = &e->layer[i];
        fprintf(file, "%-12s %-12s %8" PRIu32 " %8" PRIu32 " %7.1f%% %7.1f%%\n", l->from, l->to, l->links, l->used,
                100 * l->mean, 100 * l->max);
    }
}

static enum weft_status estimate_variant(const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct weft_scenario_file *file = NULL;
    struct weft_cli_simulation sim = {0};
    struct weft_estimate *e = NULL;
    uint32_t variant = 0;
    enum weft_status status = weft_cli_scenario_read(o, &file, ret_error);
    if (!status) status = weft_cli_variant(o, file, &variant, ret_error);
    if (!status) status = weft_cli_simulation_init(&sim, file, variant, ret_error);
    if (!status) status = weft_cli_simulation_sends(&sim, ret_error);
    if (!status)
        status = weft_estimate_run(sim.scenario, sim.topology, sim.workload,
                                   &(struct weft_estimate_options){.messages = messages, .calibration = calibration},
                                   o->arena, &e, ret_error);
    if (!status) status = weft_cli_answer(o, &weft__answer_estimate, e, print_text, ret_error);
    weft_estimate_free(e);
    weft_cli_simulation_deinit(&sim);
    weft_scenario_file_free(file);
    return status;
}

int weft_cli_estimate(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, estimate_variant);
}
