// SPDX-License-Identifier: Apache-2.0
// Outcomes as people and programs read them: tables, JSON, SQLite.
#pragma once

#include <stdio.h>

#include "weft/claim.h"
#include "weft/memory.h"
#include "weft/sim.h"

/// One run with everything that describes it.
struct weft_run {
    const struct weft_scenario *scenario;
    const struct weft_topology *topology;
    const struct weft_workload *workload;
    const struct weft_outcome *outcome;
    weft_bytes memory_bytes_max[WEFT_MEMORY_KINDS]; ///< as it stood after the run
    const char *commit;                             ///< of the source of the program that runs; NULL: not known
    const char *const *file;                        ///< [files], written beside the results: names within the folder
    uint32_t files;
    const char *motion; ///< JSON of its moving picture (weft_report_motion_text); NULL: none
};

/// Of a run of `workload` on the network of `simulation`; owns the outcome.
struct weft_result *weft__result_new(const struct weft_simulation *simulation, const struct weft_workload *workload,
                                     struct weft_outcome *outcome);
const struct weft_run *weft__result_run(const struct weft_result *result);
/// The memory that it is in is closed with it.
void weft__result_own(struct weft_result *result, struct weft_memory *memory);

/// A run in a folder of results: its configuration, to repeat it, and its digest, to compare with.
struct weft_stored {
    const char *const *names; ///< [runs]: variants of all runs in the folder
    uint32_t runs;
    const char *variant, *weft, *digest; ///< of the run; weft: the version
    uint64_t seed;
    bool interrupted;
    struct weft_scenario_source *source;
    uint32_t sources;
};
/// The first run of that variant (NULL: of any) in the results that --out has written to `dir`; with that seed (NULL:
/// any), if there is one. In `arena`.
enum weft_status weft_stored_read(const char *dir, const char *variant, const uint64_t *seed, struct weft_arena *arena,
                                  struct weft_stored *ret_stored, struct weft_error *ret_error);

/// The files that runs wrote beside the results in `dir`, as their table `files` has them: [*ret_n], in `arena`.
/// Without results, or of an older weft: none. Only names within the folder.
const char **weft_stored_files(const char *dir, struct weft_arena *arena, uint32_t *ret_n);

/// A page of HTML about the runs and sweeps in folders that --out has written. It needs nothing but itself. Free it
/// whatever comes.
struct weft_report_page;
struct weft__json; // base/json.h
/// A run whose pictures the page has.
struct weft_report_shown {
    const char *dir, *variant;
    uint64_t seed;
    uint64_t packet_hops; ///< of a run without packets: events
    weft_time_ps sim_time_ps;
    bool sampled; ///< it has samples, or skips time and cannot have them
};
struct weft_report_options {
    bool no_data; ///< pictures without links to their numbers
    /// Adds to the object at hand where the time of its slowest flows and of its jobs went: {"flows", "iterations",
    /// "operations"} as weft why has them, or why it does not in "note". NULL: nothing does.
    enum weft_status (*explain)(void *context, const struct weft_report_shown *run, struct weft__json *j,
                                struct weft_error *ret_error);
    void *context;
};
/// WEFT_ERROR_INPUT: weft was built without d3, and no page can be made.
enum weft_status weft_report_page_check(struct weft_error *ret_error);
enum weft_status weft_report_page_new(const char *const *dir, uint32_t dirs, const struct weft_report_options *options,
                                      struct weft_report_page **ret_page, struct weft_error *ret_error);

/// A page without data that asks for them each second, at "data" beside it: an object with what a live run answers
/// ("live"), "name", "drops" and "why" as of a run.
struct weft_report_page *weft_report_page_live(void);

/// A run.sample_interval with as many samples as the page can move through.
weft_time_ps weft_report_motion_interval(weft_time_ps sim_time_ps);
/// Adds "motion" to the object at hand: the network from a time on, from the run's samples. Without samples: nothing.
void weft_report_motion(struct weft__json *j, const struct weft_run *run, weft_time_ps from_ps,
                        struct weft_arena *arena);
/// The value of "motion" of a recorded run without samples, in `arena`; NULL: it has none.
const char *weft_report_motion_text(const struct weft_run *run, struct weft_arena *arena);
/// Adds it as it stands in the results of a run.
enum weft_status weft_report_motion_kept(struct weft__json *j, const struct weft_report_shown *run, bool *ret_kept,
                                         struct weft_error *ret_error);
/// Adds "motion" from the samples in the results of a run, without running it; `topology` is that of its `scenario`.
enum weft_status weft_report_motion_stored(struct weft__json *j, const struct weft_report_shown *run,
                                           const struct weft_scenario *scenario, const struct weft_topology *topology,
                                           struct weft_arena *arena, struct weft_error *ret_error);

/// Figures side by side: a row a figure (such as a case), a column a thing that is compared (such as a fabric). The
/// page draws them, shows the table, and offers it as CSV. Texts are data: nothing in them is taken for markup.
struct weft_report_cell {
    double mean, half, median;  ///< NAN: not there; half: of the 95% interval of the mean
    uint32_t n;                 ///< values (seeds) that it is a mean of
    double change, change_half; ///< of the mean against the base column's, as a part of that; NAN: none
    const char *verdict;        ///< "within noise", "less", "more", or any other word or two; NULL: none
};
struct weft_report_row {
    const char *subject, *figure; ///< "victims", "completion time, mean"
    const char *unit;             ///< "ps", "bytes", "bit/s", or "" (a plain number)
};
/// How the page draws them: DOTS a picture a row, values with their intervals; MAP a picture a subject, its figures
/// across and columns down, as dark as their value, the verdict "first" framed, any other ("star", "star, within
/// noise") instead of the value; STACK a picture a subject, a bar a column, made of the subject's figures.
enum weft_report_form { WEFT_REPORT_DOTS, WEFT_REPORT_MAP, WEFT_REPORT_STACK };
struct weft_report_matrix {
    enum weft_report_form form;
    const char *title, *caption;
    const char *method; ///< a query, or in words how the figures were made; NULL: nothing
    uint32_t columns, rows;
    const char *const *column;           ///< [columns]
    const struct weft_report_row *row;   ///< [rows]
    const struct weft_report_cell *cell; ///< [rows][columns]
    const uint32_t *base;                ///< [columns]: the column that its changes are against; NULL: the first
};
/// What such a page says above its figures.
struct weft_report_head {
    const char *title, *about;
    const char *const *answer; ///< [answers][2]: the subject ("" for all), and the sentence
    uint32_t answers;
};
/// A page of matrices alone, whose texts may go when it returns. Free it.
struct weft_report_page *weft_report_page_of(const struct weft_report_head *head,
                                             const struct weft_report_matrix *matrix, uint32_t matrices, bool no_data);
void weft_report_page_write(FILE *file, const void *page);
void weft_report_page_free(struct weft_report_page *page);

/// Of the flows of one group that finished. Nearest-rank percentiles; NAN if none finished.
struct weft_group_stats {
    const char *name;
    uint32_t count, finished;
    weft_bytes bytes;
    weft_bytes delivered_bytes, delivered_bytes_min, delivered_bytes_max; ///< of all its flows; of a flow
    struct weft_quantiles {
        double mean, p50, p95, p99, max;
    } fct_ps, slowdown;
    uint64_t out_of_order, out_of_order_placed; ///< packets; of all flows of the group
};
/// One entry a group; in `arena`.
struct weft_group_stats *weft_report_groups(const struct weft_run *run, struct weft_arena *arena);

/// Of a service of inference, over the requests whose answers are complete. Times in ps; see the table `inference`.
struct weft_service_stats {
    const char *name;
    uint64_t answered, reused, kept;
    weft_bytes bytes;
    struct weft_quantiles ttft, tpot, queue, prefill, exposed, wait, step;
    double by_ttft, by_tpot, by_both, rate, input_tokens, output_tokens;
};
/// `number`: among the workload's.
struct weft_service_stats weft_report_service(const struct weft_run *run, uint32_t number, struct weft_arena *arena);

/// How evenly the links from one layer of switches to another were used: bytes of frames sent. A ratio without bytes is
/// NAN.
/// Of links between TiNs: local, within a pod, or global.
enum weft_balance_direction {
    WEFT_BALANCE_UP,
    WEFT_BALANCE_DOWN,
    WEFT_BALANCE_ACROSS,
    WEFT_BALANCE_LOCAL,
    WEFT_BALANCE_GLOBAL
};
extern const char *const weft_balance_directions[]; // "up", "down", "across", "local", "global"
struct weft_balance {
    const char *key; ///< "leaf-spine"; within one layer also the direction, "switch-switch-up"
    const char *from, *to;
    enum weft_balance_direction direction;
    uint32_t links, idle; ///< idle: nothing was sent
    weft_bytes bytes;
    double max_mean;        ///< the busiest link over the mean
    double min_mean;        ///< the least busy link over the mean
    double switch_max_mean; ///< the same among the links of one switch, the worst; of switches with two at least
    double jain;            ///< (sum of x)^2 / (n sum of x^2): 1 if all are equal, 1/n if one has it all
};
/// One entry a pair of layers and direction, upwards first; in `arena`. No more than 64.
struct weft_balance *weft_report_balance(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n);

/// How many queue pairs met on the links from one layer of switches to another, over the run (run.count_flows). A
/// switch that sent no flow that way made no choice and is left out, with its links. Ratios and means of nothing are
/// NAN.
struct weft_collisions {
    const char *key, *from, *to; ///< as in struct weft_balance
    enum weft_balance_direction direction;
    uint32_t switches, links; ///< that made a choice; their links
    uint64_t flows;           ///< a flow on several links counts on each
    uint32_t most;            ///< on one link
    double switch_most;       ///< on one link of a switch: the mean over switches
    uint32_t clear;           ///< switches none of whose links is shared
    uint32_t shared, empty;   ///< links with two at least; with none
    uint32_t *with;           ///< [most + 1]: links with so many
};
/// One entry a pair of layers and direction, upwards first; in `arena`.
struct weft_collisions *weft_report_collisions(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n);

/// Load of links from one layer of switches to another in the time between two samples (run.sample_interval; links of
/// run.sample_ports). Utilisation: bytes of frames over what the link could carry in that time.
struct weft_load_interval {
    weft_time_ps from_ps, until_ps;
    double min, p10, p50, p90, max; ///< utilisation of a link; percentiles are nearest rank
    double mean;
    double max_mean;                    ///< NAN if nothing was sent
    uint32_t flows_max, shared, unused; ///< queue pairs on a link at most; links with two at least; with none
};
struct weft_load {
    const char *key, *from, *to; ///< as in struct weft_balance
    enum weft_balance_direction direction;
    uint32_t links;                      ///< sampled
    uint32_t intervals;                  ///< in all
    struct weft_load_interval *interval; ///< [intervals]
    uint32_t active; ///< intervals in which anything was sent; the following is over these, NAN if there is none
    double min, p10, p50, p90, max;      ///< of the links' mean utilisations
    double mean;                         ///< of all
    double max_mean_p50, max_mean_worst; ///< over intervals
};
/// One entry a pair of layers with sampled links, upwards first; in `arena`. None without run.sample_interval.
struct weft_load *weft_report_load(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n);

/// Bursts of the NICs of a layer: samples (run.sample_interval, run.sample_ports) in which a NIC sends, one after
/// another. It sends if it uses WEFT_BURST_LEAST of its link.
#define WEFT_BURST_LEAST 0.1
struct weft_bursts {
    const char *layer;
    uint32_t nics; ///< sampled
    uint64_t bursts;
    double on;               ///< part of the time that a NIC sends, mean over NICs
    double burst_ps, gap_ps; ///< means over bursts, and over gaps between two bursts; NAN without any
    double used, most;       ///< utilisation of the link in a burst: mean (NAN without any), and of one sample at most
};
/// One entry a layer of hosts; in `arena`. None without run.sample_interval.
struct weft_bursts *weft_report_bursts(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n);

/// Pauses that nodes of one layer sent to those of another, over all priorities.
struct weft_pfc_layers {
    const char *key;                       ///< "spine-leaf": spines paused leaves
    const char *from, *to;                 ///< who sends pause frames, who is paused
    uint32_t ports, paused_ports;          ///< of `to` towards `from`; those that were paused at all
    uint64_t frames;                       ///< with a time above 0
    weft_time_ps paused_ps, paused_max_ps; ///< of all those ports, and of the one paused longest
    /// The most of one priority that waited at a port of `to` to leave for `from`, and that a port of `from` held of
    /// it.
    uint64_t queue_bytes_max, ingress_bytes_max;
};
/// One entry an ordered pair of neighbouring layers, hosts included; in `arena`. No more than 64.
struct weft_pfc_layers *weft_report_pfc_layers(const struct weft_run *run, struct weft_arena *arena, uint32_t *ret_n);

/// A collective of a job (one with `times`) over its iterations, in the columns of nccl-tests: bytes, seconds and bytes
/// a second; NAN if none has finished.
struct weft_collective_stats {
    const char *collective;
    uint32_t ranks, finished;
    weft_bytes bytes;
    double time_ps, algbw, busbw, measured_busbw;
    double half_ps; ///< of the 95% interval of time_ps, of a sampled job (run.sample); NAN: nothing was left out
};
struct weft_collective_stats weft_report_collective(const struct weft_run *run, uint32_t job, uint32_t op);

/// Of the iterations that all ranks have finished: mean and longest; exposed communication an iteration, the mean over
/// ranks, NAN unless all have finished.
struct weft_job_stats {
    const char *name;
    uint32_t ranks, finished;
    double iteration_ps, iteration_max_ps, exposed_ps;
    weft_time_ps end_ps;                   ///< of the last rank; WEFT_TIME_NEVER: not over
    double iteration_half_ps, end_half_ps; ///< of the 95% intervals of a sampled job; NAN: nothing was left out
    uint32_t groups, groups_ran;           ///< of ranks, of a job of which some were sampled; 0: all ran
    double cts_p90_ps;                     ///< of a clear-to-send, NAN if there was none
};
/// The name of a class of a sampled job: its collective, or "iteration".
const char *weft_report_sampled(const struct weft_run *run, uint32_t job, const struct weft_sample_class *class);
struct weft_job_stats weft_report_job(const struct weft_run *run, uint32_t job);

/// Whether the user ended one of them.
bool weft_report_interrupted(const struct weft_run *run, uint32_t runs);
void weft_report_table(FILE *file, const struct weft_run *run);
/// Who waits for whom at the end of a run that stalled, with a newline at the end.
void weft_report_stall(FILE *file, const struct weft_outcome *outcome);
/// Variants side by side: a row a group and metric, a column a variant. `not_run`: how many are missing because the
/// user interrupted.
/// `run`: [variants][seeds]; with several seeds figures are means over them.
void weft_report_compare(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t seeds, uint32_t not_run);
/// Of these rows the completion times and what acted, and a sentence a variant about its times and about what acted.
void weft_report_compare_brief(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t seeds);
/// A table of weft/result.h: a line a row, after one of names.
struct weft_result_table;
/// Each line has scenario, variant, seed and the parameters in which the runs differ, then the table's columns.
void weft_report_csv(FILE *file, const struct weft_result_table *table, const struct weft_run *run, uint32_t runs);
/// One JSON object and a newline.
void weft_report_json(FILE *file, const struct weft_run *run);
/// The same for variants, with their claims if there are any.
void weft_report_json_compare(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t not_run,
                              const struct weft_claim_result *claim, uint32_t claims);
/// Claims with their numbers: how many there are of each verdict, then each; or just one.
void weft_report_claims(FILE *file, const struct weft_claim_result *result, uint32_t n);
void weft_report_claim(FILE *file, const struct weft_claim_result *result);
enum { WEFT_CLAIM_INDENT = 19 }; ///< of what stands below a verdict
/// Its first lines: the verdict, what is claimed, and the expression; and its last, why it may be as it is.
void weft_report_claim_head(FILE *file, const struct weft_claim *claim, const char *verdict);
void weft_report_claim_reasons(FILE *file, const struct weft_claim *claim);
/// A finding is known not to hold, and does not; a control must not, and does not. A claim about several seeds is not
/// judged by one. FAILS and HOLDS_AFTER_ALL are unexpected.
enum weft_claim_verdict {
    WEFT_CLAIM_HOLDS,
    WEFT_CLAIM_FINDING,
    WEFT_CLAIM_CONTROL,
    WEFT_CLAIM_NOT_JUDGED,
    WEFT_CLAIM_FAILS,
    WEFT_CLAIM_HOLDS_AFTER_ALL
};
/// The verdict's name in JSON, in small letters.
extern const char *const weft_claim_verdict_names[];
/// The verdict's printed name; unexpected ones are in capitals.
extern const char *const weft_claim_verdict_titles[];
/// The verdict on a claim that holds with `hold` of so many seeds; on a mean: `hold` is 1 if the means hold.
enum weft_claim_verdict weft_claim_verdict(const struct weft_claim *claim, uint32_t hold, uint32_t seeds);
/// How many claims have which verdict.
struct weft_claim_counts {
    uint32_t hold, findings, controls, not_judged, unexpected;
};
/// Adds a verdict to its count.
void weft_claim_counts_add(struct weft_claim_counts *c, enum weft_claim_verdict verdict);
struct weft_claim_counts weft_report_claim_counts(const struct weft_claim_result *result, uint32_t n);
/// Makes a folder, and those above it, where they are absent.
enum weft_status weft_report_folder(const char *path, struct weft_error *ret_error);
/// Results in the files of another simulator, for scripts that read those.
struct weft_export {
    const char *name; ///< "hpcc"; NULL: the end of the list
    struct {
        const char *name; ///< "fct.txt"; NULL: none
        void (*write)(FILE *file, const struct weft_run *run);
    } file[2];
    bool events; ///< reads the events of the run (weft_sim_options.record)
    bool flows;  ///< reads the times of flows
};
extern const struct weft_export weft_exports[];
/// Collectives that ran, as nccl-tests prints them: a table per job and collective, with the mean bus bandwidth.
void weft_report_nccl_tests(FILE *file, const struct weft_run *run);
/// Links as LLDP and DCBX see them, a line for those that are alike; `all`: those without a difference too.
void weft_report_links(FILE *file, const struct weft_topology *topology, const struct weft_link_dcbx *links, bool all);
/// Writes DIR/results.sqlite (a new file with all `runs`; an older one is replaced). DIR is made if absent. On an error
/// the older one stays. The schema is in docs/results.md.
enum weft_status weft_report_sqlite(const char *dir, const struct weft_run *run, uint32_t runs,
                                    struct weft_error *ret_error);
