// SPDX-License-Identifier: Apache-2.0
// Every buffer with random packets: bytes in = bytes out + dropped + held, its own invariant, consistent answers, no
// lossless packet dropped without an XOFF before it; the same while ports change which priorities are lossless.
#include "models.h"

#include <inttypes.h>

#include "weft/buffer.h"
#include "weft/random.h"

enum { PORTS = 6, LOSSLESS = 0x18, HELD_MAX = 40000, FRAME_MAX = 9216 };

struct packet {
    uint32_t port, out, priority, bytes;
};

struct bench {
    const struct weft_buffer_ops *ops;
    const void *conf;
    void *state;
    struct packet held[HELD_MAX];
    uint32_t n;
    weft_bytes in, out, dropped; ///< occupied bytes, as all that a buffer counts
    weft_bytes cell_bytes;
    weft_bytes level[PORTS][WEFT_PRIORITIES], level_max[PORTS][WEFT_PRIORITIES];
    uint8_t lossless[PORTS];
    struct line {
        uint64_t other[7];
        struct weft_buffer_group group;
    } line[PORTS][WEFT_PRIORITIES];
};

static bool lossless(const struct bench *b, uint32_t port, uint32_t priority) {
    return b->lossless[port] >> priority & 1;
}

static void admit(struct bench *b, struct packet p) {
    weft_bytes room = b->ops->room(b->state, b->conf, p.port, p.out, p.priority);
    weft_bytes *level = &b->level[p.port][p.priority], *level_max = &b->level_max[p.port][p.priority];
    enum weft_buffer_answer before = b->ops->review(b->state, b->conf, p.port, p.priority);
    enum weft_buffer_answer answer = b->ops->admit(b->state, b->conf, p.port, p.out, p.priority, p.bytes);
    weft_bytes occupied = weft_buffer_occupied(b->cell_bytes, p.bytes);
    b->in += occupied;
    assert_int_equal(answer == WEFT_BUFFER_OK, p.bytes <= room);
    if (answer == WEFT_BUFFER_DROP) {
        if (lossless(b, p.port, p.priority)) assert_int_equal(before, WEFT_BUFFER_XOFF);
        b->dropped += occupied;
        return;
    }
    b->held[b->n++] = p;
    *level += occupied;
    if (*level > *level_max) *level_max = *level;
    enum weft_buffer_answer after = b->ops->review(b->state, b->conf, p.port, p.priority);
    assert_true(answer == WEFT_BUFFER_OK || answer == WEFT_BUFFER_XOFF);
    assert_int_equal(answer == WEFT_BUFFER_XOFF, after == WEFT_BUFFER_XOFF);
    if (!lossless(b, p.port, p.priority)) assert_int_equal(after, WEFT_BUFFER_OK);
}

static void release(struct bench *b, uint32_t i) {
    struct packet p = b->held[i];
    b->held[i] = b->held[--b->n];
    enum weft_buffer_answer answer = b->ops->release(b->state, b->conf, p.port, p.out, p.priority, p.bytes);
    b->out += weft_buffer_occupied(b->cell_bytes, p.bytes);
    b->level[p.port][p.priority] -= weft_buffer_occupied(b->cell_bytes, p.bytes);
    enum weft_buffer_answer after = b->ops->review(b->state, b->conf, p.port, p.priority);
    assert_int_equal(answer == WEFT_BUFFER_XON, after == WEFT_BUFFER_XON);
    assert_true(answer == WEFT_BUFFER_XON || answer == WEFT_BUFFER_OK);
}

static void assert_conserved(const struct bench *b) {
    weft_bytes held = 0;
    for (uint32_t port = 0; port < PORTS; port++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
            held += b->ops->level(b->state, b->conf, port, p);
            assert_int_equal(b->ops->level(b->state, b->conf, port, p), b->level[port][p]);
            assert_int_equal(b->ops->level_max(b->state, b->conf, port, p), b->level_max[port][p]);
        }
    assert_int_equal(b->in, b->out + b->dropped + held);
    const char *broken = b->ops->check(b->state, b->conf);
    if (broken) fail_msg("%s", broken);
}

static struct packet draw_packet(struct weft_random *random, uint32_t hot) {
    static const uint32_t sizes[] = {64, 78, 1082, 4158, FRAME_MAX};
    uint32_t who = weft_random_below(random, 2) ? hot : (uint32_t)weft_random_below(random, PORTS * WEFT_PRIORITIES);
    uint32_t port = who / WEFT_PRIORITIES,
             out = weft_random_below(random, 4) ? hot % PORTS : port; // many for one output
    return (struct packet){port, out, who % WEFT_PRIORITIES, sizes[weft_random_below(random, 5)]};
}

/// Fills and drains in phases, so that every threshold is crossed both ways.
static uint64_t run(const struct weft_model *model, const void *conf, uint64_t seed, bool changing) {
    struct bench *b = calloc(1, sizeof *b);
    b->ops = model->ops;
    b->conf = conf;
    b->state = calloc(1, b->ops->state_size(conf, PORTS));
    b->ops->init(b->state, conf, PORTS, LOSSLESS);
    memset(b->lossless, LOSSLESS, sizeof b->lossless);
    struct weft_buffer_plan plan;
    b->ops->plan(conf, PORTS, LOSSLESS, &plan);
    b->cell_bytes = plan.cell_bytes;
    if (seed % 2 && b->ops->keep_at) // in a box's own lines
        b->ops->keep_at(b->state, &b->line[0][0].group, sizeof b->line[0], sizeof b->line[0][0]);
    struct weft_random random = weft_random_stream(seed, 0, WEFT_RANDOM_TEST);
    for (unsigned phase = 0; phase < 40; phase++) {
        uint32_t fill = phase % 2 ? 20 : 95, hot = (uint32_t)weft_random_below(&random, PORTS * WEFT_PRIORITIES);
        for (unsigned k = 0; k < 5000; k++) {
            if (changing && k % 500 == 250) {
                uint32_t port = (uint32_t)weft_random_below(&random, PORTS);
                b->lossless[port] ^= (uint8_t)(1u << weft_random_below(&random, WEFT_PRIORITIES));
                b->ops->set_lossless(b->state, conf, port, b->lossless[port]);
            }
            if (weft_random_below(&random, 100) < fill && b->n < HELD_MAX)
                admit(b, draw_packet(&random, hot));
            else if (b->n)
                release(b, (uint32_t)weft_random_below(&random, b->n));
        }
        assert_conserved(b);
    }
    assert_true(b->dropped > 0); // or the run did not reach the limits
    while (b->n)
        release(b, b->n - 1);
    assert_conserved(b);
    for (uint32_t port = 0; port < PORTS; port++)
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            assert_int_equal(b->ops->review(b->state, conf, port, p),
                             lossless(b, port, p) ? WEFT_BUFFER_XON : WEFT_BUFFER_OK);
    uint64_t digest = b->in * 31 + b->dropped;
    free(b->state);
    free(b);
    return digest;
}

static void holds(const struct weft_model *model, const void *conf) {
    const struct weft_buffer_ops *ops = model->ops;
    char text[256];
    assert_null(ops->fit(conf, PORTS, LOSSLESS, 64, text, sizeof text));
    for (uint64_t seed = 1; seed <= 3; seed++) {
        assert_int_equal(run(model, conf, seed, false), run(model, conf, seed, false));
        run(model, conf, seed, true);
    }
}

/// A wrong number in the state is found: of those that differ from an empty buffer's, at least half. (Without packets
/// at hand a buffer cannot tell a watermark that is too high.)
static void speaks(const struct weft_model *model, const void *conf) {
    const struct weft_buffer_ops *ops = model->ops;
    size_t n = ops->state_size(conf, PORTS) / sizeof(uint32_t);
    uint32_t *full = calloc(n + 2, sizeof *full), *empty = calloc(n + 2, sizeof *empty), changed = 0, found = 0;
    ops->init(full, conf, PORTS, LOSSLESS);
    ops->init(empty, conf, PORTS, LOSSLESS);
    uint32_t base = (uint32_t)(uintptr_t)full, reach = (uint32_t)(n * sizeof *full);
    for (uint32_t k = 0; k < 20; k++)
        ops->admit(full, conf, k % PORTS, k % PORTS, k % WEFT_PRIORITIES, FRAME_MAX);
    assert_null(ops->check(full, conf));
    for (size_t i = 0; i < n; i++) {
        bool is_pointer = full[i] - base <= reach || full[i] == (uint32_t)((uintptr_t)full >> 32);
        if (full[i] == empty[i] || is_pointer) continue;
        full[i]++;
        found += ops->check(full, conf) != NULL;
        full[i]--;
        changed++;
    }
    if (!changed || 2 * found < changed) fail_msg("%s: %u of %u found", model->name, found, changed);
    free(full);
    free(empty);
}

/// Frames of `bytes` at (port, priority) until it answers `until`; how many bytes it took.
static weft_bytes fill(const struct weft_buffer_ops *ops, const void *conf, void *state, uint32_t port,
                       uint32_t priority, uint32_t bytes, enum weft_buffer_answer until) {
    weft_bytes level = ops->level(state, conf, port, priority);
    for (;;) {
        enum weft_buffer_answer answer = ops->admit(state, conf, port, port, priority, bytes);
        if (answer == until || answer == WEFT_BUFFER_DROP) break;
    }
    return ops->level(state, conf, port, priority) - level;
}

/// A single group is paused above the level in the plan, give or take two frames (the one above, and one that a model
/// may count elsewhere), and uses the headroom from there on; also when all other groups have taken their share first.
static void does_what_it_plans(const struct weft_model *model, const void *conf) {
    enum { BYTES = 4158, PORT = 2, PRIORITY = 3 };
    const struct weft_buffer_ops *ops = model->ops;
    struct weft_buffer_plan plan, lossy;
    ops->plan(conf, PORTS, LOSSLESS, &plan);
    ops->plan(conf, PORTS, 0, &lossy);
    weft_bytes frame = weft_buffer_occupied(plan.cell_bytes, BYTES);
    assert_true(*plan.text && *plan.headroom_text);
    assert_int_equal(lossy.headroom_bytes, 0);
    for (uint32_t others = 0; others < 2; others++) {
        void *state = calloc(1, ops->state_size(conf, PORTS));
        ops->init(state, conf, PORTS, LOSSLESS);
        for (uint32_t g = 0; others && g < PORTS * WEFT_PRIORITIES; g++)
            if (g != PORT * WEFT_PRIORITIES + PRIORITY)
                fill(ops, conf, state, g / WEFT_PRIORITIES, g % WEFT_PRIORITIES, BYTES, WEFT_BUFFER_DROP);
        weft_bytes paused = fill(ops, conf, state, PORT, PRIORITY, BYTES, WEFT_BUFFER_XOFF);
        weft_bytes level = ops->level(state, conf, PORT, PRIORITY);
        if (!others && (paused + frame < plan.xoff_bytes || paused > plan.xoff_bytes + frame))
            fail_msg("%s: paused at %" PRIu64 ", planned %" PRIu64, model->name, paused, plan.xoff_bytes);
        fill(ops, conf, state, PORT, PRIORITY, BYTES, WEFT_BUFFER_DROP);
        weft_bytes took = ops->level(state, conf, PORT, PRIORITY) - level + frame; // and the one that had it paused
        if (took + frame < plan.headroom_bytes || (!others && took > plan.headroom_bytes + frame))
            fail_msg("%s: took %" PRIu64 ", planned %" PRIu64, model->name, took, plan.headroom_bytes);
        free(state);
    }
}

/// A lossy priority alone in the switch takes what the model says, to a frame, however large frames are.
static void lossy_takes_what_it_says(const struct weft_model *model, const void *conf) {
    enum { PORT = 2 };
    static const uint32_t frame_bytes[] = {64, 1082, 4158};
    const struct weft_buffer_ops *ops = model->ops;
    struct weft_buffer_plan plan;
    ops->plan(conf, PORTS, LOSSLESS, &plan);
    const struct weft_buffer_port link = {100000000000, 100000000000, WEFT_PS_PER_US};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t priority = 0; priority < WEFT_PRIORITIES; priority++) {
            if (LOSSLESS >> priority & 1) continue;
            void *state = calloc(1, ops->state_size(conf, PORTS));
            ops->init(state, conf, PORTS, LOSSLESS);
            weft_bytes most = ops->lossy_most(conf, &link, PORTS, LOSSLESS, priority);
            weft_bytes frame = weft_buffer_occupied(plan.cell_bytes, frame_bytes[i]);
            weft_bytes took = fill(ops, conf, state, PORT, priority, frame_bytes[i], WEFT_BUFFER_DROP);
            if (took > most + frame || took + frame < most)
                fail_msg("%s: took %" PRIu64 ", said %" PRIu64, model->name, took, most);
            free(state);
        }
}

/// With its defaults, and with the cells of Tomahawk, of Spectrum-4, and one longer than any frame.
static void each_buffer(void (*test)(const struct weft_model *model, const void *conf)) {
    static const char *const cells[] = {"{cell: 254B}", "{cell: 192B}", "{cell: 10000B}"};
    each_model(WEFT_KIND_BUFFER, test);
    for (uint32_t i = 0; i < weft_model_count(WEFT_KIND_BUFFER); i++)
        for (uint32_t k = 0; k < 3; k++) {
            const struct weft_model *model = weft_model_at(WEFT_KIND_BUFFER, i);
            void *conf = conf_of(model, cells[k]);
            test(model, conf);
            free(conf);
        }
}

/// A 64 B frame on a Tomahawk occupies 254 B, one of 4178 B 17 cells; by division, and by the inverse.
static void frames_occupy_whole_cells(void **state) {
    assert_int_equal(weft_buffer_occupied(254, 64), 254);
    assert_int_equal(weft_buffer_occupied(254, 4178), 4318);
    assert_int_equal(weft_buffer_occupied(0, 4178), 4178);
    for (uint32_t cell = 0; cell <= 16384; cell += cell < 300 ? 1 : 331) {
        struct weft_buffer_fixed fixed = weft_buffer_fixed_of(0, 0, 0, cell);
        for (uint32_t bytes = 1; bytes <= UINT16_MAX; bytes += 7) // frames and their neighbours
            for (uint32_t by = 0; by < 2; by++) {
                uint32_t n = by && cell ? (bytes + cell - 1) / cell * cell : bytes; // whole cells, too
                if (n > UINT16_MAX) continue;
                assert_int_equal(weft_buffer_fixed_occupied(&fixed, n), weft_buffer_occupied(cell, n));
            }
    }
}

static void all_take_what_they_say(void **state) {
    each_buffer(lossy_takes_what_it_says);
}

static void all_do_what_they_plan(void **state) {
    each_buffer(does_what_it_plans);
}

static void all_hold_under_random_packets(void **state) {
    each_buffer(holds);
}

static void all_checks_can_speak(void **state) {
    each_buffer(speaks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_occupy_whole_cells), cmocka_unit_test(all_hold_under_random_packets),
        cmocka_unit_test(all_do_what_they_plan),     cmocka_unit_test(all_take_what_they_say),
        cmocka_unit_test(all_checks_can_speak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
