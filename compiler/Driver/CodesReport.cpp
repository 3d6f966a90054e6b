//===- CodesReport.cpp - what rounding weights to codes changed -----------===//

#include "compiler/Driver/CodesReport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace heddle;

void CodesReport::add(const PackRequest &request, const CodingError &error) {
  // Parts of one matrix, as of queries, keys and values in one, are packed one by one.
  for (Matrix &matrix : matrices)
    if (matrix.name == request.tensor) {
      matrix.bytes += request.bytes();
      return matrix.error.add(error);
    }
  matrices.push_back({request.tensor, request.layout.coding, request.bytes(), error});
}

CodingError CodesReport::all() const {
  CodingError sum;
  for (const Matrix &matrix : matrices)
    sum.add(matrix.error);
  return sum;
}

uint64_t CodesReport::otherBytes(const BlobMap &plan) const {
  uint64_t bytes = 0;
  for (const PackEntry &entry : plan.entries)
    if (!entry.request.layout.coding)
      bytes += entry.request.bytes();
  return bytes;
}

uint64_t CodesReport::keptBytes(const BlobMap &plan) const {
  uint64_t bytes = 0;
  for (const PackEntry &entry : plan.entries)
    if (entry.request.layout.coding)
      bytes += entry.request.bytes();
  for (const Matrix &matrix : matrices)
    bytes -= matrix.bytes;
  return bytes;
}

static auto megabytes(uint64_t bytes) { return llvm::format("%.1f MB", double(bytes) * 1e-6); }

void CodesReport::print(llvm::raw_ostream &os, const BlobMap &plan) const {
  struct Kind {
    int64_t count = 0;
    uint64_t bytes = 0;
  };
  llvm::MapVector<std::pair<int64_t, int64_t>, Kind> kinds; // by bits and group
  for (const Matrix &matrix : matrices) {
    Kind &kind = kinds[{matrix.coding.bits, matrix.coding.group}];
    ++kind.count;
    kind.bytes += matrix.bytes;
  }
  os << "weights: ";
  for (auto &[key, kind] : kinds)
    os << "int" << key.first << " in groups of " << key.second << ", " << kind.count
       << (kind.count == 1 ? " matrix, " : " matrices, ") << megabytes(kind.bytes) << "; ";
  if (uint64_t kept = keptBytes(plan))
    os << "codes of the file, as they are, " << megabytes(kept) << "; ";
  os << "the rest " << megabytes(otherBytes(plan)) << "\n";
  std::vector<const Matrix *> order;
  for (const Matrix &matrix : matrices)
    order.push_back(&matrix);
  llvm::stable_sort(order, [](const Matrix *a, const Matrix *b) { return a->error.relative() > b->error.relative(); });
  os << "relative error of what was rounded " << llvm::format("%.4f", all().relative()) << ", at worst ";
  llvm::interleaveComma(llvm::ArrayRef(order).take_front(3), os, [&](const Matrix *matrix) {
    os << matrix->name << " " << llvm::format("%.4f", matrix->error.relative());
  });
  os << "\n";
}

llvm::json::Object CodesReport::json(const BlobMap &plan) const {
  llvm::json::Array list;
  for (const Matrix &matrix : matrices)
    list.push_back(llvm::json::Object{{"name", matrix.name},
                                      {"bits", matrix.coding.bits},
                                      {"group", matrix.coding.group},
                                      {"bytes", int64_t(matrix.bytes)},
                                      {"relative_error", matrix.error.relative()}});
  return llvm::json::Object{
      {"relative_error", all().relative()}, {"other_bytes", int64_t(otherBytes(plan))}, {"matrices", std::move(list)}};
}
