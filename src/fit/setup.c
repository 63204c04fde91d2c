// SPDX-License-Identifier: Apache-2.0
// What a table says about how it was measured, in its comments: key=value (nodes=2 gpus_per_node=8 gpu=H100-SXM
// nics=8x400G nvls=yes nccl=2.26.2 collective=all_reduce ranks=16 NCCL_ALGO=Ring), and the lines of nccl-tests about
// its ranks. Source: NVIDIA/nccl-tests, src/common.cu ("Collective test starting: all_reduce_perf", "Rank  0 Group  0
// Pid 1 on host device  0 [0x07] NVIDIA H100 80GB HBM3").
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/param.h"
#include "fit/fit.h"

static const struct weft__fit_collective collectives[] = {
    {"all_reduce", "AllReduce", "{kind: nccl, function: all_reduce}", WEFT_NCCL_ALL_REDUCE},
    {"all_gather", "AllGather", "{kind: nccl, function: all_gather}", WEFT_NCCL_ALL_GATHER},
    {"reduce_scatter", "ReduceScatter", "{kind: nccl, function: reduce_scatter}", WEFT_NCCL_REDUCE_SCATTER},
    {"broadcast", "Broadcast", "{kind: nccl, function: broadcast}", WEFT_NCCL_BROADCAST},
    {"reduce", "Reduce", "{kind: nccl, function: reduce}", WEFT_NCCL_REDUCE},
    {"alltoall", "AllToAll", "{kind: nccl, function: all_to_all}", WEFT_NONE},
    {"sendrecv", "SendRecv", "{kind: nccl, function: send_recv}", WEFT_NONE},
};

/// Whether they are equal but for "_", case and a "_perf" at the end.
static bool same_name(const char *a, const char *b) {
    for (;; a++, b++) {
        while (*a == '_')
            a++;
        while (*b == '_')
            b++;
        if (!*a || tolower((unsigned char)*a) != tolower((unsigned char)*b)) break;
    }
    return !*b && (!*a || !strncasecmp(a, "perf", 4));
}

const struct weft__fit_collective *weft__fit_collective(const char *name) {
    for (uint32_t k = 0; k < sizeof collectives / sizeof *collectives; k++)
        if (same_name(name, collectives[k].name)) return &collectives[k];
    return NULL;
}

void weft__fit_collective_names(char *text, size_t size) {
    enum { N = sizeof collectives / sizeof *collectives };
    const char *names[N];
    for (uint32_t k = 0; k < N; k++)
        names[k] = collectives[k].name;
    weft__names_join(names, N, text, size);
}

/// October 2025: 2.28 has other rates for NVLS than 2.26; 2.27 is taken to have the same (assumed).
enum { FIRST_NEWER = 12 * 2025 + 10 };

static bool text_begins(const char *text, const char *with) {
    return !strncasecmp(text, with, strlen(with));
}

/// "2.26.2", and nccl-tests' 22602: of the two versions that are known, the one with these tables.
static void set_version(struct weft_fit_setup *s, const char *text) {
    unsigned major, minor, number;
    if (sscanf(text, "%u.%u", &major, &minor) != 2) {
        if (sscanf(text, "%u", &number) != 1) return;
        major = number / 10000;
        minor = number / 100 % 100;
    }
    s->version = major < 2 || (major == 2 && minor <= 26) ? WEFT_NCCL_2_26 : WEFT_NCCL_2_30;
    s->versioned = true;
}

/// Months since year 0 of the first date, "June 2025" or "2025-06"; 0: there is none.
static unsigned months_in(const char *text) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (const char *at = text; (at = strstr(at, "20")); at++) {
        unsigned year, month;
        char word[16] = "", before = 0;
        if (sscanf(at, "%4u", &year) != 1 || year < 2015) continue;
        if (sscanf(at, "%*4u-%2u", &month) == 1 && month >= 1 && month <= 12) return 12 * year + month;
        const char *start = at;
        while (start > text && (start[-1] == ' ' || isalpha((unsigned char)start[-1])) && at - start < 12)
            start--;
        for (; start < at; before = *start++)
            if (!isalpha((unsigned char)before) && sscanf(start, "%15[a-zA-Z] ", word) == 1 && strlen(word) >= 3)
                for (unsigned k = 0; k < 12; k++)
                    if (!strncmp(word, names + 3 * k, 3)) return 12 * year + k + 1;
    }
    return 0;
}

/// "8x400G", "4x200G": how many, and bits a second of each.
static bool read_nics(struct weft_fit_setup *s, const char *text) {
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (!n || n > UINT16_MAX || *end != 'x') return false;
    double rate = strtod(end + 1, &end);
    if (*end != 'G' || !(rate > 0 && rate < 1e5)) return false;
    s->nics = (uint32_t)n;
    s->nic_rate_bps = (uint64_t)(rate * 1e9);
    return true;
}

static bool set_number(struct weft_fit_setup *s, const char *key, uint32_t number) {
    if (!strcmp(key, "nodes"))
        s->nodes = number;
    else if (!strcmp(key, "gpus_per_node"))
        s->gpus = number;
    else if (!strcmp(key, "ranks"))
        s->ranks = number;
    else if (!strcmp(key, "NCCL_MIN_CTAS") || !strcmp(key, "NCCL_MIN_NCHANNELS"))
        s->min_ctas = number;
    else if (!strcmp(key, "NCCL_MAX_CTAS") || !strcmp(key, "NCCL_MAX_NCHANNELS"))
        s->max_ctas = number;
    else
        return false;
    return number > 0;
}

/// Whether such a pair says something of a table.
static bool set_pair(struct weft_fit_setup *s, const char *key, const char *value, struct weft_arena *arena) {
    unsigned long said = strtoul(value, NULL, 10);
    const char *text = weft_arena_text(arena, value);
    if (!strcmp(key, "nics")) return read_nics(s, value);
    if (!strcmp(key, "gpu"))
        s->gpu = text;
    else if (!strcmp(key, "nvls"))
        s->nvls = text_begins(value, "y") || text_begins(value, "on") ? 2 : 1;
    else if (!strcmp(key, "cpu"))
        s->cpu = text;
    else if (!strcmp(key, "nccl") || !strcmp(key, "nccl-library"))
        set_version(s, value);
    else if (!strcmp(key, "collective"))
        s->collective = text;
    else if (!strcmp(key, "NCCL_ALGO"))
        s->algo = text;
    else if (!strcmp(key, "NCCL_PROTO"))
        s->proto = text;
    else
        return set_number(s, key, said > UINT16_MAX ? 0 : (uint32_t)said);
    return true;
}

/// A rank of nccl-tests. A new host is a new node; where nodes have the same name, so is the first rank's GPU again.
/// Devices do not tell: a launcher that gives each rank its own GPU calls all of them 0.
static bool read_rank(struct weft_fit_setup *s, const char *text, struct weft_arena *arena) {
    unsigned rank;
    int at = 0;
    char host[256], bus[64];
    if (sscanf(text, " Rank %u Group %*u Pid %*u on %255s device %*u [%63[^]]] %n", &rank, host, bus, &at) < 3 || !at) {
        at = 0;
        if (sscanf(text, " Rank %u Pid %*u on %255s device %*u [%63[^]]] %n", &rank, host, bus, &at) < 3 || !at)
            return false;
    }
    if (!rank || !s->hosts) {
        s->hosts = " ";
        s->bus = weft_arena_text(arena, bus);
        s->host_count = s->bus_count = 0;
    }
    if (!strstr(s->hosts, weft_arena_format(arena, " %s ", host))) {
        s->hosts = weft_arena_format(arena, "%s%s ", s->hosts, host);
        s->host_count++;
    }
    s->bus_count += !strcmp(bus, s->bus);
    s->gpu = weft_arena_text(arena, text + at);
    s->ranks = rank + 1;
    s->nodes = s->host_count > s->bus_count ? s->host_count : s->bus_count;
    s->gpus = s->ranks / s->nodes;
    return true;
}

const char *weft__fit_comment(struct weft_fit_setup *s, const char *text, struct weft_place place,
                              struct weft_arena *arena) {
    const char *odd = NULL;
    static const char starting[] = "Collective test starting: ";
    const char *found = strstr(text, starting);
    char *copy = weft_arena_text(arena, text), *rest = NULL;
    unsigned months = months_in(text);
    if (!s->versioned && months && months < FIRST_NEWER) s->version = WEFT_NCCL_2_26;
    if (!read_rank(s, text, arena)) {
        if (found) s->collective = weft_arena_text(arena, found + strlen(starting));
        if (strstr(text, "Intel")) s->cpu = "intel";
        if (strstr(text, "AMD")) s->cpu = "amd";
        for (char *word = strtok_r(copy, " ,;\t", &rest); word; word = strtok_r(NULL, " ,;\t", &rest)) {
            char *equal = strchr(word, '=');
            if (!equal) continue;
            *equal = 0;
            if (!set_pair(s, word, equal + 1, arena) && !odd) odd = weft_arena_format(arena, "%s=%s", word, equal + 1);
        }
    }
    if (strchr(text, '=') || found) s->place = place;
    return odd;
}
