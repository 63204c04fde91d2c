// SPDX-License-Identifier: Apache-2.0
// The parameters of the boxes. Numbers without a source are assumed, and say so.
#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "weft/dcbx.h"
#include "weft/device.h"
#include "weft/packet.h"

static const char *const watchdog_actions[] = {"alert", "drop", "forward", NULL};
static const char *const source_ports[] = {"queue_pair", "host_pair", NULL};
static const char *const sfc_scopes[] = {"flow", "destination", "priority", NULL};
static const char *const forwardings[] = {"store_and_forward", "cut_through", NULL};

static const struct weft_param pfc_rows[] = {
    WEFT_PRIORITY_SET(struct weft_pfc_conf, priorities, "priorities", "3", "lossless priorities; none turns PFC off"),
    WEFT_UINT(struct weft_pfc_conf, quanta, "quanta", "65535", "1", "65535",
              "pause time in a pause frame, in units of 512 bit times (the longest there is; assumed)"),
    WEFT_REAL(struct weft_pfc_conf, refresh, "refresh", "0.5", "0.01", "1",
              "while congestion lasts, pause again after this part of the pause time (assumed)"),
    WEFT_TIME(struct weft_pfc_conf, reaction_ps, "reaction", "0ns", "0ns", "1ms",
              "from the last bit of a pause frame to the stop of transmission (assumed; 802.3 allows 905 quanta = "
              "1.158us at 400G)"),
    WEFT_TIME(struct weft_pfc_conf, watchdog_ps, "watchdog", "never", "1us", "never",
              "paused this long without a break while packets wait is a storm (SONiC: 100ms to 5s)"),
    WEFT_CHOICE(struct weft_pfc_conf, watchdog_action, "watchdog_action", "alert", watchdog_actions,
                "in a storm: count it, drop what waits, or ignore the pause"),
    WEFT_TIME(struct weft_pfc_conf, restore_ps, "restore", "100ms", "1us", "1000s",
              "no pause received for this long ends the storm (SONiC: 100ms to 60s)"),
};

/// A pause that has to be repeated before its own frame is out would leave the line to pause frames alone.
static const char *pfc_check(const void *conf, char *text, size_t size) {
    const struct weft_pfc_conf *c = conf;
    double repeat_bits = c->refresh * (double)c->quanta * 512, frame_bits = (WEFT_FRAME_MIN + WEFT_WIRE_OVERHEAD) * 8;
    if (!c->priorities || repeat_bits >= frame_bits) return NULL;
    snprintf(text, size,
             "refresh (%g) x quanta (%" PRIu64
             ") repeats a pause every %.0f bit times, and its frame takes %.0f: nothing "
             "else would be sent; expected more quanta",
             c->refresh, c->quanta, repeat_bits, frame_bits);
    return text;
}
const struct weft_param_table weft_pfc_table =
    WEFT_PARAM_TABLE_CHECKED("pfc", struct weft_pfc_conf, pfc_rows, pfc_check);

static const struct weft_param switch_rows[] = {
    WEFT_TIME(struct weft_switch_conf, processing_ps, "processing", "300ns", "0ns", "1ms",
              "from the last bit received to the buffer (IEEE 802.1Qdw simulations, dw-chen-sfc)"),
    WEFT_CHOICE(struct weft_switch_conf, forwarding, "forwarding", "store_and_forward", forwardings,
                "a frame is sent on when it is complete, or as soon as its header is in"),
    WEFT_UINT(struct weft_switch_conf, fabric_patience, "fabric_patience", "0", "0", "65535",
              "frames that an output takes from others before it waits for an input that has something for it and is "
              "busy (iq and voq; assumed); 0: it never waits"),
    WEFT_REAL(struct weft_switch_conf, fabric_speedup, "fabric_speedup", "1", "1", "8",
              "how much faster than its line an input feeds the crossbar (iq and voq; assumed)"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, queueing, "queueing", WEFT_KIND_QUEUEING, "oq",
                     "where packets wait: at the output, the input, or per pair of both"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, arbiter, "arbiter", WEFT_KIND_ARBITER, "islip",
                     "which input feeds which output (iq and voq)"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, scheduler, "scheduler", WEFT_KIND_SCHEDULER, "strict",
                     "which priority an output sends next"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, buffer, "buffer", WEFT_KIND_BUFFER, "static",
                     "how packet memory is shared, and when PFC pauses"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, aqm, "aqm", WEFT_KIND_AQM, "none", "when packets are marked or dropped"),
    WEFT_PRIORITY_SET(struct weft_switch_conf, aqm_priorities, "aqm_priorities", "0-6",
                      "priorities under AQM; 7 carries control (assumed)"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, route, "route", WEFT_KIND_ROUTE, "ecmp",
                     "which of several equally short ways a packet takes"),
    WEFT_DSCP_MAP(struct weft_switch_conf, dscp_map, "dscp_map", "24:3,26:3,46:5,48:7",
                  "priority of the code points named; the others have their class, dscp >> 3 (assumed)"),
    WEFT_SECTION(struct weft_switch_conf, pfc, "pfc", &weft_pfc_table, "priority-based flow control"),
    WEFT_MODEL_PARAM(struct weft_switch_conf, sfc, "sfc", WEFT_KIND_SFC, "none",
                     "when the source of a packet is told to pause (IEEE P802.1Qdw)"),
    WEFT_BOOL(struct weft_switch_conf, sfc_proxy, "sfc_proxy", "true",
              "an edge switch turns such a message to a host that does not understand it into a pause frame"),
};
const struct weft_param_table weft_switch_table = WEFT_PARAM_TABLE("switch", struct weft_switch_conf, switch_rows);

static const struct weft_param host_rows[] = {
    WEFT_BYTES(struct weft_host_conf, mtu_bytes, "mtu", "4096B", "64B", "9000B", "payload of a full packet"),
    WEFT_TIME(struct weft_host_conf, processing_ps, "processing", "0ns", "0ns", "1ms",
              "from the last bit received to the NIC's reaction (assumed)"),
    WEFT_MODEL_BESIDE(struct weft_host_conf, transport, "transport", WEFT_KIND_TRANSPORT, "roce_rc",
                      "how a queue pair's packets reach the other host"),
    WEFT_MODEL_PARAM(struct weft_host_conf, cc, "cc", WEFT_KIND_CC, "none", "congestion control of a queue pair"),
    WEFT_MODEL_PARAM(struct weft_host_conf, scheduler, "scheduler", WEFT_KIND_SCHEDULER, "strict",
                     "which priority the NIC sends next"),
    WEFT_BYTES(struct weft_host_conf, window_bytes, "window", "0B", "0B", "1TB",
               "payload in flight of a queue pair at most, but not of READ responses; 0B: no limit"),
    WEFT_WEIGHTS(struct weft_host_conf, dscp, "dscp", "0,8,16,24,32,40,50,48", "0", "63",
                 "code point that packets of each priority are sent with; switches go by it (24 and 48 for RoCE data "
                 "and CNPs are common, the others assumed)"),
    WEFT_TIME(struct weft_host_conf, work_request_ps, "work_request", "0ns", "0ns", "1ms",
              "the NIC takes so long for each work request (a message, a part of one, a clear-to-send), one after "
              "another (assumed)"),
    WEFT_RATE(struct weft_host_conf, drain_rate_bps, "drain_rate", "0bps", "0bps", "100Tbps",
              "at which the host takes data from its NIC (PCIe); 0bps: never the bottleneck"),
    WEFT_BYTES(struct weft_host_conf, rx_buffer_bytes, "rx_buffer", "400KB", "0B", "1TB",
               "receive buffer of the NIC for each priority, if drain_rate is set (assumed)"),
    WEFT_BYTES(struct weft_host_conf, rx_xoff_bytes, "rx_xoff", "200KB", "0B", "1TB",
               "the NIC pauses its switch above this level (assumed)"),
    WEFT_BYTES(struct weft_host_conf, rx_xon_bytes, "rx_xon", "100KB", "0B", "1TB",
               "and lets it resume at or below this one (assumed)"),
    WEFT_BOOL(struct weft_host_conf, ecn, "ecn", "true", "data packets are sent ECN-capable"),
    WEFT_CHOICE(struct weft_host_conf, source_port, "source_port", "queue_pair", source_ports,
                "a UDP source port for each queue pair, or one for all between two hosts, so that ECMP takes them for "
                "one flow"),
    WEFT_SECTION(struct weft_host_conf, pfc, "pfc", &weft_pfc_table, "priority-based flow control"),
    WEFT_BOOL(struct weft_host_conf, sfc, "sfc", "true", "the NIC understands source flow control messages"),
    WEFT_CHOICE(struct weft_host_conf, sfc_scope, "sfc_scope", "flow", sfc_scopes,
                "what such a message pauses: the queue pair, all that send to the same host, all of its priority"),
};

static const char *host_check(const void *conf, char *text, size_t size) {
    const struct weft_host_conf *c = conf;
    const char *wrong = weft__bytes_above("rx_xon", c->rx_xon_bytes, "rx_xoff", c->rx_xoff_bytes, text, size);
    if (!wrong) wrong = weft__bytes_above("rx_xoff", c->rx_xoff_bytes, "rx_buffer", c->rx_buffer_bytes, text, size);
    if (wrong) return wrong;
    if (c->drain_rate_bps && c->rx_buffer_bytes < c->mtu_bytes + WEFT_FRAME_DATA + WEFT_FRAME_RETH)
        snprintf(text, size,
                 "rx_buffer (%" PRIu64 "B) is less than one full frame (mtu %" PRIu64 "B and %u B of headers)",
                 c->rx_buffer_bytes, c->mtu_bytes, WEFT_FRAME_DATA + WEFT_FRAME_RETH);
    else if (c->window_bytes && c->window_bytes < c->mtu_bytes)
        snprintf(text, size, "window (%" PRIu64 "B) is below mtu (%" PRIu64 "B): nothing could be sent",
                 c->window_bytes, c->mtu_bytes);
    else
        return NULL;
    return text;
}
const struct weft_param_table weft_host_table =
    WEFT_PARAM_TABLE_CHECKED("host", struct weft_host_conf, host_rows, host_check);

static const struct weft_param dcbx_rows[] = {
    WEFT_BOOL(struct weft_dcbx_conf, enabled, "enabled", "false",
              "ports send LLDP with DCBX and negotiate PFC with what they hear"),
    WEFT_BOOL(
        struct weft_dcbx_conf, willing, "willing", "false",
        "take over the neighbour's PFC priorities; if both ends are willing, those of the lower MAC address hold"),
    WEFT_TIME(struct weft_dcbx_conf, interval_ps, "interval", "30s", "1us", "3600s",
              "from one LLDP frame to the next (IEEE 802.1AB; the first goes out when the link comes up)"),
    WEFT_TIME(struct weft_dcbx_conf, ttl_ps, "ttl", "120s", "1s", "65535s",
              "what was said is forgotten after this time without another frame; whole seconds (4 intervals in IEEE "
              "802.1AB)"),
    WEFT_UINT(struct weft_dcbx_conf, capability, "capability", "8", "0", "8",
              "priorities that can have PFC at once, as said to the neighbour (assumed)"),
    WEFT_TEXT(struct weft_dcbx_conf, apps, "apps", "udp:4791:3",
              "applications and their priority, as said to the neighbour: selector:protocol:priority, ... with "
              "selectors ethertype, tcp, udp, tcp+udp, dscp"),
};

static const char *dcbx_check(const void *conf, char *text, size_t size) {
    const struct weft_dcbx_conf *c = conf;
    char why[256];
    struct weft_app_table apps;
    if (c->ttl_ps % WEFT_PS_PER_S)
        snprintf(text, size, "ttl: expected whole seconds, such as 120s");
    else if (c->ttl_ps <= c->interval_ps)
        snprintf(text, size, "ttl (%" PRIu64 "s) is not above interval: neighbours would forget between two frames",
                 c->ttl_ps / WEFT_PS_PER_S);
    else if (weft_dcbx_apps_parse(c->apps, &apps, why, sizeof why))
        snprintf(text, size, "apps: %s", why);
    else
        return NULL;
    return text;
}
const struct weft_param_table weft_dcbx_table =
    WEFT_PARAM_TABLE_CHECKED("dcbx", struct weft_dcbx_conf, dcbx_rows, dcbx_check);
