// SPDX-License-Identifier: Apache-2.0
// DCBX to and from text.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/dcbx.h"
#include "weft/error.h"

static const char *const selectors[] = {
    [WEFT_APP_ETHERTYPE] = "ethertype", [WEFT_APP_TCP] = "tcp",   [WEFT_APP_UDP] = "udp",
    [WEFT_APP_TCP_UDP] = "tcp+udp",     [WEFT_APP_DSCP] = "dscp",
};
enum { SELECTORS = sizeof selectors / sizeof selectors[0], TEXT_MAX = 128 };

int weft_dcbx_priorities_text(uint8_t priorities, char *text, size_t size) {
    int used = 0, left = __builtin_popcount(priorities);
    if (!priorities) return snprintf(text, size, "none");
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++) {
        if (!(priorities >> p & 1)) continue;
        size_t at = (size_t)used < size ? (size_t)used : size;
        left--;
        used += snprintf(text + at, size - at, "%u%s", p, left > 1 ? ", " : left ? " and " : "");
    }
    return used;
}

int weft_dcbx_app_text(const struct weft_app *app, char *text, size_t size) {
    static const struct {
        uint8_t selector;
        uint16_t protocol;
        const char *name;
    } known[] = {
        {WEFT_APP_UDP, 4791, " (RoCEv2)"},         {WEFT_APP_TCP_UDP, 4791, " (RoCEv2)"},
        {WEFT_APP_ETHERTYPE, 0x8915, " (RoCEv1)"}, {WEFT_APP_ETHERTYPE, 0x8906, " (FCoE)"},
        {WEFT_APP_ETHERTYPE, 0x8914, " (FIP)"},    {WEFT_APP_TCP, 3260, " (iSCSI)"},
    };
    const char *name = "";
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].selector == app->selector && known[i].protocol == app->protocol) name = known[i].name;
    switch (app->selector) {
    case WEFT_APP_ETHERTYPE:
        if (!app->protocol) return snprintf(text, size, "anything else");
        return snprintf(text, size, "EtherType 0x%04x%s", app->protocol, name);
    case WEFT_APP_TCP:
        return snprintf(text, size, "TCP %u%s", app->protocol, name);
    case WEFT_APP_UDP:
        return snprintf(text, size, "UDP %u%s", app->protocol, name);
    case WEFT_APP_TCP_UDP:
        return snprintf(text, size, "TCP or UDP %u%s", app->protocol, name);
    case WEFT_APP_DSCP:
        return snprintf(text, size, "DSCP %u", app->protocol);
    default:
        return snprintf(text, size, "selector %u, protocol %u", app->selector, app->protocol);
    }
}

const char *weft_dcbx_rule_text(enum weft_dcbx_rule rule) {
    static const char *const text[] = {
        [WEFT_DCBX_NOT_TOLD] = "the neighbour says nothing of PFC",
        [WEFT_DCBX_SAME] = "both ends are configured alike",
        [WEFT_DCBX_NEITHER] = "neither end is willing",
        [WEFT_DCBX_TAKES] = "this end is willing and takes the neighbour's",
        [WEFT_DCBX_IS_TAKEN] = "the neighbour is willing and takes this end's",
        [WEFT_DCBX_PEER_LOWER] =
            "both ends are willing and the neighbour's MAC address is the lower one: its configuration holds",
        [WEFT_DCBX_OWN_LOWER] =
            "both ends are willing and this end's MAC address is the lower one: its configuration holds",
        [WEFT_DCBX_SAME_MAC] = "both ends are willing and have the same MAC address: each keeps its own",
        [WEFT_DCBX_UNHEARD] = "they have not heard of each other by DCBX",
        [WEFT_DCBX_CANNOT] = "the willing end cannot do PFC on so many priorities: each keeps its own",
        [WEFT_DCBX_CEE_OFF] = "by CEE DCBX PFC is off where ends differ and both are willing, or neither",
    };
    return text[rule];
}

static const char *const part_texts[] = {
    [WEFT_DCBX_ETS] = "ETS configuration",
    [WEFT_DCBX_ETS_RECOMMENDATION] = "ETS recommendation",
    [WEFT_DCBX_PFC] = "PFC",
    [WEFT_DCBX_APPS] = "application priority",
    [WEFT_DCBX_CEE] = "CEE",
};

/// "priority 3", "priorities 3 and 4".
static const char *priorities_named(uint8_t priorities, char text[TEXT_MAX]) {
    char list[TEXT_MAX / 2];
    weft_dcbx_priorities_text(priorities, list, sizeof list);
    return WEFT_SAY(text, TEXT_MAX, "priorit%s %s", priorities & (priorities - 1) ? "ies" : "y", list);
}

static void explain_untold(const struct weft_dcbx_difference *d, char *ret_found, char *ret_consequence, size_t size) {
    char priorities[TEXT_MAX];
    snprintf(ret_found, size, "%s",
             d->fault == WEFT_DCBX_NO_LLDP ? "no LLDP seen from the neighbour"
             : d->fault == WEFT_DCBX_CEE_ONLY
                 ? "the neighbour speaks CEE DCBX only, and this end does not, or not of PFC"
             : d->fault == WEFT_DCBX_IEEE_ONLY ? "the neighbour speaks IEEE DCBX, and this end CEE DCBX only"
                                               : "the neighbour's LLDP has no PFC TLV of IEEE DCBX");
    if (d->own)
        snprintf(ret_consequence, size, "nothing says that the neighbour pauses for %s: lossy unless it is set by hand",
                 priorities_named(d->own, priorities));
    else
        snprintf(ret_consequence, size, "no priority is lossless on this link");
}

static void explain_pfc(const struct weft_dcbx_difference *d, char *ret_found, char *ret_consequence, size_t size) {
    char own[TEXT_MAX], peer[TEXT_MAX], priorities[TEXT_MAX];
    weft_dcbx_priorities_text(d->own, own, sizeof own);
    weft_dcbx_priorities_text(d->peer, peer, sizeof peer);
    snprintf(ret_found, size, "PFC %s%s here, %s%s there; %s", d->own ? "on " : "", d->own ? own : "off",
             d->peer ? "on " : "", d->peer ? peer : "off", weft_dcbx_rule_text(d->rule));
    snprintf(ret_consequence, size, "%s %s lossy on this link", priorities_named(d->priorities, priorities),
             d->priorities & (d->priorities - 1) ? "are" : "is");
}

void weft_dcbx_explain(const struct weft_dcbx_difference *d, char *ret_found, char *ret_consequence, size_t size) {
    char priorities[TEXT_MAX], app[TEXT_MAX];
    weft_dcbx_app_text(&d->app, app, sizeof app);
    switch (d->fault) {
    case WEFT_DCBX_NO_LLDP:
    case WEFT_DCBX_NO_PFC_TLV:
    case WEFT_DCBX_CEE_ONLY:
    case WEFT_DCBX_IEEE_ONLY:
        explain_untold(d, ret_found, ret_consequence, size);
        break;
    case WEFT_DCBX_PFC_DIFFERS:
        explain_pfc(d, ret_found, ret_consequence, size);
        break;
    case WEFT_DCBX_MALFORMED_TLV:
        snprintf(ret_found, size, "the neighbour's %s TLV is malformed", part_texts[d->part]);
        snprintf(ret_consequence, size, "it counts as not sent");
        break;
    case WEFT_DCBX_REPEATED_TLV:
        snprintf(ret_found, size, "the neighbour's %s TLV comes more than once", part_texts[d->part]);
        snprintf(ret_consequence, size, "the first one counts here; others may go by the last");
        break;
    case WEFT_DCBX_ETS_DIFFERS:
        snprintf(ret_found, size, "the ends share out bandwidth differently for %s",
                 priorities_named(d->priorities, priorities));
        snprintf(ret_consequence, size, "the share of the link depends on the direction");
        break;
    case WEFT_DCBX_APP_DIFFERS:
        snprintf(ret_found, size, "%s has priority %u here, %u there", app, d->own, d->peer);
        snprintf(ret_consequence, size, "each end sends it at another priority");
        break;
    case WEFT_DCBX_APP_LOSSY:
        snprintf(ret_found, size, "%s has %s", app, priorities_named(d->priorities, priorities));
        snprintf(ret_consequence, size, "it is lossy on this link");
        break;
    }
}

/// "udp:4791:3" without spaces around.
static bool parse_app(const char *text, size_t length, struct weft_app *ret) {
    for (uint8_t s = 1; s < SELECTORS; s++) {
        size_t n = strlen(selectors[s]);
        if (length <= n || strncmp(text, selectors[s], n) || text[n] != ':') continue;
        const char *number = text + n + 1;
        if (!isdigit((unsigned char)*number)) return false;
        char *end;
        unsigned long protocol = strtoul(number, &end, 0), max = s == WEFT_APP_DSCP ? 63 : UINT16_MAX;
        if (*end != ':' || protocol > max || end + 2 != text + length) return false;
        if (end[1] < '0' || end[1] > '7') return false;
        *ret = (struct weft_app){.priority = (uint8_t)(end[1] - '0'), .selector = s, .protocol = (uint16_t)protocol};
        return true;
    }
    return false;
}

const char *weft_dcbx_apps_parse(const char *text, struct weft_app_table *ret, char *why, size_t size) {
    *ret = (struct weft_app_table){0};
    for (const char *at = text;; at++) {
        at += strspn(at, " ");
        size_t length = strcspn(at, ","), trimmed = length;
        while (trimmed && at[trimmed - 1] == ' ')
            trimmed--;
        if (!trimmed && !at[length] && !ret->n) return NULL; // none at all
        if (ret->n == WEFT_APPS_MAX) return WEFT_SAY(why, size, "more than %u applications", WEFT_APPS_MAX);
        if (!parse_app(at, trimmed, &ret->app[ret->n]))
            return WEFT_SAY(why, size,
                            "\"%.*s\" is not an application: expected selector:protocol:priority, such as udp:4791:3; "
                            "selectors are ethertype, tcp, udp, tcp+udp and dscp",
                            (int)trimmed, at);
        ret->n++;
        at += length;
        if (!*at) return NULL;
    }
}
