// The types of elements in GGUF files: one table with numbers, names and sizes of blocks. Layouts: GgufBlocks.h.
#ifndef HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFTYPE_H
#define HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFTYPE_H

#include "compiler/Weights/Files/StoredType.h"
#include <string>

namespace heddle {

enum class GgufType : uint8_t {
  F32,
  F16,
  BF16,
  F64,
  I8,
  I16,
  I32,
  I64,
  // Blocks with a scale, some with a minimum.
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  IQ4_NL,
  MXFP4,
  NVFP4,
  TQ1_0,
  TQ2_0,
  Q1_0,
  Q2_0,
  // Super-blocks of 256, whose groups have scales that are integers.
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  IQ4_XS,
  // Super-blocks of entries of a codebook.
  IQ1_S,
  IQ1_M,
  IQ2_XXS,
  IQ2_XS,
  IQ2_S,
  IQ3_XXS,
  IQ3_S,
};

struct GgufTypeRow {
  GgufType type;
  uint32_t number; ///< in files
  const char *name;
  int64_t elements, bytes; ///< of a block; 1 element in types without blocks
};

const GgufTypeRow &rowOf(GgufType type);
/// The type with this number; null: it is not read.
const GgufTypeRow *findGgufType(uint32_t number);
/// All types, in the order of the enumeration.
llvm::ArrayRef<GgufTypeRow> ggufTypes();
/// For messages: "Q8_K (15)", "number 999".
std::string nameOfUnreadType(uint32_t number);

inline bool isBlocks(GgufType type) { return type >= GgufType::Q4_0; }
/// Integers, which are no weights.
inline bool isWhole(GgufType type) { return type >= GgufType::I8 && type <= GgufType::I64; }
/// The type of single elements that are no blocks; U8 for blocks, which are listed as rows of bytes.
StoredType storedTypeOf(GgufType type);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_GGUF_GGUFTYPE_H
