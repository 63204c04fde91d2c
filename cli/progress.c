// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"

enum { BAR = 24, COLUMNS_DEFAULT = 80, LINE = 256 };
static const double interval_s = 0.1;

static double part_done(const struct weft_progress *now) {
    return now->total_bytes ? (double)now->delivered_bytes / (double)now->total_bytes : 0;
}

/// "1:02:03 left"; "" if it is too early to tell.
static void format_left(double part, double wall_s, char *text, size_t size) {
    text[0] = 0;
    if (part < 0.005 || part >= 1 || wall_s <= 0) return;
    double left_s = wall_s * (1 - part) / part;
    if (left_s > 1e6) return;
    unsigned s = (unsigned)(left_s + 0.5);
    if (s < 3600)
        snprintf(text, size, ", %u:%02u left", s / 60, s % 60);
    else
        snprintf(text, size, ", %u:%02u:%02u left", s / 3600, s / 60 % 60, s % 60);
}

/// "label [######......]  50%  what, 0:30 left", limited to the columns.
static void format_line(double part, double wall_s, const char *label, const char *what, unsigned columns, char *text,
                        size_t size) {
    char bar[BAR + 1], left[64];
    unsigned filled = part >= 1 ? BAR : (unsigned)(part * BAR);
    memset(bar, '.', BAR);
    memset(bar, '#', filled);
    bar[BAR] = 0;
    format_left(part, wall_s, left, sizeof left);
    snprintf(text, size, "%s%s[%s] %3u%%  %s%s", label, *label ? " " : "", bar, (unsigned)(part * 100), what, left);
    if (columns < size) text[columns] = 0;
}

void weft_cli_progress_format(const struct weft_progress *now, const char *label, unsigned columns, char *text,
                              size_t size) {
    char simulated[64], what[128];
    weft_format_time(now->now_ps, simulated, sizeof simulated);
    double rate = now->wall_s > 0 ? (double)now->packet_hops / now->wall_s : 0;
    snprintf(what, sizeof what, "%s simulated, %.1f M packet-hops/s", simulated, rate / 1e6);
    format_line(part_done(now), now->wall_s, label, what, columns, text, size);
}

void weft_cli_progress_format_runs(const struct weft_cli_runs_progress *now, const char *label, unsigned columns,
                                   char *text, size_t size) {
    char what[128];
    snprintf(what, sizeof what, "%u of %s", now->ended, weft__counted(now->runs, "run").text);
    format_line(now->part, now->wall_s, label, what, columns, text, size);
}

void weft_cli_progress_init(struct weft_cli_progress *progress, const char *label, bool quiet) {
    struct winsize window;
    *progress = (struct weft_cli_progress){.label = label, .drawn_s = -1, .columns = COLUMNS_DEFAULT};
    if (quiet || !isatty(STDERR_FILENO)) return;
    progress->file = stderr;
    // One column stays free, because a terminal may wrap when the last one is written.
    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &window) && window.ws_col > 1) progress->columns = window.ws_col - 1u;
}

static void draw_line(struct weft_cli_progress *progress, const char *text, double wall_s) {
    fprintf(progress->file, "\r%s\033[K", text);
    fflush(progress->file);
    progress->drawn_s = wall_s;
}

static void draw_progress(struct weft_cli_progress *progress, const struct weft_progress *now) {
    char text[LINE];
    weft_cli_progress_format(now, progress->label, progress->columns, text, sizeof text);
    draw_line(progress, text, now->wall_s);
}

void weft_cli_progress_runs(struct weft_cli_progress *progress, const struct weft_cli_runs_progress *now) {
    char text[LINE];
    if (!progress->file) return;
    weft_cli_progress_format_runs(now, progress->label, progress->columns, text, sizeof text);
    draw_line(progress, text, now->wall_s);
}

bool weft_cli_progress_on(void *context, const struct weft_progress *now) {
    struct weft_cli_progress *progress = context;
    if (!progress->file || (progress->drawn_s >= 0 && now->wall_s - progress->drawn_s < interval_s)) return true;
    draw_progress(progress, now);
    return true;
}

void weft_cli_progress_done(struct weft_cli_progress *progress, const struct weft_progress *end) {
    if (!progress->file) return;
    draw_progress(progress, end);
    putc('\n', progress->file);
    progress->drawn_s = -1;
}

void weft_cli_progress_deinit(struct weft_cli_progress *progress) {
    if (!progress->file || progress->drawn_s < 0) return;
    fputs("\r\033[K", progress->file);
    fflush(progress->file);
    progress->drawn_s = -1;
}
