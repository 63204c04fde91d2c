// SPDX-License-Identifier: Apache-2.0
// weft run and weft compare from a user's view: what they print where, what they write, and how they end.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "command.h"
#include "signalled.h"
#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char scenario[] = "name: small\n"
                               "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
                               "workload:\n"
                               "  - {kind: incast, sources: host-0..2, dst: host-4, size: 100KB, group: incast}\n"
                               "  - {kind: flow, src: host-3, dst: host-5, size: 100KB, group: victims}\n"
                               "variants:\n"
                               "  pfc: {}\n"
                               "  slow: {topology.rate: 100Gbps}\n";

static int setup(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-run-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    write_text(&f, "s.yaml", scenario);
    *state = &f;
    return 0;
}

static bool there(const struct fixture *f, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    return !access(path, F_OK);
}

static json_t *json(const char *text) {
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("%s in %.200s", error.text, text);
    return root;
}

static const char *text_at(json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static void first_variant_and_the_others_mentioned(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "run s.yaml"), 0);
    assert_ptr_equal(strstr(f->out, "small, variant pfc: 8 hosts, 4 switches, 4 flows, seed 1\n"), f->out);
    assert_non_null(strstr(f->out, "\nvictims "));
    assert_non_null(strstr(f->err, "running variant 'pfc'"));
    assert_non_null(strstr(f->err, "'slow'"));
    assert_null(strchr(f->err, '\r')); // no progress in a pipe
    assert_int_equal(weft(f, "run s.yaml --variant slow --no-hints"), 0);
    assert_string_equal(f->err, "");
    assert_non_null(strstr(f->out, "variant slow"));
    assert_int_equal(weft(f, "run s.yaml --quiet --no-hints"), 0);
    assert_string_equal(f->err, "");
}

static void json_is_one_object_and_nothing_else(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "run --json s.yaml --seed 9 --set workload.0.size=50KB"), 0);
    assert_string_equal(f->err, "");
    json_t *root = json(f->out);
    assert_string_equal(text_at(root, "variant"), "pfc");
    assert_string_equal(text_at(root, "end"), "done");
    assert_int_equal(json_integer_value(json_object_get(root, "seed")), 9);
    json_t *flow = json_array_get(json_object_get(root, "flows"), 0);
    assert_int_equal(json_integer_value(json_object_get(flow, "bytes")), 50000);
    assert_int_equal(json_integer_value(json_object_get(flow, "delivered_bytes")), 50000);
    json_decref(root);
}

static void same_digest_on_any_number_of_threads(void **state) {
    struct fixture *f = *state;
    char digest[32] = "", command[64];
    for (unsigned threads = 1; threads <= 3; threads++) {
        snprintf(command, sizeof command, "run --json s.yaml --threads %u", threads);
        assert_int_equal(weft(f, command), 0);
        json_t *root = json(f->out);
        if (threads == 1) strcpy(digest, text_at(root, "digest"));
        assert_string_equal(text_at(root, "digest"), digest);
        json_decref(root);
    }
    assert_int_equal(weft(f, "run --json s.yaml --threads 4 --oversubscribe"), 0);
    json_t *root = json(f->out);
    assert_int_equal(json_integer_value(json_object_get(root, "threads")), 4);
    assert_string_equal(text_at(root, "digest"), digest);
    json_decref(root);
}

static void compare(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "compare s.yaml --no-hints"), 0);
    assert_ptr_equal(
        strstr(f->out, "small\n8 hosts, 4 switches, 4 flows; 2 variants, seed 1; changes are against pfc\n"), f->out);
    assert_string_equal(f->err, "");
    assert_int_equal(weft(f, "compare s.yaml --json --out results"), 0);
    json_t *root = json(f->out), *variants = json_object_get(root, "variants");
    assert_int_equal(json_array_size(variants), 2);
    assert_string_equal(text_at(json_array_get(variants, 1), "variant"), "slow");
    assert_true(there(f, "results/results.sqlite"));
    static char written[1 << 16];
    slurp(f, "results/result.json", written, sizeof written);
    assert_string_equal(written, f->out);
    json_decref(root);
}

/// The change is against the first that ran, and claims about all variants are left alone.
static void compare_of_chosen_variants(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "compare s.yaml --variant 's*' --csv"), 0);
    assert_non_null(strstr(f->out, "\nsmall,slow,1,victims,"));
    assert_null(strstr(f->out, ",pfc,"));
    assert_int_equal(weft(f, "compare s.yaml --variant slow,pfc"), 0);
    assert_non_null(strstr(f->out, "2 variants, seed 1; changes are against pfc\n"));
    char claimed[sizeof scenario + 128];
    snprintf(claimed, sizeof claimed,
             "%sclaims:\n  - {text: slow is slower, that: slow.victims.fct.mean > pfc.victims.fct.mean}\n", scenario);
    write_text(f, "claimed.yaml", claimed);
    assert_int_equal(weft(f, "compare claimed.yaml"), 0);
    assert_non_null(strstr(f->out, "slow is slower"));
    assert_int_equal(weft(f, "compare claimed.yaml --variant slow --no-hints"), 0);
    assert_null(strstr(f->out, "slow is slower"));
    assert_string_equal(f->err, "weft: with --variant no claim is judged\n");
}

static void results_are_written_where_told(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "run s.yaml --variant slow --out a/b"), 0);
    assert_true(there(f, "a/b/results.sqlite"));
    static char written[1 << 16];
    slurp(f, "a/b/result.json", written, sizeof written);
    json_t *root = json(written);
    assert_string_equal(text_at(root, "variant"), "slow");
    json_decref(root);
    char dangling[128];
    snprintf(dangling, sizeof dangling, "%s/dangling", f->dir);
    assert_int_equal(symlink("nowhere", dangling), 0);
    static const char *const taken[] = {"run s.yaml --out dangling", "compare s.yaml --out dangling/r",
                                        "run s.yaml --out s.yaml", "compare s.yaml --out s.yaml/r",
                                        "run s.yaml --out /dev/null"};
    for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (weft(f, taken[i]) != 2 || !strstr(f->err, "is not a folder")) fail_msg("%s: %s", taken[i], f->err);
        assert_string_equal(f->out, ""); // nothing was run
    }
}

/// Bad input: status 2, a message on standard error, nothing on standard output, nothing written.
static void errors(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        {"run --out r", "SCENARIO"},
        {"run none.yaml --out r", "none.yaml"},
        {"run s.yaml s.yaml --out r", "s.yaml"},
        {"run s.yaml --variant fast --out r", "slow"},
        {"run s.yaml --set topology.leafs=3 --out r", "leaves"},
        {"run s.yaml --set workload.0.size=5 --out r", "unit"},
        {"run s.yaml --set workload.0.dst=host-99 --out r", "host-99"},
        {"run s.yaml --set workload.0.repeat=1000000 --set workload.0.qps=64 --out r", "s.yaml:4:"},
        {"run s.yaml --set workload.0.repeat=1099511627776 --out r", "repeat"},
        {"run s.yaml --set 'workload.0={kind: poisson, size: 1B, load: 1, duration: 1000s}' --out r", "16777216 flows"},
        {"run plain.yaml --variant x --out r", "no variants"},
        {"run s.yaml --threads 0 --out r", "--threads"},
        {"run s.yaml --treads 2 --out r", "treads"},
        {"compare s.yaml --set topology.leafs=3 --out r", "leaves"},
        {"compare s.yaml --variant fast --out r", "slow"},
        {"compare s.yaml --variant 'pfc,fast*' --out r", "fast*"},
        {"compare s.yaml --variant ''", "slow"},
        {"compare plain.yaml --variant x --out r", "no variants"},
    };
    write_text(f, "plain.yaml", "{topology: {kind: single}, workload: [{kind: permutation}]}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (weft(f, cases[i].arguments) != 2) fail_msg("%s: accepted", cases[i].arguments);
        if (!strstr(f->err, cases[i].says)) fail_msg("%s: %s", cases[i].arguments, f->err);
        assert_string_equal(f->out, "");
        assert_false(there(f, "r"));
    }
}

static void a_bad_variant_stops_compare_before_anything_runs(void **state) {
    struct fixture *f = *state;
    char text[1024];
    snprintf(text, sizeof text, "%s  broken: {workload.1.dst: host-77}\n", scenario);
    write_text(f, "bad.yaml", text);
    assert_int_equal(weft(f, "compare bad.yaml --out r"), 2);
    assert_non_null(strstr(f->err, "host-77"));
    assert_string_equal(f->out, "");
    assert_false(there(f, "r"));
}

/// Nothing drains at the receiver: the network comes to rest with flows unfinished.
static void stall(void **state) {
    struct fixture *f = *state;
    const char *stuck = "s.yaml --variant pfc --set host.drain_rate=1bps --set run.stall=1ms --set workload.0.size=9MB";
    char command[256];
    snprintf(command, sizeof command, "run %s --json --out r", stuck);
    assert_int_equal(weft(f, command), 4);
    json_t *root = json(f->out);
    assert_string_equal(text_at(root, "end"), "stall");
    assert_non_null(strstr(text_at(root, "stall"), "host-4"));
    assert_true(json_is_null(json_object_get(json_array_get(json_object_get(root, "flows"), 0), "end_ps")));
    json_decref(root);
    assert_true(there(f, "r/results.sqlite"));
    snprintf(command, sizeof command, "run %s", stuck);
    assert_int_equal(weft(f, command), 4);
    assert_non_null(strstr(f->out, "\nSTALLED: "));
}

/// It ends by itself and reports its measurements.
static void ends_by(struct fixture *f, int number) {
    long id;
    assert_int_equal(signalled(f, number,
                               "run s.yaml --json --out r --set workload.0.size=100GB --capture host-0 "
                               "--set capture.limit=100KB",
                               &id),
                     130);
    assert_non_null(strstr(f->err, "weft: interrupted at "));
    json_t *root = json(f->out);
    assert_string_equal(text_at(root, "end"), "interrupted");
    assert_true(json_is_true(json_object_get(root, "interrupted")));
    json_t *conservation = json_object_get(root, "conservation");
    long long injected = json_integer_value(json_object_get(conservation, "injected"));
    assert_true(injected > 0);
    assert_int_equal(injected, json_integer_value(json_object_get(conservation, "delivered")) +
                                   json_integer_value(json_object_get(conservation, "dropped")) +
                                   json_integer_value(json_object_get(conservation, "held")));
    assert_true(there(f, "r/results.sqlite"));
    json_decref(root);
    char draft[64];
    snprintf(draft, sizeof draft, "r/capture.pcapng.%ld.tmp", id);
    assert_true(there(f, "r/capture.pcapng"));
    assert_false(there(f, draft));
}

static void interrupt(void **state) {
    ends_by(*state, SIGINT);
}

static void terminate(void **state) {
    ends_by(*state, SIGTERM);
}

/// A first variant that is done at once, a second that is interrupted, a third that is not run: a claim that would hold
/// is not judged.
static const char three[] = "topology: {kind: single, hosts: 3}\n"
                            "workload: [{kind: flow, src: host-0, dst: host-1, size: 1KB, group: g}]\n"
                            "variants: {short: {}, long: {workload.0.size: 1TB}, other: {}}\n"
                            "claims: [{text: t, that: short.g.count == other.g.count}]\n";

static void interrupted_comparison(void **state) {
    struct fixture *f = *state;
    long id;
    write_text(f, "three.yaml", three);
    assert_int_equal(signalled(f, SIGINT, "compare three.yaml --json --out c", &id), 130);
    json_t *root = json(f->out);
    assert_true(json_is_true(json_object_get(root, "interrupted")));
    assert_null(json_object_get(root, "claims"));
    assert_int_equal(json_array_size(json_object_get(root, "variants")), 2);
    assert_true(json_is_false(json_object_get(json_array_get(json_object_get(root, "variants"), 0), "interrupted")));
    assert_true(json_is_true(json_object_get(json_array_get(json_object_get(root, "variants"), 1), "interrupted")));
    json_decref(root);
    assert_true(there(f, "c/result.json"));
    assert_int_equal(signalled(f, SIGINT, "compare three.yaml", &id), 130);
    assert_non_null(strstr(f->out, "\nlong: interrupted"));
    assert_non_null(strstr(f->out, "\ninterrupted: 1 more variant was not run\n"));
    assert_null(strstr(f->out, "claim"));
    assert_non_null(strstr(f->err, "weft: interrupted at "));
}

static const char job[] = "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2}\n"
                          "workload:\n"
                          "  - {kind: collective, collective: all_reduce_ring, size: 4GB}\n";

static void interrupted_placement(void **state) {
    struct fixture *f = *state;
    long id;
    write_text(f, "job.yaml", job);
    assert_int_equal(signalled(f, SIGTERM, "place job.yaml --simulate --json", &id), 130);
    json_t *root = json(f->out), *list = json_object_get(root, "strategies"), *first = json_array_get(list, 0);
    assert_true(json_is_true(json_object_get(root, "interrupted")));
    assert_true(json_array_size(list) > 1);
    assert_true(json_is_true(json_object_get(first, "interrupted")));
    assert_true(json_is_null(json_object_get(first, "iteration_ps")));
    json_decref(root);
    assert_int_equal(signalled(f, SIGTERM, "place job.yaml --simulate", &id), 130);
    assert_non_null(strstr(f->out, "interrupted"));
    assert_non_null(strstr(f->out, "not run"));
    assert_null(strstr(f->out, " -\n"));
}

/// What cannot be written is refused before anything runs.
static void places_that_cannot_be_written(void **state) {
    struct fixture *f = *state;
    static const char *const folders[] = {"''", "/proc/x", "/proc/x/y", "$(printf '%0300d' 0)", "s.yaml"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char command[200];
        snprintf(command, sizeof command, "run s.yaml --out %s --set workload.0.size=1TB", folders[i]);
        int status = weft(f, command);
        if (status != 1 && status != 2) fail_msg("--out %s: %d", folders[i], status);
        assert_string_equal(f->out, "");
    }
    write_text(f, "job.yaml", job);
    for (size_t i = 0; i < sizeof folders / sizeof *folders - 1; i++) {
        char command[200];
        snprintf(command, sizeof command, "place job.yaml --simulate --out %s", folders[i]);
        assert_int_equal(weft(f, command), 2);
        assert_string_equal(f->out, "");
    }
}

/// What a process that was killed has left is removed by the next that writes the same file; what others do is left
/// alone.
static void drafts_of_the_dead(void **state) {
    struct fixture *f = *state;
    char name[64];
    pid_t dead = fork();
    if (!dead) _exit(0);
    waitpid(dead, NULL, 0);
    assert_int_equal(weft(f, "run s.yaml --out r --capture host-0"), 0);
    static const char *const files[] = {"results.sqlite", "result.json", "capture.pcapng"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "r/%s.%ld.tmp", files[i], (long)dead);
        write_text(f, name, "half");
        snprintf(name, sizeof name, "r/%s.%ld.tmp", files[i], (long)getpid());
        write_text(f, name, "living");
    }
    write_text(f, "r/results.sqlite.old.tmp", "the user's");
    assert_int_equal(weft(f, "run s.yaml --out r --capture host-0 --force"), 0);
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "r/%s.%ld.tmp", files[i], (long)dead);
        assert_false(there(f, name));
        snprintf(name, sizeof name, "r/%s.%ld.tmp", files[i], (long)getpid());
        assert_true(there(f, name));
    }
    assert_true(there(f, "r/results.sqlite.old.tmp"));
}

/// A pipe without a writer is not waited for; one with a writer is read.
static void scenario_from_a_pipe(void **state) {
    struct fixture *f = *state;
    char command[200];
    snprintf(command, sizeof command, "mkfifo %s/pipe.yaml", f->dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(weft(f, "check pipe.yaml"), 2);
    assert_non_null(strstr(f->err, "weft: pipe.yaml: is a pipe that nobody writes into; expected a file\n"));
    snprintf(command, sizeof command, "cd %s && cat s.yaml | \"$WEFT\" check /dev/stdin >/dev/null", f->dir);
    assert_int_equal(system(command), 0);
}

/// Without senders a run has nothing to show, unless it has a duration.
static void empty_workload(void **state) {
    struct fixture *f = *state;
    write_text(f, "empty.yaml", "topology: {kind: single, hosts: 2}\n");
    assert_int_equal(weft(f, "run empty.yaml --out r"), 2);
    assert_non_null(strstr(f->err, "weft: empty.yaml: the workload is empty: nothing would be run; expected"));
    assert_string_equal(f->out, "");
    assert_false(there(f, "r"));
    assert_int_equal(weft(f, "compare empty.yaml"), 2);
    assert_int_equal(weft(f, "run s.yaml --set workload=[]"), 2);
    assert_int_equal(weft(f, "check empty.yaml"), 0);
    assert_int_equal(weft(f, "run empty.yaml --set run.until=1ms"), 0);
    assert_non_null(strstr(f->err, "weft: empty.yaml: the workload is empty: no host sends\n"));
}

/// More threads than processors would only wait for one another.
static void no_more_threads_than_processors(void **state) {
    struct fixture *f = *state;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    assert_int_equal(weft(f, "run s.yaml --json --threads 1024"), 0);
    json_t *root = json(f->out);
    assert_in_range(json_integer_value(json_object_get(root, "threads")), 1, processors);
    json_decref(root);
}

/// A limit on the size of files stands for a full disk.
static void database_on_a_full_disk(void **state) {
    struct fixture *f = *state;
    write_text(f, "clique.yaml",
               "topology: {kind: dragonfly, pods: 4, tins: 3}\n"
               "events: [{at: 1s, link: \"tin-0/*\", state: down}]\n");
    assert_int_equal(weft(f, "trace-control clique.yaml --out whole.sqlite"), 0);
    assert_true(there(f, "whole.sqlite"));
    assert_int_equal(weft(f, "trace-control clique.yaml --out whole.sqlite"), 2);
    assert_int_equal(weft(f, "trace-control clique.yaml --out whole.sqlite --force"), 0);
    char command[200];
    snprintf(command, sizeof command,
             "cd %s && ulimit -f 1 && \"$WEFT\" trace-control clique.yaml --out full.sqlite >/dev/null 2>err.txt",
             f->dir);
    int status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    slurp(f, "err.txt", f->err, sizeof f->err);
    assert_non_null(strstr(f->err, "full.sqlite"));
    assert_false(there(f, "full.sqlite"));
    snprintf(command, sizeof command, "test -z \"$(find %s -name 'full*')\"", f->dir);
    assert_int_equal(system(command), 0);
}

/// A folder of results contains the scenario with everything it is based on; the original files may be gone.
static void a_folder_of_results_is_run_again(void **state) {
    struct fixture *f = *state;
    write_text(f, "above.yaml", "base: s.yaml\nname: above\nvariants: {slow: {topology.rate: 50Gbps}}\n");
    assert_int_equal(weft(f, "compare above.yaml --seed 5 --json --out again"), 0);
    json_t *root = json(f->out);
    const char *digest = text_at(json_array_get(json_object_get(root, "variants"), 1), "digest");
    char command[256];
    snprintf(command, sizeof command, "cd %s && mkdir moved && mv above.yaml s.yaml moved/", f->dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(weft(f, "run again --variant slow --json"), 0);
    json_t *run = json(f->out);
    assert_string_equal(text_at(run, "digest"), digest);
    assert_int_equal(json_integer_value(json_object_get(run, "seed")), 5);
    assert_int_equal(weft(f, "run again"), 0);
    assert_non_null(strstr(f->err, "weft: the same digest as in again\n"));
    assert_int_equal(weft(f, "run again --seed 6"), 0); // another run, which need not repeat
    assert_non_null(strstr(f->err, "weft: again has no run with seed 6: no digest is compared\n"));
    assert_null(strstr(f->err, "the same digest"));
    assert_int_equal(weft(f, "run again --variant none"), 2);
    assert_non_null(strstr(f->err, "no such variant in the results"));
    sqlite3 *db;
    snprintf(command, sizeof command, "%s/again/results.sqlite", f->dir);
    assert_int_equal(sqlite3_open(command, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE run SET digest = '0'", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(weft(f, "run again"), 5);
    assert_non_null(strstr(f->err, "does not repeat"));
    json_decref(root);
    json_decref(run);
}

/// Of several seeds --seed chooses; without it the first of them is run, not that of the scenario.
static void a_seed_of_a_folder_is_run_again(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "compare s.yaml --set workload.0.jitter=1us --seeds 5..7 --json --out seeds"), 0);
    json_t *root = json(f->out);
    const char *digest = text_at(json_array_get(json_object_get(root, "variants"), 1), "digest");
    assert_int_equal(weft(f, "run seeds --seed 6 --json"), 0);
    json_t *run = json(f->out);
    assert_string_equal(text_at(run, "digest"), digest);
    assert_int_equal(weft(f, "run seeds --seed 6"), 0);
    assert_non_null(strstr(f->err, "weft: the same digest as in seeds\n"));
    assert_int_equal(weft(f, "run seeds"), 0);
    assert_non_null(strstr(f->out, "seed 5\n"));
    assert_non_null(strstr(f->err, "weft: the same digest as in seeds\n"));
    json_decref(root);
    json_decref(run);
}

/// Files of older results are removed with them; the user's own files stay.
static void forced_results_leave_no_older_files(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "run s.yaml --out d --export hpcc --capture host-0"), 0);
    write_text(f, "d/mine.txt", "mine\n");
    assert_true(there(f, "d/fct.txt") && there(f, "d/capture.pcapng"));
    assert_int_equal(weft(f, "run s.yaml --out d --force --capture host-0"), 0);
    assert_false(there(f, "d/fct.txt"));
    assert_true(there(f, "d/capture.pcapng"));
    assert_int_equal(weft(f, "run s.yaml --out d --force"), 0);
    assert_false(there(f, "d/capture.pcapng"));
    assert_true(there(f, "d/mine.txt"));
    write_text(f, "d/fct.txt", "mine\n"); // no run has written it
    assert_int_equal(weft(f, "run s.yaml --out d --force"), 0);
    assert_true(there(f, "d/fct.txt"));
}

/// A sampled job's flows ran in part: nothing says how long they took, nor writes it for other programs. What is
/// refused leaves no folder.
static void flows_of_a_sampled_job_have_no_times(void **state) {
    struct fixture *f = *state;
    write_text(f, "sampled.yaml",
               "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\nrun: {sample: {operations: "
               "4}}\nworkload:\n- {kind: job, group: j, "
               "iterations: 100, operations: [{compute: 5us, collective: all_to_all, size: 8KB}]}\n");
    assert_int_equal(weft(f, "run sampled.yaml --json --quiet"), 0);
    json_t *root = json(f->out), *flow = json_array_get(json_object_get(root, "flows"), 0);
    json_t *group = json_object_get(json_object_get(root, "groups"), "j");
    assert_true(json_is_null(json_object_get(flow, "fct_ps")) && json_is_null(json_object_get(flow, "slowdown")));
    assert_true(json_is_null(json_object_get(json_object_get(group, "slowdown"), "mean")));
    json_decref(root);
    assert_int_equal(weft(f, "run sampled.yaml --out parts --export hpcc"), 2);
    assert_non_null(strstr(f->err, "--export hpcc: of a sampled job"));
    assert_int_equal(weft(f, "run sampled.yaml --out parts --export htsim"), 2);
    assert_int_equal(weft(f, "run sampled.yaml --out parts --set run.until=1ms"), 2);
    assert_int_equal(weft(f, "compare sampled.yaml --out parts --set run.until=1ms"), 2);
    assert_false(there(f, "parts"));
    assert_int_equal(weft(f, "run sampled.yaml --out parts --export nccl-tests"), 0);
    assert_true(there(f, "parts/nccl-tests.txt"));
}

static void a_folder_without_runs_is_named(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "sweep s.yaml --vary run.seed=1..2 --out swept --quiet"), 0);
    assert_int_equal(weft(f, "why swept 0"), 2);
    assert_non_null(strstr(f->err, "weft: swept: a sweep, which keeps figures of its points and not their runs"));
    assert_int_equal(weft(f, "run ."), 2);
    assert_non_null(strstr(f->err, "weft: .: a folder without results"));
}

/// The bandwidth that nccl-tests would show is in the comparison, under the name of the collective.
static void compare_has_bus_bandwidth(void **state) {
    struct fixture *f = *state;
    write_text(
        f, "c.yaml",
        "name: c\ntopology: {kind: single, hosts: 4}\nvariants: {a: {}, b: {topology.rate: 50Gbps}}\n"
        "workload:\n  - {kind: collective, hosts: \"*\", server: {gpus: 1}, collective: all_gather, size: 1MB}\n");
    assert_int_equal(weft(f, "compare c.yaml --json"), 0);
    json_t *root = json(f->out);
    double busbw[2];
    for (size_t v = 0; v < 2; v++) {
        json_t *run = json_array_get(json_object_get(root, "variants"), v);
        json_t *one =
            json_array_get(json_object_get(json_array_get(json_object_get(run, "jobs"), 0), "collectives"), 0);
        busbw[v] = json_number_value(json_object_get(one, "busbw_GBps"));
        assert_true(busbw[v] > 0);
    }
    assert_int_equal(weft(f, "compare c.yaml"), 0);
    const char *row = strstr(f->out, "\nall_gather  busbw 1MB, GB/s");
    assert_non_null(row);
    double shown[2];
    assert_int_equal(sscanf(strstr(row, "GB/s") + 4, "%lf %lf", &shown[0], &shown[1]), 2);
    assert_float_equal(shown[0], busbw[0], 0.005001);
    assert_float_equal(shown[1], busbw[1], 0.005001);
    json_decref(root);
}

/// Two collectives of one name and size are told apart by their dimension; what flows of a job take alone says nothing.
static void rows_of_jobs_say_what_they_are(void **state) {
    struct fixture *f = *state;
    write_text(f, "j.yaml",
               "topology: {kind: single, hosts: 4}\nworkload:\n"
               "  - {kind: job, group: train, dimensions: [tp:2, dp:2], server: {gpus: 1}, operations: [\n"
               "      {collective: all_gather, size: 1MB, over: tp}, {collective: all_gather, size: 1MB, over: dp},\n"
               "      {collective: all_gather, size: 1MB}]}\n"
               "  - {kind: flow, group: lone, src: host-0, dst: host-1, size: 1MB, start: 1s}\n");
    assert_int_equal(weft(f, "run j.yaml"), 0);
    const char *names[] = {"\n  all_gather (tp)  ", "\n  all_gather (dp)  ", "\n  all_gather   ", "\ntrain  ",
                           "\nlone  "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_non_null(strstr(f->out, names[i]));
    const char *train = strstr(f->out, names[3]) + 1, *lone = strstr(f->out, names[4]) + 1;
    char rest[128];
    assert_int_equal(sscanf(train, "%*s %*s %*s %*s %*s %*s %*s %*s %127[^\n]", rest), 1);
    assert_string_equal(rest, "-       -       -       -");
    assert_int_equal(sscanf(lone, "%*s %*s %*s %*s %*s %*s %*s %*s %127[^\n]", rest), 1);
    assert_string_equal(rest, "1.00    1.00    1.00    1.00");
}

static void results_are_not_replaced_by_a_slip(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "run s.yaml --out kept"), 0);
    assert_int_equal(weft(f, "run s.yaml --out kept --seed 2"), 2);
    assert_string_equal(f->err, "weft: --out: 'kept' holds results already; --force replaces them\n");
    assert_int_equal(weft(f, "run kept"), 0); // still those of the first
    assert_int_equal(weft(f, "run s.yaml --out kept --seed 2 --force"), 0);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, remove_folder)
    const struct CMUnitTest tests[] = {
        T(first_variant_and_the_others_mentioned),
        T(json_is_one_object_and_nothing_else),
        T(same_digest_on_any_number_of_threads),
        T(compare),
        T(compare_of_chosen_variants),
        T(results_are_written_where_told),
        T(a_folder_of_results_is_run_again),
        T(a_seed_of_a_folder_is_run_again),
        T(forced_results_leave_no_older_files),
        T(flows_of_a_sampled_job_have_no_times),
        T(a_folder_without_runs_is_named),
        T(compare_has_bus_bandwidth),
        T(rows_of_jobs_say_what_they_are),
        T(results_are_not_replaced_by_a_slip),
        T(errors),
        T(a_bad_variant_stops_compare_before_anything_runs),
        T(stall),
        T(interrupt),
        T(terminate),
        T(interrupted_comparison),
        T(interrupted_placement),
        T(places_that_cannot_be_written),
        T(drafts_of_the_dead),
        T(scenario_from_a_pipe),
        T(database_on_a_full_disk),
        T(empty_workload),
        T(no_more_threads_than_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
