// SPDX-License-Identifier: Apache-2.0
// Lists of cables, and tables of LLDP neighbours: a line per cable, columns in the form of base/table.h. Source: the
// names of columns are those in lists of cables and in exports of "show lldp neighbors" and "show lldp table".
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/table.h"
#include "import/cables.h"

enum column { DEVICE_A, PORT_A, DEVICE_B, PORT_B, SPEED, LENGTH, ROLE_A, ROLE_B, COLUMNS };
static const struct weft__column columns[COLUMNS] = {
    [DEVICE_A] =
        {"device A",
         " device_a a_device host_a node_a switch_a device1 device_1 local_device local_host local_node "
         "local_system local_hostname source_device src_device from_device source src from hostname host device "
         "switch system ",
         .text = true},
    [PORT_A] = {"port A",
                " port_a a_port interface_a a_interface port1 port_1 local_port localport local_interface local_intf "
                "local_port_id source_port src_port from_port source_interface port interface ",
                .text = true},
    [DEVICE_B] = {"device B",
                  " device_b b_device host_b node_b switch_b device2 device_2 remote_device remotedevice remote_host "
                  "remote_node remote_system remote_system_name remote_hostname neighbor neighbour neighbor_device "
                  "neighbor_name destination_device dst_device to_device destination dst to system_name sysname peer "
                  "peer_device ",
                  .needed = true, .text = true},
    [PORT_B] =
        {"port B",
         " port_b b_port interface_b b_interface port2 port_2 remote_port remoteport remoteportid remote_port_id "
         "remote_interface neighbor_port neighbor_interface neighbor_port_id destination_port dst_port to_port "
         "destination_interface port_id peer_port peer_interface ",
         .text = true},
    [SPEED] = {"speed", " speed rate bandwidth capacity link_speed port_speed ", WEFT__RATE, "", false, false},
    [LENGTH] = {"length", " length cable_length cable len distance ", WEFT__LENGTH, "m", false, false},
    [ROLE_A] = {"role A", " role_a a_role type_a a_type local_role local_type source_role src_role ", .text = true},
    [ROLE_B] = {"role B", " role_b b_role type_b b_type remote_role remote_type destination_role dst_role capability ",
                .text = true},
};

bool weft__cables_is_table(const char *head) {
    bool has[COLUMNS + 1];
    weft__table_guess(head, columns, COLUMNS, has);
    return has[DEVICE_B] && (has[PORT_A] || has[PORT_B] || (has[DEVICE_A] && (has[SPEED] || has[LENGTH])));
}

/// "host", "server", ...; "B", "BR", "Bridge,Router" of LLDP.
static enum weft__cable_role role_of(const char *text) {
    static const char *const hosts[] = {"host", "server", "gpu", "nic", "station", "endpoint", "compute", "storage"};
    static const char *const switches[] = {"switch", "router",      "leaf",       "spine", "tor", "bridge", "core",
                                           "agg",    "aggregation", "superspine", "B",     "R",   "BR"};
    if (!text) return WEFT__CABLE_UNKNOWN;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (!strcasecmp(text, hosts[i])) return WEFT__CABLE_HOST;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (!strcasecmp(text, switches[i])) return WEFT__CABLE_SWITCH;
    return WEFT__CABLE_UNKNOWN;
}

static enum weft_status check_value(const struct weft__table_row *row, enum column c, uint64_t min, uint64_t max,
                                    const char *expected, struct weft_error *ret_error) {
    if (!row->text[c] || (row->value[c] >= min && row->value[c] <= max)) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, row->place[c], "'%.40s'; expected %s", row->text[c], expected);
}

static const char *copy(struct weft__cable_list *list, const char *text) {
    return text ? weft_arena_text(list->arena, text) : NULL;
}

static enum weft_status add_row(struct weft__lines *lines, const struct weft__table *table, const char *device,
                                const struct weft__cables_conf *conf, struct weft__cable_list *list,
                                struct weft_error *ret_error) {
    struct weft__table_row row = {0};
    enum weft_status status = weft__table_row(lines, table, true, &row, ret_error);
    // 100 without a unit is rather 100 Gbit/s than what the unit makes of it
    bool bare = row.text[SPEED] && !row.text[SPEED][strspn(row.text[SPEED], "0123456789. ")];
    if (!status)
        status = check_value(
            &row, SPEED, bare ? 100 * WEFT__RATE_MIN : WEFT__RATE_MIN, WEFT__RATE_MAX,
            bare ? "1Gbps to 100Tbps (speed_unit is that of numbers without a unit)" : "10Mbps to 100Tbps", ret_error);
    if (!status) status = check_value(&row, LENGTH, 1, 1000000000, "1mm to 1000km", ret_error);
    if (status) return status;
    struct weft_place place = {.file = lines->path, .line = lines->place.line, .column = 1};
    if (table->has[DEVICE_A] && !row.text[DEVICE_A])
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place, "device A is empty; expected a device");
    if (!row.text[DEVICE_B]) return WEFT_OK; // no neighbour is heard at this port
    struct weft__cable c = {
        .device = {row.text[DEVICE_A] ? copy(list, row.text[DEVICE_A]) : device, copy(list, row.text[DEVICE_B])},
        .port = {copy(list, row.text[PORT_A]), copy(list, row.text[PORT_B])},
        .rate_bps = row.text[SPEED] ? row.value[SPEED] : 0,
        .delay_ps = row.text[LENGTH] ? row.value[LENGTH] * conf->metre_ps / 1000 : 0,
        .place = place,
        .heard = !table->has[DEVICE_A]};
    if (row.text[LENGTH] && !c.delay_ps) c.delay_ps = 1;
    weft__cables_add(list, &c);
    for (uint32_t e = 0; e < 2; e++)
        weft__cables_tell(list, c.device[e], role_of(row.text[e ? ROLE_B : ROLE_A]));
    return WEFT_OK;
}

enum weft_status weft__cables_read_table(const char *path, const char *device, const struct weft__cables_conf *conf,
                                         struct weft__cable_list *list, struct weft_error *ret_error) {
    struct weft__lines lines;
    struct weft__column column[COLUMNS];
    for (uint32_t c = 0; c < COLUMNS; c++)
        column[c] = columns[c];
    column[SPEED].unit = weft__cables_units[conf->speed_unit];
    enum weft_status status = weft__lines_open(&lines, path, WEFT_NOWHERE, ret_error);
    if (status) return status;
    struct weft__table *table = weft_arena_alloc(list->arena, 1, sizeof *table);
    status = weft__table_header(&lines, column, COLUMNS, NULL, table, ret_error);
    if (*table->ignored)
        list->ignored =
            weft_arena_format(list->arena, "%s%s%s", list->ignored, *list->ignored ? "," : "", table->ignored);
    for (bool more = true; more && !status;) {
        status = weft__lines_next_full(&lines, &more, ret_error);
        if (!status && more) status = add_row(&lines, table, device, conf, list, ret_error);
    }
    weft__lines_close(&lines);
    return status;
}
