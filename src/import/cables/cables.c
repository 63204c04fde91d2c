// SPDX-License-Identifier: Apache-2.0
// Cables of a network (import/cables/cables.h) as a topology: lists of cables, neighbours heard by LLDP,
// DEVICE_NEIGHBOR of SONiC switches; several files are one network.
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/lines.h"
#include "base/stream.h"
#include "base/units.h"
#include "import/cables/cables.h"
#include "import/config_db/sonic_load.h"
#include "weft/import.h"
#include "weft/param.h"
#include "weft/sonic.h"

static const char source[] =
    "lists of cables: ours, and NetBox's columns; LLDP: lldpcli(8) of lldpd 1.0, Arista EOS, "
    "show lldp table; SONiC: DEVICE_NEIGHBOR, PORT, CABLE_LENGTH of sonic-net/sonic-buildimage, "
    "src/sonic-yang-models; ibnetdiscover(8); Slurm: topology.conf(5), topology.yaml(5); "
    "containerlab.dev; DOT: Graphviz";

const char *const weft__cables_units[] = {"Mbps", "Gbps", "bps", NULL};

#define CABLES_ROWS(T)                                                                                                 \
    WEFT_TEXT(T, cables.hosts, "hosts", "",                                                                            \
              "devices that are hosts (shell patterns, joined by commas); all others are switches; empty: as in the "  \
              "files, else devices with one cable are hosts"),                                                         \
        WEFT_TEXT(T, cables.ignore, "ignore", "", "ports whose cables are ignored (patterns), such as eth0,mgmt*"),    \
        WEFT_BOOL(T, cables.planes, "planes", "off",                                                                   \
                  "hosts, all with as many cables, are in as many networks: ports of one NIC (dual ToR); off: a host " \
                  "with several cables is one host for each"),                                                         \
        WEFT_CHOICE(T, cables.speed_unit, "speed_unit", "Mbps", weft__cables_units,                                    \
                    "unit of speeds whose unit the file does not state (assumed)"),                                    \
        WEFT_TIME(T, cables.metre_ps, "metre", "5ns", "1ns", "20ns", "delay per metre of cable (assumed)"),            \
        WEFT_REAL(                                                                                                     \
            T, cables.oversubscription, "oversubscription", "1", "0.01", "1000",                                       \
            "hosts below a switch per cable to the switch above, for files that do not say how many cables there "     \
            "are (Slurm's; assumed)")

// --- files --------------------------------------------------------------------------------------------------------

/// The name of a file: "leaf-1" for "a/leaf-1.lldp.json".
static const char *name_of_file(const char *path, struct weft_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strcspn(name, ".");
    return n ? weft_arena_format(arena, "%.*s", (int)n, name) : name;
}

void weft__cables_add_sonic(const struct weft_sonic *s, const char *device, weft_time_ps metre_ps,
                            struct weft_place place, struct weft__cable_list *list) {
    const char *name = *s->hostname ? s->hostname : device;
    for (uint32_t p = 0; p < s->ports; p++) {
        const struct weft_sonic_port *port = &s->port[p];
        if (!port->up || !port->neighbor || !*port->neighbor) continue;
        struct weft__cable c = {.device = {name, port->neighbor},
                                .port = {port->name, port->neighbor_port},
                                .rate_bps = port->rate_bps,
                                .delay_ps = port->cable_mm * metre_ps / 1000,
                                .place = place,
                                .chassis = s->chassis,
                                .heard = true};
        weft__cables_add(list, &c);
    }
    weft__cables_tell(list, name, WEFT__CABLE_SWITCH);
}

static enum weft_status read_json(const struct weft__cables_file *file, struct weft__cable_list *list,
                                  struct weft_error *ret_error) {
    struct weft_tree *root = NULL;
    struct weft_sonic *s = NULL;
    enum weft_status status = weft_tree_read(file->path, list->arena, &root, ret_error);
    if (status) return status;
    if (weft_tree_find(root, "lldp")) return weft__cables_read_lldp(root, file->device, list, ret_error);
    if (weft__cables_read_json(root, file, list, &status, ret_error)) return status;
    bool part = false;
    WEFT_TRY(weft__sonic_is_part(file->path, list->arena, &part, ret_error));
    if (part)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path, .line = 1, .column = 1},
                           "neither 'lldp' nor 'lldpNeighbors', 'a_terminations', 'connected_endpoints' or 'PORT'; "
                           "expected what lldpctl -f "
                           "json, an Arista switch or NetBox writes, or a SONiC config_db.json");
    status = weft_sonic_read(&file->path, 1, NULL, list->arena, &s, ret_error);
    if (!status) weft__cables_add_sonic(s, file->device, file->conf->metre_ps, file->place, list);
    return status;
}

static bool is_json(const char *head) {
    if (*head == '{')
        return strstr(head, "\"lldp\"") || strstr(head, "\"DEVICE_NEIGHBOR\"") ||
               (strstr(head, "\"PORT\"") && strstr(head, "\"lanes\"")) || strstr(head, "\"lldpNeighbors\"") ||
               strstr(head, "_terminations\"") || strstr(head, "\"termination_a\"") ||
               strstr(head, "\"connected_endpoint");
    return *head == '[' &&
           (strstr(head, "\"lldpNeighbors\"") || strstr(head, "_terminations\"") || strstr(head, "\"termination_a\"") ||
            strstr(head, "\"side_a_device\"") || strstr(head, "\"connected_endpoint"));
}

const struct weft__cables_form *weft__cables_form(const char *head) {
    static const struct weft__cables_form form[] = {
        {"neighbours and cables in JSON", is_json, read_json},
        {"ibnetdiscover", weft__cables_is_ibnetdiscover, weft__cables_read_ibnetdiscover},
        {"Slurm's topology.conf", weft__cables_is_slurm, weft__cables_read_slurm},
        {"Slurm's topology.yaml", weft__cables_is_slurm_yaml, weft__cables_read_slurm_yaml},
        {"a lab of containerlab", weft__cables_is_lab, weft__cables_read_lab},
        {"a cabling plan in DOT", weft__cables_is_dot, weft__cables_read_dot},
        {"lldpctl", weft__cables_is_lldpctl, weft__cables_read_lldpctl},
        {"a table of neighbours", weft__cables_is_columns, weft__cables_read_columns},
        {"cables", weft__cables_is_table, weft__cables_read_table},
    };
    head += strspn(head, " \t\r\n");
    for (size_t f = 0; f < sizeof form / sizeof *form; f++)
        if (form[f].recognise(head)) return &form[f];
    return NULL;
}

static enum weft_status read_head(const char *path, struct weft_place place, char head[WEFT_IMPORT_HEAD + 1],
                                  struct weft_error *ret_error) {
    FILE *file = weft__file_open_unpacked(path);
    int lines;
    *head = 0;
    if (file) weft__file_read_head(file, head, WEFT_IMPORT_HEAD, &lines);
    bool bad = !file || ferror(file);
    int why = errno;
    if (file) fclose(file);
    return bad ? WEFT_REFUSE(ret_error, place, "%s cannot be read: %s", path, weft__file_why(why)) : WEFT_OK;
}

/// Adds the content of a file of any supported form.
static enum weft_status cables_read(const char *path, struct weft_place place, const struct weft__cables_conf *conf,
                                    struct weft__cable_list *list, struct weft_error *ret_error) {
    struct weft__cables_file file = {path, name_of_file(path, list->arena), place, conf};
    char *head = weft_arena_alloc(list->arena, WEFT_IMPORT_HEAD + 1, 1);
    for (uint32_t c = 0; c < list->cables; c++)
        if (list->cable[c].place.file && !strcmp(list->cable[c].place.file, path))
            return WEFT_REFUSE(ret_error, place, "'%s' is there twice; expected each file once", path);
    WEFT_TRY(read_head(path, place, head, ret_error));
    const struct weft__cables_form *form = weft__cables_form(head);
    if (form) return form->read(&file, list, ret_error);
    char first = head[strspn(head, " \t\r\n")]; // neither is known: the reader says what it expected
    return first == '{' || first == '[' ? read_json(&file, list, ret_error)
                                        : weft__cables_read_table(&file, list, ret_error);
}

/// Processes all cables together.
static enum weft_status finish_cables(const struct weft__cable_list *list, const struct weft__cables_conf *conf,
                                      struct weft_place place, struct weft__cables *ret_cables,
                                      struct weft_error *ret_error) {
    enum weft_status status = weft__cables_finish(list, conf, ret_cables, ret_error);
    if (!status && !ret_cables->graph.links)
        status = WEFT_REFUSE(ret_error, place, "no cable is in it; expected a line or a neighbour for each");
    return status;
}

/// Whether the network is in parts once each cable of a host ends at a separate host.
static bool in_parts(const struct weft__cables *cables, struct weft_arena *arena) {
    uint32_t *part;
    return cables->split && weft__file_graph_parts(&cables->graph, arena, &part) > 1;
}

static enum weft_status refuse_parts(struct weft_place place, struct weft_error *ret_error) {
    return WEFT_REFUSE(ret_error, place,
                       "the network is in parts, and hosts have cables in several; expected cables that join them, or "
                       "planes: on, which makes a host's cables ports of one NIC");
}

// --- topology -----------------------------------------------------------------------------------------------------

struct topology_conf {
    const char *file;
    struct weft__cables_conf cables;
};
static const struct weft_param_table topology_params = WEFT_PARAM_TABLE_OF(
    "cables", struct topology_conf, .lists = weft__topology_lists,
    WEFT_TEXT(struct topology_conf, file, "file", NULL,
              "the cables; relative to the scenario. Several files, joined by commas or as a list, form one network"),
    CABLES_ROWS(struct topology_conf),
    WEFT_RATE(struct topology_conf, cables.rate_bps, "rate", "200Gbps", "10Mbps", "100Tbps",
              "rate of cables without a speed (assumed)"),
    WEFT_TIME(struct topology_conf, cables.delay_ps, "delay", "150ns", "1ps", "1s",
              "propagation delay of cables without a length (assumed)"));

static enum weft_status cables_build(const void *conf, const struct weft_tree *tree, struct weft_topology_builder *b,
                                     struct weft_error *ret_error) {
    const struct topology_conf *c = conf;
    struct weft_place entry = b->place;
    struct weft__cable_list list = {.arena = b->arena, .ignored = "", .inventory = ""};
    struct weft__cables cables;
    const char *rest = c->file;
    char *item = weft_arena_alloc(b->arena, strlen(rest) + 1, 1);
    enum weft_status status = WEFT_OK;
    while (!status && weft__choice_next(&rest, item))
        status = cables_read(weft__path_beside(item, entry, b->arena), entry, &c->cables, &list, ret_error);
    if (!status) status = finish_cables(&list, &c->cables, entry, &cables, ret_error);
    if (!status && in_parts(&cables, b->arena)) return refuse_parts(entry, ret_error);
    return status ? status : weft__file_graph_build(&cables.graph, b, ret_error);
}

const struct weft_model weft__topology_cables = WEFT_MODEL_OF(
    TOPOLOGY, "cables",
    "lists of cables, or neighbours heard by LLDP: devices keep their names, and ports of switches theirs", source,
    &topology_params, &(const struct weft_topology_ops){.build = cables_build});

// --- import -------------------------------------------------------------------------------------------------------

struct import_conf {
    struct weft_import_common common;
    struct weft__cables_conf cables;
};
static const struct weft_param_table import_params =
    WEFT_PARAM_TABLE_OF("cables", struct import_conf, WEFT_PARAM_UNCHECKED, WEFT_IMPORT_ROWS(struct import_conf),
                        CABLES_ROWS(struct import_conf));

static const char *cables_recognise(const struct weft_import_file *file) {
    const struct weft__cables_form *form = weft__cables_form(file->head);
    return form ? form->name : NULL;
}

#define SAY(...) weft_import_say(import, WEFT_IMPORT_TOPOLOGY, __VA_ARGS__)
#define NOTE(note, ...) weft_import_note(import, WEFT_IMPORT_##note, __VA_ARGS__)

static void note_cables(const struct weft__cables *c, uint32_t outside, struct weft_import *import) {
    uint32_t hosts = weft__file_graph_hosts(&c->graph);
    NOTE(FOUND, "%" PRIu32 " devices: %s, %" PRIu32 " cables", c->devices,
         weft_import_nodes(import, hosts, c->graph.nodes - hosts), c->graph.links);
    if (c->twice) NOTE(FOUND, "%" PRIu32 " cables are told from both ends", c->twice);
    if (c->split)
        NOTE(FOUND,
             "%" PRIu32
             " hosts have several cables: each cable has a host of its own, called device.port (planes: on makes "
             "them ports of one NIC)",
             c->split);
    if (c->by_order)
        NOTE(ASSUMED,
             "%" PRIu32 " cables whose ends call the ports by different names: those between two devices are paired "
             "in the order of their ports",
             c->by_order);
    if (c->guessed)
        NOTE(ASSUMED, "%" PRIu32 " devices of which no file says what they are: those with one cable are hosts (hosts)",
             c->guessed);
    if (outside)
        NOTE(LEFT_OUT,
             "%" PRIu32
             " cables that are planned, not between two ports of devices, or with several ends that do not pair",
             outside);
    if (c->left_out) NOTE(LEFT_OUT, "%" PRIu32 " cables at ports that 'ignore' names", c->left_out);
    if (c->management)
        NOTE(LEFT_OUT, "%" PRIu32 " cables at ports of management, such as eth0 (ignore replaces this rule)",
             c->management);
    if (c->renamed)
        NOTE(LEFT_OUT, "%" PRIu32 " names of devices (letters, digits and _ - . : make one): host-N or switch-N",
             c->renamed);
    if (c->unnamed)
        NOTE(LEFT_OUT, "%" PRIu32 " names of ports (a letter, then letters, digits and _ - . : / make one)",
             c->unnamed);
}

static const char *rate_text(weft_rate_bps rate, struct weft_import *import) {
    char text[32];
    weft__quantity_format(WEFT__RATE, rate, text, sizeof text);
    return weft_arena_text(weft_import_arena(import), text);
}

static void say_conf(const struct weft__cables_conf *c, const struct weft__cables *cables, struct weft_import *import) {
    char rate[32], delay[32], metre[32];
    weft__quantity_format(WEFT__RATE, c->rate_bps, rate, sizeof rate);
    weft__quantity_format(WEFT__TIME, c->delay_ps, delay, sizeof delay);
    weft__quantity_format(WEFT__TIME, c->metre_ps, metre, sizeof metre);
    if (*c->hosts) SAY("  hosts: %s\n", weft_import_quote(import, c->hosts));
    if (*c->ignore) SAY("  ignore: %s\n", weft_import_quote(import, c->ignore));
    if (c->planes) {
        const struct weft__planes planes = weft__file_graph_planes(&cables->graph, weft_import_arena(import));
        SAY("  planes: on\n");
        weft__planes_say(&planes, import);
    }
    if (c->speed_unit) SAY("  speed_unit: %s\n", weft__cables_units[c->speed_unit]);
    if (cables->undelayed < cables->graph.links) {
        SAY("  metre: %s\n", metre);
        NOTE(ASSUMED, "a metre of cable takes %s (metre)", metre);
    }
    if (cables->unrated) {
        SAY("  rate: %s\n", rate);
        NOTE(ASSUMED, "%s for %" PRIu32 " cables without a speed (rate)", rate, cables->unrated);
    }
    if (cables->undelayed) {
        SAY("  delay: %s\n", delay);
        NOTE(ASSUMED, "%s for %" PRIu32 " cables without a length (delay)", delay, cables->undelayed);
    }
}

/// What is wrong with the network may be for want of the cables that are left out.
static void say_outside(const struct weft__cable_list *list, struct weft_error *error) {
    if (!error || (!list->outside && !list->next_page)) return;
    size_t used = strlen(error->text);
    if (list->next_page)
        snprintf(error->text + used, sizeof error->text - used, "; the file is one page, and another follows (next)");
    else
        snprintf(error->text + used, sizeof error->text - used,
                 "; left out: %s, planned or not between two ports of devices",
                 weft__counted(list->outside, "cable").text);
}

/// Makes the network of the cables and checks it. If the two cables of each host lead to separate networks, these are
/// planes.
static enum weft_status finish_network(const struct weft__cable_list *list, struct weft__cables_conf *conf,
                                       struct weft_place place, struct weft__cables *ret_cables,
                                       struct weft_error *ret_error) {
    WEFT_TRY(finish_cables(list, conf, place, ret_cables, ret_error));
    if (in_parts(ret_cables, list->arena)) {
        conf->planes = true;
        WEFT_TRY(finish_cables(list, conf, place, ret_cables, ret_error));
        if (weft__file_graph_planes(&ret_cables->graph, list->arena).n > 2) return refuse_parts(place, ret_error);
    }
    enum weft_status status = weft__file_graph_check(&ret_cables->graph, false, place, list->arena, ret_error);
    if (status) say_outside(list, ret_error);
    return status;
}

static enum weft_status cables_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                    struct weft_import *import, struct weft_error *ret_error) {
    const struct import_conf *c = conf;
    struct weft_place place = {.file = file->path};
    struct weft__cables_conf own = c->cables;
    struct weft__cable_list list = {.arena = weft_import_arena(import), .ignored = "", .inventory = ""};
    struct weft__cables cables;
    own.rate_bps = c->common.rate_bps;
    own.delay_ps = c->common.delay_ps;
    enum weft_status status = WEFT_OK;
    for (uint32_t f = 0; f < files && !status; f++) {
        if (strchr(file[f].written, ','))
            return WEFT_REFUSE(ret_error, (struct weft_place){.file = file[f].path},
                               "a comma in its name; expected a name without one");
        status = cables_read(file[f].path, (struct weft_place){.file = file[f].path}, &own, &list, ret_error);
    }
    if (!status) status = finish_network(&list, &own, place, &cables, ret_error);
    if (status) return status;
    SAY("  kind: cables\n  file:\n");
    for (uint32_t f = 0; f < files; f++)
        SAY("  - %s\n", weft_import_quote(import, file[f].written));
    note_cables(&cables, list.outside, import);
    say_conf(&own, &cables, import);
    if (list.shapes) {
        char each[32];
        weft__real_format(own.oversubscription, each, sizeof each);
        SAY("  oversubscription: %s\n", each);
        if (!cables.unrated) SAY("  rate: %s\n", rate_text(own.rate_bps, import));
        NOTE(ASSUMED,
             "cables between switches: Slurm's file says neither how many there are nor their speed, so there is one "
             "for every %s hosts below (oversubscription), of %s (rate)",
             each, rate_text(own.rate_bps, import));
        if (list.core) NOTE(ASSUMED, "a switch %s that joins what has none above it in Slurm's file", list.core);
    }
    if (list.lanes)
        NOTE(ASSUMED, "4 lanes for %s of InfiniBand whose type names none",
             weft__counted(list.lanes, "interface").text);
    if (list.others) NOTE(LEFT_OUT, "%s", list.others);
    if (list.unread) NOTE(LOST, "speeds of interfaces whose type says none: %s", list.unread);
    if (list.next_page) NOTE(LOST, "the cables of further pages: the file is one page of NetBox's API (next)");
    if (*list.inventory) NOTE(LEFT_OUT, "columns %s", weft_import_quote(import, list.inventory));
    if (*list.ignored) NOTE(LOST, "columns %s", weft_import_quote(import, list.ignored));
    return WEFT_OK;
}

const struct weft_model weft__import_cables = WEFT_MODEL_OF(
    IMPORT, "cables",
    "lists of cables (CSV, NetBox), LLDP neighbours, DEVICE_NEIGHBOR of SONiC switches, ibnetdiscover, Slurm's "
    "topology.conf, containerlab, DOT",
    source, &import_params,
    &(const struct weft_import_ops){
        .recognise = cables_recognise,
        .make = cables_make,
        .syntax = WEFT_IMPORT_TEXT | WEFT_IMPORT_JSON,
        .begins =
            "a header that names \"device B\", or JSON of \"lldp\", \"lldpNeighbors\", \"DEVICE_NEIGHBOR\" or NetBox's "
            "cables, or what ibnetdiscover, Slurm (topology.conf), containerlab or Graphviz write",
        .whole = "sonic",
    });
