// SPDX-License-Identifier: Apache-2.0
// The sum that IPv4 and UDP share.
#pragma once

#include "weft/types.h"

/// RFC 1071: the one's complement of the one's complement sum of 16-bit words, starting at `sum`. An odd byte is the
/// high half of a word.
uint16_t weft__internet_checksum(const uint8_t *bytes, size_t size, uint64_t sum);
