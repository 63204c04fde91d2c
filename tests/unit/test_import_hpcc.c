// SPDX-License-Identifier: Apache-2.0
// Files of ns-3's RDMA simulators: what each CC_MODE and each key of a configuration becomes, what is told as lost, and
// networks whose hosts have several links.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <math.h>

#include "import_files.h"

/// One switch at 100G and 1 us: the longest round trip is 4160 ns (tests/unit/test_import.c, hpcc_windows).
static const char star[] = "6 1 5\n5\n0 5 100Gbps 1us 0\n1 5 100Gbps 1us 0\n2 5 100Gbps 1us 0\n3 5 100Gbps 1us 0\n"
                           "4 5 100Gbps 1us 0\n";
static const char incast[] = "4\n1 0 3 100 100000 0\n2 0 3 100 100000 0\n3 0 3 100 100000 0\n4 0 3 100 100000 0\n";

/// Values with which each key of HPCC's run script asks for nothing that weft does otherwise.
#define PLAIN                                                                                                          \
    "ENABLE_QCN 1\nUSE_DYNAMIC_PFC_THRESHOLD 1\nPACKET_PAYLOAD_SIZE 1000\nTOPOLOGY_FILE star.txt\n"                    \
    "FLOW_FILE incast.txt\nTRACE_FILE mix/trace.txt\nTRACE_OUTPUT_FILE mix/mix.tr\nFCT_OUTPUT_FILE mix/fct.txt\n"      \
    "PFC_OUTPUT_FILE mix/pfc.txt\nSIMULATOR_STOP_TIME 4.00\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\n"       \
    "CLAMP_TARGET_RATE 0\nRP_TIMER 300\nEWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\nRATE_AI 50Mb/s\n"                 \
    "RATE_HAI 100Mb/s\nMIN_RATE 1000Mb/s\nDCTCP_RATE_AI 1000Mb/s\nERROR_RATE_PER_LINK 0.0000\nL2_CHUNK_SIZE 4000\n"    \
    "L2_ACK_INTERVAL 1\nL2_BACK_TO_ZERO 0\nHAS_WIN 1\nGLOBAL_T 1\nFAST_REACT 1\nU_TARGET 0.9\nMI_THRESH 0\n"           \
    "INT_MULTI 4\nMULTI_RATE 0\nSAMPLE_FEEDBACK 0\nPINT_LOG_BASE 1.05\nPINT_PROB 1.0\nRATE_BOUND 1\n"                  \
    "ACK_HIGH_PRIO 0\nLINK_DOWN 0 0 0\nENABLE_TRACE 1\nKMAX_MAP 1 100000000000 1600\nKMIN_MAP 1 100000000000 400\n"    \
    "PMAX_MAP 1 100000000000 0.2\nBUFFER_SIZE 32\nQLEN_MON_FILE mix/q.txt\nQLEN_MON_START 2000000000\n"                \
    "QLEN_MON_END 3000000000\n"

/// The importer's text for a configuration; its losses in *losses.
static char *made_of(const char *config, char **losses) {
    struct weft_error error;
    put("star.txt", star);
    put("incast.txt", incast);
    const char *path = put("config.txt", config);
    char *text = import_with_losses("hpcc", &path, 1, losses, &error);
    if (*error.text) fail_msg("%s", error.text);
    return text;
}

static void has(const char *text, const char *what) {
    if (!strstr(text, what)) fail_msg("'%s' is not in:\n%s", what, text);
}

/// w_ai is RATE_AI x T: 50 Mbit/s x 4160 ns are 26 B. DCTCP begins with the window of HAS_WIN, 52 packets of 1000 B.
static void congestion_controls(void **state) {
    static const struct {
        const char *mode, *model, *said, *lost;
    } cases[] = {
        {"1\nVAR_WIN 0", "dcqcn_connectx", "additive_increase: 50Mbps", ""},
        {"3\nVAR_WIN 1", "hpcc",
         "kind: hpcc\n    eta: 0.9\n    max_stage: 0\n    w_ai: 26B\n    base_rtt: 4160ns\n    min_rate: 1Gbps\n    "
         "int_header: 42B\n",
         ""},
        {"7\nVAR_WIN 0", "timely",
         "additive_increase: 50Mbps\n    hyper_factor: 2\n    max_decrease: 0.999\n    min_rate: 1Gbps\n",
         "lost: TIMELY there counts"},
        {"8\nVAR_WIN 1", "dctcp", "g: 0.00390625\n    initial_cwnd: 52\n    max_cwnd: 52000B\n",
         "lost: DCTCP is a paced rate there, which grows by DCTCP_RATE_AI a round trip (0.52 packets"},
        {"10\nVAR_WIN 1", "hpcc", "int_header: 1B\n", "lost: HPCC-PINT of CC_MODE 10, which weft does not have: HPCC"},
        {"11\nVAR_WIN 0", "none", "cc: none\n", "broken: congestion control of CC_MODE 11 (Swift in SimAI"},
        {"99\nVAR_WIN 0", "none", "cc: none\n", "broken: congestion control of CC_MODE 99, which is not known"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char config[4096], *losses;
        snprintf(config, sizeof config, PLAIN "CC_MODE %s\n", cases[i].mode);
        char *text = made_of(config, &losses);
        has(text, cases[i].said);
        has(losses, cases[i].lost);
        if (!*cases[i].lost) assert_string_equal(losses, "");
        free(losses);
        free(text);
        const char *path = put("config.txt", config);
        struct run r = run_import("hpcc", &path, 1);
        assert_string_equal(r.scenario->device[0].host.cc.model->name, cases[i].model);
        assert_int_equal(r.status, WEFT_OK);
        run_free(&r);
    }
}

/// Marks are nothing to HPCC and TIMELY, and all to DCQCN and DCTCP.
static void without_marks(void **state) {
    static const char *const model[] = {"1", "cc: none", "3", "kind: hpcc", "7", "kind: timely", "8", "cc: none"};
    for (size_t i = 0; i < 8; i += 2) {
        char config[200], *losses;
        snprintf(config, sizeof config, "ENABLE_QCN 0\nCC_MODE %s\nTOPOLOGY_FILE star.txt\n", model[i]);
        char *text = made_of(config, &losses);
        has(text, model[i + 1]);
        has(text, "aqm: none");
        free(losses);
        free(text);
    }
}

/// Each key in turn with a value that weft does not follow: one more line, which names it, and none for other modes.
static void each_key_is_taken_or_told(void **state) {
    static const struct {
        const char *mode, *line, *lost;
    } cases[] = {
        {"3", "FAST_REACT 0", "lost: FAST_REACT 0: "},
        {"3", "MULTI_RATE 1", "lost: MULTI_RATE 1: "},
        {"3", "SAMPLE_FEEDBACK 1", "lost: SAMPLE_FEEDBACK 1: "},
        {"3", "RATE_BOUND 0", "lost: RATE_BOUND 0: "},
        {"3", "ACK_HIGH_PRIO 1", "lost: ACK_HIGH_PRIO 1: "},
        {"3", "L2_BACK_TO_ZERO 1", "lost: L2_BACK_TO_ZERO 1: "},
        {"3", "L2_ACK_INTERVAL 1001", "lost: L2_ACK_INTERVAL 1001: "},
        {"3", "GLOBAL_T 0", "lost: GLOBAL_T 0: "},
        {"3", "VAR_WIN 0", "lost: VAR_WIN 0: "},
        {"3", "HAS_WIN 0", "lost: HAS_WIN 0: "},
        {"3", "U_TARGET 1.5", "lost: U_TARGET 1.5: "},
        {"3", "MY_KEY 5", "lost: keys of the configuration that are not known: MY_KEY"},
        {"1", "VAR_WIN 1", "lost: VAR_WIN: "},
        {"1", "FAST_REACT 0", ""},
        {"1", "MULTI_RATE 1", ""},
        {"1", "PINT_PROB 0.5", ""},
        {"3", "L2_ACK_INTERVAL 1000", ""},
        {"3", "L2_CHUNK_SIZE 0", ""},
        {"3", "USE_DYNAMIC_PFC_THRESHOLD 0", ""},
        {"3", "QP_MON_INTERVAL 100", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char config[4096], *losses;
        snprintf(config, sizeof config, PLAIN "CC_MODE %s\nVAR_WIN %d\n%s\n", cases[i].mode, *cases[i].mode == '3',
                 cases[i].line);
        free(made_of(config, &losses));
        if (strncmp(losses, cases[i].lost, strlen(cases[i].lost)) || (!*cases[i].lost && *losses) ||
            (*losses && strchr(losses, '\n')[1]))
            fail_msg("%s: '%s' where '%s' was expected", cases[i].line, losses, cases[i].lost);
        free(losses);
    }
}

/// SimAI's keys of 2025 are attributes of its classes, and say the same as the older ones; gains are of one control.
static void attributes_of_classes(void **state) {
    static const char text[] =
        "# a comment\nTOPOLOGY_FILE star.txt\nFLOW_FILE incast.txt\nHAS_WIN 1\nns3::QbbNetDevice::QcnEnabled true\n"
        "ns3::QbbNetDevice::DynamicThreshold true\nns3::SwitchNode::PfcEnabled false\nns3::RdmaHw::Mtu 9000\n"
        "ns3::RdmaHw::RateAI 5Mb/s\nns3::RdmaHw::RateHAI 50Mb/s\nns3::RdmaHw::MinRate 100Mb/s\n"
        "ns3::RdmaHw::L2ChunkSize 4000\nns3::RdmaHw::L2AckInterval 1\nns3::RdmaHw::L2BackToZero false\n"
        "ns3::RdmaHw::VarWin false\nns3::RdmaHw::RateBound true\nns3::RdmaHw::NicCoalesceMethod PER_QP\n"
        "ns3::RdmaHw::NACKGenerationInterval 0.01\nns3::RdmaHw::GPUsPerServer 8\n"
        "ns3::MellanoxDcqcn::AlphaResumInterval 1.0\nns3::MellanoxDcqcn::EwmaGain 0.25\n"
        "ns3::Hpcc::FastReact true\nns3::Hpcc::TargetUtil 0.9\nns3::Hpcc::MultiRate false\n"
        "ns3::RealDcqcn::F 1\nns3::RealDcqcn::BytesThreshold 524240\n";
    static const char *const mode[] = {"1", "g: 0.25\n", "3", "eta: 0.9\n", "8", "kind: dctcp\n    initial_cwnd"};
    for (size_t i = 0; i < 6; i += 2) {
        char config[2048], *losses;
        snprintf(config, sizeof config, "%sns3::RdmaHw::CcMode %s\n", text, mode[i]);
        char *made = made_of(config, &losses);
        has(made, mode[i + 1]);
        has(made, "mtu: 9000B\n  transport: {nak_interval: 0.01us}\n");
        has(made, "pfc: {priorities: none}");
        if (i == 0) assert_string_equal(losses, "");
        free(made);
        free(losses);
    }
    char *losses, config[2048];
    snprintf(config, sizeof config, "%sns3::RdmaHw::NicCoalesceMethod PER_IP\nns3::IbvInterface::SendLatency 8000\n",
             text);
    free(made_of(config, &losses));
    has(losses, "not known: ns3::RdmaHw::NicCoalesceMethod ns3::IbvInterface::SendLatency\n");
    free(losses);
}

/// PFC is for all priority groups of flows but 0.
static void priority_groups(void **state) {
    const char *path[] = {put("star.txt", star),
                          put("groups.txt", "3\n1 0 4 100 5000 0\n2 0 0 100 5000 0\n3 0 6 100 5000 0\n")};
    struct weft_error error;
    char *losses, *made = import_with_losses("hpcc", path, 2, &losses, &error);
    has(made, "switch:\n  preset: ns3_hpcc     # docs/peers.md\n  pfc: {priorities: [3, 4, 6]}\n");
    has(made, "  mtu: 1000B\n  pfc: {priorities: [3, 4, 6]}\n");
    has(losses, "lost: flows of several priority groups");
    free(made);
    free(losses);
    struct run r = run_import("hpcc", path, 2);
    assert_int_equal(r.status, WEFT_OK);
    run_free(&r);
}

/// At 2 s and 100 us, and routes are new at once; 1% of packets of 1048 B on the links that say 0.
static void failures_and_errors(void **state) {
    char *losses, *text = made_of(PLAIN "VAR_WIN 0\nLINK_DOWN 100 5 2\nERROR_RATE_PER_LINK 0.01\n", &losses);
    has(text, "events:\n- {at: 2.0001s, link: switch-5--host-2, state: down}\n");
    has(text, "detection: 0ns");
    assert_string_equal(losses, "");
    free(losses);
    free(text);
    put("star.txt", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0.5\n");
    const char *path = put("config.txt", "CC_MODE 1\nTOPOLOGY_FILE star.txt\nERROR_RATE_PER_LINK 0.01\n");
    struct run r = {0};
    struct weft_error error;
    text = import("hpcc", &path, 1, &error);
    if (weft_scenario_file_read(put("made.yaml", text), NULL, 0, &r.file, &r.error) || run_bind(&r, 0))
        fail_msg("%s", r.error.text);
    assert_true(fabs(pow(1 - r.topology->link[0].bit_error_rate, 8 * 1048) - .99) < 1e-9);
    assert_true(fabs(pow(1 - r.topology->link[1].bit_error_rate, 8 * 1048) - .5) < 1e-9);
    run_free(&r);
    free(text);
    path = put("config.txt", "CC_MODE 1\nTOPOLOGY_FILE star.txt\nLINK_DOWN 1 0 1\n");
    free(import("hpcc", &path, 1, &error));
    has(error.text, "config.txt:3:15: LINK_DOWN: no link between the nodes 0 and 1");
}

/// The same four hosts at 25 Gbit/s by the first line of HPCC, of PowerTCP and of Reverie.
static void first_lines(void **state) {
    static const char *const first[] = {"5 1 4\n", "5 1 1 4\n", "5 1 1 4 25000000000.0 100000000000.0\n"};
    for (size_t i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "%s4\n0 4 25000000000.0 1us 0\n1 4 25000000000.0 1us 0\n2 4 25000000000.0 1us 0\n"
                 "3 4 25000000000.0 1us 0\n",
                 first[i]);
        const char *path = put("topology.txt", text);
        struct run r = run_import("hpcc", &path, 1);
        assert_int_equal(r.topology->hosts, 4);
        assert_int_equal(r.topology->links, 4);
        assert_int_equal(r.topology->link[3].rate_bps, UINT64_C(25000000000));
        run_free(&r);
        const char *both[] = {path, put("config.txt", "CC_MODE 3\n")};
        struct weft_error error;
        char *made = import("hpcc", both, 2, &error);
        assert_int_equal(strstr(made, "--wien is PowerTCP") != NULL, i > 0);
        free(made);
    }
}

/// Two GPUs of a server at an NVSwitch: its network gets the rate of their links, and no link of it is in the topology.
static void nvlink_rates(void **state) {
    static const char *const rate[] = {"3600Gbps", "7200Gbps", "100Mbps", "14400Gbps"};
    static const char *const said[] = {
        "server: {gpus: 2, rate: 3600Gbps, latency: 100ns}", "server: {gpus: 2, rate: 7200Gbps, latency: 100ns}",
        "NVSwitches and their links", "server: {gpus: 2, rate: 7200Gbps, latency: 100ns}"};
    for (size_t i = 0; i < 4; i++) {
        char text[300], *losses;
        struct weft_error error;
        snprintf(text, sizeof text,
                 "4 2 1 1 4 H100\n2 3\n0 2 %s 0.000025ms 0\n1 2 %s 0.000025ms 0\n0 3 400Gbps 0.0005ms 0\n"
                 "1 3 400Gbps 0.0005ms 0\n",
                 rate[i], rate[i]);
        const char *path = put("nvlink.txt", text);
        char *made = import_with_losses("hpcc", &path, 1, &losses, &error);
        assert_string_equal(error.text, "");
        has(made, said[i]);
        assert_int_equal(*losses != 0, i > 1);
        if (i == 3) has(losses, "lost: NVLink of 14400Gbps");
        free(made);
        free(losses);
        struct run r = run_import("hpcc", &path, 1);
        assert_int_equal(r.topology->links, 2);
        run_free(&r);
    }
}

/// GPUs whose NVLinks have several rates: the slowest counts, whichever comes first, and that is told.
static void nvlinks_of_several_rates(void **state) {
    static const char *const rates[][2] = {{"3600Gbps", "7200Gbps"}, {"7200Gbps", "3600Gbps"}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char text[300], *losses;
        struct weft_error error;
        snprintf(text, sizeof text,
                 "4 2 1 1 4 H100\n2 3\n0 2 %s 0.000025ms 0\n1 2 %s 0.000025ms 0\n0 3 400Gbps 0.0005ms 0\n"
                 "1 3 400Gbps 0.0005ms 0\n",
                 rates[i][0], rates[i][1]);
        const char *path = put("nvlink.txt", text);
        char *made = import_with_losses("hpcc", &path, 1, &losses, &error);
        has(made, "server: {gpus: 2, rate: 3600Gbps, latency: 100ns}");
        has(losses, "lost: NVLinks of up to 7200Gbps: all servers have the 3600Gbps of the slowest GPU");
        free(made);
        free(losses);
    }
}

/// The first line promises four links and five follow, as in ns-3 without the last one: worst first, and for flows too.
static void less_than_promised(void **state) {
    const char *path = put("parts.txt", "6 2 4\n4 5\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n"
                                        "3 5 100Gbps 1us 0\n4 5 100Gbps 1us 0\n");
    char *losses = losses_of("hpcc", &path, 1);
    const char *lost = strstr(losses, "\nlost: ");
    assert_ptr_equal(strstr(losses, "broken: a run refuses it: the network is in parts: no path from host-0 to "
                                    "host-2\n"),
                     losses);
    assert_non_null(lost);
    has(lost, "parts.txt: the first line promises 4 links, and 5 follow: those from line 7 on are missing");
    free(losses);
    path = put("few.txt", "1\n0 1 3 100 5000 0\n1 0 3 100 5000 0\n1 0 3 100 5000 0\nThe end\n");
    losses = losses_of("hpcc", &path, 1);
    has(losses, "few.txt: the first line promises 1 flow, and 3 follow: those from line 3 on are missing");
    free(losses);
}

/// The command says losses on standard error, worst first, and the scenario has them as comments; --quiet keeps them.
static void losses_on_the_terminal(void **state) {
    const char *path = put("parts.txt", "6 2 4\n4 5\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n"
                                        "3 5 100Gbps 1us 0\n4 5 100Gbps 1us 0\n");
    for (unsigned quiet = 0; quiet < 2; quiet++) {
        char line[700], text[2048] = "";
        snprintf(line, sizeof line, "'%s' import hpcc %s --force --out %s/made.yaml %s 2>&1 >/dev/null", getenv("WEFT"),
                 path, folder, quiet ? "--quiet" : "");
        FILE *pipe = popen(line, "r");
        assert_non_null(pipe);
        assert_true(fread(text, 1, sizeof text - 1, pipe) > 0);
        assert_int_equal(pclose(pipe), 0);
        const char *broken = strstr(text, "weft: broken: a run refuses it"), *lost = strstr(text, "weft: lost: ");
        assert_true(broken && lost && broken < lost);
        assert_int_equal(strstr(text, "weft: wrote ") != NULL, !quiet);
    }
}

// --- hosts with several links -------------------------------------------------------------------------------------

enum { GPUS = 8, PER_SERVER = 4 };

/// A form of SimAI's networks: GPUs at `rails` leaves a side (1 or PER_SERVER), on one side or two, each side with its
/// own spines or all with all; `turned`: odd GPUs name the second side first.
static const char *simai(uint32_t rails, uint32_t sides, bool own_spines, bool turned) {
    enum { SPINES = 2 };
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    uint32_t nv = GPUS / PER_SERVER, leaf0 = GPUS + nv, leaves = rails * sides, spine0 = leaf0 + leaves,
             nodes = spine0 + SPINES, links = GPUS * (1 + sides) + leaves * SPINES / (own_spines ? 2 : 1);
    fprintf(file, "%u %u %u %u %u H100\n", nodes, PER_SERVER, nv, leaves + SPINES, links);
    for (uint32_t s = GPUS; s < nodes; s++)
        fprintf(file, "%u ", s);
    for (uint32_t g = 0; g < GPUS; g++) {
        fprintf(file, "\n%u %u 2880Gbps 0.000025ms 0", g, GPUS + g / PER_SERVER);
        for (uint32_t k = 0; k < sides; k++)
            fprintf(file, "\n%u %u 200Gbps 0.0005ms 0", g,
                    leaf0 + ((turned && g % 2) ? sides - 1 - k : k) * rails + g % rails);
    }
    for (uint32_t l = 0; l < leaves; l++)
        for (uint32_t s = 0; s < SPINES; s++)
            if (!own_spines || l / rails == s) fprintf(file, "\n%u %u 400Gbps 0.0005ms 0", leaf0 + l, spine0 + s);
    fputs("\n", file);
    fclose(file);
    const char *path = put("simai", text);
    free(text);
    return path;
}

/// Nodes of a plane: all hosts, the leaves of a side, its own spine or both.
static void simai_networks(void **state) {
    for (uint32_t form = 0; form < 16; form++) {
        uint32_t rails = form & 1 ? PER_SERVER : 1, sides = 1 + (form >> 1 & 1);
        bool own = form >> 2 & 1, turned = form >> 3 & 1;
        if (sides == 1 && (own || turned)) continue;
        const char *path = simai(rails, sides, own, turned);
        struct run r = run_import("hpcc", &path, 1);
        assert_int_equal(r.topology->networks, sides);
        assert_int_equal(r.topology->hosts, GPUS * sides);
        assert_int_equal(r.topology->switches, sides * (rails + (own ? 1 : 2)));
        assert_int_equal(r.topology->links, sides * (GPUS + rails * (own ? 1 : 2)));
        assert_int_equal(r.scenario->device[0].host.planes, sides > 1 ? WEFT_PLANES_QUEUE_PAIR : WEFT_PLANES_SEPARATE);
        assert_int_equal(r.status, WEFT_OK);
        run_free(&r);
        char *losses = losses_of("hpcc", &path, 1);
        assert_int_equal(strstr(losses, "planes share ") != NULL, sides > 1 && !own);
        free(losses);
    }
}

/// Flows name hosts by their numbers in the file, and queue pairs take both planes.
static void flows_over_planes(void **state) {
    put("simai", "");
    const char *path[] = {simai(1, 2, true, false), put("flows.txt", "2\n0 7 3 100 100000 0\n1 6 3 100 100000 0\n")};
    struct run r = run_import("hpcc", path, 2);
    assert_int_equal(r.workload->flow[0].src, 0);
    assert_int_equal(r.workload->flow[0].dst, 7);
    assert_string_equal(r.topology->node[r.topology->host[7]].name, "plane-0-host-7");
    assert_int_equal(r.status, WEFT_OK);
    run_free(&r);
}

/// Both leaves at the same two spines, with a link between the leaves and one between the spines, which both planes
/// have at half its rate. Hosts 0 to 3, leaves 4 and 5, spines 6 and 7.
static void what_planes_share(void **state) {
    const char *path = put("shared.txt", "8 4 14\n4 5 6 7\n0 4 100Gbps 1us 0\n0 5 100Gbps 1us 0\n1 4 100Gbps 1us 0\n"
                                         "1 5 100Gbps 1us 0\n2 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n3 4 100Gbps 1us 0\n"
                                         "3 5 100Gbps 1us 0\n4 6 100Gbps 1us 0\n4 7 100Gbps 1us 0\n5 6 100Gbps 1us 0\n"
                                         "5 7 100Gbps 1us 0\n6 7 400Gbps 1us 0\n4 5 200Gbps 1us 0\n");
    char *losses = losses_of("hpcc", &path, 1);
    has(losses, "lost: 1 link from one plane to another\n");
    has(losses, "; 1 link between them in several planes, with a part of the rate in each");
    free(losses);
    struct run r = run_import("hpcc", &path, 1);
    assert_int_equal(r.topology->networks, 2);
    assert_int_equal(r.topology->links, 2 * (4 + 2 + 1));
    uint32_t halves = 0;
    for (uint32_t i = 0; i < r.topology->links; i++)
        halves += r.topology->link[i].rate_bps == UINT64_C(200000000000);
    assert_int_equal(halves, 2);
    run_free(&r);
}

/// Both links of a host to one switch: it is in both planes.
static void two_links_to_one_switch(void **state) {
    const char *path = put("twice.txt", "3 1 4\n2\n0 2 100Gbps 1us 0\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n"
                                        "1 2 100Gbps 1us 0\n");
    struct run r = run_import("hpcc", &path, 1);
    assert_int_equal(r.topology->networks, 2);
    assert_int_equal(r.topology->links, 4);
    run_free(&r);
}

/// A link that fails, in the plane that has it.
static void a_failure_in_a_plane(void **state) {
    const char *path[] = {simai(1, 2, true, false), put("config.txt", "CC_MODE 1\nLINK_DOWN 5 3 11\nRATE_AI 50Mb/s\n")};
    struct weft_error error;
    char *text = import("hpcc", path, 2, &error);
    assert_string_equal(error.text, "");
    has(text, "events:\n- {at: 2.000005s, link: plane-1-host-3--plane-1-switch-11, state: down}\n\n");
    free(text);
}

// --- workloads of SimAI with their network ------------------------------------------------------------------------

#define HYBRID(more, lines)                                                                                            \
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 " \
    "checkpoint_initiates: 0" more "\n" lines

/// Every kind of collective that weft has, in every group; others are left out, with the first one told. TP of 4, DP
/// of 2, EP of 2.
static void words_of_a_workload(void **state) {
    static const struct {
        const char *type, *name;
        uint32_t ranks;
        const char *lost;
    } cases[] = {
        {"ALLREDUCE", "all_reduce_ring", 4, NULL},
        {"ALLREDUCE_TP", "all_reduce_ring", 4, NULL},
        {"ALLGATHER_EP", "all_gather", 2, NULL},
        {"REDUCESCATTER_DP", "reduce_scatter", 2, NULL},
        {"ALLTOALL_EP", "all_to_all", 2, NULL},
        {"BROADCAST", "broadcast", 4, NULL},
        {"REDUCE_DP", "reduce", 2, NULL},
        {"GATHER", "gather", 4, NULL},
        {"SCATTER_EP", "scatter", 2, NULL},
        {"SENDRECV", NULL, 0, "lost: the communication of 1 entries"},
        {"ALLREDUCEALLTOALL", NULL, 0, "the first, ALLREDUCEALLTOALL, is on line 3"},
        {"BROADCAST_PP", NULL, 0, "the first, BROADCAST_PP, is on line 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text, HYBRID("", "1\na -1 1000 %s 4096 1 NONE 0 1 NONE 0 1\n"), cases[i].type);
        const char *path = put("workload.txt", text);
        struct run r = run_import("simai", &path, 1);
        const struct weft_job_op *op = r.workload->job[0].op;
        assert_int_equal(op->name != NULL, cases[i].name != NULL);
        if (cases[i].name) assert_string_equal(op->name, cases[i].name);
        if (cases[i].name) assert_int_equal(op->shape.ranks, cases[i].ranks);
        run_free(&r);
        char *losses = losses_of("simai", &path, 1);
        if (cases[i].lost) has(losses, cases[i].lost);
        if (!cases[i].lost) assert_string_equal(losses, "");
        free(losses);
    }
    const char *path = put("workload.txt", HYBRID(" dp: 2 cp: 1", "1\na -1 1 ALLREDUCE 4096 1 NONE 0 1 NONE 0 1\n"));
    char *losses = losses_of("simai", &path, 1);
    assert_string_equal(losses, "lost: 2 entries of the header that are not known; the first is dp:\n");
    free(losses);
}

/// One command with workload, topology and configuration in any order: the job is on the topology's hosts, and its
/// servers are the file's. The configuration's file of flows, of another machine, is not needed.
static void a_workload_with_its_network(void **state) {
    static const char workload[] = HYBRID("", "1\na -1 1000 ALLREDUCE 4096 1 NONE 0 1 ALLREDUCE 4096 1\n");
    static const char config[] = "CC_MODE 3\nPACKET_PAYLOAD_SIZE 9000\nFLOW_FILE /nowhere/flow1.txt\n";
    for (uint32_t sides = 1; sides < 3; sides++) {
        const char *path[] = {put("SimAI.conf", config), simai(PER_SERVER, sides, sides > 1, false),
                              put("workload.txt", workload)};
        struct run r = run_import("simai", path, 3);
        assert_int_equal(r.topology->hosts, GPUS * sides);
        assert_int_equal(r.workload->jobs, 1);
        assert_int_equal(r.workload->job[0].ranks, GPUS);
        assert_int_equal(r.outcome->job[0].ranks_done, GPUS);
        assert_int_equal(r.scenario->device[0].host.mtu_bytes, 9000);
        assert_string_equal(r.scenario->device[0].host.cc.model->name, "hpcc");
        run_free(&r);
        struct weft_error error;
        char *text = import("simai", path, 3, &error);
        has(text, "server: {gpus: 4, rate: 2880Gbps, latency: 100ns}");
        assert_null(strstr(text, "server.gpus"));
        free(text);
    }
    const char *without[] = {put("SimAI.conf", config), simai(PER_SERVER, 1, false, false)};
    char *losses = losses_of("hpcc", without, 2);
    has(losses, "broken: FLOW_FILE: /nowhere/flow1.txt is not here, so its flows are missing\n");
    free(losses);
    struct weft_error error;
    const char *few[] = {put("two", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n"), put("workload.txt", workload)};
    free(import("simai", few, 2, &error));
    has(error.text, "two: 2 hosts for the 8 GPUs of ");
    free(import("simai", few, 1, &error));
    has(error.text, "two: is a topology, and no file is a workload of SimAI");
}

/// Without other switches, NVSwitches are the network: one for all, or one a server, which are parts.
static void nvlink_alone(void **state) {
    const char *path = put("alone", "5 4 1 0 4 H100\n4 \n0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n"
                                    "2 4 2880Gbps 0.000025ms 0\n3 4 2880Gbps 0.000025ms 0\n");
    struct run r = run_import("hpcc", &path, 1);
    assert_int_equal(r.topology->hosts, 4);
    assert_int_equal(r.topology->switches, 1);
    run_free(&r);
    path = put("alone", "6 2 2 0 4 H100\n4 5 \n0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n"
                        "2 5 2880Gbps 0.000025ms 0\n3 5 2880Gbps 0.000025ms 0\n");
    char *losses = losses_of("hpcc", &path, 1);
    has(losses, "broken: a run refuses it: the network is in parts");
    free(losses);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(congestion_controls),
        cmocka_unit_test(without_marks),
        cmocka_unit_test(each_key_is_taken_or_told),
        cmocka_unit_test(attributes_of_classes),
        cmocka_unit_test(priority_groups),
        cmocka_unit_test(failures_and_errors),
        cmocka_unit_test(first_lines),
        cmocka_unit_test(nvlink_rates),
        cmocka_unit_test(nvlinks_of_several_rates),
        cmocka_unit_test(less_than_promised),
        cmocka_unit_test(losses_on_the_terminal),
        cmocka_unit_test(simai_networks),
        cmocka_unit_test(flows_over_planes),
        cmocka_unit_test(what_planes_share),
        cmocka_unit_test(two_links_to_one_switch),
        cmocka_unit_test(a_failure_in_a_plane),
        cmocka_unit_test(nvlink_alone),
        cmocka_unit_test(words_of_a_workload),
        cmocka_unit_test(a_workload_with_its_network),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
