// SPDX-License-Identifier: Apache-2.0
// weft report: results as one HTML file.

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "weft/estimate.h"
#include "why.h"

#include "base/units.h"

/// HOPS_MAX: explained in all; MOVED_HOPS_MAX: run once more for their samples alone, some 10 million a second.
enum { FLOWS = 3, HOPS_MAX = 2000000, MOVED_HOPS_MAX = 100000000 };

static struct {
    const char *out, *why;
    bool no_data, estimate;
} asked;
static const struct weft_cli_option own[] = {
    {"out", "FILE", "the file to write (default: report.html)", &asked.out, NULL},
    {"estimate", NULL, "estimate scenarios in seconds, each with its variants, instead of reading folders of runs",
     NULL, &asked.estimate},
    {"no-data", NULL, "omit the links to the numbers behind each picture", NULL, &asked.no_data},
    {"why", "N",
     "run the runs again to explain the N slowest flows of each and the last iteration of each job; 0: do not "
     "(default: 3 "
     "flows, of runs with up to 2 million packet-hops in all)",
     &asked.why, NULL},
    {0},
};
static const struct weft_cli_command command = {
    .name = "report",
    .operands = "DIR... | --estimate SCENARIO...",
    .about =
        "Makes one HTML file from the results in folders written by --out: the answer in one sentence per run,\n"
        "completion times, queues and rates over time, which port paused which, links, jobs, where the time of slow\n"
        "flows went, and every parameter in force. The file is self-contained and can be sent and opened anywhere.\n"
        "Runs of several variants or folders are shown side by side. Samples over time need run.sample_interval.\n"
        "With --estimate: estimated times with their 90% intervals and the busiest links, without any run.",
    .accept = WEFT_CLI_SET | WEFT_CLI_QUIET | WEFT_CLI_THREADS | WEFT_CLI_REPLACE,
    .operands_min = 1,
    .operands_max = 64,
    .option = own,
};

/// How many flows and packet hops may still be run again; moved_hops: without following anything.
struct budget {
    const struct weft_cli_options *o;
    uint64_t flows, hops, moved_hops;
};

/// A run that is run again anyway is sampled, as finely as the page shows.
static enum weft_status sample_again(struct weft_scenario_file *file, const struct weft_report_shown *run,
                                     struct weft_error *ret_error) {
    char setting[64];
    if (run->sampled) return WEFT_OK;
    snprintf(setting, sizeof setting, "run.sample_interval=%" PRIu64 "ps",
             weft_report_motion_interval(run->sim_time_ps));
    return weft_scenario_file_set(file, setting, ret_error);
}

static enum weft_status explain_stored(const struct budget *b, const struct weft_report_shown *run,
                                       struct weft_arena *arena, struct weft__json *j, struct weft_error *ret_error) {
    struct weft_stored stored;
    struct weft_scenario_file *file = NULL;
    WEFT_ENDS(weft_cli_why_deinit) struct weft_cli_why why = {.flow = NULL};
    const struct weft_cli_why_wanted wanted = {.slowest = (uint32_t)b->flows, .jobs = true, .as_it_is = true};
    uint32_t variant = 0;
    enum weft_status status = weft_stored_read(run->dir, run->variant, &run->seed, arena, &stored, ret_error);
    if (!status) status = weft_scenario_file_stored(stored.source, stored.sources, &file, ret_error);
    if (!status) status = sample_again(file, run, ret_error);
    const struct weft_scenario_file *seeded = file;
    if (!status) status = weft_cli_stored_scenario(&seeded, run->dir, &stored, arena, &variant, ret_error);
    if (!status) status = weft_cli_why_explain(b->o, seeded, variant, &stored, &wanted, arena, &why, ret_error);
    if (!status) weft_cli_why_json_page(j, &why, arena);
    if (!status) weft_report_motion(j, &why.run, 0, arena);
    weft_scenario_file_free(file);
    return status;
}

/// The motion of a run too long to be explained: of the samples that it has, or that it gives when it runs once more.
static enum weft_status move_stored(struct budget *b, const struct weft_report_shown *run, struct weft_arena *arena,
                                    struct weft__json *j, struct weft_error *ret_error) {
    struct weft_stored stored;
    struct weft_scenario_file *file = NULL;
    struct weft_cli_simulation s = {0};
    struct weft_run again;
    uint32_t variant = 0;
    bool kept = false;
    if (!run->sampled) WEFT_TRY(weft_report_motion_kept(j, run, &kept, ret_error));
    if (kept || (!run->sampled && run->packet_hops > b->moved_hops)) return WEFT_OK;
    enum weft_status status = weft_stored_read(run->dir, run->variant, &run->seed, arena, &stored, ret_error);
    if (!status) status = weft_scenario_file_stored(stored.source, stored.sources, &file, ret_error);
    if (!status) status = sample_again(file, run, ret_error);
    const struct weft_scenario_file *seeded = file;
    if (!status) status = weft_cli_stored_scenario(&seeded, run->dir, &stored, arena, &variant, ret_error);
    if (!status) status = weft_cli_simulation_init(&s, seeded, variant, ret_error);
    if (!status && run->sampled) status = weft_report_motion_stored(j, run, s.scenario, s.topology, arena, ret_error);
    if (!status && !run->sampled) {
        b->moved_hops -= run->packet_hops;
        status = weft_cli_simulation_run(&s, b->o, "for its motion", &again, ret_error);
        if (!status) status = weft_cli_compare_digests(&stored, again.outcome, ret_error);
        if (!status) weft_report_motion(j, &again, 0, arena);
    }
    weft_cli_simulation_deinit(&s);
    weft_scenario_file_free(file);
    return status;
}

/// The report is still made if there is no motion, unless the user has interrupted it.
static enum weft_status move_run(struct budget *b, const struct weft_report_shown *run, struct weft__json *j,
                                 struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    enum weft_status status = move_stored(b, run, arena, j, ret_error);
    if (!status || status == WEFT_INTERRUPTED) return status;
    *ret_error = (struct weft_error){0};
    return WEFT_OK;
}

/// Unless the user asks for an explanation, the report is still made if there is none.
static enum weft_status explain_run(void *context, const struct weft_report_shown *run, struct weft__json *j,
                                    struct weft_error *ret_error) {
    struct budget *b = context;
    if (!asked.why && run->packet_hops > b->hops) {
        weft__json_key_string(
            j, "note",
            "The run is long: weft report --why 3 runs it again and tells where the time of its slowest "
            "flows went.");
        return move_run(b, run, j, ret_error);
    }
    b->hops -= run->packet_hops < b->hops ? run->packet_hops : b->hops;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    enum weft_status status = explain_stored(b, run, arena, j, ret_error);
    if (!status || asked.why || status == WEFT_INTERRUPTED) return status;
    weft__json_key_string(j, "note", weft_arena_format(b->o->arena, "Not explained: %s", ret_error->text));
    *ret_error = (struct weft_error){0};
    return WEFT_OK;
}

// --- estimates ----------------------------------------------------------------------------------------------------

enum { COLUMNS_MAX = 64, ROWS_MAX = 512 };
/// Figures side by side: a column a variant of a scenario.
struct estimates {
    const char *column[COLUMNS_MAX], *answer[COLUMNS_MAX][2];
    struct weft_report_row row[ROWS_MAX];
    struct weft_report_cell cell[ROWS_MAX][COLUMNS_MAX];
    uint32_t columns, rows, answers;
};

/// The cell at hand of a row; NULL: there are too many rows.
static struct weft_report_cell *cell_of(struct estimates *t, const char *subject, const char *figure,
                                        const char *unit) {
    uint32_t r = 0;
    while (r < t->rows && (strcmp(t->row[r].subject, subject) != 0 || strcmp(t->row[r].figure, figure) != 0))
        r++;
    if (r == ROWS_MAX) return NULL;
    for (uint32_t c = 0; r == t->rows && c < COLUMNS_MAX; c++)
        t->cell[r][c] = (struct weft_report_cell){NAN, NAN, NAN, 0, NAN, NAN, NULL};
    if (r == t->rows) t->row[t->rows++] = (struct weft_report_row){subject, figure, unit};
    return &t->cell[r][t->columns];
}

static const char *time_text(weft_time_ps time, struct weft_arena *arena) {
    return weft_arena_text(arena, weft__short_time(time).text);
}

/// A picture shows the middle of an interval and its half; the estimate is beside it in words.
static void add_time(struct estimates *t, const char *subject, const char *figure, const weft_time_ps time[3],
                     struct weft_arena *arena) {
    struct weft_report_cell *cell = cell_of(t, subject, figure, "ps");
    if (!cell) return;
    *cell = (struct weft_report_cell){(double)time[0], NAN, (double)time[0], 1, NAN, NAN, "not calibrated"};
    if (!time[2]) return;
    cell->mean = ((double)time[1] + (double)time[2]) / 2;
    cell->half = (double)time[2] - cell->mean;
    cell->verdict = weft_arena_format(arena, "estimate %s, 90%%: %s to %s", time_text(time[0], arena),
                                      time_text(time[1], arena), time_text(time[2], arena));
}

static void add_estimate(struct estimates *t, const struct weft_estimate *e, struct weft_arena *arena) {
    add_time(t, "all work", "time until all is done", (const weft_time_ps[]){e->makespan_ps, e->low_ps, e->high_ps},
             arena);
    for (uint32_t i = 0; i < e->times; i++) {
        const struct weft_estimate_time *at = &e->time[i];
        const char *subject = weft_arena_format(arena, "%s %s", at->what, at->name);
        const char *figure = weft_arena_format(arena, "number %" PRIu64, at->number);
        add_time(t, subject, at->job == WEFT_NONE ? "slowest flow" : figure,
                 (const weft_time_ps[]){at->time_ps, at->low_ps, at->high_ps}, arena);
    }
    for (uint32_t i = 0; i < e->layers; i++) {
        struct weft_report_cell *cell =
            cell_of(t, weft_arena_format(arena, "links from %s to %s", e->layer[i].from, e->layer[i].to),
                    "part of the rate that is used, of the busiest", "");
        if (cell) *cell = (struct weft_report_cell){e->layer[i].max, NAN, e->layer[i].max, 1, NAN, NAN, NULL};
    }
}

static enum weft_status estimate_variant(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                         uint32_t variant, struct estimates *t, struct weft_error *ret_error) {
    WEFT_ENDS(weft_cli_simulation_deinit) struct weft_cli_simulation sim = {0};
    struct weft_estimate *e = NULL;
    const char *name = weft_scenario_variant_name(file, variant);
    enum weft_status status = weft_cli_simulation_init(&sim, file, variant, ret_error);
    if (!status)
        status = weft_estimate_run(sim.scenario, sim.topology, sim.workload, &(struct weft_estimate_options){0},
                                   o->arena, &e, ret_error);
    if (status == WEFT_ERROR_INPUT && weft_scenario_variants(file) > 1) { // other variants may have one
        t->answer[t->answers][0] = weft_arena_text(o->arena, name);
        t->answer[t->answers++][1] = weft_arena_text(o->arena, ret_error->text);
        *ret_error = (struct weft_error){0};
        return WEFT_OK;
    }
    if (status) return status;
    t->column[t->columns] = weft_arena_text(o->arena, *name ? name : e->scenario);
    add_estimate(t, e, o->arena);
    t->columns++;
    weft_estimate_free(e);
    return WEFT_OK;
}

static enum weft_status estimate_page(const struct weft_cli_options *o, struct weft_report_page **ret_page,
                                      struct weft_error *ret_error) {
    struct estimates *t = weft_arena_alloc(o->arena, 1, sizeof *t);
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < o->operands && !status; i++) {
        struct weft_scenario_file *file = NULL;
        status = weft_scenario_file_read(o->operand[i], o->setting, o->settings, &file, ret_error);
        for (uint32_t v = 0; !status && v < weft_scenario_variants(file) && t->columns + t->answers < COLUMNS_MAX; v++)
            status = estimate_variant(o, file, v, t, ret_error);
        weft_scenario_file_free(file);
    }
    if (status) return status;
    struct weft_report_cell *cell = weft_arena_alloc(o->arena, (size_t)t->rows * t->columns + 1, sizeof *cell);
    for (uint32_t r = 0; r < t->rows; r++)
        memcpy(&cell[r * t->columns], t->cell[r], t->columns * sizeof *cell);
    const struct weft_report_matrix matrix = {
        WEFT_REPORT_DOTS,
        "Estimates",
        "A bar is the 90% interval of an estimate, as it was measured against packets; without one the interval is not "
        "calibrated. Nothing was run.",
        "weft estimate, docs/estimate.md",
        t->columns,
        t->rows,
        t->column,
        t->row,
        cell,
        NULL};
    const struct weft_report_head head = {o->operand[0], "Estimated, not run", (const char *const *)t->answer,
                                          t->answers};
    *ret_page = weft_report_page_of(&head, &matrix, 1, asked.no_data);
    return WEFT_OK;
}

// --- the page -----------------------------------------------------------------------------------------------------

static enum weft_status report_folder(const struct weft_cli_options *o, struct weft_error *error) {
    const char *file = asked.out ? asked.out : "report.html";
    struct budget budget = {o, FLOWS, HOPS_MAX, MOVED_HOPS_MAX};
    if (asked.why && !weft_cli_number("--why", asked.why, 0, 1000, &budget.flows)) return WEFT_ERROR_INPUT;
    const struct weft_report_options options = {
        .no_data = asked.no_data, .explain = budget.flows ? explain_run : NULL, .context = &budget};
    struct weft_report_page *page = NULL;
    weft_cli_catch_interrupt();
    enum weft_status status = weft_report_page_check(error);
    if (!status) status = weft_cli_can_write_file("--out", file, o, error);
    if (!status && !asked.estimate && o->settings)
        status = WEFT_REFUSE(error, WEFT_NOWHERE, "--set is of scenarios; expected --estimate, or no --set");
    if (!status && asked.estimate)
        status = estimate_page(o, &page, error);
    else if (!status)
        status = weft_report_page_new((const char *const *)o->operand, o->operands, &options, &page, error);
    if (!status) status = weft_cli_replace_file(file, weft_report_page_write, page, error);
    if (!status) weft_cli_mention_file(file, o);
    return status;
}

int weft_cli_report(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, report_folder);
}
