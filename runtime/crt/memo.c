/* What pipelines remember of Funcs that are memoized (halide_runtime.h): copies of their memory, by all that it depends on.
 *
 * An entry is one block: the key, and then the memory. The least recently used go when there is no room. Memory is copied
 * in and out under the lock, so an entry may go at any time. The lock is tried for a while and no longer: who doesn't get
 * it computes, and keeps nothing. Who forks the process holds it meanwhile, so that the child has no other thread's.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "halide_runtime.h"
#include "platform.h"

#ifdef HALIDE_CORE_POSIX
#include <pthread.h>
#endif
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { memo_buckets = 1024, memo_tries = 1 << 16 };

struct memo_entry {
    struct memo_entry *next;            /* of its bucket */
    struct memo_entry *newer, *older;   /* by use */
    const void *context;                /* the caller's: each has its own */
    uint64_t hash, group;
    bool evictable;                     /* by ``group`` */
    size_t key_bytes, bytes;            /* ``bytes``: of the memory */
};                                      /* the key follows, then the memory */

static struct memo_entry *memo_table[memo_buckets];
static struct memo_entry *memo_newest, *memo_oldest;
static int64_t memo_used, memo_most = 1 << 20;
static atomic_flag memo_lock = ATOMIC_FLAG_INIT;

static bool memo_try_lock(void) {
    for (int i = 0; i < memo_tries; ++i) {
        if (!atomic_flag_test_and_set_explicit(&memo_lock, memory_order_acquire)) {
            return true;
        }
    }
    return false;
}

static void memo_unlock(void) { atomic_flag_clear_explicit(&memo_lock, memory_order_release); }

/* What a caller asks for is done: it waits. */
static void memo_wait_for_lock(void) {
    while (!memo_try_lock()) {
    }
}

/* Before the first entry is kept: without one there is nothing to be left halfway. */
static void memo_prepare_for_forks(void) {
#ifdef HALIDE_CORE_POSIX
    static atomic_flag prepared = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&prepared)) {
        pthread_atfork(memo_wait_for_lock, memo_unlock, memo_unlock);
    }
#endif
}

static uint64_t memo_hash(const void *key, size_t bytes) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; ++i) {
        hash = (hash ^ ((const uint8_t *)key)[i]) * UINT64_C(0x100000001b3);
    }
    return hash ^ hash >> 32;
}

static uint8_t *memo_key_of(struct memo_entry *e) { return (uint8_t *)(e + 1); }

static uint8_t *memo_memory_of(struct memo_entry *e) { return memo_key_of(e) + e->key_bytes; }

static int64_t memo_size_of(const struct memo_entry *e) { return (int64_t)(sizeof *e + e->key_bytes + e->bytes); }

static void memo_unlink_by_use(struct memo_entry *e) {
    *(e->newer == NULL ? &memo_newest : &e->newer->older) = e->older;
    *(e->older == NULL ? &memo_oldest : &e->older->newer) = e->newer;
}

static void memo_use(struct memo_entry *e) {
    e->newer = NULL;
    e->older = memo_newest;
    *(memo_newest == NULL ? &memo_oldest : &memo_newest->newer) = e;
    memo_newest = e;
}

static void memo_drop(struct memo_entry *e) {
    struct memo_entry **at = &memo_table[e->hash % memo_buckets];
    while (*at != e) {
        at = &(*at)->next;
    }
    *at = e->next;
    memo_unlink_by_use(e);
    memo_used -= memo_size_of(e);
    free(e);
}

static struct memo_entry *memo_find(uint64_t hash, const void *key, size_t key_bytes, size_t bytes) {
    struct memo_entry *e = memo_table[hash % memo_buckets];
    const void *const context = halide_core_user_context();
    while (e != NULL && !(e->context == context && e->hash == hash && e->key_bytes == key_bytes && e->bytes == bytes &&
                          memcmp(memo_key_of(e), key, key_bytes) == 0)) {
        e = e->next;
    }
    return e;
}

static size_t memo_bytes(const struct halide_core_memo_part *parts, int count) {
    size_t total = 0;
    for (int i = 0; i < count; ++i) {
        total += (size_t)parts[i].bytes;
    }
    return total;
}

HALIDE_CORE_WEAK int halide_core_memo_recall(const void *key, int64_t key_bytes,
                                             const struct halide_core_memo_part *parts, int count) {
    const uint64_t hash = memo_hash(key, (size_t)key_bytes);
    if (!memo_try_lock()) {
        return 0;
    }
    struct memo_entry *const e = memo_find(hash, key, (size_t)key_bytes, memo_bytes(parts, count));
    if (e != NULL) {
        const uint8_t *from = memo_memory_of(e);
        for (int i = 0; i < count; ++i) {
            memcpy(parts[i].host, from, (size_t)parts[i].bytes);
            from += parts[i].bytes;
        }
        memo_unlink_by_use(e);
        memo_use(e);
    }
    memo_unlock();
    return e != NULL;
}

HALIDE_CORE_WEAK void halide_core_memo_keep(const void *key, int64_t key_bytes,
                                            const struct halide_core_memo_part *parts, int count, int evictable,
                                            uint64_t group) {
    const uint64_t hash = memo_hash(key, (size_t)key_bytes);
    const size_t bytes = memo_bytes(parts, count);
    memo_prepare_for_forks();
    if (!memo_try_lock()) {
        return;
    }
    const int64_t size = (int64_t)(sizeof(struct memo_entry) + (size_t)key_bytes + bytes);
    if (size <= memo_most && memo_find(hash, key, (size_t)key_bytes, bytes) == NULL) {
        while (memo_used + size > memo_most) {
            memo_drop(memo_oldest);
        }
        struct memo_entry *const e = malloc((size_t)size);
        if (e != NULL) {
            *e = (struct memo_entry){.next = memo_table[hash % memo_buckets],
                                     .context = halide_core_user_context(),
                                     .hash = hash,
                                     .group = group,
                                     .evictable = evictable != 0,
                                     .key_bytes = (size_t)key_bytes,
                                     .bytes = bytes};
            memo_table[hash % memo_buckets] = e;
            memo_use(e);
            memo_used += size;
            memcpy(memo_key_of(e), key, (size_t)key_bytes);
            uint8_t *to = memo_memory_of(e);
            for (int i = 0; i < count; ++i) {
                memcpy(to, parts[i].host, (size_t)parts[i].bytes);
                to += parts[i].bytes;
            }
        }
    }
    memo_unlock();
}

HALIDE_CORE_WEAK void halide_core_memo_set_size(int64_t bytes) {
    memo_wait_for_lock();
    memo_most = bytes > 0 ? bytes : 1 << 20;
    while (memo_used > memo_most) {
        memo_drop(memo_oldest);
    }
    memo_unlock();
}

HALIDE_CORE_WEAK void halide_core_memo_evict(uint64_t group) {
    memo_wait_for_lock();
    for (struct memo_entry *e = memo_newest; e != NULL;) {
        struct memo_entry *const older = e->older;
        if (e->evictable && e->group == group) {
            memo_drop(e);
        }
        e = older;
    }
    memo_unlock();
}

HALIDE_CORE_WEAK void halide_core_memo_cleanup(void) {
    memo_wait_for_lock();
    while (memo_oldest != NULL) {
        memo_drop(memo_oldest);
    }
    memo_unlock();
}
