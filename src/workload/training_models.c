// SPDX-License-Identifier: Apache-2.0
// Models and published plans, as data: the parameters of the keys `model` (also of inference) and `plan` of a job, and
// values for them.
// Sources: Llama 3: arXiv 2407.21783, tables 3 and 4 (126 layers, and two slots fewer than 16 x 8: the first and last
// stage have a layer less). DeepSeek-V3: arXiv 2412.19437, and its configuration file; its 61 layers as slots of a
// pipeline of 16 are assumed, and DualPipe is taken as two chunks a stage, whose bubble is slightly larger. GPT, 1.7 to
// 1008 billion parameters: Narayanan et al., SC 2021, table 1; microbatches of one sequence and no interleaving are
// assumed. MegaScale: Jiang et al., NSDI 2024. Nemotron-4 340B: arXiv 2406.11704. Mixtral 8x7B: arXiv 2401.04088.
// Qwen2.5 72B: arXiv 2412.15115 and its configuration file. OPT-66B: arXiv 2205.01068, table 1. What MLA keeps of a
// token and layer, 512 + 64 numbers: arXiv 2412.19437, section 2.1.1 and table of hyper-parameters.
#include <string.h>

#include "base/param.h"
#include "base/tree.h"
#include "training.h"
#include "weft/param.h"

#define VALUES(name, ...) static const struct weft_param_value name[] = {__VA_ARGS__, {NULL, NULL}}
#define DENSE(name, L, h, heads, kv, ffn, matrices, vocabulary)                                                        \
    VALUES(name, {"layers", L}, {"hidden", h}, {"heads", heads}, {"kv_heads", kv}, {"ffn", ffn},                       \
           {"matrices", matrices}, {"vocabulary", vocabulary})
DENSE(llama3_405b, "126", "16384", "128", "8", "53248", "3", "128256");
DENSE(llama3_70b, "80", "8192", "64", "8", "28672", "3", "128256");
DENSE(llama3_8b, "32", "4096", "32", "8", "14336", "3", "128256");
DENSE(qwen2_5_72b, "80", "8192", "64", "8", "29568", "3", "152064");
DENSE(opt_66b, "64", "9216", "72", "72", "36864", "2", "50272");
DENSE(nemotron4_340b, "96", "18432", "96", "8", "73728", "2", "256000");
DENSE(gpt3_175b, "96", "12288", "96", "96", "49152", "2", "51200");
DENSE(gpt_1_7b, "24", "2304", "24", "24", "9216", "2", "51200");
DENSE(gpt_7_5b, "36", "4096", "32", "32", "16384", "2", "51200");
DENSE(gpt_18b, "40", "6144", "48", "48", "24576", "2", "51200");
DENSE(gpt_39b, "48", "8192", "64", "64", "32768", "2", "51200");
DENSE(gpt_76b, "60", "10240", "80", "80", "40960", "2", "51200");
DENSE(gpt_146b, "80", "12288", "96", "96", "49152", "2", "51200");
DENSE(gpt_310b, "96", "16384", "128", "128", "65536", "2", "51200");
DENSE(gpt_530b, "105", "20480", "128", "128", "81920", "2", "51200");
DENSE(gpt_1t, "128", "25600", "160", "160", "102400", "2", "51200");
VALUES(mixtral_8x7b, {"layers", "32"}, {"hidden", "4096"}, {"heads", "32"}, {"kv_heads", "8"}, {"ffn", "14336"},
       {"matrices", "3"}, {"vocabulary", "32000"}, {"experts", "8"}, {"top_k", "2"}, {"expert_ffn", "14336"});
// attention: MLA, 7168 x 1536 + 1536 x 24576 + 7168 x 576 + 512 x 32768 + 16384 x 7168; head_dim: the mean of 192 for
// queries and keys and 128 for values
VALUES(deepseek_v3, {"layers", "61"}, {"hidden", "7168"}, {"heads", "128"}, {"kv_heads", "128"}, {"head_dim", "160"},
       {"attention", "187105280"}, {"ffn", "18432"}, {"matrices", "3"}, {"vocabulary", "129280"}, {"dense_layers", "3"},
       {"experts", "256"}, {"shared_experts", "1"}, {"top_k", "8"}, {"expert_ffn", "2048"}, {"expert_servers", "4"},
       {"kv_width", "576"});
static const struct weft_param_preset models[] = {{"llama3-405b", llama3_405b},
                                                  {"llama3-70b", llama3_70b},
                                                  {"llama3-8b", llama3_8b},
                                                  {"qwen2.5-72b", qwen2_5_72b},
                                                  {"opt-66b", opt_66b},
                                                  {"nemotron4-340b", nemotron4_340b},
                                                  {"gpt3-175b", gpt3_175b},
                                                  {"gpt-1.7b", gpt_1_7b},
                                                  {"gpt-7.5b", gpt_7_5b},
                                                  {"gpt-18b", gpt_18b},
                                                  {"gpt-39b", gpt_39b},
                                                  {"gpt-76b", gpt_76b},
                                                  {"gpt-146b", gpt_146b},
                                                  {"gpt-310b", gpt_310b},
                                                  {"gpt-530b", gpt_530b},
                                                  {"gpt-1t", gpt_1t},
                                                  {"mixtral-8x7b", mixtral_8x7b},
                                                  {"deepseek-v3", deepseek_v3},
                                                  {NULL, NULL}};

#define LLAMA(name, sequence_, sequences_, cp_)                                                                        \
    VALUES(name, {"tp", "8"}, {"cp", cp_}, {"pp", "16"}, {"chunks", "8"}, {"end_layers", "2"},                         \
           {"sequence", sequence_}, {"sequences", sequences_}, {"order", "pp-dp"})
LLAMA(llama3_8192, "8192", "32", "1");
LLAMA(llama3_16384, "8192", "16", "1");
LLAMA(llama3_16384_long, "131072", "16", "16");
#define NEMOTRON(name, sequences_)                                                                                     \
    VALUES(name, {"tp", "8"}, {"pp", "12"}, {"chunks", "8"}, {"sequence", "4096"}, {"sequences", sequences_})
NEMOTRON(nemotron4, "48");
NEMOTRON(nemotron4_6144, "36");
VALUES(deepseek_v3_2048, {"pp", "16"}, {"ep", "64"}, {"chunks", "2"}, {"end_layers", "3"}, {"sequence", "4096"},
       {"sequences", "120"}, {"expert_overlap", "on"}, {"once", "on"}, {"dispatch_bytes", "33/32"},
       {"communication", "20/132"});
// its MFU is 0.552: kernels reach more, how much is assumed
VALUES(megascale, {"tp", "8"}, {"pp", "8"}, {"chunks", "6"}, {"sequence", "2048"}, {"sequences", "32"}, {"peak", "312"},
       {"efficiency", "0.65"});
#define GPT(name, tp_, pp_, sequences_)                                                                                \
    VALUES(name, {"tp", tp_}, {"pp", pp_}, {"sequence", "2048"}, {"sequences", sequences_}, {"causal", "off"},         \
           {"recompute", "on"}, {"sharded", "off"}, {"overlap", "off"}, {"gradient_bytes", "2"}, {"peak", "312"},      \
           {"efficiency", "0.55"})
GPT(gpt_1_7b_32, "1", "1", "16");
GPT(gpt_7_5b_128, "4", "1", "16");
GPT(gpt_18b_256, "8", "1", "32");
GPT(gpt_39b_512, "8", "2", "48");
GPT(gpt_76b_1024, "8", "4", "56");
GPT(gpt_146b_1536, "8", "8", "96");
GPT(gpt_310b_1920, "8", "16", "144");
GPT(gpt_530b_2520, "8", "35", "280");
GPT(gpt_1t_3072, "8", "64", "512");
static const struct weft_param_preset plans[] = {{"llama3-405b-8192", llama3_8192},
                                                 {"llama3-405b-16384", llama3_16384},
                                                 {"llama3-405b-16384-long", llama3_16384_long},
                                                 {"nemotron4-340b-1536", nemotron4},
                                                 {"nemotron4-340b-3072", nemotron4},
                                                 {"nemotron4-340b-6144", nemotron4_6144},
                                                 {"deepseek-v3-2048", deepseek_v3_2048},
                                                 {"gpt3-175b-12288", megascale},
                                                 {"gpt-1.7b-32", gpt_1_7b_32},
                                                 {"gpt-7.5b-128", gpt_7_5b_128},
                                                 {"gpt-18b-256", gpt_18b_256},
                                                 {"gpt-39b-512", gpt_39b_512},
                                                 {"gpt-76b-1024", gpt_76b_1024},
                                                 {"gpt-146b-1536", gpt_146b_1536},
                                                 {"gpt-310b-1920", gpt_310b_1920},
                                                 {"gpt-530b-2520", gpt_530b_2520},
                                                 {"gpt-1t-3072", gpt_1t_3072},
                                                 {NULL, NULL}};

// --- parameters ---------------------------------------------------------------------------------------------------

static enum weft_status find_values(const struct weft_param_table *table, const char *row,
                                    const struct weft_tree *named, const char *path, struct weft_arena *arena,
                                    const struct weft_param_value **ret_value, struct weft_error *ret_error) {
    enum { NAMES_MAX = 64 };
    const char *names[NAMES_MAX] = {"own"};
    uint32_t n = 1;
    *ret_value = NULL;
    if (!strcmp(named->text, names[0])) return WEFT_OK;
    for (const struct weft_param_preset *p = table->presets; p->name; p++) {
        names[n++] = p->name;
        if (!strcmp(p->name, named->text)) *ret_value = p->value;
    }
    char expected[800];
    weft__names_expected(named->text, names, n, expected, sizeof expected);
    if (*ret_value) return WEFT_OK;
    return WEFT_REFUSE(ret_error, named->place, "%s: no %s \"%.80s\"; %s", path, table->name, named->text, expected);
}
static const char *const kind_rows[] = {"kind", NULL};
static const struct weft_param_classes by_kind = {kind_rows, find_values};

#define M struct weft_training_model
const struct weft_param_table weft_training_model_table = WEFT_PARAM_TABLE_OF(
    "job_model", M, WEFT_PARAM_AND(.presets = models, .classes = &by_kind),
    WEFT_TEXT(M, kind, "kind", "own", "a model, whose shape holds where no key says another; own: none"),
    WEFT_UINT(M, layers, "layers", "1", "1", "1024", "layers"),
    WEFT_UINT(M, hidden, "hidden", "1024", "1", "1048576", "width"),
    WEFT_UINT(M, heads, "heads", "8", "1", "4096", "heads of attention"),
    WEFT_UINT(M, kv_heads, "kv_heads", "0", "0", "4096", "heads of keys and values, 0: as many as heads"),
    WEFT_UINT(M, head_dim, "head_dim", "0", "0", "65536", "width of a head, 0: hidden / heads"),
    WEFT_UINT(M, attention, "attention", "0", "0", "1000000000000",
              "parameters of a layer's attention, 0: by its heads"),
    WEFT_UINT(M, ffn, "ffn", "0", "0", "16777216", "width of the feed-forward part of a layer, 0: four times hidden"),
    WEFT_UINT(M, matrices, "matrices", "3", "1", "3", "matrices of a feed-forward part: 3 with a gate, else 2"),
    WEFT_UINT(M, vocabulary, "vocabulary", "32000", "1", "16777216", "words of its embedding and of its head"),
    WEFT_UINT(M, dense_layers, "dense_layers", "0", "0", "1024", "first layers that have no experts"),
    WEFT_UINT(M, experts, "experts", "0", "0", "65536", "routed experts of a layer, 0: none"),
    WEFT_UINT(M, shared_experts, "shared_experts", "0", "0", "1024", "experts that every token has"),
    WEFT_UINT(M, top_k, "top_k", "1", "1", "1024", "routed experts of a token"),
    WEFT_UINT(M, expert_ffn, "expert_ffn", "0", "0", "16777216", "width of an expert, 0: ffn"),
    WEFT_UINT(M, expert_servers, "expert_servers", "0", "0", "65536",
              "most servers that the experts of a token are on, 0: no bound"),
    WEFT_UINT(M, kv_width, "kv_width", "0", "0", "16777216",
              "numbers that a layer keeps of a token for later ones, 0: keys and values, 2 x kv_heads x head_dim; of "
              "MLA one latent vector, which no rank can keep a part of"));

static const char *const orders[] = {"pp-dp", "dp-pp", NULL};
#define P struct weft__training_conf
const struct weft_param_table weft_training_plan_table = WEFT_PARAM_TABLE_OF(
    "job_plan", P, WEFT_PARAM_AND(.presets = plans, .classes = &by_kind),
    WEFT_TEXT(P, plan.kind, "kind", "own",
              "published: the plan that is published for the model on so many GPUs; or the name of a plan; values of "
              "the plan hold where no key says another; own: none"),
    WEFT_UINT(P, plan.tp, "tp", "1", "1", "65536", "tensor parallel: ranks that share a layer"),
    WEFT_UINT(P, plan.cp, "cp", "1", "1", "65536", "context parallel: ranks that share a sequence"),
    WEFT_UINT(P, plan.pp, "pp", "1", "1", "65536", "stages of the pipeline"),
    WEFT_UINT(P, plan.dp, "dp", "0", "0", "16777216", "replicas, 0: gpus / (tp cp pp)"),
    WEFT_UINT(P, plan.ep, "ep", "1", "1", "65536", "replicas that share the experts of a layer"),
    WEFT_UINT(P, plan.chunks, "chunks", "1", "1", "1024", "chunks of layers of a stage (interleaved pipeline)"),
    WEFT_UINT(P, plan.end_layers, "end_layers", "0", "0", "64",
              "layers that the first and the last stage have less than the others, half of them each, the last one "
              "more if odd, because they have embedding and head"),
    WEFT_UINT(P, plan.sequence, "sequence", "4096", "1", "16777216", "tokens of a sequence"),
    WEFT_UINT(P, plan.sequences, "sequences", "1", "1", "1048576", "sequences of a replica in a step"),
    WEFT_UINT(P, plan.batch, "batch", "0", "0", "1000000000", "sequences of a step, 0: sequences x dp"),
    WEFT_UINT(P, plan.micro_batch, "micro_batch", "1", "1", "65536", "sequences of a microbatch"),
    WEFT_CHOICE(P, plan.order, "order", "dp-pp", orders,
                "dimensions of the ranks, innermost first: tp, cp, pp, dp, or tp, cp, dp, pp; ep is the inner part of "
                "dp"),
    WEFT_BOOL(P, plan.sharded, "sharded", "on",
              "a step gathers parameters and reduce-scatters gradients (ZeRO-1, or FSDP that keeps what it gathers); "
              "off: an all-reduce of gradients"),
    WEFT_BOOL(P, plan.overlap, "overlap", "on",
              "parameters of a chunk are gathered, and its gradients reduced, beside compute of others"),
    WEFT_BOOL(P, plan.expert_overlap, "expert_overlap", "off",
              "dispatch and combine of a microbatch go on beside compute of another (DualPipe)"),
    WEFT_BOOL(P, plan.once, "once", "off",
              "a token crosses the network once for all of its experts in a server (DeepEP); off: once for each"),
    WEFT_BOOL(P, plan.deepep, "deepep", "off",
              "dispatch and combine are those of DeepEP's normal kernels, with its own chunks and rings (workload "
              "deepep): tokens draw their experts, the same in all layers and with every seed; once is then on"),
    WEFT_BOOL(P, plan.causal, "causal", "on", "attention leaves out what the causal mask hides"),
    WEFT_BOOL(P, plan.recompute, "recompute", "off", "the backward pass repeats the forward pass"),
    WEFT_UINT(P, plan.gradient_bytes, "gradient_bytes", "4", "1", "8", "bytes of a gradient that is reduced"),
    WEFT_REAL(P, plan.dispatch_bytes, "dispatch_bytes", "2", "0.1", "8",
              "bytes of a token's value to an expert (FP8 with a scale of 4 B for 128 values: 33/32)"),
    WEFT_REAL(P, plan.combine_bytes, "combine_bytes", "2", "0.1", "8", "bytes of a token's value back"),
    WEFT_REAL(P, plan.peak, "peak", "989", "0.001", "1000000",
              "dense BF16 TFLOP/s of a GPU by its data sheet (H100 and H800: 989, A100: 312)"),
    WEFT_REAL(P, plan.efficiency, "efficiency", "0.5", "0.01", "1",
              "part of the peak that the kernels of a layer reach, apart from communication and bubble (assumed; 0.45 "
              "to 0.65 is what published steps leave: 0.54 Nemotron-4 340B on H100, 0.48 to 0.65 GPT on A100)"),
    WEFT_REAL(P, plan.communication, "communication", "0", "0", "0.9",
              "part of a GPU that communication takes from compute all the time (DeepSeek-V3: 20 of 132 "
              "multiprocessors)"),
    WEFT__TRAINING_MODEL_ROWS(P, models));
