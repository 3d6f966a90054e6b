// A matrix is rows of blocks, so any order of rows is a matter of which row is read; a vector is read whole. Memory in
// use is what the caller reads at once, and about a megabyte of codes next to it.
#include "compiler/Weights/Gguf/GgufTensors.h"
#include "compiler/Weights/Files/Problem.h"
#include <algorithm>
#include <cmath>

namespace heddle {

/// A refusal of the first element that is not finite.
static absl::Status notFinite(const GgufSource &source, int64_t row, int64_t element) {
  const StoredTensor &piece = source.stored;
  return toStatus(WeightProblem{Error::GgufDamaged, "",
                                "the tensor has a number that is not finite: row " + std::to_string(row) +
                                    ", element " + std::to_string(element),
                                piece.file->path(), piece.record->headerByte, printable(piece.name()),
                                "the file is damaged, or was made of damaged weights: fetch it again"});
}

/// The numbers of rows of blocks: one for each code, rounded once to f32, then multiplied by `factor` in f32. Where
/// there is a factor other than 1 (NVFP4), the numbers are exact in f32.
static void numbersOf(const CodedForm &form, const CodedRows &from, int64_t groups, float factor,
                      llvm::MutableArrayRef<float> to) {
  const uint8_t *code = from.codes.data();
  float *out = to.data();
  for (int64_t g = 0, all = int64_t(to.size()) / form.group; g < all; ++g) {
    GroupNumbers numbers = GroupNumbers::of(form, from, g / groups, g % groups, groups);
    for (int64_t i = 0; i < form.group; ++i)
      *out++ = numbers.value(*code++) * factor;
  }
}

/// Whether the numbers of a group are finite, whatever its codes are.
static bool isFiniteFor(const GroupNumbers &numbers, float factor) {
  float largest = (std::abs(numbers.scale) * 256 + std::abs(numbers.minimum)) * std::max(std::abs(factor), 1.0f);
  return std::isfinite(largest);
}

absl::Status GgufSource::readCodes(int64_t first, int64_t rows, CodedRows &to) const {
  const CodedForm &form = codedFormOf(type);
  const GgufTypeRow &block = rowOf(type);
  uint64_t line = uint64_t(features / block.elements * block.bytes);
  std::vector<uint8_t> bytes(line * uint64_t(rows));
  if (absl::Status status = stored.file->readBytes(*stored.record, uint64_t(first) * line, bytes); !status.ok())
    return status;
  CodedRows read;
  takeApart(type, bytes, read);
  int64_t groups = form.groups(features);
  for (int64_t g = 0; g < rows * groups; ++g) {
    GroupNumbers numbers = GroupNumbers::of(form, read, g / groups, g % groups, groups);
    if (isFiniteFor(numbers, factor))
      continue;
    for (int64_t i = g * form.group; i < (g + 1) * form.group; ++i)
      if (!std::isfinite(numbers.value(read.codes[size_t(i)]) * factor))
        return notFinite(*this, first + g / groups, i % features);
  }
  if (to.codes.empty())
    to = std::move(read);
  else
    to.append(read);
  return absl::OkStatus();
}

absl::Status GgufSource::readRows(int64_t first, llvm::MutableArrayRef<float> to) const {
  int64_t rows = int64_t(to.size()) / features;
  if (!isBlocks(type)) {
    if (absl::Status status = stored.file->readF32(*stored.record, uint64_t(first * features), to); !status.ok())
      return status;
    for (size_t i = 0; i < to.size(); ++i)
      if (!std::isfinite(to[i] *= factor))
        return notFinite(*this, first + int64_t(i) / features, int64_t(i) % features);
    return absl::OkStatus();
  }
  const CodedForm &form = codedFormOf(type);
  int64_t atOnce = std::max<int64_t>((1 << 20) / features, 1);
  for (int64_t done = 0; done < rows; done += atOnce) {
    int64_t count = std::min(atOnce, rows - done);
    CodedRows some;
    if (absl::Status status = readCodes(first + done, count, some); !status.ok())
      return status;
    numbersOf(form, some, form.groups(features), factor, to.slice(size_t(done * features), size_t(count * features)));
  }
  return absl::OkStatus();
}

namespace {

/// The tensor under its name here.
CodedPieces named(std::string name) {
  return CodedPieces(name, name, [](llvm::StringRef) { return nullptr; });
}

std::string kindOf(GgufType type) { return std::string("gguf ") + rowOf(type).name; }

class Matrix : public CodedTensor {
public:
  Matrix(std::string name, GgufSource from, GgufRows rows)
      : CodedTensor(named(std::move(name)), from.stored, {rows.count, from.features}, kindOf(from.type)), source(from),
        taken(rows) {}

protected:
  /// Calls `read` with runs of stored rows that are neighbours: the first, and how many.
  template <typename Read> absl::Status eachRun(int64_t first, int64_t rows, Read read) const {
    int64_t atOnce = taken.head ? 1 : rows;
    for (int64_t r = 0; r < rows; r += atOnce)
      if (absl::Status status = read(r, taken.stored(first + r), atOnce); !status.ok())
        return status;
    return absl::OkStatus();
  }
  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const override {
    return eachRun(first, int64_t(to.size()) / features(), [&](int64_t at, int64_t row, int64_t count) {
      return source.readRows(row, to.slice(size_t(at * features()), size_t(count * features())));
    });
  }

  GgufSource source;
  GgufRows taken;
};

/// Rows of blocks, whose codes can be taken out as they are. Kernels know no factor of a whole matrix.
class Blocks final : public Matrix {
public:
  using Matrix::Matrix;

  absl::StatusOr<std::optional<CodedForm>> form() const override {
    return source.factor == 1 ? std::optional<CodedForm>(codedFormOf(source.type)) : std::nullopt;
  }
  absl::StatusOr<CodedRows> readCodes(int64_t first, int64_t rows) const override {
    if (source.factor != 1 || first < 0 || rows < 0 || first > this->rows() || rows > this->rows() - first)
      return outside();
    CodedRows to;
    absl::Status status =
        eachRun(first, rows, [&](int64_t, int64_t row, int64_t count) { return source.readCodes(row, count, to); });
    if (!status.ok())
      return status;
    return to;
  }
};

class Vector final : public CodedTensor {
public:
  Vector(std::string name, GgufSource from, int64_t head, bool plusOne)
      : CodedTensor(named(std::move(name)), from.stored, {from.features}, kindOf(from.type)), source(from),
        order{0, from.features, head}, plusOne(plusOne) {}

private:
  absl::Status readRows(int64_t, llvm::MutableArrayRef<float> to) const override {
    std::vector<float> all(to.size());
    if (absl::Status status = source.readRows(0, all); !status.ok())
      return status;
    for (size_t i = 0; i < all.size(); ++i)
      to[i] = plusOne ? all[i] - 1 : all[size_t(order.stored(int64_t(i)))];
    return absl::OkStatus();
  }

  GgufSource source;
  GgufRows order;
  bool plusOne;
};

} // namespace

std::unique_ptr<CodedTensor> ggufMatrix(std::string name, GgufSource source, GgufRows rows) {
  if (isBlocks(source.type))
    return std::make_unique<Blocks>(std::move(name), source, rows);
  return std::make_unique<Matrix>(std::move(name), source, rows);
}

std::unique_ptr<CodedTensor> ggufVector(std::string name, GgufSource source, int64_t head, bool plusOne) {
  return std::make_unique<Vector>(std::move(name), source, head, plusOne);
}

} // namespace heddle
