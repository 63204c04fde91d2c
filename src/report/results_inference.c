// SPDX-License-Identifier: Apache-2.0
// Results of inference: of a service, and of its requests. Times to first tokens are the sums of their parts: the queue
// of the prefill instance, prefill, what of the transfer comes after it, the wait for the batch, and the first step.
#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "report/text.h"
#include "results/rows.h"
#include "weft/inference.h"

WEFT_RESULT_PRESENT(has_inference, run->workload->inferences > 0)

static weft_time_ps ttft_of(const struct weft_inference_request *r, const struct weft_inference_served *s) {
    return s->first_ps - r->arrival_ps;
}
/// NAN of an answer of one token.
static double tpot_of(const struct weft_inference_request *r, const struct weft_inference_served *s) {
    return r->output > 1 ? (double)(s->last_ps - s->first_ps) / (r->output - 1) : NAN;
}

enum { TTFT, TPOT, QUEUE, PREFILL, EXPOSED, WAIT, STEP, SORTS };

struct weft_service_stats weft_report_service(const struct weft_run *run, uint32_t number, struct weft_arena *arena) {
    const struct weft_inference *x = &run->workload->inference[number];
    struct weft_service_stats s = {.name = run->workload->group[x->group]};
    struct weft_inference_served *served = weft_inference_calc(x, run->outcome->flow, arena);
    double *value = weft_arena_alloc(arena, (size_t)x->requests * SORTS, sizeof *value);
    uint64_t in[3] = {0}, tokens[2] = {0};
    size_t n = 0, later = 0;
    weft_time_ps first = WEFT_TIME_NEVER, last = 0;
    for (uint32_t i = 0; i < x->requests; i++) {
        const struct weft_inference_request *r = &x->request[i];
        const struct weft_inference_served *v = &served[i];
        s.reused += r->reused;
        s.kept += r->kept;
        s.bytes += r->bytes;
        if (r->arrival_ps < first) first = r->arrival_ps;
        if (v->last_ps == WEFT_TIME_NEVER) continue;
        double of[SORTS] = {[TTFT] = (double)ttft_of(r, v),
                            [QUEUE] = (double)(r->prefill_ps - r->arrival_ps),
                            [PREFILL] = (double)(r->prefilled_ps - r->prefill_ps),
                            [EXPOSED] = (double)(v->ready_ps - r->prefilled_ps),
                            [WAIT] = (double)(v->start_ps - v->ready_ps),
                            [STEP] = (double)(v->first_ps - v->start_ps)};
        double tpot = tpot_of(r, v);
        of[TPOT] = tpot;
        for (size_t k = 0; k < SORTS; k++)
            value[k * x->requests + (k == TPOT ? later : n)] = of[k];
        if (!isnan(tpot)) later++;
        n++;
        bool soon = ttft_of(r, v) <= x->ttft_ps, fast = isnan(tpot) || tpot <= (double)x->tpot_ps;
        in[0] += soon;
        in[1] += fast;
        in[2] += soon && fast;
        tokens[0] += r->input;
        tokens[1] += r->output;
        if (v->last_ps > last) last = v->last_ps;
    }
    struct weft_quantiles *to[SORTS] = {&s.ttft, &s.tpot, &s.queue, &s.prefill, &s.exposed, &s.wait, &s.step};
    for (size_t k = 0; k < SORTS; k++)
        *to[k] = weft__quantiles(&value[k * x->requests], k == TPOT ? later : n);
    double seconds = n && last > first ? (double)(last - first) / (double)WEFT_PS_PER_S : NAN;
    s.answered = n;
    s.by_ttft = (double)in[0] / x->requests;
    s.by_tpot = (double)in[1] / x->requests;
    s.by_both = (double)in[2] / x->requests;
    s.rate = (double)in[2] / seconds;
    s.input_tokens = (double)tokens[0] / seconds;
    s.output_tokens = (double)tokens[1] / seconds;
    return s;
}

/// Part 0 is the service, part 1 the workload's entry.
static bool next_service(struct weft_result_cursor *c) {
    const struct weft_workload *w = c->run->workload;
    if (!c->state) {
        struct weft_service_stats *all = c->state = weft_arena_alloc(c->arena, w->inferences, sizeof *all);
        for (uint32_t k = 0; k < w->inferences; k++)
            all[k] = weft_report_service(c->run, k, c->arena);
    }
    if (c->at == w->inferences) return false;
    c->part[1] = &w->inference[c->at];
    c->part[0] = &((const struct weft_service_stats *)c->state)[c->at++];
    return true;
}

#define OF_SERVICE(field, kind, ...) WEFT_RESULT(struct weft_service_stats, field, kind, __VA_ARGS__)
#define OF_ENTRY(field, kind, ...) WEFT_RESULT_AT(1, struct weft_inference, field, #field, kind, __VA_ARGS__)
#define TIMES(field, key, what)                                                                                        \
    WEFT_RESULT_NAMED(struct weft_service_stats, field.mean, key ".mean", TIME, what ", mean"),                        \
        WEFT_RESULT_NAMED(struct weft_service_stats, field.p50, key ".p50", TIME, what ", median"),                    \
        WEFT_RESULT_NAMED(struct weft_service_stats, field.p95, key ".p95", TIME, what ", 95th percentile"),           \
        WEFT_RESULT_NAMED(struct weft_service_stats, field.p99, key ".p99", TIME, what ", 99th percentile"),           \
        WEFT_RESULT_NAMED(struct weft_service_stats, field.max, key ".max", TIME, what ", greatest")

static void print_services(FILE *file, const struct weft_run *run) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_RESULT);
    for (uint32_t k = 0; k < run->workload->inferences; k++) {
        const struct weft_inference *x = &run->workload->inference[k];
        struct weft_service_stats s = weft_report_service(run, k, arena);
        const struct weft_quantiles *const times[] = {&s.ttft, &s.tpot, &s.queue, &s.prefill, &s.exposed, &s.wait};
        static const char *const names[] = {"first token", "later tokens", "queue", "prefill", "transfer", "wait"};
        struct weft__unit unit = weft__text_unit(s.ttft.p99);
        fprintf(file, "\n%s: %s, %s, %" PRIu64 " of %s answered, router %s, %s of keys and values\n", s.name,
                weft__counted(x->prefills, "prefill instance").text, weft__counted(x->decodes, "decode instance").text,
                s.answered, weft__counted(x->requests, "request").text, x->router, weft__about_bytes(s.bytes).text);
        fprintf(file, "%-14s %12s %12s %12s %12s\n", unit.name, "mean", "p50", "p99", "max");
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            const double of[] = {times[i]->mean, times[i]->p50, times[i]->p99, times[i]->max};
            fprintf(file, "%-14s", names[i]);
            for (size_t n = 0; n < 4; n++) {
                char text[32];
                fprintf(file, " %12s", weft__text_time(text, unit, of[n]));
            }
            fprintf(file, "\n");
        }
        fprintf(file, "objectives: %.1f%% by the first token (%s), %.1f%% by later ones (%s), %.1f%% by both\n",
                100 * s.by_ttft, weft__time_text(x->ttft_ps).text, 100 * s.by_tpot, weft__time_text(x->tpot_ps).text,
                100 * s.by_both);
    }
}

const struct weft_result_table weft__results_inference = WEFT_RESULT_TABLE_OF(
    "inference", MAP, "a service of inference; times are of requests that were answered, percentiles nearest rank",
    WEFT_RESULT_AND(.next = next_service, .present = has_inference, .print = print_services, .sparse = true),
    OF_SERVICE(name, TEXT, "name of the service", .flags = WEFT_RESULT_KEY),
    OF_ENTRY(model, TEXT, "name of the service's model; own: by its sizes"),
    OF_ENTRY(router, TEXT, "by what the decode instance of a request was chosen"),
    OF_ENTRY(prefills, COUNT, "instances of the prefill pool"),
    OF_ENTRY(decodes, COUNT, "instances of the decode pool"),
    OF_ENTRY(token_bytes, BYTES, "bytes of keys and values of a token, over all layers"),
    OF_ENTRY(requests, COUNT, "requests that arrive"),
    OF_SERVICE(answered, COUNT, "requests whose keys and values have arrived, so that their answers are complete"),
    OF_SERVICE(bytes, BYTES, "bytes of keys and values that are sent, also within servers"),
    OF_SERVICE(reused, COUNT, "tokens of prompts that prefill instances had, and did not compute again"),
    OF_SERVICE(kept, COUNT, "tokens of prompts that decode instances had, and that were not sent again"),
    TIMES(ttft, "ttft_ps", "time from the arrival of a request to its first token"),
    TIMES(tpot, "tpot_ps", "time of a later token: of all but the first, over their number"),
    TIMES(queue, "queue_ps", "time that a request waits for its prefill instance"),
    TIMES(prefill, "prefill_ps", "time that the prefill of a request takes"),
    TIMES(exposed, "exposed_ps", "time from the end of prefill until keys and values are at the decode instance"),
    TIMES(wait, "wait_ps", "time that a request then waits for a step, and for room in the batch"),
    TIMES(step, "step_ps", "time of the step that writes the first token"),
    WEFT_RESULT_NAMED(struct weft_service_stats, by_ttft, "slo.ttft", REAL,
                      "part of all requests within the objective for the first token"),
    WEFT_RESULT_NAMED(struct weft_service_stats, by_tpot, "slo.tpot", REAL,
                      "part of all requests within the objective for later tokens"),
    WEFT_RESULT_NAMED(struct weft_service_stats, by_both, "slo.both", REAL,
                      "part of all requests within both objectives"),
    WEFT_RESULT_NAMED(struct weft_service_stats, rate, "slo.rate", REAL,
                      "requests within both objectives a second, from the first arrival to the last token of all",
                      .unit = "1/s"),
    OF_SERVICE(input_tokens, REAL, "tokens of prompts a second in that time, of requests that were answered",
               .unit = "1/s"),
    OF_SERVICE(output_tokens, REAL, "tokens of answers a second in that time", .unit = "1/s"));

// --- requests -----------------------------------------------------------------------------------------------------

struct requests {
    uint32_t service, at;
    const struct weft_inference_served *served;
};

/// Part 0 is the request, part 1 when it was served.
static bool next_request(struct weft_result_cursor *c) {
    const struct weft_workload *w = c->run->workload;
    struct requests *s = c->state = c->state ? c->state : weft_arena_alloc(c->arena, 1, sizeof *s);
    while (s->service < w->inferences && s->at == w->inference[s->service].requests) {
        s->service++;
        s->at = 0;
    }
    if (s->service == w->inferences) return false;
    const struct weft_inference *x = &w->inference[s->service];
    if (!s->at) s->served = weft_inference_calc(x, c->run->outcome->flow, c->arena);
    c->part[0] = &x->request[s->at];
    c->part[1] = &s->served[s->at++];
    c->at++;
    return true;
}

static const struct requests *at_request(const struct weft_result_cursor *c) {
    return c->state;
}
WEFT_RESULT_VALUE(request_service,
                  WEFT__RESULT_TEXT(c->run->workload->group[c->run->workload->inference[at_request(c)->service].group]))
WEFT_RESULT_VALUE(request_number, weft_result_whole(true, at_request(c)->at - 1))
WEFT_RESULT_VALUE_OF(request_flow, struct weft_inference_request, r, weft_result_whole(r->flows > 0, r->flow))
static struct weft_result_value request_ttft(struct weft_result_cursor *c) {
    const struct weft_inference_served *s = c->part[1];
    return weft_result_whole(s->first_ps != WEFT_TIME_NEVER, ttft_of(c->part[0], s));
}
static struct weft_result_value request_tpot(struct weft_result_cursor *c) {
    const struct weft_inference_served *s = c->part[1];
    return WEFT__RESULT_REAL(s->last_ps == WEFT_TIME_NEVER ? NAN : tpot_of(c->part[0], s));
}

#define OF_REQUEST(field, kind, ...) WEFT_RESULT(struct weft_inference_request, field, kind, __VA_ARGS__)
#define WAS_SERVED(field, kind, ...) WEFT_RESULT_AT(1, struct weft_inference_served, field, #field, kind, __VA_ARGS__)
const struct weft_result_table weft__results_requests = WEFT_RESULT_TABLE_OF(
    "requests", APART, "a request to a service of inference",
    WEFT_RESULT_AND(.next = next_request, .present = has_inference),
    WEFT_RESULT_CALL(request_service, "service", TEXT, "name of the request's service", .flags = WEFT_RESULT_KEY,
                     .references = "inference"),
    WEFT_RESULT_CALL(request_number, "request", COUNT, "number of the request, by arrival", .flags = WEFT_RESULT_KEY),
    OF_REQUEST(arrival_ps, TIME, "when the request arrives"), OF_REQUEST(input, COUNT, "tokens of the prompt"),
    OF_REQUEST(output, COUNT, "tokens of the answer"), OF_REQUEST(prefill, COUNT, "number of the prefill instance"),
    OF_REQUEST(decode, COUNT, "number of the decode instance"),
    OF_REQUEST(reused, COUNT, "tokens of the prompt that the prefill instance had"),
    OF_REQUEST(kept, COUNT, "tokens of the prompt that the decode instance had"),
    OF_REQUEST(bytes, BYTES, "bytes of the request's keys and values that are sent"),
    WEFT_RESULT_CALL(request_flow, "flow", COUNT, "number of the request's first flow; null: all is within a server",
                     .references = "flows"),
    OF_REQUEST(flows, COUNT, "flows that carry the request's keys and values"),
    OF_REQUEST(prefill_ps, TIME, "when the prefill of the request begins"),
    OF_REQUEST(prefilled_ps, TIME, "when the prefill of the request ends"),
    WAS_SERVED(ready_ps, TIME, "when the request's keys and values are at the decode instance"),
    WAS_SERVED(start_ps, TIME, "when the request's first step begins"),
    WAS_SERVED(first_ps, TIME, "when the first token of the answer is written"),
    WAS_SERVED(last_ps, TIME, "when the last token of the answer is written"),
    WEFT_RESULT_CALL(request_ttft, "ttft_ps", TIME, "time from the request's arrival to its first token"),
    WEFT_RESULT_CALL(request_tpot, "tpot_ps", REAL, "time of a later token of the answer; null: it has none",
                     .unit = "ps"));
