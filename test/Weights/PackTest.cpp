// Every layout against plain loops that state it: odd sizes, widths of panels, parts,
// both storage orders, all strip sizes down to less than one line.
#include "compiler/Weights/Pack/Pack.h"
#include "test/Weights/Support.h"
#include <random>

using namespace heddle;
using namespace heddle::test;

namespace {

class Collect final : public ByteSink {
public:
  absl::Status append(llvm::ArrayRef<uint8_t> bytes) override {
    text.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    largest = std::max(largest, bytes.size());
    return absl::OkStatus();
  }
  std::string text;
  size_t largest = 0;
};

/// Small whole numbers: exact in every type.
float valueAt(size_t tensor, size_t i) { return float((i * 7 + tensor * 13) % 251) - 100; }

/// N and K of a tensor [N, K], [K, N] or [N, c, k...].
std::pair<int64_t, int64_t> matrixOf(const PackRequest &request) {
  if (request.layout.inOut)
    return {request.shape[1], request.shape[0]};
  int64_t k = 1;
  for (size_t i = 1; i < request.shape.size(); ++i)
    k *= request.shape[i];
  return {request.shape[0], k};
}

/// Element (n, k) of what is packed, as the layout defines it.
float wanted(const PackRequest &request, int64_t n, int64_t k) {
  const WeightLayout &layout = request.layout;
  auto [N, K] = matrixOf(request);
  int64_t row = n;
  if (!layout.parts.empty()) {
    int64_t total = 0, before = 0;
    for (size_t p = 0; p < layout.parts.size(); ++p) {
      total += layout.parts[p];
      before += int64_t(p) < layout.part ? layout.parts[p] : 0;
    }
    int64_t unit = N / (layout.groups * total), each = layout.parts[layout.part] * unit;
    row = n / each * total * unit + before * unit + n % each;
  }
  if (request.shape.size() > 2 && layout.panel) // taps outside, channels inside
    k = k % request.shape[1] * (K / request.shape[1]) + k / request.shape[1];
  return valueAt(request.tensor[1] - '0', size_t(layout.inOut ? k * N + row : row * K + k));
}

/// How many of N rows are packed.
int64_t rowsOf(const WeightLayout &layout, int64_t n) {
  int64_t total = 0;
  for (int64_t p : layout.parts)
    total += p;
  return layout.parts.empty() ? n : n / total * layout.parts[layout.part];
}

void put(std::string &to, PackedType type, float value) {
  char raw[8] = {};
  int64_t integer = int64_t(value);
  uint16_t half = type == PackedType::BF16 ? toBF16(value) : toF16(value);
  switch (type) {
  case PackedType::F32: std::memcpy(raw, &value, 4); break;
  case PackedType::BF16:
  case PackedType::F16: std::memcpy(raw, &half, 2); break;
  case PackedType::I64: std::memcpy(raw, &integer, 8); break;
  case PackedType::Bool: raw[0] = value != 0; break;
  }
  to.append(raw, width(type));
}

std::string plainly(const PackRequest &request) {
  const WeightLayout &layout = request.layout;
  std::string result;
  if (!layout.panel) {
    int64_t elements = 1;
    for (int64_t n : request.shape)
      elements *= n;
    PackRequest flat{request.tensor, {elements, 1}, layout};
    for (int64_t i = 0, n = rowsOf(layout, elements); i < n; ++i)
      put(result, layout.type, wanted(flat, i, 0));
    return result;
  }
  auto [all, K] = matrixOf(request);
  int64_t N = rowsOf(layout, all);
  int64_t pair = width(layout.type) == 2 ? 2 : 1;
  for (int64_t panel = 0; panel < (N + layout.panel - 1) / layout.panel; ++panel)
    for (int64_t k = 0; k < (K + pair - 1) / pair; ++k)
      for (int64_t lane = 0; lane < layout.panel; ++lane)
        for (int64_t half = 0; half < pair; ++half) {
          int64_t row = panel * layout.panel + lane, column = k * pair + half;
          put(result, layout.type, row < N && column < K ? wanted(request, row, column) : 0.0f);
        }
  return result;
}

std::string name(const PackRequest &request) {
  std::string text = request.tensor;
  for (int64_t n : request.shape)
    text += " " + std::to_string(n);
  return text + " panel " + std::to_string(request.layout.panel) + " type " + std::to_string(int(request.layout.type)) +
         (request.layout.inOut ? " in_out" : "") + " part " + std::to_string(request.layout.part) + " of " +
         std::to_string(request.layout.parts.size()) + " groups " + std::to_string(request.layout.groups);
}

class Packing : public testing::Test {
protected:
  static constexpr int64_t elements = 40000;
  void SetUp() override {
    std::vector<float> a, c;
    std::vector<int32_t> b;
    for (size_t i = 0; i < elements; ++i) {
      a.push_back(valueAt(0, i));
      b.push_back(int32_t(valueAt(1, i)));
      c.push_back(valueAt(2, i));
    }
    auto opened = WeightStore::open(dir.write("m.safetensors", goodFile({{"t0", "F32", {elements}, bytesOf(a)},
                                                                         {"t1", "I32", {elements}, bytesOf(b)},
                                                                         {"t2", "F32", {elements}, bytesOf(c)}})));
    ASSERT_OK(opened.status());
    store.emplace(*std::move(opened));
  }

  void check(const PackRequest &request) {
    std::string expected = plainly(request);
    ASSERT_EQ(expected.size(), request.bytes()) << name(request);
    for (uint64_t strip : {uint64_t(1), uint64_t(10000), uint64_t(1) << 20}) {
      Collect sink;
      PackOptions options;
      options.stripBytes = strip;
      absl::Status status = packRequest(*store, request, sink, options);
      ASSERT_TRUE(status.ok()) << name(request) << "\n" << text(status);
      ASSERT_TRUE(sink.text == expected) << name(request) << " strip " << strip;
      ASSERT_LE(sink.largest, std::max<uint64_t>(strip, 4096));
    }
  }

  Directory dir;
  std::optional<WeightStore> store;
};

constexpr PackedType reals[] = {PackedType::F32, PackedType::BF16, PackedType::F16};

TEST_F(Packing, SmallSizesExhaustively) {
  for (int64_t panel : {1, 16, 32})
    for (bool inOut : {false, true})
      for (PackedType type : reals)
        for (int64_t n : {0, 1, 2, 31, 32, 33, 65})
          for (int64_t k : {0, 1, 2, 3, 17, 48})
            check(panels("t0", n, k, inOut, type, panel));
}

/// Filters [N, c, k...] in panels, whole and group by group.
TEST_F(Packing, Filters) {
  for (PackedType type : reals)
    for (std::vector<int64_t> taps : {std::vector<int64_t>{1}, {3}, {10}, {4, 5}, {60, 2}})
      for (int64_t n : {1, 32, 36})
        for (int64_t channels : {1, 2, 5}) {
          PackRequest request = panels("t0", n, channels, false, type, 32);
          request.shape.insert(request.shape.end(), taps.begin(), taps.end());
          check(request);
          request.layout.parts = {1, 1};
          request.layout.part = 1;
          if (n % 2 == 0)
            check(request);
        }
}

TEST_F(Packing, WholeTensorsInEveryType) {
  for (PackedType type : reals)
    check(natural("t0", elements, type));
  for (PackedType type : {PackedType::F32, PackedType::I64, PackedType::Bool})
    check(natural("t1", elements, type));
}

/// A number that would become infinite is an error with its place; what is infinite already stays so.
TEST(PackingF16, NumbersBeyondItAreRefused) {
  Directory dir;
  float inf = std::numeric_limits<float>::infinity();
  for (auto [value, good] :
       {std::pair{65504.0f, true}, {65519.0f, true}, {-inf, true}, {65520.0f, false}, {-1e9f, false}}) {
    std::vector<float> a(12, 1.0f);
    a[7] = value;
    auto store = WeightStore::open(dir.write("m.safetensors", goodFile({{"t0", "F32", {3, 4}, bytesOf(a)}})));
    ASSERT_OK(store.status());
    for (bool inOut : {false, true}) {
      Collect sink;
      PackRequest request = panels("t0", inOut ? 4 : 3, inOut ? 3 : 4, inOut, PackedType::F16);
      absl::Status status = packRequest(*store, request, sink, {});
      EXPECT_EQ(status.ok(), good) << value;
      if (!good) {
        WeightProblem problem = refusal(status);
        EXPECT_EQ(problem.code, Error::BeyondF16);
        EXPECT_EQ(problem.tensor, "t0");
        EXPECT_NE(problem.message.find("element 7 is "), std::string::npos) << problem.message;
        EXPECT_NE(problem.help.find("--dtype=bf16"), std::string::npos);
      }
      request.layout.type = PackedType::BF16;
      EXPECT_OK(packRequest(*store, request, sink, {}));
    }
  }
}

TEST_F(Packing, PartsOfASplit) {
  // q, k and v of heads side by side, as three parts of one tensor, and their biases.
  for (int64_t part = 0; part < 3; ++part) {
    PackRequest bias = natural("t0", 12 * 3 * 7);
    PackRequest weights[] = {panels("t0", 12 * 3 * 7, 19, false), panels("t0", 12 * 3 * 7, 19, true), bias};
    for (PackRequest &request : weights) {
      request.layout.part = part;
      request.layout.parts = {1, 1, 1};
      request.layout.groups = 12;
      check(request);
    }
  }
}

TEST_F(Packing, RandomRequests) {
  std::mt19937 random(20260101);
  auto upTo = [&](int64_t most) { return int64_t(random() % uint64_t(most + 1)); };
  for (int round = 0; round < 600; ++round) {
    WeightLayout layout;
    int64_t total = 1;
    if (upTo(1)) {
      layout.groups = 1 + upTo(3);
      for (int64_t p = 1 + upTo(3); p; --p)
        layout.parts.push_back(1 + upTo(4));
      layout.part = upTo(layout.parts.size() - 1);
      total = 0;
      for (int64_t p : layout.parts)
        total += p;
    }
    int64_t n = layout.groups * total * (1 + upTo(5));
    PackRequest request = upTo(2) ? panels("t0", n, 1 + upTo(40), upTo(1), reals[upTo(2)], 1 + upTo(40))
                                  : natural("t0", n, reals[upTo(2)]);
    request.tensor = "t" + std::to_string(upTo(2));
    request.layout.parts = layout.parts;
    request.layout.part = layout.part;
    request.layout.groups = layout.groups;
    check(request);
    if (HasFatalFailure())
      return;
  }
}

TEST_F(Packing, ABlobIsItsEntriesWithZerosBetween) {
  std::vector<PackRequest> requests = {natural("t0", 3), panels("t0", 33, 3, true), natural("t1", 5, PackedType::Bool)};
  std::string expected;
  for (const PackRequest &request : requests) {
    expected += plainly(request);
    expected.resize((expected.size() + 63) / 64 * 64);
  }
  Collect sink;
  ASSERT_OK(packAll(*store, planOf(requests), sink));
  EXPECT_EQ(sink.text, expected);
}

TEST_F(Packing, AFileThatChangesMakesNoBlob) {
  BlobMap plan = planOf({natural("t0", elements)});
  std::filesystem::resize_file(dir / "m.safetensors", 1000);
  Collect sink;
  absl::Status status = packAll(*store, plan, sink);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(refusal(status).code, Error::FileShrank);
}

} // namespace
