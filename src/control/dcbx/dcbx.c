// SPDX-License-Identifier: Apache-2.0
// IEEE 802.1Q-2022 clause 38.4 and annex D.2.8 to D.2.11. PFC is a symmetric attribute (both ends shall have the same:
// the willing end takes the other's; if both are willing, the one with the lower MAC address decides), ETS an
// asymmetric one (a willing end takes what the other recommends), the application table is informational.
//
// CEE DCBX (Base Specification 1.01, section 2.4.3, the feature state machine): the willing end takes the other's; if
// both are willing, or neither, and they differ, the feature is off at both ends. An end that has disabled PFC, or
// reports an error, has it off. Sequence numbers, which show when both know of a change, are not modelled, because
// nothing changes.
//
// Our choices where the standard says nothing: an end does not accept a PFC configuration with more priorities than its
// stated capability; a willing end uses the neighbour's application entries where it has none; equal MAC addresses
// decide nothing.
#include "weft/dcbx.h"

#include <assert.h>
#include <string.h>

static bool has_part(const struct weft_dcbx_end *end, enum weft_dcbx_part part) {
    return end && end->says.has & part;
}

static bool has_cee_pfc(const struct weft_dcbx_end *end) {
    return has_part(end, WEFT_DCBX_CEE) && end->says.cee.has >> WEFT_CEE_PFC & 1;
}

/// The configuration of an end without a neighbour; empty, if it has announced nothing.
static struct weft_pfc_configuration pfc_of(const struct weft_dcbx_end *end) {
    if (has_part(end, WEFT_DCBX_PFC)) return end->says.pfc;
    if (!has_cee_pfc(end)) return (struct weft_pfc_configuration){0};
    const struct weft_cee_feature *feature = &end->says.cee.pfc.feature;
    return (struct weft_pfc_configuration){
        .willing = feature->willing,
        .capability = end->says.cee.pfc.classes & 15u,
        .enabled = feature->enabled && !feature->error ? end->says.cee.pfc.enabled : 0,
    };
}

struct weft_cee weft_cee_of_pfc(const struct weft_pfc_configuration *pfc) {
    return (struct weft_cee){
        .has = 1u << WEFT_CEE_CONTROL | 1u << WEFT_CEE_PFC,
        .control = {.sequence = 1, .acknowledged = 1},
        .pfc = {.feature = {.enabled = true, .willing = pfc->willing},
                .enabled = pfc->enabled,
                .classes = pfc->capability},
    };
}

static bool can_pause(const struct weft_pfc_configuration *pfc, uint8_t priorities) {
    return __builtin_popcount(priorities) <= pfc->capability;
}

static enum weft_dcbx_rule calc_cee_rule(const struct weft_pfc_configuration *a,
                                         const struct weft_pfc_configuration *b) {
    if (a->enabled == b->enabled) return WEFT_DCBX_SAME;
    if (a->willing == b->willing) return WEFT_DCBX_CEE_OFF;
    if (a->willing ? !can_pause(a, b->enabled) : !can_pause(b, a->enabled)) return WEFT_DCBX_CANNOT;
    return a->willing ? WEFT_DCBX_TAKES : WEFT_DCBX_IS_TAKEN;
}

static enum weft_dcbx_rule calc_rule(const struct weft_dcbx_end *own, const struct weft_dcbx_end *peer) {
    struct weft_pfc_configuration a = pfc_of(own), b = pfc_of(peer);
    bool ieee = has_part(peer, WEFT_DCBX_PFC) && (has_part(own, WEFT_DCBX_PFC) || !has_cee_pfc(own));
    if (!ieee) return has_cee_pfc(own) && has_cee_pfc(peer) ? calc_cee_rule(&a, &b) : WEFT_DCBX_NOT_TOLD;
    if (a.enabled == b.enabled) return WEFT_DCBX_SAME;
    if (!a.willing && !b.willing) return WEFT_DCBX_NEITHER;
    int order = memcmp(own->mac, peer->mac, sizeof own->mac);
    if (a.willing && b.willing && !order) return WEFT_DCBX_SAME_MAC;
    bool takes = a.willing && (!b.willing || order > 0);
    if (takes ? !can_pause(&a, b.enabled) : !can_pause(&b, a.enabled)) return WEFT_DCBX_CANNOT;
    if (a.willing && b.willing) return takes ? WEFT_DCBX_PEER_LOWER : WEFT_DCBX_OWN_LOWER;
    return takes ? WEFT_DCBX_TAKES : WEFT_DCBX_IS_TAKEN;
}

static bool takes_peers(enum weft_dcbx_rule rule) {
    return rule == WEFT_DCBX_TAKES || rule == WEFT_DCBX_PEER_LOWER;
}

static bool peer_takes_ours(enum weft_dcbx_rule rule) {
    return rule == WEFT_DCBX_IS_TAKEN || rule == WEFT_DCBX_OWN_LOWER;
}

static void add_difference(struct weft_dcbx_operation *o, struct weft_dcbx_difference difference) {
    if (o->differences < WEFT_DCBX_DIFFERENCES_MAX) o->difference[o->differences++] = difference;
}

static void add_part(struct weft_dcbx_operation *o, enum weft_dcbx_fault fault, unsigned part) {
    add_difference(o, (struct weft_dcbx_difference){.fault = fault, .part = (enum weft_dcbx_part)part});
}

static void negotiate_pfc(const struct weft_dcbx_end *own, const struct weft_dcbx_end *peer,
                          struct weft_dcbx_operation *o) {
    uint8_t ours = pfc_of(own).enabled, theirs = pfc_of(peer).enabled;
    o->rule = calc_rule(own, peer);
    o->pfc = takes_peers(o->rule) ? theirs : o->rule == WEFT_DCBX_CEE_OFF ? 0 : ours;
    o->lossless = o->pfc & (peer_takes_ours(o->rule) ? ours : theirs);
    struct weft_dcbx_difference d = {.fault = WEFT_DCBX_PFC_DIFFERS, .rule = o->rule, .own = ours, .peer = theirs};
    d.priorities = (uint8_t)((ours | theirs) & ~o->lossless);
    if (o->rule != WEFT_DCBX_NOT_TOLD) {
        if (d.priorities) add_difference(o, d);
        return;
    }
    d.fault = !peer                                                     ? WEFT_DCBX_NO_LLDP
              : has_part(peer, WEFT_DCBX_PFC)                           ? WEFT_DCBX_IEEE_ONLY
              : (peer->says.has | peer->says.malformed) & WEFT_DCBX_CEE ? WEFT_DCBX_CEE_ONLY
                                                                        : WEFT_DCBX_NO_PFC_TLV;
    add_difference(o, d);
}

/// The bandwidths of an end once both have heard each other. False: it has announced none.
static bool ets_in_force(const struct weft_dcbx_end *end, const struct weft_dcbx_end *other, bool *ret_of_other,
                         struct weft_ets_table *ret) {
    if (!has_part(end, WEFT_DCBX_ETS)) return false;
    *ret_of_other = end->says.ets.willing && has_part(other, WEFT_DCBX_ETS_RECOMMENDATION);
    *ret = *ret_of_other ? other->says.recommendation.table : end->says.ets.table;
    return true;
}

static void negotiate_ets(const struct weft_dcbx_end *own, const struct weft_dcbx_end *peer,
                          struct weft_dcbx_operation *o) {
    struct weft_ets_table theirs;
    bool of_us;
    if (!ets_in_force(own, peer, &o->ets_of_peer, &o->ets) || !peer) return;
    if (!ets_in_force(peer, own, &of_us, &theirs)) return;
    struct weft_dcbx_difference d = {.fault = WEFT_DCBX_ETS_DIFFERS};
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
        unsigned a = o->ets.class_of[p] & 7u, b = theirs.class_of[p] & 7u;
        bool share = o->ets.algorithm[a] == WEFT_ETS_SHARE;
        if (o->ets.algorithm[a] != theirs.algorithm[b] || (share && o->ets.percent[a] != theirs.percent[b]))
            d.priorities |= (uint8_t)(1u << p);
    }
    if (d.priorities) add_difference(o, d);
}

static const struct weft_app *find_app(const struct weft_app_table *table, const struct weft_app *like) {
    for (unsigned i = 0; i < table->n; i++)
        if (table->app[i].selector == like->selector && table->app[i].protocol == like->protocol) return &table->app[i];
    return NULL;
}

static bool needs_lossless(const struct weft_app *app) {
    enum { FCOE = 0x8906, ROCE_V1 = 0x8915 };
    if (app->selector == WEFT_APP_ETHERTYPE) return app->protocol == FCOE || app->protocol == ROCE_V1;
    return (app->selector == WEFT_APP_UDP || app->selector == WEFT_APP_TCP_UDP) && app->protocol == WEFT_UDP_PORT_ROCE;
}

static void negotiate_apps(const struct weft_dcbx_end *own, const struct weft_dcbx_end *peer,
                           struct weft_dcbx_operation *o) {
    if (has_part(own, WEFT_DCBX_APPS)) o->apps = own->says.apps;
    for (unsigned i = 0; has_part(peer, WEFT_DCBX_APPS) && i < peer->says.apps.n; i++) {
        const struct weft_app *app = &peer->says.apps.app[i], *ours = find_app(&o->apps, app);
        if (!ours && pfc_of(own).willing && o->apps.n < WEFT_APPS_MAX) o->apps.app[o->apps.n++] = *app;
        if (!ours || ours->priority == app->priority) continue;
        add_difference(o,
                       (struct weft_dcbx_difference){
                           .fault = WEFT_DCBX_APP_DIFFERS, .own = ours->priority, .peer = app->priority, .app = *app});
    }
    if (o->rule == WEFT_DCBX_NOT_TOLD || !(pfc_of(own).enabled | pfc_of(peer).enabled)) return;
    for (unsigned i = 0; i < o->apps.n; i++) {
        const struct weft_app *app = &o->apps.app[i];
        if (!needs_lossless(app) || o->lossless >> app->priority & 1) continue;
        add_difference(o, (struct weft_dcbx_difference){
                              .fault = WEFT_DCBX_APP_LOSSY, .priorities = (uint8_t)(1u << app->priority), .app = *app});
    }
}

void weft_dcbx_negotiate(const struct weft_dcbx_end *own, const struct weft_dcbx_end *peer,
                         struct weft_dcbx_operation *ret) {
    memset(ret, 0, sizeof *ret);
    negotiate_pfc(own, peer, ret);
    for (unsigned part = WEFT_DCBX_ETS; peer && part <= WEFT_DCBX_CEE; part <<= 1) {
        if (peer->says.malformed & part) add_part(ret, WEFT_DCBX_MALFORMED_TLV, part);
        if (peer->says.repeated & part) add_part(ret, WEFT_DCBX_REPEATED_TLV, part);
    }
    negotiate_ets(own, peer, ret);
    negotiate_apps(own, peer, ret);
}

struct weft_ets_table weft_ets_table_of_weights(const uint64_t weight[WEFT_PRIORITIES]) {
    struct weft_ets_table table = {.class_of = {0, 1, 2, 3, 4, 5, 6, 7}};
    uint64_t sum = 0, rest[WEFT_PRIORITIES] = {0};
    unsigned left = 100;
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
        assert(weight[p] <= UINT32_MAX);
        sum += weight[p];
    }
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
        if (!weight[p]) continue;
        table.algorithm[p] = WEFT_ETS_SHARE;
        table.percent[p] = (uint8_t)(100 * weight[p] / sum);
        rest[p] = 100 * weight[p] % sum + 1; // a share of 0 may still be increased
        left -= table.percent[p];
    }
    for (; sum && left; left--) {
        unsigned most = 0;
        for (unsigned p = 1; p < WEFT_PRIORITIES; p++)
            if (rest[p] > rest[most]) most = p;
        table.percent[most]++;
        rest[most] = 0;
    }
    return table;
}

static struct weft_lldp_id name_id(enum weft_lldp_id_subtype subtype, const char *name) {
    size_t length = strnlen(name, WEFT_LLDP_ID_MAX);
    struct weft_lldp_id id = {.subtype = (uint8_t)subtype, .length = (uint8_t)length};
    memcpy(id.id, name, length);
    return id;
}

size_t weft_dcbx_frame_encode(const struct weft_dcbx_end *end, const char *system, const char *port, uint16_t ttl_s,
                              uint8_t *ret, size_t size) {
    uint8_t optional[WEFT_LLDPDU_MAX];
    struct weft_ethernet ethernet = {.ethertype = WEFT_ETHERTYPE_LLDP};
    memcpy(ethernet.dst, WEFT_LLDP_ADDRESS, sizeof ethernet.dst);
    memcpy(ethernet.src, end->mac, sizeof ethernet.src);
    struct weft_lldp_tlv name = {WEFT_LLDP_SYSTEM_NAME, (uint16_t)strnlen(system, 255), (const uint8_t *)system};
    size_t named = weft_lldp_tlv_encode(&name, optional, sizeof optional);
    size_t dcbx = weft_dcbx_encode(&end->says, optional + named, sizeof optional - named);
    if (end->says.has && !dcbx) return 0;
    struct weft_lldpdu pdu = {
        .chassis = {.subtype = WEFT_LLDP_CHASSIS_MAC, .length = sizeof end->mac},
        .port = name_id(WEFT_LLDP_PORT_NAME, port),
        .ttl_s = ttl_s,
        .ended = true,
        .optional = optional,
        .optional_bytes = named + dcbx,
    };
    memcpy(pdu.chassis.id, end->mac, sizeof end->mac);
    size_t head = weft_ethernet_encode(&ethernet, ret, size);
    size_t body = head ? weft_lldpdu_encode(&pdu, ret + head, size - head) : 0;
    return body ? head + body : 0;
}

enum weft_wire_status weft_dcbx_frame_decode(const uint8_t *bytes, size_t size, struct weft_lldpdu *ret_pdu,
                                             struct weft_dcbx_end *ret_end) {
    struct weft_ethernet ethernet;
    enum weft_wire_status status = weft_ethernet_decode(bytes, size, &ethernet);
    if (status) return status;
    size_t at = WEFT_ETHERNET_BYTES;
    if (ethernet.ethertype == WEFT_ETHERTYPE_VLAN) {
        struct weft_vlan vlan;
        status = weft_vlan_decode(bytes + at, size - at, &vlan);
        if (status) return status;
        ethernet.ethertype = vlan.ethertype;
        at += WEFT_VLAN_BYTES;
    }
    if (ethernet.ethertype != WEFT_ETHERTYPE_LLDP) return WEFT_WIRE_MALFORMED;
    struct weft_lldpdu pdu;
    struct weft_dcbx_end end;
    status = weft_lldpdu_decode(bytes + at, size - at, &pdu);
    if (!status) status = weft_dcbx_decode(pdu.optional, pdu.optional_bytes, &end.says);
    if (status) return status;
    memcpy(end.mac, ethernet.src, sizeof end.mac);
    *ret_pdu = pdu;
    *ret_end = end;
    return WEFT_WIRE_OK;
}
