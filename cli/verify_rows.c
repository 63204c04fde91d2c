// SPDX-License-Identifier: Apache-2.0
// The results of claims as rows.
#include "verify.h"
#include "weft/claim_rows.h"

struct reading_row {
    uint32_t number; ///< from 0
    uint64_t seed;   ///< WEFT_TIME_NEVER: that of the configuration
    const double *value;
    uint32_t values;
    bool holds;
};

struct point_row {
    const char *name, *value;
    uint8_t holds; ///< UINT8_MAX: it was not judged
};

struct band_row {
    const char *parameter, *hardware, *own, *verdict, *turns_at;
    struct point_row *point;
    uint32_t points;
};

struct claim_row {
    struct weft_claim_row is; ///< must be first
    uint32_t hold, of, mean_of, broken;
    double *median, *least, *most;
    const char *teeth;
    struct reading_row *run, *run_without;
    uint32_t runs, runs_without;
    const char *found_in_band; ///< NULL: not asked
    struct band_row *band;
    uint32_t bands;
};

struct scenario_row {
    const char *path, *name;
    uint32_t variants, status;
    bool judged;
    struct weft_claim_counts count;
    uint32_t toothless, exempt;
    uint32_t in_band[WEFT_CLAIM_IN_BANDS], bands_unexpected; ///< WEFT_NONE: not asked
    struct claim_row *claim;
    uint32_t claims;
};

/// Of a verify, or of --sources, which has only statements.
struct verify_answer {
    uint8_t interrupted; ///< UINT8_MAX: of --sources
    uint32_t runs, uses, seeds, scenarios, statements;
    uint64_t *seed;
    struct scenario_row *scenario;
    const struct verify_statement *statement;
    void (*print)(FILE *file, const void *context);
    const void *context;
};

static struct reading_row *list_readings(const struct verify_reading *r, uint32_t claim, struct weft_arena *arena,
                                         uint32_t *ret_n) {
    struct reading_row *row = weft_arena_alloc(arena, r->of->readings, sizeof *row);
    *ret_n = 0;
    for (uint32_t k = 0; k < r->of->readings; k++) {
        const struct weft_claim_result *one = &r[k].claims.result[claim];
        if (!r[k].judged[claim]) continue;
        row[*ret_n] = (struct reading_row){*ret_n, r[k].seed ? *r[k].seed : WEFT_TIME_NEVER, one->value,
                                           one->claim->metrics, weft_claim_holds(one->claim, one->value)};
        ++*ret_n;
    }
    return row;
}

static struct band_row band_row(const struct verify *v, const struct verified *s, uint32_t claim, uint32_t band) {
    struct weft_arena *arena = v->o->arena;
    const struct verify_band *b = &s->band[claim][band];
    struct verify_in_band in = verify_judge_band(v, s, claim, band, arena);
    struct band_row row = {.parameter = b->is->path,
                           .hardware = b->of ? b->of->name : NULL,
                           .own = b->ours,
                           .verdict = weft_claim_in_band_names[in.verdict],
                           .turns_at = in.turns_at,
                           .points = b->points};
    row.point = weft_arena_alloc(arena, b->points, sizeof *row.point);
    for (uint32_t i = 0; i < b->points; i++)
        row.point[i] =
            (struct point_row){b->point[i].name, b->point[i].text, in.known[i] ? in.holds[i] : (uint8_t)UINT8_MAX};
    return row;
}

static struct claim_row claim_row(const struct verify *v, const struct verified *s, uint32_t i) {
    static const char *const teeth[] = {NULL, "bites", "exempt", "unarmed", "toothless"};
    struct weft_arena *arena = v->o->arena;
    const struct weft_claim *c = &s->claims.claim[i];
    struct verify_judgement j = verify_judge(v, s, i, arena);
    struct claim_row row = {.is = weft_claim_row(c, i),
                            .hold = j.hold,
                            .of = j.of,
                            .mean_of = c->seeds == WEFT_CLAIM_SEEDS_MEAN ? j.seeds : WEFT_NONE,
                            .broken = v->teeth && s->bite[i] ? j.bitten : WEFT_NONE,
                            .median = j.median,
                            .least = j.least,
                            .most = j.most,
                            .teeth = teeth[j.teeth]};
    row.is.holds = j.hold && j.hold >= weft_claim_seeds_needed(c, j.seeds);
    row.is.verdict = weft_claim_verdict_names[j.verdict];
    row.is.filled = weft_claim_filled(c, j.median, arena);
    row.run = list_readings(s->plain, i, arena, &row.runs);
    if (v->teeth && s->bite[i]) row.run_without = list_readings(s->bite[i], i, arena, &row.runs_without);
    if (v->bands && c->bands) row.found_in_band = weft_claim_in_band_names[verify_in_bands(v, s, i, arena)];
    row.band = weft_arena_alloc(arena, c->bands, sizeof *row.band);
    for (; v->bands && row.bands < c->bands; row.bands++)
        row.band[row.bands] = band_row(v, s, i, row.bands);
    return row;
}

static struct scenario_row scenario_row(const struct verify *v, const struct verified *s) {
    struct verify_counts c = verify_count(v, s);
    struct scenario_row row = {.path = s->path,
                               .name = s->name ? s->name : "",
                               .variants = s->variants,
                               .status = s->status,
                               .judged = verify_is_judged(s),
                               .count = c.verdict,
                               .toothless = v->teeth ? c.toothless : WEFT_NONE,
                               .exempt = v->teeth ? c.exempt : WEFT_NONE,
                               .bands_unexpected = v->bands ? c.bands_unexpected : WEFT_NONE};
    for (uint32_t i = 0; i < WEFT_CLAIM_IN_BANDS; i++)
        row.in_band[i] = v->bands ? c.in_band[i] : WEFT_NONE;
    row.claim = weft_arena_alloc(v->o->arena, s->claims.n, sizeof *row.claim);
    for (; row.judged && row.claims < s->claims.n; row.claims++)
        row.claim[row.claims] = claim_row(v, s, row.claims);
    return row;
}

static void print_text(FILE *file, const void *answer) {
    const struct verify_answer *a = answer;
    a->print(file, a->context);
}

enum weft_status verify_answer(const struct verify *v, struct weft_error *ret_error) {
    struct verify_answer a = {.interrupted = v->interrupted,
                              .runs = v->tasks,
                              .uses = v->uses,
                              .seed = v->seed,
                              .seeds = v->seeds,
                              .print = verify_print,
                              .context = v};
    uint32_t n = 0;
    for (const struct verified *s = v->first; s; s = s->next)
        n++;
    a.scenario = weft_arena_alloc(v->o->arena, n, sizeof *a.scenario);
    for (const struct verified *s = v->first; s; s = s->next)
        a.scenario[a.scenarios++] = scenario_row(v, s);
    return weft_cli_answer(v->o, &weft__answer_verify, &a, print_text, ret_error);
}

enum weft_status verify_answer_sources(const struct verify *v, const struct verify_statement *statement, uint32_t n,
                                       void (*print)(FILE *file, const void *context), const void *context,
                                       struct weft_error *ret_error) {
    const struct verify_answer a = {.interrupted = UINT8_MAX,
                                    .runs = WEFT_NONE,
                                    .uses = WEFT_NONE,
                                    .statement = statement,
                                    .statements = n,
                                    .print = print,
                                    .context = context};
    return weft_cli_answer(v->o, &weft__answer_verify, &a, print_text, ret_error);
}

WEFT_RESULT_PRESENT(has_run, ((const struct verify_answer *)(const void *)run)->interrupted != UINT8_MAX)
WEFT_RESULT_PRESENT(has_sources, !has_run(run))

// --- tables -------------------------------------------------------------------------------------------------------

#define VERIFY(field, kind, ...) WEFT_RESULT(struct verify_answer, field, kind, __VA_ARGS__)
static const struct weft_result_table verify_table = WEFT_RESULT_TABLE_OF(
    "verify", OBJECT, "what weft verify found", WEFT_RESULT_SUBJECT,
    VERIFY(interrupted, BOOL, "whether weft verify was interrupted: what had not ended by then is not judged",
           .flags = WEFT_RESULT_SPARSE),
    VERIFY(runs, COUNT, "runs, and answers of other commands, that the claims need", .flags = WEFT_RESULT_SPARSE),
    VERIFY(uses, COUNT, "uses of these runs: claims, seeds and scenarios share equal ones",
           .flags = WEFT_RESULT_SPARSE));
WEFT_RESULT_VALUES(seeds_table, "seeds", "a seed of --seeds", WEFT_RESULT_EACH(struct verify_answer, seed, seeds),
                   .present = has_run, uint64_t, COUNT, );

#define SCENARIO(field, key, kind, ...) WEFT_RESULT_NAMED(struct scenario_row, field, key, kind, __VA_ARGS__)
static const struct weft_result_column scenarios_columns[] = {
    SCENARIO(path, "path", TEXT, "path of the scenario", .flags = WEFT_RESULT_KEY),
    SCENARIO(name, "scenario", TEXT, "name of the scenario"),
    SCENARIO(variants, "variants", COUNT, "variants that its claims name"),
    SCENARIO(status, "status", COUNT, "the most serious exit status among its runs"),
    SCENARIO(judged, "judged", BOOL, "whether the claims are judged: every run ended by itself"),
    SCENARIO(count.hold, "hold", COUNT, "claims that hold, as expected"),
    SCENARIO(count.findings, "findings", COUNT, "claims that are known not to hold, and do not"),
    SCENARIO(count.controls, "controls", COUNT, "claims that must not hold, and do not"),
    SCENARIO(count.not_judged, "not_judged", COUNT, "claims that these seeds cannot judge"),
    SCENARIO(count.unexpected, "unexpected", COUNT, "claims whose result is not as expected"),
    SCENARIO(toothless, "toothless", COUNT, "claims that hold also with what must break them, or that name nothing",
             .flags = WEFT_RESULT_SPARSE),
    SCENARIO(exempt, "exempt", COUNT, "claims that nothing can break, as they say", .flags = WEFT_RESULT_SPARSE),
#define IN_BAND(of, key, what) SCENARIO(in_band[WEFT_CLAIM_IN_BAND_##of], key, COUNT, what, .flags = WEFT_RESULT_SPARSE)
    IN_BAND(HOLDS, "hold_in_band", "claims that turn out alike in all their bands of hardware"),
    IN_BAND(TURNS, "turn_in_band", "claims that turn within a band"),
    IN_BAND(HIDDEN, "hidden_in_band", "claims that bands of hosts turn, because hosts take longer than the difference"),
    IN_BAND(IDEAL, "ideal_in_band", "claims that turn out so at no value of a band: findings of the ideal"),
    IN_BAND(UNKNOWN, "band_not_judged",
            "claims whose bands are not judged: the budget ended, or there are too few seeds"),
    SCENARIO(bands_unexpected, "bands_unexpected", COUNT, "claims whose bands have another outcome than `in_band` says",
             .flags = WEFT_RESULT_SPARSE),
};
static const struct weft_result_table scenarios_table =
    WEFT_RESULT_TABLE("scenarios", LIST, "a scenario with claims", scenarios_columns,
                      WEFT_RESULT_EACH(struct verify_answer, scenario, scenarios), .present = has_run);

#define SCENARIO_OF(n) WEFT_RESULT_ABOVE_AT(n, struct scenario_row, path, "path", TEXT, "path of the scenario")
#define CLAIM(field, key, kind, ...) WEFT_RESULT_NAMED(struct claim_row, field, key, kind, __VA_ARGS__)
static const struct weft_result_table claims_table = WEFT_RESULT_TABLE_OF(
    "scenarios.claims", LIST, "a claim", WEFT_RESULT_EACH(struct scenario_row, claim, claims), SCENARIO_OF(1),
    WEFT_CLAIM_COLUMNS,
    CLAIM(is.verdict, "verdict", TEXT, "holds, finding, control, not judged, does not hold, holds after all"),
    CLAIM(is.holds, "holds", BOOL, "whether the claim holds, judged over seeds as the claim asks"),
    CLAIM(hold, "hold", COUNT, "judgements in which the claim holds: one a seed, or one of the means"),
    CLAIM(of, "judged", COUNT, "judgements"),
    CLAIM(mean_of, "mean_of", COUNT, "seeds in the means", .flags = WEFT_RESULT_SPARSE),
    CLAIM(is.filled, "filled", TEXT, "the expression with medians in place of the names of figures"),
    CLAIM(teeth, "teeth", TEXT, "whether `without` breaks it: bites, exempt, unarmed or toothless",
          .flags = WEFT_RESULT_SPARSE),
    CLAIM(found_in_band, "found_in_band", TEXT,
          "outcome of the bands together: holds, turns, hidden, ideal, or unknown: not judged",
          .flags = WEFT_RESULT_SPARSE),
    CLAIM(broken, "broken", COUNT, "judgements in which `without` breaks the claim", .flags = WEFT_RESULT_SPARSE));
WEFT_CLAIM_TABLES(claim, "scenarios.claims", WEFT_CLAIM_OF(1), SCENARIO_OF(2));
static const struct weft_result_table bands_table = WEFT_RESULT_TABLE_OF(
    "scenarios.claims.bands", LIST, "a claim in a band of hardware (--bands)",
    WEFT_RESULT_AND(WEFT_RESULT_EACH(struct claim_row, band, bands), .sparse = true), WEFT_CLAIM_OF(1), SCENARIO_OF(2),
    WEFT_RESULT(struct band_row, parameter, TEXT, "path of a value of hardware that the claim can hang on",
                .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_NAMED(struct band_row, hardware, "class", TEXT, "class of hardware whose band it is",
                      .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT(struct band_row, own, TEXT, "value that the scenario has", .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT(struct band_row, verdict, TEXT, "holds, turns, hidden, ideal, or unknown: not judged"),
    WEFT_RESULT(struct band_row, turns_at, TEXT, "value at which the claim turns", .flags = WEFT_RESULT_SPARSE));
static const struct weft_result_table points_table = WEFT_RESULT_TABLE_OF(
    "scenarios.claims.bands.points", LIST, "a claim at a value of a band",
    WEFT_RESULT_EACH(struct band_row, point, points),
    WEFT_RESULT_ABOVE_AT(1, struct band_row, parameter, "parameter", TEXT, "path of the value"), WEFT_CLAIM_OF(2),
    SCENARIO_OF(3),
    WEFT_RESULT(struct point_row, name, TEXT, "low, typical, high; half, twice; search: found by bisection",
                .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct point_row, value, TEXT, "the value; of a class its name", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT(struct point_row, holds, BOOL, "whether the claim holds with it; none: not judged",
                .flags = WEFT_RESULT_SPARSE));
#define OF_METRICS(symbol, key, what, field)                                                                           \
    WEFT_RESULT_VALUES(symbol, "scenarios.claims." key, what,                                                          \
                       WEFT_RESULT_EACH(struct claim_row, field, is.claim.metrics), .sparse = false, double, REAL,     \
                       WEFT_CLAIM_OF(1), SCENARIO_OF(2))
OF_METRICS(median_table, "median", "median over seeds of a figure that the claim names", median);
OF_METRICS(min_table, "min", "least value over seeds of a figure that the claim names", least);
OF_METRICS(max_table, "max", "greatest value over seeds of a figure that the claim names", most);

static const struct weft_result_column readings_columns[] = {
    WEFT_CLAIM_OF(1),
    SCENARIO_OF(2),
    WEFT_RESULT(struct reading_row, number, COUNT, "number of the reading, from 0",
                .flags = WEFT_RESULT_KEY | WEFT_RESULT_TABLES),
    WEFT_RESULT(struct reading_row, seed, COUNT, "seed; none: that of the scenario", .flags = WEFT_RESULT_SPARSE),
    WEFT_RESULT(struct reading_row, holds, BOOL, "whether the claim holds with it"),
};
#define READINGS(symbol, key, what, field, rows)                                                                       \
    static const struct weft_result_table symbol##_table =                                                             \
        WEFT_RESULT_TABLE("scenarios.claims." key, LIST, what, readings_columns,                                       \
                          WEFT_RESULT_EACH(struct claim_row, field, rows), .sparse = true);                            \
    WEFT_RESULT_VALUES(symbol##_values_table, "scenarios.claims." key ".values", "a figure that the claim names",      \
                       WEFT_RESULT_EACH(struct reading_row, value, values), .sparse = false, double, REAL,             \
                       WEFT_RESULT_ABOVE_AT(1, struct reading_row, number, "reading", COUNT, "number of the reading"), \
                       WEFT_CLAIM_OF(2), SCENARIO_OF(3))
READINGS(runs, "runs", "a claim with one seed", run, runs);
READINGS(runs_without, "runs_without", "a claim with one seed, under what must break it", run_without, runs_without);

#define STATEMENT(field, kind, ...) WEFT_RESULT(struct verify_statement, field, kind, __VA_ARGS__)
static const struct weft_result_table statements_table = WEFT_RESULT_TABLE_OF(
    "statements", LIST, "a statement of a source (--sources)",
    WEFT_RESULT_AND(WEFT_RESULT_EACH(struct verify_answer, statement, statements), .present = has_sources),
    STATEMENT(source, TEXT, "name of the source"),
    STATEMENT(id, TEXT, "id of the statement, which claims name", .flags = WEFT_RESULT_KEY),
    STATEMENT(at, TEXT, "section or paragraph of the source"),
    STATEMENT(says, TEXT, "what the source says, in other words"),
    STATEMENT(none, TEXT, "why no claim checks the statement"));
static const struct weft_result_table checks_table =
    WEFT_RESULT_TABLE_OF("statements.claims", LIST, "a claim that checks a statement",
                         WEFT_RESULT_EACH(struct verify_statement, check, checks),
                         WEFT_RESULT_OF(struct verify_statement, id, TEXT, "id of the statement"),
                         WEFT_RESULT(struct verify_check, path, TEXT, "path of the scenario"), WEFT_CLAIM_COLUMNS);
WEFT_CLAIM_TABLES(check, "statements.claims", WEFT_CLAIM_OF(1),
                  WEFT_RESULT_ABOVE_AT(2, struct verify_statement, id, "id", TEXT, "id of the statement"));

const struct weft_answer weft__answer_verify =
    WEFT_ANSWER_OF("verify", "weft verify: claims of scenarios, judged", &verify_table, &seeds_table, &scenarios_table,
                   &claims_table, &claim_mean_seeds, &claim_without, &median_table, &min_table, &max_table, &runs_table,
                   &runs_values_table, &runs_without_table, &runs_without_values_table, &bands_table, &points_table,
                   &statements_table, &checks_table, &check_mean_seeds, &check_without);
