//===- ToyTarget.h - a third target, in one folder --------------*- C++ -*-===//
//
// A processor of four lanes and eight registers that likes panels of eight results: small enough to read, different
// enough from "cpu" that nothing fits by accident. It shows what a target has to say, and that saying it needs no line
// in another folder: the plan's questions (compiler/Plan/Target.h), the passes behind `buffers`, and what the driver
// asks (targets/Target.h).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_TOY_TOYTARGET_H
#define HEDDLE_TEST_TOY_TOYTARGET_H

#include "mlir/Pass/PassManager.h"
#include "targets/Target.h"

namespace heddle::toy {

/// Adds the plan's answers to a context.
void registerTiles(mlir::MLIRContext &context);

/// The passes from `buffers` to functions of LLVM.
void addPasses(mlir::OpPassManager &pm);

/// What the driver asks. Code is for the processor that the tool runs on.
class ToyTarget final : public Target {
public:
  explicit ToyTarget(cpu::CPUTarget host) : host(std::move(host)) {}
  llvm::StringRef name() const override { return "toy"; }
  model::TargetAttr describe(mlir::MLIRContext *context) const override;
  Formats formats() const override { return {}; }
  const cpu::CPUTarget *processor() const override { return &host; }
  bool print(mlir::ModuleOp module, llvm::StringRef what, llvm::raw_pwrite_stream &os,
             std::string &error) const override;
  std::unique_ptr<llvm::Module> code(mlir::ModuleOp module, llvm::TargetMachine &machine, llvm::LLVMContext &context,
                                     std::string &error, std::string &note) const override;

private:
  cpu::CPUTarget host;
};

} // namespace heddle::toy

#endif
