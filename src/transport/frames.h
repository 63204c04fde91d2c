// SPDX-License-Identifier: Apache-2.0
// The frames of a transport: how a packet of a queue pair looks behind the IP and UDP headers. One row per format; a
// transport names its row (weft_transport_ops.frames), and captures ask the row for everything.
#pragma once

#include "transport/qp.h"
#include "weft/transport.h"
#include "weft/wire.h"

enum {
    WEFT__FRAME_BYTES_MAX = UINT16_MAX, // as in struct weft_packet
    WEFT__PAYLOAD_PERIOD = 256,         // octet k of a message is k mod 256
};

/// What packets do not carry and frames show.
struct weft__frames {
    const struct weft_topology *topology;
    const struct weft_qp_conf *qp; ///< of every queue pair
    const struct weft_qp_numbers *qp_numbers;
    const struct weft__raw *raw;                ///< frames of attached hosts; NULL: none
    const struct weft__lldp_frame *lldp;        ///< of every port; NULL: nobody speaks LLDP
    const struct weft_transport_frames *format; ///< of the packets of queue pairs
    enum weft_cnp_mark cnp_mark;
    uint32_t framing_bytes; ///< weft_host_framing_bytes of all hosts
    uint32_t roce;          ///< enum weft_roce
    uint16_t vlan;          ///< 0: no tag
    bool ordered;           ///< the transport delivers in order
    bool headers;           ///< of data, only the headers
    bool routed;            ///< switches are routers
    uint8_t payload[WEFT__PAYLOAD_PERIOD + WEFT__FRAME_BYTES_MAX];
};

struct weft_transport_frames {
    const char *name; ///< of the protocol, as in messages
    /// What host.data_header and host.ack_frame must say for frames of this format; 0: the sizes are RoCE's.
    uint32_t data_bytes, ack_bytes;
    size_t header_bytes; ///< of `message` that are headers and not payload
    bool trims;          ///< what is left of a trimmed packet has a form
    bool sacks;          ///< selective acknowledgements have a form
    /// Fills in what follows UDP. On entry `f` has the headers up to UDP; `message` has room for
    /// WEFT__FRAME_BYTES_MAX and may become the payload. `sack`: of a selective acknowledgement.
    void (*fill)(struct weft_frame *f, const struct weft__frames *frames, const struct weft_packet *packet,
                 const struct weft_sack *sack, uint8_t *message);
};

extern const struct weft_transport_frames weft__frames_roce, weft__frames_uet;

static inline const struct weft_transport_frames *weft__transport_frames(const struct weft_transport_ops *transport) {
    return transport->frames ? transport->frames : &weft__frames_roce;
}
