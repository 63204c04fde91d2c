// SPDX-License-Identifier: Apache-2.0
#include "weft/cc.h"
#include "weft/transport.h"

struct weft_connection_bytes weft_connection_bytes(const struct weft_model_conf *transport,
                                                   const struct weft_model_conf *cc, bool messages) {
    const struct weft_transport_ops *ops = transport->model->ops;
    const struct weft_qp_conf qp = {.packets = messages ? WEFT_QP_MESSAGES : 1};
    struct weft_connection_bytes bytes = {sizeof(struct weft_qp_sender) + sizeof(struct weft_qp_sample),
                                          sizeof(struct weft_qp_receiver)};
    if (ops->sender_size) bytes.sender += ops->sender_size(transport->conf);
    if (ops->receiver_size) bytes.receiver += ops->receiver_size(transport->conf, &qp);
    if (cc) bytes.sender += ((const struct weft_cc_ops *)cc->model->ops)->state_size(cc->conf);
    return bytes;
}
