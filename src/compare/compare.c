// SPDX-License-Identifier: Apache-2.0
// Variants side by side: a row per figure, a column per variant, with the change relative to the first variant. With
// several seeds a figure is the mean over them, with half of its interval, and changes that may be noise are marked.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/stream.h"
#include "base/units.h"
#include "box/sums.h"
#include "report/mechanisms.h"
#include "report/text.h"
#include "weft/result.h"
#include "weft/statistics.h"

enum { TEXT = 64, VALUE = 12, CHANGE = 8, METRIC = 22, SPREAD = 10, COLLECTIVES = 12 };

/// How the times of a variant differ from those of the first one.
struct tally {
    uint32_t shorter, longer, times; ///< of `times`
    double best, worst;              ///< changes, as parts of the first variant's
    const char *of_best, *of_worst;  ///< "green (80MB)"
};

struct compare {
    FILE *file;
    const struct weft_run *run; ///< [columns][seeds]
    uint32_t runs, columns, seeds;
    struct weft_arena *arena;
    const struct weft_group_stats **group; ///< [runs][groups of that run]
    double *value;                         ///< [runs], of the current row
    int group_width;
    int *width;          ///< [columns]
    struct tally *tally; ///< [columns], over all cases; NULL: every figure is shown, else the first of each kind
    struct weft__text_stream *stream; ///< writes to a line
    FILE *line;
};

static int max_int(int a, int b) {
    return a > b ? a : b;
}

static const char *variant_name(const struct weft_run *run) {
    return *run->scenario->variant ? run->scenario->variant : run->scenario->name;
}

/// The heading of the variant's column: its name, without that of the case.
static const char *column_name(const struct weft_run *run) {
    const char *name = variant_name(run);
    size_t n = strlen(run->scenario->case_name);
    return n && name[n] == '/' ? name + n + 1 : name;
}

static const struct weft_group_stats *find_group(const struct compare *c, uint32_t r, const char *name) {
    for (uint32_t g = 0; g < c->run[r].workload->groups; g++)
        if (!strcmp(c->group[r][g].name, name)) return &c->group[r][g];
    return NULL;
}

/// "+12.3%", "x120", "=", or "" if there is nothing to compare.
static void format_change(char *text, double first, double value) {
    double change = first > 0 ? 100 * (value - first) / first : 0;
    text[0] = 0;
    if (!isfinite(first) || !isfinite(value)) return;
    if (!(first < value) && !(value < first))
        snprintf(text, TEXT, "=");
    else if (change >= 1000)
        snprintf(text, TEXT, "x%.0f", value / first);
    else if (first > 0)
        snprintf(text, TEXT, "%+.1f%%", change);
}

/// Prints `c->line` without trailing blanks.
static void print_line(struct compare *c) {
    const char *text = weft__text_stream_text(c->stream);
    size_t n = c->stream->size;
    while (n && text[n - 1] == ' ')
        n--;
    fwrite(text, 1, n, c->file);
    putc('\n', c->file);
    weft__text_stream_clear(c->stream);
}

/// "612.31", with several seeds "612.31 +/-12.01".
static void format_value(char text[TEXT], const struct weft_spread *s, struct weft__unit unit, int decimals) {
    double ps = unit.name ? unit.ps : 1;
    if (unit.name) decimals = unit.decimals;
    if (!isfinite(s->mean))
        snprintf(text, TEXT, "-");
    else if (isnan(s->half))
        snprintf(text, TEXT, "%.*f", decimals, s->mean / ps);
    else
        snprintf(text, TEXT, "%.*f +/-%-*.*f", decimals, s->mean / ps, SPREAD - 4, decimals, s->half / ps);
}

/// The mean over the seeds of a column; none unless every seed has a value.
static struct weft_spread spread_of(const struct compare *c, uint32_t column) {
    struct weft_spread s = weft_spread_of(&c->value[column * c->seeds], c->seeds, c->arena);
    if (s.n < c->seeds) s.mean = s.half = NAN;
    return s;
}

/// The change relative to the first column, followed by "~" if it is within noise.
static void format_difference(const struct compare *c, char text[TEXT], uint32_t column, double first, double value) {
    struct weft_spread difference;
    format_change(text, first, value);
    if (!*text || *text == '=' || c->seeds < 2) return;
    enum weft_difference d =
        weft_difference_of(c->value, &c->value[column * c->seeds], c->seeds, 1, &difference, c->arena);
    if (d == WEFT_DIFFERENCE_NOISE) snprintf(text + strlen(text), TEXT - strlen(text), "~");
}

static void tally_time(struct compare *c, uint32_t column, const char *group, double first, double value) {
    struct tally *t = &c->tally[column];
    double change = value / first - 1;
    if (!isfinite(change)) return;
    const char *name = *c->run->scenario->case_name
                           ? weft_arena_format(c->arena, "%s (%s)", group, c->run->scenario->case_name)
                           : weft_arena_format(c->arena, "%s", group);
    t->times++;
    t->shorter += change < 0;
    t->longer += change > 0;
    if (change < t->best) t->best = change, t->of_best = name;
    if (change > t->worst) t->worst = change, t->of_worst = name;
}

/// A row of c->value. With a unit, values are times; else `decimals` digits follow the point.
static void print_row(struct compare *c, const char *group, const char *metric, struct weft__unit unit, int decimals) {
    char text[TEXT];
    snprintf(text, sizeof text, "%s%s%s", metric, unit.name ? ", " : "", unit.name ? unit.name : "");
    fprintf(c->line, "%-*s  %-*s", c->group_width, group, METRIC, text);
    double first = 0;
    for (uint32_t k = 0; k < c->columns; k++) {
        struct weft_spread spread = spread_of(c, k);
        if (!k) first = spread.mean;
        format_value(text, &spread, unit, c->seeds > 1 && !decimals ? 1 : decimals);
        fprintf(c->line, " %*s", c->width[k], text);
        format_difference(c, text, k, first, spread.mean);
        if (k) fprintf(c->line, "%*s", CHANGE, text);
        if (c->tally && k && unit.name) tally_time(c, k, group, first, spread.mean);
    }
    print_line(c);
}

static double largest_of(const struct compare *c) {
    double most = 0;
    for (uint32_t r = 0; r < c->runs; r++)
        most = fmax(most, c->value[r]);
    return most;
}

static const struct {
    const char *name;
    size_t offset; ///< in struct weft_group_stats
    bool time;
} group_metrics[] = {
    {"FCT mean", offsetof(struct weft_group_stats, fct_ps.mean), true},
    {"FCT p50", offsetof(struct weft_group_stats, fct_ps.p50), true},
    {"FCT p99", offsetof(struct weft_group_stats, fct_ps.p99), true},
    {"FCT max", offsetof(struct weft_group_stats, fct_ps.max), true},
    {"slowdown mean", offsetof(struct weft_group_stats, slowdown.mean), false},
    {"slowdown p99", offsetof(struct weft_group_stats, slowdown.p99), false},
};

static void fill_group(const struct compare *c, const char *name, size_t offset) {
    for (uint32_t r = 0; r < c->runs; r++) {
        const struct weft_group_stats *g = find_group(c, r, name);
        c->value[r] = NAN;
        if (g) memcpy(&c->value[r], (const char *)g + offset, sizeof(double));
    }
}

/// Flows of the group if that is the same number wherever there is the group, else 0.
static uint32_t common_count(const struct compare *c, const char *name) {
    uint32_t count = 0;
    for (uint32_t r = 0; r < c->runs; r++) {
        const struct weft_group_stats *g = find_group(c, r, name);
        if (g && count && g->count != count) return 0;
        if (g) count = g->count;
    }
    return count;
}

static void print_finished(struct compare *c, const char *name, uint32_t count) {
    char metric[TEXT] = "flows finished";
    if (count) snprintf(metric, sizeof metric, "flows finished of %" PRIu32, count);
    for (uint32_t r = 0; r < c->runs; r++) {
        const struct weft_group_stats *g = find_group(c, r, name);
        c->value[r] = g ? (double)g->finished : (double)NAN;
    }
    print_row(c, name, metric, (struct weft__unit){0}, 0);
}

static void print_group(struct compare *c, const char *name) {
    uint32_t count = common_count(c, name);
    fill_group(c, name, offsetof(struct weft_group_stats, fct_ps.max));
    struct weft__unit unit = weft__text_unit(largest_of(c));
    if (c->tally) {
        fill_group(c, name, offsetof(struct weft_group_stats, fct_ps.mean));
        print_row(c, name, count == 1 ? "FCT" : "FCT mean", weft__text_unit(largest_of(c)), 2);
        return;
    }
    if (count == 1) { // a single flow has no distribution
        print_row(c, name, "FCT", unit, 2);
        fill_group(c, name, offsetof(struct weft_group_stats, slowdown.max));
        if (largest_of(c) > 0) print_row(c, "", "slowdown", (struct weft__unit){0}, 2);
        return;
    }
    print_finished(c, name, count);
    for (size_t m = 0; m < sizeof group_metrics / sizeof *group_metrics; m++) {
        fill_group(c, name, group_metrics[m].offset);
        if (!group_metrics[m].time && !(largest_of(c) > 0)) continue; // flows of a job have no slowdown
        print_row(c, "", group_metrics[m].name, group_metrics[m].time ? unit : (struct weft__unit){0}, 2);
    }
}

/// Groups of all variants, each once, in order of first mention.
static void print_groups(struct compare *c) {
    for (uint32_t r = 0; r < c->runs; r++)
        for (uint32_t g = 0; g < c->run[r].workload->groups; g++) {
            const char *name = c->group[r][g].name;
            bool before = false;
            for (uint32_t b = 0; b < r && !before; b++)
                before = find_group(c, b, name);
            if (!before) print_group(c, name);
        }
}

/// What a job measured in each run that has this many jobs.
static void fill_job(const struct compare *c, uint32_t job, size_t offset) {
    for (uint32_t r = 0; r < c->runs; r++) {
        c->value[r] = NAN;
        if (job >= c->run[r].workload->jobs) continue;
        struct weft_job_stats s = weft_report_job(&c->run[r], job);
        memcpy(&c->value[r], (const char *)&s + offset, sizeof(double));
    }
}

/// A collective of a job, which an iteration may contain several times.
struct collective {
    const char *name;
    uint32_t ranks;
    weft_bytes bytes;
};

static bool is_collective(const struct weft_job_op *op, const struct collective *k) {
    return op->name && op->times && op->shape.ranks == k->ranks && op->shape.bytes == k->bytes &&
           !strcmp(op->name, k->name);
}

/// The collectives of a job of the first run, each once, at most COLLECTIVES of them; *ret_more: there are others.
static uint32_t find_collectives(const struct weft_job *j, struct collective k[COLLECTIVES], bool *ret_more) {
    uint32_t n = 0;
    *ret_more = false;
    for (uint32_t i = 0; i < j->ops && !*ret_more; i++) {
        const struct weft_job_op *op = &j->op[i];
        uint32_t known = 0;
        if (!op->name || !op->times) continue;
        while (known < n && !is_collective(op, &k[known]))
            known++;
        *ret_more = known == COLLECTIVES;
        if (known == n && !*ret_more) k[n++] = (struct collective){op->name, op->shape.ranks, op->shape.bytes};
    }
    return n;
}

/// The mean over finished ones, in GB/s.
static double bus_bandwidth(const struct weft_run *run, uint32_t job, const struct collective *k) {
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; job < run->workload->jobs && i < run->workload->job[job].ops; i++) {
        if (!is_collective(&run->workload->job[job].op[i], k)) continue;
        double busbw = weft_report_collective(run, job, i).busbw;
        if (!isfinite(busbw)) continue;
        sum += busbw * 1e-9;
        n++;
    }
    return n ? sum / n : NAN;
}

static void print_collectives(struct compare *c, uint32_t job) {
    struct collective collective[COLLECTIVES];
    bool more;
    uint32_t n = find_collectives(&c->run->workload->job[job], collective, &more);
    for (uint32_t i = 0; i < n; i++) {
        char bytes[TEXT], metric[2 * TEXT];
        weft_format_bytes(collective[i].bytes, bytes, sizeof bytes);
        snprintf(metric, sizeof metric, "busbw %s, GB/s", bytes);
        for (uint32_t r = 0; r < c->runs; r++)
            c->value[r] = bus_bandwidth(&c->run[r], job, &collective[i]);
        print_row(c, collective[i].name, metric, (struct weft__unit){0}, 2);
    }
    if (more) fprintf(c->file, "%*s  further collectives: --csv --table jobs.collectives\n", c->group_width, "");
}

/// Jobs by number, under the names that the first variant gives them.
static void print_jobs(struct compare *c) {
    for (uint32_t k = 0; k < c->run->workload->jobs; k++) {
        fill_job(c, k, offsetof(struct weft_job_stats, iteration_ps));
        struct weft__unit unit = weft__text_unit(largest_of(c));
        print_row(c, c->run->workload->group[c->run->workload->job[k].group], "job iteration", unit, 2);
        if (c->tally) continue;
        fill_job(c, k, offsetof(struct weft_job_stats, iteration_half_ps));
        if (largest_of(c) > 0) print_row(c, "", "+/- of a sample", unit, 2);
        fill_job(c, k, offsetof(struct weft_job_stats, exposed_ps));
        print_row(c, "", "exposed comm.", unit, 2);
        fill_job(c, k, offsetof(struct weft_job_stats, cts_p90_ps));
        if (largest_of(c) > 0) print_row(c, "", "clear-to-send p90", weft__text_unit(largest_of(c)), 2);
        print_collectives(c, k);
    }
}

/// Services by number, under the names that the first variant gives them.
static void print_services(struct compare *c) {
    static const struct {
        const char *name;
        size_t offset;
        bool time;
    } metrics[] = {{"TTFT mean", offsetof(struct weft_service_stats, ttft.mean), true},
                   {"TTFT p99", offsetof(struct weft_service_stats, ttft.p99), true},
                   {"TPOT mean", offsetof(struct weft_service_stats, tpot.mean), true},
                   {"TPOT p99", offsetof(struct weft_service_stats, tpot.p99), true},
                   {"transfer mean", offsetof(struct weft_service_stats, exposed.mean), true},
                   {"share in both SLOs", offsetof(struct weft_service_stats, by_both), false}};
    for (uint32_t k = 0; k < c->run->workload->inferences && !c->tally; k++) {
        struct weft_service_stats *s = weft_arena_alloc(c->arena, c->runs, sizeof *s);
        for (uint32_t r = 0; r < c->runs; r++)
            if (k < c->run[r].workload->inferences) s[r] = weft_report_service(&c->run[r], k, c->arena);
        for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
            for (uint32_t r = 0; r < c->runs; r++) {
                c->value[r] = (double)NAN;
                if (s[r].name) memcpy(&c->value[r], (const char *)&s[r] + metrics[i].offset, sizeof(double));
            }
            struct weft__unit unit = metrics[i].time ? weft__text_unit(largest_of(c)) : (struct weft__unit){0};
            print_row(c, i ? "" : s->name, metrics[i].name, unit, metrics[i].time ? 2 : 4);
        }
    }
}

static void print_column(struct compare *c, const char *group, const char *name,
                         const struct weft_result_column *column) {
    bool time = column->type == WEFT_RESULT_TIME;
    struct tally *tally = c->tally; // of completion times alone
    c->tally = NULL;
    print_row(c, group, name, time ? weft__text_unit(largest_of(c)) : (struct weft__unit){0}, 0);
    c->tally = tally;
}

static const struct weft_result_column *compared_column(const struct weft_result_table *table) {
    const struct weft_result_column *column = table->column;
    while (!column->compared)
        column++;
    return column;
}

static const char *text_of(struct weft_result_cursor *row, const char *column) {
    return weft_result_value(row, weft_result_column_find(row->table, column)).text;
}

/// Of rows for pairs of layers, the one with this key; NAN: the run has none.
static double value_between(const struct compare *c, uint32_t r, const struct weft_result_table *table,
                            const char *layers) {
    struct weft_result_walk walk = weft_result_walk(&c->run[r], table, c->arena);
    struct weft_result_cursor *row;
    while ((row = weft_result_next(&walk)))
        if (!strcmp(text_of(row, "layers"), layers)) {
            struct weft_result_value value = weft_result_value(row, compared_column(table));
            return weft_result_number(&value);
        }
    return NAN;
}

static uint32_t count_rows(const struct compare *c, const struct weft_result_table *table) {
    struct weft_result_walk walk = weft_result_walk(c->run, table, c->arena);
    uint32_t n = 0;
    while (weft_result_next(&walk))
        n++;
    return n;
}

/// Pairs of layers of the first variant, if there is more than one layer of switches.
static void print_between(struct compare *c, const struct weft_result_table *table) {
    struct weft_result_walk walk = weft_result_walk(c->run, table, c->arena);
    struct weft_result_cursor *row;
    if (count_rows(c, table) <= 2) return;
    while ((row = weft_result_next(&walk))) {
        char name[TEXT];
        for (uint32_t r = 0; r < c->runs; r++)
            c->value[r] = value_between(c, r, table, text_of(row, "layers"));
        snprintf(name, sizeof name, "  %s to %s", text_of(row, "from_layer"), text_of(row, "to_layer"));
        if (largest_of(c) > 0) print_column(c, "", name, compared_column(table));
    }
}

static void fill_sum(struct compare *c, const struct weft_result_column *column) {
    for (uint32_t r = 0; r < c->runs; r++) {
        struct weft_result_walk walk = weft_result_walk(&c->run[r], weft__sums_table(), c->arena);
        struct weft_result_value value = weft_result_value(weft_result_next(&walk), column);
        c->value[r] = weft_result_number(&value);
    }
}

/// The rows of a mechanism. Only the first row of all shows the name of the group.
static void print_sums(struct compare *c, const struct weft__sums *sums, const char *group) {
    bool first = true;
    for (uint32_t i = 0; i < sums->columns; i++) {
        const struct weft_result_column *column = &sums->column[i];
        if (!column->compared) continue;
        fill_sum(c, column);
        if (first && (!sums->always || c->tally) && largest_of(c) <= 0) return;
        print_column(c, first ? group : "", column->compared, column);
        if (c->tally) return;
        if (first && sums->table) print_between(c, sums->table);
        first = false;
    }
}

static void print_network(struct compare *c) {
    const struct weft__sums *sums;
    for (uint32_t i = 0; (sums = weft__sums_at(i)); i++)
        print_sums(c, sums, i && !c->tally ? "" : "network");
    for (uint32_t r = 0; r < c->runs; r++)
        c->value[r] = (double)weft__report_drops(c->run[r].outcome);
    if (!c->tally || largest_of(c) > 0) print_row(c, "", "drops, packets", (struct weft__unit){0}, 0);
    if (c->tally) return;
    for (uint32_t r = 0; r < c->runs; r++)
        c->value[r] = (double)c->run[r].outcome->sim_time_ps;
    print_row(c, "", "simulated time", weft__text_unit(largest_of(c)), 0);
}

/// Whether all runs have the same numbers of hosts, switches and flows.
static bool are_alike(const struct weft_run *run, uint32_t runs) {
    for (uint32_t r = 1; r < runs; r++)
        if (run[r].topology->hosts != run->topology->hosts || run[r].topology->switches != run->topology->switches ||
            run[r].workload->flows != run->workload->flows)
            return false;
    return true;
}

static void print_size(FILE *file, const struct weft_run *run) {
    const struct weft_topology *t = run->topology;
    uint32_t flows = run->workload->flows - run->workload->rma_flows;
    fprintf(file, "%s, %s, %s", weft__counted(t->hosts, "host").text, weft__counted(t->switches, "switch").text,
            weft__counted(flows, "flow").text);
}

// --- mechanisms that never acted ----------------------------------------------------------------------------------

enum { IDLE_MAX = 64, IDLE_NAMED = 4 };

/// A mechanism that never acted in a variant, and that variant.
struct idle {
    const char *text;
    uint32_t column;
};

/// Those of a variant, with every seed; *ret_n counts on.
static void find_idle(const struct compare *c, uint32_t column, struct idle *idle, uint32_t *ret_n) {
    uint32_t first = column * c->seeds, n, more;
    if (!weft_result_table_present(weft_result_table_find("mechanisms"), &c->run[first])) return;
    const struct weft__mechanism_row *row = weft__report_mechanisms(&c->run[first], c->arena, &n);
    bool *acts = weft_arena_alloc(c->arena, n + 1, sizeof *acts);
    for (uint32_t k = 0; k < c->seeds; k++) {
        const struct weft__mechanism_row *of = weft__report_mechanisms(&c->run[first + k], c->arena, &more);
        for (uint32_t i = 0; i < n && i < more; i++)
            acts[i] |= of[i].is != row[i].is || of[i].use.acts != 0;
    }
    for (uint32_t i = 0; i < n && *ret_n < IDLE_MAX; i++)
        if (!acts[i])
            idle[(*ret_n)++] = (struct idle){
                weft_arena_format(c->arena, "%s: %s", row[i].is->name, weft__report_nothing(row, n, i, c->arena)),
                column};
}

/// "PFC: no pause frame (in pfc, sfc)", a line for each text.
static void print_idle(const struct compare *c) {
    struct idle idle[IDLE_MAX];
    const char *label = "idle";
    uint32_t n = 0;
    for (uint32_t column = 0; column < c->columns; column++)
        find_idle(c, column, idle, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (!idle[i].text) continue;
        const char *text = idle[i].text, *names = "";
        uint32_t same = 0;
        for (uint32_t k = i; k < n; k++) {
            if (!idle[k].text || strcmp(idle[k].text, text)) continue;
            if (same++ < IDLE_NAMED)
                names = weft_arena_format(c->arena, "%s%s%s", names, *names ? ", " : "",
                                          column_name(&c->run[idle[k].column * c->seeds]));
            idle[k].text = NULL;
        }
        fprintf(c->file, "%-6s %s", label, text);
        if (same < c->columns) fprintf(c->file, " (in %s", names);
        if (same < c->columns && same > IDLE_NAMED) fprintf(c->file, " and %u more", same - IDLE_NAMED);
        fputs(same < c->columns ? ")\n" : "\n", c->file);
        label = "";
    }
}

// --- the whole ----------------------------------------------------------------------------------------------------

static void print_head(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t seeds) {
    const struct weft_scenario *s = run->scenario;
    fprintf(file, "%s%s%s\n", s->name, *s->about ? ": " : "", s->about);
    if (are_alike(run, runs)) {
        print_size(file, run);
        fputs("; ", file);
    }
    uint32_t variants = runs / seeds;
    fprintf(file, "%s, ", weft__counted(variants, "variant").text);
    if (seeds > 1)
        fprintf(file, "%s", weft__counted(seeds, "seed").text);
    else
        fprintf(file, "seed %" PRIu64, s->run.seed);
    fputs("; changes are against ", file);
    if (*s->case_name)
        fputs("the first of each case\n", file);
    else
        fprintf(file, "%s\n\n", variant_name(run));
}

static void print_heading(struct compare *c) {
    fprintf(c->line, "%-*s  %-*s", c->group_width, "group", METRIC, "");
    for (uint32_t k = 0; k < c->columns; k++)
        fprintf(c->line, " %*s%*s", c->width[k], column_name(&c->run[k * c->seeds]), k ? CHANGE : 0, "");
    print_line(c);
}

/// The headings of columns; before them the case, with what differs between cases. In short the columns have one
/// heading, above the first case.
static void print_columns(struct compare *c, bool is_first, bool all_alike) {
    if (c->tally && is_first) print_heading(c);
    if (*c->run->scenario->case_name) {
        fprintf(c->file, "%scase %s", c->tally ? "" : "\n", c->run->scenario->case_name);
        if (!all_alike && are_alike(c->run, c->runs)) {
            fputs(": ", c->file);
            print_size(c->file, c->run);
        }
        putc('\n', c->file);
    }
    if (!c->tally) print_heading(c);
}

static void print_legend(FILE *file, uint32_t seeds) {
    fputs(
        "\nFCT: flow completion time, from the start to the last byte at the receiver. slowdown: FCT / FCT of the same "
        "flow\nalone in the network. -: not finished. PFC paused: time that PFC kept ports from sending, "
        "all ports added up.\n",
        file);
    if (seeds > 1)
        fputs(
            "+/-: half of the 95% interval of the mean over seeds. ~: within noise: the interval of the differences to "
            "the first\nvariant, seed by seed, has 0 in it. -: also if a seed has no value.\n",
            file);
}

static void print_ends(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t seeds) {
    for (uint32_t r = 0; r < runs; r++) {
        const struct weft_outcome *o = run[r].outcome;
        char name[256];
        snprintf(name, sizeof name, "%s", variant_name(&run[r]));
        if (seeds > 1)
            snprintf(name, sizeof name, "%s, seed %" PRIu64, variant_name(&run[r]), run[r].scenario->run.seed);
        if (!weft_outcome_conserves(o))
            fprintf(file, "\n%s: BUG: bytes are not conserved; this result cannot be trusted\n", name);
        if (o->end == WEFT_END_INTERRUPTED)
            fprintf(file, "\n%s: interrupted: this is what was measured so far\n", name);
        if (o->end == WEFT_END_TIME) fprintf(file, "\n%s: TIME IS OVER: simulated time ends after 100 days\n", name);
        if (o->end == WEFT_END_STALL) {
            fprintf(file, "\n%s: STALLED\n", name);
            weft_report_stall(file, o);
        }
    }
}

/// The width for the names of groups, and of the collectives of jobs.
static int name_width(const struct weft_run *run) {
    int width = (int)strlen("network");
    const struct weft_workload *w = run->workload;
    for (uint32_t g = 0; g < w->groups; g++)
        width = max_int(width, (int)strlen(w->group[g]));
    for (uint32_t k = 0; k < w->jobs; k++)
        for (uint32_t i = 0; i < w->job[k].ops; i++)
            if (w->job[k].op[i].name && w->job[k].op[i].times)
                width = max_int(width, (int)strlen(w->job[k].op[i].name));
    return width;
}

static void print_case(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t seeds, bool is_first,
                       bool all_alike, struct tally *tally, struct weft_arena *arena) {
    struct compare c = {.file = file,
                        .run = run,
                        .runs = runs,
                        .columns = runs / seeds,
                        .seeds = seeds,
                        .arena = arena,
                        .tally = tally};
    c.group = weft_arena_alloc(arena, runs, sizeof *c.group);
    c.value = weft_arena_alloc(arena, runs, sizeof *c.value);
    c.width = weft_arena_alloc(arena, runs, sizeof *c.width);
    for (uint32_t r = 0; r < runs; r++) {
        c.group[r] = weft_report_groups(&run[r], arena);
        c.width[r / seeds] = max_int(VALUE + (seeds > 1 ? SPREAD : 0), (int)strlen(column_name(&run[r])));
        c.group_width = max_int(c.group_width, name_width(&run[r]));
    }
    WEFT__TEXT_STREAM(stream, out);
    c.stream = &stream;
    c.line = out;
    print_columns(&c, is_first, all_alike);
    print_groups(&c);
    print_jobs(&c);
    print_services(&c);
    print_network(&c);
    if (!tally) print_idle(&c);
}

/// Cases are runs that follow one another. *ret_last: the first run of the last one.
static uint32_t print_cases(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t seeds, struct tally *tally,
                            struct weft_arena *arena) {
    bool all_alike = are_alike(run, runs);
    uint32_t last = 0;
    for (uint32_t first = 0, end; first < runs; first = end) {
        for (end = first + 1; end < runs; end++)
            if (strcmp(run[end].scenario->case_name, run[first].scenario->case_name)) break;
        print_case(file, &run[first], end - first, seeds, !first, all_alike, tally, arena);
        last = first;
    }
    return last;
}

void weft_report_compare(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t seeds, uint32_t not_run) {
    print_head(file, run, runs, seeds);
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    print_cases(file, run, runs, seeds, NULL, arena);
    print_legend(file, seeds);
    print_ends(file, run, runs, seeds);
    if (not_run) fprintf(file, "\ninterrupted: %u more variant%s not run\n", not_run, not_run == 1 ? " was" : "s were");
}

// --- in short -----------------------------------------------------------------------------------------------------

/// "pfc+sfc against pfc: 6 of 8 completion times are shorter, green (80MB) most, by 36%; 2 are longer, incast (80MB)
/// most, by 13%."
static void tell_tally(FILE *file, const struct weft_run *first, const struct weft_run *run, const struct tally *t,
                       struct weft_arena *arena) {
    fprintf(file, "%s against %s: ", column_name(run), column_name(first));
    if (!t->times) fputs("no completion time is in both", file);
    if (t->times && !t->shorter && !t->longer)
        fprintf(file, "%s, equal", weft__counted(t->times, "completion time").text);
    const char *of_all = weft_arena_format(arena, " of %s", weft__counted(t->times, "completion time").text);
    if (t->shorter)
        fprintf(file, "%" PRIu32 "%s %s shorter, %s most, by %.0f%%", t->shorter, of_all, t->shorter > 1 ? "are" : "is",
                t->of_best, -100 * t->best);
    if (t->shorter && t->longer) fputs("; ", file);
    if (t->longer)
        fprintf(file, "%" PRIu32 "%s %s longer, %s most, by %.0f%%", t->longer, t->shorter ? "" : of_all,
                t->longer > 1 ? "are" : "is", t->of_worst, 100 * t->worst);
    fputs(".\n", file);
}

/// What acted in a run: "24102 PFC pause frames, PFC paused 128ms".
static void tell_actions(FILE *file, const struct weft_run *run, struct weft_arena *arena) {
    const struct weft__sums *sums;
    unsigned told = 0;
    fprintf(file, "%s: ", column_name(run));
    for (uint32_t i = 0; (sums = weft__sums_at(i)); i++)
        for (uint32_t k = 0; k < sums->columns; k++) {
            const struct weft_result_column *column = &sums->column[k];
            if (!column->compared) continue;
            struct weft_result_walk walk = weft_result_walk(run, weft__sums_table(), arena);
            struct weft_result_value value = weft_result_value(weft_result_next(&walk), column);
            double number = weft_result_number(&value);
            if (!(number > 0)) continue;
            char text[TEXT];
            snprintf(text, sizeof text, "%.0f", number);
            if (column->type == WEFT_RESULT_TIME) weft_format_time((weft_time_ps)number, text, sizeof text);
            fprintf(file, "%s%s %s", told++ ? ", " : "", column->compared, text);
        }
    if (!told) fputs("no pauses, marks or SFC messages", file);
}

void weft_report_compare_brief(FILE *file, const struct weft_run *run, uint32_t runs, uint32_t seeds) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    struct tally *tally = weft_arena_alloc(arena, runs, sizeof *tally);
    print_head(file, run, runs, seeds);
    if (*run->scenario->case_name) putc('\n', file);
    uint32_t last = print_cases(file, run, runs, seeds, tally, arena), columns = (runs - last) / seeds;
    putc('\n', file);
    for (uint32_t k = 1; k < columns; k++)
        tell_tally(file, &run[last], &run[last + k * seeds], &tally[k], arena);
    fputs("Why: ", file);
    for (uint32_t k = 0; k < columns; k++) {
        if (k) fputs("; ", file);
        tell_actions(file, &run[last + k * seeds], arena);
    }
    if (*run[last].scenario->case_name) fprintf(file, " (%s)", run[last].scenario->case_name);
    fputs(".\n", file);
    print_ends(file, run, runs, seeds);
}
