// SPDX-License-Identifier: Apache-2.0
// The section `goodput` of a scenario, and the parts of a job by how its hosts are attached. Rates by default: faults
// of 16,384 GPUs in 54 days ("The Llama 3 herd of models", table 5), for GPUs, hosts, NICs and software; links and
// switches of Alibaba HPN (SIGCOMM 2024, section 2): 0.057% of NIC-ToR links fail a month, 0.051% of ToR switches.
// A lost port takes its share of the NIC from the part of an iteration that waits for the network; HPN counts 6.25% of
// a job for one of two ports, MRC (arXiv 2605.04333) 12% of a NIC for one of eight planes.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/param.h"
#include "base/tree.h"
#include "base/units.h"
#include "weft/error.h"
#include "weft/goodput.h"
#include "weft/param.h"

const char *const weft_goodput_attachments[] = {"single_tor", "dual_tor", "planes", "dsf", NULL};
const char *const weft_goodput_effects[] = {"crash", "degrade", "stall", NULL};

#define TOP struct weft_goodput_conf
static const char *const lists[] = {"parts", NULL};
const struct weft_param_table weft_goodput_table = WEFT_PARAM_TABLE_OF(
    "goodput", TOP, .lists = lists, WEFT_UINT(TOP, gpus, "gpus", "16384", "1", "10000000", "GPUs of the job"),
    WEFT_UINT(TOP, gpus_per_server, "gpus_per_server", "8", "1", "1024", "GPUs of a server"),
    WEFT_UINT(TOP, nics_per_server, "nics_per_server", "8", "1", "1024", "NICs of a server"),
    WEFT_UINT(TOP, servers_per_switch, "servers_per_switch", "16", "1", "4096",
              "servers that lose a port when their switch fails (assumed)"),
    WEFT_UINT(TOP, planes, "planes", "8", "2", "64", "planes, where attachment is planes"),
    WEFT_CHOICE(TOP, attachment, "attachment", "single_tor", weft_goodput_attachments,
                "how hosts are attached: which failures end the job, which only slow it"),
    WEFT_UINT(TOP, spares, "spares", "1000000", "0", "1000000", "spare servers (default: always enough)"),
    WEFT_TIME(TOP, detect_ps, "detect", "30s", "0s", "1000000s",
              "until a failure is noticed: 30 s by checks of the network, 600 s by NCCL's timeout (ByteRobust)"),
    WEFT_TIME(TOP, restart_ps, "restart", "570s", "0s", "1000000s",
              "from there until the job works again, with servers at hand (assumed; 5 to 15 minutes)"),
    WEFT_TIME(TOP, repair_ps, "repair", "86400s", "1s", "10000000s",
              "mean time until a server comes back from repair (assumed; hours to days)"),
    WEFT_BYTES(TOP, state_bytes, "state", "4870GB", "0B", "1000000000GB",
               "size of a checkpoint: 12 B a parameter, FP32 and Adam's two (405B parameters)"),
    WEFT_RATE(TOP, store_bps, "store", "16Tbps", "1kbps", "1000000Tbps",
              "that the store of checkpoints takes (Llama 3: 2 TB/s sustained)"),
    WEFT_REAL(TOP, blocking, "blocking", "1", "0", "1",
              "share of the time of writing in which the job stands still; less where checkpoints are asynchronous"),
    WEFT_REAL(TOP, communication, "communication", "0.1", "0", "1",
              "share of an iteration that waits for the network, which a lost port slows, where no run measures the "
              "slowdown (assumed; 0 to 0.5)"),
    WEFT_TIME(TOP, interval_ps, "interval", "0s", "0s", "10000000s", "work between two checkpoints; 0s: the best"),
    WEFT_UINT(TOP, months, "months", "200", "2", "1000000", "months of 30 days that are simulated"),
    WEFT_UINT(TOP, seed, "seed", "1", "0", "1000000000", "seed of the simulated months"),
    WEFT_TEXT(TOP, base, "base", "", "variant of the scenario with all parts up; empty: the first"),
    WEFT_TEXT(TOP, metric, "metric", "iteration",
              "figure whose ratio is a slowdown: iteration, or a metric such as jobs.train.iteration_ps"));

#define PART struct weft_goodput_part
static const struct weft_param part_rows[] = {
    WEFT_TEXT(PART, name, "name", NULL, "name of the class of parts; one that exists is changed"),
    WEFT_CHOICE(PART, effect, "effect", "crash", weft_goodput_effects,
                "crash: the job ends; degrade: the job is slower; stall: the job stands still"),
    WEFT_REAL(PART, count, "count", "1", "0", "1000000000", "parts of the job"),
    WEFT_REAL(PART, rate, "rate", "0", "0", "1", "failures of one part an hour"),
    WEFT_REAL(PART, servers, "servers", "0", "0", "4096", "crash: servers that a failure takes out for repair"),
    WEFT_REAL(PART, slowdown, "slowdown", "1", "1", "1000000", "degrade: iteration with the part down over iteration"),
    WEFT_TEXT(PART, variant, "variant", "", "degrade: variant of the scenario whose run measures the slowdown"),
    WEFT_TIME(PART, duration_ps, "duration", "14400s", "0s", "10000000s",
              "degrade: until the part is repaired; stall: until the job goes on (assumed)"),
};
const struct weft_param_table weft_goodput_part_table = WEFT_PARAM_TABLE("goodput_part", PART, part_rows);

// --- parts by attachment ------------------------------------------------------------------------------------------

enum { PARTS = 9, PARTS_MAX = 64 };
static const uint64_t REPAIR_PS = 14400 * WEFT_PS_PER_S; ///< of a link or switch

/// Ports of a NIC.
static double ports_of(const TOP *c) {
    if (c->attachment == WEFT_GOODPUT_PLANES) return (double)c->planes;
    return c->attachment == WEFT_GOODPUT_DUAL_TOR ? 2 : 1;
}

/// A part at the edge, of which a host has `ports` (1: its failure ends the job).
static PART edge_part(const TOP *c, const char *name, double count, double rate) {
    double ports = ports_of(c);
    return (PART){.name = name,
                  .effect = ports > 1 ? WEFT_GOODPUT_DEGRADE : WEFT_GOODPUT_CRASH,
                  .count = count,
                  .rate = rate,
                  .servers = ports > 1 ? 0 : 1,
                  .slowdown = ports > 1 ? 1 + c->communication / (ports - 1) : 1,
                  .variant = "",
                  .duration_ps = REPAIR_PS};
}

static void default_parts(const TOP *c, PART part[PARTS]) {
    double gpus = (double)c->gpus, servers = ceil(gpus / (double)c->gpus_per_server);
    double nics = servers * (double)c->nics_per_server;
    double ports = ports_of(c);
    PART crash = {.effect = WEFT_GOODPUT_CRASH, .servers = 1, .slowdown = 1, .variant = "", .duration_ps = REPAIR_PS};
    for (uint32_t i = 0; i < 3; i++)
        part[i] = crash;
    part[0].name = "gpu";
    part[0].count = gpus;
    part[0].rate = 1.26e-5;
    part[1].name = "server";
    part[1].count = servers;
    part[1].rate = 1.73e-5;
    part[2].name = "software";
    part[2].count = gpus;
    part[2].rate = 3e-6;
    part[2].servers = 0;
    part[3] = edge_part(c, "nic", nics, 3.3e-7);
    part[4] = edge_part(c, "link", nics * ports, 7.8e-7);
    part[5] = edge_part(c, "switch", ceil(servers / (double)c->servers_per_switch) * ports, 7e-7);
    if (part[5].servers > 0) part[5].servers = (double)c->servers_per_switch;
    part[7] = edge_part(c, "fabric_link", nics * ports, 7.8e-7); // as many as NICs have, without oversubscription
    part[7].effect = WEFT_GOODPUT_DEGRADE;                       // routed around; what that costs, a run measures
    part[7].servers = 0;
    part[7].slowdown = 1;
    part[8] = part[7];
    part[8].name = "fabric_switch"; // half as many as there are below, in a folded Clos of two layers
    part[8].count = ceil(part[5].count / 2);
    part[8].rate = part[5].rate;
    part[6] = crash;
    part[6].name = "flap"; // no public rate is divided by the number of links: nothing is assumed
    part[6].effect = WEFT_GOODPUT_STALL;
    part[6].count = nics * ports;
    part[6].servers = 0;
    part[6].duration_ps = (ports > 1 ? 0 : 9) * WEFT_PS_PER_S;
}

/// What the user does not say of a part that exists stays.
static void keep_unsaid(const struct weft_tree *said, const PART *before, PART *part) {
    for (uint32_t i = 0; i < weft_goodput_part_table.n; i++) {
        const struct weft_param *row = &part_rows[i];
        size_t size = row->type == WEFT_PARAM_CHOICE ? sizeof(uint32_t) : sizeof(uint64_t);
        if (!weft_tree_find(said, row->name))
            memcpy((char *)part + row->offset, (const char *)before + row->offset, size);
    }
}

/// Whether the attachment says what the loss of such a part does.
static bool is_at_edge(const PART *p) {
    return !strcmp(p->name, "nic") || !strcmp(p->name, "link") || !strcmp(p->name, "switch");
}

static enum weft_status take_part(TOP *c, const struct weft_tree *said, const char *path, struct weft_arena *arena,
                                  struct weft_error *ret_error) {
    PART part;
    WEFT_TRY(weft__params_load_at(&weft_goodput_part_table, said, path, &part, arena, ret_error));
    part.slowdown_half = NAN;
    part.measured = false;
    uint32_t i = 0;
    while (i < c->parts && strcmp(c->part[i].name, part.name))
        i++;
    if (i < c->parts) keep_unsaid(said, &c->part[i], &part);
    if (i == PARTS_MAX) return WEFT_REFUSE(ret_error, said->place, "%s: expected at most %d parts", path, PARTS_MAX);
    if (part.servers != floor(part.servers))
        return WEFT_REFUSE(ret_error, said->place, "%s.servers: expected a whole number", path);
    if (*part.variant && part.effect != WEFT_GOODPUT_DEGRADE && (weft_tree_find(said, "effect") || !is_at_edge(&part)))
        return WEFT_REFUSE(ret_error, said->place,
                           "%s.variant: a run measures how a part slows the job; expected effect: degrade", path);
    if (part.effect != WEFT_GOODPUT_DEGRADE) part.variant = ""; // with this attachment the part ends the job
    c->part[i] = part;
    if (i == c->parts) c->parts++;
    return WEFT_OK;
}

enum weft_status weft_goodput_load(const struct weft_tree *section, struct weft_arena *arena, TOP *ret_conf,
                                   struct weft_error *ret_error) {
    TOP *c = ret_conf;
    enum weft_status status = weft__params_load_at(&weft_goodput_table, section, "goodput", ret_conf, arena, ret_error);
    if (status) return status;
    struct weft_place place = section ? section->place : WEFT_NOWHERE;
    const struct weft_tree *gpus = weft_tree_find(section, "gpus");
    if (c->gpus > c->gpus_per_server && c->gpus % c->gpus_per_server)
        return WEFT_REFUSE(ret_error, gpus ? gpus->place : place,
                           "goodput.gpus: %" PRIu64 "; expected whole servers of %" PRIu64, c->gpus,
                           c->gpus_per_server);
    double write_ps = (1 - c->blocking) * (double)c->state_bytes * 8 / (double)c->store_bps * WEFT_PS_PER_S;
    if (c->interval_ps && (double)c->interval_ps < write_ps)
        return WEFT_REFUSE(ret_error, place,
                           "goodput.interval: %s; expected at least the %s in which the store takes a checkpoint",
                           weft__time_text(c->interval_ps).text, weft__time_text((weft_time_ps)write_ps).text);
    c->part = weft_arena_alloc(arena, PARTS_MAX, sizeof *c->part);
    c->parts = PARTS;
    default_parts(c, c->part);
    for (uint32_t i = 0; i < c->parts; i++)
        c->part[i].slowdown_half = NAN;
    const struct weft_tree *list = weft_tree_find(section, "parts");
    if (list && list->type != WEFT_TREE_LIST && list->type != WEFT_TREE_NULL)
        return WEFT_REFUSE(ret_error, list->place,
                           "goodput.parts: expected a list of parts, such as {name: link, rate: 1e-6}");
    for (uint32_t i = 0; list && i < list->n && !status; i++)
        status = take_part(c, list->child[i], weft_arena_format(arena, "goodput.parts.%" PRIu32, i), arena, ret_error);
    return status;
}
