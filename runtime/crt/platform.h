/* What the system under the runtime has; a compiler's -D may say otherwise. */
#ifndef HALIDE_CORE_PLATFORM_H
#define HALIDE_CORE_PLATFORM_H

#if defined(__unix__) || defined(__APPLE__)
#define HALIDE_CORE_POSIX 1
#endif

/* Threads: everywhere but in WebAssembly without atomics, and where there is no operating system. */
#if !defined(HALIDE_CORE_NO_THREADS) && (defined(HALIDE_CORE_POSIX) || defined(_WIN32) || defined(__wasm_atomics__))
#define HALIDE_CORE_HAS_THREADS 1
#endif

/* Handlers of signals that are told who sent them. */
#ifdef HALIDE_CORE_POSIX
#define HALIDE_CORE_HAS_SIGNALS 1
#endif

/* One of each thread. */
#ifdef HALIDE_CORE_HAS_THREADS
#define HALIDE_CORE_THREAD_LOCAL _Thread_local
#else
#define HALIDE_CORE_THREAD_LOCAL
#endif

#endif
