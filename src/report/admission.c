// SPDX-License-Identifier: Apache-2.0
// What admission by the receiver did: how long clear-to-send messages took, how long senders waited for them, and how
// much was under way.
#include <inttypes.h>

#include "jobs.h"

enum { TEXT = 64 };

static void print_wait(FILE *file, const struct weft_wait_outcome *w) {
    char p50[TEXT], p90[TEXT], p99[TEXT], most[TEXT];
    weft_format_time(w->p50_ps, p50, sizeof p50);
    weft_format_time(w->p90_ps, p90, sizeof p90);
    weft_format_time(w->p99_ps, p99, sizeof p99);
    weft_format_time(w->max_ps, most, sizeof most);
    fprintf(file, "P50 %s, P90 %s, P99 %s, max %s\n", p50, p90, p99, most);
}

void weft__report_admission_table(FILE *file, const struct weft_run *run, uint32_t job) {
    const struct weft_job_outcome *o = &run->outcome->job[job];
    if (!o->sender_wait.messages) return;
    if (o->cts_wait.messages) {
        fprintf(file, "  clear-to-send: %" PRIu64 ", on their way for ", o->cts_wait.messages);
        print_wait(file, &o->cts_wait);
    }
    if (!run->workload->job[job].unadmitted) {
        fprintf(file, "  messages: %" PRIu64 ", ready and waiting for one ", o->sender_wait.messages);
        print_wait(file, &o->sender_wait);
    }
    char most[TEXT], bound[TEXT], incoming[TEXT];
    weft_format_bytes(o->in_flight_bytes_max, most, sizeof most);
    weft_format_bytes(o->in_flight_bytes_bound, bound, sizeof bound);
    weft_format_bytes(o->incoming_bytes_bound, incoming, sizeof incoming);
    fprintf(file, "  in flight from a rank: %s at most; its slots hold %s", most, bound);
    if (run->workload->job[job].unadmitted)
        fprintf(file, "; nothing bounds what is under way to a rank but its senders\n");
    else
        fprintf(file, ", and those of a receiver %s\n", incoming);
}

static void write_wait(struct weft__json *j, const char *key, const struct weft_wait_outcome *w) {
    const struct {
        const char *key;
        weft_time_ps time;
    } value[] = {{"mean", w->mean_ps}, {"p50", w->p50_ps}, {"p90", w->p90_ps}, {"p99", w->p99_ps}, {"max", w->max_ps}};
    weft__json_key(j, key);
    weft__json_begin_object(j);
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) {
        weft__json_key(j, value[i].key);
        if (w->messages)
            weft__json_u64(j, value[i].time);
        else
            weft__json_null(j);
    }
    weft__json_end_object(j);
}

void weft__report_admission_json(struct weft__json *j, const struct weft_run *run, uint32_t job) {
    const struct weft_job_outcome *o = &run->outcome->job[job];
    weft__json_key(j, "admission");
    weft__json_begin_object(j);
    weft__json_key_u64(j, "clear_to_sends", o->cts_wait.messages);
    write_wait(j, "cts_ps", &o->cts_wait);
    weft__json_key_u64(j, "messages", o->sender_wait.messages);
    write_wait(j, "wait_ps", &o->sender_wait);
    weft__json_key_u64(j, "in_flight_max_bytes", o->in_flight_bytes_max);
    weft__json_key_u64(j, "in_flight_bound_bytes", o->in_flight_bytes_bound);
    weft__json_key_u64(j, "incoming_bound_bytes", o->incoming_bytes_bound);
    weft__json_end_object(j);
}
