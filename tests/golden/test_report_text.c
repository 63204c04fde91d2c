// SPDX-License-Identifier: Apache-2.0
// The text reports of a run filled in by hand, against files that a person has read. With WEFT_GOLDEN_WRITE set the
// files are written instead; look at what changed before committing them.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report_sample.h"

static char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    if (file) {
        text[fread(text, 1, (1 << 16) - 1, file)] = 0;
        fclose(file);
    }
    return text;
}

static void compare_with(const char *name, const char *text) {
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/golden/%s", getenv("WEFT_ROOT"), name);
    if (getenv("WEFT_GOLDEN_WRITE")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
        return;
    }
    char *expected = read_file(path);
    assert_string_equal(text, expected);
    free(expected);
}

static void check(const char *name, const struct weft_run *run, uint32_t runs) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    if (runs)
        weft_report_compare(file, run, runs, 1, 0);
    else
        weft_report_table(file, run);
    fclose(file);
    compare_with(name, text);
    free(text);
}

static void table(void **state) {
    (void)state;
    struct report_sample s;
    report_sample_init(&s);
    check("table.txt", &s.run, 0);
}

static void table_of_a_stall(void **state) {
    (void)state;
    struct report_sample s;
    report_sample_init(&s);
    for (unsigned f = 0; f < SAMPLE_FLOWS; f++)
        s.flow_outcome[f].end_ps = WEFT_TIME_NEVER;
    s.scenario.variant = "";
    s.outcome.threads = 1;
    s.outcome.end = WEFT_END_STALL;
    s.outcome.stall = (char[]){"leaf-0/2 priority 3 waits for host-2"};
    s.outcome.held_bytes++; // and a bug
    check("table_stall.txt", &s.run, 0);
}

static void compare(void **state) {
    (void)state;
    struct report_sample s[3];
    for (unsigned i = 0; i < 3; i++)
        report_sample_init(&s[i]);
    s[1].scenario.variant = "pfc+dcqcn";
    s[1].flow_outcome[2].end_ps = 44000000;
    weft_outcome_at(&s[1].outcome, 3, 3)->pfc_tx_xoff = 1;
    s[1].outcome.cnps = 7000;
    s[2].scenario.variant = "a variant with a long name";
    s[2].group[1] = "others"; // instead of victims
    s[2].outcome.end = WEFT_END_INTERRUPTED;
    memset(s[2].counters, 0, sizeof s[2].counters);
    check("compare.txt", (struct weft_run[]){s[0].run, s[1].run, s[2].run}, 3);
}

/// Two cases of two variants: a table for each, with changes against its own first variant.
static void compare_cases(void **state) {
    (void)state;
    static const char *const variant[] = {"1/pfc", "1/pfc+dcqcn", "2.1/pfc", "2.1/pfc+dcqcn"};
    static const char *const case_name[] = {"1", "1", "2.1", "2.1"};
    struct report_sample s[4];
    struct weft_run run[4];
    for (unsigned i = 0; i < 4; i++) {
        report_sample_init(&s[i]);
        s[i].scenario.variant = variant[i];
        s[i].scenario.case_name = case_name[i];
        s[i].topology.switches += i / 2;
        s[i].flow_outcome[2].end_ps -= 1000000 * (i + 2);
        s[i].outcome.end = WEFT_END_DONE;
        run[i] = s[i].run;
    }
    check("compare_cases.txt", run, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(table_of_a_stall),
        cmocka_unit_test(compare),
        cmocka_unit_test(compare_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
