// SPDX-License-Identifier: Apache-2.0
// Source: keys and units as third.cc of HPCC reads them (times in microseconds, kmin and kmax in units of 1000 bytes,
// the buffer in MB of 2^20 bytes).
#include "import/hpcc_config.h"

#include <math.h>
#include <string.h>

enum kind { FLAG_OFF, FLAG, UINT, REAL, RATE, MAP, PATH };
#define KEY(name, kind, member)                                                                                        \
    { name, kind, offsetof(struct weft__hpcc_config, member) }
static const struct {
    const char *name;
    enum kind kind;
    size_t offset;
} keys[] = {
    KEY("ENABLE_QCN", FLAG_OFF, qcn_off),
    KEY("PACKET_PAYLOAD_SIZE", UINT, mtu_bytes),
    KEY("CC_MODE", UINT, cc_mode),
    KEY("HAS_WIN", FLAG_OFF, window_off),
    KEY("GLOBAL_T", FLAG_OFF, window_of_pair),
    KEY("VAR_WIN", FLAG, window_varies),
    KEY("BUFFER_SIZE", UINT, buffer_mb),
    KEY("RATE_AI", RATE, ai_bps),
    KEY("RATE_HAI", RATE, hai_bps),
    KEY("MIN_RATE", RATE, min_bps),
    KEY("ALPHA_RESUME_INTERVAL", REAL, alpha_us),
    KEY("RATE_DECREASE_INTERVAL", REAL, decrease_us),
    KEY("RP_TIMER", REAL, increase_us),
    KEY("EWMA_GAIN", REAL, gain),
    KEY("FAST_RECOVERY_TIMES", REAL, stages),
    KEY("CLAMP_TARGET_RATE", FLAG, clamp),
    KEY("KMIN_MAP", MAP, kmin_kb),
    KEY("KMAX_MAP", MAP, kmax_kb),
    KEY("PMAX_MAP", MAP, pmax),
    KEY("SIMULATOR_STOP_TIME", REAL, until_s),
    KEY("TOPOLOGY_FILE", PATH, topology),
    KEY("FLOW_FILE", PATH, flows),
};
enum { KEYS = sizeof keys / sizeof *keys };

#define BAD(lines, ...) weft_error_set(ret_error, WEFT_ERROR_INPUT, (lines)->place, __VA_ARGS__)

static enum weft_status read_real(struct weft__lines *lines, const char *key, double *ret_value,
                                  struct weft_error *ret_error) {
    const char *word = weft__lines_word(lines);
    if (!word) return BAD(lines, "%s without a value", key);
    if (!weft__real_parse(word, ret_value) || !(*ret_value >= 0))
        return BAD(lines, "%s: '%.40s' is not a number", key, word);
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

static enum weft_status read_value(struct weft__lines *lines, uint32_t k, struct weft__hpcc_config *c,
                                   struct weft_arena *arena, struct weft_error *ret_error) {
    void *to = (char *)c + keys[k].offset;
    const char *key = keys[k].name, *word = NULL;
    uint64_t flag = 0;
    enum weft_status status = WEFT_OK;
    switch (keys[k].kind) {
    case FLAG:
    case FLAG_OFF:
        status = weft__lines_number(lines, key, 1, &flag, ret_error);
        *(bool *)to = (flag != 0) == (keys[k].kind == FLAG);
        return status;
    case UINT:
        return weft__lines_number(lines, key, 1000000, to, ret_error);
    case REAL:
        return read_real(lines, key, to, ret_error);
    case RATE:
        return weft__lines_quantity(lines, key, WEFT__RATE, "bps", to, ret_error);
    case MAP:
        return read_map(lines, key, to, ret_error);
    case PATH:
        word = weft__lines_word(lines);
        if (!word) return BAD(lines, "%s without a value", key);
        *(const char **)to = weft_arena_text(arena, word);
        *(to == (void *)&c->topology ? &c->topology_place : &c->flows_place) = lines->place;
        return weft__lines_name(lines, word, ret_error);
    }
    return status;
}

static enum weft_status read_line(struct weft__lines *lines, struct weft__hpcc_config *c, struct weft_arena *arena,
                                  struct weft_error *ret_error) {
    const char *word = weft__lines_word(lines);
    uint32_t k = 0;
    while (k < KEYS && strcmp(keys[k].name, word))
        k++;
    c->has_clamp |= k < KEYS && keys[k].offset == offsetof(struct weft__hpcc_config, clamp);
    if (k < KEYS) return read_value(lines, k, c, arena, ret_error);
    enum weft_status status = weft__lines_name(lines, word, ret_error);
    c->ignored = weft_arena_format(arena, "%s %.40s", c->ignored, word);
    return status;
}

enum weft_status weft__hpcc_read_config(const char *path, struct weft_arena *arena,
                                        struct weft__hpcc_config *ret_config, struct weft_error *ret_error) {
    struct weft__lines lines;
    *ret_config = (struct weft__hpcc_config){.ignored = ""};
    enum weft_status status = weft__lines_open(&lines, path, WEFT_NOWHERE, ret_error);
    if (status) return status;
    for (bool more = true; more && !status;) {
        status = weft__lines_next_full(&lines, &more, ret_error);
        if (!status && more) status = read_line(&lines, ret_config, arena, ret_error);
        if (!status && strlen(ret_config->ignored) > 8192)
            status = BAD(&lines, "too many keys that are not known; expected the configuration of HPCC's simulator");
    }
    weft__lines_close(&lines);
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
