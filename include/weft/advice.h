// SPDX-License-Identifier: Apache-2.0
// Advice on a scenario of the user's own: values for marking, DCQCN, source flow control, admission and buffers, each
// with its formula, source and margin, and what is wrong with the values in force. Everything named calc_ is pure.
#pragma once

#include "weft/plan.h"

enum weft_advice_subject {
    WEFT_ADVICE_ECN,
    WEFT_ADVICE_DCQCN,
    WEFT_ADVICE_SFC,
    WEFT_ADVICE_ADMISSION,
    WEFT_ADVICE_BUFFERS,
    WEFT_ADVICE_SUBJECTS
};
extern const char *const weft_advice_names[]; ///< "ecn", "dcqcn", ..., NULL

enum { WEFT_ADVICE_ROWS = 16, WEFT_ADVICE_FACTS = 24, WEFT_ADVICE_FINDINGS = 12 };
struct weft_advice {
    /// What the values follow from.
    struct weft_advice_fact {
        const char *name, *text;
    } fact[WEFT_ADVICE_FACTS];
    /// A parameter. `current` is NULL where its model is not in force; the same text where it is what is recommended.
    struct weft_advice_row {
        const char *path, *current, *recommended, *formula, *source, *margin;
    } row[WEFT_ADVICE_ROWS];
    /// What is wrong with what is in force.
    const char *finding[WEFT_ADVICE_FINDINGS];
    uint32_t facts, rows, findings;
};
/// In `arena`. A scenario without the switches or the traffic that the subject is about: an error.
enum weft_status weft_advise(enum weft_advice_subject subject, const struct weft_scenario *scenario,
                             const struct weft_topology *topology, const struct weft_workload *workload,
                             struct weft_arena *arena, struct weft_advice *ret_advice, struct weft_error *ret_error);

/// Depth below which queues are marked before PFC pauses, however packets come in: an input may hold what waits at
/// every output. Zhu et al., SIGCOMM 2015, section 4 (there p = 8 and alpha = beta / 8):
/// dynamic buffer: alpha S / (n (1 + p alpha)); with fixed thresholds: XOFF / n.
weft_bytes weft_advice_calc_ecn_dynamic(weft_bytes shared, double alpha, uint32_t ports, uint32_t priorities);
weft_bytes weft_advice_calc_ecn_fixed(weft_bytes xoff, uint32_t ports);
/// The least alpha for which that depth is at least `kmin`; 0: there is none.
double weft_advice_calc_alpha(weft_bytes shared, weft_bytes kmin, uint32_t ports, uint32_t priorities);

/// DCQCN in equilibrium: N flows of an equal share of `rate`.
struct weft_advice_dcqcn {
    weft_rate_bps rate_bps, increase_bps; ///< of the link; R_AI
    weft_time_ps timer_ps, interval_ps;   ///< T; tau', in which at most one CNP is answered
    weft_bytes counter_bytes, frame_bytes;
    uint64_t flows;
};
/// p* = (R_AI N^2 / (tau' C^2) (1/B + N / (T C))^2)^(1/3), in packets: Zhu, Ghobadi, Misra, Padhye, "ECN or Delay",
/// CoNEXT 2016.
double weft_advice_calc_marks(const struct weft_advice_dcqcn *dcqcn);
/// Solved for R_AI: the greatest with which p* is no more than `probability`.
weft_rate_bps weft_advice_calc_increase(const struct weft_advice_dcqcn *dcqcn, double probability);

/// Payload that each of N senders may have under way: enough for the link in one round trip, and with all N of them no
/// more than that and the buffer below XOFF. The greatest, and the least with which a receiver of N is kept busy.
struct weft_advice_window {
    weft_bytes most, least;
};
struct weft_advice_window weft_advice_calc_window(weft_rate_bps rate, weft_time_ps round_trip, weft_bytes xoff,
                                                  uint64_t senders);
