// SPDX-License-Identifier: Apache-2.0
// One job on every fabric: a scenario with a variant per fabric and a case per workload, run as a sweep; then who is
// ahead, by how much, what that takes, and where the time went. A fabric that cannot be built takes part with the
// reason.
#pragma once

#include "weft/fabric.h"
#include "weft/sweep_results.h"
#include "weft/topology.h"
#include "weft/why.h"

/// What is measured of a run besides what every sweep keeps. X(enumerator, name, unit, meaning)
#define WEFT_VERSUS_MEASURES(X)                                                                                        \
    X(TIME, "time_ps", "ps",                                                                                           \
      "an iteration of the slowest job; without jobs, from the first flow's start to the last one's end")              \
    X(BUSBW, "busbw_GBps", "GB/s", "bus bandwidth of the collectives, by their time")                                  \
    X(P50, "fct_p50_ps", "ps", "completion time of flows, median")                                                     \
    X(P99, "fct_p99_ps", "ps", "completion time of flows, 99th percentile")                                            \
    X(P999, "fct_p999_ps", "ps", "completion time of flows, 99.9th percentile")                                        \
    X(SLOWDOWN, "slowdown_p99", "", "completion time over that alone in the same empty network, 99th percentile")      \
    X(VICTIMS, "victims_slowdown", "", "completion time over that alone, mean over the groups named victim...")        \
    X(RECOVERY, "recovery_ps", "ps",                                                                                   \
      "from the first link that fails under traffic to the end of the last flow that had to send again")               \
    X(UNFINISHED, "unfinished", "", "flows that did not finish")                                                       \
    X(PAUSES, "pause_frames", "", "pause frames sent by PFC")                                                          \
    X(PAUSED, "paused_ps", "ps", "time for which ports were paused by PFC, summed over ports and priorities")          \
    X(MARKS, "ecn_marked", "", "packets marked by ECN")                                                                \
    X(DROPS, "drops", "", "packets dropped, for any reason")                                                           \
    X(AGAIN, "packets_again", "", "packets sent more than once")
enum weft_versus_measure {
#define X(e, name, unit, help) WEFT_VERSUS_##e,
    WEFT_VERSUS_MEASURES(X)
#undef X
        WEFT_VERSUS_MEASURED
};
extern const char *const weft_versus_measure_names[WEFT_VERSUS_MEASURED],
    *const weft_versus_units[WEFT_VERSUS_MEASURED];
extern const char *const weft_versus_helps[WEFT_VERSUS_MEASURED];

/// Kept beside them: hosts that send or receive.
#define WEFT_VERSUS_HOSTS_USED "hosts_used"
/// And run.until; NAN: it has none.
#define WEFT_VERSUS_UNTIL "until_ps"

/// Of a run: [*ret_n] in `arena`, with names that no metric of a scenario has. `estimated`: the outcome is not from
/// packets.
struct weft_sweep_kept *weft_versus_measure(const struct weft_run *run, bool estimated, struct weft_arena *arena,
                                            uint32_t *ret_n);
/// The finished flow with the latest end: what the run waited for last. WEFT_NONE: none has finished.
uint32_t weft_versus_last_flow(const struct weft_run *run);
/// The job with the longest iterations; WEFT_NONE: there is none, or one has not done any.
uint32_t weft_versus_slowest_job(const struct weft_run *run);
/// Its longest iteration.
uint32_t weft_versus_longest_iteration(const struct weft_run *run, uint32_t job);
/// What must be said of where the time of a run went. X(enumerator, text)
#define WEFT_VERSUS_WHY_NOTES(X)                                                                                       \
    X(NONE, NULL)                                                                                                      \
    X(NO_END, "no flow has finished")                                                                                  \
    X(NOTES, "notes of all its ranks would take more than 1 GB")                                                       \
    X(NO_WALK, "the end of an iteration cannot be followed back to its start")                                         \
    X(HOPS, "to follow its packets and cells would take more than 4 GB")                                               \
    X(NO_RUN, "the second run, which follows packets, failed")                                                         \
    X(NO_PATH, "its last packet cannot be followed back to its sender")
enum weft_versus_why_note {
#define X(e, text) WEFT_VERSUS_WHY_##e,
    WEFT_VERSUS_WHY_NOTES(X)
#undef X
        WEFT_VERSUS_WHY_NOTED
};
extern const char *const weft_versus_why_notes[WEFT_VERSUS_WHY_NOTED];

/// Where the time went: WEFT_WHYS sums over the parts of a flow, or of an iteration's critical path, whose they are,
/// and a note. Of neither: only the note.
struct weft_sweep_kept *weft_versus_why(const struct weft_why *why, const struct weft_why_iteration *iteration,
                                        enum weft_versus_why_note note, struct weft_arena *arena, uint32_t *ret_n);
/// Kept beside the parts: 1 if they are of an iteration, 0 if of the flow that finished last.
#define WEFT_VERSUS_OF_ITERATION "of_iteration"
#define WEFT_VERSUS_WHY_NOTE "why_note"

/// What may fail as a whole. Of a kind the element nearest to the first host.
enum weft_versus_domain_kind {
    WEFT_VERSUS_LINK,   ///< between switches
    WEFT_VERSUS_SWITCH, ///< without hosts, above a switch with hosts
    WEFT_VERSUS_PLANE,  ///< switches without hosts that reach one another without those that have some
    WEFT_VERSUS_LEAF,   ///< a switch with hosts
    WEFT_VERSUS_DOMAINS
};
extern const char *const weft_versus_domain_names[WEFT_VERSUS_DOMAINS]; // "link", "switch", "plane", "leaf"
struct weft_versus_domain {
    enum weft_versus_domain_kind kind;
    const char *name;   ///< "leaf-0/32", "spine-0"; of several nodes the first
    const char **links; ///< [n_links] as events name them
    uint32_t n_links;
    uint32_t there;       ///< so many alike
    uint32_t hosts_cut;   ///< hosts that others no longer reach
    double capacity_lost; ///< part of the rates of links between switches with hosts and any other switches; NAN: none
    double rate_bps;      ///< of a link
};
/// Those that there are: [*ret_n], in `arena`.
struct weft_versus_domain *weft_versus_domains(const struct weft_topology *topology, struct weft_arena *arena,
                                               uint32_t *ret_n);
struct weft_versus_domain *weft_versus_domains_copy(const struct weft_versus_domain *domain, uint32_t n,
                                                    struct weft_arena *arena);

/// How it fails.
enum weft_versus_failure_kind {
    WEFT_VERSUS_GONE,  ///< before any flow starts, and the network knows of it
    WEFT_VERSUS_FAILS, ///< under traffic, for good
    WEFT_VERSUS_FLAPS, ///< again and again
    WEFT_VERSUS_SLOW,  ///< host-0 takes its data at a quarter of its rate; no domain
};
struct weft_versus_failure {
    enum weft_versus_failure_kind kind;
    enum weft_versus_domain_kind domain;
    weft_time_ps at_ps, every_ps; ///< every: FLAPS, from one failure to the next, down for half of it
    uint32_t times;
    const char *name; ///< "link gone"
};

enum weft_versus_status {
    WEFT_VERSUS_RAN,
    WEFT_VERSUS_UNBUILDABLE,
    WEFT_VERSUS_OVER_BUDGET,
    WEFT_VERSUS_STALLED,   ///< some run of it came to no end
    WEFT_VERSUS_CUT_SHORT, ///< some run of it ended, as run.until says, before there was what judges the case
    WEFT_VERSUS_FAILED,    ///< some run of it failed
    WEFT_VERSUS_NOT_RUN,   ///< some run of it is missing
    WEFT_VERSUS_REFUSED,   ///< there is no estimate of some run of it
};
extern const char *const weft_versus_status_names[]; // "ran", "unbuildable", "over_budget", "stalled", "unfinished",
                                                     // "failed", "not_run", "not_estimated"

/// A fabric at one number of hosts.
struct weft_versus_fabric {
    const char *name, *about, *kind;
    const char *label; ///< of its variant: its name; with several numbers of hosts "dsf-l1@128"
    uint64_t hosts;
    bool is_ruler;
    const char *base; ///< a blueprint's name, or the path of a file
    struct weft_fabric_plan *plan;
    struct weft_fabric_bill bill;
    enum weft_versus_status status;
    const char *reason; ///< of any status but RAN
    uint32_t variant;   ///< among those that run; WEFT_NONE: it does not
    struct weft_versus_domain *domain;
    uint32_t domains;
    struct weft_fabric_bill grown;         ///< with half as many hosts again
    const char *grown_reason;              ///< why it cannot grow so; NULL: it can
    const struct weft_fabric_plan *at_job; ///< for weft_versus.gpus; NULL: not asked for
    struct weft_goodput *goodput;          ///< of a job on these; NULL: not asked for, or not to be built so
    const char *devices;                   ///< its own list of devices, as YAML on one line; NULL: it has none
};
/// NULL: nothing of the kind is in this fabric.
const struct weft_versus_domain *weft_versus_domain_of(const struct weft_versus_fabric *fabric,
                                                       enum weft_versus_domain_kind kind);

/// A number that is assumed, or known within a band, in all fabrics that have it.
struct weft_versus_assumption {
    const char *path, *help;
    double factor[2]; ///< of the number as assumed: half and twice, or the ends of the band
    const char *band; ///< of the fabrics' class of hardware: "600ns to 900ns of tomahawk5 (vendor)"; "": there is none
    const char **value[2]; ///< [fabrics] of each fabric half and twice its value, or the ends of the band; NULL: it has
                           ///< none, or may not have this
};

/// A workload that all fabrics run.
struct weft_versus_case {
    const char *name, *family;                 ///< "all-to-all-4KiB"; "all-to-all": cases that differ in size alone
    weft_bytes bytes;                          ///< 0: has no size
    unsigned load_percent;                     ///< 0: has no load; cases of a family may differ in that instead
    const char *workload;                      ///< YAML on one line; NULL: the job's own
    const char **at_scale;                     ///< [scales] the workload at each number of hosts; NULL: the same at all
    enum weft_versus_measure by;               ///< who is ahead is judged by this, the less the better
    const struct weft_versus_failure *failure; ///< NULL: nothing fails
    const struct weft_versus_assumption *assumption; ///< wrong in this case; NULL: none
    bool twice;       ///< it is twice what is assumed, or the high end; else half, or the low end
    uint32_t healthy; ///< the case that it is compared with; WEFT_NONE: none
};

/// A number of hosts, and the fabrics that are built for it.
struct weft_versus_scale {
    uint64_t hosts;
    uint32_t first, fabrics; ///< of weft_versus.fabric
    uint32_t ruler;          ///< counted from the first; WEFT_NONE: it does not take part
};

/// A difference from an older answer. A number is also stored as text.
struct weft_versus_change {
    const char *fabric, *label; ///< NULL: for all; label: with the number of hosts, if there are several
    const char *case_name;      ///< NULL: for all
    const char *what, *was, *now;
    uint64_t hosts;  ///< WEFT_TIME_NEVER: for all
    uint8_t overlap; ///< whether the intervals of the two times overlap; UINT8_MAX: it is no time
};

struct weft_versus {
    const char *job;                       ///< file; NULL: a battery alone
    const struct weft_versus_scale *scale; ///< [scales] by hosts, fewest first
    uint32_t scales;
    uint64_t hosts; ///< of the first scale
    weft_rate_bps rate_bps;
    uint64_t gpus;                     ///< of the job whose goodput is asked for; 0: it is not
    struct weft_versus_fabric *fabric; ///< scale by scale
    struct weft_versus_case *cases;
    uint32_t fabrics, n_cases, variants; ///< variants: of fabrics that run
    uint32_t n_all;                      ///< cases; those from n_cases on are others of them with an assumption wrong
    struct weft_versus_assumption *assumption;
    uint32_t assumptions;
    uint32_t ruler;             ///< WEFT_NONE: it does not take part, or there are several scales
    const char *const *ignored; ///< [n_ignored] sections of the job that fabrics say themselves
    uint32_t n_ignored;
    const struct weft_sweep_results *results; ///< NULL: nothing ran
    const bool *fluid;                        ///< [points] of the results: estimated; NULL: none is
    const char *since;                        ///< an older answer that this one is compared with; NULL: none
    const char *const *change;                ///< [changes] what has changed since, a sentence each
    const struct weft_versus_change *changed; ///< [n_changed] the same as rows
    uint32_t changes, n_changed;
};

/// What belongs to one number of hosts, which everything that ranks or compares fabrics takes. It lives as long as `v`.
struct weft_versus weft_versus_at(const struct weft_versus *v, uint32_t scale);
/// The scenario as YAML, in `arena`. `work`, `run`: sections of the job, NULL: none.
const char *weft_versus_compose(const struct weft_versus *v, const struct weft_tree *work, const struct weft_tree *run,
                                struct weft_arena *arena);
/// Says which fabrics stalled or failed, once results are there.
void weft_versus_judge(struct weft_versus *v, struct weft_arena *arena);
/// The goodput on every fabric: of `section`, the job's section goodput (NULL: none), with the fabric's parts, and the
/// slowdowns that results give (before there are any: none). Refuses what weft_goodput_load refuses.
enum weft_status weft_versus_goodput(struct weft_versus *v, const struct weft_tree *section, struct weft_arena *arena,
                                     struct weft_error *ret_error);
/// [seeds] in `arena`; NAN: no value. A name of weft_why_names or of weft_versus_measure_names.
double *weft_versus_values(const struct weft_versus *v, uint32_t fabric, uint32_t case_at, const char *name,
                           struct weft_arena *arena);

/// The measure that judges the case over that of its healthy case, seed by seed; without values if there is none.
struct weft_spread weft_versus_degradation(const struct weft_versus *v, uint32_t fabric, uint32_t case_at,
                                           struct weft_arena *arena);

/// A fabric in a case, against the others.
struct weft_versus_place {
    uint32_t fabric;
    struct weft_spread value, of_ruler; ///< of the measure that judges; its ratio to that of the ruler
    bool unknown;                       ///< whether it differs from the first is not known: one seed
    bool noise; ///< it differs from the first by no more than noise, or by what an estimate may be off
    bool estimated;
    double low, high; ///< of value.mean: the interval of the estimate; NAN: it ran in packets
};
/// The ruler left out, best first; those without a value come not at all. In `arena`.
struct weft_versus_place *weft_versus_rank(const struct weft_versus *v, uint32_t case_at, struct weft_arena *arena,
                                           uint32_t *ret_n);

/// Who leads in a case if an assumption is wrong.
struct weft_versus_turn {
    uint32_t case_at;         ///< from n_cases on
    uint32_t first, second;   ///< fabrics: the leader then, and the next; WEFT_NONE: none
    bool turns;               ///< another leader than without
    bool noise;               ///< and one of the two leads within noise
    double lead, lead_before; ///< the second's value over the first's
};
/// [n_all - n_cases] in `arena`: those that turn come first, then those with the greatest change of the lead.
struct weft_versus_turn *weft_versus_turns(const struct weft_versus *v, struct weft_arena *arena, uint32_t *ret_n);

void weft_versus_text(FILE *file, const struct weft_versus *v);
/// Its rows, in `arena`: the subject of weft__answer_versus. `interrupted`: runs are missing.
struct weft_versus_answer *weft_versus_answer(const struct weft_versus *v, bool interrupted, struct weft_arena *arena);
extern const struct weft_answer weft__answer_versus;
/// Tables of it: a run of each fabric, case and seed; who leads at each number of hosts each case in which nothing
/// fails.
extern const struct weft_result_table weft_versus_measurements, weft_versus_map_leads;
/// The answer as a page of HTML; free it.
struct weft_report_page *weft_versus_page(const struct weft_versus *v);
/// What the table says, in a paragraph.
void weft_versus_paragraph(FILE *file, const struct weft_versus *v);
