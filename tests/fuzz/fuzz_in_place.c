// SPDX-License-Identifier: Apache-2.0
// Any bytes as each file that a scenario may name: topologies, workloads and collectives read in place, sizes of flows,
// static routes and ranks. It is refused, or there are a network and flows.
#define _GNU_SOURCE // memfd_create
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "weft/model.h"
#include "weft/weft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

static void load(const char *text) {
    struct weft_memory *memory = weft_memory_open(), *before = weft_memory_use(memory);
    struct weft_scenario_file *file = NULL;
    struct weft_simulation *simulation = NULL;
    struct weft_error error = {0};
    enum weft_status status = weft_scenario_file_parse("fuzz.yaml", text, strlen(text), NULL, 0, &file, &error);
    if (!status) status = weft_simulation_new(file, 0, &simulation, &error);
    assert(!status == !*error.text && !status == !!simulation);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
    weft_memory_use(before);
    weft_memory_close(memory);
}

/// Each model of a kind that reads a file, as `format` puts its name and the file.
static void load_models(enum weft_model_kind kind, const char *format) {
    char text[512];
    for (uint32_t m = 0; m < weft_model_count(kind); m++) {
        const struct weft_model *model = weft_model_at(kind, m);
        const struct weft_param *row = weft_param_find(model->params, "file");
        if (!row || row->dflt) continue;
        snprintf(text, sizeof text, format, model->name, path);
        load(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const others[] = {
        "topology: {kind: single, hosts: 4}\nworkload: [{kind: poisson, load: 0.1, duration: 1us, sizes: 'file:%s'}]\n",
        "{topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, routes: %s}, workload: [{kind: "
        "permutation}]}",
        "topology: {kind: single, hosts: 4}\nworkload: [{kind: collective, rank_file: %s}]\n",
    };
    static int number = -1;
    char text[512];
    if (number < 0) number = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    if (ftruncate(number, 0) || pwrite(number, data, size, 0) != (ssize_t)size) abort();
    load_models(WEFT_KIND_TOPOLOGY, "topology: {kind: %s, file: %s}\nworkload: [{kind: permutation}]\n");
    load_models(WEFT_KIND_WORKLOAD, "topology: {kind: single, hosts: 8}\nworkload: [{kind: %s, file: %s}]\n");
    load_models(WEFT_KIND_COLLECTIVE, "topology: {kind: single, hosts: 4}\n"
                                      "workload: [{kind: collective, collective: {kind: %s, file: %s}}]\n");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(text, sizeof text, others[i], path);
        load(text);
    }
    return 0;
}
