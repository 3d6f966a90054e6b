//===- CPUTarget.h - from the LLVM dialect to an object ---------*- C++ -*-===//
//
// A target is a machine description, an object writer and a link line. This one is LLVM's
// code generator for the host or any named CPU of its architecture.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_CPU_CPUTARGET_H
#define HEDDLE_TARGETS_CPU_CPUTARGET_H

#include "targets/CPU/Processors.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace heddle::cpu {

struct CPUTarget {
  std::string triple;
  Processor processor;

  /// For "native" or a name LLVM knows; on failure `error` says why.
  static std::optional<CPUTarget> resolve(llvm::StringRef mcpu, std::string &error);
  std::unique_ptr<llvm::TargetMachine> machine(std::string &error) const;
};

/// A context for code that goes through `optimise` and `emit`. Loop strength reduction is left out
/// of the code generator: it took half of its time, and the kernels' addresses are written as a
/// processor adds them up (targets/README.md has the measurements).
struct CodeContext {
  CodeContext() { llvm.setOptPassGate(gate); }
  llvm::LLVMContext llvm;

private:
  struct Gate final : llvm::OptPassGate {
    bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override { return pass != "Loop Strength Reduction"; }
    bool isEnabled() const override { return true; }
  } gate;
};

/// The LLVM module of a module of stage `llvm`, for `machine`, not yet optimised.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                        llvm::TargetMachine &machine);
void optimise(llvm::Module &module, llvm::TargetMachine &machine);

enum class Output { Assembly, Object };
/// Writes assembly or an object; false with a diagnostic in `error`.
bool emit(llvm::Module &module, llvm::TargetMachine &machine, Output kind,
          llvm::raw_pwrite_stream &os, std::string &error);

} // namespace heddle::cpu

#endif
