// SPDX-License-Identifier: Apache-2.0
// weft check --memory: what a run will need.
#ifndef WEFT_CLI_CHECK_MEMORY_H
#define WEFT_CLI_CHECK_MEMORY_H

#include "cli.h"
#include "simulation.h"

struct weft_cli_estimate {
    bool known;            ///< false: there was not enough memory to try it
    bool tried;            ///< by a trial run; false: computed from the number of connections
    bool ended;            ///< the trial was the whole run: the figures are exact
    bool cells;            ///< hops are of cells
    double part;           ///< share of the payload that the trial delivered
    double peak_rss_bytes; ///< of `weft run`, without --out
    double hops, cpu_s;    ///< of the whole run; NAN: not known
    double hops_per_cpu_s; ///< the rate on which cpu_s is based; NAN: not known
};
/// Call it before anything of the variant is built: the trial process starts with a copy of this one. If the scenario
/// is wrong, nothing is known.
enum weft_status weft_cli_estimate(const struct weft_cli_options *o, const struct weft_scenario_file *file,
                                   uint32_t variant, struct weft_cli_estimate *ret, struct weft_error *ret_error);

#endif
