// Every layout is a block W[n0..n1, k0..k1) at a time whose element (n, k) goes
// to place atN[n] + atK[k] of a strip: the layouts differ in these two tables
// and in nothing else. How the block is read depends only on how the tensor is
// stored: rows of it one after the other, or columns picked out of rows.
#include "compiler/Weights/Pack.h"
#include "compiler/Weights/Problem.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <type_traits>

namespace heddle {
namespace {

/// Consecutive rows of W that are consecutive rows of one tensor.
struct RowRun {
  const PackPiece *piece;
  const StoredTensor *tensor;
  /// First row in W, first row in the tensor.
  int64_t n, row, count;
};

/// Where row n of W comes from: which piece, which row of what the piece takes.
std::pair<size_t, int64_t> locate(const PackRequest &request, int64_t n) {
  if (request.interleave == 0) {
    size_t p = 0;
    while (n >= request.pieces[p].taken())
      n -= request.pieces[p++].taken();
    return {p, n};
  }
  // Turns of `interleave` rows; the last turn is as short as what is left.
  int64_t each = request.pieces.front().taken(), pieces = request.pieces.size();
  int64_t turn = n / (request.interleave * pieces);
  int64_t height =
      std::min(request.interleave, each - turn * request.interleave);
  int64_t inTurn = n - turn * request.interleave * pieces;
  return {size_t(inTurn / height), turn * request.interleave + inTurn % height};
}

class Packer {
public:
  Packer(const WeightStore &store, const PackRequest &request, ByteSink &sink,
         const PackOptions &options)
      : store(store), request(request), sink(sink),
        strip(std::max<uint64_t>(options.stripBytes, 4096)) {}

  absl::Status run() {
    for (const PackPiece &piece : request.pieces)
      tensors.push_back(store.find(piece.tensor));
    bool integral =
        request.type == PackedType::I64 || request.type == PackedType::Bool;
    for (matrix = 0; matrix < request.count; ++matrix) {
      absl::Status status =
          integral ? packMatrix<int64_t>() : packMatrix<float>();
      if (!status.ok())
        return status;
    }
    return absl::OkStatus();
  }

private:
  template <typename T> absl::Status packMatrix();
  template <typename T>
  absl::Status packBlock(int64_t n0, int64_t n1, int64_t k0, int64_t k1);
  template <typename T>
  absl::Status readRows(const RowRun &run, int64_t k0, int64_t k1);
  template <typename T>
  absl::Status readColumns(const RowRun &run, int64_t k0, int64_t k1);
  template <typename T> absl::Status emit(llvm::ArrayRef<T> values);

  std::vector<RowRun> runs(int64_t n0, int64_t n1) const;
  absl::Status read(const StoredTensor &tensor, uint64_t first,
                    llvm::MutableArrayRef<float> to) const {
    absl::Status status = store.readF32(tensor, first, to);
    return status.ok() && request.type == PackedType::F16
               ? checkF16(tensor, first, to)
               : status;
  }
  static absl::Status checkF16(const StoredTensor &tensor, uint64_t first,
                               llvm::ArrayRef<float> values);
  absl::Status read(const StoredTensor &tensor, uint64_t first,
                    llvm::MutableArrayRef<int64_t> to) const {
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
  const PackRequest &request;
  ByteSink &sink;
  uint64_t strip;
  std::vector<const StoredTensor *> tensors;
  int64_t matrix = 0;

  /// Place of row n (from n0 on) and column k (from k0 on) in the strip.
  std::vector<int64_t> atN, atK;
  std::vector<float> floats, sourceFloats;
  std::vector<int64_t> integers, sourceIntegers;
  std::vector<uint8_t> narrow;
};

/// A number that would silently become infinite.
absl::Status Packer::checkF16(const StoredTensor &tensor, uint64_t first,
                              llvm::ArrayRef<float> values) {
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i]) && std::fabs(values[i]) >= 65520) {
      char number[32];
      snprintf(number, sizeof number, "%g", values[i]);
      return toStatus(WeightProblem{
          "H0241", "",
          "element " + std::to_string(first + i) + " is " + number +
              ", and f16 ends at 65504",
          tensor.file->path(),
          tensor.record->byte + (first + i) * width(tensor.type()),
          printable(tensor.name()),
          "store the weights as bf16 or f32: --dtype=bf16, --dtype=f32"});
    }
  return absl::OkStatus();
}

std::vector<RowRun> Packer::runs(int64_t n0, int64_t n1) const {
  std::vector<RowRun> result;
  for (int64_t n = n0; n < n1; ++n) {
    auto [p, i] = locate(request, n);
    const PackPiece *piece = &request.pieces[p];
    int64_t row = piece->row(i);
    if (!result.empty() && result.back().piece == piece &&
        result.back().row + result.back().count == row)
      ++result.back().count;
    else
      result.push_back({piece, tensors[p], n, row, 1});
  }
  return result;
}

/// Blocks are as many whole rows (columns when transposed, panels) as fit in a
/// strip, and a part of one when one is too large. In each layout such a block
/// is contiguous in the result, so strips are written one after the other.
template <typename T> absl::Status Packer::packMatrix() {
  int64_t n = request.n(), k = request.k();
  if (n == 0 || k == 0)
    return absl::OkStatus();
  int64_t room = int64_t(strip / sizeof(T));
  bool byColumns = request.layout == PackLayout::Transposed;
  int64_t unit = request.layout == PackLayout::Panel32 ? 32 : 1;
  int64_t lines = byColumns ? k : n, length = byColumns ? n : k;
  int64_t step = std::max<int64_t>(room / (length * unit), 1) * unit;
  int64_t part = length;
  if (step == unit && length * unit > room)
    part = std::max<int64_t>(llvm::alignDown(uint64_t(room / unit), 2), 2);
  for (int64_t line = 0; line < lines; line += step) {
    int64_t lineEnd = std::min(line + step, lines);
    for (int64_t at = 0; at < length; at += part) {
      int64_t atEnd = std::min(at + part, length);
      absl::Status status = byColumns ? packBlock<T>(at, atEnd, line, lineEnd)
                                      : packBlock<T>(line, lineEnd, at, atEnd);
      if (!status.ok())
        return status;
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Packer::packBlock(int64_t n0, int64_t n1, int64_t k0, int64_t k1) {
  int64_t ns = n1 - n0, ks = k1 - k0, size = ns * ks;
  atN.resize(ns);
  atK.resize(ks);
  if (request.layout == PackLayout::Panel32) {
    // Halves keep pairs of k side by side: [K/2][32][2].
    int64_t pair = width(request.type) == 2 ? 2 : 1;
    int64_t padded = llvm::alignTo(ks, pair);
    for (int64_t n = 0; n < ns; ++n)
      atN[n] = n / 32 * padded * 32 + n % 32 * pair;
    for (int64_t k = 0; k < ks; ++k)
      atK[k] = k / pair * 32 * pair + k % pair;
    size = llvm::alignTo(ns, 32) * padded;
  } else {
    bool byColumns = request.layout == PackLayout::Transposed;
    for (int64_t n = 0; n < ns; ++n)
      atN[n] = byColumns ? n : n * ks;
    for (int64_t k = 0; k < ks; ++k)
      atK[k] = byColumns ? k * ns : k;
  }
  std::vector<T> &to = stripOf<T>();
  to.assign(size, T(0));
  for (RowRun run : runs(n0, n1)) {
    run.n -= n0;
    absl::Status status =
        request.inOut ? readColumns<T>(run, k0, k1) : readRows<T>(run, k0, k1);
    if (!status.ok())
      return status;
  }
  return emit<T>(to);
}

/// The tensor holds [N, K]: rows are read whole when all columns are wanted.
template <typename T>
absl::Status Packer::readRows(const RowRun &run, int64_t k0, int64_t k1) {
  std::vector<T> &source = sourceOf<T>();
  std::vector<T> &to = stripOf<T>();
  const PackPiece &piece = *run.piece;
  int64_t ks = k1 - k0;
  bool whole = ks == piece.k;
  int64_t atOnce =
      whole ? std::max<int64_t>(int64_t(strip / sizeof(T)) / ks, 1) : 1;
  uint64_t base = uint64_t(piece.start) + uint64_t(matrix) * piece.n * piece.k;
  for (int64_t done = 0; done < run.count; done += atOnce) {
    int64_t rows = std::min(atOnce, run.count - done);
    source.resize(rows * ks);
    absl::Status status =
        read(*run.tensor, base + (run.row + done) * piece.k + k0,
             llvm::MutableArrayRef<T>(source));
    if (!status.ok())
      return status;
    // Sixteen columns at a time: one cache line of every row, and the lines
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

/// The tensor holds [K, N]: the run is a range of columns. Reading whole rows
/// and picking is faster than many short reads, until the rows are much longer
/// than what is wanted.
template <typename T>
absl::Status Packer::readColumns(const RowRun &run, int64_t k0, int64_t k1) {
  std::vector<T> &source = sourceOf<T>();
  std::vector<T> &to = stripOf<T>();
  const PackPiece &piece = *run.piece;
  bool whole = run.count * 8 >= piece.n || run.count * int64_t(sizeof(T)) < 256;
  whole &= uint64_t(piece.n) * sizeof(T) <= strip;
  int64_t first = whole ? 0 : run.row, length = whole ? piece.n : run.count;
  int64_t atOnce =
      whole ? std::max<int64_t>(int64_t(strip / sizeof(T)) / length, 1) : 1;
  uint64_t base = uint64_t(piece.start) + uint64_t(matrix) * piece.n * piece.k;
  for (int64_t k = k0; k < k1; k += atOnce) {
    int64_t rows = std::min(atOnce, k1 - k);
    source.resize(rows * length);
    absl::Status status =
        read(*run.tensor, base + uint64_t(k) * piece.n + first,
             llvm::MutableArrayRef<T>(source));
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
  if ((request.type == PackedType::F32 && std::is_same_v<T, float>) ||
      (request.type == PackedType::I64 && std::is_same_v<T, int64_t>))
    return sink.append({reinterpret_cast<const uint8_t *>(values.data()),
                        values.size() * sizeof(T)});
  unsigned size = width(request.type);
  constexpr size_t pieceElements = 1 << 18;
  while (!values.empty()) {
    llvm::ArrayRef<T> piece = values.take_front(pieceElements);
    values = values.drop_front(piece.size());
    narrow.resize(piece.size() * size);
    for (size_t i = 0; i < piece.size(); ++i) {
      if (request.type == PackedType::Bool) {
        narrow[i] = piece[i] != 0;
        continue;
      }
      uint16_t half = request.type == PackedType::BF16 ? toBF16(float(piece[i]))
                                                       : toF16(float(piece[i]));
      narrow[2 * i] = uint8_t(half);
      narrow[2 * i + 1] = uint8_t(half >> 8);
    }
    if (absl::Status status = sink.append(narrow); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

} // namespace

absl::Status packRequest(const WeightStore &store, const PackRequest &request,
                         ByteSink &sink, const PackOptions &options) {
  if (absl::Status status = request.check(store); !status.ok())
    return status;
  if (request.layout == PackLayout::Literal)
    return sink.append(
        {reinterpret_cast<const uint8_t *>(request.literal.data()),
         request.literal.size()});
  return Packer(store, request, sink, options).run();
}

absl::Status packAll(const WeightStore &store, const PackPlan &plan,
                     ByteSink &sink, const PackOptions &options) {
  if (absl::Status status = plan.check(store); !status.ok())
    return status;
  static const uint8_t zeros[PackPlan::alignment] = {};
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
    at += entry.bytes;
  }
  if (absl::Status status = padTo(plan.bytes); !status.ok())
    return status;
  return store.recheck();
}

} // namespace heddle
