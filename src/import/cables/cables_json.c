// SPDX-License-Identifier: Apache-2.0
// Cables in JSON of other programs: neighbours of an Arista switch ("show lldp neighbors | json", and "detail"), and
// cables and interfaces of NetBox (api/dcim/cables, api/dcim/interfaces, and cable_list and interface_list of GraphQL).
// Sources: Arista EOS command API; NetBox REST and GraphQL API 2.10 to 4.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/tree.h"
#include "base/units.h"
#include "import/cables/cables.h"
#include "weft/tree.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

// --- Arista EOS ---------------------------------------------------------------------------------------------------

static enum weft_status add_neighbor(const struct weft_tree *tree, const char *device, const char *port,
                                     const char *neighbor, const char *neighbor_port, struct weft__cable_list *list,
                                     struct weft_error *ret_error) {
    if (!port || !neighbor) return BAD(tree->place, "a neighbour without its port or its name");
    struct weft__cable c = {
        .device = {device, neighbor}, .port = {port, neighbor_port}, .place = tree->place, .heard = true};
    weft__cables_add(list, &c);
    return WEFT_OK;
}

/// Of "detail", which quotes the port once more: "\"Ethernet3\"".
static enum weft_status add_details(const struct weft_tree *port, const char *device, struct weft__cable_list *list,
                                    struct weft_error *ret_error) {
    const struct weft_tree *info = weft_tree_find(port, "lldpNeighborInfo");
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; info && i < info->n && !status; i++) {
        const struct weft_tree *one = info->child[i], *can = weft_tree_find(one, "systemCapabilities");
        const struct weft_tree *interface = weft_tree_find(one, "neighborInterfaceInfo");
        const char *id = weft__tree_text(interface, "interfaceId_v2"), *name = weft__tree_text(one, "systemName");
        const char *forwards[] = {weft__tree_text(can, "bridge"), weft__tree_text(can, "router")},
                   *station = weft__tree_text(can, "stationOnly");
        if (!id) id = weft__tree_text(interface, "interfaceId");
        size_t n = id ? strlen(id) : 0;
        if (n > 1 && *id == '"' && id[n - 1] == '"') id = weft_arena_format(list->arena, "%.*s", (int)n - 2, id + 1);
        if (!name) name = weft__tree_text(one, "chassisId");
        status = add_neighbor(one, device, port->key, name, id, list, ret_error);
        bool is_switch = false;
        for (unsigned k = 0; k < 2; k++)
            is_switch |= forwards[k] && !strcasecmp(forwards[k], "true");
        if (!status && (is_switch || (station && !strcasecmp(station, "true"))))
            weft__cables_tell(list, name, is_switch ? WEFT__CABLE_SWITCH : WEFT__CABLE_HOST);
    }
    return status;
}

static enum weft_status read_eos(const struct weft_tree *neighbors, const char *device, struct weft__cable_list *list,
                                 struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < neighbors->n && !status; i++) {
        const struct weft_tree *one = neighbors->child[i];
        status = neighbors->type == WEFT_TREE_MAP
                     ? add_details(one, device, list, ret_error)
                     : add_neighbor(one, device, weft__tree_text(one, "port"), weft__tree_text(one, "neighborDevice"),
                                    weft__tree_text(one, "neighborPort"), list, ret_error);
    }
    weft__cables_tell(list, device, WEFT__CABLE_SWITCH);
    return status;
}

// --- NetBox -------------------------------------------------------------------------------------------------------

/// How many terminations an end has: a list since 3.3, one before; several are a trunk or a breakout.
static uint32_t netbox_ends(const struct weft_tree *cable, bool b) {
    const struct weft_tree *list = weft_tree_find(cable, b ? "b_terminations" : "a_terminations");
    return !list ? 1 : list->type == WEFT_TREE_LIST ? list->n : 0;
}

/// The k-th termination of one end, which must be an interface: consoles, power and panels are no links; else NULL.
static const struct weft_tree *netbox_end(const struct weft_tree *cable, bool b, uint32_t k) {
    const struct weft_tree *list = weft_tree_find(cable, b ? "b_terminations" : "a_terminations");
    const char *type = list ? weft__tree_text(list->child[k], "object_type")
                            : weft__tree_text(cable, b ? "termination_b_type" : "termination_a_type");
    if (type && strcmp(type, "dcim.interface") != 0) return NULL;
    const struct weft_tree *end =
        list ? weft_tree_find(list->child[k], "object") : weft_tree_find(cable, b ? "termination_b" : "termination_a");
    if (end || !list) return end;
    type = weft__tree_text(list->child[k], "__typename"); // of GraphQL
    return type && strcmp(type, "InterfaceType") != 0 ? NULL : list->child[k];
}

static enum weft_status netbox_length(const struct weft_tree *cable, const struct weft__cables_conf *conf,
                                      weft_time_ps *ret_delay_ps, struct weft_error *ret_error) {
    const struct weft_tree *unit = weft_tree_find(cable, "length_unit");
    const char *length = weft__tree_text(cable, "length"),
               *name = unit && unit->type == WEFT_TREE_MAP ? weft__tree_text(unit, "value") : NULL;
    if (!length || !strcasecmp(length, "null")) return WEFT_OK;
    if (!name) name = unit && unit->type == WEFT_TREE_TEXT && *unit->text ? unit->text : "m";
    return weft__cables_delay(length, name, cable->place, conf, ret_delay_ps, ret_error);
}

/// A cable as NetBox's bulk import has it, in JSON: "side_a_device", "side_a_type" and "side_a_name".
static void add_netbox_import(struct weft__cable_list *list, const struct weft_tree *cable, weft_time_ps delay_ps) {
    const char *type[] = {weft__tree_text(cable, "side_a_type"), weft__tree_text(cable, "side_b_type")};
    struct weft__cable c = {
        .device = {weft__tree_text(cable, "side_a_device"), weft__tree_text(cable, "side_b_device")},
        .port = {weft__tree_text(cable, "side_a_name"), weft__tree_text(cable, "side_b_name")},
        .place = cable->place,
        .delay_ps = delay_ps};
    bool link = c.device[0] && c.device[1];
    for (unsigned e = 0; e < 2; e++)
        link &= !type[e] || !strcmp(type[e], "dcim.interface");
    if (link)
        weft__cables_add(list, &c);
    else
        list->outside++;
}

/// Each pair of terminations is a cable; the port at the one end of a breakout is as many, "Ethernet1:1" onwards.
static void add_netbox(struct weft__cable_list *list, const struct weft_tree *cable, weft_time_ps delay_ps) {
    uint32_t n[2] = {netbox_ends(cable, false), netbox_ends(cable, true)}, most = n[0] > n[1] ? n[0] : n[1];
    bool paired = n[0] == n[1] || (n[0] && n[1] && n[0] + n[1] == most + 1);
    if (!paired || !most) list->outside++;
    for (uint32_t k = 0; paired && k < most; k++) {
        struct weft__cable c = {.place = cable->place, .delay_ps = delay_ps};
        for (unsigned e = 0; e < 2; e++) {
            const struct weft_tree *end = netbox_end(cable, e, n[e] == 1 ? 0 : k);
            c.device[e] = end ? weft__tree_text(weft_tree_find(end, "device"), "name") : NULL;
            c.port[e] = end ? weft__tree_text(end, "name") : NULL;
            if (c.port[e] && n[e] < most) c.port[e] = weft_arena_format(list->arena, "%s:%" PRIu32, c.port[e], k + 1);
        }
        if (c.device[0] && c.device[1])
            weft__cables_add(list, &c);
        else
            list->outside++;
    }
}

/// "infiniband-ndr-4x" (in old versions of NetBox "inifiband"). Few versions have names with lanes: a port without has
/// 4, as nearly all do.
static weft_rate_bps infiniband_rate(const char *type, struct weft__cable_list *list) {
    if (strncmp(type, "infiniband-", 11) != 0 && strncmp(type, "inifiband-", 10) != 0) return 0;
    const char *name = strchr(type, '-') + 1;
    size_t length = strcspn(name, "-");
    weft_rate_bps lane = weft__cables_lane_rate(name, length);
    if (name[length]) return lane * strtoull(name + length + 1, NULL, 10);
    list->lanes += lane > 0;
    return 4 * lane;
}

/// "400gbase-x-qsfp112" is 400 Gbit/s, "2.5gbase-t" 2.5, "1000base-t" 1000 Mbit/s; 0: it says none.
static weft_rate_bps type_rate(const char *type, struct weft__cable_list *list) {
    char *end;
    double number = strtod(type, &end);
    if (end == type || !(number > 0 && number <= 10000)) return infiniband_rate(type, list);
    double unit = *end == 't' ? 1e12 : *end == 'g' ? 1e9 : 1e6;
    return strncmp(end + (unit > 1e6), "base", 4) ? 0 : (weft_rate_bps)(number * unit + 0.5);
}

/// A speed of 400000000 is kbit/s; 0: neither it nor the type says a rate.
static weft_rate_bps netbox_rate(const struct weft_tree *interface, struct weft__cable_list *list) {
    const struct weft_tree *type = weft_tree_find(interface, "type");
    const char *speed = weft__tree_text(interface, "speed"), *name = type && type->type == WEFT_TREE_MAP
                                                                         ? weft__tree_text(type, "value")
                                                                         : weft__tree_text(interface, "type");
    weft_rate_bps kbps = speed ? strtoull(speed, NULL, 10) : 0, rate = 0;
    if (kbps) return kbps * 1000;
    if (name) rate = type_rate(name, list);
    if (name && *name && !rate) weft__cables_name(list, &list->unread, name);
    return rate;
}

/// A cable that an interface is an end of: each of its ends has it.
static enum weft_status add_netbox_interface(const struct weft_tree *interface, struct weft__cable_list *list,
                                             struct weft_error *ret_error) {
    const struct weft_tree *far = weft_tree_find(interface, "connected_endpoints");
    const char *type = weft__tree_text(interface, "connected_endpoints_type"),
               *reachable = weft__tree_text(interface, "connected_endpoints_reachable");
    if (!far) far = weft_tree_find(interface, "connected_endpoint"); // before 3.3
    if (!type) type = weft__tree_text(interface, "connected_endpoint_type");
    if (!far || (far->type != WEFT_TREE_LIST && far->type != WEFT_TREE_MAP)) return WEFT_OK; // null: no cable
    if ((type && strcmp(type, "dcim.interface") != 0) || (reachable && !strcasecmp(reachable, "false"))) {
        list->outside++;
        return WEFT_OK;
    }
    struct weft__cable c = {.device = {weft__tree_text(weft_tree_find(interface, "device"), "name")},
                            .port = {weft__tree_text(interface, "name")},
                            .place = interface->place,
                            .rate_bps = netbox_rate(interface, list),
                            .heard = true};
    if (!c.device[0] || !c.port[0]) return BAD(interface->place, "an interface without 'name', or without 'device'");
    for (uint32_t k = 0; k < (far->type == WEFT_TREE_LIST ? far->n : 1); k++) {
        const struct weft_tree *end = far->type == WEFT_TREE_LIST ? far->child[k] : far;
        c.device[1] = weft__tree_text(weft_tree_find(end, "device"), "name");
        c.port[1] = weft__tree_text(end, "name");
        if (c.device[1] && c.port[1])
            weft__cables_add(list, &c);
        else
            list->outside++;
    }
    return WEFT_OK;
}

static enum weft_status read_netbox(const struct weft_tree *results, const struct weft__cables_conf *conf,
                                    struct weft__cable_list *list, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < results->n && !status; i++) {
        const struct weft_tree *cable = results->child[i];
        const struct weft_tree *state = weft_tree_find(cable, "status");
        const char *is =
            state && state->type == WEFT_TREE_MAP ? weft__tree_text(state, "value") : weft__tree_text(cable, "status");
        weft_time_ps delay_ps = 0;
        if (weft_tree_find(cable, "connected_endpoints") || weft_tree_find(cable, "connected_endpoint")) {
            status = add_netbox_interface(cable, list, ret_error);
            continue;
        }
        if (is && strcasecmp(is, "connected") != 0) {
            list->outside++;
            continue;
        }
        status = netbox_length(cable, conf, &delay_ps, ret_error);
        if (!status) (weft_tree_find(cable, "side_a_device") ? add_netbox_import : add_netbox)(list, cable, delay_ps);
    }
    return status;
}

// --- which one ----------------------------------------------------------------------------------------------------

static const struct weft_tree *find_in(const struct weft_tree *root, const char *key) {
    const struct weft_tree *at = weft_tree_find(root, key), *result = weft_tree_find(root, "result");
    if (!at && root->type == WEFT_TREE_LIST && root->n) at = weft_tree_find(root->child[0], key);
    if (!at && result && result->type == WEFT_TREE_LIST && result->n) at = weft_tree_find(result->child[0], key);
    return at;
}

bool weft__cables_read_json(const struct weft_tree *root, const struct weft__cables_file *file,
                            struct weft__cable_list *list, enum weft_status *ret_status, struct weft_error *ret_error) {
    static const char *const begins[] = {"a_terminations", "termination_a", "side_a_device", "connected_endpoints",
                                         "connected_endpoint"};
    const struct weft_tree *eos = find_in(root, "lldpNeighbors"), *results = weft_tree_find(root, "results"),
                           *data = weft_tree_find(root, "data");
    if (!results && data) results = weft_tree_find(data, "cable_list");
    if (!results && data) results = weft_tree_find(data, "interface_list");
    const struct weft_tree *cables = results ? results : root;
    if (eos) {
        *ret_status = read_eos(eos, file->device, list, ret_error);
        return true;
    }
    bool netbox = false;
    for (size_t k = 0; cables->type == WEFT_TREE_LIST && cables->n && k < sizeof begins / sizeof *begins; k++)
        netbox |= weft_tree_find(cables->child[0], begins[k]) != NULL;
    if (!netbox) return false;
    const char *next = weft__tree_text(root, "next");
    if (results && next && strcasecmp(next, "null") != 0) list->next_page = next;
    *ret_status = read_netbox(cables, file->conf, list, ret_error);
    return true;
}
