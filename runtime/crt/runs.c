/* Ending a run early (halide_runtime.h): the flag that loops read, and who sets it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "halide_runtime.h"
#include "platform.h"

#include <stdbool.h>
#include <stddef.h>
#ifdef HALIDE_CORE_HAS_SIGNALS
#include <signal.h>
#endif

/* Weak and not static: a process may hold two copies of this runtime, which must not take each other's handler for that
 * of the program and call it in a circle. They share what the one that came first has. */
struct halide_core_runs {
    volatile int cancelled;     /* by halide_core_cancel */
    volatile int interrupted;   /* that, or SIGINT: of the thread that handles signals */
    volatile int by_interrupts; /* whether SIGINT ends what that thread runs */
#ifdef HALIDE_CORE_HAS_SIGNALS
    struct sigaction before;    /* what SIGINT did before */
#endif
};
extern struct halide_core_runs halide_core_runs;
HALIDE_CORE_WEAK struct halide_core_runs halide_core_runs;

/* Which of them ends what this thread runs; NULL is `cancelled`. */
extern HALIDE_CORE_THREAD_LOCAL const volatile int *halide_core_halting_here;
HALIDE_CORE_WEAK HALIDE_CORE_THREAD_LOCAL const volatile int *halide_core_halting_here;

/* Whether what this thread enters next is a run that was begun. */
extern HALIDE_CORE_THREAD_LOCAL int halide_core_begun_here;
HALIDE_CORE_WEAK HALIDE_CORE_THREAD_LOCAL int halide_core_begun_here;

HALIDE_CORE_WEAK const volatile int *halide_core_halting(void) {
    return halide_core_halting_here != NULL ? halide_core_halting_here : &halide_core_runs.cancelled;
}

HALIDE_CORE_WEAK int halide_core_halt(void) {
    return halide_core_error(halide_core_error_cancelled, "the run was cancelled");
}

HALIDE_CORE_WEAK void halide_core_cancel(int on) {
    halide_core_runs.cancelled = on;
    halide_core_runs.interrupted = on;
}

#ifdef HALIDE_CORE_HAS_SIGNALS
void halide_core_on_interrupt(int signal, siginfo_t *info, void *context);
HALIDE_CORE_WEAK void halide_core_on_interrupt(int signal, siginfo_t *info, void *context) {
    if (halide_core_runs.by_interrupts) {
        halide_core_runs.interrupted = 1;
    }
    if (halide_core_runs.before.sa_flags & SA_SIGINFO) {
        halide_core_runs.before.sa_sigaction(signal, info, context);
    } else {
        halide_core_runs.before.sa_handler(signal);
    }
}

static void watch_interrupts(void) {
    struct sigaction now;
    if (sigaction(SIGINT, NULL, &now) != 0) {
        return;
    }
    const bool informed = (now.sa_flags & SA_SIGINFO) != 0;
    const bool ours = informed && now.sa_sigaction == halide_core_on_interrupt;
    const bool handled = informed || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
    if (!ours && handled) {
        halide_core_runs.before = now;
        now.sa_flags |= SA_SIGINFO;
        now.sa_sigaction = halide_core_on_interrupt;
        (void)sigaction(SIGINT, &now, NULL);
    }
}
#else
static void watch_interrupts(void) {
}
#endif

HALIDE_CORE_WEAK void halide_core_begin_run(int by_interrupt) {
    halide_core_begun_here = 1;
    if (halide_core_halting_here != NULL) {
        return; /* by what a run calls: what ends that one ends both */
    }
    halide_core_runs.interrupted = halide_core_runs.cancelled; /* what came before is not about this run */
    halide_core_runs.by_interrupts = by_interrupt;
    if (by_interrupt) {
        watch_interrupts();
    }
}

HALIDE_CORE_WEAK const volatile int *halide_core_enter_run(void) {
    const volatile int *const around = halide_core_halting_here;
    if (halide_core_begun_here) {
        halide_core_begun_here = 0;
        halide_core_halting_here = &halide_core_runs.interrupted;
    }
    return around;
}

HALIDE_CORE_WEAK int halide_core_leave_run(const volatile int *around, int result) {
    if (around == NULL && halide_core_halting_here != NULL) {
        halide_core_runs.by_interrupts = 0;
    }
    halide_core_halting_here = around;
    return result;
}
