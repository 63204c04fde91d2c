// SPDX-License-Identifier: Apache-2.0
// Describes events in words.
#include <stdlib.h>

#include "timeline.h"

#include "base/units.h"

const char *timeline_time(weft_time_ps time, char *text) {
    snprintf(text, TIMELINE_TEXT, "%llu.%03lluus", (unsigned long long)(time / WEFT_PS_PER_US),
             (unsigned long long)(time % WEFT_PS_PER_US / WEFT_PS_PER_NS));
    return text;
}

static const char *scaled_text(double value, const double *scale, const char *const *unit, unsigned n, char *text) {
    unsigned k = n - 1;
    while (k && value < scale[k] * 0.9995)
        k--;
    double shown = value / scale[k];
    snprintf(text, TIMELINE_TEXT, "%.*f%s", shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2, shown, unit[k]);
    return text;
}

const char *timeline_duration(weft_time_ps time, char *text) {
    static const double scale[] = {1, 1e3, 1e6, 1e9, 1e12};
    static const char *const unit[] = {"ps", "ns", "us", "ms", "s"};
    return scaled_text((double)time, scale, unit, 5, text);
}

const char *timeline_bytes(weft_bytes bytes, char *text) {
    static const double scale[] = {1e3, 1e6, 1e9, 1e12};
    static const char *const unit[] = {"KB", "MB", "GB", "TB"};
    if (bytes >= 1000) return scaled_text((double)bytes, scale, unit, 4, text);
    snprintf(text, TIMELINE_TEXT, "%lluB", (unsigned long long)bytes);
    return text;
}

const char *timeline_priorities(uint64_t mask, char *text) {
    int n = snprintf(text, TIMELINE_TEXT, mask ? "" : "none");
    for (unsigned p = 0; p < WEFT_PRIORITIES; p++)
        if (mask >> p & 1) n += snprintf(text + n, TIMELINE_TEXT - (size_t)n, "%s%u", n ? "," : "", p);
    return text;
}

const char *timeline_port(const struct timeline_view *v, uint32_t port, const char *to, char *text) {
    if (port == WEFT_NONE)
        snprintf(text, TIMELINE_TEXT, "?");
    else if (to)
        snprintf(text, TIMELINE_TEXT, "%s %s %s", v->t.port[port].name, to, v->t.port[port].peer);
    else
        snprintf(text, TIMELINE_TEXT, "%s", v->t.port[port].name);
    return text;
}

const char *timeline_flow(const struct timeline_view *v, uint32_t flow, char *text) {
    if (flow == WEFT_NONE)
        snprintf(text, TIMELINE_TEXT, "a flow");
    else
        snprintf(text, TIMELINE_TEXT, "flow %u, %s to %s", flow, v->t.flow[flow].src, v->t.flow[flow].dst);
    return text;
}

void timeline_filled_by(const struct timeline_view *v, uint32_t congested, FILE *file) {
    enum { SAID = 4 };
    const struct weft_event *c = &v->t.event[congested - 1];
    char flow[TIMELINE_TEXT];
    uint64_t said = 0;
    for (uint32_t id = congested + 1; id <= v->t.events && v->t.event[id - 1].time_ps == c->time_ps; id++) {
        const struct weft_event *e = &v->t.event[id - 1];
        if (e->kind != WEFT_EVENT_CONGESTED_BY || e->cause != congested || said == SAID) continue;
        fprintf(file, "%s%s (%.0f%%)", said ? "; " : ": ", timeline_flow(v, e->flow, flow),
                c->value ? 100.0 * (double)e->value / (double)c->value : 0.0);
        said++;
    }
    if (said && c->more > said) fprintf(file, "; and %llu more", (unsigned long long)(c->more - said));
}

static void say_rate(const struct timeline_view *v, const struct weft_event *e, FILE *file) {
    char flow[TIMELINE_TEXT], rate[32], before[32];
    weft_format_rate(e->value, rate, sizeof rate);
    weft_format_rate(e->more, before, sizeof before);
    fprintf(file, "%s: rate %s from %s to %s", timeline_flow(v, e->flow, flow),
            e->kind == WEFT_EVENT_RATE_CUT ? "cut" : "raised", before, rate);
}

static void say_queue(const struct timeline_view *v, const struct weft_event *e, FILE *file) {
    static const char *const names[] = {"min", "max", "drop threshold"};
    char port[TIMELINE_TEXT], bytes[TIMELINE_TEXT], threshold[TIMELINE_TEXT];
    fprintf(file, "%s, priority %u: queue of %s is %s WRED's %s (%s)", timeline_port(v, e->port, "to", port),
            e->priority, timeline_bytes(e->value, bytes), e->kind == WEFT_EVENT_QUEUE_ABOVE ? "above" : "at or below",
            names[e->detail], timeline_bytes(e->more, threshold));
}

static void say_pause(const struct timeline_view *v, const struct weft_event *e, FILE *file) {
    char port[TIMELINE_TEXT];
    bool sent = e->kind == WEFT_EVENT_PAUSE_SENT;
    timeline_port(v, e->port, sent ? "to" : "from", port);
    fprintf(file, "%s: %s frame %s, classes 0x%02x, priority %u: %llu quanta", port, e->value ? "pause" : "resume",
            sent ? "sent" : "received", e->detail, e->priority, (unsigned long long)e->value);
    if (sent && e->begins && e->value) fprintf(file, " (again)");
    if (!sent && e->value && !e->more) fprintf(file, ", not obeyed: the priority is not lossless here");
}

static const char *const resumed_by[] = {"", ", its pause time over", ", no longer lossless"};

void timeline_event_text(const struct timeline_view *v, uint32_t id, FILE *file) {
    const struct weft_event *e = &v->t.event[id - 1];
    char to[TIMELINE_TEXT], from[TIMELINE_TEXT], name[TIMELINE_TEXT], a[TIMELINE_TEXT], flow[TIMELINE_TEXT];
    timeline_port(v, e->port, "to", to);
    timeline_port(v, e->port, "from", from);
    timeline_port(v, e->port, NULL, name);
    timeline_flow(v, e->flow, flow);
    switch ((enum weft_event_kind)e->kind) {
    case WEFT_EVENT_FLOW_STARTED:
        fprintf(file, "%s, starts: %s, priority %u", flow, timeline_bytes(e->value, a), e->priority);
        break;
    case WEFT_EVENT_FLOW_FINISHED:
        fprintf(file, "%s, has finished after %s", flow, timeline_duration(e->value, a));
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
        fprintf(file, "%s, priority %u: marking begins, with %s queued", to, e->priority, timeline_bytes(e->value, a));
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
        fprintf(file, "%s, priority %u: congested, %s queued by %s", to, e->priority, timeline_bytes(e->value, a),
                weft__counted(e->more, "queue pair").text);
        timeline_filled_by(v, id, file);
        break;
    case WEFT_EVENT_CONGESTED_BY:
        fprintf(file, "%s, priority %u: %s of it by %s", to, e->priority, timeline_bytes(e->value, a), flow);
        break;
    case WEFT_EVENT_DRAINED:
        fprintf(file, "%s, priority %u: its queue is empty", to, e->priority);
        break;
    case WEFT_EVENT_SFC_SENT:
        fprintf(file, "%s: asked by %s, priority %u, to pause for %s", flow, to, e->priority,
                timeline_duration(e->value * WEFT_PS_PER_NS, a));
        fprintf(file, "; %s queued", timeline_bytes(e->more, a));
        break;
    case WEFT_EVENT_SFC_RECEIVED:
        fprintf(file, "%s: to pause for %s, received by %s", flow, timeline_duration(e->value * WEFT_PS_PER_NS, a),
                name);
        break;
    case WEFT_EVENT_XOFF:
        fprintf(file, "%s, priority %u: above XOFF with %s", from, e->priority, timeline_bytes(e->value, a));
        if (e->more < v->t.ports) fprintf(file, ", most of it for %s", v->t.port[e->more].name);
        if (timeline_is_host(v, id)) fprintf(file, ", for its host takes data too slowly");
        break;
    case WEFT_EVENT_XON:
        fprintf(file, "%s, priority %u: at XON with %s", from, e->priority, timeline_bytes(e->value, a));
        break;
    case WEFT_EVENT_PAUSE_SENT:
    case WEFT_EVENT_PAUSE_RECEIVED:
        say_pause(v, e, file);
        break;
    case WEFT_EVENT_PAUSED:
        fprintf(file, "%s: priority %u paused", to, e->priority);
        if (e->value) fprintf(file, ", %s wait", timeline_bytes(e->value, a));
        break;
    case WEFT_EVENT_RESUMED:
        fprintf(file, "%s: priority %u goes on after %s%s", to, e->priority, timeline_duration(e->value, a),
                resumed_by[e->detail % 3]);
        break;
    case WEFT_EVENT_STORM_BEGAN:
        fprintf(file, "%s, priority %u: a PFC storm, paused for %s", to, e->priority, timeline_duration(e->value, a));
        break;
    case WEFT_EVENT_STORM_ENDED:
        fprintf(file, "%s, priority %u: the PFC storm is over", to, e->priority);
        break;
    case WEFT_EVENT_DROPPED:
        fprintf(file, "%s, priority %u: %s dropped (%s): %s", name, e->priority, weft__counted(e->more, "packet").text,
                timeline_bytes(e->value, a), weft_drop_names[e->detail]);
        break;
    case WEFT_EVENT_CELLS_LOST:
        fprintf(file, "%s: %s lost (%s): %s", to, weft__counted(e->more, "cell").text, timeline_bytes(e->value, a),
                weft_drop_names[e->detail]);
        break;
    case WEFT_EVENT_RMA_TIMEOUT:
        fprintf(file, "%s, priority %u: a 1RMA request to %s is handed back after %s without %s", to, e->priority,
                e->more < v->t.ports ? v->t.port[e->more].name : "?", timeline_duration(e->value, a),
                e->detail == WEFT_EVENT_RMA_WINDOW ? "room in the solicitation window" : "an answer");
        break;
    case WEFT_EVENT_VOQ_PURGED:
        fprintf(file, "%s, priority %u: the credit watchdog discards %s", from, e->priority,
                timeline_bytes(e->value, a));
        fprintf(file, ", which wait for credits of %s", e->more < v->t.ports ? v->t.port[e->more].name : "?");
        break;
    case WEFT_EVENT_THROTTLE_BEGAN:
        fprintf(file, "%s: credits of its box slowed down to level %llu, %llu in 1000 cells marked", name,
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
        fprintf(file, "%s: goes on after %s", to, timeline_duration(e->value, a));
        break;
    case WEFT_EVENT_LOSSLESS:
        fprintf(file, "%s: lossless priorities are %s", to, timeline_priorities(e->value, a));
        fprintf(file, ", no longer %s", timeline_priorities(e->more, a));
        break;
    case WEFT_EVENT_LINK_DOWN:
    case WEFT_EVENT_LINK_UP:
        fprintf(file, "%s: link %s", to, e->kind == WEFT_EVENT_LINK_UP ? "up" : "down");
        break;
    case WEFT_EVENT_KINDS:
        break;
    }
}

void timeline_event_json(const struct timeline_view *v, uint32_t id, struct weft__json *j) {
    const struct weft_event *e = &v->t.event[id - 1];
    const struct weft_event_info *info = &weft_event_infos[e->kind];
    struct weft__text_stream stream;
    timeline_event_text(v, id, weft__text_stream_open(&stream));
    weft__json_begin_object(j);
    weft__json_key_u64(j, "event", id);
    weft__json_key_u64(j, "time_ps", e->time_ps);
    weft__json_key_string(j, "kind", info->name);
    weft__json_key_string(j, "port", v->t.port[e->port].name);
    if (e->priority != WEFT_EVENT_NO_PRIORITY) weft__json_key_u64(j, "priority", e->priority);
    if (e->flow != WEFT_NONE) weft__json_key_u64(j, "flow", e->flow);
    if (e->qp != WEFT_NONE) weft__json_key_u64(j, "qp", e->qp);
    if (*info->value) weft__json_key_u64(j, "value", e->value);
    if (*info->more) weft__json_key_u64(j, "more", e->more);
    weft__json_key_u64(j, "detail", e->detail);
    if (e->cause) weft__json_key_u64(j, "cause", e->cause);
    if (e->begins) weft__json_key_u64(j, "begins", e->begins);
    weft__json_key_string(j, "text", weft__text_stream_text(&stream));
    weft__json_end_object(j);
    weft__text_stream_free(&stream);
}
