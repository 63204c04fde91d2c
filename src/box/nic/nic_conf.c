// SPDX-License-Identifier: Apache-2.0
// The parameters of a host's NIC. Numbers without a source are assumed, and say so.
#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "weft/device.h"
#include "weft/hardware.h"
#include "weft/packet.h"
#include "weft/param.h"
#include "weft/transport.h"

static const char *const source_ports[] = {"queue_pair", "host_pair", "numbered", NULL};
static const char *const planes[] = {"separate", "queue_pair", "packet", NULL};
static const char *const roces[] = {"v2", "v1", NULL};
static const char *const sfc_scopes[] = {"flow", "destination", "priority", NULL};

// ns-3 as published with HPCC: Y. Li et al., SIGCOMM 2019, alibaba-edu/High-Precision-Congestion-Control: rdma-hw.cc,
// qbb-net-device.cc, third.cc. Values that scale with the rate are those for 100G in dcqcn_connectx's preset hpcc.
static const struct weft_param_value ns3_hpcc[] = {
    {"nic", WEFT_HARDWARE_IDEAL},
    {"clock_ppm", "0"},
    {"jitter", "0"},
    {"stall", "0ns"},
    {"launch_skew", "0"},
    {"processing", "0ns"},
    {"data_header", "48B"},
    {"ack_frame", "60B"},
    {"source_port", "numbered"},
    {"pace_change", "next_packet"},
    {"wire.overhead", "0B"},
    {"wire.serialisation", "whole_ns"},
    {"wire.pause_frame", "43B"},
    {"transport.kind", "roce_rc"},
    {"transport.ack_every", "1"},
    {"transport.ecn_echo", "ack"},
    {"transport.nak_interval", "500us"},
    {"transport.duplicates", "ignore"},
    {"transport.timeout", "never"},
    {"cc.kind", "dcqcn_connectx"},
    {"cc.preset", "hpcc"},
    {"pfc.reaction", "0ns"},
    {"pfc.lasts", "until_resume"},
    {NULL, NULL},
};
// htsim's RoCE over queues without loss: Broadcom/csg-htsim, sim/roce.cpp, rocepacket.h, datacenter/main_roce.cpp, with
// the defaults of its command line.
static const struct weft_param_value htsim[] = {
    {"nic", WEFT_HARDWARE_IDEAL},
    {"clock_ppm", "0"},
    {"jitter", "0"},
    {"stall", "0ns"},
    {"launch_skew", "0"},
    {"mtu", "9000B"},
    {"processing", "0ns"},
    {"data_header", "64B"},
    {"ack_frame", "64B"},
    {"wire.overhead", "0B"},
    {"wire.pause_frame", "14B"},
    {"transport.kind", "roce_rc"},
    {"transport.ack_every", "1"},
    {"transport.nak_interval", "0ns"},
    {"transport.duplicates", "acknowledge"},
    {"transport.timeout", "never"},
    {"cc.kind", "none"},
    {"pfc.priorities", "0-7"},
    {"pfc.reaction", "0ns"},
    {"pfc.lasts", "until_resume"},
    {NULL, NULL},
};
// Ultra Ethernet. Headers of 64 B as in uet-htsim; this is our choice, because the frames of its transport are not
// modelled.
static const struct weft_param_value uet[] = {
    {"data_header", "64B"}, {"ack_frame", "64B"},       {"transport.kind", "uet"},
    {"cc.kind", "nscc"},    {"pfc.priorities", "none"}, {NULL, NULL},
};
// uet-htsim, the Ultra Ethernet Consortium's reference simulator: sim/uec.cpp, datacenter/main_uec.cpp, with the
// defaults of its command line: packets of 4150 B, no preamble and gap.
static const struct weft_param_value uet_htsim[] = {
    {"nic", WEFT_HARDWARE_IDEAL},
    {"clock_ppm", "0"},
    {"jitter", "0"},
    {"stall", "0ns"},
    {"launch_skew", "0"},
    {"mtu", "4086B"},
    {"processing", "0ns"},
    {"data_header", "64B"},
    {"ack_frame", "64B"},
    {"wire.overhead", "0B"},
    {"transport.kind", "uet"},
    {"cc.kind", "nscc"},
    {"pfc.priorities", "none"},
    {NULL, NULL},
};
static const struct weft_param_preset presets[] = {
    {"ns3_hpcc", ns3_hpcc}, {"htsim", htsim}, {"uet", uet}, {"uet_htsim", uet_htsim}, {NULL, NULL}};
static const char *const preset_names[] = {"none", "ns3_hpcc", "htsim", "uet", "uet_htsim", NULL};
static const char *const pace_changes[] = {"at_once", "next_packet", NULL};
static const char *const arbitrations[] = {"packet", "message", NULL};

static bool hears_marks(const struct weft_host_conf *c) {
    const struct weft_transport_ops *transport = c->transport.model->ops;
    if (!((const struct weft_cc_ops *)c->cc.model->ops)->wants_marks) return true;
    return transport->echoes && transport->echoes(c->transport.conf);
}

static const char *host_check(const void *conf, char *text, size_t size) {
    const struct weft_host_conf *c = conf;
    const char *wrong = weft__bytes_above("rx_xon", c->rx_xon_bytes, "rx_xoff", c->rx_xoff_bytes, text, size);
    if (!wrong) wrong = weft__bytes_above("rx_xoff", c->rx_xoff_bytes, "rx_buffer", c->rx_buffer_bytes, text, size);
    if (wrong) return wrong;
    if (c->drain_rate_bps &&
        c->rx_buffer_bytes < c->mtu_bytes + WEFT_FRAME_DATA + WEFT_FRAME_RETH + weft_host_framing_bytes(c))
        snprintf(text, size,
                 "rx_buffer (%" PRIu64 "B) is less than one full frame (mtu %" PRIu64 "B and %u B of headers)",
                 c->rx_buffer_bytes, c->mtu_bytes, WEFT_FRAME_DATA + WEFT_FRAME_RETH + weft_host_framing_bytes(c));
    else if (c->drain_slow_ps >= c->drain_slow_every_ps)
        snprintf(text, size, "drain_slow_time (%" PRIu64 "ns) is no shorter than drain_slow_every (%" PRIu64 "ns)",
                 c->drain_slow_ps / WEFT_PS_PER_NS, c->drain_slow_every_ps / WEFT_PS_PER_NS);
    else if (c->window_bytes && c->window_bytes < c->mtu_bytes)
        snprintf(text, size, "window (%" PRIu64 "B) is below mtu (%" PRIu64 "B): nothing could be sent",
                 c->window_bytes, c->mtu_bytes);
    else if (weft_cc_goes_by_credit(c->cc.model->ops, c->cc.conf) &&
             !((const struct weft_transport_ops *)c->transport.model->ops)->control_priority)
        snprintf(text, size, "cc %s goes by credit of receivers, which %s does not carry; expected transport: uet",
                 c->cc.model->name, c->transport.model->name);
    else if (!hears_marks(c))
        snprintf(text, size, "cc %s goes by marks in ACKs; expected transport: {kind: %s, ecn_echo: ack}",
                 c->cc.model->name, c->transport.model->name);
    else
        return NULL;
    return text;
}
const struct weft_param_table weft_host_table = WEFT_PARAM_TABLE_OF(
    "host", struct weft_host_conf,
    WEFT_PARAM_AND(.check = host_check, .presets = presets, .classes = &weft_hardware_by_nic),
    WEFT_CHOICE(struct weft_host_conf, preset, "preset", "none", preset_names,
                "another simulator's hosts (docs/peers.md), or those of Ultra Ethernet (docs/ultra-ethernet.md); other "
                "keys override it"),
    WEFT_TEXT(struct weft_host_conf, nic, "nic", WEFT_HARDWARE_NIC_DEFAULT, WEFT_HARDWARE_HELP),
    WEFT_BYTES(struct weft_host_conf, mtu_bytes, "mtu", "4096B", "64B", "10240B", "payload of a full packet"),
    WEFT_TIME(struct weft_host_conf, processing_ps, "processing", "0ns", "0ns", "1ms",
              "from the last bit received to the NIC's reaction (assumed)"),
    WEFT_REAL(
        struct weft_host_conf, clock_ppm, "clock_ppm", "0", "0", "100",
        "how much the NIC's clock is off, at most, in parts per million: a draw per host, normal with a deviation "
        "of 20 ppm (assumed) and cut at this bound; IEEE 802.3 allows 100, 50 is usual at 400G (assumed); 0: exact"),
    WEFT_REAL(
        struct weft_host_conf, jitter, "jitter", "0", "0", "1",
        "deviation of the logarithm of a message's send_latency + receive_latency, a draw per message that delays "
        "its issue (measured over NIC and PCIe: p99 is 1.06 times the median, which is 0.03); 0: none",
        .needs = "send_latency"),
    WEFT_TIME(struct weft_host_conf, stall_ps, "stall", "0ns", "0ns", "1ms",
              "mean of how much later a message that stalls in the NIC or PCIe is issued, exponential; those after it "
              "wait (measured: 0.5us to 4us, 1us is usual); 0ns: none stalls"),
    WEFT_REAL(struct weft_host_conf, stall_chance, "stall_chance", "0.001", "0", "1",
              "share of messages that stall (of 1000 measured, the longest took 1.3 to 5.3 times the median)",
              .needs = "stall"),
    WEFT_REAL(struct weft_host_conf, idle, "idle", "0", "0", "0.5",
              "share of the time with data to send in which the line is idle, because data comes late from the host's "
              "memory: an exponential time whenever it happens, `stall` on average (measured on ConnectX-5: 0.2%); "
              "else equal senders are in step, and of two one may have every place in a full queue",
              .needs = "stall"),
    WEFT_MODEL_BESIDE(struct weft_host_conf, transport, "transport", WEFT_KIND_TRANSPORT, "roce_rc",
                      "how a queue pair's packets get to the other host"),
    WEFT_MODEL_PARAM(struct weft_host_conf, cc, "cc", WEFT_KIND_CC, "none", "congestion control of a queue pair"),
    WEFT_MODEL_PARAM(struct weft_host_conf, scheduler, "scheduler", WEFT_KIND_SCHEDULER, "strict",
                     "which priority the NIC sends next"),
    WEFT_BYTES(struct weft_host_conf, window_bytes, "window", "0B", "0B", "1TB",
               "most payload of a queue pair in flight, READ responses excepted: sent and not acknowledged, which is "
               "also the most that a go-back-N sends again after a loss; 0B: no limit"),
    WEFT_WEIGHTS(struct weft_host_conf, dscp, "dscp", "0,8,16,24,32,40,50,48", "0", "63",
                 "code point of packets of each priority, by which switches classify (24 and 48 for RoCE data and CNPs "
                 "are common, the others assumed)"),
    WEFT_TIME(struct weft_host_conf, send_latency_ps, "send_latency", "0ns", "0ns", "1ms",
              "from the posting of a work request until its first bit may leave: doorbell, fetch of the request and of "
              "its payload over PCIe, and the NIC; of a READ, until its request leaves. A latency: requests overlap"),
    WEFT_TIME(
        struct weft_host_conf, receive_latency_ps, "receive_latency", "0ns", "0ns", "1ms",
        "from the last bit received until the host sees the data in its memory, at least `processing`, after which "
        "the NIC itself reacts, as by an ACK. One way, memory to memory, is post_cost + send_latency + the "
        "network + receive_latency. A latency: the NIC goes on receiving"),
    WEFT_TIME(
        struct weft_host_conf, completion_latency_ps, "completion_latency", "0ns", "0ns", "1ms",
        "from the last bit of the acknowledgement, or of a READ's last response, until the sender's software sees "
        "the completion, at least `processing`: then it posts its next message, and a buffer is free"),
    WEFT_TIME(struct weft_host_conf, post_cost_ps, "post_cost", "0ns", "0ns", "1ms",
              "time of the host's thread per work request that it posts, one after another: CPU and doorbell"),
    WEFT_RATE(struct weft_host_conf, pcie_rate_bps, "pcie_rate", "0bps", "0bps", "100Tbps",
              "rate at which the NIC fetches payload over PCIe: its data never leaves faster, and the first packet of "
              "a work request waits for its payload, beyond send_latency. 0bps: never the bottleneck. Of received "
              "data: drain_rate"),
    WEFT_TIME(struct weft_host_conf, pcie_round_trip_ps, "pcie_round_trip", "0ns", "0ns", "1ms",
              "of a fetch that cannot be made in advance: from the arrival of a READ's request until its responder has "
              "the first payload. A WRITE's and SEND's fetches are part of send_latency"),
    WEFT_UINT(struct weft_host_conf, packet_rate, "packet_rate", "0", "0", "1000000000000",
              "most data packets per second that the NIC sends, and with drain_rate takes; 0: as many as the line "
              "carries"),
    WEFT_TIME(
        struct weft_host_conf, launch_ps, "launch", "0ns", "0ns", "1ms",
        "time that a host takes to launch a collective on an idle communicator, median (measured for a kernel and "
        "its synchronisation on A100 and GH200: 6.1us)"),
    WEFT_REAL(struct weft_host_conf, launch_skew, "launch_skew", "0", "0", "1",
              "deviation of the launch's logarithm, a draw per rank and collective, so that ranks start apart "
              "(measured: 0.1 to 0.3; 0.2 is usual); 0: all take the same time",
              .needs = "launch"),
    WEFT_TIME(struct weft_host_conf, work_request_ps, "work_request", "0ns", "0ns", "1ms",
              "time that the NIC takes per work request (a message, a part of one, a clear-to-send), one after another "
              "(published for a ConnectX-6: 215 million messages a second, 4.65 ns)"),
    WEFT_TIME(struct weft_host_conf, work_request_qp_ps, "work_request_qp", "0ns", "0ns", "1ms",
              "least time between the starts of two messages of a queue pair: the limit of a single queue pair, not of "
              "the NIC (assumed)"),
    WEFT_RATE(struct weft_host_conf, drain_rate_bps, "drain_rate", "0bps", "0bps", "100Tbps",
              "rate at which the host takes data from its NIC (PCIe); 0bps: never the bottleneck"),
    WEFT_TIME(struct weft_host_conf, drain_slow_every_ps, "drain_slow_every", "never", "1us", "never",
              "period of the host's slow phases, in which it takes data at drain_slow_rate; the seed draws their phase",
              .needs = "drain_rate"),
    WEFT_TIME(struct weft_host_conf, drain_slow_ps, "drain_slow_time", "0ns", "0ns", "1s", "length of a slow phase",
              .needs = "drain_slow_every"),
    WEFT_RATE(struct weft_host_conf, drain_slow_bps, "drain_slow_rate", "1Gbps", "1kbps", "100Tbps",
              "rate at which the host takes data in a slow phase (assumed)", .needs = "drain_slow_every"),
    WEFT_RATE(struct weft_host_conf, drain_slow_below_bps, "drain_slow_below", "100Tbps", "0bps", "100Tbps",
              "a slow phase is left out if the NIC has sent at this rate or more since the one before",
              .needs = "drain_slow_every"),
    WEFT_BYTES(struct weft_host_conf, rx_buffer_bytes, "rx_buffer", "400KB", "0B", "1TB",
               "receive buffer of the NIC per priority, if drain_rate is set (assumed)", .needs = "drain_rate"),
    WEFT_BYTES(struct weft_host_conf, rx_xoff_bytes, "rx_xoff", "200KB", "0B", "1TB",
               "the NIC pauses its switch above this many bytes (assumed)", .needs = "drain_rate"),
    WEFT_BYTES(struct weft_host_conf, rx_xon_bytes, "rx_xon", "100KB", "0B", "1TB",
               "and lets it resume at or below this many (assumed)", .needs = "drain_rate"),
    WEFT_BYTES(struct weft_host_conf, rx_resume_bytes, "rx_resume", "1TB", "0B", "1TB",
               "a NIC that has discarded a frame for lack of room discards all that come until no more than this many "
               "bytes of the priority are in the buffer",
               .needs = "drain_rate"),
    WEFT_BOOL(struct weft_host_conf, rx_cnp, "rx_cnp", "false",
              "data that finds more than rx_xoff counts as marked: the NIC sends CNPs of its own congestion (measured "
              "on ConnectX-5 where no switch marks)",
              .needs = "drain_rate"),
    WEFT_CHOICE(struct weft_host_conf, roce, "roce", "v2", roces,
                "RDMA in UDP (v2), or in Ethernet behind a global route header (v1): v1 is not routable and has "
                "neither DSCP nor ECN"),
    WEFT_UINT(struct weft_host_conf, vlan, "vlan", "0", "0", "4094",
              "VLAN of the frames' 802.1Q tag, whose code point is their priority; 0: untagged"),
    WEFT_BOOL(struct weft_host_conf, ecn, "ecn", "true", "data packets are sent ECN-capable"),
    WEFT_CHOICE(struct weft_host_conf, source_port, "source_port", "queue_pair", source_ports,
                "a UDP source port per queue pair, or one per pair of hosts, so that ECMP sees one flow; numbered: "
                "consecutive ports for the queue pairs of two hosts"),
    WEFT_CHOICE(struct weft_host_conf, arbitration, "arbitration", "packet", arbitrations,
                "what a queue pair sends in its turn among those of a priority: a packet, or the rest of its message "
                "(ConnectX-5, where rates of queue pairs are measured to be as their messages' sizes); a flow that "
                "posts no messages has turns of a packet"),
    WEFT_CHOICE(struct weft_host_conf, pace_change, "pace_change", "at_once", pace_changes,
                "a new rate applies to the rest of the current wait, or from the next packet on (the HPCC simulator, "
                "rdma-hw.cc)"),
    WEFT_BYTES(struct weft_host_conf, data_header_bytes, "data_header", "0B", "0B", "256B",
               "headers of each data packet, whose payload is then not padded (the HPCC simulator: 48B, htsim: 64B); "
               "0B: RoCE's, 62 B, RETH and AETH"),
    WEFT_BYTES(struct weft_host_conf, ack_bytes, "ack_frame", "0B", "0B", "1500B",
               "size of an ACK or NAK frame (the HPCC simulator: 60B, htsim: 64B); 0B: RoCE's, 66 B"),
    WEFT_BYTES(struct weft_host_conf, cnp_bytes, "cnp_frame", "0B", "0B", "1500B",
               "size of a CNP frame; 0B: RoCE's, 78 B"),
    WEFT_SECTION(struct weft_host_conf, wire, "wire", &weft_wire_table, "overhead of frames on the wire"),
    WEFT_MODEL_PARAM(struct weft_host_conf, retry, "retry", WEFT_KIND_RETRY, "none",
                     "link-level retry of frames that bit errors destroy"),
    WEFT_MODEL_PARAM(struct weft_host_conf, credit, "credit", WEFT_KIND_CREDIT, "none",
                     "link credit that its ports grant to their senders"),
    WEFT_SECTION(struct weft_host_conf, pfc, "pfc", &weft_pfc_table, "priority-based flow control"),
    WEFT_BOOL(struct weft_host_conf, sfc, "sfc", "true", "the NIC understands source flow control messages"),
    WEFT_CHOICE(
        struct weft_host_conf, sfc_scope, "sfc_scope", "flow", sfc_scopes,
        "what such a message pauses: the queue pair, all queue pairs to the same host, or the whole priority (assumed; "
        "the simulations have one flow from host to host)"),
    WEFT_CHOICE(
        struct weft_host_conf, planes, "planes", "separate", planes,
        "in a topology of equal networks (planes): host h of each is a NIC of its own, or they are the ports of "
        "one NIC; its queue pairs take the planes in turn (NCCL: devices of a merged NIC), or each packet takes the "
        "plane "
        "whose port is free first (OCP MRC: an 800G NIC is eight planes of 100G)"),
    WEFT_UINT(struct weft_host_conf, plane_timeouts, "plane_timeouts", "1", "1", "100",
              "with planes: queue_pair, a queue pair moves to the next plane after this many timeouts in a row "
              "(assumed; as InfiniBand's automatic path migration, which RoCE NICs do not have)"));
