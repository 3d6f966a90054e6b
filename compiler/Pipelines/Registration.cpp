//===- Registration.cpp - dialects and passes, named once -----------------===//
//
// Registers only the dialects and passes that the stages use: loading all of MLIR's dialects would take longer than
// compiling a small model.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Lowering/CPU/CPUTiles.h"
#include "compiler/Conversion/Lowering/GPU/Passes.h"
#include "compiler/Conversion/Lowering/Passes.h"
#include "compiler/Conversion/ModelToEntries/Passes.h"
#include "compiler/Conversion/TileToNVVM/Passes.h"
#include "compiler/Conversion/ToKernels/Passes.h"
#include "compiler/Interpreter/Passes.h"
#include "compiler/Pipelines/Stages.h"
#include "compiler/Plan/Passes.h"
#include "dialects/Attn/IR/Attn.h"
#include "dialects/Card/IR/Card.h"
#include "dialects/Mask/Emission/Emission.h"
#include "dialects/Mask/Transforms/Passes.h"
#include "dialects/Model/Transforms/Passes.h"
#include "dialects/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void heddle::registerDialects(DialectRegistry &registry) {
  registry.insert<model::ModelDialect, mask::MaskDialect, attn::AttnDialect, tile::TileDialect, card::CardDialect,
                  func::FuncDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect,
                  cf::ControlFlowDialect, index::IndexDialect, ub::UBDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  mask::registerMaskEmission(registry);
  loops::registerCPUTiles(registry);
  loops::registerWarpTiles(registry);
}

void heddle::registerPasses() {
  registerModelToEntriesPasses();
  registerInterpreterPasses();
  mask::registerMaskPasses();
  model::registerModelPasses();
  plan::registerPlanPasses();
  loops::registerToLoopsPasses();
  loops::registerToWarpsPasses();
  kernels::registerToKernelsPasses();
  tile::registerTileToNVVMPasses();
  registerCanonicalizerPass();
  registerStagePasses(); // MLIR's; ours are known by now, with the options of their own
  registerPass(createCheckStagePass);
}
