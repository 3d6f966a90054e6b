// Every layout against plain loops that state it: odd sizes, parts, several pieces,
// stacks, both storage orders, all strip sizes down to less than one line.
#include "compiler/Weights/Pack.h"
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

/// Element (n, k) of matrix `m` as the request defines it.
float wanted(const PackRequest &request, int64_t m, int64_t n, int64_t k) {
  size_t p = 0;
  int64_t i = n;
  if (!request.interleave) {
    while (i >= request.pieces[p].taken())
      i -= request.pieces[p++].taken();
  } else {
    // Deal rows out, a turn at a time, until row n is reached.
    std::vector<int64_t> used(request.pieces.size(), 0);
    int64_t each = request.pieces[0].taken(), dealt = 0;
    bool found = false;
    while (!found) {
      for (size_t q = 0; q < used.size() && !found; ++q)
        for (int64_t turn = 0; turn < request.interleave && used[q] < each; ++turn) {
          if (dealt++ == n) {
            p = q;
            i = used[q];
            found = true;
            break;
          }
          ++used[q];
        }
    }
  }
  const PackPiece &piece = request.pieces[p];
  int64_t row = i;
  if (piece.take.groups) {
    int64_t each = piece.take.end - piece.take.begin;
    row = (i / each) * piece.take.stride + piece.take.begin + i % each;
  }
  int64_t element = piece.start + m * piece.n * piece.k +
                    (request.inOut ? k * piece.n + row : row * piece.k + k);
  return valueAt(piece.tensor[1] - '0', size_t(element));
}

void put(std::string &to, PackedType type, float value) {
  char raw[8] = {};
  int64_t integer = int64_t(value);
  uint16_t half = type == PackedType::BF16 ? toBF16(value) : toF16(value);
  switch (type) {
  case PackedType::F32:
    std::memcpy(raw, &value, 4);
    break;
  case PackedType::BF16:
  case PackedType::F16:
    std::memcpy(raw, &half, 2);
    break;
  case PackedType::I64:
    std::memcpy(raw, &integer, 8);
    break;
  case PackedType::Bool:
    raw[0] = value != 0;
    break;
  }
  to.append(raw, width(type));
}

std::string plainly(const PackRequest &request) {
  std::string result;
  int64_t N = request.n(), K = request.k();
  for (int64_t m = 0; m < request.count; ++m) {
    if (request.layout == PackLayout::Natural)
      for (int64_t n = 0; n < N; ++n)
        for (int64_t k = 0; k < K; ++k)
          put(result, request.type, wanted(request, m, n, k));
    if (request.layout == PackLayout::Transposed)
      for (int64_t k = 0; k < K; ++k)
        for (int64_t n = 0; n < N; ++n)
          put(result, request.type, wanted(request, m, n, k));
    int64_t pair = width(request.type) == 2 ? 2 : 1;
    if (request.layout == PackLayout::Panel32)
      for (int64_t panel = 0; panel < (N + 31) / 32; ++panel)
        for (int64_t k = 0; k < (K + pair - 1) / pair; ++k)
          for (int64_t lane = 0; lane < 32; ++lane)
            for (int64_t half = 0; half < pair; ++half) {
              int64_t row = panel * 32 + lane, column = k * pair + half;
              put(result, request.type,
                  row < N && column < K ? wanted(request, m, row, column) : 0.0f);
            }
  }
  return result;
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
    auto opened = WeightStore::open(dir.write(
        "m.safetensors", goodFile({{"t0", "F32", {elements}, bytesOf(a)},
                                   {"t1", "I32", {elements}, bytesOf(b)},
                                   {"t2", "F32", {elements}, bytesOf(c)}})));
    ASSERT_OK(opened.status());
    store.emplace(*std::move(opened));
  }

  void check(const PackRequest &request) {
    std::string expected = plainly(request);
    ASSERT_EQ(expected.size(), request.bytes()) << request.str();
    for (uint64_t strip : {uint64_t(1), uint64_t(10000), uint64_t(1) << 20}) {
      Collect sink;
      absl::Status status = packRequest(*store, request, sink, {strip});
      ASSERT_TRUE(status.ok()) << request.str() << "\n" << text(status);
      ASSERT_TRUE(sink.text == expected) << request.str() << " strip " << strip;
      ASSERT_LE(sink.largest, std::max<uint64_t>(strip, 4096));
    }
  }

  Directory dir;
  std::optional<WeightStore> store;
};

constexpr PackLayout layouts[] = {PackLayout::Natural, PackLayout::Transposed,
                                  PackLayout::Panel32};

TEST_F(Packing, SmallSizesExhaustively) {
  for (PackLayout layout : layouts)
    for (bool inOut : {false, true})
      for (PackedType type : {PackedType::F32, PackedType::BF16, PackedType::F16})
        for (int64_t n : {0, 1, 2, 31, 32, 33, 65})
          for (int64_t k : {0, 1, 2, 3, 17, 48}) {
            PackRequest request = PackRequest::panel32("t0", n, k, inOut, {}, type);
            request.layout = layout;
            check(request);
          }
}

TEST_F(Packing, WholeTensorsInEveryType) {
  for (PackedType type : {PackedType::F32, PackedType::BF16, PackedType::F16})
    check(PackRequest::natural("t0", elements, type));
  for (PackedType type : {PackedType::F32, PackedType::I64, PackedType::Bool}) {
    check(PackRequest::natural("t1", elements, type));
    check(PackRequest::transposed("t1", 200, 199, type));
  }
}

/// A number that would become infinite is an error with its place; what is infinite already stays so.
TEST(PackingF16, NumbersBeyondItAreRefused) {
  Directory dir;
  float inf = std::numeric_limits<float>::infinity();
  for (auto [value, good] : {std::pair{65504.0f, true}, {65519.0f, true}, {-inf, true}, {65520.0f, false}, {-1e9f, false}}) {
    std::vector<float> a(12, 1.0f);
    a[7] = value;
    auto store = WeightStore::open(dir.write("m.safetensors", goodFile({{"t0", "F32", {3, 4}, bytesOf(a)}})));
    ASSERT_OK(store.status());
    for (bool inOut : {false, true}) {
      Collect sink;
      PackRequest request = PackRequest::panel32("t0", inOut ? 4 : 3, inOut ? 3 : 4, inOut, {}, PackedType::F16);
      absl::Status status = packRequest(*store, request, sink, {});
      EXPECT_EQ(status.ok(), good) << value;
      if (!good) {
        WeightProblem problem = refusal(status);
        EXPECT_EQ(problem.code, "H0241");
        EXPECT_EQ(problem.tensor, "t0");
        EXPECT_NE(problem.message.find("element 7 is "), std::string::npos) << problem.message;
        EXPECT_NE(problem.help.find("--dtype=bf16"), std::string::npos);
      }
      request.type = PackedType::BF16;
      EXPECT_OK(packRequest(*store, request, sink, {}));
    }
  }
}

TEST_F(Packing, PartsOfASplit) {
  // q, k and v of heads side by side, as three parts of one tensor.
  for (bool inOut : {false, true})
    for (int64_t part = 0; part < 3; ++part)
      for (PackLayout layout : layouts) {
        PackRequest request = PackRequest::panel32("t0", 12 * 3 * 7, 19, inOut,
                                                   {12, 3 * 7, part * 7, part * 7 + 7});
        request.layout = layout;
        check(request);
      }
}

TEST_F(Packing, PiecesOneAfterTheOtherAndInTurns) {
  for (bool inOut : {false, true})
    for (int64_t interleave : {0, 1, 5, 16, 32, 100})
      for (PackLayout layout : layouts) {
        PackRequest request = PackRequest::panel32("t0", 70, 33, inOut);
        request.layout = layout;
        request.pieces.push_back({"t1", 70, 33, {}, 100});
        request.pieces.push_back({"t0", 140, 33, {2, 70, 0, 35}, 5});
        request.interleave = interleave;
        check(request);
      }
}

TEST_F(Packing, StacksOfMatrices) {
  for (bool inOut : {false, true})
    for (PackLayout layout : layouts) {
      PackRequest request = PackRequest::panel32("t0", 37, 11, inOut);
      request.layout = layout;
      request.count = 5;
      request.pieces.push_back({"t2", 40, 11, {1, 40, 3, 40}, 7});
      check(request);
    }
}

TEST_F(Packing, RandomRequests) {
  std::mt19937 random(20260101);
  auto upTo = [&](int64_t most) { return int64_t(random() % uint64_t(most + 1)); };
  for (int round = 0; round < 400; ++round) {
    PackRequest request;
    request.layout = layouts[upTo(2)];
    request.type = upTo(1) ? PackedType::F32 : PackedType::BF16;
    request.inOut = upTo(1);
    request.count = 1 + upTo(2);
    int64_t k = 1 + upTo(40), pieces = 1 + upTo(2);
    PackPiece piece{"t0", 1 + upTo(90), k, {}, upTo(99)};
    if (upTo(1)) {
      piece.take.groups = 1 + upTo(3);
      piece.take.stride = 1 + upTo(20);
      piece.take.begin = upTo(piece.take.stride - 1);
      piece.take.end = piece.take.begin + 1 + upTo(piece.take.stride - piece.take.begin - 1);
      piece.n = piece.take.groups * piece.take.stride + upTo(4);
    }
    for (int64_t p = 0; p < pieces; ++p) {
      piece.tensor = "t" + std::to_string(upTo(2));
      request.pieces.push_back(piece);
    }
    request.interleave = upTo(1) ? 0 : 1 + upTo(40);
    check(request);
    if (HasFatalFailure())
      return;
  }
}

TEST_F(Packing, ABlobIsItsEntriesWithZerosBetween) {
  PackPlanBuilder builder;
  std::vector<PackRequest> requests = {
      PackRequest::natural("t0", 3), PackRequest::panel32("t0", 33, 3, true),
      PackRequest::bytesOf("abc"), PackRequest::natural("t1", 5, PackedType::Bool)};
  std::string expected;
  for (const PackRequest &request : requests) {
    ASSERT_OK(builder.add(request).status());
    expected += request.layout == PackLayout::Literal ? request.literal : plainly(request);
    expected.resize((expected.size() + 63) / 64 * 64);
  }
  Collect sink;
  ASSERT_OK(packAll(*store, builder.plan(), sink));
  EXPECT_EQ(sink.text, expected);
  EXPECT_EQ(sink.text.size(), builder.plan().bytes);
}

TEST_F(Packing, AFileThatChangesMakesNoBlob) {
  PackPlanBuilder builder;
  ASSERT_OK(builder.add(PackRequest::natural("t0", elements)).status());
  std::filesystem::resize_file(dir / "m.safetensors", 1000);
  Collect sink;
  absl::Status status = packAll(*store, builder.plan(), sink);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(refusal(status).code, "H0103");
}

} // namespace
