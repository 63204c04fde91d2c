// SPDX-License-Identifier: Apache-2.0
// Servers of GPUs: which GPUs are behind a host, and the GPUs of a job in the order of its ranks.
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "job.h"
#include "weft/hardware.h"
#include "weft/param.h"

static const char *const cabling_names[] = {"rack", "rail", NULL};
static const char *const within_names[] = {"server", "network", NULL};
const struct weft_param_table weft_server_table = WEFT_PARAM_TABLE_OF(
    "server", struct weft_server_conf, .classes = &weft_hardware_by_kind,
    WEFT_TEXT(struct weft_server_conf, kind, "kind", WEFT_HARDWARE_SERVER_DEFAULT, WEFT_HARDWARE_HELP),
    WEFT_UINT(struct weft_server_conf, gpus, "gpus", "1", "1", "72", "GPUs per server"),
    WEFT_UINT(struct weft_server_conf, nics, "nics", "0", "0", "72",
              "NICs per server, each a host, which equal numbers of its GPUs share, in order; 0: as many as the "
              "topology has for a server, else one per GPU"),
    WEFT_CHOICE(struct weft_server_conf, cabling, "cabling", "rack", cabling_names,
                "rack: a server is consecutive hosts; rail: the hosts form as many equal parts as a server has NICs, "
                "and a server has one host of each part"),
    WEFT_CHOICE(
        struct weft_server_conf, within, "within", "server", within_names,
        "what goes from GPU to GPU of a server takes `rate` and `latency`; or network: it crosses the topology, "
        "which has the servers' own links (topology scale_up)"),
    WEFT_RATE(struct weft_server_conf, rate_bps, "rate", "3600Gbps", "1Gbps", "100Tbps",
              "rate of a GPU within the server, each way (NVLink 4: 450 GB/s)"),
    WEFT_TIME(struct weft_server_conf, latency_ps, "latency", "1us", "100ns", "100us",
              "latency between GPUs of a server (assumed)"),
    WEFT_CHOICE(struct weft_server_conf, generation, "generation", "hopper", weft_nccl_generation_names,
                "of its GPUs, by which NCCL chooses (collective: nccl)"),
    WEFT_UINT(struct weft_server_conf, links, "links", "18", "0", "64",
              "NVLinks of a GPU, by which NCCL chooses (H100: 18, A100: 12); 0: none"),
    WEFT_BOOL(struct weft_server_conf, nvls, "nvls", "true", "its NVSwitches add and copy (NVLink SHARP)"),
    WEFT_CHOICE(struct weft_server_conf, cpu, "cpu", "intel", weft_nccl_cpu_names,
                "its processors, by which NCCL chooses"),
    WEFT_TIME(struct weft_server_conf, launch_ps, "launch", "0ns", "0ns", "1ms",
              "time that a launch of a collective on an idle communicator takes, always the same (weft fit finds it); "
              "0: as its hosts have it (host.launch, launch_skew)"),
    WEFT_SECTION(struct weft_server_conf, costs, "costs", &weft_nccl_costs_table,
                 "what steps take at a host (collective: nccl; weft fit finds it)"));

// --- the GPUs of a host -------------------------------------------------------------------------------------------

static uint32_t nics_of(const struct weft_server_conf *server) {
    return (uint32_t)(server->nics ? server->nics : server->gpus);
}

/// GPUs that share NIC number `nic` of a server in equal parts.
static struct weft_host_gpus equal_part(const struct weft_server_conf *server, uint32_t number, uint32_t nic) {
    uint32_t gpus = (uint32_t)server->gpus / nics_of(server);
    return (struct weft_host_gpus){.server = number, .gpus = gpus, .first = nic * gpus};
}

struct weft_host_gpus weft_server_of(const struct weft_server_conf *server, const struct weft_topology *topology,
                                     uint32_t host) {
    const struct weft_network_info *network = &topology->network[weft_topology_network_of(topology, host)];
    uint32_t nics = nics_of(server), servers = network->hosts / nics;
    if (server->gpus > 1 && topology->machine_of && topology->machine_of[host] != WEFT_NONE) {
        const struct weft_machine_nic *nic = &topology->machine_nic[host];
        uint32_t number = topology->machine_of[host];
        if (nic->gpus) return (struct weft_host_gpus){.server = number, .gpus = nic->gpus, .number = nic->gpu};
        return equal_part(server, number, nic->number);
    }
    host -= network->host0;
    bool rail = server->cabling == WEFT_CABLING_RAIL && nics > 1;
    return equal_part(server, topology->machines + (rail ? host % servers : host / nics),
                      rail ? host / servers : host % nics);
}

uint32_t weft_server_missing(const struct weft_server_conf *server, const struct weft_topology *topology,
                             uint32_t host) {
    bool machine = server->gpus > 1 && topology->machine_of && topology->machine_of[host] != WEFT_NONE;
    uint32_t nics = machine ? topology->machine_nic[host].nics : 0;
    if (!machine || topology->machine_nic[host].machine_gpus || nics >= nics_of(server)) return 0;
    return nics_of(server) - nics;
}

// --- the GPUs of a job --------------------------------------------------------------------------------------------

#define BAD(...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

/// Servers must match the topology's machines: `chosen` is how many of the machine's NICs are. Fewer than a server has
/// are no mistake here, but such a machine is not a whole server.
static enum weft_status check_machine(const struct weft_server_conf *server, const struct weft_topology *t,
                                      uint32_t host, uint32_t chosen, struct weft_place place,
                                      struct weft_error *ret_error) {
    const struct weft_machine_nic *nic = &t->machine_nic[host];
    const char *name = t->machine[t->machine_of[host]].name,
               *network = t->network[weft_topology_network_of(t, host)].name;
    bool shared = nic->machine_gpus > nic->nics;
    if (shared && (server->gpus != nic->machine_gpus || server->nics))
        return BAD("server: %s has %" PRIu32 " GPUs, which share %" PRIu32 " NICs; expected gpus: %" PRIu32
                   ", and no nics of the job's own",
                   name, nic->machine_gpus, nic->nics, nic->machine_gpus);
    bool differ = nic->machine_gpus ? nic->machine_gpus != server->gpus : chosen > nics_of(server);
    if (server->gpus > 1 && !shared && (differ || server->cabling == WEFT_CABLING_RAIL))
        return BAD("server: %s has %" PRIu32 " NICs%s%s; expected %s: %" PRIu32 ", and no cabling of the job's own",
                   name, nic->nics, *network ? " in " : "", network, server->nics ? "nics" : "gpus", nic->nics);
    return WEFT_OK;
}

/// Hosts must be in one network; servers must match the topology's machines or, without machines, be whole ones of it.
static enum weft_status check_servers(const struct weft__job_common *common, struct weft_place place,
                                      const struct weft_topology *t, const uint32_t *host, uint32_t n,
                                      struct weft_arena *arena, struct weft_error *ret_error) {
    const struct weft_network_info *network = &t->network[weft_topology_network_of(t, host[0])];
    const struct weft_server_conf *server = &common->server;
    if (server->gpus % nics_of(server))
        return BAD("server: %" PRIu64 " GPUs cannot share %" PRIu64 " NICs equally; expected a divisor of gpus",
                   server->gpus, server->nics);
    if (server->within == WEFT_WITHIN_NETWORK && nics_of(server) != server->gpus)
        return BAD("server.within: network, and %" PRIu64 " GPUs share %" PRIu64
                   " NICs; expected a host of its own for each GPU",
                   server->gpus, server->nics);
    uint32_t *chosen = weft_arena_alloc(arena, t->machines, sizeof *chosen);
    for (uint32_t i = 0; i < n && t->machine_of; i++)
        if (t->machine_of[host[i]] != WEFT_NONE) chosen[t->machine_of[host[i]]]++;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t machine = t->machine_of ? t->machine_of[host[i]] : WEFT_NONE;
        if (host[i] - network->host0 >= network->hosts)
            return BAD("hosts '%s' are of different networks (%s and %s); a job expects hosts of one", common->hosts,
                       network->name, t->network[weft_topology_network_of(t, host[i])].name);
        if (machine != WEFT_NONE) WEFT_TRY(check_machine(server, t, host[i], chosen[machine], place, ret_error));
        uint32_t rest = network->hosts % nics_of(server); // of a fabric with spare host ports, no whole server
        bool whole = server->cabling == WEFT_CABLING_RACK && host[i] - network->host0 < network->hosts - rest;
        if (machine == WEFT_NONE && rest && !whole)
            return BAD("server.%s: %" PRIu32 " hosts are not servers of %" PRIu32 "; expected a divisor",
                       server->nics ? "nics" : "gpus", network->hosts, nics_of(server));
    }
    return WEFT_OK;
}

struct ordered {
    uint32_t server, gpu, host;
};

WEFT__ORDER(by_server, struct ordered, WEFT__UP(server) ?: WEFT__UP(gpu))

/// A rank for each GPU of these hosts.
static void take_gpus(struct weft_job *job, const struct weft_topology *topology, const uint32_t *host, uint32_t n,
                      bool by_servers, struct weft_arena *arena) {
    job->ranks = 0;
    for (uint32_t i = 0; i < n; i++)
        job->ranks += weft_server_of(&job->server, topology, host[i]).gpus;
    struct ordered *list = weft_arena_alloc(arena, job->ranks, sizeof *list), *at = list;
    for (uint32_t i = 0; i < n; i++) {
        struct weft_host_gpus gpus = weft_server_of(&job->server, topology, host[i]);
        for (uint32_t k = 0; k < gpus.gpus; k++)
            *at++ = (struct ordered){gpus.server, weft_host_gpu(&gpus, k), host[i]};
    }
    if (by_servers) qsort(list, job->ranks, sizeof *list, by_server);
    job->host = weft_arena_alloc(arena, job->ranks, sizeof *job->host);
    job->gpu = weft_arena_alloc(arena, job->ranks, sizeof *job->gpu);
    for (uint32_t r = 0; r < job->ranks; r++) {
        job->host[r] = list[r].host;
        job->gpu[r] = list[r].gpu;
    }
}

enum weft_status weft__job_choose_gpus(const struct weft__job_common *common, struct weft_place place,
                                       const struct weft_topology *topology, struct weft_job *job,
                                       struct weft_arena *arena, struct weft_error *ret_error) {
    uint32_t *host, n;
    WEFT_TRY(weft_topology_select_hosts(topology, common->hosts, place, &host, &n, ret_error));
    WEFT_TRY(check_servers(common, place, topology, host, n, arena, ret_error));
    take_gpus(job, topology, host, n, common->order == WEFT__ORDER_SERVER, arena);
    return WEFT_OK;
}
