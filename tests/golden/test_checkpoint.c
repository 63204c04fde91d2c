// SPDX-License-Identifier: Apache-2.0
// A run that is killed and resumed from its checkpoint gives the same results as an uninterrupted run; a file that is
// not a complete checkpoint of this program is refused.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

#define EVERY "50ms"

#ifdef __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

// Each takes about a second.
static const char ethernet[] = "topology: {kind: fat_tree, k: 8, rate: 200Gbps, delay: 150ns, bit_error_rate: 1e-10}\n"
                               "host: {cc: dcqcn, timeout: 300us}\n"
                               "switch: {aqm: {kind: wred, min: 100KB, max: 400KB}}\n"
                               "events: [{at: 200us, link: edge-0--aggregation-0, state: down}]\n"
                               "workload: [{kind: permutation, size: 12MB}]\n"
                               "run: {detection: 20us, sample_interval: 10us, sample_ports: core-0/*}\n";
static const char dsf[] = "topology: {kind: dsf_l1_zone, rdsws: 8, hosts_per_rdsw: 4}\n"
                          "switch: {buffer: {kind: dynamic, total: 64MiB}}\n"
                          "workload: [{kind: all_to_all, size: 1MB}]\n";
static const char aquila[] =
    "topology: {kind: dragonfly, pods: 4, hosts_per_tin: 1}\n"
    "host: {cc: swift}\n"
    "workload:\n"
    "  - {kind: rma, group: g, verb: write, clients: host-0, servers: host-12, size: 4KB, rate: "
    "200000, duration: 2ms,\n"
    "     processor: {submit: 0ns, serve: 0ns, complete: 0ns}}\n"
    "  - {kind: permutation, size: 1MB}\n";
static const char jobs[] =
    "topology: {kind: leaf_spine, leaves: 8, spines: 4, hosts_per_leaf: 4, rate: 200Gbps}\n"
    "workload: [{kind: collective, group: c, collective: all_reduce_ring, size: 64MB, admission: "
    "cts, repeat: 2}]\n";
static const char uet[] = "topology: {kind: fat_tree, k: 4, rate: 200Gbps}\n"
                          "host: {transport: uet}\n"
                          "switch: {aqm: {kind: trim}}\n"
                          "workload: [{kind: incast, sources: \"*\", dst: host-0, size: 10MB}]\n";

static int make_folder(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-checkpoint-XXXXXX");
    *state = &f;
    return mkdtemp(f.dir) ? 0 : -1;
}

static void clear(const struct fixture *f) {
    char command[160];
    snprintf(command, sizeof command, "rm -rf %s/d %s/e", f->dir, f->dir);
    assert_int_equal(system(command), 0);
}

static int clear_folder(void **state) {
    clear(*state);
    return 0;
}

/// When the checkpoint was written, in ns; 0: there is none.
static int64_t checkpoint_time(const struct fixture *f) {
    char path[128];
    struct stat about;
    snprintf(path, sizeof path, "%s/d/run.checkpoint", f->dir);
    return stat(path, &about) ? 0 : about.st_mtim.tv_sec * INT64_C(1000000000) + about.st_mtim.tv_nsec;
}

/// Starts a command that runs the simulation, and kills it once it has saved itself.
static void kill_after_save(const struct fixture *f, const char *arguments) {
    char command[256];
    snprintf(command, sizeof command, "exec \"$WEFT\" %s", arguments);
    int64_t before = checkpoint_time(f);
    pid_t child = fork();
    if (!child) {
        if (chdir(f->dir) || !freopen("out.txt", "w", stdout) || !freopen("err.txt", "w", stderr)) _exit(99);
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(98);
    }
    int status = 0;
    for (unsigned i = 0; i < 30000 && checkpoint_time(f) == before; i++)
        usleep(1000);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status)); // not at its end
    assert_true(checkpoint_time(f) > before);
}

static void kill_midway(const struct fixture *f, const char *options) {
    char arguments[200];
    snprintf(arguments, sizeof arguments, "run s.yaml --json --out d --checkpoint " EVERY " %s", options);
    kill_after_save(f, arguments);
}

/// Removes values that depend on time, memory and threads, including those of boxes' parts.
static void strip(json_t *root) {
    static const char *const of_process[] = {"wall_s",  "cpu_s",   "packet_hops_per_cpu_s", "cell_hops_per_cpu_s",
                                             "threads", "windows", "peak_rss_bytes",        "memory"};
    const char *key;
    json_t *value;
    for (size_t i = 0; i < sizeof of_process / sizeof *of_process; i++)
        json_object_del(root, of_process[i]);
    json_object_foreach(root, key, value) {
        if (json_is_object(value)) strip(value);
    }
}

static json_t *results_of(const struct fixture *f) {
    FILE *out;
    char path[128];
    snprintf(path, sizeof path, "%s/out.txt", f->dir);
    assert_non_null(out = fopen(path, "r"));
    json_t *root = json_loadf(out, 0, NULL);
    fclose(out);
    assert_non_null(root);
    strip(root);
    return root;
}

static bool is_there(const struct fixture *f, const char *name) {
    char path[128];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    return !stat(path, &about);
}

static void assert_resumes(struct fixture *f, const char *scenario, const char *options, const char *resume_options) {
    char arguments[256];
    write_text(f, "s.yaml", scenario);
    assert_int_equal(weft(f, "run s.yaml --json --out e"), 0);
    json_t *whole = results_of(f);
    kill_midway(f, options);
    snprintf(arguments, sizeof arguments, "run --resume d %s", resume_options);
    assert_int_equal(weft(f, arguments), 0);
    assert_string_equal(f->err, "");
    json_t *resumed = results_of(f);
    assert_true(json_equal(whole, resumed));
    assert_true(is_there(f, "d/results.sqlite"));
    assert_false(is_there(f, "d/run.checkpoint"));
    json_decref(whole);
    json_decref(resumed);
    clear(f);
}

static void test_ethernet(void **state) {
    assert_resumes(*state, ethernet, "", "");
}

static void test_threads(void **state) {
    assert_resumes(*state, ethernet, "--threads 4 --oversubscribe", "--threads 4 --oversubscribe");
    assert_resumes(*state, ethernet, "--threads 3 --oversubscribe", "--threads 1");
}

static void test_dsf(void **state) {
    assert_resumes(*state, dsf, "", "");
    assert_resumes(*state, dsf, "--threads 2 --oversubscribe", "--threads 2 --oversubscribe");
}

static void test_aquila(void **state) {
    assert_resumes(*state, aquila, "", "");
    assert_resumes(*state, aquila, "--threads 2 --oversubscribe", "--threads 2 --oversubscribe");
}

static void test_jobs(void **state) {
    assert_resumes(*state, jobs, "", "");
    assert_resumes(*state, jobs, "--threads 2 --oversubscribe", "--threads 2 --oversubscribe");
}

static void test_uet(void **state) {
    assert_resumes(*state, uet, "", "");
}

/// A resumed run saves itself, too.
static void test_again(void **state) {
    struct fixture *f = *state;
    write_text(f, "s.yaml", ethernet);
    assert_int_equal(weft(f, "run s.yaml --json --out e"), 0);
    json_t *whole = results_of(f);
    kill_midway(f, "");
    for (unsigned i = 0; i < 2; i++)
        kill_after_save(f, "run --resume d");
    assert_int_equal(weft(f, "run --resume d"), 0);
    json_t *resumed = results_of(f);
    assert_true(json_equal(whole, resumed));
    json_decref(whole);
    json_decref(resumed);
}

/// The scenario and its files are not needed any more, and the folder may be elsewhere.
static void test_moved(void **state) {
    struct fixture *f = *state;
    char command[256];
    write_text(f, "s.yaml", ethernet);
    assert_int_equal(weft(f, "run s.yaml --json --out e"), 0);
    json_t *whole = results_of(f);
    kill_midway(f, "");
    snprintf(command, sizeof command, "cd %s && rm s.yaml && mkdir far && mv d far/there", f->dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(weft(f, "run --resume far/there"), 0);
    json_t *resumed = results_of(f);
    assert_true(json_equal(whole, resumed));
    assert_true(is_there(f, "far/there/results.sqlite"));
    json_decref(whole);
    json_decref(resumed);
}

// --- what is refused ----------------------------------------------------------------------------------------------

static void assert_refused(struct fixture *f, const char *why) {
    assert_int_equal(weft(f, "run --resume d"), 2);
    if (!strstr(f->err, why)) fail_msg("expected \"%s\": %s", why, f->err);
    assert_string_equal(f->out, "");
    assert_false(is_there(f, "d/results.sqlite"));
}

static unsigned char *read_whole(const struct fixture *f, size_t *ret_n) {
    char path[128];
    snprintf(path, sizeof path, "%s/d/run.checkpoint", f->dir);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *ret_n = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*ret_n + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *ret_n, file), *ret_n);
    fclose(file);
    return bytes;
}

static void write_whole(const struct fixture *f, const unsigned char *bytes, size_t n) {
    char path[128];
    snprintf(path, sizeof path, "%s/d/run.checkpoint", f->dir);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/// A few bits of zstd's format have no meaning (2 of 600 tried): then the run is the same. All else is refused.
static void assert_refused_or_whole(struct fixture *f, const json_t *whole) {
    if (weft(f, "run --resume d --json") == 2) {
        assert_false(is_there(f, "d/results.sqlite"));
        return;
    }
    char command[128];
    json_t *resumed = results_of(f);
    assert_true(json_equal(whole, resumed));
    json_decref(resumed);
    snprintf(command, sizeof command, "rm %s/d/result*", f->dir);
    assert_int_equal(system(command), 0);
}

static void test_damaged(void **state) {
    struct fixture *f = *state;
    size_t n;
    write_text(f, "s.yaml", ethernet);
    assert_int_equal(weft(f, "run s.yaml --json --out e"), 0);
    json_t *whole = results_of(f);
    kill_midway(f, "");
    unsigned char *good = read_whole(f, &n);
    for (size_t cut = 0; cut < n; cut += n / 7 + 1) {
        write_whole(f, good, cut);
        assert_refused(f, cut ? "ends in the middle" : "expected all of a checkpoint");
    }
    write_whole(f, good, n - 1);
    assert_refused(f, "ends in the middle");
    good[n] = 0;
    write_whole(f, good, n + 1);
    assert_refused(f, "something follows it");
    for (size_t at = 256; at < n; at += n / 11 + 1) {
        good[at] ^= 0x20;
        write_whole(f, good, n);
        assert_refused_or_whole(f, whole);
        good[at] ^= 0x20;
    }
    json_decref(whole);
    good[17] ^= 1; // the form
    write_whole(f, good, n);
    assert_refused(f, "of another version of weft");
    good[17] ^= 1;
    good[0] ^= 1;
    write_whole(f, good, n);
    assert_refused(f, "not a checkpoint of weft");
    good[0] ^= 1;
    write_whole(f, good, n);
    assert_int_equal(weft(f, "run --resume d --quiet"), 0); // as it was
    free(good);
}

/// The same sources, built differently: here the program with a byte appended.
static void test_other_build(void **state) {
    struct fixture *f = *state;
    char command[256];
    write_text(f, "s.yaml", ethernet);
    kill_midway(f, "");
    snprintf(command, sizeof command,
             "cd %s && cp \"$WEFT\" other && printf x >>other && ./other run --resume d 2>err.txt", f->dir);
    int status = system(command);
    slurp(f, "err.txt", f->err, sizeof f->err);
    assert_int_equal(WEXITSTATUS(status), 2);
    assert_non_null(strstr(f->err, "it is of another build of weft (weft "));
}

static void test_options(void **state) {
    static const struct {
        const char *arguments, *why;
    } all[] = {
        {"run", "expected SCENARIO, or --resume DIR"},
        {"run s.yaml --checkpoint 1s", "expected --out DIR as well"},
        {"run s.yaml --checkpoint soon --out d", "--checkpoint"},
        {"run s.yaml --checkpoint 1ms --out d", "expected at least 10ms"},
        {"run s.yaml --checkpoint 1s --out d --capture host-0", "a checkpoint does not hold it"},
        {"run --resume nowhere", "expected a checkpoint"},
        {"run s.yaml --resume d", "--resume and a scenario"},
        {"run --resume d --seed 2", "--resume and --set, --seed or --capture"},
        {"run --resume d --variant v", "--resume and --variant"},
        {"run --resume d --out e", "--resume and --out"},
        {"run --resume d --table nccl-tests", "--resume and --table"},
    };
    struct fixture *f = *state;
    write_text(f, "s.yaml", ethernet);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_int_equal(weft(f, all[i].arguments), 2);
        if (!strstr(f->err, all[i].why)) fail_msg("%s: %s", all[i].arguments, f->err);
        assert_false(is_there(f, "d"));
    }
    kill_midway(f, "");
    assert_int_equal(weft(f, "run s.yaml --checkpoint 1s --out d"), 2); // not by a slip
    assert_non_null(strstr(f->err, "--resume d continues that run"));
    assert_int_equal(weft(f, "run s.yaml --checkpoint 100s --out d --force --quiet"), 0);
}

/// The first signal also saves the run, and its measurements are reported.
static void test_interrupted(void **state) {
    struct fixture *f = *state;
    char command[256];
    write_text(f, "s.yaml", ethernet);
    assert_int_equal(weft(f, "run s.yaml --json --out e"), 0);
    json_t *whole = results_of(f);
    snprintf(command, sizeof command,
             "cd %s && timeout -s TERM --preserve-status 0.3 \"$WEFT\" run s.yaml --out d --checkpoint 1000s "
             ">out.txt 2>err.txt",
             f->dir);
    int status = system(command);
    slurp(f, "err.txt", f->err, sizeof f->err);
    assert_int_equal(WEXITSTATUS(status), 130);
    assert_non_null(strstr(f->err, "`weft run --resume d` continues the run"));
    assert_true(is_there(f, "d/results.sqlite"));
    assert_int_equal(weft(f, "run --resume d --json"), 0);
    json_t *resumed = results_of(f);
    assert_true(json_equal(whole, resumed));
    json_decref(whole);
    json_decref(resumed);
}

/// There is no room for it: that is said, the one before stays, and the run ends as it would.
static void test_full_disk(void **state) {
    struct fixture *f = *state;
    char command[256];
    write_text(f, "s.yaml", ethernet);
    snprintf(command, sizeof command,
             "cd %s && (ulimit -f 16; exec \"$WEFT\" run s.yaml --out d --checkpoint " EVERY " >/dev/null 2>err.txt)",
             f->dir);
    (void)!system(command); // results do not fit either
    slurp(f, "err.txt", f->err, sizeof f->err);
    assert_non_null(strstr(f->err, "the checkpoint cannot be written: File too large; the run continues\n"));
    assert_false(is_there(f, "d/run.checkpoint"));
}

/// The thread sanitizer leaves no room for an image: there a run refuses to be saved, and has made nothing.
static void test_sanitized(void **state) {
    struct fixture *f = *state;
    write_text(f, "s.yaml", ethernet);
    assert_int_equal(weft(f, "run s.yaml --out d --checkpoint 1s"), 1);
    assert_non_null(strstr(f->err, "the thread sanitizer does not leave them to the program"));
    assert_string_equal(f->out, "");
    assert_false(is_there(f, "d"));
    assert_int_equal(weft(f, "run s.yaml --out d --quiet"), 0);
}

static int test_refusal(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sanitized)};
    int failed = cmocka_run_group_tests(tests, make_folder, remove_folder);
    if (failed) return failed;
    puts("skipped: the thread sanitizer leaves no addresses to checkpoints, and weft has said so");
    return 77;
}

int main(void) {
    if (SANITIZED) return test_refusal();
#define TEST(name) cmocka_unit_test_setup(test_##name, clear_folder)
    const struct CMUnitTest tests[] = {
        TEST(ethernet), TEST(threads),     TEST(dsf),       TEST(aquila),  TEST(jobs),
        TEST(uet),      TEST(again),       TEST(moved),     TEST(damaged), TEST(other_build),
        TEST(options),  TEST(interrupted), TEST(full_disk),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
