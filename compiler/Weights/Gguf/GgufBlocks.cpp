// The forms of all types, and which reader takes a type apart.
#include "compiler/Weights/Gguf/GgufBlocks.h"
#include "compiler/Weights/Gguf/BlockReaders.h"
#include <cassert>

namespace heddle {
namespace {

/// One level. `zero` is the code of 0. Codes of three values have 2 bits, those of three bits have 4.
CodedForm flat(int64_t group, int64_t bits, int64_t zero = CodeFormat::kMiddle, bool minima = false) {
  CodedForm form;
  form.group = group;
  form.bits = bits;
  form.zeroCode = zero;
  form.minima = minima;
  return form;
}

CodedForm tabled(int64_t group, CodeTable table, PackedType scale = PackedType::F16) {
  CodedForm form = flat(group, 4);
  form.table = table;
  form.scale = scale;
  return form;
}

/// A super-block of 256 elements.
CodedForm super(CodedForm form) {
  form.super = CodeFormat::superFeatures;
  return form;
}

/// Integers of 8 bits; the number of the super-block is an f16 times 2^-2 or 2^-3.
CodedForm codebook(int64_t group, PackedType scale = PackedType::F32) {
  CodedForm form = super(flat(group, 8));
  form.scale = scale;
  return form;
}

CodedForm makeForm(GgufType type) {
  switch (type) {
  case GgufType::Q4_0: return flat(32, 4);
  case GgufType::Q4_1: return flat(32, 4, 0, true);
  case GgufType::Q5_0: return flat(32, 5);
  case GgufType::Q5_1: return flat(32, 5, 0, true);
  case GgufType::Q8_0: return flat(32, 8);
  case GgufType::IQ4_NL: return tabled(32, CodeTable::NL4);
  case GgufType::MXFP4: return tabled(32, CodeTable::E2M1, PackedType::BF16);
  case GgufType::NVFP4: return tabled(16, CodeTable::E2M1);
  case GgufType::TQ1_0:
  case GgufType::TQ2_0: return flat(256, 2, 1);
  case GgufType::Q1_0: return flat(128, 2, 1);
  case GgufType::Q2_0: return flat(64, 2, 1);
  case GgufType::Q2_K: return super(flat(16, 2, 0, true));
  case GgufType::Q3_K: return super(flat(16, 4, 4));
  case GgufType::Q4_K: return super(flat(32, 4, 0, true));
  case GgufType::Q5_K: return super(flat(32, 5, 0, true));
  case GgufType::Q6_K: return super(flat(16, 6));
  case GgufType::IQ4_XS: return super(tabled(32, CodeTable::NL4));
  case GgufType::IQ1_S:
  case GgufType::IQ2_XXS:
  case GgufType::IQ3_XXS: return codebook(32);
  case GgufType::IQ1_M:
  case GgufType::IQ2_XS:
  case GgufType::IQ2_S: return codebook(16);
  case GgufType::IQ3_S: return codebook(32, PackedType::F16);
  default: return {}; // no blocks
  }
}

blocks::Reader readerOf(GgufType type) {
  if (blocks::Reader reader = blocks::plainReader(type))
    return reader;
  if (blocks::Reader reader = blocks::superReader(type))
    return reader;
  return blocks::codebookReader(type);
}

} // namespace

const CodedForm &codedFormOf(GgufType type) {
  assert(isBlocks(type));
  static const std::vector<CodedForm> forms = [] {
    std::vector<CodedForm> all;
    for (const GgufTypeRow &row : ggufTypes())
      all.push_back(makeForm(row.type));
    return all;
  }();
  return forms[size_t(type)];
}

void takeApart(GgufType type, llvm::ArrayRef<uint8_t> bytes, CodedRows &to) {
  const CodedForm &form = codedFormOf(type);
  const GgufTypeRow &row = rowOf(type);
  blocks::Reader read = readerOf(type);
  size_t count = bytes.size() / size_t(row.bytes), elements = size_t(row.elements);
  size_t groups = size_t(row.elements / form.group), scales = form.super ? 1 : groups;
  auto grown = [&](auto &part, size_t each) {
    part.resize(part.size() + count * each);
    return part.data() + part.size() - count * each;
  };
  blocks::Target at{};
  at.codes = grown(to.codes, elements);
  at.scales = grown(to.scales, scales);
  if (form.minima)
    at.minima = grown(to.minima, scales);
  if (form.super)
    at.subScales = grown(to.subScales, groups);
  if (form.super && form.minima)
    at.subMinima = grown(to.subMinima, groups);
  for (size_t b = 0; b < count; ++b) {
    read(bytes.data() + b * size_t(row.bytes), at);
    at.codes += elements;
    at.scales += scales;
    at.minima += form.minima ? scales : 0;
    at.subScales += form.super ? groups : 0;
    at.subMinima += form.super && form.minima ? groups : 0;
  }
}

} // namespace heddle
