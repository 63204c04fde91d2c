// SPDX-License-Identifier: Apache-2.0
// Spraying by entropy values that are bound to the NIC's planes, as in Multipath Reliable Connection (MRC): value v
// uses plane v modulo the number of planes. A value whose packet was lost is retired. Once per `probe`, a packet with
// it serves as a probe, until one is answered: then the value is in use again. Each plane takes its values in turn; the
// start of a round is random. A mark costs its value turns: when it would be next, its plane is skipped until the
// others have had a packet each. A plane whose values are all retired is skipped until one is due for a probe.
//
//   a plane dies: each of its m values, taken once per packet every t, is used within 2 m packets, and retired when
//                 that packet times out: the plane is skipped after at most timeout + 2 m t
//   it is back:   each of its values is in use again after at most probe + m t + a round trip
//
// Source: OCP, "Multi-path Reliable Connection" 1.0 (May 2026), as far as its public abstract describes it: entropy
// values are split equally over planes, ECN moves load off a path, loss retires a value, which is then probed. Assumed:
// all numbers; and that a probe is a data packet, so that a lost probe costs a timeout.
#include "weft/param.h"
#include "weft/spray.h"

enum { PLANES_MAX = 32 }; // bits of mrc_state.usable

struct mrc_conf {
    struct weft__spray_conf spray;
    uint64_t marked, most;
    weft_time_ps probe_ps;
};

static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "mrc", struct mrc_conf, .check = weft__spray_check,
    WEFT__SPRAY_VALUES_ROW("64", "entropy values per queue pair in all planes, a power of 2 (assumed)"),
    WEFT_TIME(struct mrc_conf, probe_ps, "probe", "500us", "1us", "1000s",
              "interval between probes of a retired value (assumed); longer than the timeout"),
    WEFT_UINT(struct mrc_conf, marked, "marked", "1", "0", "255",
              "turns that a marked packet costs its value (assumed)"),
    WEFT_UINT(struct mrc_conf, most, "most", "15", "1", "255", "most turns that a value owes (assumed)"));

struct mrc_state {
    struct weft_random random;
    uint32_t planes;
    uint32_t usable; ///< bits: planes whose next value owes nothing, or that have a value to be probed
    uint32_t passed; ///< packets since the skipped planes last paid
    struct plane {
        uint32_t at, turn; ///< of the round, and where it began
        uint32_t next;     ///< value; WEFT_NONE: all are retired
        uint64_t due_us;   ///< the first of its retired values; UINT64_MAX: none is
    } plane[PLANES_MAX];
    struct value {
        uint64_t due_us; ///< 0: not retired
        uint8_t owed;    ///< turns
    } value[];           ///< [values]
};

static size_t mrc_state_size(const void *conf) {
    return sizeof(struct mrc_state) + weft__spray_values(conf) * sizeof(struct value);
}

static uint32_t values_in(const struct mrc_state *s, const struct mrc_conf *c, uint32_t plane) {
    return ((uint32_t)c->spray.values - plane + s->planes - 1) / s->planes;
}

static uint64_t microseconds_of(weft_time_ps now) {
    return now / WEFT_PS_PER_US;
}

static uint64_t due_at(const struct mrc_conf *c, weft_time_ps now) {
    return microseconds_of(now + c->probe_ps) + 1;
}

static uint32_t step_value(struct mrc_state *s, const struct mrc_conf *c, uint32_t plane) {
    struct plane *p = &s->plane[plane];
    uint32_t n = values_in(s, c, plane), value = plane + s->planes * ((p->at + p->turn) % n);
    if (++p->at == n) {
        p->at = 0;
        p->turn = (uint32_t)weft_random_below(&s->random, n);
    }
    return value;
}

/// The plane advances to its next value that is not retired.
static void advance_plane(struct mrc_state *s, const struct mrc_conf *c, uint32_t plane) {
    struct plane *p = &s->plane[plane];
    p->next = WEFT_NONE;
    for (uint32_t k = 2 * values_in(s, c, plane); k > 0 && p->next == WEFT_NONE; k--) { // a new round may begin
        uint32_t value = step_value(s, c, plane);
        if (!s->value[value].due_us) p->next = value;
    }
}

/// A value of the plane was retired, is being probed or is in use again.
static void review_plane(struct mrc_state *s, const struct mrc_conf *c, uint32_t plane) {
    struct plane *p = &s->plane[plane];
    p->due_us = UINT64_MAX;
    for (uint32_t v = plane; v < c->spray.values; v += s->planes)
        if (s->value[v].due_us && s->value[v].due_us < p->due_us) p->due_us = s->value[v].due_us;
    if (p->next == WEFT_NONE || s->value[p->next].due_us) advance_plane(s, c, plane);
}

/// Finds the usable planes; if there are none, all are tried.
static void find_usable(struct mrc_state *s, weft_time_ps now) {
    s->usable = 0;
    for (uint32_t k = 0; k < s->planes; k++) {
        const struct plane *p = &s->plane[k];
        bool is_free = p->next != WEFT_NONE && !s->value[p->next].owed;
        if (is_free || p->due_us <= microseconds_of(now)) s->usable |= UINT32_C(1) << k;
    }
    if (!s->usable) s->usable = UINT32_MAX >> (PLANES_MAX - s->planes);
}

static void mrc_start(void *state, const void *conf, const struct weft_random *random, uint32_t planes) {
    struct mrc_state *s = state;
    const struct mrc_conf *c = conf;
    s->random = *random;
    s->planes = planes < c->spray.values ? planes : (uint32_t)c->spray.values;
    if (s->planes > PLANES_MAX) s->planes = PLANES_MAX;
    for (uint32_t k = 0; k < s->planes; k++) {
        s->plane[k] =
            (struct plane){.turn = (uint32_t)weft_random_below(&s->random, values_in(s, c, k)), .next = WEFT_NONE};
        review_plane(s, c, k);
    }
    find_usable(s, 0);
}

/// The value of the plane that has been due for longest.
static uint32_t probe_value(struct mrc_state *s, const struct mrc_conf *c, weft_time_ps now, uint32_t plane) {
    uint32_t value = plane;
    while (s->value[value].due_us != s->plane[plane].due_us)
        value += s->planes;
    s->value[value].due_us = due_at(c, now); // unless it is answered
    review_plane(s, c, plane);
    return value | WEFT_SPRAY_ASK;
}

/// The plane's turn has ended: its next value has sent a packet, or has paid.
static uint32_t take_value(struct mrc_state *s, const struct mrc_conf *c, uint32_t plane) {
    uint32_t value = s->plane[plane].next;
    if (s->value[value].owed) s->value[value].owed--;
    advance_plane(s, c, plane);
    return value;
}

/// A packet leaves: planes skipped because they owe turns pay one, if all others have had theirs.
static void pass_over(struct mrc_state *s, const struct mrc_conf *c) {
    uint32_t out = (UINT32_MAX >> (PLANES_MAX - s->planes)) & ~s->usable;
    if (!out || ++s->passed + (uint32_t)__builtin_popcount(out) < s->planes) return;
    s->passed = 0;
    for (; out; out &= out - 1) {
        uint32_t plane = (uint32_t)__builtin_ctz(out);
        if (s->plane[plane].next != WEFT_NONE) take_value(s, c, plane);
    }
}

static uint32_t mrc_next(void *state, const void *conf, weft_time_ps now, uint32_t plane) {
    struct mrc_state *s = state;
    const struct mrc_conf *c = conf;
    plane %= s->planes;
    bool probes = s->plane[plane].next == WEFT_NONE || s->plane[plane].due_us <= microseconds_of(now);
    uint32_t value = probes ? probe_value(s, c, now, plane) : take_value(s, c, plane);
    pass_over(s, c);
    find_usable(s, now);
    return value;
}

static void mrc_news(void *state, const void *conf, weft_time_ps now, uint32_t value, enum weft_spray_news what) {
    struct mrc_state *s = state;
    const struct mrc_conf *c = conf;
    struct value *v = &s->value[value];
    bool was_retired = v->due_us, is_retired = what == WEFT_SPRAY_TIMEOUT;
    if (what == WEFT_SPRAY_MARKED || what == WEFT_SPRAY_TRIMMED) {
        uint64_t owed = v->owed + c->marked;
        v->owed = (uint8_t)(owed < c->most ? owed : c->most);
    }
    if (was_retired != is_retired) {
        v->due_us = is_retired ? due_at(c, now) : 0;
        review_plane(s, c, value % s->planes);
    }
    find_usable(s, now);
}

static uint32_t mrc_planes(const void *state) {
    return ((const struct mrc_state *)state)->usable;
}

static const char *mrc_check(const void *state, const void *conf) {
    const struct mrc_state *s = state;
    const struct mrc_conf *c = conf;
    for (uint32_t i = 0; i < c->spray.values; i++) {
        const struct plane *p = &s->plane[i % s->planes];
        if (s->value[i].owed > c->most) return "a value owes more turns than the most";
        if (!s->value[i].due_us && p->next == WEFT_NONE) return "a value is not retired, and its plane has none";
        if (s->value[i].due_us && s->value[i].due_us < p->due_us) return "a value is due before its plane";
    }
    for (uint32_t k = 0; k < s->planes; k++)
        if (s->plane[k].next != WEFT_NONE && s->value[s->plane[k].next].due_us) return "a retired value is next";
    return s->usable ? NULL : "no plane is usable";
}

const struct weft_model weft__spray_mrc = WEFT_MODEL_OF(
    SPRAY, "mrc", "values bound to the NIC's planes; lost packets retire a value, which is probed and comes back",
    "OCP, Multi-path Reliable Connection 1.0, 2026: the public abstract; all numbers are assumed", &params,
    &(const struct weft_spray_ops){
        .state_size = mrc_state_size,
        .values = weft__spray_values,
        .start = mrc_start,
        .next = mrc_next,
        .news = mrc_news,
        .planes = mrc_planes,
        .check = mrc_check,
    },
    .draws = true);
