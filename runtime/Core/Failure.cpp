//===- Failure.cpp - What generated code reports --------------------------===//
//
// Texts come from abi.def, with the operands put into their holes.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/Failure.h"

namespace heddle::rt {

Status modelFailed(int64_t code, int64_t a, int64_t b, const std::vector<std::string> &lookups) {
  std::string text = format("the model failed with code %lld", static_cast<long long>(code));
  switch (code & 0xff) {
#define HEDDLE_FAILURE(code, name, words)                                                                              \
  case code: text = words; break;
#include "heddle/abi.def"
  }
  auto fill = [&](const char *hole, int64_t value) {
    size_t at = text.find(hole);
    if (at != std::string::npos)
      text.replace(at, 3, std::to_string(value));
  };
  fill("{a}", a);
  fill("{b}", b);
  // Above the code: 1 + the number of the lookup, or 0.
  auto lookup = size_t(code >> 8);
  if (lookup > 0 && lookup <= lookups.size())
    text += " (" + lookups[lookup - 1] + ")";
  return badInput(text);
}

} // namespace heddle::rt
