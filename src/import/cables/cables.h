// SPDX-License-Identifier: Apache-2.0
// Cables between ports of devices, as lists of cables and neighbours heard by LLDP name them, and the network they
// make.
#pragma once

#include "import/file_graph.h"

enum weft__cable_role { WEFT__CABLE_UNKNOWN, WEFT__CABLE_HOST, WEFT__CABLE_SWITCH };

struct weft__cable {
    const char *device[2];
    const char *port[2];    ///< NULL: not given
    weft_rate_bps rate_bps; ///< 0: not given
    weft_time_ps delay_ps;  ///< 0: not given
    struct weft_place place;
    const char *chassis; ///< what others may call device[0], which is an ASIC of it; NULL: they do not
    bool heard;          ///< announced by device[0]'s neighbour: device[1] may have heard the same cable too
};

/// What a file says about a device.
struct weft__cable_fact {
    const char *device;
    enum weft__cable_role role;
};

struct weft__cable_list {
    struct weft_arena *arena;
    struct weft__cable *cable;
    struct weft__cable_fact *fact;
    uint32_t cables, facts;
    uint32_t outside;      ///< cables left out: planned, or to something that is not a port of a device
    const char *core;      ///< a switch that joins trees of such files, which have none above; NULL: none
    const char *next_page; ///< of NetBox's API, which a file is a page of; NULL: none
    uint32_t shapes;       ///< files that give the shape of a network, not its cables (Slurm)
    const char *ignored;   ///< unknown columns, or ""
    const char *inventory; ///< columns that say nothing of the network, or ""
    const char *unread;    ///< types of interfaces that do not say a speed (NetBox); NULL: none
    const char *others;    ///< networks of a file beside the one that is taken; NULL: none
    uint32_t lanes;        ///< interfaces of InfiniBand that do not say how many lanes they have
};

struct weft__cables_conf {
    const char *hosts;       ///< names of devices that are hosts, with patterns; "": according to the files, or to
                             ///< cables
    const char *ignore;      ///< ports whose cables are omitted, with patterns
    double oversubscription; ///< of switches whose cables upwards are not counted
    uint32_t speed_unit;     ///< for speeds without a unit, index into weft__cables_units
    weft_time_ps metre_ps;   ///< delay per metre
    weft_rate_bps rate_bps;  ///< of a cable without a speed
    weft_time_ps delay_ps;   ///< of a cable without a length
    bool planes;             ///< a host with several cables is one host in as many networks
};
extern const char *const weft__cables_units[];

struct weft__cables {
    struct weft__file_graph graph;
    uint32_t devices;
    uint32_t twice;              ///< cables that both ends have heard
    uint32_t by_order;           ///< of these, paired by their order, because the ends use different names for the
                                 ///< ports
    uint32_t guessed;            ///< devices whose role follows from their number of cables
    uint32_t split;              ///< hosts with several cables: each cable gets a host of its own
    uint32_t left_out;           ///< cables at ignored ports
    uint32_t management;         ///< cables at ports of management, without 'ignore'
    uint32_t unrated, undelayed; ///< cables without a speed, without a length
    uint32_t unnamed, renamed;   ///< ports and nodes whose names are not valid in weft
};

void weft__cables_add(struct weft__cable_list *list, const struct weft__cable *cable);
void weft__cables_tell(struct weft__cable_list *list, const char *device, enum weft__cable_role role);
/// Determines which cables are the same, what devices are, and the network that they form.
enum weft_status weft__cables_finish(const struct weft__cable_list *list, const struct weft__cables_conf *conf,
                                     struct weft__cables *ret_cables, struct weft_error *ret_error);

struct weft__cables_file {
    const char *path,
        *device;             ///< device: whose neighbours they are if the file does not say so: "leaf-1" of leaf-1.json
    struct weft_place place; ///< of the scenario's text that names the file
    const struct weft__cables_conf *conf;
};

/// A format of cable lists, recognised by a file's first bytes. The first format that recognises a file reads it.
struct weft__cables_form {
    const char *name;
    bool (*recognise)(const char *head);
    enum weft_status (*read)(const struct weft__cables_file *file, struct weft__cable_list *list,
                             struct weft_error *ret_error);
};
/// NULL: no form of cables.
const struct weft__cables_form *weft__cables_form(const char *head);

/// "NDR", in any case: the rate of data of a lane of InfiniBand; 0: it is none.
weft_rate_bps weft__cables_lane_rate(const char *name, size_t length);
/// Adds a name to a list such as `unread`, once.
void weft__cables_name(struct weft__cable_list *list, const char **names, const char *name);
/// The delay of a cable of that length, whose unit is `unit` unless the text has one.
enum weft_status weft__cables_delay(const char *length, const char *unit, struct weft_place place,
                                    const struct weft__cables_conf *conf, weft_time_ps *ret_delay_ps,
                                    struct weft_error *ret_error);

bool weft__cables_is_table(const char *head);         // a line per cable, with a header: cables_table.c
bool weft__cables_is_columns(const char *head);       // columns aligned by blanks, as "show lldp table" prints them
bool weft__cables_is_ibnetdiscover(const char *head); // cables_ibnet.c
bool weft__cables_is_slurm(const char *head);         // topology.conf: cables_slurm.c
bool weft__cables_is_slurm_yaml(const char *head);
bool weft__cables_is_dot(const char *head);     // Graphviz: cables_dot.c
bool weft__cables_is_lab(const char *head);     // containerlab: cables_lab.c
bool weft__cables_is_lldpctl(const char *head); // lldpctl's text: cables_lldp.c
#define WEFT__CABLES_READ(name)                                                                                        \
    enum weft_status weft__cables_read_##name(const struct weft__cables_file *file, struct weft__cable_list *list,     \
                                              struct weft_error *ret_error)
WEFT__CABLES_READ(table);
WEFT__CABLES_READ(columns);
WEFT__CABLES_READ(ibnetdiscover);
WEFT__CABLES_READ(slurm);
WEFT__CABLES_READ(slurm_yaml);
WEFT__CABLES_READ(dot);
WEFT__CABLES_READ(lab);
WEFT__CABLES_READ(lldpctl);

struct weft_tree;
/// Neighbours in lldpctl's JSON: cables_lldp.c.
enum weft_status weft__cables_read_lldp(const struct weft_tree *root, const char *device, struct weft__cable_list *list,
                                        struct weft_error *ret_error);
/// JSON of Arista's switches or of NetBox: cables_json.c. False: it is neither.
bool weft__cables_read_json(const struct weft_tree *root, const struct weft__cables_file *file,
                            struct weft__cable_list *list, enum weft_status *ret_status, struct weft_error *ret_error);
/// The cables of a SONiC switch, which is called `device` if it has no name.
struct weft_sonic;
void weft__cables_add_sonic(const struct weft_sonic *s, const char *device, weft_time_ps metre_ps,
                            struct weft_place place, struct weft__cable_list *list);
