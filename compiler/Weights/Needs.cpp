// Both lists are walked once; the nearest name is looked for among what is left
// over first, because a renamed tensor is missing on one side and left over on
// the other.
#include "compiler/Weights/Needs.h"
#include "heddle/nearest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace heddle {

static constexpr size_t mostReported = 20;

static std::string list(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, dim] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(dim);
  return text + "]";
}

static int64_t product(llvm::ArrayRef<int64_t> shape) {
  int64_t result = 1;
  for (int64_t dim : shape)
    result *= dim;
  return result;
}

NeedReport compareWithNeeds(const WeightStore &store,
                            llvm::ArrayRef<WeightNeed> needs,
                            bool (*ignored)(llvm::StringRef name)) {
  NeedReport report;
  auto say = [&](auto make) {
    if (report.total++ < mostReported)
      report.problems.push_back(make());
  };
  std::string anyFile =
      store.files().empty() ? "(no file)" : store.files().front();

  llvm::StringSet<> needed;
  for (const WeightNeed &need : needs)
    needed.insert(need.name);
  std::vector<llvm::StringRef> left;
  for (const StoredTensor &tensor : store.tensors())
    if (!needed.contains(tensor.name()))
      left.push_back(tensor.name());

  for (const WeightNeed &need : needs) {
    std::string origin =
        need.origin.empty() ? "" : ", needed at " + need.origin;
    const StoredTensor *tensor = store.find(need.name);
    if (!tensor) {
      say([&] {
        std::string near = nearestName(need.name, left);
        return brokenRule(
            26, "the tensor is missing" + origin, anyFile, std::nullopt,
            printable(need.name),
            near.empty() ? "give the file that holds it with --weights=FILE"
                         : "the files hold `" + printable(near) +
                               "`, which nothing needs");
      });
      continue;
    }
    if (tensor->shape() != llvm::ArrayRef<int64_t>(need.shape))
      say([&] {
        bool turned = tensor->shape().size() == 2 && need.shape.size() == 2 &&
                      tensor->shape()[0] == need.shape[1] &&
                      tensor->shape()[1] == need.shape[0];
        bool reshaped = product(tensor->shape()) == product(need.shape);
        return brokenRule(
            26,
            "the tensor is " + list(tensor->shape()) + ", expected " +
                list(need.shape) + origin,
            tensor->file->path(), tensor->record->headerByte,
            printable(need.name),
            turned ? "it is stored transposed: say so in the description"
            : reshaped
                ? "it has as many elements in another shape"
                : "the description and the weights are of different models");
      });
    else if (isReal(tensor->type()) != need.real)
      say([&] {
        return brokenRule(
            26,
            "the tensor is " + spelling(tensor->type()).str() + ", expected " +
                (need.real ? "real numbers" : "integers") + origin,
            tensor->file->path(), tensor->record->headerByte,
            printable(need.name),
            "the description and the weights are of different models");
      });
  }
  for (llvm::StringRef name : left) {
    if (ignored && ignored(name))
      continue;
    const StoredTensor *tensor = store.find(name);
    say([&] {
      return brokenRule(
          26, "nothing in the model needs this tensor", tensor->file->path(),
          tensor->record->headerByte, printable(name),
          "name it where the description ignores weights, or remove it");
    });
  }
  return report;
}

} // namespace heddle
