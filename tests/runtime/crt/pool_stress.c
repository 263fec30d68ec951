/* Drives the pool from several threads in every way it allows; meant to be built with -fsanitize=thread.
 * Prints what went wrong and returns 1, or returns 0. */
#include "halide_runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { callers = 3, rounds = 300, outer = 5, inner = 17 };

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: %s\n", __LINE__, #condition); \
            fflush(stdout); \
            _exit(1); \
        } \
    } while (0)

typedef struct grid {
    int cells[outer][inner]; /* not atomic: each is written by one task, and read after the loop */
} grid;

typedef struct row {
    grid *grid;
    int64_t number;
} row;

static int fill_cell(void *closure, int64_t index) {
    row *r = closure;
    r->grid->cells[r->number][index] += 1;
    return 0;
}

static int fill_row(void *closure, int64_t index) {
    row r = {closure, index};
    return halide_core_par_for(fill_cell, 0, inner, &r);
}

static int fail_at_7(void *closure, int64_t index) {
    (void)closure;
    return index == 7 ? halide_core_error(halide_core_error_assertion_failed, "index %d", (int)index) : 0;
}

static int fail_inside(void *closure, int64_t index) {
    return index == 2 ? halide_core_par_for(fail_at_7, 0, 20, closure) : 0;
}

static void *call(void *closure) {
    (void)closure;
    for (int round = 0; round < rounds; ++round) {
        grid g;
        memset(&g, 0, sizeof g);
        CHECK(halide_core_par_for(fill_row, 0, outer, &g) == 0);
        for (int i = 0; i < outer * inner; ++i) {
            CHECK(g.cells[i / inner][i % inner] == 1);
        }
        CHECK(halide_core_par_for(fail_inside, 0, outer, NULL) == halide_core_error_assertion_failed);
        CHECK(strcmp(halide_core_last_error(), "index 7") == 0);
    }
    return NULL;
}

static void *disturb(void *closure) {
    atomic_int *done = closure;
    for (int n = 0; !atomic_load(done); ++n) {
        halide_core_set_num_threads(n % 5);
        if (n % 7 == 0) {
            halide_core_shutdown_thread_pool();
        }
        usleep(300);
    }
    return NULL;
}

int main(void) {
    halide_core_quiet_errors();
    halide_core_set_num_threads(4);
    pthread_t threads[callers], other;
    atomic_int done = 0;
    pthread_create(&other, NULL, disturb, &done);
    for (int i = 0; i < callers; ++i) {
        pthread_create(&threads[i], NULL, call, NULL);
    }
    for (int i = 0; i < callers; ++i) {
        pthread_join(threads[i], NULL);
    }
    atomic_store(&done, 1);
    pthread_join(other, NULL);
    halide_core_set_num_threads(4);
    call(NULL); /* with a quiet pool, so that sleeping and waking are seen as well */
    for (int i = 0; i < 50; ++i) {
        grid g;
        memset(&g, 0, sizeof g);
        usleep(1000);
        CHECK(halide_core_par_for(fill_row, 0, outer, &g) == 0);
    }
    return 0;
}
