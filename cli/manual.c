// SPDX-License-Identifier: Apache-2.0
// weft manual: pages for man(1), made from the rows that the commands use to parse their options. The format is that of
// groff_man(7).
#include <ctype.h>
#include <stdio.h>

#include "cli.h"

/// Prints text for roff: dashes that can be copied, no accidental escapes, no requests at the start of a line.
static void print_text(const char *text) {
    bool first = true;
    for (; *text; text++) {
        if (first && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        first = *text == '\n';
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void print_title(const char *name, const char *summary) {
    printf(".TH \"");
    for (const char *at = name; *at; at++)
        putchar(*at == ' ' ? '-' : toupper((unsigned char)*at));
    printf("\" 1 \"\" \"weft %s\" \"weft manual\"\n.SH NAME\n", WEFT_VERSION);
    for (const char *at = name; *at; at++)
        fputs(*at == ' ' || *at == '-' ? "\\-" : (char[]){*at, 0}, stdout);
    printf(" \\- ");
    print_text(summary);
}

static void print_option(void *context, const char *name, const char *argument, const char *help) {
    printf("\n.TP\n.B \\-\\-");
    print_text(name);
    if (argument) {
        printf(" \\fI");
        print_text(argument);
        printf("\\fR");
    }
    printf("\n");
    print_text(help);
}

static void print_command(const struct weft_cli_command *command) {
    printf("\n.SH SYNOPSIS\n.B weft ");
    print_text(command->name);
    printf("\n[\\fIOPTIONS\\fR] ");
    print_text(command->operands);
    printf("\n.SH DESCRIPTION\n");
    print_text(command->about);
    printf("\n.SH OPTIONS");
    weft_cli_each_option(command, print_option, NULL);
}

static void print_end(void) {
    printf(
        "\n.SH EXIT STATUS\n"
        "0: done. 1: the machine failed: memory, disk. 2: bad input. 3: bytes were lost or invented, a bug of weft.\n"
        "4: the simulated network stalled, or was not done in time. 5: a claim turned out other than expected, or "
        "results differ.\n130: interrupted by a signal.\n.SH SEE ALSO\n");
}

static void print_page(uint32_t which) {
    char name[64];
    snprintf(name, sizeof name, "weft %s", weft_cli_command_name(which));
    print_title(name, weft_cli_command_summary(which));
    weft_cli_describe_by(print_command);
    weft_cli_command_help(which);
    weft_cli_describe_by(NULL);
    print_end();
    printf("weft(1)\n");
}

static void print_overview(void) {
    print_title("weft", "a simulator of the networks that AI clusters run on");
    printf("\n.SH SYNOPSIS\n.B weft\n\\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n.SH COMMANDS");
    for (uint32_t i = 0; i < weft_cli_command_count(); i++) {
        printf("\n.TP\n.B ");
        print_text(weft_cli_command_name(i));
        printf("\n");
        print_text(weft_cli_command_summary(i));
    }
    print_end();
    for (uint32_t i = 0; i < weft_cli_command_count(); i++) {
        printf("%sweft\\-", i ? ",\n" : "");
        print_text(weft_cli_command_name(i));
        printf("(1)");
    }
    printf("\n");
}

int weft_cli_manual(int argc, char **argv) {
    static const struct weft_cli_command command = {
        .name = "manual",
        .operands = "[COMMAND]",
        .about = "Prints the page of a command, or of weft itself, as man reads it: weft manual run | man -l -",
        .operands_max = 1,
    };
    struct weft_cli_options o;
    int exit_status = weft_cli_parse(&command, argc, argv, &o);
    if (exit_status == WEFT_CLI_GO) {
        uint32_t which = o.operands ? weft_cli_command_find(o.operand[0]) : 0;
        exit_status = which < weft_cli_command_count() ? WEFT_OK : WEFT_ERROR_INPUT;
        if (!o.operands)
            print_overview();
        else if (exit_status == WEFT_OK)
            print_page(which);
    }
    return exit_status;
}
