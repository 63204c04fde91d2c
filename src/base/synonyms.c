// SPDX-License-Identifier: Apache-2.0
// Sources: keys of ns-3's HPCC fork and SimAI (KMAX_MAP, PMAX_MAP), htsim (-nodes, -conns), SONiC (WRED_PROFILE,
// BUFFER_PROFILE: xoff, dynamic_th), NVIDIA's and Broadcom's manuals, tc-red(8), ASTRA-sim (npus_count, bandwidth,
// latency), OMNeT++ (datarate).
#include "base/param.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/// `words`: separated by blanks, in small letters, with '_' for '-'. `keys`: the first that the section has is meant;
/// or names of kinds and classes.
static const struct {
    const char *words, *keys;
} synonyms[] = {
    // ECN
    {"pmax p_max max_p maxp max_prob mark_probability mark_prob probability pmax_map", "max_probability"},
    {"kmin k_min kmin_map min_th minth min_thresh min_threshold low_threshold ecn_min green_min_threshold", "min"},
    {"kmax k_max kmax_map max_th maxth max_thresh max_threshold high_threshold ecn_max green_max_threshold", "max"},
    {"ecn red wred ecn_marking marking mark ecn_threshold queue_management aqm_model", "aqm switch.aqm"},
    {"wred_profile kmax_map kmin_map pmax_map trim trimming packet_trimming", "aqm switch.aqm"},
    // buffers and PFC
    {"buf buffers buffer_size shared_buffer shared_memory memory packet_buffer mmu", "buffer switch.buffer size"},
    {"size buffer_pool pool_size total_size", "total"},
    {"xoff_threshold xoff_th pause_threshold pause_on pfc_threshold pfc_on", "xoff"},
    {"xon_threshold xon_th resume_threshold resume pause_off pfc_off", "xon"},
    {"dynamic_th dynamic_threshold dt_alpha shared_alpha alpha_th", "alpha"},
    {"hdrm headroom_size pg_headroom", "headroom"},
    {"pause flow_control priority_flow_control pfc_enable lossless port_qos_map", "pfc switch.pfc"},
    // who sends how much to whom
    {"srcs senders sender sources_hosts froms", "sources src"},
    {"src sources source from", "src sources"},
    {"dsts receivers receiver dest dests destination destinations to sink target", "dst destinations"},
    {"bytes length message_size msg_size flow_size data_size volume payload chunk_size", "size"},
    {"qp queue_pair queue_pairs num_qps qp_count connections conns", "qps"},
    {"prio tc traffic_class pg pcp cos", "priority"},
    {"start_time begin at", "start"},
    {"period gap", "interval"},
    {"kind type action", "state"},
    {"op operation opcode", "verb"},
    {"nchannels num_channels", "channels"},
    {"tp pp dp ep cp tensor_parallel pipeline_parallel data_parallel expert_parallel", "dimensions"},
    {"times repeats", "repeat"},
    {"collective_type op", "collective"},
    {"collectives ops comms", "operations"},
    {"ets wrr wfq weights queue_weights", "scheduler switch.scheduler"},
    {"flows traffic workloads traffic_matrix", "workload"},
    // networks
    {"bw bandwidth speed link_rate link_speed link_bandwidth capacity datarate data_rate line_rate bit_rate", "rate"},
    {"latency prop_delay propagation propagation_delay link_delay link_latency", "delay"},
    {"latency switch_latency switching_latency forwarding_latency", "processing switch.processing"},
    {"leafs leaf tor tors racks num_leaves num_leafs", "leaves"},
    {"spine cores num_spines", "spines"},
    {"hosts_per_rack hosts_per_tor servers_per_rack servers_per_leaf servers_per_tor nodes_per_leaf host_per_leaf "
     "hosts",
     "hosts_per_leaf"},
    {"nodes servers num_hosts host_num n_hosts nhosts npus npus_count gpus", "hosts"},
    {"ber error_rate loss_rate", "bit_error_rate"},
    {"network topo net", "topology"},
    {"routing ecmp lb load_balancing load_balance hash", "route switch.route"},
    {"spray strat strategy", "route switch.route"},
    {"switches router routers", "switch"},
    // hosts
    {"nic nics hosts server servers endpoint", "host"},
    {"cca cc_mode cc_algorithm cc_algo congestion_control dcqcn", "cc host.cc"},
    {"mss packet_size pkt_size packet_payload_size payload_size max_payload", "mtu host.mtu"},
    {"rto retransmission_timeout retransmit_timeout", "timeout host.timeout"},
    {"iw init_cwnd initial_window init_window", "initial_cwnd"},
    {"rai rate_ai ai_rate ai r_ai rpg_ai_rate additive_increase_rate", "additive_increase"},
    {"rhai rate_hai hai_rate hai r_hai rpg_hai_rate hyper_increase_rate", "hyper_increase"},
    {"rp_timer rpg_time_reset rate_timer", "increase_timer"},
    {"rpg_byte_reset byte_reset byte_count", "byte_counter"},
    {"u_target utilization target_utilization", "eta"},
    {"cwnd win window_size bdp", "window"},
    // runs, and sections at the top
    {"simulation sim settings global", "run"},
    {"duration stop stop_time end end_time sim_time simulation_time simulator_stop_time max_time", "until run.until"},
    {"sampling sample_period sampling_interval", "sample_interval run.sample_interval"},
    {"random_seed rng_seed rng rand_seed", "seed run.seed"},
    {"aqm", "switch.aqm"},
    {"buffer", "switch.buffer"},
    {"pfc", "switch.pfc"},
    {"route", "switch.route"},
    {"cc", "host.cc"},
    {"mtu", "host.mtu"},
    {"transport", "host.transport"},
    {"seed", "run.seed"},
    {"until", "run.until"},
    {"type model algorithm algo", "kind"},
    // kinds of models, and classes
    {"ecn red ecn_marking marking mark on", "wred"},
    {"trimming packet_trimming", "trim"},
    {"wrr ets drr wfq", "dwrr"},
    {"sp strict_priority", "strict"},
    {"roce rocev2 roce_v2 rc rdma", "roce_rc"},
    {"adaptive adaptive_routing ar dlb jsq", "load_aware"},
    {"packet_spray packet_spraying random rps", "spray"},
    {"all_reduce allreduce", "all_reduce_ring"},
    {"cx5 mcx5", "connectx5"},
    {"cx6 mcx6 connectx6dx", "connectx6"},
    {"cx7 mcx7", "connectx7"},
    {"cx8 mcx8", "connectx8"},
    {"th4", "tomahawk4"},
    {"th5", "tomahawk5"},
};

/// Moves to the next of the words in a text, and gives its length; 0 at the end.
static size_t next_word(const char **at) {
    *at += strspn(*at, " ");
    return strcspn(*at, " ");
}

static bool has_word(const char *words, const char *word) {
    size_t wanted = strlen(word);
    for (size_t n; (n = next_word(&words)); words += n)
        if (n == wanted && !strncmp(words, word, n)) return true;
    return false;
}

/// Returns the first key whose first part is one of `names`.
static const char *find_key(const char *keys, const char *const *names, uint32_t n, char *ret_key, size_t size) {
    for (size_t length; (length = next_word(&keys)); keys += length) {
        size_t part = strcspn(keys, " .");
        for (uint32_t i = 0; i < n; i++)
            if (strlen(names[i]) == part && !strncmp(names[i], keys, part) && length < size) {
                memcpy(ret_key, keys, length);
                ret_key[length] = 0;
                return ret_key;
            }
    }
    return NULL;
}

const char *weft__synonym_find(const char *word, const char *const *names, uint32_t n, char *ret_key, size_t size) {
    char plain[64];
    size_t length = strlen(word);
    if (length >= sizeof plain) return NULL;
    for (size_t i = 0; i <= length; i++)
        plain[i] = word[i] == '-' ? '_' : (char)tolower((unsigned char)word[i]);
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        const char *key =
            has_word(synonyms[i].words, plain) ? find_key(synonyms[i].keys, names, n, ret_key, size) : NULL;
        if (key && strcmp(key, word)) return key;
    }
    return NULL;
}
