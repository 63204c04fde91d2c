// SPDX-License-Identifier: Apache-2.0
// Suspected causes (weft/causes.h): each asks the scenario whether it can be there, and says how to remove it.
// Names of settings: NCCL's and NVSHMEM's documentation of environment variables, NVIDIA's of MLNX_EN. What the
// configuration alone rules out is no suspect: a headroom that holds what its cable needs, a class that is lossless.
#include "weft/causes.h"

#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "base/units.h"
#include "weft/buffer.h"
#include "weft/job.h"
#include "weft/plan.h"
#include "weft/scenario.h"
#include "weft/summary.h"

/// Queue pairs of a connection beyond one that are tried (assumed; E-ECMP of Meta, SIGCOMM 2024, has 16 in all).
enum { QUEUE_PAIRS = 4, SHIFTS = 8 };

struct search {
    const struct weft_scenario *s;
    const struct weft_topology *t;
    const struct weft_workload *w;
    const struct weft_tree *tree;
    const struct weft_job *job;
    uint32_t entry; ///< of the job, in the workload
    const struct weft_causes_conf *conf;
    struct weft_arena *arena;
    struct weft_cause *cause;
    uint32_t n;
};
#define TEXT(...) weft_arena_format(x->arena, __VA_ARGS__)

static void add_cause(struct search *x, struct weft_cause cause) {
    const char **text[] = {&cause.at_switch, &cause.at_nic, &cause.in_nccl};
    for (uint32_t i = 0; i < sizeof text / sizeof *text; i++)
        if (!*text[i]) *text[i] = "";
    WEFT__ADD(x->arena, x->cause, x->n) = cause;
}

/// A connection of the job that uses the network; NULL: none does.
static const struct weft_flow *flow_of(const struct search *x) {
    for (uint32_t c = 0; c < x->job->connections; c++)
        if (x->job->connection[c].flow != WEFT_NONE) return &x->w->flow[x->job->connection[c].flow];
    return NULL;
}

// --- the fabric ---------------------------------------------------------------------------------------------------

/// Whether switches choose among paths by a hash.
/// Nodes of a Clique and of a scheduled fabric do not choose paths by switch.route.
static bool is_of_ethernet(const struct search *x, const char *layer) {
    for (uint32_t n = 0; n < x->t->nodes; n++)
        if (x->t->node[n].box == WEFT_BOX_ETHERNET_SWITCH && !strcmp(x->t->node[n].layer, layer)) return true;
    return false;
}

static void find_hash(struct search *x) {
    static const char *const hashes[] = {"ecmp", "e_ecmp", "ecmp_murmur3", "flowlet", "te"};
    const char *name = x->s->device->sw.route.model->name;
    struct weft_layer_summary *layer;
    bool hashed = false, up = false;
    uint32_t layers = weft_topology_layers(x->t, x->arena, &layer);
    for (uint32_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
        hashed |= !strcmp(name, hashes[i]);
    for (uint32_t i = 0; i < layers; i++)
        up |= is_of_ethernet(x, layer[i].name) && layer[i].up_bps > 0;
    if (!hashed || !up) return;
    bool roce = !strcmp(x->s->device->host.transport.model->name, "roce_rc");
    add_cause(x, (struct weft_cause){
                     .name = "hash_collisions",
                     .detail = TEXT("switch.route: %s", name),
                     .patch = TEXT("switch.route: spray\n%s", roce ? "host.transport.out_of_order: accept\n" : ""),
                     .at_switch = "adaptive routing or packet spraying for the class of the job; or pinned paths",
                     .at_nic = "place packets in any order (ConnectX: register ROCE_ACCL, adaptive_routing_forced_en)",
                     .in_nccl = "NCCL_IB_ADAPTIVE_ROUTING=1; else more entropy: NCCL_IB_QPS_PER_CONNECTION with a hash "
                                "of the queue pair",
                 });
}

/// The ratio by which a layer's links up are too few; at most 1: they are not.
static double ratio_of(const struct weft_layer_summary *layer, uint32_t layers, const struct weft_node_info *node) {
    for (uint32_t i = 0; i < layers; i++)
        if (layer[i].tier == node->tier && !strcmp(layer[i].name, node->layer))
            return layer[i].up_bps ? (double)layer[i].down_bps / (double)layer[i].up_bps : 1;
    return 1;
}

/// Adds the links of an oversubscribed layer to those above it, at a higher rate.
static bool add_links(struct search *x, const struct weft_layer_summary *layer, uint32_t layers, const char **list,
                      const char **detail) {
    bool any = false;
    const char *seen = "";
    for (uint32_t l = 0; l < x->t->links; l++) {
        const struct weft_link_info *link = &x->t->link[l];
        const struct weft_node_info *a = &x->t->node[x->t->port[link->port[0]].node];
        const struct weft_node_info *b = &x->t->node[x->t->port[link->port[1]].node];
        const struct weft_node_info *low = a->tier < b->tier ? a : b, *high = low == a ? b : a;
        if (low->role == WEFT_NODE_HOST || low->tier == high->tier) continue;
        double ratio = ratio_of(layer, layers, low);
        const char *pair =
            TEXT("{link: \"%s-*--%s-*\", rate: %.0fbps}", low->layer, high->layer, (double)link->rate_bps * ratio);
        if (ratio < 1.000001 || strstr(seen, pair)) continue;
        seen = TEXT("%s%s", seen, pair);
        *list = TEXT("%s%s%s", *list, **list ? ", " : "", pair);
        *detail = TEXT("%s%s%s to %s %.3g:1", *detail, any ? ", " : "", low->layer, high->layer, ratio);
        any = true;
    }
    return any;
}

static const char *list_without(const struct search *x, const struct weft_tree *list, uint32_t left_out) {
    const char *text = "";
    for (uint32_t i = 0; list && list->type == WEFT_TREE_LIST && i < list->n; i++)
        if (i != left_out) text = TEXT("%s%s%s", text, *text ? ", " : "", weft_tree_text(list->child[i], x->arena));
    return text;
}

/// The list of the scenario without what makes single links slow: that is another cause.
static const char *list_overrides(const struct search *x) {
    const struct weft_tree *list = weft_tree_find(weft_tree_find(x->tree, "topology"), "override");
    return list_without(x, list, WEFT_NONE);
}

static void find_oversubscription(struct search *x) {
    struct weft_layer_summary *layer;
    uint32_t layers = weft_topology_layers(x->t, x->arena, &layer);
    const char *list = list_overrides(x), *detail = "", *patch;
    if (!add_links(x, layer, layers, &list, &detail)) return;
    patch = x->s->fabric.model ? "fabric.oversubscription: 1\n" : TEXT("topology.override: [%s]\n", list);
    add_cause(x, (struct weft_cause){.name = "oversubscription",
                                     .detail = detail,
                                     .patch = patch,
                                     .at_switch = "more uplinks or spines; until then, ranks of a group under one leaf "
                                                  "(weft place)",
                                     .in_nccl = "order of ranks: NCCL follows the order of the launcher's host list"});
}

// --- switches -----------------------------------------------------------------------------------------------------

static uint8_t lossless_of(const struct search *x) {
    return x->s->device->sw.pfc.priorities;
}

static void find_class(struct search *x) {
    const struct weft_flow *flow = flow_of(x);
    uint8_t lossless = lossless_of(x);
    if (!flow || !lossless || lossless >> flow->priority & 1) return;
    uint32_t right = 0;
    while (!(lossless >> right & 1))
        right++;
    uint64_t dscp = x->s->device->host.dscp[right];
    add_cause(x, (struct weft_cause){
                     .name = "traffic_class",
                     .detail = TEXT("priority %u, which no switch keeps lossless", flow->priority),
                     .patch = TEXT("workload.%" PRIu32 ".priority: %" PRIu32 "\nworkload.%" PRIu32
                                   ".cts_priority: %" PRIu32 "\n",
                                   x->entry, right, x->entry, right),
                     .at_switch =
                         TEXT("map DSCP %" PRIu64 " to priority %" PRIu32 ", and PFC for it on all ports", dscp, right),
                     .at_nic = TEXT("trust DSCP, PFC for priority %" PRIu32 " (mlnx_qos --trust dscp --pfc)", right),
                     .in_nccl = TEXT("NCCL_IB_TC=%" PRIu64 " (NVSHMEM_IB_TRAFFIC_CLASS for DeepEP)", dscp << 2),
                 });
}

/// The buffer with so much more headroom above XOFF; NULL: a model without one.
static const char *patch_headroom(const struct search *x, weft_bytes need) {
    const struct weft_model_conf *buffer = &x->s->device->sw.buffer;
    struct weft_buffer_plan plan;
    ((const struct weft_buffer_ops *)buffer->model->ops)->plan(buffer->conf, 1, lossless_of(x), &plan);
    if (!strcmp(buffer->model->name, "dynamic")) return TEXT("switch.buffer.headroom: %" PRIu64 "B\n", need);
    weft_bytes size = plan.xoff_bytes + plan.headroom_bytes, least = size / 4;
    weft_bytes xoff = size > need + least ? size - need : least;
    const char *text =
        TEXT("switch.buffer.size: %" PRIu64 "B\nswitch.buffer.xoff: %" PRIu64 "B\nswitch.buffer.xon: %" PRIu64 "B\n",
             xoff + need > size ? xoff + need : size, xoff, xoff - xoff / 16);
    bool own = !strcmp(buffer->model->name, "pool") || !strcmp(buffer->model->name, "egress");
    return own ? TEXT("%sswitch.buffer.headroom: 0B\n", text) : text;
}

static void find_headroom(struct search *x) {
    struct weft_plan_pfc_conf base = {.formula = WEFT_PLAN_BOUND};
    uint32_t n;
    struct weft_plan_line *line = weft_plan_scenario_lines(x->s, x->t, &base, x->arena, &n);
    const struct weft_plan_line *worst = weft_plan_worst_line(line, n);
    if (!worst) return;
    weft_bytes need = weft_plan_calc_pfc(&worst->pfc).headroom_bytes;
    if (need <= worst->headroom_bytes) return;
    add_cause(x, (struct weft_cause){
                     .name = "headroom",
                     .detail = TEXT("%s above XOFF, %s need %s", weft__bytes_text(worst->headroom_bytes).text,
                                    worst->between, weft__bytes_text(need).text),
                     .patch = patch_headroom(x, need),
                     .at_switch = TEXT("headroom of %s a port and lossless priority (weft plan pfc; SONiC: the cable "
                                       "length of the port)",
                                       weft__bytes_text(need).text),
                 });
}

// --- hosts --------------------------------------------------------------------------------------------------------

static void find_congestion_control(struct search *x) {
    const char *name = x->s->device->host.cc.model->name;
    if (!strcmp(name, "none") || strcmp(x->s->device->host.transport.model->name, "roce_rc")) return;
    bool dcqcn = !strncmp(name, "dcqcn", 5);
    add_cause(x, (struct weft_cause){
                     .name = "congestion_control",
                     .detail = TEXT("host.cc: %s", name),
                     .patch = "host.cc: none\n",
                     .at_switch = dcqcn ? "higher ECN thresholds (weft plan ecn), or no ECN for this class" : "",
                     .at_nic = dcqcn ? "DCQCN off (ecn/roce_rp/enable/PRIORITY = 0), or values of the link's rate "
                                       "(weft plan dcqcn)"
                                     : "its congestion control off",
                     .in_nccl = "channels and slots bound what is in flight",
                 });
}

/// More queue pairs for all jobs that have one: for one job alone they would be a larger share of links, at the cost of
/// the others.
static const char *patch_queue_pairs(const struct search *x, const char *scaling) {
    const char *text = "";
    for (uint32_t j = 0; j < x->w->jobs; j++) {
        uint32_t entry = (uint32_t)(x->w->job[j].entry - x->s->workload);
        if (x->w->job[j].qps == 1)
            text = TEXT("%sworkload.%" PRIu32 ".qps: %d\nworkload.%" PRIu32 ".qp_scaling: %s\n", text, entry,
                        QUEUE_PAIRS, entry, scaling);
    }
    return text;
}

/// Two ways to use more: messages in turn, for a limit on the messages of a queue pair; or each message over all.
static void find_queue_pairs(struct search *x) {
    static const struct { const char *scaling, *split; } ways[] = {{"round_robin", "0"}, {"split", "1"}};
    if (!flow_of(x) || x->job->qps > 1) return;
    for (uint32_t k = 0; k < 2; k++)
        add_cause(x, (struct weft_cause){
                         .name = "queue_pairs",
                         .choice = 2,
                         .detail = TEXT("one queue pair a connection; tried %d, %s", QUEUE_PAIRS, ways[k].scaling),
                         .patch = patch_queue_pairs(x, ways[k].scaling),
                         .at_nic = "a larger window or more outstanding requests of a queue pair",
                         .in_nccl = TEXT("NCCL_IB_QPS_PER_CONNECTION=%d NCCL_IB_SPLIT_DATA_ON_QPS=%s (DeepEP: IBGDA, "
                                         "a queue pair a channel)",
                                         QUEUE_PAIRS, ways[k].split)});
}

/// Which hosts the workload uses: 1: another part of it does, 2: the job.
static uint8_t *used_hosts(const struct search *x) {
    uint8_t *used = weft_arena_alloc(x->arena, x->t->hosts, 1);
    for (uint32_t f = 0; f < x->w->flows; f++)
        used[x->w->flow[f].src] = used[x->w->flow[f].dst] = 1;
    for (uint32_t r = 0; r < x->job->ranks; r++)
        used[x->job->host[r]] = 2;
    return used;
}

/// Servers whose GPUs share NICs, each at the beginning of a block of hosts of which no one uses the others: those are
/// taken to be the servers' other NICs. Returns the length of a block; 0: the hosts are not so.
static uint32_t block_of(const struct search *x, const uint8_t *used, uint32_t nics) {
    uint32_t first = 0, second;
    while (first < x->t->hosts && used[first] != 2)
        first++;
    for (second = first + nics; second < x->t->hosts && used[second] != 2;)
        second++;
    uint32_t block = second - first;
    if (second >= x->t->hosts || block <= nics || x->job->server.gpus % block) return 0;
    for (uint32_t h = first; h < x->t->hosts; h++) {
        uint32_t in = (h - first) % block;
        if (in >= nics && used[h]) return 0;
        if (in < nics && used[h] == 2 && used[h - in] != 2) return 0;
    }
    return block;
}

static void find_mapping(struct search *x) {
    uint64_t nics = x->job->server.nics ? x->job->server.nics : 1;
    if (x->t->machines || x->job->server.gpus <= nics || x->job->server.nics == 0) return;
    uint8_t *used = used_hosts(x);
    uint32_t block = block_of(x, used, (uint32_t)nics);
    if (!block) return;
    const char *hosts = "";
    for (uint32_t h = 0; h < x->t->hosts; h++)
        if (used[h] == 2 && (!h || used[h - 1] != 2))
            for (uint32_t k = 0; k < block && h + k < x->t->hosts; k++)
                hosts = TEXT("%s%s%s", hosts, *hosts ? "," : "", x->t->node[x->t->host[h + k]].name);
    add_cause(x,
              (struct weft_cause){
                  .name = "nic_mapping",
                  .detail = TEXT("%" PRIu64 " GPUs share %" PRIu64 " of the %" PRIu32 " NICs of a server",
                                 x->job->server.gpus, nics, block),
                  .patch = TEXT("workload.%" PRIu32 ".server.nics: %" PRIu32 "\nworkload.%" PRIu32 ".hosts: \"%s\"\n",
                                x->entry, block, x->entry, hosts),
                  .at_nic = "PCIe topology as the library sees it: nvidia-smi topo -m, NCCL_TOPO_DUMP_FILE",
                  .in_nccl = "NCCL_IB_HCA with all NICs, NCCL_CROSS_NIC; DeepEP: NVSHMEM_ENABLE_NIC_PE_MAPPING=1 "
                             "with NVSHMEM_HCA_PE_MAPPING",
              });
}

/// Equal networks of which the job uses only the first.
static void find_planes(struct search *x) {
    if (x->t->networks < 2 || x->s->device->host.planes != 0) return;
    const struct weft_network_info *own = &x->t->network[0];
    for (uint32_t n = 1; n < x->t->networks; n++)
        if (x->t->network[n].hosts != own->hosts) return;
    for (uint32_t f = 0; f < x->w->flows; f++)
        if (weft_topology_network_of(x->t, x->w->flow[f].src)) return;
    add_cause(x, (struct weft_cause){
                     .name = "planes",
                     .detail = TEXT("one of %" PRIu32 " planes carries the job", x->t->networks),
                     .patch = TEXT("host.planes: queue_pair\nworkload.%" PRIu32 ".qps: %" PRIu64 "\nworkload.%" PRIu32
                                   ".qp_scaling: split\n",
                                   x->entry, x->job->qps * x->t->networks, x->entry),
                     .at_nic = "one NIC of both ports: a bond, or a multi-plane mode of the NIC",
                     .in_nccl = TEXT("NCCL_IB_MERGE_NICS=1 with all ports in NCCL_IB_HCA, NCCL_IB_QPS_PER_CONNECTION "
                                     "of at least %" PRIu32,
                                     x->t->networks),
                 });
}

// --- stragglers ---------------------------------------------------------------------------------------------------

static void add_straggler(struct search *x, const char *detail, const char *patch, const char *who) {
    add_cause(
        x, (struct weft_cause){.name = "straggler",
                               .detail = detail,
                               .patch = patch,
                               .at_nic = TEXT("take %s out of the job and look at its PCIe, clocks and cables", who)});
}

/// Whether a pattern means less than half of the job's hosts, and at least one.
static bool is_minority(const struct search *x, const char *match) {
    uint32_t n = 0, hosts = 0;
    const uint8_t *used = used_hosts(x);
    for (uint32_t h = 0; h < x->t->hosts; h++) {
        if (used[h] != 2) continue;
        hosts++;
        n += weft_glob_match(match, x->t->node[x->t->host[h]].name);
    }
    return n && 2 * n < hosts;
}

/// "host-3/0", "host-3--leaf-0": the name before the port or the other end.
static bool is_link_of_few(const struct search *x, const char *link) {
    size_t n = strcspn(link, "/");
    const char *dash = strstr(link, "--");
    if (dash && (size_t)(dash - link) < n) n = (size_t)(dash - link);
    return is_minority(x, TEXT("%.*s", (int)n, link)) || (dash && is_minority(x, dash + 2));
}

static void find_stragglers(struct search *x) {
    const struct weft_job *job = x->job;
    if (job->slow_factor > 1)
        add_straggler(x, TEXT("rank %" PRIu32 " computes %g times as long", job->slow_rank, job->slow_factor),
                      TEXT("workload.%" PRIu32 ".slow_factor: 1\n", x->entry),
                      x->t->node[x->t->host[job->host[job->slow_rank]]].name);
    const struct weft_tree *list = weft_tree_find(x->tree, "devices");
    for (uint32_t i = 0; list && list->type == WEFT_TREE_LIST && i < list->n; i++) {
        const struct weft_tree *match = weft_tree_find(list->child[i], "match");
        if (!match || !match->text || !weft_tree_find(list->child[i], "host") || !is_minority(x, match->text)) continue;
        add_straggler(x, TEXT("devices: %s has settings of its own", match->text),
                      TEXT("devices: [%s]\n", list_without(x, list, i)), match->text);
    }
    list = weft_tree_find(weft_tree_find(x->tree, "topology"), "override");
    for (uint32_t i = 0; list && list->type == WEFT_TREE_LIST && i < list->n; i++) {
        const struct weft_tree *link = weft_tree_find(list->child[i], "link");
        if (!link || !link->text || !is_link_of_few(x, link->text)) continue;
        add_straggler(x, TEXT("topology.override: the link %s", link->text),
                      TEXT("topology.override: [%s]\n", list_without(x, list, i)), link->text);
    }
}

// --- neighbours ---------------------------------------------------------------------------------------------------

static void find_shifts(struct search *x) {
    if (x->w->jobs < 2 || !x->conf->alone_ps) return;
    for (uint32_t k = 1; k < SHIFTS; k++) {
        weft_time_ps shift = x->conf->alone_ps * k / SHIFTS;
        add_cause(x,
                  (struct weft_cause){
                      .name = "in_phase",
                      .choice = 1,
                      .detail = TEXT("it starts %s later", weft__short_time(shift).text),
                      .patch = TEXT("workload.%" PRIu32 ".start: %" PRIu64 "ps\n", x->entry, x->job->start_ps + shift),
                      .in_nccl = TEXT("the scheduler of jobs: delay one iteration of it by %s (CASSINI)",
                                      weft__short_time(shift).text),
                  });
    }
}

struct weft_cause *weft_causes_find(const struct weft_scenario *s, const struct weft_topology *t,
                                    const struct weft_workload *w, const struct weft_tree *tree,
                                    const struct weft_causes_conf *conf, struct weft_arena *arena, uint32_t *ret_n) {
    struct search x = {s, t, w, tree, &w->job[conf->job], 0, conf, arena, NULL, 0};
    x.entry = (uint32_t)(x.job->entry - s->workload);
    // Of causes that are removed together the later one's values hold.
    find_hash(&x);
    find_congestion_control(&x);
    find_planes(&x);
    find_queue_pairs(&x);
    find_mapping(&x);
    find_class(&x);
    find_headroom(&x);
    find_stragglers(&x);
    find_oversubscription(&x);
    find_shifts(&x);
    *ret_n = x.n;
    return x.cause;
}
