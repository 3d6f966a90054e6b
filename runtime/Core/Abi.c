/*===- Abi.c - abi.def held against abi.h and libm -----------------------===*
 *
 * Every row of abi.def declares its function again, with the row's types. One
 * that is not what abi.h or math.h says does not compile. There is no code.
 *
 *===--------------------------------------------------------------------===*/
#include "heddle/abi.h"
#include <math.h>

typedef void none;
typedef int32_t i32;
typedef int64_t i64;
typedef float f32;
typedef double f64;
typedef heddle_ctx *ctx;
typedef const int64_t *dims;
typedef void *const *tensors;
typedef char *arena;
typedef const char *weights;

#define HEDDLE_FN(symbol, result, ...) result symbol(__VA_ARGS__);
#define HEDDLE_ENTRY(result, ...) typedef result (*heddle_entry_fn)(__VA_ARGS__);
#include "heddle/abi.def"
