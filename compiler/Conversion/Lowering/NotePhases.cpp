//===- NotePhases.cpp - which op a phase is, and what it calls ------------===//

#include "compiler/Conversion/Lowering/NotePhases.h"
#include "dialects/Card/IR/Card.h"
#include "dialects/Model/IR/Conditions.h"
#include "dialects/Model/IR/Names.h"
#include "dialects/Model/IR/Statements.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace heddle;

namespace {
/// What the code of one entry says of its phases.
class PhaseNotes {
public:
  PhaseNotes(func::FuncOp entry, card::EntryAttr noted) : entry(entry), b(entry.getContext()) {
    if (noted.getPhases())
      llvm::append_range(phases, noted.getPhases().getAsRange<card::PhaseAttr>());
  }
  SmallVector<card::PhaseAttr> take();

private:
  func::FuncOp entry;
  Builder b;
  SmallVector<card::PhaseAttr> phases;
  llvm::SmallSetVector<StringAttr, 4> called; ///< since the barrier before

  StringAttr orNone(StringRef text) { return text.empty() ? StringAttr() : b.getStringAttr(text); }
  void end(int64_t phase, std::optional<Location> where);
};
} // namespace

void PhaseNotes::end(int64_t number, std::optional<Location> where) {
  if (number < 0 || number >= int64_t(phases.size()))
    return;
  card::PhaseAttr &phase = phases[number];
  std::string place, statement, node;
  if (where) {
    place = model::tokenOf(*where);
    node = model::nameOf(*where).str();
    if (model::callsOf(*where).size() > 1)
      statement = model::statementOf(*where);
  }
  auto kernels = called.empty() ? ArrayAttr() : b.getArrayAttr(SmallVector<Attribute>(called.begin(), called.end()));
  phase = card::PhaseAttr::get(b.getContext(), phase.getOps(), phase.getMath(), phase.getRepeats(),
                               phase.getOperations(), phase.getBytes(), phase.getWeight(), orNone(place),
                               orNone(statement), orNone(node), kernels);
  called.clear();
}

SmallVector<card::PhaseAttr> PhaseNotes::take() {
  entry.walk<WalkOrder::PreOrder>([&](func::CallOp call) {
    auto callee = call->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
    APInt phase;
    if (call.getCallee() == "heddle_barrier" && matchPattern(call.getOperand(1), m_ConstantInt(&phase)))
      end(phase.getSExtValue(), call.getLoc());
    else if (callee && !callee.isDeclaration())
      called.insert(callee.getSymNameAttr());
  });
  end(int64_t(phases.size()) - 1, std::nullopt); // the last one ends with the entry
  return std::move(phases);
}

void heddle::loops::notePhases(ModuleOp module) {
  SmallVector<card::EntryAttr> entries = card::entriesOf(module);
  for (card::EntryAttr &noted : entries)
    if (auto entry = module.lookupSymbol<func::FuncOp>(noted.getSymbol()); entry && noted.getPhases())
      noted = noted.withPhases(PhaseNotes(entry, noted).take());
  if (!entries.empty())
    card::setEntries(module, entries);
}
