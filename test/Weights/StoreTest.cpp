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

} // namespace
