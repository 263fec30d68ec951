/* Threads of producers: halide_core_fork and its semaphores (halide_runtime.h).
 *
 * A fork has a thread of its own for its producer: one that has ended another fork and waits for work, or a new one. So
 * no fork waits for the workers of the pool (pool.c), however few there are, and none of these waits for a fork's other
 * side; whoever proves that two sides of a fork never wait for ever needs to look at nothing else.
 *
 * One mutex a fork guards its semaphores and its end. If a side fails, the other one's waits fail, and it ends.
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

extern _Thread_local const volatile int *halide_core_halting_here; /* of runs.c */

struct halide_core_fork {
    halide_core_task producer;
    void *closure;
    struct halide_core_fork *around; /* whose side forks; NULL if none does */
    const volatile int *halting;     /* of the thread that forks */
    void *context;                   /* the caller's */
    struct halide_core_trace_scope *traced; /* likewise */
    unsigned generation;         /* of the process that forks */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Guarded by the mutex. */
    int waiting;
    bool ended; /* the producer */
    int result; /* of the side that failed first, and its message */
    char message[HALIDE_CORE_MESSAGE_SIZE];
};

/* A thread that runs producers, one after another. Guarded by the mutex of them all. */
typedef struct companion {
    pthread_t thread;
    pthread_cond_t wake;
    struct halide_core_fork *work;
    bool ending;
    struct companion *next;
} companion;

static struct {
    pthread_mutex_t mutex;
    companion *idle;
    atomic_uint generation; /* counts forks of the process */
} companions = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The fork whose side this thread runs. */
static _Thread_local struct halide_core_fork *current_fork;

static pthread_once_t companions_ready = PTHREAD_ONCE_INIT;

static void lock_companions(void) {
    pthread_mutex_lock(&companions.mutex);
}

static void unlock_companions(void) {
    pthread_mutex_unlock(&companions.mutex);
}

#ifdef HALIDE_CORE_POSIX
/* The child of a fork has this thread only. */
static void forget_companions(void) {
    companions.idle = NULL;
    atomic_fetch_add_explicit(&companions.generation, 1, memory_order_relaxed);
    unlock_companions();
}
#endif

static void prepare_companions(void) {
#ifdef HALIDE_CORE_POSIX
    pthread_atfork(lock_companions, unlock_companions, forget_companions);
#endif
}

/* ---- one fork ---------------------------------------------------------------------------------------------------- */

static bool is_lost(const struct halide_core_fork *f) {
    return f->generation != atomic_load_explicit(&companions.generation, memory_order_relaxed);
}

/* A side failed: its fork ends with that, and so does each fork around it, whose sides the other one may wait for. */
static void fork_failed(struct halide_core_fork *f, int result) {
    for (; f != NULL && !is_lost(f); f = f->around) {
        pthread_mutex_lock(&f->mutex);
        if (f->result == 0) {
            f->result = result;
            strcpy(f->message, halide_core_last_error()); /* of this thread, where the side just failed */
        }
        pthread_cond_broadcast(&f->changed);
        pthread_mutex_unlock(&f->mutex);
    }
}

static void run_producer(struct halide_core_fork *f) {
    const volatile int *const own = halide_core_halting_here;
    void *const own_context = halide_core_swap_user_context(f->context);
    struct halide_core_trace_scope *const own_traced = halide_core_swap_trace_scope(f->traced);
    halide_core_halting_here = f->halting;
    current_fork = f;
    halide_core_clear_error();
    const int result = *halide_core_halting() ? halide_core_halt() : f->producer(f->closure, 0);
    if (result != 0) {
        fork_failed(f, result);
    }
    current_fork = NULL;
    halide_core_halting_here = own;
    halide_core_leave_trace_scope(&f->traced);
    (void)halide_core_swap_trace_scope(own_traced);
    (void)halide_core_swap_user_context(own_context);
}

HALIDE_CORE_WEAK int halide_core_semaphore_acquire(struct halide_core_semaphore *s) {
    struct halide_core_fork *const f = s->fork;
    if (is_lost(f)) {
        return halide_core_error(halide_core_error_forked_inside_task,
                                 "the process was forked by a side of a fork, and the child goes on without the other");
    }
    pthread_mutex_lock(&f->mutex);
    while (s->count == 0 && f->result == 0) {
        ++f->waiting;
        pthread_cond_wait(&f->changed, &f->mutex);
        --f->waiting;
    }
    const int result = f->result;
    if (result == 0) {
        --s->count;
    } else {
        halide_core_set_last_error(f->message);
    }
    pthread_mutex_unlock(&f->mutex);
    return result;
}

HALIDE_CORE_WEAK void halide_core_semaphore_release(struct halide_core_semaphore *s) {
    struct halide_core_fork *const f = s->fork;
    if (is_lost(f)) {
        return; /* the next acquire says so */
    }
    pthread_mutex_lock(&f->mutex);
    ++s->count;
    if (f->waiting > 0) {
        pthread_cond_broadcast(&f->changed);
    }
    pthread_mutex_unlock(&f->mutex);
}

/* ---- the threads ------------------------------------------------------------------------------------------------- */

static void *run_companion(void *argument) {
    companion *const c = argument;
    lock_companions();
    for (;;) {
        while (c->work == NULL && !c->ending) {
            pthread_cond_wait(&c->wake, &companions.mutex);
        }
        if (c->work == NULL) {
            break;
        }
        struct halide_core_fork *const f = c->work;
        c->work = NULL;
        unlock_companions();
        run_producer(f);
        lock_companions();
        c->next = companions.idle;
        companions.idle = c;
        unlock_companions();
        pthread_mutex_lock(&f->mutex);
        f->ended = true;
        pthread_cond_broadcast(&f->changed);
        pthread_mutex_unlock(&f->mutex); /* the fork may be gone from here on */
        lock_companions();
    }
    unlock_companions();
    return NULL;
}

static companion *new_companion(struct halide_core_fork *f) {
    companion *const c = calloc(1, sizeof *c);
    if (c == NULL) {
        return NULL;
    }
    pthread_cond_init(&c->wake, NULL);
    c->work = f;
    if (!halide_core_start_thread(&c->thread, run_companion, c)) {
        pthread_cond_destroy(&c->wake);
        free(c);
        return NULL;
    }
    return c;
}

/* Hands the producer to a thread; false where the system grants none. */
static bool start_producer(struct halide_core_fork *f) {
    lock_companions();
    f->generation = atomic_load_explicit(&companions.generation, memory_order_relaxed);
    companion *const c = companions.idle;
    if (c != NULL) {
        companions.idle = c->next;
        c->work = f;
        pthread_cond_signal(&c->wake);
    }
    unlock_companions();
    return c != NULL || new_companion(f) != NULL;
}

HALIDE_CORE_WEAK int halide_core_fork(halide_core_task producer, halide_core_task consumer, void *closure,
                                      struct halide_core_semaphore *semaphores, int count) {
    pthread_once(&companions_ready, prepare_companions);
    struct halide_core_fork f;
    f.producer = producer;
    f.closure = closure;
    f.around = current_fork;
    f.halting = halide_core_halting();
    f.context = halide_core_user_context();
    f.traced = halide_core_trace_scope();
    f.waiting = f.result = 0;
    f.ended = false;
    for (int i = 0; i < count; ++i) {
        semaphores[i].fork = &f;
    }
    pthread_mutex_init(&f.mutex, NULL);
    pthread_cond_init(&f.changed, NULL);
    if (!start_producer(&f)) {
        pthread_cond_destroy(&f.changed);
        pthread_mutex_destroy(&f.mutex);
        return halide_core_error(halide_core_error_out_of_memory, "the system grants no thread for an asynchronous Func");
    }
    current_fork = &f;
    const int result = consumer(closure, 0);
    current_fork = f.around;
    if (result != 0) {
        fork_failed(&f, result);
    }
    if (is_lost(&f)) { /* in the child of a fork of this process: nobody ends the producer */
        return halide_core_error(halide_core_error_forked_inside_task,
                                 "the process was forked by a side of a fork, and the child goes on without the other");
    }
    pthread_mutex_lock(&f.mutex);
    while (!f.ended) {
        pthread_cond_wait(&f.changed, &f.mutex);
    }
    pthread_mutex_unlock(&f.mutex);
    pthread_cond_destroy(&f.changed);
    pthread_mutex_destroy(&f.mutex);
    if (f.result != 0) {
        halide_core_set_last_error(f.message);
    }
    return f.result;
}

/* Before this code is unmapped (dlclose) its threads must be out of it. */
__attribute__((destructor)) static void end_companions_at_unload(void) {
    lock_companions();
    companion *c = companions.idle;
    companions.idle = NULL;
    for (companion *each = c; each != NULL; each = each->next) {
        each->ending = true;
        pthread_cond_signal(&each->wake);
    }
    unlock_companions();
    while (c != NULL) {
        companion *const next = c->next;
        pthread_join(c->thread, NULL);
        pthread_cond_destroy(&c->wake);
        free(c);
        c = next;
    }
}

#endif /* HALIDE_CORE_HAS_THREADS */
