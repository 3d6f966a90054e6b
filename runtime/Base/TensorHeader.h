//===- TensorHeader.h - The header of a safetensors file --------*- C++ -*-===//
//
// The one reader of headers, for weights that the compiler takes and for tensors
// that a program takes. It is a pure function of the header's bytes and the
// file's size. In what it accepts the tensors fill the data exactly, without
// gaps and without overlap. Rules are numbered as in compiler/Weights/README.md.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BASE_TENSORHEADER_H
#define HEDDLE_RUNTIME_BASE_TENSORHEADER_H

#include "heddle/errors.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::base {

/// What a header may take at most; more is refused.
struct HeaderLimits {
  uint64_t headerBytes = 100'000'000;
  uint64_t tensors = 1'000'000;
  uint64_t nameBytes = 4096;
  unsigned rank = 16;
};

/// One tensor as the header describes it.
struct TensorEntry {
  std::string name;
  std::string type; ///< as in the file: "F32", "BF16"...
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;         ///< bytes, counted from the end of the header
  uint64_t nameByte = 0, typeByte = 0; ///< where these are in the file
};

struct HeaderTable {
  std::vector<TensorEntry> tensors; ///< in the file's order
  /// `__metadata__`, in the file's order.
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Why a header is refused.
struct HeaderProblem {
  Error rule = Error::S01; ///< S01 to S24
  std::string message;
  uint64_t byte = 0;  ///< of the file
  std::string tensor; ///< printable; empty where it is none's fault
  std::string help;
};

/// Bits of an element of a type of the format; none for a word that the format does not know.
std::optional<unsigned> bitsOfType(std::string_view word);

/// Rules 1 and 2: the header's length out of the first bytes of a file.
std::optional<HeaderProblem> readHeaderLength(std::string_view firstBytes, uint64_t fileBytes,
                                              const HeaderLimits &limits, uint64_t &length);

/// Rules 3 to 24. `header` is what follows the 8 bytes of the length; `fileBytes` is the size of the whole file.
std::optional<HeaderProblem> readHeader(std::string_view header, uint64_t fileBytes, const HeaderLimits &limits,
                                        HeaderTable &table);

} // namespace heddle::base

#endif // HEDDLE_RUNTIME_BASE_TENSORHEADER_H
