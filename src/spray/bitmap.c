// SPDX-License-Identifier: Apache-2.0
// Spraying that skips bad entropy values: a mark makes a value miss one turn, a trimmed packet four, a timeout fifteen;
// a value owes at most fifteen. Otherwise like oblivious. Source: uet-htsim, sim/uec_mp.cpp. A packet skips all values
// in penalty, but only the first of them then owes a turn less; after a whole round it takes the next value. With
// `recycle`, values of unmarked acknowledgements come first, once more each, in their order: uet-htsim's `mixed`, which
// keeps as many as there are.
#include "spray/rounds.h"
#include "weft/param.h"

struct bitmap_conf {
    struct weft__spray_conf spray;
    uint64_t marked, trimmed, timeout, most, recycle;
};

static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "bitmap", struct bitmap_conf, .check = weft__spray_check,
    WEFT__SPRAY_VALUES_ROW("64", "entropy values per queue pair, a power of 2 (uet-htsim: 64)"),
    WEFT_UINT(struct bitmap_conf, marked, "marked", "1", "0", "255", "turns that a marked packet costs its value"),
    WEFT_UINT(struct bitmap_conf, trimmed, "trimmed", "4", "0", "255", "turns that a trimmed packet costs its value"),
    WEFT_UINT(struct bitmap_conf, timeout, "timeout", "15", "0", "255", "turns that a lost packet costs its value"),
    WEFT_UINT(struct bitmap_conf, most, "most", "15", "1", "255", "most turns that a value owes"),
    WEFT_UINT(struct bitmap_conf, recycle, "recycle", "0", "0", "1024",
              "values of unmarked acknowledgements kept to be reused first, once each (uet-htsim's mixed: no limit)"));

struct bitmap_state {
    struct weft__rounds rounds;
    uint16_t first, kept; ///< of the values to be used once more
    uint16_t place[];     ///< [recycle] of them, in a ring; then the turns that each value owes
};

static uint8_t *owed_of(const struct bitmap_state *s, const struct bitmap_conf *c) {
    return (uint8_t *)(s->place + c->recycle);
}

static size_t bitmap_state_size(const void *conf) {
    const struct bitmap_conf *c = conf;
    return sizeof(struct bitmap_state) + c->recycle * sizeof(uint16_t) + c->spray.values;
}

static void bitmap_start(void *state, const void *conf, const struct weft_random *random, uint32_t planes) {
    weft__rounds_start(&((struct bitmap_state *)state)->rounds, random, weft__spray_values(conf));
}

static uint32_t bitmap_next(void *state, const void *conf, weft_time_ps now, uint32_t plane) {
    struct bitmap_state *s = state;
    const struct bitmap_conf *c = conf;
    if (s->kept) {
        uint32_t again = s->place[s->first];
        s->first = (uint16_t)((s->first + 1u) % c->recycle);
        s->kept--;
        return again;
    }
    uint8_t *owed = owed_of(s, c);
    uint32_t values = weft__spray_values(conf), value = weft__rounds_value(&s->rounds);
    if (owed[value])
        owed[value]--, weft__rounds_step(&s->rounds, values);
    else {
        weft__rounds_step(&s->rounds, values);
        return value;
    }
    for (uint32_t k = 0; k < values; k++) {
        value = weft__rounds_value(&s->rounds);
        if (!owed[value]) break;
        weft__rounds_step(&s->rounds, values);
    }
    value = weft__rounds_value(&s->rounds);
    weft__rounds_step(&s->rounds, values);
    return value;
}

static void bitmap_news(void *state, const void *conf, weft_time_ps now, uint32_t value, enum weft_spray_news what) {
    struct bitmap_state *s = state;
    const struct bitmap_conf *c = conf;
    const uint64_t costs[] = {
        [WEFT_SPRAY_GOOD] = 0,
        [WEFT_SPRAY_MARKED] = c->marked,
        [WEFT_SPRAY_TRIMMED] = c->trimmed,
        [WEFT_SPRAY_TIMEOUT] = c->timeout,
    };
    uint8_t *owed = owed_of(s, c);
    uint64_t owes = owed[value] + costs[what];
    owed[value] = (uint8_t)(owes < c->most ? owes : c->most);
    if (what != WEFT_SPRAY_GOOD || s->kept == c->recycle) return;
    s->place[(s->first + s->kept++) % c->recycle] = (uint16_t)value;
}

static const char *bitmap_check(const void *state, const void *conf) {
    const struct bitmap_state *s = state;
    const struct bitmap_conf *c = conf;
    for (uint32_t i = 0; i < c->spray.values; i++)
        if (owed_of(s, c)[i] > c->most) return "a value owes more turns than the most";
    if (s->kept > c->recycle || (c->recycle && s->first >= c->recycle)) return "more values to use again than are kept";
    return weft__rounds_value(&s->rounds) < c->spray.values ? NULL : "a value beyond the last one";
}

const struct weft_model weft__spray_bitmap =
    WEFT_MODEL_OF(SPRAY, "bitmap", "entropy values in turn; those with marked, trimmed or lost packets miss turns",
                  "uet-htsim, sim/uec_mp.cpp", &params,
                  &(const struct weft_spray_ops){
                      .state_size = bitmap_state_size,
                      .values = weft__spray_values,
                      .start = bitmap_start,
                      .next = bitmap_next,
                      .news = bitmap_news,
                      .check = bitmap_check,
                  },
                  .draws = true);
