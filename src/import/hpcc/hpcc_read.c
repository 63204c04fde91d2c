// SPDX-License-Identifier: Apache-2.0
// Source: what scratch/third.cc of HPCC and common.h of SimAI read with C++ streams, so line ends are irrelevant.
#include "import/hpcc/hpcc_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "topology/builder.h"

enum { PRIORITY_MAX = 7, PORT_MAX = 65535, FIELDS_MAX = 7, COUNTS = 5 };
static const uint64_t nodes_max = (1u << 24) - 2, links_max = 1u << 24, flows_max = 1u << 24;

#define BAD(lines, ...) WEFT_REFUSE(ret_error, (lines)->place, __VA_ARGS__)

static enum weft_status read_word(struct weft__lines *lines, const char *what, char **ret_word,
                                  struct weft_error *ret_error) {
    enum weft_status status = weft__lines_token(lines, ret_word, ret_error);
    if (!status && !*ret_word) return BAD(lines, "the file ends here; expected %s", what);
    return status;
}

static enum weft_status read_number(struct weft__lines *lines, const char *what, uint64_t max, uint64_t *ret_value,
                                    struct weft_error *ret_error) {
    char *text = NULL, why[160];
    WEFT_TRY(read_word(lines, what, &text, ret_error));
    if (!weft__quantity_parse(WEFT__COUNT, text, ret_value, why, sizeof why)) return BAD(lines, "%s: %s", what, why);
    if (*ret_value > max) return BAD(lines, "%s is %s; expected at most %" PRIu64, what, text, max);
    return WEFT_OK;
}

static enum weft_status read_quantity(struct weft__lines *lines, const char *what, enum weft__quantity kind,
                                      const char *unit, uint64_t *ret_value, struct weft_error *ret_error) {
    char *text = NULL, why[160];
    enum weft_status status = read_word(lines, what, &text, ret_error);
    if (!status && !weft__number_parse(kind, unit, text, ret_value, why, sizeof why))
        return BAD(lines, "%s: %s", what, why);
    return status;
}

/// Whether the unread line is `words` words at least, of which the first `numbers` are numbers.
static bool looks_like(struct weft__lines *lines, uint32_t words, uint32_t numbers) {
    const char *text;
    uint32_t n = 0;
    for (; (text = weft__lines_word(lines)); n++)
        if (n < numbers && strspn(text, "0123456789") != strlen(text)) return false;
    return n >= words;
}

/// Nothing more may be on the line of the last one, `what`, which has so many words.
static enum weft_status read_rest(struct weft__lines *lines, const char *what, uint32_t words, uint32_t numbers,
                                  struct weft__hpcc_rest *ret, struct weft_error *ret_error) {
    bool more = true;
    char *rest = weft__lines_word(lines);
    if (rest)
        return BAD(lines, "'%.40s' on the line of the last %s; expected nothing behind its %s", rest, what,
                   !strcmp(what, "link") ? "error rate" : "start");
    enum weft_status status = weft__lines_next_full(lines, &more, ret_error);
    ret->line = more && !status ? lines->place.line : 0;
    for (; more && !status; status = weft__lines_next_full(lines, &more, ret_error))
        ret->alike += looks_like(lines, words, numbers);
    return status;
}

// --- topology -----------------------------------------------------------------------------------------------------

/// Which of the counts the words of a first line are, in order; the others are not used (NONE).
static const struct form {
    uint32_t words;
    bool servers; ///< the sixth word is the type of GPU
    uint8_t count[COUNTS];
} forms[] = {
#define NONE COUNTS
    {3, false, {0, 3, 4, NONE, NONE}}, // HPCC
    {4, false, {0, 3, NONE, 4, NONE}}, // ns3-datacenter: nodes, switches, ToRs among them, links
    {6, false, {0, 3, NONE, 4, NONE}}, // Reverie: and the rates of hosts and of ToRs
    {6, true, {0, 1, 2, 3, 4}},        // SimAI
    {7, true, {0, 1, 2, 3, 4}},        // SimAI: and the GPUs of a server once more
};

static const struct form *find_form(char *const *text, uint32_t words) {
    bool servers = words >= 6 && strspn(text[5], "0123456789.eE+") != strlen(text[5]);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].words == words && forms[i].servers == servers) return &forms[i];
    return NULL;
}

static enum weft_status read_counts(struct weft__lines *lines, struct weft__hpcc_topology *t, struct weft_arena *arena,
                                    struct weft_error *ret_error) {
    static const char *const names[COUNTS] = {"nodes", "GPUs a server", "NVSwitches", "switches", "links"};
    uint64_t value[COUNTS] = {0};
    bool more;
    char why[160], *text[FIELDS_MAX + 1];
    uint32_t n = 0;
    WEFT_TRY(weft__lines_next_full(lines, &more, ret_error));
    while (n <= FIELDS_MAX && (text[n] = weft__lines_word(lines)))
        n++;
    lines->place.column = 1;
    const struct form *form = find_form(text, n);
    if (!form)
        return BAD(lines,
                   "%" PRIu32 " words; expected 3 (nodes, switches, links), 4 (nodes, switches, ToRs, links), perhaps "
                   "two rates behind them, or 6 (nodes, GPUs a server, NVSwitches, switches, links, type of GPU)",
                   n);
    for (uint32_t k = 0; k < COUNTS; k++) {
        uint32_t which = form->count[k];
        if (which == NONE) continue;
        if (!weft__quantity_parse(WEFT__COUNT, text[k], &value[which], why, sizeof why) ||
            value[which] > (which == 4 ? links_max : nodes_max))
            return BAD(lines, "'%.40s' as the number of %s; expected a whole number of at most %" PRIu64, text[k],
                       names[which], which == 4 ? links_max : nodes_max);
    }
    if (form->servers && weft__lines_name(lines, text[5], ret_error)) return WEFT_ERROR_INPUT;
    if (value[2] + value[3] > value[0] || !value[4])
        return BAD(lines,
                   "%" PRIu64 " switches of %" PRIu64 " nodes and %" PRIu64 " links; expected no more switches than "
                   "nodes, and a link at least",
                   value[2] + value[3], value[0], value[4]);
    *t = (struct weft__hpcc_topology){
        .nodes = (uint32_t)value[0],
        .gpus_per_server = (uint32_t)value[1],
        .nvswitches = (uint32_t)value[2],
        .switches = (uint32_t)value[3],
        .links = (uint32_t)value[4],
        .has_tors = form->count[2] == NONE && form->words > 3,
        .gpu_type = form->servers ? weft_arena_text(arena, text[5]) : NULL,
    };
    return WEFT_OK;
}

static enum weft_status read_switches(struct weft__lines *lines, struct weft__hpcc_topology *t,
                                      struct weft_arena *arena, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    t->role = weft_arena_alloc(arena, t->nodes, sizeof *t->role);
    for (uint32_t i = 0; i < t->nvswitches + t->switches && !status; i++) {
        uint64_t node = 0;
        status = read_number(lines, "the number of a switch", t->nodes - 1, &node, ret_error);
        if (!status && t->role[node]) return BAD(lines, "node %" PRIu64 " is listed twice", node);
        if (!status) t->role[node] = i < t->nvswitches ? WEFT__HPCC_NVSWITCH : WEFT__HPCC_SWITCH;
    }
    t->nvlink_only = t->nvswitches && !t->switches;
    for (uint32_t n = 0; n < t->nodes && t->nvlink_only; n++)
        if (t->role[n]) t->role[n] = WEFT__HPCC_SWITCH;
    if (t->nvlink_only) t->switches = t->nvswitches;
    if (t->nvlink_only) t->nvswitches = 0;
    return status;
}

static enum weft_status read_link(struct weft__lines *lines, const struct weft__hpcc_topology *t,
                                  struct weft__hpcc_link *link, struct weft_error *ret_error) {
    uint64_t src = 0, dst = 0;
    char *text = NULL;
    enum weft_status status = read_number(lines, "a node of a link", t->nodes - 1, &src, ret_error);
    link->place = lines->place;
    if (!status) status = read_number(lines, "the other node of the link", t->nodes - 1, &dst, ret_error);
    if (!status && src == dst) return BAD(lines, "a link from node %" PRIu64 " to itself", src);
    if (!status) status = read_quantity(lines, "the link's rate", WEFT__RATE, "bps", &link->rate_bps, ret_error);
    bool nvlink = !status && (t->role[src] == WEFT__HPCC_NVSWITCH || t->role[dst] == WEFT__HPCC_NVSWITCH);
    if (!status && !nvlink && (link->rate_bps < WEFT__RATE_MIN || link->rate_bps > WEFT__RATE_MAX))
        return BAD(lines, "the link's rate: expected 10Mbps to 100Tbps");
    if (!status) status = read_quantity(lines, "the link's delay", WEFT__TIME, "s", &link->delay_ps, ret_error);
    if (!status && (!link->delay_ps || link->delay_ps > WEFT_PS_PER_S))
        return BAD(lines, "the link's delay: expected 1ps to 1s");
    if (!status) status = read_word(lines, "the link's error rate", &text, ret_error);
    if (!status && (!weft__real_parse(text, &link->error_rate) || !(link->error_rate >= 0 && link->error_rate < 1)))
        return BAD(lines, "the link's error rate '%.40s'; expected 0 to less than 1", text);
    link->src = (uint32_t)src;
    link->dst = (uint32_t)dst;
    return status;
}

/// The network within servers, as the GPU with the slowest links to NVSwitches has it.
static void find_nvlink(struct weft__hpcc_topology *t, struct weft_arena *arena) {
    weft_rate_bps *sum = weft_arena_alloc(arena, t->nodes, sizeof *sum); // by node
    for (uint32_t i = 0; i < t->links; i++) {
        const struct weft__hpcc_link *l = &t->link[i];
        if (!weft__hpcc_is_nvlink(t, l)) continue;
        sum[t->role[l->src] == WEFT__HPCC_HOST ? l->src : l->dst] += l->rate_bps;
        if (l->delay_ps > t->nvlink_delay_ps) t->nvlink_delay_ps = l->delay_ps;
    }
    for (uint32_t n = 0; n < t->nodes; n++) {
        if (!sum[n]) continue;
        if (!t->nvlink_bps || sum[n] < t->nvlink_bps) t->nvlink_bps = sum[n];
        if (sum[n] > t->nvlink_most_bps) t->nvlink_most_bps = sum[n];
    }
}

static enum weft_status read_topology(struct weft__lines *lines, struct weft_arena *arena,
                                      struct weft__hpcc_topology *t, struct weft_error *ret_error) {
    enum weft_status status = read_counts(lines, t, arena, ret_error);
    if (!status) status = read_switches(lines, t, arena, ret_error);
    if (status) return status;
    for (uint32_t i = 0; i < t->links && !status; i++) { // not allocated by the count in the file, which may be
                                                         // anything
        t->link = weft__arena_grow(arena, t->link, i, sizeof *t->link);
        status = read_link(lines, t, &t->link[i], ret_error);
    }
    if (!status) find_nvlink(t, arena);
    return status ? status : read_rest(lines, "link", 5, 2, &t->rest, ret_error);
}

enum weft_status weft__hpcc_find_planes(struct weft__hpcc_topology *t, const char *path, struct weft_arena *arena,
                                        struct weft_error *ret_error) {
    bool *host = weft_arena_alloc(arena, t->nodes, sizeof *host);
    uint32_t(*end)[2] = weft_arena_alloc(arena, t->links, sizeof *end), bad = 0;
    t->at = weft_arena_alloc(arena, t->links, sizeof *t->at);
    t->planes = (struct weft__planes){.nodes = t->nodes, .host = host, .end = (const uint32_t(*)[2])end};
    for (uint32_t n = 0; n < t->nodes; n++)
        host[n] = t->role[n] == WEFT__HPCC_HOST;
    for (uint32_t i = 0; i < t->links; i++) {
        if (weft__hpcc_is_nvlink(t, &t->link[i])) continue;
        end[t->planes.links][0] = t->link[i].src;
        end[t->planes.links][1] = t->link[i].dst;
        t->at[t->planes.links++] = i;
    }
    const char *wrong = weft__planes_find(&t->planes, arena, &bad);
    if (!wrong) return WEFT_OK;
    struct weft_place place = {.file = path};
    for (uint32_t i = 0; i < t->planes.links; i++)
        if (end[i][0] == bad || end[i][1] == bad) place = t->link[t->at[i]].place;
    return WEFT_REFUSE(ret_error, place, "host %" PRIu32 " %s", bad, wrong);
}

enum weft_status weft__hpcc_read_topology(const char *path, struct weft_place place, struct weft_arena *arena,
                                          struct weft__hpcc_topology *ret_topology, struct weft_error *ret_error) {
    WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
    WEFT_TRY(weft__lines_open(&lines, path, place, ret_error));
    return read_topology(&lines, arena, ret_topology, ret_error);
}

// --- flows --------------------------------------------------------------------------------------------------------

/// Whether the current line, still unread, has five words.
static bool has_five_words(const struct weft__lines *lines) {
    uint32_t words = 0;
    for (const char *at = lines->at + strspn(lines->at, " \t"); *at; at += strspn(at, " \t"), words++)
        at += strcspn(at, " \t");
    return words == 5;
}

enum weft_status weft__hpcc_flows_open(struct weft__hpcc_flows *flows, const char *path, struct weft_place place,
                                       struct weft_error *ret_error) {
    struct weft__lines *lines = &flows->lines;
    bool more = true;
    *flows = (struct weft__hpcc_flows){0};
    WEFT_TRY(weft__lines_open(lines, path, place, ret_error));
    enum weft_status status = read_number(lines, "the number of flows", flows_max, &flows->n, ret_error);
    if (!status && flows->n && !lines->at[strspn(lines->at, " \t")]) {
        status = weft__lines_next_full(lines, &more, ret_error);
        flows->portless = !status && has_five_words(lines);
    }
    if (status) weft__lines_close(lines);
    return status;
}

enum weft_status weft__hpcc_flows_next(struct weft__hpcc_flows *flows, struct weft__file_flow *f, bool *ret_more,
                                       struct weft_error *ret_error) {
    struct weft__lines *lines = &flows->lines;
    *ret_more = flows->read < flows->n;
    if (!*ret_more) return flows->n ? read_rest(lines, "flow", 5, 4, &flows->rest, ret_error) : WEFT_OK;
    flows->read++;
    uint64_t port = 0;
    enum weft_status status = read_number(lines, "the source of a flow", nodes_max, &f->src, ret_error);
    f->place = lines->place;
    f->prioritised = true;
    if (!status) status = read_number(lines, "its destination", nodes_max, &f->dst, ret_error);
    if (!status) status = read_number(lines, "its priority group", PRIORITY_MAX, &f->priority, ret_error);
    if (!status && !flows->portless) status = read_number(lines, "its destination port", PORT_MAX, &port, ret_error);
    f->destination_port = (uint16_t)port;
    if (!status) status = read_number(lines, "its bytes", WEFT__FILE_FLOW_BYTES_MAX, &f->bytes, ret_error);
    if (!status && !f->bytes) return BAD(lines, "a flow of 0 bytes; expected 1 at least");
    if (!status) status = read_quantity(lines, "its start", WEFT__TIME, "s", &f->start_ps, ret_error);
    return status;
}
