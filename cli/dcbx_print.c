// SPDX-License-Identifier: Apache-2.0
// weft dcbx: LLDP senders and what would be negotiated with them, as text and as JSON.
#include "dcbx.h"

#include <ctype.h>

#include "base/units.h"

enum { TEXT_MAX = 512 };

static const char *mac_text(const uint8_t *mac, char text[TEXT_MAX]) {
    snprintf(text, TEXT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
    return text;
}

/// Names as text; addresses and anything unprintable in hexadecimal.
static const char *bytes_text(const uint8_t *bytes, size_t length, bool name, char text[TEXT_MAX]) {
    for (size_t i = 0; i < length && name; i++)
        name = isprint(bytes[i]);
    if (name) {
        snprintf(text, TEXT_MAX, "%.*s", (int)length, (const char *)bytes);
        return text;
    }
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
        snprintf(text, TEXT_MAX, "%u %%", percent);
        return text;
    case WEFT_ETS_VENDOR:
        return "vendor's own";
    }
    snprintf(text, TEXT_MAX, "algorithm %u", algorithm);
    return text;
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

static void print_negotiated(const struct weft_dcbx_end *own, const struct weft_dcbx_end *peer) {
    struct weft_dcbx_operation o;
    char list[64], lossless[64];
    weft_dcbx_negotiate(own, peer, &o);
    weft_dcbx_priorities_text(o.pfc, list, sizeof list);
    weft_dcbx_priorities_text(o.lossless, lossless, sizeof lossless);
    print_line("negotiated");
    printf("PFC here on %s (%s); lossless: %s\n", list, weft_dcbx_rule_text(o.rule), lossless);
    if (own->says.has & WEFT_DCBX_ETS) {
        print_line("");
        printf("ETS here ");
        print_table(&o.ets);
        puts(o.ets_of_peer ? " (as the neighbour recommends)" : " (own)");
    }
    print_differences(&o);
}

void weft_cli_dcbx_print(const struct weft_cli_dcbx *found) {
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
        if (found->own) print_negotiated(found->own, s->pdu.ttl_s ? &s->end : NULL);
    }
}

// --- for programs -------------------------------------------------------------------------------------------------

static void json_priorities(struct weft__json *j, const char *key, uint8_t priorities) {
    weft__json_key(j, key);
    weft__json_begin_array(j);
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++)
        if (priorities >> p & 1) weft__json_u64(j, p);
    weft__json_end_array(j);
}

static void json_octets(struct weft__json *j, const char *key, const uint8_t *octets) {
    weft__json_key(j, key);
    weft__json_begin_array(j);
    for (unsigned i = 0; i < WEFT_PRIORITIES; i++)
        weft__json_u64(j, octets[i]);
    weft__json_end_array(j);
}

static void json_table(struct weft__json *j, const struct weft_ets_table *table) {
    json_octets(j, "class_of_priority", table->class_of);
    json_octets(j, "percent_of_class", table->percent);
    json_octets(j, "algorithm_of_class", table->algorithm);
}

static void json_apps(struct weft__json *j, const struct weft_app_table *apps) {
    weft__json_key(j, "applications");
    weft__json_begin_array(j);
    for (unsigned i = 0; i < apps->n; i++) {
        char text[TEXT_MAX];
        weft_dcbx_app_text(&apps->app[i], text, sizeof text);
        weft__json_begin_object(j);
        weft__json_key_string(j, "name", text);
        weft__json_key_u64(j, "selector", apps->app[i].selector);
        weft__json_key_u64(j, "protocol", apps->app[i].protocol);
        weft__json_key_u64(j, "priority", apps->app[i].priority);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
}

static void json_cee(struct weft__json *j, const struct weft_cee *cee) {
    weft__json_key(j, "cee");
    weft__json_begin_object(j);
    if (cee->has >> WEFT_CEE_CONTROL & 1) {
        weft__json_key_u64(j, "sequence", cee->control.sequence);
        weft__json_key_u64(j, "acknowledged", cee->control.acknowledged);
    }
    if (cee->has >> WEFT_CEE_PG & 1) {
        json_octets(j, "group_of_priority", cee->pg.group_of);
        json_octets(j, "percent_of_group", cee->pg.percent);
    }
    if (cee->has >> WEFT_CEE_PFC & 1) {
        weft__json_key_bool(j, "pfc_willing", cee->pfc.feature.willing);
        json_priorities(j, "pfc_enabled", cee->pfc.enabled);
    }
    if (cee->has >> WEFT_CEE_APPS & 1) {
        weft__json_key(j, "applications");
        weft__json_begin_array(j);
        for (unsigned i = 0; i < cee->apps.n; i++) {
            weft__json_begin_object(j);
            weft__json_key_u64(j, "selector", cee->apps.app[i].selector);
            weft__json_key_u64(j, "protocol", cee->apps.app[i].protocol);
            json_priorities(j, "priorities", cee->apps.app[i].priorities);
            weft__json_end_object(j);
        }
        weft__json_end_array(j);
    }
    weft__json_end_object(j);
}

static void json_dcbx(struct weft__json *j, const struct weft_dcbx *d) {
    if (d->has & WEFT_DCBX_PFC) {
        weft__json_key(j, "pfc");
        weft__json_begin_object(j);
        weft__json_key_bool(j, "willing", d->pfc.willing);
        weft__json_key_bool(j, "macsec_bypass", d->pfc.macsec_bypass);
        weft__json_key_u64(j, "capability", d->pfc.capability);
        json_priorities(j, "enabled", d->pfc.enabled);
        weft__json_end_object(j);
    }
    if (d->has & WEFT_DCBX_ETS) {
        weft__json_key(j, "ets");
        weft__json_begin_object(j);
        weft__json_key_bool(j, "willing", d->ets.willing);
        weft__json_key_bool(j, "credit_shaper", d->ets.credit_shaper);
        weft__json_key_u64(j, "classes", d->ets.classes);
        json_table(j, &d->ets.table);
        weft__json_end_object(j);
    }
    if (d->has & WEFT_DCBX_ETS_RECOMMENDATION) {
        weft__json_key(j, "ets_recommendation");
        weft__json_begin_object(j);
        json_table(j, &d->recommendation.table);
        weft__json_end_object(j);
    }
    if (d->has & WEFT_DCBX_APPS) json_apps(j, &d->apps);
    if (d->has & WEFT_DCBX_CEE) json_cee(j, &d->cee);
}

static void json_negotiated(struct weft__json *j, const struct weft_dcbx_end *own, const struct weft_dcbx_end *peer) {
    struct weft_dcbx_operation o;
    weft_dcbx_negotiate(own, peer, &o);
    weft__json_key(j, "negotiated");
    weft__json_begin_object(j);
    json_priorities(j, "pfc", o.pfc);
    json_priorities(j, "lossless", o.lossless);
    weft__json_key_string(j, "rule", weft_dcbx_rule_text(o.rule));
    if (own->says.has & WEFT_DCBX_ETS) {
        weft__json_key_bool(j, "ets_as_recommended", o.ets_of_peer);
        json_table(j, &o.ets);
    }
    json_apps(j, &o.apps);
    weft__json_key(j, "differences");
    weft__json_begin_array(j);
    for (uint32_t i = 0; i < o.differences; i++) {
        char found[TEXT_MAX], consequence[TEXT_MAX];
        weft_dcbx_explain(&o.difference[i], found, consequence, sizeof found);
        weft__json_begin_object(j);
        weft__json_key_string(j, "found", found);
        weft__json_key_string(j, "consequence", consequence);
        json_priorities(j, "priorities", o.difference[i].priorities);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}

void weft_cli_dcbx_json(const struct weft_cli_dcbx *found, struct weft__json *j) {
    weft__json_begin_object(j);
    weft__json_key_string(j, "file", found->file);
    weft__json_key_u64(j, "frames", found->frames);
    weft__json_key_u64(j, "lldp_frames", found->lldp);
    weft__json_key_u64(j, "unreadable", found->wrong);
    weft__json_key(j, "senders");
    weft__json_begin_array(j);
    for (const struct weft_cli_dcbx_said *s = found->said; s; s = s->next) {
        char text[TEXT_MAX];
        weft__json_begin_object(j);
        weft__json_key_string(j, "mac", mac_text(s->end.mac, text));
        weft__json_key_string(j, "chassis", chassis_text(&s->pdu.chassis, text));
        weft__json_key_string(j, "port", port_text(&s->pdu.port, text));
        weft__json_key_string(j, "system_name", optional_text(&s->pdu, WEFT_LLDP_SYSTEM_NAME, text));
        weft__json_key_u64(j, "ttl_s", s->pdu.ttl_s);
        weft__json_key_u64(j, "frames", s->frames);
        weft__json_key_u64(j, "first_frame", s->first);
        json_dcbx(j, &s->end.says);
        if (found->own) json_negotiated(j, found->own, s->pdu.ttl_s ? &s->end : NULL);
        weft__json_end_object(j);
    }
    weft__json_end_array(j);
    weft__json_end_object(j);
}
