// SPDX-License-Identifier: Apache-2.0
// What the shapes share.
#pragma once

#include "weft/fabric.h"

// The rows of struct weft_blueprint_conf, which come first in each shape's table.
#define WEFT_FABRIC_ROWS(T)                                                                                            \
    WEFT_UINT(T, common.hosts, "hosts", "256", "2", "1048576", "hosts, each with one NIC port"),                       \
        WEFT_RATE(T, common.rate_bps, "rate", "400Gbps", "10Mbps", "100Tbps", "rate of a host's link"),                \
        WEFT_REAL(T, common.oversubscription, "oversubscription", "1", "0.1", "64",                                    \
                  "largest ratio of a leaf's host links to its uplinks, by rate; below 1: more up than down"),         \
        WEFT_UINT(T, common.radix, "radix", "0", "0", "4096",                                                          \
                  "ports of a switch chip at the rate of hosts; 0: the chip's rate divided by it"),                    \
        WEFT_UINT(T, common.per_leaf, "per_leaf", "0", "0", "4096",                                                    \
                  "most hosts per leaf; 0: as many as its ports take"),                                                \
        WEFT_UINT(T, common.spines_min, "spines_min", "2", "1", "4096",                                                \
                  "least number of chips in a layer above, so that losing one does not lose all (assumed)"),           \
        WEFT_UINT(T, common.queue_pairs, "queue_pairs", "1", "1", "32",                                                \
                  "queue pairs per connection unless the workload sets them, as in the collective library of such a "  \
                  "fabric"),                                                                                           \
        WEFT_REAL(T, common.host_m, "host_cable", "2", "0", "100000", "metres from a host to its switch (assumed)"),   \
        WEFT_REAL(T, common.leaf_m, "leaf_cable", "50", "0", "100000",                                                 \
                  "metres from a leaf to the layer above (assumed)"),                                                  \
        WEFT_REAL(T, common.spine_m, "spine_cable", "200", "0", "100000", "metres of cables above that (assumed)"),    \
        WEFT_REAL(T, common.copper_m, "copper", "3", "0", "100000",                                                    \
                  "metres up to which a cable is copper, without optical modules (assumed)"),                          \
        WEFT_TIME(T, common.phy_ps, "phy", "100ns", "0ns", "1ms",                                                      \
                  "delay of a link beyond 5 ns per metre: PHYs and FEC (assumed)"),                                    \
        WEFT_CHOICE(T, common.chips, "chips", "ideal", weft__fabric_chips,                                             \
                    "switches and NICs have the defaults of their sections, or the values of the classes of their "    \
                    "parts"),                                                                                          \
        WEFT_SECTION(T, common.leaf, "leaf", &weft_fabric_part_table, "the chip next to hosts"),                       \
        WEFT_SECTION(T, common.spine, "spine", &weft_fabric_part_table,                                                \
                     "the chip above; without a rate: the same as the leaf"),                                          \
        WEFT_SECTION(T, common.core, "core", &weft_fabric_part_table,                                                  \
                     "the chip above that; without a rate: the same as the spine"),                                    \
        WEFT_SECTION(T, common.edge, "edge", &weft_fabric_part_table, "the chip that connects a building to others"),  \
        WEFT_SECTION(T, common.optic, "optic", &weft_fabric_part_table, "an optical module"),                          \
        WEFT_SECTION(T, common.nic, "nic", &weft_fabric_part_table, "the NIC of a host"),                              \
        WEFT_PROSE(T, common.source, "source", "", "source of this fabric's settings")

enum { WEFT__CHIPS_IDEAL, WEFT__CHIPS_LISTED };
extern const char *const weft__fabric_chips[]; ///< their names

/// Keys without rows, which the expansion reads itself.
extern const char *const weft__fabric_lists[];

/// The files of fabrics/, converted to a source file when weft is built.
extern const struct weft_blueprint weft__blueprints[];
extern const uint32_t weft__blueprints_n;

static inline uint64_t weft__up(uint64_t a, uint64_t b) {
    return (a + b - 1) / b;
}
/// The uplinks for `n` downlinks at oversubscription o, at least one.
uint64_t weft__fabric_up_links(uint64_t n, double oversubscription);
/// The most downlinks of a leaf, at most `most`, that leave enough ports for the uplinks; 0: there are none, and the
/// plan says so.
uint64_t weft__fabric_down_links(const struct weft_blueprint_conf *c, uint64_t radix, uint64_t most,
                                 struct weft_fabric_plan *plan);
/// `own` if it has a rate, else `other`.
const struct weft_fabric_part *weft__fabric_part(const struct weft_fabric_part *own,
                                                 const struct weft_fabric_part *other);
/// Ports of a chip at the hosts' rate; UINT32_MAX: unlimited.
uint64_t weft__fabric_radix(const struct weft_blueprint_conf *c, const struct weft_fabric_part *part);
/// The part as it is billed, and as switches have its memory: with a radix, a chip of so many ports at the hosts' rate,
/// with watts, memory and price in proportion.
const struct weft_fabric_part *weft__fabric_chip(struct weft_fabric_plan *plan, const struct weft_fabric_part *part);
/// The part with rate, watts, memory and price times a factor; such a chip need not exist.
const struct weft_fabric_part *weft__fabric_multiplied(struct weft_fabric_plan *plan,
                                                       const struct weft_fabric_part *part, double factor);
weft_time_ps weft__fabric_delay(const struct weft_blueprint_conf *c, double metres);

/// The solution of shape clos; shape planes has one for each plane.
void weft__clos_solve(const struct weft_blueprint_conf *c, uint64_t layers_max, struct weft_fabric_plan *plan);

/// Records why it cannot be built.
void weft__fabric_fail(struct weft_fabric_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
void weft__fabric_say(struct weft_fabric_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct weft_fabric_layer *weft__fabric_layer(struct weft_fabric_plan *plan, const char *name,
                                             const struct weft_fabric_part *part, uint64_t chips, uint64_t ports,
                                             uint64_t ports_max, weft_rate_bps rate);
void weft__fabric_cable(struct weft_fabric_plan *plan, const char *name, uint64_t links, uint32_t chip_ends,
                        weft_rate_bps rate, double metres);
/// The fewest switches above, each with `*ret_parallel` links to each of `below`, so that each of these has `up`
/// uplinks: at least `least`, with at most `radix` ports. 0: there is no solution.
uint64_t weft__fabric_above(uint64_t below, uint64_t up, uint64_t up_max, uint64_t radix, uint64_t least,
                            uint64_t *ret_parallel);
