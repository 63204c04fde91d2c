// SPDX-License-Identifier: Apache-2.0
// Every queueing architecture with random packets: packets in = packets out + held, packets of one input, output and
// priority stay in order, what it reports as ready can be taken, and no packet is hidden forever.
#include "models.h"

#include "base/fifo.h"
#include "weft/queueing.h"
#include "weft/random.h"

enum { PORTS_MAX = 70 };

struct bench {
    const struct weft_queueing_ops *ops;
    struct weft_packet_pool pool;
    void *state;
    uint32_t ports, held;
    uint32_t pushed[PORTS_MAX][PORTS_MAX][WEFT_PRIORITIES]; ///< [in][out][priority]
    uint32_t popped[PORTS_MAX][PORTS_MAX][WEFT_PRIORITIES];
};

static void push(struct bench *b, struct weft_random *random) {
    uint32_t in = (uint32_t)weft_random_below(random, b->ports), out = (uint32_t)weft_random_below(random, b->ports);
    unsigned priority = (unsigned)weft_random_below(random, WEFT_PRIORITIES);
    struct weft_packet p = {.port = (uint16_t)in, .priority = priority & 7, .dst = out, .bytes = 1000};
    uint32_t before, after;
    weft_bytes depth = b->ops->depth ? b->ops->depth(b->state, in, out, priority, &before) : 0;
    p.psn = b->pushed[in][out][priority]++;
    b->ops->push(b->state, &p, out);
    if (b->ops->depth) { // its own queue is deeper by the packet, and still the same
        assert_int_equal(b->ops->depth(b->state, in, out, priority, &after), depth + 1000);
        assert_int_equal(before, after);
        assert_true(before < b->ports * b->ports);
    }
    b->held++;
}

/// Takes one packet from `in` (whatever it is for OQ) and checks that it is the oldest of its kind.
static void pop(struct bench *b, uint32_t in, uint32_t out, uint32_t priority) {
    struct weft_packet p = {0};
    b->ops->pop(b->state, in, out, priority, &p);
    assert_int_equal(p.dst, out);
    assert_int_equal(p.priority, priority);
    assert_int_equal(p.bytes, 1000);
    if (b->ops->inputs) assert_int_equal(p.port, in);
    assert_int_equal(p.psn, b->popped[p.port][out][priority]++);
    b->held--;
}

/// Serves `out` if anything is ready. An input is in the set for one that is.
static bool serve(struct bench *b, uint32_t out, struct weft_random *random) {
    uint8_t ready = b->ops->ready(b->state, out);
    if (!ready) return false;
    uint32_t priority;
    do
        priority = (uint32_t)weft_random_below(random, WEFT_PRIORITIES);
    while (!(ready >> priority & 1));
    uint32_t in = 0;
    if (b->ops->inputs) {
        const uint64_t *set = b->ops->inputs(b->state, out, priority);
        assert_true(set[0] || (b->ports > 64 && set[1]));
        do
            in = (uint32_t)weft_random_below(random, b->ports);
        while (!(set[in / 64] >> in % 64 & 1));
    }
    pop(b, in, out, priority);
    return true;
}

static void count(void *context, const struct weft_packet *packet, uint32_t out) {
    assert_int_equal(packet->dst, out);
    ++*(uint32_t *)context;
}

static void assert_conserved(const struct bench *b) {
    uint32_t held = 0;
    b->ops->each(b->state, count, &held);
    assert_int_equal(held, b->held);
}

/// All that is required, or nothing of it: output queues, which the switch keeps.
static bool is_complete(const struct weft_queueing_ops *o) {
    static const struct weft_queueing_ops none = {.push = NULL};
    if (memcmp(o, &none, sizeof none) == 0) return false;
    assert_true(o->state_size && o->init && o->push && o->pop && o->ready && o->inputs && o->depth && o->each);
    return true;
}

static void conserves(const struct weft_model *model, const void *conf) {
    if (!is_complete(model->ops)) return;
    static const uint32_t sizes[] = {1, 2, 8, 64, 70};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct bench *b = calloc(1, sizeof *b);
        b->ops = model->ops;
        b->ports = sizes[i];
        weft__pool_init(&b->pool);
        b->state = calloc(1, b->ops->state_size(conf, b->ports));
        b->ops->init(b->state, conf, b->ports, &b->pool);
        struct weft_random random = weft_random_stream(1, sizes[i], WEFT_RANDOM_TEST);
        for (unsigned k = 0; k < 20000; k++) {
            if (weft_random_below(&random, 100) < (k / 4000 % 2 ? 40 : 60))
                push(b, &random);
            else
                serve(b, (uint32_t)weft_random_below(&random, b->ports), &random);
            if (k % 1000 == 0) assert_conserved(b);
        }
        for (bool any = true; any;) { // everything can be removed by serving what is ready
            any = false;
            for (uint32_t out = 0; out < b->ports; out++)
                any |= serve(b, out, &random);
        }
        assert_int_equal(b->held, 0);
        uint32_t queue;
        for (uint32_t in = 0; b->ops->depth && in < b->ports; in++)
            assert_int_equal(b->ops->depth(b->state, in, b->ports - 1, 3, &queue), 0);
        assert_conserved(b);
        weft__pool_deinit(&b->pool);
        free(b->state);
        free(b);
    }
}

static void all_conserve(void **state) {
    each_model(WEFT_KIND_QUEUEING, conserves);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_conserve)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
