// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "live/attach.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "weft/memory.h"

enum { OUT_MAX = 4 << 20, READ_MAX = 1 << 16, TAG = 4 };

static bool fill_address(struct sockaddr_un *address, const char *path) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(address->sun_path, path);
    return true;
}

int weft__attach_bind(const char *path, int type) {
    struct sockaddr_un address;
    struct stat there;
    if (!fill_address(&address, path)) return -1;
    if (!lstat(path, &there)) {
        errno = EEXIST;
        if (!S_ISSOCK(there.st_mode) || unlink(path)) return -1;
    }
    int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    mode_t mask = umask(0177); // the socket is never open to others, not even for a moment
    bool bound = !bind(fd, (const struct sockaddr *)&address, sizeof address);
    umask(mask);
    if (bound && (type != SOCK_STREAM || !listen(fd, 1))) return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

int weft__attach_connect(const char *path) {
    struct sockaddr_un address;
    if (!fill_address(&address, path)) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || !connect(fd, (const struct sockaddr *)&address, sizeof address)) return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

/// All frames of the interface but those that weft sends; tags that the kernel has taken off come beside.
static int open_interface(const char *name) {
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0) return -1;
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name)};
    struct packet_mreq all = {.mr_ifindex = address.sll_ifindex, .mr_type = PACKET_MR_PROMISC};
    if (address.sll_ifindex && !setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) &&
        !setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof on) &&
        !setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) &&
        !bind(fd, (const struct sockaddr *)&address, sizeof address))
        return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

enum weft_status weft__attach_open(struct weft__attach *a, const struct weft_live_host *conf, struct weft_place place,
                                   struct weft_arena *arena, struct weft_error *ret_error) {
    static const char *const kinds[] = {"unix", "dgram", "interface"};
    a->kind = *conf->interface ? WEFT__ATTACH_INTERFACE : *conf->dgram_path ? WEFT__ATTACH_DGRAM : WEFT__ATTACH_STREAM;
    a->counts->where = weft_arena_format(arena, "%s %s", kinds[a->kind], a->path);
    errno = 0;
    if (a->kind == WEFT__ATTACH_INTERFACE)
        a->fd = open_interface(a->path);
    else if (a->kind == WEFT__ATTACH_DGRAM)
        a->fd = weft__attach_bind(a->path, SOCK_DGRAM);
    else
        a->listener = weft__attach_bind(a->path, SOCK_STREAM);
    if (a->fd >= 0 || a->listener >= 0) {
        a->counts->connections = a->fd >= 0;
        a->framing = a->listener >= 0 ? weft_memory_new(WEFT_MEMORY_SCENARIO, 1, sizeof *a->framing) : NULL;
        a->out = a->listener >= 0 ? weft_memory_new(WEFT_MEMORY_SCENARIO, OUT_MAX, 1) : NULL;
        return WEFT_OK;
    }
    const char *hint = errno == EPERM ? "; an interface needs root, or a user namespace of its own (unshare -rn)" : "";
    return weft_error_set(ret_error, WEFT_ERROR_INPUT, place, "live.hosts: cannot attach %s at %s: %s%s", conf->name,
                          a->counts->where, errno == EEXIST ? "a file that is no socket is there" : strerror(errno),
                          hint);
}

static void end_host(struct weft__attach *a, const char *why) {
    if (a->fd >= 0) close(a->fd);
    a->fd = -1;
    a->out_at = a->out_n = 0;
    a->counts->ended = why;
}

void weft__attach_close(struct weft__attach *a) {
    if (a->fd >= 0) close(a->fd);
    if (a->listener >= 0) close(a->listener);
    if (a->kind != WEFT__ATTACH_INTERFACE && (a->fd >= 0 || a->listener >= 0 || a->counts->connections))
        unlink(a->path);
    weft_memory_free(WEFT_MEMORY_SCENARIO, a->framing, sizeof *a->framing);
    weft_memory_free(WEFT_MEMORY_SCENARIO, a->out, a->out ? OUT_MAX : 0);
    a->fd = a->listener = -1;
}

void weft__attach_accept(struct weft__attach *a) {
    int fd = accept4(a->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    if (a->fd >= 0) { // one host, one connection
        close(fd);
        return;
    }
    a->fd = fd;
    a->framing->head = a->framing->length = a->framing->have = 0;
    a->counts->ended = NULL;
    a->counts->connections++;
}

static void read_stream(struct weft__attach *a, weft__framing_on_frame *on_frame, void *context) {
    uint8_t bytes[READ_MAX];
    ssize_t n = read(a->fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0)
        end_host(a, n ? strerror(errno) : "it has closed its socket");
    else if (!weft__framing_feed(a->framing, bytes, (size_t)n, on_frame, context))
        end_host(a, "its socket has no frames as of QEMU -netdev stream: a length above 1 MiB");
}

/// Puts a tag back that the kernel has taken off. Returns the frame's length.
static size_t restore_tag(struct msghdr *m, uint8_t *frame, size_t length) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        struct tpacket_auxdata beside;
        if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA) continue;
        memcpy(&beside, CMSG_DATA(c), sizeof beside);
        if (!(beside.tp_status & TP_STATUS_VLAN_VALID) || length < 12) continue;
        memmove(frame + 12 + TAG, frame + 12, length - 12);
        uint16_t tag[2] = {htons(ETHERTYPE_VLAN), htons(beside.tp_vlan_tci)};
        memcpy(frame + 12, tag, TAG);
        return length + TAG;
    }
    return length;
}

static void read_frames(struct weft__attach *a, uint32_t frames, weft__framing_on_frame *on_frame, void *context) {
    uint8_t bytes[READ_MAX + TAG];
    _Alignas(struct cmsghdr) char beside[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
    for (uint32_t i = 0; i < frames; i++) {
        struct iovec part = {bytes, READ_MAX};
        struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = beside, .msg_controllen = sizeof beside};
        ssize_t n = recvmsg(a->fd, &m, MSG_TRUNC);
        if (n < 0) {
            if (errno != EAGAIN && errno != EINTR && errno != ENETDOWN) end_host(a, strerror(errno));
            return;
        }
        size_t length = (size_t)n <= READ_MAX ? restore_tag(&m, bytes, (size_t)n) : (size_t)n;
        on_frame(context, length <= WEFT__FRAMING_FRAME_MAX ? bytes : NULL, length);
    }
}

void weft__attach_read(struct weft__attach *a, uint32_t frames, weft__framing_on_frame *on_frame, void *context) {
    if (a->kind == WEFT__ATTACH_STREAM)
        read_stream(a, on_frame, context);
    else
        read_frames(a, frames, on_frame, context);
}

void weft__attach_flush(struct weft__attach *a) {
    while (a->fd >= 0 && weft__attach_waits(a)) {
        ssize_t n = send(a->fd, a->out + a->out_at, a->out_n - a->out_at, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR) end_host(a, strerror(errno));
        if (n <= 0) return;
        a->out_at += (size_t)n;
    }
    a->out_at = a->out_n = 0;
}

static bool write_stream(struct weft__attach *a, const uint8_t *frame, size_t length) {
    if (a->out_at > OUT_MAX / 2) {
        memmove(a->out, a->out + a->out_at, a->out_n - a->out_at);
        a->out_n -= a->out_at;
        a->out_at = 0;
    }
    if (a->out_n + length + 4 > OUT_MAX) return false;
    uint32_t head = htonl((uint32_t)length);
    memcpy(a->out + a->out_n, &head, 4);
    memcpy(a->out + a->out_n + 4, frame, length);
    a->out_n += length + 4;
    weft__attach_flush(a);
    return true;
}

bool weft__attach_write(struct weft__attach *a, const uint8_t *frame, size_t length) {
    struct sockaddr_un peer;
    if (a->fd < 0) return false;
    if (a->kind == WEFT__ATTACH_STREAM) return write_stream(a, frame, length);
    if (a->kind == WEFT__ATTACH_INTERFACE) return send(a->fd, frame, length, MSG_NOSIGNAL) >= 0;
    return fill_address(&peer, a->peer) &&
           sendto(a->fd, frame, length, MSG_NOSIGNAL, (const struct sockaddr *)&peer, sizeof peer) >= 0;
}
