/* The clock and the counts of a profiled pipeline. What stands first is made for each pipeline (profile.py). */
#include <stdbool.h>
#include <stdint.h>
#include "halide_runtime.h"
#include <string.h>
#include <time.h>

enum { halide_core_profile_all = 1 };
static const char *const halide_core_profile_names[] = {""};
static const int64_t halide_core_profile_stack[] = {0};

/* From here on it is emitted. */
/* Of each Func; the last one is all memory together. */
static struct halide_core_profile_count {
    int64_t ticks, visits, allocations, live, peak, total;
} halide_core_profile_totals[halide_core_profile_all + 1];

/* Of the whole pipeline: finished runs, and the ticks and nanoseconds that they took, which say how long a tick is. */
static int64_t halide_core_profile_run[3];

struct halide_core_profile_clock {
    int64_t ticks[halide_core_profile_all], visits[halide_core_profile_all];
    int64_t since, first, first_ns;
    struct halide_core_profile_clock *outer; /* the one that this thread's time belonged to until now */
    int at;
};

static _Thread_local struct halide_core_profile_clock *halide_core_profile_current;

static inline int64_t halide_core_profile_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t halide_core_profile_ticks(void) {
#if defined(__x86_64__)
    return (int64_t)__builtin_ia32_rdtsc();
#else
    return halide_core_profile_ns();
#endif
}

static inline void halide_core_profile_start(struct halide_core_profile_clock *c, int at) {
    memset(c, 0, sizeof *c);
    c->at = at;
    c->visits[at] = 1;
    c->outer = halide_core_profile_current;
    halide_core_profile_current = c;
    c->first_ns = halide_core_profile_ns();
    c->since = c->first = halide_core_profile_ticks();
}

static inline void halide_core_profile_at(struct halide_core_profile_clock *c, int at) {
    const int64_t now = halide_core_profile_ticks();
    c->ticks[c->at] += now - c->since;
    c->since = now;
    c->at = at;
    ++c->visits[at];
}

/* However the function ends. Its time is not that of the clock around it, too. */
static inline void halide_core_profile_leave(struct halide_core_profile_clock *c) {
    halide_core_profile_current = c->outer;
    if (c->outer) {
        c->outer->since += halide_core_profile_ticks() - c->first;
    }
}

static void halide_core_profile_stop(struct halide_core_profile_clock *c, int whole) {
    halide_core_profile_at(c, 0);
    for (int i = 0; i < halide_core_profile_all; ++i) {
        __atomic_fetch_add(&halide_core_profile_totals[i].ticks, c->ticks[i], __ATOMIC_RELAXED);
        __atomic_fetch_add(&halide_core_profile_totals[i].visits, c->visits[i], __ATOMIC_RELAXED);
    }
    if (whole) {
        __atomic_fetch_add(&halide_core_profile_run[0], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&halide_core_profile_run[1], c->since - c->first, __ATOMIC_RELAXED);
        __atomic_fetch_add(&halide_core_profile_run[2], halide_core_profile_ns() - c->first_ns, __ATOMIC_RELAXED);
    }
}

static inline void halide_core_profile_peak(struct halide_core_profile_count *c, int64_t bytes) {
    const int64_t live = __atomic_add_fetch(&c->live, bytes, __ATOMIC_RELAXED);
    int64_t peak = __atomic_load_n(&c->peak, __ATOMIC_RELAXED);
    while (live > peak && !__atomic_compare_exchange_n(&c->peak, &peak, live, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(&c->allocations, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&c->total, bytes, __ATOMIC_RELAXED);
}

static inline void __attribute__((unused)) halide_core_profile_allocated(int func, int64_t bytes) {
    halide_core_profile_peak(&halide_core_profile_totals[func], bytes);
    halide_core_profile_peak(&halide_core_profile_totals[halide_core_profile_all], bytes);
}

static inline void __attribute__((unused)) halide_core_profile_freed(int func, int64_t bytes) {
    __atomic_fetch_sub(&halide_core_profile_totals[func].live, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&halide_core_profile_totals[halide_core_profile_all].live, bytes, __ATOMIC_RELAXED);
}

/* Reads a count, and sets it to what it starts anew from. */
static inline int64_t halide_core_profile_word(int64_t *count, int anew, int64_t from) {
    return anew ? __atomic_exchange_n(count, from, __ATOMIC_RELAXED) : __atomic_load_n(count, __ATOMIC_RELAXED);
}

/* Writes the runs, their ticks and nanoseconds; then of each Func, and of all memory together, the ticks, visits,
 * allocations, the peak of bytes, the bytes of arrays on the stack, the bytes live, and the bytes that were ever
 * allocated. Then everything but the live bytes starts anew, if asked for. */
static void halide_core_profile_read(int64_t *to, int anew) {
    for (int i = 0; i < 3; ++i) {
        *to++ = halide_core_profile_word(&halide_core_profile_run[i], anew, 0);
    }
    for (int i = 0; i <= halide_core_profile_all; ++i) {
        struct halide_core_profile_count *const c = &halide_core_profile_totals[i];
        const int64_t live = __atomic_load_n(&c->live, __ATOMIC_RELAXED);
        *to++ = halide_core_profile_word(&c->ticks, anew, 0);
        *to++ = halide_core_profile_word(&c->visits, anew, 0);
        *to++ = halide_core_profile_word(&c->allocations, anew, 0);
        *to++ = halide_core_profile_word(&c->peak, anew, live);
        *to++ = i < halide_core_profile_all ? halide_core_profile_stack[i] : 0;
        *to++ = live;
        *to++ = halide_core_profile_word(&c->total, anew, 0);
    }
}
