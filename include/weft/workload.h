// SPDX-License-Identifier: Apache-2.0
// Flows, and the generators that make them. A generator sees the topology and draws from streams keyed by host or flow
// number, so that one more entry does not change the others.
#pragma once

#include "weft/inference.h"
#include "weft/job.h"
#include "weft/random.h"
#include "weft/rma.h"
#include "weft/topology.h"
#include "weft/trigger.h"

/// RAW: frames of an attached host (src/transport/raw.h).
enum weft_verb { WEFT_VERB_WRITE, WEFT_VERB_SEND, WEFT_VERB_READ, WEFT_VERB_RAW };

/// A path that a flow names: the switches that its data goes by, each with its port to the next one, and at last to the
/// host.
struct weft_flow_path {
    uint32_t switches;
    struct weft_flow_hop {
        uint32_t sw;   ///< switch index
        uint16_t port; ///< of that switch
    } * hop;           ///< [switches] in order
};
enum { WEFT_FLOW_PATH_MAX = 64 }; ///< switches of a path

/// Of a flow whose bytes come as messages. Packets are numbered with 32 bits, and messages are slices, rarely of less
/// than 256 bytes: a margin for what is not full.
#define WEFT_MESSAGES_BYTES_MAX (UINT64_C(256) * (UINT32_MAX - 1))

/// `bytes` of payload go from src to dst; for READ the request goes from dst to src first.
struct weft_flow {
    uint32_t group;    ///< index into weft_workload.group
    uint32_t src, dst; ///< host indices, different
    weft_bytes bytes;  ///< at least 1
    weft_time_ps start_ps;
    uint16_t qps; ///< queue pairs it is spread over: bytes / qps each, the first ones one byte more; at most `bytes`
    uint8_t priority;
    uint8_t verb;         ///< enum weft_verb
    bool messages : 1;    ///< its bytes come as messages: of a job when the schedule says
    bool rma : 1;         ///< or of remote memory access: it has no end, and is no result
    bool endless : 1;     ///< it sends until the run ends; `bytes` are more than it can send by then
    bool waits : 1;       ///< a trigger starts it; start_ps means nothing
    uint8_t plane;        ///< with host.planes: queue_pair, that of its queue pairs + 1; 0: they take planes in turn
    uint16_t source_port; ///< UDP port that its first queue pair sends from, the next ones count on; 0: the NIC's rule
    uint16_t destination_port; ///< UDP port that route models hash which hash it; 0: that of the model
    uint32_t path;             ///< of its data, an index into weft_workload.path; 0: as routed
    uint32_t depth;            ///< most messages that are posted and not seen complete; 0: the flow is one message
    uint32_t message_bytes;    ///< of a flow with a depth: each of its messages
    uint32_t burst;            ///< of one that pauses after so many messages; 0: it does not
    weft_time_ps pause_ps;     ///< from the completion of a burst to the next posting
};

struct weft_workload {
    uint32_t flows, groups, flows_capacity;
    uint64_t qps;     ///< of all flows
    weft_bytes bytes; ///< of all flows
    struct weft_flow *flow;
    const char **group;  ///< names, in order of first mention
    const uint64_t *tag; ///< [flows] of a driven run (weft/drive.h); NULL: no flow has one
    uint32_t jobs;
    struct weft_job *job;
    uint32_t rmas, rma_flows; ///< flows of remote memory access, among all
    struct weft_rma *rma;
    uint32_t inferences; ///< services whose transfers are among the flows
    struct weft_inference *inference;
    uint32_t paths;              ///< with the one that is none
    struct weft_flow_path *path; ///< [paths], the first one empty; NULL: no flow names one
    uint32_t triggers, activations;
    struct weft_trigger *trigger;
    struct weft_activation *activation;
    const struct weft_topology *topology;
    struct weft_arena *arena;
    /// For callers that will not run it: flows of jobs' all-to-alls are counted, and are not among those above.
    bool counts;
    /// What its user keeps for a flow of a job, at least: more of them than there is memory for are refused before they
    /// are made. 0: not known.
    weft_bytes connection_bytes;
    uint32_t counted_flows;
    weft_bytes counted_bytes;
    uint32_t job_flows;            ///< of jobs, counted or not
    struct weft__raw *raw;         ///< recorded frames of attached hosts, which are flows among those above; NULL: none
    uint32_t entries, *entry_flow; ///< [entries + 1]: the first flow of an entry of the scenario's list
    uint64_t seed;                 ///< of the run
    uint32_t making;               ///< the entry that is being made, for random streams
};

/// A flow in a closed loop: it posts messages, and another one whenever one completes; after a burst it pauses.
struct weft_post_conf {
    uint64_t depth, messages, burst;
    weft_bytes size_bytes;
    weft_time_ps pause_ps;
};
extern const struct weft_param_table weft_post_table;

/// What every generator shares; first member of every generator's configuration.
struct weft_workload_common {
    const char *group;
    weft_time_ps start_ps, jitter_ps;
    weft_bytes size_bytes;
    uint64_t qps;
    uint64_t priority;
    uint32_t verb;
    uint64_t repeat;          ///< so many times
    weft_time_ps interval_ps; ///< from one repetition to the next
    struct weft_post_conf post;
    // of some generators
    uint16_t source_port, destination_port; ///< as those of weft_flow
    uint32_t path;
    bool messages; ///< of a job
};
/// The rows of weft_workload_common for a generator's table; T must have it as member `common`.
#define WEFT_WORKLOAD_ROWS(T)                                                                                          \
    WEFT_TEXT(T, common.group, "group", "all", "flow group in tables and results"),                                    \
        WEFT_TIME(T, common.start_ps, "start", "0s", "0s", "1000s", "start of the first flow"),                        \
        WEFT_TIME(                                                                                                     \
            T, common.jitter_ps, "jitter", "0s", "0s", "1000s",                                                        \
            "a flow, or all flows of one repetition of a source, starts later by up to this, drawn by the seed"),      \
        WEFT_BYTES(T, common.size_bytes, "size", "1MB", "0B", "100TB",                                                 \
                   "payload of a flow; 0B: it sends until the run ends (run.until)"),                                  \
        WEFT_UINT(T, common.qps, "qps", "1", "1", "1024", "queue pairs over which a flow is spread"),                  \
        WEFT_UINT(T, common.priority, "priority", "3", "0", "7", "802.1Q priority of the data"),                       \
        WEFT_CHOICE(T, common.verb, "verb", "write", weft_verb_names, "RDMA operation"),                               \
        WEFT_UINT(T, common.repeat, "repeat", "1", "1", "1000000", "number of repetitions"),                           \
        WEFT_TIME(T, common.interval_ps, "interval", "0s", "0s", "1000s", "time from one repetition to the next"),     \
        WEFT_SECTION(T, common.post, "post", &weft_post_table,                                                         \
                     "messages that a flow posts in a closed loop, instead of one message of `size`")
extern const char *const weft_verb_names[]; // "write", "send", "read", NULL

struct weft_workload_ops {
    /// One of the two. Makes a job; the entry's place and tree are the user's.
    enum weft_status (*schedule)(const struct weft_model_conf *entry, const struct weft_topology *topology,
                                 struct weft_workload *workload, struct weft_error *ret_error);
    /// Appends flows with weft_workload_add. `entry`: number of this entry in the scenario, for random
    /// streams.
    enum weft_status (*expand)(const void *conf, struct weft_place place, const struct weft_topology *topology,
                               uint64_t seed, uint32_t entry, struct weft_workload *workload,
                               struct weft_error *ret_error);
    bool jitters;                    ///< `expand` draws the jitter of its flows itself
    bool (*draws)(const void *conf); ///< whether this entry draws more than jitter; optional
};

/// Adds one flow (and its repetitions). More than 2^24 flows, not counting the up to 2^26 of jobs, 2^26 queue pairs or
/// 10^18 bytes in all, a start after 10^6 s, src == dst, or hosts of different networks: an error at place. 0 bytes: it
/// is endless.
enum weft_status weft_workload_add(struct weft_workload *w, const struct weft_workload_common *common,
                                   struct weft_place place, uint32_t src, uint32_t dst, weft_bytes bytes,
                                   weft_time_ps start, struct weft_error *ret_error);
/// A path from src to dst (host indices) by the switches that the text names in order, joined by `>` or commas; hosts
/// at its ends may be named too. A port (leaf-0/5) instead of a switch says by which link it goes on; otherwise it is
/// the first one to the next switch. "" is 0. What is no path is an error at `place`.
enum weft_status weft_workload_path(struct weft_workload *w, const char *text, struct weft_place place, uint32_t src,
                                    uint32_t dst, uint32_t *ret_path, struct weft_error *ret_error);
/// Whether a NIC can send from a UDP source port: those of RoCEv2, 49152 to 65535, and as other simulators number them,
/// which stand for their lower 14 bits, 1 to 16383.
static inline bool weft_source_port_is_good(uint64_t port) {
    return (port >= 49152 && port <= 65535) || (port && port <= 16383);
}
/// Expands every entry in order.
enum weft_status weft_workload_new(const struct weft_model_conf *entry, uint32_t entries,
                                   const struct weft_topology *topology, uint64_t seed, weft_time_ps until,
                                   struct weft_arena *arena, struct weft_workload **ret_workload,
                                   struct weft_error *ret_error);

/// The same, of `empty`: its arena, topology, number of entries, `counts` and `connection_bytes`.
enum weft_status weft_workload_make(struct weft_workload empty, const struct weft_model_conf *entry, uint64_t seed,
                                    weft_time_ps until, struct weft_workload **ret_workload,
                                    struct weft_error *ret_error);

/// For each flow, how many queue pairs of earlier flows have the same source and destination. In `arena`.
uint64_t *weft_workload_qps_before(const struct weft_workload *workload, struct weft_arena *arena);
