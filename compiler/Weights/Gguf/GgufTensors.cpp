// A matrix is rows of blocks, so any order of rows is a matter of which row is read. Memory in use is what the caller
// reads at once, and about a megabyte of codes next to it.
#include "compiler/Weights/Gguf/GgufTensors.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
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
  if (int64_t width = rowOf(type).elements; features % width) { // single elements: the blocks that they are in
    int64_t begin = first * features, end = begin + int64_t(to.size());
    GgufSource blocks = *this;
    blocks.features = width;
    std::vector<float> numbers(size_t(((end + width - 1) / width - begin / width) * width));
    absl::Status status = blocks.readRows(begin / width, numbers);
    std::copy_n(numbers.begin() + begin % width, to.size(), to.begin());
    return status;
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

/// The types of the sources: "gguf Q4_K", "gguf Q4_K, Q6_K".
std::string kindOf(llvm::ArrayRef<GgufSource> sources) {
  std::string kind = "gguf";
  for (size_t i = 0; i < sources.size(); ++i)
    if (llvm::none_of(sources.take_front(i), [&](const GgufSource &s) { return s.type == sources[i].type; }))
      kind += (i ? ", " : " ") + std::string(rowOf(sources[i].type).name);
  return kind;
}

class Rows : public CodedTensor {
public:
  explicit Rows(GgufTarget target)
      : CodedTensor(named(target.name), target.sources.front().stored, target.shape, kindOf(target.sources)),
        of(std::move(target)), width(of.sources.front().features) {}

protected:
  /// Calls `read` with runs of neighbours in a source: where they begin in what is read, the source, its row, and how
  /// many there are.
  template <typename Read> absl::Status eachRun(int64_t first, int64_t rows, Read read) const {
    for (int64_t r = 0; r < rows;) {
      GgufRows::Place place = of.rows.at(first + r);
      int64_t count = std::min(place.count, rows - r);
      if (absl::Status status = read(r, place.source, place.row, count); !status.ok())
        return status;
      r += count;
    }
    return absl::OkStatus();
  }
  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const override {
    int64_t row = first * features() / width, rows = int64_t(to.size()) / width;
    absl::Status status = width == 1 && features() > 1 ? gather(row, to) : readRuns(row, rows, to);
    if (status.ok() && of.minus != 0)
      for (float &x : to)
        x -= of.minus;
    return status;
  }

  GgufTarget of;
  int64_t width; ///< elements of a row of the sources

private:
  absl::Status readRuns(int64_t first, int64_t rows, llvm::MutableArrayRef<float> to) const {
    return eachRun(first, rows, [&](int64_t at, unsigned source, int64_t row, int64_t count) {
      llvm::MutableArrayRef<float> here = to.slice(size_t(at * width), size_t(count * width));
      if (source != GgufRows::zeros)
        return of.sources[source].readRows(row, here);
      std::fill(here.begin(), here.end(), 0.0f);
      return absl::OkStatus();
    });
  }
  /// Single elements: those of each source between the first and the last are read at once.
  absl::Status gather(int64_t first, llvm::MutableArrayRef<float> to) const {
    for (auto [s, source] : llvm::enumerate(of.sources)) {
      int64_t begin = INT64_MAX, end = 0;
      for (int64_t i = 0; i < int64_t(to.size()); ++i)
        if (GgufRows::Place place = of.rows.at(first + i); place.source == s) {
          begin = std::min(begin, place.row);
          end = std::max(end, place.row + 1);
        }
      if (begin >= end)
        continue;
      std::vector<float> numbers(size_t(end - begin));
      if (absl::Status status = source.readRows(begin, numbers); !status.ok())
        return status;
      for (int64_t i = 0; i < int64_t(to.size()); ++i)
        if (GgufRows::Place place = of.rows.at(first + i); place.source == s)
          to[size_t(i)] = numbers[size_t(place.row - begin)];
    }
    return absl::OkStatus();
  }
};

/// Rows of blocks of one type, whose codes can be taken out as they are. Kernels know no factor of a whole matrix.
class Blocks final : public Rows {
public:
  using Rows::Rows;

  absl::StatusOr<std::optional<CodedForm>> form() const override {
    const GgufSource &source = of.sources.front();
    return source.factor == 1 ? std::optional<CodedForm>(codedFormOf(source.type)) : std::nullopt;
  }
  absl::StatusOr<CodedRows> readCodes(int64_t first, int64_t rows) const override {
    if (of.sources.front().factor != 1 || first < 0 || rows < 0 || first > this->rows() || rows > this->rows() - first)
      return outside();
    CodedRows to;
    absl::Status status = eachRun(first, rows, [&](int64_t, unsigned source, int64_t row, int64_t count) {
      return of.sources[source].readCodes(row, count, to);
    });
    if (!status.ok())
      return status;
    return to;
  }
};

/// Keys are stored turned: their rows are columns here, and every block of the other side is decoded for a head.
class KeysAndValues final : public CodedTensor {
public:
  KeysAndValues(std::string name, GgufSource keys, llvm::ArrayRef<int64_t> shape, GgufSource values, int64_t valueRows)
      : CodedTensor(named(std::move(name)), keys.stored, {shape[0] * (shape[2] + valueRows), shape[1]},
                    kindOf({keys, values})),
        keys(keys), values(values), keyRows(shape[2]), valueRows(valueRows) {}

private:
  absl::Status readRows(int64_t first, llvm::MutableArrayRef<float> to) const override {
    int64_t width = features(), perHead = keyRows + valueRows;
    std::vector<float> turned;
    int64_t decoded = -1; // the head in `turned`
    for (int64_t r = 0; r < int64_t(to.size()) / width; ++r) {
      int64_t head = (first + r) / perHead, within = (first + r) % perHead;
      llvm::MutableArrayRef<float> row = to.slice(size_t(r * width), size_t(width));
      absl::Status status;
      if (within >= keyRows) {
        status = values.readRows(head * valueRows + within - keyRows, row);
      } else if (decoded != head) {
        turned.resize(size_t(width * keyRows));
        status = keys.readRows(head * width, turned);
        decoded = head;
      }
      if (!status.ok())
        return status;
      for (int64_t i = 0; within < keyRows && i < width; ++i)
        row[size_t(i)] = turned[size_t(i * keyRows + within)];
    }
    return absl::OkStatus();
  }

  GgufSource keys, values;
  int64_t keyRows, valueRows;
};

class Constant final : public CodedTensor {
public:
  Constant(std::string name, std::vector<float> numbers, const StoredTensor &near)
      : CodedTensor(named(std::move(name)), near, {int64_t(numbers.size())}, "gguf key"), numbers(std::move(numbers)) {}

private:
  absl::Status readRows(int64_t, llvm::MutableArrayRef<float> to) const override {
    llvm::copy(numbers, to.begin());
    return absl::OkStatus();
  }

  std::vector<float> numbers;
};

} // namespace

std::unique_ptr<CodedTensor> ggufTensor(GgufTarget target) {
  const GgufSource &first = target.sources.front();
  bool blocks = isBlocks(first.type) && first.features == target.shape.back() && target.minus == 0 &&
                !target.rows.hasZeros() && llvm::all_of(target.sources, [&](const GgufSource &s) {
                  return s.type == first.type && s.factor == first.factor;
                });
  if (blocks)
    return std::make_unique<Blocks>(std::move(target));
  return std::make_unique<Rows>(std::move(target));
}

std::unique_ptr<CodedTensor> ggufKeysAndValues(std::string name, GgufSource keys, llvm::ArrayRef<int64_t> keysShape,
                                               GgufSource values, int64_t valueRows) {
  return std::make_unique<KeysAndValues>(std::move(name), keys, keysShape, values, valueRows);
}

std::unique_ptr<CodedTensor> ggufConstant(std::string name, std::vector<float> values, const StoredTensor &near) {
  return std::make_unique<Constant>(std::move(name), std::move(values), near);
}

} // namespace heddle
