//===- HostMachine.h - from the LLVM dialect to an object -------*- C++ -*-===//
//
// The processor that a program runs on, whatever its target: a description of the machine, and LLVM's code generator
// for it or for any named processor (Architectures.h). Link.h links the program.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TARGETS_HOST_HOSTMACHINE_H
#define HEDDLE_TARGETS_HOST_HOSTMACHINE_H

#include "mlir/IR/BuiltinOps.h"
#include "targets/Host/Processors.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace heddle::host {

struct Machine {
  std::string triple;
  Processor processor;

  /// Finds the processor for "native" or a name that LLVM knows; none with `error`.
  static std::optional<Machine> resolve(llvm::StringRef mcpu, std::string &error);
  /// LLVM's machine for it, owned by the caller; null with `error`.
  std::unique_ptr<llvm::TargetMachine> machine(std::string &error) const;
};

/// A context for modules that go through `optimise` and `emit`. It leaves loop strength reduction out of
/// the code generator: the pass took half of the time, and kernels compute addresses as base + index +
/// constant already (measured in targets/README.md).
struct CodeContext {
  CodeContext() { llvm.setOptPassGate(gate); }
  llvm::LLVMContext llvm;

private:
  struct Gate final : llvm::OptPassGate {
    bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
      return pass != "Loop Strength Reduction";
    }
    bool isEnabled() const override { return true; }
  } gate;
};

/// The LLVM module of a module of stage `llvm`, for `machine`, not yet optimised.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                        llvm::TargetMachine &machine);
/// LLVM's optimisation pipeline for `machine`.
void optimise(llvm::Module &module, llvm::TargetMachine &machine);

enum class Output { Assembly, Object };
/// Writes assembly or an object; false with a diagnostic in `error`.
bool emit(llvm::Module &module, llvm::TargetMachine &machine, Output kind, llvm::raw_pwrite_stream &os,
          std::string &error);

} // namespace heddle::host

#endif
