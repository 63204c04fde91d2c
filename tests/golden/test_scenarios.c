// SPDX-License-Identifier: Apache-2.0
// Every scenario under scenarios/ runs: it is valid, every variant ends as the file says ("# exit status: N" in its
// comment, else 0; 3 would be bytes that are not conserved), and the digest does not depend on the number of threads (1
// and, in turn, 2, 3 and 8). Files whose comment says "# test: long" are for test_scenarios_long.c. The argument
// selects a part: "2of8" is every eighth file, from the second.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "part.h"
#include "scenario_files.h"

#ifndef LONG
#define LONG false
#endif

/// What the file says that it ends with.
static int declared(const char *path) {
    int status = 0;
    has_line(path, "# exit status:", &status);
    return status;
}

/// The fields of the record of CSV at *text, cut in place, and *text after it. How many. Quoted ones may have lines.
static unsigned split(char **text, char *fields[], unsigned max) {
    unsigned n = 0;
    for (bool more = true; more && n < max; n++) {
        char *end = fields[n] = *text;
        for (bool quoted = false; *end && (quoted || (*end != ',' && *end != '\n')); end++)
            quoted ^= *end == '"';
        more = *end == ',';
        *text = end + (*end != 0);
        *end = 0;
    }
    return n;
}

/// Adds "VARIANT: DIGEST" of every run of the command, a line each. Only these are kept: tables of large runs take
/// gigabytes. Returns the exit status.
static int add_digests(const char *command, FILE *digests) {
    enum { FIELDS_MAX = 512 };
    char *all = NULL, *fields[FIELDS_MAX];
    size_t size = 0;
    unsigned variant = FIELDS_MAX, digest = FIELDS_MAX;
    FILE *out = popen(command, "r");
    assert_non_null(out);
    assert_true(getdelim(&all, &size, 0, out) > 0);
    char *rest = all;
    for (bool head = true; *rest; head = false) {
        unsigned n = split(&rest, fields, FIELDS_MAX);
        for (unsigned i = 0; head && i < n; i++) {
            if (!strcmp(fields[i], "variant")) variant = i;
            if (!strcmp(fields[i], "digest")) digest = i;
        }
        assert_true(variant < n && digest < n);
        if (!head) fprintf(digests, "%s: %s\n", fields[variant], fields[digest]);
    }
    free(all);
    int status = pclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Of every variant of a file. A command keeps all its runs in memory: long ones have a command each.
static char *digests_of(const char *path, unsigned threads, int expected) {
    char command[2048], variant[256], *digests = NULL;
    size_t length = 0;
    int status = 0;
    FILE *text = open_memstream(&digests, &length);
    snprintf(command, sizeof command, "\"$WEFT\" check '%s' 2>/dev/null | sed -n 's/.*, variant \\([^:]*\\): .*/\\1/p'",
             path);
    FILE *variants = popen(LONG ? command : "true", "r");
    assert_non_null(text);
    assert_non_null(variants);
    int n = 0;
    for (; fscanf(variants, "%255s", variant) == 1; n++) {
        snprintf(command, sizeof command,
                 "\"$WEFT\" compare --csv --table run --quiet --threads %u --variant '%s' '%s'", threads, variant,
                 path);
        int own = add_digests(command, text);
        status = own ? own : status;
    }
    pclose(variants);
    snprintf(command, sizeof command, "\"$WEFT\" compare --csv --table run --quiet --threads %u '%s' 2>/dev/null",
             threads, path);
    if (!n) status = add_digests(command, text);
    fclose(text);
    if (status != expected) fail_msg("%s, %u threads: exit status %d, expected %d", path, threads, status, expected);
    assert_true(length > 0);
    return digests;
}

static void test_scenario(void **state) {
    char **scenario = *state;
    const char *path = *scenario;
    char command[1024];
    snprintf(command, sizeof command, "\"$WEFT\" check '%s' >/dev/null", path);
    assert_int_equal(system(command), 0);
    int expected = declared(path);
    char *one = digests_of(path, 1, expected);
    static const unsigned others[] = {3, 2, 8}; // in turn
    unsigned threads = others[(scenario - scenarios) % 3];
    char *many = digests_of(path, threads, expected);
    if (strcmp(one, many)) fail_msg("%s: digests with 1 thread\n%sand with %u\n%s", path, one, threads, many);
    free(many);
    free(one);
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[SCENARIOS_MAX] = {0};
    struct part part;
    unsigned n = 0;
    if (!part_of(argc, argv, &part) || !find_scenarios(LONG)) return 1;
    for (unsigned i = part.first; i < n_scenarios; i += part.step)
        tests[n++] = (struct CMUnitTest){.name = scenarios[i] + strlen(scenarios_root) + 1,
                                         .test_func = test_scenario,
                                         .initial_state = scenarios + i};
    return _cmocka_run_group_tests("scenarios", tests, n, NULL, NULL);
}
