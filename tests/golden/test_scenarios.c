// SPDX-License-Identifier: Apache-2.0
// Every scenario under scenarios/ runs: it is valid, every variant ends as the file says ("# exit status: N" in its
// comment, else 0; 3 would be bytes that are not conserved), and the digest does not depend on the number of threads.
// Files whose comment says "# test: long" are for test_scenarios_long.c. The argument selects a part: "2of8" is every
// eighth file, from the second.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <ftw.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "part.h"

#ifndef LONG
#define LONG false
#endif

enum { SCENARIOS_MAX = 256 };

static char *scenarios[SCENARIOS_MAX];
static unsigned n_scenarios;

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

static int on_file(const char *path, const struct stat *stat, int type) {
    size_t n = strlen(path);
    int ignored;
    if (type != FTW_F || n < 5 || strcmp(path + n - 5, ".yaml")) return 0;
    if (has_line(path, "# test: long", &ignored) != LONG) return 0;
    assert_true(n_scenarios < SCENARIOS_MAX);
    scenarios[n_scenarios++] = strdup(path);
    return 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/// What the file says that it ends with.
static int declared(const char *path) {
    int status = 0;
    has_line(path, "# exit status:", &status);
    return status;
}

static json_t *compare(const char *path, unsigned threads, int expected) {
    char command[1024];
    snprintf(command, sizeof command, "\"$WEFT\" compare --json --quiet --threads %u '%s' 2>/dev/null", threads, path);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    json_error_t error;
    json_t *json = json_loadf(out, 0, &error);
    int status = pclose(out);
    if (!json) fail_msg("%s: %s", path, error.text);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != expected)
        fail_msg("%s, %u threads: exit status %d, expected %d", path, threads, WEXITSTATUS(status), expected);
    return json;
}

static const char *text_of(json_t *run, const char *key) {
    const char *text = json_string_value(json_object_get(run, key));
    assert_non_null(text);
    return text;
}

/// Digests of all variants, which must be those of one thread.
static void check_digests(const char *path, json_t *one, unsigned threads, int expected) {
    json_t *many = compare(path, threads, expected);
    json_t *a = json_object_get(one, "variants"), *b = json_object_get(many, "variants");
    assert_int_equal(json_array_size(a), json_array_size(b));
    for (size_t i = 0; i < json_array_size(a); i++) {
        json_t *x = json_array_get(a, i), *y = json_array_get(b, i);
        if (strcmp(text_of(x, "digest"), text_of(y, "digest")))
            fail_msg("%s, variant %s: digest %s with 1 thread, %s with %u", path, text_of(x, "variant"),
                     text_of(x, "digest"), text_of(y, "digest"), threads);
    }
    json_decref(many);
}

static void test_scenario(void **state) {
    const char *path = *state;
    char command[1024];
    snprintf(command, sizeof command, "\"$WEFT\" check '%s' >/dev/null", path);
    assert_int_equal(system(command), 0);
    int expected = declared(path);
    json_t *one = compare(path, 1, expected);
    static const unsigned threads[] = {3, 2, 8};
    for (unsigned i = 0; i < (LONG ? 1 : 3); i++)
        check_digests(path, one, threads[i], expected);
    json_decref(one);
}

int main(int argc, char **argv) {
    char root[512];
    struct CMUnitTest tests[SCENARIOS_MAX] = {0};
    snprintf(root, sizeof root, "%s/scenarios", getenv("WEFT_ROOT"));
    if (ftw(root, on_file, 16) || !n_scenarios) {
        fprintf(stderr, "no scenario below %s\n", root);
        return 1;
    }
    qsort(scenarios, n_scenarios, sizeof *scenarios, by_name);
    struct part part;
    unsigned n = 0;
    if (!part_of(argc, argv, &part)) return 1;
    for (unsigned i = part.first; i < n_scenarios; i += part.step)
        tests[n++] = (struct CMUnitTest){
            .name = scenarios[i] + strlen(root) + 1, .test_func = test_scenario, .initial_state = scenarios[i]};
    return _cmocka_run_group_tests("scenarios", tests, n, NULL, NULL);
}
