// SPDX-License-Identifier: Apache-2.0
// The devices of a DSF fabric, numbered.
#include <assert.h>
#include <string.h>

#include "weft/control.h"
#include "weft/memory.h"

static void number_destinations(struct weft_fabric *f, struct weft_arena *arena) {
    for (uint32_t i = 0; i < f->devices; i++)
        f->device[i].dest = f->device[i].level ? WEFT_NONE : f->dests++;
    f->dest_device = weft_arena_alloc(arena, f->dests, sizeof *f->dest_device);
    f->dest_cluster = weft_arena_alloc(arena, f->dests, sizeof *f->dest_cluster);
    for (uint32_t i = 0; i < f->devices; i++) {
        if (f->device[i].level) continue;
        f->dest_device[f->device[i].dest] = i;
        f->dest_cluster[f->device[i].dest] = f->device[i].cluster;
    }
}

static void number_links(struct weft_fabric *f, struct weft_arena *arena) {
    for (uint32_t i = 0; i < f->devices; i++)
        f->device[i].links = 0;
    for (uint32_t l = 0; l < f->links; l++) {
        struct weft_fabric_link *link = &f->link[l];
        assert(f->device[link->device[0]].level + 1 == f->device[link->device[1]].level);
        for (uint32_t end = 0; end < 2; end++)
            link->slot[end] = f->device[link->device[end]].links++;
    }
    uint32_t sum = 0;
    for (uint32_t i = 0; i < f->devices; i++) {
        f->device[i].link0 = sum;
        sum += f->device[i].links;
    }
    f->at = weft_arena_alloc(arena, sum, sizeof *f->at);
    for (uint32_t l = 0; l < f->links; l++)
        for (uint32_t end = 0; end < 2; end++)
            f->at[f->device[f->link[l].device[end]].link0 + f->link[l].slot[end]] = l;
}

struct weft_fabric *weft_fabric_new(const struct weft_fabric_device *device, uint32_t devices,
                                    const struct weft_fabric_link *link, uint32_t links, struct weft_arena *arena) {
    struct weft_fabric *f = weft_arena_alloc(arena, 1, sizeof *f);
    f->devices = devices;
    f->links = links;
    f->device = weft_arena_alloc(arena, devices, sizeof *f->device);
    f->link = weft_arena_alloc(arena, links, sizeof *f->link);
    memcpy(f->device, device, devices * sizeof *device);
    memcpy(f->link, link, links * sizeof *link);
    number_destinations(f, arena);
    number_links(f, arena);
    return f;
}

uint32_t weft_fabric_peer(const struct weft_fabric *f, uint32_t device, uint32_t slot) {
    const struct weft_fabric_link *l = &f->link[f->at[f->device[device].link0 + slot]];
    return l->device[l->device[0] == device];
}

bool weft_fabric_leads(const struct weft_fabric *f, uint32_t device, uint32_t slot, uint32_t dest) {
    const struct weft_fabric_device *d = &f->device[device], *peer = &f->device[weft_fabric_peer(f, device, slot)];
    if (d->dest == dest) return false;
    if (!d->level) return true;
    if (d->level == 2) return peer->cluster == f->dest_cluster[dest];
    if (d->cluster == f->dest_cluster[dest]) return peer->dest == dest;
    return peer->level == 2;
}
