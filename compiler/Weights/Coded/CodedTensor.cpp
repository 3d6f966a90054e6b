// Dequantising by rows. Memory in use is what the caller reads at once, and its codes next to it.
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

namespace heddle {

CodedTensor::CodedTensor(const CodedPieces &pieces, const StoredTensor &codes, std::vector<int64_t> given,
                         std::string kind)
    : name(pieces.offered), what(std::move(kind)), shape(std::move(given)), home(codes.file) {
  for (int64_t n : llvm::drop_end(shape))
    rowCount *= n;
  featureCount = shape.back();
  own.name = name;
  own.shape = shape;
  own.type = StoredType::F32;
  own.byte = codes.record->byte;
  own.bytes = uint64_t(rowCount) * uint64_t(featureCount) * 4;
  own.headerByte = codes.record->headerByte;
}

absl::Status CodedTensor::outside() const {
  return toStatus(WeightProblem{Error::OurMistake, "", "internal error: a read outside of the codes", "", own.byte,
                                printable(name), ""});
}

absl::StatusOr<std::optional<CodedForm>> CodedTensor::form() const { return std::nullopt; }
absl::StatusOr<CodedRows> CodedTensor::readCodes(int64_t, int64_t) const { return outside(); }

absl::Status CodedTensor::readF32(uint64_t first, llvm::MutableArrayRef<float> to) const {
  if (first > own.elements() || to.size() > own.elements() - first)
    return outside();
  uint64_t k = featureCount;
  std::vector<float> row;
  while (!to.empty()) {
    uint64_t skip = first % k, count = 0;
    absl::Status status;
    if (skip || to.size() < k) {
      row.resize(k);
      status = readRows(int64_t(first / k), row);
      count = std::min<uint64_t>(k - skip, to.size());
      if (status.ok())
        std::copy_n(row.begin() + skip, count, to.begin());
    } else {
      count = to.size() / k * k;
      status = readRows(int64_t(first / k), to.take_front(count));
    }
    if (!status.ok())
      return status;
    to = to.drop_front(count);
    first += count;
  }
  return absl::OkStatus();
}

//===--- integer codes ----------------------------------------------------------===//

/// Sorts features by their group. True if then each group is of the size that the form says, but the last one, which
/// may be shorter; the order is left empty if it is that of the matrix.
static bool sortByGroup(CodedForm &form, llvm::ArrayRef<int32_t> groupOf) {
  std::vector<int32_t> order(groupOf.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](int32_t a, int32_t b) { return groupOf[a] < groupOf[b]; });
  for (size_t i = 0; i < order.size(); ++i)
    if (groupOf[order[i]] != int64_t(i) / form.group)
      return false;
  if (!llvm::is_sorted(order))
    form.order = std::move(order);
  return true;
}

absl::StatusOr<const IntegerCodes::Tables *> IntegerCodes::tables() const {
  if (!known) {
    absl::StatusOr<Tables> read = load();
    if (!read.ok())
      return read.status();
    known = *std::move(read);
    equalGroups = known->form.groups(features()) == known->groups &&
                  (known->groupOf.empty() || sortByGroup(known->form, known->groupOf));
    if (equalGroups && known->form.order.empty())
      known->groupOf.clear();
  }
  return &*known;
}

absl::StatusOr<std::optional<CodedForm>> IntegerCodes::form() const {
  absl::StatusOr<const Tables *> all = tables();
  if (!all.ok())
    return all.status();
  return equalGroups ? std::optional<CodedForm>((*all)->form) : std::nullopt;
}

absl::StatusOr<CodedRows> IntegerCodes::readCodes(int64_t first, int64_t rows) const {
  absl::StatusOr<const Tables *> all = tables();
  if (!all.ok())
    return all.status();
  if (!equalGroups || first < 0 || rows < 0 || first > this->rows() || rows > this->rows() - first)
    return outside();
  CodedRows result;
  if (absl::Status status = read(**all, first, rows, result); !status.ok())
    return status;
  if (llvm::ArrayRef<int32_t> order = (*all)->form.order; !order.empty()) {
    std::vector<uint8_t> row(features());
    for (int64_t r = 0; r < rows; ++r) {
      uint8_t *codes = result.codes.data() + r * features();
      for (int64_t k = 0; k < features(); ++k)
        row[k] = codes[order[k]];
      std::copy(row.begin(), row.end(), codes);
    }
  }
  if (!(*all)->form.zeros)
    result.zeros.clear();
  return result;
}

absl::Status IntegerCodes::readRows(int64_t first, llvm::MutableArrayRef<float> to) const {
  absl::StatusOr<const Tables *> all = tables();
  if (!all.ok())
    return all.status();
  const Tables &t = **all;
  int64_t k = features(), groups = t.groups;
  // Codes of about a megabyte at once, a panel of rows at least.
  int64_t atOnce = std::max<int64_t>((1 << 22) / k, 32);
  for (int64_t rows = to.size() / k, done = 0; done < rows; done += atOnce) {
    CodedRows some;
    int64_t count = std::min(atOnce, rows - done);
    if (absl::Status status = read(t, first + done, count, some); !status.ok())
      return status;
    for (int64_t r = 0; r < count; ++r) {
      const uint8_t *codes = some.codes.data() + r * k;
      float *out = to.data() + (done + r) * k;
      auto numbers = [&](int64_t g) { return GroupNumbers::of(t.form, some, r, g, groups); };
      if (!t.groupOf.empty())
        for (int64_t i = 0; i < k; ++i)
          out[i] = numbers(t.groupOf[i]).value(codes[i]);
      else
        for (int64_t g = 0; g < groups; ++g) {
          GroupNumbers mine = numbers(g);
          for (int64_t i = g * t.form.group; i < std::min((g + 1) * t.form.group, k); ++i)
            out[i] = mine.value(codes[i]);
        }
    }
  }
  return absl::OkStatus();
}

} // namespace heddle
