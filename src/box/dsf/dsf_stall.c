// SPDX-License-Identifier: Apache-2.0
// Who waits for whom in a DSF: a virtual output queue waits for credits from the port that its packets are for.
#include "box/dsf/dsf_in.h"
#include "box/dsf/dsf_net.h"
#include "box/stall.h"

#include "base/units.h"

/// At the end of a run.
static bool has_way(const struct weft__network *net, struct weft__in *in, uint32_t to) {
    return weft__in_has_way(in, net->outcome->sim_time_ps, to);
}

/// Why `port` (among all ports) of interface node `to` gives no credit.
static void say_why(FILE *text, const struct weft__network *net, uint32_t node, uint32_t to, uint32_t port,
                    const struct weft__voq *v) {
    const struct weft_topology *t = net->topology;
    struct weft__in *from = weft__network_state(net, node), *far = weft__network_state(net, to);
    const struct weft__port *out = weft__network_port(net, port);
    char name[128];
    if (!has_way(net, from, v->to) || !has_way(net, far, from->self)) {
        fprintf(text, "; no fabric link leads there and back\n");
    } else if (out->paused >> v->priority & 1) {
        weft_topology_port_name(t, t->port[port].peer, name, sizeof name);
        fprintf(text, "; that port is paused by %s\n", name);
    } else if (weft__port_queue_of(out, v->priority)->bytes) {
        weft_format_bytes(weft__port_queue_of(out, v->priority)->bytes, name, sizeof name);
        fprintf(text, "; %s wait at that port\n", name);
    } else {
        fprintf(text, "; that port is free, so requests or credits were lost\n");
    }
}

static void say_queue(struct weft__stall_list *list, const struct weft__network *net, uint32_t node,
                      const struct weft__voq *v) {
    const struct weft_topology *t = net->topology;
    if (!weft__stall_line(list)) return;
    uint32_t to = weft__dsf_of(net)->eligible->node_of_in[v->to], port = weft__dsf_ethernet_port(t, to, v->port);
    char name[128], bytes[32], time[32];
    weft_topology_port_name(t, port, name, sizeof name);
    weft_format_bytes(v->bytes, bytes, sizeof bytes);
    weft_format_time(net->outcome->sim_time_ps - v->credit_ps, time, sizeof time);
    fprintf(list->text, "  %s for %s priority %u: %s, %s waiting, no credit for %s", t->node[node].name, name,
            v->priority, weft__counted(v->fifo.n, "packet").text, bytes, time);
    say_why(list->text, net, node, to, port, v);
}

void weft__dsf_explain(FILE *text, const struct weft__network *net) {
    const struct weft_topology *t = net->topology;
    struct weft__stall_list list = {.text = text, .title = "virtual output queues that wait for credits"};
    for (uint32_t node = 0; node < t->nodes; node++) {
        if (t->node[node].box != WEFT_BOX_DSF_INTERFACE) continue;
        const struct weft__in *in = weft__network_state(net, node);
        for (uint32_t i = 0; i < in->voqs.n; i++)
            if (in->voq[i].fifo.n && in->voq[i].balance <= 0) say_queue(&list, net, node, &in->voq[i]);
    }
    weft__stall_end(&list);
}
