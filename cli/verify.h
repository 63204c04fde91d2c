// SPDX-License-Identifier: Apache-2.0
// weft verify in parts: finding the runs (verify_prepare.c), running them (verify_run.c, verify_journal.c), judging
// (verify_judge.c) and printing (verify_print.c); or the statements of sources (verify_sources.c).
#pragma once

#include <stdio.h>

#include "claims.h"
#include "weft/claim_rows.h"

/// The claims of a file in one setting: with one seed, unchanged or with the settings that must break some of them.
struct verify_reading {
    struct verified *of;
    struct weft_cli_claims claims; ///< the file's claims with this reading's values
    const uint64_t *seed;          ///< NULL: the seed of the configuration
    bool *judged;                  ///< [claims]: true for those that this setting and this seed belong to
    bool teeth;                    ///< it is the setting that must break them
    const char **setting;          ///< of its runs
    uint32_t settings;
};

/// A scenario whose claims are verified.
struct verified {
    const char *path, *name;
    const char *shown; ///< the path as printed
    struct weft_scenario_file *file;
    struct weft_cli_claims claims;
    uint32_t variants;            ///< variants that claims name
    uint32_t readings;            ///< seeds of --seeds; or the configuration's and those that claims name
    struct verify_reading *plain; ///< [readings]
    struct verify_reading **bite; ///< [claims][readings]; claims with the same `without` share them; NULL: none
    enum weft_status status;      ///< the most serious status of its runs
    bool ended;                   ///< every run of it has ended
    struct verified *next;
};

/// Where the values of a run go.
struct verify_use {
    struct verify_reading *reading;
    uint32_t variant;
    struct verify_use *next;
};

/// A run, or the output of another command for a variant. Equal ones are combined.
struct verify_task {
    uint64_t key; ///< a hash of everything that it depends on
    const char *path, *variant;
    enum weft_claim_from from;
    const char **setting;
    uint32_t settings;
    struct verify_use *use;
    bool done;
    struct verify_task *next, *next_in_bucket;
};

enum { VERIFY_BUCKETS = 4096 };
struct verify {
    const struct weft_cli_options *o;
    struct verified *first, **last;
    struct verify_task *task, **last_task;
    struct verify_task **at;           ///< [tasks]: when they run
    uint32_t tasks, jobs, uses, known; ///< known: from a verify that was killed
    uint32_t seeds;                    ///< of --seeds; 0: each claim has its own
    uint64_t *seed;
    bool teeth, all, interrupted;
    struct verified *preparing;                 ///< the scenario that was prepared last
    struct verify_task *bucket[VERIFY_BUCKETS]; ///< by key
    uint32_t claimless;                         ///< files without claims
    FILE *journal;                              ///< NULL: there is nowhere to keep one
    const char *journal_path;
};

/// Reads an operand: a scenario, or a folder with scenarios. Reports an operand without claims; it is an error if it
/// is the only one.
enum weft_status verify_read(struct verify *v, const char *path, struct weft_error *ret_error);
/// Everything about a scenario except running it: its readings, and the tasks for them.
enum weft_status verify_prepare(struct verify *v, struct verified *s, struct weft_error *ret_error);

struct verify_task *verify_task_find(const struct verify *v, uint64_t key); ///< NULL: there is none

/// Runs every task, `jobs` at the same time. Values go to the readings, errors to standard error and to the scenario's
/// status. Ctrl-C and SIGTERM end it: v->interrupted.
enum weft_status verify_run(struct verify *v, struct weft_error *ret_error);

/// Calls `on_value` for each value that a task must measure, always in the same order.
void verify_each_value(const struct verify_task *task,
                       void (*on_value)(void *context, const struct weft_claim *claim,
                                        const struct weft_claim_metric *metric, double *value),
                       void *context);
/// Loads what an earlier, killed verify of the same tasks has measured, and opens the journal for appending.
void verify_journal_open(struct verify *v);
/// Takes the tasks' values from the lines of a journal, ignoring damaged lines. False: the last line is cut off.
bool verify_journal_read(struct verify *v, FILE *journal);
void verify_journal_add(struct verify *v, const struct verify_task *task, enum weft_status status);
/// `whole`: nothing is left to continue, so it is deleted.
void verify_journal_close(struct verify *v, bool whole);

enum verify_teeth {
    VERIFY_NOT_ASKED, ///< or the claim is expected not to hold anyway
    VERIFY_BITES,
    VERIFY_EXEMPT,   ///< declares that nothing can break it
    VERIFY_UNARMED,  ///< names no setting that must break it
    VERIFY_TOOTHLESS ///< still holds with that setting
};
/// The result of a claim.
struct verify_judgement {
    enum weft_claim_verdict verdict;
    enum verify_teeth teeth;
    uint32_t seeds;    ///< number of seeds that it was run with
    uint32_t hold, of; ///< number of judgements that it holds in, out of how many: one per seed, or one mean
    uint32_t bitten;   ///< number of seeds with which it does not hold under `without`
    double *median, *least, *most; ///< for its metrics, over seeds; NAN: no value
    double *without;               ///< medians without
};
struct verify_judgement verify_judge(const struct verify *v, const struct verified *s, uint32_t claim,
                                     struct weft_arena *arena);
/// Whether its claims can be judged: every run has ended by itself, stalled or not.
bool verify_is_judged(const struct verified *s);
struct verify_counts {
    struct weft_claim_counts verdict;
    uint32_t claims, toothless, exempt;
};
struct verify_counts verify_count(const struct verify *v, const struct verified *s);

/// Prints the statements of each source in the folder, with the claims of the scenarios that check them.
enum weft_status verify_sources(const struct verify *v, const char *folder, struct weft_error *ret_error);

void verify_print(FILE *file, const void *verify);

/// A statement of a source, and the claims that check it.
struct verify_check {
    struct weft_claim_row is; ///< must be first
    const char *path;
};
struct verify_statement {
    const char *source, *id, *at, *says, *none;
    struct verify_check *check;
    uint32_t checks;
};
/// Gives statements in the form that the options ask for; `print` as text.
enum weft_status verify_answer_sources(const struct verify *v, const struct verify_statement *statement, uint32_t n,
                                       void (*print)(FILE *file, const void *context), const void *context,
                                       struct weft_error *ret_error);
/// Gives the results in the form that the options ask for.
enum weft_status verify_answer(const struct verify *v, struct weft_error *ret_error);
extern const struct weft_answer weft__answer_verify;
