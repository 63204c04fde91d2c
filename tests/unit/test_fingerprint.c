// SPDX-License-Identifier: Apache-2.0
// The state of a port as a fingerprint: of two ports that would go on differently it differs, and nothing else shows in
// it, neither what is past nor how late it is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "link/fingerprint.h"
#include "link/port.h"

enum { NOW = 1000000, STATES_MAX = 800 };

struct state {
    struct weft__port port;
    struct weft__port_queue queue[WEFT_PRIORITIES];
    struct weft__port_pause pause[WEFT_PRIORITIES];
    weft_time_ps proxy_until_ps[WEFT_PRIORITIES];
};

static struct {
    uint64_t all[STATES_MAX][2];
    unsigned n;
} seen;

static void fingerprint(struct state *s, weft_time_ps now, uint64_t ret[2]) {
    struct weft__fingerprint fingerprint = {.now_ps = now};
    weft__port_place(&s->port, &(struct weft__port_rows){.queue = s->queue, .pause = s->pause, .ports = 1}, 0);
    weft__port_fingerprint(&s->port, &fingerprint);
    memcpy(ret, fingerprint.all, sizeof fingerprint.all);
}

/// Of each state so far by both of its halves.
static void assert_new(struct state *s) {
    uint64_t *mine = seen.all[seen.n];
    assert_true(seen.n < STATES_MAX);
    fingerprint(s, NOW, mine);
    for (unsigned i = 0; i < seen.n; i++)
        if (seen.all[i][0] == mine[0] || seen.all[i][1] == mine[1]) fail_msg("state %u is as state %u", seen.n, i);
    seen.n++;
}

static void assert_same(struct state *a, struct state *b, weft_time_ps later) {
    uint64_t one[2], other[2];
    fingerprint(a, NOW, one);
    fingerprint(b, NOW + later, other);
    assert_memory_equal(one, other, sizeof one);
}

/// Priority 2 is paused and 5 in a storm; a frame is under way. `more`: priorities of which everything holds.
static struct state make_with(uint8_t more, weft_time_ps later) {
    struct state s;
    memset(&s, 0, sizeof s);
    s.port.pfc_xoff = s.port.pfc_told = s.port.lossless = s.port.ready = s.port.obeyed = more;
    s.port.busy_until_ps = NOW + 500 + later;
    s.port.paused = more | 1 << 2;
    s.port.storm = more | 1 << 5;
    s.pause[2].until_ps = NOW + 900 + later;
    s.pause[2].since_ps = NOW - 700 + later;
    s.pause[5].last_ps = NOW - 300 + later;
    return s;
}

static struct state make(weft_time_ps later) {
    return make_with(0, later);
}

static void try_all(uint8_t more) {
    struct state s = make_with(more, 0);
    assert_new(&s);
#define EACH_BIT(bits, field)                                                                                          \
    for (unsigned k = 0; k < (bits); k++) {                                                                            \
        s = make_with(more, 0);                                                                                        \
        s.field ^= 1u << k;                                                                                            \
        assert_new(&s);                                                                                                \
    }
    EACH_BIT(9, port.pending)
    EACH_BIT(8, port.paused)
    EACH_BIT(8, port.pfc_xoff)
    EACH_BIT(8, port.pfc_told)
    EACH_BIT(8, port.storm)
    EACH_BIT(8, port.lossless)
    EACH_BIT(8, port.ready)
    EACH_BIT(8, port.obeyed)
    EACH_BIT(8, port.waiting)
    EACH_BIT(8, port.byte_rem)
    EACH_BIT(8, port.busy_until_ps)
    EACH_BIT(8, pause[2].until_ps)
    EACH_BIT(8, pause[2].since_ps)
    EACH_BIT(8, pause[5].last_ps)
    EACH_BIT(3, port.scheduler.turn)
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
        EACH_BIT(8, queue[p].bytes)
        EACH_BIT(8, queue[p].group.level)
        for (int credit = -2; credit <= 2; credit++) {
            s = make_with(more, 0);
            s.port.scheduler.credit[p] = credit;
            if (credit) assert_new(&s);
        }
    }
#undef EACH_BIT
}

static void what_goes_on_differently_differs(void **state) {
    try_all(0);
    try_all(0xff);
}

static void what_is_past_does_not_show(void **state) {
    struct state a = make(0), b = make(0);
    b.pause[3].until_ps = NOW + 100; // of priorities that are not paused
    b.pause[3].since_ps = NOW - 100;
    b.pause[4].last_ps = NOW - 100;
    assert_same(&a, &b, 0);
    a.port.busy_until_ps = NOW;
    b.port.busy_until_ps = NOW - 400;
    b.port.byte_rem = 7; // no frame follows at once
    assert_same(&a, &b, 0);
    a.port.byte_rem = 9;
    assert_same(&a, &b, 0);
}

static void how_late_it_is_does_not_show(void **state) {
    for (weft_time_ps later = 1; later < WEFT_PS_PER_S; later *= 7) {
        struct state a = make(0), b = make(later);
        assert_same(&a, &b, later);
        a.port.proxy_until_ps = a.proxy_until_ps;
        b.port.proxy_until_ps = b.proxy_until_ps;
        a.proxy_until_ps[1] = NOW + 50;
        b.proxy_until_ps[1] = NOW + 50 + later;
        a.proxy_until_ps[6] = b.proxy_until_ps[6] = WEFT_TIME_NEVER;
        assert_same(&a, &b, later);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_on_differently_differs),
        cmocka_unit_test(what_is_past_does_not_show),
        cmocka_unit_test(how_late_it_is_does_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
