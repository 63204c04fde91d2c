// SPDX-License-Identifier: Apache-2.0
// The schema of results.sqlite. docs/results.md explains it; change both.
#ifndef WEFT_REPORT_SQLITE_SCHEMA_H
#define WEFT_REPORT_SQLITE_SCHEMA_H

#include "weft/outcome.h"

#define WEFT__RUN_KEY "run INTEGER NOT NULL REFERENCES run(id)"

static const char weft__sqlite_schema[] =
    "CREATE TABLE run (id INTEGER PRIMARY KEY, weft TEXT NOT NULL, scenario TEXT NOT NULL, variant TEXT NOT NULL,"
    " seed INTEGER NOT NULL, threads INTEGER NOT NULL, digest TEXT NOT NULL, ended TEXT NOT NULL, stall TEXT,"
    " hosts INTEGER NOT NULL, switches INTEGER NOT NULL, links INTEGER NOT NULL, sim_time_ps INTEGER NOT NULL,"
    " wall_s REAL NOT NULL, cpu_s REAL NOT NULL, packet_hops INTEGER NOT NULL, events INTEGER NOT NULL,"
    " windows INTEGER NOT NULL, window_ps INTEGER NOT NULL, peak_rss_bytes INTEGER NOT NULL,"
    " injected_bytes INTEGER NOT NULL, delivered_bytes INTEGER NOT NULL, dropped_bytes INTEGER NOT NULL,"
    " held_bytes INTEGER NOT NULL, cnps INTEGER NOT NULL, unrecorded INTEGER NOT NULL, unrecorded_ps INTEGER);"
    "CREATE TABLE config (" WEFT__RUN_KEY ", path TEXT NOT NULL, value TEXT NOT NULL);"
    "CREATE TABLE groups (" WEFT__RUN_KEY ", name TEXT NOT NULL, count INTEGER NOT NULL, finished INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL, fct_mean_ps REAL, fct_p50_ps REAL, fct_p95_ps REAL, fct_p99_ps REAL, fct_max_ps REAL,"
    " slowdown_mean REAL, slowdown_p50 REAL, slowdown_p95 REAL, slowdown_p99 REAL, slowdown_max REAL,"
    " PRIMARY KEY (run, name)) WITHOUT ROWID;"
    "CREATE TABLE flows (" WEFT__RUN_KEY ", flow INTEGER NOT NULL, group_name TEXT NOT NULL, src INTEGER NOT NULL,"
    " dst INTEGER NOT NULL, src_name TEXT NOT NULL, dst_name TEXT NOT NULL, bytes INTEGER NOT NULL,"
    " qps INTEGER NOT NULL, priority INTEGER NOT NULL, verb TEXT NOT NULL, start_ps INTEGER NOT NULL, end_ps INTEGER,"
    " fct_ps INTEGER, acked_ps INTEGER, ideal_ps INTEGER NOT NULL, slowdown REAL, delivered_bytes INTEGER NOT NULL,"
    " cnps INTEGER NOT NULL, packets_again INTEGER NOT NULL, sfc_messages INTEGER NOT NULL,"
    " sfc_paused_ps INTEGER NOT NULL, PRIMARY KEY (run, flow)) WITHOUT ROWID;"
    "CREATE TABLE ports (" WEFT__RUN_KEY ", port INTEGER NOT NULL, name TEXT NOT NULL, node TEXT NOT NULL,"
    " peer TEXT NOT NULL, peer_port INTEGER NOT NULL, rate_bps INTEGER NOT NULL, delay_ps INTEGER NOT NULL, PRIMARY "
    "KEY (run, port)) WITHOUT ROWID;"
    "CREATE TABLE counters (run INTEGER NOT NULL, port INTEGER NOT NULL, priority INTEGER NOT NULL"
#define X(field, sai, help) ", " #field " INTEGER NOT NULL"
    WEFT_PRIORITY_COUNTERS(X)
#undef X
        ", PRIMARY KEY (run, port, priority), FOREIGN KEY (run, port) REFERENCES ports(run, port)) WITHOUT ROWID;"
        "CREATE TABLE counter_meaning (field TEXT PRIMARY KEY, sai TEXT NOT NULL, meaning TEXT NOT NULL) WITHOUT ROWID;"
        "CREATE TABLE drops (" WEFT__RUN_KEY ", reason TEXT NOT NULL, packets INTEGER NOT NULL, bytes INTEGER NOT NULL,"
        " PRIMARY KEY (run, reason)) WITHOUT ROWID;"
        "CREATE TABLE series (run INTEGER NOT NULL, time_ps INTEGER NOT NULL, port INTEGER NOT NULL,"
        " priority INTEGER NOT NULL, queue_bytes INTEGER NOT NULL, ingress_bytes INTEGER NOT NULL,"
        " tx_bytes INTEGER NOT NULL, paused INTEGER NOT NULL, FOREIGN KEY (run, port) REFERENCES ports(run, port));"
        "CREATE TABLE events (" WEFT__RUN_KEY ", event INTEGER NOT NULL, time_ps INTEGER NOT NULL, kind TEXT NOT NULL,"
        " port INTEGER NOT NULL, priority INTEGER, flow INTEGER, qp INTEGER, value INTEGER NOT NULL,"
        " more INTEGER, detail TEXT, cause INTEGER, begins INTEGER, PRIMARY KEY (run, event),"
        " FOREIGN KEY (run, port) REFERENCES ports(run, port)) WITHOUT ROWID;"
        "CREATE TABLE pauses (" WEFT__RUN_KEY ", pause INTEGER NOT NULL, port INTEGER NOT NULL,"
        " priority INTEGER NOT NULL, from_ps INTEGER NOT NULL, until_ps INTEGER, by_port INTEGER, xoff INTEGER,"
        " xoff_bytes INTEGER, frames INTEGER NOT NULL, parent INTEGER, depth INTEGER NOT NULL, root INTEGER,"
        " PRIMARY KEY (run, pause), FOREIGN KEY (run, port) REFERENCES ports(run, port)) WITHOUT ROWID;"
        "CREATE TABLE event_meaning (kind TEXT PRIMARY KEY, value TEXT NOT NULL, more TEXT NOT NULL,"
        " meaning TEXT NOT NULL) WITHOUT ROWID;"
        "CREATE TABLE memory (" WEFT__RUN_KEY ", kind TEXT NOT NULL, bytes_max INTEGER NOT NULL,"
        " PRIMARY KEY (run, kind)) WITHOUT ROWID;"
        "CREATE VIEW story AS SELECT e.run, run.variant, e.event, e.time_ps / 1e6 AS us, e.kind, ports.name AS port,"
        " ports.peer, e.priority, e.flow, e.value, e.more, e.detail, e.cause, e.begins"
        " FROM events AS e JOIN ports USING (run, port) JOIN run ON run.id = e.run;"
        "CREATE VIEW paused_ports AS SELECT run.id AS run, run.variant, ports.name AS port, ports.peer, c.priority,"
        " c.paused_ps / 1e6 AS paused_us, c.pfc_rx_xoff AS pause_frames"
        " FROM counters AS c JOIN ports USING (run, port) JOIN run ON run.id = c.run"
        " WHERE c.paused_ps > 0 ORDER BY c.paused_ps DESC;"
        "CREATE VIEW full_queues AS SELECT run.id AS run, run.variant, ports.name AS port, ports.peer, c.priority,"
        " c.queue_bytes_max, c.ingress_bytes_max, c.ecn_marked, c.drops"
        " FROM counters AS c JOIN ports USING (run, port) JOIN run ON run.id = c.run ORDER BY c.queue_bytes_max DESC;"
        "CREATE VIEW group_times AS SELECT run.id AS run, run.variant, g.name, g.count, g.finished,"
        " g.fct_mean_ps / 1e6 AS mean_us, g.fct_p50_ps / 1e6 AS p50_us, g.fct_p99_ps / 1e6 AS p99_us,"
        " g.fct_max_ps / 1e6 AS max_us, g.slowdown_mean, g.slowdown_p99 FROM groups AS g JOIN run ON run.id = g.run;";

#endif
