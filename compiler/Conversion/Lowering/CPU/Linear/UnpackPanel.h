//===- UnpackPanel.h - a panel of codes as the bytes to multiply -*- C++ -*-===//
//
// Many rows multiply by the same panel of codes. Where codes are not the bytes that are multiplied, a thread unpacks
// the panel once for them: another coding of the same numbers, with 8 bits a code and all scales as they are.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_UNPACKPANEL_H
#define HEDDLE_COMPILER_CONVERSION_LOWERING_CPU_LINEAR_UNPACKPANEL_H

#include "compiler/Conversion/Lowering/CPU/Linear/ByteProducts.h"

namespace heddle::loops {

/// Whether tiles of many rows multiply by unpacked panels: in matrix registers all codes of fewer than 8 bits, in
/// vectors those of 5 and 6 bits, whose unpacking takes about as long as six products.
bool unpacksPanels(model::LinearOp op);
/// The coding of an unpacked panel.
Coding unpackedCoding(const Coding &coding, Products products);
/// Writes the panel at `from`, of K features and `panel` results, to `to` in that coding.
void unpackPanel(Code &c, const Coding &coding, Products products, int64_t k, int64_t panel, Value from, Value to);

} // namespace heddle::loops

#endif
