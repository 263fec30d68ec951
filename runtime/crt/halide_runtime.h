/* The runtime that generated code and the programs around it share.
 *
 * C11 and C++11. The buffer types have exactly the memory layout of Halide's own HalideRuntime.h. To use both headers
 * in one file include Halide's first: its types and names below then step aside. All others have the prefix halide_core_.
 *
 *     halide_core_set_num_threads(4);
 *     if (blur(&input, &output)) fprintf(stderr, "%s\n", halide_core_last_error());
 */
#ifndef HALIDE_CORE_RUNTIME_H
#define HALIDE_CORE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

#ifndef HALIDE_HALIDERUNTIME_H

typedef enum halide_type_code_t {
    halide_type_int = 0,
    halide_type_uint = 1,
    halide_type_float = 2,  /* IEEE */
    halide_type_handle = 3, /* an opaque pointer of 64 bits */
    halide_type_bfloat = 4  /* the upper 16 bits of an IEEE single */
} halide_type_code_t;

typedef struct halide_type_t {
    uint8_t code; /* a halide_type_code_t; one byte in C and in C++ alike */
    uint8_t bits;
    uint16_t lanes;
} halide_type_t;

typedef struct halide_dimension_t {
    int32_t min, extent, stride; /* stride counts elements, not bytes */
    uint32_t flags;              /* zero */
} halide_dimension_t;

typedef enum halide_buffer_flags {
    halide_buffer_flag_host_dirty = 1,
    halide_buffer_flag_device_dirty = 2
} halide_buffer_flags;

struct halide_device_interface_t; /* never looked into by this runtime */

typedef struct halide_buffer_t {
    uint64_t device;
    const struct halide_device_interface_t *device_interface;
    uint8_t *host; /* the element at the minimum of every dimension; NULL asks for the bounds */
    uint64_t flags;
    struct halide_type_t type;
    int32_t dimensions;
    halide_dimension_t *dim;
    void *padding;
} halide_buffer_t;

/* What a pipeline's NAME_metadata() tells of its arguments. */
typedef enum halide_argument_kind_t {
    halide_argument_kind_input_scalar = 0,
    halide_argument_kind_input_buffer = 1,
    halide_argument_kind_output_buffer = 2
} halide_argument_kind_t;

typedef struct halide_scalar_value_t {
    union {
        uint8_t b, u8; /* b: a bool */
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint16_t u16; /* the bits of a float of 16 bits, too */
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
        void *handle;
    } u;
} halide_scalar_value_t;

typedef struct halide_filter_argument_t {
    const char *name;
    int32_t kind;       /* a halide_argument_kind_t */
    int32_t dimensions; /* 0 of a scalar */
    halide_type_t type;
    const halide_scalar_value_t *scalar_def, *scalar_min, *scalar_max, *scalar_estimate; /* NULL: there is none */
    const int64_t *const *buffer_estimates; /* NULL, or a min and an extent for each dimension, each may be NULL */
} halide_filter_argument_t;

typedef struct halide_filter_metadata_t {
    int32_t version; /* 1 */
    int32_t num_arguments;
    const halide_filter_argument_t *arguments; /* inputs, then outputs: the order of the function's */
    const char *target;
    const char *name;
} halide_filter_metadata_t;

/* What happens in a run that is traced, and what a custom tracer is told. */
typedef enum halide_trace_event_code_t {
    halide_trace_load = 0,
    halide_trace_store = 1,
    halide_trace_begin_realization = 2,
    halide_trace_end_realization = 3,
    halide_trace_produce = 4,
    halide_trace_end_produce = 5,
    halide_trace_consume = 6,
    halide_trace_end_consume = 7,
    halide_trace_begin_pipeline = 8,
    halide_trace_end_pipeline = 9,
    halide_trace_tag = 10
} halide_trace_event_code_t;

typedef struct halide_trace_event_t {
    const char *func;     /* the Func's name, or the pipeline's */
    void *value;          /* of a load or a store: the element (a float of 16 bits as one of 32), else NULL */
    int32_t *coordinates; /* of a load or a store, or a min and an extent of each dimension; NULL of a pipeline */
    const char *trace_tag; /* "" but of a tag */
    struct halide_type_t type;
    enum halide_trace_event_code_t event;
    int32_t parent_id;   /* what the tracer returned for the event that this one belongs to, or ends */
    int32_t value_index; /* which component of a Tuple */
    int32_t dimensions;  /* how many coordinates */
} halide_trace_event_t;

/* What a file of a trace holds: this, the coordinates, the value, the name and the tag, each text with its final 0. */
typedef struct halide_trace_packet_t {
    uint32_t size; /* in bytes, of all; a multiple of four */
    int32_t id;
    struct halide_type_t type;
    enum halide_trace_event_code_t event;
    int32_t parent_id;
    int32_t value_index;
    int32_t dimensions;
} halide_trace_packet_t;

#endif /* HALIDE_HALIDERUNTIME_H */

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* What a pipeline, a task and halide_core_par_for return. Numbers are never reused. */
typedef enum halide_core_error_code {
    halide_core_success = 0,
    halide_core_error_argument_null = 1,       /* a buffer argument is NULL, or has no memory */
    halide_core_error_argument_type = 2,       /* element type is not the declared one */
    halide_core_error_argument_dimensions = 3, /* wrong number of dimensions */
    halide_core_error_argument_extent = 4,     /* negative or not the required extent */
    halide_core_error_argument_stride = 5,     /* stride is not the required one */
    halide_core_error_argument_bounds = 6,     /* the pipeline reads or writes outside of the buffer */
    halide_core_error_out_of_memory = 7,
    halide_core_error_assertion_failed = 8,   /* an assertion of the algorithm or of the schedule */
    halide_core_error_argument_alias = 9,     /* two buffers overlap in a way the pipeline can't honour */
    halide_core_error_argument_device = 10,   /* the newest data, or all, is on a device and not in host memory */
    halide_core_error_index_overflow = 11,    /* a region or an address does not fit its integer type */
    halide_core_error_parameter_range = 12,   /* a scalar parameter is outside its declared range */
    halide_core_error_extern_failed = 14,     /* an extern stage returned nonzero */
    halide_core_error_forked_inside_task = 15, /* a task forked, and the child returned from it */
    halide_core_error_specialize_fail = 16, /* specialize_fail: no specialization of a stage fits this run */
    halide_core_error_file = 17,           /* debug_to_file: the file can't be written */
    halide_core_error_cancelled = 18       /* halide_core_cancel, or SIGINT, ended the run */
} halide_core_error_code;

/* A message never takes more bytes than this, its final 0 included. */
#define HALIDE_CORE_MESSAGE_SIZE 1024

typedef void (*halide_core_error_handler)(int code, const char *message);

#if defined(__GNUC__)
#define HALIDE_CORE_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define HALIDE_CORE_PRINTF(text, first)
#endif

/* Formats the message, keeps it as this thread's last error, calls the handler on this thread, returns `code`. */
int halide_core_error(int code, const char *format, ...) HALIDE_CORE_PRINTF(2, 3);

/* This thread's last message, "" if there is none; never NULL. It means something only right after a call that
 * failed: a call that succeeds may leave, change or clear it. A failure of a task on another thread becomes the last
 * error of the thread that called halide_core_par_for. */
const char *halide_core_last_error(void);
void halide_core_clear_error(void);

/* Sets this thread's last error without calling the handler: for code that carries a message between threads. */
void halide_core_set_last_error(const char *message);

/* The handler that is called for each error, on the thread where it happens. The default, restored by NULL, prints
 * "halide_core: message" to stderr. Returns the previous one (NULL: the default). */
halide_core_error_handler halide_core_set_error_handler(halide_core_error_handler handler);

/* Installs a handler that does nothing; codes and last errors stay as they are. */
void halide_core_quiet_errors(void);

/* ---- printing ---------------------------------------------------------------------------------------------------- */

typedef void (*halide_core_print_handler)(const char *line);

/* Formats a line and hands it to the handler, on this thread; lines of several threads don't mix. */
void halide_core_print(const char *format, ...) HALIDE_CORE_PRINTF(1, 2);

/* The handler for lines, which have no newline. The default, restored by NULL, writes to stdout. Returns the previous
 * one (NULL: the default). */
halide_core_print_handler halide_core_set_print_handler(halide_core_print_handler handler);

/* ---- traces ------------------------------------------------------------------------------------------------------ */

struct halide_trace_event_t;

/* Is told of each event, on the thread where it happens, and returns its number, not 0, which events that belong to it
 * get as `parent_id`. The default, restored by NULL, prints a line, or appends a packet to the file that HL_TRACE_FILE
 * names or halide_core_set_trace_file gave. Setting returns the previous one (NULL: the default). */
typedef int32_t (*halide_core_trace_handler)(const struct halide_trace_event_t *event);
halide_core_trace_handler halide_core_set_trace_handler(halide_core_trace_handler handler);
int32_t halide_core_default_trace(const struct halide_trace_event_t *event);

/* The descriptor of a file for packets; 0 for lines. Shutting down closes the file of HL_TRACE_FILE and returns 0. */
void halide_core_set_trace_file(int file);
int halide_core_trace_file(void);
int halide_core_shutdown_trace(void);

/* Where pipelines tell of an event. `input` is 1 where it is about an input. */
void halide_core_trace(int event, const char *func, int input, int component, int code, int bits, const char *tag,
                       int dimensions, int32_t *coordinates, void *value);

/* The innermost event that has begun for this thread. Leaving one ends all that began inside of it, as a run does that
 * fails. */
struct halide_core_trace_scope;
struct halide_core_trace_scope *halide_core_trace_scope(void);
struct halide_core_trace_scope *halide_core_swap_trace_scope(struct halide_core_trace_scope *scope);
void halide_core_leave_trace_scope(struct halide_core_trace_scope **scope);

/* ---- profiles ---------------------------------------------------------------------------------------------------- */

/* A pipeline whose target has profile. `read` writes the runs, their ticks and nanoseconds; then of each Func (the first
 * one is what belongs to none), and of all memory together, the ticks, how often it was come to, the allocations, the
 * peak of bytes on the heap, the bytes of arrays on the stack, those live, and all that were ever allocated. Where `anew`
 * is not 0, all but the live bytes starts from 0. */
struct halide_core_profiled {
    const char *name;
    int funcs;
    const char *const *names;
    void (*read)(int64_t *to, int anew);
    struct halide_core_profiled *next;
    void *kept; /* by Halide's names for this */
};
void halide_core_register_profiled(struct halide_core_profiled *pipeline);
struct halide_core_profiled *halide_core_profiled_pipelines(void);

/* Prints what has run since all was set to 0, a pipeline after the other; the end of the process does, too. */
void halide_core_report_profiles(void);

/* ---- files ------------------------------------------------------------------------------------------------------- */

typedef enum halide_core_file_format {
    halide_core_file_npy = 0, /* `text` is the type as numpy writes it */
    halide_core_file_mat = 1, /* `text` is the array's name, `number` is 256 * its class + the type of its data */
    halide_core_file_tmp = 2, /* `number` is that of the type; at most four dimensions */
    halide_core_file_tiff = 3 /* `number` is the sample format: unsigned, signed, float; at most four dimensions */
} halide_core_file_format;

/* Writes memory for people to look at, elements of `bytes` bytes. `sizes`: the extents of all dimensions, then their
 * strides in elements. A file of this name is replaced once all is written. Returns 0 or halide_core_error_file. */
int halide_core_write_file(const char *pipeline, const char *path, int format, const char *text, int number,
                           const void *host, int bytes, int dimensions, const int64_t *sizes);

/* ---- memory of earlier runs -------------------------------------------------------------------------------------- */

/* Each caller's context has its own. Memory of a memoized Func: so many bytes. */
struct halide_core_memo_part {
    void *host;
    int64_t bytes;
};

/* Puts what was kept of a key in the parts and returns 1; returns 0 where nothing was, or it had to go. Any thread. */
int halide_core_memo_recall(const void *key, int64_t key_bytes, const struct halide_core_memo_part *parts, int count);

/* Keeps a copy of the parts, as long as there is room. Where `evictable` is not 0, it goes with its group. */
void halide_core_memo_keep(const void *key, int64_t key_bytes, const struct halide_core_memo_part *parts, int count,
                           int evictable, uint64_t group);

/* How many bytes are kept, keys included; 0 stands for the default, 1 MiB. The least recently used go. */
void halide_core_memo_set_size(int64_t bytes);
void halide_core_memo_evict(uint64_t group); /* gives up all of a group */
void halide_core_memo_cleanup(void);         /* gives up everything */

/* ---- threads ----------------------------------------------------------------------------------------------------- */

typedef int (*halide_core_task)(void *closure, int64_t index);
typedef int (*halide_core_par_for_function)(halide_core_task task, int64_t min, int64_t extent, void *closure);

/* Runs task(closure, i) once for each i in [min, min + extent), in any order, on this thread and on the workers, and
 * returns 0 when all are done (at once if extent <= 0). If tasks fail it returns the result of the first one to fail;
 * indices that had not started by then need not run. Tasks may call it again. Tasks must return: no longjmp and no C++
 * exception may leave them. */
int halide_core_par_for(int (*task)(void *closure, int64_t index), int64_t min, int64_t extent, void *closure);

/* The same on this runtime's own pool, even if a custom par_for is set (so that one can be built upon it). */
int halide_core_default_par_for(halide_core_task task, int64_t min, int64_t extent, void *closure);

/* Makes halide_core_par_for call `function` (from any thread, nested) in place of the pool; NULL restores the pool. */
void halide_core_set_custom_par_for(halide_core_par_for_function function);

/* How many threads a parallel loop uses, the calling one included. n <= 0 restores the default: HL_NUM_THREADS of the
 * environment as it was at first use, else the number of CPUs online. Returns the old number. */
int halide_core_set_num_threads(int n);
int halide_core_get_num_threads(void);

/* Ends and joins the workers; the next parallel loop starts new ones. Loops that are running finish on the threads that
 * called them. Does nothing when called from inside a task. */
void halide_core_shutdown_thread_pool(void);

/* How often a thread may go on; the count at first is set before the fork, `fork` by it. */
struct halide_core_fork;
struct halide_core_semaphore {
    int64_t count;
    struct halide_core_fork *fork;
};

/* Runs consumer(closure, 0) on this thread and producer(closure, 0) on another one, beside it, and returns when both
 * are done: 0, or the result of the side that failed first. They may wait for each other by the semaphores of the fork
 * and of those around it; where a side fails, waits of the other one fail too. */
int halide_core_fork(halide_core_task producer, halide_core_task consumer, void *closure,
                     struct halide_core_semaphore *semaphores, int count);

/* Waits until the count is positive and takes one of it: 0; or the result of a side of the fork that failed. */
int halide_core_semaphore_acquire(struct halide_core_semaphore *semaphore);
void halide_core_semaphore_release(struct halide_core_semaphore *semaphore);

/* ---- the caller's context ---------------------------------------------------------------------------------------- */

/* What a pipeline whose target has user_context was called with: for handlers and for memory, on every thread that works
 * for it; NULL elsewhere. Swapping returns the one before, and concerns this thread and what it starts. */
void *halide_core_user_context(void);
void *halide_core_swap_user_context(void *context);

/* ---- what generated code asks of its arguments ------------------------------------------------------------------- */

/* Each returns 0, or what halide_core_error does, with a message that starts with `what`. */

/* Refuses an argument that is no buffer of this type and so many dimensions. */
int halide_core_check_argument(const halide_buffer_t *b, const char *what, unsigned code, unsigned bits, int dimensions,
                               int output);
/* Refuses a buffer without memory, where no query is answered. */
int halide_core_check_host(const halide_buffer_t *b, const char *what);
/* Writes the region that a pipeline needs of a buffer into it: a min and an extent for each dimension. */
int halide_core_answer_query(halide_buffer_t *b, const char *what, const int64_t *region);
/* Refuses components of a Tuple that differ in shape or layout. */
int halide_core_check_alike(const halide_buffer_t *a, const halide_buffer_t *b, const char *what, const char *other);
/* Refuses an address that is not aligned as promised. */
int halide_core_check_alignment(const halide_buffer_t *b, const char *what, uintptr_t bytes);
/* Refuses an output that overlaps another buffer. */
int halide_core_check_overlap(const halide_buffer_t *a, const halide_buffer_t *b, const char *what, const char *other);
/* Refuses an output of which two points share memory. */
int halide_core_check_distinct(const halide_buffer_t *b, const char *what);

/* ---- ending a run early ------------------------------------------------------------------------------------------ */

/* Pipelines that run in this process end with halide_core_error_cancelled, all memory freed, until this is called with
 * 0; those that start meanwhile end too, once they come to a loop. Outputs are then partly written. May be called from
 * any thread, and from a signal handler. */
void halide_core_cancel(int on);

/* What the outer loops of a pipeline read in each iteration: not 0 once the run, which this thread starts or helps with,
 * is to end. And the end: keeps the message, returns halide_core_error_cancelled. */
const volatile int *halide_core_halting(void);
int halide_core_halt(void);

/* Before a run of the thread that handles signals: until it is over SIGINT ends it, and does what it did.
 * Where `by_interrupt` is 0 it only does what it did, as it does where it ends the program or is ignored. */
void halide_core_begin_run(int by_interrupt);

/* Around that run: functions of other libraries that the thread calls afterwards are no part of it, and a SIGINT is
 * nothing to them. The first one returns what the other one takes, beside the run's result, which it returns. */
const volatile int *halide_core_enter_run(void);
int halide_core_leave_run(const volatile int *around, int result);

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Memory for `bytes` bytes on a boundary of 128, with 128 more bytes after the end that may be read and written (so
 * that full vectors can run past the end). NULL if bytes is negative or there is no memory; never NULL for 0. */
#if defined(__GNUC__)
__attribute__((__malloc__))
#endif
void *halide_core_malloc(int64_t bytes);
void halide_core_free(void *pointer);

/* Takes memory from these functions, which need not align it, and gives it back to them; NULL for both restores this
 * runtime's own. A block goes back by the function that was set when it was taken. May be changed while no pipeline
 * runs. */
typedef void *(*halide_core_allocate_function)(size_t bytes);
typedef void (*halide_core_release_function)(void *pointer);
void halide_core_set_custom_memory(halide_core_allocate_function allocate, halide_core_release_function release);

/* This runtime's own, whatever is set (so that others can be built upon them). */
void *halide_core_default_malloc(int64_t bytes);
void halide_core_default_free(void *pointer);

/* Gives back to the system what halide_core_free has kept for later: up to 256 MiB in blocks of 64 KiB and more, the
 * oldest of which go first, and sixteen smaller blocks of the calling thread; another thread's are given back where it
 * ends. All is done at exit too, and where the library with this runtime is unloaded. */
void halide_core_release_memory(void);

/* ---- Halide's names ---------------------------------------------------------------------------------------------- */

/* What programs call that were written for Halide's libraries (halide_hooks.c), with Halide's meaning. `user_context` is
 * what a pipeline was called with, where its target has user_context, else NULL. A setter returns the one before. */
#ifndef HALIDE_HALIDERUNTIME_H

typedef void (*halide_error_handler_t)(void *user_context, const char *message);
halide_error_handler_t halide_set_error_handler(halide_error_handler_t handler);
void halide_error(void *user_context, const char *message);

/* Lines end in a newline. */
typedef void (*halide_print_t)(void *user_context, const char *text);
halide_print_t halide_set_custom_print(halide_print_t print);
void halide_print(void *user_context, const char *text);

/* A tracer is told of the events of traced pipelines; halide_trace passes one on to it. */
typedef int32_t (*halide_trace_t)(void *user_context, const struct halide_trace_event_t *event);
halide_trace_t halide_set_custom_trace(halide_trace_t trace);
int32_t halide_trace(void *user_context, const struct halide_trace_event_t *event);
int32_t halide_default_trace(void *user_context, const struct halide_trace_event_t *event);
void halide_set_trace_file(int fd); /* 0: lines */
int halide_get_trace_file(void *user_context);
int halide_shutdown_trace(void);

/* Of pipelines whose target has profile. Times are those of all threads together, by a clock that is read where a Func
 * begins, not by samples: `samples` counts its readings, and the threads of a pipeline are its threads' time over that
 * on the wall. halide_profiler_get_state and halide_profiler_get_pipeline_state bring up to date what they point to. */
struct halide_mutex {
    uintptr_t _private[1];
};

struct halide_profiler_func_stats {
    uint64_t time; /* in nanoseconds */
    uint64_t memory_current, memory_peak, memory_total;
    uint64_t stack_peak;
    uint64_t active_threads_numerator, active_threads_denominator;
    const char *name;
    int num_allocs;
};

struct halide_profiler_pipeline_stats {
    uint64_t time; /* in nanoseconds, on the wall */
    uint64_t memory_current, memory_peak, memory_total;
    uint64_t active_threads_numerator, active_threads_denominator;
    const char *name;
    struct halide_profiler_func_stats *funcs; /* the first is what belongs to none: "overhead" */
    void *next;
    int num_funcs;
    int runs;
    int samples;
    int num_allocs;
};

struct halide_profiler_instance_state;
struct halide_thread;

struct halide_profiler_state {
    struct halide_mutex lock;
    struct halide_profiler_pipeline_stats *pipelines;
    struct halide_thread *sampling_thread;            /* NULL */
    struct halide_profiler_instance_state *instances; /* NULL */
    void (*get_remote_profiler_state)(int *func, int *active_workers);
    int sleep_time;
    int shutdown;
};

struct halide_profiler_state *halide_profiler_get_state(void);
struct halide_profiler_pipeline_stats *halide_profiler_get_pipeline_state(const char *pipeline_name);
void halide_profiler_lock(struct halide_profiler_state *state);
void halide_profiler_unlock(struct halide_profiler_state *state);
void halide_profiler_reset(void);
void halide_profiler_shutdown(void); /* the same: nothing samples */
void halide_profiler_report(void *user_context);

/* Both are set, or neither is used. A block goes back by the function that was set when it was taken. */
typedef void *(*halide_malloc_t)(void *user_context, size_t bytes);
typedef void (*halide_free_t)(void *user_context, void *pointer);
halide_malloc_t halide_set_custom_malloc(halide_malloc_t allocate);
halide_free_t halide_set_custom_free(halide_free_t release);
void *halide_malloc(void *user_context, size_t bytes);
void halide_free(void *user_context, void *pointer);
void *halide_default_malloc(void *user_context, size_t bytes);
void halide_default_free(void *user_context, void *pointer);

typedef int (*halide_task_t)(void *user_context, int index, uint8_t *closure);
typedef int (*halide_do_task_t)(void *user_context, halide_task_t task, int index, uint8_t *closure);
typedef int (*halide_do_par_for_t)(void *user_context, halide_task_t task, int min, int size, uint8_t *closure);
halide_do_task_t halide_set_custom_do_task(halide_do_task_t do_task);
halide_do_par_for_t halide_set_custom_do_par_for(halide_do_par_for_t par_for);
int halide_do_task(void *user_context, halide_task_t task, int index, uint8_t *closure);
int halide_do_par_for(void *user_context, halide_task_t task, int min, int size, uint8_t *closure);
int halide_default_do_task(void *user_context, halide_task_t task, int index, uint8_t *closure);
int halide_default_do_par_for(void *user_context, halide_task_t task, int min, int size, uint8_t *closure);

int halide_set_num_threads(int n); /* 0: the default */
int halide_get_num_threads(void);
void halide_shutdown_thread_pool(void);

void halide_memoization_cache_set_size(int64_t bytes); /* 0: the default */
void halide_memoization_cache_evict(void *user_context, uint64_t eviction_key);
void halide_memoization_cache_cleanup(void);

#endif /* HALIDE_HALIDERUNTIME_H */

/* Several generated libraries in one program carry this runtime; weak definitions let the linker keep one of them. */
#ifndef HALIDE_CORE_WEAK
#if defined(__GNUC__)
#define HALIDE_CORE_WEAK __attribute__((__weak__))
#else
#define HALIDE_CORE_WEAK
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif /* HALIDE_CORE_RUNTIME_H */
