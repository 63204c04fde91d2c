// SPDX-License-Identifier: Apache-2.0
// A fixed buffer for every port and priority, as in IEEE 802.1Qbb's examples and vendors' white papers: XOFF above one
// level, XON at or below another, and the part above XOFF is headroom for frames still in flight.
// Lossy priorities have the same room without XOFF and drop beyond it.
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "buffer/cells.h"
#include "buffer/lossless.h"
#include "weft/buffer.h"
#include "weft/param.h"

struct static_conf {
    weft_bytes size_bytes, xoff_bytes, xon_bytes, cell_bytes;
};

static const char *static_conf_check(const void *conf, char *text, size_t size) {
    const struct static_conf *c = conf;
    return weft__levels_check(c->size_bytes, c->xoff_bytes, c->xon_bytes, text, size);
}
static const struct weft_param_table static_params =
    WEFT_PARAM_TABLE_OF("static", struct static_conf, .check = static_conf_check,
                        WEFT_BYTES(struct static_conf, size_bytes, "size", "900KB", "64B", WEFT_BUFFER_FIXED_MAX,
                                   "buffer per port and priority (assumed)"),
                        WEFT_BYTES(struct static_conf, xoff_bytes, "xoff", "760KB", "0B", WEFT_BUFFER_FIXED_MAX,
                                   "pause the sender above this many bytes (assumed)"),
                        WEFT_BYTES(struct static_conf, xon_bytes, "xon", "740KB", "0B", WEFT_BUFFER_FIXED_MAX,
                                   "resume it at or below this many (assumed)"),
                        WEFT__BUFFER_CELL(struct static_conf));

struct static_state {
    uint32_t groups;
    struct weft_buffer_fixed fixed;
    struct weft__lossless lossless;
    char *first; ///< groups, its own or the box's
    size_t port_stride, priority_stride;
    struct weft_buffer_group group[];
};

static struct weft_buffer_group *group_of(const void *state, uint32_t port, uint32_t priority) {
    const struct static_state *s = state;
    return (void *)(s->first + port * s->port_stride + priority * s->priority_stride);
}

static const char *static_fit(const void *conf, uint32_t ports, uint8_t lossless_mask, uint32_t frame_bytes, char *text,
                              size_t size) {
    const struct static_conf *c = conf;
    if (weft_buffer_occupied(c->cell_bytes, frame_bytes) <= c->size_bytes) return NULL;
    return WEFT_SAY(text, size,
                    "size (%llu B) is less than one full frame (%u B, by host.mtu): it would be dropped for ever",
                    (unsigned long long)c->size_bytes, frame_bytes);
}

static void static_plan(const void *conf, uint32_t ports, uint8_t lossless_mask, struct weft_buffer_plan *ret_plan) {
    const struct static_conf *c = conf;
    weft_bytes xoff = lossless_mask ? c->xoff_bytes : c->size_bytes;
    *ret_plan = (struct weft_buffer_plan){
        .xoff_bytes = xoff, .headroom_bytes = c->size_bytes - xoff, .cell_bytes = (uint32_t)c->cell_bytes};
    snprintf(ret_plan->text, sizeof ret_plan->text, "size %s, xoff %s", weft__bytes_text(c->size_bytes).text,
             weft__bytes_text(xoff).text);
    snprintf(ret_plan->headroom_text, sizeof ret_plan->headroom_text, "size %s - xoff %s",
             weft__bytes_text(c->size_bytes).text, weft__bytes_text(xoff).text);
}

static weft_bytes static_lossy_most(const void *conf, const struct weft_buffer_port *port, uint32_t ports,
                                    uint8_t lossless_mask, uint32_t priority) {
    return ((const struct static_conf *)conf)->size_bytes;
}

static size_t static_state_size(const void *conf, uint32_t ports) {
    return sizeof(struct static_state) + ports * (WEFT_PRIORITIES * sizeof(struct weft_buffer_group) + 1);
}

static void static_fixed(const void *conf, struct weft_buffer_fixed *ret_fixed) {
    const struct static_conf *c = conf;
    *ret_fixed = weft_buffer_fixed_of(c->size_bytes, c->xoff_bytes, c->xon_bytes, c->cell_bytes);
}

static void static_keep_at(void *state, struct weft_buffer_group *first, size_t port_stride, size_t priority_stride) {
    struct static_state *s = state;
    s->first = (char *)first;
    s->port_stride = port_stride;
    s->priority_stride = priority_stride;
}

static void static_init(void *state, const void *conf, uint32_t ports, uint8_t lossless_mask) {
    struct static_state *s = state;
    memset(s, 0, static_state_size(conf, ports));
    s->groups = ports * WEFT_PRIORITIES;
    static_fixed(conf, &s->fixed);
    static_keep_at(s, s->group, WEFT_PRIORITIES * sizeof *s->group, sizeof *s->group);
    s->lossless =
        (struct weft__lossless){.same = lossless_mask, .room = (uint8_t *)&s->group[s->groups], .ports = ports};
}

static enum weft_buffer_answer static_review(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    const struct static_state *s = state;
    const struct static_conf *c = conf;
    if (!weft__is_lossless(&s->lossless, port, priority)) return WEFT_BUFFER_OK;
    weft_bytes level = group_of(s, port, priority)->level;
    return level > c->xoff_bytes ? WEFT_BUFFER_XOFF : level <= c->xon_bytes ? WEFT_BUFFER_XON : WEFT_BUFFER_OK;
}

static enum weft_buffer_answer static_admit(void *state, const void *conf, uint32_t port, uint32_t out,
                                            uint32_t priority, uint32_t bytes) {
    const struct static_state *s = state;
    return weft_buffer_fixed_admit(&s->fixed, group_of(s, port, priority), bytes,
                                   weft__is_lossless(&s->lossless, port, priority));
}

static enum weft_buffer_answer static_release(void *state, const void *conf, uint32_t port, uint32_t out,
                                              uint32_t priority, uint32_t bytes) {
    const struct static_state *s = state;
    return weft_buffer_fixed_release(&s->fixed, group_of(s, port, priority), bytes,
                                     weft__is_lossless(&s->lossless, port, priority));
}

static void static_prefetch(const void *state, uint32_t port, uint32_t priority) {
    __builtin_prefetch(group_of(state, port, priority));
}

static void static_set_lossless(void *state, const void *conf, uint32_t port, uint8_t lossless_mask) {
    struct static_state *s = state;
    weft__lossless_set(&s->lossless, port, lossless_mask);
}

static weft_bytes static_level(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    return group_of(state, port, priority)->level;
}

static weft_bytes static_room(const void *state, const void *conf, uint32_t port, uint32_t out, uint32_t priority) {
    const struct static_state *s = state;
    const struct static_conf *c = conf;
    weft_bytes level = group_of(s, port, priority)->level;
    weft_bytes limit = weft__is_lossless(&s->lossless, port, priority) ? c->xoff_bytes : c->size_bytes;
    return level < limit ? weft__buffer_whole(c->cell_bytes, limit - level) : 0;
}

static weft_bytes static_level_max(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    return group_of(state, port, priority)->level_max;
}

static const char *static_check(const void *state, const void *conf) {
    const struct static_state *s = state;
    const struct static_conf *c = conf;
    for (uint32_t i = 0; i < s->groups; i++) {
        const struct weft_buffer_group *g = group_of(s, i / WEFT_PRIORITIES, i % WEFT_PRIORITIES);
        if (g->level > c->size_bytes) return "a group holds more than its buffer";
        if (g->level > g->level_max) return "a group holds more than its watermark";
    }
    return NULL;
}

static void static_fingerprint(const void *state, const void *conf, struct weft__fingerprint *fingerprint) {
    const struct static_state *s = state;
    for (uint32_t g = 0; g < s->groups; g++)
        weft__fingerprint_mix(fingerprint, group_of(s, g / WEFT_PRIORITIES, g % WEFT_PRIORITIES)->level);
}

const struct weft_model weft__buffer_static = WEFT_MODEL_OF(
    BUFFER, "static", "a fixed buffer for every port and priority",
    "IEEE 802.1Qbb; size as in the IEEE 802.1Qdw simulations, whose threshold leaves no room for frames in flight",
    &static_params,
    &(const struct weft_buffer_ops){
        .fit = static_fit,
        .plan = static_plan,
        .lossy_most = static_lossy_most,
        .state_size = static_state_size,
        .init = static_init,
        .fixed = static_fixed,
        .keep_at = static_keep_at,
        .admit = static_admit,
        .release = static_release,
        .prefetch = static_prefetch,
        .review = static_review,
        .set_lossless = static_set_lossless,
        .level = static_level,
        .room = static_room,
        .level_max = static_level_max,
        .check = static_check,
        .fingerprint = static_fingerprint,
    });
