// SPDX-License-Identifier: Apache-2.0
// What TiNs do under load. Counts are sums over all of them.
#include "box/tin/tin_net.h"

static void look_at_ctd(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                        struct weft_arena *arena, struct weft__mechanism_use *use) {
    const struct weft_tin_outcome *o = weft_outcome_tin(run->outcome);
    use->devices++;
    use->acts = o->ctd;
    weft__mechanism_saw(use, o->rts_bytes_max, weft__tin_conf(conf)->ctd_bytes);
}
static const struct weft__mechanism ctd = {
    .name = "CTD", .nothing = "no clear-to-drop", .watched = "fullest RTS queue", .look = look_at_ctd};

/// Its AQM goes by queues of RTSs.
static void look_at_ecn(const struct weft_run *run, uint32_t node, const struct weft_device_conf *conf,
                        struct weft_arena *arena, struct weft__mechanism_use *use) {
    weft__mechanism_look_at_ecn(run, node, conf, weft_outcome_tin(run->outcome)->rts_bytes_max, use);
}
static const struct weft__mechanism ecn = {WEFT__MECHANISM_ECN, .watched = "fullest RTS queue", .look = look_at_ecn};

const struct weft__mechanisms weft__tin_mechanisms = {{&weft__mechanism_pfc, &ecn, &ctd, &weft__mechanism_watchdog}};
