// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/progress.h"

static const struct weft_progress half = {.now_ps = 612 * WEFT_PS_PER_US,
                                          .wall_s = 75,
                                          .packet_hops = 682500000,
                                          .delivered_bytes = 500,
                                          .total_bytes = 1000};

static void line(void **state) {
    (void)state;
    char text[256];
    weft_cli_progress_format(&half, "pfc", 200, text, sizeof text);
    assert_string_equal(text, "pfc [############............]  50%  612us simulated, 9.1 M packet-hops/s, 1:15 left");
    weft_cli_progress_format(&half, "", 20, text, sizeof text);
    assert_string_equal(text, "[############.......");
    struct weft_progress p = half;
    p.delivered_bytes = 1000;
    weft_cli_progress_format(&p, "", 200, text, sizeof text);
    assert_string_equal(text, "[########################] 100%  612us simulated, 9.1 M packet-hops/s");
    p.delivered_bytes = 10;
    weft_cli_progress_format(&p, "", 200, text, sizeof text);
    assert_non_null(strstr(text, "  1%  "));
    assert_non_null(strstr(text, ", 2:03:45 left"));
    p = (struct weft_progress){0}; // nothing known yet
    weft_cli_progress_format(&p, "", 200, text, sizeof text);
    assert_non_null(strstr(text, "  0%  "));
    assert_null(strstr(text, "left"));
}

static void runs(void **state) {
    (void)state;
    char text[256];
    struct weft_cli_runs_progress now = {.ended = 3, .runs = 12, .part = 0.25, .wall_s = 10};
    weft_cli_progress_format_runs(&now, "weft sweep", 200, text, sizeof text);
    assert_string_equal(text, "weft sweep [######..................]  25%  3 of 12 runs, 0:30 left");
    now.part = 0; // the first have not ended
    weft_cli_progress_format_runs(&now, "weft sweep", 51, text, sizeof text);
    assert_string_equal(text, "weft sweep [........................]   0%  3 of 12");
}

static void ten_times_a_second_and_cleared(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    struct weft_cli_progress progress = {
        .file = open_memstream(&text, &size), .label = "", .drawn_s = -1, .columns = 60};
    struct weft_progress now = half;
    unsigned drawn = 0;
    for (unsigned ms = 0; ms < 1000; ms += 10) {
        now.wall_s = ms / 1e3;
        weft_cli_progress_on(&progress, &now);
    }
    weft_cli_progress_deinit(&progress);
    fclose(progress.file);
    for (const char *at = text; (at = strstr(at, "\r[")); at++)
        drawn++;
    assert_in_range(drawn, 5, 10);
    assert_string_equal(text + size - 4, "\r\033[K");
    free(text);
}

static void stays_when_done(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    struct weft_cli_progress progress = {
        .file = open_memstream(&text, &size), .label = "pfc", .drawn_s = -1, .columns = 60};
    struct weft_progress end = half;
    end.delivered_bytes = end.total_bytes;
    weft_cli_progress_done(&progress, &end);
    weft_cli_progress_deinit(&progress);
    fclose(progress.file);
    assert_ptr_equal(strstr(text, "\rpfc [########################] 100%  "), text);
    assert_null(strstr(text, "left"));
    assert_int_equal(text[size - 1], '\n');
    free(text);
}

static void silent_if_told(void **state) {
    (void)state;
    struct weft_cli_progress progress;
    weft_cli_progress_init(&progress, "", true);
    assert_null(progress.file);
    weft_cli_progress_on(&progress, &half);
    weft_cli_progress_deinit(&progress);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line),
        cmocka_unit_test(runs),
        cmocka_unit_test(ten_times_a_second_and_cleared),
        cmocka_unit_test(stays_when_done),
        cmocka_unit_test(silent_if_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
