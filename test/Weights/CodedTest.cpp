// Quantised matrices against what they mean, bit for bit: the cases of ../shared/quantised-cases, where they are there,
// whole and in pieces; and the codes of integer methods, which give the same numbers.
#include "compiler/Weights/Coded/CodedScheme.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "test/Weights/Support.h"
#include "llvm/ADT/bit.h"
#include <cstring>

using namespace heddle;
using namespace heddle::test;

namespace {

const std::string codedCases = HEDDLE_QUANTISED_CASES;

/// A case and what its config.json says.
struct Case {
  const char *name, *scheme;
};

const Case cases[] = {
    {"awq", "awq bits=4 group=128"},
    {"awq_skip", "awq bits=4 group=64"},
    {"bnb_int8", "bitsandbytes"},
    {"bnb_nf4", "bitsandbytes"},
    {"ct_fp8", "compressed-tensors"},
    {"ct_int4", "compressed-tensors bits=4 group=128"},
    {"ct_int4_asym", "compressed-tensors bits=4 group=32"},
    {"ct_nvfp4", "compressed-tensors group=16"},
    {"ct_w8a8", "compressed-tensors"},
    {"fp8_block", "fp8 block=128x128"},
    {"gptq_3bit", "gptq bits=3 group=64"},
    {"gptq_actorder", "gptq bits=4 group=32"},
    {"gptq_experts", "gptq bits=4 group=128 symmetric"},
    {"gptq_sym", "gptq bits=4 group=128 symmetric"},
    {"gptq_v2_8bit", "gptq bits=8 group=-1 version=2"},
    {"gptq_v2_unsaid", "gptq bits=4 group=128 symmetric"},
    {"matrices", "mxfp4"},
};

std::vector<uint32_t> bitsOf(const std::vector<float> &values) {
  std::vector<uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * 4);
  return bits;
}

std::vector<float> elements(const WeightStore &store, const StoredTensor &tensor) {
  std::vector<float> all(tensor.elements());
  absl::Status status = store.readF32(tensor, 0, all);
  EXPECT_TRUE(status.ok()) << text(status);
  return all;
}

/// The same elements through reads that begin and end anywhere.
void readInPieces(const WeightStore &store, const StoredTensor &tensor, const std::vector<float> &all) {
  uint64_t k = uint64_t(tensor.shape().back()), step = 3 * k + 7;
  for (uint64_t at = 0; at < all.size(); at += step) {
    std::vector<float> some(std::min<uint64_t>(step, all.size() - at));
    ASSERT_TRUE(store.readF32(tensor, at, some).ok());
    ASSERT_EQ(bitsOf(some), bitsOf({all.begin() + at, all.begin() + at + some.size()})) << at;
  }
  std::vector<float> beyond(2);
  EXPECT_FALSE(store.readF32(tensor, all.size() - 1, beyond).ok());
}

/// code * scale, from the codes, is what is read. Exact where the scale is the file's own.
void takeCodes(const StoredTensor &tensor, const std::vector<float> &all, bool exact) {
  absl::StatusOr<std::optional<CodedForm>> form = tensor.coded->form();
  ASSERT_TRUE(form.ok());
  if (!*form)
    return;
  int64_t k = tensor.coded->features(), n = tensor.coded->rows(), groups = (*form)->groups(k);
  for (int64_t first = 0; first < n; first += 7) {
    int64_t rows = std::min<int64_t>(7, n - first);
    absl::StatusOr<CodedRows> codes = tensor.coded->readCodes(first, rows);
    ASSERT_TRUE(codes.ok()) << text(codes.status());
    ASSERT_EQ(codes->codes.size(), size_t(rows * k));
    ASSERT_EQ(codes->scales.size(), size_t(rows * (*form)->scales(k)));
    ASSERT_EQ(codes->zeros.size(), (*form)->zeros ? size_t(rows * groups) : 0);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < k; ++i) {
        int64_t at = (*form)->order.empty() ? i : (*form)->order[i];
        ASSERT_LT(codes->codes[r * k + i], 1 << (*form)->bits);
        float value = GroupNumbers::of(**form, *codes, r, i / (*form)->group, groups).value(codes->codes[r * k + i]);
        float wanted = all[(first + r) * k + at];
        if (exact)
          ASSERT_EQ(llvm::bit_cast<uint32_t>(value), llvm::bit_cast<uint32_t>(wanted));
        else
          ASSERT_NEAR(value, wanted, std::abs(wanted) * 1.2e-7);
      }
  }
  EXPECT_FALSE(tensor.coded->readCodes(n, 1).ok());
}

TEST(Coded, CasesBitForBit) {
  if (!std::filesystem::exists(codedCases))
    GTEST_SKIP() << "no cases at " << codedCases;
  for (const Case &c : cases) {
    SCOPED_TRACE(c.name);
    std::string folder = codedCases + "/" + c.name, wanted = "/weights.safetensors";
    bool matrices = std::string(c.name) == "matrices";
    absl::StatusOr<WeightStore> store = WeightStore::openCoded({folder + "/model.safetensors"}, c.scheme);
    ASSERT_TRUE(store.ok()) << text(store.status());
    absl::StatusOr<WeightStore> known = WeightStore::open(folder + (matrices ? "/expected.safetensors" : wanted));
    ASSERT_TRUE(known.ok()) << text(known.status());
    unsigned compared = 0;
    for (const StoredTensor &want : known->tensors()) {
      llvm::StringRef name = want.name();
      if (matrices && !name.consume_front("mxfp4:") && !name.consume_front("e4m3:") && !name.consume_front("e5m2:"))
        continue;
      const StoredTensor *got = store->find(name);
      ASSERT_TRUE(got) << name.str();
      EXPECT_EQ(got->shape(), want.shape()) << name.str();
      std::vector<float> all = elements(*store, *got), right = elements(*known, want);
      ASSERT_EQ(all.size(), right.size());
      for (size_t i = 0; i < all.size(); ++i)
        if (!(std::isnan(all[i]) && std::isnan(right[i])))
          ASSERT_EQ(llvm::bit_cast<uint32_t>(all[i]), llvm::bit_cast<uint32_t>(right[i])) << name.str() << " " << i;
      ++compared;
      if (!got->coded)
        continue;
      readInPieces(*store, *got, all);
      takeCodes(*got, all, std::string(c.name) != "bnb_int8");
    }
    EXPECT_GE(compared, 2u);
    // No piece is left for the importer to wonder about.
    for (const StoredTensor &tensor : store->tensors())
      for (const char *piece : {".qzeros", ".scales", ".g_idx", ".weight_scale", ".SCB", ".absmax", "_blocks"})
        EXPECT_FALSE(tensor.name().ends_with(piece)) << tensor.name().str();
  }
}

TEST(Coded, SchemeThereAndBack) {
  for (const char *scheme : {"", "gptq bits=4 group=128 symmetric version=2", "fp8 block=128x128 block=1x64",
                             "compressed-tensors group=-1 group=32"}) {
    absl::StatusOr<CodedScheme> read = CodedScheme::parse(scheme);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->text(), scheme);
  }
  for (const char *scheme : {"gptq bits=0", "gptq bits=x", "gptq group=0", "gptq group=-2", "fp8 block=128", "gptq odd",
                             "fp8 block=0x8", "gptq group=9223372036854775807", "gptq version=3"})
    refusal(CodedScheme::parse(scheme).status());
}

} // namespace
