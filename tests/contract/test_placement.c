// SPDX-License-Identifier: Apache-2.0
// Every strategy on random graphs and random free servers: each unit gets its own slot, the same for the same problem.
// The minimum cut in addition: never more traffic between zones than any other strategy, and on problems small enough
// to try every partition, nearly always the minimum: it is a heuristic.
#include "models.h"

#include <stdio.h>
#include <unistd.h>

#include "weft/placement.h"
#include "weft/random.h"

enum { UNITS_MAX = 32, SLOTS_MAX = 64, EDGES_MAX = UNITS_MAX * UNITS_MAX, EXACT_MAX = 9 };

struct sample {
    struct weft_placement_problem p;
    struct weft_placement_slot slot[SLOTS_MAX];
    uint32_t first[UNITS_MAX + 1];
    struct weft_placement_edge edge[EDGES_MAX];
};

static uint32_t below(struct weft_random *random, uint32_t n) {
    return (uint32_t)weft_random_below(random, n);
}

/// Zones of up to `zone_max` servers, racks of two of them; more slots than units.
static void draw(struct sample *s, struct weft_random *random, uint32_t units_max, uint32_t zone_max) {
    memset(s, 0, sizeof *s);
    struct weft_placement_problem *p = &s->p;
    *p = (struct weft_placement_problem){.slot = s->slot, .first = s->first, .edge = s->edge};
    p->units = 1 + below(random, units_max);
    uint32_t slots = p->units + below(random, p->units + 1);
    while (p->slots < slots) {
        uint32_t room = 1 + below(random, zone_max), in_rack = 2;
        for (uint32_t k = 0; k < room && p->slots < slots; k++) {
            if (in_rack++ >= 2 || !below(random, 4)) in_rack = 1, p->racks++;
            s->slot[p->slots++] = (struct weft_placement_slot){.zone = p->zones, .rack = p->racks - 1};
        }
        p->zones++;
    }
    static weft_bytes bytes[UNITS_MAX][UNITS_MAX];
    memset(bytes, 0, sizeof bytes);
    uint32_t density = 1 + below(random, 10);
    for (uint32_t a = 0; a < p->units; a++)
        for (uint32_t b = 0; b < a; b++)
            if (below(random, 10) < density) bytes[a][b] = bytes[b][a] = 1 + weft_random_below(random, 1000000000000);
    uint32_t edges = 0;
    for (uint32_t a = 0; a < p->units; a++) {
        for (uint32_t b = 0; b < p->units; b++)
            if (bytes[a][b]) s->edge[edges++] = (struct weft_placement_edge){b, bytes[a][b], bytes[a][b]};
        s->first[a + 1] = edges;
    }
}

static void place(const struct weft_model *model, const void *conf, const struct weft_placement_problem *p,
                  uint32_t slot[UNITS_MAX]) {
    const struct weft_placement_ops *ops = model->ops;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    memset(slot, 0xff, UNITS_MAX * sizeof *slot);
    ops->place(conf, p, arena, slot);
    weft_arena_free(arena);
}

static weft_bytes between_zones(const struct weft_placement_problem *p, const uint32_t *slot) {
    weft_bytes sum = 0;
    for (uint32_t u = 0; u < p->units; u++)
        for (uint32_t e = p->first[u]; e < p->first[u + 1]; e++)
            if (p->slot[slot[u]].zone != p->slot[slot[p->edge[e].unit]].zone) sum += p->edge[e].bytes;
    return sum / 2;
}

static void distinct_and_the_same_again(const struct weft_model *model, const void *conf) {
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    for (uint32_t k = 0; k < 30; k++) {
        struct sample s, other;
        uint32_t slot[UNITS_MAX], again[UNITS_MAX];
        draw(&s, &random, UNITS_MAX, 20);
        draw(&other, &random, UNITS_MAX, 20);
        place(model, conf, &s.p, slot);
        bool taken[SLOTS_MAX] = {0};
        for (uint32_t u = 0; u < s.p.units; u++) {
            assert_true(slot[u] < s.p.slots && !taken[slot[u]]);
            taken[slot[u]] = true;
        }
        place(model, conf, &other.p, again); // leaves nothing behind that matters
        place(model, conf, &s.p, again);
        assert_memory_equal(slot, again, s.p.units * sizeof *slot);
    }
}

static void a_slot_for_each_unit(void **state) {
    each_model(WEFT_KIND_PLACEMENT, distinct_and_the_same_again);
}

static void no_other_strategy_cuts_less(void **state) {
    struct weft_random random = weft_random_stream(2, 0, WEFT_RANDOM_TEST);
    const struct weft_model *min_cut = model_of(WEFT_KIND_PLACEMENT, "min_cut");
    void *conf = conf_of(min_cut, NULL);
    for (uint32_t k = 0; k < 50; k++) {
        struct sample s;
        uint32_t slot[UNITS_MAX];
        draw(&s, &random, UNITS_MAX, 20);
        place(min_cut, conf, &s.p, slot);
        weft_bytes least = between_zones(&s.p, slot);
        for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_PLACEMENT); i++) {
            const struct weft_model *model = weft_model_at(WEFT_KIND_PLACEMENT, i);
            void *other = conf_of(model, NULL);
            place(model, other, &s.p, slot);
            assert_true(least <= between_zones(&s.p, slot));
            free(other);
        }
    }
    free(conf);
}

/// The minimum over all assignments of units to zones, by trying them all.
static weft_bytes least_of_all(const struct weft_placement_problem *p, uint32_t unit, uint32_t *zone, uint32_t *room,
                               weft_bytes so_far, weft_bytes least) {
    if (so_far >= least) return least;
    if (unit == p->units) return so_far;
    for (uint32_t z = 0; z < p->zones; z++) {
        if (!room[z]) continue;
        weft_bytes more = 0;
        for (uint32_t e = p->first[unit]; e < p->first[unit + 1]; e++)
            if (p->edge[e].unit < unit && zone[p->edge[e].unit] != z) more += p->edge[e].bytes;
        zone[unit] = z;
        room[z]--;
        least = least_of_all(p, unit + 1, zone, room, so_far + more, least);
        room[z]++;
    }
    return least;
}

static void the_least_there_is(void **state) {
    struct weft_random random = weft_random_stream(3, 0, WEFT_RANDOM_TEST);
    const struct weft_model *min_cut = model_of(WEFT_KIND_PLACEMENT, "min_cut");
    void *conf = conf_of(min_cut, NULL);
    uint32_t cut = 0, exact = 0;
    double sum = 0, sum_least = 0;
    for (uint32_t k = 0; k < 150; k++) {
        struct sample s;
        uint32_t slot[UNITS_MAX], zone[UNITS_MAX], room[SLOTS_MAX] = {0};
        draw(&s, &random, EXACT_MAX, 5);
        for (uint32_t i = 0; i < s.p.slots; i++)
            room[s.slot[i].zone]++;
        place(min_cut, conf, &s.p, slot);
        weft_bytes least = least_of_all(&s.p, 0, zone, room, 0, UINT64_MAX), got = between_zones(&s.p, slot);
        assert_true(got >= least);
        exact += got == least;
        sum += (double)got;
        sum_least += (double)least;
        cut += least > 0;
    }
    assert_true(cut > 50); // not all of them are easy
    assert_true(exact >= 145 && sum < 1.002 * sum_least);
    free(conf);
}

/// A ring of four between two zones crosses twice, however it is shared out: two racks hold it, if two and two.
static void of_equal_cuts_the_fewest_racks(void **state) {
    struct weft_placement_slot slot[] = {{.zone = 0, .rack = 0},
                                         {.zone = 0, .rack = 1},
                                         {.zone = 0, .rack = 1},
                                         {.zone = 1, .rack = 2},
                                         {.zone = 1, .rack = 2}};
    struct weft_placement_edge edge[] = {{1, 5, 5}, {3, 5, 5}, {0, 5, 5}, {2, 5, 5},
                                         {1, 5, 5}, {3, 5, 5}, {0, 5, 5}, {2, 5, 5}};
    uint32_t first[] = {0, 2, 4, 6, 8};
    const struct weft_placement_problem p = {
        .units = 4, .slots = 5, .zones = 2, .racks = 3, .slot = slot, .first = first, .edge = edge};
    const struct weft_model *min_cut = model_of(WEFT_KIND_PLACEMENT, "min_cut");
    void *conf = conf_of(min_cut, NULL);
    uint32_t got[UNITS_MAX];
    place(min_cut, conf, &p, got);
    assert_int_equal(between_zones(&p, got), 10);
    for (uint32_t u = 0; u < p.units; u++)
        assert_int_not_equal(slot[got[u]].rack, 0);
    free(conf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_for_each_unit),
        cmocka_unit_test(no_other_strategy_cuts_less),
        cmocka_unit_test(the_least_there_is),
        cmocka_unit_test(of_equal_cuts_the_fewest_racks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
