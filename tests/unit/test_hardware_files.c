// SPDX-License-Identifier: Apache-2.0
// What every class of hardware/ promises beyond what the reader checks: a band that holds its typical value, a source
// that fits its basis and is public, and the constants that others compute with.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "weft/hardware.h"
#include "weft/memory.h"

static void each(void (*check)(const struct weft_hardware *)) {
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    for (uint32_t i = 0; i < weft_hardware_count(); i++)
        check(weft_hardware_at(i, arena));
    weft_arena_free(arena);
}

static void check_bands(const struct weft_hardware *h) {
    for (uint32_t i = 0; i < h->n; i++) {
        const struct weft_hardware_value *v = &h->value[i];
        if (v->low_number > v->number || v->high_number < v->number)
            fail_msg("%s, %s: %s is not within %s and %s", h->name, v->key, v->typical, v->low, v->high);
    }
}
static void typical_is_in_the_band(void **state) {
    each(check_bands);
}

/// An assumed value says so, and only that; a source is not a note of whoever collected it.
static void check_sources(const struct weft_hardware *h) {
    static const char *const closed[] = {"facts", "shared/", "issue ", "audit"};
    for (uint32_t i = 0; i < h->n; i++) {
        const struct weft_hardware_value *v = &h->value[i];
        bool says = !strncmp(v->source, "assumed", 7);
        if (says != (v->basis == WEFT_BASIS_ASSUMED))
            fail_msg("%s, %s: basis %s, source \"%s\"", h->name, v->key, weft_hardware_bases[v->basis], v->source);
        for (size_t c = 0; c < sizeof closed / sizeof *closed; c++)
            if (strstr(v->source, closed[c])) fail_msg("%s, %s: \"%s\" is not public", h->name, v->key, v->source);
    }
}
static void sources_fit_their_basis(void **state) {
    each(check_sources);
}

static void check_needed(const struct weft_hardware *h) {
    static const struct {
        uint32_t kind;
        const char *key, *needs;
    } need[] = {{WEFT_HARDWARE_CHIP, "processing", "forwarding"},
                {WEFT_HARDWARE_CHIP, "cell", "small_packet"},
                {WEFT_HARDWARE_CHIP, "pipeline", "mac_phy"},
                {WEFT_HARDWARE_CHIP, "port_rate", "rate"},
                {WEFT_HARDWARE_NIC, NULL, "rate"},
                {WEFT_HARDWARE_SERVER, NULL, "gpus"},
                {WEFT_HARDWARE_SERVER, NULL, "nics"},
                {WEFT_HARDWARE_SERVER, NULL, "rate"},
                {WEFT_HARDWARE_CABLE, NULL, "delay_per_metre"},
                {WEFT_HARDWARE_CABLE, NULL, "length_max"}};
    for (size_t i = 0; i < sizeof need / sizeof *need; i++) {
        bool product = strncmp(h->name, "typical_", strlen("typical_")) != 0;
        bool asked = product && h->kind == need[i].kind && (!need[i].key || weft_hardware_value(h, need[i].key));
        if (asked && !weft_hardware_value(h, need[i].needs)) fail_msg("%s has no %s", h->name, need[i].needs);
    }
}
static void what_others_compute_with_is_there(void **state) {
    each(check_needed);
}

/// The typical classes stand for these products: what both say is the same.
static void typical_is_of_a_product(void **state) {
    static const struct {
        uint32_t kind;
        const char *typical, *product;
    } pair[] = {{WEFT_HARDWARE_CHIP, "typical_switch", "tomahawk5"}, {WEFT_HARDWARE_NIC, "typical_nic", "connectx7"}};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        const struct weft_hardware *typical, *product;
        uint32_t same = 0;
        assert_int_equal(weft_hardware_find(pair[i].kind, pair[i].typical, WEFT_NOWHERE, "", arena, &typical, NULL), 0);
        assert_int_equal(weft_hardware_find(pair[i].kind, pair[i].product, WEFT_NOWHERE, "", arena, &product, NULL), 0);
        for (uint32_t v = 0; v < typical->n; v++) {
            const struct weft_hardware_value *a = &typical->value[v], *b = weft_hardware_value(product, a->key);
            if (b && strcmp(a->typical, b->typical) != 0)
                fail_msg("%s of %s is %s, of %s %s", a->key, typical->name, a->typical, product->name, b->typical);
            same += b != NULL;
        }
        assert_true(same > 1);
    }
    weft_arena_free(arena);
}

/// A PHY for each rate of links that is in use (802.3), and one class of each kind.
static void kinds_and_rates(void **state) {
    static const uint32_t gbps[] = {25, 100, 200, 400, 800};
    uint32_t of_kind[WEFT_HARDWARE_KINDS] = {0};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    for (uint32_t i = 0; i < weft_hardware_count(); i++)
        of_kind[weft_hardware_at(i, arena)->kind]++;
    for (uint32_t k = 0; k < WEFT_HARDWARE_KINDS; k++)
        assert_true(of_kind[k] > 0);
    for (size_t i = 0; i < sizeof gbps / sizeof *gbps; i++) {
        const struct weft_hardware *phy;
        const char *name = weft_arena_format(arena, "phy_%ug", gbps[i]);
        assert_int_equal(weft_hardware_find(WEFT_HARDWARE_PHY, name, WEFT_NOWHERE, "phy", arena, &phy, NULL), WEFT_OK);
        assert_true(weft_hardware_number(phy, "rate", 0) == gbps[i] * 1e9);
        assert_true(weft_hardware_number(phy, "fec_delay", 0) > weft_hardware_number(phy, "fec_jitter", NAN));
    }
    weft_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typical_is_in_the_band),
        cmocka_unit_test(sources_fit_their_basis),
        cmocka_unit_test(what_others_compute_with_is_there),
        cmocka_unit_test(typical_is_of_a_product),
        cmocka_unit_test(kinds_and_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
