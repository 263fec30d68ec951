/* What Python extension modules of pipelines are made of: checks of arguments, and the call.
 *
 * Of CPython only its stable ABI is used, and that is declared here: a module needs no Python to be built, and the same
 * file is loaded by every CPython from 3.10 on. (The buffer functions joined the stable ABI in 3.11, as they were.)
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "halide_runtime.h"

/* ---- CPython's stable ABI ---------------------------------------------------------------------------------------- */

typedef intptr_t Py_ssize_t;
typedef struct _object PyObject;
typedef struct _ts PyThreadState;

typedef struct Py_buffer {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;

typedef struct PyMethodDef {
    const char *ml_name;
    PyObject *(*ml_meth)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
    int ml_flags;
    const char *ml_doc;
} PyMethodDef;

typedef struct PyModuleDef_Slot {
    int slot;
    void *value;
} PyModuleDef_Slot;

typedef struct PyModuleDef {
    struct {
        Py_ssize_t ob_refcnt;
        void *ob_type;
        PyObject *(*m_init)(void);
        Py_ssize_t m_index;
        PyObject *m_copy;
    } m_base;
    const char *m_name, *m_doc;
    Py_ssize_t m_size;
    PyMethodDef *m_methods;
    PyModuleDef_Slot *m_slots;
    void *m_traverse, *m_clear, *m_free;
} PyModuleDef;

enum { METH_KEYWORDS = 2, METH_FASTCALL = 0x80, PY_MOD_EXEC = 2 };
enum { BUFFER_WRITABLE = 1, BUFFER_FORMAT = 4, BUFFER_STRIDES = 0x18 };

extern PyObject *PyExc_BufferError, *PyExc_MemoryError, *PyExc_OverflowError, *PyExc_RuntimeError, *PyExc_TypeError,
    *PyExc_ValueError, *PyExc_KeyboardInterrupt, _Py_NoneStruct;
PyObject *PyModuleDef_Init(PyModuleDef *);
PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_Occurred(void);
int PyErr_ExceptionMatches(PyObject *);
void PyErr_Clear(void);
PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *);
int PyObject_CheckBuffer(PyObject *);
int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
void PyBuffer_Release(Py_buffer *);
PyObject *PyObject_GetAttrString(PyObject *, const char *);
PyObject *PyObject_CallObject(PyObject *, PyObject *);
void *PyCapsule_GetPointer(PyObject *, const char *);
int PyCapsule_IsValid(PyObject *, const char *);
Py_ssize_t PyTuple_Size(PyObject *);
PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *);
PyObject *PyNumber_Index(PyObject *);
double PyFloat_AsDouble(PyObject *);
long long PyLong_AsLongLong(PyObject *);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *);
PyObject *PyObject_Type(PyObject *);
void Py_IncRef(PyObject *);
void Py_DecRef(PyObject *);

/* ---- DLPack ------------------------------------------------------------------------------------------------------ */

typedef struct DLTensor {
    void *data;
    struct {
        int32_t device_type, device_id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* in elements; NULL: rows are dense, one after the other */
    uint64_t byte_offset;
} DLTensor;

enum { DLPACK_CPU = 1, DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BFLOAT = 4, DLPACK_BOOL = 6 };

/* ---- pipelines --------------------------------------------------------------------------------------------------- */

enum { MOST_DIMENSIONS = 64 };

typedef struct halide_filter_argument_t pipeline_argument;
typedef struct halide_filter_metadata_t pipeline;

/* An argument while a call lasts. */
typedef struct passed {
    Py_buffer view;
    PyObject *capsule;
    bool has_view;
    halide_buffer_t buffer;
    halide_scalar_value_t scalar;
} passed;

#define REFUSE(error, text, ...) (PyErr_Format(error, "%s(): argument \"%s\" " text, p->name, a->name, __VA_ARGS__), false)

/* Refuses an object, of which its class is told. */
static bool refuse(const pipeline *p, const pipeline_argument *a, PyObject *error, const char *why, PyObject *of) {
    PyObject *const class = PyObject_Type(of);
    PyErr_Format(error, "%s(): argument \"%s\" %s: %R", p->name, a->name, why, class);
    Py_DecRef(class);
    return false;
}

static const char *type_text(unsigned code, unsigned bits) {
    static const char *const names[3][4] = {{"int8", "int16", "int32", "int64"},
                                            {"uint8", "uint16", "uint32", "uint64"},
                                            {"float8", "float16", "float32", "float64"}};
    if (code == halide_type_uint && bits == 1) return "bool";
    if (code == halide_type_bfloat && bits == 16) return "bfloat16";
    if (code > 2 || (bits != 8 && bits != 16 && bits != 32 && bits != 64)) return "another type";
    return names[code][bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3];
}

/* The type of the buffer protocol's format; code 255 where it is none of ours. */
static halide_type_t type_of_format(const char *format, Py_ssize_t bytes) {
    halide_type_t type = {255, (uint8_t)(bytes <= 16 ? 8 * bytes : 0), 1};
    if (format && strcmp(format, "T{H:bfloat16:}") == 0) {
        type.code = halide_type_bfloat;
        return type;
    }
    if (format && (*format == '@' || *format == '=' || *format == '<' || (*format == '>' && bytes == 1))) format++;
    const char c = format ? *format : 'B';
    if (c == 0 || (format && format[1])) return type;
    if (c == '?') {
        type.code = halide_type_uint;
        type.bits = 1;
    } else if (strchr("bhilqn", c)) {
        type.code = halide_type_int;
    } else if (strchr("BHILQN", c)) {
        type.code = halide_type_uint;
    } else if (strchr("efd", c)) {
        type.code = halide_type_float;
    }
    return type;
}

static bool check_type(const pipeline *p, const pipeline_argument *a, halide_type_t type) {
    if (type.code == a->type.code && type.bits == a->type.bits && type.lanes == 1) return true;
    return REFUSE(PyExc_TypeError, "must be of %s, not of %s", type_text(a->type.code, a->type.bits),
                  type_text(type.code, type.bits));
}

/* Fills in a dimension of the buffer: those of arrays are listed the other way round. */
static bool set_dimension(const pipeline *p, const pipeline_argument *a, halide_buffer_t *b, int axis, int64_t extent,
                          int64_t stride) {
    if (extent > INT32_MAX || stride > INT32_MAX || stride < INT32_MIN) {
        return REFUSE(PyExc_ValueError, "is too large along axis %d: extents and strides have 32 bits", axis);
    }
    const int d = a->dimensions - 1 - axis;
    b->dim[d].min = 0;
    b->dim[d].extent = (int32_t)extent;
    b->dim[d].stride = (int32_t)stride;
    b->dim[d].flags = 0;
    return true;
}

static bool check_shape(const pipeline *p, const pipeline_argument *a, int dimensions, const void *data) {
    if (dimensions != a->dimensions) {
        return REFUSE(PyExc_ValueError, "must have %d dimensions, not %d", (int)a->dimensions, dimensions);
    }
    const unsigned bytes = (a->type.bits + 7u) / 8u;
    if ((uintptr_t)data % bytes) return REFUSE(PyExc_ValueError, "is not aligned to its elements of %u bytes", bytes);
    return true;
}

/* Of an empty array, the address may be NULL, which would ask the pipeline what it needs, and compute nothing. */
static bool set_memory(const pipeline *p, const pipeline_argument *a, halide_buffer_t *b, void *data) {
    static uint8_t nothing[1] __attribute__((aligned(4096)));
    bool is_empty = false;
    for (int d = 0; d < b->dimensions; d++) is_empty = is_empty || b->dim[d].extent == 0;
    if (!data && !is_empty) return REFUSE(PyExc_ValueError, "has %s", "no memory");
    b->host = data ? data : nothing;
    return true;
}

static bool from_view(const pipeline *p, const pipeline_argument *a, passed *to) {
    const Py_buffer *v = &to->view;
    if (!check_type(p, a, type_of_format(v->format, v->itemsize)) || !check_shape(p, a, v->ndim, v->buf)) return false;
    for (int axis = 0; axis < v->ndim; axis++) {
        if (v->strides[axis] % v->itemsize) {
            return REFUSE(PyExc_ValueError, "has a stride along axis %d that is no multiple of its elements", axis);
        }
        if (!set_dimension(p, a, &to->buffer, axis, v->shape[axis], v->strides[axis] / v->itemsize)) return false;
    }
    return set_memory(p, a, &to->buffer, v->buf);
}

static bool from_dlpack(const pipeline *p, const pipeline_argument *a, PyObject *of, passed *to) {
    PyObject *const method = PyObject_GetAttrString(of, "__dlpack__");
    if (!method) {
        PyErr_Clear();
        return refuse(p, a, PyExc_TypeError, "must be an array, with the buffer protocol or DLPack, and this is", of);
    }
    to->capsule = PyObject_CallObject(method, NULL);
    Py_DecRef(method);
    if (!to->capsule) return false;
    if (!PyCapsule_IsValid(to->capsule, "dltensor")) {
        return refuse(p, a, PyExc_BufferError, "gives no DLPack tensor", of);
    }
    const DLTensor *const t = PyCapsule_GetPointer(to->capsule, "dltensor");
    if (t->device.device_type != DLPACK_CPU) return refuse(p, a, PyExc_BufferError, "is not in the host's memory", of);
    static const uint8_t codes[7] = {halide_type_int, halide_type_uint, halide_type_float, 255, halide_type_bfloat, 255,
                                     halide_type_uint};
    halide_type_t type = {t->dtype.code < 7 ? codes[t->dtype.code] : 255, t->dtype.bits, t->dtype.lanes};
    if (t->dtype.code == DLPACK_BOOL && type.bits == 8) type.bits = 1;
    uint8_t *const data = t->data ? (uint8_t *)t->data + t->byte_offset : NULL;
    if (!check_type(p, a, type) || !check_shape(p, a, t->ndim, data)) return false;
    int64_t dense = 1;
    for (int axis = t->ndim - 1; axis >= 0; axis--) {
        if (!set_dimension(p, a, &to->buffer, axis, t->shape[axis], t->strides ? t->strides[axis] : dense)) return false;
        dense *= t->shape[axis];
    }
    return set_memory(p, a, &to->buffer, data);
}

static bool as_buffer(const pipeline *p, const pipeline_argument *a, PyObject *of, passed *to) {
    if (!PyObject_CheckBuffer(of)) return from_dlpack(p, a, of, to);
    const int written = a->kind == halide_argument_kind_output_buffer ? BUFFER_WRITABLE : 0;
    if (PyObject_GetBuffer(of, &to->view, BUFFER_FORMAT | BUFFER_STRIDES | written) == 0) {
        to->has_view = true;
        return from_view(p, a, to);
    }
    if (written && (PyErr_Clear(), PyObject_GetBuffer(of, &to->view, BUFFER_FORMAT | BUFFER_STRIDES) == 0)) {
        to->has_view = true;
        return refuse(p, a, PyExc_ValueError, "is an output, and read-only", of);
    }
    PyErr_Clear();
    return refuse(p, a, PyExc_TypeError, "has no elements that are numbers, or no strides", of);
}

/* Says of what kind an argument must be, where an object's class has no such value. What else was raised on the way to
   the value, by the object's own code, stays. */
static bool refuse_value(const pipeline *p, const pipeline_argument *a, const char *kind, PyObject *of) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
    PyErr_Clear();
    return REFUSE(PyExc_TypeError, "must be %s, not %R", kind, of);
}

/* numpy's bool is no integer of Python's: the byte that it shows is read. */
static bool is_bool_of_numpy(PyObject *of, uint8_t *to) {
    Py_buffer view;
    if (!PyObject_CheckBuffer(of)) return false;
    if (PyObject_GetBuffer(of, &view, BUFFER_FORMAT | BUFFER_STRIDES) != 0) {
        PyErr_Clear(); /* it may be an integer all the same */
        return false;
    }
    const bool is_one = view.ndim == 0 && view.format && strcmp(view.format, "?") == 0;
    if (is_one) *to = *(const uint8_t *)view.buf != 0;
    PyBuffer_Release(&view);
    return is_one;
}

static bool as_integer(const pipeline *p, const pipeline_argument *a, PyObject *of, halide_scalar_value_t *to) {
    const unsigned bits = a->type.bits;
    const bool is_signed = a->type.code == halide_type_int;
    if (bits == 1 && is_bool_of_numpy(of, &to->u.u8)) return true;
    PyObject *const number = PyNumber_Index(of);
    if (!number) return refuse_value(p, a, "an integer", of);
    bool fits;
    if (is_signed) {
        const int64_t value = PyLong_AsLongLong(number), most = INT64_MAX >> (64 - bits);
        fits = !PyErr_Occurred() && value <= most && value >= -most - 1;
        to->u.i64 = value;
    } else {
        const uint64_t value = PyLong_AsUnsignedLongLong(number);
        fits = !PyErr_Occurred() && value <= UINT64_MAX >> (64 - bits);
        to->u.u64 = value;
    }
    Py_DecRef(number);
    PyErr_Clear();
    if (!fits) return REFUSE(PyExc_OverflowError, "is of %s, which can't hold %R", type_text(a->type.code, a->type.bits), of);
    /* The lowest byte is the first, or the value is moved there. */
    switch (bits) {
    case 1:
    case 8: to->u.u8 = (uint8_t)to->u.u64; break;
    case 16: to->u.u16 = (uint16_t)to->u.u64; break;
    case 32: to->u.u32 = (uint32_t)to->u.u64; break;
    default: break;
    }
    return true;
}

static bool as_scalar(const pipeline *p, const pipeline_argument *a, PyObject *of, halide_scalar_value_t *to) {
    if (a->type.bits == 16 && a->type.code >= halide_type_float) {
        return REFUSE(PyExc_TypeError, "is a scalar of %s, which can't be given", type_text(a->type.code, 16));
    }
    if (a->type.code != halide_type_float) return as_integer(p, a, of, to);
    const double value = PyFloat_AsDouble(of);
    if (value == -1.0 && PyErr_Occurred()) return refuse_value(p, a, "a number", of);
    if (a->type.bits == 64) {
        to->u.f64 = value;
        return true;
    }
    to->u.f32 = (float)value;
    if (isinf(to->u.f32) && !isinf(value)) {
        return REFUSE(PyExc_OverflowError, "is of %s, which can't hold %R", type_text(a->type.code, a->type.bits), of);
    }
    return true;
}

static int position_of(const pipeline *p, const char *name) {
    for (int i = 0; name && i < p->num_arguments; i++) {
        if (strcmp(p->arguments[i].name, name) == 0) return i;
    }
    return -1;
}

/* Puts what a call was given in the order of the arguments. */
static bool collect(const pipeline *p, PyObject *const *given, Py_ssize_t count, PyObject *names, PyObject **values) {
    if (count > p->num_arguments) {
        return PyErr_Format(PyExc_TypeError, "%s() takes %d arguments, not %zd", p->name, p->num_arguments, count), false;
    }
    for (int i = 0; i < p->num_arguments; i++) values[i] = i < count ? given[i] : NULL;
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < named; k++) {
        PyObject *const name = PyTuple_GetItem(names, k);
        const int i = position_of(p, PyUnicode_AsUTF8AndSize(name, NULL));
        if (i < 0) return PyErr_Format(PyExc_TypeError, "%s() has no argument %R", p->name, name), false;
        if (values[i]) return PyErr_Format(PyExc_TypeError, "%s() is given %R twice", p->name, name), false;
        values[i] = given[count + k];
    }
    for (int i = 0; i < p->num_arguments; i++) {
        if (!values[i]) {
            const char *const name = p->arguments[i].name;
            return PyErr_Format(PyExc_TypeError, "%s() needs the argument \"%s\"", p->name, name), false;
        }
    }
    return true;
}

static PyObject *error_of(int code) {
    switch (code) {
    case halide_core_error_out_of_memory: return PyExc_MemoryError;
    case halide_core_error_cancelled: return PyExc_KeyboardInterrupt;
    case halide_core_error_assertion_failed:
    case halide_core_error_extern_failed:
    case halide_core_error_forked_inside_task:
    case halide_core_error_specialize_fail:
    case halide_core_error_file: return PyExc_RuntimeError;
    default: return PyExc_ValueError; /* something about an argument */
    }
}

static PyObject *run_pipeline(int (*call)(void **), const pipeline *p, PyObject *const *given, Py_ssize_t count,
                              PyObject *names) {
    const int arguments = p->num_arguments, room = arguments ? arguments : 1;
    PyObject *values[room];
    if (!collect(p, given, count, names, values)) return NULL;
    int dimensions = 1;
    for (int i = 0; i < arguments; i++) dimensions += p->arguments[i].dimensions;
    halide_dimension_t dims[dimensions], *next = dims;
    passed passes[room];
    void *pointers[room];
    bool fine = true;
    int made = 0;
    for (; fine && made < arguments; made++) {
        const pipeline_argument *const a = &p->arguments[made];
        passed *const to = &passes[made];
        to->capsule = NULL;
        to->has_view = false;
        if (a->kind == halide_argument_kind_input_scalar) {
            pointers[made] = &to->scalar;
            fine = as_scalar(p, a, values[made], &to->scalar);
        } else {
            memset(&to->buffer, 0, sizeof to->buffer);
            to->buffer.type = a->type;
            to->buffer.dimensions = a->dimensions;
            to->buffer.dim = next;
            next += a->dimensions;
            pointers[made] = &to->buffer;
            fine = as_buffer(p, a, values[made], to);
        }
    }
    int code = 0;
    if (fine) {
        PyThreadState *const state = PyEval_SaveThread();
        code = call(pointers);
        PyEval_RestoreThread(state);
        if (code) PyErr_Format(error_of(code), "%s", halide_core_last_error());
    }
    for (int i = 0; i < made; i++) {
        if (passes[i].has_view) PyBuffer_Release(&passes[i].view);
        if (passes[i].capsule) Py_DecRef(passes[i].capsule);
    }
    if (!fine || code) return NULL;
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
}

static int start_module(PyObject *module) {
    (void)module;
    halide_core_quiet_errors(); /* errors are exceptions */
    return 0;
}
