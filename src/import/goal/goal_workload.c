// SPDX-License-Identifier: Apache-2.0
// A schedule in GOAL as a workload. Sends go to the connection of their pair of ranks as they become ready, without a
// clear-to-send (a sender writes into an unlimited buffer, as with the network backends of ATLAHS); a send is done when
// it is acknowledged, a receive when a matching message has arrived. Only calcs take a rank's time, and they run one
// after another on a CPU stream. NIC n of a rank is the host's port in plane n, modulo the number of networks of the
// topology (host.planes: queue_pair): so a message arrives at the NIC with the number of its send, whatever its receive
// says, as in LogGOPSim. In a topology of one network all NICs are one. A message of 0 bytes is sent as one of 1 byte.
#include <inttypes.h>

#include "base/lines.h"
#include "base/param.h"
#include "goal.h"
#include "weft/import.h"
#include "weft/param.h"
#include "workload/job.h"

struct goal_conf {
    struct weft__job_common common;
    const char *file;
};
static const struct weft_param_table goal_params = WEFT_PARAM_TABLE_OF(
    "goal", struct goal_conf, WEFT_PARAM_UNCHECKED,
    WEFT_TEXT(struct goal_conf, file, "file", NULL, "the schedule, text or binary; relative to the scenario"),
    WEFT_TEXT(struct goal_conf, common.group, "group", "goal", "name of the job, and flow group of its connections"),
    WEFT_TEXT(struct goal_conf, common.hosts, "hosts", "*", "the hosts, one rank each"),
    WEFT_CHOICE(struct goal_conf, common.order, "order", "server", weft__job_orders,
                "ranks go server by server, or as the hosts are listed"),
    WEFT_TIME(struct goal_conf, common.start_ps, "start", "0s", "0s", "1000s", "start time"),
    WEFT_UINT(struct goal_conf, common.priority, "priority", "3", "0", "7", "802.1Q priority of the data"),
    WEFT_UINT(struct goal_conf, common.qps, "qps", "1", "1", "32",
              "queue pairs per connection, each with its own UDP source port; a message goes as a whole over the next"),
    WEFT_BOOL(struct goal_conf, common.tag_connections, "tag_connections", "off",
              "messages of each tag have their own connection between two ranks, and so their own path; weft workload "
              "--goal gives each connection a tag"),
    WEFT_SECTION(struct goal_conf, common.server, "server", &weft_server_table, "servers of several GPUs"),
    WEFT_BOOL(struct goal_conf, common.share_hosts, "share_hosts", "off",
              "hosts of earlier jobs may be used too: jobs share NICs, and compute as if alone"),
    WEFT_SECTION(struct goal_conf, common.occupied, "occupied", &weft_occupied_table, "servers that are not free"),
    WEFT_MODEL_PARAM(struct goal_conf, common.placement, "placement", WEFT_KIND_PLACEMENT, "linear",
                     "choice of free servers, and of the ranks on each"),
    WEFT__JOB_RANKS_ROW(struct goal_conf),
    WEFT_TEXT(struct goal_conf, common.rank_file, "rank_file", "",
              "a file with the host of each rank, as written by weft place --out; relative to the scenario"));

static enum weft_status goal_schedule(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                      struct weft_workload *w, struct weft_error *ret_error) {
    const struct goal_conf *c = entry->conf;
    const struct weft__job_common *common = &c->common;
    struct weft_place place = weft__job_key_place(entry, "file");
    struct weft_schedule *s = NULL;
    enum weft_status status =
        weft_goal_load(weft__path_beside(c->file, place, w->arena), place, w->arena, &s, ret_error);
    if (status) return status;
    if (common->ranks && common->ranks != s->ranks)
        return WEFT_REFUSE(ret_error, weft__job_key_place(entry, "ranks"),
                           "ranks: %" PRIu64 "; expected the %" PRIu32 " of the schedule", common->ranks, s->ranks);
    return weft__job_add_schedule(common, entry, topology, s, NULL, w, ret_error);
}

const struct weft_model weft__workload_goal = WEFT_MODEL_OF(
    WORKLOAD, "goal", "a schedule in GOAL: steps by rank that send, receive and compute, with dependencies",
    "Hoefler, Siebert, Lumsdaine, Group Operation Assembly Language, ICPP 2009; LogGOPSim, ATLAHS (SPCL)", &goal_params,
    &(const struct weft_workload_ops){.schedule = goal_schedule});

// --- import -------------------------------------------------------------------------------------------------------

static const char *goal_recognise(const struct weft_import_file *file) {
    return weft_goal_recognise(file->head, file->size) ? "schedule" : NULL;
}

static enum weft_status goal_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                  struct weft_import *import, struct weft_error *ret_error) {
    struct weft_schedule *s = NULL;
    enum weft_status status = weft_import_once(file, files, "schedule", ret_error);
    if (!status) status = weft_goal_load(file->path, WEFT_NOWHERE, weft_import_arena(import), &s, ret_error);
    if (status) return status;
    bool planes = s->nics > 1 && s->nics <= WEFT_IMPORT_PLANES_MAX;
    weft_import_need_hosts(import, s->ranks);
    if (planes) weft_import_need_planes(import, s->nics);
    weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: goal\n  file: %s\n%s",
                    weft_import_quote(import, file->written), planes ? "  hosts: nic-0-*\n" : "");
    weft_import_note(import, WEFT_IMPORT_FOUND, "%s: %" PRIu32 " ranks, %" PRIu64 " steps", file->written, s->ranks,
                     (uint64_t)s->steps);
    weft_import_note(import, WEFT_IMPORT_ASSUMED, "a host of its own for each rank, rank R on %shost-R (hosts, ranks)",
                     planes ? "nic-0-" : "");
    weft_import_note(import, WEFT_IMPORT_ASSUMED, "a sender writes as soon as it has a message: no clear-to-send");
    if (planes)
        weft_import_note(import, WEFT_IMPORT_ASSUMED,
                         "%" PRIu32 " NICs of a rank are ports in networks of their own (topology.networks): a message "
                         "goes and arrives by the NIC of its send",
                         s->nics);
    else if (s->nics > 1)
        weft_import_note(import, WEFT_IMPORT_LEFT_OUT,
                         "%" PRIu32 " NICs of a rank: more than the %d planes that there can be, so a rank has one",
                         s->nics, WEFT_IMPORT_PLANES_MAX);
    return WEFT_OK;
}

const struct weft_model weft__import_goal =
    WEFT_MODEL_OF(IMPORT, "goal", "a schedule in GOAL, text or binary",
                  "Hoefler, Siebert, Lumsdaine, Group Operation Assembly Language, ICPP 2009; LogGOPSim, ATLAHS (SPCL)",
                  &weft_import_table,
                  &(const struct weft_import_ops){
                      .recognise = goal_recognise,
                      .make = goal_make,
                      .syntax = WEFT_IMPORT_TEXT | WEFT_IMPORT_BINARY,
                      .begins = "\"num_ranks N\", or the number 4223 in 8 bytes",
                  });
