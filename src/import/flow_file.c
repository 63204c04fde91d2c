// SPDX-License-Identifier: Apache-2.0
#include "import/flow_file.h"

#include "base/lines.h"

static enum weft_status add_flow(const struct weft__flow_file_conf *conf, const struct weft__file_hosts *hosts,
                                 const struct weft__file_flow *f, struct weft_workload *w,
                                 struct weft_error *ret_error) {
    struct weft_workload_common common = conf->common;
    uint32_t src = 0, dst = 0;
    enum weft_status status = weft__file_hosts_at(hosts, f->src, f->place, &src, ret_error);
    if (!status) status = weft__file_hosts_at(hosts, f->dst, f->place, &dst, ret_error);
    if (status) return status;
    if (f->prioritised) common.priority = f->priority;
    common.destination_port = f->destination_port;
    return weft_workload_add(w, &common, f->place, src, dst, f->bytes, weft_time_plus(common.start_ps, f->start_ps),
                             ret_error);
}

enum weft_status weft__flow_file_expand(const struct weft__flow_file_conf *conf, struct weft_place place,
                                        const struct weft_topology *topology, const struct weft__flow_reader *reader,
                                        struct weft_workload *w, struct weft_error *ret_error) {
    struct weft__file_hosts hosts;
    const char *path = weft__path_beside(conf->file, place, w->arena);
    enum weft_status status = weft__file_hosts_init(&hosts, conf->hosts, conf->ranks, place, topology, ret_error);
    if (!status) status = reader->open(reader->state, path, place, ret_error);
    if (status) return status;
    for (bool more = true; more && !status;) {
        struct weft__file_flow f = {0};
        status = reader->next(reader->state, &f, &more, ret_error);
        if (!status && more) status = add_flow(conf, &hosts, &f, w, ret_error);
    }
    reader->close(reader->state);
    return status;
}
