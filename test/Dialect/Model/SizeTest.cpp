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
