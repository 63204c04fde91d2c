// SPDX-License-Identifier: Apache-2.0
// The scenarios under scenarios/, by name. One whose comment says "# test: long" is long.
#pragma once

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCENARIOS_MAX = 256 };

static char *scenarios[SCENARIOS_MAX];
static unsigned n_scenarios;
static char scenarios_root[512];
static bool scenarios_of_length; ///< which are asked: long, or not

/// Whether a line of the file begins with `line`, and the number after it.
static bool has_line(const char *path, const char *line, int *ret_number) {
    char text[512];
    bool found = false;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (!found && fgets(text, sizeof text, file)) {
        found = !strncmp(text, line, strlen(line));
        if (found) *ret_number = atoi(text + strlen(line));
    }
    fclose(file);
    return found;
}

static int on_scenario(const char *path, const struct stat *stat, int type) {
    (void)stat;
    size_t n = strlen(path);
    int ignored;
    if (type != FTW_F || n < 5 || strcmp(path + n - 5, ".yaml")) return 0;
    if (has_line(path, "# test: long", &ignored) != scenarios_of_length) return 0;
    assert_true(n_scenarios < SCENARIOS_MAX);
    scenarios[n_scenarios++] = strdup(path);
    return 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/// Finds the long scenarios, or the others. False, with why on standard error: there is none.
static inline bool find_scenarios(bool of_length) {
    scenarios_of_length = of_length;
    n_scenarios = 0;
    snprintf(scenarios_root, sizeof scenarios_root, "%s/scenarios", getenv("WEFT_ROOT"));
    if (ftw(scenarios_root, on_scenario, 16) || !n_scenarios) {
        fprintf(stderr, "no scenario below %s\n", scenarios_root);
        return false;
    }
    qsort(scenarios, n_scenarios, sizeof *scenarios, by_name);
    return true;
}
