// SPDX-License-Identifier: Apache-2.0
#include "import/hosts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "weft/memory.h"
#include "workload/job.h"

enum { NUMBER_DIGITS = 8 };

/// N of "host-N", in the first of several networks of "plane-0-host-N"; false: the name is not of that form.
static bool number_of(const struct weft_topology *t, uint32_t host, uint32_t *ret_number) {
    static const char prefix[] = "host-";
    const char *name = t->node[t->host[host]].name;
    size_t scope = strlen(t->network[0].name);
    if (scope && !strncmp(name, t->network[0].name, scope) && name[scope] == '-') name += scope + 1;
    if (strncmp(name, prefix, sizeof prefix - 1)) return false;
    const char *digits = name + sizeof prefix - 1;
    size_t n = strspn(digits, "0123456789");
    if (!n || n > NUMBER_DIGITS || digits[n]) return false;
    *ret_number = (uint32_t)strtoul(digits, NULL, 10);
    return true;
}

static void index_names(struct weft__file_hosts *hosts) {
    const struct weft_topology *t = hosts->topology;
    uint32_t number;
    for (uint32_t h = 0; h < t->hosts; h++)
        if (number_of(t, h, &number) && number >= hosts->n) hosts->n = number + 1;
    hosts->host = weft_arena_alloc(t->arena, hosts->n, sizeof *hosts->host);
    memset(hosts->host, 0xff, hosts->n * sizeof *hosts->host);
    for (uint32_t h = 0; h < t->hosts; h++)
        if (number_of(t, h, &number)) hosts->host[number] = h;
}

/// Reads a host per line. Flows between hosts do not depend on the GPU of a server.
static enum weft_status read_ranks(struct weft__file_hosts *hosts, const char *path, struct weft_place place,
                                   struct weft_error *ret_error) {
    const struct weft_topology *t = hosts->topology;
    struct weft_rank_file file;
    WEFT_TRY(weft__rank_file_read(path, place, place, t->arena, &file, ret_error));
    hosts->n = file.ranks;
    hosts->host = weft_arena_alloc(t->arena, hosts->n, sizeof *hosts->host);
    for (uint32_t r = 0; r < file.ranks; r++) {
        uint32_t node = weft_topology_find_node(t, file.line[r].host);
        if (node == WEFT_NONE || t->node[node].role != WEFT_NODE_HOST)
            return WEFT_REFUSE(ret_error, file.line[r].place,
                               "no host '%.60s' in the topology; expected the name of one", file.line[r].host);
        hosts->host[r] = t->node[node].index;
    }
    return WEFT_OK;
}

enum weft_status weft__file_hosts_init(struct weft__file_hosts *hosts, const char *text, const char *ranks,
                                       struct weft_place place, const struct weft_topology *topology,
                                       struct weft_error *ret_error) {
    bool file = strcmp(ranks, "linear") != 0;
    *hosts = (struct weft__file_hosts){.topology = topology, .chosen = *text != 0 || file};
    if (*text && file)
        return WEFT_REFUSE(ret_error, place,
                           "hosts and ranks, '%.60s', both say which hosts the numbers mean; expected one of them",
                           ranks);
    if (file) return read_ranks(hosts, ranks, place, ret_error);
    if (*text) return weft_topology_select_hosts(topology, text, place, &hosts->host, &hosts->n, ret_error);
    index_names(hosts);
    return WEFT_OK;
}

enum weft_status weft__file_hosts_at(const struct weft__file_hosts *hosts, uint64_t number, struct weft_place place,
                                     uint32_t *ret_host, struct weft_error *ret_error) {
    *ret_host = number < hosts->n ? hosts->host[number] : WEFT_NONE;
    if (*ret_host != WEFT_NONE) return WEFT_OK;
    if (hosts->chosen)
        return WEFT_REFUSE(ret_error, place,
                           "host number %" PRIu64 "; expected 0 to %" PRIu32 ", as many as hosts or ranks choose",
                           number, hosts->n - 1);
    return WEFT_REFUSE(ret_error, place,
                       "host number %" PRIu64 ", but the topology has no host-%" PRIu64
                       "; expected one that it has, or 'hosts' to say which are meant",
                       number, number);
}

enum weft_status weft__file_hosts_find(const struct weft__file_hosts *hosts, const char *word, struct weft_place place,
                                       uint32_t *ret_host, struct weft_error *ret_error) {
    size_t digits = strspn(word, "0123456789");
    if (digits && !word[digits] && digits <= NUMBER_DIGITS)
        return weft__file_hosts_at(hosts, strtoull(word, NULL, 10), place, ret_host, ret_error);
    const struct weft_topology *t = hosts->topology;
    uint32_t node = weft_topology_find_node(t, word);
    if (node != WEFT_NONE && t->node[node].role == WEFT_NODE_HOST) {
        *ret_host = t->node[node].index;
        return WEFT_OK;
    }
    return WEFT_REFUSE(ret_error, place, "no host '%.60s' in the topology; expected the name of a host, or its number",
                       word);
}
