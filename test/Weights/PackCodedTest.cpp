// Panels of codes against plain loops that state the stream, and read back; matrices of a file that are rounded while
// they are packed, in both storage orders and in parts; what has no code is refused with its place.
#include "compiler/Weights/Pack/PackCoded.h"
#include "compiler/Weights/Files/StoredType.h"
#include "test/Weights/Support.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace heddle;
using namespace heddle::test;

namespace {

class Collect final : public ByteSink {
public:
  absl::Status append(llvm::ArrayRef<uint8_t> part) override {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return absl::OkStatus();
  }
  std::vector<uint8_t> bytes;
};

/// A matrix of random codes, scales and zeros that f16 and bf16 hold.
struct Matrix final : CodedSource {
  Matrix(const Coding &coding, int64_t n, int64_t k, unsigned seed) : n(n), k(k), coded(formOf(coding, k)) {
    std::mt19937 random(seed);
    for (int64_t i = 0; coding.ordered && i < k; ++i)
      coded.order.push_back(int32_t(k - 1 - i));
    for (int64_t i = 0; i < n * k; ++i)
      all.codes.push_back(uint8_t(random() % (1u << coding.bits)));
    auto number = [&] { return float(int(random() % 255) - 127) / 64; };
    for (int64_t i = 0; i < n * coded.scales(k); ++i) {
      all.scales.push_back(number());
      if (coding.zeros)
        all.zeros.push_back(number() * 64);
      if (coding.minima)
        all.minima.push_back(number());
    }
    for (int64_t i = 0; coding.super && i < n * coded.groups(k); ++i) {
      all.subScales.push_back(int8_t(random()));
      if (coding.minima)
        all.subMinima.push_back(uint8_t(random()));
    }
  }
  const CodedForm &form() const override { return coded; }
  absl::Status rows(int64_t first, int64_t count, CodedRows &to) override {
    auto part = [&](auto &to, const auto &from, int64_t each) {
      to.assign(from.begin() + first * each, from.empty() ? from.end() : from.begin() + (first + count) * each);
    };
    to = {};
    part(to.codes, all.codes, k);
    part(to.scales, all.scales, coded.scales(k));
    part(to.zeros, all.zeros, all.zeros.empty() ? 0 : coded.groups(k));
    part(to.minima, all.minima, all.minima.empty() ? 0 : coded.scales(k));
    part(to.subScales, all.subScales, all.subScales.empty() ? 0 : coded.groups(k));
    part(to.subMinima, all.subMinima, all.subMinima.empty() ? 0 : coded.groups(k));
    return absl::OkStatus();
  }
  int64_t n, k;
  CodedForm coded;
  CodedRows all;
};

void append(std::vector<uint8_t> &to, PackedType type, float value) {
  uint8_t raw[4] = {};
  uint16_t half = type == PackedType::BF16 ? toBF16(value) : toF16(value);
  if (type == PackedType::F32)
    std::memcpy(raw, &value, 4);
  else
    std::memcpy(raw, &half, 2);
  to.insert(to.end(), raw, raw + width(type));
}

/// The lines of words of `count` features from `begin` on, of the results from `first` on. 5 and 6 bits: a line of high
/// bits before those of as many features as it has bits of.
void appendCodes(std::vector<uint8_t> &to, const Coding &coding, int64_t panel, const Matrix &m, int64_t first,
                 int64_t begin, int64_t count) {
  auto code = [&](int64_t n, int64_t k) {
    return n < m.n && k < m.k ? unsigned(m.all.codes[n * m.k + k]) : unsigned(coding.offset());
  };
  int64_t low = coding.bits == 8 ? 8 : coding.bits == 2 ? 2 : 4, more = coding.bits - low, inLine = 32 / low;
  int64_t block = more ? 32 / more : inLine;
  for (int64_t k = begin; k < begin + count; k += block) {
    for (int64_t n = first; n < first + panel && more; ++n)
      for (int64_t b = 0; b < 4; ++b) {
        unsigned high = 0;
        for (int64_t j = 0; j < block / 4; ++j)
          high |= code(n, k + 4 * j + b) >> 4 << (more * j);
        to.push_back(uint8_t(high));
      }
    for (int64_t line = k; line < k + block; line += inLine)
      for (int64_t n = first; n < first + panel; ++n)
        for (int64_t b = 0; b < 4; ++b) {
          unsigned byte = 0;
          for (int64_t j = 0; j < inLine / 4; ++j)
            byte |= (code(n, line + 4 * j + b) & ((1u << low) - 1)) << (low * j);
          to.push_back(uint8_t(byte));
        }
  }
}

/// Two levels, in the order of the bytes.
std::vector<uint8_t> inTwoLevels(const Coding &coding, int64_t panel, const Matrix &m) {
  std::vector<uint8_t> to;
  int64_t groups = m.k / coding.group, inStretch = 128 / coding.group;
  for (int64_t first = 0; first < m.n; first += panel)
    for (int64_t s = 0; s < m.k / 256; ++s) {
      for (int64_t n = first; n < first + panel; ++n)
        append(to, coding.scale, n < m.n ? m.all.scales[n * (m.k / 256) + s] : 0);
      for (int64_t n = first; coding.minima && n < first + panel; ++n)
        append(to, PackedType::F16, n < m.n ? m.all.minima[n * (m.k / 256) + s] : 0);
      for (int64_t stretch = 2 * s; stretch < 2 * s + 2; ++stretch) {
        auto appendSubs = [&](const auto &subs) {
          for (int64_t g = stretch * inStretch; !subs.empty() && g < (stretch + 1) * inStretch; g += 4)
            for (int64_t n = first; n < first + panel; ++n)
              for (int64_t b = 0; b < 4; ++b)
                to.push_back(n < m.n ? uint8_t(subs[n * groups + g + b]) : 0);
        };
        appendSubs(m.all.subScales);
        appendSubs(m.all.subMinima);
        appendCodes(to, coding, panel, m, first, stretch * 128, 128);
      }
    }
  return to;
}

/// The stream, in the order of its bytes.
std::vector<uint8_t> plainly(const Coding &coding, int64_t panel, const Matrix &m) {
  if (coding.super)
    return inTwoLevels(coding, panel, m);
  std::vector<uint8_t> to;
  for (int32_t feature : m.coded.order)
    for (int i = 0; i < 4; ++i)
      to.push_back(uint8_t(feature >> (8 * i)));
  while (to.size() % 64)
    to.push_back(0);
  bool one = coding.group >= m.k;
  int64_t groups = one ? 1 : (m.k + coding.group - 1) / coding.group;
  int64_t whole = m.k <= 32 ? 16 : m.k <= 128 ? 32 : 128; // with --rows=32, too, a row's blocks are whole units
  int64_t features = !one ? coding.group : (m.k + whole - 1) / whole * whole;
  for (int64_t first = 0; first < m.n; first += panel)
    for (int64_t g = 0; g < groups; ++g) {
      for (int64_t n = first; n < first + panel; ++n)
        append(to, coding.scale, n < m.n ? m.all.scales[n * groups + g] : 0);
      for (const std::vector<float> *second : {&m.all.zeros, &m.all.minima})
        for (int64_t n = first; !second->empty() && n < first + panel; ++n)
          append(to, PackedType::F16, n < m.n ? (*second)[n * groups + g] : 0);
      appendCodes(to, coding, panel, m, first, g * features, features);
    }
  return to;
}

float take(const uint8_t *at, PackedType type) {
  float value;
  StoredType stored = type == PackedType::F16    ? StoredType::F16
                      : type == PackedType::BF16 ? StoredType::BF16
                                                 : StoredType::F32;
  widenToF32(stored, at, value);
  return value;
}

/// The rows [0, count) of a panel that begins at `from`, from where the layout says that they are.
CodedRows unpackPanel(Coding c, int64_t panel, int64_t k, int64_t count, const uint8_t *from) {
  c.ordered = false;
  Integers numbers;
  CodedRows rows;
  for (int64_t n = 0; n < count; ++n)
    for (int64_t p = 0; p < k; ++p) {
      auto place = c.at(numbers, n, p, panel, k);
      int64_t low = c.lowBits();
      unsigned code = unsigned(from[place.code] >> place.shift) & ((1u << low) - 1);
      if (c.hasHighBits())
        code |= (unsigned(from[place.high] >> place.highShift) & ((1u << (c.bits - low)) - 1)) << low;
      rows.codes.push_back(uint8_t(code));
      if (c.super && p % c.group == 0) {
        rows.subScales.push_back(int8_t(from[place.subScale]));
        if (c.minima)
          rows.subMinima.push_back(from[place.subMinimum]);
      }
      if (p % c.sectionFeatures(k))
        continue;
      rows.scales.push_back(take(from + place.scale, c.scale));
      if (c.zeros || c.minima)
        (c.zeros ? rows.zeros : rows.minima).push_back(take(from + place.second, PackedType::F16));
    }
  return rows;
}

WeightLayout layoutOf(const Coding &coding, int64_t panel) {
  WeightLayout layout;
  layout.panel = panel;
  layout.coding = coding;
  return layout;
}

void isItsStream(const Coding &coding, int64_t n, int64_t k, int64_t panel, unsigned seed) {
  std::string what = std::to_string(coding.bits) + " bits, group " + std::to_string(coding.group) + ", " +
                     std::to_string(n) + " x " + std::to_string(k) + ", panel " + std::to_string(panel);
  Matrix m(coding, n, k, seed);
  WeightLayout layout = layoutOf(coding, panel);
  ASSERT_EQ(layout.wrong(), "") << what;
  ASSERT_EQ(layout.misfit({n, k}), "") << what;
  Collect sink;
  ASSERT_OK(packCoded(m, layout, n, k, sink));
  EXPECT_EQ(sink.bytes.size(), layout.bytes({n, k})) << what;
  ASSERT_TRUE(sink.bytes == plainly(coding, panel, m)) << what;
  for (int64_t first = 0; first < n; first += panel) {
    int64_t count = std::min(panel, n - first);
    const uint8_t *from = sink.bytes.data() + coding.orderBytes(k) + first / panel * coding.panelBytes(panel, k);
    CodedRows back = unpackPanel(coding, panel, k, count, from), wanted;
    ASSERT_OK(m.rows(first, count, wanted));
    EXPECT_EQ(back.codes, wanted.codes) << what;
    EXPECT_EQ(back.scales, wanted.scales) << what;
    EXPECT_EQ(back.zeros, wanted.zeros) << what;
    EXPECT_EQ(back.minima, wanted.minima) << what;
    EXPECT_EQ(back.subScales, wanted.subScales) << what;
    EXPECT_EQ(back.subMinima, wanted.subMinima) << what;
  }
}

TEST(PackCoded, EveryFormIsItsStream) {
  for (int64_t bits : {4, 8})
    for (int64_t group : {16, 32, 64, 128, 256, 1000})
      for (int64_t k : {1, 9, 32, 100, 128, 129, 300, 512})
        for (int64_t n : {1, 31, 32, 33, 70})
          for (int64_t panel : {32, 16, 24}) {
            unsigned seed = unsigned(bits + group + k + n);
            Coding coding{{bits, group,
                           seed % 3 == 0   ? PackedType::F16
                           : seed % 3 == 1 ? PackedType::BF16
                                           : PackedType::F32,
                           (seed / 3) % 2 == 1}};
            coding.ordered = (seed / 6) % 2 == 1;
            isItsStream(coding, n, k, panel, seed);
          }
}

TEST(PackCoded, TablesMinimaAndHighBits) {
  CodeFormat minima{4, 32, PackedType::F16, false, true, 0}, five{5, 32}, six{6, 16, PackedType::BF16};
  CodeFormat fiveMinima{5, 32, PackedType::F16, false, true}, nl4{4, 32}, digits{2, 64, PackedType::F16};
  nl4.table = CodeTable::NL4;
  digits.zeroCode = 1;
  for (const CodeFormat &format : {minima, five, six, fiveMinima, digits})
    for (auto [n, k] : {std::pair{33, 96}, {70, 320}, {1, 32}})
      for (int64_t panel : {32, 16, 24})
        isItsStream({format}, n, k, panel, unsigned(n + k));
  Matrix m({nl4}, 32, 64, 1); // no integer of this table is 0
  Collect sink;
  ASSERT_OK(packCoded(m, layoutOf({nl4}, 32), 32, 64, sink));
  EXPECT_TRUE(sink.bytes == plainly({nl4}, 32, m));
}

TEST(PackCoded, TwoLevels) {
  for (int64_t bits : {2, 4, 5, 6, 8})
    for (int64_t group : {16, 32})
      for (bool minima : {false, true}) {
        Coding coding{{bits, group, minima ? PackedType::F16 : PackedType::F32, false, minima}};
        coding.super = 256;
        if (bits == 5 && group == 16) {
          EXPECT_NE(layoutOf(coding, 32).misfit({5, 256}), "");
          continue;
        }
        for (auto [n, k] : {std::pair{33, 256}, {70, 768}})
          for (int64_t panel : {32, 16, 24})
            isItsStream(coding, n, k, panel, unsigned(n + k));
      }
}

TEST(PackCoded, BytesAWeight) {
  for (auto [bits, group, bytes] :
       {std::tuple{8, 128, 4160}, {8, 32, 1088}, {2, 64, 576}, {4, 32, 576}, {4, 64, 1088}, {4, 128, 2112}})
    EXPECT_EQ((Coding{{bits, group}}.sectionBytes(32, 4096)), bytes);
  EXPECT_EQ((Coding{{8, 4096}}.panelBytes(32, 4096)), 64 + 32 * 4096);
}

TEST(PackCoded, AnotherFormIsRefused) {
  Coding coding{{4, 32}};
  Matrix m(coding, 3, 64, 1);
  for (Coding other : {Coding{{8, 32}}, Coding{{4, 64}}, Coding{{4, 32, PackedType::BF16}},
                       Coding{{4, 32, PackedType::F16, true}}, Coding{{4, 32, PackedType::F16, false, true}},
                       Coding{{4, 32, PackedType::F16, false, false, 0}}, Coding{{4, 32}, true}}) {
    Collect sink;
    EXPECT_EQ(packCoded(m, layoutOf(other, 32), 3, 64, sink).code(), absl::StatusCode::kInternal);
  }
  for (auto [group, fits] : {std::pair{16, true}, {48, false}, {8, false}, {96, false}, {200, false}, {300, true}})
    EXPECT_EQ(layoutOf({{4, group}}, 32).misfit({5, 300}).empty(), fits) << group;
  EXPECT_NE(layoutOf({{4, 32}}, 32).misfit({5, 3, 64}), "");
  EXPECT_NE(layoutOf({{4, 32}}, 0).wrong(), "");
  EXPECT_NE(layoutOf({{3, 32}}, 32).wrong(), "");
}

/// What a file has in full is rounded as `quantiseRows` rounds its rows.
TEST(PackCoded, AnOrdinaryMatrixIsRounded) {
  constexpr int64_t n = 72, k = 100;
  std::mt19937 random(5);
  std::vector<float> w(size_t(n * k)), turned(size_t(n * k));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j)
      turned[j * n + i] = w[i * k + j] = float(int(random() % 2001) - 1000) / 500;
  Directory dir;
  auto store = WeightStore::open(
      dir.write("m.safetensors", goodFile({{"a", "F32", {n, k}, bytesOf(w)}, {"t", "F32", {k, n}, bytesOf(turned)}})));
  ASSERT_OK(store.status());
  Coding coding{{4, 32}};
  auto packed = [&](bool inOut, std::vector<int64_t> parts, int64_t part, uint64_t strip) {
    PackRequest request{inOut ? "t" : "a", {inOut ? k : n, inOut ? n : k}, layoutOf(coding, 16)};
    request.layout.inOut = inOut;
    request.layout.parts.assign(parts.begin(), parts.end());
    request.layout.part = part;
    request.layout.groups = parts.empty() ? 1 : 4;
    Collect sink;
    double rms = -1;
    EXPECT_OK(
        packRequest(*store, request, sink,
                    {strip, [&](const PackRequest &, const CodingError &error) { rms = error.relative(); }, nullptr}));
    EXPECT_TRUE(rms > 0.01 && rms < 0.15) << rms;
    return sink.bytes;
  };
  CodedRows rows;
  CodingError error;
  ASSERT_FALSE(quantiseRows(formOf(coding, k), w, k, rows, error));
  auto bytesOfRows = [&](std::vector<int64_t> which) {
    std::vector<uint8_t> all, panel;
    for (size_t first = 0; first < which.size(); first += 16) {
      CodedRows mine;
      for (size_t i = first; i < std::min(first + 16, which.size()); ++i) {
        mine.codes.insert(mine.codes.end(), &rows.codes[which[i] * k], &rows.codes[which[i] * k] + k);
        mine.scales.insert(mine.scales.end(), &rows.scales[which[i] * 4], &rows.scales[which[i] * 4] + 4);
      }
      packPanel(coding, 16, k, mine, panel);
      all.insert(all.end(), panel.begin(), panel.end());
    }
    return all;
  };
  std::vector<int64_t> whole, second; // 4 groups of 2 + 1 units of 6 rows
  for (int64_t i = 0; i < n; ++i) {
    whole.push_back(i);
    if (i % 18 >= 12)
      second.push_back(i);
  }
  for (bool inOut : {false, true})
    for (uint64_t strip : {uint64_t(1), uint64_t(1) << 24}) {
      EXPECT_TRUE(packed(inOut, {}, 0, strip) == bytesOfRows(whole)) << inOut;
      EXPECT_TRUE(packed(inOut, {2, 1}, 1, strip) == bytesOfRows(second)) << inOut;
    }
}

TEST(PackCoded, WhatHasNoCodeIsRefused) {
  for (float bad : {std::nanf(""), INFINITY, -1e7f})
    for (bool inOut : {false, true}) {
      std::vector<float> w(3 * 20, 1.0f);
      w[37] = bad;
      Directory dir;
      auto store = WeightStore::open(dir.write("m.safetensors", goodFile({{"a", "F32", {3, 20}, bytesOf(w)}})));
      ASSERT_OK(store.status());
      PackRequest request{"a", {3, 20}, layoutOf({{8, 32}}, 32)};
      request.layout.inOut = inOut;
      Collect sink;
      WeightProblem problem = refusal(packRequest(*store, request, sink));
      EXPECT_EQ(problem.code, Error::HasNoCode);
      EXPECT_NE(problem.message.find("element 37 is "), std::string::npos) << problem.message;
      EXPECT_NE(problem.help.find("--keep"), std::string::npos);
    }
}

} // namespace
