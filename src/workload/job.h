// SPDX-License-Identifier: Apache-2.0
// What the makers of jobs share.
#pragma once

#include "weft/placement.h"
#include "weft/workload.h"

/// Servers that are not available for a job.
struct weft_occupied_conf {
    const char *hosts;
    double part;
    uint64_t seed;
};

/// First member of the configuration of a model that makes a job.
struct weft__job_common {
    const char *group, *hosts;
    uint32_t order;
    weft_time_ps start_ps;
    uint64_t priority, cts_priority, qps;
    uint32_t qp_scaling, admission;
    double channel_cost;
    struct weft_server_conf server;
    uint64_t ranks;
    bool share_hosts;
    bool tag_connections; ///< for a schedule: messages of each tag have their own connection
    struct weft_occupied_conf occupied;
    struct weft_model_conf placement;
    const char *rank_file;
};
enum weft__job_order { WEFT__ORDER_SERVER, WEFT__ORDER_LISTED };
extern const char *const weft__job_orders[];
enum weft__qp_scaling { WEFT__QP_ROUND_ROBIN, WEFT__QP_SPLIT };
extern const char *const weft__qp_scalings[];
enum weft__admission { WEFT__ADMISSION_CTS, WEFT__ADMISSION_NONE };
extern const char *const weft__admissions[];
extern const char *const weft__job_linear[];
/// How many ranks, or which host has which; the latter is `rank_file`.
#define WEFT__JOB_RANKS_ROW(T)                                                                                         \
    WEFT_UINT_OR(                                                                                                      \
        T, common.ranks, "ranks", weft__job_linear, "rank_file", "0", "0", "16777216",                                 \
        "number of ranks, 0: as in its files, else one per free host; linear: on the hosts in order; or a rank_file")
#define WEFT__JOB_ROWS(T, name)                                                                                        \
    WEFT_TEXT(T, common.group, "group", name, "name of the job, and flow group of its connections"),                   \
        WEFT_TEXT(T, common.hosts, "hosts", "*", "the hosts, one rank for each of their GPUs"),                        \
        WEFT_CHOICE(T, common.order, "order", "server", weft__job_orders,                                              \
                    "ranks go server by server, or as the hosts are listed"),                                          \
        WEFT_TIME(T, common.start_ps, "start", "0s", "0s", "1000s", "start time"),                                     \
        WEFT_UINT(T, common.priority, "priority", "3", "0", "7", "802.1Q priority of the data"),                       \
        WEFT_CHOICE(T, common.admission, "admission", "cts", weft__admissions,                                         \
                    "a sender writes when the receiver has sent a clear-to-send; none: as soon as it has a message, "  \
                    "into an unlimited buffer"),                                                                       \
        WEFT_UINT(T, common.cts_priority, "cts_priority", "3", "0", "7",                                               \
                  "priority of clear-to-send messages: that of the data, or their own"),                               \
        WEFT_UINT(T, common.qps, "qps", "1", "1", "32",                                                                \
                  "queue pairs per connection, each with its own UDP source port"),                                    \
        WEFT_CHOICE(T, common.qp_scaling, "qp_scaling", "round_robin", weft__qp_scalings,                              \
                    "a message goes as a whole over the next queue pair, or is split over all of them"),               \
        WEFT_REAL(T, common.channel_cost, "channel_cost", "0", "0", "0.5",                                             \
                  "share of the GPU that each channel of a running collective takes from compute (assumed; a thread "  \
                  "block of NCCL on one of 132 multiprocessors: 0.0076)"),                                             \
        WEFT_SECTION(T, common.server, "server", &weft_server_table, "servers of several GPUs"),                       \
        WEFT__JOB_RANKS_ROW(T),                                                                                        \
        WEFT_BOOL(T, common.share_hosts, "share_hosts", "off",                                                         \
                  "hosts of earlier jobs may be used too: jobs share NICs, and compute as if alone"),                  \
        WEFT_SECTION(T, common.occupied, "occupied", &weft_occupied_table, "servers that are not free"),               \
        WEFT_MODEL_PARAM(T, common.placement, "placement", WEFT_KIND_PLACEMENT, "linear",                              \
                         "choice of free servers, and of the ranks on each"),                                          \
        WEFT_TEXT(T, common.rank_file, "rank_file", "",                                                                \
                  "a file from weft place --out with the host of each rank; relative to the scenario")

/// A new job on the chosen hosts, with room for `ops` operations.
enum weft_status weft__job_new(const struct weft__job_common *common, const struct weft_model_conf *entry,
                               const struct weft_topology *topology, uint32_t ops, struct weft_workload *w,
                               struct weft_job **ret_job, struct weft_error *ret_error);
/// Sets op to a collective of `size` over groups of `ranks`; if op already has a group, over that one.
void weft__job_collective(const struct weft_job *job, const struct weft_topology *topology,
                          const struct weft_model_conf *collective, uint32_t ranks, uint32_t stride, weft_bytes size,
                          struct weft_job_op *op);
/// Chooses the GPUs behind the chosen hosts, a rank each, in the order requested; sets job->ranks, host and gpu.
enum weft_status weft__job_choose_gpus(const struct weft__job_common *common, struct weft_place place,
                                       const struct weft_topology *topology, struct weft_job *job,
                                       struct weft_arena *arena, struct weft_error *ret_error);
/// The server of a rank.
uint32_t weft__job_server(const struct weft_job *job, const struct weft_topology *topology, uint32_t rank);
/// What the flows of its connections share.
struct weft_workload_common weft__job_flow(const struct weft__job_common *common, const struct weft_job *job);
/// Whether a connection over the network has no more bytes than packet numbers allow.
enum weft_status weft__job_check_connection(const struct weft__job_common *common, struct weft_place place,
                                            const struct weft_connection *c, struct weft_error *ret_error);
/// Loads collectives whose steps are in a file: each file is read once for all operations that name it in the same
/// entry.
enum weft_status weft__job_load(struct weft_job *job, struct weft_place place, struct weft_arena *arena,
                                struct weft_error *ret_error);
/// Call it when connections exist: an error if ranks then wait for one another forever with the room that connections
/// have.
enum weft_status weft__job_check_loaded(const struct weft_job *job, struct weft_place place,
                                        const struct weft_topology *topology, struct weft_error *ret_error);
/// The turns of each communicator in a stage.
void weft__job_order_turns(const struct weft_job *job, struct weft_job_stage *stage, struct weft_arena *arena);
/// Call it when all operations exist: makes communicators, connections and their flows; adds the job to the workload.
enum weft_status weft__job_connect(const struct weft__job_common *common, struct weft_place place,
                                   const struct weft_topology *topology, struct weft_job *job, struct weft_workload *w,
                                   struct weft_error *ret_error);

/// The algorithms for each kind of collective of a schedule.
struct weft__schedule_models {
    struct weft_model_conf of[WEFT_SCHEDULE_COLLECTIVES];
};
/// What one is for, as `wanted` of its shape; a gather or scatter is none of these.
enum weft_collective_goal weft__schedule_goal(uint32_t collective);
/// The rows of `models`, a member of T, for a table: of the four that every training job has, of those with a root, and
/// of all.
#define WEFT__TRAINING_MODEL_ROWS(T, models)                                                                           \
    WEFT_MODEL_PARAM(T, models.of[WEFT_SCHEDULE_ALL_REDUCE], "all_reduce", WEFT_KIND_COLLECTIVE, "all_reduce_ring",    \
                     "the algorithm of all-reduces"),                                                                  \
        WEFT_MODEL_PARAM(T, models.of[WEFT_SCHEDULE_ALL_GATHER], "all_gather", WEFT_KIND_COLLECTIVE, "all_gather",     \
                         "the algorithm of all-gathers"),                                                              \
        WEFT_MODEL_PARAM(T, models.of[WEFT_SCHEDULE_REDUCE_SCATTER], "reduce_scatter", WEFT_KIND_COLLECTIVE,           \
                         "reduce_scatter", "the algorithm of reduce-scatters"),                                        \
        WEFT_MODEL_PARAM(T, models.of[WEFT_SCHEDULE_ALL_TO_ALL], "all_to_all", WEFT_KIND_COLLECTIVE, "all_to_all",     \
                         "the algorithm of all-to-alls")
#define WEFT__ROOTED_MODEL_ROWS(T, models)                                                                             \
    WEFT_MODEL_PARAM(T, models.of[WEFT_SCHEDULE_BROADCAST], "broadcast", WEFT_KIND_COLLECTIVE, "broadcast",            \
                     "the algorithm of broadcasts"),                                                                   \
        WEFT_MODEL_PARAM(T, models.of[WEFT_SCHEDULE_GATHER], "gather", WEFT_KIND_COLLECTIVE, "gather",                 \
                         "the algorithm of gathers"),                                                                  \
        WEFT_MODEL_PARAM(T, models.of[WEFT_SCHEDULE_REDUCE], "reduce", WEFT_KIND_COLLECTIVE, "reduce",                 \
                         "the algorithm of reduces to one rank"),                                                      \
        WEFT_MODEL_PARAM(T, models.of[WEFT_SCHEDULE_SCATTER], "scatter", WEFT_KIND_COLLECTIVE, "scatter",              \
                         "the algorithm of scatters")
#define WEFT__SCHEDULE_MODEL_ROWS(T, models)                                                                           \
    WEFT__TRAINING_MODEL_ROWS(T, models), WEFT__ROOTED_MODEL_ROWS(T, models),                                          \
        WEFT_MODEL_PARAM(T, models.of[WEFT_SCHEDULE_BARRIER], "barrier", WEFT_KIND_COLLECTIVE, "all_reduce_tree",      \
                         "the algorithm of barriers: an all-reduce of one byte")

/// In place of all that, adds a job whose ranks follow a schedule, which must outlive it: on as many hosts, with a
/// connection without clear-to-send from each rank to each that it sends to; and those of collectives, with
/// clear-to-send if `common` says so. `models` is NULL for a schedule without collectives. Errors are at the key `file`
/// of the entry.
enum weft_status weft__job_add_schedule(const struct weft__job_common *common, const struct weft_model_conf *entry,
                                        const struct weft_topology *topology, const struct weft_schedule *schedule,
                                        const struct weft__schedule_models *models, struct weft_workload *w,
                                        struct weft_error *ret_error);
/// Call it when operations exist: makes sure that there is room for the flows that they need at least.
enum weft_status weft__job_reserve_flows(const struct weft__job_common *common, struct weft_place place,
                                         const struct weft_job *job, struct weft_workload *w,
                                         struct weft_error *ret_error);
/// Call it when connections exist: adds a flow for each connection over the network, and the job, to the workload.
enum weft_status weft__job_add_flows(const struct weft__job_common *common, struct weft_place place,
                                     const struct weft_topology *topology, struct weft_job *job,
                                     struct weft_workload *w, struct weft_error *ret_error);
void weft__job_add(struct weft_workload *w, const struct weft_job *job);

/// Fills in job->host, gpu and ranks, from one of: the rank file; job->places, the first of the free servers; or what
/// is there already, the chosen hosts as listed. Earlier jobs of the workload do not share their hosts, unless the job
/// says otherwise.
enum weft_status weft__job_find_hosts(const struct weft__job_common *common, const struct weft_model_conf *entry,
                                      const struct weft_topology *topology, const struct weft_workload *w,
                                      struct weft_job *job, struct weft_error *ret_error);
/// Call it when connections are known: places units on the free servers by the strategy.
void weft__job_place(const struct weft__job_common *common, struct weft_job *job, struct weft_arena *arena);
/// Where the user has written a key of the job; the place of the job if nowhere.
struct weft_place weft__job_key_place(const struct weft_model_conf *entry, const char *key);
/// The same for rank_file, which the user may have written as ranks.
struct weft_place weft__job_rank_file_place(const struct weft_model_conf *entry);
/// `path` is relative to the folder of the file of `entry`; errors about the whole file are at `place`.
enum weft_status weft__rank_file_read(const char *path, struct weft_place entry, struct weft_place place,
                                      struct weft_arena *arena, struct weft_rank_file *ret_file,
                                      struct weft_error *ret_error);
/// The node of a host's switch.
uint32_t weft__placement_switch(const struct weft_topology *t, uint32_t host);
/// Equal for hosts of one pod or, where there are no pods, of one switch.
uint64_t weft__placement_pod(const struct weft_topology *t, uint32_t host);
/// The slots' hosts are set, `gpus` per slot: numbers racks and zones, and finds the rails, in `arena`.
void weft__placement_number(struct weft_placement_problem *p, const struct weft_topology *t, uint32_t gpus,
                            struct weft_arena *arena);
