// SPDX-License-Identifier: Apache-2.0
// Output queueing: a packet goes at once to the FIFO of its output and priority, whatever the other inputs do. The
// fabric would have to run N times as fast as a port. It is an ideal and, with buffers accounted at the ingress, it
// behaves like a shared-memory switch. Source: IEEE 802.1 dw-chen-sfc (queueing architectures); Karol, Hluchyj, Morgan
// 1987.
#include "weft/queueing.h"

const struct weft_model weft__queueing_oq =
    WEFT_MODEL_OF(QUEUEING, "oq", "output queues: one FIFO per output and priority; no input ever blocks another",
                  "Karol, Hluchyj, Morgan 1987; IEEE 802.1 dw-chen-sfc", &weft_no_params,
                  &(const struct weft_queueing_ops){.push = NULL});
