//===- TensorFile.h - Tensors in files --------------------------*- C++ -*-===//
//
// Tensors of safetensors files and of NumPy's .npy and .npz. The reader trusts
// nothing: every offset, size and name is checked before use, and bytes are
// read, never mapped, so that a file that shrinks meanwhile is an error and not
// a signal. The writer makes the file appear whole or not at all.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_TENSORFILE_H
#define HEDDLE_RUNTIME_CORE_TENSORFILE_H

#include "runtime/Base/ArrayFile.h"
#include "runtime/Base/TensorHeader.h"
#include "runtime/Core/Tensor.h"

#include <memory>

namespace heddle::rt {

/// One tensor of a file, as its header describes it.
struct FileTensor {
  std::string name;
  std::string type; ///< as safetensors calls it: "F32", "I64", "BOOL"
  Shape shape;
  bool unnamed = false; ///< a .npy, or arr_0 of a .npz: nobody gave it a name
  size_t file = 0;      ///< which of the opened files has it
  size_t item = 0;      ///< which tensor of that file it is
};

class TensorFile {
public:
  TensorFile();
  TensorFile(const TensorFile &) = delete;
  TensorFile &operator=(const TensorFile &) = delete;
  ~TensorFile();

  /// Adds all tensors of the file at `path`. The first bytes say of which format it is, not its name.
  Status open(const std::string &path);
  /// Adds one tensor of the file at `path`, as `name`: that of this name, or the only one.
  Status openOne(const std::string &name, const std::string &path);
  /// An error if two tensors have one name.
  Status checkNames() const;

  const std::vector<FileTensor> &tensors() const { return items; }
  const FileTensor *find(std::string_view name) const;
  /// Gives the tensor at `index` a name.
  void rename(size_t index, const std::string &name);
  /// The path of the file, or of all files with commas between.
  const std::string &path() const { return where; }
  std::vector<std::string> paths() const;

  /// Reads one tensor, converted to `type`, into `out`, which must have room
  /// for its elements. An error if a value would change its meaning
  /// (TensorFile.cpp).
  Status read(const FileTensor &tensor, Type type, void *out) const;

private:
  struct Opened;

  std::string where;
  std::vector<std::unique_ptr<Opened>> files;
  std::vector<FileTensor> items;
};

/// The end of a file name, ".npy" or ".npz", that says how tensors are written; "" for safetensors.
std::string_view arrayEnding(std::string_view path);

/// Writes all tensors to `path`, which is replaced only when everything is
/// written: as one NumPy array if it ends in .npy, as an archive of arrays if in
/// .npz, else as safetensors. A .npy takes exactly one tensor.
Status writeTensors(const std::string &path, const std::vector<const Tensor *> &tensors);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_TENSORFILE_H
