// SPDX-License-Identifier: Apache-2.0
// Groups of ranks that are sampled as well as operations (run.sample.groups). Groups that share neither a link nor an
// operation of a layer are independent of one another: an expert-parallel group in leaves of its own takes as long
// whether others run or not. Those with as many ranks over as many links are alike, and a few of them, drawn at random,
// say what all of them take. Memory of switches that groups share is not counted.
//
// A link belongs to a group if a packet of the group could take it: all equal-cost routes count, whatever the hash.
// Operations over ranks of several groups (a sum of gradients) run at all ranks.
//
// Ranks of a group go on without waiting for other groups until such an operation, or the end of the job. So the time
// until then is that of the slowest group. Of the groups that ran, the means per operation give the mean of a group,
// and a one-way random-effects analysis (Searle, Casella, McCulloch, Variance Components, 1992, section 3.5) divides
// their differences into those that last and those that change with every operation. The slowest of N is as far above
// the mean as the largest of N normal draws (Blom, Statistical Estimates and Transformed Beta-Variables, 1958).
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "skip/sample.h"
#include "transport/program.h"
#include "weft/memory.h"
#include "weft/routes.h"
#include "weft/statistics.h"
#include "workload/job_connections.h"

enum { NORMAL = 1000 }; ///< degrees of freedom from which Student's t is normal

// --- which ranks belong together ----------------------------------------------------------------------------------

struct finder {
    struct weft__sample *s;
    uint32_t *root;  ///< [ranks]: the parent in its tree
    uint32_t *owner; ///< [ports]: a rank whose packets may leave there; WEFT_NONE: none
    uint32_t *seen;  ///< [nodes]: the last destination towards which its ports were visited
    uint32_t *stack;
    uint32_t rank, dst;
};

static uint32_t root_of(uint32_t *root, uint32_t rank) {
    while (root[rank] != rank)
        rank = root[rank] = root[root[rank]];
    return rank;
}

static void join_ranks(uint32_t *root, uint32_t a, uint32_t b) {
    a = root_of(root, a);
    b = root_of(root, b);
    root[a > b ? a : b] = a > b ? b : a;
}

static void take_port(struct finder *f, uint32_t port) {
    if (f->owner[port] == WEFT_NONE)
        f->owner[port] = f->rank;
    else
        join_ranks(f->root, f->owner[port], f->rank);
}

/// All ports by which packets may get from a node to the host at hand. Its mark: a rank of the same group has been
/// there, for groups are joined by operations before.
static void walk_ports(struct finder *f, uint32_t node, uint32_t mark) {
    const struct weft_topology *t = f->s->net->topology;
    const struct weft_routes *routes = f->s->net->epoch[0].routes;
    uint32_t depth = 0;
    f->stack[depth++] = node;
    while (depth) {
        node = f->stack[--depth];
        if (f->seen[node] == mark || t->node[node].role == WEFT_NODE_HOST) continue;
        f->seen[node] = mark;
        uint32_t n;
        const uint16_t *port = weft_routes_at(routes, t->node[node].index, f->dst, &n);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t out = t->node[node].port0 + port[k];
            take_port(f, out);
            f->stack[depth++] = t->port[t->port[out].peer].node;
        }
    }
}

static bool is_local(const struct weft__sample *s, uint32_t op) {
    return s->local[op];
}

/// Ranks that a local operation brings together, then the links between their hosts.
static void join_by_operations(struct finder *f) {
    const struct weft_job *job = f->s->job;
    for (uint32_t i = 0; i < job->ops; i++)
        for (uint32_t r = 0; r < job->ranks && is_local(f->s, i); r++)
            join_ranks(f->root, r, weft_job_member(&job->op[i], r, 0));
}

static void join_by_links(struct finder *f) {
    const struct weft_job *job = f->s->job;
    const struct weft_topology *t = f->s->net->topology;
    for (uint32_t r = 0; r < job->ranks; r++) { // as the receiver
        f->dst = job->host[r];
        for (uint32_t i = 0; i < job->ops; i++) {
            if (!is_local(f->s, i) || (i && job->op[i].communicator == job->op[i - 1].communicator)) continue;
            for (uint32_t k = 0; k < job->op[i].shape.ranks; k++) {
                uint32_t src = weft_job_member(&job->op[i], r, k);
                if (job->host[src] == f->dst) continue;
                const struct weft_node_info *host = &t->node[t->host[job->host[src]]];
                f->rank = src;
                for (uint32_t p = 0; p < host->ports; p++) {
                    take_port(f, host->port0 + p);
                    walk_ports(f, t->port[t->port[host->port0 + p].peer].node, r + 1);
                }
            }
        }
    }
}

static void find_groups(struct weft__sample *s, uint32_t *root) {
    const struct weft_job *job = s->job;
    s->group_of = weft_arena_alloc(s->net->arena_qp, job->ranks, sizeof *s->group_of);
    s->group = weft_arena_alloc(s->net->arena_qp, job->ranks, sizeof *s->group);
    for (uint32_t r = 0; r < job->ranks; r++) { // a root is the first rank of its tree
        uint32_t first = root_of(root, r);
        s->group_of[r] = first == r ? s->groups : s->group_of[first];
        if (first == r) s->group[s->groups++].rank = r;
        s->group[s->group_of[r]].ranks++;
    }
}

/// Groups with as many ranks and as many links of the same rates are alike.
static void find_group_classes(struct weft__sample *s, const uint32_t *owner) {
    const struct weft_topology *t = s->net->topology;
    for (uint32_t p = 0; p < t->ports && s->groups; p++) {
        if (owner[p] == WEFT_NONE) continue;
        struct weft__sample_group *g = &s->group[s->group_of[owner[p]]];
        g->links++;
        g->bps += (double)t->link[t->port[p].link].rate_bps;
    }
    for (uint32_t g = 0; g < s->groups; g++) {
        uint32_t k = 0;
        while (k < g && (s->group[k].ranks != s->group[g].ranks || s->group[k].links != s->group[g].links ||
                         fabs(s->group[k].bps - s->group[g].bps) > 0))
            k++;
        s->group[g].class = k < g ? s->group[k].class : s->group_classes++;
    }
}

static void draw_groups(struct weft__sample *s, struct weft_random *random, uint64_t wanted) {
    uint32_t *list = weft_arena_alloc(s->net->arena_qp, s->groups, sizeof *list);
    for (uint32_t class = 0; class < s->group_classes; class ++) {
        uint32_t n = 0;
        for (uint32_t g = 0; g < s->groups; g++)
            if (s->group[g].class == class) list[n++] = g;
        for (uint32_t k = 0; k < n && k < wanted; k++) {
            uint32_t at = k + (uint32_t)weft_random_below(random, n - k), drawn = list[at];
            list[at] = list[k];
            s->group[drawn].runs = true;
            s->groups_run++;
        }
    }
}

void weft__sample_choose_groups(struct weft__sample *s, struct weft_random *random) {
    const struct weft_job *job = s->job;
    struct weft_arena *arena = s->net->arena_qp;
    uint64_t wanted = s->net->scenario->run.sample.groups;
    if (!wanted || s->whole) return;
    s->local = weft_arena_alloc(arena, job->ops, sizeof *s->local);
    for (uint32_t u = 0; u < s->units; u++) // what layers repeat; a rare operation may be over all ranks
        for (uint32_t t = s->unit[u].turn; t < s->unit[u].turn_end; t++) {
            const struct weft_job_op *op = &job->op[job->stage->turn[t].op];
            s->local[op - job->op] = op->name && op->shape.ranks < job->ranks && s->part[s->unit[u].class] >= 1;
        }
    struct finder f = {.s = s,
                       .root = weft_arena_alloc(arena, job->ranks, sizeof *f.root),
                       .owner = weft_arena_alloc(arena, s->net->topology->ports, sizeof *f.owner),
                       .seen = weft_arena_alloc(arena, s->net->topology->nodes, sizeof *f.seen),
                       .stack = weft_arena_alloc(arena, s->net->topology->ports + 1, sizeof *f.stack)};
    for (uint32_t r = 0; r < job->ranks; r++)
        f.root[r] = r;
    for (uint32_t p = 0; p < s->net->topology->ports; p++)
        f.owner[p] = WEFT_NONE;
    join_by_operations(&f);
    join_by_links(&f);
    find_groups(s, f.root);
    if (s->groups == 1) s->groups = 0; // all ranks run
    find_group_classes(s, f.owner);
    draw_groups(s, random, wanted);
}

// --- what they took -----------------------------------------------------------------------------------------------

bool weft__sample_is_local(const struct weft__sample *s, uint32_t unit) {
    bool local = s->groups > 0;
    for (uint32_t t = s->unit[unit].turn; t < s->unit[unit].turn_end && local; t++) {
        uint32_t op = s->job->stage->turn[t].op;
        local = !s->job->op[op].name || s->local[op];
    }
    return local;
}

/// When the last rank of a group has ended a unit.
static weft_time_ps group_end(const struct weft__sample *s, uint32_t group, uint32_t round, uint32_t unit) {
    const struct weft__sample_unit *u = &s->unit[unit];
    uint32_t iteration = weft__sample_iteration(s, round, unit);
    weft_time_ps end = 0;
    for (uint32_t r = s->group[group].rank; r < s->job->ranks; r++) {
        const struct weft__program *p = &s->net->programs->program[r];
        if (s->group_of[r] != group) continue;
        weft_time_ps own =
            u->last ? p->iteration_end_ps[iteration] : p->op_end_ps[(size_t)iteration * s->job->ops + u->op];
        if (own != WEFT_TIME_NEVER && own > end) end = own;
    }
    return end;
}

/// Of ranks that pass an operation nothing is known, and of the others the last one has ended it. Ranks of groups that
/// do not run only wait for the others.
static void collect_operations(const struct weft__sample *s) {
    struct weft_job_outcome *o = s->net->outcome->job;
    size_t results = (size_t)s->job->iterations * s->job->ops;
    double n = 0;
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    double *exposed = weft_arena_alloc(arena, results, sizeof *exposed),
           *waits = weft_arena_alloc(arena, s->job->iterations, sizeof *waits), all = 0;
    for (size_t i = 0; i < results; i++)
        if (s->local[i % s->job->ops] && !s->passes[i]) o->op[i].start_ps = o->op[i].end_ps = 0;
    for (uint32_t r = 0; r < s->job->ranks; r++) {
        const struct weft__program *p = &s->net->programs->program[r];
        if (!s->group[s->group_of[r]].runs) continue;
        n++;
        all += (double)p->exposed_ps;
        for (size_t i = 0; i < results; i++) {
            exposed[i] += (double)p->op_exposed_ps[i];
            if (!s->local[i % s->job->ops] || s->passes[i]) continue;
            if (p->op_start_ps[i] > o->op[i].start_ps) o->op[i].start_ps = p->op_start_ps[i];
            if (p->op_end_ps[i] > o->op[i].end_ps) o->op[i].end_ps = p->op_end_ps[i];
        }
        for (uint32_t i = 0; i < s->job->iterations; i++)
            waits[i] += (double)p->iteration_exposed_ps[i];
    }
    for (size_t i = 0; i < results; i++)
        o->op[i].exposed_ps = (weft_time_ps)(exposed[i] / n);
    for (uint32_t i = 0; i < s->job->iterations; i++)
        o->iteration_exposed_ps[i] = (weft_time_ps)(waits[i] / n);
    o->exposed_ps = (weft_time_ps)(all / n);
}

/// The times of a group in the units that ran.
struct taken {
    double *time; ///< [units that ran]
    double sum;
};

static uint32_t take_group(const struct weft__sample *s, uint32_t group, struct taken *ret) {
    uint32_t n = 0;
    weft_time_ps before = s->job->start_ps;
    for (uint32_t r = 0; r < s->rounds; r++)
        for (uint32_t u = 0; u < s->units; u++) {
            if (!s->runs[(size_t)r * s->units + u]) continue;
            weft_time_ps end = group_end(s, group, r, u);
            if (weft__sample_is_local(s, u)) {
                ret->time[n] = (double)end - (double)before;
                ret->sum += ret->time[n++];
            }
            before = end;
        }
    return n;
}

/// Of one class: the mean of its groups by unit, and what their differences come to over all units until groups meet.
static void analyse_class(const struct weft__sample *s, const struct taken *taken, uint32_t n, uint32_t class,
                          struct weft__sample_groups *ret) {
    double groups = 0, all = 0, between = 0, within = 0, mean = 0;
    for (uint32_t i = 0; i < n; i++)
        ret->mean[i] = 0;
    for (uint32_t g = 0; g < s->groups; g++) {
        if (s->group[g].class != class) continue;
        all++;
        if (!s->group[g].runs) continue;
        groups++;
        mean += taken[g].sum / n;
        for (uint32_t i = 0; i < n; i++)
            ret->mean[i] += taken[g].time[i];
    }
    mean /= groups;
    for (uint32_t i = 0; i < n; i++)
        ret->mean[i] /= groups;
    for (uint32_t g = 0; g < s->groups; g++) {
        if (s->group[g].class != class || !s->group[g].runs) continue;
        double own = taken[g].sum / n - mean;
        between += own * own;
        for (uint32_t i = 0; i < n; i++)
            within += pow(taken[g].time[i] - ret->mean[i] - own, 2);
    }
    ret->all = all;
    ret->ran = groups;
    if (groups < 2) return;
    double of_means = between / (groups - 1), of_units = n > 1 ? within / (groups - 1) / (n - 1) : 0;
    ret->lasting = sqrt(fmax(of_means - of_units / n, 0));
    ret->changing = sqrt(of_units);
    ret->of_means = sqrt(of_means);
}

bool weft__sample_analyse_groups(const struct weft__sample *s, struct weft__sample_groups *ret) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    if (!s->groups) return false;
    collect_operations(s);
    size_t units = (size_t)s->rounds * s->units;
    struct taken *taken = weft_arena_alloc(arena, s->groups, sizeof *taken);
    double *sum = weft_arena_alloc(arena, s->group_classes, sizeof *sum);
    uint32_t *ran = weft_arena_alloc(arena, s->group_classes, sizeof *ran), n = 0, slowest = 0;
    for (uint32_t g = 0; g < s->groups; g++) {
        if (!s->group[g].runs) continue;
        taken[g].time = weft_arena_alloc(arena, units, sizeof *taken[g].time);
        n = take_group(s, g, &taken[g]);
        sum[s->group[g].class] += taken[g].sum;
        ran[s->group[g].class]++;
    }
    for (uint32_t c = 1; c < s->group_classes; c++)
        if (sum[c] / ran[c] > sum[slowest] / ran[slowest]) slowest = c;
    if (n) analyse_class(s, taken, n, slowest, ret);
    return n > 0;
}

/// The expected largest of n draws of a normal distribution with deviation 1 (Blom).
static double largest_of(double n) {
    return n > 1 ? weft_student_quantile((n - 0.375) / (n + 0.25), NORMAL) : 0;
}

/// By how much a deviation of so many degrees of freedom may be larger, with 97.5% (chi square by Wilson and Hilferty,
/// PNAS 17, 1931).
static double deviation_more(double freedom) {
    double root = 1 - 2 / (9 * freedom) - weft_student_quantile(0.975, NORMAL) * sqrt(2 / (9 * freedom));
    return root > 0.05 ? 1 / sqrt(root * root * root) - 1 : INFINITY;
}

double weft__sample_slowest(const struct weft__sample_groups *g, double units) {
    return largest_of(g->all) * sqrt(units * units * g->lasting * g->lasting + units * g->changing * g->changing);
}

double weft__sample_groups_half(const struct weft__sample_groups *g, double units) {
    if (g->ran >= g->all) return 0;
    if (g->ran < 2) return INFINITY;
    double mean = weft_student_quantile(0.975, (uint32_t)g->ran - 1) * g->of_means / sqrt(g->ran) * units *
                  sqrt(1 - g->ran / g->all);
    double spread = weft__sample_slowest(g, units);
    return hypot(mean, spread > 0 ? spread * deviation_more(g->ran - 1) : 0);
}
