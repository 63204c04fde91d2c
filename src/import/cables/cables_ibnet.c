// SPDX-License-Identifier: Apache-2.0
// The subnet as ibnetdiscover prints it: a block for each switch and channel adapter, a line for each of its ports with
// the port at the far end. Source: ibnetdiscover(8) and infiniband-diags/ibnetdiscover.c of linux-rdma/rdma-core.
//
//   Switch  65 "S-2c5e..."          # "MF0;leaf-1:MQM9701/U1" enhanced port 0 lid 73 lmc 0
//   [1]     "H-e09d..."[1](e09d...) # "gpu-1 mlx5_5" lid 647 4xNDR
//   Ca      1 "H-e09d..."           # "gpu-1 mlx5_5"
//   [1](e09d...)  "S-2c5e..."[1]    # lid 647 lmc 0 "MF0;leaf-1:MQM9701/U1" lid 73 4xNDR
//   Rt      1 "R-fc6a..."           # "Router"
//
// An adapter's description is "node adapter": the node is the device, the adapter its port. The aggregation node of a
// switch (SHARP) is left out. Speeds are those of the data, of 4 lanes unless the line says otherwise.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/lines.h"
#include "base/order.h"
#include "import/cables/cables.h"

enum { GUID_MAX = 40, LANES_MAX = 12 };

struct ib_node {
    const char *guid, *description; ///< guid: with its "S-" or "H-"
    const char *name;
    bool is_switch;
};

struct ib_link {
    const char *guid[2];
    uint64_t port[2];
    const char *description; ///< of the far end
    weft_rate_bps rate_bps;
    struct weft_place place;
};

struct ib_net {
    struct weft__lines lines;
    struct weft_arena *arena;
    struct ib_node *node;
    struct ib_link *link;
    uint32_t nodes, links;
};

#define BAD(n, ...) WEFT_REFUSE(ret_error, (n)->lines.place, __VA_ARGS__)

// --- lines --------------------------------------------------------------------------------------------------------

/// The text between the next two quotes; NULL: none. Sets *text to the second quote.
static const char *next_quoted(struct ib_net *n, const char **text) {
    const char *from = *text ? strchr(*text, '"') : NULL, *to = from ? strchr(from + 1, '"') : NULL;
    if (!to) return NULL;
    *text = to + 1;
    return weft_arena_format(n->arena, "%.*s", (int)(to - from - 1), from + 1);
}

weft_rate_bps weft__cables_lane_rate(const char *name, size_t length) {
    static const struct {
        const char *name;
        uint64_t lane_mbps;
    } speed[] = {{"SDR", 2000},  {"DDR", 4000},  {"QDR", 8000},   {"FDR10", 10000}, {"FDR", 13640},
                 {"EDR", 25000}, {"HDR", 50000}, {"NDR", 100000}, {"XDR", 200000}};
    for (size_t i = 0; i < sizeof speed / sizeof *speed; i++)
        if (length == strlen(speed[i].name) && !strncasecmp(name, speed[i].name, length))
            return speed[i].lane_mbps * 1000000;
    return 0;
}

/// "4xNDR": 0 if it is none.
static weft_rate_bps rate_of(const char *text) {
    const char *word = strrchr(text, ' ');
    char *end;
    unsigned long lanes = word ? strtoul(word + 1, &end, 10) : 0;
    if (!lanes || lanes > LANES_MAX || *end != 'x') return 0;
    return lanes * weft__cables_lane_rate(end + 1, strcspn(end + 1, " \t\r"));
}

static enum weft_status take_node(struct ib_net *n, struct weft_error *ret_error) {
    const char *at = n->lines.line;
    const char *guid = next_quoted(n, &at), *description = next_quoted(n, &at);
    bool is_switch = strncmp(n->lines.line, "Ca", 2) != 0; // a router joins subnets as a switch does
    if (!guid || strlen(guid) < 3 || strlen(guid) > GUID_MAX || guid[1] != '-')
        return BAD(n, "expected %.*s, a number of ports and a name such as \"%c-0002c903000e0b72\"",
                   (int)strcspn(n->lines.line, " \t"), n->lines.line, is_switch ? *n->lines.line : 'H');
    WEFT__ADD(n->arena, n->node, n->nodes) = (struct ib_node){guid, description ? description : "", NULL, is_switch};
    return WEFT_OK;
}

/// [1](guid) "S-..."[5] # ... "description" lid 5 4xNDR
static enum weft_status take_link(struct ib_net *n, struct weft_error *ret_error) {
    char *end;
    const char *at = n->lines.line, *far = NULL;
    struct ib_link link = {.place = n->lines.place};
    link.port[0] = strtoull(at + 1, &end, 10);
    bool good = n->nodes && *end == ']' && link.port[0];
    if (good) far = next_quoted(n, &at);
    good &= far && *at == '[' && isdigit((unsigned char)at[1]);
    if (good) link.port[1] = strtoull(at + 1, &end, 10);
    if (!good || *end != ']')
        return BAD(n, "expected a port and the port at the far end, such as [1] \"S-0002c903000e0b72\"[5]");
    link.guid[0] = n->node[n->nodes - 1].guid;
    link.guid[1] = far;
    link.description = next_quoted(n, &at);
    link.rate_bps = rate_of(n->lines.line);
    WEFT__ADD(n->arena, n->link, n->links) = link;
    return WEFT_OK;
}

static enum weft_status take_line(struct ib_net *n, struct weft_error *ret_error) {
    const char *line = n->lines.line;
    if (!strncmp(line, "Switch", 6) || !strncmp(line, "Ca", 2) || !strncmp(line, "Rt", 2))
        return take_node(n, ret_error);
    return *line == '[' ? take_link(n, ret_error) : WEFT_OK; // else vendid=..., devid=...
}

// --- names --------------------------------------------------------------------------------------------------------

WEFT__ORDER(by_guid, struct ib_node, WEFT__TEXT(guid))

WEFT__ORDER_OF_POINTERS(by_name, struct ib_node, WEFT__TEXT(name))

static struct ib_node *find_node(const struct ib_net *n, const char *guid) {
    struct ib_node key = {.guid = guid};
    return bsearch(&key, n->node, n->nodes, sizeof key, by_guid);
}

static const char *guid_name(const struct ib_net *n, const struct ib_node *node) {
    return weft_arena_format(n->arena, "%s-%s", node->is_switch ? "switch" : "ca", node->guid + 2);
}

/// "leaf-1" of "MF0;leaf-1:MQM9701/U1", "gpu-1" of "gpu-1 mlx5_5".
static const char *short_name(const struct ib_net *n, const struct ib_node *node) {
    const char *from = node->description, *semicolon = strchr(from, ';');
    if (node->is_switch && semicolon) from = semicolon + 1;
    int length = (int)strcspn(from, node->is_switch ? ":/ " : " ");
    return length ? weft_arena_format(n->arena, "%.*s", length, from) : guid_name(n, node);
}

/// The description of an adapter that its node has not set: "MT4129 ConnectX7   Mellanox Technologies".
static bool is_nameless(const struct ib_node *node) {
    return !*node->description || strstr(node->description, "Technologies") || strstr(node->description, "ConnectX");
}

static bool is_aggregation(const char *description) {
    return description && strstr(description, "Aggregation Node");
}

/// Of the same name [from, to): switches are the chips of a chassis; adapters of a node have different descriptions.
static void separate_names(const struct ib_net *n, struct ib_node **node, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        for (uint32_t k = from; k < to; k++)
            if (k != i && (node[i]->is_switch || !strcmp(node[i]->description, node[k]->description)))
                node[i]->name = guid_name(n, node[i]);
}

static void name_nodes(struct ib_net *n) {
    struct ib_node **sorted = weft_arena_alloc(n->arena, n->nodes + 1, sizeof(struct ib_node *));
    for (uint32_t i = 0; i < n->nodes; i++) {
        sorted[i] = &n->node[i];
        n->node[i].name = is_nameless(&n->node[i]) ? guid_name(n, &n->node[i]) : short_name(n, &n->node[i]);
    }
    qsort(sorted, n->nodes, sizeof(struct ib_node *), by_name);
    for (uint32_t i = 0, end; i < n->nodes; i = end) {
        for (end = i + 1; end < n->nodes && !strcmp(sorted[i]->name, sorted[end]->name);)
            end++;
        separate_names(n, sorted, i, end);
    }
}

/// The adapter for a node's port ("mlx5_5", or "mlx5_5.2" of its second), the number for a switch's.
static const char *port_name(struct ib_net *n, const struct ib_node *node, uint64_t port) {
    const char *adapter = is_nameless(node) || node->is_switch ? NULL : strchr(node->description, ' ');
    if (!adapter) return weft_arena_format(n->arena, "port-%u", (unsigned)port);
    adapter += strspn(adapter, " ");
    int length = (int)strcspn(adapter, " ");
    return port == 1 ? weft_arena_format(n->arena, "%.*s", length, adapter)
                     : weft_arena_format(n->arena, "%.*s.%u", length, adapter, (unsigned)port);
}

static enum weft_status add_link(struct ib_net *n, const struct ib_link *link, struct weft__cable_list *list,
                                 struct weft_error *ret_error) {
    const struct ib_node *end[2] = {find_node(n, link->guid[0]), find_node(n, link->guid[1])};
    if (is_aggregation(link->description) || is_aggregation(end[0]->description)) return WEFT_OK;
    if (!end[1])
        return WEFT_REFUSE(ret_error, link->place,
                           "\"%s\" has no block of its own; expected the whole output of ibnetdiscover", link->guid[1]);
    struct weft__cable c = {.rate_bps = link->rate_bps, .place = link->place};
    for (uint32_t e = 0; e < 2; e++) {
        c.device[e] = end[e]->name;
        c.port[e] = port_name(n, end[e], link->port[e]);
        weft__cables_tell(list, c.device[e], end[e]->is_switch ? WEFT__CABLE_SWITCH : WEFT__CABLE_HOST);
    }
    weft__cables_add(list, &c);
    return WEFT_OK;
}

static enum weft_status check_nodes(const struct ib_net *n, struct weft_error *ret_error) {
    for (uint32_t i = 1; i < n->nodes; i++)
        if (!strcmp(n->node[i].guid, n->node[i - 1].guid))
            return BAD(n, "\"%s\" has two blocks; expected one", n->node[i].guid);
    return WEFT_OK;
}

enum weft_status weft__cables_read_ibnetdiscover(const struct weft__cables_file *file, struct weft__cable_list *list,
                                                 struct weft_error *ret_error) {
    struct ib_net n = {.arena = list->arena};
    bool more = true;
    enum weft_status status = weft__lines_open(&n.lines, file->path, file->place, ret_error);
    if (status) return status;
    while (!status && more) {
        status = weft__lines_next_full(&n.lines, &more, ret_error);
        if (!status && more) status = take_line(&n, ret_error);
    }
    weft__lines_close(&n.lines);
    if (status) return status;
    if (n.nodes) qsort(n.node, n.nodes, sizeof *n.node, by_guid);
    status = check_nodes(&n, ret_error);
    if (!status) name_nodes(&n);
    for (uint32_t i = 0; i < n.links && !status; i++)
        status = add_link(&n, &n.link[i], list, ret_error);
    return status;
}

bool weft__cables_is_ibnetdiscover(const char *head) {
    return (strstr(head, "switchguid=") || strstr(head, "caguid=")) && strstr(head, "vendid=");
}
