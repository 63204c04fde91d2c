// SPDX-License-Identifier: Apache-2.0
// What the name of a SONiC platform says about its switch chip: the class of hardware/ that names the platform.
// - NVIDIA: with the constants of its class, sonic-swss, cfgmgr/buffer_headroom_mellanox.lua gives the shipped
//   pg_profile_lookup.ini of the SN5600 (packets of 64 B) and of the SN5610N (half of them, and 4096 B) to the byte or
//   to a KiB. Tables of Spectrum 1 to 3 are older: peer_response_time of asic_table.j2 instead of what 802.3 allows.
// - Broadcom: the headroom formula is not public. The class has the cell, the smallest packet that explains how the
//   shipped tables grow by metre, and the reaction that remains; a file is judged by the least of that.
#include <string.h>
#include <strings.h>

#include "weft/hardware.h"
#include "weft/plan.h"
#include "weft/sonic.h"

/// The hwsku of NVIDIA's devices is such as ACS-MSN2700 or Mellanox-SN5600-V256.
static bool is_nvidia(const char *platform, const char *hwsku) {
    return strstr(platform, "mlnx_") || strstr(platform, "nvidia_") || !strncmp(hwsku, "Mellanox-", 9) ||
           !strncmp(hwsku, "ACS-MSN", 7) || !strncmp(hwsku, "ACS-SN", 6);
}

/// Whether `part`, of n bytes, begins somewhere in the text, where no letter but "m" (of MSN2700) is before it.
static bool has_model(const char *text, const char *part, size_t n) {
    for (const char *at = text; *at; at++)
        if (!strncasecmp(at, part, n) && (at == text || strchr("_-mM", at[-1]))) return true;
    return false;
}

/// The length of the longest word of `parts` in the text; 0: none is there.
static size_t longest_model(const char *text, const char *parts) {
    size_t longest = 0;
    for (size_t n; *parts; parts += n + strspn(parts + n, " ")) {
        n = strcspn(parts, " ");
        if (n > longest && has_model(text, parts, n)) longest = n;
    }
    return longest;
}

bool weft_sonic_chip_find(const char *platform, const char *hwsku, struct weft_arena *arena,
                          const struct weft_hardware **ret_chip) {
    bool nvidia = is_nvidia(platform, hwsku);
    size_t longest = 0;
    *ret_chip = NULL;
    for (uint32_t i = 0; i < weft_hardware_count(); i++) {
        const struct weft_hardware *chip = weft_hardware_at(i, arena);
        const struct weft_hardware_value *parts = weft_hardware_value(chip, "platforms");
        if (!parts || (weft_hardware_value(chip, "pipeline") != NULL) != nvidia) continue; // only NVIDIA's are public
        size_t n = longest_model(*platform ? platform : hwsku, parts->typical);
        if (n <= longest) continue;
        longest = n;
        *ret_chip = chip;
    }
    return nvidia;
}

void weft_sonic_set_chip(const struct weft_sonic *sonic, struct weft_plan_pfc_conf *conf) {
    if (sonic->pattern_said) {
        conf->lossless_mtu_bytes = sonic->lossless_mtu_bytes;
        conf->small_percent = sonic->small_percent;
    }
    if (sonic->chip) weft_plan_set_chip(sonic->chip, true, conf);
}
