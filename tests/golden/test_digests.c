// SPDX-License-Identifier: Apache-2.0
// Runs whose digests are known: digests.txt has a scenario, a variant and what came out when it was written. A change
// of the engine, of a model or of a default shows here. As an argument, a part: "2of8" is every eighth run from the
// second on. Where a change is meant, WEFT_GOLDEN_WRITE=1 build/tests/golden-digests writes the file anew.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "part.h"

enum { RUNS_MAX = 128 };

static struct known { char scenario[128], variant[64], digest[32]; } known[RUNS_MAX];
static unsigned runs;
static struct part part;

static void path_of(char *path, size_t size, const char *name) {
    snprintf(path, size, "%s/%s", getenv("WEFT_ROOT"), name);
}

static void read_known(void) {
    char path[1024];
    path_of(path, sizeof path, "tests/golden/digests.txt");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (runs < RUNS_MAX &&
           fscanf(file, "%127s %63s %31s", known[runs].scenario, known[runs].variant, known[runs].digest) == 3)
        runs++;
    fclose(file);
    assert_true(runs > 0);
}

static void write_known(void) {
    char path[1024];
    path_of(path, sizeof path, "tests/golden/digests.txt");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (unsigned i = 0; i < runs; i++)
        fprintf(file, "%s %s %s\n", known[i].scenario, known[i].variant, known[i].digest);
    fclose(file);
}

static void digest_of(const struct known *k, char *ret_digest, size_t size) {
    char command[1400];
    snprintf(command, sizeof command, "\"$WEFT\" run --json --quiet --variant '%s' \"$WEFT_ROOT/scenarios/%s\"",
             k->variant, k->scenario);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    json_t *json = json_loadf(out, 0, NULL);
    assert_int_equal(pclose(out), 0);
    const char *digest = json_string_value(json_object_get(json, "digest"));
    assert_non_null(digest);
    snprintf(ret_digest, size, "%s", digest);
    json_decref(json);
}

static void digests_are_known(void **state) {
    (void)state;
    bool write = getenv("WEFT_GOLDEN_WRITE"), same = true;
    read_known();
    for (unsigned i = part.first; i < runs; i += part.step) {
        char digest[sizeof known[i].digest];
        digest_of(&known[i], digest, sizeof digest);
        if (!strcmp(digest, known[i].digest)) continue;
        same = false;
        if (!write)
            print_error("%s, %s: digest %s, expected %s\n", known[i].scenario, known[i].variant, digest,
                        known[i].digest);
        memcpy(known[i].digest, digest, sizeof digest);
    }
    if (!write)
        assert_true(same);
    else if (part.step == 1)
        write_known();
}

int main(int argc, char **argv) {
    if (!part_of(argc, argv, &part)) return 2;
    const struct CMUnitTest tests[] = {cmocka_unit_test(digests_are_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
