// SPDX-License-Identifier: Apache-2.0
// Several SONiC switches as a scenario: the network of their DEVICE_NEIGHBORs, read in place as cables, and an entry of
// `devices` for each kind of switch, and of hosts at it, so that switches keep their different buffers.
#include <inttypes.h>
#include <string.h>

#include "base/lines.h"
#include "base/stream.h"
#include "base/units.h"
#include "import/cables/cables.h"
#include "import/sonic/sonic_import.h"

#define SAY(section, ...) weft_import_say(import, WEFT_IMPORT_##section, __VA_ARGS__)
#define NOTE(note, ...) weft_import_note(import, WEFT_IMPORT_##note, __VA_ARGS__)

/// A switch of a file.
struct member {
    struct weft_sonic *s;
    const char *sw, *host; ///< sections
    const char *hosts;     ///< names of the hosts at it, joined by ","
    uint8_t lossless;
};

struct fleet {
    const struct weft__sonic_import_conf *conf;
    struct weft_import *import;
    struct weft_arena *arena;
    const struct weft_sonic_lookup *lookup;
    struct member *member;
    uint32_t n;
    struct weft__cables cables;
};

static const char *keep_stream(struct fleet *f, struct weft__text_stream *stream) {
    const char *text = weft_arena_text(f->arena, weft__text_stream_text(stream));
    weft__text_stream_free(stream);
    return text;
}

/// The settings of a switch and its hosts, with the notes about it.
static enum weft_status read_member(struct fleet *f, const struct weft_import_file *file, struct member *member,
                                    struct weft_error *ret_error) {
    WEFT_TRY(weft_sonic_read(&file->path, 1, f->lookup, f->arena, &member->s, ret_error));
    struct weft_place place = {.file = file->path};
    if (!weft__topology_node_name_is_good(member->s->hostname))
        return WEFT_REFUSE(ret_error, place,
                           "DEVICE_METADATA|localhost.hostname: '%.60s'; expected the name of a switch, as there are "
                           "several (letters, digits and _ - . :)",
                           member->s->hostname);
    struct weft__sonic_making m = {.s = member->s, .conf = f->conf, .im = f->import};
    m.prefix = weft_arena_format(f->arena, "%s: ", member->s->hostname);
    WEFT_TRY(weft__sonic_making_init(&m, file, 1, ret_error));
    struct weft__text_stream sw, host;
    m.sw = weft__text_stream_open(&sw);
    m.host = weft__text_stream_open(&host);
    weft__sonic_say_boxes(&m);
    member->host = keep_stream(f, &host);
    member->sw = keep_stream(f, &sw);
    member->lossless = m.lossless;
    return WEFT_OK;
}

static enum weft_status read_members(struct fleet *f, const struct weft_import_file *file,
                                     struct weft_error *ret_error) {
    for (uint32_t i = 0; i < f->n; i++) {
        WEFT_TRY(read_member(f, &file[i], &f->member[i], ret_error));
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(f->member[k].s->hostname, f->member[i].s->hostname))
                return WEFT_REFUSE(ret_error, (struct weft_place){.file = file[i].path},
                                   "DEVICE_METADATA|localhost.hostname: '%.60s' is that of %s too",
                                   f->member[i].s->hostname, file[k].path);
    }
    return WEFT_OK;
}

/// The network, as the topology `cables` makes it of the same files.
static enum weft_status find_network(struct fleet *f, const struct weft_import_file *file,
                                     struct weft_error *ret_error) {
    struct weft__cable_list list = {.arena = f->arena, .ignored = "", .inventory = ""};
    struct weft__cables_conf conf = {.hosts = f->conf->hosts,
                                     .ignore = "",
                                     .metre_ps = f->conf->metre_ps,
                                     .rate_bps = f->conf->common.rate_bps,
                                     .delay_ps = f->conf->common.delay_ps};
    struct weft_place place = {.file = file->path};
    for (uint32_t i = 0; i < f->n; i++)
        weft__cables_add_sonic(f->member[i].s, "", conf.metre_ps, (struct weft_place){.file = file[i].path}, &list);
    WEFT_TRY(weft__cables_finish(&list, &conf, &f->cables, ret_error));
    if (!f->cables.graph.links)
        return WEFT_REFUSE(ret_error, place,
                           "DEVICE_NEIGHBOR: no port that is up has a neighbour; expected the cables of a network");
    return weft__file_graph_check(&f->cables.graph, false, place, f->arena, ret_error);
}

static struct member *member_called(struct fleet *f, const char *name) {
    for (uint32_t i = 0; i < f->n; i++)
        if (!strcmp(f->member[i].s->hostname, name)) return &f->member[i];
    return NULL;
}

/// The hosts at each switch; returns how many switches have no file.
static uint32_t find_hosts(struct fleet *f) {
    const struct weft__file_graph *g = &f->cables.graph;
    uint32_t strangers = 0;
    for (uint32_t i = 0; i < f->n; i++)
        f->member[i].hosts = "";
    for (uint32_t i = 0; i < g->nodes; i++)
        strangers += !g->node[i].host && !member_called(f, g->node[i].name);
    for (uint32_t l = 0; l < g->links; l++)
        for (uint32_t e = 0; e < 2; e++) {
            const struct weft__file_node *host = &g->node[g->link[l].end[e]], *sw = &g->node[g->link[l].end[!e]];
            struct member *m = host->host ? member_called(f, sw->name) : NULL;
            if (m) m->hosts = weft_arena_format(f->arena, "%s%s%s", m->hosts, *m->hosts ? "," : "", host->name);
        }
    return strangers;
}

/// Writes the lines of a section, indented by two more columns.
static void say_indented(struct fleet *f, const char *text) {
    while (*text) {
        size_t n = strcspn(text, "\n");
        weft_import_say(f->import, WEFT_IMPORT_DEVICES, "  %.*s\n", (int)n, text);
        text += n + (text[n] != 0);
    }
}

/// One entry for all equal switches, or for the hosts of all equal switches.
static void say_kinds(struct fleet *f, bool hosts) {
    const char *key = hosts ? "host" : "switch";
    for (uint32_t i = 0; i < f->n; i++) {
        const char *text = hosts ? f->member[i].host : f->member[i].sw, *match = "";
        bool first = *text;
        for (uint32_t k = 0; k < f->n && first; k++) {
            const char *names = hosts ? f->member[k].hosts : f->member[k].s->hostname;
            if (strcmp(text, hosts ? f->member[k].host : f->member[k].sw)) continue;
            first = k >= i;
            if (*names) match = weft_arena_format(f->arena, "%s%s%s", match, *match ? "," : "", names);
        }
        if (!first || !*match) continue;
        weft_import_say(f->import, WEFT_IMPORT_DEVICES, "- match: %s\n  %s:\n", weft_import_quote(f->import, match),
                        key);
        say_indented(f, text);
    }
}

static void say_topology(struct fleet *f, const struct weft_import_file *file) {
    char metre[32], delay[32];
    struct weft_import *import = f->import;
    SAY(TOPOLOGY, "  kind: cables\n  file:\n");
    for (uint32_t i = 0; i < f->n; i++)
        SAY(TOPOLOGY, "  - %s\n", weft_import_quote(import, file[i].written));
    weft__quantity_format(WEFT__TIME, f->conf->metre_ps, metre, sizeof metre);
    weft__quantity_format(WEFT__TIME, f->conf->common.delay_ps, delay, sizeof delay);
    SAY(TOPOLOGY, "  metre: %s\n  delay: %s\n", metre, delay);
    if (*f->conf->hosts) SAY(TOPOLOGY, "  hosts: %s\n", weft_import_quote(import, f->conf->hosts));
    NOTE(ASSUMED, "cables: a metre takes %s (metre)", metre);
    if (f->cables.undelayed)
        NOTE(ASSUMED, "%s for %" PRIu32 " cables of which CABLE_LENGTH says nothing (delay)", delay,
             f->cables.undelayed);
    if (f->cables.guessed)
        NOTE(ASSUMED, "%" PRIu32 " neighbours without a file: those with one cable are hosts, others switches (hosts)",
             f->cables.guessed);
}

/// Gives flows a priority that is lossless in all switches, unless that is their default.
static void say_workload(struct fleet *f) {
    uint8_t lossless = 0xff;
    for (uint32_t i = 0; i < f->n; i++)
        lossless &= f->member[i].lossless;
    if (!lossless || lossless >> 3 & 1) return;
    weft_import_say(f->import, WEFT_IMPORT_WORKLOAD, "- {kind: permutation, size: %s, priority: %d}\n",
                    weft__bytes_text(f->conf->common.size_bytes).text, __builtin_ctz(lossless));
    weft_import_note(f->import, WEFT_IMPORT_ASSUMED,
                     "the workload: a permutation by the first priority that is lossless everywhere (size)");
}

enum weft_status weft__sonic_make_fleet(const struct weft__sonic_import_conf *conf, const struct weft_import_file *file,
                                        uint32_t files, const struct weft_sonic_lookup *lookup,
                                        struct weft_import *import, struct weft_error *ret_error) {
    struct fleet f = {.conf = conf, .import = import, .arena = weft_import_arena(import), .lookup = lookup, .n = files};
    f.member = weft_arena_alloc(f.arena, files, sizeof *f.member);
    WEFT_TRY(read_members(&f, file, ret_error));
    WEFT_TRY(find_network(&f, file, ret_error));
    uint32_t strangers = find_hosts(&f), hosts = weft__file_graph_hosts(&f.cables.graph);
    NOTE(FOUND, "%s, %" PRIu32 " cables by DEVICE_NEIGHBOR; other ports are left out",
         weft_import_nodes(import, hosts, f.cables.graph.nodes - hosts), f.cables.graph.links);
    if (strangers) NOTE(ASSUMED, "%" PRIu32 " switches without a file: weft's defaults", strangers);
    say_topology(&f, file);
    say_kinds(&f, false);
    say_kinds(&f, true);
    say_workload(&f);
    return WEFT_OK;
}
