// SPDX-License-Identifier: Apache-2.0
// A sweep: one scenario at many points, each with several seeds. Axes are parameters with their values:
//
//   sweep:
//     vary:
//       switch.aqm.min: 100KB..400KB:4   # 4 values, both ends among them
//       host.cc: [none, dcqcn]
//       run.seed: 1..5                   # whole numbers; the seeds, with which every point runs
//     best: victims.fct.mean
//
// Values of an axis:
//   [a, b, c]    these, each whatever the parameter takes
//   A..B         every whole number from A to B; of quantities and fractions any value between (for a sample)
//   A..B:log     any value between, evenly over the logarithm (for a sample)
//   A..B:N       N values, evenly, from A to B; whole ends without a unit give whole numbers
//   A..B:Nlog    N values, each the same multiple of the one before
//   a            this one
// A and B have the same kind of unit, and so have the values between: whole picoseconds, bytes, bit/s or millimetres.
//
// Points are all combinations of values (the last axis changes fastest), or, zipped, the first values of all axes, then
// the second ones; or a sample, a Latin hypercube (McKay, Beckman, Conover, Technometrics 21, 1979): N points such that
// each N-th part of each axis has one. Variants of the file are one more axis, crossed with the others. Every point
// runs with the same seeds, so that a difference between points is not one between random numbers.
#pragma once

#include "weft/scenario.h"

struct weft_sweep_value {
    const char *text;             ///< as --set would have it
    const struct weft_tree *over; ///< laid over the scenario: a map of one path
};

struct weft_sweep_range; ///< that values may be drawn from
struct weft_sweep_axis {
    const char *path; ///< "switch.aqm.min"
    struct weft_place place;
    uint32_t values; ///< 0: any value of the range
    struct weft_sweep_value *value;
    const struct weft_sweep_range *range; ///< NULL: none
};

struct weft_sweep_point {
    uint32_t variant;               ///< of the file
    struct weft_sweep_value *value; ///< [axes]
};

struct weft_sweep {
    const struct weft_scenario_file *file;
    struct weft_arena *arena;
    uint32_t axes, points, seeds;
    struct weft_sweep_axis *axis; ///< without run.seed
    struct weft_sweep_point *point;
    uint64_t *seed;      ///< NULL: one, that of the scenario
    const char *best;    ///< as `sweep: best` has it; "" if nothing does
    const char *metrics; ///< likewise, with commas between
    struct weft_place best_place, metrics_place;
};

/// What the command line says beside the file's section: instead of what is said there of the same.
struct weft_sweep_options {
    const char *const *vary; ///< "PATH=VALUES" each
    const char *option;      ///< that they are values of, for messages; NULL: --vary
    uint32_t varied;
    bool zip;
    uint32_t variant; ///< only this one; WEFT_NONE: all
    uint32_t sample;  ///< points; 0: no sample
    uint64_t sample_seed;
    const uint64_t *seed; ///< instead of those of run.seed; NULL: none
    uint32_t seeds;
};

enum { WEFT_SWEEP_VALUES_MAX = 100000, WEFT_SWEEP_RUNS_MAX = 1000000, WEFT_SWEEP_SEEDS_MAX = 1000 };

/// The sweep of a file, in `arena`; the file must outlive it. An error has the place of the axis. Whether the scenario
/// takes the values only binding a point can say.
enum weft_status weft_sweep_new(const struct weft_scenario_file *file, const struct weft_sweep_options *options,
                                struct weft_arena *arena, struct weft_sweep **ret_sweep, struct weft_error *ret_error);
/// Name of a point's run in messages.
const char *weft_sweep_run_name(const struct weft_sweep *sweep, uint32_t point, uint64_t seed,
                                struct weft_arena *arena);
/// The file with the values of a point and a seed (of the list; WEFT_NONE: that of the scenario) laid over it: a view
/// in `arena`, which is not freed itself and lives as long as the file.
struct weft_scenario_file *weft_sweep_file(const struct weft_sweep *sweep, uint32_t point, uint32_t seed,
                                           struct weft_arena *arena);
/// Likewise with a seed alone.
struct weft_scenario_file *weft_sweep_with_seed(const struct weft_scenario_file *file, uint64_t seed,
                                                struct weft_arena *arena);
/// Seeds such as "1..5" or "1,2,7": at most WEFT_SWEEP_SEEDS_MAX, each once. False: it is not understood.
bool weft_seeds_parse(const char *text, struct weft_arena *arena, uint64_t **ret_seed, uint32_t *ret_seeds);

/// Whole numbers such as "128,256" or "64..1024:5log", each once, at most `max`, sorted. False: `why` says what is
/// wrong.
bool weft_numbers_parse(const char *text, uint32_t max, struct weft_arena *arena, uint64_t **ret_number,
                        uint32_t *ret_numbers, char *why, size_t size);

/// The section `sweep` of a scenario, besides `vary`.
extern const struct weft_param_table weft_sweep_table;
