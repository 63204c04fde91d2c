// SPDX-License-Identifier: Apache-2.0
// <system> <cpu> <pci busid class link_speed link_width> ... <gpu dev sm rank> <nvlink target count/>, <nic> <net name
// dev speed/>; AMD's RCCL has <gpu gcn> <xgmi target count/>. Files for NCCL_TOPO_FILE may have the PCI devices alone:
// their class says which are GPUs (3D controllers and accelerators) and NICs. Other elements and attributes are
// ignored. Source: NVIDIA/nccl, src/graph/xml.cc, topo.cc, topo.h; ROCm/rccl, src/graph/topo.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/units.h"
#include "import/nccl/nccl_server.h"

enum { GPUS_MAX = WEFT__NCCL_GPUS_MAX, NICS_MAX = 1024, MBPS_MAX = 10000000, DEPTH_MAX = WEFT__XML_DEPTH };

#define FAIL(e, ...) WEFT_REFUSE(ret_error, (e)->place, __VA_ARGS__)

/// 1 is NCCL's, 2 that of AMD's RCCL; both refuse any other (xml.h).
enum weft_status weft__nccl_check_version(const struct weft__xml_element *e, struct weft_error *ret_error) {
    int64_t version;
    return weft__xml_number_or(e, "version", 1, 2, 1, &version, ret_error);
}

struct server_reader {
    struct weft__nccl_server *server;
    struct weft_arena *arena;
    uint32_t path[DEPTH_MAX + 1]; ///< numbers of the elements that are open
    struct pci {
        double gbps;
        const char *busid, *class;
        uint32_t gpus, nics; ///< in the file before it
    } pci[DEPTH_MAX + 1];    ///< [depth]: around the elements there
    uint32_t elements;
    struct weft__nccl_gpu *gpu; ///< the last one, to which its NVLinks belong
    struct devices {
        uint32_t n;
        struct device {
            const char *busid;
            uint32_t path[DEPTH_MAX + 1], depth;
        } * device;
    } gpus, nics; ///< PCI devices without <gpu> or <net>
    struct gpu_link {
        uint32_t gpu;
        const char *target;
    } * link;
    uint32_t links;
};

/// "32.0 GT/s PCIe" with this many lanes, each direction: from 8 GT/s on 128 of 130 bits are data, below that 8 of 10.
static double pci_gbps(const struct weft__xml_element *e) {
    const char *speed = weft__xml_find(e, "link_speed"), *width = weft__xml_find(e, "link_width");
    char number[16] = "";
    double gigatransfers, lanes;
    if (!speed || !width) return 0;
    size_t n = strspn(speed, "0123456789.");
    if (n >= sizeof number) return 0;
    memcpy(number, speed, n);
    if (!weft__real_parse(number, &gigatransfers) || !weft__real_parse(width, &lanes)) return 0;
    if (gigatransfers <= 0 || gigatransfers > 1000 || lanes <= 0 || lanes > 64) return 0;
    return gigatransfers * lanes * (gigatransfers < 8 ? 0.8 : 128. / 130);
}

/// The rate of an XGMI link in GB/s, each direction, with which RCCL reckons: by the chip, "gfx942" or "942"; 910 was
/// gfx90a.
static double xgmi_rate(const char *gcn) {
    static const struct {
        const char *chip;
        double gigabytes;
    } rate[] = {{"94", 48}, {"95", 48}, {"90a", 36}, {"910", 36}, {"", 24}};
    uint32_t k = 0;
    if (!strncmp(gcn, "gfx", 3)) gcn += 3;
    while (strncmp(gcn, rate[k].chip, strlen(rate[k].chip)))
        k++;
    return rate[k].gigabytes;
}

static enum weft_status read_gpu(struct server_reader *r, const struct weft__xml_element *e,
                                 struct weft_error *ret_error) {
    struct weft__nccl_server *s = r->server;
    if (s->gpus == GPUS_MAX) return FAIL(e, "expected at most %d GPUs in a server", GPUS_MAX);
    struct weft__nccl_gpu *g = &s->gpu[s->gpus];
    const char *gcn = weft__xml_find(e, "gcn");
    int64_t sm;
    *g = (struct weft__nccl_gpu){.pci_gbps = r->pci[e->depth].gbps, .busid = r->pci[e->depth].busid, .depth = e->depth};
    WEFT_TRY(weft__xml_number(e, "dev", 0, INT32_MAX, &g->dev, ret_error));
    WEFT_TRY(weft__xml_number_or(e, "rank", -1, INT32_MAX, -1, &g->rank, ret_error));
    WEFT_TRY(weft__xml_number_or(e, "sm", 0, 100000, 0, &sm, ret_error));
    for (uint32_t k = 0; k < s->gpus; k++)
        if (s->gpu[k].dev == g->dev || (g->rank >= 0 && s->gpu[k].rank == g->rank))
            return FAIL(e, "another GPU of the file has this dev or rank; expected one of its own");
    g->sm = (uint32_t)sm;
    if (gcn) {
        g->chip = weft_arena_text(r->arena, gcn);
        g->xgmi_gigabytes = xgmi_rate(gcn);
    }
    memcpy(g->path, r->path, sizeof *r->path * e->depth);
    r->gpu = g;
    s->gpus++;
    return WEFT_OK;
}

/// <nvlink> or <xgmi>: `count` links to a switch or a GPU.
static enum weft_status read_link(struct server_reader *r, const struct weft__xml_element *e,
                                  struct weft_error *ret_error) {
    int64_t count;
    const char *target = weft__xml_find(e, "target");
    WEFT_TRY(weft__xml_number(e, "count", 1, 1000, &count, ret_error));
    if (!r->gpu) return WEFT_OK;
    r->gpu->nvlinks += (uint32_t)count;
    if (!target) return WEFT_OK;
    WEFT__ADD(r->arena, r->link, r->links) =
        (struct gpu_link){(uint32_t)(r->gpu - r->server->gpu), weft_arena_text(r->arena, target)};
    return WEFT_OK;
}

static enum weft_status add_nic(struct server_reader *r, int64_t dev, const char *name, double mbps,
                                const uint32_t *path, uint32_t depth, struct weft_place place,
                                struct weft_error *ret_error) {
    struct weft__nccl_server *s = r->server;
    if (s->nics == NICS_MAX) return WEFT_REFUSE(ret_error, place, "expected at most %d NICs in a server", NICS_MAX);
    struct weft__nccl_nic *n = &s->nic[s->nics++];
    *n = (struct weft__nccl_nic){.dev = dev, .name = name, .mbps = mbps, .host = WEFT_NONE, .depth = depth};
    memcpy(n->path, path, sizeof *path * depth);
    return WEFT_OK;
}

/// As in NCCL, a speed of 0 or less is none; neither is one that no NIC has.
static enum weft_status read_net(struct server_reader *r, const struct weft__xml_element *e,
                                 struct weft_error *ret_error) {
    int64_t dev, mbps;
    const char *name = weft__xml_find(e, "name");
    WEFT_TRY(weft__xml_number(e, "dev", 0, INT64_MAX, &dev, ret_error));
    WEFT_TRY(weft__xml_number_or(e, "speed", INT64_MIN, INT64_MAX, 0, &mbps, ret_error));
    r->server->unbelievable += mbps > MBPS_MAX;
    if (mbps > MBPS_MAX) r->server->unbelievable_mbps = mbps;
    if (mbps < 0 || mbps > MBPS_MAX) mbps = 0;
    return add_nic(r, dev, weft_arena_text(r->arena, name ? name : ""), (double)mbps, r->path, e->depth, e->place,
                   ret_error);
}

static const char *copy_text(struct server_reader *r, const char *text) {
    return weft_arena_text(r->arena, text ? text : "");
}

static enum weft_status server_begin(void *context, const struct weft__xml_element *e, struct weft_error *ret_error) {
    struct server_reader *r = context;
    if (!e->depth && strcmp(e->name, "system")) return FAIL(e, "expected <system> here");
    if (!e->depth) return weft__nccl_check_version(e, ret_error);
    r->path[e->depth] = ++r->elements;
    r->pci[e->depth + 1] = r->pci[e->depth];
    r->pci[e->depth + 1].class = "";
    if (!strcmp(e->name, "pci"))
        r->pci[e->depth + 1] = (struct pci){.gbps = pci_gbps(e),
                                            .busid = copy_text(r, weft__xml_find(e, "busid")),
                                            .class = copy_text(r, weft__xml_find(e, "class")),
                                            .gpus = r->server->gpus,
                                            .nics = r->server->nics};
    if (!strcmp(e->name, "gpu")) return read_gpu(r, e, ret_error);
    if (!strcmp(e->name, "nvlink") || !strcmp(e->name, "xgmi")) return read_link(r, e, ret_error);
    if (!strcmp(e->name, "net")) return read_net(r, e, ret_error);
    return WEFT_OK;
}

static void add_device(struct server_reader *r, struct devices *list, uint32_t depth, const char *busid) {
    struct device *own = &WEFT__ADD(r->arena, list->device, list->n);
    *own = (struct device){.busid = busid, .depth = depth + 1};
    memcpy(own->path, r->path, sizeof *r->path * own->depth);
}

/// A PCI device in which there was no <gpu> and no <net>: a 3D controller or accelerator, or a network controller.
static enum weft_status server_end(void *context, const struct weft__xml_element *e, struct weft_error *ret_error) {
    struct server_reader *r = context;
    const struct pci *pci = &r->pci[e->depth + 1];
    if (!e->depth || !*pci->class || pci->gpus != r->server->gpus || pci->nics != r->server->nics) return WEFT_OK;
    bool gpu =
        !strncmp(pci->class, "0x0302", 6) || !strncmp(pci->class, "0x12", 4) || !strncmp(pci->class, "0x0380", 6);
    bool nic = !strncmp(pci->class, "0x0200", 6) || !strncmp(pci->class, "0x0207", 6);
    if (gpu || nic) add_device(r, gpu ? &r->gpus : &r->nics, e->depth, pci->busid);
    return WEFT_OK;
}

WEFT__ORDER(by_busid, struct device, WEFT__TEXT(busid))

/// What a file of PCI devices alone leaves to be found when NCCL starts: GPUs are numbered by bus, as CUDA and NVML do.
static enum weft_status add_static(struct server_reader *r, struct weft_place place, struct weft_error *ret_error) {
    struct weft__nccl_server *s = r->server;
    if (s->gpus || !r->gpus.n) return WEFT_OK;
    if (r->gpus.n > GPUS_MAX) return WEFT_REFUSE(ret_error, place, "expected at most %d GPUs in a server", GPUS_MAX);
    s->is_static = true;
    qsort(r->gpus.device, r->gpus.n, sizeof *r->gpus.device, by_busid);
    for (uint32_t k = 0; k < r->gpus.n; k++) {
        const struct device *d = &r->gpus.device[k];
        struct weft__nccl_gpu *g = &s->gpu[s->gpus++];
        *g = (struct weft__nccl_gpu){.dev = k, .rank = -1, .busid = d->busid, .depth = d->depth};
        memcpy(g->path, d->path, sizeof *d->path * d->depth);
    }
    bool nets = s->nics > 0;
    if (r->nics.n) qsort(r->nics.device, r->nics.n, sizeof *r->nics.device, by_busid);
    for (uint32_t k = 0; k < r->nics.n && !nets; k++)
        WEFT_TRY(add_nic(r, k, r->nics.device[k].busid, 0, r->nics.device[k].path, r->nics.device[k].depth, place,
                         ret_error));
    return WEFT_OK;
}

/// Pairs of GPUs without a link, where links go from GPU to GPU.
static void count_unlinked(const struct server_reader *r) {
    struct weft__nccl_server *s = r->server;
    bool *linked = weft_arena_alloc(r->arena, (size_t)s->gpus * s->gpus, sizeof *linked), some = false;
    for (uint32_t i = 0; i < r->links; i++)
        for (uint32_t g = 0; g < s->gpus; g++)
            if (s->gpu[g].busid && !strcmp(s->gpu[g].busid, r->link[i].target)) {
                linked[r->link[i].gpu * s->gpus + g] = linked[g * s->gpus + r->link[i].gpu] = true;
                some = true;
            }
    s->meshed = some;
    for (uint32_t a = 0; a < s->gpus && some; a++)
        for (uint32_t b = a + 1; b < s->gpus; b++)
            s->unlinked += !linked[a * s->gpus + b];
}

WEFT__ORDER(by_rank, struct weft__nccl_gpu, WEFT__UP(rank) ?: WEFT__UP(dev))

enum weft_status weft__nccl_server_read(const char *path, struct weft_place place, struct weft_arena *arena,
                                        struct weft__nccl_server *ret_server, struct weft_error *ret_error) {
    static const struct weft__xml_handler handler = {.begin = server_begin, .end = server_end};
    struct server_reader *r = weft_arena_alloc(arena, 1, sizeof *r);
    struct weft_place whole = {.file = path, .line = 1, .column = 1};
    *r = (struct server_reader){.arena = arena, .server = ret_server};
    *ret_server = (struct weft__nccl_server){.gpu = weft_arena_alloc(arena, GPUS_MAX, sizeof *ret_server->gpu),
                                             .nic = weft_arena_alloc(arena, NICS_MAX, sizeof *ret_server->nic)};
    WEFT_TRY(weft__xml_read(path, place, &handler, r, ret_error));
    WEFT_TRY(add_static(r, whole, ret_error));
    if (!ret_server->gpus)
        return WEFT_REFUSE(ret_error, whole,
                           "no <gpu> is in it, and no <pci> with the class of a GPU (0x0302.., 0x12..); expected "
                           "some");
    count_unlinked(r);
    qsort(ret_server->gpu, ret_server->gpus, sizeof *ret_server->gpu, by_rank);
    weft__nccl_share_nics(ret_server, arena);
    return WEFT_OK;
}

double weft__nccl_gpu_gbps(const struct weft__nccl_gpu *gpu) {
    static const struct {
        uint32_t sm;
        double gigabytes; ///< per second and NVLink, each direction: the values that NCCL uses
    } nvlink[] = {{100, 40.1}, {90, 20.6}, {86, 12}, {80, 20}, {70, 20}, {60, 18}};
    if (gpu->nvlinks && gpu->chip) return 8 * gpu->xgmi_gigabytes * gpu->nvlinks;
    for (uint32_t k = 0; gpu->nvlinks && k < sizeof nvlink / sizeof *nvlink; k++)
        if (gpu->sm >= nvlink[k].sm) return 8 * nvlink[k].gigabytes * gpu->nvlinks;
    return gpu->pci_gbps;
}

uint32_t weft__nccl_gpu_find(const struct weft__nccl_server *server, int64_t dev) {
    for (uint32_t k = 0; k < server->gpus; k++)
        if (server->gpu[k].dev == dev) return k;
    return WEFT_NONE;
}
