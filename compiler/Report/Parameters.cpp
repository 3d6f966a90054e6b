//===- Parameters.cpp - what the blob holds -------------------------------===//

#include "compiler/Report/ReportData.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::report;

/// The offsets of all tensors of an entry.
static std::vector<uint64_t> offsetsOf(model::BlobEntryAttr entry) {
  std::vector<uint64_t> all = {uint64_t(entry.getOffset())};
  for (auto [count, stride] : llvm::zip(entry.getCounts().asArrayRef(), entry.getStrides().asArrayRef())) {
    std::vector<uint64_t> more;
    for (uint64_t offset : all)
      for (int64_t i = 0; i < count; ++i)
        more.push_back(offset + uint64_t(i * stride));
    all = std::move(more);
  }
  return all;
}

static Parameter parameterOf(model::BlobEntryAttr entry) {
  Parameter p;
  p.name = entry.getName().str();
  p.shape = entry.getShape().asArrayRef().vec();
  p.counts = entry.getCounts().asArrayRef().vec();
  llvm::raw_string_ostream os(p.layout);
  os << entry.getLayout();
  StringRef words = p.layout;
  if (words.consume_front("#model.layout<"))
    words.consume_back(">");
  p.layout = words.split(", part ").first.str();
  p.offset = uint64_t(entry.getOffset());
  p.numbers = 1;
  for (int64_t n : llvm::concat<const int64_t>(p.shape, p.counts))
    p.numbers *= n;
  WeightLayout layout = entry.getLayout().getLayout();
  if (layout.coding) {
    p.codedBits = layout.coding.bits;
    p.codedGroup = layout.coding.group;
  }
  return p;
}

/// Parts of a tensor that are packed apart are one parameter. A tensor takes the bytes up to the next one.
std::vector<Parameter> report::parametersOf(ModuleOp module) {
  std::vector<Parameter> all;
  llvm::StringMap<size_t> byName;
  std::vector<std::pair<uint64_t, size_t>> begins; ///< of tensors: offset, parameter
  SmallVector<model::BlobEntryAttr> entries = model::blobOf(module);
  llvm::stable_sort(entries, [](auto a, auto b) { return a.getOffset() < b.getOffset(); });
  for (model::BlobEntryAttr entry : entries) {
    auto [known, isNew] = byName.try_emplace(entry.getName().getValue(), all.size());
    if (isNew)
      all.push_back(parameterOf(entry));
    for (uint64_t offset : offsetsOf(entry))
      begins.push_back({offset, known->second});
  }
  llvm::sort(begins);
  for (size_t i = 0; i < begins.size(); ++i) {
    uint64_t end = i + 1 < begins.size() ? begins[i + 1].first : uint64_t(model::blobBytesOf(module));
    all[begins[i].second].bytes += end - begins[i].first;
  }
  return all;
}
