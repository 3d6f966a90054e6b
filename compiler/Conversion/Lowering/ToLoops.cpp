//===- ToLoops.cpp - convert-heddle-to-loops, heddle-add-entry-table -------===//
//
// The two passes of this folder that make code: one lowers all functions to loops for a processor, one adds the table
// of entries once they are functions of LLVM.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/RegisterLanes.h"
#include "compiler/Conversion/Lowering/CPU/RegisterPrograms.h"
#include "compiler/Conversion/Lowering/Frame/Entry.h"
#include "compiler/Conversion/Lowering/Passes.h"
#include "dialects/Card/IR/Card.h"
#include "dialects/Mask/Emission/Emission.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace heddle::loops {
#define GEN_PASS_DEF_ADDENTRYTABLEPASS
#define GEN_PASS_DEF_CONVERTTOLOOPSPASS
#include "compiler/Conversion/Lowering/Passes.h.inc"
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
    int64_t width = vectorWidth, registersOf = registers;
    if (model::TargetAttr target = model::targetOf(module)) { // a saved stage is for the machine that it was made for
      width = target.getLanes();
      registersOf = target.getRegisters();
    }
    if (width != 4 && width != 8 && width != 16) {
      module.emitError("loops are made of vectors of 4, 8 or 16 f32, not of ") << width;
      return signalPassFailure();
    }
    RegisterLanes lanes(width);
    Machine machine{lanes, registerPrograms(), registersOf};
    if (failed(lowerEntries(module, machine)))
      signalPassFailure();
  }
};

struct AddEntryTable final : heddle::loops::impl::AddEntryTablePassBase<AddEntryTable> {
  using AddEntryTablePassBase::AddEntryTablePassBase;
  /// Makes heddle_entries, an array of the entries' addresses in the order of the card.
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<card::EntryAttr> entries = card::entriesOf(module);
    if (entries.empty() || module.lookupSymbol("heddle_entries"))
      return;
    ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
    b.setInsertionPointToEnd(module.getBody());
    Type ptr = LLVM::LLVMPointerType::get(b.getContext());
    Type array = LLVM::LLVMArrayType::get(ptr, entries.size());
    auto table =
        LLVM::GlobalOp::create(b, array, /*isConstant=*/true, LLVM::Linkage::External, "heddle_entries", Attribute());
    b.createBlock(&table.getInitializerRegion());
    Value v = LLVM::PoisonOp::create(b, array);
    for (auto [i, entry] : llvm::enumerate(entries))
      v = LLVM::InsertValueOp::create(b, v, Value(LLVM::AddressOfOp::create(b, ptr, entry.getSymbol())),
                                      ArrayRef<int64_t>{int64_t(i)});
    LLVM::ReturnOp::create(b, v);
  }
};
} // namespace
