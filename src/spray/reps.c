// SPDX-License-Identifier: Apache-2.0
// REPS, recycled entropies for packet spraying: the value of a packet that returned unmarked is used once more, from a
// ring of the last eight; without one, a value is drawn. A timeout freezes the ring: its values, which worked, are
// reused instead of new ones, which may lead to the dead path. After 10 ms it thaws and explores again.
//
// Sources: T. Bonato et al., "REPS: Recycled entropy packet spraying for adaptive load balancing and failure
// mitigation" (arXiv 2407.21625); ring, times and counts as in uet-htsim, sim/uec_mp.cpp. Difference: thawing is
// decided when the next packet leaves, as well as when the next one returns.
#include "weft/param.h"
#include "weft/spray.h"

struct reps_conf {
    struct weft__spray_conf spray;
    uint64_t ring, explore;
    weft_time_ps frozen_ps;
};

static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "reps", struct reps_conf, .check = weft__spray_check,
    WEFT__SPRAY_VALUES_ROW("16384", "entropy values to draw from, a power of 2 (as many as 14 bits of a packet allow)"),
    WEFT_UINT(struct reps_conf, ring, "ring", "8", "1", "256", "values kept (uet-htsim)"),
    WEFT_TIME(struct reps_conf, frozen_ps, "frozen", "10ms", "0ns", "never",
              "after a timeout only the ring's values are used, for this long (uet-htsim)"),
    WEFT_UINT(struct reps_conf, explore, "explore", "16", "0", "65535", "values drawn anew after that (uet-htsim)"));

struct reps_state {
    struct weft_random random;
    weft_time_ps thaw_ps;
    uint32_t explore;
    uint16_t head;  ///< where the next value is put
    uint16_t fresh; ///< values not yet reused, the last ones that were added
    uint16_t kept;  ///< values in the ring
    uint16_t next;  ///< frozen: the next place to use
    bool frozen;
    uint16_t value[]; ///< [ring]
};

static size_t reps_state_size(const void *conf) {
    return sizeof(struct reps_state) + ((const struct reps_conf *)conf)->ring * sizeof(uint16_t);
}

static void reps_start(void *state, const void *conf, const struct weft_random *random, uint32_t planes) {
    ((struct reps_state *)state)->random = *random;
}

static void thaw_buffer(struct reps_state *s, const struct reps_conf *c, weft_time_ps now) {
    if (__builtin_expect(!s->frozen, 1) || now < s->thaw_ps) return;
    s->frozen = false;
    s->head = s->fresh = s->kept = s->next = 0;
    s->explore = (uint32_t)c->explore;
}

static uint32_t draw_value(struct reps_state *s, const struct reps_conf *c) {
    return (uint32_t)weft_random_below(&s->random, c->spray.values);
}

static uint32_t reps_next(void *state, const void *conf, weft_time_ps now, uint32_t plane) {
    struct reps_state *s = state;
    const struct reps_conf *c = conf;
    thaw_buffer(s, c, now);
    if (s->explore) {
        s->explore--;
        return draw_value(s, c);
    }
    if (s->frozen && s->kept) {
        s->next = (uint16_t)((s->next + 1) % s->kept);
        return s->value[s->next];
    }
    if (!s->fresh) return draw_value(s, c);
    return s->value[(s->head + c->ring - s->fresh--) % c->ring];
}

static void reps_news(void *state, const void *conf, weft_time_ps now, uint32_t value, enum weft_spray_news what) {
    struct reps_state *s = state;
    const struct reps_conf *c = conf;
    if (what == WEFT_SPRAY_TIMEOUT && !s->frozen && !s->explore) {
        s->frozen = true;
        s->thaw_ps = c->frozen_ps == WEFT_TIME_NEVER ? WEFT_TIME_NEVER : now + c->frozen_ps;
    }
    thaw_buffer(s, c, now);
    if (what != WEFT_SPRAY_GOOD) return;
    s->value[s->head] = (uint16_t)value;
    s->head = (uint16_t)((s->head + 1) % c->ring);
    if (s->fresh < c->ring) s->fresh++;
    if (s->kept < c->ring) s->kept++;
}

static const char *reps_check(const void *state, const void *conf) {
    const struct reps_state *s = state;
    const struct reps_conf *c = conf;
    if (s->fresh > s->kept || s->kept > c->ring) return "more values to use again than are kept";
    for (uint32_t i = 0; i < s->kept; i++)
        if (s->value[i] >= c->spray.values) return "a value beyond the last one";
    return NULL;
}

const struct weft_model weft__spray_reps = WEFT_MODEL_OF(
    SPRAY, "reps", "values of packets that came back unmarked are used again; a timeout has only those used",
    "Bonato et al., REPS, arXiv 2407.21625; uet-htsim, sim/uec_mp.cpp", &params,
    &(const struct weft_spray_ops){
        .state_size = reps_state_size,
        .values = weft__spray_values,
        .start = reps_start,
        .next = reps_next,
        .news = reps_news,
        .check = reps_check,
    },
    .draws = true);
