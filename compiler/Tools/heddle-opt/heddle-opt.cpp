//===- heddle-opt.cpp - one pass, or one stage, at a time -----------------===//

#include "compiler/Interpreter/Passes.h"
#include "dialects/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  heddle::registerInterpreterPasses();
  mlir::DialectRegistry registry;
  registry.insert<heddle::model::ModelDialect, heddle::mask::MaskDialect,
                  heddle::attn::AttnDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Heddle's passes and stages\n", registry));
}
