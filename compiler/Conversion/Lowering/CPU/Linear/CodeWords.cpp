//===- CodeWords.cpp - codes out of the words of a panel -------------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/CodeWords.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

void heddle::loops::eachQuad(Code &c, const Coding &coding, llvm::function_ref<Values(int64_t line)> load,
                             llvm::function_ref<void(int64_t quad, const Values &codes)> visit) {
  if (coding.bits == 8)
    return visit(0, load(0));
  int64_t bits = coding.lowBits(), inWord = coding.perWord() / 4, more = coding.bits - bits;
  int64_t lowMask = ((1 << bits) - 1) * 0x01010101, highMask = (((1 << more) - 1) << bits) * 0x01010101;
  Values high = coding.hasHighBits() ? load(0) : Values(), words;
  for (int64_t quad = 0; quad < coding.blockFeatures() / 4; ++quad) {
    if (quad % inWord == 0)
      words = load(quad / inWord + coding.hasHighBits());
    Values codes;
    for (auto [j, word] : llvm::enumerate(words)) {
      Value low = masked(c, shifted(c, word, bits * (quad % inWord)), lowMask);
      if (coding.hasHighBits()) // from bit more * quad of a byte to bit `bits`
        low = arith::OrIOp::create(c.b, masked(c, shifted(c, high[j], more * quad - bits), highMask), low);
      codes.push_back(low);
    }
    visit(quad, codes);
  }
}

CodeBytes heddle::loops::multipliedBytes(Code &c, const CodeFormat &format, Products products, Value codes) {
  bool isSigned = bytesAreSigned(format, products);
  if (format.table == CodeTable::None)
    return {isSigned ? flipped(c, codes) : codes, {}};
  SmallVector<int8_t> entries, sizes;
  for (int8_t integer : integersOf(format.table)) {
    entries.push_back(isSigned ? integer : int8_t(integer ^ 0x80));
    sizes.push_back(int8_t(std::abs(int(integer))));
  }
  CodeBytes all{lookedUp(c, products, entries, codes), {}};
  if (isSigned && products == Products::Pairs)
    all.sizes = lookedUp(c, products, sizes, codes);
  return all;
}
