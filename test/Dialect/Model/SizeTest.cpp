// Size forms as the compiler reads them: the table that the runtime's reader runs too, and that
// the text of a form's normal form means what the form means.
#include "dialects/Model/IR/Size.h"
#include <gtest/gtest.h>

using heddle::model::Size;

namespace {
const std::map<std::string, int64_t> kDims = {{"B", 3}, {"T", 7}, {"max", 1}};

struct Row {
  std::string form;
  std::optional<int64_t> value;
};

TEST(Size, Values) {
  const Row rows[] = {
#define SIZE(form, value) {form, int64_t(value)},
#define NO_VALUE(form) {form, std::nullopt},
#define NO_SIZE(form)
#include "test/support/size_forms.def"
#undef SIZE
#undef NO_VALUE
#undef NO_SIZE
  };
  for (const Row &row : rows) {
    std::optional<Size> size = Size::parse(row.form);
    ASSERT_TRUE(size) << row.form;
    EXPECT_EQ(size->evaluate(kDims), row.value) << row.form;
    if (row.value) { // numbers in the place of dims give the same
      std::map<std::string, Size> numbers(kDims.begin(), kDims.end());
      EXPECT_EQ(size->substitute(numbers).constant(), row.value) << row.form;
    }
    std::optional<Size> again = Size::parse(size->str());
    ASSERT_TRUE(again) << row.form << " is printed as " << size->str();
    EXPECT_EQ(again->str(), size->str());
    EXPECT_EQ(again->evaluate(kDims), row.value) << row.form << " is printed as " << size->str();
  }
}

TEST(Size, TooLarge) {
  Size most = INT64_MAX, large = *Size::parse("4611686018427387904*T"), none = most + Size(1);
  for (const Size &size :
       {none, most * Size(2), large + large, large * Size(2), large * large, large - large * Size(-1), Size(INT64_MIN),
        none * Size(0), none - none, none.floorDiv(Size(2)), Size(8).floorDiv(none), Size::max(none, Size(1)),
        Size::min(Size::dim("T"), none), none.mod(Size(3)), Size::parse("4//(T-3)")->substitute({{"T", Size(3)}})}) {
    EXPECT_FALSE(size.fits());
    EXPECT_EQ(size.str(), "?");
    EXPECT_FALSE(size.constant());
    EXPECT_FALSE(size.evaluate(kDims));
    ASSERT_TRUE(Size::parse(size.str()));
    EXPECT_EQ(*Size::parse(size.str()), size);
  }
  EXPECT_TRUE(most.fits());
  EXPECT_TRUE(large.fits());
  EXPECT_FALSE(large.evaluate(kDims)); // 7 times that leaves 64 bits
  EXPECT_EQ((Size(-INT64_MAX)).floorDiv(most - Size(1)).constant(), -2);
  EXPECT_EQ(Size(INT64_MAX).floorDiv(Size(-1)).constant(), -INT64_MAX);
}

TEST(Size, SidesAndDivisors) {
  auto [left, right] = Size::parse("T-2*B-7")->sides();
  EXPECT_EQ(left.str(), "T");
  EXPECT_EQ(right.str(), "2*B+7");
  std::set<Size> divisors = Size::parse("4//(T-3) + B//2 + max(B, T//B)")->divisors();
  EXPECT_EQ(divisors, (std::set<Size>{*Size::parse("T-3"), Size::dim("B")}));
}

TEST(Size, Refused) {
  for (const char *form : {
#define SIZE(form, value)
#define NO_VALUE(form)
#define NO_SIZE(form) form,
#include "test/support/size_forms.def"
       })
    EXPECT_FALSE(Size::parse(form)) << form;
  EXPECT_FALSE(Size::parse(std::string(100000, '(')));
  EXPECT_FALSE(Size::parse(std::string(100000, '-') + "1"));
}
} // namespace
