// SPDX-License-Identifier: Apache-2.0
// Results of a disaggregated scheduled fabric.
#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "box/dsf/dsf_net.h"

WEFT_RESULT_PRESENT(has_dsf, weft_outcome_dsf(run->outcome))

/// Part 0 is the outcome, part 1 its distributions.
static bool next_dsf(struct weft_result_cursor *c) {
    c->part[0] = weft_outcome_dsf(c->run->outcome);
    c->part[1] = weft_outcome_dsf(c->run->outcome)->seen;
    return !c->at++;
}

static struct weft_result_value hops_rate(struct weft_result_cursor *c) {
    const struct weft_outcome *o = c->run->outcome;
    double rate = o->cpu_s > 0 ? (double)weft_outcome_dsf(o)->cell_hops / o->cpu_s : (double)NAN;
    return (struct weft_result_value){.known = isfinite(rate), .real = rate};
}

static const struct weft_result_column columns[] = {
#define X(field, type, help) WEFT_RESULT(struct weft_dsf_outcome, field, type, help),
    WEFT_DSF_COUNTERS(X) WEFT_DSF_WATERMARKS(X)
#undef X
        WEFT_RESULT_CALL(hops_rate, "cell_hops_per_cpu_s", REAL, "cell hops a second of processor time", .unit = "1/s"),
#define X(field, type, of, help)                                                                                       \
    WEFT_RESULT_HISTOGRAM(1, struct weft_dsf_histograms, field, #field, type, help, .unit = of),
    WEFT_DSF_HISTOGRAMS(X)
#undef X
};
enum { TEXT = 64 };

static void print_dsf(FILE *file, const struct weft_run *run) {
    const struct weft_dsf_outcome *d = weft_outcome_dsf(run->outcome);
    char hops[TEXT], voq[TEXT], egress[TEXT], reassembly[TEXT], p50[TEXT], p99[TEXT];
    weft_format_bytes(d->buffer_bytes_max, voq, sizeof voq);
    weft_format_bytes(d->egress_bytes_max, egress, sizeof egress);
    weft_format_bytes(d->reassembly_bytes_max, reassembly, sizeof reassembly);
    weft_format_time(weft_histogram_quantile(&d->seen->voq_ns, 0.5) * WEFT_PS_PER_NS, p50, sizeof p50);
    weft_format_time(weft_histogram_quantile(&d->seen->voq_ns, 0.99) * WEFT_PS_PER_NS, p99, sizeof p99);
    fprintf(file,
            "DSF    %s cell-hops; VOQ wait p50 %s, p99 %s\n"
            "       cells lost: %" PRIu64 " on links, %" PRIu64 " at full FIFOs, %" PRIu64 " without a lane, %" PRIu64
            " too late; packets given up: %" PRIu64 "\n"
            "       cells before a cell at fabric nodes: p50 %" PRIu64 ", p99 %" PRIu64 ", p99.9 %" PRIu64
            ", max %" PRIu64 "\n"
            "       at most %s in the VOQs of a node, %s at a port to leave, %s in reassembly; packets begun ahead of "
            "turn: "
            "p99 %" PRIu64 ", max %" PRIu64 "\n",
            weft__count_text(hops, (double)d->cell_hops), p50, p99, d->cells_lost, d->cells_dropped,
            d->cells_unreachable, d->cells_late, d->packets_lost, weft_histogram_quantile(&d->seen->fabric_cells, 0.5),
            weft_histogram_quantile(&d->seen->fabric_cells, 0.99),
            weft_histogram_quantile(&d->seen->fabric_cells, 0.999), d->seen->fabric_cells.max, voq, egress, reassembly,
            weft_histogram_quantile(&d->seen->reassembly_packets, 0.99), d->reassembly_packets_max);
}

static const struct weft_result_table table = WEFT_RESULT_TABLE(
    "dsf", OBJECT, "the DSF boxes of a run: sums and the most at any one; percentiles are off by 0.4% at most", columns,
    .next = next_dsf, .present = has_dsf, .print = print_dsf);

static const struct weft_result_table *const tables[] = {&table};
const struct weft__box_results weft__dsf_results = {
    .make = weft__dsf_outcome_new,
    .mix = weft__dsf_outcome_mix,
    .family = "dsf",
    .table = tables,
    .tables = sizeof tables / sizeof *tables,
    .lone = "DSF: a VOQ asks for credit before it sends, and the ideal has credit at hand",
};
