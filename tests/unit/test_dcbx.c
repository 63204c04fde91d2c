// SPDX-License-Identifier: Apache-2.0
// DCBX negotiation against tables written from IEEE 802.1Q clause 38.4: every combination of willing bits, order of MAC
// addresses, capability and configuration, seen from both ends.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "weft/dcbx.h"

static struct weft_dcbx_end pfc_end(uint8_t mac, bool willing, uint8_t enabled, uint8_t capability) {
    struct weft_dcbx_end end = {.mac = {2, 0, 0, 0, 0, mac}, .says.has = WEFT_DCBX_PFC};
    end.says.pfc = (struct weft_pfc_configuration){.willing = willing, .enabled = enabled, .capability = capability};
    return end;
}

/// What is in force at the ends A (configured to priorities 3 and 4) and B (to 4): "a" is A's, "b" is B's.
static const struct {
    bool willing_a, willing_b;
    int order; ///< of the MAC addresses: -1 A's is the lower
    const char *in_force;
    enum weft_dcbx_rule rule_a, rule_b;
} symmetric[] = {
    {false, false, -1, "ab", WEFT_DCBX_NEITHER, WEFT_DCBX_NEITHER},
    {false, false, +1, "ab", WEFT_DCBX_NEITHER, WEFT_DCBX_NEITHER},
    {false, true, -1, "aa", WEFT_DCBX_IS_TAKEN, WEFT_DCBX_TAKES},
    {false, true, +1, "aa", WEFT_DCBX_IS_TAKEN, WEFT_DCBX_TAKES},
    {true, false, -1, "bb", WEFT_DCBX_TAKES, WEFT_DCBX_IS_TAKEN},
    {true, false, +1, "bb", WEFT_DCBX_TAKES, WEFT_DCBX_IS_TAKEN},
    {true, true, -1, "aa", WEFT_DCBX_OWN_LOWER, WEFT_DCBX_PEER_LOWER},
    {true, true, +1, "bb", WEFT_DCBX_PEER_LOWER, WEFT_DCBX_OWN_LOWER},
    {true, true, 0, "ab", WEFT_DCBX_SAME_MAC, WEFT_DCBX_SAME_MAC},
    {false, true, 0, "aa", WEFT_DCBX_IS_TAKEN, WEFT_DCBX_TAKES},
};

static void symmetric_pfc(void **state) {
    for (size_t i = 0; i < sizeof symmetric / sizeof symmetric[0]; i++) {
        struct weft_dcbx_end a = pfc_end(5, symmetric[i].willing_a, 0x18, 8);
        struct weft_dcbx_end b = pfc_end((uint8_t)(5 - symmetric[i].order), symmetric[i].willing_b, 0x10, 8);
        struct weft_dcbx_operation at_a, at_b;
        weft_dcbx_negotiate(&a, &b, &at_a);
        weft_dcbx_negotiate(&b, &a, &at_b);
        assert_int_equal(at_a.rule, symmetric[i].rule_a);
        assert_int_equal(at_b.rule, symmetric[i].rule_b);
        assert_int_equal(at_a.pfc, symmetric[i].in_force[0] == 'a' ? 0x18 : 0x10);
        assert_int_equal(at_b.pfc, symmetric[i].in_force[1] == 'a' ? 0x18 : 0x10);
    }
}

/// For all configurations: both ends agree on what is lossless, and that is what both have in force; where the ends
/// have the same in force, all of it is lossless; a priority that somebody wanted and did not get is told at both.
static void ends_agree(void **state) {
    static const uint8_t sets[] = {0, 0x08, 0x10, 0x18, 0x81, 0xff}, capabilities[] = {0, 1, 2, 8};
    unsigned pairs = 0;
    for (unsigned i = 0; i < 6 * 6 * 4 * 4 * 2 * 2 * 3; i++) {
        unsigned k = i, order = k % 3;
        k /= 3;
        struct weft_dcbx_end a = pfc_end(5, k & 1, sets[k / 4 % 6], capabilities[k / 144 % 4]);
        struct weft_dcbx_end b = pfc_end((uint8_t)(4 + order), k >> 1 & 1, sets[k / 24 % 6], capabilities[k / 576]);
        struct weft_dcbx_operation at_a, at_b;
        weft_dcbx_negotiate(&a, &b, &at_a);
        weft_dcbx_negotiate(&b, &a, &at_b);
        assert_int_equal(at_a.lossless, at_b.lossless);
        assert_int_equal(at_a.lossless, at_a.pfc & at_b.pfc);
        uint8_t wanted = a.says.pfc.enabled | b.says.pfc.enabled, lossy = (uint8_t)(wanted & ~at_a.lossless);
        assert_int_equal(at_a.differences, lossy != 0);
        assert_int_equal(at_b.differences, lossy != 0);
        if (lossy) assert_int_equal(at_a.difference[0].priorities, lossy);
        if (at_a.rule == WEFT_DCBX_CANNOT) assert_int_equal(at_a.pfc, a.says.pfc.enabled);
        if (at_a.pfc != a.says.pfc.enabled) {
            assert_true(a.says.pfc.willing);
            assert_int_equal(at_a.pfc, b.says.pfc.enabled);
            assert_true(__builtin_popcount(at_a.pfc) <= a.says.pfc.capability);
        }
        pairs++;
    }
    assert_int_equal(pairs, 6912);
}

static void capability(void **state) {
    struct weft_dcbx_end few = pfc_end(1, true, 0x08, 1), many = pfc_end(2, false, 0x18, 8);
    struct weft_dcbx_operation at_few, at_many;
    weft_dcbx_negotiate(&few, &many, &at_few);
    weft_dcbx_negotiate(&many, &few, &at_many);
    assert_int_equal(at_few.rule, WEFT_DCBX_CANNOT);
    assert_int_equal(at_many.rule, WEFT_DCBX_CANNOT);
    assert_int_equal(at_few.pfc, 0x08);
    assert_int_equal(at_many.pfc, 0x18);
    assert_int_equal(at_few.lossless, 0x08);
    assert_int_equal(at_few.difference[0].priorities, 0x10);
}

/// What an end says of PFC, by CEE alone, or by both versions.
static struct weft_dcbx_end cee_end(uint8_t mac, bool willing, uint8_t enabled, bool both) {
    struct weft_dcbx_end end = pfc_end(mac, willing, enabled, 8);
    end.says.cee = weft_cee_of_pfc(&end.says.pfc);
    end.says.has = (uint8_t)(WEFT_DCBX_CEE | (both ? WEFT_DCBX_PFC : 0));
    return end;
}

/// CEE DCBX 1.01, section 2.4.3: all willing bits, alike and not, with an end that speaks both versions or CEE alone.
/// The lower MAC address decides nothing.
static void cee(void **state) {
    for (unsigned i = 0; i < 16; i++) {
        bool a_willing = i & 1, b_willing = i >> 1 & 1, alike = i >> 2 & 1;
        struct weft_dcbx_end a = cee_end(1, a_willing, 0x08, i >> 3),
                             b = cee_end(2, b_willing, alike ? 0x08 : 0x18, false);
        struct weft_dcbx_operation at_a, at_b;
        weft_dcbx_negotiate(&a, &b, &at_a);
        weft_dcbx_negotiate(&b, &a, &at_b);
        uint8_t agreed = alike ? 0x08 : a_willing == b_willing ? 0 : a_willing ? 0x18 : 0x08;
        assert_int_equal(at_a.pfc, agreed);
        assert_int_equal(at_b.pfc, agreed);
        assert_int_equal(at_a.lossless, agreed);
        assert_int_equal(at_b.lossless, agreed);
        enum weft_dcbx_rule rule = alike                    ? WEFT_DCBX_SAME
                                   : a_willing == b_willing ? WEFT_DCBX_CEE_OFF
                                   : a_willing              ? WEFT_DCBX_TAKES
                                                            : WEFT_DCBX_IS_TAKEN;
        assert_int_equal(at_a.rule, rule);
    }
}

/// An end that has disabled PFC by CEE, or is in error, has it on nothing.
static void cee_disabled(void **state) {
    for (unsigned i = 0; i < 2; i++) {
        struct weft_dcbx_end a = cee_end(1, false, 0x08, true), b = cee_end(2, false, 0x08, false);
        struct weft_dcbx_operation o;
        b.says.cee.pfc.feature.enabled = i;
        b.says.cee.pfc.feature.error = i;
        weft_dcbx_negotiate(&a, &b, &o);
        assert_int_equal(o.rule, WEFT_DCBX_CEE_OFF);
        assert_int_equal(o.pfc, 0);
    }
}

/// Two ends that speak both versions go by IEEE; one that speaks CEE alone does not understand IEEE alone.
static void versions(void **state) {
    struct weft_dcbx_end a = cee_end(1, true, 0x08, true), b = cee_end(2, true, 0x10, true),
                         old = cee_end(3, true, 0x08, false), young = pfc_end(4, true, 0x10, 8);
    struct weft_dcbx_operation o;
    weft_dcbx_negotiate(&a, &b, &o);
    assert_int_equal(o.rule, WEFT_DCBX_OWN_LOWER);
    weft_dcbx_negotiate(&old, &young, &o);
    assert_int_equal(o.rule, WEFT_DCBX_NOT_TOLD);
    assert_int_equal(o.pfc, 0x08);
    assert_int_equal(o.difference[0].fault, WEFT_DCBX_IEEE_ONLY);
    weft_dcbx_negotiate(&young, &old, &o);
    assert_int_equal(o.difference[0].fault, WEFT_DCBX_CEE_ONLY);
}

/// Silence: the end keeps its own configuration, and the report says that there is no answer.
static void silence(void **state) {
    struct weft_dcbx_end own = pfc_end(1, true, 0x08, 8), plain = {.mac = {2}}, other = plain;
    other.says.has = WEFT_DCBX_CEE;
    const struct {
        const struct weft_dcbx_end *peer;
        enum weft_dcbx_fault fault;
    } rows[] = {{NULL, WEFT_DCBX_NO_LLDP}, {&plain, WEFT_DCBX_NO_PFC_TLV}, {&other, WEFT_DCBX_CEE_ONLY}};
    for (size_t i = 0; i < 3; i++) {
        struct weft_dcbx_operation o;
        weft_dcbx_negotiate(&own, rows[i].peer, &o);
        assert_int_equal(o.rule, WEFT_DCBX_NOT_TOLD);
        assert_int_equal(o.pfc, 0x08);
        assert_int_equal(o.lossless, 0);
        assert_int_equal(o.differences, 1);
        assert_int_equal(o.difference[0].fault, rows[i].fault);
    }
}

static struct weft_dcbx_end ets_end(bool willing, bool recommends, const uint64_t *weight,
                                    const uint64_t *recommended) {
    struct weft_dcbx_end end = pfc_end(1, false, 0, 8);
    end.says.has |= (uint8_t)(WEFT_DCBX_ETS | (recommends ? WEFT_DCBX_ETS_RECOMMENDATION : 0));
    end.says.ets = (struct weft_ets_configuration){.willing = willing, .classes = 8};
    end.says.ets.table = weft_ets_table_of_weights(weight);
    end.says.recommendation.table = weft_ets_table_of_weights(recommended);
    return end;
}

/// Asymmetric: an end takes what the other recommends exactly if it is willing and the other recommends something;
/// addresses play no part.
static void asymmetric_ets(void **state) {
    static const uint64_t a_has[8] = {1, 0, 0, 3}, a_wants[8] = {1, 0, 0, 1};
    static const uint64_t b_has[8] = {1, 0, 0, 9}, b_wants[8] = {3, 0, 0, 1};
    static const uint8_t share_of[] = {75, 25, 90, 50}; // of priority 3: own A, as B wants; own B, as A wants
    for (unsigned i = 0; i < 16; i++) {
        bool a_willing = i & 1, b_willing = i >> 1 & 1, a_recommends = i >> 2 & 1, b_recommends = i >> 3 & 1;
        struct weft_dcbx_end a = ets_end(a_willing, a_recommends, a_has, a_wants);
        struct weft_dcbx_end b = ets_end(b_willing, b_recommends, b_has, b_wants);
        struct weft_dcbx_operation at_a, at_b;
        weft_dcbx_negotiate(&a, &b, &at_a);
        weft_dcbx_negotiate(&b, &a, &at_b);
        bool a_takes = a_willing && b_recommends, b_takes = b_willing && a_recommends;
        assert_int_equal(at_a.ets_of_peer, a_takes);
        assert_int_equal(at_b.ets_of_peer, b_takes);
        assert_int_equal(at_a.ets.percent[3], share_of[a_takes]);
        assert_int_equal(at_b.ets.percent[3], share_of[2 + b_takes]);
        assert_int_equal(at_a.differences, 1);
        assert_int_equal(at_a.difference[0].fault, WEFT_DCBX_ETS_DIFFERS);
        assert_int_equal(at_a.difference[0].priorities, 0x09);
    }
    // what each recommends is what it has: one willing end makes both alike
    struct weft_dcbx_end a = ets_end(true, true, a_has, a_has), b = ets_end(false, true, b_has, b_has);
    struct weft_dcbx_operation o;
    weft_dcbx_negotiate(&a, &b, &o);
    assert_int_equal(o.ets.percent[3], 90);
    assert_int_equal(o.differences, 0);
}

static void applications(void **state) {
    struct weft_dcbx_end a = pfc_end(1, false, 0x08, 8), b = pfc_end(2, false, 0x08, 8);
    char why[256];
    a.says.has |= WEFT_DCBX_APPS;
    b.says.has |= WEFT_DCBX_APPS;
    assert_null(weft_dcbx_apps_parse("udp:4791:3", &a.says.apps, why, sizeof why));
    assert_null(weft_dcbx_apps_parse("udp:4791:4, tcp:3260:2", &b.says.apps, why, sizeof why));
    struct weft_dcbx_operation o;
    weft_dcbx_negotiate(&a, &b, &o);
    assert_int_equal(o.apps.n, 1); // not willing
    assert_int_equal(o.differences, 1);
    assert_int_equal(o.difference[0].fault, WEFT_DCBX_APP_DIFFERS);
    assert_int_equal(o.difference[0].own, 3);
    assert_int_equal(o.difference[0].peer, 4);

    weft_dcbx_negotiate(&b, &a, &o); // B sends RoCEv2 at 4, which nobody pauses
    assert_int_equal(o.differences, 2);
    assert_int_equal(o.difference[1].fault, WEFT_DCBX_APP_LOSSY);
    assert_int_equal(o.difference[1].priorities, 0x10);

    a.says.pfc.willing = true;
    weft_dcbx_negotiate(&a, &b, &o);
    assert_int_equal(o.apps.n, 2);
    assert_int_equal(o.apps.app[0].priority, 3); // its own entry stays
    assert_int_equal(o.apps.app[1].protocol, 3260);

    a.says.pfc.enabled = b.says.pfc.enabled = 0; // who wants nothing lossless misses nothing
    weft_dcbx_negotiate(&b, &a, &o);
    assert_int_equal(o.differences, 1);
}

static void broken_tlvs(void **state) {
    struct weft_dcbx_end a = pfc_end(1, false, 0x08, 8), b = a;
    b.says.malformed = WEFT_DCBX_ETS | WEFT_DCBX_APPS;
    b.says.repeated = WEFT_DCBX_PFC;
    struct weft_dcbx_operation o;
    weft_dcbx_negotiate(&a, &b, &o);
    assert_int_equal(o.differences, 3);
    char found[256], consequence[256];
    weft_dcbx_explain(&o.difference[1], found, consequence, sizeof found);
    assert_string_equal(found, "the neighbour's PFC TLV comes more than once");
}

static void weights_to_percent(void **state) {
    static const struct {
        uint64_t weight[8];
        uint8_t percent[8];
    } rows[] = {
        {{1, 1, 1, 1, 1, 1, 1, 1}, {13, 13, 13, 13, 12, 12, 12, 12}},
        {{0, 0, 0, 0, 0, 0, 0, 0}, {0}},
        {{1, 1, 1, 0, 0, 0, 0, 0}, {34, 33, 33}},
        {{1000, 0, 0, 1, 0, 0, 0, 0}, {100, 0, 0, 0}}, // 99.9 and 0.1: the larger remainder
        {{0, 0, 0, 60, 40, 0, 0, 0}, {0, 0, 0, 60, 40}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weft_ets_table t = weft_ets_table_of_weights(rows[i].weight);
        assert_memory_equal(t.percent, rows[i].percent, 8);
        for (unsigned p = 0; p < 8; p++) {
            assert_int_equal(t.class_of[p], p);
            assert_int_equal(t.algorithm[p], rows[i].weight[p] ? WEFT_ETS_SHARE : WEFT_ETS_STRICT);
        }
    }
}

static void apps_from_text(void **state) {
    struct weft_app_table t;
    char why[256], text[64];
    assert_null(weft_dcbx_apps_parse("", &t, why, sizeof why));
    assert_int_equal(t.n, 0);
    assert_null(weft_dcbx_apps_parse(" udp:4791:3 ,ethertype:0x8906:4,tcp+udp:1:0,dscp:26:7", &t, why, sizeof why));
    assert_int_equal(t.n, 4);
    assert_int_equal(t.app[1].protocol, 0x8906);
    assert_int_equal(t.app[2].selector, WEFT_APP_TCP_UDP);
    assert_int_equal(t.app[3].priority, 7);
    static const char *const expected[] = {"UDP 4791 (RoCEv2)", "EtherType 0x8906 (FCoE)", "TCP or UDP 1", "DSCP 26"};
    for (unsigned i = 0; i < 4; i++) {
        weft_dcbx_app_text(&t.app[i], text, sizeof text);
        assert_string_equal(text, expected[i]);
    }
    static const char *const wrong[] = {"udp",         "udp:4791",     "udp:4791:8", "udp:70000:3", "upd:4791:3",
                                        "udp:4791:3,", "dscp:64:1",    ",",          "udp::3",      "udp:4791:33",
                                        "udp:-1:3",    "udp:4791:3 4", "udp:4791:"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (!weft_dcbx_apps_parse(wrong[i], &t, why, sizeof why)) fail_msg("\"%s\" was taken", wrong[i]);
}

static void words(void **state) {
    static const struct {
        uint8_t set;
        const char *text;
    } rows[] = {{0, "none"}, {8, "3"}, {0x18, "3 and 4"}, {0x07, "0, 1 and 2"}};
    char text[64], found[256], consequence[256];
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(weft_dcbx_priorities_text(rows[i].set, text, sizeof text), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
    weft_dcbx_priorities_text(0xff, text, 4);
    assert_string_equal(text, "0, ");
    struct weft_dcbx_end a = pfc_end(1, false, 0x08, 8), b = pfc_end(2, false, 0x10, 8);
    struct weft_dcbx_operation o;
    weft_dcbx_negotiate(&a, &b, &o);
    weft_dcbx_explain(&o.difference[0], found, consequence, sizeof found);
    assert_string_equal(found, "PFC on 3 here, on 4 there; neither end is willing");
    assert_string_equal(consequence, "priorities 3 and 4 are lossy on this link");
    b.says.pfc = (struct weft_pfc_configuration){.willing = false, .enabled = 0, .capability = 8};
    a.says.pfc.willing = true;
    weft_dcbx_negotiate(&a, &b, &o);
    weft_dcbx_explain(&o.difference[0], found, consequence, sizeof found);
    assert_string_equal(found, "PFC on 3 here, off there; this end is willing and takes the neighbour's");
    assert_string_equal(consequence, "priority 3 is lossy on this link");
    weft_dcbx_negotiate(&a, NULL, &o);
    weft_dcbx_explain(&o.difference[0], found, consequence, sizeof found);
    assert_string_equal(found, "no LLDP seen from the neighbour");
}

/// A whole frame there and back, with a VLAN tag too.
static void frames(void **state) {
    struct weft_dcbx_end end = pfc_end(9, true, 0x18, 8), got;
    struct weft_lldpdu pdu;
    uint8_t bytes[512], tagged[516];
    size_t size = weft_dcbx_frame_encode(&end, "access-3", "access-3/7", 120, bytes, sizeof bytes);
    assert_true(size > 0);
    assert_int_equal(weft_dcbx_frame_decode(bytes, size, &pdu, &got), WEFT_WIRE_OK);
    assert_memory_equal(&got, &end, sizeof end);
    assert_int_equal(pdu.ttl_s, 120);
    assert_memory_equal(pdu.port.id, "access-3/7", 10);
    for (size_t room = 0; room < size; room++)
        assert_int_equal(weft_dcbx_frame_encode(&end, "access-3", "access-3/7", 120, bytes, room), 0);
    memcpy(tagged, bytes, 12);
    memcpy(tagged + 12, "\x81\0\xe0\0", 4);
    memcpy(tagged + 16, bytes + 12, size - 12);
    assert_int_equal(weft_dcbx_frame_decode(tagged, size + 4, &pdu, &got), WEFT_WIRE_OK);
    assert_int_equal(got.says.pfc.enabled, 0x18);
    bytes[13] = 0;
    assert_int_equal(weft_dcbx_frame_decode(bytes, size, &pdu, &got), WEFT_WIRE_MALFORMED);
    assert_int_equal(weft_dcbx_frame_decode(bytes, 13, &pdu, &got), WEFT_WIRE_TRUNCATED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symmetric_pfc),
        cmocka_unit_test(ends_agree),
        cmocka_unit_test(capability),
        cmocka_unit_test(cee),
        cmocka_unit_test(cee_disabled),
        cmocka_unit_test(versions),
        cmocka_unit_test(silence),
        cmocka_unit_test(asymmetric_ets),
        cmocka_unit_test(applications),
        cmocka_unit_test(broken_tlvs),
        cmocka_unit_test(weights_to_percent),
        cmocka_unit_test(apps_from_text),
        cmocka_unit_test(words),
        cmocka_unit_test(frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
