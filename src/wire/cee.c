// SPDX-License-Identifier: Apache-2.0
// The CEE variant of DCBX, which some older equipment speaks: "DCB Capability Exchange Protocol Base Specification"
// revision 1.01 (2008). One LLDP TLV whose value is a sequence of sub-TLVs with the same header. Field layouts as in
// the parser of Linux's ice driver and in Wireshark.
#include <string.h>

#include "weft/wire_lldp.h"
#include "wire/bytes.h"

enum {
    CONTROL_BYTES = 10,
    FEATURE_BYTES = 4,
    PG_BYTES = 13,
    PFC_BYTES = 2,
    APP_BYTES = 6,
};

static bool put_feature(const struct weft_cee_feature *f, uint8_t *at) {
    if (f->reserved > 31) return false;
    at[0] = f->version;
    at[1] = f->version_max;
    at[2] = (uint8_t)(f->enabled << 7 | f->willing << 6 | f->error << 5 | f->reserved);
    at[3] = f->subtype;
    return true;
}

static void take_feature(const uint8_t *at, struct weft_cee_feature *ret) {
    *ret = (struct weft_cee_feature){
        .version = at[0],
        .version_max = at[1],
        .enabled = at[2] >> 7,
        .willing = at[2] >> 6 & 1,
        .error = at[2] >> 5 & 1,
        .reserved = at[2] & 31,
        .subtype = at[3],
    };
}

static size_t put_control(const struct weft_cee *cee, uint8_t *at) {
    at[0] = cee->control.version;
    at[1] = cee->control.version_max;
    weft__put32(at + 2, cee->control.sequence);
    weft__put32(at + 6, cee->control.acknowledged);
    return CONTROL_BYTES;
}

static bool take_control(const uint8_t *at, size_t size, struct weft_cee *ret) {
    if (size != CONTROL_BYTES) return false;
    ret->control.version = at[0];
    ret->control.version_max = at[1];
    ret->control.sequence = weft__get32(at + 2);
    ret->control.acknowledged = weft__get32(at + 6);
    return true;
}

static size_t put_pg(const struct weft_cee *cee, uint8_t *at) {
    if (!put_feature(&cee->pg.feature, at)) return 0;
    at += FEATURE_BYTES;
    for (unsigned i = 0; i < WEFT_PRIORITIES; i++) {
        if (cee->pg.group_of[i] > 15) return 0;
        at[i / 2] = (uint8_t)(i % 2 ? at[i / 2] | cee->pg.group_of[i] : cee->pg.group_of[i] << 4);
    }
    memcpy(at + 4, cee->pg.percent, WEFT_PRIORITIES);
    at[12] = cee->pg.classes;
    return FEATURE_BYTES + PG_BYTES;
}

static bool take_pg(const uint8_t *at, size_t size, struct weft_cee *ret) {
    if (size != FEATURE_BYTES + PG_BYTES) return false;
    take_feature(at, &ret->pg.feature);
    at += FEATURE_BYTES;
    for (unsigned i = 0; i < WEFT_PRIORITIES; i++)
        ret->pg.group_of[i] = (uint8_t)(i % 2 ? at[i / 2] & 15 : at[i / 2] >> 4);
    memcpy(ret->pg.percent, at + 4, WEFT_PRIORITIES);
    ret->pg.classes = at[12];
    return true;
}

static size_t put_pfc(const struct weft_cee *cee, uint8_t *at) {
    if (!put_feature(&cee->pfc.feature, at)) return 0;
    at[FEATURE_BYTES] = cee->pfc.enabled;
    at[FEATURE_BYTES + 1] = cee->pfc.classes;
    return FEATURE_BYTES + PFC_BYTES;
}

static bool take_pfc(const uint8_t *at, size_t size, struct weft_cee *ret) {
    if (size != FEATURE_BYTES + PFC_BYTES) return false;
    take_feature(at, &ret->pfc.feature);
    ret->pfc.enabled = at[FEATURE_BYTES];
    ret->pfc.classes = at[FEATURE_BYTES + 1];
    return true;
}

static size_t put_apps(const struct weft_cee *cee, uint8_t *at) {
    if (cee->apps.n > WEFT_CEE_APPS_MAX || !put_feature(&cee->apps.feature, at)) return 0;
    at += FEATURE_BYTES;
    for (unsigned i = 0; i < cee->apps.n; i++, at += APP_BYTES) {
        const struct weft_cee_app *app = &cee->apps.app[i];
        if (app->selector > 3 || app->oui > 0x3fffff) return 0;
        weft__put16(at, app->protocol);
        at[2] = (uint8_t)(app->oui >> 16 << 2 | app->selector);
        weft__put16(at + 3, app->oui & 0xffff);
        at[5] = app->priorities;
    }
    return FEATURE_BYTES + APP_BYTES * (size_t)cee->apps.n;
}

static bool take_apps(const uint8_t *at, size_t size, struct weft_cee *ret) {
    if (size < FEATURE_BYTES || (size - FEATURE_BYTES) % APP_BYTES) return false;
    take_feature(at, &ret->apps.feature);
    ret->apps.n = (uint8_t)((size - FEATURE_BYTES) / APP_BYTES);
    at += FEATURE_BYTES;
    for (unsigned i = 0; i < ret->apps.n; i++, at += APP_BYTES)
        ret->apps.app[i] = (struct weft_cee_app){
            .protocol = weft__get16(at),
            .selector = at[2] & 3,
            .oui = (uint32_t)(at[2] >> 2) << 16 | weft__get16(at + 3),
            .priorities = at[5],
        };
    return true;
}

static const struct part {
    enum weft_cee_part type;
    size_t (*put)(const struct weft_cee *cee, uint8_t *at);
    bool (*take)(const uint8_t *at, size_t size, struct weft_cee *ret);
} parts[] = {
    {WEFT_CEE_CONTROL, put_control, take_control},
    {WEFT_CEE_PG, put_pg, take_pg},
    {WEFT_CEE_PFC, put_pfc, take_pfc},
    {WEFT_CEE_APPS, put_apps, take_apps},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

size_t weft_cee_encode(const struct weft_cee *cee, uint8_t *ret, size_t size) {
    size_t at = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        if (!(cee->has >> parts[i].type & 1)) continue;
        uint8_t value[FEATURE_BYTES + APP_BYTES * WEFT_CEE_APPS_MAX];
        struct weft_lldp_tlv tlv = {(uint8_t)parts[i].type, (uint16_t)parts[i].put(cee, value), value};
        size_t bytes = tlv.length ? weft_lldp_tlv_encode(&tlv, ret + at, size - at) : 0;
        if (!bytes) return 0;
        at += bytes;
    }
    return at;
}

enum weft_wire_status weft_cee_decode(const uint8_t *bytes, size_t size, struct weft_cee *ret) {
    struct weft_cee cee = {0};
    struct weft_lldp_tlv tlv;
    for (size_t at = 0; at < size; at += WEFT_LLDP_TLV_HEADER + (size_t)tlv.length) {
        enum weft_wire_status status = weft_lldp_tlv_decode(bytes + at, size - at, &tlv);
        if (status) return status;
        for (unsigned i = 0; i < PARTS; i++) {
            if (tlv.type != parts[i].type || cee.has >> tlv.type & 1) continue;
            if (!parts[i].take(tlv.value, tlv.length, &cee)) return WEFT_WIRE_MALFORMED;
            cee.has |= (uint8_t)(1u << tlv.type);
        }
    }
    *ret = cee;
    return WEFT_WIRE_OK;
}
