//===- abi.h - What compiled models and the runtime agree on ----*- C -*-===//
//
// All that generated code sees of the runtime. abi.def lists the same functions
// with their types for the compiler. An entry is called once on every thread of
// the team with the same arguments (SPMD): it takes its share of the work by
// `tid` and `nth`, and heddle_barrier separates what threads write from what
// other threads read.
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
typedef void (*heddle_entry_fn)(heddle_ctx *ctx, int64_t tid, int64_t nth, const int64_t *dims, void *const *tensors,
                                char *arena, const char *weights);

/// What a kernel on a device records instead of calling heddle_fail: whoever
/// changes `state` from 0 to 1 writes the rest.
typedef struct heddle_failure {
  int64_t state, code, a, b;
} heddle_failure;

/// A kernel of an entry on a device; every pointer is the device's. `fail`: one
/// for a call, state 0 at first. `i`, `j`: indices of the repeats around its
/// launch, outer and inner (card.md); 0 without. `numbers`: what
/// the card says behind `with`, passed by value to a device; null without.
typedef void (*heddle_kernel_fn)(heddle_failure *fail, const int64_t *dims, void *const *tensors, char *arena,
                                 const char *weights, int64_t i, int64_t j, const int64_t *numbers);

/// Waits until every thread of the team is here. What was written before it on
/// any thread is visible after it on all. It ends phase number `phase` of the
/// entry, a line `phase` of the card.
void heddle_barrier(heddle_ctx *ctx, int64_t phase);

/// A part of this phase's work that nobody has taken yet, of parts 0, 1, ...
/// `parts` - 1; -1: none is left. Thread `tid` gets those of its own stretch
/// in their order, then what other threads have left of theirs. Every thread
/// of the team names the same number of parts; one such loop a phase.
int64_t heddle_take(heddle_ctx *ctx, int64_t tid, int64_t parts);

/// Records the first run-time error and returns; the low 8 bits of `code` are
/// one of abi.def, those above 1 + the number of the card's `lookup` that it
/// is of, or 0. The results of the call are refused afterwards.
void heddle_fail(heddle_ctx *ctx, int64_t code, int64_t a, int64_t b);

#ifdef __cplusplus
}
#endif

#endif // HEDDLE_RUNTIME_ABI_H
