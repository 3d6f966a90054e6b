//===- ToLoops.cpp - convert-heddle-to-loops, heddle-add-entry-table -------===//

#include "compiler/Conversion/ToLoops/Lowering.h"
#include "compiler/Conversion/ToLoops/Passes.h"
#include "compiler/Conversion/ToLoops/PlanCheck.h"
#include "compiler/Conversion/ToLoops/Split.h"
#include "dialects/Mask/Emission/Emission.h"

namespace heddle::loops {
#define GEN_PASS_DEF_ADDENTRYTABLEPASS
#define GEN_PASS_DEF_CONVERTTOLOOPSPASS
#include "compiler/Conversion/ToLoops/Passes.h.inc"
} // namespace heddle::loops

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

namespace {
struct ConvertToLoops final : heddle::loops::impl::ConvertToLoopsPassBase<ConvertToLoops> {
  using ConvertToLoopsPassBase::ConvertToLoopsPassBase;
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    heddle::mask::registerMaskEmission(registry);
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Machine machine;
    machine.vectorWidth = vectorWidth;
    machine.registers = registers;
    if (model::TargetAttr target = model::targetOf(module)) { // a saved stage is for the machine that it was made for
      machine.vectorWidth = target.getLanes();
      machine.registers = target.getRegisters();
    }
    if (machine.vectorWidth != 4 && machine.vectorWidth != 8 && machine.vectorWidth != 16) {
      module.emitError("loops are made of vectors of 4, 8 or 16 f32, not of ") << machine.vectorWidth;
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> sources(module.getOps<func::FuncOp>());
    bool whole = true;
    for (func::FuncOp source : sources)
      whole &= succeeded(checkPlan(source));
    if (!whole)
      return signalPassFailure();
    std::string card = cardText(module);
    SmallVector<std::string> symbols;
    for (func::FuncOp source : sources) {
      heddle::loops::Lowering lowering(source, machine);
      if (failed(lowering.run()))
        return signalPassFailure();
      symbols.push_back(lowering.function.getName().str());
      splitLongFunction(lowering.function, longestFunction);
    }
    for (func::FuncOp source : sources)
      source.erase();
    addCard(module, card, symbols);
  }
};

struct AddEntryTable final : heddle::loops::impl::AddEntryTablePassBase<AddEntryTable> {
  using AddEntryTablePassBase::AddEntryTablePassBase;
  void runOnOperation() override { addEntryTable(getOperation()); }
};
} // namespace
