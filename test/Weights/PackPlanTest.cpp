// Sizes, offsets, sharing, refusals and the text form of requests.
#include "compiler/Weights/PackPlan.h"
#include "test/Weights/Support.h"

using namespace heddle;
using namespace heddle::test;

namespace {

TEST(PackPlan, SizesArePadded) {
  EXPECT_EQ(PackRequest::natural("a", 7).bytes(), 28u);
  EXPECT_EQ(PackRequest::natural("a", 7, PackedType::I64).bytes(), 56u);
  EXPECT_EQ(PackRequest::natural("a", 7, PackedType::Bool).bytes(), 7u);
  EXPECT_EQ(PackRequest::transposed("a", 3, 5, PackedType::BF16).bytes(), 30u);
  EXPECT_EQ(PackRequest::panel32("a", 33, 5, false).bytes(), 2u * 5 * 32 * 4);
  EXPECT_EQ(PackRequest::panel32("a", 33, 5, false, {}, PackedType::BF16).bytes(),
            2u * 3 * 32 * 2 * 2);
  EXPECT_EQ(PackRequest::panel32("a", 60, 4, true, {3, 20, 5, 15}).bytes(), 4u * 32 * 4);
  EXPECT_EQ(PackRequest::bytesOf("abc").bytes(), 3u);
  PackRequest experts = PackRequest::panel32("a", 8, 4, false);
  experts.count = 3;
  EXPECT_EQ(experts.bytes(), 3u * 4 * 32 * 4);
}

TEST(PackPlan, OffsetsAreAlignedAndEqualRequestsShared) {
  PackPlanBuilder builder;
  EXPECT_EQ(*builder.add(PackRequest::natural("a", 3)), 0u);
  EXPECT_EQ(*builder.add(PackRequest::natural("b", 17)), 64u);
  EXPECT_EQ(*builder.add(PackRequest::natural("a", 3)), 0u);
  EXPECT_EQ(*builder.add(PackRequest::natural("a", 3, PackedType::BF16)), 192u);
  EXPECT_EQ(*builder.add(PackRequest::bytesOf("")), 256u);
  EXPECT_EQ(*builder.add(PackRequest::bytesOf("x")), 256u);
  EXPECT_EQ(builder.plan().entries.size(), 5u);
  EXPECT_EQ(builder.plan().bytes, 320u);
  EXPECT_EQ(builder.plan().str(), "0 12 natural f32 \"a\"[1 x 3]\n"
                                  "64 68 natural f32 \"b\"[1 x 17]\n"
                                  "192 6 natural bf16 \"a\"[1 x 3]\n"
                                  "256 0 literal \n"
                                  "256 1 literal 78\n");
  auto parsed = PackPlan::parse(builder.plan().str());
  ASSERT_OK(parsed.status());
  EXPECT_EQ(parsed->str(), builder.plan().str());
  EXPECT_EQ(parsed->bytes, 320u);
  for (const char *bad : {"x", "0 12", "0 12 natural", "1 12 natural f32 \"a\"[1 x 3]",
                          "0 13 natural f32 \"a\"[1 x 3]",
                          "64 0 literal \n0 0 literal ",
                          "18446744073709551552 64 natural f32 \"a\"[1 x 16]"})
    EXPECT_FALSE(PackPlan::parse(bad).ok()) << bad;
}

TEST(PackPlan, TextParsesBack) {
  PackRequest all = PackRequest::panel32("h.{0} \"\\\n\xff", 300, 7, true,
                                         {3, 100, 10, 90}, PackedType::BF16);
  all.pieces.push_back(all.pieces[0]);
  all.pieces[1].start = 2100;
  all.pieces[1].take = {1, 300, 0, 240};
  all.count = 4;
  all.interleave = 16;
  for (const PackRequest &request :
       {all, PackRequest::natural("a", 5, PackedType::Bool),
        PackRequest::transposed("b.c", 0, 5, PackedType::F16),
        PackRequest::bytesOf(std::string("\0\xffz", 3)), PackRequest::bytesOf("")}) {
    std::string line = request.str();
    EXPECT_EQ(line.find('\n'), std::string::npos);
    auto parsed = PackRequest::parse(line);
    ASSERT_OK(parsed.status());
    EXPECT_EQ(parsed->str(), line);
    EXPECT_EQ(parsed->bytes(), request.bytes());
  }
  for (const char *bad :
       {"", "panel", "natural", "natural f32", "natural f32 \"a\"", "natural f32 \"a\"[1]",
        "natural f32 \"a\"[1 x 2] x", "natural f32 \"a[1 x 2]", "panel32 i64 \"a\"[1 x 2]",
        "natural f32 \"a\"[1 x 99999999999999999999]", "natural f32 \"a\"[-1 x 2]",
        "natural f32 \"a\"[1 x 2] count 0", "literal 0", "literal zz",
        "natural f32 \"\\g0\"[1 x 1]"})
    EXPECT_FALSE(PackRequest::parse(bad).ok()) << bad;
}

TEST(PackPlan, ImpossibleRequestsAreRefused) {
  PackPlanBuilder builder;
  auto refused = [&](PackRequest request) {
    auto result = builder.add(request);
    EXPECT_FALSE(result.ok()) << request.str();
  };
  refused(PackRequest());
  refused(PackRequest::natural("", 1));
  refused(PackRequest::natural("a", -1));
  refused(PackRequest::panel32("a", 8, 8, false, {}, PackedType::Bool));
  refused(PackRequest::panel32("a", 8, 8, false, {2, 4, 0, 5}));
  refused(PackRequest::panel32("a", 8, 8, false, {3, 4, 0, 4}));
  refused(PackRequest::panel32("a", 8, 8, false, {1, 8, 4, 4}));
  refused(PackRequest::panel32("a", 8, 8, false, {1, 8, -1, 4}));
  refused(PackRequest::panel32("a", int64_t(1) << 40, int64_t(1) << 40, false));
  PackRequest two = PackRequest::natural("a", 4);
  two.pieces.push_back({"b", 1, 5, {}, 0});
  refused(two);
  PackRequest uneven = PackRequest::panel32("a", 4, 4, false);
  uneven.pieces.push_back({"b", 8, 4, {}, 0});
  uneven.interleave = 2;
  refused(uneven);
  EXPECT_TRUE(builder.plan().entries.empty());
}

TEST(PackPlan, PlansAreHeldAgainstTheFile) {
  Directory dir;
  auto store = WeightStore::open(dir.write(
      "m.safetensors", goodFile({{"a", "F32", {2, 3}, std::string(24, 'x')}})));
  ASSERT_OK(store.status());
  auto rule = [&](PackRequest request) {
    PackPlanBuilder builder;
    EXPECT_OK(builder.add(request).status());
    absl::Status status = builder.plan().check(*store);
    return status.ok() ? std::string() : refusal(status).rule;
  };
  EXPECT_EQ(rule(PackRequest::natural("a", 6)), "");
  EXPECT_EQ(rule(PackRequest::natural("a", 7)), "S26");
  EXPECT_EQ(rule(PackRequest::natural("b", 6)), "S26");
  EXPECT_EQ(rule(PackRequest::natural("a", 6, PackedType::I64)), "S26");
  PackRequest late = PackRequest::natural("a", 6);
  late.pieces[0].start = 1;
  EXPECT_EQ(rule(late), "S26");
  PackRequest twice = PackRequest::natural("a", 4);
  twice.count = 2;
  EXPECT_EQ(rule(twice), "S26");
}

} // namespace
