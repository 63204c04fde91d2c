// SPDX-License-Identifier: Apache-2.0
// Random jobs on networks in which nothing is lost: collectives over groups, pipelines, placement, admission, queue
// pairs, routes. Whatever they are, every rank ends, every byte that a connection has is delivered once, what is in
// flight stays within its bound, every message has a clear-to-send if the job is admitted, and the digest is that of
// one thread with two and three.
// Arguments: how many runs, from which seed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models.h"
#include "random_text.h"
#include "run.h"

static uint64_t runs = 50, first_seed = 1;

static const char *any_collective(struct text *t) {
    return general_collective((uint32_t)draw(t, general_collectives()))->name;
}

static void say_operation(struct text *t, const char *over) {
    fprintf(t->file,
            "{compute: %s, size: %s, %s%s, times: %" PRIu64 ", overlap: %s, collective: {kind: %s, channels: %" PRIu64
            ", chunk: 8KB, slice: %s, slots: %s}}, ",
            ONE_OF(t, "0s", "3us", "50us"), ONE_OF(t, "1B", "7KB", "64KB", "100003B"), over ? "over: " : "",
            over ? over : "", 1 + draw(t, 3), ONE_OF(t, "off", "off", "on"), any_collective(t), 1 + draw(t, 3),
            ONE_OF(t, "8KB", "3KB"), ONE_OF(t, "4", "8"));
}

/// 8 ranks, in servers of `gpus`, of some of the hosts.
static void say_job(struct text *t, uint64_t gpus, uint64_t number) {
    fprintf(t->file,
            "  - {kind: job, group: job-%" PRIu64 ", server: {gpus: %" PRIu64
            "}, ranks: 8, occupied: {hosts: host-3}, placement: %s, qps: %" PRIu64
            ", qp_scaling: %s, admission: %s, cts_priority: %s, start: %s, iterations: %" PRIu64 ", slow_rank: %" PRIu64
            ", slow_factor: %s, dimensions: [a:2, b:4], operations: [",
            number, gpus, ONE_OF(t, "linear", "random", "rack_packed", "min_cut"), 1 + draw(t, 4),
            ONE_OF(t, "round_robin", "split"), ONE_OF(t, "cts", "cts", "none"), ONE_OF(t, "3", "6"),
            ONE_OF(t, "0s", "7us"), 1 + draw(t, 3), draw(t, 8), ONE_OF(t, "1", "3"));
    if (draw(t, 3) == 0) {
        fprintf(t->file, "{pipeline: {over: b, microbatches: %" PRIu64 ", size: %s, forward: [", 1 + draw(t, 5),
                ONE_OF(t, "1B", "20KB"));
        say_operation(t, "a");
        fprintf(t->file, "], backward: [");
        say_operation(t, "a");
        fprintf(t->file, "]}}, ");
    }
    for (uint64_t n = 1 + draw(t, 3); n; n--)
        say_operation(t, ONE_OF(t, "a", "b", "\"\""));
    fprintf(t->file, "]}\n");
}

static char *make_text(uint64_t seed) {
    char *at;
    size_t size;
    struct text t = {.file = open_memstream(&at, &size), .random = weft_random_stream(seed, 9, WEFT_RANDOM_WORKLOAD)};
    uint64_t gpus = UINT64_C(1) << draw(&t, 3);
    if (draw(&t, 2))
        fprintf(t.file, "topology: {kind: leaf_spine, leaves: 4, spines: %" PRIu64 ", hosts_per_leaf: 8, rate: %s}\n",
                1 + draw(&t, 4), ONE_OF(&t, "100Gbps", "400Gbps"));
    else
        fprintf(t.file, "topology: {kind: ai_zone, zones: 2, racks: 2, gpus_per_rack: 8, uplinks: %" PRIu64 "}\n",
                2 + draw(&t, 3));
    const char *route = ONE_OF(&t, "ecmp", "e_ecmp", "path_pinning", "spray", "{kind: spray, order: random}",
                               "{kind: flowlet, gap: 1us, entries: 64}", "load_aware",
                               "{kind: te, interval: 20us, collector_delay: 5us, programming_delay: 5us}");
    fprintf(t.file, "switch: {route: %s, queueing: %s, buffer: {kind: static, size: 4MB, xoff: %s, xon: 20KB}}\n",
            route, ONE_OF(&t, "oq", "voq"), ONE_OF(&t, "30KB", "1MB"));
    fprintf(t.file, "host: {source_port: %s, out_of_order: accept, cc: %s, work_request: %s, mtu: %s}\n",
            ONE_OF(&t, "queue_pair", "host_pair"), ONE_OF(&t, "none", "dcqcn"), ONE_OF(&t, "0ns", "100ns"),
            ONE_OF(&t, "1000B", "4096B"));
    fprintf(t.file, "run: {seed: %" PRIu64 "}\nworkload:\n", seed);
    for (uint64_t n = 1 + draw(&t, 2), k = 0; k < n; k++)
        say_job(&t, gpus, k);
    fclose(t.file);
    return at;
}

/// Messages over the network of all its connections in the whole run.
static uint64_t messages_of(const struct weft_job *job) {
    uint64_t messages = 0;
    for (uint32_t i = 0; i < job->connections; i++) {
        const struct weft_connection *c = &job->connection[i];
        for (uint32_t op = 0; c->flow != WEFT_NONE && op < job->ops; op++)
            if (job->op[op].name && job->op[op].communicator == c->communicator)
                messages += (uint64_t)c->messages[job->op[op].volume] * job->iterations;
    }
    return messages;
}

static void check_job(const struct weft_job *job, const struct weft_job_outcome *o) {
    assert_int_equal(o->ranks_done, job->ranks);
    assert_int_equal(o->sender_wait.messages, messages_of(job));
    assert_int_equal(o->cts_wait.messages, job->unadmitted ? 0 : o->sender_wait.messages);
    assert_true(o->in_flight_bytes_max <= o->in_flight_bytes_bound);
}

static void one_run(uint64_t seed) {
    char *text = make_text(seed);
    struct run r = run_once(text);
    if (r.status != WEFT_OK) {
        fputs(text, stderr);
        fail_msg("seed %" PRIu64 ": %s", seed, r.outcome && r.outcome->stall ? r.outcome->stall : "refused");
    }
    run_assert_complete(&r);
    assert_int_equal(run_drops(&r), 0);
    assert_int_equal(r.outcome->server_sent_bytes, r.outcome->server_received_bytes);
    for (uint32_t j = 0; j < r.workload->jobs; j++)
        check_job(&r.workload->job[j], &r.outcome->job[j]);
    run_assert_same(&r, 2, text);
    run_assert_same(&r, 3, text);
    run_free(&r);
    free(text);
}

static void any_jobs(void **state) {
    (void)state;
    for (uint64_t i = 0; i < runs; i++)
        one_run(first_seed + i);
}

int main(int argc, char **argv) {
    if (argc > 1) runs = strtoull(argv[1], NULL, 10);
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_jobs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
