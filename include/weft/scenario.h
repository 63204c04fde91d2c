// SPDX-License-Identifier: Apache-2.0
// A scenario: what the user wrote, validated. One file may hold several variants: overrides of dotted paths. It may
// hold cases too, overrides of the whole file, variants included: each case then has every variant, "case/variant". It
// may name another scenario file as its base and say only what differs.
//
//   name: ...           about: ...         fabric: {kind: clos, ...} (weft/fabric.h)
//   topology: {kind: clos3, ...}      events: [{at: 1ms, link: a/1, state: down}]
//   link: {cable: dac, ...}           server: {kind: dgx_h100} (of every job and collective)
//   switch: {...}                     host: {...}          dcbx: {...}
//   interface_node: {...}             fabric_node: {...}   (of a DSF)   tin: {...}
//   devices: [{match: "core-*", switch: {...}}]
//   workload: [{kind: incast, ...}]   run: {...}   capture: {ports: [leaf-0/3]}   control: {...}
//   live: {hosts: {host-0: {unix: h0.sock}}}
//   variants: {pfc: {}, pfc+dcqcn: {host.cc: dcqcn}}
//   variants: {clos: {base: roce-ecmp}, dsf: {base: dsf-l1}}      a base for each: as if the file named it
//   base: other.yaml        cases: {small: {switch.buffer.size: 400KB}, large: {}}
//   claims: [{text: ..., that: ...}]
#pragma once

#include "weft/control.h"
#include "weft/device.h"
#include "weft/fabric.h"
#include "weft/weft.h"
#include "weft/workload.h"

enum weft_fast_forward { WEFT_FAST_FORWARD_OFF, WEFT_FAST_FORWARD_EXACT, WEFT_FAST_FORWARD_STEADY };

/// Which operations of a job run in packets (docs/sampling.md).
struct weft_sample_conf {
    uint64_t operations; ///< of a class, besides those that warm up; 0: all run in packets
    uint64_t warm_up;    ///< first operations of a class in an iteration
    uint64_t seed;
    uint64_t groups;       ///< of ranks that share no link, of a class, that run; 0: all
    double until_interval; ///< of the job's time, relative; 0: once
};
extern const struct weft_param_table weft_sample_table;

struct weft_run_conf {
    uint64_t seed;
    bool jitter;                 ///< off: all clocks are exact, and hosts take their median times
    weft_time_ps until_ps;       ///< WEFT_TIME_NEVER: until every flow is done and the network is empty
    weft_time_ps stall_ps;       ///< no progress for this long, beyond what timeouts and links explain, ends the run
    weft_time_ps detection_ps;   ///< link failure to new routes
    uint32_t fast_forward;       ///< enum weft_fast_forward
    double steady_error;         ///< relative
    weft_time_ps coast_watch_ps; ///< a flow is watched before it is skipped
    double coast_load;           ///< of a link, relative
    uint64_t fast_forward_audit; ///< stretches
    struct weft_sample_conf sample;
    weft_time_ps sample_interval_ps; ///< 0: no time series
    const char *sample_ports;        ///< glob over port names
    bool round_trips;                ///< of data are measured
    bool count_flows;                ///< that links between switches carry
    weft_bytes flow_bytes_min;       ///< those with so much data on the link at least
    uint64_t events_max;             ///< of a node, if the run is recorded
};
extern const struct weft_param_table weft_run_table;

/// Ports whose frames are recorded: docs/capture.md.
struct weft_capture_conf {
    const char *ports; ///< as for weft_topology_select_ports; "": none
    const char *file;
    uint32_t content;  ///< enum weft_capture_content
    uint32_t cnp_mark; ///< enum weft_cnp_mark
    uint32_t switches; ///< enum weft_capture_switches
    weft_bytes limit_bytes;
    weft_time_ps from_ps, until_ps;
};
enum weft_capture_content { WEFT_CAPTURE_HEADERS, WEFT_CAPTURE_FULL };
enum weft_capture_switches { WEFT_CAPTURE_ROUTERS, WEFT_CAPTURE_BRIDGES };
extern const struct weft_param_table weft_capture_table;

/// Hosts attached from outside: docs/live.md.
enum { WEFT_LIVE_HOSTS_MAX = 64 };
struct weft_live_host {
    const char *name;
    struct weft_place place;
    const char *unix_path, *dgram_path, *peer, *interface; ///< all "": a program's (weft/drive.h)
    weft_bytes mtu_bytes;                                  ///< without the Ethernet header
};
struct weft_live_conf {
    uint64_t slow, hold, lateness_percent, page; ///< page: TCP port of the loopback address; 0: none
    weft_bytes record_bytes_max;
    weft_time_ps delay_ps;
    struct weft_live_host *host;
    const char **qmp;
    uint32_t hosts, qmps;
    struct weft_place place;
};
extern const struct weft_param_table weft_live_table, weft_live_host_table;

/// Cables: of any link, or of those of a tier. "": as any; of lengths: as the class or a fleet has them.
enum weft_link_which { WEFT_LINK_ANY, WEFT_LINK_HOST, WEFT_LINK_LEAF, WEFT_LINK_SPINE, WEFT_LINK_WHICH };
struct weft_link_conf {
    const char *cable[WEFT_LINK_WHICH], *length[WEFT_LINK_WHICH];
    const char *phy;
};
extern const struct weft_param_table weft_link_table;

/// Configuration of some devices: those whose node name matches, or all (match == NULL; always the first).
struct weft_device_conf {
    const char *match;
    struct weft_switch_conf sw; ///< of Ethernet switches, and of the Ethernet ports of other boxes
    struct weft_host_conf host;
    struct weft_dcbx_conf dcbx;
    void *section[WEFT_BOXES]; ///< of a kind of node: the section of its box, as that box's model defines it
    const struct weft_place *said[WEFT_BOXES]; ///< of that section in the file; NULL: none, or empty
    const struct weft_tree *tree, *defaults;   ///< what the file has: the entry, and the scenario that it is laid over
};

struct weft_scenario {
    const char *path, *name, *about;
    const char *variant;           ///< "" if the file has none; "case/variant" if it has cases
    const char *case_name;         ///< "" if the file has none
    struct weft_model_conf fabric; ///< no model: the file has no such section
    const struct weft_tree *tree;  ///< all that follows is bound from it
    struct weft_model_conf topology;
    const struct weft_tree *topology_tree, *events_tree;
    struct weft_link_conf link;
    const struct weft_tree *link_tree; ///< its section, NULL: none
    struct weft_device_conf *device;   ///< later entries win
    uint32_t devices;
    struct weft_model_conf *workload;
    uint32_t workloads;
    struct weft_run_conf run;
    struct weft_control_conf control;
    const struct weft_tree *control_tree; ///< its section, NULL: none
    const struct weft_tree *goodput_tree; ///< of weft/goodput.h; NULL: none
    struct weft_capture_conf capture;
    struct weft_place capture_place; ///< of its ports
    struct weft_live_conf live;
    const struct weft_tree *live_tree; ///< its section, NULL: none
    const struct weft_scenario_file *file;
    struct weft_arena *arena; ///< owns everything here, and what topology and workload make
};

// A scenario file (weft/weft.h) is read but not yet bound to a variant. It must outlive its scenarios: places of errors
// point into it. What a variant or setting says about a model of another kind drops the old kind's parameters; a value
// left empty is the default again.

/// What a scenario file was read from: the files, itself first, then those it stands on, and the settings.
struct weft_scenario_source {
    const char *name; ///< of a file, as errors name it; NULL: a setting
    const char *text; ///< what the file says; "path=value"
};
struct weft_texts {
    const struct weft_scenario_source *source;
    uint32_t n;
};
const struct weft_scenario_source *weft_scenario_sources(const struct weft_scenario_file *file, uint32_t *ret_n);
/// The scenario that was read from these, without looking at the files. `source` must outlive the call only.
enum weft_status weft_scenario_file_stored(const struct weft_scenario_source *source, uint32_t n,
                                           struct weft_scenario_file **ret_file, struct weft_error *ret_error);

/// The same file once more, with these settings instead; it is not read again, as standard input could not be.
enum weft_status weft_scenario_file_again(const struct weft_scenario_file *read, const char *const *settings,
                                          uint32_t n_settings, struct weft_scenario_file **ret_file,
                                          struct weft_error *ret_error);

/// The path of the file or folder `name` that the value `section`.`key` names for writing: below `out` (NULL: none), or
/// relative to the scenario's folder if its file says so and to the current one if a setting does. A name from the file
/// that leads out of the scenario's folder, and out of the paths of weft_scenario_file_allow_write, is an error with
/// its place.
enum weft_status weft_scenario_write_path(const struct weft_scenario *scenario, const char *section, const char *key,
                                          const char *name, const char *out, struct weft_arena *arena,
                                          const char **ret_path, struct weft_error *ret_error);

/// The case a variant belongs to; "" if the file has none.
const char *weft_scenario_variant_case(const struct weft_scenario_file *file, uint32_t i);
/// The section `claims` of the file and of its base files; NULL if there is none. See weft/claim.h.
const struct weft_tree *weft_scenario_claims(const struct weft_scenario_file *file);
/// The section `sweep`; NULL if there is none. See weft/sweep.h.
const struct weft_tree *weft_scenario_sweep(const struct weft_scenario_file *file);
/// The setting of that very path that the file was read with, or given since; NULL: there is none.
const struct weft_tree *weft_scenario_setting(const struct weft_scenario_file *file, const char *path);
/// The file with these maps of paths laid over it, after its settings: a view in `arena` that lives as long as the file
/// and is not freed itself.
struct weft_scenario_file *weft_scenario_file_over(const struct weft_scenario_file *file,
                                                   const struct weft_tree *const *over, uint32_t n,
                                                   struct weft_arena *arena);
/// What the file says of a variant, settings included, unchecked; in `arena`.
enum weft_status weft_scenario_tree(const struct weft_scenario_file *file, uint32_t variant, struct weft_arena *arena,
                                    const struct weft_tree **ret_tree, struct weft_error *ret_error);
/// The section `workload` of such a tree, each entry over the section `server` if it can have servers; in `arena`.
enum weft_status weft_scenario_work(const struct weft_tree *root, struct weft_arena *arena,
                                    const struct weft_tree **ret_work, struct weft_error *ret_error);
/// The section `fabric` of a variant, in `arena`; no model: it has none. Whether it can be built it does not ask.
enum weft_status weft_scenario_fabric(const struct weft_scenario_file *file, uint32_t variant, struct weft_arena *arena,
                                      struct weft_model_conf *ret_fabric, const char **ret_name, const char **ret_about,
                                      struct weft_error *ret_error);
enum weft_status weft_scenario_new(const struct weft_scenario_file *file, uint32_t variant,
                                   struct weft_scenario **ret_scenario, struct weft_error *ret_error);
/// Calls on_mistake for every mistake that binding the variant finds, in the order of its sections: the first is the
/// error of weft_scenario_new. Returns how many more there are.
uint32_t weft_scenario_mistakes(const struct weft_scenario_file *file, uint32_t variant,
                                void (*on_mistake)(void *context, const struct weft_error *error), void *context);
void weft_scenario_free(struct weft_scenario *scenario);
/// For WEFT_ENDS.
static inline void weft_scenario_end(struct weft_scenario **scenario) {
    weft_scenario_free(*scenario);
}
static inline void weft_scenario_file_end(struct weft_scenario_file **file) {
    weft_scenario_file_free(*file);
}
static inline void weft_simulation_end(struct weft_simulation **simulation) {
    weft_simulation_free(*simulation);
}
/// Builds the network, with the delays of its cables (section `link`). In `arena`.
enum weft_status weft_scenario_topology(const struct weft_scenario *scenario, struct weft_arena *arena,
                                        struct weft_topology **ret_topology, struct weft_error *ret_error);
/// The configuration of a node by its name.
const struct weft_device_conf *weft_scenario_device(const struct weft_scenario *scenario, const char *node);
/// Configuration of each node, in the arena: of the scenario's entries the last one that matches the node's name.
const struct weft_device_conf **weft_device_confs(const struct weft_scenario *scenario,
                                                  const struct weft_topology *topology, struct weft_arena *arena);
/// What the device names its class of hardware, "ideal" or "tomahawk5", and *ret_kind (enum weft_hardware_kind); NULL:
/// nodes of its kind have none.
const char *weft_device_hardware(const struct weft_device_conf *device, const struct weft_node_info *node,
                                 uint32_t *ret_kind);
/// What a workload calls the class of its servers, in `arena`; NULL: it has none.
const char *weft_scenario_server(const struct weft_scenario *scenario, uint32_t workload, struct weft_arena *arena);
/// Whether the scenario says that key of that section for the device, and not only a default or a preset.
bool weft_device_says(const struct weft_device_conf *device, const char *section, const char *key);
/// The place of "switch.pfc.xoff" of such a device, or of the section that would contain it.
struct weft_place weft_device_place(const struct weft_device_conf *device, const char *path);
/// The row of a value of `fabric`, of a section of the devices that no entry of `devices` changes, or of an entry
/// ("devices.0.switch.processing"); NULL: there is none.
const struct weft_param *weft_scenario_row(const struct weft_scenario *scenario, const char *path);
/// Every value in force, defaults included: on_value("switch.pfc.quanta", "65535", "65535"), the latter NULL where
/// there is no default.
void weft_scenario_each(const struct weft_scenario *scenario,
                        void (*on_value)(void *context, const char *path, const char *value, const char *dflt),
                        void *context);
