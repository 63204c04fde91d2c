// SPDX-License-Identifier: Apache-2.0
// Results of a run with random overwrites: values of their tables, or bytes of the file. Their readers (weft timeline,
// weft timeline --perfetto) refuse them or give well-formed output.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz_database.h"
#include "weft/memory.h"
#include "weft/perfetto.h"
#include "weft/timeline.h"
#include "weft/weft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scenario[] =
    "topology: {kind: single, hosts: 4}\n"
    "switch: {buffer: {kind: static, size: 40KB, xoff: 10KB, xon: 5KB}, aqm: {kind: wred, min: 1KB, max: 5KB}}\n"
    "host: {cc: dcqcn}\n"
    "workload: [{kind: incast, dst: host-0, sources: 'host-[1-3]', size: 40KB}, {kind: rma, group: r, clients: '*', "
    "servers: '*', "
    "rate: 200000, duration: 20us}]\n"
    "run: {sample_interval: 1us}\n";

static char folder[] = "/tmp/weft-fuzz-results-XXXXXX";
static char path[64];
static struct fuzz_database database;

static void leave(void) {
    unlink(path);
    rmdir(folder);
}

/// The file that a run writes, and the names of its tables.
static void make_base(void) {
    struct weft_scenario_file *file = NULL;
    struct weft_simulation *simulation = NULL;
    struct weft_result *result = NULL;
    struct weft_error error = {0};
    struct weft_sim_options options = {.record = true};
    if (!mkdtemp(folder) || weft_scenario_file_parse("s", scenario, sizeof scenario - 1, NULL, 0, &file, &error) ||
        weft_simulation_new(file, 0, &simulation, &error) ||
        weft_simulation_run(simulation, &options, &result, &error) ||
        weft_result_write_sqlite(result, folder, &error)) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    atexit(leave);
    snprintf(path, sizeof path, "%s/results.sqlite", folder);
    weft_result_free(result);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
    fuzz_database_take(&database, path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *null;
    if (!database.base) make_base();
    if (!null) null = fopen("/dev/null", "w");
    fuzz_database_put(&database, data, size);
    struct weft_memory *memory = weft_memory_open(), *before = weft_memory_use(memory);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_timeline timeline;
    struct weft_perfetto *perfetto = NULL;
    struct weft_error error = {0};
    assert(!weft_timeline_read(folder, NULL, arena, &timeline, &error) == !*error.text);
    error = (struct weft_error){0};
    assert(!weft_perfetto_read(folder, NULL, arena, &perfetto, &error) == !*error.text);
    if (!*error.text) weft_perfetto_write(null, perfetto);
    weft_arena_free(arena);
    weft_memory_use(before);
    weft_memory_close(memory);
    return 0;
}
