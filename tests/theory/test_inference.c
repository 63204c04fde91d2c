// SPDX-License-Identifier: Apache-2.0
// Inference: bytes of keys and values, who sends what to whom, and when tokens come, against closed forms.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "form.h"
#include "import_files.h"
#include "run.h"
#include "weft/inference.h"
#include "weft/report.h"

#define SINGLE(hosts) "hardware: ideal\ntopology: {kind: single, hosts: " #hosts ", rate: 400Gbps, delay: 500ns}\n"

static const struct weft_inference *service(const struct run *r) {
    assert_int_equal(r->workload->inferences, 1);
    return &r->workload->inference[0];
}

static struct weft_service_stats stats_of(const struct run *r, struct weft_arena *arena) {
    const struct weft_run run = {
        .scenario = r->scenario, .topology = r->topology, .workload = r->workload, .outcome = r->outcome};
    return weft_report_service(&run, 0, arena);
}

/// Everything short of running.
static struct run run_bind_only(const char *text) {
    struct run r = {0};
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    if (status) fail_msg("%s\n%s", r.error.text, text);
    return r;
}

/// What weft says that is wrong with a workload entry.
static const char *refusal(const char *entry) {
    static char said[1024];
    struct run r = {0};
    char *text = text_of(SINGLE(16) "workload:\n- {kind: inference, %s}\n", entry);
    enum weft_status status = weft_scenario_file_parse("t.yaml", text, strlen(text), NULL, 0, &r.file, &r.error);
    if (!status) status = run_bind(&r, 0);
    snprintf(said, sizeof said, "%s", status ? r.error.text : "nothing");
    run_free(&r);
    free(text);
    return said;
}

// BF16: 2 B x layers x (2 x heads of keys and values x width, or of MLA 512 + 64). Llama 3: arXiv 2407.21783, table 3;
// DeepSeek-V3: arXiv 2505.09343, table 1, which has 70.272, 327.680 and 516.096 KB for the last three.
static void bytes_of_a_token(void **state) {
    static const struct {
        const char *model;
        double bytes;
    } row[] = {{"llama3-8b", 131072},  {"qwen2.5-72b", 327680}, {"opt-66b", 2359296},
               {"deepseek-v3", 70272}, {"llama3-70b", 327680},  {"llama3-405b", 516096}};
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        struct run r = RUN(run_once,
                           SINGLE(2) "workload: [{kind: inference, model: %s, arrivals: {requests: 1, input: 512}, "
                                     "gpu: {memory: 100TB}, transfer: {merge: 0}}]\n",
                           row[i].model);
        form_assert("Keys and values of a token (2 B x layers x numbers)", (double)service(&r)->token_bytes,
                    row[i].bytes, 0);
        assert_int_equal(service(&r)->request[0].bytes, 512 * service(&r)->token_bytes);
        assert_int_equal(r.workload->flow[0].bytes, 512 * service(&r)->token_bytes);
        run_free(&r);
    }
}

// vLLM: 16 tokens of a layer and rank, 8 KiB of Llama 3 70B on 8 GPUs; of MLA 64 tokens, 73,728 B. The mean prompt of
// Mooncake's conversations, 12,035 tokens, is 753 blocks in each of 80 layers: 60,240 messages a rank.
static void blocks_are_as_published(void **state) {
    struct run r = RUN(run_bind_only, "%s",
                       SINGLE(16) "workload: [{kind: inference, model: llama3-70b, prefill: {tp: 8}, decode: {tp: 8}, "
                                  "arrivals: {requests: 1, input: 12035}}]\n");
    assert_int_equal(r.workload->flows, 8);
    assert_int_equal(r.workload->flow[0].message_bytes, 8192);
    assert_int_equal(r.workload->flow[0].bytes / r.workload->flow[0].message_bytes, 60240);
    assert_int_equal(r.workload->flow[0].verb, WEFT_VERB_WRITE);
    run_free(&r);
    r = RUN(run_bind_only, "%s",
            SINGLE(2) "workload: [{kind: inference, model: deepseek-v3, decode: {ep: 64}, gpu: {weight_bytes: 1}, "
                      "arrivals: {requests: 1, input: 640}}]\n");
    assert_int_equal(r.workload->flow[0].message_bytes, 73728);
    assert_int_equal(r.workload->flow[0].bytes, 73728 * 10 * 61);
    run_free(&r);
    // four blocks a message, the last of a layer with one: 3 messages a layer for 9 blocks, as large as their mean
    r = RUN(run_bind_only, "%s",
            SINGLE(16) "workload: [{kind: inference, model: llama3-70b, prefill: {tp: 8}, decode: {tp: 8}, arrivals: "
                       "{requests: 1, input: 144}, transfer: {merge: 4}}]\n");
    assert_int_equal(r.workload->flow[0].message_bytes, 3 * 8192);
    assert_int_equal(r.workload->flow[0].bytes, 9 * 8192 * 80);
    run_free(&r);
}

/// Bytes from each prefill host (rows) to each decode host.
static void assert_lanes(const char *model, uint32_t prefill, uint32_t decode, const double *part) {
    struct run r = RUN(run_bind_only,
                       SINGLE(16) "workload: [{kind: inference, model: %s, gpu: {memory: 100TB}, arrivals: "
                                  "{requests: 1, input: 512}, transfer: {merge: 0}, prefill: {hosts: host-0..7, "
                                  "tp: %u}, decode: {hosts: host-8..15, tp: %u, instances: 1}}]\n",
                       model, prefill, decode);
    double whole = 512 * 131072.0;
    for (uint32_t f = 0; f < r.workload->flows; f++) {
        const struct weft_flow *flow = &r.workload->flow[f];
        double expected = part[flow->src * decode + flow->dst - 8] * whole;
        assert_true(fabs((double)flow->bytes - expected) < 1);
    }
    uint32_t expected = 0;
    for (uint32_t i = 0; i < prefill * decode; i++)
        expected += part[i] > 0;
    assert_int_equal(r.workload->flows, expected);
    run_free(&r);
}

// Eight heads of keys and values: ranks on both sides that differ in number split them, and share one if there are more
// ranks than heads.
static void other_ranks_split_heads(void **state) {
    assert_lanes("llama3-8b", 2, 2, (double[]){.5, 0, 0, .5});
    assert_lanes("llama3-8b", 2, 4, (double[]){.25, .25, 0, 0, 0, 0, .25, .25});
    assert_lanes("llama3-8b", 4, 2, (double[]){.25, 0, .25, 0, 0, .25, 0, .25});
    // two heads: four prefill ranks hold each twice, and serve both decode ranks
    assert_lanes("{kind: llama3-8b, kv_heads: 2, head_dim: 512}", 4, 2, (double[]){.5, 0, 0, 0, 0, 0, 0, .5});
    assert_non_null(strstr(refusal("model: llama3-8b, prefill: {tp: 3, instances: 1}, decode: {tp: 2}"),
                           "t.yaml:4:3: tp: 3 and 2 ranks cannot share 8 heads"));
}

// Prefill: 2 x parameters x tokens / (GPUs x peak x MFU). Transfer: bytes over the NICs. First step: weights, and keys
// and values, over memory bandwidth. A request alone waits for nothing else.
static void first_token_is_the_sum_of_its_parts(void **state) {
    struct run r = run_text(SINGLE(16) "workload: [{kind: inference, model: llama3-70b, prefill: {tp: 8}, decode: {tp: "
                                       "8}, arrivals: {requests: 1, input: 4096, output: 100}, transfer: {merge: 0, "
                                       "kind: push}, gpu: {peak: 1000, mfu: 0.5, hbm: 4, hbm_part: 0.5}}]\n");
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_service_stats s = stats_of(&r, arena);
    // 2 x 128256 x 8192 + 80 x (2 x 8192 x 128 x 72 + 3 x 8192 x 28672)
    double parameters = 2 * 128256.0 * 8192 + 80 * (2 * 8192.0 * 128 * 72 + 3 * 8192.0 * 28672);
    double prefill = 2 * parameters * 4096 / (8 * 1000e12 * .5), kv = 4096 * 327680.0;
    double transfer = kv / 8 * 8 * 4178 / 4096 / 400e9, bandwidth = 8 * 4e12 * .5;
    double step = (2 * parameters + kv) / bandwidth, later = (2 * parameters + kv + 327680 * 50.) / bandwidth;
    form_assert("Prefill (2 x parameters x tokens over FLOP/s)", s.prefill.mean, prefill * 1e12, 1e-6);
    form_assert("Transfer of keys and values (bytes over NICs)", s.exposed.mean, transfer * 1e12, .001);
    form_assert("First token (prefill + transfer + a step)", s.ttft.mean, (prefill + transfer + step) * 1e12, .001);
    form_assert("Later tokens (weights, keys and values over memory bandwidth)", s.tpot.mean, later * 1e12, 1e-5);
    assert_true(s.queue.max == 0 && s.wait.max == 0);
    weft_arena_free(arena);
    run_free(&r);
}

// Sent in pieces while prefill goes on, what is left after it is max(0, transfer - prefill) + the last piece, where the
// first piece is not yet there for the transfer to begin (Mooncake, FAST 2025, section 5.2). 80 layers in 80, 8 and 1
// pieces; a peak at which prefill is shorter than the transfer, and one at which it is longer.
static void pieces_hide_the_transfer(void **state) {
    static const struct {
        unsigned pieces;
        double peak;
    } row[] = {{80, 200}, {8, 200}, {1, 200}, {80, 100000}, {8, 100000}, {1, 100000}};
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        struct run r = RUN(run_once,
                           SINGLE(2) "workload: [{kind: inference, model: {kind: llama3-70b, hidden: 1024, heads: 8}, "
                                     "arrivals: {requests: 1, input: 1024}, gpu: {peak: %g, mfu: 1}, transfer: {merge: "
                                     "0, kind: push, pieces: %u}}]\n",
                           row[i].peak, row[i].pieces);
        const struct weft_inference *x = service(&r);
        double prefill = (double)(x->request[0].prefilled_ps - x->request[0].prefill_ps), n = row[i].pieces;
        double sent = (double)x->request[0].bytes * 4178 / 4096 * 20, left = sent / n;   // 20 ps a byte
        double late = prefill / n + sent - prefill, way = 2 * 500e3 + 300e3 + 4178 * 20; // two links and a switch
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
        form_assert("What of a transfer by layers comes after prefill", stats_of(&r, arena).exposed.mean,
                    (late > left ? late : left) + way, .001);
        weft_arena_free(arena);
        run_free(&r);
    }
}

// DeepSeek-V3's bound, arXiv 2505.09343, section 2.3.2: two microbatches of 32 tokens to 9 experts, 1 B and 2 B a
// number, at 50 GB/s: 120.96 us each, x 61 layers x 2: 14.76 ms a token; at 900 GB/s 0.82 ms. The paper's 7000 numbers
// for a width of 7168, and all 61 layers, are its own; with 7168 and the 58 layers with experts it is 14.37 ms.
static void deepseek_is_bound_by_its_experts(void **state) {
    static const struct {
        const char *model, *rate;
        double ms;
    } row[] = {{"hidden: 7000, dense_layers: 0", "400Gbps", 14.757},
               {"hidden: 7168", "400Gbps", 58 * 64 * 9 * 7168 * 3 / 50e9 * 1e3},
               {"hidden: 7000, dense_layers: 0", "7200Gbps", .8198}};
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        // memory that is not what bounds it, and all requests at once
        struct run r =
            RUN(run_once,
                SINGLE(2) "workload: [{kind: inference, model: {kind: deepseek-v3, %s}, arrivals: {requests: "
                          "64, rate: 1000000000, input: 64, output: 1000}, decode: {batch: 64, ep: 128, "
                          "ep_rate: %s}, gpu: {peak: 1000000, hbm: 1000}, transfer: {merge: 0}}]\n",
                row[i].model, row[i].rate);
        struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
        form_assert("DeepSeek-V3's bound of a token (experts over network)", stats_of(&r, arena).tpot.p50 * 1e-9,
                    row[i].ms, .02);
        weft_arena_free(arena);
        run_free(&r);
    }
}

// The prefill pool is a queue with as many servers as instances, and times that are all the same: M/D/1 with one, whose
// mean wait is rho / (2 (1 - rho)) of a service (Pollaczek and Khinchine).
static void prefill_is_a_queue(void **state) {
    struct run r = run_bind_only(SINGLE(
        2) "workload: [{kind: inference, model: {kind: own, hidden: 512}, arrivals: {requests: 200000, rate: 20, "
           "input: 1000, output: 1}, gpu: {peak: 2, mfu: 1}, transfer: {merge: 0}, decode: {batch: 1048576}}]\n");
    const struct weft_inference *x = service(&r);
    double service_s = 2 * x->active * 1000 / 2e12, wait = 0, rho = 20 * service_s;
    assert_true(rho > .5 && rho < .8);
    for (uint32_t i = 0; i < x->requests; i++)
        wait += (double)(x->request[i].prefill_ps - x->request[i].arrival_ps) * 1e-12 / x->requests;
    form_assert("Wait for prefill (M/D/1)", wait, rho / (2 * (1 - rho)) * service_s, .03);
    run_free(&r);
}

// What an instance has of a prefix is neither computed nor sent again, in whole blocks of 512 tokens.
static void prefixes_are_kept(void **state) {
    const char *path = put("t.jsonl", "{\"timestamp\": 0, \"input_length\": 1500, \"output_length\": 5, \"hash_ids\": "
                                      "[1, 2, 3]}\n{\"timestamp\": 60000, \"input_length\": 1600, \"output_length\": "
                                      "5, \"hash_ids\": [1, 2, 7, 8]}\n{\"timestamp\": 120000, \"input_length\": 1024,"
                                      " \"output_length\": 5, \"hash_ids\": [1, 2]}\n");
    static const struct {
        const char *cache;
        uint32_t tokens[3];
    } row[] = {{"0", {0, 0, 0}}, {"10000", {0, 1024, 1023}}, {"1024", {0, 0, 0}}};
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        struct run r = RUN(run_once,
                           SINGLE(2) "workload: [{kind: inference, model: llama3-8b, arrivals: {kind: mooncake, file: "
                                     "%s}, prefill: {cache: %s}, decode: {cache: %s}, transfer: {merge: 0}}]\n",
                           path, row[i].cache, row[i].cache);
        for (uint32_t k = 0; k < 3; k++) {
            const struct weft_inference_request *q = &service(&r)->request[k];
            assert_int_equal(q->reused, row[i].tokens[k]);
            assert_int_equal(q->kept, row[i].tokens[k]);
            assert_int_equal(q->bytes, (q->input - q->kept + 15) / 16 * 16 * UINT64_C(131072));
            assert_int_equal(q->arrival_ps, k * 60 * WEFT_PS_PER_S);
        }
        run_free(&r);
    }
}

// Two decode instances beside each of two prefill instances in a rack, uplinks of a tenth: the router of the network
// stays in the rack, and in turn half goes across.
static void the_network_is_seen(void **state) {
    static const char *const routers[] = {"network", "round_robin"};
    for (unsigned k = 0; k < 2; k++) {
        struct run r = RUN(run_bind_only,
                           "hardware: ideal\ntopology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 4, "
                           "rate: 400Gbps, spine_rate: 40Gbps}\nworkload: [{kind: inference, model: llama3-8b, "
                           "prefill: {hosts: \"host-0,host-4\"}, decode: {hosts: \"host-1,host-2,host-5,host-6\"}, "
                           "arrivals: {requests: 400, rate: 3, output: 2}, transfer: {merge: 0}, router: %s}]\n",
                           routers[k]);
        uint32_t across = 0;
        for (uint32_t f = 0; f < r.workload->flows; f++)
            across += r.workload->flow[f].src / 4 != r.workload->flow[f].dst / 4;
        assert_true(k ? across > 150 && across < 250 : !across);
        run_free(&r);
    }
}

// Between GPUs of a server there are no flows: 2048 tokens of Llama 3 8B over NVLink at 3.6 Tbit/s.
static void a_server_needs_no_network(void **state) {
    struct run r = RUN(run_once, "%s",
                       SINGLE(2) "workload: [{kind: inference, model: llama3-8b, server: {gpus: 2, latency: 1us}, "
                                 "arrivals: {requests: 1, input: 2048}}, {kind: flow, src: host-0, dst: host-1}]\n");
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    assert_int_equal(r.workload->flows, 1);
    form_assert("Transfer within a server", stats_of(&r, arena).exposed.mean, 2048.0 * 131072 * 8 / 3.6 + 1e6, 1e-5);
    weft_arena_free(arena);
    run_free(&r);
}

static void bad_input_has_its_place(void **state) {
    static const struct {
        const char *kind, *text, *said;
    } trace[] = {
        {"mooncake", "", "t.txt:1:1: no request is in"},
        {"mooncake", "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1}\n\n",
         "t.txt:2:1: an empty line; expected a request"},
        {"mooncake", "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 1}\n{\"timestamp\": 1\n",
         "t.txt:2:1: "},
        {"mooncake", "{\"timestamp\": 0, \"input_length\": 5}\n", "t.txt:1:1: output_length is missing"},
        {"mooncake", "{\"timestamp\": 0, \"input_length\": 5.5, \"output_length\": 1}\n",
         "t.txt:1:1: input_length is not a whole number"},
        {"mooncake", "{\"timestamp\": 0, \"input_length\": 0, \"output_length\": 1}\n", "t.txt:1:1: input_length is 0"},
        {"mooncake",
         "{\"timestamp\": 9, \"input_length\": 5, \"output_length\": 1}\n{\"timestamp\": 8, "
         "\"input_length\": 5, \"output_length\": 1}\n",
         "t.txt:2:1: the request is earlier"},
        {"mooncake", "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 1, \"hash_ids\": [4]}\n",
         "t.txt:1:1: hash_ids has 1 entries, and input_length is 600; expected a list of 2"},
        {"mooncake", "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 1, \"hash_ids\": [4, null]}\n",
         "t.txt:1:1: an entry of hash_ids is not a whole number"},
        {"azure", "TIMESTAMP,ContextTokens\n", "t.txt:1:"},
        {"azure", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,,5\n", "t.txt:2:"},
        {"azure", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-02-29 18:15:46.68,7,5\n", "t.txt:2:1: "},
        {"azure", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-13-16 18:15:46.68,7,5\n", "t.txt:2:1: "},
        {"azure", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,7,5\n2023-11-16 18:15:45,7,5\n",
         "t.txt:3:1: the request is earlier"},
        {"azure", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,7,0\n", "t.txt:2:26: Gener"},
    };
    for (unsigned i = 0; i < sizeof trace / sizeof *trace; i++) {
        char entry[512];
        snprintf(entry, sizeof entry, "model: llama3-8b, arrivals: {kind: %s, file: %s}", trace[i].kind,
                 put("t.txt", trace[i].text));
        const char *said = refusal(entry);
        if (!strstr(said, trace[i].said)) fail_msg("%s\n%s; expected %s", trace[i].text, said, trace[i].said);
    }
    static const struct {
        const char *entry, *said;
    } row[] = {
        {"model: llama3-7b", "no job_model \"llama3-7b\""},
        {"model: llama3-405b", "a GPU has 812 GB of weights"},
        {"model: {kind: llama3-8b, top_k: 9, experts: 8}", "model.top_k: 9 of 8 experts"},
        {"model: llama3-8b, arrivals: {kind: azure}", "file is not set"},
        {"model: llama3-8b, arrivals: {file: x}", "file: has no effect without kind: mooncake or kind: azure"},
        {"model: llama3-8b, prefill: {tp: 16}", "prefill: 1 x 16 GPUs, and its hosts have 8"},
        {"model: llama3-8b, prefill: {hosts: host-3}, decode: {hosts: host-3}", "host-3 is in both pools"},
        {"model: llama3-8b, transfer: {pieces: 33}", "33 parts of 32 layers"},
        {"model: llama3-8b, decode: {ep: 8}", "decode.ep: 8 GPUs share 0 experts"},
        {"model: llama3-8b, qps: 2", "qps is above 1"},
        {"model: llama3-8b, transfer: {merge: 1048576}", "transfer.merge: a message of"},
        {"model: llama3-8b, arrivals: {input: 1000000, longest: 1000000, requests: 1}", "a request of 1000000 + 129"},
        {"model: llama3-8b, arrivals: {rate: 0.000001}", "starts flows after"},
    };
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        const char *said = refusal(row[i].entry);
        if (!strstr(said, row[i].said) || !strstr(said, "t.yaml:4")) fail_msg("%s: %s", row[i].entry, said);
    }
}

// Requests, routes and ports are those of the seed.
static void a_seed_says_it_all(void **state) {
    static const char text[] = SINGLE(16) "workload: [{kind: inference, model: llama3-8b, arrivals: {requests: 50, "
                                          "input_spread: 1, sessions: 3}, decode: {cache: 9000}}]\nrun: {seed: %u}\n";
    struct run a = RUN(run_bind_only, text, 1), b = RUN(run_bind_only, text, 1), c = RUN(run_bind_only, text, 2);
    assert_int_equal(a.workload->flows, b.workload->flows);
    assert_memory_equal(a.workload->flow, b.workload->flow, a.workload->flows * sizeof *a.workload->flow);
    assert_memory_equal(service(&a)->request, service(&b)->request, 50 * sizeof *service(&a)->request);
    assert_memory_not_equal(service(&a)->request, service(&c)->request, 50 * sizeof *service(&a)->request);
    run_free(&a);
    run_free(&b);
    run_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_a_token),         cmocka_unit_test(blocks_are_as_published),
        cmocka_unit_test(other_ranks_split_heads),  cmocka_unit_test(first_token_is_the_sum_of_its_parts),
        cmocka_unit_test(pieces_hide_the_transfer), cmocka_unit_test(deepseek_is_bound_by_its_experts),
        cmocka_unit_test(prefill_is_a_queue),       cmocka_unit_test(prefixes_are_kept),
        cmocka_unit_test(the_network_is_seen),      cmocka_unit_test(a_server_needs_no_network),
        cmocka_unit_test(a_seed_says_it_all),       cmocka_unit_test(bad_input_has_its_place),
    };
    return cmocka_run_group_tests_name("inference", tests, setup, teardown);
}
