/* f: made by halide_core.
 *
 *   scalar "p": int32
 *   output buffer "f": 2 dimensions of int32
 */
#ifndef HALIDE_CORE_PIPELINE_F_H
#define HALIDE_CORE_PIPELINE_F_H

#include <stdbool.h>
#include <stdint.h>
#include "halide_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 0, or a halide_core_error_code; halide_core_last_error() tells more. */
int f(int32_t p, halide_buffer_t *f_1);

#ifdef __cplusplus
}
#endif

#endif /* HALIDE_CORE_PIPELINE_F_H */
