// SPDX-License-Identifier: Apache-2.0
// weft compare: every variant of a scenario, side by side.
#include <stdio.h>

#include "simulation.h"

static const struct weft_cli_command command = {
    .name = "compare",
    .operands = "SCENARIO",
    .about = "Runs every variant of a scenario, one after the other, and shows them side by side, with the change\n"
             "against the first. All variants are checked before one is run. Ctrl-C shows those that ran.\n"
             "Exit status: 0 done, 1 system error, 2 bad input, 3 bytes not conserved (a bug), 4 a variant stalled.",
    .accept = WEFT_CLI_SET | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_JSON | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 1,
};

/// The graver of two ends: a bug before a stall before nothing.
static enum weft_status graver(enum weft_status a, enum weft_status b) {
    if (a == WEFT_ERROR_CONSERVATION || b == WEFT_ERROR_CONSERVATION) return WEFT_ERROR_CONSERVATION;
    return a ? a : b;
}

/// Runs until the user interrupts. Returns how many have an outcome.
static uint32_t run_all(const struct weft_cli_options *o, struct weft_cli_simulation *s, struct weft_run *run,
                        uint32_t n, enum weft_status *ret_status, struct weft_error *error) {
    *ret_status = WEFT_OK;
    for (uint32_t i = 0; i < n; i++) {
        if (i && weft_cli_interrupted()) return i;
        struct weft_error own = {0};
        enum weft_status status = weft_cli_simulation_run(&s[i], o, s[i].scenario->variant, &run[i], &own);
        if (status && graver(*ret_status, status) != *ret_status) *error = own;
        *ret_status = graver(*ret_status, status);
        if (!s[i].outcome) return i;
    }
    return n;
}

static enum weft_status compare(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                struct weft_error *error) {
    uint32_t n = weft_scenario_variants(file);
    struct weft_cli_simulation *s = weft_arena_alloc(o->arena, n, sizeof *s);
    struct weft_run *run = weft_arena_alloc(o->arena, n, sizeof *run);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < n && !status; i++)
        if (!(status = weft_cli_simulation_init(&s[i], file, i, error))) s[i].one_of_several = n > 1;
    if (!status) {
        weft_cli_catch_interrupt();
        uint32_t ran = run_all(o, s, run, n, &status, error);
        if (weft_cli_interrupted() && !o->json)
            fprintf(stderr, "weft: interrupted; %u of %u variants were begun\n", ran, n);
        bool complete = ran == n || weft_cli_interrupted();
        struct weft_error output = {0};
        if (complete && o->out) weft_cli_write_results(o->out, run, ran, true, &output);
        if (complete) weft_cli_print_results(run, ran, true, o->json, &output);
        if (output.status) {
            *error = output;
            status = output.status;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        weft_cli_simulation_deinit(&s[i]);
    return status;
}

int weft_cli_compare(int argc, char **argv) {
    return weft_cli_on_scenario(&command, argc, argv, compare);
}
