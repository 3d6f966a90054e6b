//===- RegisterPrograms.h - ops in vector registers -------------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_REGISTERPROGRAMS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_REGISTERPROGRAMS_H

#include "compiler/Conversion/Lowering/Frame/Lowering.h"

namespace heddle::loops {

/// Linears, attentions and rows of caches by vector registers and threads.
const Programs &registerPrograms();

} // namespace heddle::loops

#endif
