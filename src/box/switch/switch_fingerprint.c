// SPDX-License-Identifier: Apache-2.0
// Everything that determines a switch's future while nothing is in flight (base/digest.h): its own state, and that
// of its models, which they mix themselves (weft_model_fingerprint).
#include "box/box.h"
#include "box/switch/switch.h"

static const char *why_refused(const struct weft__switch *sw) {
    if (sw->arbitrated) return "switches with queues at inputs";
    if (sw->sfc_watch_bytes != UINT64_MAX) return "source flow control";
    if (sw->te) return "traffic engineering";
    for (uint32_t k = 0; k < sw->ports; k++)
        if (sw->port[k].credit) return "credit-based flow control of links";
    return NULL;
}

static const char *mix_models(const struct weft__switch *sw, struct weft__fingerprint *s, struct weft_arena *arena) {
    const struct weft_switch_conf *c = sw->conf;
    const struct one {
        const struct weft_model_conf *model;
        weft_model_fingerprint *fingerprint;
        const void *state;
    } one[] = {
        {&c->route, sw->route->fingerprint, sw->route_state},
        {&c->queueing, sw->queueing->fingerprint, sw->queueing_state},
        {&c->arbiter, sw->arbitrated ? sw->arbiter->fingerprint : NULL, sw->arbiter_state},
        {&c->buffer, sw->buffer->fingerprint, sw->buffer_state},
    };
    const char *refused = NULL;
    for (uint32_t i = 0; !refused && i < sizeof one / sizeof *one; i++)
        refused = weft__model_fingerprint(one[i].model->model, one[i].fingerprint, one[i].state, one[i].model->conf, s,
                                          arena);
    for (uint32_t q = 0; !refused && sw->ether.aqm_bytes && q < sw->ports * WEFT_PRIORITIES; q++)
        refused = weft__model_fingerprint(c->aqm.model, sw->aqm->fingerprint, weft__ether_aqm_state(&sw->ether, q),
                                          sw->aqm_conf[q / WEFT_PRIORITIES], s, arena);
    return refused;
}

const char *weft__switch_fingerprint(const struct weft__network *net, uint32_t node, struct weft__fingerprint *ret) {
    const struct weft__switch *sw = weft__network_state(net, node);
    const struct weft__timers *timers = &net->engine.node[node].timers;
    const char *refused = mix_models(sw, ret, net->outcome->arena);
    if (!refused) refused = why_refused(sw);
    if (refused) return refused;
    for (uint32_t k = 0; k < sw->ports; k++)
        weft__port_fingerprint(&sw->port[k], ret);
    weft__fingerprint_mix_random(ret, &sw->ether.ecn_random);
    weft__fingerprint_mix(ret, sw->epochs_left);
    for (uint32_t i = 0; sw->pipe && i < sw->conf->pipes; i++) {
        weft__fingerprint_mix_until(ret, sw->pipe[i].over_ps);
        weft__fingerprint_mix(ret, sw->pipe[i].over_ps >= ret->now_ps ? sw->pipe[i].over_part : 0);
    }
    for (uint32_t key = 0; key < timers->keys; key++)
        if (weft__timer_at(timers, key) != WEFT_TIME_NEVER) {
            weft__fingerprint_mix(ret, key);
            weft__fingerprint_mix_since(ret, weft__timer_at(timers, key));
        }
    return NULL;
}
