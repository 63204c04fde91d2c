// SPDX-License-Identifier: Apache-2.0
// What the table of a run reports about its Cliques.
#include <inttypes.h>

#include "base/units.h"
#include "box/tin/tin_report.h"

enum { TEXT = 64, TRANSITIONS_MAX = 8 };

static void print_tin(FILE *file, const struct weft_tin_outcome *d) {
    char hops[TEXT], fifo[TEXT], rts[TEXT], egress[TEXT], stall[TEXT];
    uint64_t cells = 0, links = 0, ways = d->ways_minimal + d->ways_nonminimal;
    for (uint32_t h = 0; h < WEFT_TIN_HOPS; h++) {
        cells += d->hops[h];
        links += h * d->hops[h];
    }
    weft_format_bytes(d->fifo_bytes_max, fifo, sizeof fifo);
    weft_format_bytes(d->rts_bytes_max, rts, sizeof rts);
    weft_format_bytes(d->egress_bytes_max, egress, sizeof egress);
    weft_format_time(d->credit_stall_ps, stall, sizeof stall);
    fprintf(file,
            "Aquila %s cell-hops, %.2f links a cell, %.1f%% of routes not minimal; %s and %s lost, %" PRIu64
            " discarded by CTD\n       without credits %" PRIu64
            " times, %s in all; at most %s in a FIFO, %s announced in an RTS queue, %s asked for at a port\n",
            weft__count_text(hops, (double)d->cell_hops), cells ? (double)links / (double)cells : 0,
            ways ? 100 * (double)d->ways_nonminimal / (double)ways : 0,
            weft__counted(d->cells_lost + d->cells_unroutable, "cell").text,
            weft__counted(d->packets_lost, "packet").text, d->ctd, d->credit_stalls, stall, fifo, rts, egress);
}

static void print_ns(FILE *file, const char *what, const struct weft_histogram *h) {
    char p50[TEXT], p99[TEXT], p999[TEXT];
    weft_format_time(weft_histogram_quantile(h, 0.5) * WEFT_PS_PER_NS, p50, sizeof p50);
    weft_format_time(weft_histogram_quantile(h, 0.99) * WEFT_PS_PER_NS, p99, sizeof p99);
    weft_format_time(weft_histogram_quantile(h, 0.999) * WEFT_PS_PER_NS, p999, sizeof p999);
    fprintf(file, "       %s p50 %s, p99 %s, p99.9 %s\n", what, p50, p99, p999);
}

static void print_tin_packets(FILE *file, const struct weft_tin_outcome *d) {
    if (!d->rts) return;
    print_ns(file, "from a packet's RTS to its CTS:", &d->seen->clear_ns);
    print_ns(file, "from its CTS until it is whole:", &d->seen->fetch_ns);
    fprintf(file,
            "       packets announced before one in its RTS queue: p50 %" PRIu64 ", p99 %" PRIu64 ", p99.9 %" PRIu64
            "\n",
            weft_histogram_quantile(&d->seen->rts_packets, 0.5), weft_histogram_quantile(&d->seen->rts_packets, 0.99),
            weft_histogram_quantile(&d->seen->rts_packets, 0.999));
}

/// Only where cells were traced.
static void print_traced(FILE *file, const struct weft_run *run) {
    const struct weft_cell_paths *p = weft_outcome_cliques(run->outcome)->cells;
    if (!p->cells) return;
    fprintf(file, "       traced %s: %" PRIu64 " arrived, %" PRIu64 " lost, %" PRIu64 " in flight",
            weft__counted(p->cells, "cell").text, p->arrived, p->lost, p->under_way);
    if (p->unknown) fprintf(file, "; missing: %s", weft__counted(p->unknown, "note").text);
    if (p->astray)
        fprintf(file, "; %" PRIu64 " astray, %s is to blame for %" PRIu64, p->astray,
                run->topology->node[p->suspect].name, p->suspicions);
    putc('\n', file);
    print_ns(file, "of these, at a TiN:", &p->hop_ns);
}

static void print_links(FILE *file, const struct weft_tin_transition *t) {
    if (t->down) fprintf(file, "%" PRIu32 " link%s down", t->down, t->down > 1 ? "s" : "");
    if (t->up) fprintf(file, "%s%" PRIu32 " link%s up again", t->down ? ", " : "", t->up, t->up > 1 ? "s" : "");
}

static void print_transition(FILE *file, const struct weft_tin_transition *t) {
    char at[TEXT], after[TEXT], mean[TEXT], max[TEXT];
    weft_format_time(t->from_ps, at, sizeof at);
    fprintf(file, "       at %s ", at);
    print_links(file, t);
    if (t->to_ps == WEFT_TIME_NEVER)
        fprintf(file, ": tables never follow");
    else
        fprintf(file, ": tables follow within %s",
                (weft_format_time(t->to_ps - t->from_ps, after, sizeof after), after));
    fprintf(file, "; in that time %s and %s lost, %s on escape VCs", weft__counted(t->cells_lost, "cell").text,
            weft__counted(t->packets_lost, "packet").text, weft__counted(t->escapes, "cell").text);
    if (t->packets) {
        weft_format_time(t->fetch_ps / t->packets, mean, sizeof mean);
        weft_format_time(t->fetch_max_ps, max, sizeof max);
        fprintf(file, "; %s whole after %s on average, %s at most", weft__counted(t->packets, "packet").text, mean,
                max);
    }
    putc('\n', file);
}

static void print_transitions(FILE *file, const struct weft_tin_outcome *o) {
    for (uint32_t i = 0; i < o->transitions && i < TRANSITIONS_MAX; i++)
        print_transition(file, &o->transition[i]);
    if (o->transitions > TRANSITIONS_MAX)
        fprintf(file, "       and %" PRIu32 " more times\n", o->transitions - TRANSITIONS_MAX);
    if (!o->table_changes) return;
    fprintf(file, "       controller: %s of tables changed", weft__counted(o->table_changes, "entry").text);
    if (o->walked) fprintf(file, "; black holes made by writes: %" PRIu64, o->holes);
    putc('\n', file);
}

void weft__tin_report(FILE *file, const struct weft_run *run) {
    print_tin(file, weft_outcome_tin(run->outcome));
    print_tin_packets(file, weft_outcome_tin(run->outcome));
    if (weft_outcome_cliques(run->outcome)->cells) print_traced(file, run);
    print_transitions(file, weft_outcome_tin(run->outcome));
}
