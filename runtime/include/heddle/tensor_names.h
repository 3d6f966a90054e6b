//===- tensor_names.h - Names of files that tensors go into -----*- C++ -*-===//
#ifndef HEDDLE_RUNTIME_INCLUDE_HEDDLE_TENSOR_NAMES_H
#define HEDDLE_RUNTIME_INCLUDE_HEDDLE_TENSOR_NAMES_H

#include <string>
#include <string_view>

namespace heddle {

/// The ending of `file` where it belongs to another format than those that are
/// written (safetensors, .npy, .npz): under such a name nobody could read it. ""
/// for any other name.
inline std::string otherFormatOf(std::string_view file) {
  std::string_view name = file.substr(file.rfind('/') + 1);
  size_t dot = name.rfind('.');
  if (dot == std::string_view::npos)
    return "";
  std::string ending(name.substr(dot));
  for (char &c : ending)
    c = c >= 'A' && c <= 'Z' ? char(c + 'a' - 'A') : c;
  for (const char *other : {".pt", ".pth", ".pkl", ".h5", ".hdf5", ".mat", ".gguf", ".onnx", ".msgpack", ".json",
                            ".csv", ".txt", ".arrow", ".parquet"})
    if (ending == other)
      return ending;
  return "";
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_INCLUDE_HEDDLE_TENSOR_NAMES_H
