/* Starting the runtime's own threads: those of the pool, and those of asynchronous producers. */
#ifndef HALIDE_CORE_THREADS_H
#define HALIDE_CORE_THREADS_H

#include "platform.h"

#ifdef HALIDE_CORE_HAS_THREADS

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#ifdef HALIDE_CORE_HAS_SIGNALS
#include <signal.h>
#endif

/* False where the system grants no thread. Signals meant for the program (Ctrl-C) must not land on it; those of its own
 * faults must. The default stack is 0.5 MiB on macOS, 0.1 on musl. */
static inline bool halide_core_start_thread(pthread_t *thread, void *(*run)(void *), void *argument) {
    enum { stack_bytes = 8 << 20 };
#ifdef HALIDE_CORE_HAS_SIGNALS
    sigset_t blocked, before;
    sigfillset(&blocked);
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        sigdelset(&blocked, faults[i]);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
#endif
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    const bool started = pthread_create(thread, &attributes, run, argument) == 0;
    pthread_attr_destroy(&attributes);
#ifdef HALIDE_CORE_HAS_SIGNALS
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
    return started;
}

#endif /* HALIDE_CORE_HAS_THREADS */

#endif
