// SPDX-License-Identifier: Apache-2.0
// What admission by the receiver did: how long clear-to-send messages took, how long senders waited for them, and how
// much was in flight.
#include <inttypes.h>

#include "base/units.h"
#include "mechanisms.h"
#include "report/text.h"

enum { TEXT = 64 };

static void print_wait(FILE *file, const struct weft_wait_outcome *w) {
    fprintf(file, "P50 %s, P90 %s, P99 %s, max %s\n", weft__short_time(w->p50_ps).text,
            weft__short_time(w->p90_ps).text, weft__short_time(w->p99_ps).text, weft__short_time(w->max_ps).text);
}

void weft__report_admission_table(FILE *file, const struct weft_run *run, uint32_t job) {
    const struct weft_job_outcome *o = &run->outcome->job[job];
    if (!o->sender_wait.messages) return;
    if (o->cts_wait.messages) {
        fprintf(file, "  clear-to-send: %" PRIu64 ", in flight for ", o->cts_wait.messages);
        print_wait(file, &o->cts_wait);
    }
    if (!run->workload->job[job].unadmitted) {
        fprintf(file, "  messages: %" PRIu64 ", ready, then waiting for clear-to-send ", o->sender_wait.messages);
        print_wait(file, &o->sender_wait);
    }
    char incoming[TEXT];
    weft_format_bytes(o->incoming_bytes_bound, incoming, sizeof incoming);
    fprintf(file, "  in flight from a rank: %s at most; its slots hold %s",
            weft__short_bytes(o->in_flight_bytes_max).text, weft__short_bytes(o->in_flight_bytes_bound).text);
    if (run->workload->job[job].unadmitted)
        fprintf(file, "; only the senders bound what is in flight to a rank\n");
    else
        fprintf(file, ", and those of a receiver %s\n", incoming);
}

const struct weft__mechanism weft__mechanism_cts = {.name = "CTS", .nothing = "no clear-to-send"};

void weft__report_admission_use(const struct weft_run *run, struct weft__mechanism_use *use) {
    for (uint32_t k = 0; k < run->workload->jobs; k++) {
        const struct weft_job *job = &run->workload->job[k];
        if (job->schedule || job->unadmitted) continue;
        use->devices += job->ranks;
        use->acts += run->outcome->job[k].cts_wait.messages;
    }
}
