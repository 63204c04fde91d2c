// SPDX-License-Identifier: Apache-2.0
// Every arbiter with random requests: a valid matching, nothing read or written outside the requests, no starvation,
// the same matches for the same requests. Maximal where the model promises it.
#include "models.h"

#include "weft/arbiter.h"
#include "weft/random.h"

enum { PORTS_MAX = 512, WORDS_MAX = PORTS_MAX / 64, UNTOUCHED = 0xabcd };

struct bench {
    const struct weft_arbiter_ops *ops;
    const void *conf;
    void *state;
    uint32_t ports, words;
    uint64_t outputs[WORDS_MAX], requests[PORTS_MAX * WORDS_MAX];
    uint16_t input[PORTS_MAX];
};

static void set(uint64_t *words, uint32_t i) {
    words[i / 64] |= UINT64_C(1) << i % 64;
}

static bool has(const uint64_t *words, uint32_t i) {
    return words[i / 64] >> i % 64 & 1;
}

static void bench_init(struct bench *b, const struct weft_model *model, const void *conf, uint32_t ports) {
    *b = (struct bench){.ops = model->ops, .conf = conf, .ports = ports, .words = (ports + 63) / 64};
    b->state = calloc(1, b->ops->state_size(conf, ports));
    b->ops->init(b->state, conf, ports);
}

/// Each output requests with probability `busy`, each of its inputs with probability `dense`. Rows of the others are
/// full of what must not be read.
static void draw_requests(struct bench *b, struct weft_random *random, double busy, double dense) {
    memset(b->outputs, 0, sizeof b->outputs);
    for (uint32_t out = 0; out < b->ports; out++) {
        uint64_t *row = b->requests + (size_t)out * b->words;
        memset(row, 0xff, b->words * sizeof *row);
        b->input[out] = UNTOUCHED;
        if (weft_random_unit(random) >= busy) continue;
        set(b->outputs, out);
        memset(row, 0, b->words * sizeof *row);
        for (uint32_t in = 0; in < b->ports; in++)
            if (weft_random_unit(random) < dense) set(row, in);
    }
}

static void match(struct bench *b) {
    b->ops->match(b->state, b->conf, b->ports, b->outputs, b->requests, b->input);
}

/// Returns the number of pairs that could still be added.
static uint32_t assert_valid(const struct bench *b) {
    uint64_t taken[WORDS_MAX] = {0};
    uint32_t addable = 0;
    for (uint32_t out = 0; out < b->ports; out++) {
        uint32_t in = b->input[out];
        if (!has(b->outputs, out)) {
            assert_int_equal(in, UNTOUCHED);
        } else if (in != WEFT_ARBITER_NONE) {
            assert_true(in < b->ports);
            assert_true(has(b->requests + (size_t)out * b->words, in));
            assert_false(has(taken, in));
            set(taken, in);
        }
    }
    for (uint32_t out = 0; out < b->ports; out++)
        for (uint32_t w = 0; w < b->words && has(b->outputs, out) && b->input[out] == WEFT_ARBITER_NONE; w++)
            addable += (b->requests[(size_t)out * b->words + w] & ~taken[w]) != 0;
    return addable;
}

static const uint32_t sizes[] = {1, 2, 3, 16, 63, 64, 65, 128, 200, 512};

static void is_valid(const struct weft_model *model, const void *conf) {
    struct weft_random random = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct bench *b = malloc(sizeof *b);
        bench_init(b, model, conf, sizes[i]);
        for (unsigned k = 0; k < 6000 / sizes[i] + 8; k++) {
            draw_requests(b, &random, weft_random_unit(&random), weft_random_unit(&random));
            match(b);
            assert_valid(b);
        }
        free(b->state);
        free(b);
    }
}

static void all_match_validly(void **state) {
    each_model(WEFT_KIND_ARBITER, is_valid);
}

static void is_same_again(const struct weft_model *model, const void *conf) {
    struct bench b[2];
    struct weft_random random[2];
    for (unsigned i = 0; i < 2; i++) {
        bench_init(&b[i], model, conf, 40);
        random[i] = weft_random_stream(7, 0, WEFT_RANDOM_TEST);
    }
    for (unsigned k = 0; k < 500; k++) {
        for (unsigned i = 0; i < 2; i++) {
            draw_requests(&b[i], &random[i], 0.7, 0.3);
            match(&b[i]);
        }
        assert_memory_equal(b[0].input, b[1].input, sizeof b[0].input);
    }
    free(b[0].state);
    free(b[1].state);
}

static void all_match_the_same_again(void **state) {
    each_model(WEFT_KIND_ARBITER, is_same_again);
}

/// An output that alone requests is served, and its requesters in turn.
static void serves_one_output(const struct weft_model *model, const void *conf) {
    struct bench b;
    uint32_t served[100] = {0};
    bench_init(&b, model, conf, 100);
    set(b.outputs, 57);
    for (uint32_t in = 3; in < 100; in += 7)
        set(b.requests + (size_t)57 * b.words, in);
    for (unsigned k = 0; k < 28; k++) {
        match(&b);
        assert_true(b.input[57] != WEFT_ARBITER_NONE);
        served[b.input[57]]++;
    }
    for (uint32_t in = 0; in < 100; in++)
        assert_int_equal(served[in], in % 7 == 3 ? 2 : 0);
    free(b.state);
}

static void all_serve_one_output_in_turn(void **state) {
    each_model(WEFT_KIND_ARBITER, serves_one_output);
}

/// Every request that stays is served: with all pairs requesting, every pair within ports^2 matches (McKeown 1999
/// proves it for iSLIP).
static void starves_nobody(const struct weft_model *model, const void *conf) {
    enum { N = 12 };
    struct bench b;
    uint32_t served[N][N] = {{0}};
    bench_init(&b, model, conf, N);
    for (uint32_t out = 0; out < N; out++) {
        set(b.outputs, out);
        b.requests[out] = (UINT64_C(1) << N) - 1;
    }
    for (unsigned k = 0; k < N * N; k++) {
        match(&b);
        for (uint32_t out = 0; out < N; out++)
            if (b.input[out] != WEFT_ARBITER_NONE) served[out][b.input[out]]++;
    }
    for (uint32_t out = 0; out < N; out++)
        for (uint32_t in = 0; in < N; in++)
            assert_true(served[out][in] > 0);
    free(b.state);
}

static void all_starve_nobody(void **state) {
    each_model(WEFT_KIND_ARBITER, starves_nobody);
}

/// An input that all outputs want goes to each in turn.
static void shares_one_input(const struct weft_model *model, const void *conf) {
    enum { N = 70 };
    struct bench b;
    uint32_t served[N] = {0};
    bench_init(&b, model, conf, N);
    for (uint32_t out = 0; out < N; out++) {
        set(b.outputs, out);
        set(b.requests + (size_t)out * b.words, 66);
    }
    for (unsigned k = 0; k < 3 * N; k++) {
        match(&b);
        for (uint32_t out = 0; out < N; out++)
            served[out] += b.input[out] == 66;
    }
    for (uint32_t out = 0; out < N; out++)
        assert_int_equal(served[out], 3);
    free(b.state);
}

/// Single requests in between take no other's turn.
static void shares_whoever_asks_between(const struct weft_model *model, const void *conf) {
    enum { N = 4 };
    struct bench b;
    uint32_t served[N] = {0};
    bench_init(&b, model, conf, N);
    for (unsigned k = 0; k < 40; k++) {
        b.outputs[0] = k & 1 ? 1u << 2 | 1u << 3 : 1u;
        b.requests[0] = 1u << 1;
        b.requests[2] = b.requests[3] = 1u;
        match(&b);
        for (uint32_t out = 2; k & 1 && out < N; out++)
            served[out] += b.input[out] == 0;
    }
    assert_int_equal(served[2], 10);
    assert_int_equal(served[3], 10);
    free(b.state);
}

static void all_share_one_input_whoever_asks_between(void **state) {
    each_model(WEFT_KIND_ARBITER, shares_whoever_asks_between);
}

static void all_share_one_input_in_turn(void **state) {
    each_model(WEFT_KIND_ARBITER, shares_one_input);
}

static void assert_maximal(const char *name, const char *yaml, uint32_t ports) {
    const struct weft_model *model = model_of(WEFT_KIND_ARBITER, name);
    void *conf = conf_of(model, yaml);
    struct bench b;
    struct weft_random random = weft_random_stream(3, ports, WEFT_RANDOM_TEST);
    bench_init(&b, model, conf, ports);
    for (unsigned k = 0; k < 2000; k++) {
        draw_requests(&b, &random, 0.9, weft_random_unit(&random));
        match(&b);
        assert_int_equal(assert_valid(&b), 0);
    }
    free(b.state);
    free(conf);
}

/// Greedy is maximal at once; iSLIP adds at least one pair per iteration while one can be added, so N iterations are
/// enough.
static void matchings_are_maximal(void **state) {
    assert_maximal("round_robin", "{}", 16);
    assert_maximal("round_robin", "{}", 70);
    assert_maximal("islip", "{iterations: 16}", 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_match_validly),
        cmocka_unit_test(all_match_the_same_again),
        cmocka_unit_test(all_serve_one_output_in_turn),
        cmocka_unit_test(all_starve_nobody),
        cmocka_unit_test(all_share_one_input_in_turn),
        cmocka_unit_test(all_share_one_input_whoever_asks_between),
        cmocka_unit_test(matchings_are_maximal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
