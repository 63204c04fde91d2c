// SPDX-License-Identifier: Apache-2.0
// The options that subcommands share.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../cli/cli.h"
#include "../../cli/simulation.h"

/// The file of --out FILE.sqlite is tried by code that this program does not link.
enum weft_status weft_cli_can_write_file(const char *option, const char *path, const struct weft_cli_options *o,
                                         struct weft_error *ret_error) {
    return WEFT_OK;
}

static const char *own_value;
static bool own_given;
static const struct weft_cli_option own[] = {
    {"hosts", "N", "how many", &own_value, NULL}, {"deep", NULL, "a switch", NULL, &own_given}, {0}};
static const struct weft_cli_command command = {
    .name = "try",
    .operands = "SCENARIO",
    .about = "Tries.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_JSON | WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 2,
    .option = own,
};
static const struct weft_cli_command little = {
    .name = "little", .operands = "", .about = "Little.", .accept = WEFT_CLI_JSON};

enum { ARGS_MAX = 32 };

/// Parses words separated by spaces, with standard output and error away. `text` keeps the words.
static int parse(const struct weft_cli_command *c, char *text, struct weft_cli_options *o) {
    char *argv[ARGS_MAX + 1] = {(char *)c->name};
    int argc = 1;
    for (char *word; text && (word = strsep(&text, " ")) != NULL && argc < ARGS_MAX;)
        if (*word) argv[argc++] = word;
    fflush(stdout);
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), away = open("/dev/null", O_WRONLY);
    dup2(away, STDOUT_FILENO);
    dup2(away, STDERR_FILENO);
    int status = weft_cli_parse(c, argc, argv, o);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    close(away);
    return status;
}

static void everything(void **state) {
    (void)state;
    char text[] = "a.yaml --set x.y=1 --json b.yaml --seed 7 --set=z=2 --threads 4 --oversubscribe --pin --out dir "
                  "--variant v --quiet "
                  "--hosts 9 --deep";
    struct weft_cli_options o;
    assert_int_equal(parse(&command, text, &o), WEFT_CLI_GO);
    assert_int_equal(o.settings, 3);
    assert_string_equal(o.setting[0], "x.y=1");
    assert_string_equal(o.setting[1], "run.seed=7");
    assert_string_equal(o.setting[2], "z=2");
    assert_int_equal(o.threads, 4);
    assert_true(o.oversubscribe);
    assert_true(o.pin);
    assert_string_equal(o.out, "dir");
    assert_string_equal(o.variant, "v");
    assert_true(o.json && o.quiet);
    assert_string_equal(own_value, "9");
    assert_true(own_given);
    weft_arena_free(o.arena);
}

static void nothing(void **state) {
    (void)state;
    char text[] = "-";
    struct weft_cli_options o;
    assert_int_equal(parse(&command, text, &o), WEFT_CLI_GO);
    assert_int_equal(o.operands, 1);
    assert_string_equal(o.operand[0], "-");
    assert_int_equal(o.settings, 0);
    assert_int_equal(o.threads, 1);
    assert_false(o.oversubscribe);
    assert_false(o.pin);
    assert_null(o.out);
    assert_null(o.variant);
    assert_false(o.json || o.quiet);
    weft_arena_free(o.arena);
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const struct weft_cli_command *command;
        const char *text;
        int status;
    } cases[] = {
        {&command, "", 2},
        {&command, "a b c", 2},
        {&command, "a --threads 0", 2},
        {&command, "a --threads 99999", 2},
        {&command, "a --threads x", 2},
        {&command, "a --threads", 2},
        {&command, "a --thread 2", 2}, // an abbreviation
        {&command, "a --what", 2},
        {&command, "a --json=3", 2},
        {&command, "a -x", 2},
        {&command, "a --set x=", 2},
        {&command, "a --set x=1", WEFT_CLI_GO},
        {&command, "--help", 0},
        {&command, "-h", 0},
        {&little, "a", 2},
        {&little, "--set a=b", 2},
        {&little, "--seed 1", 2},
        {&little, "--deep", 2},
        {&little, "--json", WEFT_CLI_GO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].text);
        struct weft_cli_options o;
        int status = parse(cases[i].command, text, &o);
        if (status != cases[i].status) fail_msg("%s: %d", cases[i].text, status);
        weft_arena_free(o.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything),
        cmocka_unit_test(nothing),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
