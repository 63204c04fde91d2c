// SPDX-License-Identifier: Apache-2.0
// Events of the control plane other than those of links: `control: {events: [{at: 1s, do: crash, node: rdsw-3}, ...]}`.
#include <stdio.h>
#include <stdlib.h>

#include "box/control.h"
#include "weft/memory.h"
#include "weft/param.h"
#include "weft/param_load.h"

enum { TEXT = 128 };

struct event_conf {
    weft_time_ps at_ps;
    uint32_t what;
    const char *node, *to;
};
const char *const weft_control_whats[] = {"crash",   "restart",    "shut",   "cut",     "heal", "move", "drain",
                                          "undrain", "asic_error", "reboot", "corrupt", "jump", NULL};
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "control.events", struct event_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TIME(struct event_conf, at_ps, "at", NULL, "0s", "1000000s", "when"),
    WEFT_CHOICE(
        struct event_conf, what, "do", NULL, weft_control_whats,
        "an agent stops without a word or (shut) with one, starts again; nodes are cut off from the others, or no "
        "more; a host moves; a node is drained, or no more, or drains itself because its chip is faulty. Of "
        "TiNs: sessions with the controller are cut, or no more; firmware reboots; an entry becomes another; a clock "
        "jumps"),
    WEFT_TEXT(struct event_conf, node, "node", "",
              "interface node or TiN; cut: a pattern, \"rdsw-[0-3]\"; move: where it was"),
    WEFT_TEXT(struct event_conf, to, "to", "", "move: the interface node where the host then is"));

#define BAD(tree, ...) WEFT_REFUSE(ret_error, (tree)->place, __VA_ARGS__)

/// NULL: the node does not take part in a control plane.
static const struct weft__box_control *party_of(const struct weft_topology *t, uint32_t node) {
    return weft__box_control_of(t->node[node].box);
}

/// "an interface node or a TiN": the boxes that take part in a control plane.
static const char *party_names(bool several, char *text, size_t size) {
    size_t n = 0;
    for (uint32_t kind = 0; kind < WEFT_BOXES; kind++) {
        const struct weft__box_control *control = weft__box_control_of(kind);
        if (!control || n >= size) continue;
        n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " or " : "", several ? control->several : control->one);
    }
    return text;
}

static enum weft_status find_node(const struct weft_topology *t, const struct weft_tree *entry, const char *key,
                                  const char *name, uint32_t *ret_node, struct weft_error *ret_error) {
    const struct weft_tree *given = weft_tree_find(entry, key);
    char some[TEXT];
    if (!*name) return BAD(entry, "expected '%s', the name of %s", key, party_names(false, some, sizeof some));
    *ret_node = weft_topology_find_node(t, name);
    if (*ret_node == WEFT_NONE || !party_of(t, *ret_node))
        return BAD(given, "%s is not %s of the topology; expected one, such as rdsw-0", name,
                   party_names(false, some, sizeof some));
    return WEFT_OK;
}

/// The nodes that a pattern selects; neither none nor all.
static enum weft_status find_side(const struct weft_topology *t, const struct weft_tree *entry, const char *pattern,
                                  bool **ret_side, struct weft_error *ret_error) {
    uint32_t in = 0, out = 0;
    *ret_side = weft_arena_alloc(t->arena, t->nodes, sizeof **ret_side);
    for (uint32_t n = 0; n < t->nodes; n++) {
        if (!party_of(t, n)) continue;
        (*ret_side)[n] = weft_glob_match(pattern, t->node[n].name);
        in += (*ret_side)[n];
        out += !(*ret_side)[n];
    }
    if (in && out) return WEFT_OK;
    char some[TEXT];
    return BAD(entry, "'%s' chooses %s; expected a pattern that chooses some %s, and not all", pattern,
               in ? "all" : "none", party_names(true, some, sizeof some));
}

static enum weft_status read_event(const struct weft_topology *t, const struct weft_tree *entry,
                                   struct weft_control_event *ret, struct weft_error *ret_error) {
    struct event_conf conf;
    WEFT_TRY(weft_params_load(&table, entry, &conf, t->arena, ret_error));
    *ret = (struct weft_control_event){conf.at_ps, (enum weft_control_what)conf.what, WEFT_NONE, WEFT_NONE, NULL};
    if (ret->what == WEFT_CONTROL_HEAL) return WEFT_OK;
    if (ret->what == WEFT_CONTROL_CUT) return find_side(t, entry, conf.node, &ret->side, ret_error);
    WEFT_TRY(find_node(t, entry, "node", conf.node, &ret->node, ret_error));
    if (!(party_of(t, ret->node)->whats >> ret->what & 1))
        return BAD(weft_tree_find(entry, "do"), "'%s' does not happen to %s; expected %s",
                   weft_control_whats[ret->what], conf.node, party_of(t, ret->node)->expected);
    if (ret->what != WEFT_CONTROL_MOVE) return WEFT_OK;
    WEFT_TRY(find_node(t, entry, "to", conf.to, &ret->to, ret_error));
    if (ret->to == ret->node) return BAD(entry, "the host moves from %s to itself", conf.node);
    return WEFT_OK;
}

enum weft_status weft_control_events_read(const struct weft_topology *t, const struct weft_tree *control,
                                          struct weft_control_event **ret_event, uint32_t *ret_n,
                                          struct weft_error *ret_error) {
    const struct weft_tree *list = control ? weft_tree_find(control, "events") : NULL;
    *ret_n = 0;
    *ret_event = NULL;
    if (!list || list->type == WEFT_TREE_NULL) return WEFT_OK;
    if (list->type != WEFT_TREE_LIST)
        return BAD(list, "control.events: expected a list, as in [{at: 1s, do: crash, node: rdsw-0}]");
    *ret_event = weft_arena_alloc(t->arena, list->n, sizeof **ret_event);
    for (uint32_t i = 0; i < list->n; i++)
        WEFT_TRY(read_event(t, list->child[i], &(*ret_event)[i], ret_error));
    *ret_n = list->n;
    for (uint32_t i = 1; i < list->n; i++)
        if ((*ret_event)[i].time_ps <= (*ret_event)[i - 1].time_ps)
            return BAD(list->child[i], "not after the event before; expected events of control in the order of time, "
                                       "no two at once");
    return WEFT_OK;
}
