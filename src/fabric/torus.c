// SPDX-License-Identifier: Apache-2.0
// A torus of chips, each a host with a router of its own, so no switch is bought. The solver takes the most compact
// torus with a chip for each host (twisted if asked for and possible); from 64 chips on its blocks of 4 x 4 x 4 are
// joined by optical circuit switches, as in TPU v4: 96 fibres a block, 48 switches of 136 ports, 8 of them spare, for
// every 64 blocks; links within a block are copper. The bill has these and modules, no chips. What a chip has at its
// links together is the rate of a host.
#include <math.h>

#include "fabric/fabric.h"
#include "topology/torus.h"
#include "weft/param.h"

#define LLU(x) (unsigned long long)(x)

struct conf {
    struct weft_blueprint_conf common;
    uint64_t dimensions;
    bool twist;
};
static const struct weft_param_table table =
    WEFT_PARAM_TABLE_OF("torus", struct conf, .lists = weft__fabric_lists, WEFT_FABRIC_ROWS(struct conf),
                        WEFT_UINT(struct conf, dimensions, "dimensions", "3", "2", "3", "of the torus"),
                        WEFT_BOOL(struct conf, twist, "twist", "off", "a twisted torus, n x n x 2n or n x 2n x 2n"));

enum { BLOCK = 4, OCS_BLOCKS = 64, OCS_OF_A_GROUP = 48, OCS_PORTS = 136 };

/// The smallest torus that suffices; of several, that with the shortest sides; each at most twice the one before.
static uint64_t find_size(const struct conf *own, uint64_t size[3]) {
    uint64_t hosts = own->common.hosts, best = UINT64_MAX, d = own->dimensions,
             step = hosts >= 64 && d == 3 ? BLOCK : 1;
    uint64_t first = d == 2 ? 1 : step > 2 ? step : 2, root = (uint64_t)ceil(cbrt((double)hosts)) + step;
    for (uint64_t x = own->twist ? (step > 3 ? step : 3) : first; x <= (d == 2 ? 1 : root); x += step)
        for (uint64_t y = d == 2 ? 2 : x; y <= (d == 2 ? (uint64_t)ceil(sqrt((double)hosts)) + 1 : 2 * x); y += step) {
            uint64_t z = weft__up(weft__up(hosts, x * y), step) * step;
            if (z < y) z = y;
            if (own->twist) z = 2 * x;
            if (own->twist && (y != x && y != 2 * x)) continue;
            if (z > 2 * y || x * y * z < hosts || x * y * z > best) continue;
            if (x * y * z == best && z >= size[2]) continue;
            best = x * y * z;
            size[0] = x, size[1] = y, size[2] = z;
        }
    return best == UINT64_MAX ? 0 : best;
}

static void torus_solve(const void *conf, struct weft_fabric_plan *plan) {
    const struct conf *own = conf;
    const struct weft_blueprint_conf *c = &own->common;
    uint64_t size[3] = {0}, chips = own->twist && own->dimensions == 2 ? 0 : find_size(own, size);
    if (!chips || chips > 65535) {
        weft__fabric_fail(plan,
                          chips ? "a torus ends at 65535 chips" : "there is no such torus; expected 3 dimensions");
        return;
    }
    uint32_t d = (uint32_t)own->dimensions;
    weft_rate_bps link = c->rate_bps / (2 * d);
    uint64_t blocks = d == 3 && chips >= 64 ? chips / (BLOCK * BLOCK * BLOCK) : 0, fibres = 96 * blocks;
    uint64_t ocs = weft__up(blocks, OCS_BLOCKS) * OCS_OF_A_GROUP;
    weft_time_ps hop = weft__fabric_delay(c, c->host_m), far = weft__fabric_delay(c, 2 * c->leaf_m);
    plan->host_ports = plan->inner_links = chips;
    weft__fabric_cable(plan, "chip to chip", d * chips - fibres / 2, 0, link, c->host_m);
    if (blocks) {
        weft__fabric_layer(plan, "circuit switch", &c->spine, ocs, weft__up(fibres, ocs), OCS_PORTS, link);
        weft__fabric_cable(plan, "block to block", fibres / 2, 0, link, 2 * c->leaf_m);
    }
    plan->links = 2;
    for (uint32_t i = 0; i < 3; i++)
        plan->links += (uint32_t)size[i] / 2;
    plan->switches = plan->links - 1;
    plan->way_ps = plan->links * (blocks ? far : hop);
    weft__fabric_say(plan, "{kind: torus, size: ");
    for (uint32_t i = 3 - d; i < 3; i++)
        weft__fabric_say(plan, i > 3 - d ? "x%llu" : "%llu", LLU(size[i]));
    weft__fabric_say(plan, ", twist: %s, rate: %llubps, host_rate: %llubps, delay: %llups, host_delay: %llups}",
                     own->twist ? "on" : "off", LLU(link), LLU(c->rate_bps), LLU(blocks ? far : hop), LLU(hop));
}

const struct weft_model weft__fabric_torus =
    WEFT_MODEL_OF(FABRIC, "torus", "a torus of chips with routers, joined by optical circuit switches from 64 chips on",
                  "Jouppi et al., TPU v4, ISCA 2023", &table, &(const struct weft_fabric_ops){.solve = torus_solve});
