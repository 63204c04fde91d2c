// SPDX-License-Identifier: Apache-2.0
// The parameters of Ethernet ports, of any box. Numbers without a source are assumed, and say so.
#include <inttypes.h>
#include <stdio.h>

#include "weft/dcbx.h"
#include "weft/device.h"
#include "weft/packet.h"
#include "weft/param.h"

const char *const weft_pfc_reaction_words[] = {"standard", NULL};
static const char *const watchdog_actions[] = {"alert", "drop", "forward", NULL};

static const char *const lasts[] = {"quanta", "until_resume", NULL};     // enum weft_pfc_lasts
static const char *const serialisations[] = {"exact", "whole_ns", NULL}; // enum weft_serialisation

const struct weft_param_table weft_wire_table = WEFT_PARAM_TABLE_OF(
    "wire", struct weft_wire_conf, WEFT_PARAM_UNCHECKED,
    WEFT_BYTES(struct weft_wire_conf, overhead_bytes, "overhead", "20B", "0B", "64B",
               "bytes of each frame beyond the frame itself: preamble 8 and gap 12 (IEEE 802.3); ns-3 counts none"),
    WEFT_CHOICE(struct weft_wire_conf, serialisation, "serialisation", "exact", serialisations,
                "time that a frame takes: to the picosecond, or rounded down to whole ns as in ns-3"),
    WEFT_BYTES(struct weft_wire_conf, pause_bytes, "pause_frame", "64B", "14B", "128B",
               "size of a pause frame (IEEE 802.3 annex 31D: 64B; the HPCC simulator, qbb-net-device.cc: 43B)"));

/// The time in which a station must stop, in quanta of 512 bit times (IEEE 802.3 31B.3.7, to which annex 31D refers for
/// PFC), as SONiC lists them in buffer_headroom_mellanox.lua; 67 at 10 Gbit/s is the figure with the PHY. Above 800
/// Gbit/s, and between listed rates, the time of the next lower one (assumed).
weft_time_ps weft_pfc_calc_reaction(weft_time_ps configured, weft_rate_bps rate) {
    static const struct {
        uint32_t gbps, quanta;
    } table[] = {{1, 2}, {10, 67}, {25, 80}, {40, 118}, {50, 147}, {100, 394}, {200, 453}, {400, 905}, {800, 905}};
    if (configured != WEFT_TIME_NEVER) return configured;
    unsigned i = sizeof table / sizeof *table - 1;
    while (i && rate < table[i].gbps * UINT64_C(1000000000))
        i--;
    return (table[i].quanta * UINT64_C(512) * 1000 + table[i].gbps - 1) / table[i].gbps;
}

/// If a pause had to be repeated before its own frame is out, the line would carry nothing but pause frames.
static const char *pfc_check(const void *conf, char *text, size_t size) {
    const struct weft_pfc_conf *c = conf;
    double repeat_bits = c->refresh * (double)c->quanta * 512, frame_bits = (WEFT_FRAME_MIN + WEFT_WIRE_OVERHEAD) * 8;
    if (!c->priorities || repeat_bits >= frame_bits) return NULL;
    return WEFT_SAY(text, size,
                    "refresh (%g) x quanta (%" PRIu64
                    ") repeats a pause every %.0f bit times, and its frame takes %.0f: nothing "
                    "else would be sent; expected more quanta",
                    c->refresh, c->quanta, repeat_bits, frame_bits);
}
const struct weft_param_table weft_pfc_table = WEFT_PARAM_TABLE_OF(
    "pfc", struct weft_pfc_conf, .check = pfc_check,
    WEFT_PRIORITY_SET(struct weft_pfc_conf, priorities, "priorities", "3", "lossless priorities; none turns PFC off"),
    WEFT_UINT(struct weft_pfc_conf, quanta, "quanta", "65535", "1", "65535",
              "pause time in a pause frame, in units of 512 bit times (the maximum; assumed)"),
    WEFT_CHOICE(struct weft_pfc_conf, lasts, "lasts", "quanta", lasts,
                "a received pause lasts for its quanta, or until the frame that ends it (the HPCC simulator)"),
    WEFT_REAL(struct weft_pfc_conf, refresh, "refresh", "0.5", "0.01", "1",
              "while congestion lasts, pause again after this fraction of the pause time (assumed)"),
    WEFT_TIME_OR(struct weft_pfc_conf, reaction_ps, "reaction", weft_pfc_reaction_words, "standard", "0ns", "1ms",
                 "from the last bit of a pause frame to the stop of transmission; standard: what IEEE 802.3 31B.3.7 "
                 "allows at the link's rate, 905 quanta = 1.158us at 400G"),
    WEFT_TIME(struct weft_pfc_conf, watchdog_ps, "watchdog", "never", "1us", "never",
              "paused this long without a break while packets wait is a storm (SONiC: 100ms to 5s)"),
    WEFT_CHOICE(struct weft_pfc_conf, watchdog_action, "watchdog_action", "alert", watchdog_actions,
                "in a storm: count it, drop waiting packets, or ignore the pause"),
    WEFT_TIME(struct weft_pfc_conf, restore_ps, "restore", "100ms", "1us", "1000s",
              "no pause received for this long ends the storm (SONiC: 100ms to 60s)"));

static const char *const dcbx_versions[] = {"ieee", "cee", "both", NULL}; // enum weft_dcbx_version

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
const struct weft_param_table weft_dcbx_table = WEFT_PARAM_TABLE_OF(
    "dcbx", struct weft_dcbx_conf, .check = dcbx_check,
    WEFT_BOOL(struct weft_dcbx_conf, enabled, "enabled", "false",
              "ports send LLDP with DCBX and negotiate PFC with their neighbours"),
    WEFT_BOOL(
        struct weft_dcbx_conf, willing, "willing", "false",
        "take over the neighbour's PFC priorities; if both ends are willing, those of the lower MAC address count"),
    WEFT_CHOICE(struct weft_dcbx_conf, version, "version", "ieee", dcbx_versions,
                "DCBX that ports speak: IEEE 802.1Qaz, only the older CEE, or both, so that a neighbour with either is "
                "understood"),
    WEFT_TIME(struct weft_dcbx_conf, interval_ps, "interval", "30s", "1us", "3600s",
              "from one LLDP frame to the next (IEEE 802.1AB; the first goes out when the link comes up)"),
    WEFT_TIME(struct weft_dcbx_conf, ttl_ps, "ttl", "120s", "1s", "65535s",
              "a neighbour's settings are forgotten after this time without another frame; whole seconds (4 intervals "
              "in IEEE 802.1AB)"),
    WEFT_UINT(struct weft_dcbx_conf, capability, "capability", "8", "0", "8",
              "number of priorities that can have PFC at once, as announced to the neighbour (assumed)"),
    WEFT_TEXT(struct weft_dcbx_conf, apps, "apps", "udp:4791:3",
              "applications and their priorities, as announced to the neighbour: selector:protocol:priority, ... with "
              "selectors ethertype, tcp, udp, tcp+udp, dscp"));
