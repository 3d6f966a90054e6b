//===- Costs.cpp - entries, and what threads do between barriers ----------===//

#include "compiler/Report/Costs.h"
#include "dialects/Card/IR/Card.h"

using namespace mlir;
using namespace heddle;
using namespace heddle::report;

//===-- entries ---------------------------------------------------------------------===//

static std::string text(StringAttr attribute) { return attribute ? attribute.str() : ""; }

/// "ids [B, T] i64".
static std::string tensorText(card::TensorAttr tensor) {
  std::string words = tensor.getName().str() + " [";
  llvm::raw_string_ostream os(words);
  llvm::interleaveComma(tensor.getType().getAxes(), os, [&](StringAttr axis) { os << axis.getValue(); });
  os << "] " << tensor.getType().getElementType();
  return words;
}

static Phase phaseOf(card::PhaseAttr card, const Graph &graph, const Places &places) {
  Phase phase;
  phase.ops = card.getOps().str();
  phase.unit = text(card.getMath());
  phase.turns = card.getRepeats();
  phase.operations = card.getOperations().str();
  phase.bytes = card.getBytes().str();
  phase.weight = text(card.getWeight());
  phase.loc = places.find(text(card.getPlace()), text(card.getStatement()), text(card.getNode()));
  phase.node = graph.find(places, phase.loc, phase.ops, phase.weight);
  if (card.getKernels())
    for (auto kernel : card.getKernels().getAsRange<StringAttr>())
      phase.kernels.push_back(kernel.str());
  return phase;
}

static Entry entryOf(card::EntryAttr card, const Graph &graph, const Places &places) {
  Entry entry;
  entry.name = card.getName().str();
  for (auto dim : card.getDims().getAsRange<StringAttr>())
    entry.dims.push_back(dim.str());
  for (auto [tensors, texts] : {std::pair(card.getInputs(), &entry.inputs), {card.getOutputs(), &entry.outputs}})
    if (tensors)
      for (auto tensor : tensors.getAsRange<card::TensorAttr>())
        texts->push_back(tensorText(tensor));
  if (card.getStates())
    for (auto state : card.getStates().getAsRange<card::StateAttr>())
      entry.states.push_back({state.getName().str(), state.getBytes().str()});
  entry.flops = text(card.getFlops());
  entry.integers = text(card.getIntegers());
  entry.reads = text(card.getReads());
  entry.arena = text(card.getArena());
  if (card.getPhases())
    for (auto phase : card.getPhases().getAsRange<card::PhaseAttr>())
      entry.phases.push_back(phaseOf(phase, graph, places));
  return entry;
}

std::vector<Entry> report::entriesOf(ModuleOp module, const Graph &graph, const Places &places) {
  std::vector<Entry> entries;
  for (card::EntryAttr card : card::entriesOf(module))
    entries.push_back(entryOf(card, graph, places));
  return entries;
}

//===-- a device ---------------------------------------------------------------------===//

void report::addDevice(std::vector<Entry> &entries, const llvm::json::Object &chip, const Graph &graph,
                       const Places &places) {
  const llvm::json::Array *list = chip.getArray("entries");
  for (const llvm::json::Value &value : list ? *list : llvm::json::Array()) {
    const llvm::json::Object *said = value.getAsObject();
    auto entry = llvm::find_if(entries, [&](const Entry &e) { return said && said->getString("entry") == e.name; });
    const llvm::json::Array *kernels = said ? said->getArray("kernels") : nullptr;
    if (entry == entries.end() || !kernels || !entry->phases.empty())
      continue;
    if (const llvm::json::Object *dims = said->getObject("dims"))
      for (auto &[name, n] : *dims)
        entry->given[name.str()] = n.getAsInteger().value_or(1);
    for (const llvm::json::Value &one : *kernels) {
      const llvm::json::Object *kernel = one.getAsObject();
      if (!kernel)
        continue;
      Phase &phase = entry->phases.emplace_back();
      phase.ops = kernel->getString("op").value_or("-").str();
      phase.operations = std::to_string(int64_t(kernel->getNumber("operations").value_or(0)));
      phase.bytes =
          std::to_string(int64_t(kernel->getNumber("read").value_or(0) + kernel->getNumber("written").value_or(0)));
      phase.loc = places.find(kernel->getString("place").value_or("").str(), "", "");
      phase.node = graph.find(places, phase.loc, phase.ops, "");
      phase.kernels.push_back(kernel->getString("kernel").value_or("").str());
      phase.device.emplace();
      for (StringRef key : {"launches", "registers", "shared", "spills", "stack", "waves", "bound_us", "bound_by",
                            "loop", "blocks_per_processor"})
        if (const llvm::json::Value *number = kernel->get(key))
          (*phase.device)[key] = *number;
    }
  }
}
