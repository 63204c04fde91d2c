// SPDX-License-Identifier: Apache-2.0
// Choices of input balanced mode that a scenario makes itself: "fdsw-1/2,sdsw-0/3" lists ports of fabric nodes, for
// each device in the order in which it takes them.
#include "control/dsf/picks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 128 };

/// The next name of a text, separated by commas; false: there is none. A name too long for a port is truncated.
static bool next_name(const char **text, char *ret) {
    *text += strspn(*text, ", ");
    size_t n = strcspn(*text, ", ");
    if (!n) return false;
    snprintf(ret, NAME, "%.*s", (int)n, *text);
    *text += n;
    return true;
}

enum weft_status weft_control_picks_check(const struct weft_topology *t, const struct weft_control_conf *conf,
                                          const struct weft_tree *control, struct weft_error *ret_error) {
    const struct weft_tree *reach = control ? weft_tree_find(control, "reachability") : NULL;
    const struct weft_tree *said = reach ? weft_tree_find(reach, "picks") : NULL;
    const char *picks = conf->reach.picks;
    char name[NAME];
    while (next_name(&picks, name)) {
        uint32_t port = weft_topology_find_port(t, name);
        if (port == WEFT_NONE || t->node[t->port[port].node].box != WEFT_BOX_DSF_FABRIC)
            return weft_error_set(
                ret_error, WEFT_ERROR_INPUT, said ? said->place : WEFT_NOWHERE,
                "control.reachability.picks: '%s' is not a port of a fabric node; expected ports such as "
                "fdsw-0/0",
                name);
    }
    return WEFT_OK;
}

/// All ports of a fabric node are links of the fabric, in that order.
static bool is_of(const struct weft_fabric_device *device, const char *name, uint32_t *ret_slot) {
    const char *slash = strrchr(name, '/');
    if (strncmp(device->name, name, (size_t)(slash - name)) || device->name[slash - name]) return false;
    *ret_slot = (uint32_t)strtoul(slash + 1, NULL, 10);
    return *ret_slot < device->links;
}

const uint16_t *weft__picks_of(const struct weft_fabric *f, uint32_t device, const char *picks, uint32_t *ret_n,
                               struct weft_arena *arena) {
    char name[NAME];
    uint32_t slot;
    uint16_t *pick = *picks ? weft_arena_alloc(arena, f->device[device].links, sizeof *pick) : NULL;
    *ret_n = 0;
    while (next_name(&picks, name))
        if (is_of(&f->device[device], name, &slot) && *ret_n < f->device[device].links)
            pick[(*ret_n)++] = (uint16_t)slot;
    return pick;
}
