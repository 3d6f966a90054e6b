//===- ArrayFile.h - NumPy's files of arrays (.npy, .npz) -------*- C++ -*-===//
//
// One array, or a zip file of arrays by name, stored or deflated. Everything is
// checked when the file is opened; of compressed members, that they are whole
// and have their checksum is known only when they were read.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_BASE_ARRAYFILE_H
#define HEDDLE_RUNTIME_BASE_ARRAYFILE_H

#include "runtime/Base/ArrayHeader.h"
#include "runtime/Base/ZipDirectory.h"

namespace heddle::base {

struct NamedArray {
  std::string name; ///< without .npy
  /// Whether nobody gave it a name: a .npy, or what numpy.savez calls arr_0.
  bool unnamed = false;
  ArrayHeader header;
  ZipMember member; ///< of a .npy that stands alone, the whole file
};

/// Takes the elements of an array, piece by piece, in the order of the file and the bytes of this machine. A piece has
/// whole elements and at most 64 KiB.
class ElementSink {
public:
  virtual ~ElementSink() = default;
  virtual bool take(const char *elements, uint64_t bytes) = 0; ///< false ends it
};

class ArrayFile {
public:
  /// Whether a file with these first bytes is meant to be read here.
  static bool recognises(std::string_view first);

  /// Reads the headers of all arrays of `file`, which must outlive this.
  ArrayResult open(const ByteSource &file);
  const std::vector<NamedArray> &arrays() const { return items; }
  /// Gives the elements of one array to `sink`.
  ArrayResult read(const NamedArray &array, ElementSink &sink) const;

private:
  ArrayResult openArchive();

  const ByteSource *file = nullptr;
  std::vector<NamedArray> items;
  bool archive = false;
};

/// Moves the elements of an array from Fortran's order in `from` to C's in `to`; both have them all.
void orderAsC(const char *from, char *to, const std::vector<int64_t> &shape, unsigned width);

} // namespace heddle::base

#endif // HEDDLE_RUNTIME_BASE_ARRAYFILE_H
