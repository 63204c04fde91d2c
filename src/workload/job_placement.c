// SPDX-License-Identifier: Apache-2.0
// The hosts of a job: whole free servers, assigned by a strategy once it is known who communicates with whom; or those
// of a rank file; or as they were chosen.
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "job.h"
#include "weft/param.h"
#include "weft/placement.h"

const struct weft_param_table weft_occupied_table = WEFT_PARAM_TABLE_OF(
    "occupied", struct weft_occupied_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TEXT(struct weft_occupied_conf, hosts, "hosts", "",
              "hosts used by others; a server with one of them is not free"),
    WEFT_REAL(struct weft_occupied_conf, part, "part", "0", "0", "1", "additional share of the servers, drawn by seed"),
    WEFT_UINT(struct weft_occupied_conf, seed, "seed", "1", "0", "1000000000", "seed of that draw"));

/// A chosen GPU, and the host whose NIC it uses.
struct choice {
    uint32_t server, gpu, host;
};

/// Arguments that the functions below share.
struct finder {
    const struct weft__job_common *common;
    const struct weft_topology *topology;
    const struct weft_model_conf *entry;
    struct weft_job *job;
    struct weft_arena *arena;
    struct weft_error *error;
    struct choice *choice; ///< by server and GPU
    uint32_t choices, servers;
    uint32_t *first;                      ///< [servers + 1]: where a server's choices begin
    bool *occupied;                       ///< [servers]
    uint32_t with_jobs;                   ///< servers on which earlier jobs have a GPU
    const struct weft_workload *workload; ///< with the earlier jobs
    uint32_t *taken;                      ///< [hosts]: number of the job that has the host, + 1; 0: none
    bool whole;                           ///< every server is chosen with all of the hosts that it has
    uint32_t short_servers;               ///< servers that have fewer NICs than a server of the job
    bool *is_short;                       ///< [servers]
};

#define FAIL(f, where, ...) WEFT_REFUSE((f)->error, where, __VA_ARGS__)

struct weft_place weft__job_key_place(const struct weft_model_conf *entry, const char *key) {
    const struct weft_tree *said = entry->tree ? weft_tree_find(entry->tree, key) : NULL;
    return said ? said->place : entry->place;
}

struct weft_place weft__job_rank_file_place(const struct weft_model_conf *entry) {
    bool own = entry->tree && weft_tree_find(entry->tree, "rank_file");
    return weft__job_key_place(entry, own ? "rank_file" : "ranks");
}

static struct weft_place place_of(const struct finder *f, const char *key) {
    return weft__job_key_place(f->entry, key);
}

WEFT__ORDER(by_server, struct choice, WEFT__UP(server) ?: WEFT__UP(gpu))

static void find_servers(struct finder *f) {
    f->choices = f->job->ranks;
    f->choice = weft_arena_alloc(f->arena, f->choices, sizeof *f->choice);
    f->first = weft_arena_alloc(f->arena, f->choices + 1, sizeof *f->first);
    f->occupied = weft_arena_alloc(f->arena, f->choices, sizeof *f->occupied);
    f->is_short = weft_arena_alloc(f->arena, f->choices, sizeof *f->is_short);
    for (uint32_t i = 0; i < f->choices; i++) {
        uint32_t host = f->job->host[i];
        f->choice[i] = (struct choice){weft_server_of(&f->job->server, f->topology, host).server, f->job->gpu[i], host};
    }
    qsort(f->choice, f->choices, sizeof *f->choice, by_server);
    f->whole = true;
    for (uint32_t i = 0; i < f->choices; f->first[++f->servers] = i) {
        uint32_t begin = i;
        while (i < f->choices && f->choice[i].server == f->choice[begin].server)
            i++;
        uint32_t gpus = (uint32_t)f->job->server.gpus, missing, all;
        missing = weft_server_missing(&f->job->server, f->topology, f->choice[begin].host);
        all = gpus - missing * weft_server_of(&f->job->server, f->topology, f->choice[begin].host).gpus;
        f->whole &= i - begin == all;
        f->is_short[f->servers] = missing > 0;
        f->short_servers += missing > 0;
    }
}

/// The server of a host; WEFT_NONE: none. That its server is among them does not mean that the host is chosen.
static uint32_t find_server(const struct finder *f, uint32_t host) {
    uint32_t server = weft_server_of(&f->job->server, f->topology, host).server,
             low = WEFT__FIRST_WITHOUT(0, f->servers, f->choice[f->first[middle]].server < server);
    if (low == f->servers || f->choice[f->first[low]].server != server) return WEFT_NONE;
    const struct weft_topology *t = f->topology; // servers of different networks may have the same number
    bool same = weft_topology_network_of(t, host) == weft_topology_network_of(t, f->choice[0].host);
    return same ? low : WEFT_NONE;
}

/// Occupies `n` of those that are still free, the first of a shuffle.
static void occupy_some(struct finder *f, uint32_t n) {
    uint32_t *list = weft_arena_alloc(f->arena, f->servers, sizeof *list), free = 0;
    for (uint32_t s = 0; s < f->servers; s++)
        if (!f->occupied[s]) list[free++] = s;
    struct weft_random random = weft_random_stream(f->common->occupied.seed, 1, WEFT_RANDOM_PLACEMENT);
    for (uint32_t i = 0; i < n && i < free; i++) {
        uint32_t k = i + (uint32_t)weft_random_below(&random, free - i);
        f->occupied[list[k]] = true;
        list[k] = list[i];
    }
}

/// A machine that others use through a NIC in another network is not free either. `of_others`: [machines].
static void occupy_machines(struct finder *f, const bool *of_others) {
    for (uint32_t i = 0, server = 0; i < f->choices; i++) {
        uint32_t machine = f->topology->machine_of[f->choice[i].host];
        while (i >= f->first[server + 1])
            server++;
        f->occupied[server] |= machine != WEFT_NONE && of_others[machine];
    }
}

static enum weft_status find_occupied(struct finder *f) {
    const struct weft_occupied_conf *c = &f->common->occupied;
    uint32_t *host = NULL, n = 0;
    enum weft_status status = WEFT_OK;
    if (*c->hosts)
        status = weft_topology_select_hosts(f->topology, c->hosts, place_of(f, "occupied"), &host, &n, f->error);
    const struct weft_topology *t = f->topology;
    bool *of_others = weft_arena_alloc(f->arena, t->machines, sizeof *of_others);
    uint32_t network = weft_topology_network_of(t, f->choice[0].host);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t server = find_server(f, host[i]), machine = t->machine_of ? t->machine_of[host[i]] : WEFT_NONE;
        if (server != WEFT_NONE) f->occupied[server] = true;
        if (machine != WEFT_NONE && weft_topology_network_of(t, host[i]) != network) of_others[machine] = true;
    }
    if (t->machine_of) occupy_machines(f, of_others);
    occupy_some(f, (uint32_t)lround(c->part * f->servers));
    return status;
}

/// Earlier jobs have their hosts and, where these are NICs of a machine, its NICs in other networks.
static void find_taken(struct finder *f) {
    const struct weft_topology *t = f->topology;
    f->taken = weft_arena_alloc(f->arena, t->hosts, sizeof *f->taken);
    if (f->common->share_hosts) return;
    for (uint32_t j = 0; j < f->workload->jobs; j++)
        for (uint32_t r = 0; r < f->workload->job[j].ranks; r++)
            f->taken[f->workload->job[j].host[r]] = j + 1;
    uint32_t *of_machine = weft_arena_alloc(f->arena, t->machines, sizeof *of_machine);
    uint32_t network = weft_topology_network_of(t, f->choice[0].host);
    for (uint32_t h = 0; t->machine_of && h < t->hosts; h++)
        if (f->taken[h] && t->machine_of[h] != WEFT_NONE && weft_topology_network_of(t, h) != network)
            of_machine[t->machine_of[h]] = f->taken[h];
    for (uint32_t h = 0; t->machine_of && h < t->hosts; h++)
        if (!f->taken[h] && t->machine_of[h] != WEFT_NONE) f->taken[h] = of_machine[t->machine_of[h]];
}

static enum weft_status check_taken(const struct finder *f) {
    for (uint32_t r = 0; r < f->job->ranks; r++) {
        uint32_t host = f->job->host[r], taken = f->taken[host];
        if (!taken) continue;
        const struct weft_workload *w = f->workload;
        return FAIL(f, f->entry->place, "%s is of job %s already; expected hosts of its own, or share_hosts: on",
                    f->topology->node[f->topology->host[host]].name, w->group[w->job[taken - 1].group]);
    }
    return WEFT_OK;
}

/// NULL: a rank may be on the host.
static const char *why_not(const struct finder *f, uint32_t host) {
    uint32_t server = find_server(f, host), i = server == WEFT_NONE ? 0 : f->first[server];
    while (server != WEFT_NONE && i < f->first[server + 1] && f->choice[i].host != host)
        i++;
    if (server == WEFT_NONE || i == f->first[server + 1]) return "not among the job's hosts";
    return f->occupied[server] ? "on a server that is occupied" : NULL;
}

// --- a rank file --------------------------------------------------------------------------------------------------

/// The GPU of a line, as an index among those of its host: what the line says, or the next one.
static enum weft_status find_gpu(const struct finder *f, const struct weft_rank_line *line, uint32_t host,
                                 const uint32_t *rank_of, uint32_t *ret_gpu) {
    struct weft_host_gpus gpus = weft_server_of(&f->job->server, f->topology, host);
    uint32_t k = 0;
    if (line->gpu != WEFT_NONE)
        k = weft_host_gpu_find(&gpus, line->gpu);
    else
        while (k + 1 < gpus.gpus && rank_of[k])
            k++;
    if (k == WEFT_NONE && gpus.gpus == 1)
        return FAIL(f, line->gpu_place, "%s is GPU %" PRIu32 " of its server, not %" PRIu32, line->host,
                    weft_host_gpu(&gpus, 0), line->gpu);
    if (k == WEFT_NONE)
        return FAIL(f, line->gpu_place,
                    "GPU %" PRIu32 " is none of the %" PRIu32 " that share %s (from GPU %" PRIu32 " on)", line->gpu,
                    gpus.gpus, line->host, weft_host_gpu(&gpus, 0));
    *ret_gpu = k;
    return WEFT_OK;
}

/// `rank_of`: [first[host] + k], the rank of a host's k-th GPU, + 1.
static enum weft_status bind_line(struct finder *f, const struct weft_rank_line *line, const uint32_t *first,
                                  uint32_t *rank_of, uint32_t rank) {
    const struct weft_topology *t = f->topology;
    uint32_t node = weft_topology_find_node(t, line->host), k = 0;
    if (node == WEFT_NONE || t->node[node].role != WEFT_NODE_HOST)
        return FAIL(f, line->place, "there is no host '%s'; expected a name such as %s", line->host,
                    t->node[t->host[f->choice[0].host]].name);
    uint32_t host = t->node[node].index, gpus = first[host + 1] - first[host];
    WEFT_TRY(find_gpu(f, line, host, &rank_of[first[host]], &k));
    if (rank_of[first[host] + k])
        return FAIL(f, line->place, "%s has rank %" PRIu32 " already; expected each %s once", line->host,
                    rank_of[first[host] + k] - 1, gpus > 1 ? "GPU" : "host");
    const char *why = why_not(f, host);
    if (why) return FAIL(f, line->place, "%s is %s; expected a free one", line->host, why);
    uint32_t taken = f->taken[host];
    if (taken)
        return FAIL(f, line->place, "%s is of job %s already; expected a free one, or share_hosts: on", line->host,
                    f->workload->group[f->workload->job[taken - 1].group]);
    struct weft_host_gpus of = weft_server_of(&f->job->server, t, host);
    rank_of[first[host] + k] = rank + 1;
    f->job->host[rank] = host;
    f->job->gpu[rank] = weft_host_gpu(&of, k);
    return WEFT_OK;
}

static enum weft_status take_rank_file(struct finder *f) {
    struct weft_rank_file file;
    if (f->common->placement.tree)
        return FAIL(f, f->common->placement.place, "placement: there is a rank_file, '%s', too; expected one of them",
                    f->common->rank_file);
    WEFT_TRY(weft__rank_file_read(f->common->rank_file, f->entry->place, weft__job_rank_file_place(f->entry), f->arena,
                                  &file, f->error));
    if (f->common->ranks && f->common->ranks != file.ranks)
        return FAIL(f, weft__job_rank_file_place(f->entry),
                    "rank_file: '%s' has %" PRIu32 " ranks; expected the %" PRIu64 " of the job", f->common->rank_file,
                    file.ranks, f->common->ranks);
    uint32_t hosts = f->topology->hosts, *first = weft_arena_alloc(f->arena, hosts + 1, sizeof *first);
    for (uint32_t h = 0; h < hosts; h++)
        first[h + 1] = first[h] + weft_server_of(&f->job->server, f->topology, h).gpus;
    uint32_t *rank_of = weft_arena_alloc(f->arena, first[hosts], sizeof *rank_of);
    f->job->host = weft_arena_alloc(f->arena, file.ranks, sizeof *f->job->host);
    f->job->gpu = weft_arena_alloc(f->arena, file.ranks, sizeof *f->job->gpu);
    f->job->ranks = file.ranks;
    for (uint32_t r = 0; r < file.ranks; r++)
        WEFT_TRY(bind_line(f, &file.line[r], first, rank_of, r));
    return WEFT_OK;
}

// --- servers with fewer NICs --------------------------------------------------------------------------------------

/// "gpu-2 has 1, gpu-3 has 1": those that are short, in the arena.
static const char *list_short(const struct finder *f) {
    const struct weft_topology *t = f->topology;
    const char *text = "";
    uint32_t named = 0;
    for (uint32_t s = 0; s < f->servers && named < 4; s++) {
        uint32_t host = f->choice[f->first[s]].host;
        if (!f->is_short[s]) continue;
        text = weft_arena_format(f->arena, "%s%s%s has %" PRIu32, text, named++ ? ", " : "",
                                 t->machine[t->machine_of[host]].name, t->machine_nic[host].nics);
    }
    uint32_t more = f->short_servers - named;
    return more ? weft_arena_format(f->arena, "%s, and %" PRIu32 " more", text, more) : text;
}

static uint64_t nics_of(const struct finder *f) {
    return f->job->server.nics ? f->job->server.nics : f->job->server.gpus;
}

/// The NICs of each server, if all have the same number; else 0.
static uint32_t nics_of_all(const struct finder *f) {
    uint32_t nics = 0;
    for (uint32_t s = 0; s < f->servers; s++) {
        uint32_t own = f->topology->machine_nic[f->choice[f->first[s]].host].nics;
        if (s && own != nics) return 0;
        nics = own;
    }
    return nics;
}

/// A job that does not say how many ranks it has is not to lose some silently.
static enum weft_status check_short(const struct finder *f) {
    if (!f->short_servers) return WEFT_OK;
    uint32_t nics = nics_of_all(f);
    if (nics)
        return FAIL(f, f->entry->place,
                    "server: each of the %" PRIu32 " servers has %" PRIu32 " NIC%s, not %" PRIu64
                    "; expected server.nics: %" PRIu32 " (its GPUs share them), or hosts with more",
                    f->servers, nics, nics == 1 ? "" : "s", nics_of(f), nics);
    return FAIL(f, f->entry->place,
                "server: %" PRIu32 " of %" PRIu32 " servers have fewer than %" PRIu64
                " NICs: %s; expected hosts without them, or ranks, which go to whole servers",
                f->short_servers, f->servers, nics_of(f), list_short(f));
}

// --- free servers -------------------------------------------------------------------------------------------------

/// The GPUs of a server and their hosts, in the arena.
static struct weft_placement_slot slot_of(const struct finder *f, uint32_t server) {
    uint32_t n = f->first[server + 1] - f->first[server], *host = weft_arena_alloc(f->arena, n, sizeof *host),
             *gpu = weft_arena_alloc(f->arena, n, sizeof *gpu);
    for (uint32_t g = 0; g < n; g++) {
        host[g] = f->choice[f->first[server] + g].host;
        gpu[g] = f->choice[f->first[server] + g].gpu;
    }
    return (struct weft_placement_slot){.host = host, .gpu = gpu};
}

static enum weft_status say_none_free(struct finder *f) {
    if (f->short_servers == f->servers) return check_short(f);
    if (!f->with_jobs)
        return FAIL(f, place_of(f, "occupied"), "occupied: none of %" PRIu32 " servers is free; expected one at least",
                    f->servers);
    return FAIL(f, f->entry->place,
                "none of %" PRIu32 " servers is free: jobs before this one have %" PRIu32 ", %" PRIu32
                " more are occupied; expected one at least, or share_hosts: on",
                f->servers, f->with_jobs, f->servers - f->with_jobs);
}

static enum weft_status make_slots(struct finder *f, struct weft_placement_problem *p) {
    struct weft_job *job = f->job;
    p->slot = weft_arena_alloc(f->arena, f->servers, sizeof *p->slot);
    for (uint32_t s = 0; s < f->servers; s++)
        if (!f->occupied[s] && !f->is_short[s]) p->slot[p->slots++] = slot_of(f, s);
    weft__placement_number(p, f->topology, (uint32_t)job->server.gpus, f->arena);
    if (!p->slots) return say_none_free(f);
    uint64_t gpus = job->server.gpus, ranks = f->common->ranks ? f->common->ranks : p->slots * gpus;
    if (ranks % gpus)
        return FAIL(f, place_of(f, "ranks"),
                    "ranks: %" PRIu64 " are not whole servers of %" PRIu64 " GPUs; expected a multiple of %" PRIu64,
                    ranks, gpus, gpus);
    if (ranks / gpus > p->slots)
        return FAIL(f, place_of(f, "ranks"),
                    "ranks: %" PRIu64 " take %" PRIu64 " servers of %" PRIu64 " GPUs, but of %" PRIu32
                    " servers %" PRIu32 " are free%s%s",
                    ranks, ranks / gpus, gpus, f->servers, p->slots, f->short_servers ? "; NICs are missing: " : "",
                    list_short(f));
    p->units = (uint32_t)(ranks / gpus);
    p->first = weft_arena_alloc(f->arena, p->units + 1, sizeof *p->first);
    return WEFT_OK;
}

/// Until it is known who communicates with whom: uses the free servers in order.
static void take_first(struct finder *f, const struct weft_placement_problem *p) {
    uint32_t *slot = weft_arena_alloc(f->arena, p->units, sizeof *slot);
    for (uint32_t u = 0; u < p->units; u++)
        slot[u] = u;
    f->job->ranks = p->units * (uint32_t)f->job->server.gpus;
    weft_placement_hosts(f->job, slot, f->job->host, f->job->gpu);
}

static bool wants_slots(const struct weft__job_common *c) {
    return c->ranks || *c->occupied.hosts || c->occupied.part > 0 || strcmp(c->placement.model->name, "linear");
}

/// Servers on which an earlier job has a GPU.
static void occupy_taken(struct finder *f) {
    for (uint32_t s = 0; s < f->servers; s++) {
        bool taken = false;
        for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++)
            taken |= f->taken[f->choice[i].host] > 0;
        f->occupied[s] |= taken;
        f->with_jobs += taken;
    }
}

enum weft_status weft__job_find_hosts(const struct weft__job_common *common, const struct weft_model_conf *entry,
                                      const struct weft_topology *topology, const struct weft_workload *w,
                                      struct weft_job *job, struct weft_error *ret_error) {
    struct finder f = {.common = common,
                       .topology = topology,
                       .entry = entry,
                       .job = job,
                       .arena = w->arena,
                       .error = ret_error,
                       .workload = w};
    find_servers(&f);
    find_taken(&f);
    WEFT_TRY(find_occupied(&f));
    if (*common->rank_file) return take_rank_file(&f);
    bool listed = common->order == WEFT__ORDER_LISTED;
    WEFT_TRY(common->ranks ? WEFT_OK : check_short(&f));
    if (listed || !f.whole) {
        if (!wants_slots(common)) return check_taken(&f);
        return FAIL(&f, entry->place, "ranks, occupied and placement are about whole servers; expected %s",
                    listed ? "order: server" : "hosts that are all those of their servers");
    }
    WEFT_TRY(wants_slots(common) ? WEFT_OK : check_taken(&f)); // otherwise it takes what is left
    occupy_taken(&f);
    struct weft_placement_problem *p = weft_arena_alloc(f.arena, 1, sizeof *p);
    WEFT_TRY(make_slots(&f, p));
    job->places = p;
    take_first(&f, p);
    return WEFT_OK;
}

/// What struct weft_placement_ops promises: each unit has a slot of its own.
static void assert_distinct(const uint32_t *slot, const struct weft_placement_problem *p, struct weft_arena *arena) {
    bool *taken = weft_arena_alloc(arena, p->slots, sizeof *taken);
    for (uint32_t u = 0; u < p->units; u++) {
        assert(slot[u] < p->slots && !taken[slot[u]]);
        taken[slot[u]] = true;
    }
}

void weft__job_place(const struct weft__job_common *common, struct weft_job *job, struct weft_arena *arena) {
    const struct weft_placement_ops *ops = common->placement.model->ops;
    if (!job->places) return;
    struct weft_arena *scratch = weft_arena_new(WEFT_MEMORY_SCENARIO);
    if (ops->graph) weft_placement_graph(job, arena);
    uint32_t *slot = weft_arena_alloc(scratch, job->places->units, sizeof *slot);
    ops->place(common->placement.conf, job->places, scratch, slot);
    assert_distinct(slot, job->places, scratch);
    weft_placement_hosts(job, slot, job->host, job->gpu);
    weft_arena_free(scratch);
}
