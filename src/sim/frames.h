// SPDX-License-Identifier: Apache-2.0
// A packet of the simulator as the frame that an engineer would see. See frames.c and docs/capture.md.
#ifndef WEFT_SIM_FRAMES_H
#define WEFT_SIM_FRAMES_H

#include "link/lldp.h"
#include "transport/qp.h"
#include "weft/wire.h"

enum {
    WEFT__FRAME_BYTES_MAX = UINT16_MAX, // as in struct weft_packet
    WEFT__FRAME_WRITTEN_MIN = 54,       // headers of a data frame of RoCE, the shortest ones
    WEFT__PAYLOAD_PERIOD = 256,
};

struct weft__frames {
    const struct weft_topology *topology;
    const struct weft_qp_conf *qp; ///< of every queue pair
    const struct weft_qp_numbers *qp_numbers;
    const struct weft__lldp_frame *lldp; ///< of every port; NULL: nobody speaks LLDP
    enum weft_cnp_mark cnp_mark;
    uint32_t framing_bytes; ///< weft_host_framing_bytes of all hosts
    uint32_t roce;          ///< enum weft_roce
    uint16_t vlan;          ///< 0: no tag
    bool uet, ordered;      ///< frames of queue pairs are those of Ultra Ethernet, with delivery in order
    bool headers;           ///< of data, only the headers
    bool routed;            ///< switches are routers
    uint8_t payload[WEFT__PAYLOAD_PERIOD + WEFT__FRAME_BYTES_MAX];
};

/// Fills in the payload; the rest is the caller's.
void weft__frames_init(struct weft__frames *frames);

/// The frame without FCS into `ret`, of WEFT__FRAME_BYTES_MAX bytes; `sender`: the port that sends it. Returns how many
/// bytes were written: packet->bytes - WEFT_FCS_BYTES unless only headers are wanted; never below
/// WEFT__FRAME_WRITTEN_MIN.
/// `sack`: of Ultra Ethernet's answers.
size_t weft__frames_build(const struct weft__frames *frames, const struct weft_packet *packet,
                          const struct weft_sack *sack, uint32_t sender, uint8_t *ret);

/// What stands behind the UDP header of a frame of Ultra Ethernet, `size` bytes into `ret`. See frames_uet.c.
void weft__frames_uet(const struct weft__frames *frames, const struct weft_packet *packet, const struct weft_sack *sack,
                      uint8_t *ret, size_t size);

#endif
