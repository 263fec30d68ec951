/* Locks for points that no instruction updates in one step: a point has the one that its address picks. */

#include <stdint.h>

/* From here on it is emitted. */
static unsigned char halide_core_locks[256];

static inline unsigned char *halide_core_lock(const void *at) {
    unsigned char *const lock = &halide_core_locks[((uint32_t)((uintptr_t)at >> 3) * UINT32_C(2654435761)) >> 24];
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(lock, __ATOMIC_RELAXED)) {
        }
    }
    return lock;
}

static inline void halide_core_unlock(unsigned char *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

