// SPDX-License-Identifier: Apache-2.0
// weft sweep from a user's view: what it prints and writes, in one go, in parts, and after a kill.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

#include "command.h"
#include "signalled.h"

#define NETWORK                                                                                                        \
    "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"                                          \
    "workload:\n"                                                                                                      \
    "  - {kind: incast, sources: host-4..6, dst: host-0, size: 100KB, group: incast}\n"                                \
    "  - {kind: flow, src: host-7, dst: host-1, size: 100KB, group: victims}\n"

static const char scenario[] = "name: small\n" NETWORK "variants: {pfc: {}, slow: {topology.rate: 100Gbps}}\n"
                               "sweep:\n"
                               "  vary:\n"
                               "    host.mtu: [1024B, 4096B]\n"
                               "    run.seed: 1..3\n"
                               "  best: victims.fct.mean\n";

/// Half of its seeds draw no flow: such a run fails.
static const char sparse[] = "name: sparse\ntopology: {kind: single, hosts: 4}\n"
                             "workload: [{kind: poisson, load: 10%, size: 100KB, duration: 10us, group: g}]\n"
                             "sweep: {vary: {host.mtu: [1024B, 4096B], run.seed: 1..6}, best: g.fct.mean}\n";

/// Its first run takes long, with any order of the points.
static const char lasting[] = "name: lasting\n" NETWORK "sweep: {vary: {workload.0.size: [1KB, 10KB, 100GB]}}\n";

/// Two senders whose packets wait for each other's buffers.
static int set_up(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-sweep-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    write_text(&f, "s.yaml", scenario);
    write_text(&f, "sparse.yaml", sparse);
    write_text(&f, "lasting.yaml", lasting);
    setenv("XDG_CACHE_HOME", f.dir, 1);
    *state = &f;
    return 0;
}

static bool there(const struct fixture *f, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    return !access(path, F_OK);
}

/// What a shell command prints in the folder, as a number.
static int count(const struct fixture *f, const char *command) {
    char line[512];
    int n = -1;
    snprintf(line, sizeof line, "cd %s && %s", f->dir, command);
    FILE *out = popen(line, "r");
    assert_non_null(out);
    if (fscanf(out, "%d", &n) != 1) n = -1;
    pclose(out);
    return n;
}

/// The number that a query gives.
static double query(const struct fixture *f, const char *dir, const char *sql) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s/sweep.sqlite", f->dir, dir);
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    double value = sqlite3_column_double(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return value;
}

/// Points, seeds and groups in order, with the figures that `weft run` measures.
static void tidy_table(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "sweep s.yaml --out a --csv"), 0);
    assert_string_equal(f->err, "");
    unsigned lines = 0;
    for (const char *at = f->out; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 1 + 4 * 3 * 2);
    assert_memory_equal(f->out, "point,variant,host.mtu,seed,group,end,digest,sim_time_ps,count,", 63);
    const char *row = strstr(f->out, "\n3,slow,4096B,2,victims,done,");
    assert_non_null(row);
    char digest[32];
    assert_int_equal(sscanf(row, "\n3,slow,4096B,2,victims,done,%16[0-9a-f],", digest), 1);
    assert_int_equal(query(f, "a", "SELECT count(*) FROM sweep"), 24);
    assert_int_equal(query(f, "a", "SELECT count(*) FROM points WHERE \"host.mtu\" = '4096B'"), 2);
    assert_int_equal(query(f, "a", "SELECT count(*) FROM runs WHERE state = 'done' AND seed = 3"), 4);
    double fct = query(f, "a", "SELECT fct_ps_mean FROM sweep WHERE point = 3 AND seed = 2 AND \"group\" = 'victims'");
    assert_int_equal(weft(f, "run s.yaml --variant slow --set host.mtu=4096B --seed 2 --json"), 0);
    json_t *run = json_loads(f->out, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(run, "digest")), digest);
    const json_t *victims = json_object_get(json_object_get(run, "groups"), "victims");
    assert_true(json_number_value(json_object_get(json_object_get(victims, "fct_ps"), "mean")) == fct);
    json_decref(run);
}

/// Means, medians and intervals are of the rows.
static void summary(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "sweep s.yaml --out a --json"), 0);
    assert_non_null(strstr(f->err, "12 of 12 runs are there already"));
    static const char of[] = " FROM summary WHERE point = 2 AND \"group\" = 'incast' AND metric = 'fct_ps_mean'";
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT mean%s", of);
    double mean = query(f, "a", sql);
    snprintf(sql, sizeof sql, "SELECT (high - low) / 2%s", of);
    double half = query(f, "a", sql);
    static const char rows[] = " FROM sweep WHERE point = 2 AND \"group\" = 'incast'";
    snprintf(sql, sizeof sql, "SELECT avg(fct_ps_mean)%s", rows);
    double rows_mean = query(f, "a", sql);
    assert_true(mean > rows_mean - 1 && mean < rows_mean + 1);
    snprintf(sql, sizeof sql, "SELECT sum((fct_ps_mean - %.17g) * (fct_ps_mean - %.17g)) / 2 / 3%s", mean, mean, rows);
    double squared = 4.30265 * 4.30265 * query(f, "a", sql); // t of 0.975 and 2 degrees of freedom
    assert_true(half * half > squared * .999 && half * half < squared * 1.001);
    json_t *root = json_loads(f->out, 0, NULL);
    assert_non_null(root);
    const json_t *point = json_array_get(json_object_get(root, "points"), 2);
    const json_t *fct = json_object_get(json_object_get(json_object_get(point, "groups"), "incast"), "fct_ps_mean");
    assert_true(json_number_value(json_object_get(fct, "mean")) == mean);
    assert_int_equal(json_integer_value(json_object_get(root, "done")), 12);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "best"), "point")), 1);
    json_decref(root);
}

/// With a metric that is in no column the runs are needed once more, and then kept.
static void named_metrics(void **state) {
    struct fixture *f = *state;
    static const char arguments[] =
        "sweep s.yaml --out m --metrics victims.fct.p99,counters.cnp,sim_time_ps --best sim_time_ps:max";
    assert_int_equal(weft(f, arguments), 0);
    assert_non_null(strstr(f->out, "\nbest by sim_time_ps (the greatest): point "));
    assert_non_null(strstr(f->out, "\n  weft run s.yaml --variant slow --set host.mtu="));
    assert_non_null(strstr(f->out, "  victims.fct.p99, us"));
    assert_int_equal(weft(f, arguments), 0);
    assert_non_null(strstr(f->err, "12 of 12 runs are there already"));
    assert_int_equal(weft(f, "sweep s.yaml --out m --best victims.fct.p99"), 0);
    assert_non_null(strstr(f->err, "12 of 12 runs are there already")); // it is in a column
    assert_int_equal(weft(f, "sweep s.yaml --out m --metrics packet_hops"), 0);
    assert_string_equal(f->err, "");
}

/// Two tasks and what puts them together: to the bit what one run gives.
static void in_parts(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "sweep s.yaml --out one --csv --jobs 1"), 0);
    char *one = strdup(f->out);
    assert_int_equal(weft(f, "sweep s.yaml --out two --task 1/2"), 0);
    assert_string_equal(f->out, "");
    assert_non_null(strstr(f->err, "weft: task 1 of 2 (--task): 6 of its 6 runs are done"));
    assert_int_equal(weft(f, "sweep s.yaml --out two --merge --csv"), 1);
    assert_string_equal(f->err, "weft: 6 of 12 runs are missing or failed\n");
    assert_int_equal(weft(f, "sweep s.yaml --out two --task 2/2 --quiet"), 0);
    assert_string_equal(f->err, "");
    assert_int_equal(weft(f, "sweep s.yaml --out two --merge --csv"), 0);
    assert_string_equal(f->out, one);
    assert_int_equal(count(f, "cmp one/sweep.sqlite two/sweep.sqlite; echo $?"), 0);
    assert_int_equal(count(f, "ls two/runs | wc -l"), 12);
    free(one);
}

/// Two variants without a difference have the same runs: each is run once, and both have its figures.
static void equal_runs(void **state) {
    struct fixture *f = *state;
    write_text(f, "equal.yaml", NETWORK "variants: {a: {}, b: {}, c: {host.mtu: 1024B}}\n");
    assert_int_equal(weft(f, "sweep equal.yaml --seeds 1..2 --out e --csv"), 0);
    assert_int_equal(count(f, "ls e/runs | wc -l"), 4);
    assert_non_null(strstr(f->out, "\n1,b,2,victims,done,"));
    assert_int_equal(weft(f, "sweep equal.yaml --seeds 1..2 --out e2 --task 2/3"), 0);
    assert_non_null(strstr(f->err, "1 of its 1 runs are done"));
}

/// What a file holds that a value names is part of a run.
static void named_files(void **state) {
    struct fixture *f = *state;
    write_text(f, "net.yaml",
               "topology: {kind: single, hosts: 4}\n"
               "workload: [{kind: csv, file: flows.csv}]\n");
    write_text(f, "flows.csv", "src,dst,size [KB]\n0,1,100\n");
    assert_int_equal(weft(f, "sweep net.yaml --out n --csv"), 0);
    char *before = strdup(f->out);
    write_text(f, "flows.csv", "src,dst,size [KB]\n0,1,200\n");
    assert_int_equal(weft(f, "sweep net.yaml --out n --csv"), 0);
    assert_string_equal(f->err, "");
    assert_string_not_equal(f->out, before);
    assert_int_equal(weft(f, "sweep net.yaml --out n --csv"), 0);
    assert_non_null(strstr(f->err, "1 of 1 runs are there already"));
    free(before);
}

/// What clusters set for their processes.
static void environments(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *set, *said;
    } cases[] = {
        {"SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_STEP=2",
         "task 3 of 3 (SLURM_ARRAY_TASK_ID)"},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4", "task 2 of 4 (OMPI_COMM_WORLD_RANK)"},
        {"PMI_RANK=0 PMI_SIZE=2", "task 1 of 2 (PMI_RANK)"},
        {"SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2", "task 2 of 2 (SLURM_PROCID)"},
        {"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=3", "task 6 of 6"},
        {"SLURM_PROCID=0 SLURM_NTASKS=4", ""}, // a batch script is no rank
        {"SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_STEP_ID=0", "task 1 of 4 (SLURM_PROCID)"},
        {"SLURM_PROCID=3 SLURM_NTASKS=4", "task 4 of 4 (SLURM_PROCID)"},
        {"PMIX_RANK=1 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4", "task 2 of 4 (OMPI_COMM_WORLD_RANK)"},
        {"PMIX_RANK=0", ""},
        {"PMIX_RANK=1", "expected the number of ranks as well"},
        {"OMPI_COMM_WORLD_RANK=4 OMPI_COMM_WORLD_SIZE=4", "expected a rank below the number of ranks"},
        {"PMI_RANK=-1 PMI_SIZE=4", "expected a rank below the number of ranks"},
        {"PMI_RANK=0 PMI_SIZE=0", "expected a rank below the number of ranks"},
        {"SLURM_ARRAY_TASK_ID=x SLURM_ARRAY_TASK_COUNT=3", "evenly apart"},
        {"SLURM_ARRAY_TASK_ID=1", "evenly apart"},
        {"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1", "evenly apart"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512];
        snprintf(line, sizeof line, "cd %s && %s \"$WEFT\" sweep s.yaml --out env >out.txt 2>err.txt", f->dir,
                 cases[i].set);
        int status = system(line);
        slurp(f, "err.txt", f->err, sizeof f->err);
        slurp(f, "out.txt", f->out, sizeof f->out);
        bool wrong = strstr(cases[i].said, "expected") || strstr(cases[i].said, "evenly"), whole = !*cases[i].said;
        assert_int_equal(WEXITSTATUS(status), wrong ? 2 : 0);
        if (!strstr(f->err, cases[i].said)) fail_msg("%s: %s", cases[i].set, f->err);
        assert_int_equal(*f->out != 0, whole);
    }
}

/// A point that fails says so, does not stop the others, and is tried again.
static void failures(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "sweep sparse.yaml --out f"), 1);
    assert_non_null(
        strstr(f->err, "weft: point 1 (host.mtu=4096B), seed 4 failed: sparse.yaml:3:12: the workload is empty"));
    assert_non_null(strstr(f->out, "\npoint 0, seed 1 failed: sparse.yaml:3:12: the workload is empty"));
    assert_non_null(strstr(f->out, "best by g.fct.mean (the least): no point has a value with every seed\n"));
    assert_int_equal(query(f, "f", "SELECT count(*) FROM runs WHERE state = 'failed' AND message LIKE '%empty%'"), 6);
    assert_int_equal(query(f, "f", "SELECT count(*) FROM sweep"), 6);
    assert_int_equal(weft(f, "sweep sparse.yaml --out f --quiet --json"), 1);
    json_t *root = json_loads(f->out, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(root, "failed")), 6);
    json_decref(root);
    assert_int_equal(weft(f, "sweep sparse.yaml --out f --merge"), 1);
    assert_int_equal(weft(f, "sweep sparse.yaml --out f --seeds 2,3,6"), 0);
    assert_non_null(strstr(f->err, "6 of 6 runs are there already"));
}

/// Ctrl-C: measurements are shown, and the same command continues; also after kill -9.
static void goes_on(void **state) {
    struct fixture *f = *state;
    long id;
    static const char arguments[] = "sweep lasting.yaml --csv --jobs 2";
    static const char two_done[] = "[ $(ls weft/sweep*/*.sqlite 2>/dev/null | wc -l) = 2 ]";
    assert_int_equal(signalled_when(f, SIGINT, arguments, two_done, &id), 130);
    assert_non_null(strstr(f->err, "weft: interrupted; the same command goes on from here\n"));
    assert_non_null(strstr(f->out, "\n1,,10KB,1,incast,done,"));
    assert_null(strstr(f->out, "\n2,"));
    assert_int_equal(signalled_when(f, SIGINT, arguments, "grep -q 'there already' err.txt", &id), 130);
    assert_non_null(strstr(f->err, "weft: 2 of 3 runs are there already\n"));
    assert_int_equal(count(f, "ls weft | grep -c ^sweep"), 1);
}

static void killed(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "sweep lasting.yaml --csv --vary workload.0.size=[1KB,10KB]"), 0);
    char *whole = strdup(f->out);
    // the longest, which is the first to begin, is killed before it is done; then only the others are asked for
    killed_when(f, "sweep lasting.yaml --out k --jobs 2 --quiet", "[ $(ls k/runs 2>/dev/null | wc -l) = 2 ]");
    assert_int_equal(count(f, "ls k/runs/*.tmp 2>/dev/null | wc -l"), 0);
    assert_false(there(f, "k/sweep.sqlite"));
    assert_int_equal(weft(f, "sweep lasting.yaml --out k --csv --vary workload.0.size=[1KB,10KB]"), 0);
    assert_non_null(strstr(f->err, "weft: 2 of 2 runs are there already\n"));
    assert_string_equal(f->out, whole);
    free(whole);
}

/// A run whose process is killed has failed; the others are done, and the same command runs it again.
static void a_process_dies(void **state) {
    struct fixture *f = *state;
    char line[640];
    snprintf(line, sizeof line,
             "cd %s; \"$WEFT\" sweep lasting.yaml --out d --jobs 2 --csv >out.txt 2>err.txt & id=$!; cd %s;"
             " until [ $(ls d/runs 2>/dev/null | wc -l) = 2 ]; do sleep 0.05; done;"
             " kill -9 $(ps -o pid= --ppid $id); wait $id",
             f->dir, f->dir);
    assert_int_equal(WEXITSTATUS(system(line)), 1);
    slurp(f, "err.txt", f->err, sizeof f->err);
    assert_non_null(strstr(f->err, "weft: point 2 (workload.0.size=100GB), seed 1 failed: ended by Killed"));
    assert_int_equal(query(f, "d", "SELECT count(*) FROM runs WHERE state = 'done'"), 2);
    assert_int_equal(query(f, "d", "SELECT count(*) FROM runs WHERE state = 'failed' AND message LIKE '%Killed'"), 1);
    assert_int_equal(weft(f, "sweep lasting.yaml --out d --merge --csv"), 1);
    assert_int_equal(count(f, "ls d/runs/*.tmp 2>/dev/null | wc -l"), 0);
}

/// A point that stalls is not done, and does not keep the others from it.
static void a_point_stalls(void **state) {
    struct fixture *f = *state;
    write_text(f, "stall.yaml",
               "topology: {kind: single, hosts: 2}\nrun: {stall: 1ms}\n"
               "switch: {buffer: {kind: static, size: 400KB, xoff: 60KB, xon: 40KB}}\n"
               "workload: [{kind: flow, group: g, src: host-0, dst: host-1, size: 9MB}]\n");
    assert_int_equal(weft(f, "sweep stall.yaml --vary host.drain_rate=[1bps,400Gbps] --out st"), 4);
    assert_non_null(strstr(f->out, "stalled"));
    assert_int_equal(query(f, "st", "SELECT count(*) FROM runs WHERE state = 'done' AND point = 1"), 1);
    assert_int_equal(query(f, "st", "SELECT count(*) FROM runs WHERE state = 'stalled' AND point = 0"), 1);
}

/// A point that takes too long has failed, does not hold up the others, and is run again with more time.
static void a_point_takes_too_long(void **state) {
    struct fixture *f = *state;
    static const char *const point = "weft: point 2 (workload.0.size=100GB), seed 1 failed: it took longer than 500ms "
                                     "(--timeout)\n";
    assert_int_equal(weft(f, "sweep lasting.yaml --out t --jobs 1 --timeout 500ms"), 1);
    assert_non_null(strstr(f->err, point));
    assert_int_equal(query(f, "t", "SELECT count(*) FROM runs WHERE state = 'done'"), 2);
    assert_int_equal(query(f, "t", "SELECT point FROM runs WHERE state = 'failed' AND message LIKE '%--timeout)'"), 2);
    assert_int_equal(count(f, "ls t/runs/*.tmp 2>/dev/null | wc -l"), 0);
    assert_int_equal(weft(f, "sweep s.yaml --out t2 --timeout 600s --quiet"), 0);
}

/// Nothing is run and nothing is written.
static void bad_input(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *arguments, *said;
    } cases[] = {
        {"--vary host.cc=[none,dcqc]", "weft: --vary host.cc=[none,dcqc]: host.cc: no cc \"dcqc\""},
        {"--vary host.mtu=1KB,2KB", "host.mtu: expected a list in brackets, [1KB,2KB]; or --set for one value"},
        {"--vary x=1..3", "weft: --vary x=1..3: x: unknown key"},
        {"--vary host.mtu=1..4", "weft: --vary host.mtu=1..4: host.mtu: \"1\" has no unit"},
        {"--vary topology.hosts_per_leaf=[4,2]",
         "nearest: 'host-0', in point 1 (pfc, host.mtu=1024B, topology.hosts_per_leaf=2), seed 1"},
        {"--metrics foo", "weft: --metrics: foo: variant pfc has no metric of that name; expected a figure such as "},
        {"--best p99", "did you mean \"incast.fct.p99\"?"},
        {"--best counters.cmp", "did you mean \"counters.cnp\"?"},
        {"--best victim.fct.mean", "did you mean \"victims.fct.mean\"?"},
        {"--best topo.hosts", "expected a metric of a run"},
        {"--seed 3", "weft: --set run.seed=3: the sweep varies run.seed"},
        {"--seeds 1..2 --vary run.seed=1..2", "expected one of them"},
        {"--task 3/2", "weft: --task: '3/2' is not understood"},
        {"--merge --task 1/2", "expected it without --task"},
        {"--merge", "--merge: --out names no folder"},
        {"--zip --sample 3", "expected one of them"},
        {"--sample 0", "weft: --sample: '0' is not understood"},
        {"--sample 3:x", "weft: --sample: "},
        {"--timeout 20", "weft: --timeout: \"20\" has no unit"},
        {"--timeout 1us", "weft: --timeout: 1us is out of range"},
        {"--csv --json", "expected one of them"},
        {"--variant nope", "no such variant"},
        {"--jobs 0", "weft: --jobs: 0 is out of range"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "sweep s.yaml --out bad %s", cases[i].arguments);
        int status = weft(f, arguments);
        if (status != 2 || *f->out || !strstr(f->err, cases[i].said))
            fail_msg("%s: %d: %s", cases[i].arguments, status, f->err);
        assert_false(there(f, "bad"));
    }
    write_text(f, "bad.yaml", NETWORK "sweep:\n  vary: {host.cc: [none, dcqc]}\n");
    assert_int_equal(weft(f, "sweep bad.yaml"), 2);
    assert_non_null(strstr(f->err, "weft: bad.yaml:6:26: host.cc: no cc \"dcqc\""));
    assert_int_equal(weft(f, "check bad.yaml"), 2);
    write_text(f, "plain.yaml", NETWORK);
    assert_int_equal(weft(f, "sweep plain.yaml --sample 3"), 2);
    assert_non_null(strstr(f->err, "weft: --sample: no parameter is varied"));
    write_text(f, "plain.yaml", NETWORK "sweep: {sample: 3}\n");
    assert_int_equal(weft(f, "sweep plain.yaml"), 2);
    assert_non_null(strstr(f->err, "weft: plain.yaml:5:17: no parameter is varied"));
    assert_int_equal(weft(f, "sweep s.yaml --task 1/2"), 2);
    assert_non_null(strstr(f->err, "weft: --task: expected --out DIR"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tidy_table),
        cmocka_unit_test(summary),
        cmocka_unit_test(named_metrics),
        cmocka_unit_test(in_parts),
        cmocka_unit_test(equal_runs),
        cmocka_unit_test(named_files),
        cmocka_unit_test(environments),
        cmocka_unit_test(failures),
        cmocka_unit_test(goes_on),
        cmocka_unit_test(killed),
        cmocka_unit_test(a_process_dies),
        cmocka_unit_test(a_point_stalls),
        cmocka_unit_test(a_point_takes_too_long),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, set_up, remove_folder);
}
