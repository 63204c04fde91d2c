// SPDX-License-Identifier: Apache-2.0
// weft report: results as one HTML file.
#include <stdio.h>

#include "simulation.h"

static struct {
    const char *out;
    bool no_data;
} asked;
static const struct weft_cli_option own[] = {
    {"out", "FILE", "the file to write (default: report.html)", &asked.out, NULL},
    {"no-data", NULL, "pictures without links to the numbers behind them", NULL, &asked.no_data},
    {0},
};
static const struct weft_cli_command command = {
    .name = "report",
    .operands = "DIR...",
    .about =
        "Makes one HTML file of the results that --out has written to folders: the answer in a sentence a run,\n"
        "completion times, queues and rates over time, who paused whom, links, jobs, and every parameter in\n"
        "force. It can be sent and opened anywhere: it loads nothing. The runs of several variants or folders are\n"
        "shown side by side. Samples over time are there if the run had run.sample_interval.",
    .accept = WEFT_CLI_QUIET,
    .operands_min = 1,
    .operands_max = 64,
    .option = own,
};

static enum weft_status report(const struct weft_cli_options *o, struct weft_error *error) {
    const char *file = asked.out ? asked.out : "report.html";
    struct weft_report_page *page = NULL;
    enum weft_status status = weft_cli_can_replace_file("--out", file, error);
    if (!status)
        status = weft_report_page_new((const char *const *)o->operand, o->operands, asked.no_data, &page, error);
    if (!status) status = weft_cli_replace_file(file, weft_report_page_write, page, error);
    weft_report_page_free(page);
    if (!status && !o->quiet) fprintf(stderr, "weft: wrote %s\n", file);
    return status;
}

int weft_cli_report(int argc, char **argv) {
    struct weft_cli_options o;
    struct weft_error error = {0};
    int exit_status = weft_cli_parse(&command, argc, argv, &o);
    if (exit_status == WEFT_CLI_GO) {
        exit_status = (int)report(&o, &error);
        if (error.status) weft_cli_fail(&error);
    }
    weft_cli_options_deinit(&o);
    return exit_status;
}
