// SPDX-License-Identifier: Apache-2.0
// What the name of a SONiC platform says about its switch chip. Sources:
// - NVIDIA: sonic-buildimage, platform/mellanox/asic_table.j2 (cell, pipeline latency, delay of MAC and PHY) and
//   device/mellanox/*/*/sai.profile; the tile, 15 B for each Gbit/s of the port, and the 18 KiB more of Spectrum-6 are
//   in sonic-swss, cfgmgr/buffer_headroom_mellanox.lua. With the tile, that formula gives the shipped
//   pg_profile_lookup.ini of the SN5600 (packets of 64 B) and of the SN5610N (half of them, and 4096 B) to the byte at
//   40 m and 300 m. Tables of Spectrum 1 to 3 are older: peer_response_time of asic_table.j2 instead of what 802.3
//   allows.
// - Broadcom: the cell is in sonic-mgmt, tests/qos/files/qos.yml. The headroom formula is not public; the shipped
//   tables of sonic-buildimage grow per metre of cable by 3.02 bytes per byte on the wire for Tomahawk 4 and 5, a cell
//   of 254 B for each frame of 64 B with its preamble and gap, and by 1.32 for Tomahawk 3 and Jericho 2C+, a cell for
//   each 192 B. `small_bytes` is that divisor. Pipeline, MAC and PHY of these chips are not public: plan pfc's
//   defaults.
#include <string.h>
#include <strings.h>

#include "weft/plan.h"
#include "weft/sonic.h"

enum { PEER = 3892 }; // 3.8 KiB
#define NVIDIA(cell, pipeline_kib, more, peer, tile, gearbox_ns)                                                       \
    .cell_bytes = (cell), .small_bytes = WEFT_FRAME_MIN, .pipeline_bytes = (pipeline_kib)*1024u,                       \
    .mac_phy_bytes = 820 + (more), .peer_bytes = (peer), .tile_ps = (tile)*WEFT_PS_PER_NS,                             \
    .gearbox_ps = (gearbox_ns)*WEFT_PS_PER_NS, .nvidia = true

enum { WIRE_SMALL = WEFT_FRAME_MIN + WEFT_WIRE_OVERHEAD };

/// The first entry whose text is in the name of the platform.
static const struct weft_sonic_chip chips[] = {
    {"sn3800", "Spectrum-2", NVIDIA(144, 19, 0, PEER, 0, 400)},
    {"sn564", "Spectrum-5", NVIDIA(192, 19, 0, 0, 120, 0)},
    {"sn2", "Spectrum", NVIDIA(96, 19, 0, PEER, 0, 0)},
    {"sn3", "Spectrum-2", NVIDIA(144, 19, 0, PEER, 0, 0)},
    {"sn4", "Spectrum-3", NVIDIA(144, 19, 0, PEER, 0, 0)},
    {"sn5", "Spectrum-4", NVIDIA(192, 19, 0, 0, 120, 0)},
    {"sn6", "Spectrum-6", NVIDIA(256, 42, 18 * 1024, 0, 120, 0)},
#define BROADCOM(platform, chip, cell, small)                                                                          \
    { platform, chip, .cell_bytes = (cell), .small_bytes = (small) }
    BROADCOM("7060x6", "Tomahawk 5", 254, WIRE_SMALL),
    BROADCOM("z9864f", "Tomahawk 5", 254, WIRE_SMALL),
    BROADCOM("as9817_64", "Tomahawk 5", 254, WIRE_SMALL),
    BROADCOM("7060dx5", "Tomahawk 4", 254, WIRE_SMALL),
    BROADCOM("7060px5", "Tomahawk 4", 254, WIRE_SMALL),
    BROADCOM("z9664f", "Tomahawk 4", 254, WIRE_SMALL),
    BROADCOM("as9736_64d", "Tomahawk 4", 254, WIRE_SMALL),
    BROADCOM("7060dx4", "Tomahawk 3", 254, 192),
    BROADCOM("7060px4", "Tomahawk 3", 254, 192),
    BROADCOM("z9332f", "Tomahawk 3", 254, 192),
    BROADCOM("as9716_32d", "Tomahawk 3", 254, 192),
    BROADCOM("7800r3a", "Jericho 2C+", 254, 192),
    BROADCOM("ixr7250e", "Jericho 2C+", 254, 192),
    BROADCOM("7050cx3", "Trident 3", 256, WIRE_SMALL),
    BROADCOM("7050dx3", "Trident 3", 256, WIRE_SMALL),
    BROADCOM("s5232f", "Trident 3", 256, WIRE_SMALL),
    BROADCOM("s5248f", "Trident 3", 256, WIRE_SMALL),
    BROADCOM("as7726_32x", "Trident 3", 256, WIRE_SMALL),
    BROADCOM("as7326_56x", "Trident 3", 256, WIRE_SMALL),
    BROADCOM("7260cx3", "Tomahawk 2", 208, WIRE_SMALL),
    BROADCOM("z9264f", "Tomahawk 2", 208, WIRE_SMALL),
    BROADCOM("as7816_64x", "Tomahawk 2", 208, WIRE_SMALL),
    BROADCOM("7060_cx32s", "Tomahawk", 208, WIRE_SMALL),
    BROADCOM("s6100", "Tomahawk", 208, WIRE_SMALL),
    BROADCOM("z9100", "Tomahawk", 208, WIRE_SMALL),
    BROADCOM("as7712_32x", "Tomahawk", 208, WIRE_SMALL),
    BROADCOM("as7716_32x", "Tomahawk", 208, WIRE_SMALL),
};

/// The hwsku of NVIDIA's devices is such as ACS-MSN2700 or Mellanox-SN5600-V256.
static bool is_nvidia(const char *platform, const char *hwsku) {
    return strstr(platform, "mlnx_") || strstr(platform, "nvidia_") || !strncmp(hwsku, "Mellanox-", 9) ||
           !strncmp(hwsku, "ACS-MSN", 7) || !strncmp(hwsku, "ACS-SN", 6);
}

/// Whether `part` begins somewhere in the text, where no letter but "m" (of MSN2700) is before it.
static bool has_model(const char *text, const char *part) {
    for (const char *at = text; *at; at++)
        if (!strncasecmp(at, part, strlen(part)) && (at == text || strchr("_-mM", at[-1]))) return true;
    return false;
}

bool weft_sonic_chip_find(const char *platform, const char *hwsku, const struct weft_sonic_chip **ret_chip) {
    bool nvidia = is_nvidia(platform, hwsku);
    *ret_chip = NULL;
    for (size_t i = 0; i < sizeof chips / sizeof *chips && !*ret_chip; i++)
        if (chips[i].nvidia == nvidia && has_model(*platform ? platform : hwsku, chips[i].platform))
            *ret_chip = &chips[i];
    return nvidia;
}

void weft_sonic_set_chip(const struct weft_sonic *sonic, struct weft_plan_pfc_conf *conf) {
    const struct weft_sonic_chip *chip = sonic->chip;
    if (sonic->pattern_said) {
        conf->lossless_mtu_bytes = sonic->lossless_mtu_bytes;
        conf->small_percent = sonic->small_percent;
    }
    if (!chip) return;
    conf->cell_bytes = chip->cell_bytes;
    conf->small_bytes = chip->small_bytes;
    if (!chip->nvidia) return;
    conf->pipeline_bytes = chip->pipeline_bytes;
    conf->mac_phy_bytes = chip->mac_phy_bytes;
    conf->peer_bytes = chip->peer_bytes;
    conf->tile_ps = chip->tile_ps;
    conf->gearbox_ps = chip->gearbox_ps;
}
