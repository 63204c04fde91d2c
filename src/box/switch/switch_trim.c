// SPDX-License-Identifier: Apache-2.0
// Packet trimming: when a data packet finds no room, its header continues at another priority. See weft/aqm.h. The
// payload counts as a separate drop, and the header as a normal packet.
#include "box/switch/switch_path.h"

bool weft__switch_trim(struct weft__switch *sw, struct weft__worker *w, struct weft_packet *p, uint32_t out) {
    struct weft_aqm_trim trim = sw->aqm->trim(sw->aqm_conf[out]);
    if (p->kind != WEFT_PACKET_DATA || p->spare || p->bytes <= trim.bytes) return true;
    weft__count(w, WEFT__COUNT_DROPS + WEFT_DROP_TRIMMED, 1);
    weft__count_lost_bytes(w, WEFT_DROP_TRIMMED, p->bytes - trim.bytes);
    weft__port_counters(&sw->port[out], p->priority)->drops++;
    if (__builtin_expect(sw->trace != NULL, 0)) weft__switch_trace_drop(sw, w->now_ps, p, out, out, WEFT_DROP_TRIMMED);
    p->spare = 1;
    p->bytes = trim.bytes;
    p->priority = trim.priority & 7u;
    p->dscp = trim.dscp & 63u;
    if (weft__port_queue_of(&sw->port[out], p->priority)->bytes + p->bytes <= trim.room_bytes) return true;
    weft__switch_drop(sw, w, p, out, out, WEFT_DROP_AQM);
    return false;
}
