// SPDX-License-Identifier: Apache-2.0
#include "buffer/shared.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "buffer/cells.h"
#include "buffer/lossless.h"

struct shared_state {
    uint32_t ports, rooms;
    struct weft__lossless lossless;
    weft_bytes *used;     ///< [rooms][WEFT_PRIORITIES]
    struct share *shares; ///< [ports][WEFT_PRIORITIES][rooms]
    struct group {
        weft_bytes level, headroom, level_max;
        uint32_t held; ///< how many rooms keep it paused
    } group[];         ///< [ports][WEFT_PRIORITIES]
};

/// What a port and priority hold in a room, and what arrived for it above XOFF.
struct share {
    weft_bytes pool, headroom;
    bool held; ///< the room keeps this input paused
};

static struct group *group_at(void *state, uint32_t port, uint32_t priority) {
    return &((struct shared_state *)state)->group[port * WEFT_PRIORITIES + priority];
}

static const struct group *group_of(const void *state, uint32_t port, uint32_t priority) {
    return &((const struct shared_state *)state)->group[port * WEFT_PRIORITIES + priority];
}

static struct share *shares_of(const struct shared_state *s, uint32_t port, uint32_t priority) {
    return &s->shares[((size_t)port * WEFT_PRIORITIES + priority) * s->rooms];
}

static weft_bytes *used_at(const struct shared_state *s, uint32_t room, uint32_t priority) {
    return &s->used[room * WEFT_PRIORITIES + priority];
}

static weft_bytes headroom_of(const struct weft__shared_conf *c) {
    return c->headroom_bytes ? c->headroom_bytes : c->size_bytes - c->xoff_bytes;
}

static weft_bytes limit_of(const struct weft__shared_conf *c, bool lossless) {
    return lossless ? c->xoff_bytes : c->size_bytes;
}

const char *weft__shared_conf_check(const void *conf, char *text, size_t size) {
    const struct weft__shared_conf *c = conf;
    return weft__levels_check(c->size_bytes, c->xoff_bytes, c->xon_bytes, text, size);
}

const char *weft__shared_fit(const void *conf, uint32_t ports, uint8_t lossless_mask, uint32_t frame_bytes, char *text,
                             size_t size) {
    const struct weft__shared_conf *c = conf;
    weft_bytes headroom = headroom_of(c), occupied = weft_buffer_occupied(c->cell_bytes, frame_bytes);
    if (occupied <= c->xoff_bytes || (lossless_mask && occupied <= headroom)) return NULL;
    if (!lossless_mask && occupied <= c->size_bytes) return NULL;
    return WEFT_SAY(
        text, size,
        "neither xoff (%llu B) nor the headroom above it (%llu B) takes one full frame (%u B, by host.mtu): it "
        "would be dropped for ever",
        (unsigned long long)c->xoff_bytes, (unsigned long long)headroom, frame_bytes);
}

void weft__shared_plan(const void *conf, uint8_t lossless_mask, const char *of, struct weft_buffer_plan *ret_plan) {
    const struct weft__shared_conf *c = conf;
    weft_bytes xoff = limit_of(c, lossless_mask), headroom = lossless_mask ? headroom_of(c) : 0;
    *ret_plan = (struct weft_buffer_plan){
        .xoff_bytes = xoff, .headroom_bytes = headroom, .cell_bytes = (uint32_t)c->cell_bytes};
    snprintf(ret_plan->text, sizeof ret_plan->text, "xoff %s of %s, and headroom %s of each",
             weft__bytes_text(xoff).text, of, weft__bytes_text(headroom).text);
    if (c->headroom_bytes)
        snprintf(ret_plan->headroom_text, sizeof ret_plan->headroom_text, "headroom %s",
                 weft__bytes_text(headroom).text);
    else
        snprintf(ret_plan->headroom_text, sizeof ret_plan->headroom_text, "size %s - xoff %s",
                 weft__bytes_text(c->size_bytes).text, weft__bytes_text(xoff).text);
}

weft_bytes weft__shared_lossy_most(const void *conf, const struct weft_buffer_port *port, uint32_t ports,
                                   uint8_t lossless_mask, uint32_t priority) {
    return limit_of(conf, false);
}

static size_t groups_size(uint32_t ports) {
    return sizeof(struct shared_state) + (size_t)ports * WEFT_PRIORITIES * sizeof(struct group);
}

static size_t shares_size(uint32_t ports, uint32_t rooms) {
    return (size_t)ports * WEFT_PRIORITIES * rooms * sizeof(struct share);
}

size_t weft__shared_state_size(uint32_t ports, uint32_t rooms) {
    return groups_size(ports) + shares_size(ports, rooms) + (size_t)rooms * WEFT_PRIORITIES * sizeof(weft_bytes) +
           ports;
}

void weft__shared_init(void *state, uint32_t ports, uint32_t rooms, uint8_t lossless_mask) {
    struct shared_state *s = state;
    memset(s, 0, weft__shared_state_size(ports, rooms));
    s->ports = ports;
    s->rooms = rooms;
    s->shares = (struct share *)((char *)state + groups_size(ports));
    s->used = (weft_bytes *)((char *)s->shares + shares_size(ports, rooms));
    s->lossless = (struct weft__lossless){
        .same = lossless_mask, .room = (uint8_t *)&s->used[rooms * WEFT_PRIORITIES], .ports = ports};
}

/// Whether the room no longer keeps the input paused: it is below XON, or holds nothing of this input.
static bool lets_go(const struct shared_state *s, const struct weft__shared_conf *c, const struct share *share,
                    uint32_t room, uint32_t priority) {
    return !share->headroom && (!share->pool || *used_at(s, room, priority) <= c->xon_bytes);
}

enum weft_buffer_answer weft__shared_review(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    const struct shared_state *s = state;
    const struct group *g = group_of(s, port, priority);
    const struct share *share = shares_of(s, port, priority);
    if (!weft__is_lossless(&s->lossless, port, priority)) return WEFT_BUFFER_OK;
    if (g->headroom) return WEFT_BUFFER_XOFF;
    for (uint32_t room = 0, held = g->held; held; room++) {
        if (!share[room].held) continue;
        if (!lets_go(s, conf, &share[room], room, priority)) return WEFT_BUFFER_OK;
        held--;
    }
    return WEFT_BUFFER_XON;
}

enum weft_buffer_answer weft__shared_admit(void *state, const void *conf, uint32_t port, uint32_t room,
                                           uint32_t priority, uint32_t frame_bytes) {
    const struct weft__shared_conf *c = conf;
    struct shared_state *s = state;
    struct group *g = group_at(s, port, priority);
    struct share *share = &shares_of(s, port, priority)[room];
    weft_bytes *used = used_at(s, room, priority), bytes = weft__buffer_frame(c->cell_bytes, frame_bytes);
    bool lossless = weft__is_lossless(&s->lossless, port, priority);
    if (*used + bytes <= limit_of(c, lossless)) {
        *used += bytes;
        share->pool += bytes;
    } else if (lossless && g->headroom + bytes <= headroom_of(c)) {
        g->headroom += bytes;
        share->headroom += bytes;
        g->held += !share->held;
        share->held = true;
    } else {
        return WEFT_BUFFER_DROP;
    }
    g->level += bytes;
    if (g->level > g->level_max) g->level_max = g->level;
    return lossless && g->headroom ? WEFT_BUFFER_XOFF : WEFT_BUFFER_OK;
}

enum weft_buffer_answer weft__shared_release(void *state, const void *conf, uint32_t port, uint32_t room,
                                             uint32_t priority, uint32_t frame_bytes) {
    const struct weft__shared_conf *c = conf;
    struct shared_state *s = state;
    struct group *g = group_at(s, port, priority);
    struct share *share = &shares_of(s, port, priority)[room];
    weft_bytes bytes = weft__buffer_frame(c->cell_bytes, frame_bytes);
    weft_bytes from_headroom = bytes < share->headroom ? bytes : share->headroom;
    g->level -= bytes;
    g->headroom -= from_headroom;
    share->headroom -= from_headroom;
    share->pool -= bytes - from_headroom;
    assert(*used_at(s, room, priority) >= bytes - from_headroom && g->level <= g->level_max); // it held the packet
    *used_at(s, room, priority) -= bytes - from_headroom;
    if (share->held && lets_go(s, conf, share, room, priority)) {
        share->held = false;
        g->held--;
    }
    return weft__shared_review(s, conf, port, priority) == WEFT_BUFFER_XON ? WEFT_BUFFER_XON : WEFT_BUFFER_OK;
}

void weft__shared_prefetch(const void *state, uint32_t port, uint32_t priority) {
    __builtin_prefetch(group_of(state, port, priority));
}

void weft__shared_set_lossless(void *state, const void *conf, uint32_t port, uint8_t lossless_mask) {
    struct shared_state *s = state;
    weft__lossless_set(&s->lossless, port, lossless_mask);
}

weft_bytes weft__shared_level(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    return group_of(state, port, priority)->level;
}

weft_bytes weft__shared_room(const void *state, const void *conf, uint32_t port, uint32_t room, uint32_t priority) {
    const struct shared_state *s = state;
    bool lossless = weft__is_lossless(&s->lossless, port, priority);
    weft_bytes limit = limit_of(conf, lossless), used = *used_at(s, room, priority);
    if (lossless && group_of(s, port, priority)->headroom) return 0;
    return used < limit ? weft__buffer_whole(((const struct weft__shared_conf *)conf)->cell_bytes, limit - used) : 0;
}

weft_bytes weft__shared_level_max(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    return group_of(state, port, priority)->level_max;
}

/// Compares a group with its shares.
static const char *check_group(const struct shared_state *s, const struct weft__shared_conf *c, uint32_t port,
                               uint32_t priority) {
    const struct group *g = group_of(s, port, priority);
    const struct share *share = shares_of(s, port, priority);
    weft_bytes level = 0, headroom = 0;
    uint32_t held = 0;
    for (uint32_t room = 0; room < s->rooms; room++) {
        level += share[room].pool + share[room].headroom;
        headroom += share[room].headroom;
        held += share[room].held;
        if (share[room].headroom && !share[room].held) return "a group is in headroom and not held";
    }
    if (level != g->level || headroom != g->headroom || held != g->held) return "a group is not the sum of its shares";
    if (headroom > headroom_of(c)) return "a port holds more than its headroom";
    return level > g->level_max ? "a group holds more than its watermark" : NULL;
}

const char *weft__shared_check(const void *state, const void *conf) {
    const struct shared_state *s = state;
    const struct weft__shared_conf *c = conf;
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++) {
        for (uint32_t port = 0; port < s->ports; port++) {
            const char *broken = check_group(s, c, port, priority);
            if (broken) return broken;
        }
        for (uint32_t room = 0; room < s->rooms; room++) {
            weft_bytes sum = 0;
            for (uint32_t port = 0; port < s->ports; port++)
                sum += shares_of(s, port, priority)[room].pool;
            if (sum != *used_at(s, room, priority)) return "the groups do not add up to what the room holds";
            if (sum > c->size_bytes) return "a room holds more than its size";
        }
    }
    return NULL;
}

void weft__shared_fingerprint(const void *state, const void *conf, struct weft__fingerprint *fingerprint) {
    const struct shared_state *s = state;
    for (uint32_t i = 0; i < s->rooms * WEFT_PRIORITIES; i++)
        weft__fingerprint_mix(fingerprint, s->used[i]);
    for (uint32_t g = 0; g < s->ports * WEFT_PRIORITIES; g++) { // with nothing held, nothing is held in any room
        weft__fingerprint_mix(fingerprint, s->group[g].level);
        weft__fingerprint_mix(fingerprint, (uint64_t)s->group[g].headroom << 32 | s->group[g].held);
    }
}
