// SPDX-License-Identifier: Apache-2.0
// Lists of cables, and tables of LLDP neighbours: a line per cable, columns in the form of base/table.h, or aligned by
// blanks. Source: the names of columns are those in lists of cables, in what "show lldp neighbors" and "show lldp
// table" print, and in NetBox's export (dcim/tables/cables.py) and bulk import of cables.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/table.h"
#include "import/cables/cables.h"

enum { LENGTH_MM_MAX = 1000000000 };
enum column {
    DEVICE_A,
    PORT_A,
    DEVICE_B,
    PORT_B,
    SPEED,
    LENGTH,
    ROLE_A,
    ROLE_B,
    KIND_A,
    KIND_B,
    STATUS,
    LENGTH_UNIT,
    COLUMNS
};
static const struct weft__column columns[COLUMNS] = {
    [DEVICE_A] =
        {"device A",
         " device_a a_device host_a node_a switch_a device1 device_1 local_device local_host local_node "
         "local_system local_hostname source_device src_device from_device source src from hostname host device "
         "switch system side_a_device side_a ",
         .text = true},
    [PORT_A] =
        {"port A",
         " port_a a_port interface_a a_interface port1 port_1 local_port localport local_interface local_intf "
         "local_port_id source_port src_port from_port source_interface port interface side_a_name termination_a ",
         .text = true},
    [DEVICE_B] = {"device B",
                  " device_b b_device host_b node_b switch_b device2 device_2 remote_device remotedevice remote_host "
                  "remote_node remote_system remote_system_name remote_hostname neighbor neighbour neighbor_device "
                  "neighbor_name destination_device dst_device to_device destination dst to system_name sysname peer "
                  "peer_device side_b_device side_b remotehost neighbor_device_id device_id ",
                  .needed = true, .text = true},
    [PORT_B] =
        {"port B",
         " port_b b_port interface_b b_interface port2 port_2 remote_port remoteport remoteportid remote_port_id "
         "remote_interface neighbor_port neighbor_interface neighbor_port_id destination_port dst_port to_port "
         "destination_interface port_id peer_port peer_interface side_b_name termination_b port_info ",
         .text = true},
    [SPEED] = {"speed", " speed rate bandwidth capacity link_speed port_speed ", WEFT__RATE, "", false, false},
    [LENGTH] = {"length", " length cable_length cable len distance ", WEFT__LENGTH, "m", false, false},
    [ROLE_A] = {"role A", " role_a a_role type_a a_type local_role local_type source_role src_role ", .text = true},
    [ROLE_B] = {"role B", " role_b b_role type_b b_type remote_role remote_type destination_role dst_role capability ",
                .text = true},
    // NetBox: type of a cable's end, its status, and the unit of its length
    [KIND_A] = {"kind A", " side_a_type termination_a_type ", .text = true},
    [KIND_B] = {"kind B", " side_b_type termination_b_type ", .text = true},
    [STATUS] = {"status", " status cable_status ", .text = true},
    [LENGTH_UNIT] = {"length unit", " length_unit ", .text = true},
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
    return WEFT_REFUSE(ret_error, row->place[c], "'%.40s'; expected %s", row->text[c], expected);
}

static const char *copy_text(struct weft__cable_list *list, const char *text) {
    return text ? weft_arena_text(list->arena, text) : NULL;
}

enum weft_status weft__cables_delay(const char *length, const char *unit, struct weft_place place,
                                    const struct weft__cables_conf *conf, weft_time_ps *ret_delay_ps,
                                    struct weft_error *ret_error) {
    char why[160];
    uint64_t mm;
    if (!weft__number_parse(WEFT__LENGTH, unit, length, &mm, why, sizeof why))
        return WEFT_REFUSE(ret_error, place, "%s", why);
    if (!mm || mm > LENGTH_MM_MAX) return WEFT_REFUSE(ret_error, place, "'%.40s'; expected 1mm to 1000km", length);
    *ret_delay_ps = mm * conf->metre_ps / 1000;
    if (!*ret_delay_ps) *ret_delay_ps = 1;
    return WEFT_OK;
}

/// True if the cable ends at something other than an interface, or is only planned.
static bool is_no_link(const struct weft__table_row *row) {
    const char *status = row->text[STATUS];
    for (enum column c = KIND_A; c <= KIND_B; c++)
        if (row->text[c] && strchr(row->text[c], '.') && strcasecmp(row->text[c], "dcim.interface")) return true;
    return status && (!strcasecmp(status, "planned") || !strcasecmp(status, "decommissioning"));
}

static uint32_t parts_of(const char *text) {
    uint32_t n = 1;
    for (; text && *text; text++)
        n += *text == ',';
    return n;
}

/// Part k of a list with commas; a text that is no list is each of its parts.
static const char *part_of(const char *text, uint32_t k, struct weft_arena *arena) {
    if (parts_of(text) == 1) return text;
    while (k--)
        text = strchr(text, ',') + 1;
    while (*text == ' ')
        text++;
    return weft_arena_format(arena, "%.*s", (int)strcspn(text, ","), text);
}

/// Adds the cable whose ends may be lists, as NetBox exports those with several terminations: "gpu-1,gpu-2" and
/// "eth0,eth0". Each pair is a cable; the one port at the other end is as many, "Ethernet1:1" onwards.
static void add_ends(struct weft__cable_list *list, struct weft__cable *c, const char *const role[2]) {
    uint32_t n[2], most = 1;
    const struct weft__cable whole = *c;
    for (uint32_t e = 0; e < 2; e++) {
        uint32_t devices = parts_of(c->device[e]), ports = parts_of(c->port[e]);
        n[e] = devices > ports ? devices : ports;
        if (n[e] > most) most = n[e];
        if (devices > 1 && ports > 1 && devices != ports) n[e] = 0;
    }
    if (c->heard) n[0] = n[1] = most = 1; // a neighbour's own words
    bool paired = n[0] && n[1] && (n[0] == n[1] || n[0] + n[1] == most + 1);
    if (!paired) list->outside++;
    for (uint32_t k = 0; paired && k < most; k++) {
        for (uint32_t e = 0; e < 2; e++) {
            if (most > 1) c->device[e] = part_of(whole.device[e], k, list->arena);
            if (most > 1) c->port[e] = part_of(whole.port[e], k, list->arena);
            if (c->port[e] && n[e] < most)
                c->port[e] = weft_arena_format(list->arena, "%s:%" PRIu32, whole.port[e], k + 1);
        }
        if (!*c->device[0] || !*c->device[1]) { // "gpu-1,"
            list->outside++;
            continue;
        }
        weft__cables_add(list, c);
        for (uint32_t e = 0; e < 2; e++)
            weft__cables_tell(list, c->device[e], role_of(role[e]));
    }
}

/// `row` has texts that live as long as the line. `device`: that of rows without a device A.
static enum weft_status add_cable(const struct weft__table_row *row, struct weft_place place, const char *unit,
                                  const struct weft__cables_file *file, struct weft__cable_list *list,
                                  struct weft_error *ret_error) {
    struct weft__cable c = {.device = {row->text[DEVICE_A] ? copy_text(list, row->text[DEVICE_A]) : file->device,
                                       copy_text(list, row->text[DEVICE_B])},
                            .port = {copy_text(list, row->text[PORT_A]), copy_text(list, row->text[PORT_B])},
                            .rate_bps = row->text[SPEED] ? row->value[SPEED] : 0,
                            .place = place,
                            .heard = !row->text[DEVICE_A]};
    if (is_no_link(row)) {
        list->outside++;
        return WEFT_OK;
    }
    if (row->text[LENGTH])
        WEFT_TRY(weft__cables_delay(row->text[LENGTH], row->text[LENGTH_UNIT] ? row->text[LENGTH_UNIT] : unit,
                                    row->place[LENGTH], file->conf, &c.delay_ps, ret_error));
    add_ends(list, &c, (const char *const[]){row->text[ROLE_A], row->text[ROLE_B]});
    return WEFT_OK;
}

/// Checks a link's speed. A number without a unit may not be below 1 Gbit/s: 100 rather means 100 Gbit/s.
static enum weft_status check_speed(const struct weft__table_row *row, struct weft_error *ret_error) {
    const char *text = row->text[SPEED];
    bool bare = text && !text[strspn(text, "0123456789. ")];
    return check_value(row, SPEED, bare ? 100 * WEFT__RATE_MIN : WEFT__RATE_MIN, WEFT__RATE_MAX,
                       bare ? "1Gbps to 100Tbps of a number without a unit (speed_unit)" : "10Mbps to 100Tbps",
                       ret_error);
}

static const char *unit_of(const struct weft__table *table, enum column c) {
    for (uint32_t f = 0; f < table->fields; f++)
        if (table->of[f] == c) return table->unit[f];
    return columns[c].unit;
}

static enum weft_status add_row(struct weft__lines *lines, const struct weft__table *table,
                                const struct weft__cables_file *file, struct weft__cable_list *list,
                                struct weft_error *ret_error) {
    struct weft__table_row row = {0};
    WEFT_TRY(weft__table_row(lines, table, true, &row, ret_error));
    WEFT_TRY(check_speed(&row, ret_error));
    struct weft_place place = {.file = lines->path, .line = lines->place.line, .column = 1};
    if (table->has[DEVICE_A] && !row.text[DEVICE_A] && !is_no_link(&row))
        return WEFT_REFUSE(ret_error, place, "device A is empty; expected a device");
    if (!row.text[DEVICE_B]) return WEFT_OK; // no neighbour is heard at this port
    return add_cable(&row, place, unit_of(table, LENGTH), file, list, ret_error);
}

/// The columns, with the unit of speeds that have none.
static void set_columns(struct weft__column column[COLUMNS], const struct weft__cables_conf *conf) {
    for (uint32_t c = 0; c < COLUMNS; c++)
        column[c] = columns[c];
    column[SPEED].unit = weft__cables_units[conf->speed_unit];
}

/// Columns of inventories that say nothing of the network, such as "Rack A" or "side_a_site".
static bool is_inventory(const char *name, size_t n) {
    static const char words[] =
        " id label location rack site region type tenant color colour tags created last_updated "
        "description comments comment notes profile asset_tag owner bundle url ";
    char word[40] = " ";
    if (n > 7 && (!strncasecmp(name, "side_a_", 7) || !strncasecmp(name, "side_b_", 7))) name += 7, n -= 7;
    if (n > 2 && strchr(" _", name[n - 2]) && strchr("abAB", name[n - 1])) n -= 2;
    if (n + 3 > sizeof word) return false;
    for (size_t i = 0; i < n; i++)
        word[1 + i] = name[i] == ' ' ? '_' : (char)tolower((unsigned char)name[i]);
    word[1 + n] = ' ';
    return strstr(words, word);
}

/// Unknown columns: those of inventories are left out, others may change results.
static void note_columns(struct weft__cable_list *list, const char *ignored) {
    for (size_t n; *ignored; ignored += n + (ignored[n] != 0)) {
        n = strcspn(ignored, ",");
        const char **to = is_inventory(ignored, n) ? &list->inventory : &list->ignored;
        *to = weft_arena_format(list->arena, "%s%s%.*s", *to, **to ? "," : "", (int)n, ignored);
    }
}

enum weft_status weft__cables_read_table(const struct weft__cables_file *file, struct weft__cable_list *list,
                                         struct weft_error *ret_error) {
    WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
    struct weft__column column[COLUMNS];
    set_columns(column, file->conf);
    WEFT_TRY(weft__lines_open(&lines, file->path, file->place, ret_error));
    struct weft__table *table = weft_arena_alloc(list->arena, 1, sizeof *table);
    enum weft_status status = weft__table_header(&lines, column, COLUMNS, NULL, table, ret_error);
    note_columns(list, table->ignored);
    for (bool more = true; more && !status;) {
        status = weft__lines_next_full(&lines, &more, ret_error);
        if (!status && more) status = add_row(&lines, table, file, list, ret_error);
    }
    return status;
}

// --- columns aligned by blanks ------------------------------------------------------------------------------------

/// "show lldp table" of SONiC, "show lldp neighbors" of others: a header whose names are two blanks apart, perhaps a
/// line of dashes below it, and rows aligned to it. A row in which no port is named ends the table.
struct aligned {
    uint32_t fields;
    struct span {
        size_t from;
        uint32_t column; ///< COLUMNS: ignored
    } span[COLUMNS * 2];
    bool has[COLUMNS];
};

/// The length of a name of the header: up to two blanks, a tab or the end.
static size_t name_length(const char *at) {
    size_t n = 0;
    while (at[n] && at[n] != '\t' && at[n] != '\n' && at[n] != '\r' &&
           !(at[n] == ' ' && (at[n + 1] == ' ' || !at[n + 1])))
        n++;
    return n;
}

static bool read_aligned_header(const char *line, struct aligned *ret) {
    *ret = (struct aligned){0};
    size_t end = strcspn(line, "\r\n");
    for (size_t at = strspn(line, " \t"); at < end; at += strspn(line + at, " \t")) {
        char name[WEFT__TABLE_NAME];
        bool has[COLUMNS + 1];
        size_t n = name_length(line + at);
        if (!n || ret->fields == sizeof ret->span / sizeof *ret->span) return false;
        snprintf(name, sizeof name, "%.*s", (int)n, line + at);
        weft__table_guess(name, columns, COLUMNS, has);
        uint32_t c = 0;
        while (c < COLUMNS && (!has[c] || ret->has[c]))
            c++;
        if (c < COLUMNS) ret->has[c] = true;
        ret->span[ret->fields++] = (struct span){at, c};
        at += n;
    }
    return ret->fields > 2 && ret->has[DEVICE_B] && ret->has[PORT_A];
}

static bool is_ruler(const char *line) {
    return line[strspn(line, " \t")] && strspn(line, "-=+ \t\r") == strlen(line);
}

/// The fields of a row. False: a field begins left of its column, or ends right of it.
static bool cut_row(const struct aligned *a, const char *line, struct weft_arena *arena, struct weft__table_row *row) {
    size_t size = strcspn(line, "\r\n");
    for (uint32_t f = 0; f < a->fields; f++) {
        const struct span *span = &a->span[f];
        size_t end = f + 1 < a->fields && a->span[f + 1].from < size ? a->span[f + 1].from : size, at = span->from;
        if (at >= size) break;
        if (at && !strchr(" \t", line[at - 1])) return false;
        while (at < end && strchr(" \t", line[at]))
            at++;
        while (end > at && strchr(" \t", line[end - 1]))
            end--;
        if (end > at && span->column < COLUMNS)
            row->text[span->column] = weft_arena_format(arena, "%.*s", (int)(end - at), line + at);
    }
    return true;
}

static enum weft_status add_aligned(const struct weft__lines *lines, const struct aligned *a,
                                    const struct weft__cables_file *file, struct weft__cable_list *list, bool *ret_ends,
                                    struct weft_error *ret_error) {
    struct weft__table_row row = {0};
    struct weft_place place = {.file = lines->path, .line = lines->place.line, .column = 1};
    char why[160];
    *ret_ends = !strncasecmp(lines->line, "total ", 6); // "Total entries displayed: 3"
    if (*ret_ends) return WEFT_OK;
    if (!cut_row(a, lines->line, list->arena, &row))
        return WEFT_REFUSE(ret_error, place, "the line is not aligned to the header; expected columns, or a CSV file");
    *ret_ends = !row.text[PORT_A] || !row.text[DEVICE_B];
    if (*ret_ends) return WEFT_OK;
    if (row.text[SPEED] && !weft__number_parse(WEFT__RATE, weft__cables_units[file->conf->speed_unit], row.text[SPEED],
                                               &row.value[SPEED], why, sizeof why))
        row.text[SPEED] = NULL; // "N/A", "1G" of a port that is down
    WEFT_TRY(check_speed(&row, ret_error));
    return add_cable(&row, place, "m", file, list, ret_error);
}

enum weft_status weft__cables_read_columns(const struct weft__cables_file *file, struct weft__cable_list *list,
                                           struct weft_error *ret_error) {
    WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
    struct aligned aligned;
    bool more = true, begun = false, ends = false;
    uint32_t before = list->cables;
    WEFT_TRY(weft__lines_open(&lines, file->path, file->place, ret_error));
    while (!ends) {
        WEFT_TRY(weft__lines_next(&lines, &more, ret_error));
        if (!more) break;
        if (!begun) {
            begun = read_aligned_header(lines.line, &aligned);
        } else if (is_ruler(lines.line)) {
            ends = list->cables > before; // the table ends at its total line
        } else {
            WEFT_TRY(add_aligned(&lines, &aligned, file, list, &ends, ret_error));
        }
    }
    return WEFT_OK;
}

bool weft__cables_is_columns(const char *head) {
    struct aligned aligned;
    for (const char *line = head; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (read_aligned_header(line, &aligned)) return true;
    }
    return false;
}
