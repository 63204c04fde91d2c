// SPDX-License-Identifier: Apache-2.0
// Source: sim/datacenter/fat_tree_topology.cpp and connection_matrix.cpp of Broadcom/csg-htsim: keys, how many switches
// follow from radices, speeds and oversubscription, and who is wired to whom.
#include "import/htsim/htsim_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "topology/builder.h"

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

enum { PRIORITY_MAX = 7 };
static const uint64_t nodes_max = 1u << 24, flows_max = 1u << 24, value_max = 1u << 30;
#define GIGA UINT64_C(1000000000)
static const char *const tier_names[] = {"TOR", "AGG", "CORE"};

// --- topology -----------------------------------------------------------------------------------------------------

/// A key of a tier, and the index of its value.
static const struct {
    const char *name;
    size_t offset;
} tier_keys[] = {
    {"downlink_speed_gbps", offsetof(struct weft__htsim_tier, rate_gbps)},
    {"radix_down", offsetof(struct weft__htsim_tier, radix_down)},
    {"radix_up", offsetof(struct weft__htsim_tier, radix_up)},
    {"oversubscribed", offsetof(struct weft__htsim_tier, oversubscribed)},
    {"bundle", offsetof(struct weft__htsim_tier, bundle)},
    {"downlink_latency_ns", offsetof(struct weft__htsim_tier, delay_ns)},
    {"switch_latency_ns", offsetof(struct weft__htsim_tier, latency_ns)},
    {"queue_up", offsetof(struct weft__htsim_tier, queue_up)},
    {"queue_down", offsetof(struct weft__htsim_tier, queue_down)},
};
enum { TIER_KEYS = sizeof tier_keys / sizeof *tier_keys };

static enum weft_status read_header(struct weft__lines *lines, struct weft__htsim_topology *t, const char *key,
                                    bool *ret_known, struct weft_error *ret_error) {
    struct weft_place place = lines->place;
    const struct {
        const char *name;
        uint64_t *value, max;
    } keys[] = {{"nodes", &t->nodes, nodes_max},
                {"tiers", &t->tiers, WEFT__HTSIM_TIERS},
                {"podsize", &t->pod_hosts, nodes_max}};
    *ret_known = false;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        if (strcasecmp(key, keys[k].name)) continue;
        *ret_known = true;
        if (*keys[k].value) return BAD(place, "a second line '%s'", keys[k].name);
        WEFT_TRY(weft__lines_number(lines, keys[k].name, keys[k].max, keys[k].value, ret_error));
        if (!*keys[k].value) return BAD(place, "%s is 0; expected at least 1", keys[k].name);
        return WEFT_OK;
    }
    return WEFT_OK;
}

/// What a link cannot have, as where it is made.
static enum weft_status check_link(const struct weft__htsim_tier *tier, struct weft_place place,
                                   struct weft_error *ret_error) {
    char most[32];
    weft_format_rate(WEFT__RATE_MAX, most, sizeof most);
    if (tier->rate_gbps > WEFT__RATE_MAX / GIGA)
        return BAD(place, "%" PRIu64 " Gbit/s; expected at most %s", tier->rate_gbps, most);
    if (tier->delay_ns > WEFT_PS_PER_S / WEFT_PS_PER_NS)
        return BAD(place, "%" PRIu64 " ns; expected at most 1s", tier->delay_ns);
    return WEFT_OK;
}

/// A line of the current tier. `seen`: bits of its keys so far.
static enum weft_status read_tier_line(struct weft__lines *lines, struct weft__htsim_tier *tier, uint32_t *seen,
                                       const char *key, struct weft_error *ret_error) {
    struct weft_place place = lines->place;
    for (uint32_t k = 0; k < TIER_KEYS; k++) {
        if (strcasecmp(key, tier_keys[k].name)) continue;
        if (!tier) return BAD(place, "'%s' before the first line 'Tier'", tier_keys[k].name);
        if (*seen & 1u << k) return BAD(place, "a second line '%s' of a tier", tier_keys[k].name);
        *seen |= 1u << k;
        uint64_t *value = (uint64_t *)((char *)tier + tier_keys[k].offset);
        WEFT_TRY(weft__lines_number(lines, tier_keys[k].name, value_max, value, ret_error));
        return check_link(tier, lines->place, ret_error);
    }
    return BAD(place,
               "'%.40s'; expected Nodes, Tiers, Podsize, Tier, Downlink_speed_Gbps, Radix_Down, Radix_Up, "
               "Downlink_Latency_ns, Switch_Latency_ns, Queue_Up, Queue_Down, Oversubscribed or Bundle",
               key);
}

static enum weft_status read_lines(struct weft__lines *lines, struct weft__htsim_topology *t,
                                   struct weft_error *ret_error) {
    struct weft__htsim_tier *tier = NULL;
    uint32_t seen = 0;
    bool more = true, known = false;
    for (;;) {
        enum weft_status status = weft__lines_next_full(lines, &more, ret_error);
        if (status || !more) return status;
        char *key = weft__lines_word(lines);
        struct weft_place place = lines->place;
        status = read_header(lines, t, key, &known, ret_error);
        if (!status && !known && !strcasecmp(key, "tier")) {
            uint64_t number = 0;
            WEFT_TRY(weft__lines_number(lines, "the tier", WEFT__HTSIM_TIERS - 1, &number, ret_error));
            tier = &t->tier[number];
            if (tier->given) return BAD(place, "a second tier %" PRIu64, number);
            tier->given = true;
            tier->place = place;
            seen = 0;
        } else if (!status && !known) {
            status = read_tier_line(lines, tier, &seen, key, ret_error);
        }
        if (!status) status = weft__lines_end(lines, "the value", ret_error);
        if (status) return status;
    }
}

/// Checks that every tier has what it needs; bundles and oversubscription default to 1.
static enum weft_status check_tiers(struct weft__htsim_topology *t, struct weft_place whole,
                                    struct weft_error *ret_error) {
    if (!t->nodes || !t->pod_hosts || t->tiers < 2)
        return BAD(whole, "expected Nodes, Tiers (2 or 3) and Podsize, each with a number");
    for (uint64_t i = 0; i < t->tiers; i++) {
        struct weft__htsim_tier *tier = &t->tier[i];
        bool top = i + 1 == t->tiers;
        if (!tier->given) return BAD(whole, "no tier %" PRIu64 "; expected tiers 0 to %" PRIu64, i, t->tiers - 1);
        if (!tier->rate_gbps || !tier->radix_down || !tier->delay_ns)
            return BAD(tier->place, "expected Downlink_speed_Gbps, Radix_Down and Downlink_Latency_ns above 0");
        if (top ? tier->radix_up : !tier->radix_up)
            return BAD(tier->place, top ? "Radix_Up of the top tier; expected none" : "expected Radix_Up above 0");
        tier->oversubscribed = tier->oversubscribed ? tier->oversubscribed : 1;
        tier->bundle = tier->bundle ? tier->bundle : 1;
    }
    for (uint64_t i = t->tiers; i < WEFT__HTSIM_TIERS; i++)
        if (t->tier[i].given) return BAD(t->tier[i].place, "tier %" PRIu64 " of %" PRIu64 " tiers", i, t->tiers);
    if (t->tier[0].bundle != 1) return BAD(t->tier[0].place, "a Bundle of hosts' links; expected 1");
    return WEFT_OK;
}

/// a * b / (c * d); false: it is not a positive whole number.
static bool whole_ratio(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t *ret) {
    unsigned __int128 over = (unsigned __int128)a * b, under = (unsigned __int128)c * d;
    *ret = under ? (uint64_t)(over / under) : 0;
    return under && over % under == 0 && over / under > 0 && over / under <= nodes_max;
}

/// Computes the numbers of switches, and checks that their ports match the radices.
static enum weft_status count_switches(struct weft__htsim_topology *t, struct weft_place whole,
                                       struct weft_error *ret_error) {
    const struct weft__htsim_tier *tor = &t->tier[WEFT__HTSIM_TOR], *agg = &t->tier[WEFT__HTSIM_AGG],
                                  *core = &t->tier[WEFT__HTSIM_CORE];
    uint64_t uplinks;
    if (!whole_ratio(t->nodes, 1, t->pod_hosts, 1, &t->pods) ||
        !whole_ratio(t->pod_hosts, 1, tor->radix_down, 1, &t->tors))
        return BAD(whole,
                   "Nodes %" PRIu64 ", Podsize %" PRIu64 ", Radix_Down %" PRIu64 " of tier 0; expected multiples",
                   t->nodes, t->pod_hosts, tor->radix_down);
    if (t->tiers == 2 && t->pods != 1)
        return BAD(whole, "Podsize %" PRIu64 " of two tiers; expected Nodes, %" PRIu64, t->pod_hosts, t->nodes);
    if (!whole_ratio(t->pod_hosts, tor->rate_gbps, agg->rate_gbps, tor->oversubscribed, &uplinks) ||
        uplinks != t->tors * tor->radix_up)
        return BAD(tor->place,
                   "Radix_Up %" PRIu64 " of %" PRIu64
                   " ToR switches a pod; expected what the speeds and Oversubscribed "
                   "say, %" PRIu64 " uplinks in all",
                   tor->radix_up, t->tors, uplinks);
    if (!whole_ratio(uplinks, 1, agg->radix_down, 1, &t->aggs) || t->aggs * agg->bundle != tor->radix_up ||
        t->tors * agg->bundle != agg->radix_down)
        return BAD(agg->place,
                   "Radix_Down %" PRIu64 " and Bundle %" PRIu64 " for %" PRIu64 " ToR switches a pod with %" PRIu64
                   " uplinks; expected Radix_Down to be the ToR switches times Bundle",
                   agg->radix_down, agg->bundle, t->tors, tor->radix_up);
    if (t->tiers == 2) return WEFT_OK;
    if (!whole_ratio(uplinks, agg->rate_gbps, core->rate_gbps, agg->oversubscribed, &uplinks) ||
        uplinks != t->aggs * agg->radix_up)
        return BAD(agg->place,
                   "Radix_Up %" PRIu64 " of %" PRIu64
                   " aggregation switches a pod; expected what the speeds and Oversubscribed say, %" PRIu64
                   " uplinks in all",
                   agg->radix_up, t->aggs, uplinks);
    if (!whole_ratio(uplinks, t->pods, core->radix_down, 1, &t->cores) ||
        t->cores * core->bundle != t->aggs * agg->radix_up || t->pods * core->bundle != core->radix_down)
        return BAD(core->place,
                   "Radix_Down %" PRIu64 " and Bundle %" PRIu64 " for %" PRIu64 " pods with %" PRIu64
                   " uplinks each; expected Radix_Down to be the pods times Bundle",
                   core->radix_down, core->bundle, t->pods, uplinks);
    return WEFT_OK;
}

enum weft_status weft__htsim_read_topology(const char *path, struct weft_place place,
                                           struct weft__htsim_topology *ret_topology, struct weft_error *ret_error) {
    WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
    struct weft_place whole = {.file = path, .line = 1, .column = 1};
    *ret_topology = (struct weft__htsim_topology){0};
    WEFT_TRY(weft__lines_open(&lines, path, place, ret_error));
    WEFT_TRY(read_lines(&lines, ret_topology, ret_error));
    WEFT_TRY(check_tiers(ret_topology, whole, ret_error));
    return count_switches(ret_topology, whole, ret_error);
}

// --- connection matrix --------------------------------------------------------------------------------------------

enum { HAS_NODES = 1, HAS_FLOWS = 2, HAS_TRIGGERS = 4, HAS_FAILURES = 8 };

enum weft_status weft__htsim_matrix_open(struct weft__htsim_matrix *m, const char *path, struct weft_place place,
                                         struct weft_error *ret_error) {
    *m = (struct weft__htsim_matrix){0};
    return weft__lines_open(&m->lines, path, place, ret_error);
}

static enum weft_status read_count(struct weft__htsim_matrix *m, const char *key, bool *ret_known,
                                   struct weft_error *ret_error) {
    struct weft_place place = m->lines.place;
    const struct {
        const char *name;
        uint64_t *value, max, bit;
    } keys[] = {{"Nodes", &m->nodes, nodes_max, HAS_NODES},
                {"Connections", &m->flows, flows_max, HAS_FLOWS},
                {"Triggers", &m->triggers, flows_max, HAS_TRIGGERS},
                {"Failures", &m->failures, flows_max, HAS_FAILURES}};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        if (strcmp(key, keys[k].name)) continue;
        *ret_known = true;
        if (m->types & keys[k].bit) return BAD(place, "a second line '%s'", key);
        m->types |= keys[k].bit;
        if (keys[k].bit == HAS_NODES) m->nodes_place = place;
        WEFT_TRY(weft__lines_number(&m->lines, key, keys[k].max, keys[k].value, ret_error));
        return weft__lines_end(&m->lines, key, ret_error);
    }
    return WEFT_OK;
}

/// "12->3", already a word.
static enum weft_status read_ends(const struct weft__htsim_matrix *m, char *word, struct weft__htsim_flow *f,
                                  struct weft_error *ret_error) {
    char why[160], *arrow = strstr(word, "->");
    *arrow = 0;
    if (!weft__quantity_parse(WEFT__COUNT, word, &f->file.src, why, sizeof why))
        return BAD(f->file.place, "the source: %s", why);
    if (!weft__quantity_parse(WEFT__COUNT, arrow + 2, &f->file.dst, why, sizeof why))
        return BAD(f->file.place, "the destination: %s", why);
    if (f->file.src >= m->nodes || f->file.dst >= m->nodes)
        return BAD(f->file.place, "from %" PRIu64 " to %" PRIu64 " of %" PRIu64 " nodes", f->file.src, f->file.dst,
                   m->nodes);
    if (f->file.src == f->file.dst)
        return BAD(f->file.place, "from node %" PRIu64 " to itself; expected another one", f->file.src);
    return WEFT_OK;
}

/// A number of a trigger, once, into *ret, which was 0.
static enum weft_status read_trigger_number(struct weft__lines *lines, const char *what, uint64_t *ret,
                                            struct weft_error *ret_error) {
    if (*ret) return BAD(lines->place, "a second %s", what);
    WEFT_TRY(weft__lines_number(lines, what, UINT32_MAX, ret, ret_error));
    if (!*ret) return BAD(lines->place, "%s 0; expected at least 1", what);
    return WEFT_OK;
}

static enum weft_status check_flow(const struct weft__htsim_flow *f, bool started, bool sized,
                                   struct weft_error *ret_error) {
    if (started && f->trigger) return BAD(f->file.place, "a flow with start and trigger; expected one of them");
    if ((!started && !f->trigger) || !sized)
        return BAD(f->file.place, "a flow needs start or trigger, and a size (0: it has no end)");
    if (f->file.bytes > WEFT__FILE_FLOW_BYTES_MAX)
        return BAD(f->file.place, "a flow of %" PRIu64 " bytes; expected at most %" PRIu64, f->file.bytes,
                   WEFT__FILE_FLOW_BYTES_MAX);
    return WEFT_OK;
}

static enum weft_status read_flow(struct weft__htsim_matrix *m, char *word, struct weft__htsim_flow *f,
                                  struct weft_error *ret_error) {
    struct weft__lines *lines = &m->lines;
    bool started = false, sized = false;
    uint64_t id;
    *f = (struct weft__htsim_flow){.file.place = lines->place};
    WEFT_TRY(read_ends(m, word, f, ret_error));
    while ((word = weft__lines_word(lines))) {
        if (!strcmp(word, "start") && !started) {
            started = true;
            WEFT_TRY(weft__lines_quantity(lines, "the start", WEFT__TIME, "ps", &f->file.start_ps, ret_error));
        } else if (!strcmp(word, "size") && !sized) {
            sized = true;
            WEFT_TRY(weft__lines_quantity(lines, "the size", WEFT__BYTES, "B", &f->file.bytes, ret_error));
        } else if (!strcmp(word, "prio") && !f->file.prioritised) {
            f->file.prioritised = true;
            WEFT_TRY(weft__lines_number(lines, "the priority", PRIORITY_MAX, &f->file.priority, ret_error));
        } else if (!strcmp(word, "id")) {
            WEFT_TRY(weft__lines_number(lines, "the flow's id", UINT32_MAX, &id, ret_error));
        } else if (!strcmp(word, "trigger")) {
            WEFT_TRY(read_trigger_number(lines, "trigger", &f->trigger, ret_error));
        } else if (!strcmp(word, "send_done_trigger")) {
            WEFT_TRY(read_trigger_number(lines, "send_done_trigger", &f->send_done, ret_error));
        } else if (!strcmp(word, "recv_done_trigger")) {
            WEFT_TRY(read_trigger_number(lines, "recv_done_trigger", &f->recv_done, ret_error));
        } else {
            return BAD(lines->place,
                       "'%.40s'; expected start, size, prio, id, trigger, send_done_trigger or recv_done_trigger, "
                       "once each",
                       word);
        }
    }
    return check_flow(f, started, sized, ret_error);
}

static enum weft_status read_trigger(struct weft__htsim_matrix *m, struct weft__htsim_trigger *t,
                                     struct weft_error *ret_error) {
    static const char *const kinds[] = {"oneshot", "multishot", "barrier"}; // as enum weft_trigger_kind
    struct weft__lines *lines = &m->lines;
    const char *word;
    bool has_kind = false;
    *t = (struct weft__htsim_trigger){.place = lines->place};
    while ((word = weft__lines_word(lines))) {
        uint32_t k = 0;
        while (k < 3 && strcmp(word, kinds[k]))
            k++;
        if (!strcmp(word, "id")) {
            WEFT_TRY(read_trigger_number(lines, "id", &t->id, ret_error));
        } else if (!strcmp(word, "count")) {
            WEFT_TRY(read_trigger_number(lines, "count", &t->count, ret_error));
        } else if (k < 3 && !has_kind) {
            has_kind = true;
            t->kind = (enum weft_trigger_kind)k;
        } else {
            return BAD(lines->place, "'%.40s'; expected id, count, and one of oneshot, multishot and barrier", word);
        }
    }
    if ((!t->id || !has_kind || (t->kind == WEFT_TRIGGER_ALL) != (t->count > 0)))
        return BAD(t->place, "a trigger needs an id and oneshot, multishot or barrier; a barrier, and nothing else, "
                             "needs a count");
    return WEFT_OK;
}

static enum weft_status read_tier(struct weft__lines *lines, bool *ret_has, uint32_t *ret_tier,
                                  struct weft_error *ret_error) {
    const char *word = weft__lines_word(lines);
    *ret_has = true;
    for (*ret_tier = 0; word && *ret_tier < WEFT__HTSIM_TIERS; ++*ret_tier)
        if (!strcmp(word, tier_names[*ret_tier])) return WEFT_OK;
    return BAD(lines->place, "switch_type %.40s; expected TOR, AGG or CORE", word ? word : "is missing");
}

static enum weft_status read_failure(struct weft__htsim_matrix *m, struct weft__htsim_failure *f,
                                     struct weft_error *ret_error) {
    struct weft__lines *lines = &m->lines;
    const char *word;
    bool has_type = false, has_number = false, has_link = false;
    *f = (struct weft__htsim_failure){.place = lines->place};
    while ((word = weft__lines_word(lines))) {
        if (!strcmp(word, "switch_type")) {
            WEFT_TRY(read_tier(lines, &has_type, &f->tier, ret_error));
        } else if (!strcmp(word, "switch_id")) {
            has_number = true;
            WEFT_TRY(weft__lines_number(lines, "switch_id", nodes_max, &f->number, ret_error));
        } else if (!strcmp(word, "link_id")) {
            has_link = true;
            WEFT_TRY(weft__lines_number(lines, "link_id", nodes_max, &f->link, ret_error));
        } else {
            return BAD(lines->place, "'%.40s'; expected switch_type, switch_id or link_id", word);
        }
    }
    if ((!has_type || !has_number || !has_link))
        return BAD(f->place, "a failure needs switch_type, switch_id and link_id");
    return WEFT_OK;
}

static enum weft_status check_counts(const struct weft__htsim_matrix *m, struct weft_error *ret_error) {
    struct weft_place whole = {.file = m->lines.path, .line = 1, .column = 1};
    if (!(m->types & HAS_NODES) || !(m->types & HAS_FLOWS))
        return BAD(whole, "expected lines 'Nodes' and 'Connections'");
    if (m->flows != m->flows_read)
        return BAD(whole, "Connections %" PRIu64 ", but %" PRIu64 " follow", m->flows, m->flows_read);
    if (m->triggers != m->triggers_read)
        return BAD(whole, "Triggers %" PRIu64 ", but %" PRIu64 " follow", m->triggers, m->triggers_read);
    if (m->failures != m->failures_read)
        return BAD(whole, "Failures %" PRIu64 ", but %" PRIu64 " follow", m->failures, m->failures_read);
    return WEFT_OK;
}

enum weft_status weft__htsim_matrix_next(struct weft__htsim_matrix *m, struct weft__htsim_entry *ret_entry,
                                         struct weft_error *ret_error) {
    for (;;) {
        bool more, known = false;
        WEFT_TRY(weft__lines_next_full(&m->lines, &more, ret_error));
        ret_entry->kind = WEFT__HTSIM_END;
        if (!more) return check_counts(m, ret_error);
        char *word = weft__lines_word(&m->lines);
        WEFT_TRY(read_count(m, word, &known, ret_error));
        if (known) continue;
        if (strstr(word, "->")) {
            ret_entry->kind = WEFT__HTSIM_FLOW;
            m->flows_read++;
            return read_flow(m, word, &ret_entry->flow, ret_error);
        }
        if (!strcmp(word, "failure")) {
            ret_entry->kind = WEFT__HTSIM_FAILURE;
            m->failures_read++;
            return read_failure(m, &ret_entry->failure, ret_error);
        }
        if (!strcmp(word, "trigger")) {
            ret_entry->kind = WEFT__HTSIM_TRIGGER;
            m->triggers_read++;
            return read_trigger(m, &ret_entry->trigger, ret_error);
        }
        return BAD(m->lines.place, "'%.40s'; expected a flow such as 0->1, 'trigger' or 'failure'", word);
    }
}
