// What the packed weights of a program are: an ordered list of requests, each
// with its place in the blob. A request says which rows of which tensors form
// one matrix W[N, K] and in which memory order the kernel wants it. Plans need
// no file: passes build them from shapes alone, and the bytes follow at the
// very end.
//
//   natural     [N][K]                     any element type
//   transposed  [K][N]                     any element type
//   panel32     [ceil(N/32)][K][32]        f32, zero-padded in N
//               [ceil(N/32)][ceil(K/2)][32][2]   bf16, f16; zero-padded in N and K
//   literal     bytes given by the compiler
#ifndef HEDDLE_COMPILER_WEIGHTS_PACKPLAN_H
#define HEDDLE_COMPILER_WEIGHTS_PACKPLAN_H

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

class WeightStore;

enum class PackLayout : uint8_t { Natural, Transposed, Panel32, Literal };
enum class PackedType : uint8_t { F32, BF16, F16, I64, Bool };
unsigned width(PackedType type);

/// Rows [g*stride + begin, g*stride + end) for g in [0, groups); groups 0 means
/// all rows.
struct RowGroups {
  int64_t groups = 0, stride = 0, begin = 0, end = 0;
};

/// A part of W: rows taken from one tensor, whose elements from `start` on are
/// read as a matrix of n rows (the axis results are numbered by) and k columns
/// (the axis summed).
struct PackPiece {
  std::string tensor;
  int64_t n = 0, k = 0;
  RowGroups take;
  /// First element, for one matrix out of a stack of them.
  int64_t start = 0;

  int64_t taken() const;
  /// The row of the tensor that is row `i` of this piece.
  int64_t row(int64_t i) const;
};

struct PackRequest {
  PackLayout layout = PackLayout::Natural;
  PackedType type = PackedType::F32;
  /// The tensors hold [K, N] (in_out) instead of [N, K] (out_in).
  bool inOut = false;
  /// This many such matrices one after the other (experts); in every tensor the
  /// next one starts n*k elements further on.
  int64_t count = 1;
  /// Rows of W: 0 puts the pieces one after the other; otherwise they take
  /// turns, this many rows at a time (gate and up side by side in one panel).
  int64_t interleave = 0;
  std::vector<PackPiece> pieces;
  std::string literal;

  /// A whole tensor in the file's order: one row of all its elements.
  static PackRequest natural(llvm::StringRef tensor, int64_t elements,
                             PackedType type = PackedType::F32);
  /// Stored [rows, cols], packed [cols][rows].
  static PackRequest transposed(llvm::StringRef tensor, int64_t rows,
                                int64_t cols,
                                PackedType type = PackedType::F32);
  /// A linear's matrix.
  static PackRequest panel32(llvm::StringRef tensor, int64_t n, int64_t k,
                             bool inOut, RowGroups take = {},
                             PackedType type = PackedType::F32);
  static PackRequest bytesOf(llvm::StringRef bytes);

  int64_t n() const;
  int64_t k() const;
  /// Packed size of one of the `count` matrices, and of all. Exact once check()
  /// passed.
  uint64_t matrixBytes() const;
  uint64_t bytes() const;
  /// Everything that can be wrong without looking at a file, overflow included.
  absl::Status check() const;
  /// And all tensors are there, hold as much as is asked, and can be widened
  /// so.
  absl::Status check(const WeightStore &store) const;

  /// One line that parses back; equal requests print equally.
  std::string str() const;
  static absl::StatusOr<PackRequest> parse(llvm::StringRef text);
};

struct PackEntry {
  PackRequest request;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct PackPlan {
  static constexpr uint64_t alignment = 64;

  std::vector<PackEntry> entries;
  /// Size of the blob; a multiple of the alignment.
  uint64_t bytes = 0;

  /// One line an entry: `offset bytes request`.
  std::string str() const;
  /// Such lines back, checked without a file; empty lines are skipped.
  static absl::StatusOr<PackPlan> parse(llvm::StringRef text);
  /// Every request, and that the entries follow one another.
  absl::Status check(const WeightStore &store) const;

private:
  absl::Status checkOrder() const;
};

class PackPlanBuilder {
public:
  /// The offset of these bytes in the blob; an identical earlier request is
  /// shared.
  absl::StatusOr<uint64_t> add(const PackRequest &request);
  const PackPlan &plan() const { return built; }
  PackPlan take() { return std::move(built); }

private:
  PackPlan built;
  llvm::StringMap<uint64_t> placed;
};

} // namespace heddle

#endif // HEDDLE_COMPILER_WEIGHTS_PACKPLAN_H
