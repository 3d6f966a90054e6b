//===- CodeWords.h - codes out of the words of a panel ----------*- C++ -*-===//
//
// A block of a panel of codes (Coding.h) as vectors of words, each with the codes of four features of one result.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_CODEWORDS_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_CODEWORDS_H

#include "compiler/Conversion/Lowering/CPU/Linear/ByteProducts.h"

namespace heddle::loops {

/// Calls `visit(quad, codes)` for each four features of a block, ascending: stored codes, unsigned, a byte each.
/// `load(line)` reads the vectors of a line of words.
void eachQuad(Code &c, const Coding &coding, llvm::function_ref<Values(int64_t line)> load,
              llvm::function_ref<void(int64_t quad, const Values &codes)> visit);

/// Stored codes as the bytes that are multiplied (offsetOfBytes); with signs `sizes` are their sizes where they are
/// multiplied in pairs, else null.
struct CodeBytes {
  Value bytes, sizes;
};
CodeBytes multipliedBytes(Code &c, const CodeFormat &format, Products products, Value codes);

} // namespace heddle::loops

#endif
