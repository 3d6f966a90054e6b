//===- abi.h - What compiled models and the runtime agree on ----*- C -*-===//
//
// Generated code sees the runtime only through this file; the compiler reads
// abi.def, which lists the same functions with their types. An entry is called
// once on every thread of the team with the same arguments (SPMD): it takes its
// share of the work from `tid` and `nth`, and separates producers from
// consumers on other threads by heddle_barrier.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_ABI_H
#define HEDDLE_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One call of one entry: the barrier of its team and its first error.
typedef struct heddle_ctx heddle_ctx;

/// `dims`: in the order of the card's line `dims`. `tensors`: inputs, outputs,
/// states in card order, row-major and contiguous, a bool is a byte 0 or 1; an
/// input with a default may be NULL. `arena`: 64-byte aligned scratch memory of
/// the size the card states. `weights`: base of the packed weights.
typedef void (*heddle_entry_fn)(heddle_ctx *ctx, int64_t tid, int64_t nth,
                                const int64_t *dims, void *const *tensors,
                                char *arena, const char *weights);

/// Waits until every thread of the team is here. What was written before it on
/// any thread is visible after it on all.
void heddle_barrier(heddle_ctx *ctx);

/// Records the first run-time error and returns; codes are in abi.def. The
/// results of the call are refused afterwards.
void heddle_fail(heddle_ctx *ctx, int64_t code, int64_t a, int64_t b);

#ifdef __cplusplus
}
#endif

#endif // HEDDLE_RUNTIME_ABI_H
