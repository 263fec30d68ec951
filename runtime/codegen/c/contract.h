/* Keeps clang from rounding a product and a sum once: values would be others where a processor can. gcc has no such
 * pragma, and is given -ffp-contract=off. */

/* From here on it is emitted. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
