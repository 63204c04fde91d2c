// SPDX-License-Identifier: Apache-2.0
#include "estimate/calibration.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/lines.h"
#include "weft/cc.h"

/// A scheduled fabric by its stages, and by whether Ethernet joins several of them.
static const char *fabric_of(const struct weft_topology *t) {
    bool stages = false, joined = false;
    for (uint32_t p = 0; p < t->ports; p++) {
        uint32_t own = t->port[p].node, peer = t->port[t->port[p].peer].node;
        if (!weft_topology_port_is_fabric(t, p))
            joined |= t->node[own].role != WEFT_NODE_HOST && t->node[peer].role != WEFT_NODE_HOST;
        else
            stages |= t->node[own].box == WEFT_BOX_DSF_FABRIC && t->node[peer].box == WEFT_BOX_DSF_FABRIC;
    }
    return joined ? "scheduled_region" : stages ? "scheduled_l2" : "scheduled_l1";
}

/// Of each plane, as if it were alone.
static const char *mechanism_of_one(const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    const struct weft_host_conf *host = &net->device[t->host[0]]->host;
    for (uint32_t p = 0; p < t->ports; p++)
        if (weft_topology_port_is_fabric(t, p)) return fabric_of(t);
    if (strcmp(net->scenario->topology.model->name, "scale_up") == 0) return "scale_up";
    if (strcmp(host->transport.model->name, "roce_rc") != 0) return host->transport.model->name;
    if (strcmp(host->cc.model->name, "none") != 0) return host->cc.model->name;
    for (uint32_t i = 0; i < t->switches; i++)
        for (uint32_t p = t->node[t->switch_node[i]].port0;
             p < t->node[t->switch_node[i]].port0 + t->node[t->switch_node[i]].ports; p++)
            if (t->node[t->port[t->port[p].peer].node].role == WEFT_NODE_SWITCH)
                return net->device[t->switch_node[i]]->sw.route.model->name;
    return "star";
}

const char *weft__mechanism_of(const struct weft__network *net) {
    const char *one = mechanism_of_one(net);
    if (weft__planes(net->topology, net->device) < 2) return one;
    if (net->device[net->topology->host[0]]->host.planes == WEFT_PLANES_QUEUE_PAIR) {
        if (strcmp(one, "star") == 0) return "star_planes";
        if (strcmp(one, "e_ecmp") == 0) return "e_ecmp_planes";
    } else if (strcmp(one, "uet") == 0) {
        return "uet_planes";
    }
    return "planes";
}

/// Whether a link carries data of two jobs, or of a job and of flows.
static bool shares_links(const struct weft__fluid *x, struct weft_arena *arena) {
    const struct weft_workload *w = x->net.workload;
    uint32_t *job = weft_arena_alloc(arena, w->flows, sizeof *job); ///< of a connection: number + 2
    uint32_t *owner = weft_arena_alloc(arena, x->levels.links, sizeof *owner);
    if (w->jobs + (w->entries > w->jobs) < 2) return false;
    for (uint32_t j = 0; j < w->jobs; j++)
        for (uint32_t i = 0; i < w->job[j].connections; i++)
            if (w->job[j].connection[i].flow != WEFT_NONE) job[w->job[j].connection[i].flow] = j + 2;
    for (uint32_t q = 0; q < x->net.qps; q++) {
        uint32_t own = job[x->net.qp[q].flow] ? job[x->net.qp[q].flow] : 1;
        for (uint32_t e = x->levels.flow[q].first; e < x->levels.flow[q].first + x->levels.flow[q].entries; e++) {
            if (x->levels.entry[e].weight < 0) continue;
            uint32_t *other = &owner[x->levels.entry[e].link];
            if (*other && *other != own) return true;
            *other = own;
        }
    }
    return false;
}

/// By whether jobs share links, and by their messages.
static const char *find_kind(const struct weft__fluid *x, struct weft_arena *arena) {
    enum { LARGE = 64 << 10 };
    const struct weft_workload *w = x->net.workload;
    double bytes = 0, sum = 0;
    for (uint32_t j = 0; j < w->jobs; j++)
        for (uint32_t i = 0; i < w->job[j].connections; i++) {
            const struct weft_connection *c = &w->job[j].connection[i];
            bytes += (double)c->bytes;
            sum += (double)c->bytes * (double)c->message_bytes_max;
        }
    if (bytes <= 0) return "flows";
    if (shares_links(x, arena)) return "shared";
    return sum / bytes < LARGE ? "small" : "large";
}

struct line {
    char mechanism[32], kind[16];
    uint64_t hosts, cases;
    double low, high, growth;
};

struct table {
    const char *mechanism, *kind;
    uint64_t hosts;
    struct line best; ///< the first at least as large or, if there is none, the largest
    bool found;
};

static void look_at_line(struct table *t, const struct line *line) {
    if (strcmp(line->mechanism, t->mechanism) != 0 || strcmp(line->kind, t->kind) != 0) return;
    bool reaches = line->hosts >= t->hosts, reached = t->found && t->best.hosts >= t->hosts;
    bool better = !t->found || (reaches && !reached) || (reaches && line->hosts < t->best.hosts) ||
                  (!reaches && !reached && line->hosts > t->best.hosts);
    if (better) t->best = *line;
    t->found = true;
}

static bool read_line(struct table *t, const char *text) {
    struct line line;
    if (!*text || *text == '#') return true;
    int n = sscanf(text, "%31s %15s %" SCNu64 " %" SCNu64 " %lf %lf %lf", line.mechanism, line.kind, &line.hosts,
                   &line.cases, &line.low, &line.high, &line.growth);
    if (n != 7 || !(line.low > 0) || !(line.low <= line.high) || !(line.growth >= 0)) return false;
    look_at_line(t, &line);
    return true;
}

static void read_own(struct table *t) {
    for (const char *at = weft__calibration_files[0].text; *at;) {
        size_t n = strcspn(at, "\n");
        char text[256];
        snprintf(text, sizeof text, "%.*s", (int)n, at);
        read_line(t, text);
        at += n + (at[n] == '\n');
    }
}

static enum weft_status read_file(struct table *t, const char *path, struct weft_error *ret_error) {
    struct weft__lines lines;
    bool more = true;
    enum weft_status status = weft__lines_open(&lines, path, (struct weft_place){.file = path}, ret_error);
    if (status) return status;
    while (!status && !(status = weft__lines_next(&lines, &more, ret_error)) && more)
        if (!read_line(t, lines.line))
            status = WEFT_REFUSE(ret_error, lines.place,
                                 "\"%s\": expected mechanism, kind, hosts, cases, low, high and growth", lines.line);
    weft__lines_close(&lines);
    return status;
}

/// Beyond the last number of hosts both ends move out, by so much of the farther one for each doubling.
static void set_interval(const struct table *t, weft_time_ps time, weft_time_ps *ret_low, weft_time_ps *ret_high) {
    double low = log(t->best.low), high = log(t->best.high), more = 0;
    if (t->hosts > t->best.hosts) more = t->best.growth * log2((double)t->hosts / (double)t->best.hosts);
    if (time == WEFT_TIME_NEVER) return;
    more *= fmax(fabs(low), fabs(high));
    *ret_low = weft_time_of_real((double)time * exp(low - more));
    *ret_high = weft_time_of_real((double)time * exp(high + more));
}

enum weft_status weft__estimate_calibrate(const struct weft__fluid *x, const char *path, struct weft_estimate *e,
                                          struct weft_error *ret_error) {
    const struct weft__network *net = &x->net;
    struct table t = {.mechanism = weft__mechanism_of(net),
                      .kind = find_kind(x, net->arena_qp),
                      .hosts = net->topology->hosts / weft__planes(net->topology, net->device)};
    enum weft_status status = WEFT_OK;
    e->mechanism = t.mechanism;
    e->kind = t.kind;
    if (path)
        status = read_file(&t, path, ret_error);
    else
        read_own(&t);
    e->calibrated = t.found;
    if (!t.found) return status;
    set_interval(&t, e->makespan_ps, &e->low_ps, &e->high_ps);
    for (uint32_t i = 0; i < e->times; i++)
        if (!e->time[i].unpaused && !e->time[i].scattered && !e->time[i].derived)
            set_interval(&t, e->time[i].time_ps, &e->time[i].low_ps, &e->time[i].high_ps);
    return status;
}
