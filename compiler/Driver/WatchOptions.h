//===- WatchOptions.h - what people ask to see of passes --------*- C++ -*-===//
#ifndef HEDDLE_COMPILER_DRIVER_WATCHOPTIONS_H
#define HEDDLE_COMPILER_DRIVER_WATCHOPTIONS_H

#include <optional>
#include <string>
#include <vector>

namespace heddle {

class TextFilter;

/// Of `compile` and `check`; nothing by itself. Watchers.h makes the watchers.
struct WatchOptions {
  bool changedOnly = false;               ///< --only=changed: passes that change nothing leave no file in the dump
  std::vector<std::string> functions;     ///< --function
  std::string at;                         ///< --at: a path of the description, or FILE:LINE
  TextFilter *filter = nullptr;           ///< of the two; where passes are dumped or printed
  std::vector<std::string> before, after; ///< --print-ir-before, --print-ir-after: flags of passes
  std::string change;                     ///< --print-ir-change: "all", or "diff"; empty: nothing
  std::optional<std::string> temps;       ///< --save-temps: a folder, empty: OUTPUT.temps
  std::string trace;                      ///< --time-trace: a file
};

} // namespace heddle

#endif
