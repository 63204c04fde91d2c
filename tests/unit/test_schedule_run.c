// SPDX-License-Identifier: Apache-2.0
// Schedules on a network: times of an empty network are those of plain flows, messages match by source and tag, and the
// digest is the same on any number of threads.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <unistd.h>

#include "run.h"
#include "weft/placement.h"

static char folder[] = "/tmp/weft-schedule-XXXXXX";

static int setup(void **state) {
    return mkdtemp(folder) ? 0 : -1;
}
static int teardown(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

#define NETWORK "topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 4, rate: 100Gbps, delay: 1us}\n"

static struct run run_goal_on(const char *network, const char *goal, const char *more, uint32_t threads) {
    char path[128], text[1024];
    snprintf(path, sizeof path, "%s/x.goal", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(goal, file);
    fclose(file);
    snprintf(text, sizeof text, "%sworkload: [{kind: goal, file: %s%s}]\n", network, path, more);
    struct run r = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    if (status) {
        r.status = status;
        return r;
    }
    r.outcome = run_again(&r, threads, text);
    return r;
}

static struct run run_goal(const char *goal, const char *more, uint32_t threads) {
    return run_goal_on(NETWORK, goal, more, threads);
}

#define TWO(zero, one) "num_ranks 2\nrank 0 {\n" zero "}\nrank 1 {\n" one "}\n"

/// When a flow of this size has arrived, and when it is acknowledged.
static void flow_of(const char *bytes, const char *start, weft_time_ps *ret_end, weft_time_ps *ret_acked) {
    char text[512];
    snprintf(text, sizeof text, NETWORK "workload: [{kind: flow, src: host-0, dst: host-1, size: %s, start: %s}]\n",
             bytes, start);
    struct run r = run_once(text);
    *ret_end = r.outcome->flow[0].end_ps;
    *ret_acked = r.outcome->flow[0].acked_ps;
    run_free(&r);
}

/// A receive is done when the message has come, a send when it is acknowledged: as a flow of that size and start.
static void times_are_those_of_a_flow(void **state) {
    weft_time_ps end, acked;
    flow_of("100000B", "5us", &end, &acked);
    struct run r = run_goal(TWO("a: calc 5000\nb: send 100000b to 1\nb requires a\n", "recv 100000b from 0\n"), "", 1);
    const struct weft_job_outcome *o = r.outcome->job;
    assert_int_equal(o->rank_end_ps[1], end);
    assert_int_equal(o->rank_end_ps[0], acked);
    assert_int_equal(o->end_ps, acked);
    assert_int_equal(o->ranks_done, 2);
    assert_int_equal(o->iterations, 0);
    run_free(&r);
}

/// Of two messages of a connection each send is done by its own acknowledgement.
static void each_send_has_its_acknowledgement(void **state) {
    static const char receives[] = "recv 8b from 0\nrecv 100000b from 0\n";
    char goal[512];
    snprintf(goal, sizeof goal, "num_ranks 2\nrank 0 {\nsend 8b to 1\nsend 100000b to 1\n}\nrank 1 {\n%s}\n", receives);
    struct run r = run_goal(goal, "", 1);
    assert_int_equal(r.outcome->job->rank_end_ps[0], r.outcome->flow[0].acked_ps);
    run_free(&r);
}

/// Two computes on one stream follow one another, on two they do not; a step that waits for a start does not wait.
static void streams_and_starts(void **state) {
    struct run r = run_goal(TWO("calc 3000\ncalc 4000\n", "calc 3000\na: calc 4000 cpu 1\nb: calc 500 cpu 2\n"
                                                          "b irequires a\n"),
                            "", 1);
    assert_int_equal(r.outcome->job->rank_end_ps[0], 7000000);
    assert_int_equal(r.outcome->job->rank_end_ps[1], 4000000);
    run_free(&r);
}

/// The second message completes the receive of tag 2, although the first one arrived before: by then the rank has
/// computed on.
static void matching_by_tag_and_wildcards(void **state) {
    static const char goal[] =
        TWO("a: send 1000b to 1 tag 1\nb: calc 50000\nc: send 1000b to 1 tag 2\nc requires b\n",
            "a: recv 1000b from 0 tag 2\nb: calc 7000\nb requires a\nc: recv 1000b from -1 tag -1\nd: calc 9000 cpu 1\n"
            "d requires c\n");
    weft_time_ps end, acked;
    flow_of("1000B", "50us", &end, &acked);
    struct run r = run_goal(goal, "", 1);
    assert_int_equal(r.outcome->job->rank_end_ps[1], end + 7000000);
    run_free(&r);
}

/// 5000 messages that are ready at the same time are more than a connection has slots; all arrive, in order.
static void more_messages_than_slots(void **state) {
    enum { MESSAGES = 5000 };
    char *goal = malloc(MESSAGES * 64), *at = goal;
    at += sprintf(at, "num_ranks 2\nrank 0 {\n");
    for (unsigned i = 0; i < MESSAGES; i++)
        at += sprintf(at, "send %ub to 1 tag %u\n", i % 7, i);
    at += sprintf(at, "}\nrank 1 {\n");
    for (unsigned i = MESSAGES; i-- > 0;)
        at += sprintf(at, "recv %ub from 0 tag %u\n", i % 7, i);
    sprintf(at, "}\n");
    struct run r = run_goal(goal, ", qps: 3", 1);
    assert_int_equal(r.outcome->job->ranks_done, 2);
    run_free(&r);
    r = run_goal(goal, ", server: {gpus: 2}", 1); // not over the network
    assert_int_equal(r.outcome->job->ranks_done, 2);
    assert_int_equal(r.workload->flows, 0);
    run_free(&r);
    free(goal);
}

/// NICs are planes, modulo their number: three messages by NICs 1, 2 and 4 of two planes take as long as the two of
/// plane 0 in one network, and each end of a message is that of its send. With one network they share its link.
static void nics_are_planes(void **state) {
    static const char planes[] = "topology: {kind: networks, networks: {a: &a {kind: single, hosts: 2, rate: 100Gbps}, "
                                 "b: *a}}\nhost: {planes: queue_pair}\n",
                      one[] = "topology: {kind: single, hosts: 2, rate: 100Gbps}\n";
    static const char three[] = TWO("send 500000b to 1 nic 1\nsend 500000b to 1 nic 2\nsend 500000b to 1 nic 4\n",
                                    "recv 500000b from 0\nrecv 500000b from 0 nic 3\nrecv 500000b from 0\n"),
                      two[] =
                          TWO("send 500000b to 1\nsend 500000b to 1\n", "recv 500000b from 0\nrecv 500000b from 0\n");
    struct run r = run_goal_on(planes, three, ", hosts: a-*", 1), same = run_goal_on(one, two, "", 1);
    weft_time_ps end = r.outcome->job->end_ps;
    assert_int_equal(r.workload->flows, 2); // a connection for each plane
    assert_true(end < 1.001 * (double)same.outcome->job->end_ps && end > .999 * (double)same.outcome->job->end_ps);
    run_free(&r);
    run_free(&same);
    r = run_goal_on(one, three, "", 1);
    assert_int_equal(r.workload->flows, 1);
    assert_true(r.outcome->job->end_ps > 1.4 * (double)end);
    run_free(&r);
    r = run_goal_on(planes, three, ", hosts: a-*, tag_connections: on", 1);
    assert_int_equal(r.outcome->job->end_ps, end); // one tag
    run_free(&r);
}

static void message_to_itself(void **state) {
    struct run r =
        run_goal(TWO("a: calc 10\nb: send 8b to 0 tag 3\nb requires a\nc: recv 8b from -1 tag 3\n", ""), "", 1);
    assert_int_equal(r.outcome->job->rank_end_ps[0], 10000);
    assert_int_equal(r.outcome->job->rank_end_ps[1], 0);
    run_free(&r);
}

/// Each of eight ranks passes messages round and computes; two ranks a server.
static void same_on_any_number_of_threads(void **state) {
    char goal[16384], *at = goal;
    at += sprintf(at, "num_ranks 8\n");
    for (unsigned r = 0; r < 8; r++) {
        at += sprintf(at, "rank %u {\n", r);
        for (unsigned i = 0; i < 20; i++) {
            at += sprintf(at, "c%u: calc %u\ns%u: send %ub to %u tag %u\ns%u requires c%u\n", i, 100 + r * i, i,
                          5000 + i, (r + 1 + i) % 8, i, i, i);
            at += sprintf(at, "r%u: recv %ub from %s tag %u\n", i, 5000 + i, "-1", i);
            if (i) at += sprintf(at, "c%u requires r%u\n", i, i - 1);
        }
        at += sprintf(at, "}\n");
    }
    uint64_t first = 0;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct run r = run_goal(goal, ", server: {gpus: 2}", threads);
        if (r.error.status) fail_msg("%s", r.error.text);
        uint64_t digest = weft_outcome_digest(r.outcome);
        if (threads == 1) first = digest;
        assert_int_equal(r.outcome->job->ranks_done, 8);
        assert_int_equal(digest, first);
        run_free(&r);
    }
}

static void stall_names_rank_and_step(void **state) {
    struct run r = run_goal(
        TWO("a: recv 1b from 1\nb: send 1b to 1\nb requires a\n", "a: recv 1b from 0\nb: send 1b to 0\nb requires a\n"),
        "", 1);
    assert_int_equal(r.status, WEFT_ERROR_STALL);
    assert_non_null(strstr(r.outcome->stall, "rank 1 on host-1"));
    assert_non_null(strstr(r.outcome->stall, "x.goal:8: receive of 1 bytes from rank 0, tag 0; 2 steps are left"));
    run_free(&r);
}

/// Without iterations, it is what all of it costs.
static void the_cost_of_a_placement(void **state) {
    struct run r = run_goal(TWO("send 8b to 1\nsend 12b to 1\n", "recv 8b from 0\nrecv 12b from 0\n"), "", 1);
    const struct weft_job *job = r.workload->job;
    struct weft_placement_cost cost = weft_placement_cost(job, r.topology, job->host);
    assert_int_equal(cost.bytes, 20);
    assert_int_equal(cost.rack_bytes, 0);
    cost = weft_placement_cost(job, r.topology, (uint32_t[]){0, 4});
    assert_int_equal(cost.rack_bytes, 20);
    run_free(&r);
}

static void what_is_refused(void **state) {
    struct run r = run_goal("num_ranks 9\nrank 0 {\n}\n", "", 1);
    assert_non_null(strstr(r.error.text, "x.goal:3:1: the file ends"));
    run_free(&r);
    r = run_goal(TWO("send 5000000000b to 1\n", "recv 5000000000b from 0\n"), "", 1);
    assert_non_null(strstr(r.error.text, "x.goal:3: rank 0, send of 5000000000 bytes to rank 1, tag 0: a network"));
    run_free(&r);
    r = run_goal(TWO("", ""), ", hosts: host-3..3", 1);
    assert_int_equal(r.status, WEFT_ERROR_INPUT);
    run_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_a_flow), cmocka_unit_test(each_send_has_its_acknowledgement),
        cmocka_unit_test(streams_and_starts),        cmocka_unit_test(matching_by_tag_and_wildcards),
        cmocka_unit_test(more_messages_than_slots),  cmocka_unit_test(nics_are_planes),
        cmocka_unit_test(message_to_itself),         cmocka_unit_test(same_on_any_number_of_threads),
        cmocka_unit_test(stall_names_rank_and_step), cmocka_unit_test(the_cost_of_a_placement),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
