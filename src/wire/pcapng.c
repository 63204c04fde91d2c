// SPDX-License-Identifier: Apache-2.0
// Source: draft-ietf-opsawg-pcapng: blocks are type, length, body in words of 32 bits, and the length again; options
// are code, length, value padded to a word.
#include "weft/pcapng.h"

#include <string.h>

enum block { SECTION = 0x0a0d0d0a, INTERFACE = 1, NAMES = 4, PACKET = 6 };
enum option {
    END = 0,
    COMMENT = 1,
    SECTION_APPLICATION = 4,
    IF_NAME = 2,
    IF_DESCRIPTION = 3,
    IF_IPV4 = 4,
    IF_MAC = 6,
    IF_SPEED = 8,
    IF_RESOLUTION = 9,
    IF_FCS_BYTES = 13,
    PACKET_FLAGS = 2,
};
enum { NAME_IPV4 = 1, NANOSECONDS = 9, VALUE_MAX = UINT16_MAX, EMPTY_BLOCK = 12 };

static uint32_t padded_bytes(size_t bytes) {
    return (uint32_t)((bytes + 3) & ~(size_t)3);
}

static size_t length_of(const char *text) {
    return strnlen(text, VALUE_MAX);
}

/// The size of an option with a value of this length.
static uint32_t option_bytes(size_t bytes) {
    return 4 + padded_bytes(bytes);
}

static uint32_t text_option_bytes(const char *text) {
    return text ? option_bytes(length_of(text)) : 0;
}

static void put_value(FILE *file, uint64_t value, unsigned bytes) {
    uint8_t octet[8];
    for (unsigned i = 0; i < bytes; i++)
        octet[i] = (uint8_t)(value >> 8 * i);
    fwrite(octet, 1, bytes, file);
}

static void put_padded(FILE *file, const void *bytes, size_t size) {
    static const uint8_t zeros[4];
    fwrite(bytes, 1, size, file);
    fwrite(zeros, 1, padded_bytes(size) - size, file);
}

static void put_option(FILE *file, enum option code, const void *value, size_t bytes) {
    put_value(file, code, 2);
    put_value(file, bytes, 2);
    put_padded(file, value, bytes);
}

static void put_text_option(FILE *file, enum option code, const char *text) {
    if (text) put_option(file, code, text, length_of(text));
}

static void put_number_option(FILE *file, enum option code, uint64_t value, unsigned bytes) {
    uint8_t octet[8];
    for (unsigned i = 0; i < bytes; i++)
        octet[i] = (uint8_t)(value >> 8 * i);
    put_option(file, code, octet, bytes);
}

static void begin_block(FILE *file, enum block type, uint32_t bytes) {
    put_value(file, type, 4);
    put_value(file, bytes, 4);
}

void weft_pcapng_write_section(FILE *file, const char *application, const char *comment) {
    uint32_t bytes = EMPTY_BLOCK + 16 + text_option_bytes(comment) + text_option_bytes(application) + option_bytes(0);
    begin_block(file, SECTION, bytes);
    put_value(file, 0x1a2b3c4d, 4); // tells the byte order
    put_value(file, 1, 2);          // version 1.0
    put_value(file, 0, 2);
    put_value(file, UINT64_MAX, 8); // section length: not given
    put_text_option(file, COMMENT, comment);
    put_text_option(file, SECTION_APPLICATION, application);
    put_option(file, END, "", 0);
    put_value(file, bytes, 4);
}

void weft_pcapng_write_interface(FILE *file, const struct weft_pcapng_interface *interface) {
    const uint32_t ip = interface->ipv4, mask = UINT32_MAX << 24;
    uint32_t bytes = EMPTY_BLOCK + 8 + text_option_bytes(interface->name) + text_option_bytes(interface->description) +
                     option_bytes(8) + 2 * option_bytes(1) + option_bytes(0);
    if (ip) bytes += option_bytes(8);
    if (interface->mac) bytes += option_bytes(6);
    begin_block(file, INTERFACE, bytes);
    put_value(file, interface->link ? interface->link : WEFT_PCAPNG_ETHERNET, 2);
    put_value(file, 0, 2);
    put_value(file, interface->snaplen, 4);
    put_text_option(file, IF_NAME, interface->name);
    put_text_option(file, IF_DESCRIPTION, interface->description);
    if (ip) {
        uint8_t address[8];
        for (unsigned i = 0; i < 4; i++) {
            address[i] = (uint8_t)(ip >> (24 - 8 * i));
            address[4 + i] = (uint8_t)(mask >> (24 - 8 * i));
        }
        put_option(file, IF_IPV4, address, sizeof address);
    }
    if (interface->mac) put_option(file, IF_MAC, interface->mac, 6);
    put_number_option(file, IF_SPEED, interface->rate_bps, 8);
    put_number_option(file, IF_RESOLUTION, NANOSECONDS, 1);
    put_number_option(file, IF_FCS_BYTES, 0, 1);
    put_option(file, END, "", 0);
    put_value(file, bytes, 4);
}

void weft_pcapng_write_name(FILE *file, uint32_t ipv4, const char *name) {
    char value[4 + 256];
    size_t length = strnlen(name, sizeof value - 5);
    for (unsigned i = 0; i < 4; i++)
        value[i] = (char)(uint8_t)(ipv4 >> (24 - 8 * i));
    memcpy(value + 4, name, length);
    value[4 + length] = 0;
    uint32_t bytes = EMPTY_BLOCK + option_bytes(4 + length + 1) + 4; // records have the form of options
    begin_block(file, NAMES, bytes);
    put_value(file, NAME_IPV4, 2);
    put_value(file, 4 + length + 1, 2);
    put_padded(file, value, 4 + length + 1);
    put_value(file, 0, 4); // no more records
    put_value(file, bytes, 4);
}

uint32_t weft_pcapng_packet_bytes(const struct weft_pcapng_packet *packet) {
    return EMPTY_BLOCK + 20 + padded_bytes(packet->captured) + text_option_bytes(packet->comment) + option_bytes(4) +
           option_bytes(0);
}

void weft_pcapng_write_packet(FILE *file, const struct weft_pcapng_packet *packet) {
    uint32_t bytes = weft_pcapng_packet_bytes(packet);
    begin_block(file, PACKET, bytes);
    put_value(file, packet->interface, 4);
    put_value(file, packet->time_ns >> 32, 4);
    put_value(file, packet->time_ns, 4);
    put_value(file, packet->captured, 4);
    put_value(file, packet->bytes, 4);
    put_padded(file, packet->frame, packet->captured);
    put_text_option(file, COMMENT, packet->comment);
    put_number_option(file, PACKET_FLAGS, packet->direction, 4);
    put_option(file, END, "", 0);
    put_value(file, bytes, 4);
}
