/* Keeps in a register what was loaded into it. gcc's combination of instructions makes of a load, and of each of several
 * operations on what it loads, an operation on memory, so that it is loaded once for each: by that a median of nine takes
 * 1.6 times as long. Vectors that no register holds stay as they are. */

/* From here on it is emitted. */
#if !(defined(__GNUC__) && !defined(__clang__))
#define LOADED(v)
#elif defined(__x86_64__)
#define LOADED(v) __asm__("" : "+v"(v))
#elif defined(__aarch64__)
#define LOADED(v) __asm__("" : "+w"(v))
#else
#define LOADED(v)
#endif
#ifdef __AVX__
#define LOADED_32 LOADED
#else
#define LOADED_32(v)
#endif
#ifdef __AVX512F__
#define LOADED_64 LOADED
#else
#define LOADED_64(v)
#endif
