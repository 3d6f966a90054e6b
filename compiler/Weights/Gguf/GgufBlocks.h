// The types of blocks in GGUF files as codes (CodedMatrix.h). One rule holds for every type:
//
//   number = integer(code) * scale + minimum      the exact real value, rounded once to f32
//
// Codes are small integers, or indices of a table of 16. Neighbours share a scale, and in some types a minimum. In
// types of two levels both are the product of a number of the super-block and an integer of the group. Layouts are
// those of ggml (ggml-common.h, ggml-quants.c); of MXFP4 the OCP Microscaling specification 1.0, which also has E4M3
// and E2M1.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFBLOCKS_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFBLOCKS_H

#include "compiler/Weights/Coded/CodedMatrix.h"
#include "compiler/Weights/Gguf/GgufType.h"

namespace heddle {

/// Of a type of blocks.
const CodedForm &codedFormOf(GgufType type);

/// Takes whole blocks apart and adds what they hold to `to`. Every pattern of bytes is allowed; scales and minima may
/// be infinite or no numbers.
void takeApart(GgufType type, llvm::ArrayRef<uint8_t> blocks, CodedRows &to);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFBLOCKS_H
