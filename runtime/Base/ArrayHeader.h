//===- ArrayHeader.h - The header of a NumPy array (.npy) -------*- C++ -*-===//
//
// Reads and writes the header in front of an array's elements: format versions
// 1, 2 and 3. It is a pure function of the first bytes, and evaluates nothing:
// of Python's literals it knows those that numpy writes.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BASE_ARRAYHEADER_H
#define HEDDLE_RUNTIME_BASE_ARRAYHEADER_H

#include "runtime/Base/ByteSource.h"

#include <string_view>
#include <vector>

namespace heddle::base {

struct ArrayHeader {
  std::string type;           ///< as safetensors calls it: "F32", "I64", "BOOL"
  unsigned width = 0;         ///< bytes of an element
  bool bigEndian = false;     ///< elements have their bytes in the other order
  bool fortran = false;       ///< the first axis varies fastest
  std::vector<int64_t> shape; ///< at most 32 axes
  uint64_t bytes = 0;         ///< of all elements
  uint64_t start = 0;         ///< where they begin
};

/// The longest header that is read, with all that is in front of it. numpy's own limit is 10,000 bytes of text.
inline constexpr uint64_t kMostArrayHeader = 10'012;

/// The first bytes of every array.
inline constexpr std::string_view kArrayMagic = "\x93NUMPY";

/// Reads a header out of the first bytes of an array: all of it, or `kMostArrayHeader`.
ArrayResult readArrayHeader(std::string_view first, ArrayHeader &header);

/// The header of an array in C order, as numpy.save writes it. `type` is F32, F64, I64 or BOOL.
std::string arrayHeaderText(std::string_view type, const std::vector<int64_t> &shape);

} // namespace heddle::base

#endif // HEDDLE_RUNTIME_BASE_ARRAYHEADER_H
