// SPDX-License-Identifier: Apache-2.0
// weft live: real hosts on the simulated network, in slow motion.
#include "weft/live.h"

#include <inttypes.h>
#include <unistd.h>

#include "simulation.h"

#include "base/units.h"

static const struct weft_cli_command command = {
    .name = "live",
    .operands = "SCENARIO.yaml",
    .about =
        "Attaches real hosts to the simulated network: guests of QEMU, namespaces, containers. The scenario says "
        "which:\n"
        "live: {slow: 10000, hosts: {host-0: {unix: h0.sock}, host-5: {interface: veth5}}}. Wall time is slow times\n"
        "simulated time. Their frames cross the network with its own workload, are marked, wait, and are lost as the\n"
        "models say. A terminal shows it and takes commands: link NAME down, slow N, mark TEXT, quit. --out DIR\n"
        "(default: weft-live) gets sockets, what hosts sent (live.pcapng), and replay.yaml, which is the same run "
        "again for\n"
        "weft run, timeline and why. See docs/live.md. Exit status 1: frames were late by more than live.lateness.",
    .accept = WEFT_CLI_SET | WEFT_CLI_VARIANT | WEFT_CLI_THREADS | WEFT_CLI_OUT | WEFT_CLI_QUIET | WEFT_CLI_WRITES,
    .answer = &weft__answer_live,
    .operands_min = 1,
    .operands_max = 1,
};

static void say_line(const char *text) {
    fprintf(stderr, "weft: live: %s\n", text);
}

static void print_host(FILE *file, const struct weft_live_attached *h) {
    static const enum weft_frame_fate named[] = {WEFT_FRAME_UNKNOWN,    WEFT_FRAME_LLDP, WEFT_FRAME_PAUSE,
                                                 WEFT_FRAME_RESERVED,   WEFT_FRAME_OWN,  WEFT_FRAME_VLAN,
                                                 WEFT_FRAME_SIMULATED,  WEFT_FRAME_LONG, WEFT_FRAME_SHORT,
                                                 WEFT_FRAME_BAD_SOURCE, WEFT_FRAME_CROWD};
    fprintf(file, "%-16s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %8" PRIu64 " %12s\n", h->name,
            h->received, h->fate[WEFT_FRAME_SENT], h->fate[WEFT_FRAME_FLOODED], h->delivered, h->marked,
            weft__short_time(h->paused_ps).text);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (h->fate[named[i]])
            fprintf(file, "  %" PRIu64 " frames %s (%s)\n", h->fate[named[i]], weft_frame_fate_help[named[i]],
                    weft_frame_fate_names[named[i]]);
    if (h->too_long) fprintf(file, "  %" PRIu64 " frames to it dropped: longer than its MTU\n", h->too_long);
    if (h->refused) fprintf(file, "  %" PRIu64 " frames to it dropped: it did not take them\n", h->refused);
    if (h->bad_checksums)
        fprintf(file, "  %" PRIu64 " frames with a wrong checksum, which hosts discard: ethtool -K INTERFACE tx off\n",
                h->bad_checksums);
    if (h->late) fprintf(file, "  %" PRIu64 " frames were read too late for live.delay\n", h->late);
}

static void print_text(FILE *file, const void *subject) {
    const struct weft_live *l = subject;
    fprintf(file, "%-16s %10s %10s %10s %10s %8s %12s\n", "host", "frames", "sent", "flooded", "delivered", "marked",
            "paused");
    for (uint32_t i = 0; i < l->hosts; i++)
        print_host(file, &l->host[i]);
    fprintf(file, "\nsimulated %s in %.1f s; %" PRIu64 " frames in the network, %" PRIu64 " out of it, digest %s\n",
            weft__short_time(l->sim_time_ps).text, l->wall_s, l->frames, l->delivered, l->digest);
    for (uint32_t i = 0; i < l->notes; i++)
        fprintf(file, "at %s: %s\n", weft__short_time(l->note[i].time_ps).text, l->note[i].text);
    if (l->freezes) fprintf(file, "guests stood still %" PRIu64 " times, for %.1f s\n", l->freezes, l->frozen_s);
    fprintf(file, "late by %s (median), %s (99%%), %s (most); base round trip %s: timing %s\n",
            weft__short_time(l->late_p50_ps).text, weft__short_time(l->late_p99_ps).text,
            weft__short_time(l->late_max_ps).text, weft__short_time(l->round_trip_ps).text,
            l->holds ? "holds" : "does not hold");
    fprintf(file, "weft run %s repeats it\n", l->replay);
}

static enum weft_status run_live(const struct weft_cli_options *o, struct weft_error *ret_error) {
    struct weft_scenario_file *file = NULL;
    struct weft_live live;
    bool shows = !o->quiet && !weft_cli_is_raw(o) && isatty(STDERR_FILENO);
    struct weft_live_options options = {.threads = o->threads,
                                        .folder = o->out ? o->out : "weft-live",
                                        .scenario = o->operand[0],
                                        .view = shows ? stderr : NULL,
                                        .commands = isatty(STDIN_FILENO) ? STDIN_FILENO : -1,
                                        .is_interrupted = weft_cli_interrupted,
                                        .say = o->quiet ? NULL : say_line};
    const char *record = weft_arena_format(o->arena, "%s/live.pcapng", options.folder);
    enum weft_status status = weft_cli_own_folder(options.folder, false, ret_error);
    if (!status) status = weft_cli_can_write_file("--out", record, o, ret_error); // the only copy of what hosts sent
    if (!status) status = weft_cli_scenario_read(o, &file, ret_error);
    if (!status) status = weft_scenario_file_allow_write(file, options.folder, ret_error);
    if (!status) status = weft_cli_variant(o, file, &options.variant, ret_error);
    weft_cli_catch_interrupt();
    if (!status) status = weft_live_run(file, &options, o->arena, &live, ret_error);
    if (!status) status = weft_cli_answer(o, &weft__answer_live, &live, print_text, ret_error);
    if (!status && !live.holds) status = WEFT_ERROR_SYSTEM;
    weft_scenario_file_free(file);
    return status;
}

int weft_cli_live(int argc, char **argv) {
    return weft_cli_act(&command, argc, argv, run_live);
}
