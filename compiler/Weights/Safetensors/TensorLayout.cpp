// Everything is sorted, nothing hashed: no input makes it slow, and callers
// find tensors by binary search in the order of names.
#include "compiler/Weights/Safetensors/TensorLayout.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

namespace heddle {

static const char rewrite[] = "write the file again with the safetensors library";

/// Rule 7; `header` is ordered by name.
static std::optional<WeightProblem> checkNames(const SafetensorsHeader &header, const std::string &file) {
  for (size_t i = 1; i < header.tensors.size(); ++i) {
    const TensorRecord &one = header.tensors[i - 1], &two = header.tensors[i];
    if (one.name == two.name)
      return brokenRule(Error::S07, "the name stands twice, first at byte " + std::to_string(one.headerByte), file,
                        two.headerByte, printable(two.name), "rename or remove one of the two");
  }
  return std::nullopt;
}

/// Rules 19 to 21: in order of offset the tensors fill the data from its first
/// byte to the end of the file. An empty tensor may lie between two others,
/// never inside one.
static std::optional<WeightProblem> checkTiling(const SafetensorsHeader &header, uint64_t dataStart, uint64_t fileBytes,
                                                const std::string &file) {
  std::vector<const TensorRecord *> order;
  order.reserve(header.tensors.size());
  for (const TensorRecord &tensor : header.tensors)
    order.push_back(&tensor);
  llvm::sort(order, [](const TensorRecord *a, const TensorRecord *b) {
    return std::tie(a->byte, a->bytes, a->name) < std::tie(b->byte, b->bytes, b->name);
  });
  uint64_t cursor = dataStart;
  const TensorRecord *before = nullptr;
  for (const TensorRecord *tensor : order) {
    if (tensor->byte != cursor) {
      bool gap = tensor->byte > cursor, inside = !gap && tensor->bytes == 0;
      std::string other =
          before ? "tensor `" + printable(before->name) + "`" : std::string("the beginning of the data");
      std::string message =
          gap      ? std::to_string(tensor->byte - cursor) + " bytes lie unused behind " + other
          : inside ? "an empty tensor lies inside " + other
                   : "the data overlaps " + other + " by " + std::to_string(cursor - tensor->byte) + " bytes";
      return brokenRule(inside ? Error::S21 : Error::S19, message, file, tensor->byte, printable(tensor->name),
                        rewrite);
    }
    cursor += tensor->bytes;
    if (tensor->bytes)
      before = tensor;
  }
  if (cursor == fileBytes)
    return std::nullopt;
  return brokenRule(Error::S20, std::to_string(fileBytes - cursor) + " bytes follow the last tensor's data", file,
                    cursor, before ? printable(before->name) : std::string(), "cut them off or write the file again");
}

std::optional<WeightProblem> arrangeTensors(SafetensorsHeader &header, uint64_t dataStart, uint64_t fileBytes,
                                            const std::string &file) {
  llvm::sort(header.tensors, [](const TensorRecord &a, const TensorRecord &b) {
    return std::tie(a.name, a.headerByte) < std::tie(b.name, b.headerByte);
  });
  if (std::optional<WeightProblem> problem = checkNames(header, file))
    return problem;
  if (std::optional<WeightProblem> problem = checkTiling(header, dataStart, fileBytes, file))
    return problem;
  return std::nullopt;
}

const TensorRecord *SafetensorsHeader::find(llvm::StringRef name) const {
  auto it = llvm::lower_bound(tensors, name, [](const TensorRecord &a, llvm::StringRef b) { return a.name < b; });
  return it != tensors.end() && it->name == name ? &*it : nullptr;
}

} // namespace heddle
