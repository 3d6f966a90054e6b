//===- PassText.h - a pass as --pass-pipeline takes it ----------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_PIPELINES_PASSTEXT_H
#define HEDDLE_COMPILER_PIPELINES_PASSTEXT_H

#include "mlir/Pass/Pass.h"
#include <string>
#include <vector>

namespace heddle {

/// The flag of a pass and, of its options, those that differ from what the flag alone means.
struct PassText {
  std::string flag;
  std::vector<std::string> options; ///< "name=value"

  /// `canonicalize{region-simplify=disabled top-down=false}`
  std::string pipeline() const;
  /// The same as part of a file's name, `canonicalize-region-simplify=disabled-top-down=false`: at most 120 bytes, no
  /// character that a shell gives a meaning.
  std::string fileName() const;
};

/// `pass` must be registered; of one that is not, all options are listed.
PassText textOf(mlir::Pass &pass);

} // namespace heddle

#endif
