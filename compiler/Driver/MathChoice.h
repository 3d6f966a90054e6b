//===- MathChoice.h - what --math says ---------------------------*- C++ -*-===//
//
// One word for all products, `wide`, or one for some kinds of them, `attention=wide,codes=dots`; the other kinds are
// `auto`: what the processor is fast at.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_COMPILER_DRIVER_MATHCHOICE_H
#define HEDDLE_COMPILER_DRIVER_MATHCHOICE_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace heddle {

struct MathChoice {
  std::string linear = "auto";    ///< products with weights of bf16
  std::string attention = "auto"; ///< scores and weighted values of keys and values in bf16
  std::string codes = "auto";     ///< products with weights of 8 or 4 bits

  /// Nothing, with what is wrong in `error`, for a text that is no choice.
  static std::optional<MathChoice> parse(llvm::StringRef text, std::string &error);
};

} // namespace heddle

#endif
