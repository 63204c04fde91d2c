// SPDX-License-Identifier: Apache-2.0
// DCBX (IEEE 802.1Q-2022 clause 38, from 802.1Qaz): what two ports at the ends of a link tell each other, what each
// then does, and what that means for the traffic. Pure functions: no clock, no allocation.
#pragma once

#include "weft/wire_lldp.h"

/// One end of a link: its MAC address, and its configuration in the form in which it is sent (own end) or what its
/// LLDPDU said (the neighbour).
struct weft_dcbx_end {
    uint8_t mac[6];
    struct weft_dcbx says;
};

/// Why PFC is in force as it is. PFC is symmetric: both ends shall do the same.
enum weft_dcbx_rule {
    WEFT_DCBX_NOT_TOLD,   ///< the neighbour said nothing about PFC: own configuration
    WEFT_DCBX_SAME,       ///< both are configured alike
    WEFT_DCBX_NEITHER,    ///< neither is willing: each keeps its own
    WEFT_DCBX_TAKES,      ///< only this end is willing: the neighbour's
    WEFT_DCBX_IS_TAKEN,   ///< only the neighbour is willing: this end's
    WEFT_DCBX_PEER_LOWER, ///< both are willing, the neighbour's MAC address is lower: the neighbour's
    WEFT_DCBX_OWN_LOWER,  ///< both are willing, this end's is lower: this end's
    WEFT_DCBX_SAME_MAC,   ///< both are willing and have the same MAC address: each keeps its own
    WEFT_DCBX_UNHEARD,    ///< not both ends have heard the other: each keeps its own
    WEFT_DCBX_CANNOT,  ///< the end that should take the other's cannot do PFC on so many priorities: each keeps its own
    WEFT_DCBX_CEE_OFF, ///< CEE: both are willing, or neither, and they differ: PFC is off at both
};

enum weft_dcbx_fault {
    WEFT_DCBX_NO_LLDP,    ///< no LLDPDU from the neighbour
    WEFT_DCBX_NO_PFC_TLV, ///< LLDP, but no PFC TLV of IEEE DCBX
    WEFT_DCBX_CEE_ONLY,   ///< DCBX, but the CEE variant, which this end does not speak, or without PFC in it
    WEFT_DCBX_IEEE_ONLY,  ///< DCBX of IEEE, and this end speaks CEE alone
    WEFT_DCBX_MALFORMED_TLV,
    WEFT_DCBX_REPEATED_TLV,
    WEFT_DCBX_PFC_DIFFERS, ///< a priority that an end wants lossless is not so at both
    WEFT_DCBX_ETS_DIFFERS, ///< the ends share out bandwidth differently
    WEFT_DCBX_APP_DIFFERS, ///< the ends give an application different priorities
    WEFT_DCBX_APP_LOSSY,   ///< an application that needs a lossless priority has one that is not
};

struct weft_dcbx_difference {
    enum weft_dcbx_fault fault;
    enum weft_dcbx_rule rule; ///< PFC_DIFFERS
    uint8_t own, peer;        ///< PFC_DIFFERS: as configured; APP_DIFFERS: priorities; NO_...: own: PFC in force here
    uint8_t priorities;       ///< concerned, a bit each
    enum weft_dcbx_part part; ///< MALFORMED_TLV, REPEATED_TLV
    struct weft_app app;      ///< APP_DIFFERS, APP_LOSSY
};
#define WEFT_DCBX_DIFFERENCES_MAX 16u

/// What an end does after it has heard the other.
struct weft_dcbx_operation {
    uint8_t pfc;              ///< priorities that it pauses for, and at which it obeys
    uint8_t lossless;         ///< those of which the same is true at the neighbour
    enum weft_dcbx_rule rule; ///< why
    bool ets_of_peer;         ///< bandwidth as the neighbour recommends it
    struct weft_ets_table ets;
    struct weft_app_table apps; ///< own, then the neighbour's for what this end has no entry, if it is willing (PFC)
    uint32_t differences;       ///< more than the maximum are not kept
    struct weft_dcbx_difference difference[WEFT_DCBX_DIFFERENCES_MAX];
};

/// By IEEE DCBX if both ends speak it, else by CEE DCBX if both speak that. `peer` NULL: nothing heard. What an end
/// that has no PFC TLV does about PFC is taken to be nothing.
void weft_dcbx_negotiate(const struct weft_dcbx_end *own, const struct weft_dcbx_end *peer,
                         struct weft_dcbx_operation *ret);

/// Describes one difference from this end's side: what differs, and its effect.
void weft_dcbx_explain(const struct weft_dcbx_difference *difference, char *ret_found, char *ret_consequence,
                       size_t size);
/// "neither end is willing": the rule as the reason of what is in force.
const char *weft_dcbx_rule_text(enum weft_dcbx_rule rule);
/// "3 and 4", "0, 1 and 2", "none".
int weft_dcbx_priorities_text(uint8_t priorities, char *text, size_t size);
/// "UDP 4791 (RoCEv2)".
int weft_dcbx_app_text(const struct weft_app *app, char *text, size_t size);

/// The same said of PFC in CEE DCBX, of which ends with nothing to synchronize need no more: sequence 1, acknowledged.
struct weft_cee weft_cee_of_pfc(const struct weft_pfc_configuration *pfc);

/// Each priority in a class of its own. `weight` 0: strict; the others share 100 % in proportion (largest remainders
/// first, so that they add up).
struct weft_ets_table weft_ets_table_of_weights(const uint64_t weight[WEFT_PRIORITIES]);
/// "udp:4791:3, ethertype:0x8906:4" (selectors ethertype, tcp, udp, tcp+udp, dscp). NULL, or what is wrong with it, in
/// `why`.
const char *weft_dcbx_apps_parse(const char *text, struct weft_app_table *ret, char *why, size_t size);

/// A whole LLDP frame without FCS: from `end`, chassis id its MAC address, port id `port`, system name `system`.
size_t weft_dcbx_frame_encode(const struct weft_dcbx_end *end, const char *system, const char *port, uint16_t ttl_s,
                              uint8_t *ret, size_t size);
/// What the frame says, if it is an LLDP frame (a VLAN tag is passed over). `mac`: its source address.
enum weft_wire_status weft_dcbx_frame_decode(const uint8_t *bytes, size_t size, struct weft_lldpdu *ret_pdu,
                                             struct weft_dcbx_end *ret_end);
