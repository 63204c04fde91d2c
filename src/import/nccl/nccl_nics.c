// SPDX-License-Identifier: Apache-2.0
// Which GPUs of a server use which NICs.

#include "import/nccl/nccl_server.h"

/// Keeps the NICs that carry the job's traffic: a slow one is for management.
static void drop_slow(struct weft__nccl_server *s) {
    double most = 0;
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->nics; k++)
        if (s->nic[k].mbps > most) most = s->nic[k].mbps;
    for (uint32_t k = 0; k < s->nics; k++)
        if (!(s->nic[k].mbps > 0) || 2 * s->nic[k].mbps >= most) s->nic[n++] = s->nic[k];
    s->slow = s->nics - n;
    s->nics = n;
}

/// The number of elements that contain both: the more, the nearer.
static uint32_t common_depth(const struct weft__nccl_gpu *g, const struct weft__nccl_nic *n) {
    uint32_t k = 0;
    while (k < g->depth && k < n->depth && g->path[k] == n->path[k])
        k++;
    return k;
}

static void find_near(struct weft__nccl_server *s, struct weft_arena *arena) {
    s->near = weft_arena_alloc(arena, (size_t)s->gpus * s->nics, sizeof *s->near);
    for (uint32_t g = 0; g < s->gpus; g++) {
        uint32_t most = 0;
        for (uint32_t k = 0; k < s->nics; k++)
            if (common_depth(&s->gpu[g], &s->nic[k]) > most) most = common_depth(&s->gpu[g], &s->nic[k]);
        for (uint32_t k = 0; k < s->nics; k++)
            s->near[(size_t)g * s->nics + k] = common_depth(&s->gpu[g], &s->nic[k]) == most;
    }
}

static bool is_near(const struct weft__nccl_server *s, uint32_t gpu, uint32_t nic) {
    return s->near[(size_t)gpu * s->nics + nic];
}

/// How the nearest NICs of a GPU relate to those of another: NICs nest like the elements of the file.
static bool near_the_same(const struct weft__nccl_server *s, uint32_t gpu, uint32_t other) {
    for (uint32_t k = 0; k < s->nics; k++)
        if (is_near(s, gpu, k) != is_near(s, other, k)) return false;
    return true;
}

/// Another GPU is nearer to some of its nearest NICs than to others.
static bool has_nearer(const struct weft__nccl_server *s, uint32_t gpu) {
    for (uint32_t other = 0; other < s->gpus; other++) {
        bool some = false, more = false;
        for (uint32_t k = 0; k < s->nics; k++) {
            bool own = is_near(s, gpu, k), of_other = is_near(s, other, k);
            some |= own && of_other;
            more |= own && !of_other;
        }
        if (some && more) return true;
    }
    return false;
}

/// The NICs of a GPU: its equal part of those nearest to it, at least one, and exactly one where others are nearer.
static void take_nics(struct weft__nccl_server *s, uint32_t gpu, bool one) {
    uint32_t *nic = weft_memory_new(WEFT_MEMORY_SCENARIO, s->nics, sizeof *nic), n = 0, before = 0, all = 0;
    for (uint32_t k = 0; k < s->nics; k++)
        if (is_near(s, gpu, k)) nic[n++] = k;
    for (uint32_t other = 0; other < s->gpus; other++) {
        bool same = near_the_same(s, gpu, other);
        before += same && other < gpu;
        all += same;
    }
    uint32_t first = one ? before % n : before * n / all, end = one ? first + 1 : (before + 1) * n / all;
    if (end == first) end++;
    uint32_t host = s->nic[nic[first]].host;
    if (host == WEFT_NONE) host = s->hosts++;
    for (uint32_t k = first; k < end; k++) {
        if (s->nic[nic[k]].host != WEFT_NONE) continue;
        s->nic[nic[k]].host = host;
        s->host[host].mbps += s->nic[nic[k]].mbps;
        s->host[host].unrated += !(s->nic[nic[k]].mbps > 0);
        s->host[host].nics++;
    }
    s->gpu[gpu].host = host;
    weft_memory_free(WEFT_MEMORY_SCENARIO, nic, s->nics * sizeof *nic);
}

/// Numbers hosts by their first GPU, and lists their GPUs.
static void order_hosts(struct weft__nccl_server *s, struct weft_arena *arena) {
    struct weft__nccl_host *old = s->host;
    uint32_t *number = weft_arena_alloc(arena, s->hosts, sizeof *number), n = 0; // + 1
    s->host = weft_arena_alloc(arena, s->hosts, sizeof *s->host);
    for (uint32_t g = 0; g < s->gpus; g++) {
        uint32_t *own = &number[s->gpu[g].host];
        if (!*own) {
            s->host[n] = old[s->gpu[g].host];
            s->host[n].gpu = weft_arena_alloc(arena, s->gpus, sizeof *s->host->gpu);
            *own = ++n;
        }
        struct weft__nccl_host *host = &s->host[*own - 1];
        s->gpu[g].host = *own - 1;
        host->gpu[host->gpus++] = g;
    }
    for (uint32_t k = 0; k < s->nics; k++)
        if (s->nic[k].host != WEFT_NONE) s->nic[k].host = number[s->nic[k].host] - 1;
}

/// As in NCCL (topo.cc, ncclTopoGetLocalNet), GPUs that have the same nearest NICs use these in turn.
void weft__nccl_share_nics(struct weft__nccl_server *s, struct weft_arena *arena) {
    drop_slow(s);
    find_near(s, arena);
    s->host = weft_arena_alloc(arena, s->gpus, sizeof *s->host);
    for (uint32_t one = 0; one < 2 && s->nics; one++)
        for (uint32_t g = 0; g < s->gpus; g++)
            if (has_nearer(s, g) == one) take_nics(s, g, one);
    for (uint32_t g = 0; g < s->gpus && !s->nics; g++) {
        s->host[s->hosts].unrated = 1;
        s->gpu[g].host = s->hosts++;
    }
    order_hosts(s, arena);
}

uint32_t weft__nccl_nic_host(const struct weft__nccl_server *s, int64_t dev) {
    uint32_t nic = 0;
    while (nic < s->nics && s->nic[nic].dev != dev)
        nic++;
    if (nic == s->nics) return WEFT_NONE;
    for (uint32_t k = 0; k < s->gpus && s->nic[nic].host == WEFT_NONE; k++)
        if (is_near(s, k, nic)) return s->gpu[k].host;
    return s->nic[nic].host;
}
