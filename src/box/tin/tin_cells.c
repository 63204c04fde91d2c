// SPDX-License-Identifier: Apache-2.0
// What a record of 32 bytes does not carry of a cell is derived, so that the same run gives the same bytes. The source
// TiN of data is that of the sending host, unknown if that is outside the Clique; numbers of cells in their packet,
// addresses and keys are 0; payload octet k is k. Lengths are those that the simulation counts.
#include <assert.h>

#include "box/tin/tin_net.h"
#include "weft/wire_gnet.h"

enum { PODS_MAX = 128, TINS_MAX = 16 };

static enum weft_status check_cells(const struct weft_topology *t, struct weft_place place,
                                    struct weft_error *ret_error) {
    WEFT_SCRATCH(arena, WEFT_MEMORY_TOPOLOGY);
    const struct weft_dragonflies *shape = weft_dragonflies_new(t, arena);
    enum weft_status status = WEFT_OK;
    for (uint32_t f = 0; f < shape->n; f++)
        for (uint32_t i = 0; i < shape->fabric[f].tins && !status; i++) {
            const struct weft_tin *tin = &shape->fabric[f].tin[i];
            if (tin->pod >= PODS_MAX || tin->place >= TINS_MAX)
                status = WEFT_REFUSE(ret_error, place,
                                     "%s has no address in a cell's header; expected at most %d pods of %d TiNs",
                                     t->node[tin->node].name, PODS_MAX, TINS_MAX);
        }
    return status;
}

static uint16_t address_of(const struct weft_dragonfly *f, uint32_t tin) {
    return weft_gnet_address_pack((struct weft_gnet_address){(uint8_t)f->tin[tin].pod, (uint8_t)f->tin[tin].place, 0});
}

static void fill_req(struct weft_gnet_cell *c, const struct weft_packet *cell) {
    static const enum weft_gnet_operation operations[] = {
        [WEFT_RMA_READ] = WEFT_GNET_READ,
        [WEFT_RMA_WRITE] = WEFT_GNET_WRITE,
        [WEFT_RMA_ATOMIC] = WEFT_GNET_FETCH_ADD,
        [WEFT_RMA_SEND] = WEFT_GNET_FETCH_ADD, // the form with the fewest fields
    };
    enum weft_rma_verb verb = weft__tin_req_verb(cell->psn);
    bool is_atomic = operations[verb] == WEFT_GNET_FETCH_ADD;
    c->req = (struct weft_gnet_req){
        .operation = (uint8_t)operations[verb],
        .bytes = is_atomic ? 8 : (uint16_t)weft__tin_req_bytes(cell->psn),
        .number = is_atomic ? cell->qp & 0xffffffu : cell->qp,
    };
}

/// The payload as the codec sees it: the rest of the length, padding included.
static uint8_t payload_of(const struct weft_packet *cell) {
    return (uint8_t)(weft__gnet_wire(cell) - weft__gnet_before(weft__gnet_type(cell)));
}

static enum weft_status check_conf(const struct weft_device_conf *conf, struct weft_place place,
                                   struct weft_error *ret_error) {
    if (weft__tin_conf(conf)->train == 1) return WEFT_OK;
    return WEFT_REFUSE(ret_error, place, "cells of a link are captured one by one; expected tin.train: 1");
}

static size_t cell_bytes(const struct weft__network *net, const struct weft_packet *cell, uint32_t sender,
                         uint8_t *ret) {
    static const enum weft_gnet_type types[WEFT__GNET_TYPES] = {
        [WEFT__GNET_RTS] = WEFT_GNET_TYPE_RTS, [WEFT__GNET_CTS] = WEFT_GNET_TYPE_CTS,
        [WEFT__GNET_CTD] = WEFT_GNET_TYPE_CTD, [WEFT__GNET_DATA] = WEFT_GNET_TYPE_DATA,
        [WEFT__GNET_REQ] = WEFT_GNET_TYPE_REQ, [WEFT__GNET_RESP] = WEFT_GNET_TYPE_RESP,
    };
    const struct weft_dragonflies *shape = weft__cliques_of(net)->shape;
    uint32_t fabric = shape->fabric_of_node[net->topology->port[sender].node];
    const struct weft_dragonfly *f = &shape->fabric[fabric];
    enum weft__cell_type type = weft__gnet_type(cell);
    struct weft_gnet_cell c = {
        .header = {.source = type == WEFT__GNET_DATA ? 0 : address_of(f, weft__gnet_from(cell)),
                   .destination = address_of(f, weft__gnet_to(cell)),
                   .type = (uint8_t)types[type],
                   .hops = (uint8_t)(WEFT__GNET_HOPS_MAX - weft__gnet_hops(cell)),
                   .vc = (uint8_t)weft__gnet_vc(cell),
                   .trace = weft__gnet_is_traced(cell)},
    };
    switch (type) {
    case WEFT__GNET_RTS:
        c.rts = (struct weft_gnet_rts){
            .packet_bytes = (uint16_t)(cell->psn >> 16), .class = cell->priority, .ingress = cell->psn & 0xffff};
        break;
    case WEFT__GNET_CTS:
    case WEFT__GNET_CTD:
        c.cts = (struct weft_gnet_cts){.drop = type == WEFT__GNET_CTD, .ingress = cell->qp, .egress = cell->psn};
        break;
    case WEFT__GNET_DATA:
        c.data.slot = weft__gnet_from(cell) & 0x3ff;
        c.data.bytes = payload_of(cell);
        for (uint32_t k = 0; k < c.data.bytes; k++)
            c.data.data[k] = (uint8_t)k;
        break;
    case WEFT__GNET_REQ:
        fill_req(&c, cell);
        break;
    case WEFT__GNET_RESP:
        c.resp.number = cell->qp;
        c.resp.bytes = payload_of(cell);
        for (uint32_t k = 0; k < c.resp.bytes; k++)
            c.resp.data[k] = (uint8_t)k;
        break;
    default:
        break;
    }
    size_t written = weft_gnet_cell_encode(&c, ret, WEFT_GNET_CELL_BYTES_MAX);
    assert(written >= WEFT_GNET_CELL_BYTES_MIN);
    return written;
}

const struct weft__cell_capture weft__tin_capture = {
    .bytes_min = WEFT_GNET_CELL_BYTES_MIN, .check = check_cells, .check_conf = check_conf, .build = cell_bytes};
