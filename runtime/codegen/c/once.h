/* What is told of a function that runs once a call, and calls what computes. */

/* From here on it is emitted. */
/* Checks of arguments aren't worth a C compiler's time: optimized they take up to a third of it. */
#if defined(__clang__)
#define ONCE __attribute__((noinline, optnone))
#elif defined(__GNUC__)
#define ONCE __attribute__((optimize("O0")))
#else
#define ONCE
#endif
