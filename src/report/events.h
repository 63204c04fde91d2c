// SPDX-License-Identifier: Apache-2.0
// Events to text and back.
#pragma once

#include "weft/event.h"

/// `detail` of an event; NULL: its kind has none. May be in `text`, of 8 bytes at least.
const char *weft__event_detail_text(const struct weft_event *event, char *text, size_t size);
/// WEFT_EVENT_KINDS: no such kind.
uint32_t weft__event_kind(const char *name);
/// 0 if the text means nothing for the kind; `text` may be NULL.
uint8_t weft__event_detail(uint32_t kind, const char *text);
