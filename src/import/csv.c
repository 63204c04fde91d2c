// SPDX-License-Identifier: Apache-2.0
// Flows as a table: a line a flow, columns named by the header. Source: ours; the names of columns are those that
// tables of flows usually have. Quoting is RFC 4180's; fields may be separated by commas, semicolons or tabs, of which
// the header has more than of the others. A unit stands in the header (start_ns, size [KB]) or beside the value (10us,
// 4KiB); numbers without any are seconds and bytes.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/lines.h"
#include "import/hosts.h"
#include "weft/import.h"
#include "weft/workload.h"

enum column { START, SRC, DST, BYTES, PRIORITY, GROUP, QPS, COLUMNS };
enum { FIELDS_MAX = 256, NAME_MAX_BYTES = 64, PRIORITY_MAX = 7, QPS_MAX = 1024, IGNORED = COLUMNS };
static const struct {
    const char *names; ///< with blanks around each
    enum weft__quantity quantity;
    const char *unit;
} columns[COLUMNS] = {
    [START] = {" start start_time starttime time begin arrival arrival_time t ", WEFT__TIME, "s"},
    [SRC] = {" src source from sender src_host src_id src_node ", WEFT__COUNT, ""},
    [DST] = {" dst dest destination to receiver dst_host dst_id dst_node ", WEFT__COUNT, ""},
    [BYTES] = {" bytes size length flow_size flowsize payload volume ", WEFT__BYTES, "B"},
    [PRIORITY] = {" priority prio pg tc class traffic_class ", WEFT__COUNT, ""},
    [GROUP] = {" group tag job label ", WEFT__COUNT, ""},
    [QPS] = {" qps queue_pairs qp_count ", WEFT__COUNT, ""},
};

/// What the header says.
struct header {
    char separator;
    uint32_t fields;
    uint8_t column[FIELDS_MAX]; ///< enum column, or IGNORED
    char unit[FIELDS_MAX][8];
    bool has[COLUMNS];
    char ignored[FIELDS_MAX * NAME_MAX_BYTES]; ///< names joined by ","
};

struct csv_conf {
    struct weft_workload_common common;
    const char *file, *hosts, *ignore;
};
static const struct weft_param csv_rows[] = {
    WEFT_WORKLOAD_ROWS(struct csv_conf),
    WEFT_TEXT(struct csv_conf, file, "file", NULL, "the table; relative to the scenario"),
    WEFT__FILE_HOSTS_ROW(struct csv_conf),
    WEFT_TEXT(struct csv_conf, ignore, "ignore", "", "columns that mean nothing here, joined by commas"),
};
static const struct weft_param_table csv_params = WEFT_PARAM_TABLE("csv", struct csv_conf, csv_rows);

// --- the header ---------------------------------------------------------------------------------------------------

static char separator_of(const char *line) {
    static const char separators[] = ",;\t";
    size_t best = 0;
    char found = ',';
    for (const char *s = separators; *s; s++) {
        size_t n = 0;
        for (const char *at = line; *at; at++)
            n += *at == *s;
        if (n > best) {
            best = n;
            found = *s;
        }
    }
    return found;
}

/// "Start Time [ns]" as "start_time" and "ns", "size_kb" as "size" and "KB".
static void split_name(const char *field, char name[NAME_MAX_BYTES], char unit[8]) {
    static const char *const units[] = {"ps", "ns", "us", "ms",  "s",   "B",   "KB",
                                        "MB", "GB", "TB", "KiB", "MiB", "GiB", NULL};
    size_t n = 0, end;
    for (const char *at = field; *at && n + 1 < NAME_MAX_BYTES; at++) {
        char c = (char)tolower((unsigned char)*at);
        bool plain = isalnum((unsigned char)c) || c == '.';
        if (plain || (n && name[n - 1] != '_')) name[n++] = plain ? c : '_';
    }
    while (n && name[n - 1] == '_')
        n--;
    name[n] = unit[0] = 0;
    for (end = n; end && name[end - 1] != '_';)
        end--;
    for (const char *const *u = units; *u && end > 1; u++)
        if (!strcasecmp(name + end, *u)) {
            snprintf(unit, 8, "%s", *u);
            name[end - 1] = 0;
        }
}

static enum column column_of(const char *name) {
    char padded[NAME_MAX_BYTES + 2];
    snprintf(padded, sizeof padded, " %s ", name);
    enum column c = 0;
    while (c < COLUMNS && (!*name || !strstr(columns[c].names, padded)))
        c++;
    return c;
}

static bool is_unit_of(enum column c, const char *unit) {
    char one[16], why[8];
    uint64_t ignored;
    snprintf(one, sizeof one, "1%s", unit);
    return weft__quantity_parse(columns[c].quantity, one, &ignored, why, sizeof why);
}

static bool is_listed(const char *list, const char *word) {
    size_t n = strlen(word);
    for (const char *at = list; *at; at += *at == ',') {
        at += strspn(at, " ");
        size_t length = strcspn(at, ",");
        if (length == n && !strncmp(at, word, n)) return true;
        at += length;
    }
    return false;
}

/// A field of the header. `ignore` NULL: what is not known is ignored, and listed.
static enum weft_status read_name(struct weft__lines *lines, const char *field, const char *ignore, struct header *h,
                                  struct weft_error *ret_error) {
    char name[NAME_MAX_BYTES];
    uint32_t f = h->fields++;
    enum weft_status status = weft__lines_name(lines, field, ret_error);
    if (!status && (strlen(field) >= NAME_MAX_BYTES || strchr(field, ',')))
        status =
            weft_error_set(ret_error, WEFT_ERROR_INPUT, lines->place,
                           "expected a column's name of at most %d bytes, without a comma in it", NAME_MAX_BYTES - 1);
    if (status) return status;
    split_name(field, name, h->unit[f]);
    enum column c = ignore && is_listed(ignore, field) ? COLUMNS : column_of(name);
    if (c == COLUMNS && ignore && !is_listed(ignore, field))
        return weft_error_set(
            ret_error, WEFT_ERROR_INPUT, lines->place,
            "column '%.60s' is not known; expected start, src, dst, bytes, priority, group or qps, or "
            "its name in 'ignore'",
            field);
    if (c < COLUMNS && h->has[c])
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, lines->place,
                              "column '%.60s' means what a column before it does; expected one of a kind", field);
    if (c < COLUMNS && *h->unit[f] && !is_unit_of(c, h->unit[f]))
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, lines->place, "'%.60s': '%s' is no unit of it; expected %s",
                              field, h->unit[f], weft__quantity_expected(columns[c].quantity));
    h->column[f] = (uint8_t)c;
    if (c < COLUMNS) {
        h->has[c] = true;
        if (!*h->unit[f]) snprintf(h->unit[f], sizeof h->unit[f], "%s", columns[c].unit);
    } else {
        size_t n = strlen(h->ignored);
        snprintf(h->ignored + n, sizeof h->ignored - n, "%s%s", n ? "," : "", field);
    }
    return WEFT_OK;
}

static enum weft_status read_header(struct weft__lines *lines, const char *ignore, struct header *h,
                                    struct weft_error *ret_error) {
    bool more;
    *h = (struct header){0};
    enum weft_status status = weft__lines_next_full(lines, &more, ret_error);
    if (status) return status;
    h->separator = separator_of(lines->at);
    for (bool last = !more; !last && !status;) {
        if (h->fields == FIELDS_MAX)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, lines->place, "expected at most %d columns", FIELDS_MAX);
        const char *field = weft__lines_field(lines, h->separator, &last);
        status = read_name(lines, field, ignore, h, ret_error);
    }
    static const enum column needed[] = {SRC, DST, BYTES};
    static const char *const names[] = {"src", "dst", "bytes"};
    for (uint32_t k = 0; k < sizeof needed / sizeof *needed && !status; k++)
        if (!h->has[needed[k]])
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){lines->path, lines->place.line, 1},
                                  "the header names no column '%s'; expected src, dst and bytes, and perhaps start, "
                                  "priority, group, qps",
                                  names[k]);
    return status;
}

// --- flows --------------------------------------------------------------------------------------------------------

struct row {
    uint64_t value[COLUMNS]; ///< of START, BYTES, PRIORITY, QPS
    const char *text[COLUMNS];
    struct weft_place place[COLUMNS];
};

static enum weft_status read_field(struct weft__lines *lines, const struct header *h, uint32_t f, const char *field,
                                   struct row *row, struct weft_error *ret_error) {
    enum column c = h->column[f];
    char why[160];
    if (c == COLUMNS) return WEFT_OK;
    row->text[c] = field;
    row->place[c] = lines->place;
    if (c == SRC || c == DST) return WEFT_OK;
    if (c == GROUP) return weft__lines_name(lines, field, ret_error);
    if (weft__number_parse(columns[c].quantity, h->unit[f], field, &row->value[c], why, sizeof why)) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, lines->place, "%s", why);
}

static enum weft_status read_row(struct weft__lines *lines, const struct header *h, struct row *row,
                                 struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    uint32_t f = 0;
    for (bool last = false; !last && !status; f++) {
        const char *field = weft__lines_field(lines, h->separator, &last);
        if (f == h->fields)
            return weft_error_set(ret_error, WEFT_ERROR_INPUT, lines->place,
                                  "more fields than the header has columns (%" PRIu32 ")", h->fields);
        status = read_field(lines, h, f, field, row, ret_error);
    }
    if (!status && f < h->fields)
        return weft_error_set(ret_error, WEFT_ERROR_INPUT, lines->place,
                              "the line ends after %" PRIu32 " fields; expected %" PRIu32 ", as many as the header", f,
                              h->fields);
    return status;
}

static enum weft_status check_range(const struct row *row, enum column c, uint64_t min, uint64_t max,
                                    struct weft_error *ret_error) {
    if (row->value[c] >= min && row->value[c] <= max) return WEFT_OK;
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, row->place[c], "%" PRIu64 "; expected %" PRIu64 " to %" PRIu64,
                          row->value[c], min, max);
}

struct reader {
    const struct csv_conf *conf;
    struct weft__file_hosts hosts;
    struct weft_workload *w;
    struct header header;
};

static enum weft_status add_row(const struct reader *r, struct weft__lines *lines, struct weft_error *ret_error) {
    struct row row = {
        .value = {
            [BYTES] = r->conf->common.size_bytes, [PRIORITY] = r->conf->common.priority, [QPS] = r->conf->common.qps}};
    uint32_t src, dst;
    enum weft_status status = read_row(lines, &r->header, &row, ret_error);
    if (!status) status = check_range(&row, BYTES, 1, UINT64_C(100000000000000), ret_error);
    if (!status) status = check_range(&row, PRIORITY, 0, PRIORITY_MAX, ret_error);
    if (!status) status = check_range(&row, QPS, 1, QPS_MAX, ret_error);
    if (!status) status = weft__file_hosts_find(&r->hosts, row.text[SRC], row.place[SRC], &src, ret_error);
    if (!status) status = weft__file_hosts_find(&r->hosts, row.text[DST], row.place[DST], &dst, ret_error);
    if (status) return status;
    struct weft_workload_common common = r->conf->common;
    common.priority = row.value[PRIORITY];
    common.qps = row.value[QPS];
    if (row.text[GROUP] && *row.text[GROUP]) common.group = row.text[GROUP];
    return weft_workload_add(r->w, &common, row.place[SRC], src, dst, row.value[BYTES],
                             weft_time_plus(common.start_ps, row.value[START]), ret_error);
}

static enum weft_status csv_expand(const void *conf, struct weft_place place, const struct weft_topology *topology,
                                   uint64_t seed, uint32_t entry, struct weft_workload *w,
                                   struct weft_error *ret_error) {
    struct reader r = {.conf = conf, .w = w};
    struct weft__lines lines = {0};
    const char *path = weft__path_beside(r.conf->file, place, w->arena);
    enum weft_status status = weft__file_hosts_init(&r.hosts, r.conf->hosts, place, topology, ret_error);
    if (!status) status = weft__lines_open(&lines, path, place, ret_error);
    if (status) return status;
    status = read_header(&lines, r.conf->ignore, &r.header, ret_error);
    uint32_t before = w->flows;
    for (bool more = true; more && !status;) {
        status = weft__lines_next_full(&lines, &more, ret_error);
        if (!status && more) status = add_row(&r, &lines, ret_error);
    }
    weft__lines_close(&lines);
    if (!status && w->flows == before)
        status = weft_error_set(ret_error, WEFT_ERROR_INPUT, (struct weft_place){path, lines.place.line, 1},
                                "no flow is in it; expected a line a flow below the header");
    return status;
}

static const struct weft_workload_ops csv_ops = {.expand = csv_expand};

const struct weft_model weft__workload_csv = {
    .kind = WEFT_KIND_WORKLOAD,
    .name = "csv",
    .summary = "flows of a table: start, src, dst, bytes, priority, group, queue pairs",
    .source = "ours; quoting as RFC 4180. `start` of the entry is added to those of the table",
    .params = &csv_params,
    .ops = &csv_ops,
};

// --- import -------------------------------------------------------------------------------------------------------

/// A line of names, one of which is a source, one a destination.
static const char *csv_recognise(const struct weft_import_file *file) {
    char line[WEFT_IMPORT_HEAD], name[NAME_MAX_BYTES], unit[8];
    const char *at = file->head;
    bool has[COLUMNS + 1] = {false};
    while (*at == '#' || *at == '\n' || *at == '\r')
        at += strcspn(at, "\n") + (at[strcspn(at, "\n")] != 0);
    if (!strncmp(at, "\xef\xbb\xbf", 3)) at += 3;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\r\n"), at);
    char separator[2] = {separator_of(line)}, *rest = line;
    for (char *field; (field = strsep(&rest, separator));) {
        split_name(field, name, unit);
        has[column_of(name)] = true;
    }
    return has[SRC] && has[DST] && has[BYTES] ? "flows" : NULL;
}

/// What the table asks of a network that has yet to be made.
static enum weft_status scan(struct weft__lines *lines, const struct header *h, struct weft_import *import,
                             uint64_t *ret_flows, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (bool more = true; more && !status;) {
        struct row row = {0};
        status = weft__lines_next_full(lines, &more, ret_error);
        if (status || !more) break;
        status = read_row(lines, h, &row, ret_error);
        ++*ret_flows;
        for (uint32_t k = 0; k < 2 && !status; k++) {
            const char *host = row.text[k ? DST : SRC];
            if (!strncmp(host, "host-", 5)) host += 5;
            size_t digits = strspn(host, "0123456789");
            if (!digits || host[digits] || digits > 7)
                return weft_error_set(ret_error, WEFT_ERROR_INPUT, row.place[k ? DST : SRC],
                                      "'%.60s' is no number of a host, and there is no topology with such a name; "
                                      "expected 0, 1, ... or host-0, host-1, ...",
                                      row.text[k ? DST : SRC]);
            weft_import_need_hosts(import, (uint32_t)strtoul(host, NULL, 10) + 1);
        }
    }
    return status;
}

static enum weft_status csv_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                 struct weft_import *import, struct weft_error *ret_error) {
    enum weft_status status = WEFT_OK;
    for (uint32_t f = 0; f < files && !status; f++) {
        struct weft__lines lines;
        struct header h;
        uint64_t flows = 0;
        status = weft__lines_open(&lines, file[f].path, WEFT_NOWHERE, ret_error);
        if (status) return status;
        status = read_header(&lines, NULL, &h, ret_error);
        if (!status) status = scan(&lines, &h, import, &flows, ret_error);
        weft__lines_close(&lines);
        if (status) return status;
        weft_import_say(import, WEFT_IMPORT_WORKLOAD, "- kind: csv\n  file: %s\n",
                        weft_import_quote(import, file[f].written));
        if (*h.ignored)
            weft_import_say(import, WEFT_IMPORT_WORKLOAD, "  ignore: %s\n", weft_import_quote(import, h.ignored));
        weft_import_note(import, WEFT_IMPORT_FOUND, "%s: %" PRIu64 " flows", file[f].written, flows);
        if (*h.ignored) weft_import_note(import, WEFT_IMPORT_LEFT_OUT, "%s: columns %s", file[f].written, h.ignored);
        if (!h.has[START])
            weft_import_note(import, WEFT_IMPORT_ASSUMED, "%s: all flows start at 0s: no column says when",
                             file[f].written);
        if (!h.has[PRIORITY])
            weft_import_note(import, WEFT_IMPORT_ASSUMED, "%s: all flows are of priority 3: no column says which",
                             file[f].written);
    }
    return status;
}

static const struct weft_import_ops csv_import_ops = {csv_recognise, csv_make};

const struct weft_model weft__import_csv = {
    .kind = WEFT_KIND_IMPORT,
    .name = "csv",
    .summary = "a table of flows whose header names columns: src, dst, bytes, and perhaps start, priority, group, qps",
    .source = "ours; quoting as RFC 4180",
    .params = &weft_import_table,
    .ops = &csv_import_ops,
};
