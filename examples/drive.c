// SPDX-License-Identifier: Apache-2.0
// Drives three fabrics from outside: a ping-pong between two hosts, and a ring of all hosts in which each passes on what
// came, as in a ring all-reduce.
//
//   cc drive.c $(pkg-config --cflags --libs weft) -o drive && ./drive
#include <stdio.h>
#include <string.h>

#include "weft/drive.h"

static const struct {
    const char *name, *scenario;
} fabrics[] = {
    {"Ethernet", "hardware: ideal\ntopology: {kind: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 2}\n"
                 "switch: {pfc: {priorities: [3]}}\n"},
    {"DSF", "hardware: ideal\ntopology: {kind: dsf_l1_zone, rdsws: 4, rails: 1, fdsws: 10, virtual_devices: 4, hosts_per_rdsw: 2}\n"
            "switch: {buffer: {kind: dynamic, total: 4GB, alpha: 2}}\n"},
    {"Clique", "hardware: ideal\ntopology: {kind: dragonfly, pods: 2, tins: 2, hosts_per_tin: 2, global_delay: 100ns}\n"},
};

struct program {
    uint32_t hosts;
    uint64_t left; ///< throws of the ping-pong
    weft_bytes bytes;
    weft_time_ps end_ps;
    struct weft_error error;
};

static void send_on(struct program *p, struct weft_drive *drive, uint32_t src, uint32_t dst, uint64_t tag,
                    weft_drive_callback *callback) {
    struct weft_send message = {
        .src = src,
        .dst = dst,
        .bytes = p->bytes,
        .tag = tag,
        .priority = 3,
        .events = WEFT_DRIVE_DELIVERED,
        .callback = callback,
        .context = p,
    };
    weft_drive_send(drive, &message, NULL, &p->error); // the first error stays
}

/// The ball has come: it goes back.
static void on_ball(void *context, struct weft_drive *drive, const struct weft_drive_notice *notice) {
    struct program *p = context;
    p->end_ps = notice->time_ps;
    if (--p->left) send_on(p, drive, notice->host, notice->host ? 0 : p->hosts - 1, notice->tag, on_ball);
}

/// A piece has come in step `tag`; there are 2 (n - 1).
static void on_piece(void *context, struct weft_drive *drive, const struct weft_drive_notice *notice) {
    struct program *p = context;
    p->end_ps = notice->time_ps;
    if (notice->tag + 1 < 2 * (uint64_t)(p->hosts - 1))
        send_on(p, drive, notice->host, (notice->host + 1) % p->hosts, notice->tag + 1, on_piece);
}

static void start_ping_pong(struct program *p, struct weft_drive *drive) {
    p->bytes = 64;
    p->left = 1000;
    send_on(p, drive, 0, p->hosts - 1, 0, on_ball);
}

static void start_ring(struct program *p, struct weft_drive *drive) {
    p->bytes = 1 << 20;
    for (uint32_t h = 0; h < p->hosts; h++)
        send_on(p, drive, h, (h + 1) % p->hosts, 0, on_piece);
}

/// Runs a program on a fabric; how long it took, or 0 after an error.
static weft_time_ps run(const char *scenario, void (*start)(struct program *p, struct weft_drive *drive)) {
    struct program p = {0};
    struct weft_scenario_file *file = NULL;
    struct weft_simulation *simulation = NULL;
    struct weft_drive *drive = NULL;
    struct weft_result *result = NULL;
    struct weft_sim_options options = {.threads = 2};
    if (!weft_scenario_file_parse("drive", scenario, strlen(scenario), NULL, 0, &file, &p.error) &&
        !weft_simulation_new(file, 0, &simulation, &p.error) &&
        !weft_drive_new(simulation, &options, &drive, &p.error)) {
        p.hosts = weft_simulation_hosts(simulation);
        start(&p, drive);
        if (!weft_drive_run(drive, WEFT_TIME_NEVER, NULL, &p.error)) weft_drive_finish(drive, &result, &p.error);
    }
    if (p.error.status) fprintf(stderr, "%s\n", p.error.text);
    weft_result_free(result);
    weft_drive_free(drive);
    weft_simulation_free(simulation);
    weft_scenario_file_free(file);
    return p.error.status ? 0 : p.end_ps;
}

int main(void) {
    printf("%-10s %18s %18s\n", "fabric", "64 B one way (ns)", "ring of 1 MiB (us)");
    for (unsigned i = 0; i < sizeof fabrics / sizeof *fabrics; i++) {
        weft_time_ps ball = run(fabrics[i].scenario, start_ping_pong), ring = run(fabrics[i].scenario, start_ring);
        if (!ball || !ring) return 1;
        printf("%-10s %18.1f %18.1f\n", fabrics[i].name, (double)ball / 1000 / WEFT_PS_PER_NS,
               (double)ring / WEFT_PS_PER_US);
    }
    return 0;
}
