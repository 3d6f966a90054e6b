// An expression of Python's `re` over names of modules, with the three ways in which peft matches one. The grammar is
// that of the tokenizer's patterns; what differs from Python (atomic groups, possessive repeats) is refused.
#ifndef HEDDLE_COMPILER_WEIGHTS_ADAPTER_MODULEPATTERN_H
#define HEDDLE_COMPILER_WEIGHTS_ADAPTER_MODULEPATTERN_H

#include "compiler/Tokenizer/PatternParser.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <optional>
#include <string>

namespace heddle {

class ModulePattern {
public:
  /// None with `error` if the expression is not one, or is not read. `budget`: the steps that all matches together may
  /// take; each looks at one character of a name.
  static std::optional<ModulePattern> compile(llvm::StringRef text, std::string &error, int64_t budget = 1'000'000'000);

  /// `re.fullmatch(KEY, module)`
  bool matches(llvm::StringRef module) const;
  /// `re.match(r"(.*\.)?(KEY)$", module)`
  bool matchesEnd(llvm::StringRef module) const;
  /// `re.match(r"(^|.*\.)KEY($|\..*)", module)`
  bool matchesPart(llvm::StringRef module) const;
  /// The number that `re.match(r".*?\.KEY\.(\d+)\.", module)` finds.
  std::optional<int64_t> layerOf(llvm::StringRef module) const;

  /// Whether a match was given up, because the expression or a name takes too many steps; then it counts as none.
  bool gaveUp() const { return *steps <= 0; }

private:
  class Matcher;

  std::unique_ptr<tok::Node> tree;
  std::unique_ptr<int64_t> steps; ///< that all matches together may still take
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_ADAPTER_MODULEPATTERN_H
