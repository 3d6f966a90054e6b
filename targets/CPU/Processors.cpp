//===- Processors.cpp - the processors that code is made for --------------===//

#include "targets/CPU/Processors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace heddle::cpu;
using llvm::StringRef;

/// Features that a binary can ask for.
static const StringRef kAsked[] = {
#define HEDDLE_CPU_FEATURE(name, leaf, subleaf, reg, bit, state) name,
#include "heddle/cpu_features.def"
};

/// Instruction sets of x86 by LLVM's names; LLVM's other bits describe what is fast.
static const StringRef kInstructions[] = {
#define X86_FEATURE(ENUM, NAME) NAME,
#include "llvm/TargetParser/X86TargetParser.def"
};

/// Those of them that every 64-bit processor has, or that only concern the code generator.
static const StringRef kAlways[] = {"64bit", "cmov", "cx8", "fxsr",    "mmx",
                                    "sse",   "sse2", "x87", "evex512", "vzeroupper"};

static llvm::Triple hostTriple() { return llvm::Triple(llvm::sys::getDefaultTargetTriple()); }

static const llvm::Target *hostTarget() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::string error;
  return llvm::TargetRegistry::lookupTarget(hostTriple(), error);
}

/// LLVM's feature bits of a processor; the name "" knows all names and features.
static std::unique_ptr<llvm::MCSubtargetInfo> bitsOf(StringRef cpu, StringRef features) {
  const llvm::Target *target = hostTarget();
  return std::unique_ptr<llvm::MCSubtargetInfo>(target ? target->createMCSubtargetInfo(hostTriple(), cpu, features)
                                                       : nullptr);
}

/// The names of the bits that are set.
static std::vector<StringRef> enabled(const llvm::MCSubtargetInfo &bits) {
  std::vector<StringRef> names;
  for (const llvm::SubtargetFeatureKV &f : bits.getAllProcessorFeatures())
    if (bits.getFeatureBits()[f.Value])
      names.push_back(f.Key);
  return names;
}

static bool cannotBeAsked(StringRef feature) {
  return llvm::is_contained(kInstructions, feature) && !llvm::is_contained(kAlways, feature) &&
         !llvm::is_contained(kAsked, feature);
}

std::string Processor::needsText() const { return llvm::join(needs, " "); }

std::vector<std::string> heddle::cpu::processorNames() {
  std::vector<std::string> names = {"native"};
  if (hostTriple().isX86()) {
    llvm::SmallVector<StringRef> all;
    llvm::X86::fillValidCPUArchList(all, /*Only64Bit=*/true);
    names.insert(names.end(), all.begin(), all.end());
  } else {
    names.push_back("generic");
  }
  return names;
}

bool heddle::cpu::isProcessor(StringRef mcpu) {
  std::unique_ptr<llvm::MCSubtargetInfo> bits = bitsOf("", "");
  return mcpu == "native" || (bits && bits->isCPUStringValid(mcpu));
}

/// Three steps: the feature bits of the processor; those that a binary can ask
/// for; the width of its vectors and what the kernels want to know.
std::optional<Processor> heddle::cpu::findProcessor(StringRef mcpu, std::string &error) {
  Processor p;
  p.cpu = mcpu == "native" ? llvm::sys::getHostCPUName().str() : mcpu.str();
  llvm::SubtargetFeatures features;
  // A virtual machine may hide features of the named processor: use what is really there.
  if (mcpu == "native")
    for (auto &f : llvm::sys::getHostCPUFeatures())
      features.AddFeature(f.first(), f.second);
  std::unique_ptr<llvm::MCSubtargetInfo> bits = bitsOf(p.cpu, features.getString());
  if (!bits) {
    error = "LLVM has no code generator for " + hostTriple().str();
    return std::nullopt;
  }
  if (!hostTriple().isX86()) {
    p.features = features.getString();
    if (mcpu == "native" || mcpu == "generic")
      return p;
    error =
        "a binary cannot ask this kind of processor whether it is '" + mcpu.str() + "'; there are native and generic";
    return std::nullopt;
  }
  if (!bits->checkFeatures("+64bit")) {
    error = "'" + mcpu.str() + "' has no 64 bits, and the code needs them; the least that there is, is x86-64";
    return std::nullopt;
  }
  for (StringRef f : enabled(*bits))
    if (cannotBeAsked(f))
      features.AddFeature(f, false);
  p.features = features.getString();
  bits = bitsOf(p.cpu, p.features);
  std::vector<StringRef> left = enabled(*bits);
  if (auto it = llvm::find_if(left, cannotBeAsked); it != left.end()) {
    error = "code for '" + mcpu.str() + "' uses " + it->str() + ", and a binary cannot ask whether a machine has it";
    return std::nullopt;
  }
  for (StringRef f : kAsked)
    if (llvm::is_contained(left, f))
      p.needs.push_back(f.str());
  auto has = [&](StringRef f) { return llvm::is_contained(p.needs, f); };
  p.vectorWidth = has("avx512f") ? 16 : has("avx2") && has("fma") ? 8 : 4;
  p.registers = has("avx512f") ? 32 : 16;
  p.f16 = has("f16c");
  p.dots = has("avx512bf16") && has("avx512vbmi");
  return p;
}

std::string heddle::cpu::describeProcessors() {
  std::string text, error;
  llvm::raw_string_ostream os(text);
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  os << "processor         f32 at once   this machine\n";
  for (const std::string &name : processorNames()) {
    std::optional<Processor> p = findProcessor(name, error);
    if (!p)
      continue;
    std::string lacks;
    for (const std::string &f : p->needs)
      if (!host.lookup(f))
        lacks += (lacks.empty() ? "lacks " : ", ") + f;
    os << llvm::left_justify(name, 18) << llvm::left_justify(std::to_string(p->vectorWidth), 14)
       << (name == "native" ? "is " + p->cpu
           : lacks.empty()  ? "runs it"
                            : lacks)
       << "\n";
  }
  return text;
}
