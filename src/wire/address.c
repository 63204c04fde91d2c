// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "weft/sim.h"

void weft_address_mac(uint32_t port, uint8_t *ret_mac) {
    const uint8_t mac[6] = {0x02,         0x00, (uint8_t)(port >> 24), (uint8_t)(port >> 16), (uint8_t)(port >> 8),
                            (uint8_t)port};
    memcpy(ret_mac, mac, sizeof mac);
}

uint32_t weft_address_ipv4(uint32_t host) {
    return UINT32_C(10) << 24 | ((host + 1) & 0xffffffu);
}

uint32_t weft_address_qp(uint32_t number) {
    return 2 + number % 0xfffffdu; // 0 and 1 are for management, 0xffffff is multicast
}

void weft_address_gid(const uint8_t *mac, uint8_t *ret_gid) {
    static const uint8_t link_local[8] = {0xfe, 0x80};
    memcpy(ret_gid, link_local, sizeof link_local);
    memcpy(ret_gid + 8, mac, 3);
    ret_gid[8] ^= 2;
    ret_gid[11] = 0xff;
    ret_gid[12] = 0xfe;
    memcpy(ret_gid + 13, mac + 3, 3);
}
