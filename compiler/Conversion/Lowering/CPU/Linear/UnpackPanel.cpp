//===- UnpackPanel.cpp - a panel of codes as the bytes to multiply ---------===//

#include "compiler/Conversion/Lowering/CPU/Linear/UnpackPanel.h"
#include "compiler/Conversion/Lowering/CPU/Linear/CodeWords.h"
#include "compiler/Conversion/Lowering/CPU/Linear/MatrixSums.h"
#include "dialects/Model/IR/ModelPlanAttrs.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

bool heddle::loops::unpacksPanels(model::LinearOp op) {
  model::Arithmetic arithmetic = model::arithmeticOf(op);
  if (!arithmetic.integers() || arithmetic.coding.bits == 8 || productsOf(op) != Products::Quads)
    return false;
  if (multipliesMatrices(op))
    return true;
  auto y = cast<model::ModelTensorType>(op->getResult(0).getType());
  int64_t n = y.getSize(y.getRank() - 1).constant().value_or(0), k = featuresOf(op);
  return arithmetic.coding.hasHighBits() && k * n >= scheduleOf(op).getSmall() && !gateOf(op);
}

Coding heddle::loops::unpackedCoding(const Coding &coding, Products products) {
  Coding unpacked = coding;
  unpacked.zeroCode = offsetOfBytes(coding, products);
  unpacked.table = CodeTable::None;
  unpacked.bits = 8;
  return unpacked;
}

namespace {
/// Reads one panel and writes it.
struct Unpacker {
  Code &c;
  const Coding &coding, unpacked;
  Products products;
  int64_t k, panel;

  Value byte(Value base, Value at) { return c.at(base, at, c.b.getI8Type()); }
  Value byte(Value base, int64_t at) { return byte(base, c.constant(at)); }
  void copy(Value from, Value to, int64_t bytes);
  void part(Value from, Value to);
  void all(Value from, Value to);
};
} // namespace

/// Scales, in words of 4 bytes.
void Unpacker::copy(Value from, Value to, int64_t bytes) {
  Type i32 = c.b.getI32Type();
  c.vectors(c.constant(bytes / 4), [&](Value j, Value mask) {
    Value words = c.loadLanes(i32, c.at(from, j, i32), mask);
    c.storeLanes(words, c.at(to, j, i32), mask);
  });
}

void Unpacker::part(Value from, Value to) {
  Type i32 = c.b.getI32Type();
  int64_t line = panel * 4, features = coding.blockFeatures(), head = coding.partHeadBytes(panel);
  copy(from, to, head);
  c.loop(c.constant(0), c.constant(coding.partFeatures(k) / features), 1, [&](Value s) {
    Value block = byte(byte(from, c.mul(s, coding.blockLines() * line)), head);
    Value lines = byte(byte(to, c.mul(s, features * panel)), head);
    auto load = [&](int64_t l) {
      Values words;
      for (int64_t n = 0; n < panel; n += c.lanes)
        words.push_back(c.loadLanes(i32, byte(block, l * line + n * 4)));
      return words;
    };
    eachQuad(c, coding, load, [&](int64_t quad, const Values &codes) {
      for (auto [j, word] : llvm::enumerate(codes)) {
        Value bytes = multipliedBytes(c, coding, products, word).bytes;
        c.storeLanes(bytes, byte(lines, quad * line + int64_t(j) * c.lanes * 4));
      }
    });
  });
}

void Unpacker::all(Value from, Value to) {
  int64_t head = coding.headBytes(panel);
  c.loop(c.constant(0), c.constant(coding.sections(k)), 1, [&](Value s) {
    Value section = byte(from, c.mul(s, coding.sectionBytes(panel, k)));
    Value here = byte(to, c.mul(s, unpacked.sectionBytes(panel, k)));
    copy(section, here, head);
    c.loop(c.constant(0), c.constant(coding.parts(k)), 1, [&](Value h) {
      Value packed = byte(byte(section, c.mul(h, coding.partBytes(panel, k))), head);
      Value open = byte(byte(here, c.mul(h, unpacked.partBytes(panel, k))), head);
      part(packed, open);
    });
  });
}

void heddle::loops::unpackPanel(Code &c, const Coding &coding, Products products, int64_t k, int64_t panel, Value from,
                                Value to) {
  Unpacker{c, coding, unpackedCoding(coding, products), products, k, panel}.all(from, to);
}
