//===- CPUTarget.cpp - LLVM's code generator ------------------------------===//

#include "targets/CPU/CPUTarget.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace heddle::cpu;

std::optional<CPUTarget> CPUTarget::resolve(llvm::StringRef mcpu, std::string &error) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  CPUTarget t;
  t.triple = llvm::sys::getDefaultTargetTriple();
  if (mcpu == "native") {
    t.cpu = llvm::sys::getHostCPUName().str();
    // A virtual machine may hide what the name promises: the list is what is really there.
    llvm::SubtargetFeatures features;
    for (auto &f : llvm::sys::getHostCPUFeatures())
      features.AddFeature(f.first(), f.second);
    t.features = features.getString();
  } else {
    t.cpu = mcpu.str();
  }
  std::unique_ptr<llvm::TargetMachine> machine = t.machine(error);
  if (!machine)
    return std::nullopt;
  const llvm::MCSubtargetInfo *info = machine->getMCSubtargetInfo();
  if (!info->isCPUStringValid(t.cpu)) {
    error = "unknown CPU '" + t.cpu + "'; try native, x86-64-v3, x86-64-v4 or znver5";
    return std::nullopt;
  }
  auto has = [&](llvm::StringRef f) { return info->checkFeatures(("+" + f).str()); };
  if (llvm::Triple(t.triple).isX86()) {
    t.vectorWidth = has("avx512f") ? 16 : has("avx2") && has("fma") ? 8 : 4;
    t.registers = has("avx512f") ? 32 : 16;
  }
  t.dots = llvm::Triple(t.triple).isX86() && has("avx512bf16") && has("avx512vbmi");
  return t;
}

std::unique_ptr<llvm::TargetMachine> CPUTarget::machine(std::string &error) const {
  llvm::Triple parsed(triple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(parsed, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(parsed, cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOptLevel::Aggressive));
}

std::string CPUTarget::needs() const {
  std::string error, list;
  std::unique_ptr<llvm::TargetMachine> target = machine(error);
  if (!target || !target->getTargetTriple().isX86())
    return list;
  for (llvm::StringRef f : {"avx", "avx2", "fma", "bmi", "bmi2", "avx512f", "avx512cd", "avx512vl", "avx512bw",
                            "avx512dq", "avx512vnni", "avx512bf16", "avx512vbmi", "avx512ifma"})
    if (target->getMCSubtargetInfo()->checkFeatures(("+" + f).str()))
      list += (list.empty() ? "" : " ") + f.str();
  return list;
}

std::unique_ptr<llvm::Module> heddle::cpu::translate(mlir::ModuleOp module, llvm::LLVMContext &context,
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
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cam;
  llvm::ModuleAnalysisManager mam;
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cam, mam);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(*out, mam);
  return out;
}

bool heddle::cpu::emit(llvm::Module &module, llvm::TargetMachine &machine, Output kind,
                       llvm::raw_pwrite_stream &os, std::string &error) {
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
