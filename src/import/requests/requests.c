// SPDX-License-Identifier: Apache-2.0
// Traces of requests, which `workload: {kind: inference}` reads in place (src/workload/inference_trace.c has the
// sources): those of Mooncake and of Azure. Neither says on which GPUs requests were served, so the pools are assumed.
#include <inttypes.h>
#include <string.h>

#include "weft/import.h"
#include "workload/inference.h"

enum { GPUS = 64 };

struct totals {
    uint64_t requests, input, output, hashes;
    weft_time_ps last_ps;
};

static enum weft_status scan_trace(uint32_t kind, const char *path, struct totals *sum, struct weft_error *ret_error) {
    WEFT_ENDS(weft__inference_trace_close) struct weft__inference_trace trace;
    enum weft_status status = weft__inference_trace_open(&trace, kind, path, WEFT_NOWHERE, ret_error);
    for (bool more = true; more && !status;) {
        struct weft__arrival a;
        status = weft__inference_trace_next(&trace, &a, &more, ret_error);
        if (status || !more) break;
        sum->requests++;
        sum->input += a.input;
        sum->output += a.output;
        sum->hashes += a.hashes;
        sum->last_ps = a.at_ps;
    }
    if (status || sum->requests) return status;
    return WEFT_REFUSE(ret_error, ((struct weft_place){.file = path, .line = trace.lines.place.line, .column = 1}),
                       "no request is in it; expected a line for each");
}

static enum weft_status make_requests(uint32_t kind, const char *name, const struct weft_import_file *file,
                                      uint32_t files, struct weft_import *import, struct weft_error *ret_error) {
    struct totals sum = {0};
    enum weft_status status = weft_import_once(file, files, "requests", ret_error);
    if (!status) status = scan_trace(kind, file->path, &sum, ret_error);
    if (status) return status;
    weft_import_need_hosts(import, GPUS);
    weft_import_say(
        import, WEFT_IMPORT_WORKLOAD,
        "- kind: inference\n  model: llama3-70b\n  server: {gpus: 8}\n  arrivals: {kind: %s, file: %s}\n"
        "  prefill: {tp: 8%s}\n  decode: {tp: 8%s}\n  transfer: {merge: 0} # a flow is one message, not one a block\n",
        name, weft_import_quote(import, file->written), sum.hashes ? ", cache: 1000000" : "",
        sum.hashes ? ", cache: 1000000" : "");
    weft_import_note(import, WEFT_IMPORT_FOUND,
                     "%s: %" PRIu64 " requests in %.0f s, of %.0f tokens and answers of %.0f in the mean",
                     file->written, sum.requests, (double)sum.last_ps / (double)WEFT_PS_PER_S,
                     (double)sum.input / (double)sum.requests, (double)sum.output / (double)sum.requests);
    weft_import_note(import, WEFT_IMPORT_ASSUMED,
                     "%s: model and GPUs, which no column says: llama3-70b, four instances of 8 GPUs for prefill and "
                     "for decode%s",
                     file->written, sum.hashes ? ", each of which keeps a million tokens of prefixes" : "");
    return WEFT_OK;
}

// --- Mooncake -----------------------------------------------------------------------------------------------------

static const char *mooncake_recognise(const struct weft_import_file *file) {
    bool known = strstr(file->head, "\"input_length\"") && strstr(file->head, "\"output_length\"");
    return known && *file->head == '{' ? "requests" : NULL;
}

static enum weft_status mooncake_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                      struct weft_import *import, struct weft_error *ret_error) {
    return make_requests(WEFT__ARRIVALS_MOONCAKE, "mooncake", file, files, import, ret_error);
}

const struct weft_model weft__import_mooncake =
    WEFT_MODEL_OF(IMPORT, "mooncake",
                  "requests to a language model as Mooncake's traces have them, an object of JSON a line (.jsonl)",
                  "kvcache-ai/Mooncake, FAST25-release/traces", &weft_import_table,
                  &(const struct weft_import_ops){
                      .recognise = mooncake_recognise,
                      .make = mooncake_make,
                      .syntax = WEFT_IMPORT_JSON,
                      .begins = "an object with input_length and output_length",
                  });

// --- Azure --------------------------------------------------------------------------------------------------------

static const char *azure_recognise(const struct weft_import_file *file) {
    bool has[4];
    weft__table_guess(file->head, weft__azure_columns, 3, has);
    return has[0] && has[1] && has[2] ? "requests" : NULL;
}

static enum weft_status azure_make(const void *conf, const struct weft_import_file *file, uint32_t files,
                                   struct weft_import *import, struct weft_error *ret_error) {
    return make_requests(WEFT__ARRIVALS_AZURE, "azure", file, files, import, ret_error);
}

const struct weft_model weft__import_azure = WEFT_MODEL_OF(
    IMPORT, "azure", "requests to a language model as Azure's public traces have them (AzureLLMInferenceTrace, CSV)",
    "Azure/AzurePublicDataset, AzureLLMInferenceTrace 2023 and 2024", &weft_import_table,
    &(const struct weft_import_ops){
        .recognise = azure_recognise,
        .make = azure_make,
        .syntax = WEFT_IMPORT_TEXT,
        .begins = "a header that names TIMESTAMP, ContextTokens and GeneratedTokens",
    });
