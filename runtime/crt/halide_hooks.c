/* The hooks of Halide's own runtime, by its names and types, on this one (halide_runtime.h): a program that was written for
 * Halide's libraries links these. They have an object of their own, which is linked where a program calls one of them and
 * has no other. Beside Halide's runtime they serve both where they come first in the link, and else are left out. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "halide_runtime.h"
#include "platform.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define WEAK HALIDE_CORE_WEAK

/* NULL stands for what this runtime does. */
static _Atomic(halide_error_handler_t) error_hook;
static _Atomic(halide_print_t) print_hook;
static _Atomic(halide_trace_t) trace_hook;
static _Atomic(halide_malloc_t) malloc_hook;
static _Atomic(halide_free_t) free_hook, last_free_hook;
static _Atomic(halide_do_par_for_t) par_for_hook;
static _Atomic(halide_do_task_t) task_hook;

/* ---- errors and printing ----------------------------------------------------------------------------------------- */

static void pass_error(int code, const char *message) {
    (void)code;
    const halide_error_handler_t hook = atomic_load(&error_hook);
    if (hook != NULL) {
        hook(halide_core_user_context(), message);
    }
}

static void default_error(void *context, const char *message) {
    (void)context;
    fprintf(stderr, "halide_core: %s\n", message);
}

WEAK halide_error_handler_t halide_set_error_handler(halide_error_handler_t handler) {
    const halide_error_handler_t before = atomic_exchange(&error_hook, handler);
    (void)halide_core_set_error_handler(handler == NULL ? NULL : pass_error);
    return before == NULL ? default_error : before;
}

WEAK void halide_error(void *context, const char *message) {
    void *const around = halide_core_swap_user_context(context);
    (void)halide_core_error(halide_core_error_assertion_failed, "%s", message);
    (void)halide_core_swap_user_context(around);
}

/* Halide's lines end in a newline. */
static void pass_line(const char *line) {
    const halide_print_t hook = atomic_load(&print_hook);
    char text[HALIDE_CORE_MESSAGE_SIZE + 1];
    const size_t length = strnlen(line, HALIDE_CORE_MESSAGE_SIZE - 1);
    memcpy(text, line, length);
    text[length] = '\n';
    text[length + 1] = 0;
    if (hook != NULL) {
        hook(halide_core_user_context(), text);
    }
}

static void default_print(void *context, const char *text) {
    (void)context;
    fputs(text, stdout);
}

WEAK halide_print_t halide_set_custom_print(halide_print_t print) {
    const halide_print_t before = atomic_exchange(&print_hook, print);
    (void)halide_core_set_print_handler(print == NULL ? NULL : pass_line);
    return before == NULL ? default_print : before;
}

WEAK void halide_print(void *context, const char *text) {
    const halide_print_t hook = atomic_load(&print_hook);
    (hook == NULL ? default_print : hook)(context, text);
}

/* ---- traces ------------------------------------------------------------------------------------------------------ */

static int32_t pass_event(const struct halide_trace_event_t *event) {
    const halide_trace_t hook = atomic_load(&trace_hook);
    return hook == NULL ? halide_core_default_trace(event) : hook(halide_core_user_context(), event);
}

WEAK int32_t halide_default_trace(void *context, const struct halide_trace_event_t *event) {
    void *const around = halide_core_swap_user_context(context);
    const int32_t id = halide_core_default_trace(event);
    (void)halide_core_swap_user_context(around);
    return id;
}

WEAK halide_trace_t halide_set_custom_trace(halide_trace_t trace) {
    const halide_trace_t before = atomic_exchange(&trace_hook, trace == halide_default_trace ? NULL : trace);
    (void)halide_core_set_trace_handler(atomic_load(&trace_hook) == NULL ? NULL : pass_event);
    return before == NULL ? halide_default_trace : before;
}

WEAK int32_t halide_trace(void *context, const struct halide_trace_event_t *event) {
    const halide_trace_t hook = atomic_load(&trace_hook);
    return (hook == NULL ? halide_default_trace : hook)(context, event);
}

WEAK void halide_set_trace_file(int fd) {
    halide_core_set_trace_file(fd);
}

WEAK int halide_get_trace_file(void *context) {
    (void)context;
    return halide_core_trace_file();
}

WEAK int halide_shutdown_trace(void) {
    return halide_core_shutdown_trace();
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void *pass_allocate(size_t bytes) {
    const halide_malloc_t hook = atomic_load(&malloc_hook);
    return hook == NULL ? NULL : hook(halide_core_user_context(), bytes);
}

static void pass_release(void *pointer) {
    halide_free_t hook = atomic_load(&free_hook);
    if (hook == NULL) { /* of a block from before the default was set again */
        hook = atomic_load(&last_free_hook);
    }
    if (hook != NULL) {
        hook(halide_core_user_context(), pointer);
    }
}

WEAK void *halide_default_malloc(void *context, size_t bytes) {
    (void)context;
    return halide_core_default_malloc((int64_t)bytes);
}

WEAK void halide_default_free(void *context, void *pointer) {
    (void)context;
    halide_core_default_free(pointer);
}

/* Both are taken together: a block goes back to where it came from. */
static void use_memory(void) {
    const int custom = atomic_load(&malloc_hook) != NULL && atomic_load(&free_hook) != NULL;
    halide_core_set_custom_memory(custom ? pass_allocate : NULL, custom ? pass_release : NULL);
}

WEAK halide_malloc_t halide_set_custom_malloc(halide_malloc_t allocate) {
    const halide_malloc_t before =
        atomic_exchange(&malloc_hook, allocate == halide_default_malloc ? NULL : allocate);
    use_memory();
    return before == NULL ? halide_default_malloc : before;
}

WEAK halide_free_t halide_set_custom_free(halide_free_t release) {
    const halide_free_t before = atomic_exchange(&free_hook, release == halide_default_free ? NULL : release);
    if (before != NULL) {
        atomic_store(&last_free_hook, before);
    }
    use_memory();
    return before == NULL ? halide_default_free : before;
}

WEAK void *halide_malloc(void *context, size_t bytes) {
    void *const around = halide_core_swap_user_context(context);
    void *const pointer = halide_core_malloc((int64_t)bytes);
    (void)halide_core_swap_user_context(around);
    return pointer;
}

WEAK void halide_free(void *context, void *pointer) {
    void *const around = halide_core_swap_user_context(context);
    halide_core_free(pointer);
    (void)halide_core_swap_user_context(around);
}

/* ---- parallel loops ---------------------------------------------------------------------------------------------- */

WEAK int halide_default_do_task(void *context, halide_task_t task, int index, uint8_t *closure) {
    return task(context, index, closure);
}

WEAK int halide_do_task(void *context, halide_task_t task, int index, uint8_t *closure) {
    const halide_do_task_t hook = atomic_load(&task_hook);
    return (hook == NULL ? halide_default_do_task : hook)(context, task, index, closure);
}

/* Halide's loop as this runtime's. */
typedef struct loop {
    halide_task_t task;
    uint8_t *closure;
    void *context;
} loop;

static int run_theirs(void *closure, int64_t index) {
    const loop *const l = closure;
    return halide_do_task(l->context, l->task, (int)index, l->closure);
}

WEAK int halide_default_do_par_for(void *context, halide_task_t task, int min, int size, uint8_t *closure) {
    loop l = {task, closure, context};
    void *const around = halide_core_swap_user_context(context);
    const int result = halide_core_default_par_for(run_theirs, min, size, &l);
    (void)halide_core_swap_user_context(around);
    return result;
}

WEAK int halide_do_par_for(void *context, halide_task_t task, int min, int size, uint8_t *closure) {
    const halide_do_par_for_t hook = atomic_load(&par_for_hook);
    return (hook == NULL ? halide_default_do_par_for : hook)(context, task, min, size, closure);
}

/* And this runtime's loop as Halide's, whose indices are ints: a part of it at a time. */
typedef struct part {
    halide_core_task task;
    void *closure;
    int64_t min;
} part;

static int run_ours(void *context, int index, uint8_t *closure) {
    const part *const p = (const void *)closure;
    void *const around = halide_core_swap_user_context(context);
    const int result = p->task(p->closure, p->min + index);
    (void)halide_core_swap_user_context(around);
    return result;
}

static int pass_loop(halide_core_task task, int64_t min, int64_t extent, void *closure) {
    enum { most = 1 << 30 };
    void *const context = halide_core_user_context();
    int result = 0;
    for (int64_t done = 0; done < extent && result == 0; done += most) {
        part p = {task, closure, min + done};
        const int64_t left = extent - done;
        result = halide_do_par_for(context, run_ours, 0, (int)(left < most ? left : most), (uint8_t *)&p);
    }
    return result;
}

static void use_loops(void) {
    const int custom = atomic_load(&par_for_hook) != NULL || atomic_load(&task_hook) != NULL;
    halide_core_set_custom_par_for(custom ? pass_loop : NULL);
}

WEAK halide_do_par_for_t halide_set_custom_do_par_for(halide_do_par_for_t par_for) {
    const halide_do_par_for_t before =
        atomic_exchange(&par_for_hook, par_for == halide_default_do_par_for ? NULL : par_for);
    use_loops();
    return before == NULL ? halide_default_do_par_for : before;
}

WEAK halide_do_task_t halide_set_custom_do_task(halide_do_task_t do_task) {
    const halide_do_task_t before = atomic_exchange(&task_hook, do_task == halide_default_do_task ? NULL : do_task);
    use_loops();
    return before == NULL ? halide_default_do_task : before;
}

WEAK int halide_set_num_threads(int n) {
    if (n < 0) {
        halide_error(halide_core_user_context(), "halide_set_num_threads: must be >= 0.");
        return 0;
    }
    return halide_core_set_num_threads(n);
}

WEAK int halide_get_num_threads(void) {
    return halide_core_get_num_threads();
}

WEAK void halide_shutdown_thread_pool(void) {
    halide_core_shutdown_thread_pool();
}

WEAK void halide_memoization_cache_set_size(int64_t bytes) {
    halide_core_memo_set_size(bytes);
}

WEAK void halide_memoization_cache_evict(void *context, uint64_t eviction_key) {
    (void)context;
    halide_core_memo_evict(eviction_key);
}

WEAK void halide_memoization_cache_cleanup(void) {
    halide_core_memo_cleanup();
}
