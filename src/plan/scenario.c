// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "plan/plan.h"

/// Parameters that are looked at. X(field, quantity, path)
#define VALUES(X)                                                                                                      \
    X(size, WEFT__BYTES, "switch.buffer.size")                                                                         \
    X(xoff, WEFT__BYTES, "switch.buffer.xoff")                                                                         \
    X(total, WEFT__BYTES, "switch.buffer.total")                                                                       \
    X(reserve, WEFT__BYTES, "switch.buffer.reserve")                                                                   \
    X(headroom, WEFT__BYTES, "switch.buffer.headroom")                                                                 \
    X(threshold_min, WEFT__BYTES, "switch.buffer.threshold_min")                                                       \
    X(threshold_max, WEFT__BYTES, "switch.buffer.threshold_max")                                                       \
    X(sfc_threshold, WEFT__BYTES, "switch.sfc.threshold")                                                              \
    X(sfc_pause, WEFT__TIME, "switch.sfc.pause")                                                                       \
    X(sfc_interval, WEFT__TIME, "switch.sfc.interval")

struct values {
#define X(field, quantity, path) uint64_t field;
    VALUES(X)
#undef X
    double alpha;
    uint64_t weight[WEFT_PRIORITIES]; ///< of alpha
    bool fixed;                       ///< sfc has one threshold and one pause
};

/// As parameters show them: a number for each priority, with commas.
static void read_weights(const char *value, uint64_t *ret) {
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++) {
        char *end;
        ret[priority] = strtoull(value, &end, 10);
        value = end + (*end == ',');
    }
}

static void on_value(void *context, const char *path, const char *value) {
    struct values *v = context;
    char why[160];
#define X(field, quantity, name)                                                                                       \
    if (!strcmp(path, name)) weft__quantity_parse(quantity, value, &v->field, why, sizeof why);
    VALUES(X)
#undef X
    if (!strcmp(path, "switch.buffer.alpha")) weft__real_parse(value, &v->alpha);
    if (!strcmp(path, "switch.buffer.weights")) read_weights(value, v->weight);
    if (!strcmp(path, "switch.sfc.kind")) v->fixed = !strcmp(value, "fixed");
}

static const char *text(enum weft__quantity quantity, uint64_t value, struct weft_arena *arena) {
    char digits[64];
    weft__quantity_format(quantity, value, digits, sizeof digits);
    return weft_arena_text(arena, digits);
}

/// Alpha of the lossless priority that has the least.
static double least_alpha(const struct values *v, uint8_t lossless) {
    uint64_t least = lossless ? UINT64_MAX : 1;
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++)
        if (lossless >> priority & 1 && v->weight[priority] < least) least = v->weight[priority];
    return v->alpha * (double)least;
}

/// Dynamic thresholds with one congested group: it holds T = alpha x (shared - T), and its reserve.
static void read_dynamic(const struct values *v, const struct weft_switch_conf *sw, uint32_t ports,
                         struct weft_arena *arena, struct weft__plan_switch *s) {
    uint64_t lossless = (uint64_t)__builtin_popcount(sw->pfc.priorities);
    uint64_t dedicated = ports * (WEFT_PRIORITIES * v->reserve + lossless * v->headroom);
    uint64_t shared = v->total > dedicated ? v->total - dedicated : 0;
    double alpha = least_alpha(v, sw->pfc.priorities);
    uint64_t threshold = (uint64_t)((double)shared * alpha / (1 + alpha));
    if (threshold < v->threshold_min) threshold = v->threshold_min;
    if (threshold > v->threshold_max) threshold = v->threshold_max;
    s->pfc_threshold_bytes = v->reserve + threshold;
    s->headroom_bytes = v->headroom;
    s->buffer_bytes = s->pfc_threshold_bytes + s->headroom_bytes;
    s->headroom_text = weft_arena_format(arena, "headroom %s", text(WEFT__BYTES, v->headroom, arena));
    s->buffer_text =
        weft_arena_format(arena, "dynamic threshold of one congested group, %s, and headroom %s",
                          text(WEFT__BYTES, s->pfc_threshold_bytes, arena), text(WEFT__BYTES, v->headroom, arena));
}

struct weft__plan_switch weft__plan_switch(const struct weft_switch_conf *sw, uint32_t ports,
                                           struct weft_arena *arena) {
    struct values v = {0};
    weft_params_each(&weft_switch_table, sw, "switch", on_value, &v);
    struct weft__plan_switch s = {.sfc = v.fixed};
    if (v.fixed) {
        s.sfc_threshold_bytes = v.sfc_threshold;
        s.sfc_pause_ps = v.sfc_pause;
        s.sfc_interval_ps = v.sfc_interval;
    }
    if (v.total) {
        read_dynamic(&v, sw, ports, arena, &s);
        return s;
    }
    s.buffer_bytes = v.size;
    s.pfc_threshold_bytes = v.xoff;
    s.headroom_bytes = v.size - v.xoff;
    s.headroom_text = weft_arena_format(arena, "size %s - xoff %s", text(WEFT__BYTES, v.size, arena),
                                        text(WEFT__BYTES, v.xoff, arena));
    s.buffer_text = weft_arena_format(arena, "size %s, xoff %s", text(WEFT__BYTES, v.size, arena),
                                      text(WEFT__BYTES, v.xoff, arena));
    return s;
}
