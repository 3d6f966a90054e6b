// NumPy's files (.npy, .npz) as inputs and outputs of the interpreter. The reader
// of the format is the one that compiled models have (runtime/Base/ArrayFile.h).
#ifndef HEDDLE_COMPILER_WEIGHTS_FILES_ARRAYS_H
#define HEDDLE_COMPILER_WEIGHTS_FILES_ARRAYS_H

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// An array in C order. Reals are widened from f32, integers and booleans to i64.
struct WideArray {
  std::string name; ///< empty for a .npy
  std::vector<int64_t> shape;
  bool real = false, boolean = false;
  std::vector<float> reals;
  std::vector<int64_t> integers;
};

/// Reads all arrays of a file; none if it is of another format.
absl::StatusOr<std::optional<std::vector<WideArray>>> readArrays(llvm::StringRef path);

/// The end of a file name, ".npy" or ".npz"; "" for other names.
llvm::StringRef arrayEnding(llvm::StringRef path);

/// A tensor to be written: `type` is F32, F64, I64 or BOOL, `bytes` its elements in C order.
struct PlainArray {
  std::string name, type;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

/// The bytes of a .npz with all arrays, as numpy.savez writes it, or of a .npy with the only one.
std::string arrayFileOf(llvm::ArrayRef<PlainArray> arrays, bool archive);

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_FILES_ARRAYS_H
