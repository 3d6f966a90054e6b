// The table of runtime/Base/TensorHeader.h, ordered by name, with types that
// Heddle computes with. A tensor of another type is checked like the others and
// refused only when the file is sound.
#include "compiler/Weights/Safetensors/SafetensorsHeader.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

namespace heddle {

static absl::Status refusal(const base::HeaderProblem &problem, llvm::StringRef file) {
  return toStatus(
      brokenRule(problem.rule, problem.message, printable(file, 4096), problem.byte, problem.tensor, problem.help));
}

/// The second half of rule 11: `count` tensors, of which `first` is the first, have types that nothing here reads.
static absl::Status foreignTypes(const base::TensorEntry &first, size_t count, llvm::StringRef file) {
  std::string more = count == 1 ? std::string() : " (and " + std::to_string(count - 1) + " more tensors)";
  WeightProblem problem = brokenRule(
      Error::S11, "dtype " + first.type + " is valid in safetensors but not supported" + more, printable(file, 4096),
      first.typeByte, printable(first.name), "convert the tensor to F32, BF16 or F16 (integers to I64)");
  problem.code = Error::StoredTypeUnsupported;
  return toStatus(problem);
}

const TensorRecord *SafetensorsHeader::find(llvm::StringRef name) const {
  auto it = llvm::lower_bound(tensors, name, [](const TensorRecord &a, llvm::StringRef b) { return a.name < b; });
  return it != tensors.end() && it->name == name ? &*it : nullptr;
}

absl::StatusOr<uint64_t> safetensorsHeaderLength(llvm::StringRef first, uint64_t fileBytes, llvm::StringRef file,
                                                 const HeaderLimits &limits) {
  uint64_t length = 0;
  if (std::optional<base::HeaderProblem> problem = base::readHeaderLength(first, fileBytes, limits, length))
    return refusal(*problem, file);
  return length;
}

absl::StatusOr<SafetensorsHeader> parseSafetensorsHeader(llvm::StringRef header, uint64_t fileBytes,
                                                         llvm::StringRef file, const HeaderLimits &limits) {
  base::HeaderTable table;
  if (std::optional<base::HeaderProblem> problem = base::readHeader(header, fileBytes, limits, table))
    return refusal(*problem, file);
  SafetensorsHeader result;
  result.storage = std::make_unique<llvm::BumpPtrAllocator>();
  const base::TensorEntry *foreign = nullptr;
  size_t foreigners = 0;
  for (const base::TensorEntry &entry : table.tensors) {
    std::optional<StoredType> type = storedTypeOf(entry.type);
    if (!type && !foreigners++)
      foreign = &entry;
    TensorRecord record;
    record.name = llvm::StringRef(entry.name).copy(*result.storage);
    record.shape = llvm::ArrayRef<int64_t>(entry.shape).copy(*result.storage);
    record.type = type.value_or(StoredType::U8);
    record.byte = 8 + header.size() + entry.begin;
    record.bytes = entry.end - entry.begin;
    record.headerByte = entry.nameByte;
    result.tensors.push_back(record);
  }
  if (foreign)
    return foreignTypes(*foreign, foreigners, file);
  llvm::sort(result.tensors, [](const TensorRecord &a, const TensorRecord &b) { return a.name < b.name; });
  result.metadata = std::move(table.metadata);
  return result;
}

} // namespace heddle
