// SPDX-License-Identifier: Apache-2.0
// Messages of a Clique's controller: in flight for some time, counted, and kept if requested.
#include <string.h>

#include "base/grow.h"
#include "control/clique/sdn_run.h"
#include "weft/memory.h"

static const enum weft_memory_kind KIND = WEFT_MEMORY_RESULT;

#define X(kind, name, from, to, what) {#name, from, to, what},
const struct weft_sdn_message_info weft_sdn_message_info[WEFT_SDN_MESSAGE_KINDS] = {WEFT_SDN_MESSAGES(X)};
#undef X

void weft__sdn_note(struct weft_sdn *s, weft_time_ps time, uint32_t kind, uint32_t tin, uint32_t what) {
    weft__agenda_note(
        &s->agenda,
        (struct weft__due){.time_ps = time, .kind = kind, .who = tin, .what = what, .data = s->session[tin].life});
}

static void tell_due(struct weft_sdn *s, weft_time_ps now, weft_time_ps takes, struct weft__due due) {
    struct weft_sdn_result *r = s->result;
    struct weft_sdn_sent *sent = &s->now_outcome->sent[due.kind];
    due.time_ps = now + takes;
    weft__agenda_note(&s->agenda, due);
    if (!sent->n++) sent->first_ps = due.time_ps - s->event_ps;
    sent->last_ps = due.time_ps - s->event_ps;
    WEFT__ADD_DOUBLE(KIND, s->message, r->messages, s->message_capacity, 256) = (struct weft_sdn_message){
        .sent_ps = now, .arrives_ps = due.time_ps, .kind = due.kind, .who = due.who, .event = s->now_event};
}

void weft__sdn_tell(struct weft_sdn *s, weft_time_ps now, enum weft_sdn_message_kind kind, weft_time_ps takes,
                    uint32_t who, uint32_t what) {
    tell_due(s, now, takes, (struct weft__due){.kind = kind, .who = who, .what = what, .data = WEFT__SDN_NO_SESSION});
}

void weft__sdn_tell_tin(struct weft_sdn *s, weft_time_ps now, enum weft_sdn_message_kind kind, weft_time_ps takes,
                        uint32_t tin, uint32_t what) {
    tell_due(s, now, takes, (struct weft__due){.kind = kind, .who = tin, .what = what, .data = s->session[tin].life});
}

void weft__sdn_tell_port(struct weft_sdn *s, weft_time_ps now, enum weft_sdn_message_kind kind, weft_time_ps takes,
                         uint32_t tin, uint32_t link, bool down) {
    uint64_t session = kind == WEFT_SDN_PORT_STATUS ? s->session[tin].life : WEFT__SDN_NO_SESSION;
    tell_due(s, now, takes, (struct weft__due){.kind = kind, .who = tin, .what = link, .round = down, .data = session});
}

// --- NIB ----------------------------------------------------------------------------------------------------------

void weft__sdn_publish(struct weft_sdn *s, weft_time_ps now, enum weft_sdn_message_kind write, uint32_t who,
                       uint32_t what, uint32_t round) {
    tell_due(s, now, s->conf->nib_write_ps,
             (struct weft__due){.kind = write, .who = who, .what = what, .round = round, .data = WEFT__SDN_NO_SESSION});
}

/// Each table has a subscriber: in the list of kinds, the notice of a write follows it.
void weft__sdn_at_nib(struct weft_sdn *s, const struct weft__due *write) {
    struct weft__due notice = *write;
    notice.kind++;
    tell_due(s, write->time_ps, s->conf->nib_ps, notice);
}

void weft__sdn_keep_messages(struct weft_sdn *s, struct weft_arena *arena) {
    struct weft_sdn_message *kept = weft_arena_alloc(arena, s->result->messages, sizeof *kept);
    if (s->result->messages) memcpy(kept, s->message, s->result->messages * sizeof *kept);
    s->result->message = kept;
}

void weft__sdn_messages_deinit(struct weft_sdn *s) {
    weft_memory_free(KIND, s->message, s->message_capacity * sizeof *s->message);
}
