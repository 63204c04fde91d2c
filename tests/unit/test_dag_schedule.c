// SPDX-License-Identifier: Apache-2.0
// Workloads as schedules: the same messages between the same hosts, steps that can be executed, times under LogGOPS
// that are worked out by hand, and, written in GOAL, read back and run on the same network, nearly the same completion.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "run.h"
#include "weft/chakra.h"
#include "weft/dag.h"
#include "weft/goal.h"

enum { HOSTS = 8 };
#define NETWORK                                                                                                        \
    "topology: {kind: single, hosts: 8, rate: 100Gbps, delay: 1us}\n"                                                  \
    "switch: {buffer: {kind: static, size: 32MB, xoff: 7MB, xon: 6MB}}\n"

static char folder[] = "/tmp/weft-dag-XXXXXX";
static struct weft_arena *arena;

static int group_setup(void **state) {
    return mkdtemp(folder) ? 0 : -1;
}
static int group_teardown(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}
static int setup(void **state) {
    arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    return 0;
}
static int teardown(void **state) {
    weft_arena_free(arena);
    return 0;
}

struct workload {
    struct run run;
    struct weft_dag dag;
    struct weft_schedule *schedule;
    enum weft_status status;
    struct weft_error error;
};

static struct workload load(const char *text) {
    struct workload x = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &x.run.file, &x.error);
    if (!status) status = run_bind(&x.run, 0);
    if (status) fail_msg("%s%s\n%s", x.error.text, x.run.error.text, text);
    x.dag = weft_dag_of(x.run.workload, arena);
    x.status = weft_dag_schedule(&x.dag, "t.yaml", arena, &x.schedule, &x.error);
    if (!x.status) x.status = weft_schedule_check(x.schedule, &x.error);
    return x;
}

static struct workload must_load(const char *text) {
    struct workload x = load(text);
    if (x.status) fail_msg("%s\n%s", x.error.text, text);
    return x;
}

// --- messages -----------------------------------------------------------------------------------------------------

struct sums {
    uint64_t messages[HOSTS][HOSTS], bytes[HOSTS][HOSTS];
    const struct weft_dag *dag;
};

static void on_step(void *context, const struct weft_dag_cursor *lane, const struct weft_dag_step *step) {
    struct sums *s = context;
    for (uint32_t k = 0; k < step->sends; k++) {
        struct weft_dag_connection c = weft_dag_connection_at(s->dag, step->send[k]);
        uint32_t src = weft_dag_rank_at(s->dag, c.src).host, dst = weft_dag_rank_at(s->dag, c.dst).host;
        s->messages[src][dst]++;
        s->bytes[src][dst] += step->bytes;
    }
}

/// What the schedule sends is what the DAG sends; and it can be executed, also when every message waits for its
/// receive.
static void assert_same(const struct workload *x) {
    struct sums dag = {.dag = &x->dag}, own = {0};
    struct weft_dag_result result =
        weft_dag_execute(&x->dag, &(struct weft_dag_options){.on_step = on_step, .context = &dag});
    assert_int_equal(result.stuck, 0);
    assert_int_equal(x->schedule->messages, result.messages);
    assert_int_equal(x->schedule->bytes, result.bytes);
    for (uint32_t r = 0; r < HOSTS; r++)
        for (uint32_t i = 0; i < x->schedule->rank[r].steps; i++) {
            const struct weft_schedule_step *step = &x->schedule->rank[r].step[i];
            if (step->kind != WEFT_SCHEDULE_SEND) continue;
            own.messages[r][step->peer]++;
            own.bytes[r][step->peer] += step->size;
        }
    assert_memory_equal(own.messages, dag.messages, sizeof own.messages);
    assert_memory_equal(own.bytes, dag.bytes, sizeof own.bytes);
    for (uint64_t eager = 0; eager <= 1u << 30; eager += 1u << 30) {
        struct weft_loggops model = {.latency_ps = 1000, .eager_bytes = eager};
        struct weft_loggops_result r;
        struct weft_error error;
        if (weft_loggops_run(x->schedule, &model, arena, &r, &error)) fail_msg("%s", error.text);
        assert_true(r.most_ps >= result.end_ps);
    }
}

static const char *const workloads[] = {
    "{kind: collective, size: 1MB, repeat: 2, collective: all_reduce_ring}",
    "{kind: collective, size: 3MB, repeat: 2, collective: {kind: all_reduce_ring, channels: 3}, server: {gpus: 4}}",
    "{kind: collective, size: 1MB, size_max: 4MB, collective: all_reduce_tree}",
    "{kind: collective, size: 1MB, collective: all_reduce_hierarchical, server: {gpus: 2}}",
    "{kind: collective, size: 1MB, collective: all_gather, start: 3us}",
    "{kind: collective, size: 1MB, collective: reduce_scatter, ranks: 5}",
    "{kind: collective, size: 10MB, collective: all_to_all, server: {gpus: 4, cabling: rail}}",
    "{kind: collective, size: 1MB, collective: broadcast, root: 3}",
    "{kind: collective, size: 1MB, collective: {kind: send_recv, ring: on, step_delay: 1us, copy_rate: 200Gbps}}",
    "{kind: job, dimensions: 'tp:4, dp:2', iterations: 3, operations: [{compute: 3us, size: 100KB, over: tp},"
    " {compute: 5us, size: 300KB, over: tp, collective: all_gather}, {size: 200KB, over: dp, overlap: on},"
    " {compute: 2us, size: 100KB, over: tp}, {size: 50KB}, {compute: 1us}]}",
    ("{kind: job, dimensions: 'tp:2, pp:4', iterations: 2, operations: [{pipeline: {over: pp, microbatches: 5, size: "
     "50KB, "
     "forward: [{compute: 4us}, {size: 20KB, over: tp}], backward: [{compute: 8us}]}}, {size: 30KB, over: tp}]}"),
    "{kind: permutation, size: 100KB, repeat: 3, interval: 7us, start: 2us}",
    "{kind: all_to_all, size: 10KB}, {kind: collective, size: 1MB, start: 4us}, {kind: flow, src: host-3, dst: host-1,"
    " size: 5MB, start: 1us, verb: read}",
};

static void the_same_messages(void **state) {
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        char *text = text_of(NETWORK "workload: [%s]\n", workloads[i]);
        struct workload x = must_load(text);
        assert_same(&x);
        run_free(&x.run);
        free(text);
    }
}

/// Of the messages of a connection no more than it has slots are under way: each waits for the one so many before.
static void slots_are_dependencies(void **state) {
    struct workload x = must_load(NETWORK "workload: [{kind: collective, size: 40MB, hosts: host-0..1,"
                                          " collective: {kind: send_recv, slots: 3, slice: 1MB, chunk: 1MB}}]\n");
    const struct weft_schedule_rank *r = &x.schedule->rank[0];
    assert_int_equal(x.schedule->messages, 40);
    assert_int_equal(r->steps, 41); // the last one joins the lanes
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t n = r->step[i + 1].edge0 - r->step[i].edge0;
        assert_int_equal(n, 1 + (i < 37)); // the next may begin, and the third after it has room
        for (uint32_t e = r->step[i].edge0; e < r->step[i + 1].edge0; e++)
            assert_true(r->edge[e] == ((i + 1) | WEFT_SCHEDULE_AFTER_START) || r->edge[e] == i + 3);
    }
    run_free(&x.run);
}

// --- times --------------------------------------------------------------------------------------------------------

/// A ring all-reduce in which each step is one message: 2 (n - 1) of them, each o at the sender, L, and o + (s - 1) G
/// at the receiver. Source: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005), with the costs of LogGOPS.
static void a_ring_under_loggops(void **state) {
    struct workload x = must_load(NETWORK "workload: [{kind: collective, size: 8000B, collective: all_reduce_ring}]\n");
    struct weft_loggops model = {
        .latency_ps = 2500000, .overhead_ps = 1500000, .gap_byte_ps = 80, .eager_bytes = 65535};
    struct weft_loggops_result r;
    assert_int_equal(weft_loggops_run(x.schedule, &model, arena, &r, NULL), WEFT_OK);
    assert_int_equal(x.schedule->messages, 8 * 14);
    // the gap of a NIC is over before the next message: a step takes longer
    for (uint32_t k = 0; k < HOSTS; k++)
        assert_int_equal(r.end_ps[k], 14 * (2 * 1500000 + 2500000 + 999 * 80));
    run_free(&x.run);
}

/// Starts are a chain: flows of a host begin when they do in the scenario, to the picosecond.
static void starts_of_flows(void **state) {
    struct workload x = must_load(NETWORK "workload: [{kind: flow, src: host-0, dst: host-1, size: 1B, start: 7us},"
                                          "{kind: flow, src: host-0, dst: host-2, size: 1B, start: 5us},"
                                          "{kind: flow, src: host-0, dst: host-3, size: 1B, start: 7us},"
                                          "{kind: flow, src: host-4, dst: host-5, size: 1B}]\n");
    struct weft_loggops model = {.latency_ps = 1000, .eager_bytes = 1};
    struct weft_loggops_result r;
    assert_int_equal(weft_loggops_run(x.schedule, &model, arena, &r, NULL), WEFT_OK);
    assert_int_equal(r.end_ps[2], 5001000);
    assert_int_equal(r.end_ps[1], 7001000);
    assert_int_equal(r.end_ps[3], 7001000);
    assert_int_equal(r.end_ps[5], 1000);
    run_free(&x.run);
}

static weft_time_ps end_of(const char *text) {
    struct run r = run_once(text);
    assert_int_equal(r.status, WEFT_OK);
    weft_time_ps end = 0;
    for (uint32_t j = 0; j < r.workload->jobs; j++)
        if (r.outcome->job[j].end_ps > end) end = r.outcome->job[j].end_ps;
    run_free(&r);
    return end;
}

/// Written in GOAL, read back and run: without clear-to-send within 1%. A schedule ends when its last send is
/// acknowledged, a job when its last message has come; channels between two hosts share a connection there.
static void written_read_and_run(void **state) {
    static const struct {
        const char *workload, *server;
    } jobs[] = {
        {"{kind: collective, admission: none, size: 4MB, repeat: 3, collective: all_reduce_ring}", ""},
        {"{kind: collective, admission: none, size: 4MB, repeat: 3, collective: all_reduce_ring, server: {gpus: 4}}",
         ", server: {gpus: 4}"},
        {"{kind: collective, admission: none, size: 4MB, repeat: 3, collective: all_reduce_tree}", ""},
        {"{kind: collective, admission: none, size: 4MB, repeat: 3, collective: all_to_all}", ""},
        {"{kind: collective, admission: none, size: 4MB, start: 9us, collective: {kind: all_gather, step_delay: 2us}}",
         ""},
        {"{kind: job, admission: none, dimensions: 'tp:4, dp:2', iterations: 2, operations: [{compute: 30us, size: 1MB,"
         " over: tp}, {size: 2MB, over: dp, overlap: on, collective: all_gather}, {compute: 20us, size: 1MB, over: "
         "tp}]}",
         ""},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char *text = text_of(NETWORK "workload: [%s]\n", jobs[i].workload), path[128];
        struct workload x = must_load(text);
        snprintf(path, sizeof path, "%s/x.goal", folder);
        FILE *file = fopen(path, "w");
        weft_goal_write(file, x.schedule);
        fclose(file);
        struct weft_schedule *back;
        assert_int_equal(weft_goal_load(path, WEFT_NOWHERE, arena, &back, NULL), WEFT_OK);
        assert_int_equal(back->messages, x.schedule->messages);
        assert_int_equal(back->bytes, x.schedule->bytes);
        assert_int_equal(back->steps, x.schedule->steps);
        assert_int_equal(back->edges, x.schedule->edges);
        char *again = text_of(NETWORK "workload: [{kind: goal, order: listed, file: %s%s}]\n", path, jobs[i].server);
        double first = (double)end_of(text), second = (double)end_of(again);
        if (second < 0.99 * first || second > 1.01 * first)
            fail_msg("%s: %g, then %g", jobs[i].workload, first, second);
        run_free(&x.run);
        free(again);
        free(text);
    }
}

/// Over two spines: read back with a connection for each tag, the queue pairs of two hosts are as many, in the same
/// order and so on the same paths, and the end is the job's within 1%; without, channels share a connection.
static void the_same_paths(void **state) {
    static const char network[] =
        "topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4, rate: 100Gbps}\n";
    for (uint32_t seed = 1; seed < 6; seed++) {
        char path[128];
        char *text = text_of("%sworkload:\n"
                             "- {kind: collective, collective: {kind: all_reduce_ring, channels: 4}, "
                             "size: 4MB, admission: none}\n"
                             "- {kind: flow, src: host-1, dst: host-12, size: 1MB, repeat: 3}\n"
                             "run: {seed: %u}\n",
                             network, seed);
        struct workload a = load(text);
        free(text);
        assert_int_equal(a.status, WEFT_OK);
        snprintf(path, sizeof path, "%s/paths.goal", folder);
        FILE *file = fopen(path, "w");
        weft_goal_write(file, a.schedule);
        fclose(file);
        struct run b =
            RUN(run_once, "%sworkload: [{kind: goal, file: %s, order: listed, tag_connections: on}]\nrun: {seed: %u}\n",
                network, path, seed);
        struct run c = RUN(run_once, "%sworkload: [{kind: goal, file: %s, order: listed}]\nrun: {seed: %u}\n", network,
                           path, seed);
        assert_true(c.workload->flows < b.workload->flows);
        assert_int_equal(b.workload->flows, a.run.workload->flows);
        uint64_t n, m, same = 0;
        struct weft_path *x = weft_paths_trace(a.run.scenario, a.run.topology, a.run.workload, arena, &n);
        struct weft_path *y = weft_paths_trace(b.scenario, b.topology, b.workload, arena, &m);
        assert_int_equal(n, m);
        bool *taken = weft_arena_alloc(arena, m, sizeof *taken);
        for (uint64_t i = 0; i < n; i++)
            for (uint64_t k = 0; k < m; k++)
                if (!taken[k] && x[i].hops == y[k].hops &&
                    !memcmp(x[i].port, y[k].port, x[i].hops * sizeof *x[i].port)) {
                    taken[k] = true;
                    same++;
                    break;
                }
        assert_int_equal(same, n);
        a.run.outcome = run_again(&a.run, 1, "");
        double expected = (double)a.run.outcome->job->end_ps;
        if (fabs((double)b.outcome->job->end_ps / expected - 1) > 0.01)
            fail_msg("%g where the job takes %g", (double)b.outcome->job->end_ps, expected);
        run_free(&a.run);
        run_free(&b);
        run_free(&c);
    }
}

// --- traces -------------------------------------------------------------------------------------------------------

/// Written as traces of Chakra and read back, a job ends at the same picosecond. Of a pipeline messages wait for no
/// clear-to-send there, so it may end earlier; without one it ends later by less than the acknowledgement of its last
/// send.
static void written_as_traces(void **state) {
    static const struct {
        const char *workload, *more;
        bool same;
    } jobs[] = {
        {"{kind: collective, size: 4MB, repeat: 3, collective: all_reduce_ring}", "", true},
        {"{kind: collective, size: 1MB, collective: all_to_all, start: 5us, server: {gpus: 4}}", ", server: {gpus: 4}",
         true},
        {"{kind: collective, size: 1MB, collective: all_gather, admission: none}", ", admission: none", true},
        {"{kind: collective, size: 1MB, collective: reduce_scatter}", "", true},
        {"{kind: collective, size: 1MB, collective: broadcast}", "", true},
        {"{kind: collective, size: 1MB, collective: gather}", "", true},
        {"{kind: job, dimensions: 'tp:4, dp:2', iterations: 2, operations: [{compute: 3us, size: 100KB, over: tp}, "
         "{compute: "
         "5us, size: 304KB, over: tp, collective: all_gather}, {size: 200KB, over: dp, overlap: on, collective: "
         "all_gather},"
         " {compute: 2us, size: 100KB, over: tp}, {size: 50KB}, {compute: 1us}]}",
         "", true},
        {"{kind: job, admission: none, dimensions: 'tp:2, pp:4', iterations: 2, operations: [{pipeline: {over: pp, "
         "microbatches: 5,"
         " size: 50KB, forward: [{compute: 4us}, {size: 20KB, over: tp}], backward: [{compute: 8us}]}}, {size: 30KB, "
         "over: tp}]}",
         ", admission: none", false},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char *text = text_of(NETWORK "workload: [%s]\n", jobs[i].workload), prefix[128];
        struct workload x = must_load(text);
        const struct weft_schedule *s;
        snprintf(prefix, sizeof prefix, "%s/%zu", folder, i);
        assert_int_equal(weft_job_schedule(&x.run.workload->job[0], "t.yaml", arena, &s, NULL), WEFT_OK);
        assert_int_equal(weft_chakra_write(s, prefix, NULL), WEFT_OK);
        char *again = text_of(NETWORK "workload: [{kind: chakra, file: %s, groups: %s.groups.json%s}]\n", prefix,
                              prefix, jobs[i].more);
        weft_time_ps first = end_of(text), second = end_of(again);
        if (jobs[i].same)
            assert_int_equal(first, second);
        else
            assert_in_range(second, first - first / 20, first + first / 20);
        run_free(&x.run);
        free(again);
        free(text);
    }
}

static void what_traces_do_not_have(void **state) {
    static const struct {
        const char *workload, *expected;
    } bad[] = {
        {"{kind: collective, size: 1MB, collective: broadcast, root: 2}",
         "a root other than the first rank of its group"},
        {"{kind: collective, size: 1MB, collective: all_to_all_v}", "all_to_all_v is none of the collectives"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = text_of(NETWORK "workload: [%s]\n", bad[i].workload), prefix[128];
        struct workload x = must_load(text);
        const struct weft_schedule *s;
        struct weft_error error = {0};
        snprintf(prefix, sizeof prefix, "%s/bad", folder);
        enum weft_status status = weft_job_schedule(&x.run.workload->job[0], "t.yaml", arena, &s, &error);
        if (!status) status = weft_chakra_write(s, prefix, &error);
        assert_int_equal(status, WEFT_ERROR_INPUT);
        if (!strstr(error.text, bad[i].expected)) fail_msg("%s", error.text);
        run_free(&x.run);
        free(text);
    }
}

// --- schedules ----------------------------------------------------------------------------------------------------

/// A schedule alone is itself again, line by line.
static void a_schedule_is_itself(void **state) {
    static const char goal[] =
        "num_ranks 8\n\nrank 0 {\nl1: calc 100 cpu 1\nl2: send 8b to 1 tag 7 nic 2\nl3: recv 9b from -1 tag -1\n"
        "l2 irequires l1\nl3 requires l2\n}\n\nrank 1 {\nl1: recv 8b from 0 tag 7\nl2: send 9b to 0\n}\n";
    char path[128], *text, *out;
    size_t size;
    snprintf(path, sizeof path, "%s/y.goal", folder);
    FILE *file = fopen(path, "w");
    fputs(goal, file);
    for (uint32_t r = 2; r < HOSTS; r++)
        fprintf(file, "\nrank %u {\n}\n", r);
    fclose(file);
    text = text_of(NETWORK "workload: [{kind: goal, file: %s}]\n", path);
    struct workload x = must_load(text);
    file = open_memstream(&out, &size);
    weft_goal_write(file, x.schedule);
    fclose(file);
    assert_int_equal(strncmp(out, goal, sizeof goal - 1), 0);
    free(out);
    free(text);
    run_free(&x.run);
}

/// Collectives of a trace become messages, as many as the run has; and they take their time.
static void collectives_of_a_trace(void **state) {
    char *text = text_of("topology: {kind: single, hosts: 4, rate: 100Gbps, delay: 1us}\n"
                         "workload: [{kind: chakra, admission: none, file: %s/examples/import/chakra}]\n",
                         getenv("WEFT_ROOT"));
    struct workload x = must_load(text);
    const struct weft_job *job = &x.run.workload->job[0];
    assert_true(job->schedule->collectives > 0);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < job->connections; i++)
        bytes += job->connection[i].bytes;
    assert_int_equal(x.schedule->bytes, bytes);
    assert_int_equal(x.schedule->collectives, 0);
    struct weft_loggops model = {.latency_ps = 1000000, .gap_byte_ps = 80, .eager_bytes = 65535};
    struct weft_loggops_result r;
    assert_int_equal(weft_loggops_run(x.schedule, &model, arena, &r, NULL), WEFT_OK);
    run_free(&x.run);
    free(text);
}

/// A connection matrix of htsim; the path is in `path`.
static void put_matrix(const char *text, char path[128]) {
    snprintf(path, 128, "%s/x.cm", folder);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

/// Under LogGOPS with a latency only. What happens at another host than the one that counts takes a latency to be told,
/// and so does what that one tells.
static void triggers_are_messages(void **state) {
    static const struct {
        const char *matrix;
        uint32_t rank[2], latencies[2], steps, edges;
    } cases[] = {
        // sent at 0: host 1 knows at 1
        {"Nodes 8\nConnections 2\nTriggers 1\n0->1 start 0 size 1 send_done_trigger 1\n1->2 trigger 1 size 1\n"
         "trigger id 1 oneshot\n",
         {1, 2},
         {1, 2},
         4 + 2 + 1,
         1 + 1 + 1},
        // received at 1, by the host that counts
        {"Nodes 8\nConnections 2\nTriggers 1\n0->1 start 0 size 1 recv_done_trigger 1\n1->2 trigger 1 size 1\n"
         "trigger id 1 oneshot\n",
         {1, 2},
         {1, 2},
         4 + 1,
         1 + 1},
        // host 2 counts: of host 3 at 2, of host 1 at 1; then host 4 receives at 3, and host 5, told at 3, is received
        // at 4
        {"Nodes 8\nConnections 4\nTriggers 1\n0->3 start 0 size 1 recv_done_trigger 1\n1->3 start 0 size 1 "
         "send_done_trigger 1\n2->4 trigger 1 size 1\n5->6 trigger 1 size 1\ntrigger id 1 count 2 barrier\n",
         {4, 6},
         {3, 4},
         8 + 4 + 1 + 2,
         2 + 2 + 1 + 1 + 1},
        // a multishot with one flow is a oneshot
        {"Nodes 8\nConnections 2\nTriggers 1\n0->1 start 0 size 1 recv_done_trigger 1\n1->2 trigger 1 size 1\n"
         "trigger id 1 multishot\n",
         {1, 2},
         {1, 2},
         4 + 1,
         1 + 1},
        // a multishot: host 1 takes what 0 and 2 tell, in turn; the second starts a flow at 3, which is told at 2
        {"Nodes 8\nConnections 4\nTriggers 1\n0->1 start 0 size 1 send_done_trigger 1\n2->1 start 0 size 1 "
         "send_done_trigger 1\n1->2 trigger 1 size 1\n3->2 trigger 1 size 1\ntrigger id 1 multishot\n",
         {2, 3},
         {3, 2},
         8 + 2 + 2 + 2,
         2 + 1 + 2 + 1},
        // its own host activates it as well, so another counts: that of the lowest number without, 2
        {"Nodes 8\nConnections 4\nTriggers 1\n0->1 start 0 size 1 send_done_trigger 1\n1->0 start 0 size 1 "
         "send_done_trigger 1\n1->4 trigger 1 size 1\n1->3 trigger 1 size 1\ntrigger id 1 multishot\n",
         {4, 3},
         {3, 3},
         8 + 2 + 2 + 4,
         2 + 1 + 2 + 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char matrix[128], *text;
        put_matrix(cases[i].matrix, matrix);
        struct workload x = load(text = text_of(NETWORK "workload: [{kind: htsim, file: %s}]\n", matrix));
        if (x.status) fail_msg("%s", x.error.text);
        assert_int_equal(x.schedule->steps, cases[i].steps);
        assert_int_equal(x.schedule->edges, cases[i].edges);
        struct weft_loggops model = {.latency_ps = 1000, .eager_bytes = 65535};
        struct weft_loggops_result r;
        assert_int_equal(weft_loggops_run(x.schedule, &model, arena, &r, NULL), WEFT_OK);
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(r.end_ps[cases[i].rank[k]], cases[i].latencies[k] * 1000);
        run_free(&x.run);
        free(text);
    }
}

static void what_is_refused(void **state) {
    char matrix[128], goal[128], *text;
    char all[1024] = "Nodes 8\nConnections 10\nTriggers 1\n1->2 trigger 1 size 1\n3->2 trigger 1 size 1\ntrigger id 1 "
                     "multishot\n";
    for (uint32_t h = 0; h < 8; h++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%u->%u start 0 size 1 send_done_trigger 1\n", h,
                 (h + 1) % 8);
    put_matrix(all, matrix);
    FILE *file;
    snprintf(goal, sizeof goal, "%s/w.goal", folder);
    file = fopen(goal, "w");
    fputs("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from -1\n}\n", file);
    fclose(file);
    const struct {
        char *text;
        const char *expected;
    } bad[] = {
        {text_of(NETWORK "workload: [{kind: htsim, file: %s}]\n", matrix),
         "t.yaml: a multishot trigger is activated at every host"},
        {text_of(NETWORK "workload: [{kind: rma, clients: host-0, servers: host-1}]\n"),
         "t.yaml: what remote memory access"},
        {text_of(NETWORK "workload: [{kind: goal, file: %s}, {kind: flow, src: host-0, dst: host-1, size: 1B}]\n",
                 goal),
         "t.yaml:3:12: a schedule receives with any source or tag"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct workload x = load(text = bad[i].text);
        assert_int_equal(x.status, WEFT_ERROR_INPUT);
        if (strncmp(x.error.text, bad[i].expected, strlen(bad[i].expected))) fail_msg("%s", x.error.text);
        run_free(&x.run);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_same_messages, setup, teardown),
        cmocka_unit_test_setup_teardown(slots_are_dependencies, setup, teardown),
        cmocka_unit_test_setup_teardown(a_ring_under_loggops, setup, teardown),
        cmocka_unit_test_setup_teardown(starts_of_flows, setup, teardown),
        cmocka_unit_test_setup_teardown(triggers_are_messages, setup, teardown),
        cmocka_unit_test_setup_teardown(written_read_and_run, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_paths, setup, teardown),
        cmocka_unit_test_setup_teardown(written_as_traces, setup, teardown),
        cmocka_unit_test_setup_teardown(what_traces_do_not_have, setup, teardown),
        cmocka_unit_test_setup_teardown(a_schedule_is_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(collectives_of_a_trace, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
