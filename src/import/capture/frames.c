// SPDX-License-Identifier: Apache-2.0
// The record of a live run as a workload: frames of real hosts, sent again by the same hosts at the same times. A run
// with it is the live run, repeated: the digest is the same.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/lines.h"
#include "base/stream.h"
#include "transport/raw.h"
#include "weft/capture_read.h"
#include "weft/param.h"
#include "weft/workload.h"

struct frames_conf {
    struct weft_workload_common common; ///< group only
    const char *file;
};
static const struct weft_param_table frames_params = WEFT_PARAM_TABLE_OF(
    "frames", struct frames_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TEXT(struct frames_conf, file, "file", NULL,
              "pcapng that weft live wrote, or another one whose interfaces have the names of hosts and whose stamps "
              "begin at 0; relative to the scenario"),
    WEFT_TEXT(struct frames_conf, common.group, "group", "live", "flow group in tables and results"));

struct reading {
    struct weft_capture_reader *reader;
    struct weft__raw *raw;
    struct weft_workload *w;
    const char *path;
    uint32_t attached; ///< interfaces
    struct weft_error *error;
};

static enum weft_status find_host(const struct reading *r, uint32_t interface, uint32_t *ret_host) {
    const struct weft_topology *t = r->w->topology;
    const char *name = weft_capture_interface_at(r->reader, interface)->name;
    uint32_t node = name ? weft_topology_find_node(t, name) : WEFT_NONE;
    if (node == WEFT_NONE || t->node[node].role != WEFT_NODE_HOST)
        return WEFT_REFUSE(r->error, (struct weft_place){.file = r->path},
                           "interface %" PRIu32 " has the name '%s', which is no host; expected one such as %s",
                           interface, name ? name : "", t->hosts ? t->node[t->host[0]].name : "none");
    *ret_host = t->node[node].index;
    return WEFT_OK;
}

static enum weft_status take_frame(struct reading *r, const struct weft_capture_frame *f) {
    uint32_t host, conversation;
    WEFT_TRY(find_host(r, f->interface, &host));
    struct weft_place place = {.file = r->path};
    if (f->captured < f->bytes)
        return WEFT_REFUSE(r->error, place, "frame %" PRIu64 ": %" PRIu32 " of its %" PRIu32 " bytes; expected all",
                           f->number, f->captured, f->bytes);
    if (f->time_ns > WEFT_TIME_MAX / WEFT_PS_PER_NS)
        return WEFT_REFUSE(r->error, place,
                           "frame %" PRIu64 ": a stamp of %" PRIu64 " ns; expected simulated time, from 0 on",
                           f->number, f->time_ns);
    if (weft__raw_judge(r->raw, host, f->data, f->captured, &conversation) != WEFT_FRAME_SENT) return WEFT_OK;
    uint8_t *bytes = weft_arena_alloc(r->w->arena, f->captured, 1);
    memcpy(bytes, f->data, f->captured);
    weft__raw_add(r->raw, conversation, f->time_ns * WEFT_PS_PER_NS, bytes, f->captured);
    return WEFT_OK;
}

/// All hosts of the record are attached before its first frame, as they were when it was made.
static enum weft_status attach_hosts(struct reading *r) {
    enum weft_status status = WEFT_OK;
    for (; r->attached < weft_capture_interfaces(r->reader) && !status; r->attached++) {
        uint32_t host;
        status = find_host(r, r->attached, &host);
        if (!status) weft__raw_attach(r->raw, host);
    }
    return status;
}

static enum weft_status read_frames(struct reading *r, FILE *file, struct weft_arena *arena) {
    struct weft_capture_frame f;
    bool any = true;
    enum weft_status status = weft_capture_open(file, r->path, arena, &r->reader, r->error);
    while (!status && any) {
        status = weft_capture_next(r->reader, &f, &any, r->error);
        if (!status) status = attach_hosts(r);
        if (!status && any) status = take_frame(r, &f);
    }
    return status;
}

static enum weft_status frames_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                      uint64_t seed, uint32_t entry, struct weft_workload *w,
                                      struct weft_error *ret_error) {
    const struct frames_conf *c = conf;
    struct reading r = {.w = w, .path = weft__path_beside(c->file, place, w->arena), .error = ret_error};
    if (w->raw) return WEFT_REFUSE(ret_error, place, "a second record of frames; expected one");
    FILE *file = weft__file_open(r.path, "rb");
    if (!file)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, place, "cannot read '%s': %s", r.path, strerror(errno));
    r.raw = weft__raw_new(topology, w->arena);
    struct weft_arena *scratch = weft_arena_new(WEFT_MEMORY_SCENARIO);
    enum weft_status status = read_frames(&r, file, scratch);
    weft_arena_free(scratch);
    fclose(file);
    struct weft_workload_common common = {.group = c->common.group, .qps = 1, .repeat = 1, .verb = WEFT_VERB_RAW};
    for (uint32_t i = 0; i < r.raw->conversations && !status; i++) {
        struct weft__raw_conversation *own = &r.raw->conversation[i];
        own->flow = w->flows;
        common.size_bytes = own->bytes;
        status = weft_workload_add(w, &common, place, own->src, own->dst, own->bytes, own->start_ps, ret_error);
    }
    w->raw = r.raw;
    return status;
}

const struct weft_model weft__workload_frames =
    WEFT_MODEL_OF(WORKLOAD, "frames", "frames of real hosts that weft live has recorded",
                  "ours; what a bridge learns as IEEE 802.1Q clause 8.7 says", &frames_params,
                  &(const struct weft_workload_ops){.expand = frames_expand, .jitters = true});
