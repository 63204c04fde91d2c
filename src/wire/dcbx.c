// SPDX-License-Identifier: Apache-2.0
// The TLVs of IEEE DCBX: 802.1Q-2022 annex D.2.8 to D.2.11 (802.1Qaz-2011 annex 38 and D). Field layouts checked
// against the parser of Linux's ice driver and Wireshark. A TLV of the wrong length is noted as malformed; whether
// values are consistent is not checked here.
#include <string.h>

#include "weft/wire_lldp.h"
#include "wire/bytes.h"

enum {
    OUI_IEEE = 0x0080c2,
    OUI_CEE = 0x001b21,
    SUBTYPE_ETS = 9,
    SUBTYPE_RECOMMENDATION = 10,
    SUBTYPE_PFC = 11,
    SUBTYPE_APPS = 12,
    SUBTYPE_CEE = 2,
    HEAD = 4, ///< OUI and subtype
    ETS_BYTES = 21,
    PFC_BYTES = 2,
    APP_BYTES = 3,
};

// --- bodies: what follows OUI and subtype -------------------------------------------------------------------------

static bool put_table(const struct weft_ets_table *table, uint8_t *at) {
    for (unsigned i = 0; i < WEFT_PRIORITIES; i++) {
        if (table->class_of[i] > 15) return false;
        at[i / 2] = (uint8_t)(i % 2 ? at[i / 2] | table->class_of[i] : table->class_of[i] << 4);
    }
    memcpy(at + 4, table->percent, WEFT_PRIORITIES);
    memcpy(at + 12, table->algorithm, WEFT_PRIORITIES);
    return true;
}

static void take_table(const uint8_t *at, struct weft_ets_table *ret) {
    for (unsigned i = 0; i < WEFT_PRIORITIES; i++)
        ret->class_of[i] = (uint8_t)(i % 2 ? at[i / 2] & 15 : at[i / 2] >> 4);
    memcpy(ret->percent, at + 4, WEFT_PRIORITIES);
    memcpy(ret->algorithm, at + 12, WEFT_PRIORITIES);
}

static size_t put_ets(const struct weft_dcbx *dcbx, uint8_t *at) {
    const struct weft_ets_configuration *ets = &dcbx->ets;
    if (ets->reserved > 7 || ets->classes < 1 || ets->classes > 8) return 0;
    at[0] = (uint8_t)(ets->willing << 7 | ets->credit_shaper << 6 | ets->reserved << 3 | (ets->classes & 7));
    return put_table(&ets->table, at + 1) ? ETS_BYTES : 0;
}

static bool take_ets(const uint8_t *at, size_t size, struct weft_dcbx *ret) {
    if (size != ETS_BYTES) return false;
    struct weft_ets_configuration *ets = &ret->ets;
    ets->willing = at[0] >> 7;
    ets->credit_shaper = at[0] >> 6 & 1;
    ets->reserved = at[0] >> 3 & 7;
    ets->classes = at[0] & 7 ? at[0] & 7 : 8;
    take_table(at + 1, &ets->table);
    return true;
}

static size_t put_recommendation(const struct weft_dcbx *dcbx, uint8_t *at) {
    at[0] = dcbx->recommendation.reserved;
    return put_table(&dcbx->recommendation.table, at + 1) ? ETS_BYTES : 0;
}

static bool take_recommendation(const uint8_t *at, size_t size, struct weft_dcbx *ret) {
    if (size != ETS_BYTES) return false;
    ret->recommendation.reserved = at[0];
    take_table(at + 1, &ret->recommendation.table);
    return true;
}

static size_t put_pfc(const struct weft_dcbx *dcbx, uint8_t *at) {
    const struct weft_pfc_configuration *pfc = &dcbx->pfc;
    if (pfc->reserved > 3 || pfc->capability > 15) return 0;
    at[0] = (uint8_t)(pfc->willing << 7 | pfc->macsec_bypass << 6 | pfc->reserved << 4 | pfc->capability);
    at[1] = pfc->enabled;
    return PFC_BYTES;
}

static bool take_pfc(const uint8_t *at, size_t size, struct weft_dcbx *ret) {
    if (size != PFC_BYTES) return false;
    ret->pfc = (struct weft_pfc_configuration){
        .willing = at[0] >> 7,
        .macsec_bypass = at[0] >> 6 & 1,
        .reserved = at[0] >> 4 & 3,
        .capability = at[0] & 15,
        .enabled = at[1],
    };
    return true;
}

static size_t put_apps(const struct weft_dcbx *dcbx, uint8_t *at) {
    const struct weft_app_table *apps = &dcbx->apps;
    if (apps->n > WEFT_APPS_MAX) return 0;
    at[0] = apps->reserved;
    for (unsigned i = 0; i < apps->n; i++) {
        const struct weft_app *app = &apps->app[i];
        if (app->priority > 7 || app->reserved > 3 || app->selector > 7) return 0;
        uint8_t *entry = at + 1 + APP_BYTES * i;
        entry[0] = (uint8_t)(app->priority << 5 | app->reserved << 3 | app->selector);
        weft__put16(entry + 1, app->protocol);
    }
    return 1 + APP_BYTES * (size_t)apps->n;
}

static bool take_apps(const uint8_t *at, size_t size, struct weft_dcbx *ret) {
    if (size < 1 || (size - 1) % APP_BYTES) return false;
    ret->apps.reserved = at[0];
    ret->apps.n = (uint8_t)((size - 1) / APP_BYTES);
    for (unsigned i = 0; i < ret->apps.n; i++) {
        const uint8_t *entry = at + 1 + APP_BYTES * i;
        ret->apps.app[i] = (struct weft_app){entry[0] >> 5, entry[0] >> 3 & 3, entry[0] & 7, weft__get16(entry + 1)};
    }
    return true;
}

static size_t put_cee(const struct weft_dcbx *dcbx, uint8_t *at) {
    return weft_cee_encode(&dcbx->cee, at, WEFT_LLDP_VALUE_MAX - HEAD);
}

/// One without content is malformed: it should at least have the control sub-TLV.
static bool take_cee(const uint8_t *at, size_t size, struct weft_dcbx *ret) {
    return weft_cee_decode(at, size, &ret->cee) == WEFT_WIRE_OK && ret->cee.has;
}

// --- all of them --------------------------------------------------------------------------------------------------

static const struct part {
    enum weft_dcbx_part part;
    uint32_t oui;
    uint8_t subtype;
    /// Writes a value; there is room for any length. 0: a field holds more than the wire has bits for.
    size_t (*put)(const struct weft_dcbx *dcbx, uint8_t *at);
    bool (*take)(const uint8_t *at, size_t size, struct weft_dcbx *ret);
} parts[] = {
    {WEFT_DCBX_ETS, OUI_IEEE, SUBTYPE_ETS, put_ets, take_ets},
    {WEFT_DCBX_ETS_RECOMMENDATION, OUI_IEEE, SUBTYPE_RECOMMENDATION, put_recommendation, take_recommendation},
    {WEFT_DCBX_PFC, OUI_IEEE, SUBTYPE_PFC, put_pfc, take_pfc},
    {WEFT_DCBX_APPS, OUI_IEEE, SUBTYPE_APPS, put_apps, take_apps},
    {WEFT_DCBX_CEE, OUI_CEE, SUBTYPE_CEE, put_cee, take_cee},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

size_t weft_dcbx_encode(const struct weft_dcbx *dcbx, uint8_t *ret, size_t size) {
    size_t at = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        if (!(dcbx->has & parts[i].part)) continue;
        uint8_t value[WEFT_LLDP_VALUE_MAX];
        weft__put24(value, parts[i].oui);
        value[3] = parts[i].subtype;
        size_t body = parts[i].put(dcbx, value + HEAD);
        struct weft_lldp_tlv tlv = {WEFT_LLDP_ORGANISATION, (uint16_t)(HEAD + body), value};
        size_t bytes = body ? weft_lldp_tlv_encode(&tlv, ret + at, size - at) : 0;
        if (!bytes) return 0;
        at += bytes;
    }
    return at;
}

static const struct part *find_part(const struct weft_lldp_tlv *tlv) {
    if (tlv->type != WEFT_LLDP_ORGANISATION || tlv->length < HEAD) return NULL;
    for (unsigned i = 0; i < PARTS; i++)
        if (weft__get24(tlv->value) == parts[i].oui && tlv->value[3] == parts[i].subtype) return &parts[i];
    return NULL;
}

enum weft_wire_status weft_dcbx_decode(const uint8_t *bytes, size_t size, struct weft_dcbx *ret) {
    struct weft_dcbx dcbx = {0};
    struct weft_lldp_tlv tlv;
    for (size_t at = 0; at < size; at += WEFT_LLDP_TLV_HEADER + (size_t)tlv.length) {
        enum weft_wire_status status = weft_lldp_tlv_decode(bytes + at, size - at, &tlv);
        if (status) return status;
        const struct part *part = find_part(&tlv);
        if (!part) continue;
        if ((dcbx.has | dcbx.malformed) & part->part)
            dcbx.repeated |= (uint8_t)part->part;
        else if (part->take(tlv.value + HEAD, tlv.length - HEAD, &dcbx))
            dcbx.has |= (uint8_t)part->part;
        else
            dcbx.malformed |= (uint8_t)part->part;
    }
    *ret = dcbx;
    return WEFT_WIRE_OK;
}
