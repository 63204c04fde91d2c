// SPDX-License-Identifier: Apache-2.0
// Expert-parallel traffic without a network, and what of it needs one only to pass through. Figures:
// deepseek-ai/DeepEP, README (bandwidths, times), issues 82, 397 and 493 (NVLink and RDMA bandwidths side by side,
// bytes by time) and csrc/kernels/legacy/internode_ll.cu (a message of 16 B, the token and a scale of 4 B for each 128
// elements).
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "form.h"
#include "own_memory.h"
#include "run.h"
#include "weft/dag.h"
#include "weft/moe.h"

static struct run made;

/// A job on `servers` of 8; nothing is run. `keys`: more of the entry.
static const struct weft_moe *moe_of(uint32_t servers, const char *keys) {
    char *text = text_of("topology: {kind: single, hosts: %u, rate: 400Gbps}\n"
                         "workload: [{kind: deepep, server: {gpus: 8}%s}]\n",
                         8 * servers, keys);
    run_free(&made);
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &made.file, &made.error);
    if (!status) status = run_bind(&made, 0);
    if (status) fail_msg("%s\n%s", made.error.text, text);
    free(text);
    return made.workload->job[0].moe;
}

/// Of `parts` equal parts of e experts, those that k drawn ones are in.
static double parts_of(double parts, double e, double k) {
    double none = 1;
    for (double i = 0; i < k; i++)
        none *= (e - e / parts - i) / (e - i);
    return parts * (1 - none);
}

static void fan_outs(void **state) {
    (void)state;
    static const char form[] = "DeepEP: nodes and ranks that a token goes to";
    const struct weft_moe *m = moe_of(2, ", parts: dispatch");
    form_assert(form, m->token_nodes, 1.993, 0.005);
    form_assert(form, m->token_nodes, parts_of(2, 256, 8), 0.002);
    form_assert(form, m->token_ranks, parts_of(16, 256, 8), 0.002);
    form_assert("DeepEP: NVLink to RDMA, 145.16 / 44.37 (issue 493)", m->token_ranks / m->token_nodes, 3.273, 0.005);
    m = moe_of(4, ", parts: dispatch, format: bf16");
    form_assert(form, m->token_nodes, 3.614, 0.005);
    form_assert(form, m->token_nodes, parts_of(4, 256, 8), 0.002);
    form_assert(form, m->token_ranks, parts_of(32, 256, 8), 0.002);
    form_assert("DeepEP: NVLink to RDMA, 60.35 / 29.92 (issue 82)", m->token_ranks / m->token_nodes, 2.011, 0.005);
    form_assert("DeepEP: bytes of a rank, 6881 us at 30.80 GB/s (issue 397)", (double)m->dispatch_bytes,
                6881e-6 * 30.80e9, 0.005);
    m = moe_of(8, ", parts: dispatch, tokens: 1024");
    form_assert("DeepEP: nodes of a token, the best 4 of 8", m->token_nodes, 3.984, 0.005);
    m = moe_of(8, ", parts: dispatch, tokens: 1024, top_groups: 0");
    form_assert(form, m->token_nodes, parts_of(8, 256, 8), 0.005);
}

static void low_latency_bytes(void **state) {
    (void)state;
    static const char keys[] = ", parts: dispatch, mode: low_latency, tokens: 128, top_groups: 0, notify: off";
    for (uint32_t servers = 2; servers <= 4; servers *= 2) {
        const struct weft_moe *m = moe_of(servers, keys);
        assert_int_equal(m->message_bytes, 7408);
        form_assert("DeepEP: low latency, bytes of a rank, README", (double)m->dispatch_bytes, 7.59e6, 0.005);
        assert_int_equal(m->combine_bytes, 128 * 8 * 14336);
        weft_bytes network = made.workload->bytes - servers * 8 * 8 * (servers - 1) * 256 / servers / 8 * 4;
        form_assert("DeepEP: low latency, share over the network, 1 - 8 / ranks",
                    (double)network / (double)m->dispatch_bytes, servers * 8 * (1 - 1. / servers), 0.01);
    }
}

static void popularity(void **state) {
    (void)state;
    double even = moe_of(2, ", parts: dispatch")->load_most,
           some = moe_of(2, ", parts: dispatch, skew: 0.5")->load_most;
    double much = moe_of(2, ", parts: dispatch, skew: 2")->load_most;
    assert_true(even < 1.02);
    assert_true(some > 1.1 && much > some);
    // With weights of 1 / k^4 nearly every token has the two most popular of 16 experts.
    const struct weft_moe *m = moe_of(2, ", parts: dispatch, experts: 16, top_k: 2, skew: 4, top_groups: 0");
    assert_true(m->load_most > 7);
    // Experts that hardly ever come are drawn all the same.
    m = moe_of(2, ", parts: dispatch, experts: 16, top_k: 16, skew: 4, top_groups: 0, tokens: 16");
    assert_true(m->token_experts == 16 && m->token_ranks == 16);
}

/// The connection to a peer holds no more tokens than the ring has.
static void rings(void **state) {
    (void)state;
    static const struct {
        const char *keys;
        uint32_t tokens;
    } form[] = {
        {", parts: dispatch", 128}, {", parts: dispatch, ring: 64", 64}, {", parts: dispatch, qps_per_peer: 3", 512}};
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        weft_bytes token = moe_of(2, form[i].keys)->message_bytes, most = 0;
        const struct weft_job *job = &made.workload->job[0];
        for (uint32_t c = 0; c < job->connections; c++) {
            const struct weft_connection *k = &job->connection[c];
            weft_bytes held = k->slots * k->message_bytes_max;
            if (k->flow != WEFT_NONE && job->op[job->communicator[k->communicator].op].size > 1 && held > most)
                most = held;
        }
        assert_true(most <= form[i].tokens * token && most > (form[i].tokens - 20) * token * 7 / 8);
    }
}

// --- tokens that are written down ---------------------------------------------------------------------------------

/// Two servers of two GPUs, an expert on each rank. Rank 0 sends three tokens, rank 3 one.
static const char routing[] = "# rank, experts\n"
                              "0 -1 2 3\n" // to node 1: rank 2 (the rail), then 3; -1 is no expert
                              "1 -1 -1\n"  // nowhere
                              "3 3 0\n"    // its own, and node 0: rank 1 (the rail), then 0
                              "0 0 1\n"    // its own node: rank 1
                              "0 3 1\n";   // node 1: by rank 2 to 3; and rank 1

/// Messages and bytes of the DAG, and of them what crosses the network; of operation `op`, with all before it.
struct counted {
    const struct weft_dag *dag;
    uint64_t messages, network;
    weft_bytes bytes, network_bytes;
};

static void count_step(void *context, const struct weft_dag_cursor *lane, const struct weft_dag_step *step) {
    struct counted *c = context;
    (void)lane;
    for (uint32_t k = 0; k < step->sends; k++) {
        bool crosses = weft_dag_connection_at(c->dag, step->send[k]).flow != WEFT_NONE;
        c->messages++;
        c->bytes += step->bytes;
        c->network += crosses;
        c->network_bytes += crosses ? step->bytes : 0;
    }
}

static char folder[] = "/tmp/weft-deepep-XXXXXX";

static struct counted count_small(const char *keys) {
    char *text = text_of(
        "topology: {kind: single, hosts: 4, rate: 400Gbps}\n"
        "workload: [{kind: deepep, server: {gpus: 2}, routing: %s/tokens, experts: 4, top_k: 2, notify: off, %s}]\n",
        folder, keys);
    run_free(&made);
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &made.file, &made.error);
    if (!status) status = run_bind(&made, 0);
    if (status) fail_msg("%s\n%s", made.error.text, text);
    free(text);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    struct weft_dag dag = weft_dag_of(made.workload, arena);
    struct counted c = {.dag = &dag};
    for (uint64_t seed = 0; seed < 4; seed++) {
        c = (struct counted){.dag = &dag};
        struct weft_dag_result r = weft_dag_execute(&dag, &(struct weft_dag_options){seed, count_step, &c});
        assert_int_equal(r.stuck, 0);
    }
    weft_arena_free(arena);
    return c;
}

static void tokens_by_hand(void **state) {
    (void)state;
    // A normal token: 7168 + 56 x 4, from where it is 8, two experts 2 x 8 and weights 2 x 4, in 16 B: 7424; back
    // 14352.
    struct counted c = count_small("mode: normal, parts: dispatch, channels: 1");
    assert_int_equal(c.network, 2); // two tokens in one chunk; one
    assert_int_equal(c.network_bytes, 3 * 7424);
    assert_int_equal(c.messages, 5);
    assert_int_equal(c.bytes, (3 + 2 + 2 + 1) * 7424); // to rank 3 two together, to rank 1 two together, to rank 0
    c = count_small("mode: normal, parts: dispatch, channels: 3"); // a channel for each token of rank 0
    assert_int_equal(c.network, 3);
    assert_int_equal(c.messages, 3 + 5);
    assert_int_equal(c.bytes, (3 + 5) * 7424);
    c = count_small("mode: normal, parts: combine, channels: 1");
    assert_int_equal(c.network, 2);
    assert_int_equal(c.network_bytes, 3 * 14352);
    assert_int_equal(c.bytes, (3 + 2 + 2 + 1) * 14352);
    c = count_small("mode: normal, parts: dispatch, channels: 1, nvlink_chunk: 1");
    assert_int_equal(c.messages, 2 + 5);

    // Low latency: 2 to 3 other ranks with each token and expert, and a count from each rank to each other one's
    // expert.
    c = count_small("mode: low_latency, parts: dispatch");
    assert_int_equal(c.network, 4 + 8);
    assert_int_equal(c.network_bytes, 4 * 7408 + 8 * 4);
    assert_int_equal(c.messages, 6 + 12);
    c = count_small("mode: low_latency, parts: combine");
    assert_int_equal(c.network_bytes, 4 * 14336 + 8 * 4);
    assert_int_equal(c.bytes, 6 * 14336 + 12 * 4);

    // All-to-all: tokens alone, those for a rank in one message.
    c = count_small("mode: all_to_all, parts: dispatch");
    assert_int_equal(c.network, 3); // 0 to 2 one, 0 to 3 two, 3 to 0 one
    assert_int_equal(c.network_bytes, 4 * 7392);
    assert_int_equal(c.bytes, 6 * 7392);
    c = count_small("mode: all_to_all, parts: combine");
    assert_int_equal(c.bytes, 6 * 14336);
    c = count_small("mode: all_to_all, parts: both");
    assert_int_equal(c.bytes, 6 * (7392 + 14336));
}

/// Every byte of every connection is sent, in every mode and with any number of queue pairs, on any number of threads.
static void runs_end(void **state) {
    (void)state;
    static const char *const keys[] = {"mode: normal, channels: 5",
                                       "mode: normal, qps_per_peer: 2, skew: 1",
                                       "mode: normal, ring: 40, compute: 3us",
                                       "mode: low_latency",
                                       "mode: low_latency, qps_per_peer: 1, skew: 1",
                                       "mode: all_to_all, iterations: 2"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *text = text_of("topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
                             "workload: [{kind: deepep, tokens: 60, experts: 32, server: {gpus: 4}, %s}]\n",
                             keys[i]);
        struct run r = run_text(text);
        assert_int_equal(r.status, WEFT_OK);
        for (uint32_t f = 0; f < r.workload->flows; f++)
            assert_int_equal(r.outcome->flow[f].delivered_bytes, r.workload->flow[f].bytes);
        run_free(&r);
        free(text);
    }
}

// --- what is refused ----------------------------------------------------------------------------------------------

static void bad_input(void **state) {
    (void)state;
    static const struct {
        const char *keys, *tokens, *message;
    } bad[] = {
        {"experts: 6", "", "experts: 6 cannot be divided among 4 ranks; expected a multiple"},
        {"experts: 8, groups: 3", "", "groups: 8 experts cannot be divided among 3 groups; expected a divisor"},
        {"experts: 8, top_k: 8, top_groups: 1", "", "top_k: 8 experts, and 1 groups have 4; expected at most as many"},
        {"ring: 30", "", "ring: 30 tokens for chunks of 20; expected two chunks at least"},
        {"nvlink_ring: 50", "", "nvlink_ring: 50 tokens for chunks of 36; expected two chunks at least"},
        {"experts: 8, mode: low_latency, tokens: 1048576", "",
         "tokens: 1048576 of 4 ranks, each a message to 8 experts"},
        {"mode: low_latency, ring: 64", "", "ring: has no effect in mode low_latency"},
        {"mode: all_to_all, qps_per_peer: 2", "", "qps_per_peer: has no effect in mode all_to_all"},
        {"slots: 8", "", "slots: has no effect in mode normal"},
        {"hosts: host-0..2", "", "3 ranks are not whole servers of 2 GPUs"},
        {"tokens: 4, routing: tokens", "", "tokens: beside routing, which says it; expected one of the two"},
        {"routing: none", "", "none"},
        {"experts: 4, top_k: 2, routing: tokens", "", "has no token"},
        {"experts: 4, top_k: 2, routing: tokens", "0 1\n\n4 1\n", "tokens:3"},
        {"experts: 4, top_k: 2, routing: tokens", "0 1\n0 4\n", "tokens:2"},
        {"experts: 4, top_k: 2, routing: tokens", "0 1 2 3\n", "more than 2 experts; expected top_k"},
        {"experts: 4, top_k: 2, routing: tokens", "0 1 1\n", "expert 1 twice; expected different ones"},
        {"experts: 4, top_k: 2, routing: tokens", "0\n", "a token without experts"},
        {"experts: 4, top_k: 2, routing: tokens", "0 x\n", "tokens:1"},
        {"experts: 4, top_k: 2, routing: tokens", "0 -10\n", "tokens:1"},
        {"experts: 4, top_k: 2, routing: tokens", "0 -1\n", "has no token"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char path[64], *text = text_of("topology: {kind: single, hosts: 4}\n"
                                       "workload: [{kind: deepep, server: {gpus: 2}, %s}]\n",
                                       bad[i].keys);
        snprintf(path, sizeof path, "%s/tokens", folder);
        FILE *file = fopen(path, "w");
        fputs(bad[i].tokens, file);
        fclose(file);
        snprintf(path, sizeof path, "%s/t.yaml", folder);
        struct run r = {0};
        enum weft_status status = weft_scenario_file_parse(path, text, strlen(text), NULL, 0, &r.file, &r.error);
        if (!status) status = run_bind(&r, 0);
        if (status != WEFT_ERROR_INPUT || !strstr(r.error.text, bad[i].message))
            fail_msg("%s: %s; expected %s", bad[i].keys, status ? r.error.text : "accepted", bad[i].message);
        if (!strstr(r.error.text, "t.yaml:2:") && !strstr(r.error.text, "/tokens:"))
            fail_msg("%s has no place", r.error.text);
        run_free(&r);
        assert_false(weft_memory_has_cleanups()); // the file is closed
        free(text);
    }
}

static int make_folder(void **state) {
    (void)state;
    char path[64];
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/tokens", folder);
    FILE *file = fopen(path, "w");
    fputs(routing, file);
    return fclose(file);
}

static int remove_folder(void **state) {
    (void)state;
    char path[64];
    run_free(&made);
    snprintf(path, sizeof path, "%s/tokens", folder);
    unlink(path);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fan_outs),
        cmocka_unit_test(low_latency_bytes),
        cmocka_unit_test(popularity),
        cmocka_unit_test(rings),
        cmocka_unit_test(tokens_by_hand),
        cmocka_unit_test(runs_end),
        cmocka_unit_test_setup_teardown(bad_input, open_memory, close_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
