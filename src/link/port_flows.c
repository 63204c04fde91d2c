// SPDX-License-Identifier: Apache-2.0
// Which queue pairs share a link: how many different ones sent data by a port, in the whole run and since the last
// sample. The queue pairs are in an open-addressing table that grows.
#include "link/port.h"
#include "weft/memory.h"

struct entry {
    uint32_t key;   ///< queue pair + 1; 0: free
    uint32_t epoch; ///< of its priority, when it last sent, + 1
    weft_bytes bytes;
};

struct weft__port_flows {
    weft_bytes bytes_min;
    uint32_t counted; ///< have bytes_min
    uint32_t used, slots;
    uint32_t epoch[WEFT_PRIORITIES], lately[WEFT_PRIORITIES]; ///< samples so far; queue pairs since the last one
    struct entry *entry;
};

enum { SLOTS_MIN = 16 };

void weft__port_count_flows(struct weft__port *port, weft_bytes bytes_min) {
    struct weft__port_flows *f = weft_memory_new(WEFT_MEMORY_SERIES, 1, sizeof *f);
    f->bytes_min = bytes_min;
    f->slots = SLOTS_MIN;
    f->entry = weft_memory_new(WEFT_MEMORY_SERIES, f->slots, sizeof *f->entry);
    port->flows = f;
    port->special = WEFT__PORT_SPECIAL;
}

/// The entry of a key, or the free one where it belongs. There is always a free one.
static struct entry *find_entry(const struct weft__port_flows *f, uint32_t key) {
    uint32_t i = key * 0x9e3779b1u & (f->slots - 1);
    while (f->entry[i].key && f->entry[i].key != key)
        i = (i + 1) & (f->slots - 1);
    return &f->entry[i];
}

static void grow_entries(struct weft__port_flows *f) {
    struct entry *old = f->entry;
    uint32_t slots = f->slots;
    f->slots *= 2;
    f->entry = weft_memory_new(WEFT_MEMORY_SERIES, f->slots, sizeof *f->entry);
    for (uint32_t i = 0; i < slots; i++)
        if (old[i].key) *find_entry(f, old[i].key) = old[i];
    weft_memory_free(WEFT_MEMORY_SERIES, old, slots * sizeof *old);
}

void weft__port_note_flow(struct weft__port_flows *f, const struct weft_packet *packet) {
    struct entry *entry = find_entry(f, packet->qp + 1);
    if (!entry->key) {
        if (4 * ++f->used > 3 * f->slots) {
            grow_entries(f);
            entry = find_entry(f, packet->qp + 1);
        }
        entry->key = packet->qp + 1;
    }
    uint32_t epoch = f->epoch[packet->priority] + 1;
    if (entry->epoch != epoch) {
        entry->epoch = epoch;
        f->lately[packet->priority]++;
    }
    if (entry->bytes < f->bytes_min && entry->bytes + packet->bytes >= f->bytes_min) f->counted++;
    entry->bytes += packet->bytes;
}

uint32_t weft__port_flows_lately(struct weft__port_flows *f, uint32_t priority) {
    uint32_t n = f->lately[priority];
    f->lately[priority] = 0;
    f->epoch[priority]++;
    return n;
}

uint32_t weft__port_flows_free(struct weft__port_flows *f) {
    uint32_t n = f->counted;
    weft_memory_free(WEFT_MEMORY_SERIES, f->entry, f->slots * sizeof *f->entry);
    weft_memory_free(WEFT_MEMORY_SERIES, f, sizeof *f);
    return n;
}
