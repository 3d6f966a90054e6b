//===- JitModule.cpp - a module of the LLVM dialect as machine code -------===//

#include "test/Numerics/JitModule.h"
#include "heddle/tiles.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "targets/Optimise.h"
#include "targets/SingleLaneStores.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include <cstdlib>

using namespace heddle::test;

struct JitModule::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

JitModule::JitModule(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
JitModule::~JitModule() = default;

bool heddle::test::hasMatrixRegisters() {
#if defined(__x86_64__)
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const char *feature : {"avx512bf16", "avx512vnni", "amx-tile", "amx-bf16", "amx-int8"})
    if (!host.lookup(feature))
      return false;
  return heddle::mayUseTiles();
#else
  return false;
#endif
}

/// Prints an error, if it is one.
static bool jitFailed(llvm::Error error) {
  if (!error)
    return false;
  llvm::errs() << "jit: " << llvm::toString(std::move(error)) << '\n';
  return true;
}

std::unique_ptr<JitModule> JitModule::compile(mlir::ModuleOp module, JitLevel level, const Symbols &symbols) {
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
  storeSingleLanes(*code);
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
  llvm::orc::SymbolMap bound;
  for (auto &[name, function] : symbols)
    bound[(*jit)->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                            llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  if (!bound.empty() && jitFailed((*jit)->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(bound)))))
    return nullptr;
  return std::unique_ptr<JitModule>(new JitModule(std::make_unique<Impl>(Impl{std::move(*jit)})));
}

void *JitModule::find(const std::string &name) const {
  auto symbol = impl->jit->lookup(name);
  if (!symbol)
    return jitFailed(symbol.takeError()), nullptr;
  return symbol->toPtr<void *>();
}
