//===- WeightsSummary.cpp - how the weights of a model are stored ---------===//

#include "compiler/Driver/WeightsSummary.h"
#include "compiler/Weights/Coded/CodedTensor.h"
#include "compiler/Weights/Files/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace heddle;

void heddle::printWeightsSummary(const WeightStore &store, llvm::raw_ostream &os) {
  struct Kind {
    uint64_t matrices = 0, elements = 0;
  };
  std::map<std::string, Kind> coded;
  uint64_t plain = 0;
  for (const StoredTensor &tensor : store.tensors()) {
    if (!tensor.coded) {
      ++plain;
      continue;
    }
    Kind &kind = coded[tensor.coded->kind()];
    ++kind.matrices;
    kind.elements += tensor.elements();
  }
  if (coded.empty())
    return;
  os << "weights: ";
  for (const auto &[name, kind] : coded)
    os << name << ": " << kind.matrices << (kind.matrices == 1 ? " tensor" : " tensors") << " of " << kind.elements
       << " elements; ";
  os << plain << (plain == 1 ? " tensor" : " tensors") << " as they are\n";
  llvm::ArrayRef<std::string> unneeded = store.unneeded();
  if (unneeded.empty())
    return;
  os << "read and not needed: " << unneeded.size() << (unneeded.size() == 1 ? " tensor" : " tensors") << " ("
     << printable(unneeded.front()) << (unneeded.size() > 1 ? ", ..." : "")
     << "): scales of activations and caches, which are rounded finer here or not at all, or factors that config.json "
        "has\n";
}
