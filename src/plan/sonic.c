// SPDX-License-Identifier: Apache-2.0
// Checks a SONiC configuration. Buffers take precedence: where PFC and priority groups disagree, the patch makes
// pfc_enable follow the groups that have headroom, and maps follow both. An ECN threshold is compared with the lowest
// depth at which a queue can pause its inputs: a single input holds alpha / (1 + alpha) of the shared pool, several
// inputs hold more. Headroom is judged by the formula asked for and, if that is the bound, which counts bytes, by
// SONiC's formula with the cells of the chip as well: less than that is enough for full frames only.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "weft/hardware.h"
#include "weft/plan_sonic.h"

enum { KIB = 1024, DETECTION_MAX = 5000, RESTORATION_MAX = 60000, TIME_MIN = 100, POLL_MAX = 1000 };

const char *const weft_sonic_rule_names[WEFT_SONIC_RULES] = {"headroom", "pool", "threshold", "ecn",
                                                             "pfc",      "map",  "watchdog"};
const char *const weft_sonic_rule_sources[WEFT_SONIC_RULES] = {
    "weft plan pfc; IEEE 802.1Q annex N",
    "SONiC, sonic-swss cfgmgr/buffer_headroom_mellanox.lua",
    "SAI, saibuffer.h: a profile has the mode of its threshold",
    "Zhu et al., SIGCOMM 2015, section 4: ECN before PFC",
    "IEEE 802.1Q clause 36: a priority that is paused needs headroom",
    "IEEE 802.1Q clause 36: a pause stops the priority that it names",
    "SONiC, sonic-yang-models/yang-models/sonic-pfcwd.yang",
};

struct judge {
    const struct weft_sonic *s;
    const struct weft_plan_pfc_conf *base;
    struct weft_arena *arena;
    struct weft_sonic_finding *finding;
    uint32_t n, room;
    struct after { // of a profile, with its changes applied
        weft_bytes xoff_bytes, size_bytes, static_bytes, need_bytes;
        weft_bytes cells_bytes; ///< need in cells of the chip; 0: not asked about
        weft_bytes ahead_bytes; ///< need if the pause waits for the largest frame of any class
        const struct weft_sonic_port *needs, *counted, *counted_ahead;
        uint32_t ports, ports_ahead;
    } * profile;
    weft_bytes *pool_bytes; ///< size of each pool, with the changes applied
    uint8_t *lossless;      ///< priorities of each port, with the changes applied
    struct map_change {     ///< the change that the finding of this number makes to a class
        const struct weft_sonic_map *map;
        uint32_t class, value, finding;
    } * map_change;
    uint32_t map_changes;
};

#define UNKNOWN UINT64_MAX // bytes

#define TEXT(...) weft_arena_format(j->arena, __VA_ARGS__)
#define BYTES(bytes) weft__bytes_text(bytes).text

/// A part of a JSON pointer: "~" and "/" are escaped.
static const char *escape_pointer(struct judge *j, const char *text) {
    char *copy = weft_arena_alloc(j->arena, 2 * strlen(text) + 1, 1), *to = copy;
    for (; *text; text++) {
        *to++ = *text == '/' ? '~' : *text;
        if (*text == '/' || *text == '~') *to++ = *text == '/' ? '1' : '0';
    }
    return copy;
}

static struct weft_sonic_finding *add_finding(struct judge *j, enum weft_sonic_rule rule, const char *where,
                                              const char *reason) {
    if (j->n == j->room) {
        struct weft_sonic_finding *more = weft_arena_alloc(j->arena, 2 * (size_t)j->room + 16, sizeof *more);
        if (j->n) memcpy(more, j->finding, j->n * sizeof *more);
        j->finding = more;
        j->room = 2 * j->room + 16;
    }
    j->finding[j->n] = (struct weft_sonic_finding){.rule = rule, .where = where, .reason = reason};
    return &j->finding[j->n++];
}

static void add_change(struct judge *j, struct weft_sonic_finding *f, const char *table, const char *key,
                       const char *field, bool there, const char *value) {
    f->change[f->changes++] = (struct weft_sonic_change){
        TEXT("/%s/%s/%s", escape_pointer(j, table), escape_pointer(j, key), escape_pointer(j, field)), value, there};
}

static const char *number_text(struct judge *j, uint64_t value) {
    return TEXT("%" PRIu64, value);
}

/// A finding about a port: one for all ports with the same finding at the same place. NULL: there is one already.
static struct weft_sonic_finding *add_port(struct judge *j, enum weft_sonic_rule rule,
                                           const struct weft_sonic_port *port, const char *where, const char *value,
                                           const char *reason) {
    for (uint32_t i = 0; i < j->n; i++) {
        struct weft_sonic_finding *f = &j->finding[i];
        if (f->rule != rule || strcmp(f->where, where) || (value && f->value && strcmp(f->value, value))) continue;
        f->ports += f->last != port;
        f->last = port;
        return NULL;
    }
    struct weft_sonic_finding *f = add_finding(j, rule, where, reason);
    f->ports = 1;
    f->last = port;
    f->value = value;
    return f;
}

// --- headroom, pools, thresholds ----------------------------------------------------------------------------------

static struct after *thresholds_after(struct judge *j, const struct weft_sonic_profile *profile) {
    return &j->profile[profile - j->s->profile];
}

static const struct weft_sonic_profile *group_of(const struct weft_sonic_port *port, uint32_t priority) {
    return port->pg[weft_sonic_at(port, WEFT_SONIC_PFC_TO_PG, priority)];
}

/// The bytes that a port needs above XOFF; 0: its cable or its speed is unknown.
static weft_bytes need_of(struct judge *j, const struct weft_sonic_port *port, uint32_t formula, weft_bytes ahead_mtu) {
    struct weft_plan_pfc_conf conf = *j->base;
    if (!port->rate_bps) return 0;
    conf.formula = formula;
    conf.rate_bps = port->rate_bps;
    if (port->cable_mm) conf.delay_ps = weft_sonic_delay(port->cable_mm);
    conf.port_mtu_bytes = port->mtu_bytes;
    conf.lanes = port->lanes == 8 ? 8 : 4;
    conf.ahead_mtu_bytes = ahead_mtu;
    weft_sonic_set_chip(j->s, &conf);
    return conf.delay_ps ? weft_plan_calc_pfc(&conf).headroom_bytes : 0;
}

static const char *speed_text(struct judge *j, const struct weft_sonic_port *port) {
    uint64_t mbps = port->rate_bps / 1000000;
    return mbps < 1000 ? TEXT("%" PRIu64 "M", mbps) : TEXT("%gG", (double)mbps / 1000);
}

/// A lossless profile that the file leaves to SONiC, and that SONiC does not have.
static void judge_missing(struct judge *j, const struct weft_sonic_port *port, const struct weft_sonic_profile *p,
                          uint32_t group) {
    if (p->unlisted)
        add_port(
            j, WEFT_SONIC_HEADROOM, port, TEXT("BUFFER_PG|%s|%" PRIu32, port->name, group), NULL,
            TEXT("%s: the device's profiles have none for %s with %gm of cable: SONiC sets no headroom, and packets "
                 "are lost",
                 port->name, speed_text(j, port), (double)port->cable_mm / 1000));
    else if (p->computed && !p->looked_up && !j->s->computes)
        add_port(j, WEFT_SONIC_HEADROOM, port, TEXT("BUFFER_PROFILE|%s", p->name), NULL,
                 TEXT("%s: the profile is not in the file, and assumed: SONiC looks it up in the device's "
                      "pg_profile_lookup.ini (--profiles)",
                      port->name));
}

/// Priorities with PFC whose group SONiC gives a profile by speed and cable, and the files do not say both.
static uint8_t unsaid_priorities(const struct weft_sonic_port *port) {
    uint8_t mask = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES && !(port->rate_bps && port->cable_mm); p++)
        if (port->pfc_enable >> p & 1 && !group_of(port, p)) mask |= (uint8_t)(1u << p);
    return mask;
}

static void need_headroom(struct judge *j) {
    for (uint32_t p = 0; p < j->s->ports; p++) {
        const struct weft_sonic_port *port = &j->s->port[p];
        weft_bytes need = need_of(j, port, j->base->formula, 0), cells = 0, ahead = 0;
        if (j->base->formula == WEFT_PLAN_BOUND) ahead = need_of(j, port, WEFT_PLAN_BOUND, port->mtu_bytes);
        if (j->base->formula == WEFT_PLAN_BOUND && j->s->chip) cells = need_of(j, port, WEFT_PLAN_SONIC, 0);
        if ((j->lossless[p] || unsaid_priorities(port)) && !need)
            add_port(j, WEFT_SONIC_HEADROOM, port, port->rate_bps ? "CABLE_LENGTH" : "PORT", NULL,
                     TEXT("%s has lossless groups and no %s: its headroom cannot be judged", port->name,
                          port->rate_bps ? "cable length" : "speed"));
        const struct weft_sonic_profile *missing = NULL;
        for (uint32_t k = 0; k < WEFT_PRIORITIES; k++) {
            if (!(j->lossless[p] >> k & 1)) continue;
            const struct weft_sonic_profile *profile = group_of(port, k);
            struct after *a = thresholds_after(j, profile);
            if (profile != missing) judge_missing(j, port, profile, weft_sonic_at(port, WEFT_SONIC_PFC_TO_PG, k));
            missing = profile;
            if ((need > profile->xoff_bytes || cells > profile->xoff_bytes) && a->counted != port) {
                a->counted = port;
                a->ports++;
            }
            if (need > a->need_bytes) a->need_bytes = need, a->needs = port;
            if (cells > a->cells_bytes) a->cells_bytes = cells, a->needs = port;
            if (ahead > profile->xoff_bytes && a->counted_ahead != port) {
                a->counted_ahead = port;
                a->ports_ahead++;
            }
            if (ahead > a->ahead_bytes) a->ahead_bytes = ahead;
        }
    }
}

/// Why the headroom of a profile is too small; NULL: it is not.
static const char *lack_of(struct judge *j, const struct weft_sonic_profile *p, const struct after *a) {
    const char *port =
        TEXT("%s at %s with %gm of cable", a->needs->name, speed_text(j, a->needs), (double)a->needs->cable_mm / 1000);
    const char *cells =
        a->cells_bytes > a->need_bytes
            ? TEXT("%s in cells of %" PRIu64 "B, as of %s, filled by small packets (formula sonic)",
                   BYTES(a->cells_bytes), (weft_bytes)weft_hardware_number(j->s->chip, "cell", 0), j->s->chip->name)
            : NULL;
    if (p->xoff_bytes < a->need_bytes)
        return TEXT("xoff of %s; %s needs %s (formula %s)%s%s", BYTES(p->xoff_bytes), port, BYTES(a->need_bytes),
                    weft_plan_formula_names[j->base->formula], cells ? ", and " : "", cells ? cells : "");
    if (cells && p->xoff_bytes < a->cells_bytes)
        return TEXT("xoff of %s is enough for full frames only: %s needs %s (formula bound), but %s",
                    BYTES(p->xoff_bytes), port, BYTES(a->need_bytes), cells);
    return NULL;
}

/// What the bound leaves out where a frame of another class may be longer than those of lossless ones.
static void note_ahead(struct judge *j, const struct weft_sonic_profile *p, const struct after *a) {
    if (p->unlisted || a->xoff_bytes >= a->ahead_bytes) return;
    struct weft_sonic_finding *f = add_finding(
        j, WEFT_SONIC_HEADROOM, TEXT("BUFFER_PROFILE|%s.xoff", p->name),
        TEXT("xoff of %s is enough if no class has frames of the port's MTU, %s: a pause that waits for one needs %s",
             BYTES(a->xoff_bytes), BYTES(a->needs->mtu_bytes), BYTES(a->ahead_bytes)));
    f->ports = a->ports_ahead;
    f->note = true;
}

/// NVIDIA's formula is public, so its result is the value to set. Of other chips it has only the cells right: what
/// lacks them alone gets no patch, since one by the bound would leave the finding as it is.
static void set_headroom(struct judge *j, const struct weft_sonic_profile *p, struct after *a,
                         struct weft_sonic_finding *f) {
    weft_bytes need = a->ahead_bytes > a->need_bytes ? a->ahead_bytes : a->need_bytes;
    if (j->s->nvidia && a->cells_bytes > need) need = a->cells_bytes;
    if (p->computed || need <= p->xoff_bytes || (!j->s->nvidia && p->xoff_bytes >= a->need_bytes)) return;
    a->xoff_bytes = (need + KIB - 1) / KIB * KIB;
    if (p->size_bytes >= p->xoff_bytes) a->size_bytes += a->xoff_bytes - p->xoff_bytes;
    add_change(j, f, "BUFFER_PROFILE", p->name, "xoff", true, number_text(j, a->xoff_bytes));
    if (p->size_bytes >= p->xoff_bytes)
        add_change(j, f, "BUFFER_PROFILE", p->name, "size", true, number_text(j, a->size_bytes));
}

static void judge_headroom(struct judge *j) {
    for (uint32_t i = 0; i < j->s->profiles; i++) {
        const struct weft_sonic_profile *p = &j->s->profile[i];
        struct after *a = &j->profile[i];
        if (!a->needs) continue;
        const char *lack = p->unlisted ? NULL : lack_of(j, p, a);
        if (lack) {
            struct weft_sonic_finding *f =
                add_finding(j, WEFT_SONIC_HEADROOM, TEXT("BUFFER_PROFILE|%s.xoff", p->name), lack);
            f->ports = a->ports;
            set_headroom(j, p, a, f);
        }
        note_ahead(j, p, a);
        if (p->computed || !p->pool || p->pool->xoff_bytes || a->size_bytes >= a->xoff_bytes) continue;
        weft_bytes size = p->xon_bytes + a->xoff_bytes;
        struct weft_sonic_finding *f =
            add_finding(j, WEFT_SONIC_POOL, TEXT("BUFFER_PROFILE|%s.size", p->name),
                        TEXT("size of %s is less than xoff, and %s shares no headroom (xoff): none is set aside",
                             BYTES(p->size_bytes), p->pool->name));
        add_change(j, f, "BUFFER_PROFILE", p->name, "size", p->size_bytes != 0, number_text(j, size));
        a->size_bytes = size;
    }
}

/// The bytes reserved by groups of a pool, `now` in the file or with the changes applied.
static weft_bytes reserved_bytes(struct judge *j, const struct weft_sonic_pool *pool, bool now) {
    weft_bytes sum = 0;
    for (uint32_t p = 0; p < j->s->ports; p++)
        for (uint32_t g = 0; g < WEFT_PRIORITIES; g++) {
            const struct weft_sonic_profile *profile = j->s->port[p].pg[g];
            if (profile && profile->pool == pool)
                sum += now ? profile->size_bytes : thresholds_after(j, profile)->size_bytes;
        }
    return sum;
}

/// On NVIDIA's switches, larger groups leave less of the memory to the pool.
static void shrink_pool(struct judge *j, const struct weft_sonic_pool *pool, weft_bytes *size) {
    weft_bytes before = reserved_bytes(j, pool, true), then = reserved_bytes(j, pool, false);
    if (!*size || then <= before) return;
    weft_bytes left = *size > then - before ? *size - (then - before) : 0;
    struct weft_sonic_finding *f = add_finding(
        j, WEFT_SONIC_POOL, TEXT("BUFFER_POOL|%s.size", pool->name),
        left ? TEXT("%s is what the groups leave; with the sizes above they take %s more", BYTES(*size),
                    BYTES(then - before))
             : TEXT("%s is less than the %s that the sizes above take more", BYTES(*size), BYTES(then - before)));
    if (left) add_change(j, f, "BUFFER_POOL", pool->name, "size", true, number_text(j, left));
    *size = left ? left : *size;
}

static void judge_pools(struct judge *j) {
    for (uint32_t i = 0; i < j->s->pools; i++) {
        const struct weft_sonic_pool *pool = &j->s->pool[i];
        weft_bytes sum = reserved_bytes(j, pool, false), most = 0;
        for (uint32_t k = 0; k < j->s->profiles; k++)
            if (j->s->profile[k].pool == pool && j->profile[k].needs && j->profile[k].xoff_bytes > most)
                most = j->profile[k].xoff_bytes;
        if (j->s->nvidia)
            shrink_pool(j, pool, &j->pool_bytes[i]);
        else if (pool->size_bytes && sum > pool->size_bytes)
            add_finding(
                j, WEFT_SONIC_POOL, TEXT("BUFFER_POOL|%s.size", pool->name),
                TEXT("%s, but its priority groups are to have %s of their own", BYTES(pool->size_bytes), BYTES(sum)));
        if (pool->xoff_bytes && most > pool->xoff_bytes)
            add_finding(
                j, WEFT_SONIC_POOL, TEXT("BUFFER_POOL|%s.xoff", pool->name),
                TEXT("all groups share %s of headroom, but one alone needs %s", BYTES(pool->xoff_bytes), BYTES(most)));
    }
}

static void judge_thresholds(struct judge *j) {
    for (uint32_t i = 0; i < j->s->profiles; i++) {
        const struct weft_sonic_profile *p = &j->s->profile[i];
        if (!p->pool || !p->xoff_bytes) continue; // in SONiC, a lossy profile above its pool has no limit of its own
        if (!p->has_static || !p->pool->size_bytes || p->static_bytes <= p->pool->size_bytes) continue;
        struct weft_sonic_finding *f = add_finding(
            j, WEFT_SONIC_THRESHOLD, TEXT("BUFFER_PROFILE|%s.static_th", p->name),
            TEXT("%s is above the %s of pool %s", BYTES(p->static_bytes), BYTES(p->pool->size_bytes), p->pool->name));
        j->profile[i].static_bytes = p->pool->size_bytes;
        add_change(j, f, "BUFFER_PROFILE", p->name, "static_th", true, number_text(j, p->pool->size_bytes));
    }
}

// --- ECN ----------------------------------------------------------------------------------------------------------

/// The lowest depth at which a group pauses its input; UNKNOWN: the pool has no size, or the profile no threshold.
static weft_bytes xoff_of(struct judge *j, const struct weft_sonic_profile *p) {
    if (!p->pool || !p->pool->size_bytes) return UNKNOWN;
    if (p->has_static && !p->has_dynamic) return thresholds_after(j, p)->static_bytes;
    if (!p->has_dynamic && !p->pool->dynamic) return UNKNOWN;
    struct weft_sonic_pool pool = *p->pool;
    pool.size_bytes = j->pool_bytes[p->pool - j->s->pool];
    double shared = (double)weft_sonic_calc_shared(j->s, &pool, reserved_bytes(j, p->pool, false)), alpha = 1;
    for (int64_t k = p->dynamic_th; k && k > -64 && k<64; k += k> 0 ? -1 : 1)
        alpha = p->dynamic_th > 0 ? alpha * 2 : alpha / 2;
    return (weft_bytes)(alpha / (1 + alpha) * shared);
}

static void judge_wred(struct judge *j, const struct weft_sonic_wred *w, weft_bytes xoff, const char *who) {
    if (!w->marks && w->drops) {
        struct weft_sonic_finding *f =
            add_finding(j, WEFT_SONIC_ECN, TEXT("WRED_PROFILE|%s.ecn", w->name),
                        TEXT("%s is lossless, but WRED drops its packets rather than mark them", who));
        add_change(j, f, "WRED_PROFILE", w->name, "ecn", w->ecn_said, "ecn_all");
    }
    if (xoff == UNKNOWN || w->max_bytes <= xoff) return;
    const char *least = w->own ? "ecn_green_min_threshold" : "green_min_threshold";
    const char *most = w->own ? "ecn_green_max_threshold" : "green_max_threshold";
    weft_bytes min = (weft_bytes)((unsigned __int128)w->min_bytes * xoff / w->max_bytes);
    struct weft_sonic_finding *f = add_finding(
        j, WEFT_SONIC_ECN, TEXT("WRED_PROFILE|%s.%s", w->name, most),
        TEXT("%s pauses an input at %s, before the %s at which it marks all", who, BYTES(xoff), BYTES(w->max_bytes)));
    if (!xoff) return; // no threshold is below that
    add_change(j, f, "WRED_PROFILE", w->name, most, true, number_text(j, xoff));
    if (min != w->min_bytes) add_change(j, f, "WRED_PROFILE", w->name, least, true, number_text(j, min));
}

/// Compares each WRED profile with the lossless queue that pauses lowest.
static void judge_ecn(struct judge *j) {
    weft_bytes *xoff = weft_arena_alloc(j->arena, j->s->profiles + 1, sizeof *xoff);
    for (uint32_t i = 0; i < j->s->profiles; i++)
        xoff[i] = xoff_of(j, &j->s->profile[i]);
    for (uint32_t i = 0; i < j->s->wreds; i++) {
        weft_bytes lowest = UNKNOWN;
        const char *who = NULL;
        for (uint32_t p = 0; p < j->s->ports; p++) {
            const struct weft_sonic_port *port = &j->s->port[p];
            for (uint32_t k = 0; k < WEFT_PRIORITIES; k++) {
                uint32_t queue = weft_sonic_at(port, WEFT_SONIC_PFC_TO_QUEUE, k);
                if (!(j->lossless[p] >> k & 1) || port->wred[queue] != &j->s->wred[i]) continue;
                weft_bytes at = xoff[group_of(port, k) - j->s->profile];
                if (who && at >= lowest) continue;
                lowest = at;
                who = TEXT("%s|%" PRIu32, port->name, queue);
            }
        }
        if (who) judge_wred(j, &j->s->wred[i], lowest, who);
    }
}

// --- PFC, maps ----------------------------------------------------------------------------------------------------

static const char *mask_text(struct judge *j, uint8_t mask) {
    const char *text = "";
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (mask >> p & 1) text = TEXT("%s%s%" PRIu32, text, *text ? "," : "", p);
    return text;
}

/// The priorities for which the port should have PFC: those whose group has headroom. If several use the same group,
/// those that have PFC now, or the lowest.
static uint8_t lossless_priorities(const struct weft_sonic_port *port) {
    uint8_t has = weft_sonic_lossless(port), want = has & port->pfc_enable, groups = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (want >> p & 1) groups |= (uint8_t)(1u << weft_sonic_at(port, WEFT_SONIC_PFC_TO_PG, p));
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        uint8_t group = (uint8_t)(1u << weft_sonic_at(port, WEFT_SONIC_PFC_TO_PG, p));
        if (!(has >> p & 1) || groups & group) continue;
        want |= (uint8_t)(1u << p);
        groups |= group;
    }
    return want;
}

static void judge_pfc(struct judge *j) {
    for (uint32_t p = 0; p < j->s->ports; p++) {
        const struct weft_sonic_port *port = &j->s->port[p];
        uint8_t want = j->lossless[p] | unsaid_priorities(port), less = port->pfc_enable & (uint8_t)~want,
                more = want & (uint8_t)~port->pfc_enable;
        if (!less && !more) continue;
        const char *key = port->qos_key ? port->qos_key : port->name, *value = mask_text(j, want);
        struct weft_sonic_finding *f = add_port(
            j, WEFT_SONIC_PFC, port, port->qos_key ? TEXT("PORT_QOS_MAP|%s.pfc_enable", key) : "PORT_QOS_MAP", value,
            TEXT("%s%s: %s%s%s%s%s", port->name, port->qos_key ? "" : " has no row here (is it in another file?)",
                 less ? "PFC without headroom in a priority group: " : "", mask_text(j, less), less && more ? "; " : "",
                 more ? "priority group with headroom without PFC: " : "", mask_text(j, more)));
        if (f && port->qos_key) add_change(j, f, "PORT_QOS_MAP", key, "pfc_enable", port->pfc_said, value);
    }
}

/// The lossless priorities of a class's group and of its queue, WEFT_PRIORITIES: none. False: both have the same, or
/// neither has any.
static bool is_torn(const struct weft_sonic_port *port, uint8_t lossless, uint32_t group, uint32_t queue,
                    uint32_t *ret_by_group, uint32_t *ret_by_queue) {
    *ret_by_group = *ret_by_queue = WEFT_PRIORITIES;
    for (uint32_t p = WEFT_PRIORITIES; p-- > 0;) {
        if (!(lossless >> p & 1)) continue;
        bool is_group = weft_sonic_at(port, WEFT_SONIC_PFC_TO_PG, p) == group;
        bool is_queue = weft_sonic_at(port, WEFT_SONIC_PFC_TO_QUEUE, p) == queue;
        if (is_group && is_queue) return false;
        if (is_group) *ret_by_group = p;
        if (is_queue) *ret_by_queue = p;
    }
    return *ret_by_group < WEFT_PRIORITIES || *ret_by_queue < WEFT_PRIORITIES;
}

/// Assigns a class to the lossless priority of its queue or, failing that, of its group: a class keeps its queue, and
/// with it its share of the link, if some group pauses that.
static void judge_class(struct judge *j, const struct weft_sonic_port *port, uint8_t lossless, uint32_t class) {
    uint32_t group = weft_sonic_at(port, WEFT_SONIC_TC_TO_PG, class);
    uint32_t queue = weft_sonic_at(port, WEFT_SONIC_TC_TO_QUEUE, class);
    uint32_t by_group, by_queue;
    if (!is_torn(port, lossless, group, queue, &by_group, &by_queue)) return;
    bool queue_wrong = by_queue == WEFT_PRIORITIES;
    enum weft_sonic_map_kind kind = queue_wrong ? WEFT_SONIC_TC_TO_QUEUE : WEFT_SONIC_TC_TO_PG;
    const struct weft_sonic_map *map = port->map[kind];
    const char *name = map ? map->name : "(none)", *field = number_text(j, class);
    uint32_t to = queue_wrong ? weft_sonic_at(port, WEFT_SONIC_PFC_TO_QUEUE, by_group)
                              : weft_sonic_at(port, WEFT_SONIC_PFC_TO_PG, by_queue);
    const char *value = number_text(j, to);
    const char *reason = queue_wrong ? TEXT("%s: class %s has lossless group %" PRIu32 " and queue %" PRIu32
                                            ", but a pause of priority %" PRIu32 " stops queue %s",
                                            port->name, field, group, queue, by_group, value)
                                     : TEXT("%s: class %s has queue %" PRIu32 " of lossless priority %" PRIu32
                                            ", but group %" PRIu32 ", which %s",
                                            port->name, field, queue, by_queue, group,
                                            by_group == WEFT_PRIORITIES ? "never pauses" : "pauses another one");
    struct weft_sonic_finding *f =
        add_port(j, WEFT_SONIC_MAP, port, TEXT("%s|%s.%s", weft_sonic_map_tables[kind], name, field), value, reason);
    if (!f || !map) return;
    add_change(j, f, weft_sonic_map_tables[kind], name, field, map->has >> class & 1, value);
    if (!(j->map_changes & (j->map_changes - 1))) { // the room is a power of two
        struct map_change *more = weft_arena_alloc(j->arena, 2 * (size_t)j->map_changes + 1, sizeof *more);
        if (j->map_changes) memcpy(more, j->map_change, j->map_changes * sizeof *more);
        j->map_change = more;
    }
    j->map_change[j->map_changes++] = (struct map_change){map, class, to, j->n - 1};
}

/// Whether some code point leads to the queue of the priority.
static bool is_reached(const struct weft_sonic_port *port, uint32_t priority) {
    const struct weft_sonic_map *map = port->map[WEFT_SONIC_DSCP_TO_TC];
    for (uint32_t d = 0; map && d < 64; d++) {
        uint32_t class = weft_sonic_map_at(map, d, 0);
        if (weft_sonic_at(port, WEFT_SONIC_TC_TO_QUEUE, class) ==
                weft_sonic_at(port, WEFT_SONIC_PFC_TO_QUEUE, priority) ||
            weft_sonic_at(port, WEFT_SONIC_TC_TO_PG, class) == weft_sonic_at(port, WEFT_SONIC_PFC_TO_PG, priority))
            return true;
    }
    return !map;
}

static void judge_maps(struct judge *j) {
    for (uint32_t p = 0; p < j->s->ports; p++) {
        const struct weft_sonic_port *port = &j->s->port[p];
        for (uint32_t class = 0; class < WEFT_SONIC_CLASSES; class ++)
            judge_class(j, port, j->lossless[p], class);
        uint8_t lost = 0;
        for (uint32_t k = 0; k < WEFT_PRIORITIES; k++)
            if (j->lossless[p] >> k & 1 && !is_reached(port, k)) lost |= (uint8_t)(1u << k);
        const char *which = mask_text(j, lost);
        if (lost)
            add_port(j, WEFT_SONIC_MAP, port, TEXT("DSCP_TO_TC_MAP|%s", port->map[WEFT_SONIC_DSCP_TO_TC]->name), which,
                     TEXT("%s: no code point leads to lossless priorit%s %s", port->name,
                          lost & (lost - 1) ? "ies" : "y", which));
    }
}

// --- watchdog -----------------------------------------------------------------------------------------------------

static uint64_t judge_time(struct judge *j, const char *key, const char *field, uint64_t ms, uint64_t least,
                           uint64_t most) {
    uint64_t value = ms < least ? least : ms > most ? most : ms;
    if (ms == WEFT_SONIC_UNSAID || value == ms) return ms;
    struct weft_sonic_finding *f = add_finding(j, WEFT_SONIC_WATCHDOG, TEXT("PFC_WD|%s.%s", key, field),
                                               TEXT("%" PRIu64 "ms; SONiC takes %" PRIu64 "ms to %" PRIu64 "ms%s", ms,
                                                    least, most, least > TIME_MIN ? ", POLL_INTERVAL at least" : ""));
    add_change(j, f, "PFC_WD", key, field, true, number_text(j, value));
    return value;
}

static void judge_watchdog(struct judge *j) {
    uint64_t least = judge_time(j, "GLOBAL", "POLL_INTERVAL", j->s->poll_ms, TIME_MIN, POLL_MAX);
    const struct weft_sonic_watchdog *last = NULL;
    if (least == WEFT_SONIC_UNSAID) least = TIME_MIN;
    for (uint32_t p = 0; p < j->s->ports; p++) {
        const struct weft_sonic_watchdog *w = j->s->port[p].watchdog;
        if (!w || w == last) continue;
        last = w;
        judge_time(j, w->key, "detection_time", w->detection_ms, least, DETECTION_MAX);
        judge_time(j, w->key, "restoration_time", w->restoration_ms, least, RESTORATION_MAX);
    }
}

static void give_up(struct judge *j, struct weft_sonic_finding *f) {
    f->reason = TEXT("%s; ports want different values here", f->reason);
    f->changes = 0;
}

/// Where a class of a port goes with the changes applied.
static uint32_t class_after(const struct judge *j, const struct weft_sonic_port *port, enum weft_sonic_map_kind kind,
                            uint32_t class) {
    for (uint32_t i = 0; i < j->map_changes; i++) {
        const struct map_change *c = &j->map_change[i];
        if (c->map == port->map[kind] && c->class == class && j->finding[c->finding].changes) return c->value;
    }
    return weft_sonic_at(port, kind, class);
}

/// Ports share maps: changes to a class that leave it inconsistent at some port are dropped, which may make it
/// inconsistent at others.
static void settle_maps(struct judge *j) {
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t p = 0; p < j->s->ports; p++)
            for (uint32_t class = 0; class < WEFT_SONIC_CLASSES; class ++) {
                const struct weft_sonic_port *port = &j->s->port[p];
                uint32_t by_group, by_queue, group = class_after(j, port, WEFT_SONIC_TC_TO_PG, class);
                uint32_t queue = class_after(j, port, WEFT_SONIC_TC_TO_QUEUE, class);
                if (!is_torn(port, j->lossless[p], group, queue, &by_group, &by_queue)) continue;
                for (uint32_t i = 0; i < j->map_changes; i++) {
                    const struct map_change *c = &j->map_change[i];
                    bool own = c->map == port->map[WEFT_SONIC_TC_TO_PG] || c->map == port->map[WEFT_SONIC_TC_TO_QUEUE];
                    if (!own || c->class != class || !j->finding[c->finding].changes) continue;
                    give_up(j, &j->finding[c->finding]);
                    again = true;
                }
            }
    }
}

/// Findings that set a field to different values: none of them can be applied.
static void drop_conflicts(struct judge *j) {
    bool *wrong = weft_arena_alloc(j->arena, j->n + 1, sizeof *wrong);
    for (uint32_t a = 0; a < j->n; a++)
        for (uint32_t b = 0; b < a; b++)
            for (uint32_t k = 0; k < j->finding[a].changes * j->finding[b].changes; k++) {
                const struct weft_sonic_change *x = &j->finding[a].change[k % j->finding[a].changes];
                const struct weft_sonic_change *y = &j->finding[b].change[k / j->finding[a].changes];
                bool differ = !strcmp(x->pointer, y->pointer) && strcmp(x->value, y->value);
                if (differ && j->finding[a].rule == j->finding[b].rule) wrong[a] = wrong[b] = true;
            }
    for (uint32_t a = 0; a < j->n; a++)
        if (wrong[a]) give_up(j, &j->finding[a]);
}

struct weft_sonic_finding *weft_plan_sonic(const struct weft_sonic *s, const struct weft_plan_pfc_conf *base,
                                           struct weft_arena *arena, uint32_t *ret_findings) {
    struct judge judge = {.s = s, .base = base, .arena = arena}, *j = &judge;
    j->profile = weft_arena_alloc(arena, s->profiles + 1, sizeof *j->profile);
    j->pool_bytes = weft_arena_alloc(arena, s->pools + 1, sizeof *j->pool_bytes);
    for (uint32_t i = 0; i < s->pools; i++)
        j->pool_bytes[i] = s->pool[i].size_bytes;
    j->lossless = weft_arena_alloc(arena, s->ports, sizeof *j->lossless);
    for (uint32_t i = 0; i < s->profiles; i++) {
        const struct weft_sonic_profile *p = &s->profile[i];
        j->profile[i] =
            (struct after){.xoff_bytes = p->xoff_bytes, .size_bytes = p->size_bytes, .static_bytes = p->static_bytes};
    }
    for (uint32_t p = 0; p < s->ports; p++)
        j->lossless[p] = lossless_priorities(&s->port[p]);
    need_headroom(j);
    judge_headroom(j);
    judge_pools(j);
    judge_thresholds(j);
    judge_ecn(j);
    judge_pfc(j);
    judge_maps(j);
    judge_watchdog(j);
    drop_conflicts(j);
    settle_maps(j);
    for (uint32_t i = 0; i < j->n; i++) {
        struct weft_sonic_finding *f = &j->finding[i];
        f->name = weft_sonic_rule_names[f->rule];
        f->source = weft_sonic_rule_sources[f->rule];
        f->patched = f->changes != 0;
    }
    *ret_findings = j->n;
    return j->finding;
}
