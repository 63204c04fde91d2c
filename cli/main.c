// SPDX-License-Identifier: Apache-2.0
// weft: one subcommand a file.
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "ranks.h"
#include "terminal.h"
#include "weft/memory.h"
#include "weft_commit.h"

const char weft_cli_commit[] = WEFT_COMMIT;
#ifdef __clang__
#define COMPILER __VERSION__ // says that it is Clang
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

/// A command's name as users write it: dashes for underscores.
static const char *written(const char *name, char text[32]) {
    snprintf(text, 32, "%s", name);
    for (char *at = text; *at; at++)
        if (*at == '_') *at = '-';
    return text;
}

static void usage(FILE *file) {
    char text[32];
    fprintf(file, "weft %s: a simulator of the networks that AI clusters run on\n\nusage: weft COMMAND [ARGUMENTS]\n\n",
            WEFT_VERSION);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(file, "  %-13s %s\n", written(commands[i].name, text), commands[i].summary);
    fprintf(file, "\nweft COMMAND --help tells more.\n");
}

static int command(int argc, char **argv) {
    char text[32];
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        usage(stdout);
        return 0;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") || !strcmp(argv[1], "version")) {
        printf("weft %s, commit %s, built with %s\n", WEFT_VERSION, weft_cli_commit, COMPILER);
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(argv[1], written(commands[i].name, text))) return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "weft: no command '%s'; see weft --help\n", argv[1]);
    return 2;
}

/// For jansson, which would not always tell that it got nothing.
static void *allocate(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) weft_memory_fail();
    return memory;
}

struct call {
    int argc;
    char **argv;
    int status;
};

static enum weft_status guarded(void *context, struct weft_error *ret_error) {
    struct call *call = context;
    call->status = command(call->argc, call->argv);
    return WEFT_OK;
}

/// What the command returns, unless memory ran out.
static int run_command(int argc, char **argv) {
    struct call call = {argc, argv, WEFT_ERROR_SYSTEM};
    struct weft_memory *memory = weft_memory_open();
    struct weft_error error = {.status = WEFT_ERROR_SYSTEM, .text = "out of memory"};
    if (!memory || weft_memory_guard(memory, guarded, &call, &error)) call.status = weft_cli_fail(&error);
    weft_memory_close(memory);
    return call.status;
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); // a file that would be too large is an error of the write
    int status;
    if (!weft_cli_ranks_begin(&argc, &argv, &status)) return status;
    json_set_alloc_funcs(allocate, free);
    weft_cli_terminal_begin();
    status = run_command(argc, argv);
    if (!weft_cli_terminal_end()) {
        fprintf(stderr, "weft: cannot write to standard output: %s\n", strerror(errno));
        status = WEFT_ERROR_SYSTEM;
    }
    return weft_cli_ranks_end(status);
}
