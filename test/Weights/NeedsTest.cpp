// Rule S26, tied copies and non-finite values.
#include "compiler/Weights/Needs.h"
#include "test/Weights/Support.h"
#include <cmath>

using namespace heddle;
using namespace heddle::test;

namespace {

TEST(Needs, S26AllAtOnceWithTheNearestName) {
  Directory dir;
  auto store = WeightStore::open(dir.write(
      "m.safetensors", goodFile({{"h.0.attn.weight", "F32", {2, 3}, std::string(24, 'x')},
                                 {"ids", "I64", {1}, std::string(8, 'x')},
                                 {"turned", "F32", {2, 1}, std::string(8, 'x')},
                                 {"left.over", "F32", {1}, std::string(4, 'x')}})));
  ASSERT_OK(store.status());
  NeedReport report = compareWithNeeds(
      *store, {{"h.0.attn.weight", {2, 3}, true, ""},
               {"left.ower", {1}, true, "model.json:3:5"},
               {"ids", {1}, true, ""},
               {"turned", {1, 2}, true, ""}});
  ASSERT_EQ(report.total, 4u);
  EXPECT_EQ(report.problems[0].tensor, "left.ower");
  EXPECT_NE(report.problems[0].help.find("left.over"), std::string::npos);
  EXPECT_NE(report.problems[0].message.find("model.json:3:5"), std::string::npos);
  EXPECT_NE(report.problems[1].message.find("I64"), std::string::npos);
  EXPECT_NE(report.problems[2].message.find("[2, 1], expected [1, 2]"), std::string::npos);
  EXPECT_NE(report.problems[2].help.find("transposed"), std::string::npos);
  EXPECT_EQ(report.problems[3].tensor, "left.over");
  for (const WeightProblem &problem : report.problems)
    EXPECT_EQ(problem.rule, "S26");

  EXPECT_EQ(compareWithNeeds(*store,
                             {{"h.0.attn.weight", {2, 3}, true, ""},
                              {"ids", {1}, false, ""},
                              {"turned", {2, 1}, true, ""},
                              {"left.over", {1}, true, ""}})
                .total,
            0u);
}

TEST(Needs, S26AtMostTwentyAreTold) {
  Directory dir;
  auto store = WeightStore::open(dir.write("m.safetensors", goodFile({})));
  ASSERT_OK(store.status());
  std::vector<WeightNeed> needs;
  for (int i = 0; i < 50; ++i)
    needs.push_back({"t" + std::to_string(i), {1}, true, ""});
  NeedReport report = compareWithNeeds(*store, needs);
  EXPECT_EQ(report.total, 50u);
  EXPECT_EQ(report.problems.size(), 20u);
}

TEST(Store, TiedCopiesAreComparedByContent) {
  std::string big(3 << 20, 'x'), other = big;
  other.back() = 'y';
  Directory dir;
  auto store = WeightStore::open(dir.write(
      "m.safetensors",
      goodFile({{"a", "U8", {3 << 20}, big}, {"b", "U8", {3 << 20}, big},
                {"c", "U8", {3 << 20}, other}, {"d", "U8", {1 << 20, 3}, big},
                {"e", "I8", {3 << 20}, big}})));
  ASSERT_OK(store.status());
  auto equal = [&](const char *a, const char *b) {
    return *store->equal(*store->find(a), *store->find(b));
  };
  EXPECT_TRUE(equal("a", "a"));
  EXPECT_TRUE(equal("a", "b"));
  EXPECT_FALSE(equal("a", "c"));
  EXPECT_FALSE(equal("a", "d"));
  EXPECT_FALSE(equal("a", "e"));
}

TEST(Store, CountsWhatIsNotFinite) {
  float inf = INFINITY;
  Directory dir;
  auto store = WeightStore::open(dir.write(
      "m.safetensors",
      goodFile({{"a", "F32", {5}, bytesOf<float>({0, -inf, NAN, 1e38f, inf})},
                {"b", "BF16", {2}, bytesOf<uint16_t>({0x7fc0, 0x3f80})},
                {"c", "I64", {1}, bytesOf<int64_t>({-1})}})));
  ASSERT_OK(store.status());
  EXPECT_EQ(*store->countNonFinite(*store->find("a")), 3u);
  EXPECT_EQ(*store->countNonFinite(*store->find("b")), 1u);
  EXPECT_EQ(*store->countNonFinite(*store->find("c")), 0u);
}

TEST(Store, AMissingTensorIsNamedWithItsNeighbour) {
  Directory dir;
  auto store = WeightStore::open(
      dir.write("m.safetensors", goodFile({{"wte.weight", "U8", {1}, "a"}})));
  ASSERT_OK(store.status());
  auto missing = store->get("wte.wieght");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(refusal(missing.status()).help.find("`wte.weight`"), std::string::npos);
}

} // namespace
