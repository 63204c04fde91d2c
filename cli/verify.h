// SPDX-License-Identifier: Apache-2.0
// weft verify in parts: finding the runs (verify_prepare.c, verify_bands.c), running them (verify_run.c,
// verify_journal.c), judging (verify_judge.c, verify_bands.c) and printing (verify_print.c); or the statements of
// sources (verify_sources.c).
#pragma once

#include <stdio.h>

#include "claims.h"
#include "weft/claim_rows.h"
#include "weft/hardware.h"

/// The claims of a file in one setting: with one seed, unchanged, with the settings that must break some of them, or
/// with a value of their bands.
struct verify_reading {
    struct verified *of;
    struct weft_cli_claims claims; ///< the file's claims with this reading's values
    const uint64_t *seed;          ///< NULL: the seed of the configuration
    bool *judged;                  ///< [claims]: true for those that this setting and this seed belong to
    bool changed;                  ///< it has other settings than the claims: a stall is a result
    bool band;                     ///< it is a value of a band: not judged if the budget ends before its runs
    bool left;                     ///< of a band: not every run of it was done
    const char **setting;          ///< of its runs
    uint32_t settings;
};

/// Readings of a file under some settings, shared by the claims that ask for these settings.
struct verify_layer {
    const char **setting;
    uint32_t settings;
    bool band;
    struct verify_reading *reading; ///< [readings of the file]
    const char *key;                ///< of the claim, where an error is reported: "without"
    struct weft_place place;
    struct verify_layer *next;
};

/// A value of a band.
struct verify_point {
    const char *name, *text; ///< "low", "450ns"; of a class "low", "typical_nic"; "search": found by bisection
    double number;           ///< NAN: of a class
    const struct verify_layer *layer;
};
enum { VERIFY_SEARCHES = 5, VERIFY_POINTS = 3 + VERIFY_SEARCHES };
/// A band of a claim. The classes' values, or half and twice where no class has a band.
struct verify_band {
    const struct weft_claim_band *is;
    const struct weft_param *row;   ///< NULL: every value of a class
    const struct weft_hardware *of; ///< NULL: the claim says the values, or they are half and twice
    const char *ours;               ///< the scenario's value; NULL: its variants differ, or it is of a class
    double number;                  ///< of `ours`
    struct verify_point point[VERIFY_POINTS];
    uint32_t points;
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
    struct verify_layer *layer;
    struct verify_band **band; ///< [claims][bands of the claim]
    enum weft_status status;   ///< the most serious status of its runs
    bool ended;                ///< every run of it has ended
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
    bool teeth, bands, all, interrupted;
    double budget_s, bands_s;                   ///< wall time for runs of bands; when the first of them began
    uint32_t band_runs, left;                   ///< of them: begun, and left out
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
/// The readings with settings for claim `i`, new or those of another claim.
struct verify_layer *verify_layer_at(const struct verify *v, struct verified *s, uint32_t i, const char **setting,
                                     uint32_t settings, bool band);
/// Adds the tasks of layers from the first up to `end` (NULL: all).
enum weft_status verify_prepare_layers(struct verify *v, struct verified *s, const struct verify_layer *end,
                                       struct weft_error *ret_error);

/// The bands of a scenario's claims, and the layers of their low, typical and high values.
enum weft_status verify_prepare_bands(struct verify *v, struct verified *s, struct weft_error *ret_error);
/// Runs what is left to run to say where claims turn, until the budget ends.
enum weft_status verify_search_bands(struct verify *v, struct weft_error *ret_error);
/// How the claim turns out in the band's values.
struct verify_in_band {
    enum weft_claim_in_band verdict;
    const char *turns_at; ///< NULL: it does not, or not at a number
    bool holds[VERIFY_POINTS], known[VERIFY_POINTS];
};
struct verify_in_band verify_judge_band(const struct verify *v, const struct verified *s, uint32_t claim, uint32_t band,
                                        struct weft_arena *arena);
/// The worst of its bands.
enum weft_claim_in_band verify_in_bands(const struct verify *v, const struct verified *s, uint32_t claim,
                                        struct weft_arena *arena);
/// Whether the claim says another.
static inline bool verify_is_band_unexpected(const struct weft_claim *claim, enum weft_claim_in_band found) {
    return claim->in_band && found && claim->in_band != found;
}
void verify_print_bands(const struct verify *v, const struct verified *s, uint32_t claim, struct weft_arena *arena);

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
/// The same for other readings than the plain ones, without teeth.
struct verify_judgement verify_judge_readings(const struct verified *s, const struct verify_reading *r, uint32_t claim,
                                              struct weft_arena *arena);
/// Whether its claims can be judged: every run has ended by itself, stalled or not.
bool verify_is_judged(const struct verified *s);
struct verify_counts {
    struct weft_claim_counts verdict;
    uint32_t claims, toothless, exempt;
    uint32_t in_band[WEFT_CLAIM_IN_BANDS]; ///< claims with bands, by what comes of them
    uint32_t bands_unexpected;
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
