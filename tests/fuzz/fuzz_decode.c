// SPDX-License-Identifier: Apache-2.0
// Any bytes as a capture, pcap and pcapng: refused with a message, or analysed, with figures that agree.
#include <assert.h>
#include <string.h>

#include "weft/decode.h"
#include "weft/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_message(void *context, const struct weft_decode_message *message) {
    (void)context;
    assert(message->of->number && !message->of->again && message->verb <= WEFT_VERB_READ);
}

static void on_packet(void *context, const struct weft_decode_packet *packet) {
    ++*(uint64_t *)context;
    assert(packet->of->key.qp == 2 && strlen(packet->flags) < 96);
}

static void walk(const struct weft_decode *d, struct weft_arena *arena) {
    const struct weft_result_table *t;
    char text[32];
    for (uint32_t i = 0; i < weft__answer_decode.tables && (t = weft__answer_decode.table[i]); i++) {
        struct weft_result_walk walk = weft_answer_walk(&weft__answer_decode, d, t, arena);
        for (struct weft_result_cursor *row; (row = weft_result_next(&walk));)
            for (uint32_t k = 0; k < t->columns; k++) {
                struct weft_result_value value = weft_result_value(row, &t->column[k]);
                assert(weft_result_text(&value, text, sizeof text));
            }
    }
}

static void check(const struct weft_decode *d, uint64_t followed) {
    uint64_t packets = 0, of_two = 0;
    for (uint32_t i = 0; i < d->conversations; i++) {
        const struct weft_conversation *c = d->conversation[i];
        weft_bytes sum = 0;
        packets += c->packets;
        of_two += c->key.qp == 2 ? c->packets : 0;
        for (unsigned b = 0; b < WEFT_DECODE_BUCKETS; b++)
            sum += c->bucket[b];
        assert(sum == c->payload_bytes && c->first_ps <= c->last_ps && c->icrc_wrong <= c->icrc_checked);
        assert(c->peer == WEFT_NONE || d->conversation[c->peer - 1]->peer == c->number);
    }
    assert(packets + d->uncounted == d->roce && of_two == followed);
    assert(d->roce + d->pauses + d->lldp_frames + d->uets + d->others + d->foreign == d->frames);
    for (uint32_t i = 0; i < d->pausers; i++)
        assert(d->pauser[i].paused_ps <= d->last_ps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    struct weft_arena *arena = weft_arena_new(WEFT_MEMORY_SCENARIO);
    FILE *file = fmemopen((void *)data, size, "rb");
    assert(file);
    uint64_t followed = 0;
    struct weft_decode_conf conf = {
        .conversations_max = 8, .follow_qp = 2, .context = &followed, .on_message = on_message, .on_packet = on_packet};
    struct weft_decode d;
    struct weft_error error = {0};
    enum weft_status status = weft_decode_run(file, "x", &conf, arena, &d, &error);
    assert(!status == !*error.text);
    if (status) assert(!strncmp(error.text, "x: ", 3));
    if (!status) {
        check(&d, followed);
        walk(&d, arena);
    }
    fclose(file);
    weft_arena_free(arena);
    return 0;
}
