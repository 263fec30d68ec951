/* halide_runtime.h in the subset of C that cffi reads; a test holds the two together. */
#include <stddef.h>
#include <stdint.h>

typedef struct halide_type_t { uint8_t code; uint8_t bits; uint16_t lanes; } halide_type_t;
typedef struct halide_dimension_t { int32_t min, extent, stride; uint32_t flags; } halide_dimension_t;
struct halide_device_interface_t;
typedef struct halide_buffer_t {
    uint64_t device;
    const struct halide_device_interface_t *device_interface;
    uint8_t *host;
    uint64_t flags;
    struct halide_type_t type;
    int32_t dimensions;
    halide_dimension_t *dim;
    void *padding;
} halide_buffer_t;

typedef void (*halide_core_error_handler)(int code, const char *message);
int halide_core_error(int code, const char *format, ...);
const char *halide_core_last_error(void);
void halide_core_clear_error(void);
void halide_core_set_last_error(const char *message);
halide_core_error_handler halide_core_set_error_handler(halide_core_error_handler handler);
void halide_core_quiet_errors(void);

typedef void (*halide_core_print_handler)(const char *line);
void halide_core_print(const char *format, ...);
halide_core_print_handler halide_core_set_print_handler(halide_core_print_handler handler);

struct halide_trace_event_t;
typedef int32_t (*halide_core_trace_handler)(const struct halide_trace_event_t *event);
halide_core_trace_handler halide_core_set_trace_handler(halide_core_trace_handler handler);
int32_t halide_core_default_trace(const struct halide_trace_event_t *event);
void halide_core_set_trace_file(int file);
int halide_core_trace_file(void);
int halide_core_shutdown_trace(void);
void halide_core_trace(int event, const char *func, int input, int component, int code, int bits, const char *tag,
                       int dimensions, int32_t *coordinates, void *value);
struct halide_core_trace_scope;
struct halide_core_trace_scope *halide_core_trace_scope(void);
struct halide_core_trace_scope *halide_core_swap_trace_scope(struct halide_core_trace_scope *scope);
void halide_core_leave_trace_scope(struct halide_core_trace_scope **scope);

struct halide_core_profiled {
    const char *name;
    int funcs;
    const char *const *names;
    void (*read)(int64_t *to, int anew);
    struct halide_core_profiled *next;
    void *kept;
};
void halide_core_register_profiled(struct halide_core_profiled *pipeline);
struct halide_core_profiled *halide_core_profiled_pipelines(void);
void halide_core_report_profiles(void);

int halide_core_write_file(const char *pipeline, const char *path, int format, const char *text, int number,
                           const void *host, int bytes, int dimensions, const int64_t *sizes);

struct halide_core_memo_part {
    void *host;
    int64_t bytes;
};
int halide_core_memo_recall(const void *key, int64_t key_bytes, const struct halide_core_memo_part *parts, int count);
void halide_core_memo_keep(const void *key, int64_t key_bytes, const struct halide_core_memo_part *parts, int count,
                           int evictable, uint64_t group);
void halide_core_memo_set_size(int64_t bytes);
void halide_core_memo_evict(uint64_t group);
void halide_core_memo_cleanup(void);

typedef int (*halide_core_task)(void *closure, int64_t index);
typedef int (*halide_core_par_for_function)(halide_core_task task, int64_t min, int64_t extent, void *closure);
int halide_core_par_for(int (*task)(void *closure, int64_t index), int64_t min, int64_t extent, void *closure);
int halide_core_default_par_for(halide_core_task task, int64_t min, int64_t extent, void *closure);
void halide_core_set_custom_par_for(halide_core_par_for_function function);
int halide_core_set_num_threads(int n);
int halide_core_get_num_threads(void);
void halide_core_shutdown_thread_pool(void);

struct halide_core_fork;
struct halide_core_semaphore {
    int64_t count;
    struct halide_core_fork *fork;
};
int halide_core_fork(halide_core_task producer, halide_core_task consumer, void *closure,
                     struct halide_core_semaphore *semaphores, int count);
int halide_core_semaphore_acquire(struct halide_core_semaphore *semaphore);
void halide_core_semaphore_release(struct halide_core_semaphore *semaphore);

void *halide_core_user_context(void);
void *halide_core_swap_user_context(void *context);

int halide_core_check_argument(const halide_buffer_t *b, const char *what, unsigned code, unsigned bits, int dimensions,
                               int output);
int halide_core_check_host(const halide_buffer_t *b, const char *what);
int halide_core_answer_query(halide_buffer_t *b, const char *what, const int64_t *region);
int halide_core_check_alike(const halide_buffer_t *a, const halide_buffer_t *b, const char *what, const char *other);
int halide_core_check_alignment(const halide_buffer_t *b, const char *what, uintptr_t bytes);
int halide_core_check_overlap(const halide_buffer_t *a, const halide_buffer_t *b, const char *what, const char *other);
int halide_core_check_distinct(const halide_buffer_t *b, const char *what);

void halide_core_cancel(int on);
const volatile int *halide_core_halting(void);
int halide_core_halt(void);
void halide_core_begin_run(int by_interrupt);
const volatile int *halide_core_enter_run(void);
int halide_core_leave_run(const volatile int *around, int result);

void *halide_core_malloc(int64_t bytes);
void halide_core_free(void *pointer);
typedef void *(*halide_core_allocate_function)(size_t bytes);
typedef void (*halide_core_release_function)(void *pointer);
void halide_core_set_custom_memory(halide_core_allocate_function allocate, halide_core_release_function release);
void *halide_core_default_malloc(int64_t bytes);
void halide_core_default_free(void *pointer);
void halide_core_release_memory(void);
