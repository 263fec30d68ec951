/* Takes and frees blocks from several threads, which fill them and look at them again; meant to be built with sanitizers.
 * Then, where blocks are kept, looks how much is. Prints what went wrong and returns 1, or returns 0 with blocks kept. */
#include "halide_runtime.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { threads = 4, rounds = 300, held = 3, mebi = 1 << 20 };

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: %s\n", __LINE__, #condition); \
            fflush(stdout); \
            _exit(1); \
        } \
    } while (0)

static atomic_int done;

static void *use(void *closure) {
    const unsigned char mark = *(const unsigned char *)closure;
    unsigned random = mark;
    for (int round = 0; round < rounds; ++round) {
        unsigned char *blocks[held];
        size_t sizes[held];
        for (int i = 0; i < held; ++i) {
            random = random * 1664525u + 1013904223u;
            sizes[i] = 1000u << (random >> 16) % 9;
            blocks[i] = halide_core_malloc((int64_t)sizes[i]);
            CHECK(blocks[i] != NULL && (size_t)blocks[i] % 128 == 0);
            memset(blocks[i], mark, sizes[i] + 128);
        }
        for (int i = 0; i < held; ++i) {
            for (size_t at = 0; at < sizes[i] + 128; at += 61) {
                CHECK(blocks[i][at] == mark);
            }
            halide_core_free(blocks[i]);
        }
    }
    return NULL;
}

static void *release(void *closure) {
    (void)closure;
    while (!atomic_load(&done)) {
        halide_core_release_memory();
        usleep(500);
    }
    return NULL;
}

/* What the C library believes to be in use. */
static size_t used(void) {
    const struct mallinfo2 info = mallinfo2();
    return info.hblkhd + info.uordblks;
}

static void fill_and_release(void) {
    void *blocks[100];
    for (int i = 0; i < 100; ++i) {
        blocks[i] = halide_core_malloc(5 * mebi);
    }
    const size_t before = used();
    for (int i = 0; i < 100; ++i) {
        halide_core_free(blocks[i]);
    }
    CHECK(before - used() >= 240u * mebi); /* of 500, no more than 256 are kept */
    CHECK(before - used() <= 260u * mebi);
    void *const again = halide_core_malloc(5 * mebi);
    CHECK(again == blocks[99]); /* the one that was used last */
    halide_core_free(again);
    void *const smaller = halide_core_malloc(1 * mebi);
    for (int i = 0; i < 100; ++i) {
        CHECK(smaller != blocks[i]); /* four fifths would be wasted */
    }
    halide_core_free(smaller);
    halide_core_release_memory();
    CHECK(before - used() >= 500u * mebi);
    halide_core_free(halide_core_malloc(300 * mebi)); /* more than is kept at all */
    CHECK(before - used() >= 500u * mebi);
}

static void fill_small(void) {
    void *blocks[100];
    halide_core_release_memory();
    const size_t empty = used();
    for (int i = 0; i < 100; ++i) {
        blocks[i] = halide_core_malloc(50 << 10);
    }
    for (int i = 0; i < 100; ++i) {
        halide_core_free(blocks[i]);
    }
    CHECK(used() - empty >= 15u * (50 << 10) && used() - empty <= 17u * (52 << 10));
    halide_core_release_memory();
    CHECK(used() <= empty + (50 << 10)); /* the C library keeps some of what it cut off */
}

int main(int count, char **arguments) {
    (void)arguments;
    const int plain = count > 1;
    unsigned char marks[threads];
    pthread_t users[threads], other;
    for (int i = 0; i < threads; ++i) {
        marks[i] = (unsigned char)(i + 1);
        pthread_create(&users[i], NULL, use, &marks[i]);
    }
    pthread_create(&other, NULL, release, NULL);
    for (int i = 0; plain && i < 20; ++i) { /* the lock may be held by a thread that the child hasn't */
        const pid_t child = fork();
        if (child == 0) {
            use(&marks[0]);
            _exit(0);
        }
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    for (int i = 0; i < threads; ++i) {
        pthread_join(users[i], NULL);
    }
    atomic_store(&done, 1);
    pthread_join(other, NULL);
    if (plain) {
        fill_and_release();
        fill_small();
    }
    halide_core_free(NULL);
    halide_core_free(halide_core_malloc(mebi));
    return 0;
}
