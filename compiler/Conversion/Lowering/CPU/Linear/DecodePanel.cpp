//===- DecodePanel.cpp - the numbers of a panel of codes -------------------===//

#include "compiler/Conversion/Lowering/CPU/Linear/CodeWords.h"
#include "compiler/Conversion/Lowering/CPU/Linear/CodedSums.h"
#include "compiler/Conversion/Lowering/Language/CodeNumbers.h"
#include "compiler/Conversion/Lowering/Language/Halves.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

Value heddle::loops::loadedReals(Code &c, PackedType type, Value address) {
  if (type == PackedType::F32)
    return c.loadLanes(c.f32(), address);
  return widenedScale(c, type, c.loadLanes(c.b.getI16Type(), address));
}

namespace {
/// Decodes one panel.
class Decoder {
public:
  Decoder(Code &c, const Coding &coding, int64_t k, int64_t width, Value from, Value to)
      : c(c), coding(coding), k(k), width(width), from(from), to(to) {}
  void panel(Value number);

private:
  Value byte(Value base, Value at) { return c.at(base, at, c.b.getI8Type()); }
  Value byte(Value base, int64_t at) { return byte(base, c.constant(at)); }
  SmallVector<GroupValues> heads(Value section);
  SmallVector<GroupValues> groups(const SmallVector<GroupValues> &heads, Value part, Value number);
  void block(const SmallVector<GroupValues> &groups, Value lines, Value first);
  void write(const SmallVector<GroupValues> &groups, const Values &codes, int64_t shift, Value feature);

  Code &c;
  const Coding &coding;
  int64_t k, width;
  Value from, to;
};
} // namespace

/// What a section has before its codes, for each vector of results.
SmallVector<GroupValues> Decoder::heads(Value section) {
  SmallVector<GroupValues> all;
  int64_t bytes = int64_t(heddle::width(coding.scale));
  for (int64_t n = 0; n < width; n += c.lanes) {
    GroupValues &mine = all.emplace_back();
    mine.scale = loadedReals(c, coding.scale, byte(section, n * bytes));
    if (coding.zeros || coding.minima)
      (coding.zeros ? mine.zero : mine.minimum) = loadedReals(c, PackedType::F16, byte(section, width * bytes + n * 2));
  }
  return all;
}

/// Of two levels the group `number` of a part.
SmallVector<GroupValues> Decoder::groups(const SmallVector<GroupValues> &heads, Value part, Value number) {
  Type i32 = c.b.getI32Type();
  Value words = byte(part, c.mul(c.div(number, c.constant(4)), width * 4)),
        bits = c.mul(c.rem(number, c.constant(4)), 8);
  Value down = c.splat(arith::IndexCastOp::create(c.b, i32, bits).getResult());
  Value up = c.splat(arith::IndexCastOp::create(c.b, i32, c.sub(c.constant(24), bits)).getResult());
  SmallVector<GroupValues> all;
  for (auto [j, head] : llvm::enumerate(heads)) {
    int64_t at = int64_t(j) * c.lanes * 4;
    auto load = [&](int64_t behind) { return c.loadLanes(i32, byte(words, at + behind)); };
    Value subScale = signedByte(c, load(0), up);
    Value subMinimum = coding.minima ? unsignedByte(c, load(coding.subBytes(width)), down) : Value();
    all.push_back(head.times(c, subScale, subMinimum));
  }
  return all;
}

/// Writes the numbers of the codes at bit `shift` of each word.
void Decoder::write(const SmallVector<GroupValues> &groups, const Values &codes, int64_t shift, Value feature) {
  for (auto [j, word] : llvm::enumerate(codes)) {
    Value x = groups[j].number(c, coding, masked(c, shifted(c, word, shift), 255));
    c.storeLanes(x, c.at(to, c.add(c.mul(feature, width), int64_t(j) * c.lanes), c.f32()));
  }
}

/// The block whose lines begin at `lines` and whose first feature, in the order of the codes, is `first`.
void Decoder::block(const SmallVector<GroupValues> &groups, Value lines, Value first) {
  Type i32 = c.b.getI32Type();
  auto load = [&](int64_t line) {
    Values words;
    for (int64_t n = 0; n < width; n += c.lanes)
      words.push_back(c.loadLanes(i32, byte(lines, (line * width + n) * 4)));
    return words;
  };
  eachQuad(c, coding, load, [&](int64_t quad, const Values &codes) {
    for (int64_t b = 0; b < 4; ++b) {
      Value place = c.add(first, 4 * quad + b);
      if (!coding.ordered) {
        write(groups, codes, 8 * b, place);
        continue;
      }
      c.when(c.less(place, c.constant(k)), [&] {
        Value feature = c.load(i32, c.at(from, place, i32));
        write(groups, codes, 8 * b, c.toIndex(arith::ExtSIOp::create(c.b, c.b.getI64Type(), feature)));
      });
    }
  });
}

void Decoder::panel(Value number) {
  Value panels = byte(from, coding.orderBytes(k)), stream = byte(panels, c.mul(number, coding.panelBytes(width, k)));
  int64_t inGroup = coding.super ? coding.group : coding.partFeatures(k), features = coding.blockFeatures();
  c.loop(c.constant(0), c.constant(coding.sections(k)), 1, [&](Value s) {
    Value section = byte(stream, c.mul(s, coding.sectionBytes(width, k)));
    SmallVector<GroupValues> head = heads(section);
    c.loop(c.constant(0), c.constant(coding.parts(k)), 1, [&](Value h) {
      Value part = byte(byte(section, c.mul(h, coding.partBytes(width, k))), coding.headBytes(width));
      Value codes = byte(part, coding.partHeadBytes(width));
      Value before = c.add({c.mul(s, coding.sectionFeatures(k)), c.mul(h, coding.partFeatures(k))});
      c.loop(c.constant(0), c.constant(coding.partFeatures(k) / inGroup), 1, [&](Value g) {
        SmallVector<GroupValues> mine = coding.super ? groups(head, part, g) : head;
        Value first = c.add(before, c.mul(g, inGroup)), lines = byte(codes, c.mul(g, coding.codeBytes(width, inGroup)));
        c.loop(c.constant(0), c.constant(inGroup / features), 1, [&](Value i) {
          Value here = byte(lines, c.mul(i, coding.blockLines() * width * 4)), place = c.add(first, c.mul(i, features));
          block(mine, here, place);
        });
      });
    });
  });
}

void heddle::loops::decodePanel(Code &c, const Coding &coding, int64_t k, int64_t width, Value from, Value panel,
                                Value to) {
  Decoder(c, coding, k, width, from, to).panel(panel);
}
