// SPDX-License-Identifier: Apache-2.0
// A variant of a scenario from its file to its results, for the subcommands that run things.
#pragma once

#include "base/json.h"
#include "base/stream.h"
#include "cli.h"
#include "weft/report.h"

struct weft_cli_simulation {
    struct weft_simulation *whole; ///< owner of the next four
    struct weft_scenario *scenario;
    struct weft_topology *topology;
    struct weft_workload *workload;
    struct weft_arena *arena;
    struct weft_outcome *outcome;       ///< NULL before it ran
    struct weft_follow *follow;         ///< what the run follows; NULL: nothing
    struct weft_checkpoint *checkpoint; ///< NULL: the run is not saved
    bool resumed;                       ///< it continues from a checkpoint
    bool one_of_several;                ///< the names of files that it writes include the variant's name
};

/// Everything except running. Deinit it whatever it returns.
enum weft_status weft_cli_simulation_init(struct weft_cli_simulation *s, const struct weft_scenario_file *file,
                                          uint32_t variant, struct weft_error *ret_error);
/// The same for a run that will not happen: flows of jobs' all-to-alls are only counted.
enum weft_status weft_cli_simulation_count(struct weft_cli_simulation *s, const struct weft_scenario_file *file,
                                           uint32_t variant, struct weft_error *ret_error);
/// Refuses a run in which no host sends: it would end at once, unless it has a duration, when neighbours may still
/// exchange LLDP.
enum weft_status weft_cli_simulation_sends(const struct weft_cli_simulation *s, struct weft_error *ret_error);
void weft_cli_simulation_deinit(struct weft_cli_simulation *s);
/// Runs it, with progress. Even after a status of STALL, CONSERVATION or INTERRUPTED there is an outcome. *ret_run
/// points into `s`.
enum weft_status weft_cli_simulation_run(struct weft_cli_simulation *s, const struct weft_cli_options *options,
                                         const char *label, struct weft_run *ret_run, struct weft_error *ret_error);

/// Adds a file that the run writes into the folder of its results; a name that begins with / is elsewhere.
void weft_cli_add_file(struct weft_run *run, const char *name);

/// The variant of a run in the folder `dir`; *file then has the run's seed.
enum weft_status weft_cli_stored_scenario(const struct weft_scenario_file **file, const char *dir,
                                          const struct weft_stored *stored, struct weft_arena *arena,
                                          uint32_t *ret_variant, struct weft_error *ret_error);
/// The variant to run and, if the operand is a folder of results, its run there (else all NULL); *file then has the
/// run's seed. The stored digest is NULL if the user changed settings or asks for a seed that was not run.
enum weft_status weft_cli_stored_variant(const struct weft_cli_options *options, const struct weft_scenario_file **file,
                                         struct weft_stored *ret_stored, uint32_t *ret_variant,
                                         struct weft_error *ret_error);
/// Whether a run has repeated the stored one. Nothing is compared if that one has no digest, or if one of them was
/// interrupted.
enum weft_status weft_cli_compare_digests(const struct weft_stored *stored, const struct weft_outcome *outcome,
                                          struct weft_error *ret_error);

/// Refuses a variant whose files for writing may not be written there, or whose capture would overwrite that of an
/// earlier variant. `taken`: [variants], at first all NULL.
enum weft_status weft_cli_simulation_claim_files(const struct weft_cli_simulation *s, uint32_t variant, const char *out,
                                                 const char **taken, struct weft_arena *arena,
                                                 struct weft_error *ret_error);

/// Reports on standard error that the workload is empty, if it is.
bool weft_cli_mention_empty(const struct weft_cli_simulation *s);
/// Prints the hints about these runs (`seeds` of each variant) to standard error, after what was printed before, unless
/// the output is for programs or the user wants none.
void weft_cli_print_hints(const struct weft_cli_options *o, const struct weft_run *run, uint32_t runs, uint32_t seeds);
/// From now on the first Ctrl-C, SIGTERM or SIGUSR1 (which mpirun passes on to its ranks as it is) ends the simulation
/// with what it has measured and the exit status WEFT_INTERRUPTED, the second one the program.
void weft_cli_catch_interrupt(void);
bool weft_cli_interrupted(void);

/// The results of a command.
struct weft_cli_results {
    const struct weft_run *run;
    uint32_t runs, not_run; ///< not_run: variants not run because the user interrupted
    uint32_t seeds;         ///< per variant, one after the other; 0: 1
    bool list;              ///< variants side by side, not one run; JSON is {"variants": [...]}
    const struct weft_claim_result *claim;
    uint32_t claims;
};
/// Replaces a file: completely or not at all, and in that case an older one stays. Through a symbolic link: its target.
enum weft_status weft_cli_replace_file(const char *path, void (*write)(FILE *file, const void *context),
                                       const void *context, struct weft_error *ret_error);
/// Replaces a file of a result folder. A symbolic link there is replaced too: the user named the folder, not its
/// target.
enum weft_status weft_cli_replace_in_folder(const char *dir, const char *name,
                                            void (*write)(FILE *file, const void *context), const void *context,
                                            struct weft_error *ret_error);
/// Likewise for a file that its user may have edited since: only --force replaces it.
enum weft_status weft_cli_can_write_file(const char *option, const char *path, const struct weft_cli_options *o,
                                         struct weft_error *ret_error);
/// Says on standard error that the file is written.
void weft_cli_mention_file(const char *path, const struct weft_cli_options *o);
/// Prints the losses of an import on standard error, one per line; with --quiet too.
void weft_cli_print_losses(const char *losses);
/// Writes results.sqlite and result.json into the folder, and removes what the runs of older results there have written
/// beside them and these have not.
enum weft_status weft_cli_write_results(const char *dir, const struct weft_cli_results *results,
                                        struct weft_error *ret_error);
/// JSON or text.
void weft_cli_print_results(FILE *file, const struct weft_cli_results *results, bool json);
/// The answer of `weft diff CLASS LOG`: a log of measured collectives beside a class of servers, and why they differ.
/// *ret_differs: something explains it.
enum weft_status weft_cli_diff_log(const struct weft_cli_options *o, const char *class, const char *setup,
                                   bool *ret_differs, struct weft_error *ret_error);
