// SPDX-License-Identifier: Apache-2.0
// The fluid model of DCQCN and its fixed point: Y. Zhu et al., "Congestion control for large-scale RDMA deployments",
// SIGCOMM 2015, section 5.1, and "ECN or delay", CoNEXT 2016; the authors' code is jitupadhye-zz/rdma (fluidmodel).
// N equal flows through one link of C packets/s. Per flow, with R its rate and p the probability of a mark:
//   a = 1 - (1 - p)^(t R)                    a CNP within a CNP interval t
//   b = p / ((1 - p)^-B - 1)                 byte counter events per packet;      c = b (1 - p)^(F B) of them additive
//   d = p / ((1 - p)^-(T R) - 1)             timer events per packet;             e = d (1 - p)^(F T R) of them
//   additive dR/dt      = -R alpha a / (2 t) + (Rt - R) R (b + d) / 2 dRt/dt     = -(Rt - R) a / t + R_AI R (c + e)
//   dalpha/dt  = g ((1 - (1 - p)^(t' R)) - alpha) / t'
//   dq/dt      = sum of R - C
// At the fixed point R = C / N, alpha = 1 - (1 - p)^(t' R), Rt - R = R_AI R (c + e) t / a, and p is where the first
// equation vanishes; q follows from the marking curve.
#pragma once

#include <math.h>
#include <stdbool.h>

struct dcqcn_fluid {
    double capacity_bps, packet_bytes, flows;
    double cnp_interval_s, alpha_timer_s, increase_timer_s;
    double byte_counter_bytes, stages, additive_increase_bps;
    double min_bytes, max_bytes, max_probability; ///< of the marking curve
};

/// The defaults of the paper.
static inline struct dcqcn_fluid dcqcn_fluid_paper(double capacity_bps, double flows) {
    return (struct dcqcn_fluid){
        .capacity_bps = capacity_bps,
        .packet_bytes = 1000,
        .flows = flows,
        .cnp_interval_s = 50e-6,
        .alpha_timer_s = 55e-6,
        .increase_timer_s = 55e-6,
        .byte_counter_bytes = 10e6,
        .stages = 5,
        .additive_increase_bps = 40e6,
        .min_bytes = 5e3,
        .max_bytes = 200e3,
        .max_probability = .01,
    };
}

/// 1 - (1 - p)^n without cancellation.
static inline double dcqcn_fluid_any(double p, double n) {
    return -expm1(n * log1p(-p));
}

/// dR/dt at probability p with everything else at its fixed point; falls as p grows.
static inline double dcqcn_fluid_slope(const struct dcqcn_fluid *f, double p) {
    double packet_bits = 8 * f->packet_bytes, rate = f->capacity_bps / f->flows / packet_bits;
    double t = f->cnp_interval_s, timer = f->increase_timer_s * rate, bytes = f->byte_counter_bytes / f->packet_bytes;
    double a = dcqcn_fluid_any(p, t * rate), alpha = dcqcn_fluid_any(p, f->alpha_timer_s * rate);
    double b = p / expm1(-bytes * log1p(-p)), d = p / expm1(-timer * log1p(-p));
    double c = b * pow(1 - p, f->stages * bytes), e = d * pow(1 - p, f->stages * timer);
    double above = f->additive_increase_bps / packet_bits * rate * (c + e) * t / a; // Rt - R
    return -rate * alpha * a / (2 * t) + above * rate * (b + d) / 2;
}

/// The probability of a mark at the fixed point.
static inline double dcqcn_fluid_probability(const struct dcqcn_fluid *f) {
    double lo = 1e-9, hi = .5;
    for (int i = 0; i < 200; i++) {
        double p = sqrt(lo * hi);
        *(dcqcn_fluid_slope(f, p) > 0 ? &lo : &hi) = p;
    }
    return sqrt(lo * hi);
}

/// Is the fixed point on the slope of the marking curve? If not, the queue oscillates about max.
static inline bool dcqcn_fluid_settles(const struct dcqcn_fluid *f) {
    return dcqcn_fluid_probability(f) <= f->max_probability;
}

/// Queue at the fixed point, bytes.
static inline double dcqcn_fluid_queue(const struct dcqcn_fluid *f) {
    return f->min_bytes + dcqcn_fluid_probability(f) / f->max_probability * (f->max_bytes - f->min_bytes);
}
