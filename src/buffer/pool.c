// SPDX-License-Identifier: Apache-2.0
// One buffer for all ports of a switch, for each priority: what many inputs send to one output fills it together, and
// whoever sends when it is full is paused. That is how "SFC simulation" (Chen, Congdon, Lv, Sivakolundu; IEEE
// P802.1Qdw) computes: the room between the threshold of source flow control and that of PFC takes the excess of all
// inputs. Its backup slides say what it does to PFC: with output queues pauses go to many inputs.
//
// Headroom is each port's own, as the source computes it for one link; were there one for all of them, packets would be
// lost. A packet goes to pool or headroom as a whole; what leaves is taken from headroom first. Lossy priorities have
// the same room without XOFF and drop beyond it.
#include <stdio.h>
#include <string.h>

#include "buffer/levels.h"
#include "buffer/lossless.h"
#include "weft/buffer.h"

struct pool_conf {
    weft_bytes size_bytes, xoff_bytes, xon_bytes, headroom_bytes;
};

static const struct weft_param pool_rows[] = {
    WEFT_BYTES(struct pool_conf, size_bytes, "size", "900KB", "64B", "1TB", "buffer of each priority (assumed)"),
    WEFT_BYTES(struct pool_conf, xoff_bytes, "xoff", "760KB", "0B", "1TB",
               "all ports together: pause whoever sends above this level (assumed)"),
    WEFT_BYTES(struct pool_conf, xon_bytes, "xon", "740KB", "0B", "1TB",
               "let them go on at or below this level, or when they have nothing left here (assumed)"),
    WEFT_BYTES(struct pool_conf, headroom_bytes, "headroom", "0B", "0B", "1TB",
               "for what a port sends after it was told to pause; 0B: size - xoff"),
};

static const char *pool_conf_check(const void *conf, char *text, size_t size) {
    const struct pool_conf *c = conf;
    return weft__levels_check(c->size_bytes, c->xoff_bytes, c->xon_bytes, text, size);
}
static const struct weft_param_table pool_params =
    WEFT_PARAM_TABLE_CHECKED("pool", struct pool_conf, pool_rows, pool_conf_check);

struct pool_state {
    weft_bytes used[WEFT_PRIORITIES]; ///< of the pool
    uint32_t ports;
    struct weft__lossless lossless;
    struct pool_group {
        weft_bytes pool, headroom, level_max;
    } group[];
};

static struct pool_group *group_at(void *state, uint32_t port, uint32_t priority) {
    return &((struct pool_state *)state)->group[port * WEFT_PRIORITIES + priority];
}

static const struct pool_group *group_of(const void *state, uint32_t port, uint32_t priority) {
    return &((const struct pool_state *)state)->group[port * WEFT_PRIORITIES + priority];
}

static weft_bytes headroom_of(const struct pool_conf *c) {
    return c->headroom_bytes ? c->headroom_bytes : c->size_bytes - c->xoff_bytes;
}

static const char *pool_fit(const void *conf, uint32_t ports, uint8_t lossless_mask, uint32_t frame_bytes, char *text,
                            size_t size) {
    const struct pool_conf *c = conf;
    weft_bytes headroom = headroom_of(c);
    if (frame_bytes <= c->xoff_bytes || (lossless_mask && frame_bytes <= headroom)) return NULL;
    if (!lossless_mask && frame_bytes <= c->size_bytes) return NULL;
    snprintf(text, size,
             "neither xoff (%llu B) nor the headroom above it (%llu B) takes one full frame (%u B, by host.mtu): it "
             "would be dropped for ever",
             (unsigned long long)c->xoff_bytes, (unsigned long long)headroom, frame_bytes);
    return text;
}

static void pool_plan(const void *conf, uint32_t ports, uint8_t lossless_mask, struct weft_buffer_plan *ret_plan) {
    const struct pool_conf *c = conf;
    weft_bytes xoff = lossless_mask ? c->xoff_bytes : c->size_bytes, headroom = lossless_mask ? headroom_of(c) : 0;
    *ret_plan = (struct weft_buffer_plan){.xoff_bytes = xoff, .headroom_bytes = headroom};
    snprintf(ret_plan->text, sizeof ret_plan->text, "xoff %s of the pool of all ports, and headroom %s of each",
             weft__bytes_text(xoff).text, weft__bytes_text(headroom).text);
    if (c->headroom_bytes)
        snprintf(ret_plan->headroom_text, sizeof ret_plan->headroom_text, "headroom %s",
                 weft__bytes_text(headroom).text);
    else
        snprintf(ret_plan->headroom_text, sizeof ret_plan->headroom_text, "size %s - xoff %s",
                 weft__bytes_text(c->size_bytes).text, weft__bytes_text(xoff).text);
}

static size_t pool_state_size(const void *conf, uint32_t ports) {
    return sizeof(struct pool_state) + ports * (WEFT_PRIORITIES * sizeof(struct pool_group) + 1);
}

static void pool_init(void *state, const void *conf, uint32_t ports, uint8_t lossless_mask) {
    struct pool_state *s = state;
    memset(s, 0, pool_state_size(conf, ports));
    s->ports = ports;
    s->lossless = (struct weft__lossless){
        .same = lossless_mask, .room = (uint8_t *)&s->group[ports * WEFT_PRIORITIES], .ports = ports};
}

static weft_bytes limit_of(const struct pool_conf *c, bool lossless) {
    return lossless ? c->xoff_bytes : c->size_bytes;
}

static enum weft_buffer_answer pool_review(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    const struct pool_state *s = state;
    const struct pool_conf *c = conf;
    const struct pool_group *g = group_of(s, port, priority);
    if (!weft__is_lossless(&s->lossless, port, priority)) return WEFT_BUFFER_OK;
    if (g->headroom) return WEFT_BUFFER_XOFF;
    return !g->pool || s->used[priority] <= c->xon_bytes ? WEFT_BUFFER_XON : WEFT_BUFFER_OK;
}

static enum weft_buffer_answer pool_admit(void *state, const void *conf, uint32_t port, uint32_t priority,
                                          uint32_t bytes) {
    const struct pool_conf *c = conf;
    struct pool_state *s = state;
    struct pool_group *g = group_at(s, port, priority);
    bool lossless = weft__is_lossless(&s->lossless, port, priority);
    if (s->used[priority] + bytes <= limit_of(c, lossless)) {
        s->used[priority] += bytes;
        g->pool += bytes;
    } else if (lossless && g->headroom + bytes <= headroom_of(c)) {
        g->headroom += bytes;
    } else {
        return WEFT_BUFFER_DROP;
    }
    if (g->pool + g->headroom > g->level_max) g->level_max = g->pool + g->headroom;
    return lossless && g->headroom ? WEFT_BUFFER_XOFF : WEFT_BUFFER_OK;
}

static enum weft_buffer_answer pool_release(void *state, const void *conf, uint32_t port, uint32_t priority,
                                            uint32_t bytes) {
    struct pool_state *s = state;
    struct pool_group *g = group_at(s, port, priority);
    weft_bytes from_headroom = bytes < g->headroom ? bytes : g->headroom;
    g->headroom -= from_headroom;
    g->pool -= bytes - from_headroom;
    s->used[priority] -= bytes - from_headroom;
    return pool_review(s, conf, port, priority) == WEFT_BUFFER_XON ? WEFT_BUFFER_XON : WEFT_BUFFER_OK;
}

static void pool_prefetch(const void *state, uint32_t port, uint32_t priority) {
    __builtin_prefetch(group_of(state, port, priority));
}

static void pool_set_lossless(void *state, const void *conf, uint32_t port, uint8_t lossless_mask) {
    struct pool_state *s = state;
    weft__lossless_set(&s->lossless, port, lossless_mask);
}

static weft_bytes pool_level(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    const struct pool_group *g = group_of(state, port, priority);
    return g->pool + g->headroom;
}

static weft_bytes pool_room(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    const struct pool_state *s = state;
    const struct pool_conf *c = conf;
    bool lossless = weft__is_lossless(&s->lossless, port, priority);
    weft_bytes limit = limit_of(c, lossless);
    if (lossless && group_of(s, port, priority)->headroom) return 0;
    return s->used[priority] < limit ? limit - s->used[priority] : 0;
}

static weft_bytes pool_level_max(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    return group_of(state, port, priority)->level_max;
}

static const char *pool_check(const void *state, const void *conf) {
    const struct pool_state *s = state;
    const struct pool_conf *c = conf;
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++) {
        weft_bytes sum = 0;
        for (uint32_t port = 0; port < s->ports; port++) {
            const struct pool_group *g = group_of(s, port, priority);
            sum += g->pool;
            if (g->headroom > headroom_of(c)) return "a port holds more than its headroom";
            if (g->pool + g->headroom > g->level_max) return "a group holds more than its watermark";
        }
        if (sum != s->used[priority]) return "the groups do not add up to what the pool holds";
        if (sum > c->size_bytes) return "the pool holds more than its size";
    }
    return NULL;
}

static const struct weft_buffer_ops pool_ops = {
    .fit = pool_fit,
    .plan = pool_plan,
    .state_size = pool_state_size,
    .init = pool_init,
    .admit = pool_admit,
    .release = pool_release,
    .prefetch = pool_prefetch,
    .review = pool_review,
    .set_lossless = pool_set_lossless,
    .level = pool_level,
    .room = pool_room,
    .level_max = pool_level_max,
    .check = pool_check,
};

const struct weft_model weft__buffer_pool = {
    .kind = WEFT_KIND_BUFFER,
    .name = "pool",
    .summary = "one buffer for all ports of a switch, with headroom for each",
    .source = "the arithmetic of IEEE P802.1Qdw, \"SFC simulation\" (Chen, Congdon, Lv, Sivakolundu)",
    .params = &pool_params,
    .ops = &pool_ops,
};
