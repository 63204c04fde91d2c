// SPDX-License-Identifier: Apache-2.0
// Every path choice with random news: values below their number, its own invariant, the same values for the same seed
// and news; and each value is used. Also the claims of each model.
#include "models.h"

#include "weft/spray.h"

enum { PACKETS = 20000 };

struct choice {
    const struct weft_spray_ops *ops;
    const void *conf;
    void *state;
    weft_time_ps now_ps;
};

static struct choice begin_planes(const struct weft_model *model, const void *conf, uint64_t seed, uint32_t planes) {
    struct choice c = {.ops = model->ops, .conf = conf};
    c.state = calloc(1, c.ops->state_size(conf) + 1);
    struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_PATH);
    c.ops->start(c.state, conf, &random, planes);
    return c;
}

static struct choice begin(const struct weft_model *model, const void *conf, uint64_t seed) {
    return begin_planes(model, conf, seed, 1);
}

static uint32_t next_by(struct choice *c, uint32_t plane) {
    uint32_t value = c->ops->next(c->state, c->conf, c->now_ps += WEFT_PS_PER_US, plane) & ~WEFT_SPRAY_ASK;
    assert_true(value < c->ops->values(c->conf));
    const char *broken = c->ops->check(c->state, c->conf);
    if (broken) fail_msg("%s", broken);
    return value;
}

static uint32_t next(struct choice *c) {
    return next_by(c, 0);
}

static void tell(struct choice *c, uint32_t value, enum weft_spray_news what) {
    if (c->ops->news) c->ops->news(c->state, c->conf, c->now_ps, value, what);
}

static uint64_t run(const struct weft_model *model, const void *conf, uint64_t seed) {
    struct choice c = begin(model, conf, seed);
    struct weft_random random = weft_random_stream(seed, 1, WEFT_RANDOM_TEST);
    uint64_t digest = 0;
    for (unsigned i = 0; i < PACKETS; i++) {
        uint32_t value = next(&c), what = (uint32_t)weft_random_below(&random, 100);
        digest = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
        tell(&c, value,
             what < 90   ? WEFT_SPRAY_GOOD
             : what < 96 ? WEFT_SPRAY_MARKED
             : what < 99 ? WEFT_SPRAY_TRIMMED
                         : WEFT_SPRAY_TIMEOUT);
    }
    free(c.state);
    return digest;
}

static void holds(const struct weft_model *model, const void *conf) {
    for (uint64_t seed = 1; seed <= 4; seed++)
        assert_int_equal(run(model, conf, seed), run(model, conf, seed));
    if (model->draws) assert_int_not_equal(run(model, conf, 1), run(model, conf, 2));
}

static void all_hold(void **state) {
    each_model(WEFT_KIND_SPRAY, holds);
}

// Each of the n values once in any n packets that begin a round.
static void oblivious_takes_each_once_a_round(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SPRAY, "oblivious");
    void *conf = conf_of(model, "{values: 32}");
    struct choice c = begin(model, conf, 7);
    for (unsigned round = 0; round < 10; round++) {
        uint32_t seen = 0;
        for (unsigned i = 0; i < 32; i++)
            seen |= UINT32_C(1) << next(&c);
        assert_int_equal(seen, UINT32_MAX);
    }
    free(c.state);
    free(conf);
}

// A value with a timeout owes 15 turns: of the next 16 rounds it is in one, the last.
static void bitmap_passes_over_a_bad_value(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SPRAY, "bitmap");
    void *conf = conf_of(model, "{values: 8}");
    struct choice c = begin(model, conf, 7);
    uint32_t bad = next(&c), packets = 1, turns = 0;
    tell(&c, bad, WEFT_SPRAY_TIMEOUT);
    for (; packets < 8 + 15 * 7; packets++) // the rest of its round, and 15 rounds without it
        turns += next(&c) == bad;
    assert_int_equal(turns, 0);
    for (packets = 0; packets < 16; packets++)
        turns += next(&c) == bad;
    assert_true(turns >= 1 && turns <= 3);
    free(c.state);
    free(conf);
}

// Values that returned unmarked are used once more, in their order; after a timeout only these are, for 10 ms.
static void reps_recycles(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SPRAY, "reps");
    void *conf = conf_of(model, NULL);
    struct choice c = begin(model, conf, 7);
    for (uint32_t value = 100; value < 105; value++)
        tell(&c, value, value == 102 ? WEFT_SPRAY_MARKED : WEFT_SPRAY_GOOD);
    assert_int_equal(next(&c), 100);
    assert_int_equal(next(&c), 101);
    assert_int_equal(next(&c), 103);
    assert_int_equal(next(&c), 104);
    tell(&c, 105, WEFT_SPRAY_TIMEOUT);
    weft_time_ps until = c.now_ps + 10 * WEFT_PS_PER_MS;
    while (c.now_ps + WEFT_PS_PER_US < until) {
        uint32_t value = next(&c);
        assert_true(value >= 100 && value <= 104 && value != 102);
    }
    unsigned others = 0;
    for (unsigned i = 0; i < 16; i++) {
        uint32_t value = next(&c);
        others += value < 100 || value > 104;
    }
    assert_true(others >= 15); // 16384 values
    free(c.state);
    free(conf);
}

// Values are of the plane by which they go, whatever the number of planes. Those of a plane in which everything is lost
// are retired, and the plane is left out; 500 us later one packet each is let through, and a value that is answered is
// back.
static void mrc_leaves_a_plane_and_comes_back(void **state) {
    const struct weft_model *model = model_of(WEFT_KIND_SPRAY, "mrc");
    void *conf = conf_of(model, "{values: 32, probe: 500us}");
    for (uint32_t planes = 2; planes <= 16; planes++) {
        struct choice c = begin_planes(model, conf, 7, planes);
        uint32_t all = (UINT32_C(1) << planes) - 1, of_plane = (32 + planes - 2) / planes; // of plane 1
        assert_int_equal(c.ops->planes(c.state), all);
        for (uint32_t i = 0; i < of_plane; i++) {
            for (uint32_t k = 0; k < planes; k++) {
                uint32_t value = next_by(&c, k);
                assert_int_equal(value % planes, k);
                tell(&c, value, k == 1 ? WEFT_SPRAY_TIMEOUT : WEFT_SPRAY_GOOD);
            }
            assert_int_equal(c.ops->planes(c.state), i + 1 < of_plane ? all : all & ~2u);
        }
        weft_time_ps left = c.now_ps;
        while (!(c.ops->planes(c.state) & 2)) {
            tell(&c, next_by(&c, 0), WEFT_SPRAY_GOOD);
            assert_true(c.now_ps < left + 502 * WEFT_PS_PER_US);
        }
        assert_true(c.now_ps + of_plane * planes * WEFT_PS_PER_US > left + 500 * WEFT_PS_PER_US);
        uint32_t probe = c.ops->next(c.state, conf, c.now_ps, 1);
        assert_true(probe & WEFT_SPRAY_ASK);
        tell(&c, probe & ~WEFT_SPRAY_ASK, WEFT_SPRAY_GOOD);
        assert_int_equal(c.ops->planes(c.state), all);
        free(c.state);
    }
    free(conf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_hold),
        cmocka_unit_test(oblivious_takes_each_once_a_round),
        cmocka_unit_test(bitmap_passes_over_a_bad_value),
        cmocka_unit_test(reps_recycles),
        cmocka_unit_test(mrc_leaves_a_plane_and_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
