// SPDX-License-Identifier: Apache-2.0
// Which local hop may follow which. Parity and sign: Garcia et al., "Efficient Routing Mechanisms for Dragonfly
// Networks", ICPP 2013; the Aquila paper says "similar to". A table is safe if its dependencies between the local links
// of a pod have no cycle (tests/unit/test_gnet_turns.c tries all 65536). "fogsim": strictRoute of rlm.cc in FOGSim.
#include "weft/gnet_routes.h"
#include "weft/param.h"

enum {
    OU = 1 << WEFT_GNET_ODD_UP,
    OD = 1 << WEFT_GNET_ODD_DOWN,
    EU = 1 << WEFT_GNET_EVEN_UP,
    ED = 1 << WEFT_GNET_EVEN_DOWN
};

const struct weft_gnet_turns weft_gnet_turns[WEFT_GNET_TURNS_KINDS] = {
    [WEFT_GNET_TURNS_WIDEST] = {"widest", {OU | OD | EU, OD, OU | OD | EU, OU | OD | EU | ED}},
    [WEFT_GNET_TURNS_FOGSIM] = {"fogsim", {OU | ED, OU | EU | ED, OU | EU | ED, ED}},
};

const char *const weft_gnet_mode_names[] = {
    "fully_adaptive", "minimal_adaptive", "deterministic", "minimal_deterministic", "ugal", NULL};

static const char *const turns_names[] = {"widest", "fogsim", NULL};

const struct weft_param_table weft_gnet_table =
    WEFT_PARAM_TABLE_OF("gnet", struct weft_gnet_conf, WEFT_PARAM_UNCHECKED,
                        WEFT_CHOICE(struct weft_gnet_conf, turns, "turns", "widest", turns_names,
                                    "which local hop may follow which in a pod, by parity and sign"),
                        WEFT_UINT(struct weft_gnet_conf, minimal_max, "minimal_candidates", "8", "1", "64",
                                  "minimal ports that a table entry has room for"),
                        WEFT_UINT(struct weft_gnet_conf, nonminimal_max, "nonminimal_candidates", "24", "0", "64",
                                  "non-minimal ports that a table entry has room for"));
