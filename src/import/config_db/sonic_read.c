// SPDX-License-Identifier: Apache-2.0
// Codec of config_db.json. Tables and fields as in sonic-buildimage, src/sonic-yang-models/yang-models (sonic-port,
// sonic-buffer-*, sonic-wred-profile, sonic-queue, sonic-scheduler, sonic-port-qos-map, sonic-pfcwd); references as
// names or, as before 2021, "[TABLE|name]". What buffermgrd would compute is computed by the formula in
// box/pfc_headroom.c.
#include "weft/sonic.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/stream.h"
#include "base/units.h"
#include "import/config_db/sonic_load.h"
#include "weft/error.h"
#include "weft/packet.h"
#include "weft/param.h"
#include "weft/param_load.h"
#include "weft/plan.h"

enum { PORTS_MAX = 65535, UNREAD_MAX = 256, CABLE_MM_PER_MS = 198000000, MTU_MAX = 10240 };
static const uint64_t mbps_min = 10, mbps_max = 100000000;
static const uint64_t bytes_max = UINT64_C(1000000000000), cable_mm_max = 1000000000, ms_max = 1000000;

const char *const weft_sonic_map_tables[WEFT_SONIC_MAPS] = {
    [WEFT_SONIC_DSCP_TO_TC] = "DSCP_TO_TC_MAP",
    [WEFT_SONIC_TC_TO_QUEUE] = "TC_TO_QUEUE_MAP",
    [WEFT_SONIC_TC_TO_PG] = "TC_TO_PRIORITY_GROUP_MAP",
    [WEFT_SONIC_PFC_TO_QUEUE] = "MAP_PFC_PRIORITY_TO_QUEUE",
    [WEFT_SONIC_PFC_TO_PG] = "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
};
static const char *const map_fields[WEFT_SONIC_MAPS] = {"dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map",
                                                        "pfc_to_queue_map", "pfc_to_pg_map"};

/// Tables that are read, with the fields that are; none listed: all.
static const struct known {
    const char *table, *fields[12];
} known[] = {
    {"PORT", {"speed", "mtu", "lanes", "admin_status"}},
    {"CABLE_LENGTH", {NULL}},
    {"BUFFER_POOL", {"type", "mode", "size", "xoff"}},
    {"BUFFER_PROFILE", {"pool", "size", "xon", "xoff", "xon_offset", "dynamic_th", "static_th", "headroom_type"}},
    {"BUFFER_PG", {"profile"}},
    {"BUFFER_QUEUE", {"profile"}},
    {"WRED_PROFILE",
     {"ecn", "wred_green_enable", "green_min_threshold", "green_max_threshold", "green_drop_probability",
      "ecn_green_min_threshold", "ecn_green_max_threshold", "ecn_green_mark_probability"}},
    {"QUEUE", {"scheduler", "wred_profile"}},
    {"SCHEDULER", {"type", "weight"}},
    {"PORT_QOS_MAP",
     {"dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map", "pfc_to_pg_map", "pfc_enable"}},
    {"DSCP_TO_TC_MAP", {NULL}},
    {"TC_TO_QUEUE_MAP", {NULL}},
    {"TC_TO_PRIORITY_GROUP_MAP", {NULL}},
    {"MAP_PFC_PRIORITY_TO_QUEUE", {NULL}},
    {"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", {NULL}},
    {"PFC_WD", {"action", "detection_time", "restoration_time", "POLL_INTERVAL"}},
    {"DEVICE_NEIGHBOR", {"name", "port"}},
    {"DEVICE_METADATA", {"hostname", "platform", "hwsku", "buffer_model", "asic_name", "sub_role"}},
    {"DEFAULT_LOSSLESS_BUFFER_PARAMETER", {"default_dynamic_th", "over_subscribe_ratio"}},
    {"LOSSLESS_TRAFFIC_PATTERN", {"mtu", "small_packet_percentage"}},
};

struct reader {
    struct weft_sonic *s;
    struct weft_arena *arena;
    const char *const *path;
    json_t *set, *root;                     ///< weft__sonic_load; its first object
    const char *asic;                       ///< of a line card of a chassis; "": not in the file
    const struct weft_sonic_lookup *lookup; ///< NULL: none
    struct weft_error *error;
    enum weft_status status; ///< of the first error; after that, everything reads as nothing
    struct weft_sonic_map *map[WEFT_SONIC_MAPS];
    uint32_t maps[WEFT_SONIC_MAPS];
    int64_t default_dynamic_th;
    bool over_subscribed; ///< headroom is shared although no pool gives an amount
};

/// A row of a table: its fields.
struct row {
    struct reader *r;
    const char *table, *key;
    const json_t *fields;
};

static __attribute__((format(printf, 3, 4))) void refuse_value(const struct row *row, const char *field,
                                                               const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t f = json_array_size(row->r->set) - 1; // the last file that has the row, else the first file
    while (f > 1 && !json_object_get(json_object_get(json_array_get(row->r->set, f), row->table), row->key))
        f--;
    row->r->status =
        WEFT_REFUSE(row->r->error, (struct weft_place){.file = row->r->path[f - 1]}, "%.40s%s%.80s%s%.40s: %s",
                    row->table, *row->key ? "|" : "", row->key, *field ? "." : "", field, text);
}

// --- values -------------------------------------------------------------------------------------------------------

static bool is_plain(const char *text) {
    while (*text >= ' ' && *text <= '~')
        text++;
    return !*text;
}

/// A value as text; NULL if it is missing.
static const char *text_of(const struct row *row, const char *field) {
    const json_t *value = json_object_get(row->fields, field);
    if (!value) return NULL;
    if (json_is_string(value) && is_plain(json_string_value(value)))
        return weft_arena_text(row->r->arena, json_string_value(value));
    if (json_is_integer(value))
        return weft_arena_format(row->r->arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    refuse_value(row, field, "expected a text of printable ASCII");
    return NULL;
}

static const char *text_or(const struct row *row, const char *field, const char *other) {
    const char *text = text_of(row, field);
    return text ? text : other;
}

static uint64_t parse_count(const struct row *row, const char *field, const char *text, uint64_t max) {
    uint64_t value = 0;
    char why[160];
    if (!weft__quantity_parse(WEFT__COUNT, text, &value, why, sizeof why) || value > max) {
        refuse_value(row, field, "'%.40s'; expected a whole number of at most %" PRIu64, text, max);
        return 0;
    }
    return value;
}

static uint64_t count_of(const struct row *row, const char *field, uint64_t max, uint64_t other) {
    const char *text = text_of(row, field);
    return text ? parse_count(row, field, text, max) : other;
}

static int64_t signed_of(const struct row *row, const char *field, bool *ret_said) {
    const char *text = text_of(row, field);
    *ret_said = text;
    if (!text) return 0;
    bool minus = *text == '-';
    int64_t value = (int64_t)parse_count(row, field, text + minus, 1000);
    return minus ? -value : value;
}

static uint32_t choice_of(const struct row *row, const char *field, const char *const *names, const char *other) {
    const char *text = text_or(row, field, other);
    for (uint32_t n = 0; names[n]; n++)
        if (!strcmp(text, names[n])) return n;
    if (!row->r->status) refuse_value(row, field, "'%.40s'; expected %s or one of its kind", text, names[0]);
    return 0;
}

/// The name in a reference: "name" or "[TABLE|name]"; NULL if there is none.
static const char *find_reference(const struct row *row, const char *field, const char *table) {
    const char *text = text_of(row, field);
    if (!text || *text != '[') return text;
    size_t n = strlen(text), prefix = strlen(table) + 2;
    if (n <= prefix || text[n - 1] != ']' || strncmp(text + 1, table, prefix - 2) || text[prefix - 1] != '|') {
        refuse_value(row, field, "'%.60s'; expected a name or [%s|name]", text, table);
        return NULL;
    }
    return weft_arena_format(row->r->arena, "%.*s", (int)(n - prefix - 1), text + prefix);
}

/// The referenced one among `n` structs that begin with their name; NULL if there is no such field.
static const void *find_referred(const struct row *row, const char *field, const char *table, const void *array,
                                 uint32_t n, size_t size) {
    const char *name = find_reference(row, field, table);
    if (!name) return NULL;
    for (uint32_t i = 0; i < n; i++) {
        const void *at = (const char *)array + i * size;
        if (!strcmp(*(const char *const *)at, name)) return at;
    }
    refuse_value(row, field, "there is no %s '%.60s'", table, name);
    return NULL;
}

/// "3,4", "3-4", "" as a mask. With `queues`, numbers above 7 are those of multicast queues and left out.
static uint8_t read_priorities(const struct row *row, const char *field, const char *text, bool queues) {
    uint8_t mask = 0;
    uint64_t most = queues ? 99 : WEFT_PRIORITIES - 1;
    for (const char *at = text; *at; at++) {
        char *end;
        uint64_t first = isdigit((unsigned char)*at) ? strtoull(at, &end, 10) : UINT64_MAX, last = first;
        if (first <= most && *end == '-')
            last = isdigit((unsigned char)end[1]) ? strtoull(end + 1, &end, 10) : UINT64_MAX;
        if (first > most || last > most || last < first || (*end && *end != ',') || (*end && !end[1])) {
            refuse_value(row, field, "'%.40s'; expected priorities 0 to 7 such as 3-4 or 3,4", text);
            return 0;
        }
        for (uint64_t p = first; p <= last && p < WEFT_PRIORITIES; p++)
            mask |= (uint8_t)(1u << p);
        at = end;
        if (!*at) break;
    }
    return mask;
}

static struct weft_sonic_port *find_port(struct reader *r, const char *name, size_t size) {
    for (uint32_t p = 0; p < r->s->ports; p++)
        if (!strncmp(r->s->port[p].name, name, size) && !r->s->port[p].name[size]) return &r->s->port[p];
    return NULL;
}

/// Calls `set` for each port of a list "Ethernet0,Ethernet4".
static void each_port(const struct row *row, const char *list, size_t size, uint8_t mask,
                      void (*set)(const struct row *row, struct weft_sonic_port *port, uint8_t mask)) {
    for (const char *at = list, *end = list + size; at <= end && !row->r->status;) {
        size_t n = strcspn(at, ",|");
        if (at + n > end) n = (size_t)(end - at);
        struct weft_sonic_port *port = find_port(row->r, at, n);
        if (port)
            set(row, port, mask);
        else
            refuse_value(row, "", "there is no PORT '%.*s'", n > 60 ? 60 : (int)n, at);
        at += n + 1;
    }
}

/// The part of a key for this switch: all of it, or what follows "hostname|asic|" in a chassis with virtual output
/// queues. NULL: the key is that of another line card, or wrong.
static const char *own_key(const struct row *row) {
    struct reader *r = row->r;
    const char *bar[3] = {strchr(row->key, '|')};
    for (int b = 1; b < 3 && bar[b - 1]; b++)
        bar[b] = strchr(bar[b - 1] + 1, '|');
    if (!bar[2]) return row->key;
    if (!*r->s->hostname) {
        refuse_value(row, "",
                     "a key of a chassis; expected DEVICE_METADATA|localhost.hostname, to know this line card's");
        return NULL;
    }
    const char *host = weft_arena_format(r->arena, "%.*s", (int)(bar[0] - row->key), row->key);
    const char *asic = weft_arena_format(r->arena, "%.*s", (int)(bar[1] - bar[0] - 1), bar[0] + 1);
    bool own =
        !strcasecmp(host, r->s->chassis ? r->s->chassis : r->s->hostname) && (!*r->asic || !strcasecmp(asic, r->asic));
    return own ? bar[1] + 1 : NULL;
}

/// A key "ports|priorities".
static void each_port_priority(const struct row *row,
                               void (*set)(const struct row *row, struct weft_sonic_port *port, uint8_t mask)) {
    const char *key = own_key(row), *bar = key ? strchr(key, '|') : NULL;
    if (!key) return;
    if (!bar || strchr(bar + 1, '|') || !bar[1]) {
        refuse_value(row, "", "expected a key such as Ethernet0|3-4");
        return;
    }
    uint8_t mask = read_priorities(row, "", bar + 1, strcmp(row->table, "BUFFER_PG") != 0);
    if (mask) each_port(row, key, (size_t)(bar - key), mask, set);
}

// --- tables -------------------------------------------------------------------------------------------------------

/// Calls `read` for each row of a table.
static void each_row(struct reader *r, const char *table, void (*read)(const struct row *row, uint32_t index)) {
    json_t *rows = json_object_get(r->root, table), *fields;
    const char *key;
    uint32_t index = 0;
    json_object_foreach(rows, key, fields) {
        if (r->status) return;
        struct row row = {r, table, weft_arena_text(r->arena, key), fields};
        if (!json_is_object(fields) || !is_plain(key))
            refuse_value(&row, "", "expected a key of printable ASCII and an object with fields");
        else
            read(&row, index++);
    }
}

static uint32_t rows_of(struct reader *r, const char *table) {
    json_t *rows = json_object_get(r->root, table);
    struct row row = {r, table, "", NULL};
    if (rows && !json_is_object(rows)) refuse_value(&row, "", "expected an object with rows");
    if (json_object_size(rows) > PORTS_MAX) refuse_value(&row, "", "expected at most %d rows", PORTS_MAX);
    return r->status ? 0 : (uint32_t)json_object_size(rows);
}

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/";

static void read_port(const struct row *row, uint32_t index) {
    struct weft_sonic_port *port = &row->r->s->port[index];
    const char *lanes = text_or(row, "lanes", ""), *admin = text_of(row, "admin_status");
    port->name = row->key;
    uint64_t mbps = count_of(row, "speed", mbps_max, 0);
    if (mbps < mbps_min && text_of(row, "speed") && !row->r->status)
        refuse_value(row, "speed", "expected %" PRIu64 " to %" PRIu64 " (Mb/s)", mbps_min, mbps_max);
    port->rate_bps = mbps * 1000000;
    port->mtu_bytes = count_of(row, "mtu", MTU_MAX, 9100);
    if (port->mtu_bytes < 64 && !row->r->status) refuse_value(row, "mtu", "expected 64 to %d", MTU_MAX);
    for (port->lanes = *lanes != 0; *lanes; lanes++)
        port->lanes += *lanes == ',';
    port->up = admin && !strcmp(admin, "up");
    if (admin) row->r->s->admin_assumed = false;
    if (!isalpha((unsigned char)*row->key) || strlen(row->key) > 60 || row->key[strspn(row->key, name_letters)] ||
        strstr(row->key, "--"))
        refuse_value(row, "", "expected the name of a port: a letter, then letters, digits, _, - and /, 60 at most");
}

/// A row of cables, "AZURE": a field per port. "0m" is a port without a cable.
static void read_cable(const struct row *row, uint32_t index) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)row->fields, name, value) {
        struct weft_sonic_port *port = find_port(row->r, name, strlen(name));
        const char *text = text_of(row, name);
        char why[160];
        uint64_t mm = 0;
        if (row->r->status) return;
        if (!port) continue; // SONiC keeps the lengths of ports that were broken out into others
        if (!weft__quantity_parse(WEFT__LENGTH, text, &mm, why, sizeof why))
            refuse_value(row, name, "%s", why);
        else if (mm > cable_mm_max)
            refuse_value(row, name, "'%.40s'; expected at most 1000km", text);
        else
            port->cable_mm = mm;
    }
}

static void read_pool(const struct row *row, uint32_t index) {
    static const char *const types[] = {"ingress", "egress", "both", NULL}, *const modes[] = {"dynamic", "static",
                                                                                              NULL};
    struct weft_sonic_pool *pool = &row->r->s->pool[index];
    *pool = (struct weft_sonic_pool){
        .name = row->key,
        .size_bytes = count_of(row, "size", bytes_max, 0),
        .xoff_bytes = count_of(row, "xoff", bytes_max, 0),
        .ingress = choice_of(row, "type", types, "ingress") != 1,
        .dynamic = choice_of(row, "mode", modes, "dynamic") == 0,
    };
}

static void read_profile(const struct row *row, uint32_t index) {
    struct weft_sonic *s = row->r->s;
    struct weft_sonic_profile *p = &s->profile[index];
    p->name = row->key;
    p->pool = find_referred(row, "pool", "BUFFER_POOL", s->pool, s->pools, sizeof *s->pool);
    p->size_bytes = count_of(row, "size", bytes_max, 0);
    p->xoff_bytes = count_of(row, "xoff", bytes_max, 0);
    p->xon_bytes = count_of(row, "xon", bytes_max, 0);
    p->xon_offset_bytes = count_of(row, "xon_offset", bytes_max, 0);
    p->dynamic_th = signed_of(row, "dynamic_th", &p->has_dynamic);
    p->static_bytes = count_of(row, "static_th", bytes_max, 0);
    p->has_static = text_of(row, "static_th");
    p->computed = !strcmp(text_or(row, "headroom_type", "static"), "dynamic");
    if (!p->pool && !row->r->status) refuse_value(row, "pool", "is missing; expected the name of a BUFFER_POOL");
}

static void read_wred(const struct row *row, uint32_t index) {
    static const char *const modes[] = {"ecn_none",      "ecn_green",      "ecn_yellow", "ecn_red", "ecn_green_yellow",
                                        "ecn_green_red", "ecn_yellow_red", "ecn_all",    NULL};
    static const bool green[] = {false, true, false, false, true, true, false, true};
    struct weft_sonic_wred *w = &row->r->s->wred[index];
    w->name = row->key;
    w->ecn_said = text_of(row, "ecn");
    w->drops = !strcmp(text_or(row, "wred_green_enable", "false"), "true");
    w->marks = green[choice_of(row, "ecn", modes, "ecn_none")];
    w->own = text_of(row, "ecn_green_min_threshold") && text_of(row, "ecn_green_max_threshold");
    w->min_bytes = count_of(row, w->own ? "ecn_green_min_threshold" : "green_min_threshold", bytes_max, 0);
    w->max_bytes = count_of(row, w->own ? "ecn_green_max_threshold" : "green_max_threshold", bytes_max, 0);
    w->percent = count_of(row, w->own ? "ecn_green_mark_probability" : "green_drop_probability", 100, 100);
    if (w->min_bytes > w->max_bytes)
        refuse_value(row, w->own ? "ecn_green_max_threshold" : "green_max_threshold",
                     "is below the least threshold; expected %" PRIu64 " at least", w->min_bytes);
}

static void read_scheduler(const struct row *row, uint32_t index) {
    static const char *const types[] = {"DWRR", "WRR", "STRICT", NULL};
    struct weft_sonic_scheduler *c = &row->r->s->scheduler[index];
    c->name = row->key;
    c->type = types[choice_of(row, "type", types, "WRR")];
    c->weight = count_of(row, "weight", 100, 1);
    if (!c->weight && !row->r->status) refuse_value(row, "weight", "expected 1 to 100");
}

static void read_map(const struct row *row, uint32_t index) {
    uint32_t kind = 0;
    while (strcmp(weft_sonic_map_tables[kind], row->table))
        kind++;
    struct weft_sonic_map *map = &row->r->map[kind][index];
    const char *from;
    json_t *to;
    map->name = row->key;
    json_object_foreach((json_t *)row->fields, from, to) {
        bool of_dscp = kind == WEFT_SONIC_DSCP_TO_TC, of_pfc = kind >= WEFT_SONIC_PFC_TO_QUEUE;
        uint64_t key = parse_count(row, from, from, of_dscp ? 63 : of_pfc ? 7 : WEFT_SONIC_CLASSES - 1);
        map->to[key] = (uint8_t)count_of(row, from, of_dscp ? WEFT_SONIC_CLASSES - 1 : 7, 0);
        map->has |= UINT64_C(1) << key;
        if (row->r->status) return;
    }
}

static void set_pg(const struct row *row, struct weft_sonic_port *port, uint8_t mask);

static void set_queue(const struct row *row, struct weft_sonic_port *port, uint8_t mask) {
    struct weft_sonic *s = row->r->s;
    const struct weft_sonic_profile *profile =
        find_referred(row, "profile", "BUFFER_PROFILE", s->profile, s->profiles, sizeof *s->profile);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (mask >> p & 1) port->queue[p] = profile;
}

static void set_queueing(const struct row *row, struct weft_sonic_port *port, uint8_t mask) {
    struct weft_sonic *s = row->r->s;
    const struct weft_sonic_wred *wred =
        find_referred(row, "wred_profile", "WRED_PROFILE", s->wred, s->wreds, sizeof *wred);
    const struct weft_sonic_scheduler *scheduler =
        find_referred(row, "scheduler", "SCHEDULER", s->scheduler, s->schedulers, sizeof *scheduler);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        if (!(mask >> p & 1)) continue;
        if (wred) port->wred[p] = wred;
        if (scheduler) port->scheduler[p] = scheduler;
    }
}

static void read_pg(const struct row *row, uint32_t index) {
    each_port_priority(row, set_pg);
}
static void read_buffer_queue(const struct row *row, uint32_t index) {
    each_port_priority(row, set_queue);
}
static void read_queue(const struct row *row, uint32_t index) {
    each_port_priority(row, set_queueing);
}

static void set_qos(const struct row *row, struct weft_sonic_port *port, uint8_t mask) {
    struct reader *r = row->r;
    for (uint32_t k = 0; k < WEFT_SONIC_MAPS; k++) {
        const struct weft_sonic_map *map =
            find_referred(row, map_fields[k], weft_sonic_map_tables[k], r->map[k], r->maps[k], sizeof *map);
        if (map) port->map[k] = map;
    }
    if (!mask) return; // "global" has only maps
    port->qos_key = row->key;
    port->pfc_said = text_of(row, "pfc_enable");
    port->pfc_enable = read_priorities(row, "pfc_enable", text_or(row, "pfc_enable", ""), false);
}

/// "global" applies to ports without settings of their own.
static void read_qos_global(const struct row *row, uint32_t index) {
    if (!strcmp(row->key, "global"))
        for (uint32_t p = 0; p < row->r->s->ports; p++)
            set_qos(row, &row->r->s->port[p], 0);
}
static void read_qos(const struct row *row, uint32_t index) {
    if (strcmp(row->key, "global")) each_port(row, row->key, strlen(row->key), 1, set_qos);
}

static void set_watchdog(const struct row *row, struct weft_sonic_port *port, uint8_t mask) {
    static const char *const actions[] = {"drop", "forward", "alert", NULL};
    struct weft_sonic_watchdog *w = weft_arena_alloc(row->r->arena, 1, sizeof *w);
    w->key = row->key;
    w->action = actions[choice_of(row, "action", actions, "drop")];
    w->detection_ms = count_of(row, "detection_time", ms_max, WEFT_SONIC_UNSAID);
    w->restoration_ms = count_of(row, "restoration_time", ms_max, WEFT_SONIC_UNSAID);
    port->watchdog = w;
}
static void read_watchdog(const struct row *row, uint32_t index) {
    if (!strcmp(row->key, "GLOBAL"))
        row->r->s->poll_ms = count_of(row, "POLL_INTERVAL", ms_max, WEFT_SONIC_UNSAID);
    else
        each_port(row, row->key, strlen(row->key), 0, set_watchdog);
}

/// "switch-asic2", as the ASICs of a switch call themselves ("asic2") and each other ("ASIC2").
static const char *name_asic(const struct reader *r, const char *chassis, const char *asic) {
    char *name = weft_arena_format(r->arena, "%s-%s", chassis, asic);
    for (char *c = name + strlen(chassis); *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return name;
}

static void set_neighbor(const struct row *row, struct weft_sonic_port *port, uint8_t mask) {
    const char *chassis = row->r->s->chassis;
    port->neighbor = text_of(row, "name");
    if (chassis && port->neighbor && !strncasecmp(port->neighbor, "asic", 4) &&
        isdigit((unsigned char)port->neighbor[4]))
        port->neighbor = name_asic(row->r, chassis, port->neighbor);
    port->neighbor_port = text_of(row, "port");
}
static void read_neighbor(const struct row *row, uint32_t index) {
    each_port(row, row->key, strlen(row->key), 0, set_neighbor);
}

/// SONiC's dynamic buffer model computes profiles; the traditional one looks them up in the device's
/// pg_profile_lookup.ini. A file that names neither a model nor a platform is taken to be of the dynamic model.
static void read_metadata(const struct row *row, uint32_t index) {
    struct weft_sonic *s = row->r->s;
    if (strcmp(row->key, "localhost")) return;
    s->hostname = text_or(row, "hostname", "");
    s->platform = text_or(row, "platform", "");
    row->r->asic = text_or(row, "asic_name", "");
    if (*s->hostname && *row->r->asic && *text_or(row, "sub_role", "")) {
        s->chassis = s->hostname;
        s->hostname = name_asic(row->r, s->chassis, row->r->asic);
    }
    const char *hwsku = text_or(row, "hwsku", ""), *model = text_or(row, "buffer_model", "");
    s->nvidia = weft_sonic_chip_find(s->platform, hwsku, row->r->arena, &s->chip);
    s->computes = *model ? !strcmp(model, "dynamic") : s->nvidia || !*s->platform;
}
static void read_default(const struct row *row, uint32_t index) {
    row->r->default_dynamic_th = signed_of(row, "default_dynamic_th", &row->r->s->dynamic_th_said);
    row->r->over_subscribed |= count_of(row, "over_subscribe_ratio", UINT32_MAX, 0) > 0;
}

static void read_pattern(const struct row *row, uint32_t index) {
    struct weft_sonic *s = row->r->s;
    s->pattern_said = true;
    s->lossless_mtu_bytes = count_of(row, "mtu", MTU_MAX, 1024);
    s->small_percent = count_of(row, "small_packet_percentage", 100, 100);
    if (s->lossless_mtu_bytes < WEFT_FRAME_MIN) refuse_value(row, "mtu", "expected %d at least", WEFT_FRAME_MIN);
}

// --- profiles that SONiC computes ---------------------------------------------------------------------------------

weft_time_ps weft_sonic_delay(uint64_t cable_mm) {
    return (weft_time_ps)(((unsigned __int128)cable_mm * WEFT_PS_PER_MS + CABLE_MM_PER_MS - 1) / CABLE_MM_PER_MS);
}

uint8_t weft_sonic_lossless(const struct weft_sonic_port *port) {
    uint8_t mask = 0;
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        const struct weft_sonic_profile *profile = port->pg[weft_sonic_at(port, WEFT_SONIC_PFC_TO_PG, p)];
        if (profile && profile->xoff_bytes) mask |= (uint8_t)(1u << p);
    }
    return mask;
}

static void look_up(struct weft_sonic_profile *profile, const struct weft_sonic_lookup_row *row) {
    profile->size_bytes = row->size_bytes;
    profile->xon_bytes = row->xon_bytes;
    profile->xoff_bytes = row->xoff_bytes;
    profile->xon_offset_bytes = row->xon_offset_bytes;
    profile->has_dynamic = !profile->pool || profile->pool->dynamic;
    profile->has_static = !profile->has_dynamic;
    if (profile->has_dynamic) profile->dynamic_th = row->threshold;
    if (profile->has_static) profile->static_bytes = row->threshold > 0 ? (weft_bytes)row->threshold : 0;
    profile->computed = profile->looked_up = true;
}

/// Headroom, XON and size of a computed profile. Where groups share headroom, each has only XON for itself.
static void set_sizes(struct reader *r, struct weft_sonic_profile *profile, weft_rate_bps rate, uint64_t cable_mm,
                      const struct weft_sonic_port *port) {
    const struct weft_sonic_lookup_row *row = weft_sonic_lookup_find(r->lookup, rate, cable_mm);
    if (row) {
        look_up(profile, row);
        return;
    }
    profile->unlisted = r->lookup != NULL;
    struct weft_plan_pfc_conf conf = {0};
    const struct weft_param_table *table = &weft_plan_pfc_table;
    for (uint32_t i = 0; i < table->n; i++)
        if (table->rows[i].dflt)
            weft_param_parse(&table->rows[i], table->rows[i].dflt, WEFT_NOWHERE, &conf, r->arena, NULL);
    conf.formula = WEFT_PLAN_SONIC;
    conf.rate_bps = rate;
    conf.delay_ps = weft_sonic_delay(cable_mm);
    conf.port_mtu_bytes = port->mtu_bytes;
    conf.lanes = port->lanes == 8 ? 8 : 4;
    weft_sonic_set_chip(r->s, &conf);
    conf.peer_bytes = 0; // of shipped tables; SONiC computes with what 802.3 allows
    struct weft_plan_pfc plan = weft_plan_calc_pfc(&conf);
    profile->xoff_bytes = plan.headroom_bytes;
    profile->xon_bytes = plan.xon_bytes;
    bool shared = r->over_subscribed || (profile->pool && profile->pool->xoff_bytes);
    profile->size_bytes = shared ? plan.xon_bytes : plan.size_bytes;
    profile->computed = true;
}

static const struct weft_sonic_pool *lossless_pool(const struct weft_sonic *s) {
    for (uint32_t p = 0; p < s->pools; p++)
        if (!strcmp(s->pool[p].name, "ingress_lossless_pool")) return &s->pool[p];
    for (uint32_t p = 0; p < s->pools; p++)
        if (s->pool[p].ingress) return &s->pool[p];
    return NULL;
}

/// A new profile for a speed and a cable, or the existing one.
static const struct weft_sonic_profile *computed_profile(struct reader *r, const char *name, weft_rate_bps rate,
                                                         uint64_t cable_mm, const struct weft_sonic_port *port) {
    struct weft_sonic *s = r->s;
    for (uint32_t p = 0; p < s->profiles; p++)
        if (!strcmp(s->profile[p].name, name)) return &s->profile[p];
    struct weft_sonic_profile *profile = &s->profile[s->profiles++];
    *profile = (struct weft_sonic_profile){
        .name = name, .pool = lossless_pool(s), .has_dynamic = true, .dynamic_th = r->default_dynamic_th};
    set_sizes(r, profile, rate, cable_mm, port);
    return profile;
}

/// The profile of the port's own speed and cable; NULL: the file does not give both.
static const struct weft_sonic_profile *own_profile(struct reader *r, const struct weft_sonic_port *port) {
    if (!port->cable_mm || !port->rate_bps) return NULL;
    const char *name = weft_arena_format(r->arena, "pg_lossless_%" PRIu64 "_%gm_profile", port->rate_bps / 1000000,
                                         (double)port->cable_mm / 1000);
    return computed_profile(r, name, port->rate_bps, port->cable_mm, port);
}

/// Speed and cable in "pg_lossless_<speed>_<cable>_profile"; false: another name.
static bool split_name(const char *name, weft_rate_bps *ret_rate, uint64_t *ret_cable_mm) {
    char speed[16], cable[16], why[160];
    uint64_t mbps;
    int end = 0;
    if (sscanf(name, "pg_lossless_%15[0-9]_%15[0-9.km]_%n", speed, cable, &end) != 2 || !end) return false;
    if (strncmp(name + end, "profile", 7) && strncmp(name + end, "mtu", 3)) return false;
    if (!weft__quantity_parse(WEFT__COUNT, speed, &mbps, why, sizeof why) || mbps < mbps_min || mbps > mbps_max)
        return false;
    *ret_rate = mbps * 1000000;
    return weft__quantity_parse(WEFT__LENGTH, cable, ret_cable_mm, why, sizeof why) && *ret_cable_mm <= cable_mm_max;
}

static const struct weft_sonic_profile *profile_of(const struct row *row, struct weft_sonic_port *port) {
    struct weft_sonic *s = row->r->s;
    const char *name = find_reference(row, "profile", "BUFFER_PROFILE");
    weft_rate_bps rate;
    uint64_t cable_mm;
    if (row->r->status) return NULL;
    if (!name || !strcmp(name, "NULL")) {
        if (!port->cable_mm || !port->rate_bps)
            refuse_value(row, "profile", "is left to SONiC, but %s of %.60s",
                         port->rate_bps ? "CABLE_LENGTH says nothing" : "PORT says no speed", port->name);
        return own_profile(row->r, port);
    }
    for (uint32_t p = 0; p < s->profiles; p++)
        if (!strcmp(s->profile[p].name, name)) return &s->profile[p];
    if (split_name(name, &rate, &cable_mm)) return computed_profile(row->r, name, rate, cable_mm, port);
    refuse_value(row, "profile", "there is no BUFFER_PROFILE '%.60s'", name);
    return NULL;
}

static void set_pg(const struct row *row, struct weft_sonic_port *port, uint8_t mask) {
    const struct weft_sonic_profile *profile = profile_of(row, port);
    if (profile && profile->computed && !profile->xoff_bytes && port->cable_mm &&
        port->rate_bps) // headroom_type: dynamic
        set_sizes(row->r, &row->r->s->profile[profile - row->r->s->profile], port->rate_bps, port->cable_mm, port);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (mask >> p & 1) port->pg[p] = profile;
}

/// Computes groups of PFC priorities that BUFFER_PG does not mention.
static void compute_rest(struct reader *r) {
    for (uint32_t i = 0; i < r->s->ports; i++) {
        struct weft_sonic_port *port = &r->s->port[i];
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
            uint32_t group = weft_sonic_at(port, WEFT_SONIC_PFC_TO_PG, p);
            if (port->pfc_enable >> p & 1 && !port->pg[group]) port->pg[group] = own_profile(r, port);
        }
    }
}

// --- the file -----------------------------------------------------------------------------------------------------

/// Lists what is in the file and not read, each once, at most UNREAD_MAX.
static void list_unread(struct reader *r) {
    WEFT__TEXT_STREAM(list, file);
    const char *table, *key, *field;
    json_t *rows, *fields, *value;
    uint32_t lines = 0;
    json_object_foreach(r->root, table, rows) {
        const struct known *k = known, *end = known + sizeof known / sizeof *known;
        while (k < end && strcmp(k->table, table))
            k++;
        if (k == end && lines++ < UNREAD_MAX) fprintf(file, "%.60s\n", table);
        if (k == end || !k->fields[0]) continue;
        json_object_foreach(rows, key, fields) {
            json_object_foreach(fields, field, value) {
                uint32_t f = 0;
                while (f < 12 && k->fields[f] && strcmp(k->fields[f], field))
                    f++;
                if (f < 12 && k->fields[f]) continue;
                const char *line = weft_arena_format(r->arena, "%s.%.60s\n", table, field);
                if (lines < UNREAD_MAX && !strstr(weft__text_stream_text(&list), line) && lines++ < UNREAD_MAX)
                    fputs(line, file);
            }
        }
    }
    char *text = weft_arena_text(r->arena, weft__text_stream_text(&list));
    for (char *c = text; *c; c++)
        *c = *c == '\n' ? (c[1] ? ',' : 0) : *c < ' ' || *c > '~' ? '?' : *c;
    r->s->unread = text;
}

static void read_tables(struct reader *r) {
    struct weft_sonic *s = r->s;
    s->ports = rows_of(r, "PORT");
    s->pools = rows_of(r, "BUFFER_POOL");
    s->profiles = rows_of(r, "BUFFER_PROFILE");
    s->wreds = rows_of(r, "WRED_PROFILE");
    s->schedulers = rows_of(r, "SCHEDULER");
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        rows_of(r, known[k].table);
    s->port = weft_arena_alloc(r->arena, s->ports + 1, sizeof *s->port);
    s->pool = weft_arena_alloc(r->arena, s->pools + 1, sizeof *s->pool);
    s->profile = weft_arena_alloc(r->arena, s->profiles + rows_of(r, "BUFFER_PG") + s->ports + 1, sizeof *s->profile);
    s->wred = weft_arena_alloc(r->arena, s->wreds + 1, sizeof *s->wred);
    s->scheduler = weft_arena_alloc(r->arena, s->schedulers + 1, sizeof *s->scheduler);
    s->admin_assumed = s->computes = true;
    if (!s->ports && !r->status)
        refuse_value(
            &(struct row){r, "PORT", "", NULL}, "",
            json_object_size(r->root) && !json_object_get(r->root, "PORT")
                ? "there is no such table: this is a part of config_db.json; expected the file with PORT as well (all "
                  "files of the switch together)"
                : "expected a port at least");
    each_row(r, "DEVICE_METADATA", read_metadata);
    each_row(r, "PORT", read_port);
    each_row(r, "CABLE_LENGTH", read_cable);
    each_row(r, "BUFFER_POOL", read_pool);
    each_row(r, "BUFFER_PROFILE", read_profile);
    each_row(r, "DEFAULT_LOSSLESS_BUFFER_PARAMETER", read_default);
    each_row(r, "LOSSLESS_TRAFFIC_PATTERN", read_pattern);
    each_row(r, "WRED_PROFILE", read_wred);
    each_row(r, "SCHEDULER", read_scheduler);
    for (uint32_t k = 0; k < WEFT_SONIC_MAPS; k++) {
        r->maps[k] = rows_of(r, weft_sonic_map_tables[k]);
        r->map[k] = weft_arena_alloc(r->arena, r->maps[k] + 1, sizeof *r->map[k]);
        each_row(r, weft_sonic_map_tables[k], read_map);
    }
    each_row(r, "PORT_QOS_MAP", read_qos_global);
    each_row(r, "PORT_QOS_MAP", read_qos);
    each_row(r, "BUFFER_PG", read_pg);
    each_row(r, "BUFFER_QUEUE", read_buffer_queue);
    each_row(r, "QUEUE", read_queue);
    each_row(r, "PFC_WD", read_watchdog);
    each_row(r, "DEVICE_NEIGHBOR", read_neighbor);
    for (uint32_t p = 0; p < s->ports && s->admin_assumed; p++)
        s->port[p].up = true;
    if (!r->status) compute_rest(r);
    if (!r->status) list_unread(r);
}

enum weft_status weft_sonic_read(const char *const *path, uint32_t files, const struct weft_sonic_lookup *lookup,
                                 struct weft_arena *arena, struct weft_sonic **ret_sonic,
                                 struct weft_error *ret_error) {
    struct weft_memory_cleanup cleanup;
    struct reader r = {.s = weft_arena_alloc(arena, 1, sizeof *r.s),
                       .arena = arena,
                       .path = path,
                       .asic = "",
                       .lookup = lookup,
                       .error = ret_error};
    r.s->poll_ms = WEFT_SONIC_UNSAID;
    r.s->hostname = r.s->platform = "";
    r.set = weft__sonic_set_new(&cleanup);
    r.status = weft__sonic_load(path, files, arena, r.set, ret_error);
    r.root = json_array_get(r.set, 0);
    if (!r.status) read_tables(&r);
    weft__sonic_set_free(r.set, &cleanup);
    *ret_sonic = r.s;
    return r.status;
}
