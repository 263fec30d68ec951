/* Names the C library's functions so that the compiler doesn't know them. */

/* From here on it is emitted. */
#define LIBRARY_TEXT(word) #word
#define LIBRARY_NAME(prefix, name) LIBRARY_TEXT(prefix) #name
#define LIBRARY_OF(prefix, name) LIBRARY_NAME(prefix, name)
#define LIBRARY(name) __asm__(LIBRARY_OF(__USER_LABEL_PREFIX__, name))
#ifdef __clang__ /* which knows them by these names, too: where it can't see the values, it computes nothing by itself */
#define UNKNOWN(value) __asm__("" : "+m"(value))
#else
#define UNKNOWN(value) (void)0
#endif
