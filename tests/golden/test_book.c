// SPDX-License-Identifier: Apache-2.0
// Every file under scenarios/ makes claims, its own or its base's, or says in its comment that it is a demonstration. A
// CTSW takes as long in each of them.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/device.h"
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

// The vendor's figure for the chassis, and the most that Meta's measured round trip leaves, in a case that is called
// so, and in zones.yaml, whose question is how far things are.
static const weft_time_ps CTSW_PS = 3800000, CTSW_MOST_PS = 9500000;
static unsigned ctsws;

/// Cluster switches of AI zones, in a network of their own perhaps, and the spines that stand for them in sizes.yaml.
static void check_ctsws(const struct weft_scenario_file *file, const char *path) {
    static const char *const names[] = {"ctsw-0", "backend-ctsw-0", "spine-0"};
    for (uint32_t v = 0; v < weft_scenario_variants(file); v++) {
        struct weft_scenario *s;
        struct weft_error error;
        if (weft_scenario_new(file, v, &s, &error)) continue; // a variant that is meant to be refused
        const char *kind = s->topology.model->name;
        int name = -1;
        if (!strcmp(kind, "ai_zone") && !strstr(path, "jobs/deepep")) name = 0; // there InfiniBand's chips, by name
        if (!strcmp(kind, "networks") && strstr(path, "meta-roce/")) name = 1;
        if (!strcmp(kind, "leaf_spine") && strstr(path, "dsf/sizes")) name = 2;
        if (name >= 0) {
            weft_time_ps at = weft_scenario_device(s, names[name])->sw.processing_ps;
            ctsws++;
            if (at != CTSW_PS && !((strstr(s->variant, "far") || strstr(path, "/zones.yaml")) && at == CTSW_MOST_PS))
                fail_msg("%s, %s: a CTSW takes %" PRIu64 " ps", path, s->variant, at);
        }
        weft_scenario_free(s);
    }
}

static int on_file(const char *path, const struct stat *stat, int type) {
    (void)stat;
    size_t n = strlen(path);
    struct weft_scenario_file *file;
    struct weft_error error;
    if (type != FTW_F || n < 5 || strcmp(path + n - 5, ".yaml")) return 0;
    if (weft_scenario_file_read(path, NULL, 0, &file, &error)) fail_msg("%s", error.text);
    check_ctsws(file, path);
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
    assert_true(ctsws > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_file_has_claims_or_says_why_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
