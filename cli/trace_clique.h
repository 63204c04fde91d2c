// SPDX-License-Identifier: Apache-2.0
// weft trace-control of a Clique of TiNs, its JSON and its CSV.
#ifndef WEFT_CLI_TRACE_CLIQUE_H
#define WEFT_CLI_TRACE_CLIQUE_H

#include <stdio.h>

#include "cli.h"
#include "weft/clique_trace.h"
#include "weft/scenario.h"

struct clique_view {
    const struct weft_scenario *scenario;
    const struct weft_topology *topology;
    const struct weft_clique_trace *trace;
};

void trace_clique_print(const struct clique_view *view);
void trace_clique_print_json(FILE *file, const struct clique_view *view);
/// Writes bootstrap.csv, timesync.csv and transitions.csv to `dir`, which is created if it does not exist.
enum weft_status trace_clique_write_csv(const char *dir, const struct clique_view *view,
                                        const struct weft_cli_options *o, struct weft_error *ret_error);

#endif
