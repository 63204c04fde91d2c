// SPDX-License-Identifier: Apache-2.0
// LLDP (IEEE 802.1AB) and what DCBX says in it: the IEEE TLVs (802.1Q annex D.2) and the older CEE one. Pure and total
// like weft/wire.h: encoders give the bytes written or 0, decoders write `ret` only with WEFT_WIRE_OK.
//
// A frame is an Ethernet header (to WEFT_LLDP_ADDRESS, WEFT_ETHERTYPE_LLDP) and an LLDPDU. An LLDPDU is a run of TLVs:
// chassis id, port id, time to live, any others, End. The others stay raw; weft_dcbx_decode reads those of DCBX.
#pragma once

#include "weft/wire.h"

extern const uint8_t WEFT_LLDP_ADDRESS[6]; ///< 01-80-C2-00-00-0E, nearest bridge

enum weft_lldp_type {
    WEFT_LLDP_END = 0,
    WEFT_LLDP_CHASSIS_ID = 1,
    WEFT_LLDP_PORT_ID = 2,
    WEFT_LLDP_TTL = 3,
    WEFT_LLDP_PORT_DESCRIPTION = 4,
    WEFT_LLDP_SYSTEM_NAME = 5,
    WEFT_LLDP_ORGANISATION = 127, ///< OUI, subtype, then what that organisation says
};
enum weft_lldp_id_subtype {
    WEFT_LLDP_CHASSIS_MAC = 4,
    WEFT_LLDP_CHASSIS_NAME = 7,
    WEFT_LLDP_PORT_MAC = 3,
    WEFT_LLDP_PORT_NAME = 5,
};

#define WEFT_LLDP_TLV_HEADER 2u
#define WEFT_LLDP_VALUE_MAX 511u
#define WEFT_LLDP_ID_MAX 255u
#define WEFT_LLDPDU_MAX 1500u

/// One TLV; `value` points into the decoded buffer.
struct weft_lldp_tlv {
    uint8_t type;    ///< 7 bits
    uint16_t length; ///< 9 bits, of the value
    const uint8_t *value;
};
size_t weft_lldp_tlv_encode(const struct weft_lldp_tlv *, uint8_t *ret, size_t size);
/// The TLV at the beginning of the bytes; WEFT_LLDP_TLV_HEADER + length of them are its own.
enum weft_wire_status weft_lldp_tlv_decode(const uint8_t *bytes, size_t size, struct weft_lldp_tlv *ret);

struct weft_lldp_id {
    uint8_t subtype; ///< enum weft_lldp_id_subtype, among others
    uint8_t length;  ///< 1 to 255
    uint8_t id[WEFT_LLDP_ID_MAX];
};

struct weft_lldpdu {
    struct weft_lldp_id chassis, port;
    uint16_t ttl_s;          ///< 0: forget what I said
    bool ended;              ///< there is an End TLV (802.1AB-2005 demands it, later revisions do not)
    const uint8_t *optional; ///< the TLVs between TTL and End, raw; points into the decoded buffer
    size_t optional_bytes;
};
/// Also 0 if `optional` is not a run of whole TLVs of other types than those four.
size_t weft_lldpdu_encode(const struct weft_lldpdu *, uint8_t *ret, size_t size);
/// MALFORMED: the first three are not chassis id, port id and a TTL of two octets, one of them comes again, an id is
/// empty or too long, or End is not empty. What stands behind End is padding. Bytes that end between two TLVs are an
/// LLDPDU without End.
enum weft_wire_status weft_lldpdu_decode(const uint8_t *bytes, size_t size, struct weft_lldpdu *ret);
/// The whole of an LLDPDU with its End, padding left out; the same bytes decode to the same struct.
size_t weft_lldpdu_bytes(const struct weft_lldpdu *);

// ---- IEEE DCBX: 802.1Q annex D.2, OUI 00-80-C2 ----

enum weft_ets_algorithm {
    WEFT_ETS_STRICT = 0,
    WEFT_ETS_CREDIT_SHAPER = 1,
    WEFT_ETS_SHARE = 2, ///< enhanced transmission selection: the bandwidth in the table
    WEFT_ETS_VENDOR = 255,
};

struct weft_ets_table {
    uint8_t class_of[WEFT_PRIORITIES]; ///< priority -> traffic class, 4 bits
    uint8_t percent[WEFT_PRIORITIES];  ///< of a traffic class
    uint8_t algorithm[WEFT_PRIORITIES];
};

/// Subtype 9.
struct weft_ets_configuration {
    bool willing, credit_shaper;
    uint8_t reserved; ///< 3 bits
    uint8_t classes;  ///< that can be had, 1 to 8
    struct weft_ets_table table;
};

/// Subtype 10.
struct weft_ets_recommendation {
    uint8_t reserved;
    struct weft_ets_table table;
};

/// Subtype 11.
struct weft_pfc_configuration {
    bool willing, macsec_bypass; ///< the second: MBC
    uint8_t reserved;            ///< 2 bits
    uint8_t capability;          ///< priorities that can have PFC at once, 4 bits
    uint8_t enabled;             ///< bit i: priority i
};

enum weft_app_selector {
    WEFT_APP_ETHERTYPE = 1,
    WEFT_APP_TCP = 2,
    WEFT_APP_UDP = 3,
    WEFT_APP_TCP_UDP = 4,
    WEFT_APP_DSCP = 5,
};
struct weft_app {
    uint8_t priority, reserved, selector; ///< 3, 2 and 3 bits
    uint16_t protocol;                    ///< EtherType, port or code point
};
/// Subtype 12.
#define WEFT_APPS_MAX 168u
struct weft_app_table {
    uint8_t reserved, n;
    struct weft_app app[WEFT_APPS_MAX];
};

// ---- CEE DCBX: "DCB Capability Exchange Protocol Base Specification" 1.01, OUI 00-1B-21, subtype 2 ----

enum weft_cee_part { WEFT_CEE_CONTROL = 1, WEFT_CEE_PG = 2, WEFT_CEE_PFC = 3, WEFT_CEE_APPS = 4 };

struct weft_cee_feature {
    uint8_t version, version_max;
    bool enabled, willing, error;
    uint8_t reserved; ///< 5 bits
    uint8_t subtype;
};
struct weft_cee_app {
    uint16_t protocol;
    uint8_t selector;   ///< 2 bits: 0 EtherType, 1 TCP or UDP port
    uint32_t oui;       ///< 22 bits
    uint8_t priorities; ///< bit i: priority i
};
#define WEFT_CEE_APPS_MAX 84u ///< the most a sub-TLV can hold; a whole TLV has room for 83
struct weft_cee {
    uint8_t has; ///< bit of each enum weft_cee_part
    struct {
        uint8_t version, version_max;
        uint32_t sequence, acknowledged;
    } control;
    struct {
        struct weft_cee_feature feature;
        uint8_t group_of[WEFT_PRIORITIES]; ///< priority -> priority group, 4 bits; 15: strict
        uint8_t percent[WEFT_PRIORITIES];  ///< of a group
        uint8_t classes;
    } pg;
    struct {
        struct weft_cee_feature feature;
        uint8_t enabled, classes;
    } pfc;
    struct {
        struct weft_cee_feature feature;
        uint8_t n;
        struct weft_cee_app app[WEFT_CEE_APPS_MAX];
    } apps;
};

// ---- all that DCBX says in one LLDPDU ----

enum weft_dcbx_part {
    WEFT_DCBX_ETS = 1,
    WEFT_DCBX_ETS_RECOMMENDATION = 2,
    WEFT_DCBX_PFC = 4,
    WEFT_DCBX_APPS = 8,
    WEFT_DCBX_CEE = 16,
};
struct weft_dcbx {
    uint8_t has;       ///< sets of enum weft_dcbx_part
    uint8_t repeated;  ///< came more than once; the first one counts
    uint8_t malformed; ///< came with a wrong length; not in `has`
    struct weft_ets_configuration ets;
    struct weft_ets_recommendation recommendation;
    struct weft_pfc_configuration pfc;
    struct weft_app_table apps;
    struct weft_cee cee;
};
/// The TLVs of `has`, in the order above: fit for weft_lldpdu.optional.
size_t weft_dcbx_encode(const struct weft_dcbx *, uint8_t *ret, size_t size);
/// From a run of TLVs; those of others are passed over. TRUNCATED if the run ends within a TLV.
enum weft_wire_status weft_dcbx_decode(const uint8_t *bytes, size_t size, struct weft_dcbx *ret);

size_t weft_cee_encode(const struct weft_cee *, uint8_t *ret, size_t size);
/// The value of the TLV behind OUI and subtype: a run of sub-TLVs. Of equal ones the first counts; unknown ones are
/// passed over.
enum weft_wire_status weft_cee_decode(const uint8_t *bytes, size_t size, struct weft_cee *ret);
