/* Events of traced pipelines (halide_runtime.h): which event each belongs to, and who is told. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "halide_runtime.h"
#include "platform.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HALIDE_CORE_POSIX
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#endif

static_assert(sizeof(void *) != 8 || sizeof(halide_trace_event_t) == 56, "size of halide_trace_event_t");
static_assert(sizeof(halide_trace_packet_t) == 28, "size of halide_trace_packet_t");

/* An event that has begun, on this thread or on the one that this thread works for. What is below it is another's while
 * a thread works for others, so each ends its own alone. */
struct halide_core_trace_scope {
    struct halide_core_trace_scope *outer;
    const char *func;
    int32_t id;
    enum halide_trace_event_code_t began;
};

static HALIDE_CORE_THREAD_LOCAL struct halide_core_trace_scope *scope_here;

static _Atomic(halide_core_trace_handler) trace_handler;
static _Atomic int32_t last_id;

HALIDE_CORE_WEAK halide_core_trace_handler halide_core_set_trace_handler(halide_core_trace_handler handler) {
    return atomic_exchange(&trace_handler, handler);
}

HALIDE_CORE_WEAK struct halide_core_trace_scope *halide_core_trace_scope(void) {
    return scope_here;
}

HALIDE_CORE_WEAK struct halide_core_trace_scope *halide_core_swap_trace_scope(struct halide_core_trace_scope *scope) {
    struct halide_core_trace_scope *const before = scope_here;
    scope_here = scope;
    return before;
}

HALIDE_CORE_WEAK void halide_core_leave_trace_scope(struct halide_core_trace_scope **scope) {
    while (scope_here != NULL && scope_here != *scope) {
        struct halide_core_trace_scope *const inner = scope_here;
        scope_here = inner->outer;
        free(inner);
    }
}

/* The innermost event of the pipeline that is about this Func, and began as one of these two did. */
static const struct halide_core_trace_scope *find_event(const char *func, int began, int or_began) {
    for (const struct halide_core_trace_scope *s = scope_here; s != NULL; s = s->outer) {
        const bool whole = s->began == halide_trace_begin_pipeline;
        if ((int)s->began == began || (int)s->began == or_began) {
            if (whole || strcmp(s->func, func) == 0) {
                return s;
            }
        }
        if (whole) {
            return NULL;
        }
    }
    return NULL;
}

/* The event that another one belongs to, or ends; 0 where that is not traced. */
static int32_t parent_of(const char *func, int event, bool input) {
    const struct halide_core_trace_scope *s = NULL;
    switch (event) {
    case halide_trace_load:
    case halide_trace_store:
        s = input ? find_event(func, halide_trace_begin_pipeline, halide_trace_begin_pipeline)
                  : find_event(func, halide_trace_produce, halide_trace_consume);
        break;
    case halide_trace_produce:
    case halide_trace_consume:
    case halide_trace_end_realization:
        s = find_event(func, halide_trace_begin_realization, halide_trace_begin_realization);
        break;
    case halide_trace_end_produce:
        s = find_event(func, halide_trace_produce, halide_trace_produce);
        break;
    case halide_trace_end_consume:
        s = find_event(func, halide_trace_consume, halide_trace_consume);
        break;
    case halide_trace_begin_realization:
    case halide_trace_end_pipeline:
    case halide_trace_tag:
        s = find_event(func, halide_trace_begin_pipeline, halide_trace_begin_pipeline);
        break;
    default:
        break;
    }
    return s == NULL ? 0 : s->id;
}

/* An event inside of which others come. Without memory theirs belong to none. */
static void enter_event(const char *func, int event, int32_t id) {
    struct halide_core_trace_scope *const s = malloc(sizeof *s);
    if (s != NULL) {
        *s = (struct halide_core_trace_scope){scope_here, func, id, (enum halide_trace_event_code_t)event};
        scope_here = s;
    }
}

static void leave_event(const char *func, int began) {
    struct halide_core_trace_scope *const s = scope_here;
    if (s != NULL && (int)s->began == began && strcmp(s->func, func) == 0) {
        scope_here = s->outer;
        free(s);
    }
}

HALIDE_CORE_WEAK void halide_core_trace(int event, const char *func, int input, int component, int code, int bits,
                                        const char *tag, int dimensions, int32_t *coordinates, void *value) {
    halide_trace_event_t e;
    memset(&e, 0, sizeof e);
    e.func = func;
    e.value = value;
    e.coordinates = coordinates;
    e.trace_tag = tag;
    e.type.code = (uint8_t)code;
    e.type.bits = (uint8_t)bits;
    e.type.lanes = value != NULL;
    e.event = (enum halide_trace_event_code_t)event;
    e.parent_id = parent_of(func, event, input);
    e.value_index = component;
    e.dimensions = dimensions;
    const halide_core_trace_handler handler = atomic_load(&trace_handler);
    const int32_t id = (handler == NULL ? halide_core_default_trace : handler)(&e);
    switch (event) {
    case halide_trace_begin_pipeline:
    case halide_trace_begin_realization:
    case halide_trace_produce:
    case halide_trace_consume:
        enter_event(func, event, id);
        break;
    case halide_trace_end_realization:
        leave_event(func, halide_trace_begin_realization);
        break;
    case halide_trace_end_produce:
        leave_event(func, halide_trace_produce);
        break;
    case halide_trace_end_consume:
        leave_event(func, halide_trace_consume);
        break;
    case halide_trace_end_pipeline:
        leave_event(func, halide_trace_begin_pipeline);
        break;
    default:
        break;
    }
}

/* ---- events as lines --------------------------------------------------------------------------------------------- */

static const char *const verbs[] = {
    "Load", "Store", "Begin realization", "End realization", "Produce", "End produce",
    "Consume", "End consume", "Begin pipeline", "End pipeline", "Tag",
};

/* A text that is cut where there is no room. */
struct line {
    char text[HALIDE_CORE_MESSAGE_SIZE];
    size_t length;
};

#define ADD(l, ...) \
    do { \
        const int added = snprintf((l)->text + (l)->length, sizeof (l)->text - (l)->length, __VA_ARGS__); \
        (l)->length += added < 0 ? 0 : (size_t)added; \
        (l)->length = (l)->length < sizeof (l)->text ? (l)->length : sizeof (l)->text - 1; \
    } while (0)

static int bytes_of(const halide_trace_event_t *e) {
    return (e->type.bits + 7) / 8;
}

/* One element: floats as Halide shows them. */
static void add_value(struct line *l, const halide_trace_event_t *e, int lane) {
    const char *const at = (const char *)e->value + (ptrdiff_t)lane * bytes_of(e);
    if (e->type.code == halide_type_float && e->type.bits == 32) {
        float f;
        memcpy(&f, at, sizeof f);
        ADD(l, "%f", (double)f);
        return;
    }
    if (e->type.code == halide_type_float && e->type.bits == 64) {
        double f;
        memcpy(&f, at, sizeof f);
        ADD(l, "%e", f);
        return;
    }
    uint64_t u = 0;
    for (int i = 0; i < bytes_of(e); ++i) {
        u |= (uint64_t)(uint8_t)at[i] << 8 * i;
    }
    if (e->type.code == halide_type_int) {
        const int unused = 64 - 8 * bytes_of(e);
        ADD(l, "%lld", (long long)(int64_t)(u << unused) >> unused);
    } else {
        ADD(l, "%llu", (unsigned long long)u);
    }
}

static void print_event(const halide_trace_event_t *e) {
    struct line l;
    l.length = 0;
    l.text[0] = 0;
    const int lanes = e->type.lanes > 1 ? e->type.lanes : 1;
    ADD(&l, "%s %s.%d(", verbs[e->event], e->func, (int)e->value_index);
    for (int i = 0; i < e->dimensions; ++i) {
        const bool first = lanes > 1 && i % lanes == 0;
        ADD(&l, "%s%s%d", i == 0 ? "" : lanes > 1 && first ? ">, " : ", ", first ? "<" : "", (int)e->coordinates[i]);
    }
    ADD(&l, "%s", lanes > 1 && e->dimensions > 0 ? ">)" : ")");
    if (e->value != NULL) {
        ADD(&l, "%s", lanes > 1 ? " = <" : " = ");
        for (int i = 0; i < lanes; ++i) {
            ADD(&l, "%s", i == 0 ? "" : ", ");
            add_value(&l, e, i);
        }
        ADD(&l, "%s", lanes > 1 ? ">" : "");
    }
    if (e->event == halide_trace_tag) {
        ADD(&l, " tag = \"%s\"", e->trace_tag);
    }
    halide_core_print("%s", l.text);
}

/* ---- events as packets in a file --------------------------------------------------------------------------------- */

#ifdef HALIDE_CORE_POSIX

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static int trace_file = -1; /* -1: the environment was not asked yet; 0: lines */
static bool opened_here;

static int opened_file(void) {
    if (trace_file < 0) {
        const char *const name = getenv("HL_TRACE_FILE");
        trace_file = 0;
        if (name != NULL && name[0] != 0) {
            const int file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
            if (file < 0) {
                (void)halide_core_error(halide_core_error_file, "HL_TRACE_FILE: \"%s\" can't be opened", name);
            } else {
                trace_file = file;
                opened_here = true;
            }
        }
    }
    return trace_file;
}

HALIDE_CORE_WEAK int halide_core_trace_file(void) {
    pthread_mutex_lock(&file_lock);
    const int file = opened_file();
    pthread_mutex_unlock(&file_lock);
    return file;
}

HALIDE_CORE_WEAK void halide_core_set_trace_file(int file) {
    pthread_mutex_lock(&file_lock);
    trace_file = file;
    opened_here = false;
    pthread_mutex_unlock(&file_lock);
}

HALIDE_CORE_WEAK int halide_core_shutdown_trace(void) {
    pthread_mutex_lock(&file_lock);
    int result = 0;
    if (opened_here) {
        result = close(trace_file);
        trace_file = 0;
        opened_here = false;
    }
    pthread_mutex_unlock(&file_lock);
    return result;
}

static bool write_whole(int file, const char *from, size_t bytes) {
    while (bytes > 0) {
        const ssize_t done = write(file, from, bytes);
        if (done <= 0) {
            return false;
        }
        from += done;
        bytes -= (size_t)done;
    }
    return true;
}

/* The header, the coordinates, the value, the name and the tag, up to a multiple of four. */
static void write_event(int file, const halide_trace_event_t *e, int32_t id) {
    const size_t point = (size_t)e->dimensions * sizeof(int32_t);
    const size_t value = e->value == NULL ? 0 : (size_t)bytes_of(e) * e->type.lanes;
    const size_t name = strlen(e->func) + 1, tag = e->trace_tag == NULL ? 1 : strlen(e->trace_tag) + 1;
    const size_t whole = (sizeof(halide_trace_packet_t) + point + value + name + tag + 3) & ~(size_t)3;
    char *const packet = calloc(1, whole);
    if (packet == NULL) {
        return;
    }
    const halide_trace_packet_t head = {(uint32_t)whole,  id,            e->type, e->event, e->parent_id,
                                        e->value_index, e->dimensions};
    char *to = packet;
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    if (point > 0) {
        memcpy(to, e->coordinates, point);
    }
    to += point;
    if (value > 0) {
        memcpy(to, e->value, value);
    }
    to += value;
    memcpy(to, e->func, name);
    to += name;
    if (e->trace_tag != NULL) {
        memcpy(to, e->trace_tag, tag);
    }
    pthread_mutex_lock(&file_lock);
    const bool written = write_whole(file, packet, whole);
    pthread_mutex_unlock(&file_lock);
    free(packet);
    if (!written) {
        (void)halide_core_error(halide_core_error_file, "the trace can't be written to its file");
    }
}

#else

HALIDE_CORE_WEAK int halide_core_trace_file(void) {
    return 0;
}

HALIDE_CORE_WEAK void halide_core_set_trace_file(int file) {
    (void)file;
}

HALIDE_CORE_WEAK int halide_core_shutdown_trace(void) {
    return 0;
}

static void write_event(int file, const halide_trace_event_t *e, int32_t id) {
    (void)file;
    (void)e;
    (void)id;
}

#endif

HALIDE_CORE_WEAK int32_t halide_core_default_trace(const halide_trace_event_t *e) {
    const int32_t id = atomic_fetch_add(&last_id, 1) + 1;
    const int file = halide_core_trace_file();
    if (file > 0) {
        write_event(file, e, id);
    } else {
        print_event(e);
    }
    return id;
}
