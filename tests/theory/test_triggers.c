// SPDX-License-Identifier: Apache-2.0
// Triggers of htsim's connection matrices: when each flow starts follows from when others end, and from trigger_delay.
// Source of the three kinds: Broadcom/csg-htsim, sim/trigger.cpp; of what activates them: sim/roce.cpp (the last ACK at
// the sender), sim/ndp.cpp (the last packet at the receiver).
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <unistd.h>

#include "run.h"

static char folder[] = "/tmp/weft-triggers-XXXXXX";
enum { DELAY_PS = 250000 };

static int setup(void **state) {
    return mkdtemp(folder) ? 0 : -1;
}
static int teardown(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

#define NETWORK "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 8, rate: 100Gbps, delay: 500ns}\n"

static char *scenario(const char *network, const char *matrix, const char *more) {
    char path[128];
    snprintf(path, sizeof path, "%s/x.cm", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(matrix, file);
    fclose(file);
    return text_of("%sworkload: [{kind: htsim, file: %s, trigger_delay: 250ns%s}]\n", network, path, more);
}

/// With 1, 2, 3 and 8 threads.
static struct run run_matrix(const char *matrix, const char *more) {
    char *text = scenario(NETWORK, matrix, more);
    struct run r = run_text(text);
    free(text);
    run_assert_complete(&r);
    return r;
}

static weft_time_ps start_of(const struct run *r, uint32_t flow) {
    return r->outcome->flow[flow].start_ps;
}
static weft_time_ps acked(const struct run *r, uint32_t flow) {
    return r->outcome->flow[flow].acked_ps;
}
static weft_time_ps came(const struct run *r, uint32_t flow) {
    return r->outcome->flow[flow].end_ps;
}
#define START(r, flow, expected) assert_int_equal(start_of(r, flow), (expected) + DELAY_PS)

static const char *const variants[] = {"", ", qps: 3", ", verb: read", ", verb: send, qps: 2"};
enum { VARIANTS = sizeof variants / sizeof *variants };

/// A ring of 6 steps, each sent by the host that received the previous one: its time is the sum of the flows' times and
/// of the delays.
static void a_chain_of_oneshots(void **state) {
    for (uint32_t v = 0; v < VARIANTS; v++) {
        struct run r = run_matrix("Nodes 16\nConnections 6\nTriggers 5\n"
                                  "0->9 id 1 start 2000000 size 100000 send_done_trigger 1\n"
                                  "9->3 id 2 trigger 1 size 90000 recv_done_trigger 2\n"
                                  "3->12 id 3 trigger 2 size 4096 send_done_trigger 3\n"
                                  "12->1 id 4 trigger 3 size 1 recv_done_trigger 4\n"
                                  "1->0 id 5 trigger 4 size 300000 recv_done_trigger 5\n"
                                  "0->9 id 6 trigger 5 size 100000\n"
                                  "trigger id 1 oneshot\ntrigger id 2 oneshot\ntrigger id 3 oneshot\n"
                                  "trigger id 4 oneshot\ntrigger id 5 oneshot\n",
                                  variants[v]);
        assert_int_equal(start_of(&r, 0), 2000000);
        START(&r, 1, acked(&r, 0));
        START(&r, 2, came(&r, 1));
        START(&r, 3, acked(&r, 2));
        START(&r, 4, came(&r, 3));
        START(&r, 5, came(&r, 4));
        // it is alone in the network, as the first one was
        assert_int_equal(came(&r, 5) - start_of(&r, 5), came(&r, 0) - start_of(&r, 0));
        run_free(&r);
    }
}

/// A barrier starts all its flows at once, when the last of those that it counts is done.
static void barriers_wait_for_the_last(void **state) {
    for (uint32_t v = 0; v < VARIANTS; v++) {
        struct run r = run_matrix("Nodes 16\nConnections 7\nTriggers 2\n"
                                  "0->8 start 0 size 500000 send_done_trigger 4\n"
                                  "1->9 start 0 size 20000 recv_done_trigger 4 send_done_trigger 4\n"
                                  "2->10 start 30000000 size 250000 send_done_trigger 4\n"
                                  "8->0 trigger 4 size 70000 recv_done_trigger 9\n"
                                  "8->1 trigger 4 size 70000 recv_done_trigger 9\n"
                                  "3->4 trigger 4 size 70000 recv_done_trigger 9\n"
                                  "15->14 trigger 9 size 70000\n"
                                  "trigger id 9 count 3 barrier\ntrigger id 4 count 4 barrier\n",
                                  variants[v]);
        weft_time_ps last = acked(&r, 0) > acked(&r, 2) ? acked(&r, 0) : acked(&r, 2);
        for (uint32_t f = 3; f < 6; f++)
            START(&r, f, last);
        last = came(&r, 3) > came(&r, 4) ? came(&r, 3) : came(&r, 4);
        START(&r, 6, came(&r, 5) > last ? came(&r, 5) : last);
        run_free(&r);
    }
}

static int by_time(const void *a, const void *b) {
    weft_time_ps x = *(const weft_time_ps *)a, y = *(const weft_time_ps *)b;
    return (x > y) - (x < y);
}

/// Each end starts the next flow of the file: of 8 flows three are active at a time, and each of them activates.
static void multishots_start_one_after_another(void **state) {
    for (uint32_t v = 0; v < VARIANTS; v++) {
        struct run r = run_matrix("Nodes 16\nConnections 8\nTriggers 1\n"
                                  "0->8 start 0 size 900000 send_done_trigger 1\n"
                                  "1->9 start 0 size 100000 send_done_trigger 1\n"
                                  "2->10 start 0 size 300000 send_done_trigger 1\n"
                                  "3->11 trigger 1 size 500000 send_done_trigger 1\n"
                                  "4->12 trigger 1 size 200000 send_done_trigger 1\n"
                                  "5->13 trigger 1 size 120000 send_done_trigger 1\n"
                                  "6->14 trigger 1 size 320000 send_done_trigger 1\n"
                                  "7->15 trigger 1 size 640000 send_done_trigger 1\n"
                                  "trigger id 1 multishot\n",
                                  variants[v]);
        weft_time_ps done[8];
        for (uint32_t f = 0; f < 8; f++)
            done[f] = acked(&r, f);
        qsort(done, 8, sizeof *done, by_time);
        for (uint32_t f = 3; f < 8; f++)
            START(&r, f, done[f - 3]);
        run_free(&r);
    }
}

/// All 16 hosts at once after a barrier of all 16, twenty times: also where activations come at the same time.
static void rounds_of_all_hosts(void **state) {
    enum { HOSTS = 16, ROUNDS = 20 };
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    fprintf(file, "Nodes %d\nConnections %d\nTriggers %d\n", HOSTS, HOSTS * ROUNDS, ROUNDS - 1);
    for (int k = 0; k < ROUNDS; k++)
        for (int h = 0; h < HOSTS; h++) {
            fprintf(file, "%d->%d size 8192", h, (h + 1 + k % (HOSTS - 1)) % HOSTS);
            fprintf(file, k ? " trigger %d" : " start 0", k);
            fprintf(file, k + 1 < ROUNDS ? " recv_done_trigger %d\n" : "\n", k + 1);
        }
    for (int k = 1; k < ROUNDS; k++)
        fprintf(file, "trigger id %d count %d barrier\n", k, HOSTS);
    fclose(file);
    struct run r = run_matrix(text, "");
    for (uint32_t k = 1; k < ROUNDS; k++) {
        weft_time_ps last = 0;
        for (uint32_t h = 0; h < HOSTS; h++)
            if (came(&r, (k - 1) * HOSTS + h) > last) last = came(&r, (k - 1) * HOSTS + h);
        for (uint32_t h = 0; h < HOSTS; h++)
            START(&r, k * HOSTS + h, last);
    }
    run_free(&r);
    free(text);
}

/// A flow that is lost forever: the run ends by itself, and says what waits for what.
static void a_stall_names_those_that_wait(void **state) {
    char *text = scenario(NETWORK "host: {transport: {kind: roce_rc, timeout: never}}\n"
                                  "events: [{at: 5us, link: host-9/0, state: down}]\n",
                          "Nodes 16\nConnections 2\nTriggers 1\n0->9 start 0 size 1000000 send_done_trigger 1\n"
                          "1->2 trigger 1 size 8\ntrigger id 1 oneshot\n",
                          "");
    struct run r = run_once(text);
    assert_int_equal(r.status, WEFT_ERROR_STALL);
    assert_non_null(strstr(r.outcome->stall, "flows that wait for a trigger"));
    assert_non_null(strstr(r.outcome->stall, "host-1 -> host-2 (flow 1)"));
    run_free(&r);
    free(text);
}

static void what_is_refused(void **state) {
    static const struct {
        const char *matrix, *more, *expected;
    } bad[] = {
        {"0->1 start 0 size 8 send_done_trigger 3\n", "", "x.cm:4:1: there is no trigger 3"},
        {"0->1 trigger 3 size 8\ntrigger id 3 oneshot\n", "", "x.cm:5:1: trigger 3, oneshot: 0 flows activate it"},
        {"0->1 start 0 size 8 send_done_trigger 3 recv_done_trigger 3\n2->3 trigger 3 size 8\ntrigger id 3 oneshot\n",
         "", "x.cm:6:1: trigger 3, oneshot: 2 flows activate it; expected one"},
        {"0->1 start 0 size 8 send_done_trigger 3\n2->3 trigger 3 size 8\ntrigger id 3 count 2 barrier\n", "",
         "x.cm:6:1: trigger 3, barrier: 1 activations of 2 that it counts"},
        {"0->1 start 0 size 8 send_done_trigger 3\n2->3 trigger 3 size 8\n4->5 trigger 3 size 8\ntrigger id 3 "
         "multishot\n",
         "", "x.cm:6:1: the flow waits for ever: too few flows activate trigger 3"},
        {"0->1 trigger 1 size 8 send_done_trigger 1\ntrigger id 1 oneshot\n", "", "x.cm:4:1: the flow waits for ever"},
        {"0->1 trigger 1 size 8 send_done_trigger 2\n2->3 trigger 2 size 8 send_done_trigger 1\ntrigger id 1 oneshot\n"
         "trigger id 2 oneshot\n",
         "", "x.cm:4:1: the flow waits for ever"},
        {"0->1 start 0 trigger 1 size 8\ntrigger id 1 oneshot\n", "", "x.cm:4:1: a flow with start and trigger"},
        {"0->1 size 8\n", "", "x.cm:4:1: a flow needs start or trigger"},
        {"0->1 trigger 0 size 8\n", "", "x.cm:4:14: trigger 0; expected at least 1"},
        {"0->1 trigger 1 trigger 1 size 8\n", "", "x.cm:4:16: a second trigger"},
        {"0->1 start 0 size 8 addon\n", "", "x.cm:4:21: 'addon'; expected start, size, prio, id, trigger"},
        {"trigger id 1\n", "", "x.cm:4:1: a trigger needs an id and oneshot"},
        {"trigger id 1 barrier\n", "", "x.cm:4:1: a trigger needs an id and oneshot"},
        {"trigger id 1 oneshot count 2\n", "", "x.cm:4:1: a trigger needs an id and oneshot"},
        {"trigger id 1 oneshot barrier\n", "", "x.cm:4:22: 'barrier'; expected id, count, and one of"},
        {"trigger id 1 multishot\ntrigger id 1 multishot\n", "", "x.cm:5:1: a second trigger 1"},
        {"0->1 start 0 size 8 send_done_trigger 1\ntrigger id 1 multishot\n", ", repeat: 2",
         "t.yaml:2:12: repeat: 2 of"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint32_t flows = 0, triggers = 0;
        for (const char *at = bad[i].matrix; *at; at = strchr(at, '\n') + 1)
            *(*at == 't' ? &triggers : &flows) += 1;
        char *matrix = text_of("Nodes 16\nConnections %u\nTriggers %u\n%s", flows, triggers, bad[i].matrix);
        char *text = scenario(NETWORK, matrix, bad[i].more);
        struct run r = {0};
        enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
        if (!status) status = run_bind(&r, 0);
        assert_int_equal(status, WEFT_ERROR_INPUT);
        if (!strstr(r.error.text, bad[i].expected)) fail_msg("%s\nexpected %s", r.error.text, bad[i].expected);
        run_free(&r);
        free(text);
        free(matrix);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_oneshots),
        cmocka_unit_test(barriers_wait_for_the_last),
        cmocka_unit_test(multishots_start_one_after_another),
        cmocka_unit_test(rounds_of_all_hosts),
        cmocka_unit_test(a_stall_names_those_that_wait),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
