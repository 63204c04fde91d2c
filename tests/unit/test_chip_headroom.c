// SPDX-License-Identifier: Apache-2.0
// Headroom by the constants of a chip's class against the Xoff that devices ship with (sonic-net/sonic-buildimage,
// pg_profile_lookup.ini of each device): NVIDIA's by SONiC's own formula, to the byte or to a KiB. Broadcom's formula
// is not public: the class of Tomahawk 5 has its slope by metre and what remains at 400G, so lengths of cable at 400G
// are the test, and other rates must lie within the class's band.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "weft/hardware.h"
#include "weft/memory.h"
#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/plan.h"
#include "weft/sonic.h"

#define GBPS(n) ((n)*UINT64_C(1000000000))
enum { KIB = 1024, LENGTHS = 3 };
static const uint32_t metres[LENGTHS] = {5, 40, 300};

struct row {
    uint32_t gbps;
    weft_bytes xoff[LENGTHS]; ///< as shipped, by length of cable
};

static struct weft_plan_pfc_conf conf_of(const struct weft_hardware *chip, uint32_t gbps, weft_time_ps delay,
                                         struct weft_arena *arena) {
    struct weft_plan_pfc_conf conf = {0};
    for (uint32_t i = 0; i < weft_plan_pfc_table.n; i++) {
        const struct weft_param *row = &weft_plan_pfc_table.rows[i];
        if (row->dflt) assert_int_equal(weft_param_parse(row, row->dflt, WEFT_NOWHERE, &conf, arena, NULL), WEFT_OK);
    }
    conf.formula = WEFT_PLAN_SONIC;
    conf.rate_bps = GBPS(gbps);
    conf.delay_ps = delay;
    weft_plan_set_chip(chip, false, &conf);
    return conf;
}

static const struct weft_hardware *class_of(const char *name, struct weft_arena *arena) {
    const struct weft_hardware *chip = NULL;
    struct weft_error error = {0};
    if (weft_hardware_find(WEFT_HARDWARE_KINDS, name, WEFT_NOWHERE, "chip", arena, &chip, &error))
        fail_msg("%s", error.text);
    return chip;
}

static void nvidia_is_exact(void **state) {
    static const struct row sn5600[] = {{100, {113664, 126976, 225280}},
                                        {200, {131072, 157696, 355328}},
                                        {400, {231424, 283648, 677888}},
                                        {800, {257024, 362496, 1150976}}};
    static const struct row sn4700[] = {{100, {33792, 44032, 117760}}, {400, {38912, 77824, 373760}}};
    static const struct {
        const char *name;
        const struct row *row;
        uint32_t rows, exact;
    } chip[] = {{"spectrum4", sn5600, 4, 8}, {"spectrum3", sn4700, 2, 5}};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    for (size_t c = 0; c < sizeof chip / sizeof *chip; c++) {
        uint32_t exact = 0;
        for (uint32_t r = 0; r < chip[c].rows; r++)
            for (uint32_t m = 0; m < LENGTHS; m++) {
                const struct row *row = &chip[c].row[r];
                struct weft_plan_pfc_conf conf = conf_of(class_of(chip[c].name, arena), row->gbps,
                                                         weft_sonic_delay(metres[m] * UINT64_C(1000)), arena);
                weft_bytes need = weft_plan_calc_pfc(&conf).headroom_bytes;
                exact += need == row->xoff[m];
                if (need > row->xoff[m] || need + KIB < row->xoff[m])
                    fail_msg("%s, %uG, %um: %llu, shipped %llu", chip[c].name, row->gbps, metres[m],
                             (unsigned long long)need, (unsigned long long)row->xoff[m]);
            }
        assert_int_equal(exact, chip[c].exact);
    }
    weft_arena_free(arena);
}

/// Within a per cent; without the KiB to which the formula rounds up.
static bool is_near(weft_bytes need, weft_bytes shipped) {
    return need + KIB + shipped / 100 > shipped && need < shipped + KIB + shipped / 100;
}

static void broadcom_by_length(void **state) {
    static const struct {
        const char *name;
        uint32_t metres[LENGTHS];
        weft_bytes xoff[LENGTHS]; // at 400G
    } chip[] = {{"tomahawk5", {5, 40, 300}, {393192, 446024, 839216}},
                {"tomahawk4", {5, 40, 300}, {371348, 424434, 817372}},
                {"tomahawk3", {5, 40, 300}, {178562, 201930, 373888}},
                {"jericho2c", {300, 1000, 2000}, {315392, 778240, 1445888}}};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    for (size_t c = 0; c < sizeof chip / sizeof *chip; c++)
        for (uint32_t m = 0; m < LENGTHS; m++) {
            struct weft_plan_pfc_conf conf =
                conf_of(class_of(chip[c].name, arena), 400, chip[c].metres[m] * 5 * WEFT_PS_PER_NS, arena);
            weft_bytes need = weft_plan_calc_pfc(&conf).headroom_bytes;
            if (!is_near(need, chip[c].xoff[m]))
                fail_msg("%s, %um: %llu, shipped %llu", chip[c].name, chip[c].metres[m], (unsigned long long)need,
                         (unsigned long long)chip[c].xoff[m]);
        }
    weft_arena_free(arena);
}

static void tomahawk5_by_rate(void **state) {
    static const struct row z9864f[] = {{100, {147066, 160274, 258572}}, {800, {729488, 835406, 1621536}}};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    const struct weft_hardware *chip = class_of("tomahawk5", arena);
    const struct weft_hardware_value *reaction = weft_hardware_value(chip, "reaction");
    for (size_t r = 0; r < sizeof z9864f / sizeof *z9864f; r++)
        for (uint32_t m = 0; m < LENGTHS; m++) {
            struct weft_plan_pfc_conf conf = conf_of(chip, z9864f[r].gbps, metres[m] * 5 * WEFT_PS_PER_NS, arena);
            weft_bytes least, most, shipped = z9864f[r].xoff[m];
            conf.tile_ps = (weft_time_ps)reaction->low_number;
            least = weft_plan_calc_pfc(&conf).headroom_bytes;
            conf.tile_ps = (weft_time_ps)reaction->high_number;
            most = weft_plan_calc_pfc(&conf).headroom_bytes;
            assert_true(least < shipped + KIB + shipped / 100 && most + KIB + shipped / 100 > shipped);
        }
    // A judge takes the low end, so that no shipped table is called too small.
    struct weft_plan_pfc_conf judged = conf_of(chip, 800, 25 * WEFT_PS_PER_NS, arena);
    weft_plan_set_chip(chip, true, &judged);
    assert_int_equal(judged.tile_ps, (weft_time_ps)reaction->low_number);
    assert_true(weft_plan_calc_pfc(&judged).headroom_bytes < z9864f[1].xoff[0]);
    weft_arena_free(arena);
}

static void platforms_name_chips(void **state) {
    static const struct {
        const char *platform, *hwsku, *chip;
        bool nvidia;
    } known[] = {{"x86_64-mlnx_msn2700-r0", "", "spectrum1", true},
                 {"x86_64-mlnx_msn3700-r0", "", "spectrum2", true},
                 {"x86_64-mlnx_msn3800-r0", "", "spectrum2_gearbox", true},
                 {"x86_64-nvidia_sn5600-r0", "", "spectrum4", true},
                 {"x86_64-nvidia_sn5640-r0", "", "spectrum5", true},
                 {"", "Mellanox-SN5600-V256", "spectrum4", true},
                 {"x86_64-arista_7060x6_64pe", "", "tomahawk5", false},
                 {"x86_64-dellemc_z9332f_d1508-r0", "", "tomahawk3", false},
                 {"x86_64-dell_s6100_c2538-r0", "", "tomahawk1", false},
                 {"x86_64-nvidia_unheard-r0", "", NULL, true},
                 {"x86_64-kvm_x86_64-r0", "", NULL, false}};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct weft_hardware *chip;
        assert_int_equal(weft_sonic_chip_find(known[i].platform, known[i].hwsku, arena, &chip), known[i].nvidia);
        if (known[i].chip)
            assert_string_equal(chip ? chip->name : "none", known[i].chip);
        else
            assert_null(chip);
    }
    weft_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvidia_is_exact),
        cmocka_unit_test(broadcom_by_length),
        cmocka_unit_test(tomahawk5_by_rate),
        cmocka_unit_test(platforms_name_chips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
