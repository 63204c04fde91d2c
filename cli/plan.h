// SPDX-License-Identifier: Apache-2.0
// What the calculators of weft plan share.
#pragma once

#include "base/units.h"
#include "cli.h"
#include "weft/plan.h"
#include "weft/result.h"

/// Exact quantities, for one expression.
#define TIME(t) weft__time_text(t).text
#define BYTES(b) weft__bytes_text(b).text
#define RATE(r) weft__rate_text(r).text

/// A calculator: its options come from `table`, one per row.
struct plan {
    const char *name, *about;
    const struct weft_param_table *table;
    const struct weft_answer *values, *scenario; ///< what it answers to values, and to a scenario
    /// Answers the given values.
    enum weft_status (*by_values)(const struct plan *plan, const struct weft_cli_options *o,
                                  struct weft_error *ret_error);
    /// Fills in the plan for one variant of a scenario, in the options' arena.
    enum weft_status (*by_scenario)(const struct plan *plan, const struct weft_cli_options *o,
                                    const struct weft_scenario *scenario, const struct weft_topology *topology,
                                    const struct weft_workload *workload, struct weft_plan_variant *ret_variant,
                                    struct weft_error *ret_error);
    void (*print)(FILE *file, const struct weft_plan_variant *variant);
};
extern const struct plan plan_pfc, plan_sfc, plan_dsf;

extern const struct weft_answer weft__answer_plan_fabric, weft__answer_plan_capacity, weft__answer_plan_cheapest,
    weft__answer_plan_advice;
/// weft plan sonic, which checks a file rather than values; returns its exit status.
int plan_sonic(int argc, char **argv);
/// weft plan fabric, which reads blueprints.
int plan_fabric(int argc, char **argv);

/// weft plan ecn, dcqcn, sfc, admission and buffers for a scenario.
int plan_advice(const char *subject, int argc, char **argv);

/// weft plan capacity, which runs a scenario at many loads.
int plan_capacity(int argc, char **argv);

/// weft plan cheapest, which estimates a job on many fabrics.
int plan_cheapest(int argc, char **argv);

/// True if the user gave the option of this row ("rate").
bool plan_given(const struct plan *plan, const char *row);
/// Loads every value: the user's, else, with `defaults`, the table's default (one without is an error); then runs the
/// table's check.
enum weft_status plan_load(const struct plan *plan, bool defaults, void *conf, struct weft_arena *arena,
                           struct weft_error *ret_error);
