/* How fast one core is at most: fused multiply-adds of float32 in registers, and copying.
 *
 * Vectors are as wide as the machine's registers; twelve independent sums hide the latency of the adds. */
#include <stdint.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

typedef float vec __attribute__((vector_size(4 * LANES)));

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Keeps a value in a register and hides it from the compiler, which would otherwise see constants or dead code. */
#if defined(__x86_64__)
#define OPAQUE(x) __asm__ volatile("" : "+v"(x))
#elif defined(__aarch64__)
#define OPAQUE(x) __asm__ volatile("" : "+w"(x))
#else
#define OPAQUE(x) __asm__ volatile("" : "+m"(x))
#endif

/* Operations a second; a fused multiply-add is two. */
double peak_operations(int64_t steps) {
    vec s[12], a = (vec){0} + 0.999999f, b = (vec){0} + 1e-6f;
    for (int i = 0; i < 12; ++i) {
        s[i] = (vec){0} + (float)i;
        OPAQUE(s[i]);
    }
    OPAQUE(a);
    OPAQUE(b);
    const double start = now();
    for (int64_t k = 0; k < steps; ++k) {
#pragma GCC unroll 12
        for (int i = 0; i < 12; ++i) {
            s[i] = s[i] * a + b;
        }
    }
    for (int i = 0; i < 12; ++i) {
        OPAQUE(s[i]);
    }
    return 24.0 * LANES * (double)steps / (now() - start);
}

/* Bytes a second of a copy, those read and those written. */
double peak_bytes(void *restrict to, const void *restrict from, int64_t bytes) {
    const double start = now();
    memcpy(to, from, (size_t)bytes);
    return 2.0 * (double)bytes / (now() - start);
}
