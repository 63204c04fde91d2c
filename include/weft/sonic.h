// SPDX-License-Identifier: Apache-2.0
// What a SONiC switch's config_db.json says of ports, buffers, queues and PFC, with its references resolved and the
// lossless profiles computed that SONiC would compute. Tables and fields: sonic-buildimage, src/sonic-yang-models;
// values are strings there, and whole numbers are read too. Bytes unless a name says otherwise.
#pragma once

#include "weft/memory.h"
#include "weft/packet.h"
#include "weft/status.h"

enum { WEFT_SONIC_CLASSES = 16 }; // traffic classes: sonic-types.yang, tc_type

struct weft_hardware;
/// Returns whether the platform is NVIDIA's (Mellanox's); `ret_chip`: the class of its chip, NULL if it is not known.
/// The hwsku serves where the platform is "".
bool weft_sonic_chip_find(const char *platform, const char *hwsku, struct weft_arena *arena,
                          const struct weft_hardware **ret_chip);

struct weft_plan_pfc_conf;
struct weft_sonic;
/// The chip and traffic of the file, as input of the headroom formula that the device's tables use.
void weft_sonic_set_chip(const struct weft_sonic *sonic, struct weft_plan_pfc_conf *conf);

struct weft_sonic_pool {
    const char *name;
    weft_bytes size_bytes; ///< 0: SONiC computes it. With or without reserves: weft_sonic_calc_shared
    weft_bytes xoff_bytes; ///< of the headroom that all groups share; 0: each has its own
    bool dynamic, ingress;
};

/// pg_profile_lookup.ini: what profile a device has for a speed and a cable.
struct weft_sonic_lookup_row {
    weft_rate_bps rate_bps;
    uint64_t cable_mm;
    weft_bytes size_bytes, xon_bytes, xoff_bytes, xon_offset_bytes;
    int64_t threshold; ///< dynamic_th in a dynamic pool, else bytes
};
struct weft_sonic_lookup {
    const char *path;
    struct weft_sonic_lookup_row *row;
    uint32_t rows;
};
enum weft_status weft_sonic_lookup_read(const char *path, struct weft_arena *arena,
                                        struct weft_sonic_lookup **ret_lookup, struct weft_error *ret_error);
/// NULL: there is none. `lookup` may be NULL.
const struct weft_sonic_lookup_row *weft_sonic_lookup_find(const struct weft_sonic_lookup *lookup, weft_rate_bps rate,
                                                           uint64_t cable_mm);

struct weft_sonic_profile {
    const char *name;
    const struct weft_sonic_pool *pool;
    weft_bytes size_bytes, xon_bytes, xon_offset_bytes, static_bytes;
    weft_bytes xoff_bytes; ///< headroom above the threshold; 0: lossy
    int64_t dynamic_th;    ///< alpha is 2^dynamic_th
    bool has_dynamic, has_static;
    bool computed;  ///< as SONiC would, by WEFT_PLAN_SONIC or as the device's lookup has it
    bool looked_up; ///< the lookup has it
    bool unlisted;  ///< there is a lookup, and it lacks this one
};

struct weft_sonic_wred {
    const char *name;
    weft_bytes min_bytes, max_bytes; ///< of green packets: thresholds of marking if it has its own, else of WRED
    uint64_t percent;                ///< at max_bytes
    bool marks;                      ///< green packets get ECN marks rather than drops
    bool drops, ecn_said;            ///< green packets are under WRED; `ecn` is in the file
    bool own;                        ///< ecn_green_*: thresholds of marking apart from those of drops
};

struct weft_sonic_scheduler {
    const char *name, *type; ///< "STRICT", "DWRR", "WRR"
    uint64_t weight;
};

/// A map from code points, classes or priorities to a class, queue, group or priority.
struct weft_sonic_map {
    const char *name;
    uint64_t has; ///< bit k: k is in the map
    uint8_t to[64];
};
/// What a map says of `key`; `other` if there is no map or nothing in it.
static inline uint32_t weft_sonic_map_at(const struct weft_sonic_map *map, uint32_t key, uint32_t other) {
    return map && map->has >> key & 1 ? map->to[key] : other;
}

enum weft_sonic_map_kind {
    WEFT_SONIC_DSCP_TO_TC,
    WEFT_SONIC_TC_TO_QUEUE,
    WEFT_SONIC_TC_TO_PG,
    WEFT_SONIC_PFC_TO_QUEUE,
    WEFT_SONIC_PFC_TO_PG,
    WEFT_SONIC_MAPS
};
extern const char *const weft_sonic_map_tables[WEFT_SONIC_MAPS]; ///< "DSCP_TO_TC_MAP", ...

#define WEFT_SONIC_UNSAID UINT64_MAX
struct weft_sonic_watchdog {
    const char *key;
    const char *action;                    ///< "drop", "forward" or "alert"
    uint64_t detection_ms, restoration_ms; ///< WEFT_SONIC_UNSAID: not in the file
};

struct weft_sonic_port {
    const char *name;
    const char *neighbor, *neighbor_port; ///< the device and its port at the other end; NULL: not said
    const char *qos_key;                  ///< of its entry in PORT_QOS_MAP; NULL: none
    weft_rate_bps rate_bps;               ///< 0: not said
    weft_bytes mtu_bytes;
    uint64_t lanes, cable_mm; ///< cable 0: not said
    bool up, pfc_said;        ///< pfc_said: pfc_enable is in the file
    uint8_t pfc_enable;       ///< priorities
    const struct weft_sonic_profile *pg[WEFT_PRIORITIES], *queue[WEFT_PRIORITIES];
    const struct weft_sonic_wred *wred[WEFT_PRIORITIES];
    const struct weft_sonic_scheduler *scheduler[WEFT_PRIORITIES];
    const struct weft_sonic_map *map[WEFT_SONIC_MAPS];
    const struct weft_sonic_watchdog *watchdog;
};

struct weft_sonic {
    const char *hostname, *platform;  ///< "": not in the file; of an ASIC among several: "switch-asic0"
    const char *chassis;              ///< hostname of the switch that has this ASIC beside others; NULL: one ASIC
    const struct weft_hardware *chip; ///< NULL: not known
    bool nvidia;                      ///< the platform is NVIDIA's
    bool computes;                    ///< SONiC computes profiles itself, rather than look them up
    const char
        *unread; ///< tables and fields that are not read, "TABLE" or "TABLE.field", a comma after each but the last
    struct weft_sonic_port *port;
    struct weft_sonic_pool *pool;
    struct weft_sonic_profile *profile;
    struct weft_sonic_wred *wred;
    struct weft_sonic_scheduler *scheduler;
    uint32_t ports, pools, profiles, wreds, schedulers;
    uint64_t poll_ms;     ///< of the PFC watchdog; WEFT_SONIC_UNSAID: not in the file
    bool admin_assumed;   ///< no port has admin_status: all are up
    bool dynamic_th_said; ///< what computed profiles have is in the file
    bool pattern_said;    ///< LOSSLESS_TRAFFIC_PATTERN is
    weft_bytes lossless_mtu_bytes;
    uint64_t small_percent; ///< of packets
};

/// Reads the files of one switch, such as config_db.json alone, or ports.json, qos.json and buffers.json. Everything in
/// `arena`. `lookup` (or NULL): profiles that SONiC computes are taken from it. Errors: the place of a fault of syntax,
/// else "TABLE|key.field: " and what was expected.
enum weft_status weft_sonic_read(const char *const *path, uint32_t files, const struct weft_sonic_lookup *lookup,
                                 struct weft_arena *arena, struct weft_sonic **ret_sonic, struct weft_error *ret_error);

/// The group or queue of a PFC priority, the queue and group of a traffic class: as the port's maps say, else equal. A
/// class above 7 has no queue of its number: 0.
static inline uint32_t weft_sonic_at(const struct weft_sonic_port *port, enum weft_sonic_map_kind kind, uint32_t key) {
    return weft_sonic_map_at(port->map[kind], key, key < WEFT_PRIORITIES ? key : 0);
}
/// The part of a pool that all groups share, if their profiles' sizes add up to `reserved`. On NVIDIA's switches a
/// pool's size is what is left after all reserves (sonic-swss, cfgmgr/buffer_pool_mellanox.lua). Elsewhere it is that
/// of SAI, which contains the groups' reserves and the shared headroom, xoff (saibuffer.h: SHARED_SIZE is derived by
/// subtracting all reserved buffers from SIZE; with xoff besides, the shipped pools of Tomahawk 3 to 5 would be larger
/// than the chips' memories).
static inline weft_bytes weft_sonic_calc_shared(const struct weft_sonic *sonic, const struct weft_sonic_pool *pool,
                                                weft_bytes reserved) {
    weft_bytes own = sonic->nvidia ? 0 : reserved + pool->xoff_bytes;
    return pool->size_bytes > own ? pool->size_bytes - own : 0;
}
/// PFC priorities whose priority group has headroom.
uint8_t weft_sonic_lossless(const struct weft_sonic_port *port);
/// One way, at 198000 km/s.
weft_time_ps weft_sonic_delay(uint64_t cable_mm);
