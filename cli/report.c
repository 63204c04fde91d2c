// SPDX-License-Identifier: Apache-2.0
// weft report: results as one HTML file.

#include <inttypes.h>
#include <stdio.h>

#include "why.h"

enum { FLOWS = 3, HOPS_MAX = 2000000 };

static struct {
    const char *out, *why;
    bool no_data;
} asked;
static const struct weft_cli_option own[] = {
    {"out", "FILE", "the file to write (default: report.html)", &asked.out, NULL},
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
    .operands = "DIR...",
    .about =
        "Makes one HTML file from the results in folders written by --out: the answer in one sentence per run,\n"
        "completion times, queues and rates over time, which port paused which, links, jobs, where the time of slow\n"
        "flows went, and every parameter in force. The file is self-contained and can be sent and opened anywhere.\n"
        "Runs of several variants or folders are shown side by side. Samples over time need run.sample_interval.",
    .accept = WEFT_CLI_QUIET | WEFT_CLI_THREADS | WEFT_CLI_REPLACE,
    .operands_min = 1,
    .operands_max = 64,
    .option = own,
};

/// How many flows and packet hops may still be run again.
struct budget {
    const struct weft_cli_options *o;
    uint64_t flows, hops;
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
    if (!status) weft_report_motion(j, &why.run, arena);
    weft_scenario_file_free(file);
    return status;
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
        return WEFT_OK;
    }
    b->hops -= run->packet_hops < b->hops ? run->packet_hops : b->hops;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    enum weft_status status = explain_stored(b, run, arena, j, ret_error);
    if (!status || asked.why || status == WEFT_INTERRUPTED) return status;
    weft__json_key_string(j, "note", weft_arena_format(b->o->arena, "Not explained: %s", ret_error->text));
    *ret_error = (struct weft_error){0};
    return WEFT_OK;
}

static enum weft_status report_folder(const struct weft_cli_options *o, struct weft_error *error) {
    const char *file = asked.out ? asked.out : "report.html";
    struct budget budget = {o, FLOWS, HOPS_MAX};
    if (asked.why && !weft_cli_number("--why", asked.why, 0, 1000, &budget.flows)) return WEFT_ERROR_INPUT;
    const struct weft_report_options options = {
        .no_data = asked.no_data, .explain = budget.flows ? explain_run : NULL, .context = &budget};
    struct weft_report_page *page = NULL;
    weft_cli_catch_interrupt();
    enum weft_status status = weft_report_page_check(error);
    if (!status) status = weft_cli_can_write_file("--out", file, o, error);
    if (!status) status = weft_report_page_new((const char *const *)o->operand, o->operands, &options, &page, error);
    if (!status) status = weft_cli_replace_file(file, weft_report_page_write, page, error);
    if (!status) weft_cli_mention_file(file, o);
    return status;
}

int weft_cli_report(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, report_folder);
}
