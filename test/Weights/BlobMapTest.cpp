// Sizes, what is refused before a file is looked at, and what is held against it.
#include "compiler/Weights/Pack/BlobMap.h"
#include "test/Weights/Support.h"

using namespace heddle;
using namespace heddle::test;

namespace {

/// The same request for part `part` of `parts` in `groups` groups.
PackRequest ofPart(PackRequest request, int64_t part, std::initializer_list<int64_t> parts, int64_t groups) {
  request.layout.part = part;
  request.layout.parts = parts;
  request.layout.groups = groups;
  return request;
}

TEST(BlobMap, SizesArePadded) {
  EXPECT_EQ(natural("a", 7).bytes(), 28u);
  EXPECT_EQ(natural("a", 7, PackedType::I64).bytes(), 56u);
  EXPECT_EQ(natural("a", 7, PackedType::Bool).bytes(), 7u);
  EXPECT_EQ(natural("a", 7, PackedType::BF16).bytes(), 14u);
  EXPECT_EQ(ofPart(natural("a", 24), 1, {2, 1}, 4).bytes(), 32u);
  for (uint64_t panel : {16, 32, 48}) {
    uint64_t rows = llvm::alignTo(33, panel);
    EXPECT_EQ(panels("a", 33, 5, false, PackedType::F32, panel).bytes(), rows * 5 * 4);
    EXPECT_EQ(panels("a", 33, 5, true, PackedType::BF16, panel).bytes(), rows * 6 * 2);
  }
  EXPECT_EQ(ofPart(panels("a", 60, 4, true), 1, {1, 2, 1}, 3).bytes(), 32u * 4 * 4);
}

TEST(BlobMap, ImpossibleRequestsAreRefused) {
  auto refused = [&](PackRequest request) {
    absl::Status status = request.check();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << text(status);
  };
  EXPECT_OK(ofPart(panels("a", 8, 8, false), 1, {1, 3}, 2).check());
  refused(PackRequest());
  refused(natural("", 1));
  refused(natural("a", -1));
  PackRequest filter = panels("a", 2, 2, false), cube = panels("a", 2, 2, true), row = panels("a", 2, 2, false);
  filter.shape.push_back(2);
  EXPECT_OK(filter.check());
  cube.shape.push_back(2);
  refused(cube);
  row.shape.pop_back();
  refused(row);
  PackRequest turned = natural("a", 4);
  turned.layout.inOut = true;
  refused(turned);
  refused(panels("a", 8, 8, false, PackedType::Bool));
  refused(panels("a", 8, 8, false, PackedType::F32, -16));
  refused(panels("a", 8, 8, false, PackedType::F32, 257));
  refused(panels("a", int64_t(1) << 40, int64_t(1) << 40, false));
  refused(ofPart(panels("a", 8, 8, false), 2, {1, 1}, 1));
  refused(ofPart(panels("a", 8, 8, false), -1, {1, 1}, 1));
  refused(ofPart(panels("a", 8, 8, false), 1, {}, 1));
  refused(ofPart(panels("a", 8, 8, false), 0, {1, 0}, 1));
  refused(ofPart(panels("a", 8, 8, false), 0, {1, 1}, 0));
  refused(ofPart(panels("a", 8, 8, false), 0, {1, 1}, 3));
  refused(ofPart(panels("a", 8, 8, false), 0, {9}, 1));
  refused(ofPart(panels("a", 8, 8, false), 0, {INT64_MAX, INT64_MAX}, 1));
}

TEST(BlobMap, PlansAreHeldAgainstTheFile) {
  Directory dir;
  auto store = WeightStore::open(dir.write("m.safetensors", goodFile({{"a", "F32", {2, 3}, std::string(24, 'x')}})));
  ASSERT_OK(store.status());
  auto rule = [&](PackRequest request) {
    absl::Status status = planOf({request}).check(*store);
    return status.ok() ? std::string() : refusal(status).rule;
  };
  EXPECT_EQ(rule(natural("a", 6)), "");
  EXPECT_EQ(rule(natural("a", 7)), "S26");
  EXPECT_EQ(rule(natural("b", 6)), "S26");
  EXPECT_EQ(rule(natural("a", 6, PackedType::I64)), "S26");
  EXPECT_EQ(rule(panels("a", 2, 3, false)), "");
  EXPECT_EQ(rule(panels("a", 3, 3, false)), "S26");
  BlobMap plan = planOf({natural("a", 6), natural("a", 6)});
  EXPECT_OK(plan.check(*store));
  for (uint64_t offset : {0, 1, 68}) { // over the first, and beside a line
    plan.entries[1].offset = offset;
    EXPECT_FALSE(plan.check(*store).ok());
  }
  plan.entries[1].offset = 128; // behind the end
  EXPECT_FALSE(plan.check(*store).ok());
}

} // namespace
