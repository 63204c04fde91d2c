// SPDX-License-Identifier: Apache-2.0
#include "transport/qp.h"

uint32_t weft__qp_frame_bytes(const struct weft_qp_conf *qp, uint32_t psn, uint32_t data_header_bytes) {
    if (__builtin_expect(data_header_bytes, 0)) return weft__qp_payload(qp, psn) + data_header_bytes;
    uint32_t bytes = weft__qp_frame_least(weft__qp_payload(qp, psn));
    bool first = psn == 0, last = psn + 1 == qp->packets;
    if (qp->verb == WEFT_VERB_WRITE && first) bytes += WEFT_FRAME_RETH;
    if (qp->verb == WEFT_VERB_READ && (first || last)) bytes += WEFT_FRAME_AETH;
    return bytes < WEFT_FRAME_MIN ? WEFT_FRAME_MIN : bytes;
}
