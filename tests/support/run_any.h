/* Runs any pipeline on files: what it takes is found in its metadata.
 *
 *     int run_any(argv of the pipeline, its metadata, {"in.raw:20,12", "0x1p+1", "out.raw:18,10"})
 *
 * A buffer is a file's name and extents, a scalar its value. Outputs are written to their files.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "halide_runtime.h"

static void *read_or_make(const char *path, size_t bytes, int output) {
    void *const data = calloc(bytes + 1, 1);
    FILE *const file = output ? NULL : fopen(path, "rb");
    if (!output && (!file || fread(data, 1, bytes + 1, file) != bytes)) exit(100);
    if (file) fclose(file);
    return data;
}

static int run_any(int (*call)(void **), const halide_filter_metadata_t *m, char **words) {
    enum { MOST = 16 };
    halide_buffer_t buffers[MOST];
    halide_dimension_t dims[MOST][8];
    halide_scalar_value_t scalars[MOST];
    void *pointers[MOST];
    size_t sizes[MOST];
    if (m->version != 1 || m->num_arguments > MOST) return 101;
    for (int i = 0; i < m->num_arguments; i++) {
        const halide_filter_argument_t *const a = &m->arguments[i];
        if (!words[i]) return 102;
        if (a->kind == halide_argument_kind_input_scalar) {
            if (a->type.code == halide_type_float) scalars[i].u.f32 = strtof(words[i], NULL);
            else scalars[i].u.i64 = strtoll(words[i], NULL, 0);
            pointers[i] = &scalars[i];
            continue;
        }
        memset(&buffers[i], 0, sizeof buffers[i]);
        sizes[i] = (a->type.bits + 7u) / 8u;
        int stride = 1, d = 0;
        char *word = strchr(words[i], ':');
        if (!word) return 103;
        for (*word++ = 0; *word; d++) {
            const int extent = (int)strtol(word, &word, 10);
            const halide_dimension_t dim = {0, extent, stride, 0};
            dims[i][d] = dim;
            stride *= extent;
            if (*word == ',') word++;
        }
        if (d != a->dimensions) return 104;
        sizes[i] *= (size_t)stride;
        buffers[i].type = a->type;
        buffers[i].dimensions = a->dimensions;
        buffers[i].dim = dims[i];
        buffers[i].host = (uint8_t *)read_or_make(words[i], sizes[i], a->kind == halide_argument_kind_output_buffer);
        pointers[i] = &buffers[i];
    }
    const int code = call(pointers);
    if (code) return code;
    for (int i = 0; i < m->num_arguments; i++) {
        if (m->arguments[i].kind == halide_argument_kind_input_scalar) continue;
        FILE *const file = m->arguments[i].kind == halide_argument_kind_output_buffer ? fopen(words[i], "wb") : NULL;
        if (file && fwrite(buffers[i].host, 1, sizes[i], file) != sizes[i]) return 105;
        if (file) fclose(file);
        free(buffers[i].host);
    }
    return 0;
}
