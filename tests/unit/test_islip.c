// SPDX-License-Identifier: Apache-2.0
// iSLIP step by step, against the rules of McKeown 1999, section III, applied by hand. Pointers start at 0.
#include "models.h"

#include "weft/arbiter.h"

enum { NONE = WEFT_ARBITER_NONE };

struct islip {
    const struct weft_arbiter_ops *ops;
    void *conf, *state;
    uint32_t ports;
};

static struct islip islip_new(const char *yaml, uint32_t ports) {
    const struct weft_model *model = model_of(WEFT_KIND_ARBITER, "islip");
    struct islip s = {.ops = model->ops, .conf = conf_of(model, yaml), .ports = ports};
    s.state = calloc(1, s.ops->state_size(s.conf, ports));
    s.ops->init(s.state, s.conf, ports);
    return s;
}

static void islip_free(struct islip *s) {
    free(s->conf);
    free(s->state);
}

/// requests[o]: set of inputs; expected[o]: input.
static void assert_match(struct islip *s, const uint64_t *requests, const uint16_t *expected) {
    uint64_t outputs = 0;
    uint16_t found[4] = {NONE, NONE, NONE, NONE};
    for (uint32_t out = 0; out < s->ports; out++)
        if (requests[out]) outputs |= UINT64_C(1) << out;
    s->ops->match(s->state, s->conf, s->ports, &outputs, requests, found);
    for (uint32_t out = 0; out < s->ports; out++)
        assert_int_equal(found[out], expected[out]);
}

// Two inputs with something for both outputs. Slot 1: both outputs grant input 0, which accepts output 0: a loss. Then
// output 0 has moved on and output 1 has not: from slot 2 on every slot is full.
static void pointers_slip_apart(void **state) {
    struct islip s = islip_new("{iterations: 1}", 2);
    const uint64_t all[] = {3, 3};
    assert_match(&s, all, (uint16_t[]){0, NONE});
    assert_match(&s, all, (uint16_t[]){1, 0});
    assert_match(&s, all, (uint16_t[]){0, 1});
    assert_match(&s, all, (uint16_t[]){1, 0});
    islip_free(&s);
}

// The second iteration fills what the first left.
static void iterations_fill_the_match(void **state) {
    struct islip s = islip_new("{iterations: 2}", 2);
    const uint64_t all[] = {3, 3};
    assert_match(&s, all, (uint16_t[]){0, 1});
    islip_free(&s);
}

// Input 0 asks for outputs 0 and 1, inputs 1 and 2 for output 1. Slot 1: both outputs grant input 0, which accepts 0;
// in the second iteration output 1 grants input 1, which moves no pointer. So in slot 2 output 1 grants input 0 again,
// which accepts it (its pointer is at 1), and output 0 is left without. In slot 3 output 1 has moved to input 1.
static void only_the_first_iteration_moves_pointers(void **state) {
    struct islip s = islip_new("{iterations: 2}", 3);
    const uint64_t requests[] = {1, 7, 0};
    assert_match(&s, requests, (uint16_t[]){0, 1, NONE});
    assert_match(&s, requests, (uint16_t[]){NONE, 0, NONE});
    assert_match(&s, requests, (uint16_t[]){0, 1, NONE});
    assert_match(&s, requests, (uint16_t[]){0, 2, NONE});
    islip_free(&s);
}

// A grant that is not accepted moves no pointer: output 1 grants input 0 again.
static void only_accepted_grants_move_pointers(void **state) {
    struct islip s = islip_new("{iterations: 1}", 3);
    assert_match(&s, (const uint64_t[]){1, 7, 0}, (uint16_t[]){0, NONE, NONE});
    assert_match(&s, (const uint64_t[]){0, 7, 0}, (uint16_t[]){NONE, 0, NONE});
    assert_match(&s, (const uint64_t[]){0, 7, 0}, (uint16_t[]){NONE, 1, NONE});
    islip_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers_slip_apart),
        cmocka_unit_test(iterations_fill_the_match),
        cmocka_unit_test(only_the_first_iteration_moves_pointers),
        cmocka_unit_test(only_accepted_grants_move_pointers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
