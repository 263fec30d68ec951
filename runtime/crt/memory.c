/* Memory for buffers (halide_runtime.h): from the C library, and large blocks that were freed before.
 *
 * The C library gives large blocks back to the system at once, so the next run of a pipeline gets new memory, which comes
 * page by page, each cleared by the system: that can take longer than the pipeline. Here they are kept, the oldest given
 * back once there are too many. A block's size is what the C library says, so any pointer of its own can be freed here.
 *
 * The lock is tried for a while and no longer: without it memory comes from the C library and goes back there. So nothing
 * waits for a thread that a fork has left behind with the lock.
 *
 * Small blocks each thread keeps a few of: rows that are computed where they are needed are allocated and freed once an
 * iteration, and the C library takes as long for aligned memory as such a row does.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "halide_runtime.h"
#include "platform.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#ifdef HALIDE_CORE_POSIX
#include <sys/mman.h>
#endif
#if defined(_WIN32) || defined(__NEWLIB__)
#include <malloc.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HALIDE_CORE_WATCHED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define HALIDE_CORE_WATCHED
#endif

#if defined(__GLIBC__) && !defined(HALIDE_CORE_WATCHED) /* that would not see the use of what was freed */
#include <malloc.h>
#define HALIDE_CORE_KEEPS
#endif

/* Two cache lines: the unit that adjacent-line prefetchers move, and twice the widest vector. */
enum { alignment = 128, slack = 128 };

#ifdef MADV_HUGEPAGE
/* Bytes. The first use of a block of this size goes page by page: from a system that has huge pages in 512 times as few
   steps, each of which takes a microsecond and more. */
enum { huge_page = 2 << 20, large = 32 << 20 };
#endif

static void *allocate_block(size_t size) {
#ifdef HALIDE_CORE_POSIX
    void *pointer;
#endif
#ifdef MADV_HUGEPAGE
    if (size >= large) {
        if (posix_memalign(&pointer, huge_page, size) != 0) {
            return NULL;
        }
        (void)madvise(pointer, size / huge_page * huge_page, MADV_HUGEPAGE); /* refused, it is as right, and slower */
        return pointer;
    }
#endif
#if defined(HALIDE_CORE_POSIX)
    return posix_memalign(&pointer, alignment, size) == 0 ? pointer : NULL;
#elif defined(_WIN32)
    return _aligned_malloc(size, alignment);
#elif defined(__NEWLIB__) /* where aligned_alloc is declared, and calls what is not there */
    return memalign(alignment, size);
#else
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
#endif
}

static void free_block(void *pointer) {
#ifdef _WIN32
    _aligned_free(pointer);
#else
    free(pointer);
#endif
}

#ifdef HALIDE_CORE_KEEPS
enum {
    least_kept = 64 << 10, /* bytes; what is smaller its thread keeps */
    cached = 4 << 20,      /* of a block up to here much may still be in a cache */
    most_bytes = 256 << 20,
    most_blocks = 64,
    most_near = 16, /* small blocks of a thread */
    tries = 1000
};

typedef struct block {
    void *pointer;
    size_t size;
    const void *owner; /* a place of the thread that used it last */
} block;

static struct {
    atomic_flag locked;
    int count;
    size_t bytes;
    block blocks[most_blocks]; /* the oldest first */
} kept = {.locked = ATOMIC_FLAG_INIT};

static bool lock_kept(void) {
    for (int i = 0; i < tries; ++i) {
        if (!atomic_flag_test_and_set_explicit(&kept.locked, memory_order_acquire)) {
            return true;
        }
    }
    return false;
}

static void unlock_kept(void) {
    atomic_flag_clear_explicit(&kept.locked, memory_order_release);
}

/* Under the lock. */
static block remove_block(int number) {
    const block removed = kept.blocks[number];
    kept.count -= 1;
    kept.bytes -= removed.size;
    memmove(&kept.blocks[number], &kept.blocks[number + 1], (size_t)(kept.count - number) * sizeof removed);
    return removed;
}

static _Thread_local char here;

/* Under the lock: the block that was used last, by this thread if there is one, and is large enough; -1 if it would waste
 * three fourths. A tile may need more or less than the last one did, and finds in its caches what that one used. */
static int last_used(size_t size) {
    int last = -1;
    for (int i = kept.count - 1; i >= 0; --i) {
        if (kept.blocks[i].size >= size && kept.blocks[i].size / 4 < size) {
            if (kept.blocks[i].owner == &here) {
                return i;
            }
            last = last < 0 ? i : last;
        }
    }
    return last;
}

/* Under the lock: the smallest block that is large enough, of several the one used last; -1 if it would waste a fourth. */
static int smallest(size_t size) {
    int best = -1;
    size_t best_size = size + size / 4;
    for (int i = kept.count - 1; i >= 0; --i) {
        if (kept.blocks[i].size >= size && kept.blocks[i].size < best_size) {
            best = i;
            best_size = kept.blocks[i].size;
        }
    }
    return best;
}

/* A block that was kept and is large enough; NULL if there is none. */
static void *take_kept(size_t size) {
    if (!lock_kept()) {
        return NULL;
    }
    const int best = size <= cached ? last_used(size) : smallest(size);
    void *const pointer = best < 0 ? NULL : remove_block(best).pointer;
    unlock_kept();
    return pointer;
}

/* Frees the oldest blocks until there is room for one more of a size. */
static void make_room(size_t size) {
    block removed[most_blocks];
    int count = 0;
    if (lock_kept()) {
        while (kept.count > 0 && (kept.count == most_blocks || kept.bytes + size > most_bytes)) {
            removed[count++] = remove_block(0);
        }
        unlock_kept();
    }
    while (count > 0) {
        free_block(removed[--count].pointer);
    }
}

static bool keep_large(void *pointer, size_t size) {
    if (size > most_bytes) {
        return false;
    }
    make_room(size);
    if (!lock_kept()) {
        return false;
    }
    const bool fits = kept.count < most_blocks && kept.bytes + size <= most_bytes; /* others may have taken the room */
    if (fits) {
        kept.blocks[kept.count++] = (block){pointer, size, &here};
        kept.bytes += size;
    }
    unlock_kept();
    return fits;
}

/* The small blocks of this thread, the oldest first. */
static _Thread_local struct {
    int count;
    bool watched; /* whether they are freed where the thread ends */
    block blocks[most_near];
} near;

static pthread_once_t near_once = PTHREAD_ONCE_INIT;
static pthread_key_t near_key;
static bool near_works;

static void release_near(void *unused) {
    (void)unused;
    while (near.count > 0) {
        free(near.blocks[--near.count].pointer);
    }
    near.watched = false; /* what another destructor frees is watched again */
}

static void prepare_near(void) {
    near_works = pthread_key_create(&near_key, release_near) == 0;
}

static void forget_near(int number) {
    near.count -= 1;
    memmove(&near.blocks[number], &near.blocks[number + 1], (size_t)(near.count - number) * sizeof near.blocks[0]);
}

/* The smallest block of this thread that is large enough; NULL if there is none. */
static void *take_near(size_t size) {
    int best = -1;
    size_t best_size = least_kept;
    for (int i = near.count - 1; i >= 0; --i) {
        if (near.blocks[i].size >= size && near.blocks[i].size < best_size) {
            best = i;
            best_size = near.blocks[i].size;
        }
    }
    if (best < 0) {
        return NULL;
    }
    void *const pointer = near.blocks[best].pointer;
    forget_near(best);
    return pointer;
}

static bool keep_near(void *pointer, size_t size) {
    if (!near.watched) {
        (void)pthread_once(&near_once, prepare_near);
        if (!near_works || pthread_setspecific(near_key, &near) != 0) {
            return false;
        }
        near.watched = true;
    }
    if (near.count == most_near) {
        free(near.blocks[0].pointer);
        forget_near(0);
    }
    near.blocks[near.count++] = (block){pointer, size, &here};
    return true;
}

static void *take(size_t size) {
    return size < least_kept ? take_near(size) : take_kept(size);
}

static bool keep(void *pointer) {
    const size_t size = pointer == NULL ? 0 : malloc_usable_size(pointer);
    return size != 0 && (size < least_kept ? keep_near(pointer, size) : keep_large(pointer, size));
}

static void release_all(void) {
    make_room(most_bytes);
    release_near(NULL);
}

/* At exit, and where a library is unloaded: its code must not be called where a thread ends. */
__attribute__((__destructor__)) static void leave(void) {
    release_all();
    if (near_works) {
        near_works = false;
        (void)pthread_key_delete(near_key);
    }
}
#else
static void *take(size_t size) {
    (void)size;
    return NULL;
}

static bool keep(void *pointer) {
    (void)pointer;
    return false;
}

static void release_all(void) {
}
#endif

/* NULL stands for this file's own. */
static _Atomic(halide_core_allocate_function) custom_allocate;
static _Atomic(halide_core_release_function) custom_release;

HALIDE_CORE_WEAK void halide_core_set_custom_memory(halide_core_allocate_function allocate,
                                                    halide_core_release_function release) {
    atomic_store(&custom_allocate, allocate);
    atomic_store(&custom_release, release);
}

/* A block of a stranger's, which need not be aligned: this stands right before what is used of it. Blocks of strangers
 * that are out are in lists by their addresses, so that each goes back to where it came from whatever is set then. Until
 * there was one, nobody looks. */
typedef struct foreign {
    struct foreign *next;
    void *whole;
    halide_core_release_function release;
} foreign;

enum { foreign_lists = 256 };
static foreign *foreign_blocks[foreign_lists];
static atomic_flag foreign_locked = ATOMIC_FLAG_INIT;
static _Atomic int foreign_since;

static foreign **foreign_list(const void *used) {
    while (atomic_flag_test_and_set_explicit(&foreign_locked, memory_order_acquire)) {
    }
    return &foreign_blocks[(uintptr_t)used / alignment % foreign_lists];
}

static void *take_custom(halide_core_allocate_function allocate, halide_core_release_function release, size_t size) {
    void *const whole = allocate(size + alignment + sizeof(foreign));
    if (whole == NULL) {
        return NULL;
    }
    const uintptr_t first = (uintptr_t)whole + sizeof(foreign);
    void *const used = (void *)((first + alignment - 1) / alignment * alignment);
    foreign *const f = (foreign *)used - 1;
    f->whole = whole;
    f->release = release;
    atomic_store(&foreign_since, 1);
    foreign **const list = foreign_list(used);
    f->next = *list;
    *list = f;
    atomic_flag_clear_explicit(&foreign_locked, memory_order_release);
    return used;
}

/* Gives a stranger's block back; false where it is none. */
static bool release_custom(void *used) {
    foreign *const f = (foreign *)used - 1;
    bool found = false;
    for (foreign **at = foreign_list(used); *at != NULL; at = &(*at)->next) {
        if (*at == f) {
            *at = f->next;
            found = true;
            break;
        }
    }
    atomic_flag_clear_explicit(&foreign_locked, memory_order_release);
    if (found) {
        f->release(f->whole);
    }
    return found;
}

/* 0 where there are no so many. */
static size_t size_of_block(int64_t bytes) {
    const uint64_t most = (uint64_t)PTRDIFF_MAX - slack - alignment - sizeof(foreign);
    return bytes < 0 || (uint64_t)bytes > most ? 0 : (size_t)bytes + slack;
}

HALIDE_CORE_WEAK void *halide_core_default_malloc(int64_t bytes) {
    const size_t size = size_of_block(bytes);
    if (size == 0) {
        return NULL;
    }
    void *pointer = take(size);
    if (pointer == NULL) {
        pointer = allocate_block(size);
    }
    if (pointer == NULL) {
        release_all();
        pointer = allocate_block(size);
    }
    return pointer;
}

HALIDE_CORE_WEAK void halide_core_default_free(void *pointer) {
    if (!keep(pointer)) {
        free_block(pointer);
    }
}

HALIDE_CORE_WEAK void *halide_core_malloc(int64_t bytes) {
    const halide_core_allocate_function allocate = atomic_load(&custom_allocate);
    const halide_core_release_function release = atomic_load(&custom_release);
    if (allocate == NULL || release == NULL) {
        return halide_core_default_malloc(bytes);
    }
    const size_t size = size_of_block(bytes);
    return size == 0 ? NULL : take_custom(allocate, release, size);
}

HALIDE_CORE_WEAK void halide_core_free(void *pointer) {
    if (pointer == NULL || atomic_load(&foreign_since) == 0 || !release_custom(pointer)) {
        halide_core_default_free(pointer);
    }
}

HALIDE_CORE_WEAK void halide_core_release_memory(void) {
    release_all();
}
