// SPDX-License-Identifier: Apache-2.0
#include "weft/wire_sfcm.h"

#include "wire/bytes.h"

size_t weft_sfcm_encode(const struct weft_sfcm *m, uint8_t *ret, size_t size) {
    if (size < WEFT_SFCM_BYTES || m->version > 15 || m->flags > 15 || m->priority > 7 || m->reserved1 > 31 ||
        m->dest_qp > WEFT_QP_MAX)
        return 0;
    ret[0] = (uint8_t)(m->version << 4 | m->flags);
    ret[1] = (uint8_t)(m->priority << 5 | m->reserved1);
    weft__put16(ret + 2, m->src_port);
    weft__put32(ret + 4, (uint32_t)m->reserved4 << 24 | m->dest_qp);
    weft__put32(ret + 8, m->pause_ns);
    weft__put32(ret + 12, m->congestion_point);
    weft__put16(ret + 16, m->reserved16);
    return WEFT_SFCM_BYTES;
}
