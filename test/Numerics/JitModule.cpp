//===- JitModule.cpp - a module of the LLVM dialect as machine code -------===//

#include "test/Numerics/JitModule.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "targets/Optimise.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/Support/TargetSelect.h"
#include <cstdlib>

using namespace heddle::test;

bool heddle::test::jitFailed(llvm::Error error) {
  if (!error)
    return false;
  llvm::errs() << "jit: " << llvm::toString(std::move(error)) << '\n';
  return true;
}

std::unique_ptr<llvm::orc::LLJIT> heddle::test::jitModule(mlir::ModuleOp module, JitLevel level) {
  static bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)once;
  mlir::registerBuiltinDialectTranslation(*module->getContext());
  mlir::registerLLVMDialectTranslation(*module->getContext());
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, *llvmContext);
  if (!code)
    return nullptr;
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return jitFailed(host.takeError()), nullptr;
  host->setCodeGenOptLevel(level == JitLevel::Quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Aggressive);
  auto machine = host->createTargetMachine();
  if (!machine)
    return jitFailed(machine.takeError()), nullptr;
  code->setDataLayout((*machine)->createDataLayout());
  code->setTargetTriple((*machine)->getTargetTriple());
  for (llvm::Function &f : *code) { // the host's vectors, whole
    f.addFnAttr("target-cpu", host->getCPU());
    f.addFnAttr("target-features", host->getFeatures().getString());
    f.addFnAttr("prefer-vector-width", "512");
  }
  if (level == JitLevel::Optimized)
    optimise(*code, **machine, llvm::OptimizationLevel::O3);
  if (const char *file = std::getenv("HEDDLE_TEST_DUMP_LL")) {
    std::error_code ec;
    llvm::raw_fd_ostream os(file, ec);
    code->print(os, nullptr);
  }
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*host).create();
  if (!jit)
    return jitFailed(jit.takeError()), nullptr;
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return jitFailed(process.takeError()), nullptr;
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  if (jitFailed((*jit)->addIRModule(llvm::orc::ThreadSafeModule(std::move(code), std::move(llvmContext)))))
    return nullptr;
  return std::move(*jit);
}
