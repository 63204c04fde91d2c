// SPDX-License-Identifier: Apache-2.0
// Tables and lines that are to fit a terminal.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/layout.h"

enum { LINES = 16 };

static void expect_table(const char *text, unsigned width, bool bold, const char *expected) {
    char copy[2048], *line[LINES], *rest = copy, *written = NULL;
    uint32_t n = 0;
    size_t size;
    snprintf(copy, sizeof copy, "%s", text);
    while (rest && *rest && n < LINES)
        line[n++] = strsep(&rest, "\n");
    FILE *file = open_memstream(&written, &size);
    assert_true(weft__layout_table(file, (const char *const *)line, n, width, bold));
    fclose(file);
    assert_string_equal(written, expected);
    free(written);
}

static void expect_line(const char *line, unsigned width, const char *expected) {
    char *written = NULL;
    size_t size;
    FILE *file = open_memstream(&written, &size);
    weft__layout_line(file, line, width);
    fclose(file);
    assert_string_equal(written, expected);
    free(written);
}

static const char table[] = "group    metric       first         second          third\n"
                            "incast   FCT, us      12.50   13.50  +8.0%   14.50 +16.0%\n"
                            "         slowdown      1.25    1.35  +8.0%    1.45 +16.0%\n";

static void tables_are_folded_between_columns(void **state) {
    expect_table(table, 80, false, table);
    expect_table(table, 44, false,
                 "group    metric       first         second\n"
                 "incast   FCT, us      12.50   13.50  +8.0%\n"
                 "         slowdown      1.25    1.35  +8.0%\n"
                 "\n"
                 "group    metric            third\n"
                 "incast   FCT, us    14.50 +16.0%\n"
                 "         slowdown    1.45 +16.0%\n");
}

static void headings_are_bold(void **state) {
    expect_table("name   bytes   packets\na          1         2\n", 80, true,
                 "\033[1mname   bytes   packets\033[0m\na          1         2\n");
    expect_table("1us   10%   queueing\n2us   20%   pause\n", 80, true, "1us   10%   queueing\n2us   20%   pause\n");
}

/// If the columns that distinguish lines leave no room for the others, each cell gets a line after its heading.
static void tables_are_turned_where_they_cannot_be_folded(void **state) {
    expect_table(table, 30, false,
                 "group   incast\n"
                 "metric  FCT, us\n"
                 "  first   12.50\n"
                 "  second  13.50  +8.0%\n"
                 "  third   14.50 +16.0%\n"
                 "\n"
                 "metric  slowdown\n"
                 "  first   1.25\n"
                 "  second  1.35  +8.0%\n"
                 "  third   1.45 +16.0%\n");
    expect_table("          time, us         slowdown (1: alone)\n"
                 "group   mean     max      mean       p99   max\n"
                 "a        1.0     2.0       1.0       1.1   1.2\n"
                 "b        3.0     4.0       3.0       3.1   3.2\n",
                 20, false,
                 "group  a\n"
                 "  time, us\n"
                 "    mean   1.0\n"
                 "    max    2.0\n"
                 "  slowdown (1:\n"
                 "  alone)\n"
                 "    mean   1.0\n"
                 "    p99    1.1\n"
                 "    max    1.2\n"
                 "\n"
                 "group  b\n"
                 "  time, us\n"
                 "    mean   3.0\n"
                 "    max    4.0\n"
                 "  slowdown (1:\n"
                 "  alone)\n"
                 "    mean   3.0\n"
                 "    p99    3.1\n"
                 "    max    3.2\n");
}

/// Names of columns are in the second line, below headings that several share.
static void two_lines_of_headings_are_told_from_one(void **state) {
    expect_table("group incast              fct.mean, us\n"
                 "point   switch.aqm.min    mean       +/-\n"
                 "    0   10KB              1003.72   1815.88\n"
                 "    1   30KB              1285.00   1985.72\n",
                 22, false,
                 "  group incast\n"
                 "    point  0\n"
                 "    switch.aqm.min\n"
                 "           10KB\n"
                 "  fct.mean, us\n"
                 "    mean   1003.72\n"
                 "    +/-    1815.88\n"
                 "\n"
                 "  group incast\n"
                 "    point  1\n"
                 "    switch.aqm.min\n"
                 "           30KB\n"
                 "  fct.mean, us\n"
                 "    mean   1285.00\n"
                 "    +/-    1985.72\n");
}

static void lines_without_headings_are_stacked(void **state) {
    expect_table("  163us   35.6%   serialisation   host-7/0\n"
                 "   56us   12.3%   pause           leaf-1/4: spine-0/1\n",
                 24, false,
                 "  163us  35.6%\n"
                 "    serialisation\n"
                 "    host-7/0\n"
                 "   56us  12.3%  pause\n"
                 "     leaf-1/4: spine-0/1\n");
}

/// A heading over several columns stays with them: nothing within it is split.
static void headings_of_several_columns_stay_whole(void **state) {
    expect_table("          time, us         slowdown (1: alone)\n"
                 "group   mean     max      mean       p99   max\n"
                 "a        1.0     2.0       1.0       1.1   1.2\n",
                 32, false,
                 "          time, us\n"
                 "group   mean     max\n"
                 "a        1.0     2.0\n"
                 "\n"
                 "            slowdown (1: alone)\n"
                 "group      mean       p99   max\n"
                 "a           1.0       1.1   1.2\n");
}

static void a_last_column_of_text_is_wrapped_below_itself(void **state) {
    expect_table("groups   a list   a group of flows and its times\n"
                 "config   apart    a value in force\n",
                 40, false,
                 "groups   a list   a group of flows and\n"
                 "                  its times\n"
                 "config   apart    a value in force\n");
}

static void characters_are_counted_not_bytes(void **state) {
    const char *text = "näme   bÿtes   päckets\na          1         2\n";
    expect_table(text, 22, false, text);
}

static void lines_are_wrapped_between_words(void **state) {
    expect_line("short", 40, "short\n");
    expect_line("one two three four five six seven eight nine", 20, "one two three four\nfive six seven eight\nnine\n");
    expect_line("PFC    ports paused for 3us in all, and more of them", 30,
                "PFC    ports paused for 3us in\n       all, and more of them\n");
    expect_line("                        leaf-1/4  could not send for 277us", 30,
                "          leaf-1/4  could not\n          send for 277us\n");
    expect_line("  holds            one two three four five", 24, "  holds            one\n  two three four five\n");
    expect_line("          a.name.without.a.blank > 1", 24, "  a.name.without.a.blank\n        > 1\n");
    expect_line("/a/path/that/has/no/blank/and/is/long", 20, "/a/path/that/has/no/blank/and/is/long\n");
    expect_line("  weft run a.yaml --set a=1 --set b=2", 20, "  weft run a.yaml --set a=1 --set b=2\n");
}

static void sentences_go_on(void **state) {
    assert_true(weft__layout_continues("a line that was broken for want of room", "and goes on", 20));
    assert_false(weft__layout_continues("a line that was broken for want of room", "And another", 20));
    assert_false(weft__layout_continues("a line that was broken for want of room", "label  text", 20));
    assert_false(weft__layout_continues("short", "and goes on", 20));
}

static void tables_are_told_from_text(void **state) {
    assert_true(weft__layout_tabular("a   b   c"));
    assert_false(weft__layout_tabular("PFC    12 pause frames sent"));
    assert_false(weft__layout_tabular("   indented text  "));
    assert_false(weft__layout_tabular(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_folded_between_columns),
        cmocka_unit_test(tables_are_turned_where_they_cannot_be_folded),
        cmocka_unit_test(two_lines_of_headings_are_told_from_one),
        cmocka_unit_test(lines_without_headings_are_stacked),
        cmocka_unit_test(headings_are_bold),
        cmocka_unit_test(headings_of_several_columns_stay_whole),
        cmocka_unit_test(a_last_column_of_text_is_wrapped_below_itself),
        cmocka_unit_test(characters_are_counted_not_bytes),
        cmocka_unit_test(lines_are_wrapped_between_words),
        cmocka_unit_test(sentences_go_on),
        cmocka_unit_test(tables_are_told_from_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
