// SPDX-License-Identifier: Apache-2.0
// A subscription of an interface node to the state of another.
//
// Source: FBOSS (fboss/agent/DsfSubscriber.cpp, DsfSubscription.cpp): every interface node to every other; connect
// timeout 4 s, receive timeout 12 s, heartbeats of 1 s, chunk timeout 15 s; when the graceful restart hold time (0 by
// default) is over the remote node's neighbours are flushed and its system ports and interfaces become stale. Assumed:
// time between attempts, latency of a message, time to serve a state and to publish a change.
#include "weft/fsdb.h"

#include "weft/param.h"

#define T struct weft_fsdb_conf
static const char *fsdb_check(const void *conf, char *text, size_t size) {
    const T *c = conf;
    return c->heartbeat_ps < c->receive_timeout_ps ? NULL : "heartbeat is not shorter than receive_timeout";
}
const struct weft_param_table weft_fsdb_table = WEFT_PARAM_TABLE_OF(
    "fsdb", T, .check = fsdb_check,
    WEFT_TIME(T, connect_timeout_ps, "connect_timeout", "4s", "100us", "1000s",
              "time after which an attempt without an answer ends"),
    WEFT_TIME(T, receive_timeout_ps, "receive_timeout", "12s", "100us", "1000s",
              "time after which a silent session ends"),
    WEFT_TIME(T, heartbeat_ps, "heartbeat", "1s", "10us", "1000s", "interval between heartbeats of a publisher"),
    WEFT_TIME(T, chunk_timeout_ps, "chunk_timeout", "15s", "1ms", "1000s",
              "time after which a session without the requested state ends"),
    WEFT_TIME(T, hold_ps, "gr_hold", "0s", "0s", "1000s",
              "graceful restart: the state from a lost session is kept for this long, then neighbours are flushed"),
    WEFT_TIME(T, retry_ps, "retry", "1s", "1us", "1000s", "time from a session's end to the next attempt; assumed"),
    WEFT_TIME(T, latency_ps, "latency", "100us", "1us", "1s", "latency of a message, one way; assumed"),
    WEFT_TIME(T, serve_ps, "serve", "1ms", "0s", "10s",
              "time a publisher takes for the whole state, one subscriber at a time; assumed"),
    WEFT_TIME(T, publish_ps, "publish", "10ms", "0s", "10s", "time from a change to its message; assumed"),
    WEFT_TIME(T, detect_ps, "detect", "1ms", "0s", "1000s",
              "time from a host's arrival or departure to the change of neighbours; assumed"),
    WEFT_BOOL(
        T, cold_start, "cold_start", "off",
        "a run begins with the start of all interface nodes, which forward nothing until they have learned routes"),
    WEFT_UINT(T, system_ports, "system_ports", "28", "1", "1000000",
              "system ports per interface node: FBOSS's block, two stages"),
    WEFT_UINT(T, interfaces, "interfaces", "28", "1", "1000000",
              "interfaces per interface node, one per system port; assumed"),
    WEFT_UINT(T, neighbours, "neighbours", "36", "0", "1000000", "IPv6 neighbours per interface node: its NIC ports"));
#undef T

static void keep_data(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now) {
    s->data = conf->hold_ps ? WEFT_FSDB_HELD : WEFT_FSDB_STALE;
    s->hold_ps = conf->hold_ps ? now + conf->hold_ps : WEFT_TIME_NEVER;
}

static void lose_session(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now) {
    s->state = WEFT_FSDB_IDLE;
    s->deadline_ps = now + conf->retry_ps;
    if (s->data == WEFT_FSDB_LIVE) keep_data(s, conf, now);
}

bool weft_fsdb_start(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now) {
    bool knew = weft_fsdb_knows(s);
    *s = (struct weft_fsdb_subscription){
        .state = WEFT_FSDB_CONNECTING, .deadline_ps = now + conf->connect_timeout_ps, .hold_ps = WEFT_TIME_NEVER};
    if (knew) keep_data(s, conf, now);
    return true;
}

void weft_fsdb_on_connected(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now) {
    if (s->state != WEFT_FSDB_CONNECTING) return;
    s->state = WEFT_FSDB_SYNCING;
    s->deadline_ps = now + conf->chunk_timeout_ps;
}

void weft_fsdb_on_state(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now,
                        uint32_t version) {
    if (s->state != WEFT_FSDB_SYNCING && s->state != WEFT_FSDB_CONNECTED) return;
    s->state = WEFT_FSDB_CONNECTED;
    s->data = WEFT_FSDB_LIVE;
    s->hold_ps = WEFT_TIME_NEVER;
    s->deadline_ps = now + conf->receive_timeout_ps;
    s->version = version;
}

void weft_fsdb_on_disconnected(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now) {
    if (s->state != WEFT_FSDB_IDLE) lose_session(s, conf, now);
}

bool weft_fsdb_on_time(struct weft_fsdb_subscription *s, const struct weft_fsdb_conf *conf, weft_time_ps now) {
    if (s->data == WEFT_FSDB_HELD && now >= s->hold_ps) {
        s->data = WEFT_FSDB_STALE;
        s->hold_ps = WEFT_TIME_NEVER;
    }
    if (now < s->deadline_ps) return false;
    if (s->state != WEFT_FSDB_IDLE) {
        lose_session(s, conf, now);
        return false;
    }
    s->state = WEFT_FSDB_CONNECTING;
    s->deadline_ps = now + conf->connect_timeout_ps;
    return true;
}

weft_time_ps weft_fsdb_due(const struct weft_fsdb_subscription *s) {
    return s->deadline_ps < s->hold_ps ? s->deadline_ps : s->hold_ps;
}
