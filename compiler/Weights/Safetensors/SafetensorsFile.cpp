// The header is read as a whole, after its length passed rules 1 and 2, so a
// broken file cannot cause a large allocation. Data are read in pieces of at
// most 1 MiB.
#include "compiler/Weights/Safetensors/SafetensorsFile.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Safetensors/KnownFiles.h"
#include <vector>

namespace heddle {

static constexpr size_t pieceBytes = 1 << 20;

absl::StatusOr<SafetensorsFile> SafetensorsFile::open(llvm::StringRef path, const HeaderLimits &limits) {
  absl::StatusOr<InputFile> file = InputFile::open(path);
  if (!file.ok())
    return file.status();
  return read(*std::move(file), limits);
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::read(InputFile file, const HeaderLimits &limits) {
  std::vector<uint8_t> beginning(1024);
  absl::StatusOr<size_t> got = file.readSome(0, beginning);
  if (!got.ok())
    return got.status();
  llvm::StringRef first(reinterpret_cast<const char *>(beginning.data()), *got);
  if (std::optional<WeightProblem> wrong = recogniseWrongFile(first, file.path()))
    return toStatus(*wrong);
  absl::StatusOr<uint64_t> length = safetensorsHeaderLength(first, file.size(), file.path(), limits);
  if (!length.ok())
    return length.status();

  std::string header(*length, '\0');
  absl::Status status = file.read(8, {reinterpret_cast<uint8_t *>(header.data()), header.size()});
  if (!status.ok())
    return status;
  absl::StatusOr<SafetensorsHeader> table = parseSafetensorsHeader(header, file.size(), file.path(), limits);
  if (!table.ok())
    return table.status();
  return SafetensorsFile(std::move(file), *std::move(table));
}

/// The internal error of a read outside of the tensor: the caller's mistake.
static absl::Status outside(const SafetensorsFile &file, const TensorRecord &tensor) {
  WeightProblem problem{
      Error::OurMistake,      "", "internal error: a read outside of the tensor", file.path(), tensor.byte,
      printable(tensor.name), ""};
  return toStatus(problem);
}

static bool inside(uint64_t first, uint64_t count, uint64_t all) { return first <= all && count <= all - first; }

absl::Status SafetensorsFile::readBytes(const TensorRecord &tensor, uint64_t first,
                                        llvm::MutableArrayRef<uint8_t> to) const {
  if (!inside(first, to.size(), tensor.bytes))
    return outside(*this, tensor);
  return file.read(tensor.byte + first, to);
}

/// Reads pieces and widens each of them; `Widen` is one of the two functions.
template <typename T, typename Widen>
static absl::Status readWidened(const InputFile &file, const TensorRecord &tensor, uint64_t first,
                                llvm::MutableArrayRef<T> to, Widen widen) {
  size_t size = width(tensor.type);
  std::vector<uint8_t> piece(std::min(to.size() * size, pieceBytes));
  uint64_t from = tensor.byte + first * size;
  while (!to.empty()) {
    size_t count = std::min(to.size(), pieceBytes / size);
    llvm::MutableArrayRef<uint8_t> bytes(piece.data(), count * size);
    absl::Status status = file.read(from, bytes);
    if (!status.ok())
      return status;
    widen(tensor.type, bytes.data(), to.take_front(count));
    to = to.drop_front(count);
    from += bytes.size();
  }
  return absl::OkStatus();
}

absl::Status SafetensorsFile::readF32(const TensorRecord &tensor, uint64_t first,
                                      llvm::MutableArrayRef<float> to) const {
  if (!inside(first, to.size(), tensor.elements()))
    return outside(*this, tensor);
  if (tensor.type == StoredType::F32)
    return file.read(tensor.byte + first * 4, {reinterpret_cast<uint8_t *>(to.data()), to.size() * 4});
  return readWidened(file, tensor, first, to, widenToF32);
}

absl::Status SafetensorsFile::readI64(const TensorRecord &tensor, uint64_t first,
                                      llvm::MutableArrayRef<int64_t> to) const {
  if (!inside(first, to.size(), tensor.elements()) || isReal(tensor.type))
    return outside(*this, tensor);
  return readWidened(file, tensor, first, to, widenToI64);
}

} // namespace heddle
