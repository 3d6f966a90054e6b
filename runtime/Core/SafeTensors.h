//===- SafeTensors.h - Tensors in files -------------------------*- C++ -*-===//
//
// Safetensors files. The reader trusts nothing: every offset, size and name is
// checked before use, and bytes are read, never mapped, so that a file that
// shrinks meanwhile is an error and not a signal. The writer makes the file
// appear whole or not at all.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CORE_SAFETENSORS_H
#define HEDDLE_RUNTIME_CORE_SAFETENSORS_H

#include "runtime/Base/TensorHeader.h"
#include "runtime/Core/Tensor.h"

namespace heddle::rt {

/// One tensor of a file, as its header describes it.
using FileTensor = base::TensorEntry;

class TensorFile {
public:
  TensorFile() = default;
  TensorFile(const TensorFile &) = delete;
  TensorFile &operator=(const TensorFile &) = delete;
  ~TensorFile();

  Status open(const std::string &path);
  const std::vector<FileTensor> &tensors() const { return items; }
  const FileTensor *find(std::string_view name) const;
  const std::string &path() const { return where; }

  /// Reads one tensor, converted to `type`, into `out`, which must have room
  /// for its elements. An error if a value would change its meaning
  /// (TensorFile.cpp).
  Status read(const FileTensor &tensor, Type type, void *out) const;

private:
  std::string where;
  int file = -1;
  uint64_t dataStart = 0;
  std::vector<FileTensor> items;
};

/// Writes all tensors to `path`, which is replaced only when everything is
/// written.
Status writeTensors(const std::string &path, const std::vector<const Tensor *> &tensors);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CORE_SAFETENSORS_H
