// SPDX-License-Identifier: Apache-2.0
// Output on a terminal fits it; in a pipe it is unchanged.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <pty.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

static int set_up(void **state) {
    static struct fixture f;
    strcpy(f.dir, "/tmp/weft-terminal-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    write_text(&f, "s.yaml",
               "name: small\n"
               "topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4}\n"
               "workload:\n"
               "  - {kind: incast, sources: host-4..6, dst: host-0, size: 100KB, group: incast}\n"
               "variants: {one: {}, two: {topology.rate: 50Gbps}, three: {topology.rate: 25Gbps}}\n"
               "claims: [{text: it ends, that: one.incast.finished == 3}]\n");
    unsetenv("NO_COLOR");
    unsetenv("COLUMNS");
    setenv("TERM", "xterm", 1);
    *state = &f;
    return 0;
}

/// Runs weft on a terminal with this many columns; its output, without returns, is in f->out.
static int on_terminal(struct fixture *f, unsigned columns, const char *arguments) {
    char command[512];
    int terminal, status;
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    snprintf(command, sizeof command, "cd %s && exec \"$WEFT\" %s 2>err.txt </dev/null", f->dir, arguments);
    pid_t pid = forkpty(&terminal, NULL, NULL, &size);
    assert_true(pid >= 0);
    if (!pid) {
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    size_t n = 0;
    ssize_t got;
    while (n < sizeof f->out - 1 && (got = read(terminal, f->out + n, sizeof f->out - 1 - n)) > 0)
        n += (size_t)got;
    f->out[n] = 0;
    char *to = f->out;
    for (const char *from = f->out; *from; from++)
        if (*from != '\r') *to++ = *from;
    *to = 0;
    close(terminal);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status)) {
        slurp(f, "err.txt", f->err, sizeof f->err);
        print_error("%s: %s\n", arguments, f->err);
    }
    return WEXITSTATUS(status);
}

static size_t longest_line(const char *text) {
    size_t most = 0;
    for (; *text; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] != 0))
        if (strcspn(text, "\n") > most) most = strcspn(text, "\n");
    return most;
}

static unsigned count(const char *text, const char *part) {
    unsigned n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

static void lines_fit(void **state) {
    struct fixture *f = *state;
    static const char *const commands[] = {"run s.yaml --variant one --color never", "compare s.yaml --color never",
                                           "sweep s.yaml --vary run.seed=1..2 --color never --quiet",
                                           "models results --color never", "run --help --color never"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        assert_int_equal(weft(f, commands[i]), 0);
        assert_true(longest_line(f->out) > 64);
        assert_int_equal(on_terminal(f, 64, commands[i]), 0);
        if (longest_line(f->out) > 64) fail_msg("%s: %s", commands[i], f->out);
        assert_null(strchr(f->out, '\033'));
    }
}

/// Where a table has no room for columns beside those that name its rows, each cell has a line.
static void narrow_terminals(void **state) {
    struct fixture *f = *state;
    static const char *const commands[] = {"run s.yaml --variant one --color never", "compare s.yaml --color never",
                                           "sweep s.yaml --vary run.seed=1..2 --color never --quiet",
                                           "models cc dcqcn --color never", "why s.yaml 0 --variant one --color never"};
    for (unsigned width = 30; width <= 45; width += 5)
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            assert_int_equal(on_terminal(f, width, commands[i]), 0);
            if (longest_line(f->out) > width) fail_msg("%u, %s: %s", width, commands[i], f->out);
        }
    assert_int_equal(on_terminal(f, 30, "compare s.yaml --color never"), 0);
    assert_non_null(strstr(f->out, "\nFCT p99, us\n  one "));
}

/// Nothing is lost: every number of the comparison is there, and its rows are named in each fold.
static void a_comparison_is_folded(void **state) {
    struct fixture *f = *state;
    assert_int_equal(weft(f, "compare s.yaml"), 0);
    assert_int_equal(count(f->out, "FCT p99, us"), 1);
    assert_int_equal(on_terminal(f, 70, "compare s.yaml --color never"), 0);
    assert_int_equal(count(f->out, "FCT p99, us"), 2);
    const char *second = strstr(f->out, "\n\ngroup");
    assert_non_null(second);
    second = strstr(second + 1, "\n\ngroup");
    assert_non_null(second);
    assert_null(strstr(second, " two"));
    assert_non_null(strstr(second, "three"));
}

static void columns_of_the_environment_come_first(void **state) {
    struct fixture *f = *state;
    setenv("COLUMNS", "300", 1);
    assert_int_equal(on_terminal(f, 60, "compare s.yaml --color never"), 0);
    assert_int_equal(count(f->out, "FCT p99, us"), 1);
}

static void colors(void **state) {
    struct fixture *f = *state;
    assert_int_equal(on_terminal(f, 200, "compare s.yaml"), 0);
    assert_non_null(strstr(f->out, "\033[1mgroup"));
    assert_non_null(strstr(f->out, "\033[32mholds"));
    setenv("NO_COLOR", "1", 1);
    assert_int_equal(on_terminal(f, 200, "compare s.yaml"), 0);
    assert_null(strchr(f->out, '\033'));
    assert_int_equal(on_terminal(f, 200, "compare s.yaml --color always"), 0);
    assert_non_null(strchr(f->out, '\033'));
    assert_int_equal(weft(f, "compare s.yaml"), 0);
    assert_null(strchr(f->out, '\033'));
    assert_int_equal(weft(f, "compare s.yaml --color always"), 0);
    assert_non_null(strchr(f->out, '\033'));
    assert_int_equal(weft(f, "compare s.yaml --color red"), 2);
    assert_non_null(strstr(f->err, "--color: no choice \"red\""));
}

/// JSON and CSV are for programs: not a byte is another.
static void what_programs_read_is_left_alone(void **state) {
    struct fixture *f = *state;
    static char piped[sizeof f->out];
    assert_int_equal(weft(f, "compare s.yaml --csv"), 0);
    strcpy(piped, f->out);
    assert_true(longest_line(piped) > 64);
    assert_int_equal(on_terminal(f, 64, "compare s.yaml --csv"), 0);
    assert_string_equal(f->out, piped);
    assert_int_equal(on_terminal(f, 64, "run s.yaml --json --color always"), 0);
    assert_int_equal(count(f->out, "\n"), 1);
    assert_null(strchr(f->out, '\033'));
}

int main(void) {
    int terminal, other;
    if (openpty(&terminal, &other, NULL, NULL, NULL)) {
        puts("skipped: this system has no pseudo-terminals (devpts is not mounted)");
        return 77;
    }
    close(terminal);
    close(other);
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, remove_folder)
    const struct CMUnitTest tests[] = {
        T(lines_fit),
        T(narrow_terminals),
        T(a_comparison_is_folded),
        T(columns_of_the_environment_come_first),
        T(colors),
        T(what_programs_read_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
