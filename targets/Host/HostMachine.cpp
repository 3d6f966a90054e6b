//===- HostMachine.cpp - LLVM's code generator ----------------------------===//

#include "targets/Host/HostMachine.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "targets/Optimise.h"
#include "targets/SingleLaneStores.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"

using namespace heddle::host;

std::optional<Machine> Machine::resolve(llvm::StringRef mcpu, std::string &error) {
  std::optional<Processor> processor = findProcessor(mcpu, error);
  if (!processor)
    return std::nullopt;
  return Machine{processor->architecture->triple().str(), std::move(*processor)};
}

std::unique_ptr<llvm::TargetMachine> Machine::machine(std::string &error) const {
  llvm::Triple parsed(triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(parsed, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(parsed, processor.cpu, processor.features,
                                                                          options, llvm::Reloc::PIC_, std::nullopt,
                                                                          llvm::CodeGenOptLevel::Aggressive));
}

std::unique_ptr<llvm::Module> heddle::host::translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                      llvm::TargetMachine &machine) {
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> out = mlir::translateModuleToLLVMIR(module, context, "heddle");
  if (!out)
    return nullptr;
  out->setTargetTriple(machine.getTargetTriple());
  out->setDataLayout(machine.createDataLayout());
  for (llvm::Function &f : *out)
    if (!f.isDeclaration()) {
      f.addFnAttr("target-cpu", machine.getTargetCPU());
      f.addFnAttr("target-features", machine.getTargetFeatureString());
      f.addFnAttr("prefer-vector-width", "512");
    }
  return out;
}

void heddle::host::optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  // Kernels have as many sums side by side as there are registers. LLVM would unroll whatever fits into the cache of
  // decoded instructions of some processors (6,750 of them on Zen 4), loops around loops too.
  heddle::optimise(module, machine, llvm::OptimizationLevel::O2, /*unrolls=*/false);
}

bool heddle::host::emit(llvm::Module &module, llvm::TargetMachine &machine, Output kind, llvm::raw_pwrite_stream &os,
                        std::string &error) {
  storeSingleLanes(module);
  llvm::legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, os, nullptr,
                                  kind == Output::Object ? llvm::CodeGenFileType::ObjectFile
                                                         : llvm::CodeGenFileType::AssemblyFile)) {
    error = "the target cannot write this kind of file";
    return false;
  }
  codegen.run(module);
  return true;
}
