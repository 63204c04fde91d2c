// SPDX-License-Identifier: Apache-2.0
// Describes events in words.
#include <stdlib.h>

#include "timeline.h"

#include "base/units.h"

struct timeline_text timeline_priorities(uint64_t mask) {
    struct timeline_text t;
    int n = snprintf(t.text, sizeof t.text, mask ? "" : "none");
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++)
        if (mask >> p & 1) n += snprintf(t.text + n, sizeof t.text - (size_t)n, "%s%u", n ? "," : "", p);
    return t;
}

struct timeline_text timeline_port(const struct timeline_view *v, uint32_t port, const char *to) {
    struct timeline_text t;
    const struct weft_timeline_port *p = port == WEFT_NONE ? NULL : &v->t.port[port];
    snprintf(t.text, sizeof t.text, "%s%s%s%s%s", p ? p->name : "?", p && to ? " " : "", p && to ? to : "",
             p && to ? " " : "", p && to ? p->peer : "");
    return t;
}

struct timeline_text timeline_flow(const struct timeline_view *v, uint32_t flow) {
    struct timeline_text t = {"a flow"};
    if (flow != WEFT_NONE)
        snprintf(t.text, sizeof t.text, "flow %u, %s to %s", flow, v->t.flow[flow].src, v->t.flow[flow].dst);
    return t;
}

void timeline_filled_by(const struct timeline_view *v, uint32_t congested, FILE *file) {
    enum { SAID = 4 };
    const struct weft_event *c = &v->t.event[congested - 1];
    uint64_t said = 0;
    for (uint32_t id = congested + 1; id <= v->t.events && v->t.event[id - 1].time_ps == c->time_ps; id++) {
        const struct weft_event *e = &v->t.event[id - 1];
        if (e->kind != WEFT_EVENT_CONGESTED_BY || e->cause != congested || said == SAID) continue;
        fprintf(file, "%s%s (%.0f%%)", said ? "; " : ": ", timeline_flow(v, e->flow).text,
                c->value ? 100.0 * (double)e->value / (double)c->value : 0.0);
        said++;
    }
    if (said && c->more > said) fprintf(file, "; and %llu more", (unsigned long long)(c->more - said));
}

static void say_rate(const struct timeline_view *v, const struct weft_event *e, FILE *file) {
    fprintf(file, "%s: rate %s from %s to %s", timeline_flow(v, e->flow).text,
            e->kind == WEFT_EVENT_RATE_CUT ? "cut" : "raised", weft__short_rate(e->more).text,
            weft__short_rate(e->value).text);
}

static void say_queue(const struct timeline_view *v, const struct weft_event *e, FILE *file) {
    static const char *const names[] = {"min", "max", "drop threshold"};
    fprintf(file, "%s, priority %u: queue of %s is %s WRED's %s (%s)", timeline_port(v, e->port, "to").text,
            e->priority, weft__about_bytes(e->value).text, e->kind == WEFT_EVENT_QUEUE_ABOVE ? "above" : "at or below",
            names[e->detail], weft__about_bytes(e->more).text);
}

static void say_pause(const struct timeline_view *v, const struct weft_event *e, FILE *file) {
    bool sent = e->kind == WEFT_EVENT_PAUSE_SENT;
    fprintf(file, "%s: %s frame %s, classes 0x%02x, priority %u: %llu quanta",
            timeline_port(v, e->port, sent ? "to" : "from").text, e->value ? "pause" : "resume",
            sent ? "sent" : "received", e->detail, e->priority, (unsigned long long)e->value);
    if (sent && e->begins && e->value) fprintf(file, " (again)");
    if (!sent && e->value && !e->more) fprintf(file, ", not obeyed: the priority is not lossless here");
}

static const char *const resumed_by[] = {"", ", its pause time over", ", no longer lossless"};

void timeline_event_text(const struct timeline_view *v, uint32_t id, FILE *file) {
    const struct weft_event *e = &v->t.event[id - 1];
    const struct timeline_text at_to = timeline_port(v, e->port, "to"), at_from = timeline_port(v, e->port, "from"),
                               of_flow = timeline_flow(v, e->flow);
    const char *to = at_to.text, *from = at_from.text, *flow = of_flow.text, *name = v->t.port[e->port].name;
    switch ((enum weft_event_kind)e->kind) {
    case WEFT_EVENT_FLOW_STARTED:
        fprintf(file, "%s, starts: %s, priority %u", flow, weft__about_bytes(e->value).text, e->priority);
        break;
    case WEFT_EVENT_FLOW_FINISHED:
        fprintf(file, "%s, has finished after %s", flow, weft__about_time(e->value).text);
        break;
    case WEFT_EVENT_CLASSIFIED:
        fprintf(file, "%s: first packet with DSCP %llu, from %s: priority %u", to, (unsigned long long)e->value,
                e->more < v->t.ports ? v->t.port[e->more].name : "?", e->priority);
        break;
    case WEFT_EVENT_QUEUE_ABOVE:
    case WEFT_EVENT_QUEUE_BELOW:
        say_queue(v, e, file);
        break;
    case WEFT_EVENT_MARKING_BEGAN:
        fprintf(file, "%s, priority %u: marking begins, with %s queued", to, e->priority,
                weft__about_bytes(e->value).text);
        break;
    case WEFT_EVENT_MARKING_ENDED:
        fprintf(file, "%s, priority %u: last of %s", to, e->priority, weft__counted(e->value, "mark").text);
        break;
    case WEFT_EVENT_FLOW_MARKED:
        fprintf(file, "%s, is marked at %s, priority %u", flow, to, e->priority);
        break;
    case WEFT_EVENT_CNP_SENT:
        fprintf(file, "%s: CNP sent by %s", flow, name);
        break;
    case WEFT_EVENT_CNP_RECEIVED:
        fprintf(file, "%s: CNP received by %s", flow, name);
        break;
    case WEFT_EVENT_RATE_CUT:
    case WEFT_EVENT_RATE_RAISED:
        say_rate(v, e, file);
        break;
    case WEFT_EVENT_CONGESTED:
        fprintf(file, "%s, priority %u: congested, %s queued by %s", to, e->priority, weft__about_bytes(e->value).text,
                weft__counted(e->more, "queue pair").text);
        timeline_filled_by(v, id, file);
        break;
    case WEFT_EVENT_CONGESTED_BY:
        fprintf(file, "%s, priority %u: %s of it by %s", to, e->priority, weft__about_bytes(e->value).text, flow);
        break;
    case WEFT_EVENT_DRAINED:
        fprintf(file, "%s, priority %u: its queue is empty", to, e->priority);
        break;
    case WEFT_EVENT_SFC_SENT:
        fprintf(file, "%s: asked by %s, priority %u, to pause for %s", flow, to, e->priority,
                weft__about_time(e->value * WEFT_PS_PER_NS).text);
        fprintf(file, "; %s queued", weft__about_bytes(e->more).text);
        break;
    case WEFT_EVENT_SFC_RECEIVED:
        fprintf(file, "%s: to pause for %s, received by %s", flow, weft__about_time(e->value * WEFT_PS_PER_NS).text,
                name);
        break;
    case WEFT_EVENT_XOFF:
        fprintf(file, "%s, priority %u: above XOFF with %s", from, e->priority, weft__about_bytes(e->value).text);
        if (e->more < v->t.ports) fprintf(file, ", most of it for %s", v->t.port[e->more].name);
        if (timeline_is_host(v, id)) fprintf(file, ", for its host takes data too slowly");
        break;
    case WEFT_EVENT_XON:
        fprintf(file, "%s, priority %u: at XON with %s", from, e->priority, weft__about_bytes(e->value).text);
        break;
    case WEFT_EVENT_PAUSE_SENT:
    case WEFT_EVENT_PAUSE_RECEIVED:
        say_pause(v, e, file);
        break;
    case WEFT_EVENT_PAUSED:
        fprintf(file, "%s: priority %u paused", to, e->priority);
        if (e->value) fprintf(file, ", %s wait", weft__about_bytes(e->value).text);
        break;
    case WEFT_EVENT_RESUMED:
        fprintf(file, "%s: priority %u goes on after %s%s", to, e->priority, weft__about_time(e->value).text,
                resumed_by[e->detail % 3]);
        break;
    case WEFT_EVENT_STORM_BEGAN:
        fprintf(file, "%s, priority %u: a PFC storm, paused for %s", to, e->priority, weft__about_time(e->value).text);
        break;
    case WEFT_EVENT_STORM_ENDED:
        fprintf(file, "%s, priority %u: the PFC storm is over", to, e->priority);
        break;
    case WEFT_EVENT_DROPPED:
        fprintf(file, "%s, priority %u: %s dropped (%s): %s", name, e->priority, weft__counted(e->more, "packet").text,
                weft__about_bytes(e->value).text, weft_drop_names[e->detail]);
        break;
    case WEFT_EVENT_CELLS_LOST:
        fprintf(file, "%s: %s lost (%s): %s", to, weft__counted(e->more, "cell").text, weft__about_bytes(e->value).text,
                weft_drop_names[e->detail]);
        break;
    case WEFT_EVENT_RMA_TIMEOUT:
        fprintf(file, "%s, priority %u: a 1RMA request to %s is handed back after %s without %s", to, e->priority,
                e->more < v->t.ports ? v->t.port[e->more].name : "?", weft__about_time(e->value).text,
                e->detail == WEFT_EVENT_RMA_WINDOW ? "room in the solicitation window" : "an answer");
        break;
    case WEFT_EVENT_VOQ_PURGED:
        fprintf(file, "%s, priority %u: the credit watchdog discards %s", from, e->priority,
                weft__about_bytes(e->value).text);
        fprintf(file, ", which wait for credits of %s", e->more < v->t.ports ? v->t.port[e->more].name : "?");
        break;
    case WEFT_EVENT_THROTTLE_BEGAN:
        fprintf(file, "%s: credits of its box slowed down to level %llu, congested links score %llu", name,
                (unsigned long long)e->value, (unsigned long long)e->more);
        break;
    case WEFT_EVENT_THROTTLE_ENDED:
        fprintf(file, "%s: credits of its box at full rate again, after level %llu at most", name,
                (unsigned long long)e->value);
        break;
    case WEFT_EVENT_LANE_STOP_SENT:
        fprintf(file, "%s: the far end is told to %s", to, e->value ? "stop" : "go on");
        break;
    case WEFT_EVENT_LANE_STOPPED:
        fprintf(file, "%s: stopped, %s wait", to, weft__counted(e->value, "cell").text);
        break;
    case WEFT_EVENT_LANE_RESUMED:
        fprintf(file, "%s: goes on after %s", to, weft__about_time(e->value).text);
        break;
    case WEFT_EVENT_LOSSLESS:
        fprintf(file, "%s: lossless priorities are %s", to, timeline_priorities(e->value).text);
        fprintf(file, ", no longer %s", timeline_priorities(e->more).text);
        break;
    case WEFT_EVENT_LINK_DOWN:
    case WEFT_EVENT_LINK_UP:
        fprintf(file, "%s: link %s", to, e->kind == WEFT_EVENT_LINK_UP ? "up" : "down");
        break;
    case WEFT_EVENT_KINDS:
        break;
    }
}
