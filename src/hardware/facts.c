// SPDX-License-Identifier: Apache-2.0
// What a class of hardware may say beside parameters of its section.
#include "hardware/hardware.h"
#include "weft/param.h"

/// A fact is one value, of whichever type.
union fact {
    uint64_t whole;
    double real;
    const char *text;
};

#define BIT(kind) (1u << WEFT_HARDWARE_##kind)
enum {
    CHIPS = BIT(CHIP) | BIT(INTERFACE) | BIT(ELEMENT),
    PORTS = CHIPS | BIT(NIC),
    LINKS = BIT(CABLE) | BIT(PHY),
    ALL = PORTS | LINKS | BIT(SERVER)
};

static const struct {
    uint32_t kinds;
    struct weft_param row;
} facts[] = {
    {ALL, WEFT_REAL(union fact, real, "watts", "0", "0", "1e6", "power of one, in watts: high is its maximum")},
    {ALL, WEFT_REAL(union fact, real, "price", "0", "0", "1e9", "price of one, in US dollars")},
    {PORTS | LINKS, WEFT_RATE(union fact, whole, "rate", "0bps", "1Mbps", "10000Tbps",
                              "of a chip or NIC: of all its ports together, each way; else of a link")},
    {CHIPS, WEFT_RATE(union fact, whole, "usable_rate", "0bps", "1Mbps", "10000Tbps",
                      "as a blueprint counts it: of an interface chip its ports to hosts, of an element after coding")},
    {PORTS | LINKS, WEFT_RATE(union fact, whole, "port_rate", "0bps", "1Mbps", "100Tbps", "of its fastest port")},
    {PORTS, WEFT_UINT(union fact, whole, "radix", "0", "1", "65536", "most ports that it can have")},
    {PORTS, WEFT_UINT(union fact, whole, "ports", "0", "1", "65536", "ports at port_rate")},
    {PORTS, WEFT_UINT(union fact, whole, "packets", "0", "1", "1000000000000", "packets a second, of all ports")},
    {PORTS, WEFT_TIME(union fact, whole, "latency", "0ns", "0ns", "1ms",
                      "published latency: of a chip from port to port, of a NIC one way from memory to the wire")},
    {CHIPS, WEFT_BYTES(union fact, whole, "memory", "0B", "0B", "100TB", "packet memory on the chip")},
    {CHIPS, WEFT_BYTES(union fact, whole, "usable_memory", "0B", "0B", "100TB", "packet memory left to packets")},
    {CHIPS, WEFT_BYTES(union fact, whole, "deep_memory", "0B", "0B", "100TB", "packet memory beside the chip (HBM)")},
    {CHIPS, WEFT_BOOL(union fact, whole, "partitioned", "false", "packet memory is divided among ports for good")},
    {CHIPS, WEFT_BYTES(union fact, whole, "cell", "0B", "1B", "64KiB", "unit in which packet memory is given out")},
    {CHIPS, WEFT_BYTES(union fact, whole, "cell_header", "0B", "0B", "64KiB", "of a cell on a fabric link")},
    {PORTS, WEFT_TIME(union fact, whole, "reaction", "0ns", "0ns", "1ms",
                      "headroom: from a pause frame's arrival to the stop, beyond its quanta")},
    {CHIPS, WEFT_BYTES(union fact, whole, "pipeline", "0B", "0B", "1GB",
                       "headroom: bytes in the chip's pipeline when it decides to pause (SONiC)")},
    {CHIPS, WEFT_BYTES(union fact, whole, "mac_phy", "0B", "0B", "1GB",
                       "headroom: bytes in egress pipe and PHY when the pause is sent (SONiC)")},
    {CHIPS, WEFT_BYTES(union fact, whole, "peer_response", "0B", "0B", "1GB",
                       "headroom: bytes that the peer still sends where the rate does not say it (SONiC)")},
    {CHIPS, WEFT_TIME(union fact, whole, "tile", "0ns", "0ns", "1ms",
                      "headroom: time that the chip's tile adds, at the port's rate (SONiC)")},
    {CHIPS, WEFT_TIME(union fact, whole, "gearbox", "0ns", "0ns", "1ms", "headroom: delay of a gearbox (SONiC)")},
    {CHIPS,
     WEFT_BYTES(union fact, whole, "small_packet", "64B", "64B", "4096B",
                "headroom: smallest packet at line rate that it is computed for; above 64B with preamble and gap")},
    {CHIPS, WEFT_REAL(union fact, real, "box_watts", "0", "0", "1e6", "power of a box, without optics, in watts")},
    {CHIPS, WEFT_TEXT(union fact, text, "platforms", "", "parts of the names of SONiC platforms that have it")},
    {BIT(NIC), WEFT_TEXT(union fact, text, "pcie", "", "its PCIe: gen5 x16")},
    {BIT(SERVER), WEFT_TEXT(union fact, text, "gpu", "", "its GPUs")},
    {BIT(SERVER), WEFT_UINT(union fact, whole, "switches", "0", "1", "1024", "of its GPUs' links (NVSwitches)")},
    {BIT(SERVER),
     WEFT_RATE(union fact, whole, "link_rate", "0bps", "1Mbps", "100Tbps", "of a link of a GPU to these, each way")},
    {BIT(SERVER), WEFT_RATE(union fact, whole, "nic_rate", "0bps", "1Mbps", "100Tbps", "of each of its NICs")},
    {LINKS, WEFT_TEXT(union fact, text, "medium", "", "copper, fibre, ...")},
    {LINKS, WEFT_TEXT(union fact, text, "fec", "", "its forward error correction: RS(544,514)")},
    {LINKS, WEFT_REAL(union fact, real, "length", "0", "0", "200000", "metres")},
    {LINKS, WEFT_REAL(union fact, real, "length_max", "0", "0", "200000", "longest of its kind, in metres")},
    {LINKS, WEFT_REAL(union fact, real, "length_max_400g", "0", "0", "200000", "the same above 100G, up to 400G")},
    {LINKS, WEFT_REAL(union fact, real, "length_max_800g", "0", "0", "200000", "the same above 400G")},
    {LINKS, WEFT_TIME(union fact, whole, "delay_per_metre", "0ns", "0ns", "1us", "of its medium")},
    {LINKS, WEFT_TIME(union fact, whole, "end_delay", "0ns", "0ns", "1ms", "of a module or retimer, at each end")},
    {LINKS, WEFT_TIME(union fact, whole, "fec_delay", "0ns", "0ns", "1ms", "of PCS and FEC, a link")},
    {LINKS, WEFT_TIME(union fact, whole, "fec_jitter", "0ns", "0ns", "1ms",
                      "most wait of a frame for its codeword to be complete")},
    {LINKS, WEFT_REAL(union fact, real, "bit_error_rate", "0", "0", "1", "after correction")},
};
enum { FACTS = sizeof facts / sizeof *facts };

const struct weft_param *weft_hardware_fact(uint32_t kind, uint32_t i) {
    for (uint32_t f = 0; f < FACTS; f++)
        if ((facts[f].kinds >> kind & 1) && !i--) return &facts[f].row;
    return NULL;
}
