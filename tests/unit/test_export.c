// SPDX-License-Identifier: Apache-2.0
// weft run --export: the files of other simulators, to the letter.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>
#include <math.h>

#include "../command.h"
#include "../run.h"
#include "weft/report.h"

#define PRESETS "host: {preset: ns3_hpcc}\nswitch: {preset: ns3_hpcc}\n"

/// What the k-th file of a format says of a run.
static char *export(const struct run *r, const struct weft_outcome *o, const char *format, uint32_t k) {
    const struct weft_export *e = weft_exports;
    while (strcmp(e->name, format))
        e++;
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    struct weft_run run = {.scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = o};
    e->file[k].write(file, &run);
    fclose(file);
    return text;
}

static void assert_export(const struct run *r, const char *format, uint32_t k, const char *expected) {
    char *text = export(r, r->outcome, format, k);
    assert_string_equal(text, expected);
    free(text);
}

// One packet of 4144 B at 200G over two links of 150 ns: 934 ns (tests/theory/test_peers.c). Alone it would be by the
// formula of third.cc: 2 x 300 + 2 x 163 (4096 B) + 165 (4144 B) = 1091 ns. The second flow has the next port, and ends
// later: two of 4144 B and one of 56 B (2 ns) leave the first hop at 165, 330 and 332, the second at 480, 645 and 647;
// the last is there at 797 and its ACK (2 ns a hop) 304 ns later; alone 600 + 326 + 8344 B x 0.04 = 1259 ns.
static void fct_of_hpcc(void **state) {
    struct run r = run_once("topology: {kind: single, hosts: 300, rate: 200Gbps, delay: 150ns}\n" PRESETS
                            "workload: [{kind: flow, src: host-0, dst: host-299, size: 4096B, start: 5us},\n"
                            "           {kind: flow, src: host-0, dst: host-299, size: 8200B, start: 15us},\n"
                            "           {kind: flow, src: host-299, dst: host-0, size: 4096B, start: 2us}]\n");
    assert_export(&r, "hpcc", 0,
                  "0b012b01 0b000001 10000 100 4096 2000 934 1091\n"
                  "0b000001 0b012b01 10000 100 4096 5000 934 1091\n"
                  "0b000001 0b012b01 10001 100 8200 15000 1101 1259\n");
    assert_export(&r, "hpcc", 1, "");
    assert_export(&r, "htsim", 0,
                  "Flow Roce_299_0 2 finished at 2.934000 total bytes 4096\n"
                  "Flow Roce_0_299 0 finished at 5.934000 total bytes 4096\n"
                  "Flow Roce_0_299 1 finished at 16.101000 total bytes 8200\n"
                  "Done\nNew: 5 Rtx: 0\n");
    run_free(&r);
}

// A flow that has not ended has no line.
static void unfinished(void **state) {
    struct run r =
        run_once("topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n" PRESETS "run: {until: 5us}\n"
                 "workload: [{kind: flow, src: host-0, dst: host-1, size: 1MB}]\n");
    assert_export(&r, "hpcc", 0, "");
    assert_export(&r, "htsim", 0, "Done\nNew: 0 Rtx: 0\n");
    run_free(&r);
}

// Hosts 0 and 1 are paused by leaf-0 (host numbers, then the switches': 4), leaf-0 by leaf-1 over spine-0. Each port is
// paused and resumed in turn, as often as its neighbour says, and its interfaces count from 1.
static void pfc_of_hpcc(void **state) {
    static const char scenario[] =
        "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2, rate: 200Gbps,\n"
        "           delay: 150ns}\n"
        "host: {preset: ns3_hpcc}\n"
        "switch: {preset: ns3_hpcc, buffer: {kind: static, xoff: 20KB, xon: 10KB}}\n"
        "workload: [{kind: incast, sources: 'host-[0-1]', dst: host-2, size: 400KB}]\n";
    struct run r = run_once(scenario);
    struct weft_outcome *o = run_with(&r, &(struct weft_sim_options){.threads = 1, .record = true}, scenario);
    char *lines = export(&r, o, "hpcc", 1);
    static bool paused[8][4];
    uint64_t pauses = 0, of_host = 0, last = 0;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        uint64_t time;
        unsigned node, is_switch, interface, pause;
        int end = 0;
        assert_int_equal(sscanf(line, "%" SCNu64 " %u %u %u %u%n", &time, &node, &is_switch, &interface, &pause, &end),
                         5);
        assert_int_equal(line[end], 0);
        assert_true(time >= last && node < 7 && is_switch == (node >= 4) && interface >= 1 && interface <= 3);
        assert_true(node >= 4 || (node < 2 && interface == 1));
        assert_int_equal(pause, !paused[node][interface]);
        paused[node][interface] = pause;
        pauses += pause;
        of_host += pause && node == 0;
        last = time;
    }
    uint64_t sent = 0;
    for (uint32_t p = 0; p < r.topology->ports; p++)
        sent += weft_outcome_at(o, p, 3)->pfc_tx_xoff;
    assert_int_equal(pauses, sent);
    assert_int_equal(of_host, run_counters(&r, "leaf-0->host-0", 3)->pfc_tx_xoff);
    assert_true(of_host > 0);
    free(lines);
    weft_outcome_free(o);
    run_free(&r);
}

// Two hosts that end with the same number have their places instead.
static void numbers_of_others(void **state) {
    struct run r = run_once("topology:\n  kind: list\n"
                            "  nodes: [{name: a-7, role: host}, {name: b-7, role: host}, {name: s, role: switch}]\n"
                            "  links: [{from: a-7, to: s, rate: 200Gbps, delay: 150ns},\n"
                            "          {from: b-7, to: s, rate: 200Gbps, delay: 150ns}]\n" PRESETS
                            "workload: [{kind: flow, src: b-7, dst: a-7, size: 4096B}]\n");
    assert_export(&r, "hpcc", 0, "0b000101 0b000001 10000 100 4096 0 934 1091\n");
    run_free(&r);
}

static const char small[] = "topology: {kind: single, hosts: 2, rate: 200Gbps, delay: 150ns}\n" PRESETS
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 4096B}]\n";

static void command_writes_files(void **state) {
    struct fixture *f = *state;
    char text[256];
    write_text(f, "s.yaml", small);
    assert_int_equal(weft(f, "run s.yaml --out new --export hpcc,htsim --json"), 0);
    slurp(f, "new/fct.txt", text, sizeof text);
    assert_string_equal(text, "0b000001 0b000101 10000 100 4096 0 934 1091\n");
    slurp(f, "new/pfc.txt", text, sizeof text);
    assert_string_equal(text, "");
    slurp(f, "new/htsim.txt", text, sizeof text);
    assert_string_equal(text, "Flow Roce_0_1 0 finished at 0.934000 total bytes 4096\nDone\nNew: 1 Rtx: 0\n");
}

static void command_refuses(void **state) {
    struct fixture *f = *state;
    write_text(f, "s.yaml", small);
    assert_int_equal(weft(f, "run s.yaml --export hpcc"), 2);
    assert_non_null(strstr(f->err, "expected --out DIR"));
    assert_int_equal(weft(f, "run s.yaml --out none --export hpcc,ns3"), 2);
    assert_non_null(strstr(f->err, "no format \"ns3\""));
    assert_int_equal(weft(f, "run s.yaml --out none --export ''"), 2);
    char path[128];
    snprintf(path, sizeof path, "%s/none", f->dir);
    assert_int_not_equal(access(path, F_OK), 0);
}

/// The rows of collectives, column by column, and the mean of their bus bandwidths. Counts are of floats: those of a
/// part for an all-gather and an all-to-all. Barriers between sizes have no row, and a table ends with its collective.
static void columns_of_nccl_tests(void **state) {
    static const struct {
        const char *collective, *redop;
        uint32_t job, op;
        uint64_t size, count;
        int root;
    } row[] = {
        {"all_reduce_ring", "sum", 0, 1, 1000000, 250000, -1}, {"all_reduce_ring", "sum", 0, 3, 4000000, 1000000, -1},
        {"all_gather", "none", 1, 0, 4000000, 250000, -1},     {"broadcast", "none", 2, 0, 8000, 2000, 3},
        {"reduce_scatter", "sum", 3, 0, 65536, 4096, -1},      {"all_to_all", "none", 3, 3, 4096, 256, -1},
    };
    struct run r =
        run_once("topology: {kind: single, hosts: 4, rate: 200Gbps, delay: 150ns}\n"
                 "workload: [{kind: collective, share_hosts: on, size: 1MB, size_max: 4MB, factor: 4, repeat: 2},\n"
                 "  {kind: collective, group: b, share_hosts: on, collective: all_gather, size: 4MB},\n"
                 "  {kind: collective, group: c, share_hosts: on, collective: broadcast, size: 8KB, root: 3},\n"
                 "  {kind: job, share_hosts: on, operations: [{collective: reduce_scatter, size: 64KiB},\n"
                 "    {compute: 1us, times: 2}, {collective: all_to_all, size: 4KiB, times: 3}]}]\n");
    const struct weft_run run = {
        .scenario = r.scenario, .topology = r.topology, .workload = r.workload, .outcome = r.outcome};
    char *text = export(&r, r.outcome, "nccl-tests", 0), collective[32] = "";
    uint32_t n = 0, tables = 0, rows = 0;
    double sum = 0, mean;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        uint64_t size, count;
        int root, end = 0;
        double value[2][3];
        char redop[8];
        if (sscanf(line, "# job %*[^:]: %31[^,],", collective) == 1) sum = rows = 0;
        if (sscanf(line, "# Avg bus bandwidth    : %lf", &mean) == 1) {
            assert_true(rows && fabs(mean - sum / rows) < 1e-3 * mean);
            tables++;
        }
        if (*line == '#') continue;
        assert_true(n < sizeof row / sizeof *row);
        assert_int_equal(sscanf(line, "%" SCNu64 " %" SCNu64 " float %7s %d %lf %lf %lf N/A %lf %lf %lf N/A%n", &size,
                                &count, redop, &root, &value[0][0], &value[0][1], &value[0][2], &value[1][0],
                                &value[1][1], &value[1][2], &end),
                         10);
        assert_int_equal(line[end], 0);
        struct weft_collective_stats s = weft_report_collective(&run, row[n].job, row[n].op);
        assert_string_equal(collective, row[n].collective);
        assert_int_equal(size, row[n].size);
        assert_int_equal(count, row[n].count);
        assert_string_equal(redop, row[n].redop);
        assert_int_equal(root, row[n].root);
        for (uint32_t k = 0; k < 2; k++)
            assert_true(fabs(value[k][0] - s.time_ps * 1e-6) < 0.0501 && fabs(value[k][1] - s.algbw * 1e-9) < 0.00501 &&
                        fabs(value[k][2] - s.busbw * 1e-9) < 0.00501);
        sum += s.busbw * 1e-9;
        rows++;
        n++;
    }
    assert_int_equal(n, sizeof row / sizeof *row);
    assert_int_equal(tables, 5);
    free(text);
    run_free(&r);
}

static void tables_of_commands(void **state) {
    struct fixture *f = *state;
    write_text(f, "s.yaml", small);
    assert_int_equal(weft(f, "run s.yaml --table nccl-tests"), 0);
    assert_string_equal(f->out, "# no collective ran\n");
    assert_int_equal(weft(f, "run s.yaml --table groups"), 2);
    assert_non_null(strstr(f->err, "expected nccl-tests"));
    assert_int_equal(weft(f, "run s.yaml --table nccl-tests --json"), 2);
    write_text(f, "c.yaml",
               "topology: {kind: single, hosts: 2}\nworkload: [{kind: collective}]\n"
               "variants: {slow: {topology.rate: 100Gbps}, fast: {topology.rate: 400Gbps}}\n");
    assert_int_equal(weft(f, "compare c.yaml --table nccl-tests"), 0);
    const char *slow = strstr(f->out, "# variant slow\n# job collective: all_reduce_ring, 2 ranks"),
               *fast = strstr(f->out, "# variant fast\n");
    assert_true(slow == f->out && fast);
    assert_non_null(strstr(fast, "# Avg bus bandwidth"));
    assert_int_equal(weft(f, "compare c.yaml --table nccl-tests --csv"), 2);
}

static int make_folder(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-export-XXXXXX");
    *state = &f;
    return mkdtemp(f.dir) ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fct_of_hpcc),
        cmocka_unit_test(unfinished),
        cmocka_unit_test(pfc_of_hpcc),
        cmocka_unit_test(numbers_of_others),
        cmocka_unit_test(columns_of_nccl_tests),
        cmocka_unit_test_setup_teardown(tables_of_commands, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(command_writes_files, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(command_refuses, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
