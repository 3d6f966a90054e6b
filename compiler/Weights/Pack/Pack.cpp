// Element (n, k) of a block W[n0..n1, k0..k1) goes to atN[n] + atK[k] in a
// strip; layouts differ in these two tables only (WeightLayout.h). How the
// block is read depends only on how the tensor is stored: as [N, K] (whole
// rows) or as [K, N] (columns out of rows).
#include "compiler/Weights/Pack/Pack.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/Pack/PackCoded.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <type_traits>

namespace heddle {
namespace {

/// Consecutive rows of the strip that are consecutive rows of the tensor.
struct RowRun {
  int64_t n, row, count;
};

/// Writes one packed tensor to a sink: reads a strip of rows from the file, as large as `stripBytes` allows, and emits
/// it in the order of the layout.
class Packer {
public:
  Packer(const WeightStore &store, const PackRequest &request, ByteSink &sink, const PackOptions &options)
      : store(store), layout(request.layout), matrix(layout.matrixOf(request.shape)), take(layout.take(matrix.n)),
        shape(request.shape), tensor(*store.find(request.tensor)), sink(sink),
        strip(std::max<uint64_t>(options.stripBytes, 4096)), merged(tensor.coded && tensor.coded->merged()) {}

  absl::Status run() { return isReal(layout.type) ? packMatrix<float>() : packMatrix<int64_t>(); }
  /// What rounding to 16 bits changed of a merged tensor.
  const CodingError &error() const { return rounding; }

private:
  template <typename T> absl::Status packMatrix();
  template <typename T> absl::Status packBlock(int64_t n0, int64_t n1, int64_t k0, int64_t k1);
  template <typename T> absl::Status readRows(const RowRun &run, int64_t k0, int64_t k1);
  template <typename T> absl::Status readFilter(const RowRun &run, int64_t k0, int64_t k1);
  template <typename T> absl::Status readColumns(const RowRun &run, int64_t k0, int64_t k1);
  template <typename T> absl::Status emit(llvm::ArrayRef<T> values);

  std::vector<RowRun> runs(int64_t n0, int64_t n1) const;
  bool isFilter() const { return layout.panel && shape.size() > 2; }
  absl::Status read(uint64_t first, llvm::MutableArrayRef<float> to) const {
    absl::Status status = store.readF32(tensor, first, to);
    return status.ok() && layout.type == PackedType::F16 ? checkF16(first, to) : status;
  }
  absl::Status checkF16(uint64_t first, llvm::ArrayRef<float> values) const;
  template <typename T> void noteRounding(llvm::ArrayRef<T> values);
  absl::Status read(uint64_t first, llvm::MutableArrayRef<int64_t> to) const {
    return store.readI64(tensor, first, to);
  }
  template <typename T> std::vector<T> &stripOf() {
    if constexpr (std::is_same_v<T, float>)
      return floats;
    else
      return integers;
  }
  template <typename T> std::vector<T> &sourceOf() {
    if constexpr (std::is_same_v<T, float>)
      return sourceFloats;
    else
      return sourceIntegers;
  }

  const WeightStore &store;
  const WeightLayout &layout;
  WeightLayout::Matrix matrix; ///< of the tensor
  RowGroups take;              ///< of its rows
  llvm::ArrayRef<int64_t> shape;
  const StoredTensor &tensor;
  ByteSink &sink;
  uint64_t strip;
  bool merged;
  CodingError rounding;

  /// Offset in the strip of row n (counted from n0) and of column k (from k0).
  std::vector<int64_t> atN, atK;
  std::vector<float> floats, sourceFloats;
  std::vector<int64_t> integers, sourceIntegers;
  std::vector<uint8_t> narrow;
};

/// An error for a number that would become infinite in f16.
absl::Status Packer::checkF16(uint64_t first, llvm::ArrayRef<float> values) const {
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i]) && std::fabs(values[i]) >= 65520) {
      char number[32];
      snprintf(number, sizeof number, "%g", values[i]);
      return toStatus(WeightProblem{
          Error::BeyondF16, "", "element " + std::to_string(first + i) + " is " + number + ", and f16 ends at 65504",
          tensor.file->path(), tensor.byteOf(first + i), printable(tensor.name()),
          "store the weights as bf16 or f32: --dtype=bf16, --dtype=f32"});
    }
  return absl::OkStatus();
}

std::vector<RowRun> Packer::runs(int64_t n0, int64_t n1) const {
  std::vector<RowRun> result;
  for (int64_t n = n0; n < n1; ++n) {
    int64_t row = take.row(n);
    if (!result.empty() && result.back().row + result.back().count == row)
      ++result.back().count;
    else
      result.push_back({n - n0, row, 1});
  }
  return result;
}

/// A block is as many whole rows (panels) as fit in a strip, or a part of one
/// that is larger. Blocks are contiguous in the result, so strips are written
/// one after the other.
template <typename T> absl::Status Packer::packMatrix() {
  int64_t n = take.count(), k = matrix.k;
  if (n == 0 || k == 0)
    return absl::OkStatus();
  int64_t room = int64_t(strip / sizeof(T));
  int64_t unit = std::max<int64_t>(layout.panel, 1);
  int64_t step = std::max<int64_t>(room / (k * unit), 1) * unit;
  int64_t part = k;
  if (step == unit && k * unit > room)
    part = std::max<int64_t>(llvm::alignDown(uint64_t(room / unit), 2), 2);
  for (int64_t row = 0; row < n; row += step)
    for (int64_t at = 0; at < k; at += part) {
      absl::Status status = packBlock<T>(row, std::min(row + step, n), at, std::min(at + part, k));
      if (!status.ok())
        return status;
    }
  return absl::OkStatus();
}

template <typename T> absl::Status Packer::packBlock(int64_t n0, int64_t n1, int64_t k0, int64_t k1) {
  int64_t ns = n1 - n0, ks = k1 - k0, size = ns * ks;
  atN.resize(ns);
  atK.resize(ks);
  if (layout.panel) {
    Integers numbers;
    int64_t depth = layout.depth(ks), zero = 0;
    for (int64_t n = 0; n < ns; ++n)
      atN[n] = layout.at(numbers, n, zero, depth);
    for (int64_t k = 0; k < ks; ++k)
      atK[k] = layout.at(numbers, zero, k, depth);
    size = llvm::alignTo(ns, layout.panel) * depth * layout.pair();
  } else {
    for (int64_t n = 0; n < ns; ++n)
      atN[n] = n * ks;
    for (int64_t k = 0; k < ks; ++k)
      atK[k] = k;
  }
  std::vector<T> &to = stripOf<T>();
  to.assign(size, T(0));
  for (const RowRun &run : runs(n0, n1)) {
    absl::Status status = layout.inOut ? readColumns<T>(run, k0, k1)
                          : isFilter() ? readFilter<T>(run, k0, k1)
                                       : readRows<T>(run, k0, k1);
    if (!status.ok())
      return status;
  }
  return emit<T>(to);
}

/// Reads a run of a tensor [N, K]: whole rows at once if all columns are
/// wanted.
template <typename T> absl::Status Packer::readRows(const RowRun &run, int64_t k0, int64_t k1) {
  std::vector<T> &source = sourceOf<T>();
  std::vector<T> &to = stripOf<T>();
  int64_t ks = k1 - k0;
  bool whole = ks == matrix.k;
  int64_t atOnce = whole ? std::max<int64_t>(int64_t(strip / sizeof(T)) / ks, 1) : 1;
  for (int64_t done = 0; done < run.count; done += atOnce) {
    int64_t rows = std::min(atOnce, run.count - done);
    source.resize(rows * ks);
    absl::Status status = read(uint64_t(run.row + done) * matrix.k + k0, llvm::MutableArrayRef<T>(source));
    if (!status.ok())
      return status;
    // Sixteen columns at a time are one cache line of every row, and the lines
    // written to stay in the nearest cache until they are full.
    for (int64_t tile = 0; tile < ks; tile += 16) {
      int64_t tileEnd = std::min(tile + 16, ks);
      for (int64_t r = 0; r < rows; ++r) {
        const T *from = source.data() + r * ks;
        T *into = to.data() + atN[run.n + done + r];
        for (int64_t k = tile; k < tileEnd; ++k)
          into[atK[k]] = from[k];
      }
    }
  }
  return absl::OkStatus();
}

/// Reads a run of a filter [N, c, k...], row by row, and keeps the features
/// [k0, k1), which are anywhere in a row.
template <typename T> absl::Status Packer::readFilter(const RowRun &run, int64_t k0, int64_t k1) {
  std::vector<T> &source = sourceOf<T>();
  std::vector<T> &to = stripOf<T>();
  source.resize(matrix.k);
  for (int64_t r = 0; r < run.count; ++r) {
    absl::Status status = read(uint64_t(run.row + r) * matrix.k, llvm::MutableArrayRef<T>(source));
    if (!status.ok())
      return status;
    for (int64_t j = 0; j < matrix.k; ++j)
      if (int64_t k = layout.featureOf(shape, j); k >= k0 && k < k1)
        to[atN[run.n + r] + atK[k - k0]] = source[j];
  }
  return absl::OkStatus();
}

/// Reads a run of a tensor [K, N], where it is a range of columns. Reading
/// whole rows and picking is faster than many short reads, unless rows are much
/// longer than what is wanted of them.
template <typename T> absl::Status Packer::readColumns(const RowRun &run, int64_t k0, int64_t k1) {
  std::vector<T> &source = sourceOf<T>();
  std::vector<T> &to = stripOf<T>();
  bool whole = run.count * 8 >= matrix.n || run.count * int64_t(sizeof(T)) < 256;
  whole &= uint64_t(matrix.n) * sizeof(T) <= strip;
  int64_t first = whole ? 0 : run.row, length = whole ? matrix.n : run.count;
  int64_t atOnce = whole ? std::max<int64_t>(int64_t(strip / sizeof(T)) / length, 1) : 1;
  for (int64_t k = k0; k < k1; k += atOnce) {
    int64_t rows = std::min(atOnce, k1 - k);
    source.resize(rows * length);
    absl::Status status = read(uint64_t(k) * matrix.n + first, llvm::MutableArrayRef<T>(source));
    if (!status.ok())
      return status;
    for (int64_t r = 0; r < rows; ++r) {
      const T *from = source.data() + r * length + (run.row - first);
      T *into = to.data() + atK[k - k0 + r];
      for (int64_t c = 0; c < run.count; ++c)
        into[atN[run.n + c]] = from[c];
    }
  }
  return absl::OkStatus();
}

template <typename T> absl::Status Packer::emit(llvm::ArrayRef<T> values) {
  if ((layout.type == PackedType::F32 && std::is_same_v<T, float>) ||
      (layout.type == PackedType::I64 && std::is_same_v<T, int64_t>))
    return sink.append({reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(T)});
  unsigned size = width(layout.type);
  constexpr size_t pieceElements = 1 << 18;
  while (!values.empty()) {
    llvm::ArrayRef<T> piece = values.take_front(pieceElements);
    values = values.drop_front(piece.size());
    narrow.resize(piece.size() * size);
    for (size_t i = 0; i < piece.size(); ++i) {
      if (layout.type == PackedType::Bool) {
        narrow[i] = piece[i] != 0;
        continue;
      }
      uint16_t half = layout.type == PackedType::BF16 ? toBF16(float(piece[i])) : toF16(float(piece[i]));
      narrow[2 * i] = uint8_t(half);
      narrow[2 * i + 1] = uint8_t(half >> 8);
    }
    if (merged && width(layout.type) == 2)
      noteRounding(piece);
    if (absl::Status status = sink.append(narrow); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

/// Compares numbers with what `narrow` has of them.
template <typename T> void Packer::noteRounding(llvm::ArrayRef<T> values) {
  std::vector<float> back(values.size());
  widenToF32(layout.type == PackedType::BF16 ? StoredType::BF16 : StoredType::F16, narrow.data(), back);
  for (size_t i = 0; i < values.size(); ++i) {
    double off = double(values[i]) - double(back[i]);
    rounding.squared += off * off;
    rounding.whole += double(values[i]) * double(values[i]);
  }
}

/// A matrix of real numbers, or of codes of another form, whose rows are rounded to codes when they are asked for. Of a
/// tensor [K, N] as many columns are read at once as fit in a strip.
class RoundedMatrix final : public CodedSource {
public:
  RoundedMatrix(const WeightStore &store, const PackRequest &request, uint64_t strip)
      : store(store), tensor(*store.find(request.tensor)), inOut(request.layout.inOut),
        matrix(request.layout.matrixOf(request.shape)), coded(formOf(request.layout.coding, matrix.k)),
        atOnce(std::max<int64_t>(int64_t(strip / sizeof(float)) / std::max<int64_t>(matrix.k, 1), 256)) {}

  CodingError error;
  const CodedForm &form() const override { return coded; }
  absl::Status rows(int64_t first, int64_t count, CodedRows &to) override {
    absl::Status status = inOut ? readColumns(first, count) : readRows(first, count);
    if (!status.ok())
      return status;
    llvm::ArrayRef<float> mine = llvm::ArrayRef(values).slice((first - begin) * matrix.k, count * matrix.k);
    std::optional<size_t> bad = quantiseRows(coded, mine, matrix.k, to, error);
    return bad ? noCode(first + int64_t(*bad) / matrix.k, int64_t(*bad) % matrix.k, mine[*bad]) : absl::OkStatus();
  }

private:
  absl::Status readRows(int64_t first, int64_t count) {
    begin = first;
    values.resize(size_t(count * matrix.k));
    return store.readF32(tensor, uint64_t(first * matrix.k), values);
  }
  absl::Status readColumns(int64_t first, int64_t count) {
    if (first >= begin && first + count <= end)
      return absl::OkStatus();
    begin = first;
    end = std::min(matrix.n, first + std::max(atOnce, count));
    values.resize(size_t((end - begin) * matrix.k));
    std::vector<float> line(size_t(end - begin));
    for (int64_t k = 0; k < matrix.k; ++k) {
      if (absl::Status status = store.readF32(tensor, uint64_t(k * matrix.n + begin), line); !status.ok())
        return status;
      for (int64_t n = 0; n < end - begin; ++n)
        values[n * matrix.k + k] = line[n];
    }
    return absl::OkStatus();
  }
  absl::Status noCode(int64_t n, int64_t k, float value) const {
    char number[32];
    snprintf(number, sizeof number, "%g", value);
    int64_t element = inOut ? k * matrix.n + n : n * matrix.k + k;
    return toStatus(
        WeightProblem{Error::HasNoCode, "",
                      "element " + std::to_string(element) + " is " + number + ", which a group of codes cannot hold",
                      tensor.file->path(), tensor.byteOf(uint64_t(element)), printable(tensor.name()),
                      "leave this tensor as it is: --keep=NAME"});
  }

  const WeightStore &store;
  const StoredTensor &tensor;
  bool inOut;
  WeightLayout::Matrix matrix;
  CodedForm coded;
  int64_t atOnce, begin = 0, end = 0;
  std::vector<float> values; ///< rows [begin, end), row-major
};

/// A matrix of a quantised checkpoint, perhaps one of a stack.
class StoredCodes final : public CodedSource {
public:
  StoredCodes(const StoredTensor &stored, CodedForm coded)
      : tensor(*stored.coded), begin(stored.firstRow()), coded(std::move(coded)) {}
  const CodedForm &form() const override { return coded; }
  absl::Status rows(int64_t first, int64_t count, CodedRows &to) override {
    absl::StatusOr<CodedRows> read = tensor.readCodes(begin + first, count);
    if (read.ok())
      to = std::move(*read);
    return read.status();
  }

private:
  const CodedTensor &tensor;
  int64_t begin;
  CodedForm coded;
};

} // namespace

/// Packs a matrix as codes: those of the file where they have the form that the layout asks for, else the numbers that
/// the tensor stands for, rounded (--weights-dtype).
static absl::Status packCodes(const WeightStore &store, const PackRequest &request, ByteSink &sink,
                              const PackOptions &options) {
  WeightLayout::Matrix matrix = request.layout.matrixOf(request.shape);
  const StoredTensor *stored = store.find(request.tensor);
  if (stored->coded && !request.layout.inOut) {
    absl::StatusOr<std::optional<CodedForm>> form = stored->coded->form();
    if (!form.ok())
      return form.status();
    if (*form && fits(**form, request.layout.coding, matrix.k)) {
      StoredCodes source(*stored, std::move(**form));
      return packCoded(source, request.layout, matrix.n, matrix.k, sink);
    }
  }
  RoundedMatrix source(store, request, options.stripBytes);
  absl::Status status = packCoded(source, request.layout, matrix.n, matrix.k, sink);
  if (status.ok() && options.rounded)
    options.rounded(request, source.error);
  return status;
}

absl::Status packRequest(const WeightStore &store, const PackRequest &request, ByteSink &sink,
                         const PackOptions &options) {
  if (absl::Status status = request.check(store); !status.ok())
    return status;
  if (request.layout.coding)
    return packCodes(store, request, sink, options);
  Packer packer(store, request, sink, options);
  absl::Status status = packer.run();
  if (status.ok() && options.narrowed && packer.error().whole > 0)
    options.narrowed(request, packer.error());
  return status;
}

absl::Status packAll(const WeightStore &store, const BlobMap &plan, ByteSink &sink, const PackOptions &options) {
  if (absl::Status status = plan.check(store); !status.ok())
    return status;
  static const uint8_t zeros[BlobMap::alignment] = {};
  uint64_t at = 0;
  auto padTo = [&](uint64_t offset) -> absl::Status {
    absl::Status status;
    while (status.ok() && at < offset) {
      uint64_t count = std::min<uint64_t>(offset - at, sizeof zeros);
      status = sink.append({zeros, count});
      at += count;
    }
    return status;
  };
  for (const PackEntry &entry : plan.entries) {
    if (absl::Status status = padTo(entry.offset); !status.ok())
      return status;
    absl::Status status = packRequest(store, entry.request, sink, options);
    if (!status.ok())
      return status;
    at += entry.request.bytes();
    if (options.packed)
      options.packed(at);
  }
  if (absl::Status status = padTo(plan.bytes); !status.ok())
    return status;
  return store.recheck();
}

} // namespace heddle
