// SPDX-License-Identifier: Apache-2.0
// The record of a run of a sweep with random overwrites: it counts as missing, or has the content that it declares.
#include <assert.h>
#include <unistd.h>

#include "fuzz_database.h"
#include "weft/memory.h"
#include "weft/report.h"
#include "weft/sweep_results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scenario[] = "topology: {kind: single, hosts: 4}\n"
                               "workload: [{kind: incast, group: in, dst: host-0, sources: 'host-[1-3]', size: 40KB},\n"
                               "           {kind: collective, group: ring, size: 4KB, share_hosts: true}]\n";

static char path[] = "/tmp/weft-fuzz-record-XXXXXX";
static struct fuzz_database database;

static void leave(void) {
    unlink(path);
}

static void make_base(void) {
    struct weft_scenario_file *file = NULL;
    struct weft_simulation *simulation = NULL;
    struct weft_outcome *outcome = NULL;
    struct weft_error error = {0};
    struct weft_sim_options options = {.threads = 1};
    const struct weft_sweep_kept kept = {"why", 1.5};
    int fd = mkstemp(path);
    if (fd < 0 || weft_scenario_file_parse("s", scenario, sizeof scenario - 1, NULL, 0, &file, &error) ||
        weft_simulation_new(file, 0, &simulation, &error) ||
        weft_simulate(simulation->scenario, simulation->topology, simulation->workload, &options, &outcome, &error)) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    close(fd);
    const struct weft_run run = {.scenario = simulation->scenario,
                                 .topology = simulation->topology,
                                 .workload = simulation->workload,
                                 .outcome = outcome};
    if (weft_sweep_record(path,
                          &(struct weft_sweep_came){.run = run, .state = WEFT_SWEEP_DONE, .kept = &kept, .keeps = 1},
                          NULL, 0, &error))
        abort();
    atexit(leave);
    weft_outcome_free(outcome);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
    fuzz_database_take(&database, path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!database.base) make_base();
    fuzz_database_put(&database, data, size);
    struct weft_memory *memory = weft_memory_open(), *before = weft_memory_use(memory);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    uint32_t columns;
    const struct weft_sweep_column *column = weft_sweep_columns(arena, &columns);
    struct weft_sweep_run run = weft_sweep_load(path, column, columns, arena);
    assert(run.state <= WEFT_SWEEP_FAILED && run.message && run.digest);
    size_t length = strlen(run.message) + strlen(run.digest);
    for (uint32_t r = 0; r < run.rows; r++) {
        length += strlen(run.row[r].group);
        for (uint32_t c = 0; c < columns; c++)
            assert(run.row[r].value[c].type == column[c].column->type);
    }
    weft_sweep_run_kept(&run, "why");
    assert(run.state || (!length && !run.rows && !run.keeps)); // nothing of one that is missing
    weft_arena_free(arena);
    weft_memory_use(before);
    weft_memory_close(memory);
    return 0;
}
