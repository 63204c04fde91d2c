// SPDX-License-Identifier: Apache-2.0
// A shared pool with dynamic thresholds: A. Choudhury and E. Hahne, "Dynamic queue length thresholds for shared-memory
// packet switches", IEEE/ACM ToN 6(2), 1998: a group may hold alpha times the free part of the pool, beyond its
// reserve. PFC works as in shared-memory switches (SONiC buffer profiles; the switch model of the HPCC simulator, from
// which the default sizes come): a packet of a lossless group that is above its threshold goes to the headroom of the
// group and the sender is paused; it is dropped only when the headroom is exhausted. A lossy group drops above its
// threshold.
//
// Provisioning: reserve for every port and priority, and headroom for every port and lossless priority, are dedicated
// and taken out of the total at the start; the rest is the shared pool. (Vendors also share headroom; here it is not
// shared.) A packet goes completely either to the pool or to headroom. Departing packets are taken from headroom first,
// then shared, then reserve.
//
// Classes of service may have different shares: a priority's alpha is multiplied by its weight (as switches have an
// alpha for each buffer profile).
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/units.h"
#include "buffer/cells.h"
#include "buffer/lossless.h"
#include "weft/buffer.h"
#include "weft/param.h"

struct dynamic_conf {
    weft_bytes total_bytes, reserve_bytes, headroom_bytes, xon_offset_bytes;
    weft_bytes threshold_bytes_min, threshold_bytes_max, cell_bytes;
    double alpha;
    uint64_t weight[WEFT_PRIORITIES];
    double link_headroom;
    bool alpha_by_rate;
    uint32_t dedicated, xoff_at;
};
enum { DEDICATED_GROUP, DEDICATED_PORT };
enum { XOFF_ABOVE, XOFF_REACHED };
static const char *const dedicated_names[] = {"group", "port", NULL};
static const char *const xoff_at_names[] = {"above", "reached", NULL};

static const char *dynamic_conf_check(const void *conf, char *text, size_t size) {
    const struct dynamic_conf *c = conf;
    return weft__bytes_above("threshold_min", c->threshold_bytes_min, "threshold_max", c->threshold_bytes_max, text,
                             size);
}
static const struct weft_param_table dynamic_params = WEFT_PARAM_TABLE_OF(
    "dynamic", struct dynamic_conf, .check = dynamic_conf_check,
    WEFT_BYTES(struct dynamic_conf, total_bytes, "total", "32MB", "1KB", "1TB", "packet memory of the switch"),
    WEFT_BYTES(struct dynamic_conf, reserve_bytes, "reserve", "4KB", "0B", "1GB",
               "reserved for each port and priority"),
    WEFT_REAL(struct dynamic_conf, alpha, "alpha", "1/8", "0", "128",
              "a group may hold alpha x the free part of the shared pool, beyond its reserve"),
    WEFT_WEIGHTS(struct dynamic_conf, weight, "weights", "1", "1", "1000", "factors on alpha by priority, 0 to 7"),
    WEFT_BYTES(struct dynamic_conf, headroom_bytes, "headroom", "140KB", "0B", "1GB",
               "reserved for each port and lossless priority, for data that arrives after XOFF (enough for 800G and "
               "30m; weft plan pfc)"),
    WEFT_REAL(
        struct dynamic_conf, link_headroom, "link_headroom", "0", "0", "100",
        "additional headroom, as a multiple of rate x delay of the port's link (the HPCC simulator, third.cc: 3)"),
    WEFT_BOOL(struct dynamic_conf, alpha_by_rate, "alpha_by_rate", "false",
              "a port's alpha doubles each time its rate doubles over that of the slowest host, up to 1 (the HPCC "
              "simulator, third.cc)"),
    WEFT_CHOICE(struct dynamic_conf, dedicated, "dedicated", "group", dedicated_names,
                "reserve and headroom are subtracted from the total per group, or once per port, however many "
                "priorities use them (the HPCC simulator, switch-mmu.cc)"),
    WEFT_CHOICE(struct dynamic_conf, xoff_at, "xoff_at", "above", xoff_at_names,
                "XOFF when a group is above its threshold, or when it reaches it (the HPCC simulator, switch-mmu.cc)"),
    WEFT_BYTES(struct dynamic_conf, xon_offset_bytes, "xon_offset", "3KB", "0B", "1GB",
               "XON when a group is this far below its threshold, or holds nothing in the shared pool"),
    WEFT_BYTES(struct dynamic_conf, threshold_bytes_min, "threshold_min", "0B", "0B", "1TB",
               "the threshold is never below this"),
    WEFT_BYTES(struct dynamic_conf, threshold_bytes_max, "threshold_max", "1TB", "0B", "1TB",
               "the threshold is never above this"),
    WEFT__BUFFER_CELL(struct dynamic_conf));

struct dynamic_state {
    weft_bytes shared_size, shared_used;
    uint32_t groups;
    struct weft__lossless lossless;
    bool changed; ///< by set_lossless: a group that is lossy now may still use headroom
    struct dynamic_group {
        weft_bytes pool; ///< reserve and shared
        weft_bytes headroom, level_max;
        uint32_t headroom_max;
        uint32_t doublings; ///< of alpha, by the port's rate
    } group[];
};

static weft_bytes calc_dedicated(const struct dynamic_conf *c, uint32_t ports, uint8_t lossless_mask) {
    uint32_t lossless = (uint32_t)__builtin_popcount(lossless_mask);
    if (c->dedicated == DEDICATED_PORT) return ports * (c->reserve_bytes + (lossless ? c->headroom_bytes : 0));
    return ports * (WEFT_PRIORITIES * c->reserve_bytes + lossless * c->headroom_bytes);
}

static size_t dynamic_state_size(const void *conf, uint32_t ports) {
    return sizeof(struct dynamic_state) + ports * (WEFT_PRIORITIES * sizeof(struct dynamic_group) + 1);
}

static void dynamic_init(void *state, const void *conf, uint32_t ports, uint8_t lossless_mask) {
    const struct dynamic_conf *c = conf;
    struct dynamic_state *s = state;
    weft_bytes dedicated = calc_dedicated(c, ports, lossless_mask);
    memset(s, 0, dynamic_state_size(conf, ports));
    s->shared_size = dedicated < c->total_bytes ? c->total_bytes - dedicated : 0;
    s->groups = ports * WEFT_PRIORITIES;
    s->lossless =
        (struct weft__lossless){.same = lossless_mask, .room = (uint8_t *)&s->group[s->groups], .ports = ports};
    for (uint32_t i = 0; i < s->groups; i++)
        s->group[i].headroom_max = (uint32_t)c->headroom_bytes;
}

/// With the present settings of the ports.
static weft_bytes sum_dedicated(const struct dynamic_conf *c, const struct dynamic_state *s) {
    weft_bytes sum = 0;
    for (uint32_t port = 0; port < s->groups / WEFT_PRIORITIES; port++) {
        uint32_t lossless = 0;
        for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++)
            lossless += weft__is_lossless(&s->lossless, port, priority);
        uint32_t reserves = c->dedicated == DEDICATED_PORT ? 1 : WEFT_PRIORITIES;
        uint32_t headrooms = c->dedicated == DEDICATED_PORT ? lossless > 0 : lossless;
        sum += reserves * c->reserve_bytes + (weft_bytes)headrooms * s->group[port * WEFT_PRIORITIES].headroom_max;
    }
    return sum;
}

static bool dynamic_by_port(const void *conf) {
    const struct dynamic_conf *c = conf;
    return c->link_headroom > 0 || c->alpha_by_rate;
}

static weft_bytes calc_headroom(const struct dynamic_conf *c, const struct weft_buffer_port *link) {
    double bytes = (double)link->rate_bps / 8 * (double)link->delay_ps / (double)WEFT_PS_PER_S;
    return c->headroom_bytes + (weft_bytes)(c->link_headroom * (double)(weft_bytes)bytes);
}

static const char *dynamic_fit_ports(const void *conf, const struct weft_buffer_port *port, uint32_t ports,
                                     uint8_t lossless_mask, char *text, size_t size) {
    const struct dynamic_conf *c = conf;
    weft_bytes headroom = 0, reserve = c->reserve_bytes * (c->dedicated == DEDICATED_PORT ? 1 : WEFT_PRIORITIES);
    uint32_t groups = (uint32_t)__builtin_popcount(lossless_mask);
    if (c->dedicated == DEDICATED_PORT && groups) groups = 1;
    for (uint32_t k = 0; k < ports; k++) {
        weft_bytes own = calc_headroom(c, &port[k]);
        if (own > UINT32_MAX)
            return WEFT_SAY(text, size, "link_headroom %g gives port %u a headroom of %llu B; expected below 4 GiB",
                            c->link_headroom, k, (unsigned long long)own);
        headroom += groups * own;
    }
    if (ports * reserve + headroom <= c->total_bytes) return NULL;
    return WEFT_SAY(
        text, size,
        "total is %llu B, but %u ports need %llu B of reserve and, with link_headroom %g, %llu B of headroom",
        (unsigned long long)c->total_bytes, ports, (unsigned long long)(ports * reserve), c->link_headroom,
        (unsigned long long)headroom);
}

static uint32_t calc_doublings(const struct dynamic_conf *c, const struct weft_buffer_port *link) {
    uint32_t doublings = 0;
    for (weft_rate_bps rate = link->rate_bps; c->alpha_by_rate && rate > link->host_rate_bps; rate /= 2)
        doublings += c->alpha * (double)(UINT64_C(1) << doublings) < 1;
    return doublings;
}

static void dynamic_set_port(void *state, const void *conf, uint32_t port, const struct weft_buffer_port *link) {
    const struct dynamic_conf *c = conf;
    struct dynamic_state *s = state;
    uint32_t doublings = calc_doublings(c, link);
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++) {
        s->group[port * WEFT_PRIORITIES + priority].headroom_max = (uint32_t)calc_headroom(c, link);
        s->group[port * WEFT_PRIORITIES + priority].doublings = doublings;
    }
    weft_bytes dedicated = sum_dedicated(c, s);
    s->shared_size = dedicated < c->total_bytes ? c->total_bytes - dedicated : 0;
}

static struct dynamic_group *group_at(void *state, uint32_t port, uint32_t priority) {
    return &((struct dynamic_state *)state)->group[port * WEFT_PRIORITIES + priority];
}

static const struct dynamic_group *group_of(const void *state, uint32_t port, uint32_t priority) {
    return &((const struct dynamic_state *)state)->group[port * WEFT_PRIORITIES + priority];
}

/// How much of the shared pool a group with `pool` bytes uses.
static weft_bytes calc_shared(const struct dynamic_conf *c, weft_bytes pool) {
    return pool > c->reserve_bytes ? pool - c->reserve_bytes : 0;
}

static weft_bytes calc_threshold(const struct dynamic_conf *c, const struct dynamic_state *s, uint32_t doublings,
                                 uint32_t priority) {
    weft_bytes free_bytes = (s->shared_size - s->shared_used) << doublings;
    weft_bytes threshold = (weft_bytes)(c->alpha * (double)c->weight[priority] * (double)free_bytes);
    if (threshold < c->threshold_bytes_min) threshold = c->threshold_bytes_min;
    return threshold < c->threshold_bytes_max ? threshold : c->threshold_bytes_max;
}

/// Whether an empty switch accepts the frame at some priority.
static bool takes_frame(const struct dynamic_conf *c, weft_bytes shared_size, uint8_t lossless_mask,
                        uint32_t frame_bytes) {
    const struct dynamic_state empty = {.shared_size = shared_size};
    weft_bytes bytes = weft_buffer_occupied(c->cell_bytes, frame_bytes), shared = calc_shared(c, bytes);
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++)
        if (!shared || (shared <= calc_threshold(c, &empty, 0, priority) && shared <= shared_size)) return true;
    return lossless_mask && bytes <= c->headroom_bytes;
}

static const char *dynamic_fit(const void *conf, uint32_t ports, uint8_t lossless_mask, uint32_t frame_bytes,
                               char *text, size_t size) {
    const struct dynamic_conf *c = conf;
    weft_bytes dedicated = calc_dedicated(c, ports, lossless_mask);
    if (dedicated > c->total_bytes)
        snprintf(text, size,
                 "total is %llu B, but %u ports need %llu B of their own: %u x reserve %llu B and %d lossless "
                 "x headroom %llu B each",
                 (unsigned long long)c->total_bytes, ports, (unsigned long long)dedicated,
                 c->dedicated == DEDICATED_PORT ? 1 : WEFT_PRIORITIES, (unsigned long long)c->reserve_bytes,
                 c->dedicated == DEDICATED_PORT ? lossless_mask != 0 : __builtin_popcount(lossless_mask),
                 (unsigned long long)c->headroom_bytes);
    else if (!takes_frame(c, c->total_bytes - dedicated, lossless_mask, frame_bytes))
        snprintf(text, size,
                 "not even an empty switch would take one full frame (%u B, by host.mtu): reserve is %llu B, and alpha "
                 "%g of a shared pool of %llu B leaves too little",
                 frame_bytes, (unsigned long long)c->reserve_bytes, c->alpha,
                 (unsigned long long)(c->total_bytes - dedicated));
    else
        return NULL;
    return text;
}

/// The smallest weight of a lossless priority or, if there is none, of any priority.
static uint64_t least_weight(const struct dynamic_conf *c, uint8_t lossless_mask) {
    uint64_t least = UINT64_MAX;
    for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++)
        if ((!lossless_mask || lossless_mask >> priority & 1) && c->weight[priority] < least)
            least = c->weight[priority];
    return least;
}

/// A single congested group holds T = alpha x (shared - T), plus its reserve.
static weft_bytes calc_alone(const struct dynamic_conf *c, uint32_t ports, uint8_t lossless_mask, double alpha) {
    weft_bytes dedicated = calc_dedicated(c, ports, lossless_mask);
    weft_bytes shared = dedicated < c->total_bytes ? c->total_bytes - dedicated : 0;
    weft_bytes threshold = (weft_bytes)((double)shared * alpha / (1 + alpha));
    if (threshold < c->threshold_bytes_min) threshold = c->threshold_bytes_min;
    if (threshold > c->threshold_bytes_max) threshold = c->threshold_bytes_max;
    return c->reserve_bytes + (threshold < shared ? threshold : shared);
}

static weft_bytes dynamic_lossy_most(const void *conf, const struct weft_buffer_port *port, uint32_t ports,
                                     uint8_t lossless_mask, uint32_t priority) {
    const struct dynamic_conf *c = conf;
    uint64_t times = c->weight[priority] << calc_doublings(c, port);
    return calc_alone(c, ports, lossless_mask, c->alpha * (double)times);
}

static weft_bytes dynamic_headroom_at(const void *conf, const struct weft_buffer_port *port) {
    return calc_headroom(conf, port);
}

static void dynamic_plan(const void *conf, uint32_t ports, uint8_t lossless_mask, struct weft_buffer_plan *ret_plan) {
    const struct dynamic_conf *c = conf;
    double alpha = c->alpha * (double)least_weight(c, lossless_mask);
    *ret_plan = (struct weft_buffer_plan){.xoff_bytes = calc_alone(c, ports, lossless_mask, alpha),
                                          .headroom_bytes = lossless_mask ? c->headroom_bytes : 0,
                                          .cell_bytes = (uint32_t)c->cell_bytes};
    snprintf(ret_plan->text, sizeof ret_plan->text, "dynamic threshold of one congested group, %s, and headroom %s",
             weft__bytes_text(ret_plan->xoff_bytes).text, weft__bytes_text(ret_plan->headroom_bytes).text);
    snprintf(ret_plan->headroom_text, sizeof ret_plan->headroom_text, "headroom %s",
             weft__bytes_text(ret_plan->headroom_bytes).text);
}

static enum weft_buffer_answer review_group(const struct dynamic_conf *c, const struct dynamic_state *s,
                                            const struct dynamic_group *g, uint32_t priority) {
    weft_bytes shared = calc_shared(c, g->pool);
    if (!shared && !g->headroom && c->xoff_at == XOFF_ABOVE) return WEFT_BUFFER_XON; // whatever the threshold
    weft_bytes threshold = calc_threshold(c, s, g->doublings, priority);
    if (g->headroom || shared > threshold) return WEFT_BUFFER_XOFF;
    if (c->xoff_at == XOFF_REACHED && shared == threshold) return WEFT_BUFFER_XOFF;
    return !shared || shared + c->xon_offset_bytes <= threshold ? WEFT_BUFFER_XON : WEFT_BUFFER_OK;
}

static enum weft_buffer_answer dynamic_review(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    const struct dynamic_state *s = state;
    if (!weft__is_lossless(&s->lossless, port, priority)) return WEFT_BUFFER_OK;
    return review_group(conf, s, group_of(s, port, priority), priority);
}

/// Admits the usual packet: the group is not in headroom, and not even with the packet above its threshold.
static inline bool admit_below(const struct dynamic_conf *c, struct dynamic_state *s, struct dynamic_group *g,
                               uint32_t priority, weft_bytes bytes) {
    weft_bytes shared = calc_shared(c, g->pool + bytes), more = shared - calc_shared(c, g->pool);
    if (g->headroom || more > s->shared_size - s->shared_used) return false;
    const struct dynamic_state after = {.shared_size = s->shared_size, .shared_used = s->shared_used + more};
    if (shared + (c->xoff_at == XOFF_REACHED) > calc_threshold(c, &after, g->doublings, priority)) return false;
    g->pool += bytes;
    s->shared_used += more;
    if (g->pool > g->level_max) g->level_max = g->pool;
    return true;
}

static enum weft_buffer_answer dynamic_admit(void *state, const void *conf, uint32_t port, uint32_t out,
                                             uint32_t priority, uint32_t frame_bytes) {
    const struct dynamic_conf *c = conf;
    struct dynamic_state *s = state;
    struct dynamic_group *g = group_at(s, port, priority);
    weft_bytes bytes = weft__buffer_frame(c->cell_bytes, frame_bytes);
    if (__builtin_expect(admit_below(c, s, g, priority, bytes), 1)) return WEFT_BUFFER_OK;
    bool lossless = weft__is_lossless(&s->lossless, port, priority);
    weft_bytes shared = calc_shared(c, g->pool + bytes), more = shared - calc_shared(c, g->pool);
    if (!more || (shared <= calc_threshold(c, s, g->doublings, priority) && more <= s->shared_size - s->shared_used)) {
        g->pool += bytes;
        s->shared_used += more;
    } else if (lossless && g->headroom + bytes <= g->headroom_max) {
        g->headroom += bytes;
    } else {
        return WEFT_BUFFER_DROP;
    }
    if (g->pool + g->headroom > g->level_max) g->level_max = g->pool + g->headroom;
    return lossless && review_group(c, s, g, priority) == WEFT_BUFFER_XOFF ? WEFT_BUFFER_XOFF : WEFT_BUFFER_OK;
}

static enum weft_buffer_answer dynamic_release(void *state, const void *conf, uint32_t port, uint32_t out,
                                               uint32_t priority, uint32_t frame_bytes) {
    const struct dynamic_conf *c = conf;
    struct dynamic_state *s = state;
    struct dynamic_group *g = group_at(s, port, priority);
    weft_bytes bytes = weft__buffer_frame(c->cell_bytes, frame_bytes);
    weft_bytes from_headroom = bytes < g->headroom ? bytes : g->headroom;
    weft_bytes shared = calc_shared(c, g->pool);
    g->headroom -= from_headroom;
    g->pool -= bytes - from_headroom;
    s->shared_used -= shared - calc_shared(c, g->pool);
    bool lossless = weft__is_lossless(&s->lossless, port, priority);
    return lossless && review_group(c, s, g, priority) == WEFT_BUFFER_XON ? WEFT_BUFFER_XON : WEFT_BUFFER_OK;
}

/// The headroom of all lossless groups is taken out of the total, as at the start; bytes in the shared pool stay there.
static void dynamic_set_lossless(void *state, const void *conf, uint32_t port, uint8_t lossless_mask) {
    const struct dynamic_conf *c = conf;
    struct dynamic_state *s = state;
    weft__lossless_set(&s->lossless, port, lossless_mask);
    s->changed = true;
    weft_bytes dedicated = sum_dedicated(c, s);
    weft_bytes shared = dedicated < c->total_bytes ? c->total_bytes - dedicated : 0;
    s->shared_size = shared > s->shared_used ? shared : s->shared_used;
}

static weft_bytes dynamic_level(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    const struct dynamic_group *g = group_of(state, port, priority);
    return g->pool + g->headroom;
}

/// Whether a packet of this size would be admitted without XOFF.
static bool takes_packet(const struct dynamic_conf *c, const struct dynamic_state *s, const struct dynamic_group *g,
                         uint32_t priority, weft_bytes packet_bytes, bool lossless) {
    weft_bytes bytes = weft_buffer_occupied(c->cell_bytes, packet_bytes);
    weft_bytes shared = calc_shared(c, g->pool + bytes), more = shared - calc_shared(c, g->pool);
    if (more && (shared > calc_threshold(c, s, g->doublings, priority) || more > s->shared_size - s->shared_used))
        return false;
    const struct dynamic_state after = {.shared_size = s->shared_size, .shared_used = s->shared_used + more};
    const struct dynamic_group group = {.pool = g->pool + bytes, .headroom = g->headroom, .doublings = g->doublings};
    return !lossless || review_group(c, &after, &group, priority) != WEFT_BUFFER_XOFF;
}

/// By bisection: the larger the packet, the more the group has and the lower the threshold.
static weft_bytes dynamic_room(const void *state, const void *conf, uint32_t port, uint32_t out, uint32_t priority) {
    const struct dynamic_conf *c = conf;
    const struct dynamic_state *s = state;
    const struct dynamic_group *g = group_of(s, port, priority);
    weft_bytes low = 0, high = c->reserve_bytes + s->shared_size + 1;
    while (high - low > 1) {
        weft_bytes middle = low + (high - low) / 2;
        if (takes_packet(c, s, g, priority, middle, weft__is_lossless(&s->lossless, port, priority)))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static weft_bytes dynamic_level_max(const void *state, const void *conf, uint32_t port, uint32_t priority) {
    return group_of(state, port, priority)->level_max;
}

static const char *dynamic_check(const void *state, const void *conf) {
    const struct dynamic_state *s = state;
    const struct dynamic_conf *c = conf;
    weft_bytes shared = 0;
    for (uint32_t i = 0; i < s->groups; i++) {
        const struct dynamic_group *g = &s->group[i];
        shared += calc_shared(c, g->pool);
        if (g->headroom > g->headroom_max) return "a group holds more than its headroom";
        if (g->headroom && !s->changed && !weft__is_lossless(&s->lossless, i / WEFT_PRIORITIES, i % WEFT_PRIORITIES))
            return "a lossy group is in headroom";
        if (g->pool + g->headroom > g->level_max) return "a group holds more than its watermark";
    }
    if (shared != s->shared_used) return "the groups do not add up to what the shared pool holds";
    return s->shared_used <= s->shared_size ? NULL : "the shared pool holds more than its size";
}

static void dynamic_fingerprint(const void *state, const void *conf, struct weft__fingerprint *fingerprint) {
    const struct dynamic_state *s = state;
    weft__fingerprint_mix(fingerprint, s->shared_used << 1 | s->changed);
    for (uint32_t g = 0; g < s->groups; g++) {
        weft__fingerprint_mix(fingerprint, s->group[g].pool);
        weft__fingerprint_mix(fingerprint, s->group[g].headroom);
    }
}

const struct weft_model weft__buffer_dynamic = WEFT_MODEL_OF(
    BUFFER, "dynamic", "a shared pool with thresholds that follow what is free, reserve and headroom",
    "Choudhury and Hahne, IEEE/ACM ToN 1998; PFC and default sizes after the HPCC simulator's switch", &dynamic_params,
    &(const struct weft_buffer_ops){
        .fit = dynamic_fit,
        .fit_ports = dynamic_fit_ports,
        .set_port = dynamic_set_port,
        .by_port = dynamic_by_port,
        .plan = dynamic_plan,
        .headroom_at = dynamic_headroom_at,
        .lossy_most = dynamic_lossy_most,
        .state_size = dynamic_state_size,
        .init = dynamic_init,
        .admit = dynamic_admit,
        .release = dynamic_release,
        .review = dynamic_review,
        .set_lossless = dynamic_set_lossless,
        .level = dynamic_level,
        .room = dynamic_room,
        .level_max = dynamic_level_max,
        .check = dynamic_check,
        .fingerprint = dynamic_fingerprint,
    });
