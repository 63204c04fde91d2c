// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/param.h"
#include "base/tree.h"
#include "base/units.h"
#include "cli.h"
#include "results.h"
#include "simulation.h"
#include "weft/claim.h"
#include "weft/report.h"

/// Order of `common`; an option's own number in struct option.val is 256 + its place.
enum common {
    SET,
    SEED,
    VARIANT,
    THREADS,
    OVERSUBSCRIBE,
    PIN,
    OUT,
    FORCE,
    REPLACE,
    CAPTURE,
    ALLOW_WRITE,
    JSON,
    CSV,
    DATABASE,
    PICK,
    QUIET,
    NO_HINTS,
    COLOR,
    HELP,
    COMMONS
};

static const struct {
    const char *name, *argument, *help;
    uint32_t accept;
} common[COMMONS] = {
    [SET] = {"set", "PATH=VALUE", "override a value of the scenario; may be repeated", WEFT_CLI_PARAMETER},
    [SEED] = {"seed", "N", "the same as --set run.seed=N", WEFT_CLI_SEED},
    [VARIANT] = {"variant", "NAME", "only this variant of the scenario", WEFT_CLI_VARIANT},
    [THREADS] = {"threads", "N", "worker threads (default 1); the result does not depend on it", WEFT_CLI_THREADS},
    [OVERSUBSCRIBE] = {"oversubscribe", NULL, "run more threads than there are processors, if --threads asks for them",
                       WEFT_CLI_THREADS},
    [PIN] = {"pin", NULL, "spread threads over NUMA nodes and keep each on its own (default: the system moves them)",
             WEFT_CLI_THREADS},
    [OUT] = {"out", "DIR", "write the results into the folder DIR", WEFT_CLI_OUT},
    [FORCE] = {"force", NULL, "replace the results in DIR", WEFT_CLI_OUT},
    [REPLACE] = {"force", NULL, "replace FILE, if it is there", WEFT_CLI_REPLACE | WEFT_CLI_ANSWER},
    [CAPTURE] = {"capture", "PORT[,...]", "write frames of these ports to capture.pcapng; globs allowed",
                 WEFT_CLI_CAPTURE},
    [ALLOW_WRITE] = {"allow-write", "PATH",
                     "the scenario may name files for writing below PATH, besides its own folder and --out",
                     WEFT_CLI_WRITES},
    [JSON] = {"json", NULL, "one JSON object on standard output, nothing else", WEFT_CLI_JSON | WEFT_CLI_ANSWER},
    [CSV] = {"csv", "TABLE", "one table of the answer as CSV; weft models results lists them", WEFT_CLI_ANSWER},
    [DATABASE] = {"out", "FILE.sqlite", "write all tables of the answer into the database FILE.sqlite",
                  WEFT_CLI_ANSWER},
    [PICK] = {"pick", "PATH", "print the figure at PATH in the JSON, such as a.0.b; may be repeated",
              WEFT_CLI_ANSWER | WEFT_CLI_PICK},
    [QUIET] = {"quiet", NULL, "no progress", WEFT_CLI_QUIET},
    [NO_HINTS] = {"no-hints", NULL, "leave out the hints that follow the results", WEFT_CLI_HINTS},
    [COLOR] = {"color", "WHEN", "colours: auto (on a terminal, unless NO_COLOR is set), always or never", 0},
    [HELP] = {"help", NULL, "this text", 0},
};

enum { OWN_MAX = 32, FIRST_VAL = 256, THREADS_MAX = 1024 };

/// --out and --force of a folder of results stand for those of a file, too, and so does the command's own --out.
static bool accepts_option(const struct weft_cli_command *command, unsigned i) {
    uint32_t accept = command->accept | (command->answer ? WEFT_CLI_ANSWER : 0);
    if ((i == DATABASE || i == REPLACE) && accept & WEFT_CLI_OUT) return false;
    for (const struct weft_cli_option *o = command->option; i == DATABASE && o && o->name; o++)
        if (!strcmp(o->name, common[i].name)) return false;
    return !common[i].accept || (common[i].accept & accept);
}

void weft_cli_each_option(const struct weft_cli_command *command,
                          void (*visit)(void *context, const char *name, const char *argument, const char *help),
                          void *context) {
    for (const struct weft_cli_option *o = command->option; o && o->name; o++)
        visit(context, o->name, o->argument, o->help);
    for (unsigned i = 0; i < COMMONS; i++) {
        const char *help = i == OUT && command->answer ? "write the results into the folder DIR; FILE.sqlite: all "
                                                         "tables of the answer"
                                                       : common[i].help;
        if (accepts_option(command, i)) visit(context, common[i].name, common[i].argument, help);
    }
}

static void print_option(void *context, const char *name, const char *argument, const char *help) {
    char left[64];
    snprintf(left, sizeof left, "--%s%s%s", name, argument ? " " : "", argument ? argument : "");
    printf("  %-20s  %s\n", left, help);
}

static void print_help(const struct weft_cli_command *command) {
    printf("usage: weft %s [OPTIONS]%s%s\n\n%s\n\n", command->name, *command->operands ? " " : "", command->operands,
           command->about);
    weft_cli_each_option(command, print_option, NULL);
}

static void (*describe)(const struct weft_cli_command *command) = print_help;

void weft_cli_describe_by(void (*by)(const struct weft_cli_command *command)) {
    describe = by ? by : print_help;
}

bool weft_cli_is_described(void) {
    return describe != print_help;
}

/// The command's options in the form of getopt_long: common ones first, then its own.
static void fill_table(const struct weft_cli_command *command, struct option *table) {
    unsigned n = 0;
    for (unsigned i = 0; i < COMMONS; i++) {
        if (!accepts_option(command, i)) continue;
        table[n++] = (struct option){common[i].name, common[i].argument ? required_argument : no_argument, NULL,
                                     FIRST_VAL + (int)i};
    }
    unsigned own = 0;
    for (const struct weft_cli_option *o = command->option; o && o->name; o++, own++) {
        assert(own < OWN_MAX);
        table[n++] = (struct option){o->name, o->argument ? required_argument : no_argument, NULL,
                                     FIRST_VAL + COMMONS + (int)own};
    }
    table[n] = (struct option){0};
}

bool weft_cli_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *ret_number) {
    char why[256];
    uint64_t number = 0;
    if (!weft__quantity_parse(WEFT__COUNT, text, &number, why, sizeof why)) {
        fprintf(stderr, "weft: %s: %s\n", option, why);
        return false;
    }
    if (number < min || number > max) {
        fprintf(stderr, "weft: %s: %s is out of range %llu to %llu\n", option, text, (unsigned long long)min,
                (unsigned long long)max);
        return false;
    }
    *ret_number = number;
    return true;
}

/// As YAML in single quotes, where only the quote is special.
static const char *quoted_yaml(struct weft_arena *arena, const char *text) {
    char *quoted = weft_arena_alloc(arena, 2 * strlen(text) + 3, 1), *at = quoted;
    *at++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') *at++ = '\'';
        *at++ = *text;
    }
    *at = '\'';
    return quoted;
}

/// A missing folder is created, which fails if a component of the path is not a folder; better to report that before
/// the run than after it.
static bool can_be_folder(struct weft_arena *arena, const char *path) {
    struct stat about;
    char *part = weft_arena_text(arena, path);
    bool can = *path;
    for (char *at = part + (*part != 0); can; at++) { // not before a leading slash
        if (*at && *at != '/') continue;
        char was = *at;
        *at = 0;
        // What does not exist can be created, but a dangling link is in the way, and some names are too long. Another
        // rank may create it meanwhile.
        can = stat(part, &about) && lstat(part, &about) ? errno != ENAMETOOLONG : S_ISDIR(about.st_mode);
        *at = was;
        if (!was) break;
    }
    return can;
}

static bool is_database(const char *path) {
    size_t length = strlen(path), end = strlen(".sqlite");
    return length > end && !strcmp(path + length - end, ".sqlite");
}

/// `answers`: the command has an answer.
static bool take_common(enum common which, const char *value, bool answers, struct weft_cli_options *o) {
    uint64_t number;
    switch (which) {
    case SET:
        if (strchr(value, '=') && !strchr(value, '=')[1]) {
            fprintf(stderr, "weft: --set %s: expected KEY=VALUE; an empty text is written KEY='\"\"'\n", value);
            return false;
        }
        o->setting[o->settings++] = value;
        o->set = true;
        return true;
    case SEED:
        o->setting[o->settings++] = weft_arena_format(o->arena, "run.seed=%s", value);
        o->seed = value;
        return true;
    case VARIANT:
        o->variant = value;
        return true;
    case THREADS:
        if (!weft_cli_number("--threads", value, 1, THREADS_MAX, &number)) return false;
        o->threads = (uint32_t)number;
        return true;
    case OVERSUBSCRIBE:
        o->oversubscribe = true;
        return true;
    case PIN:
        o->pin = true;
        return true;
    case OUT:
        if (answers && is_database(value)) {
            o->database = value;
            return true;
        }
        if (is_database(value)) {
            fprintf(stderr, "weft: --out: expected a folder, in which the database gets its own name, not '%s'\n",
                    weft__text_shown(value, o->arena));
            return false;
        }
        if (!can_be_folder(o->arena, value)) {
            fprintf(stderr, "weft: --out: '%s' is not a folder; expected one, or a name that is free\n",
                    weft__text_shown(value, o->arena));
            return false;
        }
        o->out = value;
        return true;
    case FORCE:
    case REPLACE:
        o->force = true;
        return true;
    case CAPTURE:
        if (!*value) {
            fputs("weft: --capture: expected ports, as in spine-1,host-3/0\n", stderr);
            return false;
        }
        o->setting[o->settings++] = weft_arena_format(o->arena, "capture.ports=%s", quoted_yaml(o->arena, value));
        return true;
    case ALLOW_WRITE:
        o->allow_write[o->allow_writes++] = value;
        return true;
    case JSON:
        o->json = true;
        weft_cli_terminal_raw();
        return true;
    case CSV:
        o->csv = value;
        weft_cli_terminal_raw();
        return true;
    case DATABASE:
        o->database = value;
        if (is_database(value)) return true;
        fprintf(stderr, "weft: --out: expected a name that ends in .sqlite, not '%s'\n",
                weft__text_shown(value, o->arena));
        return false;
    case PICK:
        o->pick[o->picks++] = value;
        weft_cli_terminal_raw();
        return true;
    case QUIET:
        o->quiet = true;
        return true;
    case NO_HINTS:
        o->no_hints = true;
        return true;
    case COLOR:
        if (weft_cli_terminal_color(value)) return true;
        fprintf(stderr, "weft: --color: no choice \"%s\"; expected one of auto, always, never\n", value);
        return false;
    case HELP:
    case COMMONS:
        break;
    }
    return true;
}

static void take_own(const struct weft_cli_option *option, const char *value) {
    if (option->ret_value) *option->ret_value = value;
    if (option->ret_given) *option->ret_given = true;
}

/// The list has room for the whole command line, so it never grows.
static void take_repeated(const struct weft_cli_command *command, const char *value, int arguments,
                          struct weft_arena *arena) {
    struct weft_cli_values *all = command->ret_repeated;
    if (!all->value) all->value = weft_arena_alloc(arena, (size_t)arguments, sizeof *all->value);
    all->value[all->n++] = value;
}

static bool is_repeated(const struct weft_cli_command *command, const struct weft_cli_option *option) {
    return command->repeated && !strcmp(command->repeated, option->name);
}

/// --out FILE.sqlite of a command that writes another file by --out FILE.
static bool is_database_of(const struct weft_cli_command *command, const struct weft_cli_option *option,
                           const char *value) {
    return command->answer && !strcmp(option->name, common[DATABASE].name) && is_database(value);
}

static int fail_usage(const struct weft_cli_command *command) {
    fprintf(stderr, "weft: see weft %s --help\n", command->name);
    return WEFT_ERROR_INPUT;
}

/// Results that took hours must not be lost by a mistake.
static int check_out(const struct weft_cli_options *o) {
    if (!o->out || o->force || !weft_cli_is_result(o->out)) return WEFT_CLI_GO;
    fprintf(stderr, "weft: --out: '%s' holds results already; --force replaces them\n",
            weft__text_shown(o->out, o->arena));
    return WEFT_ERROR_INPUT;
}

static int check_operands(const struct weft_cli_command *command, const struct weft_cli_options *o) {
    if (o->operands >= command->operands_min && o->operands <= command->operands_max) return WEFT_CLI_GO;
    if (o->operands < command->operands_min)
        fprintf(stderr, "weft %s: expected %s\n", command->name, command->operands);
    else
        fprintf(stderr, "weft %s: unexpected argument \"%s\"; expected %s\n", command->name,
                weft__text_shown(o->operand[command->operands_max], o->arena), command->operands);
    return fail_usage(command);
}

static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/// Whether an operand, or what a folder among them holds, is that file.
static bool is_read(const struct weft_cli_options *o, const char *file) {
    static const char *const held[] = {"", "/results.sqlite", "/sweep.sqlite", "/result.json"};
    for (uint32_t i = 0; i < o->operands; i++)
        for (size_t k = 0; k < sizeof held / sizeof *held; k++)
            if (is_same_file(file, weft_arena_format(o->arena, "%s%s", o->operand[i], held[k]))) return true;
    return false;
}

/// A file to be written must not be one that is read, nor the database of a folder that is read.
static int check_files(const struct weft_cli_command *command, const struct weft_cli_options *o) {
    const char *name = o->database && is_read(o, o->database) ? common[DATABASE].name : NULL, *file = o->database;
    for (const struct weft_cli_option *own = command->option; !name && own && own->name; own++) {
        if (!own->ret_value || !own->argument || strcmp(own->argument, "FILE")) continue;
        file = *own->ret_value;
        if (file && is_read(o, file)) name = own->name;
    }
    if (!name) return WEFT_CLI_GO;
    fprintf(stderr, "weft: --%s: '%s' is read, and would be overwritten; expected another file\n", name,
            weft__text_shown(file, o->arena));
    return WEFT_ERROR_INPUT;
}

enum { TABLES_MAX = 256 };
/// That the answer, or one to an option, has such a table.
static enum weft_status check_table(const struct weft_cli_command *command, const struct weft_answer *answer,
                                    const char *table, struct weft_error *ret_error) {
    const struct weft_answer *all[] = {answer, command->to_option[0], command->to_option[1]};
    const char *names[TABLES_MAX];
    char expected[512];
    uint32_t n = 0;
    for (uint32_t k = 0; k < 3 && all[k]; k++) {
        if (weft_answer_table(all[k], table)) return WEFT_OK;
        for (uint32_t i = 0; i < all[k]->tables && n < TABLES_MAX; i++)
            names[n++] = all[k]->table[i]->name;
    }
    weft__names_expected(table, names, n, expected, sizeof expected);
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "no table of results \"%s\"; %s", table, expected);
}

static int check_answer(const struct weft_cli_command *command, const struct weft_cli_options *o) {
    const struct weft_answer *other = command->other;
    struct weft_error error = {0};
    if ((o->json != 0) + (o->csv != NULL) + (o->picks != 0) > 1)
        WEFT_REFUSE(&error, WEFT_NOWHERE, "--json, --csv and --pick: expected one of them");
    else if (o->csv && !(other && weft_answer_table(other, o->csv)))
        check_table(command, other && o->operands > command->operands_min ? other : command->answer, o->csv, &error);
    if (!error.status && o->database && !o->force && !access(o->database, F_OK))
        WEFT_REFUSE(&error, WEFT_NOWHERE, "--out: '%s' is there already; --force replaces it",
                    weft__text_shown(o->database, o->arena));
    if (!error.status && o->database) weft_cli_can_write_file("--out", o->database, o, &error);
    return error.status ? weft_cli_fail(&error) : WEFT_CLI_GO;
}

/// "--cable=4m": the length of its name; 0: no long option.
static size_t long_name(const char *argument) {
    return !strncmp(argument, "--", 2) && argument[2] ? strcspn(argument + 2, "=") : 0;
}

/// "-1", "-x": there is only -h.
static bool is_short(const char *argument) {
    return argument[0] == '-' && argument[1] && argument[1] != '-' && strcmp(argument, "-h");
}

/// "TABLE" of --csv.
static const char *argument_of(const struct weft_cli_command *command, int option) {
    int i = option - FIRST_VAL;
    return i >= COMMONS ? command->option[i - COMMONS].argument : common[i].argument;
}

/// Options are written in full: of an abbreviation the next option of weft could make something else.
static int check_names(const struct weft_cli_command *command, const struct option *table, int argc, char **argv) {
    const char *names[COMMONS + OWN_MAX];
    unsigned n = 0;
    for (; table[n].name; n++)
        names[n] = table[n].name;
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
        size_t length = long_name(argv[i]);
        unsigned k = 0;
        while (k < n && (strlen(names[k]) != length || strncmp(names[k], argv[i] + 2, length)))
            k++;
        if (k < n) {
            if (table[k].has_arg != required_argument || argv[i][2 + length]) continue;
            if (++i < argc) continue; // what follows is its value
            fprintf(stderr, "%s: --%s: expected %s after it\n", argv[0], names[k], argument_of(command, table[k].val));
            return WEFT_ERROR_INPUT;
        }
        if (!length && !is_short(argv[i])) continue;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(length ? 2 + length : strlen(argv[i])), argv[i]);
        const char *nearest = length ? weft_error_nearest(name + 2, names, n) : NULL;
        fprintf(stderr, "%s: unrecognized option '%s'", argv[0], name);
        if (nearest) fprintf(stderr, "; did you mean --%s?", nearest);
        fputc('\n', stderr);
        return WEFT_ERROR_INPUT;
    }
    return WEFT_CLI_GO;
}

int weft_cli_parse(const struct weft_cli_command *command, int argc, char **argv,
                   struct weft_cli_options *ret_options) {
    struct weft_cli_options *o = ret_options;
    *o = (struct weft_cli_options){.threads = 1, .arena = weft_arena_new(WEFT_MEMORY_SCENARIO)};
    o->setting = weft_arena_alloc(o->arena, (size_t)argc, sizeof *o->setting);
    o->allow_write = weft_arena_alloc(o->arena, (size_t)argc, sizeof *o->allow_write);
    o->pick = weft_arena_alloc(o->arena, (size_t)argc, sizeof *o->pick);
    struct option table[COMMONS + OWN_MAX + 1];
    fill_table(command, table);
    char *name = weft_arena_format(o->arena, "weft %s", command->name);
    argv[0] = name; // getopt's messages begin with it
    optind = 0;     // glibc: begin anew
    if (check_names(command, table, argc, argv) != WEFT_CLI_GO) return fail_usage(command);
    for (int c; (c = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        if (c == '?') return fail_usage(command);
        int i = c - FIRST_VAL;
        if (c == 'h' || i == HELP) {
            describe(command);
            return WEFT_OK;
        }
        if (i >= COMMONS && is_repeated(command, &command->option[i - COMMONS]))
            take_repeated(command, optarg, argc, o->arena);
        else if (i >= COMMONS && is_database_of(command, &command->option[i - COMMONS], optarg))
            o->database = optarg;
        else if (i >= COMMONS)
            take_own(&command->option[i - COMMONS], optarg);
        else if (!take_common((enum common)i, optarg, command->answer, o))
            return WEFT_ERROR_INPUT;
    }
    o->operand = argv + optind;
    o->operands = (uint32_t)(argc - optind);
    int exit_status = check_operands(command, o);
    if (exit_status == WEFT_CLI_GO) exit_status = check_files(command, o);
    if (exit_status == WEFT_CLI_GO && (command->answer || o->picks)) exit_status = check_answer(command, o);
    return exit_status == WEFT_CLI_GO ? check_out(o) : exit_status;
}

bool weft_cli_is_result(const char *path) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    return !access(weft_arena_format(arena, "%s/results.sqlite", path), F_OK);
}

/// A folder without results of runs: it may contain those of a sweep.
static enum weft_status refuse_folder(const struct weft_cli_options *o, struct weft_error *ret_error) {
    const char *path = o->operand[0];
    if (access(weft_arena_format(o->arena, "%s/sweep.sqlite", path), F_OK))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = path},
                           "a folder without results; expected a scenario file, or a folder that weft run --out or "
                           "weft compare --out has written");
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = path},
                       "a sweep, which keeps figures of its points and not their runs; expected a folder of one "
                       "run, as weft run SCENARIO --set PATH=VALUE --out DIR makes it of a point");
}

static bool is_folder(const char *path) {
    struct stat about;
    return !stat(path, &about) && S_ISDIR(about.st_mode);
}

/// Allows the scenario files for writing below --out and below each --allow-write; weft_cli_scenario_read does so.
static enum weft_status allow_write_paths(const struct weft_cli_options *o, struct weft_scenario_file *file,
                                          struct weft_error *ret_error) {
    enum weft_status status = o->out ? weft_scenario_file_allow_write(file, o->out, ret_error) : WEFT_OK;
    for (uint32_t i = 0; i < o->allow_writes && !status; i++)
        status = weft_scenario_file_allow_write(file, o->allow_write[i], ret_error);
    return status;
}

static enum weft_status read_scenario(const struct weft_cli_options *o, struct weft_scenario_file **ret_file,
                                      struct weft_error *ret_error) {
    const char *path = o->operand[0];
    if (!weft_cli_is_result(path) && is_folder(path)) return refuse_folder(o, ret_error);
    if (!weft_cli_is_result(path)) return weft_scenario_file_read(path, o->setting, o->settings, ret_file, ret_error);
    struct weft_stored stored;
    struct weft_scenario_file *file = NULL;
    enum weft_status status = weft_stored_read(path, NULL, NULL, o->arena, &stored, ret_error);
    if (!status) status = weft_scenario_file_stored(stored.source, stored.sources, &file, ret_error);
    for (uint32_t i = 0; i < o->settings && !status; i++)
        status = weft_scenario_file_set(file, o->setting[i], ret_error);
    if (!status) *ret_file = file;
    return status;
}

enum weft_status weft_cli_saved_read(const char *option, const char *path, struct weft_arena *arena,
                                     struct weft_tree **ret_tree, struct weft_error *ret_error) {
    if (access(path, R_OK))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = option}, "cannot read '%s': %s", path,
                           strerror(errno));
    return weft_tree_read(path, arena, ret_tree, ret_error);
}

enum weft_status weft_cli_scenario_read(const struct weft_cli_options *o, struct weft_scenario_file **ret_file,
                                        struct weft_error *ret_error) {
    enum weft_status status = read_scenario(o, ret_file, ret_error);
    return status ? status : allow_write_paths(o, *ret_file, ret_error);
}

enum { MISTAKES_SHOWN = 20 };

struct mistakes {
    const struct weft_error *first;
    struct weft_arena *arena;
    const struct weft_error *mistake[MISTAKES_SHOWN];
    uint32_t n, more;
    bool has_first; ///< the first error is one of them
};

/// How long the text is without the variant, which several may share.
static size_t common_length(const struct weft_error *e) {
    const char *variant = strstr(e->text, " (variant ");
    return variant ? (size_t)(variant - e->text) : strlen(e->text);
}

static bool is_same_mistake(const struct weft_error *a, const struct weft_error *b) {
    size_t n = common_length(a);
    return n == common_length(b) && !strncmp(a->text, b->text, n);
}

static void add_mistake(void *context, const struct weft_error *error) {
    struct mistakes *m = context;
    bool known = is_same_mistake(error, m->first);
    m->has_first |= known;
    for (uint32_t i = 0; i < m->n && !known; i++)
        known = is_same_mistake(error, m->mistake[i]);
    if (known) return;
    if (m->n == MISTAKES_SHOWN) {
        m->more++;
        return;
    }
    struct weft_error *copy = weft_arena_alloc(m->arena, 1, sizeof *copy);
    *copy = *error;
    m->mistake[m->n++] = copy;
}

int weft_cli_fail_scenario(const struct weft_error *error, const struct weft_scenario_file *file) {
    weft_cli_fail(error);
    if (error->status == WEFT_ERROR_INPUT) weft_cli_drop_out_folder();
    if (!file || error->status != WEFT_ERROR_INPUT) return (int)error->status;
    WEFT_SCRATCH(arena, WEFT_MEMORY_SCENARIO);
    struct mistakes m = {.first = error, .arena = arena};
    for (uint32_t v = 0; v < weft_scenario_variants(file); v++)
        m.more += weft_scenario_mistakes(file, v, add_mistake, &m);
    struct weft_claim *claim;
    struct weft_error of_claims = {0};
    uint32_t claims;
    if (weft_claims_new(file, m.arena, &claim, &claims, &of_claims)) add_mistake(&m, &of_claims);
    for (uint32_t i = 0; i < m.n && m.has_first; i++)
        weft_cli_fail(m.mistake[i]);
    if (m.more && m.has_first) fprintf(stderr, "weft: and %s\n", weft__counted(m.more, "more mistake").text);
    return (int)error->status;
}

int weft_cli_act(const struct weft_cli_command *command, int argc, char **argv,
                 enum weft_status (*act)(const struct weft_cli_options *options, struct weft_error *ret_error)) {
    struct weft_cli_options o;
    struct weft_error error = {0};
    int exit_status = weft_cli_parse(command, argc, argv, &o);
    if (exit_status == WEFT_CLI_GO) {
        exit_status = (int)act(&o, &error);
        if (error.status) weft_cli_fail(&error);
    }
    return exit_status;
}

int weft_cli_on_scenario(const struct weft_cli_command *command, int argc, char **argv,
                         enum weft_status (*act)(const struct weft_cli_options *options,
                                                 const struct weft_scenario_file *file, struct weft_error *ret_error)) {
    struct weft_cli_options o;
    struct weft_error error = {0};
    struct weft_scenario_file *file = NULL;
    int exit_status = weft_cli_parse(command, argc, argv, &o);
    if (exit_status == WEFT_CLI_GO) {
        enum weft_status status = weft_cli_scenario_read(&o, &file, &error);
        if (!status) status = act(&o, file, &error);
        if (error.status) weft_cli_fail_scenario(&error, file);
        exit_status = (int)status;
    }
    return exit_status;
}

const char *weft_cli_bytes_text(weft_bytes bytes, char text[WEFT_CLI_TEXT]) {
    weft_format_bytes(bytes, text, WEFT_CLI_TEXT);
    return text;
}

const char *weft_cli_folder_of(const char *path, struct weft_arena *arena) {
    const char *slash = strrchr(path, '/');
    return slash ? weft_arena_format(arena, "%.*s", slash == path ? 1 : (int)(slash - path), path) : "";
}

int weft_cli_fail(const struct weft_error *error) {
    fprintf(stderr, "weft: %s\n", error->text);
    return (int)error->status;
}

void weft_cli_mention_others(const char *doing, const char *const *name, uint32_t n, const char *more) {
    if (n < 2) return;
    fprintf(stderr, "weft: %s variant '%s'; --variant NAME chooses another%s:", doing, name[0], more);
    for (uint32_t i = 1; i < n; i++)
        fprintf(stderr, " '%s'", name[i]);
    fputc('\n', stderr);
}

/// Reports that no variant has that name.
static enum weft_status refuse_variant(const char *wanted, const struct weft_scenario_file *file,
                                       struct weft_arena *arena, struct weft_error *ret_error) {
    uint32_t n = weft_scenario_variants(file);
    const char **names = weft_arena_alloc(arena, n, sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = weft_scenario_variant_name(file, i);
    if (n == 1 && !*names[0])
        return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--variant %s: the scenario has no variants", wanted);
    char expected[512];
    weft__names_expected(wanted, names, n, expected, sizeof expected);
    return WEFT_REFUSE(ret_error, WEFT_NOWHERE, "--variant %s: no such variant; %s", wanted, expected);
}

enum weft_status weft_cli_variant(const struct weft_cli_options *options, const struct weft_scenario_file *file,
                                  uint32_t *ret_variant, struct weft_error *ret_error) {
    *ret_variant = 0;
    if (!options->variant) return WEFT_OK;
    for (uint32_t i = 0; i < weft_scenario_variants(file); i++) {
        if (strcmp(weft_scenario_variant_name(file, i), options->variant)) continue;
        *ret_variant = i;
        return WEFT_OK;
    }
    return refuse_variant(options->variant, file, options->arena, ret_error);
}

/// Chooses the variants that match; false: there is none.
static bool choose_variants(const char *glob, const struct weft_scenario_file *file, bool *chosen) {
    bool any = false;
    for (uint32_t i = 0; i < weft_scenario_variants(file); i++) {
        if (!weft_glob_match(glob, weft_scenario_variant_name(file, i))) continue;
        chosen[i] = any = true;
    }
    return any;
}

enum weft_status weft_cli_choose_variants(const char *globs, const struct weft_scenario_file *file,
                                          struct weft_arena *arena, uint32_t **ret_variant, uint32_t *ret_n,
                                          struct weft_error *ret_error) {
    uint32_t n = weft_scenario_variants(file);
    bool *chosen = weft_arena_alloc(arena, n, sizeof *chosen);
    memset(chosen, !globs, n * sizeof *chosen);
    char *rest = globs ? weft_arena_text(arena, globs) : NULL;
    for (char *glob; (glob = strsep(&rest, ","));)
        if (!choose_variants(glob, file, chosen)) return refuse_variant(glob, file, arena, ret_error);
    *ret_variant = weft_arena_alloc(arena, n, sizeof **ret_variant);
    *ret_n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (chosen[i]) (*ret_variant)[(*ret_n)++] = i;
    return WEFT_OK;
}

enum weft_status weft_cli_with_variant(const struct weft_cli_options *options, const struct weft_scenario_file *file,
                                       enum weft_status (*use)(const struct weft_scenario *,
                                                               const struct weft_cli_options *, struct weft_error *),
                                       struct weft_error *ret_error) {
    uint32_t variant;
    struct weft_scenario *scenario;
    enum weft_status status = weft_cli_variant(options, file, &variant, ret_error);
    if (!status) status = weft_scenario_new(file, variant, &scenario, ret_error);
    if (status) return status;
    return use(scenario, options, ret_error);
}
