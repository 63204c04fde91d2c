// SPDX-License-Identifier: Apache-2.0
// The record of a sender that retransmits only missing packets: two bits per packet in flight, "arrived" and "to be
// retransmitted". The sender's `una` and `next` are then counts instead of PSNs (weft_qp_sender.counts): packets
// acknowledged, in whatever order; and those plus the packets in flight. So the caller's window limits packets in the
// network, and the data to send includes what was lost.
//
// Source: R. Mittal et al., "Revisiting network support for RDMA" (IRN), SIGCOMM 2018, section 3.1. Packets in flight
// beyond the first missing one are limited so that a receiver's bitmap can have a fixed size.
#include "transport/scoreboard.h"

#include <assert.h>

enum { BITS = 64 };

static uint32_t places_of(uint64_t window) {
    uint32_t places = BITS;
    while (places < window)
        places *= 2;
    return places;
}

size_t weft__scoreboard_size(uint64_t window) {
    return sizeof(struct weft__scoreboard) + places_of(window) / BITS * sizeof(struct weft__score);
}

void weft__scoreboard_start(struct weft__scoreboard *k, uint64_t window, struct weft_qp_sender *s) {
    k->window = (uint32_t)window;
    k->mask = places_of(window) - 1;
    s->counts = true;
}

static struct weft__score *score_of(struct weft__scoreboard *k, uint32_t psn, uint64_t *ret_bit) {
    *ret_bit = UINT64_C(1) << psn % BITS;
    return &k->score[(psn & k->mask) / BITS];
}

/// Without anything to retransmit, the window limits how far the sender may go.
static void bound_window(const struct weft__scoreboard *k, struct weft_qp_sender *s) {
    s->blocked = !k->lost && s->highest - k->below >= k->window;
}

static uint32_t find_lost(struct weft__scoreboard *k) {
    uint32_t psn = k->search > k->below ? k->search : k->below;
    for (;; psn = (psn / BITS + 1) * BITS) {
        uint64_t bit, word = score_of(k, psn, &bit)->lost & ~(bit - 1);
        if (word) return psn / BITS * BITS + (uint32_t)__builtin_ctzll(word);
    }
}

bool weft__scoreboard_send(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t *ret_psn) {
    bool again = k->lost;
    if (again) {
        uint64_t bit;
        *ret_psn = find_lost(k);
        score_of(k, *ret_psn, &bit)->lost &= ~bit;
        k->lost--;
        k->search = *ret_psn + 1;
    } else {
        assert(s->highest - k->below < k->window);
        *ret_psn = s->highest++;
    }
    s->next++;
    bound_window(k, s);
    return again;
}

/// Packets that were in flight, or lost, are acknowledged.
static void count_acked(struct weft__scoreboard *k, struct weft_qp_sender *s, struct weft__score *at, uint64_t bits) {
    uint64_t again = at->lost & bits;
    at->came |= bits;
    s->una += (uint32_t)__builtin_popcountll(bits);
    if (__builtin_expect(!again, 1)) return;
    at->lost &= ~again;
    k->lost -= (uint32_t)__builtin_popcountll(again);
    s->next += (uint32_t)__builtin_popcountll(again);
}

uint32_t weft__scoreboard_came(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t psn) {
    uint64_t bit;
    if (psn < k->below || psn >= s->highest) return 0;
    struct weft__score *at = score_of(k, psn, &bit);
    if (psn >= k->named) k->named = psn + 1;
    if (at->came & bit) return 0;
    count_acked(k, s, at, bit);
    bound_window(k, s);
    return 1;
}

/// The same for packets in one word.
static void came_in_word(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t base, uint64_t bits) {
    uint64_t bit;
    struct weft__score *at = score_of(k, base, &bit);
    bits = bits << base % BITS & ~at->came;
    if (bits) count_acked(k, s, at, bits);
}

uint32_t weft__scoreboard_came_all(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t base, uint64_t bits) {
    uint32_t before = s->una;
    if (base < k->below) { // those are acknowledged
        bits = k->below - base < BITS ? bits >> (k->below - base) : 0;
        base = k->below;
    }
    if (s->highest - base < BITS) bits &= (UINT64_C(1) << (s->highest - base)) - 1;
    if (base >= s->highest || !bits) return 0;
    uint32_t end = base + BITS - (uint32_t)__builtin_clzll(bits), shift = base % BITS;
    if (end > k->named) k->named = end;
    came_in_word(k, s, base, bits);
    if (shift && bits >> (BITS - shift)) came_in_word(k, s, base + BITS - shift, bits >> (BITS - shift));
    bound_window(k, s);
    return s->una - before;
}

uint32_t weft__scoreboard_came_below(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t psn) {
    uint32_t before = s->una;
    for (; k->below < psn && k->below < s->highest; k->below++) {
        uint64_t bit;
        struct weft__score *at = score_of(k, k->below, &bit);
        if (!(at->came & bit)) count_acked(k, s, at, bit);
        at->came &= ~bit;
    }
    bound_window(k, s);
    return s->una - before;
}

bool weft__scoreboard_is_out(struct weft__scoreboard *k, const struct weft_qp_sender *s, uint32_t psn) {
    uint64_t bit;
    if (psn < k->below || psn >= s->highest) return false;
    struct weft__score *at = score_of(k, psn, &bit);
    return !((at->came | at->lost) & bit);
}

bool weft__scoreboard_lose(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t psn) {
    uint64_t bit;
    if (!weft__scoreboard_is_out(k, s, psn)) return false;
    struct weft__score *at = score_of(k, psn, &bit);
    at->lost |= bit;
    k->lost++;
    s->next--;
    if (psn < k->search) k->search = psn;
    s->blocked = false;
    return true;
}

uint32_t weft__scoreboard_judge(struct weft__scoreboard *k, struct weft_qp_sender *s, uint32_t end) {
    uint32_t lost = 0, psn = k->judged > k->below ? k->judged : k->below;
    for (; psn < end; psn++)
        lost += weft__scoreboard_lose(k, s, psn);
    if (end > k->judged) k->judged = end;
    return lost;
}

uint32_t weft__scoreboard_lose_all(struct weft__scoreboard *k, struct weft_qp_sender *s) {
    k->judged = k->below;
    return weft__scoreboard_judge(k, s, s->highest);
}

const char *weft__scoreboard_check(const struct weft__scoreboard *k, const struct weft_qp_sender *s) {
    uint32_t came = 0, lost = 0;
    for (uint32_t i = 0; i <= k->mask / BITS; i++) {
        came += (uint32_t)__builtin_popcountll(k->score[i].came);
        lost += (uint32_t)__builtin_popcountll(k->score[i].lost);
        if (k->score[i].came & k->score[i].lost) return "a packet that came is to be sent again";
    }
    if (s->una != k->below + came) return "packets acknowledged are not those marked";
    if (lost != k->lost) return "packets to be sent again are not those marked";
    if (s->next - s->una + came + lost != s->highest - k->below) return "a packet in flight is not accounted for";
    if (s->highest - k->below > k->window) return "more is in flight than the window allows";
    return NULL;
}
