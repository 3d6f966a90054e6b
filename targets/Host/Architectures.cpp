//===- Architectures.cpp - the instruction sets of processors -------------===//

#include "targets/Host/Architectures.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace heddle::host;
using llvm::StringRef;

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
void LLVMInitializeAArch64TargetInfo();
void LLVMInitializeAArch64Target();
void LLVMInitializeAArch64TargetMC();
void LLVMInitializeAArch64AsmPrinter();
}

//===-- x86-64 -----------------------------------------------------------------===//

static const StringRef kAskedX86[] = {
#define HEDDLE_CPU_FEATURE(name, leaf, subleaf, reg, bit, state) name,
#include "heddle/cpu_features.def"
};
/// Instruction sets of x86 by LLVM's names; LLVM's other bits describe what is fast.
static const StringRef kInstructionsX86[] = {
#define X86_FEATURE(ENUM, NAME) NAME,
#include "llvm/TargetParser/X86TargetParser.def"
};
static const StringRef kAlwaysX86[] = {"64bit", "cmov", "cx8", "fxsr",    "mmx",
                                       "sse",   "sse2", "x87", "evex512", "vzeroupper"};

static std::vector<StringRef> namesX86() {
  llvm::SmallVector<StringRef> all;
  llvm::X86::fillValidCPUArchList(all, /*Only64Bit=*/true);
  return {all.begin(), all.end()};
}

static Vectors vectorsX86(llvm::function_ref<bool(StringRef)> has) {
  Vectors v;
  v.width = has("avx512f") ? 16 : has("avx2") && has("fma") ? 8 : 4;
  v.registers = has("avx512f") ? 32 : 16;
  v.f16 = has("f16c");
  v.dots = has("avx512bf16") && has("avx512vbmi");
  return v;
}

//===-- aarch64 ----------------------------------------------------------------===//

static const StringRef kAskedArm[] = {
#define HEDDLE_ARM_FEATURE(name, word, bit) name,
#include "heddle/cpu_features.def"
};
static const StringRef kAlwaysArm[] = {"fp-armv8", "neon"};

static bool isInstructionArm(StringRef feature) {
  return llvm::any_of(llvm::AArch64::Extensions,
                      [&](const auto &e) { return e.PosTargetFeature.drop_front(1) == feature; });
}

static std::vector<StringRef> namesArm() {
  llvm::SmallVector<StringRef> all;
  llvm::AArch64::fillValidCPUArchList(all);
  llvm::replace(all, StringRef("generic"), StringRef("generic-aarch64")); // x86 has one, too
  return {all.begin(), all.end()};
}

//===-- the table --------------------------------------------------------------===//

static const Architecture kArchitectures[] = {
    {llvm::Triple::x86_64, "x86_64", "/lib64/ld-linux-x86-64.so.2", "x86-64", "x86-64", kAskedX86, kAlwaysX86, "64bit",
     [](StringRef feature) { return llvm::is_contained(kInstructionsX86, feature); }, namesX86, vectorsX86,
     [] {
       LLVMInitializeX86TargetInfo();
       LLVMInitializeX86Target();
       LLVMInitializeX86TargetMC();
       LLVMInitializeX86AsmPrinter();
     }},
    {llvm::Triple::aarch64, "aarch64", "/lib/ld-linux-aarch64.so.1", "generic-aarch64", "generic", kAskedArm,
     kAlwaysArm, "", isInstructionArm, namesArm,
     // NEON: vectors of SVE, which are as long as the machine has them, are left alone.
     [](llvm::function_ref<bool(StringRef)>) { return Vectors{4, 32, /*f16=*/true, /*dots=*/false, /*pairs=*/0}; },
     [] {
       LLVMInitializeAArch64TargetInfo();
       LLVMInitializeAArch64Target();
       LLVMInitializeAArch64TargetMC();
       LLVMInitializeAArch64AsmPrinter();
     }},
};

static llvm::Triple hostTriple() { return llvm::Triple(llvm::sys::getDefaultTargetTriple()); }

bool Architecture::isHost() const { return hostTriple().getArch() == type; }

llvm::Triple Architecture::triple() const {
  return isHost() ? hostTriple() : llvm::Triple(name, "unknown", "linux", "gnu");
}

std::vector<const Architecture *> heddle::host::architectures() {
  std::vector<const Architecture *> all;
  for (const Architecture &a : kArchitectures)
    all.insert(a.isHost() ? all.begin() : all.end(), &a);
  return all;
}
