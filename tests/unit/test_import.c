// SPDX-License-Identifier: Apache-2.0
// Files of other tools: what they become, what is refused and where, and that the output of weft import runs.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "import_files.h"
#include "run.h"
#include "weft/import.h"
#include "weft/report.h"

static void a_table_of_flows(void **state) {
    const char *path = put("flows.csv", "start [us];Source;dst;size_kb;Prio;tag;queue pairs;note\n"
                                        "# a comment\n"
                                        "0;0;3;1.5;3;a;1;x\n"
                                        "1e1;host-1;3;4KiB;5;\"b \"\"quoted\"\"\";4;\"y;z\"\n");
    struct run r = run_import("csv", &path, 1);
    assert_int_equal(r.workload->flows, 2);
    const struct weft_flow *f = r.workload->flow;
    assert_int_equal(f[0].bytes, 1500);
    assert_int_equal(f[0].start_ps, 0);
    assert_int_equal(f[0].dst, 3);
    assert_int_equal(f[0].priority, 3);
    assert_int_equal(f[1].bytes, 4096);
    assert_int_equal(f[1].start_ps, 10 * WEFT_PS_PER_US);
    assert_int_equal(f[1].src, 1);
    assert_int_equal(f[1].qps, 4);
    assert_int_equal(f[1].priority, 5);
    assert_string_equal(r.workload->group[f[1].group], "b \"quoted\"");
    assert_int_equal(r.topology->hosts, 4);
    run_free(&r);
}

static const char topology[] = "4 1 3\n3\n0 3 100Gbps 0.001ms 0\n1 3 100Gbps 1us 0\n2 3 200Gbps 1000ns 0\n";

static void hpcc_in_any_order(void **state) {
    const char *path[] = {put("flow.txt", "2\n0 1 3 100 5000 2.000000001\n2 1 4 100 1 0\n"), put("topo.txt", topology)};
    struct run r = run_import("hpcc", path, 2);
    assert_int_equal(r.topology->hosts, 3);
    assert_string_equal(r.topology->node[3].name, "switch-3");
    assert_int_equal(r.topology->link[0].delay_ps, WEFT_PS_PER_US);
    assert_int_equal(r.topology->link[2].rate_bps, UINT64_C(200000000000));
    assert_int_equal(r.workload->flow[0].start_ps, 2 * WEFT_PS_PER_S + WEFT_PS_PER_NS);
    assert_int_equal(r.workload->flow[1].priority, 4);
    run_free(&r);
}

/// HPCC's own files: a configuration in mix/ whose paths are of the folder above, and links and flows behind as many as
/// the counts say, with an explanation at the end, of which ns-3 reads nothing. Five columns a flow are ConWeave's.
static void hpcc_as_it_comes(void **state) {
    char command[200], text[300];
    snprintf(command, sizeof command, "mkdir -p %s/mix", folder);
    assert_int_equal(system(command), 0);
    snprintf(text, sizeof text, "%s0 9 100Gbps 1us 0\n\nFirst line: total node #, switch node #, link #\n", topology);
    put("mix/topo.txt", text);
    put("mix/flow.txt", "2\n0 1 3 5000 2.000000001\n2 1 4 1 0\n0 9 3 100\n\nPlease order the flows!\n");
    const char *config = put("mix/config.txt", "TOPOLOGY_FILE mix/topo.txt\nFLOW_FILE mix/flow.txt\nCC_MODE 1\n");
    struct weft_error error;
    char *made = import("hpcc", &config, 1, &error);
    assert_string_equal(error.text, "");
    assert_non_null(strstr(made, "topo.txt: the first line promises 3 links, and 4 follow: those from line 6 on are "
                                 "missing, as in ns-3"));
    assert_non_null(strstr(made, "flow.txt: line 4 and below, behind the last flow"));
    assert_non_null(strstr(made, "destination port 100 for flows of five columns"));
    assert_non_null(strstr(made, "3 hosts, 1 switch, 3 links"));
    free(made);
    struct run r = run_import("hpcc", &config, 1);
    assert_int_equal(r.topology->links, 3);
    assert_int_equal(r.workload->flows, 2);
    assert_int_equal(r.workload->flow[0].bytes, 5000);
    assert_int_equal(r.workload->flow[0].start_ps, 2 * WEFT_PS_PER_S + WEFT_PS_PER_NS);
    assert_int_equal(r.workload->flow[1].priority, 4);
    run_free(&r);
}

/// GPUs 0 to 3 in two servers of two; NVSwitches 4 and 5; switch 6.
static void simai_servers(void **state) {
    const char *path = put("simai.txt", "7 2 2 1 8 H100\n4 5 6\n0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n"
                                        "2 5 2880Gbps 0.000025ms 0\n3 5 2880Gbps 0.000025ms 0\n0 6 200Gbps 0.0005ms 0\n"
                                        "1 6 200Gbps 0.0005ms 0\n2 6 200Gbps 0.0005ms 0\n3 6 200Gbps 0.0005ms 0\n");
    struct run r = run_import("hpcc", &path, 1);
    assert_int_equal(r.topology->hosts, 4);
    assert_int_equal(r.topology->links, 4);
    assert_int_equal(r.topology->link[0].delay_ps, 500 * WEFT_PS_PER_NS);
    run_free(&r);
}

/// A network for each NIC of a schedule's ranks; one if there are more NICs than planes.
static void goal_nics(void **state) {
    const char *path = put("nics.goal", "num_ranks 2\nrank 0 {\nsend 9b to 1\nsend 9b to 1 nic 3\n}\n"
                                        "rank 1 {\nrecv 9b from 0\nrecv 9b from 0 nic 3\n}\n");
    struct run r = run_import("goal", &path, 1);
    assert_int_equal(r.topology->networks, 4);
    assert_int_equal(r.topology->hosts, 8);
    assert_int_equal(r.workload->flows, 2);
    assert_int_equal(r.workload->flow[0].plane, 1);
    assert_int_equal(r.workload->flow[1].plane, 4);
    assert_int_equal(r.outcome->job->ranks_done, 2);
    run_free(&r);
    path = put("nics.goal", "num_ranks 2\nrank 0 {\nsend 9b to 1 nic 16\n}\nrank 1 {\nrecv 9b from 0\n}\n");
    struct weft_error error;
    char *text = import("goal", &path, 1, &error);
    assert_non_null(strstr(text, "# Left out:\n# - 17 NICs of a rank"));
    assert_null(strstr(text, "networks:"));
    free(text);
}

/// Files that the configuration names are beside it; those of the command line win over them.
static void hpcc_configuration(void **state) {
    static const char text[] =
        "ENABLE_QCN 1\nCC_MODE 1\nPACKET_PAYLOAD_SIZE 4096\nRATE_AI 40Mb/s\nBUFFER_SIZE 20\n"
        "KMIN_MAP 2 100000000000 400 200000000000 800\nKMAX_MAP 2 100000000000 1600 200000000000 3200\n"
        "PMAX_MAP 1 100000000000 0.25\nSIMULATOR_STOP_TIME 4.5\nTOPOLOGY_FILE topo.txt\n"
        "FLOW_FILE flow.txt\nMY_KEY 5\n";
    put("flow.txt", "2\n0 1 3 100 5000 2.0\n1 0 3 101 5000 2.0\n");
    put("topo.txt", topology);
    const char *path[] = {put("config.txt", text), put("other.txt", "2\n0 1 3 100 5000 2.0\n1 2 3 100 7 2.0\n")};
    struct run r = run_import("hpcc", path, 1);
    const struct weft_device_conf *device = &r.scenario->device[0];
    assert_int_equal(r.workload->flows, 2);
    assert_int_equal(r.workload->flow[0].destination_port, 100);
    assert_int_equal(r.workload->flow[1].destination_port, 101);
    assert_int_equal(device->host.mtu_bytes, 4096);
    assert_string_equal(device->host.cc.model->name, "dcqcn_connectx");
    assert_int_equal(r.scenario->run.until_ps, 4500 * WEFT_PS_PER_MS);
    run_free(&r);
    r = run_import("hpcc", path, 2);
    assert_int_equal(r.workload->flows, 2);
    run_free(&r);
    struct weft_error error;
    char *made = import("hpcc", path, 1, &error);
    static const char *const said[] = {"additive_increase: 40Mbps",
                                       "hyper_increase: 400Mbps",
                                       "min: 800000B, max: 3200000B",
                                       "max_probability: 0.25",
                                       "by_rate: [100Gbps 400000B 1600000B 0.25, 200Gbps 800000B 3200000B 0.25]",
                                       "total: 20MiB",
                                       "on the longest link: 75000",
                                       "configuration that are not known: MY_KEY"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strstr(made, said[i])) fail_msg("no '%s' in\n%s", said[i], made);
    free(made);
}

/// HAS_WIN: rate x (two delays, and a payload of 1000 B on each link). One switch at 100G and 1 us: 4160 ns, 52000 B,
/// as a published run has it (scenarios/peers/incast.yaml). Two switches, 400G and 10 us between them: hosts at 25G and
/// 1 us 2 x 12 us + 2 x 320 + 20 ns at 25G, 77062 B. One of 25G, and one of 100G and 2 us: 2 x 13 us + 320 + 20 + 80 ns
/// at 25G, 82562 B, more than that one and its neighbours at 100G and 1 us have, 6160 ns, 77000 B.
static void hpcc_windows(void **state) {
    static const struct {
        const char *topology, *config, *expected;
    } cases[] = {
        {"3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n", "", "  window: 52000B\n"},
        {"3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n", "HAS_WIN 1\nGLOBAL_T 0\nVAR_WIN 1\n",
         "# - VAR_WIN: the window does not shrink with the rate\n# - GLOBAL_T 0: all pairs of hosts have the same"},
        {"5 2 4\n3 4\n3 4 400Gbps 10us 0\n3 0 25Gbps 1us 0\n4 1 25Gbps 1us 0\n4 2 25Gbps 1us 0\n", "",
         "  window: 77062B\n"},
        {"6 2 5\n3 4\n3 4 400Gbps 10us 0\n3 0 25Gbps 1us 0\n4 1 100Gbps 1us 0\n4 2 100Gbps 1us 0\n4 5 100Gbps 2us 0\n",
         "", "  window: 82562B\n"},
        {"3 1 2\n0\n0 1 100Gbps 1us 0\n0 2 100Gbps 1us 0\n", "HAS_WIN 0\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char config[256];
        snprintf(config, sizeof config, "CC_MODE 1\nTOPOLOGY_FILE wired.txt\n%s", cases[i].config);
        put("wired.txt", cases[i].topology);
        const char *path = put("windows.txt", config);
        struct weft_error error;
        char *made = import("hpcc", &path, 1, &error);
        if (*error.text) fail_msg("%s", error.text);
        if (cases[i].expected ? !strstr(made, cases[i].expected) : strstr(made, "window:") != NULL)
            fail_msg("%s in\n%s", cases[i].expected ? cases[i].expected : "window:", made);
        free(made);
    }
}

/// 1% of packets of 1048 bytes.
static void error_rates_are_of_packets(void **state) {
    const char *path = put("lossy.txt", "3 1 2\n2\n0 2 100Gbps 1us 0.01\n1 2 100Gbps 1us 0\n");
    struct run r = run_import("hpcc", &path, 1);
    double survive = pow(1 - r.topology->link[0].bit_error_rate, 8 * 1048);
    assert_true(fabs(survive - 0.99) < 1e-9);
    run_free(&r);
}

/// Node 5 is a switch as it has two links; links of a directed graph in both directions are one.
static void a_directed_graph(void **state) {
    const char *path =
        put("graph.json", "{\"directed\": true, \"multigraph\": true, \"graph\": {\"capacity_unit\": \"Gbps\"},\n"
                          "\"nodes\": [{\"id\": 7}, {\"id\": \"tor.a\", \"type\": \"ToR\"}, {\"id\": 5},\n"
                          "{\"id\": \"gpu 9\", \"role\": \"gpu\", \"a\\nb: c\": 1, \"x\": [1, {\"y\": \"]}\\\"\"}]}],\n"
                          "\"edges\": [{\"source\": 7, \"target\": \"tor.a\", \"capacity\": 100, \"latency_us\": 1},\n"
                          "{\"source\": \"tor.a\", \"target\": 7, \"capacity\": 100.0, \"latency_ns\": \"1000\"},\n"
                          "{\"source\": \"tor.a\", \"target\": 5, \"weight\": 7},\n"
                          "{\"source\": \"tor.a\", \"target\": 5, \"capacity\": \"0.4Tbps\", \"key\": 1},\n"
                          "{\"source\": 5, \"target\": \"gpu 9\", \"delay\": 2e-6}]}\n");
    struct weft_error error;
    char *text = import("networkx", &path, 1, &error);
    assert_string_equal(error.text, "");
    assert_non_null(strstr(text, "graph.json: 2 hosts, 2 switches, 4 links"));
    assert_non_null(strstr(text, "# - 2 nodes have no role or type"));
    assert_non_null(strstr(text, "# - 1 names of nodes"));
    assert_non_null(strstr(text, "# - attributes '(of a name that cannot be shown), x, weight'"));
    assert_non_null(strstr(text, "# - 200Gbps for 2 links without a rate"));
    free(text);
    struct run r = run_import("networkx", &path, 1);
    assert_int_equal(r.topology->links, 4);
    assert_string_equal(r.topology->node[0].name, "host-7");
    assert_string_equal(r.topology->node[3].name, "host-3");
    assert_string_equal(r.topology->node[1].name, "tor.a");
    assert_string_equal(r.topology->node[1].layer, "tor");
    assert_string_equal(r.topology->node[2].name, "switch-5");
    assert_int_equal(r.topology->link[0].rate_bps, UINT64_C(100000000000));
    assert_int_equal(r.topology->link[0].delay_ps, WEFT_PS_PER_US);
    assert_int_equal(r.topology->link[1].rate_bps, UINT64_C(200000000000));
    assert_int_equal(r.topology->link[2].rate_bps, UINT64_C(400000000000));
    assert_int_equal(r.topology->link[3].delay_ps, 2 * WEFT_PS_PER_US);
    run_free(&r);
}

/// As NetworkX 1 wrote graphs.
static void links_by_position(void **state) {
    const char *path =
        put("old.json", "{\"nodes\": [{\"id\": \"a\"}, {\"id\": \"s\"}, {\"id\": \"b\"}],\n"
                        "\"links\": [{\"source\": 0, \"target\": 1}, {\"source\": 2, \"target\": 1}]}\n");
    struct run r = run_import("networkx", &path, 1);
    assert_int_equal(r.topology->hosts, 2);
    assert_string_equal(r.topology->node[0].name, "a");
    assert_string_equal(r.topology->node[r.topology->switch_node[0]].name, "s");
    run_free(&r);
}

#define GRAPH_REST(links) "\"nodes\": [{\"id\": 0}, {\"id\": 1}],\n\"links\": [\n" links "]}"
#define GRAPH(links) "{" GRAPH_REST(links)
#define LINK(attributes) "{\"source\": 0, \"target\": 1, " attributes "}"

/// Four ranks, TP of 2, DP of 2: forward two layers; backward, the first layer again after the checkpoint.
static void simai_layers(void **state) {
    const char *path =
        put("simai", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 "
                     "all_gpus: 4 checkpoints: 1 0 checkpoint_initiates: 1 1\n2\n"
                     "a -1 1000 ALLREDUCE 4096 10 NONE 0 1 NONE 0 5\n"
                     "b -1 2000 NONE 0 20 ALLGATHER 8192 2 ALLREDUCE 1000 5\n");
    struct run r = run_import("simai", &path, 1);
    static const struct {
        weft_time_ps compute_ns;
        const char *name;
        uint32_t stride;
        bool overlap;
    } expected[] = {{1000, "all_reduce_ring", 1, false},
                    {2000, NULL, 0, false},
                    {1000, "all_reduce_ring", 1, false},
                    {20, "all_gather", 1, false},
                    {2, "all_reduce_ring", 2, true},
                    {10, NULL, 0, false},
                    {1, NULL, 0, false},
                    {10, NULL, 0, false}};
    const struct weft_job *job = &r.workload->job[0];
    assert_int_equal(job->ranks, 4);
    assert_int_equal(job->ops, sizeof expected / sizeof *expected);
    for (uint32_t i = 0; i < job->ops; i++) {
        assert_int_equal(job->op[i].compute_ps, expected[i].compute_ns * WEFT_PS_PER_NS);
        assert_int_equal(job->op[i].name != NULL, expected[i].name != NULL);
        if (!expected[i].name) continue;
        assert_string_equal(job->op[i].name, expected[i].name);
        assert_int_equal(job->op[i].stride, expected[i].stride);
        assert_int_equal(job->op[i].shape.ranks, 2);
        assert_int_equal(job->op[i].overlap, expected[i].overlap);
    }
    run_free(&r);
}

#define LINE_OF(name, ns) name " -1 " ns " NONE 0 " ns " NONE 0 " ns " NONE 0 0\n"
#define MICROBATCH LINE_OF("embedding_layer", "0") LINE_OF("attention_layer", "1000000") LINE_OF("embedding_norm", "0")

/// Four stages, as AICB writes them: the lines of one stage for each of three microbatches. With f forward and b
/// backward a pass, all of it takes (m + p - 1) (f + b) (workload/pipeline.c) and what is passed on, here next to
/// nothing.
static void simai_pipeline(void **state) {
    const char *path = put("simai", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 "
                                    "expert_parallel_npu_group: 1 pp: 4 vpp: 3 ga: 3 all_gpus: 8 checkpoints: 0 "
                                    "checkpoint_initiates: 0 pp_comm: 64.0\n11\n" LINE_OF("grad_gather", "1000")
                                        MICROBATCH MICROBATCH MICROBATCH LINE_OF("cross_entropy1", "2000"));
    struct weft_error error;
    char *text = import("simai", &path, 1, &error);
    assert_non_null(strstr(text, "4 stages with 3 microbatches of 3 lines each, which pass on 64 bytes"));
    free(text);
    struct run r = run_import("simai", &path, 1);
    const struct weft_job *job = &r.workload->job[0];
    assert_int_equal(job->stages, 4);
    assert_int_equal(job->stage_stride, 2);
    for (uint32_t s = 0; s < 4; s++) { // before, and after: its own lines and the one behind, forward and backward
        uint32_t hops = s == 0 || s == 3 ? 6 : 12, work = 3 * (1 + 2);
        assert_int_equal(job->stage[s].turns, 1 + work + hops + 1 + 2 + 2);
        assert_int_equal(job->op[job->stage[s].turn[0].op].compute_ps, WEFT_PS_PER_US);
    }
    assert_int_equal(job->stage[3].turn[1].part, WEFT_TURN_RECEIVE);
    weft_time_ps passes = (3 + 4 - 1) * 3 * (UINT64_C(1000) * WEFT_PS_PER_US), rest = (1 + 2 + 4 + 2) * WEFT_PS_PER_US;
    weft_time_ps end = r.outcome->job[0].end_ps;
    assert_true(end > passes + rest && end < passes + rest + 2 * (3 + 4 - 1) * 10 * WEFT_PS_PER_US);
    run_free(&r);
}

/// Of one microbatch the names say where it is; without pp_comm, and where lines do not repeat, stages work side by
/// side, and it is said.
static void simai_without_pipeline(void **state) {
#define PIPELINE(ga, pp_comm, lines)                                                                                   \
    "HYBRID_TRANSFORMER model_parallel_NPU_group: 1 ep: 1 pp: 2 vpp: 1 ga: " ga " all_gpus: 2" pp_comm "\n" lines
    static const struct {
        const char *text, *said;
        uint32_t stages;
    } file[] = {
        {PIPELINE("1", " pp_comm: 64", "5\n") LINE_OF("grad_gather", "1") MICROBATCH LINE_OF("cross_entropy1", "1"),
         "2 stages with 1 microbatches of 3 lines", 2},
        {PIPELINE("1", " pp_comm: 64", "2\n") LINE_OF("a", "1") LINE_OF("b", "1"), "of 2 lines", 2},
        {PIPELINE("2", "", "6\n") MICROBATCH MICROBATCH, "the header does not say pp_comm", 1},
        {PIPELINE("2", " pp_comm: 64", "3\n") MICROBATCH, "its lines do not repeat as often as ga says", 1},
    };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        const char *path = put("simai", file[i].text);
        struct weft_error error;
        char *text = import("simai", &path, 1, &error);
        assert_non_null(strstr(text, file[i].said));
        free(text);
        struct run r = run_import("simai", &path, 1);
        assert_int_equal(r.workload->job[0].stages, file[i].stages);
        assert_int_equal(r.outcome->job[0].ranks_done, 2);
        run_free(&r);
    }
}

/// A header that does not say how many GPUs there are: enough that everything which talks has a partner, and it is
/// said.
static void simai_without_gpus(void **state) {
    static const struct {
        const char *text, *assumed, *left_out;
        uint32_t ranks;
    } file[] = {
        {"MICRO\n1\na -1 1 NONE 0 1 NONE 0 1 ALLTOALL 65536 1\n", "16 GPUs", NULL, 16},
        {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 checkpoints: 0 checkpoint_initiates: 0\n1\n"
         "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 65536 1\n",
         "16 GPUs", NULL, 16},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 4\n1\na -1 1 ALLREDUCE 65536 1 NONE 0 1 NONE 0 1\n", "4 GPUs",
         NULL, 4},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 2\n1\n"
         "a -1 1 ALLREDUCE 65536 1 NONE 0 1 ALLREDUCE 65536 1\n",
         NULL, "# - 1 collectives in groups of one GPU", 2},
    };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        const char *path = put("simai", file[i].text);
        struct weft_error error;
        char *text = import("simai", &path, 1, &error);
        if (file[i].assumed) assert_non_null(strstr(text, file[i].assumed));
        if (!file[i].assumed) assert_null(strstr(text, "all_gpus"));
        assert_int_equal(strstr(text, "groups of one GPU") != NULL, file[i].left_out != NULL);
        if (file[i].left_out) assert_non_null(strstr(text, file[i].left_out));
        free(text);
        struct run r = run_import("simai", &path, 1);
        assert_int_equal(r.outcome->job[0].ranks_done, file[i].ranks);
        run_free(&r);
    }
}

/// Two ranks of four wrote; the AllGather's size is a rank's part, as its bus bandwidth says.
static void inspector_lines(void **state) {
#define LINE(sn, coll, bytes, us, bw)                                                                                  \
    "{\"header\": {\"id\": \"0x1\", \"n_ranks\": 4, \"nnodes\": 4}, \"coll_perf\": {\"coll\": \"" coll                 \
    "\", \"coll_sn\": " sn ", \"coll_msg_size_bytes\": " bytes ", \"coll_exec_time_us\": " us                          \
    ", \"coll_busbw_gbs\": " bw "}}\n"
    const char *path =
        put("log.jsonl",
            LINE("1", "AllReduce", "1000000", "100", "15") LINE("3", "AllGather", "250000", "50", "15")
                LINE("1", "AllReduce", "1000000", "110", "13.6") LINE("2", "AllReduce", "1000000", "95", "15.8"));
    struct run r = run_import("inspector", &path, 1);
    const struct weft_job *job = &r.workload->job[0];
    assert_int_equal(job->ranks, 4);
    assert_int_equal(job->ops, 3);
    assert_int_equal(job->op[0].times, 2);
    assert_int_equal(job->op[0].shape.bytes, 1000000);
    assert_int_equal(job->op[0].measured_ps, 100 * WEFT_PS_PER_US); // of (100 + 110) / 2 and 95
    assert_int_equal(job->op[1].times, 0);
    assert_string_equal(job->op[2].name, "all_gather");
    assert_int_equal(job->op[2].shape.bytes, 1000000);
    struct weft_collective_stats s =
        weft_report_collective(&(struct weft_run){.workload = r.workload, .outcome = r.outcome}, 0, 0);
    assert_true(fabs(s.measured_busbw / 15e9 - 1) < 1e-9);
    run_free(&r);
}

/// One file per process, as written by NCCL: objects over several lines, information about a communicator once for
/// later objects, messages and statistics between collectives.
static void inspector_processes(void **state) {
#define STATS(id)                                                                                                      \
    "{\"header\": {\"id\": \"" id "\", \"n_ranks\": 2, \"nnodes\": 2}, \"dump_stats\": {\"coll_records\": 1}}\n"
#define COLL(sn, us)                                                                                                   \
    "{\n \"coll_perf\": {\n \"coll\": \"AllReduce\", \"coll_sn\": " sn                                                 \
    ", \"coll_msg_size_bytes\": 1000, \"coll_exec_time_us\": " us "}\n}\n"
#define P2P "{\"p2p_perf\": {\"p2p\": \"Send\", \"p2p_sn\": 3, \"p2p_peer\": 1, \"p2p_msg_size_bytes\": 5}}\n"
    const char *paths[] = {put("rank0.log", STATS("0xa") COLL("1", "10") P2P COLL("2", "30.0")),
                           put("rank1.log", STATS("0xa") COLL("2", "50") COLL("1", "20"))};
    struct run r = run_import("inspector", paths, 2);
    const struct weft_job *job = &r.workload->job[0];
    assert_int_equal(r.workload->jobs, 1);
    assert_int_equal(job->ranks, 2);
    assert_int_equal(job->ops, 2);
    assert_int_equal(job->op[0].times, 2);
    assert_int_equal(job->op[0].measured_ps, 27500 * WEFT_PS_PER_US / 1000); // of (10 + 20) / 2 and (30 + 50) / 2
    run_free(&r);
    struct weft_error error;
    char *text = import("inspector", paths, 2, &error);
    assert_non_null(strstr(text, "1 sends and receives (p2p_perf)"));
    free(text);
    paths[1] = put("rank2.log", STATS("0xb") COLL("1", "20"));
    r = run_import("inspector", paths, 2);
    assert_int_equal(r.workload->jobs, 2);
    run_free(&r);
}

static void what_cannot_be_read(void **state) {
    static const struct bad_file bad[] = {
        {"csv", "src,dst,bytes\n", ":2:1: no flow is in it; expected one line per flow below the header"},
        {"csv", "start,src,dst\n0,0,1\n", "does not begin a file of csv"},
        {"csv", "src,dst,bytes\n0,1,5,6\n", ":2:7: more fields than the header has columns (3)"},
        {"csv", "src,dst,bytes\n0,1\n", ":2:3: the line ends after field 2; expected 3 fields"},
        {"csv", "src,dst,bytes\n0,1,-5\n", ":2:5: \"-5\" is negative"},
        {"csv", "src,dst,bytes\n0,1,1.5\n", ":2:5: \"1.5B\" is not a whole number of bytes"},
        {"csv", "src,dst,bytes\n0,1,9223372036854775808\n", ":2:5: 9223372036854775808; expected 1 to"},
        {"csv", "src,dst,bytes,prio\n0,1,5,8\n", ":2:7: 8; expected 0 to 7"},
        {"csv", "src,dst,bytes\n1,1,5\n", ":2:3: a flow from host 1 to itself"},
        {"csv", "src,dst,bytes,size\n0,1,5,5\n", ":1:15: column 'size' is given twice"},
        {"csv", "src,dst,size_ns\n0,1,5\n", ":1:9: 'size_ns': 'ns' is not one of its units"},
        {"csv", "src,dst,bytes\n0,rack9,5\n", ":2:3: 'rack9' is not the number of a host"},
        {"csv", "src,dst,bytes,\xff\n0,1,5,6\n", ":1:15: bytes that are not UTF-8"},
        {"csv", "src,dst,bytes,tag\n0,1,5,a\033b\n", ":2:7: bytes that are not UTF-8, or control characters"},
        {"hpcc", "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n",
         ":5:1: the file ends here; expected a node of a link"},
        {"hpcc", "4 1 1\n4\n0 3 100Gbps 1us 0\n", ":2:1: the number of a switch is 4; expected at most 3"},
        {"hpcc", "4 2 1\n3 3\n0 3 100Gbps 1us 0\n", ":2:3: node 3 is listed twice"},
        {"hpcc", "4 1 1\n3\n0 0 100Gbps 1us 0\n", ":3:3: a link from node 0 to itself"},
        {"hpcc", "4 1 1\n3\n0 3 100 1us 0\n", ":3:5: the link's rate: expected 10Mbps to 100Tbps"},
        {"hpcc", "4 1 1\n3\n0 3 100Gbps 1us 2\n", ":3:17: the link's error rate '2'; expected 0 to less than 1"},
        {"hpcc", "4 5 1\n3\n", ":1:1: 5 switches of 4 nodes and 1 links"},
        {"hpcc", "1\n0 1 3 100 0 2.0\n", ":2:11: a flow of 0 bytes; expected 1 at least"},
        {"hpcc", "1\n0 1 8 100 1 2.0\n", ":2:5: its priority group is 8; expected at most 7"},
        {"hpcc", "2\n0 1 3 100 1 2.0\n0 1 3 100 1 2.0 0\n",
         ":3:17: '0' on the line of the last flow; expected nothing behind its start"},
        {"hpcc", "2\n0 1 3 1000 2.0\n0 1 3 100 1000 2.0\n", ":3:16: '2.0' on the line of the last flow"},
        {"hpcc", "2\n0 1 3 100 1 2.0\n", ":3:1: the file ends here; expected the source of a flow"},
        {"hpcc", "PACKET_PAYLOAD_SIZE 8\n",
         ": says something that a scenario cannot have: host.mtu: \"8B\" is out of range"},
        {"hpcc", "CC_MODE one\n", ":1:9: CC_MODE: \"one\": expected a whole number"},
        {"hpcc", "CC_MODE 1\nKMAX_MAP 2 1 1\n", ":2:15: the line ends here; expected KMAX_MAP"},
        {"hpcc", "CC_MODE 1\nFLOW_FILE none.txt\n", ":2:11: "},
        {"hpcc", "3 1 3\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n0 2 100Gbps 1us 0\n",
         ":4:1: host 1 has 1 link, and host 0 has 2; expected as many"},
        {"hpcc", "3 1 1\n2\n0 2 100Gbps 1us 0\n", ": host 1 has no link; expected one"},
        {"simai", "MICRO\n0\n", ":2:1: no layers"},
        {"simai", "MICRO\n1\n", ":3:1: the file ends here; expected a layer"},
        {"simai", "MICRO\n1\na -1 1 NONE 0 1 NONE 0 1 AllReduce 4 1\n",
         ":3:26: the weight gradient's communication 'AllReduce'"},
        {"simai", "MICRO\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 4\n",
         ":3:32: the line ends here; expected the update's time"},
        {"simai", "MICRO\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 4 1 2\n", ":3:35: '2' after the update's time"},
        {"simai", "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 3\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 4 1\n",
         "3 ranks in groups of 2"},
        {"simai", "HYBRID_TRANSFORMER model_parallel_NPU_group: 0\n1\n", ":1:46: model_parallel_NPU_group is 0"},
        {"simai", "HYBRID_TRANSFORMER speed 5\n1\n", ":1:20: 'speed' is not known"},
        {"simai", "HYBRID_TRANSFORMER speed: five\n1\n", ":1:20: 'speed:' is not known"},
        {"simai", "MICRO checkpoints: 1 9\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 4 1\n", ":1:20: there is no layer 9"},
        {"inspector", "{\"coll_exec_time_us\": 1", ":1:23: "},
        {"inspector", "{\"coll_exec_time_us\": 1, \"coll\": \"Send\"}\n", ":1:1: coll is 'Send'; expected AllReduce"},
        {"inspector", "\n{\"coll_exec_time_us\": 1,\n \"coll\": nil}\n", ":3:12: invalid token"},
        {"inspector", "{\"dump_stats\": {}}\n", ":1:1: no collective is in it"},
        {"inspector", COLL("1", "5"), ":1:1: n_ranks: expected it in the collective or before it"},
        {"inspector", LINE("1", "AllReduce", "0", "1", "1"), ":1:1: coll_msg_size_bytes: expected a number from 1"},
        {"inspector", "{\"coll_exec_time_us\": 1, \"n_ranks\": 4, \"rank\": 4}\n",
         ":1:1: rank: expected a number from 0 to 3"},
        {"inspector", LINE("1", "AllReduce", "8", "1", "1") LINE("1", "AllReduce", "9", "1", "1"),
         ":1 AllReduce of 8; expected the same at all ranks"},
        {"goal", "num_ranks 1\nrank 0 {\nsend 1b to 1\n}\n", ":3:"},
        {"hpcc", "hello\n", "does not begin a file of hpcc"},
        {"networkx", "{\"nodes\": [{\"id\": 0}],\n\"links\": [}", ":2:11: unexpected token; expected JSON"},
        {"networkx", "{\"nodes\": [{\"id\": 0}], \"nodes\": []}", ":1:30: duplicate object key"},
        {"networkx", "{\"nodes\": [{\"id\": 0}]}", ":1:1: no list 'links' or 'edges'"},
        {"networkx", "{\"nodes\": {\"id\": 0}}", ":1:1: no list 'nodes'"},
        {"networkx", "{\"nodes\": [{\"id\": 0},\n {\"id\": [1]}]}", ":2:2: a node without an id"},
        {"networkx", "{\"nodes\": [{\"id\": 0},\n {\"id\": 0}]}",
         ":2:2: a second node with the id of the one on line 1"},
        {"networkx", "{\"nodes\": [{\"id\": -1}]}", ":1:12: node -1; expected a number of 0 to"},
        {"networkx", "{\"nodes\": [\n{\"id\": 0, \"type\": \"toaster\"}]}", ":2:1: type 'toaster' of a node"},
        {"networkx", GRAPH("{\"source\": 0, \"target\": 2}"), ":3:1: target 2; expected the id of a node"},
        {"networkx", GRAPH("{\"source\": 0}"), ":3:1: a link without a target"},
        {"networkx", GRAPH("7"), ":3:1: expected a link"},
        {"networkx", GRAPH("{\"source\": 0, \"target\": 0}"), ":3:1: a link from a node to itself"},
        {"networkx", GRAPH(LINK("\"rate\": 100")),
         ":3:1: a rate of 100 bit/s (unit bps, if the file has none: rate_unit)"},
        {"networkx", GRAPH(LINK("\"delay\": 5")), ":3:1: a delay of 5000000000000 ps (unit s"},
        {"networkx", GRAPH(LINK("\"delay\": \"5 parsecs\"")), ":3:1: delay: "},
        {"networkx", GRAPH(LINK("\"delay\": null")), ":3:1: delay: expected a number or a text"},
        {"networkx", GRAPH(LINK("\"rate\": 1e11, \"speed\": 1e11")),
         ":3:1: both rate and speed of a link; expected one of them, or its name in rate_key"},
        {"networkx", GRAPH(LINK("\"x\": 1") ",\n" LINK("\"x\": 1")),
         ":4:1: a second link between two nodes (the first is on line 3)"},
        {"networkx", "{\"directed\": true, " GRAPH_REST(LINK("\"rate\": 1e11") ",\n{\"source\": 1, \"target\": 0}"),
         ":4:1: rate or delay is not that of the other direction (line 3)"},
        {"networkx",
         "{\"directed\": true, \"multigraph\": true, " GRAPH_REST(
             LINK("\"x\": 1") ",\n" LINK("\"x\": 1") ",\n{\"source\": 1, \"target\": 0}"),
         ":4:1: 2 links one way and 1 the other"},
        {"networkx", "{\"graph\": {\"delay_unit\": \"h\"}, " GRAPH_REST("1"),
         ":1:1: delay_unit of the graph is not one of its units"},
        {"networkx", "{\"instances\": [], \"nodes\": []}", "does not begin a file of networkx"},
    };
    refuse_all(bad, sizeof bad / sizeof *bad);
}

static void a_host_that_is_not_there(void **state) {
    static const char *const bad[][2] = {
        {"1\n0 3 3 100 1 2.0\n", "flow.txt:2:1: node 3 is a switch of the topology"},
        {"1\n9 0 3 100 1 2.0\n", "flow.txt:2:1: node 9: the topology has"},
        {"1\n1 1 3 100 1 2.0\n", "flow.txt:2:1: a flow from host 1 to itself"},
    };
    const char *path[] = {put("topo.txt", topology), ""};
    struct weft_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        path[1] = put("flow.txt", bad[i][0]);
        free(import("hpcc", path, 2, &error));
        if (!strstr(error.text, bad[i][1])) fail_msg("%s", error.text);
    }
    path[1] = put("flow.txt", "1\n0 1 3 100 1 2.0\n");
    char *text = import("hpcc", path, 2, &error);
    struct run r = {0};
    assert_string_equal(error.text, "");
    put("flow.txt", bad[0][0]); // and in place
    const char *scenario = put("scenario.yaml", text);
    assert_int_equal(weft_scenario_file_read(scenario, NULL, 0, &r.file, &r.error), WEFT_OK);
    assert_int_equal(run_bind(&r, 0), WEFT_ERROR_INPUT);
    assert_non_null(strstr(r.error.text, "flow.txt:2:1: host number 3, but the topology has no host-3"));
    run_free(&r);
    free(text);
}

static void count(void *context, const struct weft_model *importer, const char *what) {
    strcat(context, importer->name);
    strcat(context, " ");
    strcat(context, what);
}

static void guesses(void **state) {
    static const struct {
        const char *text, *expected;
    } files[] = {
        {topology, "hpcc topologysimai topology"}, // as part of a workload
        {"1\n0 1 3 100 1 2.0\n", "hpcc flows"},
        {"CC_MODE 1\n", "hpcc configurationsimai configuration"},
        {"source,to,volume\n", "csv flows"},
        {"# a comment\nsrc\tdst\tbytes\n", "csv flows"},
        {"{\"directed\": false, \"multigraph\": false, ", "networkx topology"},
        {"num_ranks 1\nrank 0 {\n}\n", "goal schedule"},
        {"{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 2, \"hash_ids\": [1]}\n", "mooncake requests"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n", "azure requests"},
        {"<system version='1'/>", "nccl server"},
    };
    for (size_t i = 0; i < 2 * sizeof files / sizeof *files; i++) { // each also behind a byte order mark
        char found[256] = "", text[1024];
        struct weft_error error = {0};
        snprintf(text, sizeof text, "%s%s", i % 2 ? "\xef\xbb\xbf" : "", files[i / 2].text);
        assert_int_equal(weft_import_guess(put("guess", text), count, found, &error), WEFT_OK);
        assert_string_equal(found, files[i / 2].expected);
    }
}

/// Files that no importer recognises: where their content begins, what it is, and how files of its syntax begin.
static void unknown_files(void **state) {
    static const struct {
        const char *text, *expected, *also;
    } files[] = {
        {"", ":1:1: the file is empty; expected a file of a known format", ""},
        {" \n\n", ":3:1: the file is empty", ""},
        {"\xef\xbb\xbfsource,target,volume\n", ":1:1: 'source,target,volume' does not begin a file of a known format",
         "(csv)"},
        {"\n  hello world\n", ":2:3: 'hello world' does not begin a file of a known format", "\"num_ranks N\""},
        {"{\"a\": 1, 2}", ":1:10: ", "expected JSON"},
        {"{\"a\": {\"b\": 2}}", ":1:1: '{\"a\": {\"b\": 2}}' does not begin a file of a known format",
         "tables of SONiC"},
        {"<a><b></a>", ":1:9: mismatched tag", "expected XML"},
        {"<a/>", ":1:1: '<a/>' does not begin a file of a known format", "<algo> (msccl)"},
        {"\x7f\x45LF", ": byte 0: bytes 7f 45 4c 46 do not begin a file", "pcapng (capture)"},
        {"012345678901234567890123456789012345678\xc3\xa4 and more",
         ":1:1: '012345678901234567890123456789012345678...' does not begin", ""},
        {"\xe4hello\n", ":1:1: text that is not UTF-8 does not begin a file of a known format", ""},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char found[256] = "";
        struct weft_error error = {0};
        const char *path = put("unknown", files[i].text);
        assert_int_equal(weft_import_guess(path, count, found, &error), WEFT_ERROR_INPUT);
        assert_string_equal(found, "");
        assert_int_equal(strncmp(error.text, path, strlen(path)), 0);
        assert_int_equal(strncmp(error.text + strlen(path), files[i].expected, strlen(files[i].expected)), 0);
        assert_non_null(strstr(error.text, files[i].also));
    }
}

/// The command: without a file, and with settings that it would not use.
static void command_needs_a_file_and_a_format(void **state) {
    (void)state;
    const char *path = put("set.csv", "src,dst,bytes\n0,1,100\n");
    const char *const cases[][2] = {{"import goal 2>&1 # ", "weft: import goal: no file; expected a schedule in GOAL"},
                                    {"import --set rate=400 2>&1 ", "weft: --set: 'rate=400' is for the making of a"}};
    for (uint32_t i = 0; i < 2; i++) {
        char line[1024], text[1024] = "";
        snprintf(line, sizeof line, "'%s' %s%s", getenv("WEFT"), cases[i][0], path);
        FILE *pipe = popen(line, "r");
        assert_non_null(pipe);
        assert_true(fread(text, 1, sizeof text - 1, pipe) > 0);
        assert_int_equal(pclose(pipe) >> 8, 2);
        assert_non_null(strstr(text, cases[i][1]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_needs_a_file_and_a_format),
        cmocka_unit_test(a_table_of_flows),
        cmocka_unit_test(hpcc_in_any_order),
        cmocka_unit_test(hpcc_as_it_comes),
        cmocka_unit_test(simai_servers),
        cmocka_unit_test(goal_nics),
        cmocka_unit_test(error_rates_are_of_packets),
        cmocka_unit_test(hpcc_configuration),
        cmocka_unit_test(hpcc_windows),
        cmocka_unit_test(a_directed_graph),
        cmocka_unit_test(links_by_position),
        cmocka_unit_test(simai_layers),
        cmocka_unit_test(simai_pipeline),
        cmocka_unit_test(simai_without_pipeline),
        cmocka_unit_test(simai_without_gpus),
        cmocka_unit_test(inspector_lines),
        cmocka_unit_test(inspector_processes),
        cmocka_unit_test(what_cannot_be_read),
        cmocka_unit_test(a_host_that_is_not_there),
        cmocka_unit_test(guesses),
        cmocka_unit_test(unknown_files),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
