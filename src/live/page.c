// SPDX-License-Identifier: Apache-2.0
// The page of a live run (live.page): the network in motion, hosts and drops, over HTTP (RFC 9112) at a port of the
// loopback address. Two resources: the page, and its data, for which the page asks each second. A request must name
// this machine as its host: a web site cannot read the data through a host name that it controls.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "live/live.h"
#include "sim/run.h"
#include "weft/memory.h"
#include "weft/report.h"
#include "weft/sim.h"

enum { WINDOWS = 96, WINDOW_NS = 250000000 };

/// What ports did in the last windows: a ring of [WINDOWS][ports].
struct weft__live_film {
    struct weft_sample *sample;
    uint64_t *sent; ///< [ports] bytes when the last window ended
    weft_time_ps window_ps, until_ps;
    uint64_t windows;
};

// --- samples ------------------------------------------------------------------------------------------------------

static void sample_port(struct weft__live_film *film, const struct weft__network *net, uint32_t id,
                        struct weft_sample *ret_sample) {
    const struct weft__port *port = weft__network_port(net, id);
    uint64_t sent = 0;
    *ret_sample = (struct weft_sample){.time_ps = film->until_ps, .port = id};
    for (uint32_t p = 0; port && p < WEFT_PRIORITIES; p++) {
        sent += weft__port_queue_of(port, p)->tx_bytes;
        ret_sample->queue_bytes += weft__port_queue_of(port, p)->bytes;
    }
    ret_sample->paused = port && port->paused;
    // a change of the network repeats the run, and counters begin anew
    ret_sample->tx_bytes = sent < film->sent[id] ? 0 : sent - film->sent[id];
    film->sent[id] = sent;
}

static void begin_film(struct weft__live *l) {
    uint32_t ports = l->simulation->topology->ports;
    l->film = weft_arena_alloc(l->arena, 1, sizeof *l->film);
    l->film->sample = weft_arena_alloc(l->arena, (size_t)WINDOWS * ports, sizeof *l->film->sample);
    l->film->sent = weft_arena_alloc(l->arena, ports, sizeof *l->film->sent);
    l->film->window_ps = (weft_time_ps)((double)WINDOW_NS * WEFT_PS_PER_NS / (double)l->conf->slow) + 1;
}

/// A window that was missed is left out; the next one has its bytes too.
void weft__live_film(struct weft__live *l) {
    struct weft__live_film *film = l->film;
    if (!film || l->ran_ps < film->until_ps + film->window_ps) return;
    const struct weft__network *net = weft__drive_network(l->drive);
    uint32_t ports = net->topology->ports;
    film->until_ps = l->ran_ps / film->window_ps * film->window_ps;
    for (uint32_t i = 0; i < ports; i++)
        sample_port(film, net, i, &film->sample[(film->windows % WINDOWS) * ports + i]);
    film->windows++;
}

static void write_motion(struct weft__live *l, struct weft__json *j) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    const struct weft__live_film *film = l->film;
    const struct weft_topology *topology = l->simulation->topology;
    uint64_t kept = film->windows < WINDOWS ? film->windows : WINDOWS, span = WINDOWS * film->window_ps;
    struct weft_sample *sample = weft_arena_alloc(arena, kept * topology->ports, sizeof *sample);
    for (uint64_t k = 0; k < kept; k++)
        memcpy(sample + k * topology->ports, film->sample + (film->windows - kept + k) % WINDOWS * topology->ports,
               topology->ports * sizeof *sample);
    struct weft_scenario *scenario = weft_arena_alloc(arena, 1, sizeof *scenario);
    struct weft_outcome *outcome = weft_arena_alloc(arena, 1, sizeof *outcome);
    *scenario = *l->simulation->scenario;
    scenario->run.sample_interval_ps = film->window_ps;
    outcome->sample = sample;
    outcome->samples = kept * topology->ports;
    outcome->sim_time_ps = film->until_ps;
    const struct weft_run run = {.scenario = scenario, .topology = topology, .outcome = outcome};
    weft_time_ps from = film->until_ps > span ? film->until_ps - span : 0;
    while (outcome->samples && outcome->sample->time_ps <= from) { // before the pace was changed
        outcome->sample++;
        outcome->samples--;
    }
    weft_report_motion(j, &run, from, arena);
}

static void write_drops(struct weft__live *l, struct weft__json *j) {
    struct weft__tally sum = weft__engine_tally(&weft__drive_network(l->drive)->engine);
    weft__json_key(j, "drops");
    weft__json_begin_object(j);
    for (unsigned d = 0; d < WEFT_DROPS; d++)
        if (sum.count[WEFT__COUNT_DROPS + d])
            weft__json_key_u64(j, weft_drop_names[d], sum.count[WEFT__COUNT_DROPS + d]);
    weft__json_end_object(j);
}

/// {"name", "live": what `weft live --json` answers, as it stands now, "drops", "run": as of a report}.
static void write_data(void *context, struct weft__json *j) {
    struct weft__live *l = context;
    weft__live_judge(l);
    weft__json_begin_object(j);
    weft__json_key_string(j, "name", l->simulation->scenario->name);
    weft__json_key(j, "live");
    weft_answer_json(j, &weft__answer_live, l->answer);
    write_drops(l, j);
    weft__json_key(j, "why");
    weft__json_begin_object(j);
    write_motion(l, j);
    weft__json_end_object(j);
    weft__json_end_object(j);
}

// --- requests -----------------------------------------------------------------------------------------------------

/// Whether a header line names this machine as the host, at the port.
static bool is_own_host(const struct weft__live *l, const char *line) {
    char own[2][32];
    snprintf(own[0], sizeof own[0], "127.0.0.1:%u", (unsigned)l->conf->page);
    snprintf(own[1], sizeof own[1], "localhost:%u", (unsigned)l->conf->page);
    line += strspn(line, " \t");
    size_t length = strcspn(line, " \t\r\n");
    for (int i = 0; i < 2; i++)
        if (strlen(own[i]) == length && !strncasecmp(line, own[i], length)) return true;
    return false;
}

static bool names_own_host(const struct weft__live *l, const char *request) {
    bool own = false;
    uint32_t hosts = 0;
    for (const char *line = strchr(request, '\n'); line; line = strchr(line, '\n'))
        if (!strncasecmp(++line, "host:", 5)) {
            own = is_own_host(l, line + 5);
            hosts++;
        }
    return hosts == 1 && own;
}

static void answer_request(struct weft__live *l, const char *request, FILE *file) {
    static const char head[] = "HTTP/1.1 %s\r\nContent-Type: %s\r\nConnection: close\r\nCache-Control: no-store\r\n"
                               "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\r\n";
    bool page = !strncmp(request, "GET / ", 6), data = !strncmp(request, "GET /data ", 10);
    if (!names_own_host(l, request)) {
        fprintf(file, head, "403 Forbidden", "text/plain");
        fputs("weft live answers to this machine only\n", file);
    } else if (strncmp(request, "GET ", 4)) {
        fprintf(file, head, "405 Method Not Allowed", "text/plain");
    } else if (page) {
        fprintf(file, head, "200 OK", "text/html; charset=utf-8");
        weft_report_page_write(file, l->page);
    } else if (data) {
        fprintf(file, head, "200 OK", "application/json");
        struct weft__json j = {.file = file};
        write_data(l, &j);
    } else {
        fprintf(file, head, "404 Not Found", "text/plain");
    }
}

static void end_visit(struct weft__live_visitor *v) {
    if (v->fd >= 0) close(v->fd);
    if (v->answered) weft__text_stream_free(&v->answer);
    v->fd = -1;
    v->n = v->sent = 0;
    v->answered = false;
}

void weft__live_page_write(struct weft__live_visitor *v) {
    const char *text = weft__text_stream_text(&v->answer);
    ssize_t n = send(v->fd, text + v->sent, v->answer.size - v->sent, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) v->sent += (size_t)n;
    if (n <= 0 || v->sent == v->answer.size) end_visit(v);
}

void weft__live_page_read(struct weft__live *l, struct weft__live_visitor *v) {
    ssize_t got = read(v->fd, v->request + v->n, sizeof v->request - 1 - v->n);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) v->n += (size_t)got;
    v->request[v->n] = 0;
    if (got <= 0 || strlen(v->request) != v->n || v->n == sizeof v->request - 1) { // gone, or no request
        end_visit(v);
    } else if (strstr(v->request, "\r\n\r\n")) {
        v->answered = true;
        answer_request(l, v->request, weft__text_stream_open(&v->answer));
        weft__live_page_write(v);
    }
}

void weft__live_page_accept(struct weft__live *l) {
    int fd = accept4(l->page_listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    uint64_t now = weft__wall_ns();
    struct weft__live_visitor *oldest = l->visitor;
    for (uint32_t i = 0; i < WEFT__LIVE_VISITORS; i++)
        if (l->visitor[i].since_ns < oldest->since_ns || l->visitor[i].fd < 0) oldest = &l->visitor[i];
    if (fd < 0) return;
    end_visit(oldest); // connections that send no request do not block others
    oldest->fd = fd;
    oldest->since_ns = now;
}

enum weft_status weft__live_page_begin(struct weft__live *l, struct weft_error *ret_error) {
    if (!l->conf->page) return WEFT_OK;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)l->conf->page), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    WEFT_TRY(weft_report_page_check(ret_error));
    l->page = weft_report_page_live();
    begin_film(l);
    l->page_listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(l->page_listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (l->page_listener >= 0 && !bind(l->page_listener, (const struct sockaddr *)&address, sizeof address) &&
        !listen(l->page_listener, WEFT__LIVE_VISITORS))
        return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, l->conf->place, "live.page: cannot listen at 127.0.0.1:%u: %s",
                          (unsigned)l->conf->page, strerror(errno));
}

void weft__live_page_end(struct weft__live *l) {
    for (uint32_t i = 0; i < WEFT__LIVE_VISITORS; i++)
        end_visit(&l->visitor[i]);
    if (l->page_listener >= 0) close(l->page_listener);
    weft_report_page_free(l->page);
}
