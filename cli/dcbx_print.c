// SPDX-License-Identifier: Apache-2.0
// weft dcbx: LLDP senders and what would be negotiated with them, as text and as rows.
#include "dcbx.h"

#include <ctype.h>

#include "base/units.h"

enum { TEXT_MAX = 512 };

static const char *mac_text(const uint8_t *mac, char text[TEXT_MAX]) {
    return WEFT_SAY(text, TEXT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

/// Names as text; addresses and anything unprintable in hexadecimal.
static const char *bytes_text(const uint8_t *bytes, size_t length, bool name, char text[TEXT_MAX]) {
    for (size_t i = 0; i < length && name; i++)
        name = isprint(bytes[i]);
    if (name) return WEFT_SAY(text, TEXT_MAX, "%.*s", (int)length, (const char *)bytes);
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < length && at + 4 < TEXT_MAX; i++)
        at += (size_t)snprintf(text + at, TEXT_MAX - at, "%s%02x", i ? ":" : "", bytes[i]);
    return text;
}

static const char *chassis_text(const struct weft_lldp_id *id, char text[TEXT_MAX]) {
    bool name = id->subtype != WEFT_LLDP_CHASSIS_MAC && id->subtype != 5; // 5: network address
    return bytes_text(id->id, id->length, name, text);
}

static const char *port_text(const struct weft_lldp_id *id, char text[TEXT_MAX]) {
    bool name = id->subtype != WEFT_LLDP_PORT_MAC && id->subtype != 4;
    return bytes_text(id->id, id->length, name, text);
}

/// The value of the first optional TLV of a type as a name; NULL if there is none.
static const char *optional_text(const struct weft_lldpdu *pdu, enum weft_lldp_type type, char text[TEXT_MAX]) {
    struct weft_lldp_tlv tlv;
    for (size_t at = 0; at < pdu->optional_bytes; at += WEFT_LLDP_TLV_HEADER + (size_t)tlv.length) {
        if (weft_lldp_tlv_decode(pdu->optional + at, pdu->optional_bytes - at, &tlv)) break;
        if (tlv.type == type) return bytes_text(tlv.value, tlv.length, true, text);
    }
    return NULL;
}

static const char *willing_text(bool willing) {
    return willing ? "willing" : "not willing";
}

// --- for people ---------------------------------------------------------------------------------------------------

static const char *algorithm_text(uint8_t algorithm, uint8_t percent, char text[TEXT_MAX]) {
    switch (algorithm) {
    case WEFT_ETS_CREDIT_SHAPER:
        return "credit-based shaper";
    case WEFT_ETS_SHARE:
        return WEFT_SAY(text, TEXT_MAX, "%u %%", percent);
    case WEFT_ETS_VENDOR:
        return "vendor's own";
    }
    return WEFT_SAY(text, TEXT_MAX, "algorithm %u", algorithm);
}

static void print_line(const char *what) {
    printf("  %-16s", what);
}

/// The priorities of each traffic class that has any, and what the class gets; strict ones last, together.
static void print_table(const struct weft_ets_table *table) {
    const char *separator = "";
    uint8_t strict = 0;
    char list[64], text[TEXT_MAX];
    for (unsigned class = 0; class < 16; class ++) {
        uint8_t priorities = 0;
        for (unsigned p = 0; p < WEFT_PRIORITIES; p++)
            if (table->class_of[p] == class) priorities |= (uint8_t)(1u << p);
        bool exists = class < WEFT_PRIORITIES;
        if (exists && table->algorithm[class] == WEFT_ETS_STRICT) {
            strict |= priorities;
        } else if (priorities) {
            weft_dcbx_priorities_text(priorities, list, sizeof list);
            printf("%s%s: %s", separator, list,
                   exists ? algorithm_text(table->algorithm[class], table->percent[class], text) : "no such class");
            separator = "; ";
        }
    }
    if (!strict) return;
    weft_dcbx_priorities_text(strict, list, sizeof list);
    printf("%s%s: strict", separator, list);
}

static void print_apps(const struct weft_app_table *apps) {
    for (unsigned i = 0; i < apps->n; i++) {
        char text[TEXT_MAX];
        weft_dcbx_app_text(&apps->app[i], text, sizeof text);
        printf("%s%s: %u", i ? ", " : "", text, apps->app[i].priority);
    }
    puts(apps->n ? "" : "none");
}

static void print_cee(const struct weft_cee *cee) {
    char list[64];
    print_line("CEE DCBX");
    const char *separator = "";
    if (cee->has >> WEFT_CEE_CONTROL & 1) {
        printf("sequence %u, acknowledged %u", cee->control.sequence, cee->control.acknowledged);
        separator = "; ";
    }
    if (cee->has >> WEFT_CEE_PG & 1) {
        printf("%sgroups", separator);
        for (unsigned p = 0; p < WEFT_PRIORITIES; p++)
            printf(" %u", cee->pg.group_of[p]);
        printf(" of");
        for (unsigned g = 0; g < WEFT_PRIORITIES; g++)
            if (cee->pg.percent[g]) printf(" %u: %u %%", g, cee->pg.percent[g]);
        separator = "; ";
    }
    if (cee->has >> WEFT_CEE_PFC & 1) {
        weft_dcbx_priorities_text(cee->pfc.enabled, list, sizeof list);
        printf("%sPFC on %s, %s", separator, list, willing_text(cee->pfc.feature.willing));
        separator = "; ";
    }
    for (unsigned i = 0; cee->has >> WEFT_CEE_APPS & 1 && i < cee->apps.n; i++) {
        const struct weft_cee_app *app = &cee->apps.app[i];
        char text[TEXT_MAX];
        struct weft_app known = {.protocol = app->protocol,
                                 .selector = app->selector ? WEFT_APP_TCP_UDP : WEFT_APP_ETHERTYPE};
        weft_dcbx_app_text(&known, text, sizeof text);
        weft_dcbx_priorities_text(app->priorities, list, sizeof list);
        printf("%s%s: %s", separator, text, list);
        separator = "; ";
    }
    puts("");
}

static void print_dcbx(const struct weft_dcbx *d) {
    char list[64];
    if (d->has & WEFT_DCBX_PFC) {
        weft_dcbx_priorities_text(d->pfc.enabled, list, sizeof list);
        print_line("PFC");
        printf("on %s; %s; %u at most\n", list, willing_text(d->pfc.willing), d->pfc.capability);
    }
    if (d->has & WEFT_DCBX_ETS) {
        print_line("ETS");
        print_table(&d->ets.table);
        printf("; %s; %s\n", willing_text(d->ets.willing), weft__counted(d->ets.classes, "class").text);
    }
    if (d->has & WEFT_DCBX_ETS_RECOMMENDATION) {
        print_line("ETS recommended");
        print_table(&d->recommendation.table);
        puts("");
    }
    if (d->has & WEFT_DCBX_APPS) {
        print_line("applications");
        print_apps(&d->apps);
    }
    if (d->has & WEFT_DCBX_CEE) print_cee(&d->cee);
    if (!(d->has | d->malformed)) puts("  no DCBX");
}

static void print_differences(const struct weft_dcbx_operation *o) {
    for (uint32_t i = 0; i < o->differences; i++) {
        char found[TEXT_MAX], consequence[TEXT_MAX];
        weft_dcbx_explain(&o->difference[i], found, consequence, sizeof found);
        print_line("difference");
        printf("%s\n", found);
        print_line("");
        printf("so %s\n", consequence);
    }
}

static void print_negotiated(const struct weft_dcbx_end *own, const struct weft_dcbx_operation *o) {
    char list[64], lossless[64];
    weft_dcbx_priorities_text(o->pfc, list, sizeof list);
    weft_dcbx_priorities_text(o->lossless, lossless, sizeof lossless);
    print_line("negotiated");
    printf("PFC here on %s (%s); lossless: %s\n", list, weft_dcbx_rule_text(o->rule), lossless);
    if (own->says.has & WEFT_DCBX_ETS) {
        print_line("");
        printf("ETS here ");
        print_table(&o->ets);
        puts(o->ets_of_peer ? " (as the neighbour recommends)" : " (own)");
    }
    print_differences(o);
}

void weft_cli_dcbx_print(FILE *file, const void *dcbx) {
    const struct weft_cli_dcbx *found = dcbx;
    printf("%s: %s, %llu of them LLDP\n", found->file, weft__counted(found->frames, "frame").text,
           (unsigned long long)found->lldp);
    if (found->wrong)
        printf("%llu of them cannot be read; the first is frame %llu: %s\n", (unsigned long long)found->wrong,
               (unsigned long long)found->wrong_first, found->wrong_why);
    for (const struct weft_cli_dcbx_said *s = found->said; s; s = s->next) {
        char mac[TEXT_MAX], chassis[TEXT_MAX], port[TEXT_MAX], name[TEXT_MAX];
        const char *system = optional_text(&s->pdu, WEFT_LLDP_SYSTEM_NAME, name);
        printf("\n%s", mac_text(s->end.mac, mac));
        if (system) printf(", %s", system);
        printf(", chassis %s, port %s: %s, the first is frame %llu\n", chassis_text(&s->pdu.chassis, chassis),
               port_text(&s->pdu.port, port), weft__counted(s->frames, "frame").text, (unsigned long long)s->first);
        print_line("time to live");
        printf("%u s%s\n", s->pdu.ttl_s, s->pdu.ttl_s ? "" : ": what was said before is withdrawn");
        print_dcbx(&s->end.says);
        if (found->own) print_negotiated(found->own, s->negotiated);
    }
}

// --- as rows ------------------------------------------------------------------------------------------------------

static struct weft_result_value known_text(struct weft_result_cursor *c, const char *text) {
    return (struct weft_result_value){.known = text, .text = text ? weft_arena_text(c->arena, text) : NULL};
}

/// Eight numbers, one per priority, class or group.
static struct weft_result_value list_octets(struct weft_result_cursor *c, bool known, const uint8_t *octet) {
    char text[64];
    snprintf(text, sizeof text, "%u,%u,%u,%u,%u,%u,%u,%u", octet[0], octet[1], octet[2], octet[3], octet[4], octet[5],
             octet[6], octet[7]);
    return known_text(c, known ? text : NULL);
}

#define OF_SENDER WEFT_RESULT_ABOVE_KEY("sender", "sender", COUNT, "number of the sender")
#define LISTED(function, key, help)                                                                                    \
    WEFT_RESULT_CALL(function, key, TEXT, help, .flags = WEFT_RESULT_LISTED | WEFT_RESULT_SPARSE)

static const struct weft_cli_dcbx_said *said_of(const struct weft_result_cursor *c) {
    return c->part[0];
}

static bool next_sender(struct weft_result_cursor *c) {
    const struct weft_cli_dcbx_said *before = c->state,
                                    *s = before ? before->next : ((const struct weft_cli_dcbx *)c->subject)->said;
    c->state = (void *)(uintptr_t)s;
    c->part[0] = s;
    c->at++;
    return s;
}

static struct weft_result_value sender_mac(struct weft_result_cursor *c) {
    char text[TEXT_MAX];
    return known_text(c, mac_text(said_of(c)->end.mac, text));
}

static struct weft_result_value sender_chassis(struct weft_result_cursor *c) {
    char text[TEXT_MAX];
    return known_text(c, chassis_text(&said_of(c)->pdu.chassis, text));
}

static struct weft_result_value sender_port(struct weft_result_cursor *c) {
    char text[TEXT_MAX];
    return known_text(c, port_text(&said_of(c)->pdu.port, text));
}

static struct weft_result_value sender_system(struct weft_result_cursor *c) {
    char text[TEXT_MAX];
    return known_text(c, optional_text(&said_of(c)->pdu, WEFT_LLDP_SYSTEM_NAME, text));
}

#define SAID(field, key, kind, ...) WEFT_RESULT_NAMED(struct weft_cli_dcbx_said, field, key, kind, __VA_ARGS__)
static const struct weft_result_table sender_table = WEFT_RESULT_TABLE_OF(
    "senders", LIST, "what an LLDP sender says: one row per content", .next = next_sender,
    WEFT_RESULT_NUMBER("sender", "number of the sender and of what it says, from 0"),
    WEFT_RESULT_CALL(sender_mac, "mac", TEXT, "MAC address of the sender", .flags = WEFT_RESULT_KEY),
    WEFT_RESULT_CALL(sender_chassis, "chassis", TEXT, "chassis id"),
    WEFT_RESULT_CALL(sender_port, "port", TEXT, "port id"),
    WEFT_RESULT_CALL(sender_system, "system_name", TEXT, "system name, if it gives one"),
    SAID(pdu.ttl_s, "ttl_s", COUNT, "time to live; 0: the sender withdraws its earlier frames", .unit = "s"),
    SAID(frames, "frames", COUNT, "frames in which the sender says so"),
    SAID(first, "first_frame", COUNT, "number of the first frame, from 1"));

WEFT_RESULT_NEXT(next_pfc, struct weft_cli_dcbx_said, said,
                 weft_result_take(c, (said->end.says.has & WEFT_DCBX_PFC) ? &said->end.says.pfc : NULL, NULL))
#define PFC(field, kind, help) WEFT_RESULT(struct weft_pfc_configuration, field, kind, help)
static const struct weft_result_table pfc_table =
    WEFT_RESULT_TABLE_OF("senders.pfc", OBJECT, "PFC as a sender says it", .next = next_pfc, OF_SENDER,
                         PFC(willing, BOOL, "whether the sender takes over the neighbour's configuration"),
                         PFC(macsec_bypass, BOOL, "whether the sender can bypass MACsec"),
                         PFC(capability, COUNT, "priorities on which the sender can do PFC at once"),
                         PFC(enabled, PRIORITIES, "priorities with PFC"));

/// Of a row whose part 1 is a struct weft_ets_table, or NULL.
#define ETS_LIST(name, field)                                                                                          \
    static struct weft_result_value name(struct weft_result_cursor *c) {                                               \
        static const struct weft_ets_table none = {0};                                                                 \
        const struct weft_ets_table *t = c->part[1];                                                                   \
        return list_octets(c, t, (t ? t : &none)->field);                                                              \
    }
ETS_LIST(ets_classes, class_of)
ETS_LIST(ets_percents, percent)
ETS_LIST(ets_algorithms, algorithm)
#define ETS_COLUMNS                                                                                                    \
    LISTED(ets_classes, "class_of_priority", "traffic class of each priority"),                                        \
        LISTED(ets_percents, "percent_of_class", "bandwidth of each traffic class, per cent"),                         \
        LISTED(ets_algorithms, "algorithm_of_class", "0 strict, 1 credit-based shaper, 2 ETS, 255 vendor's own")

WEFT_RESULT_NEXT(next_ets, struct weft_cli_dcbx_said, said,
                 weft_result_take(c, (said->end.says.has & WEFT_DCBX_ETS) ? &said->end.says.ets : NULL,
                                  &said->end.says.ets.table))
#define ETS(field, kind, help) WEFT_RESULT(struct weft_ets_configuration, field, kind, help)
static const struct weft_result_table ets_table =
    WEFT_RESULT_TABLE_OF("senders.ets", OBJECT, "shares of bandwidth as a sender says them", .next = next_ets,
                         OF_SENDER, ETS(willing, BOOL, "whether the sender takes over what the neighbour recommends"),
                         ETS(credit_shaper, BOOL, "whether the sender has credit-based shapers"),
                         ETS(classes, COUNT, "traffic classes that can be had"), ETS_COLUMNS);

WEFT_RESULT_NEXT(next_recommendation, struct weft_cli_dcbx_said, said,
                 weft_result_take(c, (said->end.says.has & WEFT_DCBX_ETS_RECOMMENDATION) ? &said->end.says : NULL,
                                  &said->end.says.recommendation.table))
static const struct weft_result_table recommendation_table =
    WEFT_RESULT_TABLE_OF("senders.ets_recommendation", OBJECT, "shares of bandwidth that a sender recommends",
                         .next = next_recommendation, OF_SENDER, ETS_COLUMNS);

WEFT_RESULT_NEXT(next_app, struct weft_cli_dcbx_said, said,
                 weft_result_take_from(c, (said->end.says.has & WEFT_DCBX_APPS) ? said->end.says.apps.n : 0,
                                       said->end.says.apps.app, sizeof *said->end.says.apps.app))
static struct weft_result_value app_name(struct weft_result_cursor *c) {
    char text[TEXT_MAX];
    weft_dcbx_app_text(c->part[0], text, sizeof text);
    return known_text(c, text);
}

#define APP(field, help) WEFT_RESULT(struct weft_app, field, COUNT, help)
static const struct weft_result_column app_columns[] = {
    OF_SENDER,
    WEFT_RESULT_NUMBER("number", "in this order, from 0"),
    WEFT_RESULT_CALL(app_name, "name", TEXT, "the application in words"),
    APP(selector, "1 EtherType, 2 TCP, 3 UDP, 4 TCP or UDP, 5 DSCP"),
    APP(protocol, "EtherType, port or code point"),
    APP(priority, "priority of the application"),
};
static const struct weft_result_table app_table = WEFT_RESULT_TABLE(
    "senders.applications", LIST, "the priority of an application", app_columns, .next = next_app, .sparse = true);

WEFT_RESULT_NEXT(next_cee, struct weft_cli_dcbx_said, said,
                 weft_result_take(c, (said->end.says.has & WEFT_DCBX_CEE) ? &said->end.says.cee : NULL, NULL))
#define CEE(name, bit, value)                                                                                          \
    static struct weft_result_value name(struct weft_result_cursor *c) {                                               \
        const struct weft_cee *cee = c->part[0];                                                                       \
        bool known = cee->has >> WEFT_CEE_##bit & 1;                                                                   \
        return value;                                                                                                  \
    }
CEE(cee_sequence, CONTROL, weft_result_whole(known, cee->control.sequence))
CEE(cee_acknowledged, CONTROL, weft_result_whole(known, cee->control.acknowledged))
CEE(cee_groups, PG, list_octets(c, known, cee->pg.group_of))
CEE(cee_percents, PG, list_octets(c, known, cee->pg.percent))
CEE(cee_willing, PFC, weft_result_whole(known, cee->pfc.feature.willing))
CEE(cee_enabled, PFC, weft_result_whole(known, cee->pfc.enabled))
#define SOME(function, key, kind, help) WEFT_RESULT_CALL(function, key, kind, help, .flags = WEFT_RESULT_SPARSE)
static const struct weft_result_table cee_table = WEFT_RESULT_TABLE_OF(
    "senders.cee", OBJECT, "CEE DCBX of a sender", .next = next_cee, OF_SENDER,
    SOME(cee_sequence, "sequence", COUNT, "sequence number"),
    SOME(cee_acknowledged, "acknowledged", COUNT, "sequence number of the neighbour that the sender has seen"),
    LISTED(cee_groups, "group_of_priority", "priority group of each priority; 15: strict"),
    LISTED(cee_percents, "percent_of_group", "bandwidth of each priority group, per cent"),
    SOME(cee_willing, "pfc_willing", BOOL, "whether the sender takes over the neighbour's PFC"),
    SOME(cee_enabled, "pfc_enabled", PRIORITIES, "priorities with PFC"));

WEFT_RESULT_NEXT(next_cee_app, struct weft_cee, cee,
                 weft_result_take_from(c, cee->has >> WEFT_CEE_APPS & 1 ? cee->apps.n : 0, cee->apps.app,
                                       sizeof *cee->apps.app))
#define CEE_APP(field, kind, help) WEFT_RESULT(struct weft_cee_app, field, kind, help)
static const struct weft_result_table cee_app_table = WEFT_RESULT_TABLE_OF(
    "senders.cee.applications", LIST, "the priorities of an application in CEE DCBX",
    WEFT_RESULT_AND(.next = next_cee_app, .sparse = true), OF_SENDER,
    WEFT_RESULT_NUMBER("number", "in this order, from 0"), CEE_APP(selector, COUNT, "0 EtherType, 1 TCP or UDP port"),
    CEE_APP(protocol, COUNT, "EtherType or port"), CEE_APP(priorities, PRIORITIES, "priorities of the application"));

static bool next_negotiated(struct weft_result_cursor *c) {
    const struct weft_dcbx_end *own = ((const struct weft_cli_dcbx *)c->subject)->own;
    const struct weft_dcbx_operation *o = ((const struct weft_cli_dcbx_said *)c->above->part[0])->negotiated;
    return weft_result_take(c, o, o && own->says.has & WEFT_DCBX_ETS ? &o->ets : NULL);
}

WEFT_RESULT_VALUE(negotiated_rule,
                  known_text(c, weft_dcbx_rule_text(((const struct weft_dcbx_operation *)c->part[0])->rule)))
WEFT_RESULT_VALUE(negotiated_recommended,
                  weft_result_whole(c->part[1], ((const struct weft_dcbx_operation *)c->part[0])->ets_of_peer))
static const struct weft_result_table negotiated_table = WEFT_RESULT_TABLE_OF(
    "senders.negotiated", OBJECT, "what the own port would negotiate with a sender (--pfc)", .next = next_negotiated,
    OF_SENDER, WEFT_RESULT(struct weft_dcbx_operation, pfc, PRIORITIES, "priorities with PFC in force here"),
    WEFT_RESULT(struct weft_dcbx_operation, lossless, PRIORITIES, "priorities with PFC in force at both ends"),
    WEFT_RESULT_CALL(negotiated_rule, "rule", TEXT, "why PFC is in force as it is"),
    SOME(negotiated_recommended, "ets_as_recommended", BOOL, "whether bandwidth is shared as the neighbour recommends"),
    ETS_COLUMNS);

WEFT_RESULT_NEXT(next_negotiated_app, struct weft_dcbx_operation, o,
                 weft_result_take_from(c, o->apps.n, o->apps.app, sizeof *o->apps.app))
static const struct weft_result_table negotiated_app_table =
    WEFT_RESULT_TABLE("senders.negotiated.applications", LIST, "the priority of an application, as negotiated",
                      app_columns, .next = next_negotiated_app);

WEFT_RESULT_NEXT(next_difference, struct weft_dcbx_operation, o,
                 weft_result_take_from(c, o->differences, o->difference, sizeof *o->difference))
static struct weft_result_value difference_found(struct weft_result_cursor *c) {
    char found[TEXT_MAX], consequence[TEXT_MAX];
    weft_dcbx_explain(c->part[0], found, consequence, sizeof found);
    return known_text(c, found);
}

static struct weft_result_value difference_consequence(struct weft_result_cursor *c) {
    char found[TEXT_MAX], consequence[TEXT_MAX];
    weft_dcbx_explain(c->part[0], found, consequence, sizeof found);
    return known_text(c, consequence);
}

static const struct weft_result_table difference_table =
    WEFT_RESULT_TABLE_OF("senders.negotiated.differences", LIST, "a difference between both ends",
                         .next = next_difference, OF_SENDER, WEFT_RESULT_NUMBER("number", "in this order, from 0"),
                         WEFT_RESULT_CALL(difference_found, "found", TEXT, "what differs"),
                         WEFT_RESULT_CALL(difference_consequence, "consequence", TEXT, "effect of the difference"),
                         WEFT_RESULT(struct weft_dcbx_difference, priorities, PRIORITIES, "priorities concerned"));

#define FOUND(field, key, kind, help) WEFT_RESULT_NAMED(struct weft_cli_dcbx, field, key, kind, help)
static const struct weft_result_table dcbx_table = WEFT_RESULT_TABLE_OF(
    "dcbx", OBJECT, "what a capture has of LLDP", WEFT_RESULT_SUBJECT, WEFT_RESULT_VERSION,
    FOUND(file, "file", TEXT, "the capture"), FOUND(frames, "frames", COUNT, "frames in the capture"),
    FOUND(lldp, "lldp_frames", COUNT, "LLDP frames"),
    FOUND(wrong, "unreadable", COUNT, "LLDP frames that cannot be read"));
const struct weft_answer weft__answer_dcbx =
    WEFT_ANSWER_OF("dcbx", "weft dcbx: what LLDP senders say, and what a port would negotiate with them", &dcbx_table,
                   &sender_table, &pfc_table, &ets_table, &recommendation_table, &app_table, &cee_table, &cee_app_table,
                   &negotiated_table, &negotiated_app_table, &difference_table);
