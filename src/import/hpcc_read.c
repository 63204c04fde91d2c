// SPDX-License-Identifier: Apache-2.0
// Source: what scratch/third.cc of HPCC and common.h of SimAI read with C++ streams, so line ends are irrelevant.
#include "import/hpcc_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "topology/builder.h"

enum { PRIORITY_MAX = 7, PORT_MAX = 65535, FIELDS_MAX = 6 };
static const uint64_t nodes_max = (1u << 24) - 2, links_max = 1u << 24, flows_max = 1u << 24;

#define BAD(lines, ...) weft_error_set(ret_error, WEFT_ERROR_INPUT, (lines)->place, __VA_ARGS__)

static enum weft_status word(struct weft__lines *lines, const char *what, char **ret_word,
                             struct weft_error *ret_error) {
    enum weft_status status = weft__lines_token(lines, ret_word, ret_error);
    if (!status && !*ret_word) return BAD(lines, "the file ends here; expected %s", what);
    return status;
}

static enum weft_status number(struct weft__lines *lines, const char *what, uint64_t max, uint64_t *ret_value,
                               struct weft_error *ret_error) {
    char *text = NULL, why[160];
    enum weft_status status = word(lines, what, &text, ret_error);
    if (status) return status;
    if (!weft__quantity_parse(WEFT__COUNT, text, ret_value, why, sizeof why)) return BAD(lines, "%s: %s", what, why);
    if (*ret_value > max) return BAD(lines, "%s is %s; expected at most %" PRIu64, what, text, max);
    return WEFT_OK;
}

static enum weft_status quantity(struct weft__lines *lines, const char *what, enum weft__quantity kind,
                                 const char *unit, uint64_t *ret_value, struct weft_error *ret_error) {
    char *text = NULL, why[160];
    enum weft_status status = word(lines, what, &text, ret_error);
    if (!status && !weft__number_parse(kind, unit, text, ret_value, why, sizeof why))
        return BAD(lines, "%s: %s", what, why);
    return status;
}

/// Nothing more may be on the line of the last one, `what`; *ret_line: the first later line with content.
static enum weft_status read_rest(struct weft__lines *lines, const char *what, int *ret_line,
                                  struct weft_error *ret_error) {
    char *rest = weft__lines_word(lines);
    if (rest)
        return BAD(lines, "'%.40s' on the line of the last %s; expected nothing behind its %s", rest, what,
                   !strcmp(what, "link") ? "error rate" : "start");
    enum weft_status status = weft__lines_token(lines, &rest, ret_error);
    *ret_line = rest ? lines->place.line : 0;
    return status;
}

// --- topology -----------------------------------------------------------------------------------------------------

/// "nodes switches links", or SimAI's "nodes gpus_per_server nvswitches switches links gpu_type".
static enum weft_status read_counts(struct weft__lines *lines, struct weft__hpcc_topology *t, struct weft_arena *arena,
                                    struct weft_error *ret_error) {
    static const char *const names[] = {"the number of nodes", "of GPUs a server", "of NVSwitches", "of switches",
                                        "of links"};
    uint64_t value[5] = {0};
    bool more;
    char why[160], *text[FIELDS_MAX + 1];
    uint32_t n = 0;
    enum weft_status status = weft__lines_next_full(lines, &more, ret_error);
    if (status) return status;
    while (n <= FIELDS_MAX && (text[n] = weft__lines_word(lines)))
        n++;
    lines->place.column = 1;
    if (n != 3 && n != FIELDS_MAX)
        return BAD(lines,
                   "%" PRIu32 " words; expected 3 (nodes, switches, links) or 6 (nodes, GPUs a server, NVSwitches, "
                   "switches, links, type of GPU)",
                   n);
    static const uint32_t short_order[] = {0, 3, 4}, long_order[] = {0, 1, 2, 3, 4};
    for (uint32_t k = 0; k < (n == 3 ? 3 : 5); k++) {
        uint32_t which = n == 3 ? short_order[k] : long_order[k];
        if (!weft__quantity_parse(WEFT__COUNT, text[k], &value[which], why, sizeof why) ||
            value[which] > (which == 4 ? links_max : nodes_max))
            return BAD(lines, "'%.40s' as %s%s; expected a whole number of at most %" PRIu64, text[k],
                       which ? "the number " : "", names[which], which == 4 ? links_max : nodes_max);
    }
    if (n > 3 && weft__lines_name(lines, text[5], ret_error)) return WEFT_ERROR_INPUT;
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
        .gpu_type = n == 3 ? NULL : weft_arena_text(arena, text[5]),
    };
    return WEFT_OK;
}

static enum weft_status read_switches(struct weft__lines *lines, struct weft__hpcc_topology *t,
                                      struct weft_arena *arena, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    t->role = weft_arena_alloc(arena, t->nodes, sizeof *t->role);
    for (uint32_t i = 0; i < t->nvswitches + t->switches && !status; i++) {
        uint64_t node = 0;
        status = number(lines, "the number of a switch", t->nodes - 1, &node, ret_error);
        if (!status && t->role[node]) return BAD(lines, "node %" PRIu64 " is listed twice", node);
        if (!status) t->role[node] = i < t->nvswitches ? WEFT__HPCC_NVSWITCH : WEFT__HPCC_SWITCH;
    }
    return status;
}

static enum weft_status read_link(struct weft__lines *lines, const struct weft__hpcc_topology *t,
                                  struct weft__hpcc_link *link, struct weft_error *ret_error) {
    uint64_t src = 0, dst = 0;
    char *text = NULL;
    enum weft_status status = number(lines, "a node of a link", t->nodes - 1, &src, ret_error);
    link->place = lines->place;
    if (!status) status = number(lines, "the other node of the link", t->nodes - 1, &dst, ret_error);
    if (!status && src == dst) return BAD(lines, "a link from node %" PRIu64 " to itself", src);
    if (!status) status = quantity(lines, "the link's rate", WEFT__RATE, "bps", &link->rate_bps, ret_error);
    if (!status && (link->rate_bps < WEFT__RATE_MIN || link->rate_bps > WEFT__RATE_MAX))
        return BAD(lines, "the link's rate: expected 10Mbps to 100Tbps");
    if (!status) status = quantity(lines, "the link's delay", WEFT__TIME, "s", &link->delay_ps, ret_error);
    if (!status && (!link->delay_ps || link->delay_ps > WEFT_PS_PER_S))
        return BAD(lines, "the link's delay: expected 1ps to 1s");
    if (!status) status = word(lines, "the link's error rate", &text, ret_error);
    if (!status && (!weft__real_parse(text, &link->error_rate) || !(link->error_rate >= 0 && link->error_rate < 1)))
        return BAD(lines, "the link's error rate '%.40s'; expected 0 to less than 1", text);
    link->src = (uint32_t)src;
    link->dst = (uint32_t)dst;
    return status;
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
    return status ? status : read_rest(lines, "link", &t->rest_line, ret_error);
}

enum weft_status weft__hpcc_read_topology(const char *path, struct weft_place place, struct weft_arena *arena,
                                          struct weft__hpcc_topology *ret_topology, struct weft_error *ret_error) {
    struct weft__lines lines;
    enum weft_status status = weft__lines_open(&lines, path, place, ret_error);
    if (status) return status;
    status = read_topology(&lines, arena, ret_topology, ret_error);
    weft__lines_close(&lines);
    return status;
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
    enum weft_status status = weft__lines_open(lines, path, place, ret_error);
    if (status) return status;
    status = number(lines, "the number of flows", flows_max, &flows->n, ret_error);
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
    if (!*ret_more) return flows->n ? read_rest(lines, "flow", &flows->rest_line, ret_error) : WEFT_OK;
    flows->read++;
    uint64_t port = 0;
    enum weft_status status = number(lines, "the source of a flow", nodes_max, &f->src, ret_error);
    f->place = lines->place;
    f->prioritised = true;
    if (!status) status = number(lines, "its destination", nodes_max, &f->dst, ret_error);
    if (!status) status = number(lines, "its priority group", PRIORITY_MAX, &f->priority, ret_error);
    if (!status && !flows->portless) status = number(lines, "its destination port", PORT_MAX, &port, ret_error);
    f->destination_port = (uint16_t)port;
    if (!status) status = number(lines, "its bytes", WEFT__FILE_FLOW_BYTES_MAX, &f->bytes, ret_error);
    if (!status && !f->bytes) return BAD(lines, "a flow of 0 bytes; expected 1 at least");
    if (!status) status = quantity(lines, "its start", WEFT__TIME, "s", &f->start_ps, ret_error);
    return status;
}
