// SPDX-License-Identifier: Apache-2.0
#include "report/events.h"

#include <stdlib.h>
#include <string.h>

#include "weft/outcome.h"
#include "weft/packet.h"

const struct weft_event_info weft_event_infos[WEFT_EVENT_KINDS] = {
#define X(e, name, value, more, help) [WEFT_EVENT_##e] = {name, value, more, help},
    WEFT_EVENTS(X)
#undef X
};

static const char *const thresholds[] = {"min", "max", "drop", NULL};
static const char *const resumed_by[] = {"frame", "time", "agreement", NULL};
static const char *const packets[] = {
    [WEFT_PACKET_DATA] = "data", [WEFT_PACKET_ACK] = "ack",   [WEFT_PACKET_NAK] = "nak", [WEFT_PACKET_CNP] = "cnp",
    [WEFT_PACKET_READ] = "read", [WEFT_PACKET_SFCM] = "sfcm", [WEFT_PACKET_KINDS] = NULL};

static const char *const rma_waits[] = {"answer", "window", NULL};

/// The names for `detail`; NULL: a number, or nothing.
static const char *const *names_of(uint32_t kind) {
    switch (kind) {
    case WEFT_EVENT_QUEUE_ABOVE:
    case WEFT_EVENT_QUEUE_BELOW:
        return thresholds;
    case WEFT_EVENT_RESUMED:
        return resumed_by;
    case WEFT_EVENT_CLASSIFIED:
        return packets;
    case WEFT_EVENT_DROPPED:
    case WEFT_EVENT_CELLS_LOST:
        return weft_drop_names;
    case WEFT_EVENT_RMA_TIMEOUT:
        return rma_waits;
    default:
        return NULL;
    }
}

static bool is_vector(uint32_t kind) {
    return kind == WEFT_EVENT_PAUSE_SENT || kind == WEFT_EVENT_PAUSE_RECEIVED;
}

const char *weft__event_detail_text(const struct weft_event *event, char *text, size_t size) {
    const char *const *names = names_of(event->kind);
    if (names) return names[event->detail];
    if (!is_vector(event->kind)) return NULL;
    return WEFT_SAY(text, size, "0x%02x", event->detail);
}

uint32_t weft__event_kind(const char *name) {
    uint32_t kind = 0;
    while (kind < WEFT_EVENT_KINDS && (!name || strcmp(weft_event_infos[kind].name, name)))
        kind++;
    return kind;
}

uint8_t weft__event_detail(uint32_t kind, const char *text) {
    const char *const *names = names_of(kind);
    uint8_t n = names == weft_drop_names ? WEFT_DROPS : UINT8_MAX;
    for (uint8_t i = 0; text && names && i < n && names[i]; i++)
        if (!strcmp(names[i], text)) return i;
    return text && is_vector(kind) ? (uint8_t)strtoul(text, NULL, 0) : 0;
}
