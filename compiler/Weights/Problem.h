// A rejection of a weights file that a user can act on: which file, where in
// it, which tensor, which rule of the format, and how to mend it. It travels
// inside absl::Status (the fields as a payload, the rendered text as the
// message), so callers that only pass errors on need to know nothing about it.
#ifndef HEDDLE_COMPILER_WEIGHTS_PROBLEM_H
#define HEDDLE_COMPILER_WEIGHTS_PROBLEM_H

#include "absl/status/status.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace heddle {

struct WeightProblem {
  /// "H0207" is rule S07 of the format; H0231.. are files that are something
  /// else; H0101.. are failures to open or read; H07xx are failures to write.
  std::string code;
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

/// Rule `rule` (1..26) broken; codes and rule names are the same number.
WeightProblem brokenRule(int rule, std::string message, std::string file,
                         std::optional<uint64_t> byte, std::string tensor,
                         std::string help);

/// `code` of the status decides the exit code of the tool (design, section 9 of
/// the messages contract): InvalidArgument 1, Unimplemented 3,
/// ResourceExhausted 4, Unavailable 5.
absl::Status
toStatus(const WeightProblem &problem,
         absl::StatusCode code = absl::StatusCode::kInvalidArgument);

/// The fields back, for callers that render or check them; nothing for a
/// foreign status.
std::optional<WeightProblem> problemOf(const absl::Status &status);

/// `error[H0207]: message`, then `  --> file: byte N (tensor `t`)`, then help
/// and rule.
std::string render(const WeightProblem &problem);

/// Text from a file made safe to print: control bytes and bad UTF-8 as \xNN,
/// cut at `limit` bytes.
std::string printable(llvm::StringRef text, size_t limit = 120);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_PROBLEM_H
