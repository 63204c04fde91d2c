// SPDX-License-Identifier: Apache-2.0
// Neighbours heard by lldpd, in the output of "lldpctl -f json" and "-f json0", and in that of lldpctl alone, which is
// SONiC's "show lldp neighbors" too. Source: lldpcli(8) of lldpd 1.0, whose json0 has lists and {"value": ...} where
// json has maps and texts; a neighbour's name is a key there.
#include <string.h>
#include <strings.h>

#include "base/table.h"
#include "import/cables/cables.h"
#include "weft/tree.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

/// The single element of a list, or the value itself.
static const struct weft_tree *single_of(const struct weft_tree *tree) {
    return tree && tree->type == WEFT_TREE_LIST && tree->n == 1 ? tree->child[0] : tree;
}

/// A text under a key: "x", {"value": "x"} or [{"value": "x"}]; NULL: none.
static const char *text_at(const struct weft_tree *tree, const char *key) {
    const struct weft_tree *at = single_of(weft_tree_find(tree, key));
    if (at && at->type == WEFT_TREE_MAP) at = weft_tree_find(at, "value");
    return at && at->type == WEFT_TREE_TEXT && *at->text ? at->text : NULL;
}

/// Bridges and routers are switches; stations that are neither are hosts.
static enum weft__cable_role role_of(const struct weft_tree *chassis) {
    const struct weft_tree *list = weft_tree_find(chassis, "capability");
    bool forwards = false, station = false;
    uint32_t n = !list ? 0 : list->type == WEFT_TREE_LIST ? list->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_tree *entry = list->type == WEFT_TREE_LIST ? list->child[i] : list;
        const char *type = text_at(entry, "type"), *enabled = text_at(entry, "enabled");
        if (!type || !enabled || strcasecmp(enabled, "true")) continue;
        forwards |= !strcmp(type, "Bridge") || !strcmp(type, "Router");
        station |= !strcmp(type, "Station");
    }
    return forwards ? WEFT__CABLE_SWITCH : station ? WEFT__CABLE_HOST : WEFT__CABLE_UNKNOWN;
}

/// The chassis with its name: {"leaf-1": {...}}, {"name": ..., ...}, or nameless, with its id.
static enum weft_status read_chassis(const struct weft_tree *tree, const char **ret_name,
                                     enum weft__cable_role *ret_role, struct weft_error *ret_error) {
    const struct weft_tree *chassis = single_of(weft_tree_find(tree, "chassis"));
    if (!chassis || chassis->type != WEFT_TREE_MAP || !chassis->n)
        return BAD(tree->place, "a neighbour without a chassis; expected what lldpctl -f json writes");
    *ret_name = text_at(chassis, "name");
    if (!*ret_name && chassis->n == 1 && chassis->child[0]->type == WEFT_TREE_MAP &&
        strcmp(chassis->child[0]->key, "id")) {
        chassis = chassis->child[0];
        *ret_name = chassis->key;
    }
    if (!*ret_name) *ret_name = text_at(chassis, "id");
    if (!*ret_name) return BAD(chassis->place, "a chassis without a name and an id");
    *ret_role = role_of(chassis);
    return WEFT_OK;
}

static enum weft_status read_interface(const char *name, const struct weft_tree *tree, const char *device,
                                       struct weft__cable_list *list, struct weft_error *ret_error) {
    const struct weft_tree *port = single_of(weft_tree_find(tree, "port"));
    enum weft__cable_role role = WEFT__CABLE_UNKNOWN;
    struct weft__cable c = {.device = {device}, .port = {name}, .place = tree->place, .heard = true};
    WEFT_TRY(read_chassis(tree, &c.device[1], &role, ret_error));
    c.port[1] = text_at(port, "id");
    weft__cables_add(list, &c);
    weft__cables_tell(list, c.device[1], role);
    return WEFT_OK;
}

/// {"name": "eth0", ...} of json0, else {"eth0": {...}, ...}.
static enum weft_status read_interfaces(const struct weft_tree *tree, const char *device, struct weft__cable_list *list,
                                        struct weft_error *ret_error) {
    if (tree->type != WEFT_TREE_MAP) return BAD(tree->place, "expected interfaces, as lldpctl -f json writes them");
    const char *name = text_at(tree, "name");
    if (name) return read_interface(name, tree, device, list, ret_error);
    for (uint32_t i = 0; i < tree->n; i++)
        WEFT_TRY(read_interface(tree->child[i]->key, tree->child[i], device, list, ret_error));
    return WEFT_OK;
}

enum weft_status weft__cables_read_lldp(const struct weft_tree *root, const char *device, struct weft__cable_list *list,
                                        struct weft_error *ret_error) {
    const struct weft_tree *lldp = single_of(weft_tree_find(root, "lldp"));
    const struct weft_tree *interfaces = weft_tree_find(lldp, "interface");
    if (!interfaces || (interfaces->type != WEFT_TREE_MAP && interfaces->type != WEFT_TREE_LIST))
        return BAD(lldp->place, "no 'interface' in 'lldp'; expected neighbours as lldpctl -f json writes them");
    if (interfaces->type == WEFT_TREE_MAP) return read_interfaces(interfaces, device, list, ret_error);
    for (uint32_t i = 0; i < interfaces->n; i++)
        WEFT_TRY(read_interfaces(interfaces->child[i], device, list, ret_error));
    return WEFT_OK;
}

// --- lldpctl's text -----------------------------------------------------------------------------------------------

/// The value behind a word such as "SysName:"; NULL: the line has another word.
static const char *value_of(const char *line, const char *word, struct weft_arena *arena) {
    size_t n = strlen(word);
    line += strspn(line, " \t");
    if (strncasecmp(line, word, n)) return NULL;
    line += n + strspn(line + n, " \t");
    size_t size = strcspn(line, "\r\n");
    while (size && line[size - 1] == ' ')
        size--;
    return weft_arena_format(arena, "%.*s", (int)size, line);
}

/// What follows the kind of an identifier: "eth0" of "ifname eth0".
static const char *identifier_of(const char *value) {
    const char *blank = value ? strchr(value, ' ') : NULL;
    return blank ? blank + 1 : value;
}

/// A neighbour that lldpctl's text describes, as far as it is read.
struct heard {
    struct weft__cable cable;
    const char *id; ///< of its chassis
    bool forwards, station;
};

static enum weft_status add_heard(struct heard *heard, struct weft__cable_list *list, struct weft_error *ret_error) {
    struct weft__cable *c = &heard->cable;
    if (!c->port[0]) return WEFT_OK;
    if (!c->device[1]) c->device[1] = heard->id;
    if (!c->device[1]) return BAD(c->place, "a neighbour without SysName and ChassisID");
    weft__cables_add(list, c);
    weft__cables_tell(list, c->device[1],
                      heard->forwards  ? WEFT__CABLE_SWITCH
                      : heard->station ? WEFT__CABLE_HOST
                                       : WEFT__CABLE_UNKNOWN);
    return WEFT_OK;
}

static void take_line(const char *line, struct heard *heard, struct weft_arena *arena) {
    const char *name = value_of(line, "SysName:", arena), *id = value_of(line, "ChassisID:", arena);
    const char *port = value_of(line, "PortID:", arena), *can = value_of(line, "Capability:", arena);
    if (name && *name) heard->cable.device[1] = name;
    if (id && *id) heard->id = identifier_of(id);
    if (port && *port) heard->cable.port[1] = identifier_of(port);
    if (!can || !strstr(can, ", on")) return;
    heard->forwards |= !strncasecmp(can, "Bridge", 6) || !strncasecmp(can, "Router", 6);
    heard->station |= !strncasecmp(can, "Station", 7);
}

enum weft_status weft__cables_read_lldpctl(const struct weft__cables_file *file, struct weft__cable_list *list,
                                           struct weft_error *ret_error) {
    WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
    struct heard heard = {0};
    bool more = true;
    WEFT_TRY(weft__lines_open(&lines, file->path, file->place, ret_error));
    while (more) {
        WEFT_TRY(weft__lines_next_full(&lines, &more, ret_error));
        const char *interface = more ? value_of(lines.line, "Interface:", list->arena) : NULL;
        if (more && !interface) take_line(lines.line, &heard, list->arena);
        if (more && !interface) continue;
        WEFT_TRY(add_heard(&heard, list, ret_error));
        heard = (struct heard){.cable = {.device = {file->device},
                                         .place = {.file = lines.path, .line = lines.place.line, .column = 1},
                                         .heard = true}};
        if (more) heard.cable.port[0] = weft_arena_format(list->arena, "%.*s", (int)strcspn(interface, ","), interface);
    }
    return WEFT_OK;
}

bool weft__cables_is_lldpctl(const char *head) {
    return strstr(head, "LLDP neighbors:") && strstr(head, "Interface:");
}
