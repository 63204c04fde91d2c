// SPDX-License-Identifier: Apache-2.0
// weft diff: two results side by side, or a fit and a later log.
#include "weft/diff.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "simulation.h"
#include "weft/fit.h"

enum { SHOWN = 40, EXIT_DIFFERENT = 5 };

static struct {
    const char *variant, *with, *table, *setup;
    bool all, exit_status;
} asked;
static const struct weft_cli_option own[] = {
    {"variant", "NAME", "only this variant; that of A, if --with names that of B", &asked.variant, NULL},
    {"with", "NAME", "the variant of B; without B, of the same folder", &asked.with, NULL},
    {"table", "NAME", "the figures of this table only, as in `weft models results`, such as flows", &asked.table, NULL},
    {"setup", "TEXT", "what LOG does not say itself: \"nodes=2 gpus_per_node=8 gpu=H100 nics=8x400G\"", &asked.setup,
     NULL},
    {"all", NULL, "all figures that differ, not only the 40 that change most", NULL, &asked.all},
    {"exit-status", NULL, "exit with 5 if anything differs", NULL, &asked.exit_status},
    {0},
};
static const struct weft_cli_command command = {
    .name = "diff",
    .operands = "A [B]",
    .about =
        "Shows how two results differ: first their configuration, then their figures. A and B are two folders\n"
        "written by --out of run or compare, or two of sweep. Runs are paired by variant and seed, points of sweeps\n"
        "by their parameters. With several seeds, figures are means, and ~ marks a change within noise.\n"
        "Or A is the class of servers that weft fit has written, a file, and B a later log of the same collectives:\n"
        "each size as measured beside the class, and which constants explain the difference, at which sizes.\n"
        "Exit status: 0 done, 1 system error, 2 bad input, 5 they differ (with --exit-status).",
    .answer = &weft__answer_diff,
    .to_option = {&weft__answer_fit},
    .operands_min = 1,
    .operands_max = 2,
    .option = own,
};

static void print_text(FILE *file, const void *diff) {
    weft_diff_print(file, diff, asked.all ? UINT32_MAX : SHOWN);
}

static enum weft_status diff_folders(const struct weft_cli_options *o, struct weft_error *error) {
    struct weft_diff *d;
    if (o->operands < 2 && !asked.with)
        return WEFT_REFUSE(error, WEFT_NOWHERE,
                           "B is missing; expected a second folder, or --with VARIANT to compare two variants of A");
    if (asked.with && !asked.variant) return WEFT_REFUSE(error, WEFT_NOWHERE, "--with: expected --variant as well");
    struct weft_diff_options options = {
        .side = {{o->operand[0], asked.variant},
                 {o->operand[o->operands - 1], asked.with ? asked.with : asked.variant}},
        .table = asked.table,
    };
    enum weft_status status = weft_diff_new(&options, o->arena, &d, error);
    if (!status) status = weft_cli_answer(o, &weft__answer_diff, d, print_text, error);
    return status || !asked.exit_status || weft_diff_is_equal(d) ? status : EXIT_DIFFERENT;
}

static bool is_class(const char *name) {
    size_t n = strlen(name);
    return n > 5 && !strcmp(name + n - 5, ".yaml");
}

static enum weft_status diff_log(const struct weft_cli_options *o, struct weft_error *error) {
    bool differs;
    if (access(o->operand[0], R_OK))
        return WEFT_REFUSE(error, WEFT_NOWHERE, "cannot read '%s': %s", o->operand[0], strerror(errno));
    if (o->operands < 2 || asked.variant || asked.with || asked.table || asked.all)
        return WEFT_REFUSE(error, WEFT_NOWHERE,
                           "%s is a class of servers; expected a log of measured times behind it, and no --variant, "
                           "--with, --table or --all",
                           o->operand[0]);
    enum weft_status status = weft_cli_diff_log(o, o->operand[0], asked.setup, &differs, error);
    return status || !asked.exit_status || !differs ? status : EXIT_DIFFERENT;
}

static enum weft_status diff_operands(const struct weft_cli_options *o, struct weft_error *error) {
    if (is_class(o->operand[0])) return diff_log(o, error);
    if (!asked.setup) return diff_folders(o, error);
    return WEFT_REFUSE(error, WEFT_NOWHERE, "--setup: is about a log; expected a class of servers, a file, as A");
}

int weft_cli_diff(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, diff_operands);
}
