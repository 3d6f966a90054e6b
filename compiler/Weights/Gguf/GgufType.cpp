// Numbers and sizes are those of ggml (ggml.h, ggml-common.h).
#include "compiler/Weights/Gguf/GgufType.h"
#include "llvm/ADT/STLExtras.h"

namespace heddle {
namespace {

constexpr GgufTypeRow rows[] = {
    {GgufType::F32, 0, "F32", 1, 4},
    {GgufType::F16, 1, "F16", 1, 2},
    {GgufType::BF16, 30, "BF16", 1, 2},
    {GgufType::F64, 28, "F64", 1, 8},
    {GgufType::I8, 24, "I8", 1, 1},
    {GgufType::I16, 25, "I16", 1, 2},
    {GgufType::I32, 26, "I32", 1, 4},
    {GgufType::I64, 27, "I64", 1, 8},
    {GgufType::Q4_0, 2, "Q4_0", 32, 18},
    {GgufType::Q4_1, 3, "Q4_1", 32, 20},
    {GgufType::Q5_0, 6, "Q5_0", 32, 22},
    {GgufType::Q5_1, 7, "Q5_1", 32, 24},
    {GgufType::Q8_0, 8, "Q8_0", 32, 34},
    {GgufType::IQ4_NL, 20, "IQ4_NL", 32, 18},
    {GgufType::MXFP4, 39, "MXFP4", 32, 17},
    {GgufType::NVFP4, 40, "NVFP4", 64, 36},
    {GgufType::TQ1_0, 34, "TQ1_0", 256, 54},
    {GgufType::TQ2_0, 35, "TQ2_0", 256, 66},
    {GgufType::Q1_0, 41, "Q1_0", 128, 18},
    {GgufType::Q2_0, 42, "Q2_0", 64, 18},
    {GgufType::Q2_K, 10, "Q2_K", 256, 84},
    {GgufType::Q3_K, 11, "Q3_K", 256, 110},
    {GgufType::Q4_K, 12, "Q4_K", 256, 144},
    {GgufType::Q5_K, 13, "Q5_K", 256, 176},
    {GgufType::Q6_K, 14, "Q6_K", 256, 210},
    {GgufType::IQ4_XS, 23, "IQ4_XS", 256, 136},
    {GgufType::IQ1_S, 19, "IQ1_S", 256, 50},
    {GgufType::IQ1_M, 29, "IQ1_M", 256, 56},
    {GgufType::IQ2_XXS, 16, "IQ2_XXS", 256, 66},
    {GgufType::IQ2_XS, 17, "IQ2_XS", 256, 74},
    {GgufType::IQ2_S, 22, "IQ2_S", 256, 82},
    {GgufType::IQ3_XXS, 18, "IQ3_XXS", 256, 98},
    {GgufType::IQ3_S, 21, "IQ3_S", 256, 110},
};

constexpr bool inOrder() {
  for (size_t i = 0; i < std::size(rows); ++i)
    if (size_t(rows[i].type) != i)
      return false;
  return true;
}
static_assert(inOrder(), "the table is indexed by the enumeration");

struct Unread {
  uint32_t number;
  const char *name;
};
/// Types with a name that no file is read with: types of working memory, layouts that were withdrawn, those of forks.
constexpr Unread unread[] = {
    {4, "Q4_2"},      {5, "Q4_3"},     {9, "Q8_1"},        {15, "Q8_K"},       {31, "Q4_0_4_4"}, {32, "Q4_0_4_8"},
    {33, "Q4_0_8_8"}, {36, "I2_S"},    {37, "IQ4_NL_4_8"}, {38, "IQ4_NL_8_8"}, {133, "Q6_0"},    {134, "IQ1_BN"},
    {135, "IQ2_BN"},  {137, "IQ2_K"},  {138, "IQ3_K"},     {139, "IQ4_K"},     {140, "IQ5_K"},   {141, "IQ6_K"},
    {144, "IQ4_KS"},  {145, "IQ2_KS"}, {146, "IQ4_KSS"},   {152, "IQ5_KS"},    {153, "IQ2_KT"},  {154, "IQ3_KT"},
    {155, "IQ4_KT"},  {156, "IQ3_KS"}, {157, "IQ2_KL"},    {158, "IQ1_KT"},
};

} // namespace

const GgufTypeRow &rowOf(GgufType type) { return rows[size_t(type)]; }

const GgufTypeRow *findGgufType(uint32_t number) {
  const GgufTypeRow *row = llvm::find_if(rows, [&](const GgufTypeRow &r) { return r.number == number; });
  return row == std::end(rows) ? nullptr : row;
}

llvm::ArrayRef<GgufTypeRow> ggufTypes() { return rows; }

std::string nameOfUnreadType(uint32_t number) {
  const Unread *known = llvm::find_if(unread, [&](const Unread &u) { return u.number == number; });
  return known == std::end(unread) ? "number " + std::to_string(number)
                                   : std::string(known->name) + " (" + std::to_string(number) + ")";
}

StoredType storedTypeOf(GgufType type) {
  switch (type) {
  case GgufType::F32: return StoredType::F32;
  case GgufType::F16: return StoredType::F16;
  case GgufType::BF16: return StoredType::BF16;
  case GgufType::F64: return StoredType::F64;
  case GgufType::I8: return StoredType::I8;
  case GgufType::I16: return StoredType::I16;
  case GgufType::I32: return StoredType::I32;
  case GgufType::I64: return StoredType::I64;
  default: return StoredType::U8;
  }
}

} // namespace heddle
