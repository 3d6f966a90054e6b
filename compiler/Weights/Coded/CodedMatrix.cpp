// Rows of codes: joining them, and the numbers of a group.
#include "compiler/Weights/Coded/CodedMatrix.h"

namespace heddle {

void CodedRows::append(const CodedRows &other) {
  auto join = [](auto &to, const auto &from) { to.insert(to.end(), from.begin(), from.end()); };
  join(codes, other.codes);
  join(scales, other.scales);
  join(zeros, other.zeros);
  join(minima, other.minima);
  join(subScales, other.subScales);
  join(subMinima, other.subMinima);
}

GroupNumbers GroupNumbers::of(const CodeFormat &format, const CodedRows &rows, int64_t r, int64_t g, int64_t groups) {
  int64_t at = r * groups + g, super = format.super ? at * format.group / format.super : at;
  GroupNumbers numbers{format, rows.scales[super]};
  if (format.zeros)
    numbers.zero = rows.zeros[at];
  if (format.minima)
    numbers.minimum = rows.minima[super];
  if (format.super) {
    numbers.scale *= float(rows.subScales[at]);
    numbers.minimum *= format.minima ? float(rows.subMinima[at]) : 0.0f;
  }
  return numbers;
}

} // namespace heddle
