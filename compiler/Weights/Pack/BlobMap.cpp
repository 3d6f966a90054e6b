// A plan is checked against the files before a byte is packed. Sizes come from
// users, so every product is checked for overflow here, and the packer need
// not.
#include "compiler/Weights/Pack/BlobMap.h"
#include "compiler/Weights/Files/Problem.h"
#include "compiler/Weights/WeightStore.h"

namespace heddle {

static absl::Status badRequest(const std::string &tensor, std::string message) {
  WeightProblem problem{Error::OurMistake, "", "internal error: " + std::move(message), "packing plan", std::nullopt,
                        printable(tensor), ""};
  return toStatus(problem);
}

absl::Status PackRequest::check() const {
  if (tensor.empty())
    return badRequest(tensor, "a tensor without a name");
  std::string why = layout.wrong();
  if (why.empty())
    why = layout.misfit(shape);
  return why.empty() ? absl::OkStatus() : badRequest(tensor, why);
}

absl::Status PackRequest::check(const WeightStore &store) const {
  if (absl::Status status = check(); !status.ok())
    return status;
  absl::StatusOr<const StoredTensor *> found = store.get(tensor);
  if (!found.ok())
    return found.status();
  auto wrong = [&](std::string message) {
    return toStatus(brokenRule(Error::S26, std::move(message), (*found)->file->path(), (*found)->record->headerByte,
                               printable(tensor), "the description and the weights are of different models"));
  };
  WeightLayout::Matrix w = layout.matrixOf(shape);
  uint64_t has = (*found)->elements(), wants = uint64_t(w.n) * uint64_t(w.k);
  if (wants > has)
    return wrong("the tensor has " + std::to_string(has) + " elements, the program reads " + std::to_string(wants));
  if (!isReal(layout.type) && isReal((*found)->type()))
    return wrong("the tensor holds real numbers, the program expects integers");
  return absl::OkStatus();
}

absl::Status BlobMap::check(const WeightStore &store) const {
  uint64_t end = 0;
  for (const PackEntry &entry : entries) {
    if (absl::Status status = entry.request.check(store); !status.ok())
      return status;
    if (entry.offset < end || entry.offset % alignment)
      return badRequest(entry.request.tensor, "entries out of order");
    // No request is near 2^63 bytes, so a wrapped end shows as one that does
    // not grow.
    end = entry.offset + entry.request.bytes();
    if (end < entry.offset)
      return badRequest(entry.request.tensor, "an entry after the end of memory");
  }
  if (bytes < end || bytes % alignment)
    return badRequest("", "entries after the end");
  return absl::OkStatus();
}

} // namespace heddle
