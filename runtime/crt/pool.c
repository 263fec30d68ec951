/* The thread pool behind halide_core_par_for (halide_runtime.h).
 *
 * A parallel loop is a `job` on its caller's stack. Jobs form a LIFO stack; idle workers help with the newest one that
 * has indices left, so inner loops are finished before outer ones are widened. An index is claimed with one atomic add.
 * The caller works on its own job, takes it off the stack once all indices are claimed, and waits until no helper is
 * left inside. While it waits it helps, but only with jobs that its own job started: any other job could hold it up
 * longer than the wait itself and nest without bound on its machine stack.
 *
 * One mutex guards everything but the claims. `epoch` counts the events somebody may wait for. A waiter spins on it for
 * some microseconds and then sleeps; it can't miss an event, as events happen under the mutex.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "halide_runtime.h"
#include "platform.h"
#include "threads.h"

#ifdef HALIDE_CORE_HAS_THREADS

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    max_threads = 512,
    spin_limit = 1000 /* pauses: 10 to 40 microseconds, about what it costs to sleep and be woken */
};

typedef struct job {
    halide_core_task task;
    void *closure;
    int64_t min;
    uint64_t extent;
    const struct job *parent; /* the job whose task started this one */
    const volatile int *halting; /* of the thread that started it */
    void *context;               /* the caller's */
    struct halide_core_trace_scope *traced; /* likewise */
    unsigned generation;      /* of the process that started it */

    /* Guarded by the mutex. */
    struct job *below;
    int helpers; /* threads inside the job other than its caller */
    int result;  /* of the first task that failed, and its message */
    char message[HALIDE_CORE_MESSAGE_SIZE];

    /* The next index to claim, from 0; on a cache line of its own, as every thread writes it. Unsigned: each thread
     * overshoots `extent` by one. */
    _Alignas(64) atomic_uint_fast64_t next;
} job;

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t work;    /* for workers: a job was pushed */
    pthread_cond_t callers; /* for waiting callers: a helper left or a job was pushed; also the end of a shutdown */
    pthread_cond_t resized; /* for workers that the current number of threads has no use for */
    job *top;
    int workers_asleep, callers_asleep;
    int started; /* workers; they have the numbers 0 ... started - 1 */
    int default_threads;
    unsigned generation; /* counts forks */
    pthread_t workers[max_threads];

    atomic_uint epoch;    /* written under the mutex */
    atomic_int threads;   /* written under the mutex */
    atomic_bool stopping; /* written under the mutex */
} pool = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .callers = PTHREAD_COND_INITIALIZER,
    .resized = PTHREAD_COND_INITIALIZER,
};

static _Atomic(halide_core_par_for_function) custom_par_for;
static pthread_once_t initialised = PTHREAD_ONCE_INIT;

/* The job of the task that this thread is executing. */
static _Thread_local const job *current;

static void lock(void) {
    pthread_mutex_lock(&pool.mutex);
}

static void unlock(void) {
    pthread_mutex_unlock(&pool.mutex);
}

static void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Of runs.c: which flag ends what this thread runs. */
extern _Thread_local const volatile int *halide_core_halting_here;

/* ---- waiting; all of these are called with the mutex held, and return with it held -------------------------------- */

/* Returns after the next event, or now and then without one. */
static void wait_for_event(pthread_cond_t *condition, int *asleep) {
    const unsigned seen = atomic_load_explicit(&pool.epoch, memory_order_relaxed);
    unlock();
    for (int i = 0; i < spin_limit && atomic_load_explicit(&pool.epoch, memory_order_relaxed) == seen; ++i) {
        pause_cpu();
    }
    lock();
    if (atomic_load_explicit(&pool.epoch, memory_order_relaxed) == seen) {
        ++*asleep;
        pthread_cond_wait(condition, &pool.mutex);
        --*asleep;
    }
}

static void wake_callers(void) {
    atomic_fetch_add_explicit(&pool.epoch, 1, memory_order_relaxed);
    if (pool.callers_asleep > 0) {
        pthread_cond_broadcast(&pool.callers);
    }
}

static void wake_workers(uint64_t wanted) {
    if (wanted >= (uint64_t)pool.workers_asleep) {
        if (pool.workers_asleep > 0) {
            pthread_cond_broadcast(&pool.work);
        }
        return;
    }
    for (; wanted > 0; --wanted) {
        pthread_cond_signal(&pool.work);
    }
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

static void record_failure(job *j, int result) {
    lock();
    if (j->result == 0) {
        j->result = result;
        strcpy(j->message, halide_core_last_error()); /* of this thread, where the task just failed */
    }
    atomic_store_explicit(&j->next, j->extent, memory_order_relaxed); /* nothing new starts */
    unlock();
}

/* Executes indices until none is left; a helper also stops when the pool does. */
static void run_tasks(job *j, bool helping) {
    const job *const outer = current;
    const volatile int *const own = halide_core_halting_here;
    void *const own_context = halide_core_swap_user_context(j->context);
    struct halide_core_trace_scope *const own_traced = halide_core_swap_trace_scope(j->traced);
    current = j;
    halide_core_halting_here = j->halting;
    while (!(helping && atomic_load_explicit(&pool.stopping, memory_order_relaxed))) {
        const uint64_t index = atomic_fetch_add_explicit(&j->next, 1, memory_order_relaxed);
        if (index >= j->extent) {
            break;
        }
        const int result =
            *halide_core_halting() ? halide_core_halt() : j->task(j->closure, (int64_t)((uint64_t)j->min + index));
        if (result != 0) {
            halide_core_leave_trace_scope(&j->traced);
            record_failure(j, result);
        }
    }
    current = outer;
    halide_core_halting_here = own;
    (void)halide_core_swap_trace_scope(own_traced);
    (void)halide_core_swap_user_context(own_context);
}

static bool started_by(const job *j, const job *ancestor) {
    for (j = j->parent; j != NULL; j = j->parent) {
        if (j == ancestor) {
            return true;
        }
    }
    return false;
}

/* The newest job with indices left: any, or one that a task of `ancestor` started. Mutex held. */
static job *find_job(const job *ancestor) {
    for (job *j = pool.top; j != NULL; j = j->below) {
        if (atomic_load_explicit(&j->next, memory_order_relaxed) < j->extent &&
            (ancestor == NULL || started_by(j, ancestor))) {
            return j;
        }
    }
    return NULL;
}

/* Mutex held at entry and at return; the job may be gone as soon as it is released then. */
static void help(job *j) {
    ++j->helpers;
    unlock();
    halide_core_clear_error(); /* an old message must not pass for that of a task which fails without one */
    run_tasks(j, true);
    lock();
    if (--j->helpers == 0) {
        wake_callers();
    }
}

/* Takes the job off the stack, wherever it is in there. Mutex held. */
static void pop(job *j) {
    for (job **link = &pool.top; *link != NULL; link = &(*link)->below) {
        if (*link == j) {
            *link = j->below;
            return;
        }
    }
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

static int workers_wanted(void) {
    return atomic_load_explicit(&pool.threads, memory_order_relaxed) - 1;
}

static void *run_worker(void *argument) {
    const int number = (int)(intptr_t)argument;
    lock();
    while (!atomic_load_explicit(&pool.stopping, memory_order_relaxed)) {
        if (number >= workers_wanted()) {
            pthread_cond_wait(&pool.resized, &pool.mutex);
            continue;
        }
        job *const j = find_job(NULL);
        if (j != NULL) {
            help(j);
        } else {
            wait_for_event(&pool.work, &pool.workers_asleep);
        }
    }
    unlock();
    return NULL;
}

/* Starts the workers that are missing; loops get by with fewer if the system grants no more. Mutex held. */
static void start_workers(void) {
    if (pool.started >= workers_wanted() || atomic_load_explicit(&pool.stopping, memory_order_relaxed)) {
        return;
    }
    while (pool.started < workers_wanted() &&
           halide_core_start_thread(&pool.workers[pool.started], run_worker, (void *)(intptr_t)pool.started)) {
        ++pool.started;
    }
}

#ifdef HALIDE_CORE_POSIX
/* The child of a fork has this thread only: no workers, and nobody else's jobs. */
static void restart_in_child(void) {
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.callers, NULL);
    pthread_cond_init(&pool.resized, NULL);
    pool.top = NULL;
    pool.started = pool.workers_asleep = pool.callers_asleep = 0;
    ++pool.generation;
    atomic_store(&pool.stopping, false);
    unlock();
}
#endif

static long count_processors(void) {
#ifdef _WIN32
    return pthread_num_processors_np();
#else
    return sysconf(_SC_NPROCESSORS_ONLN);
#endif
}

static void initialise(void) {
    const char *const text = getenv("HL_NUM_THREADS");
    long threads = text != NULL ? strtol(text, NULL, 10) : 0;
    if (threads <= 0) {
        threads = count_processors();
    }
    pool.default_threads = threads < 1 ? 1 : threads > max_threads ? max_threads : (int)threads;
    atomic_store(&pool.threads, pool.default_threads);
#ifdef HALIDE_CORE_POSIX
    pthread_atfork(lock, unlock, restart_in_child);
#endif
}

/* ---- the public functions ---------------------------------------------------------------------------------------- */

static int finish(const job *j) {
    if (j->result != 0) {
        halide_core_set_last_error(j->message);
    }
    return j->result;
}

HALIDE_CORE_WEAK int halide_core_default_par_for(halide_core_task task, int64_t min, int64_t extent, void *closure) {
    pthread_once(&initialised, initialise);
    if (extent <= 1 || workers_wanted() < 1) {
        int result = 0;
        for (int64_t i = 0; i < extent && result == 0; ++i) {
            result = *halide_core_halting() ? halide_core_halt() : task(closure, (int64_t)((uint64_t)min + (uint64_t)i));
        }
        return result;
    }

    job j;
    j.task = task;
    j.closure = closure;
    j.min = min;
    j.extent = (uint64_t)extent;
    j.parent = current;
    j.halting = halide_core_halting();
    j.context = halide_core_user_context();
    j.traced = halide_core_trace_scope();
    j.helpers = j.result = 0;
    atomic_init(&j.next, 0);

    lock();
    start_workers();
    j.generation = pool.generation;
    j.below = pool.top;
    pool.top = &j;
    wake_callers();
    wake_workers(j.extent - 1);
    unlock();

    run_tasks(&j, false);

    lock();
    pop(&j);
    while (j.helpers > 0 && j.generation == pool.generation) {
        job *const inner = find_job(&j);
        if (inner != NULL) {
            help(inner);
        } else {
            wait_for_event(&pool.callers, &pool.callers_asleep);
        }
    }
    const bool lost_helpers = j.helpers > 0;
    unlock();
    if (lost_helpers) {
        return halide_core_error(halide_core_error_forked_inside_task,
                                 "a task of a parallel loop forked, and the child returned from it: the rest of the "
                                 "loop ran in the parent only");
    }
    return finish(&j);
}

/* A task that keeps the message of a failure, whatever thread a custom par_for runs it on. */
static int run_custom_task(void *closure, int64_t index) {
    job *const j = closure;
    void *const own_context = halide_core_swap_user_context(j->context);
    struct halide_core_trace_scope *const own_traced = halide_core_swap_trace_scope(j->traced);
    const int result = j->task(j->closure, index);
    halide_core_leave_trace_scope(&j->traced);
    (void)halide_core_swap_trace_scope(own_traced);
    (void)halide_core_swap_user_context(own_context);
    if (result != 0) {
        record_failure(j, result);
    }
    return result;
}

HALIDE_CORE_WEAK int halide_core_par_for(int (*task)(void *closure, int64_t index), int64_t min, int64_t extent,
                                         void *closure) {
    if (extent <= 0) {
        return 0;
    }
    const halide_core_par_for_function custom = atomic_load(&custom_par_for);
    if (custom == NULL) {
        return halide_core_default_par_for(task, min, extent, closure);
    }
    job j;
    j.task = task;
    j.closure = closure;
    j.extent = (uint64_t)extent;
    j.context = halide_core_user_context();
    j.traced = halide_core_trace_scope();
    j.result = 0;
    atomic_init(&j.next, 0);
    const int result = custom(run_custom_task, min, extent, &j);
    const int failure = finish(&j);
    return result != 0 ? result : failure;
}

HALIDE_CORE_WEAK void halide_core_set_custom_par_for(halide_core_par_for_function function) {
    atomic_store(&custom_par_for, function);
}

HALIDE_CORE_WEAK int halide_core_get_num_threads(void) {
    pthread_once(&initialised, initialise);
    return atomic_load(&pool.threads);
}

HALIDE_CORE_WEAK int halide_core_set_num_threads(int n) {
    pthread_once(&initialised, initialise);
    lock();
    const int old = atomic_load(&pool.threads);
    atomic_store(&pool.threads, n <= 0 ? pool.default_threads : n > max_threads ? max_threads : n);
    atomic_fetch_add(&pool.epoch, 1);
    pthread_cond_broadcast(&pool.resized);
    pthread_cond_broadcast(&pool.work); /* those too many now go and wait for `resized` */
    unlock();
    return old;
}

HALIDE_CORE_WEAK void halide_core_shutdown_thread_pool(void) {
    if (current != NULL) {
        return; /* a worker may be waiting for the very task that called this */
    }
    pthread_once(&initialised, initialise);
    lock();
    while (atomic_load(&pool.stopping)) { /* another thread is at it */
        pthread_cond_wait(&pool.callers, &pool.mutex);
        if (!atomic_load(&pool.stopping)) {
            unlock();
            return;
        }
    }
    atomic_store(&pool.stopping, true);
    atomic_fetch_add(&pool.epoch, 1);
    pthread_cond_broadcast(&pool.work);
    pthread_cond_broadcast(&pool.resized);
    const int count = pool.started; /* doesn't change while stopping */
    unlock();
    for (int i = 0; i < count; ++i) {
        pthread_join(pool.workers[i], NULL);
    }
    lock();
    pool.started = 0;
    atomic_store(&pool.stopping, false);
    pthread_cond_broadcast(&pool.callers);
    unlock();
}

/* Before this code is unmapped (dlclose) its threads must be out of it. */
__attribute__((destructor)) static void shut_down_at_unload(void) {
    halide_core_shutdown_thread_pool();
}

#endif /* HALIDE_CORE_HAS_THREADS */
