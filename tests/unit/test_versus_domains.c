// SPDX-License-Identifier: Apache-2.0
// What may fail as a whole, and what is lost with it, in networks counted by hand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "topologies.h"
#include "weft/versus.h"

static const struct weft_versus_domain *find(const struct weft_versus_domain *domain, uint32_t n,
                                             enum weft_versus_domain_kind kind) {
    for (uint32_t i = 0; i < n; i++)
        if (domain[i].kind == kind) return &domain[i];
    return NULL;
}

static void check(const struct weft_versus_domain *d, uint32_t there, uint32_t hosts_cut, double capacity_lost) {
    assert_non_null(d);
    assert_int_equal(d->there, there);
    assert_int_equal(d->hosts_cut, hosts_cut);
    assert_int_equal(isnan(d->capacity_lost), isnan(capacity_lost));
    assert_false(fabs(d->capacity_lost - capacity_lost) > 1e-12);
}

/// 4 leaves with 3 hosts each, 2 spines: 8 links up, of which a spine has 4; each spine is a plane.
static void leaf_spine(void **state) {
    (void)state;
    struct built b = build_text("topology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 3}\n");
    uint32_t n;
    const struct weft_versus_domain *d = weft_versus_domains(b.t, b.arena, &n);
    assert_int_equal(n, 4);
    check(find(d, n, WEFT_VERSUS_LINK), 8, 0, 1.0 / 8);
    check(find(d, n, WEFT_VERSUS_SWITCH), 2, 0, 0.5);
    check(find(d, n, WEFT_VERSUS_PLANE), 2, 0, 0.5);
    check(find(d, n, WEFT_VERSUS_LEAF), 4, 3, 1.0 / 4);
    assert_string_equal(find(d, n, WEFT_VERSUS_LINK)->name, "leaf-0/3");
    assert_string_equal(find(d, n, WEFT_VERSUS_SWITCH)->links[0], "spine-0/*");
    weft_arena_free(b.arena);
}

/// One switch: only itself can fail, and then no host reaches another; there are no links between switches.
static void single(void **state) {
    (void)state;
    struct built b = build_text("topology: {kind: single, hosts: 5}\n");
    uint32_t n;
    const struct weft_versus_domain *d = weft_versus_domains(b.t, b.arena, &n);
    assert_int_equal(n, 1);
    check(find(d, n, WEFT_VERSUS_LEAF), 1, 5, NAN);
    weft_arena_free(b.arena);
}

/// The virtual devices of a fabric box are lost together, and so are the planes that they join.
static void scheduled(void **state) {
    (void)state;
    struct built b = build_text("topology: {kind: dsf_l1_zone}\n");
    uint32_t n, boxes = 0;
    assert_non_null(b.t);
    const struct weft_versus_domain *d = weft_versus_domains(b.t, b.arena, &n);
    const struct weft_versus_domain *box = find(d, n, WEFT_VERSUS_SWITCH);
    assert_non_null(box);
    for (uint32_t i = 0; i < b.t->nodes; i++)
        boxes += strstr(b.t->node[i].name, ".0") && b.t->node[i].box == WEFT_BOX_DSF_FABRIC;
    assert_int_equal(box->there, boxes);
    assert_int_equal(find(d, n, WEFT_VERSUS_PLANE)->there, boxes);
    check(box, boxes, 0, 1.0 / boxes);
    assert_true(box->n_links > 1);
    weft_arena_free(b.arena);
}

/// Equal networks with a port of each host in each: one of them is a plane, and cuts off nobody. Without links between
/// switches the capacity is that of the hosts' links.
static void equal_networks(void **state) {
    (void)state;
    struct built b = build_text("topology: {kind: planes, planes: 4, plane: {kind: single, hosts: 5}}\n");
    uint32_t n;
    const struct weft_versus_domain *d = weft_versus_domains(b.t, b.arena, &n);
    assert_int_equal(n, 2);
    check(find(d, n, WEFT_VERSUS_PLANE), 4, 0, 1.0 / 4);
    check(find(d, n, WEFT_VERSUS_LEAF), 4, 0, 1.0 / 4);
    weft_arena_free(b.arena);
    b = build_text("topology: {kind: planes, plane: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 3}}\n");
    d = weft_versus_domains(b.t, b.arena, &n);
    const struct weft_versus_domain *plane = find(d, n, WEFT_VERSUS_PLANE);
    check(plane, 2, 0, 0.5);
    assert_int_equal(plane->n_links, 12); // 20 links, each once: two leaves have all of theirs in one name
    check(find(d, n, WEFT_VERSUS_SWITCH), 4, 0, 0.25);
    weft_arena_free(b.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(leaf_spine), cmocka_unit_test(single),
                                       cmocka_unit_test(scheduled), cmocka_unit_test(equal_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
