// What config.json says of how the matrices of a checkpoint are quantised, as far as the tensors do not say it
// themselves: the importer reads it out of `quantization_config`, and the module keeps it as a text
// (`model.quantised`), so that the files can be opened again from the text of any stage.
#ifndef HEDDLE_COMPILER_WEIGHTS_CODED_CODEDSCHEME_H
#define HEDDLE_COMPILER_WEIGHTS_CODED_CODEDSCHEME_H

#include "absl/status/statusor.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

struct CodedScheme {
  /// gptq, awq, compressed-tensors, fp8, bitsandbytes or mxfp4; empty: nothing is quantised.
  std::string method;
  /// Of a code; 0: several, or not said. Then the shapes tell.
  int64_t bits = 0;
  /// Features that share a scale: the sizes that are named. -1: all features of a row.
  std::vector<int64_t> groups;
  /// Rows and features of a matrix that share a scale (fp8): the sizes that are named.
  std::vector<std::pair<int64_t, int64_t>> blocks;
  /// Every zero is the middle of the range (gptq), or none is stored (awq).
  bool symmetric = false;
  /// Of gptq: 1 stores zeros less one, 2 as they are.
  int64_t version = 1;

  explicit operator bool() const { return !method.empty(); }

  /// The size of a group of a matrix with `k` features and `count` groups: the named one that fits, else the one that
  /// divides; 0 if there is none.
  int64_t groupOf(int64_t k, int64_t count) const;

  /// "gptq bits=4 group=128 symmetric version=2", and back.
  std::string text() const;
  static absl::StatusOr<CodedScheme> parse(llvm::StringRef text);
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_CODED_CODEDSCHEME_H
