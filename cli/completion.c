// SPDX-License-Identifier: Apache-2.0
// weft completion: scripts for shells, made from the rows that the commands use to parse their options. The shells'
// interfaces are those of bash(1) "Programmable Completion", zshcompsys(1) and fish's complete(1).
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/// A list of words; NULL after the last.
typedef const char *words(uint32_t i);

static const char *command_word(uint32_t i) {
    return i < weft_cli_command_count() ? weft_cli_command_name(i) : NULL;
}

static const char *kind_word(uint32_t i) {
    if (i < WEFT_KINDS) return weft_kind_name((enum weft_model_kind)i);
    return i == WEFT_KINDS ? "results" : NULL;
}

static const char *import_word(uint32_t i) {
    return i < weft_model_count(WEFT_KIND_IMPORT) ? weft_model_at(WEFT_KIND_IMPORT, i)->name : NULL;
}

static const char *shell_word(uint32_t i) {
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    return shells[i];
}

/// "plan pfc" is a calculator of "plan": returns the part after the space, else NULL.
static const char *nested_name(const struct weft_cli_command *command) {
    const char *space = strchr(command->name, ' ');
    return space ? space + 1 : NULL;
}

enum { NESTED_MAX = 32, NESTED_LENGTH = 32 };
static char calculators[NESTED_MAX][NESTED_LENGTH];
static uint32_t calculator_count;

static void add_calculator(const struct weft_cli_command *command) {
    if (!nested_name(command)) return;
    assert(calculator_count < NESTED_MAX);
    snprintf(calculators[calculator_count++], NESTED_LENGTH, "%s", nested_name(command));
}

static const char *calculator_word(uint32_t i) {
    return i < calculator_count ? calculators[i] : NULL;
}

/// The commands whose operands are words; all others take files.
static const struct operands {
    const char *command;
    words *word;
} operands[] = {{"models", kind_word},      {"import", import_word},  {"plan", calculator_word},
                {"completion", shell_word}, {"manual", command_word}, {"help", command_word}};
enum { OPERANDS = sizeof operands / sizeof *operands };

static void print_words(words *word) {
    for (uint32_t i = 0; word(i); i++)
        printf("%s%s", i ? " " : "", word(i));
}

static void describe_all(void (*by)(const struct weft_cli_command *command)) {
    weft_cli_describe_by(by);
    for (uint32_t i = 0; i < weft_cli_command_count(); i++)
        weft_cli_command_help(i);
    weft_cli_describe_by(NULL);
}

/// The first line of a text inside single quotes, with a backslash before each character of `special`.
static void print_quoted(const char *text, const char *special, const char *quote) {
    for (; *text && *text != '\n'; text++) {
        if (*text == '\'')
            fputs(quote, stdout);
        else
            printf("%s%c", strchr(special, *text) ? "\\" : "", *text);
    }
}

static void bash_option(void *context, const char *name, const char *argument, const char *help) {
    (void)context, (void)help;
    printf(" --%s%s", name, argument ? "=" : "");
}

static void bash_command(const struct weft_cli_command *command) {
    printf("    '%s'%s) options='", command->name, nested_name(command) ? "" : "' '*");
    weft_cli_each_option(command, bash_option, NULL);
    printf("' ;;\n");
}

static void print_bash(void) {
    printf("# bash completion of weft: source it, or keep it as /usr/share/bash-completion/completions/weft\n"
           "_weft() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} options= words= place=$COMP_CWORD\n"
           "    case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n");
    describe_all(bash_command);
    printf("    esac\n"
           "    [ $place -ne 1 ] || words='");
    print_words(command_word);
    printf(" help version'\n"
           "    [ $place -ne 2 ] || case ${COMP_WORDS[1]} in\n");
    for (uint32_t i = 0; i < OPERANDS; i++) {
        printf("    %s) words='", operands[i].command);
        print_words(operands[i].word);
        printf("' ;;\n");
    }
    printf("    esac\n"
           "    case $word in\n"
           "    -*)\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
           "        [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
           "        return ;;\n"
           "    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    [ ${#COMPREPLY[@]} -ne 0 ] || { COMPREPLY=($(compgen -f -- \"$word\")); compopt -o filenames "
           "2>/dev/null; }\n"
           "}\n"
           "complete -F _weft weft\n");
}

static void zsh_option(void *context, const char *name, const char *argument, const char *help) {
    printf(" \\\n            '*--%s%s[", name, argument ? "=" : "");
    print_quoted(help, "[]\\:", "'\\''");
    printf("]");
    if (argument) {
        printf(":");
        print_quoted(argument, ":\\", "'\\''");
        printf(":_files");
    }
    printf("'");
}

static void zsh_command(const struct weft_cli_command *command) {
    printf("    '%s'%s) _arguments -S", command->name, nested_name(command) ? "" : "' '*");
    weft_cli_each_option(command, zsh_option, NULL);
    printf(" \\\n            '*:operand:_files' ;;\n");
}

static void print_zsh(void) {
    printf("#compdef weft\n"
           "# zsh completion of weft: keep it as _weft in a folder of $fpath\n"
           "_weft() {\n"
           "    local -a commands\n"
           "    commands=(\n");
    for (uint32_t i = 0; i < weft_cli_command_count(); i++) {
        printf("        '%s:", weft_cli_command_name(i));
        print_quoted(weft_cli_command_summary(i), ":\\", "'\\''");
        printf("'\n");
    }
    printf("        'help:of a command' 'version:of the program'\n"
           "    )\n"
           "    if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
           "    if (( CURRENT == 3 )); then case $words[2] in\n");
    for (uint32_t i = 0; i < OPERANDS; i++) {
        printf("    %s) compadd -- ", operands[i].command);
        print_words(operands[i].word);
        printf(" ;;\n");
    }
    printf("    esac; fi\n"
           "    case \"$words[2] $words[3]\" in\n");
    describe_all(zsh_command);
    printf("    esac\n"
           "}\n"
           "if [ \"$funcstack[1]\" = _weft ]; then _weft \"$@\"; else compdef _weft weft; fi\n");
}

static void fish_option(void *context, const char *name, const char *argument, const char *help) {
    const struct weft_cli_command *command = context;
    const char *inner = nested_name(command);
    printf("complete -c weft -n '__fish_seen_subcommand_from %.*s%s%s' -l %s%s -d '", (int)strcspn(command->name, " "),
           command->name, inner ? "; and __fish_seen_subcommand_from " : "", inner ? inner : "", name,
           argument ? " -r" : "");
    print_quoted(help, "\\", "\\'");
    printf("'\n");
}

static void fish_command(const struct weft_cli_command *command) {
    weft_cli_each_option(command, fish_option, (void *)(uintptr_t)command);
}

static void print_fish(void) {
    printf("# fish completion of weft: keep it as ~/.config/fish/completions/weft.fish\n");
    for (uint32_t i = 0; i < weft_cli_command_count(); i++) {
        printf("complete -c weft -n __fish_use_subcommand -f -a %s -d '", weft_cli_command_name(i));
        print_quoted(weft_cli_command_summary(i), "\\", "\\'");
        printf("'\n");
    }
    printf("complete -c weft -n __fish_use_subcommand -f -a 'help version'\n");
    for (uint32_t i = 0; i < OPERANDS; i++) {
        printf("complete -c weft -n '__fish_seen_subcommand_from %s' -a '", operands[i].command);
        print_words(operands[i].word);
        printf("'\n");
    }
    describe_all(fish_command);
}

int weft_cli_completion(int argc, char **argv) {
    static const struct weft_cli_command command = {
        .name = "completion",
        .operands = "bash|zsh|fish",
        .about =
            "Prints a script with which the shell completes commands, their options and what models and formats there "
            "are.\nbash, for this session: source <(weft completion bash). The script itself says where to keep it.",
        .operands_min = 1,
        .operands_max = 1,
    };
    static void (*const print[])(void) = {print_bash, print_zsh, print_fish};
    struct weft_cli_options o;
    int exit_status = weft_cli_parse(&command, argc, argv, &o);
    if (exit_status == WEFT_CLI_GO) {
        uint32_t which = 0;
        while (shell_word(which) && strcmp(o.operand[0], shell_word(which)))
            which++;
        exit_status = shell_word(which) ? WEFT_OK : WEFT_ERROR_INPUT;
        describe_all(add_calculator);
        if (shell_word(which))
            print[which]();
        else
            fprintf(stderr, "weft: completion: no shell \"%s\"; expected one of bash, zsh, fish\n", o.operand[0]);
    }
    return exit_status;
}
