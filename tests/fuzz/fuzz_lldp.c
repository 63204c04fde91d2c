// SPDX-License-Identifier: Apache-2.0
// Any bytes as an LLDPDU, as a run of DCBX TLVs and as a CEE TLV: what decodes encodes to the same again.
#include <assert.h>
#include <string.h>

#include "weft/wire_lldp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void dcbx(const uint8_t *bytes, size_t size) {
    struct weft_dcbx first, second;
    uint8_t again[4096];
    if (weft_dcbx_decode(bytes, size, &first)) return;
    size_t written = weft_dcbx_encode(&first, again, sizeof again);
    assert(!written == !first.has);
    assert(weft_dcbx_decode(again, written, &second) == WEFT_WIRE_OK);
    second.repeated = first.repeated;
    second.malformed = first.malformed;
    assert(!memcmp(&first, &second, sizeof first));
}

static void cee(const uint8_t *bytes, size_t size) {
    struct weft_cee first, second;
    uint8_t again[4096];
    if (weft_cee_decode(bytes, size, &first)) return;
    size_t written = weft_cee_encode(&first, again, sizeof again);
    assert(weft_cee_decode(again, written, &second) == WEFT_WIRE_OK);
    assert(!memcmp(&first, &second, sizeof first));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    dcbx(data, size);
    cee(data, size);
    struct weft_lldpdu pdu;
    static uint8_t again[1 << 20];
    if (size > sizeof again || weft_lldpdu_decode(data, size, &pdu)) return 0;
    size_t used = weft_lldpdu_bytes(&pdu);
    assert(used <= size && weft_lldpdu_encode(&pdu, again, sizeof again) == used && !memcmp(again, data, used));
    dcbx(pdu.optional, pdu.optional_bytes);
    return 0;
}
