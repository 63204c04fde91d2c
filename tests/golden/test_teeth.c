// SPDX-License-Identifier: Apache-2.0
// A part of the book, claims with the runs that must break them; the long tests try all of it. That these runs can be
// built is checked of all: here of those that other tests leave out, and of one that cannot.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static const char *const part[] = {"dsf/control_loop.yaml", "dsf/incast.yaml", "dsf/input_balance_load.yaml",
                                   "dsf/mixed_nics.yaml", "dsf/region.yaml"};

static void a_part_of_the_book_has_teeth(void **state) {
    (void)state;
    char command[4096];
    int n = snprintf(command, sizeof command, "\"$WEFT\" verify --teeth --quiet");
    for (unsigned i = 0; i < sizeof part / sizeof *part; i++)
        n += snprintf(command + n, sizeof command - (size_t)n, " \"$WEFT_ROOT/scenarios/%s\"", part[i]);
    assert_int_equal(system(command), 0);
}

/// Of the scenarios that take long, which only the long tests run; that they can be run is checked too.
static void what_must_break_a_claim_is_checked(void **state) {
    (void)state;
    assert_int_equal(system("cd \"$WEFT_ROOT\" && for f in $(grep -lr '^# test: long' scenarios); do "
                            "told=$(\"$WEFT\" check $f 2>&1 >/dev/null) || { echo $f; exit 1; }; "
                            "case $told in *'weft run expects'*) echo $f; exit 1;; esac; done"),
                     0);
    int status = system("printf 'topology: {kind: single, hosts: 2}\nworkload: [{kind: permutation, size: 1MB}]\n"
                        "claims: [{text: t, that: flows.0.fct_ps > 0, without: {topology.hosts: 0}}]\n' >teeth.yaml; "
                        "\"$WEFT\" check teeth.yaml 2>&1 >/dev/null | grep -q '^weft: teeth.yaml:3:.*: without: "
                        "topology.hosts' && \"$WEFT\" check teeth.yaml >/dev/null 2>&1; s=$?; rm teeth.yaml; exit $s");
    assert_int_equal(WEXITSTATUS(status), 2);
}

/// Of each variant that a claim is about, also of a scenario from standard input or from the results of a run.
static void what_must_break_a_claim_is_checked_wherever_it_is_from(void **state) {
    (void)state;
    int status = system(
        "printf 'topology: {kind: single, hosts: 4}\nworkload: [{kind: permutation, size: 1MB}]\n"
        "variants:\n  a: {}\n  b: {topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2}}\n"
        "claims:\n- {text: t, that: a.flows.0.fct_ps > 0, without: {topology.hosts: 6}}\n' >teeth.yaml; "
        "\"$WEFT\" check - --set run.seed=2 <teeth.yaml >/dev/null && "
        "\"$WEFT\" compare teeth.yaml --set run.seed=2 --quiet --out teeth >/dev/null 2>&1 && "
        "\"$WEFT\" check teeth >/dev/null && "
        "echo '- {text: u, that: a.flows.0.fct_ps < b.flows.0.fct_ps, without: {topology.hosts: 6}}' >>teeth.yaml && "
        "\"$WEFT\" check - 2>&1 >/dev/null <teeth.yaml | grep -q '^weft: <stdin>:8:.*: without: topology.hosts: "
        "unknown "
        "key.*(variant b)$'; s=$?; rm -r teeth.yaml teeth; exit $s");
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_part_of_the_book_has_teeth),
                                       cmocka_unit_test(what_must_break_a_claim_is_checked),
                                       cmocka_unit_test(what_must_break_a_claim_is_checked_wherever_it_is_from)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
