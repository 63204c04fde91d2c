// SPDX-License-Identifier: Apache-2.0
// Every file under scenarios/ makes claims, its own or its base's, or says in its comment that it is a demonstration.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/scenario.h"
#include "weft/tree.h"

static unsigned with_claims, demonstrations;

static bool is_demonstration(const char *path) {
    char line[512];
    bool found = false;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file) && *line == '#')
        found = strstr(line, "demonstration") != NULL;
    fclose(file);
    return found;
}

static int on_file(const char *path, const struct stat *stat, int type) {
    (void)stat;
    size_t n = strlen(path);
    struct weft_scenario_file *file;
    struct weft_error error;
    if (type != FTW_F || n < 5 || strcmp(path + n - 5, ".yaml")) return 0;
    if (weft_scenario_file_read(path, NULL, 0, &file, &error)) fail_msg("%s", error.text);
    const struct weft_tree *claims = weft_scenario_claims(file);
    bool claimed = claims && claims->n, shown = is_demonstration(path);
    weft_scenario_file_free(file);
    if (!claimed && !shown) fail_msg("%s: expected claims, or a comment that says it is a demonstration", path);
    with_claims += claimed;
    demonstrations += !claimed;
    return 0;
}

static void every_file_has_claims_or_says_why_not(void **state) {
    (void)state;
    char root[512];
    snprintf(root, sizeof root, "%s/scenarios", getenv("WEFT_ROOT"));
    assert_int_equal(ftw(root, on_file, 16), 0);
    assert_true(with_claims > demonstrations);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_file_has_claims_or_says_why_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
