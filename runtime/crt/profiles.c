/* The profiled pipelines of a program (halide_runtime.h), and what is printed of them when it ends. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "halide_runtime.h"
#include "platform.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { profile_head = 3, profile_each = 7 }; /* the words that `read` writes */

static _Atomic(struct halide_core_profiled *) first_profiled;

HALIDE_CORE_WEAK void halide_core_register_profiled(struct halide_core_profiled *pipeline) {
    struct halide_core_profiled *first = atomic_load(&first_profiled);
    if (first == NULL) {
        (void)atexit(halide_core_report_profiles);
    }
    do {
        pipeline->next = first;
    } while (!atomic_compare_exchange_weak(&first_profiled, &first, pipeline));
}

HALIDE_CORE_WEAK struct halide_core_profiled *halide_core_profiled_pipelines(void) {
    return atomic_load(&first_profiled);
}

static void report_pipeline(const struct halide_core_profiled *p, const int64_t *words) {
    const double tick = words[1] > 0 ? (double)words[2] / (double)words[1] * 1e-6 : 0; /* in milliseconds */
    const int64_t *const all = words + profile_head + profile_each * p->funcs;
    int64_t spent = 0;
    for (int i = 0; i < p->funcs; ++i) {
        spent += words[profile_head + profile_each * i];
    }
    const double wall = (double)words[2] * 1e-6;
    halide_core_print("%s", p->name);
    halide_core_print(" total time: %f ms  runs: %" PRId64 "  time/run: %f ms", wall, words[0], wall / (double)words[0]);
    halide_core_print(" average threads used: %f", wall > 0 ? (double)spent * tick / wall : 0);
    halide_core_print(" heap allocations: %" PRId64 "  peak heap usage: %" PRId64 " bytes", all[2], all[3]);
    for (int i = 0; i < p->funcs; ++i) {
        const int64_t *const w = words + profile_head + profile_each * i;
        halide_core_print("  %s: %f ms (%.1f%%)  peak: %" PRId64 "  num: %" PRId64 "  stack: %" PRId64,
                          i == 0 ? "overhead" : p->names[i], (double)w[0] * tick,
                          spent > 0 ? 100.0 * (double)w[0] / (double)spent : 0, w[3], w[2], w[4]);
    }
}

HALIDE_CORE_WEAK void halide_core_report_profiles(void) {
    for (const struct halide_core_profiled *p = halide_core_profiled_pipelines(); p != NULL; p = p->next) {
        int64_t *const words = malloc(sizeof *words * (size_t)(profile_head + profile_each * (p->funcs + 1)));
        if (words == NULL) {
            return;
        }
        p->read(words, 0);
        if (words[0] > 0) {
            report_pipeline(p, words);
        }
        free(words);
    }
}
