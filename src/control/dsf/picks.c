// SPDX-License-Identifier: Apache-2.0
// Choices of input balanced mode that a scenario makes itself: "fdsw-1/2,sdsw-0/3", ports of fabric nodes, each
// device's in the order in which it takes them.
#include "control/dsf/picks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 128 };

/// The next name of a text, separated by commas; false: there is none. One too long for a port comes cut.
static bool next_name(const char **text, char *ret) {
    *text += strspn(*text, ", ");
    size_t n = strcspn(*text, ", ");
    if (!n) return false;
    snprintf(ret, NAME, "%.*s", (int)n, *text);
    *text += n;
    return true;
}

/// The link of a fabric node of `f` that the name is of; false: none.
static bool find_slot(const struct weft_fabric *f, const char *name, uint32_t *ret_device, uint32_t *ret_slot) {
    const char *slash = strrchr(name, '/');
    if (!slash || !slash[1] || strspn(slash + 1, "0123456789") != strlen(slash + 1) || strlen(slash) > 5) return false;
    uint32_t slot = (uint32_t)atoi(slash + 1);
    for (uint32_t d = 0; d < f->devices; d++) {
        const struct weft_fabric_device *device = &f->device[d];
        if (strncmp(device->name, name, (size_t)(slash - name)) || device->name[slash - name]) continue;
        *ret_device = d;
        *ret_slot = slot;
        return device->level && slot < device->links; // all ports of a fabric node are links of the fabric
    }
    return false;
}

enum weft_status weft__picks_check(struct weft_fabric *const *fabric, uint32_t fabrics, const char *picks,
                                   struct weft_error *ret_error) {
    char name[NAME];
    while (next_name(&picks, name)) {
        uint32_t device, slot, i = 0;
        while (i < fabrics && !find_slot(fabric[i], name, &device, &slot))
            i++;
        if (i == fabrics)
            return weft_error_set(
                ret_error, WEFT_ERROR_INPUT, WEFT_NOWHERE,
                "control.reachability.picks: '%s' is no port of a fabric node; expected names such as "
                "fdsw-0/0",
                name);
    }
    return WEFT_OK;
}

const uint16_t *weft__picks_of(const struct weft_fabric *f, uint32_t device, const char *picks, uint32_t *ret_n,
                               struct weft_arena *arena) {
    char name[NAME];
    uint16_t *pick = *picks ? weft_arena_alloc(arena, f->device[device].links, sizeof *pick) : NULL;
    *ret_n = 0;
    while (next_name(&picks, name)) {
        uint32_t of, slot;
        if (find_slot(f, name, &of, &slot) && of == device && *ret_n < f->device[device].links)
            pick[(*ret_n)++] = (uint16_t)slot;
    }
    return pick;
}
