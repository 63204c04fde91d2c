// SPDX-License-Identifier: Apache-2.0
// Source: keys, units and defaults as third.cc of HPCC reads them (times in microseconds, kmin and kmax in units of
// 1000 bytes, the buffer in MB of 2^20 bytes), and common.h of SimAI. Each key is a parameter of the scenario, or
// changes nothing there or nothing that weft measures, or is odd: its value asks for what weft does not do.
#include "import/hpcc/hpcc_read.h"

#include <math.h>
#include <string.h>

enum kind { FLAG_OFF, FLAG, UINT, REAL, TEXT, RATE, MAP, PATH, DOWN };
#define KEY(name, kind, member)                                                                                        \
    { name, kind, offsetof(struct weft__hpcc_config, member) }
static const struct {
    const char *name;
    enum kind kind;
    size_t offset;
} keys[] = {
    KEY("ENABLE_QCN", FLAG_OFF, qcn_off),
    KEY("ENABLE_PFC", FLAG_OFF, pfc_off),
    KEY("ns3::RdmaHw::NACKGenerationInterval", TEXT, nak_interval),
    KEY("ns3::MellanoxDcqcn::EwmaGain", REAL, gain_dcqcn),
    KEY("ns3::Dctcp::EwmaGain", REAL, gain_dctcp),
    KEY("PACKET_PAYLOAD_SIZE", UINT, mtu_bytes),
    KEY("CC_MODE", UINT, cc_mode),
    KEY("HAS_WIN", FLAG_OFF, window_off),
    KEY("GLOBAL_T", FLAG_OFF, window_of_pair),
    KEY("VAR_WIN", FLAG, window_varies),
    KEY("BUFFER_SIZE", UINT, buffer_mb),
    KEY("RATE_AI", RATE, ai_bps),
    KEY("RATE_HAI", RATE, hai_bps),
    KEY("MIN_RATE", RATE, min_bps),
    KEY("DCTCP_RATE_AI", RATE, dctcp_ai_bps),
    KEY("ALPHA_RESUME_INTERVAL", REAL, alpha_us),
    KEY("RATE_DECREASE_INTERVAL", REAL, decrease_us),
    KEY("RP_TIMER", REAL, increase_us),
    KEY("EWMA_GAIN", REAL, gain),
    KEY("FAST_RECOVERY_TIMES", REAL, stages),
    KEY("CLAMP_TARGET_RATE", FLAG, clamp),
    KEY("U_TARGET", REAL, target),
    KEY("MI_THRESH", UINT, mi_thresh),
    KEY("ERROR_RATE_PER_LINK", REAL, error_rate),
    KEY("LINK_DOWN", DOWN, down),
    KEY("KMIN_MAP", MAP, kmin_kb),
    KEY("KMAX_MAP", MAP, kmax_kb),
    KEY("PMAX_MAP", MAP, pmax),
    KEY("SIMULATOR_STOP_TIME", REAL, until_s),
    KEY("TOPOLOGY_FILE", PATH, topology),
    KEY("FLOW_FILE", PATH, flows),
};
enum { KEYS = sizeof keys / sizeof *keys };

/// What SimAI's simulator calls them too, since 2025: attributes of its classes.
static const char *const attributes[][2] = {
    {"ns3::QbbNetDevice::QcnEnabled", "ENABLE_QCN"},
    {"ns3::QbbNetDevice::DynamicThreshold", "USE_DYNAMIC_PFC_THRESHOLD"},
    {"ns3::QbbNetDevice::PauseTime", "PAUSE_TIME"},
    {"ns3::SwitchNode::PfcEnabled", "ENABLE_PFC"},
    {"ns3::RdmaHw::Mtu", "PACKET_PAYLOAD_SIZE"},
    {"ns3::RdmaHw::CcMode", "CC_MODE"},
    {"ns3::RdmaHw::RateAI", "RATE_AI"},
    {"ns3::RdmaHw::RateHAI", "RATE_HAI"},
    {"ns3::RdmaHw::MinRate", "MIN_RATE"},
    {"ns3::RdmaHw::L2ChunkSize", "L2_CHUNK_SIZE"},
    {"ns3::RdmaHw::L2AckInterval", "L2_ACK_INTERVAL"},
    {"ns3::RdmaHw::L2BackToZero", "L2_BACK_TO_ZERO"},
    {"ns3::RdmaHw::VarWin", "VAR_WIN"},
    {"ns3::RdmaHw::RateBound", "RATE_BOUND"},
    {"ns3::RdmaHw::TotalPauseTimes", "NIC_TOTAL_PAUSE_TIME"},
    {"ns3::MellanoxDcqcn::AlphaResumInterval", "ALPHA_RESUME_INTERVAL"},
    {"ns3::MellanoxDcqcn::RateDecreaseInterval", "RATE_DECREASE_INTERVAL"},
    {"ns3::MellanoxDcqcn::ClampTargetRate", "CLAMP_TARGET_RATE"},
    {"ns3::MellanoxDcqcn::RPTimer", "RP_TIMER"},
    {"ns3::MellanoxDcqcn::FastRecoveryTimes", "FAST_RECOVERY_TIMES"},
    {"ns3::Dctcp::DctcpRateAI", "DCTCP_RATE_AI"},
    {"ns3::Hpcc::FastReact", "FAST_REACT"},
    {"ns3::Hpcc::TargetUtil", "U_TARGET"},
    {"ns3::Hpcc::MiThresh", "MI_THRESH"},
    {"ns3::Hpcc::MultiRate", "MULTI_RATE"},
    {"ns3::Hpcc::SampleFeedback", "SAMPLE_FEEDBACK"},
    {"ns3::HpccPint::PintProb", "PINT_PROB"},
};
enum { ATTRIBUTES = sizeof attributes / sizeof *attributes };

/// Classes of congestion controls that weft does not have (CC_MODE 11 to 13), whose attributes mean nothing to others.
static const char *const foreign[] = {"ns3::RealDcqcn::", "ns3::HpccEcn::", "ns3::Swift::"};
enum { FOREIGN = sizeof foreign / sizeof *foreign };

/// Keys of files that the simulators write, and those that they read without using them: switches always have dynamic
/// thresholds, a pause lasts until the next frame, and links have their own rate and delay. INT_MULTI and PINT_LOG_BASE
/// say how coarse telemetry is; weft's is exact, which it says of CC_MODE 10.
static const char *const harmless[] = {
    "TRACE_FILE",
    "TRACE_OUTPUT_FILE",
    "FCT_OUTPUT_FILE",
    "PFC_OUTPUT_FILE",
    "SEND_OUTPUT_FILE",
    "ENABLE_TRACE",
    "TRACE_NODE",
    "QLEN_MON_FILE",
    "QLEN_MON_START",
    "QLEN_MON_END",
    "QLEN_MON_INTERVAL",
    "BW_MON_FILE",
    "BW_MON_INTERVAL",
    "RATE_MON_FILE",
    "CNP_MON_FILE",
    "MON_START",
    "MON_END",
    "QP_MON_INTERVAL",
    "PAUSE_TIME",
    "DATA_RATE",
    "LINK_DELAY",
    "PINT_LOG_BASE",
    "USE_DYNAMIC_PFC_THRESHOLD",
    "INT_MULTI",
    "ns3::RdmaHw::GPUsPerServer",
};
enum { HARMLESS = sizeof harmless / sizeof *harmless };

#define OF(mode) (1u << (mode))
#define OF_ALL (~0u)
/// Keys that weft does as for one value (or those up to `most`), with the value of a file without the key.
static const struct {
    const char *name;
    unsigned modes; ///< of CC_MODE, a bit each, that look at the key
    double least, most, absent;
    const char *otherwise;
} fixed[] = {
    {"FAST_REACT", OF(WEFT__HPCC_HPCC), 1, 1, 1, "weft's HPCC reacts to each ACK, not only once a round trip"},
    {"MULTI_RATE", OF(WEFT__HPCC_HPCC), 0, 0, 1, "weft's HPCC has one rate, by the most used link, as in the paper"},
    {"SAMPLE_FEEDBACK", OF(WEFT__HPCC_HPCC), 0, 0, 0, "weft's HPCC looks at the ports without a queue too"},
    {"PINT_PROB", OF(WEFT__HPCC_PINT), 1, 1, 1, "weft's HPCC looks at each ACK"},
    {"RATE_BOUND", OF_ALL, 1, 1, 1, "hosts of weft send at the rate of congestion control, not only within a window"},
    {"ACK_HIGH_PRIO", OF_ALL, 0, 0, 0, "ACKs at hosts of weft wait while the priority of their data is paused"},
    {"L2_BACK_TO_ZERO", OF_ALL, 0, 0, 0, "hosts of weft go back to the missing packet, not to its chunk"},
    {"L2_CHUNK_SIZE", 0, 0, 0, 0, NULL}, // only together with L2_BACK_TO_ZERO or L2_ACK_INTERVAL
    {"L2_ACK_INTERVAL", OF_ALL, 0, 0, 0, "hosts of weft acknowledge each packet"},
    {"NIC_TOTAL_PAUSE_TIME", OF_ALL, 0, 0, 0, "NICs of weft do not pause by themselves (host.drain_rate)"},
};
enum { FIXED = sizeof fixed / sizeof *fixed };

struct reader {
    struct weft__lines lines;
    struct weft_arena *arena;
    struct weft__hpcc_config *c;
    double value[FIXED]; ///< NAN: not given
};

#define BAD(lines, ...) WEFT_REFUSE(ret_error, (lines)->place, __VA_ARGS__)

static enum weft_status read_real(struct weft__lines *lines, const char *key, double *ret_value,
                                  struct weft_error *ret_error) {
    const char *word = weft__lines_word(lines);
    if (!word) return BAD(lines, "%s without a value", key);
    if (!weft__real_parse(word, ret_value) || !(*ret_value >= 0))
        return BAD(lines, "%s: '%.40s' is not a number", key, word);
    return WEFT_OK;
}

/// A number, or true or false.
static enum weft_status read_number(struct weft__lines *lines, const char *key, double *ret_value,
                                    struct weft_error *ret_error) {
    const char *at = lines->at + strspn(lines->at, " \t");
    size_t n = strcspn(at, " \t\r");
    bool yes = n == 4 && !strncmp(at, "true", n), no = n == 5 && !strncmp(at, "false", n);
    if (!yes && !no) return read_real(lines, key, ret_value, ret_error);
    weft__lines_word(lines);
    *ret_value = yes;
    return WEFT_OK;
}

static enum weft_status read_map(struct weft__lines *lines, const char *key, struct weft__hpcc_map *map,
                                 struct weft_error *ret_error) {
    uint64_t n = 0;
    enum weft_status status = weft__lines_number(lines, key, WEFT__HPCC_RATES, &n, ret_error);
    for (map->n = 0; map->n < n && !status; map->n++) {
        status = weft__lines_quantity(lines, key, WEFT__RATE, "bps", &map->rate_bps[map->n], ret_error);
        if (!status) status = read_real(lines, key, &map->value[map->n], ret_error);
    }
    return status;
}

static enum weft_status read_value(struct reader *r, uint32_t k, struct weft_error *ret_error) {
    struct weft__lines *lines = &r->lines;
    void *to = (char *)r->c + keys[k].offset;
    const char *key = keys[k].name, *word = NULL;
    double flag = 0;
    enum weft_status status = WEFT_OK;
    switch (keys[k].kind) {
    case FLAG:
    case FLAG_OFF:
        status = read_number(lines, key, &flag, ret_error);
        if (!status && flag > 1) return BAD(lines, "%s is %g; expected 0 or 1", key, flag);
        *(bool *)to = (flag != 0) == (keys[k].kind == FLAG);
        return status;
    case UINT:
        return weft__lines_number(lines, key, 1000000, to, ret_error);
    case REAL:
        return read_real(lines, key, to, ret_error);
    case TEXT:
        status = read_real(lines, key, &flag, ret_error);
        if (!status) *(const char **)to = weft_arena_format(r->arena, "%.17g", flag);
        return status;
    case RATE:
        return weft__lines_quantity(lines, key, WEFT__RATE, "bps", to, ret_error);
    case MAP:
        return read_map(lines, key, to, ret_error);
    case DOWN:
        for (uint32_t i = 0; i < 3 && !status; i++)
            status = weft__lines_number(lines, key, UINT32_MAX, &r->c->down[i], ret_error);
        r->c->down_place = lines->place;
        return status;
    case PATH:
        word = weft__lines_word(lines);
        if (!word) return BAD(lines, "%s without a value", key);
        *(const char **)to = weft_arena_text(r->arena, word);
        *(to == (void *)&r->c->topology ? &r->c->topology_place : &r->c->flows_place) = lines->place;
        return weft__lines_name(lines, word, ret_error);
    }
    return status;
}

static enum weft_status read_line(struct reader *r, struct weft_error *ret_error) {
    const char *word = weft__lines_word(&r->lines);
    struct weft__hpcc_config *c = r->c;
    for (uint32_t k = 0; k < ATTRIBUTES; k++)
        if (!strcmp(attributes[k][0], word)) word = attributes[k][1];
    for (uint32_t k = 0; k < KEYS; k++) {
        if (strcmp(keys[k].name, word)) continue;
        c->has_clamp |= keys[k].offset == offsetof(struct weft__hpcc_config, clamp);
        c->has_mi_thresh |= keys[k].offset == offsetof(struct weft__hpcc_config, mi_thresh);
        return read_value(r, k, ret_error);
    }
    for (uint32_t k = 0; k < FIXED; k++)
        if (!strcmp(fixed[k].name, word)) return read_number(&r->lines, fixed[k].name, &r->value[k], ret_error);
    for (uint32_t k = 0; k < HARMLESS; k++)
        if (!strcmp(harmless[k], word)) return WEFT_OK;
    for (uint32_t k = 0; k < FOREIGN; k++)
        if (!strncmp(foreign[k], word, strlen(foreign[k]))) return WEFT_OK;
    if (!strcmp(word, "ns3::RdmaHw::NicCoalesceMethod") && strstr(r->lines.at, "PER_QP")) return WEFT_OK;
    enum weft_status status = weft__lines_name(&r->lines, word, ret_error);
    c->unknown = weft_arena_format(r->arena, "%s %.40s", c->unknown, word);
    return status;
}

/// Lists the keys of `fixed` whose value weft cannot reproduce.
static void find_odd(struct reader *r) {
    struct weft__hpcc_config *c = r->c;
    uint64_t mode = c->cc_mode ? c->cc_mode : WEFT__HPCC_DCQCN;
    for (uint32_t k = 0; k < FIXED; k++) {
        bool absent = isnan(r->value[k]);
        double value = absent ? fixed[k].absent : r->value[k], most = fixed[k].most;
        if (!strcmp(fixed[k].name, "L2_ACK_INTERVAL")) most = (double)(c->mtu_bytes ? c->mtu_bytes : 1000);
        bool counts = fixed[k].modes == OF_ALL || (mode < 32 && fixed[k].modes >> mode & 1);
        if (!counts || (value >= fixed[k].least && value <= most)) continue;
        c->odd[c->odds++] = weft_arena_format(r->arena, "%s %g%s: %s", fixed[k].name, value,
                                              absent ? ", as no line says it" : "", fixed[k].otherwise);
    }
}

enum weft_status weft__hpcc_read_config(const char *path, struct weft_arena *arena,
                                        struct weft__hpcc_config *ret_config, struct weft_error *ret_error) {
    struct reader r = {.arena = arena, .c = ret_config};
    *ret_config = (struct weft__hpcc_config){.unknown = ""};
    for (uint32_t k = 0; k < FIXED; k++)
        r.value[k] = (double)NAN;
    enum weft_status status = weft__lines_open(&r.lines, path, WEFT_NOWHERE, ret_error);
    if (status) return status;
    for (bool more = true; more && !status;) {
        status = weft__lines_next_full(&r.lines, &more, ret_error);
        if (!status && more) status = read_line(&r, ret_error);
        if (!status && !(ret_config->error_rate < 1))
            status = BAD(&r.lines, "ERROR_RATE_PER_LINK: expected less than 1");
        if (!status && strlen(ret_config->unknown) > 8192)
            status = BAD(&r.lines, "too many keys that are not known; expected the configuration of HPCC's simulator");
    }
    weft__lines_close(&r.lines);
    if (!status) find_odd(&r);
    return status;
}

double weft__hpcc_map_at(const struct weft__hpcc_map *map, weft_rate_bps rate) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < map->n; i++) {
        bool fits = map->rate_bps[i] <= rate, fitted = map->rate_bps[best] <= rate;
        bool greater = map->rate_bps[i] > map->rate_bps[best];
        if (fits == fitted ? fits == greater : fits) best = i;
    }
    return map->n ? map->value[best] : (double)NAN;
}
