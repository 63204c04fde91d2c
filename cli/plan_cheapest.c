// SPDX-License-Identifier: Apache-2.0
// weft plan cheapest: of all fabrics that can be built for a job, the cheapest on which it takes hardly longer than on
// the fastest. Every blueprint as it is, and with other values of its parameters, has its bill and an estimate of the
// job; the cheapest that may do, and the fastest, then run in packets, until one does or the budget ends.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/param.h"
#include "base/stream.h"
#include "base/units.h"
#include "cli.h"
#include "plan.h"
#include "processes.h"
#include "versus.h"
#include "weft/param.h"
#include "weft/result.h"

static const char *within_text = "5%", *by_text, *fabrics_text, *hosts_text, *rate_text, *packets_text = "600s",
                  *seeds_text, *jobs_text, *sample_text;
static struct weft_cli_values vary;
static const struct weft_cli_option own[] = {
    {"within", "PART", "how much longer than on the fastest fabric the job may take (default 5%)", &within_text, NULL},
    {"by", "FIGURE",
     "what is to be least: price, watts, chips, ports, optics or fibre (default: price, if every part "
     "has one, else watts)",
     &by_text, NULL},
    {"fabrics", "LIST", "blueprints and files, such as rail,mine.yaml (default: every blueprint)", &fabrics_text, NULL},
    {"vary", "KEY=VALUES",
     "values to try of a key of the section fabric, such as radix=[32,64]; may be repeated; shapes without the key "
     "leave it out (default: oversubscription=[2,4], beside what the blueprint says)",
     NULL, NULL},
    {"hosts", "N", "hosts (default: those of JOB's network, else 256)", &hosts_text, NULL},
    {"rate", "RATE", "of a host's link (default: as for --hosts)", &rate_text, NULL},
    {"packets", "N|TIME",
     "then run in packets the fastest and the cheapest that may do: at most N runs, or runs of so much processor time "
     "as predicted (default 600s); 0: none",
     &packets_text, NULL},
    {"sample", "N", "run N operations of each class in packets, not the whole job (run.sample)", &sample_text, NULL},
    {"seeds", "LIST", "seeds of every fabric (default: 1)", &seeds_text, NULL},
    {"jobs", "N", "runs at a time (default: one per processor)", &jobs_text, NULL},
    {0}};

static const struct weft_cli_command command = {
    .name = "plan cheapest",
    .operands = "JOB",
    .about =
        "The cheapest fabric that carries a job within x% of the fastest: all blueprints, as they are and with other\n"
        "oversubscription (or radix, planes, rails: --vary), by their bill and an estimate of the job; then the\n"
        "fastest and the three cheapest that may do in packets. JOB is as for weft versus. A fabric that cannot be\n"
        "built, or has no estimate, is a row with the reason. --set applies to all fabrics.\n"
        "Exit status: 0 done, 1 system error or runs failed, 2 bad input (nothing was run), 130 interrupted.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_QUIET,
    .answer = &weft__answer_plan_cheapest,
    .operands_min = 1,
    .operands_max = 1,
    .option = own,
    .repeated = "vary",
    .ret_repeated = &vary,
};

struct candidate {
    const char *name, *base, *settings; ///< settings: ", fabric.radix: 64", for the scenario
    const char *topology;
    struct weft_fabric_bill bill;
    double cost;
    uint32_t variant;                   ///< WEFT_NONE: it takes no part
    double time_ps, low_ps, high_ps;    ///< low, high: NAN: it ran in packets, or its interval is not calibrated
    const char *how, *verdict, *reason; ///< how: "estimate", "packets", "none"
    bool in_packets, estimated;
};

struct cheapest {
    struct sweep s; ///< first: its callbacks get a pointer to it
    struct versus_job job;
    struct candidate *candidate;
    uint32_t candidates, variants, room;
    double within;
    uint64_t hosts;
    weft_rate_bps rate_bps;
    const char *by, *text;
    struct sweep_packets packets;
    // For the answer:
    const char *plan, *best;
    double fastest_ps;
    uint32_t ran;
    bool confirmed; ///< the answer ran in packets, and so did the fastest
};

// --- candidates ---------------------------------------------------------------------------------------------------

/// Which of the user's keys this shape has.
static const char **keys_of(const struct weft_model *shape, struct weft_arena *arena, uint32_t *ret_n) {
    static const char *const dflt[] = {"oversubscription=[2,4]"};
    const char *const *asked = vary.n ? vary.value : dflt;
    uint32_t n = vary.n ? vary.n : 1;
    const char **known = weft_arena_alloc(arena, n, sizeof *known);
    *ret_n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const char *key = weft_arena_format(arena, "%.*s", (int)strcspn(asked[i], "="), asked[i]);
        const char *dot = strchr(key, '.'); // of a part: every shape has parts
        if (dot || weft_param_find(shape->params, key))
            known[(*ret_n)++] = weft_arena_format(arena, "fabric.%s", asked[i]);
    }
    return known;
}

static bool is_again(const struct cheapest *x, uint32_t from, const struct candidate *c) {
    for (uint32_t i = from; i < x->candidates; i++)
        if (x->candidate[i].variant != WEFT_NONE && c->topology && !strcmp(x->candidate[i].topology, c->topology))
            return true;
    return false;
}

/// `point`: of the values; WEFT_NONE: the blueprint as it is. `from`: its first candidate.
static enum weft_status add_candidate(struct cheapest *x, const struct weft_scenario_file *file, const char *base,
                                      const struct weft_sweep *plan, uint32_t point, uint32_t from,
                                      struct weft_error *ret_error) {
    struct weft_arena *arena = x->s.o->arena;
    struct weft_model_conf model;
    const char *name, *about;
    struct candidate c = {.base = base,
                          .settings = "",
                          .variant = WEFT_NONE,
                          .time_ps = NAN,
                          .low_ps = NAN,
                          .high_ps = NAN,
                          .cost = INFINITY,
                          .how = "none"};
    WEFT_TRY(weft_scenario_fabric(file, 0, arena, &model, &name, &about, ret_error));
    c.name = weft_arena_text(arena, name);
    for (uint32_t a = 0; point != WEFT_NONE && a < plan->axes; a++) {
        const char *path = plan->axis[a].path, *value = plan->point[point].value[a].text;
        c.name = weft_arena_format(arena, "%s %s=%s", c.name, path + strlen("fabric."), value);
        c.settings = weft_arena_format(arena, "%s, \"%s\": %s", c.settings, path, value);
    }
    for (uint32_t i = 0; i < x->candidates; i++)
        if (!strcmp(x->candidate[i].name, c.name))
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--fabrics"},
                               "'%s' comes twice; expected fabrics with names of their own", c.name);
    const struct weft_fabric_plan *built = weft_fabric_plan_new(&model, arena);
    c.reason = *built->reason ? weft_arena_format(arena, "cannot be built: %s", built->reason) : NULL;
    c.topology = built->topology;
    if (!c.reason) c.bill = weft_fabric_bill(built);
    if (!c.reason && point != WEFT_NONE && is_again(x, from, &c)) return WEFT_OK; // the key changes nothing
    if (!c.reason) c.variant = x->variants++;
    WEFT__ADD(arena, x->candidate, x->candidates) = c;
    return WEFT_OK;
}

static enum weft_status add_fabric(struct cheapest *x, const char *item, struct weft_error *ret_error) {
    const struct weft_cli_options *o = x->s.o;
    struct weft_scenario_file *file = NULL;
    struct weft_sweep *plan = NULL;
    struct weft_model_conf model;
    const char *base, *name, *about;
    uint32_t from = x->candidates;
    enum weft_status status = versus_find_base(item, o->arena, &base, ret_error);
    if (!status) status = weft_scenario_file_read(base, NULL, 0, &file, ret_error);
    const char *const size[] = {weft_arena_format(o->arena, "fabric.hosts=%llu", (unsigned long long)x->hosts),
                                weft_arena_format(o->arena, "fabric.rate=%llubps", (unsigned long long)x->rate_bps)};
    for (uint32_t i = 0; i < o->settings + 2 && !status; i++)
        status = weft_scenario_file_set(file, i < 2 ? size[i] : o->setting[i - 2], ret_error);
    if (!status) status = weft_scenario_fabric(file, 0, o->arena, &model, &name, &about, ret_error);
    if (status == WEFT_ERROR_INPUT && !fabrics_text) { // a blueprint that does not take the rate
        WEFT__ADD(o->arena, x->candidate, x->candidates) =
            (struct candidate){.name = item,
                               .base = item,
                               .settings = "",
                               .variant = WEFT_NONE,
                               .time_ps = NAN,
                               .low_ps = NAN,
                               .high_ps = NAN,
                               .cost = INFINITY,
                               .how = "none",
                               .reason = weft_arena_format(o->arena, "cannot be built: %s", ret_error->text)};
        *ret_error = (struct weft_error){0};
        return WEFT_OK;
    }
    if (!status && !model.model)
        status =
            WEFT_REFUSE(ret_error, (struct weft_place){.file = item}, "has no section fabric; expected a blueprint");
    if (!status) status = add_candidate(x, file, base, NULL, WEFT_NONE, from, ret_error);
    if (status) return status;
    struct weft_sweep_options options = {.option = "--vary", .variant = WEFT_NONE};
    options.vary = keys_of(model.model, o->arena, &options.varied);
    if (!options.varied) return WEFT_OK;
    status = weft_sweep_new(file, &options, o->arena, &plan, ret_error);
    for (uint32_t p = 0; !status && p < plan->points; p++)
        status = add_candidate(x, weft_sweep_file(plan, p, WEFT_NONE, o->arena), base, plan, p, from, ret_error);
    return status;
}

/// A key that no shape has.
static enum weft_status check_keys(struct weft_error *ret_error) {
    for (uint32_t i = 0; i < vary.n; i++) {
        size_t n = strcspn(vary.value[i], "=");
        bool known = memchr(vary.value[i], '.', n);
        for (uint32_t m = 0; m < weft_model_count(WEFT_KIND_FABRIC) && !known; m++)
            for (uint32_t p = 0; p < weft_model_at(WEFT_KIND_FABRIC, m)->params->n && !known; p++) {
                const char *name = weft_model_at(WEFT_KIND_FABRIC, m)->params->rows[p].name;
                known = name && strlen(name) == n && !strncmp(name, vary.value[i], n);
            }
        if (!known || !vary.value[i][n])
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--vary"},
                               "'%s': expected a key of the section fabric and values, such as radix=[32,64]",
                               vary.value[i]);
    }
    return WEFT_OK;
}

static enum weft_status add_fabrics(struct cheapest *x, struct weft_error *ret_error) {
    enum weft_status status = check_keys(ret_error);
    for (uint32_t i = 0; !fabrics_text && i < weft_blueprint_count() && !status; i++)
        if (strcmp(weft_blueprint_at(i)->name, "ideal") != 0)
            status = add_fabric(x, weft_blueprint_at(i)->name, ret_error);
    for (const char *at = fabrics_text; at && *at && !status;) {
        size_t n = strcspn(at, ",");
        status = add_fabric(x, weft_arena_format(x->s.o->arena, "%.*s", (int)n, at), ret_error);
        at += n + (at[n] == ',');
    }
    if (!status && !x->variants)
        status = WEFT_REFUSE(ret_error, (struct weft_place){.file = "--fabrics"},
                             "no fabric can be built for %llu hosts; expected one at least: weft plan fabric has the "
                             "reasons",
                             (unsigned long long)x->hosts);
    return status;
}

static enum weft_status set_costs(struct cheapest *x, struct weft_error *ret_error) {
    bool priced = true;
    for (uint32_t i = 0; i < x->candidates; i++)
        priced &= x->candidate[i].variant == WEFT_NONE || x->candidate[i].bill.priced;
    x->by = by_text ? by_text : priced ? "price" : "watts";
    if (!priced && !strcmp(x->by, "price"))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--by"},
                           "price: some part has none; expected --set fabric.leaf.price=..., or watts");
    for (uint32_t i = 0; i < x->candidates; i++) {
        struct candidate *c = &x->candidate[i];
        if (c->variant != WEFT_NONE && !versus_amount_of(&c->bill, x->by, &c->cost))
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--by"},
                               "'%s': expected price, watts, chips, ports, optics or fibre", x->by);
    }
    return WEFT_OK;
}

// --- times --------------------------------------------------------------------------------------------------------

static const char *compose_scenario(const struct cheapest *x) {
    struct weft_arena *arena = x->s.o->arena;
    WEFT__TEXT_STREAM(stream, file);
    fprintf(file,
            "name: cheapest\nabout: one job on many fabrics\nfabric: {hosts: %llu, rate: %llubps}\nworkload: %s\n",
            (unsigned long long)x->hosts, (unsigned long long)x->rate_bps, weft_tree_text(x->job.work, arena));
    if (x->job.run) fprintf(file, "run: %s\n", weft_tree_text(x->job.run, arena));
    fputs("variants:\n", file);
    for (uint32_t i = 0; i < x->candidates; i++)
        if (x->candidate[i].variant != WEFT_NONE)
            fprintf(file, "  \"%s\": {base: \"%s\"%s}\n", x->candidate[i].name, x->candidate[i].base,
                    x->candidate[i].settings);
    return weft_arena_text(arena, weft__text_stream_text(&stream));
}

static struct weft_sweep_kept *keep_time(const struct sweep *s, uint32_t run, const struct weft_scenario_file *file,
                                         const struct weft_sweep_came *came, const struct weft_follow *ranks,
                                         uint32_t *ret_n) {
    return weft_versus_measure(&came->run, came->estimate, s->o->arena, ret_n);
}

static void read_time(struct cheapest *x, struct candidate *c) {
    const struct sweep *s = &x->s;
    uint32_t seeds = s->plan->seeds;
    bool failed = false;
    if (c->variant == WEFT_NONE) return;
    c->in_packets = !s->fluid[c->variant];
    c->estimated = !c->in_packets;
    c->time_ps = c->low_ps = c->high_ps = 0;
    for (uint32_t k = 0; k < seeds; k++) {
        const struct weft_sweep_run *run = &s->r.run[c->variant * seeds + k];
        const double *kept = weft_sweep_run_kept(run, "versus time_ps");
        double low, high, time = kept && run->state == WEFT_SWEEP_DONE ? *kept / seeds : (double)NAN;
        weft_sweep_run_part(run, &low, &high);
        c->time_ps += time;
        c->low_ps += c->in_packets ? (double)NAN : time * low;
        c->high_ps += c->in_packets ? (double)NAN : time * high;
        failed |= run->state == WEFT_SWEEP_FAILED;
        if (run->state == WEFT_SWEEP_FAILED && *run->message)
            c->reason =
                weft_arena_format(s->o->arena, "%s: %s", c->in_packets ? "failed" : "not estimated", run->message);
    }
    if (c->in_packets && isnan(c->time_ps) && !failed) c->reason = "in packets not done when the run ended";
    if (!isnan(c->time_ps)) c->reason = NULL; // in packets, though not estimated
    c->how = isnan(c->time_ps) ? "none" : c->in_packets ? "packets" : "estimate";
}

/// The least it may take, and the most; what is not calibrated may take any time.
static double least_of(const struct candidate *c) {
    return c->in_packets ? c->time_ps : isnan(c->low_ps) ? 0 : c->low_ps;
}
static double most_of(const struct candidate *c) {
    return c->in_packets ? c->time_ps : isnan(c->high_ps) ? INFINITY : c->high_ps;
}

WEFT__ORDER(by_cost, struct candidate, WEFT__UP(cost) ?: WEFT__UP(variant))

/// Whether a candidate's time is within the part of the fastest. That may be any of those that run.
static void judge_candidates(struct cheapest *x) {
    struct candidate *fastest = NULL;
    double least_ps = INFINITY, most_ps = INFINITY; // of whichever is the fastest
    x->ran = 0;
    for (uint32_t i = 0; i < x->candidates; i++) {
        struct candidate *c = &x->candidate[i];
        read_time(x, c);
        x->ran += c->in_packets;
        if (isnan(c->time_ps)) continue;
        least_ps = fmin(least_ps, least_of(c));
        most_ps = fmin(most_ps, most_of(c));
        if (!fastest || c->time_ps < fastest->time_ps) fastest = c;
    }
    x->best = NULL;
    x->confirmed = false;
    if (!fastest) return;
    x->fastest_ps = fastest->time_ps;
    for (uint32_t i = 0; i < x->candidates; i++) {
        struct candidate *c = &x->candidate[i];
        bool may = least_of(c) <= (1 + x->within) * most_ps, surely = most_of(c) <= (1 + x->within) * least_ps;
        c->verdict = isnan(c->time_ps) ? "" : c == fastest || surely ? "does" : may ? "may do" : "too slow";
        if (c->verdict[0] != 'd' || x->best) continue;
        x->best = c->name;
        x->confirmed = c->in_packets && fastest->in_packets;
    }
}

/// What is cheaper than the answer, and has no estimate.
static bool take_refused(struct cheapest *x) {
    bool took = false;
    for (uint32_t i = 0; i < x->candidates && x->candidate[i].name != x->best; i++) {
        const struct candidate *c = &x->candidate[i];
        if (c->variant != WEFT_NONE && isnan(c->time_ps)) took |= sweep_packets_take(&x->s, &x->packets, c->variant);
    }
    return took;
}

/// The fastest, and the cheapest that may do: three at first, then one at a time, until one does.
static bool take_undecided(struct sweep *s) {
    enum { FIRST = 3 };
    struct cheapest *x = (struct cheapest *)s;
    judge_candidates(x);
    struct candidate *fastest = NULL;
    bool took = false;
    uint32_t n = 0, tried = 0;
    for (uint32_t i = 0; i < x->candidates; i++) {
        struct candidate *c = &x->candidate[i];
        if (!isnan(c->time_ps) && (!fastest || c->time_ps < fastest->time_ps)) fastest = c;
        tried += c->in_packets;
    }
    if (!fastest || x->confirmed) return take_refused(x); // nothing estimated: whatever the budget allows
    if (!fastest->in_packets) took = sweep_packets_take(s, &x->packets, fastest->variant);
    for (uint32_t i = 0; i < x->candidates && n < (tried > FIRST ? 1 : FIRST); i++) {
        struct candidate *c = &x->candidate[i];
        if (c->variant == WEFT_NONE || isnan(c->time_ps) || *c->verdict == 't') continue;
        n += !c->in_packets;
        if (!c->in_packets) took |= sweep_packets_take(s, &x->packets, c->variant);
        if (c->in_packets && *c->verdict == 'd' && !took) break; // none that is cheaper is left
    }
    return took;
}

// --- output -------------------------------------------------------------------------------------------------------

#define CHEAPEST(field, key, kind, ...) WEFT_RESULT_NAMED(struct cheapest, field, key, kind, __VA_ARGS__)
#define CANDIDATE(field, key, kind, ...) WEFT_RESULT_NAMED(struct candidate, field, key, kind, __VA_ARGS__)
static const struct weft_result_table cheapest_table = WEFT_RESULT_TABLE_OF(
    "cheapest", OBJECT, "the cheapest fabric that carries a job", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
    CHEAPEST(plan, "plan", TEXT, "the calculator"), CHEAPEST(hosts, "hosts", COUNT, "hosts"),
    CHEAPEST(rate_bps, "rate_bps", RATE, "rate of a host's link"),
    CHEAPEST(by, "by", TEXT, "figure of the bill that is to be least"),
    CHEAPEST(within, "within", REAL, "part by which the job may take longer than on the fastest fabric"),
    CHEAPEST(best, "best", TEXT, "name of the cheapest fabric that does; none: not known"),
    CHEAPEST(confirmed, "confirmed", BOOL, "whether the best and the fastest fabric ran in packets"),
    CHEAPEST(fastest_ps, "fastest_ps", REAL, "time of the job on the fastest fabric", .unit = "ps"),
    CHEAPEST(ran, "ran", COUNT, "fabrics that ran in packets"),
    CHEAPEST(s.interrupted, "interrupted", BOOL, "whether the user has ended the search"));
static const struct weft_result_table candidates_table = WEFT_RESULT_TABLE_OF(
    "candidates", LIST, "a fabric, the cheapest first", WEFT_RESULT_EACH(struct cheapest, candidate, candidates),
    CANDIDATE(name, "name", TEXT, "name of the fabric, with the values that were varied", .flags = WEFT_RESULT_KEY,
              .title = "fabric"),
    CANDIDATE(cost, "cost", REAL, "the figure of the bill that is to be least; none: it cannot be built",
              .title = "cost"),
    CANDIDATE(bill.chips, "chips", COUNT, "switch chips", .title = "chips"),
    CANDIDATE(bill.optics, "optics", REAL, "optical modules", .title = "optics"),
    CANDIDATE(bill.watts, "watts", REAL, "power of all parts", .unit = "W", .title = "W"),
    CANDIDATE(time_ps, "time_ps", REAL,
              "time of the job: of an iteration, or until all flows have ended; none: not known", .unit = "ps",
              .title = "time, ps"),
    CANDIDATE(how, "how", TEXT, "estimate, packets or none", .title = ""),
    CANDIDATE(low_ps, "estimate.low_ps", REAL,
              "lower end of the 90% interval of the estimate; none: a run, or not calibrated", .unit = "ps",
              .title = "90%: from"),
    CANDIDATE(high_ps, "estimate.high_ps", REAL,
              "upper end of the 90% interval of the estimate; none: a run, or not calibrated", .unit = "ps",
              .title = "to"),
    CANDIDATE(verdict, "verdict", TEXT, "does, may do (intervals do not tell), too slow, or nothing: no time is known",
              .title = ""),
    CANDIDATE(reason, "reason", TEXT, "why the fabric cannot be built, or has no time", .title = ""));
const struct weft_answer weft__answer_plan_cheapest = WEFT_ANSWER_OF(
    "plan_cheapest", "weft plan cheapest: the cheapest fabric that carries a job", &cheapest_table, &candidates_table);

static void print_text(FILE *file, const void *subject) {
    const struct cheapest *x = subject;
    fprintf(file, "%s on %llu hosts at %s: least %s within %g%% of the fastest, %s; %s in packets\n\n", x->job.path,
            (unsigned long long)x->hosts, RATE(x->rate_bps), x->by, 100 * x->within,
            weft__counted(x->candidates, "fabric").text, weft__counted(x->ran * x->s.plan->seeds, "run").text);
    for (uint32_t i = 0; i < x->candidates; i++) {
        const struct candidate *c = &x->candidate[i];
        fprintf(file, "%-34s", c->name);
        if (c->variant != WEFT_NONE) fprintf(file, " %12.0f %s", c->cost, x->by);
        if (!isnan(c->time_ps)) {
            fprintf(file, " %12.3f us, %s", c->time_ps * 1e-6, c->in_packets ? "packets" : "estimate");
            if (!c->in_packets && isnan(c->low_ps)) fputs(", not calibrated", file);
            if (!isnan(c->low_ps)) fprintf(file, ", 90%%: %.3f to %.3f", c->low_ps * 1e-6, c->high_ps * 1e-6);
            fprintf(file, "   %s", c->verdict);
        }
        fprintf(file, "%s%s\n", c->reason ? "  " : "", c->reason ? c->reason : "");
    }
    fprintf(file, "\nbudget of packets: %s", packets_text);
    if (sample_text) fprintf(file, ", %s operations of each class sampled", sample_text);
    if (!x->best)
        fputs("\nno fabric is known to do\n", file);
    else
        fprintf(file, "\ncheapest: %s%s\n", x->best,
                x->confirmed ? ", confirmed in packets"
                             : "; by estimates: a larger --packets runs it and what may do in packets");
}

static enum weft_status show_cheapest(struct sweep *s, struct weft_error *ret_error) {
    struct cheapest *x = (struct cheapest *)s;
    judge_candidates(x);
    x->plan = "cheapest";
    return weft_cli_answer(s->o, &weft__answer_plan_cheapest, x, print_text, ret_error);
}

// --- the command --------------------------------------------------------------------------------------------------

static enum weft_status read_options(struct cheapest *x, struct weft_error *ret_error) {
    char why[160];
    uint64_t dflt = 256, bps = 400000000000;
    if (!weft__real_parse(within_text, &x->within) || !(x->within >= 0))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--within"},
                           "'%s' is not understood; expected a part such as 5%% or 0.05", within_text);
    x->hosts = x->job.hosts ? x->job.hosts : dflt;
    x->rate_bps = x->job.rate_bps ? x->job.rate_bps : bps;
    if (hosts_text && !weft_cli_number("--hosts", hosts_text, 2, 1048576, &x->hosts)) return WEFT_ERROR_INPUT;
    if (rate_text && !weft__quantity_parse(WEFT__RATE, rate_text, &x->rate_bps, why, sizeof why))
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = "--rate"}, "%s", why);
    if (!x->job.work)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = x->job.path}, "has no workload; expected a job");
    return sweep_packets_read(packets_text, &x->packets, ret_error);
}

static enum weft_status run_candidates(struct cheapest *x, uint32_t jobs, struct weft_error *ret_error) {
    struct sweep *s = &x->s;
    struct weft_scenario_file *file = NULL;
    struct weft_sweep_options options = {.variant = WEFT_NONE};
    uint64_t *seed = NULL, operations;
    if (seeds_text && !weft_cli_seeds_parse(seeds_text, s->o->arena, &seed, &options.seeds)) return WEFT_ERROR_INPUT;
    options.seed = seed;
    if (sample_text && !weft_cli_number("--sample", sample_text, 2, 1000000, &operations)) return WEFT_ERROR_INPUT;
    x->text = compose_scenario(x);
    enum weft_status status = weft_scenario_file_parse(x->job.path, x->text, strlen(x->text), s->o->setting,
                                                       s->o->settings, &file, ret_error);
    if (!status && sample_text)
        status = weft_scenario_file_set(file, weft_arena_format(s->o->arena, "run.sample.operations=%s", sample_text),
                                        ret_error);
    if (!status) status = weft_sweep_new(file, &options, s->o->arena, &s->plan, ret_error);
    if (status) return status;
    sweep_begin(s, x->job.path);
    s->keep = keep_time;
    s->kept = "versus time_ps";
    sweep_estimate(s);
    s->falls_back = true;
    s->goes_on = take_undecided;
    qsort(x->candidate, x->candidates, sizeof *x->candidate, by_cost);
    for (uint32_t i = 0; i < x->candidates; i++)
        if (x->candidate[i].variant == WEFT_NONE) x->candidate[i].cost = NAN;
    return sweep_through(s, jobs, show_cheapest, ret_error);
}

static enum weft_status find_cheapest(const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct cheapest x = {.s = {.o = o, .lock = -1, .share = {.tasks = 1}}};
    uint32_t jobs;
    if (!weft_cli_jobs_parse(jobs_text, &jobs)) return WEFT_ERROR_INPUT;
    enum weft_status status = versus_job_read(o, &x.job, ret_error);
    if (!status) status = read_options(&x, ret_error);
    if (!status) status = add_fabrics(&x, ret_error);
    if (!status) status = set_costs(&x, ret_error);
    return status ? status : run_candidates(&x, jobs, ret_error);
}

int plan_cheapest(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, find_cheapest);
}
