// SPDX-License-Identifier: Apache-2.0
// pg_profile_lookup.ini: the lossless profiles of a SONiC device, one line per speed and cable. Source:
// sonic-buildimage, device/*/*/*/pg_profile_lookup.ini; sonic-swss, cfgmgr/buffermgr.cpp reads it.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "weft/sonic.h"

enum { TH_MAX = 1000000000 };
static const uint64_t mbps_min = 10, mbps_max = 100000000, bytes_max = UINT64_C(1000000000000), mm_max = 1000000000;

/// Alpha's power of two, or bytes in a static pool.
static enum weft_status read_threshold(struct weft__lines *lines, int64_t *ret, struct weft_error *ret_error) {
    const char *word = weft__lines_word(lines);
    char *end = NULL;
    *ret = word ? strtoll(word, &end, 10) : 0;
    if (word && end != word && !*end && *ret >= -TH_MAX && *ret <= TH_MAX) return WEFT_OK;
    return WEFT_REFUSE(ret_error, lines->place, "%s%.40s%s: expected a threshold, a whole number", word ? "'" : "",
                       word ? word : "the line ends", word ? "'" : "");
}

static enum weft_status read_row(struct weft__lines *lines, struct weft_sonic_lookup_row *ret,
                                 struct weft_error *ret_error) {
    uint64_t mbps = 0;
    *ret = (struct weft_sonic_lookup_row){.rate_bps = 0};
    enum weft_status status = weft__lines_number(lines, "a speed in Mbit/s", mbps_max, &mbps, ret_error);
    if (!status && mbps < mbps_min)
        return WEFT_REFUSE(ret_error, lines->place, "speed %" PRIu64 ": expected Mbit/s, %" PRIu64 " to %" PRIu64, mbps,
                           mbps_min, mbps_max);
    ret->rate_bps = mbps * 1000000;
    if (!status) status = weft__lines_quantity(lines, "a cable", WEFT__LENGTH, "", &ret->cable_mm, ret_error);
    if (!status && ret->cable_mm > mm_max)
        return WEFT_REFUSE(ret_error, lines->place, "expected a cable of at most 1000km");
    if (!status) status = weft__lines_number(lines, "size", bytes_max, &ret->size_bytes, ret_error);
    if (!status) status = weft__lines_number(lines, "xon", bytes_max, &ret->xon_bytes, ret_error);
    if (!status) status = weft__lines_number(lines, "xoff", bytes_max, &ret->xoff_bytes, ret_error);
    if (!status) status = read_threshold(lines, &ret->threshold, ret_error);
    if (!status && *(lines->at + strspn(lines->at, " \t\r")))
        status = weft__lines_number(lines, "xon_offset", bytes_max, &ret->xon_offset_bytes, ret_error);
    return status ? status : weft__lines_end(lines, "xon_offset", ret_error);
}

const struct weft_sonic_lookup_row *weft_sonic_lookup_find(const struct weft_sonic_lookup *lookup, weft_rate_bps rate,
                                                           uint64_t cable_mm) {
    for (uint32_t i = 0; lookup && i < lookup->rows; i++)
        if (lookup->row[i].rate_bps == rate && lookup->row[i].cable_mm == cable_mm) return &lookup->row[i];
    return NULL;
}

static enum weft_status add_row(struct weft_sonic_lookup *l, const struct weft_sonic_lookup_row *row, uint32_t *room,
                                const struct weft__lines *lines, struct weft_arena *arena,
                                struct weft_error *ret_error) {
    const struct weft_sonic_lookup_row *same = weft_sonic_lookup_find(l, row->rate_bps, row->cable_mm);
    if (same && memcmp(same, row, sizeof *row) == 0) return WEFT_OK;
    if (same)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = lines->path, .line = lines->place.line, .column = 1},
                           "a second profile of %" PRIu64 " Mbit/s and %gm, with other values", row->rate_bps / 1000000,
                           (double)row->cable_mm / 1000);
    if (l->rows == *room) {
        struct weft_sonic_lookup_row *more = weft_arena_alloc(arena, *room = *room ? 2 * *room : 64, sizeof *more);
        if (l->rows) memcpy(more, l->row, l->rows * sizeof *more);
        l->row = more;
    }
    l->row[l->rows++] = *row;
    return WEFT_OK;
}

enum weft_status weft_sonic_lookup_read(const char *path, struct weft_arena *arena,
                                        struct weft_sonic_lookup **ret_lookup, struct weft_error *ret_error) {
    WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
    struct weft_sonic_lookup *l = weft_arena_alloc(arena, 1, sizeof *l);
    uint32_t room = 0;
    bool more = true;
    *l = (struct weft_sonic_lookup){.path = path};
    *ret_lookup = l;
    enum weft_status status = weft__lines_open(&lines, path, (struct weft_place){.file = path}, ret_error);
    if (status) return status;
    while (!status && more) {
        struct weft_sonic_lookup_row row;
        status = weft__lines_next_full(&lines, &more, ret_error);
        if (!status && more) status = read_row(&lines, &row, ret_error);
        if (!status && more) status = add_row(l, &row, &room, &lines, arena, ret_error);
    }
    return status; // without a row it is the table of a device that has no lossless profile
}
