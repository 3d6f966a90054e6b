//===- TensorWriter.cpp - Writing safetensors files -----------------------===//
//
// Equal tensors give equal bytes: they are written in the given order, and the
// header is padded with spaces to a multiple of 8 bytes.
//
//===----------------------------------------------------------------------===//
#include "runtime/Core/FileWriter.h"
#include "runtime/Core/SafeTensors.h"

namespace heddle::rt {

Status writeTensors(const std::string &path, const std::vector<const Tensor *> &tensors) {
  std::string header = "{";
  uint64_t offset = 0;
  for (const Tensor *tensor : tensors) {
    const char *type = tensor->type == Type::F32 ? "F32" : tensor->type == Type::I64 ? "I64" : "BOOL";
    uint64_t bytes = tensor->data.size();
    std::string shape = "[";
    for (size_t i = 0; i < tensor->shape.size(); ++i)
      shape += (i ? "," : "") + std::to_string(tensor->shape[i]);
    header += (offset || header.size() > 1 ? "," : "") + jsonString(tensor->name) + ":{\"dtype\":\"" + type +
              "\",\"shape\":" + shape + "],\"data_offsets\":[" + std::to_string(offset) + "," +
              std::to_string(offset + bytes) + "]}";
    offset += bytes;
  }
  header += "}";
  header.resize((header.size() + 7) & ~size_t(7), ' ');
  unsigned char length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = uint64_t(header.size()) >> (8 * i);
  FileWriter file;
  HEDDLE_TRY(file.open(path, 8 + header.size() + offset));
  HEDDLE_TRY(file.write(length, 8));
  HEDDLE_TRY(file.write(header.data(), header.size()));
  for (const Tensor *tensor : tensors)
    HEDDLE_TRY(file.write(tensor->data.data(), tensor->data.size()));
  return file.commit();
}

} // namespace heddle::rt
