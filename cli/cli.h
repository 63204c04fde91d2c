// SPDX-License-Identifier: Apache-2.0
// What the subcommands share. A subcommand gets its own name as argv[0] and returns the exit status (weft/error.h).
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "weft/memory.h"
#include "weft/scenario.h"

struct weft_answer; // weft/result.h

#define WEFT_COMMAND(name, summary) int weft_cli_##name(int argc, char **argv);
#include "commands.def"
#undef WEFT_COMMAND

/// Of the source tree that the program was built from, with "-dirty" if that had changes; "unknown" without git.
extern const char weft_cli_commit[];

/// Options that more than one subcommand has; --help always exists.
enum weft_cli_accept {
    WEFT_CLI_PARAMETER = 1, ///< --set path=value, repeated
    WEFT_CLI_SEED = 128,    ///< --seed N, which is --set run.seed=N
    WEFT_CLI_SET = WEFT_CLI_PARAMETER | WEFT_CLI_SEED,
    WEFT_CLI_VARIANT = 2,   ///< --variant NAME
    WEFT_CLI_THREADS = 4,   ///< --threads N
    WEFT_CLI_OUT = 8,       ///< --out DIR, --force
    WEFT_CLI_JSON = 16,     ///< --json
    WEFT_CLI_QUIET = 32,    ///< --quiet
    WEFT_CLI_CAPTURE = 64,  ///< --capture PORTS, which is --set capture.ports=PORTS
    WEFT_CLI_WRITES = 512,  ///< --allow-write PATH, repeated
    WEFT_CLI_HINTS = 1024,  ///< --no-hints
    WEFT_CLI_REPLACE = 256, ///< --force, of a command that writes a file for its user to edit
    WEFT_CLI_ANSWER = 2048, ///< --json, --csv TABLE, --out FILE.sqlite, --pick PATH: of every command with an answer
    WEFT_CLI_PICK = 4096,   ///< --pick PATH
};

/// The values of an option that may be repeated.
struct weft_cli_values {
    const char **value;
    uint32_t n;
};

/// An option of one subcommand. With `argument` (its name in the help) it stores its value, otherwise true.
struct weft_cli_option {
    const char *name; ///< "hosts" for --hosts
    const char *argument, *help;
    const char **ret_value;
    bool *ret_given;
};

struct weft_cli_command {
    const char *name, *operands, *about; ///< "check", "SCENARIO", and one or more lines about it
    uint32_t accept;                     ///< of enum weft_cli_accept
    uint32_t operands_min, operands_max;
    const struct weft_cli_option *option; ///< its own options; ends with a name of NULL; may be NULL
    const struct weft_answer *answer;     ///< what it answers: it accepts WEFT_CLI_ANSWER; NULL: it has no rows
    /// What it answers in other forms, as to other operands, or to an option; NULL: there is none.
    const struct weft_answer *other, *to_option[2];
    const char *repeated;                 ///< the name of the repeatable one; NULL: none
    struct weft_cli_values *ret_repeated; ///< all of its values
};

struct weft_cli_options {
    const char **setting; ///< "path=value"
    uint32_t settings;
    bool set;                 ///< some values are set by --set: the scenario differs from its file
    const char *seed;         ///< the value of --seed; NULL: not given
    const char *variant;      ///< NULL: all, or the first
    const char *out;          ///< NULL: not given
    const char **allow_write; ///< paths below which a scenario may name files for writing
    uint32_t allow_writes;
    uint32_t threads;   ///< 1 if not given
    bool oversubscribe; ///< allows more threads than processors
    bool pin;           ///< pins each thread to a NUMA node
    bool force;         ///< `out` may hold results, and a file that is to be written may be there
    bool json, quiet, no_hints;
    const char *csv;      ///< the table to print; NULL: none
    const char *database; ///< the file for all tables; NULL: none
    const char **pick;    ///< [picks]: paths of figures to print
    uint32_t picks;
    char **operand;
    uint32_t operands;
    struct weft_arena *arena;
};

/// Gives the answer in the form that the options ask for: JSON, a table as CSV, single figures, or, where they ask for
/// none of them, text by `text`; and the database.
enum weft_status weft_cli_answer(const struct weft_cli_options *o, const struct weft_answer *answer,
                                 const void *subject, void (*text)(FILE *file, const void *subject),
                                 struct weft_error *ret_error);

/// Whether standard output is for programs.
static inline bool weft_cli_is_raw(const struct weft_cli_options *o) {
    return o->json || o->csv || o->picks;
}
/// The path that --pick splits into these parts.
const char *weft_cli_pick_path(const char *const *part, uint32_t parts, struct weft_arena *arena);

/// The results of weft_cli_parse: WEFT_CLI_GO to continue, else the exit status.
#define WEFT_CLI_GO (-1)
/// Reads options and operands, mixed in any order. --help prints to standard output, errors go to standard error. What
/// a command reads and makes lives until it ends (cli/main.c).
int weft_cli_parse(const struct weft_cli_command *command, int argc, char **argv, struct weft_cli_options *ret_options);
/// Visits every option of the command, its own first; `argument` is NULL for options without one.
void weft_cli_each_option(const struct weft_cli_command *command,
                          void (*visit)(void *context, const char *name, const char *argument, const char *help),
                          void *context);
/// Sets what --help does instead of printing the usual text; NULL: prints it again. Man pages and completions are made
/// with this, from the rows that the commands use for parsing.
void weft_cli_describe_by(void (*by)(const struct weft_cli_command *command));
bool weft_cli_is_described(void);
/// The commands in the order of commands.def, as users write them: trace-control.
uint32_t weft_cli_command_count(void);
const char *weft_cli_command_name(uint32_t i);
const char *weft_cli_command_summary(uint32_t i);
/// The number of the command; if there is none of that name, the count of commands, after a message with a suggestion
/// on standard error.
uint32_t weft_cli_command_find(const char *name);
/// Calls the command with --help as its only argument.
void weft_cli_command_help(uint32_t i);
/// Parses a whole number; false, with a message on standard error, if it is none, or not within min..max.
bool weft_cli_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *ret_number);
/// The folder of a file; "": the current one.
const char *weft_cli_folder_of(const char *path, struct weft_arena *arena);
/// Whether it is a folder written by --out.
bool weft_cli_is_result(const char *path);
/// Makes a folder, for this process alone until it ends; `shared`: and for others that share it.
enum weft_status weft_cli_own_folder(const char *path, bool shared, struct weft_error *ret_error);
/// Likewise the folder of --out, for this process alone until it ends; later calls do nothing. `shared`: for tasks of
/// one sweep, too. `fresh`: it must not hold results, unless --force says so.
enum weft_status weft_cli_out_folder(const struct weft_cli_options *o, bool shared, bool fresh,
                                     struct weft_error *ret_error);
/// In a forked process: the folder stays its parent's alone, and is free when the parent has ended.
void weft_cli_out_folder_forked(void);
/// A command that is refused leaves no empty folder behind: removes the one that it made, if nothing is in it.
void weft_cli_drop_out_folder(void);
/// Reads the scenario that the first operand names: a file, or a folder of results, which contains its scenario.
enum weft_status weft_cli_scenario_read(const struct weft_cli_options *options, struct weft_scenario_file **ret_file,
                                        struct weft_error *ret_error);
/// Reads JSON that a command has written, which `option` names.
enum weft_status weft_cli_saved_read(const char *option, const char *path, struct weft_arena *arena,
                                     struct weft_tree **ret_tree, struct weft_error *ret_error);
/// Runs a subcommand: parses options, calls `act`, reports its error if it set one, frees everything. `act` returns the
/// exit status.
int weft_cli_act(const struct weft_cli_command *command, int argc, char **argv,
                 enum weft_status (*act)(const struct weft_cli_options *options, struct weft_error *ret_error));
/// The same on one scenario, which it reads; an error of its values is reported with all others that they have.
int weft_cli_on_scenario(const struct weft_cli_command *command, int argc, char **argv,
                         enum weft_status (*act)(const struct weft_cli_options *options,
                                                 const struct weft_scenario_file *file, struct weft_error *ret_error));
/// Says on standard error that, of several variants, the first one is used; `more` follows the hint at --variant.
void weft_cli_mention_others(const char *doing, const char *const *name, uint32_t n, const char *more);
/// Like weft_format_bytes, into `text`, which it returns.
enum { WEFT_CLI_TEXT = 32 };
const char *weft_cli_bytes_text(weft_bytes bytes, char text[WEFT_CLI_TEXT]);
/// Prints "weft: ..." to standard error and returns the exit status.
int weft_cli_fail(const struct weft_error *error);
/// The same, and all other mistakes of the scenario if the error is one that its values have; `file` may be NULL.
int weft_cli_fail_scenario(const struct weft_error *error, const struct weft_scenario_file *file);
/// The number of the variant that --variant names (0 without it). An unknown name is an error.
enum weft_status weft_cli_variant(const struct weft_cli_options *options, const struct weft_scenario_file *file,
                                  uint32_t *ret_variant, struct weft_error *ret_error);
/// The variants whose names match one of the globs (separated by commas), in the order of the file; NULL: all. A glob
/// without a match is an error.
enum weft_status weft_cli_choose_variants(const char *globs, const struct weft_scenario_file *file,
                                          struct weft_arena *arena, uint32_t **ret_variant, uint32_t *ret_n,
                                          struct weft_error *ret_error);
/// Calls `use` with the scenario of that variant, and frees it.
enum weft_status weft_cli_with_variant(const struct weft_cli_options *options, const struct weft_scenario_file *file,
                                       enum weft_status (*use)(const struct weft_scenario *,
                                                               const struct weft_cli_options *, struct weft_error *),
                                       struct weft_error *ret_error);

// What to say of a fabric that is neither a blueprint nor a file.
/// `place`: the option that named it, or its own name.
enum weft_status weft_cli_no_blueprint(const char *place, const char *item, struct weft_error *ret_error);

// What is kept in the user's cache between two calls of weft, so that runs that were killed can continue.
/// weft's folder in the user's cache (XDG Base Directory specification); NULL: the user has no cache.
const char *weft_cli_cache(struct weft_arena *arena);
/// A hash over every byte of this program, because results of another build may not hold.
uint64_t weft_cli_program_hash(uint64_t hash);

// Standard output on a terminal: lines fit its width (COLUMNS, or the terminal's own), and headings of tables, verdicts
// and errors have colours. In a pipe or a file everything is as it was printed.
/// Call it before anything is printed.
void weft_cli_terminal_begin(void);
/// --color auto, always or never; false: none of these.
bool weft_cli_terminal_color(const char *when);
/// The output is for programs: from now on it is the same on a terminal as in a file.
void weft_cli_terminal_raw(void);
/// Prints everything kept so far, before something is printed to standard error.
void weft_cli_terminal_flush(void);
/// Prints everything kept. False, with errno: something could not be written.
bool weft_cli_terminal_end(void);
