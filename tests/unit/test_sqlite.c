// SPDX-License-Identifier: Apache-2.0
// results.sqlite of runs filled in by hand, read back with queries as a user would write them.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "box/dsf/dsf_outcome.h"
#include "box/tin/tin_outcome.h"
#include "query.h"
#include "report_sample.h"
#include "weft/result.h"

struct fixture {
    char dir[64];
    struct weft_scenario_file *file;
    struct weft_scenario *scenario; ///< a real one, for its configuration
    struct report_sample sample[2];
    struct weft_run run[2];
};

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int setup(void **state) {
    static struct fixture f;
    struct weft_error error = {0};
    char path[128];
    memset(&f, 0, sizeof f);
    strcpy(f.dir, "/tmp/weft-sqlite-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    snprintf(path, sizeof path, "%s/s.yaml", f.dir);
    write_text(path, "{topology: {kind: single}, run: {seed: 42}, workload: [{kind: permutation, size: 4KB}]}");
    if (weft_scenario_file_read(path, NULL, 0, &f.file, &error) || weft_scenario_new(f.file, 0, &f.scenario, &error))
        fail_msg("%s", error.text);
    for (unsigned i = 0; i < 2; i++) {
        report_sample_init(&f.sample[i]);
        const struct weft_scenario *names = &f.sample[i].scenario;
        struct weft_scenario both = *f.scenario; // configuration of the real one, names of the sample
        both.name = names->name;
        both.variant = i ? "pfc+dcqcn" : names->variant;
        f.sample[i].scenario = both;
        f.run[i] = f.sample[i].run;
    }
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    char command[128];
    weft_scenario_free(f->scenario);
    weft_scenario_file_free(f->file);
    snprintf(command, sizeof command, "rm -r %s", f->dir);
    return system(command);
}

static void write_results(struct fixture *f, const char *dir) {
    struct weft_error error = {0};
    if (weft_report_sqlite(dir, f->run, 2, &error)) fail_msg("%s", error.text);
}

static void is_sound(void **state) {
    struct fixture *f = *state;
    write_results(f, f->dir);
    expect_rows(f->dir, "PRAGMA integrity_check", "ok");
    expect_rows(f->dir, "PRAGMA foreign_key_check", "");
    expect_rows(f->dir, "PRAGMA user_version", "2");
    for (uint32_t i = 0; i < weft_result_table_count(); i++) {
        char name[64], query[128];
        weft_result_flat(weft_result_table_at(i)->name, name, sizeof name);
        snprintf(query, sizeof query, "SELECT count(*) > 1 FROM pragma_table_info('%s')", name);
        expect_rows(f->dir, query, "1");
    }
}

/// Each column of each table has a description.
static void meanings(void **state) {
    struct fixture *f = *state;
    write_results(f, f->dir);
    expect_rows(f->dir, "SELECT unit, help FROM meaning WHERE \"table\" = 'flows' AND \"column\" = 'bytes'",
                "bytes|bytes to be sent");
    expect_rows(f->dir, "SELECT help FROM meaning WHERE \"table\" = 'port_counters' AND \"column\" = 'pfc_rx_xoff'",
                "pause frames received with a time above 0: SAI_PORT_STAT_PFC_%u_RX_PKTS");
    expect_rows(f->dir,
                "SELECT count(*) FROM sqlite_master AS t, pragma_table_info(t.name) AS c LEFT JOIN meaning AS m"
                " ON m.\"table\" = t.name AND m.\"column\" = c.name WHERE t.type = 'table' AND t.name <> 'meaning'"
                " AND c.name NOT IN ('run', 'id') AND m.help IS NULL",
                "0");
}

static void what_was_run(void **state) {
    struct fixture *f = *state;
    write_results(f, f->dir);
    expect_rows(
        f->dir,
        "SELECT id, scenario, variant, seed, threads, digest, \"end\", stall, hosts, switches, links, sim_time_ps,"
        " wall_s, packet_hops FROM run",
        "1|sample|pfc|42|2|0123456789abcdef|until|NULL|3|1|3|500000000|0.5|12345678\n"
        "2|sample|pfc+dcqcn|42|2|0123456789abcdef|until|NULL|3|1|3|500000000|0.5|12345678");
    expect_rows(f->dir, "SELECT * FROM conservation WHERE run = 1", "1|13500000|12700000|8356|791644");
    expect_rows(f->dir, "SELECT * FROM counters WHERE run = 2", "2|11|128000000|1|321|7|21|18|13|2|10000000|5|4000000");
    expect_rows(f->dir,
                "SELECT value FROM config WHERE run = 1 AND path IN ('run.seed', 'workload.0.size') ORDER BY path",
                "42\n4KB");
    expect_rows(f->dir, "SELECT count(*) > 50, count(*) = count(DISTINCT path) FROM config WHERE run = 2", "1|1");
    expect_rows(f->dir, "SELECT bytes_max FROM memory WHERE run = 1 AND kind = 'scenario'", "1000");
    expect_rows(f->dir, "SELECT count(*) FROM memory WHERE run = 1", "11");
}

static void flows_and_groups(void **state) {
    struct fixture *f = *state;
    write_results(f, f->dir);
    expect_rows(f->dir, "SELECT * FROM flows WHERE run = 1 AND flow IN (1, 3)",
                "1|1|incast|1|2|host-1|host-2|5000000|NULL|NULL|1|3|write|1000000|421000000|420000000|422000000|"
                "200000000|2.1|5000000|"
                "4|2|6|3000000|5|3|NULL\n"
                "1|3|victims|2|0|host-2|host-0|2000000|NULL|NULL|1|4|read|0|NULL|NULL|NULL|80000000|NULL|1234567|0|9|0|"
                "0|0|0|NULL");
    expect_rows(f->dir,
                "SELECT name, count, finished, bytes, delivered_bytes, delivered_bytes_min, delivered_bytes_max, "
                "fct_ps_mean, fct_ps_p99, slowdown_max FROM groups WHERE run = 2",
                "incast|2|2|10000000|10000000|5000000|5000000|410000000|420000000|2.1\nvictims|2|1|3000000|2234567|"
                "1000000|1234567|50500123|50500123|1.262503075");
    expect_rows(f->dir, "SELECT mean_us FROM group_times WHERE variant = 'pfc' AND name = 'incast'", "410.0");
}

/// Only of runs that have one: counters, and distributions as buckets with the share of all up to their end.
static void of_a_fabric(void **state) {
    struct fixture *f = *state;
    static struct weft_dsf_histograms seen;
    static struct weft_dsf_outcome dsf = {.cell_hops = 34, .voq_bytes_max = 4158, .seen = &seen};
    memset(&seen, 0, sizeof seen);
    for (unsigned i = 0; i < 8; i++)
        weft_histogram_add(&seen.fabric_cells, i < 6 ? 0 : 1001); // 1000 to 1003
    weft_histogram_add(&seen.voq_ns, 7);
    f->sample[1].outcome.part[WEFT_BOX_DSF_INTERFACE] = &dsf;
    write_results(f, f->dir);
    f->sample[1].outcome.part[WEFT_BOX_DSF_INTERFACE] = NULL;
    expect_rows(f->dir,
                "SELECT run, cell_hops, cells_lost, voq_bytes_max, fabric_cells_count, fabric_cells_p50,"
                " fabric_cells_max, voq_ns_mean, reassembly_packets__max FROM dsf",
                "2|34|0|4158|8|0|1001|7.0|0");
    expect_rows(f->dir, "SELECT * FROM distributions",
                "2|dsf.fabric_cells|0|1|6|0.75\n2|dsf.fabric_cells|1000|1004|2|1.0\n2|dsf.voq_ns|7|8|1|1.0");
}

/// Likewise of a Clique; hops are exact.
static void of_a_clique(void **state) {
    struct fixture *f = *state;
    static struct weft_tin_histograms seen;
    static struct weft_clique_outcome cliques = {.sum = {.cell_hops = 9,
                                                         .rts_packets_max = 3,
                                                         .seen = &seen,
                                                         .cells = {2, 1, 1, 5},
                                                         .hops = {[1] = 3, [2] = 1, [15] = 4}}};
    memset(&seen, 0, sizeof seen);
    weft_histogram_add(&seen.clear_ns, 1000);
    weft_histogram_add(&seen.clear_ns, 1000);
    f->sample[0].outcome.part[WEFT_BOX_TIN] = &cliques;
    write_results(f, f->dir);
    f->sample[0].outcome.part[WEFT_BOX_TIN] = NULL;
    expect_rows(f->dir, "SELECT run, cell_hops, rts_packets_max, clear_ns_p99 FROM aquila", "1|9|3|1000");
    expect_rows(f->dir, "SELECT * FROM aquila_cells WHERE cells > 0", "1|ctd|1\n1|cts|1\n1|data|5\n1|rts|2");
    expect_rows(f->dir, "SELECT * FROM aquila_hops WHERE cells > 0", "1|1|3\n1|2|1\n1|15|4");
    expect_rows(f->dir, "SELECT * FROM distributions", "1|aquila.clear_ns|1000|1004|2|1.0");
}

/// A traced cell that a TiN sent astray, and another loses.
static void traced_cells(void **state) {
    struct fixture *f = *state;
    struct weft_cell_hop hop[] = {
        {.in_ps = 10,
         .out_ps = 30,
         .next_ps = 70,
         .node = 3,
         .qp = 5,
         .port_in = WEFT_CELL_ENDPOINT,
         .port_out = 2,
         .wire = 160,
         .vc_in = 6,
         .vc_out = 7,
         .type = 3,
         .way = WEFT_CELL_ROUTE_ASTRAY},
        {.in_ps = 70,
         .out_ps = 75,
         .node = 1,
         .qp = 5,
         .port_out = WEFT_CELL_ENDPOINT,
         .vc_in = 7,
         .vc_out = 7,
         .hops = 1,
         .type = 3,
         .end = WEFT_CELL_END_LOST,
         .drop = WEFT_DROP_NO_ROUTE},
    };
    struct weft_cell_path path = {
        .hops = 2, .to = 0, .suspect = 3, .end = WEFT_CELL_END_LOST, .drop = WEFT_DROP_NO_ROUTE};
    struct weft_cell_paths paths = {.cells = 1, .path = &path, .hop = hop};
    static struct weft_tin_histograms seen;
    struct weft_clique_outcome cliques = {.sum = {.seen = &seen}, .cells = &paths};
    f->sample[0].outcome.part[WEFT_BOX_TIN] = &cliques;
    write_results(f, f->dir);
    f->sample[0].outcome.part[WEFT_BOX_TIN] = NULL;
    expect_rows(f->dir, "SELECT * FROM cell_traces", "1|0|data|160|leaf-0|host-0|5|10|75|lost|1|no_route|leaf-0");
    expect_rows(f->dir, "SELECT * FROM cell_hops",
                "1|0|0|leaf-0|NULL|6|10|leaf-0/2|7|30|astray\n1|0|1|host-1|host-1/0|7|70|NULL|7|75|none");
}

static void ports_counters_series(void **state) {
    struct fixture *f = *state;
    write_results(f, f->dir);
    expect_rows(f->dir, "SELECT * FROM ports WHERE run = 1 AND port = 5",
                "1|5|leaf-0/2|leaf-0|leaf|1|host-2|host|2|200000000000|150000");
    expect_rows(f->dir, "SELECT count(*) FROM port_counters WHERE run = 1", "6"); // rows of zeros are left out
    expect_rows(f->dir,
                "SELECT tx_packets, tx_bytes, ecn_marked, queue_bytes_max, ingress_bytes_max, pfc_tx_xoff, pfc_tx_xon,"
                " pfc_rx_xoff, pfc_rx_xon, paused_ps, watchdog_storms, drops FROM port_counters"
                " WHERE run = 1 AND port = 5 AND priority = 3",
                "2700|10900000|321|812345|0|0|0|0|0|5000000|1|0");
    expect_rows(f->dir, "SELECT port, peer, priority, paused_us FROM paused_ports WHERE run = 1",
                "host-0/0|leaf-0|3|90.0\nhost-1/0|leaf-0|3|31.0\nleaf-0/2|host-2|3|5.0\nleaf-0/2|host-2|4|2.0");
    expect_rows(f->dir, "SELECT port, queue_bytes_max, ecn_marked FROM full_queues WHERE run = 1 LIMIT 1",
                "leaf-0/2|812345|321");
    expect_rows(f->dir, "SELECT * FROM series WHERE run = 1",
                "1|1000000|5|3|4096|8192|25000|0|NULL|NULL\n1|2000000|5|3|812345|780000|0|1|NULL|NULL");
    expect_rows(f->dir, "SELECT reason, packets, bytes FROM counters_drops WHERE run = 1 AND packets > 0",
                "headroom_exhausted|1|4178\nwred|1|4178");
}

/// Every query in docs/results-questions.md is understood.
static void queries_of_the_docs(void **state) {
    struct fixture *f = *state;
    static char text[1 << 16];
    char path[1024];
    unsigned queries = 0;
    sqlite3 *db;
    write_results(f, f->dir);
    snprintf(path, sizeof path, "%s/docs/results-questions.md", getenv("WEFT_ROOT"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    snprintf(path, sizeof path, "%s/results.sqlite", f->dir);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (char *at = text; (at = strstr(at, "```sql\n")); queries++) {
        char *end = strstr(at += 7, "```");
        assert_non_null(end);
        *end = 0;
        if (sqlite3_exec(db, at, NULL, NULL, NULL)) fail_msg("%s: %s", at, sqlite3_errmsg(db));
        at = end + 1;
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_true(queries >= 3);
}

static unsigned files_in(const char *dir) {
    unsigned n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void replaces_and_makes_folders(void **state) {
    struct fixture *f = *state;
    char dir[256];
    snprintf(dir, sizeof dir, "%s/deep/er/", f->dir);
    write_results(f, dir);
    f->sample[0].outcome.cnps = 99;
    write_results(f, dir);
    expect_rows(dir, "SELECT cnp FROM counters", "99\n7");
    assert_int_equal(files_in(dir), 1); // no draft is left
}

static void errors_leave_nothing(void **state) {
    struct fixture *f = *state;
    char path[256];
    struct weft_error error = {0};
    snprintf(path, sizeof path, "%s/s.yaml/out", f->dir); // a file is in the way
    assert_int_equal(weft_report_sqlite(path, f->run, 2, &error), WEFT_ERROR_SYSTEM);
    assert_non_null(strstr(error.text, "s.yaml"));
    memset(&error, 0, sizeof error);
    assert_int_equal(weft_report_sqlite("", f->run, 2, &error), WEFT_ERROR_SYSTEM);
    snprintf(path, sizeof path, "%s/taken", f->dir); // the name is taken by a folder
    snprintf(error.text, sizeof error.text, "%s/results.sqlite", path);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(mkdir(error.text, 0777), 0);
    memset(&error, 0, sizeof error);
    assert_int_equal(weft_report_sqlite(path, f->run, 2, &error), WEFT_ERROR_SYSTEM);
    assert_non_null(strstr(error.text, "cannot write"));
    assert_int_equal(files_in(path), 1);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(is_sound),
        T(meanings),
        T(what_was_run),
        T(flows_and_groups),
        T(of_a_fabric),
        T(of_a_clique),
        T(traced_cells),
        T(ports_counters_series),
        T(queries_of_the_docs),
        T(replaces_and_makes_folders),
        T(errors_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
