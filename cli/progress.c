// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR = 24, COLUMNS_DEFAULT = 80, LINE = 256 };
static const double interval_s = 0.1;

static double part_done(const struct weft_progress *now) {
    return now->total_bytes ? (double)now->delivered_bytes / (double)now->total_bytes : 0;
}

/// "1:02:03 left"; too early to tell: "".
static void format_left(const struct weft_progress *now, char *text, size_t size) {
    double part = part_done(now);
    text[0] = 0;
    if (part < 0.005 || part >= 1 || now->wall_s <= 0) return;
    double left_s = now->wall_s * (1 - part) / part;
    if (left_s > 1e6) return;
    unsigned s = (unsigned)(left_s + 0.5);
    if (s < 3600)
        snprintf(text, size, ", %u:%02u left", s / 60, s % 60);
    else
        snprintf(text, size, ", %u:%02u:%02u left", s / 3600, s / 60 % 60, s % 60);
}

void weft_cli_progress_format(const struct weft_progress *now, const char *label, unsigned columns, char *text,
                              size_t size) {
    char bar[BAR + 1], simulated[64], left[64];
    double part = part_done(now);
    unsigned filled = part >= 1 ? BAR : (unsigned)(part * BAR);
    memset(bar, '.', BAR);
    memset(bar, '#', filled);
    bar[BAR] = 0;
    weft_format_time(now->now_ps, simulated, sizeof simulated);
    format_left(now, left, sizeof left);
    double rate = now->wall_s > 0 ? (double)now->packet_hops / now->wall_s : 0;
    snprintf(text, size, "%s%s[%s] %3u%%  %s simulated, %.1f M packet-hops/s%s", label, *label ? " " : "", bar,
             (unsigned)(part * 100), simulated, rate / 1e6, left);
    if (columns < size) text[columns] = 0;
}

void weft_cli_progress_init(struct weft_cli_progress *progress, const char *label, bool quiet) {
    struct winsize window;
    *progress = (struct weft_cli_progress){.label = label, .drawn_s = -1, .columns = COLUMNS_DEFAULT};
    if (quiet || !isatty(STDERR_FILENO)) return;
    progress->file = stderr;
    // One column stays free: a terminal may wrap when the last one is written.
    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &window) && window.ws_col > 1) progress->columns = window.ws_col - 1u;
}

static void draw(struct weft_cli_progress *progress, const struct weft_progress *now) {
    char text[LINE];
    weft_cli_progress_format(now, progress->label, progress->columns, text, sizeof text);
    fprintf(progress->file, "\r%s\033[K", text);
    fflush(progress->file);
    progress->drawn_s = now->wall_s;
}

bool weft_cli_progress_on(void *context, const struct weft_progress *now) {
    struct weft_cli_progress *progress = context;
    if (!progress->file || (progress->drawn_s >= 0 && now->wall_s - progress->drawn_s < interval_s)) return true;
    draw(progress, now);
    return true;
}

void weft_cli_progress_done(struct weft_cli_progress *progress, const struct weft_progress *end) {
    if (!progress->file) return;
    draw(progress, end);
    putc('\n', progress->file);
    progress->drawn_s = -1;
}

void weft_cli_progress_deinit(struct weft_cli_progress *progress) {
    if (!progress->file || progress->drawn_s < 0) return;
    fputs("\r\033[K", progress->file);
    fflush(progress->file);
    progress->drawn_s = -1;
}
