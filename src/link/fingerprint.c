// SPDX-License-Identifier: Apache-2.0
#include "link/fingerprint.h"

#include "link/port.h"

const char *weft__model_fingerprint(const struct weft_model *model, weft_model_fingerprint *fingerprint,
                                    const void *state, const void *conf, struct weft__fingerprint *s,
                                    struct weft_arena *arena) {
    if (!state) return NULL;
    if (!fingerprint)
        return weft_arena_format(arena, "%s %s keeps a state, and does not say what of it matters",
                                 weft_kind_name(model->kind), model->name);
    fingerprint(state, conf, s);
    return NULL;
}

void weft__port_fingerprint(const struct weft__port *port, struct weft__fingerprint *s) {
    weft__fingerprint_mix_until(s, port->busy_until_ps);
    weft__fingerprint_mix(s, port->pending | (uint64_t)port->paused << 16 | (uint64_t)port->pfc_xoff << 24 |
                                 (uint64_t)port->pfc_told << 32 | (uint64_t)port->storm << 40 |
                                 (uint64_t)port->lossless << 48 | (uint64_t)port->ready << 56);
    weft__fingerprint_mix(s, (uint64_t)port->obeyed | (uint64_t)port->waiting << 8);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++) {
        weft__fingerprint_mix(s, weft__port_queue_of(port, p)->bytes);
        weft__fingerprint_mix(s, weft__port_queue_of(port, p)->group.level);
        weft__fingerprint_mix(s, (uint64_t)(uint32_t)port->scheduler.credit[p] << 8 | port->scheduler.turn);
        if (port->paused >> p & 1) weft__fingerprint_mix_until(s, weft__port_pause_of(port, p)->until_ps);
        if (port->paused >> p & 1) weft__fingerprint_mix_since(s, weft__port_pause_of(port, p)->since_ps);
        if (port->storm >> p & 1) weft__fingerprint_mix_since(s, weft__port_pause_of(port, p)->last_ps);
        if (port->proxy_until_ps) weft__fingerprint_mix_until(s, port->proxy_until_ps[p]);
    }
    // The remainder is carried over to a frame that follows at once.
    if (port->busy_until_ps > s->now_ps) weft__fingerprint_mix(s, port->byte_rem);
    if (port->members) {
        weft__fingerprint_mix_until(s, port->members->released_ps);
        for (uint32_t k = 0; k < port->members->n; k++)
            weft__fingerprint_mix_until(s, port->members->until_ps[k]);
    }
    if (port->wire) {
        weft__fingerprint_mix_until(s, port->wire->until_ps);
        if (port->wire->until_ps > s->now_ps) weft__fingerprint_mix(s, port->wire->byte_rem);
    }
    if (port->faults && port->faults->bit_error_rate > 0) weft__fingerprint_mix_random(s, &port->faults->random);
}
