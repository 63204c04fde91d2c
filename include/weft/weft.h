// SPDX-License-Identifier: Apache-2.0
// weft as a library: read a scenario, change it, check it, run it, and read its results as tables (weft/rows.h), JSON
// or SQLite. With weft/drive.h your program sends the messages itself while the network runs.
//
//   struct weft_error error = {0};
//   struct weft_scenario_file *file;
//   struct weft_simulation *simulation = NULL;
//   struct weft_result *result = NULL;
//   if (!weft_scenario_file_read("incast.yaml", NULL, 0, &file, &error) &&
//       !weft_scenario_file_set(file, "host.cc=dcqcn", &error) &&
//       !weft_simulation_new(file, 0, &simulation, &error) &&
//       !weft_simulation_run(simulation, NULL, &result, &error)) ...
//
// Errors. A function that can fail returns 0 or an enum weft_status, and fills *ret_error if that is not NULL. The
// library never prints, exits, installs a signal handler, or changes the locale or the environment, with one exception:
// placement by min_cut calls METIS, one thread at a time. During the call METIS handles SIGTERM and SIGABRT: a SIGTERM
// to the calling thread is passed on afterwards, and other threads should block it. If memory runs out there, METIS
// prints a line. A bug of weft fails an assertion, which aborts. If memory runs out, a function returns
// WEFT_ERROR_SYSTEM and creates nothing.
//
// Threads. Nothing in the library is shared between objects: different threads may use different scenario files,
// simulations, results and drives at the same time. One object is used by one thread at a time, with two exceptions:
// any number of threads may read one scenario file (all functions but weft_scenario_file_set and _free), and any number
// may read one result. A run starts the requested threads, and they have ended when it returns. Callbacks come from the
// calling thread, one after another.
//
// Lifetimes. The caller frees objects returned by "new", "read", "parse" or "run", in this order: results and drives,
// then their simulation, then its scenario file. NULL may be freed. Returned texts live as long as the object that
// returned them.
//
// Stability. Within one soname (libweft.so.0) functions, structs and enumerators are only added, and existing structs
// do not change: a program built with an older header keeps working. Before version 1.0 a new minor version may have a
// new soname. The same scenario, seed and version give the same digest on every machine and with any number of threads;
// CHANGELOG.md lists every change of a digest, and every new name of a scenario key, table or column.
#pragma once

#include <signal.h>
#include <stdio.h>

#include "weft/status.h"
#include "weft/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Version of the running library, such as "0.2.0"; WEFT_VERSION is the version of this header.
WEFT_API const char *weft_version(void);

// --- scenario files -----------------------------------------------------------------------------------------------

/// A scenario as the user wrote it (docs/scenario.md), with variants.
struct weft_scenario_file;

/// Reads a file. `settings`: "path=value" each, as for `weft run --set`; values are YAML. They apply after the variant.
WEFT_API enum weft_status weft_scenario_file_read(const char *path, const char *const *settings, uint32_t n_settings,
                                                  struct weft_scenario_file **ret_file, struct weft_error *ret_error);
/// The same from memory; `name` replaces the file's name in errors, and its folder is where other files are looked up.
WEFT_API enum weft_status weft_scenario_file_parse(const char *name, const char *text, size_t size,
                                                   const char *const *settings, uint32_t n_settings,
                                                   struct weft_scenario_file **ret_file, struct weft_error *ret_error);
/// Adds a setting after all others; the last one of a path wins. Existing simulations do not change. A setting for an
/// unknown key is reported by weft_simulation_new.
WEFT_API enum weft_status weft_scenario_file_set(struct weft_scenario_file *file, const char *setting,
                                                 struct weft_error *ret_error);
/// Allows files that the scenario names for writing (capture.file) below `path` too, a folder
/// or a file. Without, they must lie below the folder of the scenario; names that a setting gives may lie anywhere.
WEFT_API enum weft_status weft_scenario_file_allow_write(struct weft_scenario_file *file, const char *path,
                                                         struct weft_error *ret_error);
WEFT_API void weft_scenario_file_free(struct weft_scenario_file *file);

/// Variants in the file's order. A file without variants has one, named "".
WEFT_API uint32_t weft_scenario_variants(const struct weft_scenario_file *file); ///< at least 1
WEFT_API const char *weft_scenario_variant_name(const struct weft_scenario_file *file, uint32_t variant);
/// The variant with that name; WEFT_NONE: there is none.
WEFT_API uint32_t weft_scenario_variant_find(const struct weft_scenario_file *file, const char *name);

/// Checks every variant without running it; returns how many have an error. `on_error` (or NULL) receives the first
/// error of each.
WEFT_API uint32_t weft_scenario_check(const struct weft_scenario_file *file,
                                      void (*on_error)(void *context, uint32_t variant, const struct weft_error *error),
                                      void *context);

// --- simulations --------------------------------------------------------------------------------------------------

/// A variant ready to run: validated, with its network and its flows. It can be run any number of times.
struct weft_simulation;

/// The file must outlive the simulation.
WEFT_API enum weft_status weft_simulation_new(const struct weft_scenario_file *file, uint32_t variant,
                                              struct weft_simulation **ret_simulation, struct weft_error *ret_error);
WEFT_API void weft_simulation_free(struct weft_simulation *simulation);
WEFT_API uint32_t weft_simulation_hosts(const struct weft_simulation *simulation);
/// Name of a host, such as "rack-3/host-0"; NULL: there is no such host.
WEFT_API const char *weft_simulation_host_name(const struct weft_simulation *simulation, uint32_t host);
/// By its name; WEFT_NONE: there is none.
WEFT_API uint32_t weft_simulation_host_find(const struct weft_simulation *simulation, const char *name);

/// Called about every 50 ms of wall time.
struct weft_progress {
    weft_time_ps now_ps;
    double wall_s;
    uint64_t packet_hops;
    weft_bytes delivered_bytes, total_bytes; ///< payload
    uint32_t flows_done, flows;
};

/// How to run; zeros are the defaults.
struct weft_sim_options {
    bool profile;       ///< measure where the time goes; costs some time itself where windows hold little
    bool record;        ///< keep the events of the run, up to run.events of them a node
    bool oversubscribe; ///< more threads run than there are processors, if so many are asked for
    bool pin;           ///< threads are spread over the NUMA nodes, and each stays on its own
    uint32_t threads;   ///< 0: 1. More than there is work for are not started. The result is the same with any number.
    const volatile sig_atomic_t *interrupt; ///< non-zero ends the run, with the results so far; may be NULL
    bool (*on_progress)(void *context, const struct weft_progress *progress); ///< false: as `interrupt`; may be NULL
    void *context;
    const char *capture_file;           ///< of what the scenario's `capture` asks for; NULL: nothing is captured
    struct weft_follow *follow;         ///< the project's own; NULL
    struct weft_ranks *ranks;           ///< likewise
    struct weft_checkpoint *checkpoint; ///< likewise
};

/// Results of a run.
struct weft_result;

/// Runs to the end. `options` may be NULL. There is a result after WEFT_OK, and also after WEFT_ERROR_STALL (with
/// the report of what waits for what), WEFT_ERROR_CONSERVATION and a capture that could not be written
/// (WEFT_ERROR_SYSTEM); else *ret_result is NULL.
WEFT_API enum weft_status weft_simulation_run(const struct weft_simulation *simulation,
                                              const struct weft_sim_options *options, struct weft_result **ret_result,
                                              struct weft_error *ret_error);

/// Estimates the run in seconds (docs/estimate.md): one JSON object and a newline, as `weft estimate --json` prints it.
/// `calibration`: a file with intervals; NULL: the library's own. WEFT_ERROR_INPUT: a model has no estimate.
WEFT_API enum weft_status weft_simulation_estimate(const struct weft_simulation *simulation, const char *calibration,
                                                   FILE *file, struct weft_error *ret_error);

// --- results ------------------------------------------------------------------------------------------------------

WEFT_API void weft_result_free(struct weft_result *result);
/// Over every flow's completion times, every counter and every drop; equal for equal results.
WEFT_API uint64_t weft_result_digest(const struct weft_result *result);
WEFT_API weft_time_ps weft_result_sim_time(const struct weft_result *result); ///< of the last event, or run.until
/// What waits for what, as lines of text; NULL: the run did not stall.
WEFT_API const char *weft_result_stall(const struct weft_result *result);
/// One JSON object and a newline, as `weft run --json` prints it.
WEFT_API enum weft_status weft_result_write_json(const struct weft_result *result, FILE *file,
                                                 struct weft_error *ret_error);
/// Writes DIR/results.sqlite (docs/results.md); DIR is created if absent. An older file is replaced; on an error it
/// stays.
WEFT_API enum weft_status weft_result_write_sqlite(const struct weft_result *result, const char *dir,
                                                   struct weft_error *ret_error);

#ifdef __cplusplus
}
#endif
