// Reading is by ranges of rows and columns: where a range of columns is narrow each row is read by itself, else whole
// rows are read and cut.
#include "compiler/Weights/Coded/CodedPieces.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace heddle {

absl::Status wrongPiece(const StoredTensor &piece, std::string message, std::string help) {
  return toStatus(WeightProblem{Error::CodedPiece, "", std::move(message), piece.file->path(), piece.record->headerByte,
                                printable(piece.name()), std::move(help)});
}

absl::StatusOr<const StoredTensor *> CodedPieces::get(llvm::StringRef suffix, const StoredTensor &beside) const {
  if (const StoredTensor *piece = find(suffix))
    return piece;
  return wrongPiece(beside, "`" + printable(module + suffix.str()) + "` is missing, which belongs to this tensor",
                    "the files are incomplete: download all of them again");
}

std::string shapeOf(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t n : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

absl::Status wrongShape(const StoredTensor &piece, const std::string &needed) {
  return wrongPiece(piece, "the tensor is " + shapeOf(piece.shape()) + "; " + needed);
}

absl::Status checkShape(const StoredTensor &piece, llvm::ArrayRef<int64_t> shape, llvm::StringRef why) {
  if (piece.shape() == shape)
    return absl::OkStatus();
  return wrongShape(piece, shapeOf(shape) + " is needed (" + why.str() + ")");
}

absl::Status checkType(const StoredTensor &piece, llvm::ArrayRef<StoredType> types) {
  if (llvm::is_contained(types, piece.type()))
    return absl::OkStatus();
  std::string words;
  for (StoredType type : types)
    words += (words.empty() ? "" : " or ") + spelling(type).str();
  return wrongPiece(piece, "the tensor is of " + spelling(piece.type()).str() + "; " + words + " is needed");
}

absl::Status checkReal(const StoredTensor &piece) {
  return isReal(piece.type())
             ? absl::OkStatus()
             : wrongPiece(piece, "the tensor is of " + spelling(piece.type()).str() + "; real numbers are needed");
}

ScaleType scaleTypeOf(const StoredTensor &piece) {
  switch (piece.type()) {
  case StoredType::F16:
  case StoredType::F8_E4M3:
  case StoredType::F8_E5M2: return ScaleType::F16;
  case StoredType::BF16:
  case StoredType::F8_E8M0: return ScaleType::BF16;
  default: return ScaleType::F32;
  }
}

absl::Status readScales(const StoredTensor &piece, uint64_t first, llvm::MutableArrayRef<float> to) {
  if (absl::Status status = piece.file->readF32(*piece.record, first, to); !status.ok())
    return status;
  for (size_t i = 0; i < to.size(); ++i)
    if (!std::isfinite(to[i])) {
      absl::Status status = wrongPiece(piece, "element " + std::to_string(first + i) + " is " +
                                                  (std::isnan(to[i]) ? "NaN" : "infinite") + ", and a scale is needed");
      WeightProblem problem = *problemOf(status);
      problem.byte = piece.record->byte + (first + i) * width(piece.type());
      return toStatus(problem);
    }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint8_t>> readBytes(const StoredTensor &piece, uint64_t first, uint64_t count) {
  std::vector<uint8_t> bytes(count);
  if (absl::Status status = piece.file->readBytes(*piece.record, first, bytes); !status.ok())
    return status;
  return bytes;
}

absl::StatusOr<std::vector<uint32_t>> readWords(const StoredTensor &piece, int64_t row, int64_t rows, int64_t column,
                                                int64_t count) {
  int64_t columns = piece.shape().back();
  std::vector<uint32_t> words(rows * count);
  auto read = [&](uint64_t first, llvm::MutableArrayRef<uint32_t> to) {
    return piece.file->readBytes(*piece.record, first * 4, {reinterpret_cast<uint8_t *>(to.data()), to.size() * 4});
  };
  if (count == columns) {
    absl::Status status = read(uint64_t(row) * columns, words);
    return status.ok() ? absl::StatusOr<std::vector<uint32_t>>(std::move(words)) : status;
  }
  // A short read costs as much as one of 4 KiB.
  bool whole = columns * 4 <= 4096 || count * 4 >= columns;
  std::vector<uint32_t> line(whole ? columns : 0);
  for (int64_t r = 0; r < rows; ++r) {
    llvm::MutableArrayRef<uint32_t> to(words.data() + r * count, count);
    absl::Status status =
        whole ? read(uint64_t(row + r) * columns, line) : read(uint64_t(row + r) * columns + column, to);
    if (!status.ok())
      return status;
    if (whole)
      std::memcpy(to.data(), line.data() + column, count * 4);
  }
  return words;
}

/// Fields that fill a word exactly.
template <unsigned Bits>
static void unpackWhole(const uint32_t *words, size_t stride, int64_t count, int add, uint8_t *to) {
  constexpr int64_t per = 32 / Bits;
  for (; count > 0; count -= per, words += stride, to += per)
    for (int64_t j = 0; j < std::min(per, count); ++j)
      to[j] = uint8_t(((*words >> (j * Bits)) & ((1u << Bits) - 1)) + add);
}

void unpack(const uint32_t *words, size_t stride, unsigned bits, int64_t count, int add, uint8_t *to) {
  switch (bits) {
  case 2: return unpackWhole<2>(words, stride, count, add, to);
  case 4: return unpackWhole<4>(words, stride, count, add, to);
  case 8: return unpackWhole<8>(words, stride, count, add, to);
  default:
    for (int64_t i = 0; i < count; ++i)
      to[i] = uint8_t(int(field(words, stride, bits, i)) + add);
  }
}

absl::StatusOr<std::vector<int64_t>> readIntegers(const StoredTensor &piece) {
  std::vector<int64_t> values(piece.elements());
  if (isReal(piece.type()))
    return wrongPiece(piece, "the tensor is of " + spelling(piece.type()).str() + "; integers are needed");
  if (absl::Status status = piece.file->readI64(*piece.record, 0, values); !status.ok())
    return status;
  return values;
}

absl::StatusOr<std::vector<int32_t>> readGroups(const StoredTensor &piece, int64_t groups) {
  absl::StatusOr<std::vector<int64_t>> read = readIntegers(piece);
  if (!read.ok())
    return read.status();
  std::vector<int32_t> result(read->size());
  for (size_t i = 0; i < read->size(); ++i) {
    int64_t group = (*read)[i];
    if (group < 0 || group >= groups)
      return wrongPiece(piece, "element " + std::to_string(i) + " is " + std::to_string(group) + ", and there are " +
                                   std::to_string(groups) + " groups");
    result[i] = int32_t(group);
  }
  return result;
}

} // namespace heddle
