// SPDX-License-Identifier: Apache-2.0
// weft verify in parts: what is to be run (verify_prepare.c), running it (verify_run.c, verify_journal.c), what came of
// it (verify_judge.c), and telling (verify_print.c); or what sources say (verify_sources.c).
#ifndef WEFT_CLI_VERIFY_H
#define WEFT_CLI_VERIFY_H

#include <stdio.h>

#include "claims.h"

/// The claims of a file in one setting: with one seed, as it stands or with what must break some of them.
struct verify_reading {
    struct verified *of;
    struct weft_cli_claims claims; ///< the file's claims with this reading's values
    const bool *judged;            ///< [claims]: those that this setting is for
    bool teeth;                    ///< it is what must break them
    const char **setting;          ///< of its runs
    uint32_t settings;
};

/// A scenario whose claims are verified.
struct verified {
    const char *path, *name;
    struct weft_scenario_file *file;
    struct weft_cli_claims claims;
    uint32_t variants;            ///< that claims name
    struct verify_reading *plain; ///< [seeds]
    struct verify_reading **bite; ///< [claims][seeds], claims with the same `without` share them; NULL: none
    enum weft_status status;      ///< the gravest of its runs
    bool ended;                   ///< every run of it has
    struct verified *next;
};

/// Where the values of a run go.
struct verify_use {
    struct verify_reading *reading;
    uint32_t variant;
    struct verify_use *next;
};

/// A run, or what another command says of a variant. Equal ones are one.
struct verify_task {
    uint64_t key; ///< of everything that it depends on
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
    struct verify_task **at;           ///< [tasks], when they are run
    uint32_t tasks, jobs, uses, known; ///< known: from a verify that did not come to its end
    uint32_t seeds;                    ///< 1 without --seeds
    bool seeded;                       ///< --seeds
    uint64_t *seed;
    bool teeth, all, interrupted;
    struct verify_task *bucket[VERIFY_BUCKETS]; ///< by key
    uint32_t claimless;                         ///< files without claims
    FILE *journal;                              ///< NULL: none can be kept
    const char *journal_path;
};

/// Reads an operand: a scenario, or a folder with some. An operand without any claims is an error.
enum weft_status verify_read(struct verify *v, const char *path, struct weft_error *ret_error);
/// Everything about a scenario short of running it: its readings, and what is to be run for them.
enum weft_status verify_prepare(struct verify *v, struct verified *s, struct weft_error *ret_error);

struct verify_task *verify_task_find(const struct verify *v, uint64_t key); ///< NULL: there is none

/// Runs every task, `jobs` at a time; values go to the readings, what went wrong to standard error and the scenario's
/// status. Ctrl-C and SIGTERM end it: v->interrupted.
enum weft_status verify_run(struct verify *v, struct weft_error *ret_error);

/// Calls `on_value` for each value that a task is to measure, in one order.
void verify_each_value(const struct verify_task *task,
                       void (*on_value)(void *context, const struct weft_claim *claim,
                                        const struct weft_claim_metric *metric, double *value),
                       void *context);
/// Takes what is known of the tasks of an earlier verify of the same that was killed, and opens the journal to add.
void verify_journal_open(struct verify *v);
/// Takes what the lines of a journal say of its tasks; of damaged lines, nothing. False: the last one is cut off.
bool verify_journal_read(struct verify *v, FILE *journal);
void verify_journal_add(struct verify *v, const struct verify_task *task, enum weft_status status);
/// `whole`: nothing is left to be gone on with, so it is deleted.
void verify_journal_close(struct verify *v, bool whole);

enum verify_teeth {
    VERIFY_NOT_ASKED, ///< or not to hold anyway
    VERIFY_BITES,
    VERIFY_EXEMPT,   ///< says that nothing can break it
    VERIFY_UNARMED,  ///< names nothing that must break it
    VERIFY_TOOTHLESS ///< holds all the same
};
/// What came of a claim.
struct verify_judgement {
    enum weft_claim_verdict verdict;
    enum verify_teeth teeth;
    uint32_t hold, of;             ///< seeds with which it holds, of so many
    uint32_t bitten;               ///< with which it does not hold without
    double *median, *least, *most; ///< of its metrics over seeds; NAN: no value
    double *without;               ///< medians without
};
struct verify_judgement verify_judge(const struct verify *v, const struct verified *s, uint32_t claim,
                                     struct weft_arena *arena);
/// Can its claims be judged? Every run has ended by itself, stalled or not.
bool verify_is_judged(const struct verified *s);
struct verify_counts {
    uint32_t claims, hold, findings, controls, unexpected, toothless, exempt;
};
struct verify_counts verify_count(const struct verify *v, const struct verified *s);

/// Prints what each source in the folder says, with the claims of the scenarios read that check it.
enum weft_status verify_sources(const struct verify *v, const char *folder, struct weft_error *ret_error);

void verify_print(const struct verify *v);
void verify_print_json(const struct verify *v);

#endif
