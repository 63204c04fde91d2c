// SPDX-License-Identifier: Apache-2.0
// Frames and senders that a node follows are read back as they were noted, in the bytes that link/follow.h promises.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "link/follow.h"
#include "own_memory.h"
#include "weft/memory.h"
#include "weft/random.h"

enum { NOTES = 50000, QPS = 300, ROWS = 64 };

struct log {
    struct weft__follow_pool pool;
    struct weft__follow_seen seen[ROWS];
    struct weft__follow follow;
};

static void log_init(struct log *log) {
    *log = (struct log){0};
    weft__follow_pool_init(&log->pool);
    log->follow = (struct weft__follow){.pool = &log->pool, .seen = log->seen, .rows = ROWS - 1};
}

static uint64_t bytes_of(struct weft__follow_list *list) {
    uint64_t bytes = 0;
    weft__follow_settle(list);
    for (const struct weft__follow_chunk *c = NULL; (c = weft__follow_next(list, c));)
        bytes += c->bytes;
    return bytes;
}

struct frame {
    weft_time_ps time_ps, busy_ps;
    uint32_t port, qp, psn, kind, priority;
    bool lost;
};

static void add(struct weft__follow *f, const struct frame *n) {
    const struct weft_packet packet = {.qp = n->qp, .kind = n->kind & 15u, .priority = n->priority & 7u};
    assert_true(weft__follow_add_frame(f, n->time_ps, n->busy_ps, n->port, &packet, n->psn, n->lost));
}

static void assert_read_back(struct weft__follow *f, const struct frame *noted, uint32_t n) {
    struct weft__follow_seen seen[1 << WEFT__FRAME_ROW] = {0};
    struct weft__follow_frame frame = {0};
    uint32_t i = 0;
    for (const struct weft__follow_chunk *c = NULL; (c = weft__follow_next(&f->frames, c));)
        for (const uint32_t *at = (const void *)c->memory;
             at < (const uint32_t *)(const void *)(c->memory + c->bytes);) {
            if (!weft__follow_read(&at, seen, &frame)) continue;
            assert_true(i < n);
            const struct frame *is = &noted[i++];
            assert_int_equal(frame.time_ps, is->time_ps);
            assert_int_equal(frame.frame.where, is->busy_ps | (uint64_t)is->port << 32);
            assert_int_equal(frame.frame.what, is->qp | (uint64_t)is->psn << 28 | (uint64_t)is->kind << 56 |
                                                   (uint64_t)is->priority << 60 | (uint64_t)is->lost << 63);
        }
    assert_int_equal(i, n);
}

/// Mostly the next frame of some queue pair; else anything that fits.
static void random_frames_are_read_back(void **state) {
    static struct frame noted[NOTES];
    static uint32_t psn[QPS];
    struct log log;
    log_init(&log);
    struct weft_random r = weft_random_stream(1, 0, WEFT_RANDOM_TEST);
    struct frame n = {0};
    for (uint32_t i = 0; i < NOTES; i++) {
        uint64_t odd = weft_random_below(&r, 100);
        uint32_t qp = (uint32_t)weft_random_below(&r, odd < 80 ? 60 : QPS);
        n.time_ps += weft_random_below(&r, odd == 99 ? UINT64_C(1) << 45 : odd > 95 ? 1 << 23 : 200000);
        n.qp = odd == 98 ? (1u << WEFT__FRAME_NUMBER) - 1 - qp : qp;
        psn[qp] = odd == 97   ? (uint32_t)weft_random_below(&r, 1u << WEFT__FRAME_NUMBER)
                  : odd == 96 ? (psn[qp] ? psn[qp] - 1 : (1u << WEFT__FRAME_NUMBER) - 1)
                  : odd > 90  ? (psn[qp] + 32769u) % (1u << WEFT__FRAME_NUMBER)
                              : (psn[qp] + 1) % (1u << WEFT__FRAME_NUMBER);
        n.psn = psn[qp];
        n.port = odd > 85 && odd < 90 ? (uint32_t)weft_random_below(&r, 65536) : qp % 7;
        n.busy_ps = odd == 90 ? weft_random_below(&r, UINT64_C(1) << WEFT__FRAME_BUSY) : 170000 + qp % 2;
        n.kind = odd == 84 ? (uint32_t)weft_random_below(&r, 16) : 0;
        n.priority = odd == 83 ? (uint32_t)weft_random_below(&r, 8) : 3;
        n.lost = odd == 82;
        noted[i] = n;
        add(&log.follow, &n);
    }
    weft__follow_settle(&log.follow.frames);
    assert_read_back(&log.follow, noted, NOTES);
    weft__follow_pool_deinit(&log.pool);
}

/// Two queue pairs of one row, in turn, and one beside: 4 bytes each, but for the first two of each, as the first
/// packet of a message is longer.
static void the_next_frame_takes_4_bytes(void **state) {
    struct log log;
    log_init(&log);
    for (uint32_t i = 0; i < 1000; i++)
        for (uint32_t q = 0; q < 3; q++)
            add(&log.follow, &(struct frame){.time_ps = (3 * i + q) * UINT64_C(170000),
                                             .busy_ps = i ? 170000 : 170640,
                                             .qp = q < 2 ? 6 + q * ROWS : 9,
                                             .psn = 5 + i,
                                             .priority = 3});
    assert_int_equal(bytes_of(&log.follow.frames), 3 * (2 * 20 + 998 * 4));
    weft__follow_pool_deinit(&log.pool);
}

/// Packets that are sprayed over ports: 8 bytes.
static void a_sprayed_frame_takes_8_bytes(void **state) {
    struct log log;
    log_init(&log);
    for (uint32_t i = 0; i < 1000; i++)
        add(&log.follow, &(struct frame){.time_ps = i * UINT64_C(170000), .port = i % 4, .qp = 1, .psn = 3 * i});
    assert_int_equal(bytes_of(&log.follow.frames), 20 + 999 * 8);
    weft__follow_pool_deinit(&log.pool);
}

static void what_does_not_fit_is_refused(void **state) {
    struct log log;
    const struct weft_packet packet = {.qp = 0};
    log_init(&log);
    assert_false(weft__follow_add_frame(&log.follow, 0, UINT64_C(1) << WEFT__FRAME_BUSY, 0, &packet, 0, false));
    assert_false(
        weft__follow_add_frame(&log.follow, 0, 1, 0, &(struct weft_packet){.qp = 1u << WEFT__FRAME_NUMBER}, 0, false));
    assert_false(weft__follow_add_frame(&log.follow, 0, 1, 0, &packet, 1u << WEFT__FRAME_NUMBER, false));
    assert_int_equal(bytes_of(&log.follow.frames), 0);
    weft__follow_pool_deinit(&log.pool);
}

static void random_senders_are_read_back(void **state) {
    static struct weft__follow_sender noted[NOTES];
    struct log log;
    log_init(&log);
    struct weft_random r = weft_random_stream(2, 0, WEFT_RANDOM_TEST);
    weft_time_ps now = 0;
    for (uint32_t i = 0; i < NOTES; i++) {
        uint64_t odd = weft_random_below(&r, 100);
        now += weft_random_below(&r, odd == 0 ? UINT64_C(1) << 44 : 1 << 21);
        weft_time_ps at =
            odd < 5 ? now + weft_random_below(&r, UINT64_C(1) << 28) : now - weft_random_below(&r, now + 1) % 1000;
        noted[i] = (struct weft__follow_sender){at, odd < 50 ? 7 : (uint32_t)weft_random_u64(&r),
                                                (uint32_t)weft_random_below(&r, WEFT_SENDER_HELD + 1)};
        weft__follow_add_sender(&log.follow, noted[i]);
    }
    weft__follow_settle(&log.follow.senders);
    struct weft__follow_sender sender = {0};
    uint32_t i = 0;
    for (const struct weft__follow_chunk *c = NULL; (c = weft__follow_next(&log.follow.senders, c));)
        for (const uint32_t *at = (const void *)c->memory;
             at < (const uint32_t *)(const void *)(c->memory + c->bytes);) {
            weft__follow_read_sender(&at, &sender);
            assert_true(i < NOTES);
            assert_int_equal(sender.time_ps, noted[i].time_ps);
            assert_int_equal(sender.qp, noted[i].qp);
            assert_int_equal(sender.state, noted[i].state);
            i++;
        }
    assert_int_equal(i, NOTES);
    weft__follow_pool_deinit(&log.pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_frames_are_read_back),   cmocka_unit_test(the_next_frame_takes_4_bytes),
        cmocka_unit_test(a_sprayed_frame_takes_8_bytes), cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(random_senders_are_read_back),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
