// SPDX-License-Identifier: Apache-2.0
// The writer against an independent reader (jansson), and against text written by hand.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

struct sink {
    char *text;
    size_t size;
    struct weft__json j;
};

static void open_sink(struct sink *s) {
    *s = (struct sink){0};
    s->j.file = open_memstream(&s->text, &s->size);
    assert_non_null(s->j.file);
}

static void shape(void **state) {
    (void)state;
    struct sink s;
    open_sink(&s);
    weft__json_begin_object(&s.j);
    weft__json_key(&s.j, "empty");
    weft__json_begin_object(&s.j);
    weft__json_end_object(&s.j);
    weft__json_key(&s.j, "list");
    weft__json_begin_array(&s.j);
    weft__json_begin_array(&s.j);
    weft__json_end_array(&s.j);
    weft__json_u64(&s.j, UINT64_MAX);
    weft__json_bool(&s.j, true);
    weft__json_null(&s.j);
    weft__json_begin_object(&s.j);
    weft__json_key_bool(&s.j, "b", false);
    weft__json_end_object(&s.j);
    weft__json_end_array(&s.j);
    weft__json_key_string(&s.j, "none", NULL);
    weft__json_key_u64(&s.j, "last", 7);
    weft__json_end_object(&s.j);
    fclose(s.j.file);
    assert_string_equal(
        s.text, "{\"empty\":{},\"list\":[[],18446744073709551615,true,null,{\"b\":false}],\"none\":null,\"last\":7}");
    free(s.text);
}

static void strings_read_back(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain", "plain"},
        {"quote \" backslash \\ slash /", "quote \" backslash \\ slash /"},
        {"tab\tline\nbell\a\x7f\x01", "tab\tline\nbell\a\x7f\x01"},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d"},
        {"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd"},
        {"lone \x80 overlong \xc0\xaf surrogate \xed\xa0\x80",
         "lone \xef\xbf\xbd overlong \xef\xbf\xbd\xef\xbf\xbd surrogate \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf4\x90\x80\x80\xff", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sink s;
        open_sink(&s);
        weft__json_begin_object(&s.j);
        weft__json_key_string(&s.j, cases[i].in, cases[i].in);
        weft__json_end_object(&s.j);
        fclose(s.j.file);
        json_t *root = json_loads(s.text, 0, NULL);
        assert_non_null(root);
        assert_string_equal(json_string_value(json_object_get(root, cases[i].out)), cases[i].out);
        json_decref(root);
        free(s.text);
    }
}

static void reals_read_back(void **state) {
    (void)state;
    static const double values[] = {0, 1, -1.5, 0.1, 1.0 / 3, 1e300, 5e-324, 123456789012345680.0, 2.0 / 7 * 1e-9};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct sink s;
        open_sink(&s);
        weft__json_real(&s.j, values[i]);
        fclose(s.j.file);
        double back = strtod(s.text, NULL);
        assert_memory_equal(&back, &values[i], sizeof back);
        free(s.text);
    }
    struct sink s;
    open_sink(&s);
    weft__json_begin_array(&s.j);
    weft__json_real(&s.j, 1.0 / 0.0);
    weft__json_real(&s.j, 0.25);
    weft__json_end_array(&s.j);
    fclose(s.j.file);
    assert_string_equal(s.text, "[null,0.25]");
    free(s.text);
}

/// The fewest of 15 to 17 digits that read back, as the C library prints them.
static void fewest_digits(double value, char text[40]) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 40, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (!memcmp(&back, &value, sizeof back)) return;
    }
}

static void reals_are_those_of_the_c_library(void **state) {
    (void)state;
    static const double edges[] = {1,
                                   0x1.fffffffffffffp0,
                                   9.9999999999999995,
                                   999999999999999.9,
                                   1e15,
                                   1.5,
                                   4,
                                   1e14,
                                   0x1.0000000000001p1,
                                   9007199254740993.0,
                                   999999999999999.0,
                                   0.9999999999999999};
    uint64_t random = 1;
    for (uint32_t i = 0; i < 200000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double value = (double)(random >> 11) / 9007199254740992.0; // below 1
        value = i < sizeof edges / sizeof *edges ? edges[i]
                : i % 3 == 0                     ? ldexp(1 + value, (int)(random % 56) - 3)
                : i % 3 == 1                     ? 1 + (double)(random >> 48) / (double)(1 + (random & 0xffff))
                                                 : (double)(random >> 40) / 1000;
        char text[40];
        struct sink s;
        open_sink(&s);
        weft__json_real(&s.j, value);
        fclose(s.j.file);
        fewest_digits(value, text);
        assert_string_equal(s.text, text);
        free(s.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape),
        cmocka_unit_test(strings_read_back),
        cmocka_unit_test(reals_read_back),
        cmocka_unit_test(reals_are_those_of_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
