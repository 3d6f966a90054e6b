// Tensors by name, and copies of one.
#include "compiler/Weights/WeightStore.h"
#include "test/Weights/Support.h"

using namespace heddle;
using namespace heddle::test;

namespace {

TEST(Store, TiedCopiesAreComparedByContent) {
  std::string big(3 << 20, 'x'), other = big;
  other.back() = 'y';
  Directory dir;
  auto store = WeightStore::open(dir.write("m.safetensors", goodFile({{"a", "U8", {3 << 20}, big},
                                                                      {"b", "U8", {3 << 20}, big},
                                                                      {"c", "U8", {3 << 20}, other},
                                                                      {"d", "U8", {1 << 20, 3}, big},
                                                                      {"e", "I8", {3 << 20}, big}})));
  ASSERT_OK(store.status());
  auto equal = [&](const char *a, const char *b) { return *store->equal(*store->find(a), *store->find(b)); };
  EXPECT_TRUE(equal("a", "a"));
  EXPECT_TRUE(equal("a", "b"));
  EXPECT_FALSE(equal("a", "c"));
  EXPECT_FALSE(equal("a", "d"));
  EXPECT_FALSE(equal("a", "e"));
}

TEST(Store, AMissingTensorIsNamedWithItsNeighbour) {
  Directory dir;
  auto store = WeightStore::open(dir.write("m.safetensors", goodFile({{"wte.weight", "U8", {1}, "a"}})));
  ASSERT_OK(store.status());
  auto missing = store->get("wte.wieght");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(refusal(missing.status()).help.find("`wte.weight`"), std::string::npos);
}

TEST(Store, AnElementOfATensorHasAName) {
  std::vector<float> numbers(24);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = float(i);
  Directory dir;
  auto store = WeightStore::open(dir.write("m.safetensors", goodFile({{"flat", "F32", {24}, bytesOf(numbers)},
                                                                      {"stack", "F32", {4, 3, 2}, bytesOf(numbers)},
                                                                      {"stack[3]", "F32", {24}, bytesOf(numbers)}})));
  ASSERT_OK(store.status());
  const StoredTensor *second = store->find("stack[1]");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second, store->find("stack[1]"));
  EXPECT_EQ(second->shape(), llvm::ArrayRef<int64_t>({3, 2}));
  std::vector<float> read(6);
  ASSERT_OK(store->readF32(*second, 0, read));
  EXPECT_EQ(read, std::vector<float>({6, 7, 8, 9, 10, 11}));
  ASSERT_OK(store->readF32(*second, 4, llvm::MutableArrayRef(read).take_front(2)));
  EXPECT_EQ(read[1], 11);
  EXPECT_EQ(store->find("stack[3]")->shape().size(), 1u); // a tensor of that name goes first
  for (const char *none : {"stack[4]", "stack[-1]", "stack[]", "stack[1", "stack[1]x", "flat[0]", "other[0]", "[0]",
                           "stack[99999999999999999999]"})
    EXPECT_EQ(store->find(none), nullptr) << none;
}

} // namespace
