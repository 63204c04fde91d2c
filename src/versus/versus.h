// SPDX-License-Identifier: Apache-2.0
// What the outputs of a versus share.
#pragma once

#include "weft/versus.h"

/// The fabric's point in the sweep for a case; WEFT_NONE: it does not run that case.
const struct weft_sweep_run *weft__versus_run(const struct weft_versus *v, uint32_t fabric, uint32_t case_at,
                                              uint32_t seed);
/// Whether the fabric has what fails; a NIC of several planes has no rate at which it takes data (host.drain_rate).
bool weft__versus_can_fail(const struct weft_versus_fabric *fabric, const struct weft_versus_failure *f);
struct weft_spread weft__versus_spread(const struct weft_versus *v, uint32_t fabric, uint32_t case_at, const char *name,
                                       struct weft_arena *arena);
/// A fabric's value in a case, with the interval of its estimate (of several seeds the mean interval).
struct weft_versus_place weft__versus_place_of(const struct weft_versus *v, uint32_t fabric, uint32_t case_at,
                                               struct weft_arena *arena);
static inline uint32_t weft__versus_seeds(const struct weft_versus *v) {
    return v->results ? v->results->sweep->seeds : 0;
}
/// For a case: who leads, by how much, what is within noise, and what the last one waits for.
void weft__versus_case_say(FILE *file, const struct weft_versus *v, uint32_t case_at);
/// Sentences about the whole versus; each starts with a space.
void weft__versus_whole_say(FILE *file, const struct weft_versus *v);
const char *weft__versus_turn_text(const struct weft_versus *v, const struct weft_versus_turn *turn,
                                   struct weft_arena *arena);
/// How many of them change the leader; they come first.
uint32_t weft__versus_turning(const struct weft_versus_turn *turn, uint32_t n);
void weft__versus_assumptions_text(FILE *file, const struct weft_versus *v);
void weft__versus_assumptions_say(FILE *file, const struct weft_versus *v);

// --- energy: watts of a fabric and its NICs over the time of a case ----------------------------------------------

/// In joules; without values where the power is not known, and for the ruler.
struct weft_spread weft__versus_energy(const struct weft_versus *v, uint32_t fabric, uint32_t case_at,
                                       struct weft_arena *arena);
/// The fabric that uses the least energy in the first case, if the case is judged by time.
struct weft__versus_least {
    uint32_t first, second; ///< WEFT_NONE: nobody
    double joule, lead;     ///< of the first; that of the second relative to it, NAN: there is no second
};
struct weft__versus_least weft__versus_least(const struct weft_versus *v, struct weft_arena *arena);
/// The same if a part whose power is assumed uses `factor` times as much, in all fabrics.
struct weft__versus_power {
    const struct weft_fabric_part *part;
    double factor; ///< 0.5 or 2, or the low or high end of its class's band
    struct weft__versus_least with;
    double lead_before;
    bool turns; ///< another fabric uses the least than without the factor
};
/// Those that change the answer come first, then those that change the lead most. In `arena`.
struct weft__versus_power *weft__versus_powers(const struct weft_versus *v, struct weft_arena *arena, uint32_t *ret_n);
void weft__versus_energy_text(FILE *file, const struct weft_versus *v);

/// What failures leave of a month on each fabric; nothing if it was not asked for.
void weft__versus_goodput_text(FILE *file, const struct weft_versus *v);
/// On which fabric most is left, and on which least.
void weft__versus_goodput_say(FILE *file, const struct weft_versus *v);

/// For cases of one family that differ in size: who leads which of them, and where the leader changes.
void weft__versus_map_text(FILE *file, const struct weft_versus *v);
/// Whether some case is another one with a failure; tables of those; what each failure takes with it; growth.
bool weft__versus_has_failures(const struct weft_versus *v);
void weft__versus_degradation_text(FILE *file, const struct weft_versus *v);
void weft__versus_domains_text(FILE *file, const struct weft_versus *v);
void weft__versus_growth_text(FILE *file, const struct weft_versus *v);
/// If in some fabrics one leaf has all hosts although there are switches above it: a sentence, after `before`.
void weft__versus_one_leaf_say(FILE *file, const struct weft_versus *v, const char *before);
/// Whether any family has cases of several sizes.
bool weft__versus_has_map(const struct weft_versus *v);

/// Where a fabric that leads at one size no longer leads at the next.
struct weft__versus_border {
    const char *family;
    uint32_t before, after; ///< cases
    uint32_t first, second; ///< fabrics that lead
    double at;              ///< bytes, or load in per cent, where the lines meet
    bool noise;             ///< at one of the two sizes the difference is within noise
};
struct weft__versus_border *weft__versus_borders(const struct weft_versus *v, struct weft_arena *arena,
                                                 uint32_t *ret_n);
/// "star leads below about 32KiB, dsf-l1 above"
const char *weft__versus_border_text(const struct weft_versus *v, const struct weft__versus_border *border,
                                     struct weft_arena *arena);
/// Where two lines that are straight on logarithmic scales intersect: at `from` one is `low` times the other, at `to`
/// `high` times.
double weft__versus_crossing(double from, double low, double to, double high);
/// "64KiB", "60%", or the name of the case.
const char *weft__versus_column_text(const struct weft_versus_case *c, struct weft_arena *arena);

// --- the map: who leads at which number of hosts, message size and load -----------------------------------------

/// "16, 64 and 256"
const char *weft__versus_hosts_text(const struct weft_versus *v, struct weft_arena *arena);
/// Cases without failures: those of a family of several, or all those that are alone in theirs.
struct weft__versus_sheet {
    const char *title;
    uint32_t *case_at, cases;
    bool mixed; ///< cases of several families: their names distinguish them, not their sizes
};
/// The heading of its i-th case.
const char *weft__versus_head_text(const struct weft_versus *v, const struct weft__versus_sheet *sheet, uint32_t i,
                                   struct weft_arena *arena);
struct weft__versus_sheet *weft__versus_sheets(const struct weft_versus *v, struct weft_arena *arena, uint32_t *ret_n);

/// Who leads a case at one number of hosts.
struct weft__versus_lead {
    const char *first, *second; ///< NULL: none
    double lead;                ///< the second's value relative to the first's; NAN: there is no second
    bool noise, unknown;        ///< of their difference, as in a place
};
struct weft__versus_lead weft__versus_lead(const struct weft_versus *v, uint32_t scale, uint32_t case_at,
                                           struct weft_arena *arena);

/// Whether the first of a case and another fabric differ only by noise.
bool weft__versus_is_noise(const struct weft_versus *v, uint32_t case_at, const char *fabric, struct weft_arena *arena);

/// Where a fabric that leads a case at one number of hosts no longer leads at the next.
struct weft__versus_step {
    uint32_t case_at, before; ///< scales: this and the next
    const char *first, *second;
    double hosts;    ///< where the lines through their values intersect; NAN: one of them has no value at an end
    bool first_ends; ///< hosts is NAN, and it is the first that has no value at the next number of hosts
    bool noise;      ///< at one of the two, the difference between these two fabrics is within noise
};
struct weft__versus_step *weft__versus_steps(const struct weft_versus *v, struct weft_arena *arena, uint32_t *ret_n);
const char *weft__versus_step_text(const struct weft_versus *v, const struct weft__versus_step *step,
                                   struct weft_arena *arena);
void weft__versus_scales_text(FILE *file, const struct weft_versus *v);
/// How many places of the map each fabric leads beyond noise, most first, and in how many none does; the same for all
/// cases.
void weft__versus_places_say(FILE *file, const struct weft_versus *v);
void weft__versus_cases_say(FILE *file, const struct weft_versus *v);
/// The same, and where the leader changes.
void weft__versus_scales_say(FILE *file, const struct weft_versus *v);

// --- where the time went -----------------------------------------------------------------------------------------

enum weft__versus_where_of { WEFT__VERSUS_WHERE_NONE, WEFT__VERSUS_WHERE_FLOW, WEFT__VERSUS_WHERE_ITERATION };
struct weft__versus_where {
    enum weft__versus_where_of of;       ///< whose time it is; NONE: not known
    double part_ps[WEFT_WHYS], total_ps; ///< the parts add up to the total
    const char *note;                    ///< why it is not known, or not of an iteration; NULL: nothing to say
};
struct weft__versus_where weft__versus_where(const struct weft_versus *v, uint32_t fabric, uint32_t case_at,
                                             struct weft_arena *arena);
/// Whose time the parts of a case are: of an iteration if any fabric's are.
enum weft__versus_where_of weft__versus_where_of(const struct weft_versus *v, uint32_t case_at,
                                                 struct weft_arena *arena);
/// "on the critical path of the longest iteration"
const char *weft__versus_where_text(enum weft__versus_where_of of);
/// What must be said of a fabric beside others whose time is that of `of`; NULL: nothing.
const char *weft__versus_where_note(const struct weft__versus_where *where, enum weft__versus_where_of of,
                                    struct weft_arena *arena);
void weft__versus_where_print(FILE *file, const struct weft_versus *v, uint32_t case_at);
/// What the parts are that have a column in some table.
void weft__versus_where_legend(FILE *file, const struct weft_versus *v);
/// "cannot be built"; of any status but RAN.
const char *weft__versus_status_text(enum weft_versus_status status);
