// SPDX-License-Identifier: Apache-2.0
// What hosts sent and when, as pcapng, and a scenario that lets them send it again: an ordinary run with the same
// digest.
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "live/live.h"
#include "weft/capture_read.h"
#include "weft/memory.h"
#include "weft/pcapng.h"
#include "weft/sim.h"

#define RECORD "live.pcapng"
#define REPLAY "replay.yaml"

static enum weft_status cannot_write(const char *path, struct weft_error *ret_error) {
    return weft_error_set(ret_error, WEFT_ERROR_SYSTEM, WEFT_NOWHERE, "cannot write '%s': %s", path,
                          strerror(errno ? errno : EIO));
}

enum weft_status weft__live_record_begin(struct weft__live *l, struct weft_error *ret_error) {
    struct weft_live *a = l->answer;
    a->record = weft_arena_format(l->arena, "%s/%s", l->options->folder, RECORD);
    a->replay = weft_arena_format(l->arena, "%s/%s", l->options->folder, REPLAY);
    l->record = weft__file_open(a->record, "wb");
    if (!l->record) return cannot_write(a->record, ret_error);
    weft_pcapng_write_section(l->record, "weft live " WEFT_VERSION,
                              "simulated time from 0: when a frame is at its host's port");
    for (uint32_t i = 0; i < a->hosts; i++)
        weft_pcapng_write_interface(l->record, &(struct weft_pcapng_interface){.name = a->host[i].name});
    return WEFT_OK;
}

void weft__live_record_frame(struct weft__live *l, uint32_t i, weft_time_ps time, const uint8_t *bytes, size_t length) {
    weft_pcapng_write_packet(l->record, &(struct weft_pcapng_packet){.interface = i,
                                                                     .time_ns = time / WEFT_PS_PER_NS,
                                                                     .bytes = (uint32_t)length,
                                                                     .captured = (uint32_t)length,
                                                                     .frame = bytes,
                                                                     .direction = WEFT_PCAPNG_OUTBOUND});
    off_t size = ftello(l->record);
    if (size < 0 || ferror(l->record)) {
        l->over = true;
        l->why = weft_arena_format(l->arena, "cannot write %s", l->answer->record);
    } else if ((weft_bytes)size >= l->conf->record_bytes_max) {
        l->over = true;
        l->why = weft_arena_format(l->arena, "%s is as large as live.record_max allows", l->answer->record);
    }
}

static enum weft_status put_frames(struct weft__live *l, FILE *file, struct weft_arena *arena,
                                   struct weft_error *ret_error) {
    struct weft_capture_reader *reader;
    struct weft_capture_frame f;
    bool any = true;
    enum weft_status status = weft_capture_open(file, l->answer->record, arena, &reader, ret_error);
    while (!status && any) {
        status = weft_capture_next(reader, &f, &any, ret_error);
        if (!status && any)
            status = weft__live_put_again(l, f.interface, f.time_ns * WEFT_PS_PER_NS, f.data, f.captured, ret_error);
    }
    return status;
}

enum weft_status weft__live_record_again(struct weft__live *l, struct weft_error *ret_error) {
    FILE *file = fflush(l->record) ? NULL : weft__file_open(l->answer->record, "rb");
    if (!file) return cannot_write(l->answer->record, ret_error);
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    enum weft_status status = put_frames(l, file, arena, ret_error);
    weft_arena_free(arena);
    fclose(file);
    return status;
}

/// The settings of the command line but for events, whose list is written whole. The last one of a path wins.
static void write_settings(const struct weft__live *l, FILE *file) {
    uint32_t n;
    const struct weft_scenario_source *source = weft_scenario_sources(l->file, &n);
    for (uint32_t i = 0; i < n; i++) {
        size_t path = source[i].name ? 0 : strcspn(source[i].text, "=");
        bool again = false;
        for (uint32_t k = i + 1; k < n; k++)
            again |= !source[k].name && !strncmp(source[k].text, source[i].text, path + 1);
        if (!path || again || !strncmp(source[i].text, "events", 6)) continue;
        fprintf(file, "\"%.*s\": %s\n", (int)path, source[i].text, source[i].text + path + 1);
    }
}

static void write_replay(const struct weft__live *l, FILE *file) {
    const struct weft_live *a = l->answer;
    const struct weft_scenario *s = l->simulation->scenario;
    char *base = realpath(l->options->scenario, NULL);
    fprintf(file, "# weft run %s%s%s: the live run again, digest %s\n", REPLAY, *s->variant ? " --variant " : "",
            s->variant, a->digest);
    for (uint32_t i = 0; i < a->notes; i++)
        fprintf(file, "# at %" PRIu64 "ps: %s\n", a->note[i].time_ps, a->note[i].text);
    fprintf(file, "base: \"%s\"\n", base ? base : l->options->scenario);
    write_settings(l, file);
    if (s->events_tree) fprintf(file, "events: %s\n", weft_tree_text(s->events_tree, l->arena));
    fprintf(file, "run.until: %" PRIu64 "ps\nworkload.+: {kind: frames, file: %s}\n", a->sim_time_ps, RECORD);
    free(base);
}

enum weft_status weft__live_record_end(struct weft__live *l, struct weft_error *ret_error) {
    errno = 0;
    bool written = !ferror(l->record);
    written &= !fclose(l->record);
    l->record = NULL;
    if (!written) return cannot_write(l->answer->record, ret_error);
    FILE *file = weft__file_open(l->answer->replay, "wb");
    if (!file) return cannot_write(l->answer->replay, ret_error);
    write_replay(l, file);
    written = !ferror(file);
    written &= !fclose(file);
    return written ? WEFT_OK : cannot_write(l->answer->replay, ret_error);
}
