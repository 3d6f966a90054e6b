//===- heddle-opt.cpp - one pass, or one stage, at a time -----------------===//

#include "compiler/Pipelines/Stages.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  heddle::registerPasses();
  heddle::registerPipelines();
  mlir::DialectRegistry registry;
  heddle::registerDialects(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Heddle's passes and stages\n", registry));
}
