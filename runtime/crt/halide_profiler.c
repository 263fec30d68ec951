/* Halide's names for the profiles of pipelines (halide_runtime.h): its structs, filled where they are asked for. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "halide_runtime.h"
#include "platform.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(void *) != 8 || sizeof(struct halide_profiler_func_stats) == 72, "size of a Func's profile");
static_assert(sizeof(void *) != 8 || sizeof(struct halide_profiler_pipeline_stats) == 88, "size of a pipeline's profile");
static_assert(sizeof(void *) != 8 || sizeof(struct halide_profiler_state) == 48, "size of the profiler's state");

static struct halide_profiler_state profiler = {{{0}}, NULL, NULL, NULL, NULL, 1000, 0};
static atomic_flag profiler_taken = ATOMIC_FLAG_INIT;

HALIDE_CORE_WEAK void halide_profiler_lock(struct halide_profiler_state *state) {
    (void)state;
    while (atomic_flag_test_and_set_explicit(&profiler_taken, memory_order_acquire)) {
    }
}

HALIDE_CORE_WEAK void halide_profiler_unlock(struct halide_profiler_state *state) {
    (void)state;
    atomic_flag_clear_explicit(&profiler_taken, memory_order_release);
}

/* The pipeline's struct, as it is now; NULL without memory, or where it has not run. */
static struct halide_profiler_pipeline_stats *filled(struct halide_core_profiled *p) {
    enum { head = 3, each = 7 };
    const size_t funcs = (size_t)p->funcs;
    struct halide_profiler_pipeline_stats *s = p->kept;
    if (s == NULL) {
        s = calloc(1, sizeof *s + funcs * sizeof(struct halide_profiler_func_stats));
        if (s == NULL) {
            return NULL;
        }
        s->funcs = (struct halide_profiler_func_stats *)(s + 1);
        s->name = p->name;
        s->num_funcs = p->funcs;
        p->kept = s;
    }
    int64_t *const words = malloc(sizeof *words * (head + each * (funcs + 1)));
    if (words == NULL) {
        return NULL;
    }
    p->read(words, 0);
    const double tick = words[1] > 0 ? (double)words[2] / (double)words[1] : 0;
    uint64_t spent = 0, readings = 0;
    for (size_t i = 0; i <= funcs; ++i) {
        const int64_t *const w = words + head + each * i;
        if (i == funcs) {
            s->num_allocs = (int)w[2];
            s->memory_peak = (uint64_t)w[3];
            s->memory_current = (uint64_t)w[5];
            s->memory_total = (uint64_t)w[6];
            break;
        }
        struct halide_profiler_func_stats *const f = s->funcs + i;
        f->name = i == 0 ? "overhead" : p->names[i];
        f->time = (uint64_t)((double)w[0] * tick);
        f->num_allocs = (int)w[2];
        f->memory_peak = (uint64_t)w[3];
        f->stack_peak = (uint64_t)w[4];
        f->memory_current = (uint64_t)w[5];
        f->memory_total = (uint64_t)w[6];
        f->active_threads_numerator = f->active_threads_denominator = (uint64_t)w[1];
        spent += f->time;
        readings += (uint64_t)w[1];
    }
    s->runs = (int)words[0];
    s->time = (uint64_t)words[2];
    s->samples = (int)readings;
    s->active_threads_numerator = spent;
    s->active_threads_denominator = s->time;
    free(words);
    return s->runs > 0 ? s : NULL;
}

HALIDE_CORE_WEAK struct halide_profiler_state *halide_profiler_get_state(void) {
    halide_profiler_lock(&profiler);
    struct halide_profiler_pipeline_stats *list = NULL;
    for (struct halide_core_profiled *p = halide_core_profiled_pipelines(); p != NULL; p = p->next) {
        struct halide_profiler_pipeline_stats *const s = filled(p);
        if (s != NULL) {
            s->next = list;
            list = s;
        }
    }
    profiler.pipelines = list;
    halide_profiler_unlock(&profiler);
    return &profiler;
}

HALIDE_CORE_WEAK struct halide_profiler_pipeline_stats *halide_profiler_get_pipeline_state(const char *name) {
    struct halide_profiler_pipeline_stats *s = halide_profiler_get_state()->pipelines;
    while (s != NULL && strcmp(s->name, name) != 0) {
        s = s->next;
    }
    return s;
}

HALIDE_CORE_WEAK void halide_profiler_reset(void) {
    halide_profiler_lock(&profiler);
    for (struct halide_core_profiled *p = halide_core_profiled_pipelines(); p != NULL; p = p->next) {
        int64_t *const words = malloc(sizeof *words * (size_t)(3 + 7 * (p->funcs + 1)));
        if (words != NULL) {
            p->read(words, 1);
            free(words);
        }
    }
    profiler.pipelines = NULL;
    halide_profiler_unlock(&profiler);
}

HALIDE_CORE_WEAK void halide_profiler_shutdown(void) {
    halide_profiler_reset();
}

HALIDE_CORE_WEAK void halide_profiler_report(void *context) {
    void *const around = halide_core_swap_user_context(context);
    halide_core_report_profiles();
    (void)halide_core_swap_user_context(around);
}
