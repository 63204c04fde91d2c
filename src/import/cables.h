// SPDX-License-Identifier: Apache-2.0
// Cables between ports of devices, as lists of cables and neighbours heard by LLDP name them, and the network they
// make.
#ifndef WEFT_IMPORT_CABLES_H
#define WEFT_IMPORT_CABLES_H

#include "import/file_graph.h"

enum weft__cable_role { WEFT__CABLE_UNKNOWN, WEFT__CABLE_HOST, WEFT__CABLE_SWITCH };

struct weft__cable {
    const char *device[2];
    const char *port[2];    ///< NULL: not given
    weft_rate_bps rate_bps; ///< 0: not given
    weft_time_ps delay_ps;  ///< 0: not given
    struct weft_place place;
    bool heard; ///< announced by device[0]'s neighbour: device[1] may have heard the same cable too
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
    const char *ignored; ///< unknown columns, or ""
};

struct weft__cables_conf {
    const char *hosts;      ///< names of devices that are hosts, with patterns; "": according to the files, or to
                            ///< cables
    const char *ignore;     ///< ports whose cables are omitted, with patterns
    uint32_t speed_unit;    ///< for speeds without a unit, index into weft__cables_units
    weft_time_ps metre_ps;  ///< delay per metre
    weft_rate_bps rate_bps; ///< of a cable without a speed
    weft_time_ps delay_ps;  ///< of a cable without a length
    bool planes;            ///< a host with several cables is one host in as many networks
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
    uint32_t unrated, undelayed; ///< cables without a speed, without a length
    uint32_t unnamed, renamed;   ///< ports and nodes whose names are not valid in weft
};

void weft__cables_add(struct weft__cable_list *list, const struct weft__cable *cable);
void weft__cables_tell(struct weft__cable_list *list, const char *device, enum weft__cable_role role);
/// Determines which cables are the same, what devices are, and the network that they form.
enum weft_status weft__cables_finish(const struct weft__cable_list *list, const struct weft__cables_conf *conf,
                                     struct weft__cables *ret_cables, struct weft_error *ret_error);

/// Adds the content of a file: a table (import/cables_table.c), LLDP neighbours in lldpctl's JSON
/// (import/cables_lldp.c), or the neighbours of a SONiC switch. If a file does not name its device, that is the name of
/// the file: leaf-1.json.
enum weft_status weft__cables_read(const char *path, struct weft_place place, const struct weft__cables_conf *conf,
                                   struct weft__cable_list *list, struct weft_error *ret_error);
enum weft_status weft__cables_read_table(const char *path, const char *device, const struct weft__cables_conf *conf,
                                         struct weft__cable_list *list, struct weft_error *ret_error);
struct weft_tree;
enum weft_status weft__cables_read_lldp(const struct weft_tree *root, const char *device, struct weft__cable_list *list,
                                        struct weft_error *ret_error);
/// The cables of a SONiC switch, which is called `device` if it has no name.
struct weft_sonic;
void weft__cables_add_sonic(const struct weft_sonic *s, const char *device, weft_time_ps metre_ps,
                            struct weft_place place, struct weft__cable_list *list);
/// Whether the header of a table names both ends of cables, or only their far ends.
bool weft__cables_is_table(const char *head);

#endif
