// SPDX-License-Identifier: Apache-2.0
// The pause-propagation tree and the story of events made by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "weft/timeline.h"

enum { PORTS = 8, FLOWS = 4, US = 1000000 };

/// Two ends of three links in a row: 1 sends to 2, 3 to 4, 5 to 6; behind 6 the egress port 7 is congested. 0 is
/// unused. Ports 2 and 3, and 4 and 5, are of one switch.
struct story {
    struct weft_event event[64];
    uint32_t n;
};

static uint32_t add(struct story *s, weft_time_ps us, enum weft_event_kind kind, uint32_t port, uint64_t value,
                    uint32_t cause, uint32_t begins) {
    s->event[s->n] = (struct weft_event){.time_ps = us * US,
                                         .kind = (uint8_t)kind,
                                         .port = port,
                                         .priority = 3,
                                         .flow = WEFT_NONE,
                                         .qp = WEFT_NONE,
                                         .value = value,
                                         .cause = cause,
                                         .begins = begins};
    return ++s->n;
}

/// XOFF at `port`, frames to `paused`, and the pause there; returns its id.
static uint32_t pause_at(struct story *s, weft_time_ps us, uint32_t port, uint32_t paused, uint32_t cause,
                         uint32_t *ret_sent) {
    uint32_t xoff = add(s, us, WEFT_EVENT_XOFF, port, 700000 + us, cause, 0);
    *ret_sent = add(s, us, WEFT_EVENT_PAUSE_SENT, port, 65535, xoff, 0);
    uint32_t received = add(s, us + 1, WEFT_EVENT_PAUSE_RECEIVED, paused, 65535, *ret_sent, 0);
    return add(s, us + 1, WEFT_EVENT_PAUSED, paused, 0, received, 0);
}

/// A pause of three hops: 6 is full because of 7, 4 because of 5, 2 because of 3; it ends in the order of its
/// beginning.
static struct story cascade(uint32_t *ret_pauses) {
    struct story s = {.n = 0};
    uint32_t sent[3], root = add(&s, 10, WEFT_EVENT_CONGESTED, 7, 900000, 0, 0);
    ret_pauses[0] = pause_at(&s, 10, 6, 5, root, &sent[0]);
    ret_pauses[1] = pause_at(&s, 20, 4, 3, ret_pauses[0], &sent[1]);
    ret_pauses[2] = pause_at(&s, 30, 2, 1, ret_pauses[1], &sent[2]);
    uint32_t again = add(&s, 40, WEFT_EVENT_PAUSE_SENT, 6, 65535, s.event[sent[0] - 1].cause, sent[0]);
    add(&s, 41, WEFT_EVENT_PAUSE_RECEIVED, 5, 65535, again, 0);
    add(&s, 50, WEFT_EVENT_RESUMED, 5, 39 * US, 0, ret_pauses[0]);
    add(&s, 60, WEFT_EVENT_RESUMED, 3, 39 * US, 0, ret_pauses[1]);
    return s;
}

static int setup(void **state) {
    *state = weft_arena_new(WEFT_MEMORY_RESULT);
    return 0;
}

static int teardown(void **state) {
    weft_arena_free(*state);
    return 0;
}

static void a_cascade_is_a_chain_of_pauses(void **state) {
    uint32_t ids[3], n;
    struct story s = cascade(ids);
    const struct weft_pause *p = weft_pauses_list(s.event, s.n, PORTS, *state, &n);
    assert_int_equal(n, 3);
    static const struct {
        uint32_t by, parent, depth, frames;
    } expected[] = {{6, WEFT_NONE, 0, 2}, {4, 0, 1, 1}, {2, 1, 2, 1}};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(p[i].event, ids[i]);
        assert_int_equal(p[i].by, expected[i].by);
        assert_int_equal(p[i].parent, expected[i].parent);
        assert_int_equal(p[i].depth, expected[i].depth);
        assert_int_equal(p[i].frames, expected[i].frames);
        assert_int_equal(p[i].root, 1);
        assert_int_equal(s.event[p[i].xoff - 1].kind, WEFT_EVENT_XOFF);
    }
    assert_int_equal(s.event[p[0].resumed - 1].time_ps, 50 * US);
    assert_int_equal(p[2].resumed, 0); // lasts
}

static void causes_that_are_not_recorded_end_the_chain(void **state) {
    struct story s = {.n = 0};
    uint32_t n, received = add(&s, 1, WEFT_EVENT_PAUSE_RECEIVED, 1, 65535, 0, 0);
    add(&s, 1, WEFT_EVENT_PAUSED, 1, 0, received, 0);
    add(&s, 2, WEFT_EVENT_PAUSED, 3, 0, 0, 0);
    uint32_t xoff = add(&s, 3, WEFT_EVENT_XOFF, 2, 5, 0, 0); // of a NIC: its host is slow
    uint32_t sent = add(&s, 3, WEFT_EVENT_PAUSE_SENT, 2, 65535, xoff, 0);
    received = add(&s, 4, WEFT_EVENT_PAUSE_RECEIVED, 5, 65535, sent, 0);
    add(&s, 4, WEFT_EVENT_PAUSED, 5, 0, received, 0);
    const struct weft_pause *p = weft_pauses_list(s.event, s.n, PORTS, *state, &n);
    assert_int_equal(n, 3);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(p[i].by, WEFT_NONE);
        assert_int_equal(p[i].parent, WEFT_NONE);
        assert_int_equal(p[i].root, 0);
    }
    assert_int_equal(p[2].root, xoff);
    assert_int_equal(p[2].by, 2);
    const struct weft_story *root = weft_story_new(s.event, s.n, PORTS, FLOWS, NULL, *state);
    uint32_t nodes = 0;
    for (const struct weft_story *c = root->child; c; c = c->next)
        nodes += c->kind == WEFT_STORY_PAUSE && c->times == 1;
    assert_int_equal(nodes, 3);
}

static void the_story_of_a_cascade(void **state) {
    uint32_t ids[3];
    struct story s = cascade(ids);
    const struct weft_story *root = weft_story_new(s.event, s.n, PORTS, FLOWS, NULL, *state);
    const struct weft_story *queue = root->child;
    assert_non_null(queue);
    assert_null(queue->next);
    assert_int_equal(queue->kind, WEFT_STORY_QUEUE);
    assert_int_equal(queue->port, 7);
    assert_int_equal(queue->congested, 1);
    const struct weft_story *p = queue->child;
    static const uint32_t port[] = {6, 4, 2}, paused[] = {5, 3, 1};
    for (uint32_t i = 0; i < 3; i++, p = p->child) {
        assert_non_null(p);
        assert_null(p->next);
        assert_int_equal(p->kind, WEFT_STORY_PAUSE);
        assert_int_equal(p->port, port[i]);
        assert_int_equal(p->paused, paused[i]);
        assert_int_equal(p->times, 1);
        assert_int_equal(p->over, i < 2);
        assert_int_equal(p->count, i ? 1 : 2);
        assert_int_equal(p->total_ps, i < 2 ? 39 * US : 0);
        assert_int_equal(p->bytes_max, 700000 + 10 * (i + 1));
    }
    assert_null(p);
}

static void pauses_that_repeat_are_summed_up(void **state) {
    struct story s = {.n = 0};
    uint32_t sent, root = add(&s, 1, WEFT_EVENT_CONGESTED, 7, 900000, 0, 0);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t pause = pause_at(&s, 10 * i + 1, 6, 5, root, &sent);
        add(&s, 10 * i + 4, WEFT_EVENT_RESUMED, 5, (i + 1) * US, 0, pause);
    }
    const struct weft_story *p = weft_story_new(s.event, s.n, PORTS, FLOWS, NULL, *state)->child->child;
    assert_null(p->next);
    assert_int_equal(p->times, 5);
    assert_int_equal(p->over, 5);
    assert_int_equal(p->total_ps, 15 * US);
    assert_int_equal(p->longest_ps, 5 * US);
    assert_int_equal(p->from_ps, US);
    assert_int_equal(p->until_ps, 44 * US);
}

// Three switches in a ring, each full because of the next: the story does not go round for ever.
static void a_cycle_is_folded(void **state) {
    struct story s = {.n = 0};
    uint32_t sent, cause = add(&s, 1, WEFT_EVENT_CONGESTED, 7, 900000, 0, 0);
    for (uint32_t i = 0; i < 12; i++)
        cause = pause_at(&s, 10 * (i + 1), 2 * (i % 3), 2 * (i % 3) + 1, cause, &sent);
    const struct weft_story *p = weft_story_new(s.event, s.n, PORTS, FLOWS, NULL, *state)->child->child;
    uint32_t depth = 0, times = 0;
    for (; p; p = p->child, depth++) {
        assert_null(p->next);
        times += p->times;
    }
    assert_int_equal(depth, 3);
    assert_int_equal(times, 12);
}

static void marks_notifications_and_cuts_are_one_branch(void **state) {
    struct story s = {.n = 0};
    uint32_t above = add(&s, 1, WEFT_EVENT_QUEUE_ABOVE, 7, 60000, 0, 0);
    s.event[above - 1].more = 50000;
    uint32_t marking = add(&s, 2, WEFT_EVENT_MARKING_BEGAN, 7, 60000, above, 0);
    uint32_t marked = add(&s, 2, WEFT_EVENT_FLOW_MARKED, 7, 60000, marking, 0);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t cnp = add(&s, 3 + 10 * i, WEFT_EVENT_CNP_SENT, 0, 0, marked, 0);
        cnp = add(&s, 4 + 10 * i, WEFT_EVENT_CNP_RECEIVED, 1, 0, cnp, 0);
        uint32_t cut = add(&s, 4 + 10 * i, WEFT_EVENT_RATE_CUT, 1, 50u >> i, cnp, 0);
        s.event[cut - 1].more = 100u >> i;
    }
    add(&s, 50, WEFT_EVENT_RATE_RAISED, 1, 80, 0, 0);
    add(&s, 60, WEFT_EVENT_QUEUE_BELOW, 7, 40000, 0, above);
    add(&s, 55, WEFT_EVENT_MARKING_ENDED, 7, 17, 0, marking);
    for (uint32_t i = 2; i < s.n; i++)
        if (s.event[i].port < 2) s.event[i].flow = 2;
    const struct weft_story *queue = weft_story_new(s.event, s.n, PORTS, FLOWS, NULL, *state)->child;
    assert_null(queue->next);
    assert_int_equal(queue->kind, WEFT_STORY_QUEUE);
    assert_int_equal(queue->above_ps[WEFT_EVENT_MIN], US);
    assert_int_equal(queue->below_ps[WEFT_EVENT_MIN], 60 * US);
    assert_int_equal(queue->count, 17);
    assert_int_equal(queue->flows_marked, 1);
    const struct weft_story *rate = queue->child;
    assert_null(rate->next);
    assert_int_equal(rate->kind, WEFT_STORY_RATE);
    assert_int_equal(rate->flow, 2);
    assert_int_equal(rate->count, 3);
    assert_int_equal(rate->times, 3);
    assert_int_equal(rate->rate_bps_before, 100);
    assert_int_equal(rate->rate_bps_min, 12);
    assert_int_equal(rate->rate_bps, 80);
}

static void what_is_not_kept_is_not_told(void **state) {
    uint32_t ids[3];
    struct story s = cascade(ids);
    bool keep[64] = {0};
    for (uint32_t id = ids[0]; id; id = s.event[id - 1].cause)
        keep[id - 1] = true;
    const struct weft_story *p = weft_story_new(s.event, s.n, PORTS, FLOWS, keep, *state)->child->child;
    assert_int_equal(p->times, 1);
    assert_null(p->child);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_cascade_is_a_chain_of_pauses, setup, teardown),
        cmocka_unit_test_setup_teardown(causes_that_are_not_recorded_end_the_chain, setup, teardown),
        cmocka_unit_test_setup_teardown(the_story_of_a_cascade, setup, teardown),
        cmocka_unit_test_setup_teardown(pauses_that_repeat_are_summed_up, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cycle_is_folded, setup, teardown),
        cmocka_unit_test_setup_teardown(marks_notifications_and_cuts_are_one_branch, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_kept_is_not_told, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
