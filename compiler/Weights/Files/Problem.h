// An error about a weights file that a user can act on: which file, where in
// it, which tensor, which rule of the format, and what to do. It travels inside
// absl::Status (the fields as a payload, the rendered text as the message), so
// callers that only pass errors on need not know it.
#ifndef HEDDLE_COMPILER_WEIGHTS_FILES_PROBLEM_H
#define HEDDLE_COMPILER_WEIGHTS_FILES_PROBLEM_H

#include "absl/status/status.h"
#include "heddle/errors.h"
#include "heddle/printable.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace heddle {

struct WeightProblem {
  Error code = Error::OurMistake;
  /// "S07", or empty when no rule of the format is concerned.
  std::string rule;
  std::string message;
  std::string file;
  /// Offset from the beginning of the file.
  std::optional<uint64_t> byte;
  /// Escaped already when it comes from a file.
  std::string tensor;
  std::string help;
};

/// The error of a broken rule, `Error::S01` to `Error::S26`.
WeightProblem brokenRule(Error rule, std::string message, std::string file, std::optional<uint64_t> byte,
                         std::string tensor, std::string help);

absl::Status toStatus(const WeightProblem &problem);

/// The fields of a status that toStatus made; none for any other status.
std::optional<WeightProblem> problemOf(const absl::Status &status);

/// The error of any status, and its text without the code in front.
Error errorOf(const absl::Status &status);
std::string textOf(const absl::Status &status);

/// `error[H0207]: message`, then `  --> file: byte N (tensor `t`)`, then help
/// and rule.
std::string render(const WeightProblem &problem);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_FILES_PROBLEM_H
