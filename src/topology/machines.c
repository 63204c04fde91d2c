// SPDX-License-Identifier: Apache-2.0
// Which hosts are NICs of the same machine:
//   machines:
//   - {name: server, count: 4, nics: {backend: 8, frontend: 1}}
//   - {name: storage, count: 2, nics: {frontend: 1}}
// Machines take the hosts of each network in the order written. If two names mean the same network, a machine has there
// the larger of the two numbers of NICs, and uses the first of them under the name with the smaller number.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/param.h"
#include "topology/builder.h"
#include "weft/param.h"

enum { NAME_MAX = 31, NICS_MAX = 16 };

#define BAD(place, ...) WEFT_REFUSE(ret_error, place, __VA_ARGS__)

bool weft__topology_name_is_good(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strlen(name);
    if (!n || n > NAME_MAX || !strchr(letters, name[0]) || strstr(name, "--") || name[n - 1] == '-') return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == n;
}

/// The hosts of a network that have no machine yet.
struct pool {
    const char *name;
    uint32_t node, hosts, left, wanted; ///< `wanted` per machine of the current entry
};

struct entry_conf {
    const char *name;
    uint64_t count;
};
static const char *const entry_lists[] = {"nics", NULL};
static const struct weft_param_table entry_table = WEFT_PARAM_TABLE_OF(
    "machine", struct entry_conf, .lists = entry_lists,
    WEFT_TEXT(struct entry_conf, name, "name", NULL, "server: the machines are server-0, server-1, ..."),
    WEFT_UINT(struct entry_conf, count, "count", "1", "1", "16777216", "so many"));

/// `n` NICs of a machine in a network, under the name used in the entry.
struct nics_conf {
    uint64_t n;
    const char *name;
    struct pool *pool;
};
static const struct weft_param nics_row =
    WEFT_UINT(struct nics_conf, n, "nics", NULL, "1", "1024", "NICs of a machine in a network");

struct entry {
    struct entry_conf conf;
    struct nics_conf nics[NICS_MAX];
    uint32_t n;
};

struct machines {
    struct weft_topology_builder *b;
    struct pool *pool;
    struct entry *entry;
    uint32_t pools, entries;
};

static void fill_pools(struct machines *m) {
    uint32_t end = m->b->nodes, i = m->pools;
    for (const struct weft__network *n = m->b->network; n; end = n->node0, n = n->next) {
        struct pool *pool = &m->pool[--i];
        *pool = (struct pool){.name = n->name, .node = n->node0};
        for (uint32_t k = n->node0; k < end; k++)
            pool->hosts += m->b->node[k].role == WEFT_NODE_HOST;
        pool->left = pool->hosts;
    }
}

static enum weft_status find_pool(const struct machines *m, const struct weft_tree *child, struct pool **ret_pool,
                                  struct weft_error *ret_error) {
    const char *names[256], *name = child->key;
    uint32_t n = 0;
    for (const struct weft__alias *a = m->b->alias; a; a = a->next) {
        if (n < 128) names[n++] = a->name;
        if (!strcmp(a->name, child->key)) name = a->of;
    }
    for (uint32_t i = 0; i < m->pools; i++) {
        if (n < 256) names[n++] = m->pool[i].name;
        *ret_pool = &m->pool[i];
        if (!strcmp(m->pool[i].name, name)) return WEFT_OK;
    }
    char expected[512];
    weft__names_expected(child->key, names, n, expected, sizeof expected);
    return BAD(child->key_place, "nics: no network '%s'; %s", child->key, expected);
}

static enum weft_status read_nics(struct machines *m, const struct weft_tree *tree, struct entry *e,
                                  struct weft_error *ret_error) {
    const struct weft_tree *map = weft_tree_find(tree, "nics");
    if (!map || map->type != WEFT_TREE_MAP || !map->n || map->n > NICS_MAX)
        return BAD(map ? map->place : tree->place,
                   "nics of machine %s: expected a map of 1 to %d networks and numbers of NICs, such as {%s: 1}",
                   e->conf.name, NICS_MAX, m->pool[0].name);
    for (uint32_t i = 0; i < map->n; i++) {
        const struct weft_tree *child = map->child[i];
        struct nics_conf *nics = &e->nics[e->n++];
        nics->name = child->key;
        WEFT_TRY(find_pool(m, child, &nics->pool, ret_error));
        if (child->type != WEFT_TREE_TEXT) return BAD(child->place, "nics.%s: expected a number", child->key);
        WEFT_TRY(weft__param_parse_at(&nics_row, child->text, child->place, "nics", nics, m->b->arena, ret_error));
    }
    return WEFT_OK;
}

/// The NICs that a machine of `e` takes in each network.
static void find_wanted(struct machines *m, const struct entry *e) {
    for (uint32_t i = 0; i < m->pools; i++)
        m->pool[i].wanted = 0;
    for (uint32_t i = 0; i < e->n; i++)
        if (e->nics[i].n > e->nics[i].pool->wanted) e->nics[i].pool->wanted = (uint32_t)e->nics[i].n;
}

static enum weft_status reserve_hosts(struct machines *m, const struct entry *e, struct weft_place place,
                                      struct weft_error *ret_error) {
    find_wanted(m, e);
    for (uint32_t i = 0; i < m->pools; i++) {
        struct pool *pool = &m->pool[i];
        if (weft__times(pool->wanted, e->conf.count) > pool->left)
            return BAD(place, "%llu machines '%s' need %llu hosts of %s, which has %u, %u of them free",
                       (unsigned long long)e->conf.count, e->conf.name,
                       (unsigned long long)weft__times(pool->wanted, e->conf.count), pool->name, pool->hosts,
                       pool->left);
        pool->left -= (uint32_t)(pool->wanted * e->conf.count);
    }
    return WEFT_OK;
}

static enum weft_status read_entry(struct machines *m, const struct weft_tree *tree, uint32_t i,
                                   struct weft_error *ret_error) {
    struct entry *e = &m->entry[i];
    WEFT_TRY(weft_params_load(&entry_table, tree, &e->conf, m->b->arena, ret_error));
    if (!weft__topology_name_is_good(e->conf.name))
        return BAD(tree->place,
                   "bad name of machines '%s'; expected up to %d letters, digits, _ and -, beginning with a letter",
                   e->conf.name, NAME_MAX);
    for (uint32_t k = 0; k < i; k++)
        if (!strcmp(m->entry[k].conf.name, e->conf.name))
            return BAD(tree->place, "a second entry of machines named %s", e->conf.name);
    WEFT_TRY(read_nics(m, tree, e, ret_error));
    return reserve_hosts(m, e, tree->place, ret_error);
}

/// The first host at or after `node`.
static uint32_t host_at(const struct weft_topology_builder *b, uint32_t node) {
    while (b->node[node].role != WEFT_NODE_HOST)
        node++;
    return node;
}

static void add_machine(struct machines *m, const struct entry *e, uint64_t number) {
    struct weft_topology_builder *b = m->b;
    uint32_t first = b->nics;
    for (uint32_t i = 0; i < e->n; i++) {
        uint32_t node = e->nics[i].pool->node;
        for (uint64_t k = 0; k < e->nics[i].n; k++, node++) {
            node = host_at(b, node);
            b->nic[b->nics++] = (struct weft_nic_info){.network = e->nics[i].name, .host = node};
        }
    }
    for (struct pool *p = m->pool; p < m->pool + m->pools; p++)
        for (uint32_t k = 0; k < p->wanted; k++)
            p->node = host_at(b, p->node) + 1;
    const char *name = weft_arena_format(b->arena, "%s-%llu", e->conf.name, (unsigned long long)number);
    b->machine[b->machines++] = (struct weft_machine_info){name, first, b->nics - first};
}

static void add_machines(struct machines *m) {
    size_t machines = 0, nics = 0;
    for (uint32_t i = 0; i < m->entries; i++) {
        machines += m->entry[i].conf.count;
        for (uint32_t k = 0; k < m->entry[i].n; k++)
            nics += m->entry[i].conf.count * m->entry[i].nics[k].n;
    }
    m->b->machines = m->b->nics = 0;
    m->b->machine = weft_arena_alloc(m->b->arena, machines, sizeof *m->b->machine);
    m->b->nic = weft_arena_alloc(m->b->arena, nics, sizeof *m->b->nic);
    for (uint32_t i = 0; i < m->entries; i++) {
        find_wanted(m, &m->entry[i]);
        for (uint64_t k = 0; k < m->entry[i].conf.count; k++)
            add_machine(m, &m->entry[i], k);
    }
}

enum weft_status weft__topology_read_machines(const struct weft_tree *tree, struct weft_topology_builder *b,
                                              struct weft_error *ret_error) {
    const struct weft_tree *list = weft_tree_find(tree, "machines");
    if (!list || list->type == WEFT_TREE_NULL) return WEFT_OK;
    if (list->type != WEFT_TREE_LIST || !list->n)
        return BAD(list->place, "machines: expected a list such as [{name: server, count: 4, nics: {%s: 8}}]",
                   b->network->name);
    struct machines m = {.b = b, .pools = b->networks};
    m.pool = weft_arena_alloc(b->arena, m.pools, sizeof *m.pool);
    m.entry = weft_arena_alloc(b->arena, list->n, sizeof *m.entry);
    fill_pools(&m);
    for (; m.entries < list->n; m.entries++)
        WEFT_TRY(read_entry(&m, list->child[m.entries], m.entries, ret_error));
    add_machines(&m);
    return WEFT_OK;
}

static void add_nics(struct weft_topology_builder *b, const char *name, const struct weft_nic_info *nic,
                     uint32_t nics) {
    WEFT__ADD(b->arena, b->machine, b->machines) = (struct weft_machine_info){name, b->nics, nics};
    for (uint32_t i = 0; i < nics; i++) {
        WEFT__ADD(b->arena, b->nic, b->nics) = nic[i];
    }
}

void weft__topology_add_machine(struct weft_topology_builder *b, const char *name, struct weft_nic_info *nic,
                                uint32_t nics) {
    const char *network = b->network ? b->network->name : "";
    for (uint32_t i = 0; i < nics; i++)
        nic[i].network = network;
    name = *network ? weft_arena_format(b->arena, "%s-%s", network, name) : weft_arena_text(b->arena, name);
    add_nics(b, name, nic, nics);
}

// --- devices of files ---------------------------------------------------------------------------------------------

struct device {
    const char *name;
    size_t length;
    uint32_t node;
};

WEFT__ORDER(by_device, struct device,
            memcmp(x->name, y->name, x->length < y->length ? x->length : y->length) ?: WEFT__UP(length)
                ?: WEFT__UP(node))

WEFT__ORDER(by_first, struct weft_machine_info, WEFT__UP(nic0)) // nic0 is the first node here

static const char *network_of(const struct weft_topology_builder *b, uint32_t node) {
    for (const struct weft__network *n = b->network; n; n = n->next)
        if (n->node0 <= node) return n->name;
    return "";
}

void weft__topology_add_devices(struct weft_topology_builder *b, uint32_t node0, const char *const *device) {
    struct device *list = weft_arena_alloc(b->arena, b->nodes - node0, sizeof *list);
    uint32_t hosts = 0, known = 0, machines = 0;
    for (uint32_t n = node0; n < b->nodes; n++) {
        const char *said = device ? device[n - node0] : NULL, *name = said ? said : b->node[n].name;
        size_t length = said ? 0 : weft__topology_device_length(name);
        if (b->node[n].role != WEFT_NODE_HOST) continue;
        known += said || length;
        list[hosts++] = (struct device){name, length ? length : strlen(name), n};
    }
    if (!known) return;
    qsort(list, hosts, sizeof *list, by_device);
    struct weft_nic_info *nic = weft_arena_alloc(b->arena, hosts, sizeof *nic);
    struct weft_machine_info *machine = weft_arena_alloc(b->arena, hosts, sizeof *machine);
    uint32_t *begin = weft_arena_alloc(b->arena, b->nodes, sizeof *begin);
    for (uint32_t i = 0; i < hosts; i++) {
        nic[i] = (struct weft_nic_info){.network = network_of(b, list[i].node), .host = list[i].node};
        bool same =
            i && list[i].length == list[i - 1].length && !memcmp(list[i].name, list[i - 1].name, list[i].length);
        if (!same) {
            const char *name = weft_arena_format(b->arena, "%.*s", (int)list[i].length, list[i].name);
            begin[list[i].node] = i;
            machine[machines++] = (struct weft_machine_info){name, list[i].node, 0};
        }
        machine[machines - 1].nics++;
    }
    qsort(machine, machines, sizeof *machine, by_first);
    for (uint32_t m = 0; m < machines; m++)
        add_nics(b, machine[m].name, &nic[begin[machine[m].nic0]], machine[m].nics);
}

// --- the topology -------------------------------------------------------------------------------------------------

/// The place of each host among its machine's NICs. NICs under two names count once.
static void number_nics(struct weft_topology *t, const struct weft_machine_info *machine) {
    for (uint32_t i = 0; i < machine->nics; i++) {
        const struct weft_nic_info *nic = &t->nic[machine->nic0 + i];
        struct weft_machine_nic *own = &t->machine_nic[nic->host];
        if (own->nics) continue;
        uint32_t network = weft_topology_network_of(t, nic->host);
        own->gpus = nic->gpus;
        own->gpu = nic->gpu;
        for (uint32_t k = 0; k < machine->nics; k++) {
            uint32_t other = t->nic[machine->nic0 + k].host, again = 0;
            while (t->nic[machine->nic0 + again].host != other)
                again++;
            if (again < k || weft_topology_network_of(t, other) != network) continue;
            own->nics++;
            own->number += other < nic->host;
            own->machine_gpus += t->nic[machine->nic0 + k].gpus;
        }
    }
}

void weft__topology_keep_machines(struct weft_topology *t, const struct weft_topology_builder *b) {
    if (!b->machines) return;
    t->machines = b->machines;
    t->machine = b->machine;
    t->nic = b->nic;
    t->machine_of = weft_arena_alloc(t->arena, t->hosts, sizeof *t->machine_of);
    memset(t->machine_of, 0xff, t->hosts * sizeof *t->machine_of);
    for (uint32_t m = 0; m < t->machines; m++)
        for (uint32_t i = 0; i < t->machine[m].nics; i++) {
            struct weft_nic_info *nic = &t->nic[t->machine[m].nic0 + i];
            nic->host = t->node[nic->host].index;
            t->machine_of[nic->host] = m;
        }
    t->machine_nic = weft_arena_alloc(t->arena, t->hosts, sizeof *t->machine_nic);
    for (uint32_t m = 0; m < t->machines; m++)
        number_nics(t, &t->machine[m]);
}
