// SPDX-License-Identifier: Apache-2.0
// Which exit a flow leaves its fabric by before and after one of sixteen is lost, by hash over those that are left and
// by resilient hashing. With the hash as index x n / 2^32 (RFC 2992, hash-threshold) and then over n - 1, a flow of
// exit i keeps it with probability (n - 1 - i) / (n - 1) if it is before the lost one, and i / (n - 1) if after: a
// quarter to a half of all move.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "box/dsf/dsf_outside.h"
#include "models.h"

enum { EXITS = 16, LOST = 5, FLOWS = 16384, EDSW_LINKS = 4, LATER_PS = 1000 };

struct fabric {
    struct weft__outside o;
    struct weft__outside_exit exit[2 * EXITS - 1];
    struct weft_exit_set set[2];
    struct weft__outside_epoch epoch[2];
    struct weft__outside_view view;
    uint16_t index[EXITS];
    uint32_t class_of_host[1], fabric_of_host[1];
    void *conf;
};

static void fabric_init(struct fabric *f, bool resilient) {
    const struct weft_model *model = model_of(WEFT_KIND_ROUTE, "ecmp");
    *f = (struct fabric){.set = {{0, EXITS}, {EXITS, EXITS - 1}}, .conf = conf_of(model, NULL)};
    uint32_t n = 0;
    for (uint32_t all = 2; all-- > 0;)
        for (uint32_t i = 0; i < EXITS; i++)
            if (all || i != LOST)
                f->exit[n++] = (struct weft__outside_exit){i / EDSW_LINKS, (uint16_t)(i % EDSW_LINKS)};
    for (uint16_t i = 0; i < EXITS; i++)
        f->index[i] = i;
    f->epoch[0] = (struct weft__outside_epoch){0, &f->set[0]};
    f->epoch[1] = (struct weft__outside_epoch){LATER_PS, &f->set[1]};
    f->view = (struct weft__outside_view){2, f->epoch};
    f->o = (struct weft__outside){
        .view = &f->view,
        .exit = f->exit,
        .class_of_host = f->class_of_host,
        .fabric_of_host = f->fabric_of_host,
        .index = f->index,
        .hash_seed = 7,
        .route = model->ops,
        .route_conf = f->conf,
        .resilient = resilient,
    };
}

static uint32_t exit_of(const struct fabric *f, weft_time_ps now, uint32_t flow) {
    struct weft_packet p = {.entropy = flow & 0x3fffu};
    struct weft__outside_exit exit;
    assert_true(weft__outside_exit(&f->o, now, &p, 0, &exit));
    return exit.in * EDSW_LINKS + exit.port;
}

/// Share of the flows of other exits that have another one afterwards; to[]: where those of the lost one go.
static double moved(bool resilient, uint32_t to[EXITS]) {
    struct fabric f;
    fabric_init(&f, resilient);
    uint32_t others = 0, moved = 0;
    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        uint32_t before = exit_of(&f, 0, flow), after = exit_of(&f, LATER_PS, flow);
        assert_int_not_equal(after, LOST);
        if (before == LOST) {
            to[after]++;
        } else {
            others++;
            moved += after != before;
        }
    }
    free(f.conf);
    return (double)moved / others;
}

static void by_hash_over_those_that_are_left_others_move(void **state) {
    double stay = 0;
    for (uint32_t i = 0; i < EXITS; i++)
        stay += i < LOST ? (EXITS - 1.0 - i) / (EXITS - 1) : i > LOST ? i / (EXITS - 1.0) : 0;
    uint32_t to[EXITS] = {0};
    double expected = 1 - stay / (EXITS - 1), got = moved(false, to);
    if (fabs(got - expected) > 3 * sqrt(expected * (1 - expected) / FLOWS))
        fail_msg("%.4f of the flows move, expected %.4f", got, expected);
}

static void by_resilient_hashing_none_do(void **state) {
    uint32_t to[EXITS] = {0}, sum = 0;
    assert_true(moved(true, to) == 0);
    for (uint32_t i = 0; i < EXITS; i++)
        sum += to[i];
    double expected = sum / (EXITS - 1.0); // those of the lost one go to all others alike
    for (uint32_t i = 0; i < EXITS; i++)
        if (i != LOST && fabs(to[i] - expected) > 4 * sqrt(expected))
            fail_msg("%u flows, expected %g", to[i], expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hash_over_those_that_are_left_others_move),
        cmocka_unit_test(by_resilient_hashing_none_do),
    };
    return cmocka_run_group_tests_name("outside", tests, NULL, NULL);
}
