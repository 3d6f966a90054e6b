//===- ToLoops.cpp - convert-heddle-to-loops, heddle-add-entry-table -------===//

#include "compiler/Conversion/ToLoops/Lowering.h"
#include "compiler/Conversion/ToLoops/Passes.h"
#include "compiler/Conversion/ToLoops/Split.h"
#include "dialects/Mask/Emission/Emission.h"

namespace heddle::loops {
#define GEN_PASS_DEF_ADDENTRYTABLEPASS
#define GEN_PASS_DEF_CONVERTTOLOOPSPASS
#include "compiler/Conversion/ToLoops/Passes.h.inc"
} // namespace heddle::loops

using namespace mlir;
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
    std::string card = cardText(module);
    SmallVector<func::FuncOp> sources(module.getOps<func::FuncOp>());
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
