// SPDX-License-Identifier: Apache-2.0
// Every subcommand while an allocation fails, its own, the C library's or another library's (fail_allocation.c), alone
// or with all after it: it says "out of memory" and exits 1, or, if it can do without, does what it does otherwise.
// Never a signal, another exit status, another answer, or half a file left. As an argument KofM: every M-th allocation,
// from number K on; without: some.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "command.h"
#include "weft/random.h"

static unsigned part, parts; // of the allocations; parts 0: some of them

static const char scenario[] =
    "name: tiny\n"
    "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}\n"
    "workload:\n"
    "  - {kind: incast, group: g, sources: \"host-0..2\", dst: host-3, size: 16KB}\n"
    "  - {kind: collective, group: j, collective: all_reduce_ring, size: 64KB}\n"
    "capture: {ports: leaf-0/0}\n"
    "variants: {pfc: {}, dcqcn: {host.cc: dcqcn}}\n"
    "claims:\n"
    "  - {text: all arrive, that: pfc.g.finished == pfc.g.count and dcqcn.g.finished == 3}\n";

static const char dsf[] = "topology: {kind: dsf_l1_zone, rdsws: 8, hosts_per_rdsw: 2}\n"
                          "switch: {buffer: {kind: dynamic, total: 64MiB}}\n"
                          "workload: [{kind: permutation, group: g, hosts: \"*\", size: 16KB}]\n"
                          "events: [{at: 1us, link: \"rdsw-0/16\", state: down}]\n";

static const char clique[] = "topology: {kind: dragonfly, pods: 3, tins: 3}\n"
                             "switch: {buffer: {kind: dynamic, total: 64MiB}}\n"
                             "workload: [{kind: permutation, group: g, hosts: \"*\", size: 16KB}]\n"
                             "events: [{at: 1us, link: tin-0--tin-1, state: down}]\n";

static const char *const commands[] = {
    "run s.yaml --quiet --json",
    "run s.yaml --quiet --json --threads 2 --out new",
    "run dsf.yaml --quiet --json",
    "run clique.yaml --quiet --json --threads 3",
    "compare s.yaml --quiet --json",
    "compare s.yaml --quiet",
    "compare dsf.yaml --quiet --seeds 1..2 --jobs 2",
    "verify . --quiet",
    "verify s.yaml --quiet --json",
    "sweep s.yaml --quiet --vary host.mtu=[1024B,4096B] --seeds 1..2 --best g.fct.mean",
    "sweep s.yaml --quiet --out new --csv --metrics sim_time_ps",
    "check s.yaml",
    "check s.yaml --json",
    "models",
    "models cc dcqcn",
    "topo s.yaml",
    "topo s.yaml --json",
    "topo s.yaml --dot",
    "topo clique.yaml",
    "workload s.yaml",
    "workload s.yaml --json",
    "plan pfc s.yaml",
    "plan pfc s.yaml --json",
    "plan sfc s.yaml",
    "plan dsf --json",
    "place s.yaml",
    "place s.yaml --json --strategy min_cut --out ranks.txt",
    "timeline old",
    "timeline old --json",
    "trace-control dsf.yaml",
    "trace-control dsf.yaml --json",
    "trace-control clique.yaml --csv tables",
    "dcbx \"$WEFT_ROOT/tests/data/lldpd-dcbx.pcap\" --json",
    "import chakra \"$WEFT_ROOT/examples/import/chakra\"",
    "import csv flows.csv.gz",
    "bench engine --k 4 --runs 1 --threads 1 --size 4096B --json",
};

static int set_up(void **state) {
    static struct fixture f;
    snprintf(f.dir, sizeof f.dir, "/tmp/weft-test-memory-XXXXXX");
    *state = &f;
    if (!mkdtemp(f.dir)) return -1;
    write_text(&f, "s.yaml", scenario);
    write_text(&f, "dsf.yaml", dsf);
    write_text(&f, "clique.yaml", clique);
    char line[1024];
    snprintf(line, sizeof line, "gzip -c \"$WEFT_ROOT/examples/import/flows.csv\" >%s/flows.csv.gz", f.dir);
    if (system(line)) return -1;
    return weft(&f, "run s.yaml --quiet --out old");
}

/// Takes out what no two runs have in common: seconds, and what follows from them.
static void cut_times(char *text) {
    static const char *const keys[] = {
        "\"wall_s\":", "\"cpu_s\":", "_per_cpu_s\":", "\"peak_rss_bytes\":", "\"peak_rss_bytes_per_host\":",
        "\"phase_s\":"};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        for (char *at = text; (at = strstr(at, keys[i]));) {
            at += strlen(keys[i]);
            const char *end = at + strcspn(at, *at == '{' ? "}" : ",}");
            memmove(at, end, strlen(end) + 1);
        }
}

/// Runs a command with allocation `at` failing (0: none), and all after it if `on`.
static int run_failing(struct fixture *f, const char *command, unsigned long at, bool on) {
    char line[1024];
    snprintf(line, sizeof line,
             "cd %s && rm -rf new tables ranks.txt && LD_PRELOAD=\"$WEFT_FAIL\" WEFT_FAIL_COUNT=count.txt "
             "WEFT_FAIL_AT=%lu %s \"$WEFT\" %s >out.txt 2>err.txt </dev/null",
             f->dir, at, on ? "WEFT_FAIL_ON=1" : "", command);
    int status = system(line);
    slurp(f, "out.txt", f->out, sizeof f->out);
    slurp(f, "err.txt", f->err, sizeof f->err);
    cut_times(f->out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool has_drafts(const struct fixture *f) {
    char line[256];
    snprintf(line, sizeof line, "test -n \"$(find %s -name '*.tmp')\"", f->dir);
    return !system(line);
}

static void fail_one(struct fixture *f, const char *command, unsigned long at, bool on, const char *expected) {
    int status = run_failing(f, command, at, on);
    bool said = status == 1 && strstr(f->err, "out of memory");
    bool same = status == 0 && !strcmp(f->out, expected);
    if (!said && !same)
        fail_msg("weft %s, allocation %lu%s: exit status %d; %s%s", command, at, on ? " and all after it" : "", status,
                 status ? "" : "another answer; ", f->err);
}

static void fail_command(struct fixture *f, const char *command, struct weft_random *random) {
    static char expected[sizeof f->out];
    char count[32];
    if (run_failing(f, command, 0, false)) fail_msg("weft %s: %s", command, f->err);
    strcpy(expected, f->out);
    slurp(f, "count.txt", count, sizeof count);
    unsigned long n = strtoul(count, NULL, 10);
    assert_true(n > 0);
    enum { SOME = 10 };
    for (unsigned i = 0; !parts && i < SOME; i++) { // in each tenth one, and the first few
        unsigned long at = i * n / SOME + weft_random_below(random, n / SOME + 1) + 1;
        fail_one(f, command, at, i % 2, expected);
        if (i < 4) fail_one(f, command, i + 1, false, expected);
    }
    for (unsigned long at = part; parts && at <= n; at += parts) {
        fail_one(f, command, at, false, expected);
        fail_one(f, command, at, true, expected);
    }
    if (has_drafts(f)) fail_msg("weft %s leaves a draft", command);
}

static void each_command(void **state) {
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    print_message("skipped: nothing can be preloaded before a sanitizer\n");
    skip();
#endif
    for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++)
        fail_command(*state, commands[i], &random);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(each_command, set_up, remove_folder)};
    if (argc > 1 && sscanf(argv[1], "%uof%u", &part, &parts) != 2) return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
