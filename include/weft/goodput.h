// SPDX-License-Identifier: Apache-2.0
// What failures leave of a long training job: parts that fail at a rate, recovery, checkpoints, spares. The section
// `goodput` of a scenario, or options of weft goodput.
//
// Sources. Renewal: J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS
// 22, 2006, whose times are exponential, also while the job restarts. First order: Kokolis et al., "Revisiting
// reliability in large-scale machine learning research clusters", arXiv 2410.21680. Interval for availability: arXiv
// 2410.18124. Rates of parts: see weft_goodput_parts.
//
// Where the model differs, and why: a job that has no spare server waits for a repair, which takes an exponential time;
// the sources have no spares. Degraded parts of one class slow the job once, however many they are, because the slowest
// rank sets the pace; slowdowns of different classes multiply.
#pragma once

#include "weft/status.h"
#include "weft/types.h"

struct weft_answer;
struct weft_arena;
struct weft_error;
struct weft_param_table;
struct weft_tree;

/// How hosts are attached: which failures end the job, and which only slow it.
enum weft_goodput_attachment {
    WEFT_GOODPUT_SINGLE_TOR, ///< a port a NIC
    WEFT_GOODPUT_DUAL_TOR,   ///< two ports a NIC, to two switches
    WEFT_GOODPUT_PLANES,     ///< a port a NIC and plane, no common switch
    WEFT_GOODPUT_DSF,        ///< a port a NIC to an interface node; the fabric's links are sprayed over
    WEFT_GOODPUT_ATTACHMENTS,
};
extern const char *const weft_goodput_attachments[]; ///< names, NULL at the end

enum weft_goodput_effect {
    WEFT_GOODPUT_CRASH,   ///< the job ends, and goes on from its last checkpoint
    WEFT_GOODPUT_DEGRADE, ///< the job is slower until the part is repaired
    WEFT_GOODPUT_STALL,   ///< the job stands still, and goes on
};
extern const char *const weft_goodput_effects[];

/// A class of parts.
struct weft_goodput_part {
    const char *name;
    uint32_t effect;      ///< enum weft_goodput_effect
    double count;         ///< parts of the job; 0: as many as the job has of the part of this name
    double rate;          ///< failures of one part an hour
    double servers;       ///< crash: servers that are taken out for repair
    double slowdown;      ///< degrade: iteration with the part down over iteration without, at least 1
    double slowdown_half; ///< half the 95% interval of a measured slowdown; NAN: not measured, or one seed
    const char *variant;  ///< degrade: variant of the scenario that measures the slowdown; "": the value above stands
    uint64_t duration_ps; ///< degrade: until repaired; stall: until the job goes on
    bool measured;
    // Results:
    double failures_month; ///< expected failures in 30 days
    double cost;           ///< goodput of a job in which these parts never fail, less the goodput
};

struct weft_goodput_conf {
    uint64_t gpus, gpus_per_server, nics_per_server, servers_per_switch, planes;
    uint32_t attachment;
    uint64_t spares; ///< servers
    uint64_t detect_ps, restart_ps, repair_ps;
    uint64_t state_bytes;  ///< of a checkpoint, whole job
    uint64_t store_bps;    ///< that the store takes
    double communication;  ///< share of an iteration that waits for the network
    double blocking;       ///< share of the writing in which the job stands still
    uint64_t interval_ps;  ///< between checkpoints; 0: the best
    uint64_t months, seed; ///< of the Monte Carlo
    const char *base, *metric;
    struct weft_goodput_part *part;
    uint32_t parts;
};
extern const struct weft_param_table weft_goodput_table, weft_goodput_part_table;

/// The goodput of a job: the share of wall time that is work which need not be done again, at full speed.
struct weft_goodput {
    struct weft_goodput_conf conf;
    double mtbf_h;                           ///< between crashes
    double write_s;                          ///< that the job stands still at a checkpoint
    double lag_s;                            ///< from the moment that a checkpoint holds until it is written
    double recovery_s;                       ///< from a crash until the job works again, if a spare is at hand
    double interval_s, young_s, available_s; ///< used; by Young; for availability
    double renewal;                          ///< of the time with servers: work that is kept
    double first_order;                      ///< the same by the first-order form
    double staffed;                          ///< share of time in which there are servers enough
    double speed;                            ///< share that degraded parts leave
    double moving;                           ///< share that stalls leave
    double goodput;                          ///< product of renewal, staffed, speed, moving
    double half;                      ///< half the 95% interval that the measured slowdowns give; 0: none is measured
    double simulated, simulated_half; ///< mean of simulated months, half its 95% interval
    double month_low, month_high;     ///< 90% of simulated months lie between
};

/// Reads the section (NULL: none), with the parts of the attachment and those of the user, in `arena`.
enum weft_status weft_goodput_load(const struct weft_tree *section, struct weft_arena *arena,
                                   struct weft_goodput_conf *ret_conf, struct weft_error *ret_error);
/// All of *ret, and the results of conf->part. Deterministic.
void weft_goodput_find(const struct weft_goodput_conf *conf, struct weft_arena *arena, struct weft_goodput *ret);

#define WEFT__GOODPUT(field, kind, ...) WEFT_RESULT(struct weft_goodput, field, kind, __VA_ARGS__)
#define WEFT__GOODPUT_PART(field, kind, ...) WEFT_RESULT(struct weft_goodput_part, field, kind, __VA_ARGS__)
/// Columns of tables whose rows are goodputs (weft/result.h), and of those whose rows are parts.
#define WEFT_GOODPUT_COLUMNS                                                                                           \
    WEFT_RESULT_NAMED(struct weft_goodput, conf.gpus, "gpus", COUNT, "GPUs of the job", .flags = WEFT_RESULT_KEY,      \
                      .title = "GPUs"),                                                                                \
        WEFT_RESULT_OF_NAMES(0, struct weft_goodput, conf.attachment, "attachment", weft_goodput_attachments,          \
                             "how hosts are attached", .flags = WEFT_RESULT_KEY, .title = "attachment"),               \
        WEFT__GOODPUT(goodput, REAL, "share of wall time that is work at full speed and need not be done again",       \
                      .title = "goodput"),                                                                             \
        WEFT__GOODPUT(half, REAL,                                                                                      \
                      "half the 95% interval of the goodput that measured slowdowns give; 0: none is measured"),       \
        WEFT__GOODPUT(simulated, REAL, "mean goodput of simulated months", .title = "simulated"),                      \
        WEFT__GOODPUT(simulated_half, REAL, "half the 95% interval of the mean of simulated months"),                  \
        WEFT__GOODPUT(month_low, REAL, "goodput that 95% of simulated months exceed", .title = "bad month"),           \
        WEFT__GOODPUT(month_high, REAL, "goodput that 5% of simulated months exceed", .title = "good month"),          \
        WEFT__GOODPUT(mtbf_h, REAL, "mean time between crashes", .unit = "h", .title = "MTBF (h)"),                    \
        WEFT__GOODPUT(interval_s, REAL, "work between two checkpoints", .unit = "s", .title = "interval (s)"),         \
        WEFT__GOODPUT(young_s, REAL, "interval by Young's formula", .unit = "s"),                                      \
        WEFT__GOODPUT(available_s, REAL, "interval by the formula for availability", .unit = "s"),                     \
        WEFT__GOODPUT(write_s, REAL, "time that the job stands still at a checkpoint", .unit = "s"),                   \
        WEFT__GOODPUT(lag_s, REAL, "time from the moment that a checkpoint holds until the store has it",              \
                      .unit = "s"),                                                                                    \
        WEFT__GOODPUT(recovery_s, REAL, "time from a crash until the job works again, with servers at hand",           \
                      .unit = "s"),                                                                                    \
        WEFT__GOODPUT(renewal, REAL, "share that crashes and checkpoints leave", .title = "crashes"),                  \
        WEFT__GOODPUT(first_order, REAL,                                                                               \
                      "share that crashes and checkpoints leave by the first-order formula; wrong where crashes "      \
                      "are frequent"),                                                                                 \
        WEFT__GOODPUT(staffed, REAL, "share of time in which there are servers enough", .title = "servers"),           \
        WEFT__GOODPUT(speed, REAL, "share that degraded parts leave", .title = "speed"),                               \
        WEFT__GOODPUT(moving, REAL, "share that stalls leave", .title = "stalls")
#define WEFT_GOODPUT_PART_COLUMNS                                                                                      \
    WEFT__GOODPUT_PART(name, TEXT, "name of the class", .flags = WEFT_RESULT_KEY, .title = "part"),                    \
        WEFT_RESULT_OF_NAMES(0, struct weft_goodput_part, effect, "effect", weft_goodput_effects,                      \
                             "crash: the job ends; degrade: the job is slower; stall: the job stands still",           \
                             .title = "effect"),                                                                       \
        WEFT__GOODPUT_PART(count, REAL, "parts of the job", .title = "parts"),                                         \
        WEFT__GOODPUT_PART(rate, REAL, "failures of one part an hour", .unit = "1/h", .title = "rate (1/h)"),          \
        WEFT__GOODPUT_PART(failures_month, REAL, "failures in 30 days", .title = "a month"),                           \
        WEFT__GOODPUT_PART(slowdown, REAL, "iteration with the part down over iteration without",                      \
                           .title = "slowdown"),                                                                       \
        WEFT__GOODPUT_PART(slowdown_half, REAL,                                                                        \
                           "half the 95% interval of the measured slowdown; null: not measured, or one seed"),         \
        WEFT__GOODPUT_PART(measured, BOOL, "whether runs measured the slowdown", .title = "measured"),                 \
        WEFT__GOODPUT_PART(cost, REAL, "goodput of a job in which these parts never fail, less the goodput",           \
                           .title = "cost")

/// "1.0312+-0.0021" with half of its 95% interval, "1.0312 (1 seed)", "1.0000?" if it is assumed.
struct weft_goodput_text {
    char text[32];
} weft_goodput_slowdown_text(const struct weft_goodput_part *part);

/// One or several designs side by side, as rows.
struct weft_goodput_answer {
    const char *scenario; ///< NULL: none
    uint64_t hosts;       ///< of the scenario that measured slowdowns; WEFT_NONE: nothing is measured
    struct weft_goodput *design;
    uint32_t designs;
};
extern const struct weft_answer weft__answer_goodput;

/// Share of time that is kept by a job that crashes every `mtbf` on average, writes for `write` after each `interval`
/// of work, and takes `recovery` after a crash. All in one unit.
double weft_goodput_renewal(double mtbf, double write, double interval, double recovery);
double weft_goodput_first_order(double mtbf, double write, double interval, double recovery);
