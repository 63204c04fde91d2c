// SPDX-License-Identifier: Apache-2.0
// Credit from a receiver, kept at a sender, as RCCC has it: the remaining credit limits what is sent, and the sender
// tells how much more it has to send. Bytes of packets include their headers.
#pragma once

#include "weft/cc.h"

/// What a receiver grants.
struct weft__pull_conf {
    uint64_t packets; ///< per grant
    double rate;      ///< relative to its line
    double ahead;     ///< of the first credit
};
/// Its rows for a model's table, `m` the member of T; and what both rows have in addition.
#define WEFT__PULL_ROWS(T, m, ...)                                                                                     \
    WEFT_UINT(T, m.packets, "pull", "4", "1", "64", "packets per grant (UE 1.0)", __VA_ARGS__),                        \
        WEFT_REAL(T, m.rate, "rate", "0.99", "1/100", "1",                                                             \
                  "fraction of its line rate that a receiver grants (uet-htsim)", __VA_ARGS__),                        \
        WEFT_REAL(                                                                                                     \
            T, m.ahead, "ahead", "1", "0", "100",                                                                      \
            "credit granted ahead to a sender while none asks, relative to the first credit (uet-htsim: 1, slow "      \
            "pulls)",                                                                                                  \
            __VA_ARGS__)

/// `first_ps`: the first credit is what the line takes in this time.
static inline struct weft_cc_pull weft__pull_of(const struct weft__pull_conf *c, double first_ps) {
    return (struct weft_cc_pull){(uint32_t)c->packets, c->rate, (weft_time_ps)(c->ahead * first_ps)};
}

/// Headers of a packet, which count in windows and credit; `m` the member of T.
#define WEFT__CC_HEADER_ROW(T, m)                                                                                      \
    WEFT_BYTES(T, m, "header", "64B", "0B", "256B",                                                                    \
               "headers of a packet, which count in windows and credit (uet-htsim)")

struct weft__credit {
    int64_t left;    ///< bytes; a packet may be sent while this is positive
    int64_t most;    ///< the most that is kept
    int64_t granted; ///< since the start
    int64_t owed;    ///< for trimmed packets: the receiver knows of them and grants it again
    bool heard;      ///< an answer has arrived
};

static inline void weft__credit_start(struct weft__credit *k, double most) {
    *k = (struct weft__credit){.left = (int64_t)most, .most = (int64_t)most};
}
static inline void weft__credit_spend(struct weft__credit *k, uint32_t packet) {
    k->left -= packet;
}
/// The first credit is for packets sent before any answer arrives; the rest of it then expires. Otherwise a crowd of
/// senders would resend trimmed packets at once.
static inline void weft__credit_hear(struct weft__credit *k) {
    if (k->heard) return;
    k->heard = true;
    if (k->left > 0) k->left = 0;
}
/// Packets were trimmed, and their receiver has their headers.
static inline void weft__credit_lose(struct weft__credit *k, double bytes) {
    weft__credit_hear(k);
    k->owed += (int64_t)bytes;
}
static inline void weft__credit_take(struct weft__credit *k, uint32_t bytes) {
    weft__credit_hear(k);
    k->granted += bytes;
    k->owed = k->owed > bytes ? k->owed - bytes : 0;
    k->left = k->left + bytes < k->most ? k->left + bytes : k->most;
}

/// The window that the credit leaves. A sender with nothing in flight may send a packet, which asks for credit, unless
/// its receiver owes it some; after a timeout that credit may be lost, too.
static inline weft_bytes weft__credit_window(const struct weft__credit *k, const struct weft_cc_fact *fact,
                                             uint32_t packet) {
    if (k->left <= 0) return fact->flight_bytes ? fact->flight_bytes : !k->owed || fact->timeouts;
    return fact->flight_bytes + ((weft_bytes)k->left + packet - 1) / packet * fact->packet_bytes;
}

/// The credit granted so far plus what is still wanted: all data to send, at most `limit`, less the remaining credit.
/// Until an answer arrives, at least a packet, because the rest of the first credit will expire. If several queue pairs
/// of a host may send, each wants its share.
static inline weft_bytes weft__credit_target(const struct weft__credit *k, const struct weft_cc_fact *fact,
                                             uint32_t packet, double limit) {
    int64_t wanted = (int64_t)((fact->backlog_bytes + fact->packet_bytes - 1) / fact->packet_bytes * packet);
    if ((double)wanted > limit) wanted = (int64_t)limit;
    if (wanted > k->most) wanted = k->most;
    wanted -= k->left;
    if (!k->heard && fact->backlog_bytes && wanted < packet) wanted = packet;
    if (fact->senders > 1) wanted /= fact->senders;
    return (weft_bytes)(k->granted + (wanted > 0 ? wanted : 0));
}
