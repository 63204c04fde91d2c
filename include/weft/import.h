// SPDX-License-Identifier: Apache-2.0
// What users already have: files of other tools. An importer is a model of kind import, one file a format, beside the
// format's codec (src/import). It says which files are of its format, and turns them into a scenario: sections in YAML,
// each with a comment, and what had to be assumed or left out. Files of data (flows, topologies, programs) are read in
// place, by the topology or workload model of the same name; the scenario names them.
#pragma once

#include <stdio.h>

#include "weft/model.h"

enum { WEFT_IMPORT_HEAD = 16384 }; ///< so much of a file is looked at to know it
enum { WEFT_IMPORT_PLANES_MAX = 16 };

/// A file, or a folder, of the command line.
struct weft_import_file {
    const char *path;    ///< as the user wrote it
    const char *written; ///< as the scenario names it: relative to the scenario's own folder, or absolute
    const char *head;    ///< its first bytes, with a 0 behind them
    size_t size;         ///< of head; WEFT_IMPORT_HEAD at most
    int passed;          ///< lines before head, which are comments
    bool folder;
    bool absent;      ///< there is none of this name, but there may be files that begin with it
    const char *what; ///< what the importer said that it is; NULL: not its own
};

enum weft_import_section {
    WEFT_IMPORT_TOPOLOGY,
    WEFT_IMPORT_SWITCH,
    WEFT_IMPORT_HOST,
    WEFT_IMPORT_DEVICES,
    WEFT_IMPORT_EVENTS,
    WEFT_IMPORT_WORKLOAD,
    WEFT_IMPORT_RUN,
    WEFT_IMPORT_SECTIONS
};

/// Kinds of remarks, in the order in which they are printed: losses, worst first, then what was found and assumed.
enum weft_import_note {
    WEFT_IMPORT_BROKEN, ///< a loss: a run of the scenario fails or is not of the network in the files
    WEFT_IMPORT_LOST,   ///< a loss: results differ from those that the files mean
    WEFT_IMPORT_FOUND,
    WEFT_IMPORT_ASSUMED,
    WEFT_IMPORT_LEFT_OUT, ///< results do not depend on it
    WEFT_IMPORT_NOTES
};

struct weft_import; ///< a scenario under construction

/// What every importer has; first member of its configuration.
struct weft_import_common {
    weft_rate_bps rate_bps;
    weft_time_ps delay_ps;
    weft_bytes size_bytes;
};
#define WEFT_IMPORT_ROWS(T)                                                                                            \
    WEFT_RATE(T, common.rate_bps, "rate", "200Gbps", "10Mbps", "100Tbps",                                              \
              "link rate of the network made for a workload that has none (assumed)"),                                 \
        WEFT_TIME(T, common.delay_ps, "delay", "150ns", "1ps", "1s", "link delay of that network (assumed)"),          \
        WEFT_BYTES(T, common.size_bytes, "size", "1MB", "1B", "100TB",                                                 \
                   "bytes that each host sends in the workload made for a topology that has none (assumed)")

/// Of an importer that has no other parameters.
extern const struct weft_param_table weft_import_table;

/// What files look like from afar.
enum weft_import_syntax {
    WEFT_IMPORT_TEXT = 1 << 0,
    WEFT_IMPORT_JSON = 1 << 1,
    WEFT_IMPORT_XML = 1 << 2,
    WEFT_IMPORT_BINARY = 1 << 3,
};

struct weft_import_ops {
    /// What the file seems to be ("topology", "flows"); NULL: nothing that this importer knows.
    const char *(*recognise)(const struct weft_import_file *file);
    /// Turns the files, each of which was recognised, into sections. Errors name file and line.
    enum weft_status (*make)(const void *conf, const struct weft_import_file *file, uint32_t files,
                             struct weft_import *import, struct weft_error *ret_error);
    unsigned syntax;    ///< enum weft_import_syntax, several of them
    const char *begins; ///< by what recognise knows a file
    /// The importer that reads all of a file of which this one reads a part: where both know it, it is meant. NULL:
    /// none.
    const char *whole;
};

/// Adds text to a section; without its key, indented as below the key. Nothing said: the section's default, if it has
/// one, is stated in the scenario.
void weft_import_say(struct weft_import *import, enum weft_import_section section, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void weft_import_note(struct weft_import *import, enum weft_import_note note, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// Text as a YAML scalar, in quotes if it needs them; lives as long as the import.
const char *weft_import_quote(struct weft_import *import, const char *text);
/// "8 hosts, 1 switch"; lives as long as the import.
const char *weft_import_nodes(struct weft_import *import, uint32_t hosts, uint32_t switches);
/// Another file, that a file names; recognised by the importer at work, or an error at `place`.
enum weft_status weft_import_also(struct weft_import *import, const char *path, struct weft_place place,
                                  struct weft_import_file *ret_file, struct weft_error *ret_error);
/// Hosts that a workload without a topology needs: host-0 to host-(hosts - 1).
void weft_import_need_hosts(struct weft_import *import, uint32_t hosts);
/// The hosts of the workload made for a topology that has none: those of the first plane, where a host is in several.
/// `hosts` lives as long as the import; NULL: all.
void weft_import_choose_hosts(struct weft_import *import, const char *hosts);
/// Its servers of several GPUs; same lifetime as `hosts`: "{gpus: 8, rate: 3600Gbps}"; NULL: none.
void weft_import_choose_server(struct weft_import *import, const char *server);
/// NICs that each of them needs, WEFT_IMPORT_PLANES_MAX at most: host N is then nic-0-host-N.
void weft_import_need_planes(struct weft_import *import, uint32_t planes);
struct weft_arena *weft_import_arena(struct weft_import *import); ///< for what lives as long as the import
/// The first file of that kind (`what`), or NULL.
const struct weft_import_file *weft_import_find(const struct weft_import_file *file, uint32_t files, const char *what);
/// An error unless there is at most one file of that kind.
enum weft_status weft_import_once(const struct weft_import_file *file, uint32_t files, const char *what,
                                  struct weft_error *ret_error);

/// What `weft import` does: reads `path`s with the importer and writes the scenario
/// to `out`. `folder`: in which the scenario will be, "" for the current one. `tree`: parameters of the importer, or
/// NULL. The scenario is complete and was checked as `weft check` does: an importer that makes one which cannot be read
/// is a bug, and what a run would refuse in the files is a loss. `losses`: gets a line for each loss, worst first, or
/// NULL; the same lines are comments of the scenario.
enum weft_status weft_import_write(const struct weft_model *importer, const struct weft_tree *tree,
                                   const char *const *path, uint32_t paths, const char *folder, FILE *out, FILE *losses,
                                   struct weft_error *ret_error);
/// What a file seems to be, by every importer: calls on_guess for each that knows it. None does: an error with the
/// place of what its beginning is instead.
enum weft_status weft_import_guess(const char *path,
                                   void (*on_guess)(void *context, const struct weft_model *importer, const char *what),
                                   void *context, struct weft_error *ret_error);
