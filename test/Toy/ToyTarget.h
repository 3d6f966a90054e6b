//===- ToyTarget.h - a third target, in one folder --------------*- C++ -*-===//
//
// A processor of four lanes and eight registers that likes panels of eight results: small enough to read, different
// enough from "cpu" that nothing fits by accident. It shows what a target has to say, and that saying it needs no line
// in another folder: the plan's questions (compiler/Plan/Target.h), its stages, and what the driver asks
// (targets/Target.h).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TEST_TOY_TOYTARGET_H
#define HEDDLE_TEST_TOY_TOYTARGET_H

#include "targets/Target.h"

namespace heddle::toy {

/// Adds the plan's answers to a context.
void registerTiles(mlir::MLIRContext &context);

/// What the driver asks. Code is for the processor that the tool runs on.
class ToyTarget final : public Target {
public:
  explicit ToyTarget(host::Machine host) : host(std::move(host)) {}
  llvm::StringRef name() const override { return "toy"; }
  llvm::ArrayRef<Stage> stages() const override;
  llvm::ArrayRef<OutputStage> outputs() const override;
  model::TargetAttr describe(mlir::MLIRContext *context) const override;
  Formats formats() const override { return {}; }
  const host::Machine *processor() const override { return &host; }
  bool print(mlir::ModuleOp module, llvm::StringRef what, llvm::raw_pwrite_stream &os,
             std::string &error) const override;
  std::unique_ptr<llvm::Module> code(mlir::ModuleOp module, llvm::TargetMachine &machine, llvm::LLVMContext &context,
                                     std::string &error, std::string &note) const override;

private:
  host::Machine host;
};

} // namespace heddle::toy

#endif
