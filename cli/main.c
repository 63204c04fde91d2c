// SPDX-License-Identifier: Apache-2.0
// weft: one subcommand per file.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli.h"
#include "ranks.h"
#include "weft/error.h"
#include "weft/memory.h"
#include "weft_commit.h"

const char weft_cli_commit[] = WEFT_COMMIT;
#ifdef __clang__
#define COMPILER __VERSION__ // includes that it is Clang
#else
#define COMPILER "gcc " __VERSION__
#endif

static const struct subcommand {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
#define WEFT_COMMAND(name, summary) {#name, summary, weft_cli_##name},
#include "commands.def"
#undef WEFT_COMMAND
};
enum { COMMANDS = sizeof commands / sizeof *commands, NAME_MAX_LENGTH = 32 };

uint32_t weft_cli_command_count(void) {
    return COMMANDS;
}

const char *weft_cli_command_name(uint32_t i) {
    static char names[COMMANDS][NAME_MAX_LENGTH];
    snprintf(names[i], sizeof names[i], "%s", commands[i].name);
    for (char *at = names[i]; *at; at++)
        if (*at == '_') *at = '-';
    return names[i];
}

const char *weft_cli_command_summary(uint32_t i) {
    return commands[i].summary;
}

void weft_cli_command_help(uint32_t i) {
    char name[NAME_MAX_LENGTH], print_help[] = "--help";
    snprintf(name, sizeof name, "%s", weft_cli_command_name(i));
    commands[i].run(2, (char *[]){name, print_help, NULL});
}

uint32_t weft_cli_command_find(const char *name) {
    const char *names[COMMANDS];
    uint32_t i = 0;
    for (; i < COMMANDS; i++) {
        names[i] = weft_cli_command_name(i);
        if (!strcmp(name, names[i])) return i;
    }
    const char *nearest = weft_error_nearest(name, names, COMMANDS);
    fprintf(stderr, "weft: no command '%s'; %s%s%s\n", name, nearest ? "did you mean '" : "",
            nearest ? nearest : "weft --help lists them", nearest ? "'?" : "");
    return i;
}

static void print_usage(FILE *file) {
    fprintf(file, "weft %s: a simulator of the networks that AI clusters run on\n\nusage: weft COMMAND [ARGUMENTS]\n\n",
            WEFT_VERSION);
    for (uint32_t i = 0; i < COMMANDS; i++)
        fprintf(file, "  %-13s %s\n", weft_cli_command_name(i), commands[i].summary);
    fprintf(file, "\nweft COMMAND --help tells more.\n");
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c) {
    return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

/// weft help [COMMAND...]: "weft help plan pfc" is "weft plan pfc --help".
static int print_help(int argc, char **argv) {
    if (argc == 1) {
        print_usage(stdout);
        return WEFT_OK;
    }
    uint32_t which = weft_cli_command_find(argv[1]);
    if (which == COMMANDS) return WEFT_ERROR_INPUT;
    char flag[] = "--help", **arguments = argv; // takes the place of "help", which comes first
    for (int i = 0; i < argc - 1; i++)
        arguments[i] = argv[i + 1];
    arguments[argc - 1] = flag;
    return commands[which].run(argc, arguments);
}

static int run_named(int argc, char **argv) {
    if (argc < 2) {
        print_usage(stderr);
        return WEFT_ERROR_INPUT;
    }
    if (is_one_of(argv[1], "help", "--help", "-h")) return print_help(argc - 1, argv + 1);
    if (is_one_of(argv[1], "version", "--version", "-V")) {
        printf("weft %s, commit %s, built with %s\n", WEFT_VERSION, weft_cli_commit, COMPILER);
        return WEFT_OK;
    }
    uint32_t which = weft_cli_command_find(argv[1]);
    return which == COMMANDS ? WEFT_ERROR_INPUT : commands[which].run(argc - 1, argv + 1);
}

struct call {
    int argc;
    char **argv;
    int status;
};

static enum weft_status run_guarded(void *context, struct weft_error *ret_error) {
    struct call *call = context;
    call->status = run_named(call->argc, call->argv);
    return WEFT_OK;
}

/// Returns what the command returns, unless memory ran out.
static int run_command(int argc, char **argv) {
    struct call call = {argc, argv, WEFT_ERROR_SYSTEM};
    struct weft_memory *memory = weft_memory_open();
    struct weft_error error = {.status = WEFT_ERROR_SYSTEM, .text = "out of memory"};
    if (!memory || weft_memory_guard(memory, run_guarded, &call, &error)) call.status = weft_cli_fail(&error);
    weft_memory_close(memory);
    return call.status;
}

/// A launcher ends the other ranks by a signal when one has ended with an error, which that one has told.
static bool is_first_rank(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) && strcmp(getenv(names[i]), "0") != 0) return false;
    return true;
}

static bool speaks;
/// Before anything runs, and in an estimate: a command that ends by a signal reports it. Commands that have results to
/// show catch the signal themselves from then on (weft_cli_catch_interrupt).
static void on_early_signal(int number) {
    static const char text[] = "weft: interrupted before there was a result\n";
    if (speaks && write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(WEFT_ERROR_SYSTEM);
    _exit(WEFT_INTERRUPTED);
}

static void catch_early_signals(void) {
    speaks = is_first_rank();
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = on_early_signal}, before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL) sigaction(numbers[i], &action, NULL);
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); // writing too large a file must return an error
    catch_early_signals();
    int status;
    if (!weft_cli_ranks_begin(&argc, &argv, &status)) return status;
    weft__json_guard();
    weft_cli_terminal_begin();
    status = run_command(argc, argv);
    if (!weft_cli_terminal_end()) {
        fprintf(stderr, "weft: cannot write to standard output: %s\n", strerror(errno));
        status = WEFT_ERROR_SYSTEM;
    }
    return weft_cli_ranks_end(status);
}
