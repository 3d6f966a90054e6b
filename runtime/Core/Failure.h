//===- Failure.h - What generated code reports ------------------*- C++ -*-===//
//
// The codes of HEDDLE_FAILURE (abi.def) as errors for the user, wherever the
// code ran.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_FAILURE_H
#define HEDDLE_RUNTIME_CORE_FAILURE_H

#include "runtime/Core/Status.h"

#include <vector>

namespace heddle::rt {

/// The operands of heddle_fail as an error; `lookups` are those lines of the card.
Status modelFailed(int64_t code, int64_t a, int64_t b, const std::vector<std::string> &lookups = {});

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_FAILURE_H
