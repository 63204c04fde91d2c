// SPDX-License-Identifier: Apache-2.0
// weft run: one variant of a scenario.
#include <stdio.h>

#include "claims.h"

static const struct weft_cli_command command = {
    .name = "run",
    .operands = "SCENARIO",
    .about =
        "Runs one variant of a scenario (the first, if none is named) and reports what it measured: completion\n"
        "times by flow group, pauses, marks and drops. SCENARIO is a YAML file, or - for standard input.\n"
        "Ctrl-C (or SIGTERM) ends the run and reports what was measured so far.\n"
        "Exit status: 0 done, 1 system error, 2 bad input, 3 bytes not conserved (a bug), 4 the network stalled, or\n"
        "simulated time (100 days) was over, 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_CAPTURE | WEFT_CLI_JSON |
              WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 1,
};

static void mention_others(const struct weft_cli_options *o, const struct weft_scenario_file *file) {
    uint32_t n = weft_scenario_variants(file);
    const char **names = weft_arena_alloc(o->arena, n, sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = weft_scenario_variant_name(file, i);
    weft_cli_mention_others("running", names, n, ", weft compare runs all");
}

/// Returns the exit status; `error` is set if something should be said on standard error.
static enum weft_status run(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                            struct weft_error *error) {
    struct weft_cli_simulation s = {0};
    struct weft_run run;
    uint32_t variant;
    struct weft_cli_claims claims; // of no use to a single run, but a file with a mistake in them is refused
    enum weft_status status = weft_cli_claims_init(&claims, file, o->arena, error);
    if (!status) status = weft_cli_variant(o, file, &variant, error);
    if (!status) status = weft_cli_simulation_init(&s, file, variant, error);
    if (!status) {
        if (!o->variant && !o->json && !o->quiet) mention_others(o, file);
        weft_cli_catch_interrupt();
        status = weft_cli_simulation_run(&s, o, s.scenario->variant, &run, error);
    }
    if (s.outcome) {
        struct weft_error output = {0};
        struct weft_cli_results results = {.run = &run, .runs = 1};
        if (o->out) weft_cli_write_results(o->out, &results, &output);
        weft_cli_print_results(stdout, &results, o->json);
        if (output.status) {
            *error = output;
            status = output.status;
        }
    }
    weft_cli_simulation_deinit(&s);
    return status;
}

int weft_cli_run(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, run);
}
