// SPDX-License-Identifier: Apache-2.0
// Flows as a table: a line per flow, columns named by the header. Source: our own format; the names of columns are
// those that tables of flows usually have, in the form of base/table.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "import/flow_file.h"
#include "weft/import.h"
#include "weft/param.h"
#include "weft/workload.h"

enum column { START, SRC, DST, BYTES, PRIORITY, GROUP, QPS, SPORT, DPORT, PATH, COLUMNS };
enum { PRIORITY_MAX = 7, QPS_MAX = 1024, PORT_MAX = 65535 };
static const struct weft__column columns[COLUMNS] = {
    [START] = {"start", " start start_time starttime time begin arrival arrival_time t ", WEFT__TIME, "s", false,
               false},
    [SRC] = {"src", " src source from sender src_host src_id src_node ", WEFT__COUNT, "", true, true},
    [DST] = {"dst", " dst dest destination to receiver dst_host dst_id dst_node ", WEFT__COUNT, "", true, true},
    [BYTES] = {"bytes", " bytes size length flow_size flowsize payload volume ", WEFT__BYTES, "B", true, false},
    [PRIORITY] = {"priority", " priority prio pg tc class traffic_class ", WEFT__COUNT, "", false, false},
    [GROUP] = {"group", " group tag job label ", WEFT__COUNT, "", false, true},
    [QPS] = {"qps", " qps queue_pairs qp_count ", WEFT__COUNT, "", false, false},
    [SPORT] = {"sport", " sport source_port src_port udp_port udp_sport udp_source_port ", WEFT__COUNT, "", false,
               false},
    [DPORT] = {"dport", " dport destination_port dst_port udp_dport udp_destination_port ", WEFT__COUNT, "", false,
               false},
    [PATH] = {"path", " path route via switches ", WEFT__COUNT, "", false, true},
};

struct csv_conf {
    struct weft__flow_file_conf flows;
    const char *ignore;
};
static const struct weft_param_table csv_params =
    WEFT_PARAM_TABLE_OF("csv", struct csv_conf, WEFT_PARAM_UNCHECKED, WEFT__FLOW_FILE_ROWS("the table"),
                        WEFT_TEXT(struct csv_conf, ignore, "ignore", "", "columns to ignore, joined by commas"));

// --- flows --------------------------------------------------------------------------------------------------------

static enum weft_status check_range(const struct weft__table_row *row, enum column c, uint64_t min, uint64_t max,
                                    struct weft_error *ret_error) {
    if (row->value[c] >= min && row->value[c] <= max) return WEFT_OK;
    return WEFT_REFUSE(ret_error, row->place[c], "%" PRIu64 "; expected %" PRIu64 " to %" PRIu64, row->value[c], min,
                       max);
}

/// A NIC sends from the ports reserved for RoCEv2; for ports of other simulators their lower 14 bits count.
static enum weft_status check_sport(const struct weft__table_row *row, struct weft_error *ret_error) {
    uint64_t port = row->value[SPORT];
    if (!row->text[SPORT] || weft_source_port_is_good(port)) return WEFT_OK;
    return WEFT_REFUSE(ret_error, row->place[SPORT],
                       "%" PRIu64 "; expected a UDP source port of 49152 to 65535, as RoCEv2 has them, or of 1 to "
                       "16383",
                       port);
}

/// Checks what is independent of the network in a row.
static enum weft_status check_row(const struct weft__table_row *row, struct weft_error *ret_error) {
    WEFT_TRY(check_range(row, BYTES, 1, WEFT__FILE_FLOW_BYTES_MAX, ret_error));
    WEFT_TRY(check_range(row, PRIORITY, 0, PRIORITY_MAX, ret_error));
    WEFT_TRY(check_range(row, QPS, 1, QPS_MAX, ret_error));
    WEFT_TRY(check_sport(row, ret_error));
    return check_range(row, DPORT, 0, PORT_MAX, ret_error);
}

struct reader {
    const struct csv_conf *conf;
    struct weft__file_hosts hosts;
    struct weft_workload *w;
    struct weft__table table;
};

static enum weft_status add_row(const struct reader *r, struct weft__lines *lines, struct weft_error *ret_error) {
    struct weft__table_row row = {.value = {[BYTES] = r->conf->flows.common.size_bytes,
                                            [PRIORITY] = r->conf->flows.common.priority,
                                            [QPS] = r->conf->flows.common.qps}};
    uint32_t src, dst;
    enum weft_status status = weft__table_row(lines, &r->table, false, &row, ret_error);
    if (!status) status = check_row(&row, ret_error);
    if (!status) status = weft__file_hosts_find(&r->hosts, row.text[SRC], row.place[SRC], &src, ret_error);
    if (!status) status = weft__file_hosts_find(&r->hosts, row.text[DST], row.place[DST], &dst, ret_error);
    if (status) return status;
    struct weft_workload_common common = r->conf->flows.common;
    common.priority = row.value[PRIORITY];
    common.qps = row.value[QPS];
    if (row.text[GROUP] && *row.text[GROUP]) common.group = row.text[GROUP];
    common.source_port = (uint16_t)row.value[SPORT];
    common.destination_port = (uint16_t)row.value[DPORT];
    if (row.text[PATH])
        status = weft_workload_path(r->w, row.text[PATH], row.place[PATH], src, dst, &common.path, ret_error);
    return status ? status
                  : weft_workload_add(r->w, &common, row.place[SRC], src, dst, row.value[BYTES],
                                      weft_time_plus(common.start_ps, row.value[START]), ret_error);
}

static enum weft_status fail_empty(const char *path, const struct weft__lines *lines, struct weft_error *ret_error) {
    return WEFT_REFUSE(ret_error, (struct weft_place){.file = path, .line = lines->place.line, .column = 1},
                       "no flow is in it; expected one line per flow below the header");
}

static enum weft_status csv_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                   uint64_t seed, uint32_t entry, struct weft_workload *w,
                                   struct weft_error *ret_error) {
    struct reader r = {.conf = conf, .w = w};
    WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
    const char *path = weft__path_beside(r.conf->flows.file, place, w->arena);
    enum weft_status status =
        weft__file_hosts_init(&r.hosts, r.conf->flows.hosts, r.conf->flows.ranks, place, topology, ret_error);
    if (!status) status = weft__lines_open(&lines, path, place, ret_error);
    if (status) return status;
    status = weft__table_header(&lines, columns, COLUMNS, r.conf->ignore, &r.table, ret_error);
    uint32_t before = w->flows;
    for (bool more = true; more && !status;) {
        status = weft__lines_next_full(&lines, &more, ret_error);
        if (!status && more) status = add_row(&r, &lines, ret_error);
    }
    if (!status && w->flows == before) status = fail_empty(path, &lines, ret_error);
    return status;
}

const struct weft_model weft__workload_csv =
    WEFT_MODEL_OF(WORKLOAD, "csv", "flows of a table: start, src, dst, bytes, priority, group, queue pairs",
                  "ours; quoting as RFC 4180. `start` of the entry is added to those of the table", &csv_params,
                  &(const struct weft_workload_ops){.expand = csv_expand});

// --- import -------------------------------------------------------------------------------------------------------

/// A line of names, including a source and a destination.
static const char *csv_recognise(const struct weft_import_file *file) {
    bool has[COLUMNS + 1];
    weft__table_guess(file->head, columns, COLUMNS, has);
    return has[SRC] && has[DST] && has[BYTES] ? "flows" : NULL;
}

/// What the table requires of a network that has yet to be made.
static enum weft_status scan_table(struct weft__lines *lines, const struct weft__table *table,
                                   struct weft_import *import, uint64_t *ret_flows, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (bool more = true; more && !status;) {
        struct weft__table_row row = {.value = {[BYTES] = 1, [QPS] = 1}};
        uint32_t number[2] = {0};
        status = weft__lines_next_full(lines, &more, ret_error);
        if (status || !more) break;
        status = weft__table_row(lines, table, false, &row, ret_error);
        if (!status) status = check_row(&row, ret_error);
        ++*ret_flows;
        for (uint32_t k = 0; k < 2 && !status; k++) {
            const char *host = row.text[k ? DST : SRC];
            if (!strncmp(host, "host-", 5)) host += 5;
            size_t digits = strspn(host, "0123456789");
            if (!digits || host[digits] || digits > 7)
                return WEFT_REFUSE(ret_error, row.place[k ? DST : SRC],
                                   "'%.60s' is not the number of a host, and there is no topology with such a name; "
                                   "expected 0, 1, ... or host-0, host-1, ...",
                                   row.text[k ? DST : SRC]);
            number[k] = (uint32_t)strtoul(host, NULL, 10);
            weft_import_need_hosts(import, number[k] + 1);
        }
        if (!status && number[0] == number[1])
            status = WEFT_REFUSE(ret_error, row.place[DST],
                                 "a flow from host %" PRIu32 " to itself; expected two different hosts", number[0]);
    }
    return status;
}

static enum weft_status csv_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                 struct weft_import *import, struct weft_error *ret_error) {
    for (uint32_t f = 0; f < files; f++) {
        WEFT_ENDS(weft__lines_close) struct weft__lines lines = {0};
        struct weft__table table;
        uint64_t flows = 0;
        WEFT_TRY(weft__lines_open(&lines, file[f].path, WEFT_NOWHERE, ret_error));
        WEFT_TRY(weft__table_header(&lines, columns, COLUMNS, NULL, &table, ret_error));
        WEFT_TRY(scan_table(&lines, &table, import, &flows, ret_error));
        if (!flows) WEFT_TRY(fail_empty(file[f].path, &lines, ret_error));
        weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: csv\n  file: %s\n",
                        weft_import_quote(import, file[f].written));
        if (*table.ignored)
            weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  ignore: %s\n", weft_import_quote(import, table.ignored));
        weft_import_note(import, WEFT_IMPORT_FOUND, "%s: %" PRIu64 " flows", file[f].written, flows);
        if (*table.ignored)
            weft_import_note(import, WEFT_IMPORT_LOST, "%s: columns %s", file[f].written, table.ignored);
        if (!table.has[START])
            weft_import_note(import, WEFT_IMPORT_ASSUMED, "%s: all flows start at 0s: no column says when",
                             file[f].written);
        if (!table.has[PRIORITY])
            weft_import_note(import, WEFT_IMPORT_ASSUMED, "%s: all flows are of priority 3: no column says which",
                             file[f].written);
    }
    return WEFT_OK;
}

const struct weft_model weft__import_csv = WEFT_MODEL_OF(
    IMPORT, "csv",
    "a table of flows whose header names columns: src, dst, bytes, and perhaps start, priority, group, qps",
    "ours; quoting as RFC 4180", &weft_import_table,
    &(const struct weft_import_ops){
        .recognise = csv_recognise,
        .make = csv_make,
        .syntax = WEFT_IMPORT_TEXT,
        .begins = "a header that names src, dst and bytes",
    });
