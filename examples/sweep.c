// SPDX-License-Identifier: Apache-2.0
// A sweep within one process: an incast of four senders over flow sizes and congestion controls.
//
//   cc sweep.c $(pkg-config --cflags --libs weft) -o sweep && ./sweep
#include <stdio.h>
#include <string.h>

#include "weft/weft.h"

static const char scenario[] = "name: incast\n"
                               "hardware: ideal\ntopology: {kind: single, hosts: 5}\n"
                               "switch: {pfc: {priorities: [3]}, aqm: {kind: wred}}\n"
                               "workload:\n"
                               "  - {kind: incast, dst: host-0, sources: host-1..4, size: 2MB}\n";

/// Runs the file as it is set now; false: it could not be run.
static bool run(const struct weft_scenario_file *file, weft_time_ps *ret_time, struct weft_error *error) {
    struct weft_simulation *simulation = NULL;
    struct weft_result *result = NULL;
    struct weft_sim_options options = {.threads = 2};
    if (!weft_simulation_new(file, 0, &simulation, error))
        (void)weft_simulation_run(simulation, &options, &result, error);
    if (result) *ret_time = weft_result_sim_time(result);
    weft_result_free(result);
    weft_simulation_free(simulation);
    return !error->status;
}

int main(void) {
    static const char *const sizes[] = {"1MB", "2MB", "4MB"}, *const controls[] = {"none", "dcqcn"};
    struct weft_error error = {0};
    struct weft_scenario_file *file = NULL;
    if (!weft_scenario_file_parse("incast", scenario, strlen(scenario), NULL, 0, &file, &error)) {
        printf("%-8s %-8s %12s\n", "size", "cc", "time (us)");
        for (unsigned i = 0; i < 6 && !error.status; i++) {
            char size[64], control[64];
            snprintf(size, sizeof size, "workload.0.size=%s", sizes[i / 2]);
            snprintf(control, sizeof control, "host.cc=%s", controls[i % 2]);
            weft_time_ps time = 0;
            bool done = !weft_scenario_file_set(file, size, &error) && !weft_scenario_file_set(file, control, &error) &&
                        run(file, &time, &error);
            if (done) printf("%-8s %-8s %12.1f\n", sizes[i / 2], controls[i % 2], (double)time / WEFT_PS_PER_US);
        }
    }
    weft_scenario_file_free(file);
    if (error.status) fprintf(stderr, "%s\n", error.text);
    return (int)error.status;
}
