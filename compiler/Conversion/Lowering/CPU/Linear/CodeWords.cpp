//===- CodeWords.cpp - codes out of the words of a panel -------------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/CodeWords.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

void heddle::loops::eachQuad(Code &c, const Coding &coding, llvm::function_ref<Values(int64_t line)> load,
                             llvm::function_ref<void(int64_t quad, const Values &codes)> visit) {
  if (coding.bits == 8)
    return visit(0, load(0));
  int64_t more = coding.bits - 4, mask = ((1 << more) - 1) * 0x10101010;
  Values high = coding.hasHighBits() ? load(0) : Values(), words;
  for (int64_t quad = 0; quad < coding.blockFeatures() / 4; ++quad) {
    if (quad % 2 == 0)
      words = load(quad / 2 + coding.hasHighBits());
    Values codes;
    for (auto [j, word] : llvm::enumerate(words)) {
      Value low = masked(c, shifted(c, word, 4 * (quad % 2)), 0x0f0f0f0f);
      if (coding.hasHighBits()) // from bit more * quad of a byte to bit 4
        low = arith::OrIOp::create(c.b, masked(c, shifted(c, high[j], more * quad - 4), mask), low);
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
