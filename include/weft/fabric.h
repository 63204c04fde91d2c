// SPDX-License-Identifier: Apache-2.0
// Fabrics by what they are for: so many hosts at such a rate. A shape (a model of kind `fabric`: a Clos, a DSF, a
// Clique) is a solver: it says how many chips of which layer, how many links between two, or why it cannot be built.
// The section `fabric` of a scenario names a shape; the solver then writes the topology and the buffers of the
// switches, over which what the file itself says holds. A blueprint is a scenario with such a section and no workload.
#pragma once

#include "weft/model.h"

/// Something that is bought, and what one takes. 0: not known, and not in the sum.
struct weft_fabric_part {
    const char *class_name; ///< of hardware, which has what the blueprint does not say of the part; "": none
    const char *name;
    weft_rate_bps rate_bps;  ///< of a chip: of all its ports together; of an optical module or NIC: its own
    weft_bytes buffer_bytes; ///< packet memory of a chip
    bool partitioned;        ///< this memory is divided among ports for good
    double watts, price;
    const char *source;
};
/// Its watts are known, and its source says that they are assumed.
bool weft_fabric_part_assumes_watts(const struct weft_fabric_part *part);
extern const struct weft_param_table weft_fabric_part_table;

/// What every shape takes; the configuration of each begins with it.
struct weft_blueprint_conf {
    uint64_t hosts, radix, per_leaf, spines_min, queue_pairs;
    weft_rate_bps rate_bps;
    double oversubscription;
    double host_m, leaf_m, spine_m, copper_m; ///< lengths of cables
    weft_time_ps phy_ps;
    uint32_t chips; ///< whether switches and NICs are as the classes of their parts
    struct weft_fabric_part leaf, spine, core, edge, optic, nic;
    const char *source;
};

enum { WEFT_FABRIC_LAYERS_MAX = 6, WEFT_FABRIC_CABLES_MAX = 8, WEFT_FABRIC_ITEMS_MAX = WEFT_FABRIC_LAYERS_MAX + 2 };

/// Chips alike.
struct weft_fabric_layer {
    const char *name; ///< of the nodes: "leaf"
    const struct weft_fabric_part *part;
    uint64_t chips, ports;     ///< ports: in use, of a chip
    uint64_t ports_max;        ///< that a chip has; 0: no limit
    weft_rate_bps rate_bps;    ///< of a port; where they differ, of most
    weft_bytes headroom_bytes; ///< for PFC, of a port; 0: none
};

/// Links alike.
struct weft_fabric_cable {
    const char *name; ///< "host to leaf"
    uint64_t links;
    uint32_t chip_ends; ///< of a link, that are ports of chips: 1 to hosts, else 2
    weft_rate_bps rate_bps;
    double metres;
    bool optical;
};

/// What the solver says.
/// A part with its figures in proportion to another rate.
struct weft_fabric_multiplied {
    const struct weft_fabric_part *of;
    struct weft_fabric_part part;
    char name[112], source[448];
};

struct weft_fabric_plan {
    const struct weft_blueprint_conf *conf;
    struct weft_fabric_multiplied part[WEFT_FABRIC_LAYERS_MAX];
    uint32_t multiplied;
    char reason[256]; ///< why it cannot be built; "": it can
    uint32_t layers, cables;
    struct weft_fabric_layer layer[WEFT_FABRIC_LAYERS_MAX]; ///< lowest first
    struct weft_fabric_cable cable[WEFT_FABRIC_CABLES_MAX];
    uint64_t host_ports;      ///< there are; those beyond conf->hosts are spare
    uint32_t planes;          ///< equal networks, with a port of each host in each; 0: one
    uint64_t inner_links;     ///< of servers or chips, which the topology has and the bill has not
    uint32_t links, switches; ///< of the longest shortest way between two hosts
    weft_time_ps way_ps;      ///< delays of its links, one way
    char topology[1024];      ///< section `topology`, as YAML on one line
};

struct weft_fabric_ops {
    void (*solve)(const void *conf, struct weft_fabric_plan *plan); ///< required
};

/// Sums over all parts.
struct weft_fabric_bill {
    uint64_t chips, ports; ///< ports of chips in use
    double port_tbps;      ///< their rates
    double optics;         ///< modules
    double fibre_m, copper_m;
    double buffer_bytes;
    double watts, price; ///< price: NAN if it is not known
    bool priced;         ///< every part that is used has a price
};

/// What is bought: chips of a layer, NICs, optical modules.
struct weft_fabric_item {
    const struct weft_fabric_part *part;
    double n;
};

struct weft_fabric_plan *weft_fabric_plan_new(const struct weft_model_conf *fabric, struct weft_arena *arena);
/// How many there are; `ret`: [WEFT_FABRIC_ITEMS_MAX].
uint32_t weft_fabric_items(const struct weft_fabric_plan *plan, struct weft_fabric_item *ret);
struct weft_fabric_bill weft_fabric_bill(const struct weft_fabric_plan *plan);
#define WEFT__BILL(field, kind, ...) WEFT_RESULT(struct weft_fabric_bill, field, kind, __VA_ARGS__)
/// Columns of tables whose rows are bills (weft/result.h).
#define WEFT_FABRIC_BILL_COLUMNS                                                                                       \
    WEFT__BILL(chips, COUNT, "switch chips"), WEFT__BILL(ports, COUNT, "ports of chips in use"),                       \
        WEFT__BILL(port_tbps, REAL, "rate of all ports in use", .unit = "Tbit/s"),                                     \
        WEFT__BILL(optics, REAL, "optical modules"), WEFT__BILL(fibre_m, REAL, "length of fibre", .unit = "m"),        \
        WEFT__BILL(copper_m, REAL, "length of copper cables", .unit = "m"),                                            \
        WEFT__BILL(buffer_bytes, REAL, "packet memory of all chips", .unit = "bytes"),                                 \
        WEFT__BILL(watts, REAL, "power of all parts", .unit = "W"),                                                    \
        WEFT__BILL(price, REAL, "price of all parts; none: some part has no price")
/// The section `fabric` of a scenario's tree; *ret_fabric has no model if there is none.
enum weft_status weft_fabric_load(const struct weft_tree *root, struct weft_arena *arena,
                                  struct weft_model_conf *ret_fabric, struct weft_error *ret_error);
/// The scenario with what the solver says below what it says itself. An error if the fabric cannot be built.
enum weft_status weft_fabric_expand(const struct weft_tree *root, const struct weft_model_conf *fabric,
                                    struct weft_arena *arena, const struct weft_tree **ret_root,
                                    struct weft_error *ret_error);

/// A blueprint that comes with weft.
struct weft_blueprint {
    const char *name, *text; ///< "roce-ecmp", and what fabrics/roce-ecmp.yaml says
    size_t size;
};
uint32_t weft_blueprint_count(void);
const struct weft_blueprint *weft_blueprint_at(uint32_t i);
const struct weft_blueprint *weft_blueprint_find(const char *name); ///< NULL: there is none
