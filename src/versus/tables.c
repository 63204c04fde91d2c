// SPDX-License-Identifier: Apache-2.0
// The tables of a versus.
#include "versus/rows.h"
#include "weft/goodput.h"
#include "weft/result.h"

#define ROOT(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_versus_answer, field, key, kind, __VA_ARGS__)
static const struct weft_result_table versus_table = WEFT_RESULT_TABLE_OF(
    "versus", OBJECT, "one job on every fabric", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
    ROOT(v.job, "job", TEXT, "file of the job; none: a battery alone"),
    ROOT(v.hosts, "hosts", COUNT, "hosts, the fewest if there are several numbers"),
    ROOT(v.rate_bps, "rate_bps", RATE, "rate of a host's link"),
    ROOT(ruler, "ruler", TEXT, "the fabric with which all are compared; none: it does not take part"),
    ROOT(interrupted, "interrupted", BOOL, "whether runs are missing because the user interrupted the command"),
    ROOT(paragraph, "paragraph", TEXT, "what the tables say, in words"));
WEFT_RESULT_VALUES(ignored_table, "ignored", "a section of the job that fabrics set themselves",
                   WEFT_RESULT_EACH(struct weft_versus_answer, v.ignored, v.n_ignored), .sparse = false, const char *,
                   TEXT, );

// --- cases --------------------------------------------------------------------------------------------------------

#define LEAD(field, key, kind, ...) WEFT_RESULT_NAMED(struct lead_row, field, key, kind, __VA_ARGS__)
#define HOSTS(T, what) WEFT_RESULT(T, hosts, COUNT, what, .flags = WEFT_RESULT_KEY)
static const struct weft_result_table cases_table = WEFT_RESULT_TABLE_OF(
    "cases", LIST, "a workload that all fabrics run, at a number of hosts",
    WEFT_RESULT_EACH(struct weft_versus_answer, lead, leads),
    LEAD(case_name, "name", TEXT, "name of the case", .flags = WEFT_RESULT_KEY),
    HOSTS(struct lead_row, "hosts of each fabric"),
    LEAD(family, "family", TEXT, "cases of one family differ in size or load alone"),
    LEAD(bytes, "bytes", BYTES, "size of a message", .flags = WEFT_RESULT_SPARSE),
    LEAD(load, "load_percent", COUNT, "load", .unit = "%", .flags = WEFT_RESULT_SPARSE),
    LEAD(failure, "failure", TEXT, "what fails", .flags = WEFT_RESULT_SPARSE),
    LEAD(healthy, "healthy", TEXT, "name of the case without the failure", .flags = WEFT_RESULT_SPARSE),
    LEAD(judged_by, "judged_by", TEXT, "the measure by which fabrics are ranked, the less the better"),
    LEAD(first, "first", TEXT, "the fabric that leads; none: no fabric has a value"));
WEFT_RESULT_VALUES(noise_table, "cases.within_noise", "a fabric that differs from the first by noise alone",
                   WEFT_RESULT_EACH(struct lead_row, noise, noises), .sparse = false, const char *, TEXT,
                   WEFT_RESULT_ABOVE_AT(1, struct lead_row, case_name, "name", TEXT, "name of the case"),
                   WEFT_RESULT_OF(struct lead_row, hosts, COUNT, "hosts of each fabric"));

// --- fabrics ------------------------------------------------------------------------------------------------------

#define FABRIC(field, key, kind, ...) WEFT_RESULT_NAMED(struct fabric_row, field, key, kind, __VA_ARGS__)
#define FABRIC_OF(n)                                                                                                   \
    WEFT_RESULT_ABOVE_AT(n, struct fabric_row, is.name, "fabric", TEXT, "name of the fabric"),                         \
        WEFT_RESULT_ABOVE_AT(n, struct fabric_row, is.hosts, "hosts", COUNT, "hosts of the fabric")
static const struct weft_result_table fabrics_table = WEFT_RESULT_TABLE_OF(
    "fabrics", LIST, "a fabric at a number of hosts", WEFT_RESULT_EACH(struct weft_versus_answer, fabric, fabrics),
    FABRIC(is.name, "name", TEXT, "name of the fabric", .flags = WEFT_RESULT_KEY),
    FABRIC(is.hosts, "hosts", COUNT, "hosts of the fabric", .flags = WEFT_RESULT_KEY),
    FABRIC(is.about, "about", TEXT, "the fabric in a sentence"),
    FABRIC(is.kind, "kind", TEXT, "shape of the fabric, as in weft models fabric"),
    FABRIC(source, "source", TEXT, "sources of the fabric's settings"),
    FABRIC(status, "status", TEXT, "ran, unbuildable, over_budget, stalled, unfinished, failed or not_run"),
    FABRIC(is.reason, "reason", TEXT, "why the fabric did not run"),
    FABRIC(ruler, "ruler", BOOL, "whether other fabrics are compared with this one"),
    FABRIC(oversubscription, "oversubscription", REAL, "rate of hosts by rate of uplinks of their switch",
           .flags = WEFT_RESULT_SPARSE),
    FABRIC(queue_pairs, "queue_pairs", COUNT, "queue pairs of a connection", .flags = WEFT_RESULT_SPARSE));
static const struct weft_result_table bill_table =
    WEFT_RESULT_TABLE_OF("fabrics.bill", OBJECT, "what a fabric needs", WEFT_RESULT_IF(struct fabric_row, bill),
                         FABRIC_OF(1), WEFT_FABRIC_BILL_COLUMNS);
static const struct weft_result_table grown_table =
    WEFT_RESULT_TABLE_OF("fabrics.half_as_many_again", OBJECT, "the fabric with half as many hosts again",
                         WEFT_RESULT_IF(struct fabric_row, grown), FABRIC_OF(1),
                         WEFT_RESULT(struct grown_row, reason, TEXT, "why it cannot grow so; none: it can"));
static const struct weft_result_table grown_bill_table =
    WEFT_RESULT_TABLE_OF("fabrics.half_as_many_again.bill", OBJECT, "parts of the fabric with half as many hosts again",
                         WEFT_RESULT_IF(struct grown_row, bill), FABRIC_OF(2), WEFT_FABRIC_BILL_COLUMNS);

static const struct weft_result_table goodput_table =
    WEFT_RESULT_TABLE_OF("fabrics.goodput", OBJECT, "what failures leave of a month of a job on the fabric (--goodput)",
                         WEFT_RESULT_IF(struct fabric_row, is.goodput), FABRIC_OF(1), WEFT_GOODPUT_COLUMNS);
static const struct weft_result_table goodput_parts_table = WEFT_RESULT_TABLE_OF(
    "fabrics.goodput.parts", LIST, "a class of parts of that job",
    WEFT_RESULT_EACH(struct weft_goodput, conf.part, conf.parts), FABRIC_OF(2), WEFT_GOODPUT_PART_COLUMNS);

#define DOMAIN(field, key, kind, ...) WEFT_RESULT_NAMED(struct domain_row, field, key, kind, __VA_ARGS__)
static const struct weft_result_table domains_table = WEFT_RESULT_TABLE_OF(
    "fabrics.failure_domains", LIST, "what may fail as a whole",
    WEFT_RESULT_EACH(struct fabric_row, domain, is.domains), FABRIC_OF(1),
    DOMAIN(kind, "kind", TEXT, "what may fail as a whole: link, switch, plane or leaf", .flags = WEFT_RESULT_KEY),
    DOMAIN(is.name, "such_as", TEXT, "the one nearest to the first host"),
    DOMAIN(is.there, "there", COUNT, "how many alike there are"),
    DOMAIN(is.hosts_cut, "hosts_cut", COUNT, "hosts that others no longer reach after the failure"),
    DOMAIN(is.capacity_lost, "capacity_lost", REAL, "part of the rate above the leaves that the failure takes away"));

// --- fabrics in cases ---------------------------------------------------------------------------------------------

#define CASE(field, key, kind, ...) WEFT_RESULT_NAMED(struct case_row, field, key, kind, __VA_ARGS__)
#define IN_SPREAD(field, key, units, means)                                                                            \
    CASE(field, key, REAL, means, .unit = units, .flags = WEFT_RESULT_SPARSE | WEFT_RESULT_TOGETHER)
#define SPREAD_OF(field, key, units, what)                                                                             \
    CASE(field.seeds, key ".seeds", COUNT, what ": seeds with a value", .flags = WEFT_RESULT_SPARSE),                  \
        IN_SPREAD(field.mean, key ".mean", units, what ": mean"),                                                      \
        IN_SPREAD(field.median, key ".median", units, what ": median"),                                                \
        IN_SPREAD(field.low, key ".low", units, what ": low end of the 95% interval of the mean"),                     \
        IN_SPREAD(field.high, key ".high", units, what ": high end of that interval")
#define X(e, name, unit, help) SPREAD_OF(measure[WEFT_VERSUS_##e], name, unit, help),
static const struct weft_result_table measures_table = WEFT_RESULT_TABLE_OF(
    "fabrics.cases", MAP, "a fabric in a case, over seeds", WEFT_RESULT_EACH(struct fabric_row, cases, n_cases),
    FABRIC_OF(1), CASE(name, "case", TEXT, "name of the case", .flags = WEFT_RESULT_KEY),
    WEFT_VERSUS_MEASURES(X) CASE(rank, "rank", COUNT, "place among the fabrics, from 1", .flags = WEFT_RESULT_SPARSE),
    CASE(noise, "within_noise_of_first", BOOL, "whether the fabric leads, or differs from the leader by noise alone",
         .flags = WEFT_RESULT_SPARSE | WEFT_RESULT_TOGETHER),
    SPREAD_OF(of_ruler, "of_ruler", "", "the measure that judges, by that of the ruler"),
    SPREAD_OF(over_healthy, "over_healthy", "", "the measure that judges, by that of the case without failure"),
    CASE(low, "estimate.low", REAL,
         "lower end of the 90% interval of the measure that judges, where it is estimated (--estimate) and calibrated",
         .flags = WEFT_RESULT_SPARSE),
    CASE(high, "estimate.high", REAL, "upper end of that interval", .flags = WEFT_RESULT_SPARSE),
    CASE(hosts_used, "hosts_used", COUNT, "hosts that send or receive", .flags = WEFT_RESULT_SPARSE),
    SPREAD_OF(energy, "energy_J", "J", "energy of switches, optics and NICs over the time of the case"),
    CASE(why_of, "why_of", TEXT, "subject of why_ps: flow or iteration"),
    CASE(why_note, "why_note", TEXT, "why why_ps is missing, or is of a flow instead of an iteration"));
#undef X
#define CASE_OF WEFT_RESULT_ABOVE_AT(1, struct case_row, name, "case", TEXT, "name of the case")
static const struct weft_result_table why_table = WEFT_RESULT_TABLE_OF(
    "fabrics.cases.why_ps", NUMBERS, "where the time went", WEFT_RESULT_EACH(struct case_row, part, parts),
    FABRIC_OF(2), CASE_OF,
    WEFT_RESULT(struct part_row, name, TEXT, "part of the time, as in weft why", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct part_row, ps, TIME, "time in this part"));
#define RUN(field, key, kind, ...) WEFT_RESULT_NAMED(struct run_row, field, key, kind, __VA_ARGS__)
static const struct weft_result_table runs_table = WEFT_RESULT_TABLE_OF(
    "fabrics.cases.runs", LIST, "a run", WEFT_RESULT_EACH(struct case_row, run, runs), FABRIC_OF(2), CASE_OF,
    RUN(seed, "seed", COUNT, "seed of the run", .flags = WEFT_RESULT_KEY),
    RUN(state, "state", TEXT, "how the run ended"), RUN(digest, "digest", TEXT, "digest of the run"));

/// Times are whole picoseconds.
#define X(e, key, units, means)                                                                                        \
    {.name = key,                                                                                                      \
     .type = sizeof units == sizeof "ps" ? WEFT_RESULT_TIME : WEFT_RESULT_REAL,                                        \
     .unit = units,                                                                                                    \
     .source = WEFT_RESULT_FROM_DOUBLE,                                                                                \
     .offset = offsetof(struct run_row, value[WEFT_VERSUS_##e]),                                                       \
     .help = means},
const struct weft_result_table weft_versus_measurements = WEFT_RESULT_TABLE_OF(
    "measurements", APART, "a run of a fabric, with what was measured",
    WEFT_RESULT_EACH(struct weft_versus_answer, measured, measureds), RUN(fabric, "fabric", TEXT, "name of the fabric"),
    RUN(hosts, "hosts", COUNT, "hosts of the fabric"),
    RUN(case_name, "case", TEXT, "name of the case; none: the fabric does not run"),
    RUN(bytes, "bytes", BYTES, "size of a message; 0: the case has none"), RUN(seed, "seed", COUNT, "seed of the run"),
    RUN(state, "end", TEXT, "how the run ended, or why the fabric does not run"),
    WEFT_VERSUS_MEASURES(X) RUN(bill.chips, "chips", COUNT, "switch chips of the fabric"),
    RUN(bill.optics, "optics", REAL, "optical modules of the fabric"),
    RUN(bill.watts, "watts", REAL, "power of the fabric", .unit = "W"),
    RUN(bill.price, "price", REAL, "price of the fabric"));
#undef X

// --- where the leader changes -------------------------------------------------------------------------------------

#define BORDER(field, key, kind, ...) WEFT_RESULT_NAMED(struct border_row, field, key, kind, __VA_ARGS__)
#define BORDER_ENDS                                                                                                    \
    BORDER(below, "below", TEXT, "fabric that leads below"), BORDER(above, "above", TEXT, "fabric that leads above"),  \
        BORDER(noise, "within_noise", BOOL, "whether at one of its two sides the difference is noise")
static const struct weft_result_table borders_table = WEFT_RESULT_TABLE_OF(
    "borders", LIST, "a size or load at which the leader changes",
    WEFT_RESULT_EACH(struct weft_versus_answer, border, borders),
    WEFT_RESULT_CALL(weft_result_index, "number", COUNT, "number of the border, from 0",
                     .flags = WEFT_RESULT_KEY | WEFT_RESULT_TABLES),
    BORDER(family, "family", TEXT, "cases that differ in size or load alone"),
    BORDER(from, "hosts", COUNT, "hosts of each fabric"), BORDER_ENDS,
    BORDER(bytes, "bytes", REAL, "size at which the leader changes", .unit = "bytes", .flags = WEFT_RESULT_SPARSE),
    BORDER(load, "load_percent", REAL, "load at which the leader changes", .unit = "%", .flags = WEFT_RESULT_SPARSE));

static const struct weft_result_table map_table = WEFT_RESULT_TABLE_OF(
    "map", OBJECT, "who leads at which number of hosts, size and load", WEFT_RESULT_IF(struct weft_versus_answer, map),
    WEFT_RESULT(struct map_row, leads, COUNT, "places of the map: cases times numbers of hosts",
                .flags = WEFT_RESULT_TABLES));
WEFT_RESULT_VALUES(map_hosts_table, "map.hosts", "a number of hosts", WEFT_RESULT_EACH(struct map_row, hosts, scales),
                   .sparse = false, uint64_t, COUNT, );
const struct weft_result_table weft_versus_map_leads = WEFT_RESULT_TABLE_OF(
    "map.leads", LIST, "who leads a case at a number of hosts", WEFT_RESULT_EACH(struct map_row, lead, leads),
    HOSTS(struct lead_row, "hosts of each fabric"),
    LEAD(family, "family", TEXT, "cases of one family differ in size or load alone", .flags = WEFT_RESULT_TABLES),
    LEAD(case_name, "case", TEXT, "name of the case", .flags = WEFT_RESULT_KEY),
    LEAD(bytes, "bytes", BYTES, "size of a message", .flags = WEFT_RESULT_TABLES),
    LEAD(load, "load_percent", COUNT, "load", .unit = "%", .flags = WEFT_RESULT_TABLES),
    LEAD(first, "first", TEXT, "fabric that leads"), LEAD(second, "second", TEXT, "fabric that comes next"),
    LEAD(lead, "lead", REAL, "the second's measure by that of the first"),
    LEAD(is_noise, "within_noise", BOOL, "whether the lead is within noise"));
static const struct weft_result_table map_borders_table = WEFT_RESULT_TABLE_OF(
    "map.borders", LIST, "between which numbers of hosts the leader changes",
    WEFT_RESULT_EACH(struct map_row, border, borders),
    BORDER(family, "case", TEXT, "name of the case", .flags = WEFT_RESULT_KEY),
    BORDER(from, "from_hosts", COUNT, "hosts at which the first of the two still leads", .flags = WEFT_RESULT_KEY),
    BORDER(to, "to_hosts", COUNT, "the next number of hosts, at which the other leads"), BORDER_ENDS,
    BORDER(hosts, "hosts", REAL, "where the lines through their values meet"));

// --- what is assumed ----------------------------------------------------------------------------------------------

WEFT_RESULT_PRESENT(has_run, ((const struct weft_versus_answer *)(const void *)run)->v.variants)

#define TURN(field, key, kind, ...) WEFT_RESULT_NAMED(struct turn_row, field, key, kind, __VA_ARGS__)
#define TURN_KEYS(key, means)                                                                                          \
    TURN(case_name, "case", TEXT, "name of the case", .flags = WEFT_RESULT_KEY),                                       \
        HOSTS(struct turn_row, "hosts of each fabric"), TURN(what, key, TEXT, means, .flags = WEFT_RESULT_KEY),        \
        TURN(factor, "factor", REAL, "factor applied to the assumed number", .flags = WEFT_RESULT_KEY)
static const struct weft_result_table assumptions_table = WEFT_RESULT_TABLE_OF(
    "assumptions", LIST, "who leads if an assumed number is halved or doubled, or at an end of its band",
    WEFT_RESULT_AND(WEFT_RESULT_EACH(struct weft_versus_answer, turn, turns), .present = has_run),
    TURN_KEYS("path", "path of the number that is assumed"),
    TURN(band, "band", TEXT,
         "band of the number in the fabrics' class of hardware; empty: none, and it is halved and doubled",
         .flags = WEFT_RESULT_KEY),
    TURN(help, "help", TEXT, "what the number is"), TURN(first, "first", TEXT, "fabric that then leads"),
    TURN(turns, "turns", BOOL, "whether the answer differs from the one with the number as assumed"),
    TURN(noise, "within_noise", BOOL, "whether one of the two leads within noise"),
    TURN(lead, "lead", REAL, "the second's measure by that of the first"),
    TURN(before, "lead_as_assumed", REAL, "the second's measure by that of the first, with the number as assumed"));
static const struct weft_result_table powers_table = WEFT_RESULT_TABLE_OF(
    "power_assumptions", LIST,
    "who uses the least energy if a part's power is halved or doubled, or at an end of its band",
    WEFT_RESULT_AND(WEFT_RESULT_EACH(struct weft_versus_answer, power, powers), .present = has_run),
    TURN_KEYS("part", "part whose power is assumed"), TURN(help, "source", TEXT, "source of the part's power"),
    TURN(watts, "watts_assumed", REAL, "power of the part as assumed", .unit = "W"),
    TURN(first, "least_energy", TEXT, "fabric that then uses the least energy"),
    TURN(turns, "turns", BOOL, "whether the answer differs from the one with the number as assumed"),
    TURN(lead, "lead", REAL, "the second's energy by that of the first"),
    TURN(before, "lead_as_assumed", REAL, "the second's energy by that of the first, with the power as assumed"));

// --- what has changed ---------------------------------------------------------------------------------------------

static const struct weft_result_table since_table =
    WEFT_RESULT_TABLE_OF("since", OBJECT, "an older answer", WEFT_RESULT_IF(struct weft_versus_answer, since),
                         WEFT_RESULT_NAMED(struct weft_versus, since, "answer", TEXT, "the older answer (--diff)"));
WEFT_RESULT_VALUES(sentences_table, "since.changes", "what has changed since the older answer, in words",
                   WEFT_RESULT_EACH(struct weft_versus, change, changes), .sparse = false, const char *, TEXT, );
#define CHANGE(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_versus_change, field, key, kind, __VA_ARGS__)
static const struct weft_result_table changes_table = WEFT_RESULT_TABLE_OF(
    "changes", APART, "a change since the older answer (--diff)",
    WEFT_RESULT_EACH(struct weft_versus_answer, v.changed, v.n_changed),
    CHANGE(hosts, "hosts", COUNT, "hosts of each fabric; none: at all numbers"),
    CHANGE(fabric, "fabric", TEXT, "name of the fabric; none: the change concerns all"),
    CHANGE(case_name, "case", TEXT, "name of the case; none: the change concerns all"),
    CHANGE(what, "what", TEXT, "what has changed"),
    CHANGE(was, "was", TEXT, "value in the older answer; none: it had none"),
    CHANGE(now, "now", TEXT, "value in this answer; none: no such value"),
    CHANGE(overlap, "intervals_overlap", BOOL, "whether the 95% intervals of the two times overlap"));

const struct weft_answer weft__answer_versus = WEFT_ANSWER_OF(
    "versus", "weft versus: fabrics side by side on one job", &versus_table, &ignored_table, &cases_table, &noise_table,
    &fabrics_table, &bill_table, &grown_table, &grown_bill_table, &goodput_table, &goodput_parts_table, &domains_table,
    &measures_table, &why_table, &runs_table, &borders_table, &map_table, &map_hosts_table, &weft_versus_map_leads,
    &map_borders_table, &assumptions_table, &powers_table, &since_table, &sentences_table, &weft_versus_measurements,
    &changes_table);
