// SPDX-License-Identifier: Apache-2.0
// CoDel: K. Nichols, V. Jacobson et al., "Controlled Delay Active Queue Management", RFC 8289, sections 3, 4 and 5. The
// time that a packet waited decides, not a depth: once it has exceeded `target` for a whole `interval`, CoDel marks or
// drops a departing packet, and the next ones interval / sqrt(count) apart until a packet has waited less than target.
//
// Differences: an ECN-capable packet is marked where another is dropped (as in Linux, sch_codel.c; the RFC allows it),
// and `mark: false` drops both. The time of the next drop is set when a packet is dropped, where the RFC waits until it
// has seen that the packet behind is bad, too. The square root is calculated, where Linux iterates Newton's method.
#include <math.h>

#include "base/digest.h"
#include "weft/aqm.h"
#include "weft/param.h"

struct codel_conf {
    weft_time_ps target_ps, interval_ps;
    weft_bytes least_bytes;
    bool marks;
};

/// Of a queue; the names are those of RFC 8289, section 5.2.
struct codel_state {
    weft_time_ps first_above_ps; ///< when an interval above the target ends; 0: below it
    weft_time_ps drop_next_ps;   ///< when to mark or drop next
    uint32_t count;              ///< marks and drops since dropping began
    uint32_t last_count;         ///< `count` when dropping last began
    bool dropping;
};

static const char *conf_check(const void *conf, char *text, size_t size) {
    const struct codel_conf *c = conf;
    return c->target_ps <= c->interval_ps ? NULL : "target is longer than interval";
}
static const struct weft_param_table params = WEFT_PARAM_TABLE_OF(
    "codel", struct codel_conf, .check = conf_check,
    WEFT_TIME(struct codel_conf, target_ps, "target", "5us", "1ns", "1s",
              "a queue in which packets wait no longer is good (assumed: one twentieth of interval; RFC 8289 section "
              "4.3: 5 to 10 % of it)"),
    WEFT_TIME(struct codel_conf, interval_ps, "interval", "100us", "1ns", "10s",
              "the wait must exceed target for this long; at least the worst round trip (RFC 8289 section 4.3: 100ms "
              "for the Internet; assumed for a data centre: one thousandth)"),
    WEFT_BYTES(
        struct codel_conf, least_bytes, "least", "4158B", "0B", "1TB",
        "a queue that holds no more than this behind a packet is good (RFC 8289 section 5.6: a packet of the MTU; "
        "4096B and headers here)"),
    WEFT_BOOL(struct codel_conf, marks, "mark", "true", "mark ECN-capable packets instead of dropping them"));

static enum weft_aqm_verdict codel_on_enqueue(void *state, const void *conf, const struct weft_aqm_fact *fact,
                                              struct weft_random *random) {
    return WEFT_AQM_PASS;
}

static weft_bytes codel_pass(const void *conf) {
    return UINT64_MAX;
}

static bool codel_wants_dequeue(const void *conf) {
    return true;
}

static size_t codel_state_size(const void *conf) {
    return sizeof(struct codel_state);
}

/// RFC 8289, section 5.5.
static weft_time_ps control_law(const struct codel_conf *c, weft_time_ps from, uint32_t count) {
    return from + (weft_time_ps)((double)c->interval_ps / sqrt(count));
}

/// RFC 8289, section 5.6: whether the wait has exceeded the target for an interval.
static bool is_bad(struct codel_state *s, const struct codel_conf *c, const struct weft_aqm_fact *fact) {
    if (fact->waited_ps < c->target_ps || fact->queue_bytes <= c->least_bytes) {
        s->first_above_ps = 0;
        return false;
    }
    if (!s->first_above_ps) s->first_above_ps = fact->now_ps + c->interval_ps;
    return fact->now_ps >= s->first_above_ps;
}

/// Whether what it last dropped by was found recently, and so may do again.
static bool is_recent(const struct codel_state *s, const struct codel_conf *c, weft_time_ps now) {
    return s->count - s->last_count > 1 && now < s->drop_next_ps + 16 * c->interval_ps;
}

/// RFC 8289, section 5.7: dropping begins, at the rate of last time if that was recent.
static void begin_dropping(struct codel_state *s, const struct codel_conf *c, weft_time_ps now) {
    s->dropping = true;
    s->count = s->last_count = is_recent(s, c, now) ? s->count - s->last_count : 1;
    s->drop_next_ps = control_law(c, now, s->count);
}

static enum weft_aqm_verdict codel_on_dequeue(void *state, const void *conf, const struct weft_aqm_fact *fact,
                                              struct weft_random *random) {
    struct codel_state *s = state;
    const struct codel_conf *c = conf;
    if (!is_bad(s, c, fact)) {
        s->dropping = false;
        return WEFT_AQM_PASS;
    }
    if (!s->dropping) {
        begin_dropping(s, c, fact->now_ps);
    } else if (fact->now_ps >= s->drop_next_ps) {
        s->count++;
        s->drop_next_ps = control_law(c, s->drop_next_ps, s->count);
    } else {
        return WEFT_AQM_PASS;
    }
    return c->marks && fact->ecn_capable ? WEFT_AQM_MARK : WEFT_AQM_DROP;
}

/// What happened long ago does not matter to begin_dropping.
static void codel_fingerprint(const void *state, const void *conf, struct weft__fingerprint *fingerprint) {
    const struct codel_state *s = state;
    const struct codel_conf *c = conf;
    weft__fingerprint_mix(fingerprint, s->dropping);
    if (s->first_above_ps) weft__fingerprint_mix_since(fingerprint, s->first_above_ps);
    if (!s->dropping && !is_recent(s, c, fingerprint->now_ps)) return;
    weft__fingerprint_mix(fingerprint, (uint64_t)s->count << 32 | s->last_count);
    weft__fingerprint_mix_since(fingerprint, s->drop_next_ps);
}

const struct weft_model weft__aqm_codel =
    WEFT_MODEL_OF(AQM, "codel", "marks or drops departing packets while packets wait longer than a target",
                  "Nichols et al., CoDel, RFC 8289; marks as in Linux, sch_codel.c", &params,
                  &(const struct weft_aqm_ops){
                      .on_enqueue = codel_on_enqueue,
                      .pass = codel_pass,
                      .wants_dequeue = codel_wants_dequeue,
                      .on_dequeue = codel_on_dequeue,
                      .state_size = codel_state_size,
                      .fingerprint = codel_fingerprint,
                  });
