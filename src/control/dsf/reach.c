// SPDX-License-Identifier: Apache-2.0
// Reachability and input balanced mode of a DSF device.
//
// Source: Meta, "Disaggregated Scheduled Fabric" (engineering blog, 2025), section "Input Balanced Mode" with its
// figures 4 to 17; groups of input links and what counts as balanced as in FBOSS (fboss/lib/inputbalance,
// ApplyThriftConfig.cpp).
//
// For each destination and each group of input links, a device keeps at most as many of them open as it has links on
// which cells for the destination can leave; it withdraws links chosen at random, and opens some again when it may.
// Groups: at level 2 the links to each other cluster; at level 1, towards other clusters, all links to interface nodes
// together, and towards a destination of its own cluster the links of each neighbour.
//
// Where the source leaves room:
// - A choice is a function of the device and of the state in which it chooses (which links are up, open and usable), so
//   destinations in the same state get the same choice. The links that a device withdraws because of its own failed
//   link are the same towards all destinations that it reaches by links like that one; links withdrawn before count,
//   and if they suffice no more are withdrawn.
// - Where more inputs than outputs are connected (four links from level 2 above one to each interface node in figure
//   4), the share of inputs is kept no larger than the share of outputs. Where as many or fewer are connected, it is
//   the count.
// - A scenario may make choices itself (control.reachability.picks), to reproduce those of the source.
// - Independent random choices can withdraw every link of an interface node, as in figure 17, where RDSW0 of cluster X
//   is left without a path to RDSW0 of cluster X-1. `last_resort` (ours) lets a device to which every path is held back
//   use one of them anyway: cells say for each destination whether there is no path or whether the link is held back.
#include <assert.h>
#include <string.h>

#include "base/bits.h"
#include "weft/reach.h"

enum { SET_UP = 0, SET_DOWN = 1, SETS_FIXED = 2 };

/// Sets of links are `words` words, one bit per link; tables of sets are indexed by destination or by set.
struct weft_reach_agent {
    struct weft_reach_setup setup;
    uint32_t words, sets;
    bool reachable;
    uint64_t *up;         ///< links that are up
    uint64_t *set;        ///< [sets] links of a set: to level 0 or 2, to a neighbour, to a cluster
    uint64_t *heard;      ///< [dests] links whose peers take cells for it
    uint64_t *heard_held; ///< [dests] links whose peers could, but hold them back
    uint64_t *open;       ///< [dests] links on which we take cells for it
    uint64_t *usable;     ///< [dests] links on which cells for it leave
    uint32_t *set_of;     ///< [links] the set in which a link is an input
    uint32_t *way;        ///< [dests]: the set by which it is reached; WEFT_NONE: not at all, or it is this device
};

static size_t round_up(size_t bytes) {
    return (bytes + 7) / 8 * 8;
}

/// An upper bound: every link is a separate set.
static uint32_t sets_max(const struct weft_reach_setup *s) {
    return SETS_FIXED + s->links;
}

size_t weft_reach_agent_size(const struct weft_reach_setup *s) {
    size_t set = weft__bits_words(s->links) * sizeof(uint64_t);
    return round_up(sizeof(struct weft_reach_agent)) + set * (1 + sets_max(s) + 4 * (size_t)s->dests) +
           round_up(s->links * sizeof(uint32_t)) + round_up(s->dests * sizeof(uint32_t));
}

static uint64_t *row_at(const struct weft_reach_agent *a, uint64_t *table, uint32_t i) {
    return table + (size_t)i * a->words;
}

static uint32_t count_bits(const struct weft_reach_agent *a, const uint64_t *x) {
    uint32_t n = 0;
    for (uint32_t w = 0; w < a->words; w++)
        n += (uint32_t)__builtin_popcountll(x[w]);
    return n;
}

static void bits_of_both(const struct weft_reach_agent *a, const uint64_t *x, const uint64_t *y, uint64_t *ret) {
    for (uint32_t w = 0; w < a->words; w++)
        ret[w] = x[w] & y[w];
}

static bool is_any(const struct weft_reach_agent *a, const uint64_t *x) {
    for (uint32_t w = 0; w < a->words; w++)
        if (x[w]) return true;
    return false;
}

static void *carve_bytes(uint8_t **memory, size_t bytes) {
    void *at_here = *memory;
    *memory += round_up(bytes);
    return at_here;
}

/// The set of links that the input at `link` counts in: of the same cluster at level 2, of the same neighbour at level
/// 1. Created for the first one.
static uint32_t find_set(struct weft_reach_agent *a, uint32_t link) {
    const struct weft_reach_link *l = a->setup.link;
    for (uint32_t k = 0; k < link; k++)
        if (a->setup.level == 2 ? l[k].peer_cluster == l[link].peer_cluster : l[k].peer == l[link].peer)
            return a->set_of[k];
    return a->sets++;
}

static void wire_links(struct weft_reach_agent *a) {
    const struct weft_reach_setup *s = &a->setup;
    a->sets = SETS_FIXED;
    for (uint32_t d = 0; d < s->dests; d++)
        a->way[d] = !s->level || (s->level == 1 && s->dest_cluster[d] != s->cluster) ? (uint32_t)SET_UP : WEFT_NONE;
    for (uint32_t k = 0; k < s->links; k++) {
        const struct weft_reach_link *l = &s->link[k];
        uint32_t before = a->sets;
        a->set_of[k] = find_set(a, k);
        weft__bits_set(a->up, k);
        weft__bits_set(row_at(a, a->set, a->set_of[k]), k);
        weft__bits_set(row_at(a, a->set, l->peer_level > s->level ? SET_UP : SET_DOWN), k);
        if (s->level == 1 && l->peer_dest != WEFT_NONE) a->way[l->peer_dest] = a->set_of[k];
        for (uint32_t d = 0; s->level == 2 && a->sets > before && d < s->dests; d++)
            if (s->dest_cluster[d] == l->peer_cluster) a->way[d] = a->set_of[k];
    }
    if (!s->level) a->way[s->self] = WEFT_NONE;
    for (uint32_t d = 0; d < s->dests; d++)
        if (a->way[d] == SET_UP && !is_any(a, row_at(a, a->set, SET_UP))) a->way[d] = WEFT_NONE;
}

/// Whether `link` is an input for cells to `dest`.
static bool is_input(const struct weft_reach_agent *a, uint32_t link, uint32_t dest) {
    if (!a->setup.level) return dest == a->setup.self;
    if (a->way[dest] == WEFT_NONE) return false;
    if (a->setup.level == 1 && a->way[dest] == SET_UP) return weft__bits_has(row_at(a, a->set, SET_DOWN), link);
    return a->set_of[link] != a->way[dest];
}

struct weft_reach_agent *weft_reach_agent_init(void *memory, const struct weft_reach_setup *s) {
    uint8_t *left = memory;
    memset(memory, 0, weft_reach_agent_size(s));
    struct weft_reach_agent *a = carve_bytes(&left, sizeof *a);
    a->setup = *s;
    a->words = weft__bits_words(s->links);
    assert(s->links && a->words <= WEFT_REACH_WORDS);
    a->reachable = true;
    size_t set = a->words * sizeof(uint64_t);
    a->up = carve_bytes(&left, set);
    a->set = carve_bytes(&left, set * sets_max(s));
    a->heard = carve_bytes(&left, set * s->dests);
    a->heard_held = carve_bytes(&left, set * s->dests);
    a->open = carve_bytes(&left, set * s->dests);
    a->usable = carve_bytes(&left, set * s->dests);
    a->set_of = carve_bytes(&left, s->links * sizeof *a->set_of);
    a->way = carve_bytes(&left, s->dests * sizeof *a->way);
    wire_links(a);
    for (uint32_t d = 0; d < s->dests; d++) {
        const uint64_t *way = row_at(a, a->set, a->way[d] == WEFT_NONE ? (uint32_t)SET_UP : a->way[d]);
        const uint64_t *down = row_at(a, a->set, SET_DOWN);
        for (uint32_t w = 0; w < a->words; w++) {
            if (!s->level && d == s->self) row_at(a, a->open, d)[w] = a->up[w];
            if (a->way[d] == WEFT_NONE) continue;
            if (s->level)
                row_at(a, a->open, d)[w] = s->level == 1 && a->way[d] == SET_UP ? down[w] : a->up[w] & ~way[w];
            row_at(a, a->heard, d)[w] = row_at(a, a->usable, d)[w] = way[w];
        }
    }
    return a;
}

uint32_t weft_reach_calc_limit(const struct weft_reach_balance *b) {
    if (b->wired_in <= b->wired_out) return b->out;
    return (uint32_t)((uint64_t)b->wired_in * b->out / b->wired_out);
}

/// The input set that is group `i` of `dest`.
static uint32_t group_set(const struct weft_reach_agent *a, uint32_t dest, uint32_t i) {
    if (!a->setup.level) return SET_UP;
    if (a->setup.level == 1 && a->way[dest] == SET_UP) return SET_DOWN;
    uint32_t set = SETS_FIXED + i;
    return set >= a->way[dest] ? set + 1 : set;
}

uint32_t weft_reach_groups(const struct weft_reach_agent *a, uint32_t dest) {
    if (!a->setup.level) return dest == a->setup.self;
    if (a->way[dest] == WEFT_NONE) return 0;
    return a->setup.level == 1 && a->way[dest] == SET_UP ? 1 : a->sets - SETS_FIXED - 1;
}

static struct weft_reach_balance balance_of(const struct weft_reach_agent *a, uint32_t dest, uint32_t set) {
    uint64_t hit[WEFT_REACH_WORDS];
    const uint64_t *in = row_at(a, a->set, set), *out = row_at(a, a->set, a->way[dest]);
    struct weft_reach_balance b = {.dest = dest, .wired_in = count_bits(a, in), .wired_out = count_bits(a, out)};
    bits_of_both(a, in, a->up, hit);
    b.up_in = count_bits(a, hit);
    bits_of_both(a, out, a->up, hit);
    b.up_out = count_bits(a, hit);
    bits_of_both(a, in, row_at(a, a->open, dest), hit);
    b.in = count_bits(a, hit);
    b.out = count_bits(a, row_at(a, a->heard, dest));
    return b;
}

struct weft_reach_balance weft_reach_group(const struct weft_reach_agent *a, uint32_t dest, uint32_t i) {
    assert(a->setup.level && i < weft_reach_groups(a, dest));
    return balance_of(a, dest, group_set(a, dest, i));
}

static bool has_path(const struct weft_reach_agent *a, uint32_t dest) {
    if (a->way[dest] == WEFT_NONE) return !a->setup.level && dest == a->setup.self && a->reachable;
    return is_any(a, row_at(a, a->heard, dest)) || is_any(a, row_at(a, a->heard_held, dest));
}

static uint64_t mix_bits(uint64_t hash, const struct weft_reach_agent *a, const uint64_t *x) {
    for (uint32_t w = 0; w < a->words; w++) {
        hash = (hash ^ x[w]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

/// Moves `n` members of `pool` into `ret`, at random.
static void draw_links(const struct weft_reach_agent *a, struct weft_random *random, uint64_t *pool, uint32_t n,
                       uint64_t *ret) {
    for (uint32_t left = count_bits(a, pool); n; n--, left--) {
        uint32_t skip = (uint32_t)weft_random_below(random, left), w = 0;
        for (; skip >= (uint32_t)__builtin_popcountll(pool[w]); w++)
            skip -= (uint32_t)__builtin_popcountll(pool[w]);
        uint64_t bits = pool[w];
        for (; skip; skip--)
            bits &= bits - 1;
        pool[w] &= ~(bits & -bits);
        ret[w] |= bits & -bits;
    }
}

/// Random numbers derived from the device and the state in which it chooses.
static struct weft_random random_in(const struct weft_reach_agent *a, uint64_t state) {
    struct weft_random random = weft_random_stream(a->setup.seed, a->setup.who, WEFT_RANDOM_REACH);
    random.drawn = state;
    return random;
}

/// Moves those of `pool` that the scenario picks, at most `n`, into `ret`. Returns how many.
static uint32_t take_picks(const struct weft_reach_agent *a, uint64_t *pool, uint32_t n, uint64_t *ret) {
    uint32_t taken = 0;
    for (uint32_t i = 0; i < a->setup.picks && taken < n; i++) {
        uint32_t link = a->setup.pick[i];
        if (!weft__bits_has(pool, link)) continue;
        pool[link / 64] &= ~(UINT64_C(1) << (link % 64));
        weft__bits_set(ret, link);
        taken++;
    }
    return taken;
}

/// Chooses `n` members of `from`: those of `first` first, and among others those that are picked.
static void choose_links(const struct weft_reach_agent *a, uint32_t dest, const uint64_t *from, const uint64_t *first,
                         uint32_t n, uint64_t *ret) {
    uint64_t pool[WEFT_REACH_WORDS];
    struct weft_random random = random_in(a, mix_bits(mix_bits(n, a, from), a, row_at(a, a->heard, dest)));
    memset(ret, 0, a->words * sizeof *ret);
    bits_of_both(a, from, first, pool);
    uint32_t preferred = count_bits(a, pool);
    draw_links(a, &random, pool, n < preferred ? n : preferred, ret);
    if (n <= preferred) return;
    for (uint32_t w = 0; w < a->words; w++)
        pool[w] = from[w] & ~first[w];
    n -= preferred;
    draw_links(a, &random, pool, n - take_picks(a, pool, n, ret), ret);
}

/// The inputs that our own failed links are balanced with, the same for all destinations reached in the same manner.
static void choose_common(const struct weft_reach_agent *a, const uint64_t *in_up, const struct weft_reach_balance *b,
                          uint64_t *ret) {
    struct weft_reach_balance own = *b;
    own.out = b->up_out;
    uint32_t most = weft_reach_calc_limit(&own);
    memset(ret, 0, a->words * sizeof *ret);
    if (!a->setup.balance || !b->up_out || most >= b->up_in) return;
    uint64_t way_up[WEFT_REACH_WORDS], pool[WEFT_REACH_WORDS];
    bits_of_both(a, row_at(a, a->set, a->way[b->dest]), a->up, way_up);
    memcpy(pool, in_up, a->words * sizeof *pool);
    struct weft_random random = random_in(a, mix_bits(mix_bits(0, a, in_up), a, way_up));
    uint32_t n = b->up_in - most;
    draw_links(a, &random, pool, n - take_picks(a, pool, n, ret), ret);
}

static void say_dest(const struct weft_reach_agent *a, const uint64_t *links, uint32_t dest,
                     const struct weft_reach_out *out) {
    for (uint32_t w = 0; w < a->words; w++)
        for (uint64_t bits = links[w] & a->up[w]; bits; bits &= bits - 1)
            out->on_said(out->context, 64 * w + (uint32_t)__builtin_ctzll(bits), dest);
}

static void balance_set(struct weft_reach_agent *a, uint32_t dest, uint32_t set, const struct weft_reach_out *out) {
    struct weft_reach_balance b = balance_of(a, dest, set);
    uint32_t most = a->setup.balance ? weft_reach_calc_limit(&b) : b.out ? b.up_in : 0;
    uint32_t wanted = most < b.up_in ? most : b.up_in;
    if (b.in == wanted) return;
    bool opened = b.in < wanted;
    uint64_t *open = row_at(a, a->open, dest), from[WEFT_REACH_WORDS], first[WEFT_REACH_WORDS],
             chosen[WEFT_REACH_WORDS];
    bits_of_both(a, row_at(a, a->set, set), a->up, from);
    choose_common(a, from, &b, first); // withdrawn before others, and reopened after them
    for (uint32_t i = 0; opened && i < a->setup.picks; i++)
        weft__bits_set(first, a->setup.pick[i]);
    for (uint32_t w = 0; w < a->words; w++) {
        from[w] &= opened ? ~open[w] : open[w];
        if (opened) first[w] = ~first[w];
    }
    choose_links(a, dest, from, first, opened ? wanted - b.in : b.in - wanted, chosen);
    for (uint32_t w = 0; w < a->words; w++)
        open[w] ^= chosen[w];
    say_dest(a, chosen, dest, out);
    out->on_balance(out->context, &b, chosen, opened);
}

/// Cells leave on the links that are open to us or, if there are none, on one that is held back.
static void use_links(struct weft_reach_agent *a, uint32_t dest, const struct weft_reach_out *out) {
    uint64_t wanted[WEFT_REACH_WORDS], *usable = row_at(a, a->usable, dest);
    const uint64_t *held = row_at(a, a->heard_held, dest);
    memcpy(wanted, row_at(a, a->heard, dest), a->words * sizeof *wanted);
    if (a->setup.last_resort && !is_any(a, wanted) && is_any(a, held)) choose_links(a, dest, held, held, 1, wanted);
    for (uint32_t w = 0; w < a->words; w++) {
        for (uint64_t bits = usable[w] ^ wanted[w]; bits; bits &= bits - 1) {
            uint32_t link = 64 * w + (uint32_t)__builtin_ctzll(bits);
            out->on_usable(out->context, link, dest, wanted[w] >> (link % 64) & 1);
        }
        usable[w] = wanted[w];
    }
}

/// What is known of the path to `dest` has changed: balances every group of inputs. `had_path`: before.
static void follow_dest(struct weft_reach_agent *a, uint32_t dest, bool had_path, const struct weft_reach_out *out) {
    use_links(a, dest, out);
    if (!a->setup.level) return;
    uint32_t groups = weft_reach_groups(a, dest);
    for (uint32_t i = 0; i < groups; i++) {
        uint32_t set = group_set(a, dest, i);
        uint64_t held[WEFT_REACH_WORDS];
        balance_set(a, dest, set, out);
        if (had_path == has_path(a, dest)) continue;
        for (uint32_t w = 0; w < a->words; w++)
            held[w] = row_at(a, a->set, set)[w] & ~row_at(a, a->open, dest)[w];
        say_dest(a, held, dest, out);
    }
}

/// Forgets or expects information on `link`, and makes it count as input or not.
static void turn_link(struct weft_reach_agent *a, uint32_t link, uint32_t dest, bool up,
                      const struct weft_reach_out *out) {
    uint64_t bit = UINT64_C(1) << (link % 64);
    uint32_t w = link / 64;
    if (a->way[dest] != WEFT_NONE && weft__bits_has(row_at(a, a->set, a->way[dest]), link)) {
        bool had_path = has_path(a, dest);
        if (up || !((row_at(a, a->heard, dest)[w] | row_at(a, a->heard_held, dest)[w]) & bit)) return;
        row_at(a, a->heard, dest)[w] &= ~bit;
        row_at(a, a->heard_held, dest)[w] &= ~bit;
        follow_dest(a, dest, had_path, out);
    } else if (is_input(a, link, dest)) {
        if (!up) row_at(a, a->open, dest)[w] &= ~bit;
        if (a->setup.level == 0) {
            if (up && a->reachable) row_at(a, a->open, dest)[w] |= bit;
        } else
            balance_set(a, dest, a->way[dest] == SET_UP && a->setup.level == 1 ? (uint32_t)SET_DOWN : a->set_of[link],
                        out);
        if (up) out->on_said(out->context, link, dest);
    }
}

void weft_reach_on_link(struct weft_reach_agent *a, uint32_t link, bool up, const struct weft_reach_out *out) {
    assert(link < a->setup.links);
    if (weft__bits_has(a->up, link) == up) return;
    a->up[link / 64] ^= UINT64_C(1) << (link % 64);
    for (uint32_t d = 0; d < a->setup.dests; d++)
        turn_link(a, link, d, up, out);
}

void weft_reach_on_cell(struct weft_reach_agent *a, uint32_t link, uint32_t block, uint32_t open, uint32_t held,
                        const struct weft_reach_out *out) {
    assert(link < a->setup.links && !(open & held));
    if (!weft__bits_has(a->up, link)) return;
    uint64_t bit = UINT64_C(1) << (link % 64);
    for (uint32_t i = 0; i < WEFT_REACH_BLOCK && block * WEFT_REACH_BLOCK + i < a->setup.dests; i++) {
        uint32_t dest = block * WEFT_REACH_BLOCK + i;
        if (a->way[dest] == WEFT_NONE || !weft__bits_has(row_at(a, a->set, a->way[dest]), link)) continue;
        uint64_t *heard = &row_at(a, a->heard, dest)[link / 64],
                 *heard_held = &row_at(a, a->heard_held, dest)[link / 64];
        uint64_t now = open >> i & 1 ? bit : 0, now_held = held >> i & 1 ? bit : 0;
        if ((*heard & bit) == now && (*heard_held & bit) == now_held) continue;
        bool had_path = has_path(a, dest);
        *heard = (*heard & ~bit) | now;
        *heard_held = (*heard_held & ~bit) | now_held;
        follow_dest(a, dest, had_path, out);
    }
}

void weft_reach_on_admin(struct weft_reach_agent *a, bool reachable, const struct weft_reach_out *out) {
    assert(!a->setup.level);
    if (a->reachable == reachable) return;
    a->reachable = reachable;
    uint64_t *open = row_at(a, a->open, a->setup.self);
    for (uint32_t w = 0; w < a->words; w++)
        open[w] = reachable ? a->up[w] : 0;
    say_dest(a, a->up, a->setup.self, out);
}

void weft_reach_cell(const struct weft_reach_agent *a, uint32_t link, uint32_t block, uint32_t *ret_open,
                     uint32_t *ret_held) {
    uint32_t open = 0, held = 0;
    for (uint32_t i = 0; i < WEFT_REACH_BLOCK && block * WEFT_REACH_BLOCK + i < a->setup.dests; i++) {
        uint32_t dest = block * WEFT_REACH_BLOCK + i;
        if (!is_input(a, link, dest)) continue;
        if (weft__bits_has(row_at(a, a->open, dest), link))
            open |= 1u << i;
        else if (has_path(a, dest))
            held |= 1u << i;
    }
    *ret_open = open;
    *ret_held = held;
}

bool weft_reach_usable(const struct weft_reach_agent *a, uint32_t link, uint32_t dest) {
    return weft__bits_has(row_at(a, a->usable, dest), link);
}

bool weft_reach_up(const struct weft_reach_agent *a, uint32_t link) {
    return weft__bits_has(a->up, link);
}

bool weft_reach_open(const struct weft_reach_agent *a, uint32_t link, uint32_t dest) {
    return weft__bits_has(row_at(a, a->open, dest), link);
}

bool weft_reach_resorts(const struct weft_reach_agent *a, uint32_t dest) {
    return is_any(a, row_at(a, a->usable, dest)) && !is_any(a, row_at(a, a->heard, dest));
}
