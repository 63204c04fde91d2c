// SPDX-License-Identifier: Apache-2.0
// weft fit: tables are read as nccl-tests and the inspector write them, bad ones are refused at their line, constants
// that made a table are found again, and the class that is written predicts what the fit did.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fit/fit.h"
#include "weft/fit.h"
#include "weft/hardware.h"
#include "weft/job.h"
#include "weft/model.h"
#include "weft/nccl.h"
#include "weft/param.h"
#include "weft/random.h"

static char folder[] = "/tmp/weft-fit-XXXXXX";

static const char *put(const char *name, const char *text) {
    static char path[4][64];
    static unsigned next;
    char *at = path[next++ % 4];
    snprintf(at, sizeof *path, "%s/%s", folder, name);
    FILE *file = fopen(at, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return at;
}

static struct weft_fit run(const struct weft_fit_conf *conf, struct weft_arena *arena) {
    struct weft_fit fit;
    struct weft_error error = {0};
    if (weft_fit_tables(conf, arena, &fit, &error)) fail_msg("%s", error.text);
    return fit;
}

// --- reading ------------------------------------------------------------------------------------------------------

/// As nccl-tests 2.17 prints it: names of columns over two lines, out of place and in place.
static const char printed[] =
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 8 minBytes 512 maxBytes 4096 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1\n"
    "#\n# Using devices\n"
    "#  Rank  0 Group  0 Pid  41 on   node-a device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid  41 on   node-a device  1 [0000:43:00] NVIDIA H100 80GB HBM3\n"
    "#\n"
    "#                                                              out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
    "         512           128     float     sum      -1    30.00    0.04    0.07      0    16.00    0.03    0.06\n"
    "        1024           256     float     sum      -1    16.50    0.06    0.11      0    16.25    0.06    0.11\n"
    "        2048           512     float     sum      -1    17.00    0.12    0.22      7    17.10    0.12    0.22\n"
    "2 warnings generated.\n"
    "        4096          1024     float     sum      -1    18.00    0.12    0.22      0    18.10    0.12    0.22\n"
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.5\n#\n";

static void as_printed(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const char *path = put("printed.txt", printed);
    struct weft_fit fit = run(&(struct weft_fit_conf){.table = &path, .tables = 1, .check = true}, arena);
    assert_int_equal(fit.rows, 4);
    assert_int_equal(fit.row[1].bytes, 1024);
    assert_int_equal(fit.row[1].line, 12);
    assert_int_equal(fit.row[1].ranks, 2);
    assert_int_equal(fit.row[1].nodes, 1);
    assert_string_equal(fit.row[1].collective, "all_reduce");
    assert_string_equal(fit.row[1].protocol, "ll");
    assert_int_equal(fit.server->cpu, WEFT_NCCL_INTEL); // its GPU has 80GB, and is no GB200
    assert_true(fabs(fit.row[1].measured_us - 16.5) < 1e-9 && fabs(fit.row[1].in_place_us - 16.25) < 1e-9);
    assert_int_equal(fit.row[0].use, WEFT_FIT_OUTLYING); // 30 us, and 16 in place
    assert_int_equal(fit.row[2].use, WEFT_FIT_CHECKED);
    assert_int_equal(fit.warnings, 2);
    assert_non_null(strstr(fit.warning[0], "printed.txt:13: #wrong is not 0, here and in 1 of 4 sizes in all"));
    assert_non_null(strstr(fit.warning[1], "printed.txt:11: 30 us for 512 B, but 16 us in place"));
    weft_fit_free(&fit);
    weft_arena_free(arena);
}

/// Several programs print into one log, behind a launcher's labels; sizes smaller than the ranks are printed as 0; a
/// launcher that gives each rank its GPU calls all of them device 0.
static void several_in_a_log(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    static const char *const labels[] = {"", "[1,0]<stdout>:", " 0: ", "[node-a:17] "};
#define LOG(what, size, on, device)                                                                                    \
    "%s# nccl-tests version 2.17.6 nccl-library=23004\n%s# Collective test starting: " what "\n"                       \
    "%s#  Rank  0 Group  0 Pid  41 on node-a device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"                           \
    "%s#  Rank  1 Group  0 Pid  42 on " on " device  " device " [0000:43:00] NVIDIA H100 80GB HBM3\n"                  \
    "%s# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"                                 \
    "%s  " size " 2 float sum -1 16.50 0.06 0.11 0 16.25 0.06 0.11 0\n"
    static const char log[] = LOG("all_reduce_perf", "1024", "node-a", "0")
        LOG("all_gather_perf", "0", "node-b", "0") "%s  2048 2 float none -1 19.50 0.06 0.11 N/A 19.25 0.06 0.11 N/A\n";
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        char text[4096];
        const char *l = labels[i];
        snprintf(text, sizeof text, log, l, l, l, l, l, l, l, l, l, l, l, l, l);
        const char *path = put("several.txt", text);
        struct weft_fit fit =
            run(&(struct weft_fit_conf){.table = &path, .tables = 1, .check = true, .setup = "nics=1x400G"}, arena);
        assert_int_equal(fit.rows, 2);
        assert_string_equal(fit.row[0].collective, "all_reduce");
        assert_string_equal(fit.row[1].collective, "all_gather");
        assert_true(fit.row[0].nodes == 1 && fit.row[1].nodes == 2 && fit.row[1].ranks == 2);
        assert_true(fit.row[1].bytes == 2048 && fabs(fit.row[1].measured_us - 19.5) < 1e-9);
        weft_fit_free(&fit);
    }
    weft_arena_free(arena);
}

#define COLL(sn, rank, bytes, us)                                                                                      \
    "{\"header\": {\"id\": \"c\", \"rank\": " #rank ", \"n_ranks\": 2, \"nnodes\": 1}, \"coll_perf\": {\"coll\": "     \
    "\"AllReduce\", \"coll_sn\": " #sn ", \"coll_msg_size_bytes\": " #bytes ", \"coll_exec_time_us\": " #us "}}\n"
/// Of a size's calls the median, of a call the mean over ranks.
static void of_the_inspector(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const char *path = put("log.json", COLL(1, 0, 4096, 20) COLL(1, 1, 4096, 22) COLL(2, 0, 4096, 30)
                                           COLL(3, 0, 4096, 18) COLL(4, 0, 8192, 25));
    struct weft_fit fit =
        run(&(struct weft_fit_conf){.table = &path, .tables = 1, .check = true, .setup = "gpu=H100 gpus_per_node=2"},
            arena);
    assert_int_equal(fit.rows, 2);
    assert_true(fabs(fit.row[0].measured_us - 21) < 1e-9);
    assert_int_equal(fit.row[1].bytes, 8192);
    weft_fit_free(&fit);
    weft_arena_free(arena);
}

#define SETUP "# nodes=1 gpus_per_node=2 gpu=H100 collective=all_reduce\n"
static const struct {
    const char *text, *error;
} refused[] = {
    {"size_bytes,time_us\n512,16\n", "t.csv:2:1: which collective is not said; expected comments such as"},
    {"# collective=all_reduce\nsize_bytes,time_us\n512,16\n", "how it was measured is not said: no nodes"},
    {"# collective=all_reduce nodes=2 gpus_per_node=8 gpu=H100\nsize_bytes,time_us\n512,16\n", "not said: no nics"},
    {"# collective=all_scatter nodes=1 gpus_per_node=8 gpu=H100\nsize_bytes,time_us\n512,16\n",
     "t.csv:1:1: collective all_scatter is not one that can be compared; expected one of all_reduce, all_gather, "
     "reduce_scatter, broadcast, reduce, alltoall, sendrecv"},
    {"# collective=all_reduce nodes=2 gpus_per_node=8 ranks=15 gpu=H100 nics=8x400G\nsize_bytes,time_us\n512,16\n",
     "t.csv:1:1: 15 ranks are not 2 nodes of 8 GPUs"},
    {"# collective=all_reduce nodes=1 gpus_per_node=8 gpu=MI300X\nsize_bytes,time_us\n512,16\n",
     "t.csv:1:1: no class of servers is known for gpu=MI300X"},
    {SETUP "512,16\n1024,17\n", "t.csv:2:1: figures before the names of their columns"},
    {SETUP "size_bytes,time_us\n512,16\n1024,often\n", "t.csv:4:1: expected a size in bytes in column 1"},
    {SETUP "size_bytes,time_us\n512,40\n1024,30\n2048,20\n4096,10\n",
     "t.csv:3: 40 us for 512 B, but line 4 has 30 us for 1024 B; 3 of 4 times are such"},
    {"# nodes=1 gpus_per_node=1 gpu=H100 collective=all_reduce\nsize_bytes,time_us\n512,3\n",
     "t.csv:3:1: one rank sends nothing; expected at least two"},
    {"# nodes=1 gpus_per_node=2 gpu=H100 cpu=z80 collective=all_reduce\nsize_bytes,time_us\n512,16\n",
     "t.csv:1:1: workload.0.server.cpu: no choice \"z80\""},
    {"# nodes=1 gpus_per_node=2 gpu=H100 collective=all_reduce NCCL_ALGO=CollNetChain\nsize_bytes,time_us\n512,16\n",
     "t.csv:1:1: operations.1.collective: 'CollNetChain' reduces in the network (SHARP)"},
    {SETUP "size_bytes,time_us\n", "no size with a time is in it"},
};

/// Every collective that the message names is taken.
static void expected_collectives_are_taken(void **state) {
    char names[128], *rest = NULL;
    weft__fit_collective_names(names, sizeof names);
    assert_null(strstr(names, "..."));
    uint32_t n = 0;
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest), n++)
        assert_string_equal(weft__fit_collective(name)->name, name);
    assert_int_equal(n, 7);
}

static void refuses_odd_set_ups(void **state) {
    static const char *const odd[] = {"nics=8", "gpu_per_node=2", "nodes=two", "NCCL_ALG=ring"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_fit fit;
        struct weft_error error = {0};
        const char *path = put("t.csv", "# any=thing\n" SETUP "size_bytes,time_us\n512,16\n");
        struct weft_fit_conf conf = {.table = &path, .tables = 1, .check = true, .setup = odd[i]};
        assert_int_equal(weft_fit_tables(&conf, arena, &fit, &error), WEFT_ERROR_INPUT);
        if (!strstr(error.text, weft_arena_format(arena, "--setup: \"%s\"", odd[i]))) fail_msg("%s", error.text);
        weft_fit_free(&fit);
        weft_arena_free(arena);
    }
}

static void refuses(void **state) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        struct weft_fit fit;
        struct weft_error error = {0};
        const char *path = put("t.csv", refused[i].text);
        assert_int_equal(weft_fit_tables(&(struct weft_fit_conf){.table = &path, .tables = 1}, arena, &fit, &error),
                         WEFT_ERROR_INPUT);
        if (!strstr(error.text, refused[i].error)) fail_msg("%zu: %s", i, error.text);
        weft_fit_free(&fit);
        weft_arena_free(arena);
    }
}

/// A scenario of the cluster must have the table's ranks.
static void asks_for_its_ranks(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    static const char text[] = "topology: {kind: single, hosts: 4}\n"
                               "workload: [{kind: collective, server: {kind: dgx_h100, gpus: 4, nics: 4}}]\n";
    struct weft_scenario_file *file;
    struct weft_error error = {0};
    struct weft_fit fit;
    const char *path = put("t.csv", SETUP "size_bytes,time_us\n512,16\n");
    assert_int_equal(weft_scenario_file_parse("s.yaml", text, strlen(text), NULL, 0, &file, &error), WEFT_OK);
    const struct weft_fit_conf conf = {.table = &path, .tables = 1, .scenario = file, .check = true};
    assert_int_equal(weft_fit_tables(&conf, arena, &fit, &error), WEFT_ERROR_INPUT);
    assert_non_null(strstr(error.text, "t.csv:1:1: the table is of 2 ranks, 2 a node, and the scenario has 4 ranks"));
    weft_scenario_file_free(file);
    weft_arena_free(arena);
}

/// Another class in place of the scenario's leaves what the scenario says besides.
static void keeps_the_scenarios_server(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    static const char *const texts[] = {
        "topology: {kind: single, hosts: 2}\n"
        "workload: [{kind: collective, server: {kind: dgx_h100, gpus: 2, nics: 2, latency: 90us}}]\n",
        "topology: {kind: single, hosts: 2}\nserver: {kind: dgx_h100, gpus: 2, nics: 2, latency: 90us}\n"
        "workload: [{kind: flow, src: host-0, dst: host-1, size: 1KB}, {kind: collective}]\n",
        "topology: {kind: single, hosts: 2}\nserver: {kind: dgx_h100, gpus: 2, nics: 1, latency: 10us}\n"
        "workload: [{kind: collective, server: {nics: 2, latency: 90us}}]\n",
    };
    const char *path = put("t.csv", SETUP "size_bytes,time_us\n512,16\n");
    for (uint32_t i = 0; i < 2 * sizeof texts / sizeof *texts; i++) {
        struct weft_scenario_file *file;
        struct weft_error error = {0};
        const char *text = texts[i / 2], *class = i % 2 ? "dgx_b200" : NULL;
        assert_int_equal(weft_scenario_file_parse("s.yaml", text, strlen(text), NULL, 0, &file, &error), WEFT_OK);
        struct weft_fit fit =
            run(&(struct weft_fit_conf){.table = &path, .tables = 1, .scenario = file, .check = true, .server = class},
                arena);
        assert_string_equal(fit.server->kind, class ? class : "dgx_h100");
        assert_int_equal(fit.server->latency_ps, 90000000);
        assert_true(fit.server->gpus == 2 && fit.server->nics == 2);
        weft_fit_free(&fit);
        weft_scenario_file_free(file);
    }
    weft_arena_free(arena);
}

/// Each key of the user's entry beside its work is that of the run, or the table says it. A new key of jobs is in one
/// of both lists.
static void keeps_where_and_how(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    static const char *const said[] = {"group", "start",      "channel_cost", "dimensions",
                                       "gpus",  "iterations", "slow_rank",    "slow_factor"};
    static const char *const kept[][2] = {
        {"hosts", "nowhere-*"},      {"order", "listed"},     {"priority", "9"},
        {"admission", "no"},         {"cts_priority", "9"},   {"qps", "0"},
        {"qp_scaling", "no"},        {"server", "{gpus: x}"}, {"ranks", "3"},
        {"share_hosts", "perhaps"},  {"placement", "no"},     {"occupied", "{share: x}"},
        {"rank_file", "/not/there"},
    };
    const struct weft_param_table *table = weft_model_find(WEFT_KIND_WORKLOAD, "job")->params;
    for (uint32_t i = 0; i < table->n; i++) {
        bool listed = false;
        for (uint32_t k = 0; k < sizeof said / sizeof *said; k++)
            listed |= !strcmp(said[k], table->rows[i].name);
        for (uint32_t k = 0; k < sizeof kept / sizeof *kept; k++)
            listed |= !strcmp(kept[k][0], table->rows[i].name);
        if (!listed) fail_msg("%s: is it kept with a log?", table->rows[i].name);
    }
    const char *path = put("t.csv", SETUP "size_bytes,time_us\n512,16\n");
    for (uint32_t k = 0; k < sizeof kept / sizeof *kept; k++) {
        struct weft_scenario_file *file;
        struct weft_error error = {0};
        struct weft_fit fit;
        if (!strcmp(kept[k][0], "order")) continue; // any value is good
        const char *text = weft_arena_format(arena,
                                             "topology: {kind: single, hosts: 2}\nserver: {kind: dgx_h100, gpus: 2}\n"
                                             "workload: [{kind: job, operations: [{size: 1KB}], %s: %s}]\n",
                                             kept[k][0], kept[k][1]);
        assert_int_equal(weft_scenario_file_parse("s.yaml", text, strlen(text), NULL, 0, &file, &error), WEFT_OK);
        if (!weft_fit_tables(&(struct weft_fit_conf){.table = &path, .tables = 1, .scenario = file, .check = true},
                             arena, &fit, &error))
            fail_msg("%s is not asked for", kept[k][0]);
        weft_scenario_file_free(file);
    }
    struct weft_scenario_file *file; // what is no server is none of another class
    struct weft_error error = {0};
    struct weft_fit fit;
    static const char list[] = "topology: {kind: single, hosts: 2}\nserver: [dgx_h100]\n"
                               "workload: [{kind: job, operations: [{size: 1KB}]}]\n";
    assert_int_equal(weft_scenario_file_parse("s.yaml", list, strlen(list), NULL, 0, &file, &error), WEFT_OK);
    assert_int_equal(
        weft_fit_tables(
            &(struct weft_fit_conf){.table = &path, .tables = 1, .scenario = file, .check = true, .server = "dgx_a100"},
            arena, &fit, &error),
        WEFT_ERROR_INPUT);
    weft_scenario_file_free(file);
    weft_arena_free(arena);
}

// --- finding ------------------------------------------------------------------------------------------------------

static const struct weft_fit_constant *find(const struct weft_fit *fit, const char *key) {
    for (uint32_t k = 0; k < fit->constants; k++)
        if (!strcmp(fit->constant[k].key, key)) return &fit->constant[k];
    fail_msg("no constant %s", key);
    return NULL;
}

#define EIGHT "# nodes=1 gpus_per_node=8 gpu=H100 collective=all_reduce\n"
static const char server[] =
    "name: truth\nkind: server\nabout: made\nvalues:\n"
    "  gpus: {typical: 8, basis: assumed, source: test}\n  nics: {typical: 8, basis: assumed, source: test}\n"
    "  latency: {typical: 600ns, basis: assumed, source: test}\n"
    "  launch: {typical: 9us, basis: assumed, source: test}\n"
    "  costs.inner_ring_ll: {typical: 700ns, basis: assumed, source: test}\n"
    "  costs.nvls: {typical: 07us, basis: assumed, source: test}\n"
    "  costs.nvls_rate: {typical: 120Gbps, basis: assumed, source: test}\n";

/// The times that a server of that class has, as a table.
static void write_table(const struct weft_fit *fit, char *text, size_t size) {
    size_t n = (size_t)snprintf(text, size, "%ssize_bytes,time_us\n", EIGHT);
    for (uint32_t i = 0; i < fit->rows; i++)
        n += (size_t)snprintf(text + n, size - n, "%llu,%.6f\n", (unsigned long long)fit->row[i].bytes,
                              fit->row[i].predicted_us);
}

/// Constants made the times: they are found, and what no time depends on is not. The class predicts the same times.
static void finds_again(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    char table[2048] = EIGHT "size_bytes,time_us\n", name[64];
    for (unsigned k = 3; k < 28; k += 3)
        snprintf(table + strlen(table), sizeof table - strlen(table), "%u,%u\n", 1u << k, 20 + k);
    const char *path = put("t.csv", table);
    struct weft_fit_conf conf = {.table = &path, .tables = 1, .server = put("truth.yaml", server), .check = true};
    struct weft_fit fit = run(&conf, arena);
    write_table(&fit, table, sizeof table);
    weft_fit_free(&fit);
    path = put("made.csv", table);
    conf = (struct weft_fit_conf){.table = &path, .tables = 1, .only = "launch,inner_ring_ll,nvls,nvls_rate,tree_ll"};
    fit = run(&conf, arena);
    static const struct {
        const char *key;
        double value;
    } truth[] = {{"launch", 9}, {"costs.inner_ring_ll", 0.7}, {"costs.nvls", 7}, {"costs.nvls_rate", 120}};
    for (size_t i = 0; i < sizeof truth / sizeof *truth; i++) {
        const struct weft_fit_constant *c = find(&fit, truth[i].key);
        assert_true(c->used);
        if (!(fabs(c->value - truth[i].value) < c->deviation))
            fail_msg("%s is %g +/- %g, expected %g", c->key, c->value, c->deviation, truth[i].value);
    }
    assert_true(find(&fit, "costs.nvls_rate")->determined);
    const struct weft_fit_constant *unused = find(&fit, "costs.tree_ll"); // one server has no tree here
    assert_true(!unused->used && !unused->determined && isnan(unused->deviation));
    assert_int_equal(fit.judgements, 1);
    assert_true(fit.judgement->rows == 9 && fit.judgement->worst < 0.02);

    snprintf(name, sizeof name, "%s/found.yaml", folder);
    FILE *file = fopen(name, "w");
    weft_fit_write(file, &fit, "found");
    fclose(file);
    struct weft_fit_conf checked = {.table = &path, .tables = 1, .server = name, .check = true};
    struct weft_fit again = run(&checked, arena);
    for (uint32_t i = 0; i < fit.rows; i++)
        assert_true(fabs(again.row[i].predicted_us / fit.row[i].predicted_us - 1) < 1e-3);
    const struct weft_hardware *class;
    assert_int_equal(
        weft_hardware_find(WEFT_HARDWARE_SERVER, name, (struct weft_place){.file = "t"}, "t", arena, &class, NULL),
        WEFT_OK);
    const struct weft_hardware_value *rate = weft_hardware_value(class, "costs.nvls_rate");
    assert_true(rate && rate->basis == WEFT_BASIS_MEASURED && rate->low && strstr(rate->source, "made.csv"));
    assert_null(weft_hardware_value(class, "costs.tree_ll"));
    weft_fit_free(&fit);
    weft_fit_free(&again);
    weft_arena_free(arena);
}

/// Constants that made a table of 2 servers are moved by the noise of a measurement, 5%, by what their deviations say:
/// of all, 95% are within two of them. One that is said to be determined is known to half of itself. A step is told by
/// the times of its own algorithm and protocol: no other depends on it.
static void knows_how_well(void **state) {
    enum { SEEDS = 6, SIZES = 19 };
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    static const char two[] = "# nodes=2 gpus_per_node=8 gpu=H100 nics=8x400G collective=all_reduce\n";
    char table[2048] = "", clean[2048];
    snprintf(clean, sizeof clean, "%ssize_bytes,time_us\n", two);
    for (unsigned k = 3; k < 3 + SIZES; k++)
        snprintf(clean + strlen(clean), sizeof clean - strlen(clean), "%u,%u\n", 1u << k, 20 + k);
    const char *path = put("t.csv", clean);
    struct weft_fit made =
        run(&(struct weft_fit_conf){.table = &path, .tables = 1, .server = "dgx_h100", .check = true}, arena);
    uint32_t near = 0, all = 0;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
        size_t n = (size_t)snprintf(table, sizeof table, "%ssize_bytes,time_us\n", two);
        for (uint32_t i = 0; i < made.rows; i++)
            n += (size_t)snprintf(table + n, sizeof table - n, "%llu,%.6f\n", (unsigned long long)made.row[i].bytes,
                                  made.row[i].predicted_us * exp(0.05 * weft_random_normal(&random, 4)));
        path = put("noisy.csv", table);
        struct weft_fit fit = run(&(struct weft_fit_conf){.table = &path, .tables = 1}, arena);
        uint32_t rows[WEFT_NCCL_PROTOCOLS] = {0};
        for (uint32_t i = 0; i < fit.rows; i++)
            for (uint32_t p = 0; p < WEFT_NCCL_PROTOCOLS; p++)
                rows[p] += fit.row[i].use == WEFT_FIT_FITTED && !strcmp(fit.row[i].algorithm, "tree") &&
                           !strcmp(fit.row[i].protocol, weft_nccl_protocol_names[p]);
        for (uint32_t p = 0; p < WEFT_NCCL_PROTOCOLS; p++)
            for (uint32_t inner = 0; inner < 2; inner++) {
                const char *key =
                    weft_arena_format(arena, "costs.%stree_%s", inner ? "inner_" : "", weft_nccl_protocol_names[p]);
                assert_int_equal(find(&fit, key)->used, rows[p]);
            }
        for (uint32_t k = 0; k < fit.constants; k++) {
            const struct weft_fit_constant *c = &fit.constant[k];
            if (!c->used) continue;
            assert_true(!c->determined || c->deviation < 0.5 * c->value);
            near += fabs(c->value - c->before) < 2 * c->deviation;
            all++;
        }
        weft_fit_free(&fit);
    }
    print_message("%u of %u constants within two deviations\n", near, all);
    assert_true(all > 40 && near >= all * 0.88); // 95%, less three deviations of a binomial
    weft_fit_free(&made);
    weft_arena_free(arena);
}

/// A table in ms drives constants to their bounds, which are not what it determines.
static void bounds_are_no_finding(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    char table[512];
    size_t n = (size_t)snprintf(table, sizeof table, "%ssize_bytes,time_us\n", EIGHT);
    for (uint64_t size = 1 << 20, ns = 26; size <= 1 << 30; size *= 4, ns *= 4)
        n += (size_t)snprintf(table + n, sizeof table - n, "%llu,%g\n", (unsigned long long)size, (double)ns * 1e-3);
    const char *path = put("t.csv", table);
    struct weft_fit fit = run(&(struct weft_fit_conf){.table = &path, .tables = 1}, arena);
    bool bounded = false;
    for (uint32_t k = 0; k < fit.constants; k++) {
        const struct weft_fit_constant *c = &fit.constant[k];
        if (!c->used || c->at > c->least) continue;
        assert_false(c->determined);
        bounded = true;
    }
    assert_true(bounded);
    weft_fit_free(&fit);
    weft_arena_free(arena);
}

/// Times of NVLS alone do not tell NVLink's rate, so it is neither fitted nor written; those of a ring do.
static void nvls_hides_the_rate(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    static const char *const set_up[] = {EIGHT, "# nodes=1 gpus_per_node=8 gpu=H100 collective=all_gather\n"};
    for (uint32_t i = 0; i < 2; i++) {
        char table[512], name[64];
        size_t n = (size_t)snprintf(table, sizeof table, "%ssize_bytes,time_us\n", set_up[i]);
        for (uint64_t size = 128 << 20, us = i ? 350 : 610; size <= 1 << 30; size *= 2, us *= 2)
            n += (size_t)snprintf(table + n, sizeof table - n, "%llu,%llu\n", (unsigned long long)size,
                                  (unsigned long long)us);
        const char *path = put("t.csv", table);
        struct weft_fit fit = run(&(struct weft_fit_conf){.table = &path, .tables = 1}, arena);
        assert_true((find(&fit, "rate")->used > 0) == i && find(&fit, "rate")->determined == i);
        assert_true(find(&fit, "costs.nvls_rate")->determined == !i);
        snprintf(name, sizeof name, "%s/found.yaml", folder);
        FILE *file = fopen(name, "w");
        weft_fit_write(file, &fit, "found");
        fclose(file);
        const struct weft_hardware *class;
        assert_int_equal(
            weft_hardware_find(WEFT_HARDWARE_SERVER, name, (struct weft_place){.file = "t"}, "t", arena, &class, NULL),
            WEFT_OK);
        const struct weft_hardware_value *rate = weft_hardware_value(class, "rate");
        assert_true(rate && (rate->basis == WEFT_BASIS_MEASURED) == i);
        weft_fit_free(&fit);
    }
    weft_arena_free(arena);
}

/// A table of that class, one of whose times (by number) is so many times as long.
static const char *table_of(const char *class, uint32_t odd, double times, struct weft_arena *arena) {
    char table[2048] = EIGHT "size_bytes,time_us\n";
    for (unsigned k = 3; k < 28; k += 2)
        snprintf(table + strlen(table), sizeof table - strlen(table), "%u,%u\n", 1u << k, 20 + k);
    const char *path = put("t.csv", table);
    struct weft_fit_conf conf = {.table = &path, .tables = 1, .server = put("truth.yaml", class), .check = true};
    struct weft_fit fit = run(&conf, arena);
    fit.row[odd].predicted_us *= times;
    write_table(&fit, table, sizeof table);
    weft_fit_free(&fit);
    return put("made.csv", table);
}

/// A time that nothing explains, less than 1.2 times the next, moves no constant: least squares give 1.6 us for 0.7.
static void an_odd_time_moves_nothing(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const char *path = table_of(server, 8, 1.4, arena);
    struct weft_fit fit =
        run(&(struct weft_fit_conf){.table = &path, .tables = 1, .only = "launch,inner_ring_ll,nvls,nvls_rate"}, arena);
    assert_int_equal(fit.row[8].use, WEFT_FIT_FITTED);
    assert_true(fit.row[8].error < -0.25);
    for (uint32_t i = 0; i < fit.rows; i++)
        if (i != 8) assert_true(fabs(fit.row[i].error) < 0.02);
    weft_fit_free(&fit);
    weft_arena_free(arena);
}

/// The switch of a later log takes longer: its constant explains the differences, at the sizes of NVLS.
static void says_what_got_worse(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    static char later[sizeof server];
    strcpy(later, server);
    memcpy(strstr(later, "typical: 07us"), "typical: 40us", strlen("typical: 40us"));
    const char *path = table_of(later, 0, 1, arena);
    struct weft_fit_conf conf = {
        .table = &path, .tables = 1, .server = put("truth.yaml", server), .check = true, .why = true};
    struct weft_fit fit = run(&conf, arena);
    assert_true(fit.causes > 0);
    assert_string_equal(fit.cause->key, "costs.nvls");
    assert_true(fabs(fit.cause->value - 40) < 1 && fit.cause->explained > 0.95);
    assert_int_equal(fit.cause->from_bytes, 2 << 20);
    weft_fit_free(&fit);
    conf.server = put("later.yaml", later);
    fit = run(&conf, arena);
    assert_int_equal(fit.causes, 0); // nothing is different
    weft_fit_free(&fit);
    weft_arena_free(arena);
}

/// Every other size of a public table is held out. What is asked of a cluster that was fitted: a median of 8%.
static void holds_out(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const char *root = getenv("WEFT_ROOT"),
               *path = weft_arena_format(arena, "%s/tests/data/nccl/h200_1n_allreduce.csv", root ? root : ".");
    struct weft_fit_conf conf = {.table = &path,
                                 .tables = 1,
                                 .hold_out = 1,
                                 .hold_out_of = 2,
                                 .only = "launch,inner_ring_ll,ll_rate,nvls,nvls_rate"};
    struct weft_fit fit = run(&conf, arena);
    assert_int_equal(fit.judgements, 2);
    const struct weft_fit_judgement *held = &fit.judgement[1];
    assert_string_equal(held->what, "held out");
    assert_int_equal(held->rows, 10);
    if (!(held->median < 0.08 && held->within_20 >= 0.9)) fail_msg("%g, %g", held->median, held->within_20);
    uint32_t beyond = 0;
    for (uint32_t i = 0; i < fit.rows; i++)
        beyond += fit.row[i].beyond;
    assert_int_equal(beyond, 0); // within a server sizes up to 1 GiB are run
    weft_fit_free(&fit);
    weft_arena_free(arena);
}

/// A ring of two servers goes from LL128 at 64 MiB to Simple at 128 MiB, which takes less there: from 512 MiB on the
/// line is that of Simple alone, whose data cross 8 NICs of 50 GB/s, and what is between two sizes that are run lies
/// between their times.
static void goes_on_after_another_choice(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const char *path = put("ring.csv", "# nodes=2 gpus_per_node=8 gpu=H100 nics=8x400G collective=all_reduce\n"
                                       "size_bytes,time_us\n67108864,900\n134217728,1000\n268435456,1900\n"
                                       "1073741824,8000\n2147483648,16000\n");
    static const char slow[] = "name: slow\nkind: server\nabout: made\nvalues:\n"
                               "  costs.ll128_rate: {typical: 10Gbps, basis: assumed, source: test}\n";
    const struct weft_fit_conf conf = {.table = &path,
                                       .tables = 1,
                                       .setup = "NCCL_ALGO=ring NCCL_MIN_CTAS=24",
                                       .server = put("slow.yaml", slow),
                                       .check = true};
    struct weft_fit fit = run(&conf, arena);
    const struct weft_fit_row *row = fit.row;
    assert_string_equal(row[0].protocol, "ll128");
    assert_string_equal(row[1].protocol, "simple");
    assert_true(row[0].predicted_us > row[1].predicted_us);
    assert_true(row[2].predicted_us > 1.5 * row[1].predicted_us && row[2].predicted_us < 2.5 * row[1].predicted_us);
    double wire = 2 * 15 / 16. * (1 << 30) / 8 / 50e9 * 1e6, slope = row[4].predicted_us - row[3].predicted_us;
    if (slope < wire || slope > 1.1 * wire) fail_msg("%g us a GiB, %g on the wire", slope, wire);
    weft_fit_free(&fit);
    weft_arena_free(arena);
}

/// Four servers go from NVLSTree at 128 MiB to a ring at 256 MiB, whose own line goes on. Its ends are a loop apart: 16
/// channels of 2 MiB for each of 32 ranks.
static void goes_on_with_the_later_choice(void **state) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const char *path =
        put("four.csv", "# nodes=4 gpus_per_node=8 gpu=H100 nics=8x400G collective=all_reduce nccl=2.26\n"
                        "size_bytes,time_us\n134217728,900\n536870912,3000\n1073741824,6000\n2147483648,12000\n");
    struct weft_fit fit = run(&(struct weft_fit_conf){.table = &path, .tables = 1, .check = true}, arena);
    assert_string_equal(fit.row[0].algorithm, "nvlstree");
    assert_string_equal(fit.row[1].algorithm, "ring");
    double first = fit.row[2].predicted_us - fit.row[1].predicted_us;
    double second = fit.row[3].predicted_us - fit.row[2].predicted_us;
    assert_true(fabs(second / first - 2) < 1e-6);
    assert_int_equal(fit.table[0].line[0].more_bytes, 16u * 32 * (2 << 20));
    assert_true(first > 2 * 31 / 32. * (1 << 29) / 8 / 50e9 * 1e6); // 8 NICs of 50 GB/s
    weft_fit_free(&fit);
    weft_arena_free(arena);
}

/// A table that does not say NCCL's version is of its date: until September 2025 2 servers leave trees at 1 MiB,
/// in 2.30 at 4 MiB. What it says counts more, also as nccl-tests prints it.
static void takes_the_version_of_the_date(void **state) {
    static const struct {
        const char *said, *algorithm;
    } cases[] = {{"", "tree"},
                 {"from a report of June 2025", "nvlstree"},
                 {"2025-09-30 run", "nvlstree"},
                 {"October 2025", "tree"},
                 {"June 2025 nccl=2.30.7", "tree"},
                 {"nccl-library=22602", "nvlstree"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
        char text[256];
        snprintf(text, sizeof text,
                 "# %s\n# nodes=2 gpus_per_node=8 gpu=H100 nics=8x400G collective=all_reduce\n"
                 "size_bytes,time_us\n2097152,90\n",
                 cases[k].said);
        const char *path = put("dated.csv", text);
        struct weft_fit fit = run(&(struct weft_fit_conf){.table = &path, .tables = 1, .check = true}, arena);
        assert_string_equal(fit.row[0].algorithm, cases[k].algorithm);
        weft_fit_free(&fit);
        weft_arena_free(arena);
    }
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_printed),
        cmocka_unit_test(several_in_a_log),
        cmocka_unit_test(of_the_inspector),
        cmocka_unit_test(refuses),
        cmocka_unit_test(expected_collectives_are_taken),
        cmocka_unit_test(refuses_odd_set_ups),
        cmocka_unit_test(asks_for_its_ranks),
        cmocka_unit_test(keeps_the_scenarios_server),
        cmocka_unit_test(keeps_where_and_how),
        cmocka_unit_test(finds_again),
        cmocka_unit_test(knows_how_well),
        cmocka_unit_test(bounds_are_no_finding),
        cmocka_unit_test(nvls_hides_the_rate),
        cmocka_unit_test(an_odd_time_moves_nothing),
        cmocka_unit_test(says_what_got_worse),
        cmocka_unit_test(holds_out),
        cmocka_unit_test(goes_on_after_another_choice),
        cmocka_unit_test(goes_on_with_the_later_choice),
        cmocka_unit_test(takes_the_version_of_the_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
