//===- Explain.h - heddle explain -------------------------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_EXPLAIN_EXPLAIN_H
#define HEDDLE_COMPILER_EXPLAIN_EXPLAIN_H

#include "compiler/Driver/Console.h"

namespace heddle {

/// `heddle explain NAME`: every topic of that name, as text or as a JSON array of objects {kind, name, title, facts,
/// text}. Without a name it lists what can be explained; a name that nothing has is BadUsage, with the nearest ones.
int explain(const Console &console, llvm::StringRef name, bool json);

} // namespace heddle

#endif // HEDDLE_COMPILER_EXPLAIN_EXPLAIN_H
