/* Files that show memory to people (halide_runtime.h): what debug_to_file() asks for. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "halide_runtime.h"
#include "platform.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HALIDE_CORE_POSIX
#include <fcntl.h>
#include <unistd.h>
#endif

/* Everything below returns 0, or an errno. */

static int put(FILE *file, const void *bytes, size_t count) {
    return count == 0 || fwrite(bytes, 1, count, file) == count ? 0 : errno ? errno : EIO;
}

static int put_int32s(FILE *file, const int32_t *values, int count) {
    return put(file, values, (size_t)count * sizeof *values);
}

/* Zeros up to the next multiple of 8. */
static int pad(FILE *file, int64_t count) {
    static const char zeros[8];
    return put(file, zeros, (size_t)(-count & 7));
}

/* {'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }, and spaces to a multiple of 64, as numpy writes it. */
static int put_npy_head(FILE *file, const char *type, int dimensions, const int64_t *extents) {
    enum { fixed = 10, digits = 24 };
    const size_t room = 256 + strlen(type) + (size_t)dimensions * digits;
    char *const text = malloc(room);
    if (!text) {
        return ENOMEM;
    }
    size_t used = (size_t)snprintf(text, room, "{'descr': %s, 'fortran_order': False, 'shape': (", type);
    for (int d = dimensions - 1; d >= 0; d--) { /* numpy's last axis is the dense one */
        used += (size_t)snprintf(text + used, room - used, "%lld%s", (long long)extents[d], d || dimensions == 1 ? ", " : "");
    }
    used += (size_t)snprintf(text + used, room - used, "), }");
    const size_t spaces = 63 - (fixed + used) % 64;
    memset(text + used, ' ', spaces);
    text[used + spaces] = '\n';
    used += spaces + 1;
    const unsigned char head[fixed] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(used & 255), (unsigned char)(used >> 8),
    };
    int error = put(file, head, sizeof head);
    error = error ? error : put(file, text, used);
    free(text);
    return error;
}

/* MATLAB 5: 128 bytes of head, then one array: its flags, dimensions (at least two), name and values, each after the
 * number of its type and its size. Sizes have 32 bits. */
static int put_mat_head(FILE *file, const char *name, int number, int dimensions, const int64_t *extents, int64_t bytes) {
    enum { flags = 6, int8 = 1, int32 = 5, matrix = 14, overhead = 16 };
    const int32_t rank = dimensions < 2 ? 2 : dimensions;
    const int64_t letters = (int64_t)strlen(name);
    const int64_t size = overhead + 8 + (rank + 1) / 2 * 8 + 8 + (letters + 7) / 8 * 8 + 8 + (bytes + 7) / 8 * 8;
    if (size > INT32_MAX) {
        return EFBIG;
    }
    char head[128];
    memset(head, ' ', sizeof head);
    static const char text[] = "MATLAB 5.0 MAT-file, written by halide_core";
    memcpy(head, text, sizeof text - 1);
    static const char version[] = {0, 1, 'I', 'M'};
    memcpy(head + 124, version, sizeof version);
    int error = put(file, head, sizeof head);
    const int32_t start[] = {matrix, (int32_t)size, flags, 8, number >> 8, 1, int32, rank * 4};
    error = error ? error : put_int32s(file, start, 8);
    for (int d = 0; d < rank && !error; d++) {
        const int32_t extent = d < dimensions ? (int32_t)extents[d] : 1;
        error = put_int32s(file, &extent, 1);
    }
    error = error ? error : pad(file, rank * 4);
    const int32_t called[] = {int8, (int32_t)letters};
    error = error ? error : put_int32s(file, called, 2);
    error = error ? error : put(file, name, (size_t)letters);
    error = error ? error : pad(file, letters);
    const int32_t values[] = {number & 255, (int32_t)bytes};
    return error ? error : put_int32s(file, values, 2);
}

/* The extents of four dimensions, and the number of the type. */
static int put_tmp_head(FILE *file, int number, int dimensions, const int64_t *extents) {
    int32_t head[5] = {1, 1, 1, 1, number};
    for (int d = 0; d < dimensions; d++) {
        if (extents[d] > INT32_MAX) {
            return EFBIG;
        }
        head[d] = (int32_t)extents[d];
    }
    return put_int32s(file, head, 5);
}

enum { tiff_entries = 15, tiff_head = 8 + 2 + tiff_entries * 12 + 4 + 2 * 8 };

typedef struct tiff {
    unsigned char bytes[tiff_head];
    int used;
} tiff;

/* A little-endian number of 2 or 4 bytes. */
static void tiff_put(tiff *head, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++) {
        head->bytes[head->used++] = (unsigned char)(value >> (8 * i));
    }
}

/* A field: its tag, its type, how many values it has, and the value or where the values are. */
static void tiff_field(tiff *head, uint32_t tag, uint32_t type, int64_t count, int64_t value) {
    tiff_put(head, tag, 2);
    tiff_put(head, type, 2);
    tiff_put(head, (uint32_t)count, 4);
    tiff_put(head, (uint32_t)value, 4);
}

/* TIFF, as Halide writes it: one directory, then the offsets and sizes of the strips where there are several, then the
 * values. A strip is a channel: the third dimension, or the fourth one after depth. Offsets have 32 bits. */
static int put_tiff_head(FILE *file, int format, int dimensions, const int64_t *extents, int bytes, int64_t total) {
    enum { shorts = 3, longs = 4, rationals = 5, table = 4, directory = 8, ratios = tiff_head - 16 };
    const int64_t width = dimensions > 0 ? extents[0] : 1, height = dimensions > 1 ? extents[1] : 1;
    const int64_t depth = dimensions > 3 ? extents[2] : 1;
    const int64_t channels = dimensions > 2 ? extents[dimensions - 1] : 1;
    const bool several = channels != 1;
    const int64_t values = tiff_head + (several ? 2 * table * channels : 0);
    if (width > UINT32_MAX || height > UINT32_MAX || depth > UINT32_MAX || channels > UINT16_MAX ||
        total > UINT32_MAX - values) {
        return EFBIG;
    }
    const int64_t strip = channels ? total / channels : 0;
    tiff head = {{'I', 'I', 42, 0}, 4};
    tiff_put(&head, directory, 4);
    tiff_put(&head, tiff_entries, 2);
    tiff_field(&head, 256, longs, 1, width);
    tiff_field(&head, 257, longs, 1, height);
    tiff_field(&head, 258, shorts, 1, 8 * bytes);
    tiff_field(&head, 259, shorts, 1, 1);                     /* compression: none */
    tiff_field(&head, 262, shorts, 1, channels >= 3 ? 2 : 1); /* red, green and blue, or the least value is black */
    tiff_field(&head, 273, longs, channels, tiff_head);       /* where strips are */
    tiff_field(&head, 277, shorts, 1, channels);
    tiff_field(&head, 278, longs, 1, height); /* of a strip */
    tiff_field(&head, 279, longs, channels, several ? tiff_head + table * channels : strip);
    tiff_field(&head, 282, rationals, 1, ratios);
    tiff_field(&head, 283, rationals, 1, ratios + 8);
    tiff_field(&head, 284, shorts, 1, 2); /* channels one after another */
    tiff_field(&head, 296, shorts, 1, 1); /* resolutions have no unit */
    tiff_field(&head, 339, shorts, 1, format);
    tiff_field(&head, 32997, longs, 1, depth);
    tiff_put(&head, 0, 4); /* no other directory */
    for (int i = 0; i < 4; i++) {
        tiff_put(&head, 1, 4); /* the resolutions are 1/1 */
    }
    int error = put(file, head.bytes, sizeof head.bytes);
    for (int sizes = 0; several && sizes < 2; sizes++) {
        for (int64_t c = 0; c < channels && !error; c++) {
            tiff number = {{0}, 0};
            tiff_put(&number, (uint32_t)(sizes ? strip : values + c * strip), table);
            error = put(file, number.bytes, table);
        }
    }
    return error;
}

/* The elements of the dimensions below `dimensions`, the first one fastest. */
static int put_values(FILE *file, const char *host, int bytes, int dimensions, const int64_t *extents,
                      const int64_t *strides) {
    if (dimensions == 0) {
        return put(file, host, (size_t)bytes);
    }
    const int d = dimensions - 1;
    if (d == 0 && strides[0] == 1) {
        return put(file, host, (size_t)(extents[0] * bytes));
    }
    int error = 0;
    for (int64_t i = 0; i < extents[d] && !error; i++) {
        error = put_values(file, host + i * strides[d] * bytes, bytes, d, extents, strides);
    }
    return error;
}

static int put_all(FILE *file, halide_core_file_format format, const char *text, int number, const char *host, int bytes,
                   int dimensions, const int64_t *sizes) {
    int64_t total = bytes;
    for (int d = 0; d < dimensions; d++) {
        if (__builtin_mul_overflow(total, sizes[d], &total)) {
            return EFBIG;
        }
    }
    int error = EINVAL;
    switch (format) {
    case halide_core_file_npy:
        error = put_npy_head(file, text, dimensions, sizes);
        break;
    case halide_core_file_mat:
        error = put_mat_head(file, text, number, dimensions, sizes, total);
        break;
    case halide_core_file_tmp:
        error = put_tmp_head(file, number, dimensions, sizes);
        break;
    case halide_core_file_tiff:
        error = put_tiff_head(file, number, dimensions, sizes, bytes, total);
        break;
    }
    error = error || total == 0 ? error : put_values(file, host, bytes, dimensions, sizes, sizes + dimensions);
    return !error && format == halide_core_file_mat ? pad(file, total) : error;
}

#ifdef HALIDE_CORE_POSIX
/* Opens a new file; NULL and EEXIST where there is one of that name. */
static FILE *open_new(const char *path) {
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *const file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (descriptor >= 0 && file == NULL) {
        const int error = errno;
        close(descriptor);
        unlink(path);
        errno = error;
    }
    return file;
}

static long process_number(void) {
    return (long)getpid();
}
#else
static FILE *open_new(const char *path) {
    return fopen(path, "wbx");
}

static long process_number(void) {
    return 0;
}
#endif

/* Puts a finished file in the place of another, or of none. */
static int replace(const char *made, const char *path) {
#ifdef _WIN32
    remove(path); /* rename replaces nothing there */
#endif
    return rename(made, path);
}

HALIDE_CORE_WEAK int halide_core_write_file(const char *pipeline, const char *path, int format, const char *text,
                                            int number, const void *host, int bytes, int dimensions,
                                            const int64_t *sizes) {
    /* Under a name that no other thread or process has, so that what appears under the right one is whole. */
    static atomic_uint count;
    char *const made = malloc(strlen(path) + 48);
    int error = made ? 0 : ENOMEM;
    FILE *file = NULL;
    while (made && !file && !error) {
        sprintf(made, "%s.%ld.%u.part", path, process_number(), atomic_fetch_add(&count, 1));
        file = open_new(made);
        error = !file && errno != EEXIST ? errno : 0;
    }
    if (file) {
        errno = 0;
        error = put_all(file, (halide_core_file_format)format, text, number, host, bytes, dimensions, sizes);
        const bool closed = fclose(file) == 0;
        error = error || closed ? error : errno;
        error = error || replace(made, path) == 0 ? error : errno;
        if (error) {
            remove(made);
        }
    }
    free(made);
    if (!error) {
        return 0;
    }
    const char *const form = "Pipeline \"%s\": debug_to_file() can't write \"%s\": %s.";
    return halide_core_error(halide_core_error_file, form, pipeline, path, strerror(error));
}
