// SPDX-License-Identifier: Apache-2.0
// A program of MSCCL (import/msccl/msccl.h) as a collective: a thread block is a lane. Facts of MSCCL's interpreter
// (microsoft/msccl, src/collectives/device/msccl_interpreter.h, src/include/msccl.h; mscclSetupCount of ROCm/rccl): the
// size has nchunksperloop chunks; the program runs over them in loops, each over at most `chunk` bytes of each of its
// chunks; in a loop, a step processes as many of its chunks at the same time as fit into `chunk`, at most 71, and sends
// them in slices as NCCL does (half of the 8 slots of a buffer of 4 MiB are a chunk, a quarter a slice); a step that
// others wait for is done when all of it is. Differences: chunks are as large as the largest, if the size is no
// multiple of them; LL and LL128 have chunks and slices of Simple, unless the parameters say otherwise, and none of
// their overhead.
#include <inttypes.h>
#include <string.h>

#include "base/lines.h"
#include "base/param.h"
#include "base/stream.h"
#include "base/xml.h"
#include "collective/part.h"
#include "import/msccl/msccl.h"
#include "weft/import.h"
#include "weft/param.h"
#include "weft/scenario.h"
#include "weft/weft.h"

static const char source[] = "microsoft/msccl and msccl-tools; Cowan et al., MSCCLang, ASPLOS 2023";

enum { TOGETHER_MAX = 71 }; ///< chunks that a step takes at once

#define VERIFY_HELP "off: also execute an algorithm whose buffers do not end as its coll requires"

struct conf {
    struct weft_collective_common common;
    const char *file;
    bool verify;
};
static const struct weft_param_table table = WEFT_PARAM_TABLE_OF(
    "msccl", struct conf, .check = weft__collective_check,
    WEFT_TEXT(struct conf, file, "file", NULL, "the algorithm, XML of MSCCL; relative to the scenario"),
    WEFT_BOOL(struct conf, verify, "verify", "on", VERIFY_HELP),
    WEFT_BYTES(struct conf, common.chunk_bytes, "chunk", "2MiB", "1KB", "1GB",
               "bytes of each chunk of the file that are sent per loop"),
    WEFT_BYTES(struct conf, common.slice_bytes, "slice", "1MiB", "1KB", "1GB",
               "part of a chunk that is sent as one message"),
    WEFT_UINT(struct conf, common.slots, "slots", "4", "1", "64", "messages that a connection's buffer holds"),
    WEFT_TIME(struct conf, common.step_ps, "step_delay", "0s", "0s", "1ms", "time per slice of a step (assumed)"),
    WEFT_RATE(struct conf, common.copy_rate_bps, "copy_rate", "0bps", "0bps", "100Tbps",
              "rate at which a thread block copies and reduces; 0: never the bottleneck"));

/// What the functions of the collective get.
struct loaded {
    struct weft_collective_common common;
    const struct weft__msccl *program;
};

static enum weft_status msccl_load(struct weft_place place, struct weft_arena *arena,
                                   struct weft_collective_loaded *loaded, struct weft_error *ret_error) {
    const struct conf *c = loaded->conf;
    struct loaded *l = weft_arena_alloc(arena, 1, sizeof *l);
    struct weft__msccl *program;
    enum weft_status status =
        weft__msccl_read(weft__path_beside(c->file, place, arena), place, arena, &program, ret_error);
    if (status) return status;
    if (program->ranks != loaded->shape.ranks)
        return WEFT_REFUSE(ret_error, place,
                           "collective: '%s' is for %" PRIu32 " ranks (ngpus); expected a group of as many, and it "
                           "has %" PRIu32,
                           c->file, program->ranks, loaded->shape.ranks);
    *l = (struct loaded){c->common, program};
    loaded->conf = l;
    loaded->goal = program->goal;
    return weft__msccl_play(program, c->verify, ret_error);
}

// --- steps --------------------------------------------------------------------------------------------------------

/// How a size is processed: in loops over each chunk, with this many of a step's chunks together.
struct work {
    weft_bytes chunk_bytes;
    uint32_t together;
    struct weft__loops loops;
};

static struct work work_of(const struct loaded *l, const struct weft_collective_shape *shape) {
    weft_bytes chunk = shape->bytes / l->program->chunks + (shape->bytes % l->program->chunks != 0);
    weft_bytes fit = chunk ? l->common.chunk_bytes / chunk : 0;
    return (struct work){
        .chunk_bytes = chunk,
        .together = fit < 1              ? 1
                    : fit > TOGETHER_MAX ? TOGETHER_MAX
                                         : (uint32_t)fit,
        .loops = weft__loops_of(&l->common, chunk, 1),
    };
}

/// The steps of the lane for one step of the block, some of which may be empty: pieces of chunks, each in slices.
static uint64_t per_step(const struct work *w, const struct weft__msccl_block *b) {
    uint32_t chunks = b->count_max ? b->count_max : 1; // of nops
    return (uint64_t)((chunks + w->together - 1) / w->together) * w->loops.slices_max;
}

static const struct weft__msccl_block *block_of(const struct loaded *l, uint32_t rank, uint32_t lane) {
    const struct weft__msccl_gpu *gpu = &l->program->gpu[rank];
    return lane < gpu->blocks ? &gpu->block[lane] : NULL;
}

static uint32_t msccl_lanes(const void *conf, const struct weft_collective_shape *shape) {
    return ((const struct loaded *)conf)->program->blocks_max;
}

static uint64_t msccl_steps(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane) {
    const struct weft__msccl_block *b = block_of(conf, rank, lane);
    struct work w = work_of(conf, shape);
    return b ? w.loops.loops * b->steps * per_step(&w, b) : 0;
}

/// Slice `slice` of piece `piece` of a step, in a loop.
static void cut_slice(const struct work *w, const struct weft__msccl_step *s, uint64_t loop, uint32_t piece,
                      uint32_t slice, struct weft_step *ret_step) {
    uint64_t begin = (uint64_t)piece * w->together;
    if (begin >= s->count) return;
    uint64_t chunks = s->count - begin < w->together ? s->count - begin : w->together;
    weft_bytes bytes = weft__loops_loop(&w->loops, loop).bytes * chunks;
    uint32_t slices = weft__loops_slices_of(&w->loops, bytes);
    if (slice >= slices) return;
    weft_bytes from = weft__part(bytes, slice, slices);
    ret_step->bytes = weft__part(bytes, slice + UINT64_C(1), slices) - from;
    uint32_t first = s->does & WEFT__MSCCL_KEEPS ? s->dst : s->src;
    ret_step->offset = (first + begin) * w->chunk_bytes + loop * w->loops.loop_bytes + from;
}

/// The first lane step of a block's step waits for the last one of the step that it depends on, in the same loop.
static void add_wait(const struct loaded *l, const struct work *w, uint32_t rank, const struct weft__msccl_step *s,
                     uint64_t loop, struct weft_step *ret_step) {
    if (s->after == WEFT_NONE) return;
    const struct weft__msccl_block *b = block_of(l, rank, s->after_block);
    ret_step->wait_lane = s->after_block;
    ret_step->wait_steps = (loop * b->steps + s->after + 1) * per_step(w, b);
}

static void msccl_step(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                       uint64_t index, struct weft_step *ret_step) {
    const struct loaded *l = conf;
    const struct weft__msccl_block *b = block_of(l, rank, lane);
    struct work w = work_of(l, shape);
    uint64_t each = per_step(&w, b), number = index / each, part = index % each;
    const struct weft__msccl_step *s = &b->step[number % b->steps];
    uint64_t loop = number / b->steps;
    weft__step_clear(ret_step, b->channel);
    if (!part) add_wait(l, &w, rank, s, loop, ret_step);
    cut_slice(&w, s, loop, (uint32_t)(part / w.loops.slices_max), (uint32_t)(part % w.loops.slices_max), ret_step);
    if (!ret_step->bytes) return;
    if (s->does & WEFT__MSCCL_RECEIVES) ret_step->recv[0] = b->recv;
    if (s->does & WEFT__MSCCL_SENDS) ret_step->send[0] = b->send;
    ret_step->own = s->does & WEFT__MSCCL_READS;
    ret_step->keep = s->does & WEFT__MSCCL_KEEPS;
}

/// Adds what a step of the file sends in a loop.
static void add_sent(const struct work *w, const struct weft__msccl_step *s, uint64_t loop, uint64_t loops,
                     struct weft_sent *sent) {
    weft_bytes each = weft__loops_loop(&w->loops, loop).bytes;
    for (uint64_t begin = 0; begin < s->count; begin += w->together) {
        uint64_t chunks = s->count - begin < w->together ? s->count - begin : w->together;
        weft_bytes bytes = each * chunks;
        uint32_t slices = weft__loops_slices_of(&w->loops, bytes);
        weft_bytes largest = bytes / slices + (bytes % slices != 0);
        if (!bytes) continue;
        sent->bytes += loops * bytes;
        sent->messages += loops * (bytes < slices ? bytes : slices);
        if (largest > sent->message_bytes_max) sent->message_bytes_max = largest;
    }
}

/// All loops but the last are equal.
static uint32_t msccl_sent(const void *conf, const struct weft_collective_shape *shape, uint32_t rank, uint32_t lane,
                           struct weft_sent ret_sent[WEFT_STEP_PEERS]) {
    const struct weft__msccl_block *b = block_of(conf, rank, lane);
    if (!b || b->send == WEFT_NONE) return 0;
    struct work w = work_of(conf, shape);
    *ret_sent = (struct weft_sent){.peer = b->send, .channel = b->channel};
    for (uint32_t k = 0; k < b->steps && w.loops.loops; k++) {
        if (!(b->step[k].does & WEFT__MSCCL_SENDS)) continue;
        add_sent(&w, &b->step[k], w.loops.loops - 1, 1, ret_sent);
        if (w.loops.loops > 1) add_sent(&w, &b->step[k], 0, w.loops.loops - 1, ret_sent);
    }
    return 1;
}

/// Thread blocks that only copy also use a share of the GPU.
static uint32_t msccl_channels(const void *conf, const struct weft_collective_shape *shape) {
    const struct weft__msccl *m = ((const struct loaded *)conf)->program;
    uint32_t channels = 0;
    for (uint32_t g = 0; g < m->ranks && shape->bytes; g++)
        for (uint32_t k = 0; k < m->gpu[g].blocks; k++) {
            const struct weft__msccl_block *b = &m->gpu[g].block[k];
            if (b->count_max && b->channel >= channels) channels = b->channel + 1;
        }
    return channels;
}

static weft_bytes msccl_shortened(const void *conf, const struct weft_collective_shape *shape) {
    const struct loaded *l = conf;
    struct work w = work_of(l, shape);
    if (w.loops.loops <= 2) return shape->bytes;
    return (w.chunk_bytes - (w.loops.loops - 2) * w.loops.loop_bytes) * l->program->chunks;
}

const struct weft_model weft__collective_msccl = WEFT_MODEL_OF(
    COLLECTIVE, "msccl", "an algorithm from a file, XML of MSCCL: thread blocks with steps, channels and dependencies",
    source, &table,
    &(const struct weft_collective_ops){.goal = WEFT_GOAL_OTHER,
                                        .load = msccl_load,
                                        .may_deadlock = true,
                                        .lanes = msccl_lanes,
                                        .steps = msccl_steps,
                                        .step = msccl_step,
                                        .sent = msccl_sent,
                                        .channels = msccl_channels,
                                        .shortened = msccl_shortened});

// --- import -------------------------------------------------------------------------------------------------------

enum { GPUS_PER_SERVER = 8 };

struct import_conf {
    struct weft_import_common common;
    uint64_t gpus;
    bool verify;
};
static const struct weft_param_table import_table =
    WEFT_PARAM_TABLE_OF("msccl", struct import_conf, WEFT_PARAM_UNCHECKED, WEFT_IMPORT_ROWS(struct import_conf),
                        WEFT_BOOL(struct import_conf, verify, "verify", "on", VERIFY_HELP),
                        WEFT_UINT(struct import_conf, gpus, "gpus", "0", "0", "72",
                                  "GPUs per server (assumed); 0: 8 if ngpus is a larger multiple of it, else 1"));

static const char *msccl_recognise(const struct weft_import_file *file) {
    return weft__xml_recognise(file->head, "algo") ? "algorithm" : NULL;
}

/// The sizes in the scenario.
struct sizes {
    weft_bytes first, last;
    bool cut; ///< larger ones would wait for ever
};

static const char *format_size(weft_bytes bytes, char text[32]) {
    bool mebi = bytes >> 20 && !(bytes & ((1 << 20) - 1));
    return WEFT_SAY(text, 32, "%" PRIu64 "%s", mebi ? bytes >> 20 : bytes, mebi ? "MiB" : "B");
}

/// `path`: of the file.
static const char *collective_of(const struct import_conf *c, const char *path, struct weft_import *import) {
    return weft_arena_format(weft_import_arena(import), "{kind: msccl, file: %s%s}", weft_import_quote(import, path),
                             c->verify ? "" : ", verify: off");
}

/// Whether the algorithm ends with a size and the slots of connections, found by executing it without a network.
static enum weft_status try_size(const char *collective, uint32_t ranks, weft_bytes size,
                                 struct weft_error *ret_error) {
    WEFT__TEXT_STREAM(text, out);
    fprintf(out,
            "topology: {kind: single, hosts: %" PRIu32 "}\n"
            "workload: [{kind: collective, collective: %s, size: %" PRIu64 "B}]\n",
            ranks, collective, size);
    const char *whole = weft__text_stream_text(&text);
    WEFT_ENDS(weft_scenario_file_end) struct weft_scenario_file *scenario = NULL;
    WEFT_ENDS(weft_simulation_end) struct weft_simulation *simulation = NULL;
    enum weft_status status = weft_scenario_file_parse("sizes", whole, strlen(whole), NULL, 0, &scenario, ret_error);
    return status ? status : weft_simulation_new(scenario, 0, &simulation, ret_error);
}

enum { FACTOR = 4, SIZES_TRIED = 8 };

/// The sizes that the file is for (minBytes, maxBytes), or else 1 to 64 MiB, as far as the algorithm ends with them: if
/// all ranks send before they receive, it ends only while that fits into the buffers of its connections.
static enum weft_status choose_sizes(const char *collective, const struct weft__msccl *m, struct sizes *ret,
                                     struct weft_error *ret_error) {
    const weft_bytes limit = UINT64_C(1) << 40;
    weft_bytes last = m->max_bytes && m->max_bytes < limit ? m->max_bytes : UINT64_C(64) << 20;
    weft_bytes first = m->min_bytes && m->min_bytes <= last ? m->min_bytes : last / 64 ? last / 64 : 1;
    if (m->min_bytes > last && m->min_bytes <= limit) first = last = m->min_bytes;
    enum weft_status status = try_size(collective, m->ranks, first, ret_error);
    for (uint32_t tries = 0; status && tries < SIZES_TRIED && first > FACTOR; tries++) {
        first /= FACTOR;
        last = first;
        ret->cut = true;
        status = try_size(collective, m->ranks, first, ret_error);
    }
    ret->first = ret->last = first;
    while (!status && ret->last <= last / FACTOR) {
        struct weft_error larger;
        ret->cut = try_size(collective, m->ranks, ret->last * FACTOR, &larger) != WEFT_OK;
        if (ret->cut) break;
        ret->last *= FACTOR;
    }
    return status;
}

static void say_sizes(const struct weft__msccl *m, const struct sizes *sizes, struct weft_import *import) {
    char first[32], last[32];
    format_size(sizes->first, first);
    format_size(sizes->last, last);
    if (m->min_bytes || m->max_bytes)
        weft_import_note(import, WEFT_IMPORT_FOUND,
                         "sizes that the file is for, within minBytes and maxBytes: %s to %s", first, last);
    else
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "sizes from %s to %s (size, size_max, factor)", first, last);
    if (sizes->cut)
        weft_import_note(import, WEFT_IMPORT_LOST,
                         "sizes above %s: with the slots of a connection the algorithm waits for ever there, as ranks "
                         "send more than fits before they receive (slots, slice)",
                         last);
}

static void say_notes(const struct weft__msccl *m, const struct weft_import_file *file, uint64_t gpus,
                      struct weft_import *import) {
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "%s: %s of %" PRIu32 " GPUs, %" PRIu32 " channels, %" PRIu32 " thread blocks, %" PRIu64
                     " steps, %" PRIu32 " chunks",
                     file->written, weft_import_quote(import, m->coll), m->ranks, m->channels, m->blocks, m->steps,
                     m->chunks);
    if (gpus > 1)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "servers of %" PRIu64 " GPUs with a network of their own (gpus; server.rate and latency)",
                         gpus);
    else
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "a server of its own for each GPU (gpus)");
    if (!weft__msccl_is_known(m))
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "that the algorithm does what it is for: what the buffers end with is not checked for %s",
                         weft_import_quote(import, m->coll));
    if (m->goal == WEFT_GOAL_OTHER)
        weft_import_note(import, WEFT_IMPORT_ASSUMED, "bus bandwidth is algorithm bandwidth: %s has no factor",
                         weft_import_quote(import, m->coll));
    if (*m->proto == 'L')
        weft_import_note(import, WEFT_IMPORT_LOST, "what the protocol %s does unlike Simple (chunk, slice, step_delay)",
                         weft_import_quote(import, m->proto));
}

static enum weft_status msccl_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                   struct weft_import *import, struct weft_error *ret_error) {
    const struct import_conf *c = conf;
    struct weft__msccl *m;
    enum weft_status status = weft_import_once(file, files, "algorithm", ret_error);
    if (!status) status = weft__msccl_read(file->path, WEFT_NOWHERE, weft_import_arena(import), &m, ret_error);
    if (!status) status = weft__msccl_play(m, c->verify, ret_error);
    if (status) return status;
    bool servers = m->ranks > GPUS_PER_SERVER && m->ranks % GPUS_PER_SERVER == 0;
    uint64_t gpus = c->gpus ? c->gpus : servers ? GPUS_PER_SERVER : 1;
    if (m->ranks % gpus)
        return WEFT_REFUSE(ret_error, (struct weft_place){.file = file->path},
                           "is for %" PRIu32 " GPUs, and gpus is %" PRIu64 "; expected a divisor", m->ranks, gpus);
    weft_import_need_hosts(import, m->ranks);
    struct sizes sizes = {0};
    char first[32], last[32];
    WEFT_TRY(choose_sizes(collective_of(c, file->path, import), m, &sizes, ret_error));
    weft_import_say(import, WEFT_IMPORT_WORKLOAD,
                    "- kind: collective\n  collective: %s\n  size: %s\n  size_max: %s\n"
                    "  factor: %d\n  ranks: %" PRIu32 "\n",
                    collective_of(c, file->written, import), format_size(sizes.first, first),
                    format_size(sizes.last, last), FACTOR, m->ranks);
    if (gpus > 1) weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  server: {gpus: %" PRIu64 "}\n", gpus);
    say_notes(m, file, gpus, import);
    say_sizes(m, &sizes, import);
    return WEFT_OK;
}

const struct weft_model weft__import_msccl =
    WEFT_MODEL_OF(IMPORT, "msccl", "a collective algorithm of MSCCL, XML with the root <algo>", source, &import_table,
                  &(const struct weft_import_ops){
                      .recognise = msccl_recognise,
                      .make = msccl_make,
                      .syntax = WEFT_IMPORT_XML,
                      .begins = "<algo>",
                  });
