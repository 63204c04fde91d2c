// SPDX-License-Identifier: Apache-2.0
// A SONiC switch as a scenario: one switch with a host at each port that is up. weft's priority is SONiC's queue; its
// switch has one buffer, one AQM and one map for all ports, taken from the first port that has QoS.
#include <inttypes.h>
#include <string.h>

#include "base/stream.h"
#include "base/units.h"
#include "import/config_db/sonic_load.h"
#include "import/sonic/sonic_import.h"
#include "weft/param.h"

enum { TH_MIN = -8, TH_MAX = 7, TH_SPREAD = 9, FLOW_PRIORITY = 3 };

static const struct weft_param_table import_params = WEFT_PARAM_TABLE_OF(
    "sonic", struct weft__sonic_import_conf, WEFT_PARAM_UNCHECKED, WEFT_IMPORT_ROWS(struct weft__sonic_import_conf),
    WEFT_TIME(struct weft__sonic_import_conf, metre_ps, "metre", "5ns", "1ns", "20ns",
              "delay per metre of cable (assumed)"),
    WEFT_TEXT(struct weft__sonic_import_conf, hosts, "hosts", "",
              "with several switches, devices that are hosts (shell patterns); empty: neighbours with one cable"));

#define SAY(section, ...) weft_import_say(m->im, WEFT_IMPORT_##section, __VA_ARGS__)
#define SAY_SWITCH(...) fprintf(m->sw, __VA_ARGS__)
#define SAY_HOST(...) fprintf(m->host, __VA_ARGS__)
#define NOTE(note, format, ...) weft_import_note(m->im, WEFT_IMPORT_##note, "%s" format, m->prefix, ##__VA_ARGS__)
#define BYTES(bytes) weft__bytes_text(bytes).text

/// The first line that is not a comment has a speed, a cable and at least four numbers. A device without lossless
/// profiles has only the comment that names the columns.
static bool is_lookup(const char *head) {
    char cable[16], unit;
    unsigned long speed, size, xon, xoff;
    long threshold;
    bool columns = false;
    for (head += strspn(head, " \t\r\n"); *head == '#'; head += strspn(head, " \t\r\n")) {
        char word[3][16] = {"", "", ""};
        int words = sscanf(head, "#%*[ \t]%15s %15s %15s", word[0], word[1], word[2]);
        columns |= words == 3 && !strcmp(word[0], "speed") && !strcmp(word[1], "cable") && !strcmp(word[2], "size");
        head += strcspn(head, "\n");
    }
    if (!*head) return columns;
    return sscanf(head, "%lu %14[0-9.]%c %lu %lu %lu %ld", &speed, cable, &unit, &size, &xon, &xoff, &threshold) == 7 &&
           unit == 'm';
}

static const char *sonic_recognise(const struct weft_import_file *file) {
    static const char *const tables[] = {
        "\"PORT\"",      "\"PORT_QOS_MAP\"",    "\"BUFFER_P",          "\"CABLE_LENGTH\"", "\"PFC_WD\"",
        "\"ACL_TABLE\"", "\"DEVICE_METADATA\"", "\"DEVICE_NEIGHBOR\"", "\"BGP_NEIGHBOR\"", "\"DSCP_TO_TC_MAP\"",
        "\"TC_TO_",      "\"MAP_PFC_",          "\"PFC_PRIORITY_TO_",  "\"WRED_PROFILE\"", "\"SCHEDULER\"",
        "\"QUEUE\""};
    if (is_lookup(file->head)) return "profiles";
    if (file->head[strspn(file->head, " \t\r\n")] != '{') return NULL;
    for (uint32_t t = 0; t < sizeof tables / sizeof *tables; t++)
        if (strstr(file->head, tables[t])) return "config_db";
    const char *key = file->head + strspn(file->head, " \t\r\n{"); // of a dump: "TABLE|key"
    size_t table = *key == '"' ? strspn(key + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") : 0;
    return table && key[1 + table] == '|' ? "config_db" : NULL;
}

static void say_mask(FILE *out, uint8_t mask) {
    const char *before = "[";
    if (!mask) fputs("none", out);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (mask >> p & 1) {
            fprintf(out, "%s%" PRIu32, before, p);
            before = ", ";
        }
    if (mask) fputs("]", out);
}

// --- topology -----------------------------------------------------------------------------------------------------

static const char *switch_name(const struct weft_sonic *s) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t n = strlen(s->hostname);
    bool good = n && n < 60 && strspn(s->hostname, letters) == n && strncmp(s->hostname, "host-", 5);
    return good && !strchr("-_0123456789", *s->hostname) && s->hostname[n - 1] != '-' && !strstr(s->hostname, "--")
               ? s->hostname
               : "switch-0";
}

static void say_topology(struct weft__sonic_making *m) {
    const struct weft_sonic *s = m->s;
    uint32_t host = 0, cables = 0, unrated = 0;
    const char *name = weft_import_quote(m->im, switch_name(s));
    SAY(TOPOLOGY, "  kind: list\n  nodes:\n  - {name: %s, role: switch}\n", name);
    for (; host < m->up; host++)
        SAY(TOPOLOGY, "  - {name: host-%" PRIu32 ", role: host}\n", host);
    SAY(TOPOLOGY, "  links:\n");
    host = 0;
    for (uint32_t p = 0; p < s->ports; p++) {
        const struct weft_sonic_port *port = &s->port[p];
        char rate[32], delay[32];
        if (!port->up) continue;
        weft_time_ps time = port->cable_mm ? port->cable_mm * m->conf->metre_ps / 1000 : m->conf->common.delay_ps;
        cables += port->cable_mm != 0;
        unrated += !port->rate_bps;
        weft__quantity_format(WEFT__RATE, port->rate_bps ? port->rate_bps : m->conf->common.rate_bps, rate,
                              sizeof rate);
        weft__quantity_format(WEFT__TIME, time ? time : 1, delay, sizeof delay);
        SAY(TOPOLOGY, "  - {from: host-%" PRIu32 ", to: %s, to_port: %s, rate: %s, delay: %s}%s%.60s\n", host++, name,
            weft_import_quote(m->im, port->name), rate, delay, port->neighbor ? " # " : "",
            port->neighbor ? port->neighbor : "");
    }
    if (s->admin_assumed) NOTE(ASSUMED, "ports: none has admin_status, so all are up");
    NOTE(ASSUMED, "a host at each of the %" PRIu32 " ports that are up, also where DEVICE_NEIGHBOR may mean a switch",
         m->up);
    if (unrated) NOTE(ASSUMED, "speed of the %" PRIu32 " ports of which PORT says none (rate)", unrated);
    if (cables) NOTE(ASSUMED, "cables: a metre takes %" PRIu64 "ps (metre)", m->conf->metre_ps);
    if (cables < m->up)
        NOTE(ASSUMED, "delay of the %" PRIu32 " ports of which CABLE_LENGTH says nothing (delay)", m->up - cables);
}

// --- switch -------------------------------------------------------------------------------------------------------

/// Profile of the packets that wait in a queue: that of the group of the first class with this queue.
static const struct weft_sonic_profile *profile_of_queue(const struct weft_sonic_port *port, uint32_t queue) {
    for (uint32_t t = 0; t < WEFT_SONIC_CLASSES; t++)
        if (weft_sonic_at(port, WEFT_SONIC_TC_TO_QUEUE, t) == queue)
            return port->pg[weft_sonic_at(port, WEFT_SONIC_TC_TO_PG, t)];
    return NULL;
}

/// The largest headroom, over all ports that are up, of a group with a lossless priority.
static weft_bytes largest_headroom(struct weft__sonic_making *m) {
    weft_bytes least = UINT64_MAX, most = 0;
    for (uint32_t p = 0; p < m->s->ports; p++) {
        const struct weft_sonic_port *port = &m->s->port[p];
        for (uint32_t k = 0; k < WEFT_PRIORITIES && port->up; k++) {
            const struct weft_sonic_profile *profile = port->pg[weft_sonic_at(port, WEFT_SONIC_PFC_TO_PG, k)];
            if (!(port->pfc_enable >> k & 1) || !profile) continue;
            if (profile->xoff_bytes > most) most = profile->xoff_bytes;
            if (profile->xoff_bytes < least) least = profile->xoff_bytes;
        }
    }
    if (most && least < most)
        NOTE(ASSUMED, "headroom of every port: the largest, %s (weft's switch has one for all; the least is %s)",
             BYTES(most), BYTES(least));
    return most;
}

static int64_t limited_th(const struct weft_sonic_profile *p) {
    return p->dynamic_th < TH_MIN ? TH_MIN : p->dynamic_th > TH_MAX ? TH_MAX : p->dynamic_th;
}

static void say_alpha(struct weft__sonic_making *m) {
    int64_t th[WEFT_PRIORITIES], least = TH_MAX;
    bool known[WEFT_PRIORITIES] = {false}, limited = false, rest = false;
    for (uint32_t q = 0; q < WEFT_PRIORITIES; q++) {
        const struct weft_sonic_profile *p = profile_of_queue(m->port, q);
        if (!p || !p->has_dynamic) continue;
        known[q] = true;
        th[q] = limited_th(p);
        limited |= th[q] != p->dynamic_th;
        if (th[q] < least) least = th[q];
    }
    SAY_SWITCH(", alpha: ");
    if (least < 0)
        SAY_SWITCH("1/%d", 1 << -least);
    else
        SAY_SWITCH("%d", 1 << least);
    SAY_SWITCH(", weights: [");
    for (uint32_t q = 0; q < WEFT_PRIORITIES; q++) {
        int64_t more = known[q] ? th[q] - least : 0;
        limited |= more > TH_SPREAD;
        rest |= !known[q];
        SAY_SWITCH("%s%d", q ? ", " : "", 1 << (more > TH_SPREAD ? TH_SPREAD : more));
    }
    SAY_SWITCH("]");
    if (limited) NOTE(LOST, "dynamic_th outside %d to %d, or more than %d apart", TH_MIN, TH_MAX, TH_SPREAD);
    if (rest) NOTE(ASSUMED, "queues whose priority group has no dynamic_th: the least alpha of the others");
}

/// The sizes of all groups of a pool.
static weft_bytes reserved_of(const struct weft_sonic *s, const struct weft_sonic_pool *pool) {
    weft_bytes sum = 0;
    for (uint32_t p = 0; p < s->ports; p++)
        for (uint32_t g = 0; g < WEFT_PRIORITIES; g++)
            if (s->port[p].pg[g] && s->port[p].pg[g]->pool == pool) sum += s->port[p].pg[g]->size_bytes;
    return sum;
}

/// weft's switch has `total`, from which it takes the reserves of all ports and priorities and the headroom of lossless
/// ones; what is left must be what SONiC's groups share.
static void say_total(struct weft__sonic_making *m, const struct weft_sonic_profile *p, weft_bytes own) {
    weft_bytes shared = p->pool ? weft_sonic_calc_shared(m->s, p->pool, reserved_of(m->s, p->pool)) : 0;
    if (shared < 1000 || shared + own > UINT64_C(1000000000000)) {
        NOTE(ASSUMED, "total: no BUFFER_POOL says a size for %.40s that weft can take", p->name);
        return;
    }
    SAY_SWITCH(", total: %" PRIu64 "B", shared + own);
    NOTE(ASSUMED, "total: %s that groups share, and besides it the reserve and headroom of each port and priority",
         BYTES(shared));
    NOTE(ASSUMED, "pool %.40s: its size is %s", p->pool->name,
         m->s->nvidia ? "what is left after the groups' reserves, as on NVIDIA's switches"
                      : "with the groups' reserves, as in SAI");
}

/// What a group has for itself below the shared part. On NVIDIA's switches a group's size without xoff is its xon, the
/// part of its headroom that holds what the pipeline delays (buffer_headroom_mellanox.lua): no packets queue there.
static weft_bytes reserve_of(struct weft__sonic_making *m, const struct weft_sonic_profile *p) {
    weft_bytes reserve = p->size_bytes > p->xoff_bytes ? p->size_bytes - p->xoff_bytes : p->size_bytes;
    weft_bytes size = p->pool ? p->pool->size_bytes : 0;
    if (m->s->nvidia) {
        NOTE(LEFT_OUT, "%.40s.xon, %s: it holds what is in the pipeline, and weft's switch has none", p->name,
             BYTES(p->xon_bytes));
        return 0;
    }
    if (reserve <= 1000000000 && (!size || reserve * WEFT_PRIORITIES * m->up <= size)) {
        NOTE(ASSUMED, "reserve of every priority as of %.40s: %s, its size without xoff", p->name, BYTES(reserve));
        return reserve;
    }
    NOTE(LOST, "%.40s.size, %s: all ports and priorities together have less than that", p->name, BYTES(reserve));
    return 0;
}

static void say_dynamic(struct weft__sonic_making *m, const struct weft_sonic_profile *p, weft_bytes headroom) {
    weft_bytes reserve = reserve_of(m, p);
    if (headroom > 1000000000) headroom = 0;
    SAY_SWITCH("  buffer: {kind: dynamic");
    say_total(m, p, m->up * (reserve * WEFT_PRIORITIES + headroom * (weft_bytes)__builtin_popcount(m->lossless)));
    SAY_SWITCH(", reserve: %" PRIu64 "B, headroom: %" PRIu64 "B", reserve, headroom);
    if (p->xon_offset_bytes && p->xon_offset_bytes <= 1000000000)
        SAY_SWITCH(", xon_offset: %" PRIu64 "B", p->xon_offset_bytes);
    say_alpha(m);
    SAY_SWITCH("}\n");
    if (p->pool && p->pool->xoff_bytes)
        NOTE(LOST, "the headroom pool %.40s.xoff of %s that ports share: in weft each has its own", p->pool->name,
             BYTES(p->pool->xoff_bytes));
}

static void say_static(struct weft__sonic_making *m, const struct weft_sonic_profile *p, weft_bytes headroom) {
    weft_bytes off = p->xon_offset_bytes < p->static_bytes ? p->xon_offset_bytes : 0;
    weft_bytes size = p->static_bytes + headroom < 64 ? 64 : p->static_bytes + headroom;
    if (size > UINT64_C(1000000000000)) {
        NOTE(LOST, "%.40s: a static_th and an xoff of %s together", p->name, BYTES(size));
        return;
    }
    SAY_SWITCH("  buffer: {kind: static, size: %" PRIu64 "B, xoff: %" PRIu64 "B, xon: %" PRIu64 "B}\n", size,
               p->static_bytes, p->static_bytes - off);
    NOTE(ASSUMED, "the thresholds of %.40s hold for every port and priority; the size of its pool limits nothing",
         p->name);
}

static void note_computed(struct weft__sonic_making *m, const struct weft_sonic_profile *p) {
    if (p->looked_up)
        NOTE(FOUND, "profile %.60s: xoff %s, as the device's profiles have it", p->name, BYTES(p->xoff_bytes));
    else
        NOTE(ASSUMED, "profile %.60s: xoff %s, as SONiC's formula computes it (weft plan pfc --formula sonic)%s%s",
             p->name, BYTES(p->xoff_bytes), m->s->dynamic_th_said ? "" : "; dynamic_th 0",
             p->unlisted ? "; SONiC itself sets no headroom, as the device's profiles have none of this speed and cable"
             : m->s->computes ? ""
                              : "; assumed, as SONiC looks it up in the device's pg_profile_lookup.ini");
}

static void say_buffer(struct weft__sonic_making *m) {
    weft_bytes headroom = largest_headroom(m);
    const struct weft_sonic_profile *p = NULL;
    for (uint32_t q = 0; q < WEFT_PRIORITIES; q++) {
        const struct weft_sonic_profile *at = profile_of_queue(m->port, q);
        if (at && (!p || (m->lossless >> q & 1 && !p->xoff_bytes))) p = at;
    }
    if (!p) {
        NOTE(ASSUMED, "the switch's buffer: no profile of a priority group is said, so weft's default");
        return;
    }
    if (p->has_static && !p->has_dynamic)
        say_static(m, p, headroom);
    else
        say_dynamic(m, p, headroom);
    for (uint32_t i = 0; i < m->s->profiles; i++)
        if (m->s->profile[i].computed && m->s->profile[i].xoff_bytes) note_computed(m, &m->s->profile[i]);
}

static void say_aqm(struct weft__sonic_making *m) {
    const struct weft_sonic_wred *wred = NULL;
    uint8_t mask = 0;
    for (uint32_t q = 0; q < WEFT_PRIORITIES; q++) {
        const struct weft_sonic_wred *at = m->port->wred[q];
        if (at && at->marks && (!wred || (m->lossless >> q & 1 && !(m->lossless & mask)))) wred = at, mask = 0;
        if (at && at == wred) mask |= (uint8_t)(1u << q);
    }
    for (uint32_t q = 0; q < WEFT_PRIORITIES; q++)
        if (m->port->wred[q] && m->port->wred[q] != wred)
            NOTE(LOST, "WRED_PROFILE %.40s of queue %" PRIu32 ": %s", m->port->wred[q]->name, q,
                 m->port->wred[q]->marks ? "weft has one for all queues" : "it drops where weft marks");
    if (!wred) return;
    SAY_SWITCH("  aqm: {kind: wred, min: %" PRIu64 "B, max: %" PRIu64 "B, max_probability: %" PRIu64 "%%}\n",
               wred->min_bytes, wred->max_bytes, wred->percent);
    SAY_SWITCH("  aqm_priorities: ");
    say_mask(m->sw, mask);
    SAY_SWITCH("\n");
}

static void say_scheduler(struct weft__sonic_making *m) {
    uint64_t weight[WEFT_PRIORITIES];
    uint8_t strict = 0, said = 0, wrr = 0;
    for (uint32_t q = 0; q < WEFT_PRIORITIES; q++) {
        const struct weft_sonic_scheduler *at = m->port->scheduler[q];
        weight[q] = at ? at->weight : 1;
        said |= (uint8_t)((at != NULL) << q);
        wrr |= (uint8_t)((at && !strcmp(at->type, "WRR")) << q);
        if (at && !strcmp(at->type, "STRICT")) strict |= (uint8_t)(1u << q);
    }
    if (!said) {
        NOTE(ASSUMED, "the scheduler: no QUEUE of %.60s names one, so strict priority", m->port->name);
        return;
    }
    SAY_SWITCH("  scheduler: {kind: dwrr, weights: [");
    for (uint32_t q = 0; q < WEFT_PRIORITIES; q++)
        SAY_SWITCH("%s%" PRIu64, q ? ", " : "", weight[q]);
    SAY_SWITCH("], strict: ");
    say_mask(m->sw, strict);
    SAY_SWITCH("}\n");
    if (wrr) NOTE(ASSUMED, "WRR, which counts packets, as DWRR, which counts bytes");
    if (said != 0xff) NOTE(ASSUMED, "queues without a scheduler: weight 1");
}

/// Maps code points to queues, and chooses the first code point of each queue for hosts to send with.
static void say_maps(struct weft__sonic_making *m) {
    const struct weft_sonic_map *map = m->port->map[WEFT_SONIC_DSCP_TO_TC];
    int first[WEFT_PRIORITIES];
    memset(first, -1, sizeof first);
    if (!map) {
        NOTE(ASSUMED, "code points: %.60s has no dscp_to_tc_map, so weft's default dscp_map", m->port->name);
        return;
    }
    SAY_SWITCH("  dscp_map: {");
    for (uint32_t d = 0; d < 64; d++) {
        uint32_t queue = weft_sonic_at(m->port, WEFT_SONIC_TC_TO_QUEUE, weft_sonic_map_at(map, d, 0));
        if (first[queue] < 0) first[queue] = (int)d;
        SAY_SWITCH("%s%" PRIu32 ": %" PRIu32, d ? ", " : "", d, queue);
    }
    SAY_SWITCH("}\n");
    if (~map->has) NOTE(ASSUMED, "code points that %.40s does not name: class 0", map->name);
    SAY_HOST("  dscp: [");
    for (uint32_t q = 0; q < WEFT_PRIORITIES; q++)
        SAY_HOST("%s%d", q ? ", " : "", first[q] < 0 ? (int)q * 8 : first[q]);
    SAY_HOST("]\n");
    NOTE(ASSUMED, "hosts send each priority with the first code point that leads to its queue");
}

static void say_pfc(struct weft__sonic_making *m) {
    static const char *const actions[] = {"drop", "forward", "alert"};
    const struct weft_sonic_watchdog *w = m->port->watchdog;
    if (!m->lossless && weft_sonic_lossless(m->port))
        NOTE(LOST, "the headroom of priority groups: %s has PFC for no priority (PORT_QOS_MAP%s)", m->port->name,
             m->port->qos_key ? ".pfc_enable" : " has no row of it; is it in another file?");
    SAY_SWITCH("  pfc: {priorities: ");
    say_mask(m->sw, m->lossless);
    bool detects = w && w->detection_ms && w->detection_ms != WEFT_SONIC_UNSAID;
    if (w && !detects)
        NOTE(LOST, "the PFC watchdog (PFC_WD|%s): %s", w->key,
             w->detection_ms ? "it has no detection_time, and SONiC demands one"
                             : "SONiC refuses its detection_time, 0ms");
    if (detects) {
        for (uint32_t a = 0; a < 3; a++)
            if (!strcmp(actions[a], w->action)) SAY_SWITCH(", watchdog_action: %s", actions[a]);
        SAY_SWITCH(", watchdog: %" PRIu64 "ms", w->detection_ms);
        if (!w->restoration_ms) NOTE(LOST, "the restoration_time of PFC_WD|%s: SONiC refuses 0ms", w->key);
        if (w->restoration_ms && w->restoration_ms != WEFT_SONIC_UNSAID)
            SAY_SWITCH(", restore: %" PRIu64 "ms", w->restoration_ms);
    }
    SAY_SWITCH("}\n");
    SAY_HOST("  pfc: {priorities: ");
    say_mask(m->host, m->lossless);
    SAY_HOST("}\n");
    NOTE(ASSUMED, "hosts have PFC for the same priorities; weft's priority is SONiC's queue");
    if (m->s->poll_ms != WEFT_SONIC_UNSAID)
        NOTE(LEFT_OUT, "the watchdog's POLL_INTERVAL: weft's finds a storm at once");
}

static void say_workload(struct weft__sonic_making *m) {
    if (!m->lossless || m->lossless >> FLOW_PRIORITY & 1) return;
    char size[32];
    weft__quantity_format(WEFT__BYTES, m->conf->common.size_bytes, size, sizeof size);
    SAY(WORKLOAD, "- {kind: permutation, size: %s, priority: %d}\n", size, __builtin_ctz(m->lossless));
    NOTE(ASSUMED, "the workload: none was given, so every host sends %s to another by the first lossless priority",
         size);
}

// --- what has no place --------------------------------------------------------------------------------------------

static bool port_differs(const struct weft_sonic_port *a, const struct weft_sonic_port *b) {
    bool differs = a->pfc_enable != b->pfc_enable || !a->watchdog != !b->watchdog ||
                   memcmp(a->map, b->map, sizeof a->map) || memcmp(a->wred, b->wred, sizeof a->wred) ||
                   memcmp(a->scheduler, b->scheduler, sizeof a->scheduler);
    if (a->watchdog && b->watchdog)
        differs |= a->watchdog->detection_ms != b->watchdog->detection_ms ||
                   a->watchdog->restoration_ms != b->watchdog->restoration_ms ||
                   a->watchdog->action != b->watchdog->action;
    for (uint32_t g = 0; g < WEFT_PRIORITIES; g++) {
        const struct weft_sonic_profile *x = a->pg[g], *y = b->pg[g];
        differs |= !x != !y || (x && y && (x->dynamic_th != y->dynamic_th || x->static_bytes != y->static_bytes));
    }
    return differs;
}

static void note_rest(struct weft__sonic_making *m) {
    const struct weft_sonic *s = m->s;
    uint32_t differ = 0, groups = 0, queues = 0;
    const char *first = "";
    for (uint32_t p = 0; p < s->ports; p++) {
        bool queued = false;
        if (!s->port[p].up) continue;
        for (uint32_t q = 0; q < WEFT_PRIORITIES; q++)
            queued |= s->port[p].queue[q] != NULL;
        queues += queued;
        if (!port_differs(m->port, &s->port[p])) continue;
        if (!differ++) first = s->port[p].name;
    }
    if (differ)
        NOTE(
            LOST,
            "settings of %s that differ from those of %.60s (the first is %.60s): all ports of weft's switch are equal",
            weft__counted(differ, "port").text, m->port->name, first);
    for (uint32_t t = 0; t < WEFT_SONIC_CLASSES; t++)
        groups += weft_sonic_at(m->port, WEFT_SONIC_TC_TO_PG, t) != weft_sonic_at(m->port, WEFT_SONIC_TC_TO_QUEUE, t);
    if (groups)
        NOTE(LOST, "the queues of %s: their number differs from the priority group's, and in weft a priority is both",
             weft__counted(groups, "traffic class").text);
    if (queues)
        NOTE(LOST, "profiles of BUFFER_QUEUE at %s: weft's buffer has no limit per output",
             weft__counted(queues, "port").text);
    if (*s->unread) NOTE(LEFT_OUT, "tables and fields without a parameter: %s", s->unread);
}

enum weft_status weft__sonic_making_init(struct weft__sonic_making *m, const struct weft_import_file *file,
                                         uint32_t least, struct weft_error *ret_error) {
    const struct weft_sonic *s = m->s;
    for (uint32_t p = 0; p < s->ports; p++) {
        m->up += s->port[p].up;
        if (s->port[p].up && (!m->port || (!m->port->qos_key && s->port[p].qos_key))) m->port = &s->port[p];
    }
    if (m->up < least)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path},
                           "PORT: %" PRIu32 " ports are up; expected %" PRIu32 " at least", m->up, least);
    for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
        if (m->port->pfc_enable >> p & 1)
            m->lossless |= (uint8_t)(1u << weft_sonic_at(m->port, WEFT_SONIC_PFC_TO_QUEUE, p));
    NOTE(FOUND, "%.60s: %" PRIu32 " ports, %" PRIu32 " of them up; the switch is made after %.60s", file->written,
         s->ports, m->up, m->port->name);
    return WEFT_OK;
}

void weft__sonic_say_boxes(struct weft__sonic_making *m) {
    say_buffer(m);
    say_aqm(m);
    say_scheduler(m);
    say_maps(m);
    say_pfc(m);
    note_rest(m);
}

/// One switch, with a host at each port that is up.
static void say_alone(struct weft__sonic_making *m) {
    struct weft__text_stream sw, host;
    m->sw = weft__text_stream_open(&sw);
    m->host = weft__text_stream_open(&host);
    say_topology(m);
    weft__sonic_say_boxes(m);
    say_workload(m);
    SAY(SWITCH, "%s", weft__text_stream_text(&sw));
    SAY(HOST, "%s", weft__text_stream_text(&host));
    weft__text_stream_free(&host);
    weft__text_stream_free(&sw);
}

struct sorted {
    struct weft_import_file *file; ///< first of each switch
    uint32_t switches;
    const char **path; ///< of all files but the profiles
    uint32_t paths;
    const char *part; ///< a file that is only a part of a switch's configuration; NULL: none
    struct weft_sonic_lookup *lookup;
};

/// Finds the switches among the files, and the device's profiles if there are any.
static enum weft_status sort_files(const struct weft_import_file *file, uint32_t files, struct weft_arena *arena,
                                   struct sorted *ret, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    ret->file = weft_arena_alloc(arena, files, sizeof *ret->file);
    ret->path = weft_arena_alloc(arena, files, sizeof *ret->path);
    for (uint32_t f = 0; f < files && !status; f++) {
        struct weft_place place = {.file = file[f].path};
        bool part = false;
        if (!strcmp(file[f].what, "profiles")) {
            if (ret->lookup)
                return WEFT_REFUSE(ret_error, place, "a second file of profiles, beside %s", ret->lookup->path);
            status = weft_sonic_lookup_read(file[f].path, arena, &ret->lookup, ret_error);
            continue;
        }
        if (files > 1) status = weft__sonic_is_part(file[f].path, arena, &part, ret_error);
        ret->path[ret->paths++] = file[f].path;
        if (part)
            ret->part = file[f].path;
        else
            ret->file[ret->switches++] = file[f];
    }
    if (status) return status;
    if (!ret->paths)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path},
                           "profiles alone; expected the config_db.json of a switch beside them");
    if (ret->switches > 1 && ret->part)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = ret->part},
                           "this is a part of config_db.json, and there are several switches: %s, %s; expected one "
                           "file of each",
                           ret->file[0].path, ret->file[1].path);
    if (!ret->switches) ret->file[ret->switches++] = *file; // the reader says what is missing
    return WEFT_OK;
}

static enum weft_status sonic_make(const void *conf, const struct weft_import_file *all, uint32_t files,
                                   struct weft_import *import, struct weft_error *ret_error) {
    struct weft_sonic *s = NULL;
    struct sorted sorted = {.lookup = NULL};
    WEFT_TRY(sort_files(all, files, weft_import_arena(import), &sorted, ret_error));
    const struct weft_sonic_lookup *lookup = sorted.lookup;
    if (lookup)
        weft_import_note(import, WEFT_IMPORT_FOUND, "%.60s: %" PRIu32 " lossless profiles by speed and cable",
                         lookup->path, lookup->rows);
    if (sorted.switches > 1)
        return weft__sonic_make_fleet(conf, sorted.file, sorted.switches, lookup, import, ret_error);
    WEFT_TRY(weft_sonic_read(sorted.path, sorted.paths, lookup, weft_import_arena(import), &s, ret_error));
    struct weft__sonic_making m = {.s = s, .conf = conf, .im = import, .prefix = ""};
    enum weft_status status = weft__sonic_making_init(&m, sorted.file, 2, ret_error);
    if (!status) say_alone(&m);
    return status;
}

const struct weft_model weft__import_sonic = WEFT_MODEL_OF(
    IMPORT, "sonic",
    "config_db.json of SONiC switches: ports, cables, buffers, WRED, schedulers, maps, PFC and its watchdog",
    "sonic-net/sonic-buildimage, src/sonic-yang-models; profiles as sonic-swss, cfgmgr/buffermgrd computes them",
    &import_params,
    &(const struct weft_import_ops){
        .recognise = sonic_recognise,
        .make = sonic_make,
        .syntax = WEFT_IMPORT_JSON | WEFT_IMPORT_TEXT,
        .begins = "tables of SONiC such as PORT and BUFFER_PG, or lines of pg_profile_lookup.ini",
    });
