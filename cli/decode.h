// SPDX-License-Identifier: Apache-2.0
// What weft decode found in a capture, and how it is shown.
#pragma once

#include "base/json.h"
#include "weft/decode.h"
#include "weft/result.h"

/// At most `rows` conversations, those with the most payload; 0: all.
void weft_cli_decode_print(const struct weft_decode *decode, uint32_t rows);
/// A packet of --follow, with a line of names before the first.
void weft_cli_decode_packet(const struct weft_decode_packet *packet, bool first);
