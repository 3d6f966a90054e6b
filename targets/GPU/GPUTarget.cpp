//===- GPUTarget.cpp - LLVM's NVPTX back end -------------------------------===//

#include "targets/GPU/GPUTarget.h"
#include "dialects/Tile/IR/LaunchAttrs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "targets/Optimise.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace heddle::gpu;
using llvm::StringRef;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

/// PTX 8.0, which drivers from 525 on read and which knows sm_90a.
static constexpr StringRef kFeatures = "+ptx80";
static constexpr std::pair<StringRef, StringRef> kChips[] = {
    {"sm_80", "Ampere (A100) and every later device"},
    {"sm_86", "Ampere (A10, RTX 30) and every later device"},
    {"sm_89", "Ada (L4, L40, RTX 40) and every later device"},
    {"sm_90a", "Hopper (H100, H200) alone"},
};

std::string heddle::gpu::describeChips() {
  std::string text = "device (cuda)     its code runs on\n";
  for (auto [name, runs] : kChips)
    text += llvm::formatv("{0,-18}{1}\n", name, runs).str();
  return text;
}

std::optional<std::vector<Chip>> heddle::gpu::chipsOf(StringRef mcpu, Refusal &why) {
  std::vector<Chip> chips;
  std::vector<std::string> known;
  for (auto [name, runs] : kChips)
    known.push_back(name.str());
  llvm::SmallVector<StringRef> names;
  (mcpu == "native" ? StringRef("sm_80+sm_90a") : mcpu).split(names, '+');
  for (StringRef name : names) {
    if (!llvm::is_contained(known, name)) {
      why = {"", name.str(), "device", "; there are " + llvm::join(known, ", ") + ", several joined by '+'", {}, true};
      return std::nullopt;
    }
    if (llvm::none_of(chips, [&](const Chip &c) { return c.name == name; }))
      chips.push_back({name.str()});
  }
  return chips;
}

std::string heddle::gpu::namesOf(llvm::ArrayRef<Chip> chips) {
  return llvm::join(llvm::map_range(chips, [](const Chip &c) { return c.name; }), "+");
}

static std::unique_ptr<llvm::TargetMachine> machineOf(const Chip &chip, std::string &error) {
  static bool registered = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)registered;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard; // products and sums are fused where we wrote fma, nowhere else
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, chip.name, kFeatures, options, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Whatever address a kernel loads is one of global memory, which `ld.global` reads faster than a generic `ld`.
static void markGlobal(llvm::Module &module) {
  llvm::Type *global = llvm::PointerType::get(module.getContext(), 1);
  for (llvm::Function &f : module)
    for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::instructions(f))) {
      auto *load = llvm::dyn_cast<llvm::LoadInst>(&i);
      if (!load || !load->getType()->isPointerTy())
        continue;
      llvm::IRBuilder<> b(load->getNextNode());
      llvm::Value *narrow = b.CreateAddrSpaceCast(load, global);
      llvm::Value *generic = b.CreateAddrSpaceCast(narrow, load->getType());
      load->replaceUsesWithIf(generic, [&](llvm::Use &use) { return use.getUser() != narrow; });
    }
}

/// Leaves the kernels that are for `chip`, under the names that the card launches.
static void pickKernels(mlir::ModuleOp module, llvm::Module &out, const Chip &chip) {
  for (auto f : module.getOps<mlir::LLVM::LLVMFuncOp>()) {
    if (!heddle::tile::isKernel(f))
      continue;
    llvm::Function *code = out.getFunction(f.getName());
    if (!heddle::tile::isFor(f, chip.name)) {
      code->eraseFromParent();
      continue;
    }
    code->setCallingConv(llvm::CallingConv::PTX_Kernel);
    code->setName(heddle::tile::kernelName(f));
  }
  for (llvm::GlobalVariable &global : llvm::make_early_inc_range(out.globals()))
    if (global.use_empty() && global.getName().starts_with("heddle_shared_"))
      global.eraseFromParent();
}

std::unique_ptr<llvm::Module> heddle::gpu::translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                                     const Chip &chip, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = machineOf(chip, error);
  if (!machine)
    return nullptr;
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  mlir::registerNVVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> out = mlir::translateModuleToLLVMIR(module, context, "heddle");
  if (!out) {
    error = "the kernels could not be translated to LLVM IR";
    return nullptr;
  }
  out->setTargetTriple(machine->getTargetTriple());
  out->setDataLayout(machine->createDataLayout());
  pickKernels(module, *out, chip);
  for (llvm::Function &f : *out)
    if (!f.isDeclaration() && f.getCallingConv() != llvm::CallingConv::PTX_Kernel)
      f.setLinkage(llvm::GlobalValue::InternalLinkage);
  for (llvm::Function &f : *out)
    for (llvm::Instruction &i : llvm::instructions(f))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&i); call && call->isInlineAsm())
        call->setConvergent(); // instructions of groups of threads, for which the dialect has no word
  markGlobal(*out);
  return out;
}

bool heddle::gpu::optimise(llvm::Module &module, const Chip &chip, bool quick, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = machineOf(chip, error);
  if (machine)
    heddle::optimise(module, *machine, quick ? llvm::OptimizationLevel::O1 : llvm::OptimizationLevel::O3,
                     /*unrolls=*/!quick);
  return machine != nullptr;
}

/// What no text may hold: calls of a device library, addresses in no memory space, sums and products without a rounding
/// mode.
static std::string refusalOf(StringRef text) {
  if (text.contains("__nv_"))
    return "a function of the device library is called";
  for (StringRef op : {"add", "sub", "mul", "div", "sqrt", "fma"})
    for (StringRef type : {".f32", ".ftz.f32"})
      if (text.contains((" " + op + type + " ").str()) || text.contains(("\t" + op + type + " ").str()))
        return (op + type + " has no rounding mode").str();
  return "";
}

std::string heddle::gpu::writePTX(llvm::Module &module, const Chip &chip, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = machineOf(chip, error);
  if (!machine)
    return "";
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, os, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    error = "LLVM writes no PTX";
    return "";
  }
  codegen.run(module);
  error = refusalOf(StringRef(bytes.data(), bytes.size()));
  return error.empty() ? std::string(bytes.data(), bytes.size()) : "";
}
