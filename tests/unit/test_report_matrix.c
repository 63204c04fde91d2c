// SPDX-License-Identifier: Apache-2.0
// A page of figures side by side: its data are those given, and a name is never markup.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/stream.h"
#include "weft/report.h"

static const char hostile[] = "</script><script>alert(1)</script>";

/// The page's data: the content of its first script element.
static char *data_of(const struct weft_report_page *page, struct weft_arena *arena) {
    struct weft__text_stream stream;
    FILE *file = weft__text_stream_open(&stream);
    weft_report_page_write(file, page);
    const char *text = weft__text_stream_text(&stream);
    const char *from = strstr(text, "id=\"data\">");
    assert_non_null(from);
    from += strlen("id=\"data\">");
    const char *to = strstr(from, "</script>");
    assert_non_null(to);
    char *data = weft_arena_format(arena, "%.*s", (int)(to - from), from);
    weft__text_stream_free(&stream);
    return data;
}

static void test_matrix(void **state) {
    (void)state;
    const char *const column[] = {"clos", hostile};
    const struct weft_report_row row[] = {{hostile, "completion time, mean", "ps"}};
    const struct weft_report_cell cell[] = {{2e6, 1e5, 2e6, 5, NAN, NAN, NULL},
                                            {1e6, NAN, NAN, 1, -0.5, 0.125, "within noise"}};
    const struct weft_report_matrix matrix = {
        .title = "Fabrics", .caption = "", .columns = 2, .rows = 1, .column = column, .row = row, .cell = cell};
    const char *const answer[] = {hostile, "slower"};
    const struct weft_report_head head = {.title = hostile, .about = NULL, .answer = answer, .answers = 1};
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_RESULT);
    struct weft_report_page *page = weft_report_page_of(&head, &matrix, 1, true);
    const char *data = data_of(page, arena);
    assert_null(strchr(data, '<'));
    assert_non_null(strstr(data, "\\u003c/script>\\u003cscript>alert(1)"));
    assert_non_null(strstr(data, "\"no_data\":true"));
    assert_non_null(strstr(data, "\"n\":5,\"change\":null,\"change_half\":null,\"verdict\":null"));
    assert_non_null(strstr(data, "\"half\":null,\"median\":null,\"n\":1,\"change\":-0.5,\"change_half\":0.125"));
    assert_non_null(strstr(data, "\"within noise\""));
    weft_report_page_free(page);
    weft_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
