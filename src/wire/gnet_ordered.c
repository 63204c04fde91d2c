// SPDX-License-Identifier: Apache-2.0
// Ordered sets of GNet, and packets over the management ones.
#include <string.h>

#include "weft/wire.h"
#include "weft/wire_gnet.h"
#include "wire/bytes.h"

enum { TIME_OCTETS = 6, SEQUENCES = 8 };

static enum weft_gnet_wire_status check_kind(const uint8_t *bytes, size_t size, enum weft_gnet_ordered kind) {
    if (size < WEFT_GNET_ORDERED_BYTES) return WEFT_GNET_WIRE_TRUNCATED;
    return bytes[0] == kind ? WEFT_GNET_WIRE_OK : WEFT_GNET_WIRE_TYPE;
}

size_t weft_gnet_timesync_encode(const struct weft_gnet_timesync *t, uint8_t *ret, size_t size) {
    if (size < WEFT_GNET_ORDERED_BYTES || t->cycles >> 8 * TIME_OCTETS) return 0;
    weft__put64(ret, t->cycles);
    ret[0] = WEFT_GNET_TIMESYNC;
    ret[1] = t->status;
    return WEFT_GNET_ORDERED_BYTES;
}

enum weft_gnet_wire_status weft_gnet_timesync_decode(const uint8_t *bytes, size_t size,
                                                     struct weft_gnet_timesync *ret) {
    enum weft_gnet_wire_status status = check_kind(bytes, size, WEFT_GNET_TIMESYNC);
    if (status) return status;
    *ret = (struct weft_gnet_timesync){bytes[1], weft__get64(bytes) << 16 >> 16};
    return WEFT_GNET_WIRE_OK;
}

static bool is_set(const struct weft_gnet_mos *m) {
    if (m->sequence >= SEQUENCES || m->bytes < 1 || m->bytes > WEFT_GNET_MOS_DATA) return false;
    for (unsigned i = m->bytes; i < WEFT_GNET_MOS_DATA; i++)
        if (m->data[i]) return false;
    return m->last || m->bytes == WEFT_GNET_MOS_DATA;
}

size_t weft_gnet_mos_encode(const struct weft_gnet_mos *m, uint8_t *ret, size_t size) {
    if (size < WEFT_GNET_ORDERED_BYTES || !is_set(m)) return 0;
    ret[0] = WEFT_GNET_MOS;
    ret[1] = (uint8_t)(m->first << 7 | m->last << 6 | m->bytes << 3 | m->sequence);
    memcpy(ret + 2, m->data, WEFT_GNET_MOS_DATA);
    return WEFT_GNET_ORDERED_BYTES;
}

enum weft_gnet_wire_status weft_gnet_mos_decode(const uint8_t *bytes, size_t size, struct weft_gnet_mos *ret) {
    enum weft_gnet_wire_status status = check_kind(bytes, size, WEFT_GNET_MOS);
    if (status) return status;
    struct weft_gnet_mos m = {
        .first = bytes[1] >> 7, .last = bytes[1] >> 6 & 1, .bytes = bytes[1] >> 3 & 7, .sequence = bytes[1] & 7};
    memcpy(m.data, bytes + 2, WEFT_GNET_MOS_DATA);
    if (!is_set(&m)) return WEFT_GNET_WIRE_FIELD;
    *ret = m;
    return WEFT_GNET_WIRE_OK;
}

size_t weft_pmos_encode(const uint8_t *packet, size_t bytes, uint8_t sequence, uint8_t *ret, size_t size) {
    uint8_t crc[WEFT_PMOS_CRC];
    size_t total = bytes + WEFT_PMOS_CRC, sets = weft_pmos_sets(bytes);
    if (!bytes || bytes > WEFT_PMOS_BYTES_MAX || size < sets * WEFT_GNET_ORDERED_BYTES || sequence >= SEQUENCES)
        return 0;
    weft__put32_low_first(crc, weft_fcs_calc(packet, bytes));
    for (size_t s = 0; s < sets; s++) {
        size_t first = s * WEFT_GNET_MOS_DATA, left = total - first;
        struct weft_gnet_mos m = {.first = !s,
                                  .last = s + 1 == sets,
                                  .bytes = (uint8_t)(left < WEFT_GNET_MOS_DATA ? left : WEFT_GNET_MOS_DATA),
                                  .sequence = (uint8_t)((sequence + s) % SEQUENCES)};
        for (size_t i = 0; i < m.bytes; i++)
            m.data[i] = first + i < bytes ? packet[first + i] : crc[first + i - bytes];
        weft_gnet_mos_encode(&m, ret + s * WEFT_GNET_ORDERED_BYTES, WEFT_GNET_ORDERED_BYTES);
    }
    return sets * WEFT_GNET_ORDERED_BYTES;
}

static enum weft_pmos_event finish_packet(struct weft_pmos_receiver *r) {
    r->open = false;
    if (r->bytes <= WEFT_PMOS_CRC) return WEFT_PMOS_BAD;
    r->bytes = (uint16_t)(r->bytes - WEFT_PMOS_CRC);
    bool good = weft_fcs_calc(r->data, r->bytes) == weft__get32_low_first(r->data + r->bytes);
    return good ? WEFT_PMOS_PACKET : WEFT_PMOS_BAD;
}

enum weft_pmos_event weft_pmos_on_set(struct weft_pmos_receiver *r, const struct weft_gnet_mos *m) {
    bool expected = m->first ? !r->open : r->open && m->sequence == r->next;
    r->next = (uint8_t)((m->sequence + 1) % SEQUENCES);
    if (m->first) r->bytes = 0;
    r->open = m->first || expected; // a new packet is taken even if the one before is not complete
    if (!r->open) return WEFT_PMOS_LOST;
    if (r->bytes + m->bytes > sizeof r->data) {
        r->open = false;
        return WEFT_PMOS_BAD;
    }
    memcpy(r->data + r->bytes, m->data, m->bytes);
    r->bytes = (uint16_t)(r->bytes + m->bytes);
    if (m->last) return finish_packet(r);
    return expected ? WEFT_PMOS_MORE : WEFT_PMOS_LOST;
}
