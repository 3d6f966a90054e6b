//===- ToWarps.cpp - convert-heddle-to-warps -------------------------------===//

#include "compiler/Conversion/Lowering/Frame/Entry.h"
#include "compiler/Conversion/Lowering/GPU/Ops/Power.h"
#include "compiler/Conversion/Lowering/GPU/Passes.h"
#include "compiler/Conversion/Lowering/GPU/WarpLanes.h"
#include "compiler/Conversion/Lowering/GPU/WarpPrograms.h"
#include "dialects/Card/IR/Card.h"
#include "dialects/Mask/Emission/Emission.h"
#include "dialects/Tile/IR/LaunchAttrs.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace heddle::loops {
#define GEN_PASS_DEF_CONVERTTOWARPSPASS
#include "compiler/Conversion/Lowering/GPU/Passes.h.inc"
} // namespace heddle::loops

using namespace mlir;
using namespace heddle;
using namespace heddle::loops;

namespace {
struct ConvertToWarps final : heddle::loops::impl::ConvertToWarpsPassBase<ConvertToWarps> {
  using ConvertToWarpsPassBase::ConvertToWarpsPassBase;
  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    heddle::mask::registerMaskEmission(registry);
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    WarpLanes lanes;
    Machine machine{lanes, warpPrograms()};
    machine.worksFromCounter = false;
    machine.kernels = true;
    auto noteDims = [](heddle::loops::Lowering &l) {
      SmallVector<std::string> dims = entryDims(l.source);
      tile::setDims(l.function, SmallVector<StringRef>(dims.begin(), dims.end()));
    };
    if (failed(lowerEntries(module, machine, noteDims)))
      return signalPassFailure();
    // Bodies of maps and epilogues are copied as they are; what a device has no instruction for is written out.
    module.walk([&](math::PowFOp op) {
      ImplicitLocOpBuilder at(op.getLoc(), op);
      Code c(at, lanes);
      op.replaceAllUsesWith(power(c, op.getLhs(), op.getRhs()));
      op.erase();
    });
  }
};
} // namespace
