//===- errors.h - Error codes and exit statuses -----------------*- C++ -*-===//
//
// An enumerator for each row of errors.def, its code and the status that a
// process ends with. What the rows say to people is printed by
// `heddle reference errors`; no compiled model carries it.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_ERRORS_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_ERRORS_H

#include <cstdint>

namespace heddle {

enum class Exit : int { Ok = 0, Input = 1, Usage = 2, Unsupported = 3, Resources = 4, InputOutput = 5, Internal = 70 };

enum class Error : uint8_t {
#define HEDDLE_ERROR(code, name, ...) name,
#include "heddle/errors.def"
};

struct ErrorRow {
  const char *code;
  Exit exit;
};
inline constexpr ErrorRow kErrorRows[] = {
#define HEDDLE_ERROR(code, name, exit, ...) {#code, Exit::exit},
#include "heddle/errors.def"
};

/// "H0304".
constexpr const char *codeOf(Error error) { return kErrorRows[static_cast<int>(error)].code; }

constexpr Exit exitOf(Error error) { return kErrorRows[static_cast<int>(error)].exit; }

} // namespace heddle

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_ERRORS_H
