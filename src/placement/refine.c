// SPDX-License-Identifier: Apache-2.0
// Refinement with bounded bins: in a pass every unit changes its bin at most once, by a move into free room or by an
// exchange with another unit, always the change that saves most, even if it makes things worse; then the pass is undone
// back to its best point. Source: Kernighan and Lin, "An efficient heuristic procedure for partitioning graphs", Bell
// System Technical Journal 49 (1970); moves as in Fiduccia and Mattheyses, DAC 1982. Difference: with many units, only
// exchanges of those that gain most between two bins are considered.
#include "base/order.h"
#include "cut.h"

enum {
    PASSES_MAX = 16,
    PATIENCE = 64, ///< changes after the best one before a pass is given up
    ALL_MAX = 64,  ///< up to this many units, all exchanges are considered
};

struct refine {
    const struct weft__cut *cut;
    uint32_t *bin, *size;
    weft_bytes *to;  ///< [units * bins]: traffic between a unit and a bin
    uint32_t *best;  ///< [bins * bins]: the unit of a bin that gains most by going to another; WEFT_NONE
    bool *locked;    ///< [units]
    uint32_t *trail; ///< of this pass: unit, its previous bin, ...
    uint32_t moves;
};

struct change {
    uint32_t a, b; ///< units that change places; b WEFT_NONE: only a moves
    uint32_t into; ///< bin of a
    int64_t gain;
};

/// The traffic between two units.
static weft_bytes cut_between(const struct weft__cut *cut, uint32_t a, uint32_t b) {
    uint32_t low = WEFT__FIRST_WITHOUT(cut->first[a], cut->first[a + 1], cut->edge[middle].unit < b);
    return low < cut->first[a + 1] && cut->edge[low].unit == b ? cut->edge[low].bytes : 0;
}

weft_bytes weft__cut_bytes(const struct weft__cut *cut, const uint32_t *bin) {
    weft_bytes bytes = 0;
    for (uint32_t u = 0; u < cut->units; u++)
        for (uint32_t e = cut->first[u]; e < cut->first[u + 1]; e++)
            if (cut->edge[e].unit > u && bin[cut->edge[e].unit] != bin[u]) bytes += cut->edge[e].bytes;
    return bytes;
}

static int64_t gain_of(const struct refine *r, uint32_t unit, uint32_t into) {
    const weft_bytes *to = &r->to[(size_t)unit * r->cut->bins];
    return (int64_t)to[into] - (int64_t)to[r->bin[unit]];
}

static void move_unit(struct refine *r, uint32_t unit, uint32_t into) {
    uint32_t from = r->bin[unit], bins = r->cut->bins;
    for (uint32_t e = r->cut->first[unit]; e < r->cut->first[unit + 1]; e++) {
        weft_bytes *to = &r->to[(size_t)r->cut->edge[e].unit * bins];
        to[from] -= r->cut->edge[e].bytes;
        to[into] += r->cut->edge[e].bytes;
    }
    r->size[from]--;
    r->size[into]++;
    r->bin[unit] = into;
}

static void find_best(const struct refine *r) {
    uint32_t bins = r->cut->bins;
    for (uint32_t i = 0; i < bins * bins; i++)
        r->best[i] = WEFT_NONE;
    for (uint32_t u = 0; u < r->cut->units; u++) {
        if (r->locked[u]) continue;
        for (uint32_t b = 0; b < bins; b++) {
            uint32_t *best = &r->best[r->bin[u] * bins + b];
            if (b != r->bin[u] && (*best == WEFT_NONE || gain_of(r, u, b) > gain_of(r, *best, b))) *best = u;
        }
    }
}

static void consider_change(struct change *best, struct change other) {
    if (best->a == WEFT_NONE || other.gain > best->gain) *best = other;
}

static void consider_move(const struct refine *r, struct change *best, uint32_t a, uint32_t into) {
    if (r->size[into] < r->cut->room[into])
        consider_change(best, (struct change){a, WEFT_NONE, into, gain_of(r, a, into)});
}

static void consider_exchange(const struct refine *r, struct change *best, uint32_t a, uint32_t b) {
    int64_t gain = gain_of(r, a, r->bin[b]) + gain_of(r, b, r->bin[a]);
    consider_change(best, (struct change){a, b, r->bin[b], gain - 2 * (int64_t)cut_between(r->cut, a, b)});
}

/// The best of all moves and exchanges.
static struct change best_of_all(const struct refine *r) {
    struct change best = {.a = WEFT_NONE};
    for (uint32_t a = 0; a < r->cut->units; a++) {
        if (r->locked[a]) continue;
        for (uint32_t into = 0; into < r->cut->bins; into++)
            if (into != r->bin[a]) consider_move(r, &best, a, into);
        for (uint32_t b = 0; b < a; b++)
            if (!r->locked[b] && r->bin[a] != r->bin[b]) consider_exchange(r, &best, a, b);
    }
    return best;
}

/// The best among the units that gain most between two bins.
static struct change best_by_bins(const struct refine *r) {
    uint32_t bins = r->cut->bins;
    struct change best = {.a = WEFT_NONE};
    find_best(r);
    for (uint32_t from = 0; from < bins; from++)
        for (uint32_t into = 0; into < bins; into++) {
            uint32_t a = r->best[from * bins + into], b = r->best[into * bins + from];
            if (a == WEFT_NONE) continue;
            consider_move(r, &best, a, into);
            if (b != WEFT_NONE && from < into) consider_exchange(r, &best, a, b);
        }
    return best;
}

static void note_move(struct refine *r, uint32_t unit, uint32_t into) {
    r->trail[2 * r->moves] = unit;
    r->trail[2 * r->moves++ + 1] = r->bin[unit];
    r->locked[unit] = true;
    move_unit(r, unit, into);
}

/// Returns what the pass has saved.
static int64_t refine_pass(struct refine *r) {
    int64_t sum = 0, most = 0;
    uint32_t keep = 0, since = 0;
    r->moves = 0;
    for (uint32_t u = 0; u < r->cut->units; u++)
        r->locked[u] = false;
    while (since++ < PATIENCE) {
        struct change c = r->cut->units <= ALL_MAX ? best_of_all(r) : best_by_bins(r);
        if (c.a == WEFT_NONE) break;
        uint32_t from = r->bin[c.a];
        note_move(r, c.a, c.into);
        if (c.b != WEFT_NONE) note_move(r, c.b, from);
        sum += c.gain;
        if (sum <= most) continue;
        most = sum;
        keep = r->moves;
        since = 0;
    }
    while (r->moves > keep) {
        r->moves--;
        move_unit(r, r->trail[2 * r->moves], r->trail[2 * r->moves + 1]);
    }
    return most;
}

void weft__cut_refine(const struct weft__cut *cut, uint32_t *bin) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct refine r = {
        .cut = cut,
        .bin = bin,
        .size = weft_arena_alloc(arena, cut->bins, sizeof *r.size),
        .to = weft_arena_alloc(arena, (size_t)cut->units * cut->bins, sizeof *r.to),
        .best = weft_arena_alloc(arena, (size_t)cut->bins * cut->bins, sizeof *r.best),
        .locked = weft_arena_alloc(arena, cut->units, sizeof *r.locked),
        .trail = weft_arena_alloc(arena, 2 * (size_t)cut->units, sizeof *r.trail),
    };
    for (uint32_t u = 0; u < cut->units; u++) {
        r.size[bin[u]]++;
        for (uint32_t e = cut->first[u]; e < cut->first[u + 1]; e++)
            r.to[(size_t)u * cut->bins + bin[cut->edge[e].unit]] += cut->edge[e].bytes;
    }
    for (uint32_t k = 0; k < PASSES_MAX && refine_pass(&r) > 0; k++) {
    }
}
