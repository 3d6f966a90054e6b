//===- TensorWriter.cpp - Writing tensors to files ------------------------===//
//
// Equal tensors give equal bytes: they are written in the given order, without
// a time. The header of safetensors is padded with spaces to a multiple of 8
// bytes.
//
//===----------------------------------------------------------------------===//
#include "runtime/Base/Crc32.h"
#include "runtime/Core/FileWriter.h"
#include "runtime/Core/TensorFile.h"

#include <algorithm>

namespace heddle::rt {

static const char *typeInFile(Type type) { return type == Type::F32 ? "F32" : type == Type::I64 ? "I64" : "BOOL"; }

std::string_view arrayEnding(std::string_view path) {
  std::string_view ending = path.substr(path.size() < 4 ? 0 : path.size() - 4);
  auto is = [&](std::string_view other) {
    for (size_t i = 0; i < ending.size() && ending.size() == 4; ++i)
      if ((ending[i] | 0x20) != (other[i] | 0x20))
        return false;
    return ending.size() == 4;
  };
  return is(".npy") ? ".npy" : is(".npz") ? ".npz" : "";
}

/// Writes the tensors, each behind its own text, and a text at the end.
static Status writeAll(const std::string &path, const std::vector<std::string> &before,
                       const std::vector<const Tensor *> &tensors, const std::string &end) {
  uint64_t bytes = end.size();
  for (size_t i = 0; i < tensors.size(); ++i)
    bytes += before[i].size() + tensors[i]->data.size();
  FileWriter file;
  HEDDLE_TRY(file.open(path, bytes));
  for (size_t i = 0; i < tensors.size(); ++i) {
    HEDDLE_TRY(file.write(before[i].data(), before[i].size()));
    HEDDLE_TRY(file.write(tensors[i]->data.data(), tensors[i]->data.size()));
  }
  HEDDLE_TRY(file.write(end.data(), end.size()));
  return file.commit();
}

/// The members of an archive are stored, as numpy.savez stores them.
static Status writeArchive(const std::string &path, const std::vector<const Tensor *> &tensors) {
  base::ZipWriter archive;
  base::Crc32 sum;
  std::vector<std::string> before;
  for (const Tensor *tensor : tensors) {
    std::string header = base::arrayHeaderText(typeInFile(tensor->type), tensor->shape);
    sum.restart();
    sum.add(header.data(), header.size());
    sum.add(tensor->data.data(), tensor->data.size());
    before.push_back(archive.member(tensor->name + ".npy", sum.value(), header.size() + tensor->data.size()) + header);
  }
  return writeAll(path, before, tensors, archive.directory());
}

Status writeTensors(const std::string &path, const std::vector<const Tensor *> &tensors) {
  if (arrayEnding(path) == ".npz")
    return writeArchive(path, tensors);
  if (arrayEnding(path) == ".npy" && tensors.size() == 1)
    return writeAll(path, {base::arrayHeaderText(typeInFile(tensors[0]->type), tensors[0]->shape)}, tensors, "");
  if (arrayEnding(path) == ".npy")
    return internalError("a .npy file takes one tensor, not " + std::to_string(tensors.size()));
  std::string header = "{";
  uint64_t offset = 0;
  for (const Tensor *tensor : tensors) {
    const char *type = typeInFile(tensor->type);
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
  std::vector<std::string> before(std::max<size_t>(tensors.size(), 1));
  before[0] = std::string(reinterpret_cast<char *>(length), 8) + header;
  return tensors.empty() ? writeAll(path, {}, {}, before[0]) : writeAll(path, before, tensors, "");
}

} // namespace heddle::rt
