// SPDX-License-Identifier: Apache-2.0
// Constants of a host (server.launch, server.costs) from measured times of collectives: weft runs the same collectives,
// and the constants at which the logarithms of its times come nearest to those measured, by least squares, are what is
// found. Beside the measurements stands an expectation, the values that the server has without a fit, each with a
// deviation of its own size: a constant on which the times hardly depend stays where it was, and is said to be not
// determined. Sizes are as nccl-tests prints them.
#pragma once

#include "weft/memory.h"
#include "weft/result.h"

struct weft_scenario_file;

/// Rules on rows, which the answer states.
#define WEFT_FIT_OUTLIER 1.2 ///< out of place beside in place, or beside a larger size: more is no measurement
/// The largest size that is run; within one server, where a run has no packets, twice that of WEFT_FIT_LINE.
#define WEFT_FIT_SIMULATED (128 << 20)
/// From here larger sizes go on in a straight line through this and about a quarter more (assumed): in whole loops,
/// because a ring that starts again loses time, if these are of up to 1 GiB. Of more than 4 servers, from a smaller
/// size. Pipelines of 4 servers have filled by then.
#define WEFT_FIT_LINE (UINT64_C(512) << 20)

enum weft_fit_use { WEFT_FIT_FITTED, WEFT_FIT_HELD_OUT, WEFT_FIT_OUTLYING, WEFT_FIT_CHECKED };
extern const char *const weft_fit_uses[];

/// A size of a table.
struct weft_fit_row {
    const char *file, *collective;
    uint32_t line, nodes, ranks;
    weft_bytes bytes;
    double measured_us, in_place_us, predicted_us, error; ///< in_place_us: NAN: not known; error: relative
    const char *algorithm, *protocol;                     ///< as NCCL chooses; NULL: not known
    uint32_t use;                                         ///< enum weft_fit_use
    bool beyond;                                          ///< larger than what is run
};

/// What a table says about how it was measured. Zeros: it does not say.
struct weft_fit_setup {
    uint32_t nodes, gpus, nics; ///< gpus, nics: of a node
    uint64_t nic_rate_bps, min_ctas, max_ctas;
    const char *gpu, *collective, *algo, *proto, *cpu;
    uint32_t nvls;    ///< 1: no, 2: yes
    uint32_t version; ///< enum weft_nccl_version
    bool versioned;   ///< it is said; else it is that of the table's date
    uint32_t ranks;
    const char *hosts, *bus; ///< of the ranks that are listed: " a b ", and the address of the first one's GPU
    uint32_t host_count, bus_count;
    struct weft_place place; ///< of the last line about it
};

struct weft_fit_table {
    const char *file;
    struct weft_fit_setup setup;
    uint32_t row0, rows;   ///< in weft_fit.row
    weft_bytes line_bytes; ///< from here larger sizes are on
    uint32_t lines;        ///< lines
    struct weft_fit_line {
        const char *algorithm, *protocol; ///< NCCL's choice, with which it is run; NULL: not known
        weft_bytes more_bytes;            ///< from its first point to the second one
    } line[2];
    struct weft_scenario_file *scenario;
    bool parsed; ///< the scenario is its own
    bool job;    ///< its work is the sizes that count, each once, without barriers or lines
};

struct weft_fit_constant {
    const char *key; ///< "launch", "costs.tree_ll"
    bool rate;
    uint32_t used;                            ///< rows whose time depends on it
    double before, value;                     ///< us; of a rate Gbit/s
    double deviation;                         ///< of the value; NAN: nothing depends on it
    bool determined;                          ///< the tables say more than the expectation did
    double expected, width, least, at, error; ///< as the solver has it: us, of a rate us a MB
};

/// How near the predictions are.
struct weft_fit_judgement {
    const char *what; ///< "fitted"
    uint32_t rows;
    double median, p90, worst, within_20; ///< relative, of the amounts of errors
    double median_large;                  ///< above 64 MiB; NAN: no such size
};

/// A constant by which alone the differences from a class can be explained.
struct weft_fit_cause {
    const char *key;
    double before, value; ///< us; of a rate Gbit/s
    double explained;     ///< of the squares of the differences, as logarithms
    uint32_t rows;        ///< sizes whose time it changes by a tenth and more; from the least to the largest
    weft_bytes from_bytes, to_bytes;
};

struct weft_fit {
    struct weft_arena *arena;
    uint32_t tables, rows, constants, judgements, causes, runs, warnings;
    struct weft_fit_table *table;
    struct weft_fit_row *row;
    struct weft_fit_constant *constant;
    struct weft_fit_judgement *judgement;
    struct weft_fit_cause *cause; ///< those that explain most first
    const char **warning;
    const struct weft_server_conf *server; ///< of the first table, with what was found
};
extern const struct weft_answer weft__answer_fit;

struct weft_fit_conf {
    const char *const *table; ///< files: nccl-tests as printed, CSV, or lines of NCCL's inspector
    uint32_t tables;
    const struct weft_scenario_file *scenario; ///< NULL: made from what a table says about its set-up
    uint32_t variant;
    const char *setup;              ///< what holds for all tables: "gpu=H100 nics=8x400G"; NULL: nothing
    const char *server;             ///< the class of hardware of the servers; NULL: that of the GPUs
    const char *only;               ///< the constants to find, with commas; NULL: all
    uint32_t hold_out, hold_out_of; ///< so many sizes in so many are held out
    bool check;                     ///< finds nothing
    bool why;                       ///< with `check`: finds what would explain the differences
    bool (*is_interrupted)(void);   ///< NULL: never
};

/// After weft_fit_tables with `check` and a scenario, of one table: its scenario becomes a job of the sizes that count
/// and are run (row.beyond is then false); if all are larger, of the smallest.
enum weft_status weft_fit_job(const struct weft_fit_conf *conf, struct weft_fit *fit, struct weft_error *ret_error);
/// Reads the tables, finds the constants, and compares. Scenarios stay until weft_fit_free, `fit` is in `arena`.
enum weft_status weft_fit_tables(const struct weft_fit_conf *conf, struct weft_arena *arena, struct weft_fit *ret_fit,
                                 struct weft_error *ret_error);
void weft_fit_free(struct weft_fit *fit);
/// The server as a class of hardware (weft/hardware.h) called `name`.
void weft_fit_write(FILE *file, const struct weft_fit *fit, const char *name);
