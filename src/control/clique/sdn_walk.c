// SPDX-License-Identifier: Apache-2.0
// What is known of a state is one of: 0, nothing yet; LOST, a cell there has no candidate, or one of its candidates is
// lost, or it may go round in a circle; or a number greater than that of each of its candidates, so that a cell
// arrives, because it cannot go on forever. When the candidates of a state change but all arrive with smaller numbers,
// nothing else has changed. Otherwise it is first assumed to be lost, and so is every state that may lead there; then
// those of all these whose candidates all arrive, starting with itself, arrive again. The remaining ones are lost: in a
// circle, none ever becomes the first.
#include "control/clique/sdn_walk.h"

#include <string.h>

#include "base/grow.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_ROUTES;
enum { VCS = WEFT__SDN_VCS };
enum { NOTHING = 0, FARTHEST = 253, UNDER_WAY = 254, LOST = 255 };

static size_t count_states(const struct weft__sdn_walk *w) {
    return (size_t)w->wiring->f->tins * w->wiring->slots * VCS;
}

static uint8_t *known_of(struct weft__sdn_walk *w, uint32_t dst, struct weft__sdn_state s) {
    return &w->known[dst][(s.tin * w->wiring->slots + s.slot) * VCS + s.vc];
}

static uint64_t candidates_of(const struct weft__sdn_walk *w, uint32_t dst, struct weft__sdn_state s) {
    uint32_t group = weft__sdn_lookup(w->tables, s.tin, (uint32_t)s.slot * VCS + s.vc, dst);
    if (!group || !w->present[s.tin][group]) return 0;
    struct weft_gnet_set set = w->groups->tin[s.tin].set[group];
    return (set.minimal | set.nonminimal) & w->up[s.tin] & ~(s.slot ? w->wiring->f->tin[s.tin].back[s.slot - 1] : 0);
}

static uint32_t next_vc(const struct weft__sdn_walk *w, struct weft__sdn_state s) {
    return weft_gnet_next_vc((enum weft_gnet_input)weft__sdn_input_of(w->wiring->f, s.tin, s.slot), s.vc);
}

/// From what is known of the candidates; unknown ones are determined first.
static uint8_t walk_from(struct weft__sdn_walk *w, uint32_t dst, struct weft__sdn_state s) {
    const struct weft_dragonfly *f = w->wiring->f;
    uint64_t ports = candidates_of(w, dst, s);
    uint32_t vc = next_vc(w, s), most = 0;
    if (!ports) return LOST;
    for (; ports; ports &= ports - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(ports), y = f->tin[s.tin].peer[k];
        if (y == dst) continue;
        if (vc == VCS) return LOST;
        uint32_t slot = 1u + w->wiring->port_there[s.tin * WEFT_GNET_PORTS_MAX + k];
        struct weft__sdn_state next = {(uint16_t)y, (uint8_t)slot, (uint8_t)vc};
        uint8_t *there = known_of(w, dst, next);
        if (*there == NOTHING) {
            *there = UNDER_WAY; // reaching this state again means going round in a circle
            *there = walk_from(w, dst, next);
        }
        if (*there > FARTHEST) return LOST;
        most = *there > most ? *there : most;
    }
    if (most < FARTHEST) return (uint8_t)(most + 1);
    w->too_far = true;
    return LOST;
}

static void note_state(struct weft__sdn_walk *w, uint32_t dst, struct weft__sdn_state s, uint8_t what) {
    *known_of(w, dst, s) = what;
    w->list = weft__memory_double(KIND, w->list, w->n, &w->capacity, 1024, sizeof *w->list);
    if (s.slot) {
        w->list[w->n++] = s;
        return;
    }
    WEFT__ADD_DOUBLE(KIND, w->turned, w->turns, w->turn_capacity, 1024) = s.tin;
}

/// A predecessor of a state in the list is lost, with it, or may arrive again.
static void tell_before(struct weft__sdn_walk *w, uint32_t dst, struct weft__sdn_state before, uint32_t k, bool lost) {
    uint8_t is = *known_of(w, dst, before);
    if (is == NOTHING || (is == LOST) == lost || !(candidates_of(w, dst, before) >> k & 1)) return;
    uint8_t what = lost ? LOST : walk_from(w, dst, before);
    if (what != is) note_state(w, dst, before, what);
}

/// All predecessors of a state in the list.
static void tell_all(struct weft__sdn_walk *w, uint32_t dst, bool lost) {
    const struct weft_dragonfly *f = w->wiring->f;
    while (w->n) {
        struct weft__sdn_state s = w->list[--w->n];
        uint32_t x = f->tin[s.tin].peer[s.slot - 1];
        uint32_t k = w->wiring->port_there[s.tin * WEFT_GNET_PORTS_MAX + s.slot - 1];
        if (x == dst) continue;
        for (uint32_t slot = 0; slot < w->wiring->slots; slot++) {
            struct weft__sdn_state before = {(uint16_t)x, (uint8_t)slot, s.vc};
            if (next_vc(w, before) != s.vc && before.vc-- == 0) continue;
            tell_before(w, dst, before, k, lost);
        }
    }
}

static void walk_all(struct weft__sdn_walk *w, uint32_t dst) {
    memset(w->known[dst], NOTHING, count_states(w));
    w->turns = 0;
    for (uint32_t x = 0; x < w->wiring->f->tins; x++) {
        struct weft__sdn_state from = {(uint16_t)x, 0, 0};
        if (x != dst) note_state(w, dst, from, walk_from(w, dst, from));
    }
    w->too_far = false;
}

void weft__sdn_walk_renew(struct weft__sdn_walk *w, uint32_t dst, struct weft__sdn_state s) {
    uint8_t is = *known_of(w, dst, s);
    if (s.tin == dst || is == NOTHING) return;
    uint8_t now = walk_from(w, dst, s);
    if (is != LOST && now <= is) return;
    if (is != LOST) {
        note_state(w, dst, s, LOST);
        tell_all(w, dst, true);
        now = walk_from(w, dst, s);
    }
    if (now != LOST) {
        note_state(w, dst, s, now);
        tell_all(w, dst, false);
    }
    if (w->too_far) walk_all(w, dst); // numbers have grown after many changes: recomputes the smallest ones
}

struct weft__sdn_turned weft__sdn_walk_settle(struct weft__sdn_walk *w, uint32_t dst) {
    struct weft__sdn_turned turned = {0, 0, 0};
    const bool *kept = &w->kept[(size_t)dst * w->wiring->f->tins];
    bool *arrives = &w->arrives[(size_t)dst * w->wiring->f->tins];
    while (w->turns) {
        uint16_t x = w->turned[--w->turns];
        bool now = *known_of(w, dst, (struct weft__sdn_state){x, 0, 0}) != LOST;
        turned.broken += arrives[x] && !now && kept[x];
        turned.given_up += arrives[x] && !now && !kept[x];
        turned.found += !arrives[x] && now;
        arrives[x] = now;
    }
    return turned;
}

static void prepare_walk(struct weft__sdn_walk *w) {
    size_t tins = w->wiring->f->tins;
    w->known = weft_memory_new(KIND, tins, sizeof *w->known);
    for (uint32_t d = 0; d < tins; d++)
        w->known[d] = weft_memory_new(KIND, count_states(w), sizeof **w->known);
    w->arrives = weft_memory_new(KIND, tins * tins, sizeof *w->arrives);
}

void weft__sdn_walk_begin(struct weft__sdn_walk *w) {
    uint32_t tins = w->wiring->f->tins;
    prepare_walk(w);
    for (uint32_t d = 0; d < tins; d++) {
        walk_all(w, d);
        weft__sdn_walk_settle(w, d);
        w->arrives[(size_t)d * tins + d] = true;
    }
}

void weft__sdn_walk_copy(struct weft__sdn_walk *w, const struct weft__sdn_walk *from) {
    size_t tins = w->wiring->f->tins;
    prepare_walk(w);
    for (uint32_t d = 0; d < tins; d++)
        memcpy(w->known[d], from->known[d], count_states(w));
    memcpy(w->arrives, from->arrives, tins * tins * sizeof *w->arrives);
}

void weft__sdn_walk_deinit(struct weft__sdn_walk *w) {
    uint32_t tins = w->known ? w->wiring->f->tins : 0;
    for (uint32_t d = 0; d < tins; d++)
        weft_memory_free(KIND, w->known[d], count_states(w));
    if (w->known) weft_memory_free(KIND, w->known, tins * sizeof *w->known);
    if (w->arrives) weft_memory_free(KIND, w->arrives, (size_t)tins * tins * sizeof *w->arrives);
    weft_memory_free(KIND, w->list, w->capacity * sizeof *w->list);
    weft_memory_free(KIND, w->turned, w->turn_capacity * sizeof *w->turned);
}
