// SPDX-License-Identifier: Apache-2.0
// The deep buffer of an interface node: on-chip memory, with HBM behind it. A packet goes to HBM if its VOQ holds more
// on chip than `sram_alpha` times the room left there for VOQs, or if packets before it are in HBM; so VOQs that drain
// stay on chip, and long ones do not take their room. HBM writes and reads at a separate rate each: packets still to be
// written wait on chip, and a packet in HBM leaves its VOQ when HBM is free to read it. With little room left on chip,
// all sending NICs are paused; a frame that finds no room is dropped.
//
// Sources: sizes from FBOSS (Jericho3Asic), the alpha of VOQs and the free shares of on-chip memory for XOFF and XON
// from its test configurations. Nothing is published about how HBM is read and written; ASSUMED are the rate, and that
// writing does not slow reading.
#include "box/dsf/dsf_in.h"

#include <assert.h>

static void use_way(const struct weft__in *in, weft_time_ps now, struct weft__hbm_direction *way, uint32_t bytes) {
    if (way->busy_until_ps < now) *way = (struct weft__hbm_direction){.busy_until_ps = now};
    uint64_t num = bytes * 8 * WEFT_PS_PER_S + way->rem;
    way->busy_until_ps += num / in->conf->hbm_rate_bps;
    way->rem = num % in->conf->hbm_rate_bps;
}

/// Bytes on chip: held by VOQs, and still to be written to HBM.
static weft_bytes chip_bytes(const struct weft__in *in, weft_time_ps now) {
    weft_bytes bytes = in->voq_bytes - in->hbm.bytes;
    if (in->hbm.write.busy_until_ps <= now) return bytes;
    unsigned __int128 bits = (unsigned __int128)(in->hbm.write.busy_until_ps - now) * in->conf->hbm_rate_bps;
    return bytes + (weft_bytes)(bits / (8 * WEFT_PS_PER_S));
}

static weft_bytes chip_share(const struct weft__in *in, double free) {
    return (weft_bytes)((1 - free) * (double)in->conf->sram_bytes);
}

void weft__in_hbm_start(struct weft__in *in) {
    double alpha = in->conf->sram_alpha;
    in->hbm.voq_room = chip_share(in, in->conf->sram_xon);
    in->hbm.watch_bytes = (weft_bytes)((double)in->hbm.voq_room * alpha / (1 + alpha));
}

bool weft__in_hbm_room(const struct weft__in *in, weft_time_ps now, uint32_t bytes) {
    return chip_bytes(in, now) + bytes <= in->conf->sram_bytes;
}

/// Checks again when HBM may have written enough.
static void arm_look(struct weft__node *node, struct weft__in *in, weft_time_ps now, weft_bytes excess) {
    struct weft__hbm_direction way = {.busy_until_ps = now};
    use_way(in, now, &way, (uint32_t)(excess < UINT16_MAX ? excess + 1 : UINT16_MAX));
    weft__timer_set(&node->timers, weft__in_box_key(in, WEFT__IN_KEY_CHIP), way.busy_until_ps);
}

void weft__in_hbm_store(struct weft__node *node, struct weft__in *in, weft_time_ps now, struct weft__voq *v,
                        uint32_t bytes) {
    if (!v->hbm) {
        weft_bytes used = in->voq_bytes - in->hbm.bytes, room = in->hbm.voq_room;
        double most = used < room ? in->conf->sram_alpha * (double)(room - used) : 0;
        if ((double)v->bytes <= most) return;
    }
    v->hbm++;
    in->hbm.bytes += bytes;
    if (in->hbm.bytes > in->counts.hbm_bytes_max) in->counts.hbm_bytes_max = in->hbm.bytes;
    in->counts.hbm_packets++;
    use_way(in, now, &in->hbm.write, bytes);
    if (in->ether.full || chip_bytes(in, now) <= chip_share(in, in->conf->sram_xoff)) return;
    in->counts.chip_full++;
    in->ether.full = true;
    arm_look(node, in, now, chip_bytes(in, now) - in->hbm.voq_room);
}

void weft__in_hbm_take(struct weft__in *in, weft_time_ps now, struct weft__voq *v, uint32_t bytes, bool read) {
    assert(v->hbm && in->hbm.bytes >= bytes);
    v->hbm--;
    in->hbm.bytes -= bytes;
    if (read) use_way(in, now, &in->hbm.read, bytes);
}

void weft__in_hbm_look(struct weft__node *node, struct weft__in *in, struct weft__worker *w) {
    weft_bytes bytes = chip_bytes(in, w->now_ps);
    if (bytes > in->hbm.voq_room)
        arm_look(node, in, w->now_ps, bytes - in->hbm.voq_room);
    else
        weft__ether_has_room(&in->ether, node, w);
}
