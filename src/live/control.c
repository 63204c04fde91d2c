// SPDX-License-Identifier: Apache-2.0
// Commands from the terminal and from the control socket, and what the terminal shows four times a second.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/order.h"
#include "base/units.h"
#include "live/live.h"
#include "sim/run.h"
#include "weft/memory.h"
#include "weft/sim.h"

enum { SHOW_NS = 250000000, PORTS_SHOWN = 12 };
static const char help[] = "link NAME down|up (a link by one of its ports, leaf-0/3), slow N, mark TEXT, status, quit";

static void answer_client(const struct weft__live_client *c, const char *text) {
    char line[WEFT__LIVE_LINE + 64];
    int n = snprintf(line, sizeof line, "%s\n", text);
    if (c->out >= 0 && n > 0 && write(c->out, line, (size_t)n) < 0) return; // the client's loss
}

// --- commands -----------------------------------------------------------------------------------------------------

static void change_link(struct weft__live *l, const struct weft__live_client *c, char *rest) {
    char *name = strtok_r(rest, " ", &rest), *state = strtok_r(NULL, " ", &rest), text[WEFT__LIVE_LINE];
    struct weft_error error = {0};
    if (!name || !state || (strcmp(state, "up") && strcmp(state, "down")) || strpbrk(name, "\"\\")) {
        answer_client(c, "expected link NAME down, or up");
        return;
    }
    weft_time_ps time = (weft__live_soon(l) / WEFT_PS_PER_NS + 1) * WEFT_PS_PER_NS;
    snprintf(text, sizeof text, "events.+: {at: %lluns, link: \"%s\", state: %s}",
             (unsigned long long)(time / WEFT_PS_PER_NS), name, state);
    if (weft__live_change(l, text, &error)) {
        answer_client(c, error.text);
        return;
    }
    snprintf(text, sizeof text, "link %s %s", name, state);
    weft__live_note(l, time, text);
    answer_client(c, text);
}

static void change_slow(struct weft__live *l, const struct weft__live_client *c, const char *rest) {
    char *end;
    double slow = strtod(rest, &end);
    if (end == rest || !(slow >= 1 && slow <= 1e9)) {
        answer_client(c, "expected slow N, from 1 to 1000000000");
        return;
    }
    weft__live_set_slow(l, slow);
    answer_client(c, "ok");
}

static void tell_status(const struct weft__live *l, const struct weft__live_client *c) {
    char text[WEFT__LIVE_LINE];
    snprintf(text, sizeof text, "at %s, slow %.0f, %llu frames in, %llu out, late by %s (99%%)",
             weft__short_time(weft__live_now(l)).text, l->slow, (unsigned long long)l->answer->frames,
             (unsigned long long)l->answer->delivered,
             weft__short_time(weft_histogram_quantile(l->lateness, 0.99)).text);
    answer_client(c, text);
}

static void obey_command(struct weft__live *l, const struct weft__live_client *c, char *line) {
    size_t word = strcspn(line, " ");
    char *rest = line + word + strspn(line + word, " ");
    line[word] = 0;
    if (!strcmp(line, "quit")) {
        l->over = true;
        l->why = "quit";
        answer_client(c, "ok");
    } else if (!strcmp(line, "link")) {
        change_link(l, c, rest);
    } else if (!strcmp(line, "slow")) {
        change_slow(l, c, rest);
    } else if (!strcmp(line, "mark")) {
        weft__live_note(l, weft__live_now(l), rest);
        answer_client(c, "ok");
    } else if (!strcmp(line, "status")) {
        tell_status(l, c);
    } else if (*line) {
        answer_client(c, help);
    }
}

/// Only text, as lines of a file that a scenario begins with.
static void clean_line(char *line) {
    for (; *line; line++)
        if ((unsigned char)*line < ' ' || *line == 127) *line = ' ';
}

static void end_client(struct weft__live_client *c) {
    if (c->in > 2) close(c->in);
    c->in = c->out = -1;
    c->n = 0;
}

void weft__live_control_read(struct weft__live *l, struct weft__live_client *c) {
    ssize_t got = read(c->in, c->line + c->n, sizeof c->line - 1 - c->n);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        end_client(c);
        return;
    }
    c->n += (size_t)got;
    for (char *end; (end = memchr(c->line, '\n', c->n));) {
        char line[WEFT__LIVE_LINE];
        size_t length = (size_t)(end - c->line);
        memcpy(line, c->line, length);
        line[length] = 0;
        clean_line(line);
        c->n -= length + 1;
        memmove(c->line, end + 1, c->n);
        obey_command(l, c, line);
    }
    if (c->n == sizeof c->line - 1) c->n = 0; // no command is so long
}

void weft__live_control_accept(struct weft__live *l) {
    int fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    for (uint32_t c = 1; c < WEFT__LIVE_CLIENTS && fd >= 0; c++)
        if (l->client[c].in < 0) {
            l->client[c].in = l->client[c].out = fd;
            return;
        }
    if (fd >= 0) close(fd);
}

enum weft_status weft__live_control_begin(struct weft__live *l, struct weft_error *ret_error) {
    l->control = weft_arena_format(l->arena, "%s/control.sock", l->options->folder);
    l->client[0].in = l->options->commands;
    l->client[0].out = l->options->view ? -1 : 2; // the view would wipe an answer out
    l->shown_bytes = weft_arena_alloc(l->arena, l->simulation->topology->ports, sizeof *l->shown_bytes);
    l->listener = weft__attach_bind(l->control, SOCK_STREAM);
    if (l->listener >= 0) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot listen at '%s': %s", l->control,
                          strerror(errno));
}

void weft__live_control_end(struct weft__live *l) {
    for (uint32_t c = 0; c < WEFT__LIVE_CLIENTS; c++)
        end_client(&l->client[c]);
    if (l->listener < 0) return;
    close(l->listener);
    unlink(l->control);
}

// --- the view -----------------------------------------------------------------------------------------------------

struct shown_port {
    uint32_t port, waiting;
    uint64_t bytes, marks;
    uint8_t paused;
};

static struct shown_port look_at_port(const struct weft__live *l, const struct weft__network *net, uint32_t id) {
    const struct weft__port *port = weft__network_port(net, id);
    struct shown_port s = {.port = id};
    uint64_t sent = 0;
    for (uint32_t p = 0; port && p < WEFT_PRIORITIES; p++) {
        const struct weft__port_queue *q = weft__port_queue_of(port, p);
        sent += q->tx_bytes;
        s.waiting += (uint32_t)q->fifo.n;
        s.marks += weft__port_counters(port, p)->ecn_marked;
    }
    if (!port) return s;
    s.waiting += port->waiting;
    s.paused = port->paused;
    s.bytes = sent < l->shown_bytes[id] ? sent : sent - l->shown_bytes[id];
    l->shown_bytes[id] = sent;
    return s;
}

WEFT__ORDER(by_interest, struct shown_port, WEFT__DOWN(paused) ?: WEFT__DOWN(waiting) ?: WEFT__DOWN(bytes) ?: WEFT__UP(port))

static void show_hosts(const struct weft__live *l, FILE *f) {
    fprintf(f, "%-16s %10s %10s %8s %8s %8s\n", "host", "frames in", "out", "waiting", "marked", "lost");
    for (uint32_t i = 0; i < l->answer->hosts; i++) {
        const struct weft_live_attached *h = &l->answer->host[i];
        fprintf(f, "%-16s %10llu %10llu %8u %8llu %8llu %s\n", h->name, (unsigned long long)h->received,
                (unsigned long long)h->delivered, weft_drive_waiting(l->drive, l->number[i]),
                (unsigned long long)h->marked, (unsigned long long)(h->too_long + h->refused),
                h->ended ? h->ended : "");
    }
}

static void show_ports(const struct weft__live *l, const struct weft__network *net, FILE *f) {
    uint32_t ports = net->topology->ports;
    struct shown_port *list = calloc(ports, sizeof *list);
    if (!list) return;
    for (uint32_t i = 0; i < ports; i++)
        list[i] = look_at_port(l, net, i);
    qsort(list, ports, sizeof *list, by_interest);
    fprintf(f, "\n%-28s %12s %8s %10s %s\n", "port", "bytes", "waiting", "marks", "paused priorities");
    for (uint32_t i = 0; i < ports && i < PORTS_SHOWN && (list[i].bytes || list[i].waiting || list[i].paused); i++) {
        char name[160];
        weft_topology_port_name(net->topology, list[i].port, name, sizeof name);
        fprintf(f, "%-28s %12llu %8u %10llu ", name, (unsigned long long)list[i].bytes, list[i].waiting,
                (unsigned long long)list[i].marks);
        for (uint32_t p = 0; p < WEFT_PRIORITIES; p++)
            if (list[i].paused >> p & 1) fprintf(f, "%u ", p);
        fputc('\n', f);
    }
    free(list);
}

static void show_drops(const struct weft__network *net, FILE *f) {
    struct weft__tally sum = weft__engine_tally(&net->engine);
    for (unsigned d = 0; d < WEFT_DROPS; d++)
        if (sum.count[WEFT__COUNT_DROPS + d])
            fprintf(f, "dropped: %llu %s\n", (unsigned long long)sum.count[WEFT__COUNT_DROPS + d], weft_drop_names[d]);
}

void weft__live_show(struct weft__live *l) {
    FILE *f = l->options->view;
    uint64_t now = weft__wall_ns();
    if (!f || now - l->shown_ns < SHOW_NS) return;
    l->shown_ns = now;
    const struct weft__network *net = weft__drive_network(l->drive);
    fprintf(f,
            "\033[H\033[Jweft live: %s at %s, slow %.0f; frames %llu in, %llu out; late by %s (median), %s (99%%)\n\n",
            l->simulation->scenario->name, weft__short_time(weft__live_now(l)).text, l->slow,
            (unsigned long long)l->answer->frames, (unsigned long long)l->answer->delivered,
            weft__short_time(weft_histogram_quantile(l->lateness, 0.5)).text,
            weft__short_time(weft_histogram_quantile(l->lateness, 0.99)).text);
    show_hosts(l, f);
    show_ports(l, net, f);
    show_drops(net, f);
    fprintf(f, "\n%s\n", help);
    fflush(f);
}
