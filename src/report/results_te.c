// SPDX-License-Identifier: Apache-2.0
// Results of a controller of traffic engineering.
#include <inttypes.h>
#include <math.h>

#include "results/rows.h"
#include "weft/route.h"

#include "base/units.h"

/// Whether routes need a controller; claims are checked against an empty outcome.
static bool has_controller(const struct weft_run *run) {
    const struct weft_topology *t = run->topology;
    if (!t->switches) return false;
    const struct weft_device_conf *device = weft_scenario_device(run->scenario, t->node[t->switch_node[0]].name);
    return device->sw.route.model && ((const struct weft_route_ops *)device->sw.route.model->ops)->program;
}

static bool next_te(struct weft_result_cursor *c) {
    static const struct weft_te_outcome nothing;
    c->part[0] = c->run->outcome->te ? c->run->outcome->te : &nothing;
    return !c->at++;
}

/// The last round that took effect within the run; NULL: none did.
static const struct weft_te_round *last_round(const struct weft_outcome *o) {
    uint32_t n = o->te->rounds;
    while (n && !weft_outcome_reached(o, o->te->round[n - 1].in_force_ps))
        n--;
    return n ? &o->te->round[n - 1] : NULL;
}

static double part_of(const struct weft_te_outcome *te) {
    return (double)te->by_entry / (double)(te->by_entry + te->by_fallback);
}

static void print_te(FILE *file, const struct weft_run *run) {
    const struct weft_te_outcome *te = run->outcome->te;
    const struct weft_te_round *first = te->rounds ? te->round : NULL, *last = last_round(run->outcome);
    fprintf(file, "TE     ");
    if (!last) {
        fprintf(file, "no paths came into force within the run: all packets went by the fallback\n");
        return;
    }
    fprintf(file,
            "%s, in force from %s on; the last: %s, %" PRIu32
            " beyond a link's rate, fullest link %.1f%%; %.1f%% of packets by an entry\n",
            weft__counted(te->rounds, "computation").text, weft__short_time(first->in_force_ps).text,
            weft__counted(last->demands, "demand").text, last->beyond, 100 * last->utilisation_max, 100 * part_of(te));
    if (te->phases > 1)
        fprintf(file, "       demands of %s of jobs, each with all links\n", weft__counted(te->phases, "phase").text);
    if (te->averaged)
        fprintf(file, "       demands averaged over %s of operations that may run at the same time\n",
                weft__counted(te->averaged, "sort").text);
}

WEFT_RESULT_VALUE(part_by_entry, WEFT__RESULT_REAL(part_of(c->part[0])))

#define OF_TE(field, kind, ...) WEFT_RESULT(struct weft_te_outcome, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_te = WEFT_RESULT_TABLE_OF(
    "te", OBJECT, "traffic engineering, with switch.route: te",
    WEFT_RESULT_AND(.next = next_te, .print = print_te, .present = has_controller),
    OF_TE(rounds, COUNT, "computations of the controller"),
    OF_TE(phases, COUNT, "phases of jobs, for each of which known demands are placed; 0: demands are measured"),
    OF_TE(averaged, COUNT,
          "sorts of operations, of jobs that run several at once, over which known demands are averaged"),
    OF_TE(by_entry, COUNT, "packets that took an entry of the controller, at each switch with a choice"),
    OF_TE(by_fallback, COUNT, "packets that took the fallback, at each switch with a choice"),
    WEFT_RESULT_CALL(part_by_entry, "part_by_entry", REAL, "part of packets that took an entry of the controller"));

static bool next_round(struct weft_result_cursor *c) {
    const struct weft_te_outcome *te = c->run->outcome->te;
    if (!te || c->at == te->rounds) return false;
    c->part[0] = &te->round[c->at++];
    return true;
}

#define OF_ROUND(field, kind, ...) WEFT_RESULT(struct weft_te_round, field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_te_rounds = WEFT_RESULT_TABLE_OF(
    "te.round", LIST, "a computation of the controller", WEFT_RESULT_AND(.next = next_round, .was = "te"),
    WEFT_RESULT_CALL(weft_result_index, "number", COUNT, "number of the computation, from 0", .flags = WEFT_RESULT_KEY,
                     .was = "round"),
    OF_ROUND(measured_ps, TIME, "end of the interval that was measured"),
    OF_ROUND(computed_ps, TIME, "when the controller had computed its entries"),
    OF_ROUND(in_force_ps, TIME, "when the entries were in force"), OF_ROUND(demands, COUNT, "demands placed"),
    OF_ROUND(beyond, COUNT, "demands placed beyond the rate of a link"),
    OF_ROUND(unreachable, COUNT, "demands without a path"), OF_ROUND(entries, COUNT, "entries for switches"),
    OF_ROUND(utilisation_max, REAL, "planned load of the fullest link over its rate"));
