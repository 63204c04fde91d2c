// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "weft/random.h"

static void exact(void **state) {
    (void)state;
    static const struct {
        enum weft__quantity quantity;
        const char *text;
        uint64_t value;
    } cases[] = {
        {WEFT__TIME, "1ps", 1},
        {WEFT__TIME, "2.5us", 2500000},
        {WEFT__TIME, "2.50000000000000000000000000000000000000000000us", 2500000},
        {WEFT__TIME, "0ns", 0},
        {WEFT__TIME, "0.000ps", 0},
        {WEFT__TIME, "150 ns", 150000},
        {WEFT__TIME, "0.000000000001s", 1},
        {WEFT__TIME, "18446744s", UINT64_C(18446744000000000000)},
        {WEFT__RATE, "200Gbps", UINT64_C(200000000000)},
        {WEFT__RATE, "106.25Gbps", UINT64_C(106250000000)},
        {WEFT__RATE, "3.2Tbps", UINT64_C(3200000000000)},
        {WEFT__RATE, "400G", UINT64_C(400000000000)},
        {WEFT__RATE, "400g", UINT64_C(400000000000)},
        {WEFT__RATE, "1.6T", UINT64_C(1600000000000)},
        {WEFT__RATE, "1.6t", UINT64_C(1600000000000)},
        {WEFT__RATE, "400Gb/s", UINT64_C(400000000000)},
        {WEFT__RATE, "400 Gbit/s", UINT64_C(400000000000)},
        {WEFT__RATE, "400gbps", UINT64_C(400000000000)},
        {WEFT__RATE, "100GbE", UINT64_C(100000000000)},
        {WEFT__RATE, "25Gb", UINT64_C(25000000000)},
        {WEFT__RATE, "100M", 100000000},
        {WEFT__RATE, "100m", 100000000},
        {WEFT__RATE, "64k", 64000},
        {WEFT__RATE, "64Kbps", 64000},
        {WEFT__RATE, "5b/s", 5},
        {WEFT__TIME, "5usec", 5000000},
        {WEFT__TIME, "5\xc2\xb5s", 5000000},
        {WEFT__BYTES, "64kB", 64000},
        {WEFT__BYTES, "4096B", 4096},
        {WEFT__BYTES, "200KB", 200000},
        {WEFT__BYTES, "2MiB", 2097152},
        {WEFT__BYTES, "0.5KiB", 512},
        {WEFT__BYTES, "0.0009765625KiB", 1},
        {WEFT__COUNT, "18446744073709551614", UINT64_MAX - 1},
        {WEFT__COUNT, "007", 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 12345;
        char why[256] = "";
        if (!weft__quantity_parse(cases[i].quantity, cases[i].text, &value, why, sizeof why))
            fail_msg("%s: %s", cases[i].text, why);
        assert_int_equal(value, cases[i].value);
    }
}

static void wrong(void **state) {
    (void)state;
    static const struct {
        enum weft__quantity quantity;
        const char *text, *why;
    } cases[] = {
        {WEFT__TIME, "150", "\"150\" has no unit; expected a time such as \"150ns\""},
        {WEFT__TIME, "0", "\"0\" has no unit; expected a time such as \"150ns\""},
        {WEFT__TIME, "0.3ps", "\"0.3ps\" is not a whole number of picoseconds"},
        {WEFT__TIME, "1.0001ns", "\"1.0001ns\" is not a whole number of picoseconds"},
        {WEFT__TIME, "-5ns", "\"-5ns\" is negative; expected a time such as \"150ns\""},
        {WEFT__TIME, "18446745s", "\"18446745s\" is too large"},
        {WEFT__TIME, "18446744073709551615ps", "is too large"},
        {WEFT__TIME, "99999999999999999999999999999999999999999999999999s", "is too large"},
        {WEFT__TIME, "1e3ns", "\"e3ns\" is not a unit (ps, ns, us, ms, s)"},
        {WEFT__TIME, "5NS", "\"NS\" is not a unit"},
        {WEFT__TIME, "ns", "\"ns\": expected a time"},
        {WEFT__TIME, "", "\"\": expected a time"},
        {WEFT__TIME, "soon", "\"soon\": expected a time"},
        {WEFT__TIME, "5.ns", "\".ns\" is not a unit"},
        {WEFT__TIME, "1.2.3ns", "\".3ns\" is not a unit"},
        {WEFT__RATE, "50GB/s", "\"GB/s\" is not a unit (bps, kbps, Mbps, Gbps, Tbps, or k, M, G, T)"}, // bytes
        {WEFT__RATE, "50GBps", "\"GBps\" is not a unit"},
        {WEFT__RATE, "50B", "\"B\" is not a unit"},
        {WEFT__RATE, "50Gs", "\"Gs\" is not a unit"},
        {WEFT__RATE, "50GG", "\"GG\" is not a unit"},
        {WEFT__RATE, "400 ", "has no unit"},
        {WEFT__BYTES, "64K", "\"K\" may be 1000 or 1024; expected KB or KiB"},
        {WEFT__BYTES, "64k", "\"k\" may be 1000 or 1024; expected KB or KiB"},
        {WEFT__BYTES, "4G", "\"G\" may be 1000 or 1024; expected GB or GiB"},
        {WEFT__BYTES, "4Gb", "\"Gb\" is not a unit"},
        {WEFT__TIME, "5m", "\"m\" is not a unit"},
        {WEFT__RATE, "200", "\"200\" has no unit; expected a rate such as \"200Gbps\""},
        {WEFT__BYTES, "4096", "\"4096\" has no unit; expected a size such as \"4096B\" or \"200KB\""},
        {WEFT__BYTES, "0.5B", "is not a whole number of bytes"},
        {WEFT__BYTES, "20000000TB", "is too large"},
        {WEFT__COUNT, "5ns", "\"ns\" is not a unit"},
        {WEFT__COUNT, "5.5", "is not a whole number"},
        {WEFT__COUNT, "-1", "is negative"},
        {WEFT__COUNT, "0x10", "\"x10\" is not a unit"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value;
        char why[256] = "";
        if (weft__quantity_parse(cases[i].quantity, cases[i].text, &value, why, sizeof why))
            fail_msg("%s was read as %" PRIu64, cases[i].text, value);
        if (!strstr(why, cases[i].why)) fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].text, why, cases[i].why);
    }
}

/// Any value reads back unchanged, and round values look round.
static void formats_read_back(void **state) {
    (void)state;
    static const struct {
        enum weft__quantity quantity;
        uint64_t value;
        const char *text;
    } cases[] = {
        {WEFT__TIME, 0, "0ns"},
        {WEFT__TIME, 2500000, "2.5us"},
        {WEFT__TIME, 16777216000, "16.777216ms"},
        {WEFT__TIME, 1, "1ps"},
        {WEFT__RATE, UINT64_C(106250000000), "106.25Gbps"},
        {WEFT__RATE, 0, "0bps"},
        {WEFT__BYTES, 4096, "4KiB"},
        {WEFT__BYTES, 4178, "4178B"},
        {WEFT__BYTES, 400000, "400KB"},
        {WEFT__BYTES, 1000000, "1MB"},
        {WEFT__BYTES, 1048576, "1MiB"},
        {WEFT__COUNT, 65535, "65535"},
    };
    char text[64], why[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weft__quantity_format(cases[i].quantity, cases[i].value, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
    struct weft_random random = weft_random_stream(1, 1, WEFT_RANDOM_TEST);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t value = weft_random_u64(&random) >> weft_random_below(&random, 64), back = 0;
        if (value == UINT64_MAX) continue;
        enum weft__quantity quantity = (enum weft__quantity)(i % 4);
        weft__quantity_format(quantity, value, text, sizeof text);
        if (!weft__quantity_parse(quantity, text, &back, why, sizeof why)) fail_msg("%s", why);
        assert_int_equal(back, value);
    }
}

static void reals(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"1/256", 1.0 / 256}, {"1%", 0.01},   {"0.5", 0.5}, {"1e-12", 1e-12}, {".25", 0.25},
                 {"-1.5", -1.5},       {"100", 100.0}, {"5/2", 2.5}, {"0", 0.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 77, back = 78;
        assert_true(weft__real_parse(cases[i].text, &value));
        assert_memory_equal(&value, &cases[i].value, sizeof value);
        char text[64];
        weft__real_format(value, text, sizeof text);
        assert_true(weft__real_parse(text, &back));
        assert_memory_equal(&value, &back, sizeof value);
    }
    static const char *const bad[] = {"",   "x",   "nan", "inf", "0x1p3", "1/0", "1/",
                                      "/2", "1%%", "1 %", "1,5", "1e999", "5ns"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value;
        if (weft__real_parse(bad[i], &value)) fail_msg("\"%s\" was read as %g", bad[i], value);
    }
}

static void for_people(void **state) {
    (void)state;
    static const struct {
        int (*format)(uint64_t value, char *text, size_t size);
        uint64_t value;
        const char *text;
    } cases[] = {
        {weft_format_time, 12800000, "12.8us"},
        {weft_format_time, 12345678, "12.3us"},
        {weft_format_time, 999600000, "999.6us"},
        {weft_format_time, 999999999, "1ms"},
        {weft_format_time, 0, "0ns"},
        {weft_format_time, 150000, "150ns"},
        {weft_format_time, WEFT_TIME_NEVER, "never"},
        {weft_format_time, WEFT_TIME_NEVER - 1, "18400000s"},
        {weft_format_bytes, 1048576, "1.05MB"},
        {weft_format_bytes, 4096, "4096B"},
        {weft_format_bytes, 0, "0B"},
        {weft_format_bytes, 65536, "65.536KB"},
        {weft_format_rate, UINT64_C(200000000000), "200Gbps"},
        {weft_format_rate, UINT64_C(106250000000), "106.25Gbps"},
        {weft_format_rate, UINT64_C(196012345678), "196Gbps"},
        {weft_format_rate, 0, "0bps"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        cases[i].format(cases[i].value, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

/// Numbers of foreign files: with the unit of their column, and nothing rounded that is indivisible.
static void of_programs(void **state) {
    (void)state;
    static const struct {
        enum weft__quantity quantity;
        const char *unit, *text;
        uint64_t value;
        const char *why; ///< NULL: it is read
    } cases[] = {
        {WEFT__BYTES, "B", "1500", 1500, NULL},
        {WEFT__BYTES, "KB", "1.5", 1500, NULL},
        {WEFT__BYTES, "B", "1.5e3", 1500, NULL},
        {WEFT__BYTES, "B", "15.0", 15, NULL},
        {WEFT__BYTES, "B", "1.5", 0, "\"1.5B\" is not a whole number of bytes"},
        {WEFT__BYTES, "KB", "0.0015", 0, "\"0.0015KB\" is not a whole number of bytes"},
        {WEFT__BYTES, "B", "15e-1", 0, "\"15e-1\" is not a whole number of bytes"},
        {WEFT__COUNT, "", "2.5", 0, "\"2.5\" is not a whole number"},
        {WEFT__COUNT, "", "2e1", 20, NULL},
        {WEFT__TIME, "s", "1e-06", 1000000, NULL},
        {WEFT__TIME, "ps", "0.7", 0, NULL},
        {WEFT__TIME, "us", "0.0000015", 1, NULL},
        {WEFT__RATE, "bps", "50Mb/s", 50000000, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 0;
        char why[160] = "";
        bool ok = weft__number_parse(cases[i].quantity, cases[i].unit, cases[i].text, &value, why, sizeof why);
        if (ok != !cases[i].why) fail_msg("%s: %s", cases[i].text, ok ? "was read" : why);
        if (ok) assert_int_equal(value, cases[i].value);
        if (!ok) assert_string_equal(why, cases[i].why);
    }
}

static void counts_with_nouns(void **state) {
    (void)state;
    static const struct {
        uint64_t n;
        const char *noun, *text;
    } cases[] = {{1, "flow", "1 flow"},       {2, "flow", "2 flows"},
                 {0, "host", "0 hosts"},      {1, "switch", "1 switch"},
                 {3, "switch", "3 switches"}, {2, "entry", "2 entries"},
                 {2, "day", "2 days"},        {2, "class", "2 classes"},
                 {1, "class", "1 class"},     {2, "fabric link", "2 fabric links"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(weft__counted(cases[i].n, cases[i].noun).text, cases[i].text);
    assert_string_equal(weft__noun(2, "box").text, "boxes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact),
        cmocka_unit_test(wrong),
        cmocka_unit_test(formats_read_back),
        cmocka_unit_test(reals),
        cmocka_unit_test(for_people),
        cmocka_unit_test(of_programs),
        cmocka_unit_test(counts_with_nouns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
