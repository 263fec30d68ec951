/* Runs one pipeline as a program of its own: what executable.py links each drawn pipeline with.
 *
 * In: "arguments", numbers as text: how many arguments; for each its kind (0 scalar, 1 input, 2 output), the bytes of an
 * element, its type's code and bits, its dimensions, and min and extent of each. "<i>.raw": the bytes of scalar or input i.
 * Out: "<i>.raw" for each output i, and "regions": min and extent of each dimension of each. Exit status 3 and the message
 * on stdout where the pipeline refuses to run. All memory is as large as it must be and no larger, for the sanitizer.
 */
#include "halide_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, DIMS = 8, ROUNDS = 64 };
enum { SCALAR, INPUT, OUTPUT };

int halide_core_entry(void **arguments);

static struct {
    int kind, bytes;
    halide_buffer_t buffer;
    halide_dimension_t dim[DIMS], window[DIMS];
    void *data;
} argument[MOST];
static void *pointers[MOST];
static int count;

static int number(FILE *from) {
    int n;
    if (fscanf(from, "%d", &n) != 1) exit(100);
    return n;
}

static FILE *raw(int i, const char *mode) {
    char name[32];
    snprintf(name, sizeof name, "%d.raw", i);
    FILE *file = fopen(name, mode);
    if (!file) exit(101);
    return file;
}

static size_t strides(int i) {
    size_t size = 1;
    for (int d = 0; d < argument[i].buffer.dimensions; d++) {
        argument[i].dim[d].stride = (int32_t)size;
        size *= (size_t)argument[i].dim[d].extent;
    }
    return size * (size_t)argument[i].bytes;
}

static void load(int i, size_t size) {
    FILE *from = raw(i, "rb");
    argument[i].data = malloc(size);
    if (size && fread(argument[i].data, 1, size, from) != size) exit(102);
    fclose(from);
}

static void read_argument(FILE *from, int i) {
    argument[i].kind = number(from);
    argument[i].bytes = number(from);
    halide_buffer_t *b = &argument[i].buffer;
    b->type.code = (uint8_t)number(from);
    b->type.bits = (uint8_t)number(from);
    b->type.lanes = 1;
    b->dimensions = number(from);
    b->dim = argument[i].dim;
    for (int d = 0; d < b->dimensions; d++) {
        argument[i].dim[d].min = number(from);
        argument[i].dim[d].extent = number(from);
        argument[i].window[d] = argument[i].dim[d];
    }
    const size_t size = strides(i);
    if (argument[i].kind != OUTPUT) load(i, size);
    b->host = argument[i].kind == INPUT ? argument[i].data : NULL;
    pointers[i] = argument[i].kind == SCALAR ? argument[i].data : b;
}

static void call(void) {
    if (halide_core_entry(pointers)) {
        puts(halide_core_last_error());
        exit(3);
    }
}

/* One round of the bounds query: whether an output needs more than it has. Regions become the hull of both. */
static int grown(void) {
    int changed = 0;
    halide_dimension_t had[MOST][DIMS];
    for (int i = 0; i < count; i++) memcpy(had[i], argument[i].dim, sizeof had[i]);
    call();
    for (int i = 0; i < count; i++) {
        if (argument[i].kind != OUTPUT) continue;
        for (int d = 0; d < argument[i].buffer.dimensions; d++) {
            halide_dimension_t *now = &argument[i].dim[d], before = had[i][d];
            const int low = now->min < before.min ? now->min : before.min;
            const int end = now->min + now->extent, was = before.min + before.extent;
            now->min = low;
            now->extent = (end > was ? end : was) - low;
            changed |= low != before.min || now->extent != before.extent;
        }
        strides(i);
    }
    return changed;
}

int main(void) {
    FILE *from = fopen("arguments", "r");
    if (!from) return 103;
    count = number(from);
    for (int i = 0; i < count; i++) read_argument(from, i);
    fclose(from);
    halide_core_quiet_errors();
    halide_core_set_num_threads(2);
    for (int round = 0; grown(); round++)
        if (round == ROUNDS) return puts("The regions that the outputs need keep growing."), 3;
    FILE *regions = fopen("regions", "w");
    for (int i = 0; i < count; i++)
        if (argument[i].kind == OUTPUT) argument[i].buffer.host = argument[i].data = malloc(strides(i));
    call();
    for (int i = 0; i < count; i++) {
        if (argument[i].kind == OUTPUT) {
            FILE *to = raw(i, "wb");
            fwrite(argument[i].data, 1, strides(i), to);
            fclose(to);
            for (int d = 0; d < argument[i].buffer.dimensions; d++)
                fprintf(regions, "%d %d\n", argument[i].dim[d].min, argument[i].dim[d].extent);
        }
        free(argument[i].data);
    }
    fclose(regions);
    return 0;
}
